"""The eleventh list: half, by chance, of a survey of which the tenth is the other half.

Written before the first of its gradients was taken, by what the packages' own pages call first.
"""

import numpy as np

from .cases import case

SIGNAL = np.cos(0.9 * np.arange(64.0)) + 0.3 * np.sin(2.7 * np.arange(64.0))
PICTURE = np.cos(0.4 * np.arange(144.0)).reshape(12, 12) + 0.05 * np.arange(12.0)


@case("pyrvt", 6.1)
def peak_of_motion(magnitude):
    from pyrvt.motions import SourceTheoryMotion

    motion = SourceTheoryMotion(magnitude, 20.0, "wna")
    motion.calc_fourier_amps(np.logspace(-1, 1.5, 64))
    return motion.calc_peak()


@case("pyrvt", 0.05)
def response_of_oscillator(damping):
    from pyrvt.motions import RvtMotion

    freqs = np.logspace(-1, 1.5, 64)
    motion = RvtMotion(freqs, freqs / (1 + freqs**2), 9.0, peak_calculator="V75")
    return np.sum(motion.calc_osc_accels(np.array([0.5, 2.0]), damping))


@case("pyrolite", np.array([[0.2, 0.5, 0.3], [0.1, 0.4, 0.5]]))
def ratios_of_composition(x):
    from pyrolite.comp.codata import CLR, ILR, sphere

    return np.sum(CLR(x) ** 2) + np.sum(np.sin(ILR(x))) + np.sum(sphere(x))


@case("nfoursid", np.array([[0.9, 0.2], [-0.1, 0.7]]))
def output_of_states(a):
    from nfoursid.state_space import StateSpace

    model = StateSpace(a, np.array([[1.0], [0.5]]), np.array([[1.0, -1.0]]), np.array([[0.1]]))
    for k in range(6):
        model.step(np.array([[np.cos(k)]]))
    return np.sum(np.array(model.ys) ** 2)


@case("nfoursid", 0.4)
def filtered_states(noise):
    from nfoursid.kalman import Kalman
    from nfoursid.state_space import StateSpace

    a = np.array([[0.9, 0.2], [-0.1, 0.7]])
    model = StateSpace(a, np.array([[1.0], [0.5]]), np.array([[1.0, -1.0]]), np.array([[0.1]]))
    kalman = Kalman(model, noise * np.eye(3))
    for k in range(5):
        kalman.step(np.array([[np.sin(k)]]), np.array([[np.cos(k)]]))
    return np.sum(np.array(kalman.x_filtereds))


@case("openfermion", 0.7)
def energy_of_fermions(t):
    from openfermion import FermionOperator, get_sparse_operator

    h = FermionOperator("0^ 1", t) + FermionOperator("1^ 0", t) + FermionOperator("0^ 0", 0.5)
    return np.linalg.eigvalsh(get_sparse_operator(h).toarray())[0]


@case("actuarialmath", 0.00027)
def insurance_of_makeham(b):
    from actuarialmath import Makeham

    life = Makeham(A=0.00022, B=b, c=1.124).set_interest(i=0.05)
    return life.whole_life_insurance(40, discrete=False) + life.e_x(60, t=10, curtate=False)


@case("actuarialmath", 0.04)
def interest_of_actuary(i):
    from actuarialmath import ConstantForce, Interest

    interest = Interest(i=i)
    life = ConstantForce(mu=0.02).set_interest(i=i)
    return interest.annuity(10) + interest.delta + life.whole_life_annuity(30, discrete=False)


@case("finta", SIGNAL[:40] + 20.0)
def indicators_of_finta(close):
    import pandas as pd
    from finta import TA

    frame = pd.DataFrame({"open": close - 0.1, "high": close + 1, "low": close - 1, "close": close})
    return TA.EMA(frame, 9).sum() + TA.RSI(frame, 14).iloc[-1]


@case("spreg", np.array([3.1, 2.2, 4.5, 5.1, 3.9, 6.0, 5.2, 7.1]))
def spatial_regression(y):
    from spreg import OLS

    x = np.stack([np.arange(8.0), np.cos(np.arange(8.0))], axis=1)
    fit = OLS(y[:, None], x, nonspat_diag=False)
    return np.sum(fit.betas) + fit.r2


@case("crflux", 2e5)
def flux_of_rays(energy):
    from crflux.models import GaisserStanevTilav, HillasGaisser2012

    one = HillasGaisser2012("H3a").nucleus_flux(14, energy)
    return 1e12 * np.sum(one + GaisserStanevTilav("3-gen").total_flux(energy))


@case("pycwt", SIGNAL)
def wavelets_of_signal(x):
    import pycwt

    wave, *_ = pycwt.cwt(x, 0.25, 0.25, 0.5, 10, pycwt.Morlet(6))
    return np.sum(np.abs(wave) ** 2)


@case("zernpy", 0.6)
def value_of_zernike(r):
    from zernpy import ZernPol

    return ZernPol(m=1, n=3).polynomial_value(r, 0.4) + ZernPol(m=-2, n=4).radial(r)


@case("zernike", np.array([0.3, -0.5]))
def phase_of_zernike(c):
    from zernike import RZern

    polynomials = RZern(2)
    xx, yy = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
    polynomials.make_cart_grid(xx, yy)
    coefficients = np.concatenate([np.ones(4), c])
    return np.nansum(polynomials.eval_grid(coefficients, matrix=True) ** 2)


@case("emcee", SIGNAL)
def time_of_correlation(x):
    from emcee.autocorr import function_1d, integrated_time

    return integrated_time(x, quiet=True)[0] + function_1d(x)[3]


@case("pycircstat2", np.array([0.3, 1.2, 0.8, 2.0, 1.1]))
def circular_mean(alpha):
    from pycircstat2.descriptive import circ_mean, circ_var

    return np.sum(circ_mean(alpha)) + np.sum(circ_var(alpha))


@case("quantstats", SIGNAL / 50)
def figures_of_portfolio(returns):
    import pandas as pd
    import quantstats

    series = pd.Series(returns, index=pd.date_range("2020-01-01", periods=len(SIGNAL)))
    return quantstats.stats.sharpe(series) + quantstats.stats.max_drawdown(series)


@case("pysindy", np.array([0.3, 1.2, -0.5]))
def derivatives_of_series(x):
    from pysindy.differentiation import FiniteDifference

    t = np.linspace(0, 1, 9)
    values = np.cos(np.outer(t, x))
    return np.sum(FiniteDifference()._differentiate(values, t) ** 2)


@case("EoN", 0.4)
def epidemic_on_network(tau):
    import EoN

    _t, s, i, _r = EoN.SIR_homogeneous_meanfield(990.0, 10.0, 0.0, 3.0, tau, 1.0, tmax=5, tcount=21)
    return i[-1] + s[-1]


@case("dit", np.array([0.3, 0.2, 0.1, 0.4]))
def entropy_of_dit(p):
    import dit

    d = dit.Distribution(["00", "01", "10", "11"], p / p.sum())
    return dit.shannon.entropy(d) + dit.shannon.mutual_information(d, [0], [1])


@case("pyttb", np.arange(1.0, 13.0) / 7)
def norm_of_pyttb(x):
    import pyttb

    tensor = pyttb.tensor(x.reshape(2, 3, 2))
    return tensor.norm() + tensor.ttv(np.array([1.0, -2.0]), 0).norm()


@case("husl", np.array([0.3, 0.6, 0.2]))
def husl_of_color(c):
    import husl

    return sum(husl.rgb_to_husl(c[0], c[1], c[2]))


@case("mercantile", 12.3)
def mercator_of_tile(longitude):
    import mercantile

    x, y = mercantile.xy(longitude, 0.9 * longitude)
    back = mercantile.lnglat(x * 1.01, y * 1.02)
    return 1e-5 * (x + y) + back.lat


@case("solarpy", 47.0)
def irradiance_of_solarpy(latitude):
    from datetime import datetime

    from solarpy import irradiance_on_plane, solar_altitude

    date = datetime(2019, 8, 3, 11, 30)
    return irradiance_on_plane(np.array([0.1, 0.2, -1.0]), 300, date, latitude) + solar_altitude(
        date, latitude
    )


@case("solarenergy", 0.9)
def sun_of_solarenergy(altitude):
    import solarenergy

    return solarenergy.airmass(altitude) + np.sum(
        solarenergy.extinction_factor(solarenergy.airmass(altitude))
    )


@case("openskill", 26.0)
def rating_of_openskill(mu):
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    one, two = model.rating(mu=mu, sigma=7.0), model.rating(mu=24.0, sigma=8.0)
    [[one], [two]] = model.rate([[one], [two]])
    return one.mu + two.sigma + model.predict_win([[one], [two]])[0]


@case("mechkit", np.arange(9.0).reshape(3, 3) / 7)
def mandel_of_tensor(m):
    import mechkit

    converter = mechkit.notation.Converter()
    sym = (m + m.T) / 2
    return np.sum(converter.to_mandel6(sym) ** 2) + np.sum(converter.to_tensor(np.arange(6.0)) * m)


@case("mechkit", 210.0)
def moduli_of_material(young):
    import mechkit

    material = mechkit.material.Isotropic(E=young, nu=0.3)
    return material.K + material.G + np.sum(material.stiffness_mandel6)


@case("photovoltaic", 0.55)
def current_of_cell(voltage):
    import photovoltaic as pv

    return pv.cell.implied_carrier(voltage, 1.5e16) * 1e-15 + pv.cell.I_diode(voltage, 1e-9)


@case("angles", 1.2)
def angle_of_package(x):
    from angles import normalize, sep

    return sep(x, 0.3, 0.2, 0.5) + normalize(100 * x, 0, 360)


@case("landscapes", np.array([0.3, -0.7]))
def landscapes_of_tests(x):
    from landscapes.single_objective import ackley, rosenbrock, styblinski_tang

    return ackley(x) + rosenbrock(x) + styblinski_tang(x)


@case("pygeotile", 12.3)
def point_of_tile(longitude):
    from pygeotile.point import Point

    meters = Point.from_latitude_longitude(latitude=48.0, longitude=longitude).meters
    return 1e-5 * (meters[0] + meters[1])


@case("sharppy", 18.0)
def temperature_of_parcel(dewpoint):
    from sharppy.sharptab import thermo

    return (
        thermo.lcltemp(25.0, dewpoint)
        + thermo.mixratio(950.0, dewpoint)
        + thermo.wetbulb(950.0, 25.0, dewpoint)
    )


@case("ussa1976", 4500.0)
def atmosphere_of_1976(z):
    import ussa1976

    air = ussa1976.compute(z=np.array([z, 2 * z]), variables=["t", "p"])
    return air.t.values.sum() + 1e-3 * air.p.values.sum()


@case("pyproximal", np.array([0.3, -1.2, 0.8, 2.0, -0.1]))
def proximal_of_norms(x):
    import pyproximal

    l1, l2 = pyproximal.L1(sigma=0.5), pyproximal.L2(sigma=0.7)
    return np.sum(l1.prox(x, 0.4) ** 2) + np.sum(l2.prox(x, 0.4)) + l2(x)


@case("pyefd", np.stack([np.cos(np.arange(12.0)), 1.4 * np.sin(np.arange(12.0))], axis=1))
def fourier_of_contour(contour):
    from pyefd import elliptic_fourier_descriptors

    return np.sum(elliptic_fourier_descriptors(contour, order=4)[1:] ** 2)


@case("fooof", np.array([1.5, 0.9]))
def spectrum_of_fooof(p):
    from fooof.core.funcs import expo_function, gaussian_function

    f = np.arange(1.0, 20.0)
    return np.sum(expo_function(f, p[0], 0.5, p[1])) + np.sum(gaussian_function(f, 8.0, p[0], p[1]))


@case("gpytoolbox", np.arange(9.0).reshape(3, 3) / 7)
def areas_of_triangles(v):
    import gpytoolbox

    v = v + np.array([[0.0, 0, 0], [1.0, 0, 0.3], [0, 1.0, 0]])
    f = np.array([[0, 1, 2]])
    return np.sum(gpytoolbox.doublearea(v, f)) + np.sum(gpytoolbox.tip_angles(v, f)[:, 0])


@case("gbasis", 1.2)
def overlap_of_gaussians(exponent):
    from gbasis.contractions import GeneralizedContractionShell
    from gbasis.integrals.overlap import overlap_integral

    shells = [
        GeneralizedContractionShell(
            1, np.array([0.0, 0.1, x]), np.array([1.0]), np.array([exponent]), "cartesian"
        )
        for x in (0.0, 0.9)
    ]
    return np.sum(overlap_integral(shells))


@case("lenstronomy", np.array([1.2, 0.1]))
def deflection_of_lens(p):
    from lenstronomy.LensModel.lens_model import LensModel

    lens = LensModel(["SIS", "SHEAR"])
    kwargs = [
        {"theta_E": p[0], "center_x": 0.0, "center_y": 0.1},
        {"gamma1": p[1], "gamma2": -0.05},
    ]
    x, y = np.array([0.8, -0.4]), np.array([0.3, 0.9])
    ax, ay = lens.ray_shooting(x, y, kwargs)
    return np.sum(ax) + np.sum(ay) + np.sum(lens.magnification(x, y, kwargs))


@case("structuralcodes", 32.0)
def strength_of_concrete(fck):
    from structuralcodes.codes.mc2010 import _concrete_material_properties as concrete

    return concrete.fctm(fck) + concrete.Gf(fck) + concrete.Eci(fck) / 1e4


@case("maad", SIGNAL)
def figures_of_sound(x):
    from maad.util import power2dB

    return np.sum(power2dB(x**2 + 0.1))


@case("linearmodels", np.array([3.1, 2.2, 4.5, 5.1, 3.9, 6.0, 5.2, 7.1]))
def instrumental_regression(y):
    from linearmodels.iv import IV2SLS

    x = np.stack([np.ones(8), np.arange(8.0)], axis=1)
    endog, z = np.cos(np.arange(8.0))[:, None], np.sin(1 + np.arange(8.0))[:, None]
    return np.sum(np.asarray(IV2SLS(y, x, endog, z).fit(cov_type="unadjusted").params))


@case("geofound", 30.0)
def capacity_of_foundation(phi):
    import geofound
    import sfsimodels

    soil = sfsimodels.Soil()
    soil.g_mod, soil.phi, soil.cohesion, soil.unit_dry_weight = 3e7, phi, 0.0, 17000.0
    foundation = sfsimodels.RaftFoundation()
    foundation.width, foundation.length, foundation.depth = 2.0, 3.0, 1.0
    return geofound.capacity_vesic_1975(soil, foundation) / 1e5


@case("composipy", 60000.0)
def stiffness_of_laminate(e1):
    from composipy import LaminateProperty, OrthotropicMaterial

    ply = OrthotropicMaterial(e1, 9000.0, 0.3, 4500.0, 0.2)
    return np.sum(LaminateProperty([0, 45, -45, 90], ply).ABD) / 1e4


@case("nestle", np.array([[1.0, 0.3], [0.3, 2.0]]))
def ellipsoid_of_nestle(cov):
    import nestle

    ellipsoid = nestle.Ellipsoid(np.zeros(2), np.linalg.inv((cov + cov.T) / 2))
    return ellipsoid.vol + np.sum(ellipsoid.axlens)


@case("pyti", SIGNAL[:40] + 20.0)
def average_of_pyti(x):
    from pyti.exponential_moving_average import exponential_moving_average

    return np.nansum(np.array(exponential_moving_average(x, 6)))


@case("pyteomics", np.array([3.0, 8.0]))
def charge_of_peptide(p):
    from pyteomics import electrochem

    return electrochem.charge("PEPTIDEKR", p[0]) + electrochem.charge("ACDEYK", p[1])

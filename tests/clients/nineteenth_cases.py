"""A nineteenth list: small packages of many fields that no list had before.

Written before the first of its gradients was taken; what had been tried was the plain values.
"""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
TONE = np.sin(0.7 * np.arange(64.0)) + 0.4 * np.cos(2.1 * np.arange(64.0))
PLACES = np.array([[0.2, 0.3], [0.7, 0.1], [0.4, 0.5], [0.15, 0.8], [0.6, 0.35]])


@case("frechetdist", PLACES)
def distance_of_curves(p):
    from frechetdist import frdist

    return frdist(p, PLACES[::-1] * 1.3 + 0.4)


@case("changefinder", LINE)
def recursion_of_changefinder(r):
    from changefinder import LevinsonDurbin

    a, e = LevinsonDurbin(r[:4] + np.array([4.0, 0.0, 0.0, 0.0]), 3)
    return np.sum(a * [1.0, 2.0, 3.0, 4.0]) + e


@case("nara_wpe", TONE.reshape(1, 2, 32))
def dereverberated(y):
    from nara_wpe.wpe import wpe_v8

    out = wpe_v8(y[0] + 0.3j * np.cos(y[0]), taps=2, delay=1, iterations=2)
    return np.sum(np.abs(out) ** 2)


@case("ckmutil", np.array([0.227, 0.82, 0.13, 0.35]))
def mixing_of_quarks(p):
    from ckmutil.ckm import ckm_wolfenstein

    v = ckm_wolfenstein(p[0], p[1], p[2], p[3])
    return np.sum(np.abs(v) * np.arange(9.0).reshape(3, 3)) + np.angle(v[0, 2])


@case("ckmutil", np.array([0.22, 0.0037, 0.042, 1.2]))
def angles_of_quarks(p):
    from ckmutil.ckm import standard_to_wolfenstein, tree_to_standard

    return sum(standard_to_wolfenstein(*tree_to_standard(p[0], p[1], p[2], p[3])))


@case("flexsolve", 1.7)
def root_of_flexsolve(a):
    import flexsolve as flx

    return flx.aitken_secant(lambda x: x**3 - a * x - 1.0, 1.4, 1.5, xtol=1e-12, ytol=1e-12)


@case("flexsolve", 0.8)
def bracketed_by_flexsolve(a):
    import flexsolve as flx

    return flx.IQ_interpolation(lambda x: np.cos(x) - a * x, 0.0, 2.0, xtol=1e-13, ytol=1e-13)


@case("acoustic_toolbox", 291.0)
def air_of_acoustic_toolbox(temperature):
    from acoustic_toolbox.atmosphere import Atmosphere

    air = Atmosphere(temperature=temperature, relative_humidity=55.0)
    return air.soundspeed + 1e3 * np.sum(air.attenuation_coefficient(np.array([500.0, 4000.0])))


@case("acoustic_toolbox", TONE)
def levels_of_acoustic_toolbox(x):
    from acoustic_toolbox.decibel import dbmean, dbsum

    levels = 60.0 + 5.0 * x
    return dbsum(levels) + dbmean(levels)


@case("colour_demosaicing", TONE.reshape(8, 8) + 2.0)
def demosaiced(cfa):
    from colour_demosaicing import demosaicing_CFA_Bayer_bilinear

    return np.sum(demosaicing_CFA_Bayer_bilinear(cfa, "RGGB") ** 2)


@case("opticalglass", np.array([1.03961212, 0.00600069867, 0.231792344, 0.0200179144]))
def index_of_glass(c):
    from opticalglass.rindexinfo import eval_formula_2

    return np.sum(eval_formula_2(np.array([486.1, 587.6, 656.3]), [0.0, c[0], c[1], c[2], c[3]]))


@case("pyesg", 0.3)
def interpolated_by_pyesg(tau):
    from pyesg import NelsonSiegelInterpolator

    return np.sum(NelsonSiegelInterpolator()(LINE, beta0=0.04, beta1=-0.02, beta2=0.01, tau=tau))


@case("pyesg", 0.21)
def process_of_pyesg(sigma):
    from pyesg import GeometricBrownianMotion

    process = GeometricBrownianMotion(mu=0.05, sigma=sigma)
    moments = process.expectation(1.2, 0.5) + process.standard_deviation(1.2, 0.5)
    return np.sum(moments) + np.sum(process.step(1.0, 0.25, random_state=3))


@case("sdepy", np.array([0.3, 0.25]))
def density_of_sdepy(p):
    from sdepy.analytical import lognorm_cdf, lognorm_pdf, oruh_mean, oruh_var

    density = lognorm_pdf(1.0, 1.3, x0=1.0, mu=p[0], sigma=p[1])
    moments = oruh_mean(0.7, theta=p[0], k=1.2) + oruh_var(0.7, k=1.2, sigma=p[1])
    return np.sum(density + lognorm_cdf(1.0, 1.2, mu=p[0], sigma=p[1]) + moments)


@case("geolysis", 110.0)
def pressure_of_geolysis(eop):
    from geolysis.spt import BazaraaPeckOPC, LiaoWhitmanOPC, PeckOPC

    makers = BazaraaPeckOPC, LiaoWhitmanOPC, PeckOPC
    return sum(make(20.0, eop=eop).correction() for make in makers)


@case("modepy", np.array([[-0.3, 0.2, -0.6], [0.1, -0.5, -0.2]]))
def modes_of_modepy(rs):
    from modepy.modes import jacobi, pkdo_2d

    return np.sum(pkdo_2d((1, 2), rs)) + np.sum(jacobi(0.5, 1.0, 3, rs[0]))


@case("recursivenodes", np.array([[-0.3, 0.2], [-0.6, 0.1], [-0.5, -0.2]]))
def lebesgue_of_recursivenodes(x):
    from recursivenodes.lebesgue import lebesgue
    from recursivenodes.nodes import equispaced

    return np.sum(lebesgue(x, 2, 3, equispaced(2, 3, domain="biunit")))


@case("uqtestfuns", np.array([[0.4, -1.2, 0.9], [1.3, 0.2, -0.4]]))
def ishigami_of_uqtestfuns(x):
    from uqtestfuns import Ishigami

    return np.sum(Ishigami()(x))


@case("daltonlens", np.abs(TONE[:27]).reshape(3, 3, 3) / 1.5)
def seen_by_daltonlens(picture):
    from daltonlens import convert, simulate

    simulator = simulate.Simulator_Vienot1999(convert.LMSModel_sRGB_SmithPokorny75())
    linear = convert.linearRGB_from_sRGB(picture)
    out = simulator._simulate_dichromacy_linear_rgb(linear, simulate.Deficiency.PROTAN)
    return np.sum(convert.sRGB_from_linearRGB(out * 0.8 + 0.05))


@case("vnoise", np.array([0.31, 1.72]))
def noise_of_vnoise(x):
    import vnoise

    noise = vnoise.Noise(7)
    return noise.noise1(x[0], octaves=2) + noise.noise2(x[0], x[1], octaves=3)


@case("PyIRI", np.array([0.4, 1.1, 2.0]))
def polynomials_of_pyiri(theta):
    from PyIRI.igrf_library import legendre_poly
    from PyIRI.main_library import solzen_effective

    return np.sum(legendre_poly(3, theta)) + np.sum(solzen_effective(40.0 * theta))


@case("proptools", np.array([5.0, 0.4, 1.24]))
def nozzle_of_proptools(p):
    from proptools import nozzle

    inside, outside = 1e6 * p[0], 1e5 * p[1]
    ratio = nozzle.er_from_p(inside, outside, p[2])
    thrust = nozzle.thrust_coef(inside, outside, p[2], 1e5, ratio)
    return thrust + 1e-3 * nozzle.c_star(p[2], 0.022, 3200.0)


@case("proptools", 1.22)
def area_of_proptools(gamma):
    from proptools import nozzle

    return nozzle.area_from_mach(2.2, gamma) + nozzle.mach_from_pr(5e6, 5e4, gamma)


@case("rocketprops", np.array([0.3, 0.7]))
def mixture_of_rocketprops(xs):
    from rocketprops.mixing_functions import COSTALD_mixture_Vmolar, Li_Tcm

    volumes = COSTALD_mixture_Vmolar(
        xs, 298.0, [512.58, 647.29], [0.000117, 5.6e-05], [0.559, 0.344]
    )
    return 1e5 * volumes + 1e-2 * Li_Tcm(xs, [512.58, 647.29], [0.000117, 5.6e-05])


@case("superflexpy", 0.06)
def reservoir_of_superflexpy(k):
    from superflexpy.implementation.elements.hbv import PowerReservoir
    from superflexpy.implementation.numerical_approximators.implicit_euler import (
        ImplicitEulerPython,
    )
    from superflexpy.implementation.root_finders.pegasus import PegasusPython

    approximation = ImplicitEulerPython(root_finder=PegasusPython())
    reservoir = PowerReservoir({"k": k, "alpha": 1.4}, {"S0": 8.0}, approximation, "R")
    reservoir.set_timestep(1.0)
    reservoir.set_input([LINE])
    return np.sum(reservoir.get_output()[0] * np.arange(10.0))


@case("unsatfit", np.array([0.02, 0.45, 1.0]))
def soil_of_unsatfit(p):
    import unsatfit

    fit = unsatfit.Fit()
    return np.sum(fit.vg_se([p[0], p[1], p[2]], np.array([10.0, 50.0, 200.0])))


@case("baryrat", LINE[:6])
def rational_of_baryrat(values):
    from baryrat import floater_hormann, interpolate_poly

    nodes = np.linspace(0.0, 2.0, 6)
    at = np.array([0.33, 1.07, 1.51])
    rational = floater_hormann(nodes, values, 2)(at)
    return np.sum(rational**2) + np.sum(interpolate_poly(nodes, values)(at))


@case("mcfit", np.exp(-np.linspace(0.0, 3.0, 32)))
def correlated_by_mcfit(power):
    from mcfit import P2xi

    r, xi = P2xi(np.logspace(-3, 1, 32), lowring=True)(power)
    return np.sum(xi[8:24] * r[8:24] ** 2)


@case("fastpt", np.geomspace(1.0, 40.0, 64))
def loop_of_fastpt(power):
    from fastpt import FASTPT

    fpt = FASTPT(np.logspace(-3, 1, 64), to_do=["one_loop_dd"], n_pad=32)
    return np.sum(fpt.one_loop_dd(power, C_window=0.75)[0])


@case("precession", np.array([0.9, 1.1, 0.7]))
def spins_of_precession(p):
    import precession

    chieff = precession.eval_chieff(p[0], p[1], 0.8, 0.5, 0.9)
    together = precession.eval_J(p[0], p[1], p[2], r=10.0, q=0.8, chi1=0.5, chi2=0.9)
    return np.sum(chieff) + np.sum(together) + np.sum(precession.eval_theta12(p[0], p[1], p[2]))


@case("hasasia", np.array([1.3, 4.1]))
def spectrum_of_hasasia(p):
    from hasasia.sensitivity import S_h, red_noise_powerlaw

    freqs = np.linspace(1e-9, 1e-8, 5)
    red = red_noise_powerlaw(p[0] * 1e-15, freqs, gamma=p[1])
    return np.sum(np.log(red)) + np.sum(np.log(S_h(p[0] * 1e-15, -2.0 / 3.0, freqs)))


@case("gwinc", np.array([0.25, 0.22, 0.27, 0.24]))
def coating_of_gwinc(thickness):
    from gwinc.noise.coatingthermal import getCoatRefl2

    layers = np.array([1.45, 2.1, 1.45, 2.1])
    reflected, slopes, _, _ = getCoatRefl2(1.0, 1.45, layers, thickness)
    return np.abs(reflected) ** 2 + np.sum(slopes)


@case("pydl", np.array([4000.0, 5500.0, 7200.0]))
def air_of_pydl(wave):
    from pydl.goddard.astro import airtovac, gcirc

    turned = gcirc(0.001 * wave[0], 0.5, 1.2, 0.7, units=0)
    return np.sum(airtovac(wave)) * 1e-3 + turned


@case("pydl", LINE / 3.0)
def polynomials_of_pydl(x):
    from pydl.goddard.math import flegendre
    from pydl.pydlutils.math import djs_median
    from pydl.pydlutils.trace import fchebyshev

    return np.sum(flegendre(x, 4)) + np.sum(fchebyshev(x, 3)) + np.sum(djs_median(x, width=3))


@case("radio_beam", np.array([3.0, 2.2, 25.0]))
def beam_of_radio_beam(p):
    from radio_beam.utils import deconvolve_optimized

    first = {"BMAJ": p[0], "BMIN": p[1], "BPA": p[2]}
    return sum(deconvolve_optimized(first, {"BMAJ": 1.4, "BMIN": 1.0, "BPA": 40.0}))


@case("minsnap_trajectories", np.array([0.0, 1.2, 0.7]))
def snapped(heights):
    import minsnap_trajectories as ms

    points = [ms.Waypoint(time=2.0 * k, position=np.array([k * 1.0, heights[k]])) for k in range(3)]
    polynomials = ms.generate_trajectory(points, degree=7, num_continuous_orders=3)
    out = ms.compute_trajectory_derivatives(polynomials, np.array([0.5, 1.5, 3.1]), 3)
    return np.sum(out**2)


@case("crystalpy", np.array([0.3, 0.8, -0.4]))
def vectors_of_crystalpy(p):
    from crystalpy.util.Vector import Vector

    vector = Vector(p[0], p[1], p[2])
    turned = vector.rotateAroundAxis(Vector(0.1, 0.7, 0.3), 0.6)
    return np.sum(turned.components()) + vector.angle(Vector(1.0, 0.2, 0.1)) + vector.norm()


@case("crystalpy", 0.4)
def polarized_by_crystalpy(theta):
    from crystalpy.polarization.MuellerMatrix import MuellerMatrix
    from crystalpy.util.StokesVector import StokesVector

    retarder = MuellerMatrix.initialize_as_general_linear_retarder(theta=theta, delta=0.7)
    out = retarder.calculate_stokes_vector(StokesVector([1.0, 0.3, 0.2, 0.1]))
    return np.sum(out.components() * np.array([1.0, 2.0, 3.0, 4.0]))


@case("meegkit", np.stack([TONE, np.roll(TONE, 5) * 0.6 + 0.1], 1)[:40])
def detrended_by_meegkit(x):
    from meegkit.detrend import detrend

    y, _, _ = detrend(x, 2, n_iter=2)
    return np.sum(y**3)


@case("eviltransform", np.array([31.17, 121.46]))
def moved_in_china(p):
    import eviltransform

    lat, lng = eviltransform.wgs2gcj(p[0], p[1])
    back = eviltransform.gcj2wgs(p[0], p[1])
    return lat + 2.0 * lng + sum(back) + eviltransform.distance(lat, lng, 31.0, 121.0) * 1e-3


@case("mgwr", np.array([1.2, 0.7, 2.1, 1.4, 0.9, 1.8, 1.1, 2.4]))
def regression_of_mgwr(y):
    from mgwr.gwr import GWR

    turns = np.arange(8.0)
    coords = np.stack([np.cos(turns), np.sin(1.7 * turns)], 1)
    model = GWR(coords, y.reshape(-1, 1), np.sin(turns).reshape(-1, 1), 1.5, fixed=True)
    return np.sum(model.fit().params ** 2)


@case("skaero", np.array([1.8, 2.3]))
def shock_of_skaero(mach):
    from skaero.gasdynamics.isentropic import IsentropicFlow
    from skaero.gasdynamics.shocks import NormalShock

    flow = IsentropicFlow(gamma=1.4)
    shock = NormalShock(mach[0], 1.4)
    return np.sum(flow.p_p0(mach)) + np.sum(flow.A_Astar(mach)) + shock.M_2 + shock.p2_p1


@case("geoana", np.array([[1.2, 0.4, -0.3], [0.2, 2.0, 0.9]]))
def sphere_of_geoana(xyz):
    from geoana.em.static import ElectrostaticSphere

    sphere = ElectrostaticSphere(radius=0.8, sigma_sphere=0.1, sigma_background=0.01)
    return np.sum(sphere.potential(xyz)) + np.sum(sphere.electric_field(xyz)[1])


@case("geoana", 0.9)
def dipole_of_geoana(moment):
    from geoana.em.static import MagneticDipoleWholeSpace

    dipole = MagneticDipoleWholeSpace(location=[0.0, 0.1, 0.0], orientation="Z", moment=moment)
    return 1e8 * np.sum(dipole.magnetic_flux_density(np.array([[1.0, 0.5, 0.3]])) * 10.0)


@case("pygam", np.array([0.4, 1.2, 2.1]))
def distributions_of_pygam(mu):
    from pygam.distributions import GammaDist, PoissonDist
    from pygam.links import LogLink

    y = np.array([1.0, 2.0, 3.0])
    density = PoissonDist().log_pdf(y, mu) + GammaDist(scale=0.7).log_pdf(y, mu)
    return np.sum(density) + np.sum(PoissonDist().deviance(y, mu)) + np.sum(LogLink().link(mu, 1))


@case("xraydb", np.array([0.3, 0.7]))
def scattered_of_xraydb(q):
    import xraydb

    return np.sum(xraydb.f0("Fe", q) * np.array([1.0, 2.0]))


@case("GTC", 1.3)
def uncertain_of_gtc(x):
    from GTC import exp, sin, ureal

    out = exp(ureal(x, 0.1)) * sin(ureal(0.7, 0.2))
    return out.x + out.u


@case("metrolopy", 1.3)
def uncertain_of_metrolopy(x):
    from metrolopy import ummy

    out = ummy(x, 0.1) * ummy(0.7, 0.05) + ummy(x, 0.2) ** 2
    return out.x + out.u

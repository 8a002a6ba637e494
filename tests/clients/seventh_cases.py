"""The seventh list: thirty-six packages that are in none of the others, seventy-five gradients.

Written before the first of its gradients was taken. In it are classes of ndarray (astropy,
scikit-spatial, vectormath), attrs, named tuples, tensors around arrays, series of pandas,
caches, and dictionaries of numbers.
"""

import numpy as np

from .cases import case

SIGNAL = np.cos(0.9 * np.arange(40.0)) + 0.1 * np.sin(2.7 * np.arange(40.0))
RETURNS = 0.01 * np.sin(1.7 * np.arange(1.0, 25.0)) + 0.002
PRICES = 100.0 + np.cumsum(np.sin(2.3 * np.arange(40.0)))
WEIGHTS = np.array(
    [[0.0, 0.6, 0.3, 0.2], [0.6, 0.0, 0.5, 0.4], [0.3, 0.5, 0.0, 0.7], [0.2, 0.4, 0.7, 0.0]]
)
PICTURE = 100.0 + 50.0 * np.sin(np.arange(256.0) ** 1.1).reshape(16, 16)
# fmt: off


@case("astropy", np.array([1.0, 2.5]))
def speed_of_quantity(x):
    import astropy.units as u
    return np.sum((x * u.km / (2.0 * u.s)).to_value(u.m / u.s) * np.array([1.0, 2.0]))


@case("astropy", 0.3)
def distance_of_cosmology(matter):
    from astropy.cosmology import LambdaCDM
    return LambdaCDM(H0=70.0, Om0=matter, Ode0=0.7, Tcmb0=0.0).efunc(1.5)


@case("astropy", np.array([1.5, 0.3, 0.8]))
def gaussian_of_modeling(p):
    from astropy.modeling.models import Gaussian1D
    return np.sum(Gaussian1D.evaluate(np.linspace(-1.0, 2.0, 7), *p))


@case("astropy", np.array([0.4, 1.2]))
def angle_of_units(x):
    import astropy.units as u
    return float(np.sum(np.sin(u.Quantity(x, u.rad)) * np.array([1.0, 3.0])))


@case("astropy", SIGNAL)
def deviation_of_astropy(x):
    from astropy.stats import biweight_location
    return biweight_location(x)


@case("skspatial", np.array([1.0, 2.0, 0.5]))
def angle_of_vectors(x):
    from skspatial.objects import Vector
    return Vector(x).angle_between([1.0, 0.3, -0.2])


@case("skspatial", np.array([1.0, 2.0, 0.5]))
def distance_to_plane(x):
    from skspatial.objects import Plane, Point
    return Plane(point=[0.0, 0.0, 1.0], normal=[1.0, 1.0, 2.0]).distance_point(Point(x))


@case("skspatial", np.array([1.0, 2.0, 0.5]))
def projection_on_line(x):
    from skspatial.objects import Line
    point = Line(point=[0.0, 1.0, 0.0], direction=[1.0, 1.0, 0.2]).project_point(x)
    return np.sum(point * np.array([1.0, 2.0, 3.0]))


@case("vectormath", np.array([1.0, 2.0, 0.5]))
def length_of_vectormath(x):
    import vectormath
    return vectormath.Vector3(x[0], x[1], x[2]).length


@case("vectormath", np.array([1.0, 2.0, 0.5]))
def cross_of_vectormath(x):
    import vectormath
    other, weights = vectormath.Vector3(0.2, 1.0, -0.4), vectormath.Vector3(1, 2, 3)
    return vectormath.Vector3(x).cross(other).dot(weights)


@case("networkx", np.array([0.5, 1.5, 0.7]))
def shortest_path(w):
    import networkx as nx
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, w[0]), (1, 2, w[1]), (0, 2, 4.0), (2, 3, w[2])])
    return nx.dijkstra_path_length(graph, 0, 3)


@case("networkx", np.array([0.5, 1.5, 0.7]))
def pagerank_of_graph(w):
    import networkx as nx
    from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, w[0]), (1, 2, w[1]), (2, 0, 1.0), (0, 2, w[2])])
    ranks = _pagerank_python(graph, alpha=0.85, tol=1e-12, max_iter=200)
    return ranks[0] + 2.0 * ranks[1]


@case("networkx", np.array([0.5, 1.5, 0.7]))
def clustering_of_graph(w):
    import networkx as nx
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, w[0]), (1, 2, w[1]), (0, 2, w[2]), (2, 3, 1.0)])
    return nx.average_clustering(graph, weight="weight")


@case("pypower", 0.2)
def injected_power(r):
    from pypower.case4gs import case4gs
    from pypower.makeYbus import makeYbus
    grid = case4gs()
    bus, branch = grid["bus"], grid["branch"]
    branch = branch.copy()
    branch[:, 3] = branch[:, 3] * (1.0 + r)
    ybus, _, _ = makeYbus(grid["baseMVA"], bus, branch)
    v = np.array([1.0, 0.98, 0.97, 1.02])
    return np.sum((v * np.conj(ybus @ v)).imag * np.arange(4.0))


@case("pypower", np.array([0.1, 0.2, 0.3, 0.4]))
def power_mismatch(angles):
    from pypower.dSbus_dV import dSbus_dV
    y = np.diag([4.0, 5.0, 3.0, 6.0]) - 1.0 * WEIGHTS
    v = np.array([1.0, 0.98, 0.97, 1.02]) * np.exp(1j * angles)
    by_magnitude, by_angle = dSbus_dV(y - 3j * y, v)
    return np.sum(np.real(by_magnitude) * WEIGHTS) + np.sum(np.imag(by_angle))


@case("pypower", np.array([20.0, 35.0]))
def cost_of_power(p):
    from pypower.totcost import totcost
    costs = np.array([[2.0, 0.0, 0.0, 3.0, 0.01, 2.0, 5.0], [2.0, 0.0, 0.0, 3.0, 0.02, 1.0, 0.0]])
    return np.sum(totcost(costs, p))


@case("electricpy", 0.003)
def capacitor_voltage(t):
    from electricpy.passive import vcapdischarge
    return vcapdischarge(t, 12.0, 100.0, 5e-5)


@case("electricpy", np.array([10.0, 4.0, 7.0]))
def divided_voltage(r):
    import electricpy
    return electricpy.voltdiv(12.0, r[0], r[1], Rload=r[2])


@case("electricpy", np.array([3.0, 4.0]))
def wye_of_delta(z):
    import electricpy
    a, b, c = electricpy.dynetz(delta=(z[0] + 1j, z[1] + 2j, 5.0 + 0j))
    return abs(a) + 2.0 * abs(b) + 3.0 * abs(c)


@case("boule", 50.0)
def normal_gravity(latitude):
    import boule
    return boule.WGS84.normal_gravity((0.0, latitude, 1000.0), si_units=True)


@case("boule", 0.0034)
def gravity_of_ellipsoid(flattening):
    import boule
    ellipsoid = boule.Ellipsoid(
        name="e", semimajor_axis=6.4e6, flattening=flattening, geocentric_grav_const=4e14,
        angular_velocity=7.3e-5)
    return ellipsoid.gravity_pole - ellipsoid.gravity_equator


@case("boule", np.array([6.0e6, 1.0e6, 2.0e6]))
def geodetic_of_cartesian(x):
    import boule
    longitude, latitude, height = boule.WGS84.cartesian_to_geodetic((x[0], x[1], x[2]))
    return longitude + 2.0 * latitude + 1e-5 * height


@case("colorzero", np.array([0.3, 0.6, 0.2]))
def lab_of_colorzero(c):
    import colorzero
    lab = colorzero.Color(c[0], c[1], c[2]).lab
    return lab.l + 2.0 * lab.a + 3.0 * lab.b


@case("colorzero", np.array([0.3, 0.6, 0.2]))
def difference_of_colorzero(c):
    import colorzero
    return colorzero.Color(*c).difference(colorzero.Color("#804020"), method="ciede2000")


@case("s2sphere", np.array([47.0, 8.5]))
def distance_on_sphere(x):
    import s2sphere
    here = s2sphere.LatLng.from_degrees(x[0], x[1])
    return here.get_distance(s2sphere.LatLng.from_degrees(40.0, 9.0)).degrees


@case("s2sphere", np.array([0.3, 0.5, 0.8]))
def area_of_triangle(x):
    import s2sphere
    a = s2sphere.Point(x[0], x[1], x[2]).normalize()
    return s2sphere.girard_area(a, s2sphere.Point(1.0, 0.0, 0.0), s2sphere.Point(0.0, 0.6, 0.8))


@case("astronomy", 8000.3)
def distance_of_moon(days):
    import astronomy
    return astronomy.GeoMoon(astronomy.Time(days)).Length() * 1e3


@case("astronomy", 0.3)
def height_of_mars(days):
    import astronomy
    time = astronomy.Time(8000.0 + days)
    observer = astronomy.Observer(47.0, 8.5, 400.0)
    place = astronomy.Equator(astronomy.Body.Mars, time, observer, True, True)
    normal = astronomy.Refraction.Airless
    return astronomy.Horizon(time, observer, place.ra, place.dec, normal).altitude


@case("bct", WEIGHTS)
def global_efficiency(w):
    import bct
    return bct.efficiency_wei(w)


@case("bct", np.array([0.6, 0.3, 0.2, 0.5, 0.4, 0.7]))
def clustering_of_brain(edges):
    import bct
    w = np.zeros((4, 4))
    w[np.triu_indices(4, 1)] = edges
    w = w + w.T
    return np.sum(bct.clustering_coef_wu(w) * np.arange(1.0, 5.0))


@case("bct", WEIGHTS)
def passage_time(w):
    import bct
    return np.sum(bct.mean_first_passage_time(w) * np.arange(16.0).reshape(4, 4))


@case("sfs", np.array([0.5, 1.0, 0.3]))
def point_source(x):
    import sfs
    grid = sfs.util.xyz_grid([1, 3], [2, 4], 0, spacing=1.0)
    return np.sum(np.abs(sfs.fd.source.point(500.0, x, grid)))


@case("sfs", 300.0)
def plane_wave(omega):
    import sfs
    grid = sfs.util.xyz_grid([1, 3], [2, 4], 0, spacing=1.0)
    return np.sum(sfs.fd.source.plane(omega, [0.0, 0.0, 0.0], [0.6, 0.8, 0.0], grid).real)


@case("simple_pid", np.array([1.2, 0.4, 0.1]))
def controlled_value(k):
    from simple_pid import PID
    control = PID(k[0], k[1], k[2], setpoint=1.0, sample_time=None, output_limits=(-5.0, 5.0))
    level = 0.2
    for _ in range(6):
        level = level + 0.1 * control(level, dt=0.1)
    return level


@case("simple_pid", 0.8)
def components_of_control(setpoint):
    from simple_pid import PID
    control = PID(1.0, 0.5, 0.05, setpoint=setpoint, sample_time=None)
    control(0.1, dt=0.1)
    control(0.3, dt=0.1)
    return sum(control.components)


@case("thermo", 320.0)
def pressure_of_gas(temperature):
    from thermo.eos import PR
    return PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=temperature, V=0.02).P


@case("thermo", 2.0e5)
def volume_of_gas(pressure):
    from thermo.eos import SRK
    return SRK(Tc=507.6, Pc=3025000.0, omega=0.2975, T=420.0, P=pressure).V_g


@case("thermo", np.array([0.252, 0.748]))
def activity_of_mixture(xs):
    from thermo.nrtl import NRTL_gammas
    taus, alphas = [[0, -0.178], [1.963, 0]], [[0, 0.2974], [0.2974, 0]]
    first, second = NRTL_gammas([xs[0], xs[1]], taus, alphas)
    return first + 2.0 * second


@case("chempy", 300.0)
def permittivity_of_water(temperature):
    from chempy.properties.water_permittivity_bradley_pitzer_1979 import water_permittivity
    return water_permittivity(temperature, 1.0)


@case("chempy", 0.02)
def debye_huckel(strength):
    from chempy.electrolytes import davies_activity_product
    return davies_activity_product(strength, (-1, 2), (1, 1), 1.0, 298.15, 78.3, 997.0)


@case("burnman", 25e9)
def volume_of_mineral(pressure):
    from burnman.eos.birch_murnaghan import BM3
    params = {"V_0": 1.1e-5, "K_0": 160e9, "Kprime_0": 4.0, "G_0": 130e9, "Gprime_0": 1.8,
              "E_0": 0.0, "P_0": 0.0}
    return 1e6 * BM3().volume(pressure, 300.0, params)


@case("burnman", 25e9)
def density_of_periclase(pressure):
    import burnman
    mineral = burnman.minerals.SLB_2011.periclase()
    mineral.set_state(pressure, 1500.0)
    return mineral.density


@case("ofiber", 2.3)
def mode_of_fiber(v):
    import ofiber
    return ofiber.LP_mode_value(v, 0, 1)


@case("ofiber", 1.3)
def index_of_glass(microns):
    import ofiber
    return ofiber.n_group(ofiber.glass(4), 1e-6 * microns)


@case("pypolar", 0.6)
def reflected_light(theta):
    from pypolar import fresnel
    return fresnel.R_unpolarized(1.5 - 0.2j, theta)


@case("pypolar", 0.6)
def retarded_light(theta):
    from pypolar import jones
    field = jones.op_retarder(theta, 0.7) @ jones.field_linear(0.2)
    return jones.ellipse_azimuth(field) + jones.intensity(jones.op_linear_polarizer(0.9) @ field)


@case("raytracing", 0.8)
def width_of_beam(f):
    import raytracing
    beam = raytracing.GaussianBeam(w=1.5, wavelength=0.0006)
    return (raytracing.Space(d=1.1) * raytracing.Lens(f=f) * beam).w


@case("raytracing", 5.0)
def focal_length(r):
    import raytracing
    lens = raytracing.ThickLens(n=1.5, R1=r, R2=-7.0, thickness=1.0)
    return lens.effectiveFocalLengths().f1


@case("HydroErr", SIGNAL)
def legates_index(x):
    import HydroErr
    return HydroErr.kge_2012(x + 5.0, np.linspace(4.0, 6.0, 40)) + HydroErr.nse(x, x[::-1] * 0.5)


@case("HydroErr", SIGNAL)
def agreement_of_series(x):
    import HydroErr
    return HydroErr.dr(x, np.linspace(-1.0, 1.0, 40)) + HydroErr.sa(x, np.linspace(0.5, 1.0, 40))


@case("meteocalc", 28.0)
def felt_temperature(t):
    import meteocalc
    return meteocalc.heat_index(meteocalc.Temp(t, "c"), 70.0).c + meteocalc.dew_point(t, 60.0).k


@case("empyrical", RETURNS)
def ratio_of_returns(r):
    import empyrical
    return empyrical.sharpe_ratio(r) + empyrical.sortino_ratio(r)


@case("empyrical", RETURNS)
def drawdown_of_returns(r):
    import empyrical
    return empyrical.max_drawdown(r) + empyrical.annual_return(r)


@case("mlxtend", np.linspace(-1.0, 1.0, 9))
def linear_regression(w):
    from mlxtend.regressor import LinearRegression
    model = LinearRegression(method="direct")
    model.fit(np.stack([np.arange(9.0), np.arange(9.0) ** 2], axis=1), np.sin(w))
    return np.sum(model.w_) + np.sum(model.b_)


@case("mlxtend", np.arange(12.0).reshape(6, 2) ** 1.3)
def standardized(x):
    from mlxtend.preprocessing import standardize
    return np.sum(standardize(x, columns=[0, 1]) ** 3)


@case("cma", np.array([0.3, -0.7, 1.1]))
def levy_of_cma(x):
    import cma
    return cma.ff.levy(x) + cma.ff.rastrigin(x) + cma.ff.rosen(x) + cma.ff.cigar(x) * 1e-6


@case("lmoments3", SIGNAL)
def l_moments(x):
    import lmoments3
    return sum(lmoments3.lmom_ratios(x, nmom=4))


@case("lmoments3", SIGNAL)
def fitted_gumbel(x):
    from lmoments3 import distr
    fitted = distr.gum.lmom_fit(x)
    return distr.gum(**fitted).ppf(0.99)


@case("KDEpy", np.array([0.3, -0.7, 1.1, 0.2]))
def density_of_kdepy(x):
    from KDEpy import NaiveKDE
    return np.sum(NaiveKDE(kernel="gaussian", bw=0.5).fit(x).evaluate(np.linspace(-2.0, 2.0, 7)))


@case("zepid", np.array([25.0, 75.0, 10.0, 90.0]))
def risk_of_exposure(n):
    from zepid.calc import odds_ratio, risk_ratio
    risks, odds = risk_ratio(*n), odds_ratio(*n)
    return risks.point_estimate + risks.lower_bound + odds.standard_error


@case("kinpy", np.array([0.1, 0.2, 0.3]))
def moved_frame(x):
    import kinpy
    frame = kinpy.Transform(rot=x, pos=np.array([1.0, 2.0, 3.0]))
    return np.sum((frame * frame.inverse() * frame).matrix() * np.arange(16.0).reshape(4, 4))


@case("calfem", np.array([0.0, 3.0]))
def stiffness_of_beam(x):
    import calfem.core as cfc
    k = cfc.beam2e(x, [0.0, 4.0], [210e9, 2e-3, 5e-5])
    return np.sum(k * np.arange(36.0).reshape(6, 6)) * 1e-8


@case("calfem", 4.0)
def deflection_of_bars(area):
    import calfem.core as cfc
    k, f = np.zeros((3, 3)), np.array([[0.0], [0.0], [1.0]])
    cfc.assem(np.array([1, 2]), k, cfc.spring1e(area))
    cfc.assem(np.array([2, 3]), k, cfc.spring1e(2.0 * area))
    a, r = cfc.solveq(k, f, np.array([1]))
    return np.sum(a) + np.sum(r)


@case("openap", 30000.0)
def speed_of_aircraft(altitude):
    from openap import aero
    return aero.cas2mach(140.0, altitude * 0.3) + aero.density(altitude * 0.3)


@case("openap", 60000.0)
def drag_of_aircraft(mass):
    from openap import Drag
    return np.sum(Drag(ac="A320").clean(mass=mass, tas=430.0, alt=33000.0))


@case("ta", PRICES)
def average_of_prices(x):
    import pandas as pd
    import ta
    return np.sum(ta.trend.SMAIndicator(pd.Series(x), window=5).sma_indicator().to_numpy()[6:])


@case("ta", PRICES)
def strength_of_prices(x):
    import pandas as pd
    import ta
    return ta.momentum.RSIIndicator(pd.Series(x), window=5).rsi().iloc[-1]


@case("suncalc", 47.0)
def height_of_sun(latitude):
    from datetime import datetime

    import suncalc
    return suncalc.get_position(datetime(2024, 6, 1, 10, 0), 8.5, latitude)["altitude"]


@case("sewar", PICTURE)
def similarity_of_pictures(x):
    import sewar
    return sewar.full_ref.mse(x, PICTURE[::-1]) + sewar.full_ref.uqi(x, PICTURE[::-1] + 3.0, ws=4)


@case("pythermalcomfort", 30.0)
def thermal_climate(t):
    from pythermalcomfort.models import humidex, utci
    felt = utci(tdb=t, tr=25.0, v=1.0, rh=50.0, round_output=False).utci
    return felt + humidex(tdb=t, rh=40.0, round_output=False).humidex


@case("pythermalcomfort", 25.0)
def comfort_vote(t):
    from pythermalcomfort.models import pmv_ppd_iso
    vote = pmv_ppd_iso(tdb=t, tr=24.0, vr=0.15, rh=50.0, met=1.3, clo=0.6, round_output=False)
    return vote.pmv + 0.01 * vote.ppd


@case("pypfopt", PRICES.reshape(20, 2))
def historical_return(prices):
    import pandas as pd
    from pypfopt import expected_returns
    return np.sum(expected_returns.mean_historical_return(pd.DataFrame(prices)))


@case("pypfopt", np.array([0.2, 0.5, 0.3]))
def utility_of_portfolio(w):
    from pypfopt.objective_functions import quadratic_utility, sharpe_ratio
    covariance, means = np.diag([0.1, 0.2, 0.3]) + 0.02, np.array([0.05, 0.1, 0.02])
    return quadratic_utility(w, means, covariance, 2.0) + sharpe_ratio(w, means, covariance)


@case("elasticipy", np.array([210.0, 0.3]))
def stiffness_of_crystal(p):
    from elasticipy.tensors.elasticity import StiffnessTensor
    return np.sum(StiffnessTensor.isotropic(E=p[0], nu=p[1]).matrix()) * 1e-2


@case("elasticipy", np.array([160.0, 60.0, 80.0]))
def averaged_stiffness(c):
    from elasticipy.tensors.elasticity import StiffnessTensor
    stiffness = StiffnessTensor.cubic(C11=c[0], C12=c[1], C44=c[2])
    return stiffness.Voigt_average().shear_modulus.mean()

"""Gradients of functions and methods of public packages: what is called, and where.

The list was written before the first of them was taken. Each case is a function of arrays or
numbers, and its arguments; a package is imported when its case runs. `make test-clients` installs
what `requirements.txt` names into an environment of its own.
"""

import numpy as np

CASES = []
# What is refused, and why: text that is evaluated; numbers that are put into text on their way;
# arrays of objects and of records; libraries that C has written; a class that derives from `ode`;
# numbers that are looked up, or counted, by their bytes or value; compiled dispatch by types;
# arrays of objects of which only some are numbers; numbers of SymPy's; a frame that pandas' own groups
# made and then interpolates; where pyFFTW is installed, PyCWT's transforms.
REFUSED = {
    "randles_circuit", "spherical_distance", "vincenty_distance", "moved_frame",
    "delayed_equation", "baseline_of_signal", "wavelets_of_signal", "norm_of_tensor",
    "energy_of_chain", "displacement_of_beam", "polynomial_of_chaospy", "length_of_glyph",
    "volume_of_mesh", "integral_of_nutils", "composed_matrix", "peak_of_motion",
    "response_of_oscillator", "spatial_regression", "rating_of_openskill",
    "overlap_of_gaussians",
    "monaco.helper_functions.hashable_val", "shifted_spectrum", "way_over_land",
    "levels_of_pyramid", "air_of_aerosandbox", "field_of_igrf", "inclination_of_igrf",
    "turning_points", "kriging_of_gstools", "anomalies_of_keplertools", "likelihood_of_arch",
    "process_of_stheno", "scale_of_stheno", "basis_of_bspline", "rays_of_optiland",
    "wakes_of_py_wake", "bond_of_pricing", "beam_of_indeterminate",
    "plastic_stress", "plastic_stress_of_modulus", "moments_of_diffusion",
    "oscillating_integral", "transfer_of_satelles", "geodesic_of_pygc",
}  # fmt: skip
# The package rounds its result to a few decimals, evaluates a text that it has made of a number,
# finds a root by halves, or finds the result of an equal number in a cache of its own: a warning
# says that a derivative was lost.
WARNED = {
    "influence_of_slippy",
    "tip_of_fuzzy", "inverse_of_geodepy", "polygon_of_turfpy", "way_of_turfpy", "cold_fraction",
    "radiator",
}  # fmt: skip
V3 = np.array([0.3, -0.5, 0.8])
Q = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])


def case(package, *args):
    def enter(fun):
        CASES.append((package, fun, args))
        return fun

    return enter


# fmt: off
@case("filterpy", 1.3)
def kalman(u):
    from filterpy.kalman import KalmanFilter
    f = KalmanFilter(dim_x=2, dim_z=1)
    f.x, f.F = np.array([[0.0], [1.0]]), np.array([[1.0, 0.1], [0.0, 1.0]])
    f.H = np.array([[1.0, 0.0]])
    f.P, f.Q, f.R = np.eye(2) * 2.0, np.eye(2) * 0.1, np.eye(1) * 0.5
    for z in (1.0, 1.2, 0.9):
        f.predict()
        f.update(z * u)
    return f.x.sum() + f.P.sum()


@case("filterpy", 0.7)
def g_h_filter(u):
    from filterpy.gh import GHFilter
    f = GHFilter(x=0.0, dx=u, dt=0.1, g=0.6, h=0.02)
    for z in (1.0, 1.2, 0.9):
        f.update(z * u)
    return f.x + f.dx


@case("filterpy", 0.7)
def fading_memory(u):
    from filterpy.memory import FadingMemoryFilter
    f = FadingMemoryFilter([0.0, 0.0], 0.1, 1, 0.5)
    for z in (1.0, 1.2, 0.9):
        f.update(z * u)
    return np.sum(f.x)


@case("filterpy", 0.7)
def least_squares_filter(u):
    from filterpy.leastsq import LeastSquaresFilter
    f = LeastSquaresFilter(dt=0.1, order=1)
    for z in (1.0, 1.2, 0.9):
        f.update(z * u)
    return np.sum(f.x)


@case("filterpy", np.array([0.3, 0.4]))
def gaussian_product(x):
    from filterpy.stats import gaussian
    return gaussian(x[0], 1.0, x[1])


@case("pytransform3d", V3)
def axis_angle(a):
    from pytransform3d.rotations import matrix_from_compact_axis_angle
    return matrix_from_compact_axis_angle(a).sum()


@case("pytransform3d", Q)
def from_quaternion(q):
    from pytransform3d.rotations import matrix_from_quaternion
    return (matrix_from_quaternion(q) * np.arange(9.0).reshape(3, 3)).sum()


@case("pytransform3d", V3)
def from_euler(e):
    from pytransform3d.rotations import matrix_from_euler
    return (matrix_from_euler(e, 0, 1, 2, True) * np.arange(9.0).reshape(3, 3)).sum()


@case("pytransform3d", Q)
def rotate_by_quaternion(q):
    from pytransform3d.rotations import q_prod_vector
    return (q_prod_vector(q, np.array([1.0, 2.0, 3.0])) * V3).sum()


@case("pytransform3d", np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
def exponential_coordinates(s):
    from pytransform3d.transformations import transform_from_exponential_coordinates
    return (transform_from_exponential_coordinates(s) * np.arange(16.0).reshape(4, 4)).sum()


@case("fluids", 2e5)
def friction(re):
    from fluids.friction import friction_factor
    return friction_factor(Re=re, eD=1e-4)


@case("fluids", 0.3)
def colebrook(x):
    from fluids.friction import Haaland
    return Haaland(1e5 * x, 1e-4)


@case("fluids", 3.0)
def reynolds(v):
    from fluids.core import Reynolds
    return Reynolds(V=v, rho=1000.0, mu=1e-3, D=0.1)


@case("fluids", 2000.0)
def atmosphere(z):
    from fluids.atmosphere import ATMOSPHERE_1976
    return ATMOSPHERE_1976(z).rho


@case("fluids", 30.0)
def drag(re):
    from fluids.drag import drag_sphere
    return drag_sphere(re)


@case("ht", 300.0)
def radiation(t):
    from ht.radiation import blackbody_spectral_radiance
    return blackbody_spectral_radiance(t, 4e-6) * 1e-6


@case("ht", 1.2)
def effectiveness(ntu):
    from ht.hx import effectiveness_from_NTU
    return effectiveness_from_NTU(ntu, 0.6, subtype="counterflow")


@case("ht", 1e5)
def dittus_boelter(re):
    from ht.conv_internal import turbulent_Dittus_Boelter
    return turbulent_Dittus_Boelter(re, 1.2)


@case("ht", 350.0)
def lmtd(t):
    from ht.core import LMTD
    return LMTD(400.0, t, 290.0, 310.0)


@case("chemicals", 320.0)
def antoine(t):
    from chemicals.vapor_pressure import Antoine
    return Antoine(t, A=8.95894, B=510.595, C=-15.95)


@case("chemicals", 300.0)
def dippr(t):
    from chemicals.dippr import EQ105
    return EQ105(t, 0.128, 0.25, 500.0, 0.3)


@case("chemicals", np.array([0.4, 0.6]))
def rachford_rice(z):
    from chemicals.rachford_rice import Rachford_Rice_flash_error
    return Rachford_Rice_flash_error(0.4, [z[0], z[1]], [1.5, 0.6])


@case("chemicals", 300.0)
def viscosity(t):
    from chemicals.iapws import iapws95_Psat
    return iapws95_Psat(t)


@case("control", 0.7)
def transfer_function(k):
    import control
    return abs(control.tf([k], [1.0, k, 2.0])(0.5j))


@case("control", np.array([0.5, 1.5]))
def series(a):
    import control
    g = control.tf([1.0], [1.0, a[0]]) * control.tf([a[1]], [1.0, 2.0])
    return np.abs(g(1.0j))


@case("control", 0.7)
def state_space_response(k):
    import control
    a = np.array([[0.0, 1.0], [-k, -0.5]])
    return np.abs(control.ss(a, [[0.0], [1.0]], [[1.0, 0.0]], 0.0)(0.3j))


@case("PyAstronomy", 0.3)
def kepler(m):
    from PyAstronomy.pyasl import MarkleyKESolver
    return MarkleyKESolver().getE(m, 0.2)


@case("PyAstronomy", 2450000.5)
def air_mass(z):
    from PyAstronomy.pyasl import airmassPP
    return airmassPP(z * 1e-5)


@case("py_vollib", 0.2)
def black_scholes(sigma):
    from py_vollib.black_scholes import black_scholes as price
    return price("c", 100.0, 90.0, 0.5, 0.01, sigma)


@case("py_vollib", 100.0)
def black_scholes_delta(s):
    from py_vollib.black_scholes.greeks.analytical import vega
    return vega("c", s, 90.0, 0.5, 0.01, 0.2)


@case("pymap3d", np.array([0.7, 0.3]))
def geodetic_to_ecef(x):
    from pymap3d import geodetic2ecef
    a, b, c = geodetic2ecef(x[0], x[1], 100.0, deg=False)
    return (a + 2.0 * b + 3.0 * c) * 1e-6


@case("pymap3d", np.array([42.0, -82.0]))
def geodetic_to_enu(x):
    from pymap3d import geodetic2enu
    return sum(geodetic2enu(x[0], x[1], 200.0, 42.1, -82.1, 50.0)) * 1e-4


@case("utm", np.array([48.0, 11.0]))
def to_utm(x):
    import utm
    east, north, *_ = utm.from_latlon(x[0], x[1], 32, "U")
    return (east + 2.0 * north) * 1e-6


@case("geographiclib", 41.0)
def geodesic(lat):
    from geographiclib.geodesic import Geodesic
    return Geodesic.WGS84.Inverse(lat, 174.0, 40.0, -5.5)["s12"] * 1e-6


@case("geopy", 41.0)
def great_circle_distance(lat):
    from geopy.distance import great_circle
    return great_circle((lat, -71.0), (42.0, -81.0)).km * 1e-3


@case("ahrs", Q)
def ahrs_rotation(q):
    from ahrs.common.orientation import q2R
    return (q2R(q) * np.arange(9.0).reshape(3, 3)).sum()


@case("ahrs", np.array([0.1, -0.2, 0.3]))
def madgwick(g):
    from ahrs.filters import Madgwick
    return np.sum(Madgwick().updateIMU(Q, gyr=g, acc=np.array([0.1, 0.2, 9.8])) * np.arange(4.0))


@case("transforms3d", V3)
def euler_to_matrix(e):
    from transforms3d.euler import euler2mat
    return (euler2mat(e[0], e[1], e[2]) * np.arange(9.0).reshape(3, 3)).sum()


@case("transforms3d", Q)
def quaternion_product(q):
    from transforms3d.quaternions import qmult
    return (qmult(q, Q) * np.arange(4.0)).sum()


@case("pyquaternion", Q)
def quaternion_object(q):
    from pyquaternion import Quaternion
    return (Quaternion(q[0], q[1], q[2], q[3]) * Quaternion(1.0, 2.0, 3.0, 4.0)).norm


@case("pyquaternion", 0.4)
def quaternion_rotation(angle):
    from pyquaternion import Quaternion
    return Quaternion(axis=[1.0, 0.0, 0.0], angle=angle).rotate(np.array([0.0, 0.5, 1.0]))[1]


@case("squaternion", 0.4)
def from_euler_angles(a):
    from squaternion import Quaternion
    q = Quaternion.from_euler(a, 0.2, 0.1)
    return q.w + 2.0 * q.x


@case("numpy_financial", 0.05)
def net_present_value(rate):
    import numpy_financial as npf
    return npf.npv(rate, [-100.0, 30.0, 40.0, 50.0])


@case("numpy_financial", 0.05)
def payment(rate):
    import numpy_financial as npf
    return npf.pmt(rate / 12, 60, 1000.0)


@case("psychrolib", 30.0)
def saturation_pressure(t):
    import psychrolib
    psychrolib.SetUnitSystem(psychrolib.SI)
    return psychrolib.GetSatVapPres(t)


@case("psychrolib", 0.4)
def enthalpy(rh):
    import psychrolib
    psychrolib.SetUnitSystem(psychrolib.SI)
    ratio = psychrolib.GetHumRatioFromRelHum(25.0, rh, 101325.0)
    return psychrolib.GetMoistAirEnthalpy(25.0, ratio)


@case("iapws", 600.0)
def steam_region(t):
    from iapws._iapws import _Ice
    return _Ice(t * 0.4, 0.1)["h"]


@case("seawater", 20.0)
def seawater_density(t):
    import seawater
    return seawater.dens0(35.0, t)


@case("colormath", 0.4)
def rgb_to_lab(g):
    from colormath.color_conversions import convert_color
    from colormath.color_objects import LabColor, sRGBColor
    return convert_color(sRGBColor(0.3, g, 0.2), LabColor).lab_l


@case("nashpy", np.array([0.3, 0.7]))
def game_payoff(p):
    import nashpy
    game = nashpy.Game(np.array([[1.0, 2.0], [3.0, 0.5]]), np.array([[0.5, 1.0], [2.0, 0.3]]))
    return game[p, np.array([0.4, 0.6])].sum()


@case("quantecon", 0.9)
def lyapunov(a):
    from quantecon import solve_discrete_lyapunov
    return solve_discrete_lyapunov(np.array([[a, 0.1], [0.0, 0.5]]), np.eye(2)).sum()


@case("quantecon", 0.5)
def lq_control(q):
    from quantecon import LQ
    one = np.array([[1.0]])
    lq = LQ(np.array([[q]]), one, np.array([[0.9]]), one, T=3, Rf=one)
    lq.update_values()
    return lq.P.sum()


@case("gymnasium", np.array([0.1, 0.0, 0.05, 0.0]))
def cart_pole(state):
    from gymnasium.envs.classic_control import CartPoleEnv
    env = CartPoleEnv()
    env.reset(seed=0)
    env.state = state
    env.step(1)
    env.step(0)
    return sum(env.state)


@case("gymnasium", np.array([0.3, 0.1]))
def pendulum(state):
    from gymnasium.envs.classic_control import PendulumEnv
    env = PendulumEnv()
    env.reset(seed=0)
    env.state = state
    _, reward, *_ = env.step(np.array([0.5]))
    return reward + env.state.sum()


@case("gymnasium", np.array([0.3, 0.1, 0.2, -0.1]))
def acrobot(state):
    from gymnasium.envs.classic_control import AcrobotEnv
    env = AcrobotEnv()
    env.reset(seed=0)
    env.state = state
    env.step(2)
    return sum(env.state)


@case("spatialmath", 0.4)
def rotation_matrix(t):
    from spatialmath.base import rotx
    return (rotx(t) * np.arange(9.0).reshape(3, 3)).sum()


@case("spatialmath", 0.4)
def pose(t):
    from spatialmath import SE3
    return ((SE3.Rx(t) * SE3.Ry(2 * t)).A * np.arange(16.0).reshape(4, 4)).sum()


@case("skfuzzy", 3.0)
def membership(c):
    from skfuzzy.membership import gaussmf
    return gaussmf(np.linspace(0.0, 5.0, 11), c, 0.8).sum()


@case("skfuzzy", 3.0)
def bell_membership(c):
    from skfuzzy.membership import gbellmf
    return gbellmf(np.linspace(0.1, 5.0, 11), 1.0, 2.0, c).sum()


@case("pykalman", np.array([0.3, 0.5, 0.2]))
def pykalman_smoother(z):
    from pykalman import KalmanFilter
    f = KalmanFilter(transition_matrices=[[1, 1], [0, 1]], observation_matrices=[[1, 0]])
    return f.smooth(z)[0].sum()


@case("colour", np.array([0.4, 0.3, 0.2]))
def xyz_to_lab(xyz):
    import colour
    return colour.XYZ_to_Lab(xyz).sum()


@case("colour", np.array([0.4, 0.3, 0.2]))
def gamma_curve(rgb):
    import colour
    return colour.models.eotf_sRGB(rgb).sum()


@case("pvlib", 0.7)
def pv_power(g):
    from pvlib.pvsystem import pvwatts_dc
    return pvwatts_dc(1000.0 * g, 45.0, 300.0, -0.004)


@case("pvlib", 35.0)
def relative_air_mass(z):
    from pvlib.atmosphere import get_relative_airmass
    return get_relative_airmass(z, "kasten1966")


@case("pvlib", 30.0)
def incidence(tilt):
    from pvlib.irradiance import aoi_projection
    return aoi_projection(tilt, 180.0, 40.0, 170.0)


@case("pvlib", 20.0)
def cell_temperature(t):
    from pvlib.temperature import sapm_cell
    return sapm_cell(800.0, t, 2.0, -3.56, -0.075, 3.0)
# fmt: on

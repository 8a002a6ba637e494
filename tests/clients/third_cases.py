"""A third list of public packages, written before the first gradient of it was taken."""

import numpy as np

from .cases import case

FREQUENCIES = np.array([1.0, 10.0, 100.0, 1000.0])
XS = np.linspace(-2.0, 3.0, 21)
POINTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [2.0, -0.5, 0.3], [3.0, 0.2, 0.1]])
WEIGHTS9 = np.arange(9.0).reshape(3, 3)
WEIGHTS16 = np.arange(16.0).reshape(4, 4)


# fmt: off
@case("sgp4", np.array([0.9, 0.5]))
def satellite_position(orbit):
    from sgp4.earth_gravity import wgs72
    from sgp4.model import WGS72, Satrec
    satellite = Satrec()
    satellite.sgp4init(
        WGS72, "i", 5, 18441.785, 2.8098e-05, 6.969196665e-13, 0.0, 0.1859667 * orbit[0],
        5.7904160274885, 0.5980929187319, orbit[1], 0.0472294454407,
        6.0863854713832,
    )
    _, r, _ = satellite.sgp4(2451723.285, 0.05)
    return (r[0] + r[1] + 2.0 * r[2]) / wgs72.radiusearthkm


@case("sgp4", 0.5)
def satellite_time(fraction):
    from sgp4.model import WGS72, Satrec
    satellite = Satrec()
    satellite.sgp4init(
        WGS72, "i", 5, 18441.785, 2.8098e-05, 6.969196665e-13, 0.0, 0.1859667,
        5.7904160274885, 0.5980929187319, 0.3373093125574, 0.0472294454407, 6.0863854713832,
    )
    _, _, v = satellite.sgp4(2451723.285, 0.1 * fraction)
    return v[0] + v[1] + v[2]


@case("sgp4", 0.3)
def sidereal_time(day):
    from sgp4.propagation import gstime
    return gstime(day + 2451544.5)


@case("geomdl", 0.35)
def spline_curve_point(u):
    from geomdl import BSpline
    curve = BSpline.Curve()
    curve.degree = 3
    curve.ctrlpts = [[5.0, 5.0], [10.0, 10.0], [20.0, 15.0], [35.0, 15.0], [45.0, 9.0], [50.0, 5]]
    curve.knotvector = [0.0, 0.0, 0.0, 0.0, 0.33, 0.66, 1.0, 1.0, 1.0, 1.0]
    x, y = curve.evaluate_single(u)
    return x + 2.0 * y


@case("geomdl", np.array([0.3, 0.6]))
def nurbs_surface_point(uv):
    from geomdl import NURBS
    surface = NURBS.Surface()
    surface.degree_u, surface.degree_v = 2, 1
    points = [[i * 1.0, j * 1.0, i * j * 0.3, 1.0] for i in range(3) for j in range(3)]
    surface.set_ctrlpts(points, 3, 3)
    surface.knotvector_u = [0, 0, 0, 1, 1, 1]
    surface.knotvector_v = [0, 0, 0.5, 1, 1]
    return sum(surface.evaluate_single((uv[0], uv[1])))


@case("geomdl", 4.0)
def control_point(height):
    from geomdl import BSpline
    curve = BSpline.Curve()
    curve.degree = 2
    curve.ctrlpts = [[0.0, 0.0], [1.0, height], [3.0, 1.0], [4.0, 0.0]]
    curve.knotvector = [0, 0, 0, 0.5, 1, 1, 1]
    return curve.evaluate_single(0.4)[1]


@case("skrf", 0.7)
def transmission_line(length):
    from skrf.tlineFunctions import zl_2_Gamma_in
    return np.abs(zl_2_Gamma_in(50.0, 75.0 + 10j, length * np.arange(1.0, 4.0))).sum()


@case("skrf", np.array([75.0, 30.0]))
def two_port_cascade(z):
    import skrf
    line = skrf.Frequency(1.0, 2.0, 3, "ghz")
    media = skrf.media.DefinedGammaZ0(line, z0=50.0)
    network = media.resistor(z[0]) ** media.shunt(media.resistor(z[1]) ** media.short())
    return np.abs(network.s[:, 0, 0]).sum()


@case("skrf", np.array([0.3, 0.1, 0.2]))
def scattering_to_impedance(s):
    from skrf.network import s2z
    matrix = np.array([[[s[0], s[1]], [s[1], s[2]]]]) + 0.1j
    return np.abs(s2z(matrix)).sum()


@case("lmfit", np.array([2.0, 0.4, 0.8]))
def voigt_profile(p):
    from lmfit.lineshapes import voigt
    return (voigt(XS, p[0], p[1], p[2], 0.3) * XS).sum()


@case("lmfit", np.array([2.0, 0.4, 0.8]))
def gaussian_model(p):
    from lmfit.models import GaussianModel
    model = GaussianModel()
    return model.eval(x=XS, amplitude=p[0], center=p[1], sigma=p[2]).sum()


@case("lmfit", np.array([2.0, 0.4, 0.8]))
def composite_model(p):
    from lmfit.models import LinearModel, LorentzianModel
    model = LorentzianModel(prefix="l_") + LinearModel(prefix="b_")
    parameters = model.make_params(
        l_amplitude=p[0], l_center=p[1], l_sigma=p[2], b_slope=0.1, b_intercept=0.2
    )
    return (model.eval(parameters, x=XS) ** 2).sum()


@case("uncertainties", 0.4)
def propagated_error(x):
    from uncertainties import ufloat
    y = ufloat(x, 0.1) * ufloat(2.0, 0.3) + ufloat(1.0, 0.1)
    return y.std_dev


@case("uncertainties", 0.4)
def propagated_value(x):
    from uncertainties import ufloat
    from uncertainties.umath import exp, sin
    return (sin(ufloat(x, 0.1)) * exp(ufloat(0.3, 0.2))).nominal_value


@case("uncertainties", 0.1)
def error_of_function(sigma):
    from uncertainties import ufloat
    from uncertainties.umath import sqrt
    return sqrt(ufloat(2.0, sigma) ** 2 + ufloat(1.0, 0.2) ** 2).std_dev


@case("pyloudnorm", np.sin(np.arange(800.0)))
def integrated_loudness(signal):
    import pyloudnorm
    return pyloudnorm.Meter(1000.0).integrated_loudness(signal)


@case("pyloudnorm", 0.7)
def peak_normalized(gain):
    import pyloudnorm
    return np.sum(pyloudnorm.normalize.peak(gain * np.sin(np.arange(20.0)) + 0.1, -1.0) ** 2)


@case("pyloudnorm", 1500.0)
def shelf_filter(corner):
    from pyloudnorm.iirfilter import IIRfilter
    shelf = IIRfilter(4.0, 0.7, corner, 48000.0, "high_shelf")
    return np.sum(shelf.b) + np.sum(shelf.a * np.arange(3.0))


@case("hankel", 1.3)
def hankel_transform(k):
    from hankel import HankelTransform
    transform = HankelTransform(nu=0, N=60, h=0.03)
    return transform.transform(lambda x: np.exp(-(x**2)), k, ret_err=False)


@case("hankel", 0.8)
def hankel_width(width):
    from hankel import HankelTransform
    transform = HankelTransform(nu=1, N=60, h=0.03)
    return transform.integrate(lambda x: x * np.exp(-width * x), ret_err=False)


@case("hankel", 0.8)
def symmetric_fourier(k):
    from hankel import SymmetricFourierTransform
    transform = SymmetricFourierTransform(ndim=3, N=60, h=0.03)
    return transform.transform(lambda r: np.exp(-(r**2)), k, ret_err=False)


@case("impedance", np.array([0.02, 0.1, 0.5]))
def circuit_element(p):
    from impedance.models.circuits import elements as e
    pair = e.p([e.R([p[1]], FREQUENCIES), e.CPE([p[2], 0.9], FREQUENCIES)])
    z = e.s([e.R([p[0]], FREQUENCIES), pair])
    return np.abs(z).sum()


@case("impedance", np.array([0.01, 0.02, 10.0]))
def randles_circuit(p):
    from impedance.models.circuits.elements import circuit_elements
    from impedance.models.circuits.fitting import buildCircuit
    text, _ = buildCircuit(
        "R0-p(R1,C1)", FREQUENCIES, p[0], p[1], p[2], constants={}, eval_string="", index=0
    )
    return np.abs(eval(text, circuit_elements)).sum()


@case("impedance", np.array([0.05, 100.0]))
def warburg_diffusion(p):
    from impedance.models.circuits.elements import Wo
    return np.real(Wo([p[0], p[1]], FREQUENCIES)).sum()


@case("ase", np.array([[0.0, 0.0, 0.0], [1.1, 0.1, 0.0], [0.2, 1.2, 0.3]]))
def lennard_jones(positions):
    from ase import Atoms
    from ase.calculators.lj import LennardJones
    atoms = Atoms("Ar3", positions=positions)
    atoms.calc = LennardJones(rc=5.0)
    return atoms.get_potential_energy()


@case("ase", np.array([[1.0, 0.2, 0.0], [0.3, 1.0, 0.5]]))
def bond_angles(v):
    from ase.geometry import get_angles
    return get_angles(v, np.array([[0.0, 1.0, 0.4], [1.0, 0.1, 0.2]])).sum()


@case("ase", np.array([11.0, 0.6, 4.0]))
def equation_of_state(p):
    from ase.eos import birchmurnaghan
    return birchmurnaghan(np.array([10.0, 10.5, 11.5]), -3.0, p[1], p[2], p[0]).sum()


@case("ikpy", np.array([0.1, 0.3, -0.4]))
def arm_position(joints):
    from ikpy.chain import Chain
    from ikpy.link import OriginLink, URDFLink
    links = [OriginLink()]
    for i, axis in enumerate([[0, 0, 1], [0, 1, 0]]):
        links.append(URDFLink(
            name=f"link{i}", origin_translation=np.array([0.1, 0.0, 0.5]),
            origin_orientation=np.array([0.0, 0.1, 0.0]), rotation=np.array(axis),
            use_symbolic_matrix=False,
        ))
    return (Chain(links).forward_kinematics(joints) * WEIGHTS16).sum()


@case("ikpy", 0.4)
def link_matrix(angle):
    from ikpy.link import URDFLink
    link = URDFLink(
        name="a", origin_translation=np.array([0.1, 0.0, 0.5]),
        origin_orientation=np.array([0.0, 0.1, 0.0]), rotation=np.array([0, 0, 1]),
    )
    return (np.asarray(link.get_link_frame_matrix(angle)) * WEIGHTS16).sum()


@case("ikpy", np.array([0.1, 0.2, 0.3]))
def roll_pitch_yaw(angles):
    from ikpy.utils.geometry import rpy_matrix
    return (rpy_matrix(angles[0], angles[1], angles[2]) * WEIGHTS9).sum()


@case("pyrr", np.array([0.1, 0.2, 0.3]))
def quaternion_of_eulers(angles):
    from pyrr import quaternion
    return (quaternion.create_from_eulers(angles) * np.arange(4.0)).sum()


@case("pyrr", np.array([0.1, 0.2, 0.3, 0.9]))
def matrix_of_quaternion(q):
    from pyrr import matrix44
    return (matrix44.create_from_quaternion(q) * WEIGHTS16).sum()


@case("pyrr", np.array([3.0, 4.0, 5.0]))
def camera_matrix(eye):
    from pyrr import matrix44
    view = matrix44.create_look_at(eye, [0.0, 0.1, 0.2], [0.0, 1.0, 0.0])
    return (view * WEIGHTS16).sum()


@case("vg", np.array([1.0, 0.2, 0.5]))
def vector_angle(v):
    import vg
    return vg.angle(v, np.array([0.3, 1.0, 0.2]))


@case("vg", np.array([1.0, 0.2, 0.5]))
def vector_rotated(v):
    import vg
    return (vg.rotate(v, np.array([0.0, 0.6, 0.8]), 30.0) * np.arange(3.0)).sum()


@case("vg", POINTS)
def principal_axis(points):
    import vg
    return np.abs(vg.major_axis(points)).sum()


@case("pyXSteam", 300.0)
def steam_enthalpy(t):
    from pyXSteam.XSteam import XSteam
    return XSteam(XSteam.UNIT_SYSTEM_MKS).h_pt(10.0, t)


@case("pyXSteam", 150.0)
def saturation_pressure_of_steam(t):
    from pyXSteam.XSteam import XSteam
    return XSteam(XSteam.UNIT_SYSTEM_MKS).psat_t(t)


@case("pyXSteam", 2900.0)
def steam_temperature(h):
    from pyXSteam.XSteam import XSteam
    return XSteam(XSteam.UNIT_SYSTEM_MKS).t_ph(5.0, h)


@case("vector", np.array([1.0, 2.0, 3.0]))
def invariant_mass(p):
    import vector
    a = vector.obj(px=p[0], py=p[1], pz=p[2], E=5.0)
    b = vector.obj(px=-0.5, py=0.3, pz=1.0, E=2.0)
    return (a + b).mass


@case("vector", 0.4)
def boosted_energy(beta):
    import vector
    return vector.obj(pt=2.0, phi=0.3, eta=0.5, mass=0.1).boostZ(beta=beta).E


@case("vector", np.array([0.3, 0.5]))
def angular_distance(x):
    import vector
    return vector.obj(pt=2.0, phi=x[0], eta=x[1]).deltaR(vector.obj(pt=1.0, phi=-0.4, eta=1.2))


@case("ot", np.array([[0.0, 1.0, 2.0], [1.0, 0.5, 1.0], [2.0, 0.7, 0.1]]))
def sinkhorn_cost(cost):
    import ot
    return ot.sinkhorn2(np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.4, 0.2]), cost, 0.5)


@case("ot", np.array([0.1, 0.5, 0.9]))
def wasserstein_on_line(x):
    import ot
    return ot.wasserstein_1d(x, np.array([0.3, 0.4, 1.2]), p=2)


@case("ot", np.array([0.1, 0.5]))
def gaussian_transport(mean):
    import ot
    covariance = np.array([[1.0, 0.2], [0.2, 0.5]])
    return ot.gaussian.bures_wasserstein_distance(
        mean, np.array([0.3, -0.4]), covariance * (1 + mean[0]), np.eye(2)
    )


@case("SALib", np.array([[0.3, 0.5, 0.9], [1.0, -0.5, 0.2]]))
def ishigami_function(x):
    from SALib.test_functions import Ishigami
    return Ishigami.evaluate(x).sum()


@case("SALib", np.array([[0.3, 0.6, 0.9, 0.1, 0.2, 0.3, 0.4, 0.7]]))
def sobol_g_function(x):
    from SALib.test_functions import Sobol_G
    return Sobol_G.evaluate(x).sum()


@case("SALib", np.sin(np.arange(32.0)))
def sobol_indices(outputs):
    from SALib.analyze import sobol
    problem = {"num_vars": 2, "names": ["a", "b"], "bounds": [[0, 1]] * 2}
    indices = sobol.analyze(problem, outputs[:24], calc_second_order=True, num_resamples=2, seed=1)
    return indices["S1"].sum() + indices["ST"].sum()


@case("pysabr", 0.05)
def lognormal_volatility(k):
    from pysabr import Hagan2002LognormalSABR
    model = Hagan2002LognormalSABR(
        f=0.04, shift=0.03, t=2.0, v_atm_n=0.006, beta=0.5, rho=-0.2, volvol=0.3
    )
    return model.lognormal_vol(k)


@case("pysabr", 0.3)
def normal_volatility(volvol):
    from pysabr.models.hagan_2002_normal_sabr import normal_vol
    return normal_vol(0.05, 0.04, 2.0, 0.02, 0.5, -0.2, volvol) * 100.0


@case("pysabr", 0.05)
def black_call(k):
    from pysabr.black import lognormal_call
    return lognormal_call(k, 0.04, 1.0, 0.3, 0.01) * 100.0


@case("coloraide", np.array([0.4, 0.3, 0.2]))
def lab_lightness(rgb):
    from coloraide import Color
    return Color("srgb", [rgb[0], rgb[1], rgb[2]]).convert("lab")["lightness"]


@case("coloraide", 0.3)
def delta_e(green):
    from coloraide import Color
    return Color("srgb", [0.5, green, 0.2]).delta_e(Color("srgb", [0.4, 0.4, 0.1]), method="2000")


@case("coloraide", 0.3)
def contrast_ratio(green):
    from coloraide import Color
    return Color("srgb", [0.5, green, 0.2]).contrast(Color("white"))


@case("Pynite", 20.0)
def beam_deflection(load):
    from Pynite import FEModel3D
    model = FEModel3D()
    model.add_node("A", 0.0, 0.0, 0.0)
    model.add_node("B", 10.0, 0.0, 0.0)
    model.add_node("M", 5.0, 0.0, 0.0)
    model.add_material("steel", 29000.0, 11400.0, 0.3, 0.000284)
    model.add_section("s", 20.0, 100.0, 150.0, 250.0)
    model.add_member("L", "A", "M", "steel", "s")
    model.add_member("R", "M", "B", "steel", "s")
    model.def_support("A", True, True, True, True, True, True)
    model.def_support("B", False, True, True, True, False, False)
    model.add_node_load("M", "FY", -load)
    model.analyze(sparse=False, check_stability=False)
    return model.nodes["M"].DY["Combo 1"] * 1e3


@case("Pynite", 2.5)
def fixed_end_distributed(start):
    from Pynite.FixedEndReactions import FER_LinLoad
    return np.sum(FER_LinLoad(1.5, 3.0, start, 7.0, 10.0, "Fy") * np.arange(12.0).reshape(12, 1))


@case("Pynite", np.array([20.0, 0.4]))
def fixed_end_moment(p):
    from Pynite.FixedEndReactions import FER_PtLoad
    return np.sum(FER_PtLoad(p[0], 3.0 + p[1], 10.0, "Fy"))


@case("similaritymeasures", np.array([0.1, 0.5, 0.9, 0.4]))
def frechet_distance(y):
    import similaritymeasures
    x = np.arange(4.0)
    return similaritymeasures.frechet_dist(np.column_stack((x, y)), np.column_stack((x, 0.5 * x)))


@case("similaritymeasures", np.array([0.1, 0.5, 0.9, 0.4]))
def warped_distance(y):
    import similaritymeasures
    x = np.arange(4.0)
    return similaritymeasures.dtw(np.column_stack((x, y)), np.column_stack((x, 0.5 * x)))[0]


@case("similaritymeasures", np.array([0.1, 0.5, 0.9, 0.4]))
def area_between(y):
    import similaritymeasures
    x = np.arange(4.0)
    return similaritymeasures.area_between_two_curves(
        np.column_stack((x, y)), np.column_stack((x, 0.5 * x + 1.0))
    )
# fmt: on

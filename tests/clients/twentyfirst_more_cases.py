"""The other half of the twenty-first list: weather, water, robots, bodies, orbits and waves.

Written before the first of its gradients was taken; what had been tried was the plain values.
"""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
TONE = np.sin(0.7 * np.arange(64.0)) + 0.4 * np.cos(2.1 * np.arange(64.0))


@case("pymeteo", np.array([24.0, 55.0]))
def wet_bulb(p):
    from pymeteo.thermo import specific_humidity_from_relative_humidity, wet_bulb_temperature

    return wet_bulb_temperature(p[0], p[1]) + 1e3 * specific_humidity_from_relative_humidity(
        950.0, p[0], p[1]
    )


@case("pymeteo", np.array([-8.0, 6.0]))
def wind_chill_of_pymeteo(p):
    from pymeteo.comfort import wind_chill
    from pymeteo.dynamics import omega_to_w

    return wind_chill(p[0], p[1]) + omega_to_w(0.3, p[0], 800.0)


@case("grsuite", np.array([350.0, 0.5, 90.0, 1.7]))
def parameters_of_gr4j(p):
    from grsuite.transfo import transfo_param_gr4j

    return np.sum(transfo_param_gr4j(p, "RT") * np.array([1.0, 2.0, 3.0, 4.0]))


@case("adepy", np.array([0.6, 1.2, 3.0]))
def solute_of_adepy(p):
    from adepy.uniform.oneD import pulse1

    return np.sum(pulse1(10.0, np.array([1.0, 2.0, 5.0]), 4.0, p[0], 0.25, p[1], R=p[2]))


@case("simsoil", np.array([295.0, 0.6]))
def evaporation_of_simsoil(p):
    from simsoil.transpiration import radiation_net, svp, svp_slope

    return 1e-3 * svp(p[0]) + 1e-2 * svp_slope(p[0]) + 1e-2 * radiation_net(300.0, p[1], p[0])


@case("pyTSEB", np.array([1.8, 2.5, 0.05]))
def resistance_of_leaves(p):
    from pyTSEB.resistances import calc_R_x_Choudhury

    return np.sum(calc_R_x_Choudhury(p[0], p[1], p[2]))


@case("smartpy", np.array([0.95, 0.3, 0.2, 25.0, 0.15]))
def discharge_of_smart(p):
    from smartpy.structure import run_one_step

    out = run_one_step(
        1e8, 86400.0, 6.0, 2.0, p[0], 1.0, p[1], p[2], p[3] * 4.0, 4.0 * 86400.0 * p[4],
        40.0 * 86400.0, 200.0 * 86400.0, 6.0 * 3600.0,
        *[1e5 for _ in range(13)],
    )  # fmt: skip
    return sum(out) * 1e-6


@case("UnityQuaternion", np.array([0.2, -0.3, 0.4, 0.8]))
def turn_of_unity(q):
    from UnityQuaternion.Quaternion import Quaternion

    angles = Quaternion(q[0], q[1], q[2], q[3]).eulerAngles
    return 0.01 * (angles[0] + 2.0 * angles[1] + 3.0 * angles[2])


@case("quatlib", np.array([0.3, 0.4, -0.2]))
def turn_of_quatlib(angles):
    import quatlib

    matrix = quatlib.euler2rotMat(angles[0], angles[1], angles[2])
    return np.sum(matrix * np.arange(9.0).reshape(3, 3)) + np.sum(quatlib.rotMat2euler(matrix))


@case("quatlib", np.array([0.8, 0.2, -0.4, 0.4]))
def product_of_quatlib(q):
    import quatlib

    both = quatlib.quaternProd(q, quatlib.quaternConj(np.array([0.5, 0.5, 0.1, -0.7])))
    return np.sum(quatlib.quatern2rotMat(both)) + np.sum(quatlib.quatern2euler(both))


@case("neura_dual_quaternions", np.array([0.9, 0.1, -0.3, 0.2]))
def logarithm_of_neura(q):
    from neura_dual_quaternions import Quaternion

    unit = Quaternion(q[0], q[1], q[2], q[3]).normalize()
    both = unit.log() * unit
    return both.w + 2.0 * both.x + 3.0 * both.y + unit.getAngle()


@case("neura_dual_quaternions", np.array([0.9, 0.1, -0.3, 0.2]))
def pose_of_neura(q):
    from neura_dual_quaternions import DualQuaternion, Quaternion

    pose = DualQuaternion(Quaternion(q[0], q[1], q[2], q[3]), Quaternion(0.1, q[2], 0.3, q[0]))
    return np.sum(pose.as_mat_right() ** 2) + np.sum((pose * pose).asVector())


@case("RigidBody", np.array([0.3, -0.4, 1.1]))
def frame_of_rigid_body(angles):
    from RigidBody import RigidBody

    matrix = RigidBody(1.0, 2.0, 3.0, orientation=angles).get_transformation_matrix()
    return np.sum(matrix * np.arange(16.0).reshape(4, 4))


@case("Marker", np.array([1.0, 2.0, 3.0]))
def distance_of_markers(p):
    from Marker import Marker

    marker = Marker(p[0], p[1], p[2])
    marker.move_by(0.1 * p[1], 0.0, 0.5)
    return marker.distance_to(Marker(0.0, 1.0, 0.5))


@case("pyislamic_prayer", np.array([48.2, 16.4]))
def direction_of_prayer(p):
    from pyislamic_prayer.qibla import qibla_direction

    return qibla_direction(p[0], p[1])


@case("nemesispy", np.array([1.0, 0.5, -0.3, 0.2, 0.1, 0.4, -0.2, 0.3, 0.6]))
def harmonics_of_nemesis(c):
    from nemesispy.common.function_fit import fourier4

    return np.sum(fourier4(np.array([0.2, 1.1, 2.5]), *c) ** 2)


@case("nemesispy", np.array([-2.1, -0.6, -0.9, 0.3, 1400.0]))
def profile_of_nemesis(p):
    from nemesispy.models.models import Model2

    pressures = np.geomspace(1e5, 1e1, 6)
    model = Model2(6000.0, 7e8, 1.9e27, 7e7, 7e9, pressures, 3.8e-27, 10.0 ** p[0], 10.0 ** p[1],
                   10.0 ** p[2], p[3], p[4])  # fmt: skip
    return 1e-3 * np.sum(model.temperature())


@case("tart_beam", np.array([0.7, 1.9]))
def harmonics_of_tart(p):
    from tart_beam.spherical import real_sph_harm

    return real_sph_harm(3, 2, p[0], p[1]) + real_sph_harm(2, -1, p[0], p[1])


@case("liftmath", np.array([560.0, 88.0]))
def points_of_lifter(p):
    from liftmath.standards import wilks_original_score, wilks_score

    return wilks_score(p[0], p[1], "male") + wilks_original_score(p[0], p[1], "male")


@case("liftmath", 142.5)
def strongest_lift(weight):
    from liftmath.onerm import estimate_one_rm

    return estimate_one_rm(weight, 5).consensus


@case("comod", np.array([0.45, 0.12]))
def epidemic_of_comod(p):
    from comod import Model

    model = Model("SIR", ["beta", "gamma"], [("S", "I", "beta I / N"), ("I", "R", "gamma")])
    s, i, _ = model.solve(
        [0.9, 0.1, 0.0], (p[0], p[1]), np.linspace(0.0, 10.0, 6), rtol=1e-9, atol=1e-9
    )
    return np.sum(s) + 2.0 * np.sum(i)


@case("kepmodel", np.array([12.0, 0.2, 0.7]))
def matrix_of_kepler(p):
    from kepmodel.tools import design_matrix_Kom, gaussian_kernel

    matrix = design_matrix_Kom(np.array([0.0, 1.3, 4.1]), p[0], p[1], p[2])
    return np.sum(np.asarray(matrix) ** 2) + gaussian_kernel(p[1])


@case("lamkit", np.array([140.0, 9.0, 5.0]))
def stiffness_of_laminate(e):
    from lamkit.analysis.laminate import Laminate
    from lamkit.analysis.material import Material, Ply

    material = Material("CFRP", {"E11": 1e3 * e[0], "E22": 1e3 * e[1], "nu12": 0.3,
                                 "G12": 1e3 * e[2]}, check_larc05=False)  # fmt: skip
    laminate = Laminate([0.0, 45.0, -45.0, 90.0], Ply(material, thickness=0.125))
    return 1e-6 * np.sum(laminate.A * np.arange(9.0).reshape(3, 3)) + 1e-4 * np.sum(laminate.D)


@case("inequalipy", LINE)
def inequality_of_kolm(x):
    import inequalipy

    return (
        inequalipy.atkinson.index(x, 0.5)
        + inequalipy.kolmpollak.ede(x, epsilon=0.7)
        + inequalipy.gini(x)
    )


@case("bindcurve", np.array([5.0, 3.0]))
def affinity_of_bindcurve(p):
    from bindcurve.conversion import cheng_prusoff, coleska, munson_rodbard

    return (
        cheng_prusoff(p[0], LsT=2.0, Kds=p[1])
        + coleska(p[0], RT=1.0, LsT=2.0, Kds=p[1])
        + munson_rodbard(p[0], LsT=2.0, Kds=p[1], y0=0.3)
    )


@case("KeplerOrbit", np.array([1.1, 0.3, 0.2, 0.5, 1.0, 0.7]))
def place_of_kepler(p):
    from KeplerOrbit.KeplerOrbit import kep2cart

    x, y, z, vx, vy, vz = kep2cart(p[0], p[1], p[2], p[3], p[4], p[5], 1e-3, 1.0)
    return x + 2.0 * y + 3.0 * z + vx + 2.0 * vy + 3.0 * vz


@case("pyargus", np.array([[3.0, 0.5], [0.5, 2.0]]))
def weights_of_wiener(r):
    from pyargus.beamform import optimal_Wiener_beamform

    weights = optimal_Wiener_beamform(r, np.array([[1.0 + 0.3j], [0.6 - 0.8j]]))
    return np.sum(np.abs(weights) ** 2)


@case("pyargus", np.array([0.0, 0.5, 1.1, 1.7]))
def directions_of_capon(places):
    from pyargus.directionEstimation import DOA_Capon, gen_ula_scanning_vectors

    angles = np.array([20.0, 60.0, 100.0, 150.0])
    vectors = gen_ula_scanning_vectors(places, angles)
    steered = np.exp(1j * 2 * np.pi * places * np.cos(np.radians(75.0)))
    covariance = np.outer(steered, steered.conj()) + 0.1 * np.eye(4)
    return np.sum(np.abs(DOA_Capon(covariance, vectors)))


@case("cpslo_orbits", np.array([7000.0, 100.0, 1300.0, 0.5, 7.4, 1.0]))
def perturbations_of_cpslo(state):
    from cpslo_orbits.perturbations import drag_perturbation, oblateness_perturbation

    drag = drag_perturbation(0.0, state)
    return 1e6 * np.sum(drag) + 1e4 * np.sum(oblateness_perturbation(0.0, state))


@case("pharmaliu2", np.array([20.0, 0.5, 0.2]))
def compartment_of_pharmaliu(p):
    from pharmaliu2.analysis import PharmacokineticsAnalysis

    return np.sum(
        PharmacokineticsAnalysis.one_compartment_model(
            p[0], 0.5, 0.4, 0.3, 0.2, 0.1, 0.6, p[1], 0.8, p[2]
        )
    )


@case("linkbudget", np.array([-101.0, -95.0, 30.0]))
def look_of_antenna(p):
    from linkbudget.pointing import look_angles, polarization_angle

    elevation, azimuth, slant = look_angles(p[0], 0.0, 35786e3, p[1], p[2])
    return elevation + 0.1 * azimuth + 1e-6 * slant + polarization_angle(p[0], 0.0, p[1], p[2])


@case("linkbudget", np.array([1.2, 290.0]))
def losses_of_cable(p):
    from linkbudget.calc import coax_loss_nf, passive_attn_in_noise_temp, radar_obj_gain

    return (
        radar_obj_gain(1e9 * p[0], 10.0)
        + passive_attn_in_noise_temp(3.0, p[1])
        + sum(coax_loss_nf(110.0, p[1]))
    )


@case("spacelink", np.array([2.2, 900.0]))
def path_of_spacelink(p):
    import astropy.units as u
    from spacelink.core.path import free_space_path_loss

    return free_space_path_loss(p[1] * u.km, p[0] * u.GHz).value


@case("opendose_poppk", np.array([0.8, 1.6, 0.25, 60.0]))
def curve_of_opendose(p):
    from opendose_poppk.pk_model import PKModel

    times = np.array([0.5, 1.0, 3.0, 8.0])
    return np.sum(PKModel(F=p[0], ka=p[1], ke=p[2], Vd=p[3]).concentration(times, 500.0))


@case("mechanical_model", np.array([2.0, 1.5]))
def creep_of_kelvin(p):
    from mechanical_model.linear_mech import KelvinVoigt

    model = KelvinVoigt(G=p[0], eta=p[1])
    return np.sum(model.J(np.array([0.3, 1.0, 4.0]))) + np.sum(model.tandelta(np.array([0.4])))


@case("pylink", np.array([1200.0, 3.0]))
def field_of_pylink(p):
    from pylink.utils import e_field_to_eirp_dbw, spreading_loss_db

    return spreading_loss_db(p[0]) + e_field_to_eirp_dbw(p[1], 1e3 * p[0])


@case("ecoe", np.array([0.07, -100.0, 30.0, 45.0, 60.0]))
def present_value_of_ecoe(p):
    from ecoe.econ.econ import GetNPV

    return GetNPV(p[0], p[1:])


@case("evspy", np.array([0.9, 0.8, 0.6, 0.55]))
def mean_of_evspy(ratio):
    from evspy.utils.loadsteps import log_mean

    return log_mean(np.array([50.0, 150.0, 400.0, 900.0]), ratio)


@case("macroeconomy", np.array([3.0, 1.2, 0.35, 2.2]))
def utility_of_macroeconomy(p):
    from macroeconomy.tool import Cobb_Douglas_Production_Function, Utility

    made = Cobb_Douglas_Production_Function(p[0], p[1], p[2])
    return made.y() + made.rent() + made.wage() + Utility(p[0], sigma=p[3]).crra()


@case("rad_lab", np.array([12.0, 3.0]))
def detection_of_radar(p):
    from rad_lab.detection import albersheim, pd_swerling3

    return pd_swerling3(p[0], 10.0 ** -p[1]) + albersheim(0.9, 10.0 ** -p[1])


@case("rad_lab", np.array([0.3, 0.05]))
def pattern_of_radar(p):
    from rad_lab.geometry import slant_range
    from rad_lab.uniform_linear_arrays import linear_antenna_gain

    path = np.array([[p[0], 1.0, 2.0], [0.5, p[1], 2.5]])
    gain = linear_antenna_gain(np.array([-p[1], 0.1, p[0]]), None, 9, 5.0)[1]
    return np.sum(slant_range(path, [4.0, 5.0, 0.0])) + np.sum(np.abs(gain))


@case("LambertProblem", np.array([1.0, 1.524, 1.3]))
def transfer_of_lambert(p):
    from LambertProblem import LambertProblem

    return LambertProblem(p[0], p[1], p[2], a=1.4)[0]


@case("libwwz", TONE[:20])
def wavelets_of_libwwz(x):
    from libwwz.wwz import wwt

    out = wwt(np.arange(20.0), x, 4, [0.1, 0.4, 0.1, False], 0.01, "linear", False)
    return np.sum(out[2])


@case("biosignal_simulator", TONE)
def frequency_of_biosignal(x):
    from biosignal_simulator.metrics.spectral import compute_mean_frequency

    return compute_mean_frequency(x, 100.0)


@case("biosignal_simulator", TONE)
def correlation_of_biosignal(x):
    from biosignal_simulator.core.math_utils import autocorrelation

    lags = np.arange(6.0) ** 2
    return np.sum(autocorrelation(x, 5) * lags)


@case("pyorb", np.array([7.0, 0.1, 0.7, 0.4, 1.2, 2.0]))
def state_of_pyorb(k):
    from pyorb.kepler import kep_to_cart

    k = k * np.array([1e6, 1.0, 1.0, 1.0, 1.0, 1.0])
    return np.sum(kep_to_cart(k, mu=3.986e14) * [1e-6, 1e-6, 1e-6, 1e-3, 1e-3, 1e-3])


@case("pyorb", np.array([2.0, 0.4]))
def anomaly_of_pyorb(p):
    from pyorb.kepler import mean_to_eccentric, orbital_period, true_of_the_asymptote

    return (
        mean_to_eccentric(p[0], p[1])
        + orbital_period(p[0], 1.7)
        + true_of_the_asymptote(1.0 + p[1])
    )


@case("moveq_core", LINE)
def equity_of_moveq(x):
    from moveq_core.equity import gini_result

    return gini_result(x, np.arange(1.0, 11.0)).value


@case("PGLW", np.array([[0.0, 0.0, 0.0], [0.5, 1.2, 0.1], [1.0, 0.3, 0.4], [2.0, 0.0, 0.2]]))
def bezier_of_blade(points):
    from PGLW.main.bezier import BezierCurve

    curve = BezierCurve(ni=12, CPs=points)
    curve.update()
    return np.sum(curve.points**2)


@case("PGLW", np.array([0.3, 1.0, -0.4]))
def angle_of_blade(v):
    from PGLW.main.geom_tools import calculate_angle, discrete_length

    along = discrete_length(v, v**2, np.cos(v))
    return calculate_angle(v, np.array([1.0, 0.2, 0.0])) + np.sum(along)


@case("pysmithchart", np.array([75.0, 30.0]))
def reflection_of_smith(p):
    from pysmithchart.utils import calc_gamma, calc_vswr

    load = p[0] + 1j * p[1]
    return np.abs(calc_gamma(50.0, load)) + calc_vswr(50.0, load)


@case("py_windblade_opa", np.array([7.0, 0.45, 50.0]))
def power_of_blade(p):
    from py_windblade_opa.performance.formulas import compute_optimal_curve

    speeds = np.array([4.0, 8.0, 11.0])
    table = compute_optimal_curve(p[0], p[1], 0.06, 0.8, p[2], 1.2, speeds)
    return 1e-6 * np.sum(table.to_numpy())


@case("linearsolve", np.array([[0.9, 0.0], [0.3, 0.2]]))
def responses_of_linearsolve(p):
    from linearsolve import ir

    return np.sum(ir(np.array([[1.0, 0.5]]), p, np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])))


@case("trussme", np.array([0.05, 0.004, 1.8]))
def sections_of_truss(p):
    from trussme import Box, Pipe

    pipe, box = Pipe(r=p[0], t=p[1]), Box(w=p[0], h=0.08, t=p[1])
    return 1e6 * (pipe.moi() + sum(box.principal_inertias())) + 1e3 * pipe.area() * p[2]


@case("pyyeti", TONE)
def shock_of_pyyeti(x):
    from pyyeti.srs import srs

    return np.sum(srs(x, 100.0, np.array([5.0, 12.0]), 10.0, parallel="no"))


@case("localreg", LINE)
def network_of_localreg(t):
    from localreg import rbf

    return np.sum(rbf.logistic(t) + rbf.gaussian(t) + rbf.biweight(0.3 * t))


@case("polynomial", np.array([2.0, -1.0, 0.5]))
def integral_of_polynomial(c):
    from polynomial import Polynomial

    p = Polynomial(c[0], c[1], c[2])
    return (p * p).derivative(0.7) + p.integral(0.0, 1.5)


@case("polynomial", np.array([2.0, -7.0, 3.0]))
def roots_of_trinomial(c):
    from polynomial import QuadraticTrinomial

    trinomial = QuadraticTrinomial(c[0], c[1], c[2])
    first, second = trinomial.real_roots
    return trinomial.discriminant + first + 2.0 * second


@case("gpz", LINE)
def score_of_gpz(z):
    from gpz.selection.loo import crps, mse

    mean, variance = np.linspace(0.5, 2.0, 10), np.linspace(0.2, 0.9, 10)
    return np.sum(crps(z, mean, variance)) + np.sum(mse(z, mean, variance))


@case("LINZ", np.array([-4800000.0, 480000.0, -4160000.0]))
def geodetic_of_linz(p):
    from LINZ.Geodetic.Ellipsoid import GRS80

    lon, lat, height = GRS80.geodetic(p)
    return lon + 2.0 * lat + 1e-4 * height


@case("LINZ", np.array([171.3, -41.2, 50.0]))
def axes_of_linz(p):
    from LINZ.Geodetic.Ellipsoid import GRS80

    return 1e-6 * np.sum(GRS80.xyz(p[0], p[1], p[2])) + np.sum(GRS80.enu_axes(p[0], p[1]))


@case("midgard", np.array([0.7, 0.2]))
def rotation_of_midgard(p):
    from midgard.math.rotation import enu2trs

    return np.sum(enu2trs(p[0], p[1]) * np.arange(9.0).reshape(3, 3))


@case("hyve", LINE)
def agreement_of_hyve(x):
    import xarray
    from hyve.hydrostats.stats import correlation, index_agreement

    simulated = xarray.DataArray(x, dims="time")
    observed = xarray.DataArray(np.arange(10.0), dims="time")
    return (
        correlation(simulated, observed, "time") + index_agreement(simulated, observed, "time")
    ).item()


@case("construction_calculators", np.array([5.0, 11.5]))
def length_of_rafter(p):
    from construction_calculators.roof_pitch import RafterInput, calculate_rafter_length

    return calculate_rafter_length(RafterInput(rise=p[0], run=12.0, half_span=p[1])).rafter_length


@case("pygc", np.array([48.1, 11.5, 4.0]))
def geodesic_of_pygc(p):
    from pygc import great_circle

    end = great_circle(distance=1e5 * p[2], azimuth=65.0, latitude=p[0], longitude=p[1])
    return np.sum(end["latitude"] + 2.0 * end["longitude"])


@case("pysorb", np.array([3.1, -4.2, 24000.0, 0.5]))
def mixture_of_pysorb(p):
    from pysorb.fit import model_bet

    pressure, temperature = np.linspace(1e3, 1e4, 7), np.linspace(280.0, 320.0, 7)
    return np.sum(model_bet((pressure, temperature), p[0], p[1], p[2], -9.0, 1e4 * p[3]))


@case("neuronmd", np.array([-0.4, 0.3]))
def slopes_of_fitzhugh(y):
    from neuronmd.fitzhugh_nagumo import FHNNeuron

    neuron = FHNNeuron()
    neuron.v, neuron.w = y[0], y[1]
    return neuron.dvdt(0.5) + 2.0 * neuron.dwdt()


@case("lupy", np.array([0.3, 0.8, 1.4]))
def loudness_of_lupy(x):
    from lupy.processing import lk_log10

    return np.sum(lk_log10(x))

"""The second half of the ninth list."""

import numpy as np

from .cases import V3, Q, case

SIGNAL = np.cos(0.9 * np.arange(64.0)) + 0.3 * np.sin(2.7 * np.arange(64.0))
POINTS = np.stack([np.cos(np.arange(8.0)), 1.3 * np.sin(np.arange(8.0)) + 0.2], axis=1)
CLOUD = np.stack([np.cos(np.arange(9.0)), np.sin(1.7 * np.arange(9.0)), 0.1 * np.arange(9.0)], 1)


@case("pyunlocbox", SIGNAL)
def functions_of_pyunlocbox(x):
    from pyunlocbox import functions

    l1, l2 = functions.norm_l1(lambda_=0.3), functions.norm_l2(y=SIGNAL[::-1])
    return l1.eval(x) + l2.eval(x) + np.sum(l1.prox(x, 1.0) ** 2)


@case("procrustes", CLOUD)
def rotated_cloud(x):
    from procrustes import orthogonal

    return orthogonal(x, CLOUD[::-1] * 1.1, translate=True).error


@case("reservoirpy", np.array([0.3, -0.7]))
def state_of_reservoir(x):
    from reservoirpy.nodes import Reservoir

    node = Reservoir(W=np.array([[0.1, 0.4], [-0.3, 0.2]]), Win=np.eye(2), bias=np.zeros(2), lr=0.5)
    return np.sum(node.run(np.stack([x, x[::-1]]))[-1])


@case("sdeint", 0.8)
def random_path(a):
    import sdeint

    steps = 0.1 * np.sin(np.arange(9.0)).reshape(9, 1)
    return np.sum(
        sdeint.itoEuler(
            lambda y, t: -a * y,
            lambda y, t: np.array([[0.2]]),
            np.array([1.0]),
            np.linspace(0.0, 1.0, 10),
            dW=steps,
        )
    )


@case("sk_dsp_comm", SIGNAL)
def equalized_signal(x):
    from sk_dsp_comm import sigsys

    return np.sum(sigsys.ten_band_eq_filt(x, [1.0, -2.0] * 5) ** 2) + np.sum(
        sigsys.cic(4, 2) * x[:7]
    )


@case("sk_dsp_comm", 0.35)
def pulse_of_communication(alpha):
    from sk_dsp_comm import sigsys

    return np.sum(sigsys.rc_imp(4, alpha, 2) ** 2) + np.sum(sigsys.sqrt_rc_imp(4, alpha, 2))


@case("skopt", np.array([0.3, 2.7]))
def benchmark_of_skopt(x):
    from skopt.benchmarks import branin

    return branin(x)


@case("skopt", np.array([0.4, 0.6]))
def improvement_of_skopt(x):
    from skopt.acquisition import gaussian_lcb
    from skopt.learning import GaussianProcessRegressor

    model = GaussianProcessRegressor(alpha=1e-3, optimizer=None)
    model.fit(POINTS, np.sin(np.arange(8.0)))
    return np.sum(gaussian_lcb(x[np.newaxis], model))


@case("stonesoup", np.array([1.0, 2.0]))
def predicted_track(x):
    from datetime import datetime, timedelta

    from stonesoup.models.transition.linear import ConstantVelocity
    from stonesoup.predictor.kalman import KalmanPredictor
    from stonesoup.types.state import GaussianState

    start = datetime(2024, 1, 1)
    prior = GaussianState(x[:, np.newaxis], np.eye(2), timestamp=start)
    found = KalmanPredictor(ConstantVelocity(0.1)).predict(prior, start + timedelta(seconds=2))
    return np.sum(found.mean**2) + np.sum(found.covar)


@case("stonesoup", V3)
def angles_of_stonesoup(x):
    from stonesoup.functions import cart2sphere, rotx, sphere2cart

    r, phi, theta = cart2sphere(x[0], x[1], x[2])
    return r + phi + 2.0 * theta + sphere2cart(r, phi, theta)[1] + np.sum(rotx(x[0]) @ x)


@case("superpose3d", CLOUD)
def superposed(x):
    from superpose3d import Superpose3D

    error, rotation, _, _ = Superpose3D(CLOUD[::-1] + 0.2, x)
    return error + np.sum(np.array(rotation) * np.arange(9.0).reshape(3, 3))


@case("tensornetwork", np.arange(1.0, 7.0).reshape(2, 3) / 5.0)
def network_of_tensors(x):
    import tensornetwork as tn

    a, b = tn.Node(x), tn.Node(np.cos(np.arange(6.0)).reshape(3, 2))
    _ = a[1] ^ b[0]
    _ = a[0] ^ b[1]
    return (a @ b).tensor


@case("tensornetwork", np.arange(1.0, 10.0).reshape(3, 3) ** 1.3)
def split_tensor(x):
    import tensornetwork as tn

    node = tn.Node(x)
    left, right, _ = tn.split_node(node, left_edges=[node[0]], right_edges=[node[1]])
    return np.sum((left @ right).tensor ** 2)


@case("PyEMD", SIGNAL)
def empirical_modes(x):
    from PyEMD import EMD

    return np.sum(EMD(FIXE=2).emd(x, max_imf=1)[0] ** 2)


@case("dust_extinction", 3.1)
def extinction(rv):
    from dust_extinction.parameter_averages import CCM89, F99

    return np.sum(CCM89(Rv=rv)(np.array([0.7, 1.5]))) + np.sum(F99(Rv=rv)(np.array([1.5])))


@case("ad", 1.3)
def derivative_of_ad(a):
    from ad import adnumber
    from ad.admath import sin

    x = adnumber(2.0)
    y = sin(a * x) * x**2
    return y.x + y.d(x)


@case("numdifftools", 1.3)
def derivative_of_numdifftools(a):
    import numdifftools as nd

    return float(nd.Derivative(lambda x: np.sin(a * x), n=1)(0.7))


@case("numdifftools", np.array([0.3, 0.9]))
def jacobian_of_numdifftools(a):
    import numdifftools as nd

    return np.sum(nd.Gradient(lambda x: np.sum(a * x**2) + x[0] * x[1])([1.0, 2.0]))


@case("orbit_predictor", np.array([7000.0, 1000.0, 500.0]))
def elements_of_satellite(r):
    from orbit_predictor.keplerian import rv2coe

    p, ecc, inc, raan, argp, ta = rv2coe(398600.4418, r, np.array([-1.0, 7.0, 1.0]))
    return p * 1e-3 + ecc + inc + raan + argp + ta


@case("orbit_predictor", 40.0)
def place_of_satellite(latitude):
    from orbit_predictor.angles import M_to_ta
    from orbit_predictor.coordinate_systems import ecef_to_llh, llh_to_ecef

    return ecef_to_llh(llh_to_ecef(latitude, 8.0, 500.0))[0] + M_to_ta(latitude / 60.0, 0.1)


@case("utide", 0.4)
def ellipse_of_tide(a):
    from utide.ellipse_params import ut_cs2cep

    xs = np.array([a, 0.3]), np.array([0.2, a]), np.array([0.1, 0.5]), np.array([a, 0.7])
    return np.sum(np.concatenate([np.ravel(x) for x in ut_cs2cep(*xs)])) * 1e-2


@case("pygfunction", 1.2)
def ground_response(alpha):
    import pygfunction as gt

    one, two = (
        gt.boreholes.Borehole(100.0, 2.0, 0.075, 0, 0),
        gt.boreholes.Borehole(90, 2, 0.07, 5, 0),
    )
    return gt.heat_transfer.finite_line_source(3.15e7, 1e-6 * alpha, one, two)


@case("pygfunction", 0.02)
def pipe_of_borehole(flow):
    import pygfunction as gt

    water = gt.media.Fluid("Water", 0.0, T=20.0)
    return gt.pipes.fluid_friction_factor_circular_pipe(
        flow * 10, 0.01, water.mu, water.rho, 1e-6
    ) + 1e-3 * gt.pipes.convective_heat_transfer_coefficient_circular_pipe(
        flow * 10, 0.01, water.mu, water.rho, water.k, water.cp, 1e-6
    )


@case("skinematics", V3)
def turned_vector(x):
    from skinematics import quat, vector

    return (
        np.sum(vector.rotate_vector(np.array([1.0, 2.0, 3.0]), 0.3 * x))
        + vector.angle(x, [0.0, 1.0, 0.2])
        + np.sum(quat.q_mult(0.2 * x, np.array([0.1, 0.2, 0.3])))
    )


@case("skinematics", 30.0)
def rotation_of_kinematics(angle):
    from skinematics import rotmat

    return np.sum(
        (rotmat.R("x", angle) @ rotmat.R("z", 2.0 * angle)) * np.arange(9.0).reshape(3, 3)
    ) + np.sum(rotmat.dh(angle, 1.0, 0.5, 20.0) * np.arange(16.0).reshape(4, 4))


@case("pymcdm", np.array([[0.3, 0.5], [0.9, 0.2], [0.1, 0.8], [0.6, 0.4]]))
def best_choice(x):
    from pymcdm.methods import TOPSIS

    return np.sum(TOPSIS()(x, np.array([0.4, 0.6]), np.array([1, 1])) * np.arange(4.0))


@case("powerlaw", np.linspace(1.2, 9.0, 12) ** 1.5)
def exponent_of_data(x):
    import powerlaw

    return powerlaw.Fit(x, xmin=1.0, verbose=False).power_law.alpha


@case("krippendorff", np.array([[1.0, 2.05, 3.3, 2.1], [1.1, 2.2, 3.0, 2.0]]))
def agreement_of_raters(x):
    import krippendorff

    return krippendorff.alpha(reliability_data=x, level_of_measurement="interval")


@case("skill_metrics", SIGNAL)
def skill_of_forecast(x):
    import skill_metrics as sm

    r = np.cos(0.9 * np.arange(64.0))
    return sm.taylor_statistics(x, r)["ccoef"][1] + sm.bias(x, r) + sm.centered_rms_dev(x, r)


@case("persim", np.array([[0.1, 0.7], [0.2, 1.1], [0.3, 0.5]]))
def distance_of_diagrams(x):
    from persim import heat
    from persim.persistent_entropy import persistent_entropy

    return heat(x, np.array([[0.0, 0.8], [0.4, 0.9]])) + np.sum(persistent_entropy([x]))


@case("speechpy", np.tile(SIGNAL, 10))
def energy_of_speech(x):
    import speechpy

    return np.sum(speechpy.feature.mfe(x, 8000, num_filters=10, fft_length=256)[0]) * 1e-2


@case("transformations", V3)
def composed_matrix(x):
    import transformations as tf

    m = tf.rotation_matrix(x[0], np.array([0.0, 0.6, 0.8])) @ tf.translation_matrix(x)
    return np.sum(m * np.arange(16.0).reshape(4, 4)) + np.sum(tf.euler_matrix(x[0], x[1], x[2]))


@case("affine", np.array([0.3, 1.5]))
def affine_map(p):
    from affine import Affine

    x, y = Affine.translation(p[0], 2.0) * Affine.rotation(30.0) * Affine.scale(p[1]) * (2.0, 1.0)
    return x + 2.0 * y + (~Affine.scale(p[1])).a


@case("polliwog", V3)
def plane_of_polliwog(x):
    from polliwog import Plane

    plane = Plane(reference_point=np.array([0.0, 0.0, 1.0]), normal=np.array([0.6, 0.0, 0.8]))
    return plane.signed_distance(x) + np.sum(plane.project_point(x) * np.arange(3.0))


@case("polliwog", CLOUD[:5])
def line_of_polliwog(x):
    from polliwog import Polyline

    return Polyline(x, is_closed=True).total_length


@case("forallpeople", 3.0)
def force_of_units(mass):
    import forallpeople as si

    si.environment("default")
    force = mass * si.kg * (9.81 * si.m / si.s**2)
    return float(force / si.N) + float((force * (2.0 * si.m)) / si.J)


@case("choix", np.array([0.3, -0.2, 0.5]))
def likelihood_of_pairs(p):
    import choix

    return choix.log_likelihood_pairwise([(0, 1), (1, 2), (0, 2), (2, 1)], p)


@case("typhon", 280.0)
def radiance_of_typhon(t):
    from typhon import physics

    return physics.planck(1e13, t) * 1e12 + physics.e_eq_water_mk(t) * 1e-2


@case("typhon", 47.0)
def geodesy_of_typhon(latitude):
    from typhon import geodesy

    x, y, z = geodesy.geodetic2cart(300.0, latitude, 8.5)
    return (x + 2.0 * y + z) * 1e-6 + geodesy.great_circle_distance(latitude, 8.0, 40.0, 9.0)


@case("particula", 1.3)
def slip_of_particle(radius):
    from particula.particles.properties.knudsen_number_module import get_knudsen_number
    from particula.particles.properties.slip_correction_module import get_cunningham_slip_correction

    return np.sum(get_cunningham_slip_correction(get_knudsen_number(6.6e-8, 1e-7 * radius)))


@case("cirq", 0.4)
def state_of_circuit(angle):
    import cirq

    q = cirq.LineQubit.range(2)
    circuit = cirq.Circuit(cirq.rx(angle)(q[0]), cirq.CNOT(*q), cirq.ry(2.0 * angle)(q[1]))
    return np.sum(np.abs(circuit.unitary(dtype=np.complex128)[:, 0]) ** 2 * np.arange(4.0))


@case("cirq", Q[:3])
def unitary_of_gate(x):
    import cirq

    return np.sum(cirq.kron(np.diag(x), np.eye(2)) * np.arange(36.0).reshape(6, 6)) + cirq.fidelity(
        x / np.sqrt(np.sum(x**2)), np.array([0.6, 0.8, 0.0]), qid_shape=(3,)
    )

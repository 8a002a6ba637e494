"""The eighth list: packages that are in none of the others, by which faults were looked for.

Half of a survey of packages over NumPy and SciPy, split by chance; what it showed was mended. The
other half is the ninth list.
"""

import numpy as np

from .cases import V3, case

SIGNAL = np.cos(0.9 * np.arange(64.0)) + 0.3 * np.sin(2.7 * np.arange(64.0))
POINTS = np.stack([np.cos(np.arange(8.0)), 1.3 * np.sin(np.arange(8.0)) + 0.2], axis=1)
CLOUD = np.stack([np.cos(np.arange(9.0)), np.sin(1.7 * np.arange(9.0)), 0.1 * np.arange(9.0)], 1)
IMAGE = np.outer(np.hanning(17), np.hanning(15)) + 0.1


@case("arlpy", 17.0)
def speed_in_water(t):
    from arlpy import uwa

    return uwa.soundspeed(t, 34.0, 50.0) + 100.0 * uwa.absorption(2e4, 500.0, t)


@case("arlpy", SIGNAL)
def spectrum_of_beam(x):
    from arlpy import bf

    data = np.stack([x[:32], x[32:]]) + 1j * np.stack([x[32:], x[:32]])
    return np.sum(bf.bartlett(data, 1500.0, np.array([[0.0, 1e-4], [0.0, 3e-4]])))


@case("arlpy", np.array([1.0, 2.0, 30.0]))
def distance_of_places(x):
    from arlpy import geo

    return geo.distance(x, [4.0, 6.0, 10.0])


@case("bumps", np.array([0.3, -0.2, 1.1]))
def rosenbrock_of_bumps(x):
    from bumps.bounds import BoundedNormal

    return BoundedNormal(x[0], 0.5, limits=(-1.0, 2.0)).nllf(x[1]) + x[2] ** 2


@case("causalinference", POINTS)
def effect_of_treatment(x):
    from causalinference import CausalModel

    model = CausalModel(
        np.sin(np.arange(8.0)) + x[:, 0], np.array([0, 1, 0, 1, 1, 0, 1, 0]), x[:, 1]
    )
    model.est_via_ols()
    return model.estimates["ols"]["ate"]


@case("circle_fit", POINTS)
def fitted_circle(x):
    import circle_fit

    xc, yc, r, s = circle_fit.taubinSVD(x)
    return xc + 2.0 * yc + 3.0 * r + s


@case("circle_fit", POINTS)
def fitted_circle_by_steps(x):
    import circle_fit

    xc, yc, r, _ = circle_fit.hyperLSQ(x)
    return xc + 2.0 * yc + 3.0 * r + circle_fit.standardLSQ(x)[2]


@case("ddeint", 0.8)
def delayed_equation(k):
    from ddeint import ddeint

    return np.sum(ddeint(lambda y, t: -k * y(t - 1.0), lambda t: 1.0, np.linspace(0.0, 3.0, 20)))


@case("easing_functions", 0.3)
def eased_movement(t):
    from easing_functions import BounceEaseIn, CubicEaseInOut, ElasticEaseOut

    return CubicEaseInOut(0, 3.2, 1).ease(t) + ElasticEaseOut().ease(t) + BounceEaseIn().ease(t)


@case("EntropyHub", SIGNAL)
def fuzzy_entropy(x):
    import EntropyHub

    return np.sum(EntropyHub.FuzzEn(x, m=2, r=(0.3, 2.0))[0])


@case("EntropyHub", SIGNAL)
def spectral_entropy(x):
    import EntropyHub

    return EntropyHub.SpecEn(x)[0] + EntropyHub.CondEn(np.round(x * 3.0))[0][0]


@case("fastdtw", SIGNAL)
def warped_path(x):
    from fastdtw import fastdtw

    return fastdtw(x[:20], np.sin(np.arange(18.0)), dist=lambda a, b: (a - b) ** 2)[0]


@case("fatpack", SIGNAL)
def fatigue_damage(x):
    import fatpack

    ranges = fatpack.find_rainflow_ranges(x, k=256)
    curve = fatpack.LinearEnduranceCurve(1.5)
    curve.m, curve.Nc = 5.0, 1e3
    return np.sum(x**2) + curve.find_miner_sum(x[:8] ** 2 + 1.0) + 0.0 * np.size(ranges)


@case("fatpack", 1.4)
def endurance_of_stress(s):
    import fatpack

    curve = fatpack.BiLinearEnduranceCurve(1.0)
    return 1e-6 * curve.get_endurance(s) + fatpack.find_goodman_equivalent_stress(s, 0.3, 5.0)


@case("findiff", SIGNAL)
def finite_differences(x):
    from findiff import FinDiff

    return np.sum(FinDiff(0, 0.1, 2, acc=4)(x) ** 2) + np.sum(
        (FinDiff(0, 0.1) * FinDiff(0, 0.1))(x)
    )


@case("findiff", IMAGE)
def laplacian_of_picture(x):
    from findiff import Diff

    laplacian = Diff(0) ** 2 + Diff(1) ** 2
    laplacian.set_grid({0: 0.1, 1: 0.2})
    return np.sum(laplacian(x) ** 2)


@case("floris", 8.0)
def power_of_turbines(speed):
    from floris import FlorisModel

    model = FlorisModel("defaults")
    model.set(
        layout_x=[0.0, 600.0],
        layout_y=[0.0, 20.0],
        wind_directions=[270.0],
        wind_speeds=[speed],
        turbulence_intensities=[0.06],
    )
    model.run()
    return np.sum(model.get_turbine_powers()) / 1e6


@case("floris", np.array([600.0, 20.0]))
def place_of_turbine(p):
    from floris import FlorisModel

    model = FlorisModel("defaults")
    model.set(
        layout_x=[0.0, p[0]],
        layout_y=[0.0, p[1]],
        wind_directions=[270.0],
        wind_speeds=[8.0],
        turbulence_intensities=[0.06],
    )
    model.run()
    return np.sum(model.get_turbine_powers()) / 1e6


@case("gmr", np.array([0.3, 0.7]))
def density_of_mixture(x):
    from gmr import GMM

    model = GMM(2, [0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], [np.eye(2), 0.5 * np.eye(2) + 0.2])
    return np.sum(model.to_probability_density(x[np.newaxis])) + np.sum(
        model.predict([0], x[:1, np.newaxis])
    )


@case("gmr", POINTS)
def conditioned_gaussian(x):
    from gmr import MVN

    model = MVN().from_samples(x)
    return np.sum(model.condition([0], np.array([0.3])).mean) + np.sum(model.covariance)


@case("gnlse", 0.2)
def envelope_of_pulse(width):
    import gnlse

    t = np.linspace(-0.5, 0.5, 9)
    return np.sum(gnlse.SechEnvelope(100.0, width).A(t)) + np.sum(
        gnlse.GaussianEnvelope(10.0, width).A(t)
    )


@case("hcipy", 1.3)
def propagated_wavefront(scale):
    import hcipy

    grid = hcipy.make_pupil_grid(16)
    focal = hcipy.make_focal_grid(2, 3)
    wave = hcipy.Wavefront(
        hcipy.make_circular_aperture(0.9)(grid) * np.exp(1j * scale * hcipy.zernike(2, 0)(grid))
    )
    return np.sum(hcipy.FraunhoferPropagator(grid, focal)(wave).power * np.arange(focal.size)) * 1e2


@case("hcipy", np.array([0.3, -0.2, 0.4]))
def surface_of_modes(c):
    import hcipy

    grid = hcipy.make_pupil_grid(16)
    modes = hcipy.make_zernike_basis(3, 1, grid)
    return np.sum(modes.linear_combination(c) ** 2) + np.std(hcipy.Field(c[0] * grid.x, grid))


@case("itur", 14.25)
def attenuation_by_gas(f):
    import itur

    return (
        itur.models.itu676.gammaw_exact(f, 1013.25, 7.5, 288.0).value
        + itur.models.itu838.rain_specific_attenuation(f, 30.0, 5.0, 25.0).value
    )


@case("ladybug_comfort", 27.0)
def comfort_of_ladybug(t):
    from ladybug_comfort import hi, pmv, utci

    return (
        pmv.fanger_pmv(t, 25.0, 0.1, 50.0, 1.2, 0.6)[0]
        + hi.heat_index(t, 70.0)
        + utci.universal_thermal_climate_index(t, 25.0, 1.0, 50.0)
    )


@case("ladybug", 47.0)
def sun_of_ladybug(latitude):
    from ladybug.sunpath import Sunpath

    sun = Sunpath(latitude, 8.5).calculate_sun(6, 1, 10.5)
    return sun.altitude + sun.azimuth


@case("ladybug", 25.0)
def humidity_of_ladybug(t):
    from ladybug import psychrometrics

    return (
        psychrometrics.dew_point_from_db_rh(t, 50.0)
        + psychrometrics.wet_bulb_from_db_rh(t, 50.0)
        + 1e3 * psychrometrics.humid_ratio_from_db_rh(t, 50.0)
    )


@case("minisom", np.array([0.2, 0.7, 0.4]))
def error_of_map(x):
    from minisom import MiniSom

    som = MiniSom(3, 3, 3, sigma=0.8, random_seed=1)
    return som.quantization_error(np.stack([x, x[::-1] * 0.3])) + np.sum(som.activate(x))


@case("ncon", np.arange(1.0, 13.0).reshape(3, 4) / 7.0)
def contracted_network(x):
    from ncon import ncon

    return ncon([x, x, np.eye(3), np.diag(np.arange(4.0))], [[1, 2], [3, 4], [1, 3], [2, 4]])


@case("nibabel", V3)
def affine_of_picture(x):
    from nibabel import affines, eulerangles, quaternions

    turned = affines.from_matvec(eulerangles.euler2mat(x[0], x[1], x[2]), x)
    return np.sum(affines.apply_affine(turned, [[1.0, 2.0, 3.0]])) + np.sum(
        quaternions.angle_axis2quat(x[0], [1.0, 0.0, 0.0])
    )


@case("nibabel", V3)
def axis_of_quaternion(x):
    from nibabel import quaternions

    q = quaternions.mult(quaternions.fillpositive(0.5 * x), np.array([0.8, 0.0, 0.6, 0.0]))
    return (
        np.sum(quaternions.quat2mat(q) * np.arange(9.0).reshape(3, 3))
        + quaternions.quat2angle_axis(q)[0]
    )


@case("nitime", SIGNAL)
def coherence_of_series(x):
    from nitime.algorithms import get_spectra, periodogram

    f, p = periodogram(x, Fs=2.0)
    return np.sum(p[3:9] * f[3:9]) + np.sum(np.abs(get_spectra(np.stack([x, x[::-1] ** 2]))[1]))


@case("nmrsim", np.array([300.0, 320.0, 7.0]))
def spectrum_of_spins(p):
    from nmrsim import qm

    peaks = qm.secondorder_dense([p[0], p[1]], [[0.0, p[2]], [p[2], 0.0]])
    return sum(v * i for v, i in peaks) + sum(v * v for v, i in peaks) / 1e3


@case("nmrsim", 15.0)
def exchange_of_spins(k):
    from nmrsim import dnmr

    _, y = dnmr.dnmr_two_singlets(165.0, 135.0, k, 0.5, 0.6, 0.4, points=20)
    return 1e3 * np.sum(y) + 1e3 * np.sum(dnmr.dnmr_AB(165.0, 135.0, 12.0, k, 0.5, points=20)[1])


@case("abel", IMAGE)
def inverse_abel(x):
    import abel

    return np.sum(abel.hansenlaw.hansenlaw_transform(x, direction="inverse") ** 2) + np.sum(
        abel.direct.direct_transform(x[:, 7:], direction="forward", backend="python")
    )


@case("abel", IMAGE)
def transformed_abel(x):
    import abel

    return np.sum(abel.dasch.three_point_transform(x[:, 7:]) ** 2)


@case("pybaselines", SIGNAL)
def baseline_of_signal(y):
    from pybaselines import Baseline

    return np.sum(Baseline(np.arange(64.0)).asls(y + 3.0, lam=100.0, max_iter=3, tol=0.0)[0] ** 2)


@case("pybaselines", SIGNAL)
def polynomial_baseline(y):
    from pybaselines import Baseline

    return np.sum(Baseline(np.arange(64.0)).poly(y, poly_order=2)[0] ** 2)


@case("pybotics", np.array([0.1, -0.4, 0.7, 0.3, 0.2, 0.5]))
def pose_of_robot(q):
    from pybotics.predefined_models import ur10
    from pybotics.robot import Robot

    return np.sum(Robot.from_parameters(ur10()).fk(q) * np.arange(16.0).reshape(4, 4))


@case("pybotics", np.array([0.1, -0.4, 0.7, 0.3, 0.2, 0.5]))
def torque_of_robot(q):
    from pybotics import geometry
    from pybotics.predefined_models import puma560
    from pybotics.robot import Robot

    robot = Robot.from_parameters(puma560())
    return np.sum(robot.jacobian_world(q)) * 1e-2 + np.sum(
        geometry.matrix_2_vector(geometry.vector_2_matrix(q))
    )


@case("pydmd", CLOUD.T)
def modes_of_data(x):
    from pydmd import DMD

    return np.sum(np.abs(DMD(svd_rank=2).fit(x).eigs))


@case("pygsp", np.sin(np.arange(8.0)))
def filtered_on_graph(s):
    from pygsp import filters, graphs

    graph = graphs.Ring(8)
    graph.estimate_lmax()
    return np.sum(filters.Heat(graph, 2.0).filter(s, method="chebyshev") ** 2)


@case("pylops", SIGNAL)
def operator_of_pylops(x):
    import pylops

    d = pylops.SecondDerivative(64, dtype="float64")
    s = pylops.Smoothing1D(5, 64)
    return np.sum((d * (s * x)) ** 2)

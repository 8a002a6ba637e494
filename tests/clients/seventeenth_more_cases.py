"""The other half of the seventeenth list."""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
OTHER = np.array([1.1, 1.3, 0.6, 1.8, 0.9, 0.7, 2.1, 1.0, 2.2, 0.4])
TABLE = np.stack([np.cos(np.arange(9.0)), np.sin(1.7 * np.arange(9.0)), np.arange(9.0) ** 0.5], 1)
CHANCES = np.array([0.1, 0.25, 0.3, 0.35])
ARM = np.array([0.3, -0.4, 0.7])


@case("chaosmagpy", np.array([0.9, 0.4]))
def field_of_chaosmagpy(place):
    from chaosmagpy import model_utils

    radial, theta, phi = model_utils.design_gauss(6500.0, place[0], place[1], nmax=2)
    weights = np.arange(1.0, 9.0)
    return np.sum(radial * weights) + np.sum(theta * weights) + np.sum(phi * weights)


@case("chaosmagpy", np.array([6500.0, 60.0]))
def geodetic_of_chaosmagpy(point):
    from chaosmagpy import coordinate_utils

    height, beta = coordinate_utils.geo_to_gg(point[0], point[1])
    x, y, z = coordinate_utils.spherical_to_cartesian(point[0], point[1], 30.0)
    return height * 0.01 + beta + (x + 2 * y + z) * 1e-3


@case("epipack", 1.3)
def epidemic_of_epipack(rate):
    from epipack import EpiModel

    model = EpiModel(["S", "I", "R"])
    model.set_processes([("S", "I", rate, "I", "I"), ("I", 0.4, "R")])
    model.set_initial_conditions({"S": 0.95, "I": 0.05})
    result = model.integrate(np.linspace(0.0, 8.0, 5))
    return result["R"][-1] + result["I"][2]


@case("epipack", np.array([0.9, 0.08, 0.02]))
def rates_of_epipack(state):
    from epipack import EpiModel

    model = EpiModel(["S", "I", "R"])
    model.set_processes([("S", "I", 1.4, "I", "I"), ("I", 0.4, "R"), ("R", 0.1, "S")])
    model.set_initial_conditions({"S": 0.95, "I": 0.05})
    change = model.get_numerical_dydt()(0.0, state)
    return np.sum(np.asarray(change) * [1.0, 2.0, 4.0])


@case("spyndex", np.array([0.6, 0.2, 0.1]))
def indices_of_spyndex(bands):
    import spyndex

    parameters = {"N": bands[0], "R": bands[1], "B": bands[2], "L": 0.5, "g": 2.5, "C1": 6.0,
                  "C2": 7.5}  # fmt: skip
    found = spyndex.computeIndex(["NDVI", "SAVI", "EVI"], parameters)
    return sum(w * x for w, x in zip((1.0, 2.0, 3.0), found, strict=True))


@case("spyndex", np.array([0.6, 0.2]))
def kernel_of_spyndex(bands):
    import spyndex

    sigma = 0.5 * (bands[0] + bands[1])
    near = spyndex.computeKernel("RBF", {"a": bands[0], "b": bands[1], "sigma": sigma})
    power = spyndex.computeKernel("poly", {"a": bands[0], "b": bands[1], "c": 1.0, "p": 2.0})
    return near + power


@case("pycdft", np.sort(LINE) + 0.05 * np.cos(np.arange(10.0)))
def corrected_by_pycdft(future):
    from pycdft import cdft_transform

    corrected = cdft_transform(OTHER[:, None], LINE[:, None] * 1.1, future[:, None], n_quantiles=21)
    return np.sum(np.asarray(corrected) ** 2)


@case("pycdft", np.sort(LINE))
def quantiles_of_pycdft(values):
    from pycdft import math as cdft

    found = cdft.quantile(values[:, None], np.array([0.2, 0.45, 0.9]))
    return np.sum(np.asarray(found) ** 2)


@case("kde_diffusion", LINE)
def width_of_kde_diffusion(x):
    from kde_diffusion import kde1d

    density, grid, width = kde1d(x, n=32, limits=(-2.0, 5.0))
    return np.sum(density**2) + width + np.sum(grid) * 0.0 + np.sum(x) * 0.1


@case("kde_diffusion", np.array([-2.0, 5.0]))
def grid_of_kde_diffusion(limits):
    from kde_diffusion import kde1d

    density, grid, _ = kde1d(LINE, n=32, limits=(limits[0], limits[1]))
    return np.sum(density * grid) * 0.1


@case("pyitlib", CHANCES)
def entropy_of_pyitlib(p):
    from pyitlib import discrete_random_variable as drv

    return drv.entropy_pmf(p / np.sum(p)) + 0.1 * np.sum(p**2)


@case("pyitlib", CHANCES)
def divergence_of_pyitlib(p):
    from pyitlib import discrete_random_variable as drv

    q = np.array([0.3, 0.2, 0.2, 0.3])
    share = p / np.sum(p)
    return drv.divergence_kullbackleibler_pmf(share, q) + drv.divergence_jensenshannon_pmf(share, q)


@case("larzstats", LINE)
def description_of_larzstats(x):
    import larzstats as ls

    return ls.stdev(x) + ls.geometric_mean(x) + ls.harmonic_mean(x) + ls.quantile(x, 0.3)


@case("larzstats", LINE)
def line_of_larzstats(y):
    import larzstats as ls

    fitted = ls.linregress(OTHER, y)
    return fitted.slope + fitted.intercept + fitted.r + ls.normal_cdf(y[0]) + ls.normal_pdf(y[1])


@case("batchstats", TABLE)
def covariance_of_batchstats(x):
    from batchstats import BatchCov, BatchStd

    covariance, deviation = BatchCov(), BatchStd(axis=0)
    for part in (x[:4], x[4:]):
        covariance.update_batch(part)
        deviation.update_batch(part)
    return np.sum(covariance() * np.arange(9.0).reshape(3, 3)) + np.sum(deviation())


@case("batchstats", TABLE)
def means_of_batchstats(x):
    from batchstats import BatchMax, BatchMean, BatchVar

    parts = [BatchMean(), BatchVar(), BatchMax()]
    for part in (x[:5], x[5:]):
        for each in parts:
            each.update_batch(part)
    return sum(np.sum(each() * [1.0, 2.0, 3.0]) for each in parts)


@case("incrementalstats", TABLE)
def variance_of_incrementalstats(x):
    from incrementalstats import IncrementalMeanVariance

    stats = IncrementalMeanVariance(3)
    for row in x:
        stats.update(row)
    return np.sum(stats.getMean() * [1.0, 2.0, 3.0]) + np.sum(stats.getVariance())


@case("incrementalstats", TABLE)
def correlation_of_incrementalstats(x):
    from incrementalstats import IncrementalCovarianceCorrelation

    stats = IncrementalCovarianceCorrelation(2, 1)
    for row in x:
        stats.update(row[:2], row[2:])
    return np.sum(stats.getCovariance()) + np.sum(stats.getCorrelation() * [[1.0], [2.0]])


@case("rollit", LINE)
def windows_of_rollit(x):
    import rollit

    spread = np.nansum(rollit.std(x, 3)) + np.nansum(rollit.max(x, 3) ** 2)
    return spread + np.nansum(rollit.mean(x, 4) ** 2)


@case("rollit", LINE)
def scores_of_rollit(x):
    import rollit

    return np.nansum(rollit.zscore(x, 4) ** 3) + np.nansum(rollit.normalize(x, 5) ** 2)


@case("hoggorm", TABLE)
def components_of_hoggorm(x):
    import hoggorm as ho

    model = ho.nipalsPCA(arrX=x, numComp=2, Xstand=False)
    return np.sum(model.X_calExplVar() * np.array([1.0, 2.0])) + np.sum(
        np.abs(model.X_loadings()[:, 0])
    )


@case("hoggorm", TABLE)
def similarity_of_hoggorm(x):
    import hoggorm as ho

    other = np.stack([OTHER[:9], LINE[:9] ** 2], 1)
    both = [ho.center(x), ho.center(other)]
    return ho.RVcoeff(both)[0, 1] + ho.RV2coeff(both)[0, 1]


@case("robustats", LINE)
def spread_of_robustats(x):
    import robustats

    return robustats.mad(x) + robustats.std(x) + robustats.mean(x)


@case("robustats", np.arange(1.0, 11.0) + 0.3 * LINE)
def variance_of_robustats(x):
    from robustats import core

    return core.var(x) + core.mean(x.reshape(2, 5), axis=1).sum() + core.average(x)


@case("probcal", np.array([0.2, 0.7, 0.55, 0.9, 0.35, 0.15]))
def scores_of_probcal(p):
    from probcal import metrics

    y = np.array([0, 1, 1, 1, 0, 0])
    return metrics.log_loss(y, p) + metrics.brier_score(y, p) + metrics.brier_skill_score(y, p)


@case("probcal", np.array([0.2, 0.7, 0.55, 0.9, 0.35, 0.15, 0.6, 0.45]))
def calibration_of_probcal(p):
    from probcal import metrics

    y = np.array([0, 1, 1, 1, 0, 0, 0, 1])
    return metrics.ece(y, p, n_bins=3) + metrics.spiegelhalter_z(y, p).z


@case("fisherrao", np.array([0.3, 1.2, 0.8, 0.7]))
def distance_of_fisherrao(x):
    from fisherrao import fisher_rao_1d
    from fisherrao.beta import kl_beta

    return fisher_rao_1d(x[0], x[1], x[2], x[3]) + kl_beta(1 + x[0], x[1], 2.0, 1.5)


@case("fisherrao", np.array([[1.3, 0.2], [0.2, 0.9]]))
def geodesic_of_fisherrao(sigma):
    from fisherrao import calvo_oller_distance

    mu, other = np.array([0.2, 0.5]), np.array([[1.0, -0.1], [-0.1, 1.4]])
    symmetric = 0.5 * (sigma + sigma.T)
    return calvo_oller_distance(mu, symmetric, mu + 0.3, other)


@case("pydtmc", np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]]))
def chain_of_pydtmc(p):
    from pydtmc import MarkovChain

    chain = MarkovChain(p / np.sum(p, axis=1, keepdims=True))
    return np.sum(chain.steady_states[0] * [1.0, 2.0, 4.0]) + chain.entropy_rate


@case("pydtmc", 0.3)
def passage_of_pydtmc(p):
    from pydtmc import MarkovChain

    chain = MarkovChain(np.array([[1 - p, p, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]]))
    return np.sum(chain.mean_first_passage_times_to()) + chain.entropy_rate


@case("psychometrics", np.array([28.0, 1.4]))
def threshold_of_psychometrics(x):
    from psychometrics.BestPEST import BestPEST

    return BestPEST.PF(30.0, x[0], x[1], 0.5, 0.5) + BestPEST.PF_inv(0.8, x[0], x[1], 0.5, 0.5)


@case("psychometrics", 31.0)
def staircase_of_psychometrics(level):
    from psychometrics.PEST import PEST

    staircase = PEST(init_dx=8)
    for is_correct in (True, True, False, True):
        level = staircase.update(is_correct, level)
    return level


@case("robotics_numpy", ARM)
def hand_of_robotics_numpy(q):
    import robotics_numpy as rn

    robot = rn.models.dh_robot.create_planar_arm(3, [0.5, 0.4, 0.3])
    return np.sum(robot.fkine(q).t * [1.0, 2.0, 3.0]) + np.sum(robot.jacob0(q)[:2] ** 2)


@case("robotics_numpy", ARM)
def rotation_of_robotics_numpy(angles):
    from robotics_numpy.transforms import rotations

    turned = rotations.rpy2r(angles[0], angles[1], angles[2])
    q = rotations.r2quat(turned)
    back = rotations.quat2r(rotations.quat_multiply(q, rotations.quat_normalize(q + 0.1)))
    return np.sum(turned @ ARM) + np.sum(back * np.arange(9.0).reshape(3, 3))


@case("quat", np.array([0.8, 0.2, -0.4, 0.5]))
def power_of_quat(x):
    from quat import Quaternion

    q = Quaternion(x[0], x[1], x[2], x[3])
    turned = q.normalize().rotate_vector(ARM)
    return np.sum(turned * [1.0, 2.0, 3.0]) + q.log().exp().norm() + (q * q).r + q.pow(0.5).k


@case("quat", 0.3)
def slerp_of_quat(t):
    from quat import Quaternion, slerp

    q0 = Quaternion(1.0, 0.1, 0.2, 0.3).normalize()
    q1 = Quaternion(0.5, -0.4, 0.2, 0.6).normalize()
    return sum(w * x for w, x in zip((1.0, 2.0, 3.0, 4.0), slerp(q0, q1, t), strict=True))


@case("geom3py", np.array([1.0, 2.0, -0.5]))
def distance_of_geom3py(point):
    from geom3py import Line, Plane, Point, Vector

    plane = Plane(Point(0.1, 0.2, 0.3), Vector(1.0, 2.0, 2.0))
    line = Line(Point(1.0, 0.0, 0.5), Vector(0.3, 0.4, 1.0))
    p = Point(point[0], point[1], point[2])
    return plane.distance_point(p) + line.distance_point(p)


@case("geom3py", np.array([0.3, 0.4, 1.0]))
def angle_of_geom3py(direction):
    from geom3py import Vector

    v = Vector(direction[0], direction[1], direction[2])
    w = Vector(1.0, -0.5, 0.2)
    return v.angle_with(w) + v.cross(w).magnitude() + v.normalize().x


@case("mathnexus", np.array([0.2, 0.3, 2.1, 0.4, 1.2, 1.9]))
def triangle_of_mathnexus(x):
    from mathnexus import coordinate_geometry as geometry

    a, b, c = (geometry.Point2D(x[i], x[i + 1]) for i in (0, 2, 4))
    line = geometry.Line2D(a, b)
    circle = geometry.Circle(a, b.distance_to(c))
    return geometry.Triangle(a, b, c).area() + line.length() + line.slope() + circle.area()


@case("mathnexus", np.array([1.3, 0.4, -0.2, 0.9]))
def matrix_of_mathnexus(x):
    from mathnexus.linear_datatypes import Matrix, Vector

    matrix = Matrix([[x[0], x[1]], [x[2], x[3]]])
    v = Vector(x[0], x[1], x[2])
    other = matrix.multiply(Matrix([[1.0, x[0]], [0.5, 2.0]]))
    return sum(map(sum, other.matrix)) + v.dot(Vector(1.0, 2.0, 3.0))


@case("pyphysics", np.array([3.0, 2.0]))
def flight_of_pyphysics(velocity):
    from pyphysics import Body, Circle, Vec2, World

    world = World(gravity=Vec2(0.0, -9.81))
    ball = Body(Circle(0.2), position=Vec2(0.0, 5.0), velocity=Vec2(velocity[0], velocity[1]))
    world.add(ball)
    for _ in range(5):
        world.step(1.0 / 60)
    return ball.position.x + 2 * ball.position.y


@case("pyphysics", np.array([0.8, -0.3]))
def vector_of_pyphysics(x):
    from pyphysics import Vec2

    v = Vec2(x[0], x[1])
    w = v.normalized() * 2.0 + v.perpendicular()
    return w.length + v.dot(w) + w.cross(Vec2(1.0, 0.5)) + v.clamp_length(0.5).x


@case("cirqit", np.array([0.4, 0.7, -0.3]))
def circuit_of_cirqit(angles):
    from cirqit.circuit import QuantumCircuit

    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.ry(angles[0], 1)
    circuit.cx(0, 1)
    circuit.rz(angles[1], 1)
    circuit.crx(angles[2], 1, 0)
    x, y, z = circuit.bloch_vector(0)
    return x + 2 * y + 3 * z


@case("cirqit", np.array([0.4, 0.7, -0.3]))
def gates_of_cirqit(angles):
    from cirqit import gates

    turned = gates.U(angles[0], angles[1], angles[2]) @ gates.RX(angles[0]) @ gates.P(angles[1])
    return np.sum(np.abs(turned[0]) ** 2 * [1.0, 2.0]) + np.real(turned[1, 0])


@case("stdatm", 12000.0)
def air_of_stdatm(altitude):
    from stdatm import Atmosphere

    air = Atmosphere(altitude, altitude_in_feet=False)
    return (
        air.temperature * 0.01 + air.pressure * 1e-4 + air.density + air.speed_of_sound * 0.01
        + air.kinematic_viscosity * 1e4
    )  # fmt: skip


@case("stdatm", np.array([120.0, 180.0, 220.0]))
def speeds_of_stdatm(speed):
    from stdatm import Atmosphere

    air = Atmosphere(8000.0, altitude_in_feet=False)
    air.true_airspeed = speed
    return np.sum(air.mach * [1.0, 2.0, 3.0]) + np.sum(air.calibrated_airspeed) * 0.01


@case("whr", 0.4)
def draws_of_whr(rate):
    from whr import Base

    nu = Base.nu_from_draw_rate(rate)
    return nu + Base.draw_rate_from_nu(1.1 * nu)


@case("whr", 320.0)
def ratings_of_whr(w2):
    from whr import Base

    base = Base({"w2": w2})
    for black, white, winner, day in (("a", "b", "B", 1), ("b", "a", "W", 4), ("a", "b", "W", 9)):
        base.create_game(black, white, winner, day, 0)
    base.iterate(10)
    return base.ratings_for_player("a")[-1][1] * 0.01 + base.log_likelihood()


@case("senku", 5.4)
def points_of_senku(stars):
    from senku.mania.performance import ManiaJudgements, calculate_pp

    judgements = ManiaJudgements(n_perfect=900, n_great=50, n_good=5)
    return calculate_pp(stars, judgements) * 0.01


@case("senku", np.array([0.6, 1.4]))
def curves_of_senku(x):
    from senku import _diffutils as curves

    smooth = curves.smoothstep(x[0], 0.0, 1.0) + curves.smootherstep(x[1], 0.0, 2.0)
    return smooth + curves.bell_curve(x[1], 1.0, 0.5) + curves.erf(x[0]) + curves.norm(2.0, *x)


@case("scuq", 2.5)
def length_of_scuq(value):
    from scuq import si
    from scuq.quantities import Quantity

    length = Quantity(si.METER, value)
    area = length * length + Quantity(si.METER**2, 1.5)
    return area.get_value(si.METER**2) + (area / length).get_value(si.METER)


@case("scuq", 0.7)
def angle_of_scuq(value):
    from scuq import units
    from scuq.quantities import Quantity

    angle = Quantity(units.ONE, value)
    return np.sin(angle).get_value(units.ONE) + np.exp(angle).get_value(units.ONE)


@case("padze", LINE)
def moments_of_padze(x):
    from padze.moments import moments_from_values

    found = moments_from_values(x)
    return found.mean + found.variance + found.skewness + found.kurtosis


@case("padze", TABLE)
def table_of_padze(x):
    from padze.moments import MomentAccumulator

    gathered = MomentAccumulator()
    for value in x[:, 0]:
        gathered.update(value)
    return gathered.finalize().variance + gathered.finalize().skewness


@case("pyoptflow", TABLE[:8, :1] * np.cos(0.6 * np.arange(8.0)))
def flow_of_pyoptflow(picture):
    from pyoptflow import HornSchunck

    moved = np.roll(np.cos(0.5 * np.arange(64.0)).reshape(8, 8), 1, 1)
    u, v = HornSchunck(picture, moved, alpha=1.0, Niter=4)
    return np.sum(u**2) + np.sum(v)


@case("pyoptflow", 0.7)
def smoothed_by_pyoptflow(alpha):
    from pyoptflow import HornSchunck

    first = np.cos(0.5 * np.arange(64.0)).reshape(8, 8)
    u, v = HornSchunck(first, np.roll(first, 1, 1), alpha=alpha, Niter=5)
    return np.sum(u**2) + np.sum(v)


@case("bayesloop", np.array([3.0, 5.0, 2.0, 4.0, 6.0]) + 0.2)
def evidence_of_bayesloop(data):
    import bayesloop as bl

    study = bl.Study(silent=True)
    study.load_data(data, silent=True)
    study.set(bl.om.Gaussian("mean", bl.cint(0, 8, 12), "std", bl.oint(0, 3, 9)), silent=True)
    study.set(bl.tm.GaussianRandomWalk("s", 0.4, target="mean"), silent=True)
    study.fit(silent=True)
    return study.log_evidence


@case("bayesloop", 2.3)
def likelihood_of_bayesloop(rate):
    import bayesloop as bl

    return np.sum(
        bl.om.Poisson("rate", bl.oint(0, 6, 20)).pdf(np.array([rate, 1.7]), np.array([3]))
    )


@case("flightcondition", 5.0)
def flight_of_flightcondition(height):
    from flightcondition import Atmosphere, unit

    air = Atmosphere(height * unit.km)
    return np.sum(air.T.magnitude) * 0.01 + np.sum(air.p.magnitude) * 1e-4


@case("flightcondition", 0.8)
def shock_of_flightcondition(mach):
    from flightcondition import IsentropicFlow, NormalShock

    flow = IsentropicFlow.T0_by_T(mach) + IsentropicFlow.p0_by_p(mach)
    shocked = flow + NormalShock.p2_by_p1(mach + 1.0) + NormalShock.M2(mach + 1.0)
    return shocked.to("dimensionless").magnitude

"""The second half of the eighth list."""

import numpy as np

from .cases import V3, case

SIGNAL = np.cos(0.9 * np.arange(64.0)) + 0.3 * np.sin(2.7 * np.arange(64.0))
POINTS = np.stack([np.cos(np.arange(8.0)), 1.3 * np.sin(np.arange(8.0)) + 0.2], axis=1)
CLOUD = np.stack([np.cos(np.arange(9.0)), np.sin(1.7 * np.arange(9.0)), 0.1 * np.arange(9.0)], 1)
IMAGE = np.outer(np.hanning(17), np.hanning(15)) + 0.1


@case("pylops", np.linspace(1.0, 2.0, 12))
def inverted_operator(x):
    import pylops

    a = pylops.MatrixMult(np.cos(np.arange(144.0)).reshape(12, 12) + 6.0 * np.eye(12))
    return np.sum((a / x) ** 2)


@case("pymoo", np.linspace(0.1, 0.8, 10))
def problem_of_pymoo(x):
    from pymoo.problems import get_problem

    return np.sum(get_problem("zdt1", n_var=10).evaluate(x)) + np.sum(
        get_problem("dtlz2", n_var=10).evaluate(x)
    )


@case("pymoo", np.array([0.3, -0.2]))
def constrained_problem(x):
    from pymoo.problems import get_problem

    return np.sum(get_problem("ackley", n_var=2).evaluate(x)) + np.sum(
        get_problem("rastrigin", n_var=2).evaluate(x)
    )


@case("pynverse", 1.7)
def inverse_function(a):
    from pynverse import inversefunc

    return float(inversefunc(lambda x: x**3 + a * x, y_values=2.0))


@case("pyransac3d", V3)
def turned_points(n):
    from pyransac3d.aux_functions import rodrigues_rot

    return np.sum(rodrigues_rot(CLOUD, n, np.array([0.0, 0.0, 1.0])) * CLOUD)


@case("pyromat", 400.0)
def heat_of_gas(t):
    import pyromat

    gas = pyromat.get("ig.N2")
    return np.sum(gas.h(T=t, p=1.0)) + np.sum(gas.cp(T=t)) + np.sum(gas.s(T=t, p=2.0))


@case("pyromat", 400.0)
def water_of_pyromat(t):
    import pyromat

    return np.sum(pyromat.get("mp.H2O").d(T=t, p=1.0))


@case("pythtb", 0.7)
def bands_of_model(hop):
    from pythtb import tb_model

    model = tb_model(1, 1, [[1.0]], [[0.0], [0.5]])
    model.set_onsite([0.3, -0.3])
    model.set_hop(hop, 0, 1, [0])
    model.set_hop(0.5 * hop, 1, 0, [1])
    return np.sum(model.solve_all(np.array([0.1, 0.3]))[1])


@case("pytweening", 0.3)
def tweened_movement(t):
    import pytweening

    return (
        pytweening.easeInOutQuad(t)
        + pytweening.easeOutElastic(t)
        + pytweening.easeInBounce(t)
        + pytweening.easeInOutExpo(t)
    )


@case("raschii", 0.8)
def elevation_of_wave(height):
    import raschii

    wave = raschii.AiryWave(height, 10.0, 20.0)
    stokes = raschii.StokesWave(height, 10.0, 20.0, N=3)
    return (
        np.sum(wave.surface_elevation([1.0, 2.0]))
        + np.sum(stokes.surface_elevation(1.5))
        + np.sum(stokes.velocity(1.0, 9.0))
    )


@case("rmsd", CLOUD)
def deviation_of_molecules(x):
    import rmsd

    return (
        rmsd.kabsch_rmsd(x, CLOUD[::-1] + 0.3, translate=True)
        + rmsd.quaternion_rmsd(x, CLOUD * 1.1)
        + rmsd.rmsd(x, CLOUD * 1.2)
    )


@case("spotpy", SIGNAL)
def errors_of_simulation(x):
    from spotpy import objectivefunctions as of

    y = np.cos(0.9 * np.arange(64.0))
    return (
        of.nashsutcliffe(y, x)
        + of.kge(y, x)
        + of.agreementindex(y, x)
        + of.rsr(y, x)
        + of.rmse(y, x)
    )


@case("svgpathtools", np.array([1.0, 2.0]))
def length_of_path(p):
    from svgpathtools import Arc, CubicBezier, Line

    curve = CubicBezier(0j, p[0] + 1j, 2 + p[1] * 1j, 3 + 0j)
    return (
        abs(curve.point(0.3))
        + Line(0j, p[0] + p[1] * 1j).length()
        + abs(Arc(0j, 2 + 1j, 0.0, False, True, p[0] + 1j).point(0.4))
    )


@case("svgpathtools", 0.4)
def tangent_of_path(t):
    from svgpathtools import parse_path

    path = parse_path("M 0,0 C 1,2 3,4 5,0 L 7,2 Z")
    return abs(path.point(t)) + path[0].curvature(t) + path[0].unit_tangent(t).real


@case("svgelements", np.array([0.3, 1.5]))
def matrix_of_svg(p):
    from svgelements import Matrix, Point

    m = Matrix.rotate(p[0]) * Matrix.scale(p[1])
    point = m.point_in_matrix_space(Point(2.0, 1.0))
    return point.x + 2.0 * point.y + abs(m.determinant)


@case("svgelements", np.array([0.3, 1.5]))
def curve_of_svg(p):
    from svgelements import CubicBezier, QuadraticBezier

    curve = CubicBezier(0, complex(p[0], 1.0), complex(2.0, p[1]), 3)
    point = QuadraticBezier(0, (p[0], 2.0), (p[1], 0.5)).point(0.3)
    return curve.point(0.4).x + point.y


@case("tenpy", np.array([0.5, 0.3, 0.2, 0.9]))
def norm_of_tensor(x):
    from tenpy.linalg import np_conserved as npc

    a = npc.Array.from_ndarray_trivial(x.reshape(2, 2), labels=["a", "b"])
    return npc.tensordot(a, a.conj(), axes=[["a", "b"], ["a*", "b*"]]) + npc.norm(a)


@case("tenpy", 0.8)
def energy_of_chain(g):
    from tenpy.models.tf_ising import TFIChain

    model = TFIChain({"L": 2, "J": 1.0, "g": g, "bc_MPS": "finite", "sort_charge": True})
    return np.sum(np.linalg.eigvalsh(model.H_bond[1].to_ndarray().reshape(4, 4))[:2])


@case("vmdpy", SIGNAL)
def modes_of_signal(x):
    from vmdpy import VMD

    return np.sum(VMD(x, 200.0, 0.0, 2, 0, 1, 1e-3)[0][0] ** 2)


@case("galpy", np.array([1.1, 0.2]))
def potential_of_galaxy(x):
    from galpy.potential import MiyamotoNagaiPotential, NFWPotential, evaluatePotentials

    return evaluatePotentials(
        [NFWPotential(a=2.0, normalize=0.4), MiyamotoNagaiPotential(a=0.5, b=0.05, normalize=0.6)],
        x[0],
        x[1],
    )


@case("galpy", 0.4)
def speed_in_galaxy(a):
    from galpy.potential import PlummerPotential

    p = PlummerPotential(amp=1.0, b=a)
    return p.vcirc(1.0) + p.epifreq(1.1) + p.Rforce(1.0, 0.2)


@case("hmf", 0.8)
def mass_function(sigma):
    from hmf.mass_function.fitting_functions import PS

    nu = np.linspace(0.5, 2.0, 5) / sigma
    return np.sum(PS(nu2=nu**2, m=np.geomspace(1e10, 1e14, 5), n_eff=-2.0 + 0.0 * nu).fsigma)


@case("poppy", 0.6)
def zernike_of_poppy(rho):
    from poppy import zernike

    r = np.linspace(0.1, 0.9, 5) * rho
    return np.sum(zernike.R(4, 2, r)) + np.sum(zernike.zernike(3, 1, rho=r, theta=np.arange(5.0)))


@case("laserbeamsize", 0.5e-3)
def radius_of_laser(w0):
    import laserbeamsize as lbs

    return (
        1e3 * lbs.beam_radius(w0, 632.8e-9, 0.7)
        + lbs.magnification(w0, 632.8e-9, -0.4, 0.3)
        + lbs.gouy_phase(w0, 632.8e-9, 0.5)
    )


@case("laserbeamsize", IMAGE)
def size_of_laser(x):
    import laserbeamsize as lbs

    return sum(lbs.basic_beam_size(x)[:4])


@case("openmdao", 1.7)
def component_of_openmdao(x):
    from openmdao.components.interp_util.interp import InterpND

    table = InterpND(method="slinear", points=np.arange(5.0), values=np.sin(np.arange(5.0)))
    return np.sum(table.interpolate(np.array([x])))


@case("anaflow", 1e-4)
def drawdown_of_well(transmissivity):
    from anaflow import theis, thiem

    return np.sum(theis(np.array([100.0]), np.array([5.0]), 1e-4, transmissivity)) + np.sum(
        thiem(np.array([5.0]), 20.0, transmissivity)
    )


@case("beyond", np.array([7000e3, 1000e3, 500e3, -1e3, 7e3, 1e3]))
def elements_of_orbit(x):
    from beyond.dates import Date
    from beyond.orbits import StateVector

    orbit = StateVector(x, Date(2020, 1, 1), "cartesian", "EME2000").copy(form="keplerian")
    return orbit.a * 1e-6 + orbit.e + orbit.i


@case("beyond", 0.3)
def frame_of_orbit(theta):
    from beyond.utils.matrix import rot1, rot2, rot3

    return np.sum((rot1(theta) @ rot2(2.0 * theta) @ rot3(theta)) * np.arange(9.0).reshape(3, 3))


@case("inequality", np.array([1.0, 3.0, 2.5, 7.0]))
def inequality_of_incomes(y):
    from inequality import atkinson, gini, theil

    return gini.Gini(y).g + theil.Theil(y).T + atkinson.atkinson(y, 0.5)


@case("permetrics", SIGNAL[:16])
def error_of_regression(x):
    from permetrics.regression import RegressionMetric

    metric = RegressionMetric(np.sin(np.arange(16.0)) + 2.0, x + 2.0)
    return metric.RMSE() + metric.KGE() + metric.R2() + metric.MAPE() + metric.PCC()


@case("uncertainty_toolbox", SIGNAL[:16])
def score_of_prediction(x):
    from uncertainty_toolbox import metrics_scoring_rule as rules

    s, y = np.linspace(0.5, 1.0, 16), np.sin(np.arange(16.0))
    return (
        rules.nll_gaussian(x, s, y)
        + rules.crps_gaussian(x, s, y)
        + rules.check_score(x, s, y, resolution=9)
    )


@case("spafe", 500.0)
def pitch_of_spafe(f):
    from spafe.utils import converters

    return (
        converters.hz2mel(f)
        + converters.hz2erb(f)
        + converters.hz2bark(f)
        + converters.bark2hz(f / 100.0)
    )


@case("spafe", np.tile(SIGNAL, 10))
def cepstrum_of_spafe(x):
    from spafe.features.mfcc import mfcc

    return np.sum(mfcc(x, fs=8000, nfft=256, nfilts=20, num_ceps=10) ** 2)


@case("pystoi", np.sin(0.7 * np.arange(5120.0) + 3e-5 * np.arange(5120.0) ** 2))
def clearness_of_speech(x):
    from pystoi import stoi

    steps = np.arange(5120.0)
    return stoi(np.cos(0.9 * steps + 2e-5 * steps**2) + 0.5 * np.sin(0.02 * steps), x, 10000)


@case("geometer", np.array([0.3, 0.5]))
def point_of_geometer(p):
    import geometer

    a, b = geometer.Point(p[0], p[1]), geometer.Point(2.0, 3.0)
    meet = geometer.Line(a, b).meet(
        geometer.Line(geometer.Point(0.0, 1.0), geometer.Point(1.0, -1.0))
    )
    return np.sum(meet.normalized_array) + geometer.dist(a, b)


@case("dual_quaternions", V3)
def point_of_dual_quaternion(x):
    from dual_quaternions import DualQuaternion

    q = DualQuaternion.from_quat_pose_array([0.8, 0.0, 0.6, 0.0, x[0], x[1], x[2]])
    return np.sum(np.array((q * q).transform_point([1.0, 2.0, 3.0])) * np.arange(3.0))


@case("pyliferisk", 0.03)
def price_of_annuity(rate):
    import pyliferisk

    table = pyliferisk.Actuarial(qx=[0.01 * k for k in range(1, 90)], i=rate)
    return pyliferisk.ax(table, 30) + pyliferisk.Ax(table, 40)


@case("refnx", 20.0)
def reflectivity_of_film(thickness):
    from refnx.reflect import SLD

    structure = SLD(0.0) | SLD(3.47)(thickness, 3.0) | SLD(2.07)(0.0, 2.0)
    return np.sum(structure.sld_profile(np.linspace(-5.0, 30.0, 9))[1])


@case("refnx", 20.0)
def reflected_neutrons(thickness):
    from refnx.reflect._reflect import abeles

    layers = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 3.47, 0.0, 3.0], [0.0, 2.07, 0.0, 2.0]])
    layers[1, 0] = thickness
    return np.sum(np.log(abeles(np.linspace(0.01, 0.2, 7), layers)))


@case("visual_kinematics", np.array([0.3, 0.5, 0.7]))
def frame_of_robot(q):
    from visual_kinematics.RobotSerial import RobotSerial

    robot = RobotSerial(
        np.array([[0.1, 0.5, 0.2, 0.0], [0.2, 0.4, 0.1, 0.0], [0.3, 0.2, 0.0, 0.0]])
    )
    end = robot.forward(q)
    return np.sum(end.t_3_1) + np.sum(end.r_3)

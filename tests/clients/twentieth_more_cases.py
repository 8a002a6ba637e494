"""The other half of the twentieth list: statistics, colour, orbits, ecology, vibration and heat.

Written before the first of its gradients was taken; what had been tried was the plain values.
"""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
TONE = np.sin(0.7 * np.arange(64.0)) + 0.4 * np.cos(2.1 * np.arange(64.0))


@case("actudist", np.array([2.6, 900.0]))
def layers_of_pareto(p):
    from actudist.severity.pareto import Pareto

    loss = Pareto(*p)
    return loss.limited_expected_value(2000.0) + loss.increased_limits_factor(5000.0, 1000.0)


@case("actudist", np.array([0.4, 3.0]))
def likelihood_of_lognormal(p):
    from actudist.severity.lognormal import Lognormal

    return Lognormal(p[1], p[0]).loglik(10.0 * (1.0 + LINE))


@case("reservingmodels", np.array([1.0, 1.1, 0.9, 1.2]))
def reserve_of_triangle(scale):
    from reservingmodels import BootstrapODP

    rows = np.array([[100.0, 160.0, 180.0, 185.0], [110.0, 170.0, 195.0, np.nan],
                     [120.0, 190.0, np.nan, np.nan], [130.0, np.nan, np.nan, np.nan]])  # fmt: skip
    return BootstrapODP.fit(rows * scale[:, None]).point_reserve


@case("metalog", np.array([1.2, 0.4, 0.1, -0.2, 0.05]))
def quantile_of_metalog(a):
    from metalog.support_func import pdfMetalog, quantileMetalog

    q = quantileMetalog(a, 0.3, 5, bounds=[0.0], boundedness="sl")
    return q + pdfMetalog(a, 0.3, 5, bounds=[0.0], boundedness="sl")


@case("kdetools", LINE)
def density_of_kdetools(x):
    from kdetools import gaussian_kde

    kde = gaussian_kde(x, bw_method=0.4)
    return np.sum(kde.pdf(np.array([0.5, 1.0, 2.0])))


@case("spherical_kde", np.array([0.4, 1.1, 2.0]))
def density_on_sphere(phi):
    from spherical_kde import SphericalKDE

    kde = SphericalKDE(phi, np.array([0.7, 1.2, 1.9]), bandwidth=0.4)
    return np.sum(kde(np.array([0.5, 1.5]), np.array([1.0, 1.3])))


@case("spherical_kde", np.array([0.4, 1.1, 2.0]))
def mean_on_sphere(phi):
    from spherical_kde.distributions import VonMises_mean

    mean = VonMises_mean(phi, np.array([0.7, 1.2, 1.9]))
    return mean[0] + 2.0 * mean[1]


@case("wquantiles", LINE)
def weighted_quantile(x):
    import wquantiles

    return wquantiles.quantile(x, np.arange(1.0, 11.0), 0.3) + wquantiles.median(x, np.ones(10))


@case("wquantiles", LINE)
def quantile_of_weights(w):
    import wquantiles

    return wquantiles.quantile_1D(np.arange(10.0), w, 0.45)


@case("pyfilon", np.array([12.0, 0.7]))
def oscillating_integral(p):
    from pyfilon import filon_fun_cos, filon_fun_sin

    def fun(x):
        return np.exp(-p[1] * x)

    return filon_fun_cos(fun, 0.0, 2.0, p[0], 41) + filon_fun_sin(fun, 0.0, 2.0, p[0], 41)


@case("piecewise_rational", np.array([1.0, 1.4, 0.3, 0.9]))
def rational_cubic(p):
    from piecewise_rational.rationalcubic import rational_cubic_interpolation

    return rational_cubic_interpolation(0.4, 0.0, 1.0, p[0], p[1], p[2], p[3], 0.5)


@case("quaternionarray", np.array([0.3, -0.5, 0.8]))
def rotated_by_quaternionarray(axis):
    import quaternionarray as qa

    q = qa.rotation(axis / np.linalg.norm(axis), 0.7)
    return np.sum(qa.to_rotmat(np.squeeze(q)) * np.arange(9.0).reshape(3, 3)) + np.sum(
        qa.rotate(q, axis)
    )


@case("fdce", np.array([-0.9, 0.1, 1.2, 2.3]))
def weights_of_fdce(nodes):
    from fdce.get_coeff import get_coeff

    return np.sum(get_coeff(0.2, nodes, 2, None)[2, -1] * np.array([1.0, 4.0, 2.0, 3.0]))


@case("ciecam02", np.array([[120.0, 60.0, 200.0], [30.0, 180.0, 90.0]]))
def appearance_of_ciecam02(rgb):
    from ciecam02 import rgb2jch

    return np.sum(rgb2jch(rgb) * [1.0, 0.5, 0.1])


@case("ciecam02", np.array([[45.0, 40.0, 120.0], [60.0, 30.0, 250.0]]))
def colour_of_ciecam02(jch):
    from ciecam02 import jch2xyz

    return np.sum(jch2xyz(jch))


@case("helmlab", np.array([0.4, 0.3, 0.5]))
def difference_of_helmlab(xyz):
    from helmlab import Helmlab

    lab = Helmlab()
    return lab.metric.distance(
        lab.metric.from_xyz(xyz), lab.metric.from_xyz(np.array([0.3, 0.35, 0.4]))
    )


@case("convcolors", np.array([0.3, 0.6, 0.8]))
def lab_of_convcolors(rgb):
    from convcolors import lab_to_rgb, rgb_to_lab

    lab = rgb_to_lab(rgb)
    return np.dot(lab, [1.0, 2.0, 3.0]) + sum(lab_to_rgb([0.9 * v for v in lab]))


@case("vsl_ial", np.array([[0.3, 0.4, 0.5], [0.6, 0.5, 0.2]]))
def appearance_of_vsl(color):
    from vsl_ial import cs

    white = cs.whitepoints_cie1931.D65
    return np.sum(cs.convert(cs.CIExyY(), cs.CIELAB(white), color))


@case("vsl_ial", np.array([55.0, 22.0, -31.0]))
def distance_of_vsl(lab):
    from vsl_ial.cs import CIELAB, whitepoints_cie1931

    space = CIELAB(whitepoints_cie1931.D65)
    other = np.array([50.0, 10.0, -20.0])
    return space.distance_ciede2000(lab, other) + space.distance_cie94(lab, other)


@case("acoustica", np.array([900.0, 21.0]))
def level_of_acoustica(p):
    import acoustica

    level = acoustica.combine_levels([61.0, 40.0 + 0.02 * p[0], 58.0])
    return (
        level
        + acoustica.a_weighting(p[0])
        + acoustica.wavelength(p[0], acoustica.speed_of_sound(p[1]))
    )


@case("acoustica", np.array([0.02, 12.0]))
def pressure_of_acoustica(p):
    import acoustica

    return (
        acoustica.spl(p[0])
        + acoustica.sabine_rt60(200.0, p[1])
        + acoustica.doppler(400.0, p[1], 3.0)
    )


@case("betapert", np.array([1.0, 2.3, 6.0]))
def density_of_pert(p):
    from betapert import funcs

    return funcs.pdf(2.9, *p) + funcs.ppf(0.3, *p) + funcs.var(*p)


@case("solposx", np.array([2.0, 15.0, 40.0]))
def refraction_of_solposx(elevation):
    from solposx import refraction

    return np.sum(
        refraction.spa(elevation) + refraction.archer(elevation) + refraction.hughes(elevation)
    )


@case("solposx", np.array([3.0, 22.0]))
def michalsky_of_solposx(elevation):
    from solposx import refraction

    return np.sum(
        refraction.michalsky(elevation) + refraction.bennett(elevation) + refraction.sg2(elevation)
    )


@case("sunposition", np.array([[0.3, 1.1], [2.0, -0.4]]))
def arc_of_sunposition(p):
    from sunposition import arcdist

    return np.sum(arcdist(p[0], p[1], radians=True))


@case("lspopt", TONE)
def spectrogram_of_lspopt(x):
    from lspopt import spectrogram_lspopt

    return np.sum(spectrogram_lspopt(x, fs=8.0, nperseg=32, c_parameter=5.0)[2] ** 2)


@case("doop", np.array([36.127, 0.63, 87.9, 227.9]))
def state_of_doop(p):
    from doop.elements import coe2rv

    position, velocity = coe2rv(1e3 * p[0], p[1], p[2], p[3], 53.4, 92.3)
    return np.sum(position) * 1e-3 + np.sum(velocity)


@case("satelles", np.array([7000.0, 42000.0]))
def transfer_of_satelles(r):
    from satelles import get_hohmann_transfer_parameters

    found = get_hohmann_transfer_parameters(r[0] * 1e3, r[1] * 1e3)
    return found.Δv + 1e-3 * found.T + found.φ


@case("satelles", np.array([7.0e6, 1.0e6, -3.0e6]))
def gravity_of_satelles(p):
    from satelles.common import CartesianCoordinate
    from satelles.gravity import get_gravitational_acceleration

    pull = get_gravitational_acceleration(CartesianCoordinate(x=p[0], y=p[1], z=p[2]))
    return pull["ax"] + 2.0 * pull["ay"] + 3.0 * pull["az"]


@case("popdyn", np.array([0.4, 0.15]))
def epidemic_of_popdyn(p):
    from popdyn import Model, Transition

    model = Model(["S", "I", "R"])
    model["S", "I"] = Transition(p[0], "S", "I", N=True)
    model["I", "R"] = Transition(p[1], "I")
    out = model.solve(6, [90, 10, 0], solver="ODE")
    return np.sum(out["I"]) + 2.0 * out["R"][-1]


@case("kalimusada", np.array([0.9, 0.2, 1.2]))
def finance_of_kalimusada(p):
    from kalimusada.core.systems import MaChenSystem

    system = MaChenSystem(*p)
    return sum(system(0.0, [1.0, 2.0, 0.5])) + np.linalg.det(system.jacobian([1.0, 2.0, 0.5]))


@case("kalimusada", np.array([1.0, 2.0, 0.5]))
def trajectories_of_kalimusada(start):
    from kalimusada.core.solver import MaChenSolver
    from kalimusada.core.systems import MaChenSystem

    solver = MaChenSolver(rtol=1e-9, atol=1e-11)
    found = solver.solve(
        MaChenSystem(), list(start), [1.0, 2.0, 0.6], (0.0, 2.0), 40, 5, verbose=False
    )
    return np.sum(found["sol_A"]["x"]) + np.sum(found["sol_A"]["y"] * found["sol_B"]["z"])


@case("orbital_thermal", np.array([900.0, 500.0, 250.0]))
def radiator(p):
    from orbital_thermal.bounds import fixed_work_area_per_watt, nonzero_sink_optimum

    return fixed_work_area_per_watt(*p) * 1e4 + nonzero_sink_optimum(p[0], p[2])


@case("orbital_thermal", 0.83)
def cold_fraction(a):
    from orbital_thermal.bounds import optimal_cold_fraction

    return optimal_cold_fraction(a)


@case("cbssa", np.array([0.5, 0.2, 0.8]))
def posterior_of_cbssa(p):
    from cbssa.bayesian import normal

    mean, deviation = normal(p[0], p[1], 12, p[2], 0.4)
    return mean + 2.0 * deviation


@case("cbssa", 33.0)
def field_goal(distance):
    from cbssa.football import Down, expected_points, successful_field_goal_probability

    return successful_field_goal_probability(distance) + expected_points(Down.SECOND, 7.0, distance)


@case("pymkm", np.array([3.0, 12.0]))
def oxygen_of_pymkm(p):
    from pymkm.biology.oxygen_effect import compute_relative_radioresistance

    return np.sum(compute_relative_radioresistance(p[0], p[1], np.array([1.0, 1.4, 2.8])))


@case("pydrght", np.array([[0.2, 0.4], [0.6, 0.7], [0.9, 0.3]]))
def copulas_of_pydrght(u):
    from pydrght.copulas import ClaytonCopula, FrankCopula, GumbelCopula

    return sum(np.sum(np.log(c(1.7).pdf(u))) for c in (ClaytonCopula, FrankCopula, GumbelCopula))


@case("pydrght", np.array([[0.2, 0.4], [0.6, 0.7], [0.9, 0.3], [0.5, 0.6], [0.1, 0.25]]))
def fitted_copula(u):
    from pydrght.copulas import GalambosCopula, PlackettCopula

    return np.sum(GalambosCopula(1.3).cdf(u) + PlackettCopula(2.2).pdf(u))


@case("pymuscle", np.array([1.04, 0.93]))
def hill_of_muscle(p):
    from pymuscle.hill_type import (
        contractile_element_force_length_curve,
        contractile_element_force_velocity_curve,
    )

    velocity = contractile_element_force_velocity_curve(1.0, p[0], p[1], 0.2)
    return contractile_element_force_length_curve(p[1], p[0]) + velocity


@case("pymuscle", 32.0)
def force_of_muscle(excitation):
    from pymuscle import PotvinFuglevandMuscle

    muscle = PotvinFuglevandMuscle(10)
    for _ in range(3):
        force = muscle.step(excitation, 0.05)
    return force


@case("pyExSi", np.linspace(1.0, 3.0, 17))
def signal_of_pyexsi(psd):
    from pyExSi import random_gaussian

    return np.sum(random_gaussian(32, psd, 64.0, np.random.default_rng(3)) ** 3)


@case("pyExSi", np.array([4.0, 30.0]))
def sweep_of_pyexsi(p):
    from pyExSi import sine_sweep

    return np.sum(sine_sweep(np.linspace(0.0, 1.0, 40), freq_start=p[0], freq_stop=p[1]) ** 2)


@case("pyimpedancemodel", np.array([0.4, 0.02, 0.85]))
def circuit_of_impedance(p):
    from pyimpedancemodel.R_CPE import R_CPE
    from pyimpedancemodel.R_HN import R_HN

    f = np.geomspace(1.0, 1000.0, 7)
    return np.sum(np.abs(R_CPE(*p).evaluate(f)) + np.angle(R_HN(p[0], p[1], p[2], 0.9).evaluate(f)))


@case("pyimpedancemodel", np.array([1.5, 0.3]))
def diffusion_of_impedance(p):
    from pyimpedancemodel.FLW import FLW
    from pyimpedancemodel.FSW import FSW

    f = np.geomspace(0.01, 10.0, 6)
    return np.sum(np.abs(FLW(*p).evaluate(f) + FSW(*p).evaluate(f)))


@case("surfinpy", np.array([-2.0, -1.4]))
def surface_energy(mu):
    from surfinpy.mu_vs_mu import calculate_surface_energy

    return np.sum(calculate_surface_energy(mu, mu[::-1], -4.5, -9.2, 0.02, 0.01, 0.03) ** 2)


@case("stochastic_model", np.array([1.5, 0.05, 0.4, -0.6, 0.06]))
def heston_of_stochastic_model(params):
    from stochastic_model import StochasticModel

    model = StochasticModel("SPY", "Heston")
    u = np.linspace(0.5, 6.0, 9)
    return np.sum(np.abs(model.Heston_char_func(u, 0.7, 0.02, params)))


@case("fatiguelab", np.array([12.0, 0.4]))
def lifting(p):
    from fatiguelab.models import LiFFT, Task

    model = LiFFT()
    task = Task(name="lift", params={"load_kg": p[0], "distance_m": p[1], "reps": 100})
    return model.task_damage(task) + model.probability(1e-3 + model.task_damage(task))


@case("fgmutils", LINE)
def errors_of_fgmutils(estimated):
    from fgmutils import metrics

    observed = LINE[::-1] + 0.3
    return metrics.rrmse(observed, estimated) + metrics.bias(observed, estimated)


@case("quaternionarray", np.array([0.1, 0.2, 0.3, 0.9]))
def logarithm_of_quaternion(q):
    import quaternionarray as qa

    unit = qa.norm(q[None])
    return np.sum(qa.exp(0.5 * qa.ln(unit)) * [1.0, 2.0, 3.0, 4.0])


@case("elo_grad", 24.0)
def ratings_of_elo_grad(k):
    from elo_grad import LogisticRegression, SGDOptimizer

    optimizer = SGDOptimizer(k_factor=k, additional_regressors=None)
    model = LogisticRegression(beta=200.0, default_init_rating=1200.0, init_ratings=None)
    step = optimizer.calculate_update_step(model, 1, "a", "b", None, 0.4)
    return sum(float(s) for s in np.ravel(list(step)))


@case("hvacpy", np.array([110.0, 75.0]))
def wall_of_hvacpy(mm):
    from hvacpy import Q_, Assembly

    wall = Assembly("wall")
    wall.add_layer("brick_common", Q_(mm[0], "mm"))
    wall.add_layer("mineral_wool_batt", Q_(mm[1], "mm"))
    return wall.u_value.magnitude

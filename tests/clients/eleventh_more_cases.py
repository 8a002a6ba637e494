"""The second half of the eleventh list."""

import numpy as np

from .cases import case

SIGNAL = np.cos(0.9 * np.arange(64.0)) + 0.3 * np.sin(2.7 * np.arange(64.0))
TABLE = np.stack([np.cos(np.arange(9.0)), np.sin(1.7 * np.arange(9.0)), 0.1 * np.arange(9.0)], 1)


@case("penaltyblog", np.array([2.7, 2.3, 4.4]))
def implied_chances(odds):
    from penaltyblog.implied import calculate_implied

    shin, power = [calculate_implied(list(odds), method=m) for m in ("shin", "power")]
    return shin.probabilities[0] + 2 * power.probabilities[1]


@case("penaltyblog", 90.0)
def elo_of_football(advantage):
    from penaltyblog.ratings import Elo

    elo = Elo(k=20.0, home_field_advantage=advantage)
    for result in (0, 2, 1, 0):
        elo.update_ratings("one", "two", result)
    return elo.get_team_rating("one") + elo.home_win_probability("one", "two")


@case("homopy", 3.0)
def stiffness_of_composite(young):
    from homopy.elasticity import Isotropy
    from homopy.methods import MoriTanaka

    matrix, fibre = Isotropy(young, 0.35), Isotropy(70.0, 0.22)
    return np.sum(MoriTanaka(matrix, fibre, v_frac=0.2, a_ratio=20.0).get_effective_stiffness())


@case("homopy", 0.3)
def laminate_of_homopy(fraction):
    from homopy.methods import HalpinTsai, Laminate

    ply = HalpinTsai(70.0, 3.0, 28.0, 1.1, 0.22, 0.35, 1.0, 0.01, fraction)
    stiffness = ply.get_effective_stiffness()
    return np.sum(Laminate([stiffness, stiffness], np.array([0.0, 0.7])).get_effective_stiffness())


@case("pystran", np.array([0.5, 1.2]))
def stiffness_of_truss(p):
    from pystran.truss import truss_stiffness

    e = np.array([0.6, 0.8])
    return np.sum(truss_stiffness(e, p[1], 210.0, p[0]) * np.cos(np.arange(16.0)).reshape(4, 4))


@case("pystran", 1.5)
def deflection_of_truss(area):
    from pystran import model, section

    m = model.create(2)
    for k, xz in enumerate([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0]]):
        model.add_joint(m, k + 1, xz)
    bar = section.truss_section("bar", E=210.0, A=area)
    for k, ends in enumerate([[1, 2], [1, 3], [2, 3]]):
        model.add_truss_member(m, k + 1, ends, bar)
    for joint, dofs in ((1, (0, 1)), (2, (1,))):
        for dof in dofs:
            model.add_support(m["joints"][joint], dof)
    model.add_load(m["joints"][3], 1, -5.0)
    model.number_dofs(m)
    model.solve_statics(m)
    return m["joints"][3]["displacements"][1]


@case("factor_analyzer", TABLE)
def correlations_of_factors(x):
    from factor_analyzer.utils import corr, cov, smc

    return np.sum(cov(x)[0]) + np.sum(corr(x)[1]) + np.sum(smc(corr(x)))


@case("factor_analyzer", TABLE)
def sphericity_of_factors(x):
    from factor_analyzer import calculate_bartlett_sphericity, calculate_kmo

    return calculate_bartlett_sphericity(x)[0] + calculate_kmo(x)[1]


@case("astroML", SIGNAL)
def smoothed_of_astronomy(x):
    from astroML.filters import savitzky_golay

    return np.sum(savitzky_golay(x, 7, 2)[5:20] ** 2)


@case("astroML", TABLE[:, 0])
def robust_of_astronomy(x):
    from astroML.stats import mean_sigma, median_sigmaG

    return sum(mean_sigma(x)) + sum(median_sigmaG(x))


@case("biosppy", SIGNAL)
def filtered_of_biosppy(x):
    from biosppy.signals.tools import filter_signal, normalize

    y = filter_signal(x, ftype="butter", order=2, frequency=20.0, sampling_rate=100.0)["signal"]
    return np.sum(normalize(y)["signal"][3:20] ** 3)


@case("biosppy", SIGNAL)
def statistics_of_biosppy(x):
    from biosppy.signals.tools import power_spectrum, signal_stats

    stats = signal_stats(x)
    power = power_spectrum(x, sampling_rate=100.0, decibel=False)["power"]
    return stats["var"] + stats["skew"] + stats["kurtosis"] + np.sum(power[:9])


@case("vibrationtesting", np.array([[3.0, -1.0], [-1.0, 2.0]]))
def reduced_structure(k):
    from vibrationtesting.system import guyan, so2ss

    mass, damping = np.diag([1.0, 2.0]), 0.1 * np.eye(2)
    one = np.array([[1.0, 0.0]])
    a, *_ = so2ss(mass, damping, k, one.T, one, 0 * one, 0 * one)
    m_reduced, k_reduced, *_ = guyan(mass, k, master=np.array([[0]]))
    return np.sum(a * np.arange(16.0).reshape(4, 4)) + np.sum(k_reduced) + np.sum(m_reduced)


@case("vibrationtesting", 0.1)
def discrete_of_structure(dt):
    from vibrationtesting.system import c2d

    a, b = np.array([[0.0, 1.0], [-2.0, -0.3]]), np.array([[0.0], [1.0]])
    ad, bd, *_ = c2d(a, b, np.eye(2), np.zeros((2, 1)), dt)
    return np.sum(ad) + np.sum(bd)


@case("synphot", 5500.0)
def black_body_of_synphot(temperature):
    from synphot.models import BlackBody1D

    return 1e-20 * np.sum(BlackBody1D.evaluate(np.array([4000.0, 5000.0, 7000.0]), temperature))


@case("simpful", 3.2)
def tip_of_fuzzy(quality):
    from simpful import FuzzySystem, LinguisticVariable, TriangleFuzzySet

    system = FuzzySystem(show_banner=False)
    low, high = TriangleFuzzySet(0, 0, 10, term="poor"), TriangleFuzzySet(0, 10, 10, term="good")
    system.add_linguistic_variable("quality", LinguisticVariable([low, high]))
    system.set_crisp_output_value("small", 5.0)
    system.set_output_function("large", "2*quality + 10")
    system.add_rules(
        ["IF (quality IS poor) THEN (tip IS small)", "IF (quality IS good) THEN (tip IS large)"]
    )
    system.set_variable("quality", quality)
    return system.Sugeno_inference(["tip"])["tip"]


@case("simpful", 0.3)
def membership_of_simpful(x):
    from simpful import DoubleGaussianFuzzySet, GaussianFuzzySet, SigmoidFuzzySet

    return (
        GaussianFuzzySet(0.5, 0.2, "a").get_value(x)
        + SigmoidFuzzySet(0.4, 3.0, "b").get_value(x)
        + DoubleGaussianFuzzySet(0.4, 0.2, 0.6, 0.1, "c").get_value(x)
    )


@case("pyoptica", 0.3)
def phase_of_wavefront(phase):
    import astropy.units as u
    from pyoptica import Wavefront

    wave = Wavefront(500 * u.nm, 10 * u.um, 8)
    wave.phase = wave.phase + phase
    wave.amplitude = 2.0 * wave.amplitude * (1 + phase)
    return np.sum(wave.intensity)


@case("elephant", 0.2)
def kernel_of_spikes(sigma):
    import quantities as pq
    from elephant.kernels import GaussianKernel

    kernel = GaussianKernel(sigma * pq.s)
    return np.sum(kernel(np.array([0.1, 0.3]) * pq.s).magnitude)


@case("elephant", SIGNAL)
def spread_of_intervals(x):
    from elephant.statistics import cv2, lv

    intervals = np.abs(x) + 0.2
    return cv2(intervals) + lv(intervals)


@case("advanced_pid", 1.3)
def controlled_by_pid(gain):
    from advanced_pid import PID

    pid, y, total = PID(Kp=gain, Ki=0.5, Kd=0.1, Tf=0.05), 1.0, 0.0
    for k in range(10):
        y += 0.1 * pid(0.1 * k, 0.3 - y)
        total += y**2
    return total


@case("neurokit2", SIGNAL)
def entropy_of_neurokit(x):
    from neurokit2 import fractal_katz, standardize

    return standardize(x)[3] + fractal_katz(x)[0]


@case("neurokit2", SIGNAL)
def complexity_of_neurokit(x):
    from neurokit2 import complexity_hjorth

    return complexity_hjorth(x)[0]


@case("nestle", np.array([0.3, 0.5]))
def distances_of_nestle(x):
    import nestle

    ellipsoid = nestle.Ellipsoid(np.zeros(2), np.array([[1.0, 0.3], [0.3, 2.0]]))
    ellipsoid.scale_to_vol(ellipsoid.vol * x[1])
    return ellipsoid.vol + x @ ellipsoid.a @ x


@case(
    "qcelemental", np.array([[0.0, 0.1, 0.0], [1.2, 0.0, 0.3], [0.4, 1.1, -0.2], [2.0, 1.0, 0.5]])
)
def angles_of_molecule(xyz):
    from qcelemental.util import compute_angle, compute_dihedral, compute_distance

    a, b, c, d = xyz
    return np.sum(compute_distance(a, b) + compute_angle(a, b, c) + compute_dihedral(a, b, c, d))


@case("hyppo", np.arange(8.0) / 3 + np.cos(np.arange(8.0)))
def dependence_of_hyppo(x):
    from hyppo.independence import RV

    return RV().statistic(x[:, None], np.sin(np.arange(8.0))[:, None])


@case("mealpy", np.array([0.3, 0.7]))
def transfer_of_mealpy(x):
    from mealpy.utils import transfer

    return np.sum(transfer.vstf_01(x)) + np.sum(transfer.sstf_02(x))


@case("pycircstat2", np.array([0.3, 1.2, 0.8, 2.0, 1.1]))
def median_of_circle(alpha):
    from pycircstat2.descriptive import circ_kappa, circ_r, circ_std

    r = circ_r(alpha)
    return r + circ_kappa(r) + np.sum(circ_std(alpha))


@case("sharppy", 22.0)
def lifted_parcel(temperature):
    from sharppy.sharptab import thermo

    return thermo.thetae(950.0, temperature, 15.0) + thermo.lifted(950.0, temperature, 15.0, 500.0)


@case("pyttb", np.arange(1.0, 13.0) / 7)
def matricized_tensor(x):
    import pyttb

    tensor = pyttb.tensor(x.reshape(2, 3, 2))
    product = tensor.ttm(np.array([[1.0, 2.0, -1.0]]), 1)
    return np.sum(product.double() ** 2) + tensor.innerprod(tensor)

"""A twenty-first list: packages drawn by a hash of their names from 27 fields, most never asked.

Cables, exchange options, geodesy, ratings, colour, rainfall, quaternions, lifting, laminates,
pharmacology, antennas, orbits and others. Written before the first of its gradients was taken;
what had been tried was the plain values.
"""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
TONE = np.sin(0.7 * np.arange(64.0)) + 0.4 * np.cos(2.1 * np.arange(64.0))


@case("thermohl", np.array([0.7, 2.9, 0.6]))
def sun_on_cable(p):
    from thermohl.power.rte.solar_heating import compute_incidence

    return compute_incidence(p[0], p[1], p[2])


@case("PyGammaRAD", np.array([0.3, 0.8]))
def legendre_of_pygammarad(x):
    from PyGammaRAD.angular_distributions import Legendre

    return Legendre().lpoly4(x[0]) + Legendre().lpoly2(x[1])


@case("mms_nirs", np.array([[0.3, 0.2, 0.5, 0.1], [0.7, 0.4, 0.2, 0.6]]))
def absorption_of_tissue(extinction):
    from mms_nirs.utils.dpf import calc_mua, calc_mus

    absorbed = calc_mua(
        np.array([0.7, 0.8]), np.array([12.0, 9.0]), np.array([30.0, 25.0]), extinction
    )
    return np.sum(absorbed) + np.sum(calc_mus(extinction[0], extinction[1], np.array([700.0])))


@case("CPA", np.array([330.0, 120.0]))
def equilibrium_of_wilson(p):
    from CPA import wilson_K_init

    k = wilson_K_init(
        p[0], p[1], np.array([0.225, 0.344]), np.array([304.1, 647.1]), np.array([73.8, 220.6])
    )
    return np.sum(np.log(k))


@case("ecpa", 340.0)
def volume_shift_of_water(temperature):
    from ecpa.constants import peneloux_h2o

    return 1e6 * peneloux_h2o(temperature)


@case("chemistrykit", np.array([0.05, 0.02]))
def quotient_of_activities(c):
    from chemistrykit.electrochem.systems.nernst import activity_corrected_reaction_quotient

    return np.log(activity_corrected_reaction_quotient([c[0], c[1]], [2, 1], [1.0, -2.0]))


@case("chemistrykit", np.array([[0.0, 0.1, 0.0], [1.1, 0.0, 0.2], [1.6, 0.9, -0.1]]))
def energy_of_molecule(positions):
    from chemistrykit.md.systems.pair_potentials import HarmonicMolecule

    molecule = HarmonicMolecule(
        positions, np.zeros((3, 3)), np.ones(3), bonds=[(0, 1, 3.0, 1.0), (1, 2, 2.0, 1.0)]
    )
    return molecule.forces_and_potential(positions)[1]


@case("chemistrykit", np.array([4.2, 2.1]))
def transfer_of_forster(p):
    from chemistrykit.photochem.systems.energy_transfer import forster_rate

    return forster_rate(p[0], 5.0, p[1])


@case("pysorb", np.array([3.1, -4.2, 24000.0]))
def isotherm_of_langmuir(p):
    from pysorb.fit import model_langmuir

    pressure, temperature = np.linspace(1e3, 1e5, 7), np.linspace(280.0, 320.0, 7)
    return np.sum(model_langmuir((pressure, temperature), p[0], p[1], p[2]))


@case("optionmodels", np.array([100.0, 105.0, 0.8, 0.03, 0.01, 0.22]))
def price_of_optionmodels(p):
    from optionmodels.analyticalmethods import AnalyticalMethods

    return AnalyticalMethods.black_scholes_merton(
        S=p[0], K=p[1], T=p[2], r=p[3], q=p[4], sigma=p[5], option="call", refresh=True
    )


@case("optionmodels", np.array([100.0, 0.22]))
def lattice_of_optionmodels(p):
    from optionmodels.latticemethods import LatticeMethods

    return LatticeMethods.cox_ross_rubinstein_binomial(
        S=p[0], K=103.0, T=0.7, r=0.03, q=0.0, sigma=p[1], steps=12, option="put",
        output_flag="price", american=True, refresh=True,
    )  # fmt: skip


@case("fixedincome", np.array([0.06, -40.0, 12.0, 18.0, 25.0]))
def value_of_flows(p):
    from fixedincome.utils import fv, npv

    return npv(p[0], p[1:]) + fv(p[0], 7, p[2], p[3])


@case("fixedincome", np.array([0.05, 98.5]))
def yield_of_bond(p):
    import datetime

    from fixedincome.bonds import yield_

    return yield_(datetime.date(2024, 2, 15), datetime.date(2031, 11, 15), p[0], p[1], 100.0, 2)


@case("simpleBlackScholes", np.array([100.0, 95.0, 0.02, 0.3]))
def call_of_simple_black_scholes(p):
    from simpleBlackScholes.main import europeanCall

    return europeanCall(p[0], p[1], 0.5, p[2], p[3], roundOutput=False)


@case("rough_heston_qipc", np.array([0.4, -0.6, 0.35]))
def corrector_of_rough_heston(p):
    from rough_heston_qipc._core import riccati_coefficients

    a, b, c = riccati_coefficients(np.array([0.5 - 0.5j, 1.5 - 0.5j]), p[0], p[1], p[2])
    return np.sum(np.real(a) + np.imag(b)) + c


@case("derivx", np.array([100.0, 95.0, 0.02, 0.25, 0.3, 0.4]))
def exchange_of_margrabe(p):
    from derivx.analytic.haug import margrabe_exchange_call

    return margrabe_exchange_call(p[0], p[1], 0.03, p[2], 0.01, p[3], p[4], p[5], 0.9)


@case("derivx", np.array([0.97, 0.94, 0.91, 0.28]))
def swaption_of_derivx(p):
    from derivx.ir.black76 import payer_swaption_price

    return payer_swaption_price(0.99, [p[0], p[1], p[2]], [0.5, 0.5, 0.5], 0.05, p[3], 1.0)


@case("lfpykit", np.array([[1.0], [-2.0], [0.5]]))
def dipole_of_lfpykit(p):
    from lfpykit.eegmegcalc import InfiniteVolumeConductor

    places = np.array([[100.0, 50.0, 200.0], [10.0, -80.0, 90.0]])
    return 1e6 * np.sum(InfiniteVolumeConductor(0.3).get_dipole_potential(p, places))


@case("croissance", np.array([0.4, 0.12, 0.05]))
def growth_of_croissance(p):
    from croissance.estimation.regression import exponential

    return np.sum(exponential(np.linspace(0.0, 9.0, 8), p[0], p[1], p[2]) ** 2)


@case("enzyme_fit", np.array([9.0, 2.0, 30.0]))
def rates_of_haldane(p):
    from enzyme_fit.models import haldane, michaelis_menten

    s = np.array([0.5, 1.0, 2.0, 5.0, 10.0, 40.0])
    return np.sum(haldane(s, p[0], p[1], p[2]) - 0.5 * michaelis_menten(s, p[0], p[1]))


@case("trafolta", np.array([46.9, 7.4, 600.0]))
def swiss_coordinates(p):
    from trafolta.chtrans import wgs84_to_lv03, wgs84_to_lv95

    east, north, height = wgs84_to_lv95(p[0], p[1], p[2])[:3]
    return 1e-3 * (east + 2.0 * north + height) + 1e-3 * wgs84_to_lv03(p[0], p[1], p[2])[0]


@case("pygeodetics", np.array([3150000.0, 598000.0, 5495000.0]))
def east_north_up_of_pygeodetics(p):
    from pygeodetics.geodetics.ECEF2enu import ECEF2enu

    east, north, up = ECEF2enu(p[0], p[1], p[2], 59.9, 10.7, 100.0)
    return 1e-3 * np.sum(east + 2.0 * north + 3.0 * up)


@case("pygeodetics", np.array([0.03, 1.05]))
def transverse_mercator_of_kruger(p):
    from pygeodetics.projections._kruger import KrugerTM

    xi, eta, gamma, k = KrugerTM(6378137.0, 6356752.314).forward(p[0], p[1])
    return np.sum(xi + 2.0 * eta + gamma + k)


@case("pixel2sky", np.array([310.0, 180.0]))
def sky_of_pixel(p):
    from pixel2sky.mapper import SkyMapper

    alt, az = SkyMapper(640, 480, az0=40.0, alt0=35.0).pixel_to_altaz(p[0], p[1])
    return alt + 0.5 * az


@case("pixel2sky", np.array([30.0, 70.0]))
def pixel_of_sky(p):
    from pixel2sky.rotation import altaz_to_world_vector, world_vector_to_altaz

    vector = altaz_to_world_vector(p[:1], p[1:])
    alt, az = world_vector_to_altaz(vector * np.array([1.0, 1.1, 0.9]))
    return np.sum(alt + az)


@case("physicsbox", np.array([1.0, -2.0, 0.5]))
def kinetic_energy_of_momentum(p):
    from physicsbox.relativity import Ekin_from_p

    return 1e17 * np.sum(Ekin_from_p(1e-18 * p, 1.67e-27)) + p[0] ** 2


@case("lumenairy", np.linspace(0.2, 1.4, 16).reshape(4, 4))
def strehl_of_lumenairy(phase):
    from lumenairy.analysis.strehl import strehl_ratio

    return strehl_ratio(np.exp(-phase + 1j * phase**2), np.ones((4, 4), complex), 1e-6)


@case("simplepidcontroller", np.array([0.8, 0.3, 0.1]))
def steps_of_simple_pid(k):
    from simplepidcontroller.controller import PID

    pid = PID(1.0)
    pid.parallel_constants = (k[0], k[1], k[2])
    value = 0.0
    for _ in range(4):
        value = value + 0.3 * pid.compute(value, 0.1)
    return value


@case("servopilot", np.array([0.5, 0.2, 0.05]))
def steps_of_servo(k):
    from servopilot.pid_controller import PIDController

    pid = PIDController(kp=k[0], ki=k[1], kd=k[2])
    error = 0.6
    for _ in range(4):
        error = error - 0.4 * pid.update(error)
    return error


@case("kalmankit", LINE)
def filtered_by_kalmankit(z):
    from kalmankit import KalmanFilter

    one = np.ones((10, 1, 1))
    filter_ = KalmanFilter(
        A=one, xk=np.array([[0.5]]), B=0.0 * one, Pk=np.array([[1.0]]), H=one, Q=0.1 * one,
        R=0.5 * one,
    )  # fmt: skip
    states = filter_.filter(Z=z, U=np.zeros((10, 1)))[0]
    return np.sum(np.asarray(states) ** 2)


@case("copula_sim", np.array([0.3, 0.1, 0.2]))
def likelihood_of_copula(r):
    from copula_sim.gaussian_coplas import copula_likelihood

    u = np.array([[0.2, 0.7, 0.4], [0.6, 0.1, 0.8], [0.3, 0.4, 0.9]])
    flat = np.array([1.0, r[0], r[1], r[0], 1.0, r[2], r[1], r[2], 1.0])
    return copula_likelihood(flat, u)


@case("pwmdist", np.array([0.2, 1.5, 0.7]))
def quantile_of_pareto(p):
    from pwmdist.gpdpwmFit import qgpd

    return np.sum(qgpd(np.array([0.3, 0.8]), shape=p[0], location=p[1], scale=p[2]))


@case("pwmdist", np.array([0.2, 1.5, 0.7]))
def density_of_pareto(p):
    from pwmdist.gpdpwmFit import depd, pgpd

    x = np.array([1.7, 2.4])
    return np.sum(
        depd(x, shape=p[0], location=p[1], scale=p[2])
        + pgpd(x, shape=p[0], location=p[1], scale=p[2])
    )


@case("cf_rating", np.array([1500.0, 1720.0]))
def chance_of_codeforces(r):
    from cf_rating import get_win_probality

    return get_win_probality(r[0], r[1])


@case("skelo", np.array([1480.0, 1610.0]))
def rating_of_skelo(r):
    from skelo.model.elo import EloModel

    return EloModel(default_k=24).evolve_rating(r[0], r[1], 1) + EloModel.compute_prob(r[0], r[1])


@case("skelo", np.array([1480.0, 200.0, 1610.0, 120.0]))
def rating_of_glicko2(r):
    from skelo.model.glicko2 import Glicko2Model

    new = Glicko2Model().evolve_rating((r[0], r[1], 0.06), (r[2], r[3], 0.06), 1)
    return new[0] + new[1]


@case("kickscore", np.array([0.7, 1.9]))
def kernel_of_kickscore(p):
    from kickscore.kernel.exponential import Exponential
    from kickscore.kernel.wiener import Wiener

    times = np.array([0.0, 0.7, 1.1, 2.6])
    matrix = Exponential(p[0], p[1]).k_mat(times) + Wiener(p[0], 0.0, 0.3).k_mat(times)
    return np.sum(np.linalg.inv(matrix + np.eye(4)))


@case("kickscore", -0.7)
def logarithm_of_phi(z):
    from kickscore.observation.utils import logphi

    return sum(logphi(z))


@case("tucoopy", np.array([3.0, 7.5, 12.0]))
def shapley_of_airport(cost):
    from tucoopy.games import airport_game
    from tucoopy.solutions import shapley_value

    shares = shapley_value(airport_game([cost[0], cost[1], cost[2]]))
    return shares[0] + 2.0 * shares[1] + 3.0 * shares[2]


@case("oklab", np.array([0.6, 0.1, -0.08]))
def cone_of_oklab(lab):
    import oklab

    lch = oklab.lab_to_lch((lab[0], lab[1], lab[2]))
    return sum(oklab.lab_to_lms((lab[0], lab[1], lab[2]))) + lch[1] + 0.1 * lch[2]


@case("hexcraft", np.array([[0.3, 0.6, 0.2], [0.8, 0.1, 0.5]]))
def difference_of_hexcraft(rgb):
    from hexcraft.arrays import delta_e_ok

    return np.sum(delta_e_ok(rgb, np.array([[0.4, 0.4, 0.4], [0.5, 0.2, 0.5]])))


@case("hexcraft", np.array([0.3, 0.6, 0.2]))
def hues_of_hexcraft(rgb):
    from hexcraft.spaces.hsl import srgb_to_hsl
    from hexcraft.spaces.oklab import oklch_to_oklab

    h, s, light = srgb_to_hsl((rgb[0], rgb[1], rgb[2]))
    return 0.01 * h + s + light + sum(oklch_to_oklab((rgb[0], rgb[1], 40.0)))


@case("color_tools", np.array([60.0, 20.0, -35.0]))
def tristimulus_of_color_tools(lab):
    from color_tools.conversions import lab_to_xyz
    from color_tools.distance import delta_e_2000

    xyz = lab_to_xyz((lab[0], lab[1], lab[2]))
    return 0.1 * sum(xyz) + delta_e_2000((lab[0], lab[1], lab[2]), (55.0, 15.0, -30.0))


@case("quanta_color", np.array([0.2, 0.5, 0.7]))
def spaces_of_quanta(rgb):
    from quanta_color.spaces import linear_srgb_to_oklab, srgb_to_acescg, xyz_to_lab

    return (
        np.sum(linear_srgb_to_oklab(rgb))
        + np.sum(srgb_to_acescg(rgb))
        + 0.01 * np.sum(xyz_to_lab(rgb))
    )


@case("quanta_color", 5200.0)
def chromaticity_of_temperature(cct):
    from quanta_color.adaptation import cct_to_xy

    return np.sum(np.asarray(cct_to_xy(cct)) * 100.0)


@case("chromaverse", np.array([55.0, 30.0, -20.0]))
def lightness_of_chromaverse(luv):
    from chromaverse.conversions import lab_to_lch, luv_to_xyz

    return np.sum(luv_to_xyz(luv)) + 0.01 * np.sum(lab_to_lch(luv))

"""A twentieth list: small packages of fields that few lists had before, two gradients of most.

Photosynthesis, fire, radiobiology, batteries, credibility, games, voltammetry, muscles and others.
Written before the first of its gradients was taken; what had been tried was the plain values.
"""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
TONE = np.sin(0.7 * np.arange(64.0)) + 0.4 * np.cos(2.1 * np.arange(64.0))


@case("evers2010", np.array([1200.0, 0.31]))
def electrons_of_leaf(p):
    from evers2010.photo_params import arrhenius, jmax
    from evers2010.photosynthesis import electron_transport_rate

    rate = electron_transport_rate(p[0], jmax(24.0, 180.0, 37000.0, 220000.0, 710.0), p[1], 0.7)
    return rate + arrhenius(24.0 + p[1], 60.0, 65000.0)


@case("evers2010", np.array([24.5, 55.0]))
def stomata_of_leaf(p):
    from evers2010.stomata import fvpd, gs_C02
    from evers2010.weather import vpd_leaf

    return gs_C02(18.0, 1.2, 260.0, 42.0, 0.01, fvpd(vpd_leaf(p[0], 23.0, p[1]), 0.4, 0.09))


@case("yin2009", np.array([28.0, 90.0]))
def temperature_of_enzymes(p):
    from yin2009.raw import eq5, eq6

    return eq6(p[0], p[1], 50000.0, 200000.0, 650.0) + eq5(p[0], 45.0, 65330.0)


@case("yin2009", np.array([0.3, 1100.0, 180.0]))
def electrons_of_yin(p):
    from yin2009.raw import eq14

    return eq14(p[0], p[1], p[2], 0.7)


@case("rheology_fit", np.array([2.1, 0.7, 0.55]))
def flow_curve(p):
    from rheology_fit.models import casson, herschel_bulkley

    rates = np.geomspace(0.1, 100.0, 9)
    stress = herschel_bulkley(rates, tau0=p[0], k=p[1], n=p[2])
    return np.sum(np.log(stress) + casson(rates, tau0=p[0], eta_c=p[1]))


@case("ffpack", np.array([120.0, 410.0]))
def corrected_stress(p):
    from ffpack.lcc import gerberCorrection, goodmanCorrection, soderbergCorrection

    given = [p[0], p[1]]
    return (
        goodmanCorrection(given, 900.0)
        + soderbergCorrection(given, 700.0)
        + gerberCorrection(given, 900.0)
    )


@case("ffpack", LINE)
def damage_of_counts(x):
    from ffpack.fdm import minerDamageModelNaive

    return minerDamageModelNaive([[2.0 * n, 1000.0 + 50.0 * n] for n in x])


@case("neuber_correction", 420.0)
def plastic_stress(stress):
    from neuber_correction import MaterialForNeuberCorrection, NeuberCorrection

    steel = MaterialForNeuberCorrection(
        yield_strength=315.0, name="steel", sigma_u=470.0, elastic_mod=210000.0, eps_u=0.12
    )
    return sum(NeuberCorrection(steel).correct_stress_values([stress, 1.3 * stress]))


@case("neuber_correction", 205000.0)
def plastic_stress_of_modulus(modulus):
    from neuber_correction import MaterialForNeuberCorrection, NeuberCorrection

    steel = MaterialForNeuberCorrection(
        yield_strength=315.0, name="steel", sigma_u=470.0, elastic_mod=modulus, eps_u=0.12
    )
    return NeuberCorrection(steel).correct_stress_values([500.0])[0]


@case("slippy", np.array([2.1, -0.7, 1.9, 0.4, 1.2]))
def tridiagonal_of_slippy(d):
    from slippy.contact._lubrication_utils import tdma

    below, above = np.array([0.3, 0.2, 0.5, 0.1]), np.array([0.4, 0.1, 0.3, 0.2])
    return np.sum(tdma(below, d + 4.0, above, np.arange(1.0, 6.0)) ** 2)


@case("slippy", np.array([80.0, 0.3]))
def influence_of_slippy(p):
    from slippy.contact.influence_matrix_utils import elastic_influence_matrix

    shear = p[0] / (2 * (1 + p[1]))
    return np.sum(elastic_influence_matrix("zz", (4, 4), (0.1, 0.2), shear, p[1]))


@case("pyradiobiology", np.array([20.0, 55.0, 68.0]))
def tumour_control(dose):
    from pyradiobiology import DoseBag, DoseType, DoseUnit, Geud

    bag = DoseBag.create(dose, DoseUnit.GY, DoseType.EQD2)
    return Geud(8.0).calculate(bag, np.array([0.5, 0.3, 0.2]))


@case("pyradiobiology", np.array([0.35, 10.0]))
def survival(p):
    from pyradiobiology import Dose, DoseBag, DoseType, DoseUnit, LinearQuadratic

    model = LinearQuadratic(ab_ratio=Dose.gy(p[1], DoseType.PHYSICAL_DOSE), nfx=20)
    dose = DoseBag.create(np.array([9.0, 12.0]), DoseUnit.GY, DoseType.PHYSICAL_DOSE)
    return np.sum(model.suvival_fraction(dose, alpha=p[0]))


@case("blochsimu", np.array([0.2, -0.1, 0.9]))
def precession_of_blochsimu(b):
    from blochsimu import Simulator

    simulator = Simulator(np.array([0.0, 0.6, 0.8]), gamma=1.1)
    for k in range(3):
        simulator.simulate_step(b * (1.0 + 0.1 * k), 0.2)
    return np.sum(simulator.M * np.array([1.0, 2.0, 3.0]))


@case("sylva_fire", np.array([0.09, 4.2, 12.0]))
def rate_of_fire(p):
    from sylva_fire.core.rothermel import RothermelModel

    return RothermelModel().calculate_rate_of_spread(p[0], p[1], p[2])


@case("sylva_fire", 2400.0)
def flame_of_byram(intensity):
    from sylva_fire.core.byram import ByramIntensity

    return ByramIntensity().flame_length_from_intensity(intensity)


@case("wildfire_fwi", np.array([21.0, 45.0, 12.0, 85.0]))
def fine_fuel(p):
    from wildfire_fwi.core import calculate_ffmc, calculate_isi

    code = calculate_ffmc(p[0], p[1], p[2], 0.0, p[3])
    return code + calculate_isi(code, p[2])


@case("wildfire_fwi", np.array([17.0, 42.0, 1.5]))
def fire_weather(p):
    from wildfire_fwi.core import calculate_bui, calculate_dc, calculate_dmc, calculate_fwi

    dmc = calculate_dmc(p[0], p[1], p[2], 6.0, 7)
    return calculate_fwi(9.0, calculate_bui(dmc, calculate_dc(p[0], p[2], 150.0, 7)))


@case("aerosolpy", np.array([3.1, 7.5]))
def growth_of_aerosol(dp):
    from aerosolpy.growth import SulfuricAcid

    acid = SulfuricAcid(temp_kelvin=278.15, rh=60)
    return np.sum(acid.wt(dp) * np.log(acid.rho_h2so4(acid.wt(dp))))


@case("aerosolpy", np.array([25.0, 120.0]))
def mobility_of_aerosol(dp):
    from aerosolpy import AerosolKinetics

    particles = AerosolKinetics(temp_kelvin=293.15, pres_hpa=1013.25)
    return np.sum(particles.slipcorr(dp) + 1e9 * particles.diff_coeff_p(dp))


@case("cvsim", np.array([0.25, 1e-5]))
def voltammogram_of_cvsim(p):
    from cvsim.mechanisms import E_rev

    scheme = E_rev(0.5, 0.0, p[0], 0.1, 1.0, p[1], 1e-5, step_size=5.0)
    _, current = scheme.simulate()
    return np.sum(current[5:40] ** 2)


@case("rfbzero", np.array([0.01, 5e-6]))
def crossover_of_battery(p):
    from rfbzero.crossover import Crossover

    membrane = Crossover(
        membrane_thickness=50.0 + p[0], permeability_ox=p[1], permeability_red=1e-6
    )
    return sum(membrane.crossover(5.0, 0.02, 0.01, 0.03, 0.015, 0.005, 0.01, 0.5)[:4])


@case("rfbzero", np.array([0.6, 0.02]))
def overpotential_of_battery(p):
    from rfbzero.redox_flow_cell import ZeroDModel

    cell = ZeroDModel(0.005, 0.01, 0.01, 0.011, 0.012, 0.009, ocv_50_soc=p[0], resistance=p[1],
                      k_0_cls=1e-3, k_0_ncls=1e-3)  # fmt: skip
    cell._coulomb_counter(0.1)
    return cell._open_circuit_voltage() + cell.c_ox_cls * cell.resistance


@case("bezpy", np.array([200.0, 1000.0, 100.0]))
def impedance_of_earth(resistivities):
    from bezpy.mt import Site1d

    site = Site1d("here", [2000.0, 30000.0], resistivities)
    z = site.calcZ(np.array([0.01, 0.1]))
    return np.sum(np.abs(z) ** 2 * np.arange(1.0, 1.0 + z.size).reshape(z.shape))


@case("EZ2", np.array([0.21, 0.06, 0.13]))
def moments_of_diffusion(p):
    from EZ2 import cmrt, cvrt, pe

    return float(cmrt(p[0], p[1], p[2])) + float(cvrt(p[0], p[1], p[2])) + pe(p[0], p[1], p[2])


@case("EZ2", np.array([0.21, 0.06, 0.13]))
def exit_times(p):
    from EZ2 import pddexit

    return np.sum(pddexit(np.array([0.3, 0.5, 0.9]), p[0], p[1], p[2]))


@case("irt_parameter_estimation", np.array([1.1, 0.3, 0.2]))
def likelihood_of_items(p):
    from irt_parameter_estimation.util import log_likelihood, logistic3PLabc

    theta = np.linspace(-2.0, 2.0, 7)
    curve = logistic3PLabc(p[0], p[1], p[2], theta)
    return np.sum(log_likelihood(theta, np.arange(2.0, 9.0), np.full(7, 10.0), np.squeeze(curve)))


@case("irt_parameter_estimation", np.array([2.0, 3.1, 4.4, 6.2, 7.1, 8.3, 9.0]))
def fitted_items(r):
    from irt_parameter_estimation.baker_mle import mle_2_parameter

    fitted = mle_2_parameter(np.linspace(-2.0, 2.0, 7), r, np.full(7, 10.0), 0.0, 1.0)
    return fitted[0] + 2.0 * fitted[1]


@case("nba_edge", np.array([1540.0, 1485.0, 7.5]))
def ratings_after_game(p):
    from nba_edge import update_elo_with_margin

    a, b = update_elo_with_margin(p[0], p[1], 1, p[2])
    return a - 0.3 * b


@case("nba_edge", np.array([0.56, 0.61]))
def stakes(p):
    from nba_edge import kelly_fraction, log_loss

    return kelly_fraction(p[0], -110.0) + log_loss(list(p), [1, 0])


@case("channelflowlib", np.array([0.9, 1.2]))
def widths_of_channel(p):
    from channelflowlib.critical_flow import solve_top_width_circular

    return np.sum(solve_top_width_circular(p[0], p[1] + 1.0))


@case("gwtransport", np.array([4.0, 7.0, 5.5, 3.0, 6.0, 8.0]))
def wells_of_gwtransport(cin):
    import pandas as pd
    from gwtransport.advection import gamma_infiltration_to_extraction

    tedges = pd.date_range("2020-01-01", periods=7, freq="D")
    cout = gamma_infiltration_to_extraction(
        cin=cin,
        flow=np.full(6, 100.0),
        tedges=tedges,
        cout_tedges=tedges,
        mean=150.0,
        std=60.0,
        n_bins=8,
    )
    return np.nansum(cout * np.arange(1.0, 7.0))


@case("gwtransport", np.array([200.0, 80.0]))
def gamma_of_gwtransport(p):
    from gwtransport.gamma import bins

    return np.sum(np.log(bins(mean=p[0], std=p[1], n_bins=6)["expected_values"]))


@case("blackoil_pvt", np.array([450.0, 0.78, 190.0, 32.0]))
def oil_of_blackoil(p):
    from blackoil_pvt.pvt_properties import (
        calculate_bubble_point_pressure,
        calculate_oil_formation_volume_factor,
        calculate_oil_viscosity,
    )

    volume = calculate_oil_formation_volume_factor(p[0], p[1], p[3], p[2])
    return calculate_bubble_point_pressure(*p) * volume + calculate_oil_viscosity(p[3], p[2], p[0])


@case("blackoil_pvt", np.array([610.0, 2500.0, 0.8]))
def gas_of_blackoil(p):
    from blackoil_pvt.pvt_properties import (
        calculate_gas_formation_volume_factor,
        calculate_gas_viscosity,
    )

    return calculate_gas_viscosity(p[0], p[1], 0.7) + calculate_gas_formation_volume_factor(
        p[1], p[0], p[2]
    )


@case("lbh15", 720.0)
def lead_of_temperature(temperature):
    from lbh15 import Lead

    lead = Lead(T=temperature)
    return lead.rho + lead.cp + 1e3 * lead.mu + lead.k


@case("lbh15", 10400.0)
def lead_of_density(rho):
    from lbh15 import Lead

    return Lead(rho=rho).T


@case("neuromass", np.array([0.1, 1.2, 2.4, 4.0]))
def oscillators_of_neuromass(theta):
    from neuromass.models.kuramoto.model import NaiveKuramotoModel

    model = NaiveKuramotoModel(
        n_nodes=4,
        omega=np.array([1.0, 1.2, 0.9, 1.1]),
        epsilon=0.7,
        adjacency=np.ones((4, 4)) - np.eye(4),
    )
    _, angles = model.solve(theta0=theta, T=0.5, dt=0.05)
    return np.sum(np.cos(angles[-1]))


@case("PyCurve", np.array([0.03, -0.01, 0.02, 0.01, 1.4, 6.0]))
def curve_of_svensson(p):
    from PyCurve.svensson_nelson_siegel import NelsonSiegelAugmented

    curve = NelsonSiegelAugmented(*p)
    return np.sum(curve.d_rate(np.array([0.5, 2.0, 7.0, 15.0])))


@case("PyCurve", np.array([0.02, 0.025, 0.031, 0.034]))
def cubic_of_pycurve(rates):
    from PyCurve.cubic import CubicCurve
    from PyCurve.curve import Curve

    curve = CubicCurve(Curve(np.array([1.0, 2.0, 5.0, 10.0]), rates))
    return curve.d_rate(3.3) + curve.df_t(6.1) + curve.forward(2.0, 4.0)


@case("Ficamacos", np.array([0.22, 101.0]))
def option_of_ficamacos(p):
    from Ficamacos.method import COS
    from Ficamacos.model import VG, VGParam

    return COS(VG(VGParam(p[0], -0.1, 0.2), 0.03, 0.8), p[1], 100.0, N=64)


@case("bsm_model", np.array([101.0, 0.02, 0.24]))
def option_of_bsm(p):
    from bsm_model import BSM

    option = BSM(S=p[0], K=100.0, r=p[1], T=0.7)
    return option.price(p[2])


@case("actuarcredibility", LINE + 3.0)
def credibility(x):
    import pandas as pd
    from actuarcredibility import BuhlmannStraubModel

    data = pd.DataFrame({"g": list("aaabbbccdd"), "x": x, "w": np.arange(1.0, 11.0)})
    model = BuhlmannStraubModel().fit(data, "g", "x", "w")
    return model.credibility_premium().sum()


@case("actuarcredibility", np.array([640.0, 0.9]))
def partial_credibility(p):
    from actuarcredibility import LimitedFluctuationCredibility

    model = LimitedFluctuationCredibility(k=0.05, p=0.9)
    return model.credibility_premium(1.2, p[1], p[0], cv=0.8)

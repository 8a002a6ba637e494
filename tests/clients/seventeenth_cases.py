"""A seventeenth list: small packages of many fields, two gradients of each.

Written before the first of its gradients was taken; what had been tried was the plain values.
The other half is in `seventeenth_more_cases.py`.
"""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
TONE = np.sin(0.7 * np.arange(64.0)) + 0.4 * np.cos(2.1 * np.arange(64.0))
PAIRS = np.array([[0.2, 0.3], [0.7, 0.6], [0.45, 0.8], [0.9, 0.75]])


@case("pycop", 1.7)
def clayton_of_pycop(theta):
    from pycop import archimedean

    copula = archimedean(family="clayton")
    return copula.get_cdf(0.4, 0.7, [theta]) + copula.get_pdf(0.3, 0.6, [theta])


@case("pycop", np.array([0.35, 0.62]))
def elliptic_of_pycop(u):
    from pycop import archimedean, gaussian

    pdf = gaussian().get_pdf(u[0], u[1], [0.45])
    return pdf + archimedean(family="frank").get_pdf(u[0], u[1], [2.3])


@case("copulae", PAIRS)
def clayton_of_copulae(u):
    from copulae import ClaytonCopula

    copula = ClaytonCopula(theta=1.4, dim=2)
    return np.sum(copula.pdf(u, log=True)) + np.sum(copula.cdf(u))


@case("copulae", PAIRS)
def gaussian_of_copulae(u):
    from copulae import GaussianCopula

    copula = GaussianCopula(dim=2)
    copula.params = 0.4
    return copula.log_lik(u, to_pobs=False)


@case("optionlab", np.array([100.0, 0.3]))
def call_of_optionlab(x):
    from optionlab.black_scholes import get_d1, get_d2, get_delta, get_option_price

    d1 = get_d1(x[0], 105.0, 0.02, x[1], 0.4)
    d2 = get_d2(x[0], 105.0, 0.02, x[1], 0.4)
    price = get_option_price("call", x[0], 105.0, 0.02, 0.4, d1, d2)
    return price + get_delta("call", d1, 0.4)


@case("optionlab", 101.0)
def profile_of_optionlab(strike):
    from optionlab.support import get_pl_profile, get_pl_profile_bs

    prices = np.linspace(80.0, 120.0, 9) + 0.3
    profile, cost = get_pl_profile("call", "buy", strike, 3.2, 2, prices)
    later, _ = get_pl_profile_bs("put", "sell", strike, 2.9, 0.02, 0.3, 0.25, 1, prices)
    return np.sum(profile**2) * 0.01 + np.sum(later) + cost


@case("quantsbin", 102.0)
def option_of_quantsbin(spot):
    from quantsbin.derivativepricing.instruments import EqOption

    option = EqOption("Call", "European", strike=100, expiry_date="20201231")
    engine = option.engine(
        model="BSM", spot0=spot, pricing_date="20200701", volatility=0.25, rf_rate=0.05
    )
    return engine.valuation()


@case("quantsbin", 0.25)
def tree_of_quantsbin(volatility):
    from quantsbin.derivativepricing.instruments import EqOption

    option = EqOption("Put", "American", strike=100, expiry_date="20201231")
    engine = option.engine(
        model="Binomial", spot0=97.0, pricing_date="20200701", volatility=volatility, rf_rate=0.05
    )
    return engine.valuation()


@case("optlib", np.array([50.0, 52.0, 0.05, 0.3, 1.5]))
def price_of_optlib(x):
    from optlib.greeks import delta, vega
    from optlib.prices import price_bsm

    price = price_bsm(x[0], x[1], x[2], x[3], x[4], "call")
    return price + delta(x[0], x[1], x[2], x[3], x[4], "call") + vega(*x) * 0.1


@case("optlib", np.array([47.0, 52.0, 58.0]))
def strikes_of_optlib(strikes):
    from optlib.greeks import gamma, theta
    from optlib.prices import price_bsm

    prices = price_bsm(50.0, strikes, 0.05, 0.3, 1.5, "put")
    terms = gamma(50.0, strikes, 0.05, 0.3, 1.5), theta(50.0, strikes, 0.05, 0.3, 1.5, "put")
    return np.sum(prices * [1.0, 2.0, 3.0]) + sum(map(np.sum, terms))


@case("pyfinance", 101.0)
def option_of_pyfinance(spot):
    from pyfinance.options import BSM

    option = BSM(S0=spot, K=100, T=1, r=0.04, sigma=0.2, kind="call")
    return option.value() + option.delta() + option.gamma() * 10 + option.omega() * 0.1


@case("pyfinance", LINE)
def regression_of_pyfinance(y):
    from pyfinance.ols import OLS

    x = np.array([1.0, 0.4, 2.2, 1.7, 0.3, 0.9, 1.5, 2.8, 0.7, 1.1])
    model = OLS(y=y, x=x)
    return model.alpha + model.beta + model.rsq + model.durbin_watson + model.fstat * 0.1


@case("my727finance", np.array([-100.0, 30.0, 45.0, 60.0]))
def flows_of_my727finance(flows):
    from my727finance.financial_math import internal_rate_of_return, net_present_value

    return net_present_value(0.06, flows) + 10 * internal_rate_of_return(flows)


@case("my727finance", 20.0 + np.cumsum(TONE[:30]))
def indicators_of_my727finance(prices):
    from my727finance.indicators import ema, rsi
    from my727finance.risk import sharpe_ratio, simple_returns

    trend = np.asarray(rsi(prices, 7))[10:]
    smooth = np.asarray(ema(prices, 5))
    return np.sum(trend) * 0.01 + np.sum(smooth) + sharpe_ratio(simple_returns(prices))


@case("option_calculator", np.array([100.0, 0.24]))
def value_of_option_calculator(x):
    from option_calculator.bsm import BSM

    model = BSM()
    return model.d1(x[0], 95.0, x[1], 0.5, 0.01) + model.cdf(0.01 * x[0]) + model.pdf(x[1])


@case("option_calculator", 0.24)
def greeks_of_option_calculator(volatility):
    from option_calculator.bsm import BSM

    model = BSM()
    return (
        model.theo(100.0, 95.0, volatility, 0.5, "C", 0.01)
        + model.delta(100.0, 95.0, volatility, 0.5, "P", 0.01)
        + model.vega(100.0, 95.0, volatility, 0.5, 0.01)
    )


@case("PyCO2SYS", 8.1)
def carbonate_of_co2sys(ph):
    import PyCO2SYS as pyco2

    found = pyco2.sys(par1=ph, par2=2300.0, par1_type=3, par2_type=1, salinity=34.0)
    return found["dic"] * 1e-3 + found["pCO2"] * 0.01 + found["saturation_aragonite"]


@case("PyCO2SYS", 15.0)
def warmth_of_co2sys(temperature):
    import PyCO2SYS as pyco2

    found = pyco2.sys(par1=8.0, par2=2100.0, par1_type=3, par2_type=2, temperature=temperature)
    return found["alkalinity"] * 1e-3 + found["bicarbonate"] * 1e-3 + found["k_carbonic_1"] * 1e5


@case("thermopy", 420.0)
def steam_of_thermopy(temperature):
    from thermopy.iapws import Water

    water = Water(1.0e5, temperature)
    saturated = water.temperature_saturation(1.0e3 * temperature)
    return water.gibbs_energy() * 1e-3 + water.heat_capacity() * 1e-3 + saturated * 0.01


@case("thermopy", np.array([3.0, 300.0]))
def water_of_thermopy(state):
    from thermopy.iapws import Water

    water = Water(1e6 * state[0], state[1])
    return (
        water.enthalpy() * 1e-3
        + water.entropy() * 0.1
        + water.speed_of_sound() * 1e-3
        + water.specific_volume() * 1e4
    )


@case("pyroxa", np.array([0.35, 0.12]))
def kinetics_of_pyroxa(k):
    from pyroxa import new_functions as kinetics

    gas = kinetics.arrhenius_rate(k[0] * 1e4, 4.0e4, 350.0)
    sorbed = kinetics.adsorption_isotherm(k[1], 2.0, 3.0, 1.4)
    return gas + sorbed + kinetics.autocatalytic_rate(k[0], 0.4, 0.8)


@case("pyroxa", 0.3)
def reactor_of_pyroxa(rate):
    from pyroxa import new_functions as kinetics

    time = kinetics.batch_reactor_time(1.0, 0.2, rate, order=2)
    gas = kinetics.pressure_peng_robinson(1.0, 0.01 + 0.001 * rate, 300.0, 190.6, 4.6e6, 0.011)
    return time + gas * 1e-5 + kinetics.enzyme_inhibition_rate(2.0, rate, 0.5, 0.2, 0.4)


@case("pyorbital", 52.3)
def sun_of_pyorbital(latitude):
    import datetime

    from pyorbital import astronomy

    when = datetime.datetime(2020, 5, 7, 9, 30)
    altitude, azimuth = astronomy.get_alt_az(when, 13.4, latitude)
    return astronomy.sun_zenith_angle(when, 13.4, latitude) + altitude + azimuth


@case("pyorbital", np.array([12.4, 49.1]))
def observer_of_pyorbital(place):
    import datetime

    from pyorbital.orbital import get_observer_look

    when = datetime.datetime(2020, 5, 7, 9, 30)
    azimuth, elevation = get_observer_look(
        np.array([10.0]), np.array([52.0]), np.array([800.0]), when,
        place[:1], place[1:], np.array([0.2]),
    )  # fmt: skip
    return np.sum(azimuth + 2 * elevation)


@case("lamberthub", np.array([5000.0, 10000.0, 2100.0]))
def transfer_of_lamberthub(r1):
    from lamberthub import izzo2015

    v1, v2 = izzo2015(398600.4418, r1, np.array([-14600.0, 2500.0, 7000.0]), 3600.0)
    return np.sum(v1 * [1.0, 2.0, 3.0]) + np.sum(v2**2)


@case("lamberthub", np.array([-6045.0, -3490.0, 2500.0, -3.457, 6.618, 2.533]))
def elements_of_lamberthub(state):
    from lamberthub.utils.elements import coe2rv, rv2coe

    p, ecc, inc, raan, argp, nu = rv2coe(398600.4418, state[:3], state[3:])
    r, v = coe2rv(398600.4418, p, ecc * 1.01, inc, raan, argp, nu)
    return p * 1e-4 + ecc + inc + raan + np.sum(r) * 1e-4 + np.sum(v)


@case("orbital", 8000.0)
def period_of_orbital(axis):
    from orbital import KeplerianElements, earth

    orbit = KeplerianElements(a=axis * 1e3, e=0.1, i=0.5, M0=0.4, body=earth)
    return orbit.T * 1e-3 + orbit.pericenter_radius * 1e-6 + orbit.r.x * 1e-6 + orbit.v.y * 1e-3


@case("orbital", np.array([0.6, 0.25]))
def anomaly_of_orbital(x):
    from orbital import utilities

    eccentric = utilities.eccentric_anomaly_from_mean(x[1], x[0])
    return utilities.true_anomaly_from_eccentric(
        x[1], eccentric
    ) + utilities.mean_anomaly_from_true(x[1], x[0])


@case("kessler_toolkit", np.array([120.0, 45.0]))
def collision_of_kessler(miss):
    from kessler_toolkit.collision_probability import pc_chan, pc_max

    covariance = np.array([[900.0, 120.0], [120.0, 1600.0]])
    return 1e3 * pc_chan(miss, covariance, 15.0) + pc_max(miss[0], 15.0)


@case("kessler_toolkit", np.array([0.3, -0.2, 0.5]))
def miss_of_kessler(offset):
    from kessler_toolkit.propagation import rtn_components

    r, v = np.array([6900.0, 100.0, -50.0]), np.array([0.1, 7.4, 1.2])
    found = rtn_components(r, v, r + offset)
    values = found.values() if isinstance(found, dict) else found
    return sum(w * x for w, x in zip((1.0, 2.0, 3.0), values, strict=True))


@case("audiosig", TONE)
def spectrum_of_audiosig(x):
    from audiosig import istft, stft

    spectrum = stft(x, n_fft=16, hop_length=4)
    back = istft(spectrum * 0.5, n_fft=16, hop_length=4, length=64)
    return np.sum(np.abs(spectrum) ** 2) + np.sum(back**3)


@case("audiosig", TONE)
def resampled_by_audiosig(x):
    from audiosig import amplitude, resample

    louder = amplitude.apply_gain_db(x, 3.0)
    return np.sum(resample(louder, source_rate=100.0, target_rate=80.0, filter_width=4) ** 2)


@case("npdsp", TONE)
def filtered_by_npdsp(x):
    from npdsp.blocks.filters.impulse_response import lowpass
    from npdsp.blocks.fir import FIR

    return np.sum(FIR(lowpass(0.2, 9)).process(x) ** 2)


@case("npdsp", np.array([0.3, 0.25]))
def recursion_of_npdsp(b):
    from npdsp.blocks.iir import IIR

    return np.sum(IIR(b, np.array([1.0, -0.6])).process(TONE) ** 2)


@case("opendsp", TONE)
def band_of_opendsp(x):
    from opendsp import butter, lfilter, moving_average

    b, a = butter(2, 0.3)
    return np.sum(lfilter(b, a, x) ** 2) + np.sum(moving_average(x, 5) ** 2)


@case("opendsp", TONE)
def wavelets_of_opendsp(x):
    from opendsp import util, wavelets

    scales = wavelets.cwt(x, np.arange(1, 5))
    smooth = util.savitzky_golay(x, 7, 2)
    return np.sum(np.abs(scales) ** 2) + np.sum(smooth**3)


@case("detecta", TONE)
def peaks_of_detecta(x):
    from detecta import detect_peaks

    return np.sum(x[detect_peaks(x, mph=0.2, mpd=3)] ** 2)


@case("detecta", TONE)
def changes_of_detecta(x):
    from detecta import detect_cusum

    *_, amplitude = detect_cusum(np.cumsum(x), 1.0, 0.1, False, False)
    return np.sum(amplitude) + np.sum(x**2) * 0.1

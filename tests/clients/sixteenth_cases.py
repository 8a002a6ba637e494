"""A sixteenth list, smaller: whether what the fifteenth showed was mended by class.

Other packages; written before the first of its gradients was taken, and asked once.
"""

import numpy as np

from .cases import case

LINE = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2, 2.7, 0.5])
TONE = np.sin(0.7 * np.arange(60.0)) + 0.4 * np.cos(2.1 * np.arange(60.0))
FEATURES = np.stack([np.cos(np.arange(12.0)), np.sin(1.7 * np.arange(12.0))], 1)


@case("stockpyl", 9.0)
def vendor_of_stockpyl(stockout):
    from stockpyl.newsvendor import myopic, newsvendor_normal

    level, cost = newsvendor_normal(0.4, stockout, 50.0, 8.0)
    myopic_level, myopic_cost = myopic(0.4, stockout, 2.0, 1.9, 50.0, 8.0)
    return level + cost + myopic_level + 0.1 * myopic_cost


@case("stockpyl", np.array([8.0, 0.225, 1300.0]))
def orders_of_stockpyl(x):
    from stockpyl.eoq import economic_order_quantity_with_backorders, economic_production_quantity
    from stockpyl.loss_functions import gamma_loss, normal_second_loss

    first = economic_order_quantity_with_backorders(x[0], x[1], 5.0, x[2])
    second = economic_production_quantity(x[0], x[1], x[2], 1700.0)
    losses = gamma_loss(x[0], 3.0, 2.5) + normal_second_loss(x[0], 7.0, 2.0)
    return sum(first) * 0.01 + sum(second) * 0.01 + sum(losses)


@case("catsim", 0.4)
def items_of_catsim(theta):
    from catsim import irt

    items = np.array([[1.2, 0.3, 0.1, 0.95], [0.8, -0.5, 0.2, 1.0], [1.7, 0.9, 0.05, 0.98]])
    chances = irt.icc_hpc(theta, items)
    return np.sum(chances) + irt.test_info(theta, items) + irt.see(theta, items)


@case("catsim", np.array([1.2, 0.3, 0.1, 0.9]))
def likelihood_of_catsim(item):
    from catsim import irt

    items = np.stack([item, np.array([0.8, -0.5, 0.2, 1.0])])
    return irt.negative_log_likelihood(0.3, [True, False], items) + irt.inf(0.2, *item)


@case("ineqpy", LINE)
def incomes_of_ineqpy(income):
    from ineqpy import inequality

    return inequality.gini(income) + inequality.atkinson(income) + inequality.theil(income)


@case("ineqpy", LINE)
def moments_of_ineqpy(x):
    from ineqpy import statistics

    weights = np.arange(1.0, 11.0)
    return (
        statistics.var(x, weights)
        + statistics.kurt(x, weights)
        + statistics.coef_variation(x, weights)
    )


@case("bond_pricing", 0.043)
def bond_of_pricing(rate):
    from bond_pricing import bond_duration, bond_price

    price = bond_price(settle="2020-03-15", cpn=0.05, mat="2029-09-01", yld=rate)
    return price + bond_duration(settle="2020-03-15", cpn=0.05, mat="2029-09-01", yld=rate)


@case("bond_pricing", np.array([2.0, 3.0, 104.0]))
def flows_of_pricing(flows):
    from bond_pricing import annuity_pv, duration, irr, npv

    total = npv(cf=flows, rate=0.05) + duration(cf=flows, rate=0.04)
    return total + irr(cf=[-95.0, *flows]) + annuity_pv(rate=0.05, n_periods=7, instalment=flows[0])


@case("smithwilson", np.array([0.011, 0.015, 0.021, 0.024]))
def curve_of_smithwilson(rates):
    from smithwilson import fit_smithwilson_rates

    seen, wanted = np.array([1.0, 3.0, 7.0, 12.0]), np.array([2.0, 15.0, 40.0])
    fitted = fit_smithwilson_rates(rates, seen, wanted, 0.029, 0.128562)
    return np.sum(fitted * [1.0, 2.0, 3.0])


@case("thermochem", 1400.0)
def gas_of_thermochem(temperature):
    from thermochem.burcat import Elementdb

    db = Elementdb()
    oxygen = db.getelementdata("O2 REF ELEMENT")
    mixture = db.getmixturedata([("O2 REF ELEMENT", 21), ("N2  REF ELEMENT", 79)])
    return oxygen.cp_(temperature) + oxygen.ho(temperature) * 1e-4 + mixture.so(temperature)


@case("ordpy", TONE)
def order_of_ordpy(x):
    import ordpy

    symbols = ordpy.weighted_permutation_entropy(x, dx=3)
    return symbols + np.sum(x**2) * 0.01


@case("pyentrp", TONE)
def weights_of_pyentrp(x):
    from pyentrp import entropy

    return entropy.weighted_permutation_entropy(x, order=3) + np.sum(
        entropy.util_granulate_time_series(x, 4) ** 2
    )


@case("sysidentpy", LINE)
def scores_of_sysidentpy(y):
    from sysidentpy import metrics

    truth = np.array([0.9, 1.2, 0.5, 2.0, 1.3, 0.7, 1.5, 1.4, 2.2, 0.4])
    score = metrics.root_relative_squared_error(truth, y) + metrics.r2_score(truth, y)
    return score + metrics.symmetric_mean_absolute_percentage_error(truth, y) * 0.01


@case("wallstreet", 101.0)
def greeks_of_wallstreet(spot):
    from wallstreet.blackandscholes import BlackandScholes

    option = BlackandScholes(spot, 105.0, 0.5, 4.2, 0.02, "Call")
    return option.impvol + option.delta() + option.vega() + option.theta()


@case("hurst", 100.0 + np.cumsum(TONE))
def exponent_of_hurst(series):
    from hurst import compute_Hc

    h, c, _ = compute_Hc(np.concatenate([series, series + 3.0]), kind="price", simplified=True)
    return h + c


@case("ewtpy", TONE[:50])
def modes_of_ewtpy(x):
    import ewtpy

    modes, _, _ = ewtpy.EWT1D(x, N=3)
    return np.sum(modes**2 * [1.0, 2.0, 3.0])


@case("hydrostats", LINE)
def skill_of_hydrostats(simulated):
    import hydrostats as hs

    observed = np.array([0.9, 1.2, 0.5, 2.0, 1.3, 0.7, 1.5, 1.4, 2.2, 0.4])
    score = hs.nse(simulated, observed) + hs.kge_2012(simulated, observed)
    return score + hs.sa(simulated, observed) + hs.ve(simulated, observed)


@case("hydrostats", LINE.reshape(5, 2) + 0.1)
def ensemble_of_hydrostats(ensemble):
    from hydrostats import ens_metrics

    observed = np.array([0.9, 1.2, 0.5, 2.0, 1.3])
    return ens_metrics.ens_rmse(observed, ensemble) + ens_metrics.ens_pearson_r(observed, ensemble)


@case("reliability", 2.1)
def life_of_reliability(shape):
    from reliability.Distributions import Weibull_Distribution

    life = Weibull_Distribution(alpha=50.0, beta=shape)
    return life.mean * 0.1 + life.SF(40.0) + life.HF(30.0) * 10 + life.quantile(0.2)


@case("vqf", np.array([0.3, 0.2, 9.7]))
def tilt_of_vqf(acceleration):
    from vqf import PyVQF

    filter = PyVQF(0.01)
    for k in range(3):
        filter.update(np.array([0.1, 0.02 * k, -0.05]), acceleration + 0.1 * k)
    return np.sum(filter.getQuat6D() * [1.0, 2.0, 3.0, 4.0])


@case("hyperelastic", 0.6)
def rubber_of_hyperelastic(modulus):
    import hyperelastic

    model = hyperelastic.models.invariants.ThirdOrderDeformation(
        C10=modulus, C01=0.2, C11=0, C20=0, C30=0, strain=False
    )
    framework = hyperelastic.InvariantsFramework(model)
    rubber = hyperelastic.DistortionalSpace(framework)
    F = np.array([[1.2, 0.1, 0.0], [0.0, 0.9, 0.05], [0.0, 0.0, 1.0]]).reshape(3, 3, 1, 1)
    stress, _ = rubber.gradient([F, None])
    return np.sum(stress**2)


@case("tsmoothie", TONE)
def polynomial_of_tsmoothie(x):
    from tsmoothie.smoother import PolynomialSmoother, SpectralSmoother

    smooth = PolynomialSmoother(degree=4).smooth(x).smooth_data
    other = SpectralSmoother(smooth_fraction=0.3, pad_len=10).smooth(x).smooth_data
    return np.sum(smooth**2) + np.sum(other**2)


@case("fcmeans", FEATURES)
def clusters_of_fcmeans(x):
    from fcmeans import FCM

    model = FCM(n_clusters=2, max_iter=20, random_state=1)
    model.fit(x)
    return np.sum(model.centers**2) + np.sum(model.u**2)


@case("dynesty", 0.3 + 0.02 * np.arange(12.0))
def evidence_of_dynesty(loglikelihood):
    from dynesty.utils import compute_integrals

    volumes = -np.arange(1.0, 13.0) / 5.0
    _, logz, _, information = compute_integrals(logl=loglikelihood, logvol=volumes)
    return logz[-1] + information[-1]


@case("indeterminatebeam", 4.0)
def beam_of_indeterminate(force):
    from indeterminatebeam import Beam, PointLoadV, Support

    beam = Beam(6)
    beam.add_supports(Support(0, (1, 1, 0)), Support(6, (0, 1, 0)))
    beam.add_loads(PointLoadV(float(-1000 * force), 2))
    beam.analyse()
    return beam.get_reaction(0, "y") * 1e-3 + beam.get_bending_moment(3.0) * 1e-3

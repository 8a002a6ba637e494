"""A fifteenth list: packages of fields that the other lists have not been to.

Written before the first of its gradients was taken; what had been tried was the plain values.
The other half is in `fifteenth_more_cases.py`.
"""

import numpy as np

from .cases import case

DAYS = np.array([3.0, 11.0, 25.0, 40.0, 71.0])
WAVE = np.sin(0.7 * np.arange(60.0)) + 0.4 * np.cos(2.1 * np.arange(60.0))
QUAKE = np.sin(0.31 * np.arange(200.0)) * np.exp(-0.02 * np.arange(200.0))
FEATURES = np.stack([np.cos(np.arange(12.0)), np.sin(1.7 * np.arange(12.0)), np.ones(12)], 1)
RETURNS = np.array([0.8, 1.4, 0.3, 2.2, 1.1, 0.6, 1.9, 1.2])


@case("keplertools", np.array([1.0, 0.1, 0.2, -0.1, 0.9, 0.3]))
def elements_of_keplertools(state):
    from keplertools import fun

    a, e, _, _, inclination, w, period, _ = fun.vec2orbElem(state[:3], state[3:], 1.0)
    return np.sum(a + 2 * e + inclination + w + 0.1 * period)


@case("keplertools", np.array([0.3, 0.9, 1.6, 2.8]))
def anomalies_of_keplertools(mean):
    from keplertools import fun

    eccentric = fun.eccanom(mean, 0.35)
    return np.sum(np.cos(fun.trueanom(eccentric, 0.35))) + np.sum(eccentric**2)


@case("geodepy", -37.8)
def grid_of_geodepy(latitude):
    from geodepy.convert import geo2grid, llh2xyz

    _, _, east, north, scale, convergence = geo2grid(latitude, 144.3)
    x, y, z = llh2xyz(latitude, 144.3, 250.0)
    return east * 1e-3 + north * 1e-5 + scale + convergence + (x + y + z) * 1e-6


@case("geodepy", np.array([-37.9, 144.4, -37.6, 143.9]))
def inverse_of_geodepy(points):
    from geodepy.geodesy import vincinv

    distance, forth, back = vincinv(points[0], points[1], points[2], points[3])
    return distance * 1e-4 + forth * 0.01 + back * 0.02


@case("geodepy", 21.0)
def distance_meter_of_geodepy(temperature):
    from geodepy.survey import first_vel_corrn, va_conv

    correction = first_vel_corrn(1117.8517, [281.781, 79.393], temperature, 960.9, 60.0)
    _, slope, horizontal, vertical = va_conv(84.0 + 0.01 * temperature, 200.0, 1.6, 1.7)
    return correction * 100 + slope + horizontal + vertical


@case("turfpy", np.array([13.1, 52.3, 13.7, 52.6, 13.4, 52.9]))
def polygon_of_turfpy(corners):
    from geojson import Feature, Point, Polygon
    from turfpy.measurement import area, distance

    ring = [(corners[0], corners[1]), (corners[2], corners[3]), (corners[4], corners[5])]
    ring.append(ring[0])
    apart = distance(Feature(geometry=Point(ring[0])), Feature(geometry=Point(ring[1])))
    return area(Feature(geometry=Polygon([ring]))) * 1e-8 + apart


@case("turfpy", 34.0)
def way_of_turfpy(bearing):
    from geojson import Feature, Point
    from turfpy.measurement import destination, rhumb_distance

    start = Feature(geometry=Point([8.2, 47.1]))
    end = destination(start, 120.0, bearing, {"units": "km"})
    other = rhumb_distance(start, Feature(geometry=Point([8.9, 46.5 + bearing * 0.01])))
    return end["geometry"]["coordinates"][0] + other * 0.01


@case("gemact", 1.4)
def tail_of_gemact(shape):
    from gemact.distributions import GenPareto

    loss = GenPareto(c=0.2, scale=shape)
    return loss.mean() + np.sum(loss.lev(3.0)) + loss.cdf(2.0) + loss.sf(1.0)


@case("gemact", np.array([[0.3, 0.6], [0.7, 0.2], [0.5, 0.8]]))
def copulas_of_gemact(u):
    from gemact.copulas import ClaytonCopula, FrankCopula, GumbelCopula

    total = np.sum(ClaytonCopula(1.2, 2).cdf(u)) + np.sum(FrankCopula(1.5, 2).cdf(u))
    return total + np.sum(GumbelCopula(1.7, 2).cdf(u))


@case("delicatessen", np.array([0.4, 0.9, 1.6, 2.2, 2.9, 1.1, 0.7, 3.2]))
def mean_of_delicatessen(y):
    from delicatessen import MEstimator
    from delicatessen.estimating_equations import ee_mean_variance

    def psi(theta):
        return ee_mean_variance(theta, y)

    estimator = MEstimator(psi, init=[1.0, 1.0])
    estimator.estimate()
    return estimator.theta[0] + 2 * estimator.theta[1]


@case("delicatessen", np.array([0.3, -0.2, 0.5]))
def equations_of_delicatessen(theta):
    from delicatessen.estimating_equations import ee_glm, ee_regression, ee_ridge_regression

    y = (np.arange(12.0) % 3 > 0) * 1.0
    logistic = ee_regression(theta, FEATURES, y, model="logistic")
    poisson = ee_glm(theta, FEATURES, y, distribution="poisson", link="log")
    ridge = ee_ridge_regression(theta, FEATURES, y, model="linear", penalty=0.5)
    return np.sum(logistic**2) + np.sum(poisson * 0.1) + np.sum(ridge**2)


@case("delicatessen", np.array([0.2, 0.7, 1.9, 0.3]))
def doses_of_delicatessen(theta):
    from delicatessen.estimating_equations import ee_loglogistic

    dose = np.array([0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
    response = np.array([0.9, 0.8, 0.65, 0.5, 0.35, 0.3])
    return np.sum(ee_loglogistic(theta, dose, response) ** 2)


@case("pyfao56", 31.0)
def reference_of_pyfao56(warmest):
    from pyfao56.refet import ascedaily

    short = ascedaily("S", 361.0, 33.07, 180, 24.0, warmest, 17.0, tdew=11.0, wndsp=2.1)
    tall = ascedaily("T", 361.0, 33.07, 180, 24.0, warmest, 17.0, tdew=11.0, wndsp=2.1)
    return short + 0.5 * tall


@case("pyfao56", 2.4)
def water_of_pyfao56(wind):
    from pyfao56.refet import ascedaily, ascehourly

    noon, _ = ascehourly(
        "S", 361.0, 33.07, 111.97, 105.0, 180, 12.0, 3.1, 33.0, tdew=11.0, wndsp=wind
    )
    return noon + ascedaily("S", 10.0, 51.0, 120, 18.0, 21.0, 9.0, rhmax=90.0, wndsp=wind)


@case("qmt", np.array([0.8, 0.2, -0.4, 0.4]))
def turns_of_qmt(q):
    import qmt

    q = qmt.normalized(q)
    turned = qmt.rotate(qmt.qmult(q, qmt.qinv(qmt.quatFromAngleAxis(0.4, [1, 0, 0]))), [1.0, 2, 3])
    return np.sum(turned**2 * [1.0, 2.0, 3.0]) + np.sum(qmt.eulerAngles(q, "zyx", True) ** 2)


@case("qmt", np.array([[0.1, 0.2, 0.3], [0.3, -0.2, 0.5], [0.7, 0.1, -0.4]]))
def vectors_of_qmt(v):
    import qmt

    q = qmt.quatFromRotVec(v)
    matrix = qmt.quatToRotMat(q)
    angle = qmt.quatAngle(qmt.qrel(q[0], q[1]))
    return np.sum(matrix[:, 0, 1] + matrix[:, 2, 0] ** 2) + np.sum(angle) + qmt.vecnorm(v).sum()


@case("pathsim", 1.3)
def oscillator_of_pathsim(stiffness):
    from pathsim import Connection, Simulation
    from pathsim.blocks import Adder, Amplifier, Integrator, Scope

    speed, place = Integrator(0.0), Integrator(1.0)
    spring, damper = Amplifier(-stiffness), Amplifier(-0.2)
    add, scope = Adder(), Scope()
    simulation = Simulation(
        [speed, place, spring, damper, add, scope],
        [
            Connection(add, speed),
            Connection(speed, place, damper),
            Connection(place, spring, scope),
            Connection(spring, add),
            Connection(damper, add[1]),
        ],
        dt=0.05,
        log=False,
    )
    simulation.run(1.0)
    _, places = scope.read()
    return np.sum(places**2)


@case("pathsim", 0.6)
def source_of_pathsim(gain):
    from pathsim import Connection, Simulation
    from pathsim.blocks import ODE, Scope, SinusoidalSource

    source = SinusoidalSource(frequency=0.5, amplitude=gain)
    plant = ODE(lambda x, u, t: -gain * x + u**2, np.array([0.4]))
    scope = Scope()
    simulation = Simulation(
        [source, plant, scope],
        [Connection(source, plant), Connection(plant, scope)],
        dt=0.02,
        log=False,
    )
    simulation.run(0.5)
    return scope.read()[1][0][-1]


@case("tbcontrol", np.array([2.0, 1.5, 0.4]))
def responses_of_tbcontrol(x):
    from tbcontrol import fopdtitae
    from tbcontrol.responses import fopdt, sopdt

    times = np.linspace(0.1, 6.0, 20)
    out = fopdt(times, x[0], x[1], theta=0.33) + sopdt(times, x[0], x[1], x[2], theta=0.0)
    gains = fopdtitae.parameters(x[0], x[1], x[2], "Set point", "PI")
    return np.sum(out) + sum(gains)


@case("tbcontrol", 1.7)
def loop_of_tbcontrol(gain):
    from tbcontrol.blocksim import LTI, PI, Diagram, simple_control_diagram

    controller = PI("Gc", "e", "u", Kc=gain, tau_i=2.0)
    plant = LTI("G", "u", "yu", [1.0], [2.0, 1.0])
    diagram = simple_control_diagram(controller, plant)
    assert isinstance(diagram, Diagram)
    outputs = diagram.simulate(np.arange(0.0, 2.0, 0.05))
    return np.sum(np.array(outputs["y"]) ** 2)


@case("adaptfilt", WAVE)
def echo_of_adaptfilt(u):
    import adaptfilt as adf

    wanted = np.convolve(u, [0.5, -0.3, 0.2])[: len(u)]
    y, e, w = adf.nlms(u, wanted, 4, 0.2, eps=0.01)
    return np.sum(y**2) + np.sum(e**2) + np.sum(w)


@case("adaptfilt", 0.07)
def steps_of_adaptfilt(step):
    import adaptfilt as adf

    step, wanted = float(step), np.convolve(WAVE, [0.5, -0.3, 0.2])[: len(WAVE)]
    _, e, w = adf.lms(WAVE, wanted, 4, step, leak=0.01)
    _, other, _ = adf.ap(WAVE, wanted, 3, 2 * step, 2)
    return np.sum(e**2) + np.sum(w) + np.sum(other**2)


@case("gammatone", WAVE)
def ears_of_gammatone(wave):
    from gammatone.filters import centre_freqs, erb_filterbank, make_erb_filters

    bank = make_erb_filters(1000, centre_freqs(1000, 5, 60))
    return np.sum(erb_filterbank(wave, bank) ** 2)


@case("gammatone", 1.1)
def width_of_gammatone(width):
    from gammatone.filters import centre_freqs, make_erb_filters

    filters = make_erb_filters(8000, centre_freqs(8000, 6, 100), width)
    return np.sum(filters[:, 1] * 1e3) + np.sum(filters[:, 6]) + np.sum(np.log(filters[:, 9]))


@case("emd", WAVE)
def modes_of_emd(x):
    import emd

    phase, frequency, amplitude = emd.spectra.frequency_transform(x[:, None], 60, "hilbert")
    return np.sum(np.sin(phase)) + np.sum(frequency) * 0.01 + np.sum(amplitude**2)


@case("emd", WAVE)
def sifted_by_emd(x):
    import emd

    imf = emd.sift.sift(x, max_imfs=2)
    return np.sum(imf**2 * [1.0, 2.0, 3.0])


@case("pingouin", RETURNS)
def effect_of_pingouin(x):
    import pingouin as pg

    other = np.array([1.0, 0.7, 1.3, 0.4, 1.8, 1.6, 0.2, 0.9])
    return pg.compute_effsize(x, other, eftype="hedges") + pg.compute_effsize(x, other, eftype="r")


@case("pingouin", RETURNS)
def circle_of_pingouin(angles):
    import pingouin as pg

    weights = np.arange(1.0, 9.0)
    return pg.circ_mean(angles) + pg.circ_r(angles, w=weights) + pg.circ_rayleigh(angles)[0]


@case("pingouin", RETURNS)
def regression_of_pingouin(y):
    import pingouin as pg

    model = pg.linear_regression(FEATURES[:8, :2], y, as_dataframe=False)
    return np.sum(model["coef"] ** 2) + model["r2"] + np.sum(model["se"])


@case("mord", np.array([0.4, -0.3, 0.2, 0.1, 0.9]))
def ordinal_of_mord(theta):
    from mord.threshold_based import obj_margin

    labels = np.arange(12) % 3
    loss = np.fromfunction(lambda i, j: np.abs(i - j), (3, 3))
    lower = np.tril(np.ones((2, 2)))
    return obj_margin(theta, FEATURES, labels, 0.1, 3, loss[:, :-1], lower, np.ones(12))


@case("stheno", np.array([0.5, 0.1, -0.4, -0.2, 0.6]))
def process_of_stheno(y):
    from stheno import EQ, GP

    x = np.linspace(0.0, 2.0, 5)
    f = GP(EQ().stretch(0.7))
    posterior = f | (f(x, 0.1), y)
    mean, variance = posterior(np.array([0.3, 1.2])).marginals()
    return np.sum(mean**2) + np.sum(variance) + f(x, 0.1).logpdf(y)


@case("stheno", 0.8)
def scale_of_stheno(scale):
    from stheno import GP, Matern32

    x = np.linspace(0.0, 2.0, 5)
    f = GP(scale * Matern32().stretch(scale))
    return f(x, 0.2).logpdf(np.sin(x))


@case("optproblems", np.array([0.3, -0.7, 1.2]))
def problems_of_optproblems(x):
    from optproblems.continuous import Griewank, Hartman3, Rastrigin, WeierstrassFunction

    total = Griewank(3).objective_function(x) + Rastrigin(3).objective_function(x)
    return total + Hartman3().objective_function(x) + WeierstrassFunction(k_max=6)(x)


@case("nevergrad", np.array([0.3, -0.7, 1.2]))
def functions_of_nevergrad(x):
    from nevergrad.functions import corefuncs as core

    total = core.ackley(x) + core.griewank(x) + core.rosenbrock(x) * 0.01 + core.hm(x)
    return total + core.lunacek(x) * 0.1 + core.genzcornerpeak(x) + core.bucherastrigin(x)


@case("nevergrad", np.array([0.3, -0.7, 1.2]))
def artificial_of_nevergrad(x):
    from nevergrad.functions import ArtificialFunction

    np.random.seed(12)
    return ArtificialFunction("cigar", block_dimension=3, rotation=True)(x) * 1e-5


@case("niapy", np.array([0.3, -0.7, 1.2, 0.6]))
def problems_of_niapy(x):
    from niapy import problems as p

    kinds = (p.Ackley, p.Levy, p.Michalewicz, p.Zakharov, p.HappyCat, p.Whitley, p.Perm)
    return sum(kind(dimension=4).evaluate(x) * 1e-2 for kind in kinds)


@case("spharpy", 0.7)
def harmonics_of_spharpy(angle):
    from spharpy.transforms import rotation_z_axis_real, wigner_d_rotation_real

    turned = wigner_d_rotation_real(2, angle, 0.4, 0.2)
    return np.sum(turned[1:, 1]) + np.sum(rotation_z_axis_real(2, angle)[2] ** 2)


@case("spectral", np.outer(RETURNS, [1.0, 0.5, 2.0, 1.3]).reshape(2, 4, 4) + 0.1)
def picture_of_spectral(data):
    import spectral

    members = np.array([[1.0, 0.2, 0.7, 1.1], [0.4, 1.0, 0.3, 0.8]])
    return np.sum(spectral.spectral_angles(data, members)) + np.sum(spectral.msam(data, members))


@case("ffn", RETURNS)
def prices_of_ffn(x):
    import ffn  # noqa: F401  # it adds methods to tables
    import pandas as pd

    index = pd.date_range("2020-01-01", periods=8)
    prices = pd.Series(100.0 + np.cumsum(x), index=index)
    returns = prices.to_returns().dropna()
    return returns.calc_sharpe() + prices.calc_cagr() * 0.1 + returns.std()


@case("arch", np.array([0.1, 0.12, 0.8]))
def likelihood_of_arch(parameters):
    from arch import arch_model

    model = arch_model(WAVE, mean="Zero", vol="GARCH", p=1, q=1)
    variances = np.empty_like(WAVE)
    backcast = model.volatility.backcast(WAVE)
    bounds = model.volatility.variance_bounds(WAVE)
    model.volatility.compute_variance(parameters, WAVE, variances, backcast, bounds)
    return model.distribution.loglikelihood([], WAVE, variances)


@case("cameratransform", np.array([70.0, 4.0, 20.0]))
def ground_of_cameratransform(x):
    import cameratransform as ct

    camera = ct.Camera(
        ct.RectilinearProjection(focallength_px=2000.0, center_x_px=800.0, center_y_px=600.0),
        ct.SpatialOrientation(elevation_m=x[2], tilt_deg=x[0], roll_deg=x[1]),
    )
    pixel = camera.imageFromSpace(np.array([[3.0, 50.0, 0.0], [-2.0, 60.0, 1.0]]))
    return np.sum(pixel) * 1e-2 + np.sum(camera.spaceFromImage(np.array([[700.0, 500.0]])))


@case("copulas", np.array([[0.3, 0.6], [0.7, 0.2], [0.5, 0.8]]))
def density_of_copulas(u):
    from copulas.bivariate import Clayton, Frank

    total = 0.0
    for kind in (Clayton, Frank):
        copula = kind()
        copula.theta, copula.tau = 1.7, 0.4
        total = (
            total
            + np.sum(copula.probability_density(u))
            + np.sum(copula.cumulative_distribution(u))
        )
    return total


@case("hydrosignatures", 20.0 + 6.0 * WAVE)
def flow_of_hydrosignatures(flow):
    import hydrosignatures as hs

    slope = hs.flow_duration_curve_slope(flow, (33, 67), True)
    return np.sum(slope) + np.sum(hs.flashiness_index(flow))


@case("tsmoothie", WAVE)
def smoothed_by_tsmoothie(x):
    from tsmoothie.smoother import ConvolutionSmoother, ExponentialSmoother

    smooth = ConvolutionSmoother(window_len=5, window_type="hanning").smooth(x).smooth_data
    other = ExponentialSmoother(window_len=4, alpha=0.3).smooth(x).smooth_data
    return np.sum(smooth**2) + np.sum(other**2)

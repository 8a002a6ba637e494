"""The thirteenth list: 27 packages that no list or survey before had, two calls of each.

Written before the first of its gradients was taken, by what a user of the package would write.
"""

import numpy as np

from .cases import V3, Q, case

SIGNAL = np.cos(0.9 * np.arange(40.0)) + 0.3 * np.sin(2.7 * np.arange(40.0))
CLOUD = np.stack([np.cos(np.arange(6.0)), np.sin(1.7 * np.arange(6.0)), 0.1 * np.arange(6.0)], 1)
RETURNS = 0.01 * np.cos(1.3 * np.arange(30.0)) + 0.002 * np.arange(30.0) % 0.013


@case("pylinalg", np.array([0.3, -0.7, 0.4]))
def posed_point(angles):
    import pylinalg as la

    pose = la.mat_compose((1.0, 2.0, 3.0), la.quat_from_euler(angles), (1.0, 2.0, 0.5))
    return la.vec_transform(V3, la.mat_inverse(pose)).sum()


@case("pylinalg", V3)
def seen_from(eye):
    import pylinalg as la

    view = la.mat_look_at(eye, (0.0, 0.1, 0.0), (0.0, 1.0, 0.2))
    quaternion = la.quat_from_mat(view)
    return la.vec_transform_quat((1.0, 2.0, 3.0), quaternion)[0] + la.vec_angle(eye, (1.0, 0, 0))


@case("photutils", 2.3)
def star_in_picture(fwhm):
    from photutils.psf import CircularGaussianPSF, MoffatPSF

    y, x = np.mgrid[0:9, 0:9]
    star = CircularGaussianPSF(flux=70.0, x_0=4.2, y_0=3.9, fwhm=fwhm)
    wings = MoffatPSF(flux=20.0, x_0=4.0, y_0=4.0, alpha=fwhm, beta=2.5)
    return np.sum(star(x, y) ** 2) + wings(x, y)[2, 3]


@case("photutils", np.exp(-0.1 * np.add.outer((np.arange(9.0) - 4.2) ** 2, np.arange(9.0) ** 2)))
def middle_of_star(picture):
    from photutils.centroids import centroid_com, centroid_quadratic

    return np.sum(centroid_com(picture)) + centroid_quadratic(picture[:, :7] + 0.01)[1]


@case("plasmapy", 0.8)
def plasma_waves(field):
    import astropy.units as u
    from plasmapy.formulary import Alfven_speed

    speed = Alfven_speed(field * u.T, 1e19 * u.m**-3, ion="p+")
    return speed.to_value(u.km / u.s)


@case("plasmapy", 1.3e6)
def length_of_debye(temperature):
    import astropy.units as u
    from plasmapy.formulary import Debye_length, thermal_speed

    length = Debye_length(temperature * u.K, 5e15 * u.m**-3)
    return length.to_value(u.mm) + thermal_speed(temperature * u.K, "e-").to_value(u.km / u.s)


@case("climlab", 285.0)
def moist_air(temperature):
    from climlab.utils import thermo

    saturated = thermo.qsat(temperature, 900.0)
    lifted = thermo.lifting_condensation_level(temperature, 0.6)
    return 1e3 * saturated + thermo.pseudoadiabat(temperature, 700.0) + lifted * 1e-3


@case("climlab", 45.0)
def sunlight_of_day(latitude):
    from climlab.solar.insolation import daily_insolation

    return float(daily_insolation(latitude, 80.0)) / 100.0


@case("speclite", 1.2)
def shifted_spectrum(z):
    from speclite.redshift import redshift

    rules = [{"name": "wlen", "exponent": +1}, {"name": "flux", "exponent": -1}]
    data = np.empty(5, dtype=[("wlen", float), ("flux", float)])
    data["wlen"], data["flux"] = np.linspace(4000, 5000, 5), np.arange(1.0, 6.0)
    shifted = redshift(z_in=0.0, z_out=z, data_in=data, rules=rules)
    return np.sum(shifted["flux"]) + shifted["wlen"][0] * 1e-3


@case("speclite", np.linspace(1.0, 2.0, 12))
def fewer_pixels(flux):
    from speclite.filters import FilterResponse

    response = FilterResponse(
        wavelength=[4000, 4200, 4400, 4600, 4800, 5000],
        response=[0, 0.3, 1.0, 0.8, 0.2, 0],
        meta={"group_name": "mine", "band_name": "g"},
    )
    return response.get_ab_magnitude(flux * 1e-17, np.linspace(3900, 5100, 12))


@case("wcosmo", 0.31)
def far_away(matter):
    import wcosmo

    wcosmo.utils.disable_units()
    z = np.array([0.3, 0.9, 2.0])
    distances = wcosmo.luminosity_distance(z, 67.0, matter)
    return np.sum(distances) * 1e-3 + wcosmo.lookback_time(1.1, 67.0, matter, w0=-0.9)


@case("wcosmo", 0.7)
def volume_of_sky(z):
    import wcosmo

    wcosmo.utils.disable_units()
    m1, m2 = wcosmo.detector_to_source_frame(30.0, 20.0, 4000.0 * z, 67.0, 0.3)[:2]
    return wcosmo.comoving_volume(z, 67.0, 0.3) * 1e-11 + m1 * m2


@case("coord", np.array([0.3, 0.6]))
def on_the_sky(place):
    import coord

    here = coord.CelestialCoord(place[0] * coord.radians, place[1] * coord.radians)
    there = coord.CelestialCoord(1.1 * coord.hours, 20.0 * coord.degrees)
    u, v = here.project(there, projection="gnomonic")
    return here.distanceTo(there) / coord.degrees + u.rad + 2.0 * v.rad


@case("coord", np.array([0.3, 0.6]))
def in_the_galaxy(place):
    import coord

    star = coord.CelestialCoord(coord.Angle(place[0], coord.radians), place[1] * coord.radians)
    el, b = star.galactic()
    later = star.precess(2000.0, 1950.0)
    return el.rad + 2.0 * b.rad + later.ra.rad * later.dec.rad


@case("geonum", np.array([48.1, 11.6]))
def way_over_land(place):
    from geonum import GeoPoint

    start = GeoPoint(place[0], place[1], 500.0)
    end = GeoPoint(48.5, 12.1, 700.0)
    way = end - start
    return way.magnitude + way.azimuth


@case("geonum", 47.3)
def haversine_of_geonum(latitude):
    from geonum.atmosphere import pressure, temperature
    from geonum.helpers import haversine_formula

    distance = haversine_formula(11.0, latitude, 12.5, 48.0)
    return distance + pressure(alt=20.0 * latitude) * 1e-4 + temperature(alt=latitude)


@case("pedon", 1.6)
def water_in_soil(n):
    from pedon import Genuchten

    soil = Genuchten(k_s=10.0, theta_r=0.05, theta_s=0.43, alpha=0.02, n=n)
    heads = np.array([1.0, 30.0, 400.0])
    return np.sum(soil.theta(heads)) + np.log(soil.k(heads)).sum() + np.log(soil.h(0.3))


@case("pedon", np.array([12.0, 45.0]))
def brooks_of_pedon(heads):
    from pedon.soilmodel import Brooks

    dry = Brooks(k_s=10.0, theta_r=0.05, theta_s=0.43, h_b=9.0, l=0.7)
    return np.sum(dry.theta(heads)) + np.sum(np.log(dry.k(heads))) + np.sum(dry.h(dry.theta(heads)))


@case("bayespy", SIGNAL[:12] + 0.2)
def evidence_of_bayespy(y):
    from bayespy.inference import VB
    from bayespy.nodes import Gamma, GaussianARD

    mu, tau = GaussianARD(0, 1e-3), Gamma(1e-2, 1e-2)
    data = GaussianARD(mu, tau, plates=(12,))
    data.observe(y)
    posterior = VB(mu, tau, data)
    posterior.update(repeat=4, verbose=False)
    return posterior.compute_lowerbound()


@case("bayespy", 1.7)
def gamma_of_bayespy(shape):
    from bayespy.nodes import Gamma

    node = Gamma(shape, 2.0)
    return node.get_moments()[0] + node.get_moments()[1]


@case("skfolio", RETURNS)
def risks_of_returns(returns):
    from skfolio import measures

    losses = measures.cvar(returns, beta=0.9) + measures.semi_deviation(returns)
    drawdowns = measures.get_drawdowns(returns)
    return losses + measures.ulcer_index(drawdowns) + measures.entropic_risk_measure(returns)


@case("skfolio", np.array([0.2, 0.5, 0.3]))
def risk_of_weights(weights):
    from skfolio import Portfolio

    market = np.stack([RETURNS, RETURNS[::-1], np.roll(RETURNS, 7)], axis=1)
    portfolio = Portfolio(X=market, weights=weights)
    return portfolio.mean * 100 + portfolio.standard_deviation * 10 + portfolio.gini_mean_difference


@case("gnss_lib_py", np.array([48.1, 11.6, 520.0]))
def place_on_earth(place):
    from gnss_lib_py.utils.coordinates import LocalCoord, ecef_to_geodetic, geodetic_to_ecef

    ecef = geodetic_to_ecef(place.reshape(3, 1))
    local = LocalCoord.from_geodetic(np.array([[48.0], [11.5], [500.0]]))
    return np.sum(local.ecef_to_ned(ecef)) + ecef_to_geodetic(ecef)[2, 0]


@case("gnss_lib_py", np.array([[4.1e6], [0.8e6], [4.7e6]]))
def height_of_satellite(receiver):
    from gnss_lib_py.utils.coordinates import ecef_to_el_az, el_az_to_enu_unit_vector

    satellites = np.array([[1.5e7, 2.1e7], [0.9e7, -0.3e7], [2.0e7, 1.5e7]])
    seen = ecef_to_el_az(receiver, satellites)
    return np.sum(seen) + np.sum(el_az_to_enu_unit_vector(seen[0], seen[1]))


@case("kineticstoolkit", 0.4)
def moved_markers(angle):
    import kineticstoolkit.lab as ktk

    transforms = ktk.geometry.create_transforms("xz", [[angle, 0.2], [0.3, angle]])
    markers = np.concatenate([CLOUD[:2], np.ones((2, 1))], axis=1)
    moved = ktk.geometry.get_global_coordinates(markers, transforms)
    return np.sum(moved) + np.sum(ktk.geometry.get_angles(transforms, "zyx"))


@case("kineticstoolkit", SIGNAL)
def smoothed_series(values):
    import kineticstoolkit.lab as ktk

    series = ktk.TimeSeries(time=np.arange(40) / 100.0)
    series.data["angle"] = values
    smooth = ktk.filters.butter(series, fc=9.0)
    return np.sum(smooth.data["angle"] ** 2) + np.sum(ktk.filters.deriv(series).data["angle"][3:7])


@case("yieldcurves", 0.03)
def curve_of_rates(beta):
    from yieldcurves.nelsonsiegel import NelsonSiegelSvensson

    curve = NelsonSiegelSvensson(beta0=beta, beta1=-0.01, beta2=0.02, tau1=1.7, tau2=4.0)
    return curve.spot(2.5) + curve.spot(10.0) + curve.short(3.0)


@case("yieldcurves", 0.25)
def option_of_yieldcurves(volatility):
    from yieldcurves.optionpricing import Bachelier, Black76

    black, normal = Black76(), Bachelier()
    price = black(1.5, 1.1, 1.0, volatility) + black.delta(1.5, 0.9, 1.0, volatility)
    return price + normal(0.7, 1.1, 1.0, volatility) + normal.vega(0.7, 1.1, 1.0, volatility)


@case("skrobot", np.array([0.3, -0.2, 0.5]))
def turned_coordinates(angles):
    from skrobot.coordinates import Coordinates

    frame = Coordinates(pos=[0.1, 0.2, 0.3])
    frame.rotate(angles[0], "z").rotate(angles[1], "x").translate([angles[2], 0.0, 0.1])
    return np.sum(frame.worldpos()) + np.sum(frame.transform_vector(V3))


@case("skrobot", Q)
def quaternion_of_skrobot(q):
    from skrobot.coordinates import math

    turned = math.quaternion2matrix(math.quaternion_multiply(q, Q[::-1]), normalize=True)
    return np.sum(math.matrix2rpy(turned)) + np.sum(
        math.rotation_matrix_to_axis_angle_vector(turned)
    )


@case("Bio", CLOUD)
def angles_of_atoms(points):
    from Bio.PDB.vectors import Vector, calc_angle, calc_dihedral, rotaxis2m

    a, b, c, d = (Vector(p) for p in points[:4])
    turned = a.left_multiply(rotaxis2m(0.7, d))
    return calc_dihedral(a, b, c, d) + calc_angle(turned, b, c) + (a**b).norm()


@case("Bio", CLOUD)
def superimposed(points):
    from Bio.SVDSuperimposer import SVDSuperimposer

    fit = SVDSuperimposer()
    fit.set(CLOUD[::-1] + 0.1 * np.cos(CLOUD), points)
    fit.run()
    return fit.get_rms() + np.sum(fit.get_transformed() ** 3)


@case("fdtd", 1.3)
def light_in_grid(permittivity):
    import fdtd

    grid = fdtd.Grid(shape=(12, 9, 1), grid_spacing=1e-7, permittivity=1.0)
    grid[0:2, :, :] = fdtd.PML(name="low")
    grid[5:8, 3:6, 0] = fdtd.Object(permittivity=permittivity**2, name="glass")
    grid[3, 4, 0] = fdtd.PointSource(period=10, name="lamp")
    grid.run(total_time=25, progress_bar=False)
    return np.sum(np.asarray(grid.E) ** 2) * 10


@case("fdtd", 2.0)
def waveform_of_fdtd(cycles):
    from fdtd.waveforms import hanning

    return sum(hanning(0.15, t, cycles) for t in range(5))


@case("pykrige", np.array([1.0, 2.5, 1.7, 3.1, 0.4]))
def kriged(values):
    from pykrige.ok import OrdinaryKriging

    x, y = np.array([0.1, 1.2, 2.3, 0.8, 1.9]), np.array([0.3, 2.1, 0.7, 1.1, 1.6])
    model = {"sill": 1.2, "range": 2.0, "nugget": 0.1}
    kriging = OrdinaryKriging(x, y, values, variogram_model="spherical", variogram_parameters=model)
    z, _ = kriging.execute("grid", np.array([0.5, 1.5]), np.array([0.9, 1.4]))
    return np.sum(z**2)


@case("pykrige", 1.4)
def variograms(reach):
    from pykrige import variogram_models as models

    d = np.array([0.2, 0.9, 1.8])
    spherical = models.spherical_variogram_model([1.2, reach, 0.1], d)
    return np.sum(spherical) + np.sum(models.gaussian_variogram_model([1.2, reach, 0.1], d))


@case("solar_angles", 11.6)
def angle_of_sun(longitude):
    from datetime import datetime

    from solar_angles.solar import Angular, altitude_angle, azimuth_angle

    where = (Angular(degrees=longitude), Angular(degrees=15.0), Angular(degrees=48.1))
    noon = datetime(2024, 5, 4, 10, 30)
    high = altitude_angle(noon, False, *where)
    return high.degrees + azimuth_angle(noon, False, *where).degrees


@case("solar_angles", 30.0)
def wall_in_the_sun(facing):
    from datetime import datetime

    from solar_angles.solar import Angular, direct_radiation_on_surface, solar_angle_of_incidence

    where = (Angular(degrees=105.2), Angular(degrees=105.0), Angular(degrees=39.7))
    afternoon = (datetime(2024, 5, 4, 12, 30), False, *where, Angular(degrees=180.0 + facing))
    lit = direct_radiation_on_surface(*afternoon, 800.0)
    return solar_angle_of_incidence(*afternoon).degrees + lit * 0.01


@case("PyMsOfa", np.array([0.3, 0.6]))
def vectors_of_sofa(place):
    from PyMsOfa import PyMsOfa_basic as sofa

    direction = sofa.pymS2c(place[0], place[1])
    turn = sofa.pymRv2m([0.1, 0.2, -0.3])
    moved = sofa.pymRxp(turn, direction)
    return sum(sofa.pymC2s(moved)) + sofa.pymSepp(direction, [0.2, 0.3, 0.5])


@case("PyMsOfa", 0.37)
def epochs_of_sofa(century):
    from PyMsOfa import PyMsOfa_basic as sofa
    from PyMsOfa import PyMsOfa_earth_attitude as attitude

    turned = sofa.pymRm2v(attitude.pymPmat06(2451545.0, 36525.0 * century))
    return 1e3 * np.sum(turned) + attitude.pymObl06(2451545.0, 36525.0 * century)


@case("pyrtools", np.add.outer(np.cos(np.arange(16.0)), 0.1 * np.arange(16.0)))
def levels_of_pyramid(picture):
    import pyrtools as pt

    pyramid = pt.pyramids.LaplacianPyramid(picture, height=2)
    return np.sum(pyramid.pyr_coeffs[(0, 0)] ** 2) + np.sum(pyramid.pyr_coeffs[(1, 0)])


@case("pyrtools", 5.0)
def synthetic_picture(period):
    import pyrtools as pt
    from pyrtools.tools.image_stats import skew

    picture = pt.synthetic_images.sine(16, period=period, direction=0.4)
    return np.sum(picture**2) + skew(picture[:5, :7])


@case("sksurgerycore", np.array([20.0, -15.0, 40.0]))
def turned_for_surgery(angles):
    from sksurgerycore.transforms.matrix import (
        construct_rigid_transformation,
        construct_rotm_from_euler,
    )

    turn = construct_rotm_from_euler(*angles, "zyx", is_in_radians=False)
    return np.sum(construct_rigid_transformation(turn, np.array([1.0, 2.0, 3.0])) ** 3)


@case("sksurgerycore", CLOUD)
def registered(points):
    from sksurgerycore.algorithms.procrustes import orthogonal_procrustes

    turn, shift, error = orthogonal_procrustes(CLOUD + 0.1 * np.sin(3 * CLOUD), points)
    return np.sum(turn[0] * V3) + np.sum(shift) + error


@case("crnpy", 1200.0)
def water_by_neutrons(counts):
    import crnpy

    pressed = counts * crnpy.correction_pressure(pressure=870.0, Pref=900.0, L=130.0)
    moist = pressed * crnpy.correction_humidity(abs_humidity=8.0, Aref=0.0)
    water = crnpy.counts_to_vwc(moist, N0=3000.0, Wlat=0.02, Wsoc=0.01, bulk_density=1.4)
    return water + np.sum(crnpy.sensing_depth(water, 870.0, 900.0, 1.4, 0.02, dist=[5.0])) * 0.01


@case("crnpy", 12.0 + np.cos(np.arange(9.0)))
def filtered_soil(moisture):
    import crnpy

    return np.sum(crnpy.exp_filter(moisture, T=3)) + crnpy.abs_humidity(55.0, moisture[0])


@case("gwpopulation", 2.3)
def masses_of_holes(alpha):
    from gwpopulation.models import mass

    data = {"mass_1": np.array([12.0, 30.0]), "mass_ratio": np.array([0.6, 0.9])}
    pairs = mass.power_law_primary_mass_ratio(data, alpha=alpha, beta=1.1, mmin=5.0, mmax=60.0)
    two = mass.two_component_single(data["mass_1"], alpha, 5.0, 60.0, 0.1, 33.0, 4.0)
    return np.sum(pairs) * 100 + np.sum(np.log(two))


@case("gwpopulation", 1.9)
def spins_of_holes(alpha):
    from gwpopulation.models.spin import (
        iid_spin_magnitude_beta,
        iid_spin_orientation_gaussian_isotropic,
    )

    data = {"a_1": 0.3, "a_2": 0.6, "cos_tilt_1": 0.4, "cos_tilt_2": -0.2}
    spins = iid_spin_magnitude_beta(data, amax=1, alpha_chi=alpha, beta_chi=3.0)
    return spins + iid_spin_orientation_gaussian_isotropic(data, 0.4, alpha)


@case("geometric", CLOUD)
def internal_coordinates(points):
    from geometric.internal import Angle, Dihedral, Distance, OutOfPlane

    xyz = points.flatten()
    bent = Angle(0, 1, 2).value(xyz) + Dihedral(0, 1, 2, 3).value(xyz)
    return bent + Distance(1, 4).value(xyz) + OutOfPlane(0, 2, 3, 5).value(xyz)


@case("geometric", CLOUD)
def turn_between(points):
    from geometric.rotate import get_expmap, get_quat

    other = CLOUD + 0.1 * np.cos(2 * CLOUD)
    return np.sum(get_quat(points, other) * Q) + np.sum(get_expmap(points, other))


@case("rocketpy", np.array([0.2, 0.4, -0.3]))
def matrices_of_rocket(values):
    from rocketpy.mathutils.vector_matrix import Matrix, Vector

    wind = Vector(values)
    turn = Matrix.transformation([0.9, *values])
    return (turn @ wind).x + abs(wind ^ Vector([1, 2, 3])) + turn.inverse.det


@case("rocketpy", 1.4)
def thrust_of_rocket(height):
    from rocketpy import Function

    thrust = Function([(0, 0), (1, 9.0), (2, 7.5), (3, 2.0), (4, 0.5)], interpolation="spline")
    return thrust(height) + thrust.integral(0, 3.0) * height + thrust.differentiate(height)


@case("HARK", 2.2)
def utility_of_spending(rho):
    from HARK.rewards import CRRAutility, CRRAutility_inv, CRRAutilityP, StoneGearyCRRAutility

    c = np.array([0.5, 1.2, 3.0])
    flat = np.sum(CRRAutility(c, rho)) + CRRAutilityP(1.4, rho)
    return flat + CRRAutility_inv(-0.3, rho) + StoneGearyCRRAutility(1.4, rho, 0.2)


@case("HARK", np.array([1.0, 2.7, 3.1, 4.9]))
def interpolated_spending(values):
    from HARK.interpolation import CubicInterp, LinearInterp

    grid = np.array([0.0, 1.0, 2.0, 4.0])
    line = LinearInterp(grid, values)
    cubic = CubicInterp(grid, values, np.array([1.0, 0.8, 0.6, 0.4]))
    return line(1.3) + line.derivative(2.5) + cubic(np.array([0.4, 3.3])).sum()

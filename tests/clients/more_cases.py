"""A second list of public packages, written before the first gradient of it was taken."""

import numpy as np

from .cases import case

V6 = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


# fmt: off
@case("tmm", 600.0)
def thin_film(wavelength):
    import tmm
    return tmm.coh_tmm("s", [1.0, 2.2, 1.5], [np.inf, 120.0, np.inf], 0.3, wavelength)["R"]


@case("tmm", 0.4)
def interface(angle):
    import tmm
    return tmm.interface_R("p", 1.0, 1.5, angle, tmm.snell(1.0, 1.5, angle))


@case("miepython", 3.0)
def mie_scattering(x):
    import miepython
    return miepython.single_sphere(1.5 - 0.1j, x, 0, True)[0]


@case("periodictable", 4.0)
def neutron_sld(wavelength):
    import periodictable
    return periodictable.neutron_sld("H2O", density=1.0, wavelength=wavelength)[1]


@case("pmutt", 400.0)
def vibration_entropy(t):
    from pmutt.statmech.vib import HarmonicVib
    return HarmonicVib(vib_wavenumbers=[1600.0, 3600.0, 3700.0]).get_SoR(T=t)


@case("pmutt", 400.0)
def translation_entropy(t):
    from pmutt.statmech.trans import FreeTrans
    return FreeTrans(n_degrees=3, molecular_weight=18.0).get_SoR(T=t, P=1.0)


@case("pmutt", 400.0)
def shomate_heat(t):
    from pmutt.empirical.shomate import Shomate
    a = np.array([30.092, 6.832514, 6.793435, -2.53448, 0.082139, -250.881, 223.3967, -241.8264])
    return Shomate(name="H2O", T_low=300.0, T_high=1700.0, a=a).get_CpoR(T=t)


@case("pymeeus", 23.4)
def meeus_equatorial(obliquity):
    from pymeeus.Angle import Angle
    from pymeeus.Coordinates import ecliptical2equatorial
    return float(ecliptical2equatorial(Angle(113.2), Angle(6.7), Angle(obliquity))[0])


@case("pymeeus", 0.2)
def meeus_interpolation(x):
    from pymeeus.Interpolation import Interpolation
    return Interpolation([-1.0, 0.0, 1.0, 2.0], [-2.0, 3.0, 2.0, 1.0])(x)


@case("pysolar", 45.0)
def solar_altitude(latitude):
    import datetime

    from pysolar.solar import get_altitude_fast
    when = datetime.datetime(2020, 6, 1, 12, tzinfo=datetime.UTC)
    return get_altitude_fast(latitude, 10.0, when)


@case("pysolar", 30.0)
def solar_radiation(altitude):
    import datetime

    from pysolar.radiation import get_radiation_direct
    when = datetime.datetime(2020, 6, 1, 12, tzinfo=datetime.UTC)
    return get_radiation_direct(when, altitude)


@case("astral", 20.0)
def sun_hour_angle(declination):
    from astral.sun import SunDirection, hour_angle
    return hour_angle(45.0, declination, 90.8, SunDirection.RISING)


@case("haversine", np.array([45.7, 4.8]))
def haversine_distance(x):
    from haversine import haversine
    return haversine((x[0], x[1]), (48.8, 2.3)) * 1e-2


@case("nvector", 0.7)
def nvector_position(lat):
    import nvector
    return nvector.n_EB_E2p_EB_E(nvector.lat_lon2n_E(lat, 0.3)).sum() * 1e-6


@case("nvector", 0.7)
def nvector_distance(lat):
    import nvector
    a, b = nvector.lat_lon2n_E(lat, 0.3), nvector.lat_lon2n_E(0.5, 0.1)
    return np.sum(nvector.great_circle_distance(a, b)) * 1e-6


@case("navpy", 45.0)
def navigation_ecef(lat):
    import navpy
    return navpy.lla2ecef(lat, 10.0, 100.0).sum() * 1e-6


@case("navpy", 0.3)
def navigation_rotation(yaw):
    import navpy
    return (navpy.angle2dcm(yaw, 0.1, 0.2) * np.arange(9.0).reshape(3, 3)).sum()


@case("navpy", 0.3)
def navigation_quaternion(yaw):
    import navpy
    scalar, vector = navpy.angle2quat(yaw, 0.1, 0.2)
    return scalar + np.sum(vector * np.arange(3.0))


@case("nelson_siegel_svensson", 2.0)
def yield_curve(t):
    from nelson_siegel_svensson import NelsonSiegelSvenssonCurve
    return NelsonSiegelSvenssonCurve(0.03, -0.02, 0.01, 0.01, 1.5, 3.0)(t)


@case("nelson_siegel_svensson", 1.5)
def forward_rate(tau):
    from nelson_siegel_svensson import NelsonSiegelSvenssonCurve
    return NelsonSiegelSvenssonCurve(0.03, -0.02, 0.01, 0.01, tau, 3.0).forward(2.0)


@case("mibian", 20.0)
def option_price(volatility):
    import mibian
    return mibian.BS([100.0, 95.0, 1.0, 30.0], volatility=volatility).callPrice


@case("mibian", 100.0)
def option_delta(price):
    import mibian
    return mibian.GK([price, 95.0, 1.0, 2.0, 30.0], volatility=20.0).callDelta


@case("python_speech_features", 0.9)
def preemphasis(coefficient):
    from python_speech_features.sigproc import preemphasis
    return np.sum(preemphasis(np.sin(np.arange(50.0)), coefficient) ** 2)


@case("python_speech_features", np.sin(np.arange(400.0)))
def mel_features(signal):
    from python_speech_features import mfcc
    return mfcc(signal, samplerate=8000, nfft=256).sum()


@case("padasip", 0.1)
def lms_filter(mu):
    import padasip
    f = padasip.filters.FilterLMS(n=2, mu=mu, w="zeros")
    *_, w = f.run(np.array([1.0, 0.5, 0.2]), np.array([[1.0, 0.3], [0.2, 0.8], [0.5, 0.5]]))
    return np.sum(w)


@case("modern_robotics", np.array([0.3, 0.5]))
def forward_kinematics(theta):
    import modern_robotics as mr
    screws = np.array([[0.0, 0, 1, 4, 0, 0], [0, 0, 0, 0, 1, 0]]).T
    m = np.array([[-1.0, 0, 0, 0], [0, 1, 0, 6], [0, 0, -1, 2], [0, 0, 0, 1]])
    return (mr.FKinSpace(m, screws, theta) * np.arange(16.0).reshape(4, 4)).sum()


@case("modern_robotics", np.array([0.3, 0.5, 0.2]))
def rotation_logarithm(omega):
    import modern_robotics as mr
    r = mr.MatrixExp3(mr.VecToso3(omega))
    return (mr.so3ToVec(mr.MatrixLog3(r)) * np.arange(1.0, 4.0)).sum()


@case("modern_robotics", np.array([0.1, 0.4, 0.3]))
def mass_matrix(theta):
    import modern_robotics as mr
    mlist = np.array([np.eye(4) for _ in range(4)])
    mlist[:, 2, 3] = 0.1
    glist = np.array([np.diag([0.01, 0.02, 0.03, 3.0, 3.0, 3.0])] * 3)
    slist = np.array([[1.0, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T
    return mr.MassMatrix(theta, mlist, glist, slist).sum()


@case("refet", 25.0)
def evapotranspiration(tmax):
    import refet
    return np.sum(refet.Daily(
        tmin=10.0, tmax=tmax, ea=1.2, rs=22.0, uz=3.0, zw=2.0, elev=100.0, lat=0.7, doy=182,
    ).eto())


@case("colorspacious", np.array([0.4, 0.3, 0.2]))
def jch_of_rgb(rgb):
    from colorspacious import cspace_convert
    return cspace_convert(rgb, "sRGB1", "JCh").sum() * 1e-2


@case("colorspacious", np.array([0.4, 0.3, 0.2]))
def color_difference(rgb):
    from colorspacious import deltaE
    return deltaE(rgb, np.array([0.5, 0.3, 0.1]))


@case("pyciede2000", 50.0)
def ciede(light):
    from pyciede2000 import ciede2000
    return ciede2000((light, 2.6, -79.7), (52.0, 0.5, -82.7))["delta_E_00"]


@case("properscoring", 0.3)
def crps(mean):
    from properscoring import crps_gaussian
    return np.sum(crps_gaussian(0.5, mu=mean, sig=0.4))


@case("hydroeval", np.array([3.0, 4.0, 2.5]))
def nash_sutcliffe(flow):
    import hydroeval
    return np.sum(hydroeval.nse(flow, np.array([2.8, 4.2, 2.0])))


@case("hydroeval", np.array([3.0, 4.0, 2.5]))
def kling_gupta(flow):
    import hydroeval
    return np.sum(hydroeval.kge(flow, np.array([2.8, 4.2, 2.0]))[0])


@case("ambiance", 5000.0)
def standard_atmosphere(h):
    from ambiance import Atmosphere
    return np.sum(Atmosphere(h).density)


@case("ambiance", 12000.0)
def speed_of_sound(h):
    from ambiance import Atmosphere
    return np.sum(Atmosphere(h).speed_of_sound)


@case("thermofeel", 300.0)
def wind_chill(t):
    import thermofeel
    return np.sum(thermofeel.calculate_wind_chill(t - 30.0, 8.0))


@case("thermofeel", 290.0)
def relative_humidity(dew_point):
    import thermofeel
    return np.sum(thermofeel.calculate_relative_humidity_percent(300.0, dew_point))


@case("mingus", 440.0)
def note_frequency(standard):
    from mingus.containers import Note
    return Note("C", 5).to_hertz(standard)


@case("trueskill", 25.0)
def skill_rating(mu):
    import trueskill
    first, second = trueskill.rate_1vs1(trueskill.Rating(mu, 8.3), trueskill.Rating(27.0, 7.0))
    return first.mu + 2.0 * second.sigma


@case("trueskill", 25.0)
def skill_quality(mu):
    import trueskill
    return trueskill.quality_1vs1(trueskill.Rating(mu, 8.3), trueskill.Rating(27.0, 7.0))


@case("glicko2", 1500.0)
def glicko_rating(rating):
    import glicko2
    player = glicko2.Player(rating, 200.0)
    player.update_player([1400.0, 1550.0, 1700.0], [30.0, 100.0, 300.0], [1, 0, 0])
    return player.rating + player.rd


@case("elote", 400.0)
def elo_expectation(rating):
    from elote import EloCompetitor
    return EloCompetitor(initial_rating=rating).expected_score(EloCompetitor(initial_rating=500.0))


@case("simdkalman", np.array([1.0, 1.2, 0.9, 1.4]))
def simd_smoother(data):
    import simdkalman
    f = simdkalman.KalmanFilter(
        state_transition=np.array([[1.0, 1.0], [0.0, 1.0]]), process_noise=np.diag([0.1, 0.01]),
        observation_model=np.array([[1.0, 0.0]]), observation_noise=1.0,
    )
    return f.smooth(data).states.mean.sum()


@case("pylorentz", 0.4)
def lorentz_boost(beta):
    from pylorentz import Momentum4
    p = Momentum4.m_eta_phi_p(0.5, 0.3, 0.2, 10.0).boost(1.0, 0.0, 0.0, beta=beta)
    return p.e + p.p_x


@case("pylorentz", 0.3)
def lorentz_pseudorapidity(eta):
    from pylorentz import Momentum4
    return Momentum4.m_eta_phi_pt(0.5, eta, 0.2, 10.0).p_z


@case("splines", 0.4)
def bezier_point(t):
    from splines import Bernstein
    return Bernstein([[(0.0, 0.0), (1.0, 2.0), (3.0, 1.0), (4.0, 0.0)]]).evaluate(t).sum()


@case("splines", 1.4)
def catmull_rom(t):
    from splines import CatmullRom
    return CatmullRom([(0.0, 0.0), (1.0, 2.0), (3.0, 1.0), (4.0, 0.0)]).evaluate(t).sum()


@case("colossus", 0.5)
def growth_factor(z):
    from colossus.cosmology import cosmology
    return cosmology.setCosmology("planck18").rho_m(z) * 1e-2


@case("colossus", 0.5)
def hubble_parameter(z):
    from colossus.cosmology import cosmology
    return cosmology.setCosmology("planck18").Hz(z)


@case("windpowerlib", 2.0)
def wind_profile(speed):
    from windpowerlib.wind_speed import hellman
    return hellman(speed, 10.0, 100.0, 0.15)


@case("windpowerlib", 280.0)
def air_density(t):
    from windpowerlib.density import ideal_gas
    return ideal_gas(101000.0, 0.0, 100.0, t)
# fmt: on

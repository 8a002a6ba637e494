"""The ninth list: the other half of the survey of which the eighth is one half.

Written before the first of its gradients was taken, by what the packages' own pages call first.
"""

import numpy as np

from .cases import V3, case

SIGNAL = np.cos(0.9 * np.arange(64.0)) + 0.3 * np.sin(2.7 * np.arange(64.0))
POINTS = np.stack([np.cos(np.arange(8.0)), 1.3 * np.sin(np.arange(8.0)) + 0.2], axis=1)
CLOUD = np.stack([np.cos(np.arange(9.0)), np.sin(1.7 * np.arange(9.0)), 0.1 * np.arange(9.0)], 1)


@case("anastruct", 5.0)
def moment_of_beam(load):
    from anastruct import SystemElements

    frame = SystemElements(EI=5000.0, EA=15000.0)
    frame.add_element([[0, 0], [3, 0]])
    frame.add_element([[3, 0], [3, 2]])
    frame.add_support_fixed(node_id=1)
    frame.point_load(node_id=3, Fx=load)
    frame.solve()
    return frame.get_node_results_system(1)["Tz"]


@case("anastruct", 5000.0)
def displacement_of_beam(stiffness):
    from anastruct import SystemElements

    frame = SystemElements(EI=stiffness, EA=15000.0)
    frame.add_element([[0, 0], [4, 0]])
    frame.add_support_fixed(node_id=1)
    frame.q_load(q=-2.0, element_id=1)
    frame.solve()
    return frame.get_node_displacements(2)["uy"]


@case("basic_colormath", np.array([120.0, 80.0, 200.0]))
def difference_of_colors(c):
    from basic_colormath import get_delta_e, rgb_to_hsl

    return get_delta_e(c, (30.0, 90.0, 10.0)) + rgb_to_hsl(c)[2]


@case("basic_colormath", np.array([120.0, 80.0, 200.0]))
def mixed_colors(c):
    from basic_colormath import mix_rgb, rgb_to_lab

    return sum(rgb_to_lab(mix_rgb(c, (30.0, 90.0, 10.0), ratio=0.3)))


@case("benchmark_functions", np.array([0.3, -0.7]))
def benchmarks(x):
    import benchmark_functions as bf

    return bf.Ackley(2)(x) + bf.Rosenbrock(2)(x) + bf.StyblinskiTang(2)(x)


@case("chaospy", np.array([0.3, 0.8]))
def density_of_chaospy(x):
    import chaospy

    normal = chaospy.Normal(0.0, 1.0)
    return np.sum(normal.pdf(x)) + np.sum(chaospy.J(normal, chaospy.Uniform(-1, 1)).cdf(x))


@case("chaospy", 0.7)
def polynomial_of_chaospy(x):
    import chaospy

    q = chaospy.variable()
    return chaospy.polynomial([1, q, q**2 - 1])(x).sum()


@case("colorspace", np.array([0.3, 0.6, 0.2]))
def colors_of_colorspace(c):
    from colorspace.colorlib import sRGB

    color = sRGB(R=c[:1], G=c[1:2], B=c[2:])
    color.to("CIELAB")
    return np.sum(color.get("L")) + np.sum(color.get("A"))


@case("compas", V3)
def frame_of_compas(x):
    from compas.geometry import Frame, Point, Rotation

    turned = Point(1.0, 2.0, 3.0).transformed(Rotation.from_axis_and_angle(x, 0.7))
    return turned.x + 2.0 * turned.y + Frame([0, 0, 0], x, [0, 1, 0]).normal.z


@case("compas", V3)
def distance_of_compas(x):
    from compas.geometry import Line, Plane, Point, Vector

    point = Point(*x)
    plane = Plane([0, 0, 1], [1, 1, 2])
    angle = Vector(*x).angle(Vector(0.2, 1.0, 0.3))
    return point.distance_to_plane(plane) + Line([0, 0, 0], x).length + angle


@case("csaps", SIGNAL[:12])
def smoothed_data(y):
    from csaps import csaps

    return np.sum(csaps(np.arange(12.0), y, np.array([0.5, 3.3, 7.1]), smooth=0.8) ** 2)


@case("euclid3", V3)
def vector_of_euclid(x):
    import euclid3

    vector = euclid3.Vector3(x[0], x[1], x[2])
    turned = euclid3.Quaternion.new_rotate_axis(x[0], euclid3.Vector3(0, 0, 1)) * vector
    return turned.x + 2.0 * turned.y + vector.cross(euclid3.Vector3(1, 2, 3)).magnitude()


@case("euclid3", np.array([0.5, 1.5]))
def matrix_of_euclid(p):
    import euclid3

    matrix = euclid3.Matrix4.new_rotatex(p[0]) * euclid3.Matrix4.new_scale(p[1], 1.0, 2.0)
    return (matrix * euclid3.Point3(1.0, 2.0, 3.0)).y + matrix.determinant()


@case("fontTools", np.array([10.0, 30.0]))
def length_of_glyph(p):
    from fontTools.misc.bezierTools import calcCubicArcLength, quadraticPointAtT

    point = quadraticPointAtT((0, 0), (p[0], 20.0), (40.0, p[1]), 0.3)
    return calcCubicArcLength((0, 0), (p[0], 20), (30, p[1]), (50, 0)) + point[1]


@case("fontTools", 0.3)
def transform_of_font(angle):
    from fontTools.misc.transform import Identity

    x, y = Identity.rotate(angle).scale(1.5, 0.7).translate(3, 4).transformPoint((5.0, 6.0))
    return x + 2.0 * y


@case("ladybug_geometry", V3)
def turned_of_ladybug(x):
    from ladybug_geometry.geometry3d import Plane, Point3D, Vector3D

    vector = Vector3D(x[0], x[1], x[2]).rotate(Vector3D(0.0, 0.6, 0.8), 0.4)
    plane = Plane(Vector3D(1, 1, 2), Point3D(0, 0, 1))
    return vector.x + plane.distance_to_point(Point3D(*x)) + vector.angle(Vector3D(0.3, 1, 0))


@case("LightPipes", 1.2)
def lens_of_lightpipes(f):
    from LightPipes import Begin, CircAperture, Fresnel, Intensity, Lens

    field = CircAperture(Begin(5e-3, 632.8e-9, 16), 2e-3)
    return np.sum(Intensity(Fresnel(Lens(field, f), 0.5))[6:9, 5:8])


@case("ellipse", POINTS)
def fitted_ellipse(x):
    from ellipse import LsqEllipse

    center, width, height, _ = LsqEllipse().fit(x).as_parameters()
    return center[0] + 2.0 * center[1] + width + 3.0 * height


@case("metpy", np.array([20.0, 25.0]))
def dewpoint_of_metpy(t):
    import metpy.calc as mpcalc
    from metpy.units import units

    return np.sum(mpcalc.dewpoint_from_relative_humidity(t * units.degC, 0.6).magnitude)


@case("metpy", 7.0)
def wind_of_metpy(u):
    import metpy.calc as mpcalc
    from metpy.units import units

    speed = mpcalc.wind_speed(u * units("m/s"), 3.0 * units("m/s"))
    return (
        speed.magnitude
        + mpcalc.potential_temperature(
            900 * units.hPa, u * units.kelvin + 280.0 * units.kelvin
        ).magnitude
    )


@case("mir_eval", SIGNAL[:32])
def separated_sources(x):
    from mir_eval.separation import bss_eval_sources

    reference = np.stack([np.sin(np.arange(32.0)), np.cos(1.3 * np.arange(32.0))])
    other = reference[1] + 0.1 * np.sin(5.0 * np.arange(32.0))
    return np.sum(bss_eval_sources(reference, np.stack([reference[0] + 0.1 * x, other]))[0])


@case("mir_eval", np.array([440.0, 220.0, 330.0]))
def pitch_of_melody(f):
    from mir_eval.melody import hz2cents

    return np.sum(hz2cents(f))


@case("mpmath", 1.7)
def gamma_of_mpmath(x):
    import mpmath

    return float(mpmath.fp.gamma(x) + mpmath.fp.exp(x) * mpmath.fp.sin(x))


@case("multitaper", SIGNAL)
def spectrum_of_tapers(x):
    from multitaper import MTSpec

    return np.sum(MTSpec(x, nw=2.0, kspec=3, dt=1.0, iadapt=2).spec)


@case("nengo", np.array([0.3, 0.9]))
def rates_of_neurons(x):
    import nengo

    neurons = nengo.LIFRate(tau_rc=0.02, tau_ref=0.002)
    return np.sum(neurons.rates(x, np.array([20.0, 30.0]), np.array([2.0, 1.5])))


@case("neurodsp", SIGNAL)
def filtered_brain(x):
    from neurodsp.filt import filter_signal
    from neurodsp.spectral import compute_spectrum

    filtered = filter_signal(x, 100.0, "lowpass", 20.0, filter_type="iir", butterworth_order=3)
    return np.sum(compute_spectrum(filtered, 100.0, method="welch", nperseg=32)[1])


@case("neurodsp", SIGNAL)
def autocorrelation_of_brain(x):
    from neurodsp.aperiodic import compute_autocorr

    return np.sum(compute_autocorr(x, max_lag=10)[1] * np.arange(11.0))


@case("stl", np.array([1.0, 2.0, 1.5]))
def volume_of_mesh(p):
    from stl import mesh

    corners = np.array([[0.0, 0, 0], [p[0], 0, 0], [0, p[1], 0], [0, 0, p[2]]])
    faces = corners[np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])]
    body = mesh.Mesh(np.zeros(4, dtype=mesh.Mesh.dtype))
    body.vectors[:] = faces
    return body.get_mass_properties()[0]


@case("nutils", 1.3)
def integral_of_nutils(a):
    from nutils import function, mesh

    domain, x = mesh.rectilinear([np.linspace(0, 1, 3)])
    return domain.integral(np.exp(a * x[0]) * function.J(x), degree=3).eval()


@case("opensimplex", np.array([0.3, 0.7]))
def simplex_noise(p):
    import opensimplex

    opensimplex.seed(3)
    return opensimplex.noise2(p[0], p[1])


@case("perlin_noise", np.array([0.3, 0.7]))
def perlin(p):
    from perlin_noise import PerlinNoise

    return PerlinNoise(octaves=3, seed=2)([p[0], p[1]])


@case("pints", np.array([0.1, 50.0]))
def likelihood_of_growth(p):
    import pints
    import pints.toy

    model = pints.toy.LogisticModel()
    times = np.linspace(0.0, 50.0, 8)
    problem = pints.SingleOutputProblem(model, times, np.linspace(2.0, 45.0, 8))
    return pints.GaussianKnownSigmaLogLikelihood(problem, 3.0)(p)


@case("pints", np.array([0.3, -0.2]))
def densities_of_pints(x):
    import pints
    import pints.toy

    prior = pints.ComposedLogPrior(pints.GaussianLogPrior(0, 1), pints.CauchyLogPrior(0, 2))
    return prior(x) + pints.toy.RosenbrockLogPDF()(x) + pints.toy.TwistedGaussianLogPDF(2, 0.1)(x)


@case("pwlf", SIGNAL[:12])
def piecewise_line(y):
    import pwlf

    fitted = pwlf.PiecewiseLinFit(np.arange(12.0), y)
    return fitted.fit_with_breaks([0.0, 5.0, 11.0]) + np.sum(fitted.predict(np.array([2.5, 8.5])))


@case("pycoare", 7.0)
def flux_of_ocean(wind):
    from pycoare import coare_35

    flux = coare_35([wind], t=[15.0], rh=[70.0], ts=[18.0], jcool=0)
    return np.sum(flux.fluxes.hsb) + np.sum(flux.velocities.usr)


@case("pycpd", POINTS)
def registered_points(x):
    from pycpd import RigidRegistration

    moved, _ = RigidRegistration(X=POINTS + 0.1, Y=x, max_iterations=3).register()
    return np.sum(moved**2)


@case("pyfar", SIGNAL)
def response_of_pyfar(x):
    import pyfar as pf

    signal = pf.Signal(x, 8000)
    return np.sum(np.abs(signal.freq) ** 2) + pf.dsp.rms(signal)[0]


@case("pyfar", V3)
def coordinates_of_pyfar(x):
    import pyfar as pf

    c = pf.Coordinates(x[0], x[1], x[2])
    return np.sum(c.radius) + np.sum(c.azimuth) + np.sum(c.colatitude)


@case("pyglet", V3)
def vector_of_pyglet(x):
    from pyglet.math import Vec2, Vec3

    vector = Vec3(x[0], x[1], x[2])
    return vector.cross(Vec3(1, 2, 3)).length() + Vec2(x[0], x[1]).rotate(0.3).x


@case("pyglet", 0.7)
def matrix_of_pyglet(angle):
    from pyglet.math import Mat4, Vec3, Vec4

    matrix = Mat4.from_rotation(angle, Vec3(0.0, 0.6, 0.8)) @ Mat4.from_translation(Vec3(1, 2, 3))
    moved = matrix @ Vec4(1.0, 2.0, 3.0, 1.0)
    return moved.x + 2.0 * moved.y + 3.0 * moved.z


@case("pystra", 1.3)
def reliability(x):
    from pystra.distributions import Gumbel, Lognormal, Normal

    return (
        Normal("a", 1.0, 0.4).pdf(x) + Lognormal("b", 1.0, 0.4).cdf(x) + Gumbel("c", 1, 0.3).pdf(x)
    )


@case("pystra", 0.6)
def index_of_reliability(u):
    from pystra.distributions import Gumbel, Lognormal

    return Gumbel("c", 1.0, 0.3).u_to_x(u) + Lognormal("b", 1.0, 0.4).x_to_u(1.0 + u)

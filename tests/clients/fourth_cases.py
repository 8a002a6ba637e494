"""The fourth list of gradients: packages that are in none of the others, and pandas.

Written before the first of its gradients was taken.
"""

import numpy as np

from tests.clients.cases import case

WAVES = np.linspace(-1.0, 1.0, 5)
FRAME = {
    "age": [27.0, 35.0, 41.0, 52.0],
    "dose": [0.5, 1.5, 1.0, 2.0],
    "group": ["a", "b", "a", "b"],
}
# fmt: off


@case("sympy", np.array([0.7, 0.4]))
def lambdified(p):
    import sympy
    x, y = sympy.symbols("x y")
    formula = sympy.sin(x * y) + sympy.exp(-x) / (1 + y**2)
    return sympy.lambdify((x, y), formula, "numpy")(p[0], p[1])


@case("sympy", 0.7)
def lambdified_matrix(t):
    import sympy
    x = sympy.symbols("x")
    matrix = sympy.Matrix([[sympy.cos(x), -sympy.sin(x)], [sympy.sin(x), x**3]])
    return np.sum(sympy.lambdify(x, matrix, "numpy")(t) * np.arange(4.0).reshape(2, 2))


@case("sympy", 0.7)
def lambdified_piecewise(t):
    import sympy
    x = sympy.symbols("x")
    pieces = sympy.Piecewise((x**2, x < 1), (sympy.log(x), True))
    return np.sum(sympy.lambdify(x, pieces, "numpy")(np.array([0.5, 1.5]) * t))


@case("magpylib", np.array([0.01, 0.02, 0.03]))
def dipole_field(position):
    import magpylib
    return np.sum(magpylib.core.dipole_Hfield(position[None], np.array([[1.0, 2.0, 3.0]]))) * 1e-3


@case("magpylib", 0.02)
def magnet_field(height):
    import magpylib
    magnet = magpylib.magnet.Cuboid(dimension=(0.01, 0.01, 0.01), polarization=(0, 0, 1.0))
    return np.sum(magnet.getB(np.array([0.003, 0.001, 1.0]) * np.array([1.0, 1.0, height])))


@case("magpylib", 0.02)
def current_loop(radius):
    import magpylib
    loop = magpylib.core.current_circle_Hfield
    return np.sum(loop(np.array([radius]), np.array([0.01]), np.array([0.015]), np.array([2.0])))


@case("rowan", np.array([0.3, -0.2, 0.5]))
def rowan_rotation(p):
    import rowan
    q = rowan.from_euler(p[0], p[1], p[2], convention="xyz")
    return np.sum(rowan.rotate(q, np.array([1.0, 2.0, 3.0])) * np.arange(3.0))


@case("rowan", np.array([0.8, 0.2, -0.4, 0.4]))
def rowan_matrix(q):
    import rowan
    return np.sum(rowan.to_matrix(rowan.normalize(q)) * np.arange(9.0).reshape(3, 3))


@case("rowan", 0.4)
def rowan_slerp(t):
    import rowan
    q0, q1 = rowan.from_axis_angle([1, 0, 0], 0.3), rowan.from_axis_angle([0, 1, 0], 1.2)
    return np.sum(rowan.interpolate.slerp(q0, q1, t) * np.arange(4.0))


@case("bruges", 2400.0)
def reflection_of_waves(speed):
    from bruges.reflection import shuey
    below, angles = (2700.0, 1500.0, 2400.0), np.arange(0.0, 30.0, 10.0)
    return np.sum(np.real(shuey(speed, 1200.0, 2300.0, *below, angles)))


@case("bruges", 20e9)
def gassmann(modulus):
    from bruges.rockphysics import smith_gassmann
    return smith_gassmann(kdry=modulus, k0=37e9, kf=2.5e9, phi=0.2) * 1e-9


@case("bruges", 2400.0)
def zoeppritz_amplitude(speed):
    from bruges.reflection import zoeppritz_rpp
    below, angles = (2700.0, 1500.0, 2400.0), np.array([5.0, 20.0])
    return np.sum(np.real(zoeppritz_rpp(speed, 1200.0, 2300.0, *below, angles)))


@case("pygeodesy", np.array([51.5, -0.1]))
def spherical_distance(p):
    from pygeodesy import haversine
    return haversine(p[0], p[1], 48.8, 2.3) * 1e-5


@case("pygeodesy", np.array([51.5, -0.1]))
def vincenty_distance(p):
    from pygeodesy.ellipsoidalVincenty import LatLon
    return LatLon(p[0], p[1]).distanceTo(LatLon(48.8, 2.3)) * 1e-5


@case("pygeodesy", 51.5)
def radius_of_curvature(latitude):
    from pygeodesy.datums import Datums
    return Datums.WGS84.ellipsoid.rocGauss(latitude) * 1e-5


@case("blackscholes", 55.0)
def call_price(s):
    from blackscholes import BlackScholesCall
    return BlackScholesCall(S=s, K=50.0, T=1.0, r=0.0025, sigma=0.15, q=0.0).price()


@case("blackscholes", 0.15)
def put_gamma(sigma):
    from blackscholes import BlackScholesPut
    return BlackScholesPut(S=55.0, K=50.0, T=1.0, r=0.0025, sigma=sigma, q=0.0).gamma() * 100


@case("blackscholes", 55.0)
def straddle_price(s):
    from blackscholes import BlackScholesStraddleLong
    return BlackScholesStraddleLong(S=s, K=50.0, T=1.0, r=0.0025, sigma=0.15).price()


@case("pyfeng", 0.2)
def bsm_price(sigma):
    import pyfeng
    return np.sum(pyfeng.Bsm(sigma, intr=0.02).price(np.array([90.0, 100.0]), 100.0, 1.2))


@case("pyfeng", 0.3)
def sabr_volatility(vov):
    import pyfeng
    return pyfeng.SabrHagan2002(0.2, vov=vov, rho=-0.3, beta=0.6).vol_for_price(105.0, 100.0, 1.0)


@case("pyfeng", 0.1)
def normal_price(sigma):
    import pyfeng
    return np.sum(pyfeng.Norm(sigma * 100).price(np.array([90.0, 100.0]), 100.0, 1.2))


@case("prysm", 0.6)
def zernike_term(r):
    from prysm.polynomials import zernike_nm
    return np.sum(zernike_nm(4, 2, np.array([0.5, 1.0]) * r, np.array([0.3, 0.7])))


@case("prysm", np.array([0.1, 0.4, 0.8]))
def legendre_sum(x):
    from prysm.polynomials import legendre
    return np.sum(legendre(5, x) + legendre(2, x))


@case("prysm", 0.3)
def jacobi_term(x):
    from prysm.polynomials import jacobi
    return np.sum(jacobi(4, 0.5, 1.5, np.array([1.0, 2.0]) * x))


@case("deap", np.array([0.3, 0.5, 0.7]))
def ackley_of_deap(x):
    from deap import benchmarks
    return benchmarks.ackley(x)[0]


@case("deap", np.array([0.3, 0.5, 0.7]))
def griewank_of_deap(x):
    from deap import benchmarks
    return benchmarks.griewank(x)[0] * 100


@case("deap", np.array([0.3, 0.5, 0.7]))
def schwefel_of_deap(x):
    from deap import benchmarks
    return benchmarks.schwefel(x * 100)[0]


@case("trimesh", np.array([0.3, -0.2, 0.5]))
def euler_matrix_of_mesh(p):
    from trimesh.transformations import euler_matrix
    return np.sum(euler_matrix(p[0], p[1], p[2], "sxyz") * np.arange(16.0).reshape(4, 4))


@case("trimesh", np.array([1.0, 2.0, 3.0]))
def box_volume(extents):
    import trimesh
    vertices = trimesh.creation.box().vertices * extents
    return trimesh.triangles.mass_properties(vertices[trimesh.creation.box().faces]).volume


@case("trimesh", np.array([0.8, 0.2, -0.4, 0.4]))
def quaternion_of_mesh(q):
    from trimesh.transformations import quaternion_matrix
    return np.sum(quaternion_matrix(q) * np.arange(16.0).reshape(4, 4))


@case("pandas", 1.3)
def frame_column(rate):
    import pandas
    frame = pandas.DataFrame(FRAME)
    frame["effect"] = np.exp(-frame.dose * rate) * frame.age
    return frame[frame.age > 30].effect.sum()


@case("pandas", 1.3)
def frame_groups(rate):
    import pandas
    frame = pandas.DataFrame(FRAME).assign(scaled=lambda f: f.dose * rate * rate)
    return frame.groupby("group").apply(lambda part: (part.scaled * part.age).mean()).max()


@case("pandas", np.array([0.4, 0.7]))
def frame_times_vector(p):
    import pandas
    rows = pandas.DataFrame(FRAME).query("dose > 0.8")[["age", "dose"]]
    return np.log(rows.to_numpy().dot(p)).sum()

"""The sixth list: fourteen packages that are in none of the others, three gradients of each.

Written before the first of its gradients was taken. Units in it are classes: of ndarray (unyt,
quantities), and around arrays (pint).
"""

import numpy as np

from .cases import case

SIGNAL = np.cos(0.9 * np.arange(40.0)) + 0.1 * np.sin(2.7 * np.arange(40.0))
MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.1]])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
# fmt: off


@case("pint", np.array([3.0, 1.2]))
def speed_with_units(p):
    import pint
    unit = pint.UnitRegistry()
    return ((p[0] * unit.meter) / (p[1] * unit.second)).to("km/hour").magnitude


@case("pint", np.array([1.0, 2.0, 3.0]))
def energy_of_masses(masses):
    import pint
    unit = pint.UnitRegistry()
    energy = 0.5 * unit.Quantity(masses, "kg") * (3.0 * unit.meter / unit.second) ** 2
    return np.sum(np.sqrt(energy)).to_base_units().magnitude


@case("pint", 25.0)
def temperature_of_units(celsius):
    import pint
    unit = pint.UnitRegistry()
    kelvin = unit.Quantity(celsius, unit.degC).to("kelvin")
    return (kelvin.to("degF").m - 32.0) * kelvin.m


@case("unyt", np.array([1.0, 2.5]))
def distance_of_unyt(x):
    import unyt
    way = unyt.unyt_array(x, "km")
    return np.sum((way / (2.0 * unyt.s)).to("m/s").value * np.array([1.0, 2.0]))


@case("unyt", 2.0)
def quantity_of_unyt(x):
    import unyt
    mass = x * unyt.kg
    return (mass * unyt.physical_constants.c**2).to("J").value * 1e-17


@case("unyt", np.array([0.4, 1.1, 0.7]))
def norm_of_unyt(x):
    import unyt
    position = unyt.unyt_array(x, "m")
    return np.sqrt((position**2).sum()).to("cm").value


@case("quantities", np.array([1.0, 2.5]))
def rescaled_quantity(x):
    import quantities as pq
    return np.sum((pq.Quantity(x, "m") / (2.0 * pq.s)).rescale("km/h").magnitude)


@case("quantities", 2.0)
def multiplied_quantity(x):
    import quantities as pq
    return float(((x * pq.m) ** 2 * (3.0 * pq.N)).simplified.magnitude)


@case("quantities", np.array([0.1, 0.5]))
def sine_of_quantity(x):
    import quantities as pq
    return np.sum(np.sin(pq.Quantity(x, "rad")).magnitude)


@case("opt_einsum", CUBE)
def contracted_tensors(x):
    import opt_einsum
    return np.sum(opt_einsum.contract("abc,abd,de->ce", x, x, np.arange(20.0).reshape(4, 5)))


@case("opt_einsum", MATRIX)
def contraction_by_path(a):
    import opt_einsum
    path, _ = opt_einsum.contract_path("ij,jk,kl->il", a, MATRIX, a, optimize="optimal")
    return np.sum(opt_einsum.contract("ij,jk,kl->il", a, MATRIX, a, optimize=path) ** 2)


@case("opt_einsum", MATRIX)
def contraction_expression(a):
    import opt_einsum
    expression = opt_einsum.contract_expression("ij,jk,ki->", (3, 3), (3, 3), (3, 3))
    return expression(a, MATRIX, a.T)


@case("einops", CUBE)
def reduced_picture(x):
    import einops
    return np.sum(einops.reduce(x, "a b (c d) -> a d", "mean", d=2) ** 2)


@case("einops", CUBE)
def rearranged_picture(x):
    import einops
    y = einops.rearrange(x, "a b c -> b (c a)")
    return np.sum(y * np.cos(np.arange(24.0)).reshape(3, 8) * y)


@case("einops", MATRIX)
def einsum_of_einops(a):
    import einops
    return np.sum(einops.einsum(a, a, "i j, j k -> i k") * np.arange(9.0).reshape(3, 3))


@case("xarray", MATRIX)
def mean_of_labels(x):
    import xarray as xr
    table = xr.DataArray(x, dims=("row", "column"), coords={"row": [0.0, 1.0, 2.0]})
    return ((table - table.mean("column")) ** 2).sum().item()


@case("xarray", MATRIX)
def product_of_labels(x):
    import xarray as xr
    table = xr.DataArray(x, dims=("row", "column"))
    weights = xr.DataArray([1.0, -2.0, 0.5], dims="column")
    return float(np.sin(table * weights).sel(row=[0, 2]).sum())


@case("xarray", np.array([0.5, 1.0, 2.0]))
def dataset_of_labels(x):
    import xarray as xr
    data = xr.Dataset({"a": ("t", x), "b": ("t", x**2)}, coords={"t": [0, 1, 2]})
    return float((data["a"] * data["b"].shift(t=1, fill_value=1.0)).sum())


@case("tensorly", CUBE)
def unfolded_tensor(x):
    import tensorly
    return np.sum(tensorly.unfold(x, 1) @ np.cos(np.arange(8.0)) * np.arange(3.0))


@case("tensorly", CUBE)
def mode_product(x):
    import tensorly.tenalg
    return tensorly.norm(tensorly.tenalg.mode_dot(x, MATRIX, mode=1), 2)


@case("tensorly", MATRIX)
def tensor_of_factors(a):
    import tensorly
    return np.sum(tensorly.cp_to_tensor((np.array([1.0, 2.0, 3.0]), [a, a + 1.0, MATRIX])) ** 2)


@case("opfunu", np.array([0.3, -0.7]))
def ackley_of_opfunu(x):
    from opfunu.name_based import Ackley01
    return Ackley01(ndim=2).evaluate(x)


@case("opfunu", np.array([0.3, -0.7, 1.2]))
def salomon_of_opfunu(x):
    from opfunu.name_based import Salomon
    return Salomon(ndim=3).evaluate(x)


@case("opfunu", np.array([0.3, -0.7]))
def griewank_of_opfunu(x):
    from opfunu.name_based import Griewank
    return Griewank(ndim=2).evaluate(x)


@case("skyfield", 0.4)
def place_on_earth(latitude):
    from skyfield.api import wgs84
    place = wgs84.latlon(latitude * 100.0, 11.0, elevation_m=500.0)
    return np.sum(place.itrs_xyz.km * np.array([1.0, 2.0, 3.0])) * 1e-3


@case("skyfield", 0.3)
def precession_of_skyfield(centuries):
    from skyfield.precessionlib import compute_precession
    matrix = compute_precession(2451545.0 + 36525.0 * centuries)
    return np.sum(matrix * np.arange(9.0).reshape(3, 3))


@case("skyfield", np.array([0.5, 0.3, 0.9]))
def spherical_of_skyfield(xyz):
    from skyfield.functions import to_spherical
    r, theta, phi = to_spherical(xyz)
    return r + 2.0 * theta + 3.0 * phi


@case("pygeomag", 47.6)
def magnetic_field(latitude):
    from pygeomag import GeoMag
    return GeoMag().calculate(glat=latitude, glon=-122.3, alt=0.5, time=2027.75).f * 1e-3


@case("pygeomag", 0.5)
def magnetic_declination(altitude):
    from pygeomag import GeoMag
    return GeoMag().calculate(glat=47.6, glon=-122.3, alt=altitude, time=2027.75).d


@case("pygeomag", 30.5)
def degrees_of_minutes(minutes):
    from pygeomag import degrees_minutes_to_decimal_degrees
    return degrees_minutes_to_decimal_degrees(12, minutes)


@case("hsluv", np.array([0.3, 0.6, 0.2]))
def hue_of_color(rgb):
    import hsluv
    h, s, light = hsluv.rgb_to_hsluv(tuple(rgb))
    return h + 2.0 * s + 3.0 * light


@case("hsluv", np.array([120.0, 60.0, 50.0]))
def color_of_hue(h):
    import hsluv
    r, g, b = hsluv.hsluv_to_rgb((h[0], h[1], h[2]))
    return r + 2.0 * g + 3.0 * b


@case("hsluv", np.array([0.3, 0.6, 0.2]))
def pastel_of_color(rgb):
    import hsluv
    h, s, light = hsluv.rgb_to_hpluv([rgb[0], rgb[1], rgb[2]])
    return h * 0.01 + s + light


@case("pyriemann", MATRIX)
def riemann_distance(a):
    from pyriemann.utils.distance import distance_riemann
    return distance_riemann(a @ a.T, np.eye(3))


@case("pyriemann", MATRIX)
def logarithm_of_matrix(a):
    from pyriemann.utils.base import logm
    return np.sum(logm(a @ a.T) * np.arange(9.0).reshape(3, 3))


@case("pyriemann", MATRIX)
def mean_of_matrices(a):
    from pyriemann.utils.mean import mean_logeuclid
    return np.sum(mean_logeuclid(np.stack([a @ a.T, MATRIX, np.eye(3)])) ** 2)


@case("skfem", 0.8)
def poisson_energy(scale):
    import skfem
    from skfem.models.poisson import laplace, unit_load
    basis = skfem.Basis(skfem.MeshTri().refined(2).scaled(scale), skfem.ElementTriP1())
    stiffness, load = laplace.assemble(basis), unit_load.assemble(basis)
    x = skfem.solve(*skfem.condense(stiffness, load, D=basis.get_dofs()))
    return load @ x


@case("skfem", 0.8)
def mass_of_mesh(scale):
    import skfem
    mesh = skfem.MeshTri().refined(1).scaled(scale)
    basis = skfem.Basis(mesh, skfem.ElementTriP1())

    @skfem.LinearForm
    def load(v, w):
        return w.x[0] ** 2 * v

    return np.sum(load.assemble(basis))


@case("skfem", np.linspace(0.0, 1.0, 9) ** 2)
def functional_of_field(u):
    import skfem
    basis = skfem.Basis(skfem.MeshTri().refined(1), skfem.ElementTriP1())

    @skfem.Functional
    def energy(w):
        return w["u"] ** 2 + w["u"].grad[0] ** 2

    return energy.assemble(basis, u=basis.interpolate(u))


@case("allantools", SIGNAL)
def allan_deviation(x):
    import allantools
    _, deviations, _, _ = allantools.oadev(x, rate=1.0, data_type="phase", taus=[1, 2, 4])
    return np.sum(deviations)


@case("allantools", SIGNAL)
def time_deviation(x):
    import allantools
    _, deviations, _, _ = allantools.tdev(x, rate=1.0, data_type="phase", taus=[1, 2, 4])
    return np.sum(deviations)


@case("allantools", SIGNAL)
def phase_of_frequency(x):
    import allantools
    return np.sum(allantools.frequency2phase(x, 2.0) ** 2)

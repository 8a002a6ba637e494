"""scipy.interpolate: rules for its compiled evaluation, fitting and lookup functions.

    basis           B-splines and piecewise polynomials as NumPy programs
    piecewise       PPoly, BPoly and classes built on them
    splines         BSpline and fits of it
    native_fitpack  one interface to FITPACK in several releases of SciPy
    smoothing       smoothing splines for a given sum of squared residuals
    surfaces        the same for data on a grid
    cross_validation  the smoothness that make_smoothing_spline chooses
    fitpack         splrep, splev and the classes over FITPACK
    patches         surfaces through scattered points
    sphere          surfaces over a sphere
    grids           interpolation on grids
    scattered       interpolation of scattered points
    cubic           cubic polynomials in triangles

SciPy's Python code takes part as the user's does. The interval that contains a point is locally
constant; the value, and its derivatives with respect to data, points and knots, are those of the
formula there.
"""

from importlib import import_module

from scipy import interpolate

from ..solving.serving import by_values

FAMILIES = (
    "piecewise", "splines", "fitpack", "patches", "sphere", "grids", "scattered", "cubic",
    "cross_validation",
)  # fmt: skip

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

by_values(
    interpolate.BSpline.design_matrix.__func__,
    interpolate.BSpline.insert_knot,
    interpolate.NdBSpline.design_matrix.__func__,
    interpolate.griddata, interpolate.interpn, interpolate.interp1d,
    interpolate.LinearNDInterpolator, interpolate.CloughTocher2DInterpolator,
    interpolate.NearestNDInterpolator, interpolate.RegularGridInterpolator,
    interpolate.RegularGridInterpolator.__call__, interpolate.BarycentricInterpolator.__call__,
    interpolate.RBFInterpolator, interpolate.RBFInterpolator.__call__,
    interpolate.make_interp_spline, interpolate.make_lsq_spline, interpolate.make_smoothing_spline,
    interpolate.AAA, interpolate.FloaterHormannInterpolator,
    interpolate.sproot, interpolate.PPoly.roots, interpolate.PPoly.solve,
    interpolate.UnivariateSpline, interpolate.InterpolatedUnivariateSpline,
    interpolate.LSQUnivariateSpline, interpolate.RectBivariateSpline,
    interpolate.SmoothBivariateSpline, interpolate.LSQBivariateSpline,
    interpolate.LSQSphereBivariateSpline, interpolate.SmoothSphereBivariateSpline,
    interpolate.RectSphereBivariateSpline,
)  # fmt: skip

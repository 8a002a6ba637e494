"""scipy.interpolate: what compiled code evaluates, fits and looks up.

    basis           B-splines and piecewise polynomials as NumPy programs
    piecewise       PPoly, BPoly and what is made of them
    splines         BSpline and fits of it
    native_fitpack  FITPACK of several releases in one form
    smoothing       splines as smooth as a sum of squares allows
    surfaces        the same of data on a grid
    fitpack         splrep, splev and the classes over FITPACK
    patches         surfaces through scattered points
    grids           interpolation on grids
    scattered       interpolation of scattered points
    cubic           cubics in triangles

SciPy's Python code takes part as the user's does. The interval in which a point lies is constant;
the value, and its derivatives with respect to data, points and knots, are those of the formula
there.
"""

from importlib import import_module

FAMILIES = ("piecewise", "splines", "fitpack", "patches", "grids", "scattered", "cubic")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

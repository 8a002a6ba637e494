"""scipy.interpolate: what compiled code evaluates, fits and looks up.

    basis           B-splines and polynomials in pieces as NumPy programs
    piecewise       PPoly, BPoly and what is made of them
    splines         BSpline and fits of it
    fitpack         splrep, splev and the classes over FITPACK
    grids           interpolation on grids
    scattered       interpolation of scattered points
    cubic           cubics in triangles

SciPy's Python code takes part as the user's does. In which interval a point lies is constant; the
value, and the derivative by data, points and knots, are those of the formula there.
"""

from importlib import import_module

FAMILIES = ("piecewise", "splines", "fitpack", "grids", "scattered", "cubic")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

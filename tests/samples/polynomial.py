"""Polynomials with the lowest power first."""

import numpy as np

from pullback.testing import ErrorSample, Sample
from tests.samples import served

random = np.random.default_rng(31)
P = np.polynomial.polynomial


def real(*shape, dtype=float):
    return random.uniform(0.5, 1.5, shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def of(name, *args, smooth=True, **kwargs):
    """A sample of a function of numpy.polynomial.polynomial."""
    return Sample(served(getattr(P, name)), args, kwargs, smooth)


# Roots that lie apart, and their polynomial.
C = P.polyfromroots([-1.2, 0.4, 1.5, 2.6])

SAMPLES = [
    of("polyval", 0.7, real(4)),
    of("polyval", real(3), real(4)),
    of("polyval", real(2, 2), real(3, 2)),
    of("polyval", real(2), real(3, 2), tensor=False),
    of("polyval", [0.5, 2.0], real(3)),
    of("polyval", real(3), [1, 2, 3]),
    of("polyval", cplx(2), real(3)),
    of("polyval", real(2, dtype=np.float32), real(3, dtype=np.float32)),
    of("polyval", 2, real(3, dtype=np.float32)),
    of("polyval", real(0), real(3)),
    of("polyval", real(6)[::-2], real(1)),
    of("polyval2d", real(3), real(3), real(2, 3)),
    of("polyval2d", 0.5, 1.5, real(2, 3)),
    of("polyval3d", real(2), real(2), real(2), real(2, 3, 2)),
    of("polygrid2d", real(2), real(3), real(2, 3)),
    of("polygrid3d", real(2), real(3), real(2), real(2, 2, 2)),
    of("polyvalfromroots", real(3) + 2, real(4)),
    of("polyvalfromroots", 2.5, real(4)),
    of("polyvalfromroots", real(2) + 2, real(3, 2), tensor=False),
    of("polyvalfromroots", real(2), [1, 2]),
    of("polyvander", real(3), 3),
    of("polyvander", 0.5, 2),
    of("polyvander", cplx(2, 2), 1),
    of("polyvander", real(2), 0),
    of("polyvander2d", real(2), real(2), [1, 2]),
    of("polyvander2d", 0.5, 1.5, [1, 2]),
    of("polyvander3d", real(2), real(2), real(2), (1, 0, 2)),
    of("polyline", 0.5, 2.0),
    of("polytrim", np.array([1.0, 0.5, 1e-3, -1e-4]), tol=1e-2),
    of("polytrim", real(3)),
    of("polyadd", real(3), real(2)),
    of("polyadd", real(2), cplx(4)),
    of("polyadd", [0.5, 1.0], [1, 2, 3]),
    of("polyadd", real(3), 1.5),
    of("polysub", real(3), real(2, dtype=np.float32)),
    of("polysub", real(2), real(4)),
    of("polymulx", real(3)),
    of("polymul", real(3), real(2)),
    of("polymul", cplx(2), real(4)),
    of("polymul", [1, 2], real(2)),
    of("polydiv", real(5), real(3)),
    of("polydiv", real(2), real(3)),
    of("polydiv", real(3), real(1)),
    of("polydiv", cplx(4), real(2)),
    of("polypow", real(3), 3),
    of("polypow", real(3), 1),
    of("polypow", real(3), 0),
    of("polypow", real(2), 2, maxpower=4),
    of("polyder", real(4)),
    of("polyder", real(4), 2, 1.5),
    of("polyder", real(2, 4), scl=0.5, axis=1),
    of("polyder", real(2), 3),
    of("polyder", cplx(3), 0),
    of("polyint", real(3)),
    of("polyint", real(3), 2, [0.5, 2.0], 0.5, 1.5),
    of("polyint", real(3), k=0.5, lbnd=-1.0),
    of("polyint", real(2, 3), 2, k=[1, 2], axis=1),
    of("polyint", real(3, dtype=np.float32), scl=2),
    of("polyint", real(1)),
    of("polyint", real(3), 0),
    of("polyroots", C),
    of("polyroots", np.array([1.0, 0.5, 2.0])),
    of("polyroots", cplx(4)),
    of("polyroots", real(2)),
    of("polyroots", real(1)),
    of("polyroots", np.array([0.0, 2.0, 1.0])),
    of("polyroots", C.astype(np.float32)),
    of("polyfromroots", np.array([0.5, -1.0, 2.0, 1.2, 0.7])),
    of("polyfromroots", cplx(2)),
    of("polyfromroots", [0.5, 2.0]),
    of("polycompanion", real(4)),
    of("polycompanion", cplx(2)),
]  # fmt: skip

# Zeros at the end of a polynomial are cut off, and the examples of a batch may differ in theirs.
UNMAPPED = [
    of("polyline", 0.5, 0.0, smooth=False),
    of("polytrim", np.array([0.0, 0.0]), smooth=False),
    of("polytrim", np.array([1.0, 0.0, 2.0, 0.0]), smooth=False),
    of("polyadd", np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, -3.0]), smooth=False),
    of("polyadd", np.array([1.0, 0.0]), np.array([2.0]), smooth=False),
    of("polysub", np.array([1.0, 3.0]), np.array([1.0, 3.0]), smooth=False),
    of("polymulx", np.array([0.0]), smooth=False),
    of("polyint", np.array([0.0]), k=0.5, smooth=False),
    of("polyroots", np.array([1.0, 2.0, 0.0]), smooth=False),
]  # fmt: skip


def error(name, *args, raises=ValueError, match="", **kwargs):
    return ErrorSample(served(getattr(P, name)), args, kwargs, raises, match)


ERRORS = [
    error("polyval2d", real(2), real(3), real(2, 2), match="x, y are incompatible"),
    error("polyval3d", real(2), real(2), real(3), real(2, 2, 2), match="x, y, z are incompatible"),
    error("polyvalfromroots", real(2), real(2), tensor=False, match=r"x\.ndim must be"),
    error("polyvander", real(2), 1.5, raises=TypeError, match="must be an integer"),
    error("polyvander", real(2), -1, match="non-negative"),
    error("polyvander2d", real(2), real(2), [1], match="dimensions of degrees"),
    error("polyadd", real(2, 2), real(2), match="not 1-d"),
    error("polyadd", real(0), real(2), match="is empty"),
    error("polytrim", real(2), tol=-1, match="non-negative"),
    error("polydiv", real(2), np.array([0.0]), raises=ZeroDivisionError, match="divide by 0"),
    error("polypow", real(2), 1.5, match="non-negative integer"),
    error("polypow", real(2), 5, maxpower=4, match="too large"),
    error("polyder", real(2), -1, match="non-negative"),
    error("polyder", real(2), 1, 1j, raises=TypeError, match="cannot be scaled"),
    error("polyder", real(2), axis=0.5, raises=TypeError, match="the axis must be an integer"),
    error("polyint", real(2), 1, [1, 2], match="Too many"),
    error("polyint", real(2), lbnd=[1.0], match="lbnd must be a scalar"),
    error("polyint", real(2), scl=[1.0], match="scl must be a scalar"),
    error("polycompanion", real(1), match="maximum degree"),
]

if hasattr(P, "polyvalnd"):  # NumPy 2.5
    SAMPLES += [
        of("polyvalnd", (real(3), real(3)), real(2, 3)),
        of("polyvalnd", [0.5, 1.5, 0.7, 1.1], real(2, 3, 2, 2)),
        of("polyvalnd", real(2, 3), real(2, 2, 2)),
        of("polyvalnd", (real(2),), real(3)),
    ]
    ERRORS += [
        error("polyvalnd", (real(2), real(3)), real(2, 2), match="x, y are incompatible"),
        error("polyvalnd", (real(2),) * 3 + (1.0,), real(2, 2, 2, 2), match="ordinates"),
    ]

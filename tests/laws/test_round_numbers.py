"""Derivatives of SciPy's functions are right where arguments are 0, 1/2, 1, -1 or 2, or equal.

Code often answers early there (`if a[0] != 1: b = b / a[0]`), by less than its formula, and the
derivative of what it leaves out is lost.
"""

import copy
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.tree import flatten, unflatten
from tests.laws.common import KINKS, groups
from tests.together import try_all

ROUND = [0.0, 0.5, 1.0, -1.0, 2.0]
STEP = 1e-4
MODES = "forward", "reverse", "mapped"
SHARE = 40
# Functions by what is said of them: differences are no guide to their derivatives there.
OTHERWISE = {
    "scipy_signal-iircomb": "a pole of the tangent",
    "scipy_stats-levy_stable.cdf": "SciPy rounds x near 0",
    "scipy_stats-levy_stable.pdf": "SciPy rounds x near 0",
    "special_functions-riccati_yn": "SciPy's recurrence overflows below 0",
    "special_functions-special.nctdtrinc": "SciPy's search ends at its bound",
}
# Of some numbers, SciPy's compiled code reads or writes beyond its memory.
CRASHING = ("scipy_signal-sepfir2d", "scipy_ndimage-affine", "scipy_ndimage-geometric")


def is_real(x):
    return isinstance(x, (np.ndarray, np.floating, float)) and np.asarray(x).dtype == float


def weighed(out):
    """One number of all real numbers of a result, and their shapes."""
    total, shapes = 0.0, []
    for k, x in enumerate(flatten([out])[0]):
        number = isinstance(x, (np.ndarray, np.generic, float, pb.Array))
        if number and np.dtype(getattr(x, "dtype", float)).kind == "f":
            weights = np.cos(np.arange(float(np.size(x))) + k).reshape(np.shape(x))
            total = total + np.sum(weights * x)
            shapes.append(np.shape(x))
    return total, shapes


def starts(sample):
    """(what is said of it, which leaf, round numbers in its place) for each real argument."""
    leaves = flatten(sample.args)[0]
    places = [i for i, x in enumerate(leaves) if is_real(x) and np.size(x)]
    for i in places:
        shape = np.shape(leaves[i])
        equal = [leaves[j] for j in places if j != i and np.shape(leaves[j]) == shape]
        for start in [*[np.full(shape, v) for v in ROUND], *equal]:
            yield f"argument {i} at {start}", i, np.asarray(start)


def along(sample, i, start, direction, listed=False):
    """A function of one number, t: leaf i is start + t * direction, or a list of its numbers."""
    leaves, structure = flatten(sample.args)

    def f(t):
        moved = start + t * direction
        given = [copy.deepcopy(y) for y in leaves]
        given[i] = [moved[k] for k in range(start.size)] if listed else moved
        return weighed(sample.fun(*unflatten(structure, given), **sample.kwargs))

    return f


def slope(f):
    """The slope at 0 by differences; None where it isn't smooth there."""
    values, shapes = zip(*[f(k * STEP) for k in (-4, -2, -1, 0, 1, 2, 4)], strict=True)
    if not np.all(np.isfinite(values)) or any(shape != shapes[0] for shape in shapes):
        return None
    a, b, c, middle, d, e, g = map(float, values)
    wide, narrow, nearest = (g - a) / 8, (e - b) / 4, (d - c) / 2
    size = (abs(narrow) + STEP * max(map(abs, values))) / STEP + 1e-3
    bend = abs(d - 2 * middle + c) / STEP
    even = abs(narrow - nearest) / STEP < 1e-4 * size and abs(wide - narrow) / STEP < 1e-3 * size
    return nearest / STEP if even and bend < 0.02 * size else None


def found(f, mode):
    """The derivative by one mode; None where it is refused, warned of, or no number."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            if mode == "forward":
                out = float(pb.jvp(lambda t: f(t)[0], (0.0,), (1.0,))[1])
            elif mode == "mapped":
                out = float(pb.vmap(pb.grad(lambda t: f(t)[0]))(np.zeros(2))[1])
            else:
                out = float(pb.grad(lambda t: f(t)[0])(0.0))
        except Exception:
            return None
    lost = any(issubclass(w.category, pb.LostDerivativeWarning) for w in heard)
    return None if lost or not np.isfinite(out) else out


def is_linear(sample, i, start, directions, listed):
    """Whether slopes add up, as they don't at a kink that a direction passes straight through."""
    slopes = [slope(along(sample, i, start, d, listed)) for d in (*directions, sum(directions))]
    return None not in slopes and abs(slopes[0] + slopes[1] - slopes[2]) < 1e-4 * (
        1 + sum(map(abs, slopes))
    )


def check_round_numbers(sample):
    for text, i, start in starts(sample):
        waves = np.cos(np.arange(float(start.size)) + 1).reshape(start.shape)
        other = np.sin(3 * np.arange(float(start.size)) + 1).reshape(start.shape)
        for listed in (False, True) if start.ndim == 1 else (False,):
            f = along(sample, i, start, waves, listed)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of odd numbers
                    right = slope(f)
            except Exception:
                continue
            for mode in () if right is None else ["reverse"] if listed else MODES:
                got = found(f, mode)
                if got is not None and abs(got - right) > 2e-3 * (abs(right) + 1):
                    smooth = is_linear(sample, i, start, (waves, other), listed)
                    assert not smooth, (text, listed, mode, got, right)


SAMPLES = {
    name: [sample for _, sample in pairs]
    for name, pairs in groups().items()
    if name.startswith(("scipy", "special"))
    and not name.startswith(CRASHING)
    and name not in OTHERWISE
}


# SciPy's compiled `qr_insert` and `qr_delete` divide by 0 and report it at the side.
@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
@KINKS
@pytest.mark.share(SHARE)
@pytest.mark.parametrize("name", SAMPLES)
def test_round_numbers(name):
    with np.errstate(all="ignore"), pb.rebinding(False):
        try_all(check_round_numbers, [(str(x), (x,)) for x in SAMPLES[name]])

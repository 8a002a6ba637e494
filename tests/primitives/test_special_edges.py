"""Functions of `scipy.special` say where they have kinks, jumps, infinite slopes and poles.

Each is followed along lines, with its other operands held. Where its value or its slope jumps, or
grows without bounds, one of the numbers that it declares is 0.
"""

import itertools
from functools import partial

import numpy as np
import pytest
from scipy import special

import pullback as pb
from pullback.core.primitive import Primitive
from pullback.core.registry import FUNCTIONS, UFUNCS

LINE = np.concatenate([np.linspace(-4.61, 4.63, 190), np.linspace(-0.13, 1.17, 60)])
LINE.sort()
OTHERS = {0: [()], 1: [(x,) for x in (-1.3, 0.0, 0.4, 1.0, 2.5)]}
OTHERS[2] = [
    *itertools.product((0.4, 2.5), repeat=2),
    (-1.3, 0.4),
    (0.4, -1.3),
    (0.0, 0.4),
    (1.0, 0.3),
]
OTHERS[3] = list(itertools.product((0.4, 1.5), repeat=3))
# Inverses for a parameter, which isn't monotonous or is searched for between bounds of its own.
SEARCHED = {
    "fdtridfd",
    "ncfdtridfd",
    "ncfdtridfn",
    "ncfdtrinc",
    "nctdtridf",
    "nctdtrinc",
    "nbdtrin",
}
# Where SciPy's own values are rough, which is no edge: by operand, the others, and place.
ROUGH = {
    "fdtri": lambda k, others, at: at < 0.01,
    "nctdtrit": lambda k, others, at: at < 0.01,
    "ncfdtri": lambda k, others, at: True,
    "hyperu": lambda k, others, at: others[0] == 0,
    "eval_genlaguerre": lambda k, others, at: at == -1,
    "nbdtrik": lambda k, others, at: others[0] == 0,
    "voigt_profile": lambda k, others, at: at < 0 or min(others) < 0,
}
STEPS = np.array([1e-9, 1e-7, 1e-5])


def functions():
    assert pb.scipy.special.gamma  # which loads all families
    found = {}
    for name in dir(special):
        f = getattr(special, name)
        if isinstance(f, np.ufunc) and f.nout == 1:
            primitive = UFUNCS[f] or FUNCTIONS[f]
            if isinstance(primitive, Primitive) and not (primitive.steps or primitive.constant):
                found[name] = f, primitive
    return found


def one_sided(f, at, side):
    """Values beside a place, and slopes there; both at three distances."""
    steps = side * STEPS * max(1.0, abs(at))
    values = f(at + steps)
    return values, (values - f(at + steps / 2)) / (steps / 2)


def grows(x):
    """Whether numbers at these distances have no limit."""
    near, far = abs(x[0] - x[1]), abs(x[1] - x[2])
    return bool(near > 0.5 * far and near > 2e-3 * (1 + abs(x[2])))


def is_singular(f, at):
    (low, below), (high, above) = [one_sided(f, at, side) for side in (-1, 1)]
    sides = [s for s in (below, above) if np.all(np.isfinite(s))]
    if any(map(grows, sides)):
        return True
    if len(sides) < 2:
        return False
    noise = 1e-15 * abs(high[1]) / STEPS[1]
    jumps = abs(high[1] - low[1]) > 1e-4 * (1 + abs(low[1])) + 1e-6 * abs(above[1])
    return bool(jumps or abs(above[1] - below[1]) > 0.01 * (1 + abs(above[1])) + 10 * noise)


def candidates(f):
    """Ends of where it is finite, and where it bends most."""
    y = f(LINE)
    finite = np.isfinite(y)
    for i in np.nonzero(finite[1:] != finite[:-1])[0][:6]:
        a, b = LINE[i], LINE[i + 1]
        for _ in range(53):
            middle = (a + b) / 2
            a, b = (middle, b) if np.isfinite(f(middle)) == finite[i] else (a, middle)
        yield a if finite[i] else b
    steps = np.diff(LINE)
    bend = np.abs(np.diff(np.diff(y) / steps))
    for i in np.argsort(-np.nan_to_num(bend, posinf=1e300))[:8]:
        a, b = LINE[i], LINE[i + 2]
        for _ in range(12):
            at = np.linspace(a, b, 17)
            size = np.nan_to_num(np.abs(np.diff(f(at), 2)), nan=0.0, posinf=1e300)
            j = int(np.argmax(size))
            a, b = at[j], at[j + 2]
        yield (a + b) / 2


def says(primitive, operands, at):
    """Whether a number that it declares is 0 there, or changes its sign."""
    for trait in ("edge", "pole", "surface"):
        number = getattr(primitive, trait)
        if number is None:
            continue
        values = [number(*operands(at + side)) for side in (-1e-4, 0.0, 1e-4)]
        if any(x is None for x in values):
            continue
        low, middle, high = map(float, values)
        if not np.isfinite(low * high) or low * high <= 0 or abs(middle) < 1e-3:
            return True
    return False


def silent_places(f, primitive):
    """(operand, the others, place) where it is singular, and declares nothing."""
    found = []
    for k in range(f.nin):
        if getattr(primitive.partials[k], "refused", False):
            continue
        for others in OTHERS[f.nin - 1]:
            operands = lambda x, k=k, others=others: (*others[:k], x, *others[k:])
            g = lambda x, operands=operands: f(*operands(x))
            with np.errstate(all="ignore"):
                try:
                    if g(LINE[:1]).dtype.kind != "f":
                        continue
                except TypeError:  # the operand is a count
                    continue
                places = filter(partial(is_singular, g), candidates(g))
                found += [
                    (k, others, round(float(at), 5))
                    for at in places
                    if not says(primitive, operands, at)
                ]
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")  # of counts
@pytest.mark.share(8)
@pytest.mark.parametrize("name", functions())
def test_they_say_where(name):
    rough = ROUGH.get(name, lambda *_: name in SEARCHED)
    assert not [place for place in silent_places(*functions()[name]) if not rough(*place)]


def test_the_law_finds_what_is_not_declared():
    """It is a test of the test: without declarations it fails for each of these."""
    bare = Primitive("bare")
    bare.partials = (None, None, None)
    for name in ("zetac", "stdtrit", "struve", "ellipe", "betainc", "hyp0f1", "expi", "ndtri"):
        assert silent_places(getattr(special, name), bare), name
    for name in ("erf", "expit", "i0", "j1", "exprel"):
        assert not silent_places(getattr(special, name), bare), name

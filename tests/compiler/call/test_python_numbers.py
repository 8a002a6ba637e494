"""Python's floats as arguments: one path stands for all of them, where results are the same."""

import copy
import functools

import numpy as np
import pytest
from scipy import integrate, stats

import pullback as pb

VALUES = (0.7, 0.75, 0.8, -0.3, 1.9)


def characteristic(x):
    """An integral of a characteristic function, written with Python's complex numbers."""
    f = lambda u: (np.exp((x * 1j * u - 0.3) ** 2 - u * u) / (1j * u)).real
    return integrate.quad(f, 0.1, 3.0)[0]


# By what Python does as NumPy does: one path for the first number, and one for all others.
ALIKE = {
    "an array of a number": lambda x: np.asarray(x) + np.array(x + 1.0),
    "which divides by zero": lambda x: np.asarray(x + 1.0) / 0.0,
    "a copy": np.copy,
    "an attribute of a module": lambda x: getattr(np, "sin")(x),  # noqa: B009  # as programs with other names do
    "an attribute that is not there": lambda x: hasattr(np, "softplus_") + x,
    "a law by its name": lambda x: getattr(stats, "norm")(0.1, x + 1).logpdf(0.3),  # noqa: B009  # as programs with other names do
    "a shape of a law": lambda x: stats.gamma(x + 2, scale=2.0).logsf(1.3),
    "complex products": lambda x: np.exp(x * 1j * 2.0 - (1 + 2j)),
    "complex powers": lambda x: np.ones(2) * (x + 0.5 - 1j) ** 3,
    "parts": lambda x: ((x + 2j) * (x - 1j)).real,
    "signs of zero": lambda x: np.ones(1) * -((x - 0.7) * 1j * 0.0),
    "an integral": characteristic,
}
# By what Python does otherwise, or says of its numbers alone.
UNLIKE = {
    "an attribute of the number": lambda x: getattr(x, "real") * 2.0,  # noqa: B009  # as programs with other names do
    "one that it lacks": lambda x: getattr(x, "size", 5) * x,
    "whether it has one": lambda x: float(hasattr(x, "shape")) + x,
    "asked by map": lambda x: sum(map(getattr, [x], ["real"])),
    "asked by a partial": lambda x: functools.partial(getattr, x)("ndim", 7) * x,
    "the copy of a float": lambda x: copy.copy(x * 2.0),
    "a complex result": lambda x: x * 1j,
    "complex quotients": lambda x: np.ones(1) * ((x + 1j) / (x - 2j)),
    "a complex size": lambda x: abs(x * 1j + x),
    "a complex square root": lambda x: np.ones(1) * (1j * x) ** 0.5,
}


def told(x):
    return [told(y) for y in x] if isinstance(x, (tuple, list)) else (type(x), str(x))


@pytest.mark.share(3)
@pytest.mark.parametrize("name", [*ALIKE, *UNLIKE])
def test_results_are_those_of_python(name):
    f = ALIKE.get(name) or UNLIKE[name]
    with np.errstate(all="ignore"):
        expected = [told(f(x)) for x in VALUES]
        fast = pb.compile(lambda x: f(x), wait=True)
        found = [told(fast(x)) for x in VALUES]
    assert found == expected
    if name in ALIKE:
        assert fast.refusal is None
        assert fast.cache_info().misses <= 3

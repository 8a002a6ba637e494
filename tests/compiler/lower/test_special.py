"""Functions of scipy.special in machine code give SciPy's values, special numbers included."""

import numpy as np
import scipy.special as sp

from pullback.core.registry import UFUNCS
from pullback.primitives.scipy_special import convenience, errors  # noqa: F401  # declare them
from tests.compiler.lower.test_kernels import compiled, registers  # noqa: F401  # a fixture

IN_LINE = [
    f for f, p in UFUNCS.items() if p is not None and p.lower and p.name.startswith("special.")
]
ULP = 16  # 1 - erf(x) and 0.5 * erfc(x) have the errors of erf and erfc, and of what is subtracted


def arguments():
    random = np.random.default_rng(3)
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.3, 0.65, 0.5, 26.642, 26.644, -745.2]
    spread = random.choice([-1.0, 1.0], 999) * 10.0 ** random.uniform(-300, 300, 999)
    x = np.concatenate([ends, np.linspace(-40, 40, 2001), random.uniform(0, 1, 999), spread])
    return x, random.permutation(x)


def test_values_are_those_of_scipy(registers):  # noqa: F811  # the fixture
    xs = arguments()
    with np.errstate(all="ignore"):
        results = compiled(lambda *xs: tuple([f(*xs[: f.nin]) for f in IN_LINE]), *xs)
    for f, out, right in zip(IN_LINE, *results, strict=True):
        known = np.isfinite(right)
        np.testing.assert_array_equal(out[~known], right[~known], f.__name__)
        out, right = out[known], right[known]
        sizes = [np.abs(x[known]) for x in xs[: f.nin]] if f.nin > 1 else []
        scale = np.max([np.abs(right), *sizes], axis=0)
        units = np.abs(out - right) / np.spacing(scale)
        assert np.max(units) <= ULP, (f.__name__, xs[0][known][np.argmax(units)], np.max(units))
        np.testing.assert_array_equal(np.signbit(out), np.signbit(right), f.__name__)


def test_other_precisions_are_computed_by_scipy():
    x = np.linspace(-9, 9, 99).astype(np.float32)
    (out,), (right,) = compiled(lambda x: (sp.expit(x),), x)
    np.testing.assert_array_equal(out, right)

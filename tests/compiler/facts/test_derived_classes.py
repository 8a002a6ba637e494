"""Objects whose classes derive from SciPy's: what SciPy's code calls of them is compared."""

import contextlib

import numpy as np
import pytest
from scipy import stats

import pullback as pb


class Law(stats.rv_continuous):
    factor = 1.0

    def _pdf(self, x, a):
        return self.factor * a * np.exp(-a * x)

    def _logpdf(self, x, a):
        return np.log(self._pdf(x, a))

    def _cdf(self, x, a):
        return -np.expm1(-a * x)


class Shifted(Law):
    def __init__(self, by, **options):
        super().__init__(**options)
        self.by = by

    def _logpdf(self, x, a):
        return np.log(a) - a * x + self.by


LAW, SHIFTED = Law(a=0.0, name="law"), Shifted(0.3, a=0.0, name="shifted")
FROZEN = LAW(1.4)
PROGRAMS = {
    "density": lambda s: LAW.pdf(0.7, s),
    "derived twice": lambda s: SHIFTED.logpdf(0.7, s),
    "frozen before": lambda s: FROZEN.pdf(s),
    "made in the call": lambda s: Law(a=0.0).pdf(0.7, s),
    "frozen in the call": lambda s: LAW(s).logpdf(0.7),
    "gradient": pb.grad(lambda s: LAW.logpdf(0.7, s)),
}


@contextlib.contextmanager
def set_to(owner, name, value):
    before = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        delattr(owner, name) if before is None else setattr(owner, name, before)


CHANGES = {
    "a method that SciPy calls": (Law, "_pdf", lambda self, x, a: 2 * a * np.exp(-a * x)),
    "what that method reads": (Law, "factor", 0.5),
    "a method that is inherited": (Shifted, "_logpdf", lambda self, x, a: np.log(2 * a) - a * x),
    "an attribute": (SHIFTED, "by", 0.9),
    "the end of the support": (LAW, "b", 0.5),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_changes_are_seen(name):
    program = PROGRAMS[name]
    fast = pb.compile(lambda s: program(s), wait=True)
    for change in (None, *CHANGES):
        with contextlib.nullcontext() if change is None else set_to(*CHANGES[change]):
            for s in (0.7, 0.8, 0.6):
                np.testing.assert_allclose(fast(s), program(s), rtol=1e-14, err_msg=str(change))
    assert fast.refusal is None

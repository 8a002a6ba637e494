"""Ordinary programs over SciPy, as they stand: values, gradients, and both compiled.

The files in `tests/scipy_programs` import NumPy and SciPy and know nothing of pullback.
"""

import importlib
import math
import pkgutil
import warnings
from functools import partial

import numpy as np
import pytest

import pullback as pb
from tests import scipy_programs
from tests.budgets import LONG, in_turn
from tests.scipy.references import disagreement, extrapolated, with_steps_held
from tests.test_programs import direction, paired
from tests.together import try_all

MODULES = [
    importlib.import_module(f"{scipy_programs.__name__}.{module.name}")
    for module in pkgutil.iter_modules(scipy_programs.__path__)
]
PROGRAMS, MORE = (
    {
        f"{module.__name__.rpartition('.')[2]}.{fun.__name__}": (fun, args)
        for module in MODULES
        for fun, args in getattr(module, which, [])
    }
    for which in ("PROGRAMS", "MORE")
)
SELDOM = {
    f"{module.__name__.rpartition('.')[2]}.{fun.__name__}": (fun, args)
    for module in MODULES
    for fun, args in getattr(module, "SELDOM", [])
}
if LONG:
    MORE |= SELDOM
# What SciPy computes by iterations has the noise of their tolerance, and needs a wide step.
STEPS = (8e-3, 4e-3, 2e-3)
# Of seldom asked programs some have kinks nearby, and need a finer one: one of these has to agree.
FINER = (STEPS, (8e-4, 4e-4, 2e-4), (1e-4, 5e-5, 2.5e-5), (1e-5, 5e-6, 2.5e-6))
# What these say themselves to a minimiser, or SciPy's own search for a roughness, stops early, and
# differences see it; of the others `tests.scipy.references` tightens the tolerances.
STOPPED_AT = {
    "calibration.trust": 3e-5,
    "decisions.long_only": 3e-5,
    "models.frontier": 3e-5,
    "office.smoothing_choice": 2e-4,
    "office.table_lookup": 3e-5,
    "packages.growth_with_habits": 3e-3,
    "packages.two_stage_gmm": 1e-4,
    "parish.washout_margin": 3e-5,
}
# A fit through an integrator, whose own tolerance leaves its gradient accurate to this: compiled,
# it integrates other equations together (eager is off the closed form by 1.4e-8, this by 6e-9).
# A covariance by SciPy's own differences, and a statistic by the inverse of one, amplify last bits,
# and so do minima that stop at a tolerance, of data that machine code has computed.
ACCURATE_TO = {
    "dynamics.fitted_decay": 2e-8,
    "packages.beta_regression_mle": 3e-7,
    "packages.two_stage_gmm": 3e-7,
    "workshop.basquin": 2e-8,
}
# They compute with the places where steps of explicit methods end, which derivatives hold.
OF_STEPS = {"reactors.adaptive_by_hand"}


def numbers(out):
    """All that a program returns, in one vector."""
    parts = out if isinstance(out, (tuple, list)) else [out]
    return np.concatenate([np.ravel(np.asarray(part)) for part in parts])


class Case:
    """A program, and as a function of all its arguments to one number."""

    def __init__(self, name):
        self.fun, self.args = PROGRAMS.get(name) or MORE[name]
        self.plain = self.fun(*self.args)
        self.weights = weights_of(self.plain)
        self.total = total_of(self.fun, self.weights)
        self.grad = pb.grad(self.total, tuple(range(len(self.args))))


def parts_of(out):
    return out if isinstance(out, (tuple, list)) else [out]


def weights_of(out):
    """A weight for each number that a program returns, in arrays like its results."""
    weights, start = [], 1
    for part in parts_of(out):
        n = math.prod(np.shape(part))
        weights.append(np.cos(np.arange(start, start + n)).reshape(np.shape(part)))
        start += n
    return weights


def total_of(fun, weights):
    """The sum of all results with weights. It reaches the program alone, which is then compiled."""

    def total(*args):
        return sum([np.sum(w * x) for w, x in zip(weights, parts_of(fun(*args)), strict=True)])

    return total


def quietly(f, *args):
    """f(*args) where it may say that a compiled function falls back to Python."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*falls back to Python")
        return f(*args)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1.0 + 1e-4, 0.0])
def test_the_reference_tells_wrong_derivatives(wrong):
    """Those of a line of slope 1, with and without tight tolerances."""
    line = lambda t: 2.0 + t
    assert disagreement(1.0, line, lambda: 1.0) is None
    assert disagreement(wrong, line) is not None
    assert disagreement(wrong, line, lambda: wrong) is not None


def test_there_are_many():
    assert len(PROGRAMS) >= 230


def test_they_do_not_know_of_pullback():
    for module in MODULES:
        with open(module.__file__, encoding="utf-8") as file:
            assert "import pullback" not in file.read()


@pytest.mark.share(10)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    """Its value, its gradient by each argument, and in turns both compiled."""
    check(name, is_compiled=in_turn(name, 2))


@pytest.mark.share(8)
@pytest.mark.parametrize("module", sorted({name.partition(".")[0] for name in MORE}))
def test_more(module):
    names = [name for name in MORE if name.startswith(module)]
    try_all(partial(check, is_compiled=LONG), [(name, (name,)) for name in names])


def listed(which):
    return [pair for module in MODULES for pair in getattr(module, which, [])]


@pytest.mark.share(2)
@pytest.mark.parametrize(("fun", "args"), listed("UNDIFFERENCED"))
def test_undifferenced(fun, args):
    """Its value, and that both modes agree; compiled, it gives the same."""
    plain = fun(*args)
    total = total_of(fun, weights_of(plain))
    dots = tuple(direction(x, 0.4 + i) for i, x in enumerate(args))
    bars = pb.grad(total, tuple(range(len(args))))(*args)
    found, pushed = pb.jvp(total, args, dots)
    assert found == pytest.approx(total(*args), rel=1e-12)
    assert pushed == pytest.approx(paired(bars, dots), rel=1e-4)
    assert quietly(pb.compile(total), *args) == pytest.approx(total(*args), rel=1e-9)


@pytest.mark.parametrize(("fun", "args"), listed("REFUSED"))
def test_refused(fun, args):
    """Its value is SciPy's; its derivative raises, and says why."""
    plain = numbers(fun(*args))
    found, pullback = pb.vjp(fun, *args)
    np.testing.assert_array_equal(numbers(found), plain)
    total = total_of(fun, weights_of(found))
    compiled = partial(quietly, pb.compile(pb.grad(total)))
    ones = tuple(np.ones_like(x) for x in found)
    for again in (pb.grad(total), compiled, lambda *xs: pb.jvp(total, xs, xs)):
        with pytest.raises(pb.SolverError, match="the equations of a solution do not hold where"):
            again(*args)
    with pytest.raises(pb.SolverError, match="has no derivative"):
        pullback(ones)


def test_every_program_is_asked():
    """No list of pairs of a module has a name that no test asks for."""
    asked = {"PROGRAMS", "MORE", "SELDOM", "UNDIFFERENCED", "REFUSED"}
    for module in MODULES:
        lists = {name for name, x in vars(module).items() if type(x) is list and name.isupper()}
        pairs = {
            n for n in lists if any(type(x) is tuple and callable(x[0]) for x in vars(module)[n])
        }
        assert pairs <= asked, module.__name__


def check(name, is_compiled):
    case = Case(name)
    found, pullback = pb.vjp(case.fun, *case.args)
    np.testing.assert_allclose(numbers(found), numbers(case.plain), rtol=1e-12, atol=1e-13)
    single = not isinstance(found, (tuple, list))
    bars = pullback(case.weights[0] if single else type(found)(case.weights))
    check_gradient(name, case, bars)
    if is_compiled:
        check_compiled(name, case, bars)


def check_gradient(name, case, bars):
    """By each argument, against differences; the modes agree."""
    tolerance = STOPPED_AT.get(name, 3e-6)
    for i, (x, bar) in enumerate(zip(case.args, bars, strict=True)):
        dot = direction(x, 0.4 + i)

        def along(t, i=i, dot=dot):
            return case.total(*[y + t * dot if j == i else y for j, y in enumerate(case.args)])

        def again(i=i, dot=dot):
            return np.sum(case.grad(*case.args)[i] * dot)

        if name in OF_STEPS:
            along = with_steps_held(along)
        value = np.sum(bar * dot)
        scale = max(abs(value), 0.1 * np.max(np.abs(bar)), 1e-3)
        steps = FINER if name in SELDOM else FINER[:1]
        if not any(abs(extrapolated(along, step) - value) <= tolerance * scale for step in steps):
            size = max(1.0, np.mean(np.abs(x)))
            why = disagreement(value, along, again, scale, tolerance, size)
            assert why is None, f"argument {i}: {why}"
    dots = tuple(direction(x, 0.4 + i) for i, x in enumerate(case.args))
    _, pushed = pb.jvp(case.total, case.args, dots)
    value = paired(bars, dots)
    np.testing.assert_allclose(pushed, value, rtol=1e-8, atol=1e-10)


def check_compiled(name, case, bars):
    """Compiled, the value and the gradient are those of the eager program."""
    tolerance = ACCURATE_TO.get(name, 1e-9)
    for f, expected in ((case.total, [case.total(*case.args)]), (case.grad, bars)):
        fast = pb.compile(f)
        for _ in range(2):
            found = quietly(fast, *case.args)
            for x, y in zip(found if type(found) is tuple else [found], expected, strict=True):
                np.testing.assert_allclose(x, y, rtol=tolerance, atol=1e-11)


NEW = ("calibration", "functions", "inference", "survival")


@pytest.mark.share(10)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith(NEW)])
def test_batch(name):
    """Two examples at once have the gradients that each has by itself."""
    case = Case(name)
    dots = [direction(x, 0.4 + i) for i, x in enumerate(case.args)]
    other = [x + 0.01 * dot for x, dot in zip(case.args, dots, strict=True)]
    many = [np.stack(pair) for pair in zip(case.args, other, strict=True)]
    bars = pb.vmap(case.grad)(*many)
    for k, args in enumerate((case.args, other)):
        for bar, one in zip(bars, case.grad(*args), strict=True):
            np.testing.assert_allclose(bar[k], one, rtol=1e-7, atol=1e-9)


def test_compiling_asks_no_module_for_what_is_deprecated():
    """SciPy's old modules warn when they are asked for a name; a program that does not is quiet."""
    fun, args = PROGRAMS["models.final_size"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pb.compile(fun)(*args)
    assert not [w for w in caught if issubclass(w.category, DeprecationWarning)]

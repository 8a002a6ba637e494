"""compile(wait=True): where nothing is timed, functions that Python calls are counted instead."""

import sys
import warnings

import numpy as np
import pytest
import scipy
from scipy import spatial, special

import pullback as pb
from pullback.compiler.call import trial
from pullback.compiler.call.trial import Estimate, calls_in
from pullback.transforms.call import FunctionCall
from tests.budgets import in_turn
from tests.samples import collect, served

A, B = np.arange(12.0).reshape(4, 3) / 7, np.arange(15.0).reshape(5, 3) / 5
X = np.linspace(0.1, 0.9, 3)
FAMILIES = {"integration", "optimization", "special_functions"}
TURNS, CALLS = 90, 5_000


def runs_itself(fast):
    return "more functions in Python than it does" in fast.why()


@pytest.mark.parametrize(
    ("f", "args", "itself"),
    [
        (lambda a, b: spatial.distance.cdist(a, b), (A, B), True),
        (lambda x: special.logsumexp(x, b=[1.0, -2.0, 0.5], return_sign=True), (X,), True),
        (lambda a: scipy.linalg.sqrtm(a), (np.eye(2) + 0.5,), True),
        (lambda a: scipy.linalg.solve_circulant(a, a), (X,), True),
        (lambda a: scipy.linalg.qr_multiply(a, a.T)[0], (A,), True),
        (lambda a: scipy.linalg.norm(a, 2), (A,), False),
        (lambda a, b: np.sum(np.exp(-(spatial.distance.cdist(a, b) ** 2))) / 2, (A, B), False),
        (lambda a, b: work(spatial.distance.cdist(a, b)), (A, B), False),
        (lambda x: special.logsumexp(x), (X,), False),
        (lambda x: scipy.ndimage.correlate(x, X), (X,), False),
        (lambda a, b: spatial.distance.cdist(a, b), (np.tile(A, (99, 9)), np.tile(B, 9)), False),
        (lambda x: np.sin(x) * x, (X,), False),
    ],
)
def test_which_way_is_taken(f, args, itself):
    """It's said, the path stays, and results are the function's."""
    fast = pb.compile(f, wait=True)
    for k in range(6):
        for ours, plain in zip(np.atleast_1d(fast(*args)), np.atleast_1d(f(*args)), strict=True):
            np.testing.assert_allclose(ours, plain, rtol=1e-12)
        assert fast.cache_info()[:4] == (k, 1, 1, 1)
    assert runs_itself(fast) is itself


def work(x):
    for k in range(12):
        x = np.sin(x) * 0.9 + k
    return np.sum(x)


def test_nothing_runs_once_more_that_may_be_seen():
    """What stores isn't counted, nor what is counted by another profiler."""
    seen = []

    def stores(a, b):
        out = spatial.distance.cdist(a, b)
        seen.append(out[0, 0])
        return out

    fast = pb.compile(stores, wait=True)
    for _ in range(4):
        fast(A, B)
    assert len(seen) == 4
    assert not runs_itself(fast)
    fast, before = (
        pb.compile(lambda a, b: spatial.distance.cdist(a, b), wait=True),
        sys.getprofile(),
    )
    fast(A, B)
    try:
        sys.setprofile(lambda frame, event, about: None)
        fast(A, B)
    finally:
        sys.setprofile(before)
    fast(A, B)
    assert not runs_itself(fast)


def test_what_is_counted():
    """Functions of Python and of C, and the one that ends it; operators, and calls of ufuncs."""

    def called():
        return abs(-1)

    def calling():
        return called() + called()

    assert calls_in(calling) == (6, 1)
    assert calls_in(lambda: trial.MISS) is None
    assert calls_in(lambda: np.sin(X) * X[1:2] + scipy.linalg.norm(X)).operations == 4
    assert calls_in(lambda: work(X)).operations == np.inf


def small(path):
    """Whether functions that are called count: what SciPy's solvers call is counted by them."""
    if path.program is None:  # it hasn't been called again
        return False
    if any(isinstance(e.primitive, FunctionCall) for e in path.program.run.calls):
        return False
    return sum(trial.sizes(path.program.run.whole)) <= Estimate.SMALL


def programs():
    for family, sample in collect("SAMPLES"):
        ours = family.startswith("scipy") or family in FAMILIES
        if not ours or not in_turn(f"counted {family} {sample}", TURNS):
            continue
        fun, kwargs = sample.fun, sample.kwargs
        if isinstance(fun, served):
            original, program = fun.serves, fun.program
            fun = lambda *xs, f=original, p=program, **kw: (
                f(*xs, **kw) if p is None else p(f, *xs, **kw)
            )
        yield f"{family}: {sample}", lambda *xs, f=fun, kw=kwargs: f(*xs, **kw), sample.args


def test_small_calls_of_scipy_call_no_more_functions_than_the_function():
    """A law of all samples that concern SciPy: neither way is left where it can only lose."""
    wrong, asked = [], 0
    for name, f, args in programs():
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # samples are taken at odd places
            try:
                f(*args)  # what is asked for once is there
                plain = calls_in(lambda f=f, args=args: f(*args))
            except Exception:
                continue  # a sample of what is refused
            if plain.calls > CALLS:
                continue
            fast = pb.compile(f, wait=True)
            for _ in range(8):  # Python's numbers become inputs after some
                fast(*args)
            paths = [path for entry in fast.entries.values() for path in entry.paths]
            if fast.refusal is not None or not paths or not all(map(small, paths)):
                continue
            asked += 1
            if all(path.slow for path in paths):
                continue  # it runs itself, and calls what it calls
            made = calls_in(lambda fast=fast, args=args: fast(*args))
            done = sum(len(path.program.run.whole.equations) for path in paths)
            done = min(done, plain.operations)
            if made.calls > plain.calls + 5 + done * Estimate.CALL / Estimate.CALLED:
                wrong.append((name, plain, made, fast.why()))
    assert asked
    assert not wrong, "\n".join(map(str, wrong))

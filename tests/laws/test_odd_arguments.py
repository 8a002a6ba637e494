"""What NumPy and SciPy refuse is refused under a derivative; otherwise values are theirs.

Asked with odd keywords, and of SciPy's functions of matrices with odd flags and stacks of none.
"""

import inspect
import warnings

import numpy as np
import pytest
from scipy import linalg

import pullback as pb
from pullback.core.array import Array
from pullback.core.errors import PullbackError
from pullback.core.tree import flatten, unflatten
from pullback.testing import differentiable
from tests.budgets import in_turn
from tests.laws.common import groups
from tests.samples import plainly, served

KEYWORDS = {
    "axis": [
        99, -99, "a", 1.0, True, np.int64(0), np.array(0), np.array([0, 1]), [0], (0, 0), (0,), (),
        (True,), None,
    ],
    "keepdims": [True, 1, 0, 2, "x", None, np.True_, np.array(True)],
    "where": [True, None],
    "initial": [0.0, None, "a", 1],
    "order": ["F", "f", "Q", 3, None],
    "decimals": [1, 1.5],
    "ddof": [0, 1, 5, 0.5],
}  # fmt: skip
FAMILIES = {
    "reductions", "statistics", "nanfunctions", "cumulative", "joining", "sorting", "queries",
    "quantiles", "elementwise", "parts", "special", "linalg",
}  # fmt: skip
# What NumPy does with keywords that it passes on by chance.
OTHERWISE = {
    ("linspace", "axis"), ("logspace", "axis"), ("cov", "ddof"), ("corrcoef", "ddof"),
    ("prod", "initial"), ("sinc", "order"), ("pinv", "axis"),
}  # fmt: skip
REFUSALS = PullbackError, TypeError, ValueError


def call_of(sample, keyword, value):
    """The call as a function of its floating arguments, and these."""
    leaves, structure = flatten(list(sample.args))
    at = [i for i, x in enumerate(leaves) if differentiable(x)]

    def call(*xs):
        given = list(leaves)
        for i, x in zip(at, xs, strict=True):
            given[i] = x
        options = {**sample.kwargs, keyword: value}
        return flatten(sample.fun(*unflatten(structure, given), **options))[0]

    return call, [np.array(leaves[i])[()] for i in at]


def outcome(f):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        try:
            return f()
        except Exception as error:
            return error


def plain(x):
    """The value of an Array, and of those in an array of objects."""
    if type(x) is Array:
        return plain(x.numpy())
    if isinstance(x, np.ndarray) and x.dtype == object:
        out = np.empty(x.shape, object)
        for i, item in np.ndenumerate(x):
            out[i] = plain(item)
        return out
    return x


def traced(call, xs):
    found = []
    pb.vjp(lambda *xs: found.append(call(*xs)) or xs[0], *xs)
    return list(map(plain, found[0]))


def alike(a, b):
    """Whether results are equal; of other last bits `test_bits` asks."""
    a, b = np.asarray(a), np.asarray(b)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    tolerance = 1e3 * np.finfo(a.dtype).eps
    return np.allclose(a, b, tolerance, tolerance, equal_nan=True)


def compared(call, xs):
    """NumPy's error or None, ours, and whether the results are alike if there is neither."""
    with plainly():
        right = outcome(lambda: call(*xs))
    found = outcome(lambda: traced(call, xs))
    errors = [x if isinstance(x, Exception) else None for x in (right, found)]
    if errors != [None, None]:
        return *errors, True
    return *errors, len(found) == len(right) and all(map(alike, found, right))


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_keywords(keyword):
    answered, wrong, asked = [], [], 0
    for name, pairs in groups().items():
        family, sample = pairs[0]
        function = name.partition("-")[2]
        if family not in FAMILIES or (function, keyword) in OTHERWISE or sample.name:
            continue
        if keyword == "where" and family in ("elementwise", "parts", "special"):
            continue  # what is left out is undefined
        for value in KEYWORDS[keyword]:
            case = f"{name} {keyword}={value!r}"
            if not in_turn(case, 8 if keyword == "axis" else 3):
                continue
            call, xs = call_of(sample, keyword, value)
            if not xs:
                continue
            theirs, ours, equal = compared(call, xs)
            asked += 1
            if theirs is not None:
                answered += [case] if ours is None else []
            elif not equal or not (ours is None or isinstance(ours, REFUSALS)):
                wrong.append(case)
    assert not answered
    assert not wrong
    assert asked > 50


def test_results_of_nothing():
    """SciPy's shapes and errors where no argument of a function of matrices has a number."""
    none, square = np.zeros((0, 3, 3)), np.eye(3)
    calls = {
        "lu": (lambda a: linalg.lu(a), np.zeros((3, 0))),
        "solve_circulant": (lambda c: linalg.solve_circulant(c, np.zeros(0)), np.zeros(0)),
        "cho_solve": (lambda a: linalg.cho_solve((a, True), square), none),
        "lu_solve": (lambda a: linalg.lu_solve((a, np.zeros((0, 3), int)), square), none),
        "solve_banded": (lambda a: linalg.solve_banded((1, 1), a, square), none),
        "toeplitz": (lambda c: linalg.toeplitz(c), np.zeros((0, 3))),
        "solve_continuous_are": (lambda a: linalg.solve_continuous_are(a, a, a, square), none),
    }
    for name, (f, x) in calls.items():
        with plainly():
            right = outcome(lambda f=f, x=x: flatten(f(x))[0])
        found = outcome(lambda f=f, x=x: traced(lambda x: flatten(f(x))[0], [x]))
        if isinstance(right, Exception):
            assert str(found) == str(right), name
        else:
            assert len(found) == len(right), name
            assert all(map(alike, found, right)), name


FLAGS = ["a", "", 2, -1, 0.5, (0,), (), np.array([0, 1])]
# Of these SciPy refuses stacks of none by a function within; stacks of no results are given here.
NESTED = {
    "cho_solve", "cho_solve_banded", "lu_solve", "matmul_toeplitz", "solve_toeplitz",
    "solve_continuous_are", "solve_discrete_are", "solve_continuous_lyapunov",
    "solve_discrete_lyapunov", "solve_banded", "solveh_banded", "toeplitz", "convolution_matrix",
    "solve_sylvester", "solve_circulant", "ordqz",
}  # fmt: skip


def with_option(sample, keyword, value):
    """The sample's function with one more option."""
    fun, program = sample.fun, sample.fun.program or (lambda f, *args: f(*args))

    def called(f, *args, **kwargs):
        return program(lambda *xs, **given: f(*xs, **{**given, keyword: value}), *args, **kwargs)

    return type(fun)(fun.serves, called)


def odd_calls(name, sample):
    """(what is odd, the function, its arguments) of a function of matrices."""
    for key, parameter in inspect.signature(sample.fun.serves).parameters.items():
        if type(parameter.default) is bool and not key.startswith("overwrite"):
            for value in FLAGS:
                yield f"{key}={value!r}", with_option(sample, key, value), sample.args
    if name not in NESTED:
        for i, x in enumerate(sample.args):
            if isinstance(x, np.ndarray) and x.ndim:
                args = list(sample.args)
                args[i] = np.zeros((0, *x.shape), x.dtype)
                yield f"argument {i} is a stack of none", sample.fun, tuple(args)


def test_functions_of_matrices():
    answered, wrong, asked = [], [], 0
    for title, pairs in groups().items():
        family, sample = pairs[0]
        if family != "scipy_linalg" or not isinstance(sample.fun, served):
            continue
        for odd, fun, args in odd_calls(sample.fun.serves.__name__, sample):
            case = f"{title} {odd}"
            if not in_turn(case, 3):
                continue
            at = [i for i, x in enumerate(args) if differentiable(x)]

            def call(*xs, fun=fun, args=args, at=at):
                given = list(args)
                for i, x in zip(at, xs, strict=True):
                    given[i] = x
                return flatten(fun(*given))[0]

            xs = [np.array(args[i])[()] for i in at]
            with plainly():
                right = outcome(lambda call=call, xs=xs: call(*[x.copy() for x in xs]))
            found = outcome(lambda call=call, xs=xs: traced(call, xs))
            asked += 1
            if isinstance(found, Exception):
                continue
            if isinstance(right, Exception):
                answered.append(case)
            elif len(found) != len(right) or not all(map(alike, found, right)):
                wrong.append(case)
    assert not answered
    assert not wrong
    assert asked > 50

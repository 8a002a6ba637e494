"""`vmap` refuses what NumPy refuses of one example, by a kindred error.

A batch of rows looks like a matrix, and of mapped numbers one alone may be out of range.
"""

import numpy as np
import pytest
import scipy.linalg

import pullback as pb
from pullback.core.refusals import named
from tests.budgets import in_turn
from tests.laws.common import groups
from tests.laws.test_odd_calls import ANSWERED, ENDLESS, FAMILIES, OURS, PROMISED
from tests.odd_calls import odd_calls
from tests.samples import served

P = np.polynomial.polynomial
FOUR, SQUARE = np.arange(4.0), np.eye(3) + np.arange(9.0).reshape(3, 3) / 10
# A function of one example, one that it takes, and one that it refuses.
OF_NUMBERS = {
    "quantile": (lambda q: np.quantile(FOUR, q), 0.2, 1.5),
    "quantile below": (lambda q: np.quantile(FOUR, q), 0.2, -0.1),
    "nanquantile": (lambda q: np.nanquantile(FOUR, [0.5, q]), 0.2, np.nan),
    "percentile": (lambda q: np.percentile(FOUR, q), 20.0, 101.0),
    "nanpercentile": (lambda q: np.nanpercentile(FOUR, q), 20.0, -1.0),
    "weights of quantile": (
        lambda w: np.quantile(FOUR, 0.3, weights=w, method="inverted_cdf"),
        FOUR,
        -FOUR,
    ),
    "no weight": (
        lambda w: np.quantile(FOUR, 0.3, weights=w, method="inverted_cdf"),
        FOUR,
        0 * FOUR,
    ),
    "average": (lambda w: np.average(FOUR, weights=w), FOUR, 0 * FOUR),
    "fweights": (lambda w: np.cov(FOUR, fweights=w), np.arange(4), np.arange(-1, 3)),
    "aweights": (lambda w: np.cov(FOUR, aweights=w), FOUR, FOUR - 1),
    "edges": (lambda b: np.histogram(FOUR, b)[0], FOUR, FOUR[::-1]),
    "range": (lambda r: np.histogram(FOUR, 3, (0.0, r))[0], 2.0, -1.0),
    "infinite range": (lambda r: np.histogram(FOUR, 3, (0.0, r))[0], 2.0, np.inf),
    "period": (lambda p: np.interp(FOUR, FOUR, FOUR, period=p), 2.0, 0.0),
    "geomspace": (lambda x: np.geomspace(x, 2.0, 4), 1.0, 0.0),
    "polydiv": (lambda c: P.polydiv(FOUR + 1, c)[0], np.array([1.0, 2.0]), np.array([0.0, 0.0])),
    "digitize": (lambda b: np.digitize(FOUR, b), FOUR, np.array([1.0, 3.0, 2.0, 0.0])),
    "choose": (
        lambda i: np.choose(i, [FOUR, FOUR]),
        np.array([0, 1, 1, 0]),
        np.array([0, 5, 1, 0]),
    ),
    "take": (lambda i: np.take(FOUR, i), 1, 4),
    "index": (lambda i: FOUR[i], 1, -5),
    "unravel_index": (lambda i: np.unravel_index(i, (3, 3)), 1, 9),
    "inv": (np.linalg.inv, SQUARE, 0 * SQUARE),
    "solve": (lambda a: np.linalg.solve(a, FOUR[:3]), SQUARE, 0 * SQUARE),
    "cholesky": (np.linalg.cholesky, SQUARE + SQUARE.T + 5 * np.eye(3), -SQUARE),
    "eigvals": (np.linalg.eigvals, SQUARE, SQUARE * np.nan),
    "scipy's solve": (lambda a: scipy.linalg.solve(a, FOUR[:3]), SQUARE, 0 * SQUARE),
    "integer powers": (lambda n: 2**n, np.int64(1), np.int64(-1)),
}


def error_of(f, *args):
    try:
        with np.errstate(all="ignore"):
            f(*args)
    except Exception as error:
        return error
    return None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_that_one_example_may_not_have(name):
    f, good, bad = OF_NUMBERS[name]
    theirs = error_of(f, bad)
    assert theirs is not None or name == "no weight"  # NumPy before 2.4 divides by their sum
    kinds = pb.ArgumentError if theirs is None else (named(type(theirs)), *OURS)
    assert error_of(f, good) is None
    for each in ([bad, bad, bad], [good, bad, good], [bad]):
        assert isinstance(error_of(pb.vmap(f), np.stack(each)), kinds)


ONE_MATRIX = (
    "cholesky cond det eig eigh eigvals eigvalsh inv matrix_rank pinv qr slogdet svd svdvals"
).split()


@pytest.mark.parametrize("shape", [(), (1,), (2,), (3,)])
@pytest.mark.parametrize("name", ONE_MATRIX)
@pytest.mark.parametrize("n", [1, 3])
def test_a_batch_of_rows_is_no_matrix(name, shape, n):
    f = getattr(np.linalg, name)
    theirs = error_of(f, np.ones(shape))
    if theirs is not None:
        ours = error_of(pb.vmap(f), np.ones((n, *shape)))
        assert isinstance(ours, (named(type(theirs)), *OURS)), ours


# An example of a batch of numbers is an Array without axes, which can take a result as `out`.
OF_EXAMPLES = ANSWERED | ENDLESS | {("dot", "one more argument, 1.5")}


@pytest.mark.filterwarnings("ignore")  # NumPy's, of odd numbers
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_odd_calls_of_examples(family):
    """The calls of `test_odd_calls.py`, each of three equal examples."""
    answered, asked = [], 0
    for name, pairs in groups().items():
        sample, function = pairs[0][1], name.partition("-")[2]
        if pairs[0][0] != family or isinstance(sample.fun, served) or function in PROMISED:
            continue

        def chosen(what, name=name, function=function):
            return (function, what) not in OF_EXAMPLES and in_turn(f"mapped {name} {what}", 150)

        for what, call, xs in odd_calls(sample, chosen):
            asked += 1
            if xs and error_of(call, *xs) is not None:
                mapped = [np.stack([x, x, x]) for x in xs]
                answered += [] if error_of(pb.vmap(call), *mapped) else [f"{name} {what}"]
    assert not answered
    assert asked

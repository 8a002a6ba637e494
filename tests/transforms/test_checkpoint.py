"""checkpoint and stop_gradient: the same values, with less kept or no derivative."""

import math
import tracemalloc
from dataclasses import dataclass

import numpy as np
import optree
import pytest

import pullback as pb
from tests.agreement import agree
from tests.contexts import exact_type

X = np.array([0.5, -1.0, 2.0])
BATCH = np.stack([X, 2 * X, X - 0.3, -X])


@dataclass
class Point:
    x: object
    y: object


def bumpy(x):
    return np.sin(x) * np.exp(-x * x)


class TestCheckpoint:
    def test_all_modes_and_orders(self):
        agree(pb.checkpoint(bumpy), bumpy, X)
        agree(
            pb.checkpoint(lambda x, y: (x * y, [np.sum(x)])),
            lambda x, y: (x * y, [np.sum(x)]),
            X,
            2 * X,
        )
        g = lambda f: pb.grad(pb.grad(pb.grad(f)))(0.5)
        np.testing.assert_allclose(g(pb.checkpoint(bumpy)), g(bumpy), rtol=1e-12)

    def test_what_it_closes_over_takes_part(self):
        f = lambda w: pb.checkpoint(lambda x: w * x)(2 * w)
        assert pb.grad(f)(3.0) == 12.0
        assert pb.jvp(f, (3.0,), (1.0,)) == (18.0, 12.0)
        assert pb.grad(pb.grad(f))(3.0) == 4.0
        agree(f, lambda w: 2 * w * w, X)
        w = pb.array(3.0, requires_grad=True)
        f(w).backward()
        assert w.grad == 12.0

    def test_closures_two_deep(self):
        def f(w):
            inner = lambda v: pb.checkpoint(lambda x: w * x * v)(v + w)
            return pb.checkpoint(inner)(w * w)

        agree(f, lambda w: w * w**2 * (w**2 + w), X)

    def test_under_nested_transformations(self):
        """What the mapped argument does not reach is of the outer one."""
        rows = pb.vmap(lambda c: pb.vmap(lambda x: pb.checkpoint(lambda y: c * 2)(x))(X))
        np.testing.assert_array_equal(rows(np.array([1.0, 5.0])), [[2.0] * 3, [10.0] * 3])
        np.testing.assert_array_equal(rows(X), np.stack([2 * X] * 3, axis=1))
        both = pb.vmap(lambda c: pb.vmap(lambda x: pb.checkpoint(lambda y: (c * y, c))(x))(X))
        products, constants = both(np.array([1.0, 5.0]))
        np.testing.assert_array_equal(products, [X, 5 * X])
        np.testing.assert_array_equal(constants, [[1.0] * 3, [5.0] * 3])

    def test_checkpoints_within_checkpoints(self):
        nested = pb.checkpoint(lambda x: pb.checkpoint(bumpy)(pb.checkpoint(np.cos)(x)) * x)
        agree(nested, lambda x: bumpy(np.cos(x)) * x, X)
        deep = bumpy
        for _ in range(20):
            deep = pb.checkpoint(deep)
        np.testing.assert_allclose(pb.grad(deep)(0.3), pb.grad(bumpy)(0.3))

    def test_of_transformations(self):
        """A gradient inside, and checkpoints inside of what is transformed inside."""
        slope = lambda x: pb.grad(lambda y: np.sum(bumpy(y)))(x)
        agree(pb.checkpoint(slope), slope, X)
        agree(pb.checkpoint(pb.vmap(pb.checkpoint(bumpy))), bumpy, X)

    def test_the_function_is_called_once(self):
        """However often its derivatives are asked for."""
        calls = []

        def f(x):
            calls.append(1)
            return np.sum(bumpy(x))

        pb.grad(pb.checkpoint(f))(X)
        assert len(calls) == 1
        _, pullback = pb.vjp(pb.checkpoint(f), X)
        pullback(1.0), pullback(2.0)
        assert len(calls) == 2
        pb.grad(lambda x: np.sum(pb.grad(pb.checkpoint(f))(x)))(X)
        assert len(calls) == 3
        pb.vmap(pb.grad(pb.checkpoint(f)))(BATCH)
        assert len(calls) == 4

    def test_random_numbers_are_those_of_the_first_run(self):
        random, drawn = np.random.default_rng(3), []

        def dropout(x):
            drawn.append(random.random(3) < 0.5)
            return np.sum(np.where(drawn[-1], x * x, 0.0))

        gradient = pb.grad(pb.checkpoint(dropout))(X)
        np.testing.assert_array_equal(gradient, np.where(drawn[0], 2 * X, 0.0))
        assert len(drawn) == 1

    def test_decisions_are_those_of_the_first_run(self):
        counter = iter(range(10))

        def f(x):
            y = x
            for _ in range(next(counter) + 2):
                y = y * x if x > 0 else -y
            return y

        assert pb.grad(pb.checkpoint(f))(3.0) == 27.0  # x**3
        assert pb.grad(pb.checkpoint(f))(3.0) == 108.0  # x**4

    def test_it_keeps_less_memory(self):
        """Between forward and backward, only the arguments; in all, the longest piece."""

        def block(x):
            for _ in range(10):
                x = np.sin(x) + x * 0.5
            return x

        def chain(piece):
            def f(x):
                for _ in range(5):
                    x = piece(x)
                return np.sum(x)

            return f

        x, held, peak, gradients = np.linspace(0.0, 1.0, 20_000), [], [], []
        for f in (chain(block), chain(pb.checkpoint(block))):
            tracemalloc.start()
            pullback = pb.vjp(f, x)[1]
            held.append(tracemalloc.get_traced_memory()[0] / x.nbytes)
            gradients.append(pullback(1.0)[0])
            tracemalloc.stop()
            del pullback
            tracemalloc.start()
            pb.grad(f)(x)
            peak.append(tracemalloc.get_traced_memory()[1] / x.nbytes)
            tracemalloc.stop()
        np.testing.assert_allclose(*gradients, rtol=1e-13)
        assert held[0] > 45
        assert held[1] < 8
        assert peak[1] < 0.5 * peak[0]

    def test_plain_arguments_stay_plain(self):
        """What the function could do with them, it can do under checkpoint."""
        f = pb.checkpoint(lambda x, c, n: x * math.sqrt(c) * float(n))
        assert f(2.0, 4.0, 3) == 12.0
        assert pb.grad(f)(2.0, 4.0, 3) == 6.0
        x = X.astype(np.float32)
        assert pb.grad(lambda x: np.sum(pb.checkpoint(lambda x, c: x * c)(x, 2.0)))(x).dtype == "f4"
        assert pb.checkpoint(lambda x, c: x * c)(x, 2.0).dtype == np.float32

    def test_without_arrays_it_is_the_function(self):
        f = pb.checkpoint(lambda x: (x, x * 2, "name", None, 3, np.sin))
        assert f(2.0) == (2.0, 4.0, "name", None, 3, np.sin)
        out = pb.checkpoint(bumpy)(pb.array(X))
        assert exact_type(out) is pb.Array
        np.testing.assert_array_equal(np.asarray(out), bumpy(X))

    def test_results_of_all_kinds(self):
        """Numbers, indices and strings beside arrays, as they come without checkpoint."""

        def f(x):
            return np.sum(x), {"x": x, "i": np.argmax(x), "m": x > 0, "n": 3, "f": 0.5, "s": "name"}

        plain = pb.grad(f, has_aux=True)(X)
        again = pb.grad(pb.checkpoint(f), has_aux=True)(X)
        np.testing.assert_array_equal(again[0], plain[0])
        assert list(again[1]) == list(plain[1])
        for key, value in plain[1].items():
            assert type(again[1][key]) is type(value)
            np.testing.assert_array_equal(again[1][key], value)
        value, aux = pb.vmap(pb.checkpoint(f))(BATCH)
        np.testing.assert_array_equal(aux["i"], np.argmax(BATCH, axis=1))
        np.testing.assert_array_equal(aux["m"], BATCH > 0)

    def test_indices_into_plain_arrays(self):
        """Integers and truth values convert, as they do without checkpoint."""
        table = np.array([10.0, 20.0, 30.0])
        f = lambda x: np.sum(table[np.argsort(x)] * x + table[x > 0][0] * x) * table[np.argmax(x)]
        np.testing.assert_array_equal(pb.grad(pb.checkpoint(f))(X), pb.grad(f)(X))

    def test_a_number_is_not_detached(self):
        assert pb.grad(pb.checkpoint(lambda x: float(x) * x))(2.0) == 4.0
        with (
            pb.rebinding(False),
            pytest.raises(pb.ConversionError, match=r"`float\(x\)`.*of `checkpoint\(<lambda>\)`"),
        ):
            pb.grad(pb.checkpoint(lambda x: float(x) * x))(2.0)

    def test_integers_that_are_mapped(self):
        """Under `vmap`, an index is an operand without derivative."""
        f = pb.checkpoint(lambda x, i: np.take(x, i) ** 2)
        indices = np.array([2, 0])
        rows = pb.vmap(pb.grad(f), in_axes=(None, 0))(X, indices)
        np.testing.assert_array_equal(rows, [[0.0, 0.0, 4.0], [1.0, 0.0, 0.0]])
        total = lambda x: np.sum(pb.vmap(f, in_axes=(None, 0))(x, indices))
        np.testing.assert_array_equal(pb.grad(total)(X), [1.0, 0.0, 4.0])
        assert pb.jvp(total, (X,), (np.ones(3),)) == (4.25, 5.0)
        np.testing.assert_array_equal(pb.hessian(total)(X), np.diag([2.0, 0.0, 2.0]))

    def test_keywords(self):
        f = pb.checkpoint(lambda x, *, w=1.0: x * w)
        assert pb.grad(f)(2.0, w=3.0) == 3.0
        assert pb.grad(lambda w: f(2.0, w=w))(3.0) == 2.0

    def test_in_place_operators(self):
        def f(x):
            y = x * 1.0
            other = y
            y *= x
            return np.sum(other * x)

        np.testing.assert_array_equal(pb.grad(pb.checkpoint(f))(X), pb.grad(f)(X))

    def test_what_it_writes_into_has_no_cotangent_unless_it_is_used(self):
        def f(x):
            x **= 0.5
            return np.sum(np.where(x > 0, x, 0.0))

        with np.errstate(all="ignore"):
            got, expected = [pb.grad(g)(np.array([4.0, -1.0])) for g in (pb.checkpoint(f), f)]
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(got, [0.25, 0.0])

    def test_an_array_that_leaves_it(self):
        kept = []

        def f(x):
            pb.checkpoint(lambda y: kept.append(y) or y)(x)
            return kept[0] * 2.0

        assert pb.grad(f)(2.0) == 2.0
        assert type(kept[0]) is float

    def test_an_exception_passes_through(self):
        def broken(x):
            raise ZeroDivisionError("planted")

        with pytest.raises(ZeroDivisionError, match="planted"):
            pb.grad(pb.checkpoint(broken))(2.0)
        assert pb.grad(pb.checkpoint(np.sin))(0.0) == 1.0

    def test_it_looks_like_its_function(self):
        f = pb.checkpoint(bumpy)
        assert f.fun is f.__wrapped__ is bumpy
        assert f.__name__ == "bumpy"
        with pytest.raises(pb.ArgumentTypeError, match="`checkpoint` takes a function"):
            pb.checkpoint(3)


class TestStopGradient:
    def test_values_without_derivatives(self):
        assert pb.grad(lambda x: x * pb.stop_gradient(x))(3.0) == 3.0
        assert pb.jvp(lambda x: x * pb.stop_gradient(x), (3.0,), (1.0,)) == (9.0, 3.0)
        np.testing.assert_array_equal(pb.vmap(lambda x: pb.stop_gradient(x) * 2)(X), 2 * X)

    def test_in_all_older_transformations(self):
        """Nothing of any order is left, and what is mapped stays mapped."""
        f = lambda x: x * x * pb.stop_gradient(x)
        assert pb.grad(pb.grad(f))(3.0) == 6.0
        assert (
            pb.grad(lambda y: pb.grad(lambda x: x * pb.stop_gradient(y * x))(2.0) * y)(3.0) == 6.0
        )
        np.testing.assert_array_equal(pb.vmap(pb.grad(pb.grad(f)))(X), 2 * X)
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(pb.vmap(f)(x)))(X), 2 * X * X)

    def test_trees(self):
        tree = lambda x: {"a": [x, 2 * x], "s": "name", "n": None, "p": Point(x, 3)}

        def f(x):
            stopped = pb.stop_gradient(tree(x))
            assert (stopped["s"], stopped["n"], stopped["p"].y) == ("name", None, 3)
            assert type(stopped["p"]) is Point
            return x * stopped["a"][1] * stopped["p"].x

        assert pb.grad(f)(2.0) == 8.0

    def test_plain_values_pass_through(self):
        assert pb.stop_gradient(3.0) == 3.0
        assert pb.stop_gradient(X) is X
        assert pb.stop_gradient("name") == "name"

    def test_of_eager_arrays(self):
        x = pb.array(2.0, requires_grad=True)
        y = pb.stop_gradient(x * x)
        assert not y.requires_grad
        (x * y).backward()
        assert x.grad == 4.0

    def test_the_result_converts(self):
        assert pb.grad(lambda x: x * float(pb.stop_gradient(x)))(3.0) == 3.0


# Questions to numbers of Python's, whose answers are Python's as well; and what is done with them.
ANSWERS = ["v != 1.0", "v > w", "1 < v < 3", "int(v)", "sum([v > 1, v > 2])", "v // 1"]
ANSWERS += ["not v", "round(v)"]
USES = [
    "np.where(c, v, w)", "np.asarray(c) * v", "c * v", "np.add(c, c) * v", "float(c) * v", "c + c",
    "np.stack([np.array(c), np.array(c)]) * v", "np.zeros(2, type(c))[0] + v", "(c is True) * v",
    "np.isscalar(c) * v", "np.logical_and(c, v > w) * v", "np.clip(c, 0, 1) * v", "sum([c, c]) * v",
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_of_numbers_of_pythons(answer):
    """They are what they are without checkpoint, nested ones included."""
    for use in USES:

        def f(x, w, use=use):
            v, w = float(x), float(w)
            c = eval(answer, {"v": v, "w": w})
            return np.sum(eval(use, {"np": np, "c": c, "v": v, "w": w})) * v

        expected, slopes = f(2.5, 1.5), pb.grad(f, (0, 1))(2.5, 1.5)
        for g in (pb.checkpoint(f), pb.checkpoint(pb.checkpoint(f))):
            assert pb.value_and_grad(g, (0, 1))(2.5, 1.5) == (expected, slopes), use
            assert pb.jvp(g, (2.5, 1.5), (1.0, 0.0)) == (expected, slopes[0]), use


NUMBERS = [
    "float(a[0]) * 2", "a[0].item()", "round(float(a[0]))", "float(a[0]) > 2", "2 * x", "x > 1",
    "np.sum(a) > 7", "np.isnan(a[0])", "(a[1].item(), 2 * x)[1]", "inner(lambda a: a[0].item())(a)",
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_in_a_batch(number):
    """They are of the class that they have alone: Python's take the dtype of arrays."""

    def alone(a, x):
        return eval(number, {"np": np, "a": a, "x": x, "inner": pb.checkpoint})

    f = lambda a, x=0.5: pb.checkpoint(alone)(a, x) * a
    along = lambda f: lambda a: pb.jvp(f, (a,), (a,))[1]
    moved = lambda a: pb.jvp(lambda x: f(a, x), (0.5,), (1.0,))[0]
    summed = lambda f: lambda a: np.sum(f(a))
    stack = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    for one in (f, along(f), moved, pb.grad(summed(f))):
        expected = np.stack([one(a) for a in stack])
        for found in (pb.vmap(one)(stack), pb.vmap(pb.vmap(one))(stack[None])[0]):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    assert along(pb.vmap(f))(stack).dtype == pb.vmap(along(f))(stack).dtype
    np.testing.assert_array_equal(along(pb.vmap(f))(stack), pb.vmap(along(f))(stack))
    gradient = pb.grad(summed(pb.vmap(f)))(stack)
    np.testing.assert_array_equal(gradient, pb.vmap(pb.grad(summed(f)))(stack))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.ones(2) * x[0]),
        lambda x: (np.zeros(2) + x)[1],
        lambda x: np.ones(2, np.float32)[0],
        lambda x: {"a": np.array(2.0), "b": np.zeros(2)[:1]},
        lambda x: np.ones(2)[0] * 1j,
    ],
)
def test_constants_are_numpys_outside(f):
    """Numbers of arrays that the function made come out as NumPy's scalars."""
    x = np.array([0.3, 0.4])
    kinds = lambda tree: [(type(y), y.dtype, y.shape) for y in optree.tree_leaves(tree)]
    for g in (pb.checkpoint(f), pb.checkpoint(pb.checkpoint(f))):
        assert kinds(g(x)) == kinds(f(x))

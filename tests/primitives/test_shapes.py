"""Shapes, joins and creation: what the samples cannot say."""

import inspect
import itertools

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import ConversionError
from pullback.core.registry import CREATION, FUNCTIONS
from tests.growth import grows

MINE = {"shapes", "joining", "padding", "creation", "indexing", "positions"}
IMPLEMENTED = [
    (function, implementation)
    for function, implementation in FUNCTIONS.items()
    if implementation is not None and str(implementation.__module__).rsplit(".", 1)[-1] in MINE
]
X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("function", "implementation"), IMPLEMENTED, ids=[f.__name__ for f, _ in IMPLEMENTED]
)
def test_signatures(function, implementation):
    """Every function has the parameters of NumPy's."""
    if function in (np.reshape, np.astype) and np.lib.NumpyVersion(np.__version__) < "2.1.0":
        pytest.skip("NumPy 2.1 has given it new ones")
    try:
        theirs = inspect.signature(function).parameters.values()
    except ValueError:
        pytest.skip("this NumPy does not tell")
    ours = inspect.signature(implementation).parameters.values()
    assert [p.name for p in ours] == [p.name for p in theirs]
    if np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        assert [p.kind for p in ours] == [p.kind for p in theirs]


@pytest.mark.usefixtures("protocols_alone")
class TestLike:
    """`like=x` makes Arrays of the trace of x."""

    @pytest.mark.parametrize("function", CREATION, ids=lambda f: f.__name__)
    def test_all_that_numpy_dispatches(self, function):
        assert "like" in (function.__doc__ or "")

    def test_arrays_of_the_trace(self):
        """Floating results can be assigned into later; under vmap all are Arrays."""
        seen = []

        def f(x):
            for made in (
                np.zeros(2, like=x),
                np.ones((2, 2), like=x),
                np.full(3, 2.0, like=x),
                np.eye(2, like=x),
                np.array([1.0], like=x),
                np.asarray(1.0, like=x),
                np.arange(2.0, like=x),
            ):
                assert type(made) is pb.Array
                assert made.within is x.within
                seen.append(made.shape)
            return np.sum(x)

        pb.grad(f)(np.ones(2))
        pb.jvp(f, (np.ones(2),), (np.ones(2),))
        pb.vmap(f)(np.ones((3, 2)))
        assert seen[:7] == seen[7:14] == seen[14:] == [(2,), (2, 2), (3,), (2, 2), (1,), (), (2,)]

    def test_arange_between_arrays(self):
        """The number of elements comes from values, the elements carry derivatives."""
        g = pb.grad(lambda x: np.sum(np.arange(x, x + 2.5, x / x, like=x) ** 2))(1.0)
        assert g == 2 * (1 + 2 + 3)
        with pytest.raises(ConversionError, match="mapped"):
            pb.vmap(lambda n: np.arange(n, like=n))(np.array([2, 3]))

    def test_a_copy_is_another_array(self):
        def f(x):
            assert np.array(x, like=x) is not x
            assert np.copy(x) is not x
            assert x.astype(float) is not x
            assert np.asarray(x, like=x) is x
            return np.sum(x)

        pb.grad(f)(np.ones(2))


class TestMapped:
    """Integers that are mapped by vmap."""

    def test_roll(self):
        shifts = np.array([0, 1, -3])
        out = pb.vmap(lambda x, s: np.roll(x, s))(X, shifts)
        np.testing.assert_array_equal(out, [np.roll(x, s) for x, s in zip(X, shifts, strict=True)])
        out = pb.vmap(lambda s: np.roll(pb.array(X), (s, 1), axis=(0, 1)))(shifts)
        np.testing.assert_array_equal(out, [np.roll(X, (s, 1), axis=(0, 1)) for s in shifts])

    def test_take(self):
        index = np.array([[0, 3], [2, 2], [-1, 0]])
        for mode in ("raise", "wrap", "clip"):
            out = pb.vmap(lambda x, i, mode=mode: np.take(x, i, mode=mode))(X, index)
            np.testing.assert_array_equal(
                out, [np.take(x, i, mode=mode) for x, i in zip(X, index, strict=True)]
            )

    def test_take_along_axis(self):
        out = pb.vmap(lambda x: np.take_along_axis(x, np.argsort(-x), 0))(X)
        np.testing.assert_array_equal(out, X[:, ::-1])

    def test_positions(self):
        """Positions are found for each example, also among mapped grids."""
        for f in (
            lambda x: np.searchsorted(x, 2.5),
            lambda x: np.searchsorted(x, [2.5, x[1]], side="right"),
            lambda x: np.searchsorted([1.0, 5.0], x),
            lambda x: np.digitize([2.5, 6.0], x),
            lambda x: np.digitize(x, [2.0, 4.0]),
            lambda x: np.unravel_index(np.argmax(x), (2, 2))[1],
            lambda x: np.ravel_multi_index((np.argmin(x), [1, 0]), (4, 5)),
            lambda x: np.argwhere(np.ones(2)),
        ):
            np.testing.assert_array_equal(np.shape(pb.vmap(f)(X))[0], 3)
        out = pb.vmap(lambda x: np.digitize(x, x))(X)
        np.testing.assert_array_equal(out, [np.digitize(x, x) for x in X])
        out = pb.vmap(lambda x: np.unravel_index(np.argmax(x), (2, 2)))(X)
        assert [list(part) for part in out] == [[1, 1, 1], [1, 1, 1]]

    @pytest.mark.parametrize(
        "f",
        [
            np.nonzero,
            np.argwhere,
            lambda x: np.repeat(x, x.astype(int)),
            lambda x: np.delete(x, x.astype(int) // 5),
        ],
    )
    def test_shapes_that_depend_on_values(self, f):
        with pytest.raises(ConversionError, match="different shapes"):
            pb.vmap(f)(X)

    def test_one_position_is_left_out(self):
        """The shape is known, whichever position it is in each example."""
        for f in (
            lambda x: np.delete(x, np.argmin(x)),
            lambda x: np.delete(x, np.argmax(x[0]), axis=1) * x[:, :1],
            lambda x: np.delete(x, -1 - np.argmax(x[:, 0]), axis=0),
        ):
            x = np.sin(np.arange(24.0) ** 2).reshape(2, 3, 4)
            for law in (f, pb.jacobian(f)):
                for fast in (pb.vmap(law), pb.compile(pb.vmap(law), wait=True)):
                    np.testing.assert_array_equal(fast(x), [law(each) for each in x])
        with pytest.raises(IndexError, match="out of bounds"):
            pb.vmap(np.delete)(np.ones((2, 3)), np.array([0, 3]))


AGREE = {
    "insert": lambda x, i: np.insert(x, i, x[: len(i)] * 2),
    "insert one": lambda x, i: np.insert(x, i[0], x[1:3]),
    "insert one of a list": lambda x, i: np.insert(x, i[:1], x[1:3]),
    "insert columns": lambda x, i: np.insert(np.outer(x, x), i, np.exp(x[: len(i)]), axis=1),
    "insert a column": lambda x, i: np.insert(np.outer(x, x), i[1], x, axis=1),
    "delete": lambda x, i: np.delete(x, i),
    "delete rows": lambda x, i: np.delete(np.outer(x, x), i, axis=0),
    "repeat": lambda x, i: np.repeat(x, (i[0] + np.arange(5)) % 5),
    "repeat rows": lambda x, i: np.repeat(np.outer(x, x), np.argsort(x), axis=0),
    "repeat equally": lambda x, i: np.repeat(x, i[:1] * 0 + 2),
    "bincount": lambda x, i: np.bincount(i % 3, x[: len(i)], minlength=3),
    "bincount alone": lambda x, i: np.bincount(i % 3, minlength=4) * x[0],
    "bincount of bytes": lambda x, i: np.bincount(i.astype(np.uint8), minlength=257) * x[0],
}


@pytest.mark.parametrize("name", AGREE)
def test_positions_may_differ_where_shapes_agree(name, rng):
    """Under vmap and in machine code, which stands for other positions as well."""
    f, x = AGREE[name], rng.normal(size=(3, 5))
    law = lambda x, i: (f(x, i), pb.jvp(lambda x: f(x, i), (x,), (np.cos(x),))[1])
    fast, batch = pb.compile(law, wait=True), pb.compile(pb.vmap(law), wait=True)
    for _ in range(4):
        i = np.stack([rng.permutation(4)[:2] for _ in x])  # two others in each example
        for one, ours in ((law, pb.vmap(law)), (law, batch), (fast, pb.vmap(law))):
            for k, found in enumerate(ours(x, i)):
                expected = [one(*each)[k] for each in zip(x, i, strict=True)]
                np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert fast.refusal is None
    assert fast.cache_info().hits > 0


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2"])
def test_positions_of_few_bits(dtype):
    x, values, places = np.arange(100.0), [-1.0, -2.0], np.array([[3, 99], [80, 70], [0, 1]], dtype)
    found = pb.vmap(lambda i: np.insert(x, i, values))(places)
    np.testing.assert_array_equal(found, [np.insert(x, i.astype(int), values) for i in places])


def test_positions_that_do_not_exist(rng):
    x = rng.normal(size=(2, 5))
    for f, i in (
        (lambda x, i: np.insert(x, i, 1.0), [6, 6]),
        (lambda x, i: np.delete(x, i), [0, 5]),
        (lambda x, i: np.repeat(x, i), [1, 2]),
        (lambda x, i: np.repeat(x, i), [1, 0, 0, 0, -1]),
        (lambda x, i: np.bincount(i), [1, -1]),
        (lambda x, i: np.bincount(i, minlength=-1), [1, 2]),
    ):
        i = np.array([i, i])
        for call in (lambda f=f, i=i: f(x[0], i[0]), lambda f=f, i=i: pb.vmap(f)(x, i)):
            with pytest.raises((IndexError, ValueError), match=r"out of bounds|negative|broadcast"):
                call()


class TestPositions:
    """Under grad, positions are plain."""

    def test_plain(self):
        def f(x):
            assert type(np.nonzero(x)[0]) is np.ndarray
            assert np.flatnonzero(x > 5).tolist() == [6, 7, 8, 9, 10, 11]
            assert np.argwhere(x == 4).tolist() == [[1, 0]]
            assert np.unravel_index(np.argmax(x), x.shape) == (2, 3)
            assert np.ravel_multi_index((1, [2, 0]), (3, 4)).tolist() == [6, 4]
            assert type(np.searchsorted(x[:, 0], 4.5)) is not pb.Array
            assert np.tril_indices_from(x)[0].tolist() == np.tril_indices_from(X)[0].tolist()
            assert np.triu_indices_from(x, 1)[1].tolist() == np.triu_indices_from(X, 1)[1].tolist()
            i, j = np.diag_indices_from(x[:, :3])
            return np.sum(x[np.ix_([0, 2], np.array([True, False, False, True]))]) + np.sum(x[i, j])

        np.testing.assert_array_equal(pb.grad(f)(X), [[2, 0, 0, 1], [0, 1, 0, 0], [1, 0, 1, 1]])


def test_long_lists_are_linear():
    """Joining and stacking many arrays costs as many steps, both ways."""

    def work(n):
        x = np.ones(n)
        pb.grad(lambda x: np.sum(np.concatenate([x[i : i + 1] for i in range(n)])))(x)
        pb.grad(lambda x: np.sum(np.stack([x[i] for i in range(n)])))(x)

    assert grows(work, 1_500) < 9


def test_a_broadcast_number_is_numpys():
    """A comparison of it gives NumPy's truth value, of which `~` is the contrary."""
    for spread in (lambda x: np.broadcast_to(x, ()), lambda x: np.broadcast_arrays(x, 2.0)[0]):
        f = lambda x, spread=spread: np.where(~(spread(x) > 0), -x, 3 * x)
        assert f(1.5) == 4.5
        assert pb.value_and_grad(f)(1.5) == (4.5, 3.0)


VIEWS = {
    "transposed": lambda y: y.T,
    "part": lambda y: y[1:],
    "view": lambda y: y.view(),
    "diagonal": lambda y: np.diagonal(y) if y.ndim > 1 else y,
    "longer": lambda y: y[None],
    "copy": lambda y: y.copy(),
    "swapped": lambda y: np.swapaxes(y, 0, -1),
    "repeated": lambda y: np.broadcast_to(y, (2, *y.shape)),
    "product": lambda y: y * 1.0,
    "at least": lambda y: np.atleast_2d(y),
    "einsum": lambda y: np.einsum("...->...", y),
    "split": lambda y: np.split(y, [1])[1],
    "flipped": lambda y: np.flip(y),
}


def bases(x, names):
    """Which of the arrays of a chain is the base of each."""
    chain = [x * 1.0]
    for name in names:
        chain.append(VIEWS[name](chain[-1]))
    return [(y.base is None, [y.base is z for z in chain]) for y in chain]


def test_the_base_of_a_view_is_the_owner():
    """However many views lie between, as NumPy has it."""
    x, wrong = np.arange(1.0, 10.0).reshape(3, 3), []
    for names in itertools.product(VIEWS, repeat=3):
        found = []
        pb.vjp(lambda x, names=names, found=found: found.append(bases(x, names)) or x, x)
        if found[0] != bases(x, names):
            wrong.append(names)
    assert not wrong


@pytest.mark.parametrize("name", ["part", "view", "longer"])
def test_compiled_code_asks_for_the_base(name):
    def program(x):
        y = x * 1.0
        view = VIEWS[name](VIEWS[name](y))
        return view.sum() * (2 if view.base is y else 3)

    x = np.arange(1.0, 10.0).reshape(3, 3)
    fast = pb.compile(program, wait=True)
    assert [fast(x), fast(x)] == [program(x)] * 2

"""Reading and writing at arrays of integers in compiled programs."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.program import Program
from pullback.core.graph import Equation, Graph, Variable
from pullback.core.spec import Spec, spec_of
from pullback.primitives.indexing import scatter_p
from pullback.primitives.keys import INDEX
from pullback.testing import staged


def check(f, *xs, native=True, level=0):
    """A compiled function gives the bits that NumPy gives, and does so without NumPy."""
    graph, _ = staged(f, xs)
    program, expected = Program(graph, level), graph.evaluate(*xs)
    assert ("by NumPy" not in program.listing) == native, program.listing
    for outs in (program(*xs), program.run(*xs)):  # as machine code and from Python
        assert len(outs) == len(expected)
        for out, right in zip(outs, expected, strict=True):
            assert type(out) is type(right)
            assert (out.shape, out.dtype) == (right.shape, right.dtype)
            np.testing.assert_array_equal(out, right)
            assert out.tobytes() == right.tobytes()
    return program


def random_key(random, shape, depth=0):
    """A key with arrays, integers, slices and None for an array of this shape."""
    form = tuple(random.integers(1, 5, random.integers(0, 3)))
    key, arrays = [], 0
    for n in shape:
        kind = random.choice(["array", "slice", "int", "array"])
        if random.random() < 0.1:
            key.append(None)
        if kind == "array":
            cut = int(random.integers(0, len(form) + 1))
            own = tuple([1 if random.random() < 0.2 else m for m in form[cut:]])
            dtype = random.choice(["int64", "int32", "int8", "uint8"])
            low = 0 if dtype == "uint8" else -n
            key.append(random.integers(low, n, own).astype(dtype))
            arrays += bool(own)
        elif kind == "int":
            key.append(int(random.integers(-n, n)))
        else:
            start, step = int(random.integers(0, n)), int(random.choice([1, 1, 2, -1]))
            key.append(slice(start, None, step))
    return tuple(key) if arrays else random_key(random, shape, depth + 1)


def split(key):
    """The arrays of a key, and a function that puts others in their place."""
    arrays = [k for k in key if isinstance(k, np.ndarray) and k.ndim]

    def fill(others):
        rest = iter(others)
        return tuple([next(rest) if isinstance(k, np.ndarray) and k.ndim else k for k in key])

    return arrays, fill


class TestRows:
    """Many columns that gather at the same indices, as those of a Jacobian do."""

    @pytest.mark.parametrize("seed", range(8))
    def test_any_axis_and_order(self, seed):
        random = np.random.default_rng(seed)
        shape = tuple(random.choice([2, 3, 9, 13], 3))
        dtype = random.choice(["float64", "float32", "complex128", "int16", "bool"])
        x = (random.standard_normal(shape) * 9).astype(dtype)
        w = random.integers(-5, 5, 600)
        axis, axes = int(random.integers(3)), random.permutation(3)
        i, j = random.integers(-shape[axis], shape[axis], (2, 600)).astype(
            random.choice(["i8", "i4"])
        )
        at = lambda x, i: x[(slice(None),) * axis + (i,)]

        def rows(x, i, j):
            x = x + x
            first, second = at(x, i).transpose(axes), at(x, j).transpose(axes)
            both = first + second * 2
            beside = np.moveaxis(at(x, j), axis, -1) * w
            return both, both.T, np.moveaxis(first, 0, 2) + 1, at(x, i), beside

        check(lambda x: rows(x, i, j), x, level=3 * (seed % 2))
        check(rows, x, i, j)
        check(lambda x: (at(x * x, i).transpose(axes) * 2,), x, level=3)

    def test_a_jacobian(self):
        random = np.random.default_rng(0)
        x, i = random.random((3, 40)), random.integers(0, 40, 2000)
        columns = np.eye(120).reshape(120, 3, 40)[::9]
        f = lambda x: (x * x)[:, i].T * 0.5
        by_columns = lambda x: pb.vmap(lambda dot: pb.jvp(f, (x,), (dot,))[1], out_axes=2)(columns)
        check(lambda x: (by_columns(x),), x, level=3)


class TestReading:
    @pytest.mark.share(2)
    @pytest.mark.parametrize("seed", range(40))
    def test_random_keys(self, seed):
        """With constant and with computed arrays, and what comes back to x."""
        random = np.random.default_rng(seed)
        shape = tuple(random.integers(2, 6, random.integers(1, 5)))
        x = random.standard_normal(shape).astype(random.choice(["float64", "float32"]))
        key = random_key(random, shape)
        arrays, fill = split(key)
        bar = random.standard_normal(x[key].shape).astype(x.dtype)
        level = 3 * (seed % 4 == 0)
        check(lambda x: (x[key] * 2, x.T[key[::-1]] if key[0] is not None else x), x, level=level)
        check(lambda x, *a: (x[fill(a)] * 2,), x, *arrays, level=level)

        def pulled(x, bar, *arrays):
            return (pb.vjp(lambda x: x[fill(arrays)], x)[1](bar)[0],)

        check(pulled, x, bar, *arrays, level=level)
        check(lambda x, bar: pulled(x, bar, *arrays), x, bar, level=level)

    def test_dtypes(self):
        i = np.array([2, -1, 0, 2])
        for dtype in ("bool", "int8", "int32", "uint64", "float32", "complex64", "complex128"):
            x = np.arange(40).reshape(4, 10).astype(dtype)
            check(lambda x, i: (x[i], x[:, i], x[i, i]), x, i)
            check(lambda x: (x[i], x[:, i], x[i, i]), x)

    def test_indices_that_are_computed_in_the_same_loop(self):
        random = np.random.default_rng(1)
        x, i = random.standard_normal((50, 3)), random.integers(0, 25, 33)
        check(lambda x, i: (x[i * 2 - 50, (i & 1) + 1] * 3 + x[i, 0],), x, i)

    def test_views_are_read_where_they_lie(self):
        x = np.random.default_rng(2).standard_normal((6, 7, 8))
        i = np.array([[0, -2], [3, 1]])
        check(lambda x, i: (np.flip(x, 1)[:, i, 2], x.T[::2, i], x[1:, :, 3][i]), x, i)

    def test_functions_that_read_at_indices(self):
        random = np.random.default_rng(3)
        x, i = random.standard_normal((4, 5)), random.integers(-4, 4, (3, 5))
        check(lambda x, i: (np.take(x, i, axis=0), np.take_along_axis(x, i, 0)), x, i)
        check(lambda x: (np.diagonal(x), np.trace(x[:, :4]) * 0 + x[0, 0]), x)

    def test_one_element(self):
        x = np.arange(5.0)
        check(lambda x, i: (x[i], x[i[None]] + 1), x, np.array(-2))
        check(lambda x, i: (pb.grad(lambda x: x[i] * x[1])(x),), x, np.array(3))

    def test_masks_stay_with_numpy(self):
        x = np.arange(6.0) - 2
        f = pb.compile(lambda x: np.where(x > 0, x, 0)[x.astype(bool)])
        for _ in range(3):
            np.testing.assert_array_equal(f(x), np.where(x > 0, x, 0)[x.astype(bool)])


class TestWriting:
    @pytest.mark.share(2)
    @pytest.mark.parametrize("seed", range(40))
    def test_random_keys(self, seed):
        """An index that comes again: the last value stays, and cotangents add up in order."""
        random = np.random.default_rng(100 + seed)
        shape = tuple(random.integers(2, 6, random.integers(1, 5)))
        x = random.standard_normal(shape)
        key = random_key(random, shape)
        arrays, fill = split(key)
        v = random.standard_normal(x[key].shape)

        def put(x, v, *arrays):
            y = x * 1.5
            y[fill(arrays)] = v + 1
            return (y + 0.5,)

        def number(x, *arrays):
            y = x * 1.5
            y[fill(arrays)] = 7
            return (y,)

        level = 3 * (seed % 4 == 0)
        check(put, x, v, *arrays, level=level)
        check(lambda x, v: put(x, v, *arrays), x, v, level=level)
        check(number, x, *arrays, level=level)

    def test_an_index_that_comes_again(self):
        x, i, v = np.zeros(3), np.array([1, 1, -2, 0, 1]), np.array([1e16, 1.0, -1e16, 2.0, 3.0])

        def f(x, i, v):
            y = np.array(x)
            y[i] = v
            z = np.array(x)
            np.add.at(z, i, v)
            return y, z

        rebound = pb.compile(lambda x, i, v: pb.vjp(lambda x: x[i], x)[1](v)[0])
        for _ in range(3):
            expected = np.zeros(3)
            np.add.at(expected, i, v)
            np.testing.assert_array_equal(rebound(x, i, v), expected)
        fast = pb.compile(f)
        for _ in range(3):
            for out, right in zip(fast(x, i, v), f(x, i, v), strict=True):
                np.testing.assert_array_equal(out, right)

    def test_several_parts(self):
        """Cotangents of many readings of one array."""
        random = np.random.default_rng(7)
        x, i, j = random.standard_normal((6, 4)), random.integers(-6, 6, 9), np.array([3, 3, 0])

        def f(x):
            return np.sum(x[i] * 2) + np.sum(x[:, j] ** 2) + x[0, 1] * x[2].sum() + x[i, 2][0]

        check(lambda x: (pb.grad(f)(x),), x)

    def test_dtypes_of_values(self):
        i = np.array([0, 2, 2])

        def f(x, v):
            x = x + x.dtype.type(0)
            x[i] = v
            return (x,)

        check(f, np.ones(4), np.array([1, 2, 3]))
        check(f, np.ones(4, np.float32), np.array([1.0, 2.0, 3.0]))
        check(f, np.ones((4, 2), np.int16), np.array([[[5, 7]]], np.int8))
        check(f, np.ones(4, bool), np.array([True, False, True]))
        check(f, np.ones(4, complex), np.array([1j, 2.0, -1j]))


def outcome(f, xs):
    """The result, or the type of what was raised."""
    try:
        return f(*xs)
    except Exception as error:
        return type(error)


class TestOutOfBounds:
    @pytest.mark.parametrize("entry", ["native", "python"])
    @pytest.mark.parametrize("wrong", [5, -6, 2**62, -(2**62)])
    def test_reading(self, wrong, entry):
        x, i = np.arange(5.0), np.array([0, -5, 4])
        graph, _ = staged(lambda x, i: (x[i] * 2,), (x, i))
        program = Program(graph, 0, native=entry == "native")
        np.testing.assert_array_equal(program(x, i)[0], x[i] * 2)
        i[1] = wrong
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            program(x, i)
        i[1] = 1
        np.testing.assert_array_equal(program(x, i)[0], x[i] * 2)

    def test_writing(self):
        def f(x, i, v):
            y = x * 2
            y[i] = v
            return y

        fast, x, v = pb.compile(f), np.arange(4.0), np.ones(2)
        for i in ([0, 1], [3, -4], [0, 1], [2, 2]):
            np.testing.assert_array_equal(fast(x, np.array(i), v), f(x, np.array(i), v))
        for wrong in ([0, 4], [-5, 0]):
            with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 4"):
                fast(x, np.array(wrong), v)
        np.testing.assert_array_equal(fast(x, np.array([1, 3]), v), f(x, np.array([1, 3]), v))
        assert fast.cache_info().paths == 1

    def test_the_function_may_catch_it(self):
        def f(x, i):
            try:
                return x[i] * 2
            except IndexError:
                return x[:2] * 0

        fast, x = pb.compile(f), np.arange(4.0)
        for i in ([0, 1], [0, 1]):
            np.testing.assert_array_equal(fast(x, np.array(i)), f(x, np.array(i)))
        for i in ([9, 1], [3, 1], [0, -5], [2, 2], [9, 1], [8, 0]):
            np.testing.assert_array_equal(fast(x, np.array(i)), f(x, np.array(i)))

    def test_guards_beside_it(self):
        def f(x, i):
            y = x[i]
            return y * 2 if y.sum() > 3 else y - 1

        fast, x = pb.compile(f), np.arange(5.0)
        for i in ([0, 1], [4, 4], [0, 0], [3, -1], [1, 1]):
            np.testing.assert_array_equal(fast(x, np.array(i)), f(x, np.array(i)))
        with pytest.raises(IndexError):
            fast(x, np.array([5, 0]))

    def test_the_function_may_catch_it_of_a_batch(self):
        def solved(a, b):
            try:
                return np.sum(np.linalg.solve(a, b))
            except np.linalg.LinAlgError:
                return np.sum(b * b)

        def picked(a, i):
            try:
                return np.sum(a[i] * a[0])
            except IndexError:
                return np.sum(a)

        a = np.stack([2 * np.eye(2), np.eye(2)])
        singular, b, wrong = a * np.arange(2)[:, None, None], np.ones((2, 2)), np.array([0, 9])
        right = np.zeros(2, int)
        for f, calls in (
            (solved, [(a, b), (a, b), (singular[::-1], b), (a, b)]),
            (picked, [(a, right), (a, right), (a, wrong), (a, right)]),
        ):
            for of in (lambda f: f, pb.grad, pb.hessian):
                fast, plain = pb.vmap(of(pb.compile(f))), pb.vmap(of(f))
                for xs in calls:
                    found = outcome(fast, xs)
                    np.testing.assert_equal(found, outcome(plain, xs))

    @pytest.mark.share(2)
    @pytest.mark.parametrize(
        ("of", "error", "right", "wrong"),
        [
            (lambda x, i: x[i], IndexError, [[0, 1], [3, -4], [2, 2]], [0, 4]),
            (lambda x, i: np.outer(x, x)[:, i], IndexError, [[0, 1], [3, -4], [2, 2]], [-5, 0]),
            (lambda x, i: np.linalg.inv(np.diag(i + 0 * x[:2])), np.linalg.LinAlgError,
             [[1, 2], [2, 1], [3, 3]], [1, 0]),
            (lambda x, i: np.power(i, i), ValueError, [[0, 1], [2, 3], [1, 1]], [2, -1]),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("steps", [1, 80])
    def test_what_nobody_reads_is_asked_where_a_function_is_differentiated(
        self, of, error, right, wrong, steps
    ):
        def f(x, i):
            total = np.sum(x * x)
            for k in range(steps):
                of(x + k, i)
                total = np.sin(total) + x[0]
            return total

        x = np.arange(4.0)

        def mapped(f):
            return pb.vmap(pb.grad(f), in_axes=(0, None))

        for d, at in ((pb.grad, x), (pb.hessian, x), (mapped, np.stack([x, x + 1]))):
            fast, plain = pb.compile(d(f)), d(f)
            for i in (*right, *right):
                np.testing.assert_allclose(
                    fast(at, np.array(i)), plain(at, np.array(i)), rtol=1e-12
                )
            for _ in range(2):
                with pytest.raises(error):
                    fast(at, np.array(wrong))
            assert fast.refusal is None

    def test_constant_indices_that_are_wrong(self):
        x = np.arange(4.0)
        fast = pb.compile(lambda x: x[np.array([1, 7])])
        for _ in range(3):
            with pytest.raises(IndexError, match="index 7 is out of bounds"):
                fast(x)

    def test_small_unsigned_indices(self):
        """An index whose dtype holds no number that is out of bounds is not looked at."""
        x, i = np.arange(300.0), np.array([255, 0, 7], np.uint8)
        program = check(lambda x, i: (x[i],), x, i)
        assert not program.run.answers
        program = check(lambda x, i: (x[i],), x[:256], i)
        assert not program.run.answers
        program = check(lambda x, i: (x[:100][i & 63],), x, i)
        assert program.run.answers


@pytest.mark.parametrize("dtype", [bool, np.int64, np.int32, np.uint8, np.float64])
def test_scattered_numbers_of_any_kind(dtype):
    """Truth values meet by `or`, integers are added, in machine code."""
    ones, number = np.ones(3, dtype), np.ones((), dtype)[()]
    some = np.array([0, 1, 1, 0, 1, 1]).astype(dtype)
    forms = [
        ([(INDEX,)], [some], [np.array([0, 1, 1, 3, 3, 0])]),
        ([slice(1, 4), slice(2, 5)], [ones, ones], []),
        ([2, 2], [number, number], []),
        ([slice(0, 3)], [ones], []),
        ([(INDEX,), 1], [ones, number], [np.array([1, 1, 4])]),
    ]
    for keys, values, arrays in forms:
        inputs = [Variable(spec_of(x)) for x in (*values, *arrays)]
        out = Variable(Spec((6,), np.dtype(dtype)))
        static = {"keys": tuple(keys), "shape": (6,), "dtype": out.spec.dtype}
        graph = Graph(inputs, [Equation(scatter_p, tuple(inputs), (out,), static)], [out])
        program = Program(graph, 0)
        (mine,), (theirs,) = program(*values, *arrays), graph.evaluate(*values, *arrays)
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
        assert program.simple, program.listing

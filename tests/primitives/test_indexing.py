"""Indexing against NumPy and against Python loops, with random keys."""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import ConversionError
from pullback.primitives.keys import block, parse
from pullback.testing import Sample, check_fresh, check_reverse, check_second
from tests.budgets import asked
from tests.growth import grows

SIZE = 3  # of the batches


class Key:
    """A random key for an array of some shape; each array of integers also as a batch of them."""

    def __init__(self, random, shape):
        self.random, self.shape = random, shape
        self.together = tuple(random.integers(1, 4, random.integers(0, 3)))  # the arrays' shape
        self.batches, self.entries = [], ()
        taken = int(random.integers(0, len(shape) + 1))
        axes = list(range(taken))
        if random.random() < 0.4:  # an Ellipsis, and what follows counts from the end
            split = int(random.integers(0, taken + 1))
            axes = [*range(split), None, *range(len(shape) - taken + split, len(shape))]
        for axis in axes:
            if random.random() < 0.2:
                self.entries += (None,)
            if random.random() < 0.05:
                self.entries += (np.bool_(random.random() < 0.7),)
            self.entries += (Ellipsis if axis is None else self.entry(shape[axis]),)

    def entry(self, n):
        random = self.random
        kind = random.choice(["int", "slice", "array", "array", "array", "mask"]) if n else "slice"
        if kind == "int":
            return int(random.integers(-n, n))
        if kind == "array":
            cut = int(random.integers(0, len(self.together) + 1))
            shape = tuple([1 if random.random() < 0.2 else k for k in self.together[cut:]])
            self.batches.append(random.integers(-n, n, (SIZE, *shape)))
            return np.asarray(self.batches[-1][0])
        if kind == "mask":
            return random.random(n) < 0.5
        start, stop = [
            None if random.random() < 0.4 else int(random.integers(-n - 1, n + 2)) for _ in "ab"
        ]
        return slice(start, stop, int(random.choice([1, 1, 2, -1, -2])))

    def at(self, arrays):
        """The key with these arrays of integers for its own."""
        rest = iter(arrays)
        return tuple(
            next(rest) if isinstance(k, np.ndarray) and k.dtype.kind == "i" else k
            for k in self.entries
        )


def random_cases(n, seed):
    """(x, key) with keys that NumPy takes."""
    random = np.random.default_rng(seed)
    cases = []
    while len(cases) < n:
        smallest = 0 if random.random() < 0.1 else 1
        shape = tuple(random.integers(smallest, 5, random.integers(1, 5)))
        x = random.uniform(-1, 1, shape)
        key = Key(random, shape)
        try:
            _ = x[key.entries]
        except IndexError:
            continue
        cases.append((x, key))
    return cases


CASES = random_cases(300, 1)


def test_the_generator_reaches_everything():
    """Arrays beside and apart from each other, masks, truth values, and empty results."""
    entries = [entry for _, key in CASES for entry in key.entries]
    assert sum([len(key.batches) > 1 for _, key in CASES]) > 20
    assert any(entry is Ellipsis for entry in entries)
    assert any(isinstance(entry, np.ndarray) and entry.dtype == bool for entry in entries)
    assert any(isinstance(entry, np.bool_) for entry in entries)
    assert any(x[key.entries].size == 0 for x, key in CASES)
    assert any(block(parse(x.shape, key.entries)[0])[1] is False for x, key in CASES if key.batches)


def test_values_and_cotangents():
    """x[key] is NumPy's, and its pullback adds at the key."""
    random = np.random.default_rng(2)
    for x, key in CASES:
        k = key.entries
        out, pullback = pb.vjp(lambda x, k=k: x[k], x)
        expected = x[k]
        np.testing.assert_array_equal(out, expected, err_msg=str(k))
        out_bar = random.uniform(-1, 1, expected.shape)
        x_bar = np.zeros_like(x)
        np.add.at(x_bar, k, out_bar)
        np.testing.assert_allclose(pullback(out_bar)[0], x_bar, atol=1e-14, err_msg=str(k))
        x_dot = random.uniform(-1, 1, x.shape)
        np.testing.assert_array_equal(pb.jvp(lambda x, k=k: x[k], (x,), (x_dot,))[1], x_dot[k])


def test_specs():
    """The shape of a result is predicted."""
    for x, key in CASES:
        for entry in pb.transforms.record.record(lambda x, k=key.entries: x[k])(x).entries:
            specs = [pb.core.spec.spec_of(i) for i in entry.inputs]
            assert entry.primitive.spec(*specs, **entry.static).shape == entry.outs[0].shape


@pytest.mark.share(2)
@pytest.mark.parametrize("mapped", ["x", "index", "both", "some"])
def test_batches(mapped):
    """vmap over the array, over the indices, over both: what a loop gives, and its pullback."""
    random = np.random.default_rng(3)
    for x, key in CASES:
        if mapped != "x" and not key.batches:
            continue
        xs = random.uniform(-1, 1, (SIZE, *x.shape))
        over_x = mapped in ("x", "both")
        over = [
            mapped in ("index", "both") or (mapped == "some" and i % 2 == 0)
            for i in range(len(key.batches))
        ]
        indices = [b if m else b[0] for b, m in zip(key.batches, over, strict=True)]
        axes = (0 if over_x else None, *[0 if m else None for m in over])

        def read(x, *indices, key=key):
            return pb.array(x)[key.at(indices)] if type(x) is np.ndarray else x[key.at(indices)]

        def rows(i, xs=xs, x=x, over_x=over_x, indices=indices, over=over):
            return [
                xs[i] if over_x else x,
                *[b[i] if m else b for b, m in zip(indices, over, strict=True)],
            ]

        args = (xs if over_x else x, *indices)
        out = pb.vmap(read, in_axes=axes)(*args)
        expected = np.stack([read(*rows(i)) for i in range(SIZE)])
        np.testing.assert_array_equal(out, expected, err_msg=f"{key.entries} {over}")
        out_bar = random.uniform(-1, 1, expected.shape[1:])

        def pull(x, *indices, out_bar=out_bar, read=read):
            return pb.vjp(lambda x: read(x, *indices), x)[1](out_bar)[0]

        bars = pb.vmap(pull, in_axes=axes)(*args)
        loop = np.stack([pull(*rows(i)) for i in range(SIZE)])
        np.testing.assert_allclose(bars, loop, atol=1e-14, err_msg=f"{key.entries} {over}")

        def masked(x, *indices, read=read):
            return pb.grad(lambda x: np.sum(np.sqrt(abs(read(np.exp(x), *indices)))))(x)

        bars = pb.vmap(masked, in_axes=axes)(*args)
        loop = np.stack([masked(*rows(i)) for i in range(SIZE)])
        np.testing.assert_allclose(bars, loop, atol=1e-14, err_msg=f"{key.entries} {over}")


def test_laws_of_higher_order():
    """Second derivatives, and gradients that share memory with nothing."""
    for x, key in asked(CASES, 6):
        sample = Sample(lambda x, key=key: x[key.entries] ** 2 * np.sum(x), (x,), smooth=False)
        check_reverse(sample)
        check_second(sample)
        check_fresh(sample)


class TestKeys:
    """What may stand in a key."""

    x = np.arange(12.0).reshape(3, 4)

    @pytest.mark.parametrize(
        "key",
        [
            1,
            -1,
            np.int64(2),
            np.array(1),
            True,
            False,
            (),
            Ellipsis,
            None,
            [0, 2],
            [],
            (0, 1),
            ([0, 1], [1, 2]),
            ((0, 1), (1, 2)),
            [True, False, True],
            [[0, 1], [2, 0]],
            (..., 1),
            (None, 1),
            (np.uint8(1), slice(np.int64(1), None)),
            (slice(None), [True, False, False, True]),
            np.arange(12).reshape(3, 4) % 2 == 0,
            (np.array([[0], [2]]), np.array([1, 3])),
            (0, slice(None), None),
            ([0], slice(None), None),
            (True, [0, 1]),
            (slice(None), True, 1),
            np.zeros((3, 4), bool),
            np.zeros(0, int),
            np.array([0, 2], np.uint8),
            range(2),
        ],
        ids=lambda key: repr(key).split(" at ")[0],
    )
    def test_as_numpy(self, key):
        """Values, and the pullback of ones."""
        out, pullback = pb.vjp(lambda x: x[key], self.x)
        np.testing.assert_array_equal(out, self.x[key])
        x_bar = np.zeros_like(self.x)
        np.add.at(x_bar, key, 1.0)
        np.testing.assert_array_equal(pullback(np.ones(np.shape(out)))[0], x_bar)

    @pytest.mark.parametrize(
        "key",
        [
            1.0,
            np.float64(0),
            np.array(1.0),
            "a",
            ["a"],
            np.zeros(2),
            (0, 1, 2),
            7,
            (0, 9),
            (..., ...),
            [True, False],
            np.ones((2, 4), bool),
            (np.array([0, 5]),),
            1j,
            object(),
            {},
        ],
        ids=lambda key: repr(key).split(" at ")[0],
    )
    def test_errors_are_numpys(self, key):
        """A wrong key raises the same IndexError."""
        with pytest.raises(IndexError) as theirs:
            _ = self.x[key]
        with pytest.raises(IndexError) as ours:
            pb.vjp(lambda x: x[key], self.x)
        assert str(ours.value) == str(theirs.value)

    def test_float_array_as_index(self):
        with pytest.raises(IndexError, match="integer"):
            pb.grad(lambda x: x[x[0, 0]].sum())(self.x)

    def test_zero_dimensions(self):
        """A 0-d Array has neither length nor elements, but may be indexed by () and None."""
        assert pb.grad(lambda x: x[()] + x[None][0] + x[...] + x[True][0])(2.0) == 4.0
        for f in (len, iter, lambda x: x[0]):
            with pytest.raises((TypeError, IndexError)):
                pb.vjp(lambda x, f=f: (f(x), x)[1], 2.0)

    def test_iteration(self):
        """Arrays are unpacked along the first axis."""

        def f(x):
            a, b, c = x
            assert len(x) == 3
            return np.sum(a * b + 2 * c)

        np.testing.assert_array_equal(pb.grad(f)(self.x), [self.x[1], self.x[0], 2 * np.ones(4)])

    def test_mapped_mask(self):
        """Examples would pick different numbers of elements."""
        with pytest.raises(ConversionError, match=r"np\.where"):
            pb.vmap(lambda x: x[x > 5])(self.x)

    def test_plain_mask_under_vmap(self):
        mask = np.array([True, False, False, True])
        np.testing.assert_array_equal(pb.vmap(lambda x: x[mask])(self.x), self.x[:, mask])

    def test_gather_for_each_example(self):
        """Mapped positions, 0-d and as a list."""
        i = np.array([1, 0, 3])
        np.testing.assert_array_equal(
            pb.vmap(lambda x, i: x[i])(self.x, i), self.x[np.arange(3), i]
        )
        np.testing.assert_array_equal(
            pb.vmap(lambda x, i: x[[i, 0]])(self.x, i), [[1, 0], [4, 4], [11, 8]]
        )

    def test_changed_afterwards(self):
        """An index array that is changed between forward and backward does not matter."""
        i = np.array([0, 1])
        _, pullback = pb.vjp(lambda x: x[i, i], self.x)
        i[:] = 2
        np.testing.assert_array_equal(np.flatnonzero(pullback(np.ones(2))[0]), [0, 5])


class TestStructure:
    """What an index did not pick has no derivative, whatever its partial is."""

    def test_exact_zeros(self):
        x = np.array([0.0, 4.0, 0.0])
        for f in (
            lambda x: np.sqrt(x)[1],
            lambda x: np.sqrt(x)[[1]].sum(),
            lambda x: np.sqrt(x)[1:2].sum(),
            lambda x: np.sqrt(x)[x > 0].sum(),
            lambda x: np.sqrt(x.reshape(1, 3))[0][1],
            lambda x: np.sqrt(np.stack([x, x]))[0][1:][0],
            lambda x: np.take(np.sqrt(x), [1]).sum(),
            lambda x: np.flip(np.sqrt(x))[1],
            lambda x: np.concatenate([np.sqrt(x), x])[1],
            lambda x: sum(np.sqrt(x)[i] for i in (1, 1)) / 2,
            lambda x: np.where(x > 0, np.sqrt(x), 0)[:2].sum(),
        ):
            np.testing.assert_array_equal(pb.grad(f)(x), [0, 0.25, 0])

    def test_base(self):
        """Reads between other uses of the same array add up."""

        def f(x):
            y = np.sin(x)
            return (
                y[0] + np.sum(y) + y[1] * 2 + np.sum(np.where(x > 0, y, 0)) + y[-1] + np.sum(y * y)
            )

        pb.testing.check_grads(f, (np.array([-1.0, 0.3, 0.5]),))


class TestLoops:
    """Element loops are linear in time."""

    def test_reads(self):
        def work(n):
            x = np.ones(n)

            def f(x):
                total = 0.0
                for i in range(n):
                    total = total + x[i] * x[i - 1]
                return total + np.sum(x)

            np.testing.assert_array_equal(pb.grad(f)(x), 3 * np.ones(n))

        assert grows(work, 4_000) < 9

    def test_rows(self):
        """Elements of rows cost what elements cost."""

        def work(n):
            m = int(n**0.5)
            x = np.ones((m, m))

            def f(x):
                return sum(row[j] * x[j, i] for i, row in enumerate(x) for j in range(m))

            np.testing.assert_array_equal(pb.grad(f)(x), 2 * x)

        assert grows(work, 2_500) < 9

    def test_nested(self):
        """Second derivatives of a loop: the cotangents are Arrays, scattered at once."""

        def work(n):
            def f(x):
                return sum(x[i] ** 3 for i in range(n))

            x, v = np.linspace(0, 1, n), np.ones(n)
            hv = pb.grad(lambda x: np.sum(pb.grad(f)(x) * v))(x)
            np.testing.assert_allclose(hv, 6 * x)

        assert grows(work, 1_000) < 9

    def test_stack_of_elements(self):
        def work(n):
            x = np.linspace(0, 1, n)
            g = pb.grad(lambda x: np.sum(np.array([x[i] * 2 for i in range(n)], like=x) ** 2))(x)
            np.testing.assert_allclose(g, 8 * x)

        assert grows(work, 2_000) < 9


def going_on(x):
    """Loops over one `x.flat`, each of which goes on where the last one ended."""
    it, other = x.flat, x.flat
    first, out = next(it), []
    for v in it:
        out.append(v * first)
        if len(out) == 2:
            break
    return [
        first**2,
        *out,
        sum(it),
        sum(it),
        next(it, 7.0),
        *[v * w for v, w in zip(other, x.T.flat, strict=True)],
    ]


def test_flat_is_an_iterator():
    x = np.arange(1.0, 7.0).reshape(2, 3)
    plain = np.array(going_on(x))
    stacked = lambda x: np.stack([v + 0 * x[0, 0] for v in going_on(x)])
    assert np.array_equal(stacked(x), plain)
    for f in (
        lambda f: lambda x: pb.vmap(f)(x[None])[0],
        lambda f: lambda x: pb.jvp(f, (x,), (x,))[0],
    ):
        assert np.array_equal(f(stacked)(x), plain)
        assert np.array_equal(pb.compile(f(stacked), wait=True)(x), plain)
    near, _ = pb.linearize(stacked, x)
    assert np.array_equal(near, plain)
    step = 1e-6
    for i in range(6):
        bump = np.zeros(6)
        bump[i] = step
        bump = bump.reshape(2, 3)
        slope = (stacked(x + bump) - stacked(x - bump)) / (2 * step)
        np.testing.assert_allclose(pb.jacobian(stacked)(x)[:, i // 3, i % 3], slope, atol=1e-8)


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8", "f8"])
@pytest.mark.parametrize("wide", ["f2", "f4", "f8", "g"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_at_rounds_after_each_operand(dtype, wide, name):
    """As NumPy does where the operands have more digits than the array that they are put into."""

    def f(x):
        y = np.ones(3, dtype)
        getattr(np, name).at(y, [0, 0, 1], x)
        return np.sum(np.real(y[:1]))

    x = np.array([0.53, -1.07, 0.81]).astype(wide)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of complex numbers as real ones
        assert pb.value_and_grad(f)(x)[0] == f(x)

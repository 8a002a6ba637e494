"""Short ways give what the long ones give: joins of slices, gathers, LAPACK, silence."""

import itertools
import warnings
from typing import ClassVar

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from pullback.core.node import COPIED_BESIDE
from pullback.core.operators import INFIX
from pullback.core.plain_numpy import broadcast_to
from pullback.core.primitive import Primitive
from pullback.core.quiet import SILENCE, Entered
from pullback.core.registry import UFUNCS
from pullback.primitives import lapack
from pullback.primitives.einsum import einsum_p
from pullback.primitives.linalg import cofactors_p, of_few_rows
from pullback.transforms.forward import ForwardTrace
from pullback.transforms.lifted import lift
from pullback.transforms.reverse import ReverseTrace

from ..budgets import asked

X = np.array([0.4, 1.3, -0.7, 2.1])
MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]])


class TestJoins:
    """What came for a slice of a join goes to the operands that it touches."""

    @pytest.mark.parametrize(
        "key",
        [
            slice(None),
            slice(2),
            slice(1, 3),
            slice(3, 6),
            slice(5, 2),
            slice(-3, None),
            slice(0, 8, 3),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("axis", [0, 1])
    def test_slices(self, key, axis):
        x, at = np.stack([X, X**2]), (slice(None),) * axis + (key,)

        def f(x):
            return np.sum(np.concatenate((x, 3 * x), axis=axis)[at] ** 2)

        pb.testing.check_grads(f, (x,), order=2)

    @pytest.mark.parametrize("i", [0, 1, -1])
    def test_elements_of_stacks(self, i):
        pb.testing.check_grads(lambda x: np.sum(np.stack((x, x**2, 2 * x))[i] ** 2), (X,), order=2)

    def test_what_was_not_picked_has_no_derivative(self):
        """Also where the partial of what was left out is infinite."""

        def f(x):
            return np.sum(np.concatenate((np.sqrt(x), x))[3:])

        np.testing.assert_array_equal(pb.grad(f)(np.array([0.0, 0.0, 4.0])), [1.0, 1.0, 1.0])

    def test_a_masked_part_stays_masked(self):
        def f(x):
            y = np.concatenate((np.sqrt(x), x))[:3]
            return np.sum(np.where(x > 0, y, 0.0))

        np.testing.assert_array_equal(pb.grad(f)(np.array([0.0, 1.0, 4.0])), [0.0, 0.5, 0.25])


class TestGathers:
    def test_indices_of_indices(self):
        i, j = np.array([3, 1, 1, 0]), np.array([2, 2, 1])
        pb.testing.check_grads(lambda x: np.sum(x[i][j] ** 3), (X,), order=2)

    def test_an_index_that_changes_later(self):
        def f(x):
            i = np.array([0, 1])
            y = x[i]
            i[:] = 3
            return np.sum(y)

        np.testing.assert_array_equal(pb.grad(f)(X), [1.0, 1.0, 0.0, 0.0])

    def test_no_grad(self):
        x = pb.array(X, requires_grad=True)
        with pb.no_grad():
            assert not x[np.array([1, 0])].requires_grad

    def test_a_view_of_what_was_written_to(self):
        def f(x):
            y = x * 1.0
            z = y[::-1]
            y[0] = 5.0 * x[1]
            return np.sum(z[np.array([3, 3])])

        np.testing.assert_array_equal(pb.grad(f)(X), [0.0, 10.0, 0.0, 0.0])


class TestLapack:
    def test_as_numpy(self):
        np.testing.assert_array_equal(
            lapack.solve(MATRIX, MATRIX.T), np.linalg.solve(MATRIX, MATRIX.T)
        )
        np.testing.assert_array_equal(lapack.inv(MATRIX), np.linalg.inv(MATRIX))
        for upper in (False, True):
            ours, numpys = lapack.cholesky(MATRIX, upper), np.linalg.cholesky(MATRIX, upper=upper)
            np.testing.assert_array_equal(ours, numpys)

    @pytest.mark.parametrize(
        "call",
        [
            lambda: lapack.solve(np.zeros((2, 2)), np.eye(2)),
            lambda: lapack.solve(np.ones((2, 3)), np.eye(2)),
            lambda: lapack.inv(np.zeros((2, 2))),
            lambda: lapack.cholesky(-MATRIX, False),
        ],
    )
    def test_errors_are_those_of_numpy(self, call):
        with pytest.raises(np.linalg.LinAlgError):
            call()

    def test_nan_in_is_nan_out(self):
        assert np.isnan(lapack.inv(np.full((2, 2), np.nan))).all()


class TestSilence:
    def test_rules_do_not_warn(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert pb.grad(np.sqrt)(0.0) == np.inf
            assert pb.jvp(np.sqrt, (0.0,), (1.0,))[1] == np.inf

    def test_the_state_is_put_back(self):
        before = np.geterr()
        pb.grad(lambda x: x * x)(1.0)
        assert np.geterr() == before

    def test_without_numpys_variable(self):
        state, before = Entered(), np.geterr()
        noted = state.get()
        token = state.set(SILENCE)
        assert set(np.geterr().values()) == {"ignore"}
        state.reset(token)
        assert np.geterr() == before
        state.set(SILENCE)
        state.set(noted)
        assert np.geterr() == before


class TestClip:
    def test_nan_and_bounds(self):
        x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan])
        gradient = pb.grad(lambda x: np.sum(np.clip(x, 0, 1)))(x)
        np.testing.assert_array_equal(gradient, [0.0, 0.5, 1.0, 0.5, 0.0, 1.0])

    @pytest.mark.parametrize("bounds", [(-0.5, 0.5), (-0.5, np.linspace(-0.5, 0.5, 3))])
    def test_large_arrays_with_ties(self, bounds):
        """As small ones, to the bit: half of a cotangent at a bound, and no zero is negative."""
        x = np.array([-0.5, 0.5, 2.0, -3.0, 0.1, -0.0] * 500).reshape(-1, 3)
        weight = np.cos(np.arange(9000.0)).reshape(3, -1, 3)
        for f in (lambda x: np.clip(x, *bounds), lambda x: np.maximum(bounds[1], x)):
            pull = lambda x, w, f=f: pb.vjp(f, x)[1](w)[0]
            for w in (*weight, np.full((1000, 3), np.inf)):
                parts = [pull(x[i : i + 2], w[i : i + 2]) for i in range(0, 1000, 2)]
                assert pull(x, w).tobytes() == np.concatenate(parts).tobytes()

    def test_bounds_in_the_wrong_order(self):
        np.testing.assert_array_equal(
            pb.vjp(lambda x: np.clip(x, 1.0, 0.0), X)[0], np.clip(X, 1.0, 0.0)
        )


def by_record(monkeypatch, f, x, limit):
    """A gradient where operations of up to `limit` operands are recorded by what is written out."""
    monkeypatch.setattr("pullback.core.node.WRITTEN_OUT", limit)
    for primitive in Primitive.everything:
        primitive.recorders.clear()
    found = pb.grad(f)(x)
    for primitive in Primitive.everything:
        primitive.recorders.clear()
    return found


class TestWrittenOut:
    """What is written out for the number of operands is what the loop over them says."""

    PROGRAMS: ClassVar = {
        "one of two": lambda x: MATRIX @ x,
        "the other of two": lambda x: x @ MATRIX,
        "both of two, a number": lambda x: x @ (x * x) * x,
        "an index between": lambda x: np.where(np.arange(3) > 0, x, X[:3]) * x,
        "three": lambda x: np.where(x > 1, x, x**2),
        "joins": lambda x: sum(
            np.concatenate((*[x] * n, X, *[x**2] * n))[n:-n].sum() * x for n in (1, 2, 3)
        ),
        "a system": lambda x: np.linalg.solve(MATRIX + np.outer(x, x), x),
        "float32": lambda x: x.astype(np.float32) @ MATRIX.astype(np.float32),
        "complex": lambda x: np.real((x + 1j * x) @ (MATRIX * 1j)),
        "a large array that is watched": lambda x: (np.ones((3, 5000)).T @ x)[:3] * x,
    }

    def test_all_programs(self, monkeypatch):
        x = np.array([0.7, 1.3, 0.4])
        for name, program in self.PROGRAMS.items():
            f = lambda x, program=program: np.sum(program(x))
            long, short = [by_record(monkeypatch, f, x, n) for n in (0, 4)]
            np.testing.assert_array_equal(short, long, err_msg=name)

    def test_a_watched_array_that_changes(self):
        for n in 5000, 50_000:  # the smaller one is copied
            large = np.ones((n, 3))

            def f(x, large=large):
                y = large @ x
                large[0, 0] = 2.0
                return np.sum(y)

            if large.nbytes <= COPIED_BESIDE:
                np.testing.assert_array_equal(pb.grad(f)(X[:3]), [n, n, n])
                continue
            with pytest.raises(pb.ArgumentError, match="changed between"):
                pb.grad(f)(X[:3])


class TestNumbers:
    """Beside an array, a Python number computes as the array without axes that it becomes."""

    NUMBERS = (1.5, 2, -0.0, 0.0, np.inf, np.nan, -3)

    @pytest.mark.share(2)
    def test_all_functions(self):
        x = np.array([0.7, 1.3, 2.4])
        for ufunc, primitive in list(UFUNCS.items()):
            if primitive is None or not primitive.converts or primitive.constant:
                continue
            partials = primitive.partials
            if len(partials) != 2 or any(hasattr(partial, "refused") for partial in partials):
                continue
            for number in self.NUMBERS:
                for f in (lambda x, y: ufunc(x, y), lambda x, y: ufunc(y, x)):
                    with np.errstate(all="ignore"):
                        outs = [
                            (f(x, y), pb.vjp(lambda x, y=y: f(x, y), x)[1](np.ones(3))[0])
                            for y in (number, np.full(3, float(number)))
                        ]
                    for out, like in zip(*outs, strict=True):
                        np.testing.assert_allclose(
                            out, like, rtol=1e-15, err_msg=f"{ufunc.__name__} {number}"
                        )
                        signs = (np.signbit(out) == np.signbit(like)) | np.isnan(like)
                        assert signs.all(), (ufunc, number)


BINARY = sorted(
    ufunc.__name__
    for ufunc, primitive in UFUNCS.items()
    if primitive is not None and len(primitive.partials) == 2 and not primitive.constant
    if getattr(np, ufunc.__name__, None) is ufunc
)


class TestPlainOperands:
    """Beside arrays of other dtypes, and beside what is made inside, as by the way for all."""

    DTYPES = (bool, np.int8, np.int64, np.uint64, np.float16, np.float32, np.float64, ">i4", ">f8")
    PLAIN = (np.array([2, 0, 1]), np.array([[1], [3]]), np.array(2))

    CASES = tuple(itertools.product(BINARY, range(len(PLAIN)), DTYPES, (False, True)))

    def test_all_functions(self, monkeypatch):
        x = np.array([0.7, 1.3, 2.4])
        slow = lambda self, primitive, x, y: self.process(primitive, (x, y), {})
        for name, i, dtype, first in asked(self.CASES, 4):
            ufunc, y = getattr(np, name), self.PLAIN[i].astype(dtype)
            f = (lambda x, y, f=ufunc: f(y, x)) if first else ufunc
            beside = lambda x, f=f, y=y: f(x, y)
            with np.errstate(all="ignore"):
                quick = [outcome(g, x) for g in (beside, lambda x, f=f, y=y: f(x, np.array(y)))]
                with monkeypatch.context() as patch:
                    for trace in ReverseTrace, ForwardTrace:
                        patch.setattr(trace, "binary", slow)
                    like = outcome(beside, x)
            assert quick == [like, like], (name, y, first)

    def test_what_is_made_inside_and_then_written_to(self):
        def f(x):
            y = np.ones(4)
            z = x * y
            y[1] = 3.0
            y[2] = x[0]
            return np.sum(z * x + x * y)

        pb.testing.check_grads(f, (X,), order=2)


def outcome(f, x):
    """Value, both derivatives and second ones as text, or the class of the error."""
    try:
        out, pull = pb.vjp(f, x)
        bar = np.cos(np.arange(np.size(out))).reshape(np.shape(out)).astype(out.dtype)
        bent = pb.hvp(lambda x: np.sum(f(x) * bar))(x, np.ones(3))
        zero = out.dtype.type(0)  # a zero of a derivative has no sign
        parts = [out, pull(bar)[0] + zero, pb.jvp(f, (x,), (np.ones(3),))[1] + zero, bent + zero]
        return [(str(part.dtype), part.tobytes()) for part in parts]
    except (TypeError, ValueError, pb.PullbackError) as error:
        return type(error)


class TestMethods:
    """A method of an Array is called at once: nothing of the user's is behind it to be reached."""

    def test_nobody_asks_what_a_method_calls(self, monkeypatch):
        def f(x):
            return (x.reshape(2, 2).T.copy().flatten() * x.max()).sum() + x.dot(x).clip(0.0, 1.0)

        expected = pb.grad(f)(X)

        def asked(method):
            raise AssertionError(method)

        monkeypatch.setattr("pullback.core.reach.resolve.method", asked)
        np.testing.assert_array_equal(pb.grad(f)(X), expected)


class TestOperators:
    """An operator gives what the trace gives for its ufunc: the value, and a node like its."""

    OTHERS = (2, 0.5, np.float64(0.5), X, X + 1, MATRIX[0], np.float32(2), X.astype(np.float32))
    OTHERS = (*OTHERS, np.array(3.0), np.ones((2, 4)), X.astype(complex), np.arange(4), 1j, True)
    FIRST = (0.7, np.float64(0.7), X, X.astype(np.float32), X + 1j, np.ones((3, 4)))

    def described(self, x):
        """What a result is: its value, and its node with what it keeps."""
        if type(x) is not Array:
            parts = x if type(x) in (tuple, list) else ()
            where = x.tobytes() if hasattr(x, "tobytes") else None if parts else repr(x)
            copied = all(x is not other for other in self.OTHERS)
            kind = type(x), getattr(x, "dtype", None)
            return kind, where, copied, [*map(self.described, parts)]
        node = x.node
        parents = [None if parent is None else id(parent) for parent in node.parents]
        kept = node.residual
        if hasattr(kept, "xs"):
            kept = [kept.out, *kept.xs, *kept.static.items()]
        if kept is not None and type(kept) not in (tuple, list):
            kept = [kept]
        return x.within.birth, self.described(x.payload), node.rule, parents, self.described(kept)

    def compared(self, x, others, wrong):
        """x with itself and others, by operators and by its trace."""
        for name, ufunc in INFIX.items():
            primitive = UFUNCS[ufunc]
            for y in (*others, x):
                for form, xs in ((f"__{name}__", (x, y)), (f"__r{name}__", (y, x))):
                    if form.startswith("__r") and type(y) is Array:
                        continue
                    try:
                        expected = self.described(x.within.binary(primitive, *xs))
                    except (TypeError, ValueError):  # no ufunc takes them
                        continue
                    found = self.described(getattr(x, form)(y))
                    if found != expected:
                        wrong.append((form, x, y, found, expected))

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_operators_and_their_traces_agree(self):
        """Of one trace, and of one inside another."""
        wrong = []
        for x in self.FIRST:
            for y in (0.3, np.float64(1.5), X - 3, np.ones((3, 4), np.float32)):
                outer, _ = lift(ReverseTrace("vjp"), (x, y), (0, 1))
                inner, _ = lift(ReverseTrace("vjp"), outer, (0, 1))
                self.compared(outer[0], (outer[1], *self.OTHERS), wrong)
                self.compared(inner[0], (inner[1], *outer, *self.OTHERS), wrong)
        assert not wrong, wrong[:3]


class TestPlainArrays:
    """What NumPy's functions do slowly for small arrays gives the same bits and strides."""

    def test_broadcasting(self):
        random = np.random.default_rng(0)
        for _ in range(300):
            wide = tuple(random.integers(0, 4, random.integers(0, 5)).tolist())
            own = wide[random.integers(0, len(wide) + 1) :]
            own = tuple([1 if random.random() < 0.4 else n for n in own])
            x = random.normal(size=own)
            found, expected = broadcast_to(x, wide), np.broadcast_to(x, wide)
            np.testing.assert_array_equal(found, expected, strict=True)
            assert found.strides == expected.strides
            assert not found.flags.writeable
        with pytest.raises(ValueError, match="broadcast"):
            broadcast_to(np.ones(2), (3,))

    def test_contractions_of_pairs(self):
        random = np.random.default_rng(0)
        for _ in range(200):
            terms = ["".join(random.choice([*"abcd"], random.integers(1, 4))) for _ in range(2)]
            used = sorted(set("".join(terms)))
            result = "".join(random.permutation([c for c in used if random.random() < 0.5]))
            sizes = dict(zip(used, random.integers(1, 5, len(used)), strict=True))
            xs = [random.normal(size=[sizes[c] for c in term]) for term in terms]
            found = einsum_p.value(*xs, ins=tuple(terms), result=result, optimize=True)
            expected = np.einsum(f"{terms[0]},{terms[1]}->{result}", *xs, optimize=True)
            np.testing.assert_array_equal(found, expected, strict=True)

    @pytest.mark.parametrize("n", [2, 3])
    def test_cofactors_of_few_rows(self, n):
        """As those by the inverse, and their derivative as of a singular matrix as well."""
        random = np.random.default_rng(n)
        a, x = random.normal(size=(2, 5, n, n)) + 1j * random.normal(size=(2, 5, n, n))
        a[0, 1] = a[0, 0]
        bordered = np.zeros((5, n + 1, n + 1), complex)
        bordered[:, :n, :n], bordered[:, n, n] = a, 1
        np.testing.assert_allclose(
            of_few_rows(a), cofactors_p(bordered)[:, :n, :n], rtol=1e-12, atol=1e-12
        )
        step = 1e-6
        slope = (of_few_rows(a + step * x) - of_few_rows(a - step * x)) / (2 * step)
        np.testing.assert_allclose(of_few_rows(a, x), slope, rtol=1e-6, atol=1e-8)

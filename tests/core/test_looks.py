"""How an Array looks, how it is copied, and what an ended one still shows."""

import copy
import pickle

import numpy as np
import pytest

import pullback as pb
from tests.contexts import NUMBER, VECTOR, everywhere, for_constants, for_live, for_single

pytestmark = pytest.mark.usefixtures("protocols_alone")


class TestLooks:
    """`repr`, `format`, f-strings, `len`, iteration, unpacking work everywhere."""

    @everywhere
    def test_of_a_number(self, within):
        shown = []
        within(lambda x: shown.extend([repr(x), str(x), f"{x}"]), NUMBER)
        assert all("3." in text for text in shown)
        assert "Array(" in shown[0]
        assert "float64" in shown[0]

    @for_single
    def test_format_of_a_number(self, within):
        def body(x):
            assert f"{x:.2f}" == "3.00"
            assert format(x, "6.1e") == "3.0e+00"
            assert f"{x!r:.6}" == "Array("

        within(body, NUMBER)

    @everywhere
    def test_of_a_vector(self, within):
        def body(x):
            shown.append(repr(x))
            assert str(x)
            assert f"{x}"
            assert len(x) == 3
            parts = list(x)
            assert [part.shape for part in parts] == [()] * 3
            assert all(type(part) is pb.Array for part in parts)
            a, *rest = x
            assert len(rest) == 2
            assert a.shape == ()
            assert len(list(enumerate(x))) == len(list(zip(x, x, strict=True))) == 3
            assert len(list(reversed(x))) == 3
            assert sum(x).shape == ()

        shown = []
        within(body, VECTOR)
        assert "Array([" in shown[0]
        assert "float64[3]" in shown[0]

    def test_iteration_keeps_the_derivative(self):
        def f(x):
            a, b, c = x
            return a * b + c * c

        np.testing.assert_array_equal(pb.grad(f)(VECTOR), [1.0, 3.0, 4.0])

    @everywhere
    def test_refusals_of_the_protocol_are_plain(self, within):
        """`len` and iteration of a number, and `hash` of one with a derivative: TypeError."""

        def body(x):
            with pytest.raises(TypeError, match="len"):
                len(x)
            with pytest.raises(TypeError, match="iterat"):
                iter(x)
            if x.within.live:
                with pytest.raises(TypeError, match="unhashable"):
                    hash(x)

        within(body, NUMBER)

    def test_repr_shows_value_dtype_and_trace(self):
        seen = []

        def loss(x):
            seen.append(repr(x))
            return np.sum(x)

        pb.grad(loss)(VECTOR.astype(np.float32))
        pb.vmap(loss)(np.ones((2, 3)))
        x = pb.array([1.0, 2.0], requires_grad=True)
        assert seen[0] == "Array([3., 1., 2.], float32[3], grad(loss))"
        assert "float64[3], vmap(loss))" in seen[1]
        assert repr(x) == "Array([1., 2.], float64[2], eager)"
        assert repr(x.detach()) == "Array([1., 2.], float64[2], constant)"
        assert repr(pb.array(2)) == "Array(2, int64, constant)"
        assert repr(pb.array(1j)) == "Array(0.+1.j, complex128, constant)"
        assert repr(pb.array(np.zeros((0, 3)))) == "Array([], float64[0,3], constant)"


class TestCopies:
    """pickle and `copy.deepcopy`."""

    @for_constants
    def test_constants_travel(self, within):
        def body(x):
            for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
                assert type(twin) is pb.Array
                assert twin is not x
                np.testing.assert_array_equal(np.asarray(twin), VECTOR)
                np.testing.assert_array_equal(np.asarray(twin * 2.0), 2 * VECTOR)

        within(body, VECTOR)

    @for_live
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickle_of_a_live_one_raises(self, within, protocol):
        def body(x):
            with pytest.raises(pb.ConversionError, match=r"cannot be pickled.*\n.*x\.numpy\(\)"):
                pickle.dumps(x, protocol)
            with pytest.raises(pb.ConversionError):
                pickle.dumps({"a": [x]}, protocol)

        within(body, VECTOR)

    @pytest.mark.parametrize(
        "kept", [lambda: pb.vjp(np.sin, 1.0)[1], lambda: pb.explain(np.sin)(1.0)]
    )
    def test_what_one_call_computed(self, kept):
        kept = kept()
        assert copy.copy(kept) is kept
        assert copy.deepcopy([kept])[0] is kept
        with pytest.raises(pb.ConversionError, match="cannot be pickled: it holds what one call"):
            pickle.dumps(kept)

    @pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy])
    def test_copies_keep_the_derivative(self, duplicate):
        f = lambda x: np.sum(duplicate({"a": [x]})["a"][0] * x)
        np.testing.assert_array_equal(pb.grad(f)(VECTOR), 2 * VECTOR)
        np.testing.assert_array_equal(pb.jvp(f, (VECTOR,), (np.ones(3),))[1], 12.0)
        np.testing.assert_array_equal(pb.vmap(f)(np.stack([VECTOR, VECTOR])), [14.0, 14.0])
        x = pb.array(VECTOR, requires_grad=True)
        f(x).backward()  # a deep copy of a leaf is a leaf of its own
        times = 1 if duplicate is copy.deepcopy else 2
        np.testing.assert_array_equal(x.grad, times * VECTOR)


class TestEnded:
    """An Array of an ended trace counts as live."""

    def ended(self):
        kept = []
        pb.grad(lambda x: kept.append(x) or np.sum(x))(VECTOR)
        return kept[0]

    @pytest.mark.parametrize("convert", [np.asarray, np.array, pickle.dumps, lambda x: x.tobytes()])
    def test_it_does_not_convert(self, convert):
        with pytest.raises(pb.PullbackError):
            convert(self.ended())

    @pytest.mark.parametrize("ask", [bool, int, len, list, copy.deepcopy, lambda x: x > 0, round])
    def test_it_takes_part_in_nothing(self, ask):
        x = self.ended()
        if ask is len:
            assert len(x) == 3
            return
        with pytest.raises(pb.EscapedError, match="has ended"):
            ask(x)

    def test_it_shows_its_value(self):
        x = self.ended()
        np.testing.assert_array_equal(x.numpy(), VECTOR)
        with pytest.raises(pb.EscapedError):
            x.tolist()
        assert "3., 1., 2." in repr(x)
        assert f"{x}"


class TestData:
    def test_data_is_a_fresh_copy(self):
        x = pb.array(VECTOR, requires_grad=True)
        data = x.data
        assert type(data) is np.ndarray
        data[0] = 7.0
        np.testing.assert_array_equal(x.numpy(), VECTOR)

    def test_assigning_it_replaces_the_value_of_a_leaf(self):
        """The leaf stays the leaf, and shares no memory with what was assigned."""
        x = pb.array(VECTOR, requires_grad=True)
        np.sum(x * x).backward()
        x.data -= 0.5 * x.grad
        np.testing.assert_array_equal(x.numpy(), np.zeros(3))
        assert x.requires_grad
        new = np.ones(3)
        x.data = new
        new[0] = 7.0
        x.zero_grad()
        np.sum(x * x).backward()
        np.testing.assert_array_equal(x.grad, np.full(3, 2.0))

    def test_a_graph_that_was_built_before_has_the_old_value(self):
        x = pb.array(3.0, requires_grad=True)
        y = x * x
        x.data = 10.0
        y.backward()
        assert x.grad == 6.0

    def test_it_must_fit(self):
        x = pb.array(VECTOR, requires_grad=True)
        with pytest.raises(pb.ShapeError, match=r"x\.data.*shape \(3,\), but got \(2,\)"):
            x.data = np.ones(2)
        with pytest.raises(pb.DtypeError, match=r"x\.data"):
            x.data = 1j * VECTOR
        with pytest.raises(pb.ArgumentError, match="leaf"):
            (x * 1.0).data = VECTOR


class TestOneType:
    """Array is one type for every number of dimensions."""

    @everywhere
    def test_numbers_and_arrays(self, within):
        def body(x):
            assert type(x) is type(x[0]) is type(x[:1]) is type(np.sum(x)) is pb.Array
            assert type(np.outer(x, x)) is pb.Array

        within(body, VECTOR)

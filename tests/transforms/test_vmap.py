"""vmap: a function of one example, applied to a batch."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pullback as pb

MATRIX = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)
Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    weight: Any
    bias: Any


class TestAxes:
    def test_inside_there_is_no_batch_axis(self):
        def f(x):
            assert (x.shape, x.ndim, x.size, len(x)) == ((3,), 1, 3, 3)
            return np.sum(x)

        np.testing.assert_array_equal(pb.vmap(f)(MATRIX), MATRIX.sum(axis=1))

    @pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3, np.int64(1)])
    def test_any_axis_may_be_mapped(self, axis):
        out = pb.vmap(lambda x: x * 2.0, in_axes=axis)(CUBE)
        np.testing.assert_array_equal(out, 2 * np.moveaxis(CUBE, axis, 0))
        out = pb.vmap(np.sum, in_axes=axis)(CUBE)
        others = tuple(i for i in range(3) if i != axis % 3)
        np.testing.assert_array_equal(out, CUBE.sum(axis=others))

    @pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
    def test_the_batch_may_stand_anywhere(self, axis):
        out = pb.vmap(lambda x: x + 1.0, out_axes=axis)(CUBE)
        np.testing.assert_array_equal(out, np.moveaxis(CUBE + 1, 0, axis))
        assert out.flags.owndata

    def test_none_is_the_same_for_all(self):
        """It is passed as it is, and may be anything."""
        seen = []
        out = pb.vmap(lambda x, y: seen.append(y) or x + y, in_axes=(0, None))(MATRIX, MATRIX[0])
        np.testing.assert_array_equal(out, MATRIX + MATRIX[0])
        assert type(seen[0]) is np.ndarray
        out = pb.vmap(lambda x, word: x * len(word), in_axes=(0, None))(MATRIX, "abc")
        np.testing.assert_array_equal(out, 3 * MATRIX)

    def test_one_entry_for_all_arguments(self):
        out = pb.vmap(lambda x, y: x @ y, in_axes=1)(MATRIX, MATRIX)
        np.testing.assert_array_equal(out, (MATRIX * MATRIX).sum(axis=0))

    def test_different_axes(self):
        out = pb.vmap(lambda x, y: x @ y, in_axes=[0, 1])(MATRIX, MATRIX.T.copy())
        np.testing.assert_array_equal(out, (MATRIX * MATRIX).sum(axis=1))

    def test_a_prefix_stands_for_its_subtree(self):
        args = {"a": (MATRIX, MATRIX + 1), "b": MATRIX[0]}
        f = lambda p: p["a"][0] + p["a"][1] + p["b"]
        out = pb.vmap(f, in_axes=({"a": 0, "b": None},))(args)
        np.testing.assert_array_equal(out, 2 * MATRIX + 1 + MATRIX[0])
        out = pb.vmap(f, in_axes=({"a": (0, None), "b": None},))({**args, "a": (MATRIX, MATRIX[1])})
        np.testing.assert_array_equal(out, MATRIX + MATRIX[1] + MATRIX[0])

    @pytest.mark.parametrize("make", [Layer, Pair, lambda w, b: OrderedDict(weight=w, bias=b)])
    def test_every_kind_of_tree_has_prefixes(self, make):
        """Dataclasses, named tuples, ordered dicts (in their order)."""

        def f(p):
            w, b = (
                p.values()
                if isinstance(p, dict)
                else (p if type(p) is Pair else (p.weight, p.bias))
            )
            return w @ w + b

        out = pb.vmap(f, in_axes=(make(1, None),))(make(MATRIX, 10.0))
        np.testing.assert_array_equal(out, (MATRIX**2).sum(axis=0) + 10)

    def test_none_in_a_tree_is_structure(self):
        out = pb.vmap(lambda p: p[0] * 2.0, in_axes=((0, None),))((MATRIX, None))
        np.testing.assert_array_equal(out, 2 * MATRIX)
        out = pb.vmap(lambda p: p[0] * 2.0)((MATRIX, None, "name", np.sin))
        np.testing.assert_array_equal(out, 2 * MATRIX)

    def test_outputs_are_trees_and_out_axes_prefixes(self):
        f = lambda x: {"a": (x, 2.0 * x), "b": np.sum(x), "c": None, "d": "name"}
        out = pb.vmap(f, out_axes={"a": (0, 1), "b": 0, "c": 0, "d": None})(MATRIX)
        np.testing.assert_array_equal(out["a"][0], MATRIX)
        np.testing.assert_array_equal(out["a"][1], 2 * MATRIX.T)
        np.testing.assert_array_equal(out["b"], MATRIX.sum(axis=1))
        assert out["c"] is None
        assert out["d"] == "name"

    def test_keywords_are_not_mapped(self):
        out = pb.vmap(lambda x, *, y: x + y)(MATRIX, y=np.ones(3))
        np.testing.assert_array_equal(out, MATRIX + 1)

    def test_an_output_that_is_not_mapped_is_repeated(self):
        """Or stands once, where out_axes is None."""
        out = pb.vmap(lambda x: np.ones(2))(MATRIX)
        np.testing.assert_array_equal(out, np.ones((2, 2)))
        out[0, 0] = 7.0
        assert out[1, 0] == 1.0
        np.testing.assert_array_equal(pb.vmap(lambda x: 3.0)(MATRIX), [3.0, 3.0])
        np.testing.assert_array_equal(
            pb.vmap(lambda x: np.ones(3), out_axes=None)(MATRIX), np.ones(3)
        )

    @pytest.mark.parametrize("kind", "?bBhHiIlLqQefdgFDG")
    def test_a_number_of_each_dtype_is_repeated(self, kind):
        """NumPy's truth values are numbers of NumPy's; Python's are static."""
        one = np.dtype(kind).type(1)
        numbers, flag = pb.vmap(lambda x: ([one, np.asarray(one)], True))(np.ones(2))
        for out in numbers:
            assert out.dtype == kind
            assert out.tolist() == [1, 1]
        assert flag is True
        assert pb.vmap(lambda x: [one, x > 0], out_axes=-1)(np.ones((2, 3)))[0].shape == (2,)

    def test_integers_and_truth_values_are_mapped_too(self):
        out = pb.vmap(lambda n, b: np.where(b, n, -n))(np.array([1, 2]), np.array([True, False]))
        np.testing.assert_array_equal(out, [1, -2])
        assert out.dtype == np.int64

    def test_numbers_in_lists(self):
        """A list is a tree; stacked numbers are arrays."""
        with pytest.raises(pb.ShapeError, match=r"shape is\s+\(\)"):
            pb.vmap(np.sin)([1.0, 2.0])

    @pytest.mark.parametrize("n", [0, 1])
    def test_small_batches(self, n):
        out = pb.vmap(lambda x: np.sin(x) @ x)(np.ones((n, 3)))
        np.testing.assert_allclose(out, np.full(n, 3 * np.sin(1.0)))


class TestNesting:
    def test_vmap_of_vmap(self):
        outer = pb.vmap(lambda x: pb.vmap(lambda y: x * y, in_axes=0)(MATRIX[0]))
        np.testing.assert_array_equal(outer(MATRIX[1]), np.outer(MATRIX[1], MATRIX[0]))

    def test_vmap_of_vmap_over_all_pairs_of_axes(self):
        for i in range(3):
            for j in range(2):
                out = pb.vmap(pb.vmap(lambda x: np.sum(x * x), in_axes=j), in_axes=i)(CUBE)
                moved = np.moveaxis(np.moveaxis(CUBE, i, 0), 1 + j, 1)
                np.testing.assert_array_equal(out, (moved**2).sum(axis=2))

    def test_an_inner_vmap_of_something_outer(self):
        """The inner function does not see its own argument, but that of the outer vmap."""
        out = pb.vmap(lambda x: pb.vmap(lambda y: np.sum(x))(np.ones(4)))(MATRIX)
        np.testing.assert_array_equal(out, np.repeat(MATRIX.sum(axis=1)[:, None], 4, axis=1))

    def test_gradients_of_each_example(self):
        w = np.array([1.0, -1.0, 0.5])
        per_example = pb.vmap(pb.grad(lambda w, x: np.sin(w @ x)), in_axes=(None, 0))
        expected = np.cos(MATRIX @ w)[:, None] * MATRIX
        np.testing.assert_allclose(per_example(w, MATRIX), expected)

    def test_the_gradient_of_a_sum_over_a_batch(self):
        w = np.array([1.0, -1.0, 0.5])
        total = lambda w: np.sum(pb.vmap(lambda x: np.sin(w @ x))(MATRIX))
        np.testing.assert_allclose(pb.grad(total)(w), np.cos(MATRIX @ w) @ MATRIX)

    def test_forward_mode_inside_and_outside(self):
        f = lambda x: np.sin(x) * np.sum(x)
        v = np.ones(3)
        expected = [np.cos(x) * x.sum() + 3 * np.sin(x) for x in MATRIX]
        inside = pb.vmap(lambda x: pb.jvp(f, (x,), (v,))[1])(MATRIX)
        outside = pb.jvp(pb.vmap(f), (MATRIX,), (np.ones((2, 3)),))[1]
        np.testing.assert_allclose(inside, expected)
        np.testing.assert_allclose(outside, expected)

    def test_a_pullback_over_a_batch_of_cotangents(self):
        _, pullback = pb.vjp(lambda x: MATRIX @ x, np.ones(3))
        np.testing.assert_array_equal(pb.vmap(pullback)(np.eye(2))[0], MATRIX)

    def test_unmapped_primals_of_a_mapped_derivative(self):
        """jvp at one point along many directions."""
        out = pb.vmap(lambda v: pb.jvp(lambda x: x * x, (MATRIX[1],), (v,))[1])(np.eye(3))
        np.testing.assert_array_equal(out, np.diag(2 * MATRIX[1]))

    def test_detached_values_stay_mapped(self):
        f = lambda x: x * pb.stop_gradient(x)
        np.testing.assert_array_equal(pb.vmap(f)(MATRIX), MATRIX**2)
        np.testing.assert_array_equal(pb.vmap(pb.grad(f))(MATRIX[1]), MATRIX[1])
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(pb.vmap(f)(x)))(MATRIX), MATRIX)

    def test_results_under_an_outer_transformation_carry_its_derivative(self):
        out = pb.grad(lambda s: np.sum(pb.vmap(lambda x: x * s)(MATRIX)))(2.0)
        assert out == MATRIX.sum()


class TestErrors:
    def test_batches_of_different_sizes(self):
        with pytest.raises(pb.ShapeError) as caught:
            pb.vmap(np.add)(np.ones(2), np.ones(3))
        assert (
            "`vmap(add)` was given batches of different sizes: 2 in argument 0, 3 in argument 1"
            in str(caught.value)
        )
        assert "None in in_axes" in str(caught.value)

    def test_an_axis_that_is_not_there(self):
        with pytest.raises(
            pb.ShapeError, match=r"maps axis 2 of argument 0, whose shape is \(2, 3\)"
        ):
            pb.vmap(np.sin, in_axes=2)(MATRIX)
        with pytest.raises(pb.ShapeError, match=r"maps axis 0 of argument 1, whose shape is \(\)"):
            pb.vmap(np.add)(MATRIX, 1.0)

    def test_an_output_axis_that_is_not_there(self):
        with pytest.raises(pb.ShapeError, match=r"out_axes.*2.*shape \(3,\)"):
            pb.vmap(np.sin, out_axes=2)(MATRIX)

    def test_nothing_to_map(self):
        with pytest.raises(pb.ArgumentError, match="nothing to map"):
            pb.vmap(np.sin, in_axes=None)(MATRIX)
        with pytest.raises(pb.ArgumentError, match="nothing to map"):
            pb.vmap(lambda: 1.0)()

    def test_in_axes_for_another_number_of_arguments(self):
        with pytest.raises(
            pb.ArgumentError, match=r"in_axes=\(0, 0\), of length 2, but.* has 1 by"
        ):
            pb.vmap(np.sin, in_axes=(0, 0))(MATRIX)

    @pytest.mark.parametrize("axes", ["0", 0.0, True, {"a": 0}])
    def test_what_is_no_axis(self, axes):
        with pytest.raises(pb.ArgumentError, match="`vmap"):
            pb.vmap(np.sin, in_axes=(axes,))(MATRIX)
        with pytest.raises(pb.ArgumentError, match="`vmap"):
            pb.vmap(np.sin, out_axes=axes)(MATRIX)

    def test_a_prefix_that_does_not_fit(self):
        with pytest.raises(pb.ArgumentError, match=r"in_axes.*does not fit"):
            pb.vmap(lambda p: p["a"], in_axes=({"b": 0},))({"a": MATRIX})
        with pytest.raises(pb.ArgumentError, match=r"in_axes.*does not fit"):
            pb.vmap(lambda p: p[0], in_axes=((0, 0, 0),))((MATRIX, MATRIX))
        with pytest.raises(pb.ArgumentError, match=r"out_axes.*does not fit"):
            pb.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(MATRIX)

    def test_a_mapped_output_has_an_axis(self):
        with pytest.raises(pb.ArgumentError, match="out_axes=None for an output that is mapped"):
            pb.vmap(np.sin, out_axes=None)(MATRIX)

    @pytest.mark.parametrize(
        ("ask", "cure"),
        [
            (bool, "np.where"),
            (int, "Leave out `int`"),
            (lambda x: int(x * 1.0), "np.trunc(x)"),
            (lambda x: 1 if x > 0 else 2, "np.where"),
            (lambda x: [1, 2][x], "np.take(a, x, axis=0)"),
        ],
    )
    def test_one_answer_for_all_is_refused(self, ask, cure):
        with pytest.raises(pb.ConversionError) as caught:
            pb.vmap(ask)(np.array([0, 1]))
        assert "mapped by `vmap(" in str(caught.value)
        assert "holds 2 values" in str(caught.value)
        assert cure in str(caught.value)

    @pytest.mark.share(2)
    def test_one_answer_of_all_is_given(self):
        """A check of arguments, a stopping rule, a count: whatever all examples agree on."""

        def newton(a):
            x = a
            for _ in range(50):
                step = (x * x - a) / (2 * x)
                x = x - step
                if abs(step) < 1e-12:
                    break
            return x

        def checked(a):
            m = np.array([[1.0, a], [a, 4.0]])
            if not a > 0 or np.linalg.matrix_rank(m) < 2:
                raise ValueError
            row = int(np.argmax(m[:, 1]))
            return m[row, 0] * np.linalg.inv(m)[row, 0]

        a, others = np.array([0.7, 0.71]), np.array([0.6, 1e9])
        for f in (newton, checked):
            for law in (f, pb.grad(f), pb.grad(pb.grad(f))):
                expected = [law(each) for each in a]
                fast = pb.compile(pb.vmap(law), wait=True)
                for g in (pb.vmap(law), fast, fast):
                    np.testing.assert_allclose(g(a), expected, rtol=1e-13)
                if f is newton:
                    with pytest.raises(pb.ConversionError, match="which answer differently"):
                        fast(others)
                np.testing.assert_allclose(fast(a), expected, rtol=1e-13)
        with pytest.raises(ValueError, match="ambiguous"):
            pb.vmap(lambda x: 1 if x > 0 else 2)(np.ones((2, 3)))

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: max(x, 1.0) * min(x, 2.0),
            lambda x: max(x, x**2, 3) + min(2, x),
            lambda x: max([0.5, x, x**2]) - min(y * x for y in (1.0, -1.0)),
            lambda x: max(1.0, x),
        ],
    )
    def test_pythons_max_and_min(self, f):
        x = np.array([0.5, 1.5, 1.0, -2.0, np.nan])
        for law in (f, pb.grad(f)):
            np.testing.assert_array_equal(pb.vmap(law)(x), [law(each) for each in x])

    def test_pythons_max_of_arrays_is_refused(self):
        with pytest.raises((pb.ConversionError, ValueError)):
            pb.vmap(lambda x: max(x, x + 1))(MATRIX)

    def test_an_unmapped_value_may_be_asked(self):
        out = pb.vmap(lambda x, n: x * 2.0 if n > 1 else x, in_axes=(0, None))(MATRIX, 2)
        np.testing.assert_array_equal(out, 2 * MATRIX)

    def test_an_output_that_cannot_be_stacked(self):
        with pytest.raises(pb.ArgumentError, match="returned an object"):
            pb.vmap(lambda x: object())(MATRIX)

    def test_a_primitive_without_a_batch_rule_and_without_examples(self):
        @pb.primitive
        def lonely(x):
            return np.sin(x)

        np.testing.assert_allclose(pb.vmap(lonely)(MATRIX), np.sin(MATRIX))
        with pytest.raises(pb.ArgumentError, match=r"lonely.*no batch rule.*\n.*lonely\.defbatch"):
            pb.vmap(lonely)(np.ones((0, 3)))

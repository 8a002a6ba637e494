"""What is distinct, and orders in which ties stand."""

import functools
import inspect
import itertools

import numpy as np
import pytest

import pullback as pb

KEYWORDS = inspect.signature(np.unique).parameters


def tuples(x):
    return x if isinstance(x, tuple | list) else (x,)


class TestDistinct:
    def test_a_mapped_array_is_refused(self):
        """How many elements are distinct differs from example to example."""
        with pytest.raises(pb.ConversionError, match="different numbers of elements"):
            pb.vmap(np.unique)(np.array([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
        with pytest.raises(pb.ConversionError, match=r"numpy\.bincount"):
            pb.vmap(np.bincount)(np.array([[1, 1, 1], [0, 1, 5]]))

    def test_equal_elements_share(self):
        """A sum over distinct numbers and their counts has the derivative of the sum over all."""
        x = np.array([2.0, 1.0, 2.0])
        for unique in (np.unique, np.unique_values):
            np.testing.assert_array_equal(pb.grad(lambda x, u=unique: u(x)[1])(x), [0.5, 0, 0.5])
        rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
        gradient = pb.grad(lambda x: np.sum(np.unique(x, axis=0) ** 2))(rows)
        np.testing.assert_array_equal(gradient, [[1, 2], [6, 8], [1, 2]])
        held = pb.value_and_grad(lambda x: np.sum(np.unique(x)))(np.array([np.inf, np.inf, 1.0]))
        np.testing.assert_array_equal(held[1], [1, 0, 1])

    @pytest.mark.parametrize("kind", ["f8", "c16", "f4", "c8", ">f8", ">c16"])
    def test_order_is_numpys(self, kind):
        """Complex numbers come in the order of a hash table where no order is asked for."""
        draw = np.random.default_rng(0)
        keywords = [{}, {"return_inverse": True}, {"return_index": True}, {"return_counts": True}]
        keywords += [{"equal_nan": False}]
        keywords += [one | {"sorted": False} for one in keywords if "sorted" in KEYWORDS]
        named = [np.unique_values, np.unique_counts, np.unique_inverse, np.unique_all]
        functions = [*named, *[functools.partial(np.unique, **one) for one in keywords]]
        for n, f in itertools.product((0, 1, 7, 40), functions):
            x = draw.integers(-4, 5, n) + 1j * draw.integers(-1, 2, n)
            x[draw.integers(0, n, n // 8)] = np.nan
            x = (x if "c" in kind else x.real).astype(kind)
            outs = {"vjp": pb.vjp(f, x)[0]}
            if x.dtype.isnative:
                outs["vmap"] = [out[0] for out in tuples(pb.vmap(f)(np.array([x, x])))]
            for mode, found in outs.items():
                for out, wanted in zip(tuples(found), tuples(f(x)), strict=True):
                    assert out.dtype == wanted.dtype
                    np.testing.assert_array_equal(out, wanted, f"{f} of {x} by {mode}")

    def test_indices_are_plain(self):
        def f(x):
            values, index, inverse, counts = np.unique(x, True, True, True)
            assert {type(i) for i in (index, inverse, counts)} == {np.ndarray}
            return np.sum(values * counts)

        np.testing.assert_array_equal(pb.grad(f)(np.array([2.0, 1.0, 2.0])), [1, 1, 1])


class TestTies:
    def test_sort_permutes(self):
        """Among equal elements the derivative is the permutation that the algorithm chose."""
        x = np.array([2.0, 1.0, 2.0])
        jacobian = pb.jacobian(lambda x: np.sort(x, stable=True))(x)
        np.testing.assert_array_equal(jacobian, [[0, 1, 0], [1, 0, 0], [0, 0, 1]])

    def test_a_pole_that_is_not_read_stays_away(self):
        x = np.array([0.0, 4.0])
        f = lambda x: np.sort(np.sqrt(x))[1]
        np.testing.assert_array_equal(pb.grad(f)(x), [0, 0.25])


class TestHistograms:
    def test_complex_numbers_are_refused(self):
        """NumPy's bins for them are no intervals; what is compiled is called in Python."""
        z = np.array([0.1 + 1j, 0.5 + 0.2j, 0.3])
        with pytest.raises(pb.MissingRuleError, match="Count their real parts"):
            pb.vjp(lambda z: np.histogram(z, 3)[0], z)

    def test_a_rule_for_the_bins_is_asked_of_the_values(self):
        x = np.array([0.1, 0.45, 1.2, 1.7, 2.9])
        edges = pb.jacobian(lambda x: np.histogram_bin_edges(x, "sqrt"))(x)
        np.testing.assert_allclose(edges[0], [1, 0, 0, 0, 0])
        np.testing.assert_allclose(edges[-1], [0, 0, 0, 0, 1])


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.5.0", reason="from NumPy 2.5 on")
def test_downwards_in_place():
    x = pb.array([3.0, 1.0, 2.0], requires_grad=True)
    y = x * 2
    y.sort(descending=True)
    (y * np.arange(3.0)).sum().backward()
    np.testing.assert_array_equal(y.numpy(), [6.0, 4.0, 2.0])
    np.testing.assert_array_equal(x.grad, [0.0, 4.0, 2.0])


@pytest.mark.parametrize("dtype", ["e", "f", "d", "g", "F", "D", "G"])
def test_unique_numbers_of_each_dtype(dtype):
    """Also of long doubles, which are filled up by any bytes, and NaN, which sorting changes."""
    rng = np.random.default_rng(3)
    for i in range(20):
        x = rng.choice(np.array([0.1, 0.2, -0.0, 0.0, np.nan, 0.7]), (2, rng.integers(0, 7)))
        x = (x + 1j * rng.choice([0.0, -0.0], x.shape) if dtype in "FDG" else x).astype(dtype)
        x = x / 3 if i % 2 else x
        for how in ({}, {"equal_nan": False}):
            expected = np.unique(x, **how)
            found = pb.vjp(lambda x, how=how: np.unique(x, **how), x)[0]
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found.real), np.signbit(expected.real))

"""Reductions at the places where rules go wrong: ties, zeros, NaN, masks, no spread."""

import itertools
import warnings

import numpy as np
import pytest

import pullback as pb


class TestExtremes:
    def test_ties_share_and_sum_to_one(self):
        x = np.array([1.0, 3.0, 3.0, 2.0])
        np.testing.assert_array_equal(pb.grad(np.max)(x), [0, 0.5, 0.5, 0])
        assert pb.jvp(np.max, (x,), (np.array([1.0, 2.0, 4.0, 8.0]),))[1] == 3.0

    def test_initial_ties_with_the_elements(self):
        f = lambda v: np.max(np.stack([v, v + 1])[1:], initial=3.0)
        assert pb.grad(f)(2.0) == 0.5

    def test_nan_is_what_was_picked(self):
        x = np.array([1.0, np.nan, 3.0])
        np.testing.assert_array_equal(pb.grad(np.max)(x), [0, 1, 0])

    def test_what_was_not_picked_has_no_derivative_through_a_pole(self):
        """The partial of sqrt at 0 is inf; the minimum over the others does not see it."""
        x = np.array([0.0, 4.0])
        f = lambda x: np.max(np.sqrt(x))
        np.testing.assert_array_equal(pb.grad(f)(x), [0, 0.25])
        assert pb.jvp(f, (x,), (np.array([1.0, 4.0]),))[1] == 1.0

    def test_a_mask_and_nothing_left(self):
        x = np.array([1.0, 2.0])
        f = lambda x, v: np.max(x, where=np.array([False, False]), initial=v)
        out = pb.grad(lambda z: f(z[1:], z[0]))(np.array([5.0, 1.0, 2.0]))
        np.testing.assert_array_equal(out, [1, 0, 0])
        assert f(x, 5.0) == 5.0


class TestMasks:
    @pytest.mark.parametrize("fun", [np.sum, np.mean, np.prod, np.std, np.var])
    def test_what_the_mask_leaves_out_is_exactly_zero(self, fun):
        """The elements left out are poles of the function before; their zeros stay zeros."""
        x = np.array([0.0, 1.0, 4.0, 9.0])

        def f(x):
            return fun(np.sqrt(x), where=x > 0)

        gradient = pb.grad(f)(x)
        assert gradient[0] == 0
        assert np.isfinite(gradient).all()
        assert np.isfinite(pb.jvp(f, (x,), (np.ones(4),))[1])

    @pytest.mark.parametrize("fun", [np.sum, np.mean, np.prod, np.max, np.any, np.all])
    def test_a_mapped_mask_over_a_plain_array(self, fun):
        a = np.arange(6.0).reshape(2, 3)
        masks = np.array([[True, False, True], [False, True, True]])
        more = {"initial": 0.5} if fun is np.max else {}
        out = pb.vmap(lambda mask: fun(a, axis=1, where=mask, **more))(masks)
        for row, mask in zip(out, masks, strict=True):
            np.testing.assert_array_equal(row, fun(a, axis=1, where=mask, **more))


def product_derivatives(x):
    """Gradient and Hessian of a product, from the products of all but one and all but two."""
    n = range(len(x))
    gradient = [np.prod(np.delete(x, i)) for i in n]
    hessian = [[0 if i == j else np.prod(np.delete(x, [i, j])) for j in n] for i in n]
    return gradient, hessian


class TestProducts:
    @pytest.mark.parametrize("zeros", list(itertools.product([False, True], repeat=3)))
    def test_exact_with_zeros_to_second_order(self, zeros):
        x = np.where([*zeros, False], 0.0, np.array([2.0, -3.0, 5.0, 7.0]))
        gradient, hessian = product_derivatives(x)
        np.testing.assert_array_equal(pb.grad(np.prod)(x), gradient)
        np.testing.assert_array_equal(pb.hessian(np.prod)(x), hessian)
        np.testing.assert_array_equal(pb.hessian(lambda x: np.cumprod(x)[-1])(x), hessian)

    def test_third_order(self):
        f = np.prod
        for _ in range(3):
            f = pb.jacobian(f)
        assert f(np.zeros(3))[0, 1, 2] == 1

    def test_a_long_product(self):
        x = np.random.default_rng(0).uniform(0.5, 1.5, 1000)
        np.testing.assert_allclose(pb.grad(np.prod)(x), np.prod(x) / x, rtol=1e-12)
        jacobian = pb.grad(lambda x: np.sum(np.cumprod(x)))(x)
        np.testing.assert_allclose(jacobian, np.cumsum(np.cumprod(x)[::-1])[::-1] / x, rtol=1e-10)


class TestSpread:
    def test_no_spread_is_a_kink_of_std_with_derivative_zero(self):
        x = np.ones((2, 3))
        np.testing.assert_array_equal(pb.grad(np.std)(x), 0)
        with pytest.warns(pb.LostDerivativeWarning, match="kink"):
            np.testing.assert_array_equal(pb.hessian(np.std)(x), 0)
        assert pb.jvp(np.std, (x,), (x * 2,))[1] == 0

    def test_equal_numbers_whose_mean_is_rounded(self):
        """The deviations are rounding, and so is their root: the gradient adds up to zero."""
        x = np.full(3, 0.1)
        assert np.std(x) != 0
        assert abs(np.sum(pb.grad(np.std)(x))) < 1e-12
        assert abs(pb.jvp(np.std, (x,), (np.ones(3),))[1]) < 1e-12

    def test_far_from_zero(self):
        """Two passes: the deviations do not drown in the mean."""
        x = 1e8 + np.array([1.0, 2.0, 4.0])
        np.testing.assert_allclose(pb.grad(np.var)(x), pb.grad(np.var)(x - 1e8), rtol=1e-7)

    def test_the_mean_that_is_given_is_an_argument(self):
        x = np.array([1.0, 2.0, 6.0])
        f = lambda x: np.var(x, mean=np.mean(x, keepdims=True))
        np.testing.assert_allclose(pb.grad(f)(x), pb.grad(np.var)(x))
        g = lambda z: np.var(z[:3], mean=z[3:])
        gradient = pb.grad(g)(np.array([1.0, 2.0, 6.0, 1.0]))
        np.testing.assert_allclose(gradient, [0, 2 / 3, 10 / 3, -4])


class TestNan:
    def test_a_slice_of_nan_warns_as_numpy_does(self):
        x = np.array([[np.nan, np.nan], [1.0, 2.0]])
        for fun in (np.nanmean, np.nanvar, np.nanmax, np.nanmedian):
            with pytest.warns(RuntimeWarning, match="empty slice|All-NaN|freedom"):
                out, pullback = pb.vjp(lambda x, fun=fun: fun(x, axis=1), x)
            assert np.isnan(out[0])
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                (x_bar,) = pullback(np.ones(2))
            assert np.isfinite(x_bar[1]).all()


class TestQuantiles:
    def test_derivative_in_q_is_the_gap(self):
        x = np.array([3.0, 1.0, 7.0])
        assert pb.grad(lambda q: np.quantile(x, q))(0.75) == pytest.approx(2 * (7 - 3))
        assert pb.grad(lambda q: np.percentile(x, q))(25.0) == pytest.approx(2 * (3 - 1) / 100)

    def test_one_number_is_a_scalar(self):
        """As NumPy has it, and not an array without dimensions."""
        x = np.array([1.0, 3.0, 2.0])
        for f in (
            lambda x: np.quantile(x, 0.3),
            lambda x: np.percentile(x, 30),
            lambda x: np.nanquantile(x, 0.3),
        ):
            assert type(f(x)) is type(pb.vjp(f, x)[0]) is np.float64
            assert [type(part) for part in pb.jvp(f, (x,), (x,))] == [np.float64] * 2

    def test_only_two_elements_matter(self):
        x = np.array([3.0, 1.0, 7.0, 5.0, 9.0])
        np.testing.assert_allclose(pb.grad(lambda x: np.quantile(x, 0.3))(x), [0.8, 0, 0, 0.2, 0])
        np.testing.assert_allclose(pb.grad(np.median)(x), [0, 0, 0, 1, 0])


class TestResults:
    def test_dtypes_of_accumulation(self):
        x = np.full(4, 0.1, np.float16)
        for fun in (np.sum, np.mean, np.prod, np.cumsum, np.var, np.median):
            out, pullback = pb.vjp(fun, x)
            assert out.dtype == np.float16
            assert pullback(out)[0].dtype == np.float16

    def test_answers_are_plain_under_grad_and_mapped_under_vmap(self):
        seen = []

        def f(x):
            seen.extend([np.argmax(x), np.any(x > 2), np.count_nonzero(x)])
            return np.sum(x)

        pb.grad(f)(np.array([1.0, 3.0]))
        assert [type(answer) is pb.Array for answer in seen] == [False] * 3
        out = pb.vmap(np.argmax)(np.array([[1.0, 3.0], [4.0, 3.0]]))
        np.testing.assert_array_equal(out, [1, 0])

    @pytest.mark.parametrize("fun", [np.sum, np.mean, np.max, np.prod, np.var])
    def test_one_node(self, fun):
        def f(x):
            out = fun(x, axis=0, keepdims=True)
            assert out.node.parents[0] is x.node
            return np.sum(out)

        pb.grad(f)(np.ones((2, 3)))

    def test_a_large_sum(self):
        """Its cotangent is a view; the gradient is an array of its own."""
        x = np.ones((1000, 1000))
        gradient = pb.grad(np.sum)(x)
        np.testing.assert_array_equal(gradient, x)
        assert gradient.flags.writeable


NANS = [np.float64(np.nan), np.float64(1.5)]
NANS += map(np.array, [np.nan, 1.5, [], [np.nan] * 2, [np.nan, 2.0], [[np.nan, 1.0], [np.nan] * 2]])


@pytest.mark.parametrize("fun", [np.nanmin, np.nanmax])
def test_initial_values_beside_nan(fun):
    """NumPy has `initial` for all-NaN arrays, and NaN for such numbers, and lists of either."""

    def outcome(f, x):
        try:
            return np.asarray(f(x)).tolist()
        except ValueError:
            return "raises"

    ways = [lambda f: lambda x: pb.vjp(f, x)[0], lambda f: lambda x: pb.vmap(f)(np.array([x]))[0]]
    beside = ({}, {"initial": 1.0}, {"initial": -2.0}, {"initial": np.nan})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        forms = (lambda x: x, lambda x: [x, x], lambda x: ((x,), [2 * x]))
        for x, one, mask, form in itertools.product(NANS, beside, ({}, {"where": False}), forms):
            f = lambda x, options=one | mask, form=form: fun(form(x), **options)
            for way in ways[: 1 if type(x) is np.ndarray and not x.ndim else 2]:  # mapped: a number
                np.testing.assert_equal(outcome(way(f), x), outcome(f, x), f"{x} {one} {mask}")


INITIALS = [
    2, 2.5, 2j, 1 + 0j, np.complex128(2j), np.float32(0.1), np.int64(300), np.int64(-1),
    np.array(300), np.nan, -np.inf, True, np.bool_(True), -1, 10**30, "2", "a", b"2",
    np.array(2.5), np.array(2j), [1.0, 2], 2**63, np.uint8(3), 1e300, object(),
]  # fmt: skip
REDUCED = (np.sum, np.prod, np.max, np.min, np.nansum, np.nanprod, np.nanmax)


def attempt(f):
    """What a call gives, or the class of the error that callers can name."""
    try:
        return np.asarray(f())
    except Exception as error:
        kinds = (kind for kind in type(error).__mro__ if not kind.__name__.startswith("_"))
        return next(kinds)


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore")  # numbers that are cast overflow, or lose a part
@pytest.mark.parametrize("dtype", [float, np.float32, np.float16, complex, int, np.int8, np.uint8])
@pytest.mark.parametrize("initial", INITIALS, ids=map(repr, [*INITIALS[:-1], "an object"]))
def test_initial_values_are_cast_or_refused_as_in_numpy(initial, dtype):
    """Also a Python complex of a real sum, and integers that do not fit."""
    rows = np.array([[3, 7], [1, 2]]).astype(dtype)
    for function in REDUCED:
        f = lambda x, function=function: function(x, initial=initial)
        mapped = attempt(lambda f=f: pb.vmap(f)(rows))
        each = attempt(lambda f=f: np.array([f(row) for row in rows]))
        ways = [(mapped, each)]
        if np.dtype(dtype).kind in "fc":
            ways.append((attempt(lambda f=f: pb.vjp(f, rows)[0]), attempt(lambda f=f: f(rows))))
        for ours, theirs in ways:
            if isinstance(theirs, type):
                assert isinstance(ours, type)
                assert issubclass(ours, theirs)
            else:
                assert ours.dtype == theirs.dtype
                np.testing.assert_allclose(ours, theirs, rtol=1e-3 if dtype is np.float16 else 1e-6)

"""Zeros, kinks and range: what derivatives are where a formula alone would say NaN."""

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.spatial.distance
import scipy.special

import pullback as pb
from pullback import LostDerivativeWarning, grad, jvp, vjp

FORWARD = {"over": "ignore", "divide": "ignore", "invalid": "ignore"}


def quiet(f):
    """f, whose forward pass may warn as NumPy does; what warns after it fails the test."""

    def call(*xs):
        with np.errstate(**FORWARD):
            return f(*xs)

    return call


def derivative(f, *xs):
    """The derivatives of an elementwise f by both modes, which must agree to the last zero."""
    f = quiet(f)
    out, pullback = vjp(f, *xs)
    reverse = pullback(np.ones_like(out))
    forward = []
    for i, x in enumerate(xs):
        tangents = [None] * len(xs)
        tangents[i] = np.ones_like(x)
        forward.append(jvp(f, xs, tangents)[1])
    for a, b in zip(reverse, forward, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    return reverse if len(xs) > 1 else reverse[0]


def second(f, x):
    """The second derivative of an elementwise f by four ways."""
    f, one = quiet(f), np.ones_like(x)

    def reverse(x):
        return vjp(f, x)[1](one)[0]

    def forward(x):
        return jvp(f, (x,), (one,))[1]

    ways = [h for g in (reverse, forward) for h in (vjp(g, x)[1](one)[0], jvp(g, (x,), (one,))[1])]
    for way in ways[1:]:
        np.testing.assert_allclose(way, ways[0], rtol=1e-12)
    return ways[0]


def same(actual, expected):
    """Equal numbers, NaN and infinity included."""
    np.testing.assert_array_equal(actual, np.asarray(expected))


class TestStructuralZeros:
    """What was not picked has no derivative, whatever its partial is."""

    X = np.array([-1.0, 2.0])

    @pytest.mark.parametrize(
        ("f", "slope"),
        [
            (np.sqrt, 0.5 / np.sqrt(2)),
            (np.log, 0.5),
            (lambda x: 1 / np.maximum(x, 0), -0.25),
            (lambda x: x**0.5, 0.5 / np.sqrt(2)),
            (lambda x: x**1.5, 1.5 * np.sqrt(2)),
            (lambda x: np.arccosh(x), 1 / np.sqrt(3)),
            (lambda x: np.arccos(x / 4) * 0 + np.log(np.log(x + 1)), 1 / (3 * np.log(3))),
        ],
    )
    def test_where(self, f, slope):
        """where(x > 0, f(x), 0) has derivative 0 outside of the domain of f, twice."""

        def masked(x):
            return np.where(x > 0, f(x), 0)

        out = derivative(masked, self.X)
        assert out[0] == 0
        np.testing.assert_allclose(out[1], slope)
        assert second(masked, self.X)[0] == 0

    def test_where_keeps_its_mask_through_many_operations(self):
        """A mask travels with the cotangent through elementwise operations and rearrangements."""

        def f(x):
            y = np.sqrt(-np.log(x)).reshape(2, 1).T
            return np.where(x > 0, y * 2 + 1, 0)[0]

        same(derivative(f, np.array([-1.0, 0.5]))[0], 0)

    def test_rows_left_out(self):
        """A row that is left out may hold NaN, whatever it went through on its way."""
        a = np.array([[1.0, 2.0, 0.7], [np.nan, 3.0, 1.0], [0.5, np.inf, 0.2]])
        m = np.array([[[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]]] * 3)
        m[1, 0, 0], m[2, 1, 1] = np.nan, np.inf
        keep = np.array([True, False, False])
        loops = {
            "np.linalg.norm": np.linalg.norm,
            "np.var": np.var,
            "np.prod": np.prod,
            "cumsum": lambda r: np.cumsum(r)[-1],
            "logsumexp": scipy.special.logsumexp,
            "np.median": np.median,
        }
        products = {
            "matmul": lambda x: a @ x,
            "dot": lambda x: np.dot(x, a.T),
            "stack": lambda x: np.matmul(a[:, None, :], x)[:, 0],
            "einsum": lambda x: np.einsum("ij,j,j->i", a, x, x),
            "tensordot": lambda x: np.tensordot(a, x, 1),
            "inner": lambda x: np.inner(a, x),
            "outer": lambda x: np.outer(a[:, 0], x)[:, 1],
            "convolve": lambda x: np.convolve(a[:, 0], x)[:3],
            "of rows": lambda x: (a * x) @ np.ones((3, 2)),
            "einsum of rows": lambda x: np.einsum("ij,ij->i", a * x, a * x),
            "vecdot": lambda x: np.vecdot(a * x, a * x),
            "convolve rows": lambda x: np.stack([np.convolve(r * x, x) for r in a]),
            "cross": lambda x: np.cross(a, x) + np.cross(a * x, x),
            "cdist": lambda x: scipy.spatial.distance.cdist(a, x[None])[:, 0],
        }
        along = {
            "sum": lambda y: np.sum(y, axis=1),
            "mean": lambda y: np.mean(y**2, axis=1, keepdims=True),
            "prod": lambda y: np.prod(y, axis=1),
            "max": lambda y: np.max(y, axis=1),
            "std": lambda y: np.std(y, axis=1, keepdims=True),
            "norm": lambda y: np.linalg.norm(y, axis=1),
            "norm of order 3": lambda y: np.linalg.norm(y, 3, axis=1),
            "cumsum": lambda y: np.cumsum(y, axis=1),
            "cumprod": lambda y: np.cumprod(y, axis=1),
            "diff": lambda y: np.diff(y, axis=1),
            "gradient": lambda y: np.gradient(y, axis=1),
            "quantile": lambda y: np.quantile(y, [0.2, 0.7], axis=1).T,
            "fft": lambda y: np.abs(np.fft.rfft(y, axis=1)) + np.fft.fft(y, axis=1)[:, :2].real,
            "irfft": lambda y: np.fft.irfft(y, axis=1),
            "cov": lambda y: np.cov(y)[:, :1],
            "sinc": np.sinc,
            "logsumexp": lambda y: scipy.special.logsumexp(y, axis=1),
            "lfilter": lambda y: scipy.signal.lfilter([1.0, 0.5], [1.0, -0.3], y, axis=1),
            "gaussian": lambda y: scipy.ndimage.gaussian_filter1d(y, 1.0, axis=1),
        }
        rows = {
            **products,
            **{name: lambda x, f=f: f(a * x) for name, f in along.items()},
            **{
                f"{name} of each": lambda x, f=f: np.array([f(row * x) for row in a])
                for name, f in loops.items()
            },
            "slogdet": lambda x: np.linalg.slogdet(m * x)[1],
            "solve": lambda x: np.linalg.solve(m * x, np.ones((3, 3, 1)))[..., 0],
            "trace": lambda x: np.trace(m * x, axis1=1, axis2=2),
        }

        def total(x, row):
            y = row(x)
            kept = keep.reshape(-1, *[1] * (y.ndim - 1))
            return np.sum(np.where(kept, y, 0.0) ** 2)

        x, faults, expected = np.array([0.3, -0.5, 0.9]), [], 0.0
        with np.errstate(all="ignore"):
            for name, row in rows.items():
                of_row = pb.jacobian(total, mode="forward")(x, row)
                assert np.isfinite(of_row).all()
                expected = expected + of_row
                found = pb.grad(total)(x, row)
                faults += [(name, found)] if not np.allclose(found, of_row) else []
            assert faults == []
            every = lambda x: sum(total(x, row) for row in rows.values())
            assert np.allclose(pb.compile(pb.grad(every), wait=True)(x), expected)
            assert np.allclose(pb.vmap(pb.grad(every))(np.stack([x, x]))[1], expected)
            assert np.isfinite(pb.hessian(every)(x)).all()
            lost = pb.grad(lambda x: np.sum(np.where(~keep, a @ x, 0.0)))(x)
        assert np.isnan(lost).any()

    def test_a_pass_that_meets_nan_goes_again(self):
        """It does so without NaN, before a rule of the user's own sees any, or says so."""
        x, keep, faults = np.array([0.0, 4.0]), np.array([False, True]), []
        at_most_one = pb.custom_vjp(lambda x: x)
        at_most_one.defvjp(lambda x: (x, None), lambda _, bar: (np.fmin(bar, 1.0),))
        copied = pb.primitive(lambda x: x.copy())
        copied.defvjp(lambda bar, residual, wanted: (np.fmin(bar, 1.0),))
        below = {"plain": lambda x: 1.0 * x, "custom_vjp": at_most_one, "primitive": copied}
        along = {
            "cumsum": lambda y: np.cumsum(y[:, None] * np.ones(2), axis=1)[:, -1],
            "norm": lambda y: np.linalg.norm(y[:, None] * np.ones(2), axis=1),
            "matmul": lambda y: (y[:, None] * np.ones(2)) @ np.ones(2),
            "einsum": lambda y: np.einsum("i,j->i", y, np.ones(2)),
        }
        for name, first in below.items():
            for way, then in along.items():
                rows = lambda x, first=first, then=then: then(np.sqrt(first(x)))
                total = lambda x, rows=rows: np.sum(np.where(keep, rows(x), 0.0))
                expected = [
                    0.0,
                    jvp(lambda t, then=then: then(np.sqrt(t)), (x,), (keep * 1.0,))[1][1],
                ]
                leaf = pb.array(x, requires_grad=True)
                out, pullback = total(leaf), vjp(total, x)[1]
                out.backward()
                with pytest.raises(pb.PullbackError, match="have been freed"):
                    out.backward()
                found = [grad(total)(x), pullback(1.0)[0], pullback(1.0)[0], leaf.grad]
                with pb.debug_nans():
                    found.append(grad(total)(x))
                faults += [(name, way, g) for g in found if not np.allclose(g, expected)]
        assert faults == []

    def test_select(self):
        """So is what select did not pick."""
        f = lambda x: np.select([x > 0, x < -5], [np.sqrt(x), 1 / x], default=1.0)
        same(derivative(f, np.array([-1.0, 4.0])), [0, 0.25])

    def test_clip(self):
        """Outside of its bounds clip has no derivative, also of a pole."""
        f = lambda x: np.clip(np.sqrt(x), 1, 5)
        same(derivative(f, np.array([0.0, 4.0, 100.0])), [0, 0.25, 0])

    @pytest.mark.parametrize("pick", [np.maximum, np.fmax])
    def test_maximum(self, pick):
        """The operand that was not picked has none."""
        same(derivative(lambda x: pick(np.sqrt(x), 1.0), np.array([0.0, 4.0])), [0, 0.25])
        assert derivative(lambda x: pick(np.sqrt(x), 1.0), np.float64(0.0)) == 0
        assert second(lambda x: pick(np.sqrt(x), 1.0), np.array([0.0]))[0] == 0

    def test_nan_to_num(self):
        """What was replaced has none."""
        same(derivative(lambda x: np.nan_to_num(np.sqrt(x)), np.array([-1.0, 4.0])), [0, 0.25])

    def test_piecewise(self):
        """Each function counts where its condition holds."""
        f = lambda x: np.piecewise(x, [x > 0, x <= 0], [np.sqrt, 0.0])
        same(derivative(f, np.array([-1.0, 0.0, 4.0])), [0, 0, 0.25])


class TestOverflowRounds:
    """What overflows counts as a large finite number: a computed zero times it is zero."""

    FAR = np.array([-800.0, 800.0])

    def test_softplus(self):
        """log(1 + exp(x)) has derivative 0 and 1 far out, and no curvature."""
        f = lambda x: np.log(1 + np.exp(x))
        same(derivative(f, self.FAR), [0, 1])
        assert derivative(f, np.float64(800.0)) == 1
        assert grad(quiet(f))(800.0) == 1
        same(second(f, self.FAR), [0, 0])
        np.testing.assert_allclose(second(f, np.array([400.0])), 0, atol=1e-150)

    def test_negative_logarithm_of_sigmoid(self):
        """-log(1 + exp(-x)) has derivative 1 and 0."""
        f = lambda x: -np.log(1 + np.exp(-x))
        same(derivative(f, self.FAR), [1, 0])
        assert derivative(f, np.float64(-800.0)) == 1

    def test_sigmoid(self):
        """1 / (1 + exp(-x)) has derivative 0 at both ends."""
        f = lambda x: 1 / (1 + np.exp(-x))
        same(derivative(f, self.FAR), [0, 0])
        assert derivative(f, np.float64(-800.0)) == 0
        same(second(f, self.FAR), [0, 0])

    @pytest.mark.parametrize("dtype", [np.float32, np.float16])
    def test_narrow_dtypes(self, dtype):
        """The same in single and half precision, in their own dtype."""
        x = np.array([-120, 120], dtype)
        for f, slopes in [
            (lambda x: np.log(1 + np.exp(x)), [0, 1]),
            (lambda x: -np.log(1 + np.exp(-x)), [1, 0]),
            (lambda x: 1 / (1 + np.exp(-x)), [0, 0]),
        ]:
            out = derivative(f, x)
            assert out.dtype == dtype
            same(out, slopes)
            same(derivative(f, x[0]), slopes[0])

    def test_tangents_may_be_larger_than_one(self):
        """There is room above the number that stands for infinity."""
        out_dot = jvp(quiet(lambda x: np.log(1 + np.exp(x))), (800.0,), (3.0,))[1]
        assert out_dot == 3

    @pytest.mark.parametrize(
        ("f", "x"),
        [
            (np.exp, 800.0),
            (np.exp2, 1100.0),
            (np.expm1, 800.0),
            (np.cosh, 800.0),
            (np.cosh, -800.0),
            (np.sinh, -800.0),
            (np.square, 1e200),
            (np.square, 1.5e308),
            (lambda x: x**2, 1.5e308),
            (lambda x: x**3, -1e200),
            (lambda x: x**2.5, 1e200),
            (lambda x: x**-2, 1e-200),
            (lambda x: x ** np.array([2.5]), 1e200),
            (lambda x: 2.0**x, 1100.0),
            (lambda x: np.power(x, 2 * x / x), 1e200),
        ],
    )
    def test_zero_times_overflow(self, f, x):
        """1 / (1 + f(x)) has derivative zero where f overflows."""
        g = lambda x: 1 / (1 + f(x))
        assert derivative(g, np.array([x]))[0] == 0
        if not isinstance(quiet(f)(np.float64(x)), np.ndarray):
            assert derivative(g, np.float64(x)) == 0

    def test_logarithms_of_infinity(self):
        """An infinite argument counts as finite in each logarithm."""
        slopes = {np.log: 1, np.log1p: 1, np.log2: 1 / np.log(2), np.log10: 1 / np.log(10)}
        for log, slope in slopes.items():
            out = derivative(lambda x, log=log: log(np.exp(x)), np.array([800.0]))
            np.testing.assert_allclose(out, slope, rtol=1e-12)

    def test_complex(self):
        """A complex exponential that overflows does not make NaN either."""
        z = np.array([800 + 1j])
        f = quiet(lambda z: 1 / (1 + abs(np.exp(z))))
        out, pullback = vjp(f, z)
        same(pullback(np.ones_like(out))[0], [0])

    def test_finite_functions_do_not_overflow(self):
        """The derivative is right wherever the function itself is in range."""
        big = np.array([1e200, -1e200])
        np.testing.assert_allclose(derivative(np.arcsinh, big), [1e-200, 1e-200], rtol=1e-14)
        np.testing.assert_allclose(derivative(np.arccosh, big[:1]), [1e-200], rtol=1e-14)
        x_bar, y_bar = derivative(np.hypot, big, big)
        np.testing.assert_allclose(x_bar, [np.sqrt(0.5), -np.sqrt(0.5)])
        np.testing.assert_allclose(y_bar, x_bar)
        tiny = np.array([1e-200])
        np.testing.assert_allclose(derivative(np.hypot, tiny, tiny)[0], np.sqrt(0.5))
        x_bar, y_bar = derivative(np.arctan2, big, abs(big))
        np.testing.assert_allclose(x_bar, [5e-201, 5e-201])
        np.testing.assert_allclose(y_bar, [-5e-201, 5e-201])
        np.testing.assert_allclose(derivative(np.arctan2, tiny, tiny)[0], 5e199)
        same(derivative(np.tanh, self.FAR), [0, 0])
        same(derivative(np.arctan, big), [0, 0])
        np.testing.assert_allclose(derivative(np.logaddexp, self.FAR, self.FAR)[0], 0.5)
        same(derivative(np.logaddexp, self.FAR, self.FAR[::-1])[0], [0, 1])
        same(derivative(lambda x: np.ldexp(x, 1100), np.array([1e-200])), [np.inf])
        same(derivative(lambda x: np.ldexp(np.ldexp(x, -1000), 1000), np.array([3.0])), [1])

    @pytest.mark.parametrize("f", [np.logaddexp, np.logaddexp2])
    def test_second_derivatives_of_logaddexp_far_apart(self, f):
        """The weight of the smaller one is 0 exactly, however steep both are."""
        for size in (1e4, 1e20, 1e100):
            apart = lambda t, s=size: f(-s * t, -2.0 * s * t * t)
            for inner in ("forward", "reverse"):
                for outer in ("forward", "reverse"):
                    slope = pb.jacobian(apart, mode=inner)
                    assert slope(1.0) == -size
                    assert pb.jacobian(slope, mode=outer)(1.0) == 0


class TestPoles:
    """A computed zero times a partial that is infinite at a pole is NaN."""

    def test_where_at_the_pole(self):
        """where(x >= 0, sqrt(x), 0) has 0 for x < 0 and infinity at 0."""
        f = lambda x: np.where(x >= 0, np.sqrt(x), 0)
        same(derivative(f, np.array([-1.0, 0.0, 4.0])), [0, np.inf, 0.25])

    def test_poles_are_infinite(self):
        """The partials themselves."""
        for f in (np.sqrt, np.cbrt, np.log, np.log2, np.log10, lambda x: x**0.5, lambda x: x**0.3):
            assert derivative(f, np.float64(0.0)) == np.inf
            same(derivative(f, np.array([0.0])), [np.inf])
        for f in (lambda x: 1 / x, np.reciprocal, lambda x: x**-1, lambda x: x**-1.0):
            assert derivative(f, np.float64(0.0)) == -np.inf
            same(derivative(f, np.array([0.0])), [-np.inf])
        assert derivative(np.arctanh, np.float64(1.0)) == np.inf
        assert derivative(np.log1p, np.float64(-1.0)) == np.inf
        assert derivative(np.arcsin, np.float64(1.0)) == np.inf
        assert derivative(np.arccos, np.float64(1.0)) == -np.inf
        assert derivative(np.arccosh, np.float64(1.0)) == np.inf

    def test_computed_zero_at_a_pole(self):
        """sqrt(x)**2 at 0 is NaN and not 0: a zero that was computed is no structural one."""
        for f in (
            lambda x: np.sqrt(x) ** 2,
            lambda x: (x**0.5) ** 2,
            lambda x: np.cbrt(x) ** 3,
            lambda x: x * np.log(x),
            lambda x: np.sqrt(x * x),
        ):
            assert np.isnan(derivative(f, np.float64(0.0)))
            assert np.isnan(derivative(f, np.array([0.0]))[0])

    def test_angle_of_zero(self):
        """arctan2 has a pole at the origin."""
        assert np.isnan(derivative(np.arctan2, np.array([0.0]), np.array([0.0]))[0][0])


class TestKinks:
    """At a kink, an element of the generalised gradient."""

    @pytest.mark.parametrize("zero", [np.float64(0.0), np.array([0.0]), np.float32(0.0)])
    def test_abs_and_sign(self, zero):
        """They have 0 at 0."""
        for f in (np.abs, np.fabs, np.sign, abs):
            same(derivative(f, zero), np.zeros_like(zero))
            with pytest.warns(LostDerivativeWarning, match="kink where its argument is 0"):
                same(second(f, zero), np.zeros_like(zero))

    def test_complex_abs(self):
        """|z| has 0 at 0 as well."""
        _, pullback = vjp(np.abs, np.array([0j, 3 + 4j]))
        np.testing.assert_allclose(pullback(np.ones(2))[0], [0, 0.6 - 0.8j])

    def test_hypot(self):
        """0 at the origin, for arrays and scalars, both orders."""
        zero = np.array([0.0])
        for bar in derivative(np.hypot, zero, zero):
            same(bar, [0])
        assert derivative(lambda x: np.hypot(x, 0.0), np.float64(0.0)) == 0
        with pytest.warns(LostDerivativeWarning, match="kink where both arguments are 0"):
            same(second(lambda x: np.hypot(x, x), zero), [0])

    @pytest.mark.parametrize("pick", [np.maximum, np.minimum, np.fmax, np.fmin])
    def test_ties(self, pick):
        """Ties share and sum to one: maximum(x, x) has 1."""
        for x in (np.float64(1.5), np.array([1.5, -2.0]), np.float32(2)):
            same(derivative(lambda x: pick(x, x), x), np.ones_like(x))
            for bar in derivative(pick, x, x):
                same(bar, np.full_like(x, 0.5))
        same(derivative(lambda x: pick(x, 0), np.array([0.0])), [0.5])
        assert derivative(lambda x: pick(x, 0), np.float64(0.0)) == 0.5

    def test_nan(self):
        """The derivative goes to the operand that the value came from."""
        x, y = np.array([np.nan, 1.0, np.nan, 1.0]), np.array([1.0, np.nan, np.nan, 2.0])
        same(derivative(np.maximum, x, y)[0], [1, 0, 0.5, 0])
        same(derivative(np.maximum, x, y)[1], [0, 1, 0.5, 1])
        same(derivative(np.fmax, x, y)[0], [0, 1, 0.5, 0])
        same(derivative(np.fmin, x, y)[1], [1, 0, 0.5, 0])
        for i in range(4):
            same(derivative(np.maximum, x[i], y[i])[0], [1, 0, 0.5, 0][i])
            same(derivative(np.fmax, x[i], y[i])[0], [0, 1, 0.5, 0][i])

    def test_clip(self):
        """At a bound, the derivative is shared with the bound."""
        x, low, high = np.array([0.0, 0.5, 1.0]), np.float64(0.0), np.float64(1.0)
        x_bar, low_bar, high_bar = vjp(np.clip, x, low, high)[1](np.ones(3))
        same(x_bar, [0.5, 1, 0.5])
        assert (low_bar, high_bar) == (0.5, 0.5)

    def test_powers(self):
        """x**0 has 0, also at 0; x**1 has 1; 0**y has 0 in y."""
        for x in (np.float64(0.0), np.array([0.0])):
            for exponent in (0, 0.0, np.zeros_like(x)):
                same(derivative(lambda x, p=exponent: x**p, x), np.zeros_like(x))
                same(second(lambda x, p=exponent: x**p, x), np.zeros_like(x))
            for exponent in (1, 1.0, np.ones_like(x)):
                same(derivative(lambda x, p=exponent: x**p, x), np.ones_like(x))
                same(second(lambda x, p=exponent: x**p, x), np.zeros_like(x))
            for exponent in (2, 2.0, np.ones_like(x) * 2):
                same(derivative(lambda x, p=exponent: x**p, x), np.zeros_like(x))
                same(second(lambda x, p=exponent: x**p, x), np.full_like(x, 2))
            for y in (-1.0, 0.0, 0.5, 2.0):
                same(derivative(lambda y: 0.0**y, x + y), np.zeros_like(x))
                same(derivative(lambda y, x=x: x**y, x + y), np.zeros_like(x))

    def test_negative_bases(self):
        """(-2)**3 has 12 in the base, and no derivative in the exponent."""
        x, y = np.array([-2.0, -2.0]), np.array([3.0, -1.0])
        x_bar, y_bar = derivative(np.power, x, y)
        np.testing.assert_allclose(x_bar, [12, -0.25])
        same(y_bar, [0, 0])
        x_bar, y_bar = derivative(np.power, x[0], y[0])
        assert x_bar == 12
        assert y_bar == 0

    def test_steps(self):
        """Functions that are locally constant have zero, and are Arrays still."""
        x = np.array([0.5, 1.0, -2.0])
        for f in (np.floor, np.ceil, np.trunc, np.rint, np.round, np.fix, np.sign, np.spacing):
            same(derivative(f, x), np.zeros(3))
        same(derivative(lambda x: x // 2, x), np.zeros(3))
        same(derivative(lambda x: x % 2, x), np.ones(3))
        same(derivative(lambda x: np.heaviside(x, 0.5), x * 0), np.zeros(3))


def test_sinc_and_i0_at_zero():
    """Smooth functions are smooth at 0, to any order."""
    f = np.sinc
    for expected in (0.0, -(np.pi**2) / 3, 0.0, np.pi**4 / 5):
        f = grad(f)
        np.testing.assert_allclose(f(0.0), expected, atol=1e-14)
    f = np.i0
    for expected in (0.0, 0.5, 0.0, 3 / 8):
        f = grad(f)
        np.testing.assert_allclose(f(0.0), expected, atol=1e-15)


def test_backward_passes_do_not_warn():
    """Whatever the user's settings are: only the forward pass warns, as NumPy does."""
    with np.errstate(all="raise"):
        assert grad(lambda x: np.where(x >= 0, np.sqrt(x), 0))(0.0) == np.inf
        assert jvp(np.sqrt, (0.0,), (1.0,))[1] == np.inf
        with pytest.raises(FloatingPointError):
            grad(np.log)(0.0)

"""Linear algebra where matrices are special: equal eigenvalues, singular matrices, open bases."""

import itertools

import mpmath
import numpy as np
import pytest

from pullback import checkpoint, grad, hessian, jacobian, jvp, linearize, vjp, vmap
from pullback.core.errors import MissingRuleError

la = np.linalg
random = np.random.default_rng(7)


def normal(*shape, dtype=float):
    x = random.standard_normal(shape)
    return x + 1j * random.standard_normal(shape) if np.dtype(dtype).kind == "c" else x


def adjoint(a):
    return np.swapaxes(np.conj(a), -1, -2)


def hermitian(a):
    return (a + adjoint(a)) / 2


def trace(a):
    return np.real(np.trace(a))


def second(f, a, v):
    """The derivative of grad f in the direction v, forward over reverse and twice reverse.

    The pairing is bilinear, so the third, reverse over forward, is the same array.
    """
    return (
        jvp(grad(f), (a,), (v,))[1],
        vjp(grad(f), a)[1](v)[0],
        grad(lambda a: jvp(f, (a,), (v,))[1])(a),
    )


def twice_forward(f, a, v):
    """The second derivative in the directions v and w by each pair of forward modes, and w."""
    w = normal(*a.shape, dtype=a.dtype).astype(a.dtype)
    first = lambda a: jvp(f, (a,), (v,))[1]
    rows = vmap(lambda v: jvp(lambda a: jvp(f, (a,), (v,))[1], (a,), (w,))[1])
    out = [
        jvp(first, (a,), (w,))[1],
        linearize(first, a)[1](w),
        jvp(lambda a: linearize(f, a)[1](v), (a,), (w,))[1],
        rows(np.stack([w, v]))[1],
        vmap(lambda a: jvp(first, (a,), (w,))[1])(np.stack([2 * a, a]))[1],
        jvp(lambda a: jvp(checkpoint(f), (a,), (v,))[1], (a,), (w,))[1],
    ]
    return out, w


q, u = la.qr(normal(4, 4))[0], la.qr(normal(4, 4, dtype=complex))[0]
PAIRS = np.diag([1.0, 1.0, 2.0, 2.0])
SQUARE = {
    "identity": np.eye(4),
    "complex identity": np.eye(4) + 0j,
    "float32 identity": np.eye(3, dtype="f4"),
    "pairs": q @ PAIRS @ q.T,
    "complex pairs": u @ PAIRS @ adjoint(u),
    "a triple": q @ np.diag([2.0, 2.0, 2.0, 3.0]) @ q.T,
    "simple": q @ np.diag([1.0, 2.0, 3.0, 5.0]) @ q.T,
}
ANY = {
    **SQUARE,
    "zero": np.zeros((3, 3)),
    "tall": np.eye(4, 2),
    "tall zero": np.zeros((3, 2)),
    "wide zero": np.zeros((2, 3)) + 0j,
    "rank one, tall": np.outer(q[0], q[1, :3]),
    "rank one, wide": np.outer(u[0, :2], u[1]),
    "rank two": q[:, :2] @ q[:2],
}
# Of values alone, and the same as polynomials and determinants of the matrix.
OF_EIGENVALUES = {
    "cubes": (lambda w: np.sum(w**3), lambda a: trace(a @ a @ a)),
    "squared sum": (lambda w: np.sum(w) ** 2, lambda a: np.real(np.trace(a) ** 2)),
    "logarithms": (lambda w: np.sum(np.log(w)), lambda a: la.slogdet(a)[1]),
    "product": (lambda w: np.prod(w), lambda a: np.real(la.det(a))),
}
OF_SINGULAR_VALUES = {
    "squares": (lambda s: np.sum(s**2), lambda a: trace(a @ adjoint(a))),
    "fourth powers": (lambda s: np.sum(s**4), lambda a: trace(a @ adjoint(a) @ a @ adjoint(a))),
    "logarithms": (
        lambda s: np.sum(np.log(1 + s**2)),
        lambda a: la.slogdet(np.eye(len(a), dtype=a.dtype) + a @ adjoint(a))[1],
    ),
}


class TestEqualValues:
    """Functions of eigenvalues or singular values alone, where these are equal or zero."""

    def agree(self, f, reference, a, forward=True):
        v = normal(*a.shape, dtype=a.dtype).astype(a.dtype)
        tolerance = 3000 * np.finfo(a.dtype).eps
        expected = grad(reference)(a)
        np.testing.assert_allclose(grad(f)(a), expected, tolerance, tolerance)
        slope = jvp(f, (a,), (v,))[1]
        np.testing.assert_allclose(slope, np.real(np.sum(expected * v)), tolerance, tolerance)
        expected = second(reference, a, v)[0]
        for actual in second(f, a, v):
            np.testing.assert_allclose(actual, expected, tolerance, tolerance)
        if forward:
            actual, w = twice_forward(f, a, v)
            expected = np.real(np.sum(expected * w))
            np.testing.assert_allclose(actual, np.full(len(actual), expected), *[tolerance] * 2)

    @pytest.mark.parametrize("name", OF_EIGENVALUES)
    @pytest.mark.parametrize("case", SQUARE)
    def test_functions_of_eigvalsh_have_both_derivatives(self, case, name):
        """In all combinations of modes."""
        f, reference = OF_EIGENVALUES[name]
        self.agree(
            lambda a: f(la.eigvalsh(hermitian(a))), lambda a: reference(hermitian(a)), SQUARE[case]
        )

    @pytest.mark.parametrize("name", ["cubes", "squared sum", "product"])
    @pytest.mark.parametrize("case", SQUARE)
    def test_functions_of_eigvals_have_both_derivatives(self, case, name):
        """Of matrices that are not symmetric, in directions that are not."""
        f, reference = OF_EIGENVALUES[name]
        self.agree(lambda a: np.real(f(la.eigvals(a))), reference, SQUARE[case], forward=False)

    @pytest.mark.share(2)
    @pytest.mark.parametrize("name", ["cubes", "squared sum", "product"])
    @pytest.mark.parametrize("case", SQUARE)
    def test_twice_forward_eigvals_are_right_or_nan(self, case, name):
        """Directions that have no basis of real eigenvectors among equal values are loud."""
        f, reference = OF_EIGENVALUES[name]
        a, n_right = SQUARE[case], 0
        for _ in range(6):
            p = np.eye(len(a)) + normal(*a.shape, dtype=a.dtype) / 10
            v = (la.inv(p) @ np.diag(normal(len(a))) @ p).astype(a.dtype)  # with a real spectrum
            actual, w = twice_forward(lambda a: np.real(f(la.eigvals(a))), a, v)
            expected = np.real(np.sum(second(reference, a, v)[0] * w))
            close = np.isclose(actual, expected, *[3000 * np.finfo(a.dtype).eps] * 2)
            assert np.all(close | np.isnan(actual)), (actual, expected)
            n_right += np.count_nonzero(close)
        assert n_right

    @pytest.mark.share(2)
    @pytest.mark.parametrize("name", OF_SINGULAR_VALUES)
    @pytest.mark.parametrize("case", ANY)
    def test_functions_of_svdvals_have_both_derivatives(self, case, name):
        """Even functions are smooth at singular values of zero as well."""
        f, reference = OF_SINGULAR_VALUES[name]
        self.agree(lambda a: f(la.svdvals(a)), reference, ANY[case])

    @pytest.mark.parametrize("gap", [0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-10, 1e-7, 1e-4])
    def test_values_that_differ_by_rounding_count_as_equal(self, gap):
        """And nearly equal ones lose no more digits than their difference has lost.

        Slopes of at most 27 are known to 27 eps, and their differences are divided by the gap.
        """
        bound = 1e-9 + (0 if gap < 4e-14 else 27 * 2.2e-16 / gap)
        a, v = hermitian(q @ np.diag([1.0, 1 + gap, 2.0, 3.0]) @ q.T), normal(4, 4)
        expected = second(lambda a: trace(hermitian(a) @ hermitian(a) @ hermitian(a)), a, v)[0]
        for actual in second(lambda a: np.sum(la.eigvalsh(hermitian(a)) ** 3), a, v):
            np.testing.assert_allclose(actual, expected, rtol=bound, atol=bound)

    def test_a_whole_hessian_by_vmap(self):
        """Each direction brings its own part, in one batch: log det a has Hessian -a^-1 x a^-1."""
        a, directions = np.eye(3), np.eye(9).reshape(9, 3, 3)
        f = grad(lambda a: np.sum(np.log(la.eigvalsh(hermitian(a)))))
        forward = vmap(lambda v: jvp(f, (a,), (v,))[1])(directions)
        back = vmap(lambda v: vjp(f, a)[1](v)[0])(directions)
        expected = -(directions + np.swapaxes(directions, 1, 2)) / 2
        np.testing.assert_allclose(forward, expected, atol=1e-13)
        np.testing.assert_allclose(back, expected, atol=1e-13)

    @pytest.mark.share(2)
    @pytest.mark.parametrize("case", ["identity", "pairs", "a triple", "simple"])
    @pytest.mark.parametrize("name", OF_EIGENVALUES)
    def test_whole_hessians_by_all_pairs_of_modes(self, case, name):
        f, reference = OF_EIGENVALUES[name]
        expected = hessian(lambda a: reference(hermitian(a)))(SQUARE[case])
        for outer, inner in itertools.product(["forward", "reverse"], repeat=2):
            slope = jacobian(lambda a: f(la.eigvalsh(hermitian(a))), mode=inner)
            actual = jacobian(slope, mode=outer)(SQUARE[case])
            np.testing.assert_allclose(actual, expected, 1e-12, 1e-12)

    def test_linearized_twice_is_loud(self):
        """Neither direction is known when the vectors would have to face one."""
        f = lambda a: np.sum(la.eigvalsh(a) ** 3)
        twice = linearize(lambda a: linearize(f, a)[1](np.eye(3)), np.eye(3))[1](np.eye(3))
        assert np.isnan(twice)

    def test_twice_forward_where_the_function_is_linear_in_the_equal_values(self):
        """A nuclear norm bends with the part of a direction that is not Hermitian."""
        v, w = normal(3, 3), normal(3, 3)
        nuclear = lambda a: la.norm(a, "nuc")
        twice = jvp(lambda a: jvp(nuclear, (a,), (v,))[1], (np.eye(3),), (w,))[1]
        skew = [(x - x.T) / 2 for x in (v, w)]
        np.testing.assert_allclose(twice, np.sum(skew[0] * skew[1]), atol=1e-13)

    def test_third_derivatives_are_right_where_values_are_simple_and_nan_where_not(self):
        directions = [normal(3, 3) for _ in range(3)]

        def along(f, v):
            return lambda a: jvp(f, (a,), (v,))[1]

        def third(f, a):
            for v in directions:
                f = along(f, v)
            return f(a)

        f = lambda a: np.sum(la.eigvalsh(hermitian(a)) ** 3)
        reference = lambda a: trace(hermitian(a) @ hermitian(a) @ hermitian(a))
        a = np.diag([1.0, 2.0, 4.0]) + 0.1
        np.testing.assert_allclose(third(f, a), third(reference, a), rtol=1e-10)
        assert np.isnan(third(f, np.eye(3)))


class TestVectors:
    """Eigenvectors and singular vectors."""

    def test_those_of_equal_values_are_loud(self):
        """NaN in both modes; first and last row and column belong to simple values."""
        a = np.diag([1.0, 2.0, 2.0, 4.0])
        v = normal(4, 4)
        dots = jvp(lambda a: la.eigh(a)[1], (a,), (v,))[1]
        assert np.all(np.isnan(dots) == [False, True, True, False])
        for column, loud in enumerate([False, True, True, False]):
            bar = grad(lambda a, c=column: np.sum(la.eigh(a)[1][:, c] ** 3))(a)
            assert np.any(np.isnan(bar)) == loud

    @pytest.mark.parametrize("values", [[1.0, 2.0, 2.0, 4.0], [1.0, 1.0, 1.0, 1.0]])
    def test_those_of_equal_values_are_loud_in_second_order(self, values):
        a, v = np.diag(values), normal(4, 4)
        f = lambda t: np.sum(la.eigh(a + t * hermitian(v))[1][:, 1] ** 3)
        slopes = [grad(f), lambda t: jvp(f, (t,), (1.0,))[1]]
        found = [[grad(g)(0.0), jvp(g, (0.0,), (1.0,))[1]] for g in slopes]
        assert np.all(np.isnan(found))

    def test_unused_ones_of_zero_do_no_harm(self):
        """A product of rank two by its first two singular triplets."""

        def truncated(a):
            u, s, vh = la.svd(a, full_matrices=False)
            return np.sum((u[:, :2] * s[:2]) @ vh[:2] * weights)

        a, weights, v = normal(4, 2) @ normal(2, 4), normal(4, 4), normal(4, 4)
        slope = jvp(truncated, (a,), (v,))[1]
        np.testing.assert_allclose(np.sum(grad(truncated)(a) * v), slope)
        steps = [truncated(a + h * v) for h in (1e-5, -1e-5)]
        np.testing.assert_allclose(slope, (steps[0] - steps[1]) / 2e-5, rtol=1e-6)

    @pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
    def test_what_completes_a_basis_has_no_derivative(self, shape):
        """Refused when its cotangent is needed, NaN going forward; the rest works."""
        a = normal(*shape)
        with pytest.raises(MissingRuleError, match="full_matrices=False"):
            grad(lambda a: sum(np.sum(x) for x in la.svd(a)))(a)
        u_dot, s_dot, vh_dot = jvp(la.svd, (a,), (normal(*shape),))[1]
        assert np.all(np.isfinite(s_dot))
        assert np.sum(np.isnan(u_dot)) == (8 if shape[0] == 4 else 0)
        assert np.sum(np.isnan(vh_dot)) == (8 if shape[1] == 4 else 0)

    def test_complete_qr_likewise_where_a_reflection_is_left_out(self):
        """Elsewhere the reflections of LAPACK say how its last columns move (a sample)."""
        a = normal(4, 2)
        a[1:, 0] = 0.0
        with pytest.raises(MissingRuleError, match='mode="reduced"'):
            grad(lambda a: np.sum(la.qr(a, mode="complete").Q))(a)
        bar = grad(lambda a: np.sum(la.qr(a, mode="complete").Q[:, :2] ** 3))(a)
        np.testing.assert_allclose(bar, grad(lambda a: np.sum(la.qr(a).Q ** 3))(a))

    @pytest.mark.parametrize("a", [np.eye(2, k=1), np.eye(2) + np.eye(2, k=1), np.eye(3, k=1)])
    def test_a_matrix_without_a_basis_of_eigenvectors_is_loud(self, a):
        f = lambda a: np.real(np.sum(la.eigvals(a) ** 2))
        assert np.all(np.isnan(grad(f)(a)))
        assert np.isnan(jvp(f, (a,), (a.T,))[1])

    def test_results_are_named(self):
        """As NumPy's are, with one type for both."""
        a = normal(3, 3)
        for f in (la.svd, la.eigh, la.eig, la.qr, la.slogdet):
            out = vjp(f, a)[0]
            assert type(out) is type(f(a))

    def test_eigenvalues_are_real_where_numpy_has_them_real(self):
        a = np.diag([1.0, 2.0]) + 0.1
        assert vjp(la.eigvals, a)[0].dtype == la.eigvals(a).dtype  # complex from NumPy 2.5 on
        assert vjp(la.eigvals, np.array([[0.0, 1.0], [-1.0, 0.0]]))[0].dtype == complex


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("values", [(1, 2, 2, 3, 3.5), (2, 2, 2, 1, 0.3), (1, 1, 2, 2, 5)])
def test_vectors_of_simple_values_beside_equal_ones_have_second_derivatives(values, dtype):
    """Each equal value's vector turns by leaps, while their sum in the first derivative doesn't."""
    draw = np.random.default_rng(0)

    def some():
        a = draw.standard_normal((5, 5)).astype(dtype)
        return hermitian(a + 1j * draw.standard_normal((5, 5)) if dtype is complex else a)

    q, by, also = np.linalg.qr(some())[0], some() / 3, some() / 3
    middle, x = hermitian((q * np.array(values)) @ adjoint(q)), draw.standard_normal(5)
    alone = [i for i in range(5) if sorted(values).count(sorted(values)[i]) == 1]

    def f(p):
        w, v = np.linalg.eigh(middle + p[0] * by + p[1] * also + p[0] ** 2 * also)
        return sum([w[i] * np.abs(x @ v[:, i]) ** 2 + np.abs(v[0, i]) ** 4 for i in alone])

    at, h, eye = np.zeros(2), 1e-4, np.eye(2)
    slope = grad(f)
    expected = [(slope(at + h * e) - slope(at - h * e)) / (2 * h) for e in eye]
    twice = [grad(lambda p, k=k: slope(p)[k])(at) for k in range(2)]
    pushed = [jvp(lambda p: jvp(f, (p,), (e,))[1], (at,), (d,))[1] for e in eye for d in eye]
    for found in (hessian(f)(at), twice, np.reshape(pushed, (2, 2))):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    many = vmap(hessian(f))(np.stack([at, at + 0.01]))
    np.testing.assert_allclose(many[0], expected, rtol=1e-5, atol=1e-6)
    twos = sorted(values).index(2)  # of its vector LAPACK may make entries that are 0
    used = lambda p: np.abs(x @ np.linalg.eigh(middle + p[0] * by)[1][:, twos])
    assert np.isnan(grad(lambda p: slope(p)[0] + used(p))(at)[0])


def expanded(a):
    """The determinant by permutations."""
    n = len(a)
    signs = {p: round(la.det(np.eye(n)[list(p)])) for p in itertools.permutations(range(n))}
    total = 0
    for p, sign in signs.items():
        term = sign
        for i in range(n):
            term = term * a[i, p[i]]
        total = total + term
    return total


RANKS = [(3, 3, 1, float), (3, 3, 2, float), (4, 3, 2, float), (3, 5, 2, float), (3, 4, 1, complex)]
# Of matrices of low rank and their rank; the rest of the matrix is left out.
OF_LOW_RANK = {
    "the best approximation": lambda a, r: truncated(a, r, lambda s: s),
    "shrunk values": lambda a, r: truncated(a, r, np.tanh),
    "the image": lambda a, r: la.svd(a)[0][:, :r] @ adjoint(la.svd(a)[0][:, :r]),
    "pinv": lambda a, r: la.pinv(a, rcond=0.05),
    "lstsq": lambda a, r: la.lstsq(a, a[:, :1] + 1, rcond=0.05)[0],
}


def truncated(a, r, of):
    u, s, vh = la.svd(a, full_matrices=False)
    return (u[:, :r] * of(s[:r])) @ vh[:r]


@pytest.mark.parametrize("name", OF_LOW_RANK)
@pytest.mark.parametrize("shape", RANKS)
class TestLowRank:
    """Where singular values are zero, or left out, derivatives are those of what is computed."""

    def along(self, name, shape, left_out):
        m, n, r, dtype = shape
        u, s, vh = la.svd(normal(m, n, dtype=dtype), full_matrices=False)
        a = (u * np.where(np.arange(len(s)) < r, s / s[0] + 1.0, left_out)) @ vh
        f = lambda a: np.sum(np.abs(OF_LOW_RANK[name](a, r) - 0.3) ** 2)
        x, y = normal(m, n, dtype=dtype), normal(m, n, dtype=dtype)
        return a, f, x, y

    def test_first_derivatives(self, name, shape):
        """What `rcond` leaves out need not be small."""
        a, f, x, _ = self.along(name, shape, 0.04)
        h = 1e-6
        right = (f(a + h * x) - f(a - h * x)) / (2 * h)
        for found in (jvp(f, (a,), (x,))[1], np.real(np.sum(grad(f)(a) * x))):
            np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-5)

    def test_second_derivatives(self, name, shape):
        a, f, x, y = self.along(name, shape, 0.0)
        h = 3e-4
        g = lambda s, t: f(a + s * x + t * y)
        right = (g(h, h) - g(h, -h) - g(-h, h) + g(-h, -h)) / (4 * h * h)
        found = [jvp(lambda a: jvp(f, (a,), (x,))[1], (a,), (y,))[1]]
        found += [np.real(np.sum(each * y)) for each in second(f, a, x)]
        np.testing.assert_allclose(found, [right] * 4, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("factors", [([1.0, 0.0], [1.0, 0.0, 0.0]), ([0.3, 0.4], [1.0, 0.3, 0.2])])
def test_a_product_of_factors_that_the_matrix_leaves_open_is_loud(factors, transposed):
    """In `(u * s) @ vh` the vectors of zeros have a part of their own, which nobody can tell."""
    a = np.outer(*factors)
    a = a.T if transposed else a

    def product(a):
        u, s, vh = la.svd(a, full_matrices=False)
        return np.sum((u * s) @ vh * np.arange(1.0, 7.0).reshape(a.shape))

    assert not np.isfinite(grad(product)(a)).any()
    assert not np.isfinite(jvp(product, (a,), (np.ones_like(a),))[1])


def test_second_derivatives_through_a_vector_of_a_zero_are_loud():
    a = np.outer([1.0, 0.3, 0.2, 0.5], [0.3, 0.4, 1.0]) + np.outer([0.2, 1.0, 0.1, 0.0], [1, 0, 2])
    f = lambda a: np.sum(la.svd(a, full_matrices=False)[2][2, :2] ** 2)
    assert np.isfinite(grad(f)(a)).all()
    for found in second(f, a, np.ones_like(a)):
        assert np.isnan(found).any()


class TestDeterminant:
    """det of every rank: its derivatives are polynomials."""

    @pytest.mark.parametrize("dtype", [float, complex])
    @pytest.mark.parametrize(("n", "rank"), [(n, r) for n in (1, 2, 3, 4) for r in range(n + 1)])
    def test_three_derivatives_agree_with_the_expansion(self, n, rank, dtype):
        """Forward, reverse, and the four second-order combinations."""
        a = normal(n, rank, dtype=dtype) @ normal(rank, n, dtype=dtype)
        v, w = [normal(n, n, dtype=dtype) for _ in range(2)]

        def derivatives(f):
            g = lambda a: np.real(f(a) * (1 + 2j)) if dtype is complex else f(a)
            twice = lambda a: jvp(lambda a: jvp(g, (a,), (v,))[1], (a,), (w,))[1]
            return grad(g)(a), jvp(g, (a,), (v,))[1], *second(g, a, v), twice(a), grad(twice)(a)

        for actual, expected in zip(derivatives(la.det), derivatives(expanded), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-11)

    def test_a_diagonal_with_zeros(self):
        """Cofactors without division: exact."""
        np.testing.assert_array_equal(grad(la.det)(np.diag([2.0, 0.0, 3.0])), np.diag([0.0, 6, 0]))

    def test_slogdet_of_a_singular_matrix_is_loud(self):
        log = lambda a: la.slogdet(a)[1]
        assert np.all(np.isnan(grad(log)(np.zeros((2, 2)))))

    def test_what_where_did_not_pick_may_be_singular(self):
        a = np.stack([np.eye(2), np.zeros((2, 2))])
        f = lambda a: np.sum(np.where([True, False], la.slogdet(a)[1], 0))
        np.testing.assert_array_equal(grad(f)(a), np.stack([np.eye(2), np.zeros((2, 2))]))


class TestLeastSquares:
    def test_results_are_those_of_numpy(self):
        """Residuals only for matrices of full rank; the rank is plain."""
        for a in (normal(4, 2), normal(2, 4), np.outer(q[0], q[1, :2])):
            b = normal(len(a))
            out = vjp(lambda a, b: la.lstsq(a, b, rcond=None), a, b)[0]
            for actual, expected in zip(out, la.lstsq(a, b, rcond=None), strict=True):
                np.testing.assert_allclose(actual, expected, atol=1e-12)
                assert np.asarray(actual).dtype == np.asarray(expected).dtype

    def test_vmap_of_a_rank_that_varies(self):
        """One shape for all: residuals as of full rank."""
        a = np.stack([np.eye(3, 2), np.ones((3, 2))])
        x, residuals, rank, _ = vmap(lambda a: la.lstsq(a, np.arange(3.0), rcond=1e-9))(a)
        np.testing.assert_array_equal(rank, [2, 1])
        np.testing.assert_allclose(residuals, [[4.0], [2.0]])
        np.testing.assert_allclose(x, [[0.0, 1.0], [0.5, 0.5]], atol=1e-15)


class TestNorms:
    def test_gradients_at_zero_are_zero(self):
        for order in (None, 1, 2, 3, 1.5, np.inf):
            assert not np.any(grad(lambda x, p=order: la.norm(x, p))(np.zeros(3)))

    @pytest.mark.parametrize("size", [1e-150, 1e150])
    def test_no_overflow_in_derivatives(self, size):
        x = size * np.array([3.0, 4.0])
        np.testing.assert_allclose(grad(la.norm)(x), [0.6, 0.8])
        np.testing.assert_allclose(jvp(grad(la.norm), (x,), (x,))[1], [0, 0], atol=1e-15)

    def test_the_condition_number_of_a_singular_matrix_is_infinite(self):
        for order in (None, 1, "fro"):
            with np.errstate(all="ignore"):
                assert vjp(lambda a, p=order: la.cond(a, p), np.zeros((2, 2)))[0] == np.inf


def test_vectors_of_values_that_rounding_keeps_apart():
    """Values equal to rounding count as equal: their vectors have NaN, and no noise."""
    q = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    a = q @ np.diag([0.49, 0.49, 0.8, 2.5]) @ q.T
    w = np.linalg.eigvalsh(a)
    assert 0 < abs(w[1] - w[0]) < 1e-15 or w[0] == w[1]

    def whitened(a):
        w, v = np.linalg.eigh(a)
        return np.sum((np.ones(4) @ v / np.sqrt(w)) ** 2)

    assert np.isnan(grad(whitened)(a)).any()
    assert np.isnan(jvp(whitened, (a,), (a + np.eye(4)[::-1],))[1])
    of_values = grad(lambda a: np.sum(1 / np.linalg.eigvalsh(a)))(a)
    expected = -np.linalg.inv(a) @ np.linalg.inv(a)  # of which one triangle is read
    np.testing.assert_allclose((of_values + of_values.T) / 2, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "f",
    [
        la.det,
        lambda a: la.slogdet(a)[1],
        lambda a: np.sum(la.inv(a)),
        lambda a: np.sum(la.solve(a, np.ones(3))),
        lambda a: np.sum(la.matrix_power(a, -2)),
    ],
)
def test_nan_goes_through(f):
    """Where NumPy's value is NaN, and no error, so are the derivatives."""
    a = np.array([[1.0, np.nan, 1.0], [2.0, 3.0, 0.5], [0.1, 0.2, 0.3]])
    with np.errstate(invalid="ignore"):
        assert np.isnan(f(a))
        assert np.isnan(grad(f)(a)).any()
        assert np.isnan(jvp(f, (a,), (np.ones_like(a),))[1])
        assert np.isnan(hessian(f)(a)).any()


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
def test_gradients_at_low_rank_are_the_same_under_vmap(shape):
    """Also of left vectors weighed by squares, where those of values of zero count for nothing."""
    random = np.random.default_rng(0)
    low = random.normal(size=(shape[0], 2)) @ random.normal(size=(2, shape[1]))
    weights = random.normal(size=(4, 4))

    def f(a):
        u, s, _ = np.linalg.svd(a, full_matrices=False)
        return np.sum(((u * s**2) @ u.T) * weights[: len(a), : len(a)])

    one = grad(f)(low)
    w = weights[: len(low), : len(low)]
    np.testing.assert_allclose(one, (w + w.T) @ low, atol=1e-10)
    for each in vmap(grad(f))(np.stack([low, low])):
        np.testing.assert_allclose(each, one, atol=1e-10)


@pytest.mark.parametrize("dtype", [float, np.float32, complex])
@pytest.mark.parametrize("n", [3, 8])
def test_values_alone_are_numpys_to_the_bit(n, dtype):
    """LAPACK finds them in another way than with the vectors that derivatives need."""
    random = np.random.default_rng(n)
    a = random.normal(size=(4, n, n)).astype(dtype)
    if dtype is complex:
        a = a + 1j * random.normal(size=a.shape)
    for f in (
        np.linalg.eigvalsh,
        lambda a: np.linalg.eigvalsh(a, UPLO="U"),
        lambda a: np.linalg.svd(a, compute_uv=False),
        np.linalg.svdvals,
        np.linalg.cond,
        lambda a: np.linalg.norm(a, 2, axis=(-2, -1)),
        lambda a: np.linalg.norm(a, "nuc", axis=(-2, -1)),
    ):
        for x in (a, *a):
            x = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
            for value in (vjp(f, x)[0], jvp(f, (x,), (x,))[0]):
                np.testing.assert_array_equal(value, f(x))


def test_pseudoinverses_of_ill_conditioned_matrices():
    """Of a square matrix its derivative is as exact as that of the inverse."""
    random = np.random.default_rng(3)
    errors = []
    for _ in range(15):
        turns = [np.linalg.qr(random.normal(size=(5, 5)))[0] for _ in range(2)]
        a, a_dot = turns[0] * np.logspace(0, -4, 5) @ turns[1], random.normal(size=(5, 5))
        with mpmath.workdps(40):
            inverse = mpmath.matrix(a.tolist()) ** -1
            right = -inverse * mpmath.matrix(a_dot.tolist()) * inverse
        right = np.array(right.tolist(), float)
        back = vjp(np.linalg.pinv, a)[1](right)[0]
        found = jvp(np.linalg.pinv, (a,), (a_dot,))[1]
        inverse = np.linalg.inv(a)
        outs = found, right * (np.sum(back * a_dot) / np.sum(right**2)), -inverse @ a_dot @ inverse
        errors.append([np.abs(out - right).max() / np.abs(right).max() for out in outs])
    forward, reverse, of_inverse = np.median(errors, axis=0)
    assert max(forward, reverse) < 8 * of_inverse

"""scipy.linalg: values bit for bit, refusals, and what the laws do not ask."""

import inspect

import numpy as np
import pytest
from scipy import integrate, linalg, stats

import pullback as pb

random = np.random.default_rng(3)
A = random.normal(size=(4, 4)) + 3 * np.eye(4)
S = A @ A.T
B = random.normal(size=(4, 2))


@pytest.mark.parametrize(
    "program",
    [
        lambda a: linalg.solve(a, B),
        lambda a: linalg.solve(a, B, assume_a="pos"),
        linalg.inv,
        linalg.det,
        lambda a: linalg.lstsq(a, B)[0],
        linalg.cholesky,
        lambda a: linalg.cho_solve(linalg.cho_factor(a), B),
        lambda a: linalg.lu_factor(a)[0],
        lambda a: linalg.qr(a)[0],
        lambda a: linalg.svd(a)[0],
        lambda a: linalg.eigh(a)[1],
        linalg.eigvalsh,
        lambda a: linalg.eig(a)[1],
        linalg.eigvals,
        lambda a: linalg.schur(a)[0],
        linalg.expm,
        linalg.sqrtm,
        lambda a: linalg.tanhm(a / 50),
        lambda a: linalg.solve_sylvester(a, a, a),
        lambda a: linalg.solve_discrete_are(a, B, a, np.eye(2)),
        lambda a: linalg.norm(a, 2),
    ],
)
def test_values_are_those_of_scipy(program):
    """In both modes each bit is that of the plain call."""
    plain = program(S)
    for out in (pb.vjp(program, S)[0], pb.jvp(program, (S,), (S,))[0]):
        np.testing.assert_array_equal(out, plain)


def test_large_banded_systems_stay_banded():
    """Neither the system nor its derivative makes the matrix of a million rows."""
    n = 200_000
    ab = np.stack([np.full(n, -1.0), np.full(n, 4.0), np.full(n, -1.0)])
    b = np.ones(n)
    gradient = pb.grad(lambda ab: np.sum(linalg.solve_banded((1, 1), ab, b)))(ab)
    assert gradient.shape == ab.shape
    assert np.isclose(gradient[1, n // 2], -0.25, rtol=1e-9)


def test_a_basis_of_the_null_space_is_not_determined():
    """What depends on the choice of the basis is refused; the projector is not."""
    wide = B.T
    with pytest.raises(pb.MissingRuleError, match="null_space"):
        pb.grad(lambda a: linalg.null_space(a)[0, 0])(wide)
    pb.testing.check_grads(
        lambda a: (lambda n: n @ n.T)(linalg.null_space(a)), (wide,), modes=("reverse",), order=1
    )


def test_what_depends_on_the_null_space_alone_is_differentiated():
    """Any other basis gives the same, not only a rotated one: nothing but rounding is left."""

    def least(a):
        """The minimum of a quadratic function among the solutions of a linear system."""
        n = linalg.null_space(np.array([[1.0, a, 0.0, 1.0], [0.0, 1.0, a, 1.0]]))
        h = np.diag([1.0, 2.0, 3.0, 4.0])
        return n @ np.linalg.solve(n.T @ h @ n, n.T @ np.ones(4))

    steps = [(least(0.8 + h) - least(0.8 - h)) / (2 * h) for h in (1e-3, 5e-4)]
    expected = (4 * steps[1] - steps[0]) / 3
    for mode in ("reverse", "forward"):
        np.testing.assert_allclose(pb.jacobian(least, mode=mode)(0.8), expected, rtol=1e-9)


def test_left_vectors_of_a_pencil_alone_are_refused():
    """SciPy brings the first of them to length 1, and no other."""
    with pytest.raises(pb.MissingRuleError, match="the first left vector"):
        pb.grad(lambda a: np.abs(linalg.eig(a, S, left=True, right=False)[1]).sum())(A)


def test_what_does_not_solve_the_equation_has_no_derivative():
    """SciPy balances pencils with `e` wrongly, and returns what is no solution."""
    a = np.array([[3.1, 0.1, 0.6], [0.1, 2.5, 0.4], [1.3, 0.9, 2.3]])
    e = np.eye(3) + 0.1 * np.array([[0.4, -1.2, 0.7], [0.9, 0.1, -0.6], [0.3, 0.8, -0.2]])
    b, r = np.array([[1.0, 0.2], [0.3, -0.7], [0.5, 1.1]]), np.array([[2.0, 0.3], [0.3, 1.0]])
    q = np.diag([12.0, 7.0, 900.0])

    def solution(q, balanced):
        return linalg.solve_discrete_are(a, b, q, r, e=e, balanced=balanced)

    x = solution(q, True)
    k = b.T @ x @ a
    gap = a.T @ x @ a - e.T @ x @ e - k.T @ np.linalg.solve(r + b.T @ x @ b, k) + q
    assert np.abs(gap).max() > 1
    assert np.isfinite(pb.grad(lambda q: solution(q, False).sum())(q)).all()
    with pytest.raises(pb.SolverError, match="does not solve the equation"):
        pb.grad(lambda q: solution(q, True).sum())(q)


def test_warnings_of_the_value_come_once():
    """A nearly singular matrix warns going forward; the derivative does not warn again."""
    near = np.array([[1.0, 1.0], [1.0, 1.0 + 2e-16]])
    for run in (
        lambda f: pb.grad(f)(near),
        lambda f: pb.jvp(f, (near,), (near,)),
        lambda f: pb.grad(lambda a: pb.grad(f)(a).sum())(near),
    ):
        with pytest.warns(linalg.LinAlgWarning) as caught:
            run(lambda a: linalg.solve(a, np.ones(2)).sum())
        assert len(caught) == 1


def test_compiled():
    """A filter's likelihood, as machine code around LAPACK."""

    def loss(a):
        c = linalg.cho_factor(a @ a.T + np.eye(4), lower=True)
        return np.sum(linalg.cho_solve(c, B)) + 2 * np.sum(np.log(np.diag(c[0])))

    fast = pb.compile(pb.grad(loss))
    for x in (A, A + 0.1, A * 1.1):
        np.testing.assert_allclose(fast(x), pb.grad(loss)(x), rtol=1e-12)


def test_functions_without_a_rule_take_part():
    """Python of SciPy's over NumPy is differentiated as the user's own code is."""
    x = np.array([0.3, 1.1, 2.0, 2.9, 4.2])
    for f in (
        lambda x: integrate.trapezoid(x**2, dx=0.5),
        lambda x: integrate.simpson(np.sin(x), x=np.arange(5.0)),
        lambda x: integrate.cumulative_trapezoid(x * x),
        lambda x: stats.zscore(x)[0],
        lambda x: stats.pearsonr(x, np.arange(5.0))[0],
        lambda x: stats.gmean(x),
        lambda x: linalg.block_diag(x, np.outer(x, x)),
        lambda x: linalg.tanm(np.outer(x[:2], x[1:3])),
    ):
        pb.testing.check_grads(f, (x,), order=1)


def test_a_rule_is_called_each_time():
    """A method of SciPy's has its rule also when its class has been met before."""
    c = np.diag([1.0, 1.0, 2.0])  # of which the eigenvectors have no derivative
    f = lambda c: stats.multivariate_normal.logpdf(np.ones(3), cov=c)
    expected = 0.5 * (np.outer(1 / np.diag(c), 1 / np.diag(c)) - np.diag(1 / np.diag(c)))
    expected = np.tril(expected) + np.tril(expected, -1)  # SciPy reads one triangle
    for _ in range(3):
        np.testing.assert_allclose(pb.grad(f)(c), expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(pb.jvp(f, (c,), (c,))[1], np.sum(expected * c), rtol=1e-12)
    data = np.array([0.1, 0.7, 1.5])
    density = lambda d: stats.gaussian_kde(d)(np.array([0.5]))[0]
    for _ in range(2):
        pb.testing.check_grads(density, (data,), order=1)


def test_decorated_functions_stay_compiled():
    """SciPy's decorator for stacks of matrices is of a private module; what it decorates is not."""
    a = np.array([[0.3, 0.1], [0.2, 0.5]])
    for f in (linalg.cosm, linalg.tanhm, linalg.expm_cond):
        fast = pb.compile(lambda s, f=f: np.sum(f(s * a)))
        for s in (1.0, 1.2, 1.0, 1.1):
            assert np.isclose(fast(s), np.sum(f(s * a)), rtol=1e-12)
        assert "falls back" not in fast.why(1.0)


@pytest.mark.skipif(
    "disp" not in inspect.signature(linalg.logm).parameters, reason="SciPy 1.18 has no `disp`"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of `disp`
def test_estimates_of_errors():
    """With `disp=False` there is an estimate of the error where SciPy gives one."""
    matrices = (
        A,
        np.diag([1.0, -2.0, 0.5, -0.3]) + 0.1 * B @ B.T,
        np.triu(np.ones((3, 3))) + np.diag([0.0, 1e-14, 3.0]),
    )
    for f in (linalg.signm, linalg.sqrtm, linalg.logm):
        for a in matrices:
            estimates = lambda a, f=f: (lambda out: out[1:] if type(out) is tuple else ())(
                f(a, disp=False)
            )
            for derive in (lambda f: f, pb.compile):
                g = derive(pb.value_and_grad(lambda a: (np.sum(a), estimates(a)), has_aux=True))
                for _ in range(2):
                    assert g(a)[0][1] == estimates(a), (f.__name__, a)


def test_updated_factors_whose_phases_are_unknown_are_refused():
    """The diagonal of complex `r` has the phases that the rotations leave."""
    a = np.cos(np.arange(8.0).reshape(4, 2) ** 2) + 1j * np.sin(np.arange(8.0).reshape(4, 2))

    def f(t):
        q, r = linalg.qr(a * t, mode="economic")
        return np.abs(linalg.qr_update(q, r, np.ones(4) + 0j, np.ones(2) + 0j)[1][0, 1])

    with pytest.raises(pb.MissingRuleError, match="economic"):
        pb.grad(f)(1.3)
    value, slope = pb.jvp(f, (1.3,), (1.0,))
    assert value == f(1.3)
    assert np.isnan(slope)


AS_RETURNED = {
    "svd": linalg.svd,
    "qr": linalg.qr,
    "qr of one": lambda a: linalg.qr(a, mode="r"),
    "rq": linalg.rq,
    "lu": linalg.lu,
    "lu_factor": linalg.lu_factor,
    "cho_factor": linalg.cho_factor,
    "eig": linalg.eig,
    "eigh": linalg.eigh,
    "schur": lambda a: linalg.schur(a, sort="rhp"),
    "pinv": lambda a: linalg.pinv(a, return_rank=True),
    "pinvh": lambda a: linalg.pinvh(a, return_rank=True),
    "lstsq": lambda a: linalg.lstsq(a[..., :2], B),
    "balance": lambda a: linalg.matrix_balance(a, separate=True),
    "bandwidth": linalg.bandwidth,
    "qz": lambda a: linalg.qz(a, a + 1.0),
    "update": lambda a: linalg.qr_delete(*linalg.qr(a), 0),
}


def kinds_of(out):
    """The classes of results, of those in containers too; and their shapes and dtypes."""
    if isinstance(out, (tuple, list)):
        return type(out), [kinds_of(x) for x in out]
    if type(out) is pb.Array:
        return kinds_of(out.payload)
    return type(out), np.shape(out), getattr(out, "dtype", None)


@pytest.mark.parametrize("f", AS_RETURNED.values(), ids=AS_RETURNED)
def test_results_are_in_the_container_that_scipy_has(f):
    """SciPy 1.17 returns the results of stacks in a list, and ranks of one matrix as an int."""
    for a in (S, np.stack([S, 2 * S])):
        met = []
        pb.grad(lambda a: (met.append(kinds_of(f(a))), np.sum(a))[1])(a)
        assert met == [kinds_of(f(a))]


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["svd", "qr of one", "cho_factor", "schur", "pinvh", "lstsq"])
def test_whole_results_are_compiled(name):
    f = AS_RETURNED[name]
    for a in (S, np.stack([S, 2 * S])):
        fast = pb.compile(f, wait=True)
        for s in (1.0, 1.1, 1.2):
            out, expected = fast(s * a), f(s * a)
            assert kinds_of(out) == kinds_of(expected)
            for x, y in zip(out, expected, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-8)
        assert "falls back" not in fast.why(a)


@pytest.mark.parametrize("dtype", [">f8", ">c16", "f4", "f2"])
def test_toeplitz_of_other_types(dtype):
    c = np.array([3, 1, 0.5], dtype)
    found = pb.jvp(lambda c: linalg.solve_toeplitz(c, c), (c,), (c,))[0]
    np.testing.assert_array_equal(found, linalg.solve_toeplitz(c, c))


OF_STACKS = {
    "lstsq": lambda a, b: linalg.lstsq(a[..., :2], b)[0],
    "lstsq of vectors": lambda a, b: linalg.lstsq(a[..., :2], b[0, :, 0])[0],
    "lstsq by gelsy": lambda a, b: linalg.lstsq(a[..., :2], b, lapack_driver="gelsy")[0],
    "solve_circulant": lambda a, b: linalg.solve_circulant(a, b[..., 0], baxis=-1),
    "qr_insert": lambda a, b: linalg.qr_insert(*linalg.qr(a), a[..., 0] ** 2, 0)[1],
    "qr_insert, rows": lambda a, b: linalg.qr_insert(*linalg.qr(a), a[..., :2, :] ** 2, 1)[1],
    "qr_delete": lambda a, b: linalg.qr_delete(*linalg.qr(a), 0)[1],
    "qr_delete, column": lambda a, b: linalg.qr_delete(*linalg.qr(a), 1, which="col")[1],
    "qr_update": lambda a, b: linalg.qr_update(*linalg.qr(a), a[..., 0], a[..., 1])[1],
    "qr_update, two": lambda a, b: linalg.qr_update(*linalg.qr(a), b, a[..., 1:])[1],
}


@pytest.mark.parametrize("name", OF_STACKS)
def test_stacks_move_as_their_elements(name):
    """SciPy goes through them one by one."""
    f, random = OF_STACKS[name], np.random.default_rng(5)
    a, b = random.normal(size=(3, 3, 3)) + 3 * np.eye(3), random.normal(size=(3, 3, 2))
    a_dot = random.normal(size=(3, 3, 3))
    out, out_dot = pb.jvp(lambda a: f(a, b), (a,), (a_dot,))
    np.testing.assert_array_equal(out, f(a, b))
    bar = np.cos(np.arange(out.size)).reshape(out.shape)
    a_bar = pb.vjp(lambda a: f(a, b), a)[1](bar)[0]
    np.testing.assert_allclose(np.sum(a_bar * a_dot), np.sum(bar * out_dot), rtol=1e-9)
    change = f(a + 1e-6 * a_dot, b) - f(a - 1e-6 * a_dot, b)
    np.testing.assert_allclose(out_dot, change / 2e-6, rtol=1e-5, atol=1e-6)


LSTSQ = [
    ((4, 2), (4,)), ((4, 2), (4, 3)), ((2, 4), (2,)), ((2, 4), (2, 3)), ((3, 4, 2), (4,)),
    ((3, 4, 2), (4, 1)), ((4, 2), (3, 4, 1)), ((3, 1, 4, 2), (2, 4, 2)), ((3, 2, 4), (2,)),
    ((3, 2, 2), (3, 2, 1)),
]  # fmt: skip


@pytest.mark.parametrize("rank", ["full", "deficient"])
@pytest.mark.parametrize("driver", [None, "gelsd", "gelss", "gelsy"])
def test_lstsq_returns_what_scipy_returns(driver, rank):
    """Residuals, ranks and singular values too, of stacks as well, which SciPy 1.18 changed."""
    random = np.random.default_rng(1)
    for of_a, of_b in LSTSQ:
        a, b = random.normal(size=of_a), random.normal(size=of_b)
        if rank == "deficient":
            a[..., 1] = a[..., 0]
            a[..., 1, :] = a[..., 0, :]
        f = lambda a, b: linalg.lstsq(a, b, lapack_driver=driver)
        expected = f(a, b)
        for found in (pb.jvp(f, (a, b), (a, b))[0], pb.vjp(lambda a, b=b: f(a, b), a)[0]):
            assert type(found) is type(expected)
            for x, y in zip(found, expected, strict=True):
                assert (type(x), np.shape(x)) == (type(y), np.shape(y))
                if y is not None and np.asarray(y).dtype != object:
                    np.testing.assert_array_equal(x, y)


def test_functions_of_equal_eigenvalues_are_loud_in_all_orders():
    a, b = np.diag([2.0, 2.0, 3.0]), A[:3, :3]
    f = lambda t: np.sum(linalg.funm(a + t * b, np.exp))
    slopes = [pb.grad(f), lambda t: pb.jvp(f, (t,), (1.0,))[1]]
    found = [[g(0.0), pb.grad(g)(0.0), pb.jvp(g, (0.0,), (1.0,))[1]] for g in slopes]
    assert np.all(np.isnan(found))

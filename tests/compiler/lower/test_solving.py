"""Systems of equations, inverses, determinants, Cholesky factors, compiled, against LAPACK."""

import os

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.disk.portable import place_of, thing_at
from pullback.compiler.graph.factors import BY_FACTORS, factors_p, lapack_factors_p
from pullback.compiler.graph.small_systems import LARGEST
from pullback.compiler.llvm import lapack
from pullback.compiler.program import Program
from pullback.core.tree import flatten
from pullback.testing import staged

SIZES = (1, 2, 3, 4, 7, 16, 50, LARGEST)
STACKS = ((), (1,), (5,), (2, 3))


def program(f, *xs, level=0):
    def flat(*xs):
        out = f(*xs)
        return tuple(out) if isinstance(out, tuple) else (out,)

    graph, _ = staged(flat, list(xs))
    return Program(graph, level), flat


def check(f, *xs, native=True, level=0):
    """The same values, dtypes and kinds as NumPy's; in proportion to the condition."""
    run, flat = program(f, *xs, level=level)
    assert run.simple is native, run.listing
    for mine, theirs in zip(run(*xs), flat(*xs), strict=True):
        assert type(mine) is type(theirs)
        assert mine.dtype == theirs.dtype
        tolerance = 2000 * np.finfo(mine.dtype).eps if mine.dtype.kind == "f" else 0
        np.testing.assert_allclose(
            mine, theirs, rtol=tolerance, atol=tolerance * np.max(np.abs(theirs), initial=0)
        )


def matrices(*shape, dtype=float, seed=0):
    """Far from singular, and their rows in no order: each needs its pivots."""
    rng = np.random.default_rng(seed)
    n = shape[-1]
    a = rng.normal(size=shape) * 0.3 / np.sqrt(n) + np.eye(n)
    order = rng.permutation(n)
    return a[..., order, :].astype(dtype)


def positive(*shape, dtype=float):
    a = np.random.default_rng(1).normal(size=shape)
    return (a @ np.swapaxes(a, -1, -2) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def turned(f):
    return lambda a, b: f(np.swapaxes(a, -1, -2), b)


# What is asked of a matrix, and of its transpose: each by the factors that the other has made.
ASKED = {
    "solve": lambda a, b: np.linalg.solve(a, b),
    "inv": lambda a, b: np.linalg.inv(a),
    "det": lambda a, b: np.linalg.det(a),
    "sign": lambda a, b: np.linalg.slogdet(a)[0],
    "log": lambda a, b: np.linalg.slogdet(a)[1],
}
ASKED |= {f"{name} of the transpose": turned(f) for name, f in ASKED.items()}


@pytest.mark.share(16)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("first", ASKED)
def test_one_matrix_has_its_factors_made_once(first, n, stack, dtype):
    a = matrices(*stack, n, n, dtype=dtype)
    b = np.random.default_rng(2).normal(size=(*stack, n, 2)).astype(dtype)
    f = lambda a, b: (ASKED[first](a, b), *[g(a, b) for g in ASKED.values()])
    check(f, a, b)
    graph, _ = staged(f, [a, b])
    run = Program(graph, 0)
    assert [e.primitive is factors_p for e in run.run.whole.equations].count(True) == 1
    if n > 1:  # NumPy says of a singular one what it always says
        with pytest.raises(np.linalg.LinAlgError):
            run(np.ones_like(a), b)


# Threads of LAPACK may divide a system in another way when it is factored and solved apart.
ONE_THREAD = os.environ.get("OPENBLAS_NUM_THREADS") == "1"
# One of a stack, another for each right-hand side, a row, and rows apart.
FORMS = {
    "one": lambda a, b: (a, b),
    "stack": lambda a, b: (np.stack([a, a.T]), np.stack([b, b[::-1]])),
    "several right-hand sides": lambda a, b: (a, np.stack([b, b + 1])),
    "several matrices": lambda a, b: (np.stack([a, a.T]), b),
    "views": lambda a, b: (np.repeat(a, 2, 1)[::-1, ::2], np.asfortranarray(b)[:, ::-1]),
}


@pytest.mark.share(8)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("n", "dtype"),
    [(n, t) for n in (1, 2, 5, LARGEST - 1, LARGEST) for t in (complex, np.complex64)]
    + [(n, t) for n in (LARGEST + 1, 150, 200) for t in (float, complex, np.float32)],
)
@pytest.mark.parametrize("first", ["solve", "inv of the transpose"])
def test_factors_of_lapack_give_the_bits_of_numpy(first, n, dtype, form):
    """In the way in which they were made; what is asked of the transpose is near."""
    a, b = matrices(n, n, dtype=dtype), np.random.default_rng(2).normal(size=(n, 2)).astype(dtype)
    a, b = FORMS[form](a + 0.3j * a.T / n if a.dtype.kind == "c" else a, b)
    names = [first, *ASKED]
    if a.dtype.kind == "c":  # determinants have their own loop
        names = [name for name in names if name.split()[0] in ("solve", "inv")]
    f = lambda a, b: tuple([ASKED[name](a, b) for name in names])
    run, flat = program(f, a, b)
    assert run.simple, run.listing
    made = [e.primitive is lapack_factors_p for e in run.run.whole.equations].count(True)
    assert made == 2 if dtype in (np.float32, np.complex64) else 1  # each in double precision
    for name, mine, theirs in zip(names, run(a, b), flat(a, b), strict=True):
        assert mine.dtype == theirs.dtype
        if ONE_THREAD and ("transpose" in name) is ("transpose" in names[0]):
            assert mine.tobytes() == theirs.tobytes(), name
        tolerance = 2000 * np.finfo(mine.dtype).eps
        np.testing.assert_allclose(
            mine, theirs, rtol=tolerance, atol=tolerance * np.max(np.abs(theirs))
        )


@pytest.mark.share(2)
@np.errstate(all="ignore")
def test_factors_of_singular_matrices():
    """NumPy's errors where there is no result, and its determinants, inside loops as well."""
    a, b = matrices(LARGEST + 2, LARGEST + 2), np.ones(LARGEST + 2)
    f = lambda a: (np.linalg.det(a), np.linalg.slogdet(a)[0], np.linalg.slogdet(a)[1])
    asks = lambda a: np.linalg.solve(a, b).sum() + np.linalg.solve(a.T, b).sum()

    def steps(a):
        total = 0.0
        for t in range(20):
            total = total + np.sin(asks(a + t * np.eye(len(a))))
        return total

    singular = a.copy()
    singular[3] = singular[7] = 0.0
    run, flat = program(f, a)
    for x in (a, singular, np.full_like(a, np.nan), a * np.inf):
        for mine, theirs in zip(run(x), flat(x), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    for g in (asks, steps, pb.grad(asks), pb.grad(steps)):
        fast = pb.compile(g, wait=True)
        for x in (a, a * 2, singular, a):
            if x is singular:
                with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                    fast(x)
            else:
                np.testing.assert_allclose(fast(x), g(x), rtol=1e-9, atol=1e-12)
        assert fast.refusal is None


def test_a_process_without_lapack_factors_each_time(monkeypatch):
    a = matrices(LARGEST + 1, LARGEST + 1)
    monkeypatch.setattr(lapack, "routines", lambda dtype: None)
    check(lambda a: (np.linalg.inv(a), np.linalg.det(a), np.linalg.inv(a.T)), a)


def test_operations_by_factors_are_found_on_disk():
    for x in (factors_p, lapack_factors_p, *BY_FACTORS.values()):
        assert thing_at(*place_of(x)) is x


@pytest.mark.share(2)
@pytest.mark.parametrize("n", [2, 5])
def test_steps_of_a_loop_have_factors_of_their_own(n):
    def steps(a, b):
        for _ in range(30):
            b = np.linalg.solve(a, np.linalg.solve(a.T, b)) / np.linalg.det(a)
            a = a + 0.01 * np.outer(b, b)
        return np.sum(b)

    a, b = matrices(n, n), np.linspace(0.5, 1.0, n)
    for f in (steps, pb.grad(steps, argnums=(0, 1))):
        fast = pb.compile(f, wait=True)
        for _ in range(3):
            found, expected = flatten(fast(a, b))[0], flatten(f(a, b))[0]
            for x, y in zip(found, expected, strict=True):
                # Elements that nearly cancel carry the rounding of the largest.
                np.testing.assert_allclose(x, y, rtol=0, atol=1e-10 * np.max(np.abs(y)))


@pytest.mark.share(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("n", SIZES)
def test_all(n, stack, dtype):
    a, s = matrices(*stack, n, n, dtype=dtype), positive(*stack, n, n, dtype=dtype)
    b = np.random.default_rng(2).normal(size=(*stack, n, 3)).astype(dtype)
    check(np.linalg.solve, a, b)
    check(np.linalg.inv, a)
    check(np.linalg.det, a)
    check(np.linalg.slogdet, a)
    check(lambda a: np.linalg.slogdet(a).logabsdet, a)
    check(np.linalg.cholesky, s)
    check(lambda s: np.linalg.cholesky(s, upper=True), s)


@pytest.mark.parametrize("level", [0, 3])
def test_operands_of_any_form(level):
    a, b = matrices(3, 5, 5), np.random.default_rng(3).normal(size=(3, 5, 2))
    for f, *xs in (
        (lambda a, b: np.linalg.solve(np.swapaxes(a, -1, -2), b[:, ::-1]), a, b),
        (lambda a, b: np.linalg.solve(a[0], b), a, b),
        (lambda a, b: np.linalg.solve(a[:, None], b[0]), a, b),
        (lambda a, b: np.linalg.solve(a, b[0, :, 0]), a, b),
        (lambda a: np.linalg.solve(a, np.arange(5.0)), a),
        (lambda b: np.linalg.solve(np.eye(5) + 0.5, b * 2), b),
        (lambda a: np.linalg.inv(a[1:, ::-1, ::-1].copy()) * 2, a),
        (lambda a: np.linalg.det(a * 2 + 1) * np.sum(a), a),
        (lambda a: np.linalg.inv(np.linalg.inv(a)) + a, a),
        (lambda a: np.linalg.inv(a[0])[::-1], a),
    ):
        check(f, *xs, level=level)


def test_triangles_of_cholesky():
    """Of a matrix that is not symmetric one triangle is read, as by NumPy."""
    s = positive(4, 4) + np.triu(np.full((4, 4), 0.01), 1)
    for upper in (False, True):
        check(lambda s, upper=upper: np.linalg.cholesky(s, upper=upper), s)


def test_what_numpy_does():
    big = matrices(LARGEST + 1, LARGEST + 1)
    check(np.linalg.inv, big)
    check(np.linalg.inv, matrices(3, 3) * (1 + 1j))
    check(lambda a: np.linalg.solve(a, np.ones((3, 600))), matrices(3, 3))
    run, _ = program(np.linalg.inv, np.ones((0, 3, 3)))
    assert run(np.ones((0, 3, 3)))[0].shape == (0, 3, 3)


SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 0.0]])
BAD = {
    "solve": (lambda a: np.linalg.solve(a, np.ones(3)), SINGULAR),
    "inv": (np.linalg.inv, SINGULAR),
    "zeros": (np.linalg.inv, np.zeros((3, 3))),
    "in a stack": (lambda a: np.linalg.inv(np.stack([np.eye(3), a])), SINGULAR),
    "cholesky": (np.linalg.cholesky, -np.eye(3)),
    "not positive": (np.linalg.cholesky, np.diag([1.0, 0.0, 1.0])),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("used", [True, False])
def test_what_numpy_refuses(name, used):
    """In every call, also where nobody reads the result; and good ones work after it."""
    f, bad = BAD[name]

    def g(a):
        found = f(a)
        return np.sum(found) if used else np.sum(a)

    compiled = pb.compile(g)
    good = positive(3, 3)
    for _ in range(4):
        np.testing.assert_allclose(compiled(good), g(good), rtol=1e-12)
        with pytest.raises(np.linalg.LinAlgError):
            compiled(bad)
    assert compiled.refusal is None


@pytest.mark.parametrize("f", [np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky])
@pytest.mark.parametrize("x", [np.nan, np.inf, -np.inf, 0.0])
def test_values_that_are_no_numbers(f, x):
    a = positive(4, 4)
    run, flat = program(f, a)
    a[2, 1] = a[1, 2] = x
    with np.errstate(all="ignore"):
        try:
            right = flat(a)
        except np.linalg.LinAlgError as error:
            with pytest.raises(np.linalg.LinAlgError, match=str(error)):
                run(a)
            return
        for mine, theirs in zip(run(a), right, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_determinants_of_singular_matrices():
    for a in (SINGULAR, np.zeros((3, 3)), np.stack([np.eye(3), np.zeros((3, 3))])):
        run, _ = program(np.linalg.slogdet, a)
        sign, log = run(a)
        theirs = np.linalg.slogdet(a)
        np.testing.assert_array_equal(sign, theirs.sign)
        np.testing.assert_array_equal(log, theirs.logabsdet)
        run, _ = program(np.linalg.det, a)
        np.testing.assert_array_equal(run(a)[0], np.linalg.det(a))


@pytest.mark.parametrize("n", [3, 5, 40, 150])
def test_determinants_whose_products_leave_the_range(n):
    """Of pivots far from 1 that balance, the product of the first may be no number any more."""
    random = np.random.default_rng(n)
    for power in (200, -200):
        a = random.normal(size=(4, n, n)) / n + np.eye(n)
        a[:, :2] *= 10.0**power
        a[:, 2] *= 10.0 ** (-1.5 * power)
        a[1, 2] = 0.0
        a[2] = a[2][::-1]
        run, _ = program(np.linalg.det, a)
        right = np.linalg.det(a)
        assert np.all(np.isfinite(right))
        assert np.count_nonzero(right) == 3
        np.testing.assert_allclose(run(a)[0], right, rtol=1e-11 * n)
        np.testing.assert_array_equal(np.signbit(run(a)[0]), np.signbit(right))


def gaussian(s, x):
    l = np.linalg.cholesky(s)
    z = np.linalg.solve(l, x)
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diagonal(l, axis1=-2, axis2=-1)))


def information(s, x):
    return np.linalg.slogdet(s)[1] + x @ np.linalg.inv(s) @ x


@pytest.mark.parametrize("f", [gaussian, information])
def test_derivatives(f):
    s, x = positive(5, 5), np.linspace(-1, 1, 5)
    several = pb.vmap(pb.grad(f, (0, 1)), in_axes=(None, 0))
    for g, xs in (
        (pb.grad(f, (0, 1)), (s, x)),
        (pb.jacobian(pb.grad(f, 1), 0), (s, x)),
        (several, (s, np.stack([x, x * 2]))),
    ):
        compiled = pb.compile(g)
        for _ in range(4):
            for mine, theirs in zip(
                flatten(compiled(*xs))[0],
                flatten(g(*xs))[0],
                strict=True,
            ):
                np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
        assert compiled.refusal is None


def test_in_a_loop():
    """Of a singular matrix in some step NumPy's own error comes out."""

    def step(x, a):
        return np.linalg.solve(a, x), x.sum()

    f = pb.compile(lambda a, x: pb.scan(step, x, a)[0].sum())
    a, x = np.stack([matrices(3, 3, seed=i) for i in range(200)]), np.ones(3)
    for _ in range(3):
        np.testing.assert_allclose(f(a, x), f.fun(a, x), rtol=1e-9)
    a[150] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        f(a, x)


def stepped(a, x):
    """A loop of systems, inverses, logarithms of determinants and factors, as filters have it."""
    for t in range(40):
        m = a + 0.01 * t * np.eye(3)
        x = np.linalg.solve(m, x) + np.linalg.inv(m) @ x
        x = x / np.linalg.norm(x) + 0.1 * np.linalg.slogdet(m)[1]
        x = x + np.linalg.cholesky(m @ m.T)[0]
    return np.sum(x)


def nested(a, x):
    def inner(x, t):
        return np.linalg.solve(a + t * np.eye(3), x), None

    def outer(x, t):
        x = pb.scan(inner, x, np.linspace(0, 1, 5) + t)[0]
        return x / np.sum(np.abs(x)), np.linalg.slogdet(a * t)[1]

    x, ys = pb.scan(outer, x, np.linspace(1, 2, 7))
    return np.sum(x) + np.sum(ys)


@pytest.mark.parametrize("f", [stepped, nested])
def test_in_loops(f):
    """A loop whose steps solve systems is machine code, and so is its backward pass."""
    a, x = matrices(3, 3), np.array([1.0, 2.0, 3.0])
    fast, value = pb.compile(pb.value_and_grad(f)), pb.value_and_grad(f)(a, x)
    for _ in range(3):
        out, gradient = fast(a, x)
        np.testing.assert_allclose(out, value[0], rtol=1e-10)
        np.testing.assert_allclose(gradient, value[1], rtol=1e-9)
    assert program(lambda a, x: pb.value_and_grad(f)(a, x), a, x)[0].simple


def test_a_singular_matrix_in_a_step():
    """NumPy's error is raised, whichever step it is in, also where nobody reads the result."""

    def f(a, x):
        for t in range(200):
            y = np.linalg.solve(a - t * np.eye(3), x)
            x = x * 0.9 + 0.001 * y
        return np.sum(x)

    def unread(a, x):
        for t in range(200):
            np.linalg.inv(a - t * np.eye(3))
            x = np.sin(x)
        return np.sum(x)

    good, bad = np.eye(3) * 0.5, np.diag([0.5, 0.5, 77.0])
    for g in (f, unread, pb.grad(f)):
        fast = pb.compile(g)
        for a in (good, good, bad, good, bad):
            if a is bad:
                with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                    fast(a, np.ones(3))
            else:
                np.testing.assert_allclose(fast(a, np.ones(3)), g(a, np.ones(3)), rtol=1e-10)


def test_a_singular_matrix_in_a_loop_in_a_loop():
    def f(a, x):
        def more(x):
            return pb.scan(lambda x, t: (np.linalg.solve(a - t, x), None), x, np.arange(3.0))[0]

        return np.sum(pb.while_loop(lambda x: np.sum(x) < 10, lambda x: x + abs(more(x)), x))

    def g(a, x):
        return nested(a, x) + np.sum(pb.checkpoint(lambda x: np.linalg.inv(a) @ x)(x))

    bad = matrices(3, 3)
    bad[1] = bad[0]
    for h in (f, g):
        fast = pb.compile(h)
        for a in (matrices(3, 3), matrices(3, 3), bad, matrices(3, 3)):
            if a is bad:
                with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                    fast(a, np.ones(3))
            else:
                np.testing.assert_allclose(fast(a, np.ones(3)), h(a, np.ones(3)), rtol=1e-9)


@pytest.mark.parametrize(
    "f",
    [
        np.linalg.det,
        lambda a: np.sum(np.linalg.eigvalsh(a + a.T) ** 2),
        lambda a: np.linalg.norm(a, "nuc"),
        np.linalg.cond,
        lambda a: np.sum(np.linalg.pinv(a)),
    ],
    ids=["det", "eigvalsh", "nuclear norm", "cond", "pinv"],
)
def test_gradients_of_decompositions_in_a_loop(f):
    """They are machine code; a step near a singular matrix, or equal values, is done by NumPy."""

    def steps(a, t):
        return pb.scan(lambda total, t: (total + f(a + t), None), 0.0, t)[0]

    def waiting(a, t):
        step = lambda carry: (carry[0] + 0.05, carry[1] + f(a + carry[0]))
        return pb.while_loop(lambda carry: carry[0] < t[-1], step, (t[0], 0.0))[1]

    a, t = matrices(3, 3), np.linspace(-0.1, 0.1, 7)
    for g in (pb.value_and_grad(steps), pb.value_and_grad(waiting)):
        fast = pb.compile(g, wait=True)
        for matrix in (a, a * 1.1, np.eye(3), a):
            for mine, theirs in zip(fast(matrix, t), g(matrix, t), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
        assert fast.refusal is None
        assert fast.cache_info().hits


SUMS = 1e-15  # machine code adds in an order of its own


@pytest.mark.parametrize(
    ("values", "weigh", "rtol"),
    [
        (np.linalg.svdvals, lambda a, s: np.sum(s**1.5), SUMS),
        (lambda a: np.linalg.eigvalsh(a + a.T), lambda a, s: np.sum(s**2), SUMS),
        (np.linalg.svdvals, lambda a, s: np.linalg.norm(a, "nuc"), SUMS),
        (np.linalg.svdvals, lambda a, s: np.linalg.cond(a), 0.0),
    ],
    ids=["singular values", "eigvalsh", "nuclear norm", "cond"],
)
def test_gradients_of_values_alone_call_lapack(values, weigh, rtol):
    """The values are those of the routine without vectors, to the last bit, and it's called."""

    def f(a):
        s = values(a)
        return weigh(a, s), s

    a = matrices(4, 4)
    g = pb.value_and_grad(f, has_aux=True)
    fast = pb.compile(g, wait=True)
    for matrix in (a, a * 1.1, np.eye(4)):
        (mine, s), slope = fast(matrix)
        (theirs, _), expected = g(matrix)
        np.testing.assert_array_equal(s, values(matrix))
        np.testing.assert_allclose(mine, theirs, rtol=rtol)
        np.testing.assert_allclose(slope, expected, rtol=1e-9, atol=1e-12)
    listing = fast.path((a,), {}).program.listing
    assert not [
        line for line in listing.splitlines() if " svdvals " in line or "= eigvalsh " in line
    ]

"""Routines of BLAS and LAPACK: their own numbers, with the derivative of what they compute."""

import numpy as np
import pytest
from scipy.linalg import blas, get_blas_funcs, get_lapack_funcs, lapack

import pullback as pb
from pullback.core.errors import ConversionError, MissingRuleError

random = np.random.default_rng(4)
A, B, C = [random.normal(size=(3, 3)) + 3 * np.eye(3) for _ in range(3)]
X, Y = random.normal(size=(2, 3))
COMPLEX = 1 + 0.3j
S = A @ A.T + np.diag([1.0, 5.0, 20.0])


def new(x):
    return np.array(x, order="F")


# name: a program over a, b (matrices), x, y (vectors); r(name) is the routine of their type.
PRODUCTS = {
    "axpy": lambda r, a, b, x, y: r("axpy")(x, new(y), a=1.5),
    "scal": lambda r, a, b, x, y: r("scal")(x[0], new(y)),
    "copy": lambda r, a, b, x, y: r("copy")(x, new(y)),
    "swap": lambda r, a, b, x, y: r("swap")(new(x), new(y)),
    "dot": lambda r, a, b, x, y: r("dot")(x, y),
    "dot by steps": lambda r, a, b, x, y: r("dot")(x, y, n=1, offx=1, incx=2),
    "nrm2": lambda r, a, b, x, y: r("nrm2")(x),
    "asum": lambda r, a, b, x, y: r("asum")(x),
    "gemv": lambda r, a, b, x, y: r("gemv")(x[0], a, x, y[1], y, trans=1),
    "ger": lambda r, a, b, x, y: r("ger")(x[0], x, y, a=b),
    "trmv": lambda r, a, b, x, y: r("trmv")(a, x, lower=1, trans=1, diag=1),
    "trsv": lambda r, a, b, x, y: r("trsv")(a, x, lower=1, trans=2),
    "gemm": lambda r, a, b, x, y: r("gemm")(x[1], a, b, y[0], a, trans_a=1, trans_b=2),
    "symm": lambda r, a, b, x, y: r("symm")(1.5, a, b, 0.5, a, side=1, lower=1),
    "syrk": lambda r, a, b, x, y: r("syrk")(1.5, a, 0.5, b, trans=1),
    "syr2k": lambda r, a, b, x, y: r("syr2k")(1.5, a, b, lower=1),
    "trmm": lambda r, a, b, x, y: r("trmm")(y[0], a, b, side=1, lower=1, trans_a=1),
    "trsm": lambda r, a, b, x, y: r("trsm")(x[0], a, b, lower=1),
    "trsm right": lambda r, a, b, x, y: [
        r("trsm")(1.5, a, b, side=1, trans_a=trans, diag=trans % 2) for trans in range(3)
    ],
}
SOLVERS = {
    "potrf": lambda r, a, b, x, y: r("potrf")(hermitian(a), lower=1)[0],
    "potrf left as it is": lambda r, a, b, x, y: r("potrf")(hermitian(a), clean=0)[0],
    "potrs": lambda r, a, b, x, y: r("potrs")(a, b, lower=1)[0],
    "potri": lambda r, a, b, x, y: r("potri")(r("potrf")(hermitian(a))[0])[0],
    "posv": lambda r, a, b, x, y: r("posv")(hermitian(a), x, lower=1)[:2],
    "getrf": lambda r, a, b, x, y: r("getrf")(a)[0],
    "getrs": lambda r, a, b, x, y: r("getrs")(*r("getrf")(a)[:2], b, trans=1)[0],
    "getri": lambda r, a, b, x, y: r("getri")(*r("getrf")(a)[:2])[0],
    "gecon": lambda r, a, b, x, y: [
        r("gecon")(r("getrf")(a)[0], np.real(x[0]) + 9, norm=norm)[0] for norm in "1I"
    ],
    "gesv": lambda r, a, b, x, y: r("gesv")(a, x)[0::2],
    "sysv": lambda r, a, b, x, y: r("sysv")(a, b, lower=1)[2],
    "trtrs": lambda r, a, b, x, y: r("trtrs")(a, x, lower=1, trans=1, unitdiag=1)[0],
    "trtri": lambda r, a, b, x, y: [r("trtri")(a, unitdiag=unit)[0] for unit in (0, 1)],
    "trsyl": lambda r, a, b, x, y: r("trsyl")(np.triu(a), np.triu(b), a, trana="C", isgn=1)[0],
    "gtsv": lambda r, a, b, x, y: r("gtsv")(x[:2], y + 5, y[1:], b)[3],
    "ptsv": lambda r, a, b, x, y: r("ptsv")(np.real(y) + 5, x[:2], b)[2],
    "gbsv": lambda r, a, b, x, y: r("gbsv")(1, 1, np.concatenate([0 * a[:1], a]) + 1, x)[2],
    "pbtrf": lambda r, a, b, x, y: r("pbtrf")(bands(x, y))[0][1],
    "pbtrs": lambda r, a, b, x, y: r("pbtrs")(bands(x, y), b)[0],
    "pbsv": lambda r, a, b, x, y: r("pbsv")(bands(x, y), b)[1],
    "gesdd": lambda r, a, b, x, y: absolute(r("gesdd")(a[:, :2], full_matrices=0)[:3]),
    "geev": lambda r, a, b, x, y: r("geev")(a)[0],
}
REFLECTED = {
    "geqrf": lambda r, a, b, x, y: [r("geqrf")(part)[:2] for part in (a, a[:, :2], a[:2])],
    "geqp3": lambda r, a, b, x, y: r("geqp3")(a)[0:3:2],
    "orgqr": lambda r, a, b, x, y: r("orgqr")(*r("geqrf")(a[:, :2])[:2])[0],
    "ormqr": lambda r, a, b, x, y: [
        r("ormqr")(side, trans, *r("geqrf")(a[:, :2])[:2], b, 64)[0]
        for side in "LR"
        for trans in ("N", "T" if np.dtype(a.dtype).kind == "f" else "C")
    ],
    "gels": lambda r, a, b, x, y: [r("gels")(a[:, :2], part)[:2] for part in (x, b)],
    "lange": lambda r, a, b, x, y: [r("lange")(kind, a) for kind in "M1IFe"],
}
OF_REAL = {
    "lauum": lambda r, a, b, x, y: [r("lauum")(a, lower=lower)[0] for lower in (0, 1)],
    "syev": lambda r, a, b, x, y: r("syev")(a, lower=1)[:2],
    "syevr": lambda r, a, b, x, y: absolute(r("syevr")(a)[:2]),
    "sygvd": lambda r, a, b, x, y: r("sygvd")(a, hermitian(b))[0],
    "symv": lambda r, a, b, x, y: r("symv")(1.5, a, x, lower=1),
    "syr": lambda r, a, b, x, y: r("syr")(1.5, x, a=a),
    "syr2": lambda r, a, b, x, y: r("syr2")(1.5, x, y, lower=1),
    "rot": lambda r, a, b, x, y: r("rot")(x, y, np.cos(x[0]), np.sin(x[0])),
}
OF_COMPLEX = {
    "heevd": lambda r, a, b, x, y: absolute(r("heevd")(a)[:2]),
    "hegvd": lambda r, a, b, x, y: r("hegvd")(a, hermitian(b))[0],
    "hemv": lambda r, a, b, x, y: r("hemv")(1.5, a, x, lower=1),
    "hemm": lambda r, a, b, x, y: r("hemm")(1.5, a, b, side=1),
    "herk": lambda r, a, b, x, y: r("herk")(1.5, a, lower=1),
    "her2k": lambda r, a, b, x, y: r("her2k")(1.5, a, b),
    "hesv": lambda r, a, b, x, y: r("hesv")(a, b)[2],
    "dotc": lambda r, a, b, x, y: r("dotc")(x, y),
    "gerc": lambda r, a, b, x, y: r("gerc")(x[0], x, y),
}


def hermitian(a):
    return a @ np.conj(a.T) + np.eye(3)


def bands(x, y):
    return np.stack([x, np.real(y) + 5 + 0 * y])


def absolute(parts):
    """Without the phases of complex vectors."""
    return [np.abs(part) for part in parts]


def number(out, steps=0.3):
    """One real number of all that there is."""
    if isinstance(out, (list, tuple)):
        return sum(number(part, steps + i) for i, part in enumerate(out))
    weights = np.cos(np.arange(np.size(out)) + steps).reshape(np.shape(out))
    return np.sum(weights * np.real(out)) + 0.7 * np.sum(weights * np.imag(out))


def cases():
    for letter, more in (("d", OF_REAL), ("z", OF_COMPLEX)):
        routine = lambda name, letter=letter: (
            {
                "nrm2": {"d": blas.dnrm2, "z": blas.dznrm2},
                "asum": {"d": blas.dasum, "z": blas.dzasum},
                "dot": {"d": blas.ddot, "z": blas.zdotu},
                "ger": {"d": blas.dger, "z": blas.zgeru},
                "orgqr": {"z": lapack.zungqr},
                "ormqr": {"z": lapack.zunmqr},
            }.get(name, {}).get(letter)
            or getattr(blas if hasattr(blas, letter + name) else lapack, letter + name)
        )
        for name, program in {**PRODUCTS, **SOLVERS, **REFLECTED, **more}.items():
            yield letter, name, lambda *xs, p=program, r=routine: p(r, *xs)


@pytest.mark.share(4)
def test_routines_have_the_derivative_of_what_they_compute():
    """The value is SciPy's bit for bit; both modes agree with differences, compiled with eager."""
    failures, count = [], 0
    for letter, name, program in cases():
        turn = COMPLEX if letter == "z" else 1.0
        # Symmetric and with eigenvalues far apart: routines for any matrix take it as well.
        first = S + 0.3j * (A - A.T) if letter == "z" else S
        xs = [first, B * turn, X * turn, Y * turn]
        steps = [random.normal(size=x.shape) * turn for x in xs]
        f = lambda t, xs=xs, steps=steps, program=program: number(
            program(*[x + t * step for x, step in zip(xs, steps, strict=True)])
        )
        h = 1e-3
        first, second = [(f(k * h) - f(-k * h)) / (2 * k * h) for k in (1, 2)]
        difference = (4 * first - second) / 3
        value, slope = pb.jvp(f, (0.0,), (1.0,))
        other = pb.grad(f)(0.0)
        compiled = pb.compile(pb.grad(f))
        again = [compiled(0.0) for _ in range(3)][-1]
        count += 1
        if value != f(0.0) or not np.allclose([slope, other, again], difference, 1e-6, 1e-7):
            failures.append((letter, name, value - f(0.0), slope, other, again, difference))
    assert not failures, failures
    assert count > 90


def test_what_a_routine_writes_in_place_is_written():
    """BLAS writes into `y` and, where it may, into `c`; residuals of earlier calls stay."""

    def in_place(x):
        y, c = x[::-1] * 1.3, np.zeros((2, 2), order="F")
        size = blas.dnrm2(y)
        blas.daxpy(x, y, a=2.0)
        blas.dscal(3.0, y)
        out = blas.dgemm(1.0, np.outer(x, y), np.outer(y, x), c=c, overwrite_c=True)
        assert out is c
        return size * y[0] + np.sum(c)

    def by_hand(x):
        y = x[::-1] * 1.3
        size = np.sqrt(np.sum(y * y))
        y = (y + 2 * x) * 3
        return size * y[0] + np.sum(np.outer(x, y) @ np.outer(y, x))

    x = np.array([0.3, 0.5])
    assert np.allclose(in_place(x), by_hand(x))
    assert np.allclose(pb.grad(in_place)(x), pb.grad(by_hand)(x))
    kept = np.ones(2)
    with pytest.raises(ConversionError, match="Pass a copy"):
        pb.grad(lambda x: blas.daxpy(x, kept)[0])(x)
    assert np.all(kept == 1)


def test_a_factorization_that_fails_says_so_in_info():
    """A loop that adds to the diagonal until `potrf` succeeds; before, there is no derivative."""

    def jittered(a):
        jitter, count = 0.0, 0
        (potrf,) = get_lapack_funcs(("potrf",), (a,))
        while True:
            factor, info = potrf(a + jitter * np.eye(2), lower=True)
            if info == 0:
                return np.log(np.diag(factor)).sum()
            jitter, count = jitter + 0.5, count + 1

    a = np.array([[1.0, 1.2], [1.2, 1.0]])
    assert np.allclose(
        pb.grad(jittered)(a), np.linalg.inv(a + 0.5 * np.eye(2)) * [[0.5, 0], [1, 0.5]]
    )
    with pytest.raises(MissingRuleError, match=r"the result of `scipy\.linalg\.lapack\.dpotrf`"):
        pb.grad(lambda a: lapack.dpotrf(a)[0].sum())(a)
    with pytest.raises(MissingRuleError, match="dgetrf"):
        pb.grad(lambda a: lapack.dgesdd(a[:, :1])[0].sum() + lapack.dgetrf(0 * a)[0].sum())(a)


def test_routines_take_batches():
    f = lambda a, b: get_blas_funcs("gemv", (a, b))(2.0, a, lapack.dgesv(a, b)[2])
    a, b = random.normal(size=(4, 2, 2)) + 3 * np.eye(2), random.normal(size=(4, 2))
    assert np.allclose(pb.vmap(f)(a, b), [f(x, y) for x, y in zip(a, b, strict=True)])


def test_a_count_of_all_elements():
    """As SciPy's own GCROT passes it: `n` that is the length of the vectors leaves none out."""

    def f(x):
        y = blas.daxpy(np.ones(5), x * 1.0, x.shape[0], -2.0)
        return np.sum(y * x) + blas.ddot(x, y, n=5)

    x = np.arange(1.0, 6.0)
    np.testing.assert_allclose(pb.grad(f)(x), 4.0 * (x - 1.0), rtol=1e-12)

# fmt: off
"""scipy.linalg: systems, factors, spectra, functions of matrices, equations for matrices."""

import numpy as np
from scipy import linalg as sl

import pullback.scipy.linalg  # noqa: F401  # enters the rules
from pullback.core.errors import MissingRuleError
from pullback.scipy.releases import SINCE_1_18
from pullback.testing import ErrorSample, Sample
from tests.samples import served, traced

random = np.random.default_rng(29)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (real(*shape) + 1j * real(*shape)).astype(dtype)


def regular(*shape, make=real, **dtype):
    """Matrices far from singular, with different eigenvalues and singular values."""
    m, n = shape[-2:]
    return (0.4 * make(*shape, **dtype) + np.eye(m, n) * np.arange(1, n + 1)).astype(
        make(**dtype).dtype
    )


def adjoint(a):
    return np.swapaxes(np.conj(a), -1, -2)


def hermitian(a):
    return (a + adjoint(a)) / 2


def definite(a):
    return a @ adjoint(a) + np.eye(a.shape[-1])


def size(x):
    """What does not depend on the phases of vectors."""
    return np.abs(x) ** 2


def given(f, **options):
    return lambda g, *xs: g(*xs, **options)


def of(f, *xs, program=None, smooth=True, name="", kind=served, **options):
    """A sample of a function with options, or of a program over it."""
    said = ", ".join([name] if name else [f"{key}={x}" for key, x in options.items()])
    sample_name = f"{f.__name__}({said})({', '.join(str(np.asarray(x).dtype) + str(list(np.shape(x))) for x in xs)})"
    fun = kind(f, program or given(f, **options))
    return Sample(fun, xs, smooth=smooth, name=sample_name)


def native(a):
    """SciPy's `lu` takes no other order of bytes, and does not say so."""
    return a.astype(a.dtype.newbyteorder("="), copy=False)


def lengths(g, a):
    w, v = g(a)
    return w, size(v)


BANDS = np.array([[0, 0.3, 0.5, -0.2], [4, 5, 6.0, 3.0], [0.3, -0.7, 0.4, 0]])
UPPER = np.array([[0, 0.3, 0.5, -0.2], [4, 5, 6.0, 3.0]])
COLUMN, ROW = np.array([5.0, 1.0, -0.5]), np.array([5.0, 0.4, 0.7])
R, Q = np.array([[2.0, 0.3], [0.3, 1.0]]), np.diag([1.0, 2.0, 0.5])

SAMPLES = []

# Systems of equations.
for make in (real, cplx):
    SAMPLES += [
        of(sl.solve, regular(3, 3, make=make), make(3)),
        of(sl.solve, regular(3, 3, make=make), make(3, 2)),
        of(sl.solve, regular(2, 3, 3, make=make), make(2, 3, 1)),
        *[
            of(sl.solve, regular(3, 3, make=make), make(3), assume_a=kind)
            for kind in (
                "gen",
                "sym",
                "her",
                "diagonal",
                "tridiagonal",
                "upper triangular",
                "lower triangular",
            )
        ],
        of(sl.solve, regular(3, 3, make=make), make(3), assume_a="pos", lower=True),
        of(sl.solve, regular(3, 3, make=make), make(3, 1), assume_a="pos"),
        *[
            of(sl.solve_triangular, regular(3, 3, make=make), make(3, 2), trans=trans, lower=lower)
            for trans in (0, 1, 2)
            for lower in (False, True)
        ],
        of(
            sl.solve_triangular, regular(2, 3, 3, make=make), make(3), trans="T", unit_diagonal=True
        ),
        of(
            sl.solve_banded,
            BANDS + 0 * make(3, 4),
            make(4),
            program=lambda g, ab, b: g((1, 1), ab, b),
        ),
        of(
            sl.solve_banded,
            BANDS[:2] + 0 * make(2, 4),
            make(4, 2),
            program=lambda g, ab, b: g((0, 1), ab, b),
        ),
        of(sl.solveh_banded, UPPER + 0.1j * make(2, 4) if make is cplx else UPPER, make(4)),
        of(sl.solveh_banded, UPPER[::-1] + 0 * make(2, 4), make(4, 1), lower=True),
        of(
            sl.solve_toeplitz,
            COLUMN + 0 * make(3),
            ROW,
            make(3),
            program=lambda g, c, r, b: g((c, r), b),
        ),
        of(
            sl.matmul_toeplitz,
            make(4),
            make(3),
            make(3, 2),
            program=lambda g, c, r, x: g((c, r), x),
        ),
        of(sl.solve_circulant, COLUMN + 0 * make(3), make(3)),
        of(sl.solve_circulant, COLUMN + 0 * make(3), make(2, 3), baxis=1),
        of(sl.inv, regular(3, 3, make=make)),
        of(sl.det, regular(3, 3, make=make)),
        of(sl.lstsq, regular(4, 2, make=make), make(4), program=lambda g, a, b: g(a, b)[0]),
        of(
            sl.lstsq,
            regular(3, 2, make=make),
            make(3, 2),
            program=lambda g, a, b: [x for x in g(a, b) if x is not None],
        ),
        of(
            sl.lstsq,
            regular(2, 3, make=make),
            make(2),
            program=lambda g, a, b: g(a, b, lapack_driver="gelsy")[0],
        ),
        of(sl.pinv, regular(4, 2, make=make)),
        of(sl.pinv, regular(2, 3, make=make), atol=1e-9, return_rank=True),
        of(sl.pinvh, regular(3, 3, make=make), program=lambda g, a: g(hermitian(a))),
    ]
SAMPLES += [
    of(sl.solve, regular(3, 3), real(3), transposed=True),
    of(sl.solve, regular(3, 3), real(3), transposed=True, assume_a="upper triangular"),
    of(sl.solve, regular(2, 2, dtype="f4"), real(2, dtype="f4")),
    of(sl.solve, regular(3, 3)[::-1, ::-1].T, real(4, 3)[::2].T),
    of(
        sl.solve,
        real(3),
        program=lambda g, b: g([[2, 1, 0], [1, 3, 1], [0, 1, 4]], b),
        name="a list",
    ),
    of(sl.solve_toeplitz, COLUMN, real(3, 2)),
    of(sl.det, regular(2, 2, 2)),
    of(sl.det, regular(2, 2, dtype="f4")),
    of(sl.inv, regular(2, 2, 2)),
]

# Factors.
for make in (real, cplx):
    SAMPLES += [
        *[
            of(
                sl.cholesky,
                regular(3, 3, make=make),
                program=lambda g, a, lower=lower: g(definite(a), lower=lower),
                name=f"lower={lower}",
            )
            for lower in (False, True)
        ],
        of(sl.cho_factor, regular(3, 3, make=make), program=lambda g, a: g(definite(a))[0]),
        of(
            sl.cho_solve,
            regular(3, 3, make=make),
            make(3),
            program=lambda g, c, b: g((c, False), b),
        ),
        of(
            sl.cho_solve,
            regular(3, 3, make=make),
            make(3, 2),
            program=lambda g, c, b: g((c, True), b),
            name="lower",
        ),
        of(sl.cholesky_banded, UPPER + 0 * make(2, 4)),
        of(sl.cholesky_banded, UPPER[::-1] + 0 * make(2, 4), lower=True),
        of(
            sl.cho_solve_banded,
            UPPER + 0.1 * make(2, 4),
            make(4),
            program=lambda g, c, b: g((c, False), b),
        ),
        of(
            sl.cho_solve_banded,
            UPPER[::-1] + 0.1 * make(2, 4),
            make(4, 2),
            program=lambda g, c, b: g((c, True), b),
            name="lower",
        ),
        *[
            of(sl.lu_factor, regular(*shape, make=make)[::-1], program=lambda g, a: g(a)[0])
            for shape in ((3, 3), (4, 2), (2, 3))
        ],
        *[
            of(sl.lu, regular(*shape, make=make)[::-1], program=lambda g, a: g(native(a))[1:])
            for shape in ((3, 3), (4, 2), (2, 3))
        ],
        of(
            sl.lu,
            regular(3, 3, make=make)[::-1],
            program=lambda g, a: g(native(a), permute_l=True),
            name="permute_l",
        ),
        *[
            of(
                sl.lu_solve,
                regular(3, 3, make=make),
                make(3, 2),
                program=lambda g, a, b, trans=trans: g(
                    (a, np.array([2, 2, 2], "i4")), b, trans=trans
                ),
                name=f"trans={trans}",
            )
            for trans in (0, 1, 2)
        ],
        *[
            of(
                sl.ldl,
                regular(3, 3, make=make),
                program=lambda g, a, lower=lower: g(hermitian(a), lower=lower)[:2],
                name=f"lower={lower}",
            )
            for lower in (False, True)
        ],
        *[
            of(sl.qr, regular(*shape, make=make), mode="economic")
            for shape in ((3, 3), (4, 2), (2, 3))
        ],
        of(sl.qr, regular(4, 2, make=make), mode="r"),
        of(
            sl.qr,
            regular(4, 2, make=make),
            program=lambda g, a: (g(a)[0][..., :2], g(a)[1]),
            name="full",
        ),
        of(
            sl.qr,
            regular(4, 2, make=make),
            program=lambda g, a: g(a, mode="economic", pivoting=True)[:2],
            name="pivoting",
        ),
        *[
            of(sl.rq, regular(*shape, make=make), mode="economic")
            for shape in ((3, 3), (4, 2), (2, 3))
        ],
        of(sl.rq, regular(2, 3, make=make), mode="r"),
        of(
            sl.qr_multiply, regular(4, 2, make=make), make(3, 4), program=lambda g, a, c: g(a, c)[0]
        ),
        of(
            sl.qr_multiply,
            regular(4, 2, make=make),
            make(2),
            program=lambda g, a, c: g(a, c, mode="left", pivoting=True)[0],
            name="left",
        ),
        *[
            of(sl.polar, regular(*shape, make=make), side=side)
            for shape in ((3, 3), (4, 2), (2, 3))
            for side in ("left", "right")
        ],
        of(sl.orthogonal_procrustes, regular(4, 2, make=make), regular(4, 2, make=make)),
        of(sl.hessenberg, real(4, 4) if make is real else cplx(3, 3), calc_q=True),
    ]
SAMPLES += [
    of(
        sl.ldl,
        np.array([[0.1, 2.0, 0.5], [2.0, -0.3, 1.0], [0.5, 1.0, 1.5]]),
        program=lambda g, a: g(hermitian(a))[:2],
        name="a block of two",
    ),
    of(sl.ldl, cplx(3, 3), program=lambda g, a: g(a, hermitian=False)[:2], name="symmetric"),
    of(sl.polar, np.eye(3), name="orthogonal"),
    of(sl.lu_factor, regular(2, 3, 3), program=lambda g, a: g(a)[0]),
    of(sl.cholesky, regular(2, 2, dtype="f4"), program=lambda g, a: g(definite(a))),
    of(sl.hessenberg, real(4, 4)),
    of(sl.null_space, real(2, 3)),
    of(
        sl.null_space,
        real(2, 4),
        program=lambda g, a: (lambda n: n @ adjoint(n))(g(a)),
        name="projector",
    ),
    of(sl.orth, regular(4, 2)),
    of(sl.subspace_angles, regular(4, 2), regular(4, 2)[::-1]),
    of(sl.subspace_angles, np.eye(5, 3), regular(5, 2), smooth=1, name="of an orthonormal basis"),
]

# Eigenvalues and singular values.
for make in (real, cplx):
    SAMPLES += [
        of(sl.eigh, regular(3, 3, make=make), program=lambda g, a: lengths(g, hermitian(a))),
        of(
            sl.eigh,
            regular(3, 3, make=make),
            program=lambda g, a: lengths(lambda x: g(x, lower=False, driver="ev"), a),
            name="upper",
        ),
        of(
            sl.eigh,
            regular(3, 3, make=make),
            program=lambda g, a: lengths(lambda x: g(x, subset_by_index=[1, 2]), a),
            name="subset_by_index",
        ),
        *[
            of(
                sl.eigh,
                regular(3, 3, make=make),
                regular(3, 3, make=make),
                program=lambda g, a, b, kind=kind: lengths(
                    lambda x: g(x, definite(b), type=kind), hermitian(a)
                ),
                name=f"type={kind}",
            )
            for kind in (1, 2, 3)
        ],
        of(sl.eigvalsh, regular(3, 3, make=make)),
        of(
            sl.eigvalsh,
            regular(3, 3, make=make),
            regular(3, 3, make=make),
            program=lambda g, a, b: g(hermitian(a), definite(b), subset_by_index=[0, 1]),
            name="general",
        ),
        of(sl.eig_banded, UPPER + 0.1j * make(2, 4) if make is cplx else UPPER, program=lengths),
        of(sl.eigvals_banded, UPPER[::-1] + 0 * make(2, 4), lower=True),
        of(
            sl.eig,
            regular(3, 3, make=make),
            program=lambda g, a: (lambda w, u, v: (w, size(u), size(v)))(*g(a, left=True)),
        ),
        of(
            sl.eig,
            regular(3, 3, make=make),
            regular(3, 3, make=make),
            program=lambda g, a, b: (lambda w, v: (w, size(v)))(*g(a, b)),
            name="general",
        ),
        of(sl.eigvals, regular(3, 3, make=make)),
        of(sl.eigvals, regular(3, 3, make=make), regular(3, 3, make=make)),
        *[
            of(
                sl.svd,
                regular(*shape, make=make),
                program=lambda g, a: (lambda u, s, v: ((u * s) @ v, s, size(u), size(v)))(
                    *g(a, full_matrices=False)
                ),
            )
            for shape in ((3, 3), (4, 2), (2, 3))
        ],
        of(sl.svd, regular(4, 2, make=make), compute_uv=False),
        of(sl.svdvals, regular(2, 3, make=make)),
        of(
            sl.schur,
            regular(3, 3, make=make),
            program=lambda g, a: (np.diagonal(g(a)[0]), size(g(a)[1])),
        ),
    ]
SAMPLES += [
    of(sl.eigh_tridiagonal, np.array([1.0, 2.0, 4.0]), np.array([0.3, 0.5])),
    of(
        sl.eigh_tridiagonal,
        np.array([1.0, 2.0, 4.0]),
        np.array([0.3, 0.5]),
        select="i",
        select_range=(0, 1),
    ),
    of(
        sl.eigh_tridiagonal,
        np.array([1.0, 2.0, 4.0]),
        np.array([0.3, 0.5]),
        select="v",
        select_range=(1.5, 9.0),
    ),
    of(sl.eigvalsh_tridiagonal, np.array([1.0, 2.0, 4.0]), np.array([0.3, 0.5])),
    of(sl.eig, np.array([[1.0, -2.0], [2.0, 0.5]]), program=lengths, name="a complex pair"),
    of(
        sl.schur,
        np.array([[1.0, -2.0, 0.3], [1.5, 0.5, 0.2], [0.1, 0.4, 3.0]]),
        name="a complex pair",
    ),
    of(sl.schur, regular(3, 3), program=lambda g, a: g(a, sort="rhp")[:2], name="sort"),
    of(sl.svdvals, regular(2, 2, dtype="f4")),
    of(sl.eigvalsh, np.eye(3), smooth=False, name="equal values"),
]

# Functions of matrices.
for make in (real, cplx):
    SAMPLES += [
        *[of(f, regular(2, 2, make=make)) for f in (sl.expm, sl.sqrtm, sl.logm)],
        *[
            of(f, regular(2, 2, make=make), kind=traced)
            for f in (sl.cosm, sl.sinm, sl.tanm, sl.coshm, sl.sinhm, sl.tanhm)
        ],
        of(sl.signm, regular(3, 3, make=make) - 1.7 * np.eye(3)),
        of(sl.fractional_matrix_power, regular(2, 2, make=make), np.array(0.3)),
        of(sl.fractional_matrix_power, regular(2, 2, make=make), program=lambda g, a: g(a, 2)),
        of(sl.expm_frechet, regular(2, 2, make=make), make(2, 2)),
        of(sl.funm, regular(2, 2, make=make), program=lambda g, a: g(a, lambda x: np.exp(x) * x)),
        of(sl.solve_sylvester, regular(3, 3, make=make), regular(2, 2, make=make), make(3, 2)),
        of(sl.solve_continuous_lyapunov, regular(3, 3, make=make), make(3, 3)),
        *[
            of(sl.solve_discrete_lyapunov, regular(3, 3, make=make) / 6, make(3, 3), method=method)
            for method in (None, "bilinear")
        ],
        *[
            of(
                f,
                regular(3, 3, make=make),
                make(3, 2),
                program=lambda g, a, b: g(a, b, Q, R),
                name="a, b",
            )
            for f in (sl.solve_continuous_are, sl.solve_discrete_are)
        ],
    ]
SAMPLES += [
    of(sl.expm, regular(2, 2, 2)),
    of(sl.expm, np.zeros((3, 3)), name="zero"),
    of(sl.expm, np.array([[0.0, 1.0], [0.0, 0.0]]), name="nilpotent"),
    of(sl.sqrtm, np.array([[1.0, -2.0], [3.0, -1.0]]), name="to complex"),
    of(sl.sqrtm, np.eye(2), name="identity"),
    of(sl.logm, np.diag([1.0, -2.0]) + 0.1, name="to complex"),
    of(sl.fractional_matrix_power, np.diag([1.0, -2.0]) + 0.1, np.array(0.4), name="to complex"),
    of(
        sl.logm,
        np.array([[-1.0, 0.5, 0.1], [0.2, -2.0, 3.0], [0.3, -3.0, -2.0]]),
        name="a cut and a pair",
    ),
    of(sl.expm_cond, regular(2, 2), kind=traced, smooth=1),
    of(sl.matrix_balance, real(3, 3) * np.array([1, 1e3, 1e-2]), program=lambda g, a: g(a)[0]),
    *[
        of(
            f,
            Q + 0.1,
            R + 0.2,
            program=lambda g, q, r: g(
                np.diag([0.5, -0.2, 1.0]) + 0.1, np.eye(3, 2), hermitian(q), hermitian(r)
            ),
            name="q, r",
        )
        for f in (sl.solve_continuous_are, sl.solve_discrete_are)
    ],
    *[
        of(
            f,
            np.eye(3) + 0.1 * real(3, 3),
            0.1 * real(3, 2),
            program=lambda g, e, s: g(
                np.diag([0.5, -0.2, 1.0]) + 0.1, np.eye(3, 2), Q, R, e, s, balanced=False
            ),
            name="e, s",
        )
        for f in (sl.solve_continuous_are, sl.solve_discrete_are)
    ],
]

# Matrices made of numbers; norms; questions.
for make in (real, cplx):
    SAMPLES += [
        of(sl.toeplitz, make(3)),
        of(sl.toeplitz, make(3), make(4)),
        of(sl.circulant, make(3)),
        of(sl.hankel, make(3), make(2)),
        *[of(sl.convolution_matrix, make(3), mode=mode, n=4) for mode in ("full", "same", "valid")],
        of(sl.companion, make(3)),
        of(sl.leslie, make(3), make(2), kind=traced),
        of(sl.block_diag, make(2, 2), make(1, 3), make(2), kind=traced),
        of(sl.khatri_rao, make(2, 3), make(2, 3), kind=traced),
        of(sl.diagsvd, make(2), kind=traced, M=2, N=3),
        *[
            of(sl.norm, make(4), program=lambda g, x, p=p: np.sum(g(x, p)), name=f"ord={p}")
            for p in (None, 1, 3, np.inf)
        ],
        *[
            of(sl.norm, make(3, 2), program=lambda g, x, p=p: np.sum(g(x, p)), name=f"ord={p}")
            for p in (None, "fro", "nuc", 2, -2, 1, np.inf)
        ],
        of(sl.norm, make(3, 2), axis=0, keepdims=True),
    ]
SAMPLES += [
    of(sl.fiedler, np.array([1.0, 4.0, 2.5]), kind=traced),
    of(sl.norm, np.zeros(3), program=lambda g, x: np.sum(g(x)), smooth=False, name="zero"),
]

TURNING = np.array([[0.1, 1.2, 0.3], [-1.1, 0.2, 0.4], [0.2, -0.3, 2.0]])  # a complex pair
LARGE = np.diag([1.0, 2.0, 3.5])
def blocks_of(a):
    return [a[..., :2, :2], a[..., :2, 2:], a[..., 2:, :2], a[..., 2:, 2:]]


def in_rows(*factors):
    """Factors in C order, of which SciPy's results do not depend on where they come from."""
    return [np.copy(x, order="C") for x in factors]


SAMPLES += [
    of(sl.cossin, regular(4, 4), kind=traced, name="square", program=lambda g, a: [size(x) for x in g(sl.qr(a)[0], 2, 2)]),
    of(sl.cossin, regular(3, 3), kind=traced, name="others", program=lambda g, a: g(sl.qr(a)[0], 1, 2)[1]),
    of(sl.cossin, regular(2, 4, 4), kind=traced, name="stack", program=lambda g, a: [size(x) for x in g(np.linalg.qr(a)[0], 2, 2)]),
    of(sl.cossin, regular(2, 4, 4), kind=traced, name="blocks of a stack", program=lambda g, a: [size(x) for x in g(blocks_of(np.linalg.qr(a)[0]), separate=True)]),
    of(sl.qr_update, regular(3, 3), real(3), real(3), kind=traced, program=lambda g, a, u, v: g(np.copy(sl.qr(a)[0], order="C"), sl.qr(a)[1], u, v)),
    of(sl.qr_insert, regular(4, 2), real(4), kind=traced, program=lambda g, a, u: g(*sl.qr(a, mode="economic"), u, 1, "col")),
    of(sl.qr_delete, regular(4, 3), kind=traced, program=lambda g, a: g(*sl.qr(a, mode="economic"), 1)),
    of(sl.qr_update, regular(5, 3), real(5), real(3), kind=traced, name="full", program=lambda g, a, u, v: g(*in_rows(*sl.qr(a)), u, v)),
    of(sl.qr_update, regular(3, 2) + 1j * regular(3, 2), real(3) + 1j, real(2) - 1j, kind=traced, name="full, complex", program=lambda g, a, u, v: g(*in_rows(*sl.qr(a)), u, v)),
    of(sl.qr_insert, regular(4, 2), real(4), kind=traced, name="full, a column", program=lambda g, a, u: g(*in_rows(*sl.qr(a)), u, 1, "col")),
    of(sl.qr_insert, regular(4, 2), real(2), kind=traced, name="full, a row", program=lambda g, a, u: g(*in_rows(*sl.qr(a)), u, -2)),
    of(sl.qr_insert, regular(4, 2) + 1j * regular(4, 2), real(2) + 1j, kind=traced, name="full, a complex row", program=lambda g, a, u: g(*in_rows(*sl.qr(a)), u, 1)),
    of(sl.qr_delete, regular(4, 3) + 1j * regular(4, 3), kind=traced, name="full, a complex column", program=lambda g, a: g(*in_rows(*sl.qr(a)), 1, 1, "col")),
    of(sl.qr_delete, regular(5, 3), kind=traced, name="full, a row", program=lambda g, a: g(*in_rows(*sl.qr(a)), 1)),
    of(sl.qr_delete, regular(5, 3), kind=traced, name="full, a column", program=lambda g, a: g(*in_rows(*sl.qr(a)), 1, 1, "col")),
    of(sl.qz, LARGE + real(3, 3) / 5, np.eye(3) + real(3, 3) / 5, program=lambda g, a, b: g(a, b)[0]),
    of(sl.qz, TURNING, np.eye(3) + real(3, 3) / 5, name="blocks", program=lambda g, a, b: [np.abs(x) for x in g(a, b)]),
    of(sl.qz, TURNING, np.eye(3) + real(3, 3) / 5, name="complex", program=lambda g, a, b: [size(x) for x in g(a, b, output="complex")]),
    of(sl.ordqz, LARGE + real(3, 3) / 5, np.eye(3) + real(3, 3) / 5, program=lambda g, a, b: [np.square(np.abs(x)) for x in g(a, b, sort="iuc")]),
    of(sl.ishermitian, np.diag([1.0, 2.0]), program=lambda g, a: (g(a), a.sum())),
    of(sl.issymmetric, real(2, 2), program=lambda g, a: (g(a), a.sum())),
    of(sl.issymmetric, np.stack([np.eye(2), real(2, 2)]), name="stack", program=lambda g, a: (g(a), a.sum())),
]
UNMAPPED = [
    of(sl.bandwidth, np.triu(real(3, 3)), program=lambda g, a: (g(a), a.sum())),
]
# SciPy's Python asks for values of these; under vmap all examples are to answer alike.
SAMPLES += [
    of(
        sl.cdf2rdf,
        np.array([[1.0, -2.0], [2.0, 0.5]]),
        kind=traced,
        program=lambda g, a: size(g(*sl.eig(a))[0]),
    ),
    of(sl.rsf2csf, regular(3, 3), kind=traced, program=lambda g, a: size(g(*sl.schur(a))[1])),
    of(sl.clarkson_woodruff_transform, real(9, 2), kind=traced, program=lambda g, a: g(a, 3, seed=2)),
    of(sl.fiedler_companion, np.array([1.0, 4.0, 2.5, -1.0]), kind=traced),
]

ERRORS = [
    ErrorSample(served(sl.qr), (real(2, 2),), {"mode": "raw"}, MissingRuleError, 'mode="economic"'),
    ErrorSample(served(sl.rq), (real(2, 2),), {"mode": "raw"}, MissingRuleError, 'mode="economic"'),
    ErrorSample(served(sl.eig), (real(2, 2), real(2, 2)), {"left": True, "right": False}, MissingRuleError, "Ask for both"),
    ErrorSample(served(sl.solve), (np.zeros((2, 2)), real(2)), {}, np.linalg.LinAlgError, "singular"),
    ErrorSample(served(sl.solve), (np.full((2, 2), np.nan), real(2)), {}, ValueError, "infs or NaNs"),
    ErrorSample(served(sl.cholesky), (-np.eye(2),), {}, np.linalg.LinAlgError, "potrf" if SINCE_1_18 else "positive definite"),
    ErrorSample(served(sl.norm), (np.array([np.inf, 1.0]),), {}, ValueError, "infs or NaNs"),
]
# All columns of a full factor, as LAPACK's reflections leave them.
for make in (real, cplx):
    SAMPLES += [
        of(sl.qr, regular(4, 2, make=make), name="all columns"),
        of(
            sl.qr,
            regular(4, 2, make=make),
            program=lambda g, a: g(a, pivoting=True)[:2],
            name="all columns, pivoting",
        ),
        *[of(sl.rq, regular(2, n, make=make), name=f"all rows of {n}") for n in (3, 4)],
    ]
# Eigenvalues as pairs of numbers, and the scales of blocks of two.
for make in (real, cplx):
    SAMPLES += [
        of(f, make(3, 3), regular(3, 3, make=make), program=program, name="pairs")
        for f, program in [
            (sl.eig, lambda g, a, b: g(a, b, homogeneous_eigvals=True)[0]),
            (sl.eigvals, lambda g, a, b: g(a, b, homogeneous_eigvals=True)),
            (sl.ordqz, lambda g, a, b: g(a, b, sort="rhp", output="complex")[2:4]),
            (sl.ordqz, lambda g, a, b: g(a, b)[2:4]),
        ]
    ]
TURNING = np.array([[0.5, -2.0, 0.3], [1.5, 0.2, 0.1], [0.2, 0.4, 2.0]])
SAMPLES += [
    of(
        sl.ordqz,
        scale * TURNING,
        regular(3, 3),
        program=lambda g, a, b: g(a, b)[2:4],
        name=f"block of two times {scale}",
    )
    for scale in (0.1, 1.0, 30.0)
]
SAMPLES += [
    of(sl.eigvals, TURNING, program=lambda g, a: g(a, homogeneous_eigvals=True), name="one, pairs")
]
# Stacks of systems.
for make in (real, cplx):
    SAMPLES += [
        of(sl.solve_circulant, COLUMN + make(3, 3) / 9, make(3, 3)),
        of(sl.solve_circulant, COLUMN + make(2, 1, 3) / 9, make(4, 3), baxis=1, outaxis=1),
        of(sl.lstsq, make(2, 4, 2), make(1, 4, 1), program=lambda g, a, b: g(a, b)),
        of(sl.lstsq, make(2, 2, 3), make(2), program=lambda g, a, b: g(a, b)[0]),
    ]

"""Linear algebra: systems, determinants, decompositions, least squares, norms."""

import numpy as np

from pullback import grad
from pullback.core.errors import ArgumentError, MissingRuleError
from pullback.testing import ErrorSample, Sample
from tests.samples import served, since

la = np.linalg
random = np.random.default_rng(11)
EYE = np.eye(3)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (random.uniform(-1, 1, shape) + 1j * random.uniform(-1, 1, shape)).astype(dtype)


def regular(*shape, make=real, **dtype):
    """Matrices far from singular, with different singular values."""
    m, n = shape[-2:]
    return (0.4 * make(*shape, **dtype) + np.eye(m, n) * np.arange(1, n + 1)).astype(
        make(**dtype).dtype
    )


def orthogonal(n, make=real):
    return la.qr(make(n, n))[0]


def adjoint(a):
    return np.swapaxes(np.conj(a), -1, -2)


def hermitian(a):
    return (a + adjoint(a)) / 2


def closest(a):
    """The closest matrix of rank one."""
    u, s, vh = la.svd(a, full_matrices=False)
    return (u[:, :1] * s[:1]) @ vh[:1]


# What gauge and order leave alone, as functions of any matrix.


def exponential(a, UPLO="L"):
    w, v = la.eigh(hermitian(a), UPLO)
    return (v * np.exp(w)[..., None, :]) @ adjoint(v)


def exponential_of_triangle(a, UPLO="L"):
    w, v = la.eigh(a, UPLO)
    return (v * np.exp(w)[..., None, :]) @ adjoint(v)


def eigenvectors(a):
    return np.abs(la.eigh(hermitian(a)).eigenvectors) ** 2


def mixed_spectrum(a):
    w, v = la.eigh(hermitian(a))
    return np.sum(w**2 * np.abs(v[..., 0, :]) ** 2, axis=-1)


def polar(a, **options):
    u, s, vh = la.svd(a, full_matrices=False, **options)
    return u @ vh, np.abs(u) ** 2, np.abs(vh) ** 2, (u * s[..., None, :] ** 2) @ vh


def left_only(a):
    return np.abs(la.svd(a, full_matrices=False).U) ** 2


def right_only(a):
    return np.abs(la.svd(a, full_matrices=False).Vh) ** 2


def economy_of_full(a):
    u, s, vh = la.svd(a)
    k = s.shape[-1]
    return u[..., :k] @ vh[..., :k, :]


def lower(a):
    return la.cholesky(a @ adjoint(a) + np.eye(a.shape[-1]))


def upper(a):
    return la.cholesky(a @ adjoint(a) + np.eye(a.shape[-1]), upper=True)


def general_exponential(a):
    w, v = la.eig(a)
    return (v * np.exp(w)[..., None, :]) @ la.inv(v)


def of_hermitian(a):
    return la.svd(hermitian(a), hermitian=True, compute_uv=False)


def polar_of_hermitian(a):
    return polar(hermitian(a), hermitian=True)


def pinv_of_hermitian(a):
    return la.pinv(hermitian(a), hermitian=True)


def thin(a):
    q, r = la.qr(a)
    return q, r


def complete(a):
    q, r = la.qr(a, mode="complete")
    return q[..., : min(a.shape[-2:])], r


def completing(a):
    """The vectors that complete a basis, as the reflections of LAPACK leave them."""
    return la.qr(a, mode="complete")[0][..., min(a.shape[-2:]) :]


def solution(a, b):
    return la.lstsq(a, b, rcond=None)[0]


def all_of_lstsq(a, b):
    return la.lstsq(a, b, rcond=1e-10)


def rank_one(u, v):
    """A pseudoinverse of constant rank."""
    return la.pinv(np.outer(u, v), rcond=1e-10)


def rank_one_solution(u, v, b):
    return la.lstsq(np.outer(u, v), b, rcond=1e-10)[0]


def exact_rank(a):
    return la.matrix_rank(a), np.sum(a)


def chain(*xs):
    return la.multi_dot(xs)


SAMPLES = []

# Systems of equations.
for make in (real, cplx):
    SAMPLES += [
        Sample(la.solve, (regular(3, 3, make=make), make(3))),
        Sample(la.solve, (regular(3, 3, make=make), make(3, 2))),
        Sample(la.solve, (regular(2, 1, 2, 2, make=make), make(3, 2, 1))),
        Sample(la.inv, (regular(3, 3, make=make),)),
        Sample(la.inv, (regular(2, 2, 2, make=make),)),
        Sample(la.tensorinv, (regular(6, 6, make=make).reshape(2, 3, 6),)),
        Sample(la.tensorsolve, (regular(4, 4, make=make).reshape(2, 2, 4), make(2, 2))),
    ]
    SAMPLES += [
        Sample(la.matrix_power, (regular(2, 2, make=make), n)) for n in (-3, -1, 0, 1, 2, 3, 6)
    ]
SAMPLES += [
    Sample(la.solve, (regular(2, 2, 2), real(2)), name="solve, one vector for a stack"),
    Sample(la.solve, (regular(3, 3)[::-1, ::-1].T, real(4, 3)[::2].T)),
    Sample(la.solve, (regular(2, 2, dtype="f4"), real(2, dtype="f4"))),
    Sample(la.solve, (regular(2, 2), cplx(2))),
    Sample(
        lambda b: la.solve(np.array([[2, 1], [0, 3]]), b),
        (real(2, dtype="f4"),),
        name="solve, integers",
    ),
    Sample(lambda b: la.solve([[2.0, 1.0], [0.0, 3.0]], b), (real(2, 2),), name="solve, a list"),
    Sample(la.solve, (real(0, 0), real(0, 2))),
    Sample(la.solve, (real(0, 2, 2), real(0, 2, 1))),
    Sample(la.inv, (regular(2, 2, dtype="f4"),)),
    Sample(la.inv, (real(0, 0),)),
    Sample(la.tensorinv, (regular(6, 6).reshape(6, 3, 2),), {"ind": 1}),
    Sample(la.tensorsolve, (regular(6, 6).reshape(2, 6, 3), real(6)), {"axes": (0, 2)}),
    Sample(la.matrix_power, (regular(2, 3, 3), 4)),
    Sample(la.trace, (real(2, 3, 4),), {"offset": 1}),
    Sample(la.trace, (cplx(3, 3),)),
    Sample(la.diagonal, (real(2, 3, 4),), {"offset": -1}),
    Sample(la.matrix_transpose, (cplx(2, 3, 4),)),
    Sample(chain, (real(2), real(2, 3), real(3, 1))),
]

# Determinants: regular, and of every rank.
for make in (real, cplx):
    SAMPLES += [Sample(la.det, (regular(n, n, make=make),)) for n in (1, 2, 3, 4)]
    SAMPLES += [
        Sample(
            la.det, (make(3, rank) @ make(rank, 3),), name=f"det, {make.__name__}, rank {rank} of 3"
        )
        for rank in (0, 1, 2)
    ]
    SAMPLES += [
        Sample(la.det, (regular(2, 3, 3, make=make),)),
        Sample(la.slogdet, (regular(3, 3, make=make),)),
        Sample(la.slogdet, (regular(2, 2, 2, make=make) * -1,)),
    ]
SAMPLES += [
    Sample(la.det, (EYE,), name="det, identity"),
    Sample(la.det, (np.diag([2.0, 0.0, 0.0, 3.0]),), name="det, diagonal of rank 2"),
    Sample(la.det, (regular(2, 2, dtype="f4"),)),
    Sample(la.det, (real(0, 0),)),
    Sample(la.det, (real(0, 2, 2),)),
    Sample(la.slogdet, (regular(2, 2, dtype="c8", make=cplx),)),
    Sample(la.slogdet, (real(0, 0),)),
]

# Decompositions.
for make in (real, cplx):
    SAMPLES += [
        Sample(lower, (regular(2, 3, 3, make=make),)),
        Sample(upper, (regular(3, 3, make=make),)),
        Sample(exponential, (make(2, 3, 3),)),
        Sample(exponential, (make(2, 2),), {"UPLO": "U"}),
        Sample(eigenvectors, (regular(3, 3, make=make),)),
        Sample(mixed_spectrum, (regular(2, 2, 2, make=make),)),
        Sample(
            lambda a: la.eigvalsh(hermitian(a), "U"),
            (regular(2, 3, 3, make=make),),
            name=f"eigvalsh, {make.__name__}",
        ),
        Sample(la.eigvals, (regular(2, 3, 3, make=make),)),
        Sample(la.eig, (regular(3, 3, make=make),)),
        Sample(general_exponential, (regular(2, 2, 2, make=make),)),
        Sample(of_hermitian, (make(2, 3, 3),)),
        Sample(polar_of_hermitian, (regular(3, 3, make=make),)),
    ]
    for shape in ((3, 3), (4, 2), (2, 3), (2, 2, 2)):
        SAMPLES += [
            Sample(f, (regular(*shape, make=make),)) for f in (polar, left_only, right_only, thin)
        ]
    SAMPLES += [
        Sample(la.svdvals, (make(2, 3, 2),)),
        Sample(la.svd, (make(2, 3),), {"compute_uv": False}),
        *[Sample(economy_of_full, (regular(*s, make=make),)) for s in ((3, 3), (4, 2), (2, 3))],
        *[Sample(complete, (regular(*s, make=make),)) for s in ((3, 3), (4, 2), (2, 3), (2, 3, 1))],
        Sample(la.qr, (regular(3, 2, make=make),), {"mode": "r"}),
    ]
# NumPy reads one triangle of these matrices, which are far from Hermitian.
for make in (real, cplx):
    SAMPLES += [
        Sample(f, (regular(*shape, make=make) + 3 * np.eye(3),), options)
        for shape in ((3, 3), (2, 3, 3))
        for f, options in [
            (la.eigvalsh, {}),
            (la.eigvalsh, {"UPLO": "U"}),
            (exponential_of_triangle, {}),
            (exponential_of_triangle, {"UPLO": "U"}),
            (la.cholesky, {}),
            (la.cholesky, {"upper": True}),
            (la.svd, {"hermitian": True, "compute_uv": False}),
            (polar, {"hermitian": True}),
            (la.pinv, {"hermitian": True}),
            (la.matrix_rank, {"hermitian": True}),
        ]
    ]
SAMPLES += [
    Sample(la.eigvals, (np.array([[1.0, -2.0], [2.0, 0.5]]),), name="eigvals, a complex pair"),
    Sample(general_exponential, (np.array([[1.0, -2.0], [2.0, 0.5]]),), name="eig, a complex pair"),
    Sample(la.svd, (regular(3, 3),), name="svd, real"),
    Sample(la.eigh, (np.diag([1.0, 2.0, 4.0]),), smooth=False),
    *[
        Sample(f, (regular(2, 2, dtype="f4"),))
        for f in (lower, exponential, polar, thin, la.svdvals, la.eigvals)
    ],
    *[
        Sample(f, (real(*s),))
        for s in ((0, 0), (0, 2, 2))
        for f in (la.eigvalsh, la.svdvals, la.eigvals, la.cholesky, thin, polar)
    ],
    *[Sample(f, (real(*s),)) for s in ((0, 2), (2, 0)) for f in (la.svdvals, thin)],
    *[
        Sample(closest, (make(m, 1) @ make(1, n),), name=f"svd of rank one, {make.__name__}{m}{n}")
        for make, m, n in ((real, 3, 2), (real, 3, 3), (cplx, 2, 3))
    ],
    Sample(la.pinv, (np.diag([3.0, 2.0, 0.3])[:2],), {"rcond": 0.7}, name="pinv of a part"),
    Sample(
        lambda a, b: la.lstsq(a, b, 0.2)[0],
        (np.diag([3.0, 2.0, 0.3]) + 0.01, real(3)),
        name="lstsq of a part",
    ),
    Sample(polar, (regular(6, 4)[::-2, ::2],)),
]

# Equal eigenvalues and singular values. The functions are linear in the equal ones, or have kinks
# without a second derivative; tests/primitives/test_linalg.py has those that are neither.
q = orthogonal(4)
DEGENERATE = {
    "identity": EYE,
    "complex identity": EYE + 0j,
    "zero": np.zeros((2, 2)),
    "pairs": q @ np.diag([1.0, 1.0, 2.0, 2.0]) @ q.T,
    "tall": np.eye(3, 2),
    "rank one": np.outer(q[0], q[1, :2]),
}
for case, a in DEGENERATE.items():
    functions = {
        "svdvals": la.svdvals,
        "nuclear norm": lambda a: la.norm(a, "nuc"),
        "2-norm": lambda a: la.norm(a, 2),
    }
    if a.shape[0] == a.shape[1]:
        functions |= {
            "eigvalsh": la.eigvalsh,
            "trace": lambda a: np.sum(la.eigvalsh(a)),
            "largest": lambda a: np.exp(la.eigvalsh(a)[-1]),
        }
    full_rank = case not in ("zero", "rank one")
    SAMPLES += [
        Sample(
            f,
            (a,),
            smooth=True if what == "trace" or (what == "nuclear norm" and full_rank) else None,
            name=f"{what} of equal values, {case}",
        )
        for what, f in functions.items()
    ]

# Gradients, whose derivatives are right for equal values too; their second ones are NaN there.
log_det = grad(lambda a: np.sum(np.log(la.eigvalsh(hermitian(a)))))
of_singular_values = grad(lambda a: np.sum(np.log(1 + la.svdvals(a) ** 2)))
of_eigenvalues = grad(lambda a: np.real(np.sum(la.eigvals(a) ** 3)))
SAMPLES += [
    Sample(grad(la.det), (regular(3, 3),), name="gradient of det"),
    Sample(grad(la.det), (np.diag([2.0, 0.0, 0.0]),), name="gradient of det, singular"),
    Sample(log_det, (np.diag([1.0, 3.0]) + 0.3,), name="gradient by eigvalsh"),
    Sample(of_singular_values, (regular(3, 2),), name="gradient by svdvals"),
    Sample(of_eigenvalues, (regular(2, 2),), name="gradient by eigvals"),
    Sample(log_det, (EYE,), smooth=1, name="gradient by eigvalsh, equal"),
    Sample(of_singular_values, (np.eye(3, 2),), smooth=1, name="gradient by svdvals, equal"),
    Sample(of_singular_values, (np.zeros((2, 3)),), smooth=1, name="gradient by svdvals, zero"),
    Sample(of_eigenvalues, (EYE + 0j,), smooth=1, name="gradient by eigvals, equal"),
]

# Least squares.
for make in (real, cplx):
    SAMPLES += [
        Sample(la.pinv, (regular(3, 3, make=make),)),
        Sample(la.pinv, (regular(4, 2, make=make),), {"rtol": None}),
        Sample(la.pinv, (regular(2, 2, 3, make=make),), {"rcond": 1e-12}),
        Sample(pinv_of_hermitian, (regular(2, 2, make=make),)),
        Sample(rank_one, (make(3), make(2))),
        Sample(solution, (regular(4, 2, make=make), make(4))),
        Sample(solution, (regular(2, 3, make=make), make(2, 2))),
        Sample(all_of_lstsq, (regular(3, 2, make=make), make(3, 2))),
        Sample(all_of_lstsq, (regular(2, 2, make=make), make(2))),
        Sample(rank_one_solution, (make(3), make(2), make(3))),
    ]
SAMPLES += [
    Sample(la.pinv, (regular(2, 3, 2),), {"rcond": np.array([1e-8, 1e-9])}),
    Sample(la.pinv, (regular(3, 2, dtype="f4"),)),
    Sample(la.pinv, (real(0, 2),)),
    Sample(solution, (regular(3, 2, dtype="f4"), real(3, dtype="f4"))),
    Sample(
        lambda b: solution(np.array([[1, 2], [0, 1], [1, 1]]), b),
        (real(3),),
        name="lstsq, integers",
    ),
    Sample(exact_rank, (real(3, 2),)),
    Sample(exact_rank, (real(3),)),
]

# Norms.
for make in (real, cplx):
    SAMPLES += [
        Sample(la.norm, (make(4),), {"ord": p})
        for p in (None, 2, 1, 0, np.inf, -np.inf, 3, 2.5, 0.5, -1, -2)
    ]
    SAMPLES += [
        Sample(la.norm, (make(2, 3, 2),), {"ord": p, "axis": (2, 0), "keepdims": i % 2 == 0})
        for i, p in enumerate((None, "fro", "f", "nuc", 2, -2, 1, -1, np.inf, -np.inf))
    ]
    SAMPLES += [
        Sample(served(la.norm), (make(4), np.float64(2.0))),
        Sample(served(la.norm), (make(4), np.float64(1.0))),
        Sample(la.norm, (make(2, 3, 2),)),
        Sample(la.norm, (make(2, 3),), {"keepdims": True}),
        Sample(la.norm, (make(2, 3),), {"axis": 0, "keepdims": True}),
        Sample(la.norm, (make(2, 3),), {"ord": 3, "axis": -1}),
        Sample(la.norm, (make(3, 3),), {"ord": "nuc"}),
        Sample(la.matrix_norm, (make(2, 3, 2),)),
        Sample(la.matrix_norm, (make(2, 3),), {"ord": 2, "keepdims": True}),
        Sample(la.vector_norm, (make(2, 3, 2),), {"ord": 3}),
        Sample(la.vector_norm, (make(2, 3, 2),), {"axis": (0, 2), "keepdims": True}),
        Sample(la.vector_norm, (make(2, 3, 2),), {"axis": 1, "ord": 1}),
        *[Sample(la.cond, (regular(2, 2, 2, make=make),), {"p": p}) for p in (None, 2, -2)],
        *since(
            "2.3.0" if make is cplx else "2.0.0",  # before, of complex matrices it was complex
            *[
                Sample(la.cond, (regular(2, 2, 2, make=make),), {"p": p})
                for p in (1, -1, np.inf, "fro", "nuc")
            ],
        ),
    ]
SAMPLES += [
    Sample(la.norm, (-0.7,)),
    Sample(la.norm, (np.float32(0.7),)),
    Sample(la.norm, (real(3, dtype="f4"),)),
    Sample(la.norm, (real(3, dtype="f2"),)),
    Sample(la.norm, (real(6, 4)[::-2, ::3],), {"axis": 1}),
    Sample(la.norm, (real(0),)),
    Sample(la.norm, (real(2, 0),), {"axis": 1, "ord": 3}),
    *[
        Sample(la.norm, (np.zeros(3),), {"ord": p}, smooth=False)
        for p in (None, 1, 2, 3, 1.5, 0.5, np.inf)
    ],
    *[
        Sample(la.norm, (np.zeros((2, 3)),), {"ord": p}, smooth=False)
        for p in (None, 1, 2, "nuc", np.inf)
    ],
    Sample(la.norm, (np.array([0.0, 2.0, -2.0]),), {"ord": np.inf}, smooth=False),
    Sample(la.norm, (np.array([0.0, 2.0, -1.0]),), {"ord": 3}, smooth=1),
    Sample(la.norm, (np.array([0.0, 3.0, 4.0]),)),
    Sample(la.norm, (np.array([0.0j, 3.0, 4.0j]),), {"axis": 0}),
]

ERRORS = [
    ErrorSample(la.qr, (regular(2, 2),), {"mode": "raw"}, MissingRuleError, 'mode="raw"'),
    ErrorSample(la.qr, (regular(2, 2),), {"mode": "thin"}, ArgumentError, "no mode 'thin'"),
    ErrorSample(
        la.pinv, (regular(2, 2),), {"rcond": 1e-8, "rtol": 1e-8}, ArgumentError, "not both"
    ),
    ErrorSample(
        la.matrix_rank, (regular(2, 2),), {"tol": 1e-8, "rtol": 1e-8}, ArgumentError, "not both"
    ),
    ErrorSample(la.tensorinv, (regular(2, 2),), {"ind": 0}, ArgumentError, "ind > 0"),
    ErrorSample(la.tensorsolve, (real(2, 3), real(2)), {}, la.LinAlgError, "prod"),
    ErrorSample(la.matrix_power, (real(2, 3), 2), {}, la.LinAlgError, "square matrices"),
    ErrorSample(la.matrix_power, (real(2, 2), 0.5), {}, TypeError, ""),
    ErrorSample(la.norm, (real(2),), {"ord": "nuc"}, ArgumentError, "'nuc' for vectors"),
    ErrorSample(la.norm, (real(2, 2),), {"ord": 3}, ArgumentError, "order 3 for matrices"),
    ErrorSample(la.norm, (real(2, 2),), {"axis": "rows"}, TypeError, "tuple of ints"),
    ErrorSample(la.norm, (real(2, 2, 2),), {"ord": 2}, ArgumentError, "one or two axes"),
    ErrorSample(la.norm, (real(2, 2),), {"axis": (0, 0)}, ValueError, "repeated axis"),
    ErrorSample(la.cond, (real(0, 2),), {}, la.LinAlgError, "empty"),
    ErrorSample(la.inv, (np.zeros((2, 2)),), {}, la.LinAlgError, "Singular"),
    ErrorSample(la.inv, (real(2, 3),), {}, la.LinAlgError, "square"),
    ErrorSample(la.inv, (real(2),), {}, la.LinAlgError, "two-dimensional"),
    ErrorSample(la.cholesky, (-EYE,), {}, la.LinAlgError, "positive definite"),
    ErrorSample(la.eigh, (EYE,), {"UPLO": "M"}, ValueError, "UPLO"),
    ErrorSample(la.svd, (real(2),), {}, la.LinAlgError, "two-dimensional"),
]
SAMPLES += [
    Sample(completing, (regular(*shape, make=make),))
    for make in (real, cplx)
    for shape in ((4, 2), (2, 5, 3))
]

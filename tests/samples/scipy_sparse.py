# fmt: off
"""scipy.sparse: arrays whose numbers move, products, conversions, systems, spectra, graphs."""

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as ssl

import pullback.scipy.sparse.csgraph
import pullback.scipy.sparse.linalg  # noqa: F401  # enters the rules
from pullback.core.errors import MissingRuleError
from pullback.scipy.releases import SINCE_1_18
from pullback.testing import ErrorSample, Sample
from tests.samples import traced

random = np.random.default_rng(31)

A = sparse.random_array((5, 5), density=0.5, rng=random).tocsr() + 3 * sparse.eye_array(5).tocsr()
A.sort_indices()
WIDE = sparse.random_array((3, 5), density=0.6, rng=random).tocsr()
X, Y = random.normal(size=5), random.normal(size=(5, 2))
PLACES = A.tocoo()
SPD = (A @ A.T + 3 * sparse.eye_array(5)).tocsr()
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def csr(data):
    return sparse.csr_array((data, A.indices, A.indptr), shape=A.shape)


def symmetric(data):
    B = csr(data)
    return (B + B.T).tocsr()


def definite(data):
    B = csr(data)
    return (B @ B.T + sparse.eye_array(5)).tocsr()


def sample(name, program, *xs, smooth=True, of=None):
    """A program over SciPy, which is traced as rebinding has it."""
    fun = traced(of or sparse.csr_array, lambda f, *xs: program(*xs))
    return Sample(fun, xs, smooth=smooth, name=f"{name}({', '.join(str(np.shape(x)) for x in xs)})")


MADE = {
    "csr": csr,
    "csc": lambda d: sparse.csc_array((d, A.indices, A.indptr), shape=A.shape),
    "coo": lambda d: sparse.coo_array((d, (PLACES.row, PLACES.col)), shape=A.shape),
    "dia": lambda d: sparse.dia_array((d[:10].reshape(2, 5), [0, -1]), shape=(5, 5)),
    "diags": lambda d: sparse.diags_array([d[:4], d[4:9]], offsets=[1, 0]),
    "bsr": lambda d: sparse.bsr_array((d[:8].reshape(2, 2, 2), [1, 0], [0, 1, 2]), shape=(4, 4)),
}
OPERATIONS = {
    "@ x": lambda B: B @ X[: B.shape[1]],
    "x @": lambda B: X[: B.shape[0]] @ B,
    "@ Y": lambda B: B @ Y[: B.shape[1]],
    "toarray": lambda B: B.toarray(),
    "sum": lambda B: B.sum(),
    "sum(axis=0)": lambda B: B.sum(axis=0),
    "diagonal": lambda B: B.diagonal(),
    "T": lambda B: B.T.toarray(),
    "+ T": lambda B: (B + B.T).toarray(),
    "@ T": lambda B: (B @ B.T).toarray(),
    "+ dense": lambda B: B + (A.toarray() + 1)[: B.shape[0], : B.shape[1]],
    "dense -": lambda B: (A.toarray() + 1)[: B.shape[0], : B.shape[1]].T - B,
}

MATRICES = {name: getattr(sparse, f"{name}_matrix") for name in FORMATS}


def matrix_of(data):
    return sparse.coo_matrix((data, (PLACES.row, PLACES.col)), shape=A.shape)


def factors_of(lu):
    return lu.L.data, lu.U.data, lu.U.diagonal(), lu.L @ X


def totals(M):
    """What is made of sums of matrices, which are matrices themselves."""
    rows = np.asarray(M.sum(axis=1)).ravel()
    total = M.sum(0).A1 + M.mean(axis=0).A.ravel() * M.sum() + (M * M.sum(1)).A1 * rows
    return total + (np.asarray(M + M.toarray()) * (M.todense() * M.T.todense()).A)[0]


SAMPLES = [
    *[
        sample(f"{name} {symbol}", lambda x, B=A.asformat(name), op=op: op(B, x), x)
        for name in FORMATS
        for symbol, op, x in [
            ("@ x", lambda B, x: B @ x, X),
            ("@ Y", lambda B, x: B @ x, Y),
            ("x @", lambda B, x: x @ B, X),
            ("x.dot", lambda B, x: B.dot(x), X),
            ("multiply", lambda B, x: B.multiply(x).sum(axis=1), X),
        ]
    ],
    *[
        sample(f"{name}: {symbol}", lambda d, make=make, op=op: op(make(d)), A.data)
        for name, make in MADE.items()
        for symbol, op in OPERATIONS.items()
    ],
    sample("csr and x", lambda d, x: csr(d) @ x, A.data, X),
    sample("csr and Y", lambda d, x: csr(d) @ x, A.data, Y),
    sample("csr @ csr", lambda d, e: (csr(d) @ csr(e)).toarray(), A.data, A.data[::-1]),
    sample("complex", lambda d, x: csr(d) @ x, A.data * (1 + 0.5j), X - 1j * X[::-1]),
    sample("float32", lambda d, x: csr(d) @ x, A.data.astype("f4"), X.astype("f4")),
    sample("elementwise", lambda d: np.expm1(csr(d)).multiply(csr(d)).toarray(), A.data),
    *[
        sample(f"matrix {name}", lambda d, kind=kind: totals(kind(matrix_of(d))), A.data, of=kind)
        for name, kind in MATRICES.items()
    ],
    sample("power", lambda d: (csr(d).power(2) * 3.0 - csr(d) / 2).toarray(), A.data),
    sample("maximum", lambda d: csr(d).maximum(csr(d[::-1])).toarray(), A.data),
    sample("max", lambda d: csr(d).max(axis=1).toarray(), A.data),
    sample("min", lambda d: csr(d).min(axis=0, explicit=True).sum() * csr(d).argmax(), A.data),
    sample("slices", lambda d: csr(d)[1:4, 2:].toarray(), A.data),
    sample("rows", lambda d: csr(d)[[0, 3, 3]].toarray(), A.data),
    sample("an entry", lambda d: csr(d)[0, 0] * csr(d)[1, 1], A.data),
    sample("tocsc", lambda d: csr(d).tocsc().data, A.data),
    sample("tobsr", lambda d: csr(d)[:4, :4].tobsr((2, 2)).toarray(), A.data),
    sample("lil", lambda d: csr(d).tolil().tocsr().data, A.data),
    sample("times random", lambda s: (sparse.random(4, 4, 0.5, random_state=0) * s).toarray(), np.float64(0.3), of=sparse.random),
    sample("kron", lambda d: sparse.kron(csr(d), np.array([[1.0, 2.0]])).toarray(), A.data),
    *([sample("matrix_transpose", lambda d: sparse.matrix_transpose(csr(d)).toarray(), A.data, of=sparse.matrix_transpose)] if SINCE_1_18 else []),
    sample("vstack", lambda d: sparse.vstack([csr(d), WIDE]).T @ np.arange(8.0), A.data),
    sample("hstack", lambda d: sparse.hstack([csr(d), WIDE.T]) @ np.arange(8.0), A.data),
    sample("block", lambda d: sparse.block_array([[csr(d), None], [WIDE, WIDE[:, :3]]]) @ np.arange(8.0), A.data),
    sample("tril", lambda d: (sparse.tril(csr(d)) + sparse.triu(csr(d), 1)).toarray(), A.data),
    sample("spsolve", lambda d, b: ssl.spsolve(csr(d), b), A.data, X, of=ssl.spsolve),
    sample("spsolve", lambda d, b: ssl.spsolve(csr(d).tocsc(), b), A.data, Y, of=ssl.spsolve),
    sample("spsolve of b", lambda b: ssl.spsolve(A.tocsc(), b), X, of=ssl.spsolve),
    sample("splu", lambda d, b: ssl.splu(csr(d).tocsc()).solve(b), A.data, X, of=ssl.splu),
    sample("splu T", lambda d, b: ssl.splu(csr(d).tocsc()).solve(b, "T"), A.data, Y, of=ssl.splu),
    sample("splu L U", lambda d: factors_of(ssl.splu(csr(d).tocsc())), A.data, of=ssl.splu),
    sample("splu of b", lambda b, lu=ssl.splu(A.tocsc()): lu.solve(b), X, of=ssl.splu),
    sample("factorized", lambda b, f=ssl.factorized(A.tocsc()): f(b), X, of=ssl.factorized),
    sample("inv", lambda d: ssl.inv(csr(d).tocsc()).toarray(), A.data, of=ssl.inv),
    sample("triangular", lambda d, b: ssl.spsolve_triangular(sparse.tril(csr(d)).tocsr(), b), A.data, X, of=ssl.spsolve_triangular),
    *[
        sample(name, lambda d, b, f=getattr(ssl, name): f(definite(d), b, rtol=1e-13)[0], A.data, X, of=getattr(ssl, name))
        for name in ("cg", "gmres", "bicgstab", "minres")
    ],
    sample("norm", lambda d: ssl.norm(csr(d)), A.data, of=ssl.norm),
    sample("eigsh", lambda d: ssl.eigsh(symmetric(d), k=2, v0=np.ones(5))[0], A.data, of=ssl.eigsh),
    sample("eigsh M", lambda d, m: ssl.eigsh(symmetric(d), M=sparse.diags_array(m + 2).tocsc(), k=2, v0=np.ones(5))[0], A.data, X, of=ssl.eigsh),
    sample("eigsh vectors M", lambda m: ssl.eigsh(symmetric(A.data), M=sparse.diags_array(m + 2).tocsc(), k=2, v0=np.ones(5))[1] ** 2, X, of=ssl.eigsh),
    sample("eigsh operator", lambda d: ssl.eigsh(ssl.LinearOperator((5, 5), lambda x: symmetric(d) @ x, dtype=float), k=2, v0=np.ones(5))[0], A.data, of=ssl.eigsh),
    sample("svds", lambda d: ssl.svds(csr(d), k=2, v0=np.ones(5))[1], A.data, of=ssl.svds),
    sample("laplacian", lambda d: csgraph.laplacian(csr(d)).toarray(), A.data, of=csgraph.laplacian),
]  # fmt: skip

# Their values decide what is computed.
BY_EXAMPLE = [
    sample("lsqr", lambda d, b: ssl.lsqr(csr(d), b, atol=1e-14, btol=1e-14)[0], A.data, X, of=ssl.lsqr),
    sample("expm_multiply", lambda d, b: ssl.expm_multiply(csr(d) * 0.2, b), A.data, X, of=ssl.expm_multiply),
    sample(
        "shortest_path",
        lambda d: csgraph.shortest_path(csr(d)),
        np.abs(A.data) + 0.1,
        of=csgraph.shortest_path,
    ),
    sample("dijkstra", lambda d: csgraph.dijkstra(csr(d), indices=[0, 3], min_only=True), np.abs(A.data) + 0.1, of=csgraph.dijkstra),
]  # fmt: skip

ERRORS = [
    ErrorSample(
        traced(ssl.spilu, lambda f, d: f(csr(d).tocsc()).solve(X)),
        (A.data,),
        raises=MissingRuleError,
        match="as the preconditioner",
    ),
    ErrorSample(
        traced(sparse.csr_matrix, lambda f, d: f((d, A.indices, A.indptr)).sum(axis=0) ** 2),
        (A.data,),
        raises=MissingRuleError,
        match="np.asarray",
    ),
]

"""Operations of sparse arrays in each format: values, gradients, entries, formats."""

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse import linalg as ssl

import pullback as pb

rng = np.random.default_rng(0)
W = rng.uniform(0.3, 2, (4, 4)) * (rng.uniform(size=(4, 4)) < 0.6) + np.diag(
    [0.53, 1.23, 0.87, 1.17]
)
V = rng.uniform(0.3, 2, (4, 4)) * (rng.uniform(size=(4, 4)) < 0.5)
ROWS, COLUMNS = np.nonzero(W)
NUMBERS = W[ROWS, COLUMNS]
b, Bm = rng.normal(size=4), rng.normal(size=(4, 3))
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
KINDS = [(kind, fmt) for kind in ("array", "matrix") for fmt in FORMATS]

# A is the array that is differentiated, O another one.
EXPRESSIONS = """
A+A
A-0.5*A
-A
abs(A)
A*2.5
2.5*A
A/2.0
A.T
A.transpose()
A.conj()
A.conjugate()
A.copy()
A.power(2)
A**2
A@b
b@A
A@Bm
Bm.T@A
A.T@b
A@A
A@A.T
A.dot(b)
A.dot(A)
A.multiply(A)
A.multiply(2.0)
A.multiply(Bm[:,:1])
A.multiply(b)
A.multiply(O)
O.multiply(A)
A+O
O+A
A-O
A@O
O@A
A.maximum(O)
A.minimum(O)
A.maximum(0.9)
A.minimum(0)
A.sum()
A.sum(axis=0)
A.sum(axis=1)
A.mean()
A.mean(axis=0)
A.mean(axis=1)
A.max()
A.min()
A.max(axis=0)
A.min(axis=1)
A.max(axis=1)
A.trace()
A.trace(offset=1)
A.diagonal()
A.diagonal(k=-1)
A.toarray()
A.todense()
A.tocsr()
A.tocsc()
A.tocoo()
A.tobsr()
A.tobsr((2,2))
A.todia()
A.tolil()
A.todok()
A.sqrt()
A.sin()
A.tan()
A.arctan()
A.tanh()
A.expm1()
A.log1p()
A.sinh()
A.arcsinh()
A.deg2rad()
A.rad2deg()
A.floor()
A.ceil()
A.rint()
A.sign()
A.trunc()
A.real
A.imag
A.astype(float)
A.astype(np.float32)
A.astype(complex)
A.reshape((2,8))
A.reshape(8,2)
A[1]
A[1,2]
A[0,0]
A[:,1]
A[1:3]
A[1:3,::2]
A[[0,2]]
A[:,[3,0]]
A[[0,1],[1,2]]
A[np.array([True,False,True,False])]
A[-1]
A[::-1]
A[...]
A.getrow(1)
A.getcol(2)
A.nonzero()[0]*1.0+A.sum()
A.nnz*A.sum()
A.count_nonzero()*A.sum()
sp.tril(A)
sp.triu(A,1)
sp.kron(A,O)
sp.kronsum(A,O)
sp.hstack([A,O])
sp.vstack([A,O,A])
sp.block_diag([A,O])
sp.bmat([[A,O],[None,A]])
sp.block_array([[A,None],[O,A]])
sp.find(A)[2].sum()
ssl.norm(A)
ssl.norm(A,1)
ssl.norm(A,np.inf)
ssl.norm(A,axis=1)
ssl.spsolve(A.tocsc(),b)
ssl.spsolve(A.tocsr(),Bm)
ssl.inv(A.tocsc())
ssl.expm(A.tocsc())
ssl.expm_multiply(A,b)
ssl.matrix_power(A.tocsr(),3)
ssl.splu(A.tocsc()).solve(b)
ssl.factorized(A.tocsc())(b)
ssl.spsolve_triangular(sp.tril(A).tocsr(),b)
ssl.aslinearoperator(A).matvec(b)
ssl.aslinearoperator(A).rmatvec(b)
ssl.onenormest(A)
np.abs(A)
np.sqrt(A)
np.sin(A)
np.tanh(A)
np.sum(A)
np.mean(A)
np.multiply(A,2.0)
np.negative(A)
np.dot(A,2.0)
np.max(A)
np.transpose(A)
np.conj(A)
np.real(A.toarray())
np.ravel(A.sum(axis=1))
np.asarray(A.sum(axis=0)).ravel()
np.squeeze(np.asarray(A.sum(axis=1)))
np.array(A.todense())
(A>0.5).sum()*A.sum()
(A!=0).multiply(A)
(A>0.5).multiply(A)
A.argmax()*A.sum()
A.argmax(axis=1)*1.0
A.nanmax()
A.nanmin(axis=0)
A.shape[0]*A.sum()
sum(r.sum() for r in A)
A.resize((3,3)) or A
A.setdiag(3.0) or A
A.setdiag(b) or A
A.sum_duplicates() or A
A.eliminate_zeros() or A
A.sort_indices() or A
A.prune() or A
sp.csr_array(A)
sp.csc_matrix(A)
sp.coo_array(A)
sp.dia_array(A)
sp.bsr_matrix(A)
sp.lil_array(A)
sp.dok_matrix(A)
sp.diags_array(A.diagonal())
A-sp.eye_array(4)
sp.eye_array(4)*2-A
A+A.T
(A+A.T)/2
A@sp.diags(b)
sp.diags(b)@A
A.tocsr()[1].toarray()
A@A@b
b@A@b
(A.multiply(A)).sum(axis=1)
A.toarray().T@b
A.dot(sp.csr_array(Bm))
A.swapaxes(0,1)
A.T.T
sp.swapaxes(A,0,1)
sp.permute_dims(A,(1,0))
A.__class__(A)
A.asformat('csr')
A.todok()[0,0]
A.tolil()[1]
A/A.sum()
A/Bm[:,:1]
A.todia().diagonal()
A.minimum(A.T)
A.maximum(A.T)
abs(A-A.T).max()
abs(A).sum()
A.sum(axis=None)
A.sum(dtype=float)
A.mean(dtype=float)
A.sum(axis=-1)
A.sum(axis=0).sum()
A[A>1.0].sum()
A[[1,0]][:,[0,2]]
A[1:,:][:,1:]
A[0,:]@b
A[:,0].sum()
""".strip().splitlines()
STATEMENTS = """
A[0, 1] = A[1, 1] * 2
A[2] = b
A[:, 0] = Bm[:, :1]
A[1:3, 1:3] = A[:2, :2].toarray()
A.data *= 2
A.data = A.data**2
A *= 2
A += O
A -= A.T
A[:, :] = A - O
A /= 2.0
A[[0, 1], [2, 3]] = b[:2]
A @= O
A[0, 0] += A[1, 1]
A.data[0] = 5 * A.data[1]
""".strip().splitlines()
# Of diagonals and an array that keeps its zeros, it is not known which ones SciPy has dropped.
MIXED = ("sp.kron(", "sp.hstack(", "sp.vstack(", "sp.block_diag(", "sp.bmat(", "sp.block_array(")


def built(kind, fmt, places, numbers):
    make = getattr(sp, f"coo_{kind}")
    return make((numbers, places), shape=(4, 4)).asformat(fmt)


def programs():
    """Each operation as a function of A and O."""
    for text in EXPRESSIONS:
        scope = {"np": np, "sp": sp, "ssl": ssl, "b": b, "Bm": Bm}
        exec(f"def f(A, O):\n    return {text}", scope)
        yield text, scope["f"]
    for text in STATEMENTS:
        scope = {"b": b, "Bm": Bm}
        exec(f"def f(A, O):\n    {text}\n    return A", scope)
        yield text, scope["f"]


def described(out):
    return (out.nnz, out.format, type(out).__name__) if sp.issparse(out) else None


def mismatch(name, program, kind, fmt):
    """How an operation differs from SciPy's, or None."""
    other = built(kind, "csr" if fmt == "csc" else "csc", np.nonzero(V), V[np.nonzero(V)])

    def run(numbers):
        return program(built(kind, fmt, (ROWS, COLUMNS), numbers * 1.0), other)

    def weighed(numbers):
        out = run(numbers)
        dense = out.toarray() if sp.issparse(out) else np.asarray(out)
        return np.sum(np.real(dense) * np.cos(1 + np.arange(dense.size)).reshape(dense.shape)), out

    try:
        value, plain = weighed(NUMBERS)
    except Exception:
        return None  # SciPy has no such operation in this format
    dot = np.cos(np.arange(NUMBERS.size) + 1.0)
    try:
        (found, kept), gradient = pb.value_and_grad(
            lambda numbers: (lambda out: (out[0], described(out[1])))(weighed(numbers)),
            has_aux=True,
        )(NUMBERS)
    except pb.PullbackError as error:
        known = fmt == "dia" and name.startswith(MIXED) and "zeros with a derivative" in str(error)
        return None if known else str(error)
    if kept != described(plain):
        return f"{kept}, not {described(plain)}"
    change = (weighed(NUMBERS + 1e-5 * dot)[0] - weighed(NUMBERS - 1e-5 * dot)[0]) / 2e-5
    size = max(1.0, abs(value), abs(change))
    near = 3e-2 if "float32" in name else 1e-6
    if abs(found - value) > 1e-12 * size or abs(gradient @ dot - change) > near * size:
        return f"{found} and {gradient @ dot}, not {value} and {change}"
    return None


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore::pullback.core.errors.LostDerivativeWarning")  # of `floor`
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_operations():
    """Each operation in one of the fourteen formats by turns."""
    wrong = []
    for i, (name, program) in enumerate(programs()):
        kind, fmt = KINDS[(5 * i + 3) % 14]
        found = mismatch(name, program, kind, fmt)
        if found is not None:
            wrong.append(f"{name}, {fmt}_{kind}: {found}")
    assert not wrong

"""What a program sees of the entries of a sparse array is SciPy's, or is refused."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import pullback as pb

DENSE = np.array([[2.0, 1.0, 0.0, 0.0], [1.0, 3.0, 0.0, 2.0], [0.0, 0.0, 1.0, 0.0]])
SQUARE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 1.0]])
PLACES = np.nonzero(SQUARE)


def explicit(x):
    """A square array with entries that SciPy keeps, of which one is zero."""
    numbers = x[PLACES]
    return sparse.csr_array((np.append(numbers[:-1], 0 * numbers[0]), PLACES), shape=(3, 3))


def assigned(M, value):
    M[0, 1] = value
    return M


def diagonal(M, value):
    M.setdiag(value)
    return M


def without(M):
    M.data[M.data < 1.5] = 0
    M.eliminate_zeros()
    return M


def filled(kind, x):
    M = kind((3, 3))
    for i in range(3):
        for j in range(3):
            M[i, j] = x[i, j]
    return M


# By name, sparse arrays that a program makes of a dense one, and those which it may not look at:
# of them it is not known what SciPy has dropped.
MADE = {
    "as it is": lambda x: sparse.csr_array(x),
    "matrix": lambda x: sparse.csc_matrix(x),
    "coo": lambda x: sparse.coo_array(x),
    "lil": lambda x: sparse.lil_array(x),
    "dok": lambda x: sparse.dok_array(x),
    "dia": lambda x: sparse.dia_array(x),
    "bsr": lambda x: sparse.bsr_array(x, blocksize=(1, 1)),
    "blocks of a size that SciPy chooses": lambda x: sparse.csr_array(x).tobsr(),
    "coo as blocks": lambda x: sparse.coo_array(x).tobsr(),
    "filled lil": lambda x: filled(sparse.lil_matrix, x),
    "filled dok": lambda x: filled(sparse.dok_array, x),
    "masked": lambda x: sparse.csr_array(x * (x > 1.5)),
    "transposed": lambda x: sparse.csr_array(x).T,
    "copied": lambda x: sparse.csc_array(x).copy(),
    "sliced": lambda x: sparse.csr_array(x)[1:, :2],
    "columns": lambda x: sparse.csr_array(x)[:, [0, 2]],
    "row": lambda x: sparse.csc_array(x)[[1]],
    "reshaped": lambda x: sparse.coo_array(x).reshape(1, 9),
    "negative": lambda x: -sparse.csr_array(x),
    "absolute": lambda x: abs(sparse.csc_array(x)),
    "scaled": lambda x: 2 * sparse.csr_array(x),
    "scaled by 0": lambda x: 0.0 * sparse.csr_array(x),
    "cosines": lambda x: sparse.csr_array(x).expm1(),
    "powers": lambda x: sparse.csr_array(x) ** 2,
    "sum": lambda x: sparse.csr_array(x) + sparse.csc_array(x).T,
    "difference": lambda x: explicit(x) - explicit(x).T,
    "absolute difference": lambda x: abs(explicit(x) - explicit(x).T),
    "product": lambda x: sparse.csr_array(x) @ sparse.csc_array(np.diag([1.0, 0.0, 2.0])),
    "times": lambda x: sparse.csr_array(x).multiply(sparse.csr_array(x > 1.5)),
    "times dense": lambda x: sparse.csr_array(x).multiply(np.array([1.0, 0.0, 2.0])),
    "minimum": lambda x: explicit(x).minimum(0 * explicit(x)),
    "explicit": lambda x: explicit(x),
    "explicit, turned": lambda x: explicit(x).tocoo().T.tocsc(),
    "explicit, stacked": lambda x: sparse.vstack([explicit(x), explicit(x)]),
    "explicit, larger": lambda x: sparse.kron(explicit(x), np.ones((2, 2))),
    "explicit, scaled": lambda x: explicit(x) * 3.0,
    "explicit as lil": lambda x: explicit(x).tolil(),
    "explicit as dok": lambda x: explicit(x).todok(),
    "stacked": lambda x: sparse.vstack([sparse.csr_array(x), sparse.csr_array(x)]),
    "side by side": lambda x: sparse.hstack([sparse.csr_array(x), sparse.csc_array(x)]),
    "blocks": lambda x: sparse.block_array([[sparse.coo_array(x), None], [None, explicit(x)]]),
    "triangle": lambda x: sparse.tril(sparse.csr_array(x)),
    "diagonals": lambda x: sparse.diags_array([x[0], x[1, :2]], offsets=[0, 1]).tocsr(),
    "assigned": lambda x: assigned(explicit(x), 0.0),
    "assigned 0": lambda x: assigned(sparse.csr_array(x), 0.0),
    "diagonal 0": lambda x: diagonal(sparse.csr_array(x), 0.0),
    "without small ones": lambda x: without(explicit(x)),
    "unequal": lambda x: explicit(x) != explicit(x).T,
    "smaller": lambda x: explicit(x) < 2 * explicit(x),
    "unequal blocks": lambda x: explicit(x).tobsr() != explicit(x).T.tobsr(),
    "rows of numbers": lambda x: sparse.csr_array(x.tolist()),
    "rows of numbers by columns": lambda x: sparse.csc_matrix(x.tolist()),
    "rows of numbers by places": lambda x: sparse.coo_array(x.tolist()),
    "rows of numbers as lil": lambda x: sparse.lil_array(x.tolist()),
    "rows of numbers as dok": lambda x: sparse.dok_matrix(x.tolist()),
    "rows of numbers as dia": lambda x: sparse.dia_array(x.tolist()),
    "rows": lambda x: sparse.csr_array(list(x)),
}
BY_BLOCKS = {"blocks of a size that SciPy chooses", "coo as blocks"}  # which keep zeros
REFUSED = {"blocks", "times dense", "assigned 0", "diagonal 0"} | BY_BLOCKS


def read(M):
    """What programs read of an array: integers, and the sums of numbers that may move."""
    places = [np.asarray(getattr(M, name)) for name in ("indices", "indptr") if hasattr(M, name)]
    other = M.tocoo()
    counts = [M.nnz, M.size, other.nnz, other.row.sum(), (1 + other.col**2).sum()]
    return [*counts, *places], [M.sum(), other.data.sum(), other.data.size]


def test_of_all():
    wrong, refused = [], set()
    for name, make in MADE.items():
        plain = read(make(SQUARE))

        def f(x, make=make, plain=plain, name=name):
            seen, numbers = read(make(x))
            for a, b in zip(seen, plain[0], strict=True):
                if not np.array_equal(a, b):
                    wrong.append(f"{name}: {a}, not {b}")
            return np.sum(np.stack([1.0 * n for n in numbers])) + 0 * x.sum()

        try:
            value = pb.vjp(f, SQUARE)[0]
        except pb.ConversionError as error:
            refused.add(name if "numbers are zeros with a derivative" in str(error) else error)
        else:
            if value != sum(plain[1]):
                wrong.append(f"{name}: {value}, not {sum(plain[1])}")
    assert not wrong
    assert refused == REFUSED


def test_results():
    """A sparse result is SciPy's, and a tangent has entries where its primal has zeros."""
    wrong = []
    dot = np.cos(np.arange(9.0)).reshape(3, 3)
    for name, make in MADE.items():
        plain = make(SQUARE)
        if name in REFUSED - BY_BLOCKS or plain.dtype == bool:
            continue
        value, tangent = pb.jvp(make, (SQUARE,), (dot,))
        kept = pickle.loads(pickle.dumps(pb.vjp(make, SQUARE)[0]))
        if {(type(x), x.nnz) for x in (value, kept)} != {(type(plain), plain.nnz)}:
            wrong.append(f"{name}: {value!r}, {kept!r}, not {plain!r}")
        expected = pb.jvp(lambda x, make=make: make(x).toarray(), (SQUARE,), (dot,))[1]
        if not np.array_equal(tangent.toarray(), expected):
            wrong.append(f"{name}: {tangent.toarray()}, not {expected}")
    assert not wrong


def test_numbers_that_are_written_to():
    """Of what SciPy has: an array of which a program takes the numbers is one with them."""

    def ranked(x):
        M = sparse.csr_matrix(x * (x > 1.5))
        M.data = np.exp(-M.data)
        M.data[::2] *= 0.5
        return (M @ np.arange(4.0)).sum() / M.nnz

    def in_place(x):
        M = sparse.csr_array(x * (x > 1.5))
        numbers = M.data
        numbers[0] = 7 * numbers[-1]
        return (M @ np.arange(1.0, 5.0)).sum() * M.nnz

    def loops(x):
        M = sparse.csc_array(x * (x > 1.5)).tocsr()
        total = 0.0
        for i in range(3):
            for k in range(M.indptr[i], M.indptr[i + 1]):
                total = total + M.data[k] * (M.indices[k] + 1) ** i
        return total

    dot = np.cos(np.arange(12.0).reshape(DENSE.shape))
    for f in (ranked, in_place, loops):
        for call in (pb.grad(f), pb.compile(pb.grad(f), wait=True)):
            for x in (DENSE, DENSE, DENSE + 0.01 * dot, DENSE - 0.6 * (DENSE == 2)):
                change = (f(x + 1e-6 * dot) - f(x - 1e-6 * dot)) / 2e-6
                np.testing.assert_allclose(np.sum(call(x) * dot), change, 1e-7, err_msg=f.__name__)


def test_derivatives_of_zeros_that_were_not_seen():
    """Counting entries leaves the array as it is."""

    def f(x):
        M = sparse.csr_array(x)
        return M.nnz * (M @ np.arange(1.0, 5.0)).sum() + M.data.sum()

    expected = 6 * np.arange(1.0, 5.0) + (DENSE != 0)
    np.testing.assert_array_equal(pb.grad(f)(DENSE), expected)


def test_assigned_after_they_were_seen():
    def f(M, x):
        before = M.nnz
        M[0, 1] = 7 * x[0, 0]
        M.eliminate_zeros()
        return before * M.data.sum() + (M @ np.arange(1.0, 5.0)).sum() * M.nnz

    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.lil_array, sparse.dok_array):
        as_csr = lambda x, kind=kind: kind(x) if kind.__name__[1] == "s" else kind(x).tocsr()
        value = pb.vjp(lambda x, kind=as_csr: f(kind(x), x), DENSE)[0]
        assert value == f(as_csr(DENSE), DENSE), kind


def test_an_array_that_outlives_its_transformation():
    kept = []

    def f(x):
        kept.append(sparse.csr_array(x))
        return kept[-1].sum()

    pb.grad(f)(DENSE)
    (M,) = kept
    np.testing.assert_array_equal(M.data, DENSE[DENSE != 0])
    assert M.nnz == 6
    np.testing.assert_array_equal((M - sparse.csr_array(DENSE)).toarray(), np.zeros(DENSE.shape))


def test_mapped():
    with pytest.raises(pb.ConversionError, match="that is mapped"):
        pb.vmap(lambda x: sparse.csr_array(x).nnz * x.sum())(np.stack([DENSE, DENSE]))

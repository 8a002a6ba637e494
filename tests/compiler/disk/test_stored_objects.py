"""SciPy's objects that functions read, on disk: a later process finds what was recorded with equal
ones, and records anew with others.
"""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import pullback as pb
from pullback.compiler.disk import closures, records
from pullback.compiler.disk.portable import Unportable, named
from tests.compiler.disk.test_stored import END, Folder

pytestmark = pytest.mark.disk

HEAD = """
import os
from scipy import interpolate, optimize, signal, sparse, spatial, stats
from scipy.sparse import linalg as sla
from scipy.spatial.transform import Rotation
SIZE = float(os.environ["SIZE"])
T = np.linspace(0.0, 2.0, 9)
BAND = sparse.diags_array([[1.0] * 2, [3.0 * SIZE] * 3, [-1.0] * 2], offsets=[-1, 0, 1])
args = (np.array([0.5, 1.5, 1.2]),)
def looked_at(A):
    A.has_canonical_format  # SciPy notes the answer in the array
    return A
"""
# An object that is made from SIZE, and a function of x that reads it.
READ = {
    "array by rows": ("BAND.tocsr()", "lambda x: A @ x"),
    "array by columns": ("looked_at(BAND.tocsc())", "lambda x: sla.spsolve(A, x)"),
    "coordinates": ("BAND.tocoo()", "lambda x: A @ x"),
    "matrix": ("sparse.csr_matrix(BAND)", "lambda x: A * x"),
    "an array that moves": (
        "BAND.tocsr()",
        "lambda x: sla.spsolve(sparse.csr_array((A.data * x[0], A.indices, A.indptr)), x)",
    ),
    "factors of one that moves": (
        "BAND.tocsc()",
        "lambda x: sla.splu(sparse.csc_array((A.data * x[0], A.indices, A.indptr))).solve(x)",
    ),
    "least squares": (
        "BAND.tocsr()",
        "lambda x: sla.lsqr(sparse.csr_array((A.data * x[0], A.indices, A.indptr)), x)[0]",
    ),
    "iterations": ("BAND.tocsr()", "lambda x: sla.gmres(A, x, rtol=1e-12)[0]"),
    "cubic spline": ("interpolate.CubicSpline(T, SIZE * np.cos(T))", "lambda x: A(x)"),
    "monotone": ("interpolate.PchipInterpolator(T, SIZE * np.cos(T))", "lambda x: A(x)"),
    "B-spline": ("interpolate.make_interp_spline(T, SIZE * np.cos(T))", "lambda x: A(x)"),
    "table": ("interpolate.interp1d(T, SIZE * np.cos(T))", "lambda x: A(x)"),
    "grid": (
        "interpolate.RegularGridInterpolator((T, T), SIZE * np.outer(T, T))",
        "lambda x: A(x[:2])",
    ),
    "law": ("stats.norm(SIZE, 1.0)", "lambda x: A.logpdf(x)"),
    "bounds": (
        "optimize.Bounds([0.0] * 3, [SIZE] * 3)",
        "lambda x: optimize.minimize(lambda z: np.sum((z - x) ** 2), np.ones(3) / 2, bounds=A).x",
    ),
    "rotation": ("Rotation.from_rotvec([0.1, SIZE, 0.2])", "lambda x: A.apply(x)"),
    "system": ("signal.TransferFunction([SIZE], [1.0, 0.5])", "lambda x: A.num[0] * x"),
}
# One holds objects of `np.vectorize`; how far others are read depends on what ran before.
NOT_FOUND = {"law", "bounds"}


@pytest.mark.share(3)
@pytest.mark.parametrize("order", ["value", "gradient"])
def test_a_later_process_records_no_more_if_they_are_equal(order, tmp_path):
    """Two processes that share a folder, and a third in which each object holds other numbers."""
    of = {"value": "f = f_\n", "gradient": "f = pb.grad(lambda x: np.sum(f_(x) ** 2))\n"}[order]
    end = END.replace("rtol=1e-13", "rtol=1e-9")
    programs = {
        name: f"{HEAD}A = {made}\nf_ = {text}\n{of}{end}" for name, (made, text) in READ.items()
    }
    folder = Folder(tmp_path)
    first = folder.all(programs, SIZE="1.25")
    again = folder.all(programs, SIZE="1.25")
    assert {name for name, (misses, _) in again.items() if misses} <= NOT_FOUND
    assert {name: found for name, (_, found) in again.items()} == {
        name: found for name, (_, found) in first.items()
    }
    other = folder.all(programs, SIZE="1.75")
    assert {name for name, (misses, _) in other.items() if not misses} == set()


def test_what_is_changed_in_one_is_noticed(monkeypatch):
    A = sparse.csr_array(np.diag([1.0, 2.0]))
    f = lambda x: A @ x
    first = pb.compile(f)
    for _ in range(3):
        first(np.ones(2))
    A.data[0] = 5.0
    monkeypatch.setattr(records, "WRITTEN", set())
    assert pb.compile(f)(np.ones(2)).tolist() == [5.0, 2.0]


def test_factors_are_not_told_apart_by_what_is_seen():
    with pytest.raises(Unportable, match="SuperLU"):
        named(linalg.splu(sparse.csc_array(np.eye(2))))


def test_code_of_scipys_that_a_rule_stands_for():
    """What answers for a function is found by it, and SciPy's own code by its name."""
    answer = closures.RULES[linalg.lsqr].serves
    place = answer.__module__, "scipy.sparse.linalg._isolve.lsqr lsqr", "answer"
    assert closures.named_function(answer) == place
    assert records.loaded(records.written(answer)) is answer
    own = closures.copied(linalg.lsqr)
    again = records.loaded(records.written(own))
    assert again is not own
    assert again.__code__ is own.__code__
    with pytest.raises(Unportable, match="a function of os"):
        closures.copy_of("os", "system")

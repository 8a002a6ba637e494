"""Systems of equations, by SuperLU.

The solution x of A x = b moves with the numbers of A and with b:

    A x_dot = b_dot - A_dot x,        b_bar = A^-T x_bar,        A_bar = -b_bar x^T at the entries

Both rules solve one more system, with the same factors.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as ssl
from scipy.sparse.linalg._dsolve import _superlu

from ...core.array import Array
from ...core.errors import MissingRuleError
from ...core.in_place import InPlaceOf
from ...core.operands import as_array
from ...core.primitive import Primitive
from ...core.reach.call_tables import CALLS
from ...core.reach.compiled_code import foreign
from ...core.reach.namespaces import BOUND
from ...core.reach.session import call_outside
from ...core.spec import Spec
from ...primitives.exact import exact
from ..solving.serving import serves, serves_method, traced
from .factors import triangle_of
from .kept_zeros import moves
from .patterns import constants, coordinates, fixed, is_live, is_mapped, turned
from .products import product


class Factors:
    """How systems of one pattern are solved, by SuperLU; the last factors are kept.

    There are as many systems as values of the numbers: in a batch, or in a program that is done
    again with others.
    """

    def __init__(self, native: Any = None, data: Any = None, **options: Any) -> None:
        self.native, self.data, self.options = native, data, options
        self.for_derivatives = self

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "native": None, "data": None}  # a later process factors again

    def factored(self, data: Any, outer: Any, inner: Any) -> Any:
        """The factors of the array by columns that these are."""
        if self.data is None or not np.array_equal(self.data, data):
            n = len(outer) - 1
            flat = np.ascontiguousarray(data)
            by_columns = sparse.csc_array((flat, inner, outer), shape=(n, n))
            self.native, self.data = ssl.splu(by_columns, **self.options), np.array(data)
        return self.native

    def solve(self, data: Any, b: Any, outer: Any, inner: Any, fmt: str) -> Any:
        dtype = np.result_type(data, b)
        if data.dtype != dtype:
            self = Factors(**self.options)
        try:
            native = self.factored(data.astype(dtype, copy=False), outer, inner)
        except RuntimeError:  # SuperLU's way to say that the array is singular
            return np.full(b.shape, np.nan, dtype)
        return native.solve(np.ascontiguousarray(b, dtype), "N" if fmt == "csc" else "T")


class SparseSolve(Primitive):
    """x of A x = b for a vector or matrix b; fmt is "csc" or "csr", `by` says how to solve."""

    reads = "out xs"
    nondiff = (2, 3)

    def value(self, data, b, outer, inner, *, fmt, by):
        return call_outside(by.solve, (data, b, outer, inner, fmt), {})

    def spec(self, data, b, outer, inner, *, fmt, by):
        return Spec(b.shape, np.result_type(data.dtype, b.dtype))

    def jvp(self, out, xs, x_dots, *, fmt, by):
        data, _, outer, inner = xs
        data_dot, right, *_ = x_dots
        by = by.for_derivatives
        if data_dot is not None:
            n = out.shape[0]
            moved = product(data_dot, out, outer, inner, fmt=fmt, shape=(n, n))
            right = -moved if right is None else right - moved
        return None if right is None else self(data, right, outer, inner, fmt=fmt, by=by)

    def vjp(self, out_bar, residual, wanted):
        return self.pulled(out_bar, residual.out, residual.xs, wanted[0], **residual.static)

    def pulled(self, out_bar, out, xs, of_data, *, fmt, by):
        """The cotangents; of the numbers of the array where they are wanted."""
        data, _, outer, inner = xs
        _, _, other = turned(outer, inner, fmt)
        b_bar = self(data, out_bar, outer, inner, fmt=other, by=by.for_derivatives)
        data_bar = None
        if of_data:
            rows, cols = coordinates(outer, inner, fmt)
            terms = np.take(b_bar, rows, axis=0) * np.take(out, cols, axis=0)
            data_bar = -(np.sum(terms, axis=1) if terms.ndim == 2 else terms)
        return data_bar, b_bar, None, None

    def batch(self, xs, mapped, size, *, fmt, by):
        data, b, outer, inner = xs
        if mapped[0]:
            b = b if mapped[1] else np.broadcast_to(b, (size, *b.shape))
            return np.stack(
                [self(data[i], b[i], outer, inner, fmt=fmt, by=by) for i in range(size)]
            )
        columns = np.moveaxis(b, 0, 1).reshape(b.shape[1], -1)
        out = self(data, columns, outer, inner, fmt=fmt, by=by)
        return np.moveaxis(out.reshape(b.shape[1], size, *b.shape[2:]), 1, 0)


sparse_solve = SparseSolve("sparse solve")


# SuperLU.

gssv = foreign(_superlu.gssv)


@serves_method(_superlu.gssv)
def solved(n: Any, nnz: Any, data: Any, inner: Any, outer: Any, b: Any, flag: Any, options: Any):
    if not (is_live(data) or is_live(b)):
        return gssv(n, nnz, data, inner, outer, b, flag, options=options)
    outer, inner, flag = constants(outer, inner, flag)
    by = Factors(permc_spec=options["ColPerm"])
    x = sparse_solve(data, b, outer, inner, fmt="csc" if flag else "csr", by=by)
    return x, 0


class TracedFactors(InPlaceOf):
    """The result of `splu` for an array with derivatives."""

    kind = ssl.SuperLU

    def __init__(self, native: Any, data: Any, outer: Any, inner: Any, options: Any) -> None:
        self.data, self.pattern = data, (outer, inner)
        plain = None if native is None else np.array(fixed(data))
        self.by, self.shape = Factors(native, plain, **options), (len(outer) - 1,) * 2
        if native is not None:
            self.nnz, self.perm_r, self.perm_c = native.nnz, native.perm_r, native.perm_c

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        data, fmt = self.data, {"N": "csc", "T": "csr", "H": "csr"}[trans]
        data = np.conj(data) if trans == "H" else data
        return sparse_solve(data, as_array(rhs), *self.pattern, fmt=fmt, by=self.by)

    def __getattr__(self, name: str) -> Any:
        if name in ("L", "U"):
            return triangle_of(self.by, self.data, *self.pattern, name)
        raise AttributeError(name)


PRECONDITIONING = ContextVar("PRECONDITIONING", default=False)  # a method iterates, on plain values


class Preconditioner(InPlaceOf):
    """The result of `spilu` for an array with derivatives, a preconditioner for iterative methods.

    Their solution doesn't depend on it. Its own results jump when it drops other entries.
    """

    kind = ssl.SuperLU

    def __init__(self, native: Any) -> None:
        self.native, self.shape, self.nnz = native, native.shape, native.nnz
        self.perm_r, self.perm_c = native.perm_r, native.perm_c

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        # LinearOperator asks for the solution of zeros, which are zeros, to see their dtype.
        if is_live(rhs) or (not PRECONDITIONING.get() and np.any(fixed(rhs))):
            unknown("The solution by `spilu`")
        return self.native.solve(fixed(rhs), trans)

    def __getattr__(self, name: str) -> Any:
        if name in ("L", "U"):
            unknown(f"The factor `{name}` of `spilu`")
        raise AttributeError(name)


def unknown(what: str) -> Any:
    raise MissingRuleError(
        f"{what} has no derivative with respect to the array: which entries are dropped makes it"
        " jump.\n  Use it as the preconditioner `M` of a method such as `gmres`, take `splu`, or"
        " detach the array with `pullback.stop_gradient(A.data)`."
    )


gstrf = foreign(_superlu.gstrf)
NAMES = {"PanelSize": "panel_size", "Relax": "relax", "DiagPivotThresh": "diag_pivot_thresh"}


@serves_method(_superlu.gstrf)
def factored(n, nnz, data, inner, outer, csc_construct_func, ilu=False, options=None):
    if not is_live(data):
        return gstrf(
            n, nnz, data, inner, outer,
            csc_construct_func=csc_construct_func, ilu=ilu, options=options,
        )  # fmt: skip
    inner, outer = constants(inner, outer)
    if ilu:
        return Preconditioner(call_outside(gstrf, (
            n, nnz, np.ascontiguousarray(fixed(data)), inner, outer,
        ), {"csc_construct_func": sparse.csc_array, "ilu": ilu, "options": options}))  # fmt: skip
    native = None if is_mapped(data) else _superlu.gstrf(
        n, nnz, np.ascontiguousarray(fixed(data)), inner, outer,
        csc_construct_func=sparse.csc_array, ilu=ilu, options=options,
    )  # fmt: skip
    given = dict(options or {})
    chosen = {"permc_spec": given.pop("ColPerm", None)}
    chosen |= {new: given.pop(old, None) for old, new in NAMES.items()}
    return TracedFactors(native, data, outer, inner, {**chosen, "options": given})


class FactoredSolve(Primitive):
    """The solution by factors that are constant: linear in the right-hand side."""

    reads = ""

    def value(self, b, *, factors, trans, dtype):
        if b.dtype.kind != "c" or dtype.kind == "c":
            return factors.solve(np.ascontiguousarray(b, dtype), trans)
        real, imag = (np.ascontiguousarray(part, dtype) for part in (b.real, b.imag))
        return factors.solve(real, trans) + 1j * factors.solve(imag, trans)

    def spec(self, b, *, factors, trans, dtype):
        complex_of_it = np.result_type(dtype, np.complex64)
        return Spec(b.shape, complex_of_it if b.dtype.kind == "c" else dtype)

    def jvp(self, out, xs, x_dots, **static):
        return self(x_dots[0], **static)

    def vjp(self, out_bar, residual, wanted):
        static = residual.static
        if static["trans"] == "H":
            return [np.conj(self(np.conj(out_bar), **{**static, "trans": "N"}))]
        return [self(out_bar, **{**static, "trans": "T" if static["trans"] == "N" else "N"})]

    def batch(self, xs, mapped, size, **static):
        (b,) = xs
        columns = np.moveaxis(b, 0, 1).reshape(b.shape[1], -1)
        out = self(columns, **static)
        return np.moveaxis(out.reshape(b.shape[1], size, *b.shape[2:]), 1, 0)


factored_solve = FactoredSolve("SuperLU.solve")


def of_factors(method: Any) -> Any:
    """A method of SuperLU's factors, as it is called under a transformation."""
    if method.__name__ != "solve":
        return method
    factors, plain = method.__self__, foreign(method)

    def solve(rhs: Any, trans: str = "N") -> Any:
        if not is_live(rhs):
            return plain(rhs, trans)
        dtype = factors.solve(np.zeros(factors.shape[0], np.float32)).dtype
        return factored_solve(as_array(rhs), factors=factors, trans=trans, dtype=dtype)

    return solve


BOUND[ssl.SuperLU] = of_factors


# Arrays that move, as numbers at places.


def parts_of(A: Any) -> tuple[Any, Any, Any, str] | None:
    """data, outer, inner and format of a square array, without entries at the same place."""
    if isinstance(A, ssl.LinearOperator):
        inside = getattr(A, "A", None)  # what `aslinearoperator` made of an array
        return None if inside is None or isinstance(inside, tuple) else parts_of(inside)
    if not sparse.issparse(A):
        if not hasattr(A, "ndim") and not isinstance(A, (list, tuple)):
            return None
        A = CALLS[sparse.csr_array](as_array(A))
    if A.format not in ("csc", "csr"):
        A = CALLS[A.tocsr]()
    outer, inner = constants(A.indptr, A.indices)
    return A.data, outer, inner, A.format


def plain_array(data: Any, outer: Any, inner: Any, fmt: str, shape: Any) -> Any:
    make = sparse.csc_array if fmt == "csc" else sparse.csr_array
    return call_outside(make, ((data, inner, outer),), {"shape": shape})


# Least squares, and triangles.


def normal(A: Any, b: Any, damp: Any) -> Any:
    """The solution of least squares, by the normal equations."""
    if A.shape[0] >= A.shape[1]:
        square = A.T @ A
        right = A.T @ b
    else:
        square, right = A @ A.T, b
    if is_live(damp) or fixed(damp):
        square = square + sparse.eye_array(square.shape[0]) * damp**2
    x = CALLS[ssl.spsolve](square.tocsc(), right)
    return x if A.shape[0] >= A.shape[1] else A.T @ x


def least_squares(name: str) -> None:
    original = getattr(ssl, name)
    of_scipy, signature = traced(original), inspect.signature(original)

    @serves(original)
    def method(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options).arguments
        A, b, damp = given["A"], as_array(given["b"]), given.get("damp", 0.0)
        if not (moves(A) or is_live(b) or is_live(damp)):
            return of_scipy(*args, **options)
        parts = parts_of(A)
        if parts is None:
            return of_scipy(*args, **options)
        data, outer, inner, fmt = parts
        plain = {key: fixed(x) if type(x) is Array else x for key, x in given.items()}
        plain["b"] = fixed(b)
        dense = getattr(A, "A", A) if isinstance(A, ssl.LinearOperator) else A
        if type(dense) is Array:  # whose products SciPy sums in another order than sparse ones
            plain["A"] = fixed(dense)
        elif moves(A):
            plain["A"] = plain_array(fixed(data), outer, inner, fmt, A.shape)
        out = call_outside(original, (), plain)
        make = sparse.csc_array if fmt == "csc" else sparse.csr_array
        A = CALLS[make]((data, inner, outer), shape=np.shape(plain["A"]))
        return exact(out[0], CALLS[normal](A, b.reshape(-1), damp)), *out[1:]


least_squares("lsqr")
least_squares("lsmr")

spsolve_of_scipy = traced(ssl.spsolve)


@serves(ssl.spsolve)
def spsolve(A: Any, b: Any, *args: Any, **options: Any) -> Any:
    """SciPy's own code; of a sparse right-hand side, which is solved for without its zeros, all."""
    if sparse.issparse(b) and b.ndim == 2 and b.shape[1] > 1 and (moves(A) or moves(b)):
        x = CALLS[spsolve_of_scipy](A, CALLS[b.toarray](), *args, **options)
        return CALLS[type(A) if A.format in ("csc", "csr") else sparse.csc_array](x)
    return spsolve_of_scipy(A, b, *args, **options)


triangular_of_scipy = ssl.spsolve_triangular


@serves(ssl.spsolve_triangular)
def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    b = as_array(b)
    if not (moves(A) or is_live(b)):
        plain = traced(triangular_of_scipy)
        return plain(A, b, lower, overwrite_A, overwrite_b, unit_diagonal)
    part = CALLS[sparse.tril if lower else sparse.triu]
    seen = part(A, (-1 if lower else 1) if unit_diagonal else 0)
    if unit_diagonal:
        seen = seen + sparse.eye_array(A.shape[0])
    computed = CALLS[ssl.spsolve](seen.tocsc(), b)
    parts = parts_of(A)
    if parts is None or is_mapped(parts[0]) or is_mapped(b):
        return computed
    data, outer, inner, fmt = parts
    array = plain_array(fixed(data), outer, inner, fmt, A.shape)
    options = {"lower": lower, "unit_diagonal": unit_diagonal}
    return exact(call_outside(triangular_of_scipy, (array, fixed(b)), options), computed)

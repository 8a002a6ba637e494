"""Zeros that SciPy drops, kept here because they may have derivatives.

    K = csr_array(np.array([[k, c], [c, k]]))      # at c = 0 SciPy's has two entries

SciPy drops zeros when it makes a dense array sparse, and when it adds or multiplies two sparse
arrays. Here each number remains an entry, and operations have the derivatives of all of them. A
program that looks at entries (`nnz`, `indices`, `data`...) gets those that SciPy has:

    dropped is True     SciPy has dropped all zeros: they are left out of what the program sees
    dropped is a mask   SciPy has dropped these, and what was computed of the others stays
    dropped is False    made from such arrays, SciPy may have dropped some: what the program sees is
                        refused where a number is zero

SciPy's own code must see all entries, so the answer depends on the module that asks.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _spfuncs
from scipy.sparse._base import _spbase
from scipy.sparse._compressed import _cs_matrix
from scipy.sparse._coo import _coo_base
from scipy.sparse._dok import _dok_base
from scipy.sparse._lil import _lil_base

from ...core.array import Array
from ...core.errors import ConversionError
from ...core.operands import holds_arrays
from ...core.reach.call_tables import CALLS
from ...core.reach.namespaces import BEHIND, STANDS
from ...core.reach.walk import reach_class
from ...core.storage import root_of, version
from ...primitives.arguments import as_array, somewhere
from ..solving.serving import serves_method, traced
from .patterns import fixed, is_live

# What a program sees of an array of each format, beside `nnz` and `size`.
ATTRIBUTES = {
    "coo": ("data", "coords"),
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "dia": ("data", "offsets"),
    "lil": ("data", "rows"),
    "dok": ("_dict",),
}
COMPUTED = ("nnz", "size", "row", "col")
METHODS = ("getnnz", "keys", "values", "items", "__len__", "__iter__")
CONVERSIONS = {"tocoo", "tocsr", "tocsc", "tobsr", "todia", "tolil", "todok"}
SAME_ENTRIES = CONVERSIONS | {
    "transpose", "copy", "reshape", "tril", "triu", "_block", "_compressed_sparse_stack",
    "_stack_along_minor_axis",
    "_major_slice", "_minor_slice", "_major_index_fancy", "_minor_index_fancy", "_get_submatrix",
    "_getrow", "_getcol", "_get_intXslice", "_get_sliceXslice", "_get_row_ranges", "__iter__",
}  # fmt: skip
BY_ENTRIES = ("coo", "csr", "csc")
BY_ASSIGNING = ("lil", "dok")  # which drop each zero that is assigned


def entries(lists: Any) -> list[Any]:
    return [x for row in lists for x in row]


def moves(x: Any) -> bool:
    """Whether an array, sparse or dense, holds Arrays of a transformation."""
    if is_live(x):
        return True
    data = vars(x).get("data") if isinstance(x, _spbase) else None
    if getattr(data, "dtype", None) == np.dtype(object):
        return any(map(is_live, entries(data)))
    if isinstance(x, _dok_base):
        return any(map(is_live, x.values()))
    return is_live(data)


# Which entries a program sees.


def is_of_scipy(frame: Any) -> bool:
    """Whether code of SciPy's runs there, or the rules for it."""
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith(("scipy.", "pullback.scipy."))


def asked_from_outside() -> bool:
    """Whether neither SciPy's code nor ours asks for what a property gives."""
    frame: Any = sys._getframe(2)
    while frame.f_globals.get("__name__", "").startswith("pullback.") and not is_of_scipy(frame):
        frame = frame.f_back  # what stands for `getattr`, for one
    return not is_of_scipy(frame)


def written(A: Any) -> int:
    """How often the numbers were written to."""
    data = vars(A).get("data")
    return version(root_of(data)) if type(data) is Array else 0


def same_memory(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) is Array and root_of(x) is root_of(y))


def zeros_of(A: Any) -> Any:
    """Which entries SciPy has dropped, as a mask; None where that is not known."""
    dropped = vars(A).get("dropped")
    if dropped is True and A.format in BY_ENTRIES:
        return A.data == 0
    if type(dropped) is tuple and dropped[1] == written(A):
        return dropped[0]
    return None


def with_zeros(A: Any) -> tuple[Any, Any]:
    """A or the same by coordinates, and which of its entries SciPy may have dropped."""
    zero = zeros_of(A)
    if zero is None:
        A = A if A.format in BY_ENTRIES else CALLS[A.tocoo]()
        zero = A.data == 0
    return A, zero


def seen(A: Any) -> Any:
    """A with the entries that SciPy has."""
    settle(A)
    if "seen" in vars(A):
        return vars(A)["seen"][0]
    dropped = vars(A).get("dropped")
    if dropped is None or (A.format in BY_ASSIGNING and not moves(A)):
        return A
    B, zero = with_zeros(A)
    if not somewhere(zero):
        return A
    if dropped is not True and zeros_of(A) is None:
        raise ConversionError(
            "The entries of a sparse array were asked for, but some of its numbers are zeros with"
            " a derivative, which SciPy may have dropped.\n  Call `eliminate_zeros()` before, or"
            " make the array from numbers and places."
        )
    B = CALLS[B.tocoo]()
    kept = np.flatnonzero(~fixed(zero))
    coords = tuple([fixed(places)[kept] for places in B.coords])
    out = CALLS[plain_class(B)]((np.take(B.data, kept), coords), shape=A.shape)
    blocks = {"blocksize": A.blocksize} if A.format == "bsr" else {}
    out = CALLS[getattr(out, f"to{A.format}")](**blocks)
    if A.format not in BY_ASSIGNING:  # which do not tell that they were written to
        vars(A)["seen"] = out, written(out), state_of(A)
    return out


def state_of(A: Any) -> tuple[Any, ...]:
    return id(vars(A)["data"]), id(vars(A)["dropped"]), written(A)


def settle(A: Any) -> None:
    """If the program has written to the numbers, the array has the numbers written, as in SciPy."""
    if "seen" in vars(A):
        out, before, state = vars(A)["seen"]
        if written(out) != before:
            become(A, out)
        elif state_of(A) != state:
            del vars(A)["seen"]


def become(A: Any, other: Any) -> None:
    """Make A an array of SciPy's class, with what another one holds."""
    A.__class__ = plain_class(A)
    held = {name: x for name, x in vars(other).items() if name not in ("dropped", "seen")}
    vars(A).clear()
    vars(A).update(held)


def of_scipy(A: Any) -> Any:
    """A as SciPy has it, when its numbers no longer move.

    A tangent has entries where its primal has none: those that are not zero stay.
    """
    dropped = vars(A).get("dropped")
    if type(dropped) is tuple and (zero := zeros_of(A)) is not None:
        zeros_are_dropped(A, (zero & (A.data == 0),))
    if dropped:
        become(A, seen(A))
    return A


def shows(name: str) -> property:
    def get(self: Any) -> Any:
        if not asked_from_outside():
            settle(self)
        elif (other := seen(self)) is not self:
            if type(vars(other).get("data")) is not Array:
                become(self, other)  # whether it is written to cannot be seen
            self = other
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(name) from None

    def put(self: Any, value: Any) -> None:
        if asked_from_outside() and (other := seen(self)) is not self:
            become(self, other)  # the places are SciPy's
        elif (
            name == "data" and "dropped" in vars(self) and not same_memory(value, vars(self)[name])
        ):
            vars(self)["dropped"] = False
        vars(self)[name] = value

    return property(get, put)


def computed(original: Any) -> property:
    """A property that SciPy computes from the entries."""

    def get(self: Any) -> Any:
        return original.fget(seen(self) if asked_from_outside() else self)

    return property(get, original.fset)


def answered(original: Any) -> Any:
    """A method of SciPy that returns information about the entries."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return CALLS[original](seen(self) if asked_from_outside() else self, *args, **options)

    return method


# Classes like SciPy's, of which objects are that may hold such zeros.

PLAIN: dict[type, type] = {}  # such a class -> SciPy's
LIKE: dict[type, type] = {}  # SciPy's -> such a class


def plain_class(A: Any) -> type:
    return PLAIN.get(type(A), type(A))


def like(original: type) -> type:
    """A class derived from SciPy's, under its name."""
    body: dict[str, Any] = {"__module__": original.__module__, "__doc__": original.__doc__}
    body |= {name: shows(name) for name in ATTRIBUTES[original.__name__[:3]]}
    for names, made in ((COMPUTED, computed), (METHODS, answered)):
        body |= {name: made(getattr(original, name)) for name in names if hasattr(original, name)}
    return type(original.__name__, (original,), body)


def parents_of(frame: Any) -> list[Any]:
    """The sparse arrays of which a function or method of SciPy's makes another one."""
    found: list[Any] = []
    for x in frame.f_locals.values():
        of_objects = type(x) is np.ndarray and x.dtype == np.dtype(object)
        many = x.ravel() if of_objects else x if isinstance(x, (list, tuple)) else (x,)
        found += [A for A in many if isinstance(A, _spbase)]
    return found


def mark_of(frame: Any, fmt: str) -> Any:
    """What is known of the zeros of an array of this format that is made there."""
    if not is_of_scipy(frame):
        return None  # by the program, of numbers and places: SciPy keeps all
    name, parents = frame.f_code.co_name, parents_of(frame)
    of_diagonals = lambda A: A.format == "dia" != fmt and moves(A)  # they lose zeros
    marks = [of_diagonals(A) or vars(A).get("dropped") for A in parents]
    if marks.count(None) == len(marks):
        return None
    if name in SAME_ENTRIES and marks.count(True) == len(marks):
        return not any(map(has_blocks, parents)) or name == "tobsr"
    if name in ("_with_data", "tocoo") and parents[0].format in BY_ENTRIES:  # in the same order
        zero = zeros_of(parents[0])
        return False if zero is None else (zero,)
    return False


def has_blocks(A: Any) -> bool:
    """Whether A keeps zeros beside other numbers, in blocks."""
    return A.format == "bsr" and A.blocksize != (1, 1)


def mark(A: Any) -> Any:
    """What is known of the zeros of A, for another array with the same entries and zeros."""
    dropped = vars(A).get("dropped")
    if type(dropped) is not tuple:
        return dropped
    zero = zeros_of(A)
    return False if zero is None else (zero,)


def zeros_are_dropped(A: Any, dropped: Any = True) -> Any:
    """The array, of which SciPy has dropped the zeros, or may have."""
    if dropped is not None and type(A) in LIKE and (A.format in BY_ASSIGNING or moves(A)):
        A.__class__ = LIKE[type(A)]
    if type(A) in PLAIN:
        vars(A)["dropped"] = (*dropped, written(A)) if type(dropped) is tuple else dropped
    return A


def become_lists(A: Any, other: Any) -> None:
    """What SciPy's `A[:, :] = x` does next, with what is known of the zeros of x in lists."""
    vars(A).update({name: vars(other)[name] for name in ATTRIBUTES["lil"]})
    zeros_are_dropped(A, vars(other).get("dropped"))


def making(original: type) -> None:
    """Of a dense array that moves each number is an entry."""
    by_coordinates = original in (sparse.coo_array, sparse.coo_matrix)

    def make(*args: Any, **options: Any) -> Any:
        reach_class(original)
        x: Any = args[0] if args else None
        if type(x) is list and holds_arrays(x):  # rows of numbers, or of arrays
            x = as_array(x)
            args = (x, *args[1:])
        dense = is_live(x) and x.ndim in (1, 2)
        if dense and by_coordinates:
            whole = sparse.get_index_dtype(maxval=max(x.shape))
            places = tuple([place.ravel() for place in np.indices(x.shape, whole)])
            options.setdefault("shape", x.shape)
            args = ((x.reshape(-1), places), *args[1:])
        out = original(*args, **options)
        frame = sys._getframe(1)
        empty = type(x) is tuple and out.format in BY_ASSIGNING and not is_of_scipy(frame)
        if dense or empty:
            return zeros_are_dropped(out)
        if isinstance(x, _spbase):
            known = vars(x).get("dropped")
            converted = x.format == "dia" != out.format
            zeros_are_dropped(out, converted or (False if type(known) is tuple else known))
            if frame.f_code.co_name == "__setitem__" and is_of_scipy(frame):
                become_lists(frame.f_locals["self"], out)
            return out
        return zeros_are_dropped(out, mark_of(frame, out.format))

    for cls in (original, LIKE[original]):
        STANDS[id(cls)] = make
    BEHIND[id(make)] = original


for fmt in ATTRIBUTES:
    for kind in ("array", "matrix"):
        original = getattr(sparse, f"{fmt}_{kind}")
        LIKE[original] = like(original)
        PLAIN[LIKE[original]] = original
        making(original)


# Where SciPy drops zeros.


def dropping(method: Any) -> None:
    of_scipy = traced(method)

    @serves_method(method)
    def call(self: Any, *args: Any) -> Any:
        return zeros_are_dropped(of_scipy(self, *args))


for method in (_cs_matrix._binopt, _cs_matrix._matmul_sparse):
    dropping(method)


def eliminating(method: Any) -> None:
    of_scipy = traced(method)

    @serves_method(method)
    def eliminate_zeros(self: Any) -> None:
        if moves(self):
            zeros_are_dropped(self)
        else:
            of_scipy(self)


for method in (_cs_matrix.eliminate_zeros, _coo_base.eliminate_zeros):
    eliminating(method)


def assigning(method: Any) -> None:
    """SciPy keeps zeros that are assigned to entries, beside those that it had dropped."""
    of_scipy = traced(method)

    @serves_method(method)
    def assign(self: Any, *args: Any) -> None:
        of_scipy(self, *args)
        if "dropped" in vars(self):
            vars(self)["dropped"] = False


for method in (
    _cs_matrix._set_many,
    _cs_matrix._zero_many,
    _cs_matrix._setdiag,
    _coo_base._setdiag,
):
    assigning(method)


def inserting(method: Any) -> None:
    """SciPy drops zeros that are assigned, beside those that such an array was made with."""
    of_scipy = traced(method)

    @serves_method(method)
    def assign(self: Any, *args: Any) -> None:
        of_scipy(self, *args)
        if vars(self).get("dropped") is not True and moves(self):
            zeros_are_dropped(self, False)


for method in (
    _lil_base._set_intXint,
    _lil_base._set_arrayXarray,
    _lil_base._set_arrayXarray_sparse,
    _dok_base._set_arrayXarray,
):
    inserting(method)


blocksize_of_scipy = traced(_spfuncs.estimate_blocksize)


@serves_method(_spfuncs.estimate_blocksize)
def estimate_blocksize(A: Any, efficiency: float = 0.7) -> Any:
    """The size of the blocks in which SciPy's entries lie."""
    return blocksize_of_scipy(seen(A) if isinstance(A, _spbase) else A, efficiency)


coo_sum_duplicates = traced(_coo_base.sum_duplicates)


@serves_method(_coo_base.sum_duplicates)
def sum_duplicates(self: Any) -> None:
    """Where no entries meet, those that SciPy has dropped are the same."""
    dropped, count = vars(self).get("dropped"), self.data.shape[0]
    coo_sum_duplicates(self)
    if dropped is True and self.data.shape[0] == count:
        vars(self)["dropped"] = True

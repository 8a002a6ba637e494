"""Routines of SciPy's LAPACK, as operations of compiled programs.

SciPy's functions of matrices check their arguments in Python and then call such a routine. Machine
code calls the routine itself, and so gets the same bits. A declaration lists what the routine
takes, in its order; copying operands, memory to work in, and calls follow from that list.

Matrices are copied by columns, as LAPACK takes them; results come by columns too, so that they're
the transposes of what LAPACK calls them. The last result is `info`: 0 if the routine has done its
work, and -1000 if it wasn't called since the first operand is False or an operand isn't finite.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..core.spec import Spec
from .inner_loops import Ingredient

UNCALLED = -1000
INTEGER, REAL = np.dtype(np.int32), np.dtype(float)


class Inout(NamedTuple):
    """Operand k, which the routine may change: what it holds then is a result."""

    k: int


class Filled(NamedTuple):
    """A result, by columns."""

    shape: tuple[int, ...]
    dtype: np.dtype = REAL


class Scratch(NamedTuple):
    """Memory to work in, of the length that the routine asks for."""

    dtype: np.dtype = REAL


LENGTH, INFO = "length of the last memory to work in", "info"


class LapackRoutine(Ingredient):
    """takes(*shapes, **options) lists the arguments: the above, numbers, and letters as bytes.

    cores: how many axes of each operand belong to one matrix; all operands are float64 or pivots
    """

    lower = "inner"

    def __init__(self, name: str, cores: tuple[int, ...], takes: Callable[..., list[Any]]) -> None:
        super().__init__(name)
        self.cores, self.takes = cores, takes
        self.n_out = sum(map(is_result, takes(*[(1,) * core for core in cores])))
        ROUTINES[name] = self

    def arguments(self, xs: Any, static: dict[str, Any]) -> list[Any]:
        """The list for operands such as these: with shapes of all memory, and of results."""
        pairs = zip(xs, self.cores, strict=True)
        shapes = tuple([tuple(x.shape[len(x.shape) - core :]) for x, core in pairs])
        dtypes = tuple([x.dtype for x in xs])
        return sized(self, shapes, dtypes, tuple(sorted(static.items())))

    def spec(self, when: Any, *xs: Any, **static: Any) -> Any:
        stack = self.stack(when, *xs)
        return tuple(
            [
                Spec((*stack, *made.shape[::-1]), made.dtype)
                for made in map(as_made, self.arguments(xs, static))
                if made is not None
            ]
        )

    def stack(self, when: Any, *xs: Any) -> tuple[int, ...]:
        ranks = [len(x.shape) - core for x, core in zip(xs, self.cores, strict=True)]
        shapes = [x.shape[:rank] for x, rank in zip(xs, ranks, strict=True)]
        return np.broadcast_shapes(np.shape(when), *shapes)

    def value(self, when: Any, *xs: Any, **static: Any) -> Any:
        xs = tuple(map(np.asarray, xs))
        stack, arguments = self.stack(when, *xs), self.arguments(xs, static)
        whens = np.broadcast_to(when, stack)
        wide = [
            np.broadcast_to(x, stack + x.shape[x.ndim - core :])
            for x, core in zip(xs, self.cores, strict=True)
        ]
        outs = [np.zeros(s.shape, s.dtype) for s in self.spec(when, *xs, **static)]
        for place in np.ndindex(stack):
            here = [x[place] for x in wide]
            if whens[place] and all(np.isfinite(x).all() for x in here):
                call(self.name, arguments, here, [out[(*place, ...)] for out in outs])
            else:
                outs[-1][place] = UNCALLED
        return tuple([out if out.shape else out[()] for out in outs])

    def __reduce__(self) -> Any:
        return routine_by, (self.name,)


ROUTINES: dict[str, LapackRoutine] = {}


def routine_by(name: str) -> LapackRoutine:
    """The one of a name, for records on disk."""
    return ROUTINES[name]


def is_result(x: Any) -> bool:
    return x is INFO or isinstance(x, Inout | Filled | Scratch)


def as_made(x: Any) -> Filled | None:
    """The memory that an argument of the complete list is a pointer to; None of constants."""
    if x is INFO:
        return Filled((), INTEGER)
    return x[1] if type(x) is tuple else x if isinstance(x, Filled) else None


@cache
def sized(routine: LapackRoutine, shapes: Any, dtypes: Any, static: Any) -> list[Any]:
    """The arguments with an operand as (k, its memory), and with lengths of memory to work in."""
    arguments = [
        (x.k, Filled(shapes[x.k], dtypes[x.k])) if isinstance(x, Inout) else x
        for x in routine.takes(*shapes, **dict(static))
    ]
    asks = [i for i, x in enumerate(arguments) if isinstance(x, Scratch)]
    if not asks:
        return arguments
    asked = [
        -1 if x is LENGTH else Filled((1,), x.dtype) if isinstance(x, Scratch) else x
        for x in arguments
    ]
    memory = [m for m in map(as_made, asked) if m is not None]
    outs = [np.zeros(m.shape[::-1], m.dtype) for m in memory]
    operands = [np.zeros(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    call(routine.name, asked, operands, outs)
    lengths = iter(
        [int(out.flat[0]) for x, out in zip_results(arguments, outs) if type(x) is Scratch]
    )
    length = 0
    for i, x in enumerate(arguments):
        if isinstance(x, Scratch):
            length = max(1, next(lengths))
            arguments[i] = Filled((length,), x.dtype)
        elif x is LENGTH:
            arguments[i] = length
    return arguments


def zip_results(arguments: list[Any], outs: list[Any]) -> Any:
    kept = [x for x in arguments if is_result(x) or type(x) is tuple]
    return zip(kept, outs, strict=True)


@cache
def address(name: str) -> int:
    """Where SciPy's LAPACK has a routine of double precision; 0 where its integers are others."""
    try:
        capsule = import_module("scipy.linalg.cython_lapack").__pyx_capi__["d" + name]
    except (ImportError, KeyError):
        return 0
    api = ctypes.pythonapi
    named = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    signature = named(capsule)
    return pointer(capsule, signature) or 0 if b" int *" in signature else 0


def call(name: str, arguments: list[Any], operands: list[Any], outs: list[Any]) -> None:
    """Call a routine for one matrix, with its results by columns."""
    pointers, kept, left = [], [], iter(outs)
    for x in arguments:
        if isinstance(x, bytes):
            kept.append(np.frombuffer(x, np.uint8))
        elif isinstance(x, int | float):
            kept.append(np.array(x, INTEGER if isinstance(x, int) else REAL))
        else:
            out = next(left)
            if type(x) is tuple:
                out[...] = operands[x[0]].T
            kept.append(out)
        pointers.append(ctypes.c_void_p(kept[-1].ctypes.data))
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(address(name))(*pointers)


def usable(*names: str) -> bool:
    """Whether this SciPy offers them."""
    return all(map(address, names))


def letter(upper: Any) -> bytes:
    return b"U" if upper else b"L"


# By convention n is the number of columns, and of rows where a matrix is square.

getrf_p = LapackRoutine(
    "getrf",
    (2,),
    lambda a: [*a, Inout(0), a[0], Filled((min(a),), INTEGER), INFO],
)
getrs_p = LapackRoutine(
    "getrs",
    (2, 1, 2),
    lambda lu, piv, b, trans=b"N": [
        trans, *b, Inout(0), b[0], Inout(1), Inout(2), b[0], INFO,
    ],
)  # fmt: skip
gecon_p = LapackRoutine(
    "gecon",
    (2, 0),
    lambda lu, norm: [
        b"1", lu[0], Inout(0), lu[0], Inout(1), Filled(()), Filled((4 * lu[0],)),
        Filled((lu[0],), INTEGER), INFO,
    ],
)  # fmt: skip
potrf_p = LapackRoutine(
    "potrf", (2,), lambda a, upper=True: [letter(upper), a[0], Inout(0), a[0], INFO]
)
potrs_p = LapackRoutine(
    "potrs",
    (2, 2),
    lambda c, b, upper=True: [letter(upper), *b, Inout(0), b[0], Inout(1), b[0], INFO],
)
pocon_p = LapackRoutine(
    "pocon",
    (2, 0),
    lambda c, norm, upper=True: [
        letter(upper), c[0], Inout(0), c[0], Inout(1), Filled(()), Filled((3 * c[0],)),
        Filled((c[0],), INTEGER), INFO,
    ],
)  # fmt: skip
sytrf_p = LapackRoutine(
    "sytrf",
    (2,),
    lambda a, upper=True: [
        letter(upper), a[0], Inout(0), a[0], Filled((a[0],), INTEGER), Scratch(), LENGTH, INFO,
    ],
)  # fmt: skip
sytrs_p = LapackRoutine(
    "sytrs",
    (2, 1, 2),
    lambda f, piv, b, upper=True: [
        letter(upper), *b, Inout(0), b[0], Inout(1), Inout(2), b[0], INFO,
    ],
)  # fmt: skip
sycon_p = LapackRoutine(
    "sycon",
    (2, 1, 0),
    lambda f, piv, norm, upper=True: [
        letter(upper), f[0], Inout(0), f[0], Inout(1), Inout(2), Filled(()), Filled((2 * f[0],)),
        Filled((f[0],), INTEGER), INFO,
    ],
)  # fmt: skip
syevr_p = LapackRoutine(
    "syevr",
    (2,),
    lambda a, upper=False, vectors=True: [
        b"V" if vectors else b"N", b"A", letter(upper), a[0], Inout(0), a[0], 0.0, 1.0, 1, a[0],
        0.0, Filled((), INTEGER), Filled((a[0],)), Filled(a if vectors else (1, 1)),
        a[0] if vectors else 1, Filled((2 * a[0],), INTEGER), Scratch(), LENGTH, Scratch(INTEGER),
        LENGTH,
        INFO,
    ],
)  # fmt: skip


def of_gesdd(a: tuple[int, int], job: bytes = b"A") -> list[Any]:
    (m, n), k = a, min(a)
    left = {b"A": m, b"S": k}.get(job, 0)
    right = {b"A": n, b"S": k}.get(job, 0)
    u, vh = (max(1, m if left else 1), max(1, left)), (max(1, right), max(1, n if right else 1))
    return [
        job, m, n, Inout(0), m, Filled((k,)), Filled(u), u[0], Filled(vh), vh[0], Scratch(), LENGTH,
        Filled((8 * k,), INTEGER), INFO,
    ]  # fmt: skip


gesdd_p = LapackRoutine("gesdd", (2,), of_gesdd)


def of_reflections(a: Any) -> list[Any]:
    return [*a, Inout(0), a[0], Filled((min(a),)), Scratch(), LENGTH, INFO]


def of_their_product(a: Any, tau: Any) -> list[Any]:
    return [*a, *tau, Inout(0), a[0], Inout(1), Scratch(), LENGTH, INFO]


geqrf_p = LapackRoutine("geqrf", (2,), of_reflections)
geqp3_p = LapackRoutine(
    "geqp3",
    (2, 1),
    lambda a, free: [
        *a,
        Inout(0),
        a[0],
        Inout(1),
        Filled((min(a),)),
        Scratch(),
        LENGTH,
        INFO,
    ],
)
orgqr_p = LapackRoutine("orgqr", (2, 1), of_their_product)
gelsd_p = LapackRoutine(
    "gelsd",
    (2, 2),
    lambda a, b, cond=0.0: [
        *a, b[1], Inout(0), a[0], Inout(1), b[0], Filled((min(a),)), float(cond),
        Filled((), INTEGER), Scratch(), LENGTH, Scratch(INTEGER), INFO,
    ],
)  # fmt: skip
trtrs_p = LapackRoutine(
    "trtrs",
    (2, 2),
    lambda a, b, upper=True, trans=b"N": [
        letter(upper), trans, b"N", *b, Inout(0), b[0], Inout(1), b[0], INFO,
    ],
)  # fmt: skip
trcon_p = LapackRoutine(
    "trcon",
    (2,),
    lambda a, upper=True: [
        b"1", letter(upper), b"N", a[0], Inout(0), a[0], Filled(()), Filled((3 * a[0],)),
        Filled((a[0],), INTEGER), INFO,
    ],
)  # fmt: skip
getri_p = LapackRoutine(
    "getri",
    (2, 1),
    lambda lu, piv: [lu[0], Inout(0), lu[0], Inout(1), Scratch(), LENGTH, INFO],
)
potri_p = LapackRoutine(
    "potri", (2,), lambda c, upper=True: [letter(upper), c[0], Inout(0), c[0], INFO]
)
sytri_p = LapackRoutine(
    "sytri",
    (2, 1),
    lambda f, piv, upper=True: [
        letter(upper), f[0], Inout(0), f[0], Inout(1), Filled((f[0],)), INFO,
    ],
)  # fmt: skip
trtri_p = LapackRoutine(
    "trtri", (2,), lambda a, upper=True: [letter(upper), b"N", a[0], Inout(0), a[0], INFO]
)
gerqf_p = LapackRoutine("gerqf", (2,), of_reflections)
orgrq_p = LapackRoutine("orgrq", (2, 1), of_their_product)
geev_p = LapackRoutine(
    "geev",
    (2,),
    lambda a: [
        b"V", b"V", a[0], Inout(0), a[0], Filled((a[0],)), Filled((a[0],)), Filled(a), a[0],
        Filled(a),
        a[0], Scratch(), LENGTH, INFO,
    ],
)  # fmt: skip
sygvd_p = LapackRoutine(
    "sygvd",
    (2, 2),
    lambda a, b, kind=1, upper=False, vectors=True: [
        kind, b"V" if vectors else b"N", letter(upper), a[0], Inout(0), a[0], Inout(1), a[0],
        Filled((a[0],)), Scratch(), LENGTH, Scratch(INTEGER), LENGTH, INFO,
    ],
)  # fmt: skip
gtsv_p = LapackRoutine(
    "gtsv",
    (1, 1, 1, 2),
    lambda low, d, up, b: [
        *b,
        Inout(0),
        Inout(1),
        Inout(2),
        Inout(3),
        b[0],
        INFO,
    ],
)
gbsv_p = LapackRoutine(
    "gbsv",
    (2, 2),
    lambda ab, b, below=0, above=0: [
        b[0], below, above, b[1], Inout(0), ab[0], Filled((b[0],), INTEGER), Inout(1), b[0], INFO,
    ],
)  # fmt: skip
ptsv_p = LapackRoutine(
    "ptsv",
    (1, 1, 2),
    lambda d, e, b: [*b, Inout(0), Inout(1), Inout(2), b[0], INFO],
)
pbsv_p = LapackRoutine(
    "pbsv",
    (2, 2),
    lambda ab, b, upper=True: [
        letter(upper), b[0], ab[0] - 1, b[1], Inout(0), ab[0], Inout(1), b[0], INFO,
    ],
)  # fmt: skip
gehrd_p = LapackRoutine(
    "gehrd",
    (2,),
    lambda a: [
        a[0], 1, a[0], Inout(0), a[0], Filled((max(1, a[0] - 1),)), Scratch(), LENGTH, INFO,
    ],
)  # fmt: skip
orghr_p = LapackRoutine(
    "orghr",
    (2, 1),
    lambda a, tau: [a[0], 1, a[0], Inout(0), a[0], Inout(1), Scratch(), LENGTH, INFO],
)
gees_p = LapackRoutine(
    "gees",
    (2,),
    lambda a: [  # nothing is sorted, so the third argument, a function, isn't called
        b"V", b"N", 0, a[0], Inout(0), a[0], Filled((), INTEGER), Filled((a[0],)),
        Filled((a[0],)), Filled(a), a[0], Scratch(), LENGTH, Filled((a[0],), INTEGER), INFO,
    ],
)  # fmt: skip
trsyl_p = LapackRoutine(
    "trsyl",
    (2, 2, 2),
    lambda a, b, c: [
        b"N", b"T", 1, *c, Inout(0), a[0], Inout(1), b[0], Inout(2), c[0], Filled(()), INFO,
    ],
)  # fmt: skip
syev_p = LapackRoutine(
    "syev",
    (2,),
    lambda a, upper=False: [
        b"V", letter(upper), a[0], Inout(0), a[0], Filled((a[0],)), Scratch(), LENGTH, INFO,
    ],
)  # fmt: skip

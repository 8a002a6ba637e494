"""Routines of SciPy's LAPACK, as operations of compiled programs.

SciPy's functions of matrices check their arguments in Python and then call such a routine. Machine
code calls the routine itself, and so gets the same bits. A declaration lists what the routine
takes, in its order; copying operands, memory to work in, and calls follow from that list.

Matrices are copied by columns, as LAPACK takes them; results come by columns too, so that they're
the transposes of what LAPACK calls them. The last result is `info`: 0 if the routine has done its
work, and -1000 if it wasn't called since the first operand is False or an operand isn't finite.

One declaration stands for the routines of all four types (s, d, c, z); the one that is called is
that of the operands' type. What only two of them take is marked so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..core.spec import Spec
from .inner_loops import Ingredient

UNCALLED = -1000
INTEGER = np.dtype(np.int32)
OWN, PART = "the type of the routine", "the type of its real numbers"
TYPES = {np.dtype(code): letter for code, letter in zip("fdFD", "sdcz", strict=True)}


class Inout(NamedTuple):
    """Operand k, which the routine may change: what it holds then is a result."""

    k: int


class Filled(NamedTuple):
    """A result, by columns."""

    shape: tuple[int, ...]
    dtype: Any = OWN


class Scratch(NamedTuple):
    """Memory to work in, of the length that the routine asks for."""

    dtype: Any = OWN


class OfReal(NamedTuple):
    """Arguments of the routines of real numbers alone, beside those of complex numbers."""

    arguments: list[Any]
    of_complex: list[Any]


LENGTH, INFO = "length of the last memory to work in", "info"


class LapackRoutine(Ingredient):
    """The routine of one type.

    takes: see `LapackRoutines`; cores: how many axes of each operand belong to one matrix
    """

    lower = "inner"

    def __init__(
        self, name: str, dtype: np.dtype, cores: tuple[int, ...], takes: Callable[..., list[Any]]
    ) -> None:
        super().__init__(name)
        self.dtype, self.cores, self.takes = dtype, cores, takes
        ROUTINES[name] = self

    @cached_property
    def n_out(self) -> int:  # type: ignore[override]  # counted when it is first asked
        return sum(map(is_result, self.listed([(1,) * core for core in self.cores], {})))

    def listed(self, shapes: Any, static: dict[str, Any]) -> list[Any]:
        """The arguments of the routine of this type, with dtypes."""
        found: list[Any] = []
        for x in self.takes(*shapes, **static):
            if isinstance(x, OfReal):
                found += x.of_complex if self.dtype.kind == "c" else x.arguments
            else:
                found.append(x)
        dtypes = {OWN: self.dtype, PART: real_type(self.dtype)}
        return [
            x._replace(dtype=dtypes.get(x.dtype, x.dtype)) if isinstance(x, Filled | Scratch) else x
            for x in found
        ]

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
                call(self, arguments, here, [out[(*place, ...)] for out in outs])
            else:
                outs[-1][place] = UNCALLED
        return tuple([out if out.shape else out[()] for out in outs])

    def __reduce__(self) -> Any:
        return routine_by, (self.name,)


ROUTINES: dict[str, LapackRoutine] = {}


def routine_by(name: str) -> LapackRoutine:
    """The one of a name, for records on disk."""
    return ROUTINES[name]


class LapackRoutines:
    """The routines of four types that have one name but for the first letter.

    names: of those of real numbers, and of complex ones if that is another
    takes(*shapes, **options): the arguments: the above, numbers, and letters as bytes
    """

    def __init__(
        self,
        names: str,
        cores: tuple[int, ...],
        takes: Callable[..., list[Any]],
        types: str = "fdFD",
    ) -> None:
        self.name, of_complex = (names.split() * 2)[:2]
        self.cores, self.of = cores, {}
        for dtype in map(np.dtype, types):
            name = TYPES[dtype] + (of_complex if dtype.kind == "c" else self.name)
            self.of[dtype] = LapackRoutine(name, dtype, cores, takes)
        DECLARED[self.name] = self

    def __call__(self, when: Any, *xs: Any, **static: Any) -> Any:
        dtypes = {x.dtype for x in xs if x.dtype.kind in "fc"}  # some complex ones take real ones
        if len({*map(real_type, dtypes)}) > 1:
            raise TypeError(f"`{self.name}` takes operands of one precision, not {dtypes}.")
        return self.of[np.result_type(*dtypes)](when, *xs, **static)


DECLARED: dict[str, LapackRoutines] = {}


def real_type(dtype: np.dtype) -> np.dtype:
    return np.zeros(0, dtype).real.dtype


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
        for x in routine.listed(shapes, dict(static))
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
    call(routine, asked, operands, outs)
    lengths = iter(
        [int(out.flat[0].real) for x, out in zip_results(arguments, outs) if type(x) is Scratch]
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
    """Where SciPy's LAPACK has a routine; 0 where its integers are others."""
    try:
        capsule = import_module("scipy.linalg.cython_lapack").__pyx_capi__[name]
    except (ImportError, KeyError):
        return 0
    api = ctypes.pythonapi
    named = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", api)
    )
    signature = named(capsule)
    return pointer(capsule, signature) or 0 if b" int *" in signature else 0


def call(routine: LapackRoutine, arguments: Any, operands: list[Any], outs: list[Any]) -> None:
    """Call a routine for one matrix, with its results by columns."""
    pointers, kept, left = [], [], iter(outs)
    part = real_type(routine.dtype)
    for x in arguments:
        if isinstance(x, bytes):
            kept.append(np.frombuffer(x, np.uint8))
        elif isinstance(x, int | float):
            kept.append(np.array(x, INTEGER if isinstance(x, int) else part))
        else:
            out = next(left)
            if type(x) is tuple:
                out[...] = operands[x[0]].T
            kept.append(out)
        pointers.append(ctypes.c_void_p(kept[-1].ctypes.data))
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(pointers))(address(routine.name))(*pointers)


def usable(*names: str) -> bool:
    """Whether this SciPy offers the routines of all types."""
    return all(address(x.name) for name in names for x in DECLARED[name].of.values())


def letter(upper: Any) -> bytes:
    return b"U" if upper else b"L"


# By convention n is the number of columns, and of rows where a matrix is square.


def of_factors(a: Any) -> list[Any]:
    return [*a, Inout(0), a[0], Filled((min(a),), INTEGER), INFO]


def of_symmetric_factors(a: Any, upper: bool = True) -> list[Any]:
    pivots = Filled((a[0],), INTEGER)
    return [letter(upper), a[0], Inout(0), a[0], pivots, Scratch(), LENGTH, INFO]


def of_symmetric_solution(f: Any, piv: Any, b: Any, upper: bool = True) -> list[Any]:
    return [letter(upper), *b, Inout(0), b[0], Inout(1), Inout(2), b[0], INFO]


def of_symmetric_condition(f: Any, piv: Any, norm: Any, upper: bool = True) -> list[Any]:
    n = f[0]
    return [
        letter(upper), n, Inout(0), n, Inout(1), Inout(2), Filled((), PART), Filled((2 * n,)),
        OfReal([Filled((n,), INTEGER)], []), INFO,
    ]  # fmt: skip


def of_symmetric_inverse(f: Any, piv: Any, upper: bool = True) -> list[Any]:
    return [letter(upper), f[0], Inout(0), f[0], Inout(1), Filled((2 * f[0],)), INFO]


def room_for_condition(n: int, real: int) -> OfReal:
    """What routines that estimate a condition work in."""
    return OfReal(
        [Filled((real * n,)), Filled((n,), INTEGER)], [Filled((2 * n,)), Filled((2 * n,), PART)]
    )


getrf_p = LapackRoutines("getrf", (2,), of_factors)
getrs_p = LapackRoutines(
    "getrs",
    (2, 1, 2),
    lambda lu, piv, b, trans=b"N": [trans, *b, Inout(0), b[0], Inout(1), Inout(2), b[0], INFO],
)
gecon_p = LapackRoutines(
    "gecon",
    (2, 0),
    lambda lu, norm: [
        b"1", lu[0], Inout(0), lu[0], Inout(1), Filled((), PART), room_for_condition(lu[0], 4),
        INFO,
    ],
)  # fmt: skip
potrf_p = LapackRoutines(
    "potrf", (2,), lambda a, upper=True: [letter(upper), a[0], Inout(0), a[0], INFO]
)
potrs_p = LapackRoutines(
    "potrs",
    (2, 2),
    lambda c, b, upper=True: [letter(upper), *b, Inout(0), b[0], Inout(1), b[0], INFO],
)
pocon_p = LapackRoutines(
    "pocon",
    (2, 0),
    lambda c, norm, upper=True: [
        letter(upper), c[0], Inout(0), c[0], Inout(1), Filled((), PART),
        room_for_condition(c[0], 3), INFO,
    ],
)  # fmt: skip
sytrf_p = LapackRoutines("sytrf", (2,), of_symmetric_factors)
sytrs_p = LapackRoutines("sytrs", (2, 1, 2), of_symmetric_solution)
sycon_p = LapackRoutines("sycon", (2, 1, 0), of_symmetric_condition)
sytri_p = LapackRoutines("sytri", (2, 1), of_symmetric_inverse)
hetrf_p = LapackRoutines("hetrf", (2,), of_symmetric_factors, types="FD")
hetrs_p = LapackRoutines("hetrs", (2, 1, 2), of_symmetric_solution, types="FD")
hecon_p = LapackRoutines("hecon", (2, 1, 0), of_symmetric_condition, types="FD")
hetri_p = LapackRoutines("hetri", (2, 1), of_symmetric_inverse, types="FD")


def of_syevr(
    a: Any, upper: bool = False, vectors: bool = True, part: Any = None, within: Any = None
) -> list[Any]:
    """part: the first and the last eigenvalue that are wanted, from 1; within: their limits"""
    (n, _), (first, last), (low, high) = a, part or (1, a[0]), within or (0.0, 1.0)
    z = (n, last - first + 1) if vectors else (1, 1)
    return [
        b"V" if vectors else b"N", b"I" if part else b"V" if within else b"A", letter(upper), n,
        Inout(0), n, low, high, first, last, 0.0, Filled((), INTEGER), Filled((n,), PART),
        Filled(z), z[0], Filled((2 * n,), INTEGER), Scratch(), LENGTH,
        OfReal([], [Scratch(PART), LENGTH]), Scratch(INTEGER), LENGTH, INFO,
    ]  # fmt: skip


syevr_p = LapackRoutines("syevr heevr", (2,), of_syevr)
sbevd_p = LapackRoutines(
    "sbevd hbevd",
    (2,),
    lambda ab, upper=False, vectors=True: [
        b"V" if vectors else b"N", letter(upper), ab[1], ab[0] - 1, Inout(0), ab[0],
        Filled((ab[1],), PART), Filled((ab[1],) * 2 if vectors else (1, 1)),
        ab[1] if vectors else 1, Scratch(), LENGTH, OfReal([], [Scratch(PART), LENGTH]),
        Scratch(INTEGER), LENGTH, INFO,
    ],
)  # fmt: skip
stevd_p = LapackRoutines(
    "stevd",
    (1, 1),
    lambda d, e, vectors=True: [
        b"V" if vectors else b"N", *d, Inout(0), Inout(1), Filled(d * 2 if vectors else (1, 1)),
        d[0] if vectors else 1, Scratch(), LENGTH, Scratch(INTEGER), LENGTH, INFO,
    ],
    types="fd",
)  # fmt: skip


def of_gesdd(a: tuple[int, int], job: bytes = b"A") -> list[Any]:
    (m, n), k = a, min(a)
    left = {b"A": m, b"S": k}.get(job, 0)
    right = {b"A": n, b"S": k}.get(job, 0)
    u, vh = (max(1, m if left else 1), max(1, left)), (max(1, right), max(1, n if right else 1))
    room = Filled((max(1, 7 * k, k * max(5 * k + 7, 2 * max(a) + 2 * k + 1)),), PART)
    return [
        job, m, n, Inout(0), m, Filled((k,), PART), Filled(u), u[0], Filled(vh), vh[0], Scratch(),
        LENGTH, OfReal([], [room]), Filled((8 * k,), INTEGER), INFO,
    ]  # fmt: skip


gesdd_p = LapackRoutines("gesdd", (2,), of_gesdd)


def of_gesvd(a: tuple[int, int], job: bytes = b"A") -> list[Any]:
    made = of_gesdd(a, job)
    room = Filled((max(1, 5 * min(a)),), PART)
    return [job, *made[: made.index(LENGTH) + 1], OfReal([], [room]), INFO]


gesvd_p = LapackRoutines("gesvd", (2,), of_gesvd)


def of_reflections(a: Any) -> list[Any]:
    return [*a, Inout(0), a[0], Filled((min(a),)), Scratch(), LENGTH, INFO]


def of_their_product(a: Any, tau: Any) -> list[Any]:
    return [*a, *tau, Inout(0), a[0], Inout(1), Scratch(), LENGTH, INFO]


geqrf_p = LapackRoutines("geqrf", (2,), of_reflections)
geqp3_p = LapackRoutines(
    "geqp3",
    (2, 1),
    lambda a, free: [
        *a, Inout(0), a[0], Inout(1), Filled((min(a),)), Scratch(), LENGTH,
        OfReal([], [Filled((2 * a[1],), PART)]), INFO,
    ],
)  # fmt: skip
orgqr_p = LapackRoutines("orgqr ungqr", (2, 1), of_their_product)
gelsd_p = LapackRoutines(
    "gelsd",
    (2, 2),
    lambda a, b, cond=0.0: [
        *a, b[1], Inout(0), a[0], Inout(1), b[0], Filled((min(a),), PART), float(cond),
        Filled((), INTEGER), Scratch(), LENGTH, OfReal([], [Scratch(PART)]), Scratch(INTEGER), INFO,
    ],
)  # fmt: skip
gelss_p = LapackRoutines(
    "gelss",
    (2, 2),
    lambda a, b, cond=0.0: [
        *a, b[1], Inout(0), a[0], Inout(1), b[0], Filled((min(a),), PART), float(cond),
        Filled((), INTEGER), Scratch(), LENGTH, OfReal([], [Filled((5 * min(a),), PART)]), INFO,
    ],
)  # fmt: skip
gelsy_p = LapackRoutines(
    "gelsy",
    (2, 2, 1),
    lambda a, b, free, cond=0.0: [
        *a, b[1], Inout(0), a[0], Inout(1), b[0], Inout(2), float(cond), Filled((), INTEGER),
        Scratch(), LENGTH, OfReal([], [Filled((2 * a[1],), PART)]), INFO,
    ],
)  # fmt: skip
trtrs_p = LapackRoutines(
    "trtrs",
    (2, 2),
    lambda a, b, upper=True, trans=b"N", unit=False: [
        letter(upper), trans, b"U" if unit else b"N", *b, Inout(0), b[0], Inout(1), b[0], INFO,
    ],
)  # fmt: skip
trcon_p = LapackRoutines(
    "trcon",
    (2,),
    lambda a, upper=True: [
        b"1", letter(upper), b"N", a[0], Inout(0), a[0], Filled((), PART),
        room_for_condition(a[0], 3), INFO,
    ],
)  # fmt: skip
getri_p = LapackRoutines(
    "getri",
    (2, 1),
    lambda lu, piv: [lu[0], Inout(0), lu[0], Inout(1), Scratch(), LENGTH, INFO],
)
potri_p = LapackRoutines(
    "potri", (2,), lambda c, upper=True: [letter(upper), c[0], Inout(0), c[0], INFO]
)
trtri_p = LapackRoutines(
    "trtri", (2,), lambda a, upper=True: [letter(upper), b"N", a[0], Inout(0), a[0], INFO]
)
gerqf_p = LapackRoutines("gerqf", (2,), of_reflections)
orgrq_p = LapackRoutines("orgrq ungrq", (2, 1), of_their_product)


def of_geev(a: Any, vectors: bool = True) -> list[Any]:
    (n, _), values, room = a, Filled((a[0],)), Filled((2 * a[0],), PART)
    job, v = (b"V", a) if vectors else (b"N", (1, 1))
    return [
        job, job, n, Inout(0), n, OfReal([values, values], [values]), Filled(v), v[0], Filled(v),
        v[0], Scratch(), LENGTH, OfReal([], [room]), INFO,
    ]  # fmt: skip


geev_p = LapackRoutines("geev", (2,), of_geev)


def of_ggev(a: Any, b: Any, vectors: bool = True) -> list[Any]:
    (n, _), values, room = a, Filled((a[0],)), Filled((8 * a[0],), PART)
    job, v = (b"V", a) if vectors else (b"N", (1, 1))
    return [
        job, job, n, Inout(0), n, Inout(1), n, OfReal([values, values], [values]), values,
        Filled(v), v[0], Filled(v), v[0], Scratch(), LENGTH, OfReal([], [room]), INFO,
    ]  # fmt: skip


ggev_p = LapackRoutines("ggev", (2, 2), of_ggev)


def of_gges(a: Any, b: Any) -> list[Any]:  # nothing is sorted, as by `of_gees`
    n, values = a[0], Filled((a[0],))
    return [
        b"V", b"V", b"N", 0, n, Inout(0), n, Inout(1), n, Filled((), INTEGER),
        OfReal([values, values], [values]), values, Filled(a), n, Filled(a), n, Scratch(), LENGTH,
        OfReal([], [Filled((8 * n,), PART)]), Filled((n,), INTEGER), INFO,
    ]  # fmt: skip


gges_p = LapackRoutines("gges", (2, 2), of_gges)
sygvd_p = LapackRoutines(
    "sygvd hegvd",
    (2, 2),
    lambda a, b, kind=1, upper=False, vectors=True: [
        kind, b"V" if vectors else b"N", letter(upper), a[0], Inout(0), a[0], Inout(1), a[0],
        Filled((a[0],), PART), Scratch(), LENGTH, OfReal([], [Scratch(PART), LENGTH]),
        Scratch(INTEGER), LENGTH, INFO,
    ],
)  # fmt: skip
gtsv_p = LapackRoutines(
    "gtsv",
    (1, 1, 1, 2),
    lambda low, d, up, b: [*b, Inout(0), Inout(1), Inout(2), Inout(3), b[0], INFO],
)
gbsv_p = LapackRoutines(
    "gbsv",
    (2, 2),
    lambda ab, b, below=0, above=0: [
        b[0], below, above, b[1], Inout(0), ab[0], Filled((b[0],), INTEGER), Inout(1), b[0], INFO,
    ],
)  # fmt: skip
ptsv_p = LapackRoutines(
    "ptsv", (1, 1, 2), lambda d, e, b: [*b, Inout(0), Inout(1), Inout(2), b[0], INFO]
)
pbsv_p = LapackRoutines(
    "pbsv",
    (2, 2),
    lambda ab, b, upper=True: [
        letter(upper), b[0], ab[0] - 1, b[1], Inout(0), ab[0], Inout(1), b[0], INFO,
    ],
)  # fmt: skip
pbtrf_p = LapackRoutines(
    "pbtrf",
    (2,),
    lambda ab, upper=True: [letter(upper), ab[1], ab[0] - 1, Inout(0), ab[0], INFO],
)
gehrd_p = LapackRoutines(
    "gehrd",
    (2,),
    lambda a: [
        a[0], 1, a[0], Inout(0), a[0], Filled((max(1, a[0] - 1),)), Scratch(), LENGTH, INFO,
    ],
)  # fmt: skip
orghr_p = LapackRoutines(
    "orghr unghr",
    (2, 1),
    lambda a, tau: [a[0], 1, a[0], Inout(0), a[0], Inout(1), Scratch(), LENGTH, INFO],
)


def of_gees(a: Any) -> list[Any]:
    """Nothing is sorted, so the third argument, a function, isn't called."""
    n, values = a[0], Filled((a[0],))
    return [
        b"V", b"N", 0, n, Inout(0), n, Filled((), INTEGER), OfReal([values, values], [values]),
        Filled(a), n, Scratch(), LENGTH, OfReal([], [Filled((n,), PART)]), Filled((n,), INTEGER),
        INFO,
    ]  # fmt: skip


gees_p = LapackRoutines("gees", (2,), of_gees)


def of_trsen(t: Any, z: Any, chosen: Any) -> list[Any]:
    n, values = t[0], Filled((t[0],))
    more = [Filled((), INTEGER), Filled((), PART), Filled((), PART), Filled((max(1, n),)), n]
    return [
        b"N", b"V", Inout(2), n, Inout(0), n, Inout(1), n, OfReal([values, values], [values]),
        *more, OfReal([Filled((1,), INTEGER), 1], []), INFO,
    ]  # fmt: skip


trsen_p = LapackRoutines("trsen", (2, 2, 1), of_trsen)
trsyl_p = LapackRoutines(
    "trsyl",
    (2, 2, 2),
    lambda a, b, c: [
        b"N", b"C", 1, *c, Inout(0), a[0], Inout(1), b[0], Inout(2), c[0], Filled((), PART), INFO,
    ],
)  # fmt: skip
syev_p = LapackRoutines(
    "syev heev",
    (2,),
    lambda a, upper=False: [
        b"V", letter(upper), a[0], Inout(0), a[0], Filled((a[0],), PART), Scratch(), LENGTH,
        OfReal([], [Filled((max(1, 3 * a[0] - 2),), PART)]), INFO,
    ],
)  # fmt: skip

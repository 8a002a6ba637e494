"""The C loops beneath NumPy's functions, as operations of compiled programs.

`numpy.linalg` and `numpy.fft` check their arguments in Python and then call a ufunc of matrices or
rows, whose loop calls LAPACK or pocketfft; sorting calls a function of its dtype. Machine code
calls these loops directly, without Python in between, and so gets the same bits. The trait
`composed` of a primitive states how its value is computed by them; see `Traits`.

    InnerLoop   the loop of a ufunc, for arrays of its own dtypes; not that of `eig`, since LAPACK's
                routine writes beyond its memory where an element is infinite
    Ordering    sorting along the last axis
    Assumed     a shortcut, valid under a condition that is checked when the program runs
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ..core.spec import Spec
from ..core.trace import youngest
from ..core.traits import Traits

VALUES_ALONE = ("eigvalsh_lo", "eigvalsh_up", "svd")  # computed in another way than with vectors
LINALG, FFT = "numpy.linalg._umath_linalg", "numpy.fft._pocketfft_umath"


class Ingredient(Traits):
    """An operation that occurs only inside `composed` programs: it has no derivative rules."""

    n_out: int | None = None
    lower: str | None = None  # what has no machine code is called by its value
    takes_python = False
    ours = True
    direct = True  # of plain arrays, `value` is all that a call computes
    constant = inert = False

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *xs: Any, **static: Any) -> Any:
        trace = youngest(xs)
        return self.value(*xs, **static) if trace is None else trace.process(self, xs, static)

    def value(self, *xs: Any, **static: Any) -> Any:
        raise AssertionError(f"`{self.name}` defines value")


class InnerLoop(Ingredient):
    """One ufunc of matrices or rows.

    tells: the number of the result that has a NaN where NumPy's function raises, None if it never
    does; changes: the loop writes into its first operand, a copy of which is the first result.
    Lengths that no operand has are those that `lengths` gives, else the shorter of m and n.
    """

    lower = "inner"
    without_axes = "scalar"

    def __init__(
        self, module: str, name: str, tells: int | None = None, changes: bool = False, end: str = ""
    ) -> None:
        super().__init__(name + end)
        try:
            self.ufunc = getattr(import_module(module), name, None)
        except ImportError:  # a NumPy that keeps them elsewhere
            self.ufunc = None
        self.module, self.tells, self.changes = module, tells, changes
        self.alone = name in VALUES_ALONE
        if self.ufunc is not None:
            n = self.ufunc.nout + changes
            self.n_out = n if n > 1 else None

    def cores(self) -> tuple[list[list[str]], list[list[str]]]:
        """The names of the core axes of operands and of results."""
        assert self.ufunc is not None
        text = self.ufunc.signature.replace(" ", "")
        sides = [side[1:-1].split("),(") for side in text.split("->")]
        found = [[core.split(",") if core else [] for core in side] for side in sides]
        return found[0], found[1]

    def type_number(self, dtypes: list[np.dtype]) -> int | None:
        """Which of its loops takes operands of these dtypes."""
        for i, row in enumerate(getattr(self.ufunc, "types", ())):
            if [np.dtype(c) for c in row.partition("->")[0]] == dtypes:
                return i
        return None

    def sizes(self, shapes: list[tuple[int, ...]], lengths: dict[str, int]) -> dict[str, int]:
        """The lengths of all core axes, in the order in which the signature names them."""
        found: dict[str, int] = {}
        ins, outs = self.cores()
        for core, shape in zip(ins, shapes, strict=True):
            found.update(zip(core, shape[len(shape) - len(core) :], strict=True))
        for core in outs:
            for name in core:
                if name not in found and name in lengths:
                    found[name] = lengths[name]
                elif name not in found:
                    found[name] = min(found["m"], found["n"])
        return found

    def spec(self, *specs: Any, **lengths: int) -> Any:
        ins, outs = self.cores()
        number = self.type_number([x.dtype for x in specs])
        assert number is not None, (self.name, specs)
        sizes = self.sizes([x.shape for x in specs], lengths)
        stacks = [x.shape[: len(x.shape) - len(c)] for x, c in zip(specs, ins, strict=True)]
        stack = np.broadcast_shapes(*stacks)
        assert self.ufunc is not None
        chars = self.ufunc.types[number].partition("->")[2]
        found = [
            Spec((*stack, *[sizes[name] for name in core]), np.dtype(c))
            for core, c in zip(outs, chars, strict=True)
        ]
        found = [Spec(specs[0].shape, specs[0].dtype), *found] if self.changes else found
        return found[0] if self.n_out is None else tuple(found)

    def value(self, *xs: Any, **lengths: int) -> Any:
        assert self.ufunc is not None
        if self.changes:
            first = np.array(xs[0])
            out = self.ufunc(first, *xs[1:])
            return first, *(out if type(out) is tuple else (out,))
        with np.errstate(all="ignore"):
            if not lengths:
                out = self.ufunc(*xs)
            else:
                spec = self.spec(*xs, **lengths)
                out = self.ufunc(*xs, out=np.empty(spec.shape, spec.dtype))
        if self.tells is not None:
            told = out if self.n_out is None else out[self.tells]
            if np.isnan(told).any():
                raise np.linalg.LinAlgError(f"`{self.name}` of LAPACK has no result.")
        return out

    def __reduce__(self) -> Any:
        return loop_of, (self.name,)


LOOPS = {
    loop.name: loop
    for loop in (
        *[InnerLoop(LINALG, f"eigh_{part}", tells=0) for part in ("lo", "up")],
        *[InnerLoop(LINALG, name, tells=1) for name in ("svd_s", "svd_f")],
        *[InnerLoop(LINALG, name, tells=0) for name in VALUES_ALONE],
        InnerLoop(LINALG, "qr_r_raw", changes=True),
        *[InnerLoop(LINALG, name) for name in ("qr_reduced", "qr_complete", "det", "slogdet")],
        InnerLoop(LINALG, "lstsq", tells=0),
        InnerLoop(LINALG, "inv", end=" or NaN"),
        *[InnerLoop(LINALG, name, tells=0) for name in ("solve", "inv")],
        *[InnerLoop(LINALG, f"cholesky_{part}", tells=0) for part in ("lo", "up")],
        *[InnerLoop(FFT, name) for name in ("fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft")],
    )
}


def doubled(x: Any, kind: str = "") -> Any:
    """x in the double precision in which LAPACK computes; complex at any rate if that is asked."""
    dtype = np.dtype(complex if "c" in (x.dtype.kind, kind) else float)
    return x if x.dtype == dtype else x.astype(dtype)


class Ordering(Ingredient):
    """Rows brought in order, or the indices that do so, by what NumPy calls for a dtype."""

    lower = "inner"

    def __init__(self, indices: bool, stable: bool) -> None:
        super().__init__(f"{'indices' if indices else 'rows'} in {'stable ' * stable}order")
        self.indices, self.stable = indices, stable
        self.changes = not indices

    @property
    def how(self) -> Any:
        return "stable" if self.stable else "quicksort"

    def spec(self, x: Any) -> Spec:
        return Spec(x.shape, np.intp if self.indices else x.dtype)

    def value(self, x: Any) -> Any:
        return (np.argsort if self.indices else np.sort)(x, axis=-1, kind=self.how)

    def __reduce__(self) -> Any:
        return loop_of, (self.name,)


LOOPS |= {
    order.name: order for order in [Ordering(i, s) for i in (False, True) for s in (False, True)]
}


def loop_of(name: str) -> Any:
    """The one of a name, for records on disk."""
    return LOOPS[name]


class Assumed(Ingredient):
    """(truth, *quick, *xs): the results `quick` where the truth holds, else what `instead` makes.

    `instead` gets xs; n_out: how many results there are, None for one alone
    """

    lower = None

    def __init__(self, name: str, instead: Callable[..., Any], n_out: int | None = None) -> None:
        super().__init__(name)
        self.instead, self.n_out = instead, n_out
        ASSUMING[name] = self

    def parted(self, xs: Any) -> tuple[Any, Any]:
        """The results of the shortcut, and the other operands."""
        n = 1 + (self.n_out or 1)
        return xs[1:n], xs[n:]

    def spec(self, *xs: Any, **static: Any) -> Any:
        specs = [Spec(x.shape, x.dtype) for x in self.parted(xs)[0]]
        return specs[0] if self.n_out is None else tuple(specs)

    def value(self, truth: Any, *xs: Any, **static: Any) -> Any:
        quick, rest = self.parted((truth, *xs))
        if not truth:
            return self.instead(*rest, **static)
        return quick[0] if self.n_out is None else tuple(quick)

    def __reduce__(self) -> Any:
        return assumed_by, (self.name,)


ASSUMING: dict[str, Assumed] = {}


def assumed_by(name: str) -> Assumed:
    """The one of a name, for records on disk."""
    return ASSUMING[name]


def loops(*names: str) -> bool:
    """Whether this NumPy has them."""
    return all(name in LOOPS and LOOPS[name].ufunc is not None for name in names)

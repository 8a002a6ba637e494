"""The kinds of functions in `scipy.linalg`. Their values are SciPy's, bit for bit.

    WithoutDerivative  SciPy's result, without a derivative
    Given              a decomposition with NumPy's rules, whose factors SciPy found
    Moving             SciPy's result, differentiated as a NumPy program
    System             the solution of a linear system, or of any linear equation for a matrix

In addition, `exact` gives SciPy's value the derivative of a program that computes the same.

SciPy takes stacks of matrices since 1.16; here, as in SciPy, each matrix of a stack is a separate
call. Arguments that allow SciPy to overwrite an operand are left out.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy._lib._util import _apply_over_batch

from ...core.array import Array
from ...core.cotangent import unbroadcast
from ...core.errors import ConversionError
from ...core.node import residual_of
from ...core.operands import as_array
from ...core.primitive import Primitive
from ...core.reach.session import call_outside
from ...core.registry import replaces
from ...core.spec import Spec, is_inexact, spec_of, zeros
from ...primitives.inner_loops import ASSUMING, Assumed
from ...primitives.lapack_routines import TYPES
from ...primitives.spectra import computed, stacked
from ...transforms.of_program import pulled, pushed
from ..solving.motion import scalars


def in_single(x: Any) -> Any:
    """x as it is, but half precision as single, in which SciPy's routines compute it."""
    return x.astype(np.float32) if x.dtype.char == "e" else x


def in_lapack(x: Any) -> Any:
    """x in a precision that LAPACK has: extended precision as double, half precision as single."""
    return in_double(x) if x.dtype.char in "gG" else in_single(x)


def in_double(x: Any) -> Any:
    """x in double precision, in which SciPy has some results whatever the matrix."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False)


def answers(original: Any, arrays: str = "a", apart: bool = False) -> Callable[[Any], Any]:
    """Let a function answer for one of SciPy's when Arrays are among its arguments.

    It gets the arguments named in `arrays` as arrays, and others as they were given; those that
    were left out have its own defaults.

    apart: it takes no stacks, and is called for each element of them, as SciPy does
    """
    bound, cores, flags = binding(original), elements(original), flags_of(original)
    names = arrays.split()

    def enter(implementation: Any) -> Any:
        @replaces(original)
        def implemented(*args: Any, **kwargs: Any) -> Any:
            given = bound(args, kwargs)
            for name in names:
                if given.get(name) is not None:
                    x = given[name] = as_array(given[name])
                    if cores and 0 in x.shape and not math.prod(stack_of(given, cores)):
                        raise ValueError(  # in the words of SciPy
                            f"`{original.__name__}` does not support zero-size batches."
                        )
            empty = of_nothing(original, given)
            if empty is not None:
                return empty
            for name in given.keys() & flags:
                if type(given[name]) is not bool:
                    check_flag(original.__name__, name, given[name])
            options = {key: x for key, x in given.items() if not key.startswith("overwrite")}
            stack = stack_of(given, cores) if apart else ()
            out = of_elements(implementation, options, cores, stack) if stack else None
            out = implementation(**options) if out is None else out
            return in_list(out, given, cores) if cores and type(out) is tuple else out

        return implementation

    return enter


OPTIONS = frozenset({bool, str, type(None)})  # most arguments are


def of_nothing(original: Any, given: dict[str, Any]) -> Any:
    """SciPy's own result, or error, if no argument has any number; None if one has some.

    Stacks without matrices it refuses beside others as well.
    """
    shapes = []
    for x in given.values():
        if type(x) not in OPTIONS:
            parts = x if type(x) in (tuple, list) else (x,)
            shapes += [y.shape for y in parts if type(y) is Array or isinstance(y, np.ndarray)]
    nothings = [0 in shape for shape in shapes]
    if True not in nothings:
        return None
    whole = all(nothings)
    nothing = lambda x: np.zeros(x.shape, x.dtype) if type(x) is Array else x
    plain = {
        key: type(x)(map(nothing, x)) if type(x) in (tuple, list) else nothing(x)
        for key, x in given.items()
    }
    try:
        out = original(**plain)
    except ValueError as error:
        if whole or "zero-size batches" in str(error):
            raise
        return None
    return out if whole else None


by_elements = _apply_over_batch(("a", 2))(len)


def elements(original: Any) -> dict[str, Any]:
    """The ranks of one element of what SciPy goes through element by element, if it does."""
    if getattr(original, "__code__", None) is not by_elements.__code__:
        return {}
    inside = inspect.getclosurevars(original).nonlocals
    return dict(zip(inside["names"], inside["ndims"], strict=True))


def flags_of(original: Any) -> set[str]:
    """The arguments that are True or False by default."""
    parameters = inspect.signature(original).parameters.values()
    return {x.name for x in parameters if type(x.default) is bool}


def check_flag(function: str, name: str, x: Any) -> None:
    """Refuse what is no truth value.

    SciPy hands many flags to LAPACK, which refuses most such values, and takes others as Python
    wouldn't: (0,) as False, 0.5 as False.
    """
    if x is None or isinstance(x, np.bool_) or (np.ndim(x) == 0 and x in (0, 1)):
        return
    raise TypeError(f"`scipy.linalg.{function}` takes True or False for `{name}`, not {x!r}.")


def stack_of(given: dict[str, Any], cores: dict[str, Any]) -> tuple[int, ...]:
    """The shape of the stack that the arguments make together; () if there is none."""
    stack: tuple[int, ...] = ()
    for name, core in cores.items():
        if given.get(name) is not None:
            stack = np.broadcast_shapes(stack, stack_in(given[name], core))
    return stack


def stack_in(x: Any, core: Any) -> tuple[int, ...]:
    shape = np.shape(x)
    return shape[: len(shape) - (min(len(shape), 2) if core == "1|2" else core)]


def of_elements(call: Any, options: dict[str, Any], cores: Any, stack: tuple[int, ...]) -> Any:
    """The results for each element of stacks, stacked."""
    arrays = {}
    for name, core in cores.items():
        if options.get(name) is not None:
            x = as_array(options[name])
            own = x.shape[len(stack_in(x, core)) :]
            arrays[name] = np.broadcast_to(x, stack + own)
    rows = [
        call(**options | {name: x[index] for name, x in arrays.items()})
        for index in np.ndindex(stack)
    ]
    columns = zip(*rows, strict=True)
    return tuple([np.full(stack, None) if c[0] is None else restacked(c, stack) for c in columns])


def in_list(out: tuple[Any, ...], given: dict[str, Any], cores: dict[str, Any]) -> Any:
    """The results as SciPy returns them: those of stacks in a list, each of them one array."""
    stack = stack_of(given, cores)
    if not stack:
        return out
    parts = [np.stack(x, axis=len(stack)) if type(x) is tuple else x for x in out]
    parts = [x if np.ndim(x) else np.full(stack, x) for x in parts]
    return parts[0] if len(parts) == 1 else parts


def counted(n: Any) -> Any:
    """A number of something, which is Python's where it is of one matrix."""
    try:
        return n if np.ndim(n) else int(n)
    except ConversionError:  # mapped
        return n


def binding(original: Any) -> Callable[[Any, Any], dict[str, Any]]:
    """`inspect.signature(original).bind`, and a quick way for calls that are plainly right."""
    signature = inspect.signature(original)
    parameters = signature.parameters.values()
    ordered = [x for x in parameters if x.kind is x.POSITIONAL_OR_KEYWORD]
    names = [x.name for x in ordered]
    rest = {x.name for x in parameters if x.kind is x.KEYWORD_ONLY}
    needed = sum(x.default is x.empty for x in ordered)
    simple = len(names) + len(rest) == len(parameters)

    def bound(args: Any, kwargs: Any) -> dict[str, Any]:
        n = len(args)
        later = {*names[n:], *rest}
        if simple and needed <= n <= len(names) and kwargs.keys() <= later:
            return {**dict(zip(names, args, strict=False)), **kwargs}
        return dict(signature.bind(*args, **kwargs).arguments)

    return bound


# Stacks of matrices.


def over_stacks(call: Callable[..., Any], xs: Any, cores: Any, empty: Callable[[], Any]) -> Any:
    """Apply call(*xs) to each element of stacks, and stack the results.

    cores: the number of dimensions of an element of each operand.
    """
    ranks = [x.ndim - core for x, core in zip(xs, cores, strict=True)]
    if not any(ranks):
        return as_arrays(call(*xs))
    stack = np.broadcast_shapes(*[x.shape[:rank] for x, rank in zip(xs, ranks, strict=True)])
    xs = [np.broadcast_to(x, stack + x.shape[r:]) for x, r in zip(xs, ranks, strict=True)]
    rows = [as_arrays(call(*[x[index] for x in xs])) for index in np.ndindex(stack)]
    if not rows:
        return empty()
    if type(rows[0]) is not tuple:
        return restacked(rows, stack)
    return tuple([restacked(part, stack) for part in zip(*rows, strict=True)])


def restacked(parts: Any, stack: tuple[int, ...]) -> Any:
    out = np.stack(parts)
    return np.reshape(out, stack + out.shape[1:])


def as_arrays(out: Any) -> Any:
    return tuple([as_arrays(x) for x in out]) if isinstance(out, (tuple, list)) else np.asarray(out)


REAL, LAPACK_TYPES = np.dtype(float), {*TYPES}


class SciPysCall(Assumed):
    """A shortcut in place of a call of SciPy, which is made where the shortcut may not hold."""

    def __reduce__(self) -> Any:
        return shortcut_by, (self.name,)


def shortcut_by(name: str) -> Assumed:
    """The one of a name, for records on disk."""
    for module in ("shortcuts", "by_routines"):
        import_module(f"{__package__}.{module}")
    return ASSUMING[name]


class OfMatrices(Primitive):
    """A primitive whose value is that of SciPy's function for each matrix of a stack.

    found(*xs, **static) calls SciPy, and shape(*xs, **static) gives the specs of one element's
    results, from specs; cores are the ranks of one element of each operand.
    """

    cores: tuple[int, ...] = (2,)
    found: Callable[..., Any]
    shape: Callable[..., Any]
    quick: Callable[..., Any] | None = None
    shortcut: Assumed

    def by(self, quick: Callable[..., Any]) -> OfMatrices:
        """Let compiled programs compute quick(*xs, **static), a NumPy program, instead.

        It gives the result, or a tuple of results, and conditions under which SciPy would neither
        refuse nor warn, beside numbers that are all finite; NotImplemented if SciPy's function is
        to be called. Operands have one of LAPACK's types; integers are made real.
        """
        self.quick = quick
        self.shortcut = SciPysCall(f"{self.name} in doubt", self.value, self.n_out)
        return self

    def composed(self, *xs, **static):
        moving = [x for i, x in enumerate(xs) if i not in self.nondiff]
        dtypes = {x.dtype if x.dtype.kind in "fc" else REAL for x in moving}
        known = all(x.size and x.dtype.kind in "ifc" for x in xs)
        if self.quick is None or not known or len(dtypes) > 1 or not dtypes <= LAPACK_TYPES:
            return NotImplemented
        whole = [x.dtype.kind == "i" and i not in self.nondiff for i, x in enumerate(xs)]
        reals = [x.astype(REAL) if cast else x for x, cast in zip(xs, whole, strict=True)]
        made = self.quick(*reals, **static)
        if made is NotImplemented:
            return made
        found, *conditions = made
        outs = found if type(found) is tuple else (found,)
        conditions += [np.all(np.isfinite(x)) for x in (*outs, *xs) if x.dtype.kind in "fc"]
        return self.shortcut(reduce(np.logical_and, conditions), *outs, *xs, **static)

    def value(self, *xs, **static):
        if [x.ndim for x in xs] == [*self.cores]:
            out = call_outside(self.found, xs, static)
            done = all(map(is_settled, out)) if type(out) is tuple else is_settled(out)
            return out if done else scalars(as_arrays(out))
        out = over_stacks(
            lambda *xs: call_outside(self.found, xs, static),
            xs,
            self.cores,
            lambda: blank(self.spec(*map(spec_of, xs), **static)),
        )
        return scalars(out)

    def spec(self, *xs, **static):
        ranks = [len(x.shape) - core for x, core in zip(xs, self.cores, strict=True)]
        stack = np.broadcast_shapes(*[x.shape[:r] for x, r in zip(xs, ranks, strict=True)])
        out = self.shape(
            *[Spec(x.shape[r:], x.dtype) for x, r in zip(xs, ranks, strict=True)], **static
        )
        if type(out) is tuple:
            return tuple([Spec(stack + s.shape, s.dtype) for s in out])
        return Spec(stack + out.shape, out.dtype)

    def batch(self, xs, mapped, size, **static):
        return self(*stacked(xs, mapped, self.cores), **static)


def is_settled(out: Any) -> bool:
    """Whether a result is an array, or one of NumPy's numbers."""
    return out.ndim > 0 if type(out) is np.ndarray else isinstance(out, np.generic)


def blank(specs: Any) -> Any:
    return tuple(map(zeros, specs)) if type(specs) is tuple else zeros(specs)


def square(a: Any, **static: Any) -> Spec:
    """The spec of a result like the first operand."""
    return Spec(a.shape, computed(a))


class WithoutDerivative(OfMatrices):
    """SciPy's result without a derivative."""

    inert = True
    reads = ""

    def __init__(
        self,
        name: str,
        found: Callable[..., Any],
        shape: Callable[..., Any] = square,
        cores: tuple[int, ...] = (2,),
        n_out: int | None = None,
    ) -> None:
        self.found, self.shape, self.cores, self.n_out = found, shape, cores, n_out
        super().__init__(name)

    def jvp(self, out, xs, x_dots, **static):
        return None if self.n_out is None else (None,) * self.n_out

    def vjp(self, out_bar, residual, wanted):
        return [None] * len(wanted)


class Given(Primitive):
    """A decomposition whose factors, found by SciPy, are operands after the matrix.

    Mix it in before the class that has the rules.
    """

    cores: tuple[int, ...]
    n_shown: int | None = None  # all of them are made from the given factors
    results: Callable[..., Any]

    def value(self, a, *operands, **static):
        n = len(self.cores) - 1
        more = {"faced": operands[n:]} if operands[n:] else {}
        return self.results(a, *[np.array(x) for x in operands[:n]], **more)

    def composed(self, a, *operands, **static):
        """The factors are there."""
        faced = operands[len(self.cores) - 1 :]
        return NotImplemented if faced else self.framed(a, *operands)  # type: ignore[attr-defined]  # of the class behind

    def spec(self, a, *factors, **static):
        return super().spec(a, **static)  # type: ignore[misc]  # of the class behind

    def jvp(self, out, xs, x_dots, **static):
        return super().jvp(out, xs[:1], x_dots[:1], **static)  # type: ignore[misc]  # of the class behind

    def vjp(self, bars, residual, wanted):
        of_matrix = residual_of(self, residual.out, residual.xs[:1], residual.static)
        (a_bar,) = super().vjp(bars, of_matrix, wanted[:1])  # type: ignore[misc]  # of the class behind
        return [a_bar, *[None] * (len(wanted) - 1)]

    def batch(self, xs, mapped, size, **static):
        cores = (*self.cores, *[2] * (len(xs) - len(self.cores)))
        return self(*stacked(xs, mapped, cores), **static)


# Derivatives from a program.


class Moving(OfMatrices):
    """SciPy's result, with the derivative of motion(out, at, *xs) at xs = at.

    motion is a NumPy program of which only the derivative with respect to xs counts: it may be any
    program with the right one, and read the result and where it was found. Of several results it
    gives the floating ones, which come first.
    """

    reads = "out xs"

    def __init__(
        self,
        name: str,
        found: Callable[..., Any],
        motion: Callable[..., Any],
        shape: Callable[..., Any] = square,
        cores: tuple[int, ...] = (2,),
        n_out: int | None = None,
        nondiff: tuple[int, ...] = (),
    ) -> None:
        self.found, self.motion, self.shape, self.cores = found, motion, shape, cores
        self.n_out, self.nondiff = n_out, nondiff
        super().__init__(name)

    def jvp(self, out, xs, x_dots, **static):
        motion = lambda *moving: self.motion(out, xs, *moving, **static)
        return pushed(motion, xs, x_dots, self.n_out)

    def vjp(self, out_bar, residual, wanted):
        out, xs, static = residual.out, residual.xs, residual.static
        if self.n_out is not None:
            out_bar = [bar for bar, x in zip(out_bar, out, strict=True) if is_inexact(x.dtype)]
        return pulled(lambda *moving: self.motion(out, xs, *moving, **static), xs, wanted, out_bar)


class System(OfMatrices):
    """x of a linear equation A x = b, where parts before b say what A is.

    found(*parts, b, **static)      SciPy's solution
    times(*parts, x, **static)      A x
    turned(*parts, **static)        parts and static arguments of the transpose of A
    later                           static arguments that hold in rules
    parts_of(*parts, x, bar, **static)   the cotangents of the parts, from that of A x; without
                                    it they are derived from `times`, which takes longer
    """

    reads = "out xs"

    def __init__(
        self,
        name: str,
        found: Callable[..., Any],
        times: Callable[..., Any],
        turned: Callable[..., Any],
        cores: tuple[int, ...] = (2, 2),
        nondiff: tuple[int, ...] = (),
        later: Mapping[str, Any] = MappingProxyType({}),
        parts_of: Callable[..., Any] | None = None,
    ) -> None:
        self.parts_of = parts_of
        self.found, self.times, self.turned = found, times, turned
        self.cores, self.nondiff, self.later = cores, nondiff, later
        super().__init__(name)

    def shape(self, *xs, **static):
        floats = [x for i, x in enumerate(xs) if i not in self.nondiff]
        return Spec(xs[-1].shape, computed(*floats))

    def jvp(self, out, xs, x_dots, **static):
        *parts, _ = xs
        *part_dots, right = x_dots
        if any(dot is not None for dot in part_dots):
            moved = pushed(lambda *parts: self.times(*parts, out, **static), parts, part_dots)
            right = -moved if right is None else right - moved
        return np.broadcast_to(self(*parts, right, **{**static, **self.later}), out.shape)

    def vjp(self, out_bar, residual, wanted):
        *parts, b = residual.xs
        out, static = residual.out, residual.static
        others, options = self.turned(*parts, **static)
        b_bar = self(*others, out_bar, **{**options, **self.later})
        part_bars = [None] * len(parts)
        if any(wanted[:-1]) and self.parts_of is not None:
            bars = self.parts_of(*parts, out, -b_bar, **static)
            part_bars = [unbroadcast(*pair) for pair in zip(bars, parts, strict=True)]
        elif any(wanted[:-1]):
            part_bars = pulled(
                lambda *parts: self.times(*parts, out, **static), parts, wanted[:-1], -b_bar
            )
        return [*part_bars, unbroadcast(b_bar, b)]

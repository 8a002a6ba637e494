"""Integrals: the derivative is another integral, plus one term per differentiated limit.

    d/dtheta int_a^b f(x, theta) dx = int_a^b f_theta dx + f(b) b' - f(a) a'

So the derivative has its own adaptive subdivision, for any order. The integrand is recorded once
for all x or, if it branches on values (`if x > k`), once per sequence of outcomes. If there are too
many such sequences, the integral is summed over a subdivision, which then moves with the limits.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from operator import index
from typing import Any

import numpy as np
from scipy import LowLevelCallable, integrate, special
from scipy.integrate import _tanhsinh

from ...core.array import Array, peel
from ...core.errors import ConversionError, MissingRuleError, SolverError
from ...core.kinds import Elementwise
from ...core.operands import as_array, holds_live
from ...core.reach.call_tables import CALLS
from ...core.rules import ZERO
from ...core.spec import spec_of
from ...core.temporary import during
from ...core.trace import derivatives_of, is_live
from ...primitives.arguments import everywhere
from ...primitives.elementwise import stopped
from ...primitives.exact import constant, exact, like
from ...primitives.selecting import where_p
from ...transforms.call import floating, stop_gradient
from ...transforms.examples import mapping
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged, example
from ...transforms.reverse import vjp
from ..optimization.roots import OfEachExample
from ..solving.branches import BranchingFunction, bare, settled
from ..solving.in_c import in_c
from ..solving.plain import Examples, PlainValues, number, shallow, solve
from ..solving.serving import serves, serves_method, traced
from ..solving.undetermined import undetermined
from .integrand import Integrand, accurate, marks_of
from .jumps import Jumps, attempt, replaced
from .subdivision import BRIEF, Range
from .sums import summed
from .surfaces import OverRange, SurfacesOf, aside

# How many numbers inside of a limit it is sure, also if it is rounded, on which side of a jump one
# is; and how many more show how the integrand goes on.
NEAR, LATER = 2**12, 2**34

NEGLIGIBLE, SHORE = 1e-250, 1e-3  # so small is 0 on the way to infinity, where x is larger

WEIGHTS: dict[str, Callable[..., Any]] = {
    "cos": lambda x, wvar: np.cos(wvar * x),
    "sin": lambda x, wvar: np.sin(wvar * x),
    "cauchy": lambda x, wvar: 1 / (x - wvar),
}


def in_tail(value: Any, x: Any) -> Any:
    """Whether an integrand has this negligible value on the way to infinity."""
    return (np.abs(value) < NEGLIGIBLE) & (np.abs(x) > SHORE)


is_tail = Elementwise(in_tail, ZERO, ZERO, name="is_tail")
is_tail.constant = True


class Integral:
    """An integral over one variable, as one operation on its limits and its integrand's operands.

    how: what computes the integral again, for other values or of the derivative
    of_derivative: whether the integrand is a derivative itself
    """

    def __init__(
        self,
        name: str,
        fun: Callable[..., Any],
        a: Any,
        b: Any,
        how: Any,
        of_derivative: bool = False,
    ) -> None:
        self.name, self.fun, self.limits, self.how = name, fun, (a, b), how
        self.of_derivative = of_derivative
        self.moves = (is_live(a), is_live(b))

    def recorded(self) -> BranchingFunction:
        domain = Range(*self.limits)
        program = BranchingFunction(lambda x: as_array(self.fun(x)), domain.inner())
        if program.chooses:
            if any(mapping(x) is not None for x in self.limits):
                raise ConversionError(branching(self.name))  # branches go by the first example's
            Integrand(program, None).look(domain, self.how.marks(domain))
        program.seal()
        return program

    def result(self, results: Any, failure: str | None = None) -> Any:
        """(value, error); results: those of SciPy's call, None if it cannot be made here."""
        program = self.recorded()
        theta = program.theta
        surfaces = SurfacesOf(program, any(map(derivatives_of, theta)), self.of_derivative)

        def run(*xs: Any) -> tuple[Any, ...]:
            plain = not any(type(x) is Array for x in xs)
            if first and plain and all(map(np.array_equal, first, xs)):
                return tuple([np.copy(x)[()] for x in results])
            value = settled(lambda: self.again(surfaces, xs))
            return value, np.zeros_like(np.real(value))[..., None].sum()

        def check() -> None:
            if failure is not None:
                raise SolverError(f"`{self.name}` did not converge: {failure}")

        def push(xs: Any, outs: Any, x_dots: Any) -> Any:
            check()
            return settled(lambda: self.push(surfaces, xs, x_dots)), None

        def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
            check()
            if out_bars[0] is None:
                return [None] * len(xs)
            return settled(lambda: self.pull(surfaces, xs, out_bars[0]))

        xs = [*theta, *[as_float(x) for x in self.limits]]
        # A record is done again with the same values, and returns what SciPy found.
        first = list[Any]()
        if results is None:
            results = run(*map(bare, xs))
        elif not any(type(x) is Array for x in results):
            first = [peel(x) for x in xs]
        call = OverRange(self.name, run, push, pull, xs, results, reads="xs")
        call.surfaces = surfaces
        return call(*xs)

    def again(self, surfaces: SurfacesOf, xs: Any) -> Any:
        """The value, computed here; between the edges of operations, if it is none without them.

        An integral inside leaves that to this one, which it tells so by NaN.
        """
        program, p = surfaces.program, len(surfaces.program.theta)
        of = lambda found: self.how.again(Integrand(program, xs[:p], found.moving()), *xs[p:])
        if not self.of_derivative or surfaces.moves or BRIEF.get():
            return of(surfaces)
        with suppress(SolverError), during(BRIEF, True):
            value = of(surfaces)
            if np.all(np.isfinite(peel(value))):
                return value
        return of(SurfacesOf(program, True, True))

    def edge(self, program: Any, x: Any, other: Any, parts: Any) -> Any:
        """The integrand at a limit, coming from inside: it may jump or have a kink there.

        At a pole it is what it is at the limit, and so it is where it grows as a root does, by
        far more on the first way inside than in proportion to a longer one. At infinity it is 0.
        """
        step = np.nextafter(stopped(x), stopped(other)) - stopped(x)
        at, near, later = [
            self.how.weighted(program([x + n * step], parts), x + n * step)
            for n in (0, NEAR, LATER)
        ]
        values = [aside(x) for x in (at, near, later)]
        first, rest = np.abs(values[1] - values[0]), np.abs(values[2] - values[1])
        is_root = (first > 10 * NEAR / LATER * rest) & (first < rest)
        edge = np.where(np.isfinite(values[0]) & ~is_root, near, at)
        return np.where(np.isinf(stopped(x)), 0.0, edge)

    def to_the_tail(self, x: Any, value: Any, slope: Any) -> Any:
        """A slope of the integrand; 0 on the way to infinity where the integrand is as good as 0.

        There it is less still, and comes as 0 * inf where a part has overflowed, as the exponent
        of exp(-a * expm1(x)).
        """
        if all(np.all(np.isfinite(example(limit))) for limit in self.limits):
            return slope
        return where_p(is_tail(aside(value), aside(x)), 0.0, slope)

    def push(self, surfaces: SurfacesOf, xs: Any, x_dots: Any) -> Any:
        """The integral of the tangent, and what the limits sweep."""
        program, total = surfaces.program, None
        p = len(program.theta)
        at = [i for i in range(p) if x_dots[i] is not None]
        if at:

            def along(x: Any) -> Any:
                def of_moving(*moving: Any) -> Any:
                    return program([x], replaced(xs[:p], at, moving))

                found = jvp(of_moving, [xs[i] for i in at], [x_dots[i] for i in at])
                return self.to_the_tail(x, *found)

            total = self.how.repeat(along, *xs[p:])
            jumps = Jumps(surfaces, at, self.how)
            more = jumps.push(xs, at, [x_dots[i] for i in at]) if jumps else None
            total = total if more is None else total + more
        for i, sign, moving in zip((p, p + 1), (-1, 1), self.moves, strict=True):
            if moving and x_dots[i] is not None:
                edge = self.edge(program, xs[i], xs[p + (i == p)], xs[:p])
                term = sign * edge * x_dots[i]
                total = term if total is None else total + term
        return total

    def pull(self, surfaces: SurfacesOf, xs: Any, bar: Any) -> list[Any]:
        """The integral of the slopes, and the integrand at limits that move."""
        program, p = surfaces.program, len(surfaces.program.theta)
        at, x_bars = floating(xs[:p]), list[Any]([None] * len(xs))
        if at:

            def slopes(x: Any) -> Any:
                def of_moving(*moving: Any) -> Any:
                    return program([x], replaced(xs[:p], at, moving))

                value, pullback = vjp(of_moving, *[xs[i] for i in at])
                slopes = np.concatenate([np.ravel(part) for part in pullback(bar)])
                return self.to_the_tail(
                    x, value if np.ndim(value) == 0 else np.max(np.abs(value)), slopes
                )

            flat, start = self.how.repeat(slopes, *xs[p:]), 0
            for i in at:
                size = int(np.size(xs[i]))
                x_bars[i] = np.reshape(flat[start : start + size], np.shape(xs[i]))
                start += size
            jumps = Jumps(surfaces, at, self.how)
            added = jumps.pull(xs, at, bar) if jumps else None
            for i, more in zip(at, added or [], strict=False):
                x_bars[i] = x_bars[i] + more
        for i, sign, moving in zip((p, p + 1), (-1, 1), self.moves, strict=True):
            if moving:
                x_bars[i] = sign * np.sum(bar * self.edge(program, xs[i], xs[p + (i == p)], xs[:p]))
        return x_bars


def branching(name: str) -> str:
    return (
        f"`{name}` under `vmap` needs an integrand that doesn't branch on values, or one that"
        " stores nothing.\n  Choose with `np.where(condition, a, b)` instead of `if`."
    )


def as_float(x: Any) -> Any:
    return x if type(x) is Array else np.float64(x)


def served(name: str, fun: Any, a: Any, b: Any, how: Any, found: Examples | None) -> Any:
    """(value, error) of SciPy's results, with derivatives."""
    integral = Integral(name, fun, a, b, how)
    if found is None:
        return integral.result(None)
    results = (found.of(lambda r: number(r[0])), found.of(lambda r: number(r[1])))
    failure = next((how.failure(r) for r in found.results if how.failure(r)), None)
    try:
        return integral.result(results, failure)
    except Unstaged:
        if found.traces:
            raise ConversionError(branching(name)) from None
        return how.summed(fun, a, b, results), results[1]


# quad and quad_vec.


class ScalarQuadrature:
    """How `quad` integrates."""

    ROUNDING = "The occurrence of roundoff error"  # the result is as good as it can be

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.weight, self.wvar = options.get("weight"), options.get("wvar")

    def compute(self, fun: Any, a: Any, b: Any, values: PlainValues) -> Any:
        options = {**values.tree(self.options), "full_output": True}
        return integrate.quad(fun, a, b, **options)

    def failure(self, result: Any) -> str | None:
        message = result[3] if len(result) > 3 else ""
        return None if not message or message.startswith(self.ROUNDING) else str(message)

    def marks(self, domain: Range) -> Any:
        return marks_of(domain, self.options.get("points"))

    def weighted(self, y: Any, x: Any) -> Any:
        """The integrand at a limit that moves."""
        if self.weight is None:
            return y
        return y * WEIGHTS[self.weight](x, self.wvar)

    def again(self, fun: Any, a: Any, b: Any) -> Any:
        if self.weight is None:
            return accurate(fun, a, b, self.options.get("points"))

        def call(values: PlainValues) -> Any:
            plain = values.tree(fun)
            return self.compute(plain, values.of(a), values.of(b), values)[0]

        return solve(call).of(np.float64)

    def repeat(self, fun: Any, a: Any, b: Any) -> Any:
        if self.weight is None:
            return derived(fun, a, b, self.options.get("points"))
        shape = spec_of(fun(np.float64(0.5))).shape
        how = ScalarQuadrature({"weight": self.weight, "wvar": self.wvar})
        one = lambda part: of_derivative(part, a, b, how)
        if not shape:
            return as_float(one(fun)[0])
        return np.stack([one(lambda x, i=i: fun(x)[i])[0] for i in range(shape[0])])

    def summed(self, fun: Any, a: Any, b: Any, results: Any) -> Any:
        if self.weight is not None:
            raise MissingRuleError(
                "`scipy.integrate.quad` with a weight needs an integrand without questions to"
                " values of x.\n  Choose with `np.where(condition, a, b)` instead of `if`."
            )
        value, error = results
        return summed(fun, a, b, value, error, "quad", self.options.get("points"))


class Vector:
    """How `quad_vec` integrates."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def compute(self, fun: Any, a: Any, b: Any, values: PlainValues) -> Any:
        options = {**values.tree(self.options), "full_output": True}
        return integrate.quad_vec(fun, a, b, **options)

    def failure(self, result: Any) -> str | None:
        return None if result[2].success else str(result[2].message)

    def marks(self, domain: Range) -> Any:
        return marks_of(domain, self.options.get("points"))

    def weighted(self, y: Any, x: Any) -> Any:
        return y

    def again(self, fun: Any, a: Any, b: Any) -> Any:
        return accurate(fun, a, b, self.options.get("points"))

    def repeat(self, fun: Any, a: Any, b: Any) -> Any:
        return derived(fun, a, b, self.options.get("points"))

    def summed(self, fun: Any, a: Any, b: Any, results: Any) -> Any:
        value, error = results
        return summed(fun, a, b, value, error, "quad_vec", self.options.get("points"))


def derived(fun: Any, a: Any, b: Any, points: Any) -> Any:
    """The integral of a derivative: an integral like others, but not requested from SciPy."""
    how = Vector({} if points is None else {"points": points})
    return of_derivative(fun, a, b, how)[0]


def of_derivative(fun: Any, a: Any, b: Any, how: Any) -> Any:
    name = "the derivative of an integral"
    return Integral(name, fun, a, b, how, of_derivative=True).result(None)


def with_fixed_weight(fun: Any, a: Any, b: Any, weight: Any, wvar: Any) -> Any:
    """Integrand, limits and parameter of the same integral with a constant weight.

    With w for the parameter and w0 for its value, cos(w x) is cos(w0 u) for x = u w0 / w, and
    1 / (x - w) is 1 / (u - w0) for x = u + w - w0.
    """
    at = stop_gradient(wvar)
    if weight == "cauchy":
        by, scale = wvar - at, 1.0
    else:
        by, scale = 0.0, at / wvar
    limits = [x if known_infinite(x) else (x - by) / scale for x in (a, b)]
    return lambda u, *args: scale * fun(u * scale + by, *args), *limits, at


def algebraic(fun: Any, a: Any, b: Any, weight: str, wvar: Any) -> Any:
    """The integral of fun(x) (x - a)**p (b - x)**q, and of that by logarithms of the factors.

    With x - a = (b - a) / (1 + exp(-t)) the weight is smooth for all t, and decays on both sides.
    SciPy turns a range around of which the end is less than the start.
    """
    sign, a, b = np.where(b < a, -1.0, 1.0), np.minimum(a, b), np.maximum(a, b)
    (p, q), length = wvar, b - a

    def integrand(t: Any) -> Any:
        left, right = special.log_expit(t), special.log_expit(-t)
        y = fun(a + length * special.expit(t)) * np.exp((p + 1) * left + (q + 1) * right)
        if weight in ("alg-loga", "alg-log"):
            y = y * (np.log(length) + left)
        if weight in ("alg-logb", "alg-log"):
            y = y * (np.log(length) + right)
        return y

    return sign * length ** (1 + p + q) * quad(integrand, -np.inf, np.inf, limit=200)[0]


def known_infinite(x: Any) -> bool:
    return not is_live(x) and bool(np.isinf(x))


NAMES = ("full_output", "epsabs", "epsrel", "limit", "points", "weight", "wvar", "wopts",
         "maxp1", "limlst", "complex_func")  # fmt: skip


# The base of ctypes' functions is private.
COMPILED = (ctypes._CFuncPtr, LowLevelCallable)  # type: ignore[attr-defined]  # private


def by_pieces(one: Callable[..., Any], a: Any, b: Any, points: Any) -> Any:
    """The sum of one(low, high) from point to point: jumps and kinks move with the points."""
    ahead = np.where(as_array(a) <= b, 1.0, -1.0)
    inside = np.clip(np.ravel(as_array(points)), np.minimum(a, b), np.maximum(a, b))
    ends = [a, *(ahead * np.sort(ahead * inside)), b]
    return sum(one(low, high) for low, high in pairwise(ends))


def differentiated(
    func: Any, a: Any, b: Any, args: Any, options: dict[str, Any], found: Examples | None
) -> tuple[Any, Any]:
    """What `quad` has found, and its error, with derivatives."""
    how = ScalarQuadrature(options)
    value, error = served("quad", lambda x: func(x, *args), a, b, how, found)
    if found is not None and holds_live(options.get("points")):
        rest = {key: x for key, x in options.items() if key != "points"}
        one = lambda low, high: quad(func, low, high, args, **rest)[0]
        of_pieces = by_pieces(one, a, b, options["points"])
        value = exact(found.of(lambda r: np.float64(r[0])), of_pieces)
    return like(0.0, constant(value)), like(0.0, error)


@serves(integrate.quad)
def quad(func: Any, a: Any, b: Any, args: Any = (), *more: Any, **options: Any) -> Any:
    options.update(zip(NAMES, more, strict=False))
    full, whole = index(options.pop("full_output", 0)), options.pop("complex_func", False)
    args = args if isinstance(args, tuple) else (args,)
    if isinstance(func, COMPILED):
        if not holds_live((a, b, *args, *options.values())):
            return integrate.quad(func, a, b, args, full, complex_func=whole, **options)
        raise ConversionError(
            "`scipy.integrate.quad` was given a compiled integrand, which takes plain numbers, and"
            " a limit or an argument that carries a derivative.\n"
            "  Pass a Python function of the same arguments, written with NumPy's functions."
        )
    weight, wvar = str(options.get("weight")), options.get("wvar")
    powers = wvar is not None and weight.startswith("alg") and holds_live((a, b, *wvar))
    if holds_live(wvar) and not powers:
        func, a, b, options["wvar"] = with_fixed_weight(func, a, b, weight, wvar)
    if whole:
        real = quad(lambda x: np.real(func(x, *args)), a, b, full_output=full, **options)
        imag = quad(lambda x: np.imag(func(x, *args)), a, b, full_output=full, **options)
        parts = (real[0] + 1j * imag[0], real[1] + 1j * imag[1])
        return (*parts, {"real": real[2:], "imag": imag[2:]}) if full else parts
    how = ScalarQuadrature(options)

    def call(values: PlainValues) -> Any:
        given, low, high = values.tree((args, a, b))
        fun = values.tree(func)
        with in_c(fun, given, 1) as compiled:
            return how.compute(compiled or (lambda x: fun(x, *given)), low, high, values)

    found = attempt(call)
    if found is not None:
        message = how.failure(found.first) or (found.first[3:4] or (None,))[0]
        if message and not full:
            warnings.warn(str(message), integrate.IntegrationWarning, stacklevel=2)
        if not found.live:
            return found.first if full else found.first[:2]
    if powers:
        value, error = algebraic(lambda x: func(x, *args), a, b, weight, wvar), np.float64(np.nan)
        if found is not None:
            value = exact(found.of(lambda r: np.float64(r[0])), value)
            error = found.of(lambda r: np.float64(r[1]))
        value, error = like(0.0, constant(value)), like(0.0, error)
    else:
        value, error = differentiated(func, a, b, args, options, found)
    if not full or found is None:
        return value, error
    further = [found.part(i) for i in range(2, len(found.first))]
    info = [undetermined(part, (value,), "infodict", "quad") for part in further]
    return (value, error, *info)


def reported(found: Examples) -> Any:
    """What `quad_vec` tells of its work: numbers of all examples, and arrays if they are alike."""
    if not found.traces:
        return found.first[2]
    info, all_info = shallow(found.first[2]), [vars(r[2]) for r in found.results]
    for name, x in vars(info).items():
        if isinstance(x, (int, np.ndarray)):
            parts = [told[name] for told in all_info]
            alike = len(set(map(np.shape, parts))) == 1
            vars(info)[name] = found.stacked(parts) if alike else OfEachExample(name)
    return info


VECTOR_NAMES = ("epsabs", "epsrel", "norm", "limit", "workers", "points", "quadrature",
                "full_output")  # fmt: skip


@serves(integrate.quad_vec)
def quad_vec(f: Any, a: Any, b: Any, *more: Any, **options: Any) -> Any:
    options.update(zip(VECTOR_NAMES, more, strict=False))
    full, args = options.pop("full_output", False), options.pop("args", ())
    how = Vector(options)

    def call(values: PlainValues) -> Any:
        given, low, high = values.tree((args, a, b))
        fun = values.tree(f)
        return how.compute(lambda x: fun(x, *given), low, high, values)

    found = attempt(call)
    if found is not None and not found.live:
        return found.first if full else found.first[:2]
    value, error = served("quad_vec", lambda x: f(x, *args), a, b, how, found)
    value = constant(value)
    return (value, error, reported(found)) if full and found is not None else (value, error)


# tanhsinh and nsum: SciPy's Python, which sums over abscissae.

FAR = 1e50  # where an integrand is negligible, as far out, no slope of it counts

arguments_of_tanhsinh = traced(_tanhsinh._tanhsinh_iv)
arguments_of_nsum = traced(_tanhsinh._nsum_iv)
range_of_tanhsinh = traced(_tanhsinh._transform_integrals)


@serves_method(_tanhsinh._tanhsinh_iv)
def arguments(f: Any, a: Any, b: Any, log: bool, *more: Any) -> Any:
    """What `tanhsinh` is given, with an integrand that is constant where it is nearly 0.

    Far out the weights and powers of x overflow, and meet a slope that is nearly 0.
    """
    fun, *rest = arguments_of_tanhsinh(f, a, b, log, *more)
    return settling(fun, log), *rest


@serves_method(_tanhsinh._nsum_iv)
def arguments_of_sum(f: Any, a: Any, b: Any, step: Any, args: Any, log: bool, *more: Any) -> Any:
    """The same for `nsum`, which asks for the term at the limit, and integrates beyond some."""
    fun, *rest = arguments_of_nsum(f, a, b, step, args, log, *more)
    return settling(fun, log), *rest


def settling(fun: Any, log: bool) -> Any:
    def settled(x: Any, *args: Any, **kwargs: Any) -> Any:
        y = CALLS[fun](x, *args, **kwargs)
        small = np.real(y) < np.log(NEGLIGIBLE) if log else np.abs(y) < NEGLIGIBLE
        return np.where((np.abs(x) > FAR) & small, stopped(y), y)

    return settled


@serves_method(_tanhsinh._transform_integrals)
def transformed(a: Any, b: Any, xp: Any) -> Any:
    """A range with an infinite limit is mapped on a fixed one, of which the abscissae stay."""
    a, b, start, negative, both, left, right = range_of_tanhsinh(a, b, xp)
    if everywhere(both | right):
        a, b = stopped(a), stopped(b)
    return a, b, start, negative, both, left, right

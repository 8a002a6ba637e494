"""Searches by comparisons, found by their numbers: what they compare narrows, its slope doesn't.

Where a bisection compares `f(middle, x)` with 0, the numbers compared shrink by halves, and their
derivative with respect to x stays as large as it was, since no derivative leads to `middle`. In an
iteration that carries the derivative (Newton's, a fixed point, a series until its terms are small)
both shrink alike. So the distance in x at which a comparison would have another answer, that is
number over slope, goes down step by step in a search, and nowhere else.

A last step that carries the derivative, as one of Newton's, leaves that as it is: it shows by a
number which is as near to 0, in x, as the search has come, and which the result depends on.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from math import inf
from types import FunctionType
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary, ref

import numpy as np

from .array import Array, peel
from .lost import REPEATS
from .reach.namespaces import package

START = 4  # decisions in one call before any is looked at
# How many decisions until the next one is looked at, after one that tells something and after
# those that do not; the last three in turns, so that all lines of a loop have theirs.
STRIDES, TURNS = (1, 2, 3, 5, 8, 13, 11, 10), 3
SEEN = 64.0, 4096.0, 262144.0  # how much nearer decisions have come where it is asked what they are
FLAT = 4.0  # how much smaller derivatives are then, where the search is for a minimum
SHARE = 0.4  # of that, as a power, what the arguments have come nearer in a search
NEAR = 8.0, 32.0, 256.0  # and as a search: the last three, in x
AROUND = 64.0  # of the distance of a search, that of the number with which a last step corrects it
SPREAD = 4096  # elements of an array of which the smallest is looked for
LARGE = 1e15  # where numbers are integers
SMALL = 0.125  # a number that may correct, of the largest operand
LATEST, MOST = 256, 1 << 16  # numbers that are small, and Arrays that they have led to
TRIFLE = 1e-6  # of a derivative, what adds nothing to it

NUMBERS = frozenset({float, int, np.float64})
OURS: dict[int, Any] = {}  # globals of this package and of NumPy, by id
# Lines that were looked at, and of what: none of a search, in functions of some code, or one that
# was corrected, in a function. What gives that, how sure it is, and the code of the line.
SETTLED: dict[tuple[int, int, int], tuple[Callable[[], Any], int, Any]] = {}
OFTEN, SURE, MANY_LINES = 8, 4, 256
KNOWN = WeakKeyDictionary[Any, dict[int, tuple[float, float]]]()


class Seed(NamedTuple):
    """A term of a number: the node of an Array, or its tangent, and the element."""

    node: Any
    weight: float
    at: int
    x: Array  # which tells shape and dtype

    @classmethod
    def of(cls, x: Array) -> Seed:
        return cls(x.node, 1.0, np.size(peel(x)) // 2, x)


Slope = Callable[[Sequence[Seed]], np.ndarray]
Corrects = Callable[[float], bool]


class Approach:
    """The decisions of one line that came nearer to another answer, each by half at least.

    A decision is noted as (how near its numbers were, their seeds, how many decisions were made).
    """

    __slots__ = (
        "at", "code", "first", "flat", "fun", "last", "looks", "narrows", "of", "value", "width",
    )  # fmt: skip

    def __init__(self, frame: Any, fun: Any, first: tuple[float, Any, int]) -> None:
        self.code, self.at = frame.f_code, frame.f_lasti
        self.fun, self.first = fun, first
        self.of = getattr(fun, "__code__", None)  # it is another one when nothing runs
        self.looks = 0  # how often it was asked whether it narrows as a search does
        self.narrows = False
        self.flat = False  # whether the derivative narrows, too, as at a minimum
        self.last: tuple[tuple[float, Any, int], ...] = ()
        self.value = self.width = 0.0  # of two numbers that move, the first, and how near they are

    @property
    def line(self) -> tuple[str, int]:
        """File and line of the program."""
        code = self.code
        spans = [line for begin, end, line in code.co_lines() if begin <= self.at < end and line]
        return code.co_filename, spans[0] if spans else code.co_firstlineno

    def look(self, trace: Any, gap: float, seeds: Any) -> None:
        """Ask whether the arguments come nearer to another answer as the numbers do."""
        wide, first, begun = self.first
        before, after = trace.slope(first), trace.slope(seeds)
        nearer = wide * after / (gap * before) if before else inf if after else 0.0
        self.narrows = nearer > max((trace.decisions - begun) ** 2 / 32, (wide / gap) ** SHARE)
        self.flat = after * FLAT < before
        self.looks += 1
        if not self.narrows and self.looks == len(SEEN):
            self.settle(False, SURE)

    def look_back(self, slope: Slope) -> None:
        """Ask whether the derivative narrows, too, of a trace that learns slopes at its end."""
        if self.last:
            before, after = size(slope(self.first[1])), size(slope(self.last[-1][1]))
            self.flat = after * FLAT < before
        if not self.flat:
            self.width = 0.0

    def settle(self, corrected: bool, weight: int) -> None:
        """Note that it is no search, in functions of this code, or corrected in this function."""
        by = self.fun
        if not isinstance(by, FunctionType):
            return
        if not (corrected or by.__closure__ or by.__defaults__ or by.__kwdefaults__):
            by = self.of
        if len(SETTLED) >= MANY_LINES:
            SETTLED.clear()
        key = self.at, id(self.code), id(by)
        known = SETTLED.get(key)
        before = known[1] if known is not None and known[0]() is by else 0
        SETTLED[key] = ref(by), before + weight, self.code

    def distance(self, slope: Slope, scale: float) -> float | None:
        """How near the arguments came to another answer, if that is as in a search."""
        wide, seeds, begun = self.first
        steep = size(slope(seeds))
        start = wide / steep if steep else scale
        near, slopes = inf, []
        for (gap, seeds, _), much in zip(self.last, NEAR, strict=False):
            slopes.append(slope(seeds))
            steep = size(slopes[-1])
            near = gap / steep if steep else inf
            if near * much > start:
                return None
        if len(slopes) < len(NEAR) or not alike(*slopes[-2:]):
            return None
        return near if near * 4 * (self.last[-1][2] - begun) ** 2 <= start else None


def is_settled(frame: Any, fun: Any) -> bool:
    for by in (getattr(fun, "__code__", None), fun):
        known = SETTLED.get((frame.f_lasti, id(frame.f_code), id(by)))
        if known is not None and known[1] >= OFTEN and known[0]() is by:
            return True
    return False


class Narrowing:
    """The decisions of a trace, by line.

    small: of a reverse trace, the rules of numbers that are small, the latest ones.
    corrected: of a forward trace, by id, the Arrays that such numbers have led to, the part of
    their tangents that comes from them, and how near to 0 they were, in x.
    """

    __slots__ = (
        "approaches", "corrected", "misses", "narrows", "past", "ranges", "recorded", "small",
    )  # fmt: skip
    small: deque[Small]
    corrected: dict[int, tuple[Any, Any, float]]

    def __init__(self, fun: Any) -> None:
        self.misses = 0  # decisions looked at that told nothing, since the last that did
        # What a line would have to leave; as after the last call of a function where none narrowed.
        self.ranges: dict[int, tuple[float, float]]
        if type(fun) is not FunctionType:
            self.ranges = {}
        elif (known := KNOWN.get(fun)) is not None:
            self.ranges, self.misses = known, len(STRIDES) - TURNS
        else:
            self.ranges = KNOWN[fun] = {}
        self.approaches: dict[int, Approach] = {}
        self.past: tuple[Approach, ...] = ()  # those of lines that began again
        self.narrows = False  # whether a line has narrowed, so that operations are looked at
        self.recorded: tuple[Callable[[], None], ...] = ()  # of compiled functions, to do no more

    def hear(self, trace: Any, primitive: Any, x: Any, y: Any) -> int:
        """A decision of the program; the number of the next one to look at."""
        at: Any = 0, 0
        if primitive.comparison:
            a = x.payload if type(x) is Array else x
            b = y.payload if type(y) is Array else y
            if type(a) in NUMBERS and type(b) in NUMBERS:
                gap = abs(float(a) - float(b))
            else:
                gap, at = between(peel(a), peel(b))
        else:
            gap, at = from_jump(primitive, y if type(y) is Array else x)
        frame: Any = sys._getframe(4)  # past this, `watch`, and two functions of the operation
        while id(frame.f_globals) in OURS and frame.f_back is not None:
            frame = frame.f_back
        key = id(frame.f_code) + frame.f_lasti
        known = self.ranges.get(key)
        n: int = trace.decisions
        tells = 0.0 < gap < inf
        if known is None and tells:
            self.ranges[key] = gap / 2, gap * 2
        elif known is not None and tells and not known[0] <= gap <= known[1]:
            self.enter(trace, primitive, x, y, at, key, frame, gap)
        else:
            self.misses += 1 if known is None or known[0] else TURNS  # 0: a line that is settled
            if self.misses >= len(STRIDES):
                self.misses = len(STRIDES) - TURNS
            return n + STRIDES[self.misses]
        self.misses = 0
        return n + 1

    def enter(
        self, trace: Any, primitive: Any, x: Any, y: Any, at: Any, key: int, frame: Any, gap: float
    ) -> None:
        """A decision nearer to another answer than the line's others by half, or twice as far."""
        high = self.ranges[key][1]
        approach, n = self.approaches.get(key), trace.decisions
        if gap > high:
            self.ranges[key] = gap / 2, gap * 2
            if approach is not None:
                self.past += (self.approaches.pop(key),)
            return
        if approach is None:
            if is_ours(frame):
                return
            if SETTLED and is_settled(frame, trace.fun):
                self.ranges[key] = 0.0, inf
                return
            terms = seeds(trace, primitive, x, y, at)
            if not terms:
                return
            approach = self.approaches[key] = Approach(frame, trace.fun, (gap, terms, n))
        else:
            terms = seeds(trace, primitive, x, y, at)
            approach.last = *approach.last[1 - len(NEAR) :], (gap, terms, n)
        self.ranges[key] = gap / 2, high
        if not approach.narrows and gap * SEEN[approach.looks] <= approach.first[0]:
            approach.look(trace, gap, terms)
            if approach.looks == len(SEEN) and not approach.narrows:
                self.ranges[key] = 0.0, inf
                del self.approaches[key]
                self.forget(trace.fun)
        if approach.narrows:
            if (approach.flat or trace.writes_steps) and len(terms) > 1:
                approach.value, approach.width = one_of(peel(x))[1], AROUND * gap
            if not self.narrows:
                self.narrows = True
                self.forget(trace.fun)
                self.small, self.corrected = deque(maxlen=LATEST), {}
                if not trace.writes_steps:
                    observe(trace)

    def forget(self, fun: Any) -> None:
        """Let the next call of a function begin without what is known of its lines."""
        if type(fun) is FunctionType:
            KNOWN.pop(fun, None)

    def see(self, trace: Any, primitive: Any, xs: Sequence[Any], static: Any, out: Array) -> None:
        """An operation of a program that has narrowed: whether its result may correct."""
        if out.node is None:
            return
        value = self.correcting(xs, out)
        if trace.writes_back:
            if value is not None and type(out.node.rule) is not Small:
                out.node.rule = Small(out.node.rule, value, Seed.of(out))
                self.small.append(out.node.rule)
            return
        steep = 0.0 if value is None else abs(element(Seed.of(out)))
        if value is not None and steep:
            self.correct(out, out.node, value / steep)
        elif self.corrected:
            found = [self.corrected.get(id(x)) for x in xs]
            near = min([ratio for _, _, ratio in filter(None, found)], default=None)
            if near is not None:
                dots = [entry and entry[1] for entry in found]
                self.correct(out, trace.pushed(primitive, xs, static, dots, out), near)

    def correcting(self, xs: Sequence[Any], out: Any) -> float | None:
        """How large a number is, if it is small beside its operands; 0 if it is what was compared.

        That is the value at a minimum which was searched, and changes as it does anywhere near.
        """
        for line in self.approaches.values():
            if line.width and abs(one_of(peel(out))[1] - line.value) <= line.width:
                return 0.0
        value = largest_of(out, inf)
        return value if value <= SMALL * max(map(largest_of, xs), default=0.0) else None

    def correct(self, x: Array, part: Any, near: float) -> None:
        if len(self.corrected) >= MOST:
            self.corrected.clear()
        self.corrected[id(x)] = x, part, near

    def searching(self, slope: Slope, scale: float, corrects: Corrects) -> Any:
        """The line of a search whose derivative is missing, if there is one.

        slope: how fast a number changes with the arguments, of its seeds; scale: how large they
        are; corrects: whether the result depends on a number as near to 0 as it is given.
        """
        settled: dict[tuple[int, int], tuple[Approach, bool]] = {}
        for approach in [*self.past, *self.approaches.values()]:
            if approach.narrows:
                near = approach.distance(slope, scale)
                if near is not None and not corrects(AROUND * near):
                    return approach
                settled[approach.at, id(approach.code)] = approach, near is not None
        for approach, corrected in settled.values():
            approach.settle(corrected, SURE if corrected else 1)
        return None


class Small:
    """The rule of a number that is small beside its operands; it notes its cotangents."""

    __slots__ = ("bar", "rule", "seed", "value")

    def __init__(self, rule: Any, value: float, seed: Seed) -> None:
        self.rule, self.value, self.seed, self.bar = rule, value, seed, 0.0

    def __call__(self, out_bar: Any, residual: Any, wanted: Any) -> Any:
        if not REPEATS.get():
            self.bar = max(self.bar, largest_of(out_bar))
        return self.rule(out_bar, residual, wanted)

    def __getattr__(self, name: str) -> Any:
        if name == "partial":  # large cotangents are not to go past this
            raise AttributeError(name)
        return getattr(self.rule, name)


def observe(trace: Any) -> None:
    """Let a trace look at the results of its operations from now on."""
    trace.__class__ = observing(cast(Any, type(trace)))


@cache
def observing(cls: Any) -> Any:
    """The class of traces that do."""

    def seen(method: str) -> Callable[..., Any]:
        own = getattr(cls, method)

        def call(self: Any, primitive: Any, *given: Any) -> Any:
            out = own(self, primitive, *given)
            if type(out) is Array and out.within is self and self.narrowing is not None:
                xs, static = given, {}
                if method == "process":
                    xs, static = given
                elif method == "single":
                    xs, static = given[:1], given[1]
                elif method == "item":
                    xs, static = given[:1], {"key": given[1]}
                elif method == "beside":
                    xs = given[:0:-1] if given[0] else given[1:]
                self.narrowing.see(self, primitive, xs, static, out)
            return out

        return call

    ways = ("process", "unary", "binary", "pair", "beside", "single", "item")
    scope = {way: seen(way) for way in ways}
    return type(cls.__name__, (cls,), {"__slots__": (), "writes_nodes": False, **scope})


def is_ours(frame: Any) -> bool:
    scope = frame.f_globals
    if package(scope) not in ("pullback", "numpy"):
        return False
    OURS[id(scope)] = scope
    return True


def between(a: Any, b: Any) -> tuple[float, Any]:
    """How far two numbers are from each other, and at which elements."""
    first, second = getattr(a, "size", 1), getattr(b, "size", 1)
    if first == 1 or second == 1 or (first == second and a.shape == b.shape):
        (i, v), (j, w) = one_of(a), one_of(b)
        return abs(v - w), (i, j)
    return inf, None


def from_jump(primitive: Any, x: Any) -> tuple[float, Any]:
    """How far a number is from where it would be decided otherwise, and at which elements."""
    a = x.payload if type(x) is Array else x
    if type(a) in NUMBERS and primitive.by_elements:
        return from_integer(primitive, float(a)), 0
    a = peel(a)
    if primitive.by_elements:
        i, v = one_of(a)
        return from_integer(primitive, v), i
    if type(a) is not np.ndarray or a.dtype.kind != "f" or not 1 < a.size < SPREAD:
        return inf, None
    i, j = int(a.argmax()), int(a.argmin())
    return a.item(i) - a.item(j), (i, j)


def from_integer(primitive: Any, v: float) -> float:
    """How far a number is from the next integer, or from 0 where it is decided there alone."""
    if not jumps_at_integers(primitive):
        return abs(v)
    return abs(v - round(v)) if abs(v) < LARGE else inf


@cache
def jumps_at_integers(primitive: Any) -> bool:
    """Whether it is one like `floor`, and not one like `sign`."""
    value: Any = getattr(primitive, "value", None)
    if value is None:
        return True
    for others in (), (1.0,):
        with suppress(TypeError, ValueError):  # it has more operands, or keywords
            return bool(value(*others, 0.7) != value(*others, 1.7))
    return True


def one_of(x: Any) -> tuple[int, float]:
    """An element in the middle of an array, and where it is."""
    at = 0
    if isinstance(x, np.ndarray) and x.size:
        at = x.size // 2
        x = x.item(at)
    if type(x) is float:
        return at, x
    if np.iscomplexobj(x):  # which `float` takes in part, with a warning
        return at, inf
    try:
        return at, float(x)
    except (TypeError, ValueError, OverflowError):  # text
        return at, inf


def seeds(trace: Any, primitive: Any, x: Any, y: Any, at: Any) -> list[Seed]:
    """What the number was made of: its terms that are Arrays of the trace."""
    if primitive.comparison:
        terms = [(x, 1.0, at[0]), (y, -1.0, at[1])]
    else:
        x = y if type(y) is Array else x  # as `copysign` does
        terms = [(x, 1.0, at)] if primitive.by_elements else [(x, 1.0, at[0]), (x, -1.0, at[1])]
    return [
        Seed(x.node, weight, i, x)
        for x, weight, i in terms
        if type(x) is Array and x.within is trace and x.node is not None
    ]


def size(vector: np.ndarray) -> float:
    return float(np.abs(vector).sum())


def alike(v: np.ndarray, w: np.ndarray) -> bool:
    """Whether two derivatives have about one direction, as those of one search."""
    return bool(np.abs(v @ w) > 0.5 * np.sqrt((v @ v) * (w @ w)))


def plain(x: Any) -> Any:
    """A value, a tangent or a cotangent, as NumPy has it."""
    return peel(x.dense() if hasattr(type(x), "dense") else x)


def element(seed: Seed) -> float:
    """A term of a number's tangent."""
    x = plain(seed.node)
    if isinstance(x, np.ndarray):
        x = x.item(seed.at if seed.at < x.size else x.size // 2) if x.size else 0.0
    return seed.weight * float(x)


def largest_of(x: Any, unknown: float = 0.0) -> float:
    """The largest of a value, a tangent or a cotangent; unknown: for too many, or no numbers."""
    x = plain(x)
    if type(x) in NUMBERS:
        return abs(float(x))
    if not isinstance(x, np.ndarray) or not 0 < x.size < SPREAD or x.dtype.kind not in "fc":
        return unknown
    return float(np.abs(x).max())

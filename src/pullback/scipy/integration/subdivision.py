"""An adaptive integral over [0, 1] of vectors, for all examples of a batch at once.

SciPy computes the integrals that the user asks for; integrals for derivatives are computed here.
Their integrands are recorded programs, so all points of a step are evaluated together by `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np

from ...core.array import peel
from ...core.errors import SolverError
from ...transforms.loops.body import example

ACCURATE, LIMIT = 1e-13, 2000
SHARP = 1e-18  # a kink is found to the root of it: what is a kink of a value is a jump of its slope
# So near to a break or a limit a number that is 0 there is rounded to 0, as that under a root is;
# what is not finite for it adds nothing.
BESIDE = 3e-8
# Where it is asked whether an interval goes on to its ends as its points show: beyond its last
# point there is room for a jump, GAP of the interval, that no rule of points inside sees. Not
# so at limits and marks.
EDGES, NEAR = (1e-9, 1 - 1e-9), (2e-6, 1e-4, 1 - 1e-4, 1 - 2e-6)
GAP = 3.2e-3
# Whether integrals end at the first value that is not finite, since they'd be done anew.
BRIEF = ContextVar("BRIEF", default=False)


@cache
def gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(n)
    return (x + 1) / 2, w / 2


@cache
def at_edges(n: int, edges: tuple[float, ...]) -> np.ndarray:
    """What takes values at n points to those of their polynomial near the ends of [0, 1]."""
    x, _ = gauss(n)
    gaps = np.array(edges)[:, None] - x
    others = np.where(np.eye(n, dtype=bool), 1.0, x[:, None] - x)
    return np.prod(gaps, axis=1, keepdims=True) / gaps / np.prod(others, axis=1)


def smooth(u: Any) -> Any:
    """From [0, 1] to itself, flat at both ends."""
    return u * u * (3 - 2 * u)


class Range:
    """The map from [0, 1] to the range of x, as QUADPACK has it for infinite ranges.

    Before it, u goes to u^2 (3 - 2u): slopes of integrands are often singular at limits, as that of
    a square root, and are smooth then. The limits may be Arrays; whether they are finite does not
    depend on the example.
    """

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b
        self.lower, self.upper = [float(example(x)) for x in (a, b)]

    def inner(self) -> np.float64:
        """A point inside."""
        same = self.lower == self.upper
        return np.float64(self.lower if same else self.points(0.4142)[0][0])

    def points(self, u: Any, plain: bool = True) -> list[tuple[Any, Any]]:
        """Where x is, and dx/du; two places where the range is infinite on both sides."""
        a, b = (self.lower, self.upper) if plain else (self.a, self.b)
        u, stretch = np.clip(smooth(u), 1e-300, 1 - 4e-16), 6 * u * (1 - u)
        if np.isfinite(self.lower) and np.isfinite(self.upper):
            return [(self.inside(a + (b - a) * u, a, b), (b - a) * stretch)]
        sign, far = (1.0 if self.upper > self.lower else -1.0), (1 - u) / u
        slope = sign / (u * u) * stretch
        if np.isfinite(self.lower):
            return [(self.inside(a + sign * far, a, b), slope)]
        if np.isfinite(self.upper):
            return [(self.inside(b - sign * far, a, b), slope)]
        return [(far, slope), (-far, slope)]

    def points_between(self, left: float, right: float, u: Any) -> list[tuple[Any, Any]]:
        """The same in an interval of [0, 1], which moves with a limit that is one of its ends.

        Its other end stays where it is, as do intervals in the middle: kinks at ends of intervals
        don't move with the limits.
        """
        both = np.isfinite(self.lower) and np.isfinite(self.upper)
        if self.lower == self.upper:
            return self.points(u, plain=False)
        ends = {0.0: (self.a, self.lower)} if both else {}
        last_is_upper = both or not np.isfinite(self.lower)
        ends[1.0] = (self.b, self.upper) if last_is_upper else (self.a, self.lower)
        if not (left in ends or right in ends) or not np.isfinite(ends[1.0][1]):
            return self.points(u)
        (s, start), (t, end) = [
            ends[x] if x in ends else (self.points(x)[0][0],) * 2 for x in (left, right)
        ]
        if left == 0 and not both:  # to infinity
            return [(x + (t - end), slope) for x, slope in self.points(u)]
        ratio = (t - s) / (end - start)
        return [(s + (x - start) * ratio, slope * ratio) for x, slope in self.points(u)]

    def inside(self, x: Any, a: Any, b: Any) -> Any:
        """x, and what is a limit but for rounding next to it: integrands may have a pole there."""
        sign = 1.0 if self.upper > self.lower else -1.0
        for end, limit, way in ((a, self.lower, sign), (b, self.upper, -sign)):
            if np.isfinite(limit):
                gap = 4 * np.spacing(abs(limit))
                x = x + np.where(abs(x - end) < gap, way * gap, 0.0)
        return x

    def gaps(self, u: np.ndarray) -> np.ndarray:
        """How far points of [0, 1] are from limits that are finite, as parts of the range."""
        both = np.isfinite(self.lower) and np.isfinite(self.upper)
        neither = not (np.isfinite(self.lower) or np.isfinite(self.upper))
        first, last = smooth(u) if both else 1.0, 1.0 if neither else smooth(1 - u)
        return np.minimum(first, last) + 0 * u

    def unit(self, points: Any) -> Any:
        """Where in [0, 1] points of a finite range are, of the first example of a batch."""
        u = (np.array([example(x) for x in points]) - self.lower) / (self.upper - self.lower)
        return 0.5 - np.sin(np.arcsin(1 - 2 * u) / 3)


NOT_NEARER = 2.0**-20  # of a piece: how near to a break rounding may be in the way

Evaluate = Callable[[np.ndarray], Any]


class Subdivision:
    """Intervals, and for each its integral and an estimate of the error.

    sharp: look for kinks between the last point and the end of an interval as well
    """

    def __init__(self, evaluate: Evaluate, ends: np.ndarray, sharp: bool = False) -> None:
        self.evaluate, self.sharp = evaluate, sharp
        self.ends, self.marks = ends, np.unique(ends)
        self.parts, self.errors, self.sizes = self.integrals(ends)

    def integrals(self, ends: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        (x, w), (y, v) = gauss(21), gauss(15)
        edges = EDGES if self.sharp else NEAR
        points = np.concatenate([x, y, edges])
        lengths = ends[:, 1:] - ends[:, :1]
        values = self.evaluate(np.ravel(ends[:, :1] + lengths * points))
        values = np.reshape(values, (len(ends), len(points), *values.shape[1:]))
        flat = np.reshape(values, (len(ends), len(points), -1))
        fine = np.einsum("ijk,j->ik", flat[:, :21], w) * lengths
        coarse = np.einsum("ijk,j->ik", flat[:, 21:36], v) * lengths
        size = np.einsum("ijk,j->ik", np.abs(flat[:, :21]), w) * lengths
        gap = np.abs(fine - coarse)
        errors, sizes = largest(gap), largest(size)
        # The finer rule is better than the gap says, where it is small against the whole.
        ratio = np.divide(errors, sizes, out=np.ones_like(errors), where=sizes > 0)
        errors = np.where(sizes > 0, sizes * np.minimum(ratio, (20 * ratio) ** 1.5), errors)
        expected = np.einsum("ijk,lj->ilk", flat[:, :21], at_edges(21, edges))
        jumps = np.abs(flat[:, 36:] - expected)
        if not self.sharp:  # at limits and marks slopes may be singular
            inside = np.repeat(~np.isin(ends, self.marks), len(edges) // 2, axis=1)
            jumps = np.where(inside[..., None], jumps, 0.0)
        jumps = np.max(jumps, axis=1)
        least = (1e-11 if self.sharp else 1e-5) * np.max(np.abs(flat[:, :36]), axis=1)
        jumps = np.where(np.isfinite(jumps) & (jumps > least), jumps, 0.0)  # less is rounding
        missed = largest(jumps) * lengths[:, 0]
        errors = errors + missed * (1.0 if self.sharp else GAP)
        return np.reshape(fine, (len(ends), *values.shape[2:])), errors, sizes

    def total(self) -> Any:
        return np.sum(self.parts, axis=0)

    def refine(self) -> bool:
        """Halve the intervals that are not accurate enough; False if there are none."""
        whole = np.abs(self.total())
        size = float(largest(np.reshape(whole, (1, -1)))[0])
        target = (SHARP if self.sharp else ACCURATE) * max(0.01, size)
        if not np.isfinite(self.errors).all():
            return False
        if BRIEF.get() and not np.isfinite(np.asarray(peel(whole))).all():
            return False
        rounding = 50 * np.finfo(float).eps * self.sizes
        coarse = self.errors > np.maximum(target / len(self.ends), rounding)
        coarse &= self.ends[:, 1] - self.ends[:, 0] > 1e-15
        if self.errors.sum() <= target or not coarse.any() or len(self.ends) > LIMIT:
            return False
        left, right = self.ends[coarse].T
        middle = (left + right) / 2
        new = np.concatenate([np.stack([left, middle], axis=1), np.stack([middle, right], axis=1)])
        parts, errors, sizes = self.integrals(new)
        keep = np.flatnonzero(~coarse)
        self.ends = np.concatenate([self.ends[keep], new])
        self.parts = np.concatenate([self.parts[keep], parts])
        self.errors = np.concatenate([self.errors[keep], errors])
        self.sizes = np.concatenate([self.sizes[keep], sizes])
        return True


def largest(x: Any) -> np.ndarray:
    """Plain values: the largest finite one of each row, over the examples of all batches.

    NaN if there is none: an element or example that is no number leaves others as accurate as they
    are without it.
    """
    plain = np.asarray(peel(x))
    axes = tuple([i for i in range(plain.ndim) if i != plain.ndim - 2])
    if not plain.shape[-1]:
        return np.zeros(plain.shape[-2])
    return np.asarray(np.fmax.reduce(np.where(np.isfinite(plain), plain, np.nan), axis=axes))


def ends_of(points: Any) -> np.ndarray:
    """The first intervals, between the points at which to break."""
    marks = np.unique(np.concatenate([[0.0, 1.0], np.ravel(points)]))
    marks = marks[(marks >= 0) & (marks <= 1)]
    return np.stack([marks[:-1], marks[1:]], axis=1)


def adaptive(evaluate: Evaluate, points: Any = ()) -> Any:
    """The integral over [0, 1], to rounding where that can be had."""
    with np.errstate(all="ignore"):
        division = Subdivision(evaluate, ends_of(points))
        while division.refine():
            pass
        out = division.total()
        error = division.errors.sum()
        size = float(largest(np.reshape(np.abs(out), (1, -1)))[0])
    if np.isfinite(size) and not error <= 1e-7 * (1e-3 + size):  # it may be NaN
        raise SolverError(
            "The derivative of an integral is an integral, which does not converge: of size"
            f" {size:.3g}, with an error of {error:.1e}.\n"
            "  Check that the derivative of the integrand can be integrated."
        )
    return out


def finite_beside(values: Any, gaps: np.ndarray) -> Any:
    """0 for values that are not finite this near to where an integrand may be singular."""
    beside = np.reshape(gaps < BESIDE, (-1,) + (1,) * (values.ndim - 1))
    return np.where(beside & ~np.isfinite(values), 0.0, values)


def between(evaluate: Evaluate, breaks: Any) -> Any:
    """The integral over [0, 1] of what may be singular at the breaks, as a square root's slope.

    breaks: in order, as many for each example of a batch
    """
    left, right = np.concatenate([[0.0], breaks]), np.concatenate([breaks, [1.0]])
    n = len(left)

    def stretched(ws: np.ndarray, least: float = 0.0) -> Any:
        """Piece i is the i-th part of [0, 1], and dense at its ends; `least` from its breaks."""
        i = np.minimum(ws * n, n - 1).astype(int)
        v, length = ws * n - i, (right - left)[i]
        part = np.clip(smooth(v), np.where(i > 0, least, 0.0), 1 - np.where(i < n - 1, least, 0.0))
        values = evaluate(left[i] + length * part)
        values = finite_beside(values, length * np.minimum(part, 1 - part))
        slope = n * length * 6 * v * (1 - v)
        return values * np.reshape(slope, (-1,) + (1,) * (values.ndim - 1))

    marks = np.arange(1, n) / n
    try:
        return adaptive(stretched, marks)
    except SolverError:
        if n == 1:
            raise
        # Terms that cancel may leave rounding that grows without bounds towards a break.
        out = adaptive(lambda ws: stretched(ws, NOT_NEARER), marks)
        if not goes_on(evaluate, left, right, out):
            raise
        return out


def goes_on(evaluate: Evaluate, left: Any, right: Any, out: Any) -> bool:
    """Whether the integrand is as good as constant beside the breaks, where `between` stops."""
    size = float(largest(np.reshape(np.abs(out), (1, -1)))[0])
    lengths = NOT_NEARER * (right - left)
    with np.errstate(all="ignore"):
        for end, way in ((left[1:], lengths[1:]), (right[:-1], -lengths[:-1])):
            first, *others = [np.asarray(peel(evaluate(end + way * t))) for t in (1, 2, 4, 16)]
            for other in others:
                apart = np.max(np.abs(other - first), initial=0.0)
                if not apart * NOT_NEARER <= 1e-8 * (1e-3 + size):  # it may be NaN
                    return False
    return True


def pieces(evaluate: Evaluate, points: Any = ()) -> np.ndarray:
    """The intervals on which a plain integrand is integrated well."""
    with np.errstate(all="ignore"):
        division = Subdivision(evaluate, ends_of(points), sharp=True)
        while division.refine():
            pass
    return division.ends

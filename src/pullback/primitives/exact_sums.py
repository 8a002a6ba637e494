"""Functions of lists of numbers that Python computes exactly and rounds once.

`math.fsum`, `math.sumprod` and the functions of `statistics` (in `exact_statistics`) add fractions,
or split numbers so that no sum is rounded; therefore large numbers may cancel. Each is one
operation here: its value is Python's own, and its partials are the textbook formulas.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.primitive import Primitive, one_by_one
from ..core.spec import Spec


class Summary(Primitive):
    """One number for a list, and perhaps for a second one or for a center.

    partials[i](out, *xs) -> d out / d xs[i], of the shape of xs[i]
    """

    made_of = ("python", "partials")

    def __init__(self, python: Callable[..., Any], *partials: Callable[..., Any]) -> None:
        super().__init__(python.__name__ + ("" if len(partials) == 1 else f"_{len(partials)}"))
        self.python, self.partials = python, partials

    def value(self, *xs):
        return xs[0].dtype.type(self.python(*[x.tolist() for x in xs]))

    def spec(self, *xs):
        return Spec((), xs[0].dtype)

    def jvp(self, out, xs, x_dots):
        moving = [i for i, dot in enumerate(x_dots) if dot is not None]
        return functools.reduce(operator.add, [self.part(i, out, xs, x_dots[i]) for i in moving])

    def part(self, i, out, xs, x_dot):
        of = self.partials[i]
        return np.sum(x_dot if of is ones else of(out, *xs) * x_dot)

    def vjp(self, out_bar, residual, wanted):
        out, xs = residual.out, residual.xs
        return [
            out_bar * of(out, *xs) if each else None
            for of, each in zip(self.partials, wanted, strict=True)
        ]

    def batch(self, xs, mapped, size):
        return one_by_one(self, xs, mapped, size, {})


def ones(out: Any, x: Any) -> Any:
    return np.ones_like(x)


SUMMARIES: dict[tuple[str, int], Summary] = {}  # by name and number of operands


def enter(python: Callable[..., Any], *partials: Callable[..., Any]) -> None:
    SUMMARIES[python.__name__, len(partials)] = Summary(python, *partials)


enter(math.fsum, ones)
if hasattr(math, "sumprod"):  # since Python 3.12
    enter(math.sumprod, lambda out, p, q: q, lambda out, p, q: p)

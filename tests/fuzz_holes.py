"""What is put into the holes of a template of a random program: names, constants, axes, indices."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.fuzz_table import VARIABLES

__all__ = ["HOLE", "Holes", "Unfit", "literal"]

HOLE = re.compile(r"(?<!\{)\{([a-z]+)(\d*)\}")


class Unfit(Exception):
    """No variable fits a hole."""


class Holes(dict):
    """What stands in the holes of one template; the first variable sets shapes and axes."""

    def __init__(self, maker: Any, template: str, out: str) -> None:
        super().__init__(out=out)
        self.maker, self.random = maker, maker.random
        names = [kind + digits for kind, digits in HOLE.findall(template)]
        variables = [name for name in names if name.rstrip("0123456789") in VARIABLES]
        if {"spd", "spread", "apart"} & set(names):
            variables = ["s", *variables]
        if "generic" in names:
            variables = ["m", *variables]
        self.first = None
        for name in variables:
            if name not in self:
                self[name] = maker.variable(VARIABLES[name.rstrip("0123456789")])
            if self.first is None:
                self.first = maker.values[self[name]]
        for name in names:
            if name not in self:
                self[name] = str(getattr(self, name.rstrip("0123456789"))())

    def t(self) -> str:
        """A real variable or constant that broadcasts with the first."""
        return self.maker.partner(self.first, VARIABLES["r"]) or self.c()

    def o(self) -> str:
        return self.maker.partner(self.first, VARIABLES["a"]) or self.c()

    def x(self) -> str:
        return str(round(self.random.uniform(0.2, 1.5), 2))

    def n(self) -> str:
        return str(self.random.randint(0, 2))

    def count(self) -> str:
        return str(self.random.randint(1, 3))

    def which(self) -> str:
        return str(self.random.randint(0, 1))

    def flag(self) -> str:
        return str(self.random.random() < 0.5)

    def prob(self) -> str:
        return self.random.choice(["0.3", "[0.25, 0.8]", "0.5", "np.array([[0.1], [0.9]])"])

    def method(self) -> str:
        return self.random.choice(["linear", "lower", "midpoint", "hazen", "median_unbiased"])

    def pad(self) -> str:
        return self.random.choice(["edge", "reflect", "symmetric", "wrap", "mean", "linear_ramp"])

    def axis(self) -> str:
        ndim = self.first.ndim
        return str(self.random.randrange(-ndim, ndim))

    def axes(self) -> str:
        ndim, draw = self.first.ndim, self.random.random()
        if draw < 0.3 or not ndim:
            return "None"
        if draw < 0.7:
            return self.axis()
        axes = self.random.sample(range(ndim), self.random.randint(0, ndim))
        return str(tuple([a - ndim if self.random.random() < 0.3 else a for a in axes]))

    def at(self) -> int:
        """The length along the axis that the template names."""
        return self.first.shape[int(self["axis"]) if "axis" in self else 0]

    def length(self) -> str:
        return str(self.at())

    def ints(self) -> str:
        n = self.at()
        draw = [self.random.randrange(-n, n) for _ in range(self.random.randint(1, 4))]
        return self.random.choice([str(draw), f"np.array({draw})", str(draw[0])])

    def bins(self) -> str:
        return str([self.random.randint(0, 2) for _ in range(self.at())])

    def bools(self) -> str:
        return str([self.random.random() < 0.6 for _ in range(self.at())])

    def counts(self) -> str:
        return str([self.random.randint(0, 2) for _ in range(self.at())])

    def mask(self) -> str:
        return literal(self.maker.draws(self.first.shape) > -0.3)

    def zeroone(self) -> str:
        return literal((self.maker.draws(self.first.shape) > 0).astype(int))

    def c(self) -> str:
        """A constant that broadcasts with the first variable: a number, NumPy scalar, or array."""
        draw, number = self.random.random(), round(self.random.uniform(-1.5, 1.5), 2)
        if draw < 0.25:
            return f"({number})"
        if draw < 0.35:
            return f"({self.random.randint(1, 3)})"
        if draw < 0.45:
            return f"np.{self.random.choice(['float64', 'float32'])}({number})"
        if draw < 0.5 and self.first.dtype.kind == "c":
            return f"({number} + 0.4j)"
        array = self.maker.draws(self.partner_shape())
        if draw < 0.6:
            return literal(array.astype(np.float32))
        return literal(np.round(array, 2))

    def nested(self) -> str:
        """A list that stands for an array."""
        shape = self.partner_shape()
        if not shape or 0 in shape:
            raise Unfit
        return str(np.round(self.maker.draws(shape), 2).tolist())

    def partner_shape(self) -> tuple[int, ...]:
        shape = [n if self.random.random() < 0.7 else 1 for n in self.first.shape]
        return tuple(shape[self.random.randint(0, len(shape)) if shape else 0 :])

    def right(self) -> str:
        """A matrix by which the first variable can be multiplied from the right."""
        n = self.first.shape[-1] if self.first.ndim else 2
        return literal(np.round(self.maker.draws((n, self.random.randint(1, 3))), 2))

    def spd(self) -> str:
        """A positive definite matrix, or a stack of them, made of s."""
        s, n = self["s"], self.first.shape[-1]
        return f"({s} @ np.conj(np.swapaxes({s}, -1, -2)) + {self.x()} * np.eye({n}))"

    def spread(self) -> str:
        """A Hermitian matrix whose eigenvalues are apart."""
        s, n = self["s"], self.first.shape[-1]
        whole = f"({s} + np.conj(np.swapaxes({s}, -1, -2)))"
        small = f"0.3 * {whole} / (1 + np.sum(np.abs({s}) ** 2))"
        return f"({small} + np.diag(np.arange(1.0, {n} + 1)))"

    def generic(self) -> str:
        """A matrix without equal singular values, or a stack of them, made of m."""
        noise = np.round(self.maker.draws(self.first.shape[-2:]), 3)
        return f"(0.5 * {self['m']} + {literal(noise)})"

    def apart(self) -> str:
        """The same of real numbers: a complex factor is no smooth function where one is real."""
        return f"np.real({self.spread()})"

    def shape(self) -> str:
        """Another shape of the same size."""
        size, shape = self.first.size, []
        if size == 0:
            return str(self.random.choice([(0,), (0, 2), (3, 0)]))
        rest = size
        for _ in range(self.random.randint(0, 2)):
            n = self.random.choice([k for k in range(1, rest + 1) if rest % k == 0])
            shape.append(n)
            rest //= n
        shape.append(rest)
        self.random.shuffle(shape)
        if self.random.random() < 0.4:
            shape[self.random.randrange(len(shape))] = -1
        return str(tuple(shape))

    def perm(self) -> str:
        axes = list(range(self.first.ndim))
        self.random.shuffle(axes)
        return str(tuple(axes))

    def item(self, n: int) -> str:
        """A basic index along an axis of length n."""
        draw = self.random.random()
        if draw < 0.25 and n:
            return str(self.random.randrange(-n, n))
        if draw < 0.45:
            return ":"
        bounds = [
            str(self.random.randint(-n, n)) if self.random.random() < 0.6 else "" for _ in "ab"
        ]
        step = self.random.choice(["", "", ":1", ":2", ":-1", ":-2", ":3"])
        return f"{bounds[0]}:{bounds[1]}{step}"

    def index(self) -> str:
        items = [self.item(n) for n in self.first.shape]
        cut = self.random.randint(0, len(items))
        draw = self.random.random()
        if draw < 0.3:
            items[cut:] = []
        elif draw < 0.6:
            end = self.random.randint(cut, len(items))
            items[cut:end] = ["..."]
        for _ in range(self.random.choice([0, 0, 1, 2])):
            items.insert(self.random.randint(0, len(items)), "None")
        return ", ".join(items) or "..."

    def fancy(self) -> str:
        """Integer arrays, masks, slices and new axes together."""
        items, length = [], self.random.randint(1, 3)
        for n in self.first.shape[: self.random.randint(1, self.first.ndim)]:
            draw = self.random.random()
            if draw < 0.55:
                ints = [self.random.randrange(-n, n) for _ in range(length)]
                items.append(
                    self.random.choice(
                        [str(ints), f"np.array({ints})", f"np.array({ints})[:, None]"]
                    )
                )
            elif draw < 0.65:
                items.append(literal(self.maker.draws((n,)) > -0.4))
            else:
                items.append(self.item(n))
        if self.random.random() < 0.25:
            items.insert(self.random.randint(0, len(items)), "None")
        if self.random.random() < 0.2:
            items.insert(self.random.randint(0, len(items)), "...")
        return ", ".join(items)


def literal(array: np.ndarray) -> str:
    """An array as source text."""
    dtype = "" if array.dtype in (float, bool, int, complex) else f", dtype=np.{array.dtype}"
    if array.size == 0:
        return f"np.zeros({array.shape}, dtype='{array.dtype}')"
    return f"np.array({array.tolist()}{dtype})"

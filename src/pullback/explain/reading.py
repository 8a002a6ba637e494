"""Read names, plain values, seeds and samples of large arrays from records, for an Explanation."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from ..core.array import Array, peel
from ..core.errors import ArgumentTypeError, ShapeError, name_of
from ..core.spec import dtype_of, spec_of
from ..core.tree import flatten, paths, tree_map

CELLS = 256  # elements of a sample


class Sampled:
    """A sample of an array that was too large to keep: some elements, and their range."""

    def __init__(self, x: Any) -> None:
        x = np.asarray(x)
        self.shape, self.dtype = x.shape, x.dtype
        self.cells = np.array(x.reshape(-1)[:: max(1, -(-x.size // CELLS))])
        self.nan, self.inf = bool(np.isnan(x).any()), bool(np.isinf(x).any())
        self.low, self.high = extent(x)

    def plus(self, other: Any) -> Sampled:
        """A sample of the sum; the range is that of the sampled elements."""
        other = other if isinstance(other, Sampled) else Sampled(other)
        out = Sampled(self.cells + other.cells)
        out.shape, out.nan, out.inf = self.shape, self.nan | other.nan, self.inf | other.inf
        return out

    def __repr__(self) -> str:
        return f"<sample of {self.dtype}{list(self.shape)}>"


def extent(x: np.ndarray) -> tuple[Any, Any]:
    """The least and the greatest of the finite elements, of complex ones by magnitude."""
    known = x[np.isfinite(x)]
    known = np.abs(known) if x.dtype.kind == "c" else known
    return (known.min(), known.max()) if known.size else (None, None)


class Keeper:
    """Copies arrays, as long as their total size isn't too large."""

    def __init__(self, budget: int) -> None:
        self.budget = budget

    def __call__(self, x: Any) -> Any:
        x = np.asarray(peel(x))
        self.budget -= x.nbytes
        return np.array(x)[()] if self.budget >= 0 else Sampled(x)


def names_of(fun: Any, args: Any, positions: list[int]) -> list[str]:
    """A name for each leaf of the differentiated arguments: `x`, `params["w"]`."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = []
    for position in sorted(set(positions), key=positions.index):
        name = f"x{position}"
        for i, p in enumerate(parameters):
            if p.kind is p.VAR_POSITIONAL and position >= i:
                name = f"{p.name}[{position - i}]"
                break
            if i == position:
                name = p.name
        leaves = paths(args[position], name)
        kept = positions.count(position)  # static leaves have no input
        names += leaves if len(leaves) == kept else [f"{name}, {i}" for i in range(kept)]
    return names


def plain_tree(out: Any) -> Any:
    """A tree with plain values for Arrays."""
    return tree_map(peel, out)


def seeds(explanation: Any, ends: list[Array], out_bar: Any) -> list[Any]:
    """The cotangents from which the backward pass starts: out_bar, or ones."""
    if out_bar is None:
        if len(ends) > 1 or any(np.shape(x.payload) for x in ends):
            shapes = ", ".join([str(spec_of(x.payload)) for x in ends])
            explanation.notes.append(
                f"The output is {shapes}; the backward pass starts from a cotangent of ones."
            )
        return [np.ones(np.shape(x.payload), dtype_of(x.payload))[()] for x in ends]
    parts = [out_bar] if len(ends) == 1 else flatten(out_bar)[0]
    bars = [np.asarray(bar) for bar in parts]
    shown = f"explain({name_of(explanation.fun)})"
    if len(bars) != len(ends):
        raise ArgumentTypeError(
            f"`{shown}` was given {len(bars)} cotangents for {len(ends)} outputs."
        )
    for bar, x in zip(bars, ends, strict=True):
        if bar.shape != np.shape(x.payload):
            raise ShapeError(
                f"`{shown}` was given a cotangent of shape {bar.shape} for an output of shape"
                f" {np.shape(x.payload)}; nothing is broadcast."
            )
    return [bar.astype(dtype_of(x.payload))[()] for bar, x in zip(bars, ends, strict=True)]


def tangent_of(x: Any) -> Any:
    """The tangent of a value that was recorded in forward mode; None is zero."""
    x = x.payload if type(x) is Array else x
    return peel(x.node) if type(x) is Array and x.node is not None else None


def add(total: Any, x: Any, keep: Keeper) -> Any:
    """The sum of two cotangents; of samples another sample."""
    if total is None:
        return x
    if isinstance(total, Sampled) or isinstance(x, Sampled):
        return total.plus(x) if isinstance(total, Sampled) else x.plus(total)
    if isinstance(total, dict):
        return {i: add(total.get(i), x[i], keep) if i in x else total[i] for i in {**total, **x}}
    return keep(total + x)


def has_nan(x: Any) -> bool:
    return any_of(x, np.isnan, math.isnan)


def has_inf(x: Any) -> bool:
    return any_of(x, np.isinf, math.isinf)


def any_of(x: Any, test: Any, test_number: Any) -> bool:
    """Whether a test holds for an element of an array, or of several."""
    if type(x) is np.float64:
        return bool(test_number(x))
    if isinstance(x, tuple):
        return any(any_of(part, test, test_number) for part in x)
    if isinstance(x, dict):
        return any(any_of(part, test, test_number) for part in x.values())
    if isinstance(x, Sampled):
        return x.nan if test is np.isnan else x.inf
    x = np.asarray(x)
    return x.dtype.kind in "fc" and bool(test(x).any())

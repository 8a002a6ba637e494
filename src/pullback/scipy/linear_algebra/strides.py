"""The parts of vectors that a routine of BLAS takes: from an offset on, in steps, so many numbers.

    drot(m, m, c, s, n=3, offx=0, incx=3, offy=1, incy=3, overwrite_x=True, overwrite_y=True)

turns two columns of the 3 x 3 matrix whose rows lie one after another in m. A program of BLAS knows
the parts alone; what it computes takes their place in the vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.errors import ArgumentError
from ...core.overlaps import numbered, view_of
from ...core.storage import root_of

WORDS = ("n", "offx", "incx", "offy", "incy")


class Strides:
    """Which numbers of its vectors, x and y, one call takes; `given` loses what says so."""

    def __init__(self, routine: Any, operands: Mapping[str, Any], given: dict[str, Any]) -> None:
        self.places: dict[str, range] = {}
        shapes = {x.shape for x in operands.values() if x.ndim}
        if given.keys().isdisjoint(WORDS) and [len(shape) for shape in shapes] == [1]:
            return  # vectors as they are
        parameters = routine.signature.parameters
        vectors = [v for v in "xy" if f"inc{v}" in parameters]
        taken = {v: (given.pop(f"off{v}", 0), given.pop(f"inc{v}", 1)) for v in vectors}
        count = given.pop("n", None) if vectors else None
        if count is None and "n" in parameters:
            count = default_count(routine.original.__doc__, operands, taken)
        for v, (start, step) in taken.items():
            if f"off{v}" not in parameters:  # `ger` takes all numbers, in either order
                n = operands[v].size
            elif "n" not in parameters:  # as many as the matrix has columns, or rows
                n = operands["a"].shape[(v == "x") != (given.get("trans", 0) != 0)]
            else:
                n = count
            if step < 0 and vectors == ["x"] and "lower" not in parameters:
                raise ArgumentError(
                    f"`{routine.name}` with `incx={step}` does nothing, or goes backwards, as its"
                    f" BLAS pleases.\n  Pass `incx={-step}`: the order of one vector is the same."
                )
            places = range(start, start + abs(step) * n, abs(step))
            self.places[v] = places if step > 0 else places[::-1]

    def whole(self, vector: str, size: int) -> bool:
        """Whether the vector is taken as it is."""
        places = self.places.get(vector)
        return places is None or places == range(size)

    def part(self, vector: str, x: Any) -> Any:
        if vector not in self.places:
            return x
        x = np.ravel(x) if x.ndim > 1 else x
        return x if self.whole(vector, x.size) else x[np.array(self.places[vector])]

    def put(self, vector: str, part: Any, old: Any, size: int) -> Any:
        """The vector with what was computed for its part; the rest of a new one is zero."""
        if self.whole(vector, size):
            return part
        take = np.arange(size)
        take[np.array(self.places[vector])] = size + np.arange(part.size)
        return np.concatenate((np.zeros(size, part.dtype) if old is None else old, part))[take]

    def write(self, vector: str, target: Any, out: Any) -> None:
        """Write the part alone: the other vector of the call may lie in the same memory."""
        if self.whole(vector, target.size):
            target[...] = out
        else:
            places = np.array(self.places[vector])
            target[places] = out[places]

    def memory(self, name: str, x: Array) -> np.ndarray:
        """Where the numbers that are taken lie in the memory of x's root."""
        return np.ravel(self.part(name, view_of(numbered(root_of(x)), x)))


def default_count(described: str, operands: Mapping[str, Any], taken: Mapping[str, Any]) -> int:
    """How many numbers a routine takes that is not told: SciPy's wrappers have two formulas.

    The one leaves out the last number of a vector that the step does not reach past; a routine
    whose description has a formula for y takes no more than y has either.
    """
    last = int("len(x)-1-offx" in described)
    return min(
        (operands[v].size - last - start) // abs(step) + last
        for v, (start, step) in taken.items()
        if f"(len({v})-" in described
    )


def refuse_shared(routine: Any, strides: Strides, operands: Mapping[str, Any], into: Any) -> None:
    """Raise where a routine would read, or write again, what it has already overwritten.

    Each number of `y` may be computed from the number of `x` at its own place: `axpy(x, x)`.
    """
    for result, target in into.items():
        name = routine.written[result]
        for other, x in operands.items():
            if other == name or type(x) is not Array or root_of(x) is not root_of(target):
                continue
            here, there = strides.memory(name, target), strides.memory(other, x)
            same = len(into) == 1 and {name, other} == {"x", "y"} and np.array_equal(here, there)
            if not same and np.intersect1d(here, there).size:
                raise ArgumentError(
                    f"`{routine.name}` overwrites `{name}`, which shares memory with `{other}`:"
                    " it would read elements that it has already overwritten.\n  Pass a copy,"
                    f" `{other}.copy()`."
                )

"""Arrays that a function of SciPy's writes into, while it is called for each example of a batch.

    eigenvalues, vectors = lobpcg(A, X)  # X is the start, and holds something else afterwards

Each call gets arrays of its own, and in the end X holds what the calls have written into theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.errors import ConversionError
from ...core.storage import current, root_of, version
from ...transforms.examples import together


class Written:
    """What is given to one call after another, and what they have written there.

    again: the function has been called with all examples before, and may have written something.
    """

    def __init__(self, given: Iterable[Any], trace: Any, again: bool) -> None:
        self.trace, self.again = trace, again
        self.shared = {id(x): (x, stamp(x)) for x in given if type(x) in (Array, np.ndarray)}
        self.lent: dict[int, tuple[Any, list[Any]]] = {}

    def lend(self, x: Array, value: Any) -> Any:
        """The array that stands for x in the call that is about to be made."""
        own = np.copy(value)
        self.lent.setdefault(id(x), (x, []))[1].append((own, stamp(own)))
        return own[()]

    def same(self, x: Any) -> Any:
        """The same for an Array that is the same in all examples, if it is an argument itself."""
        return (
            x if self.again or type(x) is not Array or id(x) not in self.shared else self.lend(x, x)
        )

    def settle(self, n: int) -> None:
        """Write what the n calls have written into the arrays that they were given."""
        if any(stamp(x) != before for x, before in self.shared.values()):
            self.refuse()
        lent = list(self.lent.values())
        for x, owns in lent:
            if all(stamp(own) == before for own, before in owns):
                continue
            roots = [root_of(y) is root_of(x) for y, _ in lent]
            if self.again or sum(roots) > 1 or len(owns) != n:  # each call has had copies
                self.refuse()
            x[...] = together(np.stack([own for own, _ in owns]), trace=self.trace)

    def refuse(self) -> None:
        raise ConversionError(
            f"A function of SciPy's decides by values that are mapped by `{self.trace.name}`, and"
            " writes into an array that it is given.\n  Use the array that it returns."
        )


def stamp(x: Any) -> Any:
    """What changes when x is written into."""
    writes = []
    while type(x) is Array:
        writes.append(version(root_of(x)))
        x = current(x).payload
    return writes, np.asarray(x).tobytes()

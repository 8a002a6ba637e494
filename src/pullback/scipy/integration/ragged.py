"""`t` and `y` of `solve_ivp` where the number of steps isn't known.

That is so under `vmap`, if the examples took different numbers of steps, and in recorded rules.
As a whole they have no shape, but each single step does, counted from either end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from ...core.errors import ArgumentError


def is_index(x: Any) -> bool:
    return not isinstance(x, bool) and hasattr(x, "__index__")


class Ragged:
    """An array of which only single steps can be read: t[-1], y[:, -1], y[0][-1], y.T[-1].

    step(j) is what there is at the j-th step: a number, or a row of so many numbers, whose axis is
    before that of the steps unless it is turned.
    all_steps() is the array where other calls have as many steps; None: they have not.
    """

    def __init__(
        self,
        step: Callable[[int], Any],
        rows: int = 0,
        turned: bool = False,
        all_steps: Callable[[], Any] | None = None,
    ) -> None:
        self.step, self.rows, self.turned, self.all_steps = step, rows, turned, all_steps

    def whole(self) -> Any:
        if self.all_steps is None:
            self.refuse()
        return self.all_steps()

    @property
    def T(self) -> Ragged:
        if not self.rows:
            return self
        return Ragged(self.step, self.rows, not self.turned, self.of_all(lambda x: x.T))

    def of_all(self, part: Callable[[Any], Any]) -> Callable[[], Any] | None:
        known = self.all_steps
        return None if known is None else lambda: part(known())

    def __getitem__(self, key: Any) -> Any:
        keys = key if type(key) is tuple else (key,)
        if self.rows and not self.turned:
            if len(keys) == 1 and is_index(keys[0]):
                row = operator.index(keys[0])
                part = self.of_all(lambda x: x[row])
                return Ragged(lambda j: self.step(j)[row], all_steps=part)
            keys = keys[::-1]
        if len(keys) > 1 + bool(self.rows) or not is_index(keys[0]):
            return self.whole()[key]
        found = self.step(operator.index(keys[0]))
        return found[keys[1]] if keys[1:] else found

    def __iter__(self) -> Any:
        if self.turned or not self.rows:
            self.refuse()
        return iter([self[i] for i in range(self.rows)])

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        self.refuse()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse()

    def refuse(self, *others: Any) -> NoReturn:
        raise ArgumentError(
            "Under `vmap`, `solve_ivp` took different numbers of steps for the examples, so that"
            " its `t` and `y` have no common shape.\n"
            "  Give `t_eval`, or read single steps, as in `y[:, -1]`, or `sol` at given times."
        )

    __len__ = __neg__ = __abs__ = __add__ = __radd__ = __sub__ = __rsub__ = refuse
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = refuse
    __matmul__ = __rmatmul__ = refuse

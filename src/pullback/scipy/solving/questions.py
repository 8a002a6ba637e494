"""Decisions that a function makes about values while it is recorded.

They become further results of the program, which is valid for all values with the same answers:

    lambda x: x if x > 1 else 1 / x     ->  x, [x > 1] with the answer True
                                            1 / x, [x > 1] with the answer False
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.spec import is_inexact
from ...primitives.shapes import astype_p
from ...transforms.loops.body import BodyTrace, Unstaged


class QuestionTrace(BodyTrace):
    """Records a function, and in `fun.asked` the truth values and integers that it asks for."""

    __slots__ = ()

    def answered(self, x: Array, asked: str) -> Any:
        if not is_inexact(x.dtype):
            self.fun.asked.append(x)
        elif asked == "int(x)" and x.dtype.kind == "f":
            self.fun.asked.append(astype_p(x, dtype=np.dtype(int)))
        else:
            raise Unstaged(asked)
        return x.payload

    concrete = told = answered

    def converts(self, x: Array, asked: str) -> bool:
        return not is_inexact(x.dtype)


def answers_of(questions: Sequence[Any]) -> list[Any]:
    """The answers, which an outer trace notes."""
    return list(map(answer_of, questions))


def answer_of(x: Any) -> Any:
    if not hasattr(x, "dtype"):
        return x
    if x.ndim:
        return [answer_of(y) for y in x]
    return bool(x) if x.dtype.kind == "b" else int(x)

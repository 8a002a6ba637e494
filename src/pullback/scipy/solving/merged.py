"""Merge a function's programs for several sequences of answers into one without guards.

    x > 1: x        x <= 1: 1 / x        ->        where(x > 1, x, 1 / x), and whether that holds

It computes all of them and selects the one whose answers match. If none match, it reports that its
result isn't valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...transforms.loops.body import BodyTrace, Unstaged, functional
from ...transforms.stage import capture
from .branches import answered
from .programs import WrittenProgram, one_and


def merged(several: Sequence[WrittenProgram]) -> WrittenProgram | None:
    """One program of the same arguments; None if that can't be made."""
    specs = {written.graph.outputs[0].spec for written in several if written.is_one}
    if len(specs) > 1 or not all(written.is_one and not written.exact for written in several):
        return None
    first = several[0]
    n = len(first.graph.inputs) - len(first.theta)
    theta = list(dict.fromkeys([i for written in several for i in written.theta]))
    inputs: dict[int, Any] = {}
    for written in several:
        inputs.update(zip(written.theta, written.graph.inputs[n:], strict=True))
    examples = [*first.graph.inputs[:n], *[inputs[i] for i in theta]]

    def whole(*xs: Any) -> Any:
        closed = dict(zip(theta, xs[n:], strict=True))
        out, holds = None, np.False_
        for written in several:
            operands = *xs[:n], *[closed[i] for i in written.theta]
            found, own, questions = written.whole(list(written.graph.evaluate(*operands)))
            given = answered(questions, written.answers)
            out = found if out is None else np.where(given, found, out)
            holds = holds | (given & own)
        return out, holds, []

    lift = lambda enter: [enter(np.zeros(x.spec.shape, x.spec.dtype)[()]) for x in examples]
    try:
        with np.errstate(all="ignore"):
            _, graph, _, _ = capture(whole, {}, "solver", lift, BodyTrace)
    except (Unstaged, Exception):  # what is called inside may take no zeros
        return None
    return WrittenProgram(one_and(0), functional(graph), theta, False, [])

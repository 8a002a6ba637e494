"""Whether a search by comparisons has lost the derivative of its result (`core/narrowing.py`).

What a trace has noted is judged once the derivative is there: how fast what was compared changes
with the arguments is asked of the graph, or known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.array import peel
from ..core.lost import REPEATS, warn_narrowed
from ..core.narrowing import TRIFLE, Narrowing, Seed, Slope, element, largest_of, plain, size
from ..core.spec import spec_of, zeros
from ..core.temporary import during
from ..core.tree import flatten
from .backward import backward
from .lifted import primals_of

TESTED = 24  # numbers of a result that may correct it


def steepness(seeds: Sequence[Seed]) -> float:
    """How fast a number changes with all that it comes from, while the program runs."""
    with suppress(Exception), during(REPEATS, True):  # of a rule that the result may not ask for
        leaves = backward([(seed.node, one_hot(seed)) for seed in seeds], True)
        total = sum([largest_of(leaf.bar) for leaf in leaves])
        for leaf in leaves:
            leaf.bar = None
        return total
    return 0.0


def judge(trace: Any, narrowing: Narrowing, lifted: Any, gradients: Any) -> None:
    """After a backward pass, whose leaves have given their cotangents away."""
    primals = primals_of(lifted)
    nodes = [node for arg in lifted for node in arg.nodes]
    met = [(rule, rule.bar) for rule in narrowing.small if rule.bar]
    gradient = size(joined(flatten(gradients)[0]))

    def slope(seeds: Sequence[Seed]) -> np.ndarray:
        seeds = [seed for seed in seeds if hasattr(seed.node, "parents")]
        backward([(seed.node, one_hot(seed)) for seed in seeds], True)
        bars = [getattr(node, "bar", None) for node in nodes]
        for node in nodes:
            node.bar = None
        return joined(
            [
                zeros(spec_of(x)) if bar is None else bar
                for bar, x in zip(bars, primals, strict=True)
            ]
        )

    def corrects(near: float) -> bool:
        for rule, bar in met[-TESTED:]:
            steep = size(slope([rule.seed]))
            if rule.value <= near * steep and bar * steep > TRIFLE * gradient:
                return True
        return False

    decide(trace, narrowing, slope, primals, corrects)


def judge_tangents(trace: Any, primals: Any, outs: Sequence[Any]) -> None:
    """After a run in forward mode."""
    corrected = trace.narrowing.corrected
    found = [corrected[id(out)] for out in outs if id(out) in corrected]
    decide(
        trace,
        trace.narrowing,
        lambda seeds: np.array([sum(map(element, seeds))]),
        primals,
        lambda near: any(ratio <= near and adds(part, out.node) for out, part, ratio in found),
    )


def judge_steps(trace: Any, pushforward: Any, primals: Any) -> None:
    """After a run that was written down: one push says what each number's tangent is."""
    dots = {(0, n): np.ones_like(peel(x)) for n, x in enumerate(primals)}
    narrowing = trace.narrowing

    def slope(seeds: Sequence[Seed]) -> np.ndarray:
        found = [seed._replace(node=dots.get(seed.node)) for seed in seeds]
        return np.array([sum([element(seed) for seed in found if seed.node is not None])])

    def corrects(near: float) -> bool:
        parts: dict[Any, Any] = {}
        for step, (primitive, out, xs, static, sources) in enumerate(pushforward.steps, 1):
            dot = dots.get((step, 0))
            if dot is None or type(out) is tuple:
                continue
            value = narrowing.correcting(xs, out)
            steep = 0.0 if value is None else largest_of(dot)
            if value is not None and steep and value <= near * steep:
                parts[step, 0] = dot
                continue
            found = [parts.get(source) for source in sources]
            if any(part is not None for part in found):
                parts[step, 0] = primitive.push(out, xs, found, static, structured=True)
        return any(adds(parts[at], dots[at]) for _, at in pushforward.outs if at in parts)

    with np.errstate(all="ignore"):
        pushforward.push(dots)
        for approach in narrowing.approaches.values():
            approach.look_back(slope)
        decide(trace, narrowing, slope, primals, corrects)


def adds(part: Any, whole: Any) -> bool:
    return largest_of(part) > TRIFLE * largest_of(whole)


def decide(
    trace: Any,
    narrowing: Narrowing,
    slope: Slope,
    primals: Any,
    corrects: Callable[[float], bool],
) -> None:
    scale = max([largest_of(x) for x in primals], default=0.0) or 1.0
    line = None
    with suppress(Exception), during(REPEATS, True):  # a rule may be missing that nobody asked for
        line = narrowing.searching(slope, scale, corrects)
    if line is not None:
        for forget in narrowing.recorded:
            forget()
        warn_narrowed(trace, line.line)


def joined(xs: Any) -> np.ndarray:
    """Numbers as one vector; None is left out, and complex numbers count by their size."""
    return np.concatenate(
        [
            np.zeros(1),
            *[
                np.abs(np.ravel(x)) if np.iscomplexobj(x) else np.ravel(x)
                for x in map(plain, xs)
                if x is not None
            ],
        ]
    )


def one_hot(seed: Seed) -> Any:
    """The cotangent of one element; of all where examples are mapped."""
    shape, dtype = seed.x.shape, seed.x.dtype
    if not shape:
        return dtype.type(seed.weight)
    bar = np.zeros(shape, dtype)
    if seed.at < bar.size:
        bar.flat[seed.at] = seed.weight
    else:
        bar[...] = seed.weight
    return bar

"""doctor: is the gradient correct here, and if not, which operation is to blame?

The gradient is compared with central differences of the function. Then each operation is checked by
itself, at the values that it had: its rule is compared with differences of its value, and
differences from one side with those from the other, which disagree at a kink or a jump.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.array import Array, peel
from ..core.differences import difference, pair, precision
from ..core.errors import ArgumentError, name_of
from ..core.spec import is_inexact
from ..testing import Problem, Sample
from ..transforms.reverse import vjp
from .explanation import Explanation, ProgramNode
from .picture import where
from .reading import has_nan

MOST = 2000  # operations that are looked at
SHOWN = 5  # kinks that are named
MANY = 8  # places where values left that are named


class Diagnosis:
    """What was found, as sentences; `ok` unless a derivative is wrong or NaN."""

    def __init__(self, title: str, explanation: Explanation) -> None:
        self.title, self.explanation = title, explanation
        self.ok = True
        self.lines: list[str] = []

    def wrong(self, line: str) -> None:
        self.ok = False
        self.lines.append(line)

    def __str__(self) -> str:
        return "\n".join([self.title, *[f"  {line}" for line in self.lines]])


def doctor(fun: Callable[..., Any]) -> Callable[..., Diagnosis]:
    """Return a function that checks the derivatives of fun at its arguments.

    >>> import numpy as np
    >>> found = doctor(lambda x: np.sum(np.abs(x)))(np.array([1.0, 0.0]))
    >>> found.ok
    True
    >>> found.lines[1].partition(" (")[0]
    '#1 = absolute(x)'
    >>> found.lines[1].rpartition(" is ")[2]
    'at a kink: its slopes from the two sides differ.'

    It checks the gradient of the output (of its sum, if it is an array) against central
    differences, names the first node with a NaN and the first operation whose rule disagrees with
    differences of its value, reports operations that were evaluated at a kink or a jump, and lists
    where values left the program's Arrays, as text for instance.
    """

    def examine(*args: Any, **kwargs: Any) -> Diagnosis:
        problem = Problem(Sample(fun, args, kwargs))
        if not problem.xs:
            raise ArgumentError(
                f"`doctor` found nothing to differentiate in the arguments of `{name_of(fun)}`.\n"
                "  Give real or complex floating numbers: 1.0 and not 1."
            )
        found = Diagnosis(f"doctor({name_of(fun)})", Explanation(fun, args, kwargs))
        check_nans(found)
        smooth = check_rules(found)
        found.lines.insert(0, "")
        check_gradient(found, problem, smooth)
        found.lines[0] = found.lines.pop()
        check_departures(found)
        return found

    return examine


def check_gradient(found: Diagnosis, problem: Problem, smooth: bool) -> None:
    """The gradient along a random direction against a difference of the function."""
    with np.errstate(all="ignore"):
        outs = problem(*problem.xs)
        if not found.explanation.outputs:
            found.lines.append("The output does not depend on the arguments: its derivative is 0.")
            return
        dots = [problem.like(x) for x in problem.xs]
        slopes, worth = difference(problem, problem.wide(), dots)
        ones = tuple([np.ones_like(out) for out in outs])
        x_bars = vjp(problem, *problem.xs)[1](ones)
        ours, theirs = pair(x_bars, dots), pair(ones, slopes)
    error = abs(ours - theirs) / max(1.0, abs(ours), abs(theirs))
    if error <= max(100 * worth, 1000 * precision(problem.xs, outs)):
        found.lines.append(f"The gradient agrees with differences (relative error {error:.0e}).")
        return
    told = f"along a random direction it has {ours:.6g}, and the function changes by {theirs:.6g}"
    if smooth or np.isnan(ours):
        found.wrong(f"The gradient disagrees with differences: {told}.")
    else:
        found.lines.append(
            f"At a kink or jump differences do not tell whether it is right: {told}."
        )


def check_departures(found: Diagnosis) -> None:
    """Where values left: what was computed from them there has no derivative."""
    explanation = found.explanation
    reached = any(explanation.nodes[i].cotangent is not None for i in explanation.inputs)
    lines = [f"A value left: {each}." for each in explanation.departures]
    if not reached:
        lines += [
            f"{named(node)}: the result depends on it by comparison alone."
            for node in explanation.missed
            if type(node) is ProgramNode and node.marks == []
        ]
    found.lines += lines[:MANY]
    if len(lines) > MANY:
        found.lines.append(f"{len(lines) - MANY} more values left.")


def check_nans(found: Diagnosis) -> None:
    """Where NaN first arises; it may be masked later on."""
    explanation = found.explanation
    if any(map(has_nan, explanation.gradient)) or has_nan(explanation.nodes[-1].value):
        found.ok = False
    for mark, text in (
        ("first nan", "the first NaN of the forward pass"),
        ("first nan cotangent", "its rule makes the first NaN of the backward pass"),
    ):
        for node in found.explanation.nodes:
            if mark in node.marks:
                found.lines.append(f"{named(node)}: {text}.")


def check_rules(found: Diagnosis) -> bool:
    """Each operation by itself: the first with a suspicious rule; whether there are no kinks."""
    rng = np.random.default_rng(0)
    suspicious, kinks = False, 0
    nodes = [node for node in found.explanation.nodes if node.entry and node.differentiable]
    for node in nodes[:MOST]:
        try:
            forward, left, right, middle, worth = slopes(node, rng)
        except Exception:  # what cannot be moved a little, or has no jvp, is not judged
            continue
        size = max(1.0, norm(left), norm(right), norm(middle))
        if norm(left - right) > 0.02 * size:
            kinks += 1
            if kinks <= SHOWN:
                found.lines.append(f"{named(node)} is {kink(left, right, size)}.")
        elif not suspicious and norm(forward - middle) > 1e4 * worth * size:
            suspicious = True
            found.wrong(f"{named(node)}: its rule disagrees with differences of its value.")
    if kinks > SHOWN:
        found.lines.append(f"{kinks - SHOWN} more operations are at kinks or jumps.")
    if len(nodes) > MOST:
        found.lines.append(f"Of {len(nodes)} operations the first {MOST} were looked at.")
    return not kinks


def kink(left: Any, right: Any, size: float) -> str:
    if size > 1e3 and norm(left - right) > 0.9 * size:
        return "at a jump: its value changes at once"
    return "at a kink: its slopes from the two sides differ"


def slopes(node: ProgramNode, rng: Any) -> tuple[Any, Any, Any, Any, float]:
    """An operation's tangent; differences of its value from the left, right and both; their worth.

    All along one random direction, in double precision.
    """
    entry = node.entry
    assert entry is not None
    primitive, static = entry.primitive, dict(entry.static)
    xs = [widened(peel(x)) if type(x) is Array else peel(x) for x in entry.inputs]
    moving = [
        i
        for i, x in enumerate(entry.inputs)
        if type(x) is Array and is_inexact(xs[i].dtype) and i not in primitive.nondiff
    ]
    dots: list[Any] = [None] * len(xs)
    for i in moving:
        dots[i] = direction(rng, xs[i])

    def f(*moved: Any) -> list[Any]:
        operands = list(xs)
        for i, x in zip(moving, moved, strict=True):
            operands[i] = x
        return [floating(primitive(*operands, **static))]

    h = 1e-6 * max([1.0, *[norm(xs[i]) for i in moving]])
    with np.errstate(all="ignore"):
        out = primitive(*xs, **static)
        tangent = primitive.push(out, tuple(xs), dots, static)
        pushed = floating(np.zeros_like(out) if tangent is None else tangent)
        at = lambda t: f(*[xs[i] + t * dots[i] for i in moving])[0]
        (middle,), worth = difference(f, [xs[i] for i in moving], [dots[i] for i in moving])
        value = floating(out)
        return pushed, (value - at(-h)) / h, (at(h) - value) / h, middle, worth


def floating(x: Any) -> Any:
    """The result, or the first floating one of several."""
    parts = x if type(x) is tuple else (x,)
    return next(part for part in parts if part is not None and is_inexact(part.dtype))


def widened(x: Any) -> Any:
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    return x.astype({"f": np.float64, "c": np.complex128}[kind]) if kind in ("f", "c") else x


def direction(rng: Any, x: Any) -> Any:
    v = rng.uniform(0.5, 1, x.shape) * rng.choice([-1, 1], x.shape)
    if x.dtype.kind == "c":
        v = v * np.exp(2j * np.pi * rng.uniform(size=x.shape))
    return np.asarray(v).astype(x.dtype)[()]


def norm(x: Any) -> float:
    """The largest finite magnitude; NaN is reported elsewhere."""
    x = np.abs(np.asarray(x))
    return float(np.max(x[np.isfinite(x)], initial=0.0))


def named(node: ProgramNode) -> str:
    at = f" ({where(node.line)}: {node.source})" if node.line is not None and node.source else ""
    return f"#{node.index} = {node.formula}{at}"

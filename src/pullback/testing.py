"""Laws: what must hold of every operation, checked from one declaration of its samples.

    value      under every trace the result is NumPy's
    spec       the spec rule predicts shape and dtype
    forward    jvp agrees with central differences
    reverse    <out_bar, jvp> = <vjp, x_dot>
    second     jvp and vjp of jvp and vjp agree, and with central differences
    batch      vmap agrees with a loop, for the function and for its pullback
    unread     a node keeps what its primitive declares that it reads, and nothing else
    fresh      gradients have their argument's shape and dtype, and share memory with nothing
    compiled   a compiled function gives what the function gives, recorded and repeated

A law takes a Sample and raises AssertionError where it does not hold.
"""

from __future__ import annotations

import copy
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .core.array import Array
from .core.differences import close, difference, pair, precision, size_of
from .core.errors import ArgumentError, ArgumentTypeError, kind_of, name_of
from .core.lost import place
from .core.other_names import refuse_name
from .core.reach.calls import call_inside
from .core.spec import Spec, is_inexact, spec_of
from .core.tree import flatten, is_static, unflatten
from .core.usage import usage
from .transforms.batch import vmap
from .transforms.forward import jvp
from .transforms.record import record
from .transforms.reverse import vjp
from .transforms.stage import capture
from .transforms.transformation import check_function

__all__ = [
    "LAWS",
    "ErrorSample",
    "Sample",
    "check_batch",
    "check_compiled",
    "check_error",
    "check_forward",
    "check_fresh",
    "check_grads",
    "check_reverse",
    "check_sample",
    "check_second",
    "check_spec",
    "check_unread",
    "check_value",
    "primitives_of",
]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> Any:
    refuse_name(name, __all__, __name__)


@dataclass
class Sample:
    """A function and arguments to try the laws on: `fun(*args, **kwargs)`.

    All real and complex floating leaves of args are differentiated.
    smooth: True where two derivatives exist, 1 where one does, False at kinks, where only the
    consistency of the modes is asked, None at those where it is asked of first derivatives alone.
    """

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    smooth: bool | int | None = True
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.args, tuple):
            self.args = (self.args,)

    def __str__(self) -> str:
        if self.name:
            return self.name
        given = [
            str(spec_of(x)) if hasattr(x, "dtype") else type(x).__name__
            for x in flatten(self.args)[0]
        ]
        extra = [f"{key}={value!r}"[:40] for key, value in self.kwargs.items()]
        return f"{name_of(self.fun)}({', '.join(given + extra)})".replace("\n", " ")


@dataclass
class ErrorSample:
    """A call under `vjp` that must raise, with words that must be in the message."""

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    raises: type[BaseException] = Exception
    match: str = ""

    __str__ = Sample.__str__
    name: str | None = None


class Problem:
    """A sample as a function of its floating leaves, to a tuple of its floating results."""

    def __init__(self, sample: Sample) -> None:
        leaves, self.structure = flatten(list(sample.args))
        self.leaves = leaves
        self.sample = sample
        self.positions = [i for i, leaf in enumerate(leaves) if differentiable(leaf)]
        self.xs = [as_numpy(leaves[i]) for i in self.positions]
        self.random = np.random.default_rng(zlib.crc32(str(sample).encode()))

    def __call__(self, *xs: Any) -> tuple[Any, ...]:
        return tuple([x for x in self.results(*xs) if hasattr(x, "dtype") and is_inexact(x.dtype)])

    def results(self, *xs: Any) -> list[Any]:
        leaves = list(self.leaves)
        for i, x in zip(self.positions, xs, strict=True):
            leaves[i] = x
        args = unflatten(self.structure, leaves)
        out, self.containers = flatten(call_inside(self.sample.fun, args, self.sample.kwargs))
        return out

    def like(self, x: Any) -> Any:
        """A random direction of the shape and dtype of x."""
        spec = spec_of(x)
        v = self.random.uniform(-1, 1, spec.shape)
        if spec.dtype.kind == "c":
            v = v + 1j * self.random.uniform(-1, 1, spec.shape)
        v = np.asarray(v).astype(spec.dtype)
        return v if type(x) is np.ndarray else v[()]

    def wide(self) -> list[Any]:
        """The leaves in double precision."""
        return [
            np.asarray(x).astype(np.complex128 if x.dtype.kind == "c" else np.float64)[()]
            for x in self.xs
        ]


def as_numpy(x: Any) -> Any:
    return x if type(x) is np.ndarray else np.asarray(x)[()]


def differentiable(leaf: Any) -> bool:
    if is_static(leaf) or isinstance(leaf, int):
        return False
    return isinstance(leaf, (float, complex)) or (hasattr(leaf, "dtype") and is_inexact(leaf.dtype))


def check_value(sample: Sample) -> None:
    """The value under reverse, forward and staging is NumPy's: numbers, shape, dtype, lists."""
    problem = Problem(sample)
    expected, containers = [np.asarray(x) for x in problem.results(*problem.xs)], problem.containers
    tolerance = 30 * precision(problem.xs, [x for x in expected if x.dtype.kind in "fc"])

    def compare(outs: Any, what: str) -> None:
        assert problem.containers == containers, f"{what}: {problem.containers}, not {containers}"
        for out, right in zip(map(np.asarray, outs), expected, strict=True):
            assert out.dtype == right.dtype, f"{what}: dtype {out.dtype}, not {right.dtype}"
            if right.dtype.kind in "fc":
                close(out, right, tolerance, what)
            else:
                np.testing.assert_array_equal(out, right, err_msg=what)

    compare(vjp(lambda *xs: problem.results(*xs), *problem.xs)[0], "value under vjp")
    dots = [problem.like(x) for x in problem.xs]
    compare(jvp(lambda *xs: problem.results(*xs), problem.xs, dots)[0], "value under jvp")
    graph, values = staged(problem.results, problem.xs)
    compare(values, "value when staged")
    compare(graph.evaluate(*problem.xs), "value of the recorded graph")


def staged(f: Callable[..., Any], xs: Any) -> tuple[Any, list[Any]]:
    """The graph of f(*xs) and the values of its outputs."""
    _, graph, _, values = capture(f, {}, "stage", lambda enter: [enter(x) for x in xs])
    return graph, values


def primitives_of(sample: Sample) -> set[Any]:
    """The primitives that a sample reaches, forward and back."""
    problem = Problem(sample)

    def both(*xs: Any) -> Any:
        outs, pullback = vjp(problem, *xs)
        return outs, pullback(tuple([np.ones_like(out) for out in outs]))

    graphs = [staged(f, problem.xs)[0] for f in (problem.results, both)]
    return {equation.primitive for graph in graphs for equation in graph.equations}


def check_spec(sample: Sample) -> None:
    """Every primitive on the way predicts the shape and dtype of its results."""
    problem = Problem(sample)
    graph, _ = staged(problem.results, problem.xs)
    for equation in graph.equations:
        specs = [x.spec if hasattr(x, "spec") else spec_of(x) for x in equation.inputs]
        primitive = equation.primitive
        assert primitive.spec is not None, f"`{primitive.name}` has no spec rule"
        predicted = primitive.spec(*specs, **equation.static)
        predicted = predicted if primitive.n_out is not None else (predicted,)
        actual = tuple([x.spec for x in equation.outputs])
        assert tuple(predicted) == actual, f"spec of `{primitive.name}`: {predicted}, not {actual}"


def check_forward(sample: Sample) -> None:
    """jvp agrees with central differences; tangents have the shape and dtype of the results."""
    problem = Problem(sample)
    dots = [problem.like(x) for x in problem.xs]
    outs, out_dots = jvp(problem, problem.xs, dots)
    for out, dot in zip(outs, out_dots, strict=True):
        assert spec_of(dot) == spec_of(out), f"tangent {spec_of(dot)} of {spec_of(out)}"
    if not sample.smooth:
        return
    expected, worth = difference(problem, problem.wide(), dots)
    tolerance = max(worth, 200 * precision(problem.xs, outs))
    for dot, right in zip(out_dots, expected, strict=True):
        close(dot, right, tolerance, "jvp against central differences")


def check_reverse(sample: Sample) -> None:
    """<out_bar, jvp(x_dot)> = <vjp(out_bar), x_dot>, with all and with single arguments."""
    problem = Problem(sample)
    outs, pullback = vjp(problem, *problem.xs)
    bars = tuple([problem.like(out) for out in outs])
    x_bars = pullback(bars)
    for x_bar, x in zip(x_bars, problem.xs, strict=True):
        assert spec_of(x_bar) == spec_of(x), f"cotangent {spec_of(x_bar)} of {spec_of(x)}"
    tolerance = 500 * precision(problem.xs, outs)
    for i in range(len(problem.xs)):
        dots: list[Any] = [None] * len(problem.xs)
        dots[i] = problem.like(problem.xs[i])
        _, out_dots = jvp(problem, problem.xs, dots)
        agree((bars, out_dots), ([x_bars[i]], [dots[i]]), tolerance, f"argument {i}: <vjp, x_dot>")

        def alone(x: Any, i: int = i) -> Any:
            return problem(*problem.xs[:i], x, *problem.xs[i + 1 :])

        (x_bar,) = vjp(alone, problem.xs[i])[1](bars)
        close(x_bar, x_bars[i], tolerance, f"argument {i} differentiated alone")


def agree(left: Any, right: Any, tolerance: float, what: str, least: float = 0.0) -> None:
    """Whether two pairings are equal, judged by the size of their terms, or `least`."""
    with np.errstate(all="ignore"):  # at poles
        a, b = pair(*left), pair(*right)
        scale = max(size_of(*left), size_of(*right), least)
    if np.isnan(a) and np.isnan(b):
        return
    near = np.isfinite(a) and np.isfinite(b) and abs(a - b) <= tolerance * scale
    assert near or a == b, f"{what}: {b!r}, not {a!r}"


def check_second(sample: Sample) -> None:
    """The four second-order combinations agree, and with central differences of jvp."""
    if sample.smooth is None:
        return
    problem = Problem(sample)
    xs = problem.xs
    v, u = [problem.like(x) for x in xs], [problem.like(x) for x in xs]

    def forward(*xs: Any) -> Any:
        return jvp(problem, xs, v)[1]

    outs, curve = jvp(forward, xs, u)
    bars = tuple([problem.like(out) for out in outs])
    tolerance = 2000 * precision(xs, outs)
    # The same number four times: <out_bar, d2f[u, v]>.
    first = (bars, curve)
    with np.errstate(all="ignore"):  # at poles
        least = size_of(bars, outs)  # curve is a derivative of outs, and rounded as they are
    least = least if np.isfinite(least) else 0.0
    x_bars = vjp(forward, *xs)[1](bars)
    agree(first, (x_bars, u), tolerance, "vjp of jvp", least)

    def reverse(*xs: Any) -> Any:
        return vjp(problem, *xs)[1](bars)

    _, turned = jvp(reverse, xs, u)
    agree(first, (turned, v), tolerance, "jvp of vjp", least)
    x_bars = vjp(reverse, *xs)[1](tuple(v))
    agree(first, (x_bars, u), tolerance, "vjp of vjp", least)
    if sample.smooth is True:
        wide = problem.wide()
        expected, worth = difference(forward, wide, u)
        tolerance = max(10 * worth, 2000 * precision(xs, outs))
        for dot, right in zip(curve, expected, strict=True):
            close(dot, right, tolerance, "jvp of jvp against central differences")


def check_batch(sample: Sample) -> None:
    """vmap agrees with a loop: over each argument, over all, and for the pullback."""
    problem = Problem(sample)
    n = 3
    stacks = [
        np.stack([x + (1e-3 * k * problem.like(x)).astype(x.dtype) for k in range(n)])
        for x in problem.xs
    ]
    tolerance = 100 * precision(problem.xs)
    bars = tuple([problem.like(out) for out in problem(*problem.xs)])
    pull = lambda *xs: vjp(problem, *xs)[1](bars)

    def columns(rows: list[Any]) -> list[Any]:
        arrays = [[np.asarray(x) for x in column] for column in zip(*rows, strict=True)]
        return [np.stack(x).astype(x[0].dtype, copy=False) for x in arrays]  # as to byte order

    def compare(outs: Any, expected: Any, factor: float, what: str) -> None:
        for out, right in zip(outs, expected, strict=True):
            close(out, right, factor * max(tolerance, 100 * precision([right])), what)

    alone = [tuple([0 if s is mapped else None for s in stacks]) for mapped in stacks]
    for axes in dict.fromkeys([*alone, (0,) * len(stacks)]):  # all of them last
        choice = list(zip(stacks, axes, problem.xs, strict=True))
        args = [s if a == 0 else x for s, a, x in choice]
        outs = vmap(lambda *xs: problem.results(*xs), in_axes=axes)(*args)
        rows = [[s[k] if a == 0 else x for s, a, x in choice] for k in range(n)]
        values = columns([problem.results(*row) for row in rows])
        pullbacks = [vjp(problem, *row)[1] for row in rows]
        for out, right in zip(outs, values, strict=True):
            assert out.dtype == right.dtype, f"vmap {axes}: dtype {out.dtype}, not {right.dtype}"
        compare(outs, values, 1, f"vmap {axes}")
        pulled = columns([pullback(bars) for pullback in pullbacks])
        compare(vmap(pull, in_axes=axes)(*args), pulled, 10, f"vmap {axes} of vjp")
    moved = [np.moveaxis(s, 0, -1) for s in stacks]
    outs = vmap(lambda *xs: problem.results(*xs), in_axes=-1)(*moved)
    compare(outs, values, 1, "vmap over the last axis")
    outs, pullback = vjp(lambda *xs: vmap(lambda *ys: problem(*ys))(*xs), *stacks)
    many = tuple([problem.like(out) for out in outs])
    x_bars = pullback(many)
    for k in range(n):
        right = pullbacks[k](tuple([bar[k] for bar in many]))
        compare([x_bar[k] for x_bar in x_bars], right, 10, "vjp of vmap")


def check_unread(sample: Sample) -> None:
    """A node keeps what its primitive declares that it reads; the rest is a spec or nothing."""
    problem = Problem(sample)
    for entry in record(problem)(*problem.xs).entries:
        primitive = entry.primitive
        wanted = [type(x) is Array and x.within.fun is problem for x in entry.inputs]
        if primitive.constant or not any(wanted):
            continue
        reads = set(primitive.reads_for(wanted))
        for name, x in entry.residual.items():
            if isinstance(x, Spec) or name in reads or ("xs" in reads and name != "out"):
                continue
            position = int(name[1:]) if name != "out" else None
            assert position in primitive.nondiff, f"`{primitive.name}` keeps {name}, unread"


def check_compiled(sample: Sample) -> bool:
    """A compiled function gives what the function gives, when it is recorded and when repeated.

    Says whether it was repeated, and not run as it is. It needs the extra `compile`.
    """
    from .compiler.call.compiled import compile

    def call(f: Callable[..., Any]) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # results are compared, not warnings
            return flatten([f(*copy.deepcopy(sample.args), **sample.kwargs)])[0]

    expected, fast = call(sample.fun), compile(sample.fun, wait=True)
    for _ in range(4):
        for x, y in zip(call(fast), expected, strict=True):
            if isinstance(y, (np.ndarray, np.generic)) and y.dtype.kind in "fc":
                assert spec_of(x) == spec_of(y), f"compiled {spec_of(x)}, not {spec_of(y)}"
                close(x, y, 500 * precision([y]), "compiled against plain")
            else:
                np.testing.assert_array_equal(x, y)
    return fast.cache_info().hits > 0


def check_fresh(sample: Sample) -> None:
    """Gradients are writable and share memory with nothing; inputs and outputs may change."""
    problem = Problem(sample)
    xs = [np.array(x) for x in problem.xs]
    before = [x.copy() for x in xs]
    outs, pullback = vjp(problem, *xs)
    bars = tuple([problem.like(out) for out in outs])
    first = pullback(bars)
    for x, old in zip(xs, before, strict=True):
        np.testing.assert_array_equal(x, old, err_msg="the inputs changed")
    everything = [*first, *xs, *[np.asarray(o) for o in outs], *[np.asarray(b) for b in bars]]
    for i, x_bar in enumerate(first):
        if not isinstance(x_bar, np.ndarray):
            continue
        assert x_bar.flags.writeable, f"cotangent {i} is read-only"
        for j, other in enumerate(everything):
            assert i == j or not np.may_share_memory(x_bar, other), f"cotangent {i} shares memory"
    kept = [np.array(x_bar) for x_bar in first]
    for array in (*xs, *outs, *first):
        if isinstance(array, np.ndarray):
            array[...] = 7
    for old, new in zip(kept, pullback(bars), strict=True):
        np.testing.assert_array_equal(new, old, err_msg="a later change of arrays was seen")


LAWS: tuple[Callable[[Sample], None], ...] = (
    check_value,
    check_spec,
    check_forward,
    check_reverse,
    check_second,
    check_batch,
    check_unread,
    check_fresh,
)


def check_sample(sample: Sample, laws: Sequence[Callable[[Sample], None]] = LAWS) -> None:
    """All laws on one sample, or those given."""
    for law in laws:
        try:
            law(sample)
        except BaseException as error:
            error.add_note(f"{law.__name__} on {sample}")
            raise


def check_error(sample: ErrorSample) -> None:
    """The call raises the class that it should, with the words that it should."""
    import re

    problem = Problem(sample)  # type: ignore[arg-type]  # it has what is read of a Sample
    try:
        vjp(lambda *xs: problem.results(*xs), *problem.xs)
    except sample.raises as error:
        said = "\n".join([str(error), *getattr(error, "__notes__", [])])
        if not re.search(sample.match, said):
            raise AssertionError(f"{error} does not say {sample.match!r}") from error
    else:
        raise AssertionError(f"{sample} did not raise {sample.raises.__name__}")


@usage("check_grads(f, (x,))")
def check_grads(
    fun: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("forward", "reverse"),
) -> None:
    """Check the derivatives of fun at args against central differences and each other.

    >>> check_grads(np.sin, (0.5,))

    Args:
        args: arrays, numbers or trees of them; all real and complex floating leaves count.
        order: 1, or 2 for the second-order combinations as well.
        modes: "forward", "reverse" or both; a function with a rule for one mode only is checked in
            that one.

    Raises:
        AssertionError: with the law that does not hold, and by how much.
        ArgumentError: nothing among args, or among the results, can be differentiated.
    """
    check_function(fun, "check_grads")
    if not isinstance(args, (tuple, list)):
        raise ArgumentTypeError(
            f"`check_grads` takes the arguments of `{name_of(fun)}` as a tuple, but got"
            f" {kind_of(args)}.\n  Write `check_grads(f, (x,))`."
        )
    if not set(modes) <= {"forward", "reverse"} or not modes or order not in (1, 2):
        raise ArgumentError(
            f"`check_grads` was called with modes={modes!r}, order={order!r}.\n"
            "  Write `modes=('forward', 'reverse')` or one of the two, and `order=1` or `order=2`."
        )
    sample = Sample(fun, tuple(args), smooth=True if order == 2 else 1)
    problem = Problem(sample)
    if not problem.xs or not problem(*problem.xs):
        raise ArgumentError(
            "`check_grads` found nothing to differentiate in the"
            f" {'results' if problem.xs else 'arguments'} of `{name_of(fun)}`.\n"
            "  Give real or complex floating numbers: 1.0 and not 1." + lost(problem)
        )
    try:
        check_modes(sample, problem, order, modes)
    except AssertionError as error:
        if note := lost(problem):
            error.add_note(note.strip())
        error.add_note(
            f"If `{name_of(fun)}` has a kink or a jump at these arguments, differences are no"
            " guide: check it at others. Else `pullback doctor FILE.py:function` names the"
            " operation to blame."
        )
        raise


def lost(problem: Problem) -> str:
    """Where values left the program that is checked, as a sentence for messages."""
    if not problem.xs:
        return ""
    run = record(problem)(*problem.xs)
    texts = [f"A value left: {each}." for each in run.departures]
    compared = [entry for entry in run.entries if not (run.ends or entry.nodes)]
    texts += [f"Compared: `{each.primitive.name}` in {place(each.line)}." for each in compared]
    return "".join([f"\n  {text}" for text in list(dict.fromkeys(texts))[:8]])


def check_modes(sample: Sample, problem: Problem, order: int, modes: Sequence[str]) -> None:
    if set(modes) == {"forward", "reverse"}:
        check_forward(sample)
        check_reverse(sample)
        if order == 2:
            check_second(sample)
        return
    one = forward_alone if "forward" in modes else reverse_alone
    one(problem, problem)
    if order == 2:
        one(problem, derivative(problem, problem, "forward" in modes))


def derivative(problem: Problem, f: Callable[..., Any], forward: bool) -> Callable[..., Any]:
    """The derivative of f along a random direction or cotangent, as a function again."""
    dots = [problem.like(x) for x in problem.xs]
    bars = tuple([problem.like(out) for out in f(*problem.xs)])
    return lambda *xs: jvp(f, xs, dots)[1] if forward else vjp(f, *xs)[1](bars)


def forward_alone(problem: Problem, f: Callable[..., Any]) -> None:
    """jvp of f agrees with central differences, without the help of reverse mode."""
    dots = [problem.like(x) for x in problem.xs]
    outs, out_dots = jvp(f, problem.xs, dots)
    expected, worth = difference(f, problem.wide(), dots)
    tolerance = max(10 * worth, 2000 * precision(problem.xs, outs))
    for dot, right in zip(out_dots, expected, strict=True):
        close(dot, right, tolerance, "jvp against central differences")


def reverse_alone(problem: Problem, f: Callable[..., Any]) -> None:
    """vjp of f agrees with central differences, without the help of forward mode."""
    outs, pullback = vjp(f, *problem.xs)
    bars = tuple([problem.like(out) for out in outs])
    dots = [problem.like(x) for x in problem.xs]
    expected, worth = difference(f, problem.wide(), dots)
    tolerance = max(10 * worth, 2000 * precision(problem.xs, outs))
    agree((bars, expected), (pullback(bars), dots), tolerance, "vjp against central differences")

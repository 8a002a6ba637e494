"""Random programs that assign: all values are NumPy's after every step, derivatives are right."""

import random
import warnings
from collections import Counter

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from tests.budgets import LONG
from tests.fuzz_assignment import Program, make, shrink
from tests.seeds import check_seeds

# Of random programs many a derivative is zero.
pytestmark = pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")

PROGRAMS, CHUNK = (1_000_000, 1_000) if LONG else (400, 100)


class Trial:
    """A program, its inputs, what NumPy makes of it, and random directions."""

    def __init__(self, program: Program, skips: Counter) -> None:
        self.program, self.skips = program, skips
        self.codes = program.codes()
        self.xs = list(program.inputs.values())
        self.snapshots: list = []
        out = self.plain(self.xs, lambda i, names: self.snapshots.append(kept(names)))
        self.names = [k for k, v in out.items() if v.dtype.kind in "fc"]
        self.outs = [out[k] for k in self.names]
        rng = np.random.default_rng(program.seed + 7)
        self.like = lambda x: direction(rng, x)
        self.dots = [self.like(x) for x in self.xs]
        self.bars = [self.like(out) for out in self.outs]
        self.narrow = any(x.dtype.char in "fF" for x in self.xs)
        self.tolerance = 1e-3 if self.narrow else 1e-9

    def plain(self, xs, watch=None):
        with np.errstate(all="ignore"):
            return self.program.run([x.copy() for x in xs], codes=self.codes, watch=watch)

    def arrays(self, *xs, watch=None):
        """The program as a function to its arrays."""
        out = self.program.run(xs, pb.array, self.codes, watch)
        return tuple([out[k] for k in self.names])

    def total(self, *xs):
        """To one number, with a weight for each element."""
        outs = self.arrays(*xs)
        return sum([np.sum(out * bar).real for out, bar in zip(outs, self.bars, strict=True)])

    def along(self, t):
        out = self.plain(self.moved(t, self.dots))
        return float(
            sum([np.sum(out[k] * b).real for k, b in zip(self.names, self.bars, strict=True)])
        )

    def moved(self, t, dots):
        """The inputs moved along directions."""
        double = lambda x: x.astype(np.result_type(x, np.float64))
        return [double(x) + t * double(dot) for x, dot in zip(self.xs, dots, strict=True)]

    def close(self, actual, expected, what, tolerance=None):
        tolerance = self.tolerance if tolerance is None else tolerance
        assert len(actual) == len(expected), what
        for k, a, b in zip(self.names, actual, expected, strict=False):
            same(a, b, f"{what}, `{k}`", tolerance)

    def slope(self, f):
        """The derivative of f at 0; None where f has a kink near 0."""
        v = {t: f(t * 1e-3) for t in (-2, -1, -0.5, 0.5, 1, 2)}
        coarse = (8 * (v[1] - v[-1]) - (v[2] - v[-2])) / 12e-3
        fine = (8 * (v[0.5] - v[-0.5]) - (v[1] - v[-1])) / 6e-3
        error, scale = np.max(np.abs(fine - coarse)), 1 + np.max(np.abs(fine))
        return (fine, 10 * error + 1e-8 * scale) if error < 1e-5 * scale else None

    def derivative(self, actual, f, what):
        slope = self.slope(f)
        if slope is None:
            self.skips[f"kink: {what}"] += 1
            return
        if self.narrow:
            slope = slope[0], slope[1] + 1e-3 * (1 + np.max(np.abs(slope[0])))
        assert np.allclose(actual, slope[0], rtol=0, atol=slope[1]), (
            f"{what}: {actual!r}, by differences {slope[0]!r}"
        )


def kept(names):
    return {k: np.copy(v) for k, v in names.items()}


def direction(rng, x):
    v = rng.uniform(-1, 1, np.shape(x))
    if x.dtype.kind == "c":
        v = v + 1j * rng.uniform(-1, 1, np.shape(x))
    return np.asarray(v).astype(x.dtype)[()]


def same(a, b, what, tolerance):
    a, b = np.asarray(a), np.asarray(b)
    assert (a.shape, a.dtype) == (b.shape, b.dtype), (
        f"{what}: {a.dtype}{a.shape}, not {b.dtype}{b.shape}"
    )
    if a.dtype.kind in "fc" and a.size:
        scale = tolerance * (1 + np.max(np.abs(b)))
        assert np.max(np.abs(a - b)) <= scale, f"{what}: {a!r}, not {b!r}"
    else:
        assert np.array_equal(a, b), f"{what}: {a!r}, not {b!r}"


def plain(x):
    return x.numpy() if type(x) is Array else x


def pairing(xs, ys):
    return float(sum([np.sum(x * y).real for x, y in zip(xs, ys, strict=True)]))


def watcher(trial, what, batch=None):
    """Compares every array after every step with NumPy's."""

    def watch(i, names):
        expected = trial.snapshots[i] if batch is None else batch[i]
        assert names.keys() == expected.keys(), f"{what}, step {i}: the names"
        for k, v in names.items():
            if batch is not None and not (type(v) is Array and plain(v).shape != v.shape):
                continue  # the same for all examples: at least in this program
            same(plain(v), expected[k], f"{what}, step {i}, `{k}`", 1e-4 if trial.narrow else 1e-12)

    return watch


# The checks.


def check_reverse(trial):
    """vjp, with a look at all arrays after each step or without: a look reads views again."""
    watch = watcher(trial, "vjp") if trial.program.seed % 2 else None
    outs, pullback = pb.vjp(lambda *xs: trial.arrays(*xs, watch=watch), *trial.xs)
    trial.close(outs, trial.outs, "value under vjp")
    x_bars = pullback(tuple(trial.bars))
    for x, bar in zip(trial.xs, x_bars, strict=True):
        assert (bar.shape, bar.dtype) == (x.shape, x.dtype)
    slope = pairing(x_bars, trial.dots)
    trial.derivative(slope, trial.along, "vjp")


def check_forward(trial):
    watch = None if trial.program.seed % 2 else watcher(trial, "jvp")
    outs, dots = pb.jvp(lambda *xs: trial.arrays(*xs, watch=watch), trial.xs, trial.dots)
    trial.close(outs, trial.outs, "value under jvp")
    (x_bars, slope) = (
        pb.vjp(trial.arrays, *trial.xs)[1](tuple(trial.bars)),
        pairing(dots, trial.bars),
    )
    other = pairing(x_bars, trial.dots)
    size = 1 + sum([np.sum(np.abs(d)) for d in dots])
    assert abs(slope - other) <= 10 * trial.tolerance * size, f"jvp {slope!r}, vjp {other!r}"


def check_linearize(trial):
    outs, pushforward = pb.linearize(trial.arrays, *trial.xs)
    trial.close(outs, trial.outs, "value under linearize")
    dots = pb.jvp(trial.arrays, trial.xs, trial.dots)[1]
    trial.close(pushforward(*trial.dots), dots, "linearize")
    trial.close(pushforward(*trial.dots), dots, "linearize again")


def check_checkpoint(trial):
    f = pb.checkpoint(trial.arrays)
    outs, pullback = pb.vjp(f, *trial.xs)
    trial.close(outs, trial.outs, "value under checkpoint")
    expected = pb.vjp(trial.arrays, *trial.xs)[1](tuple(trial.bars))
    for _ in range(2):
        for a, b in zip(pullback(tuple(trial.bars)), expected, strict=True):
            same(a, b, "vjp of checkpoint", trial.tolerance)
    dots = pb.jvp(f, trial.xs, trial.dots)[1]
    trial.close(dots, pb.jvp(trial.arrays, trial.xs, trial.dots)[1], "jvp of checkpoint")


def check_eager(trial):
    if any("x[" in s[:2] or s[:4] in ("x *=", "x +=", "y +=") for s in trial.program.steps):
        return  # writes into a leaf
    leaves = [pb.array(x, requires_grad=True) for x in trial.xs]
    outs = trial.arrays(*leaves, watch=watcher(trial, "eager") if trial.program.seed % 3 else None)
    value = sum([np.sum(out * bar).real for out, bar in zip(outs, trial.bars, strict=True)])
    if not (type(value) is Array and value.requires_grad):
        return
    value.backward(create_graph=trial.program.seed % 2 == 0)
    x_bars = pb.vjp(trial.arrays, *trial.xs)[1](tuple(trial.bars))
    for leaf, bar in zip(leaves, x_bars, strict=True):
        same(
            np.zeros_like(bar) if leaf.grad is None else plain(leaf.grad),
            bar,
            ".grad",
            trial.tolerance,
        )


def check_no_grad(trial):
    """Without recording the values are the same; leaves are written into."""
    with pb.no_grad():
        leaves = [pb.array(x, requires_grad=True) for x in trial.xs]
        trial.arrays(*leaves, watch=watcher(trial, "no_grad"))


def check_constants(trial):
    trial.arrays(*[pb.array(x) for x in trial.xs], watch=watcher(trial, "constants"))


def check_batch(trial):
    n, mapped = 2, [True, trial.program.seed % 5 > 0]
    stacks = [
        np.stack([x, x + 0.01 * d]).astype(x.dtype)
        for x, d in zip(trial.xs, trial.dots, strict=True)
    ]
    args = [s if m else x for s, x, m in zip(stacks, trial.xs, mapped, strict=True)]
    rows = [[a[k] if m else a for a, m in zip(args, mapped, strict=True)] for k in range(n)]
    steps = [[], []]
    for k in range(n):
        try:
            trial.plain(rows[k], lambda i, names, k=k: steps[k].append(kept(names)))
        except Exception:
            trial.skips["the other example fails"] += 1
            return
    try:
        together = [
            {key: np.stack([a[key], b[key]]) for key in a} for a, b in zip(*steps, strict=True)
        ]
    except ValueError:
        trial.skips["shapes differ between examples"] += 1
        return
    axes = tuple([0 if m else None for m in mapped])
    watch = watcher(trial, "vmap", together) if trial.program.seed % 2 else None
    try:
        outs = pb.vmap(lambda *xs: trial.arrays(*xs, watch=watch), in_axes=axes)(*args)
    except (pb.ConversionError, pb.ArgumentError, ValueError) as error:
        words = ["mapped"]
        words += [] if all(mapped) else ["plain ndarray", "array element", "single item"]
        if not any(word in str(error) for word in words):
            raise
        trial.skips["refused under vmap"] += 1
        return
    trial.close(outs, [together[-1][k] for k in trial.names], "vmap")
    pull = lambda *xs: pb.vjp(trial.arrays, *xs)[1](tuple(trial.bars))
    looped = [np.stack(column) for column in zip(*[pull(*row) for row in rows], strict=True)]
    batched = pb.vmap(pull, in_axes=axes)(*args)
    for a, b in zip(batched, looped, strict=True):
        same(a, b, "vmap of vjp", trial.tolerance)
    push = lambda *xs: pb.jvp(trial.arrays, xs, trial.dots)[1]
    looped = [np.stack(column) for column in zip(*[push(*row) for row in rows], strict=True)]
    trial.close(pb.vmap(push, in_axes=axes)(*args), looped, "vmap of jvp")
    if all(mapped):
        _, pullback = pb.vjp(pb.vmap(trial.arrays), *args)
        bars = tuple([np.stack([bar] * n) for bar in trial.bars])
        looped = [np.stack(column) for column in zip(*[pull(*row) for row in rows], strict=True)]
        for a, b in zip(pullback(bars), looped, strict=True):
            same(a, b, "vjp of vmap", trial.tolerance)
        stack_dots = [np.stack([d] * n) for d in trial.dots]
        looped = [np.stack(column) for column in zip(*[push(*row) for row in rows], strict=True)]
        trial.close(pb.jvp(pb.vmap(trial.arrays), stacks, stack_dots)[1], looped, "jvp of vmap")


def check_second(trial):
    """The combinations of modes give one number, which is that of differences."""
    xs, v = trial.xs, trial.dots
    u = [trial.like(x) for x in xs]
    where = tuple(range(len(xs)))
    gradient = pb.grad(trial.total, where)
    inner = lambda *xs: sum([np.sum(g * d).real for g, d in zip(gradient(*xs), v, strict=True)])
    turned = pb.jvp(lambda *xs: gradient(*xs), xs, u)[1]
    twice = pb.grad(inner, where)(*xs)
    bent = pb.grad(lambda *xs: pb.jvp(trial.total, xs, v)[1], where)(*xs)
    a, b, c = pairing(turned, v), pairing(twice, u), pairing(bent, u)
    size = 1 + abs(a) + sum([np.sum(np.abs(t)) for t in turned])
    assert abs(a - b) <= 10 * trial.tolerance * size, f"jvp of grad {a!r}, grad of grad {b!r}"
    assert abs(a - c) <= 10 * trial.tolerance * size, f"jvp of grad {a!r}, grad of jvp {c!r}"
    if trial.narrow:
        return

    def along(t):
        return pairing(gradient(*trial.moved(t, u)), v)

    if trial.slope(trial.along) is not None:
        trial.derivative(a, along, "grad of grad")


def check_nested(trial):
    """Arrays of a transformation around are assigned to and read inside."""

    def around(t):
        moved = trial.moved(t, trial.dots)
        return pb.value_and_grad(trial.total, (0, 1))(*moved)[0]

    value, slope = pb.jvp(around, (0.0,), (1.0,))
    assert abs(value - trial.along(0.0)) < 1e-9 * (1 + abs(value))
    if not trial.narrow:
        trial.derivative(slope, trial.along, "jvp around value_and_grad")


ALWAYS = (check_reverse, check_forward)
SOMETIMES = (
    check_linearize,
    check_checkpoint,
    check_eager,
    check_no_grad,
    check_constants,
    check_batch,
    check_batch,
    check_second,
    check_second,
    check_nested,
)


def check(program, skips):
    """Some checks of a program, chosen by its seed."""
    with np.errstate(all="ignore"), warnings.catch_warnings(), pb.rebinding(False):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", pb.LostDerivativeWarning)
        trial = Trial(program, skips)
        chosen = SOMETIMES if LONG else random.Random(program.seed).sample(SOMETIMES, 2)
        for one in (*ALWAYS, *chosen):
            try:
                one(trial)
            except Exception as error:
                error.add_note(f"{one.__name__}, seed {program.seed}")
                raise


@pytest.mark.share(4)
@pytest.mark.parametrize("start", range(0, PROGRAMS, CHUNK))
def test_random_programs(start):
    check_seeds(range(start, start + CHUNK), make, check, shrink)

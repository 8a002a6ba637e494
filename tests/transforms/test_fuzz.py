"""Random NumPy programs: derivatives against plain NumPy, and each mode against the others."""

import warnings
from functools import cached_property

import numpy as np
import pytest

import pullback as pb
from pullback.transforms.record import record
from tests.budgets import LONG
from tests.fuzz import leaves, make, shrink
from tests.seeds import check_seeds

PROGRAMS, CHUNK = (30_000, 100) if LONG else (75, 25)


class Trial:
    """A program with its inputs, random directions, and its first derivatives."""

    def __init__(self, program, skips):
        self.program, self.skips = program, skips
        self.fun, self.inputs = program.load()
        self.random = np.random.default_rng(program.seed)
        self.xs = [np.array(x)[()] if np.isscalar(x) else x.copy() for x in self.inputs]
        self.outs = [np.asarray(out) for out in self.f(*self.xs)]
        narrow = any(x.dtype.char in "fF" for x in [*self.xs, *self.outs])
        self.exact = program.exact and not narrow
        # What two ways to compute the same may differ by, and how far a derivative may be off.
        self.rounding, self.tolerance = (1e-10, 1e-8) if self.exact else (1e-4, 2e-3)
        self.dots = [self.like(x) for x in self.xs]
        self.bars = tuple([self.like(out) for out in self.outs])

    def f(self, *xs):
        """The program as a function to a flat tuple."""
        return tuple(leaves(self.fun(*xs)))

    def push(self, *xs):
        return pb.jvp(self.f, xs, self.dots)[1]

    def pull(self, *xs):
        return pb.vjp(self.f, *xs)[1](self.bars)

    @cached_property
    def out_dots(self):
        return self.push(*self.xs)

    @cached_property
    def x_bars(self):
        return self.pull(*self.xs)

    @cached_property
    def away(self):
        """Inputs in double precision near the given ones, at which nothing is tied by chance."""
        return [x + 0.01 * self.like(np.asarray(x, np.result_type(x, float))) for x in self.xs]

    def like(self, x):
        """A random direction of the shape and dtype of x."""
        v = self.random.uniform(-1, 1, x.shape)
        if x.dtype.kind == "c":
            v = v + 1j * self.random.uniform(-1, 1, x.shape)
        v = np.asarray(v).astype(x.dtype)
        return v if isinstance(x, np.ndarray) else v[()]

    def weighted(self, *xs):
        """One real number, whose gradient are the cotangents of the inputs."""
        pairs = zip(self.f(*xs), self.bars, strict=True)
        return sum(np.sum(out * bar).real for out, bar in pairs)

    def close(self, actual, expected, what, tolerance=None):
        """Pairwise of one shape and dtype, and as close as the largest number asks for."""
        tolerance = self.tolerance if tolerance is None else tolerance
        scale = tolerance * max([1.0, *[largest(x) for x in expected]])
        for i, (x, right) in enumerate(zip(actual, expected, strict=True)):
            x, right = np.asarray(x), np.asarray(right)
            found, wanted = f"{x.dtype}{x.shape}", f"{right.dtype}{right.shape}"
            assert found == wanted, f"{what}, number {i}: {found}, not {wanted}"
            where = f"{what}, number {i}"
            np.testing.assert_allclose(x, right, rtol=tolerance, atol=scale, err_msg=where)

    def near(self, dots, slopes, what):
        """Tangents and what differences say, which gives its error as well."""
        if slopes is None:
            self.skips[f"a kink: {what}"] += 1
            return
        values, error = slopes
        wanted = [x.astype(dot.dtype) for x, dot in zip(values, dots, strict=True)]
        self.close(dots, wanted, f"{what} against differences", error)

    def agree(self, left, right, what):
        """Two pairings <bars, dots> are one number."""
        a, b = [
            sum(np.sum(x * y).real for x, y in zip(*pair, strict=True)) for pair in (left, right)
        ]
        size = sum(
            np.sum(np.abs(x * y)) for pair in (left, right) for x, y in zip(*pair, strict=True)
        )
        assert abs(a - b) <= self.tolerance * (1 + size), f"{what}: {b!r}, not {a!r}"


def largest(x):
    return float(np.max(np.abs(x), initial=0, where=np.isfinite(x)))


def finite(*trees):
    return all(np.isfinite(x).all() for xs in trees for x in xs)


def difference(f, xs, dots):
    """The derivative of f along dots by differences, and its error; None where f has a kink.

    At a kink the two sides differ, and beside one two sizes of steps do.
    """
    h = 2e-3

    def at(t):
        return [np.asarray(y) for y in f(*[x + t * h * d for x, d in zip(xs, dots, strict=True)])]

    try:
        y = {t: at(t) for t in (-2, -1, -0.5, 0, 0.5, 1, 2)}
    except (ArithmeticError, IndexError, ValueError):  # the program took another way there
        return None
    slopes, error, scale = [], 0.0, 1.0
    for i, middle in enumerate(y[0]):
        v = {t: y[t][i] for t in y}
        if any(v[t].shape != middle.shape for t in y):
            return None
        coarse = (8 * (v[1] - v[-1]) - (v[2] - v[-2])) / (12 * h)
        fine = (8 * (v[0.5] - v[-0.5]) - (v[1] - v[-1])) / (6 * h)
        right = (4 * v[0.5] - v[1] - 3 * middle) / h
        left = (3 * middle - 4 * v[-0.5] + v[-1]) / h
        scale = max(scale, largest(fine))
        error = max(error, largest(fine - coarse), 1e-4 * largest(right - left))
        if not finite(v.values()) or largest(right - left) > 1e-2 * scale:
            return None
        slopes.append(fine)
    return None if error > 1e-4 * scale else (slopes, 20 * error + 1e-8 * scale)


def check_value(trial):
    """Under every trace the values are NumPy's, in the tree that the program returns."""
    xs, rounding = trial.xs, trial.rounding
    out, pullback = pb.vjp(trial.fun, *xs)
    trial.close(leaves(out), trial.outs, "value under vjp", rounding)
    trial.close(pb.jvp(trial.f, xs, trial.dots)[0], trial.outs, "value under jvp", rounding)
    trial.close(pb.linearize(trial.f, *xs)[0], trial.outs, "value under linearize", rounding)
    trial.close(pb.checkpoint(trial.f)(*xs), trial.outs, "value under checkpoint", rounding)
    trial.close(record(trial.f)(*xs).out, trial.outs, "value under record", rounding)
    trial.close([pb.value_and_grad(trial.weighted)(*xs)[0]], [trial.weighted(*xs)], "value")
    trial.close(pullback(like_tree(trial.fun(*xs), trial.bars)), trial.x_bars, "vjp of a tree", 0)


def like_tree(tree, items):
    """A tree with other leaves."""
    return rebuilt(tree, iter(items))


def rebuilt(tree, items):
    if isinstance(tree, (list, tuple)):
        return type(tree)([rebuilt(item, items) for item in tree])
    if isinstance(tree, dict):
        return {key: rebuilt(tree[key], items) for key in sorted(tree)}
    return next(items)


def check_first(trial):
    """jvp agrees with differences, vjp with jvp, for all arguments and for one alone."""
    xs = trial.xs
    for x, x_bar in zip(xs, trial.x_bars, strict=True):
        assert type(x_bar) is type(x), "a gradient is like its argument"
        assert not isinstance(x_bar, np.ndarray) or x_bar.flags.writeable, "a gradient is writable"
    if trial.program.exact:
        dots = [d.astype(x.dtype) for d, x in zip(trial.dots, trial.away, strict=True)]
        slopes = difference(trial.f, trial.away, dots)
        trial.near(slopes and pb.jvp(trial.f, trial.away, dots)[1], slopes, "jvp")
    if not finite(trial.out_dots, trial.x_bars):
        trial.skips["a pole"] += 1
        return
    trial.agree((trial.bars, trial.out_dots), (trial.x_bars, trial.dots), "vjp against jvp")
    i = trial.program.seed % len(xs)
    part = pb.jvp(trial.f, xs, [dot if j == i else None for j, dot in enumerate(trial.dots)])[1]
    x_bars = pb.vjp(lambda x: trial.f(*xs[:i], x, *xs[i + 1 :]), xs[i])[1](trial.bars)
    trial.agree((trial.bars, part), (x_bars, [trial.dots[i]]), f"argument {i} alone")
    trial.close(x_bars, [trial.x_bars[i]], f"vjp of argument {i} alone")


def check_doors(trial):
    """linearize, checkpoint, grad and the eager door say what jvp and vjp say."""
    xs, again = trial.xs, pb.checkpoint(trial.f)
    trial.close(pb.linearize(trial.f, *xs)[1](*trial.dots), trial.out_dots, "linearize")
    trial.close(pb.jvp(again, xs, trial.dots)[1], trial.out_dots, "jvp of checkpoint")
    trial.close(pb.vjp(again, *xs)[1](trial.bars), trial.x_bars, "vjp of checkpoint")
    gradient = pb.grad(trial.weighted, argnums=tuple(range(len(xs))))(*xs)
    trial.close(gradient, trial.x_bars, "grad")
    tree = {"name": "inputs", "xs": list(xs)}
    gradient = pb.grad(lambda tree: trial.weighted(*tree["xs"]))(tree)
    trial.close(gradient["xs"], trial.x_bars, "grad of a tree")
    made = [pb.array(x, requires_grad=True) for x in xs]
    out = trial.weighted(*made)
    if type(out) is pb.Array:  # else the program depends on no input
        out.backward()
    trial.close(received(made), trial.x_bars, "backward")


def received(arrays):
    """What backward passes have left, zeros where nothing came."""
    return [np.zeros_like(x.numpy()) if x.grad is None else x.grad for x in arrays]


def check_second(trial):
    """The four combinations of modes say one number; jvp of vjp agrees with differences."""
    xs, v, u = trial.xs, trial.dots, [trial.like(x) for x in trial.xs]
    curve = pb.jvp(trial.push, xs, u)[1]
    bent = pb.vjp(trial.push, *xs)[1](trial.bars)
    turned = pb.jvp(trial.pull, xs, u)[1]
    twice = pb.vjp(trial.pull, *xs)[1](tuple(v))
    if finite(curve, bent, turned, twice):
        trial.agree((trial.bars, curve), (bent, u), "vjp of jvp")
        trial.agree((trial.bars, curve), (turned, v), "jvp of vjp")
        trial.agree((trial.bars, curve), (twice, u), "vjp of vjp")
        check_second_doors(trial, v, twice)
    else:
        trial.skips["a pole of second order"] += 1
    if trial.exact:
        slopes = difference(trial.pull, trial.away, u)
        trial.near(slopes and pb.jvp(trial.pull, trial.away, u)[1], slopes, "jvp of vjp")


def check_second_doors(trial, v, twice):
    """checkpoint, hvp and the eager door say what vjp of vjp says; one of them for each program."""
    xs, where = trial.xs, tuple(range(len(trial.xs)))
    match trial.program.seed % 3:
        case 0:
            again = pb.checkpoint(trial.f)
            pull = lambda *xs: pb.vjp(again, *xs)[1](trial.bars)
            trial.close(pb.vjp(pull, *xs)[1](tuple(v)), twice, "vjp of vjp of checkpoint")
        case 1 if all(x.dtype.kind == "f" for x in xs):
            trial.close(pb.hvp(trial.weighted, where)(*xs, tuple(v)), twice, "hvp")
        case 2:
            made = [pb.array(x, requires_grad=True) for x in xs]
            out = trial.weighted(*made)
            if type(out) is pb.Array:
                out.backward(create_graph=True)
                slope = sum(np.sum(g * dot).real for g, dot in zip(received(made), v, strict=True))
                for x in made:
                    x.zero_grad()
                if type(slope) is pb.Array:
                    slope.backward()
            trial.close(received(made), twice, "backward of backward")


def check_batch(trial):
    """vmap agrees with a loop, for the function and its derivatives, whatever is mapped."""
    n, xs = 3, trial.xs
    stacks = [
        np.stack([x + (0.01 * k * trial.like(x)).astype(x.dtype) for k in range(n)]) for x in xs
    ]
    axes = [None if trial.random.random() < 0.25 else 0 for _ in xs]
    axes = tuple(axes if 0 in axes else [0] * len(xs))
    args = [stack if axis == 0 else x for stack, axis, x in zip(stacks, axes, xs, strict=True)]
    rows = [
        [x if axis is None else x[k] for x, axis in zip(args, axes, strict=True)] for k in range(n)
    ]
    looped = {}
    for f in (trial.f, trial.push, trial.pull):
        what = f"vmap of {f.__name__}"
        try:
            batched = pb.vmap(f, in_axes=axes)(*args)
        except pb.ConversionError:
            if not trial.program.asks:
                raise
            trial.skips["vmap of a program that asks"] += 1
            return
        looped[f] = [np.stack(column) for column in zip(*[f(*row) for row in rows], strict=True)]
        if finite(looped[f]):
            trial.close(batched, looped[f], what)
        else:
            trial.skips[f"a pole: {what}"] += 1
    if None not in axes and finite(looped[trial.pull]):
        _, pullback = pb.vjp(pb.vmap(trial.f), *stacks)
        x_bars = pullback(tuple([np.stack([bar] * n) for bar in trial.bars]))
        trial.close(x_bars, looped[trial.pull], "vjp of vmap")


def check_unchanged(trial):
    """Nothing writes into inputs, whatever their layout; a gradient shares no memory with them."""
    x_bars = pb.vjp(trial.f, *trial.inputs)[1](trial.bars)
    trial.close(pb.jvp(trial.f, trial.inputs, trial.dots)[1], trial.out_dots, "jvp of a layout")
    trial.close(x_bars, trial.x_bars, "vjp of a layout")
    for x, before in zip([*trial.inputs, *trial.xs], [*trial.program.load()[1]] * 2, strict=True):
        np.testing.assert_array_equal(x, before, err_msg="an input changed")
    for i, x_bar in enumerate(x_bars):
        others = [*trial.inputs, *trial.bars, *x_bars[:i]]
        assert not any(np.may_share_memory(x_bar, other) for other in others), "shared memory"


CHECKS = (check_value, check_first, check_doors, check_second, check_batch, check_unchanged)


def check(program, skips):
    """All checks on one program."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", pb.LostDerivativeWarning)  # many a derivative is zero
        trial = Trial(program, skips)
        for one in CHECKS:
            try:
                one(trial)
            except Exception as error:
                if "without elements" in str(error):
                    skips["a plain array, and a mask that is an Array without elements"] += 1
                    return
                error.add_note(f"{one.__name__} on program {program.seed}")
                raise


@pytest.mark.share(6)
@pytest.mark.parametrize("start", range(0, PROGRAMS, CHUNK))
def test_random_programs(start):
    """Every mode is right, or the seed and the smallest part of the program that fails are told."""
    check_seeds(range(start, start + CHUNK), make, check, shrink)

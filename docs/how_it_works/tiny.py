"""A small pullback, which the chapters of *How it works* build section by section."""

# 1. What a derivative is
from itertools import count

import numpy as np


def difference(f, x, x_dot, step=1e-6):
    """The derivative of f at x in a direction, nearly, by two evaluations."""
    return (f(x + step * x_dot) - f(x - step * x_dot)) / (2 * step)


# 2. A node and the backward pass
class Node:
    """One operation: rule(out_bar, residual, wanted) gives one cotangent for each parent."""

    def __init__(self, parents=(), rule=None, residual=None):
        self.parents, self.rule, self.residual = parents, rule, residual


def backward(end, bar):
    """Carry a cotangent back from a node; return the cotangents of the leaves that it reaches."""
    pending, stack = {end: 0}, [end]
    while stack:  # count the uses of each node
        for parent in filter(None, stack.pop().parents):
            if parent not in pending:
                stack.append(parent)
            pending[parent] = pending.get(parent, 0) + 1
    bars, ready = {end: bar}, [end] if end.parents else []
    while ready:  # apply a node once all its uses have arrived
        node = ready.pop()
        x_bars = node.rule(bars.pop(node), node.residual, node.parents)
        for parent, x_bar in zip(node.parents, x_bars, strict=True):
            if parent is not None:
                bars[parent] = bars[parent] + x_bar if parent in bars else x_bar
                pending[parent] -= 1
                if not pending[parent] and parent.parents:
                    ready.append(parent)
    return bars


# 3. Array and NumPy's protocols
class Array(np.lib.mixins.NDArrayOperatorsMixin):
    """A value in flight, the trace that it belongs to, and its place there."""

    def __init__(self, value, trace, node):
        self.value, self.trace, self.node = value, trace, node

    def __repr__(self):
        return f"Array({self.value!r}, {self.trace.name})"

    def __array_ufunc__(self, ufunc, method, *xs, **keywords):
        if method == "__call__" and not keywords and ufunc in REGISTRY:
            return REGISTRY[ufunc](*xs)
        return NotImplemented

    def __array_function__(self, function, types, args, kwargs):
        return REGISTRY[function](*args, **kwargs) if function in REGISTRY else NotImplemented

    def __array__(self, *_, **__):
        raise TypeError("a plain value would have lost what the Array stands for")

    __float__ = __bool__ = __array__
    __getitem__ = lambda self, key: item(self, key=key if type(key) is tuple else (key,))
    shape = property(lambda self: np.shape(self.value)[self.trace.hidden :])


REGISTRY = {np.shape: lambda x: x.shape}  # NumPy function -> what answers for it on Arrays


# 4. Primitive and trace
class Primitive:
    """An indivisible operation: value(*xs, **static) of plain arrays, and rules.

    jvp(out, xs, x_dots, **static)     the tangent of out; None is an x_dot that is zero
    vjp(out_bar, residual, wanted)     the cotangents of xs; residual is (out, xs, static)
    batch(xs, mapped, size, **static)  the result with the batch axis at 0
    """

    def __init__(self, value, constant=False, **rules):
        self.value, self.constant = value, constant
        vars(self).update(rules)

    def __call__(self, *xs, **static):
        """The youngest trace among the operands interprets the operation."""
        traces = [x.trace for x in xs if type(x) is Array]
        if not traces:
            return self.value(*xs, **static)
        return max(traces, key=lambda trace: trace.birth).process(self, xs, static)


class Trace:
    """One running transformation: it gives the operations on its Arrays their meaning."""

    births, hidden = count(1), 0  # hidden: axes of a value that its user does not see

    def __init__(self):
        self.birth, self.ended = next(Trace.births), False
        self.name = f"{type(self).__name__} {self.birth}"

    def process(self, primitive, xs, static):
        if self.ended:
            raise RuntimeError(f"an operation met an Array of {self.name}, which has ended")
        mine = [type(x) is Array and x.trace is self for x in xs]
        values = [x.value if m else x for x, m in zip(xs, mine, strict=True)]
        nodes = [x.node if m else None for x, m in zip(xs, mine, strict=True)]
        return self.apply(primitive, values, nodes, static)


class Reverse(Trace):
    """Beside each value stands a node, from which to go back."""

    def apply(self, primitive, xs, parents, static):
        out = primitive(*xs, **static)
        if primitive.constant:
            return out
        return Array(out, self, Node(parents, primitive.vjp, (out, xs, static)))


# 5. Unbroadcasting
def unbroadcast(x_bar, shape):
    """Sum a cotangent over the axes along which its primal, of this shape, was broadcast."""
    lead, sizes = len(np.shape(x_bar)) - len(shape), np.shape(x_bar)
    axes = [i for i, n in enumerate(sizes) if i < lead or shape[i - lead] != n]
    return np.reshape(np.sum(x_bar, axis=tuple(axes)), shape) if axes else x_bar


# 6. Traces by age, and grad as a function of functions
def run(trace, f, xs, nodes):
    """f on Arrays of a trace: the value of the result and its node, None for a constant."""
    args = [x if type(x) is Array else np.asarray(x, dtype=float)[()] for x in xs]
    try:
        out = f(*[Array(x, trace, node) for x, node in zip(args, nodes, strict=True)])
    finally:
        trace.ended = True
    if type(out) is not Array or not out.trace.ended:
        return out, None
    if out.trace is not trace:
        raise RuntimeError(f"an Array of {out.trace.name}, which has ended, was returned")
    return out.value, out.node


def vjp(f, *xs):
    """Return f(*xs) and the pullback, from a cotangent of the output to those of xs."""
    leaves = [Node() for _ in xs]
    out, node = run(Reverse(), f, xs, leaves)

    def pullback(out_bar):
        bars = backward(node, out_bar) if node else {}
        return [bars.get(leaf, np.zeros(np.shape(x))) for leaf, x in zip(leaves, xs, strict=True)]

    return out, pullback


def grad(f):
    """Return a function that computes the gradient of f, one number, by its first argument."""

    def gradient(x, *rest):
        out, pullback = vjp(lambda x: f(x, *rest), x)
        if np.shape(out):
            raise TypeError(f"a gradient is of one number, not of the shape {np.shape(out)}")
        return pullback(1.0)[0]

    return gradient


# 7. Forward mode
class Forward(Trace):
    """Beside each value stands its tangent."""

    def apply(self, primitive, xs, x_dots, static):
        out = primitive(*xs, **static)
        if primitive.constant:
            return out
        return Array(out, self, primitive.jvp(out, xs, x_dots, **static))


def jvp(f, xs, x_dots):
    """Return f(*xs) and its derivative there in the direction x_dots."""
    out, out_dot = run(Forward(), f, xs, x_dots)
    return out, np.zeros(np.shape(out)) if out_dot is None else out_dot


# 8. Rules written once
class Elementwise(Primitive):
    """out[i] depends on the operands' [i] only: one partial(out, *xs) for each of them."""

    def __init__(self, function, *partials, constant=False):
        super().__init__(function, constant, partials=partials)
        REGISTRY[function] = self

    def jvp(self, out, xs, x_dots):
        pairs = zip(self.partials, x_dots, strict=True)
        dot = sum(x_dot * partial(out, *xs) for partial, x_dot in pairs if x_dot is not None)
        return dot + np.zeros(np.shape(out))  # broadcast as out was

    def vjp(self, out_bar, residual, wanted):
        out, xs, _ = residual
        return [
            None if node is None else unbroadcast(out_bar * partial(out, *xs), np.shape(x))
            for partial, x, node in zip(self.partials, xs, wanted, strict=True)
        ]

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


class Linear(Primitive):
    """Linear in its one array: its jvp is itself, its vjp transpose(out_bar, shape of x)."""

    def __init__(self, value, transpose):
        super().__init__(value, transpose=transpose)

    def jvp(self, out, xs, x_dots, **static):
        return self(*x_dots, **static)

    def vjp(self, out_bar, residual, wanted):
        _, (x,), static = residual
        return [self.transpose(out_bar, np.shape(x), **static)]

    def batch(self, xs, mapped, size, **static):
        front = {"shape": (size,), "key": (slice(None),), "axis": ()}  # axes count from the end
        return self(*xs, **{name: front[name] + static[name] for name in static})


ONE, MINUS_ONE = lambda *_: 1.0, lambda *_: -1.0
add = Elementwise(np.add, ONE, ONE)
subtract = Elementwise(np.subtract, ONE, MINUS_ONE)
multiply = Elementwise(np.multiply, lambda out, x, y: y, lambda out, x, y: x)
divide = Elementwise(np.divide, lambda out, x, y: 1 / y, lambda out, x, y: -out / y)
power = Elementwise(np.power, lambda _, x, y: y * x ** (y - 1), lambda out, x, _: out * np.log(x))
negative = Elementwise(np.negative, MINUS_ONE)
exp = Elementwise(np.exp, lambda out, x: out)
log = Elementwise(np.log, lambda out, x: 1 / x)
sin = Elementwise(np.sin, lambda out, x: np.cos(x))
cos = Elementwise(np.cos, lambda out, x: -np.sin(x))
tanh = Elementwise(np.tanh, lambda out, x: 1 - out * out)
for ufunc in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
    Elementwise(ufunc, constant=True)


def scatter(x, key, shape):
    out = np.zeros(shape)
    np.add.at(out, key, x)
    return out


def sum_along(x, axis=None):
    n = len(x.shape)
    axes = range(n) if axis is None else np.ravel(axis) % n
    out = total(x, axis=tuple(int(a) - n for a in axes))
    return np.reshape(out, [size for a, size in enumerate(x.shape) if a not in axes])


total = Linear(lambda x, axis: x.sum(axis, keepdims=True), lambda bar, of, axis: bar + np.zeros(of))
reshape = Linear(lambda x, shape: np.reshape(x, shape), lambda bar, of, shape: np.reshape(bar, of))
item = Linear(lambda x, key: x[key], lambda bar, of, key: put(bar, key=key, shape=of))
put = Linear(scatter, lambda bar, of, key, shape: item(bar, key=key))
REGISTRY[np.reshape] = lambda x, shape: reshape(x, shape=tuple(shape))
REGISTRY[np.sum] = sum_along


# 9. Batches
class Batch(Trace):
    """Axis 0 of the value is the batch, and is hidden from the user's function."""

    def __init__(self, size):
        super().__init__()
        self.size, self.hidden = size, 1

    def apply(self, primitive, xs, mapped, static):
        return Array(primitive.batch(xs, mapped, self.size, **static), self, True)


def align(xs, mapped):
    """Pad shapes after the batch axis, so that mapped and unmapped operands broadcast together."""
    shapes = [np.shape(x) for x in xs]
    ndim = max(len(s) - bool(m) for s, m in zip(shapes, mapped, strict=True))
    pads = [(*s[:1], *(1,) * (ndim + 1 - len(s)), *s[1:]) for s in shapes]
    return [np.reshape(x, p) if m else x for x, p, m in zip(xs, pads, mapped, strict=True)]


def vmap(f):
    """Return a function that applies f to all examples along axis 0 of its arguments at once."""

    def mapped(*xs):
        size = np.shape(xs[0])[0]
        out, node = run(Batch(size), f, xs, [True] * len(xs))
        return out if node else out + np.zeros((size, *np.shape(out)))

    return mapped


# 10. Checks
def check(f, x, x_dot, out_bar):
    """Compare forward mode with a difference, and reverse mode with forward mode."""
    out_dot, (x_bar,) = jvp(f, [x], [x_dot])[1], vjp(f, x)[1](out_bar)
    np.testing.assert_allclose(out_dot, difference(f, x, x_dot), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.sum(out_bar * out_dot), np.sum(x_bar * x_dot))

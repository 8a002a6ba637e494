"""Door 1: scalars, for those who come from an engine of forty lines.

The smallest engine that learns is a class of numbers.
Each number remembers what it was computed from, and `backward` walks that memory to the leaves.
Here such a number is `pb.array(2.0, requires_grad=True)`:

| There | Here |
|---|---|
| `Value(2.0)` | `pb.array(2.0, requires_grad=True)` |
| `a.data`, `a.grad`, `y.backward()` | the same |
| `a.exp()`, `a.tanh()` | `np.exp(a)`, `np.tanh(a)` |
| `a.relu()` | `relu(a)` of `pullback.nn`, with slope 0 at the kink |
| `a.grad = 0` before the next pass | `a.zero_grad()`, which makes it None |

The operators take numbers and Arrays on either side.
What an Array holds may as well be a whole array; that is the next door.

Run it with `python -m examples.doors.scalars`.
A GPT on lists of such scalars is in `examples/doors/gpt.py`.
"""

import time

import numpy as np

import pullback as pb
from pullback.nn import relu


def scalar(x):
    return pb.array(x, requires_grad=True)


def neuron():
    """A neuron with two inputs; the bias makes the slope of tanh one half.

    tanh passes 0.5 to the sum, the sum passes it on to all its terms, and each product swaps its
    factors: the gradient of x1 is 0.5 w1.
    """
    x1, x2 = scalar(2.0), scalar(0.0)
    w1, w2 = scalar(-3.0), scalar(1.0)
    bias = scalar(6.8813735870195432)
    out = np.tanh(x1 * w1 + x2 * w2 + bias)
    out.backward()
    return out, {"x1": x1, "w1": w1, "x2": x2, "w2": w2, "bias": bias}


def tangle(a, b):
    """An expression that uses a and b again and again, with `+ - * / **` and relu."""
    c = 2 * (a + b) + 1
    c = 2 * c + 1 - a
    d = 3 * (a * b + b**3) + relu(b + a)
    d = 4 * d + relu(b - a)
    e = c - d
    return e**2 / 2.0 + 10.0 / e**2


def power():
    """x ** y depends on both: y x^(y-1) and x^y ln x."""
    x, y = scalar(2.0), scalar(3.0)
    (x**y).backward()
    return x.grad, y.grad


def functions(at=0.5):
    """The slope of each function at one point."""
    slopes = {}
    for function in (np.exp, np.log, relu, np.tanh, np.sin):
        x = scalar(at)
        function(x).backward()
        slopes[function.__name__] = x.grad
    return slopes


def halves(x, n_levels):
    """x again, after n levels of y = y/2 + y/2: a chain of diamonds.

    From the last level to x lead 2 ** n paths, since each level may go by either of two edges. A
    walk along paths would never end. The backward pass applies a node once all the cotangents that
    it is owed have arrived, and so crosses each edge once.
    """
    for _ in range(n_levels):
        x = x / 2 + x / 2
    return x


def pulls(n_levels):
    """How often the rule of a shared node is called in a chain of n diamonds."""
    calls = []

    @pb.primitive
    def same(x):
        return x

    @same.defvjp
    def pull(out_bar, residual, wanted):
        calls.append(out_bar)
        return (out_bar,)

    x = y = scalar(1.0)
    for _ in range(n_levels):
        y = same(y)
        y = y / 2 + y / 2
    y.backward()
    return len(calls), x.grad


def seconds_per_operation(n_levels):
    """The time of a chain of diamonds, forward and backward, for each operation."""
    x, start = scalar(1.0), time.perf_counter()
    halves(x, n_levels).backward()
    return (time.perf_counter() - start) / (3 * n_levels)


def derivatives(f, at, order):
    """f and its derivatives up to an order, by differentiating `.grad` again and again.

    With `create_graph=True` the backward pass is a program like any other, and is recorded as well:
    `.grad` is then not a number but an Array, which knows how it came about. Once it no longer
    depends on x, nothing reaches x and its `.grad` stays None: that derivative is zero.
    """
    x = scalar(at)
    y = f(x)
    values = [y.item()]
    for _ in range(order):
        x.zero_grad()
        y.backward(create_graph=True)
        y = scalar(0.0) if x.grad is None else x.grad
        values.append(y.item())
    return values


def main():
    """Print the numbers of this door."""
    out, leaves = neuron()
    print(f"neuron         {out.data:.4f}")
    print("  gradients   ", *[f" {name} {x.grad:.4f}" for name, x in leaves.items()])

    a, b = scalar(-4.0), scalar(2.0)
    g = tangle(a, b)
    g.backward()
    print(f"tangle         {g.data:.4f}, gradients {a.grad:.4f} and {b.grad:.4f}")

    dx, dy = power()
    print(f"2 ** 3         d/dx = {dx:.4f}, d/dy = {dy:.4f}")
    print("slopes at 0.5 ", *[f" {name} {slope:.4f}" for name, slope in functions().items()])

    n_pulls, slope = pulls(1000)
    print(f"\n1000 diamonds  2 ** 1000 paths, {n_pulls} pulls of shared nodes, slope {slope}")
    for n_levels in (100, 1_000, 10_000, 100_000):
        print(f"{n_levels:7d} deep   {seconds_per_operation(n_levels) * 1e6:.2f} µs an operation")

    print("\nOrders 0 to 4 at x = 2")
    for name, f in {"x ** 3": lambda x: x**3, "sin": np.sin, "tanh": np.tanh}.items():
        print(f"  {name:12s}", *[f"{value:9.4f}" for value in derivatives(f, 2.0, 4)])


if __name__ == "__main__":
    main()

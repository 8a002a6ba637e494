"""Door 4: derivatives of derivatives, of programs that loop.

`grad` takes a function and returns a function, so it can be applied to its own result. Nothing is
analysed beforehand: a function runs, and each operation that it applies is noted on the way. What
Python does between the operations (`for`, `while`, `if`, a call, a recursion) leaves no mark, and
needs none.

Run it with `python -m examples.doors.higher_order`. It draws the derivatives of tanh if matplotlib
is there.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import pullback as pb

# A series, summed by a loop.


def sine(x, n_terms=12):
    """Sum x - x^3/3! + x^5/5! - ..., a given number of terms.

    `np.sin` is not used, and so neither is its rule. The derivative of the sum is the sum of the
    derivatives: the same loop, run over the terms of the cosine.
    """
    term = total = x
    for n in range(1, n_terms):
        term = -term * x * x / (2 * n * (2 * n + 1))
        total = total + term
    return total


def sine_to_precision(x, smallest=1e-17):
    """Sum as many terms as x needs.

    How often the loop runs depends on x, and is asked of the value that x has now. So the
    derivative is that of the terms which were summed. It has converged when the terms of the
    cosine have: they are larger than those of the sine by a factor of (2 n + 1) / x, so stop late.
    """
    term = total = x
    n = 0
    while abs(term) > smallest:
        n += 1
        term = -term * x * x / (2 * n * (2 * n + 1))
        total = total + term
    return total


# A function, and six derivatives.


def tanh(x):
    """The hyperbolic tangent out of exponentials, as a textbook defines it."""
    y = np.exp(-2 * x)
    return (1 - y) / (1 + y)


def derivatives(f, n):
    """Return f and its first n derivatives, each made of the one before.

    `elementwise_grad` is for a function that treats each element of an array by itself: the
    derivative at every point of a curve, in one call.
    """
    functions = [f]
    for _ in range(n):
        functions.append(pb.elementwise_grad(functions[-1]))
    return functions


def plot(path, n=6):
    """Draw tanh and its derivatives, each scaled to the same height."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise pb.MissingExtraError(
            "The picture needs matplotlib: `pip install 'pullback[plot]'`."
        ) from None
    x = np.linspace(-4, 4, 401)
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="x", title="tanh and its derivatives, scaled to height 1")
    for order, f in enumerate(derivatives(tanh, n)):
        y = f(x)
        axes.plot(x, y / np.max(np.abs(y)), label=f"derivative {order}" if order else "tanh")
    figure.legend(loc="outside right center", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


# Levels.


def f(x1, x2):
    """The running example of the survey by Baydin and others (2018)."""
    return np.log(x1) + x1 * x2 - np.sin(x2)


def nested(x):
    """x times d(x + y)/dy, which is x.

    Two derivatives are under way at once, by x and by y, and x appears in both. If the inner one
    took x for its own, it would find 2 instead of 1. Each transformation has a trace of its own,
    and knows its own values by it.
    """
    return x * pb.grad(lambda y: x + y)(1.0)


# An operation of one's own.


@pb.primitive
def logsumexp(x):
    """log(sum(exp(x))), in a way that does not overflow."""
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


# The engine could differentiate those two lines by itself. A rule says it shorter: the derivative
# is exp(x - out), which never overflows either. One rule suffices: forward mode is its transpose,
# and the second derivative is the derivative of the rule, which is a NumPy program too.
@logsumexp.defvjp
def logsumexp_vjp(out_bar, residual, wanted):
    return (out_bar * np.exp(residual.xs[0] - residual.out),)


def show_series():
    x = 1.2
    print(f"sin({x}) by its Taylor series, and the derivatives of the loop")
    rows = {
        "twelve terms": [sine, pb.grad(sine), pb.grad(pb.grad(sine))],
        "while": [
            sine_to_precision,
            pb.grad(sine_to_precision),
            pb.grad(pb.grad(sine_to_precision)),
        ],
        "numpy": [np.sin, np.cos, lambda x: -np.sin(x)],
    }
    for name, functions in rows.items():
        print(f"  {name:<14}" + "".join(f"{g(x):20.15f}" for g in functions))


def show_tanh():
    print("derivatives 0 to 6 of tanh")
    points = np.array([0.0, 0.5, 1.0])
    print("  order " + "".join(f"{f'x = {x:g}':>12}" for x in points))
    for order, g in enumerate(derivatives(tanh, 6)):
        print(f"  {order:5d} " + "".join(f"{y:12.6f}" for y in g(points) + 0.0))


def show_survey():
    value, gradient = pb.value_and_grad(f, argnums=(0, 1))(2.0, 5.0)
    print("f(x1, x2) = ln x1 + x1 x2 - sin x2 at (2, 5)")
    print(f"  value     {value:.3f}")
    print(f"  gradient  ({', '.join(f'{x:.4f}'.rstrip('0') for x in gradient)})")
    hessian = pb.hessian(lambda x: f(x[0], x[1]))(np.array([2.0, 5.0]))
    print("  hessian   " + np.array2string(hessian, precision=4, prefix=" " * 12))


def show_levels():
    print("d/dx of x d(x + y)/dy")
    print(f"  at 2      {pb.grad(nested)(2.0):g}")


def show_primitive():
    x = np.array([1000.0, 1001.0, 999.0])
    print("a primitive of one's own: logsumexp at (1000, 1001, 999)")
    print(f"  value     {logsumexp(x):.4f}")
    print(f"  gradient  {np.round(pb.grad(logsumexp)(x), 4)}")
    print(f"  forward   {pb.jvp(logsumexp, (x,), (np.array([1.0, 0, 0]),))[1]:.4f}")
    pb.testing.check_grads(logsumexp, (x,))
    print("  checked   against finite differences, both modes, two orders")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Derivatives of derivatives, and of loops.")
    parser.add_argument("--out", type=Path, default=Path("out/tanh.png"), help="the picture")
    options = parser.parse_args(argv)
    for show in (show_series, show_tanh, show_survey, show_levels, show_primitive):
        show()
        print()
    try:
        plot(options.out)
    except pb.MissingExtraError as error:
        print(error)
    else:
        print(f"the picture is {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Functions of neural networks, right at their extremes and differentiable to any order.

    relu(x)                                 max(x, 0); its derivative at 0 is 0
    sigmoid(x)                              1 / (1 + exp(-x))
    softplus(x)                             log(1 + exp(x))
    log_softmax(x, axis)                    x - log(sum(exp(x)))
    softmax_cross_entropy(logits, labels)   one loss for each example

>>> import numpy as np
>>> import pullback as pb
>>> from pullback import nn
>>> def loss(logits):
...     return np.mean(nn.softmax_cross_entropy(logits, np.array([0, 1])))
>>> pb.grad(loss)(np.zeros((2, 2)))
array([[-0.25,  0.25],
       [ 0.25, -0.25]])

Arrays in, arrays out: nothing here keeps parameters. Floats keep their dtype, integers count as
float64, complex numbers are refused.
"""

from __future__ import annotations

from typing import Any, Never

import numpy as np

from .core.cotangent import masked
from .core.errors import ArgumentError, DtypeError, ShapeError
from .core.kinds import Elementwise
from .core.operands import as_array, check_class
from .core.other_names import refuse_name
from .core.primitive import Primitive
from .core.spec import Spec, spec_of
from .core.usage import refuse_keywords
from .primitives.kinks import at_zero

__all__ = ["log_softmax", "relu", "sigmoid", "softmax_cross_entropy", "softplus"]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> Any:
    refuse_name(name, __all__, __name__)


def given(x: Any) -> Any:
    """x as an array; of masked arrays and others that mean something else nothing is dropped."""
    check_class(type(x))
    return as_array(x)


def floating(x: Any, name: str) -> Any:
    """x as an array of real floating numbers."""
    x = given(x)
    if x.dtype.kind == "f":
        return x
    if x.dtype.kind not in "biu":
        raise DtypeError(
            f"`{name}` is a function of real numbers, but got {spec_of(x)}.\n"
            f"  Write `{'x.real' if x.dtype.kind == 'c' else 'x.astype(float)'}`."
        )
    return x.astype(np.float64)


class Relu(Elementwise):
    """As for `where`, what was set to zero has no derivative at all, whatever comes back to it."""

    def scaled(self, i, bar, out, xs):
        return masked(bar, np.logical_not(np.less_equal(out, 0)))  # so that NaN passes

    def factor(self, i, held):
        return lambda bar, out: self.scaled(i, bar, out, ())


def sigmoid_value(x):
    small = np.exp(-np.abs(x))  # between 0 and 1, so that nothing overflows
    return np.where(x >= 0, 1, small) / (1 + small)


def softplus_value(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


sigmoid_p: Elementwise
# fmt: off
relu_p     = Relu(lambda x: np.maximum(x, 0), lambda out, x: out, reads="out", name="relu",
                  lower="relu").declare(bent_at_zero="pullback.nn.relu")
# Not out * (1 - out): that is 0 from x = 37 on, where the derivative is 1e-16 and still right.
sigmoid_p  = Elementwise(sigmoid_value, lambda out, x: out * sigmoid_p(-x), reads="x0 out",
                         name="sigmoid", lower="sigmoid")
softplus_p = Elementwise(softplus_value, lambda out, x: sigmoid_p(x), reads="x0", name="softplus",
                         lower="softplus")
# fmt: on


class LogSoftmax(Primitive):
    """x - log(sum(exp(x))) along axes, one operation: with p = exp(out), d out = dx - sum(p dx)."""

    name = "log_softmax"
    reads = "out"

    def value(self, x, *, axis):
        if not x.size:
            return x.copy()
        with np.errstate(over="ignore"):  # -1e308 - 1e308 is -inf, and its exponential 0
            x = x - np.max(x, axis=axis, keepdims=True)
        return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))

    composed = value

    def spec(self, x, *, axis):
        return Spec(x.shape, x.dtype)

    def jvp(self, out, xs, x_dots, *, axis):
        (x_dot,) = x_dots
        return x_dot - np.sum(np.exp(out) * x_dot, axis=axis, keepdims=True)

    def vjp(self, out_bar, residual, wanted):
        total = np.sum(out_bar, axis=residual.static["axis"], keepdims=True)
        return (out_bar - np.exp(residual.out) * total,)

    def batch(self, xs, mapped, size, *, axis):
        return self(*xs, axis=tuple([i + 1 for i in axis]))


class ClassIndex(Primitive):
    """Labels as they are, once it is known that each is one of n classes.

    An operation of its own, because under `vmap` only an operation sees values.
    """

    name = "class_index"
    constant = True

    def value(self, labels, *, n):
        if labels.size and not 0 <= labels.min() <= labels.max() < n:
            raise ArgumentError(
                f"`softmax_cross_entropy` got labels from {labels.min()} to {labels.max()} for"
                f" {n} classes.\n"
                f"  Labels are 0 to {n - 1}; leave out the examples that have none."
            )
        return labels.copy()

    def spec(self, labels, *, n):
        return Spec(labels.shape, labels.dtype)

    def batch(self, xs, mapped, size, *, n):
        return self(*xs, n=n)


log_softmax_p = LogSoftmax()
class_index_p = ClassIndex()


def relu(x: Any, **unknown: Never) -> Any:
    """max(x, 0), element by element; any shape.

    >>> relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])

    The derivative is 1 for x > 0 and 0 elsewhere, at 0 as well (`np.maximum(x, 0)` has 1/2 there).

    Raises:
        DtypeError: x is neither real numbers nor integers.
    """
    if unknown:
        refuse_keywords(relu, unknown)
    x = floating(x, "relu")
    at_zero(relu_p, x)
    return relu_p(x)


def sigmoid(x: Any, **unknown: Never) -> Any:
    """1 / (1 + exp(-x)), element by element; any shape.

    >>> sigmoid([-800.0, 0.0, 800.0])
    array([0. , 0.5, 1. ])

    The derivative is sigmoid(x) sigmoid(-x), small but right where sigmoid(x) rounds to 1.

    Raises:
        DtypeError: x is neither real numbers nor integers.
    """
    if unknown:
        refuse_keywords(sigmoid, unknown)
    return sigmoid_p(floating(x, "sigmoid"))


def softplus(x: Any, **unknown: Never) -> Any:
    """log(1 + exp(x)), a smooth relu, element by element; any shape.

    >>> softplus([-800.0, 0.0, 800.0])
    array([0.00000000e+00, 6.93147181e-01, 8.00000000e+02])

    The derivative is sigmoid(x).

    Raises:
        DtypeError: x is neither real numbers nor integers.
    """
    if unknown:
        refuse_keywords(softplus, unknown)
    return softplus_p(floating(x, "softplus"))


def log_softmax(x: Any, axis: int | tuple[int, ...] | None = -1, **unknown: Never) -> Any:
    """x - log(sum(exp(x))): logarithms of probabilities, of the shape of x.

    >>> log_softmax([800.0, 800.0, -800.0])
    array([-6.93147181e-01, -6.93147181e-01, -1.60069315e+03])

    A score of -inf excludes a class: its probability is 0, and no derivative goes to it through
    the others. Where all scores are -inf, or one is inf, the result is NaN.

    Args:
        axis: along which the probabilities sum to one; several axes, or None for all.

    Raises:
        DtypeError: x is neither real numbers nor integers.
    """
    if unknown:
        refuse_keywords(log_softmax, unknown)
    x = floating(x, "log_softmax")
    axes = tuple(range(x.ndim)) if axis is None else axis
    return log_softmax_p(x, axis=np.lib.array_utils.normalize_axis_tuple(axes, x.ndim, "axis"))


def softmax_cross_entropy(logits: Any, labels: Any, axis: int = -1, **unknown: Never) -> Any:
    """-sum(labels * log_softmax(logits)): one loss for each example; take `np.mean` of them.

    >>> logits = np.array([[2.0, 0.0], [0.0, 800.0]])
    >>> softmax_cross_entropy(logits, np.array([0, 0]))
    array([1.26928011e-01, 8.00000000e+02])
    >>> softmax_cross_entropy(logits, np.array([[1.0, 0.0], [0.5, 0.5]]))
    array([1.26928011e-01, 4.00000000e+02])

    The gradient with respect to the logits is softmax(logits) - labels, with labels as
    probabilities. A class with probability 0 in both counts as 0, so that a logit of -inf excludes
    it.

    Args:
        logits: scores of any real size, with the classes along `axis`.
        labels: integers of the shape of logits without `axis`, which number the classes from 0; or
            probabilities (one-hot rows among them) of the shape of logits, which may be
            differentiated too.

    Returns:
        Losses, of the shape of logits without `axis`.

    Raises:
        DtypeError: logits is neither real numbers nor integers.
        ArgumentError: a label is no number of a class.
    """
    if unknown:
        refuse_keywords(softmax_cross_entropy, unknown)
    logits, labels = floating(logits, "softmax_cross_entropy"), given(labels)
    axis = np.lib.array_utils.normalize_axis_index(axis, logits.ndim)
    log_p, examples = log_softmax(logits, axis), logits.shape[:axis] + logits.shape[axis + 1 :]
    if labels.shape == logits.shape:
        if labels.dtype.kind in "biu":
            labels = labels.astype(logits.dtype)
        labels = floating(labels, "softmax_cross_entropy")
        absent = np.logical_and(np.equal(labels, 0), np.equal(log_p, -np.inf))
        return -np.sum(labels * np.where(absent, 0, log_p), axis=axis)
    if labels.shape != examples:
        raise ShapeError(
            f"`softmax_cross_entropy` got logits {spec_of(logits)} and labels {spec_of(labels)}.\n"
            f"  Give integers of shape {examples}, or probabilities of shape {logits.shape}."
        )
    if labels.dtype.kind not in "iu":
        raise DtypeError(
            f"`softmax_cross_entropy` got labels {spec_of(labels)} for logits {spec_of(logits)}.\n"
            "  Labels that number classes are integers: write `labels.astype(int)`."
        )
    labels = class_index_p(labels, n=logits.shape[axis])
    picked = np.take_along_axis(log_p, np.expand_dims(labels, axis), axis)
    return -np.squeeze(picked, axis)

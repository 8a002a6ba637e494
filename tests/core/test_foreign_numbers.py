"""Numbers of other libraries beside an Array, such as those of SymPy and mpmath."""

import numbers
import operator

import numpy as np
import pytest

import pullback as pb


class Exact:
    """A number that answers for what stands before it, as SymPy's do."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)

    def __radd__(self, other):
        return Exact(other + self.value)

    def __rmul__(self, other):
        return Exact(other * self.value)

    def __rtruediv__(self, other):
        return Exact(other / self.value)

    def __rpow__(self, other):
        return Exact(other**self.value)


numbers.Real.register(Exact)


@pytest.mark.parametrize("name", ["add", "mul", "truediv", "pow"])
def test_the_sentence_says_float(name):
    operation = getattr(operator, name)
    y = Exact(3.0)
    assert type(operation(2.0, y)) is Exact
    for transformed in (pb.grad, pb.jacobian):
        with pytest.raises(TypeError, match=r"(?s)Exact.*float\(y\)"):
            transformed(lambda x: operation(x, y))(2.0)
    slope = pb.grad(lambda x: operation(x, float(y)))(2.0)
    np.testing.assert_allclose(slope, {"add": 1.0, "mul": 3.0, "truediv": 1 / 3, "pow": 12.0}[name])


@pytest.mark.parametrize("kept", [True, False])
def test_compiled_code_that_asks_for_the_number(kept):
    """The message names what is compiled, not a conversion that the program does not write."""
    losses = pytest.importorskip("sklearn._loss._loss")

    def f(x):
        losses.CyPinballLoss(x if kept else pb.stop_gradient(x))
        return x * x

    if not kept:  # as the message says
        assert pb.grad(f)(0.25) == 0.5
        return
    with pytest.raises(pb.ConversionError, match="CyPinballLoss` is compiled code"):
        pb.grad(f)(0.25)

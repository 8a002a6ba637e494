"""Tables of functions of all orders up to one, with their slopes, which SciPy finds by recurrences.

The functions solve y'' = p y' + q y, of which p and q depend on the order and on x. So the slope of
the values is in the table, and that of the slopes follows from both.
"""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from ...core.errors import MissingRuleError
from ...core.primitive import Primitive
from ...core.reach.session import call_outside
from ...core.registry import REFUSED, replaces
from ...core.spec import DOUBLE, Spec
from ..arguments import as_array
from ..elementwise import stopped

WHY = (
    "computes a table by a recurrence in compiled code",
    "Use the function of one order, `scipy.special.spherical_jn` and its kin",
)


class Table(Primitive):
    """Values and slopes of all orders, at each of some real places.

    equation(x, k, *parameters) -> p and q, for the orders k
    bend(k): of functions that are even, the second derivatives at 0, where SciPy's values and
        slopes are 0 and 0.5 of some orders
    """

    n_out = 2
    reads = "x0 out"

    def __init__(self, function, equation, bend=None):
        super().__init__(f"special.{function.__name__}")
        self.function, self.equation, self.bend = function, equation, bend

    def value(self, x, *, parameters):
        found = [call_outside(self.function, (*parameters, at), {}) for at in x.ravel().tolist()]
        parts = [np.stack(part) for part in zip(*found, strict=True)]
        return tuple([part.reshape(x.shape + part.shape[1:]) for part in parts])

    def spec(self, x, *, parameters):
        out = Spec(x.shape + self.function(*parameters, 0.5)[0].shape, DOUBLE)
        return out, out

    def slopes(self, x, out, parameters):
        """Those of both parts."""
        inner = np.ndim(out[0]) - np.ndim(x)
        x = np.reshape(x, x.shape + (1,) * inner)
        highest = parameters[-1]
        k = highest - int(highest) + np.arange(1.0 * out[0].shape[-1])  # SciPy gives two at least
        p, q = self.equation(x, k, *parameters)
        first, second = out[1], p * out[1] + q * out[0]
        if self.bend is not None:
            first = first - stopped(np.where(x == 0, first, 0.0))
            second = np.where(x == 0, self.bend(k), second)
        return x, first, second

    def jvp(self, out, xs, x_dots, *, parameters):
        x, *slopes = self.slopes(xs[0], out, parameters)
        x_dot = np.reshape(x_dots[0], x.shape)
        return tuple([x_dot * slope for slope in slopes])

    def vjp(self, out_bar, residual, wanted):
        x = residual.xs[0]
        _, *slopes = self.slopes(x, residual.out, residual.static["parameters"])
        axes = tuple(range(np.ndim(x), np.ndim(slopes[0])))
        both = zip(out_bar, slopes, strict=True)
        return (sum([np.sum(bar * slope, axis=axes) for bar, slope in both if bar is not None]),)

    def batch(self, xs, mapped, size, *, parameters):
        return self(xs[0], parameters=parameters)


def riccati(x, k, n):
    return 0.0, k * (k + 1) / x**2 - 1


def legendre(x, k, n):
    return 2 * x / (1 - x * x), -k * (k + 1) / (1 - x * x)


def associated_legendre(x, k, m, n):
    m = np.arange(m + 1.0)[:, None]
    return 2 * x / (1 - x * x), m * m / (1 - x * x) ** 2 - k * (k + 1) / (1 - x * x)


def lambda_functions(x, k, v):
    return -(2 * k + 1) / np.where(x == 0, 1.0, x), -1.0


def parabolic(x, k, v):
    return 0.0, x * x / 4 - k - 0.5


EQUATIONS = {
    "riccati_jn": riccati,
    "riccati_yn": riccati,
    "lqn": legendre,
    "lqmn": associated_legendre,
    "lmbda": lambda_functions,
    "pbdv_seq": parabolic,
    "pbvv_seq": parabolic,
}
BENDS = {"lmbda": lambda k: -1 / (2 * k + 2)}


def tabulated(function, table):
    @replaces(function)
    def call(*args):
        *parameters, x = args
        x = as_array(x)
        if x.ndim or x.dtype.kind == "c" or any(n < 0 for n in parameters):
            raise MissingRuleError(
                f"`scipy.special.{function.__name__}` is differentiated at one real number, for"
                f" orders from 0 on, but got {x.dtype}{list(x.shape)} and {parameters}.\n"
                f"  {WHY[1]}."
            )
        if table.bend is not None and parameters[0] != int(parameters[0]):
            x = np.where(x < 0, -x, x)  # as SciPy has it
        parameters = tuple([n.item() if isinstance(n, np.generic) else n for n in parameters])
        return table(x.astype(DOUBLE), parameters=parameters)


for name, equation in EQUATIONS.items():
    if hasattr(sp, name):  # which SciPy may have removed
        tabulated(getattr(sp, name), Table(getattr(sp, name), equation, BENDS.get(name)))
REFUSED[sp.pbdn_seq] = WHY

"""How the tables of scipy.special are written: rows, several results, inverses, refusals."""

from __future__ import annotations

import numpy as np

from ...core.cotangent import unbroadcast
from ...core.errors import MissingRuleError
from ...core.kinds import Elementwise
from ...core.primitive import Primitive, align
from ...core.registry import FUNCTIONS, register
from ...core.spec import Spec, is_inexact, spec_of
from ..elementwise import off_integer


class OfFloats(Elementwise):
    """Elementwise, with integer operands (orders, counts) left as they are in the partials."""

    def together(self, xs):
        return floats_together(xs)


def floats_together(xs):
    """The floating operands in the one precision that SciPy computes in; a real one stays real."""
    specs = [spec_of(x) for x in xs]
    floating = [spec.weak is None and is_inexact(spec.dtype) for spec in specs]
    dtypes = {spec.dtype for spec, inexact in zip(specs, floating, strict=True) if inexact}
    if len(dtypes) < 2:
        return xs
    dtype = np.result_type(*dtypes)
    real = np.zeros(0, dtype).real.dtype
    targets = [real if spec.dtype.kind == "f" else dtype for spec in specs]
    return [
        x.astype(target) if inexact and x.dtype != target and type(x) is not Spec else x
        for x, inexact, target in zip(xs, floating, targets, strict=True)
    ]


class OutOfReals(OfFloats):
    """Complex results of real operands: fast paths would assume that both have one dtype."""

    __call__ = Primitive.__call__


class SeveralResults(Primitive):
    """A ufunc with several results: partials[i](out, *xs) are the derivatives in x_i.

    Those of all results come as a tuple, with None for zero.
    """

    reads = "out xs"
    without_axes = "scalar"

    def __init__(self, ufunc, *partials, name):
        super().__init__(name)
        self.ufunc, self.partials, self.n_out = ufunc, partials, ufunc.nout
        self.by_loop = ufunc

    def value(self, *xs):
        return self.ufunc(*xs)

    def spec(self, *xs):
        shape = np.broadcast_shapes(*[x.shape for x in xs])
        given = [x.weak or x.dtype for x in xs]
        dtypes = self.ufunc.resolve_dtypes((*given, *(None,) * self.n_out))[len(xs) :]
        return tuple([Spec(shape, dtype) for dtype in dtypes])

    def jvp(self, out, xs, x_dots):
        dots, xs = [None] * self.n_out, floats_together(xs)
        for x_dot, partial in zip(x_dots, self.partials, strict=True):
            if x_dot is None:
                continue
            for k, slope in enumerate(partial(out, *xs)):
                if slope is not None:
                    term = x_dot * slope
                    dots[k] = term if dots[k] is None else dots[k] + term
        return tuple(
            [
                dot if dot is None or dot.shape == o.shape else np.broadcast_to(dot, o.shape)
                for dot, o in zip(dots, out, strict=True)
            ]
        )

    def vjp(self, out_bar, residual, wanted):
        xs, x_bars = floats_together(residual.xs), []
        for x, want, partial in zip(residual.xs, wanted, self.partials, strict=True):
            x_bar = None
            for bar, slope in zip(out_bar, partial(residual.out, *xs) if want else (), strict=want):
                if bar is not None and slope is not None:
                    x_bar = bar * slope if x_bar is None else x_bar + bar * slope
            x_bars.append(None if x_bar is None else unbroadcast(x_bar, x))
        return x_bars

    def batch(self, xs, mapped, size):
        return self(*align(xs, mapped))


def row(ufunc, *partials, reads=None, lower=None, kind=OfFloats, **traits):
    """Declare the primitive of a ufunc of SciPy.

        row(sp.gammaln, lambda out, x: sp.digamma(x), reads="x0")

    partials: for each operand d(out)/d(operand), a function of the result and all operands; `ZERO`
    if it is zero, `refused(...)` if there is none. For several results it gives a tuple.
    traits: of `Traits`, of one that has one result
    lower: the method of Emit that computes it in machine code; without it, SciPy's loop does
    reads: what the partials use, such as "out", "x0 x1" or "xs"; everything if it is left out.
    """
    name = f"special.{ufunc.__name__}"
    if ufunc.nout > 1:
        FUNCTIONS[ufunc] = SeveralResults(ufunc, *partials, name=name)
    elif leaves_reals(ufunc):
        FUNCTIONS[ufunc] = OutOfReals(ufunc, *partials, reads=reads or "out xs", name=name)
    elif ufunc.nin > 2:
        made = kind(ufunc, *partials, reads=reads or "out xs", name=name)
        FUNCTIONS[ufunc] = made.declare(**traits)
    else:
        reads = reads or ("out x0" if ufunc.nin == 1 else "out x0 x1")
        register(kind(ufunc, *partials, reads=reads, lower=lower, name=name).declare(**traits))
    return partials


# The traits of what is constant in its first operand, a count that may be any number, from one
# integer to the next, and moves with the others.
BY_COUNT = {
    "surface": lambda k, *xs: off_integer(k),
    "level": lambda k, *xs: np.floor(k),
}


def leaves_reals(ufunc):
    """Whether real operands give complex numbers."""
    return not any(loop.partition("->")[2] in "fdg" for loop in ufunc.types)


def inverse(i, *forward, ends=None):
    """The partials of the inverse of a function in operand i, of which `forward` are the partials.

    In the place of that operand stands the value, and the result is the operand. Where no operand
    has the value, SciPy may return an end of what it searches, which stays: `ends(out)` says where.
    """

    def by(j):
        def partial(out, *xs):
            inside = out
            if ends is not None:
                at_end = ends(out)
                inside = np.where(at_end, 1.0, out)  # any number that the partials take
            ys = (*xs[:i], inside, *xs[i + 1 :])
            slope = forward[i](xs[i], *ys)
            moved = 1 / slope if j == i else -(forward[j](xs[i], *ys) / slope)
            return moved if ends is None else np.where(at_end, 0.0, moved)

        return partial

    return [by(j) for j in range(len(forward))]


def refused(name, argument, instead, module="scipy.special"):
    """The partial of an argument without a derivative; mostly the order of a function."""

    def partial(out, *xs):
        raise MissingRuleError(
            f"`{module}.{name}` has no derivative with respect to its argument `{argument}`.\n"
            f"  {instead}, or detach the argument with `pullback.stop_gradient({argument})`."
        )

    partial.refused = True
    return partial


def whole(n):
    """A count as an integer, for ufuncs that take nothing else."""
    return n.astype(np.int64) if hasattr(n, "dtype") else int(n)


def over(x, y, otherwise):
    """x / y, and `otherwise` where y is 0."""
    zero = y == 0
    return np.where(zero, otherwise, x / np.where(zero, 1, y))

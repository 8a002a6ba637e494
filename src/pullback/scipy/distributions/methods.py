"""Densities and distribution functions: SciPy's formula inside the support, constants outside.

SciPy selects the valid arguments, computes with them, and puts the results in their places. Here
one check of the values tells whether all arguments are valid; then all are computed directly. If
some aren't, or if values can't be checked (under `vmap`, in an integrand), the formula is computed
for invalid arguments at a point inside the support, and these results are discarded.

Where values are known, SciPy's test whether arguments lie in the support runs on plain values, so
that only the formula is traced.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import _distn_infrastructure as infrastructure

from ...core.array import Array, snapshot
from ...core.operands import as_array, holds_arrays
from ...core.reach.calls import call_inside
from ...core.reach.namespaces import STANDS
from ...core.reach.session import call_outside
from ...core.reach.walk import called_by_name
from ...core.spec import DOUBLE
from ...core.trace import is_live
from ...primitives.arguments import everywhere, known_value, plainly_everywhere, somewhere
from ...primitives.elementwise import stopped
from ..solving.plain import Plain, PlainValues, solve, through
from ..solving.serving import serves_method
from .choices import common_shape, vectors
from .densities import at_once
from .formulas import FORMULAS, again


def bare(*xs: Any) -> bool:
    """Whether no Array is among the arguments, nor in a list that is one."""
    kinds = {*map(type, xs)}
    if Array in kinds:
        return False
    return kinds.isdisjoint((list, tuple)) or not holds_arrays(xs)


def together(x: Any) -> Any:
    """A list with Arrays as one Array."""
    return as_array(x) if type(x) in (list, tuple) else x


def ask(self: Any, name: str, *xs: Any) -> Any:
    """A method of the distribution, which may be the user's."""
    return call_inside(getattr(self, name), xs, {})


def computed(dist: Any, name: str, *xs: Any) -> Any:
    """SciPy's formula, or its value with the derivative of another."""
    formula = FORMULAS.get((type(dist), name))
    return ask(dist, name, *xs) if formula is None else again(dist, name, formula, xs)


def middle(low: Any, high: Any) -> Any:
    """A point inside the support."""
    low, high = as_array(low) + 0.0, as_array(high) + 0.0
    below, above = np.isfinite(low), np.isfinite(high)
    first, last = np.where(below, low, 0.0), np.where(above, high, 0.0)
    inner = np.where(below & above, (first + last) / 2, np.where(below, first + 1, last - 1))
    return np.where(below | above, inner, 0.0)


class Method:
    """One of the functions of a distribution.

    name: of the formula, for the variable without location and scale
    outside(z, low, high): the value where z is not inside the support
    finish(value, scale): what SciPy does with the formula's value
    """

    def __init__(self, name: str, outside: Any, finish: Callable[..., Any]) -> None:
        self.name, self.outside, self.finish = name, outside, finish

    def __call__(
        self, dist: Any, z: Any, inside: Any, regular: Any, shapes: Any, scale: Any
    ) -> Any:
        if everywhere(inside):
            return self.formula(dist, z, np.shape(inside), shapes, scale)
        low, high = map(stopped, ask(dist, "_get_support", *shapes))
        at = np.where(inside, z, middle(low, high).astype(z.dtype))
        value = self.formula(dist, at, np.shape(inside), shapes, scale)
        constant = np.where(regular & ~np.isnan(z), self.outside(z, low, high), dist.badvalue)
        return np.where(inside, value, constant)

    def formula(self, dist: Any, at: Any, shape: Any, shapes: Any, scale: Any) -> Any:
        """The formula, to which SciPy gives vectors of one size, or of one element."""
        out = self.of_vectors(dist, at, shapes, scale) if at.shape == shape else None
        if out is not None:
            return out
        shape = common_shape(shape, at.shape, *[x.shape for x in (*shapes, scale)])
        several = iter(vectors(at, *[x for x in (*shapes, scale) if x.size != 1]))
        first = next(several)
        *of_shapes, spread = [
            x.reshape(-1) if x.size == 1 else next(several) for x in (*shapes, scale)
        ]
        value = self.finish(computed(dist, self.name, first, *of_shapes), spread)
        if value.shape == shape:
            return value
        if value.size != math.prod(shape):
            # A formula that does not depend on all of them, or goes through them by `zip`.
            *all_of, spread = vectors(np.broadcast_to(at, shape), *shapes, scale)
            value = self.finish(computed(dist, self.name, *all_of), spread)
            value = np.broadcast_to(value, all_of[0].shape)
        return np.reshape(value, shape)

    def of_vectors(self, dist: Any, at: Any, shapes: Any, scale: Any) -> Any:
        """The formula of a vector and what is as long as it or one number; else None."""
        shape = at.shape
        if len(shape) != 1:
            return None
        given = []
        for x in (*shapes, scale):
            if x.shape != shape:
                if x.size != 1:
                    return None
                x = x.reshape(1)
            given.append(x)
        spread = given.pop()
        value = self.finish(computed(dist, self.name, at, *given), spread)
        return value if value.shape == shape else None


class Standard:
    """How a family of distributions standardises its argument, and which arguments are valid."""

    def __init__(self, mask: str, valid: Callable[..., Any], scaled: bool) -> None:
        self.mask, self.valid, self.scaled = mask, valid, scaled

    def of(self, x: Any, loc: Any, scale: Any) -> Any:
        """The argument without location and scale; never x itself, for formulas may write."""
        z = x if is_constant(loc, 0, x) else x - loc
        if not self.scaled:
            return apart(x) if z is x else z
        z = z if is_constant(scale, 1, z) else z / scale
        if x.dtype is not DOUBLE or z.dtype is not DOUBLE:
            dtype = np.promote_types(x.dtype, DOUBLE)
            z = z if z.dtype == dtype else z.astype(dtype)
        return apart(x) if z is x else z

    def inside(self, dist: Any, z: Any, shapes: Any, scale: Any) -> Any:
        """Whether all is valid and inside, asked of plain values: True, or unknown."""
        values = []
        for x in (z, scale, *shapes):
            values.append(known_value(x))
            if values[-1] is None:
                return None
        if id(type(dist)._argcheck) in STANDS:  # it refuses some values
            ask(dist, "_argcheck", *shapes)
        if not np.isfinite(values[0]).all():
            return None
        inside, _ = call_outside(self.valid, (dist, self.mask, *values), {})
        sure = type(inside) in TRUTHS and np.count_nonzero(inside) == inside.size
        return inside if sure else None


TRUTHS = frozenset({np.ndarray, np.bool_})


def apart(x: Any) -> Any:
    """x as an object of its own."""
    return snapshot(x) if type(x) is Array else x.copy()


def is_constant(x: Any, value: float, beside: Any) -> bool:
    """Whether x is this plain number, and an operation with it leaves the other operand's dtype."""
    if type(x) is not np.ndarray or x.ndim or x.item() != value:
        return False
    return bool(x.dtype is beside.dtype or np.result_type(x.dtype, beside.dtype) == beside.dtype)


def served(original: Any, method: Method, standard: Standard) -> None:
    argument = list(inspect.signature(original).parameters)[1]  # x, or k of a discrete one

    @serves_method(original)
    def call(self: Any, *args: Any, **kwds: Any) -> Any:
        if argument in kwds and not args:
            args = (kwds.pop(argument),)
        if not args:
            return original(self, **kwds)  # which says what is missing
        x, args = args[0], args[1:]
        ours = type(self).__module__.startswith("scipy.") and not holds_values(self)
        if ours and bare(x, *args, *kwds.values()):
            return call_outside(original, (self, x, *args), kwds)
        args, kwds = tuple(map(together, args)), {key: together(x) for key, x in kwds.items()}
        shapes, loc, scale = self._parse_args(*args, **kwds)
        x, loc, scale, *shapes = map(as_array, (x, loc, scale, *shapes))
        out = at_once(self, method, x, loc, scale, shapes) if ours else None
        if out is not None:
            return out
        z = standard.of(x, loc, scale)
        inside = standard.inside(self, z, shapes, scale) if ours else None
        if inside is not None:
            out = method.formula(self, z, inside.shape, shapes, scale)
        else:
            inside, regular = standard.valid(self, standard.mask, z, scale, *shapes)
            out = method(self, z, inside & np.isfinite(z), regular, shapes, scale)
            out = at_infinity(partial(original, self), out, z, inside, (x, *args), kwds)
        return out if out.ndim else out[()]


def holds_values(dist: Any) -> bool:
    """Whether a distribution made of values and probabilities has some that carry a derivative."""
    names = OF_VALUES.get(type(dist), ())
    return any(is_live(getattr(dist, name)) for name in names)


def plainly(values: PlainValues, dist: Any) -> Any:
    """The distribution; of a user's class that keeps Arrays, one like it that keeps plain values.

    Methods that close over variables of the program return plain values as well. SciPy binds some
    of its methods when a distribution is made, so these are made anew.
    """
    if type(dist).__module__.startswith("scipy."):
        return dist
    kept, closing = dist.__getstate__(), methods_with_variables(type(dist))
    if not closing and not holds_arrays([*kept.values()]):
        return dist
    out = object.__new__(type(dist))
    methods = {name: Plain(MethodType(method, out), values) for name, method in closing.items()}
    out.__setstate__({key: through(x, values.of) for key, x in kept.items()} | methods)
    return out


def methods_with_variables(cls: type) -> dict[str, Any]:
    """The user's methods that close over variables, such as those of a class made in a function."""
    closing: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        if not owner.__module__.startswith("scipy."):
            for name, method in vars(owner).items():
                closing.pop(name, None)
                if type(method) is FunctionType and method.__closure__:
                    closing[name] = method
    return {name: method for name, method in closing.items() if not name.startswith("__")}


OF_VALUES = {
    infrastructure.rv_sample: ("pk", "xk"),
    stats.rv_histogram: ("_hpdf", "_hcdf", "_hbins"),
}


def at_infinity(original: Any, out: Any, z: Any, inside: Any, args: Any, kwds: Any) -> Any:
    """If z is infinite inside the support, keep SciPy's value, whatever the formula gives."""
    far = np.logical_and(inside, np.isinf(z))
    if not somewhere(far):
        return out
    value = solve(lambda values: original(*values.tree(args), **values.tree(kwds))).of(np.asarray)
    return np.where(far, value, out)


def continuous(self: Any, mask: str, z: Any, scale: Any, *shapes: Any) -> Any:
    """Where z is inside the support, and where the parameters are regular."""
    regular = ask(self, "_argcheck", *shapes) & (scale > 0)
    return regular & ask(self, mask, z, *shapes), regular


def discrete(self: Any, mask: str, k: Any, scale: Any, *shapes: Any) -> Any:
    """The same; of a mass, the upper end is inside, and k may have to be whole."""
    low, high = ask(self, "_get_support", *shapes)
    regular = ask(self, "_argcheck", *shapes)
    inside = regular & (k >= low)
    if not mask:
        return inside & (k < high) & np.isfinite(k), regular
    inside = inside & (k <= high)
    if not isinstance(self, infrastructure.rv_sample):
        inside = inside & ask(self, mask, k, *shapes)
    return inside, regular


CLOSED = Standard("_support_mask", continuous, scaled=True)
OPEN = Standard("_open_support_mask", continuous, scaled=True)
MASS = Standard("_nonzero", discrete, scaled=False)
STEPS = Standard("", discrete, scaled=False)


def always(x: float) -> Callable[..., Any]:
    return lambda z, low, high: x


def after(left: float, right: float) -> Callable[..., Any]:
    """A step at the upper end of the support."""
    return lambda z, low, high: np.where(z >= high, right, left)


def before(left: float, right: float) -> Callable[..., Any]:
    """A step at the lower end of the support."""
    return lambda z, low, high: np.where(z <= low, left, right)


def itself(value: Any, scale: Any) -> Any:
    return value


def is_one(scale: Any) -> bool:
    return type(scale) is np.ndarray and scale.size == 1 and bool(scale[0] == 1)


def per_unit(value: Any, scale: Any) -> Any:
    return value if is_one(scale) else value / scale


def less_logarithm(value: Any, scale: Any) -> Any:
    return value if is_one(scale) else value - np.log(scale)


def probability(value: Any, scale: Any) -> Any:
    if plainly_everywhere(np.logical_and(value > 0, value < 1)):
        return value
    return np.clip(value, 0, 1)


FROZEN = {
    stats.rv_continuous: infrastructure.rv_continuous_frozen,
    stats.rv_discrete: infrastructure.rv_discrete_frozen,
}


def freeze(self: Any, *args: Any, **kwds: Any) -> Any:
    """The distribution with these parameters, and a distribution of its own, as SciPy has it."""
    kind = next(FROZEN[base] for base in FROZEN if isinstance(self, base))
    frozen = object.__new__(kind)
    frozen.args, frozen.kwds = args, kwds
    frozen.dist = call_outside(type(self), (), self._updated_ctor_param())
    shapes, _, _ = self._parse_args(*args, **kwds)
    frozen.a, frozen.b = ask(frozen.dist, "_get_support", *shapes)
    return frozen


for original in (infrastructure.rv_generic.freeze, infrastructure.rv_generic.__call__):

    @serves_method(original)
    def frozen(self: Any, *args: Any, original: Any = original, **kwds: Any) -> Any:
        ours = type(self).__module__.startswith("scipy.")
        if not ours or bare(*args, *kwds.values()):
            return original(self, *args, **kwds)
        return freeze(self, *map(together, args), **{k: together(x) for k, x in kwds.items()})


DISTRIBUTIONS = [type(x) for x in vars(stats).values() if isinstance(x, infrastructure.rv_generic)]
# Not `rv_discrete`: the `rv_sample` that `rv_discrete(values=...)` makes is reached through it.
called_by_name(*DISTRIBUTIONS, stats.rv_continuous, *FROZEN.values(), infrastructure.rv_generic)

inf = np.inf
OF_BOTH = [
    ("cdf", after(0.0, 1.0), probability),
    ("logcdf", after(-inf, 0.0), itself),
    ("sf", before(1.0, 0.0), probability),
    ("logsf", before(0.0, -inf), itself),
]
CONTINUOUS = [
    ("pdf", always(0.0), per_unit),
    ("logpdf", always(-inf), less_logarithm),
]
DISCRETE = [("pmf", always(0.0), probability), ("logpmf", always(-inf), itself)]

for name, outside, finish in CONTINUOUS:
    formula = Method(f"_{name}", outside, finish)
    served(getattr(stats.rv_continuous, name), formula, CLOSED)
for name, outside, finish in DISCRETE:
    served(getattr(stats.rv_discrete, name), Method(f"_{name}", outside, finish), MASS)
for name, outside, finish in OF_BOTH:
    formula = Method(f"_{name}", outside, itself)
    served(getattr(stats.rv_continuous, name), formula, OPEN)
    served(getattr(stats.rv_discrete, name), Method(f"_{name}", outside, finish), STEPS)

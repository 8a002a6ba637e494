"""Warnings at kinks: the first derivative there is a choice, so a second one is meaningless."""

from __future__ import annotations

import functools
import operator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import update_wrapper
from itertools import pairwise

import numpy as np

from ..core.array import Array
from ..core.cotangent import DENSE, Cotangent, masked
from ..core.errors import ConversionError
from ..core.lost import batch_of, warn_bent
from ..core.reach.namespaces import STANDS
from ..core.reach.stand_ins import reaching
from ..core.temporary import during
from ..core.trace import derivatives_of, is_differentiated
from .arguments import known, somewhere

# The kinks that rules ask for while the body of a loop is written down, which holds for any step.
GATHERED: ContextVar[list | None] = ContextVar("kinks", default=None)


def gathered(kinks: list) -> AbstractContextManager[None]:
    """Collect the conditions that rules ask about in this block, without answering them."""
    return during(GATHERED, kinks)


def is_met(kink):
    """Whether a mask holds somewhere; where kinks are gathered, nobody knows yet."""
    kinks = GATHERED.get()
    if kinks is None:
        return somewhere(kink)
    while type(kink) is Array and kink.within.leaves_values:
        kink = kink.payload
    kinks.append(kink)
    return False


def is_zero(x):
    """x == 0, which is asked of plain values wherever they are known."""
    return known(x) == 0


def is_differentiated_twice(x):
    """Whether two traces that compute derivatives have x."""
    return type(x) is Array and derivatives_of(x) > 1


def at_kink(name, where, kink, *xs, bar=None, tied=None):
    """Warn if a rule is differentiated with respect to its operands xs where the mask `kink` holds.

    A rule whose operands are plain is not differentiated: it asks for `type(x) is Array` first.
    The kink counts where the cotangent `bar` is present: a branch that `where` did not pick, or an
    element that no index picked, adds nothing to the result. What are `tied` are equal numbers;
    infinite ones, with which tables of distances and of logarithms begin, are constants.
    """
    if any(map(is_differentiated, xs)):
        kink = kink if tied is None else np.logical_and(kink, np.isfinite(tied))
        if is_met(present(kink, bar)):
            warn_bent(name, where)


def present(kink, bar):
    """Where the mask holds and something of a cotangent is present."""
    if type(bar) in DENSE or not isinstance(bar, Cotangent):
        return kink
    return np.logical_and(kink, masked(bar, True).mask)


def at_zero(primitive, x):
    """Warn if an operand of which no rule is left to ask is 0, where two derivatives are taken.

    So it is where a derivative is 0 on both sides of a jump, or its rule keeps only the result:
    such operations say so by `bent_at_zero`.
    """
    if is_differentiated_twice(x) and is_met(is_zero(x)):
        warn_bent(primitive.bent_at_zero, "its argument is 0")


# Python's own functions of several numbers, which compare them: equal ones are a kink.


def are_mapped(xs):
    """Whether xs are numbers, of which one differs between the examples of a batch."""
    return not any(map(np.ndim, xs)) and any(batch_of(x) is not None for x in xs)


def extreme(f):
    """`min` or `max`, of which `key=` may be a function. Of mapped numbers, each example's own."""
    reached, first = reaching(f), operator.gt if f is max else operator.lt

    def chosen(best, x):
        return np.where(first(x, best), x, best)

    def call(*args, **kwargs):
        if len(args) == 1 and not kwargs:
            args = (list(args[0]),)
        try:
            out = reached(*args, **kwargs) if kwargs else f(*args)
        except ConversionError:
            items = args[0] if len(args) == 1 else args
            if kwargs or not are_mapped(items):
                raise
            return functools.reduce(chosen, items)
        if type(out) is Array and not kwargs and is_differentiated_twice(out):
            items = args[0] if len(args) == 1 else args
            tied(f.__name__, [x for x in items if x is not out], out)
        return out

    return update_wrapper(call, f)


def in_order(*args, **kwargs):
    """`sorted`, of which `key=` may be a function."""
    out = reaching(sorted)(*args, **kwargs)
    if "key" not in kwargs and any(map(is_differentiated_twice, out)):
        for x, y in pairwise(out):
            tied("sorted", [x], y)
    return out


def tied(name, xs, y):
    """Warn if one of the numbers xs equals y, which is another one."""
    for x in xs:
        equal = isinstance(x, (Array, float, int)) and np.logical_and(x == y, np.isfinite(y))
        if is_met(equal):
            warn_bent(name, "several of its arguments are equal")
            return


STANDS.update({id(min): extreme(min), id(max): extreme(max)})
STANDS[id(sorted)] = update_wrapper(in_order, sorted)

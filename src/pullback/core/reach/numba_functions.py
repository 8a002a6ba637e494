"""Functions compiled by numba take part as the Python functions beneath them.

    @numba.njit
    def decay(x, rate):
        return x * math.exp(-rate)

Machine code accepts only plain numbers. So if x is an Array with a derivative, `decay(x, 0.5)`
calls the function beneath the decorator; with plain numbers it runs the machine code.
`numba.vectorize` becomes `np.vectorize` of that function, and `numba.guvectorize` calls it with
arrays for its results.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..foreign import arrays_in
from .call_tables import CALLS
from .twins import twin_of


def is_jitted(f: Any) -> bool:
    """Whether numba has compiled f, and keeps the function that it was."""
    return type(f).__module__.startswith("numba.") and python_of(f) is not None


def python_of(f: Any) -> Any:
    """The Python function, or class, of one that numba has compiled."""
    if isinstance(f, type):
        return f.__mro__[1] if type(f).__name__ == "JitClassType" else None
    return getattr(f, "__wrapped__", None)


def beneath(f: Any) -> Any:
    """What is called in place of f. numba reads the function's own code, which stays as it is."""
    return twin_of(python_of(f))


def jitted(f: Any, compiled: Any) -> Any:
    """f, called as Python where an argument carries a derivative, and else as `compiled` does."""

    def call_jitted(*args: Any, **kwargs: Any) -> Any:
        if arrays_in([*args, *kwargs.values()]):
            return in_python(f)(*args, **kwargs)
        return compiled(*args, **kwargs)

    return call_jitted


def in_python(f: Any) -> Any:
    """What stands for f: its Python function, for each element where numba calls it so."""
    kind = type(f).__name__
    if kind == "DUFunc":
        return elementwise(f)
    return by_parts(f) if kind == "GUFunc" else CALLS[beneath(f)]


def elementwise(f: Any) -> Any:
    """`numba.vectorize`."""
    kinds = {types[-1] for types in f.types}
    over = CALLS[np.vectorize](CALLS[beneath(f)], otypes=kinds if len(kinds) == 1 else None)
    return lambda *xs: over(*xs)[()]


def by_parts(f: Any) -> Any:
    """`numba.guvectorize`, whose function writes into arrays that it is given for its results."""
    operands, results = f.signature.split("->")
    axes = [CALLED.findall(part) for part in PART.findall(operands)]
    made = [CALLED.findall(part) for part in PART.findall(results)]
    kinds = f.types[0].partition("->")[2]

    def each(*xs: Any) -> Any:
        sizes = {
            name: size
            for x, names in zip(xs, axes, strict=True)
            for name, size in zip(names, np.shape(x), strict=True)
        }
        zeros = CALLS[np.zeros]
        outs = [
            zeros([sizes[name] for name in names] or 1, kind)
            for names, kind in zip(made, kinds, strict=True)
        ]
        CALLS[beneath(f)](*xs, *outs)
        outs = [out if names else out[0] for out, names in zip(outs, made, strict=True)]
        return outs[0] if len(outs) == 1 else tuple(outs)

    return CALLS[np.vectorize](each, signature=f.signature)


PART, CALLED = re.compile(r"\(([^)]*)\)"), re.compile(r"\w+")

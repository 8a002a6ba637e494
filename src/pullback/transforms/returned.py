"""Check what a differentiated function returned: one real number, or a pair with `has_aux`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentError, DtypeError, NonScalarOutputError, name_of
from ..core.lost import warn_swapped
from ..core.messages import describe
from ..core.spec import spec_of
from ..core.tree import flatten


def split_aux(out: Any, fun: Any, verb: str, trace: Any) -> tuple[Any, Any]:
    """The output and aux; a pair the other way round would have zero derivatives in silence."""
    if not isinstance(out, tuple) or len(out) != 2:
        raise ArgumentError(
            f"`{verb}` with has_aux=True needs a function that returns a pair (output, aux), but"
            f" `{name_of(fun)}` returned {describe(out)}.\n  Write `return output, aux`."
        )
    if not depends(out[0], trace) and depends(out[1], trace):
        warn_swapped(trace.name)
    return out


def depends(tree: Any, trace: Any) -> bool:
    """Whether there is an Array with a derivative of this trace in a tree."""
    leaves = flatten(tree)[0]
    return any(type(x) is Array and x.within is trace and x.node is not None for x in leaves)


def named_in_numpy(fun: Any) -> str | None:
    """How a program writes a function of NumPy: `np.sort`."""
    name = getattr(fun, "__name__", "")
    for home, path in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
        if getattr(home, name, None) is fun:
            return f"{path}.{name}"
    return None


def instead_of(out: Any, call: str) -> str:
    """What to return in the place of an object that is no number."""
    if isinstance(out, str):
        return "Return the number itself, since text has no derivative."
    if isinstance(out, Iterator):
        return "Return what it gives: the sum, `sum(values)`, or all of them, `list(values)`."
    if inspect.isroutine(out):
        if isinstance(getattr(out, "__self__", None), (Array, np.ndarray, np.generic)):
            return f"Call it: `.{out.__name__}()`."
        return f"Call it: `{name_of(out)}(x)`."
    return (
        f"Return one number; other results go through `has_aux=True`, and `jacobian({call})` takes"
        " trees."
    )


def check_scalar(out: Any, verb: str, fun: Any) -> None:
    """Raise unless out is one real number."""
    if type(out) is Array and not out.shape and out.dtype.kind == "f":
        return
    name = name_of(fun)
    call = "f" if "<" in name or "(" in name else named_in_numpy(fun) or name
    if type(out) is not Array and not isinstance(
        out, (np.ndarray, np.generic, int, float, complex)
    ):
        if out is None:
            raise NonScalarOutputError(
                f"`{verb}` needs a scalar output, but `{name}` returned None.\n"
                f"  End `{name}` with the number to differentiate: `return value`."
            )
        raise NonScalarOutputError(
            f"`{verb}` needs a scalar output, but `{name}` returned {describe(out)}.\n"
            f"  {instead_of(out, call)}"
        )
    spec = spec_of(out)
    if spec.dtype.kind not in "iufc":
        raise NonScalarOutputError(
            f"`{verb}` needs a scalar output, but `{name}` returned {describe(out)}, which is no"
            " number.\n  Return the number to differentiate."
        )
    if spec.shape:
        if getattr(fun, "verb", None) == "grad":
            of = "f" if "<" in name else name_of(fun.fun)
            raise NonScalarOutputError(
                f"`{verb}` needs a scalar output, but `{name}` returned {spec}.\n"
                f"  The derivative of a gradient is a matrix: write `hessian({of})`."
            )
        raise NonScalarOutputError(
            f"`{verb}` needs a scalar output, but `{name}` returned {spec}.\n"
            f"  A gradient is defined for one number. Sum it (`{verb}(lambda x: {call}(x).sum())`),"
            f" or use `jacobian({call})`."
        )
    if spec.dtype.kind == "c":
        raise DtypeError(
            f"`{verb}` needs a real output, but `{name}` returned {spec}.\n"
            "  Take its `.real`, `.imag` or `abs`, or use `jacobian`, with `holomorphic=True` where"
            " arguments are complex as well."
        )

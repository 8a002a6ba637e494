"""Results of a transformed function: they leave their trace, or it is said why they can't.

`settle` takes a result off the trace that ends. `check_output` and `check_scalar` refuse what has
no derivative; `split_aux` parts the pair that a function with `has_aux` returns.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import Array, snapshot
from ..core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    EscapedError,
    NonScalarOutputError,
    kind_of,
    name_of,
)
from ..core.lost import warn_swapped
from ..core.messages import describe
from ..core.spec import hardened, spec_of
from ..core.storage import current
from ..core.trace import CONSTANT, Trace
from ..core.tree import flatten, is_static, unflatten

DEFERRED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)


def settle(x: Any, trace: Trace) -> Any:
    """Check a result of f at the end of a trace: of it, of an older live one, or plain."""
    if type(x) is Array:
        if x.storage is None and x.within is trace:
            return x
    else:
        if isinstance(x, DEFERRED):
            raise ArgumentTypeError(
                f"`{name_of(trace.fun)}` returned {kind_of(x)} to `{trace.verb}`; its body"
                " would run after the transformation has ended.\n"
                + (
                    "  Return the awaited result: `return asyncio.run(coroutine)`."
                    if isinstance(x, types.CoroutineType)
                    else "  Return its sum, `return sum(values)`, or its values, `list(values)`."
                )
            )
        return x
    other = current(x).within
    if other.unread:
        return settle(other.read(x), trace)
    if other is trace:
        return x
    if other.ended:
        raise EscapedError(
            f"`{name_of(trace.fun)}` returned to `{trace.name}` an Array of `{other.name}`, which"
            f" has ended.\n  Return it from `{other.verb}` as a result, not through a variable;"
            " `grad`, `value_and_grad` and `vjp` also take `has_aux=True`."
        )
    if other.birth > trace.birth:
        raise EscapedError(
            f"`{name_of(trace.fun)}` returned an Array of `{other.name}`, which began inside"
            f" `{trace.name}` and cannot outlive it.\n"
            "  Return `x.detach()`, or its `.grad`, instead."
        )
    return fresh(x.payload) if other is CONSTANT else x


def fresh(x: Any) -> Any:
    """x on memory of its own, and an Array as an object of its own."""
    if type(x) is Array:
        return snapshot(x)
    return x.copy("K") if type(x) is ndarray else hardened(x)


def settle_tree(tree: Any, trace: Trace) -> Any:
    """aux and other outputs, without this trace: fresh, and plain if no other trace runs."""
    leaves, structure = flatten(tree)
    out = []
    for leaf in leaves:
        leaf = settle(leaf, trace)
        if type(leaf) is Array and leaf.within is trace:
            leaf = fresh(trace.primal(leaf))
        out.append(leaf)
    return unflatten(structure, out)


def check_output(out: Any, leaves: list[Any], verb: str, fun: Any) -> None:
    """Raise for an output that holds no number: None, a truth value, text, an object.

    Among numbers in a tree such a leaf may stand.
    """
    if type(out) is Array and out.dtype.kind in "biufc":
        return
    alone = len(leaves) == 1 and leaves[0] is out and not isinstance(out, DEFERRED)
    if out is None or (
        alone and (is_static(out) or not holds_numbers(out) or kind_in(out) not in "biufc")
    ):
        raise ArgumentTypeError(
            f"`{verb}({name_of(fun)})` needs a number, an array or a tree of them as output, but"
            f" `{name_of(fun)}` returned {describe(out)}.\n"
            + (
                f"  End `{name_of(fun)}` with what you want to differentiate: `return value`."
                if out is None
                else "  Return its numbers, or register its class with `pullback.register_tree`."
            )
        )


def kind_in(out: Any) -> str:
    """The kind of dtype of an array or a NumPy scalar; "f" for all else."""
    known = type(out) is Array or isinstance(out, (ndarray, np.generic))
    return out.dtype.kind if known else "f"


def holds_numbers(x: Any) -> bool:
    """Whether a leaf of a result is a number or an array, of any library.

    A `LinearOperator`, for one, has a shape and a dtype, and is no array.
    """
    return isinstance(x, (ndarray, np.generic, int, float, complex)) or (
        hasattr(x, "dtype") and hasattr(x, "__array_function__")
    )


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

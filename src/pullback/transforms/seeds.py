"""Seeds: the tangents and cotangents that a caller gives, which must be like the values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.array import Array, peel, snapshot
from ..core.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ..core.messages import describe
from ..core.spec import Spec, spec_of
from ..core.storage import current
from ..core.trace import CONSTANT
from ..core.tree import flatten
from .arguments import refuse_ended


def branches(tree: Any, structure: Any, what: str, asker: Callable[[], str]) -> list[Any]:
    """What stands in a tree of tangents or cotangents at the leaves of a structure.

    asker: for messages, who takes it.
    """
    if structure is None:
        return [tree]
    try:
        return structure.flatten_up_to(tree)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{asker()} takes {what} with the tree {shown(structure)}, but got"
            f" {shown(flatten(tree)[1]) or describe(tree)}.\n"
            "  Give the same containers and keys, with a number or an array in place of each star."
        ) from None


def shown(structure: Any) -> str:
    """A tree in messages, with a star for each leaf: `[*, {'a': *}]`."""
    text = "" if structure is None else str(structure)
    return text.removeprefix("PyTreeSpec(").removesuffix(")").split(", namespace=")[0]


def unwrapped(tree: Any, spec: Spec) -> str:
    """What to write for a tangent or cotangent that is no array."""
    if isinstance(tree, (tuple, list)) and len(tree) == 1 and np.shape(tree[0]) == spec.shape:
        return f"  Write what is in the {type(tree).__name__}, `v[0]`."
    return "  Write `np.asarray(v)` around it if it holds numbers."


def of_shape(given: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """What to write for a tangent or cotangent of another shape."""
    if math.prod(given) == math.prod(shape):
        way = "v.item()" if shape == () else f"np.reshape(v, {shape})"
        return f"Write `{way}` if these are its numbers."
    if shape == ():
        return "Give one number, such as `1.0`."
    try:
        fits = np.broadcast_shapes(given, shape) == shape
    except ValueError:
        fits = False
    if fits:
        return f"Nothing is broadcast here; write `np.broadcast_to(v, {shape})` if you want that."
    return f"Give one number for each of its elements, such as `np.ones({shape})`."


def conform(leaf: Any, spec: Spec, what: str, asker: Callable[[], str]) -> Any:
    """A tangent or cotangent as the caller gave it: of the right shape, cast to the right dtype."""
    if type(leaf) is Array:
        if current(leaf).within.ended:
            refuse_ended(leaf, f"{asker()} was given {what} that is")
        leaf = peel(leaf) if leaf.within is CONSTANT else snapshot(leaf)
    if type(leaf) is not Array and not isinstance(leaf, (ndarray, np.generic)):
        if not isinstance(leaf, (int, float, complex)):
            raise ArgumentTypeError(
                f"{asker()} takes {what} of {spec}, but got {describe(leaf)}.\n"
                + unwrapped(leaf, spec)
            )
        leaf = np.asarray(leaf)[()]
    if leaf.shape != spec.shape:
        raise ShapeError(
            f"{asker()} takes {what} of shape {spec.shape}, but got {leaf.shape}.\n"
            f"  {of_shape(leaf.shape, spec.shape)}"
        )
    if leaf.dtype != spec.dtype:
        if leaf.dtype.kind not in "fciu" or (leaf.dtype.kind == "c" and spec.dtype.kind != "c"):
            how = "v.real" if leaf.dtype.kind == "c" else f"v.astype({spec.dtype})"
            raise DtypeError(
                f"{asker()} takes {what} of {spec}, but got {spec_of(leaf)}.\n"
                f"  Write `{how}` if that's what you want."
            )
        leaf = leaf.astype(spec.dtype)
    return leaf

"""Trees: nested containers of arrays, by optree in a namespace of our own.

Tuples, lists, dicts, named tuples, dataclasses, SciPy's sparse arrays and pandas' Series and
DataFrames are trees; None is structure.
Strings, truth values, enums and functions are static leaves: they pass through.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .array import Array
from .errors import ArgumentTypeError, kind_of
from .reach.namespaces import UNWATCHED
from .shutdown import UNTIL, leaving, rest, wait_while_inside
from .storage import current
from .usage import usage

NAMESPACE = "pullback"
FIRST_SIGHT = threading.Lock()
SEEN: set[type] = set()  # dataclasses and others' classes that were registered on first sight
SPARSE = "scipy.sparse."  # the modules of classes of sparse arrays
TABLES = ("Series", "DataFrame")  # the classes of pandas that are trees
RESULTS: dict[type, Any] = {}  # types of ours that hold an Array: how they give it as a result
ATOMS = frozenset({Array, np.ndarray, np.float64, np.float32, float, int, complex})


class Late:
    """What stands for optree until a container is looked at, and while the process is ending.

    Gradients of plain arrays do without it, and importing it takes a fifth of the time that
    `import pullback` would take.
    """

    def __getattr__(self, name: str) -> Any:
        rest()
        with UNWATCHED[-1]():  # a recording may stop at what it does not expect
            module = import_module("optree")
        if not UNTIL[0]:
            globals()["optree"] = module
        return getattr(module, name)


optree: Any = Late()


def leave() -> None:
    globals()["optree"] = Late()
    wait_while_inside("optree", 0.5)


if sys.version_info < (3, 14):  # from then on, daemon threads are not ended but hang
    leaving(leave)


@usage("register_tree(cls, flatten, unflatten)")
def register_tree(
    cls: type, flatten: Callable[[Any], Any], unflatten: Callable[[Any, Any], Any]
) -> type:
    """Make instances of a class trees.

    >>> class Pair:
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> _ = register_tree(Pair, lambda p: ((p.left, p.right), None), lambda aux, xs: Pair(*xs))

    Args:
        cls: the class; it is returned.
        flatten: from an instance to (children, static data that can be compared).
        unflatten: from (static data, children) to an instance.

    Raises:
        ArgumentError: the class is registered already.
    """
    if not isinstance(cls, type):
        raise ArgumentTypeError(
            f"`register_tree` takes a class, but got {kind_of(cls)}.\n"
            f"  Write `pullback.register_tree({type(cls).__name__}, flatten, unflatten)`."
        )
    if not callable(flatten) or not callable(unflatten):
        raise ArgumentTypeError(
            f"`register_tree` takes two functions for `{cls.__name__}`, but got {kind_of(flatten)}"
            f" and {kind_of(unflatten)}.\n  Write `pullback.register_tree({cls.__name__},"
            f" lambda x: ((x.a, x.b), None), lambda aux, xs: {cls.__name__}(*xs))`."
        )
    try:
        enter(cls, flatten, unflatten)
    except ValueError as error:
        raise ArgumentTypeError(
            f"`{cls.__name__}` is registered as a tree already.\n"
            "  Register a class once, where it is defined."
        ) from error
    return cls


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree, and its structure. A plain array never goes through optree.

    Objects of ours that hold an Array are leaves, which that Array stands for.

    Views among them are up to date.
    """
    if type(tree) in ATOMS:
        return [current(tree) if type(tree) is Array else tree], None
    while True:
        leaves, structure = optree.tree_flatten(tree, namespace=NAMESPACE)
        # Some classes are registered on first sight; then the tree is deeper than it seemed.
        others = set(map(type, leaves)) - ATOMS
        new = {cls for cls in others if is_new(cls)}
        if not new:
            alone = len(leaves) == 1 and leaves[0] is tree
            if not others.isdisjoint(RESULTS):
                leaves = [RESULTS[type(x)](x) if type(x) in RESULTS else x for x in leaves]
            for leaf in leaves:
                if type(leaf) is Array:
                    current(leaf)
            return leaves, None if alone else structure
        meet(new)


def is_new(cls: type) -> bool:
    """Whether instances may be trees of a class that has not been met."""
    if dataclasses.is_dataclass(cls):
        return True
    return trees_of(cls) is not None and cls not in SEEN


def trees_of(cls: type) -> str | None:
    """The module of ours that makes classes of another package trees."""
    if cls.__module__.startswith(SPARSE):
        return "pullback.scipy.sparse_arrays.trees"
    of_pandas = cls.__module__.partition(".")[0] == "pandas"
    return "pullback.pandas.trees" if of_pandas and cls.__name__ in TABLES else None


def meet(classes: set[type]) -> None:
    """Register classes that have not been seen."""
    with FIRST_SIGHT:  # another thread may have seen the class at the same time
        for cls in classes - SEEN:
            trees = trees_of(cls)
            if trees is not None:
                import_module(trees).register(cls)
            else:
                register_dataclass(cls)
            SEEN.add(cls)


def enter(cls: Any, flatten: Any, unflatten: Any, entry: Any = None) -> None:
    """Enter a class whose flatten may also give names of the children, which entry writes."""
    how = {} if entry is None else {"path_entry_type": entry}
    optree.register_pytree_node(cls, flatten, unflatten, namespace=NAMESPACE, **how)


def paths(tree: Any, name: str) -> list[str]:
    """How to write each leaf of a tree that has this name: `params["w"][0]`."""
    flatten(tree)  # dataclasses are registered on first sight
    if type(tree) in ATOMS:
        return [name]
    return [p.codify(name) for p in optree.tree_accessors(tree, namespace=NAMESPACE)]


def unflatten(structure: Any, leaves: Any) -> Any:
    if structure is None:
        (leaf,) = leaves
        return leaf
    return optree.tree_unflatten(structure, leaves)


def children(tree: Any) -> list[Any]:
    """The parts of a tree, one level down; a leaf has none."""
    if type(tree) in ATOMS or optree.tree_is_leaf(tree, namespace=NAMESPACE):
        return []
    return list(optree.tree_flatten_one_level(tree, namespace=NAMESPACE)[0])


def broadcast_prefix(prefix: Any, tree: Any) -> list[Any]:
    """The leaf of a prefix that stands above each leaf of a tree; None is a leaf of a prefix."""
    flatten(prefix)  # dataclasses are registered on first sight
    spread = optree.broadcast_prefix(prefix, tree, none_is_leaf=True, namespace=NAMESPACE)
    leaves = optree.tree_leaves(tree, none_is_leaf=True, namespace=NAMESPACE)
    return [x for x, leaf in zip(spread, leaves, strict=True) if leaf is not None]


def tree_map(f: Callable[[Any], Any], tree: Any) -> Any:
    leaves, structure = flatten(tree)
    return unflatten(structure, [f(leaf) for leaf in leaves])


def is_static(leaf: Any) -> bool:
    """Whether a leaf passes through transformations untouched.

    Functions and classes do: callables with a name. A callable object without one may hold arrays.
    """
    return type(leaf) not in ATOMS and (
        isinstance(leaf, (str, bytes, bool, np.bool_, enum.Enum, partial))
        or (callable(leaf) and hasattr(leaf, "__name__"))
    )


def register_dataclass(cls: Any) -> None:
    """Fields are children, those with metadata={"static": True} are structure."""
    fields = dataclasses.fields(cls)
    moving = [field.name for field in fields if not field.metadata.get("static")]
    static = [field.name for field in fields if field.metadata.get("static")]

    def flatten(instance: Any) -> Any:
        data = tuple([getattr(instance, name) for name in static])
        return [getattr(instance, name) for name in moving], data

    def unflatten(data: Any, children: Any) -> Any:
        instance = object.__new__(cls)
        for name, child in zip(moving, children, strict=True):
            object.__setattr__(instance, name, child)
        for name, datum in zip(static, data, strict=True):
            object.__setattr__(instance, name, datum)
        return instance

    register_tree(cls, flatten, unflatten)

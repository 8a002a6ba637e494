"""KDTree: which points are nearest is constant; their distances are differentiable."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse, spatial

from ...core.errors import ArgumentError, MissingRuleError
from ...core.in_place import InPlaceOf
from ...core.operands import as_array, holds_arrays
from ...core.reach.call_tables import CALLS
from ...core.reach.compiled_code import foreign
from ...core.reach.namespaces import BEHIND, BOUND, STANDS
from ...core.reach.session import call_outside
from ...primitives.exact import exact, like
from ..solving.following import Chosen
from ..solving.leaves import is_live, take
from ..sparse_arrays.patterns import fixed, is_mapped
from .distances import length


def nearest(x: Any, *, tree: Any, options: Any) -> Any:
    return spatial.cKDTree.query(tree, np.ascontiguousarray(x), **dict(options))[1]


def nearest_of(data: Any, x: Any, *, tree: Any, options: Any) -> Any:
    return nearest(x, tree=tree_of(data, *tree), options=options)


LATEST: dict[Any, tuple[Any, Any]] = {}  # points and their tree, the latest of each kind


def tree_of(data: Any, kind: Any, options: Any) -> Any:
    """A tree of these points, which is the one before if they have not moved."""
    points, tree = LATEST.get((kind, options), (None, None))
    if tree is None or not np.array_equal(points, data):
        points = np.array(data)
        tree = kind(points, **dict(options))
        LATEST[kind, options] = points, tree
    return tree


def several(options: Any) -> Any:
    """The axis of neighbours, where there are several."""
    k = dict(options)["k"]
    return () if np.ndim(k) == 0 and k == 1 else (int(k) if np.ndim(k) == 0 else len(k),)


neighbours = Chosen("neighbours", nearest, lambda x, tree, options: x.shape[:-1] + several(options))
neighbours_of = Chosen(
    "neighbours of points",
    nearest_of,
    lambda data, x, tree, options: x.shape[:-1] + several(options),
)


def sides(box: Any) -> Any:
    """The sizes of a box; infinite where they are 0, as sides do not meet there."""
    if np.any(box < 0):
        raise ArgumentError(f"A tree's `boxsize` is not negative, but got {box}.")
    return np.where(box == 0, np.inf, box)


def shortest(gap: Any, box: Any) -> Any:
    """The gap between two places in a box whose sides meet."""
    if box is None:
        return gap
    box = sides(box)
    ahead = np.where(gap > box / 2, gap - box, gap)
    return np.where(gap < -box / 2, gap + box, ahead)


def inside(x: Any, box: Any) -> Any:
    """The same place within the box."""
    if box is None:
        return x
    times = np.floor(x / sides(box))
    return x - times * box


def queried(find: Any, data: Any, box: Any, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0,
            distance_upper_bound: Any = np.inf, workers: int = 1) -> Any:  # fmt: skip
    """Distances and indices; a neighbour that there is not is infinitely far.

    find(x, options): the indices.
    box: the sizes of the tree's box, or None
    """
    x = as_array(x)
    options = {"k": k, "eps": eps, "p": p, "distance_upper_bound": distance_upper_bound}
    options = {key: fixed(value) for key, value in options.items()}
    found = find(x, tuple({**options, "workers": workers}.items()))
    near = take(data, np.minimum(found, data.shape[0] - 1), axis=0)
    x = inside(x, box)
    at = x if near.ndim == x.ndim else x[..., None, :]
    far = np.where(found < data.shape[0], length(shortest(at - near, box), p), np.inf)
    return (far if far.ndim else like(0.0, far)), found  # of one point SciPy gives a float


def close_pairs(
    one: Any, other: Any, max_distance: Any, p: Any = 2.0, output_type: str = "dok_matrix"
) -> Any:
    """The distances of all pairs of points of two trees that are close, as a sparse array."""
    trees = [getattr(tree, "native", tree) for tree in (one, other)]
    given = *trees, fixed(max_distance), fixed(p)
    close = lambda kind: call_outside(spatial.cKDTree.sparse_distance_matrix, (*given, kind), {})
    found = close("coo_matrix")
    rows, columns = found.row, found.col
    gap = take(one.data, rows, axis=0) - take(other.data, columns, axis=0)
    data = length(shortest(gap, one.boxsize), p)
    data = exact(found.data, data)
    if output_type == "dict":
        # Each pair is met once, in another order than in SciPy's arrays.
        number = {
            pair: k for k, pair in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))
        }
        return {pair: like(0.0, data[number[pair]]) for pair in close("dict")}
    out = CALLS[sparse.coo_matrix]((data, (rows, columns)), shape=found.shape)
    return out if output_type == "coo_matrix" else CALLS[out.todok]()


# What gives indices alone.
CHOICES = ("query_ball_point", "query_ball_tree", "query_pairs", "count_neighbors")


def chosen(method: Any, args: Any, options: dict[str, Any]) -> Any:
    """What a method of a plain tree finds; points, radii and other trees may move."""

    def value(x: Any) -> Any:
        return x.native if type(x) is Tree else fixed(as_array(x) if holds_arrays(x) else x)

    return method(*map(value, args), **{key: value(x) for key, x in options.items()})


def of_tree(method: Any) -> Any:
    """A compiled method of a plain tree, as it is called under a transformation."""
    tree, name, plain = method.__self__, method.__name__, foreign(method)

    def call(*args: Any, **options: Any) -> Any:
        given = (*args, *options.values())
        if name == "sparse_distance_matrix" and any(type(x) is Tree or is_live(x) for x in given):
            return close_pairs(tree, *args, **options)
        if not any(type(x) is Tree or is_live(as_array(x)) for x in given if not callable(x)):
            return plain(*args, **options)
        if name == "query":
            find = lambda x, options: neighbours(x, tree=tree, options=options)
            return queried(find, np.asarray(tree.data), tree.boxsize, *args, **options)
        if name in CHOICES:
            return chosen(method, args, options)
        return plain(*args, **options)

    return call


BOUND.update(dict.fromkeys((spatial.cKDTree, spatial.KDTree), of_tree))


class Tree(InPlaceOf):
    """A tree of points that are differentiated."""

    def __init__(self, kind: Any, data: Any, options: dict[str, Any]) -> None:
        none = np.empty((0, *data.shape[1:]), data.dtype)
        self.leafsize = kind(none, **options).leafsize  # SciPy says if something is wrong
        self.data = data.astype(np.float64, order="C", copy=bool(options.get("copy_data")))
        self.kind, self.options, self.boxsize = kind, options, options.get("boxsize")
        self.n, self.m = data.shape
        if self.boxsize is not None:
            self.boxsize = np.full(self.m, self.boxsize, np.float64)
        if is_mapped(data):
            fixed(data)  # refused, so that there is a tree for each example

    @cached_property
    def native(self) -> Any:
        return self.kind(np.array(fixed(self.data)), **self.options)

    def query(self, x: Any, *args: Any, **options: Any) -> Any:
        tree = self.kind, tuple(sorted(self.options.items()))
        find = lambda x, options: neighbours_of(self.data, x, tree=tree, options=options)
        return queried(find, self.data, self.boxsize, x, *args, **options)

    def sparse_distance_matrix(self, other: Any, *args: Any, **options: Any) -> Any:
        return close_pairs(self, other, *args, **options)

    def __getattr__(self, name: str) -> Any:
        if name in CHOICES:
            method = getattr(self.native, name)
            return lambda *args, **options: chosen(method, args, options)
        if hasattr(spatial.KDTree, name) and not name.startswith("__"):
            raise MissingRuleError(
                f"`KDTree.{name}` has no derivative with respect to the tree's points.\n"
                "  Take indices from `query_pairs` or `query_ball_point`, and compute with these."
            )
        raise AttributeError(name)


def made(kind: Any) -> None:
    def make(data: Any, *args: Any, **options: Any) -> Any:
        names = ("leafsize", "compact_nodes", "copy_data", "balanced_tree", "boxsize")
        options |= dict(zip(names, args, strict=False))
        box = options.get("boxsize")
        if box is not None:
            if is_live(as_array(box)):
                raise MissingRuleError(
                    f"`{kind.__name__}` has no derivative with respect to its `boxsize`.\n"
                    f"  Use `{kind.__name__}(points / boxsize, boxsize=1.0)`, and multiply the"
                    " distances by the size."
                )
            size = np.asarray(box, np.float64)
            options["boxsize"] = tuple(size.tolist()) if size.ndim else size.item()
        if not is_live(as_array(data)):
            return kind(fixed(data), **options)
        return Tree(kind, as_array(data), options)

    STANDS[id(kind)] = make
    BEHIND[id(make)] = kind


made(spatial.KDTree)
made(spatial.cKDTree)

"""scipy.sparse.csgraph: paths and trees by the choice that was made.

Which edges a shortest path takes stays while their lengths move a little; its length is the sum of
theirs. Where two paths are equally long, the derivative is that of the one that SciPy took.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ...core.errors import MissingRuleError
from ...core.reach import CALLS, call_outside
from ..solving.exact import exact
from ..solving.serving import serves
from .formats import moves
from .patterns import constants, coordinates, fixed, is_live, majors
from .products import product
from .systems import plain_array

__all__ = []


def edges(graph: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The numbers of a graph, their rows and columns, the plain graph, and its number of nodes."""
    if is_live(graph):  # a dense one, in which zero is not an edge
        plain = fixed(graph)
        rows, cols = np.nonzero(np.isfinite(plain) & (plain != 0))
        return graph[rows, cols], rows, cols, plain, len(plain)
    A = graph if graph.format in ("csr", "csc") else CALLS[graph.tocsr]()
    outer, inner = constants(A.indptr, A.indices)
    rows, cols = coordinates(outer, inner, A.format)
    plain = plain_array(fixed(A.data), outer, inner, A.format, A.shape)
    return A.data, rows, cols, plain, A.shape[0]


def constant_graph(graph: Any) -> Any:
    """A graph whose numbers are constants, as plain arrays."""
    return edges(graph)[3] if sparse.issparse(graph) else fixed(graph)


def along(
    data: Any, rows: Any, cols: Any, n: int, undirected: bool, before: Any, starts: Any
) -> Any:
    """The lengths of paths, of which `before` holds the node before each."""
    steps: Any = []
    ends: Any = []
    plain = fixed(data)
    keys = rows.astype(np.int64) * n + cols
    if undirected:  # of two edges the shorter one
        keys = np.concatenate([keys, cols.astype(np.int64) * n + rows])
        plain = np.concatenate([plain, plain])
    order = np.lexsort((plain, keys))
    sorted_keys = keys[order]
    nodes = np.broadcast_to(np.arange(n), before.shape).copy()
    where = np.arange(before.size)
    before, nodes = before.reshape(len(starts), n), nodes.reshape(-1)
    line = np.repeat(np.arange(len(starts)), n)
    while True:
        previous = before[line, nodes]
        open_ones = previous >= 0
        if not open_ones.any():
            break
        where, line, nodes = where[open_ones], line[open_ones], nodes[open_ones]
        previous = previous[open_ones]
        found = np.searchsorted(sorted_keys, previous.astype(np.int64) * n + nodes)
        steps.append(order[found] % len(rows))
        ends.append(where)
        nodes = previous
    if not steps:
        return np.zeros(before.size, data.dtype)
    steps, ends = np.concatenate(steps), np.concatenate(ends)
    ones = np.ones(len(steps), data.dtype)
    return product(ones, data, ends, steps, fmt="coo", shape=(before.size, len(rows)))


def paths(original: Any) -> None:
    signature = inspect.signature(original)

    @serves(original)
    def lengths(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        given = dict(bound.arguments)
        if not moves(given["csgraph"]):
            return call_outside(
                original, (), {**given, "csgraph": constant_graph(given["csgraph"])}
            )
        if given.get("unweighted"):
            return call_outside(original, (), {**given, "csgraph": edges(given["csgraph"])[3]})
        if given.get("overwrite") or given.get("min_only"):
            raise MissingRuleError(
                f"`{original.__name__}` has no derivative with `overwrite` or `min_only`.\n"
                "  Leave it out, and take `np.min(lengths, axis=0)`."
            )
        data, rows, cols, plain, n = edges(given["csgraph"])
        asked = given.get("return_predecessors", False)
        given |= {"csgraph": plain, "return_predecessors": True}
        found, before = call_outside(original, (), given)
        starts = np.arange(n) if given.get("indices") is None else np.ravel(given["indices"])
        undirected = not given.get("directed", True)
        out = along(data, rows, cols, n, undirected, np.atleast_2d(before), starts)
        out = exact(found, np.where(np.isfinite(found), out.reshape(found.shape), found))
        return (out, before) if asked else out


for each in ("shortest_path", "dijkstra", "bellman_ford", "johnson", "floyd_warshall"):
    paths(getattr(csgraph, each))

tree_of_scipy = csgraph.minimum_spanning_tree


@serves(csgraph.minimum_spanning_tree)
def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    if not moves(csgraph):
        return call_outside(tree_of_scipy, (constant_graph(csgraph), overwrite), {})
    data, rows, cols, plain, n = edges(csgraph)
    tree = call_outside(lambda: tree_of_scipy(plain).tocsr(), (), {})
    keys = rows.astype(np.int64) * n + cols
    order = np.argsort(keys, kind="stable")
    asked = majors(tree.indptr).astype(np.int64) * n + tree.indices
    numbers = np.take(data, order[np.searchsorted(keys[order], asked)])
    return CALLS[sparse.csr_array]((numbers, tree.indices, tree.indptr), shape=(n, n))

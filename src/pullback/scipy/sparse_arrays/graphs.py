"""scipy.sparse.csgraph: paths and trees along the edges that SciPy chose.

The edges of a shortest path are locally constant, and its length is the sum of theirs. If two paths
are equally long, the derivative is that of the one that SciPy chose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ...core.errors import MissingRuleError
from ...core.reach.call_tables import CALLS
from ...core.reach.session import call_outside
from ...primitives.exact import exact
from ..solving.plain import signature
from ..solving.serving import refuses, serves
from .kept_zeros import moves, seen
from .patterns import constants, coordinates, fixed, is_live, majors
from .products import product
from .systems import plain_array


def by_lines(graph: Any) -> Any:
    """A sparse graph by rows or columns, with the edges that SciPy has."""
    A = seen(graph)
    return A if A.format in ("csr", "csc") else CALLS[A.tocsr]()


def pattern(graph: Any) -> Any:
    """A plain graph with the edges of one, all of length 1; their numbers may be mapped."""
    if not sparse.issparse(graph):
        return fixed(graph)
    A = by_lines(graph)
    outer, inner = constants(A.indptr, A.indices)
    return plain_array(np.ones(len(inner)), outer, inner, A.format, A.shape)


def edges(graph: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The numbers of a graph, their rows and columns, the plain graph, and its number of nodes."""
    if is_live(graph):  # a dense one, in which zero is not an edge
        plain = fixed(graph)
        rows, cols = np.nonzero(np.isfinite(plain) & (plain != 0))
        return graph[rows, cols], rows, cols, plain, len(plain)
    A = by_lines(graph)
    outer, inner = constants(A.indptr, A.indices)
    rows, cols = coordinates(outer, inner, A.format)
    plain = plain_array(fixed(A.data), outer, inner, A.format, A.shape)
    return A.data, rows, cols, plain, A.shape[0]


def constant_graph(graph: Any) -> Any:
    """A graph whose numbers are constants, as plain arrays."""
    return edges(graph)[3] if sparse.issparse(graph) else fixed(graph)


def by_ends(plain: Any, rows: Any, cols: Any, n: int, undirected: bool) -> tuple[Any, Any]:
    """The sorted numbers of the ends of the edges, of two edges the shorter one first; and which.

    Of undirected edges the second half runs the other way.
    """
    keys = rows.astype(np.int64) * n + cols
    if undirected:
        keys = np.concatenate([keys, cols.astype(np.int64) * n + rows])
        plain = np.concatenate([plain, plain])
    order = np.lexsort((plain, keys))
    return keys[order], order


def along(
    data: Any, rows: Any, cols: Any, n: int, undirected: bool, before: Any, starts: Any
) -> Any:
    """The lengths of paths, of which `before` holds the node before each."""
    steps: Any = []
    ends: Any = []
    sorted_keys, order = by_ends(fixed(data), rows, cols, n, undirected)
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
    @serves(original)
    def lengths(*args: Any, **options: Any) -> Any:
        bound = signature(original).bind(*args, **options)
        bound.apply_defaults()
        given = dict(bound.arguments)
        if not moves(given["csgraph"]):
            return call_outside(
                original, (), {**given, "csgraph": constant_graph(given["csgraph"])}
            )
        if given.get("unweighted"):
            return call_outside(original, (), {**given, "csgraph": edges(given["csgraph"])[3]})
        if given.get("overwrite"):
            raise MissingRuleError(
                f"`{original.__name__}` has no derivative with `overwrite`.\n  Leave it out."
            )
        data, rows, cols, plain, n = edges(given["csgraph"])
        asked = given.get("return_predecessors", False)
        given |= {"csgraph": plain, "return_predecessors": True}
        found, before, *source = call_outside(original, (), given)
        starts = np.arange(n) if given.get("indices") is None else np.ravel(given["indices"])
        starts = starts[:1] if source else starts  # of all of them each node has one path
        undirected = not given.get("directed", True)
        out = along(data, rows, cols, n, undirected, np.atleast_2d(before), starts)
        out = exact(found, np.where(np.isfinite(found), out.reshape(found.shape), found))
        return (out, before, *source) if asked else out


for each in ("shortest_path", "dijkstra", "bellman_ford", "johnson", "floyd_warshall"):
    paths(getattr(csgraph, each))


def parts(original: Any) -> None:
    """Serve what returns a part of a graph: its edges are chosen, and have their lengths."""
    first = next(iter(signature(original).parameters))

    @serves(original)
    def part(*args: Any, **options: Any) -> Any:
        bound = signature(original).bind(*args, **options)
        bound.apply_defaults()
        given = dict(bound.arguments)
        graph = given[first]
        if not moves(graph):
            return call_outside(original, (), {**given, first: constant_graph(graph)})
        data, rows, cols, plain, n = edges(graph)
        given = {key: fixed(x) for key, x in given.items() if key != "overwrite"}
        given[first] = plain
        tree = call_outside(lambda: original(**given).tocsr(), (), {})
        keys, order = by_ends(fixed(data), rows, cols, n, not given.get("directed", True))
        asked = majors(tree.indptr).astype(np.int64) * n + tree.indices
        found = np.searchsorted(keys, asked)
        if not np.array_equal(np.append(keys, -1)[found], asked):
            raise MissingRuleError(
                f"`{original.__name__}` takes zeros of this graph as edges, which have no"
                " derivative here.\n  Leave them out, or pass a sparse array that holds them."
            )
        numbers = np.take(data, order[found] % len(rows)).astype(tree.dtype)
        return CALLS[sparse.csr_array]((numbers, tree.indices, tree.indptr), shape=(n, n))


for name in (
    "minimum_spanning_tree", "breadth_first_tree", "depth_first_tree", "reconstruct_path",
    "csgraph_from_dense",
):  # fmt: skip
    parts(getattr(csgraph, name))


def choices(original: Any, plain: Any) -> None:
    """Serve functions that find nodes, labels and counts, which are locally constant."""

    @serves(original)
    def chosen(*args: Any, **options: Any) -> Any:
        given = dict(signature(original).bind(*args, **options).arguments)
        first = next(iter(given))
        return call_outside(original, (), {**given, first: plain(given[first])})


for name in ("connected_components", "min_weight_full_bipartite_matching", "maximum_flow"):
    choices(getattr(csgraph, name), constant_graph)
for name in (
    "reverse_cuthill_mckee", "maximum_bipartite_matching", "structural_rank",
    "breadth_first_order", "depth_first_order",
):  # fmt: skip
    choices(getattr(csgraph, name), pattern)

dense_of_scipy, distances_of_scipy, yen_of_scipy = (
    csgraph.csgraph_to_dense, csgraph.construct_dist_matrix, csgraph.yen
)  # fmt: skip


@serves(csgraph.csgraph_to_dense)
def csgraph_to_dense(csgraph: Any, null_value: Any = 0) -> Any:
    if not moves(csgraph):
        return call_outside(dense_of_scipy, (constant_graph(csgraph), fixed(null_value)), {})
    _, rows, cols, plain, _ = edges(csgraph)
    absent = np.ones(plain.shape, bool)
    absent[rows, cols] = False
    found = np.where(absent, null_value, CALLS[csgraph.toarray]())
    return exact(call_outside(dense_of_scipy, (plain, fixed(null_value)), {}), found)


@serves(csgraph.construct_dist_matrix)
def construct_dist_matrix(
    graph: Any, predecessors: Any, directed: bool = True, null_value: Any = np.inf
) -> Any:
    before = fixed(predecessors)
    if not moves(graph):
        given = constant_graph(graph), before, directed, null_value
        return call_outside(distances_of_scipy, given, {})
    data, rows, cols, plain, n = edges(graph)
    found = call_outside(distances_of_scipy, (plain, before, directed, fixed(null_value)), {})
    out = along(data, rows, cols, n, not directed, before, np.arange(n)).reshape(n, n)
    unreached = (before < 0) & ~np.eye(n, dtype=bool)
    return exact(found, np.where(unreached, null_value, out))


@serves(csgraph.yen)
def yen(
    csgraph: Any, source: Any, sink: Any, K: Any, *, directed: bool = True,
    return_predecessors: bool = False, unweighted: bool = False,
) -> Any:  # fmt: skip
    options = {"directed": directed, "unweighted": unweighted}
    ends = fixed(source), fixed(sink), fixed(K)
    if unweighted or not moves(csgraph):
        options["return_predecessors"] = return_predecessors
        return call_outside(yen_of_scipy, (constant_graph(csgraph), *ends), options)
    data, rows, cols, plain, n = edges(csgraph)
    options["return_predecessors"] = True
    found, before = call_outside(yen_of_scipy, (plain, *ends), options)
    ways = np.reshape(before, (len(found), n))
    out = along(data, rows, cols, n, not directed, ways, np.arange(len(found)))
    out = exact(found, out.reshape(len(found), n)[:, ends[1]])
    return (out, before) if return_predecessors else out


refuses(
    "makes a masked array",
    "Use `csgraph_to_dense` or `csgraph_from_dense`",
    csgraph.csgraph_to_masked, csgraph.csgraph_masked_from_dense,
)  # fmt: skip

"""scipy.cluster: assignments of points to centres and merges of clusters are locally constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.cluster import vq as quantization
from scipy.spatial import distance

from ...core.operands import as_array
from ...core.reach.call_tables import CALLS
from ...core.reach.session import call_outside
from ...primitives.exact import exact
from ..releases import private
from ..solving.by_example import apart
from ..solving.following import Chosen
from ..solving.leaves import choice, is_live, leaf, take
from ..solving.serving import by_values, refuses, serves, traced
from ..sparse_arrays.patterns import fixed
from ..sparse_arrays.products import product
from .distances import length, root

_hierarchy = private("scipy.cluster.hierarchy._hierarchy", "scipy.cluster._hierarchy")
_ordering = private(
    "scipy.cluster.hierarchy._optimal_leaf_ordering", "scipy.cluster._optimal_leaf_ordering"
)
_vq = private("scipy.cluster.vq._vq", "scipy.cluster._vq")


def codes(obs: Any, book: Any) -> Any:
    return _vq.vq(np.ascontiguousarray(obs), np.ascontiguousarray(book))[0]


codes_of = Chosen("vq", codes, lambda obs, book: obs.shape[:1])


@leaf(_vq.vq)
def vq(obs, book):
    code = codes_of(obs, book).astype(np.int32)
    gap = obs - take(book, code, axis=0)
    return code, length(gap) if obs.ndim > 1 else np.abs(gap)


@leaf(_vq.update_cluster_means)
def update_cluster_means(data, code, count):
    code, count = fixed(code), fixed(count)
    members = np.bincount(code, minlength=count)
    ones, places = np.ones(len(code), data.dtype), np.arange(len(code))
    total = product(ones, data, code, places, fmt="coo", shape=(count, len(code)))
    size = np.maximum(members, 1)
    return total / (size if data.ndim == 1 else size[:, None]), members > 0


# Heights of merges, by the formulas of Lance and Williams.


def merged(method: str, a: Any, b: Any, height: Any, size_a: Any, size_b: Any, sizes: Any) -> Any:
    """The distances of all clusters from the union of two."""
    if method == "single":
        return np.minimum(a, b)
    if method == "complete":
        return np.maximum(a, b)
    if method == "weighted":
        return (a + b) / 2
    both = size_a + size_b
    if method == "average":
        return (size_a * a + size_b * b) / both
    if method == "median":
        return root(a**2 / 2 + b**2 / 2 - height**2 / 4)
    if method == "centroid":
        return root((size_a * a**2 + size_b * b**2) / both - size_a * size_b * height**2 / both**2)
    total = both + sizes
    squares = (size_a + sizes) * a**2 + (size_b + sizes) * b**2 - sizes * height**2
    return root(squares / total)


def heights(y: Any, tree: Any, method: str) -> Any:
    n = len(tree) + 1
    square = CALLS[distance.squareform](y)
    rows = {i: square[i] for i in range(n)}
    slots = {i: i for i in range(n)}  # the row of each cluster
    sizes, out = np.ones(n), []
    for step, (first, second) in enumerate(tree[:, :2].astype(int)):
        a, b = slots[first], slots[second]
        height = rows[a][b]
        out.append(height)
        new = merged(method, rows[a], rows[b], height, sizes[a], sizes[b], sizes)
        del rows[b]
        rows[a] = new
        at_a = np.arange(n) == a
        for i in list(rows):
            if i != a:
                rows[i] = np.where(at_a, new[i], rows[i])
        sizes = sizes.copy()
        sizes[a] += sizes[b]
        slots[n + step] = a
    return np.stack(out)


linkage_plain = hierarchy.linkage
linkage_of_scipy = traced(linkage_plain)


@serves(hierarchy.linkage)
def linkage(
    y: Any, method: str = "single", metric: Any = "euclidean", optimal_ordering: bool = False
) -> Any:
    y = as_array(y)
    if not is_live(y):
        return linkage_of_scipy(y, method, metric, optimal_ordering)
    if y.ndim == 2:
        y = CALLS[distance.pdist](y, metric)
    tree = call_outside(linkage_plain, (fixed(y), method, metric, optimal_ordering), {})
    found = exact(tree[:, 2], heights(y, tree, method))
    return np.stack([tree[:, 0], tree[:, 1], found, tree[:, 3]], axis=1)


@leaf(_hierarchy.cophenetic_distances)
def cophenetic_distances(tree, out, n):
    """The height at which two points come together."""
    plain = np.ascontiguousarray(fixed(tree))
    labelled = plain.copy()
    labelled[:, 2] = np.arange(len(plain))
    places = np.zeros(out.shape)
    _hierarchy.cophenetic_distances(labelled, places, n)
    out[...] = tree[:, 2][places.astype(int)]


@leaf(_ordering.optimal_leaf_ordering)
def optimal_leaf_ordering(tree, y):
    """Which of two clusters stands first is locally constant; merges keep rows and heights."""
    ordered = call_outside(_ordering.optimal_leaf_ordering, (fixed(tree), fixed(y)), {})
    return np.stack([ordered[:, 0], ordered[:, 1], tree[:, 2], tree[:, 3]], axis=1)


# What is read off a tree of merges: labels and orders stay while its heights move.

choice(_hierarchy.cluster_in, 2)
choice(_hierarchy.cluster_dist, 1)
choice(_hierarchy.cluster_maxclust_dist, 1)
choice(_hierarchy.cluster_monocrit, 2)
choice(_hierarchy.cluster_maxclust_monocrit, 2)
choice(_hierarchy.prelist, 1)
choice(_hierarchy.leaders, 2, 3)


def largest(tree: Any, numbers: Any, out: Any, n: Any) -> None:
    """The largest of the numbers at or below each merge."""
    ranked = np.argsort(fixed(numbers), kind="stable")
    labelled, found = np.ascontiguousarray(fixed(tree)).copy(), np.zeros(out.shape)
    labelled[ranked, 2] = np.arange(len(ranked))
    _hierarchy.get_max_dist_for_each_cluster(labelled, found, n)
    out[...] = take(numbers, ranked[found.astype(int)])


@leaf(_hierarchy.get_max_dist_for_each_cluster)
def largest_heights(tree, out, n):
    largest(tree, tree[:, 2], out, n)


@leaf(_hierarchy.get_max_Rfield_for_each_cluster)
def largest_fields(tree, fields, out, n, field):
    largest(tree, fields[:, field], out, n)


def below(tree: Any, n: int, depth: int) -> Any:
    """Which merges each one has below itself, to a depth, itself among them."""
    out = np.eye(len(tree))
    for _ in range(depth - 1):
        deeper = np.eye(len(tree))
        for i, children in enumerate(tree[:, :2].astype(int) - n):
            for child in children[children >= 0]:
                deeper[i] += out[child]
        out = deeper
    return out


@leaf(_hierarchy.inconsistent)
def inconsistent(tree, out, n, d):
    """Mean and deviation of the heights below each merge, and how far its own is from these."""
    plain = np.ascontiguousarray(fixed(tree))
    found = np.zeros(out.shape)
    _hierarchy.inconsistent(plain, found, n, d)
    height, members = tree[:, 2], below(plain, n, d)
    count = np.sum(members, axis=1)
    mean = members @ height / count
    squares = np.sum(members * (height - mean[:, None]) ** 2, axis=1)
    spread = root(squares / np.maximum(count - 1, 1))
    inside = spread > 0
    far = np.where(inside, (height - mean) / np.where(inside, spread, 1.0), 0.0)
    out[...] = exact(found, np.stack([mean, spread, count, far], axis=1))


refuses(
    "converts a tree of merges in compiled code",
    "Use it on plain numbers, and differentiate the result of `scipy.cluster.hierarchy.linkage`",
    hierarchy.from_mlab_linkage,
)

by_values(
    hierarchy.inconsistent, hierarchy.maxdists, hierarchy.maxinconsts, hierarchy.maxRstat,
    hierarchy.cophenet, hierarchy.fclusterdata, quantization.kmeans, quantization.kmeans2,
)  # fmt: skip
by_values(
    hierarchy.cut_tree, hierarchy.to_tree, hierarchy.optimal_leaf_ordering, hierarchy.leaders,
    call=apart,
)  # fmt: skip

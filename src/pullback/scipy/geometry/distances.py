"""Distances between points, by every metric of SciPy.

The distance of a point from itself has derivative zero, as `abs` has at 0. Metrics of truth values
(hamming, jaccard and similar ones) are locally constant.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from scipy import spatial
from scipy.spatial import _distance_wrap, distance

from ...core.errors import ArgumentError
from ...core.operands import as_array
from ...primitives.arguments import known_value
from ...primitives.exact import like
from ...primitives.statistics import root
from ..solving.following import Chosen, Following
from ..solving.leaves import leaf, take
from ..solving.serving import serves, traced
from ..sparse_arrays.patterns import fixed, is_live, is_mapped, put


def length(gap: Any, p: Any = 2.0) -> Any:
    """The p-norm along the last axis. A p that moves does not end in a formula for one p."""
    if not is_live(p) and fixed(p) == 2:
        return root(np.sum(gap**2, axis=-1))
    if not is_live(p) and fixed(p) == 1:
        return np.sum(np.abs(gap), axis=-1)
    size = np.abs(gap)
    return by_power(
        p,
        lambda: np.max(size, axis=-1),
        lambda p: rooted(np.sum(raised(size, p), axis=-1), p),
    )


def by_power(p: Any, endless: Callable[[], Any], of: Callable[[Any], Any]) -> Any:
    """endless() where p is infinite, of(p) elsewhere; under `vmap`, both, as p may be."""
    if not is_mapped(p):
        return endless() if np.isinf(fixed(p)) else of(p)
    infinite = np.isinf(p)
    return np.where(infinite, endless(), of(np.where(infinite, 2.0, p)))


def raised(x: Any, p: Any) -> Any:
    """x ** p: a small whole power as a product, which takes a fraction of the time."""
    if is_live(p) or fixed(p) not in range(1, 9):
        return x**p
    return reduce(operator.mul, [x] * int(fixed(p)))


def rooted(total: Any, p: Any) -> Any:
    inside = total > 0
    return np.where(inside, np.where(inside, total, 1.0) ** (1 / p), 0.0)


def weighted(terms: Any, w: Any) -> Any:
    return np.sum(terms if w is None else terms * w, axis=-1)


def minkowski(a: Any, b: Any, p: Any = 2.0, w: Any = None) -> Any:
    gap = a - b
    if w is None:
        return length(gap, p)
    size = np.abs(gap)
    return by_power(
        p,
        lambda: np.max(np.where(w > 0, size, 0.0), axis=-1),
        lambda p: rooted(weighted(raised(size, p), w), p),
    )


def canberra(a: Any, b: Any, w: Any = None) -> Any:
    size = np.abs(a) + np.abs(b)
    return weighted(np.where(size > 0, np.abs(a - b) / np.where(size > 0, size, 1.0), 0.0), w)


def cosine(a: Any, b: Any, w: Any = None) -> Any:
    along = weighted(a * b, w)
    return 1.0 - along / np.sqrt(weighted(a**2, w) * weighted(b**2, w))


def correlation(a: Any, b: Any, w: Any = None) -> Any:
    def centred(x: Any) -> Any:
        if w is None:
            return x - np.mean(x, axis=-1, keepdims=True)
        return x - np.sum(x * w, axis=-1, keepdims=True) / np.sum(w)

    return cosine(centred(a), centred(b), w)


def jensenshannon(a: Any, b: Any, base: Any = None) -> Any:
    a, b = [x / np.sum(x, axis=-1, keepdims=True) for x in (a, b)]
    middle = (a + b) / 2

    def relative(x: Any) -> Any:
        inside = x > 0
        ratio = np.where(inside, x, 1.0) / np.where(inside, middle, 1.0)
        return np.sum(np.where(inside, x, 0.0) * np.log(ratio), axis=-1)

    out = relative(a) + relative(b)
    return root((out if base is None else out / np.log(base)) / 2)


def mahalanobis(a: Any, b: Any, VI: Any) -> Any:
    gap = a - b
    return root(np.sum((gap @ VI) * gap, axis=-1))


def dice(a: Any, b: Any, w: Any = None) -> Any:
    """SciPy takes numbers as they are here; where there are weights, it asks which differ."""
    if w is not None:
        apart = weighted(1.0 * (a != b), w)
        return ratio(apart, 2 * weighted(1.0 * ((a != 0) & (b != 0)), w) + apart)
    apart = np.sum(a * (1.0 - b) + (1.0 - a) * b, axis=-1)
    return apart / (2.0 * np.sum(a * b, axis=-1) + apart)


# Of truth values, by the weights where both hold, one alone, and none: tt, tf, ft, nn.
RATIOS: dict[str, Callable[..., Any]] = {
    "rogerstanimoto": lambda tt, tf, ft, nn: (2 * (tf + ft), tt + nn + 2 * (tf + ft)),
    "russellrao": lambda tt, tf, ft, nn: (tf + ft + nn, tt + tf + ft + nn),
    "sokalsneath": lambda tt, tf, ft, nn: (2 * (tf + ft), tt + 2 * (tf + ft)),
    "yule": lambda tt, tf, ft, nn: (2 * tf * ft, tt * nn + tf * ft),
}


def ratio(part: Any, whole: Any) -> Any:
    return np.where(part > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


def counted(name: str) -> Callable[..., Any]:
    """A metric of truth values: constant in these, smooth in the weights."""

    def metric(a: Any, b: Any, w: Any = None) -> Any:
        x, y = a != 0, b != 0
        if name == "hamming":
            return weighted(1.0 * (a != b), w) / weighted(np.ones_like(a), w)
        if name == "jaccard":
            return ratio(weighted(1.0 * (x ^ y), w), weighted(1.0 * (x | y), w))
        kinds = (x & y, x & ~y, ~x & y, ~x & ~y)
        return ratio(*RATIOS[name](*[weighted(1.0 * kind, w) for kind in kinds]))

    return metric


METRICS: dict[str, Callable[..., Any]] = {
    "euclidean": lambda a, b, w=None: root(weighted((a - b) ** 2, w)),
    "sqeuclidean": lambda a, b, w=None: weighted((a - b) ** 2, w),
    "cityblock": lambda a, b, w=None: weighted(np.abs(a - b), w),
    "chebyshev": lambda a, b, w=None: np.max(
        np.abs(a - b) if w is None else np.where(w > 0, np.abs(a - b), 0.0), axis=-1
    ),
    "minkowski": minkowski,
    "canberra": canberra,
    "braycurtis": lambda a, b, w=None: weighted(np.abs(a - b), w) / weighted(np.abs(a + b), w),
    "cosine": cosine,
    "correlation": correlation,
    "dice": dice,
    **{name: counted(name) for name in ("hamming", "jaccard", *RATIOS)},
    "jensenshannon": jensenshannon,
    "mahalanobis": mahalanobis,
    "seuclidean": lambda a, b, V: root(np.sum((a - b) ** 2 / V, axis=-1)),
}


def between(*operands: Any, metric: str, names: tuple[str, ...], pairs: bool) -> Any:
    """Distances of all points of two sets, or of the pairs of one."""
    a, *rest = operands
    if pairs:
        first, second = np.triu_indices(a.shape[0], 1)
        a, b = a[first], a[second]
    else:
        b, *rest = rest
        a, b = a[:, None, :], b[None, :, :]
    return METRICS[metric](a, b, **dict(zip(names, rest, strict=True)))


def between_of_scipy(*operands: Any, metric: str, names: tuple[str, ...], pairs: bool) -> Any:
    plain = [
        x.item() if x.ndim == 0 else np.ascontiguousarray(x) for x in map(np.asarray, operands)
    ]
    of_scipy, count = (distance.pdist, 1) if pairs else (distance.cdist, 2)
    if not names:
        return of_scipy(*plain, metric)
    return of_scipy(*plain[:count], metric, **dict(zip(names, plain[count:], strict=True)))


def how_many(a: Any, *rest: Any, pairs: bool, **_: Any) -> Any:
    n = a.shape[0]
    return (n * (n - 1) // 2,) if pairs else (n, rest[0].shape[0])


all_distances = Following("distances", between_of_scipy, between, how_many)


def parameters(name: str, options: dict[str, Any], points: list[Any]) -> dict[str, Any]:
    """The parameters of a metric as arrays; those that SciPy takes from the points, as well."""
    if name == "seuclidean" and options.get("V") is None:
        options["V"] = np.var(np.concatenate(points), axis=0, ddof=1)
    if name == "mahalanobis" and options.get("VI") is None:
        every = np.concatenate(points)
        options["VI"] = np.swapaxes(np.linalg.inv(np.cov(np.swapaxes(every, 0, 1))), 0, 1)
    given = {key: x for key, x in options.items() if x is not None}
    return {key: x if hasattr(x, "dtype") else np.asarray(x, float) for key, x in given.items()}


def served(original: Any, sets: int) -> None:
    of_scipy = traced(original)

    @serves(original)
    def distances(*args: Any, **options: Any) -> Any:
        if len(args) < sets or len(args) > sets + 1 or (len(args) > sets and "metric" in options):
            return of_scipy(*args, **options)  # which refuses what it doesn't take
        points, metric = [as_array(x) for x in args[:sets]], options.pop("metric", "euclidean")
        if len(args) > sets:
            metric = args[sets]
        moving = any(map(is_live, [*points, *options.values()]))
        named = metric.lower() if isinstance(metric, str) else ""
        info = distance._METRIC_ALIAS.get(named)
        if info is None or not moving:
            return of_scipy(*points, metric, **options)
        out, name = options.pop("out", None), info.canonical_name
        points = [x.astype(float) if x.dtype.kind in "biu" else x for x in points]
        given = parameters(name, dict(options), points)
        # SciPy's powers take ten times as long as products in machine code.
        recorded = any(known_value(x) is None for x in points) and not is_live(given.get("p"))
        compute = between if recorded and name == "minkowski" else all_distances
        found = compute(*points, *given.values(), metric=name, names=tuple(given), pairs=sets == 1)
        if out is None:
            return found
        out[...] = found
        return out


served(distance.cdist, 2)
served(distance.pdist, 1)


# Condensed and square forms.


@leaf(_distance_wrap.to_squareform_from_vector_wrap)
def to_square(out, x):
    n = out.shape[0]
    places = np.zeros((n, n), int)
    places[np.triu_indices(n, 1)] = np.arange(1, x.shape[0] + 1)
    put(out, np.concatenate([np.zeros_like(x[:1]), x])[places + places.T])


@leaf(_distance_wrap.to_vector_from_squareform_wrap)
def to_vector(x, out):
    put(out, x[np.triu_indices(x.shape[0], 1)])


def farthest(u: Any, v: Any, *, options: Any) -> Any:
    return np.array(distance.directed_hausdorff(u, v, **dict(options))[1:])


farthest_pair = Chosen("directed_hausdorff", farthest, lambda u, v, options: (2,))
farthest_length = Following(
    "directed_hausdorff",
    lambda u, v, options: distance.directed_hausdorff(u, v, **dict(options))[0],
    lambda u, v, options: between_pair(u, v, farthest_pair(u, v, options=options)),
    lambda u, v, options: (),
)
hausdorff_of_scipy = traced(distance.directed_hausdorff)


def between_pair(u: Any, v: Any, pair: Any) -> Any:
    return length(take(u, pair[0], axis=0) - take(v, pair[1], axis=0))


@serves(distance.directed_hausdorff)
def directed_hausdorff(u: Any, v: Any, *args: Any, **options: Any) -> Any:
    u, v = as_array(u), as_array(v)
    if not (is_live(u) or is_live(v)):
        return hausdorff_of_scipy(u, v, *args, **options)
    if u.shape[1:] != v.shape[1:]:
        raise ArgumentError(
            "`directed_hausdorff` takes two sets of points with the same number of coordinates."
        )
    options |= dict(zip(("rng",), args, strict=False))
    given = tuple(options.items())
    pair = farthest_pair(u, v, options=given)
    return like(0.0, farthest_length(u, v, options=given)), pair[0], pair[1]


# The functions of vectors that SciPy writes in Python. Where p moves, its formula for p = 1 says
# nothing of others, and where points are equal its root has no derivative.


def of_vectors(u: Any, v: Any, p: Any, w: Any) -> Any:
    u, v = as_array(u), as_array(v)
    return minkowski(u, v, p, None if w is None else as_array(w))


minkowski_of_scipy = traced(distance.minkowski)


@serves(distance.minkowski)
def minkowski_of_vectors(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    return (of_vectors if is_live(p) else minkowski_of_scipy)(u, v, p, w)


def with_length(original: Any, program: Callable[..., Any]) -> None:
    """Serve a function of points x, y by its lengths of the gaps, where anything moves."""
    of_scipy, signature = traced(original), inspect.signature(original)

    @serves(original)
    def distances(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        x, y, p = [as_array(bound.arguments[name]) for name in "xyp"]
        if not any(map(is_live, (x, y, p))) or x.shape[-1:] != y.shape[-1:]:
            return of_scipy(*args, **options)
        dtype = np.promote_types(np.promote_types(x.dtype, y.dtype), np.float64)
        return program(x.astype(dtype), y.astype(dtype), p if is_live(p) else fixed(p)[()])


with_length(spatial.minkowski_distance, lambda x, y, p: length(y - x, p))
with_length(
    spatial.minkowski_distance_p,
    lambda x, y, p: (
        length(y - x, p)
        if not is_live(p) and fixed(p) in (1, np.inf)
        else np.sum(raised(np.abs(y - x), p), axis=-1)
    ),
)  # fmt: skip
with_length(spatial.distance_matrix, lambda x, y, p: length(y[None] - x[:, None], p))


def divergence(p: Any, q: Any, *, base: Any, axis: Any, keepdims: bool) -> Any:
    p, q = np.broadcast_arrays(p, q)
    out = jensenshannon(np.moveaxis(p, axis, -1), np.moveaxis(q, axis, -1), base)
    return np.expand_dims(out, axis) if keepdims else out


def left_of(p: Any, q: Any, axis: int, keepdims: bool) -> tuple[int, ...]:
    """The shape without an axis, or with one of length 1."""
    shape = list(np.broadcast_shapes(p, q))
    shape[axis : axis % len(shape) + 1] = [1] if keepdims else []
    return tuple(shape)


jensenshannon_p = Following(
    "jensenshannon",
    lambda p, q, **options: distance.jensenshannon(p, q, **options),
    divergence,
    lambda p, q, axis, keepdims, **_: left_of(p.shape, q.shape, axis, keepdims),
)
jensenshannon_of_scipy = traced(distance.jensenshannon)


@serves(distance.jensenshannon)
def jensenshannon_of_vectors(
    p: Any, q: Any, base: Any = None, *, axis: Any = 0, keepdims: bool = False
) -> Any:
    p, q = as_array(p), as_array(q)
    if is_live(base) or not (is_live(p) or is_live(q)):
        return jensenshannon_of_scipy(p, q, base, axis=axis, keepdims=keepdims)
    return jensenshannon_p(p, q, base=base, axis=axis, keepdims=keepdims)

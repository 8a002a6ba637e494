"""Legendre functions and spherical harmonics, and the derivatives that they return (`diff_n`).

    y, grad = sph_harm_y(n, m, theta, phi, diff_n=1)

Each derivative that SciPy returns is a primitive, whose values are SciPy's. Its own derivative is
the next one, or follows from the functions of neighbouring degrees and orders, so any order exists.
Degrees and orders are counts.
"""

from __future__ import annotations

import math
import operator
from itertools import product

import numpy as np
import scipy.special as sp

from ...core.errors import ArgumentError
from ...core.primitive import Primitive
from ...core.reach.session import call_outside
from ...core.registry import replaces
from ...core.spec import Spec
from ..arguments import as_array
from .kinds import OfFloats, refused, whole

ORDER = "Its order is an integer: keep it out of what is differentiated"
HIGHEST = 2  # of the derivatives that SciPy returns


class Harmonic(OfFloats):
    """Spherical harmonics, which are complex."""

    def spec(self, n, m, theta, phi):
        spec = super().spec(n, m, theta, phi)
        return Spec(spec.shape, np.result_type(spec.dtype, np.complex64))


def declared(key, function, counts, *partials, part, diff_n, kind=OfFloats, **options):
    """The primitive of a part of SciPy's result.

    counts: the names of its first arguments, which are integers
    part: takes it from SciPy's result
    """

    def value(*xs):
        orders, rest = map(whole, xs[: len(counts)]), xs[len(counts) :]
        given = {"diff_n": diff_n, **options}
        return part(call_outside(function, (*orders, *rest), given))  # written in Python

    name = function.__name__
    orders = [refused(name, argument, ORDER) for argument in counts]
    title = "special." + " ".join([name, *map(str, key)])
    return kind(value, *orders, *partials, reads="out xs", name=title)


# The primitives, by (name, order of the derivative, options).
PRIMITIVES: dict[str, Primitive] = {}


def slot(name, k=0, **options):
    return " ".join([name, str(k), *[f"{o}={x}" for o, x in sorted(options.items())]])


def of(name, k=0, **options):
    return PRIMITIVES[slot(name, k, **options)]


def line(name, counts, k, partial, **options):
    """Enter the k-th derivative of a function of one place."""
    function = getattr(sp, name)
    partial = partial(k, **options)
    key = (k, *options.values()) if k or any(options.values()) else ()
    PRIMITIVES[slot(name, k, **options)] = declared(
        key, function, counts, partial, part=operator.itemgetter(k), diff_n=k, **options
    )


# Of one place.


def legendre_slope(k, n, z):
    """The derivative of order k + 1: (2k + 1)!! C(n - k - 1, k + 3/2), a Gegenbauer polynomial."""
    n = whole(n)
    none = n <= k
    slope = sp.eval_gegenbauer(np.where(none, 0, n - k - 1), k + 1.5, z)
    return np.where(none, 0, math.prod(range(1, 2 * k + 2, 2)) * slope)


def legendre(k):
    return lambda out, n, z: legendre_slope(k, n, z)


def side(theta):
    """SciPy takes the absolute value of sin(theta): beyond the poles the functions turn back."""
    return np.where(np.sin(theta) < 0, -0.5, 0.5)


def neighbour(a, b):
    """The factor of a neighbour in m; where m is beyond n there is none."""
    return np.sqrt(np.maximum(a * b, 0))


def on_sphere(k):
    def partial(out, n, m, theta):
        function = of("sph_legendre_p", k)
        up = neighbour(n - m, n + m + 1.0) * function(n, m + 1, theta)
        down = neighbour(n + m, n - m + 1.0) * function(n, m - 1, theta)
        return (up - down) * side(theta)

    return partial


def associated(k, **options):
    """The next derivative, as SciPy returns it, or k derivatives of both sides of

    (1 - z^2) P' = (n + m) P_(n-1) - n z P_n.
    """

    def partial(out, n, m, z):
        if k < HIGHEST:
            return of("assoc_legendre_p", k + 1, **options)(n, m, z)
        functions = [of("assoc_legendre_p", j, **options) for j in range(k)]
        below = np.where(n == 0, 0, n - 1)
        factor = np.where(n == 0, 0, n + m)
        if options["norm"]:
            factor = neighbour(factor, (n - m) * (2.0 * n + 1) / np.where(n == 0, 1, 2 * n - 1))
        last = functions[-1](n, m, z)
        right = factor * of("assoc_legendre_p", k, **options)(below, m, z)
        right = right + (2 * k - n) * z * out + k * (k - 1 - n) * last
        at_end = (m == 0) & (abs(z) == 1)
        inside = right / np.where(at_end, 1, (1 - z) * (1 + z))
        scale = np.sqrt(n + 0.5) if options["norm"] else 1.0
        return np.where(at_end, scale * legendre_slope(k, n, z), inside)

    return partial


for k in range(HIGHEST + 1):
    line("legendre_p", "n", k, legendre)
    line("sph_legendre_p", "nm", k, on_sphere)
    for branch_cut, norm in product((2, 3), (False, True)):
        line("assoc_legendre_p", "nm", k, associated, branch_cut=branch_cut, norm=norm)


# On the sphere.


def harmonic_of(a, b):
    """Enter the derivative of order a by theta and b by phi, which multiplies by i m.

    That by theta is half of the neighbours in m, turned: nothing is singular at the poles.
    """

    def by_theta(out, n, m, theta, phi):
        function = of("sph_harm_y", f"{a},0")
        turned = np.exp(1j * phi)
        up = neighbour(n - m, n + m + 1.0) / turned * function(n, m + 1, theta, phi)
        down = neighbour(n + m, n - m + 1.0) * turned * function(n, m - 1, theta, phi)
        slope = (up - down) * side(theta)
        return (1j * m) ** b * slope if b else slope

    def by_phi(out, n, m, theta, phi):
        return 1j * m * out

    at = (0,) * a + (1,) * b

    def part(found):
        return found[len(at)][(..., *at)][()] if at else found

    key = (a, b) if at else ()
    PRIMITIVES[slot("sph_harm_y", f"{a},{b}")] = declared(
        key, sp.sph_harm_y, "nm", by_theta, by_phi, part=part, diff_n=len(at), kind=Harmonic
    )


for a, b in product(range(HIGHEST + 1), repeat=2):
    if a + b <= HIGHEST:
        harmonic_of(a, b)


def gradients(xs, diff_n):
    """The values, and from diff_n = 1 on arrays of derivatives with an axis more for each order."""
    values = of("sph_harm_y", "0,0")(*xs)
    parts = [values]
    for order in range(1, diff_n + 1):
        places = list(product((0, 1), repeat=order))
        found = [of("sph_harm_y", f"{order - sum(at)},{sum(at)}")(*xs) for at in places]
        stacked = np.stack(found)
        stacked = np.reshape(stacked, (2,) * order + stacked.shape[1:])
        parts.append(np.moveaxis(stacked, range(order), range(-order, 0)))  # it lies as SciPy's
    return tuple(parts) if diff_n else values


def derivatives(name):
    """A function of one place with SciPy's result: orders of derivative along its first axis."""

    def call(xs, diff_n, **options):
        orders = [of(name, k, **options)(*xs) for k in range(diff_n + 1)]
        return np.moveaxis(np.stack(orders, axis=-1), -1, 0)  # it lies as SciPy's

    return call


def up_to(diff_n):
    """The order of derivative that was asked for, which SciPy knows up to two."""
    diff_n = operator.index(diff_n)
    if not 0 <= diff_n <= HIGHEST:
        raise ArgumentError(
            f"`diff_n` is 0, 1 or 2, but got {diff_n}.\n"
            "  For higher derivatives, differentiate the result."
        )
    return diff_n


def served(name, n_counts, call, **defaults):
    """Serve a function of SciPy's that is called like a ufunc, and its table of all orders."""

    @replaces(getattr(sp, name))
    def implementation(*xs, diff_n=0, **options):
        return call(xs, up_to(diff_n), **checked(name, options, defaults))

    @replaces(getattr(sp, f"{name}_all"))
    def table(*xs, diff_n=0, **options):
        """All degrees up to the first argument, and all orders up to the second and down."""
        xs = [as_array(x) for x in xs]
        rest = xs[n_counts:]
        n, *ms = [highest(x, letter) for x, letter in zip(xs[:n_counts], "nm", strict=False)]
        orders = [np.arange(n + 1), *[np.r_[: m + 1, -m:0] for m in ms]]
        axes = len(np.broadcast_shapes(*[x.shape for x in rest]))
        grids = [np.reshape(x, x.shape + (1,) * axes) for x in np.ix_(*orders)]
        return call([*grids, *rest], up_to(diff_n), **checked(name, options, defaults))


def highest(x, letter):
    """The highest of all orders that a table has."""
    order = operator.index(whole(x)[()])
    if order < 0:
        raise ArgumentError(f"`{letter}` is a count, but got {order}.")
    return order


def checked(name, options, defaults):
    """The options of a call, as plain values, in their order."""
    unknown = set(options) - set(defaults)
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
    if np.ndim(cut := options.get("branch_cut", 2)) or cut not in (2, 3):
        raise ArgumentError(f"`branch_cut` is 2 or 3, for all numbers, but got {cut}.")
    return {key: type(x)(options.get(key, x)) for key, x in defaults.items()}


served("legendre_p", 1, derivatives("legendre_p"))
served("sph_legendre_p", 2, derivatives("sph_legendre_p"))
served("assoc_legendre_p", 2, derivatives("assoc_legendre_p"), branch_cut=2, norm=False)
served("sph_harm_y", 2, gradients)

"""Derivatives of scipy.stats' distributions by mpmath, kept in a table.

A place is a distribution, its shapes and an argument. The table has there the logarithm of the
density and its derivatives by the argument and each shape, the same of the distribution function,
and the complement of that. To write the table: `python -m tests.distribution_derivatives`.
"""

import json
import sys
import warnings
from pathlib import Path

import mpmath as mp
import numpy as np
from scipy import stats
from scipy.stats._distr_params import distcont

from tests.distribution_references import DENSITIES, MASSES, POINTS, PROBABILITIES

TABLE = Path(__file__).with_suffix(".json")
# What takes mpmath seconds for each number.
HEAVY = {
    "nct",
    "ncf",
    "gausshyper",
    "genhyperbolic",
    "dpareto_lognorm",
    "norminvgauss",
    "geninvgauss",
}
# Where digits cancel at ordinary places.
CANCELLING = {"truncpareto", "truncweibull_min", "skewnorm", "foldnorm", "exponweib"}
LEVELS = ((1e-8, True), (0.3, True), (0.15, False), (1e-8, False), (1e-100, True), (1e-100, False))
MIDDLE = ((0.02, True), (0.4, True), (0.03, False))
# Digits at ordinary places, and in tails and near 0.
DIGITS, MORE = 80, 640


def cases():
    """(name, shapes, x) at ordinary and extreme places inside the support."""
    for name, (_, several) in MASSES.items():
        for shapes in several:
            low, high = getattr(stats, name).support(*shapes)
            found = [quantile(level, *shapes) for quantile, level in quantiles(name)]
            for k in dict.fromkeys([*found, max(low, found[0] - 1)]):
                if low <= k <= high and k - max(low, -MOST) < MOST:
                    yield name, shapes, float(k)
    examples = [(name, tuple(map(float, shapes))) for name, shapes in distcont]
    more = [(name, tuple(map(float, s))) for name, several in POINTS.items() for s in several]
    for name, shapes in [*examples, *more]:
        if name not in DENSITIES:
            continue
        dist = getattr(stats, name)
        low, high = dist.support(*shapes)
        seen = set()
        for level, below in MIDDLE if name in HEAVY else LEVELS:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")  # SciPy's, far out
                try:
                    x = float((dist.ppf if below else dist.isf)(level, *shapes))
                except (RuntimeError, OverflowError, ValueError):
                    continue
            if low < x < high and np.isfinite(x) and 1e-280 < abs(x) < 1e280 and x not in seen:
                seen.add(x)
                yield name, shapes, x


MOST = 300  # masses to be added up


def quantiles(name):
    dist = getattr(stats, name)
    return [(dist.ppf, 1e-8), (dist.ppf, 0.3), (dist.isf, 0.15), (dist.isf, 1e-8)]


def sum_of_masses(log):
    """The distribution function at k, from masses that count."""

    def below(k, *shapes):
        total, low = mp.mpf(0), 1 if log in STARTING_AT_1 else 0
        if log is MASSES["dlaplace"][0]:
            low = int(k) - 40 * mp.mp.dps
        for j in range(low, int(k) + 1):
            total += mp.exp(log(mp.mpf(j), *shapes))
        return total

    return below


STARTING_AT_1 = {MASSES[name][0] for name in ("geom", "logser", "yulesimon", "zipf", "zipfian")}


def difference(f, at, i):
    """The derivative of f by argument i."""
    step = mp.mpf(10) ** (-mp.mp.dps // 3) * (abs(at[i]) if at[i] else 1)
    moved = [[x + (sign * step if j == i else 0) for j, x in enumerate(at)] for sign in (1, -1)]
    above, below = f(*moved[0]), f(*moved[1])
    change = above - below
    if abs(change) < abs(above) * mp.mpf(10) ** (5 - mp.mp.dps):  # of an even function, at 0
        return mp.mpf(0)
    return change / (2 * step)


def places(name, shapes, x):
    """[logpdf, its slopes by x and the shapes], and of cdf and its slopes, and sf."""
    at = [mp.mpf(x), *map(mp.mpf, shapes)]
    movable = [i for i, a in enumerate(at) if mp.isfinite(a)]

    def row(f):
        slopes = [difference(f, at, i) if i in movable else None for i in range(len(at))]
        return [f(*at), *slopes]

    if name in MASSES:
        movable = [i for i, shape in enumerate(shapes, 1) if type(shape) is float]
        log = MASSES[name][0]
        with mp.workdps(60):
            found = [row(log), row(sum_of_masses(log))]
            return written([*found, [1 - found[1][0]]])
    digits = DIGITS if 1e-9 < abs(x) < 1e9 and name not in CANCELLING else MORE
    with mp.workdps(digits):
        found = [row(DENSITIES[name])]
    if name in PROBABILITIES:
        with mp.workdps(digits):
            below = row(PROBABILITIES[name])
        if min(below[0], 1 - below[0]) < 1e-9:
            with mp.workdps(MORE):
                below = row(PROBABILITIES[name])
        with mp.workdps(MORE):
            found += [below, [1 - below[0]]]
    return written(found)


def written(rows):
    return [[None if v is None else mp.nstr(v, 16) for v in values] for values in rows]


def places_by_name():
    """name -> [(shapes, x, rows of numbers)] of the table."""
    found = {}
    for key, rows in json.loads(TABLE.read_text()).items():
        name, rest = key.split(" ", 1)
        shapes, x = rest[1:].rsplit("] ", 1)
        shapes = tuple(float(s) for s in shapes.split(",") if s)
        numbers = [[None if v is None else np.longdouble(v) for v in row] for row in rows]
        found.setdefault(name, []).append((shapes, float(x), numbers))
    return found


COMPLEMENT = {"cdf": "sf", "sf": "cdf", "logcdf": "logsf", "logsf": "logcdf"}


def slopes(name, shapes, x, rows):
    """method -> (what SciPy's value is wrong by, derivatives by x and the shapes).

    A distribution function and its complement are wrong together, where one is made of the other:
    by the last digit of 1 in the smaller of them.
    """
    (log, *log_slopes), *probabilities = rows
    density = np.exp(log)
    kind = "pmf" if name in MASSES else "pdf"
    exact = {
        f"log{kind}": [log, *log_slopes],
        kind: [density, *[None if v is None else density * v for v in log_slopes]],
    }
    if probabilities:
        (below, *changes), (above,) = probabilities
        log_below = np.log(below) if below < 0.5 else np.log1p(-above)
        log_above = np.log(above) if above < 0.5 else np.log1p(-below)
        for method, value, factor in (
            ("cdf", below, 1), ("logcdf", log_below, 1 / below),
            ("sf", above, -1), ("logsf", log_above, -1 / above),
        ):  # fmt: skip
            exact[method] = [value, *[None if v is None else v * factor for v in changes]]
    dist = getattr(stats, name)
    own = {
        m: abs((getattr(dist, m)(x, *shapes) - v[0]) / v[0]) if v[0] else 0.0
        for m, v in exact.items()
    }
    found = {}
    for method, (_, *derivatives) in exact.items():
        error = own[method]
        if method in COMPLEMENT:
            error = max(error, own[COMPLEMENT[method]])
            if error > 1e-13:
                error = max(error, 2.2e-16 / min(below, above))
        found[method] = float(error), derivatives
    return found


def write(table):
    lines = [f"{json.dumps(key)}: {json.dumps(row)}" for key, row in sorted(table.items())]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main(names):
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for name, shapes, x in cases():
        key = f"{name} {list(shapes)!r} {x!r}"
        if key in table or (names and name not in names):
            continue
        try:
            found = places(name, shapes, x)
        except (ArithmeticError, RecursionError, ValueError, mp.libmp.NoConvergence) as error:
            print("no reference:", key, repr(error)[:60], flush=True)
            continue
        if any(v is not None and ("j" in v or "nan" in v) for row in found for v in row):
            print("not real:", key, found, flush=True)
        else:
            table[key] = found
            if len(table) % 50 == 0:
                write(table)
    write(table)
    print(len(table), "places")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Derivatives of scipy.stats' continuous distributions by mpmath, kept in a table.

A place is a distribution, its shapes and an argument. The table has there the logarithm of the
density and its derivatives by the argument and by each shape, the same of the distribution function,
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

from tests.distribution_references import DENSITIES, POINTS, PROBABILITIES

TABLE = Path(__file__).with_suffix(".json")
# What takes mpmath seconds for each number.
HEAVY = {"nct", "ncf", "gausshyper", "genhyperbolic", "dpareto_lognorm", "norminvgauss", "geninvgauss"}
# Where digits cancel at ordinary places.
CANCELLING = {"truncpareto", "truncweibull_min", "skewnorm", "foldnorm", "exponweib"}
LEVELS = ((1e-8, True), (0.3, True), (0.15, False), (1e-8, False), (1e-100, True), (1e-100, False))
MIDDLE = ((0.02, True), (0.4, True), (0.03, False))
# Digits at ordinary places, and in tails and near 0.
DIGITS, MORE = 80, 320


def cases():
    """(name, shapes, x) at ordinary and extreme places inside the support."""
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
                warnings.simplefilter("ignore")
                try:
                    x = float((dist.ppf if below else dist.isf)(level, *shapes))
                except (RuntimeError, OverflowError, ValueError):
                    continue
            if low < x < high and np.isfinite(x) and 1e-280 < abs(x) < 1e280 and x not in seen:
                seen.add(x)
                yield name, shapes, x


def difference(f, at, i):
    """The derivative of f by argument i."""
    step = mp.mpf(10) ** (-mp.mp.dps // 3) * (abs(at[i]) if at[i] else 1)
    moved = [[x + (sign * step if j == i else 0) for j, x in enumerate(at)] for sign in (1, -1)]
    return (f(*moved[0]) - f(*moved[1])) / (2 * step)


def places(name, shapes, x):
    """[logpdf, its slopes by x and the shapes], and of cdf and its slopes, and sf."""
    at = [mp.mpf(x), *map(mp.mpf, shapes)]
    movable = [i for i, a in enumerate(at) if mp.isfinite(a)]

    def row(f):
        slopes = [difference(f, at, i) if i in movable else None for i in range(len(at))]
        return [f(*at), *slopes]

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
    return [[None if v is None else mp.nstr(v, 16) for v in values] for values in found]


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

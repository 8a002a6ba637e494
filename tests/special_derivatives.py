"""Values and derivatives of scipy.special's references, to 25 digits, kept in a table.

Differences of many digits take mpmath longer than all else that the tests of accuracy do. What is
not in the table is computed; `make test-long` computes all anew and compares. To write the table:
`python -m tests.special_derivatives`.
"""

import json
from pathlib import Path

import mpmath as mp
import numpy as np

from tests.budgets import LONG
from tests.special_references import COMPLEX, REAL, SEVERAL

TABLE = Path(__file__).with_suffix(".json")
KNOWN = json.loads(TABLE.read_text()) if TABLE.exists() else {}


def exact(key, reference, xs, i=None, order=0):
    """The derivative of a reference by operand i; of order 0, its value."""
    place = f"{key} {order} {i}"
    if place in KNOWN and not LONG:
        return mp.mpmathify(KNOWN[place])
    found = computed(reference, xs, i, order)
    if place in KNOWN:
        kept = mp.mpmathify(KNOWN[place])
        assert abs(found - kept) <= mp.mpf(10) ** -15 * abs(found), f"another derivative: {place}"
    return found


def computed(reference, xs, i, order):
    if order == 0:
        return reference(*xs)
    if hasattr(reference, "derivative"):
        return mp.diff(reference.derivative, xs[i], order - 1)
    small = 0 < abs(xs[i]) < 1e-3  # then differences are taken in units of x
    unit = xs[i] if small else 1
    return (
        mp.diff(lambda t: reference(*xs[:i], t * unit, *xs[i + 1 :]), xs[i] / unit, order)
        / unit**order
    )


def references():
    """(key, reference, point) of each function that is differentiated."""
    for table in REAL, COMPLEX:
        for name, (reference, points) in table.items():
            for point in points:
                yield f"{name}{point}", reference, point
    for name, (several, points) in SEVERAL.items():
        for point in points:
            for k, reference in enumerate(several):
                yield f"{name}{point}[{k}]", reference, point


def main():
    """Compute the table and write it."""
    found = {}
    with mp.workdps(30), np.errstate(all="ignore"):
        for key, reference, point in references():
            xs = [mp.mpmathify(x) for x in point]
            found[f"{key} 0 None"] = computed(reference, xs, None, 0)
            for i, x in enumerate(point):
                if type(x) is not int:
                    for order in 1, 2:
                        found[f"{key} {order} {i}"] = computed(reference, xs, i, order)
        kept = {place: str(mp.nstr(x, 25)) for place, x in found.items()}
    TABLE.write_text(json.dumps(kept, indent=0) + "\n")


if __name__ == "__main__":
    main()

"""Densities and distribution functions of scipy.stats against tables of mpmath.

At ordinary, extreme and degenerate places, by the argument and by every shape. A derivative may be
wrong by 1e-9 of itself, or by ten times what SciPy's own value is wrong by at that place.
"""

import ast
import json
from collections import defaultdict

import numpy as np
from scipy import stats

import pullback as pb
from tests.distribution_derivatives import TABLE


def places():
    """name -> [(shapes, x, rows of numbers)]"""
    found = defaultdict(list)
    for key, rows in json.loads(TABLE.read_text()).items():
        name, rest = key.split(" ", 1)
        shapes, x = rest.rsplit(" ", 1)
        numbers = [[None if v is None else np.longdouble(v) for v in row] for row in rows]
        shapes = eval(shapes, {"inf": np.inf})
        found[name].append((shapes, float(x), numbers))
    return found

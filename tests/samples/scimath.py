"""Samples of `numpy.emath`: inside and outside of the real domain."""

import numpy as np

from pullback.testing import Sample

X = np.array([0.3, 0.8, 0.5])
SIGNS = np.array([0.3, -0.8, 0.5])
WIDE = np.array([0.3, -1.8, 2.5])
Z = np.array([0.3 + 0.2j, -0.8 + 0.1j])
ROOTS = [np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10]
ARCS = [np.emath.arccos, np.emath.arcsin, np.emath.arctanh]
NAMES = {fun: f"emath.{fun.__name__}" for fun in ROOTS + ARCS}

SAMPLES = [Sample(fun, (Z,), name=f"{name} of complex numbers") for fun, name in NAMES.items()]

# Whether a batch becomes complex is decided by each of its examples, which are to agree.
SAMPLES += [
    *[Sample(fun, (X,), name=name) for fun, name in NAMES.items()],
    *[Sample(fun, (SIGNS,), name=f"{NAMES[fun]} of negative numbers") for fun in ROOTS],
    *[Sample(fun, (WIDE,), name=f"{NAMES[fun]} beyond one") for fun in ARCS],
    *[
        Sample(fun, (WIDE.astype(np.float16),), name=f"{name} of halves")
        for fun, name in NAMES.items()
    ],
    Sample(np.emath.logn, (X + 1.5, X), name="emath.logn"),
    Sample(np.emath.logn, (X + 1.5, SIGNS), name="emath.logn of negative numbers"),
    Sample(np.emath.power, (X, X), name="emath.power"),
    Sample(np.emath.power, (SIGNS, X), name="emath.power of negative numbers"),
    Sample(lambda x: np.emath.power(x, -2), (SIGNS,), name="emath.power with a negative integer"),
    Sample(np.emath.sqrt, (-2.0,), name="emath.sqrt of a number"),
]

"""The functions of `math` as rebinding serves them."""

import math

import numpy as np

import pullback.math as ours
import pullback.statistics as summaries
from pullback.primitives.special import python_round_p
from pullback.testing import ErrorSample, Sample

POINTS = {"acosh": (1.7,), "atan2": (0.7, -1.3), "copysign": (0.7, -1.3), "fma": (0.7, -1.3, 2.0),
          "fmod": (2.7, 1.1), "gamma": (2.3,), "ldexp": (0.7, 3), "lgamma": (2.3,),
          "nextafter": (0.7, 1.0), "pow": (1.3, 2.5), "remainder": (2.7, 1.1)}  # fmt: skip


class numeric:
    """A function of `math` with NumPy's scalars for results, as the laws read them."""

    def __init__(self, fun):
        self.fun, self.__name__ = fun, fun.__name__

    def __call__(self, *args, **kwargs):
        out = self.fun(*args, **kwargs)
        return [np.float64(1.0) * x for x in (out if isinstance(out, tuple) else [out])]


# The functions of this Python that are ufuncs or primitives, at a point where they are smooth.
SAMPLES = [
    Sample(
        numeric(getattr(ours, name)),
        POINTS.get(name, (0.7,)),
        smooth=name != "nextafter",
        name=name,
    )
    for name in ours.UFUNCS
    if hasattr(math, name)
]
SAMPLES += [
    Sample(numeric(getattr(ours, name)), (-1.3,), name=f"{name} of a negative number")
    for name in ("erf", "erfc", "gamma", "lgamma", "fabs", "cbrt", "exp")
    if hasattr(math, name)
]
SAMPLES += [
    Sample(ours.erf_p, (np.array([[0.3, -2.0]]),), name="erf primitive"),
    Sample(ours.erfc_p, (np.array([0.3, 1.0]),), name="erfc primitive"),
    Sample(ours.lgamma_p, (np.array([0.3, 4.0]),), name="lgamma primitive"),
    Sample(ours.gamma_p, (np.array([0.3, -0.6]),), name="gamma primitive"),
    *[
        Sample(ours.polygamma_p, (np.array([0.6, 2.5]),), {"n": n}, name=f"polygamma {n}")
        for n in range(3)
    ],
    Sample(numeric(lambda x, base: ours.log(x, base)), (2.3, 1.7), name="log to a base"),
    Sample(numeric(lambda x: ours.log(x, 10)), (2.3,), name="log to base 10"),
    Sample(numeric(lambda x: ours.frexp(x)[0]), (2.3,), name="frexp"),
    Sample(numeric(ours.hypot), (0.7, -1.3, 2.0), name="hypot"),
    Sample(numeric(ours.hypot), (-0.7,), name="hypot of one"),
    Sample(numeric(ours.dist), ([0.7, 1.0], [0.1, -1.0]), name="dist"),
    Sample(numeric(ours.fsum), ([0.7, 1.0, 2.0],), name="fsum"),
    Sample(numeric(ours.prod), ([0.7, 1.0, 2.0],), name="prod"),
    Sample(numeric(lambda x: ours.prod((x, x), start=2)), (0.7,), name="prod with a start"),
    Sample(
        numeric(lambda x: x * ours.floor(3.0) + ours.comb(5, 2) * ours.pi), (0.7,), name="integers"
    ),
]
if hasattr(math, "sumprod"):
    SAMPLES.append(Sample(numeric(ours.sumprod), ([0.7, 1.0], [2.0, 3.0]), name="sumprod"))

DATA = [0.7, 1.9, 1.2]
SAMPLES += [
    Sample(numeric(getattr(summaries, name)), (DATA,), name=f"statistics.{name}")
    for name in summaries.__all__
]
SAMPLES += [
    Sample(numeric(getattr(summaries, name)), (DATA, 1.1), name=f"statistics.{name} about a center")
    for name in ("variance", "stdev", "pvariance", "pstdev")
]
SAMPLES += [
    Sample(
        numeric(summaries.harmonic_mean), (DATA, [1.0, 0.5, 2.0]), name="weighted harmonic_mean"
    ),
    Sample(python_round_p, (np.array([2.671, -0.2]),), {"decimals": 15}, name="rounding of Python"),
    Sample(numeric(summaries.normal_quantile), (0.3, 1.2, 0.7), name="normal_quantile"),
]

ERRORS = [
    ErrorSample(ours.sqrt, (-1.0,), raises=ValueError, match="domain"),
    ErrorSample(ours.log, (0.0,), raises=ValueError, match="domain"),
    ErrorSample(ours.exp, (1000.0,), raises=OverflowError, match="range"),
    ErrorSample(ours.acos, (2.0,), raises=ValueError, match="domain"),
    ErrorSample(ours.sin, (np.ones(2),), raises=TypeError, match="converted to Python scalars"),
    ErrorSample(
        numeric(ours.dist), ([1.0], [1.0, 2.0]), raises=ValueError, match="number of dimensions"
    ),
]

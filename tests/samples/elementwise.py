"""Samples of the ufuncs that are smooth, or have derivative zero."""

import numpy as np

from pullback.core.errors import UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample

rng = np.random.default_rng(1)


def within(low, high, *shape):
    return rng.uniform(low, high, shape)


# A function, and where it is smooth and its differences are well conditioned.
REAL = {
    **dict.fromkeys([np.sin, np.cos, np.tanh, np.arctan, np.arcsinh, np.exp], (-1.2, 1.2)),
    **dict.fromkeys([np.exp2, np.expm1, np.sinh, np.cosh, np.square, np.tan], (-1.1, 1.1)),
    **dict.fromkeys([np.negative, np.positive, np.deg2rad, np.radians], (-2, 2)),
    **dict.fromkeys([np.rad2deg, np.degrees], (-0.1, 0.1)),
    **dict.fromkeys([np.log, np.log2, np.log10, np.sqrt, np.cbrt, np.reciprocal], (0.6, 2.5)),
    **dict.fromkeys([np.absolute, np.fabs, np.log1p, np.sign, np.conjugate], (0.4, 2)),
    **dict.fromkeys([np.arcsin, np.arccos, np.arctanh], (-0.6, 0.6)),
    np.arccosh: (1.5, 3),
}
STEPS = [np.floor, np.ceil, np.trunc, np.rint, np.spacing, np.sign, np.fix]
COMPLEX = [
    *[np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.exp, np.exp2, np.expm1, np.square],
    *[np.log, np.log2, np.log10, np.log1p, np.sqrt, np.reciprocal, np.negative, np.positive],
    *[np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh, np.absolute],
]
Z = np.array([0.3 + 0.4j, -0.5 + 0.2j, 0.6 - 0.7j])

SAMPLES = []
for fun, (low, high) in REAL.items():
    SAMPLES += [
        Sample(fun, (within(low, high, 2, 3),)),
        Sample(fun, (np.float64(within(low, high)),)),
        Sample(fun, (within(low, high, 3).astype(np.float32),), name=f"{fun.__name__} float32"),
    ]
for fun in STEPS:
    SAMPLES.append(Sample(fun, (np.array([0.3, -1.4, 2.7]),), name=f"{fun.__name__} of steps"))
for fun in COMPLEX:
    SAMPLES.append(Sample(fun, (Z,), name=f"{fun.__name__} complex"))

BINARY = {
    **dict.fromkeys([np.add, np.subtract, np.multiply, np.divide, np.power], (0.6, 1.9)),
    **dict.fromkeys([np.hypot, np.arctan2, np.logaddexp, np.logaddexp2], (-1.7, -0.4)),
    **dict.fromkeys([np.copysign, np.nextafter], (0.5, 2)),
}
for fun, (low, high) in BINARY.items():
    x, y = within(low, high, 2, 3), within(low, high, 3)
    SAMPLES += [
        Sample(fun, (x, y)),
        Sample(
            fun,
            (x.T[::-1], np.float64(y[0])),
            name=f"{fun.__name__} of a strided array and a scalar",
        ),
        Sample(fun, (np.float64(x[0, 0]), np.float64(y[0]))),
        Sample(
            fun, (x[0].astype(np.float32), y.astype(np.float32)), name=f"{fun.__name__} float32"
        ),
        Sample(lambda x, f=fun: f(x, 1.25), (x,), name=f"{fun.__name__} with a number"),
        Sample(lambda y, f=fun: f(1.25, y), (y,), name=f"{fun.__name__} of a number"),
    ]
for fun in (np.add, np.subtract, np.multiply, np.divide, np.power):
    SAMPLES += [
        Sample(fun, (Z, Z[::-1] + 1), name=f"{fun.__name__} complex"),
        Sample(fun, (within(0.6, 1.5, 3), Z), name=f"{fun.__name__} real and complex"),
        Sample(
            lambda x, f=fun: f(x, 0.5 + 0.5j),
            (within(0.6, 1.5, 3),),
            name=f"{fun.__name__} with a complex number",
        ),
    ]
# Away from multiples, where the quotient jumps.
DIVIDEND, DIVISOR = np.array([[5.3, -5.3, 1.2], [7.7, 3.1, -0.4]]), np.array([2.0, -3.3, 0.9])
for fun in (np.remainder, np.fmod, np.floor_divide, np.divmod):
    SAMPLES += [
        Sample(fun, (DIVIDEND, DIVISOR)),
        Sample(fun, (np.float64(5.3), np.float64(2.0))),
        Sample(
            lambda x, f=fun: f(x, 2.0),
            (DIVIDEND[0].astype(np.float32),),
            name=f"{fun.__name__} with a number",
        ),
        Sample(lambda y, f=fun: f(7.1, y), (DIVISOR,), name=f"{fun.__name__} of a number"),
    ]

BASE = np.array([-1.3, 0.7, 2.0])
SAMPLES += [
    *[Sample(lambda x, n=n: x**n, (BASE,), name=f"x**{n}") for n in (0, 1, 2, 3, 4, -1, -2, 2.0, 3.0)],
    *[Sample(lambda x, n=n: x**n, (np.float64(-1.3),), name=f"scalar x**{n}") for n in (0, 1, 2, 3, 5, -2)],
    *[Sample(lambda x, p=p: x**p, (abs(BASE),), name=f"x**{p}") for p in (0.5, 1.5, 2.5, -0.5)],
    Sample(lambda x: x**np.array([2.0, 3.0, -1.0]), (BASE,), name="x**(array of exponents)"),
    Sample(lambda x: x**np.array([2, 3, 0]), (BASE,), name="x**(array of ints)"),
    Sample(lambda y: 2.5**y, (BASE,), name="2.5**y"),
    Sample(lambda y: 2**y, (np.float64(1.3),), name="2**y"),
    Sample(lambda y: 2.5**y, (BASE.astype(np.float32),), name="2.5**y float32"),
    Sample(lambda x: x**2, (np.float32(1.3),), name="x**2 float32"),
    Sample(lambda x: x**3, (Z,), name="x**3 complex"),
    Sample(lambda x: x**-1.5, (Z,), name="x**-1.5 complex"),
    Sample(lambda x: x**0, (np.array([0.0, 1.0]),), name="x**0 at 0"),
    Sample(lambda x: x**1, (np.array([0.0, 1.0]),), name="x**1 at 0"),
    Sample(lambda x: x**3, (np.array([0.0, 1.0]),), name="x**3 at 0"),
    Sample(np.power, (np.array([0.0, 0.0, -2.0, -2.0]), np.array([0.0, 2.0, 3.0, -1.0])), smooth=False, name="power where only x is free"),
    Sample(np.power, (BASE, Z), name="power of negative and complex"),
    Sample(lambda y: (-0.7) ** y, (Z[0],), name="-0.7**y complex"),
    Sample(lambda y: 0.0**y, (np.array([1.5, 2.0]),), name="0**y"),
    Sample(np.float_power, (abs(BASE).astype(np.float32), np.float32(1.5))),
    Sample(np.float_power, (Z.astype(np.complex64), 2)),
    Sample(np.float_power, (abs(BASE).astype(np.longdouble), 1.5)),
    Sample(np.hypot, (np.array([0.0, 3.0]), np.array([0.0, -4.0])), smooth=False, name="hypot at the origin"),
    Sample(np.absolute, (np.array([0.0, -1.0]),), smooth=False, name="abs at 0"),
    Sample(np.absolute, (np.array([0.0, 1.0j]),), smooth=False, name="abs of a complex zero"),
    Sample(np.fmod, (np.array([6.0, -6.0]), np.array([3.0, 2.0])), smooth=False, name="fmod at its jumps"),
    Sample(np.remainder, (np.array([6.0, -6.0]), np.array([3.0, 2.0])), smooth=False, name="mod at its jumps"),
    Sample(np.logaddexp, (np.array([-np.inf, -np.inf, 800.0]), np.array([-np.inf, 0.5, -800.0])), smooth=False, name="logaddexp far out"),
    # Shapes and memory: none of it is special to a function.
    Sample(np.sin, (np.zeros((0, 3)),)),
    Sample(np.multiply, (np.zeros((0, 3)), np.zeros(3))),
    Sample(np.exp, (np.array(0.4),), name="exp 0-d"),
    Sample(np.multiply, (np.array(0.4), np.array([1.0, 2.0])), name="multiply 0-d and 1-d"),
    Sample(np.divide, (within(1, 2, 3, 1), within(1, 2, 1, 4)), name="divide both broadcast"),
    Sample(np.sin, (within(-1, 1, 4, 6)[::-2, ::3],), name="sin of negative strides"),
    Sample(lambda x, y: x * y + x / y - y, (1.5, 2.5), name="Python floats"),
    Sample(lambda x: np.exp(x) * x, (np.array([0.5, -0.3], np.float16),), smooth=False, name="float16"),
    Sample(lambda x: 2.0 * np.float32(3.0) * x / 4, (np.ones(3, np.float32),), name="numbers and float32"),
    Sample(lambda x: x * np.arange(3), (np.ones(3),), name="times integers"),
    Sample(lambda x: x * np.array([True, False, True]), (np.ones(3),), name="times truth values"),
    *[Sample(lambda x: (True * x, x * False, x + True, np.power(x, True)), (x,), name=f"beside {type(x).__name__} True") for x in (1.5, np.ones(2))],
    Sample(lambda x: [1.0, 2.0] * x, (np.ones(2),), name="a list times x"),
    Sample(lambda x, y: x * y, (np.ones(3, np.float32), np.ones(3)), name="float32 times float64"),
    # Keywords.
    Sample(np.add, (np.ones(2, np.float32), np.ones(2, np.float32)), {"dtype": np.float64}),
    Sample(np.multiply, (np.full(2, 1.5), np.full(2, 2.5)), {"dtype": np.float32, "casting": "same_kind"}),
    Sample(np.sin, (np.ones(2),), {"signature": "d->d", "order": "C", "subok": True}),
    Sample(np.exp, (np.ones(2),), {"where": True, "casting": "no"}),
    # Results that carry no derivative.
    *[Sample(lambda x, f=f: f(x, 0.5) * x, (np.array([0.2, 0.5, 0.9]),), smooth=False, name=f.__name__) for f in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)],
    *[Sample(lambda x, f=f: f(x, np.array([True, False])) * x, (np.array([0.0, 2.0]),), smooth=False, name=f.__name__) for f in (np.logical_and, np.logical_or, np.logical_xor)],
    *[Sample(lambda x, f=f: f(x) * x, (np.array([0.5, -2.0]),), name=f.__name__) for f in (np.isnan, np.isinf, np.isfinite, np.signbit, np.logical_not)],
    *[Sample(lambda x, f=f: f(x > 0, x > 1) * x, (np.array([0.5, 2.0]),), name=f.__name__) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)],
    *[Sample(lambda x, f=f: f((x > 0).astype(int), 3) * x, (np.array([0.5, -2.0]),), name=f.__name__) for f in (np.left_shift, np.right_shift, np.gcd, np.lcm)],
    Sample(lambda x: ~(x > 0) * x, (np.array([0.5, -2.0]),), name="invert"),
    Sample(lambda x: np.bitwise_count((x > 0).astype(int)) * x, (np.array([0.5, -2.0]),), name="bitwise_count"),
    # Overflow rounds, in range again after the next operation.
    Sample(lambda x: 1 / (1 + np.exp(-x)), (np.array([-800.0, 0.3, 800.0]),), smooth=False, name="sigmoid far out"),
    Sample(lambda x: np.log(1 + np.exp(x)), (np.array([-800.0, 0.3, 800.0, 400.0]),), smooth=False, name="softplus far out"),
    Sample(lambda x: 1 / (1 + x**4.5), (np.array([1e200, 2.0]),), smooth=False, name="power far out"),
    Sample(lambda x: 1 / (1 + abs(np.exp(x))), (np.array([800.0 + 1j]),), smooth=False, name="complex exp far out"),
    Sample(np.arcsinh, (np.array([1e200, -1e200]),), smooth=False, name="arcsinh far out"),
]  # fmt: skip

MASK = np.array([True, False])
ERRORS = [
    ErrorSample(np.less, (np.ones(2), np.ones(2)), {"where": MASK}, UnsupportedKeywordError, "numpy.where"),
    ErrorSample(np.sin, (np.ones(2),), {"out": np.zeros(2)}, ValueError, "numpy.sin"),
    ErrorSample(np.less, (np.ones(2), 1.0), {"dtype": np.float64}, TypeError, "less"),
    ErrorSample(np.sin, (np.ones(2),), {"dtype": np.float32, "casting": "safe"}, TypeError, "sin"),
    ErrorSample(lambda x: np.add(x, np.ones(3)), (np.ones(2),), {}, ValueError, "broadcast"),
    ErrorSample(np.floor, (np.ones(2, complex),), {}, TypeError, "floor"),
]  # fmt: skip

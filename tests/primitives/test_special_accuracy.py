"""Derivatives of scipy.special against differences of many digits of the function in mpmath.

A derivative is right to 1e-9, a second one to 1e-7, or to ten times the error of SciPy's function
at the point where that is more.
"""

import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

import pullback as pb
from pullback.core.errors import MissingRuleError
from pullback.core.registry import FUNCTIONS, UFUNCS
from pullback.primitives.scipy_special.formulas import digamma_gap
from tests.special_derivatives import exact
from tests.special_references import COMPLEX, LOOSE, REAL, SEVERAL
from tests.together import together, try_all

FIRST, SECOND = 1e-9, 1e-7


def number(x):
    """An operand as the function gets it: counts stay ints, the rest is differentiated."""
    return x if type(x) is int else np.complex128(x) if type(x) is complex else np.float64(x)


def along(function, xs, i):
    return lambda x: function(*xs[:i], x, *xs[i + 1 :])


def twice(f, x):
    one = np.ones_like(x)
    return pb.jvp(lambda x: pb.jvp(f, (x,), (one,))[1], (x,), (one,))[1]


def check(name, function, reference, point, key):
    xs, precise = [number(x) for x in point], [mp.mpmathify(x) for x in point]
    value = exact(key, reference, precise)
    own = float(abs(function(*xs) - value) / abs(value)) if value else 0.0
    assert own < 1e-5, f"the reference is of another function at {point}"
    for i, x in enumerate(point):
        if type(x) is int:
            continue
        f = along(function, xs, i)
        out, pullback = pb.vjp(f, xs[i])
        one = np.ones_like(xs[i])
        forward = pb.jvp(f, (xs[i],), (one,))[1]
        found = [(forward, 1), (twice(f, xs[i]), 2)]
        if np.isrealobj(out) or np.iscomplexobj(xs[i]):
            found.append((pullback(np.ones_like(out))[0], 1))
        for derivative, order in found:
            right = exact(key, reference, precise, i, order)
            tolerance = max(FIRST if order == 1 else SECOND, 10 * own) * LOOSE.get(name, 1)
            error = float(abs(derivative - right))
            limit = tolerance * float(abs(right)) + 1e-290
            if abs(right) < 1e-15 * abs(value):  # exactly zero, or nothing beside the function
                limit += 1e-11 * float(abs(value))
            assert error <= limit, (
                f"derivative {order} of {name}{point} by operand {i}:"
                f" {derivative} instead of {mp.nstr(right, 16)}, SciPy's own error is {own:.1e}"
            )


def points(table):
    """All points of all functions of a table."""
    return [(name, point) for name in table for point in table[name][1]]


@pytest.fixture(autouse=True)
def precise():
    with mp.workdps(30), np.errstate(all="ignore"):
        yield


@pytest.mark.share(2)
@pytest.mark.parametrize("name", REAL)
def test_real(name):
    try_all(check_real, [(str(point), (name, point)) for point in REAL[name][1]])


def check_real(name, point):
    check(name, getattr(sp, name), REAL[name][0], point, f"{name}{point}")


@together(points(COMPLEX))
def test_complex(name, point):
    check(name, getattr(sp, name), COMPLEX[name][0], point, f"{name}{point}")


@together(points(SEVERAL))
def test_several_results(name, point):
    for k, reference in enumerate(SEVERAL[name][0]):
        function = lambda *xs, k=k: getattr(sp, name)(*xs)[k]
        check(name, function, reference, point, f"{name}{point}[{k}]")


DF = [(1e8, 1.2), (1e8, -6.0), (1e5, -3.0), (250.0, 0.5), (1e12, 0.5), (300.0, -8.0), (1e3, -20.0)]


@pytest.mark.parametrize(("df", "t"), DF)
def test_student_with_many_degrees_of_freedom(df, t):
    """There stdtr itself has no digits left that depend on df: differences are of no use."""

    def score(v, s):
        scale = mp.loggamma((v + 1) / 2) - mp.loggamma(v / 2) - mp.log(mp.pi * v) / 2
        density = mp.exp(scale - (v + 1) / 2 * mp.log1p(s * s / v))
        gammas = mp.psi(0, (v + 1) / 2) - mp.psi(0, v / 2) - 1 / v
        u = s * s / v
        return density * (gammas - mp.log1p(u) + (1 + 1 / v) * u / (1 + u)) / 2

    far = abs(t)
    ends = [far + width / (far + 1) for width in (0, 0.3, 1, 3, 8, 20, 50, 150, 600)]
    right = -mp.sign(t) * mp.quad(lambda s: score(mp.mpf(df), s), ends)
    found = pb.grad(sp.stdtr)(np.float64(df), t)
    assert abs(found - right) < 1e-9 * abs(right)


def operands():
    """Every ufunc that scipy.special shows."""
    names = [name for name in dir(sp) if isinstance(getattr(sp, name), np.ufunc)]
    assert len(names) > 200
    return names


@together([(name,) for name in operands()])
def test_every_ufunc_is_classified(name):
    """By each operand it has a derivative, zero derivative, or a refusal that names the operand."""
    ufunc = getattr(sp, name)
    primitive = UFUNCS[ufunc] or FUNCTIONS[ufunc]
    assert primitive is not None
    assert len(primitive.partials) == ufunc.nin
    for partial in primitive.partials:
        if hasattr(partial, "refused"):
            with pytest.raises(
                MissingRuleError, match=r"no derivative with respect to its arg.* `"
            ):
                partial(None)


def test_nothing_of_scipy_is_loaded_without_it():
    """The tables come with the first function of scipy.special that meets an Array."""
    program = (
        "import sys, numpy as np, pullback as pb\n"
        "pb.grad(np.sin)(1.0); pb.grad(lambda x: np.poly(np.stack([x, x]))[1])(1.0)\n"
        "assert not [name for name in sys.modules if name.startswith('scipy')]\n"
        "import scipy.special as sp\n"
        "print(pb.grad(sp.gammaln)(1.0))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert float(out.stdout) == pytest.approx(-np.euler_gamma)


def test_difference_of_digammas():
    """No digits cancel, on either side of where the series serves, and each element by itself."""
    a = np.array([1e-5, 0.3, 3.999, 4.0, 7.0, 300.0, 1e7])[:, None]
    ratios = [1e-9, 0.12, 0.1251, 0.49, 0.51, 2.0, 1e3]
    m = a * np.array([*ratios, *[-r / (1 + r) for r in ratios]])
    a = np.broadcast_to(a, m.shape)
    found = digamma_gap(a, m)
    for x, step, value in zip(a.flat, m.flat, found.flat, strict=True):
        with mp.workdps(40):
            right = mp.digamma(mp.mpf(x) + mp.mpf(step)) - mp.digamma(mp.mpf(x))
        assert abs(value - right) <= 2e-14 * abs(right), (x, step)
        assert digamma_gap(x, step) == pytest.approx(value, rel=1e-15)


# Places at which leading terms cancel, with the derivatives by mpmath with 60 digits.
FAR = [
    (sp.voigt_profile, (10.0, 0.01, 0.7),
     (-0.0004413011287913353, 1.31530120200546e-06, 0.0031366959239403783)),
    (sp.voigt_profile, (1000.0, 0.5, 0.01),
     (-6.36620727171706e-12, 9.549320455634736e-15, 3.1831012482101053e-07)),
    (sp.voigt_profile, (30.0, 5.0, 100.0),
     (-1.5892461610132964e-05, -1.789645987424998e-06, -2.4300720651495216e-05)),
    (sp.struve, (1.5, 2e4), (None, -0.003177267730635499)),
    (sp.struve, (3.0, 2e5), (None, 16976.528611590085)),
    (sp.gammaincc, (1e4, 9.7e3), (4.1039141078842434e-05, None)),
    (sp.gammaincc, (0.002, 1.5), (0.10055317706250119, None)),
    (sp.gammaincc, (29.9, 29.8), (0.073272423528474, None)),
    (sp.gammaincc, (400.0, 500.0), (3.847437782613533e-07, None)),
]  # fmt: skip


def test_far_places():
    for function, point, expected in FAR:
        for i, slope in enumerate(expected):
            if slope is not None:
                found = pb.grad(along(function, point, i))(point[i])
                assert np.isclose(found, slope, rtol=FIRST, atol=0), (function, point, i)

"""Functions that jump say where: NumPy's by real operands, all of them across branch cuts.

Of an integrand of x - k / 2 alone, the integral over [0, 1] has by k the derivative
(G(-k / 2) - G(1 - k / 2)) / 2, wherever G jumps between.
"""

import itertools

import numpy as np
import pytest
from scipy import integrate, interpolate, ndimage
from scipy import special as sp

import pullback as pb
import pullback.scipy.special
from pullback.core.registry import UFUNCS

LINES = {  # places on the real axis, and on circles across the cuts
    "real": [np.linspace(-5.3, 5.3, 1301)],
    "complex": [
        c + r * np.exp(1j * (np.linspace(-np.pi, np.pi, 301) + 0.0037))
        for c, r in itertools.product((0, 0.3), (0.4, 1.7, 3.3))
    ],
}
# The limit at 0 differs from the value.
OTHERS = {np.power: "real"}


def jumps(f, xs):
    """Whether a function has other values on both sides of a place between two of these."""
    y = f(xs)
    far = np.abs(np.diff(y)) > 0.02 * np.maximum(1.0, np.abs(y[1:]))
    for i in np.nonzero(far & (np.abs(y[1:]) < 1e6))[0][:12]:
        a, b, low, high = xs[i], xs[i + 1], y[i], y[i + 1]
        for _ in range(45):
            middle = 0.5 * (a + b)
            now = f(middle)
            if abs(now - low) > abs(high - now):
                b, high = middle, now
            else:
                a, low = middle, now
        if 1e-3 * max(1.0, abs(low)) < abs(high - low) < 1e6:  # a pole is none
            return True
    return False


def jumps_somewhere(ufunc, lines):
    """The number of an operand by which it jumps, with some others."""
    for k in range(ufunc.nin):
        for rest in itertools.product((-1.0, 0.0, 0.4, 2.5), repeat=ufunc.nin - 1):
            f = lambda x, k=k, rest=rest: ufunc(*rest[:k], x, *rest[k:])
            try:
                if f(lines[0][:1]).dtype.kind in "fc" and any(jumps(f, xs) for xs in lines):
                    return k
            except TypeError:  # of another operand alone
                pass
    return None


@pytest.mark.parametrize("kind", LINES)
def test_what_jumps_says_where(kind):
    silent = []
    for ufunc, p in UFUNCS.items():
        of_numpy = vars(np).get(ufunc.__name__) is ufunc
        loops = [x.partition("->")[0] for x in ufunc.types]
        asked = of_numpy if kind == "real" else any("D" in x for x in loops)
        says = p is not None and (p.level or p.steps or (p.cut and kind == "complex"))
        if p is None or says or not asked or ufunc.nout > 1 or OTHERS.get(ufunc) == kind:
            continue
        with np.errstate(all="ignore"):
            k = jumps_somewhere(ufunc, LINES[kind])
        if k is not None:
            silent.append((ufunc.__name__, k))
    assert not silent


def beside(z):
    return lambda f: lambda t: f(z(t)).imag + 2.0 * f(z(t)).real


left, right, below = [beside(lambda t, at=at: at + 1j * t) for at in (-2.7, 1.7, -0.7)]
under = beside(lambda t: t - 1.7j)
picture = np.array([1.0, 4.0, 2.0])
pieces = interpolate.PPoly(np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([-1.0, 0.1, 1.0]))
constants = interpolate.BSpline(np.array([-1.0, 0.1, 0.9, 2.0]), np.array([1.0, 4.0, 2.0]), 0)
lines = interpolate.make_interp_spline(np.linspace(-1, 1, 5), picture[[0, 1, 2, 0, 2]], 1)
CROSSING = {
    "sqrt": left(np.sqrt), "log": left(np.log), "power": left(lambda z: z**0.3),
    "square": left(lambda z: z**2), "log1p": left(np.log1p), "arccosh": below(np.arccosh),
    "arcsin": left(np.arcsin), "arccos": right(np.arccos), "arctanh": right(np.arctanh),
    "arctan": under(np.arctan), "arcsinh": under(np.arcsinh),
    "maximum": lambda t: np.maximum(t + 3j, 1j).imag,
    "kv": left(lambda z: sp.kv(0.3, z)), "hankel1": left(lambda z: sp.hankel1(0.3, z)),
    "loggamma": left(sp.loggamma), "spence": left(sp.spence),
    "xlogy": left(lambda z: sp.xlogy(2.0, z)),
    "hyp2f1": right(lambda z: sp.hyp2f1(0.3, 0.4, 0.7, z)),
    "eval_legendre": left(lambda z: sp.eval_legendre(0.4, z)),
    "elliprc": left(lambda z: sp.elliprc(z, 0.4)), "elliprc, y": left(lambda z: sp.elliprc(1.3, z)),
    "wrightomega": beside(lambda t: -2.0 + 1j * (np.pi + t))(sp.wrightomega),
    "log_ndtr": beside(lambda t: -0.55 + 1j * (3 * t - 3.25))(sp.log_ndtr),
    "nearest pixel": lambda t: ndimage.map_coordinates(picture, [[1.5 + t]], order=0)[0],
    "beyond the picture": lambda t: ndimage.map_coordinates(picture, [[t]], order=1, cval=9.0)[0],
    "pieces": pieces, "constants": constants, "slopes of lines": lines.derivative(),
    "shifted": lambda t: ndimage.shift(picture, 0.5 + t, order=0)[1],
}  # fmt: skip


@pytest.mark.share(6)
@pytest.mark.parametrize("name", CROSSING)
@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
def test_what_a_cut_adds(name):
    f = CROSSING[name]
    slope = pb.grad(lambda k: integrate.quad(lambda x: f(x - k / 2), 0.0, 1.0, limit=100)[0])
    k = 1.07
    right = (float(f(-k / 2)) - float(f(1 - k / 2))) / 2
    assert slope(k) == pytest.approx(right, rel=1e-7, abs=1e-9)
    assert pb.compile(slope, wait=True)(k) == pytest.approx(right, rel=1e-7, abs=1e-9)

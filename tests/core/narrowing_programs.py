"""Programs whose comparisons narrow: searches that lose a derivative, and others that keep it.

`LOST` are searches whose result has another path to the argument, so that their derivative is
wrong without being zero everywhere; the derivatives of `KEPT` are right. Each is a function of one
argument, and that argument.
"""

import bisect
import math

import numpy as np


def F(y, x):
    return y**3 + y - x


def slope(y):
    return 3 * y * y + 1


def halved(f, lo, hi, tolerance=1e-10):
    while hi - lo > tolerance:
        middle = 0.5 * (lo + hi)
        if f(middle) < 0.0:
            lo = middle
        else:
            hi = middle
    return 0.5 * (lo + hi)


def halved_by_signs(f, lo, hi):
    below = f(lo)
    for _ in range(60):
        middle = lo + (hi - lo) / 2
        value = f(middle)
        if value == 0 or (hi - lo) / 2 < 1e-9:
            return middle
        if np.sign(value) == np.sign(below):
            lo, below = middle, value
        else:
            hi = middle
    return middle


def halved_by_products(f, a, b, n=40):
    if f(a) * f(b) >= 0:
        raise ValueError("no change of sign")
    for _ in range(n):
        c = (a + b) / 2
        if f(a) * f(c) < 0:
            b = c
        else:
            a = c
    return (a + b) / 2


def recursive(f, lo, hi):
    middle = (lo + hi) / 2
    if hi - lo < 1e-9:
        return middle
    return recursive(f, middle, hi) if f(middle) < 0 else recursive(f, lo, middle)


def golden(f, a, b, tolerance=1e-6):
    ratio = (math.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    while abs(b - a) > tolerance:
        if f(c) < f(d):
            b = d
        else:
            a = c
        c, d = b - ratio * (b - a), a + ratio * (b - a)
    return (a + b) / 2


def golden_with_memory(f, a, b):
    ratio = 0.6180339887498949
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    low, high = f(c), f(d)
    for _ in range(34):
        if low < high:
            b, d, high = d, c, low
            c = b - ratio * (b - a)
            low = f(c)
        else:
            a, c, low = c, d, high
            d = a + ratio * (b - a)
            high = f(d)
    return c if low < high else d


def thirds(f, a, b):
    for _ in range(50):
        c, d = a + (b - a) / 3, b - (b - a) / 3
        if f(c) > f(d):
            a = c
        else:
            b = d
    return (a + b) / 2


def stepped(f, y, d):
    """A search that turns and halves its step where the sign changes."""
    before = f(y)
    while abs(d) > 1e-9:
        y = y + d
        now = f(y)
        if now * before < 0:
            d = -d / 2
        before = now
    return y


def by_digits(f):
    y = 0.0
    for k in range(11):
        while f(y + 10.0**-k) <= 0:
            y += 10.0**-k
    return y


def compass(f, y, h):
    best = f(y)
    while h > 1e-7:
        for step in (h, -h):
            value = f(y + step)
            if value < best:
                y, best = y + step, value
                break
        else:
            h = h / 2
    return y


def vectorised(f, lo, hi):
    for _ in range(45):
        middle = (lo + hi) / 2
        below = f(middle) < 0
        lo = np.where(below, middle, lo)
        hi = np.where(below, hi, middle)
    return (lo + hi) / 2


def masked(f, lo, hi):
    for _ in range(45):
        middle = 0.5 * (lo + hi)
        below = f(middle) < 0
        lo[below] = middle[below]
        hi[~below] = middle[~below]
    return 0.5 * (lo + hi)


def step_of_signs(f, y, d):
    for _ in range(45):
        y = y - d * np.sign(f(y))
        d = d / 2
    return y


class Bracket:
    def __init__(self, f, lo, hi):
        self.f, self.lo, self.hi = f, lo, hi

    @property
    def width(self):
        return self.hi - self.lo

    def halve(self):
        middle = 0.5 * (self.lo + self.hi)
        if self.f(middle) > 0:
            self.hi = middle
        else:
            self.lo = middle

    def solve(self):
        while self.width > 1e-9:
            self.halve()
        return self.lo


def bounced(speed):
    """When a ball that is thrown comes down, by halves of the last step."""
    height = lambda t: 1.0 + speed * t - 4.9 * t * t
    t, h = 0.0, 0.1
    while height(t + h) > 0:
        t += h
    lo, hi = t, t + h
    for _ in range(40):
        middle = (lo + hi) / 2
        if height(middle) > 0:
            lo = middle
        else:
            hi = middle
    return speed * lo - 4.9 * lo**2


def rotated(angle):
    """CORDIC: sine and cosine by turns of known angles."""
    x, y, z = 0.6072529350088813, 0.0, angle
    for k in range(40):
        s = -1.0 if z < 0 else 1.0
        x, y, z = x - s * y * 2.0**-k, y + s * x * 2.0**-k, z - s * math.atan(2.0**-k)
    return y * angle


def each_of(x):
    return sum(halved(lambda y, v=v: F(y, v), 0.0, 5.0) * v for v in x)


def yields(price):
    """The yield at which a bond has a price, and its duration there times the price."""
    present = lambda r: sum(5.0 / (1 + r) ** k for k in range(1, 11)) + 100.0 / (1 + r) ** 10
    r = halved(lambda r: price - present(r), 1e-6, 1.0)
    return r * price


def quantile(sigma):
    """The median above 1 of a distribution, found by halves between ends that scale with sigma."""
    cdf = lambda y: 1 - np.exp(-((y / sigma) ** 1.5)) * (1 + 0.1 * sigma)
    return halved(lambda y: cdf(y) - 0.5, 0.0 * sigma, 20.0 * sigma)


def found_in_parts(x):
    lo, hi = 0.0, 4.0
    while True:
        middle = (lo + hi) / 2
        value = F(middle, x)
        if abs(value) < 1e-10:
            return middle + 0.1 * x
        lo, hi = (middle, hi) if value < 0 else (lo, middle)


LOST = {
    "times x": (lambda x: halved(lambda y: F(y, x), 0.0, 5.0) * x, 3.0),
    "ends scale with x": (lambda x: halved(lambda y: F(y, x), 0.0 * x, 10.0 * x), 3.0),
    "an end is x": (lambda x: halved(lambda y: F(y, x), 0.0, x), 3.0),
    "ends around x": (lambda x: halved(lambda y: F(y, x), x - 4.0, x + 1.0), 3.0),
    "signs": (lambda x: np.exp(halved_by_signs(lambda y: F(y, x), 0.0, 5.0)) + x, 3.0),
    "products": (lambda x: halved_by_products(lambda y: F(y, x), 0.0, 2.0 * x) ** 2, 3.0),
    "recursive": (lambda x: x - recursive(lambda y: F(y, x), 0.0, 5.0), 3.0),
    "golden": (lambda x: golden(lambda y: y**4 / 4 + y * y / 2 - x * y, 0.0, 3.0) * x, 3.0),
    "golden, ends scale": (
        lambda x: golden(lambda y: y**4 / 4 + y * y / 2 - x * y, 0.0, 2.0 * x), 3.0
    ),
    "golden with memory": (
        lambda x: golden_with_memory(lambda y: y**4 / 4 + y * y / 2 - x * y, 0.0, 1.5 * x), 3.0
    ),
    "thirds": (lambda x: thirds(lambda y: (y - np.sqrt(x)) ** 2 + 0.1 * y, 0.0, 3.0) + x, 3.0),
    "a turning step": (lambda x: x * stepped(lambda y: F(y, x), 0.0, 0.5), 3.0),
    "digits": (lambda x: x * by_digits(lambda y: F(y, x)), 3.0),
    "a compass": (lambda x: x + compass(lambda y: (y - np.sin(x)) ** 2, 1.0, 0.5), 2.0),
    "where": (lambda x: (vectorised(lambda y: F(y, x), np.zeros(3), np.full(3, 5.0)) * x).sum(),
              np.array([1.0, 2.0, 3.0])),
    "where, ends scale": (lambda x: vectorised(lambda y: F(y, x), 0 * x, 6 * x).sum(),
                          np.array([1.0, 2.0, 3.0])),
    "masks": (lambda x: (masked(lambda y: F(y, x), np.zeros(4), np.full(4, 5.0)) * x).sum(),
              np.array([1.0, 2.0, 3.0, 4.0])),
    "steps of signs": (lambda x: step_of_signs(lambda y: F(y, x), x, x), 3.0),
    "a class": (lambda x: Bracket(lambda y: F(y, x), 0.0, 5.0).solve() + x, 3.0),
    "a class, ends scale": (lambda x: Bracket(lambda y: F(y, x), 0.0, 5.0 * x).solve(), 3.0),
    "a ball": (bounced, 5.0),
    "cordic": (rotated, 0.7),
    "each of many": (each_of, np.array([1.0, 2.0, 3.0])),
    "a bond": (yields, 90.0),
    "a quantile": (quantile, 1.3),
    "until it is small": (found_in_parts, 3.0),
    "float on the way": (lambda x: x * halved(lambda y: float(F(y, x)), 0.0, 5.0), 3.0),
    "a parameter of many": (
        lambda p: halved(lambda y: p[0] * y**3 + p[1] * y - p[2], 0.0, 5.0) * p[2],
        np.array([1.0, 1.0, 3.0]),
    ),
    "nested": (
        lambda x: halved(lambda z: z - halved(lambda y: F(y, x) + z, 0.0, 5.0), 0.0, 5.0) + x, 3.0
    ),
    "and its residual": (
        lambda x: (lambda y: y * x + F(y, x) ** 2)(halved(lambda y: F(y, x), 0.0, 5.0)), 3.0
    ),
    "checked afterwards": (lambda x: checked(x), 3.0),
}  # fmt: skip


def checked(x):
    y = halved(lambda y: F(y, x), 0.0, 5.0)
    if abs(F(y, x)) > 1e-6:
        raise ValueError("not found")
    return y * x


def polished(x):
    y = halved(lambda y: F(y, x), 0.0, 5.0)
    return (y - F(y, x) / slope(y)) * x


def by_secant(x):
    """A last step by the line through both ends."""
    lo, hi = 0.0, 5.0
    while hi - lo > 1e-6:
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if F(middle, x) < 0 else (lo, middle)
    low, high = F(lo, x), F(hi, x)
    return x * (lo - low * (hi - lo) / (high - low))


def newton(x):
    y = 1.0 * x
    for _ in range(100):
        step = F(y, x) / slope(y)
        y = y - step
        if abs(step) < 1e-12:
            break
    return y


def newton_from_afar(x):
    y, count = 200.0 * x, 0
    while abs(F(y, x)) > 1e-9 and count < 100:
        y, count = y - F(y, x) / slope(y), count + 1
    return y + x


def iterated(g, y, tolerance=1e-11, most=2000):
    for _ in range(most):
        new = g(y)
        if abs(new - y) < tolerance:
            return new
        y = new
    return y


def series(x):
    total, term, k = 1.0, 1.0, 0
    while abs(term) > 1e-15:
        k += 1
        term = term * x / k
        total = total + term
    return total


def leibniz(x):
    total, k = 0.0, 0
    while True:
        term = (-1) ** k * x ** (2 * k + 1) / (2 * k + 1)
        if abs(term) < 1e-12:
            return total
        total, k = total + term, k + 1


def illinois(x):
    a, b = 0.0, 3.0
    fa, fb = F(a, x), F(b, x)
    for _ in range(60):
        c = (fa * b - fb * a) / (fa - fb)
        fc = F(c, x)
        if abs(fc) < 1e-12:
            break
        if fc * fb < 0:
            a, fa = b, fb
        else:
            fa = fa / 2
        b, fb = c, fc
    return c * x


def regula_falsi(x):
    a, b = 0.0, 2.0
    for _ in range(80):
        fa, fb = F(a, x), F(b, x)
        c = b - fb * (b - a) / (fb - fa)
        if F(c, x) * fa > 0:
            a = c
        else:
            b = c
    return c + x


def secant(x):
    a, b = 0.5, 2.0
    for _ in range(30):
        fa, fb = F(a, x), F(b, x)
        if abs(fb - fa) < 1e-13 or abs(b - a) < 1e-12:
            break
        a, b = b, b - fb * (b - a) / (fb - fa)
    return b


def safeguarded(x):
    """Newton's steps, and halves where they leave the bracket."""
    lo, hi = 0.0, 5.0
    y = 2.5
    for _ in range(100):
        value = F(y, x)
        if value < 0:
            lo = y
        else:
            hi = y
        new = y - value / slope(y)
        if not lo < new < hi:
            new = (lo + hi) / 2
        if abs(new - y) < 1e-13:
            return new
        y = new
    return y


def descended(x):
    y, t = 0.0, 0.2
    for _ in range(3000):
        g = y**3 + y - x
        if abs(g) < 1e-8:
            break
        y = y - t * g
    return y


def backtracked(x):
    y = 2.0
    f = lambda y: y**4 / 4 + y * y / 2 - x * y
    for _ in range(100):
        g, t = F(y, x), 1.0
        if abs(g) < 1e-9:
            break
        while f(y - t * g) > f(y) - 0.5 * t * g * g and t > 1e-6:
            t = t / 2
        y = y - t * g
    return y


def table(n):
    xs = [10.0 * (k / n) ** 1.5 for k in range(n + 1)]
    return xs, [math.sin(v) for v in xs]


XS, YS = table(4000)


def interpolated(x):
    lo, hi = 0, len(XS) - 1
    while hi - lo > 1:
        middle = (lo + hi) // 2
        if XS[middle] <= x:
            lo = middle
        else:
            hi = middle
    return YS[lo] + (x - XS[lo]) * (YS[hi] - YS[lo]) / (XS[hi] - XS[lo])


def interpolated_by_bisect(x):
    i = bisect.bisect_right(XS, x)
    w = (x - XS[i - 1]) / (XS[i] - XS[i - 1])
    return (1 - w) * YS[i - 1] + w * YS[i]


def by_factors(x):
    """An exponential by factors that are known, and a series of what is left."""
    y, rest = 1.0, x
    for k in range(30):
        part = math.log(1 + 2.0**-k)
        if rest >= part:
            y, rest = y * (1 + 2.0**-k), rest - part
    return y * (1 + rest + rest * rest / 2)


def adaptive(f, a, b, tolerance):
    m = (a + b) / 2
    one = (b - a) / 6 * (f(a) + 4 * f(m) + f(b))
    two = (b - a) / 12 * (f(a) + 4 * f((a + m) / 2) + 2 * f(m) + 4 * f((m + b) / 2) + f(b))
    if abs(two - one) < tolerance:
        return two + (two - one) / 15
    return adaptive(f, a, m, tolerance / 2) + adaptive(f, m, b, tolerance / 2)


def marched(x):
    t, y, h = 0.0, x, 0.5
    while t < 1.0:
        h = min(h, 1.0 - t)
        one = y * (1 - h * x)
        two = y * (1 - h * x / 2) ** 2
        if abs(one - two) > 1e-4:
            h = h / 2
            continue
        t, y, h = t + h, two, 1.5 * h
    return y


def cooled(x):
    """Decay until little is left, a sum over time."""
    y, total = x, 0.0
    while y > 1e-9 * x:
        total = total + y
        y = y * 0.7
    return total


def agm(x):
    a, b = 1.0, x
    while abs(a - b) > 1e-14:
        a, b = (a + b) / 2, np.sqrt(a * b)
    return a


def aitken(x):
    y = x
    for _ in range(30):
        u = np.cos(y * x) / 2
        v = np.cos(u * x) / 2
        below = v - 2 * u + y
        if abs(below) < 1e-13:
            return v
        new = y - (u - y) ** 2 / below
        if abs(new - y) < 1e-12:
            return new
        y = new
    return y


def powers(x):
    a = np.array([[2.0, 1.0], [1.0, 3.0]]) * np.array([[1.0, 1.0], [1.0, 0.0]]) + x * np.eye(2)
    v, before = np.array([1.0, 0.5]), 0.0
    for _ in range(500):
        w = a @ v
        now = np.sqrt(w @ w)
        v = w / now
        if abs(now - before) < 1e-13:
            break
        before = now
    return now


def vector_newton(x):
    y = np.ones_like(x)
    for _ in range(50):
        step = F(y, x) / slope(y)
        y = y - step
        if np.all(np.abs(step) < 1e-12):
            break
    return y.sum()


def vector_polished(x):
    y = vectorised(lambda y: F(y, x), np.zeros(3), np.full(3, 5.0))
    return ((y - F(y, x) / slope(y)) * x).sum()


def vector_iterated(x):
    y = np.zeros_like(x)
    while np.max(np.abs(np.cos(x * y) - y)) > 1e-10:
        y = 0.5 * (y + np.cos(x * y))
    return y.sum()


def golden_polished(x):
    y = golden(lambda y: y**4 / 4 + y * y / 2 - x * y, 0.0, 3.0)
    return x * (y - F(y, x) / slope(y))


def golden_value(x):
    """The value at the minimum: its derivative is right at any point near."""
    f = lambda y: y**4 / 4 + y * y / 2 - x * y
    return f(golden(f, 0.0, 3.0, 1e-9))


def limited(x):
    total = 0.0
    for k in range(60):
        v = x - 1.0 / (k + 1)
        total = total + (v if v > 0 else 0.0)
    return total


def squared_roots(x):
    y = x
    while True:
        new = 0.5 * (y + x / y)
        if abs(new - y) <= 1e-15 * abs(new):
            return new
        y = new


def continued(x):
    """A continued fraction by Lentz's way."""
    tiny = 1e-30
    f = c = 1.0 + tiny
    d = 0.0
    for k in range(1, 200):
        d = 1.0 / (1.0 + k * x * d)
        c = 1.0 + k * x / c
        f = f * c * d
        if abs(c * d - 1.0) < 1e-12:
            break
    return f


KEPT = {
    "polished": (polished, 3.0),
    "a last secant": (by_secant, 3.0),
    "newton": (newton, 3.0),
    "newton from afar": (newton_from_afar, 3.0),
    "safeguarded": (safeguarded, 3.0),
    "a fixed point": (lambda x: iterated(lambda y: np.cos(x * y), 0.5), 0.8),
    "a slow fixed point": (lambda x: iterated(lambda y: y - 0.02 * F(y, x), 0.5), 3.0),
    "a very slow one": (lambda x: iterated(lambda y: y - 0.003 * F(y, x), 0.5, 1e-6), 3.0),
    "a loose one": (lambda x: iterated(lambda y: y + 0.3 * (x - y), 0.0, 1e-3), 3.0),
    "a series": (series, 2.5),
    "leibniz": (leibniz, 0.7),
    "illinois": (illinois, 3.0),
    "regula falsi": (regula_falsi, 3.0),
    "secant": (secant, 3.0),
    "descent": (descended, 3.0),
    "backtracking": (backtracked, 3.0),
    "a table": (interpolated, 2.3),
    "a table by bisect": (interpolated_by_bisect, 2.3),
    "factors": (by_factors, 0.9),
    "quadrature": (lambda x: adaptive(lambda t: np.exp(-x * t) * np.sqrt(t + 1e-3), 0.0, 1.0, 1e-8),
                   1.5),
    "a march": (marched, 1.5),
    "decay": (cooled, 2.0),
    "means": (agm, 3.0),
    "aitken": (aitken, 0.9),
    "powers": (powers, 1.5),
    "newton of many": (vector_newton, np.array([1.0, 2.0, 3.0])),
    "where, polished": (vector_polished, np.array([1.0, 2.0, 3.0])),
    "fixed points": (vector_iterated, np.array([0.3, 0.5, 0.7])),
    "golden, polished": (golden_polished, 3.0),
    "golden, its value": (golden_value, 3.0),
    "limits": (limited, 0.3),
    "square root": (squared_roots, 3.0),
    "a continued fraction": (continued, 0.3),
    "sorted": (lambda x: sum(v * 0.5**k for k, v in enumerate(sorted(x))),
               0.5 ** np.arange(20.0) + 0.1),
    "halves of x": (lambda x: sum(x * 0.5**k for k in range(40) if x * 0.5**k > 1e-8), 3.0),
    "mass": (lambda x: sum(v * v for v in x if v > 1e-7), 0.5 ** np.arange(30.0)),
}  # fmt: skip

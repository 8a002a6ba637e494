"""Ways of writing that turn up in all fields."""

import functools
import itertools
import math
import operator
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field

import numpy as np
from numpy import array, exp, pi, sqrt, zeros

Point = namedtuple("Point", ["x", "y"])


def wave(x, amplitude=1.0, *, phase=0.0, function=np.sin):
    return amplitude * function(x + phase)


def keyword_arguments(x, phase):
    options = {"phase": phase, "function": np.cos}
    return wave(x) + wave(x, 2.0, **options) + wave(x, amplitude=phase)


@dataclass
class Circle:
    radius: float
    centre: tuple = (0.0, 0.0)
    notes: list = field(default_factory=list)

    @property
    def area(self):
        return np.pi * self.radius**2

    def overlaps(self, other):
        d = math.hypot(self.centre[0] - other.centre[0], self.centre[1] - other.centre[1])
        self.notes.append(d)
        return d < self.radius + other.radius


def circles(x, r):
    all_circles = [Circle(r, (0.0, 0.0)), Circle(2 * r, (x, 0.5)), Circle(0.5)]
    pairs = [a for a, b in itertools.combinations(all_circles, 2) if a.overlaps(b)]
    return sum(c.area for c in pairs) + all_circles[0].notes[0]


def shifted(point, by):
    return Point(point.x + by.x, y=point.y * by.y)


def named_tuples(x, y):
    start, by = Point(x, y), Point(y=2.0, x=y)
    for _ in range(3):
        start = shifted(start, by)
    return np.array(start) ** 2 / start.x


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        raise NotImplementedError


class Square(Shape):
    def area(self):
        return self.size**2


class Disc(Shape):
    def __init__(self, size, stretch):
        super().__init__(size)
        self.stretch = stretch

    def area(self):
        return pi * self.size**2 * self.stretch


def inheritance(size, stretch):
    shapes = [Square(size), Disc(size, stretch), Disc(2 * size, 1)]
    largest = max(shapes, key=lambda s: s.area())
    return largest.area() - min(s.area() for s in shapes)


def grouped(x):
    groups = defaultdict(list)
    for i, value in enumerate(x):
        groups["even" if i % 2 == 0 else "odd"].append(value)
    means = {name: np.mean(values) for name, values in groups.items()}
    return np.array([means["odd"], means["even"], *sorted(groups["odd"])])


def functional(x):
    square = functools.partial(wave, amplitude=2.0, function=lambda v: v**2 + 1)
    squares = list(map(square, x))
    product = functools.reduce(operator.mul, squares)
    running = list(itertools.accumulate(squares, lambda a, b: 0.5 * a + b))
    return np.array([product, *running])


def generator(x):
    def partial_sums():
        total = 0.0
        for value in x:
            total += math.exp(-(value**2))
            yield total

    return sum(s**2 for s in partial_sums())


def star_imports(x):
    out = zeros(3)
    for i in range(3):
        out[i] = sqrt(1 + x[i] ** 2) * exp(-x[i])
    return array([out[0], out[1] * pi, out[2]])


def guarded(x):
    """Exceptions, warnings, printing and checks on values."""
    text = f"x = {x[0]:.3f}, {x}"
    assert np.all(np.isfinite(x)), text
    try:
        lower = np.linalg.cholesky(np.outer(x, x) - np.eye(len(x)))
    except np.linalg.LinAlgError:
        lower = np.linalg.cholesky(np.outer(x, x) + np.eye(len(x)))
    with np.errstate(divide="ignore"):
        inverse = np.where(x > 0, 1 / x, 0.0)
    return lower @ inverse


def checked_input(x, weights=None):
    x = np.asarray(x, dtype=float)
    if not isinstance(x, np.ndarray) or x.ndim != 1:
        raise ValueError("a vector is needed")
    if weights is None:
        weights = np.ones_like(x)
    if np.isscalar(weights):
        weights = np.full(x.shape, weights)
    return np.average(x**2, weights=weights)


def swapped(x):
    x = list(x)
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return np.array(x) * np.arange(1, len(x) + 1)


def filled_table(x, y):
    table = np.zeros((len(x), len(y)))
    for i, j in np.ndindex(table.shape):
        table[i, j] = x[i] ** (j + 1) * y[j]
    table[table < 0] *= 0.5
    table[1] = table[0][::-1] + table[1]
    table[:, -1] += 1.0
    return table.T


def blocks(a, b):
    top = np.hstack([a, np.zeros((2, 1))])
    matrix = np.block([[top], [b, np.ones((1, 1))]])
    m2 = np.kron(np.eye(2), a) + np.tile(b, (4, 2))
    return np.linalg.det(matrix) + np.trace(m2 @ m2)


def index_games(x):
    order = np.argsort(-x)
    ranked = x[order]
    flat = np.repeat(ranked, [1, 2, 1, 3])
    picked = np.take(flat, [0, -1, 3]) * np.array([1, 2, 3])
    grid = flat[:6].reshape(2, 3)
    corner = grid[np.ix_([0, 1], [0, 2])]
    return np.concatenate((picked, corner.ravel(), np.insert(x, 1, x.sum())))


def row_norms(m):
    unit = np.apply_along_axis(lambda row: row / np.linalg.norm(row), 1, m)
    return np.array([np.dot(u, m[0]) for u in unit])


def views(x):
    x = x.copy()
    first, last = x[: len(x) // 2], x[len(x) // 2 :]
    first *= 2
    last[::2] = first[: len(last[::2])] ** 2
    middle = x.reshape(2, -1)
    middle[0, 1], middle[1, 0] = middle[1, 0], middle[0, 1]
    return x


def stacked_history(x, steps=4):
    history = np.array([x])
    for _ in range(steps):
        latest = history[-1] * 0.5 + np.cos(history[0])
        history = np.vstack([history, latest])
    return history.mean(axis=0) + np.ptp(history, axis=0)


def polynomial_object(c):
    p = np.poly1d(c)
    q = p.deriv() * 2 + 1
    return p(0.5) + q(1.5) * np.polyval(np.polymul(c, [1.0, -1.0]), 0.3)


def complex_roots(b, c):
    d = np.sqrt(b**2 - 4 * c + 0j)
    roots = np.array([(-b + d) / 2, (-b - d) / 2])
    return np.array([np.abs(roots[0]), np.angle(roots[1]), roots.real.sum(), roots[0].imag])


def counters(x):
    """What is counted and rounded stays constant; what is summed does not."""
    bins = np.floor(x * 2).astype(int) % 3
    sums = np.bincount(bins, weights=x, minlength=3)
    np.add.at(sums, [0, 0, 2], x[:3])
    count = len([v for v in x if v > 0])
    return sums * count + round(x[0] * 10) + np.digitize(x[1], [0.0, 1.0])


def missing_values(x):
    x = x.copy()
    x[1] = np.nan
    mean = np.nanmean(x)
    x[np.isnan(x)] = mean
    return np.nansum(x**2) + x.max() - x.min()


def nested_lists(a, b):
    matrix = [[a, b, 0], [b, 2 * a, 1], [0, 1, a * b]]
    vector = (a, b, 1.0)
    return np.dot(matrix, vector) + np.sum(matrix, axis=0) + np.maximum(vector, 0.5)


def local_import(x):
    import math as m

    import numpy

    out = numpy.empty(3)
    for k in range(3):
        out[k] = m.pow(x[k], 2) + m.sqrt(abs(x[k])) + m.atan(x[k]) * m.cosh(x[k])
    return numpy.cumsum(out)


def make_moments(centre):
    """Functions that call each other and themselves, made before they are used."""

    def raw(x, n):
        return np.array([x[i] ** n for i in range(len(x))]).mean()

    def central(x, n):
        if n == 0:
            return 1.0
        return raw(x - centre, n) + 0.1 * central(x, n - 1)

    return central


central_moment = make_moments(0.3)


def moments(x):
    return np.array([central_moment(x, n) for n in range(1, 4)])


SCALE = 1.0


def module_state(x):
    global SCALE
    SCALE = 1.0
    for value in x:
        SCALE = SCALE * (1 + 0.1 * value)
    result, SCALE = SCALE * x, 1.0
    return result


X = np.array([0.7, -1.2, 0.4, 1.9])
M = np.array([[0.5, 1.2, -0.3], [1.1, 0.2, 0.9]])

PROGRAMS = [
    (keyword_arguments, (X, 0.4)),
    (circles, (1.4, 0.8)),
    (named_tuples, (0.4, 1.1)),
    (inheritance, (1.3, 0.6)),
    (grouped, (X,)),
    (functional, (X,)),
    (generator, (X,)),
    (star_imports, (X,)),
    (guarded, (X,)),
    (checked_input, (X,)),
    (swapped, (X,)),
    (filled_table, (X[:2], X[1:])),
    (blocks, (M[:, :2], M[:1, :2])),
    (index_games, (X,)),
    (row_norms, (M,)),
    (views, (np.append(X, [0.3, -0.8]),)),
    (stacked_history, (X,)),
    (polynomial_object, (X,)),
    (complex_roots, (1.1, 2.3)),
    (counters, (X,)),
    (missing_values, (X,)),
    (nested_lists, (0.8, 1.7)),
    (local_import, (X,)),
    (moments, (X,)),
    (module_state, (X,)),
]

"""Small whole programs of everyday kinds for `bench_never_slower.py`.

Loops, branches, recursion, closures, texts, dicts, arrays of odd sizes. They were written down
before any was timed. Those whose arguments are integers have a value only.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

rng = np.random.default_rng(11)
V3, V7, V13, V17, V101 = [rng.uniform(0.3, 1.7, n) for n in (3, 7, 13, 17, 101)]
M3, M7, R35, R11 = [rng.uniform(0.2, 1.2, s) for s in ((3, 3), (7, 7), (3, 5), (11, 2))]
GRAPH = {"a": ["b", "c"], "b": ["d"], "c": ["d", "e"], "d": ["e"], "e": []}
PLACES = {name: i for i, name in enumerate("abcde")}
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(*args: Any) -> Callable[[Any], Any]:
    def enter(f: Any) -> Any:
        PROGRAMS[f.__name__.replace("_", " ")] = f, args
        return f

    return enter


# loops


@program(0.7)
def newton_root(a):
    x = 1.0
    for _ in range(8):
        x = x - (x * x - a) / (2 * x)
    return x


@program(2.3)
def bisection(a):
    low, high = 0.0, 3.0
    for _ in range(30):
        middle = (low + high) / 2
        if middle * middle < a:
            low = middle
        else:
            high = middle
    return (low + high) / 2 * a


@program(0.9, 1.4)
def arithmetic_geometric_mean(a, b):
    while abs(a - b) > 1e-12:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a


@program(V13)
def running_mean(x):
    total, out = 0.0, []
    for i, v in enumerate(x):
        total = total + v
        out.append(total / (i + 1))
    return np.array(out)


@program(V17)
def exponential_smoothing(x):
    level = x[0]
    for v in x[1:]:
        level = 0.3 * v + 0.7 * level
    return level


@program(0.31)
def logistic_map(x):
    for _ in range(50):
        x = 3.7 * x * (1 - x)
    return x


@program(0.5, 1.0)
def pendulum_by_euler(angle, speed):
    for _ in range(40):
        speed = speed - 0.05 * math.sin(angle)
        angle = angle + 0.05 * speed
    return angle


@program(V3)
def lorenz(s):
    for _ in range(20):
        x, y, z = s
        s = s + 0.01 * np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    return s


@program(V7, V7[::-1].copy())
def dynamic_time_warping(a, b):
    cost = np.full((len(a) + 1, len(b) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            best = min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
            cost[i + 1, j + 1] = (a[i] - b[j]) ** 2 + best
    return cost[-1, -1]


@program(V13)
def bubble_sort(x):
    x = x.copy()
    for i in range(len(x)):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


@program(M7)
def gaussian_elimination(a):
    a = a.copy() + 4 * np.eye(7)
    for k in range(7):
        for i in range(k + 1, 7):
            a[i] = a[i] - a[k] * (a[i, k] / a[k, k])
    return np.prod(np.diag(a))


@program(M3)
def power_iteration(a):
    v = np.ones(3)
    for _ in range(15):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v @ a @ v


@program(V101)
def heat_on_a_rod(u):
    for _ in range(10):
        u = u + 0.1 * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return u


@program(V101)
def peaks(x):
    out = 0.0
    for i in range(1, 100, 3):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            out = out + x[i]
    return out


@program(V17)
def simpson(x):
    return (x[0] + x[-1] + 4 * np.sum(x[1:-1:2]) + 2 * np.sum(x[2:-1:2])) / 3


# branches


@program(3.4)
def tax(income):
    if income < 1:
        return 0.0 * income
    if income < 3:
        return 0.2 * (income - 1)
    return 0.4 + 0.4 * (income - 3)


@program(V7)
def huber(x):
    return np.sum(np.where(np.abs(x) < 1, 0.5 * x**2, np.abs(x) - 0.5))


@program(0.8, 1.1)
def matched(x, y):
    match (x > 1, y > 1):
        case (True, True):
            return x * y
        case (False, True):
            return y - x
        case _:
            return x + y


@program(V13)
def clipped_returns(x):
    total = 1.0
    for v in x:
        change = v - 1
        if change < -0.2:
            change = -0.2 + 0 * change
        elif change > 0.3:
            continue
        total = total * (1 + change)
    return total


@program(V7)
def first_above(x):
    for i, v in enumerate(x):
        if v > 1.0:
            return v * i
    return x[0]


@program(V3)
def caught(x):
    try:
        return np.linalg.inv(np.outer(x, x) + np.eye(3))
    except np.linalg.LinAlgError:
        return np.zeros((3, 3))


# recursion


@program(1.3)
def power_by_squares(x):
    def power(x, n):
        if n == 0:
            return 1.0
        half = power(x, n // 2)
        return half * half * (x if n % 2 else 1.0)

    return power(x, 13)


@program(V17)
def tree_sum(x):
    def add(part):
        half = len(part) // 2
        return add(part[:half]) + add(part[half:]) if half else part[0]

    return add(x)


@program(V13)
def merge_sort(x):
    def merged(part):
        if len(part) < 2:
            return part
        left, right = merged(part[: len(part) // 2]), merged(part[len(part) // 2 :])
        out, i, j = [], 0, 0
        while i < len(left) and j < len(right):
            if left[i] <= right[j]:
                out.append(left[i])
                i += 1
            else:
                out.append(right[j])
                j += 1
        return out + list(left[i:]) + list(right[j:])

    return np.array(merged(list(x)))


@program(0.4)
def chebyshev(x):
    @functools.lru_cache
    def t(n):
        return 1.0 if n == 0 else x if n == 1 else 2 * x * t(n - 1) - t(n - 2)

    return t(9)


@program(M3)
def minors(a):
    def det(a):
        if len(a) == 1:
            return a[0][0]
        rest = lambda j: [row[:j] + row[j + 1 :] for row in a[1:]]
        return sum((-1) ** j * a[0][j] * det(rest(j)) for j in range(len(a)))

    return det([list(row) for row in a])


@program(0.2, 1.9)
def adaptive_quadrature(a, b):
    f = lambda x: math.exp(-x * x)

    def area(a, b, depth):
        m = (a + b) / 2
        whole = (b - a) * f(m)
        parts = (m - a) * f((a + m) / 2) + (b - m) * f((m + b) / 2)
        if depth == 0 or abs(whole - parts) < 1e-3:
            return parts
        return area(a, m, depth - 1) + area(m, b, depth - 1)

    return area(a, b, 6)


# containers


@program(V7)
def dict_of_weights(x):
    p = {"w": x[:3], "b": x[3], "v": x[4:]}
    return np.sum(np.tanh(p["w"] + p["b"]) * p["v"])


@program(V13)
def grouped(x):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups[i % 3].append(v)
    return sum(max(g) - min(g) for g in groups.values())


@program(V7)
def queue(x):
    window, out = deque(maxlen=3), 0.0
    for v in x:
        window.append(v)
        out = out + sum(window) / len(window)
    return out


@program(V7)
def counted_words(x):
    counts = Counter(["the", "cat", "and", "the", "dog", "and", "the", "bird"])
    return sum(n * x[i] for i, (_, n) in enumerate(sorted(counts.items())))


@program(V7)
def parsed_expression(x):
    stack = []
    for token in "ab+c*de-/":
        if token in "+-*/":
            right, left = stack.pop(), stack.pop()
            ways = {
                "+": left + right, "-": left - right, "*": left * right,
                "/": left / right if token == "/" else 0.0,
            }  # fmt: skip
            stack.append(ways[token])
        else:
            stack.append(x["abcde".index(token)])
    return stack[0]


@program(V7)
def shortest_path(x):
    best = {"e": 0.0}
    for node in "dcba":
        best[node] = min(x[PLACES[node]] + best[other] for other in GRAPH[node])
    return best["a"]


Point = namedtuple("Point", "x y")


@program(R11)
def polygon_area(p):
    points = [Point(*row) for row in p]
    return 0.5 * sum(
        a.x * b.y - b.x * a.y for a, b in zip(points, points[1:] + points[:1], strict=True)
    )


@program(V7)
def knapsack(values):
    weights, room = [3, 1, 4, 1, 5, 2, 6], 9
    best = [0.0] * (room + 1)
    for w, v in zip(weights, values, strict=True):
        for free in range(room, w - 1, -1):
            best[free] = max(best[free], best[free - w] + v)
    return best[room]


@program(V13)
def sliding_pairs(x):
    return sum((a - b) ** 2 for a, b in itertools.pairwise(x))


@program(V3)
def all_orders(x):
    return sum(a * b**2 * c**3 for a, b, c in itertools.permutations(x))


@program(V7)
def list_of_rows(x):
    rows = [[v * w for w in x] for v in x]
    return np.array(rows).sum(axis=0)


@program(V7)
def sorted_by_key(x):
    return sum(i * v for i, v in enumerate(sorted(x, key=lambda v: -v)))


@program(V7)
def text_of_numbers(x):
    name = f"{len(x)} numbers"
    return np.sum(x) * len(name)


# closures, classes


@program(1.2)
def composed_functions(x):
    steps = [math.sin, lambda v: v * v, math.exp, lambda v: 1 / (1 + v)]
    return functools.reduce(lambda v, f: f(v), steps, x)


@program(V7)
def counter_in_a_closure(x):
    def accumulator():
        total = 0.0

        def add(v):
            nonlocal total
            total = total + v * v
            return total

        return add

    add = accumulator()
    return [add(v) for v in x][-1]


@dataclass
class Account:
    balance: Any
    rate: float = 0.01

    def deposit(self, amount):
        self.balance = self.balance + amount

    def year(self):
        self.balance = self.balance * (1 + self.rate)


@program(V7)
def savings(deposits):
    account = Account(0.0)
    for amount in deposits:
        account.deposit(amount)
        account.year()
    return account.balance


class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


@program(R35, V3, V7[:5].copy())
def network_of_objects(w, b, x):
    net = [Layer(w, b), Layer(w.T, x)]
    for layer in net:
        x = layer(x)
    return np.sum(x**2)


class Dual:
    def __init__(self, x, d):
        self.x, self.d = x, d

    def __add__(self, other):
        return Dual(self.x + other.x, self.d + other.d)

    def __mul__(self, other):
        return Dual(self.x * other.x, self.x * other.d + self.d * other.x)


@program(0.8)
def dual_numbers(x):
    a = Dual(x, 1.0)
    return ((a * a + a) * a).d


@program(V13)
def generator_of_blocks(x):
    def blocks(n):
        for i in range(0, len(x), n):
            yield x[i : i + n]

    return sum(np.max(block) * len(block) for block in blocks(4))


# arrays of odd sizes


@program(V13)
def normalised(x):
    return (x - np.mean(x)) / np.std(x)


@program(V101)
def autocorrelation(x):
    x = x - np.mean(x)
    return np.array([np.sum(x[: len(x) - k] * x[k:]) for k in range(4)]) / np.sum(x * x)


@program(R35)
def softmax_entropy(z):
    p = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = p / np.sum(p, axis=1, keepdims=True)
    return -np.sum(p * np.log(p))


@program(R11)
def distances(p):
    return np.sqrt(np.sum((p[:, None] - p[None]) ** 2, axis=-1) + 1e-9)


@program(R35, V7[:5].copy())
def kernel_row(a, x):
    return np.exp(-np.sum((a - x) ** 2, axis=1))


@program(V17)
def convolution(x):
    kernel = np.array([0.25, 0.5, 0.25])
    return np.array([np.dot(x[i : i + 3], kernel) for i in range(15)])


@program(M7)
def upper_and_lower(a):
    return np.sum(np.triu(a, 1) * np.tril(a, -1).T)


@program(M7)
def symmetric_solve(a):
    s = a @ a.T + np.eye(7)
    return np.linalg.solve(s, a[0])


@program(V17)
def ranks(x):
    order = np.argsort(x)
    rank = np.empty(17)
    rank[order] = np.arange(17)
    return x * rank


@program(V13)
def one_hot_loss(x):
    hot = np.eye(13)[np.arange(13) % 4]
    return np.sum(hot * x[:, None]) + np.max(x)


@program(V101)
def histogram_like(x):
    edges = np.linspace(0.3, 1.7, 6)
    return np.array([np.sum(x[(x >= a) & (x < b)]) for a, b in itertools.pairwise(edges)])


@program(V7)
def polynomial_fit(y):
    x = np.arange(7.0)
    a = np.stack([np.ones(7), x, x**2], axis=1)
    return np.linalg.solve(a.T @ a, a.T @ y)


@program(V13)
def drawdown(x):
    top = np.maximum.accumulate(x)
    return np.max((top - x) / top)


@program(V7, V7[::-1].copy())
def complex_numbers(a, b):
    z = a + 1j * b
    return np.abs(z * np.conj(z) + z**2)


# integers and texts: values alone


@program(30)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program(60)
def primes(n):
    found = [True] * n
    for i in range(2, n):
        if found[i]:
            for j in range(i * i, n, i):
                found[j] = False
    return sum(found[2:])


@program(1071, 462)
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@program("a man a plan a canal panama")
def palindrome(text):
    letters = [c for c in text if c != " "]
    return letters == letters[::-1]


@program("3,1.5,2;4,0.5,9")
def parsed_table(text):
    rows = [[float(x) for x in line.split(",")] for line in text.split(";")]
    return np.array(rows).mean(axis=0)


@program(np.arange(23) * 7 % 11)
def integers_of_an_array(x):
    return np.cumsum(x)[x > 4].sum() % 17

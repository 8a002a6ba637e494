"""`x.flat`, `numpy.nditer`, `numpy.ndenumerate` and `numpy.broadcast` walk as NumPy's do.

Random programs of steps with one iterator: reading, writing, going on, loops that end early, and
questions where it is. In every way to run them they give what they give of plain arrays, or raise.
"""

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import PullbackError
from tests.budgets import LONG

X = np.array([[1.5, 0.25, 3.0], [2.0, 4.0, 5.0]])
LAYOUTS = {
    "C": lambda x: x * 1.0, "transposed": lambda x: (x * 1.0).T,
    "reversed": lambda x: (x * 1.0)[::-1], "part": lambda x: (x * 1.0)[:, 1:],
    "column": lambda x: (x * 1.0)[:, 1], "fortran": lambda x: np.asfortranarray(x * 1.0),
}  # fmt: skip
KEYS = [0, 1, -1, slice(1, 3), slice(None, None, 2), ..., [0, 1], [1, 0], (1,), np.array([1, 1])]


def some(it, n):
    out = []
    for v in it:
        out.append(v * 1.0)
        if len(out) == n:
            break
    return out


def coords(it, y):
    """The sum of `it.coords`; of one axis `it.index`, since NumPy's are sometimes no such thing.

    Where an array of places was read or written last, NumPy's `coords` of an iterator over one
    axis that is not contiguous say (0,), whatever its `index` is. Ours say what the index says.
    """
    return sum(it.coords) if y.ndim > 1 else it.index + 0.0 * len(it.coords)


# What is done with an iterator, of the array y; each gives a number or an array of numbers.
FLAT = {
    "next": lambda it, y, k: next(it, -1.0) * 2.0,
    "read": lambda it, y, k: np.sum(it[KEYS[k]]),
    "write": lambda it, y, k: it.__setitem__(KEYS[k], y.ravel()[0] * 3.0),
    "write two": lambda it, y, k: it.__setitem__(KEYS[k], [y.ravel()[0] * 3.0, 7.0]),
    "some": lambda it, y, k: sum(some(it, k), 0.0),
    "index": lambda it, y, k: it.index,
    "coords": lambda it, y, k: coords(it, y),
    "len": lambda it, y, k: len(it),
    "copy": lambda it, y, k: np.sum(it.copy() * (1.0 + k)),
    "another": lambda it, y, k: next(y.flat) + it.index,
    "base": lambda it, y, k: np.sum(it.base * 1.0),
    "kind": lambda it, y, k: isinstance(it, np.flatiter) + 2.0 * isinstance(it, np.ndarray),
    "pairs": lambda it, y, k: sum(i * v for i, v in enumerate(some(it, k))),
}
NDITER = {
    "next": lambda it, y, k: next(it, -1.0) * 2.0,
    "value": lambda it, y, k: it.value * 1.0,
    "first": lambda it, y, k: it[0] * 1.0,
    "multi_index": lambda it, y, k: sum(it.multi_index),
    "go": lambda it, y, k: setattr(it, "multi_index", (0,) * y.ndim),
    "iternext": lambda it, y, k: float(it.iternext()),
    "iterindex": lambda it, y, k: it.iterindex,
    "back": lambda it, y, k: setattr(it, "iterindex", k % y.size),
    "finished": lambda it, y, k: float(it.finished),
    "size": lambda it, y, k: it.itersize + it.ndim + it.nop + len(it),
    "reset": lambda it, y, k: it.reset(),
    "some": lambda it, y, k: sum(some(it, k), 0.0),
    "views": lambda it, y, k: np.sum(it.itviews[0]),
    "copy": lambda it, y, k: next(it.copy()) * 1.0,
}
BROADCAST = {
    "next": lambda it, y, k: np.multiply(*next(it, (-1.0, 0.0))),
    "index": lambda it, y, k: it.index,
    "size": lambda it, y, k: it.size + it.nd + it.numiter + sum(it.shape),
    "reset": lambda it, y, k: it.reset(),
    "some": lambda it, y, k: sum(a * b for _, (a, b) in zip(range(k), it, strict=False)),
    "iters": lambda it, y, k: next(it.iters[0]),
}
ITERATORS = {
    "flat": (lambda y: y.flat, FLAT),
    "nditer": (lambda y: np.nditer(y, flags=["multi_index"]), NDITER),
    "broadcast": (lambda y: np.broadcast(y, y[0]), BROADCAST),
}


def program(seed):
    random = np.random.default_rng(seed)
    layout = str(random.choice(list(LAYOUTS)))
    make, table = ITERATORS[str(random.choice(list(ITERATORS), p=[0.6, 0.25, 0.15]))]
    steps = [
        (str(random.choice(list(table))), int(random.integers(len(KEYS))))
        for _ in range(random.integers(1, 7))
    ]

    def f(x):
        y = LAYOUTS[layout](x)
        it, out = make(y), []
        for name, k in steps:
            found = table[name](it, y, k)
            out.append(0.0 if found is None else found)
        return sum([np.sum(v) * 1.7**i for i, v in enumerate(out)]) + np.sum(y * y)

    return f, (layout, table is FLAT, steps)


def outcome(call):
    try:
        return np.asarray(call(), float)
    except (
        PullbackError,
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        StopIteration,
    ) as error:
        return error


MODES = {
    "vjp": lambda f, x: pb.vjp(f, x)[0],
    "jvp": lambda f, x: pb.jvp(f, (x,), (x,))[0],
    "vmap": lambda f, x: pb.vmap(f)(np.stack([x, x]))[1],
    "compiled": lambda f, x: twice(pb.compile(f), x),
    "compiled gradient": lambda f, x: twice(pb.compile(pb.value_and_grad(f)), x)[0],
}


def twice(f, x):
    f(x + 1.0)
    return f(x)


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore")  # some fall back to Python
@pytest.mark.parametrize("mode", MODES)
def test_programs_of_one_iterator(mode):
    wrong, right = [], 0
    for seed in range(0, 4000 if LONG else 240, 6 if "compiled" in mode else 1):
        f, text = program(seed)
        plain, found = outcome(lambda f=f: f(X)), outcome(lambda f=f: MODES[mode](f, X))
        if isinstance(found, Exception):
            continue
        if isinstance(plain, Exception) or not np.allclose(plain, found, equal_nan=True):
            wrong.append((seed, text, plain, found))
        right += 1
    assert not wrong, "\n".join(map(str, wrong[:10]))
    assert right

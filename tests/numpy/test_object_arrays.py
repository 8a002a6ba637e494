"""Arrays of objects that hold Arrays compute as arrays of objects do, by Python's operators."""

import numpy as np

from tests.agreement import has_slopes
from tests.together import try_all


def pair(x):
    return np.array([x[0], x[1]], dtype=object)


def square(x):
    return np.array([[x[0], x[1]], [1.0, x[0]]], dtype=object)


def filled(x):
    out = np.zeros((2, 2), dtype=object)
    out[0, 0], out[1, 1] = x
    return out @ out


def held(x):
    out = np.empty(2, dtype=object)
    out[0], out[1] = x[0], x * 2.0
    return out


PROGRAMS = {
    "array": lambda x: pair(x).sum(),
    "dot": lambda x: pair(x) @ np.array([x[1], 2.0], dtype=object),
    "npdot": lambda x: np.dot(pair(x), np.array([3.0, 2.0])),
    "mul": lambda x: (pair(x) * 2.0)[1],
    "mixed": lambda x: sum(np.array([x[0], 2, "a"], dtype=object)[:2]),
    "astype": lambda x: pair(x).astype(float).sum(),
    "xastype": lambda x: x.astype(object).sum(),
    "asarray": lambda x: np.asarray(pair(x), dtype=float) @ x,
    "sqrt": lambda x: np.sum(np.sqrt(pair(x).astype(float))),
    "exp": lambda x: np.sum(np.exp(np.array([x[0], x[1]], dtype=float))),
    "max": lambda x: np.max(pair(x)),
    "prod": lambda x: np.prod(pair(x)),
    "cumsum": lambda x: np.cumsum(pair(x))[1],
    "pow": lambda x: (pair(x) ** 2).sum(),
    "add": lambda x: (pair(x) + np.array([1.0, 2.0], dtype=object)).sum(),
    "neg": lambda x: (-pair(x)).sum(),
    "where": lambda x: np.where([True, False], pair(x), 0).sum(),
    "concat": lambda x: np.concatenate([pair(x), [1.0]]).sum(),
    "stack": lambda x: np.stack([pair(x), np.array([x[1], 2.0], dtype=object)]).sum(axis=0)[0],
    "matrix": lambda x: (square(x) @ square(x))[0, 1],
    "tolist": lambda x: sum(pair(x).tolist()),
    "iter": lambda x: sum(y * y for y in pair(x)),
    "ragged": lambda x: sum(np.sum(y) for y in np.array([x, np.append(x, x[0]) * 2], dtype=object)),
    "vectorize": lambda x: np.vectorize(lambda y: y * y, otypes=[object])(x).sum(),
    "frompyfunc": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(x, x[::-1]).sum(),
    "frompyfunc2": lambda x: np.frompyfunc(lambda a, b: a * b, 2, 1)(pair(x), 2.0).sum(),
    "T": lambda x: np.array([[x[0], x[1]]], dtype=object).T[1, 0] * 2,
    "reshape": lambda x: pair(x).reshape(2, 1)[1, 0] * 2,
    "slice": lambda x: np.array([x[0], x[1], x[0]], dtype=object)[1:].sum(),
    "mask": lambda x: np.array([x[0], x[1], x[0]], dtype=object)[[True, False, True]].sum(),
    "sorted": lambda x: np.sort(pair(x))[0],
    "cmp": lambda x: np.sum(pair(x) > 0.5) * x[0],
    "outer": lambda x: np.outer(pair(x), [1.0, 2.0]).sum(),
    "einsum": lambda x: np.einsum("i,i->", pair(x), np.array([1.0, 2.0], dtype=object)),
    "poly": lambda x: np.polyval(pair(x), 2.0),
    "full": lambda x: np.full(3, x[0], dtype=object).sum(),
    "quantity list": lambda x: np.add.reduce(pair(x)),
    "copy": lambda x: pair(x).copy()[0] * 2,
    "abs": lambda x: abs(np.array([x[0], -x[1]], dtype=object)).sum(),
    "linalg": lambda x: np.linalg.norm(pair(x).astype(float)),
    "written": lambda x: filled(x).sum(),
    "whole arrays within": lambda x: held(x)[0] * held(x)[1].sum(),
}
BESIDE_ARRAYS = {  # these are recorded by no compiled function
    "mulx": lambda x: (pair(x) * x)[1],
    "xmul": lambda x: (x * pair(x))[1],
}


def test_programs():
    x = np.array([0.7, 1.3])
    try_all(has_slopes, [(name, (f, x)) for name, f in PROGRAMS.items()])
    try_all(has_slopes, [(name, (f, x, 0)) for name, f in BESIDE_ARRAYS.items()])


def test_arguments_of_numpy():
    """An array of objects is made with all that NumPy's functions are told."""
    made = {
        "ndmin": lambda x: np.array(x, dtype=object, ndmin=3),
        "by keywords": lambda x: np.array(object=[x, x], dtype=object, ndmin=3),
        "again": lambda x: np.array(pair(x), ndmin=2),
        "as numbers": lambda x: np.asarray(a=pair(x), dtype=float),
        "required": lambda x: np.require(pair(x), float, "C"),
        "cast": lambda x: pair(x).astype(float, order="F", copy=True),
        "cast without Arrays": lambda x: np.array([1, 2.0], dtype=object).astype(float, "C"),
    }
    for name, make in made.items():
        expected = make(np.array([0.7, 1.3]))

        def f(x, make=make, expected=expected, name=name):
            out = make(x)
            assert (out.shape, out.dtype) == (expected.shape, expected.dtype), name
            return np.sum(out) * x[0]

        has_slopes(f, np.array([0.7, 1.3]), 0)

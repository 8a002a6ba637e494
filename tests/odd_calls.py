"""Calls that are a little wrong: of each sample, one argument or keyword is changed.

`odd_calls(sample)` yields (what is odd, a function of the sample's floating arguments, these).
What NumPy and SciPy say of each is the reference; `test_odd_calls.py` compares.
"""

import inspect
import warnings
from itertools import chain

import numpy as np

from pullback.core.tree import flatten, unflatten
from pullback.testing import differentiable

AXES = [99, -99, "a", 1.0, True, np.int64(0), np.array(0), np.array([0, 1]), [0], (0, 0), (0,), (),
        (True,), None]  # fmt: skip
# Of keywords that many functions have, values of their kind and others.
OF_KEYWORD = {
    "axis": AXES,
    "axes": [[0], (0, 1), "a", 5, [(0,), (0,), ()]],
    "keepdims": [True, 1, 0, 2, "x", None, 1.5, np.True_, np.array(True)],
    "initial": [0.0, None, "a", 1, np.array([1.0, 2.0])],
    "order": ["F", "f", "Q", 3, "C"],
    "decimals": [1, 1.5, "a"],
    "ddof": [0, 1, 5, 0.5, "a"],
    "dtype": ["f4", "c16", "i8", "O", "U3", "nonsense", int, 3, "M8[s]"],
    "casting": ["no", "safe", "unsafe", "x", 1],
    "subok": [True, 2, "x"],
    "signature": ["d->d", "dd->d", "x", 3, ("d", "d")],
    "sig": ["d->d"],
    "mode": ["full", "wrap", "nonsense", 7, None],
    "where": [True, None, "x", 1, [True]],
}  # fmt: skip
POOL = [None, "x", 1.5, -1, 2, (0,), np.array([0, 1]), int, True]
# What ufuncs and functions that do not tell take.
COMMON = ["axis", "axes", "keepdims", "initial", "dtype", "casting", "order", "subok", "signature",
          "sig", "where", "nonsense"]  # fmt: skip
UNDEFINED = {"out", "size", "num"}  # results that are undefined, or of any size


def parameters(function):
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return []


def keywords_of(function):
    """The names that are worth trying as keywords, those of parameters first."""
    known = [x.name for x in parameters(function) if x.kind in (1, 3)]
    return list(dict.fromkeys([*known, *COMMON]))


def odd_keywords(sample):
    for keyword in keywords_of(getattr(sample.fun, "serves", sample.fun)):
        if keyword not in UNDEFINED:
            for value in [*OF_KEYWORD.get(keyword, []), *POOL]:
                yield f"{keyword}={value!r}", sample.args, {**sample.kwargs, keyword: value}


def is_ours(function):
    """Whether a sample is a program of the tests; what it is called with isn't NumPy's to say."""
    return str(getattr(function, "__module__", None)).startswith("tests.")


def odd_arrays(x):
    """(what, an array) in the place of an array: of other shapes and dtypes."""
    yield "of more axes", x[None]
    yield "of an axis at the end", x[..., None]
    if x.ndim:
        yield "of one axis less", x[0] if x.shape[0] else x.reshape(x.shape[1:])
        yield "shorter", x[1:]
        yield "empty", x[:0]
        yield "twice as long", np.concatenate([x, x])
    else:
        yield "of three", np.full(3, x)
    if x.ndim > 1:
        yield "shorter at the end", x[..., 1:]
        yield "empty at the end", x[..., :0]
        yield "of rows as columns", np.swapaxes(x, -1, -2)
    for dtype in ("f2", "f4", "c16", "i8", "?", "u1", "U8", "O", "M8[s]", "m8[s]"):
        try:
            with warnings.catch_warnings(action="ignore"):
                converted = x.astype(dtype)
        except (TypeError, ValueError):
            continue
        yield f"of {dtype}", converted


ANY = [None, "x", 1.5, -1, 0, 2, (0,), (), [0], np.array([0, 1]), int, True, {}, np.zeros((2, 0))]


def odd_arguments(sample):
    for i, x in enumerate(sample.args):
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fciub":
            changed = odd_arrays(np.asarray(x))
        else:
            changed = ((f"{value!r}", value) for value in ANY if not callable(x))
        for what, value in changed:
            args = list(sample.args)
            args[i] = value
            yield f"argument {i} is {what}", tuple(args), sample.kwargs


def odd_numbers_of_arguments(sample):
    for value in ANY:
        yield f"one more argument, {value!r}", (*sample.args, value), sample.kwargs
    if sample.args:
        yield "one argument less", sample.args[:-1], sample.kwargs
    names = parameters(getattr(sample.fun, "serves", sample.fun))
    for i in range(min(len(sample.args), len(names))):
        if names[i].kind in (0, 1):
            named = {p.name: x for p, x in zip(names[i:], sample.args[i:], strict=False)}
            yield f"by name from {i}", sample.args[:i], {**sample.kwargs, **named}


def odd_calls(sample, asked=lambda what: True):
    """(what is odd, the call as a function of its floating arguments, these), where it is asked."""
    ways = [odd_arguments]
    if not is_ours(getattr(sample.fun, "program", None) or sample.fun):
        ways += [odd_keywords, odd_numbers_of_arguments]
    for what, args, kwargs in chain.from_iterable(way(sample) for way in ways):
        if not asked(what):
            continue
        leaves, structure = flatten(list(args))
        at = [i for i, x in enumerate(leaves) if differentiable(x)]

        def call(*xs, leaves=leaves, structure=structure, at=at, kwargs=kwargs):
            given = list(leaves)
            for i, x in zip(at, xs, strict=True):
                given[i] = x
            return flatten(sample.fun(*unflatten(structure, given), **kwargs))[0]

        if at:
            yield what, call, [np.array(leaves[i])[()] for i in at]

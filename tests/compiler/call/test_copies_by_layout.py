"""Whether a result is a copy or the argument's own memory hangs on how the argument lies.

A compiled function that met one layout first answers for every other as NumPy does: results are
the argument, share memory with it, or don't; and a write into a result reaches what it reaches.
"""

import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.tree import flatten

LAYOUTS = {
    "whole": lambda: np.arange(4.0),
    "strided": lambda: np.arange(8.0)[::2],
    "reversed": lambda: np.arange(4.0)[::-1],
    "column": lambda: np.arange(12.0).reshape(4, 3)[:, 1],
    "rows": lambda: np.arange(4.0).reshape(2, 2),
    "transposed": lambda: np.arange(4.0).reshape(2, 2).T,
    "window": lambda: np.arange(9.0).reshape(3, 3)[:2, 1:],
    "every other": lambda: np.arange(8.0).reshape(2, 4)[:, ::2],
    "read-only": lambda: locked(np.arange(4.0)),
    "read-only part": lambda: locked(np.arange(8.0)[::2]),
}


def locked(x):
    x.flags.writeable = False
    return x


FUNCTIONS = {
    "ascontiguousarray": np.ascontiguousarray,
    "asfortranarray": np.asfortranarray,
    "asarray": lambda x: np.asarray(x, order="C"),
    "array": lambda x: np.array(x, copy=None, order="F"),
    "require": lambda x: np.require(x, requirements="C"),
    "require W": lambda x: np.require(x, requirements="W"),
    "require O": lambda x: np.require(x, requirements="O"),
    "astype": lambda x: x.astype(float, order="C", copy=False),
    "ravel": np.ravel,
    "ravel F": lambda x: x.ravel("F"),
    "ravel K": lambda x: x.ravel("K"),
    "reshape": lambda x: x.reshape(-1),
    "reshape F": lambda x: np.reshape(x, (4, 1), order="F"),
    "of a part": lambda x: np.ascontiguousarray(x[1:]),
    "turned": lambda x: x.T.ravel(),
    "with an axis": lambda x: x[..., None].ravel(),
    "of a result": lambda x: (x * 2.0).T.ravel(),
    "in a list": lambda x: [np.ravel(x), x],
}


def written(f, write):
    """f, which writes into its result itself; its value tells what the write has reached."""

    def g(x):
        out = f(x)
        part = out[0] if type(out) is list else out
        if part.flags.writeable:
            part[(0,) * part.ndim] = 7.0
        return np.sum(x) + np.sum(part), out

    return g if write else f


def seen(f, x):
    """What a caller sees of the result, and of the argument after a write into the result."""
    arrays = [y for y in flatten([f(x)])[0] if np.ndim(y)]
    found = [(y is x, np.shares_memory(y, x), y.flags.writeable, np.array(y)) for y in arrays]
    for y in arrays:
        if y.flags.writeable:
            y[(-1,) * y.ndim] = 9.0
    return [*found, np.array(x)]


@pytest.mark.share(6)
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_layout_after_another(name, first, write):
    f = written(FUNCTIONS[name], write)
    fast = pb.compile(f, wait=True)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*falls back to Python")
        for layout in (first, first, *LAYOUTS, first):
            np.testing.assert_equal(seen(fast, LAYOUTS[layout]()), seen(f, LAYOUTS[layout]()))

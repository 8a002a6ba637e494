"""What stands for a function takes the same names: no argument is mistaken for one of its own."""

import functools
import inspect
import sys
import types

import numpy as np
import pytest
from scipy import ndimage, optimize

import pullback as pb
from pullback.core.reach.namespaces import STANDS

ROOMS = {"numpy", "scipy", "math", "cmath", "statistics", "functools", "itertools", "operator"}


def stood_for():
    """Functions of libraries, and what stands for each."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ROOMS and isinstance(module, types.ModuleType):
            for x in list(vars(module).values()):
                if id(x) in STANDS and STANDS[id(x)] is not x and callable(x):
                    found[id(x)] = (x, STANDS[id(x)])
    return list(found.values())


def parameters(function):
    try:
        return inspect.signature(function, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return None


def mistaken(original, stands):
    """Names of parameters that an argument of the original's would be mistaken for."""
    bound = 0
    while isinstance(stands, functools.partial):
        bound, stands = bound + len(stands.args), stands.func
    own, theirs = parameters(stands), parameters(original)
    if own is None or theirs is None or not inspect.isfunction(stands):
        return []
    names = {p.name for p in theirs}
    anything = any(p.kind is p.VAR_KEYWORD for p in theirs)
    first = [p for p in list(own)[:bound] if p.kind is p.POSITIONAL_OR_KEYWORD]
    return [p.name for p in first if p.name in names or anything]


def test_no_name_is_taken():
    pb.grad(lambda x: np.sum(ndimage.laplace(x)) + optimize.rosen(x))(np.ones(3))  # they are there
    pairs = stood_for()
    assert len(pairs) > 100
    assert [(x.__name__, names) for x, s in pairs if (names := mistaken(x, s))] == []


@pytest.mark.parametrize("name", ["f", "xk"])
def test_all_arguments_by_name(name):
    """`approx_fprime(xk=x, f=f)` was taken for two f's."""

    def slope(y):
        given = {"xk": y, "f": lambda v: np.sum(v**3 * y), "epsilon": 1e-6}
        first = () if name == "f" else (given.pop("xk"),)
        return np.sum(optimize.approx_fprime(*first, **given))

    found = pb.grad(slope)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, [9.0, 36.0], rtol=1e-4)

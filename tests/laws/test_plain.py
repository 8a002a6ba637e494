"""The law of plain values: no way of reading an Array that carries a derivative loses it.

Every attribute and method of Array, and every function of NumPy, `math`, `operator` and others, is
called on an Array at two values, under each transformation. What comes back is live, or raises, or
says the same for both values, or is a truth value, an index or text; otherwise its name is in a
short list of what detaches on purpose. An ordinary run makes a third of the calls, in turns.
"""

from __future__ import annotations

import builtins
import cmath
import contextlib
import copy
import fractions
import io
import json
import math
import operator
import pickle
import statistics
import struct
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from pullback.core.trace import CONSTANT
from tests.budgets import in_turn

# What detaches by its name, what is for the eye, and the slots of the engine itself.
ON_PURPOSE = {
    "Array.numpy", "Array.detach",
    "Array.payload", "Array.node", "Array.storage", "Array.within", "Array._value",  # autograd's
}  # fmt: skip
# Where the eager trace is the only one, these give plain values.
OF_EAGER = {"Array.item", "Array.tolist", "Array.data"}
ARGUMENTS = [
    lambda x: (x,),
    lambda x: (x, 0),
    lambda x: (x, 2.0),
    lambda x: (x, x),
    lambda x: (2.0, x),
    lambda x: (np.arange(3.0), x),
    lambda x: ([x, x],),
    lambda x: (x, 0, 1),
]
NUMBER, VECTOR, MATRIX = (
    np.float64(0.37),
    np.array([0.2, 0.5, 0.9]),
    np.array([[2.0, 0.3], [0.3, 1]]),
)


def attributes():
    """Each attribute of Array as a function of it and of arguments, if it can be called."""
    for name in sorted({*dir(Array), *Array.__slots__} - {"__weakref__"}):

        def read(x, *args, name=name):
            found = getattr(x, name)
            return found(*args) if callable(found) and name != "__class__" else found

        yield f"Array.{name}", read


def functions():
    modules = {
        "numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "numpy.emath": np.emath,
        "numpy.strings": np.strings, "math": math, "cmath": cmath, "operator": operator,
        "statistics": statistics, "builtins": builtins, "copy": copy,
    }  # fmt: skip
    # They wait, write files, end the process, or give what was not written to.
    never = {
        "input", "print", "breakpoint", "exit", "quit", "help", "exec", "eval", "compile", "open",
        "empty", "empty_like", "ndarray", "save", "savez", "savez_compressed", "savetxt", "test",
        "copyright", "credits", "license", "show_config", "show_runtime", "info", "fromfile",
    }  # fmt: skip
    for module, namespace in modules.items():
        for name in dir(namespace):
            function = getattr(namespace, name)
            if callable(function) and not name.startswith("_") and name not in never:
                yield f"{module}.{name}", function
    yield "json.dumps", json.dumps
    yield "pickle.dumps", pickle.dumps
    yield "fractions.Fraction", fractions.Fraction
    yield "struct.pack", lambda x, *_: struct.unpack("d", struct.pack("d", x))[0]
    yield "io.BytesIO", lambda x, *_: np.frombuffer(io.BytesIO(x).getvalue())
    yield "memoryview", lambda x, *_: np.array(memoryview(x))


def under_grad(body, x):
    pb.grad(lambda x: body(x) or np.sum(x))(x)


def under_jvp(body, x):
    pb.jvp(lambda x: body(x) or x, (x,), (np.ones_like(x),))


def under_vmap(body, x):
    pb.vmap(lambda x: body(x) or x)(np.stack([x, x + 0.01]))


def under_checkpoint(body, x):
    pb.grad(lambda x: np.sum(pb.checkpoint(lambda x: body(x) or x * 1.0)(x)))(x)


def under_linearize(body, x):
    pb.linearize(lambda x: body(x) or x, x)


def of_eager(body, x):
    body(pb.array(x, requires_grad=True) * 1.0)


MODES = {
    "grad": under_grad, "jvp": under_jvp, "vmap": under_vmap, "checkpoint": under_checkpoint,
    "linearize": under_linearize, "eager": of_eager,
}  # fmt: skip


def plain_floats(out, depth=0):
    """The floating numbers in a result that no trace holds."""
    if type(out) is Array:
        return [np.asarray(out)] if out.within is CONSTANT else []
    if isinstance(out, (float, complex, np.inexact)):
        return [np.asarray(out)]
    if isinstance(out, np.ndarray):
        return [out] if out.dtype.kind in "fcO" else []
    if isinstance(out, fractions.Fraction):
        return [np.asarray(float(out))]
    if isinstance(out, dict):
        out = [*out.keys(), *out.values()]
    if isinstance(out, (tuple, list, set)) and depth < 4:
        return [x for part in out for x in plain_floats(part, depth + 1)]
    if hasattr(out, "__next__") and depth < 4:
        return plain_floats([y for y, _ in zip(out, range(4), strict=False)], depth + 1)
    return []


def seen(function, arguments, mode, x):
    """The plain floating numbers that a call gives; None if it raises."""
    found = []

    def body(x):
        with contextlib.suppress(Exception):
            found.append(plain_floats(function(*arguments(x))))

    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        MODES[mode](body, x)
    return found[0] if found else None


def same(a, b):
    return len(a) == len(b) and all(
        x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
        for x, y in zip(a, b, strict=True)
    )


def lost(names, mode):
    """Calls that gave plain numbers which depend on the value, and how many calls were made."""
    losing, calls = [], 0
    with pb.rebinding(False):
        for name, function in names:
            if name in ON_PURPOSE or (mode == "eager" and name in OF_EAGER):
                continue
            for i, arguments in enumerate(ARGUMENTS):
                for x in (NUMBER, VECTOR, MATRIX):
                    calls += 1
                    if not in_turn(f"{name} {i} {x.ndim}", 3):
                        continue
                    first = seen(function, arguments, mode, x)
                    if not first:
                        continue
                    if not same(first, seen(function, arguments, mode, x * 1.1) or []):
                        losing.append(f"{name}#{i} of {x.ndim} axes")
    return losing, calls


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", MODES)
def test_attributes(mode):
    losing, calls = lost(attributes(), mode)
    assert not losing
    assert calls > 2500


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", MODES)
def test_functions(mode):
    losing, calls = lost(functions(), mode)
    assert not losing
    assert calls > 15000

"""What a function stores, it may also read without naming it: replays see what was stored.

Every way to read the fields of an object that the code doesn't name, beside every way to store
there; the compiled function is called again and again, and agrees with the plain one.
"""

import copy
import dataclasses
import inspect
import itertools
import json
import operator
import pickle
import pprint
import string
import warnings

import numpy as np
import pytest

import pullback as pb


@dataclasses.dataclass
class Model:
    x: float = 1.0
    y: list = dataclasses.field(default_factory=lambda: [0.5, 0.25])
    z: dict = dataclasses.field(default_factory=lambda: {"a": 0.5})


@dataclasses.dataclass(slots=True)
class Slotted:
    x: float = 1.0
    y: list = dataclasses.field(default_factory=lambda: [0.5, 0.25])
    z: dict = dataclasses.field(default_factory=lambda: {"a": 0.5})


@dataclasses.dataclass
class Holder:
    held: object


def of_pattern(m):
    match m:
        case Model(x, y, z) | Slotted(x, y, z):
            return x, y, z


def leaves(tree):
    """All numbers in what was read."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [z for x in tree for z in leaves(x)] if isinstance(tree, (list, tuple)) else [tree]


READS = {
    "astuple": dataclasses.astuple,
    "asdict": dataclasses.asdict,
    "asdict by a factory": lambda m: [x for _, x in dataclasses.asdict(m, dict_factory=list)],
    "held": lambda m: dataclasses.astuple(Holder([m])),
    "copied": lambda m: dataclasses.astuple(copy.deepcopy(m)),
    "replaced": lambda m: dataclasses.astuple(dataclasses.replace(m)),
    "fields": lambda m: [getattr(m, field.name) for field in dataclasses.fields(m)],
    "Formatter": lambda m: float(string.Formatter().vformat("{0.x}", (m,), {})),
    "format": lambda m: float("{0.x}".format(m)),
    "attrgetter": operator.attrgetter("x", "y"),
    "pattern": of_pattern,
    "repr": lambda m: len(repr(m)),
    "pformat": lambda m: len(pprint.pformat(m)),
    "members": lambda m: [x for name, x in inspect.getmembers(m) if len(name) == 1],
    "json": lambda m: len(json.dumps(m, default=dataclasses.asdict)),
    "pickle": lambda m: len(pickle.dumps(m)),
    "gradient": lambda m: pb.grad(lambda m: sum(leaves(dataclasses.astuple(m))) ** 2)(m).x,
    "state": lambda m: [x for x in copy.copy(m).__reduce_ex__(2)[2:3] if isinstance(x, dict)],
}


def item(m, v):
    m.z["a"] = v


def element(m, v):
    m.y[0] = v


def attribute(m, v):
    m.x = v


STORES = [attribute, element, item, lambda m, v: m.y.append(v), lambda m, v: m.z.update(b=v)]


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", [Model, Slotted])
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_replays_see_what_was_stored(read, store, kind):
    def outcomes(transform):
        m = kind()

        def f(x):
            out = 2 * x + sum(leaves([read(m)]))
            store(m, 0.1 * out)
            return out

        step = transform(f)
        calls = [float(step(np.float64(x))) for x in (1.0, 1.0, 1.0, 2.0, 1.0)]
        return calls, leaves(dataclasses.asdict(m))

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*falls back to Python")
        compiled = outcomes(lambda f: pb.compile(f, wait=True))
    for got, wanted in zip(
        itertools.chain(*compiled), itertools.chain(*outcomes(lambda f: f)), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)

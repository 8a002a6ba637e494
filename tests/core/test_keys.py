"""Numbers as keys of dicts, in sets and in caches: those with a derivative are refused in words.

A dict finds a number by its value, and would give what an equal one has left there, without the
derivative. Constants are found as NumPy's numbers are.
"""

from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import pullback as pb
from tests.agreement import has_slopes
from tests.together import try_all


@dataclass(frozen=True)
class Place:
    at: float


Pair = namedtuple("Pair", "first second")
MEMO = {1.5: 2.25}


def stored(table, x):
    table[x] = 3.0
    return table[x]


KEYS = {
    "display": lambda x: {x: 2.0}[x],
    "comprehension": lambda x: {y: y * y for y in (x, x + 1.0)}[x],
    "lookup": lambda x: MEMO[x],
    "get": lambda x: {1.5: 2.0}.get(x, 4.0),
    "in": lambda x: (x in {1.5: 2.0}) + 2.0 * (x in {2.5}),
    "store": lambda x: stored({}, x) + stored(OrderedDict(), x) + stored(defaultdict(float), x),
    "setdefault": lambda x: {}.setdefault(x, 2.0),
    "pop": lambda x: {1.5: 2.0}.pop(x, 3.0),
    "set": lambda x: len({x, 2.0}) + len({x, 1.5}),
    "set of": lambda x: float(len({x, 2.0, 3.0} | {1.5})),
    "add": lambda x: {2.0}.add(x) or 2.0,
    "frozenset": lambda x: len(frozenset([x, 1.5])),
    "counted": lambda x: sum(Counter([x, x, 2.0]).values()),
    "fromkeys": lambda x: len(dict.fromkeys([x, 2.0])),
    "tuple": lambda x: {(x, 1): 2.0}[x, 1],
    "named tuple": lambda x: {Pair(x, 1): 2.0}[Pair(x, 1)],
    "frozen object": lambda x: {Place(x): 2.0}[Place(x)],
    "hash": lambda x: float(hash(x) == hash(1.5)),
}


def test_live_numbers_are_refused_in_words():
    def refused(use):
        for transform in (pb.grad, lambda f: lambda x: pb.jvp(f, (x,), (1.0,)), pb.hessian):
            with pytest.raises(TypeError, match=r"unhashable(.|\n)*x\.numpy\(\)\.tolist\(\)"):
                transform(lambda x: use(x) * x)(1.5)
        assert pb.grad(lambda x: use(x.numpy().tolist()) * x)(1.5) == use(1.5)  # the cure

    try_all(refused, [(name, (use,)) for name, use in KEYS.items()])


def test_constants_are_found_as_numbers():
    def found(use):
        has_slopes(lambda x: use(np.array([1.0, 1.5])[1]) * x, 1.5)
        assert pb.grad(lambda x: use(np.array([1.0, 1.5])[1]) * x)(0.5) == use(1.5)

    try_all(found, [(name, (use,)) for name, use in KEYS.items()])


def test_arrays_have_no_hash():
    for make in (lambda x: x * np.ones(2), lambda x: np.array(x), lambda x: np.ones(1)):
        with pytest.raises(TypeError, match=r"unhashable type: 'numpy.ndarray'|unhashable"):
            pb.grad(lambda x, make=make: hash(make(x)) * x)(1.5)

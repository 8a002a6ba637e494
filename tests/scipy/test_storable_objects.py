"""What a function stores while a solver calls it, by any way that leads to what it stores into.

Each way is asked alone, and beside a count that the function reaches by name. Under a derivative
the program leaves behind what the plain one does.
"""

import bisect
import functools
import heapq
import io
import json
import operator
import struct
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq

import pullback as pb


class Point:
    def __init__(self, x):
        self.x, self.seen = x, [x]


class Hidden:
    """Leads to a list by a property, by an index and by names that are computed."""

    def __init__(self, log):
        self.held = log

    @property
    def log(self):
        return self.held

    @functools.cached_property
    def kept(self):
        self.held.append(0.5)
        return self.held

    def __getitem__(self, i):
        return self.held

    def __getattr__(self, name):
        if name == "elsewhere":
            return self.held
        raise AttributeError(name)


class Filling:
    """A list that is filled by a property, and nothing else stores."""

    filled = property(lambda self: LOG.append(1.0))


LOG = []


def same(x):
    return x


def by_names():
    log, other, d, filling = [], [], {"log": []}, Filling()
    hidden = Hidden(log)
    return (log, other, d, LOG), {
        "of a function's result": lambda x: same(log).append(x),
        "of a method's default": lambda x: d.get("no", log).append(x),
        "set in a function's result": lambda x: operator.setitem(same(d), "x", x),
        "one of two": lambda x: (other if x > 100 else log).append(x),
        "the first that holds something": lambda x: (other or log).append(x),
        "one of a list": lambda x: [other, log][1].append(x),
        "of dicts joined": lambda x: ({} | d)["log"].append(x),
        "a property": lambda x: hidden.log.append(x),
        "a cached property": lambda x: hidden.kept.append(x),
        "an index": lambda x: hidden[0].append(x),
        "a computed name": lambda x: hidden.elsewhere.append(x),
        "a property that stores": lambda x: filling.filled,
    }


def by_libraries():
    log, heap, bits, text = [], [], bytearray(2), io.StringIO()
    numbers, sizes = list(range(5)), np.arange(5.0)
    rng, add = np.random.default_rng(0), np.subtract
    append, put, count = list.append, list.__setitem__, Counter()
    update, put_number = count.update, numbers.__setitem__
    return (log, heap, bits, text, numbers, sizes, rng.bit_generator, count), {
        "heappush": lambda x: heapq.heappush(heap, x),
        "insort": lambda x: bisect.insort(log, x),
        "shuffle": lambda x: rng.shuffle(numbers),
        "pack_into": lambda x: struct.pack_into("B", bits, 0, bits[0] + 1),
        "print": lambda x: print("a", file=text),
        "dump": lambda x: json.dump([1], text),
        "savetxt": lambda x: np.savetxt(text, [1.0]),
        "out": lambda x: np.multiply(sizes, 2.0, out=sizes),
        "a ufunc by another name": lambda x: add.at(sizes, [0], 1.0),
        "setfield": lambda x: sizes.setfield(sizes[0] + 1, float),
        "exec": lambda x: exec("log.append(1)", {"log": log}),
        "a method without its list": lambda x: append(log, x),
        "an operator's method": lambda x: put_number(0, numbers[0] + 1),
        "an operator's method without its list": lambda x: put(numbers, 0, numbers[0] + 1),
        "a method written in Python": lambda x: update(a=1),
    }


def by_holders():
    log, d, lists, parts = [], {}, defaultdict(list), OrderedDict(a=0.0, b=0.0)
    space, user, mine, chain = SimpleNamespace(log=[], x=0.0), UserDict(), UserList(), ChainMap()
    few = deque(maxlen=3)
    return (log, d, lists, parts, space, user, mine, chain, few), {
        "lists": lambda x: log.append([x]),
        "dicts": lambda x: log.append({"x": x}),
        "objects": lambda x: log.append(Point(x)),
        "lists in tuples": lambda x: log.append((1, [x])),
        "defaultdict": lambda x: lists["x"].append(x),
        "setdefault": lambda x: d.setdefault("x", {}).setdefault("y", []).append(x),
        "OrderedDict": lambda x: (parts.update(a=x), parts.move_to_end("a")),
        "SimpleNamespace": lambda x: (space.log.append(x), setattr(space, "x", x)),
        "UserDict": lambda x: user.update(x=x),
        "UserList": lambda x: mine.append(x),
        "ChainMap": lambda x: chain.update(x=x),
        "deque": lambda x: few.append([x]),
    }


def shown(x):
    """What is in x: numbers, in containers and objects."""
    if isinstance(x, io.StringIO):
        return x.getvalue()
    if isinstance(x, np.random.BitGenerator):
        return repr(x.state)
    if isinstance(x, (dict, UserDict, ChainMap)):
        return [(key, shown(y)) for key, y in x.items()]
    if isinstance(x, (list, tuple, deque, UserList, np.ndarray)):
        return list(map(shown, x))
    if isinstance(x, (Point, SimpleNamespace)):
        return shown(vars(x))
    assert type(x) is not pb.Array
    return x if isinstance(x, (str, bytearray)) else float(x)


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a count"])
@pytest.mark.parametrize(
    ("ways", "name"), [(ways, name) for ways in (by_names, by_libraries, by_holders)
                       for name in ways()[1]]
)  # fmt: skip
def test_stores_are_those_of_the_plain_program(ways, name, beside):
    def left(run):
        LOG.clear()
        (held, way), calls = ways(), [0]
        store = way[name]
        if beside:

            def noting(x):
                calls[0] += 1
                store(x)
        else:
            noting = store
        run(lambda a: brentq(lambda x: (noting(x), x**3 + x - a)[1], -9, 9))
        return shown(held), calls

    expected = left(lambda f: f(2.0))
    assert left(lambda f: pb.grad(f)(2.0)) == expected
    assert left(lambda f: pb.jvp(f, (2.0,), (1.0,))) == expected

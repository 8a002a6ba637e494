"""Calls that machine code serves: any order of memory, constant results, which array is which."""

from __future__ import annotations

import copy
import sys

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.entry import object_layout
from pullback.compiler.facts.places import Opaque
from pullback.core.rule_forms import Straight

from .test_native import repeated, same

pytestmark = pytest.mark.skipif(not object_layout.usable(), reason="no native entry here")

A, B = np.arange(12.0).reshape(3, 4) + 1, np.arange(24.0).reshape(2, 3, 4) + 1
BESIDE, EDGES = np.arange(3.0), np.array([0, 1])
ORDERS = {  # what is called, in turn with which arguments
    "a result by columns": (lambda a: np.asfortranarray(a) * 2, [(A,)]),
    "several": (lambda a: (np.asfortranarray(a) * 2, a + 1, a.sum()), [(A,)]),
    "axes exchanged": (lambda b: b.transpose(1, 0, 2) * 2, [(B,)]),
    "axes rotated": (lambda b: b.transpose(2, 0, 1) * 2, [(B,)]),
    "a transposed argument": (lambda a: a * 2, [(A.T,)]),
    "in a list": (lambda xs: xs[0] * xs[1][0][..., None], [([B.T, [A.T, A]],)]),
    "strides": (lambda a: a * 2, [(A[:, ::2],)]),
    "backwards": (lambda a: np.cumsum(a, axis=1), [(A[::-1, ::-1],)]),
    "memory order is asked": (lambda a, b: a.ravel("K") + b.ravel("K"), [(A.T, A.T)]),
    "both orders": (lambda a: a * 2, [(A,), (np.asfortranarray(A),)]),
    "a constant among results": (lambda a: (a * 2, 3, np.ones((2, 3), order="F"), "b"), [(A,)]),
    "a gradient of nothing": (pb.grad(lambda a, b: np.sum(a * a), (0, 1)), [(A, B)]),
    "which is it": (lambda a, b: a * 3 if a is b else a + b, [(A, A + 1), (A[:2], A[1:] * 2)]),
    "is it that one": (lambda a: a * 3 if a is BESIDE else a + EDGES[0], [(BESIDE + 1,)]),
}


def test_results_and_arguments_of_every_kind_are_served_by_machine_code():
    """Names the cases that Python serves, or that differ from what the function gives."""
    wrong = []
    for name, (fun, calls) in ORDERS.items():
        fast = pb.compile(fun, wait=True)
        for _ in range(6):
            for args in calls:
                fast(*args)
        before = int(fast.counter[0])
        for args in calls:
            out, again, expected = fast(*args), fast(*args), fun(*args)
            pairs = [x if type(x) is tuple else (x,) for x in (out, again, expected)]
            for x, other, y in zip(*pairs, strict=True):
                same(x, y)
                if type(x) is np.ndarray:
                    kept = x is other or np.shares_memory(x, other) or not x.flags.writeable
                    if kept or x.strides != y.strides:
                        wrong.append((name, "memory", x.strides, y.strides))
        if int(fast.counter[0]) != before + 2 * len(calls):
            wrong.append((name, fast.why(*calls[0])))
    assert not wrong


def added(a, b):
    a += b
    return a, b, a @ b, a


def shifted(a):
    a[1:] = a[:-1].copy()


def raised(d):
    d["a"] += 1
    return {"b": d["b"], "kept": d["a"], "n": 3}


THERE = {  # results that are arguments, parts of them or constants; arguments that are assigned to
    "a slice": (lambda x: x[1:3], [np.arange(5.0)]),
    "of a part, backwards": (lambda x: x[::-2], [np.arange(9.0)[1:]]),
    "an element": (lambda a: a[1, ..., 2], [A]),
    "a transpose and more": (lambda a: (a.T, a.sum(), a), [A]),
    "real parts": (lambda z: [z.real, z.imag.T], [A + 1j * A]),
    "halves": (lambda x: tuple(np.split(x, 2)), [np.arange(8.0)]),
    "by name": (lambda x, old: {"new": x + 1, "old": old, "half": old[::2], "k": 2}, [A, A + 1]),
    "in a container": (lambda xs: (xs[0], xs[1][1:]), [[A, A + 1]]),
    "twice the same": (lambda x: ((y := x * 2), x, y), [A]),
    "a captured array": (lambda x: (BESIDE, x), [A]),
    "a constant": (lambda x: np.arange(3), [A]),
    "by a captured mask": (lambda x: x[BESIDE > 0], [BESIDE + 1]),
    "added to": (added, [np.arange(4.0), np.ones(4)]),
    "added to what is transposed": (lambda a: a.__iadd__(1.0), [A.T]),
    "shifted": (shifted, [np.arange(4.0)]),
    "a number without axes": (lambda x: x.__setitem__(..., x + 1), [np.array(2.0)]),
    "within a dict": (raised, [{"a": np.arange(3.0), "b": np.ones(3)}]),
}


def arrays_in(x):
    if type(x) is dict:
        x = list(x.values())
    return [z for y in x for z in arrays_in(y)] if type(x) in (list, tuple) else [x]


def test_what_is_there_already_is_served_by_machine_code():
    """Arguments and parts of them are these again, and what is written is written to them."""
    wrong = []
    for name, (fun, args) in THERE.items():
        fast = pb.compile(fun, wait=True)
        for _ in range(6):
            ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
            before = int(fast.counter[0])
            outs, expected = arrays_in(fast(*ours)), arrays_in(fun(*theirs))
            hit = int(fast.counter[0]) - before
            ours, theirs = arrays_in(ours), arrays_in(theirs)
            for x, y in zip([*ours, *outs], [*theirs, *expected], strict=True):
                same(x, y)
                assert type(x) is not np.ndarray or x.flags.writeable == y.flags.writeable
            held = [[(x is y, np.may_share_memory(x, y)) for y in [*ours, *outs]] for x in outs]
            right = [
                [(x is y, np.may_share_memory(x, y)) for y in [*theirs, *expected]]
                for x in expected
            ]
            if held != right:
                wrong.append((name, "identity"))
        if not hit:
            wrong.append((name, fast.why()))
    assert not wrong


def test_what_is_written_into_is_asked_for_each_time():
    """Arguments that overlap, or that are read-only, go another way."""

    def doubled(a, b):
        a[:] = b * 2
        return a.sum()

    fast, x = pb.compile(doubled, wait=True), np.arange(10.0)
    for _ in range(6):
        fast(x[:5].copy(), x[5:])
    assert fast.counter[0]
    ours, theirs = x.copy(), x.copy()
    assert fast(ours[1:6], ours[:5]) == doubled(theirs[1:6], theirs[:5])
    same(ours, theirs)
    ours.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fast(ours[:5], x[5:])


def test_parts_hold_and_lose_no_references():
    fast = pb.compile(lambda a, b: (a.T, a, b[1:], a * 2), wait=True)
    writes = pb.compile(added, wait=True)
    x, y = A.copy(), np.arange(4.0)
    repeated(fast, x, y)
    repeated(writes, y, x[0])
    before = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(x.dtype)
    for _ in range(100):
        out = fast(x, y)
        assert [out[0].base is x, out[2].base is y] == [True, True]
        assert writes(y, x[0])[0] is y
    del out
    assert before == (sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(x.dtype))


def test_arguments_that_share_memory_go_another_way():
    """A record in which two arguments were apart is not repeated where they overlap."""

    def fun(a, b):
        return a * 3 if a is b else a + b

    def beside(a):
        return a * 3 if a is BESIDE else a + BESIDE

    x, fast, near = np.arange(6.0), pb.compile(fun, wait=True), pb.compile(beside, wait=True)
    for _ in range(6):
        same(fast(x, x + 1), fun(x, x + 1))
        same(near(BESIDE + 1), beside(BESIDE + 1))
    for args in ((x, x), (x[1:], x[:-1]), (x[::-1], x), (x, x + 1)):
        before = int(fast.counter[0])
        same(fast(*args), fun(*args))
        assert fast.counter[0] - before == int(not np.may_share_memory(*args))
    same(near(BESIDE), beside(BESIDE))


def test_copies_and_results_hold_and_lose_no_references():
    """References of arguments, copies and results stay what they were over many calls."""
    fast = pb.compile(lambda a: (np.asfortranarray(a) * 2, np.ones(2)), wait=True)
    x = A.T
    repeated(fast, x)
    held = fast.replay[1][0].held
    before = sys.getrefcount(x), sys.getrefcount(x.dtype), [sys.getrefcount(y) for y in held]
    for _ in range(100):
        out = fast(x)
        counts = list(map(sys.getrefcount, out))
        assert counts == [2, 2]  # the tuple and the call
    del out
    assert before == (
        sys.getrefcount(x),
        sys.getrefcount(x.dtype),
        [sys.getrefcount(y) for y in held],
    )


def test_rules_are_no_code_of_the_users():
    """What a recording depends on is the program's: no name that a rule of ours reads."""

    def f(x):
        y = np.block([[np.abs(x), np.sin(x)], [np.tanh(x), np.sqrt(x * x + 1)]])
        return np.sum(np.abs(y @ y) + np.maximum(y, 0.1) * np.arctan(y))

    fast = pb.compile(pb.grad(f), wait=True)
    for _ in range(3):
        fast(np.ones((3, 3)))
    (entry,) = fast.entries.values()
    places = [place for path in entry.paths for place in path.token.places]
    scopes = [place.owner for place in places if type(place.owner) is dict]
    assert not [scope for scope in scopes if type(scope.get("np")) is Straight]
    assert not [place for place in places if type(place.kind) is Opaque]
    assert fast.replay[1]  # and so machine code compares it all

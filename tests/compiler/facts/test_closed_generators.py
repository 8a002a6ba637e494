"""Generators that are closed while a recording stops: when nobody holds them any more, Python
ignores and tells of what is raised in them."""

import contextlib
import sys
import threading
import warnings
from itertools import islice

import numpy as np
import pytest

import pullback as pb

LOCK = threading.Lock()


def bare(x):
    for k in range(5):
        yield x * k


def with_lines(x):
    try:
        yield from bare(x)
    finally:
        done = x * 2
        done = done + 1


def that_prints(x):
    try:
        yield x
        yield x
    finally:
        print("closed")
        print("for good")


def that_handles(x):
    try:
        while True:
            yield x
    except GeneratorExit:
        pass
    done = 1.0
    print(done)


def that_raises_within(x):
    try:
        while True:
            yield x
    finally:
        with contextlib.suppress(KeyError):
            {}["x"]
        print("closed")


def that_holds_a_lock(x):
    with LOCK:
        while True:
            yield x


def that_holds_others(x):
    for y in that_prints(x):
        yield y * 1.0


class WithDel:
    """An object that is finalized as a generator is."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return self

    def __next__(self):
        return self.x

    def __del__(self):
        print("closed")


MAKERS = [
    bare, with_lines, that_prints, that_handles, that_raises_within, that_holds_a_lock,
    that_holds_others, WithDel,
]  # fmt: skip


def dropped(make, x):
    steps = make(x)
    y = next(steps)
    del steps
    print("after")
    return y


def at_the_end(make, x):
    steps = make(x)
    return next(steps) + 1.0


def where_it_stops(make, x):
    for y in make(x):
        print("here")
        return y


def in_an_expression(make, x):
    return x * any(print("here") is None for _ in make(x))


def in_a_list(make, x):
    steps = [make(x) for _ in range(3)]
    total = sum([next(each) for each in steps]) if make is not that_holds_a_lock else x
    print("after")
    return total


def closed(make, x):
    steps = make(x)
    y = sum(islice(steps, 2))
    if hasattr(steps, "close"):
        steps.close()
    return y


def caught(make, x):
    try:
        for _ in make(x):
            print("here")
            raise KeyError
    except BaseException:
        return x * 2


def replaced(make, x):
    for _ in range(2):
        steps = iter(make(x)) if make is not that_holds_a_lock else bare(x)
        y = next(steps)
    return y


def raising(make, x):
    steps = make(x)
    next(steps)
    raise KeyError(x)


def within(make, x):
    with contextlib.suppress(KeyError):
        raising(make, x)
    return x


ENDS = [
    dropped, at_the_end, where_it_stops, in_an_expression, in_a_list, closed, caught, replaced,
    raising, within,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_what_happens_is_as_without_compile(make, capsys, monkeypatch):
    """What comes out, what is printed, and how many exceptions Python ignored and told of."""
    ignored, wrong = [], []
    hook = ignored.append
    monkeypatch.setattr(sys, "unraisablehook", hook)

    def seen(f, x):
        ignored.clear()
        try:
            out = f(x)
        except KeyError as error:
            out = str(error)
        return out, capsys.readouterr().out, [each.exc_type for each in ignored]

    for end in ENDS:
        f = lambda x, end=end: np.sin(end(make, x))
        for of in (f, pb.grad(f)):
            fast = pb.compile(of, wait=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some fall back to Python
                for x in (0.5, 0.6, 0.7):
                    plain, found = seen(of, x), seen(fast, x)
                    if found != plain:
                        wrong.append((end.__name__, found, plain))
        assert not LOCK.locked()
    assert not wrong
    assert sys.unraisablehook is hook

"""What another thread changes while a call is recorded stays, and no recording mixes both."""

import threading
import types

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts.snapshot import Snapshot
from pullback.compiler.facts.state import State

STATE = """
class Model:
    base = 1.0
    def __init__(self): self.k = 1.0
class Slotted:
    __slots__ = ("k",)
m, s, g, d = Model(), Slotted(), 1.0, {"k": 1.0}
s.k = 1.0
def made():
    k = 1.0
    def read(): return k
    def write(v):
        nonlocal k
        k = v
    return read, write
read, write = made()
def stored(x):
    m.last, m.n = x, 1
    return x
"""
# What is read, and what another thread does meanwhile.
CHANGES = {
    "m.k": "m.k = 2.0",
    "m.base": "Model.base = 2.0",
    "s.k": "s.k = 2.0",
    "g": "g = 2.0",
    "d['k']": "d['k'] = 2.0",
    "read()": "write(2.0)",
}


# Where it comes in between: before what has changed is put back, and before the facts are read.
@pytest.mark.parametrize("place", [(Snapshot, "restore"), (State, "token")], ids=lambda x: x[1])
@pytest.mark.parametrize("stores", [False, True])
def test_what_another_thread_changes(place, stores, monkeypatch):
    ends = threading.Event()
    threading.Thread(target=ends.wait, daemon=True).start()  # else nobody but the call can do it
    owner, name = place
    wrong = []
    for read, change in CHANGES.items():
        module = types.ModuleType("shared")
        x = "stored(x)" if stores else "x"
        # The value of x decides: a recording of both states would give the same for small ones.
        text = f"def f(x):\n    return {x} * 1.0 if x[0] < {read} else x * 10.0\n"
        exec(STATE + text, vars(module))
        real, todo = getattr(owner, name), [change]

        def late(*args, real=real, todo=todo, module=module):
            if todo:
                exec(todo.pop(), vars(module))
            return real(*args)

        fast = pb.compile(module.f, wait=True)
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, late)
            first = fast(np.array([0.5, 1.0]))
        if first[0] != 0.5 or eval(read, vars(module)) != 2.0:
            wrong.append((read, "is lost"))
        for value in (0.5, 1.5, 2.5) * 3:
            given = np.array([value, 1.0])
            if not np.array_equal(fast(given), module.f(given)):
                wrong.append((read, value))
        if not fast.cache_info().hits:
            wrong.append((read, "is not recorded"))
    ends.set()
    assert not wrong

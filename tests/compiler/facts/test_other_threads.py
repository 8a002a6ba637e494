"""What another thread changes while a call is recorded stays, and no recording mixes both."""

import threading
import types
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts.call_monitor import Watch
from pullback.compiler.facts.snapshot import Snapshot
from pullback.compiler.facts.state import State
from pullback.compiler.graph.optimise import optimised
from pullback.testing import staged

STATE = """
class Model:
    base = 1.0
    def __init__(self): self.k = 1.0
class Slotted:
    __slots__ = ("k",)
m, s, g, d, h = Model(), Slotted(), 1.0, {"k": 1.0}, [1.0]
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
    "h[0]": "h = [2.0]",
}


# Where it comes in between: before what has changed is put back, before that is looked at, and
# before the facts are read.
PLACES = (Snapshot, "restore"), (Snapshot, "restored"), (Snapshot, "misses"), (State, "token")


@pytest.mark.parametrize("place", PLACES, ids=lambda x: x[1])
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


def quiet(x):
    return np.sin(x) * 2.0


def warning(x):
    warnings.warn("said", UserWarning, stacklevel=2)
    return np.sin(x)


def caught(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the program's own
        return quiet(x)


def filtering(x):
    warnings.simplefilter("ignore", ResourceWarning)
    return np.sin(x)


@pytest.mark.parametrize("f", [quiet, warning, caught, filtering])
def test_filters_that_another_thread_changes(f, monkeypatch):
    """They stay as it leaves them, and are nothing that the function did."""
    with warnings.catch_warnings():
        warnings.resetwarnings()  # those of the tests turn warnings into errors
        warnings.simplefilter("always")
        todo = [lambda: warnings.filterwarnings("ignore", "said elsewhere")]
        real = Watch.begins

        def late(*args):
            if todo:
                other = threading.Thread(target=todo.pop())
                other.start()
                other.join()
            return real(*args)

        fast = pb.compile(f, wait=True)
        monkeypatch.setattr(Watch, "begins", late)
        with warnings.catch_warnings(record=True) as told:
            for _ in range(3):
                fast(np.ones(2))
            kept = [entry[1].pattern for entry in warnings.filters if entry[1] is not None]
        reasons = [str(each.message) for each in told if each.category is RuntimeWarning]
        assert not todo
        if f is filtering:
            assert "filterwarnings" in reasons[0]
        else:
            assert (reasons, "said elsewhere" in kept) == ([], True)
            assert fast.cache_info().hits == 2


def test_filters_are_left_alone(monkeypatch):
    """They are one list for all threads: whoever sets and resets them undoes what others set."""

    class Entered:
        def __init__(self, **options):
            raise AssertionError("filters of warnings are set")

    def f(x):
        y = np.sum(np.abs(x)) * np.sum(np.sin(np.full(3, 2.0)) + np.linalg.norm(x))
        return y * np.sum(np.sort(np.array([3.0, 1.0]))[0] * x)

    x = np.array([0.5, -1.0])
    expected = pb.hessian(f)(x)
    with monkeypatch.context() as patched:
        patched.setattr(warnings, "catch_warnings", Entered)
        graph, _ = staged(lambda x: x * np.sum(np.exp(np.multiply(2.0, np.ones(3, like=x)))), (x,))
        assert len(optimised(graph).equations) < len(graph.equations)
        for transform in (lambda f: pb.compile(pb.hessian(f), wait=True), pb.hessian):
            fast = transform(pb.compile(f, wait=True))
            for _ in range(4):
                np.testing.assert_allclose(fast(x), expected, rtol=1e-12)

"""compile: which objects results and stored values share with what the program keeps.

And what is written in place into what it keeps, in compiled functions inside and around
transformations.
"""

import collections
import dataclasses
import sys
import threading
import types
import typing
import warnings

import numpy as np
import pytest

import pullback as pb

X = np.array([0.5, -1.25, 2.0])


@dataclasses.dataclass
class Record:
    u: object = 1.0
    v: object = dataclasses.field(default_factory=list)


class Pair(typing.NamedTuple):
    x: object
    y: object = 2.0


def scope_of(text, change):
    """The names of a program, whose function f of x and y is changed."""
    scope = {
        **{"np": np, "dataclasses": dataclasses, "collections": collections},
        **{"Record": Record, "Pair": Pair, "kept": [1.0, 2.0], "table": {"a": 1.0}},
        **{"w": np.array([1.0, -2.0, 0.5]), "o": types.SimpleNamespace(v=1.0)},
    }
    scope["record"], scope["o"].w = Record(2.0, scope["kept"]), scope["w"]
    exec("def f(x, y):\n    " + text.replace("; ", "\n    "), scope)
    scope["f"] = change(scope["f"])
    return scope


def parts(x):
    """Containers and what they hold, by identity: which of them have been met before."""
    met, found = {}, []

    def walk(x):
        if isinstance(x, (float, int, str, type(None), np.generic)):
            found.append((type(x), x))
            return
        found.append((type(x), met.setdefault(id(x), len(met))))
        if found[-1][1] < len(met) - 1:
            return
        if isinstance(x, np.ndarray):
            found.append((x.tolist(), x.flags.writeable))
        elif isinstance(x, (list, tuple, collections.deque)):
            list(map(walk, x))
        else:
            list(map(walk, (x if isinstance(x, dict) else vars(x)).values()))

    walk(x)
    return found


def calls(text, change, n=4):
    scope, found = scope_of(text, change), []
    for k in range(n):
        x, y = X * (1.0 + (k > 2)), np.array([0.5, 1.5, 2.5])
        result = scope["f"](x, y)
        held = [scope[name] for name in ("kept", "table", "record", "w", "o")]
        found.append(parts([*held, x, y, result]))
    return found


def assert_same(text, plain, compiled):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it falls back is not asked
        assert calls(text, compiled) == calls(text, plain)


@pytest.mark.parametrize(
    "text",
    [
        "return dataclasses.replace(record, u=x * 2)",
        "return Record(x * 2, kept)",
        "return Pair(x * 2, kept)",
        "return Pair(x * 2, {'a': table})",
        "return collections.deque([kept, x * 2])",
        "return collections.OrderedDict(a=table, b=x * 2)",
        "o.v = Record(x * 2, kept); return x * 1",
        "o.v = Pair(x * 2, (kept,)); return x * 1",
        "table['q'] = Record(x * 2, kept); return x * 1",
        "a = [1.0]; return Record(a, a)",
        "a = [x * 2]; return Pair(a, (a,))",
        "x.setflags(write=False); return x.sum()",
        "x[0] = 3.0; x.setflags(write=False); return x.sum()",
        "x.flags.writeable = True; return x.sum()",
    ],
)
def test_objects_that_are_kept_elsewhere(text):
    """They used to be copies where they were fields of dataclasses or of other trees."""
    assert_same(text, lambda f: f, lambda f: pb.compile(f, wait=True))


WRAPS = {
    "compiled": (lambda f: f, lambda f: pb.compile(f, wait=True)),
    "its gradient": (pb.grad, lambda f: pb.compile(pb.grad(f), wait=True)),
    "with its value": (
        lambda f: pb.value_and_grad(f, argnums=1),
        lambda f: pb.compile(pb.value_and_grad(f, argnums=1), wait=True),
    ),
    "inside": (pb.grad, lambda f: pb.grad(pb.compile(f, wait=True))),
}


@pytest.mark.share(2)
@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(
    "text",
    [
        "o.w *= 0.5; return np.sum(x * y)",
        "o.w += z; return np.sum(x * y * o.w)",
        "o.w[:] = o.w * z; return np.sum(x * y)",
        "o.w[1:] *= z[1:]; return np.sum(x * y * o.w)",
        "np.multiply(o.w, z, out=o.w); return np.sum(x * y * o.w)",
        "v = o.w[::-1]; v *= z; return np.sum(x * y * v)",
        "w[0] += z[1]; w[0] *= 0.5; return np.sum(x * y * w)",
    ],
)
def test_what_a_differentiated_function_writes_in_place(wrap, text):
    """Its gradient, compiled, used to write once and never again."""
    plain, compiled = WRAPS[wrap]
    # z is what the transformation doesn't differentiate.
    text = text.replace("z", "x" if wrap == "with its value" else "y")
    assert_same(text, plain, compiled)


@pytest.mark.parametrize("text", ["o.v += 1", "table['a'] += 1", "o.w += 1.0"])
def test_what_is_changed_under_a_lock(text):
    """Replays take no lock, so that updates of other threads would be lost."""
    scope = scope_of(f"with lock: {text}; return x * 2", lambda f: f)
    scope["lock"], scope["o"].v, scope["table"]["a"] = threading.Lock(), 1, 1
    f = pb.compile(scope["f"], wait=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it falls back is not asked
        for _ in range(4):
            f(X, X)
        threads = [threading.Thread(target=lambda: [f(X, X) for _ in range(50)]) for _ in range(4)]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
    assert 205 in (scope["o"].v, scope["table"]["a"], scope["o"].w[0])

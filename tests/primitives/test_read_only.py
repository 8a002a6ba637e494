"""Read-only arrays: random programs that lock, unlock, view and write, as NumPy runs them.

Whether a write raises is seen by the program, which goes on; so are the flags that it asks for.
"""

import random
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.budgets import LONG

MAKE = "a[1:]", "a[::-1]", "a[:2]", "a[...]", "a.view()", "a.reshape(1, -1)[0]", "a.copy()", "a * 2"
FLAG = (
    "a.setflags(write=False)",
    "a.flags.writeable = False",
    "a.flags['W'] = False",
    "a.setflags(write=True)",
    "a.flags.writeable = True",
)
WRITE = (
    "a[0] = 7.0",
    "a[-1] = b[0] * 3",
    "a[...] = 2.5",
    "a[1:] = 4.0",
    "a += 1.0",
    "a *= b[0]",
    "a[a > 3] = 1.0",
    "a[[0]] = 5.0",
    "a.fill(0.5)",
    "a.sort()",
    "np.copyto(a, 1.5)",
    "np.add(a, 1.0, out=a)",
    "np.put(a, [0], 8.0)",
    "a.flat[0] = 6.0",
    "np.putmask(a, a > 2, 0.25)",
)  # not `np.add.at`, by which NumPy 2.4 writes into read-only arrays


def program(seed):
    """Text of `f(x)`, which returns one number made of all arrays, flags and refusals."""
    r = random.Random(seed)
    names, lines = ["x", "y"], []
    for step in range(r.randrange(4, 12)):
        a, b = r.choice(names), r.choice(names)
        kind = r.random()
        if kind < 0.3:
            made = r.choice(MAKE).replace("a", a, 1)
            lines.append(f"v{step} = {made}")
            names.append(f"v{step}")
        elif kind < 0.6:
            lines += attempt(rename(r.choice(FLAG), a, b))
        else:
            lines += attempt(rename(r.choice(WRITE), a, b))
        if r.random() < 0.3:
            lines.append(f"total += {step + 1} * {r.choice(names)}.flags.writeable")
    lines += [f"total += np.sum({n} * np.arange({n}.size)) + {n}[0]" for n in names]
    body = "\n    ".join(["y = x * 1.5", "total = 0.0", *lines, "return total"])
    return f"def f(x):\n    {body}\n"


def rename(text, a, b):
    marked = {"a": a, "b": b}
    out, word = "", ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            word += c
            continue
        method = out.endswith(".") or word not in marked
        out += (word if method else marked[word]) + c
        word = ""
    return out.strip()


def attempt(line):
    return ["try:", f"    {line}", "except ValueError:", "    total += 1000.0"]


def function_of(text):
    scope = {"np": np}
    exec(compile(text, "<read-only>", "exec"), scope)
    return scope["f"]


def argument(seed):
    x = np.array([1.25, 3.5, -2.0, 0.75])
    x.flags.writeable = bool(seed % 3)
    return x


@pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")
@pytest.mark.parametrize("start", range(0, 400 if LONG else 40, 40))
def test_as_numpy_runs_them(start):
    for seed in range(start, start + 40):
        text = program(seed)
        expected = function_of(text)(argument(seed))
        for name, run in WAYS.items():
            got = run(function_of(text), argument(seed))
            np.testing.assert_allclose(got, expected, err_msg=f"{name} of seed {seed}:\n{text}")


WAYS = {
    "grad": lambda f, x: pb.value_and_grad(f)(x)[0],
    "jvp": lambda f, x: pb.jvp(f, (x,), (np.ones(4),))[0],
    "grad of grad": lambda f, x: pb.grad(lambda s: pb.value_and_grad(lambda z: f(z) * s)(x)[0])(
        1.0
    ),
    "compile": lambda f, x: pb.compile(f, wait=True)(x),
}


def test_a_recording_stands_for_arguments_with_the_same_flags():
    """Whether a write is refused is part of what the machine code repeats."""

    def f(x):
        try:
            x[0] = 9.0
        except ValueError:
            return x.sum() + 100.0
        return x.sum()

    fast = pb.compile(f, wait=True)
    locked = np.ones(3)
    locked.flags.writeable = False
    for _ in range(3):
        assert fast(locked) == 103.0
        assert fast(np.ones(3)) == 11.0


def test_flags_are_asked_and_set_in_each_way():
    def f(x):
        y = x * 2.0
        flags = y.flags
        flags.writeable = False
        assert not flags["WRITEABLE"]
        assert flags.c_contiguous
        assert flags == y.flags
        assert "WRITEABLE : False" in repr(flags)
        with pytest.raises(ValueError, match="read-only"):
            y[0] = 1.0
        flags["W"] = True
        y[0] = 1.0
        return y.sum()

    np.testing.assert_array_equal(pb.grad(f)(np.ones(3)), [0.0, 2.0, 2.0])


MAKERS = {  # what NumPy makes read-only, views of it, and neighbours that may be written to
    "broadcast_to": lambda y: np.broadcast_to(y, (2, 3)),
    "the same shape": lambda y: np.broadcast_to(y, (3,)),
    "of a number": lambda y: np.broadcast_to(y.sum(), (2,)),
    "of a constant": lambda y: np.broadcast_to(np.float64(2.0), (2,)),
    "transposed": lambda y: np.broadcast_to(y, (2, 3)).T,
    "a row": lambda y: np.broadcast_to(y, (2, 3))[1],
    "reshaped": lambda y: np.broadcast_to(y, (2, 3)).reshape(3, 2),
    "copied": lambda y: np.broadcast_to(y, (2, 3)).copy(),
    "other bytes": lambda y: np.broadcast_to(y.astype(">f8"), (2, 3)),
    "broadcast_arrays": lambda y: np.broadcast_arrays(y, np.ones((2, 3)))[0],
    "imag": lambda y: np.imag(y),
    "diagonal": lambda y: np.diagonal(np.outer(y, y)),
    "einsum": lambda y: np.einsum("ii->i", np.outer(y, y)),
    "windows": lambda y: np.lib.stride_tricks.sliding_window_view(y, 2),
    "strided": lambda y: np.lib.stride_tricks.as_strided(y, (2, 2), (8, 8)),
    "strided to read": lambda y: np.lib.stride_tricks.as_strided(y, (2,), (16,), writeable=False),
}


def is_writable(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of `broadcast_arrays`, which this will change
        return bool(x.flags.writeable)


@pytest.mark.parametrize("made", MAKERS.values(), ids=MAKERS)
def test_results_and_what_is_stored_are_read_only_in_replays(made):
    kept = {}

    def f(x):
        kept["a"] = made(x * 2.0)
        return made(x * 3.0), x * 1.0

    fast, x = pb.compile(f, wait=True), np.arange(3.0)
    expected = [is_writable(x) for x in (*f(x), kept["a"])]
    for k in range(3):
        assert [is_writable(x) for x in (*fast(x + k), kept["a"])] == expected
    assert fast.cache_info().hits == 2


def test_a_result_of_a_compiled_function_is_read_only_in_a_transformation():
    wide = pb.compile(lambda x: np.broadcast_to(x * 2.0, (2, 3)), wait=True)

    def f(x):
        wide(x)[0] = 1.0
        return x.sum()

    for _ in range(3):
        with pytest.raises(ValueError, match="read-only"):
            pb.grad(f)(np.ones(3))

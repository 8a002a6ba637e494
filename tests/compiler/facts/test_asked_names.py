"""Names that code computes: `getattr(x, name)` is told to a recording, and nothing goes stale."""

import functools
import io
import types

import numpy as np
import pytest

import pullback as pb


class Settings:
    buffer = io.StringIO  # what must not be called unseen, were all of this read

    def __init__(self):
        self.rate, self.rates, self.kind, self.power = 3.0, 5.0, "rate", 2.0

    def __lt__(self, other):  # Python calls it, and not a call site
        return getattr(self, self.kind) < getattr(other, other.kind)


def by_name(s, x):
    return x * getattr(s, s.kind)


def by_name_or_default(s, x):
    return x * getattr(s, s.kind + "s", 1.0)


def if_there(s, x):
    return x * 2.0 if hasattr(s, "po" + "wer" * (s.kind == "rate")) else x


def in_a_loop(s, x):
    for name in (s.kind, "power"):
        x = x * getattr(s, name)
    return x


def in_text(s, x):
    return x * float(("{0." + s.kind + "}").format(s))


def handed_on(s, x):
    return x * functools.reduce(getattr, [s.kind], s)


def from_python(s, x):
    return x if s < Settings() else 2 * x


def on_the_way(s, x):
    name = s.kind if x > 1.0 else "power"
    return x * getattr(s, name)


def stored(s, x):
    setattr(s, "last" + s.kind, 1.0)
    return x * getattr(s, "last" + s.kind) * getattr(s, s.kind)


CHANGES = [
    lambda s: None,
    lambda s: setattr(s, "rate", 7.0),
    lambda s: setattr(s, "kind", "power"),
    lambda s: setattr(s, "power", -1.5),
    lambda s: setattr(s, "kind", "rates"),
    lambda s: setattr(s, "ratess", 11.0),
    lambda s: setattr(s, "kind", "rate"),
    lambda s: delattr(s, "power") or setattr(s, "powers", 1.0) or setattr(s, "power", 0.5),
]
FUNCTIONS = [
    by_name, by_name_or_default, if_there, in_a_loop, in_text, handed_on, from_python, on_the_way,
    stored,
]  # fmt: skip


@pytest.mark.parametrize("fun", FUNCTIONS)
def test_what_is_asked_for_may_change(fun):
    """Whatever changes between calls, the compiled function gives what the plain one does."""
    s = Settings()
    module = types.ModuleType("settings_of_a_package")  # with what cannot be repeated
    module.s, module.StringIO, module.fun = s, io.StringIO, fun
    fast = pb.compile(lambda x: module.fun(module.s, x))
    for change in CHANGES:
        change(s)
        for x in (0.5, 2.0, 2.5):
            for _ in range(2):
                np.testing.assert_array_equal(fast(x), fun(s, x))


@pytest.mark.parametrize("fun", [by_name, by_name_or_default, if_there, in_a_loop, on_the_way])
def test_they_are_compiled(fun):
    """That a name is computed does not make all read that can be reached."""
    s = Settings()
    fast = pb.compile(lambda x: fun(s, x))
    for _ in range(4):
        assert fast(2.0) == fun(s, 2.0)
    assert "would replay" in fast.why(2.0)


def test_what_functions_hold():
    """Names, text and annotations of functions are read as they are at each call."""

    def scale(x: float) -> float:
        """2.0"""
        return x

    fast = pb.compile(lambda x: x * len(scale.__name__) * float(scale.__doc__) + len(notes()))

    def notes():
        return scale.__annotations__

    def change(name, value):
        setattr(scale, name, value)

    changes = [
        ("__name__", "scaled"), ("__doc__", "3.0"), ("__annotations__", {"x": int}),
        ("__qualname__", "f"), ("__name__", "scale"),
    ]  # fmt: skip
    for name, value in [("__doc__", "2.5"), *changes]:
        change(name, value)
        for _ in range(4):
            expected = 2.0 * len(scale.__name__) * float(scale.__doc__) + len(scale.__annotations__)
            assert fast(2.0) == expected
    assert "would replay" in fast.why(2.0)


class Box:
    unit, value, rest = 2.0, 3.0, 5.0


BOX = Box()


def told(*xs):
    """Because of this, which never runs, the first call is observed."""
    return sorted(xs, key=print)


def of_box(x, *names):
    if x is None:
        return told(BOX.unit, BOX.value)
    for name in names:
        x = x * getattr(BOX, name)
    return x


@pytest.mark.parametrize(
    ("names", "calls"), [(("unit", "value"), 2), (("unit", "rest", "value"), 3)]
)
def test_names_that_code_has_as_well_stop_no_rehearsal(names, calls):
    """What is found under them has been read; it is looked up again in each call."""
    fast = pb.compile(of_box, wait=True)
    for _ in range(calls):
        assert not fast.cache_info().paths
        assert fast(1.5, *names) == of_box(1.5, *names)
    assert fast.cache_info().paths
    BOX.value = 7.0
    try:
        assert fast(1.5, *names) == of_box(1.5, *names)
    finally:
        del BOX.value
    assert fast(1.5, *names) == of_box(1.5, *names)

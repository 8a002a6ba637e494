"""What an Array answers when it is asked for its type is what the plain value answers.

Every abstract class of `collections.abc` and `numbers`, the protocols of `typing`, NumPy's and
Python's types, every name that an array or a number has, patterns of `match`, and what Python's own
protocols do: of Python floats, NumPy's scalars and arrays, under each transformation and compiled.
"""

import collections.abc
import math
import numbers
import operator
import os
import typing

import numpy as np
import pytest

import pullback as pb


@typing.runtime_checkable
class Shaped(typing.Protocol):
    shape: tuple


@typing.runtime_checkable
class Hex(typing.Protocol):
    def hex(self): ...


ABSTRACT = [
    *[getattr(collections.abc, name) for name in collections.abc.__all__],
    *[getattr(numbers, name) for name in numbers.__all__], os.PathLike, Shaped, Hex,
    *[x for name, x in vars(typing).items() if name.startswith("Supports")],
]  # fmt: skip
ALIASES = [typing.Iterable, typing.Sized, typing.Sequence, typing.Collection, typing.Hashable,
           typing.Union[list, typing.Iterable], float | collections.abc.Sized,  # noqa: UP007  # the older spelling is asked for
           list | None, (int, collections.abc.Iterable), ((list,), (str, os.PathLike))]  # fmt: skip
TYPES = [
    int, float, complex, bool, str, list, tuple, object, np.ndarray, np.generic, np.number,
    np.inexact, np.floating, np.complexfloating, np.integer, np.float64, np.float32, np.matrix,
]  # fmt: skip
NAMES = sorted({*dir(np.ndarray), *dir(np.float64), *dir(float), *dir(list), *dir(dict)})
PROTOCOLS = {
    "len": len, "iter": iter, "reversed": reversed, "in": lambda x: 1.0 in x, "next": next,
    "x[0]": lambda x: x[0], "x['a']": lambda x: x["a"], "x()": lambda x: x(),
    "x & 1": lambda x: x & 1, "~x": lambda x: ~x, "x << 1": lambda x: x << 1,
    "x @ 1": lambda x: x @ 1, "index": operator.index, "[][x]": lambda x: [1, 2][x],
    "range": lambda x: range(x), "*x": lambda x: len([*x]), "bytes": bytes,
    "a, b = x": lambda x: operator.add(*x), "dict": dict, "**x": lambda x: dict(**x),
    "with": lambda x: type(x).__enter__, "divmod": lambda x: divmod(x, 2.0), "set": set,
    "x.nothing": lambda x: x.nothing, "str + x": lambda x: "a" + x, "[] * x": lambda x: [] * x,
}  # fmt: skip


def patterns(x):
    out = []
    match x:
        case [_, *_]:
            out.append("sequence")
        case {}:
            out.append("mapping")
        case float(v):
            out.append(type(v) is type(x))
        case np.ndarray(shape=(n,)):
            out.append(n)
        case np.ndarray(ndim=n):
            out.append(-n)
        case np.generic():
            out.append("generic")
        case _:
            out.append("something")
    match x:
        case int() | float() | complex():
            out.append("number")
        case np.floating(real=_):
            out.append("floating")
        case object(shape=_):
            out.append("shaped")
    return out


def outcome(f, x):
    try:
        out = f(x)
    except Exception as error:
        return next(kind for kind in RAISED if isinstance(error, kind))
    return out if isinstance(out, (bool, int, list)) else "works"


MISSING = object()
RAISED = (pb.PullbackError, TypeError, IndexError, ValueError, AttributeError, Exception)
REFUSED = {"bytes", "set", "dict"}  # of memory, of a hash


def questions():
    """Each question, with a name."""
    for kind in (*ABSTRACT, *ALIASES, *TYPES):
        yield f"isinstance(x, {kind})", lambda x, kind=kind: isinstance(x, kind)
    for kind in (*ABSTRACT[:-10], *TYPES):
        if kind is not Shaped:  # of protocols with data it may not be asked
            yield f"issubclass(x, {kind})", lambda x, kind=kind: issubclass(type(x), kind)
            yield f"type(x) is {kind}", lambda x, kind=kind: type(x) is kind
            yield f"x.__class__ is {kind}", lambda x, kind=kind: x.__class__ is kind
    for name in NAMES:
        yield f"hasattr(x, {name})", lambda x, name=name: hasattr(x, name)
        denied = lambda x, name=name: hasattr(x, name) or getattr(x, name, MISSING) is MISSING
        yield f"getattr(x, {name}, default) where there is none", denied
        yield f"hasattr(type(x), {name})", lambda x, name=name: hasattr(type(x), name)
    yield "callable(x)", callable
    yield "np.isscalar", np.isscalar
    yield "np.ndim", np.ndim
    yield "np.iterable", np.iterable
    yield "match", patterns
    yield from PROTOCOLS.items()


ASKED = dict(questions())
VALUES = {
    "float": 2.0, "float64": np.float64(2), "float32": np.float32(2), "complex64": np.complex64(2),
    "0-d": np.array(2.0), "vector": np.ones(2), "matrix": np.ones((2, 2), np.float32),
    "empty": np.ones((0, 3)),
}  # fmt: skip
MADE = {
    "x": lambda x: x, "2 * x": lambda x: 2 * x, "x + x": lambda x: x + x, "-x": lambda x: -x,
    "sin": np.sin, "x ** 2": lambda x: x**2, "abs": abs, "float": lambda x: x / 3.0,
    "+x": lambda x: +x, "conjugate": lambda x: x.conjugate() if np.ndim(x) or np.isscalar(x) else x,
    "round": lambda x: round(x, 1) if isinstance(x, (float, np.floating)) else x,
    "hypot": lambda x: math.hypot(abs(np.sum(x)), 1.0),
    "fsum": lambda x: math.fsum([abs(np.sum(x))]), "frexp": lambda x: math.frexp(abs(np.sum(x)))[0],
    "log": lambda x: math.log(abs(np.sum(x)) + 1, 2),
    "sum": np.sum, "ravel": np.ravel, "atleast": np.atleast_1d, "array": lambda x: np.array(x),
}  # fmt: skip


def answers(x, asked=ASKED):
    return {name: outcome(question, x) for name, question in asked.items()}


def total(x):
    return np.sum(np.real(x * x))


MODES = {
    "grad": lambda f, x: pb.grad(lambda x: f(x) or total(x))(x),
    "jvp": lambda f, x: pb.jvp(lambda x: f(x) or x, (x,), (x * 0,)),
    "hessian": lambda f, x: pb.hessian(lambda x: f(x) or total(x))(x),
    "vmap": lambda f, x: pb.vmap(lambda x: f(x) or x)(np.stack([x, x])),
    "eager": lambda f, x: pb.grad(lambda t: f(pb.array(x, requires_grad=True)) or t * t)(1.0),
}


def plain_of(x, mode):
    """An example of a batch is one of NumPy's scalars."""
    return np.asarray(x)[()] if mode == "vmap" and np.ndim(x) == 0 else x


def agrees(name, found, expected):
    """The same answer; or a refusal by us, which the program does not take for an answer."""
    return found == expected or found is pb.PullbackError or (name in REFUSED and found in RAISED)


@pytest.mark.parametrize("mode", MODES)
def test_answers_are_those_of_the_plain_value(mode):
    wrong, n = [], 0
    for name, x in VALUES.items():
        if (mode == "hessian" and np.iscomplexobj(x)) or (mode == "eager" and not np.ndim(x)):
            continue  # `pb.array` of a number is one of NumPy's
        for made, make in MADE.items() if mode == "grad" else [("x", lambda x: x)]:
            found = []
            MODES[mode](lambda x, make=make, found=found: found.append(answers(make(x))), x)
            expected = answers(make(plain_of(x, mode)))
            n += len(expected)
            wrong += [(name, made, k, expected[k], found[0][k]) for k in expected
                      if not agrees(k, found[0][k], expected[k])]  # fmt: skip
    assert not wrong, (len(wrong), n, wrong[:30])


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore:.*falls back")
@pytest.mark.parametrize("name", ["float", "float64", "0-d", "vector"])
def test_answers_in_a_recording_are_those_of_the_plain_value(name):
    """Whatever is called to compile, a derivative too: each time that it is asked."""
    x, wrong = VALUES[name], []
    for made in ("x", "2 * x", "sin", "array", "round", "hypot", "conjugate"):
        make, found = MADE[made], []
        expected = answers(make(x))
        for derived in (lambda f: f, pb.grad):
            found = []

            def f(x, make=make, found=found):
                found.append(answers(make(x)))
                return total(x)

            pb.compile(derived(f))(x)
            wrong += [(made, derived, k, expected[k], one[k]) for one in found for k in expected
                      if not agrees(k, one[k], expected[k])]  # fmt: skip
    assert not wrong, (len(wrong), wrong[:30])


def test_a_number_that_is_rounded_is_an_integer():
    found = []
    for x in (2.5, np.float64(2.5), np.float32(2.5)):
        pb.grad(lambda x: found.append(isinstance(round(x), int)) or x)(x)
    assert found == [True] * 3
    pb.grad(lambda x: found.append(round(x)) or x)(1e300)
    assert found[-1] == round(1e300)


def test_names_that_are_ours_are_still_there():
    def f(x):
        assert hasattr(x, "backward")
        assert hasattr(x, "requires_grad")
        assert isinstance(x, pb.Array)
        assert isinstance(x, (list, pb.Array))
        assert isinstance(x, pb.Array | list)
        assert isinstance(x[0], typing.Union[list, pb.Array])  # noqa: UP007  # the older spelling is asked for
        return np.sum(x)

    pb.grad(f)(np.ones(2))


def test_a_class_with_a_test_of_its_own_is_given_the_array():
    class Positive(type):
        def __instancecheck__(cls, x):
            return bool(np.all(x > 0))

    class Some(metaclass=Positive):
        pass

    assert pb.grad(lambda x: 2 * x if isinstance(x, Some) else x)(3.0) == 2.0
    assert pb.grad(lambda x: 2 * x if isinstance(x, (str, Some)) else x)(-3.0) == 1.0


@pytest.mark.filterwarnings("error")
def test_code_that_asks_before_it_converts():
    """As `spatialmath` does: a number is not iterable, so that it stays one for `math`."""

    def vector(x):
        return np.array(x) if isinstance(x, collections.abc.Iterable) else np.array([x])

    def angle(x):
        return math.cos(x[0]) if hasattr(x, "__len__") else math.cos(x)

    def f(x):
        return vector(x)[0] ** 2 + angle(x)

    for x in (0.5, np.float64(0.5)):
        assert pb.grad(f)(x) == pytest.approx(1.0 - math.sin(0.5))
        assert pb.jvp(f, (x,), (1.0,))[1] == pytest.approx(1.0 - math.sin(0.5))
        compiled = pb.compile(pb.grad(f))
        assert [compiled(x) for _ in range(3)] == pytest.approx([1.0 - math.sin(0.5)] * 3)

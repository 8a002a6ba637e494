"""Objects of libraries: what changes in them between calls is seen, or the function falls back."""

import argparse
import datetime
import decimal
import fractions
import functools
import logging
import queue
import random
import string
import threading
import types
import uuid
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse, spatial, stats
from scipy.interpolate import BSpline, CubicSpline, PchipInterpolator

import pullback as pb


def distinct(name: str) -> str:
    distinct.count += 1
    return f"library_objects_{name}_{distinct.count}"


distinct.count = 0

MAKE: list[Callable[[], Any]] = [
    lambda: logging.Logger("a logger"),
    logging.NullHandler,
    logging.Formatter,
    lambda: logging.LoggerAdapter(logging.Logger("a logger"), {}),
    threading.Thread,
    threading.Event,
    threading.Condition,
    lambda: threading.Barrier(2),
    threading.local,
    queue.Queue,
    random.Random,
    lambda: string.Template("a $b"),
    string.Formatter,
    lambda: argparse.Namespace(k=1.0),
    lambda: types.SimpleNamespace(k=1.0),
    lambda: functools.partial(max, 1.0),
    lambda: uuid.UUID(int=3),
    lambda: decimal.Context(prec=5),
    lambda: fractions.Fraction(1, 3),
    lambda: datetime.timedelta(1),
    lambda: np.polynomial.Polynomial([1.0, 2.0]),
    lambda: np.poly1d([1.0, 2.0]),
    lambda: np.vectorize(lambda x: x),
    lambda: np.ma.masked_array([1.0, 2.0]),
    lambda: CubicSpline(np.arange(4.0), np.arange(4.0) ** 2),
    lambda: PchipInterpolator(np.arange(4.0), np.arange(4.0) ** 2),
    lambda: BSpline(np.arange(6.0), np.arange(4.0), 1),
    lambda: sparse.csr_array(np.eye(2)),
    lambda: stats.norm(loc=1.0),
    lambda: spatial.cKDTree(np.eye(2)),
    lambda: np.errstate(all="ignore"),
]


class Mark:
    """What an attribute is set to."""


def attributes(x: Any) -> list[str]:
    """What an object holds, and a name that is new to it."""
    slots = [vars(base).get("__slots__", ()) for base in type(x).__mro__]
    named = [name for names in slots for name in ([names] if type(names) is str else names)]
    return ["new_name", *getattr(x, "__dict__", {}), *[n for n in named if n[:2] != "__"]]


def stale(make: Callable[[], Any], name: str) -> bool | None:
    """Whether a compiled function keeps the old answer; None if the attribute cannot be set."""
    scope: dict[str, Any] = {"x": make(), "Mark": Mark}
    for f, read in (("f", f"getattr(x, {name!r}, None)"), ("g", f"x.{name}")):
        exec(f"def {f}(v): y = {read}; return v * (2 if isinstance(y, Mark) else 3)", scope)
    compiled = [pb.compile(scope[f], wait=True) for f in "fg"]
    for f in compiled * 2:
        try:
            f(1.0)
        except AttributeError:
            assert f is compiled[1]
    try:
        setattr(scope["x"], name, Mark())
    except (AttributeError, TypeError, ValueError, KeyError):
        return None
    return compiled[0](1.0) != scope["f"](1.0) or compiled[1](1.0) != scope["g"](1.0)


def test_attributes_of_library_objects_that_change_are_seen():
    wrong, asked = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for make in MAKE:
            x = make()
            for name in attributes(x):
                answer = stale(make, name)
                asked += answer is not None
                if answer:
                    wrong.append((type(x).__name__, name))
    assert not wrong
    assert asked > 100


def test_a_logger_that_says_more_is_asked_again():
    for level in (logging.DEBUG, logging.INFO, logging.ERROR):
        for target in ("itself", "parent", "disable"):
            parent = logging.getLogger(distinct("parent"))
            logger = logging.getLogger(f"{parent.name}.child")
            parent.setLevel(logging.CRITICAL)

            def f(x, logger=logger, level=level):
                return 2.0 * x if logger.isEnabledFor(level) else 3.0 * x

            compiled = pb.compile(f, wait=True)
            assert [compiled(1.0), compiled(1.0)] == [3.0, 3.0]
            (logger if target == "itself" else parent).setLevel(logging.DEBUG)
            assert compiled(1.0) == 2.0, (level, target)
            if target == "disable":
                logging.disable(logging.CRITICAL)
                try:
                    assert compiled(1.0) == 3.0, level
                finally:
                    logging.disable(logging.NOTSET)
            assert compiled.cache_info().hits > 0


def test_fields_and_metadata_of_dtypes_may_be_renamed():
    inner = np.dtype([("b", float), ("c", float)])
    for fields in (inner, np.dtype([("a", inner)])):
        for scalar in (False, True):
            table = np.zeros(3, np.dtype(fields.descr))
            part = table if fields is inner else table["a"]
            part["b"], part["c"] = 1.0, 2.0
            held = table[1].copy() if scalar else table

            def f(x, held=held, nested=fields is not inner):
                return x * (held["a"] if nested else held)["b"]

            compiled = pb.compile(f, wait=True)
            compiled(1.0), compiled(1.0)
            (held.dtype if fields is inner else held.dtype["a"]).names = ("c", "b")
            assert np.array_equal(compiled(1.0), f(1.0)), (fields, scalar)


def test_rules_that_are_given_anew_are_used():
    @pb.custom_vjp
    def g(x):
        return 2.0 * x

    g.defvjp(lambda x: (2.0 * x, None), lambda _, out_bar: (out_bar * 3.0,))
    compiled = pb.compile(pb.grad(lambda x: g(x)), wait=True)
    assert [compiled(1.0), compiled(1.0)] == [3.0, 3.0]
    g.defvjp(lambda x: (2.0 * x, None), lambda _, out_bar: (out_bar * 7.0,))
    assert compiled(1.0) == 7.0


def test_functions_behind_lru_cache_run_in_the_first_call_inside_a_transformation():
    for way in (pb.grad, pb.value_and_grad, lambda f: lambda x: pb.jvp(f, (x,), (x,))):
        calls = []

        @functools.lru_cache
        def weight(n, calls=calls):
            calls.append(n)
            return 2.0

        compiled = pb.compile(lambda x, weight=weight: x * weight(1), wait=True)
        way(compiled)(1.0)
        assert calls == [1]


def test_a_function_behind_lru_cache_that_is_hidden_runs_in_python():
    @functools.lru_cache
    def half(n):
        return n * 0.5

    del half.__wrapped__
    f = pb.compile(lambda x: x * half(3), wait=True)
    with pytest.warns(RuntimeWarning, match="whose `__wrapped__` was deleted"):
        assert [f(2.0), f(4.0)] == [3.0, 6.0]
    assert pb.grad(lambda x: x * half(3))(2.0) == 1.5


def test_rules_of_a_primitive_that_are_given_anew_are_used():
    """Each kind of rule, whether it was there before or not."""

    @pb.primitive
    def square(x):
        return x * x

    square.defvjp(lambda out_bar, residual, wanted: (out_bar * 2 * residual.xs[0],))
    x, ones = np.arange(3.0), np.ones(3)
    total = lambda x: np.sum(square(x))
    ways = {
        "grad": (pb.grad(total), pb.compile(pb.grad(total), wait=True)),
        "of compiled": (pb.grad(total), pb.grad(pb.compile(total, wait=True))),
        "jvp": [f(lambda x: pb.jvp(square, (x,), (ones,))[1]) for f in (lambda f: f, pb.compile)],
        "vmap": (pb.vmap(square), pb.compile(pb.vmap(square), wait=True)),
    }  # fmt: skip
    changes = [
        lambda: square.defvjp(lambda out_bar, residual, wanted: (out_bar * 7.0,)),
        lambda: square.defjvp(lambda out, xs, x_dots: x_dots[0] * 5.0),
        lambda: square.defbatch(lambda xs, mapped, size: xs[0] * 11.0),
        lambda: square.defjvp(lambda out, xs, x_dots: x_dots[0] * 3.0),
        lambda: square.defbatch(lambda xs, mapped, size: xs[0] * 13.0),
    ]
    for change in [lambda: None, *changes]:
        change()
        for name, (plain, compiled) in ways.items():
            for _ in range(3):
                assert np.array_equal(compiled(x), plain(x)), name


def test_a_function_that_is_decorated_to_give_no_warnings():
    """As machine code; not if it is to raise, nor after the decorator has been changed so."""
    wrong = []
    for modes in ({"all": "ignore"}, {"divide": "warn", "over": "ignore"}, {"divide": "raise"}):
        quiet = np.errstate(**modes)
        f = quiet(lambda x: np.sum(1.0 / x))
        fast = pb.compile(f, wait=True)
        raises = "raise" in modes.values()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some fall back to Python
            found = [fast(np.arange(3.0) + k) for k in (1.0, 2.0, 1.0, 2.0)]
            whole = bool(fast.replay[1])
            quiet._divide = "raise"
            try:
                found.append(fast(np.arange(3.0)))
                wrong.append((modes, "it does not raise"))
            except FloatingPointError:
                pass
        if whole == raises or found[1] != f(np.arange(3.0) + 2):
            wrong.append((modes, found, whole))
    assert not wrong


def test_decimal_numbers_of_the_program():
    """Immutable, so by what they say, and by the context in which they compute."""
    held = {"a": decimal.Decimal("1.10"), "b": [decimal.Decimal(7)]}

    def f(x):
        return x * float(held["a"]) + float(held["b"][0] / 3)

    fast = pb.compile(f, wait=True)
    wrong = []
    changes = [
        lambda: None,
        lambda: held.update(a=decimal.Decimal("2.5")),
        lambda: held["b"].__setitem__(0, decimal.Decimal(8)),
        lambda: setattr(decimal.getcontext(), "prec", 3),
        lambda: setattr(decimal.getcontext(), "rounding", decimal.ROUND_UP),
    ]
    with decimal.localcontext():
        for k, change in enumerate(changes):
            change()
            found = [fast(np.arange(3.0)).tolist() for _ in range(4)]
            if found != [f(np.arange(3.0)).tolist()] * 4 or not fast.replay[1]:
                wrong.append((k, found, fast.refusal))
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")
@pytest.mark.parametrize("maxsize", [None, 1])
def test_results_that_lru_cache_has_forgotten_are_computed_again_and_kept(maxsize):
    """Cleared, or pushed out by others: a call that only replayed would leave the cache empty."""

    def results(compiled):
        scale = [2.0]

        @functools.lru_cache(maxsize=maxsize)
        def weight(n):
            return n * scale[0]

        f = compiled(lambda x: x * weight(2))
        found = [f(1.0), f(1.0), f(1.0)]
        weight.cache_clear() if maxsize is None else weight(5)
        found.append(f(1.0))
        scale[0] = 3.0  # of which what is kept knows nothing
        return [*found, f(1.0), f(1.0), weight(2)]

    assert results(lambda f: pb.compile(f, wait=True)) == results(lambda f: f)


@pytest.mark.parametrize("kept", ["np.full(3, K[0])", "K[0]", "[K[0]]"])
def test_results_that_lru_cache_holds_are_those_that_recordings_take(kept):
    """Also where the call that is recorded gives the same with others."""
    code = f"""
@functools.lru_cache
def scale(n): return np.multiply({kept}, n)
K = [0.5]
def f(x): return np.sum(np.floor(x) * scale(4))
"""
    results = []
    for compiled in (False, True):
        names = {"np": np, "functools": functools}
        exec(code, names)
        f = pb.compile(names["f"], wait=True) if compiled else names["f"]
        out = [f(np.full(3, 2.0))]
        names["K"][0] = 3.0
        results.append(out + [f(np.full(3, x)) for x in (0.0, 0.5, 2.0, 3.0)])
    assert results[0] == results[1]

"""What is asked of a case: value, gradient and compiled gradient, and how fast they are.

Each package answers in a process of its own, where its modules are imported once for all of its
cases. What packages change when they are imported, such as functions of NumPy's, stays in there,
and a case that takes too long ends with its process, whatever it is doing.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
import traceback
import warnings
from contextlib import suppress
from multiprocessing import Pipe
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.core.reach.namespaces import apart

from .cases import REFUSED, WARNED
from .lists import BY_NAME

BUSY = 180.0  # seconds of processor time for one case, whatever else the machine does
LONGEST = 1800.0  # seconds for one that waits
MISSING = "is not installed: "
# What many packages import is imported once, before the processes begin.
COMMON = (
    "matplotlib.pyplot", "numba", "pandas", "scipy.integrate", "scipy.interpolate",
    "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse.linalg", "scipy.spatial",
    "scipy.special", "scipy.stats", "sympy",
)  # fmt: skip
ROUNDS = 15
MEASURED = 6.0  # seconds for the rounds of one case, if three have been made
SETTLED = 0.2  # seconds of calls, and more until machine code and the choice of it are made
STEADY, UNSETTLED = 5000, 30.0  # calls and seconds, after which it is what it is


class Child:
    """A process that answers for the cases of one package."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.connection, theirs = Pipe()
        self.process = os.fork()
        if not self.process:
            self.connection.close()
            serve(theirs)
        theirs.close()

    def ask(self, name: str) -> list[Any]:
        """What is wrong, if anything, and a row of the table, if the case is to have one."""
        try:
            self.connection.send(name)
            if self.connection.poll(LONGEST):
                return self.connection.recv()
            failure = f"no answer within {LONGEST:.0f} s"
        except (EOFError, OSError):
            failure = f"its process ended: a crash, or more than {BUSY:.0f} s of processor time"
        self.end()
        return [failure, None]

    def end(self) -> None:
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = 0


CURRENT: list[Child] = []


def ask(name: str) -> list[Any]:
    """Ask for a case; the process of the package before ends."""
    package = BY_NAME[name][0]
    for module in COMMON if not CURRENT else ():
        with suppress(ImportError), warnings.catch_warnings(action="ignore"):
            importlib.import_module(module)
    if CURRENT and (CURRENT[0].package != package or not CURRENT[0].process):
        CURRENT.pop().end()
    if not CURRENT:
        CURRENT.append(Child(package))
    return CURRENT[0].ask(name)


def serve(connection: Any) -> None:
    """Answer until the connection ends."""
    try:
        while True:
            name = connection.recv()
            signal.setitimer(signal.ITIMER_PROF, BUSY)  # then it is ended, in C code as well
            connection.send(answer(BY_NAME[name]))
            signal.setitimer(signal.ITIMER_PROF, 0)
    finally:
        os._exit(0)


def answer(case: Any) -> list[Any]:
    package, fun, _ = case
    warnings.simplefilter("ignore")  # those of the packages
    try:
        try:
            importlib.import_module(package)
        except ImportError as error:
            return [f"`{package}` {MISSING}{error}", None]
        with np.errstate():  # packages change it when they are imported
            check(case)
            return ["", None if fun.__name__ in REFUSED | WARNED else row(case)]
    except BaseException:
        return [traceback.format_exc(limit=-12), None]


# Whether it is right.


def difference(fun: Any, x: Any, dot: Any) -> list[float]:
    size = max(np.abs(x).mean(), 1e-3)
    out = []
    for h in (1e-4 * size, 1e-5 * size):
        near, middle, far = [
            float(np.sum(fun((x + k * h * dot)[()]))) - float(np.sum(fun((x - k * h * dot)[()])))
            for k in (1, 2, 3)
        ]
        out.append((45 * near - 9 * middle + far) / (60 * h))
    return out


def moved_by_last_digits(gradient_of: Any, x: Any, gradient: Any) -> Any:
    """How far a gradient moves with the last digit of its argument: so far rounding may move it."""
    shape, size = np.shape(x), np.size(x)
    digits = [np.cos(k * (1.0 + np.arange(size))).reshape(shape)[()] for k in range(1, 6)]
    moved = [gradient_of(x * (1.0 + np.sign(d) * np.finfo(float).eps)) for d in digits]
    return max(np.max(np.abs(each - gradient)) for each in moved)


def check(case: Any) -> None:
    """Raise if value, gradient or compiled gradient are not what they should be."""
    _, fun, (x,) = case
    dot = np.cos(0.4 + np.arange(np.size(x))).reshape(np.shape(x))
    given = x if np.ndim(x) else float(x)
    first, second = difference(fun, np.asarray(x, dtype=float), dot)
    tolerance = 1e-4 * max(abs(first), 1e-6) + 3 * abs(first - second)
    if fun.__name__ in REFUSED:
        with pytest.raises((pb.PullbackError, TypeError)):
            pb.value_and_grad(fun)(given)
        return
    if fun.__name__ in WARNED:
        fun(given)  # which leaves its result in caches
        with pytest.warns(pb.LostDerivativeWarning):
            pb.value_and_grad(fun)(given)
        return
    value, gradient = pb.value_and_grad(fun)(given)
    np.testing.assert_allclose(value, fun(given), rtol=1e-12)
    found = float(np.sum(gradient * dot))
    assert abs(found - first) <= tolerance, f"{found} is not {first}"
    compiled = pb.compile(pb.grad(fun))
    for _ in range(3):
        actual = compiled(given)
    if not np.allclose(actual, gradient, rtol=1e-9, atol=1e-12):
        last = moved_by_last_digits(pb.grad(fun), given, gradient)
        np.testing.assert_allclose(actual, gradient, rtol=1e-9, atol=1e-12 + last)


# How fast it is.


def frames_of(call: Any, x: Any) -> set[str]:
    """The Python functions of the program and of packages that a call runs."""
    seen: set[str] = set()
    here = sys._getframe().f_code

    def profile(frame: Any, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__"))
        ours = frame.f_code is here or module.startswith("namedtuple_")
        if event == "call" and not (ours or apart(frame.f_globals)):
            seen.add(f"{module}.{frame.f_code.co_qualname}")

    sys.setprofile(profile)
    try:
        call(x)
    finally:
        sys.setprofile(None)
    return seen


def seconds(calls: list[Any], x: Any) -> list[float]:
    """The best time of each call, measured in turn: other work on the machine only adds."""
    times: list[list[float]] = [[] for _ in calls]
    counts = []
    for call in calls:
        begin = time.perf_counter()
        call(x)
        counts.append(max(1, min(200, int(2e-3 / max(time.perf_counter() - begin, 1e-7)))))
    start = time.perf_counter()
    for k in range(ROUNDS):
        for call, count, found in zip(calls, counts, times, strict=True):
            begin = time.perf_counter()
            for _ in range(count):
                call(x)
            found.append((time.perf_counter() - begin) / count)
        if k > 1 and time.perf_counter() - start > MEASURED:
            break
    return [min(found) for found in times]


def is_settled(compiled: Any) -> bool:
    """Whether later calls go the way of this one: each path has been tried, or there is none.

    A path whose calls are entered directly, or that another one replaced, may never be tried.
    """
    paths = [path for entry in compiled.entries.values() for path in entry.paths]
    tried = [path.trial is not None and path.trial.is_over for path in paths]
    return compiled.refusal is not None or (bool(paths) and all(tried))


def row(case: Any) -> tuple[list[str], bool, str]:
    """Package, function and times; whether it is compiled whole, and why not.

    A gradient is compiled whole if a steady call runs no Python function outside of pullback.
    """
    package, fun, (x,) = case
    given = x if np.ndim(x) else float(x)
    fun(given)
    gradient = pb.grad(fun)
    compiled = pb.compile(gradient)
    begin, calls = time.perf_counter(), 0
    while calls < 12 or not is_settled(compiled) or time.perf_counter() - begin < SETTLED:
        compiled(given)
        calls += 1
        if calls > STEADY or time.perf_counter() - begin > UNSETTLED:
            break
    before = compiled.cache_info().hits
    outside = frames_of(compiled, given)
    whole = compiled.cache_info().hits > before and not outside
    times = seconds([fun, gradient, compiled], given)
    reason = "" if whole else compiled.why(given)
    shown = [f"{1e6 * t:.1f}" if t < 1e-4 else f"{1e6 * t:.0f}" for t in times]
    return [package, fun.__name__, *shown, "yes" if whole else ""], whole, str(reason)

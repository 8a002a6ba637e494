"""Functions that numba has compiled take part as the Python that they are written in.

numba is not needed: these classes have the names and attributes of numba's, and take plain numbers
alone, as machine code does. Packages that are compiled by numba itself are in `tests/clients`.
"""

import functools
import io
import math
import weakref

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from pullback.core.reach.call_tables import Resolver

PLAIN = (float, np.ndarray)


class CPUDispatcher:
    """`numba.njit`."""

    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.calls = 0
        weakref.finalize(self, int)

    def __call__(self, *args):
        if any(isinstance(x, Resolver) for x in self.__wrapped__.__code__.co_consts):
            raise TypeError("cannot determine Numba type of <class 'Resolver'>")  # as it compiles
        if any(isinstance(x, Array) for x in args) or not isinstance(args[0], PLAIN):
            raise TypeError("cannot determine Numba type")
        self.calls += 1
        return self.__wrapped__(*args)


class DUFunc(CPUDispatcher):
    """`numba.vectorize`."""

    types = ("dd->d",)

    def __call__(self, *args):
        return np.vectorize(super().__call__, otypes="d")(*map(float, args))[()]


class GUFunc(CPUDispatcher):
    """`numba.guvectorize`."""

    types = ("dd->dd",)
    signature = "(n),()->(n),()"


class JitClassType(type):
    """`numba.experimental.jitclass`: a class derived from the one that was written."""

    def __call__(cls, *args):
        raise TypeError("cannot determine Numba type")


for each in (CPUDispatcher, DUFunc, GUFunc, JitClassType):
    each.__module__ = "numba.core"


@CPUDispatcher
def decay(x, rate):
    return x * math.exp(-rate)


@CPUDispatcher
def energy(x):
    total = 0.0
    for i in range(len(x)):
        total += decay(x[i], 0.5) ** 2
    return total


@DUFunc
def bent(x, y):
    return x * y if x > 1.0 else y


@DUFunc
def twice_bent(x, y):
    return bent(x, y) * y


@GUFunc
def scaled(x, factor, out, total):
    for i in range(len(x)):
        out[i] = x[i] * factor
        total[0] += out[i] ** 2


class Decay:
    def __init__(self, rate):
        self.rate = rate

    def at(self, x):
        return x * math.exp(-self.rate)


JitDecay = JitClassType("Decay", (Decay,), {})
CONSTANT = np.array([1.0, 2.0])
PROGRAMS = {
    "a function": lambda x: decay(x[0], x[1]),
    "one that calls another": energy,
    "of lists": lambda x: energy([x[0], 2.0, x[2]]),
    "beside plain numbers": lambda x: decay(x[0], x[1]) * decay(2.0, 0.5) + decay(3.0, x[2]),
    "mapped": lambda x: sum(map(functools.partial(decay, 2.0), x)),
    "elements": lambda x: np.sum(bent(x, 2.0) * bent(x[2], x)),
    "elements of elements": lambda x: np.sum(twice_bent(x, 2.0)),
    "parts": lambda x: np.sum(scaled(x, x[0])[0]) + scaled(np.stack([x, x * x]), x[0])[1].sum(),
    "a class": lambda x: JitDecay(x[0]).at(x[1]),
    "a root": lambda x: root(x[0]),
}  # fmt: skip


@CPUDispatcher
def squared(t, a):
    return t * t - a


def root(a):
    from scipy.optimize import brentq

    return brentq(squared, 0.1, 3.0, args=(a,))


def test_numba():
    x = np.array([0.6, 1.5, 2.5])
    squares = np.sum(x**2) + np.sum(x**4)
    first = np.array([1.0, 0.0, 0.0])
    wanted = {
        "a function": [np.exp(-1.5), -0.6 * np.exp(-1.5), 0.0],
        "one that calls another": 2 * x * np.exp(-1.0),
        "of lists": [2 * x[0] * np.exp(-1.0), 0.0, 2 * x[2] * np.exp(-1.0)],
        "beside plain numbers": [2.0 * np.exp(-2.0), -1.2 * np.exp(-2.0), -3.0 * np.exp(-2.5)],
        "mapped": -2.0 * np.exp(-x),
        "elements": [2 * x[2], 4 * x[1] * x[2], 2 * x[0] + 2 * x[1] ** 2 + 6 * x[2] ** 2],
        "elements of elements": [0.0, 4.0, 4.0],
        "parts": x[0] + x[0] ** 2 * (2 * x + 4 * x**3) + first * (np.sum(x) + 2 * x[0] * squares),
        "a class": [-1.5 * np.exp(-0.6), np.exp(-0.6), 0.0],
        "a root": [0.5 / np.sqrt(0.6), 0.0, 0.0],
    }
    faults = {}
    for name, f in PROGRAMS.items():
        gradient = pb.grad(f)(x)
        compiled = pb.compile(pb.grad(f))
        results = [gradient, *[compiled(x) for _ in range(3)], pb.jacobian(f, mode="forward")(x)]
        for result in results:
            if not np.allclose(result, wanted[name], rtol=1e-8, atol=1e-10):
                faults[name] = result, wanted[name]
    assert faults == {}


def test_plain_numbers_run_machine_code():
    before = energy.calls
    assert pb.grad(lambda x: x * energy(CONSTANT))(2.0) == energy(CONSTANT)
    assert energy.calls == before + 2


RATE = [2.0]


class OfC(CPUDispatcher, io.StringIO):
    """One that derives from a class of C's, as numba's do: what it holds cannot be read."""


OfC.__module__ = "numba.core"


@OfC
def decayed(x):
    return x * math.exp(-x * RATE[0])


def test_recorded():
    """What it reads is compared as of a function of the program."""
    compiled = pb.compile(pb.grad(lambda x: decayed(x) ** 2), wait=True)
    for rate in (2.0, 2.0, 2.0, 3.0, 3.0):
        RATE[0] = rate
        assert compiled(0.5) == pytest.approx(np.exp(-rate) * (1 - 0.5 * rate), rel=1e-12)
    assert compiled.cache_info().hits
    assert compiled.refusal is None

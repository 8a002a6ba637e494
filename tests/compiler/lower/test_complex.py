"""Complex numbers in machine code: special values, and programs made at random with gradients."""

import itertools
import warnings

import numpy as np
import pytest

from pullback.compiler.lower.complex_numbers import ComplexEmit
from pullback.compiler.program import Program
from pullback.testing import staged
from pullback.transforms.reverse import vjp

PARTS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-320, 1e300, -1e300, 3.5, -2.25, 710.0]
# Functions by how many units in the last place of the modulus they may be away.
ALONE = {
    0: [
        np.negative, np.conjugate, np.absolute, np.square, np.reciprocal, np.sin, np.cos, np.tan,
        np.sinh, np.cosh, np.tanh, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh,
        np.arctanh, np.real, np.imag, np.isnan, np.isinf, np.isfinite, np.logical_not,
        lambda z: z**2, lambda z: z**3, lambda z: z**7, lambda z: z**2.0, lambda z: z**-1,
        lambda z: z**1, lambda z: 1j * z, lambda z: z + 1.5, lambda z: z / 2, lambda z: 2 / z,
    ],
    4: [np.sign, np.angle],
    8: [np.exp, np.exp2, np.log, np.log2, np.log10, np.sqrt, lambda z: z**0.5],
}  # fmt: skip
TOGETHER = [
    np.add, np.subtract, np.multiply, np.divide, np.equal, np.not_equal, np.logical_and,
    lambda x, y: np.where(x.real > 0, x, y),
]  # fmt: skip


def numbers(parts, dtype):
    re, im = np.array(list(itertools.product(parts, parts))).T
    out = np.empty(len(re), dtype)
    out.real, out.imag = re, im
    return out


def random_numbers(random, n, dtype=np.complex128):
    size = np.exp(random.normal(size=(2, n)) * 3) * random.normal(size=(2, n))
    return (size[0] + 1j * size[1]).astype(dtype)


def bits_differ(x, y):
    if np.iscomplexobj(y):
        return bits_differ(x.real, y.real) | bits_differ(x.imag, y.imag)
    same = (x == y) if y.dtype == bool else (x == y) & (np.signbit(x) == np.signbit(y))
    return ~(same | ((x != x) & (y != y)))


def units_apart(x, y):
    """How far x is from y in units in the last place of |y|; inf where one alone is finite."""
    with np.errstate(all="ignore"):
        size = np.abs(y)
        parts = [(x.real, y.real), (x.imag, y.imag)] if np.iscomplexobj(y) else [(x, y)]
        apart = np.zeros(x.shape)
        for u, v in parts:
            unit = np.spacing(np.where(np.isfinite(size), size, np.abs(v)))
            same = (u == v) | ((u != u) & (v != v))
            apart = np.fmax(apart, np.where(same, 0, np.abs(u - v) / unit))
            apart[~same & ~np.isfinite(u - v)] = np.inf
    return apart


def check(f, xs, ulp=0):
    """The messages of what is wrong with a compiled function at xs."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # NumPy's, of odd numbers
        right = f(*xs)
        program = Program(staged(f, xs)[0], 0)
        (out,) = program(*xs)
        name = getattr(f, "__name__", "")
        if "by NumPy" in program.listing:
            return [f"{name}{f.__code__.co_consts if name == '<lambda>' else ''} is left to NumPy"]
        bad = bits_differ(out, right)
        if ulp:
            bad[bad] &= units_apart(out[bad], right[bad]) > ulp
    at = np.flatnonzero(bad)[:2]
    return [f"{name} of {[x[i] for x in xs]} is {out[i]}, not {right[i]}" for i in at]


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_special_values(dtype):
    """Every function of one number, at all pairs of special parts and at random ones."""
    random = np.random.default_rng(0)
    wrong = []
    with np.errstate(over="ignore"):
        xs = np.concatenate([numbers(PARTS, dtype), random_numbers(random, 501, dtype)])
        few = numbers(PARTS[:9], dtype)
    for ulp, functions in ALONE.items():
        for f in functions:
            wrong += check(f, [xs], ulp)
    for f in TOGETHER:
        wrong += check(f, [np.repeat(few, len(few)), np.tile(few, len(few))])
        wrong += check(f, [few[::-1], few]) if dtype is np.complex128 else []
    assert not wrong, "\n".join(wrong)


def test_declared_precision():
    """The bounds above are those that the methods declare."""
    for name, ulp in (("exp", 8), ("log", 8), ("sqrt", 8), ("sign", 4), ("mul", 0), ("div", 0)):
        assert getattr(ComplexEmit, name).ulp == ulp


UNARY = [
    np.conj, np.negative, np.exp, np.abs, np.real, np.imag, np.square, np.sin, np.tanh, np.angle,
    lambda x: np.sqrt(x + 2), lambda x: np.log(x + 3j), lambda x: x * 2j, lambda x: x**3,
    lambda x: 1 / (x + 2.5j), lambda x: x[::-1], lambda x: x - np.mean(x), lambda x: x.T,
    lambda x: np.concatenate([x[1:], x[:1]]), lambda x: np.where(np.abs(x) > 1, x / 2, x),
    lambda x: x.astype(np.complex64), lambda x: x[np.array([2, 0, 1, 1])[: len(x)]],
    lambda x: x * np.sum(x.real), lambda x: x / np.linalg.norm(x), lambda x: np.cumsum(x, axis=0),
]  # fmt: skip
BINARY = [
    np.add, np.subtract, np.multiply, lambda x, y: x / (y + 2.5j), lambda x, y: x * np.conj(y),
    lambda x, y: x @ y, lambda x, y: np.einsum("ij,kj->ik", x, y),
    lambda x, y: np.where(x.real > y.real, x, y), lambda x, y: x.real + 1j * y.imag,
]  # fmt: skip


def generated(seed):
    """A program of complex matrices, as steps: a function, and what it is applied to."""
    random = np.random.default_rng(seed)
    steps = []
    for n in range(2, 2 + int(random.integers(3, 12))):
        functions = UNARY if random.random() < 0.5 else BINARY
        f = functions[random.integers(len(functions))]
        steps.append((f, random.integers(n, size=1 if functions is UNARY else 2)))

    def program(x, y):
        values = [x, y]
        for f, operands in steps:
            value = f(*[values[i] for i in operands])
            values.append(value / (1 + np.max(np.abs(value))))
        out = values[-1]
        return np.sum(np.real(out * (1 + 2j)))

    return program, [random_numbers(random, 16).reshape(4, 4) / 9 for _ in "xy"]


@pytest.mark.share(2)
@pytest.mark.parametrize("start", range(0, 40, 10))
def test_generated_programs(start):
    """Values and gradients of compiled programs are those of the graphs under NumPy."""
    wrong = []
    for seed in range(start, start + 10):
        program, xs = generated(seed)
        for what, f in (
            ("value", lambda *xs, f=program: (f(*xs),)),
            ("gradient", lambda *xs, f=program: vjp(f, *xs)[1](np.float64(1))),
        ):
            graph, _ = staged(f, xs)
            single = any(x.spec.dtype == np.complex64 for e in graph.equations for x in e.outputs)
            with np.errstate(all="ignore"):
                expected, outs = graph.evaluate(*xs), Program(graph, 0)(*xs)
            for out, right in zip(outs, expected, strict=True):
                size = np.max(np.abs(right), initial=1e-3)
                far = np.max(np.abs(out - right)) / size
                if not (far < (1e-4 if single else 1e-11) or not np.isfinite(size)):
                    wrong.append(f"seed {seed}: {what} is {far} away: {out} is not {right}")
    assert not wrong, "\n".join(wrong)

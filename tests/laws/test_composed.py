"""Compiled functions inside transformations give what the functions give, on all samples."""

import warnings
import zlib

import numpy as np

import pullback as pb
from pullback.compiler.call.compiled import compile
from pullback.core.differences import precision
from pullback.core.spec import is_inexact
from pullback.core.tree import flatten, unflatten
from pullback.testing import Problem
from tests.budgets import LONG
from tests.laws.common import OTHERS, for_all_samples
from tests.laws.test_compiled import compare


def function_of(problem):
    """The sample as a function of its floating leaves; it closes over nothing that changes."""
    fun, leaves, structure = problem.sample.fun, problem.leaves, problem.structure
    positions, kwargs = problem.positions, problem.sample.kwargs

    def function(*xs):
        whole = list(leaves)
        for i, x in zip(positions, xs, strict=True):
            whole[i] = x
        outs = flatten(fun(*unflatten(structure, whole), **kwargs))[0]
        return tuple([x for x in outs if hasattr(x, "dtype") and is_inexact(x.dtype)])

    return function


def orders(problem):
    """Transformations of a function of the leaves, as functions of the leaves, by name."""
    xs = problem.xs
    bars = tuple([problem.like(out) for out in problem(*xs)])
    dots = tuple([problem.like(x) for x in xs])

    def reverse(f):
        return lambda *xs: pb.vjp(f, *xs)[1](bars)

    def forward(f):
        return lambda *xs: pb.jvp(f, xs, dots)[1]

    def eager(f):
        def gradients(*xs):
            leaves = [pb.array(x, requires_grad=True) for x in xs]
            total = 0.0
            for out, bar in zip(f(*leaves), bars, strict=True):
                total = total + np.sum(np.real(out * bar))
            if total.requires_grad:
                total.backward()
            return [x * 0 if y.grad is None else y.grad for x, y in zip(xs, leaves, strict=True)]

        return gradients

    def mapped(f):
        return lambda *xs: pb.vmap(reverse(f))(*[np.stack([x, x]) for x in xs])

    found = {
        "vjp": reverse,
        "jvp": forward,
        "eager": eager,
        "vmap of vjp": mapped,
        "jvp of vjp": lambda f: forward(reverse(f)),
        "vjp of vjp": lambda f: lambda *xs: pb.vjp(reverse(f), *xs)[1](dots),
        "vjp of checkpoint": lambda f: reverse(pb.checkpoint(f)),
        "jvp of jvp": lambda f: forward(forward(f)),
        "vjp of jvp": lambda f: reverse(forward(f)),
        "compile": lambda f: compile(reverse(f)),
    }
    if LONG:
        return found
    # One for each sample, another one for the next.
    name = list(found)[zlib.crc32(str(problem.sample).encode()) % len(found)]
    return {name: found[name]}


def outcome(f, xs):
    try:
        return flatten(f(*xs))[0]
    except Exception as error:
        return type(error)


def check_composed(sample):
    """Derivatives and batches of a compiled function are those of the function."""
    problem = Problem(sample)
    xs = problem.xs
    if not xs or not problem(*xs):
        return
    plain = function_of(problem)
    tolerance = 500 * precision(list(problem(*xs)), xs)
    for name, transform in orders(problem).items():
        fast = compile(plain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # it falls back to Python
            expected = outcome(transform(plain), xs)
            for _ in range(2):
                actual = outcome(transform(fast), xs)
                if isinstance(expected, type):
                    assert actual is expected, name
                    continue
                assert isinstance(actual, list), f"{name}: {actual}"
                assert len(actual) == len(expected), name
                for a, b in zip(actual, expected, strict=True):
                    if not np.ndim(b):  # what has no axes may be an array or a scalar
                        a, b = np.asarray(a), np.asarray(b)
                    compare(a, b, False, tolerance, name)


test_composed = for_all_samples(check_composed, functions=4, shares=OTHERS)

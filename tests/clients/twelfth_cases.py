"""The twelfth list: calls that a program found, before the first of their gradients was taken.

Packages were drawn by a hash of their names from a survey of 297. Of each, public functions and
methods were called with numbers, vectors and matrices; of those that gave finite floats which the
first argument moves, a hash took two. A line of `twelfth_calls.txt` is a package, what is called,
and the kinds of its arguments: of the constructor's before "|", of the method's behind it; "-"
stands for an attribute.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path

import numpy as np

from .cases import case

NUMBERS = (0.7, 0.4, 1.3, 2.1, 0.9, 0.55, 1.7, 0.25)
LONG = np.array([0.62, 1.31, 0.83, 2.2, 1.05, 0.41, 1.77, 0.3, 0.95, 1.42, 0.71, 1.9])
MATRIX = np.array([[2.1, 0.3, 0.2], [0.4, 1.7, 0.1], [0.25, 0.15, 1.9]])
KINDS = {
    "s": lambda k: NUMBERS[k % 8],
    "S": lambda k: NUMBERS[k % 8] * 100,
    "v": lambda k: LONG * (1 + 0.13 * k) + 0.07 * np.sin(2.0 * k * np.arange(12)),
    "w": lambda k: LONG[:3] * (1 + 0.2 * k),
    "m": lambda k: MATRIX + 0.05 * k * np.eye(3),
}


def total(out):
    """One number of all floats in a result: of arrays, tuples and lists."""
    if isinstance(out, (bool, str, bytes, int)) or out is None:
        return None
    if isinstance(out, (tuple, list)):
        parts = [part for part in map(total, out) if part is not None]
        return sum(parts[1:], parts[0]) if parts else None
    if not isinstance(out, (float, complex, np.generic, np.ndarray)):
        return None
    kind = np.result_type(out).kind
    if kind == "c":
        return np.sum(np.real(out) + 0.3 * np.imag(out))
    return np.sum(out) if kind == "f" and np.size(out) else None


def called(module, name, kinds, x):
    first, bar, behind = kinds.partition("|")
    name, _, member = name.partition(".")
    thing = getattr(importlib.import_module(module), name)
    out = thing(x, *[KINDS[kind](k + 1) for k, kind in enumerate(first[1:])])
    if bar:
        out = getattr(out, member)
        if behind != "-":
            out = out(*[KINDS[kind](k + 2) for k, kind in enumerate(behind)])
    return total(out)


for line in (Path(__file__).parent / "twelfth_calls.txt").read_text().splitlines():
    package, module, name, kinds = line.split()
    call = functools.partial(called, module, name, kinds)
    call.__name__ = f"{module}.{name}"
    case(module.partition(".")[0], KINDS[kinds[0]](0))(call)

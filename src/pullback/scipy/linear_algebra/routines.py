"""Rules for routines of BLAS and LAPACK: the routine's numbers, with a program's derivative.

    solver, = get_lapack_funcs(("potrs",), (factor,)); x, info = solver(factor, b, lower=True)

A routine is described once for all its letters (s, d, c, z), by a program of its arguments that
computes the floating-point results; the other results, such as pivots, are LAPACK's. The numbers
are SciPy's, bit for bit.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.linalg import blas, lapack

from ...core.array import Array
from ...core.errors import ConversionError
from ...core.operands import as_array, leaves
from ...core.reach.session import call_outside
from ...core.spec import Spec, is_inexact, spec_of
from ...primitives.exact import exact
from ..solving.serving import serves_method
from ..solving.undetermined import undetermined
from .kinds import WithoutDerivative
from .strides import Strides, refuse_shared

DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
SIGNATURE = re.compile(r"(?P<results>.*?) = \w+\((?P<needed>[^\[]*)(\[(?P<rest>.*)\])?\)")


def signature_of(original: Any) -> tuple[list[str], inspect.Signature]:
    """The names of the results, and the arguments, as the first line of the docstring has them."""
    match = SIGNATURE.match(original.__doc__.splitlines()[0])
    assert match is not None, original.__doc__
    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    parameters = [
        inspect.Parameter(name, kind, default=default)
        for names, default in ((match["needed"], empty), (match["rest"] or "", None))
        for name in names.split(",")
        if name
    ]
    return match["results"].split(","), inspect.Signature(parameters)


class FortranRoutine:
    """One routine, for numbers of one type.

    program    gives the floating results by name, from the operands and options that were given;
               those that it leaves out have no derivative; it may ask for what LAPACK `found`,
               to have the same order and signs
    written    the operand into which a result is written: always, or if `overwrite_` allows it
    """

    def __init__(
        self,
        original: Any,
        name: str,
        dtype: Any,
        operands: list[str],
        program: Callable[..., dict[str, Any]],
        written: Mapping[str, str],
    ) -> None:
        self.original, self.name, self.dtype = original, name, np.dtype(dtype)
        self.operands, self.program, self.written = operands, program, written
        self.results, self.signature = signature_of(original)
        self.compares = "found" in inspect.signature(program).parameters
        self.values = lru_cache(maxsize=None)(self.values_of)

    def values_of(self, names: tuple[str, ...], ranks: tuple[int, ...]) -> WithoutDerivative:
        """The routine's results for operands with these names and numbers of dimensions."""

        def found(*xs: Any, **options: Any) -> Any:
            operands = dict(zip(names, xs, strict=True))
            for name in self.written.values():
                if name in operands and self.always(name):
                    operands[name] = np.array(operands[name])
            return self.original(**operands, **options)

        def shape(*specs: Any, **options: Any) -> Any:
            # Only shapes and types count, which the routine has for any numbers.
            out = call_outside(found, [example(spec) for spec in specs], options)
            out = tuple([spec_of(np.asarray(x)) for x in out]) if type(out) is tuple else out
            return out if type(out) is tuple else spec_of(np.asarray(out))

        n_out = len(self.results) if len(self.results) > 1 else None
        return WithoutDerivative(self.name, found, shape, ranks, n_out)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = dict(self.signature.bind(*args, **kwargs).arguments)
        targets: dict[str, Any] = {result: given.get(name) for result, name in self.written.items()}
        into: dict[str, Any] = {
            result: targets[result]
            for result, name in self.written.items()
            if self.takes(targets[result], given.get(f"overwrite_{name}", self.always(name)))
        }
        given = {key: x for key, x in given.items() if x is not None and "overwrite" not in key}
        operands = {key: as_array(given.pop(key)) for key in self.operands if key in given}
        ranks = tuple([x.ndim for x in operands.values()])
        found = self.values(tuple(operands), ranks)(*operands.values(), **given)
        outs = dict(zip(self.results, found if len(self.results) > 1 else (found,), strict=True))
        if self.compares:
            given["found"] = dict(outs)
        strides = Strides(self, operands, given)
        refuse_shared(self, strides, operands, into)
        parts = {key: strides.part(key, x) for key, x in operands.items()}
        known = self.program(**parts, **given) if succeeded(outs.get("info")) else {}
        for key, out in outs.items():
            if key in known:
                name = self.written.get(key, "")
                outs[key] = exact(out, strides.put(name, known[key], operands.get(name), out.size))
            elif is_inexact(out.dtype):
                outs[key] = undetermined(out, operands.values(), key, self.name)
        for key, target in into.items():
            strides.write(self.written[key], target, outs[key])
            outs[key] = target
        return tuple(outs.values()) if len(outs) > 1 else outs[self.results[0]]

    def always(self, name: str) -> bool:
        """Whether the operand is always written into."""
        return f"overwrite_{name}" not in self.signature.parameters

    def takes(self, target: Any, allowed: Any) -> bool:
        """Whether the routine writes into this operand without copying it."""
        if not allowed or not isinstance(target, (np.ndarray, Array)):
            return False
        if target.dtype != self.dtype or not target.flags.f_contiguous:
            return False
        if type(target) is not Array:
            raise ConversionError(
                f"`{self.name}` writes a derivative's number into a plain array, which holds"
                " none.\n  Pass a copy, `np.copy(y)`, or create the array in the function."
            )
        return True


def example(spec: Spec) -> Any:
    """An array of this spec that a routine can take: a matrix is regular, an index is there."""
    if spec.dtype.kind in "iu" or len(spec.shape) != 2:
        return (np.zeros if spec.dtype.kind in "iu" else np.ones)(spec.shape, spec.dtype)
    return np.eye(*spec.shape, dtype=spec.dtype)


def answering(taken: FortranRoutine) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(type(x) is Array for x in leaves((args, list(kwargs.values())))):
            return taken(*args, **kwargs)
        return taken.original(*args, **kwargs)

    return call


def succeeded(info: Any) -> bool:
    """Whether LAPACK succeeded; under `vmap` the program is asked."""
    try:
        return info is None or bool(info == 0)
    except ConversionError:
        return True


def routine(
    names: str, operands: str, written: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Any], Any]:
    """Let a program describe the routines with these names, given without the type letter.

    A name with its letter ends in a colon and the letter, as `dznrm2:z`.
    """

    def enter(program: Callable[..., dict[str, Any]]) -> Any:
        for stem in names.split():
            full, _, only = stem.partition(":")
            for letter, dtype in DTYPES.items():
                name = full if only else letter + full
                module = blas if hasattr(blas, name) else lapack
                if (only and letter != only) or not hasattr(module, name):
                    continue
                original = getattr(module, name)
                called = f"{module.__name__}.{name}"
                taken = FortranRoutine(original, called, dtype, operands.split(), program, written)
                serves_method(original)(answering(taken))
        return program

    return enter

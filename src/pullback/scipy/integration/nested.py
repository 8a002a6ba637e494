"""Integrals over several variables: an integral of integrals, as SciPy does it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import integrate

from ..solving.in_c import in_c
from ..solving.plain import PlainValues
from ..solving.serving import serves
from .jumps import attempt
from .quadrature import differentiated, quad


def ends(n: int, *limits: Any) -> Any:
    """A range whose limits may be functions of the n nearest variables around it, outermost first.

    Integrands, and ranges of `nquad`, take them innermost first.
    """
    return lambda *args: [f(*args[:n][::-1]) if callable(f) else f for f in limits]


class Nested:
    """An integral of integrals; the last of the ranges is that of the outermost."""

    def __init__(self, func: Any, ranges: Any, opts: Any) -> None:
        self.func = func
        self.ranges = [x if callable(x) else lambda *args, x=x: x for x in ranges]
        opts = [opts or {}] * len(ranges) if opts is None or isinstance(opts, dict) else opts
        self.opts = [x if callable(x) else lambda *args, x=x: x for x in opts]

    def outermost(self, args: Any) -> tuple[Any, Any, dict[str, Any]]:
        """Its limits and options."""
        low, high = self.ranges[-1](*args)
        return low, high, dict(self.opts[-1](*args))

    def inner(self, *args: Any) -> Any:
        """What the outermost integral goes over."""
        if len(self.ranges) == 1:
            return self.func(*args)
        rest = Nested(self.func, self.ranges[:-1], self.opts[:-1])
        low, high, options = rest.outermost(args)
        return quad(rest.inner, low, high, args=args, **options)[0]

    def of_scipy(self, args: Any, full: Any) -> Any:
        """SciPy's result: the integral, its error, details, and what the outermost warns of."""
        low, high, options = self.outermost(args)
        if "points" in options:
            options["points"] = [x for x in options["points"] if low <= x <= high]
        innermost, errors, calls = len(self.ranges) == 1, [0], list[int]()

        def inner(*args: Any) -> Any:
            found = integrate.nquad(self.func, self.ranges[:-1], args, self.opts[:-1], full)
            errors.append(found[1])
            calls.extend([x["neval"] for x in found[2:]])
            return found[0]

        fun = self.func if innermost else inner
        value, error, info, *message = integrate.quad(fun, low, high, args, True, **options)
        if message and not full:
            warnings.warn(str(message[0]), integrate.IntegrationWarning, stacklevel=2)
        details = {"neval": info["neval"] if innermost else sum(calls)}
        return value, max([*errors, error]), details, *message


@serves(integrate.nquad)
def nquad(
    func: Any, ranges: Any, args: Any = None, opts: Any = None, full_output: Any = False
) -> Any:
    def call(values: PlainValues) -> Any:
        fun, plain, more, how = values.tree((func, ranges, args, opts))
        with in_c(fun, (), len(plain) + len(more)) as compiled:
            return Nested(compiled or fun, plain, how).of_scipy(more, full_output)

    args = () if args is None else args if isinstance(args, tuple) else (args,)
    found = attempt(call)
    rest: tuple[Any, ...] = (np.float64(np.nan),)
    if found is not None:
        rest = tuple([found.part(i) for i in range(1, 3 if full_output else 2)])
    if found is not None and not found.live:
        return (found.first[0], *rest)
    nested = Nested(func, ranges, opts)
    low, high, options = nested.outermost(args)
    if options.keys() & {"weight", "complex_func"}:
        return (quad(nested.inner, low, high, args, **options)[0], *rest)
    return (differentiated(nested.inner, low, high, args, options, found)[0], *rest)


@serves(integrate.dblquad)
def dblquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    ranges = [ends(1, gfun, hfun), [a, b]]
    return nquad(func, ranges, args=args, opts={"epsabs": epsabs, "epsrel": epsrel})


@serves(integrate.tplquad)
def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: Any = 1.49e-8,
    epsrel: Any = 1.49e-8,
) -> Any:
    ranges = [ends(2, qfun, rfun), ends(1, gfun, hfun), [a, b]]
    return nquad(func, ranges, args=args, opts={"epsabs": epsabs, "epsrel": epsrel})

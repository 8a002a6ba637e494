"""Systems of equations, by SciPy's iterative methods.

SciPy iterates on plain values. The derivative is that of the solution and solves one more system,
by the same method to a tighter tolerance; the initial guess and the preconditioner don't affect it.
If A is an array, derivatives follow from its numbers (`systems`). If A is an operator whose
products are functions of the program, they follow from products and their transposes:

    A(p) x = b        A x_dot = b_dot - A(p_dot) x        A^T lambda = x_bar
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools
from scipy.sparse import linalg as ssl

from ...core.array import Array
from ...core.errors import PullbackError, SolverError
from ...core.operands import as_array
from ...core.primitive import Primitive, one_by_one
from ...core.reach.call_tables import CALLS
from ...core.reach.session import call_outside
from ...core.silence import without_warnings
from ...core.spec import Spec
from ...core.storage import TALLY
from ...core.temporary import during
from ...primitives.exact import exact
from ...transforms.loops.body import example
from ...transforms.reverse import vjp
from ..solving.implicit import Equations, RecordedFunction, solution
from ..solving.plain import MEMORY, Examples, Plain, PlainValues, solve
from ..solving.serving import serves, traced
from .kept_zeros import moves
from .patterns import fixed, is_live
from .systems import PRECONDITIONING, parts_of, plain_array, sparse_solve

TIGHT = 1e-12
SYMMETRIC = ("cg", "minres")  # methods whose preconditioner serves the transposed system
PRECONDITIONERS = ("M", "M1", "M2")
METHODS: dict[str, Any] = {}  # the rules, by name
OFTEN = 3  # solutions after which a system is taken to be solved again
COMPILER = "pullback.compiler.call.compiled"


# What SciPy's code is given.


class Constants(PlainValues):
    """Plain values, also of Arrays that don't affect the derivative."""

    def of(self, x: Any) -> Any:
        if is_live(x):
            self.meets()
        return fixed(x)


class PlainOperator(ssl.LinearOperator):
    """An operator with the plain values of products in which something may move."""

    def __init__(self, A: Any, values: PlainValues) -> None:
        super().__init__(A.dtype, A.shape)
        self.original, self.values = A, values
        self.product = Plain(lambda x: CALLS[A.matvec](x), values)
        self.transposed = Plain(lambda x: CALLS[A.rmatvec](x), values)

    def _matvec(self, x: Any) -> Any:
        return self.product(x)

    def _rmatvec(self, x: Any) -> Any:
        return self.transposed(x)

    def later(self) -> Any:
        """What can be asked after the transformation: no operator in which something moves."""
        x = np.zeros(self.shape[1])
        self.matvec(x)
        try:
            call_outside(self.original.matvec, (x,), {})
        except PullbackError:
            return None
        return None if self.values.live else self.original


def plainly(x: Any) -> Any:
    """An option of a method that the solution doesn't depend on."""
    if type(x) is Array:
        return fixed(x)
    if isinstance(x, ssl.LinearOperator):
        return PlainOperator(x, Constants({}))
    parts = parts_of(x) if moves(x) else None
    return x if parts is None else plain_array(fixed(parts[0]), *parts[1:], x.shape)


class BareOperator(ssl.LinearOperator):
    """Only the products of a plain array with vectors, which are all that iterative methods need.

    SciPy's own operators look at shapes and kinds in each product, which takes longer than small
    products do.
    """

    def __init__(self, data: Any, outer: Any, inner: Any, fmt: str, shape: Any) -> None:
        super().__init__(data.dtype, shape)
        self.matvec = partial(times, data, outer, inner, fmt)
        self.rmatvec = partial(times, np.conj(data), outer, inner, "csr" if fmt == "csc" else "csc")

    def _matvec(self, x: Any) -> Any:
        return self.matvec(x)

    def _rmatvec(self, x: Any) -> Any:
        return self.rmatvec(x)


def times(data: Any, outer: Any, inner: Any, fmt: str, x: Any) -> Any:
    n = len(x)
    out = np.zeros(n, np.result_type(data, x))
    native = _sparsetools.csr_matvec if fmt == "csr" else _sparsetools.csc_matvec
    native(n, n, outer, inner, data, x, out)
    return out


class NoPreconditioner(ssl.LinearOperator):
    """The preconditioner of methods that are given none."""

    def __init__(self, A: Any) -> None:
        super().__init__(A.dtype, A.shape)
        self.matvec = self.rmatvec = lambda x: x

    def _matvec(self, x: Any) -> Any:
        return x


class IterativeMethod:
    """One of SciPy's methods, with the options of a call."""

    def __init__(self, original: Any, options: dict[str, Any]) -> None:
        self.original, self.options = original, options
        self.name: str = original.__name__
        self.last: Any = None  # the last pattern, and the method in machine code

    def tight(self) -> IterativeMethod:
        """The same for derivatives."""
        rtol = min(self.options.get("rtol", TIGHT), TIGHT)
        options = {**self.options, "x0": None, "rtol": rtol}
        options.pop("callback", None)
        if "atol" in options:
            options["atol"] = 0.0  # an absolute tolerance says nothing of another right-hand side
        for key in options.keys() & PRECONDITIONERS:
            M = options[key]
            M = M.later() if type(M) is PlainOperator else M
            options[key] = M if self.name in SYMMETRIC else None
        return IterativeMethod(self.original, options)

    def of_array(self, parts: Any, shape: Any, b: Any, repeats: bool) -> Any:
        """What SciPy returns for an array, and why that has no derivative, or None.

        repeats: whether it will be asked again, so that machine code is worth to be made
        """
        data, outer, inner, fmt = parts
        pattern = outer, inner, fmt
        dtype = np.result_type(data, b)
        method = self.compiled(pattern, shape, dtype) if repeats else None
        if method is None:
            A = BareOperator(data, outer, inner, fmt, shape)
            x, info = self(A, b)
            return x, info, self.failure(A, b, x, info)
        x, info, left, size = method(data, b, self.options.get("x0"))
        return x, info, self.judged(left, size, info)

    def compiled(self, pattern: Any, shape: Any, dtype: Any) -> Any:
        """This method in machine code; None where SciPy itself is called."""
        if TALLY.recordings or self.options.get("M") is not None:
            return None
        key = [*map(id, pattern), dtype.kind]
        if self.last is None or self.last[0] != key:
            made = compiler().compiled_method(self.original, self.options, pattern, shape, dtype)
            self.last = key, pattern, made
        method = self.last[2]
        return None if method is None or method.refusal is not None else method

    def __call__(self, A: Any, b: Any) -> Any:
        """What SciPy returns of plain values."""
        options = self.options
        if "M" in options and options["M"] is None:
            options = {**options, "M": NoPreconditioner(A)}
        with during(PRECONDITIONING, True):
            return call_outside(self.original, (A, b), options)

    def failure(self, A: Any, b: Any, x: Any, info: int) -> str | None:
        """Why the solution that SciPy returned has no derivative, or None."""
        if info:
            return unconverged(self.name, info)
        left = np.linalg.norm(A.matvec(x) - self.options.get("shift", 0.0) * x - np.reshape(b, -1))
        return self.judged(left, np.linalg.norm(b), info)

    def judged(self, left: Any, size: Any, info: int) -> str | None:
        """The same, where A x differs by `left` from b, which is of this size."""
        if info:
            return unconverged(self.name, info)
        near = max(1e3 * self.options.get("rtol", 1e-5) * size, 1e3 * self.options.get("atol", 0.0))
        if left <= max(near, 1e-6 * size):
            return None
        return (
            f"`{self.name}` returned what is no solution: A x differs from b by {left / size:.1g}"
            " of its size.\n  Leave out the preconditioner, or solve with another method."
        )

    def solved(self, parts: Any, shape: Any, b: Any, repeats: bool) -> Any:
        """The solution; raises where there is none."""
        if not b.any():
            return np.zeros(b.shape, np.result_type(parts[0].dtype, b))
        with nullcontext() if repeats else without_warnings():  # the call itself has warned
            x, _, failure = self.of_array(parts, shape, b, repeats)
        if failure:
            raise SolverError(failure)
        return x


@cache
def compiler() -> Any:
    """What makes methods compiled ones, which takes the whole compiler."""
    return import_module("pullback.scipy.sparse_arrays.compiled_methods")


def unconverged(name: str, info: int) -> str:
    return (
        f"`{name}` did not converge for a solution or its derivative (info {info}).\n"
        "  Give it a larger `maxiter` or a preconditioner, or solve with"
        " `scipy.sparse.linalg.spsolve`."
    )


# Of arrays.


class Iterations:
    """How systems of the numbers of an array are solved for derivatives, where there are any."""

    def __init__(self, method: IterativeMethod, shape: Any, failure: str | None) -> None:
        self.method, self.shape, self.failure = method, shape, failure
        self.for_derivatives, self.count = self, 0

    def solve(self, data: Any, b: Any, outer: Any, inner: Any, fmt: str) -> Any:
        if self.failure is not None:
            raise SolverError(self.failure)
        self.count += 1
        find = partial(self.method.solved, (data, outer, inner, fmt), self.shape)
        repeats = self.count > OFTEN and COMPILER in sys.modules
        if b.ndim == 1:
            return find(b, repeats)
        columns = np.reshape(b, (b.shape[0], -1)).T
        return np.stack([find(b, repeats) for b in columns], axis=1).reshape(b.shape)


class FoundSolution(Primitive):
    """x of A x = b as SciPy has found it; `by` says how to solve for its derivatives."""

    reads = "out x1 x2 x3 x4"
    nondiff = (0, 3, 4)

    def value(self, found, data, b, outer, inner, *, fmt, by):
        return np.array(found)

    def spec(self, found, data, b, outer, inner, *, fmt, by):
        return Spec(found.shape, found.dtype)

    def jvp(self, out, xs, x_dots, **static):
        return sparse_solve.jvp(out, xs[1:], x_dots[1:], **static)

    def vjp(self, out_bar, residual, wanted):
        xs, static = residual.xs[1:], residual.static
        return None, *sparse_solve.pulled(out_bar, residual.out, xs, wanted[1], **static)

    def batch(self, xs, mapped, size, **static):
        return one_by_one(self, xs, mapped, size, static)


found_solution = FoundSolution("solution of a sparse system")


def of_array(method: IterativeMethod, parts: Any, shape: Any, b: Any) -> tuple[Any, Any]:
    data, outer, inner, fmt = parts
    b, memory = b.reshape(-1), MEMORY.get()
    repeats = memory is not None and memory.of_plain

    def begin(values: PlainValues) -> Any:
        """SciPy's own call, and why its solution has no derivative, or None."""
        plain = values.of(data), outer, inner, fmt
        return method.of_array(plain, shape, values.of(b), repeats)

    found = solve(begin)
    failure = next((why for *_, why in found.results if why is not None), None)
    by = Iterations(method.tight(), shape, failure)
    x = found.of(lambda result: result[0])
    return found_solution(x, data, b, outer, inner, fmt=fmt, by=by), info_of(found)


def info_of(found: Examples) -> Any:
    """SciPy's `info`, the second item of each result."""
    said = [result[1] for result in found.results]
    alike = len(said) == 1 or len(set(said)) == 1
    return said[0] if alike else found.of(lambda result: result[1])


# Of operators.


class ProductEquations(Equations):
    """A x = b, of which the products of A with vectors are known. The Jacobian is an operator."""

    def __init__(self, method: IterativeMethod, residual: Callable[..., Any]) -> None:
        super().__init__(method.name, residual)
        self.options = dict(method.options)
        self.options.pop("shift", None)  # which is a part of the products

    def slope(self, z: Any, theta: Any, given: Any) -> Any:
        at_zero, transposed = vjp(lambda x: self.residual(x, theta, given), np.zeros_like(z))
        product = lambda x: self.residual(x, theta, given) - at_zero
        return product, lambda y: transposed(y)[0]

    def transposed(self, slope: Any) -> Any:
        return slope[::-1]

    def linear(self, matrix: Any, right: Any) -> Any:
        A = ssl.LinearOperator((right.shape[0],) * 2, *matrix, dtype=right.dtype)
        x, info = METHODS[self.name](A, right, **self.options)
        if info:
            raise SolverError(unconverged(self.name, info))
        return x

    def refined(self, z: Any, theta: Any, given: Any) -> tuple[Any, str | None]:
        return z, None  # found to the tight tolerance


def of_operator(method: IterativeMethod, A: Any, b: Any, shift: Any) -> tuple[Any, Any]:
    found = solve(lambda values: method(PlainOperator(A, values), values.of(b)))
    out = found.of(lambda result: result[0]), info_of(found)
    if not (found.live or is_live(shift)):
        return out
    tight = method.tight()

    def closely(values: PlainValues) -> Any:
        operator, right = PlainOperator(A, values), values.of(b)
        x, info = tight(operator, right)
        return x, tight.failure(operator, right, x, info)

    near = solve(closely)
    z = near.of(lambda result: result[0])
    left = RecordedFunction(lambda x: CALLS[A.matvec](x) - shift * x - b.reshape(-1), example(z))
    equations = ProductEquations(tight, lambda z, theta, given: left([z], theta))
    failure = next((why for _, why in near.results if why is not None), None)
    (x,) = solution(equations, z, left.theta, failure=failure)
    return exact(out[0], x), out[1]


def binding(signature: inspect.Signature) -> Callable[[Any, Any], dict[str, Any]]:
    """`signature.bind` as a dict, in a tenth of the time for calls that fit."""
    parameters = signature.parameters
    places = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    needed = {name for name, p in parameters.items() if p.default is p.empty}

    def bind(args: Any, options: Any) -> dict[str, Any]:
        given = dict(zip(places, args, strict=False))
        both = {**given, **options}
        fits = len(args) <= len(places) and len(both) == len(args) + len(options)
        if fits and needed <= both.keys() <= parameters.keys():
            return both
        return dict(signature.bind(*args, **options).arguments)  # which raises

    return bind


def iterates(name: str) -> None:
    """Serve a method for A x = b: the derivative solves one more system by the same method."""
    original = getattr(ssl, name)
    of_scipy, signature = traced(inspect.unwrap(original)), inspect.signature(original)
    bind = binding(signature)

    @serves(original)
    def of_system(*args: Any, **options: Any) -> Any:
        given = bind(args, options)
        A, b, shift = given.pop("A"), as_array(given.pop("b")), given.get("shift", 0.0)
        moving = moves(A) or is_live(b) or is_live(shift) or MEMORY.get() is not None
        if not (moving or isinstance(A, ssl.LinearOperator)):
            return of_scipy(*args, **options)
        n, *_ = shape = np.shape(A)
        if b.shape not in ((n,), (n, 1)):
            raise ValueError(f"shapes of A {shape} and b {b.shape} are incompatible")
        plain = {key: plainly(x) for key, x in given.items() if key != "callback"}
        if given.get("callback") is not None:
            plain["callback"] = Plain(given["callback"], Constants({}))
        for key in signature.parameters.keys() & {"M", "atol"}:
            plain.setdefault(key, signature.parameters[key].default)
        method = IterativeMethod(original, plain)
        parts = None if is_live(shift) else parts_of(A)
        if parts is not None:
            return of_array(method, parts, A.shape, b)
        return of_operator(method, CALLS[ssl.aslinearoperator](A), b, shift)

    METHODS[name] = of_system


for name in (
    "cg",
    "cgs",
    "bicg",
    "bicgstab",
    "gmres",
    "lgmres",
    "gcrotmk",
    "minres",
    "qmr",
    "tfqmr",
):
    iterates(name)

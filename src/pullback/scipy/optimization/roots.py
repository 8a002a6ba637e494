"""Roots, differentiated by the implicit function theorem."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np
from scipy import optimize

from ...core.array import arrayed
from ...core.errors import MissingRuleError
from ...core.operands import as_array
from ...primitives.exact import constant, like
from ..solving.implicit import Equations, RecordedFunction, solution
from ..solving.plain import Examples, number, shallow, solve
from ..solving.serving import serves
from ..solving.undetermined import undetermined
from .calls import solver

OUT_OF_DIGITS = (
    "precision loss", "ABNORMAL", "failure to predict improvement",
    "is too small, no", "not making good progress",
)  # fmt: skip


def exhausted(message: Any) -> bool:
    """Whether a solver stopped because rounding errors prevent further progress.

    It reports this if it was asked for more digits than there are. In any case the point is tested
    with the equations of the solution.
    """
    return any(words in str(message) for words in OUT_OF_DIGITS)


class DoubtedEquations(Equations):
    """Equations for which SciPy doesn't vouch, for lack of digits; it says `doubt`."""

    far = 1e-6

    def __init__(self, name: str, residual: Any, doubt: str) -> None:
        super().__init__(name, residual)
        self.doubt = doubt

    def singular(self) -> str:
        return self.doubt

    def unsolved(self) -> str:
        return self.doubt


def root_of(
    name: str, fun: Any, args: Any, x: Any, failure: str | None, doubt: str | None = None
) -> tuple[Any, Any]:
    """The root x of fun as a result of what fun depends on, and the residual there."""
    program = RecordedFunction(lambda x: as_array(fun(x, *args)), x)
    if not program.theta:
        return x, None
    shape = x.shape

    def residual(z: Any, theta: Any, given: Any) -> Any:
        return np.ravel(program([np.reshape(z, shape)], theta))

    equations = DoubtedEquations(name, residual, doubt) if doubt else Equations(name, residual)
    (z,) = solution(equations, np.ravel(x), program.theta, failure=failure)
    return np.reshape(z, shape) if shape else z[0], program


def as_tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def reason(found: Examples, success: Callable[[Any], Any], message: Callable[[Any], Any]) -> Any:
    """SciPy's message for the first example that did not converge."""
    for result in found.results:
        if not np.all(success(result)):
            return str(message(result))
    return None


# One equation for one number.


def bracketing(original: Any) -> None:
    @serves(original)
    def find(f: Any, a: Any, b: Any, args: Any = (), *more: Any, **options: Any) -> Any:
        names = ["xtol", "rtol", "maxiter", "full_output", "disp"]
        if original is optimize.toms748:
            names.insert(0, "k")
        options.update(zip(names, more, strict=False))
        full = index(options.pop("full_output", False))

        def call(values: Any) -> Any:
            given = values.tree((f, a, b, args))
            return original(*given, full_output=True, **values.tree(options))

        found = solve(call)
        root, result = found.first
        x = root
        if found.live:
            failure = reason(found, lambda r: r[1].converged, lambda r: r[1].flag)
            x = found.of(lambda r: number(r[0]))
            x = like(root, constant(root_of(original.__name__, f, as_tuple(args), x, failure)[0]))
            result = summary(original.__name__, found, lambda r: r[1], {"root": x})
        return (x, result) if full else x


for function in (
    optimize.brentq,
    optimize.brenth,
    optimize.ridder,
    optimize.bisect,
    optimize.toms748,
):
    bracketing(function)


def summary(name: str, found: Examples, read: Callable[[Any], Any], known: dict[str, Any]) -> Any:
    """The result object of the first example, with what is known, the counts and words of all.

    Arrays of which nothing is known, such as `hess_inv`, have no derivative.
    """
    results = [read(result) for result in found.results]
    first = shallow(results[0])  # SciPy's own may be remembered
    for key, value in list(first.items()):
        if key in known:
            first[key] = like(value, known[key])
        elif not found.traces:
            first[key] = undetermined(value, known.values(), key, name)
        elif value is None or isinstance(value, str):
            first[key] = found.together([result[key] for result in results], found.traces)
        elif isinstance(value, (bool, int, float, np.generic, np.ndarray)):
            stacked = found.stacked([result[key] for result in results])
            is_array = isinstance(value, np.ndarray)
            first[key] = undetermined(stacked, known.values(), key, name) if is_array else stacked
        else:
            first[key] = OfEachExample(key)
    return first


def others(name: str, found: Examples, place: int, *known: Any) -> list[Any]:
    """The same for what stands in a tuple from this place on; of a batch, numbers are of all."""
    return [
        undetermined(found.part(i), known, f"result {i}", name)
        for i in range(place, len(found.first))
    ]


class OfEachExample:
    """An object in a result that is another for each example of a batch."""

    def __init__(self, name: str) -> None:
        self.name = name

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise MissingRuleError(
            f"`{self.name}` of a result is an object, and under `vmap` every example has its own.\n"
            "  Use it in a loop over the examples, or read the arrays of the result."
        )

    __call__ = __getitem__ = __iter__ = __len__ = __array__ = refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse()


@solver(optimize.root_scalar)
def root_scalar(found: Examples, given: dict[str, Any]) -> Any:
    f = given["f"]
    pair = bool(given["fprime"]) and not callable(given["fprime"])
    several = bool(given["fprime2"]) and not callable(given["fprime2"])

    def value(x: Any, *args: Any) -> Any:
        out = f(x, *args)
        return out[0] if pair or several else out

    failure = reason(found, lambda r: r.converged, lambda r: r.flag)
    x = found.of(lambda r: number(r.root))
    x = constant(root_of("root_scalar", value, as_tuple(given["args"]), x, failure)[0])
    return summary("root_scalar", found, lambda r: r, {"root": x})


@serves(optimize.newton, amplifies=True)
def newton(
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: Any = 1.48e-8,
    maxiter: Any = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: Any = 0.0,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    def call(values: Any) -> Any:
        given = values.tree((func, x0, fprime, args, tol, maxiter, fprime2, x1, rtol))
        return optimize.newton(*given, full_output=True, disp=disp)

    found = solve(call)
    x, *rest = found.first
    if found.live:
        scalar = len(rest) == 1

        def converged(result: Any) -> Any:
            return result[1].converged if scalar else result[1]

        failure = reason(
            found, converged, lambda r: r[1].flag if scalar else "some of the roots were not found"
        )
        x = found.of(lambda r: number(r[0]))
        x = constant(root_of("newton", func, as_tuple(args), x, failure)[0])
        if scalar:
            rest = [summary("newton", found, lambda r: r[1], {"root": x})]
        else:
            rest = [found.item(1), found.item(2)]
    if not full_output:
        return x
    return (x, rest[0]) if len(rest) == 1 else type(found.first)(x, *rest)


@solver(optimize.fixed_point, amplifies=False)
def fixed_point(found: Examples, given: dict[str, Any]) -> Any:
    func = given["func"]
    x = found.of(lambda r: number(r))
    gap = lambda x, *args: as_array(func(x, *args)) - x
    out = constant(root_of("fixed_point", gap, as_tuple(given["args"]), x, None)[0])
    return arrayed(out) if isinstance(found.first, np.ndarray) else out


# Systems of equations.


@solver(optimize.root)
def root(found: Examples, given: dict[str, Any]) -> Any:
    fun = given["fun"]
    of = (lambda x, *args: fun(x, *args)[0]) if given["jac"] is True else fun
    failure = reason(found, lambda r: r.success or exhausted(r.message), lambda r: r.message)
    doubt = reason(found, lambda r: r.success, lambda r: r.message)
    x = found.of(lambda r: as_array(r.x))
    x, program = root_of("root", of, as_tuple(given["args"]), x, failure, doubt)
    known = {"x": constant(x)}
    if program is not None and "fun" in found.first:
        known["fun"] = program([x], program.theta)
    return summary("root", found, lambda r: r, known)


ERRORS = (2, 3, 4, 5)  # of fsolve: it stopped early, and says so by a warning


@serves(optimize.fsolve, amplifies=True)
def fsolve(
    func: Any,
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    full_output: Any = 0,
    *more: Any,
    **options: Any,
) -> Any:
    def call(values: Any) -> Any:
        given = values.tree((func, x0, args, fprime))
        return optimize.fsolve(*given, True, *more, **values.tree(options))

    found = solve(call)
    x, info, status, message = found.first
    if found.live:
        failure = reason(found, lambda r: r[2] == 1 or exhausted(r[3]), lambda r: r[3])
        doubt = reason(found, lambda r: r[2] == 1, lambda r: r[3])
        x = found.of(lambda r: r[0])
        x, program = root_of("fsolve", func, as_tuple(args), x, failure, doubt)
        x = constant(x)
        info, *_ = others("fsolve", found, 1, x)
        if program is not None:
            info["fvec"] = program([x], program.theta)
    if full_output:
        return x, info, status, message
    if status in ERRORS:
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    elif status != 1:
        raise TypeError(message)
    return x


def quasi_newton(original: Any) -> None:
    """`broyden1` and its kin: they raise NoConvergence."""

    @solver(original)
    def find(found: Examples, given: dict[str, Any]) -> Any:
        x = found.of(as_array)
        return constant(root_of(original.__name__, given["F"], (), x, None)[0])


for function in (
    optimize.broyden1,
    optimize.broyden2,
    optimize.anderson,
    optimize.linearmixing,
    optimize.diagbroyden,
    optimize.excitingmixing,
    optimize.newton_krylov,
):
    quasi_newton(function)

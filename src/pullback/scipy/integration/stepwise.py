"""`ode` and `complex_ode`: an integrator that keeps its state and continues from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate
from scipy.integrate._ode import _transform_banded_jac

from ...core.array import Array
from ...core.errors import ArgumentError, MissingRuleError
from ...core.operands import as_array
from ...core.trace import is_live
from ...primitives.exact import exact
from ..optimization.roots import as_tuple
from ..solving.by_example import for_each, trace_of
from ..solving.plain import Examples, PlainValues, shallow, solve
from ..solving.repeated_stores import solved as stored
from ..solving.serving import serves
from ..solving.storable_objects import StorableObjects
from .initial import right_side, start_of, without
from .jumps import Decisions, solved
from .paths import Seen, path_of, steps_for

ARRAYS = np.ndarray, Array  # what SciPy's code makes while it is traced is one of ours


def with_own_state(integrator: Any) -> Any:
    """A copy of SciPy's integrator that has arrays of its own, into which it writes."""
    out, copies = shallow(integrator), dict[int, Any]()

    def own(x: Any) -> Any:
        if type(x) is list:
            return [own(y) for y in x]
        if type(x) in ARRAYS:
            return copies.setdefault(id(x), np.copy(x))
        return x

    vars(out).update({key: own(x) for key, x in vars(integrator).items()})
    return out


def alone(found: Examples) -> Examples:
    if found.traces:
        raise MissingRuleError(
            "An integrator that is advanced step by step keeps one state, and its initial values"
            " and parameters cannot be mapped by `vmap`.\n"
            "  Close over them in the function that it is given, or use"
            " `scipy.integrate.solve_ivp`."
        )
    return found


def solver_for_each(cls: type, args: Any, options: dict[str, Any]) -> Any:
    """An integrator for each example of what it is given; None if nothing is mapped."""
    trace = trace_of((args, options))
    if trace is None:
        return None
    if StorableObjects((*args, *options.values())).may_store:
        raise ArgumentError(
            f"`{cls.__name__}` was given a function that may store something, and that is"
            f" mapped by `{trace.name}`: there is an integrator for each example.\n"
            "  Use `scipy.integrate.solve_ivp`, or loop over the examples."
        )
    return for_each(cls, args, options, trace)


@serves(integrate.ode)
class ode(integrate.ode):  # named as SciPy's
    """SciPy's `ode`: `y` carries derivatives where the function or the initial values do."""

    f_params: Any
    jac: Any

    live: Any = None  # y with its derivative, if it has one
    shared: Any = None  # the array that `lsoda` gives, which each of its calls overwrites
    origin: Any = None
    several: Any = None  # an integrator for each example, if what it is given is mapped
    is_advanced = False  # since its initial values were set

    def __new__(cls, f: Any, jac: Any = None) -> Any:
        """One integrator for each example, if the functions differ between those of a batch."""
        several = solver_for_each(cls, (f, jac), {})
        return super().__new__(cls) if several is None else several

    def __init__(self, f: Any, jac: Any = None) -> None:
        super().__init__(f, jac)
        self.user = f

    def set_initial_value(self, y: Any, t: Any = 0.0) -> Any:
        trace = trace_of((y, t))
        self.several, self.is_advanced = None, False
        if trace is not None:
            return self.apart(y, t, trace)
        self.shared = None
        self.live, self.origin = (start_of([y] if np.isscalar(y) else y), t)
        given = alone(solve(lambda values: (values.tree(y), values.of(t))))
        plain = super().set_initial_value(*given.first)
        self.live = np.ravel(self.live) if is_live(self.live) else None
        return plain

    def apart(self, y: Any, t: Any, trace: Any) -> Any:
        """Have an integrator for each example, which goes on where this one is."""
        self.several = for_each(self.twin, (y, t, self.f_params, self.jac_params), {}, trace)
        self.t = self.several.t
        return self

    def twin(self, y: Any, t: Any, f_params: Any, jac_params: Any) -> Any:
        """The same with an integrator of its own, and with parameters of its own."""
        other: Any = object.__new__(type(self))
        vars(other).update(vars(self))
        other.f_params, other.jac_params = f_params, jac_params
        if hasattr(self, "_integrator"):
            other._integrator = with_own_state(self._integrator)
        if self.is_advanced:
            other._y = np.copy(self._y)
            return other
        return ode.set_initial_value(other, y, t)

    def set_f_params(self, *args: Any) -> Any:
        if self.several is not None:
            for_each(ode.set_f_params, (self.several, *args), {}, self.several.trace)
        return super().set_f_params(*args)

    def set_jac_params(self, *args: Any) -> Any:
        if self.several is not None:
            for_each(ode.set_jac_params, (self.several, *args), {}, self.several.trace)
        return super().set_jac_params(*args)

    def successful(self) -> Any:
        return super().successful() if self.several is None else self.several.successful()

    def set_solout(self, solout: Any) -> None:
        raise MissingRuleError(
            "`ode.set_solout` has no derivative.\n"
            "  Use `scipy.integrate.solve_ivp` with `events` or `t_eval`."
        )

    def integrate(self, t: Any, step: bool = False, relax: bool = False) -> Any:
        trace = trace_of((t, self.f_params, self.jac_params))
        if self.several is None and trace is not None:
            self.apart(self.held(), self.t if self.origin is None else self.origin, trace)
        self.is_advanced = True
        if self.several is not None:
            several = self.several
            out = for_each(ode.integrate, (several, t, step, relax), {}, several.trace)
            stored(several.trace.state)
            self.t = several.t
            return out
        params, user, jac, started = self.f_params, self.user, self.jac, self.t
        before = np.array(self._y)

        def call(values: PlainValues) -> Any:
            self.f, self.jac = values.tree(user), None if jac is None else values.tree(jac)
            self.f_params = values.tree(as_tuple(params))
            try:
                with Decisions() as decisions:
                    y = np.array(super(ode, self).integrate(values.of(t), step, relax))
                stored(0)
                steps, live = None, values.live or self.live is not None or decisions.made
                if live and self.successful():
                    fun = right_side(self.f, self.f_params, before)
                    rtol = getattr(self._integrator, "rtol", 1e-6)
                    atol = np.asarray(getattr(self._integrator, "atol", 1e-12))
                    rtol = max(float(np.max(rtol)), 1e-12)
                    atol = np.maximum(atol, 1e-14)
                    ends = float(started), float(self.t)
                    seen = Seen(ends, [before, y], ())
                    steps = steps_for(fun, *ends, before, rtol, atol, 500, seen)
            finally:
                self.f, self.f_params, self.jac = user, params, jac
            return y, steps

        found = alone(solved(call))
        y, steps = found.first
        if not found.live and self.live is None:
            return self._y
        start = before if self.live is None else self.live
        fun = right_side(user, as_tuple(params), before)
        begin = self.origin if is_live(self.origin) else started
        self.origin = t
        if steps is None:
            self.live = without("ode", fun, begin, start, y, "the integrator was not successful")
        else:
            end = t if is_live(t) else None
            self.live = exact(y, path_of(found, [steps], fun, begin, end, start)[0].ys[-1])
        if self.shared is not None:
            self.shared[...] = self.live
            self.live = self.shared
        elif type(self._integrator).__name__ == "lsoda":
            self.shared = self.live
        return self.live

    def held(self) -> Any:
        if self.several is not None:
            return for_each(ode.held, (self.several,), {}, self.several.trace)
        return self._y if self.live is None else self.live

    @property
    def y(self) -> Any:
        return self.held()


def pairs(z: Any) -> Any:
    """Complex numbers as real and imaginary parts in turn."""
    return np.ravel(np.stack([np.real(z), np.imag(z)], axis=-1))


def numbers(y: Any) -> Any:
    return y[::2] + 1j * y[1::2]


@serves(integrate.complex_ode)
class complex_ode(ode):  # named as SciPy's
    """SciPy's `complex_ode`: `ode` for pairs of real numbers."""

    set_integrator = integrate.complex_ode.set_integrator

    def __init__(self, f: Any, jac: Any = None) -> None:
        self.cf, self.cjac = f, jac
        right = lambda t, y, *args: pairs(as_array(f(t, numbers(y), *args)))
        super().__init__(right, None if jac is None else self.jacobian)

    def jacobian(self, t: Any, y: Any, *args: Any) -> Any:
        """The block [[re, -im], [im, re]] for each number; bands have blocks of their own."""
        plain = solve(lambda values: np.asarray(values.tree(self.cjac)(t, numbers(y), *args)))
        z = plain.first
        rows = [np.stack([z.real, -z.imag], axis=-1), np.stack([z.imag, z.real], axis=-1)]
        out = np.reshape(np.stack(rows, axis=1), (2 * z.shape[0], 2 * z.shape[1]))
        banded = any(getattr(self._integrator, name, None) is not None for name in ("ml", "mu"))
        return _transform_banded_jac(out) if banded else out

    def set_initial_value(self, y: Any, t: Any = 0.0) -> Any:
        return super().set_initial_value(pairs(np.atleast_1d(as_array(y))), t)

    def integrate(self, t: Any, step: bool = False, relax: bool = False) -> Any:
        return numbers(super().integrate(t, step, relax))

    @property
    def y(self) -> Any:
        return numbers(super().y)

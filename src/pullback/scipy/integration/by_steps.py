"""`RK45` and kin, advanced by `step()`: `y` carries derivatives, and so do the solutions between.

SciPy's class takes the steps, on plain values. Each is taken again on Arrays, with its size held,
as those of `solve_ivp` are: in pieces, where the right-hand side jumps or has kinks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import integrate

from ...core.trace import is_live
from ...primitives.exact import exact
from ..solving.plain import PlainValues, signature, solve
from ..solving.repeated_stores import solved as stored
from ..solving.serving import serves
from .initial import EXPLICIT, right_side, start_of
from .jumps import Decisions, solved
from .paths import Seen, Steps, path_of, step_of, steps_for
from .steps import Explicit
from .stepwise import alone, solver_for_each


class ByHand:
    """What SciPy's solvers have in common here; `own` is SciPy's class."""

    own: Any
    live: Any = None  # y with its derivative, if it has one
    between: Any = None  # the steps of the last one on Arrays, and which they are
    solving = False  # whether SciPy's code runs, which reads plain values
    n_steps = 0
    status: str
    t_old: Any

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """One solver for each example of a batch, as long as all have the same status."""
        several = solver_for_each(cls, args, options)
        return super().__new__(cls) if several is None else several

    def __init__(self, *args: Any, **options: Any) -> None:
        bound = signature(self.own).bind(*args, **options)
        given = dict(bound.arguments)
        given.update(given.pop("extraneous", {}))
        self.user, self.origin, self.bound = given["fun"], given["t0"], given["t_bound"]
        self.vectorized = given.get("vectorized", False)

        def call(values: PlainValues) -> None:
            with self.plainly():
                self.own.__init__(self, **{key: values.tree(x) for key, x in given.items()})

        alone(solve(call))
        start = start_of(given["y0"])
        self.live = start if is_live(start) else None

    @contextmanager
    def plainly(self) -> Iterator[None]:
        before, self.solving = self.solving, True
        try:
            yield
        finally:
            self.solving = before

    def step(self) -> Any:
        before, started = np.array(self.found), self.time
        ends = self.origin if self.n_steps == 0 else started, self.bound

        def call(values: PlainValues) -> Any:
            fun = right_side(values.tree(self.user), (), before, self.vectorized)
            self._fun = self.fun_single = lambda t, y: np.asarray(fun(t, y), before.dtype)
            with Decisions() as decisions, self.plainly():
                message = self.own.step(self)
            stored(0)
            moves = decisions.made or self.live is not None or any(map(is_live, ends))
            if self.status == "failed" or not (values.live or moves):
                return message, None
            return message, self.steps(fun, started, before)

        found = alone(solved(call))
        message, steps = found.first
        self.n_steps += 1
        if steps is not None:
            start, fun = before if self.live is None else self.live, self.user
            end = self.bound if self.status == "finished" and is_live(self.bound) else None
            fun = right_side(fun, (), before, self.vectorized)
            path, (taken,) = path_of(found, [steps], fun, ends[0], end, start)
            self.live, self.between = exact(np.array(self.found), path.ys[-1]), (path, taken)
        return message

    def steps(self, fun: Any, started: float, before: np.ndarray) -> Steps:
        """This step, or those of another method in its place."""
        of: Any = self._lsoda_solver._integrator if hasattr(self, "_lsoda_solver") else self
        rtol, atol = of.rtol, np.maximum(of.atol, 1e-14)
        if self.own in EXPLICIT:
            return Steps(Explicit(self.own), [started, self.time], rtol, own=True)
        seen = Seen([self.time], [self.found], [started, self.time])
        return steps_for(fun, started, self.time, before, rtol, atol, 500, seen)

    def dense_output(self) -> Any:
        with self.plainly():
            plain = self.own.dense_output(self)
        return plain if self.between is None else WithinStep(plain, *self.between)

    @property
    def y(self) -> Any:
        return self.found if self.live is None or self.solving else self.live

    @y.setter
    def y(self, found: Any) -> None:
        self.found = found

    @property
    def t(self) -> Any:
        if self.solving:
            return self.time
        end = self.bound if self.status == "finished" else self.time
        return self.origin if self.n_steps == 0 else end if is_live(end) else self.time

    @t.setter
    def t(self, time: Any) -> None:
        self.time = time


class WithinStep(integrate.DenseOutput):
    """The solution between the ends of one step."""

    def __init__(self, plain: Any, path: Any, steps: Steps) -> None:
        super().__init__(plain.t_old, plain.t)
        self.plain, self.path, self.steps = plain, path, steps

    def __call__(self, t: Any) -> Any:
        if np.ndim(t):
            return np.stack([self(t[i]) for i in range(np.shape(t)[0])], axis=-1)
        found = alone(solve(lambda values: float(values.of(t)))).first
        return exact(self.plain(found), self.path.at(step_of(self.steps, found), t))


BY_HAND = [
    serves(own)(
        type(
            own.__name__,
            (ByHand, own),
            {"own": own, "__doc__": own.__doc__, "__module__": __name__},
        )
    )
    for own in (*EXPLICIT, integrate.Radau, integrate.BDF, integrate.LSODA)
]

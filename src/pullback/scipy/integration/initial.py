"""Initial value problems: the accepted steps are taken again, with the same sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import index
from typing import Any

import numpy as np
from scipy import integrate

from ...core.array import Array
from ...core.errors import ArgumentError
from ...core.operands import as_array
from ...core.spec import is_inexact
from ...core.trace import is_live
from ...primitives.exact import exact
from ...transforms.call import stop_gradient
from ...transforms.loops.body import Unstaged, example
from ..optimization.roots import as_tuple, reason, root_of, summary
from ..solving.implicit import Equations, RecordedFunction, solution
from ..solving.plain import Examples, PlainValues, number, signature, solve
from ..solving.serving import serves
from .discontinuities import how_often
from .jumps import solved
from .paths import Seen, Steps, path_of, recording, step_of, steps_for
from .ragged import Ragged
from .steps import Explicit, Trajectory
from .written_steps import WrittenPath, are_written, plain_number

METHODS: dict[str, Any] = {
    name: getattr(integrate, name) for name in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
}
RTOL = 1e-3  # of solve_ivp, where none is given
EXPLICIT = (integrate.RK23, integrate.RK45, integrate.DOP853)


def right_side(fun: Any, args: Any, y: Any, vectorized: bool = False) -> Any:
    """The right-hand side as SciPy takes it: lists and single numbers as vectors."""
    shape = y.shape

    def slope(t: Any, y: Any) -> Any:
        if vectorized:
            return np.ravel(as_array(fun(t, y[:, None], *args)))
        out = as_array(fun(t, y, *args))
        return np.broadcast_to(out, shape) if out.shape != shape else out

    return slope


def start_of(y0: Any) -> Any:
    y0 = as_array(y0)
    return y0 if is_inexact(y0.dtype) else y0.astype(float)


def without(name: str, fun: Any, t: Any, y: Any, value: Any, message: str) -> Any:
    """A result without derivative, because SciPy did not find a solution."""
    program = RecordedFunction(fun, np.float64(example(t)), y)
    theta = [x for x in (*program.theta, y) if is_live(x)]
    flat = np.ravel(value)
    (z,) = solution(Equations(name, lambda z, theta, given: z), flat, theta, failure=message)
    return np.reshape(z, value.shape)


# solve_ivp


class Solution(integrate.OdeSolution):
    """The solution between the steps, as `dense_output=True` asks."""

    def __init__(self, path: Trajectory, found: Examples, steps: list[Steps]) -> None:
        self.path, self.found, self.steps = path, found, steps
        self.plain = [result.sol for result, _ in found.results]
        self.ts, self.interpolants = self.plain[0].ts, self.plain[0].interpolants
        self.t_min, self.t_max = self.plain[0].t_min, self.plain[0].t_max

    def __call__(self, t: Any) -> Any:
        t = np.float64(t) if type(t) in (int, float) else as_array(t)
        if t.ndim:
            return np.stack([self(t[i]) for i in range(t.shape[0])], axis=-1)
        found, n = self.found, len(self.plain)
        times = solve(lambda values: float(values.of(t)))
        if times.traces == found.traces:
            several = list(zip(self.plain, self.steps, times.results, strict=True))
        elif not times.traces:
            several = list(zip(self.plain, self.steps, times.results * n, strict=True))
        elif not found.traces:
            found, m = times, len(times.results)
            several = list(zip(self.plain * m, self.steps * m, times.results, strict=True))
        else:
            raise ArgumentError(
                "A solution of `solve_ivp` was evaluated at times from a different batch.\n"
                "  Solve the problem inside the function that is mapped over the times."
            )
        which = found.stacked([step_of(steps, x) for _, steps, x in several])
        value = found.stacked([sol(x) for sol, _, x in several])
        return exact(value, along(self.path, t)(which, t))


def along(path: Any, t: Any) -> Callable[[Any, Any], Any]:
    """The solution along a path, where t may move and two derivatives may be taken."""
    whole = type(path) is Trajectory and is_live(t) and how_often() > 1
    return path.moving_at if whole else path.at


LENGTHS = {"t": "steps", "y": "steps", "t_events": "events", "y_events": "events"}


@serves(integrate.solve_ivp, varying=LENGTHS)
def solve_ivp(*args: Any, **options: Any) -> Any:
    bound = signature(integrate.solve_ivp).bind(*args, **options)
    bound.apply_defaults()
    given = dict(bound.arguments)
    more = given.pop("options")
    given["method"] = getattr(given["method"], "own", given["method"])  # of one that steps by hand
    method = METHODS.get(given["method"], given["method"]) if is_hashable(given["method"]) else None
    explicit = isinstance(method, type) and issubclass(method, EXPLICIT)

    def call(values: PlainValues) -> Any:
        ts: list[float] = []
        plain = {key: values.tree(x) for key, x in given.items() if key != "method"}
        kinds = recording(method, ts) if isinstance(method, type) else given["method"]
        plain["t_span"] = [values.of(t) for t in plain["t_span"]]
        if given["events"] is not None:
            plain["events"] = events_of(given["events"], values)
        how = values.tree(more)
        result = integrate.solve_ivp(method=kinds, **plain, **how)
        if not explicit:
            return result, Seen(result.t, result.y.T, ts) if len(result.t) else None
        return result, Steps(Explicit(base_of(method)), ts, how.get("rtol", RTOL), own=True)

    found = solved(call)
    if not found.live:
        return found.first[0]
    return FlowResult(found, given, more, method if explicit else None).result()


def is_hashable(x: Any) -> bool:
    return isinstance(x, (str, type))


def base_of(method: Any) -> Any:
    return next(base for base in EXPLICIT if issubclass(method, base))


def event_of(name: str, i: int, results: Any) -> np.ndarray:
    return np.asarray(getattr(results[0], name)[i])


def events_of(events: Any, values: PlainValues) -> Any:
    """Events that return plain values, with what SciPy reads of them, which is locally constant."""
    several = events if isinstance(events, (list, tuple)) else (events,)
    plain = []
    for event in several:
        one = values.tree(event)
        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(one, name, values.of(getattr(event, name)))
        plain.append(one)
    return plain if isinstance(events, (list, tuple)) else plain[0]


class FlowResult:
    """The result of solve_ivp, with derivatives."""

    def __init__(self, found: Examples, given: dict[str, Any], more: Any, explicit: Any) -> None:
        self.found, self.given, self.more, self.explicit = found, given, more, explicit
        self.args = given["args"] or ()
        self.y0 = start_of(given["y0"])
        self.fun = right_side(given["fun"], self.args, self.y0, given["vectorized"])
        self.t0, self.t1 = given["t_span"]

    def result(self) -> Any:
        found, first = self.found, self.found.first[0]
        failure = reason(found, lambda r: r[0].success, lambda r: r[0].message)
        if failure is None and len({len(r[0].t) for r in found.results}) > 1:
            return self.ragged()
        ts = found.of(lambda r: number(r[0].t))
        ys = found.of(lambda r: number(r[0].y))
        if failure is not None:
            ys = without("solve_ivp", self.fun, self.t0, self.y0, ys, failure)
            return summary("solve_ivp", found, lambda r: r[0], {"t": ts, "y": ys})
        ended = all(r[0].status == 0 for r in found.results)
        if are_written(ts, ys):
            return summary("solve_ivp", found, lambda r: r[0], self.written(ts, ys, ended))
        self.steps = self.chosen()
        self.path, self.steps = path_of(
            found, self.steps, self.fun, self.t0, self.t1 if ended else None, self.y0
        )
        t_events, y_events = self.events()
        t, y = self.points(ended, t_events, y_events)
        known = {"t": exact(ts, t) if is_live(t) else ts, "y": exact(ys, y)}
        if t_events is not None:
            known.update(t_events=t_events, y_events=y_events)
        if first.sol is not None:
            known["sol"] = Solution(self.path, found, self.steps)
        return summary("solve_ivp", found, lambda r: r[0], known)

    def ragged(self) -> Any:
        """The result where the examples of a batch took different numbers of steps."""
        found = self.found
        ended = all(r[0].status == 0 for r in found.results)
        self.steps = self.chosen()
        self.path, self.steps = path, _ = path_of(
            found, self.steps, self.fun, self.t0, self.t1 if ended else None, self.y0
        )
        t_events, y_events = self.events()

        def time(j: int) -> Any:
            t = found.of(lambda r: r[0].t[j])
            lasts = [j in (-1, len(r[0].t) - 1) for r in found.results]
            if any(lasts) and not ended:
                return exact(t, self.end_by_event(all(lasts))[0])
            firsts = [r[0].t[j] == r[0].t[0] for r in found.results]
            for end, here in ((self.t0, firsts), (self.t1, lasts)):
                if is_live(end) and any(here):
                    t = exact(t, np.where(found.stacked(list(map(np.bool_, here))), end, t))
            return t

        def state(j: int) -> Any:
            if not ended and all(j in (-1, len(r[0].t) - 1) for r in found.results):
                return exact(found.of(lambda r: r[0].y[:, j]), self.end_by_event(True)[1])
            which = [step_of(s, r[0].t[j]) for r, s in found.results_with(self.steps)]
            return exact(found.of(lambda r: r[0].y[:, j]), path.at(found.stacked(which), time(j)))

        known: dict[str, Any] = {"t": Ragged(time), "y": Ragged(state, len(found.first[0].y))}
        if t_events is not None:
            known.update(t_events=t_events, y_events=y_events)
        if found.first[0].sol is not None:
            known["sol"] = Solution(path, found, self.steps)
        return summary("solve_ivp", found, lambda r: r[0], known)

    def tolerances(self) -> tuple[Any, Any]:
        return self.more.get("rtol", RTOL), self.more.get("atol", 1e-6)

    def chosen(self) -> list[Steps]:
        """The steps of each example."""
        given, found = self.given, self.found
        if self.explicit is not None:
            return [steps for _, steps in found.results]
        which = found.number()

        def choose(values: PlainValues) -> Steps:
            plain = {key: values.tree(given[key]) for key in ("fun", "args", "y0")}
            a, b = map(values.of, given["t_span"])
            result, seen = found.results[int(values.of(which))]
            b = b if result.status == 0 or not len(result.t) else result.t[-1]
            y0 = start_of(plain["y0"])
            fun = right_side(plain["fun"], plain["args"] or (), y0, given["vectorized"])
            rtol, atol = map(values.tree, self.tolerances())
            return steps_for(fun, float(a), float(b), y0, rtol, atol, result.nfev, seen)

        return solve(choose).results

    def written(self, ts: Any, ys: Any, ended: bool) -> dict[str, Any]:
        """t and y, in a rule that is recorded."""
        given, n = self.given, ts.shape[0]
        if given["events"] is not None or given["dense_output"] or not ended or not n:
            raise Unstaged("what is known when it is solved")

        def own(fun: Any, t0: float, t1: float, y0: Any) -> Steps:
            marks: list[float] = []
            method = recording(self.explicit, marks)
            integrate.solve_ivp(fun, (t0, t1), y0, method=method, **self.more)
            rtol, _ = self.tolerances()
            return Steps(Explicit(base_of(self.explicit)), marks, rtol, own=True)

        options = [*map(plain_number, self.tolerances()), self.found.first[0].nfev]
        choose: Any = steps_for if self.explicit is None else own
        options = options if self.explicit is None else []
        path = WrittenPath("solve_ivp", self.fun, self.t0, self.t1, self.y0, choose, options)
        if given["t_eval"] is not None:
            asked = as_array(given["t_eval"])[:n]
            t = exact(ts, asked) if is_live(asked) else ts
            return {"t": t, "y": exact(ys, path.at(asked).T)}

        def time(j: int) -> Any:
            if j not in (0, -1):
                raise Unstaged("a step in the middle")
            end = self.t1 if j else self.t0
            return end if type(end) is Array else np.float64(end)

        def times() -> Any:
            places = np.arange(n)
            later = np.where(places == n - 1, self.t1, stop_gradient(ts))
            return np.where(places == 0, self.t0, later)

        y = Ragged(
            lambda j: path.at(np.stack([time(j)]))[0],
            len(self.found.first[0].y),
            all_steps=lambda: exact(ys, path.at(times()).T),
        )
        return {"t": Ragged(time, all_steps=lambda: exact(ts, times())), "y": y}

    def points(self, ended: bool, t_events: Any, y_events: Any) -> tuple[Any, Any]:
        """t and y, computed again."""
        found, path, n = self.found, self.path, len(self.found.first[0].t)
        asked = self.given["t_eval"]
        if asked is not None:
            times = as_array(asked)
            times = [times[j] for j in range(n)]
        elif all(isinstance(s.method, Explicit) and s.own for s in self.steps):
            ts, ys = list(path.ts), list(path.ys)
            last = None if ended else self.last_event(t_events, y_events)
            if last is not None:
                ts[-1], ys[-1] = last
            return np.stack(ts[-n:]), np.stack(ys[-n:], axis=-1)
        else:  # the steps are others than SciPy's
            own = found.of(lambda r: np.asarray(r[0].t))
            times = [own[j] for j in range(n)]
            last = None if ended else self.last_event(t_events, y_events)
            if is_live(self.t0):
                times[0] = self.t0
            if last is not None or (ended and is_live(self.t1)):
                times[-1] = self.t1 if last is None else last[0]
        if not times:
            return np.zeros(0), found.of(lambda r: np.asarray(r[0].y))
        columns = []
        for j, t in enumerate(times):
            which = [step_of(s, r[0].t[j]) for r, s in found.results_with(self.steps)]
            columns.append(path.at(found.stacked(which), t))
        return np.stack(times), np.stack(columns, axis=-1)

    def last_event(self, t_events: Any, y_events: Any) -> Any:
        for i in self.ended_by(self.found.first[0]):
            return t_events[i][-1], y_events[i][-1]
        return None

    def events(self) -> tuple[Any, Any]:
        """Where the events take place: roots along the path."""
        found, events = self.found, self.given["events"]
        if events is None:
            return None, None
        several = events if isinstance(events, (list, tuple)) else [events]
        t_events, y_events = [], []
        for i, event in enumerate(several):
            times = found.of(partial(event_of, "t_events", i))
            places = found.of(partial(event_of, "y_events", i))
            ts, ys = [], []
            for j in range(times.shape[0]):
                which = found.stacked(
                    [step_of(s, r[0].t_events[i][j]) for r, s in found.results_with(self.steps)]
                )
                t, y = self.event(event, which, times[j])
                ts.append(exact(times[j], t))
                ys.append(exact(places[j], y))
            t_events.append(np.stack(ts) if ts else times)
            y_events.append(np.stack(ys) if ys else places)
        return t_events, y_events

    def end_by_event(self, ends: bool) -> tuple[Any, Any]:
        """The last t and y of a batch whose examples were all ended by the same event."""
        found, several = self.found, self.given["events"]
        several = several if isinstance(several, (list, tuple)) else [several]
        by = {tuple(self.ended_by(r[0])) for r in found.results}
        if not ends or len(by) > 1 or len(numbers := by.pop()) != 1:
            raise ArgumentError(
                "Under `vmap`, an event ended some of the examples of `solve_ivp`, but not all.\n"
                "  Read `t_events` and `y_events` instead of the last of `t` and `y`."
            )
        last = [step_of(s, r[0].t[-1]) for r, s in found.results_with(self.steps)]
        time = found.of(lambda r: r[0].t[-1])
        return self.event(several[numbers[0]], found.stacked(last), time)

    @staticmethod
    def ended_by(result: Any) -> list[int]:
        """The numbers of the events that took place at the end."""
        events = enumerate(result.t_events)
        return [i for i, times in events if len(times) and times[-1] == result.t[-1]]

    def event(self, event: Any, which: Any, time: Any) -> tuple[Any, Any]:
        at = self.path.at
        if type(self.path) is Trajectory and how_often() > 1:
            at = self.path.moving_at

        def gap(t: Any) -> Any:
            return event(t, at(which, t), *self.args)

        t, _ = root_of("an event of solve_ivp", gap, (), time, None)
        return t, at(which, t)


# odeint


@serves(integrate.odeint)
def odeint(*args: Any, **options: Any) -> Any:
    bound = signature(integrate.odeint).bind(*args, **options)
    bound.apply_defaults()
    given = dict(bound.arguments)
    full = index(given["full_output"])
    given["full_output"] = True
    more = as_tuple(given["args"])

    def sides(fun: Any, args: Any, y0: Any) -> Any:
        if given["tfirst"]:
            return right_side(fun, args, y0)
        return right_side(lambda t, y, *args: fun(y, t, *args), args, y0)

    def call(values: PlainValues) -> Any:
        ys, info = integrate.odeint(**{key: values.tree(x) for key, x in given.items()})
        return ys, info, info["message"] == "Integration successful."

    found = solved(call)
    ys, info, _ = found.first
    if not found.live:
        return (ys, info) if full else ys
    told = found.part(1)
    y0, times = np.ravel(start_of(given["y0"])), as_array(given["t"])
    times = times if is_inexact(times.dtype) else times.astype(float)
    fun = sides(given["func"], more, y0)
    value = found.item(0)
    failure = reason(found, lambda r: r[2], lambda r: r[1]["message"])
    if failure is not None:
        out = without("odeint", fun, times[0], y0, value, failure)
        return (out, told) if full else out
    which = found.number()
    tolerances = [1.49012e-8 if given[key] is None else given[key] for key in ("rtol", "atol")]
    if are_written(value):
        computed = y0[None]
        if times.shape[0] > 1:
            known = [*map(plain_number, tolerances), info["nfe"][-1]]
            written = WrittenPath("odeint", fun, times[0], times[-1], y0, steps_for, known)
            computed = np.concatenate([computed, written.at(times[1:])])
        out = exact(value, computed)
        return (out, told) if full else out

    def choose(values: PlainValues) -> Steps:
        plain = {key: values.tree(given[key]) for key in ("func", "args", "y0", "t")}
        y0, ts = np.ravel(start_of(plain["y0"])), np.asarray(plain["t"], float)
        fun = sides(plain["func"], as_tuple(plain["args"]), y0)
        calls = int(values.of(info["nfe"])[-1]) if len(ts) > 1 else 0
        rtol, atol = map(values.tree, tolerances)
        seen = Seen(ts, found.results[int(values.of(which))][0], ()) if len(ts) > 1 else None
        return steps_for(fun, ts[0], ts[-1], y0, rtol, atol, calls, seen)

    steps = solve(choose).results
    path, steps = path_of(found, steps, fun, times[0], times[-1], y0)
    plain_times = solve(lambda values: np.asarray(values.tree(given["t"]), float)).results
    rows = rows_at(times[1:], [ts[1:] for ts in plain_times], found, steps, path)
    out = exact(value, np.stack([y0, *rows]))
    return (out, told) if full else out


def rows_at(times: Any, plain_times: Any, found: Any, steps: Any, path: Any) -> list[Any]:
    """The solution at each of the times, in the step of each example in which it lies.

    plain_times: the same as plain numbers, for each example or for all.
    """
    rows = []
    for j in range(times.shape[0]):
        pairs = zip(steps, plain_times * len(steps), strict=False)
        rows.append(path.at(found.stacked([step_of(s, ts[j]) for s, ts in pairs]), times[j]))
    return rows

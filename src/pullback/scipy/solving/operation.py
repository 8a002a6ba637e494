"""A call of a SciPy solver, as one operation in a recording.

`compile` replays what a function did with other numbers. SciPy's own work is not recorded step by
step: its call is one operation, and each replay calls SciPy again.

    brentq(lambda x: x**3 - a, 0, b)   ->   brentq of the operands (b, a), with x**3 - a a program

The derivatives of the operation are operations of the same kind: they do what the rule of SciPy's
function does with numbers that carry a derivative.

A function that can't be turned into a program (it asks for `int(x)`) is recorded step by step; such
a recording is valid only for calls with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from ...compiler.facts.listeners import WATCHING, forbid
from ...core.array import Array, peel
from ...core.reach.calls import call as begin
from ...core.reach.calls import call_inside
from ...core.reach.session import SESSION, active
from ...core.storage import TALLY
from ...core.trace import is_live
from ...core.tree import flatten, unflatten
from ...transforms.batch import BatchTrace
from ...transforms.call import along, floating, placed
from ...transforms.forward import jvp
from ...transforms.loops.body import Unstaged, example
from ...transforms.reverse import vjp
from ...transforms.stage import StageTrace
from .plain import MEMORY, SERVED, SOLVING, Remembered, Solves, Unlifted, met, through
from .programs import ClosedProgram, Learner, LiftedArrays
from .results import NONE, CallableOfThatCall, checked, fit, form_of, holds_objects, made
from .rules import RecordedRules, Solving
from .unread import PartsRead
from .watching import unnoted


def as_recorded(
    function: Callable[..., Any],
    args: Any,
    kwargs: Any,
    of_method: bool = False,
    amplifies: bool = False,
    varying: Mapping[str, str] = NONE,
) -> Any:
    """The result of a rule for SciPy's function; if it solves and is recorded, as one operation.

    of_method: whether the first argument is the object that has it.
    amplifies: whether the last bits of the user's functions count, as where differences are taken.
    varying: which parts of the result have other lengths in each call.
    """
    if not TALLY.recordings or SOLVING.get() is not None:
        return function(*args, **kwargs)
    before, served = SOLVING.get(), SERVED.get()
    try:
        SOLVING.set("asked")
        out = function(*args, **kwargs)
        if served is not None:
            served.append(function)
        return out
    except Solves as found:
        SOLVING.set("plain")
        try:
            call = SolverCall(function, args, kwargs, of_method, amplifies, varying)
            return with_functions(call.result(found.by_values), function, args, kwargs)
        except (Unstaged, Unlifted):
            SOLVING.set("itself")
            return function(*args, **kwargs)
    finally:
        SOLVING.set(before)


def with_functions(out: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A result whose functions, such as `sol` of `solve_ivp`, are operations where called."""
    for key, x in out.items() if isinstance(out, dict) else ():
        if type(x) is CallableOfThatCall:

            def at(t: Any, *args: Any, key: Any = key, **kwargs: Any) -> Any:
                return call_inside(function(*args, **kwargs)[key], (t,), {})

            at.__name__ = f"{function.__name__}: {key}"
            out[key] = CallableOfThatCall(lambda t, at=at: as_recorded(at, (t, *args), kwargs))
    return out


OPERATION = 30_000.0  # nanoseconds that a repetition of SciPy's call takes beside it


class Operand:
    """The place of a number among the arguments of a call."""

    def __init__(self, place: int) -> None:
        self.place = place


class OperandTree:
    """A sparse array among the arguments of a call, with the places of its numbers."""

    def __init__(self, structure: Any, leaves: list[Any]) -> None:
        self.structure, self.leaves = structure, leaves

    def filled(self, xs: Sequence[Any]) -> Any:
        return unflatten(self.structure, [filled(x, xs) for x in self.leaves])


class GivenArgument:
    """An argument, in which operands and functions of the user's have their places."""

    def __init__(self, x: Any) -> None:
        self.x, self.is_constant = x, True
        through(x, self.look)
        self.is_constant &= type(x) not in (list, dict)  # SciPy may write into these

    def look(self, x: Any) -> None:
        self.is_constant &= type(x) not in (Operand, OperandTree, Learner)

    def filled(self, xs: Sequence[Any]) -> Any:
        if self.is_constant:
            return self.x
        if type(self.x) in (Operand, OperandTree):
            return filled(self.x, xs)
        return through(self.x, lambda x: filled(x, xs))


def filled(x: Any, xs: Sequence[Any]) -> Any:
    if type(x) is Operand:
        return xs[x.place]
    if type(x) is OperandTree:
        return x.filled(xs)
    return ClosedProgram(x, xs) if type(x) is Learner else x


class SolverCall:
    """A call of a solver, as a function from arrays to arrays."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        of_method: bool,
        amplifies: bool,
        varying: Mapping[str, str],
    ) -> None:
        self.function, self.name, self.exact = function, function.__name__, amplifies
        self.varying = varying
        self.owner, args = args[:of_method], args[of_method:]
        self.operands, self.learners = LiftedArrays(), list[Learner]()
        self.args = [GivenArgument(through(x, self.lifted)) for x in args]
        self.kwargs = {key: GivenArgument(through(x, self.lifted)) for key, x in kwargs.items()}
        self.form: Any = None  # of the result
        self.parts = PartsRead(self)
        # The last plain operands, and what SciPy gave for them.
        self.last: tuple[Any, Remembered] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "last": None}

    def lifted(self, x: Any) -> Any:
        if is_live(x):
            return Operand(self.operands.place(x))
        if type(x) in (Array, np.ndarray):
            return np.array(peel(x))  # the program may write into it later
        if type(x).__module__.startswith("scipy.sparse"):
            leaves, structure = flatten(x)
            if structure is not None and any(map(is_live, leaves)):
                if vars(x).get("dropped"):
                    raise Unlifted  # which entries it has goes by their values
                return OperandTree(structure, [self.lifted(leaf) for leaf in leaves])
        if isinstance(x, (np.random.Generator, np.random.RandomState)):
            forbid("it hands a generator of random numbers to SciPy")
        if is_function(x):
            self.learners.append(Learner(x, self.operands, self.exact))
            return self.learners[-1]
        return x

    def result(self, numbers_alone: bool) -> Any:
        """The result of the call, as the transformations around it have it.

        numbers_alone: whether an object in the result could not stand for those of other calls
        """
        found, _ = self.noted(self.operands.values)
        if not self.operands.arrays:
            return found
        if not any(met(x, StageTrace) for x in self.operands.arrays):
            raise Unlifted  # nothing of it is going to be repeated
        self.form = form_of(found, [], self.varying)
        if numbers_alone and holds_objects(self.form):
            raise Unlifted
        leaves = fit(self.form, found)
        outs = iter(self.operation(checked([pair for pair in leaves if not pair[0].varies])))
        arrays = self.parts.arrays(leaves)
        parts = [arrays[leaf] if leaf.varies else next(outs) for leaf, _ in leaves]
        return made(self.form, iter(parts))

    def operation(self, results: Sequence[Any]) -> Any:
        """The call with these results, of which those that are numbers of a recording are told."""
        rules = None if self.last is None else RecordedRules(self, self.last[1])
        return operation(self.name, self.run, self.operands.arrays, results, rules, self)

    def costs(self) -> tuple[float, float] | None:
        """Nanoseconds of the user's functions, and of a repetition with their programs.

        What SciPy itself takes is in neither; None: that of a function is not known.
        """
        several = [learner.costs() for learner in self.learners]
        known = [costs for costs in several if costs is not None]
        if len(known) < len(several):
            return None
        plain, compiled = [sum(parts) for parts in zip((0.0, OPERATION), *known, strict=True)]
        return plain, compiled

    def prepare(self, level: int) -> None:
        for learner in self.learners:
            learner.prepare(level)

    def called(self, xs: Sequence[Any]) -> Any:
        args = *self.owner, *[part.filled(xs) for part in self.args]
        kwargs = {key: part.filled(xs) for key, part in self.kwargs.items()}
        if WATCHING.get() is not None:
            with unnoted():
                return self.begun(xs, args, kwargs)
        return self.begun(xs, args, kwargs)

    def begun(self, xs: Sequence[Any], args: Any, kwargs: Any) -> Any:
        if Array not in map(type, xs) or active():
            return self.function(*args, **kwargs)
        before = SESSION.get()
        try:
            SESSION.set(None)  # SciPy's code takes part, as it did when the call was made
            return begin(self.function, args, kwargs)
        finally:
            SESSION.set(before)

    def noted(self, xs: Sequence[Any], of_plain: bool = False) -> tuple[Any, Remembered]:
        """The call with plain operands, and what SciPy gave, for its derivatives."""
        memory = Remembered(of_plain)
        before = MEMORY.get()
        try:
            MEMORY.set(memory)
            found = self.called(xs)
        finally:
            MEMORY.set(before)
        memory.noting, self.last = False, (xs, memory) if memory.usable else None
        return found, memory

    def run(self, *xs: Any) -> tuple[Any, ...]:
        if Array not in map(type, xs):
            return self.fitted(self.repeated(xs)[0])
        before = SOLVING.get()
        try:
            SOLVING.set("itself")
            return self.results(xs, self.remembered(xs))
        finally:
            SOLVING.set(before)

    def repeated(self, xs: Sequence[Any]) -> tuple[Any, Remembered]:
        """The call with other plain operands than the recorded ones."""
        before = SOLVING.get()
        try:
            SOLVING.set("itself")
            return self.noted(xs, of_plain=True)
        finally:
            SOLVING.set(before)

    def results(self, xs: Sequence[Any], memory: Remembered | None) -> tuple[Any, ...]:
        """The results by the rule of the function; memory: what SciPy gave, if that is known."""
        before = MEMORY.get()
        try:
            MEMORY.set(None if memory is None else memory.again())
            return self.fitted(self.called(xs))
        finally:
            MEMORY.set(before)

    def fitted(self, found: Any) -> tuple[Any, ...]:
        leaves = fit(self.form, found)
        fixed = [] if self.parts.alone else [pair for pair in leaves if not pair[0].varies]
        return (*checked(fixed), *self.parts.found_in(leaves))

    def remembered(self, xs: Sequence[Any]) -> Remembered | None:
        """Derivatives that are taken after a call need not solve again; None: they must."""
        last = self.last
        if last is None or any(met(x, BatchTrace) for x in xs):
            return None
        return last[1] if all(map(same, last[0], map(peel, xs))) else None


def is_function(x: Any) -> bool:
    """Whether an argument is called with numbers; what C has made takes them as they are.

    An operator is asked for products.
    """
    made_by_c = isinstance(x, (type, BuiltinFunctionType)) or type(x).__module__ == "ctypes"
    return callable(x) and not (made_by_c or hasattr(x, "matvec"))


def same(x: Any, y: Any) -> bool:
    """Whether two operands have the same bits."""
    x, y = np.asarray(x), np.asarray(y)
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()


# The operation, and its derivatives.


def operation(
    name: str,
    run: Callable[..., Any],
    xs: Sequence[Any],
    results: Sequence[Any] | None = None,
    rules: RecordedRules | None = None,
    solver: SolverCall | None = None,
) -> Any:
    """run(*xs) as one operation; results: those for plain values like the operands.

    rules: write its derivatives down as operations where that can be done
    solver: whose results they are, if no derivative is taken
    """
    if not any(type(x) is Array for x in xs):
        return run(*xs)
    if results is None:
        results = run(*map(example, xs))
    n = len(xs)

    def derivative(way: str, at: Any, rule: Any, xs: Sequence[Any], more: Sequence[Any]) -> Any:
        call.costs = None  # in Python it takes much more than the function alone
        outs = None if rules is None else rules.outs((way, *at), rule, xs, more)
        if outs is None:
            return operation(f"{name}, {way}", partial(rule, run), [*xs, *more])
        return outs

    def push(xs: Any, outs: Any, x_dots: Any) -> Any:
        at = [i for i, dot in enumerate(x_dots) if dot is not None]
        moving = floating(outs)

        def ahead(run: Any, *operands: Any) -> Any:
            whole, dots = operands[:n], operands[n:]
            of = along(among(run, moving), whole, at)
            return jvp(of, tuple([whole[i] for i in at]), tuple(dots))[1]

        dots = derivative("forward", at, ahead, xs, [x_dots[i] for i in at])
        return placed(dots, moving, len(outs))

    def pull(xs: Any, outs: Any, out_bars: Any) -> Any:
        at, moving = [i for i, bar in enumerate(out_bars) if bar is not None], floating(xs)

        def back(run: Any, *operands: Any) -> Any:
            whole, bars = operands[:n], operands[n:]
            of = along(among(run, at), whole, moving)
            return vjp(of, *[whole[i] for i in moving])[1](tuple(bars))

        bars = derivative("backward", at, back, xs, [out_bars[i] for i in at])
        return placed(bars, moving, n)

    call = Solving(name, run, push, pull, xs, results)
    if solver is None:
        return call.of_examples(xs)
    call.costs, call.prepare = solver.costs(), solver.prepare
    outs = call.of_examples(xs)
    solver.parts.begin(call, xs)
    return outs


def among(run: Callable[..., Any], at: Sequence[int]) -> Callable[..., Any]:
    """A function with some of its results."""

    def some(*xs: Any) -> tuple[Any, ...]:
        outs = run(*xs)
        return tuple([outs[i] for i in at])

    return some

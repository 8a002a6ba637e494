"""Register rules for SciPy functions that call the user's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any

from ...core.reach.call_tables import CALLS
from ...core.reach.compiled_code import given_function
from ...core.reach.namespaces import BEHIND, STANDS
from ...core.reach.session import active
from ...core.reach.twins import copied
from ...core.reach.walk import reach_class
from ...core.registry import FUNCTIONS, REFUSED, replaces
from ...core.trace import unsearched
from ...numpy.taking_part import joined
from ...numpy.wrapping import OWN, answers_for
from .by_example import again, apart
from .draws import ORIGINALS
from .operation import as_recorded
from .plain import signature
from .repeated_stores import stored_once
from .results import NONE


def serves(
    *originals: Any, amplifies: bool = False, varying: Mapping[str, str] = NONE
) -> Callable[[Any], Any]:
    """Let a function or class answer for SciPy's, under its name, signature and documentation.

    It is called whatever the arguments are: what a function closes over cannot be seen.

    amplifies: whether the last bits of the user's functions count, as where differences are taken.
    varying: the parts of its result that have other lengths in each call, by their keys, and what
        their length is: that of one is that of all that have the same.
    """

    def enter(function: Any) -> Any:
        if isinstance(function, type):
            keep_unsearched(function)
            OWN.update(dict.fromkeys(originals, function))
            return replaces(*originals)(function)

        def rule(*args: Any, **kwargs: Any) -> Any:
            original = originals[0]
            with unsearched(), stored_once(original.__name__, (args, kwargs)) as stores:
                out = as_recorded(function, args, kwargs, amplifies=amplifies, varying=varying)
                if stores is not None:
                    stores.gives(out, signature(original).bind_partial(*args, **kwargs).arguments)
                return out

        def call(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = reached(args), reached(kwargs)
            return again(rule, *args, **kwargs) if active() else joined(rule, args, kwargs)

        ORIGINALS[rule] = originals[0]
        update_wrapper(call, originals[0])
        call.serves = function  # type: ignore[attr-defined]  # artifacts on disk find it by this
        function.answers = originals[0]  # and by this
        for original in originals:
            stand_in(original)
        return replaces(*originals)(call)

    return enter


def keep_unsearched(cls: type) -> None:
    """Let what the methods of a class compare be no search, as what served functions compare is."""
    for base in cls.__mro__:
        if base.__module__.startswith("pullback."):
            for name, method in list(vars(base).items()):
                public = name == "__init__" or not name.startswith("_")
                if public and type(method) is FunctionType and not hasattr(method, "__wrapped__"):
                    setattr(base, name, within_unsearched(method))


def within_unsearched(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = [*getattr(self, "__dict__", {}).values()]
        with unsearched(), stored_once(method.__qualname__, (held, args, kwargs)):
            return method(self, *args, **kwargs)

    return update_wrapper(call, method)


def refuses(why: str, instead: str, *originals: Any) -> None:
    """Let functions of SciPy's raise MissingRuleError where Arrays are among their arguments.

    Args:
        why: completes the sentence "`name` ..."
        instead: a sentence without its full stop.
    """
    for original in originals:
        REFUSED[original] = why, instead


def reached(x: Any) -> Any:
    """Arguments whose functions take part, as if the user's code had called them."""
    kind = type(x)
    if kind in (list, tuple):
        return kind([reached(item) for item in x])
    if kind is dict:
        return {key: reached(item) for key, item in x.items()}
    return given_function(x)


def serves_method(
    original: Any, needed: Callable[[Any], Any] | None = None
) -> Callable[[Any], Any]:
    """The same for a method or a private function of SciPy's, wherever it is called.

    needed: positional arguments -> those that it needs, without what it doesn't use
    """

    def enter(function: Any) -> Any:
        of_method = "." in getattr(original, "__qualname__", "")

        def rule(*args: Any, **kwargs: Any) -> Any:
            given = args[1:] if of_method else args, kwargs
            with unsearched(), stored_once(original.__name__, given):
                return as_recorded(function, args, kwargs, of_method)

        def call(*args: Any, **kwargs: Any) -> Any:
            return again(rule, *(needed(args) if needed is not None else args), **kwargs)

        update_wrapper(call, original)
        call.serves = function  # type: ignore[attr-defined]  # artifacts on disk find it by this
        function.answers = original  # and by this
        replaces(original)(call)
        STANDS[id(original)] = call
        BEHIND[id(call)] = original
        return call

    return enter


def traced(original: FunctionType) -> Callable[..., Any]:
    """SciPy's own code of a function that a rule stands for, taking part as the user's does."""
    own = copied(original)
    return lambda *args, **kwargs: CALLS[own](*args, **kwargs)


def by_values(*originals: Any, call: Callable[..., Any] = again) -> None:
    """Enter public functions and classes of SciPy's that may have to be called by example."""
    for original in originals:
        stands = STANDS.get(id(original))
        if stands is None:
            stands = traced(original) if type(original) is FunctionType else partial(made, original)
        ORIGINALS[stands] = original
        stand_in = update_wrapper(partial(call, stands), original, updated=())
        STANDS[id(original)] = stand_in
        BEHIND[id(stand_in)] = original


def one_for_each(*classes: Any) -> None:
    """Enter classes whose methods refuse what they keep, if it is mapped: an object by example."""
    by_values(*classes, call=apart)


def made(cls: Any, *args: Any, **options: Any) -> Any:
    reach_class(cls)
    return cls(*args, **options)


def stand_in(original: Any) -> None:
    @answers_for(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return FUNCTIONS[original](*args, **kwargs)

    call.__module__ = original.__module__

"""Warnings that a call gives, and that each replay gives again at the same line.

A rehearsal doesn't call `warnings.warn`: it notes the arguments and the line that the warning
points at, and the replay gives the warning as one of its effects. Python's filters decide each time
whether the warning is shown, by the same registry as without `compile`. If a filter turns warnings
into errors, the function runs in Python.

    Warned         one warning
    warning_of     the warning that a call of `warnings.warn` gives, or why it can't be repeated
    setup          the filters, and the function that shows warnings: has `catch_warnings` begun?
    makes_errors   whether a filter turns warnings into errors, checked before a replay
    Once           the warnings that have been given, where one is given once for each line
    hears_numpy    whether a call hears of NumPy's own warnings, which a replay doesn't give
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from ...core.reach.namespaces import caller, package


def setup() -> tuple[list[Any], Any]:
    """The filters, and what shows a warning."""
    return list(warnings.filters), shows()


def shows() -> tuple[Any, Any]:
    """The functions that show a warning: `catch_warnings(record=True)` and users replace them."""
    return vars(warnings).get("_showwarnmsg_impl"), warnings.showwarning


class Once:
    """The warnings that have been given, by module: a filter may give one once for each line.

    What a rehearsal has given to functions of the program's own counts as not given, since the call
    is made again.
    """

    def __init__(self) -> None:
        self.before = {id(registry): dict(registry) for registry in self.registries()}

    def registries(self) -> list[dict[Any, Any]]:
        scopes = [getattr(module, "__dict__", {}) for module in list(sys.modules.values())]
        return [x["__warningregistry__"] for x in scopes if "__warningregistry__" in x]

    def put_back(self) -> None:
        for registry in self.registries():
            before = self.before.get(id(registry), {})
            if registry != before:
                registry.clear()
                registry.update(before)


class Warned:
    """A warning, and the frame that it points at; None: that of the call that replays it."""

    def __init__(self, message: Any, category: Any, source: Any, frame: Any) -> None:
        self.message, self.category, self.source = message, category, source
        self.line = None if frame is None else line_of(frame)

    def __call__(self) -> None:
        file, line, scope = self.line or line_of(caller())
        registry = scope.setdefault("__warningregistry__", {})
        module, source = scope.get("__name__") or "<unknown>", self.source
        warnings.warn_explicit(
            self.message, self.category, file, line, module, registry, scope, source
        )


def line_of(frame: Any) -> tuple[str, int, dict[str, Any]]:
    return frame.f_code.co_filename, frame.f_lineno, frame.f_globals


def warning_of(
    outside: tuple[list[Any], Any],
    frame: Any,
    message: Any,
    category: Any = None,
    stacklevel: int = 1,
    source: Any = None,
    **more: Any,
) -> Any:
    """The warning that a call of `warnings.warn` from this frame gives.

    A text says why it cannot be repeated; None: nobody outside of the call will hear of it.

    Args:
        outside: the `setup` when the call began.
    """
    if isinstance(message, Warning):
        category = type(message)
    category = category or UserWarning
    if more or not (isinstance(category, type) and issubclass(category, Warning)):
        return "it calls `warnings.warn`"
    now = setup()
    if now != outside:  # `catch_warnings` has begun in this call
        silent = now[1] != outside[1] or action(str(message), category, frame) == "ignore"
        return None if silent else "it warns with filters of its own"
    if makes_errors():
        return "it warns, and a filter turns warnings into errors"
    for _ in range(stacklevel - 1):
        frame = frame.f_back if frame is not None else None
    beyond = frame is None or package(frame.f_globals) == "pullback"
    if not isinstance(message, Warning):
        message = str(message)
    return Warned(message, category, source, None if beyond else frame)


def action(text: str, category: type[Warning], frame: Any) -> str:
    """What the filters say of a warning that a frame gives."""
    module, line = str(frame.f_globals.get("__name__")), frame.f_lineno
    for said, like, kind, where, at in warnings.filters:
        fits = (like is None or like.match(text)) and issubclass(category, kind)
        if fits and (where is None or where.match(module)) and at in (0, line):
            return said
    return "default"


def makes_errors() -> bool:
    """Whether a filter turns warnings into errors."""
    return any(each[0] == "error" for each in warnings.filters)


def hears_numpy(outside: tuple[list[Any], Any]) -> str | None:
    """How code hears of NumPy's warnings since it has changed the filters; None: it doesn't.

    Args:
        outside: the `setup` when the call began.
    """
    before = {id(each) for each in outside[0]}
    done = actions_on_numpys([each for each in warnings.filters if id(each) not in before])
    if "error" in done:
        return "it turns NumPy's warnings into errors"
    return None if shows() == outside[1] or done == {"ignore"} else "it records NumPy's warnings"


def actions_on_numpys(filters: list[Any]) -> set[str]:
    """What filters do with warnings of NumPy's, up to the first that holds for all of them."""
    found = set()
    for each, like, kind, where, at in filters:
        if issubclass(RuntimeWarning, kind):
            found.add(str(each))
            if not (like or where or at):
                return found
    return found | {"default"}

"""Warnings that a call gives: they are given again by each repetition, at the same line.

`warnings.warn` is not called while a call is rehearsed; what it would have been called with is
noted, with the line that it speaks of, and is an effect as a store is. Python's filters decide each
time whether the warning is shown, by the same registry as without compile. Where they make errors
of warnings, the function runs in Python.

    Warned         one warning
    noted(...)     the warning that a call of `warnings.warn` stands for; or why there is none
    makes_errors   whether a filter makes errors of warnings: a fact
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

from ...core.namespaces import package

__all__ = ["Warned", "makes_errors", "noted"]

SHOWS: Any = vars(warnings).get("_showwarnmsg_impl")


class Warned:
    """A warning, and the frame that it speaks of; None: that of the call that repeats it."""

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


def caller() -> Any:
    """The innermost frame outside of ours."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and package(frame.f_globals) == "pullback":
        frame = frame.f_back
    return frame


def noted(filters: list[Any], frame: Any, message: Any, category: Any = None, stacklevel: int = 1,
          source: Any = None, **more: Any) -> Any:  # fmt: skip
    """What a call from this frame would warn of; text: it cannot be repeated; None: nothing will
    be heard outside of the call."""
    if isinstance(message, Warning):
        category = type(message)
    category = category or UserWarning
    if more or not (isinstance(category, type) and issubclass(category, Warning)):
        return "it calls `warnings.warn`"
    own = warnings.filters != filters or vars(warnings).get("_showwarnmsg_impl") is not SHOWS
    if own:  # `catch_warnings` has begun in this call
        kept = vars(warnings).get("_showwarnmsg_impl") is not SHOWS
        silent = kept or action(str(message), category, frame) == "ignore"
        return None if silent else "it warns with filters of its own"
    if makes_errors():
        return "it warns, and a filter makes errors of warnings"
    for _ in range(stacklevel - 1):
        frame = frame.f_back if frame is not None else None
    outside = frame is None or package(frame.f_globals) == "pullback"
    if not isinstance(message, Warning):
        message = str(message)
    return Warned(message, category, source, None if outside else frame)


def action(text: str, category: type[Warning], frame: Any) -> str:
    """What the filters say of a warning that a frame gives."""
    module, line = str(frame.f_globals.get("__name__")), frame.f_lineno
    for said, like, kind, where, at in warnings.filters:
        fits = (like is None or like.match(text)) and issubclass(category, kind)
        if fits and (where is None or where.match(module)) and at in (0, line):
            return said
    return "default"


def makes_errors() -> bool:
    """Whether a filter makes errors of warnings."""
    return any(each[0] == "error" for each in warnings.filters)

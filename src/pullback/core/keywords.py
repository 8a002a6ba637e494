"""Errors for keywords that a pullback function doesn't have: `grad(f, argnum=1)`.

Our functions take `**unknown: Never`, so a type checker refuses such keywords, and pass what they
receive to `refuse_keywords`. It looks in `names_elsewhere`, and otherwise for a similar name.
"""

from __future__ import annotations

import difflib
import inspect
import reprlib
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from .errors import ArgumentTypeError
from .names_elsewhere import KEYWORDS, RENAMED


def advice(instead: str) -> str:
    """The sentence that says what to write, given code in backticks or words."""
    return f"{'Write' if instead.startswith('`') else 'Instead,'} {instead}."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of the known names that was meant, if one is near."""
    plain = {each.lower().replace("_", ""): each for each in known}
    close = difflib.get_close_matches(name.lower().replace("_", ""), plain, 1, 0.75)
    return plain[close[0]] if close else None


def keyword_elsewhere(name: str, value: Any, known: list[str], optional: list[str]) -> str:
    """What to write for the keyword name=value of a function that has others."""
    own = RENAMED.get(name)
    own = own if own in known else nearest(name, known) if name not in KEYWORDS else None
    if own == "argnums" and not isinstance(value, (int, tuple)):
        return "`argnums=0`, the position of the argument, counted from 0"
    if own is not None:
        shown = repr(value) if isinstance(value, (bool, int, float, str, tuple)) else own
        return f"`{own}={shown if len(shown) < 40 else own}`"
    if name in KEYWORDS:
        return KEYWORDS[name]
    if not optional:
        return "leave it out"
    return f"leave it out, or choose among {', '.join(f'`{each}`' for each in optional)}"


def refuse_keywords(
    function: Callable[..., Any], unknown: dict[str, Any], asked: str | None = None
) -> NoReturn:
    """Raise for the keywords that a function was given and does not have."""
    parameters = inspect.signature(function).parameters.values()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    known, optional = [p.name for p in named], [p.name for p in named if p.default is not p.empty]
    name, value = next(iter(unknown.items()))
    raise ArgumentTypeError(
        f"`{asked or function.__name__}` was called with `{name}={reprlib.repr(value)}`, and has no"
        f" such keyword.\n  {advice(keyword_elsewhere(name, value, known, optional))}"
    )

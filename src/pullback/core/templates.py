"""Generate functions for a fixed number of operands of fixed kinds, from templates.

Code that runs in every operation would lose time in loops over two or three operands. So it is
written as a template in which these loops are unrolled, beside the general code for any number of
operands. Each function is made once and used for all later calls.

Enters: a template with blanks in braces, what fills them, and the names that the text uses. Leaves:
the function that the text defines. What is declared on import is written when it is first called
(`later`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType
from typing import Any


def from_template(
    text: str, scope: dict[str, Any], space: dict[str, Any] | None = None, **blanks: Any
) -> Any:
    """The function that a template defines once its blanks are filled.

    >>> text = "def last({names}):\\n    return {name}"
    >>> last = from_template(text, {}, names="x0, x1", name="x1")
    >>> last(1, 2)
    2

    scope: what else the text names.
    space: the globals of the function, where others know them already.
    """
    code, name = compiled(text.strip().format(**blanks))
    space = {} if space is None else space
    space |= {"__name__": __name__, **scope}  # messages name the module of a frame
    exec(code, space)
    return space[name]


def later(text: str, make: Callable[[dict[str, Any]], Any]) -> Any:
    """The function of a template that `make` fills, once it is called: then it gets its code.

    >>> text = "def twice(x):\\n    return {number} * x"
    >>> twice = later(text, lambda space: from_template(text, {}, space, number=2))
    >>> twice(3), twice(4)
    (6, 8)

    Few of the functions that are declared on import are ever called. Later calls cost what those of
    any function cost.
    """
    space: dict[str, Any] = {"__name__": __name__}
    function = FunctionType(unwritten.__code__, space, name_in(text.strip()))
    function.__qualname__, function.__doc__ = function.__name__, None

    def write() -> Any:
        made = make(space)
        function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
        function.__code__ = made.__code__  # last: another thread may call it
        return function

    space["write"] = write
    return function


def unwritten(*xs: Any, **more: Any) -> Any:
    """The code of a function of `later` until it is called, with globals of its own."""
    return write()(*xs, **more)  # type: ignore[name-defined]  # noqa: F821  # among its globals


@cache
def compiled(source: str) -> tuple[CodeType, str]:
    """The code of a filled template, which many functions may share, and the function's name."""
    name = name_in(source)
    return compile(source, f"<pullback: {name}>", "exec"), name


def name_in(text: str) -> str:
    """The name of the function that a text begins to define."""
    return text[len("def ") : text.index("(")]

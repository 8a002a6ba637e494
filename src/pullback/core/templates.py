"""Generate functions for a fixed number of operands of fixed kinds, from templates.

Code that runs in every operation would lose time in loops over two or three operands. So it is
written as a template in which these loops are unrolled, beside the general code for any number of
operands. Each function is made once and used for all later calls.

Enters: a template with blanks in braces, what fills them, and the names that the text uses. Leaves:
the function that the text defines.
"""

from __future__ import annotations

from functools import cache
from types import CodeType
from typing import Any


def from_template(text: str, scope: dict[str, Any], **blanks: Any) -> Any:
    """The function that a template defines once its blanks are filled.

    >>> text = "def last({names}):\\n    return {name}"
    >>> last = from_template(text, {}, names="x0, x1", name="x1")
    >>> last(1, 2)
    2

    scope: what else the text names.
    """
    code, name = compiled(text.strip().format(**blanks))
    space = {"__name__": __name__, **scope}  # messages name the module of a frame
    exec(code, space)
    return space[name]


@cache
def compiled(source: str) -> tuple[CodeType, str]:
    """The code of a filled template, which many functions may share, and the function's name."""
    name = source[len("def ") : source.index("(")]
    return compile(source, f"<pullback: {name}>", "exec"), name

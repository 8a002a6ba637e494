"""Functions that are written out for the number and the kinds of their operands.

What every operation does is worth no loop over two or three operands. So it stands as a text with
blanks, beside the code that says the same for any number, and is filled once for each declaration.
"""

from __future__ import annotations

from functools import cache
from types import CodeType
from typing import Any

__all__ = ["written"]


def written(text: str, scope: dict[str, Any], **blanks: Any) -> Any:
    """The function of a text whose blanks are filled.

    >>> last = written("def last({names}):\\n    return {name}", {}, names="x0, x1", name="x1")
    >>> last(1, 2)
    2

    scope: what else it names.
    """
    code, name = compiled(text.strip().format(**blanks))
    space = {"__name__": __name__, **scope}  # whose frame it is, for messages
    exec(code, space)
    return space[name]


@cache
def compiled(source: str) -> tuple[CodeType, str]:
    """The code of a filled text, which many functions may share, and the function's name."""
    name = source[len("def ") : source.index("(")]
    return compile(source, f"<pullback: {name}>", "exec"), name

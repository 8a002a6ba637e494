"""How public functions and objects are used: `dir`, and errors for calls that don't fit.

`@usage("grad(f)(x)")` above a public function says how it's called. What the function's signature
refuses (a keyword that it doesn't have, too many arguments or too few) then raises an error that
says what to write instead, in words of `names_elsewhere` where another library has that keyword.
It costs a call of Python's; functions of `nn` and others that run as often as an operation take
`**unknown: Never` instead, and pass what they receive to `refuse_keywords`.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NoReturn, TypeVar, cast

from .errors import ArgumentTypeError, name_of
from .names_elsewhere import KEYWORDS, KEYWORDS_OF, RENAMED

F = TypeVar("F", bound=Callable[..., Any])
USAGE: dict[str, str] = {}  # how each public function is called, by its name


def usage(example: str, name: str | None = None) -> Callable[[F], F]:
    """Declare how a public function is called, and say so where a call doesn't fit it.

    >>> @usage("double(x)")
    ... def double(x):
    ...     return 2 * x
    >>> double()
    Traceback (most recent call last):
    pullback.core.errors.ArgumentTypeError: `double` was called without `x`.
      Write `double(x)`.

    Args:
        example: a call as users write it; for a method, `{}` is the name of its object.
        name: what messages call the function, if it isn't what the example begins with.
    """
    asked = name or example.partition("(")[0]

    def declare(function: F) -> F:
        USAGE[asked] = example

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                trace = error.__traceback__
                if trace is not None and trace.tb_next is not None:
                    raise
                unentered = error  # refused outside of this block, so that users see one error
            refuse_call(function, asked, example, args, kwargs)
            raise unentered

        return cast(F, call)

    return declare


def listing(*names: str) -> Callable[[Any], list[str]]:
    """A `__dir__` that lists these names, and those with underscores: what users are offered.

    >>> class Counter:
    ...     __dir__ = listing("total")
    ...
    ...     def __init__(self):
    ...         self.total, self.parts = 0, []
    >>> [name for name in dir(Counter()) if not name.startswith("_")]
    ['total']
    """

    def __dir__(self: Any) -> list[str]:
        return [n for n in object.__dir__(self) if n.startswith("_") or n in names]

    return __dir__


def refuse_call(
    function: Callable[..., Any],
    asked: str,
    example: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Raise for arguments that don't fit the signature of a function."""
    parameters = [*inspect.signature(function).parameters.values()]
    if parameters and parameters[0].name == "self":
        owner = name_of(getattr(args[0], "fun", args[0]))
        asked, example = asked.format(owner), example.format(owner)
        parameters, args = parameters[1:], args[1:]
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    unknown = {name: kwargs[name] for name in kwargs if name not in [p.name for p in named]}
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        refuse_keywords(function, unknown, asked)
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    line = f"`{example}`" if not example.startswith("with") else f"`{example}:`"
    if len(args) > len(places) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        takes = " and ".join([f"`{p.name}`" for p in places])
        options = [f"`{p.name}=...`" for p in named if p.kind is p.KEYWORD_ONLY]
        write = f"The arguments come in a call of their own: {line}"
        raise ArgumentTypeError(
            f"`{asked}` was called with {len(args)} positional"
            f" argument{'s' if len(args) != 1 else ''}, but takes"
            f" {f'only {takes}' if takes else 'none'}.\n  "
            + (write if ")(" in example else f"Write {line}")
            + (f"; options have names, {', '.join(options)}." if options else ".")
        )
    for p in places[: len(args)]:
        if p.name in kwargs:
            raise ArgumentTypeError(
                f"`{asked}` was given `{p.name}` twice, by position and by name.\n  Write {line}."
            )
    missing = [p.name for p in named if p.default is p.empty and p.name not in kwargs]
    missing = [name for name in missing if name not in [p.name for p in places[: len(args)]]]
    if missing:
        names = ", ".join([f"`{name}`" for name in missing])
        raise ArgumentTypeError(f"`{asked}` was called without {names}.\n  Write {line}.")


def advice(instead: str) -> str:
    """The sentence that says what to write, given code in backticks or words."""
    return f"{'Write' if instead.startswith('`') else 'Instead,'} {instead}."


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of the known names that was meant, if one is near."""
    import difflib  # for messages alone

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
    asked = asked or function.__name__
    instead = KEYWORDS_OF.get(asked, {}).get(name)
    raise ArgumentTypeError(
        f"`{asked}` was called with `{name}={reprlib.repr(value)}`, and has no such keyword.\n"
        f"  {advice(instead or keyword_elsewhere(name, value, known, optional))}"
    )

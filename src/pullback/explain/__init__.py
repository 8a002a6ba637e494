"""explain: watch how a value and its derivatives are computed.

>>> import numpy as np
>>> import pullback as pb
>>> print(pb.explain(lambda x: np.sin(x) * x)(2.0).value)
1.8185948536513634

The module is the function: `pullback.explain(f)(x)`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NoReturn

from ..core.errors import UnknownNameError
from ..core.usage import usage
from ..transforms.arguments import Selection
from ..transforms.transformation import Transformation
from .explanation import Explanation as Explanation
from .explanation import ProgramNode as ProgramNode

__all__ = ["Explanation", "ProgramNode", "explain"]


class Explain(Transformation):
    verb = "explain"

    def __init__(self, fun: Any, argnums: Any, out_bar: Any, tangents: Any) -> None:
        super().__init__(fun)
        if argnums is not None:
            Selection(argnums, self.verb)  # which says what is wrong with it
        self.argnums, self.out_bar, self.tangents = argnums, out_bar, tangents

    def __getattr__(self, name: str) -> NoReturn:
        stored = Explanation.__init__.__code__.co_names  # what an explanation has of its own
        if not name.startswith("_") and (hasattr(Explanation, name) or name in stored):
            raise UnknownNameError(
                f"`{name}` was asked of `explain(f)`, which is a function; the result of calling it"
                f" has `{name}`.\n  Write `explain(f)(x).{name}`."
            )
        raise AttributeError(f"'Explain' object has no attribute '{name}'", name=name, obj=self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Explanation:
        if kwargs and not args and self.argnums is None:
            Selection(0, self.verb).positions(self.fun, args, kwargs)  # which refuses keywords
        return Explanation(self.fun, args, kwargs, self.argnums, self.out_bar, self.tangents)


@usage("explain(f)(x)")
def explain(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    out_bar: Any = None,
    tangents: Any = None,
) -> Callable[..., Explanation]:
    """Return a function that runs fun and its reverse pass, and keeps what happened.

    >>> import numpy as np
    >>> seen = explain(lambda x: np.sin(x) * x)(2.0)
    >>> seen.nodes[1].formula, seen.nodes[1].rule
    ('sin(x)', 'd sin(x) = cos(x) dx')
    >>> float(round(seen.nodes[0].cotangent, 6)), seen.nodes[0].uses
    (0.077004, 2)

    Args:
        argnums: which arguments are differentiated; None stands for all that consist of floating
            numbers.
        out_bar: the cotangent from which the backward pass starts, like the output; None is 1, and
            an array of ones for an array.
        tangents: a tuple with a tangent for each differentiated argument, to have the forward mode
            shown as well. The function then runs twice.

    Returns:
        A function of the same arguments that returns an `Explanation`.

    Raises:
        ArgumentTypeError: fun is no function, or argnums no int and no tuple of them.
    """
    return Explain(fun, argnums, out_bar, tangents)


class CallableModule(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Callable[..., Explanation]:
        return explain(*args, **kwargs)


sys.modules[__name__].__class__ = CallableModule

"""A call of one of SciPy's solvers: what SciPy gave, and the arguments by name.

`solver` registers a rule that is asked only where the solution depends on what is differentiated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..solving.plain import Examples, signature, solve
from ..solving.serving import serves

Rule = Callable[[Examples, dict[str, Any]], Any]  # what SciPy gave, and the arguments


def solver(original: Any, amplifies: bool = True) -> Callable[[Rule], Rule]:
    """Let a rule say what a solver of SciPy's returns, of what it gave and of its arguments.

    Where nothing that is differentiated is among them, SciPy's own result is returned.

    amplifies: as in `serves`
    """

    def enter(rule: Rule) -> Rule:
        @serves(original, amplifies=amplifies)
        def call(*args: Any, **options: Any) -> Any:
            found, given = call_of(original, bound(original, args, options))
            return rule(found, given) if found.live else found.first

        return rule

    return enter


def called_in_full(original: Any, args: Any, options: Any) -> tuple[Examples, Any, Any]:
    """A call with all that SciPy can return, its arguments, and whether the caller asked for all.

    Only where a function has `full_output`.
    """
    given = bound(original, args, options)
    full = given.arguments.get("full_output", 0)
    given.arguments["full_output"] = True
    return *call_of(original, given), full


def bound(original: Any, args: Any, options: dict[str, Any]) -> inspect.BoundArguments:
    try:
        return signature(original).bind(*args, **options)
    except TypeError:
        original(*args, **options)  # which says what is wrong
        raise


def call_of(original: Any, given: inspect.BoundArguments) -> tuple[Examples, Any]:
    """SciPy's call on plain values, and the arguments by name with their defaults."""
    args, options = given.args, given.kwargs
    found = solve(lambda values: original(*values.tree(args), **values.tree(options)))
    given.apply_defaults()
    return found, given.arguments

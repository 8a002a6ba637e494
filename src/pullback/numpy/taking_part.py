"""Python functions of a library that take part where they are given Arrays."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

from ..core.dispatch import holds_arrays
from ..core.namespaces import JOINING
from ..core.reach import active, call


def joining(fun: Any) -> Any:
    """A function whose code takes part as the user's does in a transformation.

    Outside of one it does so where it is given Arrays, which require a gradient.
    """

    def join(*args: Any, **kwargs: Any) -> Any:
        if active() or holds_arrays(args) or (kwargs and holds_arrays([*kwargs.values()])):
            return call(fun, args, kwargs)
        return fun(*args, **kwargs)

    JOINING.add(id(join))  # which the namespace keeps
    return update_wrapper(join, fun)

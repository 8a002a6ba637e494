"""What stands for the user's modules and cached functions while a session rebinds them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from .array import Array
from .tree import flatten

if TYPE_CHECKING:
    from .rebind import Session

__all__ = ["Cached", "View"]

MISSING = object()


class Cached:
    """What stands for a function under `lru_cache`: it keeps results for the session.

    Arrays cannot be looked up: with them among the arguments, the function is called.
    """

    def __init__(self, wrapper: Any, fun: Any, session: Session) -> None:
        self.wrapper, self.fun, self.session = wrapper, fun, session
        self.results: dict[Any, Any] = {}
        self.typed = wrapper.cache_parameters()["typed"]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.session.closed:
            return self.wrapper(*args, **kwargs)
        values = (*args, *kwargs.values())
        key = args, tuple(kwargs.items()), tuple(map(type, values)) if self.typed else None
        try:
            known = self.results.get(key, MISSING)
        except TypeError:  # unhashable
            return self.fun(*args, **kwargs)
        if known is MISSING:
            known = self.fun(*args, **kwargs)
            if not any(type(x) is Array and x.within.live for x in flatten(known)[0]):
                self.results[key] = known
        return known

    def cache_clear(self) -> None:
        self.results.clear()
        self.wrapper.cache_clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapper, name)


class View(ModuleType):
    """What stands for a module of the user's: its functions are twins."""

    def __init__(self, module: ModuleType, session: Session) -> None:
        vars(self).clear()
        vars(self).update({"__doc__": module.__doc__, "__viewed__": (session, module)})

    def __getattr__(self, name: str) -> Any:
        session, module = vars(self)["__viewed__"]
        return session.attribute(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        session, module = vars(self)["__viewed__"]
        session.assign(module, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(vars(self)["__viewed__"][1], name)

    def __dir__(self) -> list[str]:
        return dir(vars(self)["__viewed__"][1])

"""Which calls in a module don't have to ask, judged by its globals when its code is rewritten.

Enters: the globals of a module. Leaves: for a name, whether its call may skip the question or ask
`DIRECT` alone.
"""

from __future__ import annotations

from types import FunctionType, MethodType, ModuleType
from typing import Any

from .call_tables import is_direct
from .namespaces import STANDS, library, takes_part

CODE_OF_PYTHON = (FunctionType, MethodType, type)


class NamesNow:
    """The names of a module as they stand now; a later change of them is not seen."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.scope = scope
        builtins = scope.get("__builtins__")
        self.builtins = vars(builtins) if isinstance(builtins, ModuleType) else builtins or {}

    def direct(self, name: str, attribute: str | None = None) -> bool:
        x = self.scope.get(name) if name in self.scope else self.builtins.get(name)
        if attribute is not None:
            x = vars(x).get(attribute) if type(x) is ModuleType else None
        return x is not None and is_direct(x)

    def harmless(self, name: str, attribute: str | None = None) -> bool:
        """Whether what a name stands for may be called without asking."""
        if attribute is None:
            if name in self.scope or name not in self.builtins:
                return False
            return id(self.builtins[name]) not in STANDS
        module = self.scope.get(name)
        if type(module) is not ModuleType or takes_part(vars(module)) or library(vars(module)) < 2:
            return False
        x = vars(module).get(attribute)
        return x is not None and id(x) not in STANDS and not isinstance(x, CODE_OF_PYTHON)

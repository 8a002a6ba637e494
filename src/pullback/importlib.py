"""Imports that a transformed program asks for by a call: modules run as they are.

What a module defines when it is imported outlives the transformation during which that happened.
"""

from __future__ import annotations

import importlib as real
import importlib.util
import sys
from types import ModuleType

from .core.reach.session import ASKED, ITEM, call_outside

__all__ = ["import_module", "reload"]


def import_module(name: str, package: str | None = None) -> ModuleType:
    if ASKED:
        full = importlib.util.resolve_name(name, package)
        if type(sys.modules.get(full)) is ModuleType:
            ASKED[-1](f"{ITEM}:sys.modules:{full}")
            return sys.modules[full]
    module: ModuleType = call_outside(real.import_module, (name, package), {})
    return module


def reload(module: ModuleType) -> ModuleType:
    again: ModuleType = call_outside(real.reload, (module,), {})
    return again

"""Imports that a transformed program asks for by a call: modules run as they are.

What a module defines when it is imported outlives the transformation during which that happened.
"""

from __future__ import annotations

import importlib as real
from types import ModuleType

from .core.reach import plainly

__all__ = ["import_module", "reload"]


def import_module(name: str, package: str | None = None) -> ModuleType:
    module: ModuleType = plainly(real.import_module, (name, package), {})
    return module


def reload(module: ModuleType) -> ModuleType:
    again: ModuleType = plainly(real.reload, (module,), {})
    return again

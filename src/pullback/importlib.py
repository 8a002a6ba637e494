"""Imports that a transformed program asks for by a call: modules run as they are.

What a module defines when it is imported outlives the transformation during which that happened.
"""

from __future__ import annotations

import importlib as real
from types import ModuleType

from .core.instrument import rebinding

__all__ = ["import_module", "reload"]


def import_module(name: str, package: str | None = None) -> ModuleType:
    with rebinding(False):
        return real.import_module(name, package)


def reload(module: ModuleType) -> ModuleType:
    with rebinding(False):
        return real.reload(module)

"""Let `import autograd` lead to this package, for others that import it by that name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..core.errors import ArgumentError

__all__ = ["install"]

HERE = __name__.rpartition(".")[0]


class Alias(MetaPathFinder, Loader):
    """Finds `autograd.x` as `pullback.autograd.x`: one module under two names."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        first, dot, rest = name.partition(".")
        if first != "autograd" or importlib.util.find_spec(f"{HERE}{dot}{rest}") is None:
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(HERE + spec.name.removeprefix("autograd"))
        self.kept = getattr(module, "__spec__", None)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self.kept is not None:  # the import system has given it that of the other name
            module.__spec__ = self.kept
        # What stands for a module and is none, such as a distribution of `scipy.stats`.
        for name, x in sys.modules.copy().items():
            if name.startswith(f"{HERE}.") and not isinstance(x, ModuleType):
                sys.modules.setdefault("autograd" + name.removeprefix(HERE), x)


def install() -> None:
    """Make `import autograd` give `pullback.autograd`, in this process.

    Call it before the first import of a package that needs autograd.

    Raises:
        ArgumentError: autograd itself has been imported already.
    """
    there = sys.modules.get("autograd")
    if there is not None and there is not sys.modules[HERE]:
        raise ArgumentError(
            "`install` was called after `autograd` itself had been imported.\n"
            "  Call `pullback.autograd.install()` before that import."
        )
    if not any(isinstance(finder, Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, Alias())

"""A plugin of pytest: imports of libraries that are not installed give stand-ins.

pymanopt's examples and tests import four libraries at once; those of autograd need only one.
"""

import importlib.util
import sys
from types import ModuleType
from typing import Any


class StandIn(ModuleType):
    """A module in which every name is there: a class that decorates, or another such module."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = type(name, (), {}) if name[:1].isupper() else StandIn(f"{self.__name__}.{name}")
        setattr(self, name, found)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if args and callable(args[0]) else self


NAMES = ["jax", "tensorflow", "torch"]
for name in [name for name in NAMES if importlib.util.find_spec(name) is None]:
    sys.modules[name] = StandIn(name)
    sys.modules[f"{name}.numpy"] = sys.modules[name].numpy

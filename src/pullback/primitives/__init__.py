"""The operations: one file per family, named as NumPy names it; a folder per module of SciPy.

What every program uses is imported with the package; the rest when one of its functions is asked
for the first time, so that `import pullback` stays cheap. What is about SciPy is imported when the
program has imported that module of SciPy, and never imports it itself.
"""

import pkgutil
import sys
from functools import cache
from importlib import import_module

__all__ = ["load"]

# Families for a module of NumPy that is imported when it is asked for.
OF_MODULES = dict.fromkeys(("fits", "poly1d", "polynomial"), "numpy.polynomial")

# Families for a module of another package: there when the program has imported it.
OF_PACKAGES = {"scipy_special": "scipy.special"}

LOADED: set[str] = set()  # families that have been imported


@cache
def families() -> tuple[str, ...]:
    """The files and folders of this folder, in alphabetical order."""
    return tuple([module.name for module in pkgutil.iter_modules(__path__)])


def load(everything: bool = True) -> None:
    """Import the families; those that are there already cost next to nothing.

    everything: also those of modules of NumPy that nobody has imported so far.
    """
    for name in families():
        if name in LOADED:
            continue
        package = OF_PACKAGES.get(name)
        if package is not None:
            asked = package in sys.modules
        else:
            asked = everything or OF_MODULES.get(name, "numpy") in sys.modules
        if asked:
            import_module(f"{__name__}.{name}")
            LOADED.add(name)

"""The operations: one file per family, named as NumPy names it.

What every program uses is imported with the package; the rest when one of its functions is asked
for the first time, so that `import pullback` stays cheap.
"""

import sys
from importlib import import_module

__all__ = ["load"]

LATER = (
    "binning",
    "callables",
    "creation",
    "cumulative",
    "decompositions",
    "descriptions",
    "fft",
    "fits",
    "joining",
    "leastsquares",
    "linalg",
    "nanfunctions",
    "norms",
    "padding",
    "poly1d",
    "polynomial",
    "positions",
    "products",
    "quantiles",
    "queries",
    "refused",
    "sets",
    "sorting",
    "special",
    "statistics",
    "triangular",
    "ufuncmethods",
)


# Families for a module of NumPy that is imported when it is asked for.
OF_MODULES = dict.fromkeys(("fits", "poly1d", "polynomial"), "numpy.polynomial")


def load(everything: bool = True) -> None:
    """Import the families; those that are there already cost next to nothing.

    everything: also those of modules of NumPy that nobody has imported so far.
    """
    for name in LATER:
        if everything or OF_MODULES.get(name, "numpy") in sys.modules:
            import_module(f"{__name__}.{name}")

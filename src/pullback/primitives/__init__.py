"""The operations: one file per family, named as NumPy names it.

What every program uses is imported with the package; the rest when one of its functions is asked
for the first time, so that `import pullback` stays cheap.
"""

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


def load() -> None:
    """Import all families; those that are there already cost next to nothing."""
    for name in LATER:
        import_module(f"{__name__}.{name}")

"""scipy.special: one file per family, one table row per ufunc.

Imported when scipy.special has been imported and one of its functions meets an Array, or with
`pullback.scipy.special`; never by `import pullback`.

    kinds           how a row enters the registry; several results; inverse functions; refusals
    slopes          derivatives by parameters for which there is no formula
    formulas        elementary functions that the tables share
"""

from importlib import import_module

FAMILIES = (
    "bessel",
    "convenience",
    "distributions",
    "elliptic",
    "errors",
    "functions",
    "gamma",
    "hypergeometric",
    "integrals",
    "polynomials",
    "statistics",
    "waves",
)

__all__ = ["FAMILIES"]

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

"""The sample database: for each family of primitives, arguments to try every law on.

A module of this folder holds `SAMPLES`, and `ERRORS` for calls that must be refused.
"""

import importlib
import pkgutil

FAMILIES = sorted(module.name for module in pkgutil.iter_modules(__path__))


def collect(what):
    """(family, sample) for all families; `what` is "SAMPLES" or "ERRORS"."""
    pairs = []
    for family in FAMILIES:
        module = importlib.import_module(f"{__name__}.{family}")
        pairs += [(family, sample) for sample in getattr(module, what, [])]
    return pairs

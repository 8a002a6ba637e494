"""The sample database: for each family of primitives, arguments to try every law on.

A module of this folder holds `SAMPLES`, `UNMAPPED` for samples whose shape depends on values, so
that vmap refuses them, `BY_EXAMPLE` for calls that decide by values, so that vmap makes
them for each example, and `ERRORS` for calls that must be refused.
"""

import importlib
import pkgutil
from contextlib import contextmanager

import numpy as np

from pullback import rebinding
from pullback.core.reach.calls import call
from pullback.numpy.wrapping import member

FAMILIES = sorted(module.name for module in pkgutil.iter_modules(__path__))


def collect(what):
    """(family, sample) for all families; `what` is the name of one of the lists."""
    pairs = []
    for family in FAMILIES:
        module = importlib.import_module(f"{__name__}.{family}")
        pairs += [(family, sample) for sample in getattr(module, what, [])]
    return pairs


def since(version, *samples):
    """Samples that need at least this version of NumPy."""
    return samples if np.lib.NumpyVersion(np.__version__) >= version else ()


PLAIN = [False]  # whether served functions are NumPy's own


@contextmanager
def plainly():
    """Within it, served functions are NumPy's own: what samples give without pullback."""
    PLAIN[0] = True
    try:
        yield
    finally:
        PLAIN[0] = False


WATCHING = []  # functions that are told of each call of a served one: (original, result)


class served:
    """A function that NumPy does not dispatch, as rebinding and `pullback.numpy` serve it.

    With a program, what calls `program(function, *args)`. Methods are never rebound.
    """

    def __init__(self, original, program=None):
        self.serves, self.program = original, program
        self.__name__ = getattr(original, "__name__", type(original).__name__)

    def __call__(self, *args, **kwargs):
        function = self.serves if PLAIN[0] else member(self.serves)
        if self.program is not None:
            return self.program(function, *args, **kwargs)
        out = function(*args, **kwargs)
        for watch in WATCHING:
            watch(self.serves, out)
        return out


class traced(served):
    """A function of SciPy's without a rule: its own Python takes part, as under rebinding."""

    def __call__(self, *args, **kwargs):
        program = self.program or (lambda f, *args, **kwargs: f(*args, **kwargs))
        if PLAIN[0]:
            return program(self.serves, *args, **kwargs)
        with rebinding(True):
            out = call(program, (self.serves, *args), kwargs)
        for watch in WATCHING:
            watch(self.serves, out)
        return out

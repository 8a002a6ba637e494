"""Applying a law to the sample database."""

import functools
import re
from contextlib import contextmanager

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.graph.small_systems import log_p, sign_p
from pullback.compiler.lower.gather import gather_p, place_add_p, place_p
from pullback.compiler.lower.scan import Rolled
from pullback.compiler.lower.while_ import RolledPull, RolledWhile
from pullback.core.primitive import Primitive
from pullback.primitives import load
from pullback.transforms.loops.scan_primitive import Scan
from pullback.transforms.loops.while_primitive import Trips, While, WhilePull
from pullback.transforms.stage import STOP
from tests.budgets import in_turn
from tests.samples import collect
from tests.together import try_all

# Samples are at kinks as well, where the modes agree on what is no second derivative.
KINKS = pytest.mark.filterwarnings("ignore:.*has a kink:RuntimeWarning")


# Of the samples after a function's first, one in so many has its turn in an ordinary run.
OTHERS = 6


@functools.cache
def groups():
    """The samples of each function, as (family, sample) by `family-function`."""
    found = {}
    for family, sample in collect("SAMPLES"):
        function = re.split(r"[(\[ ,]", str(sample))[0]
        found.setdefault(f"{family}-{function}", []).append((family, sample))
    return found


def for_all_samples(
    law, *, with_family=False, only=None, functions=1, shares=1, otherwise=lambda sample: None
):
    """A test for each function that runs the law on its samples; poles may warn on the way forward.

    All samples are tried, and those that fail are named. Calls arrive through NumPy's protocols;
    what rebinding serves is among the samples by name.
    An ordinary run tries the law on one in so many `functions`; with `shares`, on the first sample
    of each of these, and of the others on one in so many; on the rest it tries `otherwise`.
    """
    chosen = groups()
    if only is not None:
        chosen = {name: [(f, s) for f, s in pairs if only(s)] for name, pairs in chosen.items()}
        chosen = {name: pairs for name, pairs in chosen.items() if pairs}

    @pytest.mark.share(functions)
    @KINKS
    @pytest.mark.parametrize("pairs", list(chosen.values()), ids=list(chosen))
    def test(pairs):
        def check(family, sample):
            with np.errstate(all="ignore"), pb.rebinding(False):
                if sample is not pairs[0][1] and not in_turn(sample, shares):
                    otherwise(sample)
                else:
                    law(sample, family) if with_family else law(sample)

        try_all(check, [(f"{family}, {sample}", (family, sample)) for family, sample in pairs])

    test.__doc__ = law.__doc__
    return test


LOOPS = Rolled, RolledPull, RolledWhile, Scan, Trips, While, WhilePull  # named by their class


class Unreadable(str):
    """A name that can be shown, and fails where something is decided by it."""

    __slots__ = ()

    def __eq__(self, other):
        raise AssertionError(f"decided by a name: {self!s} and {other!s}")

    __ne__ = __hash__ = lambda self, other=None: self.__eq__(other)


def named_operations():
    """All that bears a name in equations of the library."""
    ours = [p for p in Primitive.everything if type(p).__module__.startswith("pullback.")]
    return [*ours, gather_p, log_p, place_add_p, place_p, sign_p, STOP]


@contextmanager
def unreadable_names():
    """While this lasts, renaming an operation can't change anything: no name is ever compared."""
    load()
    kept = [(p, p.name) for p in named_operations()]
    kinds = [(kind, kind.__dict__["name"]) for kind in LOOPS]
    for p, name in (*kept, *kinds):
        p.name = Unreadable(name)
    try:
        yield
    finally:
        for p, name in (*kept, *kinds):
            p.name = name

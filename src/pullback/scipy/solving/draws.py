"""Generators of random numbers that SciPy draws from when it solves a batch example by example.

Under `vmap` the numbers that a program draws are the same for all examples, so each example's call
starts with the generators as they were before the first. Enter: the generators among the arguments.
Leave: the numbers that a loop over the examples would have drawn, or an error where what is drawn
afterwards would not be.
"""

from __future__ import annotations

import dis
import functools
import inspect
import random
import sys
from contextvars import ContextVar
from types import FrameType
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.reach.class_members import dict_of, of
from ...core.reach.namespaces import package
from ...core.trace import enclosing

DRAWING = np.random.Generator, np.random.RandomState, random.Random
SEEDS = "rng", "seed", "random_state"  # parameters
GLOBAL = np.random.mtrand._rand  # whose methods are the functions of `np.random`
GLOBALS = {"numpy.random": GLOBAL, "random": random._inst}
DRAWS_GLOBALLY: ContextVar[bool] = ContextVar("a batch's call may draw from it", default=False)
ORIGINALS: dict[Any, Any] = {}  # SciPy's functions, by what stands for them


def bits_of(generator: Any) -> Any:
    """What holds the state of a generator: of the old kind it does so itself."""
    return generator.bit_generator if of(generator, np.random.Generator) else generator


def is_drawing(x: Any) -> bool:
    """Whether x is a generator of random numbers that can draw the same ones again."""
    return of(x, DRAWING) and not of(x, random.SystemRandom)


def state_of(bits: Any) -> Any:
    if of(bits, random.Random):
        return bits.getstate()
    return bits.get_state() if of(bits, np.random.RandomState) else bits.state


def set_state(bits: Any, state: Any) -> None:
    if of(bits, random.Random):
        bits.setstate(state)
    elif of(bits, np.random.RandomState):
        bits.set_state(state)
    else:
        bits.state = state


class RepeatedDraws:
    """The generators of a solver's calls, and how they were before the first."""

    def __init__(self) -> None:
        self.starts = dict[int, tuple[Any, Any]]()
        self.ends = dict[int, str]()  # what a call left, as text: states hold arrays
        self.differing = dict[int, Any]()
        if DRAWS_GLOBALLY.get():
            self.meets(GLOBAL)

    def look(self, args: Any, options: dict[str, Any]) -> RepeatedDraws:
        """Note the generators among arguments, and those that their parts have as attributes."""
        for x in (*args, *options.values()):
            held = x if type(x) is dict else dict_of(x) or {}
            for y in (x, *held.values()):
                if is_drawing(y):
                    self.meets(y)
        return self

    def meets(self, generator: Any) -> None:
        """Note a generator before SciPy draws from it."""
        if id(generator) not in self.starts:
            self.starts[id(generator)] = generator, state_of(bits_of(generator))

    def ended(self) -> None:
        """The call for one example is over."""
        for key, (generator, _) in self.starts.items():
            state = repr(state_of(bits_of(generator)))
            if self.ends.setdefault(key, state) != state:
                self.differing[key] = generator

    def rewind(self) -> None:
        """Let the next call draw what the first one drew."""
        for generator, state in self.starts.values():
            set_state(bits_of(generator), state)

    @property
    def bits(self) -> set[int]:
        """The ids of what holds the states that are looked after."""
        return {id(bits_of(generator)) for generator, _ in self.starts.values()}

    def settle(self) -> None:
        """Raise if examples drew a different number of times and more may be drawn afterwards."""
        for generator in self.differing.values():
            if is_seeded(generator) if generator is GLOBAL else is_named(generator):
                raise ArgumentError(
                    "Under `vmap` a solver drew more random numbers for one example than for"
                    " another, so the next numbers of its generator would not be the same for"
                    " all.\n"
                    "  Pass a seed, or a generator that nothing else uses:"
                    " `rng=np.random.default_rng(seed)`."
                )


def is_seeded(generator: Any) -> bool:
    """Whether a program has called its `seed`, as SciPy asks, so that what it draws is known."""
    return generator._bit_generator._seed_seq is None


def draws_globally(f: Any, options: dict[str, Any]) -> bool:
    """Whether f, called with these options for a batch, may draw from the global generator."""
    original = ORIGINALS.get(f)
    if original is None or not takes_seed(original):
        return False
    unseeded = all(options.get(name) is None for name in SEEDS)
    return unseeded and any(trace.maps for trace in enclosing())


@functools.lru_cache(1024)
def takes_seed(original: Any) -> bool:
    try:
        parameters = inspect.signature(original).parameters
    except ValueError:  # of compiled code
        return False
    return not parameters.keys().isdisjoint(SEEDS)


def is_named(generator: Any) -> bool:
    """Whether an attribute, a global or a variable that is read again is this generator."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if package(frame.f_globals) not in ("pullback", "scipy"):
            if any(x is generator for x in frame.f_globals.values()):
                return True
            for name, held in frame.f_locals.items():
                if held is generator and name in read_again(frame):
                    return True
                if any(x is generator for x in (dict_of(held) or {}).values()):
                    return True
        frame = frame.f_back
    return False


def read_again(frame: FrameType) -> set[str]:
    """The variables that a frame may read after what it is doing now."""
    code, now = frame.f_code, frame.f_lasti
    steps = list(dis.get_instructions(code))
    starts = [x.argval for x in steps if x.offset >= now and "BACKWARD" in x.opname]
    first = min([now, *starts])
    shared = {*code.co_cellvars, *code.co_freevars}  # nested functions may read these
    return shared | {str(x.argval) for x in steps if x.offset > first and x.opname in LOADS}


LOADS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_NAME", "LOAD_GLOBAL"}

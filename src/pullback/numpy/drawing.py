"""Random numbers as Arrays: constants, except for derivatives with respect to their parameters.

For the same seed the numbers are NumPy's. `permutation`, `shuffle` and `choice` pick elements of
Arrays, and so keep their derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import update_wrapper
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.operands import as_array, holds_arrays, holds_live
from ..core.reach.namespaces import BOUND
from ..core.reach.session import DRAWS, active
from .fresh import made
from .wrapping import OWN, StandIn, answers_for

Draw = Callable[[str], Any]  # NumPy's function of a name, with its source of random numbers


def permutation(draw: Draw, x: Any, axis: int = 0) -> Any:
    x = as_array(x)
    return np.take(x, draw("permutation")(x.shape[axis]), axis=axis)


def shuffle(draw: Draw, x: Any, axis: int = 0) -> None:
    order = np.arange(x.shape[axis])
    draw("shuffle")(order)
    x[...] = np.take(x, order, axis=axis)


def choice(draw: Draw, a: Any, size: Any = None, *args: Any, axis: int = 0, **kwargs: Any) -> Any:
    a = as_array(a)
    return np.take(a, draw("choice")(a.shape[axis], size, *args, **kwargs), axis=axis)


PICKING: dict[str, Any] = {"permutation": permutation, "shuffle": shuffle, "choice": choice}


def drawn(draw: Draw, name: str, args: Any, kwargs: Any) -> Any:
    x = args[0] if args else None
    if name in PICKING and (type(x) is Array or holds_arrays(x)):
        return PICKING[name](draw, *args, **kwargs)
    if holds_live((args, list(kwargs.values()))):
        from .draws import moving  # needs transformations, which few programs with draws do

        return moving(draw, name, args, kwargs)
    return made(draw(name)(*args, **kwargs))


def drawing(name: str) -> None:
    """A function of `numpy.random`."""

    @answers_for(getattr(np.random, name))
    def call(*args: Any, **kwargs: Any) -> Any:
        if DRAWS:
            DRAWS[-1].draws(np.random, name)
        return drawn(lambda name: getattr(np.random, name), name, args, kwargs)


def plain_source(rng: Any) -> Any:
    """A generator that draws the same numbers, for compiled code that takes plain ones."""
    if DRAWS:
        DRAWS[-1].draws(rng, "random")
    return np.random.Generator(rng.bit_generator)


INSIDE: ContextVar[bool] = ContextVar("drawing", default=False)


def method(cls: type, name: str) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        def draw(name: str) -> Any:
            return getattr(cls, name).__get__(self)

        if INSIDE.get():  # NumPy's methods call each other, and get plain arrays
            return draw(name)(*args, **kwargs)
        if DRAWS:
            DRAWS[-1].draws(self, name)
        before = INSIDE.get()
        try:
            INSIDE.set(True)
            return drawn(draw, name, args, kwargs)
        finally:
            INSIDE.set(before)

    return update_wrapper(call, getattr(cls, name))  # whose signature libraries ask for


def seeding(cls: Any) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__(self, *args, **kwargs)
        if DRAWS:
            DRAWS[-1].seeded(self, *args, **kwargs)

    return __init__


def generator(cls: Any) -> Any:
    """A class of generators whose random numbers are Arrays."""
    body: dict[str, Any] = {"__init__": seeding(cls)}
    body |= {name: method(cls, name) for name in DRAWING if hasattr(cls, name)}
    body |= {"real": cls, "__doc__": cls.__doc__, "__module__": "pullback.numpy.random"}
    return OWN.setdefault(cls, StandIn(cls.__name__, (cls,), body))


# fmt: off
DRAWING = {
    "beta", "binomial", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma",
    "geometric", "gumbel", "hypergeometric", "integers", "laplace", "logistic", "lognormal",
    "logseries", "multinomial", "multivariate_hypergeometric", "multivariate_normal",
    "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation",
    "permuted", "poisson", "power", "rand", "randint", "randn", "random", "random_integers",
    "random_sample", "ranf", "rayleigh", "sample", "shuffle", "standard_cauchy",
    "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "tomaxint",
    "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
}
# fmt: on


def of_generator(f: Any) -> Any:
    """What stands for a compiled method of a generator: its numbers are Arrays."""
    if f.__name__ not in DRAWING or not active():
        return f
    owner, name = f.__self__, f.__name__

    def call(*args: Any, **kwargs: Any) -> Any:
        return drawn(lambda other: getattr(owner, other), name, args, kwargs)

    return update_wrapper(call, f)


BOUND[np.random.Generator] = of_generator
BOUND[np.random.RandomState] = of_generator
for name in DRAWING & set(np.random.__all__):
    drawing(name)
Generator = generator(np.random.Generator)
generator(np.random.RandomState)


@answers_for(np.random.default_rng)
def default_rng(*args: Any, **kwargs: Any) -> Any:
    made = np.random.default_rng(*args, **kwargs)
    if type(made) is not np.random.Generator:
        return made
    own = Generator(made.bit_generator)
    if DRAWS:
        DRAWS[-1].seeded(own, *args, **kwargs)
    return own

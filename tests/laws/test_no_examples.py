"""The law of empty batches: vmap of no examples gives what vmap of one would, without the one."""

import re

import numpy as np
import pytest

import pullback as pb
from pullback.testing import Problem
from tests.laws.common import for_all_samples

# Results whose length or dtype the values decide: without values, a length is 0 and a dtype real.
BY_VALUES = re.compile(
    r"eigvals|eig, a complex pair|logm|fractional_matrix_power|unique|x\[mask\]|compress|extract"
    r"|find |(minimum|maximum)_position"
)


def no_examples(sample):
    """Values and gradients have the shapes and dtypes of one example, and 0 in front."""
    problem = Problem(sample)
    if not problem.xs or BY_VALUES.match(str(sample)):
        return
    bars = tuple([problem.like(out) for out in problem(*problem.xs)])
    for ask in (problem.results, lambda *xs: pb.vjp(problem, *xs)[1](bars)):
        one = [np.asarray(x) for x in ask(*problem.xs)]
        try:
            none = pb.vmap(lambda *xs, ask=ask: tuple(ask(*xs)))(*[x[None][:0] for x in problem.xs])
        except (pb.ArgumentError, pb.ConversionError) as error:  # a solver, or an `if`
            if not re.search("empty batch|mapped by", str(error)):
                raise
            continue
        assert [x.shape for x in none] == [(0, *x.shape) for x in one]
        assert [x.dtype for x in none] == [x.dtype for x in one]


test_no_examples = for_all_samples(no_examples, functions=8)


@pytest.mark.parametrize("key", [(0, 0), 3, (slice(None), 0), -4])
def test_places_out_of_bounds(key):
    """Without examples as well."""
    for n in (0, 2):
        with pytest.raises(IndexError):
            pb.vmap(lambda x: x[key])(np.zeros((n, 3)))

"""Compiled operations give NumPy's values, for every pair of dtypes and all special numbers."""

import random

import pytest

from tests.budgets import LONG
from tests.math_values import TYPES, arities, check_math
from tests.value_pairs import DTYPES, PAIRS, check_alone, check_arrays, check_pair

# The pairs in which dtypes are promoted to a third one, and some of the others.
MIXED = [(a, b) for a, b in PAIRS if a.kind in "iu" and b.kind in "iu" and a.kind != b.kind]
SOME = random.Random(4).sample([pair for pair in PAIRS if pair not in MIXED], 24)


@pytest.mark.share(4)
@pytest.mark.parametrize("pair", PAIRS if LONG else [*MIXED, *SOME], ids=str)
def test_all_operations_on_a_pair_of_dtypes(pair):
    assert check_pair(*pair) > (200 if pair[0].kind == pair[1].kind == "b" else 1000)


@pytest.mark.share(8)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_operations_beside_python_numbers(dtype):
    assert check_alone(dtype) > 1000


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_functions_of_arrays_of_special_values(dtype):
    sizes = [1, 2, 3, 8, 9, 17, 33] if LONG else [1, 2, 9]
    assert (
        sum([check_arrays(dtype, n, seed) for n in sizes for seed in range(n if LONG else 1)]) > 50
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", TYPES)
def test_functions_of_math_at_special_numbers(kind):
    counts = [check_math(name, n, kind, 400 if LONG else 25) for name, n in arities()]
    assert len(counts) > 40
    assert sum(counts) > 500

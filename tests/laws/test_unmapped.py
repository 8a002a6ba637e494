"""Samples of which values decide: vmap refuses them, or SciPy's call is made for each example."""

import numpy as np
import pytest

from pullback import ConversionError
from pullback.testing import LAWS, check_batch, check_second
from tests.budgets import in_turn
from tests.laws.common import KINKS
from tests.samples import collect

UNMAPPED, BY_EXAMPLE = collect("UNMAPPED"), collect("BY_EXAMPLE")


@KINKS
@pytest.mark.parametrize("sample", [s for _, s in UNMAPPED], ids=[f"{f}-{s}" for f, s in UNMAPPED])
def test_unmapped(sample):
    """The examples of a batch would give different shapes."""
    with np.errstate(all="ignore"):
        for law in LAWS:
            if law is not check_batch:
                law(sample)
        with pytest.raises(ConversionError, match="mapped by"):
            check_batch(sample)


@pytest.mark.share(16)
@KINKS
@pytest.mark.parametrize(
    "sample", [s for _, s in BY_EXAMPLE], ids=[f"{f}-{s}" for f, s in BY_EXAMPLE]
)
def test_by_example(sample):
    """All laws, and that of batches among them; in turns that of second derivatives."""
    with np.errstate(all="ignore"):
        for law in LAWS:
            if law is not check_second or in_turn(sample, 4):
                law(sample)

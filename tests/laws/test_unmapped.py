"""Samples whose shape depends on values: all laws, but vmap refuses them."""

import numpy as np
import pytest

from pullback import ConversionError
from pullback.testing import LAWS, check_batch
from tests.laws.common import KINKS
from tests.samples import collect

UNMAPPED = collect("UNMAPPED")


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

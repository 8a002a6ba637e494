"""Applying a law to the sample database."""

import numpy as np
import pytest

import pullback as pb
from tests.samples import collect


def for_all_samples(law):
    """A test that runs the law on each sample; poles may warn on the way forward.

    Calls arrive through NumPy's protocols; what rebinding serves is among the samples by name.
    """
    samples = collect("SAMPLES")

    @pytest.mark.parametrize(
        "sample", [s for _, s in samples], ids=[f"{f}-{s}" for f, s in samples]
    )
    def test(sample):
        with np.errstate(all="ignore"), pb.rebinding(False):
            law(sample)

    test.__doc__ = law.__doc__
    return test

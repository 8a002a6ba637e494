import pytest

import pullback as pb
from pullback.testing import check_error
from tests.samples import collect

ERRORS = collect("ERRORS")


@pytest.mark.parametrize("sample", [s for _, s in ERRORS], ids=[f"{f}-{s}" for f, s in ERRORS])
def test_error(sample):
    """A call that cannot be right is refused with the right words."""
    with pb.rebinding(False):
        check_error(sample)

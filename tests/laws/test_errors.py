import pullback as pb
from pullback.testing import check_error
from tests.samples import collect
from tests.together import together

ERRORS = collect("ERRORS")


@together(ERRORS, names=[f"{family}, {sample}" for family, sample in ERRORS])
def test_errors(family, sample):
    """A call that cannot be right is refused with the right words."""
    with pb.rebinding(False):
        check_error(sample)

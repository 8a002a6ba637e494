import pytest

from pullback.testing import check_sample
from tests.laws.common import for_all_samples

# Samples are at kinks as well, where the modes agree on what is no second derivative.
test_derivatives = pytest.mark.filterwarnings("ignore:.*has a kink:RuntimeWarning")(
    for_all_samples(check_sample)
)

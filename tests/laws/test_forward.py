from pullback.testing import check_forward
from tests.laws.common import for_all_samples

test_forward = for_all_samples(check_forward)

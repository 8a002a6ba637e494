from pullback.testing import check_reverse
from tests.laws.common import for_all_samples

test_reverse = for_all_samples(check_reverse)

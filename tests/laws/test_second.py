from pullback.testing import check_second
from tests.laws.common import for_all_samples

test_second = for_all_samples(check_second)

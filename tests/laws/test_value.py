from pullback.testing import check_value
from tests.laws.common import for_all_samples

test_value = for_all_samples(check_value)

from pullback.testing import check_fresh
from tests.laws.common import for_all_samples

test_fresh = for_all_samples(check_fresh)

from pullback.testing import check_batch
from tests.laws.common import for_all_samples

test_batch = for_all_samples(check_batch)

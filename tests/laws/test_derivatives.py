from pullback.testing import check_sample
from tests.laws.common import for_all_samples

test_derivatives = for_all_samples(check_sample)

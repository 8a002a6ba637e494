from pullback.testing import check_spec
from tests.laws.common import for_all_samples

test_spec = for_all_samples(check_spec)

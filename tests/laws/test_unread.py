from pullback.testing import check_unread
from tests.laws.common import for_all_samples

test_unread = for_all_samples(check_unread)

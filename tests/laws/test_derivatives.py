"""Every sample obeys every law of `pullback.testing`.

In an ordinary run each sample is asked its value and both modes, and those whose turn it is also
second derivatives and batches, which take most of the time.
"""

from pullback.testing import LAWS, check_batch, check_sample, check_second
from tests.laws.common import OTHERS, for_all_samples

FIRST_ORDER = [law for law in LAWS if law not in (check_second, check_batch)]


def check_first_order(sample):
    check_sample(sample, FIRST_ORDER)


test_derivatives = for_all_samples(check_sample, shares=OTHERS, otherwise=check_first_order)

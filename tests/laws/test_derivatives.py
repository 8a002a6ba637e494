"""Every sample obeys every law of `pullback.testing`.

Second derivatives and batches take most of the time. An ordinary run asks the value and both modes
of every sample, and one of these two of the first sample of each function and of those others whose
turn it is.
"""

from pullback.testing import LAWS, check_batch, check_sample, check_second
from tests.budgets import asked
from tests.laws.common import OTHERS, for_all_samples

FIRST_ORDER = [law for law in LAWS if law not in (check_second, check_batch)]


def check_first_order(sample):
    check_sample(sample, FIRST_ORDER)


def check_more(sample):
    check_sample(sample, [*FIRST_ORDER, *asked([check_second, check_batch], 2, str(sample))])


test_derivatives = for_all_samples(check_more, shares=OTHERS, otherwise=check_first_order)

"""Every sample obeys every law of `pullback.testing`.

Second derivatives and batches take most of the time. An ordinary run asks half of the functions:
the value and both modes of the first sample and of half of the others. In half of the cases it asks
one of the two as well: of the first sample, and of those others whose turn it is.
"""

from pullback.testing import LAWS, check_batch, check_sample, check_second
from tests.budgets import asked, in_turn
from tests.laws.common import OTHERS, for_all_samples

FIRST_ORDER = [law for law in LAWS if law not in (check_second, check_batch)]


def check_first_order(sample):
    if in_turn(f"{sample}, first order", 2):
        check_sample(sample, FIRST_ORDER)


def check_more(sample):
    laws = list(FIRST_ORDER)
    if in_turn(f"{sample}, more", 2):
        laws += asked([check_second, check_batch], 2, str(sample))
    check_sample(sample, laws)


test_derivatives = for_all_samples(
    check_more, functions=3, shares=OTHERS, otherwise=check_first_order
)

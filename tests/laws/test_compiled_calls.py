import pytest

from pullback.testing import check_compiled
from tests.laws.common import for_all_samples, unreadable_names


def check_compiled_calls(sample):
    """A compiled function gives what the function gives: when it is recorded, and repeated."""
    try:
        check_compiled(sample)
    except TypeError:  # a Python float has no x[()]
        with pytest.raises(TypeError):
            sample.fun(*sample.args, **sample.kwargs)


@pytest.fixture(autouse=True, scope="module")
def names():
    """Renaming an operation changes nothing."""
    with unreadable_names():
        yield


test_compiled_calls = for_all_samples(check_compiled_calls)

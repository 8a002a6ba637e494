import pytest

from pullback.testing import check_compiled
from tests.laws.common import for_all_samples


def check_compiled_calls(sample):
    """A compiled function gives what the function gives: when it is recorded, and repeated."""
    try:
        check_compiled(sample)
    except TypeError:  # a Python float has no x[()]
        with pytest.raises(TypeError):
            sample.fun(*sample.args, **sample.kwargs)


test_compiled_calls = for_all_samples(check_compiled_calls)

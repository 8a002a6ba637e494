"""Each case against finite differences: value, gradient, and the compiled gradient.

Not collected with the other tests: `make test-clients` runs it where the packages are installed.
The cases of a package go to one process (`--dist loadgroup`); what has passed is noted at once.
"""

import pytest

from .answers import MISSING, ask
from .asked import Asked
from .lists import BY_NAME

ASKED = Asked("cases")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.xdist_group(c[0]), id=n) for n, c in BY_NAME.items()],
)
def test_gradient(name):
    if name in ASKED:
        return
    failure, row = ask(name)
    if MISSING in failure:
        pytest.skip(failure)
    if failure:
        pytest.fail(failure, pytrace=False)
    ASKED.note(name, row)

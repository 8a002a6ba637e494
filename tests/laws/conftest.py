"""What the laws share."""

import pytest

# The ends of some samples are constants 0, of which no derivative is missing.
CONSTANT_ENDS = pytest.mark.filterwarnings("ignore:.*left out coefficients that are 0")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/laws/"):
            item.add_marker(CONSTANT_ENDS)

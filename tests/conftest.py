"""What all tests share."""

import os
import tempfile

import numpy as np
import pytest

from pullback.core.rebind import SESSION
from pullback.core.trace import running

# Machine code is kept in a folder of these tests alone, which other processes of theirs inherit.
CACHE = tempfile.TemporaryDirectory(prefix="pullback-tests-")
os.environ["PULLBACK_CACHE"] = CACHE.name

LONG = os.environ.get("PULLBACK_LONG") == "1"


def pytest_collection_modifyitems(items):
    """Tests with a large budget run in `make test-long` only."""
    if LONG:
        return
    skip = pytest.mark.skip(reason="a large budget: runs in `make test-long`")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture(autouse=True)
def nothing_left():
    """No test leaves the interpreter in a transformation."""
    yield
    assert running() is None
    assert SESSION.get() is None or SESSION.get().closed

"""What all tests share."""

import os
import tempfile
from types import FunctionType

import numpy as np
import pytest

from pullback.compiler import stored
from pullback.core.dispatch import CREATION, FUNCTIONS, UFUNCS
from pullback.core.rebind import SESSION
from pullback.core.trace import running

# Machine code is kept in a folder of these tests alone, which other processes of theirs inherit.
CACHE = tempfile.TemporaryDirectory(prefix="pullback-tests-")
os.environ["PULLBACK_CACHE"] = CACHE.name

TABLES = CREATION, FUNCTIONS, UFUNCS  # of rules
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
    """No test leaves the interpreter in a transformation, or a rule of its own."""
    before = [dict(table) for table in TABLES]
    yield
    assert running() is None
    assert SESSION.get() is None or SESSION.get().closed
    for table, was in zip(TABLES, before, strict=True):
        if table != was:
            for key, rule in list(table.items()):
                place = rule if isinstance(rule, FunctionType) else type(rule)
                if place.__module__.startswith("tests"):
                    table.pop(key)
                    table |= {key: was[key]} if key in was else {}


@pytest.fixture(autouse=True)
def records(request):
    """Records on disk are written by the tests of them alone, where no rule of a test is left."""
    keep = stored.keep
    if "stored" not in request.node.nodeid:
        stored.keep = lambda *args: None
    else:
        for table in TABLES:
            for key, rule in list(table.items()):
                place = type(rule) if table is UFUNCS else rule
                if rule is not None and not str(place.__module__).startswith("pullback."):
                    del table[key]
    yield
    stored.keep = keep

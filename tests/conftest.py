"""What all tests share."""

import atexit
import gc
import os
import tempfile
from types import FunctionType

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call import budget
from pullback.compiler.call.budget import Budget
from pullback.compiler.disk import records as disk_records
from pullback.core.primitive import Primitive
from pullback.core.reach.session import SESSION
from pullback.core.registry import CREATION, FUNCTIONS, UFUNCS
from pullback.core.trace import running
from pullback.primitives import load
from tests import budgets
from tests.background import prepare
from tests.budgets import LONG, TURN

# Machine code is kept in a folder of these tests alone, which other processes of theirs inherit.
CACHE = tempfile.TemporaryDirectory(prefix="pullback-tests-")
atexit.register(CACHE.cleanup)
os.environ["PULLBACK_CACHE"] = CACHE.name

TABLES = CREATION, FUNCTIONS, UFUNCS  # of rules
SELDOM = 60  # collections of the middle generation before a full one; Python's default is 10


def pytest_configure(config):
    named = config.option.keyword or any("::" in name for name in config.args)
    budgets.BY_NAME[0] = bool(named)
    gc.disable()  # until all tests are collected, which would take a quarter longer


def pytest_collection_modifyitems(config, items):
    """Tests with a large budget run in `make test-long` only; of others a share does here."""
    if LONG:
        return
    items[:], left = budgets.shared_out(items)
    config.hook.pytest_deselected(items=left)
    skip = pytest.mark.skip(reason="a large budget: runs in `make test-long`")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)


def pytest_collection_finish():
    """What is there by now stays: the garbage collector need not look at it in every test.

    Nor so often at what tests leave in memory, most of which stays as well.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, SELDOM)


def pytest_terminal_summary(terminalreporter):
    """A run that fails says how it's repeated."""
    if not LONG and any(terminalreporter.stats.get(key) for key in ("failed", "error")):
        terminalreporter.write_line(f"PULLBACK_TURN={TURN} asks the same samples again.")


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.fixture
def no_primitives_left():
    """Primitives that a test declares leave the list of all primitives again."""
    load()  # or those of the library that come meanwhile would go as well
    n = len(Primitive.everything)
    yield
    del Primitive.everything[n:]


@pytest.fixture
def protocols_alone():
    """What Arrays do by themselves: where call sites ask, what is stored gets its value."""
    with pb.rebinding(False):
        yield


def settings():
    return np.geterr(), np.geterrcall(), gc.isenabled(), gc.get_threshold()


@pytest.fixture(autouse=True)
def nothing_left():
    """No test leaves the interpreter in a transformation, NumPy in another state, or a rule."""
    before, state = [dict(table) for table in TABLES], settings()
    yield
    assert settings() == state
    assert running() is None
    assert SESSION.get() is None or SESSION.get().closed
    for table, was in zip(TABLES, before, strict=True):
        if table != was:
            for key, rule in list(table.items()):
                place = rule if isinstance(rule, FunctionType) else type(rule)
                if str(place.__module__).startswith("tests"):
                    table.pop(key)
                    table |= {key: was[key]} if key in was else {}


@pytest.fixture(autouse=True)
def trials(request):
    """The clock chooses the way of a compiled call in tests marked `trials` alone."""
    budget.CLOCK[0] = request.node.get_closest_marker("trials") is not None
    account, more = Budget.account, Budget.more
    if budget.CLOCK[0]:
        prepare()
    else:  # elsewhere recordings are counted, and take no time
        Budget.account = lambda self, plain, spent: account(self, 0.0, 0.0)
        Budget.more = lambda self, spent: None
    yield
    budget.CLOCK[0], Budget.account, Budget.more = True, account, more


@pytest.fixture(autouse=True)
def records(request):
    """Tests marked `disk` alone write records and find them; no rule of a test is left there."""
    keep, find = disk_records.keep, disk_records.find
    if request.node.get_closest_marker("disk") is None:
        disk_records.keep = disk_records.find = lambda *args: None
    else:
        for table in TABLES:
            for key, rule in list(table.items()):
                if rule is not None and not disk_records.home(rule).startswith("pullback."):
                    del table[key]
    yield
    disk_records.keep, disk_records.find = keep, find

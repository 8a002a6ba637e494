"""The registry: what has an implementation, whatever was looked up before."""

import numpy as np
import pytest

from pullback.compiler.disk.closures import has_rule
from pullback.core.registry import CREATION, FUNCTIONS, METHODS, UFUNCS
from pullback.scipy.solving.storing import changes

TABLES = {"ufuncs": UFUNCS, "functions": FUNCTIONS, "creation": CREATION, "methods": METHODS}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_what_was_looked_up_in_vain_is_not_in_it(table):
    key = object()
    assert table[key] is None
    assert key not in table
    del table[key]


def test_what_has_an_implementation_is_in_it():
    assert np.sin in UFUNCS
    assert np.sum in FUNCTIONS


def test_a_look_in_vain_lets_nothing_through():
    """Neither may files on disk name such a function, nor does it count as one without effects."""
    asked = [(has_rule(np.save), changes(print, set()))]
    assert FUNCTIONS[np.save] is FUNCTIONS[print] is None
    asked.append((has_rule(np.save), changes(print, set())))
    assert asked == [(False, True)] * 2

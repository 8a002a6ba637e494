"""Fixtures of the tests of calls."""

import pytest

from pullback.compiler import first_call


@pytest.fixture
def soon(monkeypatch):
    """The second call of each kind is recorded, however little the first one took."""
    monkeypatch.setattr(first_call, "FEW", 1)
    monkeypatch.setattr(first_call, "ENOUGH", 0.0)

"""What an ordinary run leaves out has its turn in another one, and the long run asks everything."""

import pytest

from tests import budgets

TURNS = range(200)


class Item:
    """A test as pytest has it, with its mark."""

    def __init__(self, nodeid, shares=None):
        self.nodeid, self.shares = nodeid, shares

    def get_closest_marker(self, name):
        return self.shares and pytest.mark.share(self.shares)


ALL = [
    *[Item(f"a.py::many[{i}]", 3) for i in range(8)],
    *[Item(f"a.py::few[{i}]", 6) for i in range(2)],
    Item("a.py::one", 2),
    Item("a.py::another", 3),
    Item("a.py::plain"),
]


@pytest.fixture(autouse=True)
def ordinary(monkeypatch):
    monkeypatch.setattr(budgets, "LONG", False)
    monkeypatch.setattr(budgets, "BY_NAME", [False])


def runs(monkeypatch, ask):
    for turn in TURNS:
        monkeypatch.setattr(budgets, "TURN", turn)
        yield {*ask()}


def asked_tests():
    return budgets.shared_out(ALL)[0]


def test_every_test_has_its_turn(monkeypatch):
    found = [*runs(monkeypatch, asked_tests)]
    assert set.union(*found) == {*ALL}
    for items, counts in ((ALL[:8], {2, 3}), (ALL[8:10], {0, 1}), (ALL[12:], {1})):
        assert {len(asked & {*items}) for asked in found} == counts
    for item in ALL[:12]:
        turns = sum(item in asked for asked in found)
        assert 0.5 < turns * item.shares / len(TURNS) < 1.5


def test_every_case_of_a_test_has_its_turn(monkeypatch):
    found = [*runs(monkeypatch, lambda: budgets.asked("abcdefgh", 3))]
    assert set.union(*found) == {*"abcdefgh"}
    assert {*map(len, found)} == {3}
    found = [*runs(monkeypatch, lambda: [x for x in "abcdefgh" if budgets.in_turn(x, 3)])]
    assert set.union(*found) == {*"abcdefgh"}


@pytest.mark.parametrize("way", ["LONG", "BY_NAME"])
def test_everything_in_the_long_run_and_by_name(monkeypatch, way):
    monkeypatch.setattr(budgets, way, True if way == "LONG" else [True])
    assert asked_tests() == ALL
    assert [*budgets.asked("abc", 3)] == [*"abc"]
    assert all(budgets.in_turn(x, 3) for x in "abc")

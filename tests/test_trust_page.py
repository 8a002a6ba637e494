"""The page on what is tested names tests that there are, with the numbers that they have."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| (?!what must hold)[^|]+\| (`tests/[^|]+)\|([^|]*)\|([^|]*)\|$", re.MULTILINE)
BUDGET = re.compile(r"([0-9_]+) if LONG else ([0-9_]+)")


def test_each_row():
    rows = ROW.findall((ROOT / "docs" / "trust.md").read_text("utf-8"))
    assert len(rows) > 20
    for named, short, long in rows:
        texts = [(ROOT / name).read_text("utf-8") for name in re.findall(r"`([^`]+)`", named)]
        told = tuple("".join(re.findall(r"^[0-9]+", column.strip())) for column in (long, short))
        if any(told):
            budgets = {
                tuple(number.replace("_", "") for number in found)
                for text in texts
                for found in map(re.Match.groups, BUDGET.finditer(text))
            }
            assert told in budgets, (named, told)

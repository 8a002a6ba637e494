"""core.templates: functions written out for their operands, when they are declared or called."""

import subprocess
import sys
import threading

import pytest

from pullback.core.templates import from_template, later, unwritten

TEXT = """
def total({names}):
    return sum(({names},)) * factor
"""


def written(calls, **blanks):
    def make(space):
        calls.append(blanks)
        return from_template(TEXT, {"factor": 2}, space, **blanks)

    return later(TEXT, make)


class TestLater:
    def test_is_written_once_when_it_is_called(self):
        calls = []
        total = written(calls, names="x, y")
        assert total.__name__ == "total"
        assert total.__code__ is unwritten.__code__
        assert not calls
        assert [total(1, 2), total(3, 4)] == [6, 14]
        assert len(calls) == 1
        assert total.__code__.co_varnames == ("x", "y")

    def test_takes_what_it_will_take(self):
        """Names too, and it is called what it will be called."""
        assert written([], names="x, y")(x=1, y=2) == 6
        text = "def total(x, y=3, *, z={z}):\n    return (x + y + z) * 2"
        total = later(text, lambda space: from_template(text, {}, space, z=4))
        assert (total(1, z=2), total(1)) == (12, 16)
        with pytest.raises(TypeError, match=r"total\(\) missing 1 required"):
            written([], names="x, y")(1)
        total = written([], names="x")
        assert (total.__qualname__, total.__doc__) == ("total", None)

    def test_shares_its_code_with_others_of_its_text(self):
        one, other = written([], names="x"), written([], names="x")
        assert one(1) == other(1) == 2
        assert one.__code__ is other.__code__

    def test_threads_that_call_it_first(self):
        for _ in range(50):
            total, found = written([], names="x, y"), []
            threads = [
                threading.Thread(target=lambda total=total, found=found: found.append(total(1, 2)))
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [6] * 4


def test_rules_are_written_when_they_are_called():
    """Importing the package writes none: that took a fifth of it."""
    code = """
import numpy as np, pullback as pb
from pullback.core.registry import UFUNCS
from pullback.core.templates import unwritten
rules = lambda: [p.rule for p in UFUNCS.values() if getattr(p, "rule", None) is not None]
assert len(rules()) > 50
print(sum(rule.__code__ is not unwritten.__code__ for rule in rules()))
pb.grad(lambda x: np.sin(x) * x)(1.0)
print(sum(rule.__code__ is not unwritten.__code__ for rule in rules()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "2"]

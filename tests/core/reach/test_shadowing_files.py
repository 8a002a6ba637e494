"""Files of the user's that are named as modules of Python, or of packages that are known here.

A folder of programs comes before Python's own in the search for modules, so that `statistics.py`
in it is what `import statistics` finds.
"""

import subprocess
import sys

import pytest

MODULE = """
from collections import namedtuple
Pair = namedtuple("Pair", "a b", defaults=[2.0])
pair, table, scale = Pair(1.0), {"k": 1.0}, 2.0

class Model:
    weight = 1.0
    def go(self, v):
        return v * self.weight * scale

model = Model()

def mean(v):
    return sum(v) * scale * pair.b + model.go(v[0]) + table["k"]
"""
NAMES = ("statistics", "queue", "calendar", "numexpr", "bottleneck", "namedtuple_pairs", "numpy_x",
         "scipy_tools", "pullback_tools", "dataclasses_x")  # fmt: skip
MAIN = """
import importlib, sys, warnings
sys.path.insert(0, sys.argv[1])
import numpy as np
import pullback as pb

x, wrong = np.array([0.5, 2.0, 1.0]), []
for name in sys.argv[2:]:
    sys.modules.pop(name, None)
    m = importlib.import_module(name)
    f = lambda v, m=m: m.mean(v)
    compiled, slopes = pb.compile(m.mean, wait=True), pb.compile(pb.grad(f), wait=True)
    for change in ("", "m.scale = 5.0", "m.table['k'] = 3.0", "m.Model.weight = 7.0",
                   "m.pair = m.Pair(1.0, 4.0)", "m.model.weight = 9.0"):
        exec(change)
        slope = m.scale * m.pair.b + m.scale * m.model.weight * np.array([1.0, 0.0, 0.0])
        for _ in range(2):
            found = [compiled(x), pb.value_and_grad(f)(x)[0]]
            if not np.allclose(found, m.mean(x), rtol=1e-14):
                wrong.append((name, change, found, m.mean(x)))
            if not all(np.allclose(g(x), slope, rtol=1e-14) for g in (slopes, pb.grad(f))):
                wrong.append((name, change, slopes(x), slope))
assert pb.grad(lambda v: __import__("math").fsum([v, 1.0]) ** 2)(2.0) == 6.0
print(wrong)
"""


@pytest.mark.share(2)
def test_they_are_programs_of_the_users(tmp_path):
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(MODULE)
    command = [sys.executable, "-c", MAIN, str(tmp_path), *NAMES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")

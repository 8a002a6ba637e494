"""Packages are known as installed wherever an installer put them, not by a folder's name."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import optree
import pytest

from pullback.core.reach.namespaces import is_installed

FILES = {
    "package/__init__.py": ("package", True),
    "package/part.py": ("package.part", True),
    "package/inner/__init__.py": ("package.inner", True),
    "package/inner/part.cpython-311-x86_64-linux-gnu.so": ("package.inner.part", True),
    "single.py": ("single", True),
    "mine.py": ("mine", False),
    "mine/package/part.py": ("mine.package.part", False),
}
USERS_OWN = """
import numpy as np, optree
import pullback as pb
import rates

def loss(p):
    return rates.RATE * np.sum(p["x"] ** 2)

f = pb.compile(pb.grad(loss), wait=True)
for rate in (2.0, 2.0, 2.0, 3.0):
    rates.RATE = rate
    assert f({"x": np.ones(2)})["x"].tolist() == [2 * rate, 2 * rate], rate
assert f.refusal is None, f.why()
print(optree.__file__)
"""


@pytest.mark.parametrize("file", FILES)
def test_a_folder_without_a_known_name(tmp_path, file):
    """What the record of an installer names is installed; what lies beside it is the user's."""
    for name, lines in (
        ("one", "package/__init__.py,,\npackage/part.py,,\n"),
        ("two", "single.py,,\n"),
    ):
        (tmp_path / f"{name}-1.0.dist-info").mkdir()
        (tmp_path / f"{name}-1.0.dist-info" / "RECORD").write_text(lines)
    (tmp_path / "without-1.0.dist-info").mkdir()  # as some systems leave it
    name, right = FILES[file]
    assert is_installed(str(tmp_path / file), name) is right


def test_an_archive_and_what_has_no_file():
    assert not is_installed("/nowhere.zip/package/part.py", "package.part")
    assert not is_installed("<string>", "package.part")


def test_programs_are_compiled_where_packages_lie_beside_them(tmp_path):
    """As `pip install --target` leaves them, and archives for cloud functions."""
    shutil.copytree(Path(optree.__file__).parent, tmp_path / "optree")
    noted = Path(str(distribution("optree").locate_file("")))
    (found,) = noted.glob("optree-*.dist-info")
    shutil.copytree(found, tmp_path / found.name)
    (tmp_path / "rates.py").write_text("RATE = 1.0\n")
    (tmp_path / "handler.py").write_text(USERS_OWN)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "error", "handler.py"],
        env={**os.environ, "PYTHONPATH": path, "PULLBACK_CACHE": "off"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent.parent == tmp_path

"""The command line: what it prints and writes, and its errors in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pullback
from pullback.cli import main

MODEL = """
import numpy as np

def loss(x, y):
    r = np.tanh(x * y)
    return np.sum(r ** 2)

def steps(x, n):
    for _ in range(n):
        x = np.sin(x)
    return x

def boom(x):
    return x / (1 / 0)

def kinky(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0) ** 2)

class Model:
    @staticmethod
    def call(x, *, k):
        return x ** k

size = 3
"""
NO_FILE = "can't find the file `nothing.py`; write its path, `folder/FILE.py:function`."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "broken.py").write_text("import numpy as np\nx = 1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield tmp_path
    for name in ("model", "broken"):
        sys.modules.pop(name, None)


def run(capsys, *argv):
    status = main(argv)
    told = capsys.readouterr()
    return status, told.out, told.err


class TestExplain:
    def test_table_and_page(self, folder, capsys):
        status, out, err = run(capsys, "explain", "model.py:loss", "--at", "x=1.5", "y=[1,2,3]")
        assert (status, err) == (0, "")
        assert "tanh(#2)" in out
        assert "model.py:5" in out
        assert out.endswith("open model.loss.html\n")
        page = (folder / "model.loss.html").read_text()
        assert "explain(loss)" in page

    def test_out(self, folder, capsys):
        status, _, _ = run(
            capsys, "explain", "model.py:loss", "--at", "x=1", "y=2", "--out", "p.html"
        )
        assert status == 0
        assert (folder / "p.html").stat().st_size > 1000

    def test_numbers_become_float64(self, folder, capsys):
        _, out, _ = run(capsys, "explain", "model.py:steps", "--at", "x=2", "--static", "n=2")
        assert "sin(x#1)" in out
        _, out, _ = run(capsys, "explain", "model.py:Model.call", "--at", "x=2", "k=3")
        assert "12" in out

    def test_as_a_module(self, folder):
        done = subprocess.run(
            [sys.executable, "-m", "pullback", "explain", "nothing.py:f"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parent.parent)},
        )
        assert done.returncode == 2
        assert done.stderr == f"pullback explain: {NO_FILE}\n"


class TestDoctor:
    def test_healthy(self, folder, capsys):
        status, out, _ = run(capsys, "doctor", "model.py:loss", "--at", "x=1.5", "y=[1,2,3]")
        assert status == 0
        assert out.startswith("doctor(loss)\n  The gradient agrees with differences")

    def test_sick(self, folder, capsys):
        with pytest.warns(RuntimeWarning):
            status, out, _ = run(capsys, "doctor", "model.py:kinky", "--at", "x=[-1.0, 2.0]")
        assert status == 0
        assert "the first NaN of the forward pass" in out


@pytest.mark.parametrize(
    ("argv", "status", "sentence"),
    [
        (["nothing.py:f"], 2, NO_FILE),
        (["model.py"], 2, "`model.py` does not name a function; write FILE.py:function."),
        (["model.py:los"], 2, "has no function `los`; it has `loss`, `steps`, `boom`, `kinky`."),
        (["model.py:size"], 2, "`size` in `model.py` is not a function, but int."),
        (["broken.py:f"], 2, "`broken.py` could not be run: ZeroDivisionError: division by zero"),
        (["model.py:loss", "--at", "x=1"], 2, "required argument: 'y'; give each a value"),
        (["model.py:boom", "--at", "z=1"], 2, "takes (x), and has no argument `z`."),
        (["model.py:boom", "--at", "x"], 2, "write `x=1.5`, without spaces around `=`."),
        (["model.py:boom", "--at", "x=1", "--static", "x=2"], 2, "with --at and with --static"),
        (["model.py:boom", "--at", "x=1", "x=2"], 2, "`x` was given twice; leave one out."),
        (["model.py:boom", "--at", "x=a"], 2, "other things are passed with `--static x=a`."),
        (["model.py:boom", "--at", "x=[1,[2]]"], 2, "or a list of numbers of one shape"),
        (["model.py:boom", "--at", "x=1"], 1, "ZeroDivisionError: division by zero (model.py:14)"),
        (["model.py:steps", "--at", "x=1", "n=2"], 1, "integers are passed with --static"),
        (["model.py:boom", "--at", "x=1", "--out", "no/p.html"], 2, "can't find the folder `no`"),
    ],
)  # fmt: skip
def test_errors(folder, capsys, argv, status, sentence):
    """One clear sentence, and a status that says so."""
    found, out, err = run(capsys, "explain", *argv)
    assert (found, out) == (status, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_nothing_to_differentiate(folder, capsys):
    found, _, err = run(capsys, "doctor", "model.py:steps", "--static", "x=1", "n=2")
    assert found == 1
    assert "`doctor` found nothing to differentiate in the arguments of `steps`." in err


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"pullback {pullback.__version__}\n"


def test_usage(capsys):
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2
    assert "usage: pullback [-h] [--version] {explain,doctor}" in capsys.readouterr().err

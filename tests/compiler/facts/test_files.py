"""What libraries read is read in each call; what they write, set or print is so again."""

import contextlib
import os

import numpy as np
import pytest
from scipy import optimize

import pullback as pb

pytestmark = pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")

# The folder that holds the files is the working directory.
READS = {
    "load": lambda: np.load("a.npy"),
    "load, mapped": lambda: np.asarray(np.load("a.npy", mmap_mode="r")),
    "load, named": lambda: np.load("a.npz")["a"],
    "loadtxt": lambda: np.loadtxt("a.txt"),
    "genfromtxt": lambda: np.genfromtxt("a.txt"),
    "fromregex": lambda: np.fromregex("a.txt", r"(\S+)", [("a", float)])["a"],
    "fromfile": lambda: np.fromfile("a.bin"),
    "memmap": lambda: np.asarray(np.memmap("a.bin", float, "r")),
    "open_memmap": lambda: np.asarray(np.lib.format.open_memmap("a.npy", mode="r")),
}
KEPT = np.ones(3)
WRITES = {
    "save": lambda: np.save("out", np.ones(3)),
    "savetxt": lambda: np.savetxt("out", np.ones(3)),
    "savez": lambda: np.savez("out", a=np.ones(3)),
    "savez_compressed": lambda: np.savez_compressed("out", a=np.ones(3)),
    "tofile": lambda: np.ones(3).tofile("out"),
    "tofile of an array from outside": lambda: KEPT.tofile("out"),
    "dump": lambda: np.ones(3).dump("out"),
    "memmap": lambda: np.memmap("out", float, "w+", shape=3).flush(),
    "seterrcall": lambda: np.seterrcall(print),
    "setbufsize": lambda: np.setbufsize(16384),
    "set_printoptions": lambda: np.set_printoptions(precision=3),
    "set_default_printstyle": lambda: np.polynomial.set_default_printstyle("ascii"),
}


def written(value):
    a = np.full(3, value)
    np.save("a.npy", a)
    np.savez("a.npz", a=a)
    np.savetxt("a.txt", a)
    a.tofile("a.bin")


def seen():
    settings = np.geterrcall(), np.getbufsize(), np.get_printoptions()["precision"]
    return sorted(os.listdir()), settings, str(np.polynomial.Polynomial([1, 2]))


def removed():
    for name in os.listdir():
        os.remove(name)
    np.seterrcall(None)
    np.setbufsize(8192)
    np.set_printoptions(precision=8)
    np.polynomial.set_default_printstyle("unicode")


@contextlib.contextmanager
def within(folder):
    with contextlib.chdir(folder):
        try:
            yield
        finally:
            removed()


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_what_is_read(tmp_path, read):
    def f(x):
        return x * read()

    ways = [f, pb.grad(lambda x: np.sum(f(x)))]
    with within(tmp_path):
        for way in ways:
            compiled = pb.compile(way, wait=True)
            for value in (2.0, 2.0, 3.0, 4.0):
                written(value)
                np.testing.assert_array_equal(compiled(np.ones(3)), way(np.ones(3)))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_written(tmp_path, write):
    def f(x):
        write()
        return 2 * x

    with within(tmp_path):
        f(1.0)
        right = seen()
        compiled = pb.compile(f, wait=True)
        for _ in range(3):
            removed()
            compiled(np.ones(3))
            assert seen() == right


PRINTS = {
    "minimize": lambda: optimize.minimize(lambda v: (v[0] - 1) ** 2, [1.5], options={"disp": 1}),
    "fmin": lambda: optimize.fmin(lambda v: (v[0] - 1) ** 2, [1.5]),
    "least_squares": lambda: optimize.least_squares(lambda v: v - 1, [3.0], verbose=2),
    "minimize_scalar": lambda: optimize.minimize_scalar(np.cos, options={"disp": 3}),
}


@pytest.mark.parametrize("work", PRINTS.values(), ids=PRINTS)
def test_what_libraries_print(work, capsys):
    def f(x):
        work()
        return 2 * x

    f(1.0)
    right = capsys.readouterr().out
    compiled = pb.compile(f, wait=True)
    for _ in range(3):
        compiled(np.ones(3))
        assert capsys.readouterr().out == right != ""

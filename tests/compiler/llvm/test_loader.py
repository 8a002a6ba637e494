"""Object files are loaded without LLVM, and do what they do with it."""

import ctypes
import gc
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from pullback.compiler.llvm import cpu, object_loader, symbols
from pullback.compiler.llvm.binding import (
    BEST,
    MachineCode,
    add_symbol,
    features,
    known,
    object_file,
)
from pullback.compiler.llvm.object_loader import Image, Unlinkable

pytestmark = pytest.mark.skipif(not object_loader.serves(), reason="LLVM loads what it makes here")

# Constants in read-only data, variables that keep their values, a table of jumps, calls of a
# function outside, of one of the C library, and of one another.
TEXT = """
@table = private constant [4 x double] [double 1.5, double -2.0, double 3.25, double 8.0]
@count = internal global i64 40
@zeros = internal global [100 x i64] zeroinitializer, align 64
@names = internal constant [2 x ptr] [ptr @twice, ptr @thrice]

declare double @cos(double)
declare i64 @tests_outside(i64)

define internal i64 @twice(i64 %x) noinline {
  %y = mul i64 %x, 2
  ret i64 %y
}
define internal i64 @thrice(i64 %x) noinline {
  %y = mul i64 %x, 3
  ret i64 %y
}
define double @pick(i64 %i) {
  %p = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %x = load double, ptr %p
  %y = call double @cos(double %x)
  ret double %y
}
define i64 @next() {
  %x = load i64, ptr @count
  %y = add i64 %x, 1
  store i64 %y, ptr @count
  ret i64 %y
}
define i64 @zero(i64 %i) {
  %p = getelementptr [100 x i64], ptr @zeros, i64 0, i64 %i
  %a = ptrtoint ptr @zeros to i64
  %low = and i64 %a, 63
  %x = load i64, ptr %p
  %y = or i64 %x, %low
  ret i64 %y
}
define i64 @through(i64 %i, i64 %x) {
  %p = getelementptr [2 x ptr], ptr @names, i64 0, i64 %i
  %f = load ptr, ptr %p
  %y = call i64 %f(i64 %x)
  %z = call i64 @tests_outside(i64 %y)
  ret i64 %z
}
define i64 @chosen(i64 %i) {
  switch i64 %i, label %other [ i64 0, label %a i64 1, label %b i64 2, label %c
                                i64 3, label %d i64 4, label %e i64 5, label %f ]
a:
  ret i64 17
b:
  ret i64 3
c:
  ret i64 91
d:
  ret i64 8
e:
  ret i64 1000
f:
  ret i64 -5
other:
  ret i64 0
}
"""
CALLS = [("pick", i) for i in range(4)] + [("zero", 0), ("zero", 99)]
CALLS += [("through", 0, 21), ("through", 1, 7)] + [("chosen", i) for i in range(-1, 8)]


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def outside(x):
    return x + 100


@pytest.fixture(scope="module", autouse=True)
def named():
    add_symbol("tests_outside", ctypes.cast(outside, ctypes.c_void_p).value)


def called(code, name, *args):
    kind = ctypes.c_double if name == "pick" else ctypes.c_int64
    return ctypes.CFUNCTYPE(kind, *[ctypes.c_int64] * len(args))(code.address(name))(*args)


@pytest.mark.parametrize("level", range(BEST + 1))
def test_the_same_as_with_llvm(level, monkeypatch):
    content = object_file(TEXT, level)
    mine = MachineCode(TEXT, level, content)
    assert isinstance(mine.image, Image)
    monkeypatch.setattr("pullback.compiler.llvm.binding.serves", lambda: False)
    theirs = MachineCode(TEXT, level, content)
    assert not hasattr(theirs, "image")
    for name, *args in CALLS:
        assert called(mine, name, *args) == called(theirs, name, *args), (name, args)
    for n in (41, 42):
        assert called(mine, "next") == called(theirs, "next") == n
    assert mine.address("absent") == 0


def test_each_image_has_its_variables():
    content = object_file(TEXT, 0)
    first, second = Image(content, symbols.address), Image(content, symbols.address)
    assert [called(first, "next") for _ in range(3)] == [41, 42, 43]
    assert called(second, "next") == 41


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_has_its_own_variables():
    image = Image(object_file(TEXT, 0), symbols.address)
    child = os.fork()
    if child == 0:
        called(image, "next")
        os._exit(0)
    os.waitpid(child, 0)
    assert called(image, "next") == 41


def maps(address):
    """How a process may use the memory at an address: "r-xp" and the like."""
    with open("/proc/self/maps") as file:
        for line in file:
            where, how, *_ = line.split()
            start, end = [int(x, 16) for x in where.split("-")]
            if start <= address < end:
                return how
    return None


def test_nothing_that_is_written_is_run():
    image = Image(object_file(TEXT, 0), symbols.address)
    code, data, end = image.ends
    assert 0 < code < data < end
    assert maps(image.address("next")) == maps(image.base) == "r-xp"
    assert maps(image.base + code) == "r--p"
    assert maps(image.base + data) == "rw-p"


def test_memory_is_given_back():
    content = object_file(TEXT, 0)
    image = Image(content, symbols.address)
    start = image.base
    assert maps(start) == "r-xp"
    del image
    gc.collect()
    assert maps(start) != "r-xp"
    for _ in range(2000):  # tables for unwinding are removed as well
        Image(content, symbols.address)


def test_what_is_damaged_or_unknown_is_refused():
    content = object_file(TEXT, 2)
    for size in (0, 3, 63, 64, 100, len(content) // 2, len(content) - 10):
        with pytest.raises(Unlinkable):
            Image(content[:size], symbols.address)
    with pytest.raises(Unlinkable, match="no object file"):
        Image(b"MZ" + content[2:], symbols.address)
    with pytest.raises(Unlinkable, match="nowhere"):
        Image(content, lambda name: None)


def test_any_bytes_are_refused_or_loaded():
    """Damage anywhere in the tables ends in no other exception, and runs nothing."""
    content = bytearray(object_file(TEXT, 0))
    (sections,) = struct.unpack_from("<Q", content, 40)
    random = np.random.default_rng(0)
    loaded = 0
    for _ in range(500):
        at = int(random.choice([random.integers(0, 64), random.integers(sections, len(content))]))
        before, content[at] = content[at], int(random.integers(256))
        try:
            Image(bytes(content), symbols.address)
            loaded += 1
        except Unlinkable:
            pass
        content[at] = before
    assert 0 < loaded < 500


def test_llvm_loads_what_is_not_known_here(monkeypatch):
    def refuse(content, resolve):
        raise Unlinkable("relocation 99")

    monkeypatch.setattr("pullback.compiler.llvm.binding.Image", refuse)
    code = MachineCode(TEXT, 0, object_file(TEXT, 0))
    assert called(code, "next") == 41


def test_symbols():
    assert known("cos")
    assert known("memcpy")
    assert known("tests_outside")
    assert not known("no_such_function_anywhere")


def test_the_processor_is_as_llvm_sees_it():
    import llvmlite.binding as llvm

    name, flags = cpu.told()
    assert name
    theirs = llvm.get_host_cpu_features()
    for feature in ("avx2", "avx512f", "fma", "sse4_1"):
        assert (feature in flags) == bool(theirs.get(feature.replace("_", ".")))
    assert features() == flags


@pytest.mark.share(2)
def test_a_thread_that_is_ended_leaves_machine_code():
    """It asks for the interpreter that has ended, and is unwound through its functions."""
    program = """
import threading
import numpy as np
import pullback as pb
f = pb.compile(lambda x: np.tanh(np.exp(x)).sum(), wait=True)
x = np.ones(400_000)
for _ in range(3):
    f(x)

def forever(begun):
    while True:
        f(x)
        begun.set()

begun = [threading.Event() for _ in range(4)]
for event in begun:
    threading.Thread(target=forever, args=(event,), daemon=True).start()
for event in begun:
    event.wait()
"""
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=100)
        assert done.returncode == 0, done.stderr


def test_a_later_process_needs_no_llvm(tmp_path):
    program = """
import sys
import numpy as np
import pullback as pb
from pullback.compiler import first_call

first_call.FEW = first_call.ENOUGH = 0  # the first call is recorded
first_call.PREPARATION.done = True

def step(z, x):
    return np.tanh(z * x) + np.where(z > 0, x, -x), z.sum()

def f(x):
    z, ys = pb.scan(step, x, np.linspace(0, 1, 300))
    return np.sum(z**2) + ys.sum()

g = pb.compile(pb.grad(f))
x = np.linspace(-1, 1, 5)
for _ in range(5):
    out = g(x)
print("llvmlite.binding" in sys.modules, out.tobytes().hex())
"""
    found = []
    for _ in range(2):
        env = {**os.environ, "PULLBACK_CACHE": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    assert [loaded for loaded, _ in found] == ["True", "False"]
    assert found[0][1] == found[1][1]

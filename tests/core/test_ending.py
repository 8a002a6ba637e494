"""The process ends well while daemon threads are in the middle of something."""

import subprocess
import sys

import pytest

IN_TREES = """
import threading, time
from pullback.core.tree import flatten, unflatten
tree = 1.0, [2.0, 3.0], {"a": 4.0}
def forever():
    while True:
        unflatten(flatten(tree)[1], [1.0] * 4)
"""
IN_LLVM = """
import threading, time
from pullback.compiler.llvm import binding as llvm
llvm.binding()
lines = [
    f"  %a{i + 1} = call double @llvm.sin.f64(double %a{i})\\n"
    f"  %p{i} = getelementptr double, ptr %p, i64 {i}\\n  store double %a{i + 1}, ptr %p{i}\\n"
    for i in range(4000)
]
text = "declare double @llvm.sin.f64(double)\\ndefine void @f(ptr %p, double %a0) {\\n"
text += "".join(lines) + "  ret void\\n}\\n"
def forever():
    for i in range(1000):
        llvm.compiled(f"{text}; {i}", 3)
"""
IN_IMPORTS = """
import colorsys, importlib.abc, sys, threading, time
import pullback
from pullback.core.reach import namespaces
class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        time.sleep(0.02)
class Raises:
    def __del__(self):
        raise ValueError("shown at the end, for which Python imports")
colorsys.raises = Raises()
sys.meta_path.insert(0, Slow())
def forever():
    while True:
        namespaces.SCANNED.clear()
        namespaces.scan()
"""
END = """
threading.Thread(target=forever, daemon=True).start()
time.sleep({seconds})
print("end")
"""


def ends(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout.strip()) == (0, "end"), done.stderr


def test_machine_code_that_outlives_the_names_of_its_modules():
    """Python clears modules when it ends; what is freed after that must need no name."""
    code = """
import gc, sys
ending = []
sys.is_finalizing = lambda: bool(ending)
import numpy as np
import pullback as pb
from pullback.compiler.llvm.binding import WORKER
f = pb.compile(lambda x: np.sum(np.sin(x) * x), wait=True)
for i in range(3):
    f(np.arange(5.0) + i)
while (thread := WORKER.thread) is not None:
    thread.join()
ending.append(True)
for name, module in list(sys.modules.items()):
    if name.startswith("pullback.compiler"):
        for key in [key for key in vars(module) if key[:2] != "__"]:
            setattr(module, key, None)
del f
gc.collect()
print("end", flush=True)
sys.stderr.flush()
__import__("os")._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (done.stdout.strip(), done.stderr) == ("end", "")


@pytest.mark.parametrize("seconds", [0.01, 0.02, 0.03, 0.05, 0.08])
def test_in_cpp_that_lets_go_of_the_lock(seconds):
    """There Python cannot end a thread, and ended the process with SIGABRT."""
    ends(IN_TREES + END.format(seconds=seconds))


@pytest.mark.share(2)
@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.3, 0.4])
def test_in_llvm(seconds):
    """It was taken down under the thread that compiled, which then failed in one way or another."""
    ends(IN_LLVM + END.format(seconds=seconds))


def test_in_imports():
    """They have a lock that Python itself waited for, without an end."""
    ends(IN_IMPORTS + END.format(seconds=0.2))


def test_a_thread_that_the_process_waits_for_goes_on():
    """Also where it is asked to end after other threads were told to rest."""
    ends("""
import atexit, threading
told = threading.Event()
atexit.register(lambda: (told.set(), thread.join(), print("end")))  # so it is called last
import numpy as np
import pullback as pb
from pullback.core import shutdown
shutdown.REST = 0.5
found = []
def work():
    told.wait()
    loss = pb.grad(lambda p: np.sum(p["w"] ** 2))
    found.append(pb.compile(loss, wait=True)({"w": np.ones(2)}))
    assert found[0]["w"].tolist() == [2.0, 2.0]
thread = threading.Thread(target=work, daemon=True)
thread.start()
""")


@pytest.mark.share(3)
@pytest.mark.parametrize("n", [20, pytest.param(200, marks=pytest.mark.long)])
def test_daemon_threads_in_every_state(n):
    """In optree, LLVM, machine code, backward passes, first compiled calls; see ending_stress."""
    command = [sys.executable, "-m", "tests.ending_stress", str(n)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20 + 10 * n)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{n} processes, failed: []" in done.stdout

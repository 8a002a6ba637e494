"""A process that forks while machine code is compiled in the background works on in the child."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

PROGRAM = """
    import os, threading, time, warnings
    import numpy as np
    import pullback as pb
    from pullback.compiler.llvm.binding import WORKER
    from pullback.compiler.program import build
    from pullback.testing import staged

    warnings.simplefilter("ignore", DeprecationWarning)  # threads and fork

    def function(k):
        def f(x):
            for i in range(30):
                x = np.sin(x) + 0.001 * (k + i)
            return x.sum()
        return f

    X = np.linspace(0, 1, 7)
    graphs = [staged(function(k), [X])[0] for k in range(20)]

    def work(k):
        fast = pb.compile(function(50.0 + k))
        values = [fast(X) for _ in range(3)]
        assert np.allclose(values, function(50.0 + k)(X)), values
        gradient = pb.grad(fast)
        assert np.allclose([gradient(X) for _ in range(3)], pb.grad(function(50.0 + k))(X))

    def forked(k):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work(k)
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(pid, 0)
        assert status == 0, k
"""
FORKS = """
    programs = [build(graph, 0) for graph in graphs]
    for k, program in enumerate(programs):
        program.improve_later(2)
        time.sleep(0.002 * (k % 10))  # at another point of it each time
        forked(k)
    print("done")
"""
OTHER_THREADS = """
    stop = threading.Event()

    def compile_all():
        while not stop.is_set():
            for graph in graphs:
                build(graph, 1)  # and forgotten
                if stop.is_set():
                    break

    threads = [threading.Thread(target=compile_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for k in range(6):
            forked(k)
    finally:
        stop.set()
    print("done")
"""
POOL = """
    import multiprocessing

    if __name__ == "__main__":
        programs = [build(graph, 0) for graph in graphs]
        for program in programs:
            program.improve_later(2)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            pool.map(work, range(4))
        print("done")
"""


def run(text):
    """A program in a process of its own, so that one that hangs is ended."""
    source = textwrap.dedent(PROGRAM) + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "done", done.stderr


@pytest.mark.share(4)
def test_fork_while_compiling():
    run(FORKS)


@pytest.mark.share(4)
def test_fork_while_other_threads_compile():
    run(OTHER_THREADS)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here"
)
def test_multiprocessing():
    run(POOL)

"""Large loops: the same bits by any number of threads, and memory that is used again."""

import ctypes
import gc
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.entry import object_layout
from pullback.compiler.llvm import array_memory, binding, thread_pool
from pullback.compiler.lower import gemm, loop_space
from pullback.compiler.program import Program
from pullback.core.errors import ArgumentError
from pullback.testing import staged


@pytest.fixture(autouse=True)
def usual():
    yield
    thread_pool.limit(thread_pool.number())


@pytest.fixture
def many_parts(monkeypatch):
    """Loops are large from few elements on, so that small arrays meet every border of parts."""
    monkeypatch.setattr(loop_space, "LARGE", 1 << 10)
    monkeypatch.setattr(loop_space, "PART", 1 << 10)


def program(f, *xs, level=1):
    graph, _ = staged(f, xs)
    return Program(graph, level), graph


def bits_of(outs):
    return [(np.asarray(x).tobytes(), np.shape(x), np.asarray(x).dtype) for x in outs]


def in_parts(run):
    return f"@{thread_pool.SYMBOL}(" in run.ir


def chain(x, y):
    z = np.exp(-x * x) / (1 + y * y)
    w = np.where(x > y, z, np.sqrt(np.abs(x))) * np.tanh(y) - z * 3 + np.log(1.5 + y * y)
    return w, np.sum(w), np.max(z), np.mean(z * w), np.sum(x > y)


SIZES = [511, 512, 513, 1023, 1024, 1025, 1031, 1039, 1040, 1535, 1536, 1537, 2047, 2048, 2049,
         2063, 4095, 4096, 4097, 5000, 5120, 5127, 5128, 10_001]  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_number_of_threads_gives_the_same_bits(many_parts, dtype, monkeypatch):
    random = np.random.default_rng(0)
    split = 0
    for n in SIZES:
        x, y = random.standard_normal((2, n)).astype(dtype)
        run, _ = program(chain, x, y)
        split += in_parts(run)
        found = []
        for count in (1, 2, 3, 5):
            thread_pool.limit(count)
            found.append(bits_of(run(x, y)))
        assert all(one == found[0] for one in found), n
        with monkeypatch.context() as whole:
            whole.setattr(loop_space, "LARGE", 1 << 40)
            undivided, _ = program(chain, x, y)
        assert not in_parts(undivided)
        assert bits_of(undivided(x, y)) == found[0], n
    assert split >= len(SIZES) - 4


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "shape", [(33, 70), (64, 65), (17, 1000), (100, 3, 11), (1025, 2), (3, 5000)]
)
def test_reductions_over_any_axis_in_parts(many_parts, shape, monkeypatch):
    """Along rows, across them, both, and through views that cannot be walked as one axis."""
    random = np.random.default_rng(1)
    x = random.standard_normal(shape)
    row = random.standard_normal(shape[-1])

    def f(x, row):
        y = x * row + 0.5
        outs = [
            y,
            y[::-1] * 2,
            y.T + 1,
            np.sum(y),
            np.max(y.T, axis=0),
            np.sum(y[..., ::-1], axis=0),
        ]
        for axis in range(x.ndim):
            outs += [np.sum(y, axis=axis), np.mean(y, axis=axis), np.min(y, axis=axis)]
        return outs

    run, graph = program(f, x, row)
    assert in_parts(run)
    found = []
    for count in (1, 2, 3, 5):
        thread_pool.limit(count)
        found.append(bits_of(run(x, row)))
    assert all(one == found[0] for one in found)
    for out, right in zip(run(x, row), graph.evaluate(x, row), strict=True):
        np.testing.assert_allclose(out, right, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(loop_space, "LARGE", 1 << 40)
    assert bits_of(program(f, x, row)[0](x, row)) == found[0]


def test_small_loops_are_whole_and_start_no_thread():
    """Nothing but a large loop wakes the pool, and importing or compiling does not."""
    code = """
import os, numpy as np, pullback as pb
from pullback.compiler.call import budget
budget.CLOCK[0] = False  # machine code is made at once
f = pb.compile(lambda x: np.exp(x) * 2)
f(np.ones(1000)); f(np.ones(1000))
import threading, time
others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
for thread in others: thread.join()
ended = {str(thread.native_id) for thread in others}
while ended & set(os.listdir("/proc/self/task")): time.sleep(0.001)  # the system ends them
before = len(os.listdir("/proc/self/task"))
f(np.ones(3_000_000)); f(np.ones(3_000_000))
for thread in threading.enumerate():
    if thread is not threading.main_thread(): thread.join()
print(before, len(os.listdir("/proc/self/task")))
"""
    if not os.path.exists("/proc/self/task"):
        pytest.skip("threads are counted in /proc")
    fixed = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100,
        env={**os.environ, **fixed, "PULLBACK_THREADS": "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "3"]


def test_several_callers_at_once(many_parts):
    random = np.random.default_rng(2)
    x, y = random.standard_normal((2, 20_000))
    run, _ = program(chain, x, y)
    thread_pool.limit(1)
    right = bits_of(run(x, y))
    thread_pool.limit(3)
    found = []

    def call():
        found.extend([bits_of(run(x, y)) == right for _ in range(50)])

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
        assert not caller.is_alive()
    assert found == [True] * 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own(many_parts):
    """Even where another thread of the parent was in the middle of a loop."""
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, 20_000))
    run, _ = program(chain, x, y)
    thread_pool.limit(3)
    right = bits_of(run(x, y))
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            run(x, y)

    other = threading.Thread(target=busy)
    other.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                good = all(bits_of(run(x, y)) == right for _ in range(5))
                os._exit(0 if good else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        other.join(60)
    assert bits_of(run(x, y)) == right


def test_the_process_ends_while_threads_sleep_or_work():
    code = """
import threading, numpy as np, pullback as pb
f = pb.compile(lambda x: np.tanh(np.exp(x) * 2).sum(), wait=True)
x = np.ones(3_000_000)
f(x)
begun = threading.Event()
def forever():
    while True: f(x); begun.set()
threading.Thread(target=forever, daemon=True).start()
begun.wait()
print("end")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100,
        env={**os.environ, "PULLBACK_THREADS": "3"},
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "end"), done.stderr


def test_other_threads_of_python_run_meanwhile():
    x = np.linspace(0, 1, 2_000_000)
    run, _ = program(lambda x: (np.tanh(np.exp(np.sin(x))).sum(),), x)
    assert in_parts(run)
    counted, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            counted.append(time.perf_counter())
            time.sleep(0)

    other = threading.Thread(target=count)
    other.start()
    start = time.perf_counter()
    for _ in range(10):
        run(x)
    end = time.perf_counter()
    stop.set()
    other.join()
    assert any(start < t < end for t in counted)


def test_exceptions_between_large_loops():
    """An operation of NumPy's that raises leaves the pool and the memory as they were."""

    def f(a, x):
        y = np.exp(x) * 2
        return np.linalg.inv(a) * np.sum(y), y * 3

    x = np.linspace(0, 1, 1_000_000)
    run, graph = program(f, np.eye(2), x)
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError):
            run(np.zeros((2, 2)), x)
        for out, right in zip(run(np.eye(2), x), graph.evaluate(np.eye(2), x), strict=True):
            np.testing.assert_allclose(out, right, rtol=1e-12)


def test_arguments_at_any_address():
    whole = np.random.default_rng(4).standard_normal(1_000_100)
    found = []
    for start in range(0, 9):
        raw = np.empty(1_000_000 * 8 + 64, np.uint8)
        x = raw[8 * start : 8 * start + 8_000_000].view(np.float64)
        x[:] = whole[:1_000_000]
        if not found:
            run, _ = program(lambda x: (x * 2 + np.exp(x), np.sum(x)), x)
        found.append(bits_of(run(x)))
    assert all(one == found[0] for one in found)


def test_compiled_functions_agree_with_eager_on_large_arrays():
    random = np.random.default_rng(5)
    x, y = random.standard_normal((2, 700_001))

    def f(x, y):
        return np.sum(np.exp(-x * x) * np.sin(y) / (1 + y * y))

    value, bars = pb.compile(pb.value_and_grad(f, argnums=(0, 1)))(x, y)
    right, right_bars = pb.value_and_grad(f, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(value, right, rtol=1e-12)
    for bar, right_bar in zip(bars, right_bars, strict=True):
        np.testing.assert_allclose(bar, right_bar, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("asked", ["0", "-1", "many", "1.5"])
def test_the_environment_names_a_number(asked, monkeypatch):
    monkeypatch.setenv("PULLBACK_THREADS", asked)
    with pytest.raises(ArgumentError, match=r"PULLBACK_THREADS is .* not a number of threads"):
        pb.compile(np.sin)


def test_the_environment_decides(monkeypatch):
    monkeypatch.setenv("PULLBACK_THREADS", " 7 ")
    assert thread_pool.number() == 7
    monkeypatch.setenv("PULLBACK_THREADS", "")
    assert thread_pool.number() >= 1


def test_without_threads_of_the_system_the_caller_does_all():
    """The plain path of systems without POSIX threads."""
    code = binding.compiled(thread_pool.text(threads=False), 1)
    calls = []
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    work = kind(lambda given, i: calls.append((given, i)))
    run = ctypes.CFUNCTYPE(None, kind, ctypes.c_void_p, ctypes.c_int64)(code.address("parallel"))
    run(work, 24, 5)
    run(work, 24, 0)
    assert calls == [(24, i) for i in range(5)]


class TestBlocks:
    """Large results lie in memory that is used again."""

    @pytest.fixture
    def double(self):
        x = np.arange(1_000_000.0)
        run, _ = program(lambda x: (x * 2,), x)
        return run, x

    def test_memory_is_used_again_and_never_shared(self, double):
        run, x = double
        held = [run(x)[0] for _ in range(4)]
        places = {a.ctypes.data for a in held}
        assert len(places) == 4
        for a, b in itertools.pairwise(held):
            assert not np.may_share_memory(a, b)
        held[0][:] = 7
        np.testing.assert_array_equal(held[1], x * 2)
        if sys.platform == "linux":
            del held, a, b
            gc.collect()
            assert run(x)[0].ctypes.data in places

    def test_arrays_are_ordinary(self, double):
        run, x = double
        out = run(x)[0]
        assert out.flags.owndata
        assert out.flags.writeable
        assert out.base is None
        copy = pickle.loads(pickle.dumps(out))
        np.testing.assert_array_equal(copy, out)
        out.resize(1_500_000, refcheck=False)
        np.testing.assert_array_equal(out[:1_000_000], x * 2)
        np.testing.assert_array_equal(out[1_000_000:], 0)
        out.resize(4_000_000, refcheck=False)
        np.testing.assert_array_equal(out[:1_000_000], x * 2)
        np.testing.assert_array_equal(out[1_000_000:], 0)
        out.resize(10, refcheck=False)
        np.testing.assert_array_equal(out, x[:10] * 2)
        out.resize(0, refcheck=False)
        assert not out.size

    def test_what_numpy_makes_later_is_numpys(self, double):
        from numpy._core.multiarray import get_handler_name

        run, x = double
        out = run(x)[0]
        if sys.platform == "linux":
            assert get_handler_name(out) == "pullback"
            assert out.ctypes.data % 64 == 0
        assert get_handler_name(out * 2) == get_handler_name(np.empty(3))

    def test_small_dtypes_and_pages(self):
        for dtype in (np.int8, np.float32):
            x = np.ones((1 << 19) + 3, dtype)
            run, _ = program(lambda x: (x + x,), x)
            for _ in range(3):
                out = run(x)[0]
                assert out.dtype == dtype
                assert np.all(out == 2)

    def test_sizes_about_a_large_page(self):
        """What is mapped is what is unmapped, and its neighbours stay."""
        address, dtype = object_layout.creates(), np.dtype(np.uint8)
        near = [*range(-130, 131, 13), -65536, -65535, 65535, 65536]
        sizes = [at + d for at in (4 << 20, 2 << 20, 1 << 20) for d in near]
        for _ in range(3):
            held = [array_memory.empty(address, (n,), dtype) for n in sizes]
            for i, a in enumerate(held):
                a[:] = i % 251
            kept = held[::5]
            del held, a
            held = [array_memory.empty(address, (n,), dtype) for n in sizes]
            for a in held:
                a[:] = 255
            assert all(np.all(a == 5 * i % 251) for i, a in enumerate(kept))

    @pytest.mark.share(2)
    def test_spare_memory_is_bounded(self):
        """What is given back beyond the bound goes to the system."""
        x = np.ones(1 << 20)
        run, _ = program(lambda x: (x + 1,), x)
        held = [run(x)[0] for _ in range(80)]
        assert all(a[0] == 2 and a[-1] == 2 for a in held)
        del held
        held = [run(x)[0] for _ in range(80)]
        assert len({a.ctypes.data for a in held}) == 80
        assert all(a[0] == 2 and a[-1] == 2 for a in held)

    def test_arrays_that_end_in_other_threads(self, double):
        run, x = double
        right = x * 2

        def call(good):
            held = []
            for _ in range(20):
                held = [run(x)[0], *held[:2]]
                good.append(all(np.array_equal(a, right) for a in held))

        found: list[bool] = []
        callers = [threading.Thread(target=call, args=(found,)) for _ in range(3)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert len(found) == 60
        assert all(found)

    def test_more_than_there_is_raises(self):
        address = object_layout.creates()
        with pytest.raises((MemoryError, ValueError)):
            array_memory.empty(address, (1 << 58,), np.dtype(np.uint8))
        assert array_memory.empty(address, (1 << 20,), np.dtype(np.uint8)).shape == (1 << 20,)

    def test_arrays_that_outlive_the_library(self):
        code = """
import builtins, numpy as np, pullback as pb
f, x = pb.compile(lambda x: x * 2, wait=True), np.ones(3_000_000)
f(x)
builtins.kept = f(x)
builtins.loop = [builtins.kept]; builtins.loop.append(builtins.loop)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=100)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_in_parts(dtype, monkeypatch):
    """By columns, by rows, of transposed operands, and with borders inside a tile."""
    monkeypatch.setattr(gemm, "LARGE", 1 << 10)
    monkeypatch.setattr(gemm, "PART", 1 << 12)
    random = np.random.default_rng(6)
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    for m, n, k in [(30, 200, 40), (1000, 10, 17), (400, 47, 300), (9, 97, 600), (385, 193, 20)]:
        a, b = random.standard_normal((m, k)), random.standard_normal((k, n))
        a, b = a.astype(dtype), b.astype(dtype)
        turned = np.ascontiguousarray(b.T)
        run, graph = program(lambda a, b, c: (a @ b, a @ c.T, (b.T @ a.T) * 2), a, b, turned)
        assert in_parts(run), (m, n, k)
        found = []
        for count in (1, 2, 3, 5):
            thread_pool.limit(count)
            found.append(bits_of(run(a, b, turned)))
        assert all(one == found[0] for one in found)
        for out, right in zip(run(a, b, turned), graph.evaluate(a, b, turned), strict=True):
            np.testing.assert_allclose(out, right, rtol=tolerance, atol=tolerance)
        with monkeypatch.context() as whole:
            whole.setattr(gemm, "LARGE", 1 << 40)
            assert (
                bits_of(
                    program(lambda a, b, c: (a @ b, a @ c.T, (b.T @ a.T) * 2), a, b, turned)[0](
                        a, b, turned
                    )
                )
                == found[0]
            )

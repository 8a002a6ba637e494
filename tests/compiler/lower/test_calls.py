"""What NumPy does inside compiled programs, called by machine code: results, errors, memory."""

import gc
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.background import idle

RANDOM = np.random.default_rng(0)
X, A, Z = RANDOM.random(6), RANDOM.random((4, 4)), RANDOM.random(3) + 1j * RANDOM.random(3)

CALLS = {
    "sorted": (lambda x: np.sort(x * 2) + 1, (X,)),
    "argsorted": (lambda x: x[np.argsort(x)] * 2, (X,)),
    "several results": (lambda a: np.linalg.svd(a @ a)[1] * 2, (A,)),
    "a result that is a view": (lambda x: np.sort(x)[::-1] + x, (X,)),
    "one call after the other": (lambda x: np.sort(np.fft.irfft(np.fft.rfft(x) * 2, 6)), (X,)),
    "complex": (lambda z: (z * 2j - z / (1 + z)) ** 2, (Z,)),
    "complex number": (lambda z: np.sum(z * z), (Z,)),
    "complex and float": (lambda z: (np.abs(z).sum(), np.angle(z), z.real * 2), (Z,)),
    "number of a call": (lambda x: np.median(x) * x[0] + np.quantile(x, 0.3), (X,)),
    "truth values": (lambda x: np.isin(np.floor(x * 10), [1.0, 3.0]), (X,)),
    "nothing but a call": (np.sort, (X,)),
    "columns": (lambda a: np.sort(a.T, axis=0) @ a, (A,)),
    "in a loop": (lambda x: [x := np.sort(x * 1.5 - 0.2) for _ in range(30)][-1], (X,)),
    "without elements": (lambda x: np.concatenate([x[:0], x[2:]]).sum() + x[:0].sum(), (X,)),
}


def repeated(f, args, n=40):
    fast = pb.compile(f)
    for _ in range(n):
        result = fast(*args)
    return fast, result


def assert_same(actual, expected):
    xs, ys = pb.core.tree.flatten(actual)[0], pb.core.tree.flatten(expected)[0]
    assert len(xs) == len(ys)
    for x, y in zip(xs, ys, strict=True):
        assert type(x) is type(y)
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-12)


class TestResults:
    @pytest.mark.parametrize("name", CALLS)
    def test_they_are_numpys_and_machine_code_alone_repeats_the_call(self, name):
        f, args = CALLS[name]
        fast, result = repeated(f, args)
        before = int(fast.counter[0])
        again = fast(*[x * 1.25 for x in args])
        assert_same(result, f(*args))
        assert_same(again, f(*[x * 1.25 for x in args]))
        assert int(fast.counter[0]) == before + 1

    def test_they_are_fresh_and_writable(self):
        fast, first = repeated(np.sort, (X,))
        second = fast(X)
        second[:] = 7
        np.testing.assert_array_equal(first, np.sort(X))
        assert not np.may_share_memory(first, second)

    @pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i2", "u8", "?"])
    def test_of_every_dtype_that_is_held(self, dtype):
        x = np.array([3, 1, 2]).astype(dtype)
        fast, result = repeated(lambda x: (np.sort(x), np.sort(x)[0]), (x,))
        assert_same(result, (np.sort(x), np.sort(x)[0]))
        assert int(fast.counter[0])


class TestErrors:
    def test_what_raises_raises_as_it_does_uncompiled(self):
        singular = np.ones((200, 200))
        regular = np.eye(200)
        fast, _ = repeated(lambda a: np.linalg.inv(a) + 1, (regular,))
        before = int(fast.counter[0])
        for _ in range(3):
            with pytest.raises(np.linalg.LinAlgError):
                fast(singular * 1.0)
        np.testing.assert_allclose(fast(regular), np.linalg.inv(regular) + 1)
        assert int(fast.counter[0]) == before + 1

    def test_warnings_of_numpy_are_silent_as_in_the_rest_of_a_program(self):
        fast, _ = repeated(lambda z: np.sort(z) / z, (Z,))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isnan(fast(Z * 0)).all()
            assert np.geterr()["divide"] == "warn"

    @pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
    def test_an_interrupt_reaches_the_caller(self):
        def f(x):
            for _ in range(40):
                x = np.sort(x * -1.0)
            return x

        x = RANDOM.random(200_000)
        fast, _ = repeated(f, (x,), 3)

        def press():
            time.sleep(0.05)
            signal.raise_signal(signal.SIGINT)

        def endlessly():
            thread.start()
            while True:
                fast(x)

        thread = threading.Thread(target=press)
        # A shell starts what runs in the background with interrupts ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                endlessly()
            thread.join()
        finally:
            signal.signal(signal.SIGINT, before)
        assert fast(x).shape == x.shape


class TestMemory:
    def test_no_reference_is_kept_or_lost(self):
        fast, result = repeated(lambda z: (np.sort(z) * 2j, np.linalg.svd(A * z.real[0])[1]), (Z,))
        held = [Z, A, Z.dtype, np.dtype(float), result[0]]
        idle()
        gc.collect()
        before = [sys.getrefcount(x) for x in held], len(gc.get_objects())
        for _ in range(500):
            fast(Z)
        gc.collect()
        after = [sys.getrefcount(x) for x in held], len(gc.get_objects())
        assert max(abs(a - b) for a, b in zip(before[0], after[0], strict=True)) <= 8
        assert after[1] - before[1] < 50

    def test_several_threads_at_once(self):
        fast, _ = repeated(lambda x: np.sort(np.sin(x)) + np.median(x), (X,))
        wrong = []

        def work(k):
            x = X * k
            expected = np.sort(np.sin(x)) + np.median(x)
            wrong.extend([k for _ in range(300) if not np.allclose(fast(x), expected)])

        threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong

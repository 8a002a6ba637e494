"""What a transformation's function does in other threads takes part, and its errors are heard."""

import _thread
import asyncio
import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest

import pullback as pb
from pullback.core.reach import stores

TABLE, ZEROS = np.ones(3), np.zeros((2, 3))
SILENT = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def in_class(work):
    class Own(threading.Thread):
        def run(self):
            work()

    own = Own()
    own.start()
    own.join()
    assert "run" not in own.__dict__


def in_timer(work):
    timer = threading.Timer(0, work)
    timer.start()
    timer.join()


def in_bare_thread(work):
    before, begun = _thread._count(), []

    def run():
        begun.append(True)
        work()

    _thread.start_new_thread(run, ())
    while not begun or _thread._count() > before:  # a thread ends after its error has been shown
        time.sleep(0.001)


def in_executor(work):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work)


def in_pool(work):
    with ThreadPool(1) as pool:
        pool.apply_async(work)
        pool.close()
        pool.join()


def by_asyncio(work):
    async def main():
        loop = asyncio.get_running_loop()
        with contextlib.suppress(Exception):
            await loop.run_in_executor(None, work)

    asyncio.run(main())


def to_thread(work):
    async def main():
        with contextlib.suppress(Exception):
            await asyncio.to_thread(work)

    asyncio.run(main())


WAYS = [
    in_thread, in_class, in_timer, in_bare_thread, in_executor, in_pool, by_asyncio, to_thread,
]  # fmt: skip


def by_item(x):
    TABLE[0] = x


def by_operator(x):
    TABLE[1:] *= x


def by_out(x):
    np.add(TABLE, x, out=TABLE)


def by_method(x):
    TABLE.__setitem__(0, x)


def by_conversion(x):
    TABLE.fill(float(np.asarray(x)))


@SILENT
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
class TestOtherThreads:
    """A derivative that is lost in another thread raises where the transformation returns."""

    @pytest.mark.parametrize("store", [by_item, by_operator, by_out, by_method, by_conversion])
    @pytest.mark.parametrize("way", WAYS)
    def test_an_error_reaches_the_caller(self, way, store):
        def f(x):
            way(lambda: store(x))
            return np.sum(TABLE) * x

        with pytest.raises(pb.PullbackError):
            pb.grad(f)(2.0)
        np.testing.assert_array_equal(TABLE, np.ones(3))

    @pytest.mark.parametrize("way", WAYS)
    def test_what_they_compute_has_a_derivative(self, way):
        def f(x):
            found = []

            def work():
                a = np.zeros(2)
                a[0] = x * x
                found.append(np.sum(a))

            way(work)
            return found[0]

        assert pb.grad(f)(3.0) == 6.0

    def test_errors_of_the_program_are_its_own(self):
        def f(x):
            in_thread(lambda: 1 / 0)
            return x * x

        assert pb.grad(f)(3.0) == 6.0


class TestCaughtErrors:
    """A store that was refused, of which the error is caught, warns."""

    def test_in_try(self):
        def f(x):
            with contextlib.suppress(Exception):
                TABLE[0] = x
            return np.sum(TABLE) * x

        with pytest.warns(pb.LostDerivativeWarning, match="The program caught this error"):
            pb.grad(f)(2.0)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_in_a_finalizer(self):
        def f(x):
            class Last:
                def __del__(self):
                    TABLE[0] = x

            last = Last()
            del last
            return np.sum(TABLE) * x

        with pytest.warns(pb.LostDerivativeWarning, match="The program caught this error"):
            pb.grad(f)(2.0)


class Rows:
    """Gives views as its items, and takes what was written to them for granted."""

    def __init__(self):
        self.table = ZEROS

    def __getitem__(self, i):
        return self.table[i]

    def __setitem__(self, i, row):
        self.last = i


def test_a_view_is_checked_whatever_other_threads_store(monkeypatch):
    """Another thread's `a[i] += x` comes between this one's operator and its store."""

    def other(x):
        a = np.zeros(3)
        b = np.sqrt(np.ones(3))
        a[0] += x
        b[1] += x
        return np.sum(a) + np.sum(b)

    check, found = stores.stores_elsewhere, []

    def interrupted(where, value):
        if isinstance(where, Rows) and not found:
            found.append(None)
            thread = threading.Thread(target=lambda: found.append(pb.grad(other)(1.0)))
            thread.start()
            thread.join()
        return check(where, value)

    monkeypatch.setattr(stores, "stores_elsewhere", interrupted)

    def f(x):
        rows = Rows()
        rows[0] += x
        return np.sum(rows.table) * x

    with pytest.raises(pb.ConversionError, match="of class `Rows`"):
        pb.grad(f)(2.0)
    assert found[1:] == [2.0]

"""How the time of some work grows with its size."""

import gc
import time


def grows(work, n):
    """How many times as long four times as much takes: 4 where time is linear, 16 where quadratic.

    Sizes take turns, and the best of three counts; of this thread alone: others of the process may
    be making machine code. The garbage collector waits, as in `timeit`: what it looks at is mostly
    not of this work.
    """
    times = {n: [], 4 * n: []}
    gc.disable()
    try:
        for _ in range(3):
            for size, found in times.items():
                begin = time.thread_time()
                work(size)
                found.append(time.thread_time() - begin)
    finally:
        gc.enable()
    return min(times[4 * n]) / min(times[n])

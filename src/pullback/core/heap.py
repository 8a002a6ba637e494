"""Freed memory stays with the process, for the next gradient to use again.

Where the end of the heap is free, the C library gives it back to the system (glibc from 128 KB on),
and a gradient frees all that it kept at once. So each call of a gradient over arrays of some 10,000
numbers asked for the same pages again, which took as long as its arithmetic. From a freed array
that had pages of its own, glibc learns that such are used: it keeps up to twice as much from then
on. An array that nobody writes to has no pages in memory; elsewhere than in glibc it does nothing.
"""

import numpy as np

LEARNT = 16 << 20  # bytes


def keep_freed_memory() -> None:
    """Have the C library keep twice LEARNT free bytes."""
    np.empty(LEARNT, np.uint8)

"""The hash of memory: whatever changes in a large captured array is seen."""

import itertools

import numpy as np
import pytest

from pullback.compiler.call.compiled import compile
from pullback.compiler.llvm.content_hash import content_hash
from tests.budgets import LONG

SIZES = (4_097, 8_192, 16_384, 65_536)  # of 8 bytes: more than what is compared with a copy
ROUNDS = 400 if LONG else 40


def kinds(rng, n):
    """Arrays as programs hold them: signs, small integers, random numbers, zeros, equal rows."""
    yield rng.choice([-1.0, 1.0], n)
    yield rng.integers(0, 3, n)
    yield rng.normal(size=n)
    yield np.zeros(n)
    yield np.tile(rng.normal(size=n // 64), 64)


def flipped(x, rng):
    """Flip the same few bits in a few words at regular, or random, places."""
    words = x.view(np.uint64)
    bits = rng.choice(64, rng.integers(1, 4), replace=False) if rng.random() < 0.7 else [63]
    mask = np.bitwise_or.reduce(np.uint64(1) << np.asarray(bits, np.uint64))
    count = int(rng.integers(1, 9))
    start, step = int(rng.integers(words.size // 2)), int(rng.choice([1, 2, 8, 32, 64, 1021, 1023]))
    regular = (start + step * np.arange(count)) % words.size
    at = regular if rng.random() < 0.5 else rng.choice(words.size, count, replace=False)
    words[np.unique(at)] ^= mask


def rectangle(x, rng):
    """Flip the signs at the corners of a rectangle, whatever the width of the table."""
    width = int(rng.choice([32, 64, 128, 1021, 1023]))
    rows, columns = rng.choice(3, 2, replace=False), rng.choice(width, 2, replace=False)
    at = np.add.outer(rows * width, columns).ravel()
    x.view(np.uint64)[at[at < x.size]] ^= np.uint64(1 << 63)


def exchanged(x, rng):
    i, j = rng.choice(x.size, 2, replace=False)
    x[[i, j]] = x[[j, i]]


CHANGES = {
    "any bits": flipped,
    "corners": rectangle,
    "exchange": exchanged,
    "permutation": lambda x, rng: x.__setitem__(slice(None), rng.permutation(x)),
    "power of two": lambda x, rng: np.multiply(x, 2 ** int(rng.integers(1, 8)), out=x),
    "negative": lambda x, rng: np.negative(x, out=x),
    "reversed": lambda x, rng: x.__setitem__(slice(None), x[::-1].copy()),
    "shifted": lambda x, rng: x.__setitem__(slice(None), np.roll(x, int(rng.integers(1, 2000)))),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_seen(change, rng):
    for n, k in itertools.product(SIZES, range(max(ROUNDS // len(SIZES), 1))):
        for x in kinds(rng, n):
            was, before = x.copy(), content_hash(x)
            change(x, rng)
            assert (content_hash(x) == before) == (x.tobytes() == was.tobytes()), (n, k)


def test_all_sizes_and_single_bytes(rng):
    for n in (*range(40), 1000, 32_769):
        x = rng.integers(0, 256, n).astype(np.uint8)
        seen = {content_hash(x), content_hash(np.append(x, np.uint8(0)))}
        assert len(seen) == 2
        for i in rng.permutation(n)[:50]:
            x[i] ^= np.uint8(1 << rng.integers(8))
            assert content_hash(x) not in seen
            seen.add(content_hash(x))


def test_of_other_orders(rng):
    x = rng.normal(size=(200, 300))
    assert content_hash(np.asfortranarray(x)) == content_hash(np.ascontiguousarray(x.T))
    assert content_hash(x[::2]) == content_hash(x[::2].copy())


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_compiled_functions_see_it(change, rng):
    """Constants of the record derive from the array: it may not be repeated for another content."""
    for x in kinds(rng, 8_192):
        data = x.astype(float)
        ramp = np.arange(data.size)

        def program(x, data=data, ramp=ramp):
            return x * np.sum(data * ramp) + data[3]

        fast = compile(program)
        for _ in range(6):
            assert [fast(2.0) for _ in range(4)] == [program(2.0)] * 4
            change(data, rng)

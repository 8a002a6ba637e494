"""A hash of the content of memory: one function, for machine code and for Python.

Each 64-bit word is mixed with a key of its position, twice, and its halves are multiplied; the hash
combines both sums of the products. A product is not linear in a word, and keys are not linear in
the position, so flipped signs, exchanged elements and elements scaled by powers of two don't
cancel, as they do in sums of multiples. The chance that a change goes unnoticed is one in 2**64.
The terms are independent, so they're computed in vectors, and the speed is that of memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from .binding import MachineCode, compiled
from .pen import Routine

KEY = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio: the step from key to key
K = 0xD6E8FEB86659FD93  # odd, with bits of no pattern
LANES = 16  # words that are taken at once


def lanes(numbers: Iterable[int]) -> str:
    return f"<{', '.join([f'i64 {x % 2**64}' for x in numbers])}>"


VECTOR = f"<{LANES} x i64>"


def mixing(kind: str, name: str) -> str:
    """A function of words and the numbers of their places: both products."""
    pair = f"{{ {kind}, {kind} }}"
    same = (lambda x: f"{x % 2**64}") if kind == "i64" else (lambda x: lanes([x] * LANES))
    pen = Routine(f"define internal {pair} @{name}({kind} %w, {kind} %key) alwaysinline")
    k = pen.op(f"xor {kind}", "%key", pen.op(f"lshr {kind}", "%key", same(31)))
    v = pen.op(f"xor {kind}", "%w", same(K))
    out = "undef"
    for i, mixed in enumerate((pen.op(f"xor {kind}", "%w", k), pen.op(f"add {kind}", v, "%key"))):
        low = pen.op(f"and {kind}", mixed, same(2**32 - 1))
        high = pen.op(f"lshr {kind}", mixed, same(32))
        product = pen.op(f"mul {kind}", low, high)
        out = pen.line(f"insertvalue {pair} {out}, {kind} {product}, {i}")
    pen.ret(pair, out)
    return pen.text()


def mixed(pen: Routine, kind: str, name: str, word: str, key: str) -> list[str]:
    """Both products of a word, or of many."""
    pair = f"{{ {kind}, {kind} }}"
    both = pen.ask(pair, f"@{name}", f"{kind} {word}", f"{kind} {key}")
    return [pen.line(f"extractvalue {pair} {both}, {i}") for i in range(2)]


@cache
def text() -> str:
    return "".join([mixing("i64", "mix"), mixing(VECTOR, "mixes"), hashing(), REDUCED])


REDUCED = f"declare i64 @llvm.vector.reduce.add.v{LANES}i64({VECTOR})\n"


def hashing() -> str:
    pen = Routine("define i64 @content_hash(ptr %p, i64 %bytes)")
    keys, sums, numbers, last = (
        pen.room(VECTOR, align=128),
        [pen.room(VECTOR, align=128) for _ in range(2)],
        [pen.room("i64") for _ in range(2)],
        pen.room("i64"),
    )

    def add(kind: str, places: list[str], products: list[str]) -> None:
        for place, product in zip(places, products, strict=True):
            pen.store(kind, pen.op(f"add {kind}", pen.load(kind, place), product), place)

    pen.store(VECTOR, lanes([KEY * (k + 1) for k in range(LANES)]), keys)
    for place in sums:
        pen.store(VECTOR, "zeroinitializer", place)
    blocks, words = pen.op("udiv i64", "%bytes", 8 * LANES), pen.op("lshr i64", "%bytes", 3)
    with pen.loop(blocks) as i:
        x, key = pen.load(VECTOR, pen.place("%p", i, VECTOR), 1), pen.load(VECTOR, keys)
        add(VECTOR, sums, mixed(pen, VECTOR, "mixes", x, key))
        pen.store(VECTOR, pen.op(f"add {VECTOR}", key, lanes([KEY * LANES] * LANES)), keys)
    for place, many in zip(numbers, sums, strict=True):
        whole = f"{VECTOR} {pen.load(VECTOR, many)}"
        reduced = pen.ask("i64", f"@llvm.vector.reduce.add.v{LANES}i64", whole)
        pen.store("i64", reduced, place)
    with pen.loop(words, pen.op("mul i64", blocks, LANES)) as j:
        word = pen.load("i64", pen.place("%p", j, "i64"), 1)
        key = pen.op("mul i64", pen.op("add i64", j, 1), KEY)
        add("i64", numbers, mixed(pen, "i64", "mix", word, key))
    pen.store("i64", "%bytes", last)
    with pen.loop("%bytes", pen.op("shl i64", words, 3)) as n:
        byte = pen.line(f"zext i8 {pen.at('%p', n, 'i8')} to i64")
        longer = pen.op("or i64", pen.op("shl i64", pen.load("i64", last), 8), byte)
        pen.store("i64", longer, last)
    key = pen.op("mul i64", pen.op("add i64", words, 1), KEY)
    add("i64", numbers, mixed(pen, "i64", "mix", pen.load("i64", last), key))
    first, second = [pen.load("i64", place) for place in numbers]
    spread = pen.op("mul i64", second, K)
    spread = pen.op("xor i64", spread, pen.op("lshr i64", spread, 29))
    pen.ret("i64", pen.op("add i64", first, spread))
    return pen.text()


@cache
def code() -> MachineCode:
    return compiled(text(), 3)


def hash_address() -> int:
    """Where machine code finds the function: it takes an address and a number of bytes."""
    return int(code().address("content_hash"))


@cache
def function() -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(hash_address())


def content_hash(x: np.ndarray) -> int:
    """The hash of an array's elements, in the order in which they lie in memory."""
    if not (x.flags.c_contiguous or x.flags.f_contiguous):
        x = np.ascontiguousarray(x)
    return int(function()(x.ctypes.data, x.nbytes))

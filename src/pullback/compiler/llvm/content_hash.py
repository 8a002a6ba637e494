"""A number for the content of memory: one function, for machine code and for Python.

Each 64-bit word is mixed with a key of its place, twice, and its halves are multiplied; the hash is
made of both sums of the products. A product is not linear in a word, and keys are not linear in the
place: flipped signs, exchanged elements and elements that are scaled by powers of two do not
cancel, as they do in sums of multiples. A change goes unseen by a chance of one in 2**64. The terms
are independent, so that they are computed in vectors, and memory decides about the speed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from .binding import MachineCode, compiled

__all__ = ["content_hash", "hash_address"]

KEY = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio: the step from key to key
K = 0xD6E8FEB86659FD93  # odd, with bits of no pattern
LANES = 16  # words that are taken at once


def lanes(numbers: Iterable[int]) -> str:
    return f"<{', '.join([f'i64 {x % 2**64}' for x in numbers])}>"


def mixing(kind: str, suffix: str) -> str:
    """A function of words and the numbers of their places: both products."""
    same = (lambda x: f"{x % 2**64}") if kind == "i64" else (lambda x: lanes([x] * LANES))
    lines = ""
    for part, mixed in (("1", "xor {kind} %w, %k"), ("2", "add {kind} %v, %key")):
        lines += f"""
  %m{part} = {mixed.format(kind=kind)}
  %low{part} = and {kind} %m{part}, {same(2**32 - 1)}
  %high{part} = lshr {kind} %m{part}, {same(32)}
  %p{part} = mul {kind} %low{part}, %high{part}"""
    return f"""
define internal {{ {kind}, {kind} }} @mix{suffix}({kind} %w, {kind} %key) alwaysinline {{
  %shifted = lshr {kind} %key, {same(31)}
  %k = xor {kind} %key, %shifted
  %v = xor {kind} %w, {same(K)}{lines}
  %out1 = insertvalue {{ {kind}, {kind} }} undef, {kind} %p1, 0
  %out2 = insertvalue {{ {kind}, {kind} }} %out1, {kind} %p2, 1
  ret {{ {kind}, {kind} }} %out2
}}
"""


VECTOR = f"<{LANES} x i64>"
TEXT = f"""
define i64 @content_hash(ptr %p, i64 %bytes) {{
start:
  %blocks = udiv i64 %bytes, {8 * LANES}
  %words = lshr i64 %bytes, 3
  %first = mul i64 %blocks, {LANES}
  %tail = shl i64 %words, 3
  br label %block
block:
  %i = phi i64 [0, %start], [%in, %add]
  %keys = phi {VECTOR} [{lanes([KEY * (k + 1) for k in range(LANES)])}, %start], [%next, %add]
  %sums1 = phi {VECTOR} [zeroinitializer, %start], [%more1, %add]
  %sums2 = phi {VECTOR} [zeroinitializer, %start], [%more2, %add]
  %go = icmp ult i64 %i, %blocks
  br i1 %go, label %add, label %rest
add:
  %at = getelementptr {VECTOR}, ptr %p, i64 %i
  %x = load {VECTOR}, ptr %at, align 1
  %both = call {{ {VECTOR}, {VECTOR} }} @mixes({VECTOR} %x, {VECTOR} %keys)
  %p1 = extractvalue {{ {VECTOR}, {VECTOR} }} %both, 0
  %p2 = extractvalue {{ {VECTOR}, {VECTOR} }} %both, 1
  %more1 = add {VECTOR} %sums1, %p1
  %more2 = add {VECTOR} %sums2, %p2
  %next = add {VECTOR} %keys, {lanes([KEY * LANES] * LANES)}
  %in = add i64 %i, 1
  br label %block
rest:
  %sum1 = call i64 @llvm.vector.reduce.add.v{LANES}i64({VECTOR} %sums1)
  %sum2 = call i64 @llvm.vector.reduce.add.v{LANES}i64({VECTOR} %sums2)
  br label %word
word:
  %j = phi i64 [%first, %rest], [%jn, %one]
  %s1 = phi i64 [%sum1, %rest], [%s1n, %one]
  %s2 = phi i64 [%sum2, %rest], [%s2n, %one]
  %left = icmp ult i64 %j, %words
  %jn = add i64 %j, 1
  %key = mul i64 %jn, {KEY}
  br i1 %left, label %take, label %byte
take:
  %wordp = getelementptr i64, ptr %p, i64 %j
  %w = load i64, ptr %wordp, align 1
  br label %one
one:
  %pair = call {{ i64, i64 }} @mix(i64 %w, i64 %key)
  %q1 = extractvalue {{ i64, i64 }} %pair, 0
  %q2 = extractvalue {{ i64, i64 }} %pair, 1
  %s1n = add i64 %s1, %q1
  %s2n = add i64 %s2, %q2
  br label %word
byte:
  %n = phi i64 [%tail, %word], [%nn, %get]
  %last = phi i64 [%bytes, %word], [%longer, %get]
  %some = icmp ult i64 %n, %bytes
  br i1 %some, label %get, label %done
get:
  %bytep = getelementptr i8, ptr %p, i64 %n
  %single = load i8, ptr %bytep
  %wide = zext i8 %single to i64
  %shifted = shl i64 %last, 8
  %longer = or i64 %shifted, %wide
  %nn = add i64 %n, 1
  br label %byte
done:
  %end = call {{ i64, i64 }} @mix(i64 %last, i64 %key)
  %e1 = extractvalue {{ i64, i64 }} %end, 0
  %e2 = extractvalue {{ i64, i64 }} %end, 1
  %t1 = add i64 %s1, %e1
  %t2 = add i64 %s2, %e2
  %spread = mul i64 %t2, {K}
  %high = lshr i64 %spread, 29
  %mixed = xor i64 %spread, %high
  %whole = add i64 %t1, %mixed
  ret i64 %whole
}}
declare i64 @llvm.vector.reduce.add.v{LANES}i64({VECTOR})
{mixing("i64", "")}{mixing(VECTOR, "es")}"""


@cache
def code() -> MachineCode:
    return compiled(TEXT, 3)


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

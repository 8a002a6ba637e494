"""C code that is given an Array and complains in its own words: the error is ours, and true."""

import ctypes
import datetime
import hashlib
import itertools
import json
import math
import struct
import threading
import time
import zlib

import numpy as np
import pytest

import pullback as pb

# What takes the plain number, and not an Array.
LIBRARY = ctypes.CDLL(None)
LIBRARY.labs.restype, LIBRARY.labs.argtypes = ctypes.c_long, [ctypes.c_double]
WANTS_PLAIN = {
    "ctypes": lambda x: LIBRARY.labs(x),
    "sleep": lambda x: time.sleep(x * 1e-6),
    "gmtime": lambda x: time.gmtime(x),
    "wait": lambda x: threading.Event().wait(x * 1e-6),
    "timedelta": lambda x: datetime.timedelta(seconds=x),
    "fromtimestamp": lambda x: datetime.datetime.fromtimestamp(x),
    "pack": lambda x: struct.pack("d", x),
    "json": lambda x: json.dumps([x]),
}
# What takes the memory of an array.
WANTS_MEMORY = {
    "memoryview": lambda x: memoryview(x),
    "bytes": lambda x: bytes(x),
    "bytearray": lambda x: bytearray(x),
    "digest": lambda x: hashlib.sha1(x),
    "checksum": lambda x: zlib.crc32(x),
    "as_ctypes": lambda x: np.ctypeslib.as_ctypes(x),
}
# What raises for plain numbers as well.
ALIKE = {
    "range": lambda x: range(x),
    "comb": lambda x: math.comb(x, 2),
    "index": lambda x: [1.0, 2.0][x],
    "times": lambda x: "ab" * x,
    "islice": lambda x: list(itertools.islice([1.0], x)),
    "zeros": lambda x: np.zeros(x),
    "chr": lambda x: chr(x),
    "root": lambda x: math.sqrt(-x),
    "key": lambda x: struct.pack("no such format", 1) * x,
    "date": lambda x: datetime.date(2000, 13, 1) * x,
}


@pytest.mark.parametrize("f", WANTS_PLAIN.values(), ids=list(WANTS_PLAIN))
def test_what_takes_plain_numbers(f):
    f(1.5)
    with pytest.raises(pb.ConversionError, match=r"was given an Array float64 of `grad") as caught:
        pb.grad(lambda x: (f(x), x)[1])(1.5)
    assert "`x.numpy().tolist()`" in str(caught.value)
    assert pb.grad(lambda x: (f(x.numpy().tolist()), x * x)[1])(1.5) == 3.0


@pytest.mark.parametrize("f", WANTS_MEMORY.values(), ids=list(WANTS_MEMORY))
def test_what_takes_memory(f):
    f(np.ones(2))
    with pytest.raises(pb.ConversionError, match=r"an Array float64\[2\] of `grad") as caught:
        pb.grad(lambda x: (f(x), x @ x)[1])(np.ones(2))
    assert "`x.numpy()`" in str(caught.value)
    pb.grad(lambda x: (f(x.numpy()), x @ x)[1])(np.ones(2))


@pytest.mark.parametrize("f", ALIKE.values(), ids=list(ALIKE))
def test_what_raises_for_plain_numbers_too(f):
    with pytest.raises((TypeError, ValueError, struct.error)) as plain:
        f(1.5)
    with pytest.raises(type(plain.value)) as caught:
        pb.grad(f)(1.5)
    assert not isinstance(caught.value, pb.ConversionError)

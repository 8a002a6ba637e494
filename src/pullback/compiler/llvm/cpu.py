"""The name and features of this machine's processor, without loading LLVM where possible.

The text of programs and their machine code depend on `features` and `name`, so both are part of
the names under which machine code is kept on disk. On x86-64 Linux they are read from a file;
elsewhere LLVM is asked.
"""

from __future__ import annotations

import platform
import sys
from functools import cache

ABOUT = "/proc/cpuinfo"
MOST = 1 << 14  # bytes of the first processor's part
# What LLVM chooses a processor's name by.
NAMED = ("vendor_id", "cpu family", "model", "model name", "stepping")


def is_x86() -> bool:
    return platform.machine() in ("x86_64", "AMD64")


def is_arm() -> bool:
    return platform.machine() in ("aarch64", "arm64")


@cache
def told() -> tuple[str, frozenset[str]] | None:
    """The processor's name and what it can do, as Linux tells of x86-64; None elsewhere."""
    if sys.platform != "linux" or not is_x86():
        return None
    try:
        with open(ABOUT, "rb") as file:
            text = file.read(MOST).decode("ascii", "replace")
    except OSError:
        return None
    first, end, _ = text.partition("\n\n")
    found: dict[str, str] = {}
    for line in first.splitlines():
        key, _, value = line.partition(":")
        found[key.strip()] = value.strip()
    if not end or "flags" not in found or not found.keys() >= set(NAMED):
        return None
    return "; ".join([found[key] for key in NAMED]), frozenset(found["flags"].split())

"""Machine code on disk, where later processes find it.

An entry is one file: a mark, a digest, the object file that LLVM made. Its name is the digest of
everything that determines its content. Only files and folders that belong to this user and that
nobody else can write are read; other files, and damaged ones, are treated as missing. A file is
written under a temporary name and then moved to its place, so that readers see all of it or
nothing. If the folder can't be written, nothing is kept.

The environment variable PULLBACK_CACHE names another folder, or is `off` for none.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

MARK = b"pullback 1\n"
SUFFIX, UNFINISHED = ".code", ".new"
LIMIT = 256 << 20  # bytes of all entries together
ABANDONED = 3600  # seconds after which a file that was not finished goes
SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH
FLAGS = ["O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"]
READ = sum([getattr(os, name, 0) for name in FLAGS])

unchecked = LIMIT  # bytes that were written since the size of the folder was last looked at


def folder() -> str | None:
    """Where entries lie, or None where they are not kept. It need not exist."""
    asked = os.environ.get("PULLBACK_CACHE", "")
    if asked.lower() in ("0", "off", "no", "false"):
        return None
    if asked:
        base = os.path.abspath(os.path.expanduser(asked))
    else:
        if sys.platform == "win32":
            root = os.environ.get("LOCALAPPDATA", "")
        elif sys.platform == "darwin":
            root = os.path.expanduser("~/Library/Caches")
        else:
            root = os.environ.get("XDG_CACHE_HOME", "")
            root = root if os.path.isabs(root) else os.path.expanduser("~/.cache")
        if not os.path.isabs(root):  # there is no home
            return None
        base = os.path.join(root, "pullback")
    return os.path.join(base, "code")


def digest(*parts: bytes) -> bytes:
    try:  # `hashlib` loads OpenSSL, which takes longer than all else here
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    out = blake2b(digest_size=32)
    for part in parts:
        out.update(len(part).to_bytes(8, "little"))
        out.update(part)
    return out.digest()


def key_of(*parts: str) -> str:
    """The name of the entry that these decide."""
    return digest(*[part.encode() for part in parts]).hex()


def ours(found: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else can write it."""
    if not hasattr(os, "geteuid"):
        return True  # Windows: the folder of a user is closed to others
    return found.st_uid == os.geteuid() and not found.st_mode & SHARED_WRITE


def safe(place: str) -> bool:
    """Whether nobody else can change what is in a folder, or put another in its place."""
    found = os.lstat(place)
    return stat.S_ISDIR(found.st_mode) and ours(found) and all(map(closed, above(place)))


def above(place: str) -> Iterator[str]:
    """The folders that a folder is in, by its path and by where links on this path lead."""
    for path in {os.path.abspath(place), os.path.realpath(place)}:
        while path != (path := os.path.dirname(path)):
            yield path


def closed(folder: str) -> bool:
    """Whether nobody else can rename what a folder holds: others cannot where it is sticky."""
    if not hasattr(os, "geteuid"):
        return True
    found = os.stat(folder)
    others = stat.S_IWOTH | (stat.S_IWGRP if found.st_gid not in (0, os.getegid()) else 0)
    return bool(found.st_mode & stat.S_ISVTX) or not found.st_mode & others


def has(key: str) -> bool:
    """Whether there seems to be an entry."""
    place = folder()
    return place is not None and os.path.exists(os.path.join(place, key + SUFFIX))


def read(key: str) -> bytes | None:
    """The object file of an entry, or None."""
    place = folder()
    if place is None:
        return None
    path = os.path.join(place, key + SUFFIX)
    try:
        if not safe(place):
            return None
        handle = os.open(path, os.O_RDONLY | READ)
        with open(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or not ours(found) or found.st_size > LIMIT:
                return None
            content = file.read()
    except OSError:
        return None
    start = len(MARK) + 32
    code = content[start:]
    if content[:start] != MARK + digest(key.encode(), code):
        return None
    with suppress(OSError):
        os.utime(path)  # it was used
    return code


def write(key: str, code: bytes) -> bool:
    """Keep an object file; whether it is time to look at the size of the folder."""
    global unchecked
    place = folder()
    if place is None or len(code) > LIMIT // 8:
        return False
    name = f"{key}.{os.getpid()}.{os.urandom(4).hex()}{UNFINISHED}"
    unfinished = os.path.join(place, name)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(place, 0o700)
        if not safe(place):
            return False
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | READ
        with open(os.open(unfinished, flags, 0o600), "wb") as file:
            file.write(MARK + digest(key.encode(), code) + code)
        os.replace(unfinished, os.path.join(place, key + SUFFIX))
    except OSError:
        with suppress(OSError):
            os.unlink(unfinished)
        return False
    unchecked += len(code)
    return unchecked > LIMIT // 16


def evict(limit: int | None = None) -> None:
    """Take away what was used least recently, until the rest is three quarters of the limit."""
    global unchecked
    unchecked = 0
    limit = LIMIT if limit is None else limit
    place = folder()
    try:
        if place is None or not safe(place):
            return
        entries, total = [], 0
        with os.scandir(place) as found:
            for entry in found:
                with suppress(OSError):  # another process was faster
                    about = entry.stat(follow_symlinks=False)
                    if entry.name.endswith(SUFFIX):
                        entries.append((about.st_mtime_ns, about.st_size, entry.path))
                        total += about.st_size
                    elif about.st_mtime < time.time() - ABANDONED:
                        os.unlink(entry.path)
    except OSError:
        return
    if total <= limit:
        return
    for _, size, path in sorted(entries):
        if total <= limit * 3 // 4:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= size

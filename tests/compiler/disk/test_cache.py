"""Machine code on disk: later processes find it, and nothing that is wrong with it does harm."""

import ctypes
import os
import stat
import subprocess
import sys

import pytest

from pullback.compiler.llvm import binding, disk_cache
from tests.budgets import LONG

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs permissions of POSIX")

PROGRAM = """
import sys
import time
import numpy as np
import pullback as pb
from pullback.compiler import first_call
from pullback.compiler.llvm import binding

first_call.FEW = first_call.ENOUGH = 0  # the first call is recorded
first_call.PREPARATION.done = True

def loss(w, x, y):
    for _ in range(2):
        x = np.tanh(x @ w)
        if x[0, 0] > 5:
            x = -x
    return np.sum((x - y) ** 2) + np.max(x, axis=0) @ np.min(x, axis=0) + np.mean(x)

rng = np.random.default_rng(0)
args = [rng.normal(size=(3, 3)) for _ in range(3)]
g = pb.compile(pb.value_and_grad(loss))
for _ in range(int(sys.argv[1])):
    value, bar = g(*args)
    while binding.WORKER.thread is not None and not g.replay[1]:
        time.sleep(0.001)  # until the first machine code is there
while not all(way.path.program.level == 3 for way in g.replay[1]) and int(sys.argv[1]) > 25:
    value, bar = g(*args)
while binding.WORKER.thread is not None:
    time.sleep(0.001)
levels = [way.path.program.level for way in g.replay[1]]
print(binding.COUNTS["compiled"], binding.COUNTS["found"], levels, value.hex(), bar.sum().hex())
"""


def start(folder, calls=3, **more):
    env = {**os.environ, "PULLBACK_CACHE": str(folder), **more}
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(calls)]
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    """How many modules a process compiled, and found; the levels of its programs; its results."""
    out, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    compiled, found, rest = out.split(" ", 2)
    levels, results = rest.split("] ")
    return int(compiled), int(found), levels.strip("["), results


def entries(folder):
    return sorted((folder / "code").glob("*.code"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("PULLBACK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class TestProcesses:
    @pytest.mark.share(2)
    def test_a_later_process_compiles_nothing(self, folder):
        """Whatever the seed of hashes; texts hold no addresses."""
        compiled, found, _, right = finish(start(folder, PYTHONHASHSEED="1"))
        assert compiled
        assert not found
        assert len(entries(folder)) == compiled + 2  # and a record with its sign
        for seed in ("2", "3"):
            compiled, found, _, results = finish(start(folder, PYTHONHASHSEED=seed))
            assert compiled == 0
            assert found
            assert results == right

    @pytest.mark.share(2)
    def test_the_best_code_is_taken_at_once(self, folder):
        """What an earlier process compiled in the background is what a later one begins with."""
        *_, levels, right = finish(start(folder, 50))
        assert levels == "3"
        compiled, _, levels, results = finish(start(folder, 2))
        assert (compiled, levels, results) == (0, "3", right)

    @pytest.mark.share(4)
    def test_many_at_once(self, folder):
        """Several processes fill an empty cache together."""
        processes = [start(folder) for _ in range(8 if LONG else 4)]
        found = [finish(process) for process in processes]
        assert len({results for *_, results in found}) == 1
        assert not list((folder / "code").glob("*.new"))
        assert finish(start(folder))[0] == 0

    @pytest.mark.share(2)
    def test_off(self, folder, tmp_path):
        for off in ("0", "off", "OFF"):
            compiled, found, *_ = finish(start(off, HOME=str(tmp_path), XDG_CACHE_HOME=""))
            assert compiled
            assert not found
        assert not list(tmp_path.iterdir())

    @pytest.mark.share(2)
    @posix
    def test_where_nothing_can_be_written(self, tmp_path):
        """Below a file, and below the folder of devices, no folder can be made."""
        (tmp_path / "file").write_text("")
        right = finish(start(tmp_path / "cache"))
        for place in (tmp_path / "file" / "cache", "/dev/null/cache"):
            assert finish(start(place))[::3] == right[::3]

    @pytest.mark.share(2)
    def test_damaged_entries_are_made_again(self, folder):
        compiled, _, _, right = finish(start(folder))
        for path in entries(folder):
            path.write_bytes(path.read_bytes()[:-100])
        assert finish(start(folder))[::3] == (compiled, right)
        assert finish(start(folder))[::3] == (0, right)


CODE = bytes(range(256)) * 20
KEY = "ab" * 32


class TestEntries:
    def test_written_and_read(self, folder):
        assert disk_cache.read(KEY) is None
        disk_cache.write(KEY, CODE)
        assert disk_cache.read(KEY) == CODE
        assert disk_cache.read("cd" * 32) is None
        (path,) = entries(folder)
        assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0 or os.name == "nt"
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 or os.name == "nt"

    def test_any_damage(self, folder):
        """Each byte flipped, each length less, a tail: such an entry is not there."""
        disk_cache.write(KEY, CODE)
        (path,) = entries(folder)
        whole = path.read_bytes()
        for i in [*range(80), *range(80, len(whole), 97), len(whole) - 1]:
            path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
            assert disk_cache.read(KEY) is None
            path.write_bytes(whole[:i])
            assert disk_cache.read(KEY) is None
        path.write_bytes(whole + b"\0")
        assert disk_cache.read(KEY) is None
        disk_cache.write(KEY, CODE)
        assert disk_cache.read(KEY) == CODE

    def test_under_another_name(self, folder):
        """The digest is that of the name as well."""
        disk_cache.write(KEY, CODE)
        (path,) = entries(folder)
        path.rename(path.with_name("cd" * 32 + ".code"))
        assert disk_cache.read("cd" * 32) is None

    @posix
    def test_of_another_user(self, folder, monkeypatch):
        disk_cache.write(KEY, CODE)
        with monkeypatch.context() as patch:
            patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
            assert disk_cache.read(KEY) is None
            disk_cache.write(KEY, b"other")
        assert disk_cache.read(KEY) == CODE

    @posix
    def test_that_others_can_write(self, folder):
        disk_cache.write(KEY, CODE)
        (path,) = entries(folder)
        for place, closed in ((path, 0o600), (path.parent, 0o700)):
            for mode in (closed | 0o020, closed | 0o002):
                place.chmod(mode)
                assert disk_cache.read(KEY) is None
            place.chmod(closed)
            assert disk_cache.read(KEY) == CODE
        path.parent.chmod(0o777)
        disk_cache.write("cd" * 32, CODE)
        path.parent.chmod(0o700)
        assert entries(folder) == [path]

    @posix
    @pytest.mark.parametrize("mode", [0o777, 0o757])
    @pytest.mark.parametrize("up", [1, 2])
    def test_folders_above_that_others_can_write(self, tmp_path, monkeypatch, mode, up):
        """Whoever can rename the folder can put another in its place."""
        base = tmp_path / "a" / "b"
        monkeypatch.setenv("PULLBACK_CACHE", str(base))
        base.mkdir(parents=True)
        disk_cache.write(KEY, CODE)
        assert disk_cache.read(KEY) == CODE
        above = [base, base.parent][up - 1]
        above.chmod(mode)
        assert disk_cache.read(KEY) is None
        disk_cache.write("cd" * 32, CODE)
        above.chmod(mode | 0o1000)  # sticky: others cannot rename what is not theirs
        assert disk_cache.read(KEY) == CODE
        assert disk_cache.read("cd" * 32) is None
        above.chmod(0o700)
        (tmp_path / "open").mkdir()
        (tmp_path / "open").chmod(0o777)
        (tmp_path / "open" / "link").symlink_to(base)
        monkeypatch.setenv("PULLBACK_CACHE", str(tmp_path / "open" / "link"))
        assert disk_cache.read(KEY) is None  # the link can be replaced

    @posix
    def test_links_and_what_is_no_file(self, folder, tmp_path):
        disk_cache.write(KEY, CODE)
        (path,) = entries(folder)
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
        assert disk_cache.read(KEY) is None
        disk_cache.write(KEY, CODE)
        assert not path.is_symlink()
        assert disk_cache.read(KEY) == CODE
        path.unlink()
        path.mkdir()
        assert disk_cache.read(KEY) is None
        disk_cache.write(KEY, CODE)
        assert disk_cache.read(KEY) is None
        path.rmdir()
        os.mkfifo(path)
        assert disk_cache.read(KEY) is None

    @posix
    def test_folder_that_is_a_link(self, folder, tmp_path):
        """The folder of entries is no link; those above it may be."""
        disk_cache.write(KEY, CODE)
        (folder / "code").rename(tmp_path / "code")
        (folder / "code").symlink_to(tmp_path / "code")
        assert disk_cache.read(KEY) is None
        (folder / "code").unlink()
        folder.rmdir()
        (tmp_path / "real").mkdir()
        folder.symlink_to(tmp_path / "real")
        disk_cache.write(KEY, CODE)
        assert disk_cache.read(KEY) == CODE

    def test_full_disk(self, folder, monkeypatch):
        """A file that could not be finished is taken away."""
        disk_cache.write("cd" * 32, CODE)

        def full(*_):
            raise OSError(28, "No space left on device")

        for module, name in ((os, "open"), (disk_cache, "open"), (os, "replace"), (os, "mkdir")):
            with monkeypatch.context() as patch:
                patch.setattr(module, name, full, raising=False)
                disk_cache.write(KEY, CODE)
            assert disk_cache.read(KEY) is None
        assert len(list((folder / "code").iterdir())) == 1


class TestSize:
    def test_what_was_used_least_recently_goes(self, folder):
        keys = [f"{i:064x}" for i in range(8)]
        for i, key in enumerate(keys):
            disk_cache.write(key, CODE)
            os.utime(folder / "code" / f"{key}.code", (1000 + i, 1000 + i))
        assert disk_cache.read(keys[0]) == CODE  # now it was used last
        size = entries(folder)[0].stat().st_size
        disk_cache.evict(8 * size)
        assert len(entries(folder)) == 8
        disk_cache.evict(4 * size)
        left = [key for key in keys if disk_cache.read(key) is not None]
        assert left == [keys[0], keys[6], keys[7]]

    def test_abandoned_files_go(self, folder):
        disk_cache.write(KEY, CODE)
        old, new = folder / "code" / "a.new", folder / "code" / "b.new"
        for path, age in ((old, 10_000), (new, 0)):
            path.write_bytes(b"")
            then = path.stat().st_mtime - age
            os.utime(path, (then, then))
        disk_cache.evict()
        assert [path.name for path in (folder / "code").glob("*.new")] == ["b.new"]
        assert disk_cache.read(KEY) == CODE

    def test_it_is_looked_at_as_it_grows(self, folder, monkeypatch):
        """Once in a process, and then whenever a sixteenth of the limit was written."""
        monkeypatch.setattr(disk_cache, "unchecked", disk_cache.LIMIT)
        assert disk_cache.write(KEY, CODE)
        disk_cache.evict()
        assert not disk_cache.write(KEY, CODE)
        monkeypatch.setattr(disk_cache, "LIMIT", 32 * len(CODE))
        assert not disk_cache.write(KEY, b"x" * (5 * len(CODE)))  # too large to be kept
        assert disk_cache.read(KEY) == CODE
        assert [disk_cache.write(KEY, CODE) for _ in range(2)] == [False, True]


class TestPlace:
    def test_of_each_system(self, monkeypatch, tmp_path):
        monkeypatch.delenv("PULLBACK_CACHE")
        monkeypatch.setenv("HOME", str(tmp_path))
        for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        places = {
            "linux": tmp_path / ".cache" / "pullback" / "code",
            "darwin": tmp_path / "Library" / "Caches" / "pullback" / "code",
        }
        for system, place in places.items():
            monkeypatch.setattr(sys, "platform", system)
            assert disk_cache.folder() == str(place)
        monkeypatch.setattr(sys, "platform", "win32")
        assert disk_cache.folder() is None
        monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
        assert disk_cache.folder() == str(tmp_path / "local" / "pullback" / "code")
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert disk_cache.folder() == str(tmp_path / "xdg" / "pullback" / "code")
        monkeypatch.setenv("PULLBACK_CACHE", "off")
        assert disk_cache.folder() is None

    def test_tests_have_their_own(self):
        assert "pullback-tests-" in disk_cache.folder()


class TestKeys:
    def test_what_decides(self, monkeypatch):
        """Text, level, and all that llvmlite, Python and the processor are."""
        key = binding.key("text", 0)
        assert key == binding.key("text", 0)
        about = binding.circumstances()
        assert {binding.key("text", 3), binding.key("other", 0)}.isdisjoint({key})
        monkeypatch.setattr(binding, "surroundings", binding.surroundings.__wrapped__)
        for i in range(len(about)):
            changed = (*about[:i], about[i] + "x", *about[i + 1 :])
            monkeypatch.setattr(binding, "circumstances", lambda changed=changed: changed)
            assert binding.key("text", 0) != key

    def test_parts_do_not_run_together(self):
        assert disk_cache.key_of("ab", "c") != disk_cache.key_of("a", "bc")

    def test_found_in_this_process(self, folder):
        """Code that nobody holds any more is found on disk."""
        text = "define i64 @f() {\n  ret i64 42\n}\n"
        first = binding.compiled(text, 0)
        del first
        before = binding.COUNTS["compiled"]
        again = binding.compiled(text, 0)
        assert binding.COUNTS["compiled"] == before
        assert ctypes.CFUNCTYPE(ctypes.c_int64)(again.address("f"))() == 42
        assert again.level == 0

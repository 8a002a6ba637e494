"""Records on disk against programs that have changed, or whose processes differ otherwise."""

import json
import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest

from pullback.compiler.call.compiled import compile
from pullback.compiler.disk import records
from pullback.compiler.llvm import disk_cache
from tests.together import try_all

pytestmark = pytest.mark.disk

# Runs each module of a folder: how often its function was recorded, what it gave, and what the
# function gives by itself.
DRIVER = """
import importlib, json, os, sys, warnings
import numpy as np
import pullback as pb
from pullback.compiler.call import budget
budget.CLOCK[0] = False  # machine code is made at once
warnings.simplefilter("ignore")  # some fall back to Python
sys.path.insert(0, sys.argv[1])

def called(module, f):
    args = module.args() if hasattr(module, "args") else (np.array([0.5, 1.5, 2.0]),)
    kwargs = module.kwargs() if hasattr(module, "kwargs") else {}
    try:
        return repr((f(*args, **kwargs), args, kwargs))
    except Exception as error:
        return repr(error)

found = {}
for name in sorted(os.listdir(sys.argv[1])):
    if name.startswith("case_"):
        module = importlib.import_module(name.removesuffix(".py"))
        getattr(module, "begin", int)()
        called(module, module.f)
        g = pb.compile(module.f, **getattr(module, "options", {}))
        outs = [called(module, g) for _ in range(3)]
        info = g.cache_info()
        found[name[5:-3]] = info.misses, outs, called(module, module.f), info.paths
        getattr(module, "end", int)()
print(json.dumps(found))
"""
HEAD = "import numpy as np\nimport pullback as pb\n"
HERE = pathlib.Path(__file__).parent


def cases():
    """Programs of the text: names, and of each file the lines of a first and a second process.

    `a  ## b` is a in the first and b in the second; without a or b the line is in the other alone.
    """
    found, files = {}, None
    for line in (HERE / "stored_attacks.txt").read_text().splitlines():
        if line.startswith("#: "):
            name = line[3:].replace(" ", "_")
            lines = ([HEAD], [HEAD])
            files = found[name] = {f"case_{name}.py": lines}
        elif line.startswith("#> "):
            lines = files[line[3:]] = ([], [])
        elif line.startswith("## "):
            lines[1].append(line[3:])
        elif line.endswith("  ##"):
            lines[0].append(line[:-4])
        elif line:
            one, _, two = line.partition("  ## ")
            lines[0].append(one)
            lines[1].append(two or one)
    return found


CASES = cases()


def processes(folder):
    """What processes found: one that writes, its twin, and two with what has changed; and which
    records lie in the folder after each of them.
    """
    (folder / "driver.py").write_text(DRIVER)
    for side in (0, 1):
        (folder / str(side)).mkdir()
        for files in CASES.values():
            for name, lines in files.items():
                path = folder / str(side) / name
                path.parent.mkdir(exist_ok=True)
                path.write_text("\n".join(lines[side]) + "\n")
    found, lying = [], []
    for seed, side in enumerate((0, 0, 1, 1)):
        env = {
            **os.environ,
            "PULLBACK_CACHE": str(folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": str(seed + 1),
        }
        command = [sys.executable, str(folder / "driver.py"), str(folder / str(side))]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
        files = {p.name: p.read_bytes() for p in (folder / "cache" / "code").iterdir()}
        lying.append({name: x for name, x in files.items() if x[43:44] == b"\x80"})  # a record
    return found, lying


# What may be another in another process, or needs more than is written down.
NOT_KEPT = (
    "address", "hash", "set_", "views", "subclass_of_set", "tb_lineno", "fn_lineno", "type_hints",
    "array_base", "array_shares", "array_interface", "ctypes_data", "get_printoptions",
    "membership", "arg_dict_keys", "execd", "protocol", "subclasshook", "getattribute",
    "result_intsub", "files", "absent", "config", "context", "weak", "vectorized", "library_class",
    "declared_pure", "pulled_back", "float_identity",
)  # fmt: skip


@pytest.mark.share(4)
def test_each_process_finds_what_the_function_gives(tmp_path):
    """What has not changed is not recorded again, and adds nothing: neither a path nor a file."""
    runs, lying = processes(tmp_path)

    def check(name):
        for found in runs:
            misses, outs, right, _ = found[name]
            assert outs == [right] * 3, (misses, outs, right)
        assert runs[1][name][0] == 0 or name.startswith(NOT_KEPT)
        for before, after in (runs[:2], runs[2:]):
            assert after[name][3] == before[name][3]

    try_all(check, [(name, (name,)) for name in CASES])
    assert lying[1] == lying[0]
    assert lying[3] == lying[2]


class TestWithinAProcess:
    """What is known by identity between processes must be looked at within one as well."""

    @pytest.mark.parametrize(
        ("names", "text", "change"),
        [
            ("module.__version__", "x * len(module.__version__)", "module.__version__ = 'abc'"),
            ("name", "x * len(helper.__name__)", "helper.__name__ = 'abc'"),
            ("documentation", "x * len(helper.__doc__)", "helper.__doc__ = 'abc'"),
            ("partial", "x * part.scale", "part.scale = 3.0"),
            ("exception", "x * error.args[0]", "error.args = (3.0,)"),
            ("unit", "x * (unit / np.timedelta64(1, 's'))", "unit = np.timedelta64(5, 'm')"),
            ("fields", "x * row['a']", "row = np.zeros((), 'f8, f8').astype('f8, f8')[()]"),
            ("method", "x * hidden.w", "hidden.w = 3.0"),
        ],
    )
    def test_what_changes_is_seen(self, names, text, change):
        source = f"""
import functools, types
import numpy as np
module = types.ModuleType("module")
module.__version__ = "a"
def helper(x):
    "a"
part = functools.partial(max, 1.0)
part.scale = 2.0
class Error(Exception):
    pass
error = Error(2.0)
unit = np.timedelta64(5, "s")
row = np.array([(2.0, 0.0)], [("a", "f8"), ("b", "f8")])[0]
class Hidden:
    w = 2.0
    def __init__(self): self.w = 2.0
    def reads(self): return {{}}
hidden = Hidden()
def f(x):
    return {text}
"""
        scope = types.ModuleType("scope")
        vars(scope)["__name__"] = "scope"
        exec(source, vars(scope))
        g = compile(scope.f)
        x = np.ones(2)
        for _ in range(3):
            assert repr(g(x)) == repr(scope.f(x))
        assert g.cache_info().hits
        if names == "fields":
            change = "row = np.array([(2.0, 0.0)], [('b', 'f8'), ('a', 'f8')])[0]"
        exec(change, vars(scope))
        for _ in range(3):
            assert repr(g(x)) == repr(scope.f(x))

    def test_a_name_that_was_missing(self):
        scope = {"__name__": "scope"}
        exec(
            "def f(x):\n  try:\n    flag\n  except NameError:\n    return x\n  return 2 * x", scope
        )
        g = compile(scope["f"])
        assert [float(g(1.5)) for _ in range(3)] == [1.5] * 3
        scope["flag"] = None
        assert [float(g(1.5)) for _ in range(3)] == [3.0] * 3

    def test_units_of_arguments(self):
        g = compile(lambda x, d: x * (d / np.timedelta64(1, "s")))
        for unit, factor in (("s", 5.0), ("m", 300.0), ("s", 5.0)):
            assert g(np.ones(1), np.timedelta64(5, unit)).tolist() == [factor]


class TestFiles:
    """What lies in the folder, and who else writes there."""

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PULLBACK_CACHE", str(tmp_path))
        monkeypatch.setattr(records, "WRITTEN", set())
        monkeypatch.setattr(records, "BESIDE", {})
        return tmp_path

    @pytest.fixture
    def written(self, folder):
        """A function with a record of it on disk: its key, and what is in the file."""

        def f(x):
            return np.sin(x) * 2 if x[0] > 0 else -x

        g = compile(f)
        for _ in range(3):
            g(np.ones(3))
            g(-np.ones(3))
        (key,) = records.WRITTEN
        return f, key, records.loaded(disk_cache.read(key))

    def later(self, f, x):
        records.WRITTEN.clear()
        g = compile(f)
        for sign in (1, -1, 1):
            assert repr(g(sign * x)) == repr(f(sign * x))
        return g.cache_info().misses

    def test_parts_of_other_kinds(self, written):
        f, key, (flags, paths) = written
        x = np.ones(3)
        assert self.later(f, x) == 0
        parts = list(records.loaded(paths[0]))
        rest = list(records.loaded(parts[-1]))
        wrong = [None, 0, "x", b"", [3], {}, [("global", "nowhere", "x")], [("leaf", 9)]]
        for value in [*wrong, [("container", 5)], [("class", "nowhere", "K")]]:
            for i in range(len(parts)):
                changed = records.written((*parts[:i], value, *parts[i + 1 :]))
                if value != parts[i]:
                    disk_cache.write(key, records.written((flags, [changed])))
                    assert self.later(f, x)
            inner = records.written((value, *rest[1:]))
            if value is not None:
                changed = records.written((*parts[:-1], inner))
                disk_cache.write(key, records.written((flags, [changed])))
                assert self.later(f, x)
        for content in (3, (), (flags,), (flags, 3), (flags, [3]), ((1,), paths), [None, None]):
            disk_cache.write(key, records.written(content))
            self.later(f, x)

    @pytest.mark.parametrize("name", ["posix system", "builtins exit", "subprocess Popen", "os no"])
    def test_pickles_call_nothing_else(self, name):
        module, thing = name.encode().split()
        content = b"\x80\x04\x8c" + bytes([len(module)]) + module
        content += b"\x8c" + bytes([len(thing)]) + thing + b"\x93)R."
        with pytest.raises(Exception, match=r"is not allowed in|attribute"):
            records.loaded(content)

    def test_places_of_primitives_import_nothing(self):
        content = b"\x80\x04\x8c\x0bantigravity\x8c\x01x\x86Q."
        with pytest.raises(Exception, match="has not been imported"):
            records.loaded(content)
        assert "antigravity" not in sys.modules

    def test_two_of_one_key(self, folder):
        """Methods of two objects: the file holds what was written for both."""

        class Model:
            def __init__(self, w):
                self.w = w

            def of(self, x):
                return self.w * x

        models = [Model(2.0), Model(3.0), Model(4.0)]
        for model in models:
            g = compile(model.of)
            for _ in range(3):
                assert g(np.ones(1)) == model.w
        for model in reversed(models):
            assert self.later(model.of, np.ones(1)) == 0

    def test_many_ways(self, folder):
        def f(x):
            return x * int(x[0])

        g = compile(f)
        for k in [*range(40), *range(40)]:
            for _ in range(2):
                assert g(np.full(2, float(k))).tolist() == [float(k * k)] * 2
        records.WRITTEN.clear()
        h = compile(f)
        for k in range(40):
            assert h(np.full(2, float(k))).tolist() == [float(k * k)] * 2
        assert 0 < h.cache_info().misses < 40

    def test_no_folder_can_be_made(self, folder, monkeypatch):
        (folder / "file").write_text("")
        monkeypatch.setenv("PULLBACK_CACHE", str(folder / "file" / "more"))
        g = compile(lambda x: 2 * x)
        for _ in range(4):
            assert g(np.ones(1)).tolist() == [2.0]

    def test_options_that_change_in_between(self, folder):
        """The text of an array is of the options with which it was recorded, not of later ones."""
        table = np.array([1.23456789])

        def f(x):
            return x * len(str(table))

        g = compile(f)
        g(np.ones(1))
        with np.printoptions(precision=2):
            g(np.ones(1))
            assert self.later(f, np.ones(1))

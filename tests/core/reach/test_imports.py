"""Modules that are imported while a transformation runs: what they define stays plain."""

import gc
import importlib
import sys
import types

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.disk.portable import generated
from pullback.core.reach.namespaces import scan

HELPER = "import numpy as np\ndef window(n):\n    return np.zeros(n) + np.hanning(n)\n"
MODULE = "import lazy_helper\nW = lazy_helper.window(4)\nLAST = [lazy_helper.window(3)]\n"
WAYS = {
    "import": "import lazy.inner\n    W = lazy.inner.W",
    "import as": "import lazy.inner as m\n    W = m.W",
    "from a module": "from lazy.inner import W",
    "from a package": "from lazy import inner\n    W = inner.W",
    "star": "names = {}\n    exec('from lazy.inner import *', names)\n    W = names['W']",
    "import_module": "W = importlib.import_module('lazy.inner').W",
    "relative": "W = importlib.import_module('.inner', 'lazy').W",
    "relative statement": "import lazy\n    W = lazy.late().W",
    "reload": "import lazy.inner\n    W = importlib.reload(lazy.inner).W",
    "one that is missing": "try:\n        from lazy import absent\n    except ImportError:\n"
    "        from lazy.inner import W",
}
RUNS = {
    "grad": lambda f: pb.grad(f),
    "forward": lambda f: lambda x: pb.vmap(lambda v: pb.jvp(f, (x,), (v,))[1])(np.eye(4)),
    "vmap": lambda f: lambda x: pb.vmap(pb.grad(f))(np.stack([x, x]))[1],
    "compile": lambda f: pb.compile(pb.grad(f)),
}


@pytest.fixture
def lazy(tmp_path, monkeypatch):
    (tmp_path / "lazy").mkdir()
    (tmp_path / "lazy" / "__init__.py").write_text(
        "def late():\n    from . import inner\n    return inner\n"
    )
    (tmp_path / "lazy" / "inner.py").write_text(MODULE)
    (tmp_path / "lazy_helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in ("lazy", "lazy_helper")]:
        del sys.modules[name]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("run", RUNS)
def test_what_a_module_defines_is_plain(lazy, way, run):
    scope = {"np": np, "importlib": importlib}
    exec(
        "def f(x):\n    import lazy_helper\n    lazy_helper.window(3)\n"
        f"    {WAYS[way]}\n    return np.sum(W * x ** 2)\n",
        scope,
    )
    x = np.arange(1.0, 5.0)
    np.testing.assert_allclose(RUNS[run](scope["f"])(x), 2 * x * np.hanning(4))
    module = sys.modules["lazy.inner"]
    assert type(module.W) is type(module.LAST[0]) is np.ndarray


def test_modules_that_are_imported_meanwhile():
    """By another thread, or by what the garbage collector calls."""
    names = []

    def import_one(phase, info):
        names.append(f"other{len(names)}")
        sys.modules[names[-1]] = types.ModuleType(names[-1])

    often = gc.get_threshold()
    gc.callbacks.append(import_one)
    gc.set_threshold(1)
    try:
        scan()
        generated.__wrapped__(len(sys.modules))
    finally:
        gc.set_threshold(*often)
        gc.callbacks.remove(import_one)
        for name in names:
            del sys.modules[name]
    assert names

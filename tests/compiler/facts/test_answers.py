"""What a program asks the process: compiled whole, and another answer is seen.

Each program is a module with a function `f`; the changes are made one after the other, and after
each of them a compiled call gives what a plain one gives.
"""

import sys
import types
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.fuzz_facts import as_it_was

HEAD = """
import configparser, contextvars, csv, importlib, inspect, io, itertools, logging, os, pathlib
import random, sys, time, weakref
import numpy as np
"""
WHOLE = {
    "a clock": (
        """
class Timer:
    def __enter__(self): self.begun = time.perf_counter(); return self
    def __exit__(self, *error): self.took = (time.perf_counter() - self.begun) * 1e3
def f(x):
    with Timer(): return np.sum(x * x)
""",
        [],
    ),
    "objects that have been met": (
        """
scale = 2.0
def total(x, tree, met):
    if id(tree) in met: return met[id(tree)]
    met[id(tree)] = sum([total(x, y, met) if type(y) is list else x[y] for y in tree]) * scale
    return met[id(tree)]
def f(x):
    leaf = [0, 1]
    return total(x, [leaf, leaf, 2], {})
""",
        ["scale = 3.0"],
    ),
    "objects known by their addresses": (
        """
class Node:
    def __init__(self, x): self.x = x
    def __hash__(self): return id(self)
    def __eq__(self, other): return id(self) == id(other)
def f(x):
    a, b = Node(x[0]), Node(x[0])
    return sum([node.x for node in {a: 1, b: 2, a: 3}])
""",
        [],
    ),
    "a module by its name": (
        """
name = "zz_styles"
sys.modules[name] = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, None))
sys.modules[name].rate = 2.0
def f(x): return np.sum(x) * importlib.import_module("zz_" + name[3:]).rate
""",
        [
            "sys.modules[name].rate = 3.0",
            "sys.modules[name] = type(sys)(name); sys.modules[name].rate = 4.0",
        ],
    ),
    "globals by their names": (
        """
way = "up"
def go_up(x): return x * 2.0
def go_down(x): return x / 2.0
def f(x): return np.sum(globals()["go_" + way](x)) * (2 if "more" in globals() else 3)
""",
        ["way = 'down'", "go_down = lambda x: x / 4.0", "more = 1", "del more"],
    ),
    "its own variables": (
        """
k = 2.0
def f(x):
    y = x * k
    return np.sum(locals()["y"])
""",
        ["k = 3.0"],
    ),
    "an import that finds nothing": (
        """
def f(x):
    try: import zz_other
    except ImportError: return np.sum(x) * 2.0
    return np.sum(x) * zz_other.rate
""",
        ["sys.modules['zz_other'] = type(sys)('zz_other'); sys.modules['zz_other'].rate = 5.0"],
    ),
    "files that there are": (
        """
def f(x, folder=pathlib.Path(FOLDER)):
    path = folder / "a" / "b.txt"
    found = os.path.exists(str(path)) + 2 * path.is_file() + 4 * path.parent.is_dir()
    return np.sum(x) * (found + 1.0) * len(path.name)
""",
        [
            "os.mkdir(FOLDER + '/a')",
            "open(FOLDER + '/a/b.txt', 'w').close()",
            "os.remove(FOLDER + '/a/b.txt')",
        ],
    ),
    "a path": (
        """
home = pathlib.PurePosixPath("/a/b.txt")
def f(x): return np.sum(x) * len(home.name) * (2 if home.suffix == ".txt" else 3)
""",
        ["home = pathlib.PurePosixPath('/a/b.txt')", "home = home / 'c'"],
    ),
    "a context variable": (
        """
scale = contextvars.ContextVar("scale", default=2.0)
def f(x):
    token = scale.set(scale.get() + 1)
    try: return np.sum(x) * scale.get()
    finally: scale.reset(token)
""",
        ["scale.set(5.0)", "scale.set(6.0)", "scale = contextvars.ContextVar('s', default=1.0)"],
    ),
    "what a context variable tells that was given nothing": (
        """
scale = contextvars.ContextVar("scale", default=[2.0])
def f(x): return np.sum(x) * scale.get()[0] * scale.get([3.0])[0]
""",
        ["scale.get()[0] = 4.0", "scale.set(scale.get())", "scale.get()[0] = 5.0"],
    ),
    "a configuration": (
        """
options = configparser.ConfigParser()
options.read_string("[a]\\nb = 2.0\\n[c]\\nd = 3")
def f(x): return np.sum(x) * options.getfloat("a", "b") * int(options["c"]["d"])
""",
        ["options.set('a', 'b', '5.0')", "options['c']['d'] = '4'", "options['DEFAULT']['e'] = ''"],
    ),
    "a function that is vectorized": (
        """
rate = 2.0
@np.vectorize
def each(x): return x * rate if x > 0.5 else x
def f(x): return np.sum(each(x))
""",
        ["rate = 3.0", "each.pyfunc = lambda x: x * 7.0", "each = np.vectorize(lambda x: x)"],
    ),
    "an array of a class of the program's": (
        """
class Units(np.ndarray):
    def __array_finalize__(self, other): self.unit = getattr(other, "unit", 1.0)
table = np.array([1.0, 2.0, 3.0]).view(Units)
def f(x): return float(np.sum(np.asarray(table) * x)) * table.unit
""",
        ["table[1] = 5.0", "table.unit = 3.0", "table = table.copy(); table *= 2"],
    ),
    "a matrix": (
        """
table = np.matrix([[1.0, 2.0], [3.0, 4.0]])
def f(x): return (table * np.matrix([[1.0], [2.0]])).sum() * np.sum(x)
""",
        ["table[0, 1] = 5.0", "table.A1[0] = 7.0", "table = table.T"],
    ),
    "a masked array": (
        """
table = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0])
def f(x): return (table.sum() + table.filled()[1] * 1e-9 + table.count()) * np.sum(x)
""",
        [
            "table[0] = 5.0",
            "table[2] = np.ma.masked",
            "table.data[3] = 9.0",
            "table.mask[1] = 0",
            "table.fill_value = 3.0",
            "table.mask = [0, 1, 0, 0]",
            "table = table * 2",
        ],
    ),
    "a table of records": (
        """
table = np.rec.array([(1.0, 2), (3.0, 4)], names="a,b")
row = table[1]
def f(x): return np.sum(table.a) * np.sum(x) + table["b"][0] * row.a
""",
        ["table.a[0] = 9.0", "table.b = 7", "row.a = 5.0", "table = table.copy()"],
    ),
    "polynomials": (
        """
p, q = np.poly1d([1.0, 2.0, 3.0]), np.polynomial.Polynomial([1.0, 2.0], domain=[-1.0, 1.0])
def f(x): return p(x[0]) * p.order + q(x[1])
""",
        [
            "p[0] = 9.0",
            "p.coeffs[0] = 2.0",
            "q.coef[1] = 5.0",
            "q.domain[0] = -3.0",
            "p = p * p",
            "type(q).window[0] = -2.0",
            "type(q).window[0] = -1.0",  # of all polynomials
        ],
    ),
    "names that `exec` was given": (
        """
scope = {"k": 2.0}
exec("def g(x): return x * k", scope)
def f(x): return np.sum(scope["g"](x))
""",
        ["scope['k'] = 3.0", "exec('def g(x): return x + 1', scope)"],
    ),
    "numbers that are drawn from a seed": (
        """
seed = 3
def f(x):
    source = random.Random(seed)
    return np.sum(x) * source.random() + source.gauss(0, 1) * source.randint(1, 9)
""",
        ["seed = 4", "seed = 'text'"],
    ),
    "logging that says nothing": (
        """
log = logging.getLogger("zz.styles")
log.addHandler(logging.NullHandler())
log.setLevel(logging.ERROR)
logging.root.handlers or logging.root.addHandler(logging.NullHandler())
def f(x):
    logging.debug("begins %s", x)
    log.setLevel(logging.ERROR)
    log.warning("goes on %s", x)
    return np.sum(x * x)
""",
        [],
    ),
    "a stream that is not written to": (
        """
verbose = False
def f(x):
    if verbose: sys.stderr.write("")
    return np.sum(x) * 2.0
""",
        [],
    ),
    "a class that is made in the call": (
        """
k = 2.0
def f(x):
    class Local:
        rate = k
        def __init__(self, x): self.x = x
        def total(self): return np.sum(self.x) * self.rate
    return Local(x).total()
""",
        ["k = 3.0"],
    ),
    "arguments that are bound": (
        """
def model(x, k=2.0): return np.sum(x) * k
def f(x):
    bound = inspect.signature(model).bind(x)
    bound.apply_defaults()
    return model(*bound.args, **bound.kwargs) * len(bound.arguments)
""",
        ["model.__defaults__ = (3.0,)"],
    ),
    "rows of text": (
        """
text = "1,2,3"
def f(x): return np.sum(np.array(list(csv.reader(io.StringIO(text))), dtype=float) @ x)
""",
        ["text = '4,5,6'"],
    ),
    "what is not done, in a `try` that catches all": (
        """
verbose = False
def f(x):
    for k in range(2):
        try:
            if verbose: print("")
            x = x * 2
        except: pass
    return np.sum(x)
""",
        [],
    ),
}
REFUSED = {
    "it looks at what a clock says|raised TypeError": [
        "np.sum(x) * (2 if time.time() > 1 else 3)",
        "np.sum(x) + 0 * float(time.perf_counter())",
        "np.sum(x) * (1 + 0 * time.monotonic_ns())",
        "np.sum(x) + len(f'{time.time():.0f}')",
        "np.sum(x) + len({time.time(): 1})",
    ],
    "returns what a clock says": ["(np.sum(x), time.time())[0], time.time()"],
    "it looks at what `id` says|returned a different result": [
        "np.sum(x) + 0 * id(x)",
        "np.sum(x) * (2 if id(x) % 16 else 3)",
        "np.sum(x) + len(str(id(x)))",
        "np.sum(x) * (2 if id(KEY) in TABLE else 3)",
        "np.sum(x) + 0 * sorted([KEY, TABLE], key=lambda y: id(y)).index(KEY)",
    ],
    "it stores into `globals": ["np.sum(x) + len(globals().setdefault('zz' + str(3), 'a'))"],
    "it goes through all that `globals": ["np.sum(x) + 0 * len(list(globals()))"],
    "it changes": [
        "np.sum(x) + 0 * (FIRST.set([3.0]) is None)",
        "np.sum(x) + 0 * (GIVEN.set(GIVEN.get() + [3.0]) is None)",
    ],
    "random numbers|without a seed|of type `random.Random`": [
        "np.sum(x) * random.Random().random()",
        "np.sum(x) * random.random()",
        "np.sum(x) * OUTER.random()",
    ],
    "it may call `.*write|TextIOWrapper`": ["np.sum(x) + len(list(map(sys.stderr.write, [''])))"],
}


WEAK = {  # how code asks for an object that the program then lets go
    "ref(x)": "ref = weakref.ref({0})\ndef f(x): return x * (2 if ref() is None else ref().k)",
    "whether it is there": "ref = weakref.ref({0})\ndef f(x): return x * (ref() is None)",
    "keys": "d = weakref.WeakKeyDictionary({{{0}: 3.0}})\ndef f(x): return x * sum(d.values())",
    "how many keys": "d = weakref.WeakKeyDictionary({{{0}: 3.0}})\ndef f(x): return x * len(d)",
    "values": "d = weakref.WeakValueDictionary(a={0})\ndef f(x): return x * ('a' in d)",
    "a set": "d = weakref.WeakSet([{0}])\ndef f(x): return x * len(d)",
    "a proxy": """
ref = weakref.proxy({0})
def f(x):
    try: return x * ref.k
    except ReferenceError: return x
""",
    "a method": "ref = weakref.WeakMethod({0}.m)\ndef f(x): return ref()(x) if ref() else x",
}


def values(x):
    return np.asarray(x[0] if type(x) is tuple else x).tolist()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
def test_compiled_whole_and_changes_are_seen(tmp_path):
    x, wrong = np.array([0.7, 1.25, 0.375]), []
    for i, (name, (text, changes)) in enumerate(WHOLE.items()):
        module = types.ModuleType(f"zz_answers_{i}")
        sys.modules[module.__name__] = module
        (tmp_path / str(i)).mkdir()
        vars(module)["FOLDER"] = str(tmp_path / str(i))
        exec(HEAD + text, vars(module))
        with as_it_was():
            try:
                fast = pb.compile(module.f, wait=True)
                for change in ["", *changes]:
                    exec(change, vars(module))
                    found, right = [values(fast(x)) for _ in range(4)], values(module.f(x))
                    if not np.allclose(found, right, rtol=1e-14):
                        wrong.append((name, change, found, right))
                if fast.refusal is not None or not fast.cache_info().hits:
                    wrong.append((name, fast.why(x)))
            finally:
                for key in (module.__name__, "zz_styles", "zz_other"):
                    sys.modules.pop(key, None)
    assert not wrong


def test_what_looks_at_an_answer_falls_back(monkeypatch):
    x, wrong = np.array([0.7, 1.25, 0.375]), []
    for why, texts in REFUSED.items():
        for text in texts:
            module = types.ModuleType("zz_answers")
            monkeypatch.setitem(sys.modules, "zz_answers", module)
            head = "KEY = object()\nTABLE = {id(KEY): 1}\nFIRST = contextvars.ContextVar('FIRST')\n"
            head += "GIVEN = contextvars.ContextVar('GIVEN', default=[1.0])\n"
            exec(f"{HEAD}{head}OUTER = random.Random(3)\ndef f(x): return {text}\n", vars(module))
            fast = pb.compile(module.f, wait=True)
            with pytest.warns(RuntimeWarning, match=why):
                found = [values(fast(x)) for _ in range(4)]
            if text.count("random") == 0 and found != [values(module.f(x))] * 4:
                wrong.append((text, found))
    assert not wrong


def test_what_is_held_weakly_is_let_go():
    """A recording of what such an object holds would keep it alive, and so change the program."""
    wrong = []
    for name, text in WEAK.items():
        module = types.ModuleType("zz_weak")
        head = "class Unit:\n    k = 5.0\n    def m(self, x): return x * 7.0\nheld = [Unit()]\n"
        exec(HEAD + head + text.format("held[0]"), vars(module))
        fast = pb.compile(module.f, wait=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some fall back to Python
            before = [float(fast(x)) for x in (1.0, 1.5, 2.0)]
            module.held.clear()
            found = float(fast(2.0))
        right = float(module.f(2.0))
        if found != right or right == before[-1]:
            wrong.append((name, before, found, right))
    assert not wrong

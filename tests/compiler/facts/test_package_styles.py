"""What packages do besides computing: compiled whole, and what they depend on is seen.

Each program is a module with a function `f`; the changes are made one after the other, and after
each of them a compiled call gives what a plain one gives.
"""

import functools
import inspect
import os
import sys
import threading
import types
import typing
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.compiler.call.test_compile import equal
from tests.fuzz_facts import as_it_was, result

HEAD = """
import collections, copy, dataclasses, functools, hashlib, json, logging, numbers, os, sys
import threading, types, warnings
import numpy as np
"""
PROGRAMS = {
    "a stream for what is said": (
        """
verbose = False
def f(x, out=sys.stdout):
    if verbose: print(x, end="", file=out)
    return np.sum(x * x) * (2 if out is None else 3)
""",
        ["f.__defaults__ = (None,)", "f.__defaults__ = (sys.stderr,)"],
    ),
    "a seed": (
        """
seed = 3
class Noise:
    def __init__(self, seed): self.rng = np.random.default_rng(seed)
    def draw(self, n): return self.rng.normal(size=n)
def f(x): return np.sum(Noise(seed).draw(3) * x)
""",
        ["seed = 4", "seed = np.int64(5)"],
    ),
    "a seed of the old kind": (
        """
state = 5
def check(seed):
    if seed is None or seed is np.random: return np.random.mtrand._rand
    if isinstance(seed, numbers.Integral): return np.random.RandomState(seed)
    return seed
def f(x): return np.dot(check(state).standard_normal(3), x)
""",
        ["state = 6"],
    ),
    "a seed sequence": (
        """
def f(x):
    sequence = np.random.SeedSequence(3)
    return np.sum(np.random.Generator(np.random.PCG64(sequence)).random(3) * x)
""",
        [],
    ),
    "names in `__dict__`": (
        """
class Options:
    def __init__(self, **kw): self.__dict__.update(kw)
    def total(self): return sum([v for k, v in self.__dict__.items() if k != "name"])
options = Options(a=1.0, b=2.0, name="n")
def f(x): return np.sum(x) * options.total()
""",
        ["options.a = 3.0", "options.c = 1.0", "del options.b", "options.name = 2.0"],
    ),
    "names in `vars` and `dir`": (
        """
class Kernel:
    size, hyper_a, hyper_b = 2.0, 3.0, 4.0
    def found(self): return [getattr(self, n) for n in dir(self) if n.startswith("hyper_")]
kernel, space = Kernel(), types.SimpleNamespace(a=1.0)
def f(x): return np.sum(x) * sum(kernel.found()) * sum(vars(space).values())
""",
        ["kernel.hyper_a = 5.0", "Kernel.hyper_c = 1.0", "space.b = 2.0", "space.a = 4.0"],
    ),
    "modules that may be there": (
        """
name = "zz_styles"
def f(x): return x * (2.0 if "zz_other" in sys.modules or name in sys.modules else 3.0)
""",
        ["sys.modules['zz_styles'] = types.ModuleType('m')", "name = 'zz_none'",
         "sys.modules['zz_other'] = None"],
    ),
    "classes that are only asked for": (
        """
kinds = 2.0
def f(x):
    if isinstance(x, (os.PathLike, np.random.Generator, threading.Thread)): return 0.0
    return x * kinds
""",
        ["kinds = 3.0"],
    ),
    "the environment": (
        """
def f(x): return x * len(os.environ.get("STYLES", "")) + len(os.getenv("STYLES_TOO", "ab"))
""",
        ["os.environ['STYLES'] = 'abc'", "os.environ['STYLES_TOO'] = 'abc'",
         "del os.environ['STYLES']"],
    ),
    "locks": (
        """
lock, again, value = threading.Lock(), threading.RLock(), 2.0
class Guarded:
    def __init__(self, x): self.x, self.own = x, threading.Lock()
    def get(self):
        with self.own: return self.x
def f(x):
    with lock, again: return Guarded(x).get() * value
""",
        ["value = 3.0", "again.acquire()"],
    ),
    "handling of NumPy's errors": (
        """
def f(x):
    old = np.seterr(divide="ignore")
    try: return np.sum(x) * len(old["divide"])
    finally: np.seterr(**old)
""",
        ["np.seterr(divide='ignore')"],
    ),
    "single dispatch": (
        """
class A: pass
class B(A): pass
thing = B()
@functools.singledispatch
def scale(x): return 1.0
@scale.register
def _(x: A): return 2.0
def f(x): return x * scale(thing)
""",
        ["scale.register(B, lambda x: 3.0)", "thing = 1"],
    ),
    "single dispatch of a method": (
        """
class A: pass
class Shown:
    k = 2.0
    @functools.singledispatchmethod
    def scale(self, x): return self.k
    @scale.register
    def _(self, x: A): return 3.0 * self.k
thing, shown = A(), Shown()
def f(x): return x * shown.scale(thing)
""",
        ["Shown.k = 5.0",
         "vars(Shown)['scale'].register(A, lambda self, x: 7.0)", "thing = 1"],
    ),
    "text": (
        """
settings, key = '{"scale": 2.0}', "a"
def f(x):
    n = int(hashlib.md5(key.encode()).hexdigest()[:4], 16)
    return x * json.loads(settings)["scale"] * n
""",
        ["settings = json.dumps({'scale': 3.0})", "key = 'b'"],
    ),
    "copies": (
        """
class Model:
    def __init__(self): self.params, self.other = {"a": [1.0]}, types.SimpleNamespace(b=[2.0])
    def changed(self, a):
        out = copy.deepcopy(self)
        out.params["a"].append(a)
        return out
    def total(self): return sum(self.params["a"]) + self.other.b[0]
model = Model()
def f(x): return x * model.changed(3.0).total()
""",
        ["model.params['a'][0] = 5.0", "model.other.b[0] = 1.0"],
    ),
    "a module with a class of its own": (
        """
class Backend(types.ModuleType): rate = 2.0
backend = Backend("backend"); backend.k = 3.0
def f(x): return x * backend.k * backend.rate
""",
        ["backend.k = 4.0", "Backend.rate = 5.0"],
    ),
    "what a thread holds": (
        """
local = threading.local(); local.k = 2.0
def f(x): return x * local.k
""",
        ["local.k = 3.0"],
    ),
    "objects of NumPy's": (
        """
from numpy import r_, s_
k = 2.0
def f(x): return np.sum(r_[x, k][s_[1:3]])
""",
        ["k = 3.0", "r_ = np.c_"],
    ),
    "types of numbers": (
        """
k = 2.0
def f(x):
    n = k * 2
    return x * (2.0 if type(n) is float else 3.0) if type(x) is np.ndarray else x
""",
        ["k = np.float64(2.0)", "k = 2"],
    ),
}  # fmt: skip


def test_containers_of_classes_of_the_programs():
    """What is stored in one, and what is read of it, is as in a list or a dict."""

    class Rows(list):
        pass

    class Options(dict):
        pass

    def make():
        rows, options, log = Rows([1.0, 2.0]), Options(k=2.0), Rows()

        def f(x):
            log.append(x * 2)
            options.update(last=x)
            rows[0] = rows.__getitem__(1) + x
            return x * options.get("k") * sum(rows)

        return f, (rows, options, log)

    (f, held), (g, other) = make(), make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        fast = pb.compile(g, wait=True)
        for i in range(8):
            if i == 5:
                held[1]["k"] = other[1]["k"] = 5.0
                held[0].append(1.0)
                other[0].append(1.0)
            equal(fast(0.5 + i), f(0.5 + i))
            equal([list(held[0]), dict(held[1]), list(held[2])],
                  [list(other[0]), dict(other[1]), list(other[2])])  # fmt: skip


def equal_calls(fast, f):
    for _ in range(3):
        equal(result(fast), result(f))


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_whole_and_changes_are_seen(name):
    text, changes = PROGRAMS[name]
    module = types.ModuleType("styles")
    exec(HEAD + text, vars(module))
    fast = pb.compile(module.f, wait=True)
    with as_it_was():
        try:
            for _ in range(8):
                equal_calls(fast, module.f)
            assert fast.refusal is None
            assert fast.cache_info().hits > 0
            for change in changes:
                exec(change, vars(module))
                equal_calls(fast, module.f)
            assert fast.refusal is None
        finally:
            for key in ("zz_styles", "zz_other"):
                sys.modules.pop(key, None)
            for key in ("STYLES", "STYLES_TOO"):
                os.environ.pop(key, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x * np.random.default_rng().normal()", "draws random numbers"),
        ("x * np.random.RandomState().rand()", "draws random numbers"),
        ("x * np.random.default_rng(outer).normal()", "an object of type"),
        ("x * np.random.mtrand._rand.rand()", "it calls `numpy.random"),
        ("x * list(map(np.random.rand, [1]))[0][0]", "it may call `numpy.random.rand`"),
        ("x * Derived(0).rand()", "it makes objects of `numpy.random"),
        ("x * np.random.SeedSequence().entropy", "without a seed"),
        ("x * len(list(map(threading.Thread, [None])))", "it may call `threading.Thread`"),
        ("x * len(threading.Thread().name)", "it calls `threading"),
        ("x * len(vars(math))", "it looks into all of `math`"),
        ("x * len(math.__dict__)", "it looks into all of `math`"),
        ("x * len(Derived.__subclasses__() + [1])", "it calls `__subclasses__`"),
    ],
)
def test_what_cannot_be_repeated_falls_back(text, why):
    module = types.ModuleType("styles")
    head = HEAD + "import math\nouter = np.random.default_rng(0)\n"
    head += "class Derived(np.random.RandomState): pass\n"
    exec(f"{head}def f(x): return {text}\n", vars(module))
    fast = pb.compile(module.f, wait=True)
    with pytest.warns(RuntimeWarning, match="falls back to Python"):
        [fast(2.0) for _ in range(4)]
    assert why in fast.refusal


def test_a_lock_that_another_thread_holds_is_waited_for():
    lock = threading.RLock()

    def f(x):
        with lock:
            return x * 2.0

    fast = pb.compile(f, wait=True)
    for _ in range(4):
        assert fast(2.0) == 4.0
    assert fast.cache_info().hits
    told = []

    def hold():
        with lock:
            taken.set()
            release.wait(10)
            told.append("released")

    taken, release = threading.Event(), threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(10)
    threading.Timer(0.05, release.set).start()
    assert fast(3.0) == 6.0
    assert told == ["released"]
    thread.join()


def test_what_a_differentiated_method_stores_is_stored_again():
    class Fit:
        def __init__(self):
            self.coef, self.steps, self.held = None, [], {}

        def fit(self, x):
            self.coef = np.zeros_like(x)
            for k in range(3):
                self.coef = self.coef - 0.1 * (self.coef - x)
                self.steps.append(k)
            y = np.zeros(3)
            y[:] = x * 2
            self.held["parts"] = (y[1:], x)
            y[0] = 5.0
            return self

        def score(self, x):
            return np.sum(self.fit(x).coef ** 2)

    for transformation in (pb.grad, pb.hessian):
        plain, quick = Fit(), Fit()
        one, other = transformation(plain.score), pb.compile(transformation(quick.score), wait=True)
        for i in range(6):
            x = np.array([0.3, 0.7, 1.1]) + i
            equal(other(x), one(x))
            equal(vars(quick), vars(plain))
        assert other.refusal is None
        assert other.cache_info().hits


@pytest.mark.parametrize(("mode", "back"), [("raise", True), ("raise", False), ("ignore", False)])
def test_handling_of_errors(mode, back):
    def f(x):
        old = np.seterr(divide=mode)
        y = np.float64(1.0) / np.float64(x)
        if back:
            np.seterr(**old)
        return y

    fast = pb.compile(f, wait=True)
    with np.errstate(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        for x in (2.0, 3.0, 4.0, 5.0):
            assert fast(x) == f(x)
        with np.errstate():
            np.seterr(divide="warn")
            f(2.0)
            after = np.geterr()
        with np.errstate():
            np.seterr(divide="warn")
            fast(2.0)
            assert np.geterr() == after
        assert back or mode == "ignore" or "handling of errors" in fast.refusal
        if mode == "raise":
            with pytest.raises(FloatingPointError):
                fast(0.0)


class TestWarnings:
    """A warning is given by each call, as Python's filters have it, at its own line."""

    @staticmethod
    def told(f, calls, filters=("always",)):
        with warnings.catch_warnings(record=True) as found:
            warnings.resetwarnings()
            for each in filters:
                warnings.simplefilter(each)
            results = [f(x) for x in calls]
        return results, [(w.category, str(w.message), w.filename, w.lineno) for w in found]

    @staticmethod
    def programs():
        def warns(x):
            if x < 1.0:
                warnings.warn("below the range", stacklevel=1)
            return x * 2.0

        def warns_twice(x):
            for k in range(2):
                warnings.warn(f"step {k}", RuntimeWarning, stacklevel=1)
            return x * 2.0

        part = __import__("functools").partial(warnings.warn, category=DeprecationWarning)

        def deprecated(x):
            part("use another")
            return x * 2.0

        def inner(x):
            warnings.warn(UserWarning("from the caller's line"), stacklevel=2)
            return x

        def outer(x):
            y = inner(x) * 2.0
            return y + inner(x)

        def hidden(x):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                warnings.warn("kept", stacklevel=1)
            return x * len(found)

        def ignored(x):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the program's own
                warnings.warn("not heard", stacklevel=1)
            return x * 2.0

        return [warns, warns_twice, deprecated, outer, hidden, ignored]

    @pytest.mark.parametrize("which", range(6))
    def test_repeated(self, which):
        calls = [0.5, 0.25, 0.5, 0.75, 0.5, 0.5, 2.0, 2.0, 3.0, 0.5]
        f = self.programs()[which]
        expected = self.told(f, calls)
        fast = pb.compile(f, wait=True)
        assert self.told(fast, calls) == expected
        assert fast.refusal is None
        assert fast.cache_info().hits > 3
        gradient = pb.compile(pb.grad(f), wait=True)
        assert self.told(gradient, calls)[1] == expected[1]

    def test_shown_once_where_python_shows_it_once(self):
        f = self.programs()[0]
        fast = pb.compile(f, wait=True)
        self.told(fast, [0.5] * 6)  # "always"
        hits = fast.cache_info().hits
        _, found = self.told(fast, [0.5] * 6, ("default",))
        assert len(found) == 1
        _, found = self.told(fast, [0.5] * 3, ("always",))
        assert len(found) == 3
        assert fast.cache_info().hits > hits

    def test_where_it_is_an_error_the_function_runs(self):
        f = self.programs()[0]
        fast = pb.compile(f, wait=True)
        self.told(fast, [0.5] * 6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # but for those of the user
            warnings.simplefilter("error", UserWarning)
            with pytest.raises(UserWarning, match="below the range"):
                fast(0.5)
            assert fast(2.0) == 4.0

        def caught(x):
            try:
                warnings.warn("an error?", stacklevel=1)
            except UserWarning:
                return x * 3.0
            return x * 2.0

        fast = pb.compile(caught, wait=True)
        assert self.told(fast, [1.0] * 5)[0] == [2.0] * 5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # but for those of the user
            warnings.simplefilter("error", UserWarning)
            assert fast(1.0) == 3.0

    def test_the_line_of_the_call(self):
        def f(x):
            warnings.warn("of the caller", stacklevel=2)
            return x * 2.0

        fast = pb.compile(f, wait=True)
        self.told(fast, [1.0] * 9)
        hits = fast.cache_info().hits
        _, ours = self.told(lambda x: (fast(x), fast(x)), [1.0])
        assert fast.cache_info().hits == hits + 2
        assert {file for _, _, file, _ in ours} == {__file__}

    def test_filters_of_its_own(self):
        def f(x):
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.warn("heard", stacklevel=1)
            return x * 2.0

        fast = pb.compile(f, wait=True)
        _, found = self.told(fast, [1.0] * 3, ("default",))
        assert [text for _, text, _, _ in found if text == "heard"] == ["heard"] * 3
        assert "filters of its own" in fast.refusal


def test_what_is_written_is_written_each_time(capsys):
    """A stream may be held by what is recorded; what may write there is not recorded."""
    ways = [
        lambda x, out: out.write("a"),
        lambda x, out: list(map(out.write, ["a"])),
        lambda x, out: getattr(out, "write")("a"),  # noqa: B009  # as packages do
        lambda x, out: out.writelines(["a"]),
        lambda x, out: print("a", end="", file=out),
    ]
    for way in ways:

        def f(x, way=way, out=sys.stdout):
            way(x, out)
            return x * x

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it falls back to Python
            fast = pb.compile(f, wait=True)
            assert [fast(0.5) for _ in range(6)] == [0.25] * 6
        assert capsys.readouterr().out == "a" * 6


def within(value: float, name: str, *, low: float) -> None:
    assert value > low, name


class Above:
    """A check that is an annotation."""

    def __init__(self, low):
        self.low = low

    def __call__(self, value: float, name: str):
        within(value, name, low=self.low)


def validated(fun):
    @functools.wraps(fun)
    def wrapper(*args, **kwargs):
        bound = inspect.signature(fun).bind(*args, **kwargs)
        for name, hint in typing.get_type_hints(fun, include_extras=True).items():
            for check in typing.get_args(hint)[1:]:
                check(bound.arguments[name], name)
        return fun(*args, **kwargs)

    return wrapper


class Box:
    def __init__(self, size):
        self.size = size

    @property
    def size(self):
        return self.held

    @size.setter
    @validated
    def size(self, size: typing.Annotated[float, Above(0.0)]):
        self.held = size


def remembered(fun):
    @functools.wraps(fun)
    def wrapper(*args, **kwargs):
        bound = inspect.signature(fun).bind(*args, **kwargs)
        for name, hint in typing.get_type_hints(fun, include_extras=True).items():
            for check in typing.get_args(hint)[1:]:
                check.last = name
                check(bound.arguments[name], name)
        return fun(*args, **kwargs)

    return wrapper


class Crate(Box):
    @property
    def size(self):
        return self.held

    @size.setter
    @remembered
    def size(self, size: typing.Annotated[float, Above(0.0), Above(-1.0)]):
        self.held = size


@pytest.mark.parametrize("kind", [Box, Crate])
def test_checks_by_annotations(kind):
    """Python makes the annotations of a function when they are first asked for."""
    fast = pb.compile(lambda x: kind(x).size * 3.0, wait=True)
    assert [fast(x) for x in (1.5, 1.5, 2.5)] == [4.5, 4.5, 7.5]
    assert fast.refusal is None

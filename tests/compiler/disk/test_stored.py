"""Records on disk: a later process repeats what an earlier one recorded, or records anew."""

import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import pullback as pb
from pullback.compiler import first_call
from pullback.compiler.call.compiled import compile
from pullback.compiler.disk import portable, records
from pullback.compiler.llvm import disk_cache
from pullback.core.registry import FUNCTIONS
from tests.background import idle
from tests.compiler.call.test_programs import moved, run, same
from tests.test_programs import PROGRAMS
from tests.together import try_all

pytestmark = pytest.mark.disk

# In the order of a set, which may be another in the next process.
BY_HASHES = {
    "probability.diagnosis", "repositories.steps_of_an_engine", "repositories.loopy_beliefs",
}  # fmt: skip
# These may write an object's address into a text, which is another in the next process.
OF_ADDRESSES = {"aliases.logging", "aliases.roots_or_not", "idioms.guarded"}
# These read what no later process could find again: generators of random numbers, globals that a
# call makes, objects of `np.vectorize`.
NOT_FOUND = {
    "probability.evidence_bound", "statistics.bootstrap_errors", "aliases.evaluated",
    "numerics.response_area", "repositories.variational_steps", "repositories.particle_filter",
}  # fmt: skip


@pytest.fixture
def later(monkeypatch):
    """Compiles a function as a later process does, which finds what this one has written."""

    def compiled(fun):
        monkeypatch.setattr(records, "WRITTEN", set())
        return compile(fun)

    return compiled


class TestPrograms:
    @pytest.mark.share(16)
    @pytest.mark.parametrize("order", [0, 1])
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_what_was_written_is_what_is_done(self, name, order, later):
        program, args = fun, _ = PROGRAMS[name]
        if order:
            fun = pb.grad(lambda *args: np.sum(program(*args)), tuple(range(len(args))))
        calls = [args, args, moved(args, 1e-3), moved(args, -0.2), args]
        expected = run(fun, calls)
        first = compile(fun)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            run(first, calls)
            second = later(fun)
            same(run(second, calls), expected)
        if first.cache_info().hits and name not in BY_HASHES | OF_ADDRESSES | NOT_FOUND:
            assert second.cache_info().misses < first.cache_info().misses


START = """
import sys
import numpy as np
import pullback as pb
from pullback.compiler.call import budget
budget.CLOCK[0] = False  # machine code is made at once
"""
# Two calls record and repeat; the third is what a later process would begin with.
END = """
g = pb.compile(f)
outs = [g(*args) for _ in range(3)]
for out in outs:
    xs, ys = [pb.core.tree.flatten(y) for y in (out, f(*args))]
    assert xs[1] == ys[1], (xs, ys)
    for x, y in zip(xs[0], ys[0], strict=True):
        assert type(x) is type(y)
        np.testing.assert_allclose(x, y, rtol=1e-13)
result = g.cache_info().misses, str(outs[1])
"""
ALL = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")  # some fall back to Python
print(json.dumps([importlib.import_module(name).result for name in sys.argv[1:]]))
"""


class Folder:
    """A folder of programs and of what they write."""

    def __init__(self, path):
        self.path = path

    def write(self, name, text):
        (self.path / name).write_text(textwrap.dedent(text))

    def all(self, programs, **env):
        """Of programs that one process does in turn, how often each recorded, and its result."""
        names = [re.sub(r"\W", "_", f"program_{name}") for name in programs]
        assert len(set(names)) == len(names)
        for name, text in zip(names, programs.values(), strict=True):
            self.write(f"{name}.py", START + text)
        self.write("all.py", ALL)
        env = {
            **os.environ,
            "PULLBACK_CACHE": str(self.path / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **env,
        }
        command = [sys.executable, "-W", "error", str(self.path / "all.py"), *names]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        results = json.loads(done.stdout)
        return {name: tuple(result) for name, result in zip(programs, results, strict=True)}

    def __call__(self, program, **env):
        """How often a process recorded, and the result."""
        return self.all({"alone": program + END}, **env)["alone"]


@pytest.fixture
def process(tmp_path):
    return Folder(tmp_path)


# Programs of which a later process records nothing.
KEPT = {
    "function": "f = lambda x: np.sin(x) * x",
    "gradient": "f = pb.grad(lambda x: np.sum(np.sin(x) * x))",
    "second order": "f = pb.hessian(lambda x: np.sum(np.sin(x) * x))",
    "batched": "f = pb.vmap(pb.grad(lambda x: np.sin(x) * x))",
    "operations of the compiler's own": """
        def f(x):
            a = np.outer(x, x) + np.eye(3)
            z = (a + 1j) @ (a * 1j)
            rows = np.ones((3, 40)) * x[:, None]
            return np.linalg.slogdet(a)[1] * z.real, (a @ rows) * x[0]
    """,
    "global number": """
        rate = 0.5
        def f(x):
            return rate * x
    """,
    "global array": """
        table = np.repeat(np.arange(3.0), 2)[::2]
        def f(x):
            return table * x
    """,
    "helper": """
        def half(x):
            return 0.5 * x
        def f(x):
            return half(x) + half(half(x))
    """,
    "closure": """
        def make(a, b):
            return lambda x: a * x + np.dot(b, x)
        f = make(2.0, np.ones(3))
    """,
    "default": """
        def f(x, a=2.0, *, b=3.0):
            return a * x + b
    """,
    "object": """
        class Model:
            scale = 2.0
            def __init__(self, w):
                self.w = w
            def __call__(self, x):
                return self.scale * self.w * x
        f = Model(np.arange(3.0))
    """,
    "dataclass": """
        import dataclasses
        @dataclasses.dataclass
        class Model:
            w: float
            names: list
            def of(self, x):
                return self.w * x
        model = Model(3.0, ["a", "b"])
        def f(x):
            return model.of(x)
    """,
    "method": """
        class Model:
            def __init__(self):
                self.layers = [np.eye(3), 2 * np.eye(3)]
            def of(self, x):
                for w in self.layers:
                    x = np.tanh(w @ x)
                return x
        model = Model()
        f = model.of
    """,
    "partial": """
        import functools
        f = functools.partial(lambda a, x: a * x, 3.0)
    """,
    "loop": """
        def f(x):
            for _ in range(100):
                x = np.sin(x) + 0.1 * x
            return x
    """,
    "scan": """
        def f(x):
            return pb.fori_loop(0, 10, lambda i, x: np.sin(x) + i, x)
    """,
    "while": """
        def f(x):
            return pb.while_loop(lambda x: np.sum(x) < 100, lambda x: 2 * x + 1, x)
    """,
    "branch": """
        def f(x):
            return np.exp(x) if x[0] > 0 else -x
    """,
    "values": """
        def f(x):
            n = int(x[2])
            return x * n
    """,
    "dictionary": """
        config = {"rate": 0.5, "kind": "a"}
        def f(x):
            return x * config["rate"] if config["kind"] == "a" else x / 4
    """,
    "tree": """
        import collections
        Pair = collections.namedtuple("Pair", "a b")
        def f(x):
            return Pair(x + 1, {"twice": 2 * x})
    """,
    "written": """
        def f(x):
            y = np.zeros(5)
            y[1:4] = x
            y[0] = y[1] * 2
            return y
    """,
    "by NumPy": "f = lambda x: np.fft.fft(x).real + np.sort(x)",
    "products": """
        w = np.arange(4096.0).reshape(64, 64) / 4096
        f = lambda x: (w[:3] @ w @ w.T)[:, :3] @ x
    """,
    "threads": "f = lambda x: np.sum(np.exp(np.outer(np.ones(300_000), x)))",
    "scipy": """
        import scipy.special
        f = lambda x: scipy.special.logsumexp(x) * x
    """,
    "multimethods": """
        from scipy import fft
        f = lambda x: np.abs(fft.fft(x)) + np.sum(fft.rfft(x).real) + fft.dct(x)
    """,
    "compiled functions of a library": """
        from scipy.sparse import csgraph
        W = np.array([[0, 1.0, 5.0], [0, 0, 1.5], [0.3, 0, 0]])
        f = lambda x: csgraph.dijkstra(W * x) + csgraph.shortest_path(W)
    """,
    "system": "f = lambda x: np.linalg.solve(np.eye(3) + np.outer(x, x), x)",
    "imports": """
        def f(x):
            import math
            return x * math.pi
    """,
    "enum": """
        import enum
        class Kind(enum.Enum):
            A = 1
            B = 2
        kind = Kind.A
        def f(x):
            return 2 * x if kind is Kind.A else -x
    """,
    "pattern": """
        import re
        word = re.compile("[a-z]+")
        def f(x):
            return x * len(word.findall("one two"))
    """,
}
ARGUMENTS = "\nargs = (np.array([0.5, 1.5, 2.0]),)\n"


# Programs, and what is another in the later process: text in place of text.
CHANGED = {
    "global number": ("global number", "0.5", "0.25"),
    "sign of a zero": ("global number", "0.5", "-0.0"),
    "global array": ("global array", "arange(3.0)", "arange(1.0, 4.0)"),
    "dtype of an array": ("global array", "[::2]", "[::2].astype('f4')"),
    "order of an array": ("global array", "[::2]", "[::2].copy()"),
    "code": ("global number", "rate * x", "rate + x"),
    "constant": ("helper", "0.5 * x", "0.6 * x"),
    "code of a helper": ("helper", "0.5 * x", "0.5 - x"),
    "content of a cell": ("closure", "make(2.0", "make(3.0"),
    "array in a cell": ("closure", "np.ones(3)", "np.zeros(3)"),
    "default": ("default", "a=2.0", "a=4.0"),
    "default by name": ("default", "b=3.0", "b=4.0"),
    "field": ("object", "Model(np.arange", "Model(1 + np.arange"),
    "field of the class": ("object", "scale = 2.0", "scale = 3.0"),
    "method": ("object", "self.w * x", "self.w - x"),
    "number in an object": ("dataclass", "Model(3.0", "Model(4.0"),
    "method of an object": ("dataclass", "self.w * x", "self.w + x"),
    "list": ("method", "2 * np.eye", "3 * np.eye"),
    "length of a list": ("method", ", 2 * np.eye(3)", ""),
    "of a partial": ("partial", ", 3.0", ", 4.0"),
    "function of a partial": ("partial", "a * x", "a + x"),
    "trip count": ("loop", "range(100)", "range(99)"),
    "body of a loop": ("scan", "np.sin(x) + i", "np.cos(x) + i"),
    "condition": ("while", "< 100", "< 50"),
    "text": ("dictionary", '"kind": "a"', '"kind": "b"'),
    "number in a dictionary": ("dictionary", "0.5", "0.75"),
    "class of a result": ("tree", '"Pair", "a b"', '"Pair", "b a"'),
    "another member": ("enum", "kind = Kind.A", "kind = Kind.B"),
    "pattern": ("pattern", "[a-z]+", "[a-z]"),
    "operator": ("branch", "> 0", "< 0"),
    "order": ("gradient", "pb.grad", "pb.value_and_grad"),
    "imported": ("imports", "import math", "import cmath as math"),
}


# Other arguments of a function than those with which it was recorded.
OTHERS = [
    "np.array([0.5, 1.5])", "np.array([[0.5, 1.5, 2.0]])", "np.array([0.5, 1.5, 2], 'f4')",
    "0.5", "np.float64(0.5)", "np.array(0.5)", "np.array([1, 2, 3])",
    "np.ones(3), 3", "np.ones(3), 'a'", "np.ones(3), None", "np.ones(3), (1.0,)",
]  # fmt: skip

NONE, SOME, ANY = range(1), range(1, 100), range(100)  # how often a process records


class Step(NamedTuple):
    """What one process does with a program, after others have done theirs."""

    program: str
    misses: range
    result: str | None = None
    files: dict[str, str] = {}  # noqa: RUF012  # nobody writes into it
    env: dict[str, str] = {}  # noqa: RUF012  # no test changes it
    end: str = END


def steps(programs, misses, **more):
    """A step for each program, with arguments; more: what all have."""
    texts = [textwrap.dedent(program) + ARGUMENTS for program in programs]
    return [Step(text, some, **more) for text, some in zip(texts, misses, strict=True)]


def kept(text):
    """The record serves later processes, and with other lines beside it."""
    more = "import json, collections\nunread = 1\n\n" + textwrap.dedent(text)
    return steps([text, text, text, more], [SOME, NONE, NONE, NONE])


def changed(name, old, new):
    text = KEPT[name]
    assert old in text
    other = text.replace(old, new)
    return steps([text, other, other], [SOME, SOME, NONE])


def with_other_arguments(arguments):
    text = "f = lambda x, *more: np.sin(x) * 2" + ARGUMENTS
    other = f"{text}args = ({arguments},)\n"
    return [Step(text, SOME), Step(other, SOME), Step(other, NONE)]


def beside(expression, contents, misses):
    """A function that reads a module of which the text changes."""
    module = expression.partition(".")[0]
    text = f"import {module}\ndef f(x):\n    return {expression}\n"
    return [
        Step(text + ARGUMENTS, some, files={f"{module}.py": content})
        for content, some in zip(contents, misses, strict=True)
    ]


def replaced():
    (first,) = beside("replaced.half(x)", [HALF], [SOME])
    program = first.program.replace("def f", "replaced.half = lambda x: x\ndef f")
    return [first, first._replace(program=program)]


def by_environment():
    text = "import os\nrate = float(os.environ['RATE'])\nf = lambda x: rate * x"
    rates = [("2", SOME), ("2", NONE), ("3", SOME)]
    return [Step(text + ARGUMENTS, some, env={"RATE": rate}) for rate, some in rates]


def virtual_subclass():
    text = """
        import abc
        class Positive(abc.ABC):
            pass
        class Model:
            pass
        Positive.register(Model)
        model = Model()
        def f(x):
            return 2 * x if isinstance(model, Positive) else -x
    """
    return steps([text, text, text.replace("Positive.register(Model)", "")], [SOME, NONE, SOME])


CALLS = "g = pb.compile(f)\nfor _ in range(3):\n    y = g(*args)\n"
TWICE, THRICE = "array([1., 3., 4.])", "array([1.5, 4.5, 6. ])"  # the arguments, times 2 and 3


def a_tree_taken_apart():
    text = """
        class Pair:
            def __init__(self, a, b):
                self.a, self.b = a, b
        pb.core.tree.register_tree(Pair, lambda p: ((p.a, p.b), None), lambda _, xs: Pair(*xs))
        def f(x):
            return Pair(2 * x, 3 * x)
    """
    other = text.replace("(p.a, p.b)", "(p.b, p.a)").replace("Pair(*xs)", "Pair(*xs[::-1])")
    end, right = CALLS + "result = 1, str([y.a, y.b])\n", f"[{TWICE}, {THRICE}]"
    return steps([text, other], [ANY, ANY], end=end, result=right)


def fields_of_a_result():
    text = """
        import dataclasses
        @dataclasses.dataclass
        class Pair:
            a: float
            b: float
        def f(x):
            return Pair(b=2 * x, a=3 * x)
    """
    other = text.replace("a: float", "c: float").replace("b: float", "a: float")
    other = other.replace("c: float", "b: float")
    end = CALLS + "result = g.cache_info().misses, str([y.a, y.b])\n"
    right = f"[{THRICE}, {TWICE}]"
    return steps([text, text, other], [SOME, NONE, range(1, 2)], end=end, result=right)


def functions_as_arguments():
    text = "def f(g, x):\n    return g(x)\n" + ARGUMENTS
    given = ["lambda x: 2 * x", "lambda x: 3 * x", "np.sin", "np.cos"]
    texts = [f"{text}args = ({g}, *args)" for g in given]
    return [Step(text, some) for text in texts for some in (SOME, NONE)]


def other_ways():
    """The record of one way is there; the other is recorded, and both are there."""
    text = textwrap.dedent(KEPT["branch"])
    texts = [text + f"args = (np.array([{x}, 1.0]),)\n" for x in (0.5, -0.5)]
    pairs = zip([*texts, *texts], [SOME, SOME, NONE, NONE], strict=True)
    return [Step(text, some) for text, some in pairs]


def numbers():
    """A later process gets other numbers, which are inputs by then."""
    end = """
g = pb.compile(f)
for i in range(8):
    assert abs(g(START + i, 2.0) - f(START + i, 2.0)) < 1e-13
result = g.cache_info().misses, str(type(g(START, 2.0)))
"""
    program, right = "f = lambda x, y: np.sin(x) * y + 1.0\n", "<class 'numpy.float64'>"
    ends = [(end.replace("START", x), n) for x, n in (("0.5", range(2, 3)), ("10.5", NONE))]
    return [Step(program, misses, right, end=end) for end, misses in ends]


def by_hashes(text):
    """Each process checks that it gets what the function gives there, by another seed."""
    return steps([text] * 4, [ANY] * 4)


def argument_returned():
    text = "def f(x):\n    return x, 2 * x\n"
    return steps([text] * 2, [ANY] * 2, end=END + "assert g(*args)[0] is args[0]\n")


def argument_written():
    program = "def f(x):\n    x[0] += 1\n    return x * 2\nargs = (np.zeros(3),)\n"
    return [Step(program, ANY, "[3. 0. 0.]", end=CALLS + "result = 0, str(args[0])\n")] * 2


def rules_of_the_user():
    text = """
        @pb.custom_vjp
        def square(x):
            return x * x
        square.defvjp(lambda x: (x * x, x), lambda x, bar: (FACTOR * x * bar,))
        f = pb.grad(lambda x: np.sum(square(x)))
    """
    rights = [(n, str(n * np.array([0.5, 1.5, 2.0]))) for n in (2.0, 3.0, 2.0)]
    texts = [(textwrap.dedent(text).replace("FACTOR", str(n)), right) for n, right in rights]
    return [Step(text + ARGUMENTS, ANY, right) for text, right in texts]


HALF, LESS = [f"def half(x):\n    return {value}\n" for value in ("0.5 * x", "x - 0.5")]
RATES = [f"A = {rate}\n" for rate in (0.5, 0.25)]
# What processes do one after another with a program.
HISTORIES = {
    **{f"kept: {name}": kept(text) for name, text in KEPT.items()},
    **{f"changed: {name}": changed(*what) for name, what in CHANGED.items()},
    **{f"arguments: {x}": with_other_arguments(x) for x in OTHERS},
    "a helper in another module": beside("helper.half(x)", [HALF, HALF, LESS], [SOME, NONE, SOME]),
    "a value in another module": beside("rates.A * x", [*RATES[:1], *RATES], [SOME, NONE, SOME]),
    "two values are both kept": beside("more.A * x", [*RATES, *RATES], [SOME, SOME, NONE, NONE]),
    "a helper that was replaced": replaced(),
    "the environment": by_environment(),
    "a virtual subclass": virtual_subclass(),
    "how a tree is taken apart": a_tree_taken_apart(),
    "fields of a result": fields_of_a_result(),
    "functions as arguments": functions_as_arguments(),
    "other values take other ways": other_ways(),
    "numbers": numbers(),
    "the order of a set": by_hashes("f = lambda x: sum([x * len(w) for w in {'a', 'bb', 'ccc'}])"),
    "a set as a list": by_hashes(
        "words = frozenset(['a', 'bb'])\nf = lambda x: x * len(list(words)[0])"
    ),
    "a hash": by_hashes("f = lambda x: x * (hash('a') % 7)"),
    "the greatest hash": by_hashes(
        "f = lambda x: x * len(max({'a': 1, 'bb': 2}.keys() & {'a', 'bb'}, key=hash))"
    ),
    "the first of a set": by_hashes(
        "f = lambda x: x * len(next(iter({w for w in ('a', 'bb', 'ccc')})))"
    ),
    "an argument returned": argument_returned(),
    "an argument written": argument_written(),
    "rules of the user": rules_of_the_user(),
}  # fmt: skip


@pytest.mark.share(4)
def test_histories(process):
    """In step number i of all of them one process does them all, by seed i of hashes."""
    found = {name: [] for name in HISTORIES}
    for i in range(max(map(len, HISTORIES.values()))):
        now = {name: steps[i] for name, steps in HISTORIES.items() if i < len(steps)}
        env = {"PYTHONHASHSEED": str(i + 1)}
        for step in now.values():
            env |= step.env
            for file, text in step.files.items():
                process.write(file, text)
        programs = {name: step.program + step.end for name, step in now.items()}
        for name, result in process.all(programs, **env).items():
            found[name].append(result)

    def check(steps, results):
        given = {}  # what a program with its files and environment gave
        for i, (step, (misses, result)) in enumerate(zip(steps, results, strict=True)):
            assert misses in step.misses, results
            key = step.program, *step.files.values(), *step.env.values()
            if step.result is not None:
                assert result == step.result, results
            elif step.misses is NONE:
                assert result == given.get(key, results[i - 1][1]), results
            given[key] = result

    try_all(check, [(name, (HISTORIES[name], results)) for name, results in found.items()])


def short(text):
    """A text in a pickle."""
    return b"\x8c" + bytes([len(text)]) + text


def named(place):
    """A module and a name in it."""
    return b"".join(short(part.encode()) for part in place.split())


class TestSigns:
    """Where there is no sign of a function, its first calls do not look for records."""

    @pytest.mark.trials
    def test_a_record_has_one_and_is_found_by_the_first_call(self, later, monkeypatch):
        def signed(x):
            return np.sum(np.sin(x) * 3.25)

        looked = []
        find = records.find
        monkeypatch.setattr(records, "find", lambda *args: looked.append(1) or find(*args))
        monkeypatch.setattr(first_call, "ENOUGH", 0.0)
        x, fast = np.arange(4.0), pb.compile(pb.grad(signed))
        fast(x)
        assert not looked
        for _ in range(60):
            fast(x)
            idle()
        assert len(looked) == 1
        assert records.is_likely(fast)
        second = later(pb.grad(signed))
        np.testing.assert_allclose(second(x), np.cos(x) * 3.25, rtol=1e-15)
        assert second.cache_info()[:2] == (1, 0)


class TestFiles:
    def files(self, process):
        return sorted((process.path / "cache" / "code").glob("*.code"))

    @pytest.mark.share(2)
    def test_damage(self, process):
        program = KEPT["function"] + ARGUMENTS
        _, right = process(program)
        for path in self.files(process):
            path.write_bytes(path.read_bytes()[:-50])
        assert process(program)[1] == right
        assert process(program) == (0, right)

    @pytest.mark.share(2)
    def test_content_of_another_kind(self, process, monkeypatch):
        """Whole files that hold what nobody wrote."""
        monkeypatch.setenv("PULLBACK_CACHE", str(process.path / "cache"))
        program = KEPT["function"] + ARGUMENTS
        _, right = process(program)
        for content in (b"", b"abc", records.written(3), records.written(((1, 2), [b"x"]))):
            for path in self.files(process):
                if b"pullback.compiler" not in path.read_bytes() or content:
                    raw = path.read_bytes()
                    if raw[43:44] == b"\x80":  # a record, and no object file
                        assert disk_cache.write(path.stem, content) in (False, True)
            assert process(program)[1] == right

    @pytest.mark.share(2)
    def test_off(self, process):
        program = KEPT["function"] + ARGUMENTS
        for _ in range(2):
            assert process(program, PULLBACK_CACHE="off")[0]

    def test_pickles_hold_no_functions_of_others(self):
        with pytest.raises(portable.Unportable, match="the function `dedent` of textwrap"):
            records.written(process_of := textwrap.dedent)
        assert process_of is textwrap.dedent

    def test_pickles_import_nothing(self):
        content = b"\x80\x04\x8c\x0fantigravity_not\x8c\x01x\x93."
        with pytest.raises(Exception, match="has not been imported"):
            records.loaded(content)

    @pytest.mark.parametrize(
        "place",
        [
            "numpy.testing runstring", "numpy memmap", "numpy load", "numpy fromfile",
            "builtins eval", "builtins getattr", "builtins type", "builtins open", "os system",
            "posix system",
            "pullback.compiler.call.export_c export", "pullback.compiler.llvm.binding MachineCode",
            "pullback.compiler.disk.records loaded", "pullback compile", "optree tree_map",
            "functools partial", "operator methodcaller", "collections.abc Callable",
            "numpy.f2py compile", "numpy.ctypeslib load_library", "copyreg _reconstructor",
            "importlib import_module", "subprocess Popen", "pullback.core.trace run",
            "numpy.lib.npyio DataSource", "_codecs encode", "numpy.random RandomState",
        ],
    )  # fmt: skip
    def test_pickles_call_nothing(self, place):
        """Only what makes data may be named, whoever has written the file."""
        content = b"\x80\x04" + named(place) + b"\x93" + short(b"x") + b"\x85R."
        with pytest.raises(Exception, match=r"is not allowed in|has not been imported|attribute"):
            records.loaded(content)

    @pytest.mark.parametrize(
        "place",
        [
            "os system", "builtins eval", "numpy save", "numpy load", "subprocess Popen",
            "pullback.compiler.call.export_c export", "pullback.cli main", "pickle loads",
            "importlib import_module", "scipy.io loadmat", "numpy.testing runstring",
        ],
    )  # fmt: skip
    def test_pickles_name_no_functions_of_others(self, place):
        assert FUNCTIONS[np.save] is FUNCTIONS[np.load] is None  # a program may have asked
        content = b"\x80\x04" + named(place) + short(b"function") + b"\x87Q."
        with pytest.raises(Exception, match=r"is not allowed in|has not been imported"):
            records.loaded(content)

    @pytest.mark.parametrize("place", ["os getpid", "builtins eval", "numpy save", "math floor"])
    def test_pickles_name_operations_alone_by_their_place(self, place):
        content = b"\x80\x04" + named(place) + b"\x86Q)R."
        with pytest.raises(pickle.UnpicklingError, match="is not allowed in"):
            records.loaded(content)

    @pytest.mark.parametrize("ending", [b"\x93", b"\x8c\x08function\x87Q"])
    def test_pickles_run_no_text_of_a_state(self, ending):
        """As SciPy's distributions do in `__setstate__`."""
        pytest.importorskip("scipy.stats")
        cls = named("scipy.stats._continuous_distns norm_gen") + ending
        state = b"}" + short(b"_parse_arg_template") + short(b"raise SystemExit") + b"s"
        with pytest.raises(pickle.UnpicklingError, match="is not allowed in"):
            records.loaded(b"\x80\x04" + cls + b")\x81" + state + b"b.")

    @pytest.mark.parametrize(
        "place",
        ["pullback.scipy.solving.plain through", "numpy zeros_like", "scipy.optimize._root root"],
    )
    @pytest.mark.parametrize("how", [b"R", b"\x81", b"o"])
    def test_pickles_call_no_functions_that_they_may_name(self, place, how):
        """They are for a replay: neither called, nor made instances of, when a file is loaded."""
        found = named(place) + short(b"function") + b"\x87Q"
        called = found + short(b"x") + b"\x85" + how
        content = b"\x80\x04" + (b"(" + found + short(b"x") + how if how == b"o" else called) + b"."
        with pytest.raises((pickle.UnpicklingError, TypeError)):
            records.loaded(content)


class TestWhatIsLookedAt:
    """A record from disk is as any other to those who look into it."""

    def compiled(self, later):
        def f(x):
            for _ in range(200):
                x = np.sin(x) * 1.5
            return np.sum(x) if x[0] > 0 else x[0]

        x = np.linspace(0.5, 1, 4)
        first = compile(f)
        for _ in range(3):
            first(x)
        second = later(f)
        out = second(x)
        assert second.cache_info()[:2] == (1, 0)
        assert float(out) == float(first(x))
        return f, second, x

    def test_graph(self, later):
        f, g, x = self.compiled(later)
        assert "guard bool(x)" in g.graph(x)
        assert "scan[200]" in g.graph(x)
        here = pb.compile(f, wait=True)  # which reads nothing from disk
        here(x)
        assert here.graph(x) == g.graph(x)

    def test_ir(self, later):
        _, g, x = self.compiled(later)
        assert "define" in g.ir(x)
        (entry,) = g.entries.values()
        assert "200 steps" in entry.paths[0].program.listing

    def test_why(self, later):
        _, g, x = self.compiled(later)
        assert g.why(x) == "Machine code would replay it."

    def test_another_way(self, later):
        f, g, x = self.compiled(later)
        assert g(-x) == pytest.approx(f(-x), rel=1e-14)
        assert g.cache_info().misses == 1
        assert g(x) == pytest.approx(f(x), rel=1e-14)

    def test_derivatives(self, later):
        f, g, x = self.compiled(later)
        np.testing.assert_allclose(pb.grad(g)(x), pb.grad(f)(x), rtol=1e-12)
        np.testing.assert_allclose(pb.hessian(g)(x), pb.hessian(f)(x), rtol=1e-12)

    def test_export(self, later, tmp_path):
        _, g, x = self.compiled(later)
        code, header = g.export(tmp_path / "f", x)
        assert code.exists()
        assert header.exists()

    def test_arguments_that_lie_otherwise(self, later):
        f, g, x = self.compiled(later)
        spread = np.zeros(8)[::2]
        spread[:] = x
        assert g(spread) == pytest.approx(f(spread), rel=1e-14)

    def test_state_that_changes_afterwards(self, later):
        scale = [2.0]

        def f(x):
            return scale[0] * x

        first = compile(f)
        for _ in range(3):
            first(np.ones(2))
        second = later(f)
        assert second(np.ones(2)).tolist() == [2.0, 2.0]
        assert second.cache_info().misses == 0
        scale[0] = 3.0
        assert second(np.ones(2)).tolist() == [3.0, 3.0]

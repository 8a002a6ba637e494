"""Records on disk: whatever a later process has otherwise, it gets what its own program gives."""

import os
import random
import re
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.disk import records
from pullback.core.registry import FUNCTIONS as RULES
from tests import fuzz_arrays, fuzz_assignment, fuzz_loops, fuzz_rolling, loops
from tests.budgets import LONG
from tests.compiler.call import test_sequences as sequences
from tests.compiler.call.test_compile import equal
from tests.compiler.call.test_fuzz import agree
from tests.fuzz_compile import changes, write
from tests.stored_programs import (
    HEAD,
    compiled_later,
    different,
    kept,
    marks,
    module,
    numbers,
    table,
)

# Of random programs many a derivative is zero.
pytestmark = [
    pytest.mark.disk,
    pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning"),
]


@pytest.fixture(autouse=True)
def undone(monkeypatch):
    """What programs change of NumPy, and of ours; better machine code comes after few runs."""
    monkeypatch.setattr(records, "WRITTEN", set())
    monkeypatch.setattr("pullback.compiler.path.SECOND", 3)
    monkeypatch.setattr(np, "sin", np.sin)
    pb.grad(np.sinc)(0.0)  # what gives it a rule is imported then
    monkeypatch.setitem(RULES, np.sinc, RULES[np.sinc])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        yield


def process(text, args):
    """What a process gets in some calls, and what it should get; and the compiled function."""
    made = module(HEAD + text)
    fast = compiled_later(made.f)
    given = eval(f"lambda: ({args},)", vars(made))
    got = [numbers(fast(*given())) for _ in range(4)]
    return got, numbers(made.f(*given())), fast


class TestOtherwise:
    @pytest.mark.parametrize("row", table("state").values(), ids=table("state"))
    def test_state(self, row):
        text, old, new = row
        for program in (text, different(text, old, new), text):
            got, right, _ = process(program, "X")
            assert got == [right] * 4
        assert process(text, "X")[1] == process(text, "X")[0][0]

    @pytest.mark.parametrize("row", table("arguments").values(), ids=table("arguments"))
    def test_arguments(self, row):
        text, one, two = row
        for args in (one, two, one):
            got, right, _ = process(text, args)
            assert got == [right] * 4

    @pytest.mark.parametrize("row", table("results").values(), ids=table("results"))
    def test_results_of_their_own(self, row):
        text, question = row
        for _ in range(2):
            made = module(HEAD + text)
            fast = compiled_later(made.f)
            for _ in range(4):
                assert eval(question, vars(made), {"out": fast(made.X)})

    @pytest.mark.parametrize("row", table("sets").values(), ids=table("sets"))
    def test_sets(self, row):
        (text,) = row
        assert not kept(process(text, "X")[2])


# Programs of the generators and of the tables, in two processes.


def outcomes(text, calls, change):
    """What the calls of a table give, each program in a module of its own."""
    made = module(sequences.HEAD + text)
    made.f = change(made.f)
    yield from sequences.outcomes_in(vars(made), calls)


def some(programs, each):
    """All of them, or in the ordinary run one of so many."""
    programs = list(programs)
    return programs if LONG else programs[::each]


def check_sequence(text, calls):
    """A later process begins as the first did, or where it had been changed."""
    begun = next((k for k, call in enumerate(calls) if call[0] == "!"), 0)
    for which in (calls, calls, calls[begun:], calls[begun:][::-1]):
        ways = [outcomes(text, which, change) for change in (lambda f: f, compiled_later)]
        for k, (expected, got) in enumerate(zip(*map(list, ways), strict=True)):
            try:
                equal(got, expected)
            except AssertionError as error:
                error.add_note(f"call {k} of {which}\n{text}")
                raise


class TestSequences:
    @pytest.mark.share(2)
    @sequences.each(some(sequences.state_programs(), 4))
    def test_state(self, text, calls):
        check_sequence(text, calls)

    @sequences.each(some(sequences.result_programs(), 12))
    def test_results(self, text, calls):
        check_sequence(text, calls)


ORDERS = (
    lambda f: f,
    lambda f: pb.value_and_grad(f, argnums=(0, 1)),
    lambda f: pb.hessian(f),
)


def with_another_number(text, r):
    """The text with another number somewhere."""
    places = re.finditer(r"(?<![\w.\[])\d+\.\d+(?![\w\]])", text)
    ends = lambda m: (
        "1.7" in text[m.start() : m.end() + 8] or text[m.start() - 2] == "+"
    )  # of loops
    m = r.choice([m for m in places if not ends(m)])
    return text[: m.start()] + f"{float(m[0]) + r.choice([0.25, 1.0, -0.5])}" + text[m.end() :]


def check_program(seed):
    """The same program with the same calls, with other calls, and another program."""
    r = random.Random(seed)
    around = ORDERS[(0, 0, 1, 1, 2)[seed % 5]]
    text, steps = write(seed), changes(seed, 8)
    other = with_another_number(text, r)
    misses, known = [], []
    more = [(other, steps), (text, changes(-seed, 4)), (other, steps[3:])]
    for k, (program, calls) in enumerate([(text, steps), (text, steps), *more]):
        one, two = vars(module(program)), vars(module(program))
        plain, fast = around(one["program"]), compiled_later(around(two["program"]))
        for step in calls:
            agree(plain, one, fast, two, step, f"seed {seed}, process {k}: {step}\n{program}")
        misses.append(fast.cache_info().misses)
        known.append(marks(fast))
    assert known[1] <= known[0], seed  # the same calls add no path
    return misses[0] - misses[1]


COUNT = 5000 if LONG else 10


@pytest.mark.share(2)
@pytest.mark.parametrize("start", range(0, COUNT, 10))
def test_programs(start):
    assert sum([check_program(seed) for seed in range(start, start + 10)]) > 0


def spread(x):
    if not x.ndim:
        return x.copy()
    out = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)[..., ::2]
    out[...] = x
    return out


def fixed(x):
    x = x.copy()
    x.flags.writeable = False
    return x


# The same arguments as they may lie in memory; assignments may tell the last from the others.
LAYOUTS = (np.copy, spread, fixed, partial(np.array, order="F"))


def others(args, seed):
    """Arguments of the same kind, with other values and without any sense."""
    random = np.random.default_rng(seed)
    yield tuple([x + 1e-3 * random.normal(size=x.shape) for x in args])
    yield tuple([random.normal(size=x.shape) * 2 for x in args])
    yield tuple([-x for x in args])
    for value in (np.nan, np.inf, 0.0, -0.0, 30.0) if args[0].dtype.kind in "fc" else ():
        bad = [x.copy() for x in args]
        bad[seed % len(bad)].flat[seed % 3 : seed % 3 + 1] = value
        yield tuple(bad)


def seen(f, args):
    """What a call gives, whether results are new, and what it writes; args are made for it."""
    with np.errstate(all="ignore"):
        try:
            out = f(*args)
        except Exception as error:
            return type(error), None
    leaves = pb.core.tree.flatten(out)[0]
    new = [[x is y or np.may_share_memory(x, y) for y in args] for x in leaves]
    kinds, arrays = [*map(type, leaves)], [*map(np.asarray, leaves)]
    about = [(x.dtype, x.shape, x.flags.writeable) for x in arrays]
    return (new, kinds, about, [x.tobytes() for x in args]), leaves


def bits(x):
    """What tells a result from all others; NaN is NaN."""
    x = np.asarray(x)
    return (np.where(np.isnan(x), np.nan, x) if np.isnan(x).any() else x).tobytes()


def check_function(make, args, seed, by_layout=True):
    """Value and gradient of a generated function, in three processes, against the plain one."""
    laid = LAYOUTS if by_layout else LAYOUTS[:-1]
    calls = [*[(np.copy, args)] * 4, *[(way, args) for way in laid]]
    calls += [(np.copy, other) for other in others(args, seed)]
    found, misses, known = [], [], []
    for k in range(3):
        order = calls[:: (1, 1, -1)[k]]
        plain, fast = make(), compiled_later(make())
        found.append([])
        for way, at in order:
            before = fast.cache_info().misses
            expected, got = [seen(f, [*map(way, at)]) for f in (plain, fast)]
            assert got[0] == expected[0], (seed, k)
            for a, b in zip(got[1] or (), expected[1] or (), strict=True):
                largest = np.max(np.abs(b), initial=0)
                if largest < 1e6:  # no NaN
                    rtol = 1e-9 if b.dtype.itemsize // (1 + (b.dtype.kind == "c")) > 4 else 1e-5
                    np.testing.assert_allclose(a, b, rtol=rtol, atol=0.01 * rtol * (1 + largest))
            repeated = fast.cache_info().misses == before
            found[-1].append(tuple([bits(a) for a in got[1] or ()]) if repeated else None)
        found[-1] = found[-1][:: (1, 1, -1)[k]]
        misses.append(fast.cache_info().misses)
        known.append(marks(fast))
    assert known[1] <= known[0], seed  # the same calls add no path
    for k, same in enumerate(zip(*found, strict=True)):
        assert len({*same} - {None}) < 2, (seed, k)  # what is repeated, bit for bit
    return misses[0] - misses[1]


def of_loop(seed):
    def scan():
        loss_with, _ = fuzz_loops.program(seed)
        return loss_with(pb.scan)

    return scan, fuzz_loops.program(seed)[1]


def of_rolling(seed):
    return lambda: fuzz_rolling.program(seed)[0], fuzz_rolling.program(seed)[1]


def of_arrays(seed):
    return lambda: fuzz_arrays.program(seed)[0], fuzz_arrays.program(seed)[1]


def of_assignment(seed):
    program = fuzz_assignment.make(seed)
    text = program.text.replace("return locals()", f"return {returned(program)}")
    text = text[: text.rindex("\n\n\n")]
    return lambda: module(HEAD + text).program, tuple(map(np.asarray, program.inputs.values()))


def returned(program):
    """The arrays that a program makes, as a list."""
    names = program.run([x.copy() for x in program.inputs.values()])
    return "[" + ", ".join([f"{k} * 1" for k, v in names.items() if v.dtype.kind in "fc"]) + "]"


def total(make):
    """A function of three arguments that gives a number, with its gradient."""
    return lambda: pb.value_and_grad(make(), argnums=(0, 1, 2))


def check_generated(made, seed, rolled=True):
    make, args = made
    gained = check_function(make, args, seed, rolled)
    if rolled and seed % 2:
        gained += check_function(total(make), args, seed)
    return gained


FUNCTIONS = {"loops": of_loop, "rolling": of_rolling, "arrays": of_arrays}


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("start", range(0, 1000 if LONG else 2, 2))
def test_functions(kind, start):
    seeds = range(start, start + 2)
    assert sum([check_generated(FUNCTIONS[kind](seed), seed) for seed in seeds]) > 0


@pytest.mark.parametrize("start", range(0, 2000 if LONG else 10, 10))
def test_assignment(start):
    seeds = range(start, start + 10)
    assert sum([check_generated(of_assignment(seed), seed, rolled=False) for seed in seeds]) > 0


LOOPS = [name for name, made in vars(loops).items() if callable(made)]


@pytest.mark.parametrize("name", some(LOOPS, 5))
def test_loops(name):
    made = vars(loops)[name]
    check_function(lambda: made(20)[0], made(20)[1], 3)


@pytest.mark.share(4)
def test_processes(tmp_path):
    """Functions of many kinds, with other numbers of threads; nothing is recorded again."""
    for which, threads in (("first", "2"), ("looked", "2"), ("later", "1")):
        env = {**os.environ, "PULLBACK_CACHE": str(tmp_path / "cache"), "PULLBACK_THREADS": threads}
        command = [sys.executable, "-m", "tests.stored_process", which, str(tmp_path / "results")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
        assert done.stdout.strip() == "done", done.stderr


def test_numbers_and_text():
    """A number that is compared with text is an input all the same."""
    fast = compiled_later(lambda x, order: np.linalg.norm(x, order))
    for order in [np.inf] * 8 + [2.5] * 8 + ["fro"] * 3:
        x = np.ones((4, 4)) if order == "fro" else np.ones(4)
        assert fast(x, order) == pytest.approx(np.linalg.norm(x, order), rel=1e-14)


def test_machine_code_is_called_straight():
    """As before: whoever repeats needs no Python."""
    f = lambda x, k: np.sin(x) * k
    for _ in range(2):
        fast = compiled_later(f)
        for _ in range(3):
            out = fast(np.ones(3), 2)
        assert fast.replay[1]
        assert out.dtype is np.dtype(float)

"""Watching a recorded call: what the user's code does is seen wherever it is called from."""

import contextlib
import cProfile
import functools
import gc
import importlib.util
import io
import numbers
import operator
import os
import random
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.facts.call_monitor import WATCHING, Watch, unwatched
from pullback.compiler.facts.halting import Halt
from pullback.compiler.facts.monitoring import WATCHES
from tests.growth import grows

X = np.array([0.3, 0.7, 1.1])


def shout():
    """Something that a repetition would not do."""
    print("called")
    return 1.0


def each(i):
    return shout()


class Shouting:
    """An object whose methods are called by NumPy and by Python."""

    def __float__(self):
        return shout()

    def __index__(self):
        return int(shout())

    def __array__(self, dtype=None, copy=None):
        return np.full(3, shout())

    def __lt__(self, other):
        return shout() > 0

    def __call__(self, x):
        return x * shout()

    @property
    def scale(self):
        return shout()

    def __getattr__(self, name):
        if name == "other":
            return shout()
        raise AttributeError(name)

    def __iter__(self):
        yield shout()

    def __enter__(self):
        shout()

    def __exit__(self, *exception):
        return None


class Number(numbers.Number):
    """A number of the user's: NumPy asks it for its value, or leaves the operation to it."""

    __hash__ = None

    def __float__(self):
        return shout()

    def __array__(self, dtype=None, copy=None):
        return np.array(shout())

    def __mul__(self, other):
        return other * shout()

    __rmul__ = __mul__


class Half(float):
    """A float of a class of the user's."""

    def __mul__(self, other):
        return other * shout()

    __rmul__ = __mul__


class Later:
    """What gives an object whose operators are of the user's, and has no effect itself."""

    def __mul__(self, other):
        return Number()

    __rmul__ = __mul__


class Taking:
    """An object that NumPy leaves operations to."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return 2 * shout()

    def __array_function__(self, function, types, args, kwargs):
        return 2 * shout()

    __add__ = __radd__ = lambda self, other: 2 * shout() + other * 0


@pb.custom_vjp
def ruled(x):
    return np.sin(x) * shout()


ruled.defvjp(lambda x: (np.sin(x) * shout(), x), lambda x, out_bar: (out_bar * np.cos(x),))


@pb.custom_vjp
def with_a_rule_that_shouts(x):
    return np.sin(x)


with_a_rule_that_shouts.defvjp(
    lambda x: (np.sin(x), x), lambda x, out_bar: (out_bar * np.cos(x) * shout(),)
)


@pb.custom_jvp
def pushed(x):
    return np.sin(x)


pushed.defjvp(lambda xs, x_dots: (np.sin(xs[0]), x_dots[0] * np.cos(xs[0]) * shout()))


@pb.primitive
def single(x):
    return np.sin(x) * shout()


single.defvjp(lambda out_bar, residual, wanted: (out_bar * np.cos(residual.xs[0]),))


@pb.primitive
def single_with_a_rule_that_shouts(x):
    return np.sin(x)


single_with_a_rule_that_shouts.defvjp(
    lambda out_bar, residual, wanted: (out_bar * np.cos(residual.xs[0]) * shout(),)
)


def numbers():
    for i in range(3):
        yield i * shout()


def after_an_error(x):
    try:
        np.linalg.solve(np.zeros((3, 3)) * x[0], x)
    except np.linalg.LinAlgError:
        return np.sum(x) * shout()


def after_an_error_of_python(x):
    try:
        x[7]
    except IndexError:
        return np.sum(x) * shout()


def thrown_into():
    def catches():
        try:
            yield 1.0
        except KeyError:
            yield shout()

    generator = catches()
    next(generator)
    return generator.throw(KeyError())


def managed(x):
    with Shouting():
        return np.sum(x * x)


PLACES = {
    "a nested call": lambda x: (lambda: np.sum(x) * shout())(),
    "a call with * and **": lambda x: np.sum(x) * (lambda *a, **k: shout())(*[1], **{"b": 2}),
    "a partial": lambda x: np.sum(x) * functools.partial(lambda a, b: shout(), 1)(b=2),
    "a comprehension": lambda x: np.sum(x) * sum([shout() for _ in range(3)]),
    "a generator": lambda x: np.sum(x) * sum(numbers()),
    "a generator that is thrown into": lambda x: np.sum(x) * thrown_into(),
    "an iterator": lambda x: np.sum(x) * next(iter(Shouting())),
    "map": lambda x: np.sum(x) * sum(map(each, range(3))),
    "sorted": lambda x: np.sum(x) * sorted([1, 2], key=lambda i: i * shout())[0],
    "sorted by a method": lambda x: np.sum(x) * len(sorted([Shouting(), Shouting()])),
    "max": lambda x: np.sum(x) * max([1, 2], key=lambda i: i * shout()),
    "reduce": lambda x: np.sum(x) * functools.reduce(lambda a, b: a + b * shout(), [1, 2, 3]),
    "np.vectorize": lambda x: np.sum(x) * np.vectorize(lambda i: i * shout())([1.0, 2.0])[0],
    "np.vectorize of an Array": lambda x: np.sum(np.vectorize(lambda i: i * shout())(x)),
    "np.apply_along_axis": lambda x: np.sum(np.apply_along_axis(lambda row: row * shout(), 0, x)),
    "np.frompyfunc": lambda x: np.sum(x) * float(np.frompyfunc(lambda i: i * shout(), 1, 1)(2.0)),
    "np.fromfunction": lambda x: np.sum(x * np.fromfunction(lambda i: i * shout(), (3,))),
    "np.piecewise": lambda x: np.sum(np.piecewise(x, [x > 0.5], [lambda v: v * shout(), 0.0])),
    "float": lambda x: np.sum(x) * float(Shouting()),
    "an index": lambda x: np.sum(x) * [1.0, 2.0][Shouting()],
    "an index of an Array": lambda x: np.sum(x) * x[Shouting()],
    "an axis": lambda x: np.sum(np.sum(np.stack([x, x]), axis=Shouting())),
    "a number of digits": lambda x: np.sum(np.round(x, Shouting())),
    "a shape": lambda x: np.sum(np.reshape(x, (3, Shouting()))),
    "np.asarray": lambda x: np.sum(x * np.asarray(Shouting())),
    "an operand": lambda x: np.sum(x * Shouting()),
    "an operand in an array": lambda x: np.sum(x * np.full(3, float(Shouting()))),
    "a number": lambda x: np.sum(x * Number()),
    "a float": lambda x: np.sum(x * Half(2.0)),
    "__array_ufunc__": lambda x: np.sum(x) * np.sin(Taking()),
    "__array_ufunc__ beside an Array": lambda x: np.sum(x) * np.add(x, Taking()),
    "__array_function__": lambda x: np.sum(x) * np.sum(Taking()),
    "an operator": lambda x: np.sum(x + Taking()),
    "a property": lambda x: np.sum(x) * Shouting().scale,
    "__getattr__": lambda x: np.sum(x) * Shouting().other,
    "__call__": lambda x: np.sum(Shouting()(x)),
    "a context": managed,
    "custom_vjp": lambda x: np.sum(ruled(x)),
    "a vjp rule": lambda x: np.sum(with_a_rule_that_shouts(x)),
    "a jvp rule": lambda x: np.sum(pushed(x)),
    "a primitive": lambda x: np.sum(single(x)),
    "a rule of a primitive": lambda x: np.sum(single_with_a_rule_that_shouts(x)),
    "checkpoint": lambda x: pb.checkpoint(lambda y: np.sum(y) * shout())(x),
    "scan": lambda x: pb.scan(lambda c, y: (c + y * shout(), None), 0.0, x)[0],
    "vmap": lambda x: np.sum(pb.vmap(lambda y: y * shout())(x)),
    "an inner gradient": lambda x: np.sum(pb.grad(lambda y: np.sum(y * y) * shout())(x)),
    "after an error": after_an_error,
    "after an error of Python's": after_an_error_of_python,
}


def called(work, *args):
    """How often `shout` was called, and what came out."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        out = work(*args)
    return said.getvalue().count("called"), out


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("transform", [lambda f: f, pb.grad], ids=["itself", "its gradient"])
def test_effects_are_seen_in(place, transform):
    """A function with an effect falls back to Python, each time, wherever the effect is."""
    plain = transform(PLACES[place])
    called(plain, X)  # a rule is asked more often in the first call, whether it is linear
    expected, value = called(plain, X)
    fast = pb.compile(plain)
    for _ in range(3):
        count, out = called(fast, X)
        assert count == expected
        np.testing.assert_array_equal(out, value)
    assert not expected or "`print`" in fast.refusal


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.multiply(x, np.array([Number()] * 3))),
        lambda x: np.sum(np.multiply(x, np.array([Later()] * 3)) * 2.0),
        lambda x: np.multiply(x, np.array([Later()] * 3))[0] * 2.0,
    ],
)
def test_effects_of_what_is_in_an_array_of_objects(f):
    """Operations on an array of objects call the methods of these."""
    expected = called(f, X)
    fast = pb.compile(f)
    assert [called(fast, X) for _ in range(3)] == [expected] * 3
    assert expected[0]
    assert fast.refusal == "it calls `print`"


@pytest.mark.parametrize(
    "read",
    [
        lambda: sum(map(operator.call, [time.perf_counter])),
        lambda: sum([read() for read in [time.perf_counter]]),
        lambda: functools.partial(time.perf_counter)(),
        lambda: next(iter(time.perf_counter, None)),
    ],
)
def test_clocks(read):
    """A clock gives another answer each time; of calls made from C Python does not tell."""
    fast = pb.compile(lambda x: (np.sum(x), read()))
    assert len({called(fast, X)[1][1] for _ in range(4)}) == 4


SCALE = [2.0]


def scaled(x):
    return x * SCALE[0]


@pb.primitive
def reads_scale(x):
    return scaled(x)


reads_scale.defvjp(lambda out_bar, residual, wanted: (scaled(out_bar),))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.apply_along_axis(scaled, 0, x)),
        lambda x: np.sum(np.vectorize(scaled)(x)),
        lambda x: np.sum(x) * sorted([1.0], key=scaled)[0] * next(map(scaled, [1.0])),
        lambda x: np.sum(reads_scale(x)),
        lambda x: np.sum(x) * sum(scaled(i) for i in range(3)),
    ],
)
def test_what_is_read_in_a_function_that_the_library_calls(f):
    """A list that such a function reads is looked at before a record stands for the function."""
    fast = pb.compile(pb.grad(f))
    for scale in (2.0, 2.0, 3.0, 3.0, 2.0):
        SCALE[0] = scale
        np.testing.assert_array_equal(called(fast, X)[1], pb.grad(f)(X))


class TestWatch:
    def test_halts_where_the_call_would_be_made(self):
        watch = Watch()
        with pytest.raises(Halt), watch:
            time.time()
        assert watch.effects == ["it calls `time.time`"]
        assert WATCHING.get() is None

    def test_notes_code_with_its_globals(self):
        watch = Watch()
        with watch:
            sorted([1.0], key=scaled)
        assert [(code, scope) for code, scope in watch.codes.values()] == [
            (scaled.__code__, globals())
        ]

    def test_methods_of_classes_derived_from_builtin_ones(self):
        """They are the builtin class's: what they store is found as that of a list is."""

        class Mine(list):
            pass

        class Rng(random.Random):
            pass

        mine, watch = Mine(), Watch()
        with watch:
            mine.append(1)
        assert (mine, watch.effects) == ([1], [])
        rng = Rng(0)
        with pytest.raises(Halt), watch:
            rng.getrandbits(3)

    def test_generators_that_began_before(self):
        generator, watch = numbers(), Watch()
        next(generator)
        with pytest.raises(Halt), watch:
            next(generator)
        assert watch.effects == ["it calls `print`"]

    def test_finders_of_modules(self, monkeypatch):
        """Setuptools has one in Python, which may be asked where nothing is imported."""

        class Finder:
            def find_spec(self, name, path=None, target=None):
                asked.append(name)

        asked = []
        monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
        with Watch() as watch:
            importlib.util.find_spec("pullback.nothing")
        assert asked == ["pullback.nothing"]
        assert not watch.codes
        assert not watch.effects

    def test_entries_of_weak_dictionaries_that_go(self):
        """An object dies where Python looks for garbage, which may be in a line of the user's."""
        values, keys, held = weakref.WeakValueDictionary(), weakref.WeakKeyDictionary(), Later()
        values["x"], keys[held] = held, "x"
        with Watch() as watch:
            del held
        assert not watch.effects
        assert not list(values.items()) + list(keys.items())

    def test_nothing_stays_behind(self):
        profile = sys.getprofile()
        for _ in range(3):
            with pytest.raises(ZeroDivisionError), Watch():
                1 / 0  # noqa: B018  # raises
        assert sys.getprofile() is profile
        called(time.time)

    def test_what_is_unwatched_is_watched_again_after_an_error(self):
        with Watch() as watch:
            with contextlib.suppress(KeyError), unwatched():
                {}["x"]
            with contextlib.suppress(Halt):
                time.time()
        assert watch.effects == ["it calls `time.time`"]

    def test_imports_of_the_library_s_own_are_not_the_program_s(self, tmp_path, monkeypatch):
        (tmp_path / "imported_meanwhile.py").write_text("import colorsys as module\n")
        monkeypatch.syspath_prepend(tmp_path)
        with Watch() as watch, unwatched():
            importlib.import_module("imported_meanwhile")
        assert not watch.imports
        assert not watch.effects

    def test_nor_are_those_within_the_library(self, tmp_path, monkeypatch):
        """As that of LLVM, where a recording is the first that needs it."""
        (tmp_path / "imported_within.py").write_text("import colorsys as module\n")
        monkeypatch.syspath_prepend(tmp_path)
        code = compile("def ours(name): __import__(name)", "ours", "exec")
        scope = {"__name__": "pullback.compiler.llvm.binding"}
        exec(code, scope)
        with Watch() as watch:
            scope["ours"]("imported_within")
        assert not watch.imports

    def test_imports_are_seen_after_those_of_libraries(self, tmp_path, monkeypatch):
        (tmp_path / "imported_afterwards.py").write_text("x = 3\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "colorsys", raising=False)
        with Watch() as watch:
            import colorsys  # noqa: F401  # the import itself counts
        assert not watch.imports
        with pytest.raises(Halt), Watch() as watch:
            import imported_afterwards  # noqa: F401  # the same
        assert watch.imports

    def test_what_a_library_s_new_module_looks_for_it_looks_for_once(self, tmp_path, monkeypatch):
        """As `scipy.sparse.linalg` does for a package that may be absent."""
        home = tmp_path / "colorsys.py"
        home.write_text("try: import absent_parent.absent\nexcept ImportError: pass\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "colorsys", raising=False)
        with Watch() as watch:
            import colorsys
        assert colorsys.__file__ == str(home)
        assert not watch.imports

    def test_a_profile_goes_on(self):
        f = pb.compile(lambda x: np.sin(x) * x, wait=True)
        with cProfile.Profile() as profile:
            for _ in range(3):
                f(X)
            operator.index(3)
        assert "Machine code" in f.why()
        called = [str(entry.code) for entry in profile.getstats()]
        assert any("operator.index" in name for name in called), called
        assert sys.getprofile() is None

    @pytest.mark.skipif(sys.version_info >= (3, 12), reason="calls are not watched by a profile")
    def test_a_profiler_that_cannot_be_stopped_is_left_alone(self, monkeypatch):
        f = pb.compile(lambda x: np.sin(x) * x, wait=True)
        monkeypatch.setattr(sys, "getprofile", object)  # as if it ran
        for _ in range(3):
            np.testing.assert_array_equal(f(X), np.sin(X) * X)
        assert "Machine code" not in f.why()
        monkeypatch.undo()
        for _ in range(3):
            f(X)
        assert "Machine code" in f.why()

    def test_other_threads_are_not_watched(self):
        stop, counted = threading.Event(), []

        def work():
            while not stop.is_set():
                counted.append(time.time())
                np.sum(np.arange(3.0))

        thread, watch = threading.Thread(target=work), Watch()
        thread.start()
        try:
            with watch:
                for _ in range(200):
                    scaled(1.0)
            n = len(counted)
            while len(counted) == n:
                time.sleep(0.001)
        finally:
            stop.set()
            thread.join()
        assert [code for code, _ in watch.codes.values()] == [scaled.__code__]
        assert not watch.effects

    def test_threads_that_are_watched_at_once(self):
        effects, ready = [], threading.Barrier(4)

        def work(read):
            watch = Watch()
            ready.wait()
            for _ in range(30):
                with contextlib.suppress(Halt), watch:
                    scaled(1.0)
                    read()
            effects.append(len(watch.effects))

        reads = [time.time, time.time, float, float]
        threads = [threading.Thread(target=work, args=(read,)) for read in reads]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(effects) == [0, 0, 30, 30]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
    @pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
    def test_a_process_that_is_forked_while_another_thread_is_watched(self):
        begun, stop = [], []

        def work():
            with Watch():
                begun.append(True)
                while not stop:
                    scaled(1.0)

        thread = threading.Thread(target=work)
        thread.start()
        while not begun and thread.is_alive():
            time.sleep(0.001)
        child = os.fork()
        if not child:
            os._exit(len(WATCHES))
        try:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert thread.is_alive()
        finally:
            stop.append(True)
            thread.join()


def test_recordings_within_recordings_search_for_garbage_as_seldom_as_python_can():
    """Each multiplies the threshold of the one around it."""
    f, before = np.sum, gc.get_threshold()
    for _ in range(6):
        f = pb.compile(lambda x, f=f: f(x) * 1.0)
    assert f(np.ones(3)) == 3.0
    assert gc.get_threshold() == before


def test_collections_are_as_often_as_before():
    """Garbage is collected as often as before once a call has been recorded, or has failed."""
    before = gc.get_threshold()
    pb.compile(pb.grad(lambda x: np.sum(np.sin(x))))(X)
    assert gc.get_threshold() == before
    with pytest.raises(TypeError):
        pb.compile(lambda x: x + None)(X)
    assert gc.get_threshold() == before


def repeated(x, steps):
    for _ in range(steps):
        x = np.sin(x) * 0.5 + x * 0.1
    return np.sum(x)


class TestCost:
    def test_events_of_an_operation(self, monkeypatch):
        """A profile function is not called for what the library does to write an operation down."""
        counted = []
        seen = Watch.seen

        def counting(self, frame, event, arg):
            counted.append(event)
            return seen(self, frame, event, arg)

        monkeypatch.setattr(Watch, "seen", counting)
        events = []
        for steps in (600, 1200):  # in machine code, both
            del counted[:]
            pb.compile(pb.grad(functools.partial(repeated, steps=steps)))(X)
            events.append(len(counted))
        assert events[1] - events[0] <= 4 * 600 * 13

    def test_grows_with_the_number_of_operations_and_no_faster(self):
        def first_call(steps):
            pb.compile(pb.grad(functools.partial(repeated, steps=steps)))(X)

        assert grows(first_call, 1000) < 6

    def test_leaves_no_garbage(self):
        """A record is gone when its loops have been found; nobody has to search for it."""
        found = []
        for steps in (200, 400):
            f = pb.compile(pb.grad(functools.partial(repeated, steps=steps)))
            gc.collect()
            gc.disable()
            try:
                f(X)
                found.append(gc.collect())
            finally:
                gc.enable()
        assert found[1] - found[0] < 200


class Collecting:
    """Is told when garbage is looked for, and looks at the clock."""

    def __init__(self):
        self.times = []

    def __call__(self, phase, info):
        self.note()

    def note(self):
        self.times.append(time.perf_counter())


def test_what_is_told_of_garbage_is_no_part_of_the_program():
    """It may run at any time, in the middle of a function of the user's."""
    told = Collecting()
    before = []

    def tell(phase, info):
        before.append(time.perf_counter())

    def f(x):
        for _ in range(3):
            x = np.sin(x)
            np.zeros(1).tolist()
        return np.sum(x)

    threshold = gc.get_threshold()
    gc.callbacks.extend([told, tell])
    gc.set_threshold(1)
    try:
        g = pb.compile(pb.grad(f))
        for _ in range(3):
            np.testing.assert_allclose(g(X), pb.grad(f)(X))
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(told)
        gc.callbacks.remove(tell)
    assert told.times
    assert before
    assert g.refusal is None
    assert g.cache_info().hits == 2

"""A recording that was stopped ends, whatever the program catches, and leaves no effect behind.

Each program makes one of EFFECTS where one of CATCHERS catches all that is raised. A call with an
effect isn't recorded, so each effect is there as often as the plain function makes it.
"""

import contextlib
import os
import sys
import threading
import types

import numpy as np
import pytest

import pullback as pb
from tests.budgets import LONG

HEAD = """
import contextlib, functools, itertools, os, random, sys, time, warnings
import numpy as np
class Quiet:
    def __enter__(self): return self
    def __exit__(self, *error): return True
class Plain:
    real = 1.0
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return 2.0
@contextlib.contextmanager
def quiet():
    try: yield
    except BaseException: pass
@contextlib.contextmanager
def told(text):
    try: yield
    finally: os.write(FD, text)
PLAIN = Plain()
LATE = {}
"""
# What a recording stops at; with `x` and `begun`, from a clock, and true once it is done.
EFFECTS = {
    "a call of C": "os.write(FD, b'a') > 0",
    "a clock": "begun > 1",
    "random numbers": "random.random() >= 0",
    "a name that is computed": "getattr(PLAIN, 're' + 'al' + '_x' * (begun is not None)) > 0",
    "new code": "(LATE.setdefault('f', eval('lambda: True')) or 1)()",
    "an import": "__import__('zz_there').there",
}
# Around the effect `DO`, which is made after all where the function runs as it is.
CATCHERS = {
    "a loop": """
    while True:
        try:
            DO
            break
        except: pass
""",
    "a loop that counts": """
    for k in range(3):
        try: DO
        except BaseException as error: kept = error
""",
    "loops in loops": """
    while True:
        try:
            for _ in itertools.count():
                try:
                    DO
                    break
                except: pass
            break
        except BaseException: pass
""",
    "a loop that waits": """
    done = False
    while not done:
        try: done = DO
        except: continue
""",
    "a loop that waits afterwards": """
    done = False
    try: done = DO
    except: pass
    while not done: pass
""",
    "a loop in a handler": """
    done = False
    try: done = DO
    except:
        while not done: pass
""",
    "a loop in a handler that tries": """
    try: DO
    except:
        while True:
            try:
                DO
                break
            except: pass
""",
    "a handler of something else": """
    try: raise ValueError
    except ValueError:
        while True:
            try:
                DO
                break
            except: pass
""",
    "another error": """
    while True:
        try:
            try:
                DO
                break
            except BaseException: raise KeyError from None
        except KeyError: pass
""",
    "an error that is its own context": """
    def tries():
        try: return DO
        except BaseException as error:
            other = KeyError()
            other.__context__ = other
            raise other from None
    while True:
        try:
            tries()
            break
        except KeyError as error:
            error.__context__ = error
            np.sum(x)
""",
    "finally, and on": """
    while True:
        try:
            DO
            done = True
        finally:
            if "done" in locals(): break
            continue
""",
    "finally, and out": """
    def tries():
        done = False
        try: done = DO
        finally: return done
    while not tries(): pass
""",
    "finally that tells": """
    try: DO
    finally: os.write(FD, b"b")
""",
    "a handler that tells": """
    try: DO
    except BaseException:
        os.write(FD, b"b")
        raise
""",
    "a context that tells": """
    with told(b"b"): DO
""",
    "suppress": """
    done = False
    while not done:
        with contextlib.suppress(BaseException):
            done = DO
""",
    "__exit__": """
    done = False
    while not done:
        with Quiet(): done = DO
""",
    "a context of a generator": """
    done = False
    while not done:
        with quiet(): done = DO
""",
    "filters of warnings": """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        DO
""",
    "a stack of contexts": """
    done = False
    while not done:
        with contextlib.ExitStack() as stack:
            stack.enter_context(Quiet())
            stack.enter_context(told(b"b"))
            done = DO
""",
    "a generator": """
    def tries():
        while True:
            try: done = DO
            except: done = False
            yield done
    next(filter(None, tries()))
""",
    "a generator that is thrown into": """
    def tries():
        while True:
            try: yield
            except GeneratorExit: return
            except BaseException: pass
    source = tries()
    next(source)
    while True:
        try:
            DO
            break
        except BaseException as error: source.throw(error)
""",
    "a coroutine": """
    async def tries():
        try: return DO
        except BaseException: return False
    while True:
        try: tries().send(None)
        except StopIteration as out:
            if out.value: break
""",
    "recursion": """
    def tries(n):
        try: n and tries(n - 1)
        except BaseException: pass
        try: return DO if n == 0 else tries(n - 1)
        except BaseException: return tries(n - 1) if n else False
    while not tries(4): pass
""",
    "a helper on one line": """
    def tries():
        try: return DO
        except: return False
    while not tries(): pass
""",
    "a comprehension on one line": """
    def tries():
        try: return DO
        except: return False
    any(tries() for _ in itertools.count())
""",
    "a loop in C": """
    def tries(_):
        try: return DO
        except: return False
    any(map(tries, itertools.count()))
""",
    "a decorator": """
    def again(f):
        @functools.wraps(f)
        def tries(*args):
            while True:
                try: return f(*args)
                except BaseException: pass
        return tries
    @again
    @again
    def does(): return DO
    does()
""",
    "all on one line": """
    while not run(f, lambda: DO): pass
""",
    "an operator": """
    class Truth:
        def __bool__(self):
            try: return bool(DO)
            except: return False
    while not Truth(): pass
""",
    "an attribute": """
    class Asked:
        def __getattr__(self, name):
            try: return DO
            except: raise AttributeError(name)
    while not hasattr(Asked(), "x"): pass
""",
    "a lambda": """
    def tries(f, otherwise):
        try: return f()
        except: return otherwise()
    tries(lambda: DO, lambda: tries(lambda: DO, lambda: False))
""",
}
RUN = """
def run(f, do):
    try: return do()
    except: return False
"""
SECONDS = 300  # for all of one effect; one that doesn't end takes for ever


def made(name, effect, fd):
    """The function of one program, in a module of its own."""
    module = types.ModuleType("zz_swallowed")
    body = CATCHERS[name].replace("DO", f"({EFFECTS[effect]})")
    text = f"def f(x):\n    begun = time.time()\n{body}\n    return np.sum(x) * 2.0\n"
    vars(module)["FD"] = fd
    sys.modules[module.__name__] = module
    exec(HEAD + RUN + text, vars(module))
    return module.f


def told(f, x, fd):
    """What four calls give, and how much they have written."""
    sys.modules.pop("zz_there", None)
    before = os.lseek(fd, 0, os.SEEK_CUR)
    found = [float(f(x)) for _ in range(4)]
    return found, os.lseek(fd, 0, os.SEEK_CUR) - before


def tried(effect):
    """All catchers for the first effect, and for each of the others a third of them."""
    i = list(EFFECTS).index(effect)
    return list(CATCHERS) if i == 0 or LONG else list(CATCHERS)[i % 3 :: 3]


@pytest.mark.share(2)
@pytest.mark.timeout(SECONDS, method="thread")  # a signal's exception would be caught as well
@pytest.mark.filterwarnings("ignore")  # some fall back to Python
@pytest.mark.parametrize("effect", EFFECTS)
def test_recordings_end_and_leave_no_effect(effect, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zz_swallowed", None)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "zz_there.py").write_text("there = True")
    x, wrong = np.array([0.7, 1.25, 0.375]), []
    fd = os.open(tmp_path / "told", os.O_RDWR | os.O_CREAT)
    tracing, profiling = sys.gettrace(), sys.getprofile()
    try:
        for name in tried(effect):
            right = told(made(name, effect, fd), x, fd)
            found = told(pb.compile(made(name, effect, fd), wait=True), x, fd)
            if found != right:
                wrong.append((name, found, right))
            if (sys.gettrace(), sys.getprofile()) != (tracing, profiling):
                wrong.append((name, "what is told of lines and calls"))
            if sys.exc_info()[1] is not None:
                wrong.append((name, "what is being handled"))
    finally:
        os.close(fd)
    assert not wrong


LOCK = threading.Lock()
LET_GO = []


class Held:
    """Holds a lock until it is let go."""

    def __init__(self):
        LOCK.acquire()

    def __del__(self):
        LET_GO.append(LOCK.locked())
        LOCK.release()


def cleans_up(x):
    LOCK.acquire()
    try:
        print(end="")
        return np.sum(x)
    finally:
        LOCK.release()


def cleans_up_by_with(x):
    with LOCK:
        print(end="")
        return np.sum(x)


def cleans_up_by_with_within_with(x):
    with contextlib.suppress(ValueError):
        with LOCK, contextlib.ExitStack() as stack:
            stack.callback(float, 1.0)
            print(end="")
        return np.sum(x)


def held():
    with LOCK:
        yield 1.0
        yield 2.0


def cleans_up_by_a_generator(x):
    for y in held():
        print(end="")
        if y == 1.0:
            break
    return np.sum(x)


def cleans_up_by_generators_of_generators(x):
    def outer():
        try:
            yield from held()
        finally:
            len("")

    steps = outer()
    next(steps)
    print(end="")
    steps.close()
    return np.sum(x)


def goes_on_after_cleaning(x):
    for _ in range(2):
        with contextlib.suppress(BaseException):
            cleans_up(x)
    return np.sum(x)


def lets_go(x):
    for _ in range(2):
        try:
            held = Held()
            print(end="")
        except BaseException:
            pass
        held = None  # noqa: F841  # that it is let go is what is tested
    return np.sum(x)


CLEAN_UP = [cleans_up, cleans_up_by_with, cleans_up_by_with_within_with]
CLEAN_UP += [cleans_up_by_a_generator, cleans_up_by_generators_of_generators]
CLEAN_UP += [goes_on_after_cleaning, lets_go]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", CLEAN_UP)
def test_what_cleans_up_may_do_so(f):
    x = np.array([0.7, 1.25, 0.375])
    fast = pb.compile(f, wait=True)
    assert [fast(x) for _ in range(4)] == [np.sum(x)] * 4
    assert fast.refusal is not None
    assert not LOCK.locked()

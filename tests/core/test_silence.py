"""What gives no warnings here changes nothing for other threads."""

import ast
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from pullback.core.silence import without_warnings

X = np.array([1.25, 2.5, 3.5])


def refused(x):
    with pytest.raises(ValueError, match="reshape"):
        np.reshape(x, 7)
    with pytest.raises(ValueError, match="casting"):
        np.add(x, x, casting="bad")
    return np.sum(x)


def iterated(x):
    iterator = iter([1.0, 2.0])
    return pb.fori_loop(0, 2, lambda i, c: c * 2.0 + 0 * len([iterator]), x[0])


def iteratively(x):
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import cg

    return np.sum(cg(csr_array(np.eye(3)) * 2.0, x)[0])


@pytest.fixture
def switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switching")
@pytest.mark.parametrize(("program", "times"), [(refused, 60), (iterated, 5), (iteratively, 5)])
def test_threads_leave_the_filters_as_they_were(program, times):
    program(X)  # what it imports may add filters
    before = list(warnings.filters)
    slopes = []

    def work():
        slopes.extend([pb.grad(program)(X) for _ in range(times)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(slopes) == 4 * times
    assert list(warnings.filters) == before


def heard_within(inside, outside):
    """Whether a warning is heard from this thread, and from another, while one is silent."""

    def ask(name):
        warnings.warn(name, inside, stacklevel=1)

    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        with without_warnings(outside):
            ask("here")
            other = threading.Thread(target=ask, args=("there",))
            other.start()
            other.join()
        ask("later")
    return {str(each.message) for each in met}


def test_only_this_thread_is_silent_and_only_of_what_is_named():
    assert heard_within(UserWarning, Warning) == {"there", "later"}
    assert heard_within(DeprecationWarning, DeprecationWarning) == {"there", "later"}
    assert heard_within(UserWarning, DeprecationWarning) == {"here", "there", "later"}


def test_filters_that_others_keep_meanwhile_are_left_as_they_were():
    before = list(warnings.filters)
    kept = warnings.catch_warnings()
    with without_warnings():
        kept.__enter__()
        with without_warnings():
            pass
    kept.__exit__(None, None, None)
    assert list(warnings.filters) == before
    with warnings.catch_warnings():
        with without_warnings():
            warnings.simplefilter("error")
        assert warnings.filters[0][0] == "error"
    assert list(warnings.filters) == before


def test_a_refused_call_warns_as_it_does_outside_of_a_derivative():
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        pb.grad(refused)(X)
    assert not met


# `testing` is the tests' own; a rehearsal runs the program's code, which may change the filters.
MAY_KEEP_FILTERS = {"testing.py", "compiler/call/rehearsal.py"}


def test_nothing_else_keeps_and_restores_the_filters_of_all_threads():
    root = Path(pb.__file__).parent
    sources = {str(x.relative_to(root)): x.read_text() for x in root.rglob("*.py")}
    names = {name for name, text in sources.items() if "catch_warnings" in text and keeps(text)}
    assert names == MAY_KEEP_FILTERS


def keeps(source):
    calls = [x for x in ast.walk(ast.parse(source)) if isinstance(x, ast.Call)]
    return any(ast.unparse(x.func) == "warnings.catch_warnings" for x in calls)

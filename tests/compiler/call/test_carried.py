"""What is read, changed and stored between calls: compiled as plain, and it stays compiled."""

import contextlib
import random
import sys
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.budgets import LONG
from tests.fuzz_carried import KINDS, PLACES, Program, fill, function

GROUPS = 5  # odd, so that each has programs of both parities
PROGRAMS = 20_000 if LONG else 200


def close(a, b):
    """The same up to the rounding of a few calls."""
    assert type(a) is type(b), (a, b)
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            close(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        close(list(a.values()), list(b.values()))
    elif isinstance(a, (np.ndarray, np.generic, float, complex)):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    else:
        assert a == b


def agree(program, change):
    plain = list(program.run(lambda f: f))
    for k, got in enumerate(program.run(change)):
        try:
            close(got, plain[k])
        except AssertionError as error:
            done = "\n".join(program.actions[: k + 1])
            error.add_note(f"{program.text}\n\n{done}")
            raise


@pytest.mark.share(8)
@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("wait", [True, False])
def test_whatever_is_stored_and_changed(group, wait):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # some fall back to Python
        for seed in range(group, PROGRAMS, GROUPS):
            if seed % 2 == wait:
                agree(Program(seed), lambda f: pb.compile(f, wait=wait))


@pytest.mark.parametrize("seed", [11829])  # a list of carried arrays as `out=`
def test_what_failed_once(seed):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # some fall back to Python
        for wait in (True, False):
            agree(Program(seed), lambda f, wait=wait: pb.compile(f, wait=wait))


# These depend on values, or are integers that NumPy has otherwise: a record for each, or none.
BY_VALUE = ["round({v}", "str({v})", "& 7", "np.float32(2)"]
UPDATES = [
    (kind, first, update)
    for kind, (firsts, updates, _) in KINDS.items()
    for first in firsts
    for update in updates
    if not any(x in update for x in BY_VALUE)
]


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", KINDS)
def test_each_update_stays_compiled(kind):
    """In a place of some kind; when it is repeated, nothing of the function runs."""
    choose = random.Random(kind)
    for _, first, update in [x for x in UPDATES if x[0] == kind]:
        for place in PLACES if LONG else [choose.choice(PLACES)]:
            program = steady(place.format(n="a", i=0), first, update)
            made, runs = [], []

            def change(f, made=made):
                made.append(pb.compile(f, wait=True))
                return made[0]

            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("error", RuntimeWarning)  # of a function that falls back
                agree(program, change)
                list(program.run(change, lambda made=made, runs=runs: counted(made[-1], runs)))
            assert made[-1].refusal is None, program.text
            assert not any(runs[-4:]), (program.text, made[-1].why(), made[-1].cache_info())


def steady(place, first, update):
    """A program of one update, called many times."""
    program = Program(0, steady=True)
    body = [*fill(update, v=place).split("\n"), "return y"]
    program.text = function([f"{place} = {first}"], {"a": place}, body)
    program.actions = ["f(x * 0.5)"] * 16
    return program


@contextlib.contextmanager
def counted(fast, runs):
    """Note whether code of the function ran."""
    found = []

    def note(frame, event, arg):
        found.append(frame.f_code is fast.fun.__code__)

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        runs.append(any(found))


def test_a_place_that_is_given_what_it_had():
    """What it had is no input when it is recorded; for other inputs it is something new."""
    x = np.array([0.3, 0.7, 1.1])
    given = [x.astype("f4") * 0.5, x * np.inf, x * 0.5, x * 0.75, x * 0.75, x * 0.375, x + 1.0]

    def values(change):
        state, other = {"a": 1.5}, [np.full(3, 0.5)]

        def f(x):
            other[0] = np.linalg.solve(np.eye(3) * (1 + x[0] ** 2), other[0] + x)
            state["a"] = min(state["a"] * 1.5 + 0.1, 2.0)
            return x * 1.0

        f, out = change(f), []
        for x in [*given, True, np.zeros(3), given[1]]:
            if x is True:
                state["a"] = x
            else:
                f(x)
            out.append(state["a"])
        return out

    with np.errstate(all="ignore"):
        plain = values(lambda f: f)
        assert values(lambda f: pb.compile(f, wait=True)) == plain


def test_results_that_numpy_computes_again_have_memory_of_their_own():
    """Of NaN, `np.linalg.solve` may raise, so that NumPy is asked; the results are no arguments."""

    def f(x, matrix):
        return x * 1.0, x.copy(), np.linalg.solve(matrix, x)

    compiled = pb.compile(f, wait=True)
    x, matrix = np.array([0.5, 1.0, 2.0]), np.eye(3)
    for scale in (1.0, 2.0, np.nan, np.nan):
        first, second, _ = compiled(x, matrix * scale)
        shared = [np.may_share_memory(*pair) for pair in ((first, second), (first, x), (second, x))]
        assert not any(shared)

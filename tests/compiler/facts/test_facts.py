"""Whatever is changed of what a function can reach, compiled calls give what plain calls do."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.entry.state_checks import CHECKED
from pullback.compiler.facts.places import KINDS as PLACES
from tests.budgets import LONG
from tests.compiler.call.test_compile import equal
from tests.fuzz_facts import KINDS, MUTATIONS, READS, World, as_it_was, result

# Of random programs many a derivative is zero.
pytestmark = pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")

WORLDS = 4000 if LONG else 300
GROUPS = 20


@pytest.fixture(autouse=True)
def undone():
    """Settings and names of libraries are as they were."""
    with as_it_was():
        yield


def test_every_kind_of_place_has_mutations_and_checks():
    assert set(KINDS) == set(PLACES)
    assert {id(kind) for kind in CHECKED} == {id(kind) for kind in PLACES.values()}


@pytest.mark.share(3)
@pytest.mark.parametrize("group", range(GROUPS))
def test_whatever_changes_is_seen(group, undone):
    for seed in range(group, WORLDS, GROUPS):
        world = World(seed)
        f = world.module.f
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some fall back to Python
            fast = pb.compile(f)
            for mutation in [None, *world.mutations]:
                if mutation is not None:
                    world.change(mutation)
                for _ in range(3):
                    try:
                        equal(result(fast), result(f))
                    except AssertionError as error:
                        error.add_note(f"seed {seed}, after {mutation}:\n{world.text}")
                        raise


@pytest.mark.share(8)
@pytest.mark.parametrize("read", READS)
def test_each_thing_that_is_read(read, undone):
    """Every mutation, for a function that reads one thing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        world = World(0)
        exec(f"def f(x):\n    return x * ({read})\n", vars(world.module))
        f = world.module.f
        fast = pb.compile(f)
        for mutation in MUTATIONS:
            for _ in range(2):
                equal(result(fast), result(f))
            world.change(mutation)
            try:
                equal(result(fast), result(f))
            except AssertionError as error:
                error.add_note(f"after {mutation}")
                raise


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_each_mutation_changes_what_some_function_gives(mutation, undone):
    world, changed = World(0), []
    functions = [eval(f"lambda x: x * ({read})", vars(world.module)) for read in READS]
    before = [result(f) for f in functions]
    world.change(mutation)
    for f, was in zip(functions, before, strict=True):
        now = result(f)
        changed.append(type(now) is not type(was) or not np.array_equal(now, was))
    assert any(changed)


def test_a_dtype_with_fields_is_read_beside_what_is_stored():
    """Reading it makes nothing that looks like a thing of the program's."""
    pair = np.dtype([("p", "f8"), ("q", "f8")])

    def stored(k):
        held = {}
        held["k"] = k
        return held

    def f(x):
        return x * ("p" in pair.names) * stored(2.0)["k"]

    fast = pb.compile(f, wait=True)
    for x in np.arange(12.0).reshape(4, 3):
        equal(fast(x), f(x))
    assert fast.cache_info().paths == 1


@pytest.mark.share(6)
@pytest.mark.disk
def test_whatever_has_changed_when_a_later_process_begins(tmp_path):
    """One process records, and another one makes a change before its first call."""
    given = {**os.environ, "PULLBACK_CACHE": str(tmp_path)}

    def told(*args):
        command = [sys.executable, "-m", "tests.facts_process", *args]
        done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=3000)
        assert done.returncode == 0, done.stderr
        return done.stdout

    stored = int(told("first").split()[0])
    assert stored >= 80
    for seed in range(4 if LONG else 1):
        assert int(told("later", "3000" if LONG else "0", str(seed)).split()[0]) >= stored - 5

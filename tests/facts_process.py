"""Programs that one process records, and that a later one runs after one change of anything.

python -m tests.facts_process first       records them, and prints how many are on disk
python -m tests.facts_process later N S   makes each change that matters to some program, and N
                                          others, each in a world of its own, and compares

A program reads one thing of a world of `fuzz_facts`, or several. The later process finds its record
where nothing has changed; whatever has, the compiled function gives what the plain one does.
"""

import random
import sys
import warnings

import numpy as np

import pullback as pb
from pullback.compiler.call import budget
from tests.budgets import asked
from tests.compiler.call.test_compile import equal
from tests.fuzz_facts import MUTATIONS, READS, World, as_it_was, result

SEEDS = 40  # random programs, beside those that read one thing


def programs():
    """The texts of all programs."""
    return [
        *[f"def f(x):\n    return x * ({read})\n" for read in READS],
        *[World(seed).text for seed in range(SEEDS)],
    ]


def made(text):
    """A world with this program, as a process has it."""
    world = World(0)
    world.module.__name__ = "world"
    sys.modules["world"] = world.module
    exec(text, vars(world.module))
    return world


def paths_of(fast):
    return [path for entry in fast.entries.values() for path in entry.paths]


def first():
    stored = 0
    for text in programs():
        fast = pb.compile(made(text).module.f)
        with as_it_was():
            for _ in range(3):
                result(fast)
        stored += any(path.stored for path in paths_of(fast))
    print(f"{stored} of {len(programs())} on disk")


def differing(texts):
    """Each program with each change after which it gives something else."""
    found = []
    for mutation in MUTATIONS:
        with as_it_was():
            world, functions = made(""), []
            for text in texts:
                exec(text, vars(world.module))
                functions.append(world.module.f)
            before = [result(f) for f in functions]
            world.change(mutation)
            for text, f, was in zip(texts, functions, before, strict=True):
                now = result(f)
                if type(now) is not type(was) or not np.array_equal(now, was):
                    found.append((text, mutation))
    return found


def later(count, seed):
    choose = random.Random(seed)
    texts, found = programs(), 0
    every = [(text, mutation) for text in texts for mutation in MUTATIONS]
    changes = [*asked(differing(texts), 4), *choose.sample(every, count)]
    for text in texts:
        with as_it_was():
            fast = pb.compile(made(text).module.f)
            result(fast)
            found += bool(paths_of(fast)) and fast.cache_info().misses == 0
    for text, mutation in changes:
        with as_it_was():
            world = made(text)
            fast = pb.compile(world.module.f)
            world.change(mutation)
            for _ in range(2):
                try:
                    equal(result(fast), result(world.module.f))
                except AssertionError as error:
                    error.add_note(f"in a later process, after {mutation}:\n{text}")
                    raise
    print(f"{found} of {len(texts)} found, {len(changes)} changes")


if __name__ == "__main__":
    budget.CLOCK[0] = False
    warnings.simplefilter("ignore")  # some fall back to Python
    np.seterr(all="ignore")
    first() if sys.argv[1] == "first" else later(*map(int, sys.argv[2:]))

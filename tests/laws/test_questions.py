"""Law: rules ask nothing of values where only some operands are differentiated.

The others are plain arrays then, and `plain[x]` with a recorded x asks for all of its numbers. What
a program is recorded for must be its own questions: a compiled gradient whose rules ask as well is
recorded again for each new argument.
"""

import zlib
from unittest.mock import patch

from pullback import jvp, vjp
from pullback.testing import Problem, staged
from pullback.transforms.stage import StageTrace
from tests.budgets import LONG
from tests.laws.common import for_all_samples


def asked(program, x):
    """How often values are asked for while a program of x is recorded."""
    count, converts = 0, StageTrace.converts

    def counting(self, x, what):
        nonlocal count
        count += x.size > 0
        return converts(self, x, what)

    with patch.object(StageTrace, "converts", counting):
        staged(program, [x])
    return count


def check_questions(sample):
    """Both modes of a function of one of its operands ask what the function itself asks."""
    problem = Problem(sample)
    n = len(problem.xs)
    if n < 2:
        return
    for i in range(n) if LONG else [zlib.crc32(str(sample).encode()) % n]:

        def of_one(x, i=i):
            return problem(*problem.xs[:i], x, *problem.xs[i + 1 :])

        x = problem.xs[i]
        bars, dot = tuple([problem.like(out) for out in of_one(x)]), problem.like(x)
        itself = asked(of_one, x)
        assert asked(lambda x: vjp(of_one, x)[1](bars), x) == itself, f"backward, operand {i}"
        assert asked(lambda x: jvp(of_one, (x,), (dot,)), x) == itself, f"forward, operand {i}"


def chosen(sample):
    """One sample in three; in the long tests all of them."""
    return LONG or zlib.crc32(str(sample).encode()) % 3 == 0


test_questions = for_all_samples(check_questions, functions=2, only=chosen)

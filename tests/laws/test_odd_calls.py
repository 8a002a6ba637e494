"""A call that is a little wrong raises under a derivative what it raises in NumPy and SciPy.

`tests/odd_calls.py` changes one argument or keyword of each sample. What NumPy refuses is refused
by an error that a caller would have caught; what it answers has its value, or is refused by name.
"""

import pytest

from pullback.core.errors import ConversionError, MissingRuleError, UnknownNameError
from pullback.core.refusals import named
from tests.budgets import in_turn
from tests.laws.common import groups
from tests.laws.test_odd_arguments import compared
from tests.odd_calls import odd_calls
from tests.samples import served

FAMILIES = {
    "reductions", "statistics", "nanfunctions", "cumulative", "joining", "sorting", "queries",
    "quantiles", "elementwise", "parts", "special", "linalg", "contractions", "creation", "fft",
    "binning", "special_functions",
}  # fmt: skip
# Answered although NumPy refuses it, each for a reason.
ANSWERED = {
    ("like=x", "argument 1 is of one axis less"),  # an Array of no axes is no other type
    ("quantile", "argument 1 is of u1"),  # whose 1 - q NumPy lets wrap around to 255
    ("nanquantile", "argument 1 is of u1"),  # the same
    ("cov", "dtype='O'"),  # NumPy's own code takes the object that comes out for an array
}
# SciPy's own loop in single precision never ends.
ENDLESS = {
    (f"special.{f}", f"argument 0 is of {dtype}")
    for f in ("pro_cv", "obl_cv")
    for dtype in ("f2", "f4")
}
# What a caller is promised though NumPy has none of it: `round` of arrays is their numbers'.
PROMISED = ("Python's",)
# Answered otherwise: `where=` alone leaves undefined what NumPy then shows.
WRONG = {
    ("triu", "one more argument, 1.5"),  # NumPy's diagonals between whole numbers are cut twice
    # NumPy makes Python's timedelta of these, and here they stay NumPy's.
    *[(f, f"argument {i} is of m8[s]") for f in ("dot", "inner") for i in (0, 1)],
}
UNDEFINED = ("where=None", "where=(0,)", "where=[]")
OURS = ConversionError, MissingRuleError, UnknownNameError  # which say more than NumPy's TypeError


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_odd_calls(family):
    answered, wrong, other, asked = [], [], [], 0
    for name, pairs in groups().items():
        sample = pairs[0][1]
        if pairs[0][0] != family or isinstance(sample.fun, served):
            continue
        function = name.partition("-")[2]

        def chosen(what, name=name, function=function):
            known = (function, what) in ANSWERED | ENDLESS or function in PROMISED
            return not known and in_turn(f"{name} {what}", 40)

        for what, call, xs in odd_calls(sample, chosen):
            case = f"{name} {what}"
            theirs, ours, equal = compared(call, xs)
            asked += 1
            if theirs is None:
                wrong += [] if equal or what in UNDEFINED or (function, what) in WRONG else [case]
            elif ours is None:
                answered.append(case)
            elif not isinstance(ours, (named(type(theirs)), *OURS)):
                other.append(f"{case}: {type(theirs).__name__}, {type(ours).__name__}")
    assert (answered, wrong, other) == ([], [], [])
    assert asked

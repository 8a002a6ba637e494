"""Compiled functions that hear of NumPy's warnings: replays give none, so these run in Python.

A program may turn warnings into errors and catch them, or record them and look what came. Whatever
its filters and its way to set them, it gets what plain Python gets, from the first call on.
"""

import itertools
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked

IGNORE = "warnings.simplefilter('{}')".format("ignore")
COMPUTED = {"log": "np.log(x)", "quotient": "1.0 / x", "root": "np.sqrt(x)", "power": "x**-1.5",
            "overflow": "np.exp(400 * x) ** 2", "mean": "x / np.mean(x[:0] + x.sum() - x.sum())",
            "inside": "helper(x)", "nothing": "x * 2"}  # fmt: skip
RAISED = {
    "simple": "warnings.simplefilter('error')",
    "category": "warnings.filterwarnings('error', category=RuntimeWarning)",
    "message": "warnings.filterwarnings('error', message='.*encountered')",
    "after ignoring": f"{IGNORE}; warnings.simplefilter('error')",
    "by the list": "warnings.filters.insert(0, ('error', None, Warning, None, 0))",
    "ignored": IGNORE,
    "others": "warnings.simplefilter('error', DeprecationWarning)",
    "reset": "warnings.resetwarnings(); warnings.simplefilter('error', Warning)",
    **{
        f"behind one of {name}": f"warnings.simplefilter('error'); warnings.filterwarnings({about})"
        for name, about in {
            "text": "'always', message='of others'",
            "a module": "'default', module='elsewhere'",
            "a line": "'once', lineno=12345",
            "a class": "'ignore', category=DeprecationWarning",
        }.items()
    },
}
RECORDED = {
    "always": "warnings.simplefilter('always')",
    "category": "warnings.simplefilter('always', RuntimeWarning)",
    "reset": "warnings.resetwarnings()",
    "nothing": "warnings.filters",
    "ignored": IGNORE,
}
FORMS = {
    "caught": """
def f(x):
    with warnings.catch_warnings():
        {how}
        try:
            return {computed}
        except Warning:
            return x * 3
""",
    "in a class": """
class Strict:
    def __enter__(self):
        self.context = warnings.catch_warnings()
        self.context.__enter__()
        {how}
    def __exit__(self, *error):
        return self.context.__exit__(*error)
def f(x):
    try:
        with Strict():
            y = {computed}
    except RuntimeWarning as error:
        y = x + len(str(error))
    return y
""",
    "recorded": """
def f(x):
    with warnings.catch_warnings(record=True) as found:
        {how}
        y = {computed}
    return x * 0 + len(found) if found else y
""",
    "shown": """
def f(x):
    found, before = [], warnings.showwarning
    warnings.showwarning = lambda *about, **more: found.append(about)
    try:
        with warnings.catch_warnings():
            {how}
            y = {computed}
    finally:
        warnings.showwarning = before
    return x * 0 + len(found) if found else y
""",
    "shown inside": """
def f(x):
    found = []
    with warnings.catch_warnings():
        {how}
        warnings.showwarning = lambda *about, **more: found.append(about)
        y = {computed}
    return x * 0 + len(found) if found else y
""",
    "shown without filters": """
def f(x):
    found, before = [], warnings.showwarning
    warnings.showwarning = lambda *about, **more: found.append(about)
    y = {computed}
    warnings.showwarning = before
    return x * 0 + len(found) if found else y
""",
    "looped over": """
def f(x):
    with warnings.catch_warnings(record=True) as found:
        {how}
        y = {computed}
    for each in found:
        y = y * 0 + len(str(each.message))
    return y
""",
}
CASES = [
    (form, how, computed, outside)
    for form, ways in zip(FORMS, [RAISED, RAISED, *[RECORDED] * 5], strict=True)
    for how, computed, outside in itertools.product(
        ways.items(), COMPUTED.items(), ["default", "ignore", "always"]
    )
]
CALM, LOUD = np.array([1.5, 0.5]), np.array([0.0, -1.0])


def made(form, how, computed):
    scope = {"np": np, "warnings": warnings, "__name__": "program"}
    exec("def helper(x):\n    with np.errstate(under='ignore'):\n        return np.log(x)", scope)
    exec(FORMS[form].format(how=how, computed=computed), scope)
    return scope["f"]


def outcomes(f, outside, calls):
    """What the calls give while the filters outside are these."""
    found = []
    for x in calls:
        with warnings.catch_warnings(record=True):  # the programs warn on purpose
            warnings.simplefilter(outside)
            with np.errstate(all="warn"):
                found.append(np.asarray(f(x)).tolist())
    return found


@pytest.mark.parametrize("part", range(4))
def test_warnings_that_are_heard(part):
    for form, (name, how), (kind, computed), outside in asked(CASES[part::4], 12, str(part)):
        plain, function = made(form, how, computed), made(form, how, computed)
        fast = pb.compile(function, wait=True)
        calls = [CALM, CALM, LOUD, CALM, LOUD]
        right, out = outcomes(plain, outside, calls), outcomes(fast, outside, calls)
        message = f"{form}, {name}, {kind}, {outside}"
        np.testing.assert_allclose(out, right, rtol=1e-13, err_msg=message)


@pytest.mark.filterwarnings("ignore")  # the programs warn, which is what they are for
@pytest.mark.parametrize("form", ["caught", "in a class"])
@pytest.mark.parametrize("name", ["ignored", "others"])
def test_filters_that_hear_nothing_stay_compiled(form, name):
    fast = pb.compile(made(form, RAISED[name], "np.log(x)"), wait=True)
    for _ in range(3):
        fast(CALM)
    assert fast.refusal is None
    assert fast.cache_info().hits == 2

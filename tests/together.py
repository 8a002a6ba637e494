"""Many small cases in one test, which names those that fail: each test costs a millisecond."""

import functools

import pytest


def try_all(check, cases):
    """Call `check(*arguments)` for each case of a list of (name, arguments), and name failures."""
    failures = []
    for name, arguments in cases:
        try:
            check(*arguments)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"case: {name}")
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} cases", failures)


def together(cases, names=None):
    """Make a check of one case, a tuple of arguments, a test of all of these cases."""
    cases = list(cases)
    names = list(map(str, cases)) if names is None else list(names)
    pairs = list(zip(names, cases, strict=True))

    def decorate(check):
        @functools.wraps(check)
        def test():
            try_all(check, pairs)

        del test.__wrapped__  # by which pytest would ask for the arguments as fixtures
        return test

    return decorate

"""`out=` that is given by its place does what it does by its name."""

import inspect

import numpy as np
import pytest

import pullback as pb

X = np.array([[1.3, 0.4, 2.2], [0.7, 1.9, 0.2], [1.1, 0.6, 0.9]])
ROWS = {"axis": 0, "dtype": None, "a_min": 0.5, "a_max": 2.0, "q": 0.3, "indices": [2, 0, 1],
        "condition": [True, False, True], "decimals": 15, "norm": None, "n": None, "s": None,
        "offset": 0, "axis1": 0, "axis2": 1, "axes": (0, 1)}  # fmt: skip
OPERANDS = {"a", "b", "x"}
NAMES = [
    (room, name)
    for room in (np, np.fft)
    for name in dir(room)
    if callable(getattr(room, name)) and not isinstance(getattr(room, name), (type, np.ufunc))
]


def parameters(room, name):
    try:
        found = inspect.signature(getattr(room, name)).parameters
    except (TypeError, ValueError):
        return []
    return [p.name for p in found.values() if p.kind is not p.KEYWORD_ONLY]


def calls(room, name):
    """The call by name and by place, of a function that takes an array of floats."""
    function, names = getattr(room, name), parameters(room, name)
    between = names[: names.index("out")]

    def given(x):
        arrays = {"arrays": (x, 2 * x), "choices": (x, 2 * x, x + 1)}
        axis = {"axis": 1} if room is np.fft else {}
        values = {**ROWS, **axis, **arrays, **dict.fromkeys(OPERANDS, x)}
        if "choices" in between:
            values["a"] = np.array([2, 0, 1])
        return [values[key] for key in between]

    def by_place(x, out):
        function(*given(x), out)

    def by_name(x, out):
        function(*given(x), out=out)

    return by_place, by_name, given


CASES = [(r, n) for r, n in NAMES if "out" in parameters(r, n) and "day" not in n]


@pytest.mark.parametrize(("room", "name"), CASES, ids=[name for _, name in CASES])
def test_out_by_its_place(room, name):
    by_place, by_name, given = calls(room, name)
    expected = getattr(room, name)(*given(X))

    def loss(call):
        def f(x):
            out = np.zeros(np.shape(expected), np.asarray(expected).dtype)
            call(x, out)
            return np.sum(np.abs(out) * np.cos(np.arange(out.size)).reshape(out.shape))

        return f

    if np.asarray(expected).dtype.kind in "bi":
        return
    np.testing.assert_allclose(loss(by_place)(X), loss(by_name)(X))
    wanted = pb.grad(loss(by_name))(X)
    assert np.any(wanted != 0) or name in ("around", "round", "fix")
    for _ in range(2):  # the second call knows the way of the first
        np.testing.assert_array_equal(pb.grad(loss(by_place))(X), wanted)

"""`pullback.bottleneck` against NumPy, window by window; bottleneck itself is not needed."""

import warnings

import numpy as np

import pullback.bottleneck as ours
from pullback.testing import check_grads

A = np.sin(1.7 * np.arange(24.0)).reshape(4, 6)
HOLED = np.where(np.arange(24).reshape(4, 6) == 8, np.nan, A)
REDUCTIONS = {
    "ss": lambda x, **options: np.sum(x * x, **options),
    "anynan": lambda x, **options: np.any(np.isnan(x), **options),
    "allnan": lambda x, **options: np.all(np.isnan(x), **options),
}


def moved(name, x, window, min_count=None, axis=-1, **options):
    reduce = getattr(np, name.replace("move_", "nan"))

    def along(row):
        out = np.full(len(row), np.nan)
        for i in range(len(row)):
            part = row[max(0, i - window + 1) : i + 1]
            if np.sum(~np.isnan(part)) >= (min_count or window):
                out[i] = reduce(part, **options)
        return out

    return np.apply_along_axis(along, axis, x)


def calls():
    for name in ours.__all__:
        windowed = name.startswith("move_")
        expected = REDUCTIONS.get(name) or getattr(np, name, None)
        for axis in (0, 1) if windowed else (None, 0, 1):
            for ddof in ({}, {"ddof": 1}) if name[-3:] in ("std", "var") else ({},):
                if not windowed:
                    yield name, expected, {"axis": axis, **ddof}
                    continue
                for count in ({}, {"min_count": 2}):
                    options = {"window": 3, "axis": axis, **count, **ddof}
                    yield name, lambda x, name=name, **o: moved(name, x, **o), options


def test_functions():
    wrong = []
    for name, expected, options in calls():
        function = getattr(ours, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of windows with too few numbers
            for x in (A, HOLED):
                out = function(x, **options)
                if not np.allclose(out, expected(x, **options), equal_nan=True):
                    wrong.append((name, options, "value"))
            if np.asarray(out).dtype.kind == "f":
                try:
                    check_grads(lambda x, f=function, o=options: np.nan_to_num(f(x, **o)), (A,))
                except AssertionError as error:
                    wrong.append((name, options, str(error)))
    assert wrong == []

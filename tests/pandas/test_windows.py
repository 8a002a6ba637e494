"""What windows and groups of a column give under a transformation is what pandas gives."""

import itertools

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked

pd = pytest.importorskip("pandas")

DATES = pd.to_datetime("2024-01-01") + pd.to_timedelta([0, 1, 3, 4, 4, 7, 8, 9, 12], unit="D")
N = len(DATES)
KEYS = np.array(list("abcabcaab"))
OTHER = np.array([1.0, 2.0, 0.5, 3.0, 1.5, 2.5, 0.7, 1.1, 0.2])
FULL = np.array([0.9, 1.4, 0.55, 1.93, 1.21, 0.71, 1.67, 0.83, -0.4])
NUMBERS = {
    "full": FULL,
    "gaps": np.where(np.arange(N) % 3 == 1, np.nan, FULL),
    "late": np.where(np.arange(N) < 4, np.nan, FULL),
    "none": np.full(N, np.nan),
    "alike": np.full(N, 0.1),
    "some alike": np.where(np.arange(N) < 5, 0.1, FULL),
    "infinite": np.where(np.arange(N) == 4, np.inf, FULL),
}
ROLLED = [
    *({"window": n, "min_periods": m} for n in (3, 20) for m in (None, 0, 1, 2)),
    {"window": 1, "min_periods": 0}, {"window": 1},
    {"window": 3, "center": True}, {"window": 4, "center": True, "min_periods": 1},
    *({"window": 3, "min_periods": 1, "closed": c} for c in ("left", "right", "both", "neither")),
    {"window": 3, "step": 2}, {"window": "3D"}, {"window": "3D", "closed": "left"},
    {"window": "4D", "min_periods": 2, "closed": "both"}, {"window": 0, "min_periods": 0},
]  # fmt: skip
SAYS = {
    "sum": {}, "mean": {}, "median": {}, "min": {}, "max": {}, "skew": {}, "kurt": {}, "sem": {},
    "count": {}, "nunique": {}, "first": {}, "last": {}, "rank": {}, "std": {"ddof": 0},
    "var": {"ddof": 2}, "quantile": {"q": 0.3, "interpolation": "higher"},
    "cov": {"other": pd.Series(OTHER, DATES)}, "corr": {"other": pd.Series(OTHER, DATES)},
    "apply": {"func": np.ptp, "raw": True}, "agg": {"func": "mean"},
}  # fmt: skip
WEIGHTS = [
    ("gaussian", {"std": 0.9}), ("exponential", {"tau": 1.2, "center": 0, "sym": False}),
    ("general_gaussian", {"power": 1.5, "width": 2.0}), ("triang", {}), ("boxcar", {}),
]  # fmt: skip
DECAYED = [
    {"alpha": 0.4, "adjust": a, "ignore_na": i, "min_periods": m}
    for a, i, m in itertools.product((True, False), (True, False), (0, 2))
]


def of(x):
    return pd.Series(x, DATES)


def table(x):
    return pd.DataFrame({"key": KEYS, "x": x}, index=DATES).groupby("key").x


def rolled(options, how):
    given = SAYS[how]
    return lambda x: getattr(of(x).rolling(**options), how)(**given)


def weighted(kind, given, options, how):
    return lambda x: getattr(of(x).rolling(win_type=kind, **options), how)(**given)


def expanded(least, how):
    return lambda x: getattr(of(x).expanding(least), how)(**SAYS[how])


def decayed(options, how, given):
    return lambda x: getattr(of(x).ewm(**options), how)(**given)


def grouped(ask):
    return lambda x: ask(table(x))


def cases():
    for options, how in itertools.product(ROLLED, SAYS):
        yield f"rolling({options}).{how}", rolled(options, how)
    few = [(3, None, False), (3, 1, False), (4, 2, True), (1, 0, False)]
    few = [dict(zip(("window", "min_periods", "center"), x, strict=True)) for x in few]
    for (kind, given), options, how in itertools.product(
        WEIGHTS, few, ("mean", "sum", "var", "std")
    ):
        yield f"rolling({kind}, {options}).{how}({given})", weighted(kind, given, options, how)
    for least, how in itertools.product((0, 1, 3), SAYS):
        yield f"expanding({least}).{how}", expanded(least, how)
    other = {"other": pd.Series(OTHER, DATES)}
    for options in DECAYED:
        asked = {"mean": {}, "std": {}, "var": {"bias": True}, "cov": other, "corr": other}
        asked |= {"sum": {}} if options["adjust"] else {}
        for how, given in asked.items():
            yield f"ewm({options}).{how}", decayed(options, how, given)
    for name, ask in GROUPED.items():
        yield name, grouped(ask)
    for how in ("sum", "mean", "std", "var", "sem", "min", "max", "median", "prod", "skew", "kurt"):
        yield f"column {how}", lambda x, how=how: pd.Series([getattr(of(x), how)()])
        yield f"table {how}", lambda x, how=how: getattr(of(x).to_frame(), how)()
        yield f"rows {how}", lambda x, how=how: getattr(pd.DataFrame([x, x]), how)(axis=1)


GROUPED = {
    "group rolling": lambda g: g.rolling(2, min_periods=1).mean(),
    "group rolling std": lambda g: g.rolling(2).std(),
    "group rolling by days": lambda g: g.rolling("5D").sum(),
    "group expanding": lambda g: g.expanding().max(),
    "group ewm": lambda g: g.ewm(alpha=0.3).mean(),
    "group ewm var": lambda g: g.ewm(alpha=0.3, adjust=False).var(),
    **{f"group {how}": lambda g, how=how: getattr(g, how)()
       for how in ("sum", "mean", "std", "var", "sem", "min", "max", "median", "prod", "first",
                   "last", "count", "nunique", "skew", "cumsum", "cumprod", "cummax", "cummin",
                   "rank", "diff", "shift", "ffill", "bfill", "pct_change", "ohlc", "size", "head",
                   "tail", "quantile")},
    "group sum of two": lambda g: g.sum(min_count=3),
    "group var 0": lambda g: g.var(ddof=0),
    "group quantiles": lambda g: g.quantile([0.2, 0.9], interpolation="lower"),
    "group nth": lambda g: g.nth(1),
    "group shift": lambda g: g.shift(-1, fill_value=4.0),
    "group agg": lambda g: g.agg(["mean", "min", "std"]),
    "group transform": lambda g: g.transform("mean"),
    "group nlargest": lambda g: g.nlargest(2),
}  # fmt: skip


def answer(f, x):
    """The result as numbers, or the error."""
    try:
        return np.asarray(f(x).to_numpy(dtype=float))
    except Exception as error:
        return type(error)


@pytest.mark.share(2)
@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.filterwarnings("ignore")  # of divisions and of pandas
def test_values(numbers):
    """The value of each call beside the call itself, or both raise.

    What pandas makes of infinite numbers (of the quantiles of -0.4, 1.4 and inf by half NaN, 1.4
    where they are a group, NaN where they are a window) may be NaN or infinite.
    """
    x, found = NUMBERS[numbers], {}
    for name, f in asked([*cases()], 16):
        expected = answer(f, x)
        out = answer(lambda x, f=f: pb.jvp(lambda x: f(x).astype(float), (x,), (x,))[0], x)
        if isinstance(expected, type) or isinstance(out, type):
            if expected is not out:
                found[name] = expected, out
        else:
            known = np.isfinite(out) | (numbers != "infinite")
            if not np.allclose(out[known], expected[known], 1e-9, 1e-9, equal_nan=True):
                found[name] = expected, out
    assert not found

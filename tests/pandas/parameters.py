"""Programs of pandas in which tables are plain, and only parameters carry a derivative.

Each takes eight numbers `p` near 1 and gives one number.
"""

import numpy as np

from tests.pandas.programs import HOLES, KEYS, OTHER, holes, pd, series, weigh

S, GAPS = series(OTHER), holes(OTHER)
TABLE = pd.DataFrame({"v": OTHER, "w": OTHER[::-1] ** 2})
GROUPS = TABLE.assign(key=KEYS).groupby("key")


def halves(p):
    return p / 2


def set_where(p):
    s = S.copy()
    s[HOLES] = p[0]
    return weigh(s)


def set_at(p):
    t = TABLE.copy()
    t.loc[2, "v"] = p[0]
    t.iloc[:3, 1] = p[1]
    return weigh(t)


PARAMETERS = {
    # Weights that decay.
    "ewm_alpha": lambda p: weigh(S.ewm(alpha=p[0] / 2).mean()),
    "ewm_alpha_unadjusted": lambda p: weigh(S.ewm(alpha=p[0] / 2, adjust=False).mean()),
    "ewm_com": lambda p: weigh(S.ewm(com=p[0]).mean()),
    "ewm_span": lambda p: weigh(S.ewm(span=1 + p[0]).mean()),
    "ewm_halflife": lambda p: weigh(S.ewm(halflife=p[0]).mean()),
    "ewm_gaps": lambda p: weigh(GAPS.ewm(alpha=p[0] / 2).mean()),
    "ewm_gaps_unadjusted": lambda p: weigh(GAPS.ewm(alpha=p[0] / 2, adjust=False).mean()),
    "ewm_gaps_left_out": lambda p: weigh(GAPS.ewm(alpha=p[0] / 2, ignore_na=True).mean()),
    "ewm_sum": lambda p: weigh(S.ewm(alpha=p[0] / 2).sum()),
    "ewm_std": lambda p: weigh(GAPS.ewm(alpha=p[0] / 2).std()),
    "ewm_var_unadjusted": lambda p: weigh(GAPS.ewm(alpha=p[0] / 2, adjust=False).var()),
    "ewm_var_biased": lambda p: weigh(S.ewm(alpha=p[0] / 2).var(bias=True)),
    "ewm_cov": lambda p: weigh(S.ewm(alpha=p[0] / 2).cov(GAPS)),
    "ewm_corr": lambda p: weigh(S.ewm(alpha=p[0] / 2).corr(S**2)),
    "ewm_frame": lambda p: weigh(TABLE.ewm(alpha=p[0] / 2).mean()),
    "ewm_groups": lambda p: weigh(GROUPS.v.ewm(alpha=p[0] / 2).mean()),
    "ewm_of_both": lambda p: weigh(series(p).ewm(alpha=p[0] / 2).var()),
    "ewm_long": lambda p: weigh(pd.Series(np.resize(OTHER, 70)).ewm(alpha=p[0] / 2).var()),
    # Windows.
    "gaussian": lambda p: weigh(S.rolling(3, win_type="gaussian").mean(std=p[0])),
    "gaussian_var": lambda p: weigh(S.rolling(3, win_type="gaussian").var(std=p[0])),
    "kaiser": lambda p: weigh(S.rolling(3, win_type="kaiser").sum(beta=p[0])),
    "exponential": lambda p: weigh(S.rolling(3, win_type="exponential").mean(tau=p[0])),
    "rolling_apply": lambda p: weigh(S.rolling(3).apply(lambda w: (w * p[:3]).sum(), raw=True)),
    "rolling_apply_series": lambda p: weigh(S.rolling(3).apply(lambda w: w.iloc[0] ** p[0])),
    "expanding_apply": lambda p: weigh(S.expanding(2).apply(lambda w: np.exp(-p[0] * w).sum())),
    "rolling_quantile": lambda p: weigh(S.rolling(4).quantile(halves(p)[0])),
    # Quantiles.
    "quantile": lambda p: S.quantile(halves(p)[0]),
    "quantile_gaps": lambda p: GAPS.quantile(halves(p)[0]),
    "quantiles": lambda p: weigh(S.quantile(halves(p))),
    "quantile_list": lambda p: weigh(S.quantile([0.25, p[0] / 2])),
    "quantile_frame": lambda p: weigh(TABLE.quantile(halves(p)[0])),
    "quantiles_frame": lambda p: weigh(TABLE.quantile(halves(p)[:3])),
    "quantile_rows": lambda p: weigh(TABLE.quantile(halves(p)[0], axis=1)),
    "quantile_groups": lambda p: weigh(GROUPS.v.quantile(halves(p)[0])),
    "quantile_group_frame": lambda p: weigh(GROUPS[["v", "w"]].quantile(halves(p)[0])),
    # Numbers that fill, replace, scale and are written.
    "fillna": lambda p: weigh(GAPS.fillna(p[0])),
    "shift_fill": lambda p: weigh(S.shift(2, fill_value=p[0])),
    "shift_back": lambda p: weigh(series(p).shift(-3, fill_value=p[0])),
    "shift_far": lambda p: weigh(series(p).shift(9, fill_value=p[0])),
    "shift_frame": lambda p: weigh(TABLE.shift(1, fill_value=p[0])),
    "add_fill": lambda p: weigh(S.add(GAPS, fill_value=p[0])),
    "clip": lambda p: weigh(S.clip(p[0], 2 * p[1])),
    "where": lambda p: weigh(S.where(S > 1.2, p[0])),
    "replace": lambda p: weigh(S.replace(2.0, p[0])),
    "replace_by_dict": lambda p: weigh(S.replace({2.0: p[0], 1.0: p[1]})),
    "map_dict": lambda p: weigh(pd.Series(KEYS).map({"a": p[0], "b": p[1], "c": 1.0})),
    "map_function": lambda p: weigh(S.map(lambda v: v ** p[0])),
    "group_agg": lambda p: weigh(GROUPS.agg({"v": lambda c: (c ** p[0]).mean()})),
    "group_transform": lambda p: weigh(GROUPS.v.transform(lambda c: c - p[0] * c.mean())),
    "set_where": set_where,
    "set_at": set_at,
    "of_numbers": lambda p: weigh(pd.Series([p[0], 2 * p[1], 1.0])),
    "table_of_numbers": lambda p: weigh(pd.DataFrame({"a": [p[0], p[1]], "b": [1.0, p[2]]})),
    "table_of_rows": lambda p: weigh(pd.DataFrame([p, OTHER, 2 * p])),
    "table_of_tuples": lambda p: weigh(pd.DataFrame({"a": (p[0], 1.0), "b": np.ones(2)})),
}

"""Programs of pandas: each makes tables of eight numbers `p`, and one number of them.

`FIRST` was written before the first gradient was taken, `SECOND` once all of `FIRST` were right.
"""

import math

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

P = np.array([0.9, 1.4, 0.55, 1.93, 1.21, 0.71, 1.67, 0.83])
DATES = pd.date_range("2024-01-01", periods=8, freq="D")
KEYS = list("abcabcab")
OTHER = np.array([1.0, 2.0, 0.5, 3.0, 1.5, 2.5, 0.7, 1.1])
W = np.array([0.3, -1.0, 2.0, 0.5, 1.7, -0.4, 0.9, 1.3])
HOLES = [False, True, False, False, True, False, False, False]
M = pd.MultiIndex.from_product([["a", "b"], [1, 2, 3, 4]], names=["k", "i"])


def series(p):
    return pd.Series(p, index=DATES, name="v")


def frame(p):
    return pd.DataFrame({"key": KEYS, "v": p, "w": OTHER, "u": p * p, "n": np.arange(8)})


def numbers(p):
    return pd.DataFrame({"v": p, "w": OTHER, "u": p**2})


def holes(p):
    return series(p).mask(pd.Series(HOLES, index=DATES))


def weigh(x):
    """A Series or a DataFrame of numbers as one number."""
    x = x.to_numpy() if hasattr(x, "to_numpy") else np.asarray(x)
    x = np.where(np.isnan(x), 0.0, x)
    return (x.ravel() * np.resize(W, x.size)).sum()


def inplace(p):
    s = series(p)
    s *= 2
    s += p
    return weigh(s)


def loc_set(p):
    s = series(p)
    s.loc["2024-01-02"] = p[0] ** 2
    s.loc["2024-01-05":] = 0.5
    return weigh(s)


def iloc_set(p):
    s = series(p) * 1.0
    s.iloc[2] = p[1] * p[2]
    s.iloc[4:6] = p[:2]
    return weigh(s)


def mask_set(p):
    s = series(p) ** 2
    s[s > 1.5] = 1.5 * p[3]
    return weigh(s)


def set_into_plain(p):
    s = pd.Series(np.zeros(8))
    for i in range(8):
        s.iloc[i] = p[i] * i
    return weigh(s)


def frame_loc_set(p):
    f = numbers(OTHER)
    f.loc[f.w > 1, "v"] = p[0]
    f.loc[2, "u"] = p[1]
    return weigh(f)


def frame_iloc_set(p):
    f = numbers(p)
    f.iloc[0, 1] = p[2]
    f.iloc[3] = p[:3]
    return weigh(f)


def frame_at_set(p):
    f = numbers(p)
    f.at[1, "v"] = p[0] * 2
    f.iat[2, 2] = p[1]
    return weigh(f)


def new_column(p):
    f = pd.DataFrame({"w": OTHER})
    f["x"] = f["w"] * p
    f["y"] = np.exp(-f["x"])
    f["y"] += f.x
    return weigh(f)


def column_of_live(p):
    f = pd.DataFrame({"w": OTHER})
    f["x"] = p
    f["r"] = p[0]
    return (f.x * f.w * f.r).sum()


def merged(p):
    rates = pd.DataFrame({"key": ["a", "b", "c"], "rate": p[:3]})
    f = frame(p).merge(rates, on="key")
    return (f.v * f.rate).sum()


def updated(p):
    s = series(OTHER.copy())  # which pandas 2 writes into
    s.update(series(p).iloc[2:4])
    return weigh(s)


def rsi(p):
    d = series(p).diff()
    up, down = d.clip(lower=0).rolling(3).mean(), (-d.clip(upper=0)).rolling(3).mean()
    return weigh(100 - 100 / (1 + up / (down + 0.1)))


def set_block(p):
    f = numbers(OTHER)
    f.iloc[2:4, [0, 2]] = p[:4].reshape(2, 2)
    return weigh(f)


def new_row(p):
    f = numbers(p)
    f.loc[8] = [1.0, 2.0, p[0]]
    return weigh(f)


def column_slice(p):
    f = numbers(OTHER)
    f.loc[2:5, "w"] = p[:4]
    return weigh(f)


def two_columns(p):
    f = numbers(OTHER)
    f[["a", "b"]] = p.reshape(4, 2).repeat(2, axis=0)
    return weigh(f)


def aligned(p):
    f = numbers(OTHER)
    f.loc[3:5, "v"] = pd.Series(p[:3], index=[5, 4, 3])
    return weigh(f)


def mask_frame(p):
    f = numbers(OTHER)
    f[f > 2] = p[0]
    return weigh(f)


def insert(p):
    f = numbers(OTHER)
    f.insert(1, "z", p * 2)
    return weigh(f)


def pop(p):
    f = numbers(p)
    return (f.pop("v") * f.w).sum()


def frame_inplace(p):
    f = numbers(p)
    f *= 2
    f -= p[0]
    f["v"] **= 2
    f.loc[:, "w"] = p
    f.v.iloc[0]
    return weigh(f)


def smoother(p):
    level, out = p[0], []
    for x in series(p):
        level = 0.7 * level + 0.3 * x
        out.append(level)
    return weigh(pd.Series(out, index=DATES))


def at_local(p):
    rate = p[0]
    return weigh(numbers(p).eval("v * @rate + w")) + rate


FIRST = {
    # arithmetic of series
    "series_sum": lambda p: series(p).sum(),
    "series_arith": lambda p: ((series(p) * 2 + 1) / (series(p) ** 2 + 3) - 4).sum(),
    "series_reflected": lambda p: weigh(1 / series(p) - (2 - series(p)) + 2 ** series(p)),
    "series_with_array": lambda p: weigh(series(p) * OTHER + OTHER * series(p)),
    "series_with_live": lambda p: weigh(series(OTHER) * p + p * series(OTHER)),
    "series_times_number": lambda p: weigh(series(OTHER) * p[0] + p[1] * series(OTHER)),
    "series_aligned": lambda p: (series(p) + series(p).iloc[2:] * 2).sum(),
    "series_add_fill": lambda p: weigh(series(p).add(series(p).iloc[3:], fill_value=1.0)),
    "series_neg_abs": lambda p: weigh(-series(p) + abs(series(p) - 1)),
    "series_floordiv_mod": lambda p: weigh(series(p) % 0.65),
    "series_inplace": lambda p: inplace(p),
    "series_methods": lambda p: weigh(series(p).mul(2).sub(1).div(3).pow(2).radd(1).rsub(3)),
    "series_round": lambda p: weigh(series(p) * series(p).round(0)),
    "compare_and_where": lambda p: weigh(series(p).where(series(p) > 1, 0)),
    "mask": lambda p: weigh(series(p).mask(series(p) > 1, series(p) * 3)),
    "clip": lambda p: weigh(series(p).clip(0.6, 1.6)),
    "clip_lower": lambda p: weigh(series(p).clip(lower=p[0])),
    "between": lambda p: weigh(series(p)[series(p).between(0.5, 1.5)]),
    "np_exp": lambda p: weigh(np.exp(series(p))),
    "np_log1p_frame": lambda p: weigh(np.log1p(numbers(p))),
    "np_where": lambda p: weigh(np.where(series(p) > 1, series(p), -series(p))),
    "np_sum_mean": lambda p: np.sum(series(p)) + np.mean(series(p)) * np.std(series(p)),
    "np_dot": lambda p: np.dot(series(p), W) + series(p) @ W,
    "np_maximum": lambda p: weigh(np.maximum(series(p), 1.0)),
    "np_asarray": lambda p: weigh(np.asarray(series(p)) ** 2),
    "np_cumsum": lambda p: weigh(np.cumsum(series(p))),
    "np_concatenate": lambda p: weigh(np.concatenate([series(p), series(p) * 2])),
    "np_power_of_two_series": lambda p: weigh(np.power(series(p), series(OTHER))),
    # looking at parts
    "loc_label": lambda p: series(p).loc["2024-01-03"] * 2,
    "iloc_number": lambda p: series(p).iloc[3] ** 2 + series(p).iloc[-1],
    "iat_at": lambda p: series(p).iat[2] * series(p).at[DATES[4]],
    "loc_slice": lambda p: weigh(series(p).loc["2024-01-03":"2024-01-06"]),
    "iloc_list": lambda p: weigh(series(p).iloc[[5, 1, 1]]),
    "bool_mask": lambda p: weigh(series(p)[series(p) > 0.8]),
    "loc_set": lambda p: loc_set(p),
    "iloc_set": lambda p: iloc_set(p),
    "mask_set": lambda p: mask_set(p),
    "set_into_plain": lambda p: set_into_plain(p),
    "frame_loc_set": lambda p: frame_loc_set(p),
    "frame_iloc_set": lambda p: frame_iloc_set(p),
    "frame_at_set": lambda p: frame_at_set(p),
    "iterate": lambda p: sum(v * (i + 1) for i, v in enumerate(series(p))),
    "items": lambda p: sum(v * k.day for k, v in series(p).items()),
    "head_tail": lambda p: weigh(series(p).head(3)) + weigh(series(p).tail(2)),
    "to_numpy_values": lambda p: weigh(series(p).values) + weigh(series(p).to_numpy()),
    "tolist": lambda p: sum(x * x for x in series(p).tolist()),
    # windows
    "rolling_mean": lambda p: weigh(series(p).rolling(3).mean()),
    "rolling_sum": lambda p: weigh(series(p).rolling(3, min_periods=1).sum()),
    "rolling_std": lambda p: weigh(series(p).rolling(4).std()),
    "rolling_var": lambda p: weigh(series(p).rolling(4).var(ddof=0)),
    "rolling_max_min": lambda p: weigh(series(p).rolling(3).max() - series(p).rolling(2).min()),
    "rolling_median": lambda p: weigh(series(p).rolling(3).median()),
    "rolling_quantile": lambda p: weigh(series(p).rolling(4).quantile(0.3)),
    "rolling_skew_kurt": lambda p: weigh(series(p).rolling(5).skew() + series(p).rolling(5).kurt()),
    "rolling_apply": lambda p: weigh(series(p).rolling(3).apply(lambda w: (w * w).sum(), raw=True)),
    "rolling_corr": lambda p: weigh(series(p).rolling(4).corr(series(OTHER))),
    "rolling_cov": lambda p: weigh(series(p).rolling(4).cov(series(p) ** 2)),
    "rolling_centered": lambda p: weigh(series(p).rolling(3, center=True).mean()),
    "rolling_time": lambda p: weigh(series(p).rolling("3D").sum()),
    "rolling_frame": lambda p: weigh(numbers(p).rolling(3).mean()),
    "rolling_holes": lambda p: weigh(holes(p).rolling(3, min_periods=1).mean()),
    "rolling_sem_count": lambda p: weigh(series(p).rolling(3).sem()),
    "rolling_weighted": lambda p: weigh(series(p).rolling(3, win_type="triang").mean()),
    "rolling_agg": lambda p: weigh(series(p).rolling(3).agg(["mean", "std"])),
    "expanding_mean": lambda p: weigh(series(p).expanding().mean()),
    "expanding_std": lambda p: weigh(series(p).expanding(2).std()),
    "ewm_mean": lambda p: weigh(series(p).ewm(alpha=0.4).mean()),
    "ewm_span_unadjusted": lambda p: weigh(series(p).ewm(span=3, adjust=False).mean()),
    "ewm_std": lambda p: weigh(series(p).ewm(halflife=2).std()),
    "ewm_holes": lambda p: weigh(holes(p).ewm(com=1.5, ignore_na=True).mean()),
    "groupby_rolling": lambda p: weigh(frame(p).groupby("key").v.rolling(2).mean()),
    # in time
    "shift": lambda p: weigh(series(p).shift(2)),
    "shift_back_fill": lambda p: weigh(series(p).shift(-1, fill_value=0.5)),
    "diff": lambda p: weigh(series(p).diff()),
    "diff_two": lambda p: weigh(series(p).diff(2)),
    "frame_diff": lambda p: weigh(numbers(p).diff()),
    "pct_change": lambda p: weigh(series(p).pct_change()),
    "frame_pct_change": lambda p: weigh(numbers(p).pct_change()),
    "cumsum": lambda p: weigh(series(p).cumsum()),
    "cumprod": lambda p: weigh(series(p).cumprod()),
    "cummax_cummin": lambda p: weigh(series(p).cummax() * series(p).cummin()),
    "log_returns": lambda p: np.log(series(p) / series(p).shift(1)).dropna().std(),
    "drawdown": lambda p: (
        (1 + series(p) / 10).cumprod() / (1 + series(p) / 10).cumprod().cummax() - 1
    ).min(),
    "sharpe": lambda p: series(p).mean() / series(p).std() * np.sqrt(252),
    "resample_mean": lambda p: weigh(series(p).resample("2D").mean()),
    "resample_sum": lambda p: weigh(series(p).resample("3D").sum()),
    "resample_ohlc": lambda p: weigh(series(p).resample("4D").ohlc()),
    "resample_up": lambda p: weigh(series(p).resample("12h").ffill()),
    "resample_interpolate": lambda p: weigh(series(p).resample("12h").interpolate()),
    "asfreq": lambda p: weigh(series(p).asfreq("12h")),
    # groups
    "groupby_mean": lambda p: weigh(frame(p).groupby("key").v.mean()),
    "groupby_sum_frame": lambda p: weigh(frame(p).groupby("key")[["v", "w"]].sum()),
    "groupby_std_var": lambda p: weigh(
        frame(p).groupby("key").v.std() + frame(p).groupby("key").v.var()
    ),
    "groupby_max_min": lambda p: weigh(
        frame(p).groupby("key").v.max() - frame(p).groupby("key").v.min()
    ),
    "groupby_prod": lambda p: weigh(frame(p).groupby("key").v.prod()),
    "groupby_median": lambda p: weigh(frame(p).groupby("key").v.median()),
    "groupby_first_last": lambda p: weigh(
        frame(p).groupby("key").v.first() * frame(p).groupby("key").v.last()
    ),
    "groupby_quantile": lambda p: weigh(frame(p).groupby("key").v.quantile(0.4)),
    "groupby_transform": lambda p: weigh(frame(p).groupby("key").v.transform("mean")),
    "groupby_transform_function": lambda p: weigh(
        frame(p).groupby("key").v.transform(lambda x: x - x.mean())
    ),
    "groupby_agg": lambda p: weigh(frame(p).groupby("key").agg({"v": "sum", "u": "mean"})),
    "groupby_agg_named": lambda p: weigh(
        frame(p).groupby("key").agg(a=("v", "sum"), b=("u", "max"))
    ),
    "groupby_agg_function": lambda p: weigh(frame(p).groupby("key").v.agg(lambda x: (x**2).sum())),
    "groupby_apply": lambda p: weigh(frame(p).groupby("key").apply(lambda g: (g.v * g.w).sum())),
    "groupby_cumsum": lambda p: weigh(frame(p).groupby("key").v.cumsum()),
    "groupby_cumprod": lambda p: weigh(frame(p).groupby("key").v.cumprod()),
    "groupby_shift_diff": lambda p: weigh(
        frame(p).groupby("key").v.shift() + frame(p).groupby("key").v.diff()
    ),
    "groupby_rank": lambda p: weigh(frame(p).groupby("key").v.rank() * pd.Series(p)),
    "groupby_loop": lambda p: sum(g.v.sum() ** 2 for _, g in frame(p).groupby("key")),
    "groupby_nth_head": lambda p: weigh(frame(p).groupby("key").v.head(1)),
    "groupby_two_keys": lambda p: weigh(frame(p).groupby(["key", "n"]).v.sum()),
    "groupby_ffill": lambda p: weigh(
        frame(p).assign(v=holes(p).to_numpy()).groupby("key").v.ffill()
    ),
    "groupby_pct_change": lambda p: weigh(frame(p).groupby("key").v.pct_change()),
    "groupby_filter": lambda p: weigh(frame(p).groupby("key").filter(lambda g: len(g) > 2).v),
    "groupby_describe": lambda p: weigh(frame(p).groupby("key").v.describe()),
    "pivot_table": lambda p: weigh(frame(p).pivot_table(values="v", index="key", aggfunc="mean")),
    "pivot": lambda p: weigh(frame(p).pivot(index="n", columns="key", values="v")),
    "cut_groups": lambda p: weigh(frame(p).groupby(pd.cut(frame(p).n, 3), observed=True).v.mean()),
    # functions
    "agg_list": lambda p: weigh(series(p).agg(["sum", "mean", "max"])),
    "frame_agg": lambda p: weigh(numbers(p).agg(["sum", "mean"])),
    "frame_agg_dict": lambda p: weigh(numbers(p).agg({"v": "sum", "u": "std"})),
    "apply_rows": lambda p: weigh(numbers(p).apply(lambda r: r.v * r.w + r.u, axis=1)),
    "apply_columns": lambda p: weigh(numbers(p).apply(lambda c: c.max() - c.mean())),
    "apply_np": lambda p: weigh(numbers(p).apply(np.sqrt)),
    "series_apply": lambda p: weigh(series(p).apply(lambda x: x**2 + 1)),
    "series_map": lambda p: weigh(series(p).map(lambda x: np.sin(x))),
    "frame_map": lambda p: weigh(numbers(p).map(lambda x: x * x)),
    "pipe": lambda p: numbers(p).pipe(lambda f: f.v * f.w).sum(),
    "transform": lambda p: weigh(numbers(p).transform(lambda x: x / x.sum())),
    "eval_query": lambda p: weigh(numbers(p).query("w > 1").eval("v * w + u")),
    "itertuples": lambda p: sum(r.v * r.w for r in numbers(p).itertuples()),
    "iterrows": lambda p: sum(r["v"] * r["w"] for _, r in numbers(p).iterrows()),
    # reductions
    "mean_median": lambda p: series(p).mean() * series(p).median(),
    "std_var_sem": lambda p: series(p).std() + series(p).var() * series(p).sem(),
    "skew_kurt": lambda p: series(p).skew() + series(p).kurt(),
    "max_min_prod": lambda p: series(p).max() * series(p).min() + series(p).prod(),
    "quantile": lambda p: series(p).quantile(0.3) + weigh(series(p).quantile([0.2, 0.9])),
    "idxmax": lambda p: series(p)[series(p).idxmax()] - series(p)[series(p).idxmin()],
    "frame_mean": lambda p: weigh(numbers(p).mean()),
    "frame_sum_rows": lambda p: weigh(numbers(p).sum(axis=1)),
    "frame_mean_rows": lambda p: weigh(numbers(p).mean(axis=1)),
    "frame_std": lambda p: weigh(numbers(p).std()),
    "frame_max_rows": lambda p: weigh(numbers(p).max(axis=1)),
    "frame_quantile": lambda p: weigh(numbers(p).quantile(0.4)),
    "describe": lambda p: weigh(series(p).describe()),
    "frame_describe": lambda p: weigh(numbers(p).describe()),
    "corr": lambda p: series(p).corr(series(OTHER)),
    "cov": lambda p: series(p).cov(series(p) ** 2),
    "autocorr": lambda p: series(p).autocorr(1),
    "frame_corr": lambda p: weigh(numbers(p).corr()),
    "frame_cov": lambda p: weigh(numbers(p).cov()),
    "corrwith": lambda p: weigh(numbers(p)[["w", "u"]].corrwith(series(p).reset_index(drop=True))),
    "nlargest": lambda p: weigh(series(p).nlargest(3)),
    "sum_skipna": lambda p: holes(p).sum() + holes(p).mean() * holes(p).std(),
    "count": lambda p: series(p).sum() / series(p).count(),
    "frame_prod_min": lambda p: weigh(numbers(p).prod() + numbers(p).min()),
    "norm": lambda p: np.linalg.norm(series(p)) + np.linalg.norm(numbers(p)),
    # algebra
    "dot": lambda p: series(p).dot(series(OTHER)),
    "frame_dot": lambda p: weigh(numbers(p).dot(np.array([1.0, 2.0, 3.0]))),
    "frame_matmul": lambda p: weigh(numbers(p) @ numbers(p).T),
    "portfolio": lambda p: np.sqrt(p[:3] @ numbers(OTHER * 2).cov().to_numpy() @ p[:3] + 1),
    "frame_arith": lambda p: weigh(numbers(p) * 2 + numbers(p) / 3 - 1),
    "frame_sub_mean": lambda p: weigh((numbers(p) - numbers(p).mean()) / numbers(p).std()),
    "frame_mul_axis": lambda p: weigh(numbers(p).mul(pd.Series(p), axis=0)),
    "frame_div_sum": lambda p: weigh(numbers(p).div(numbers(p).sum(axis=1), axis=0)),
    "frame_times_live": lambda p: weigh(numbers(OTHER) * p[0]),
    "frame_clip": lambda p: weigh(numbers(p).clip(0.5, 1.8)),
    "frame_where": lambda p: weigh(numbers(p).where(numbers(p) > 1, 0.0)),
    "frame_mask_frame": lambda p: weigh(numbers(p)[numbers(p) > 1].fillna(0.5)),
    "frame_abs_round": lambda p: weigh((numbers(p) - 1).abs()),
    "frame_2d": lambda p: weigh(pd.DataFrame(p.reshape(4, 2), columns=["a", "b"]) ** 2),
    "frame_2d_mean": lambda p: weigh(pd.DataFrame(np.outer(p, p)).mean(axis=1)),
    "frame_T": lambda p: weigh(numbers(p).T),
    "frame_values": lambda p: weigh(numbers(p).values ** 2),
    "np_frame_sum": lambda p: weigh(np.sum(numbers(p), axis=0)),
    "frame_cumsum": lambda p: weigh(numbers(p).cumsum()),
    "frame_shift": lambda p: weigh(numbers(p).shift(1)),
    "frame_rank": lambda p: weigh(numbers(p).rank() * numbers(p)),
    "ols": lambda p: weigh(
        np.linalg.lstsq(numbers(p).assign(c=1.0)[["v", "c"]].to_numpy(), OTHER, rcond=None)[0]
    ),
    # building, shapes
    "assign": lambda p: numbers(p).assign(z=lambda f: f.v * f.w, y=3.0).z.sum(),
    "new_column": lambda p: new_column(p),
    "column_of_live": lambda p: column_of_live(p),
    "insert_drop": lambda p: weigh(numbers(p).drop(columns="w").rename(columns={"v": "q"})),
    "fillna": lambda p: weigh(holes(p).fillna(0.3)),
    "fillna_live": lambda p: weigh(holes(p).fillna(holes(p).mean())),
    "ffill_bfill": lambda p: weigh(holes(p).ffill() + holes(p).bfill()),
    "interpolate": lambda p: weigh(holes(p).interpolate()),
    "dropna": lambda p: weigh(holes(p).dropna()),
    "frame_dropna": lambda p: weigh(numbers(p).shift(1).dropna()),
    "isna_sum": lambda p: holes(p).isna().sum() * series(p).sum(),
    "frame_fillna_dict": lambda p: weigh(
        numbers(p).shift(1).fillna({"v": 1.0, "w": 2.0, "u": 3.0})
    ),
    "sort_values": lambda p: weigh(series(p).sort_values()),
    "frame_sort_values": lambda p: weigh(numbers(p).sort_values("v", ascending=False)),
    "sort_index": lambda p: weigh(series(p).sort_index(ascending=False)),
    "rank": lambda p: weigh(series(p).rank() * series(p)),
    "reindex": lambda p: weigh(series(p).reindex(DATES[::-1][:5])),
    "reindex_fill": lambda p: weigh(
        series(p).reset_index(drop=True).reindex(range(10), fill_value=0.7)
    ),
    "reset_set_index": lambda p: weigh(frame(p).set_index("key").v.reset_index(drop=True)),
    "align": lambda p: weigh(series(p).align(series(p).iloc[2:], join="inner")[0]),
    "concat_rows": lambda p: weigh(pd.concat([series(p), series(OTHER)])),
    "concat_columns": lambda p: weigh(pd.concat([series(p), series(OTHER)], axis=1)),
    "concat_frames": lambda p: weigh(pd.concat([numbers(p), numbers(OTHER)], ignore_index=True)),
    "merge": lambda p: merged(p),
    "merge_left": lambda p: weigh(
        frame(p)
        .merge(pd.DataFrame({"key": ["a", "b"], "rate": [1.5, 2.0]}), how="left")[["v", "rate"]]
        .fillna(0.0)
    ),
    "join": lambda p: weigh(numbers(p).join(pd.DataFrame({"j": p * 2}))),
    "merge_asof": lambda p: weigh(
        pd.merge_asof(
            pd.DataFrame({"t": DATES, "v": p}),
            pd.DataFrame({"t": DATES[::2], "r": [1.0, 2.0, 3.0, 4.0]}),
            on="t",
        )[["v", "r"]]
    ),
    "melt": lambda p: weigh(numbers(p).melt().value),
    "stack_unstack": lambda p: weigh(numbers(p).stack().unstack()),
    "explode_list": lambda p: weigh(pd.Series([p[0], p[1], 2.0])),
    "from_dict_of_live": lambda p: weigh(pd.Series({"a": p[0], "b": p[1] ** 2, "c": 1.0})),
    "frame_of_records": lambda p: weigh(
        pd.DataFrame([{"a": p[0], "b": 1.0}, {"a": p[1], "b": p[2]}])
    ),
    "frame_of_rows": lambda p: weigh(pd.DataFrame([[p[0], 1.0], [p[1], p[2]]], columns=["a", "b"])),
    "frame_of_scalar": lambda p: weigh(pd.DataFrame({"a": p[0], "b": OTHER})),
    "astype": lambda p: weigh(series(p).astype(float) + series(p).astype("float64")),
    "copy": lambda p: weigh(series(p).copy()),
    "select_dtypes": lambda p: weigh(frame(p).select_dtypes("number")),
    "duplicates": lambda p: weigh(frame(p).drop_duplicates("key").v),
    "isin_keys": lambda p: weigh(frame(p)[frame(p).key.isin(["a", "c"])].v),
    "str_keys": lambda p: weigh(frame(p)[frame(p).key.str.upper() == "A"].v),
    "multiindex": lambda p: weigh(frame(p).set_index(["key", "n"]).v.groupby(level=0).sum()),
    "multiindex_xs": lambda p: weigh(frame(p).set_index(["key", "n"]).v.xs("a")),
    "value_replace": lambda p: weigh(series(p).replace({5.0: 1.0})),
    "combine_first": lambda p: weigh(holes(p).combine_first(series(OTHER))),
    "update": lambda p: updated(p),
    "repeat": lambda p: weigh(series(p).repeat(2)),
    "sample": lambda p: weigh(series(p).sample(3, random_state=1)),
    "squeeze": lambda p: weigh(numbers(p)[["v"]].squeeze()),
    "to_dict": lambda p: sum(x**2 for x in series(p).to_dict().values()),
    "frame_to_dict": lambda p: sum(x * 2 for x in numbers(p).to_dict("list")["u"]),
    "crosstab": lambda p: weigh(
        pd.crosstab(frame(p).key, frame(p).n, values=frame(p).v, aggfunc="sum").fillna(0.0)
    ),
    "to_datetime_weights": lambda p: weigh(series(p) * series(p).index.dayofyear),
    "weekday_groups": lambda p: weigh(series(p).groupby(series(p).index.weekday).mean()),
    "factorize_codes": lambda p: weigh(
        series(p).reset_index(drop=True) * pd.Series(pd.factorize(pd.Series(KEYS))[0])
    ),
    "dummies": lambda p: weigh(pd.get_dummies(pd.Series(KEYS)).mul(pd.Series(p), axis=0)),
    "series_of_series": lambda p: weigh(pd.Series(series(p))),
    "frame_of_series": lambda p: weigh(pd.DataFrame(series(p))),
    "if_any": lambda p: series(p).sum() if (series(p) > 1).any() else 0.0,
    "item": lambda p: series(p).iloc[:1].item() * 3,
    "value_at_argmax": lambda p: series(p).iloc[int(series(p).argmax())],
}
SECOND = {
    "concat_reverse": lambda p: weigh(pd.concat([numbers(OTHER), numbers(p)], ignore_index=True)),
    "concat_series_reverse": lambda p: weigh(pd.concat([series(OTHER), series(p)])),
    "concat_keys": lambda p: weigh(pd.concat({"a": series(p), "b": series(OTHER)})),
    "concat_mixed_columns": lambda p: weigh(
        pd.concat([numbers(OTHER)[["w"]], numbers(p)[["v"]]], axis=1)
    ),
    "concat_outer": lambda p: weigh(
        pd.concat([numbers(p)[["v"]], numbers(OTHER)[["w"]]]).fillna(0.25)
    ),
    "dtype_branch": lambda p: (
        weigh(series(p)) if series(p).dtype == np.float64 and series(p).dtype == "float64" else 0.0
    ),
    "dtypes_idiom": lambda p: weigh(frame(p)[frame(p).dtypes[frame(p).dtypes == "float64"].index]),
    "dtype_kind": lambda p: (
        weigh(series(p))
        if series(p).dtype.kind == "f" and pd.api.types.is_float_dtype(series(p))
        else 0.0
    ),
    "is_numeric": lambda p: sum(
        frame(p)[c].sum() for c in frame(p) if pd.api.types.is_numeric_dtype(frame(p)[c])
    ),
    "numeric_only": lambda p: weigh(frame(p).mean(numeric_only=True)),
    "momentum": lambda p: weigh(
        (series(p) / series(p).shift(3) - 1).rank(pct=True).fillna(0) * series(p)
    ),
    "rsi": lambda p: rsi(p),
    "macd": lambda p: weigh(
        series(p).ewm(span=3, adjust=False).mean() - series(p).ewm(span=5, adjust=False).mean()
    ),
    "bollinger": lambda p: weigh(
        (series(p) - series(p).rolling(4).mean()) / (2 * series(p).rolling(4).std())
    ),
    "zscore_groups": lambda p: weigh(
        frame(p).groupby("key").v.transform(lambda x: (x - x.mean()) / x.std())
    ),
    "demean_groups": lambda p: weigh(frame(p).v - frame(p).groupby("key").v.transform("mean")),
    "group_weights": lambda p: weigh(frame(p).v / frame(p).groupby("key").v.transform("sum")),
    "weighted_average": lambda p: weigh(
        frame(p).groupby("key")[["v", "w"]].apply(lambda g: np.average(g.v, weights=g.w))
    ),
    "group_size_ratio": lambda p: weigh(
        frame(p).groupby("key").v.sum() / frame(p).groupby("key").size()
    ),
    "group_agg_list": lambda p: weigh(frame(p).groupby("key").v.agg(["mean", "std", "max"])),
    "group_agg_np": lambda p: weigh(frame(p).groupby("key").v.agg(np.mean)),
    "group_reset": lambda p: weigh(frame(p).groupby("key", as_index=False).v.sum().v),
    "group_frame_mean": lambda p: weigh(frame(p).groupby("key").mean()),
    "group_skew": lambda p: weigh(frame(p).assign(g=[0] * 4 + [1] * 4).groupby("g").v.skew()),
    "group_sem_count": lambda p: weigh(frame(p).groupby("key").v.sem()),
    "group_ewm": lambda p: weigh(frame(p).groupby("key").v.ewm(alpha=0.5).mean()),
    "group_expanding": lambda p: weigh(frame(p).groupby("key").v.expanding().sum()),
    "group_cummax": lambda p: weigh(
        frame(p).groupby("key").v.cummax() + frame(p).groupby("key").v.cummin()
    ),
    "group_ngroup": lambda p: weigh(frame(p).groupby("key").ngroup() * frame(p).v),
    "group_fillna": lambda p: weigh(
        frame(p)
        .assign(v=holes(p).to_numpy())
        .groupby("key")
        .v.transform(lambda x: x.fillna(x.mean()))
    ),
    "group_resample": lambda p: weigh(
        frame(p).assign(t=DATES).set_index("t").groupby("key").v.resample("4D").sum()
    ),
    "group_by_live_mask": lambda p: weigh(frame(p).groupby(frame(p).v > 1).v.mean()),
    "group_iter_frame": lambda p: sum(
        (g.v * g.u).sum() for k, g in frame(p).groupby("key") if k != "c"
    ),
    "group_get": lambda p: frame(p).groupby("key").get_group("b").v.sum(),
    "group_corr": lambda p: weigh(
        frame(p).assign(g=[0] * 4 + [1] * 4).groupby("g")[["v", "w"]].corr()
    ),
    "group_idxmax": lambda p: weigh(frame(p).loc[frame(p).groupby("key").v.idxmax()].v),
    "group_pipe": lambda p: weigh(frame(p).groupby("key").pipe(lambda g: g.v.max() - g.v.min())),
    "level_sum": lambda p: weigh(pd.Series(p, index=M).groupby("k").sum()),
    "unstack": lambda p: weigh(pd.Series(p, index=M).unstack()),
    "swaplevel": lambda p: weigh(pd.Series(p, index=M).swaplevel().sort_index()),
    "xs_loc": lambda p: weigh(pd.Series(p, index=M).loc["b"]),
    "cross_section_frame": lambda p: weigh(pd.DataFrame({"v": p}, index=M).loc[("a", 2)]),
    "pivot_two": lambda p: weigh(
        frame(p)
        .assign(h=["x", "y"] * 4)
        .pivot_table(values="v", index="key", columns="h", aggfunc="sum")
        .fillna(0.0)
    ),
    "pivot_margins": lambda p: weigh(
        frame(p).pivot_table(values=["v", "w"], index="key", aggfunc={"v": "sum", "w": "mean"})
    ),
    "wide_to_long": lambda p: weigh(pd.melt(frame(p)[["key", "v", "u"]], id_vars="key").value),
    "resample_agg": lambda p: weigh(series(p).resample("4D").agg(["mean", "max"])),
    "resample_std": lambda p: weigh(series(p).resample("4D").std()),
    "resample_last": lambda p: weigh(series(p).resample("3D").last()),
    "resample_frame": lambda p: weigh(numbers(p).set_index(DATES).resample("2D").mean()),
    "rolling_window_2": lambda p: (
        weigh(numbers(p).rolling(2).corr().fillna(0.0)) * 0
        + weigh(numbers(p).rolling(4).cov().fillna(0.0))
    ),
    "rolling_apply_series": lambda p: weigh(
        series(p).rolling(3).apply(lambda w: w.iloc[-1] - w.mean())
    ),
    "rolling_step": lambda p: weigh(series(p).rolling(3, step=2).mean()),
    "rolling_on": lambda p: weigh(pd.DataFrame({"t": DATES, "v": p}).rolling("2D", on="t").v.sum()),
    "rolling_min_periods": lambda p: weigh(series(p).rolling(5, min_periods=2).std()),
    "rolling_rank": lambda p: weigh(series(p).rolling(3).rank() * series(p)),
    "rolling_closed": lambda p: weigh(series(p).rolling("3D", closed="left").sum()),
    "rolling_count": lambda p: weigh(holes(p).rolling(3).count() * series(p)),
    "ewm_var_corr": lambda p: weigh(
        series(p).ewm(span=4).var() + series(p).ewm(span=4).cov(series(OTHER))
    ),
    "ewm_corr": lambda p: weigh(series(p).ewm(span=4).corr(series(OTHER))),
    "ewm_sum": lambda p: weigh(series(p).ewm(span=4).sum()),
    "ewm_times": lambda p: weigh(series(p).ewm(halflife="2D", times=DATES).mean()),
    "ewm_frame": lambda p: weigh(numbers(p).ewm(alpha=0.3).mean()),
    "expanding_max": lambda p: weigh(series(p).expanding().max() - series(p).expanding().min()),
    "expanding_corr": lambda p: weigh(series(p).expanding(3).corr(series(OTHER))),
    "expanding_quantile": lambda p: weigh(series(p).expanding(2).quantile(0.25)),
    "expanding_apply": lambda p: weigh(series(p).expanding().apply(np.sum, raw=True)),
    "shift_freq": lambda p: weigh(series(p).shift(1, freq="D")),
    "tshift_frame": lambda p: weigh(numbers(p).shift([1, 2]).fillna(0.0)),
    "diff_axis": lambda p: weigh(numbers(p).diff(axis=1)),
    "cum_axis": lambda p: weigh(numbers(p).cumsum(axis=1)),
    "shift_axis": lambda p: weigh(numbers(p).shift(1, axis=1)),
    "rows_min_std": lambda p: weigh(numbers(p).min(axis=1) + numbers(p).std(axis=1)),
    "rows_median_prod": lambda p: weigh(numbers(p).median(axis=1) + numbers(p).prod(axis=1)),
    "rows_idxmax": lambda p: sum(
        numbers(p).loc[i, c] for i, c in numbers(p).idxmax(axis=1).items()
    ),
    "rows_any": lambda p: weigh(numbers(p)[(numbers(p) > 1.5).any(axis=1)]),
    "rows_apply_list": lambda p: weigh(
        numbers(p).apply(lambda r: pd.Series([r.v, r.w * r.u]), axis=1)
    ),
    "rows_apply_raw": lambda p: weigh(numbers(p).apply(lambda r: (r * r).sum(), axis=1, raw=True)),
    "mixed_rows_apply": lambda p: weigh(
        frame(p).apply(lambda r: r["v"] * (2 if r["key"] == "a" else 1), axis=1)
    ),
    "mixed_iloc_row": lambda p: frame(p).iloc[2]["v"] * frame(p).iloc[3].u,
    "loc_frame_cell": lambda p: numbers(p).loc[3, "v"] * numbers(p).at[1, "u"],
    "loc_columns": lambda p: weigh(numbers(p).loc[:, ["u", "v"]]),
    "loc_both": lambda p: weigh(numbers(p).loc[1:4, "v":"w"]),
    "iloc_both": lambda p: weigh(numbers(p).iloc[[0, 3], [2, 0]]),
    "loc_callable": lambda p: weigh(numbers(p).loc[lambda d: d.v > 1]),
    "filter_like": lambda p: weigh(numbers(p).filter(like="v")),
    "set_frame_block": lambda p: set_block(p),
    "set_new_row": lambda p: new_row(p),
    "set_column_slice": lambda p: column_slice(p),
    "set_two_columns": lambda p: two_columns(p),
    "set_series_aligned": lambda p: aligned(p),
    "set_mask_frame": lambda p: mask_frame(p),
    "set_int_column": lambda p: weigh(numbers(p).assign(n=range(8)).eval("n * v")),
    "insert_column": lambda p: insert(p),
    "pop_column": lambda p: pop(p),
    "inplace_frame": lambda p: frame_inplace(p),
    "fillna_dict_live": lambda p: weigh(
        numbers(p).shift(1).fillna({"v": p[0], "u": p[1], "w": 0.5})
    ),
    "fillna_frame_means": lambda p: weigh(numbers(p).shift(1).fillna(numbers(p).mean())),
    "where_live_other": lambda p: weigh(series(OTHER).where(series(OTHER) > 1, series(p))),
    "where_scalar_live": lambda p: weigh(numbers(OTHER).where(numbers(OTHER) > 1, p[2])),
    "mask_plain_live": lambda p: weigh(series(OTHER).mask(series(OTHER) > 1, p[2])),
    "clip_axis": lambda p: weigh(numbers(p).clip(lower=pd.Series(OTHER) * 0.8, axis=0)),
    "combine": lambda p: weigh(series(p).combine(series(OTHER), lambda a, b: a if a > b else b)),
    "combine_func": lambda p: weigh(numbers(p).combine(numbers(OTHER), np.minimum)),
    "map_dict": lambda p: weigh(pd.Series(KEYS).map({"a": p[0], "b": p[1], "c": p[2]})),
    "map_series": lambda p: weigh(pd.Series(KEYS).map(pd.Series(p[:3], index=list("abc")))),
    "replace_key_live": lambda p: weigh(pd.Series([1.0, 2.0, 3.0]).replace(2.0, p[0])),
    "merge_on_index": lambda p: weigh(
        pd.merge(numbers(p)[["v"]], numbers(OTHER)[["w"]], left_index=True, right_index=True)
    ),
    "merge_outer": lambda p: weigh(
        pd.DataFrame({"k": list("abcd"), "v": p[:4]})
        .merge(pd.DataFrame({"k": list("cdef"), "u": p[4:]}), how="outer")
        .fillna(0.0)[["v", "u"]]
    ),
    "join_on_key": lambda p: weigh(
        frame(p)[["key", "v"]].join(pd.DataFrame({"r": p[:3]}, index=list("abc")), on="key")[
            ["v", "r"]
        ]
    ),
    "reindex_like": lambda p: weigh(series(p).iloc[:4].reindex_like(series(OTHER)).fillna(0.5)),
    "reindex_method": lambda p: weigh(series(p).iloc[::2].reindex(DATES, method="ffill")),
    "reindex_columns": lambda p: weigh(numbers(p).reindex(columns=["u", "z", "v"]).fillna(1.0)),
    "align_frames": lambda p: weigh(numbers(p) + numbers(p).iloc[2:]),
    "add_series_row": lambda p: weigh(numbers(p) + pd.Series({"v": 1.0, "w": p[0], "u": 2.0})),
    "sub_axis": lambda p: weigh(numbers(p).sub(numbers(p).v, axis=0)),
    "pow_frame": lambda p: weigh(numbers(p) ** 2 - 2 ** numbers(p)),
    "gt_count": lambda p: (series(p) > 1).sum() * series(p).mean(),
    "value_at_time": lambda p: series(p).asof("2024-01-04 12:00"),
    "between_time": lambda p: weigh(series(p).loc["2024-01"]),
    "truncate": lambda p: weigh(series(p).truncate(before="2024-01-03")),
    "nsmallest_frame": lambda p: weigh(numbers(p).nsmallest(3, "v")),
    "sort_by_two": lambda p: weigh(frame(p).sort_values(["key", "v"]).v),
    "sort_key": lambda p: weigh(series(p).sort_values(key=lambda s: -s)),
    "rank_methods": lambda p: weigh(series(p).rank(method="dense", ascending=False) * series(p)),
    "quantile_group_filter": lambda p: weigh(series(p)[series(p) > series(p).quantile(0.5)]),
    "winsorize": lambda p: weigh(series(p).clip(series(p).quantile(0.1), series(p).quantile(0.9))),
    "argsort_take": lambda p: weigh(series(p).take(np.argsort(series(p).to_numpy()))),
    "searchsorted": lambda p: weigh(series(p)) * series(p).sort_values().searchsorted(1.0),
    "interp": lambda p: np.interp(2.5, np.arange(8), series(p)),
    "polyfit": lambda p: weigh(np.polyfit(np.arange(8.0), series(p), 1)),
    "np_diff": lambda p: weigh(np.diff(series(p))),
    "np_corrcoef": lambda p: np.corrcoef(series(p), series(OTHER))[0, 1],
    "np_percentile": lambda p: np.percentile(series(p), 30) + np.median(series(p)),
    "np_var_axis": lambda p: weigh(np.var(numbers(p).to_numpy(), axis=0)),
    "np_column_stack": lambda p: weigh(np.column_stack([series(p), series(OTHER)])),
    "np_vstack_columns": lambda p: weigh(np.vstack([numbers(p).v, numbers(p).u])),
    "np_outer_einsum": lambda p: (
        weigh(np.outer(series(p), series(p))) + np.einsum("i,i", series(p), W)
    ),
    "np_clip_sign": lambda p: (
        weigh(np.clip(series(p), 0.6, 1.5)) + weigh(np.sign(series(p)) * series(p))
    ),
    "np_isnan_any": lambda p: weigh(series(p)) if not np.isnan(series(p)).any() else 0.0,
    "np_select": lambda p: weigh(
        np.select([series(p) < 0.8, series(p) < 1.35], [series(p), series(p) ** 2], 0.0)
    ),
    "np_linalg_solve": lambda p: weigh(
        np.linalg.solve(np.eye(8) * 2 + np.outer(series(p), series(p)), series(OTHER))
    ),
    "np_matmul_frame": lambda p: weigh(np.matmul(numbers(p), np.array([1.0, 2.0, 3.0]))),
    "values_reshape": lambda p: weigh(series(p).values.reshape(-1, 1) @ W[None, :]),
    "log_series_min": lambda p: np.log(series(p)).min() + np.sqrt(series(p)).max(),
    "math_of_item": lambda p: math.exp(series(p).iloc[0]) + math.log(series(p).mean()),
    "float_of_item": lambda p: float(series(p).sum()) * 2,
    "format_line": lambda p: series(p).sum() + 0 * len(str(series(p).index[0])),
    "list_of_series": lambda p: weigh(pd.Series([series(p).sum(), series(p).mean(), 1.0])),
    "dict_of_results": lambda p: weigh(
        pd.Series({k: g.v.sum() for k, g in frame(p).groupby("key")})
    ),
    "frame_of_dicts": lambda p: weigh(
        pd.DataFrame([{"k": k, "s": g.v.sum()} for k, g in frame(p).groupby("key")]).s
    ),
    "from_dict_orient": lambda p: weigh(
        pd.DataFrame.from_dict({"a": [p[0], 1.0], "b": [p[1], p[2]]}, orient="index")
    ),
    "from_records": lambda p: weigh(
        pd.DataFrame.from_records([(p[0], 1.0), (p[1], 2.0)], columns=["a", "b"])
    ),
    "to_records_dict": lambda p: sum(r["v"] * r["w"] for r in numbers(p).to_dict("records")),
    "to_frame": lambda p: weigh(series(p).to_frame("q").q * 2),
    "frame_items": lambda p: sum(c.sum() * (i + 1) for i, (n, c) in enumerate(numbers(p).items())),
    "frame_iter_columns": lambda p: sum(numbers(p)[c].mean() for c in numbers(p).columns),
    "zip_columns": lambda p: sum(a * b for a, b in zip(numbers(p).v, numbers(p).w, strict=True)),
    "frame_stack_sum": lambda p: weigh(numbers(p).stack().groupby(level=1).sum()),
    "set_axis": lambda p: weigh(numbers(p).set_axis(list("abc"), axis=1).b),
    "add_prefix": lambda p: weigh(numbers(p).add_prefix("x_").x_v),
    "first_valid": lambda p: holes(p).loc[holes(p).first_valid_index()],
    "explode_none": lambda p: weigh(frame(p)[["key", "v"]].explode("v").v.astype(float)),
    "convert_dtypes_sum": lambda p: series(p).infer_objects().sum(),
    "astype_dict": lambda p: weigh(numbers(p).astype({"v": "float64"})),
    "astype_int_codes": lambda p: weigh(series(p) * series(p).astype(int)),
    "mode_count": lambda p: weigh(series(p)) * len(series(p).unique()),
    "nunique": lambda p: series(p).sum() * series(p).nunique(),
    "duplicated_mask": lambda p: weigh(series(p)[~series(p).duplicated()]),
    "is_monotonic": lambda p: series(p).sum() if not series(p).is_monotonic_increasing else 0.0,
    "equals": lambda p: series(p).sum() if series(p).equals(series(p)) else 0.0,
    "empty_sum": lambda p: series(p)[series(p) > 99].sum() + series(p).iloc[0],
    "memory_shape": lambda p: series(p).sum() * series(p).size * numbers(p).shape[1],
    "categorical_group": lambda p: weigh(
        frame(p).assign(key=pd.Categorical(KEYS)).groupby("key", observed=True).v.sum()
    ),
    "period_group": lambda p: weigh(series(p).groupby(series(p).index.to_period("W")).sum()),
    "grouper": lambda p: weigh(
        frame(p).assign(t=DATES).groupby(pd.Grouper(key="t", freq="3D")).v.sum()
    ),
    "date_range_arith": lambda p: weigh(series(p).mul(pd.Series(np.arange(8.0), index=DATES))),
    "discounting": lambda p: (series(p) / (1 + p[0]) ** np.arange(8)).sum(),
    "compound": lambda p: (1 + series(p) / 100).prod() - 1,
    "volatility": lambda p: np.log(series(p)).diff().std() * np.sqrt(252),
    "beta": lambda p: series(p).cov(series(OTHER)) / series(OTHER).var(),
    "max_drawdown": lambda p: (series(p) / series(p).cummax() - 1).min(),
    "kalman_loop": lambda p: smoother(p),
    "logistic_loss": lambda p: np.log1p(
        np.exp(-(frame(p)[["v", "w"]] @ p[:2]) * np.array([1, -1] * 4))
    ).mean(),
    "standardize": lambda p: weigh((numbers(p) - numbers(p).mean()).div(numbers(p).std(ddof=0))),
    "minmax": lambda p: weigh(
        (numbers(p) - numbers(p).min()) / (numbers(p).max() - numbers(p).min())
    ),
    "softmax_rows": lambda p: weigh(np.exp(numbers(p)).div(np.exp(numbers(p)).sum(axis=1), axis=0)),
    "one_hot_dot": lambda p: weigh(pd.get_dummies(pd.Series(KEYS), dtype=float) @ p[:3]),
    "design_matrix": lambda p: weigh(pd.DataFrame({"c": 1.0, "x": OTHER, "x2": OTHER**2}) @ p[:3]),
    "residuals": lambda p: (
        (series(OTHER).reset_index(drop=True) - (p[0] + p[1] * pd.Series(np.arange(8.0)))) ** 2
    ).sum(),
    "frame_apply_params": lambda p: (
        frame(OTHER).apply(lambda r: r.v * p[0] + p[1] * r.n, axis=1).sum()
    ),
    "eval_local": lambda p: at_local(p),
    "lambda_assign_chain": lambda p: (
        numbers(p).assign(a=lambda d: d.v * 2, b=lambda d: d.a + d.w).query("w < 2").b.sum()
    ),
}

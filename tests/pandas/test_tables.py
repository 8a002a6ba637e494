"""What pandas' functions give under a transformation is what they give without one.

Each line is an expression of a column `s`, a table `t`, or a table `k` with a column of keys.
"""

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked

pd = pytest.importorskip("pandas")

from tests.pandas.test_windows import DATES, KEYS, NUMBERS, OTHER, N  # noqa: E402  # after the skip where there is no pandas

O = pd.Series(OTHER, DATES)
OF_COLUMNS = """
s.abs() | s.add(O) | s.add(O, fill_value=1) | s.sub(2) | s.rsub(2) | s.mul(O) | s.div(O) |
s.rdiv(1) | s.pow(2) | s.rpow(2) | s.mod(0.7) | s.floordiv(0.7) | s.radd(O) | divmod(s, 0.3)[0] |
divmod(s, 0.3)[1] | -s | s ** O | s // O | s % O | s.clip(0.5) | s.clip(None, 1) |
s.clip(0.5, 1) | s.clip(O) | s.round(1) | s.round() | s.cumsum() | s.cumprod() | s.cummax() |
s.cummin() | s.cumsum(skipna=False) | s.cummax(skipna=False) | s.diff() | s.diff(2) |
s.diff(-1) | s.diff(0) | s.pct_change() | s.pct_change(2) | s.pct_change(fill_method=None) |
s.shift() | s.shift(-2) | s.shift(1, fill_value=3) | s.shift(2, freq='D') | s.rank() |
s.rank(method='min') | s.rank(method='dense', ascending=False) | s.rank(pct=True) |
s.rank(na_option='bottom') | s.fillna(0) | s.fillna(O) | s.ffill() | s.bfill() |
s.ffill(limit=1) | s.interpolate() | s.interpolate('time') | s.interpolate(limit=1) |
s.interpolate(limit_direction='both') | s.interpolate(limit_area='inside') |
s.interpolate('index') | s.interpolate('linear', limit_direction='backward') | s.dropna() |
s.isna() | s.notna() | s.where(s > 1) | s.where(s > 1, 0) | s.where(s > 1, O) |
s.mask(s > 1, -O) | s.replace(0.55, 9) | s.replace([0.55, 1.4], [1, 2]) | s.replace({0.55: 3}) |
s.replace(np.nan, 2) | s.map(np.sin) | s.map(lambda v: v * 2, na_action='ignore') |
s.apply(np.exp) | s.apply(lambda v: v + 1) | s.transform(np.sin) |
s.transform(lambda v: v - v.mean()) | s.sort_values() | s.sort_values(ascending=False) |
s.sort_values(na_position='first') | s.sort_values(key=np.abs) | s.sort_index(ascending=False) |
s.nlargest(3) | s.nsmallest(2) | s.nlargest(3, keep='last') | s.head(2) | s.tail(-3) |
s.take([3, 1]) | s.iloc[::2] | s.iloc[[1, -1]] | s.loc['2024-01-05'] |
s.loc['2024-01-02':'2024-01-09'] | s[s > 1] | s[::-1] | s.sample(4, random_state=0) |
s.truncate(before='2024-01-04') | s.asof(pd.Timestamp('2024-01-07')) | s.at_time('00:00') |
s.drop(DATES[0]) | s.drop_duplicates() | s.repeat(2) | s.unique() | s.nunique() | s.mode() |
s.duplicated() | s.is_unique | s.between(0.6, 1.3) | s.isin([0.55]) | s.argmax() | s.argmin() |
s.argsort() | s.searchsorted(1.0) if s.is_monotonic_increasing else 0 |
s.first_valid_index() is None | s.hasnans | s.empty | s.idxmax() == DATES[3] | s.sum() |
s.sum(skipna=False) | s.sum(min_count=8) | s.prod() | s.prod(min_count=20) | s.mean() |
s.mean(skipna=False) | s.median() | s.median(skipna=False) | s.min() | s.max(skipna=False) |
s.var() | s.var(ddof=0) | s.std(ddof=2) | s.sem() | s.skew() | s.kurt() | s.skew(skipna=False) |
s.quantile(0.3) | s.quantile([0.1, 0.9]) | s.quantile(0.3, 'lower') |
s.quantile(0.35, 'midpoint') | s.quantile(0.35, 'nearest') | s.count() | s.any() | s.all() |
s.describe() | s.agg(['sum', 'std']) | s.agg('mean') | s.agg(np.sum) |
s.agg(lambda v: v.max() - v.min()) | s.product() | s.corr(O) | s.corr(O, method='spearman') |
s.corr(O, method='kendall') | s.corr(O, min_periods=8) | s.cov(O) | s.cov(O, ddof=0) |
s.autocorr() | s.autocorr(2) | s.dot(O) | s @ O | s.combine(O, max) |
s.combine(O, lambda a, b: a * b, fill_value=1) | s.compare(s + 1).to_numpy() | s.equals(s) |
s.eq(O) | s.ge(1) | s.update(O) or s | s.align(O)[0] | s.to_frame() | s.to_numpy() | s.values |
np.asarray(list(s)) | s.to_list() | s.astype(float) | s.astype('float32') | s.astype(int) |
s.copy() | s.rename('b') | s.reset_index(drop=True) | s.reset_index()['s'] | s.T | s.squeeze() |
s.explode() | s.dtype == float | s.ndim | s.size | len(s) | s.resample('2D').sum() |
s.resample('2D').mean() | s.resample('3D').ohlc() | s.resample('3D').max() |
s.resample('4D').std() | s.resample('2D').first() |
s.resample('12h').ffill() if s.index.is_unique else s | s.resample('3D').agg(['min', 'sum']) |
s.resample('5D').apply(lambda v: v.sum()) | s.resample('2D').count() |
s.resample('2D').sum(min_count=1) | s.resample('3D', closed='right').sum() |
s.resample('3D', label='right', origin='start').mean() | s.resample('W').prod() |
s.resample('3D').quantile(0.4) | s.resample('3D').median() | s.resample('3D').var() |
s.groupby(KEYS).sum() | s.groupby(KEYS).mean() | s.groupby(level=0).sum() |
s.groupby(s > 1).mean() | s.groupby(KEYS).apply(lambda v: v.sum()) |
s.groupby(KEYS).agg(lambda v: v.max()) | s.groupby(KEYS).transform(lambda v: v - v.mean()) |
s.groupby(KEYS).filter(lambda v: len(v) > 2) | s.groupby(KEYS).cumcount() |
s.groupby(KEYS).rank() | s.groupby(KEYS).nth([0, 1]) | s.groupby(KEYS).describe() |
s.groupby(KEYS, sort=False).first() | s.groupby(pd.cut(O, 3), observed=True).mean() |
s.groupby(KEYS).sum(min_count=3) | s.groupby(KEYS).std(ddof=0) | s.groupby(KEYS).diff() |
s.groupby(KEYS).shift(1) | s.groupby(KEYS).pct_change() | s.groupby(KEYS).ffill() |
s.groupby(KEYS).head(1) | s.groupby(KEYS).quantile(0.4) | s.groupby(KEYS).nunique() |
s.groupby(KEYS).any() | s.groupby(KEYS).corr(O) | s.groupby(KEYS).cummax() |
s.groupby(KEYS).tail(1) | s.groupby(KEYS).agg(['sum', 'var']) | pd.concat([s, O]) |
pd.concat([s, O], axis=1) | pd.concat({'a': s, 'b': O}) | pd.cut(s, [0, 1, 2], labels=False) |
pd.qcut(s.fillna(0), 3, labels=False, duplicates='drop') | pd.to_numeric(s) | pd.isna(s) |
pd.get_dummies(s > 1, dtype=float) | np.sin(s) | np.maximum(s, 1) | np.where(s > 1, s, 0) |
np.sqrt(s) | np.log1p(s) | np.sum(s) | np.mean(s) | np.std(s) | np.var(s, ddof=1) |
np.median(s) | np.cumsum(s) | np.dot(s, O) | np.add(s, O) | np.exp(s).sum() | np.clip(s, 0, 1) |
np.abs(s) | np.isnan(s) | np.nansum(s) | np.percentile(s.dropna(), 30) |
np.interp(1.5, np.arange(N), s) | np.polyfit(np.arange(N), s.fillna(1), 1) |
np.histogram(s.dropna(), 3)[0] | np.ptp(s.to_numpy()) | np.average(s, weights=O) | np.diff(s) |
np.outer(s, O) | np.round(s, 1) | np.sign(s) | np.floor(s) | np.prod(s) | np.argsort(s) |
np.sort(s) | np.unique(s) | np.concatenate([s, O]) | np.vstack([s, O]) | max(s) | min(s) |
sum(s) | sorted(s) | abs(s) | round(s, 1) | list(reversed(s)) | len(s)
"""
OF_TABLES = """
t.sum() | t.sum(axis=1) | t.mean() | t.mean(axis=1) | t.median(axis=1) | t.std() |
t.std(axis=1) | t.var(ddof=0) | t.min(axis=1) | t.max() | t.prod(axis=1) | t.sem() | t.skew() |
t.kurt(axis=1) | t.count() | t.count(axis=1) | t.quantile(0.3) | t.quantile([0.2, 0.7]) |
t.quantile(0.4, axis=1) | t.sum(min_count=9) | t.sum(skipna=False) |
t.mean(axis=1, skipna=False) | t.any() | t.all(axis=1) | t.nunique() | t.describe() |
t.agg(['sum', 'mean']) | t.agg({'x': 'sum', 'w': ['min', 'max']}).to_numpy() | t.corr() |
t.corr('spearman') | t.cov() | t.corrwith(O) | t.cov(min_periods=9) | t.corrwith(t.x, axis=0) |
t.x.cov(t.y) | t.cumsum() | t.cumsum(axis=1) | t.cumprod() | t.cummax(axis=1) | t.diff() |
t.diff(axis=1) | t.pct_change() | t.shift(1) | t.shift(1, axis=1) | t.shift(1, fill_value=2) |
t.rank() | t.rank(axis=1) | t.round(1) | t.round({'x': 0}) | t.abs() | t.clip(0.5, 1.2) |
t.clip(lower=t.w, axis=0) | t.fillna(0) | t.fillna({'x': 1}) | t.fillna(t.mean()) | t.ffill() |
t.ffill(axis=1) | t.interpolate() | t.interpolate(axis=1) | t.dropna() | t.dropna(axis=1) |
t.dropna(thresh=4) | t.dropna(subset=['x']) | t.isna() | t.where(t > 1) | t.where(t > 1, -t) |
t.mask(t > 1, 0) | t.replace(0.55, 1) | t.replace({'x': {0.55: 7}}) | t.add(1) |
t.add(t.w, axis=0) | t.sub(t.mean()) | t.mul(t.w, axis='index') | t.div(t.sum(axis=1), axis=0) |
t.pow(2) | t + t.iloc[0] | t * [1, 2, 3, 4] | t.add(t.iloc[:5], fill_value=0) | t @ np.ones(4) |
t.dot(np.ones((4, 2))) | t.T @ t.w | t.T | t.T.sum() | -t | t ** 2 | t / t.x.max() | t.eq(t) |
t.x * t.y | t.x + t['w'] | t.eval('x * w + n') | t.eval('z = x + w') | t.query('w > 1') |
t.query('x > 1 and w < 3').x | t.apply(np.sum) | t.apply(lambda c: c - c.mean()) |
t.apply(lambda r: r.x * r.w, axis=1) | t.apply(lambda r: r.max(), axis=1, raw=True) |
t.map(lambda v: v * 2) | t.transform(np.exp) | t.pipe(lambda d: d.x) | t.agg('std') |
t.apply(lambda r: pd.Series([r.x, r.w]), axis=1) | t.apply(['sum', 'max']) | t.iloc[2] |
t.iloc[:, 1] | t.iloc[1:3, :2] | t.loc[DATES[0]] | t.loc[:, 'x'] | t.loc[t.w > 1, ['x', 'y']] |
t[['x', 'w']] | t.head(2) | t.tail(1) | t.take([2, 0]) | t.take([1], axis=1) |
t.filter(like='x') | t.select_dtypes('float') | t.drop(columns='w') |
t.assign(z=lambda d: d.x ** 2) | t.insert(1, 'q', t.x * 2) or t | t.pop('x') |
t.rename(columns={'x': 'q'}) | t.reindex(columns=['y', 'x', 'q']) | t.set_index('w').x |
t.reset_index(drop=True) | t.sort_values('x') |
t.sort_values(['n', 'x'], ascending=[False, True]) | t.sort_index(axis=1) | t.nlargest(2, 'x') |
t.nsmallest(3, ['w', 'x']) | t.sample(3, random_state=1) | t.xs(DATES[0]) | t.get('x') |
t.iat[1, 0] | t.squeeze() | t.copy() | t.astype('float32') | t.to_numpy() | t.values |
t.stack() | t.melt().value | t.melt(id_vars='w').value |
t.pivot_table(values='x', index='n', aggfunc='sum') | t.unstack() | t.duplicated() |
t.drop_duplicates(['x']) | t.isin([0.55]) | t.idxmax(axis=1) == 'x' | t.explode('x') |
t.align(t.iloc[:3])[0] | t.combine_first(t * 2) | t.combine(t, np.maximum) |
t.update(t * 2) or t | t.join(t, rsuffix='_r') | t.merge(t, on='n') |
t.merge(t.iloc[:4], on='n', how='left') |
pd.merge(t, t, left_on='n', right_on='w', how='outer') |
pd.merge_asof(t.sort_values('n'), t.sort_values('n'), on='n') | pd.concat([t, t]) |
pd.concat([t, t.add_prefix('q')], axis=1) | pd.concat([t.x, t.w], keys=['a', 'b']) |
t.compare(t + 1).to_numpy() | t.resample('3D').sum() |
t.resample('3D').agg({'x': 'mean', 'w': 'max'}) | t.rolling(2).sum() | t.expanding().mean() |
t.ewm(alpha=.3).mean() | t.rolling(3).corr().to_numpy() | t.rolling(3).cov(t.x) |
t.rolling(2).agg({'x': 'sum', 'w': 'mean'}) | np.linalg.norm(t) | np.sum(t, axis=1) |
np.dot(t, np.ones(4)) | np.exp(t) | np.where(t > 1, t, 0)
"""
OF_KEYS = """
k.groupby('key').sum() | k.groupby('key').mean() | k.groupby('key')[['x', 'y']].std() |
k.groupby('key').x.agg(['sum', 'max']) | k.groupby('key').agg({'x': 'sum', 'w': 'mean'}) |
k.groupby('key').agg(a=('x', 'sum'), b=('y', 'min')) |
k.groupby('key').apply(lambda d: (d.x * d.w).sum()) |
k.groupby('key')[['x', 'w']].apply(lambda d: d.sum()) | k.groupby('key').x.transform('sum') |
k.groupby('key')[['x', 'w']].transform(lambda c: c - c.mean()) |
k.groupby('key')[['x']].cumsum() | k.groupby('key').x.apply(lambda v: v.cumsum()) |
k.groupby(['key', 'n']).x.sum() | k.groupby('key', as_index=False).x.mean() |
k.groupby('key')[['x', 'y']].corr().to_numpy() | k.groupby('key')[['x', 'y']].cov().to_numpy() |
k.groupby('key').x.rolling(2).mean() | k.groupby('key').x.resample('3D').sum() |
k.groupby(k.n % 2).x.mean() | k.groupby('key').first() | k.groupby('key').last().x |
k.groupby('key').nth(0).x | k.groupby('key').head(1).x | k.groupby('key').size() |
k.groupby('key').describe().to_numpy() | k.groupby('key').median() | k.groupby('key').prod() |
k.groupby('key').min() | k.groupby('key').x.diff() | k.groupby('key').x.shift() |
k.groupby('key')[['x', 'w']].quantile(.3) | k.groupby('key').sum(min_count=3).x |
k.groupby('key').x.sem() | k.groupby('key').filter(lambda d: d.w.sum() > 3).x |
k.pivot_table('x', 'key', aggfunc='mean') | k.pivot_table('x', 'key', 'n') |
k.pivot_table('x', 'key', aggfunc=['sum', 'std']) | k.set_index('key').x |
k.set_index(['key', 'n']).x.unstack() | k.set_index(['key', 'n']).x.groupby(level=0).sum() |
k.melt(id_vars='key', value_vars=['x', 'w']).groupby('variable').value.sum() |
pd.crosstab(k.key, k.n, values=k.x, aggfunc='sum') | k.select_dtypes('number').sum() |
k.sum(numeric_only=True) | k.mean(numeric_only=True) | k.corr(numeric_only=True) |
k.merge(k.groupby('key').x.mean().rename('m'), on='key').m |
k.merge(pd.DataFrame({'key': list('ab'), 'v': [1., 2.]}), on='key').x |
k.groupby('key').x.pct_change() | k.groupby('key').x.rank() |
k.groupby('key').x.ewm(alpha=.2).mean() | k.groupby('key').x.expanding().sum() |
k.groupby('key').x.ffill() | k.groupby('key').x.nlargest(2) | k.groupby('key').x.skew() |
k.groupby('key').ngroup() | k.groupby('key').x.agg(lambda v: v.iloc[0]) |
k.groupby('key').x.var(ddof=0) | k.groupby(pd.Grouper(freq='4D')).x.sum() |
k.groupby([pd.Grouper(freq='4D'), 'key']).x.mean() | k.groupby('key', dropna=False).x.sum() |
k.groupby('key').x.cumcount() | k.groupby('key').x.nunique() | k.groupby('key').x.count()
"""


def cases():
    """Functions of nine numbers, by their expressions."""
    known = {"np": np, "pd": pd, "O": O, "KEYS": KEYS, "DATES": DATES, "N": N}

    def column(x):
        return {"s": pd.Series(x, DATES, name="s")}

    def table(x):
        columns = {"x": x, "w": OTHER, "y": x * OTHER, "n": np.arange(N)}
        return {"t": pd.DataFrame(columns, index=DATES)}

    def keyed(x):
        return {"k": table(x)["t"].assign(key=KEYS)}

    for given, texts in ((column, OF_COLUMNS), (table, OF_TABLES), (keyed, OF_KEYS)):
        for text in texts.split("|"):
            code = compile(text.strip(), text.strip(), "eval")
            yield (
                text.strip(),
                lambda x, code=code, given=given: eval(code, {**known, **given(x)}),
            )


def plain(x):
    """A result as an array of plain numbers, or of objects."""
    if isinstance(x, (pd.Series, pd.DataFrame)) or type(x).__module__.startswith("pandas"):
        x = x.to_numpy()
    if isinstance(x, (list, tuple)):
        x = [plain(y) for y in x]
    x = x.numpy() if isinstance(x, pb.Array) else np.asarray(x)
    if x.dtype == object:
        values = [np.nan if y is None else plain(y).item() for y in x.ravel()]
        x = np.array(values, dtype=object).reshape(x.shape)
    try:
        return x.astype(float)
    except (TypeError, ValueError):
        return x


def answer(f, x):
    try:
        return plain(f(x))
    except Exception as error:
        return error


def under_a_derivative(f, x):
    out = []

    def g(x):
        out.append(plain(f(x)))
        return 0.0 * x.sum()

    try:
        pb.jvp(g, (x,), (np.ones(N),))
    except Exception as error:
        return error
    return out[0]


def agree(out, expected):
    if isinstance(out, Exception) or isinstance(expected, Exception):
        return isinstance(out, Exception) and isinstance(expected, Exception)
    if out.shape != expected.shape or out.dtype != expected.dtype:
        return False
    if out.dtype == float:
        return np.allclose(out, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    return repr(out.tolist()) == repr(expected.tolist())  # where NaN is NaN


@pytest.mark.share(2)
@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.filterwarnings("ignore")  # of divisions and of pandas
def test_values(numbers):
    """The value of each expression, or that it raises."""
    x, found = NUMBERS[numbers], {}
    for text, f in asked([*cases()], 16):
        expected, out = answer(f, x), under_a_derivative(f, x)
        if not agree(out, expected):
            found[text] = expected, out
    assert not found


REFUSED = """
s.value_counts() | s.value_counts(normalize=True) | s.interpolate('nearest')
"""


def test_what_is_refused():
    for text in REFUSED.split("|"):
        code = compile(text.strip(), "", "eval")
        with pytest.raises(pb.PullbackError):
            pb.jvp(lambda x, code=code: eval(code, {"s": pd.Series(x)}), (OTHER,), (OTHER,))

"""Functions that are given to SciPy's solvers and read tables, or store into them."""

import itertools
from io import StringIO

import numpy as np
import pytest
from scipy import integrate

import pullback as pb
from pullback.scipy.solving.storable_objects import StorableObjects

pd = pytest.importorskip("pandas")

READS = {
    "column": lambda x, t, a: t * a * x.k.sum(),
    "cell": lambda x, t, a: t * a * x.loc["q", "k"],
    "live": lambda x, t, a: t * (x.m * x.k).sum(),
    "place": lambda x, t, a: t * x.m["q"],
    "rows": lambda x, t, a: t * sum(row.m for row in x.itertuples()),
    "made": lambda x, t, a: pd.Series([a, t]).prod(),
    "copied": lambda x, t, a: t * x.assign(k=x.m * a).k.sum(),
}
STORES = {
    "cell": lambda x: x.iloc.__setitem__((0, 0), x.iloc[0, 0] + 1),
    "place": lambda x: x.loc.__setitem__(("p", "k"), 3.0 + x.k.iloc[0]),
    "column": lambda x: x.__setitem__("k", x.k + 1),
    "columns": lambda x: x.insert(0, f"column {x.shape[1]}", 1.0),
    "axis": lambda x: setattr(x, "columns", [f"{name}+" for name in x.columns]),
    "another": lambda x: x.update(x + 1),
    "rows": lambda x: x.loc.__setitem__(1000 + len(x), 1.0),
}
# Iterators that don't say where they stand by themselves.
ITERATORS = {
    "pairs": lambda: itertools.pairwise(range(1000)),
    "places": lambda: np.ndenumerate(np.arange(1000)),
    "indices": lambda: np.ndindex(20, 20),
    "elements": lambda: np.nditer(np.arange(1000)),
    "chunks": lambda: pd.read_csv(StringIO("a\n" + "1\n" * 1000), chunksize=1),
}


def table(n=3):
    return pd.DataFrame({"k": 2.0 ** -np.arange(n)}, index=[*"pqr", *range(n - 3)])


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_tables_are_read(read):
    def f(a):
        x = table()
        x["m"] = x.k * a
        return integrate.quad(lambda t: read(x, t, a), 0, 1)[0]

    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    assert pb.grad(f)(1.5) == pytest.approx(slope, rel=1e-7)
    assert pb.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(slope, rel=1e-7)
    assert pb.vmap(f)(np.array([1.5, 2.0])) == pytest.approx([f(1.5), f(2.0)], rel=1e-15)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_tables_that_are_stored_into_are_refused(store):
    def f(a):
        x = table(500)

        def stored(t):
            store(x)
            return t * a

        return integrate.quad(stored, 0, 1)[0] + x.iloc[0, -1] + len(x) + len(x.columns[0])

    assert np.isfinite(f(1.5))
    for run in (pb.grad(f), lambda a: pb.jvp(f, (a,), (1.0,))):
        with pytest.raises(pb.ArgumentError, match=r"stores into a table \(`DataFrame`\) that is"):
            run(1.5)


def test_what_pandas_holds_is_not_looked_through():
    x = table()
    assert len(StorableObjects([lambda t: t * x.k.mean() * pd.Series([t]).sum()]).found) < 100


@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_iterators_may_be_held_and_not_moved(make):
    items = make()

    def f(t, a, move=False):
        return a * t if items is not None and not move else len([next(items)]) * a

    g = pb.grad(lambda a, *move: integrate.quad(f, 0, 1, args=(a, *move))[0])
    assert g(2.0) == pytest.approx(0.5)
    with pytest.raises(pb.ArgumentError, match="takes items from an iterator"):
        g(2.0, True)

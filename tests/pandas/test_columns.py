"""Series and DataFrames in which numbers carry a derivative."""

import warnings

import numpy as np
import pytest

import pullback as pb

pd = pytest.importorskip("pandas")

from tests.budgets import asked  # noqa: E402  # after the skip where there is no pandas
from tests.pandas.parameters import PARAMETERS  # noqa: E402  # after the skip where there is no pandas
from tests.pandas.programs import FIRST, OTHER, SECOND, P, numbers, series, weigh  # noqa: E402  # after the skip where there is no pandas

DIRECTION = np.random.default_rng(0).standard_normal(8)


def differs(a, b, rtol=1e-5):
    return not np.allclose(a, b, rtol=rtol, atol=1e-6)


def faults(programs, compare):
    """The programs of which the comparison is wrong, or that raise, by name.

    Each is given numbers of its own: a Series of pandas 2 shares the memory of its array.
    """
    found = {}
    for name, f in programs.items():
        try:
            wrong = compare(lambda p, f=f: f(p.copy()))
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            found[name] = wrong
    return found


def gradient(f):
    """Value and gradient beside the plain program and its central difference, and it again."""
    plain = f(P)
    slope = (f(P + 1e-6 * DIRECTION) - f(P - 1e-6 * DIRECTION)) / 2e-6
    value, g = pb.value_and_grad(f)(P)
    if differs(value, plain, 1e-10) or differs(g @ DIRECTION, slope):
        return value, plain, g @ DIRECTION, slope
    return f(P) != plain and "the plain program afterwards"


def second_order(f):
    """Forward mode, and Hessian times vector beside the difference of gradients."""
    slope = (f(P + 1e-6 * DIRECTION) - f(P - 1e-6 * DIRECTION)) / 2e-6
    tangent = pb.jvp(f, (P,), (DIRECTION,))[1]
    g = pb.grad(f)
    curve = (g(P + 1e-5 * DIRECTION) - g(P - 1e-5 * DIRECTION)) / 2e-5
    hvp = pb.hvp(f)(P, DIRECTION)
    return (differs(tangent, slope) or not np.allclose(hvp, curve, rtol=1e-4, atol=1e-4)) and (
        tangent, slope, hvp, curve,
    )  # fmt: skip


class TestPrograms:
    """What people write with pandas."""

    @pytest.mark.share(4)
    @pytest.mark.filterwarnings("ignore")  # of divisions and of pandas
    @pytest.mark.parametrize("programs", [FIRST, SECOND], ids=["first", "second"])
    def test_gradients(self, programs):
        assert len(programs) >= 190
        assert not faults(programs, gradient)

    @pytest.mark.filterwarnings("ignore")  # pandas', of what it will change
    def test_parameters(self):
        """Tables are plain, and what they are smoothed, filled and cut by carries a derivative."""
        assert not faults(PARAMETERS, gradient)

    @pytest.mark.share(4)
    @pytest.mark.filterwarnings("ignore")  # pandas', of what it will change
    def test_second_order(self):
        assert not faults(asked(FIRST | SECOND, 8, "second order"), second_order)
        assert not faults(asked(PARAMETERS, 4, "second order"), second_order)

    @pytest.mark.share(96)
    @pytest.mark.filterwarnings("ignore")  # some fall back to Python
    @pytest.mark.parametrize("name", SECOND)
    def test_compiled(self, name):
        def compare(f):
            g = pb.compile(pb.grad(f))
            return [x for x in (P, P, 1.01 * P) if differs(g(x), pb.grad(f)(x), 1e-9)]

        assert not faults({name: SECOND[name]}, compare)


class TestTrees:
    """Tables as arguments and results: the gradient is a table like the argument."""

    S = pd.Series([1.0, 2.0, 3.0], index=list("abc"), name="q")
    TABLE = pd.DataFrame({"key": ["x", "y", "x"], "v": [1.0, 2.0, 3.0], "w": [0.5, 0.1, 0.2]})

    def test_a_series(self):
        value, g = pb.value_and_grad(lambda s: (s**2).rolling(2).mean().sum())(self.S)
        assert value == 9.0
        pd.testing.assert_series_equal(g, pd.Series([1.0, 4.0, 3.0], list("abc"), name="q"))
        moved = self.S - 0.5 * g
        assert moved.tolist() == [0.5, 0.0, 1.5]

    def test_a_table(self):
        g = pb.grad(lambda t: (t.groupby("key").v.sum() ** 2).sum() + t.w.mean())(self.TABLE)
        expected = self.TABLE.assign(v=[8.0, 4.0, 8.0], w=[1 / 3] * 3)
        pd.testing.assert_frame_equal(g, expected)

    def test_within_other_trees(self):
        g = pb.grad(lambda p: (p["s"] * p["k"]).sum())({"s": self.S, "k": 2.0})
        assert g["s"].tolist() == [2.0] * 3
        assert g["k"] == 6.0

    def test_results(self):
        out, pullback = pb.vjp(lambda s: s.cumsum(), self.S)
        assert out.equals(self.S.cumsum())
        assert pullback(out)[0].tolist() == [10.0, 9.0, 6.0]
        _, dot = pb.jvp(lambda s: s.to_frame("a"), (self.S,), (2 * self.S,))
        pd.testing.assert_frame_equal(dot, (2 * self.S).to_frame("a"))
        (_, aux), _ = pb.value_and_grad(lambda s: (s.sum(), s * 2), has_aux=True)(self.S)
        assert aux.equals(self.S * 2)

    def test_float32(self):
        g = pb.grad(lambda s: (s * s).sum())(self.S.astype("float32"))
        assert g.dtype == np.float32

    def test_what_is_refused(self):
        """Integers, as in other trees; a Jacobian, which no Series can be."""
        with pytest.raises(pb.DtypeError, match=r"`t\['n'\]`, a leaf .* int64"):
            pb.grad(lambda t: t.v.sum())(self.TABLE.assign(n=[1, 2, 3]))
        with pytest.raises(pb.DtypeError, match=r"differentiates `s`, .* int64"):
            pb.grad(lambda s: s.sum())(self.S.astype(int))
        with pytest.raises(pb.ShapeError, match=r"`x.to_numpy\(\)`"):
            pb.jacobian(lambda s: s * s.sum())(self.S)
        with pytest.raises(pb.NonScalarOutputError, match="Series"):
            pb.grad(lambda s: s * 2)(self.S)


class TestColumns:
    def test_dtypes(self):
        """A program that asks for a dtype goes the way that it goes without pullback."""

        def f(p):
            s = pd.Series(p)
            asked = [
                s.dtype == np.float64, s.dtype == "float64", s.dtype == float,
                np.float64 == s.dtype, s.dtype in ("float64", "int64"), s.dtype.kind == "f",
                str(s.dtype) == "float64", pd.api.types.is_float_dtype(s),
                bool((s.to_frame("a").dtypes == "float64").all()), s.dtype != np.int64,
                s.dtype != "object",
            ]  # fmt: skip
            assert all(asked), asked
            return s.sum()

        assert pb.grad(f)(P).tolist() == [1.0] * 8
        f(P)

    def test_what_is_left_behind(self):
        """Tables that traced code stores hold their values once the transformation has ended."""

        class Model:
            def step(self, p):
                self.s = pd.Series(p) * 2
                self.table = pd.DataFrame({"a": p, "b": ["x"] * len(p)})
                self.history = [self.s]
                return self.s.sum() + self.table.a.sum()

        model = Model()
        assert pb.grad(model.step)(P).tolist() == [3.0] * 8
        for s in (model.s, model.history[0]):
            assert type(s.to_numpy()) is np.ndarray
            assert (s * 2).tolist() == (4 * P).tolist()
        assert model.table.a.tolist() == P.tolist()
        assert model.step(P) == pytest.approx(3 * P.sum())

    def test_writes_stay_apart(self):
        """pandas 3 copies what it is given, and what is written into a copy; pandas 2 shares it."""

        def f(p):
            s = pd.Series(p)
            t = s.copy()
            s.iloc[0] = 10 * p[1]
            u = s[:]
            u.iloc[1] = 0.0
            return p[0] + 2 * t.iloc[0] + 3 * s.iloc[0] + 5 * s.iloc[1] + 7 * u.iloc[1]

        expected = [f(p) for p in np.eye(8)]  # it is linear; pandas 2 does not copy
        assert pb.grad(f)(P.copy()).tolist() == expected
        assert expected[:2] == ([3.0, 35.0] if pd.__version__ >= "3" else [2.0, 40.0])

    def test_text_and_objects(self):
        def f(p):
            table = pd.DataFrame({"a": p, "b": list("abcdefgh")})
            assert "0.55" in str(table)
            return sum(x * x for x in table.a.to_numpy(object))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a number became text
            np.testing.assert_allclose(pb.grad(f)(P), 2 * P)

    def test_plain_tables_stay_plain(self):
        """A table that has nothing to do with the argument is as it is without pullback."""

        def f(p):
            table = numbers(OTHER)
            table["z"] = table.v.rolling(2).mean()
            table.loc[table.v > 1, "u"] = 0.0
            assert {type(block.values) for block in table._mgr.blocks} == {np.ndarray}
            return p.sum() * table.fillna(0.0).z.sum()

        assert pb.grad(f)(P) == pytest.approx(np.full(8, f(P) / P.sum()))

    def test_where_pandas_must_not_look(self):
        with pytest.raises(pb.ConversionError, match=r"np\.stack\(\[f\(x\) for x in xs\]\)"):
            pb.vmap(lambda p: series(p).cumsum().iloc[-1])(np.ones((2, 8)))

    def test_edges_of_bins(self):
        def f(p, **options):
            bins = pd.cut(pd.Series(p), 2, **options)
            return (pd.Series(p) * bins.astype(float)).sum()

        with pytest.raises(pb.MissingRuleError, match="labels=False"):
            pb.grad(f)(P)
        assert set(pb.grad(lambda p: f(p, labels=False))(P)) == {0.0, 1.0}

    def test_beside_arrays(self):
        """As beside NumPy's arrays, a Series takes over."""

        def f(p):
            out = p * series(OTHER) + np.multiply(p, series(OTHER))
            assert isinstance(out, pd.Series)
            return weigh(out)

        assert not gradient(f)


def test_what_a_cache_keeps_by_hash():
    """Equal numbers have other derivatives: a live column has no hash, as an Array has none."""
    kept = {}

    def total(column):
        try:
            key = int(pd.util.hash_pandas_object(column).sum())
        except TypeError:
            key = None
        if key not in kept or key is None:
            kept[key] = (column**2).sum()
        return kept[key]

    def program(p):
        column = pd.Series(p)
        column.loc[99] = 2.0  # a new label
        return total(column) + p[0]

    value = program(P)
    for _ in range(2):
        assert pb.value_and_grad(program)(P)[0] == value
        np.testing.assert_allclose(pb.grad(program)(P), 2 * P + np.eye(8)[0])
    assert program(P) == value
    with pytest.raises(pb.PullbackError, match="has no hash"):
        pb.grad(lambda p: pd.util.hash_pandas_object(pd.Series(p)).sum() * p[0])(P)


def test_a_function_of_numbers_that_draws_is_refused():
    """`transform` calls it for plain numbers first, to see whether it takes single ones."""
    x, scale = np.arange(1.0, 4.0), lambda draw: lambda v: v * draw()
    drawn = lambda x: pd.Series(x).transform(scale(np.random.default_rng(0).normal)).sum()
    with pytest.raises(pb.MissingRuleError, match="twice"):
        pb.grad(drawn)(x)
    of_both = lambda x: pd.Series(x).transform(scale(lambda: x[0])).sum()
    np.testing.assert_allclose(pb.grad(of_both)(x), [7.0, 1.0, 1.0])


def test_a_quantile_is_a_number():
    """As pandas gives it, also where its level carries a derivative."""
    column = pd.Series([1.0, 4.0, 9.0])
    value, _ = pb.vjp(column.quantile, 0.3)
    assert isinstance(value, np.float64)
    assert value == column.quantile(0.3)

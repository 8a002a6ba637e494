"""`pullback.numpy` and the array API standard, as the package array-api-strict has it.

Names, signatures, and, on arguments of all dtypes and many shapes, dtype, shape and values of the
results, on constants and under transformations. What strict refuses is left open by the standard.
"""

import functools
import inspect
import operator

import numpy as np
import pytest

import pullback as pb
import pullback.numpy as pnp
from tests.array_api_calls import CREATING, DTYPES, KEYWORDS, OTHERS
from tests.budgets import LONG

xp = pytest.importorskip("array_api_strict")
pytestmark = pytest.mark.filterwarnings("ignore::Warning")  # of numbers; results are compared

# Where NumPy itself differs from the standard, and why that stays so: programs written for NumPy
# are to find NumPy. (name, what) -> the installed NumPy differs.
NEWER = tuple(map(int, np.__version__.split(".")[:2]))
DEVIATIONS = {
    # NumPy has `a_min` and `a_max` at these places; `min=` and `max=` are keywords of their own.
    ("clip", "min"),
    ("clip", "max"),
    # NumPy's frequencies are of float64.
    ("fft.fftfreq", "dtype"),
    ("fft.rfftfreq", "dtype"),
}
if NEWER < (2, 5):  # NumPy sorts upwards only
    DEVIATIONS |= {("sort", "descending"), ("argsort", "descending")}
OLD = NEWER < (2, 1)
if OLD:
    DEVIATIONS |= {("astype", "device"), ("reshape", "shape"), ("reshape", "copy")}
UNLIKE = {"ceil", "floor", "trunc", "reshape"} if OLD else set()  # of integers; without copy=
LATER = {  # names that NumPy has since a version
    "__array_namespace_info__": (2, 1),
    "cumulative_sum": (2, 1),
    "cumulative_prod": (2, 1),
    "unstack": (2, 1),
}
REFUSED = (TypeError, ValueError, IndexError, RuntimeError, AttributeError)
PAIRS = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((3, 1), (1, 2)), ((0,), (1,)),
         ((3, 3), (3, 3)), ((2, 3, 3), (3, 3)), ((3,), (3, 2))]  # fmt: skip
BY_VALUE = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
INDICES = {*BY_VALUE, "argmax", "argmin"}  # plain under all traces but that of vmap
SHAPES = [(), (0,), (1,), (3,), (2, 3), (2, 0), (3, 3), (2, 3, 3)]


def functions():
    for path in ("", "linalg", "fft"):
        module = getattr(xp, path) if path else xp
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) and "flags" not in name and not name.startswith("__"):
                yield f"{path}.{name}" if path else name, thing


FUNCTIONS = dict(functions())


def ours(path, module=None):
    return operator.attrgetter(path)(module or pnp)


def there(path):
    return LATER.get(path, (0, 0)) <= NEWER


class TestNamesAndSignatures:
    @pytest.mark.parametrize("name", [n for n in xp.__all__ if "lags" not in n and n != "Device"])
    def test_name(self, name):
        assert there(name) == hasattr(pnp, name)

    @pytest.mark.parametrize("path", FUNCTIONS)
    def test_signature(self, path):
        """What may be called by the standard may be called here; parameters it has by name."""
        if not there(path):
            return
        try:
            signature = inspect.signature(ours(path))
        except ValueError:  # NumPy 2.0 does not say
            return
        parameters = list(signature.parameters.values())
        kinds = {p.kind for p in parameters}
        by_place = [
            p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        by_name = {
            p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        }
        for i, p in enumerate(inspect.signature(FUNCTIONS[path]).parameters.values()):
            if p.kind is p.POSITIONAL_ONLY:
                fits = i < len(by_place) or p.VAR_POSITIONAL in kinds
            elif p.kind is p.POSITIONAL_OR_KEYWORD:
                fits = i < len(by_place) and by_place[i] == p.name
            elif p.kind is p.KEYWORD_ONLY:
                fits = p.name in by_name or p.VAR_KEYWORD in kinds
            else:
                fits = p.kind in kinds
            assert fits != ((path, p.name) in DEVIATIONS), (p.name, str(signature))

    def test_constants(self):
        for name in ("e", "pi", "inf"):
            assert getattr(pnp, name) == getattr(xp, name)
        assert np.isnan(pnp.nan)
        assert pnp.newaxis is None
        assert pnp.__array_api_version__ == np.__array_api_version__ >= "2022.12"

    @pytest.mark.skipif(OLD, reason="NumPy 2.0 does not have it")
    def test_inspection(self):
        info = pnp.__array_namespace_info__()
        assert info.default_device() == "cpu"
        assert set(info.dtypes()) >= set(DTYPES)
        assert set(info.capabilities()) <= set(xp.__array_namespace_info__().capabilities())


# Calls on arrays of all dtypes and of many shapes.


def content(dtype, shape, seed=0):
    """Numbers of a dtype: some equal, some zero, negative where there are such."""
    random = np.random.default_rng(seed)
    values = random.integers(0 if dtype.startswith("u") else -3, 4, shape)
    if "float" in dtype or "complex" in dtype:
        values = values + random.integers(0, 2, shape) * 0.5
    if "complex" in dtype:
        values = values + 1j * random.integers(-2, 3, shape)
    return np.asarray(values).astype(dtype)


def strict(x):
    return xp.asarray(x, copy=True)


def described(out):
    """(field names, list of (dtype, shape, values)) of a result."""
    if isinstance(out, (tuple, list)):
        return getattr(out, "_fields", None), [described(x)[1][0] for x in out]
    plain = not isinstance(out, np.generic) and isinstance(out, (bool, int, float, complex))
    if type(out) is not pb.Array and plain:
        return None, [("Python", type(out).__name__, out)]
    dtype = str(out.dtype).rpartition(".")[2]
    values = out.numpy() if type(out) is pb.Array else np.asarray(out)
    return None, [(dtype, tuple(out.shape), values)]


def compare(path, call, *arrays, arrays_only=True):
    """A call gives on Arrays what it gives by the standard; what strict refuses is left open."""
    try:
        expected = call(xp, *map(strict, arrays))
    except (*REFUSED, np.linalg.LinAlgError):
        return 0
    out = call(pnp, *map(pb.array, arrays))
    fields, parts = described(out)
    wanted, others = described(expected)
    assert fields is None or wanted is None or set(wanted) == set(fields), path
    assert len(parts) == len(others), path
    for (dtype, shape, values), (kind, size, reference) in zip(parts, others, strict=True):
        if dtype == "Python":
            assert values == reference, path
            continue
        where = (path, [(str(x.dtype), x.shape) for x in arrays])
        assert (dtype, shape) == (kind, size), where
        if path == "unique_values":  # their order is free
            values, reference = np.sort(values), np.sort(reference)
        if "eig" not in path and "svd" not in path and "qr" not in path:  # signs are free
            np.testing.assert_allclose(values, reference, rtol=1e-4, atol=1e-5, err_msg=str(where))
    if arrays_only:
        for x in out if isinstance(out, (tuple, list)) else [out]:
            number = isinstance(x, (np.bool, np.integer))  # as NumPy has it
            assert type(x) is pb.Array or number or path in INDICES, (path, type(x))
    return 1


def required(path):
    return [
        p.name
        for p in inspect.signature(FUNCTIONS[path]).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_ONLY
    ]


ONE = [
    p
    for p in FUNCTIONS
    if required(p) == ["x"] and p not in OTHERS and there(p) and p not in UNLIKE
]
TWO = [
    p
    for p in FUNCTIONS
    if required(p) == ["x1", "x2"] and p not in OTHERS and there(p) and p not in UNLIKE
]


class TestDtypesAndShapes:
    """Every function of the standard, on constants."""

    def test_every_function_is_compared(self):
        rest = {
            "astype",
            "broadcast_shapes",
            "can_cast",
            "finfo",
            "iinfo",
            "isdtype",
            "result_type",
        }
        rest |= {"fft.irfftn", "fft.rfftn"} & set(FUNCTIONS)
        compared = {*ONE, *TWO, *OTHERS, *CREATING, *KEYWORDS}
        assert set(filter(there, FUNCTIONS)) <= compared | rest | UNLIKE

    @pytest.mark.share(3)
    @pytest.mark.parametrize("path", [p for p in ONE if p != "empty_like"])
    def test_one_array(self, path):
        count = 0
        keywords = [{}, *KEYWORDS.get(path, [])]
        for dtype in DTYPES:
            for shape in SHAPES:
                if path.startswith("fft") and 0 in shape:
                    continue  # NumPy shows memory that it has not filled
                x = content(dtype, shape)
                for keyword in keywords:
                    count += compare(
                        path, lambda xp, x, k=keyword: ours(path, xp)(x, **named(xp, k)), x
                    )
        assert count

    @pytest.mark.share(2)
    @pytest.mark.parametrize("path", TWO)
    def test_two_arrays(self, path):
        count = 0
        for dtype in DTYPES:
            for shape, other in PAIRS:
                if path == "linalg.cross" and other != shape:
                    continue  # NumPy takes vectors of 3 elements only
                x, y = content(dtype, shape), content(dtype, other, 1)
                for keyword in [{}, *KEYWORDS.get(path, [])]:
                    count += compare(
                        path, lambda xp, x, y, k=keyword: ours(path, xp)(x, y, **named(xp, k)), x, y
                    )
        for dtype in DTYPES:
            for other in DTYPES:
                x, y = content(dtype, (3,)), content(other, (3,), 1)
                count += compare(path, lambda xp, x, y: ours(path, xp)(x, y), x, y)
        assert count

    @pytest.mark.share(2)
    @pytest.mark.parametrize("path", [p for p in OTHERS if there(p) and p not in UNLIKE])
    def test_other_functions(self, path):
        for call in OTHERS[path]:
            count = 0
            for dtype in DTYPES:
                for shape in [*SHAPES, (1, 3)]:
                    count += compare(path, call, content(dtype, shape))
            assert count, inspect.getsource(call)

    @pytest.mark.parametrize("path", CREATING)
    def test_creation(self, path):
        for call in CREATING[path]:
            assert compare(path, call), inspect.getsource(call)

    def test_without_arrays(self):
        """Promotion of dtypes, kinds of dtypes, limits of dtypes, shapes."""
        for a in DTYPES:
            for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating",
                         "complex floating", "numeric", ("integral", "bool")):  # fmt: skip
                mine = pnp.isdtype(getattr(pnp, a), kind)
                assert mine == xp.isdtype(getattr(xp, a), kind)
            for b in DTYPES:
                first, second = (getattr(xp, n) for n in (a, b))
                mine = [getattr(pnp, n) for n in (a, b)]
                if second in others(first):
                    assert pnp.can_cast(*mine) == xp.can_cast(first, second)
                try:
                    dtype = str(xp.result_type(first, second)).rpartition(".")[2]
                except TypeError:
                    continue
                assert pnp.result_type(*mine) == getattr(pnp, dtype)
                assert pnp.result_type(pnp.zeros(2, dtype=mine[0]), mine[1]) == getattr(pnp, dtype)
            if "int" in a:
                for name in ("bits", "min", "max"):
                    limits = (getattr(m.iinfo(getattr(m, a)), name) for m in (pnp, xp))
                    assert operator.eq(*limits)
            elif a != "bool":
                for name in ("bits", "eps", "max", "min", "smallest_normal"):
                    limits = (getattr(m.finfo(getattr(m, a)), name) for m in (pnp, xp))
                    assert operator.eq(*limits)
        assert pnp.broadcast_shapes((2, 1), (3,)) == (2, 3)


def others(dtype):
    """The dtypes of the same kind; NumPy casts between kinds, which the standard leaves open."""
    kinds = ("bool", "integral", ("real floating", "complex floating"))
    kind = next(kind for kind in kinds if xp.isdtype(dtype, kind))
    return [getattr(xp, d) for d in DTYPES if xp.isdtype(getattr(xp, d), kind)]


def named(xp, keywords):
    return {k: getattr(xp, v) if k == "dtype" else v for k, v in keywords.items()}


BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor",
          "lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne")  # fmt: skip
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand",
            "ior", "ixor", "ilshift", "irshift")  # fmt: skip


class TestTheArrayObject:
    """Attributes, operators and methods."""

    def test_it_has_all(self):
        missing = set(dir(xp.asarray([1.0]))) - set(dir(pb.array([1.0])))
        assert {n for n in missing if not n.startswith("_") or n.startswith("__")} <= {
            "__annotations__",
            "__firstlineno__",  # from Python 3.13 on, of a class written in Python
            "__static_attributes__",
            "__buffer__",  # would hand out memory, and so the values without their derivative
            "__module__",
            "__slots__",
            "__weakref__",
        }

    @pytest.mark.parametrize("name", ["T", "mT", "ndim", "size"])
    def test_attributes(self, name):
        for dtype in DTYPES:
            for shape in SHAPES:
                x = content(dtype, shape)
                compare(name, lambda xp, x: getattr(x, name), x, arrays_only=name in ("T", "mT"))

    @pytest.mark.parametrize("name", [*BINARY, *IN_PLACE])
    def test_operators(self, name):
        function = getattr(operator, name)
        count = 0
        for dtype in DTYPES:
            for shape, other in [((3,), (3,)), ((2, 3), (3,)), ((), ()), ((3, 3), (3, 3))]:
                x, y = content(dtype, shape), abs(content(dtype, other, 1))
                count += compare(name, lambda xp, x, y: function(x, y), x, y.astype(dtype))
            for number in (True, 2, 2.5, 1j):
                x = content(dtype, (3,))
                count += compare(name, lambda xp, x, n=number: function(x, n), x)
                if name in BINARY:
                    count += compare(name, lambda xp, x, n=number: function(n, x), x)
        assert count

    @pytest.mark.parametrize("name", ["abs", "neg", "pos", "invert"])
    def test_operators_of_one(self, name):
        for dtype in DTYPES:
            compare(name, lambda xp, x: getattr(operator, name)(x), content(dtype, (2, 3)))

    def test_conversions(self):
        for convert in (bool, int, float, complex, operator.index):
            for dtype in DTYPES:
                compare(
                    str(convert),
                    lambda xp, x, c=convert: c(x),
                    content(dtype, ()),
                    arrays_only=False,
                )

    def test_indexing(self):
        keys = [0, -1, slice(None), slice(2, 0, -1), (0, 1), (slice(None), 0), ..., (..., 0),
                (None, 0), (slice(0, 0), slice(None))]  # fmt: skip
        for dtype in DTYPES:
            x = content(dtype, (3, 3))
            count = sum(compare("getitem", lambda xp, x, k=key: x[k], x) for key in keys)
            assert count > 4
            assert compare("mask", lambda xp, x: x[x == x], x)
            assert compare("take", lambda xp, x: x[xp.asarray([0, 1]), xp.asarray([2, 0])], x)

    def test_assignment(self):
        def assign(xp, x, key, value):
            x = xp.asarray(x, copy=True)
            x[key] = value
            return x

        for dtype in DTYPES:
            x = content(dtype, (3, 3))
            fill = functools.partial(assign, value=True if dtype == "bool" else 1)
            for key in ((0, 1), (0, slice(None)), (slice(0, 2), 1), ..., (..., 0)):
                assert compare("setitem", functools.partial(fill, key=key), x)
                assert compare("setitem", lambda xp, x, k=key: assign(xp, x, k, x[0, 0]), x)
            assert compare("setitem", lambda xp, x, fill=fill: fill(xp, x, key=x == x), x)

    def test_namespace(self):
        for x in (pb.array([1.0]), pb.array(1)):
            assert x.__array_namespace__() is pnp
            assert x.__array_namespace__(api_version="2022.12") is pnp
            assert x.__array_namespace__(api_version=None) is pnp
            with pytest.raises(ValueError, match="Version"):
                x.__array_namespace__(api_version="1999.12")

        def f(x):
            assert x.__array_namespace__() is pnp
            return x.__array_namespace__().sum(x)

        assert pb.grad(f)(2.0) == 1.0

    def test_device(self):
        x = pb.array([1.0])
        assert x.device == "cpu"
        assert x.to_device("cpu") is x
        with pytest.raises(ValueError, match="device"):
            x.to_device("gpu")
        with pytest.raises(ValueError, match="stream"):
            x.to_device("cpu", stream=1)

    def test_dlpack(self):
        """A constant is handed out as a copy; what carries a derivative is not handed out."""
        x = pb.array([1.0, 2.0])
        assert x.__dlpack_device__() == (1, 0)
        out = np.from_dlpack(x)
        np.testing.assert_array_equal(out, [1.0, 2.0])
        if not OLD:
            np.testing.assert_array_equal(np.from_dlpack(x, copy=True), [1.0, 2.0])
        x[0] = 5.0
        assert out[0] == 1.0

        def f(x):
            with pytest.raises(pb.ConversionError, match="__dlpack__"):
                x.__dlpack__()
            return np.sum(pnp.from_dlpack(x))

        np.testing.assert_array_equal(pb.grad(f)(np.ones(2)), np.ones(2))
        pb.vmap(f)(np.ones((2, 2)))


class TestUnderTransformations:
    """Dtypes and shapes are the same for Arrays of a trace, and the derivatives are there."""

    @pytest.mark.parametrize("path", [*ONE, *TWO])
    def test_live_arrays(self, path):
        n = 1 if path in ONE else 2
        for dtype in ("float32", "float64", "complex64"):
            for shape in [(), (3,), (3, 3)]:
                xs = [abs(content(dtype, shape, seed)).astype(dtype) + 1 for seed in range(n)]
                if len(shape) == 2:  # for what takes a matrix of full rank
                    xs = [x @ x.T + 9 * np.eye(3, dtype=dtype) for x in xs]
                try:
                    expected = described(ours(path, xp)(*map(strict, xs)))[1]
                except (*REFUSED, np.linalg.LinAlgError):
                    continue
                seen = []

                def f(*xs, seen=seen):
                    seen.append([part[:2] for part in described(ours(path)(*xs))[1]])
                    return 0.0

                pb.vjp(f, *xs)
                pb.jvp(f, tuple(xs), tuple(xs))
                if path not in BY_VALUE:
                    pb.vmap(f)(*[np.stack([x, x]) for x in xs])
                    assert len(seen) == 3
                for parts in seen:
                    assert parts == [part[:2] for part in expected], (path, dtype, shape)

    def test_a_program_written_for_the_standard(self):
        def softmax(x):
            xp = x.__array_namespace__()
            e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
            return e / xp.sum(e, axis=-1, keepdims=True)

        x = np.array([[0.0, 1.0], [2.0, 0.5]])
        reference = pb.jacobian(lambda x: softmax(pb.array(x) if type(x) is not pb.Array else x))(x)
        p = softmax(x)
        expected = np.zeros((2, 2, 2, 2))
        for i in range(2):
            expected[i, :, i, :] = np.diag(p[i]) - np.outer(p[i], p[i])
        np.testing.assert_allclose(reference, expected)

    @pytest.mark.share(8)
    def test_hypothesis_finds_a_namespace(self):
        """The strategies that the standard's official suite draws from."""
        from hypothesis import given, settings
        from hypothesis.extra.array_api import make_strategies_namespace

        xps = make_strategies_namespace(pnp, api_version="2022.12")

        @settings(max_examples=30 if LONG else 10, deadline=None)
        @given(xps.arrays(dtype=xps.scalar_dtypes(), shape=xps.array_shapes()))
        def run(x):
            assert type(x) is pb.Array
            assert pnp.zeros_like(x).shape == x.shape

        run()

"""Arguments of other libraries are named as what they are, and the line to write works.

Libraries that the tests do not install are stood for by classes with their names and interfaces.
"""

import array
import collections
import ctypes
import dataclasses
import datetime
import decimal
import fractions
import re
import types

import numpy as np
import pytest

import pullback as pb

X = np.array([[0.5, 1.5, 2.5], [1.0, 2.0, 3.0]])


def class_of(library, name, **members):
    """A class as the library `library` has one."""
    return type(name, (), {"__module__": f"{library}.core", **members})


def refuse(message):
    def method(self, *args, **kwargs):
        raise TypeError(message)

    return method


ARRAY = {"dtype": property(lambda self: X.dtype), "shape": property(lambda self: X.shape)}
LAZY = {**ARRAY, "__getitem__": lambda self, key: X[key]}
CLOSED = {**ARRAY, "__array__": refuse("Implicit conversion to a NumPy array is not allowed.")}


class Converts:
    def __array__(self, dtype=None, copy=None):
        return np.array(X, dtype)


@dataclasses.dataclass(frozen=True)
class Chunks(Converts):  # as zarr's, an array that is a dataclass
    sizes: tuple = (2, 3)
    shape = X.shape
    dtype = X.dtype


def table():
    pd = pytest.importorskip("pandas")
    return pd.Index(X[0])


def blocks():
    return pytest.importorskip("dask.array").from_array(X)


def strict():
    return pytest.importorskip("array_api_strict").asarray(X)


fake = lambda *args, **members: lambda: class_of(*args, **members)()
ARGUMENTS = {  # what makes it, its name in the message, the line to write
    "dask": (blocks, "a dask.Array", "np.asarray(x)"),
    "pandas": (table, "a pandas.Index", "x.to_numpy()"),
    "array API": (strict, "an array_api_strict.Array", "np.asarray(x)"),
    "JAX": (
        fake("jaxlib", "ArrayImpl", **ARRAY, __array__=Converts.__array__),
        "a jaxlib.ArrayImpl", "np.asarray(x)",
    ),
    "PyTorch": (
        fake("torch", "Tensor", **CLOSED, requires_grad=True, numpy=lambda self, force: X.copy()),
        "a torch.Tensor", "x.numpy(force=True)",
    ),
    "CuPy": (
        fake("cupy", "ndarray", **CLOSED, __cuda_array_interface__={}, get=lambda self: X.copy()),
        "a cupy.ndarray", "x.get()",
    ),
    "sparse": (
        fake("sparse", "COO", **CLOSED, tocsr=refuse("2-d only"), todense=lambda self: X.copy()),
        "a sparse.COO", "x.todense()",
    ),
    "h5py": (
        fake("h5py", "Dataset", **LAZY, __array__=Converts.__array__),
        "a h5py.Dataset", "np.asarray(x)",
    ),
    "zarr": (Chunks, "a tests.Chunks", "np.asarray(x)"),
    "polars": (
        fake("polars", "Series", shape=(3,), __array__=Converts.__array__,
             to_numpy=lambda self, *, writable=False: X[0].copy()),
        "a polars.Series", "x.to_numpy()",
    ),
    "pint": (fake("pint", "Quantity", magnitude=X.copy()), "a pint.Quantity", "x.magnitude"),
    "uncertainties": (
        fake("uncertainties", "Variable", nominal_value=1.5, __float__=refuse("use nominal_value")),
        "an uncertainties.Variable", "x.nominal_value",
    ),
    "SymPy's number": (
        fake("sympy", "Float", __float__=lambda self: 1.5, free_symbols=frozenset()),
        "a sympy.Float", "float(x)",
    ),
    "an array of fractions": (
        lambda: np.array([fractions.Fraction(1, 2)]), "object[1]", "x.astype(float)",
    ),
    "an array of what is no number": (
        lambda: np.array([class_of("uncertainties", "Variable", nominal_value=1.5)()]),
        "object[1]", "np.array([e.nominal_value for e in x.flat]).reshape(x.shape)",
    ),
    "fields": (
        lambda: np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]), "[('a', '<f8'), ",
        "np.stack([x[name] for name in x.dtype.names], axis=-1)",
    ),
    "records": (
        lambda: np.rec.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]), "numpy.record",
        "np.stack([x[name] for name in x.dtype.names], axis=-1)",
    ),
    "Fraction": (lambda: fractions.Fraction(3, 2), "a fractions.Fraction", "float(x)"),
    "Decimal": (lambda: decimal.Decimal("1.5"), "a decimal.Decimal", "float(x)"),
    "memoryview": (lambda: memoryview(X), "a memoryview", "np.asarray(x)"),
    "array.array": (lambda: array.array("d", [1.0, 2.0]), "an array.array", "np.asarray(x)"),
    "integers": (lambda: array.array("i", [1, 2]), "an array.array", "np.asarray(x, float)"),
    "range": (lambda: range(3), "a range", "np.asarray(x, float)"),
    "ctypes": (lambda: (ctypes.c_double * 2)(1.0, 2.0), "_Array_2", "np.asarray(x)"),
    "a set": (lambda: {1.0, 2.0}, "a set", "np.array(sorted(x), float)"),
    "values": (lambda: {"a": 1.0}.values(), "a dict_values", "np.array(list(x), float)"),
    "a generator": (lambda: (t for t in (1.0, 2.0)), "a generator", "np.array(list(x), float)"),
    "map": (lambda: map(float, (1, 2)), "a map", "np.array(list(x), float)"),
    "a polynomial": (
        lambda: np.polynomial.Polynomial([1.0, 2.0]), "a numpy.Polynomial", "x.coef",
    ),
    "text": (lambda: "1.5", "a str", "float(x)"),
    "a truth value": (lambda: True, "a bool", "float(x)"),
    "a Counter": (lambda: collections.Counter(a=1.5), "a collections.Counter", "dict(x)"),
    "a namespace": (lambda: types.SimpleNamespace(a=1.5), "a types.SimpleNamespace", "vars(x)"),
}  # fmt: skip


def total(x):
    leaves = x.values() if isinstance(x, dict) else [x]
    return sum(np.sum(leaf * leaf) for leaf in leaves)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_line_to_write_works(name):
    make, shown, line = ARGUMENTS[name]
    with pytest.raises(pb.PullbackError) as caught:
        pb.grad(total)(make())
    text = str(caught.value)
    assert shown in text.partition(";")[0]
    assert line in re.findall("`([^`]+)`", text.partition("\n")[2])
    gradient = pb.grad(total)(eval(line, {"np": np, "x": make()}))
    for leaf in gradient.values() if isinstance(gradient, dict) else [gradient]:
        assert np.isfinite(leaf).all()


@pytest.mark.parametrize("transformed", [pb.jvp, pb.vjp, pb.jacobian])
def test_others_say_the_same(transformed):
    x = decimal.Decimal("1.5")
    calls = {
        pb.jvp: lambda: pb.jvp(total, (x,), (1.0,)),
        pb.vjp: lambda: pb.vjp(total, x),
        pb.jacobian: lambda: pb.jacobian(total)(x),
    }
    with pytest.raises(pb.PullbackError, match=r"a decimal\.Decimal;.*\n  Write `float\(x\)`"):
        calls[transformed]()


def test_a_leaf_of_a_tree_is_named_by_its_path():
    with pytest.raises(pb.PullbackError, match=r"`p\['w'\]`.*a range(?s:.)*argument of its own"):
        pb.grad(lambda p: total(p["w"]))({"w": range(3)})


def test_what_has_no_number_is_left_out():
    with pytest.raises(
        pb.PullbackError, match=r"a datetime\.date;(?s:.)*\n  Leave it out of argnums"
    ):
        pb.grad(total)(datetime.date(2020, 1, 1))


def test_nothing_large_is_read():
    """A message asks an empty slice, where its class has axes and slices."""
    asked = []

    def read(self, dtype=None, copy=None):
        asked.append("all")
        return X

    lazy = class_of("zarr", "Array", **LAZY, __array__=read)()
    with pytest.raises(pb.PullbackError, match=r"`np.asarray\(x\)`"):
        pb.grad(total)(lazy)
    assert not asked


sparse = lambda kind: lambda: getattr(pytest.importorskip("scipy.sparse"), kind)(X)
GIVEN = {name: make for name, (make, _, _) in ARGUMENTS.items()}
GIVEN |= {kind: sparse(kind) for kind in ("csr_array", "csc_matrix", "coo_array", "dia_matrix")}


@pytest.mark.parametrize("name", GIVEN)
def test_an_array_of_them_is_one_of_numbers(name):
    """`pullback.array(x)` is an array of numbers, or the line to write makes one."""
    try:
        found = pb.array(GIVEN[name]())
    except pb.PullbackError as error:
        message = str(error)
    except (TypeError, ValueError):  # its library's own: it says why it has none
        return
    else:
        message = ""
    if message:
        lines = re.findall("Write `([^`]+)`", message)
        assert lines or re.search("Give numbers|Make one of each", message)
        if not lines:
            return
        found = eval(lines[0], {"np": np, "pullback": pb, "x": GIVEN[name]()})
    assert isinstance(found.numpy(), (np.ndarray, np.generic, float, bool))
    assert np.isfinite(found.numpy()).all()

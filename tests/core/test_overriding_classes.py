"""Classes that take over from arrays, by `__array_ufunc__` and `__array_function__`."""

import operator

import numpy as np

import pullback as pb

W = np.array([1.0, 2.0])


class Unit:
    """A value with a unit, which is lost where NumPy makes an array of it."""

    def __init__(self, value, unit="m"):
        self.value, self.unit = value, unit

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("the unit would be lost")

    def __array_ufunc__(self, ufunc, method, *xs, **options):
        if method != "__call__":
            return NotImplemented
        xs = [x.value if isinstance(x, Unit) else x for x in xs]
        options.pop("out", None)
        return Unit(ufunc(*xs, **options), self.unit)

    def __array_function__(self, function, types, xs, options):
        return Unit(function(*[x.value if isinstance(x, Unit) else x for x in xs], **options))

    def __rmul__(self, other):
        return Unit(other * self.value, "reflected")

    __radd__ = __rsub__ = __rtruediv__ = __rpow__ = __rmul__


OPERATORS = (
    "add sub mul truediv floordiv mod pow lt le gt ge eq ne matmul iadd imul isub".split()
)  # fmt: skip
CALLS = {
    "multiply": lambda x: np.multiply(x, Unit(3.0)),
    "the other way": lambda x: np.multiply(Unit(np.array([3.0, 1.0])), x),
    "two units": lambda x: np.add(Unit(x), Unit(W)),
    "of an array": lambda x: W * Unit(x),
    "dot": lambda x: np.dot(x, Unit(W)),
    "where": lambda x: np.where(np.array([True, False]), x, Unit(3.0)),
    "concatenate": lambda x: np.sum(Unit(x)),
}


def by_operator(name):
    other = Unit(W if name == "matmul" else 3.0)
    return lambda x: getattr(operator, name)(x * 1.0, other)


CALLS |= {name: by_operator(name) for name in OPERATORS}


def of_unit(f):
    def call(x):
        out = f(x)
        assert type(out) is Unit
        return np.sum(out.value * 1.0) + (out.unit == "reflected") + np.sum(x)

    return call


def test_classes_that_take_over():
    faults = {}
    for name, f in CALLS.items():
        for x in (np.array([1.2, 2.3]), np.float64(1.7)):
            if name == "matmul" and not np.ndim(x):
                continue
            program = of_unit(f)
            steps = 1e-6 * np.eye(2) if np.ndim(x) else [1e-6]
            expected = [(program(x + h) - program(x - h)) / 2e-6 for h in steps]
            try:
                value, gradient = pb.value_and_grad(program)(x)
            except Exception as error:
                faults[name, np.ndim(x)] = repr(error)[:200]
                continue
            if not np.isclose(value, program(x)) or not np.allclose(gradient, expected, 1e-6):
                faults[name, np.ndim(x)] = value, program(x), gradient, expected
    assert faults == {}


def test_a_python_number_leaves_it_to_the_other():
    value, gradient = pb.value_and_grad(of_unit(lambda x: x * Unit(3.0)))(1.7)
    assert (value, gradient) == (1.7 * 3.0 + 1.0 + 1.7, 4.0)


class Named(np.ndarray):
    """An array that answers some functions, among its own kind, and leaves others to arrays."""

    def __array_function__(self, function, types, xs, options):
        if function not in (np.linalg.solve, np.outer, np.tensordot, np.einsum, np.where):
            return super().__array_function__(function, types, xs, options)
        if not all(issubclass(t, Named) for t in types):
            return NotImplemented
        xs = [np.asarray(x) if isinstance(x, Named) else x for x in xs]
        return 3.0 * function(*xs, **options)


BOTH = {
    "solve": np.linalg.solve,
    "dot": np.dot,
    "outer": np.outer,
    "kron": np.kron,
    "tensordot": lambda x, y: np.tensordot(x, y, 1),
    "einsum": lambda x, y: np.einsum("ij,jk", x, y),
    "where": lambda x, y: np.where(x, x, y),
}


def test_what_a_class_leaves_to_arrays():
    """`types` names the arrays beside an object; where its class declines, they answer."""
    m, faults = np.array([[2.0, 0.3], [0.4, 1.5]]), {}
    sides = {"both": (1, 1), "left": (1, 0), "right": (0, 1)}
    for name, function in BOTH.items():
        for side, (left, right) in sides.items():

            def program(t, function=function, left=left, right=right):
                x, y = m * t, np.cos(m) + t
                out = function(x.view(Named) if left else x, y.view(Named) if right else y)
                return np.sum(np.asarray(out))

            expected = (program(1.3 + 1e-6) - program(1.3 - 1e-6)) / 2e-6
            try:
                value, gradient = pb.value_and_grad(program)(1.3)
            except Exception as error:
                faults[name, side] = repr(error)[:200]
                continue
            if not np.isclose(value, program(1.3)) or not np.isclose(gradient, expected, 1e-6):
                faults[name, side] = value, program(1.3), gradient, expected
    assert faults == {}

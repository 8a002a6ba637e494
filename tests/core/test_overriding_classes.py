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

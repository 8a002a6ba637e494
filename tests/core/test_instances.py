"""Programs with classes that derive from ndarray or float: right, or refused in words.

Each class meets each program that suits it: value, gradient in both modes, classes and attributes
of what the program makes, and a plain call afterwards.
"""

import itertools
import math

import numpy as np
import pytest

import pullback as pb


class Length(np.ndarray):
    """With an attribute, that NumPy hands on."""

    def __new__(cls, data, unit="m"):
        self = np.asarray(data).view(cls)
        self.unit = unit
        return self

    def __array_finalize__(self, obj):
        if obj is not None:
            self.unit = getattr(obj, "unit", "none")

    @property
    def doubled(self):
        return self * 2.0


class Kept(np.ndarray):
    """With slots."""

    __slots__ = ("unit",)

    def __new__(cls, data, unit="m"):
        self = np.asarray(data).view(cls)
        self.unit = unit
        return self

    def __array_finalize__(self, obj):
        self.unit = getattr(obj, "unit", "none")


class Checked(np.ndarray):
    """With `__init__`, and a way of its own for items and sums."""

    unit = "class"

    def __new__(cls, data):
        return np.asarray(data, dtype=float).view(cls)

    def __init__(self, data):
        self.unit = "checked"

    def __getitem__(self, index):
        return super().__getitem__(index) * 1.5

    def sum(self, *args, **kwargs):
        return np.ndarray.sum(self, *args, **kwargs) + 1.0


class Squeezed(np.ndarray):
    """With `__array_ufunc__`: it computes with plain arrays, and doubles what it is given."""

    unit = "squeezed"

    def __new__(cls, data):
        return np.asarray(data).view(cls)

    def __array_ufunc__(self, ufunc, method, *xs, out=None, **options):
        xs = [x.view(np.ndarray) * 2.0 if isinstance(x, Squeezed) else x for x in xs]
        if out is not None:
            options["out"] = tuple([x.view(np.ndarray) for x in out])
        result = super().__array_ufunc__(ufunc, method, *xs, **options)
        if result is NotImplemented:
            return result
        return result.view(Squeezed) if isinstance(result, np.ndarray) else result


class Below(Length):
    """Derived from another, with operators of its own."""

    def __add__(self, other):
        return super().__add__(other) * 3.0

    __radd__ = __add__

    def __mul__(self, other):
        return np.multiply(self, other).view(Below)


class Bare(np.ndarray):
    unit = "bare"


FACTOR = Length([1.0, -2.0, 0.5], "s")
ARRAY_CLASSES = [Length, Kept, Checked, Squeezed, Below]
ARRAY_PROGRAMS = {
    "norm": lambda c, x: np.sqrt((c(x) ** 2).sum()),
    "operators": lambda c, x: (2.0 * c(x) + x - c(x) / 3.0).sum() + (-abs(c(x))).sum(),
    "both sides": lambda c, x: np.sum((x * c(x) + c(x) * x) * np.arange(3.0)),
    "ufuncs": lambda c, x: np.sum(np.sin(c(x)) + np.exp(c(x)) * np.arctan2(c(x), 2.0)),
    "reduction": lambda c, x: np.add.reduce(c(x)) * np.max(c(x)) + c(x).min(),
    "items": lambda c, x: c(x)[0] * c(x)[1:].sum() + c(x)[np.array([True, False, True])].sum(),
    "iteration": lambda c, x: sum(y * y for y in c(x)),
    "plain views": lambda c, x: np.sum(c(x).view(np.ndarray) * np.asarray(c(x))),
    "conversion": lambda c, x: float(c(x)[1]) * 2.0 + math.sin(float(c(x).sum())),
    "shapes": lambda c, x: (c(x).reshape(3, 1) * c(x).reshape(1, 3)).T.sum(axis=0)[1],
    "products": lambda c, x: np.dot(np.asarray(c(x)), x) + (c(x) @ np.arange(3.0)).sum(),
    "functions": lambda c, x: np.mean(np.concatenate([c(x), c(x) * 2.0])) + np.linalg.norm(c(x)),
    "in place": lambda c, x: in_place(c(x.copy())).sum(),
    "written": lambda c, x: written(c(x.copy()), x).sum(),
    "of its class": lambda c, x: (type(c(x))(x) * 2.0).sum() * isinstance(c(x), c),
    "statistics": lambda c, x: c(x).mean() + c(x).var() * c(x).std(),
    "beside a plain one": lambda c, x: np.sum(x * FACTOR + FACTOR * x) + np.sum(FACTOR + x),
    "sorted": lambda c, x: np.sort(c(x))[0] + np.cumsum(c(x))[-1],
    "attribute": lambda c, x: (c(x) * len(c(x).unit)).sum(),
    "attribute of a result": lambda c, x: (c(x) * 2.0).sum() * len((c(x) * 2.0).unit),
    "assigned": lambda c, x: assigned(c, x).sum(),
    "made of a buffer": lambda c, x: np.ndarray.__new__(c, x.shape, float, x * 2.0).sum(),
    "comparison": lambda c, x: np.sum(np.where(c(x) > 0.2, c(x), x**2)),
}  # fmt: skip


def in_place(a):
    a += 1.0
    a *= a
    return a


def written(a, x):
    a[0] = x[1] * x[2]
    a[1:] = a[1:] * 3.0
    return a


def assigned(c, x):
    a = np.zeros((2, 3))
    a[0], a[1, 1:] = c(x), (c(x) * 2.0)[1:]
    a[1, :] += FACTOR * x
    return a


def added(a, x):
    a += x
    return a


def replaced(a, x):
    a[0] = x
    return a


PLAIN = np.array([1.0, 2.0, 3.0])
MADE = {c: c(np.array([1.0, 2.0, 3.0])) for c in ARRAY_CLASSES}
ARRAY_PROGRAMS |= {
    "dot of one made before": lambda c, x: np.sum(MADE[c].dot(x)),
    "clip of one made before": lambda c, x: np.sum(MADE[c].clip(x[2], x[0]) * x),
    "sum of one made before": lambda c, x: MADE[c].sum(initial=x[0]) * x[1],
    "copy of one made before": lambda c, x: np.sum(replaced(MADE[c].copy(), x[1]) * x),
    "added to an array": lambda c, x: np.sum(added(x * 1.0, c(x * x))),
    "one made before, added": lambda c, x: np.sum(added(x * x, MADE[c])),
    "plain array on the left": lambda c, x: np.sum(PLAIN * c(x) + (PLAIN - c(x)) / PLAIN),
    "ufunc of a plain array": lambda c, x: np.sum(np.multiply(PLAIN, c(x)) + np.add(PLAIN, c(x))),
    "compared with a plain array": lambda c, x: np.sum(x * np.asarray(PLAIN < c(x) * 4.0)),  # noqa: SIM300  # the array stands first on purpose
    "operator of one made before": lambda c, x: np.sum(MADE[c].__mul__(x) - MADE[c].__rsub__(x)),
}


class Angle(float):
    def __new__(cls, x, name="angle"):
        self = float.__new__(cls, x)
        self.name = name
        return self

    def turned(self):
        return Angle(self * 2.0, self.name)

    def __add__(self, other):
        return Angle(float(self) * 3.0 + float(other))


class Degrees(float):
    @property
    def radians(self):
        return self * math.pi / 180.0


class Begun(float):
    def __new__(cls, x):
        return super().__new__(cls, x)

    def __init__(self, x):
        self.times = 3


class Small(float):
    __slots__ = ()

    def __mul__(self, other):
        out = super().__mul__(other)
        return out if out is NotImplemented else Small(out)


class Tagged(float):
    __slots__ = ("name",)

    def __new__(cls, x, name="tag"):
        self = super().__new__(cls, x)
        self.name = name
        return self

    def __mul__(self, other):
        out = super().__mul__(other)
        return out if out is NotImplemented else Tagged(out * len(self.name), self.name + "*")


FLOAT_CLASSES = [Angle, Degrees, Begun, Small, Tagged]
FLOAT_PROGRAMS = {
    "operators": lambda c, x: -c(x[0]) + 3 * c(x[1]) - abs(c(x[2])) / c(x[0]) + c(x[1]) ** 2,
    "chained": lambda c, x: (c(x[0]) + x[1]) * x[2] + c(c(x[0]) * 2.0),
    "math": lambda c, x: math.sin(c(x[0])) + math.hypot(c(x[1]), 1.0) + math.floor(c(x[2])),
    "numpy": lambda c, x: np.sin(c(x[0])) + np.sum(np.array([c(x[1]), 2.0]) * x[:2]),
    "choice": lambda c, x: max(c(x[0]), c(x[1])) + (c(x[2]) if c(x[2]) < c(x[1]) else 0.0),
    "conversion": lambda c, x: float(c(x[0])) * float(repr(2.0)) * isinstance(c(x[0]), float),
    "of its class": lambda c, x: type(c(x[0]))(x[1]) * isinstance(c(x[0]), c),
    "beside arrays": lambda c, x: np.sum(c(x[0]) * x + x / c(x[1])),
    "sum": lambda c, x: sum([c(x[0]), c(x[1]), 1.0]),
}  # fmt: skip
ONLY = {
    "turned": (Angle, lambda c, x: c(x[0]).turned() * len(c(x[1], "q").turned().name)),
    "property": (Degrees, lambda c, x: c(x[0]).radians * c(x[1]).radians),
    "begun": (Begun, lambda c, x: c(x[0]) * c(x[1]).times),
    "doubled": (Length, lambda c, x: (c(x, "km").doubled * len((c(x, "km") * 2.0).unit)).sum()),
    "bare": (Bare, lambda c, x: (x.view(Bare) * 2.0).sum() * len((x.view(Bare) + 1.0).unit)),
}
X = np.array([0.7, 0.4, -0.3])
CASES = {
    f"{name} of {c.__name__}": (f, c)
    for classes, programs in ((ARRAY_CLASSES, ARRAY_PROGRAMS), (FLOAT_CLASSES, FLOAT_PROGRAMS))
    for c, (name, f) in itertools.product(classes, programs.items())
    if not (c is Squeezed and "added" in name)  # it is refused: it has a ufunc of its own
} | {name: (f, c) for name, (c, f) in ONLY.items()}


def fault(f, c):
    """What is wrong with a program, eager and compiled."""

    def fun(x):
        return f(c, x)

    plain = float(fun(X))
    steps = 1e-6 * np.eye(3)
    expected = [(float(fun(X + h)) - float(fun(X - h))) / 2e-6 for h in steps]
    value, gradient = pb.value_and_grad(fun)(X)
    if not np.isclose(value, plain, rtol=1e-12, atol=1e-12):
        return f"value {value} for {plain}"
    forward = pb.jacobian(fun, mode="forward")(X)
    again = pb.grad(fun)(X)
    compiled = pb.compile(pb.grad(fun))
    results = {"reverse": gradient, "forward": forward, "again": again}
    results |= {f"compiled {i}": compiled(X) for i in range(3)}
    for name, result in results.items():
        if not np.allclose(result, expected, rtol=1e-6, atol=1e-7):
            return f"{name}: {result} for {expected}"
    return None if float(fun(X)) == plain else "a plain call afterwards"


# Where NumPy calls the class's own methods from C, or writes into a copy that one of them makes.
REFUSED_CASES = {"written of Checked", "statistics of Squeezed", "sorted of Squeezed"}


@pytest.mark.share(4)
@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
def test_programs():
    faults = {}
    for name, (f, c) in CASES.items():
        try:
            found = fault(f, c)
        except pb.MissingRuleError as error:
            found = None if name in REFUSED_CASES else str(error)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        if found:
            faults[name] = found
    assert faults == {}


def test_results_are_of_the_class():
    seen = []

    def fun(x):
        a = Length(x, "km")
        same = (a, a * 2.0, a[1:], a.T, np.sin(a), a.reshape(3, 1), np.concatenate([a, a]))
        seen.extend(
            [(type(y), y.__class__, isinstance(y, Length), getattr(y, "unit", 0)) for y in same]
        )
        others = (a.view(np.ndarray), np.asarray(a), a[0], np.dot(x, x))
        seen.extend([(type(y) is np.ndarray, isinstance(y, Length)) for y in others])
        return a.sum()

    fun(X)
    plain = seen[:]
    seen.clear()
    pb.grad(fun)(X)
    assert seen == plain


def test_what_is_left_behind_becomes_an_object_of_the_class():
    class Keeper:
        def run(self, x):
            self.last = Length(x, "km") * 2.0
            return self.last.sum()

    keeper = Keeper()
    pb.grad(keeper.run)(X)
    assert type(keeper.last) is Length
    assert keeper.last.unit == "km"
    np.testing.assert_array_equal(keeper.last, 2.0 * X)
    assert keeper.run(X) == pytest.approx(2.0 * X.sum())


def test_second_derivatives():
    hessian = pb.hessian(lambda x: (Length(x) ** 3).sum())(X)
    np.testing.assert_allclose(hessian, np.diag(6.0 * X))


def test_an_object_in_a_tree_is_its_array():
    jacobian = pb.jacobian(lambda x: {"a": [Length(x) * 2.0]})(X)
    np.testing.assert_array_equal(jacobian["a"][0], 2.0 * np.eye(3))
    stopped = pb.grad(lambda x: pb.stop_gradient(Length(x) * 3.0).sum() + x.sum())(X)
    np.testing.assert_array_equal(stopped, np.ones(3))
    gradient, aux = pb.grad(lambda x: (Length(x).sum(), (Length(x),)), has_aux=True)(X)
    np.testing.assert_array_equal(gradient, np.ones(3))
    np.testing.assert_array_equal(aux[0], X)
    saved = pb.grad(lambda x: pb.checkpoint(lambda y: Length(y) * y)(x).sum())(X)
    np.testing.assert_allclose(saved, 2.0 * X)


class Unit(np.ndarray):
    """With `__array_ufunc__` that hands on the numbers, as units do: products have the unit."""

    def __new__(cls, data):
        return np.asarray(data, dtype=float).view(cls)

    @property
    def number(self):
        return self.view(np.ndarray)

    def __array_ufunc__(self, ufunc, method, *xs, **options):
        xs = [getattr(x, "number", x) for x in xs]
        result = super().__array_ufunc__(ufunc, method, *xs, **options)
        if result is NotImplemented or ufunc not in (np.multiply, np.divide):
            return result
        return np.asarray(result).view(Unit)


class Answering(Length):
    """With `__array_function__` that changes what it asks of ndarray."""

    def __array_function__(self, function, types, xs, options):
        result = super().__array_function__(function, types, xs, options)
        return result if result is NotImplemented else result * 1.5


OUTSIDE = [
    kind(data) for kind in (Length, Squeezed, Unit, Answering) for data in (2.0, [1.0, -2.0, 0.5])
]
BESIDE = {
    "a number": lambda x: x[0],
    "a number without axes": lambda x: np.array(x[1]),
    "an array": lambda x: x,
    "a part": lambda x: x[:1],
    "a constant": lambda x: np.asarray(1.5),
    "a constant array": lambda x: np.asarray([1.5, 2.0, 0.7]),
}
WITH_OUTSIDE = {
    "left": lambda q, a: a * q, "right": lambda q, a: q * a, "sum": lambda q, a: a + q,
    "quotient": lambda q, a: q / a - a / q, "ufunc": np.multiply, "power": lambda q, a: a**q,
    "angle": np.arctan2, "inplace": lambda q, a: np.add(q, a, out=np.zeros((3,))),
    "outer": np.multiply.outer, "comparison": lambda q, a: np.where(a < q, a, q),
    "functions": lambda q, a: np.sum(q * a) + np.dot(np.ravel(q)[:1], np.ravel(a)[:1]),
    "joined": lambda q, a: np.concatenate([np.ravel(q), np.ravel(a)])[1:],
    "chosen": lambda q, a: np.where(np.sum(q) > 0, q, a) * np.sum(q),
}  # fmt: skip


def test_objects_from_outside():
    """What the class makes of an object that was there before, beside what is differentiated."""
    x, dot = np.array([0.3, 0.7, 1.6]), np.array([0.9, -0.4, 0.2])
    for q, (given, part), (name, fun) in itertools.product(
        OUTSIDE, BESIDE.items(), WITH_OUTSIDE.items()
    ):
        f = lambda x, q=q, part=part, fun=fun: np.sum(np.asarray(fun(q, part(x)) * x[0]))
        case = f"{name} of {type(q).__name__}{q.shape} and {given}"
        value, gradient = pb.value_and_grad(f)(x)
        np.testing.assert_allclose(value, f(x), rtol=1e-14, err_msg=case)
        expected = (f(x + 1e-6 * dot) - f(x - 1e-6 * dot)) / 2e-6
        np.testing.assert_allclose(gradient @ dot, expected, rtol=1e-6, atol=1e-8, err_msg=case)


class Parts(np.ndarray):
    """Arrays of several shapes in one: an array of objects."""

    def __new__(cls, parts):
        self = np.ndarray.__new__(cls, len(parts), dtype=object)
        for i, part in enumerate(parts):
            self[i] = part
        return self


def parts(x):
    return Parts([np.asarray([1.0, 2.0]) * x, np.asarray([[3.0], [4.0]]) * x[1], x[0]])


def fixed():
    return Parts([np.asarray([1.0, 2.0]), np.asarray([[3.0], [4.0]]), np.asarray(5.0)])


def plain_parts():
    out = np.empty(2, dtype=object)
    out[0], out[1] = np.array([1.0, 2.0]), np.array([[3.0], [4.0]])
    return out


LESS = [0.5, 1.0, 2.0]
OF_OBJECTS = {
    "item": lambda x: (parts(x) - np.asarray(LESS))[1],
    "array first": lambda x: (np.asarray(LESS) * parts(x))[0],
    "inner": lambda x: np.exp(np.inner(parts(x) - np.asarray(LESS), np.asarray([0.6, 0.8, 0.1]))),
    "of constants": lambda x: np.exp(x[0] * np.inner(fixed() - np.asarray(LESS), np.asarray(LESS))),
    "of constants, an item": lambda x: (fixed() - np.asarray(LESS))[0] * x,
    "no class": lambda x: np.exp(x[1] * np.inner(plain_parts() - np.array([1.0, 2.0]), [0.6, 0.8])),
    "no class, an item": lambda x: (plain_parts() - np.array([1.0, 2.0]))[0] * x,
}


def test_arrays_of_objects():
    """What they hold may be Arrays: those count, and nothing of them is left in a result."""
    x, dot = np.array([0.3, 0.7]), np.array([0.9, -0.4])
    for name, part in OF_OBJECTS.items():
        f = lambda x, part=part: np.sum(part(x))
        value, gradient = pb.value_and_grad(f)(x)
        assert type(value) is np.float64, name
        np.testing.assert_allclose(value, f(x), rtol=1e-14, err_msg=name)
        expected = (f(x + 1e-5 * dot) - f(x - 1e-5 * dot)) / 2e-5
        np.testing.assert_allclose(gradient @ dot, expected, rtol=1e-7, err_msg=name)


class Doubling(np.ndarray):
    """A class that computes where NumPy only hands on a result."""

    def __array_wrap__(self, x, context=None, return_scalar=False):
        return (np.asarray(x) * 2.0).view(Doubling)


REFUSED = {
    "numbers changed in `__array_wrap__`": lambda x: np.asarray(np.sin(x.view(Doubling))).sum(),
    "mapped": lambda x: pb.vmap(lambda y: Length(y).sum())(np.ones((2, 3)) * x).sum(),
    "memory": lambda x: memoryview(x.view(Bare)),
    "compiled code": lambda x: np.linalg.norm(np.array(x.view(Bare).tobytes())),
}


def test_what_is_refused():
    for name, fun in REFUSED.items():
        try:
            pb.grad(fun)(X)
        except (pb.PullbackError, TypeError):
            continue
        raise AssertionError(f"{name} was not refused")


class Components(np.ndarray):
    """Numbers and arrays of several shapes, which hold something already."""

    def __new__(cls, *parts):
        self = np.ndarray.__new__(cls, len(parts), dtype=object)
        for i, part in enumerate(parts):
            self[i] = part
        return self

    def __array_finalize__(self, obj):
        if self.ndim > 1:
            raise ValueError("one axis")


@pytest.mark.parametrize("operate", [np.subtract, np.multiply, np.true_divide, lambda a, b: b - a])
def test_plain_objects_of_a_class_beside_what_is_traced(operate):
    grid, x = Components(np.ones((2, 1)), np.full((1, 2), 2.0), 0.5), np.array([0.5, 1.0, 0.3])

    def f(x):
        out = operate(grid, x)
        return np.sum(out[0] ** 2) + np.sum(out[1] * out[2])

    h, gradient = 1e-6, pb.grad(f)(x)
    wanted = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-9)
    assert type(grid[0]) is np.ndarray

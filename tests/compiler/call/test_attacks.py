"""compile: programs whose state, arguments and effects are hard to see from outside."""

import collections
import contextlib
import dataclasses
import enum
import functools
import io
import itertools
import math
import operator
import sys
import types
import warnings

import numpy as np
import pytest

from pullback import grad
from pullback.compiler.call.compiled import compile
from tests.compiler.call.test_compile import X, agree, equal, times


def agree_always(maker, calls):
    """Plain and compiled agree in all calls; whether it is compiled is left open."""
    plain, state = maker()
    other, twin = maker()
    fast = compile(other)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*falls back to Python")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="numpy")
        for call in calls:
            expected, got = result(call, plain, state), result(call, fast, twin)
            equal(got, expected)
    return fast


def result(call, f, state):
    with np.errstate(all="ignore"):
        try:
            return call(f, state)
        except Exception as error:
            return type(error)


def with_change(change):
    changed = lambda f, s: change(s) or f(X)
    return [*times(30, X), changed, *times(3, X), changed, *times(3, X)]


def of_cell(body):
    """A program over a variable of its maker, and a function that changes it."""

    def maker():
        scale = 2.0

        def change():
            nonlocal scale
            scale += 1

        return body(lambda: scale), change

    return maker


def method(name, answer, use):
    """A class whose special method reads a variable of the function around it."""

    def body(get):
        made = type("Made", (), {name: lambda self, *args: answer(get())})()
        return lambda x: use(made, x)

    return of_cell(body)


METHODS = {
    "__call__": (lambda v: v, lambda m, x: m() * x),
    "__add__": (lambda v: v, lambda m, x: (m + 1) * x),
    "__radd__": (lambda v: v, lambda m, x: (1 + m) * x),
    "__getitem__": (lambda v: v, lambda m, x: m[0] * x),
    "__getattr__": (lambda v: v, lambda m, x: m.anything * x),
    "__len__": (int, lambda m, x: len(m) * x),
    "__iter__": (lambda v: iter([v]), lambda m, x: sum(m) * x),
    "__contains__": (lambda v: v == 2.0, lambda m, x: x if 1 in m else -x),
    "__float__": (lambda v: v, lambda m, x: float(m) * x),
    "__bool__": (lambda v: v == 2.0, lambda m, x: x if m else -x),
    "__eq__": (lambda v: v == 2.0, lambda m, x: x if m == 1 else -x),
    "__index__": (lambda v: int(v) % 3, lambda m, x: x[m]),
}


class Descriptor:
    gain = 2.0

    def __get__(self, owner, cls=None):
        return type(self).gain


class TestHiddenState:
    @pytest.mark.parametrize("name", METHODS)
    def test_special_methods(self, name):
        agree_always(method(name, *METHODS[name]), with_change(lambda change: change()))

    def test_special_methods_replaced(self):
        def maker():
            class Model:
                def __call__(self, x):
                    return x * 2

            return Model(), Model

        new = lambda cls: setattr(cls, "__call__", lambda self, x: x * 5)
        agree_always(maker, with_change(new))

    def test_attributes_and_options_of_functions(self):
        def maker():
            def f(x, *, k=2.0):
                return x * k * f.gain

            f.gain = 1.5
            return f, f

        agree_always(maker, with_change(lambda f: setattr(f, "gain", f.gain + 1)))
        agree_always(maker, with_change(lambda f: f.__kwdefaults__.update(k=7.0)))

    def test_code(self):
        def maker():
            def f(x):
                return x * 2

            return f, f

        agree_always(maker, with_change(lambda f: setattr(f, "__code__", (lambda x: x).__code__)))

    def test_what_hides_a_builtin(self):
        def maker():
            scope = {"np": np, "__name__": "program"}
            exec("def f(x):\n    return x * len([1])", scope)
            return scope["f"], scope

        agree_always(maker, with_change(lambda scope: scope.update(len=lambda y: 7)))

    def test_enums(self):
        def maker():
            class Kind(enum.Enum):
                A = [1.0]  # noqa: RUF012  # a value that can change

            return (lambda x: x * Kind.A.value[0]), Kind.A.value

        agree_always(maker, with_change(lambda value: value.append(value.pop() + 1)))

    def test_metaclasses_and_descriptors(self):
        def maker():
            class Meta(type):
                rate = 2.0

            class Model(metaclass=Meta):
                part = Descriptor()

            Descriptor.gain = 2.0
            return (lambda x: x * Model.rate * Model.part), Meta

        agree_always(maker, with_change(lambda meta: setattr(meta, "rate", meta.rate + 1)))

    @pytest.mark.parametrize("slots", ["rate", ("rate", "_Model__own")])
    def test_slots(self, slots):
        def maker():
            model = type("Model", (), {"__slots__": slots})()
            model.rate = 2.0
            return (lambda x: x * model.rate), model

        agree_always(maker, with_change(lambda m: setattr(m, "rate", m.rate + 1)))

    def test_private_slots(self):
        def maker():
            class Model:
                __slots__ = ("__rate",)

                def __init__(self):
                    self.__rate = 2.0

                def step(self, x):
                    return x * self.__rate

                def change(self):
                    self.__rate += 1

            model = Model()
            return model.step, model

        agree_always(maker, with_change(lambda m: m.change()))

    @pytest.mark.parametrize(
        "use",
        [
            lambda p: sum(dataclasses.astuple(p)),
            lambda p: dataclasses.asdict(p)["b"],
            lambda p: float("{p.b}".format(p=p)),
        ],
    )
    def test_names_that_are_not_in_the_code(self, use):
        def maker():
            pair = dataclasses.make_dataclass("Pair", [("a", float), ("b", float)])(1.0, 2.0)
            return (lambda x: use(pair) * x), pair

        agree_always(maker, with_change(lambda p: setattr(p, "b", p.b + 1)))

    def test_patterns(self):
        def maker():
            pair_of = dataclasses.make_dataclass("Pair", [("hidden", float)])
            pair = pair_of(1.0)

            def f(x):
                match pair:
                    case pair_of(a):
                        return x * a

            return f, pair

        agree_always(maker, with_change(lambda p: setattr(p, "hidden", p.hidden + 1)))

    @pytest.mark.parametrize(
        ("base", "content"),
        [(collections.deque, [1.0]), (bytearray, b"a"), (collections.UserList, [1])],
    )
    def test_classes_over_those_of_libraries(self, base, content):
        def maker():
            data = type("Data", (base,), {})(content)
            return (lambda x: data[0] * x), data

        agree_always(maker, with_change(lambda data: data.__setitem__(0, data[0] + 1)))

    def test_arrays_of_a_class_of_their_own(self):
        def maker():
            data = np.array([1.0, 2.0]).view(type("Data", (np.ndarray,), {}))
            return (lambda x: np.sum(np.asarray(data)) * x), data

        agree_always(maker, with_change(lambda data: data.__setitem__(0, data[0] + 1)))

    def test_counts_of_a_class_of_their_own(self):
        def maker():
            count = type("Count", (itertools.count,), {})()
            return (lambda x: next(count) * x), None

        agree_always(maker, times(8, X))

    @pytest.mark.parametrize("text", ["import {0}\n    k = {0}.k", "from {0} import k"])
    def test_imports_inside(self, text, monkeypatch):
        module = types.ModuleType("imported_inside")
        module.k = 1.0
        monkeypatch.setitem(sys.modules, module.__name__, module)
        scope = {"__name__": "program"}
        exec(f"def f(x):\n    {text.format(module.__name__)}\n    return x * k", scope)
        fast = compile(scope["f"])
        for k in (1.0, 1.0, 1.0, 2.0, 2.0, 1.0):
            module.k = k
            equal(fast(X), X * k)

    def test_functions_inside_decorators(self):
        def body(get):
            @contextlib.contextmanager
            def scaled():
                yield get()

            def f(x):
                with scaled() as scale:
                    return x * scale

            return f

        agree_always(of_cell(body), with_change(lambda change: change()))

    def test_singledispatch(self):
        def maker():
            rule = functools.singledispatch(lambda a, x: x)
            return (lambda x: rule(1.0, x)), rule

        change = lambda rule: rule.register(float, lambda a, x: x * 7) and None
        agree_always(maker, with_change(change))

    def test_the_same_code_in_two_modules(self):
        def maker():
            text = "def helper(x):\n    return x * rate"
            a, b = {"rate": 1.0, "__name__": "a"}, {"rate": 2.0, "__name__": "b"}
            exec(text, a)
            exec(text, b)
            first, second = a["helper"], b["helper"]
            return (lambda x: first(x) + second(x)), b

        agree_always(maker, with_change(lambda b: b.update(rate=b["rate"] + 1)))

    def test_exchanges_in_large_arrays(self):
        def maker():
            data = np.zeros(200_000)
            data[0] = data[1024] = 1.0
            return (lambda x: (np.sum(data) + data[0]) * x), data

        def change(data):
            data[[0, 1, 1023, 1024]] = 1 - data[[0, 1, 1023, 1024]]

        agree_always(maker, with_change(change))


class TestStores:
    """What a recorded call leaves behind is what the function leaves."""

    def test_of_arrays(self):
        def maker():
            kept = types.SimpleNamespace(last=None, all=[], named={})

            def f(x):
                kept.last = x * 2
                kept.all.append(x.sum())
                kept.named["pair"] = (x, 1)
                return x * 3

            return f, kept

        calls = [lambda f, s: (f(X), s.last, list(s.all), dict(s.named))] * 4
        agree_always(maker, calls)

    def test_before_an_exception(self):
        def maker():
            def f(x):
                x[0] = 7.0
                if x[1] > 0:
                    raise ValueError(f"{x[1]}", x)
                return x * 1.0

            return f, None

        def call(f, sign):
            x = sign * X
            try:
                return f(x), x
            except ValueError as error:
                return error.args, x

        agree_always(maker, [lambda f, s, k=k: call(f, k) for k in (1, -1, -1, 1, -1, 1)])

    def test_into_an_array_that_is_read_elsewhere(self):
        def maker():
            data = np.array([1.0, 2.0, 3.0])

            def f(x):
                x[0] += 1
                return data.sum()

            return f, data

        mine = lambda f, s: (f(s), s.copy())
        agree_always(maker, [mine] * 4)
        agree_always(maker, [*[lambda f, s: f(X.copy())] * 4, *[mine] * 4])

    def test_into_memory_of_two_elements(self):
        def maker():
            def f(x):
                x[0, 1] = 9.0
                return x.sum()

            return f, None

        def call(f, s):
            base = np.arange(5.0)
            return f(np.lib.stride_tricks.as_strided(base, (3, 2), (8, 8))), base

        agree_always(maker, [call] * 3)
        agree_always(maker, [*[lambda f, s: f(np.ones((3, 2)))] * 3, *[call] * 3])

    def test_into_what_is_read_only(self):
        def maker():
            def f(x):
                try:
                    x[0] = 1.0
                except ValueError:
                    return x * 0
                return x * 2

            return f, None

        def call(f, writeable):
            x = X.copy()
            x.flags.writeable = writeable
            return f(x), x

        agree_always(maker, [lambda f, s, w=w: call(f, w) for w in (1, 1, 1, 0, 0, 1, 0)])

    @pytest.mark.parametrize(
        "change",
        [
            lambda a: a["list"].append(1.0),
            lambda a: a["list"].reverse(),
            lambda a: a.update(x=a["x"] * 2),
            lambda a: a.pop("x"),
        ],
    )
    def test_into_containers(self, change):
        def call(f, s):
            argument = {"x": X.copy(), "list": [2.0, X.copy()]}
            return f(argument), argument

        agree_always(lambda: (change, None), [call] * 4)

    def test_into_results(self):
        """What is returned and belongs to the state is the state."""

        def maker():
            kept = {"options": {"a": 1.0}, "array": np.ones(2), "list": [1.0]}
            return (lambda x, name: kept[name]), kept

        calls = []
        for k in (2.0, 3.0, 4.0):
            calls += [
                lambda f, s, k=k: (f(X, "options").update(a=k), dict(s["options"])),
                lambda f, s, k=k: (f(X, "array").__setitem__(0, k), s["array"].copy()),
                lambda f, s, k=k: (f(X, "list").append(k), list(s["list"])),
            ]
        agree_always(maker, calls)

    def test_results_that_hold_arrays(self):
        made = [
            lambda x: types.SimpleNamespace(v=x * 2).v,
            lambda x: lambda y: y * x,
            lambda x: (v * 2 for v in x),
        ]
        agree_always(lambda: (made[1], None), [lambda f, s: f(X)(2.0)] * 3)
        agree_always(lambda: (made[2], None), [lambda f, s: list(f(X))] * 3)


class TestCallsThatAreNotSeen:
    @pytest.mark.parametrize(
        "call",
        [
            lambda: list(map(print, ["told"])),
            lambda: sorted([1, 2], key=print),
            functools.partial(print, "told"),
        ],
    )
    def test_print(self, call):
        def told(f, s):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                return f(X), out.getvalue()

        agree_always(lambda: ((lambda x: (call(), x * 2)[1]), None), [told] * 4)

    def test_filters_of_warnings(self):
        def f(x):
            warnings.filterwarnings("ignore", message="none such")
            return x * 2

        def call(f, s):
            with warnings.catch_warnings():
                warnings.resetwarnings()
                warnings.simplefilter("ignore")  # the program's own filters are asked
                return f(X), [entry[0] for entry in warnings.filters]

        agree_always(lambda: (f, None), [call] * 4)

    def test_exceptions_after_many_calls(self):
        def f(x):
            try:
                return int(x[0]) * x
            except ValueError:
                return x * 0 + 1

        calls = [*times(40, X), lambda f, s: f(np.array([np.nan, 1.0, 2.0])), *times(3, X)]
        agree_always(lambda: (f, None), calls)


class Equal:
    """Equal to others of its name, and yet another."""

    def __init__(self, name, scale):
        self.name, self.scale = name, scale

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __call__(self, x):
        return x * self.scale


class TestArguments:
    def test_equal_objects(self):
        a, b = Equal("a", 2.0), Equal("a", 5.0)
        agree_always(
            lambda: ((lambda g, x: g(x)), None),
            [lambda f, s, g=g: f(g, X) for g in (a, a, a, b, b, a, b)],
        )

    @pytest.mark.parametrize(("base", "value"), [(int, 3), (str, "a"), (float, 2.0)])
    def test_numbers_with_attributes(self, base, value):
        cls = type("Tagged", (base,), {})
        a, b = cls(value), cls(value)
        a.scale, b.scale = 1.0, 7.0
        agree_always(
            lambda: ((lambda t, x: t.scale * x), None),
            [lambda f, s, t=t: f(t, X) for t in (a, a, a, b, b, a, b)],
        )

    def test_order_of_keys(self):
        one, two = {"a": X, "b": X + 1}, {"b": X, "a": X + 1}
        for f in (lambda d: list(d), lambda d: {k: x * 2 for k, x in d.items()}):
            agree_always(lambda f=f: (f, None), [lambda f, s, d=d: f(d) for d in (one, two) * 3])
        agree_always(
            lambda: ((lambda **d: list(d)), None),
            [lambda f, s, d=d: f(**d) for d in (one, one, two, two)],
        )

    @pytest.mark.parametrize(
        "ask",
        [
            lambda x: hash(x[0]),
            lambda x: {0.5: 1.0}.get(x[0], 2.0),
            lambda x: memoryview(x)[0],
            lambda x: np.array2string(x),
            lambda x: np.allclose(x, X),
            lambda x: math.fsum(x),
        ],
    )
    def test_what_an_array_does_not_answer(self, ask):
        points = [X, X, X + 1, X + 1, X]
        agree_always(lambda: (ask, None), [lambda f, s, p=p: f(p) for p in points])


FLOATS = (2.0, 3.0, 4.0, 2.0, 0.5, -1.5, 0.0, -0.0, math.inf, 1e200, 1000.0, np.float64(2.0), 3.0)


class TestPythonFloats:
    """They stay Python's, with its types, its errors and its text."""

    @pytest.mark.parametrize(
        "text",
        [
            "a > 2", "a == 2", "1 < a < 3", "(a > 1) + 1", "(a > 1) is True", "divmod(a, 2)",
            "1j * min(a, 9.0)", "round(a)", "round(a, 1)", "math.exp(a)", "math.sin(a)", "a.hex()",
            "a.imag",
            "math.hypot(a, 1.0)", "math.fsum([a, 1.0])", "repr(a)", "str([a])", "f'{a!r}'",
            "hasattr(a, 'shape')", "isinstance(a, np.floating)", "isinstance(a, np.float64)",
            "hash(a)", "{2.0: 1}.get(a, 5)", "a in {2.0}", "np.array(a)", "np.add(a, 1)",
            "(a * 2) ** 0.5", "a**a", "2**a", "a**2", "math.isclose(a, 2.0)",
            "np.where(a > 2, a, 1.0)",
        ],
    )  # fmt: skip
    def test_as_they_are(self, text):
        maker = lambda: (eval(f"lambda a: {text}", {"np": np, "math": math}), None)
        agree_always(maker, [lambda f, s, a=a: f(a) for a in FLOATS])

    def test_they_are_repeated_still(self):
        fast = agree(lambda: ((lambda a: a * 2 + a**2 if a > 1 else a), None), [
            lambda f, s, a=a: f(a) for a in (2.0, 3.0, 4.0, 5.0, 6.0)
        ])  # fmt: skip
        assert fast.cache_info().hits >= 3


class TestPythonsBools:
    """What NumPy answers with True or False is that, however it is used."""

    @pytest.mark.parametrize("ask", ["allclose", "array_equal", "array_equiv"])
    def test_as_they_are(self, ask):
        uses = ["({} is True)", "({} + True)", "(-{})", "[1, 3][{}]", "{{True: 2.0}}.get({}, 5.0)"]
        for use in [*uses, "({} < True)", "{} / 2", "(not {})", "np.where({}, x, 3.0)"]:
            text = f"lambda x: np.sum(x * {use.format(f'np.{ask}(x, X)')})"
            f = eval(text, {"np": np, "X": X})
            for g, x in itertools.product((f, grad(f)), (X, X + 1)):
                calls = [lambda f, s, p=p: f(p) for p in [x, x, 2 * X + 1 - x] * 3]
                assert agree_always(lambda g=g: (g, None), calls).refusal is None, text


class TestIdentityWithWhatIsRead:
    """Whether an argument is, or shares memory with, an array that the function reads."""

    @pytest.mark.parametrize(
        "question",
        [
            "q is A", "A is not q", "any(y is q for y in [A])", "np.shares_memory(q, A)",
            "np.may_share_memory(A, q)", "operator.is_(q, H.a)", "q is H.a",
            "len([y for y in held if y is q]) > 0",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("first", ["A", "other", "view"])
    def test_the_answer_is_that_of_each_call(self, question, first):
        a = X.copy()
        scope = {"np": np, "operator": operator, "A": a, "held": [a]}
        scope["H"] = types.SimpleNamespace(a=a)
        exec(f"def f(q):\n    return q * 2 if {question} else q * 3", scope)
        arguments = {"A": a, "other": X.copy(), "view": a[:]}
        fast = compile(scope["f"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some fall back to Python
            for name in [*[first] * 5, *arguments, *arguments, first]:
                equal(fast(arguments[name]), scope["f"](arguments[name]))

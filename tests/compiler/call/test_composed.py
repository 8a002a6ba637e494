"""Compiled functions inside transformations, and what else may be done with them."""

import copy
import dataclasses
import functools
import math
import pickle
import statistics
import threading
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.compiler import path
from pullback.compiler.call import in_transformation
from pullback.compiler.call.compiled import compile

X = np.array([0.5, -1.0, 2.0])
RATE = 2.0


def module_level(x):
    return np.sum(np.sin(x) * x)


COMPILED = compile(module_level)

# Ways to make a number of a number.
CONVERSIONS = {
    "float": lambda x: x * float(x),
    "complex": lambda x: (x * complex(x)).real,
    "item": lambda x: x * np.multiply(x, 1.0).item(),
    "item of an array": lambda x: x * np.stack([x, 1.0]).item(0),
    "tolist": lambda x: x * np.stack([x, 1.0]).tolist()[0],
    "numpy.float64": lambda x: x * np.float64(x),
    "numpy.float32": lambda x: x * float(np.float32(x)),
    "array": lambda x: x * np.array([x, 1.0])[0],
    "math": lambda x: x * math.pow(x, 1.0),
    "statistics": lambda x: x * statistics.fmean([x, x]),
    "max": lambda x: x * max(x, 1.0),
    "sum": lambda x: x * sum([x]),
}


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-14)


def agree(transform, f, *points, hits=True):
    """The transformed function, compiled and not, at each point again and again."""
    fast = compile(f)
    for _ in range(3):
        for x in points:
            for a, b in zip(
                *[pb.core.tree.flatten(transform(g)(x))[0] for g in (fast, f)], strict=True
            ):
                close(a, b)
    assert (fast.cache_info().hits > 0) is hits
    return fast


class TestOneNode:
    def test_what_python_asks(self):
        """Guards are answered on values, under each transformation."""
        f = lambda x: np.sum(np.sin(x) * x) if x[0] > 0 else np.sum(x**3)
        for transform in (pb.grad, pb.hessian, lambda f: pb.grad(pb.checkpoint(f))):
            fast = agree(transform, f, X, -X, X * 2)
            assert fast.cache_info().paths == 2

    def test_it_is_one_operation(self):
        fast = compile(module_level)
        pb.grad(fast)(X)
        names = []

        def seen(x):
            out = fast(x)
            names.append(type(out.node.residual.primitive).__name__)
            return out

        pb.grad(seen)(X)
        assert names == ["Compound"]

    def test_rules_are_machine_code(self, monkeypatch):
        """Once staged, a backward pass runs none of the operations' own rules."""
        fast = compile(module_level)
        for _ in range(3):
            pb.grad(fast)(X)
        cls = type(pb.core.primitive.Primitive.everything[0])
        monkeypatch.setattr(cls, "vjp", None)
        monkeypatch.setattr(cls, "jvp", None)
        close(pb.grad(fast)(X), np.cos(X) * X + np.sin(X))

    @pytest.mark.parametrize(
        "x", [1.5, np.float64(1.5), 1.5 + 1j, np.float32(1.5), X], ids=lambda x: type(x).__name__
    )
    def test_calls_like_the_last_one_are_not_arranged_again(self, x, monkeypatch):
        f = lambda x: np.sin(x) * x + 0.5
        fast, moved = compile(f, wait=True), lambda f: pb.jvp(f, (x,), (x * 2,))
        for _ in range(path.SECOND + 3):
            moved(fast)
        monkeypatch.setattr(in_transformation, "arranged", lambda *args: pytest.fail("arranged"))
        for out, right in zip(moved(fast), moved(f), strict=True):
            close(out, right)
            assert type(out) is type(right)

    def test_third_order(self):
        agree(lambda f: pb.jacobian(pb.hessian(f)), module_level, X)
        agree(lambda f: pb.jacobian(pb.jacobian(pb.grad(f), mode="forward")), module_level, X)

    def test_two_transformations_at_once(self):
        """Results that depend on the outer one alone stay unmapped and unlifted."""
        fast = compile(lambda x, y: (x * 2, np.sin(x) * y))

        def f(x):
            def inner(y):
                first, second = fast(x, y)
                assert not isinstance(first, np.ndarray) or first.shape == ()
                return second if first > 0 else second * 3

            return np.sum(pb.vmap(inner)(X) ** 2) + pb.grad(inner)(x)

        plain = lambda x: np.sum((np.sin(x) * X) ** 2) + np.sin(x)
        for _ in range(4):
            close(pb.grad(f)(0.7), pb.grad(plain)(0.7))

    def test_batches(self):
        f = lambda x: np.sort(np.sin(x) * x)[::-1] @ np.array([1.0, 2.0, 3.0])
        batch = np.stack([X, X + 1, -X])
        for transform in (
            pb.vmap,
            lambda f: pb.vmap(pb.grad(f)),
            lambda f: pb.vmap(pb.hessian(f)),
            lambda f: pb.grad(lambda xs: np.sum(pb.vmap(f)(xs) ** 2)),
            lambda f: lambda xs: pb.vmap(pb.vmap(f))(np.stack([xs, xs * 2])),
            lambda f: lambda xs: pb.vmap(f, in_axes=1)(xs.T),
        ):
            agree(transform, f, batch)

    def test_an_answer_that_depends_on_the_example(self):
        """The function falls back to Python, and is refused as without `compile`."""
        fast = compile(lambda x: x if x > 0 else -x)
        pb.grad(fast)(1.0)
        for _ in range(2):
            with pytest.raises(pb.ConversionError, match="answer differently"):
                pb.vmap(fast)(X)
        close(pb.grad(fast)(-1.0), -1.0)

    def test_an_answer_that_does_not(self):
        agree(lambda f: lambda xs: pb.vmap(lambda x: f((x, xs[0])))(xs),
              lambda p: p[0] * 2 if p[1] > 0 else p[0], X, -X)  # fmt: skip

    def test_empty_batch(self):
        assert pb.vmap(compile(np.sin))(np.zeros((0, 3))).shape == (0, 3)

    def test_eager(self):
        def gradient(f):
            def of(x):
                x = pb.array(x, requires_grad=True)
                f(x).backward(create_graph=True)
                first = x.grad
                x.zero_grad()
                np.sum(first**2).backward()
                return first.numpy(), x.grad

            return of

        agree(gradient, module_level, X, X * 2)

    def test_constants(self):
        fast = compile(lambda x: np.sin(x) * 2)
        for _ in range(3):
            out = fast(pb.array(X))
            close(np.asarray(out), np.sin(X) * 2)
            assert not out.requires_grad

    def test_inside_each_other(self):
        inner = compile(lambda x: np.sin(x) * x)
        for f in (compile(inner), compile(lambda x: inner(x) * 2)):
            for _ in range(3):
                close(*[pb.grad(lambda x, g=g: np.sum(g(x)))(X) for g in (f, f.fun)])
        outer = compile(pb.grad(lambda x: np.sum(inner(x))))
        for _ in range(3):
            close(outer(X), np.cos(X) * X + np.sin(X))
        assert outer.cache_info().hits == 2

    def test_rules_of_users(self):
        @pb.custom_vjp
        def clipped(x):
            return x * 1.0

        clipped.defvjp(lambda x: (x * 1.0, None), lambda residual, bar: (bar * RATE,))
        for _ in range(3):
            agree(pb.grad, lambda x: np.sum(clipped(np.sin(x))), X)

        @pb.custom_jvp
        def doubled(x):
            return np.sin(x)

        doubled.defjvp(lambda primals, dots: (np.sin(primals[0]), dots[0] * RATE))
        agree(pb.grad, lambda x: np.sum(doubled(x) * x), X)

    def test_a_rule_that_changes(self, monkeypatch):
        """What a user's rule reads is read again in each backward pass."""

        @pb.custom_vjp
        def scaled(x):
            return x * 1.0

        scaled.defvjp(lambda x: (x * 1.0, None), lambda residual, bar: (bar * RATE,))
        gradient = pb.grad(compile(lambda x: scaled(x) * 3))
        for rate in (2.0, 5.0, 7.0, 11.0):
            monkeypatch.setitem(globals(), "RATE", rate)
            close(gradient(1.0), 3 * rate)

    def test_trees_and_numbers(self):
        f = lambda p: {"loss": np.sum(p["w"] * p["b"]), "n": 3, "name": "x"}
        fast = compile(f)
        for _ in range(3):
            out = pb.grad(lambda p: fast(p)["loss"])({"w": X, "b": 2.0})
            close(out["w"], [2.0, 2, 2])
            close(out["b"], X.sum())

    def test_counts_are_plain(self):
        fast = compile(lambda x: (np.argmax(x), np.sum(x > 0), np.floor(x), x * 2))

        def f(x):
            at, n, low, y = fast(x)
            assert type(at).__name__ == "int64"
            assert type(n).__name__ == "int64"
            return y[at] * n + np.sum(low)

        for _ in range(3):
            close(pb.grad(f)(X), [0, 0, 4])

    def test_keywords_and_floats(self):
        fast = compile(lambda x, *, rate, power=2: np.sum(x**power) * rate)
        for rate in (0.1, 0.2, 0.3, 0.4):
            close(pb.grad(lambda x: fast(x, rate=rate))(X), 2 * X * rate)
        assert fast.cache_info().hits == 2

    def test_complex(self):
        f = lambda z: np.sum(np.real(np.exp(z) * np.conj(z)))
        agree(pb.grad, f, X + 1j, X * 1j)


class TestZeros:
    """Structure passes through the node: what was not picked has no derivative."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda g: lambda x: np.sum(np.where(x > 0, g(x), 0.0)),
            lambda g: lambda x: np.sum(g(x)[1:]),
            lambda g: lambda x: np.sum(g(x)[x > 0]),
        ],
    )
    def test_outside(self, f):
        x, root = np.array([0.0, 1.0, 4.0]), lambda x: np.sqrt(x)
        fast = compile(root)
        for _ in range(3):
            np.testing.assert_array_equal(pb.grad(f(fast))(x), pb.grad(f(root))(x))
            assert pb.grad(f(fast))(x)[0] == 0

    def test_inside(self):
        x, pick = np.array([0.0, 1.0, 4.0]), lambda y: np.sum(np.where(y > 0.5, y, 0.0) * 2)
        fast = compile(pick)
        for _ in range(3):
            np.testing.assert_array_equal(pb.grad(lambda x: fast(np.sqrt(x)))(x), [0, 1, 0.5])

    def test_forward(self):
        """A result that does not move has no tangent, and not one of zeros."""
        fast = compile(lambda x, y: (np.floor(x), x * y))
        for _ in range(3):
            _, dot = pb.jvp(lambda x: np.sum(np.sqrt(fast(x, X * 0)[0])), (X * 0,), (X,))
            assert dot == 0

    def test_stopped(self):
        agree(pb.grad, lambda x: np.sum(pb.stop_gradient(np.sin(x)) * x), X)
        agree(pb.grad, lambda x: np.sum(x * pb.array(x).detach()) if x[0] > 0 else x[0], X, -X)


class TestAsItIs:
    @pytest.mark.parametrize("x", [2.0, np.float64(2.0), np.array(2.0)], ids=type)
    @pytest.mark.parametrize("name", CONVERSIONS)
    def test_a_conversion_keeps_the_derivative(self, name, x):
        """In the call that is recorded and in later ones, with plain calls before or without."""
        f = CONVERSIONS[name]
        expected, slope = f(x), pb.grad(f)(x)
        for called_before in (0, 2):
            fast = compile(f)
            for _ in range(called_before):
                close(fast(x), expected)
            for _ in range(3):
                close(pb.grad(fast)(x), slope)
            close(fast(2 * x), f(2 * x))
            gradient = compile(pb.grad(f))
            for _ in range(3):
                close(gradient(x), slope)

    def test_a_conversion_that_would_detach(self):
        fast = compile(lambda x: x * np.frombuffer(x.tobytes())[0])
        assert fast(np.array(2.0)) == 4.0
        for _ in range(3):
            with pytest.raises(pb.ConversionError):
                pb.grad(fast)(np.array(2.0))
            assert float(fast(pb.array(2.0))) == 4.0

    def test_effects_happen_once(self):
        seen = []

        def f(x):
            seen.append(1)
            return np.sin(x)

        fast = compile(f)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            for k in range(1, 8):
                close(pb.grad(fast)(1.0), np.cos(1.0))
                assert len(seen) == k
            fast(1.0)
        assert not told  # plain calls are compiled, and store what they should
        assert fast.cache_info().misses <= 3

    def test_no_grad_inside(self):
        def f(x):
            with pb.no_grad():
                y = x * 2
            return np.sum(x * y)

        fast = compile(f)
        for _ in range(3):
            grads = []
            for g in (fast, f):
                x = pb.array(X, requires_grad=True)
                g(x).backward()
                grads.append(x.grad)
            close(*grads)

    def test_captured_arrays(self):
        """Arrays of a transformation around it, which the function closes over."""
        for _ in range(2):
            assert pb.grad(lambda w: compile(lambda x: w * x)(2 * w))(3.0) == 12

    def test_captured_eager_arrays(self):
        w = pb.array(2.0, requires_grad=True)
        with pytest.warns(RuntimeWarning, match="an Array that outlives"):
            out = compile(lambda x: w * x)(3.0)
        out.backward()
        assert w.grad == 3.0

    def test_assignment_to_an_argument(self):
        def f(x):
            x[0] = x[1] * 2
            return np.sum(x)

        def around(g):
            def of(x):
                y = x * 1.0
                return g(y) + y[0]

            return pb.grad(of)

        agree(around, f, X, hits=False)

    def test_results_may_be_assigned_to(self):
        fast = compile(lambda x: (np.zeros(3), np.sin(x)))

        def f(x):
            y, z = fast(x)
            y[0] = x[1]
            z[1] = x[0] * y[0]
            return np.sum(y) + np.sum(z)

        plain = lambda x: x[1] + np.sin(x[0]) + np.sin(x[2]) + x[0] * x[1]
        for _ in range(3):
            close(pb.grad(f)(X), pb.grad(plain)(X))

    def test_exceptions(self):
        def f(x):
            if x[0] > 1:
                raise KeyError("too large")
            return np.sum(np.linalg.inv(np.reshape(x, (2, 2))))

        fast, x = compile(f), np.array([1.0, 2, 3, 5])
        for _ in range(3):
            close(pb.grad(fast)(x), pb.grad(f)(x))
            with pytest.raises(KeyError, match="too large"):
                pb.grad(fast)(x * 2)
            with pytest.raises(np.linalg.LinAlgError):
                pb.grad(fast)(np.zeros(4))

    def test_state(self):
        scale = np.array([1.0, 2.0, 3.0])
        gradient = pb.grad(compile(lambda x: np.sum(np.sin(x) * scale)))
        for k in range(4):
            scale[k % 3] += 1
            close(gradient(X), np.cos(X) * scale)


class TestThreads:
    def test_one_function_on_many_threads(self, monkeypatch):
        monkeypatch.setattr(path, "SECOND", 3)
        f = lambda x: np.sum(np.sin(x) * x) if x[0] > 0 else np.sum(np.tanh(x) ** 2)
        fast, wrong = compile(f), []
        points = [np.linspace(sign, 2, n) for n in range(1, 7) for sign in (-1, 1)]
        expected = [(f(p), pb.grad(f)(p), pb.hessian(f)(p)) for p in points]
        start = threading.Barrier(8)

        def work(seed):
            random = np.random.default_rng(seed)
            start.wait()
            try:
                for k in random.integers(0, len(points), 40):
                    p = points[k]
                    close(fast(p), expected[k][0])
                    close(pb.grad(fast)(p), expected[k][1])
                    close(pb.hessian(fast)(p), expected[k][2])
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong[0]


class TestRecursion:
    def test_directly(self):
        @compile
        def power(x, n):
            return x * power(x, n - 1) if n else x * 0 + 1

        for _ in range(3):
            close(power(1.5, 5), 1.5**5)
            close(pb.grad(lambda x: power(x, 5))(1.5), 5 * 1.5**4)

    def test_through_another_function(self):
        def twice(x, f):
            return f(x / 2) * 2 if x > 1 else x

        fast = compile(lambda x: twice(x, fast) * np.sin(x))
        plain = lambda x: twice(x, plain) * np.sin(x)
        for _ in range(3):
            for x in (0.5, 3.0, 5.0):
                close(fast(x), plain(x))
                close(pb.grad(fast)(x), pb.grad(plain)(x))


class Model:
    def __init__(self, w):
        self.w = w
        self.jitted = compile(module_level)

    @compile
    def loss(self, x):
        return np.sum((x * self.w) ** 2)

    @classmethod
    @compile
    def of_class(cls, x):
        return np.sum(x) * 2

    @staticmethod
    @compile
    def alone(x):
        return np.sum(x) * 3


@dataclasses.dataclass
class Layer:
    w: float

    def __call__(self, x):
        return np.sum(np.sin(x * self.w))


class TestCallables:
    @pytest.mark.parametrize(
        "f",
        [
            Model(X).loss,
            Model(X).of_class,
            Model(X).alone,
            Model(X).jitted,
            compile(Layer(2.0)),
            compile(functools.partial(lambda a, x: np.sum(x) * a, 2.0)),
            compile(Model(X * 2).loss),
            functools.partial(COMPILED),
        ],
    )
    def test_kinds(self, f):
        for _ in range(3):
            expected = [(f(X + h) - f(X - h)) / 2e-6 for h in np.eye(3) * 1e-6]
            np.testing.assert_allclose(pb.grad(f)(X), expected, rtol=1e-6, atol=1e-6)

    def test_two_instances(self):
        a, b = Model(X), Model(X * 2)
        for _ in range(3):
            close(pb.grad(a.loss)(X), 2 * X**3)
            close(pb.grad(b.loss)(X), 8 * X**3)

    def test_pickle(self):
        pb.grad(COMPILED)(X)
        again = pickle.loads(pickle.dumps(COMPILED))
        assert again.cache_info().entries == 0
        close(pb.grad(again)(X), pb.grad(module_level)(X))

    def test_copies(self):
        for again in (copy.copy(COMPILED), copy.deepcopy(COMPILED)):
            for _ in range(3):
                close(pb.grad(again)(X), pb.grad(module_level)(X))


class TestIr:
    def test_text(self):
        fast = compile(module_level)
        fast(X)
        assert "define" in fast.ir(X)

    def test_before_any_call(self):
        """One is made and recorded, as documented."""
        assert "define" in compile(module_level).ir(X)
        assert "sin" in compile(np.sin).graph(X)

    @pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")
    def test_a_function_that_falls_back(self):
        drawn = compile(lambda x: x * np.random.normal())
        with pytest.raises(pb.ArgumentError, match=r"no recording .*normal(.|\n)*leave this out"):
            drawn.graph(X)


NUMBERS_OF_PYTHON = {
    "a quotient": lambda x: 1.0 / x,
    "a root, complex below zero": lambda x: abs(x**0.5),
    "a power": lambda x: abs((x + 1j) ** 3) * x,
    "a remainder": lambda x: 5.0 % x,
    "a difference in the denominator": lambda x: x / (x - 2.0),
    "the root of math": lambda x: math.sqrt(x) * x,
    "the exponential of math": lambda x: math.exp(300.0 * x),
    "a number that adapts": lambda x: x * x + 1.0,
    "beside a float32": lambda x: (x + np.float32(0.1)) * np.float64(2.0),
    "beside an array of float32": lambda x: (np.ones(3, np.float32) * x).sum() * 1.0 + 0.1,
    "the larger of a float32": lambda x: np.maximum(x, np.float32(0.1)) + np.float64(0.1),
    "one of two, and wide": lambda x: np.where(X > 0, x, np.float32(2)).astype(float).sum(),
    "a product, beside float32": lambda x: (np.float32(0.3) * (x * x)).astype(float),
}
AROUND = {
    "value and gradient": pb.value_and_grad,
    "jvp": lambda f: lambda x: pb.jvp(f, (x,), (1.0,)),
    "beside float32": lambda f: lambda x: pb.vjp(lambda t: np.ones(2, np.float32) * f(t), x)[0],
}


def outcome(f, x):
    """What a call gives, with dtypes, or which error it raises."""
    try:
        found = f(x)
    except (ArithmeticError, ValueError) as error:
        return type(error)
    parts = found if type(found) is tuple else (found,)
    return [(np.asarray(y).dtype, np.round(np.asarray(y), 9).tolist()) for y in parts]


@pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")
@pytest.mark.parametrize("around", AROUND)
def test_numbers_of_python_stay_pythons(around):
    """Also in repeats: errors, complex roots, and dtypes beside arrays of float32."""
    wrong, around = [], AROUND[around]
    for name, f in NUMBERS_OF_PYTHON.items():
        plain, compiled = around(f), around(pb.compile(f, wait=True))
        for x in (2.5, 3.0, 0.0, -2.0, 2.0, 10.0, 2.5):
            with np.errstate(all="ignore"):
                a, b = outcome(plain, x), outcome(compiled, x)
            if str(a) != str(b):
                wrong.append((name, x, a, b))
    assert not wrong


TABLE = np.array([0.3, -0.7, 1.1, 0.2])
ONTO_PLAIN_ARRAYS = (
    "b = TABLE * 1.0; b[1] = x[0]",
    "b = TABLE * 1.0; b[1:] = x",
    "b = TABLE + len(x); b[1] += x[0]",
    "b = TABLE[:3] * 2; b[::2] = x[1:]",
    "b = np.abs(TABLE); b[...] = x[0]",
    "b = (TABLE * 1.0).reshape(2, 2); b[0, 1] = x[0]",
    "b = [TABLE * 1.0, TABLE * 2.0]; b[0][1] = x[0]; b = b[0] + b[1]",
    "b = {'w': TABLE - 1.0}; b['w'][0] = x[2] * x[1]; b = b['w']",
    "b = TABLE * 1.0\nfor i in range(3): b[i] = x[i] * b[i + 1]",
    "b = TABLE * 1.0\nfor i, v in enumerate(x): b[i] = np.sin(v) if v > 0 else 0.5 * v",
    "b = TABLE * 1.0\ni = 0\nwhile b[i] * b[i] < 2.0 and i < 2: b[i + 1] = x[i]; i += 1",
    "b = TABLE * 1.0; b[0], b[1] = x[1], pb.stop_gradient(x[0])",
    "b = TABLE.astype(complex); b[1] = x[0] * 1j; b = b.imag + b.real",
)


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore:.*falls back to Python:RuntimeWarning")
@pytest.mark.parametrize("text", ONTO_PLAIN_ARRAYS)
def test_values_stored_in_plain_arrays_keep_their_derivative(text):
    """In a function that is compiled within, too, whose repeats took them for constants."""
    scope = {"np": np, "pb": pb, "TABLE": TABLE}
    body = "\n    ".join([*text.split("\n"), "return np.sum(b * b * 0.5 + b)"])
    exec(f"def f(x):\n    {body}", scope)
    f, x = scope["f"], np.array([0.4, -0.3, 0.9])
    for around in (
        pb.grad,
        lambda f: lambda x: pb.jvp(f, (x,), (x,)),
        lambda f: lambda x: pb.hvp(f)(x, x),
    ):
        fast = compile(f, wait=True)
        for k in (1.0, 1.0, 0.9, 1.0):
            close(np.asarray(around(fast)(k * x)), np.asarray(around(f)(k * x)))


PYTHON_NUMBERS = {
    "float of float": lambda x: float(float(x[0])),
    "float of a product": lambda x: float(float(x[0]) * 2) * x[1],
    "float of math": lambda x: float(math.hypot(float(x[0]), x[1])),
    "float of a sum": lambda x: float(sum([float(x[0]), 1.0, x[1]])),
    "math of math": lambda x: math.sin(float(math.degrees(math.atan2(x[0], x[1])))),
    "item": lambda x: float(x[:1].item()) ** 2,
    "list": lambda x: float(x.tolist()[0]) / float(x.tolist()[1]),
}


@pytest.mark.parametrize("name", PYTHON_NUMBERS)
@pytest.mark.parametrize("transform", [pb.grad, pb.hessian, lambda f: pb.grad(pb.compile(f))])
def test_numbers_that_are_made_pythons_keep_their_derivative(name, transform):
    """In the function of a gradient that is compiled, too; a fallback is an error here."""
    x, f = np.array([0.3, 0.6]), PYTHON_NUMBERS[name]
    fast = compile(transform(f), wait=True)
    for _ in range(3):
        close(fast(x), transform(f)(x))

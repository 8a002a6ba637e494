"""What is a tree, what is static, and which callables can be transformed."""

import asyncio
import copy
import enum
import functools
import inspect
import pickle
import threading
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.array([0.5, -1.0, 2.0])
Point = namedtuple("Point", "x y")


@dataclass
class Layer:
    weight: Any
    bias: Any
    name: str = field(default="layer", metadata={"static": True})
    width: int = field(default=3, metadata={"static": True})


@dataclass(frozen=True, slots=True)
class Frozen:
    x: Any
    inner: Any = None


class Color(enum.Enum):
    RED = 1


class Interval:
    """Registered below."""

    def __init__(self, low, high, unit):
        self.low, self.high, self.unit = low, high, unit


pb.register_tree(
    Interval, lambda i: ((i.low, i.high), i.unit), lambda unit, ends: Interval(*ends, unit)
)


class TestContainers:
    @pytest.mark.parametrize(
        "make",
        [
            lambda a, b: (a, b),
            lambda a, b: [a, b],
            Point,
            lambda a, b: {"a": a, "b": b},
            lambda a, b: OrderedDict([("z", a), ("a", b)]),
            lambda a, b: {2: a, 1: b},
            lambda a, b: deque([a, b]),
            Layer,
            Frozen,
            lambda a, b: Interval(a, b, "m"),
            lambda a, b: ((a,), [{"k": b}]),
            lambda a, b: Frozen(Layer(a, [b]), None),
        ],
    )
    def test_gradients_are_trees_like_the_argument(self, make):
        """Every kind of container, through all transformations."""

        def parts(tree):
            if isinstance(tree, Layer):
                return parts([tree.weight, tree.bias])
            if isinstance(tree, Frozen):
                return parts([tree.x, tree.inner])
            if isinstance(tree, Interval):
                return parts([tree.low, tree.high])
            if isinstance(tree, dict):
                return parts(list(tree.values()))
            if isinstance(tree, (tuple, list, deque)):
                return [leaf for item in tree for leaf in parts(item)]
            return [] if tree is None else [tree]

        def f(tree):
            a, b = parts(tree)
            return np.sum(a * a) * b

        arg, direction = make(X, 2.0), make(np.ones(3), 1.0)
        gradient = pb.grad(f)(arg)
        assert type(gradient) is type(arg)
        np.testing.assert_allclose(parts(gradient)[0], 4 * X)
        np.testing.assert_allclose(parts(gradient)[1], X @ X)
        slope = 4 * X.sum() + X @ X
        np.testing.assert_allclose(pb.jvp(f, (arg,), (direction,))[1], slope)
        np.testing.assert_allclose(pb.linearize(f, arg)[1](direction), slope)
        np.testing.assert_allclose(parts(pb.vjp(f, arg)[1](1.0)[0])[0], 4 * X)
        np.testing.assert_allclose(parts(pb.jacobian(f)(arg))[0], 4 * X)
        np.testing.assert_allclose(parts(pb.hvp(f)(arg, direction))[0], 4 + 2 * X)
        # Out again: f gives a tree like its argument.
        same, pullback = pb.vjp(lambda tree: tree, arg)
        assert type(same) is type(arg)
        np.testing.assert_array_equal(parts(pullback(direction)[0])[0], np.ones(3))
        batch = make(np.stack([X, X]), np.ones(2))
        np.testing.assert_allclose(pb.vmap(f)(batch), [X @ X, X @ X])

    def test_keys_and_order_of_a_dict_are_kept(self):
        gradient = pb.grad(lambda p: p["z"] * p["a"])({"z": 2.0, "a": 3.0})
        assert gradient == {"z": 3.0, "a": 2.0}
        assert list(gradient) == ["z", "a"]
        assert pb.grad(lambda p: p["a"] * p[1])({"a": 2.0, 1: 3.0}) == {"a": 3.0, 1: 2.0}

    def test_a_default_dict_keeps_its_factory(self):
        gradient = pb.grad(lambda p: p["a"] * 2.0)(defaultdict(list, a=1.0))
        assert type(gradient) is defaultdict
        assert gradient.default_factory is list

    def test_an_empty_tree(self):
        for empty in ((), [], {}, None, {"a": ()}):
            assert pb.grad(lambda p: 1.0)(empty) == empty

    def test_none_is_structure(self):
        gradient = pb.grad(lambda p: p["w"] * 2.0)({"w": 1.0, "b": None})
        assert gradient == {"w": 2.0, "b": None}

    def test_a_leaf_that_occurs_twice_is_two_leaves(self):
        gradient = pb.grad(lambda p: np.sum(p[0] * p[1] * p[1]))((X, X))
        np.testing.assert_allclose(gradient[0], X * X)
        np.testing.assert_allclose(gradient[1], 2 * X * X)

    def test_the_argument_stays_as_it_is(self):
        """f gets a tree of its own: assigning into it does not reach the caller's."""

        def f(p):
            p["a"] = p["a"] * 2.0
            p["list"].append(1)
            return p["a"] * p["a"]

        arg = {"a": 3.0, "list": []}
        assert pb.grad(f)(arg)["a"] == 24.0
        assert arg == {"a": 3.0, "list": []}

    def test_arrays_of_objects_are_no_trees(self):
        with pytest.raises(pb.DtypeError, match="object"):
            pb.grad(lambda x: 1.0)(np.array([1.0, None], dtype=object))


class TestDataclasses:
    def test_static_fields_are_structure(self):
        gradient = pb.grad(lambda l: np.sum(l.weight) * l.width + l.bias)(Layer(X, 1.0, "out", 5))
        assert (gradient.name, gradient.width, gradient.bias) == ("out", 5, 1.0)
        np.testing.assert_array_equal(gradient.weight, np.full(3, 5.0))

    def test_they_are_rebuilt_without_their_constructor(self):
        """What __init__ and __post_init__ check or convert, holds already."""

        @dataclass
        class Careful:
            x: Any
            doubled: Any = field(init=False)

            def __post_init__(self):
                self.doubled = 2 * float(self.x)

        gradient = pb.grad(lambda c: c.x * c.doubled)(Careful(3.0))
        assert (gradient.x, gradient.doubled) == (6.0, 3.0)

    def test_methods_and_inheritance(self):
        @dataclass
        class Wide(Layer):
            scale: Any = 1.0

            def __call__(self, x):
                return np.sum(self.weight * x) * self.scale

        gradient = pb.grad(lambda model, x: model(x))(Wide(X, 0.0, scale=2.0), X)
        assert type(gradient) is Wide
        np.testing.assert_allclose(gradient.weight, 2 * X)
        np.testing.assert_allclose(gradient.scale, X @ X)

    def test_a_method_that_is_decorated(self):
        """`self` is argument 0, and where it is a dataclass it can be differentiated."""

        @dataclass
        class Model:
            w: Any

            @pb.grad
            def slope(self, x):
                return self.w * self.w * x

        assert Model(3.0).slope(2.0).w == 12.0

    def test_many_threads_see_a_dataclass_first(self):
        """Registration on first sight happens once."""
        for k in range(20):
            cls = make_dataclass(f"Fresh{k}", ["x"])
            barrier, results = threading.Barrier(4), []

            def work(cls=cls, barrier=barrier, results=results):
                barrier.wait()
                results.append(pb.grad(lambda p: p.x * 2.0)(cls(1.0)).x)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert results == [2.0] * 4


class TestRegisterTree:
    def test_children_and_static_data(self):
        gradient = pb.grad(lambda i: i.high * i.high - i.low)(Interval(1.0, 3.0, "m"))
        assert (gradient.low, gradient.high, gradient.unit) == (-1.0, 6.0, "m")

    def test_it_gives_the_class_back(self):
        class Box:
            def __init__(self, x):
                self.x = x

        assert pb.register_tree(Box, lambda b: ((b.x,), None), lambda _, xs: Box(*xs)) is Box
        assert pb.grad(lambda b: b.x * 2.0)(Box(1.0)).x == 2.0

    def test_twice_is_an_error(self):
        with pytest.raises(pb.ArgumentError, match="`Interval` is registered as a tree already"):
            pb.register_tree(Interval, lambda i: ((), None), lambda _, xs: None)

    def test_the_gradient_is_a_direction(self):
        """None at a static leaf and in a tangent is zero: gradients go into hvp and jvp."""
        f = lambda p: np.sum(p["x"] * p["x"] * p["x"])
        arg = {"x": X, "name": "word", "flag": True}
        gradient = pb.grad(f)(arg)
        product = pb.hvp(f)(arg, gradient)
        np.testing.assert_allclose(product["x"], 6 * X * 3 * X**2)
        assert product["name"] is None
        np.testing.assert_allclose(pb.jvp(f, (arg,), (gradient,))[1], np.sum(9 * X**4))
        out, dot = pb.jvp(
            lambda p: p["a"] * p["b"], ({"a": 2.0, "b": 3.0},), ({"a": None, "b": 1.0},)
        )
        assert (out, dot) == (6.0, 2.0)
        _, pushforward = pb.linearize(lambda p: p["a"] * p["b"], {"a": 2.0, "b": 3.0})
        assert pushforward({"a": 1.0, "b": None}) == 3.0
        _, pullback = pb.vjp(lambda x: {"y": x * x, "s": "word"}, 3.0)
        assert pullback({"y": 1.0, "s": None}) == (6.0,)

    def test_other_libraries_are_not_disturbed(self):
        """The namespace is our own."""
        import optree

        assert optree.tree_leaves(Interval(1.0, 2.0, "m"))[0].unit == "m"


class TestStaticLeaves:
    @pytest.mark.parametrize(
        "leaf",
        [
            "word",
            b"bytes",
            True,
            np.bool_(False),
            Color.RED,
            np.sin,
            len,
            lambda x: x,
            int,
            pb.grad(np.sin),
            functools.partial(np.sum, axis=0),
        ],
    )
    def test_they_pass_through(self, leaf):
        """None in the gradient; the same object inside."""
        seen = []

        def f(p):
            seen.append(p["s"])
            return p["x"] * 2.0

        assert pb.grad(f)({"x": 1.0, "s": leaf}) == {"x": 2.0, "s": None}
        assert pb.vjp(f, {"x": 1.0, "s": leaf})[1](1.0) == ({"x": 2.0, "s": None},)
        assert pb.hessian(f)({"x": 1.0, "s": leaf}) == {"x": {"x": 0.0, "s": None}, "s": None}
        assert all(s is leaf for s in seen)

    def test_callable_objects_are_no_functions(self):
        """They may hold arrays, whose gradient would be lost; a class can be registered."""
        for arg in (Model(3.0), {"model": Model(3.0), "x": 1.0}):
            with pytest.raises(pb.ArgumentTypeError, match=r"is a tests.Model;.*\n.*register_tree"):
                pb.grad(lambda p: 1.0)(arg)
        assert pb.grad(lambda x, model: model(x), 0)(2.0, Model(3.0)) == 12.0

    def test_in_results(self):
        out, pullback = pb.vjp(lambda x: {"y": x * x, "s": "word", "f": np.sin}, 3.0)
        assert out == {"y": 9.0, "s": "word", "f": np.sin}
        assert pullback({"y": 1.0, "s": "word", "f": np.sin}) == (6.0,)

    @pytest.mark.parametrize("mode", ["forward", "reverse"])
    def test_in_results_of_jacobian(self, mode):
        assert pb.jacobian(lambda x: ("word", x * x), mode=mode)(3.0) == (None, 6.0)

    @pytest.mark.parametrize("leaf", [1, np.int64(1), np.arange(3), np.array(True)])
    def test_integers_in_a_tree_are_refused(self, leaf):
        """With the line to write."""
        with pytest.raises(pb.DtypeError) as caught:
            pb.grad(lambda p: p["x"])({"x": 1.0, "n": leaf})
        assert "`p['n']`, a leaf of argument 0" in str(caught.value)
        assert "x.astype(float)" in str(caught.value)

    @pytest.mark.parametrize("leaf", [object(), {1, 2}, 1 + 0j == 1, range(3)][:2])
    def test_other_objects_are_refused(self, leaf):
        with pytest.raises(pb.ArgumentTypeError, match=f"is an? {type(leaf).__name__};"):
            pb.grad(lambda p: p["x"])({"x": 1.0, "o": leaf})


class Model:
    """A class that knows nothing of derivatives."""

    def __init__(self, scale):
        self.scale = scale

    def energy(self, x):
        return self.scale * np.sum(x * x)

    @classmethod
    def made(cls, x):
        return np.sum(x)

    @staticmethod
    def free(x):
        return np.sum(x) * 3.0

    def __call__(self, x):
        return self.energy(x)

    @functools.partial(pb.grad, argnums=1)
    def force(self, x):
        """The derivative of the energy."""
        return self.energy(x)

    @staticmethod
    @pb.grad
    def slope(x):
        return x * x


class TestCallables:
    @pytest.mark.parametrize(
        ("f", "expected"),
        [
            (lambda x: np.sum(x * x), 2 * X),
            (Model(3.0).energy, 6 * X),
            (Model(3.0), 6 * X),
            (Model.made, np.ones(3)),
            (Model.free, np.full(3, 3.0)),
            (functools.partial(lambda k, x: k * np.sum(x * x), 2.0), 4 * X),
            (functools.partial(lambda x, k: k * np.sum(x * x), k=2.0), 4 * X),
            (functools.lru_cache(lambda x: None) and np.sum, np.ones(3)),
            (np.prod, np.prod(X) / X),
            (pb.checkpoint(np.sum), np.ones(3)),
        ],
    )
    def test_whatever_can_be_called(self, f, expected):
        np.testing.assert_allclose(pb.grad(f)(X), expected)
        np.testing.assert_allclose(pb.vjp(f, X)[1](1.0)[0], expected)
        np.testing.assert_allclose(pb.jacobian(f)(X), expected)
        np.testing.assert_allclose(pb.jvp(f, (X,), (np.ones(3),))[1], np.sum(expected))
        np.testing.assert_allclose(pb.vmap(pb.grad(f))(np.stack([X, X])), [expected, expected])

    def test_ufuncs(self):
        np.testing.assert_allclose(pb.grad(np.sin)(0.5), np.cos(0.5))
        np.testing.assert_allclose(pb.grad(np.multiply, (0, 1))(2.0, 3.0), (3.0, 2.0))

    def test_decorated_methods(self):
        model = Model(3.0)
        np.testing.assert_allclose(model.force(X), 6 * X)
        assert Model.slope(3.0) == 6.0
        np.testing.assert_allclose(Model.force(model, X), 6 * X)

    def test_decorators(self):
        @pb.vmap
        @pb.grad
        def f(x):
            """The square."""
            return x * x

        np.testing.assert_array_equal(f(X), 2 * X)
        assert f.__name__ == "f"
        assert f.__doc__ == "The square."

    @pytest.mark.parametrize(
        "transform",
        [
            pb.grad,
            pb.value_and_grad,
            pb.jacobian,
            pb.hessian,
            pb.hvp,
            pb.elementwise_grad,
            pb.vmap,
            pb.checkpoint,
        ],
    )
    def test_a_transformation_shows_its_function(self, transform):
        def loss(w, x):
            """What is minimised."""

        made = transform(loss)
        assert made.fun is loss
        assert made.__wrapped__ is loss
        assert made.__name__ == "loss"
        assert made.__doc__ == "What is minimised."
        assert made.__module__ == __name__
        assert list(inspect.signature(made).parameters) == ["w", "x"]
        assert transform.__name__ in repr(made)
        assert "loss" in repr(made)
        assert transform(made).fun is made

    def test_they_travel(self):
        """Transformations of importable functions can be pickled and copied."""
        for duplicate in (lambda t: pickle.loads(pickle.dumps(t)), copy.deepcopy, copy.copy):
            np.testing.assert_array_equal(duplicate(pb.grad(np.sum))(X), np.ones(3))
            np.testing.assert_array_equal(
                duplicate(pb.vmap(np.sum, 1))(np.ones((2, 3))), np.full(3, 2.0)
            )

    def test_a_callable_object_without_a_name(self):
        made = pb.grad(Model(1.0))
        assert "Model" in repr(made)
        assert "partial(energy)" in repr(pb.grad(functools.partial(Model(1.0).energy))).replace(
            "Model.", ""
        )

    def test_recursion(self):
        def power(x, n):
            return 1.0 if n == 0 else x * power(x, n - 1)

        np.testing.assert_allclose(pb.grad(power)(2.0, 5), 80.0)

    @pytest.mark.parametrize("thing", [3.0, None, "sin", X])
    def test_what_cannot_be_called(self, thing):
        with pytest.raises(
            pb.ArgumentTypeError, match=r"`grad` takes a function.*\n.*grad\(f\)\(x\)"
        ):
            pb.grad(thing)
        for call in (
            lambda f: pb.vjp(f, 1.0),
            lambda f: pb.jvp(f, (1.0,), (1.0,)),
            lambda f: pb.linearize(f, 1.0),
        ):
            with pytest.raises(pb.ArgumentTypeError, match="takes a function"):
                call(thing)


async def coroutine(x):
    return x * x


def generator(x):
    yield x * x


async def agenerator(x):
    yield x * x


class Coroutine:
    async def __call__(self, x):
        return x * x


class TestDeferredBodies:
    """A body that runs after the transformation has ended cannot be transformed."""

    TRANSFORMS = pytest.mark.parametrize(
        "transform",
        [
            lambda f: pb.grad(f)(X),
            lambda f: pb.vmap(f)(X),
            lambda f: pb.vjp(f, X),
            lambda f: pb.jvp(f, (X,), (X,)),
            lambda f: pb.linearize(f, X),
            lambda f: pb.jacobian(f)(X),
            lambda f: pb.checkpoint(f)(X),
        ],
    )

    @TRANSFORMS
    @pytest.mark.parametrize(
        ("f", "kind"),
        [
            (coroutine, "a coroutine function"),
            (generator, "a generator function"),
            (agenerator, "an asynchronous generator"),
            (Coroutine(), "a coroutine function"),
            (functools.partial(generator), "a generator function"),
        ],
    )
    def test_such_functions_are_refused(self, transform, f, kind):
        with pytest.raises(pb.ArgumentTypeError) as caught:
            transform(f)
        assert kind in str(caught.value)
        cure = "lambda x: sum(" if kind == "a generator function" else "an ordinary function"
        assert cure in str(caught.value)

    @TRANSFORMS
    def test_such_results_are_refused(self, transform):
        """Where nothing shows in advance that one comes back."""
        with pytest.raises(pb.PullbackError, match="generator"):
            transform(lambda x: (x * k for k in range(2)))
        made = []
        with pytest.raises(pb.PullbackError, match="coroutine"):
            transform(lambda x: made.append(coroutine(x)) or made[-1])
        for c in made:
            c.close()

    def test_a_coroutine_may_call_a_gradient(self):
        async def main():
            return pb.grad(lambda x: x * x)(3.0)

        assert asyncio.run(main()) == 6.0

    def test_a_generator_may_be_consumed_inside(self):
        assert pb.grad(lambda x: sum(x**k for k in range(1, 4)))(2.0) == 1.0 + 4.0 + 12.0

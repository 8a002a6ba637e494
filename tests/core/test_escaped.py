"""Values that leave their transformation, meet it again elsewhere, or change on the way."""

import asyncio
import contextvars
import itertools
import threading

import numpy as np
import pytest

import pullback as pb
from tests.contexts import exact_type

pytestmark = pytest.mark.usefixtures("protocols_alone")


def ended():
    """An Array of an ended `grad(leak)`, with the value 3."""
    kept = []

    def leak(x):
        kept.append(x)
        return x

    pb.grad(leak)(3.0)
    return kept[0]


class Holder:
    value = None


LEAKS = {}


def leaking(way):
    LEAKS[way.__name__] = way
    return way


@leaking
def list_(transform):
    kept = []
    transform(lambda x: kept.append(x * 2.0) or x)
    return kept[0]


@leaking
def global_(transform):
    def f(x):
        Holder.value = x * 2.0
        return x

    transform(f)
    return Holder.value


@leaking
def closure(transform):
    kept = None

    def f(x):
        nonlocal kept
        kept = lambda: x * 2.0
        return x

    transform(f)
    return kept.__closure__[0].cell_contents


@leaking
def generator(transform):
    kept = []

    def stream(x):
        while True:
            yield x
            x = x.detach() if False else x

    def f(x):
        kept.append(stream(x))
        return next(kept[0])

    transform(f)
    return next(kept[0])


@leaking
def exception(transform):
    class Carrier(Exception):
        pass

    def f(x):
        raise Carrier(x * 2.0)

    with pytest.raises(Carrier) as caught:
        transform(f)
    return caught.value.args[0]


@leaking
def attribute(transform):
    holder = Holder()

    def f(x):
        holder.value = x
        return x

    transform(f)
    return holder.value


TRANSFORMS = {
    "grad": lambda f: pb.grad(f)(3.0),
    "vjp": lambda f: pb.vjp(f, 3.0),
    "jvp": lambda f: pb.jvp(f, (3.0,), (1.0,)),
    "linearize": lambda f: pb.linearize(f, 3.0),
    "vmap": lambda f: pb.vmap(f)(np.array([3.0, 4.0])),
    "checkpoint": lambda f: pb.checkpoint(f)(pb.array(3.0, requires_grad=True)),
}


class TestEscaped:
    """An Array lives as long as its transformation, where nobody saw where it was stored."""

    @pytest.fixture(autouse=True)
    def unseen(self):
        with pb.rebinding(False):
            yield

    @pytest.mark.parametrize("transform", TRANSFORMS)
    @pytest.mark.parametrize("way", LEAKS)
    def test_ways_out(self, way, transform):
        """However it got out, an operation on it raises and names the transformation."""
        x = LEAKS[way](TRANSFORMS[transform])
        assert exact_type(x) is pb.Array
        for operation in (
            lambda: x + 1.0,
            lambda: 1.0 - x,
            lambda: -x,
            lambda: x * x,
            lambda: np.sin(x),
            lambda: x > 0,
            lambda: np.sum(x),
            lambda: np.stack([x, x]),
            lambda: x.astype(np.float32),
            lambda: bool(x),
            lambda: int(x),
        ):
            with pytest.raises(pb.EscapedError, match=f"{transform}.*has ended"):
                operation()

    @pytest.mark.parametrize("transform", TRANSFORMS)
    def test_it_can_be_logged(self, transform):
        """Its value and its looks are there."""
        x = LEAKS["list_"](TRANSFORMS[transform])
        np.testing.assert_array_equal(x.numpy(), [6.0, 8.0] if transform == "vmap" else 6.0)
        with pytest.raises(pb.EscapedError):
            x.tolist()
        assert "6." in repr(x)
        assert transform in repr(x)

    @pytest.mark.parametrize("convert", [float, complex, np.asarray, np.array])
    def test_it_counts_as_live(self, convert):
        with pytest.raises(pb.ConversionError):
            convert(ended())

    def test_elements(self):
        kept = []
        pb.grad(lambda x: kept.append(x) or np.sum(x))(np.ones(3))
        for operation in (lambda x: x[0], lambda x: x[:2], lambda x: list(x), lambda x: x @ x):
            with pytest.raises(pb.EscapedError):
                operation(kept[0])

    @pytest.mark.parametrize("transform", TRANSFORMS)
    def test_met_inside_a_live_transformation(self, transform):
        x = ended()
        with pytest.raises(pb.EscapedError, match=r"grad\(.*leak\).*has ended"):
            TRANSFORMS[transform](lambda y: x * y)
        with pytest.raises(pb.EscapedError, match=r"grad\(.*leak\).*has ended"):
            TRANSFORMS[transform](lambda y: np.stack([y, x]))
        with pytest.raises(pb.EscapedError, match=r"grad\(.*leak\).*has ended"):
            TRANSFORMS[transform](lambda y: np.where(y > 0, y, x))

    @pytest.mark.parametrize("transform", TRANSFORMS)
    def test_returned(self, transform):
        """As the result, or inside a tree."""
        x = ended()
        with pytest.raises(
            pb.EscapedError, match=r"returned to `.*` an Array of `grad\(.*leak\)`, which has ended"
        ):
            TRANSFORMS[transform](lambda y: x)
        if transform != "grad":
            with pytest.raises(pb.EscapedError, match=r"returned to `.*` an Array"):
                TRANSFORMS[transform](lambda y: {"a": y, "b": [x]})

    def test_returned_as_auxiliary_result(self):
        x = ended()
        for call in (
            lambda: pb.grad(lambda y: (y, x), has_aux=True)(1.0),
            lambda: pb.value_and_grad(lambda y: (y, {"a": [x]}), has_aux=True)(1.0),
            lambda: pb.vjp(lambda y: (y, x), 1.0, has_aux=True),
        ):
            with pytest.raises(pb.EscapedError, match=r"returned to `.*` an Array"):
                call()

    def test_as_an_argument(self):
        x = ended()
        for call in (
            lambda: pb.grad(np.sin)(x),
            lambda: pb.grad(lambda t: t["a"])({"a": x}),
            lambda: pb.vjp(np.sin, x),
            lambda: pb.jvp(np.sin, (x,), (1.0,)),
            lambda: pb.jvp(lambda x, y: x * y, (x, 1.0), (None, 1.0)),
            lambda: pb.linearize(np.sin, x),
            lambda: pb.jacobian(np.sin)(x),
            lambda: pb.checkpoint(np.sin)(x),
            lambda: pb.grad(lambda y, x: x * y)(1.0, x),
        ):
            with pytest.raises(pb.EscapedError, match="has ended"):
                call()
        kept = []
        pb.grad(lambda x: kept.append(x) or np.sum(x))(np.ones(3))
        with pytest.raises(pb.EscapedError, match=r"`vmap\(.*\)` was given an Array of `grad"):
            pb.vmap(lambda x: x)(kept[0])

    def test_as_a_cotangent_or_tangent(self):
        x = ended()
        _, pullback = pb.vjp(np.sin, 0.5)
        _, pushforward = pb.linearize(np.sin, 0.5)
        y = pb.array(1.0, requires_grad=True)
        for call in (
            lambda: pullback(x),
            lambda: pushforward(x),
            lambda: pb.jvp(np.sin, (0.5,), (x,)),
            lambda: (y * y).backward(x),
            lambda: pb.hvp(np.sin)(0.5, x),
        ):
            with pytest.raises(pb.EscapedError, match="which has ended"):
                call()

    def test_as_data_of_an_array(self):
        x = ended()
        for call in (
            lambda: pb.array(x),
            lambda: pb.array([x, 1.0]),
            lambda: pb.array(x, requires_grad=True),
        ):
            with pytest.raises(pb.PullbackError, match=r"grad\(.*leak\)"):
                call()

    def test_an_inner_value_in_an_outer_transformation(self):
        """The inner grad has ended while the outer one runs."""

        def f(x):
            kept = []
            pb.grad(lambda y: kept.append(y) or x * y)(x)
            return kept[0] * x

        with pytest.raises(pb.EscapedError, match="has ended"):
            pb.grad(f)(2.0)

    def test_an_inner_eager_value_cannot_be_returned(self):
        """Its trace began inside, and ends with the transformation; its gradient may leave."""
        with pytest.raises(pb.EscapedError, match=r"began inside.*\n.*x\.detach\(\)"):
            pb.grad(lambda z: pb.array(2.0, requires_grad=True) * z)(3.0)
        kept = []
        pb.grad(lambda z: kept.append(pb.array(2.0, requires_grad=True)) or z)(3.0)
        with pytest.raises(pb.EscapedError, match="has ended"):
            kept[0] * 1.0

    def test_a_gradient_of_an_inner_eager_value_may_be_returned(self):
        def f(z):
            x = pb.array(2.0, requires_grad=True)
            (x * z).backward()
            return x.grad

        assert pb.grad(f)(3.0) == 1.0
        assert pb.jvp(f, (3.0,), (1.0,))[1] == 1.0
        np.testing.assert_array_equal(pb.vmap(f)(np.array([3.0, 4.0])), [3.0, 4.0])

    def test_an_exception_that_carries_a_value_of_an_outer_transformation(self):
        """It leaves the inner one and is caught in the outer, where it is at home."""

        class Found(Exception):
            pass

        def f(x):
            def search(y):
                raise Found(x * x)

            try:
                pb.grad(search)(1.0)
            except Found as found:
                return found.args[0]

        assert pb.grad(f)(3.0) == 6.0


class TestGenerators:
    def test_consumed_inside(self):
        def powers(x):
            y = x
            while True:
                yield y
                y = y * x

        f = lambda x: sum(itertools.islice(powers(x), 3))
        assert pb.grad(f)(2.0) == 1.0 + 4.0 + 12.0

    def test_advanced_in_two_transformations(self):
        """What it holds from the first is dead in the second."""

        def accumulate():
            total = 0.0
            while True:
                total = total + (yield total)

        sums = accumulate()
        next(sums)
        assert pb.grad(lambda x: sums.send(x))(3.0) == 1.0
        with pytest.raises(pb.EscapedError):
            pb.grad(lambda x: sums.send(x))(3.0)

    def test_a_transformation_inside_a_generator(self):
        """It may begin and end between two steps of another one."""

        def slopes(f, points):
            for point in points:
                yield pb.grad(f)(point)

        f = lambda x: sum(s * x for s in slopes(lambda y: x * y * y, [1.0, 2.0, x]))
        # x (2 x + 4 x + 2 x x) has derivative 12 x + 6 x**2
        assert pb.grad(f)(3.0) == 36.0 + 54.0


class TestContexts:
    """The innermost running transformation is one of the thread or task, not of the process."""

    def test_an_eager_array_in_another_thread_belongs_to_the_ground(self):
        made = []

        def f(x):
            thread = threading.Thread(target=lambda: made.append(pb.array(2.0, requires_grad=True)))
            thread.start()
            thread.join()
            return x * x

        pb.grad(f)(3.0)
        (made[0] * 2.0).backward()
        assert made[0].grad == 2.0

    def test_a_task_in_which_no_transformation_runs(self):
        async def main():
            x = pb.array(2.0, requires_grad=True)
            gradient = pb.grad(lambda y: y * y)(3.0)
            await asyncio.sleep(0)
            (x * x).backward()
            return gradient, x.grad

        assert asyncio.run(main()) == (6.0, 4.0)

    def test_a_context_copied_inside_and_used_after(self):
        """A copied context remembers an ended transformation; new Arrays go to the ground."""
        contexts = []
        pb.grad(lambda x: contexts.append(contextvars.copy_context()) or x)(3.0)
        x = contexts[0].run(lambda: pb.array(2.0, requires_grad=True))
        (x * x).backward()
        assert x.grad == 4.0

    def test_the_running_transformation_is_restored_after_an_exception(self):
        def f(x):
            with pytest.raises(ZeroDivisionError):
                pb.grad(lambda y: 1 / 0)(x)
            inner = pb.array(2.0, requires_grad=True)
            (inner * x).backward()
            return inner.grad

        assert pb.grad(f)(3.0) == 1.0


class TestInPlace:
    """`y += 1.0` on an outer Array, between forward and backward of an inner transformation.

    A node, a pullback and a pushforward hold what there was; results are objects of their own.
    """

    X = np.array([1.0, 2.0])

    def check(self, f, value, gradient):
        found = pb.value_and_grad(f)(self.X)
        np.testing.assert_allclose(found[0], value)
        np.testing.assert_allclose(found[1], gradient)
        found = pb.jvp(f, (self.X,), (np.ones(2),))
        np.testing.assert_allclose(found[0], value)
        np.testing.assert_allclose(found[1], np.sum(gradient))

    def test_a_captured_array(self):
        def f(x):
            y = x * 1.0
            _, pullback = pb.vjp(lambda z: z * y, np.ones(2))
            y += 1.0
            return np.sum(pullback(np.ones(2))[0])

        self.check(f, 3.0, [1.0, 1.0])

    def test_a_primal(self):
        def f(x):
            y = x * 1.0
            _, pullback = pb.vjp(lambda z: z * z, y)
            _, pushforward = pb.linearize(lambda z: z * z, y)
            y += 1.0
            return np.sum(pullback(np.ones(2))[0]) + np.sum(pushforward(np.ones(2)))

        self.check(f, 12.0, [4.0, 4.0])

    def test_an_output(self):
        def f(x):
            out, pullback = pb.vjp(np.exp, x)
            same, pushforward = pb.linearize(np.exp, x)
            out += 1.0
            same += 1.0
            return np.sum(pullback(np.ones(2))[0]) + np.sum(pushforward(np.ones(2)))

        self.check(f, 2 * np.exp(self.X).sum(), 2 * np.exp(self.X))

    def test_two_cotangents_are_two_objects(self):
        def f(x):
            bar = x * 1.0
            first, second = pb.vjp(lambda a, b: a + b, np.ones(2), np.ones(2))[1](bar)
            first += 1.0
            return np.sum(second * 10.0 + bar)

        self.check(f, 33.0, [11.0, 11.0])

    def test_a_tangent(self):
        def f(x):
            v = x * 1.0
            _, dot = pb.jvp(lambda z: z, (np.ones(2),), (v,))
            dot += 1.0
            return np.sum(v)

        self.check(f, 3.0, [1.0, 1.0])

    def test_inside_a_checkpoint(self):
        """It captures a variable as it is at each use."""

        def f(x):
            y = x * 1.0

            def g(z):
                nonlocal y
                first = z * y
                y += 1.0
                return np.sum(first + z * y)

            return pb.checkpoint(g)(np.ones(2))

        assert pb.value_and_grad(f)(self.X)[0] == 8.0
        np.testing.assert_allclose(pb.grad(f)(self.X), [2.0, 2.0])

    def test_a_mapped_argument_stays(self):
        def f(x):
            y = x * 1.0

            def add(z):
                z += 1.0
                return z

            shifted = pb.vmap(add)(np.ones((1, 2)) * y)
            return np.sum(shifted) + np.sum(y)

        self.check(f, 8.0, [2.0, 2.0])

    def test_the_argument_of_the_caller_stays(self):
        def f(x):
            x += 1.0
            return np.sum(x * x)

        x = self.X.copy()
        np.testing.assert_allclose(pb.grad(f)(x), 2 * (self.X + 1))
        np.testing.assert_array_equal(x, self.X)

        def outer(x):
            y = x * 1.0
            return np.sum(pb.grad(f)(y)) + np.sum(y)

        self.check(outer, 13.0, [3.0, 3.0])

    def test_a_number_is_bound_anew(self):
        """NumPy scalars are immutable: another name for one stays, under vmap as well."""

        def f(x):
            total = x
            total += 1.0
            return x * total

        assert f(np.float64(3.0)) == 12.0
        assert pb.value_and_grad(f)(3.0) == (12.0, 7.0)
        assert pb.grad(pb.grad(f))(3.0) == 2.0
        np.testing.assert_array_equal(pb.vmap(f)(np.array([1.0, 3.0])), [2.0, 12.0])
        np.testing.assert_array_equal(pb.vmap(pb.grad(f))(np.array([1.0, 3.0])), [3.0, 7.0])
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(pb.vmap(f)(x)))(self.X), [3.0, 5.0])

    def test_another_name_of_an_array_sees_it(self):
        """At any depth of transformations."""

        def f(x):
            y = x * 1.0
            z = y
            z += 1.0
            return np.sum(y * y)

        self.check(f, 13.0, [4.0, 6.0])
        np.testing.assert_array_equal(pb.hessian(f)(self.X), 2 * np.eye(2))
        np.testing.assert_array_equal(pb.jvp(pb.grad(f), (self.X,), (np.ones(2),))[0], [4.0, 6.0])
        np.testing.assert_array_equal(pb.vmap(f)(self.X[None]), [13.0])
        np.testing.assert_array_equal(pb.vmap(pb.grad(f))(self.X[None]), [[4.0, 6.0]])
        np.testing.assert_array_equal(pb.grad(pb.checkpoint(f))(self.X), [4.0, 6.0])

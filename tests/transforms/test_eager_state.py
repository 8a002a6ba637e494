"""The eager door: what a leaf is and what changes it; `no_grad`; in-place operators; threads."""

import asyncio
import statistics
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pullback as pb

X = np.array([0.5, -1.0, 2.0])


def leaf(data=X, **kwargs):
    return pb.array(data, requires_grad=True, **kwargs)


class TestRequiresGrad:
    def test_what_it_says(self):
        x = leaf()
        assert x.requires_grad
        assert (x * 2.0).requires_grad
        assert np.floor(x).requires_grad
        assert not pb.array(X).requires_grad
        assert not x.detach().requires_grad
        assert pb.grad(lambda z: z * (1.0 if z.requires_grad else 2.0))(3.0) == 2.0

    def test_it_can_be_set_on_a_constant(self):
        x = pb.array(X)
        x.requires_grad = True
        np.sum(x * x).backward()
        np.testing.assert_array_equal(x.grad, 2 * X)
        x.requires_grad = True
        np.testing.assert_array_equal(x.grad, 2 * X)

    def test_it_can_be_taken_from_a_leaf(self):
        """What was computed before keeps its derivative."""
        x, w = leaf(2.0), leaf(3.0)
        y = x * w
        x.requires_grad = False
        assert not (x * 2.0).requires_grad
        y.backward()
        assert w.grad == 2.0
        assert x.grad is None

    @pytest.mark.usefixtures("protocols_alone")
    def test_a_leaf_inside_a_transformation_gives_its_array_back(self):
        """Without its gradient it is what it was made of, with that derivative."""

        def f(z):
            x = leaf(z)
            x.requires_grad = False
            with pytest.raises(pb.ConversionError):
                float(x)
            return x * x

        assert pb.grad(f)(3.0) == 6.0

    def test_elsewhere_it_is_refused(self):
        with pytest.raises(
            pb.ArgumentError, match=r"Array of `eager` that is computed.*\n.*detach"
        ):
            (leaf() * 2.0).requires_grad = False
        with pytest.raises(pb.ArgumentError, match=r"of `grad\(<lambda>\)`"):
            pb.grad(lambda x: setattr(x, "requires_grad", True))(1.0)
        with pytest.raises(pb.DtypeError, match="int64"):
            pb.array([1, 2]).requires_grad = True


class TestNoGrad:
    def test_nothing_is_recorded(self):
        x = leaf()
        with pb.no_grad():
            for y in (x * x, 2.0 * x, -x, np.sin(x), np.sum(x), x[1:], x[0], np.stack([x, x])):
                assert type(y) is pb.Array
                assert not y.requires_grad
            whole = np.modf(x)[1]
            assert not whole.requires_grad
        assert (x * x).requires_grad
        np.testing.assert_array_equal(np.asarray(y), np.stack([X, X]))

    def test_as_a_decorator(self):
        @pb.no_grad()
        def evaluate(x, scale=2.0):
            """Documented."""
            return x * scale

        assert not evaluate(leaf()).requires_grad
        assert (evaluate.__name__, evaluate.__doc__) == ("evaluate", "Documented.")
        assert (leaf() * 2.0).requires_grad

    def test_as_a_decorator_without_parentheses(self):
        @pb.no_grad
        def evaluate(x):
            return x * 2.0

        assert not evaluate(leaf()).requires_grad
        with pytest.raises(pb.ArgumentTypeError, match="`no_grad` takes a function"):
            pb.no_grad(leaf())

    def test_it_nests(self):
        x = leaf()
        with pb.no_grad():
            with pb.no_grad():
                assert not (x * x).requires_grad
            assert not (x * x).requires_grad
        assert (x * x).requires_grad

    def test_an_exception_ends_it(self):
        x = leaf()
        with pytest.raises(RuntimeError, match="planted"), pb.no_grad():
            raise RuntimeError("planted")
        assert (x * x).requires_grad

    def test_one_object_may_be_entered_again(self):
        guard, x = pb.no_grad(), leaf()
        with guard, guard:
            assert not (x * x).requires_grad
        assert (x * x).requires_grad

    def test_other_threads_go_on(self):
        x, entered, leave, seen = leaf(), threading.Event(), threading.Event(), []

        def other():
            entered.wait()
            seen.append((x * x).requires_grad)
            with pb.no_grad():
                seen.append((x * x).requires_grad)
            seen.append((x * x).requires_grad)
            leave.set()

        thread = threading.Thread(target=other)
        thread.start()
        with pb.no_grad():
            entered.set()
            assert leave.wait(10)
            assert not (x * x).requires_grad
        thread.join()
        assert seen == [True, False, True]

    def test_other_tasks_go_on(self):
        x = leaf()

        async def silent():
            with pb.no_grad():
                await asyncio.sleep(0)
                return (x * x).requires_grad

        async def loud():
            await asyncio.sleep(0)
            return (x * x).requires_grad

        async def both():
            return await asyncio.gather(silent(), loud(), silent())

        assert asyncio.run(both()) == [False, True, False]

    def test_it_touches_eager_arrays_only(self):
        """Transformations go on inside, also of functions of eager Arrays."""
        w = leaf(5.0)
        with pb.no_grad():
            assert pb.grad(lambda x: x * x * x)(2.0) == 12.0
            assert pb.jvp(lambda x: x * x, (2.0,), (1.0,))[1] == 4.0
            np.testing.assert_array_equal(pb.vmap(lambda x: x * x)(X), X * X)
            gradient = pb.grad(lambda x: x * x * w)(2.0)
        assert gradient == 20.0
        assert type(gradient) is np.float64

    def test_inside_a_transformation(self):
        """Eager Arrays lose their graph, the transformation's own do not."""

        def f(z):
            x = leaf(2.0)
            with pb.no_grad():
                y = x * z
            assert not y.requires_grad
            return y * z

        assert pb.grad(f)(3.0) == 12.0

    def test_backward_goes_on_inside(self):
        """What was recorded before may be gone through."""
        x = leaf(2.0)
        y = x * x
        with pb.no_grad():
            y.backward()
        assert x.grad == 4.0

    def test_what_runs_later_is_refused(self):
        async def task():
            pass

        def generator():
            yield 1

        for function in (task, generator):
            with pytest.raises(
                pb.ArgumentTypeError, match=f"`no_grad` was given.*{function.__name__}"
            ):
                pb.no_grad()(function)
        with pytest.raises(pb.ArgumentTypeError, match="takes a function"):
            pb.no_grad()(3.0)


class TestData:
    def test_it_is_a_fresh_copy(self):
        for x in (leaf(), pb.array(X), leaf() * 1.0):
            assert type(x.data) is np.ndarray
            x.data[:] = 7.0
            np.testing.assert_array_equal(x.numpy(), X)
        assert leaf(2.0).data == 2.0

    def test_assigning_it_replaces_the_value_of_a_leaf(self):
        """It stays the leaf; what was computed before keeps the old values."""
        x = leaf()
        y, alias = np.sum(x * x), x
        values = 2 * X
        x.data = values
        values[:] = 0.0
        y.backward()
        np.testing.assert_array_equal(x.grad, 2 * X)
        x.zero_grad()
        np.sum(alias * alias).backward()
        np.testing.assert_array_equal(x.grad, 4 * X)

    def test_assigning_it_to_a_view_changes_what_that_is_of(self):
        x = pb.array(X)
        x[1:].data = 2 * X[1:]
        np.testing.assert_array_equal(x.numpy(), [X[0], *2 * X[1:]])

    def test_views_of_a_leaf_that_was_written_to_see_what_is_assigned(self):
        x = leaf()
        with pb.no_grad():
            x += 1.0
        view = x[1:]
        x.data = 3 * X
        np.testing.assert_array_equal(view.numpy(), 3 * X[1:])
        (view * view).sum().backward()
        np.testing.assert_array_equal(x.grad, [0.0, *6 * X[1:]])

    @pytest.mark.parametrize("requires_grad", [True, False])
    @pytest.mark.parametrize("make", [np.array, list, lambda x: np.array([x]).T])
    @pytest.mark.parametrize("view", [lambda x: x[1:], lambda x: x.T, lambda x: x[...]])
    def test_views_see_what_is_assigned(self, requires_grad, make, view):
        """What is written into one of them afterwards doesn't undo it."""
        x = pb.array(make(X), requires_grad=requires_grad)
        for factor in (2.0, 3.0):
            y, seen = view(x), x.numpy() * factor
            x.data = seen
            np.testing.assert_array_equal(y.numpy(), view(seen))
            with pb.no_grad():
                y += 1.0
            view(seen)[...] += 1.0
            np.testing.assert_array_equal(x.numpy(), seen)

    def test_views_inside_a_transformation_see_it(self):
        def f(z):
            x = pb.array(X, requires_grad=True)
            x.data = z * X
            view = x[1:]
            x.data = z * z * X
            return view.data.sum()

        np.testing.assert_allclose(pb.grad(f)(3.0), 6.0 * X[1:].sum())

    def test_a_leaf_without_views_stays_out_of_them(self):
        """Else each operation would cost more after the first step."""
        p = leaf(X)
        for _ in range(3):
            loss = np.sum(p[1:] * p[:-1]) + np.sum(p.T @ p)
            loss.backward()
            p.data -= 0.25 * p.grad
        assert p.storage is None

    def test_a_step_of_descent(self):
        p = leaf(X)
        np.sum(p * p).backward()
        p.data -= 0.25 * p.grad
        np.testing.assert_array_equal(p.numpy(), 0.5 * X)
        assert p.requires_grad

    def test_a_step_along_a_gradient_with_a_graph(self):
        """The leaf has no history: the step is not differentiated."""
        p = leaf(2.0)
        (p * p * p).backward(create_graph=True)
        p.data -= 0.1 * p.grad
        assert type(p.data) is np.float64
        np.testing.assert_allclose(p.item(), 0.8)
        p.zero_grad()
        (p * p).backward()
        np.testing.assert_allclose(p.grad, 1.6)

    def test_a_constant_has_data_too(self):
        x = pb.array(X)
        x.data = np.ones(3, int)
        assert x.dtype == float
        np.testing.assert_array_equal(x.numpy(), np.ones(3))

    def test_what_is_refused(self):
        with pytest.raises(pb.ArgumentError, match="on a leaf only"):
            (leaf() * 2.0).data = X
        with pytest.raises(pb.ShapeError, match=r"`x\.data` takes data of shape \(3,\)"):
            leaf().data = np.ones(2)
        with pytest.raises(pb.DtypeError, match=r"float64.*complex128"):
            leaf().data = X * 1j

    @pytest.mark.parametrize("make", [pb.array, leaf])
    def test_a_derivative_would_be_lost(self, make):
        """An Array of a transformation does not hide in an older Array."""

        def f(z):
            x = make(1.0) if make is pb.array else older
            x.data = z
            return x * x

        older = leaf(1.0)
        with pytest.raises(pb.ArgumentError, match=r"`\.data`.*of `grad\(f\)`.*would be lost"):
            pb.grad(f)(3.0)

    def test_inside_transformations_it_raises(self):
        """The derivative would be lost."""
        for transform in (
            pb.grad,
            pb.vmap,
            lambda f: lambda x: pb.jvp(f, (x,), (x,)),
            lambda f: lambda x: pb.linearize(f, x),
        ):
            with pytest.raises(pb.ConversionError, match=r"`x\.data` was asked of"):
                transform(lambda x: np.sum(x.data * x))(X)

    def test_libraries_do_not_read_it_of_what_is_computed(self):
        """They look for `.data` to compute with it; who looks at a result asks himself."""
        y = leaf(2.0) * 3.0
        assert y.data == 6.0
        foreign = {"__name__": "statistics", "__file__": statistics.__file__}
        exec("def read(x): return x.data", foreign)
        with pytest.raises(pb.ConversionError, match=r"`x\.data` was asked of"):
            foreign["read"](y)
        assert foreign["read"](leaf(2.0)) == 2.0

    def test_training_inside_a_transformation_is_differentiated(self):
        """d/dz of two steps p -= r dL/dp, L = (p - z)**2 / 2, from p = 0: 1 - (1 - r)**2."""

        def trained(z):
            p = leaf(0.0)
            for _ in range(2):
                p.zero_grad()
                (0.5 * (p - z) ** 2).backward()
                p.data = p.data - 0.1 * p.grad
            return p.data

        np.testing.assert_allclose(pb.grad(trained)(3.0), 1 - 0.9**2)
        np.testing.assert_allclose(pb.jvp(trained, (3.0,), (1.0,))[1], 1 - 0.9**2)
        np.testing.assert_allclose(pb.vmap(pb.grad(trained))(X), np.full(3, 1 - 0.9**2))


class TestDetach:
    def test_values_without_derivative(self):
        x = leaf()
        y = x.detach()
        assert type(y) is pb.Array
        np.testing.assert_array_equal(np.asarray(y), X)
        np.sum(x * y).backward()
        np.testing.assert_array_equal(x.grad, X)

    def test_it_can_become_a_leaf(self):
        x = leaf(2.0)
        y = (x * x).detach()
        y.requires_grad = True
        (y * y).backward()
        assert y.grad == 8.0
        assert x.grad is None

    def test_inside_transformations(self):
        assert pb.grad(lambda x: x.detach() * x)(3.0) == 3.0
        assert pb.grad(lambda z: (leaf(z) * 2.0).detach() * z)(3.0) == 6.0
        np.testing.assert_array_equal(pb.vmap(lambda x: x.detach() * 2.0)(X), 2 * X)


class TestInPlaceOperators:
    def test_another_name_sees_it(self):
        """As in NumPy, `x += y` is on the object."""
        x = leaf()
        y = x * 2.0
        other = y
        y += 1.0
        y *= x
        assert other is y
        np.testing.assert_array_equal(other.numpy(), (2 * X + 1) * X)
        np.sum(other).backward()
        np.testing.assert_array_equal(x.grad, 4 * X + 1)

    def test_what_was_computed_before_keeps_its_values(self):
        x = leaf()
        y = x * 1.0
        z = np.sum(y * y)
        y += 100.0
        z.backward()
        np.testing.assert_array_equal(x.grad, 2 * X)

    def test_a_number_is_bound_anew(self):
        """As NumPy's scalars: another name keeps the old one."""
        x = leaf(2.0)
        y = x * 3.0
        other = y
        y += 1.0
        assert (other.item(), y.item()) == (6.0, 7.0)
        y.backward()
        assert x.grad == 3.0

    def test_a_leaf_is_refused(self):
        x = leaf()
        with pytest.raises(pb.ArgumentError, match=r"into a leaf float64\[3\].*\n.*no_grad"):
            x += 1.0
        np.testing.assert_array_equal(x.numpy(), X)

    def test_a_view_writes_to_its_base(self):
        y = leaf() * 2.0
        for target in (y[1:], y.reshape(3, 1)):
            target += 1.0
        np.testing.assert_array_equal(y.numpy(), 2 * X + [1.0, 2.0, 2.0])

    def test_another_shape_or_kind_is_refused(self):
        y = leaf() * 2.0
        with pytest.raises(pb.ShapeError, match=r"\(2, 3\) cannot be written .* shape \(3,\)"):
            y += np.ones((2, 3))
        with pytest.raises(pb.DtypeError, match="complex128"):
            y *= 1j

    def test_the_dtype_stays(self):
        y = leaf(X.astype(np.float32)) * np.float32(2.0)
        y += np.ones(3)
        assert y.dtype == np.float32

    def test_under_a_transformation(self):
        def f(x):
            y = x * 1.0
            other = y
            y *= x
            return np.sum(other * x)

        np.testing.assert_allclose(pb.grad(f)(X), 3 * X * X)
        np.testing.assert_allclose(pb.hessian(f)(X), np.diag(6 * X))
        np.testing.assert_allclose(
            pb.vmap(pb.value_and_grad(f))(np.stack([X, X]))[1], [3 * X * X] * 2
        )
        np.testing.assert_allclose(pb.vmap(pb.value_and_grad(f))(np.stack([X, X]))[0], [f(X)] * 2)


@pytest.fixture
def impatient():
    """Threads take turns as often as the interpreter lets them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("impatient")
class TestThreads:
    def test_leaves_are_shared(self):
        """Gradients from many threads add up, and none is lost."""
        w = leaf(np.zeros(100))

        def work(i):
            np.sum(w * float(i)).backward()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(200)))
        np.testing.assert_array_equal(w.grad, np.full(100, float(sum(range(200)))))

    def test_a_shared_graph(self):
        """Passes over common nodes wait for each other."""
        w = leaf(2.0)
        shared = w * w
        outs = [shared * float(i) for i in range(100)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda out: out.backward(retain_graph=True), outs))
        assert w.grad == 4.0 * sum(range(100))

    def test_graphs_of_gradients(self):
        w = leaf(2.0)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: (w**3).backward(create_graph=True), range(50)))
        gradient = w.grad
        w.zero_grad()
        gradient.backward()
        np.testing.assert_allclose([gradient.item(), w.grad], [50 * 12.0, 50 * 12.0])

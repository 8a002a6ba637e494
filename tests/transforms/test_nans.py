"""debug_nans: the operation that makes a NaN is named, with the user's line."""

import threading

import numpy as np
import pytest

import pullback as pb

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def root(x):
    return np.sqrt(x * x)


ROOT = f"in test_nans.py:{root.__code__.co_firstlineno + 1} (return np.sqrt(x * x))"


def fails(f, *texts):
    with pytest.raises(pb.NanError) as caught, pb.debug_nans():
        f()
    for text in texts:
        assert text in str(caught.value)
    f()  # without it nothing is raised


class TestWhere:
    def test_forward(self):
        fails(lambda: pb.grad(lambda x: np.sqrt(x - 2.0))(1.0), "`sqrt` made a NaN from x = -1.0")

    def test_arrays_are_told_by_their_range(self):
        x = np.array([1.0, -4.0])
        told = "x = float64[2] between -4 and 1"
        fails(lambda: pb.grad(lambda x: np.sum(np.log(x)))(x), told)

    def test_reverse(self):
        said = "The derivative of `multiply` in reverse mode is NaN at x = 0.0, y = 0.0"
        fails(lambda: pb.grad(root)(0.0), said, ROOT)

    def test_forward_mode(self):
        said = "The derivative of `sqrt` in forward mode is NaN at x = 0.0"
        fails(lambda: pb.jvp(root, (0.0,), (1.0,)), said, ROOT)

    def test_batches(self):
        fails(lambda: pb.vmap(lambda x: np.log(x) - np.log(x))(np.array([1.0, 0.0])), "`subtract`")

    def test_second_order(self):
        fails(lambda: pb.grad(pb.grad(root))(0.0), ROOT)
        fails(lambda: pb.hessian(lambda x: np.sum(root(x)))(np.zeros(2)), ROOT)

    def test_eager(self):
        def f():
            x = pb.array(0.0, requires_grad=True)
            root(x).backward()

        fails(f, "in reverse mode", ROOT)

    def test_eager_inside(self):
        def f():
            def inner(z):
                x = pb.array(0.0, requires_grad=True)
                root(x * z).backward()
                return x.grad

            return pb.grad(inner)(1.0)

        fails(f, ROOT)

    def test_several_results(self):
        fails(lambda: pb.grad(lambda x: np.modf(np.log(x))[0])(-1.0), "`log`")

    def test_large_arrays(self):
        fails(lambda: pb.grad(lambda x: np.sum(root(x)))(np.zeros(100_000)), ROOT)


class TestPeace:
    """What is right is as it was."""

    def test_results(self):
        x = np.array([0.5, 1.0])
        f = lambda x: np.sum(np.tanh(x) * x[0] + np.linalg.norm(x))
        with pb.debug_nans():
            inside = [pb.grad(f)(x), pb.hessian(f)(x), pb.jvp(f, (x,), (x,))[1]]
            loop = pb.grad(lambda x: assigned(x))(x)
        for ours, theirs in zip(
            inside, [pb.grad(f)(x), pb.hessian(f)(x), pb.jvp(f, (x,), (x,))[1]], strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_allclose(loop, 2 * x)

    def test_what_is_masked(self):
        """A cotangent that where() cut off carries no NaN."""
        f = lambda x: np.where(x > 0, x, 0.0) * 2.0
        with pb.debug_nans():
            assert pb.grad(f)(-1.0) == 0.0

    def test_a_nan_that_was_given_is_passed_on(self):
        with pb.debug_nans():
            assert np.isnan(pb.grad(lambda x: x * x)(np.nan))

    def test_create_graph(self):
        with pb.debug_nans():
            x = pb.array(2.0, requires_grad=True)
            (x**3).backward(create_graph=True)
            (g,) = [x.grad]
            x.zero_grad()
            g.backward()
            assert x.grad == 12.0

    def test_other_threads_do_not_notice(self):
        found = []

        def other():
            x = pb.array(0.0, requires_grad=True)
            root(x).backward()
            found.append(x.grad)

        with pb.debug_nans():
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        assert np.isnan(found[0])

    def test_a_decorator(self):
        with pytest.raises(pb.NanError):
            pb.debug_nans()(pb.grad(root))(0.0)
        assert np.isnan(pb.grad(root)(0.0))

    def test_it_nests(self):
        with pb.debug_nans():
            with pb.debug_nans():
                pass
            with pytest.raises(FloatingPointError):
                pb.grad(root)(0.0)


def assigned(x):
    z = np.zeros(2)
    z[0] = x[0] ** 2
    z[1:] = x[1:] ** 2
    return np.sum(z)

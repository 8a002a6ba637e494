"""The eager door: `array`, `.backward()`, `.grad`, higher orders, `retain_grad`."""

import gc
import weakref

import numpy as np
import pytest

import pullback as pb
from tests.contexts import exact_type

X = np.array([0.5, -1.0, 2.0])


def leaf(data=X, **kwargs):
    return pb.array(data, requires_grad=True, **kwargs)


def numeric(f, x, h=1e-6):
    """The gradient of f by central differences."""
    x = np.asarray(x, float)
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        out[i] = (f(x + step) - f(x - step)) / (2 * h)
    return out


def wave(x):
    return np.sum(np.sin(x) * np.exp(-x * x) * x)


class TestArray:
    @pytest.mark.parametrize(
        ("data", "dtype"),
        [
            (1.0, np.float64),
            (1, np.int64),
            (True, np.bool_),
            (1 + 2j, np.complex128),
            ([1.0, 2.0], np.float64),
            ([[1, 2], [3, 4]], np.int64),
            (np.float32(2.0), np.float32),
            (np.ones((2, 3), np.float16), np.float16),
            (np.zeros((0, 3)), np.float64),
            (range(3), np.int64),
            ((), np.float64),
        ],
    )
    def test_dtype_and_shape_are_those_of_numpy(self, data, dtype):
        """A constant is made as `numpy.array` makes arrays."""
        x, expected = pb.array(data), np.array(data)
        assert exact_type(x) is pb.Array
        assert (x.dtype, x.shape) == (expected.dtype, expected.shape) == (dtype, expected.shape)
        np.testing.assert_array_equal(np.asarray(x), expected)
        assert not x.requires_grad

    def test_the_dtype_may_be_asked_for(self):
        assert pb.array([1, 2], dtype=np.float32).dtype == np.float32
        assert pb.array(pb.array([1.7, 2.0]), dtype=int).tolist() == [1, 2]
        assert leaf([1, 2], dtype=float).requires_grad
        assert pb.array([leaf(1.0), 2.0], dtype=np.float32).dtype == np.float32

    def test_the_values_are_copied(self):
        """Changing the source afterwards does not change the Array, and the other way round."""
        source = X.copy()
        x, y = pb.array(source), leaf(source)
        source[:] = 0
        np.testing.assert_array_equal(x.numpy(), X)
        np.testing.assert_array_equal(y.numpy(), X)
        x.numpy()[:] = 7
        np.testing.assert_array_equal(x.numpy(), X)

    def test_an_array_of_an_array_is_another_one(self):
        """It shares nothing that could be changed."""
        x = pb.array(X)
        y = pb.array(x)
        y.requires_grad = True
        assert not x.requires_grad
        z = pb.array(x)
        z += 1.0
        np.testing.assert_array_equal(x.numpy(), X)

    def test_lists_may_hold_arrays(self):
        """The derivative of the Arrays in nested lists is kept."""
        x, y = leaf(2.0), leaf(3.0)
        made = pb.array([[x, 1.0], [y * x, 4]])
        assert made.shape == (2, 2)
        np.testing.assert_array_equal(made.numpy(), [[2.0, 1.0], [6.0, 4.0]])
        (made * np.array([[1.0, 5.0], [10.0, 5.0]])).sum().backward()
        assert (x.grad, y.grad) == (31.0, 20.0)

    def test_lists_may_hold_arrays_under_transformations(self):
        f = lambda x: np.sum(pb.array([x, 2 * x, (x * x, 1.0)[0]]))
        assert pb.grad(f)(3.0) == 9.0
        assert pb.jvp(f, (3.0,), (1.0,))[1] == 9.0
        np.testing.assert_array_equal(pb.vmap(f)(np.array([0.0, 3.0])), [0.0, 18.0])

    def test_arrays_of_different_dtypes_meet_as_in_numpy(self):
        made = pb.array([leaf(np.float32(1.0)), 2.0, 3])
        assert made.dtype == np.float64
        assert pb.array([pb.array(1), pb.array(2)]).dtype == np.int64

    def test_an_array_in_flight_keeps_its_derivative(self):
        assert pb.grad(lambda x: pb.array(x) * x)(3.0) == 6.0
        x = leaf()
        np.sum(pb.array(x) * 2.0).backward()
        np.testing.assert_array_equal(x.grad, [2.0, 2.0, 2.0])

    @pytest.mark.parametrize("data", ["abc", ["a", "b"], [None, 1.0], {"a": 1}, object(), b"x"])
    def test_what_is_no_number_is_refused(self, data):
        with pytest.raises(
            pb.ArgumentTypeError, match=r"arrays of numbers, but got \w+ that NumPy"
        ):
            pb.array(data)

    @pytest.mark.parametrize("data", [[[1.0, 2.0], [3.0]], [[pb.array(1.0), 2.0], [3.0]]])
    def test_ragged_lists_are_refused(self, data):
        with pytest.raises(ValueError, match="shape"):
            pb.array(data)

    @pytest.mark.parametrize("data", [1, [1, 2], True, np.zeros(2, int), pb.array([1, 2])])
    def test_a_leaf_is_floating(self, data):
        with pytest.raises(
            pb.DtypeError, match=r"`requires_grad` was asked of (int64|bool).*float"
        ):
            leaf(data)

    def test_a_leaf_depends_on_nothing_of_its_own_trace(self):
        x = leaf()
        for data in (x, x * 2.0, [x[0], 1.0]):
            with pytest.raises(pb.ArgumentError, match=r"Leave `requires_grad` out.*x\.detach\(\)"):
                leaf(data)
        assert leaf(x.detach()).requires_grad

    @pytest.mark.usefixtures("protocols_alone")
    def test_an_array_of_an_ended_transformation_is_refused(self):
        kept = []
        pb.grad(lambda x: kept.append(x) or x)(2.0)
        for data in (kept[0], [kept[0], 1.0]):
            with pytest.raises(pb.EscapedError, match="has ended"):
                pb.array(data)


class TestBackward:
    def test_the_gradient_arrives_at_the_leaves(self):
        x, y = leaf(), leaf(2.0)
        (wave(x) * y).backward()
        np.testing.assert_allclose(x.grad, 2.0 * numeric(wave, X), rtol=1e-8)
        np.testing.assert_allclose(y.grad, wave(X))

    def test_it_returns_nothing(self):
        assert (leaf(2.0) * 3.0).backward() is None

    def test_a_leaf_itself(self):
        x = leaf(2.0)
        x.backward()
        assert x.grad == 1.0

    def test_shared_nodes_are_visited_once(self):
        """A diamond of depth 60 has 2**60 ways, and 60 nodes."""
        x = y = leaf(1.0)
        for _ in range(60):
            y = y + y
        y.backward()
        assert x.grad == 2.0**60

    def test_more_than_one_number_is_refused(self):
        with pytest.raises(
            pb.NonScalarOutputError, match=r"this Array is float64\[3\].*\n.*x\.sum"
        ):
            leaf().backward()

    def test_a_complex_number_is_refused(self):
        x = leaf(1.0 + 2.0j)
        with pytest.raises(pb.DtypeError, match=r"complex128.*\n.*\.real"):
            (x * x).backward()
        np.abs(x).backward()
        np.testing.assert_allclose(x.grad, np.conj(1 + 2j) / abs(1 + 2j))

    def test_a_cotangent_may_be_given(self):
        """`gradient` weighs the elements; it has the Array's shape."""
        x, weight = leaf(), np.array([1.0, 10.0, 100.0])
        (x * x).backward(gradient=weight)
        np.testing.assert_array_equal(x.grad, 2 * X * weight)
        z = leaf(1.0 + 2.0j)
        (z * z).backward(1j)
        assert z.grad == 1j * 2 * (1 + 2j)

    def test_a_number_may_have_a_cotangent_too(self):
        for weight in (3, 3.0, np.float64(3.0), np.array(3.0), pb.array(3.0)):
            x = leaf(2.0)
            (x * x).backward(weight)
            assert x.grad == 12.0
            assert type(x.grad) is np.float64

    @pytest.mark.parametrize(
        ("gradient", "error", "match"),
        [
            (np.ones(2), pb.ShapeError, r"of shape \(3,\), but got \(2,\)"),
            (1.0, pb.ShapeError, r"Nothing is broadcast"),
            ("a", TypeError, r"float64\[3\], but got a str"),
            (np.ones(3, complex), pb.DtypeError, r"float64\[3\], but got complex128\[3\]"),
        ],
    )
    def test_a_wrong_cotangent_is_refused(self, gradient, error, match):
        with pytest.raises(error, match=match):
            (leaf() * 2.0).backward(gradient)

    def test_the_graph_is_spent(self):
        """Values are freed on the way; a second pass says how to keep them."""
        x = leaf()
        y = wave(x)
        y.backward()
        with pytest.raises(pb.PullbackError, match=r"went through.*\n.*retain_graph=True"):
            y.backward()
        np.testing.assert_allclose(x.grad, numeric(wave, X), rtol=1e-8)

    @pytest.mark.parametrize("create_graph", [False, True])
    @pytest.mark.parametrize(
        "part", [lambda x: x * x, lambda x: x[...], lambda x: np.linalg.qr(x)[1]]
    )
    def test_a_part_that_is_spent_says_so_as_well(self, part, create_graph):
        x = leaf(np.eye(2) + 1.0)
        shared = part(x)
        np.sum(shared * 3.0).backward()
        with pytest.raises(pb.PullbackError, match="retain_graph=True"):
            np.sum(shared * 5.0).backward(create_graph=create_graph)

    def test_values_are_freed(self):
        """Nobody holds an intermediate value after the pass."""
        x = leaf()
        y = np.exp(x)
        held = weakref.ref(y.payload)
        z = np.sum(y)
        del y
        assert held() is not None
        z.backward()
        gc.collect()
        assert held() is None

    def test_the_graph_may_be_retained(self):
        x = leaf(3.0)
        y = x * x * x
        for times in (1, 2):
            y.backward(retain_graph=True)
            assert x.grad == 27.0 * times
        y.backward()
        with pytest.raises(pb.PullbackError, match="retain_graph=True"):
            y.backward()

    def test_a_graph_of_the_gradient_retains_the_first(self):
        """`retain_graph` is `create_graph` unless it is given; rules still need the values."""
        x = leaf(3.0)
        y = x * x * x
        y.backward(create_graph=True)
        y.backward()
        assert x.grad.numpy() == 54.0

    def test_on_what_requires_no_gradient(self):
        with pytest.raises(
            pb.PullbackError, match=r"float64 that depends on nothing.*\n.*requires_grad=True"
        ):
            (pb.array(2.0) * 3.0).backward()
        with pb.no_grad():
            y = leaf(2.0) * 3.0
        with pytest.raises(pb.PullbackError, match="outside `no_grad`"):
            y.backward()

    @pytest.mark.parametrize(
        ("run", "name"),
        [
            (lambda f: pb.grad(f)(2.0), "grad"),
            (lambda f: pb.vjp(f, 2.0), "vjp"),
            (lambda f: pb.jvp(f, (2.0,), (1.0,)), "jvp"),
            (lambda f: pb.linearize(f, 2.0), "linearize"),
            (lambda f: pb.vmap(f)(X), "vmap"),
            (lambda f: pb.checkpoint(f)(leaf(2.0)), "checkpoint"),
        ],
    )
    def test_on_an_array_of_a_transformation(self, run, name):
        """The transformation is named; its Array is never unwrapped."""
        w = leaf(3.0)

        def model(x):
            (x * x).backward()

        def mixed(x):
            (w * x).backward()

        for f in (model, mixed):
            with pytest.raises(pb.PullbackError, match=rf"float64 of `{name}\({f.__name__}\)`"):
                run(f)
        assert w.grad is None

    @pytest.mark.usefixtures("protocols_alone")
    def test_on_an_array_of_an_ended_transformation(self):
        kept = []
        pb.grad(lambda x: kept.append(leaf(2.0) * 1.0) or x)(2.0)
        pb.grad(lambda x: kept.append(x) or x)(2.0)
        for x in kept:
            with pytest.raises(pb.EscapedError, match=r"x\.backward\(\).*has ended"):
                x.backward()

    def test_an_exception_in_a_rule_leaves_a_retained_graph_usable(self):
        """No gradient has changed, and the next pass is complete."""
        broken = [True]

        @pb.primitive
        def fragile(x):
            return np.array(x)

        @fragile.defvjp
        def rule(out_bar, residual, wanted):
            if broken:
                raise RuntimeError("planted")
            return (out_bar,)

        x = leaf(2.0)
        y = fragile(x * x) * x
        with pytest.raises(RuntimeError, match="planted"):
            y.backward(retain_graph=True)
        assert x.grad is None
        broken.clear()
        y.backward(retain_graph=True)
        assert x.grad == 12.0
        y.backward()
        assert x.grad == 24.0

    def test_backward_inside_a_rule_of_the_same_graph_is_refused(self):
        x = leaf(2.0)
        out = []

        @pb.primitive
        def reentrant(x):
            return np.array(x)

        reentrant.defvjp(lambda out_bar, residual, wanted: (out[0].backward(), (out_bar,))[1])
        out.append(reentrant(x))
        with pytest.raises(pb.PullbackError, match="inside a rule that another backward pass"):
            out[0].backward(retain_graph=True)


class TestGrad:
    def test_none_before(self):
        x = leaf()
        assert x.grad is None
        assert pb.array(X).grad is None
        assert (x * 2.0).grad is None

    def test_what_is_not_reached_stays_none(self):
        x, y = leaf(), leaf()
        np.sum(x).backward()
        assert y.grad is None

    def test_a_derivative_of_zero_is_zeros(self):
        x = leaf()
        np.sum(np.floor(x) * 1.0 + 0.0 * x).backward()
        np.testing.assert_array_equal(x.grad, np.zeros(3))

    @pytest.mark.parametrize(
        "data",
        [
            2.0,
            np.float32(2.0),
            X,
            X.astype(np.float32),
            np.float16([1.0, 2.0]),
            X * 1j,
            np.zeros((0, 2)),
        ],
    )
    def test_shape_dtype_and_kind_of_the_leaf(self, data):
        """An array has an array, a number a NumPy scalar."""
        x = leaf(data)
        np.sum(np.real(x * x)).backward()
        assert x.grad.dtype == np.asarray(data).dtype
        assert x.grad.shape == np.shape(data)
        assert type(x.grad) is (np.ndarray if np.shape(data) else np.asarray(data).dtype.type)

    def test_gradients_share_memory_with_nothing(self):
        x, y, weight = leaf(), leaf(), np.ones(3)
        z = x + y
        z.retain_grad()
        z.backward(weight)
        arrays = [x.grad, y.grad, z.grad, weight, x.payload, y.payload, z.payload]
        assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
        assert x.grad.flags.writeable

    def test_it_accumulates(self):
        x = leaf()
        for _ in range(3):
            np.sum(x * x).backward()
        np.testing.assert_array_equal(x.grad, 6 * X)

    def test_it_is_rebound_and_never_changed_in_place(self):
        """Who holds an earlier gradient keeps it."""
        x = leaf()
        np.sum(x * x).backward()
        held = x.grad
        np.sum(x * x).backward()
        assert x.grad is not held
        np.testing.assert_array_equal(held, 2 * X)

    def test_it_can_be_set(self):
        x = leaf()
        x.grad = np.ones(3)
        np.sum(x * x).backward()
        np.testing.assert_array_equal(x.grad, 1.0 + 2 * X)
        x.grad = np.array([1, 2, 3])
        assert x.grad.dtype == float
        x.grad = None
        assert x.grad is None
        with pytest.raises(pb.ShapeError, match=r"`x\.grad` takes a gradient of shape \(3,\)"):
            x.grad = np.ones(2)
        with pytest.raises(pb.ArgumentTypeError, match="but got a list"):
            x.grad = [1.0, 2.0, 3.0]

    def test_it_can_be_set_on_leaves_only(self):
        for x in (leaf() * 2.0, pb.array(X)):
            with pytest.raises(pb.ArgumentError, match="on a leaf only"):
                x.grad = X

    def test_zero_grad_sets_none(self):
        x = leaf()
        np.sum(x).backward()
        held = x.grad
        assert x.zero_grad() is None
        assert x.grad is None
        np.testing.assert_array_equal(held, np.ones(3))

    def test_with_create_graph_it_is_an_array(self):
        """It requires a gradient itself, also where it is constant."""
        x, y = leaf(2.0), leaf(3.0)
        (x * x * x + y).backward(create_graph=True)
        for gradient, value in ((x.grad, 12.0), (y.grad, 1.0)):
            assert exact_type(gradient) is pb.Array
            assert gradient.requires_grad
            assert gradient.item() == value

    @pytest.mark.parametrize("by", [1.0, 0.0])
    @np.errstate(all="ignore")
    def test_retained_gradients_of_a_pass_that_goes_again(self, by):
        """What overflows, or is not picked, makes a pass go twice; gradients come of one."""
        steps = [
            lambda x: x * 800.0,
            lambda x: np.exp(-x),
            lambda x: 1.0 / (1.0 + x),
            lambda x: np.where(x < 0.75, x, np.sqrt(x - 0.75)),
            lambda x: np.sum(x * by),
        ]

        def rest(i):
            def run(x):
                for step in steps[i:]:
                    x = step(x)
                return x

            return run

        x = leaf(np.array([-1.0, 0.0, 1.0, 1e-3]))
        kept = [x]
        for step in steps[:-1]:
            kept.append(step(kept[-1]))
            kept[-1].retain_grad()
        for times in (1, 2):
            steps[-1](kept[-1]).backward(retain_graph=True)
            for i, z in enumerate(kept):
                np.testing.assert_allclose(z.grad, times * pb.grad(rest(i))(z.numpy()), rtol=1e-15)

    def test_a_cotangent_with_a_derivative(self):
        """Without `create_graph` the gradient is plain, with it the cotangent takes part."""
        x, w = leaf(2.0), leaf(3.0)
        y = x * x
        y.retain_grad()
        y.backward(gradient=w)
        assert type(x.grad) is type(y.grad) is np.float64
        assert (x.grad, y.grad) == (12.0, 3.0)
        x.zero_grad()
        (x * x).backward(gradient=w, create_graph=True)
        x.grad.backward()
        assert w.grad == 4.0


class TestHigherOrder:
    def test_hessian(self):
        """Row by row from a gradient with a graph; compared with `hessian` and differences."""
        x = leaf()
        wave(x).backward(create_graph=True)
        gradient, rows = x.grad, []
        for i in range(3):
            x.zero_grad()
            gradient[i].backward(retain_graph=True)
            rows.append(x.grad)
        np.testing.assert_allclose(rows, pb.hessian(wave)(X), rtol=1e-12)
        differences = [numeric(lambda y, i=i: pb.grad(wave)(y)[i], X) for i in range(3)]
        np.testing.assert_allclose(rows, differences, rtol=1e-6, atol=1e-8)

    def test_third_order(self):
        x = leaf(2.0)
        (x**4).backward(create_graph=True)
        second = x.grad
        x.zero_grad()
        second.backward(create_graph=True)
        third = x.grad
        x.zero_grad()
        third.backward()
        assert (second.item(), third.item(), x.grad) == (32.0, 48.0, 48.0)

    def test_a_gradient_penalty(self):
        """d/dx sum(|df/dx|**2) for f = sum(x**3) is 36 x**3."""
        x = leaf()
        np.sum(x**3).backward(create_graph=True)
        gradient = x.grad
        x.zero_grad()
        np.sum(gradient**2).backward()
        np.testing.assert_allclose(x.grad, 36 * X**3)

    def test_through_operations_with_several_results(self):
        """Also through masks, indices and a function with a rule of its own."""

        @pb.custom_vjp
        def square(x):
            return x * x

        square.defvjp(lambda x: (x * x, x), lambda x, out_bar: (2 * x * out_bar,))

        def f(x):
            fraction, whole = np.modf(square(x) * 1.3)
            return np.sum(fraction[::2] ** 3 + whole[::2]) + np.sum(np.where(x > 0, x**3, x))

        x = leaf()
        f(x).backward(create_graph=True)
        gradient = x.grad
        x.zero_grad()
        np.sum(gradient * X).backward()
        np.testing.assert_allclose(x.grad, pb.hvp(f)(X, X), rtol=1e-12)

    def test_no_grad_does_not_reach_a_graph_that_is_asked_for(self):
        x = leaf(2.0)
        y = x * x * x
        with pb.no_grad():
            y.backward(create_graph=True)
            assert not (x * x).requires_grad
        gradient = x.grad
        x.zero_grad()
        gradient.backward()
        assert x.grad == 12.0

    def test_an_array_and_a_plain_gradient_add(self):
        x = leaf(2.0)
        (x * x).backward(create_graph=True)
        (x * x).backward()
        assert x.grad.item() == 8.0
        assert exact_type(x.grad) is pb.Array


def add(y, x):
    y += x[0]


def put(y, x):
    y[0] = x[1] * 5.0


def fill(y, x):
    y[...] = 7.0


RETAINED_WRITES = [add, put, fill]


class TestRetainGrad:
    def test_an_array_on_the_way_keeps_its_gradient(self):
        x = leaf()
        y = x * x
        y.retain_grad()
        np.sum(y * y).backward()
        np.testing.assert_array_equal(y.grad, 2 * X**2)
        np.testing.assert_array_equal(x.grad, 4 * X**3)

    def test_it_accumulates_and_can_be_cleared(self):
        x = leaf(2.0)
        y = x * x
        y.retain_grad()
        y.retain_grad()
        z = y * 5.0
        z.backward(retain_graph=True)
        held = y.grad
        z.backward(retain_graph=True)
        assert (held, y.grad) == (5.0, 10.0)
        y.zero_grad()
        assert y.grad is None
        z.backward()
        assert y.grad == 5.0

    def test_of_the_output_and_of_leaves(self):
        x = leaf(2.0)
        x.retain_grad()
        y = x * x
        y.retain_grad()
        y.backward()
        assert (x.grad, y.grad) == (4.0, 1.0)

    def test_of_a_result_among_several(self):
        x = leaf()
        fraction, whole = np.modf(x * x)
        fraction.retain_grad()
        np.sum(fraction * 3.0 + whole).backward()
        np.testing.assert_array_equal(fraction.grad, np.full(3, 3.0))

    def test_with_a_graph(self):
        x = leaf(2.0)
        y = x * x
        y.retain_grad()
        (y * y * y).backward(create_graph=True)
        assert y.grad.requires_grad
        x.zero_grad()
        y.grad.backward()
        assert x.grad == 6 * 4.0 * 4.0  # y_bar = 3 y**2, y = x**2

    def test_what_an_index_did_not_pick_is_zero(self):
        """The gradient kept is an array, whatever form it travelled in."""
        x = leaf()
        y = x * 1.0
        y.retain_grad()
        np.sum(np.where(X > 0, y, 0.0)[:2]).backward()
        np.testing.assert_array_equal(y.grad, [1.0, 0.0, 0.0])

    @pytest.mark.parametrize("part", [lambda y: y, lambda y: y[1:], lambda y: y[::-1]])
    @pytest.mark.parametrize("write", RETAINED_WRITES)
    def test_of_what_is_written_to_it_is_that_of_the_new_value(self, part, write):
        """What was computed before the write doesn't count; in PyTorch neither."""
        x = leaf()
        y = x * 2.0
        kept = part(y)
        kept.retain_grad()
        before = np.sum(kept)
        write(kept, x)
        (before + np.sum(kept * kept)).backward()
        np.testing.assert_allclose(kept.grad, 2 * kept.numpy())

    def test_of_what_is_written_to_through_a_view(self):
        x = leaf()
        y = x * 2.0
        y.retain_grad()
        np.sum(y).backward(retain_graph=True)
        y[:2] *= 3.0
        np.testing.assert_array_equal(y.grad, np.ones(3))
        np.sum(y * 5.0).backward()
        np.testing.assert_array_equal(y.grad, np.full(3, 6.0))
        y.zero_grad()
        assert y.grad is None

    def test_two_arrays_of_one_value(self):
        x = leaf()
        y = x * 2.0
        z = y[:]
        for kept in (y, z):
            kept.retain_grad()
        y[0] = 1.0
        np.sum(z * y).backward(create_graph=True)
        for kept in (y, z):
            assert kept.grad.requires_grad

    def test_it_is_not_kept_alive(self):
        x = leaf(2.0)
        y = x * x
        y.retain_grad()
        y.backward()
        node = weakref.ref(y.node)
        del y
        gc.collect()
        assert node() is None

    @pytest.mark.parametrize(
        ("use", "words"),
        [
            (lambda: pb.array(X).retain_grad(), "`retain_grad` was called on.*depends on nothing"),
            (lambda: pb.grad(lambda x: x.retain_grad())(2.0), r"of `grad\(<lambda>\)`"),
        ],
    )
    def test_of_what_is_not_eager(self, use, words):
        with pytest.raises(pb.PullbackError, match=words):
            use()

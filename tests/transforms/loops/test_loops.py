"""scan, fori_loop, while_loop: against the same loops of Python's."""

import sys
import tracemalloc

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.program import build
from pullback.core.errors import ArgumentError
from pullback.core.reach.bytecode import original
from pullback.testing import staged
from tests import fuzz_loops

random = np.random.default_rng(7)
W, XS, C = random.normal(size=(3, 3)) / 2, random.normal(size=(7, 3)), random.normal(size=3)


def python_scan(fun, carry, xs, reverse=False):
    ys = [None] * len(xs)
    for t in reversed(range(len(xs))) if reverse else range(len(xs)):
        carry, ys[t] = fun(carry, xs[t])
    return carry, np.stack(ys)


def loss_with(scan, **how):
    def loss(w, xs, c):
        def step(c, x):
            c = np.tanh(w @ c + x)
            return c, np.sum(c * x)

        c, ys = scan(step, c, xs, **how)
        return np.sum(c**2) + np.sum(np.sin(ys))

    return loss


HOW = [
    {"reverse": reverse, "checkpoint": keep}
    for reverse in (False, True)
    for keep in (False, True, 1, 3, 100)
]


@pytest.mark.parametrize("how", HOW, ids=str)
class TestAgainstPython:
    """Values and derivatives are those of the loop written out."""

    def pair(self, how):
        loop = loss_with(pb.scan, **how)
        return loop, loss_with(python_scan, reverse=how["reverse"])

    def test_value_and_gradient(self, how):
        loop, plain = self.pair(how)
        assert loop(W, XS, C) == pytest.approx(plain(W, XS, C), rel=1e-13)
        for a, b in zip(
            pb.grad(loop, (0, 1, 2))(W, XS, C), pb.grad(plain, (0, 1, 2))(W, XS, C), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)

    @pytest.mark.share(2)
    def test_higher_orders(self, how):
        loop, plain = [lambda w, f=f: f(w, XS, C) for f in self.pair(how)]
        for of in (
            pb.hessian,
            lambda f: pb.jacobian(pb.grad(f), mode="reverse"),
            lambda f: pb.jacobian(pb.jacobian(f, mode="forward"), mode="reverse"),
            lambda f: pb.jacobian(pb.jacobian(f, mode="forward"), mode="forward"),
        ):
            np.testing.assert_allclose(of(loop)(W), of(plain)(W), rtol=1e-9, atol=1e-12)
        v = np.ones_like(W)
        third = [pb.grad(lambda w, f=f: np.sum(pb.hvp(f)(w, v)))(W) for f in (loop, plain)]
        np.testing.assert_allclose(*third, rtol=1e-9, atol=1e-11)

    def test_vmap(self, how):
        loop, plain = self.pair(how)
        ws, xss = np.stack([W, 2 * W]), np.stack([XS, XS + 1])
        for axes in ((0, 0, None), (None, 0, None), (0, None, None)):
            cases = zip((W, XS, C), (ws, xss, C), axes, strict=True)
            args = [a if m is None else b for a, b, m in cases]
            got, right = [pb.vmap(pb.grad(f), in_axes=axes)(*args) for f in (loop, plain)]
            np.testing.assert_allclose(got, right, rtol=1e-10, atol=1e-13)


class TestOneOperation:
    """Under a transformation the loop is one equation, and its body runs no more than needed."""

    def test_staged_once(self):
        for n in (10, 1000):
            graph, _ = staged(lambda xs: pb.scan(lambda c, x: (c + x, c), 0.0, xs), [np.ones(n)])
            assert [e.primitive.name for e in graph.equations] == ["scan"]

    def test_calls_of_the_body_do_not_grow(self):
        def step(c, x):
            return np.sin(c * x), None

        def calls(n):
            seen = []
            before = sys.getprofile()
            sys.setprofile(lambda frame, event, _: seen.append((original(frame.f_code), event)))
            try:
                pb.grad(lambda c: pb.scan(step, c, np.ones(n))[0])(1.0)
            finally:
                sys.setprofile(before)
            return seen.count((step.__code__, "call"))

        assert 0 < calls(10) == calls(500) < 10

    def test_of_python_outside(self):
        seen = []

        def step(c, x):
            seen.append((type(c), type(x)))
            return c + x, None

        pb.scan(step, 0.0, np.ones(3))
        assert seen == [(float, np.float64), (np.float64, np.float64), (np.float64, np.float64)]

    def test_a_loop_inside_checkpoint(self):
        loop, plain = loss_with(pb.scan), loss_with(python_scan)
        got = pb.grad(pb.checkpoint(loop))(W, XS, C)
        np.testing.assert_allclose(got, pb.grad(plain)(W, XS, C), rtol=1e-11, atol=1e-13)

    def test_checkpoint_and_rules_of_the_users_inside_the_body(self):
        @pb.custom_vjp
        def clipped(x):
            return x * 1.0

        clipped.defvjp(lambda x: (x * 1.0, x), lambda x, bar: (np.clip(bar, -0.1, 0.1) * x,))

        def loss(scan):
            def f(w):
                def step(c, x):
                    c = pb.checkpoint(lambda c: np.sin(c * x) + w)(c)
                    return clipped(c), c * w

                c, ys = scan(step, w, np.array([0.3, 0.8, 1.7]))
                return c + np.sum(ys)

            return f

        for of in (pb.grad, lambda f: pb.grad(pb.grad(f))):
            right = of(loss(python_scan))(0.7)
            assert of(loss(pb.scan))(0.7) == pytest.approx(right, rel=1e-12)

    def test_stopped_carries(self):
        def f(scan):
            return lambda w: scan(
                lambda c, x: (pb.stop_gradient(c) * w + c * x, c), w, np.array([0.3, 0.8, 1.7])
            )[0]

        assert pb.grad(f(pb.scan))(0.7) == pytest.approx(pb.grad(f(python_scan))(0.7), rel=1e-13)


class TestCapture:
    """What the body closes over takes part."""

    def test_of_several_transformations(self):
        def f(scan):
            def outer(a):
                def inner(b):
                    return scan(lambda c, x: (np.sin(a * c + b * x), c), a, XS[:, 0])[0]

                return pb.grad(inner)(a) * a

            return pb.grad(outer)

        assert f(pb.scan)(0.7) == pytest.approx(f(python_scan)(0.7), rel=1e-12)

    def test_eager_arrays(self):
        results = []
        for scan in (pb.scan, python_scan):
            w = pb.array(W, requires_grad=True)
            c, ys = scan(lambda c, x, w=w: (np.tanh(w @ c + x), c[0]), C, XS)
            (np.sum(c) + np.sum(ys * ys)).backward()
            results.append(w.grad)
        np.testing.assert_allclose(*results, rtol=1e-12)

    def test_no_grad(self):
        w = pb.array(W, requires_grad=True)
        with pb.no_grad():
            c, _ = pb.scan(lambda c, x: (np.tanh(w @ c + x), None), C, XS)
        assert not c.requires_grad

    def test_inside_vmap(self):
        def f(scan):
            return pb.vmap(lambda a: scan(lambda c, x: (c * a + x, c), 0.0, XS[:, 0])[1])

        a = np.array([0.5, 0.7])
        np.testing.assert_allclose(f(pb.scan)(a), f(python_scan)(a), rtol=1e-13)


class TestPythonInTheBody:
    """What cannot be written down once for all steps runs step by step."""

    def test_a_branch(self):
        def f(scan):
            def step(c, x):
                c = c * 0.5 if c > 1 else c * x
                return c, c

            return lambda c, xs: np.sum(scan(step, c, xs)[1])

        xs = np.array([3.0, 0.2, 5.0, 2.0])
        right = pb.grad(f(python_scan), (0, 1))(0.7, xs)
        for a, b in zip(pb.grad(f(pb.scan), (0, 1))(0.7, xs), right, strict=True):
            np.testing.assert_allclose(a, b)

    def test_a_counter_and_random_numbers(self):
        def f(c):
            count = 0

            def step(c, x):
                nonlocal count
                count += 1
                return c * count, None

            return pb.scan(step, c, length=4)[0]

        with pytest.raises(ArgumentError, match="counts its calls"):
            pb.grad(f)(1.0)
        draw = np.random.default_rng(0)
        with pytest.raises(ArgumentError, match="draws random numbers"):
            pb.jvp(
                lambda c: pb.scan(lambda c, _: (c + 1, c * draw.normal()), c, length=4)[1],
                (1.0,),
                (1.0,),
            )
        assert f(1.0) == 24  # of Python, where nothing is recorded

    def test_a_plain_table(self):
        table = np.array([1.0, 2.0, 4.0])
        for index in (lambda i: table[i], lambda i: pb.array(table)[i]):
            f = pb.grad(lambda c: pb.fori_loop(0, 3, lambda i, c: c * index(i), c))
            assert f(2.0) == 8.0

    @pytest.mark.parametrize(
        "pick",
        [
            lambda c, x: c[c > x],
            lambda c, x: c[np.nonzero(c > x)],
            lambda c, x: c[: np.argmax(c) + 1],
            lambda c, x: np.repeat(c, (c > x).astype(int)),
            lambda c, x: c * len(c[c > x]),
        ],
    )
    def test_shapes_that_values_decide(self, pick):
        def f(scan):
            return lambda c, xs: scan(
                lambda c, x: (c * np.cos(x) + np.sum(pick(c, x)) * 0.1, c[0]), c, xs
            )[0][1]

        args = np.array([0.3, -0.4, 1.2]), np.array([0.1, -2.0, 0.4, 0.9])
        for of in (lambda f: pb.grad(f, (0, 1)), lambda f: pb.compile(pb.grad(f, (0, 1)))):
            right = of(f(python_scan))(*args)
            for a, b in zip(of(f(pb.scan))(*args), right, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)

    def test_a_rule_that_asks_for_values(self):
        @pb.primitive
        def steep(x):
            return np.abs(x)

        def rule(out_bar, residual, wanted):
            return (out_bar * 2.0 if residual.xs[0] > 0 else out_bar * -3.0,)

        steep.defvjp(rule, reads="x0")
        xs = np.array([1.0, -1.0, -2.0])

        def f(scan):
            return pb.grad(lambda c: scan(lambda c, x: (steep(c) * x, c), c, xs)[0])

        assert f(pb.scan)(0.5) == f(python_scan)(0.5) != 0

    def test_objects_in_the_carry(self):
        f = pb.grad(lambda c: pb.scan(lambda c, x: ((c[0] * x, "name"), None), (c, "name"),
                                      np.array([2.0, 3.0]))[0][0])  # fmt: skip
        assert f(1.0) == 6.0


class TestTreesAndDtypes:
    def test_trees(self):
        def step(carry, x):
            h, n = carry["h"], carry["n"]
            h = h * x["a"] + x["b"][0]
            return {"h": h, "n": n + 1}, (h, {"n": n})

        xs = {"a": np.array([2.0, 3.0]), "b": [np.array([1.0, 1.0])]}
        carry, (hs, counts) = pb.scan(step, {"h": 1.0, "n": 0}, xs)
        assert carry == {"h": 10.0, "n": 2}
        np.testing.assert_array_equal(hs, [3.0, 10.0])
        assert counts["n"].dtype == np.int64

        def total(xs):
            carry, (hs, counts) = pb.scan(step, {"h": 1.0, "n": 0}, xs)
            return carry["h"] + np.sum(hs * counts["n"])

        g = pb.grad(total)(xs)
        np.testing.assert_allclose(g["a"], [3.0 + 3.0, 3.0 * 2])
        np.testing.assert_allclose(g["b"][0], [6.0, 2.0])

    @pytest.mark.parametrize("of", [lambda f: f, lambda f: lambda xs: pb.vjp(f, xs)[0]])
    def test_numbers_of_pythons_are_weak(self, of):
        xs = np.ones(3, np.float32)
        carry, ys = of(lambda xs: pb.scan(lambda c, x: (c + x, c * x), 0.0, xs))(xs)
        assert carry.dtype == ys.dtype == np.float32
        carry, _ = of(lambda xs: pb.scan(lambda c, x: (c + x, c * x), 0, xs))(xs)
        assert carry.dtype == np.float32
        assert carry == 3.0

    @pytest.mark.parametrize("inside", [False, True])
    def test_nothing_to_do(self, inside):
        def f(xs):
            return pb.scan(lambda c, x: (c + x.sum(), {"row": x * 2, "n": 1}), 2.0, xs)

        xs = np.ones((0, 3), np.float32)
        carry, ys = pb.vjp(f, xs)[0] if inside else f(xs)
        assert (carry, carry.dtype) == (2.0, np.float32)
        assert (ys["row"].shape, ys["row"].dtype) == ((0, 3), np.float32)
        assert ys["n"].shape == (0,)
        g = pb.grad(lambda c: pb.scan(lambda c, x: (c * x, None), c, np.ones(0))[0] * 3)(1.0)
        assert g == 3.0

    def test_inputs_are_left_alone(self):
        init, xs = np.ones(2), np.ones((3, 2))

        def step(c, x):
            c += x
            x *= 2
            return c, x

        for run in (pb.scan, lambda *args: pb.vjp(lambda c: pb.scan(step, c, xs), init)[0]):
            carry, ys = run(step, init, xs)
            np.testing.assert_array_equal(carry, [4.0, 4.0])
            np.testing.assert_array_equal(ys, np.full((3, 2), 2.0))
            assert init.tolist() == [1.0, 1.0]
            assert xs.max() == 1.0

    def test_errors_outside_are_the_same(self):
        with pytest.raises(pb.ShapeError, match=r"carry float64\[2\], but its function returned"):
            pb.scan(lambda c, x: (c[:1], None), np.ones(2), np.ones(3))
        with pytest.raises(pb.DtypeError, match="A carry keeps its dtype"):
            pb.scan(lambda c, x: (c * 1.5, None), np.int64(2), np.ones(3))
        with pytest.raises(pb.ArgumentError, match="a y whose tree differs"):
            pb.scan(lambda c, x: (c + 1, (c,) * int(1 + c)), 0.0, np.ones(3))


class TestFori:
    def test_counts_with_ints_outside(self):
        names = []
        pb.fori_loop(2, 5, lambda i, c: (names.append("abcde"[i]), c)[1], 0.0)
        assert names == list("cde")

    def test_bounds(self):
        assert pb.fori_loop(3, 3, lambda i, c: c * 2, 1.0) == 1.0
        assert pb.fori_loop(3, -3, lambda i, c: c * 2, 1.0) == 1.0
        assert pb.fori_loop(np.int64(-2), 1, lambda i, c: c + i, 0) == -3

    def test_derivatives(self):
        f = pb.grad(lambda x: pb.fori_loop(0, 5, lambda i, c: c * x + i, x))
        g = pb.grad(lambda x: ((((x * x * x + 1) * x + 2) * x + 3) * x) + 4)
        assert f(0.7) == pytest.approx(g(0.7), rel=1e-13)

    def python_fori(self, lower, upper, body, carry):
        for i in range(lower, upper):
            carry = body(i, carry)
        return carry

    TABLE = np.random.default_rng(3).normal(size=(6, 3))

    @pytest.mark.parametrize(
        ("lower", "upper", "pick"),
        [
            (0, 6, lambda t, i: t[i] * t[i, 1]),
            (1, 5, lambda t, i: t[i + 1] - 2 * t[i] + t[i - 1]),
            (0, 5, lambda t, i: t[1 + i, ::2].sum() + t[..., 0][i]),
            (-3, 3, lambda t, i: t[i] * i),
            (0, 4, lambda t, i: t[i + 2 - 2] * t[3 - 2]),
            (0, 3, lambda t, i: t[2 * i] + t[i, i]),
        ],
    )
    def test_tables(self, lower, upper, pick):
        def f(loop):
            def total(t, c):
                return np.sum(loop(lower, upper, lambda i, c: np.tanh(c * pick(t, i)) + c, c))

            return total

        args = self.TABLE, np.array([0.3, -0.4, 1.2])
        for of in (
            lambda f: pb.grad(f, (0, 1)),
            lambda f: pb.compile(pb.grad(f, (0, 1))),
            lambda f: pb.hessian(f, (0, 1)),
            lambda f: lambda t, c: pb.vmap(pb.grad(f), in_axes=(0, None))(np.stack([t, 2 * t]), c),
        ):
            right = of(f(self.python_fori))(*args)
            for a, b in zip(of(f(pb.fori_loop))(*args), right, strict=True):
                for x, y in zip(a, b, strict=True):
                    np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)

    def test_rows_of_tables_are_rows_of_the_loop(self):
        """Without this, each step of the backward loop would add to a whole table."""

        def f(t):
            table = pb.array(np.arange(8.0))
            return pb.fori_loop(1, 5, lambda i, c: c * t[i] + t[i + 1, 0] + table[i - 1], t[0])

        graph, _ = staged(f, [self.TABLE])
        scan = graph.equations[-1]
        assert scan.primitive.n_consts == 0
        assert [x.spec.shape for x in scan.primitive.body.inputs] == [(3,), (3,), (3,), ()]
        assert build(graph).native

    def test_an_index_beyond_the_table(self):
        f = pb.grad(lambda t: pb.fori_loop(0, 7, lambda i, c: c * t[i, 0], 1.0))
        with pytest.raises(IndexError):
            f(self.TABLE)


class TestWhile:
    def root(self, a):
        return pb.while_loop(lambda x: abs(x * x - a) > 1e-13, lambda x: (x + a / x) / 2, a)

    def test_both_modes_and_third_order(self):
        f = g = self.root
        for k, right in ((1, 0.5 * 2**-0.5), (2, -0.25 * 2**-1.5), (3, 0.375 * 2**-2.5)):
            f, g = pb.grad(f), pb.jacobian(g, mode="forward")
            assert f(2.0) == pytest.approx(right, rel=1e-8), k
            assert g(2.0) == pytest.approx(right, rel=1e-8), k

    def test_each_example_has_its_own_number_of_steps(self):
        a = np.array([2.0, 3.0, 1e4, 1.0])
        np.testing.assert_array_equal(pb.vmap(self.root)(a), [self.root(x) for x in a])
        g = pb.vmap(pb.grad(self.root))(a)
        np.testing.assert_array_equal(g, [pb.grad(self.root)(x) for x in a])
        total = pb.grad(lambda s: np.sum(pb.vmap(self.root)(s * a)))(1.0)
        assert total == pytest.approx(np.sum(g * a), rel=1e-12)
        table = np.outer([1.0, 2.0], a)
        got = pb.vmap(pb.vmap(self.root))(table)
        np.testing.assert_array_equal(got, np.vectorize(self.root)(table))

    def test_inside_a_scan(self):
        f = pb.grad(lambda a: pb.scan(lambda c, x: (self.root(c + x * a), None), a, np.ones(3))[0])
        h = pb.grad(lambda a: np.sqrt(np.sqrt(np.sqrt(a + a) + a) + a))
        assert f(2.0) == pytest.approx(h(2.0), rel=1e-9)

    def test_no_steps(self):
        f = lambda a: pb.while_loop(lambda x: x > 10.0, np.sqrt, a)
        assert f(2.0) == 2.0
        assert pb.grad(f)(2.0) == 1.0


def peak(n, **how):
    """Bytes that a gradient of n steps on 2,000 numbers takes at most."""
    xs = np.linspace(0, 1, n)
    f = pb.grad(lambda c: np.sum(pb.scan(lambda c, x: (np.sin(c) + x, None), c, xs, **how)[0]))
    tracemalloc.start()
    try:
        f(np.ones(2000))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_with_the_root():
    """Four times the steps take twice the memory, where all carries would take four times."""
    peak(10)
    assert peak(1600, checkpoint=True) < 2.6 * peak(400, checkpoint=True)
    assert peak(1600) > 3.2 * peak(400)
    assert peak(1600, checkpoint=True) < 0.25 * peak(1600)


class TestCompiled:
    """A loop is a loop in machine code, and as long to compile for any number of steps."""

    @pytest.mark.parametrize("how", HOW, ids=str)
    def test_gradients(self, how):
        loop, plain = loss_with(pb.scan, **how), loss_with(python_scan, reverse=how["reverse"])
        fast = pb.compile(pb.value_and_grad(loop, (0, 1, 2)))
        for scale in (1.0, 1.0, 1.0, 0.5, 2.0):
            value, grads = fast(W * scale, XS, C)
            right, others = pb.value_and_grad(plain, (0, 1, 2))(W * scale, XS, C)
            assert value == pytest.approx(right, rel=1e-12)
            for a, b in zip(grads, others, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13)
        assert fast.cache_info().hits >= 3

    def test_second_order_and_batches(self):
        both = loss_with(pb.scan), loss_with(python_scan)
        loop, plain = [lambda w, f=f: f(w, XS, C) for f in both]
        ws = np.stack([W, W / 2])
        for of, x in ((pb.hessian, W), (lambda f: pb.vmap(pb.grad(f)), ws)):
            fast = pb.compile(of(loop))
            for _ in range(4):
                np.testing.assert_allclose(fast(x), of(plain)(x), rtol=1e-9, atol=1e-12)
            assert fast.cache_info().hits >= 2

    def program(self, f, *xs):
        graph, _ = staged(f, xs)
        return build(graph)

    def test_the_code_does_not_grow(self):
        def f(xs):
            return pb.grad(lambda c: pb.scan(lambda c, x: (np.sin(c * x), None), c, xs)[0])(xs[0])

        short, long = [self.program(f, np.linspace(0.5, 1, n)) for n in (10, 10_000)]
        assert long.native
        assert len(short.ir.splitlines()) == len(long.ir.splitlines())

    def test_operations_without_machine_code(self):
        """Then the loop is done from Python, over a compiled body."""

        def f(a, bs):
            return pb.scan(lambda x, b: (np.linalg.solve(a + np.diag(x), b), x.sum()), bs[0], bs)

        a, bs = np.eye(3) * 4 + W, np.abs(XS)
        program = self.program(f, a, bs)
        for got, right in zip(program(a, bs), f(a, bs), strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-12)
        loss = lambda a, bs: np.sum(f(a, bs)[0])
        fast = pb.compile(pb.grad(loss))
        for _ in range(3):
            np.testing.assert_allclose(fast(a, bs), pb.grad(loss)(a, bs), rtol=1e-11)

    def test_what_is_not_needed_is_left_out(self):
        def f(xs):
            def step(c, x):
                return (c[0] + x, np.sin(c[1])), np.cos(x)

            return pb.scan(step, (0.0, 0.0), xs)[0][0]

        program = self.program(f, np.ones(5))
        assert "sin" not in program.ir
        assert "cos" not in program.ir
        assert program(np.ones(5)) == (5.0,)

    def test_views_and_constants_as_rows(self):
        table = np.arange(12.0).reshape(3, 4)

        def f(x):
            y = x.T[::2] * 1.0
            rows = (x.T, y.T[:, ::-1][:1], np.broadcast_to(x[0], (4, 4)), table.T)
            rows = (rows[0], np.broadcast_to(rows[1][0], (4, 2)), rows[2], rows[3])
            return pb.scan(
                lambda c, r: (c * 0.5 + r[0] + r[1].sum() + r[3], (c, r[2], 1.0)), np.zeros(3), rows
            )

        x = np.random.default_rng(0).normal(size=(3, 4))
        program = self.program(lambda x: [*(out := f(x))[1], out[0]], x)
        assert program.native
        right = f(x)
        for got, expected in zip(program(x), [*right[1], right[0]], strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-13)

    def test_nested_loops_and_integers(self):
        def f(a):
            def outer(c, n):
                total = pb.fori_loop(0, 3, lambda i, t: t * c[0] + i, c[0])
                return (np.sin(total), c[1] + n), total

            return pb.scan(outer, (a, 0), np.arange(5))

        program = self.program(lambda a: f(a)[0][:2], np.float64(0.3))
        assert program.native
        got, right = program(np.float64(0.3)), f(np.float64(0.3))[0]
        assert got[0] == pytest.approx(right[0], rel=1e-13)
        assert (got[1], got[1].dtype) == (10, np.int64)


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
@pytest.mark.parametrize("seed", range(24))
def test_random_bodies(seed):
    loss_with, args = fuzz_loops.program(seed)
    random = np.random.default_rng(seed)
    dots = tuple([random.normal(size=x.shape) for x in args])
    loss = loss_with(pb.scan)
    right = fuzz_loops.derivatives(loss_with(fuzz_loops.python_scan), args, dots)
    for name, got in fuzz_loops.derivatives(loss, args, dots).items():
        for x, y in zip(got, right[name], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10, err_msg=name)
    graph, _ = staged(lambda *xs: pb.grad(loss, (0, 1, 2))(*xs), args)
    for x, y in zip(build(graph, 0)(*args), right["gradient"], strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-10, err_msg="compiled")

"""Sums of products in compiled programs: loops and products of matrices, laid out by their use."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.lower import gemm, matmul_axes, module
from pullback.compiler.pipeline import Lowered
from pullback.compiler.program import Program
from pullback.testing import staged

TOLERANCE = {
    "float64": 1e-12, "float32": 1e-4, "float16": 0.1, "complex128": 1e-12, "complex64": 1e-4
}  # fmt: skip


def compiled(f, *xs, level=0):
    graph, _ = staged(f, xs)
    program = Program(graph, level)
    return program, program(*xs), graph.evaluate(*xs)


def check(f, *xs, native=True, level=0):
    """A compiled function gives what NumPy gives, and does so without NumPy."""
    program, outs, expected = compiled(f, *xs, level=level)
    assert ("by NumPy" not in program.listing) == native, program.listing
    for out, right in zip(outs, expected, strict=True):
        assert type(out) is type(right)
        assert (out.shape, out.dtype) == (right.shape, right.dtype)
        if right.dtype.kind in "iub":
            np.testing.assert_array_equal(out, right)
            continue
        tolerance = TOLERANCE[str(right.dtype)]
        scale = np.abs(right).max(initial=1.0)
        np.testing.assert_allclose(out, right, rtol=tolerance, atol=tolerance * scale)


def values(random, shape, dtype):
    if np.dtype(dtype).kind in "iu":
        return random.integers(0, 5, shape).astype(dtype)
    if np.dtype(dtype).kind == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def subscripts(random, n):
    """Random subscripts, some with a label twice in a term, and the length of each label."""
    letters = list("abcdefg")
    sizes = {x: int(random.choice([1, 2, 3, 5, 9, 17])) for x in letters}
    terms = []
    for _ in range(n):
        count = int(random.integers(0, 5))
        picked = random.permutation(letters)[:count]
        if count > 1 and random.random() < 0.3:
            picked[-1] = picked[0]
        terms.append("".join(picked))
    used = sorted(set("".join(terms)))
    kept = [x for x in used if random.random() < 0.5]
    return terms, "".join(random.permutation(kept)) if kept else "", sizes


class TestEinsum:
    @pytest.mark.parametrize("seed", range(60))
    def test_random_subscripts(self, seed):
        random = np.random.default_rng(seed)
        dtype = random.choice(
            ["float64", "float64", "float32", "int64", "int32", "complex128", "complex64"]
        )
        terms, result, sizes = subscripts(random, int(random.choice([1, 2, 2, 2, 3, 4])))
        shapes = [
            tuple([1 if random.random() < 0.05 and term.count(x) == 1 else sizes[x] for x in term])
            for term in terms
        ]
        xs = [values(random, shape, dtype) for shape in shapes]
        text = ",".join(terms) + "->" + result
        check(lambda *xs: (np.einsum(text, *xs),), *xs)

    @pytest.mark.parametrize("seed", range(30))
    def test_random_layouts(self, seed):
        """Operands that are transposed, reversed, broadcast or parts of others."""
        random = np.random.default_rng(seed)
        text = random.choice(
            ["kij,nkj->nki", "nki,nkj->kij", "abc,cbd->ad", "abc,abd->cd", "bij,bjk->bik",
             "bij,bjk->kbi", "bij,bkj->ibk", "abcd,cdbe->aeb", "xab,xbc->xca", "ab,bc->ca",
             "abx,xc->cab", "ijab,jikc->kbca"]
        )  # fmt: skip
        terms, _ = text.split("->")
        terms = terms.split(",")
        sizes = {x: int(random.integers(2, 9)) for x in "".join(terms)}

        def turn(x, kind):
            match kind:
                case "reversed":
                    return np.flip(x, 0)
                case "transposed":
                    return np.transpose(np.transpose(x).copy() * 2)
                case "part":
                    wide = np.stack([x, x + 1], axis=-1)
                    return wide[..., 1]
                case "broadcast":
                    return np.broadcast_to(x[:1], x.shape)
            return x

        kinds = random.choice(["plain", "reversed", "transposed", "part", "broadcast"], 2)
        xs = [random.standard_normal([sizes[x] for x in term]) for term in terms]

        def f(x, y):
            return (np.einsum(text, turn(x, kinds[0]), turn(y, kinds[1])),)

        check(f, *xs)

    def test_gradients(self):
        random = np.random.default_rng(0)
        x, y, z = [random.standard_normal(s) for s in ((4, 3, 5), (6, 4, 5), (6, 3))]

        def loss(x, y, z):
            out = np.einsum("kij,nkj,ni->nki", x, y, z)
            return np.sum(np.sin(out) * np.einsum("nki->nki", out))

        check(lambda *xs: pb.grad(loss, argnums=(0, 1, 2))(*xs), x, y, z)

    def test_products_without_a_sum_have_the_bits_of_numpy(self):
        x = np.array([-1.0, 0.0, -0.0, np.inf, np.nan, 3.0])
        y = np.array([0.0, -0.0, 2.0])
        for text in ("i,j->ij", "i,j->ji", "i,i->i"):
            f = lambda x, y, text=text: (np.einsum(text, x, y if "j" in text else x),)
            program, (out,), (right,) = compiled(f, x, y)
            assert "by NumPy" not in program.listing
            np.testing.assert_array_equal(out, right)
            signs = np.signbit(out) == np.signbit(right)
            assert np.all(signs | np.isnan(right))
        random = np.random.default_rng(9)
        xs = random.standard_normal(4), random.standard_normal((3, 4)), random.standard_normal(3)
        for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
            text = ",".join(["j", "ij", "i"][k] for k in order) + "->ji"
            f = lambda *xs, text=text, order=order: (np.einsum(text, *[xs[k] for k in order]),)
            _, (out,), (right,) = compiled(f, *xs)
            np.testing.assert_array_equal(out, right)

    def test_nothing_in_an_axis(self):
        """A sum of nothing is NumPy's; a result without elements is a constant."""
        for text, native, *shapes in (
            ("ij,jk->ik", False, (3, 0), (0, 2)),
            ("ij,jk->ik", True, (0, 3), (3, 2)),
            ("i,i->", False, (0,), (0,)),
        ):
            f = lambda x, y, t=text: (np.einsum(t, x, y),)
            check(f, *map(np.ones, shapes), native=native)

    def test_a_number_is_of_the_kind_that_numpy_gives(self):
        x, y = np.random.default_rng(6).standard_normal((2, 3, 4))
        for optimize in (False, True, "optimal"):
            check(lambda x, y, o=optimize: (np.einsum("ij,ij", x, y, optimize=o),), x, y)
            check(lambda x, y, o=optimize: (np.einsum("ij,kj->", x, y, optimize=o),), x, y)

    def test_integers_wrap(self):
        x = np.array([[100, 120], [90, -128]], np.int8)
        check(lambda x: (np.einsum("ij,jk->ik", x, x), np.einsum("ij->j", x)), x)
        u = np.array([[250, 3], [7, 255]], np.uint8)
        check(lambda x: (np.einsum("ij,ij->i", x, x), np.matmul(x, x)), u)

    def test_dtypes_that_differ(self):
        random = np.random.default_rng(1)
        x, y = values(random, (3, 4), "int32"), values(random, (4, 5), "float32")
        check(lambda x, y: (np.einsum("ij,jk->ik", x, y), np.einsum("ij,jk->ki", x, y)), x, y)

    def test_what_is_left_to_numpy(self):
        x = np.random.default_rng(2).standard_normal((4, 4))
        check(lambda x: (np.einsum("ii,ij->j", x[:1, :1], x),), x)
        check(lambda x: (np.einsum("ii,i->i", x[:1], x[0]),), x[:1, :1], native=True)
        check(lambda x: (np.einsum("ij,jk->ik", x > 0, x < 0),), x, native=False)


class TestStacks:
    @pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
    def test_broadcast_stacks(self, dtype):
        random = np.random.default_rng(3)
        for x, y in [
            ((5, 1, 3, 4), (2, 4, 6)), ((3, 4), (7, 4, 2)), ((7, 3, 4), (4,)), ((4,), (7, 4, 3)),
            ((2, 1, 3), (2, 3, 1)), ((6, 1, 1), (1, 5)), ((1, 2, 3, 4), (5, 1, 4, 3)),
            ((2, 3, 20, 33), (3, 33, 25)), ((300, 2, 3), (300, 3, 2)),
        ]:  # fmt: skip
            xs = [values(random, shape, dtype) for shape in (x, y)]
            check(lambda x, y: (np.matmul(x, y),), *xs)

    @pytest.mark.share(2)
    @pytest.mark.parametrize("level", [0, 3])
    def test_every_size_of_a_product(self, level):
        """Edges of tiles, and more than one panel."""
        random = np.random.default_rng(4)
        sizes = [(1, 1, 1), (8, 24, 3), (9, 25, 7), (7, 23, 5), (16, 8, 300), (200, 10, 10),
                 (10, 10, 513), (3, 50, 2), (193, 3, 257), (127, 2, 2), (2, 2, 900),
                 (24, 3, 700), (1000, 17, 4), (5, 5, 5), (9, 9, 9)]  # fmt: skip
        for m, n, k in sizes:
            x, y = random.standard_normal((2, m, k)), random.standard_normal((2, k, n))

            def f(x, y):
                return np.matmul(x, y), np.einsum("bmk,bkn->nbm", x, y)

            check(f, x, y, level=level)
            turned = lambda x, y: (np.einsum("bkm,bnk->bmn", x, y),)
            check(turned, *[np.swapaxes(z, 1, 2).copy() for z in (x, y)], level=level)

    def test_small_products_without_fused_operations(self, monkeypatch):
        monkeypatch.setattr(matmul_axes, "bits", lambda: 128)
        monkeypatch.setattr(gemm, "fused", lambda: False)
        random = np.random.default_rng(8)
        for m, n, k in [(3, 3, 3), (2, 5, 4), (100, 3, 2), (4, 3, 200)]:
            x, y = random.standard_normal((7, m, k)), random.standard_normal((7, k, n))
            check(lambda x, y: (np.matmul(x, y),), x, y)

    def test_other_products(self):
        random = np.random.default_rng(5)
        x, y = random.standard_normal((3, 4)), random.standard_normal((2, 4, 5))

        def f(x, y):
            return (
                np.tensordot(x, y, ((1,), (1,))),
                np.dot(x, y),
                np.inner(x, np.swapaxes(y, 1, 2)),
                np.vdot(x, x),
                np.outer(x, y),
                np.kron(x, y[0]),
                np.vecdot(x, y[0, :, 0]),
            )

        check(f, x, y)

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_few_products_of_long_rows_are_done_where_they_are_read(self, dtype):
        """One loop does all of it; where somebody else reads a product, it is one of matrices."""
        random = np.random.default_rng(4)
        v, w = values(random, (4, 100), dtype), values(random, (3, 100), dtype)
        poses = values(random, (5, 6, 3, 4), dtype)

        def moved(poses, v, w):
            return sum((poses[k] @ v) * w for k in range(5))

        def broadcast(poses, v, w):
            return np.sum(np.sin(poses[0, :, :, 1:2] @ v[1:2] - w), axis=-1)

        def read_twice(poses, v, w):
            product = poses[0, 0] @ v
            return product * w, product

        for f in (moved, broadcast, read_twice):
            check(f, poses, v, w)
            check(
                pb.grad(lambda *xs, f=f: np.sum(sum(map(np.sum, f(*xs)))), (0, 1, 2)), poses, v, w
            )
        listing = compiled(moved, poses, v, w)[0].listing
        assert listing.count("product") == 0, listing
        infinite = v.copy()
        infinite[0, 3], infinite[1, 4], infinite[:, 5] = np.inf, np.nan, -0.0
        with np.errstate(all="ignore"):
            check(moved, poses, infinite, w)


class TestCopies:
    """LLVM copies short functions to where they are called, up to a number of lines in all."""

    def program(self):
        """Products and additions of a few shapes, in an order that is no loop."""
        order = np.random.default_rng(2).integers(0, 4, 40)

        def f(x, v):
            for i, k in enumerate(order):
                if k == 0:
                    x = x @ x.T * 0.2
                elif k == 1:
                    v = x @ v + 0.1 * (i % 7)
                elif k == 2:
                    x = x / (1 + np.sum(x * x)) + v[i % 4]
                else:
                    x = x.T * 0.5 + np.outer(v, v) * 0.01
            return x, v

        rng = np.random.default_rng(3)
        graph, _ = staged(f, (rng.random((4, 4)), rng.random(4)))
        return Lowered(graph).module, graph, (rng.random((4, 4)), rng.random(4))

    def test_what_a_long_program_repeats_stays_a_function(self, monkeypatch):
        free, _, _ = self.program()
        assert free.uses.total() - len(free.places) > 20
        counts = []
        for most in (0, 100, 400):
            monkeypatch.setattr(module, "COPIED", most)
            made, graph, xs = self.program()
            lines = {name: free.functions[i].count("\n") for name, i in made.places.items()}
            heads = {name: made.functions[i].partition("{")[0] for name, i in made.places.items()}
            copied = [x for x in heads if "noinline" not in heads[x]]
            assert sum((made.uses[x] - 1) * lines[x] for x in copied) <= most
            counts.append(len(copied))
            for out, right in zip(Program(graph, 3)(*xs), Program(graph, 0)(*xs), strict=True):
                np.testing.assert_array_equal(out, right)
        assert counts[0] < counts[1] < counts[2] < len(free.places)

    def test_a_short_program_is_as_it_was(self):
        made, _, _ = self.program()
        for i in made.places.values():
            assert "noinline" not in made.functions[i].partition("{")[0]

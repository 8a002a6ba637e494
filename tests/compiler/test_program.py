"""Programs: plans with calls of NumPy, assignment, joining, BLAS, and both entries."""

import gc
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.entry import object_layout
from pullback.compiler.entry.python_calls import SpecChangedError
from pullback.compiler.llvm import binding
from pullback.compiler.lower import blas
from pullback.compiler.program import Program, build
from pullback.core.errors import MissingExtraError
from pullback.core.primitive import Primitive
from pullback.core.spec import spec_of
from pullback.testing import staged


@pytest.fixture(params=["native", "ctypes"])
def make(request):
    """Programs of either entry."""

    def make(f, *xs, level=1):
        graph, _ = staged(f, xs)
        return Program(graph, level, native=request.param == "native"), graph

    return make


def agree(program, graph, *xs, rtol=1e-13):
    expected = graph.evaluate(*xs)
    for out, right in zip(program(*xs), expected, strict=True):
        assert type(out) is type(right)
        assert spec_of(out) == spec_of(right)
        np.testing.assert_allclose(out, right, rtol=rtol, atol=1e-13)


def test_numbers_and_arrays_without_axes(make):
    def f(x, y):
        return x * y, np.reshape(x, ()), x + 1, np.sin(y)[()], np.broadcast_to(x, ())

    for x, y in [(2.0, np.float64(3.0)), (np.array(2.0), np.float64(3))]:
        x = np.float64(x) if isinstance(x, float) else x
        program, graph = make(f, x, y)
        agree(program, graph, x, y)
        agree(program, graph, np.float64(4), np.array(5.0))
        assert program(2, 3.0)[0] == 6.0


def test_calls_of_numpy_between_loops(make):
    def f(x):
        y = np.sin(x) * 2
        z = np.linalg.solve(np.eye(3) * 4 + y, x)
        order = np.lexsort((z[0],))
        return np.exp(z[:, order]).sum(), np.cumsum(z, axis=1).T * y, z[order], order

    x = np.random.default_rng(0).random((3, 3))
    program, graph = make(f, x)
    agree(program, graph, x)
    assert not program.simple
    assert "by NumPy" in program.listing


def test_complex_numbers(make):
    z = np.array([1 + 2j, 3 - 1j])
    agree(*make(lambda z: (np.abs(z * 2) + 1, z.real * z.imag, np.conj(z) @ z), z), z)


def test_assignment(make):
    def f(x):
        y = np.zeros_like(x)
        y[1:, 0] = x[:-1, 1] * 2
        y[0] += x[0]
        kept = y * 1.5
        y[:, 1] = 7
        z = np.array(y)
        for i in range(3):
            z[i, 0] = z[i - 1, 0] + x[i, 1]
        return y, kept, z, z[::2]

    x = np.random.default_rng(1).random((4, 3))
    agree(*make(f, x), x)


def test_gradients_that_meet(make):
    """Scattered cotangents: elements that come again, areas that overlap, and both."""

    def f(x):
        total = x[0] * x[1] + x[0] ** 3 + (x[1:4] * x[2:5]).sum() + x[-1] * 2
        return total + sum([x[i] * x[i + 1] for i in range(6)])

    x = np.random.default_rng(2).random(8)
    agree(*make(pb.value_and_grad(f), x), x)
    agree(*make(pb.grad(lambda x: x[2] + 0 * x[2]), x), x)
    agree(*make(pb.hessian(f), x), x)


def test_joining_writes_in_place(make):
    def f(x, y):
        out = np.concatenate([np.sin(x), y[:2] * 2, x], axis=0)
        return out, np.stack([x[0, 0], y[1, 1] * 2, 3.0]), np.stack([x, x * 2], axis=-1)

    x, y = np.random.default_rng(3).random((2, 3, 4))
    agree(*make(f, x, y), x, y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products(make, dtype):
    random = np.random.default_rng(4)
    a, b = random.random((5, 7)).astype(dtype), random.random((7, 6)).astype(dtype)
    v, w = random.random(7).astype(dtype), random.random(5).astype(dtype)

    def f(a, b, v, w):
        row, column = a[:1], b[:, :1]
        return (
            a @ b, a.T @ a, b.T @ v, a @ v, v @ b, w @ a, v @ v, v[::2] @ v[::2], v[::-1] @ v,
            a[:, ::2] @ b[::2], a[1:3, 2:] @ b[2:, 1:4], row @ column, column @ row,
            (a * 2).T[1:] @ (a + 1), w @ a[:, 0], a[::2, 1:] @ v[1:],
        )  # fmt: skip

    program, graph = make(f, a, b, v, w)
    agree(program, graph, a, b, v, w, rtol=1e-5 if dtype is np.float32 else 1e-13)
    assert "product" in program.listing
    assert "by NumPy" not in program.listing


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_without_scipy(make, monkeypatch, dtype):
    monkeypatch.setattr(blas, "available", lambda: False)
    test_products(make, dtype)


def test_large_products_by_blas(make, monkeypatch):
    monkeypatch.setattr(blas, "LARGE", 1)
    test_products(make, np.float64)


SIZES = [(1, 1, 1), (8, 24, 5), (9, 25, 300), (7, 10, 256), (13, 50, 600), (200, 101, 20),
         (193, 97, 257), (3, 3, 3), (40, 130, 513)]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_all_sizes_and_layouts(dtype):
    random = np.random.default_rng(7)
    for m, n, k in SIZES:
        a, b = random.standard_normal((m, k)).astype(dtype), random.standard_normal((k, n))
        b = b.astype(dtype)
        xs = (a, b, np.ascontiguousarray(a.T), np.ascontiguousarray(b.T))
        graph, _ = staged(lambda a, b, c, d: (a @ b, c.T @ b, a @ d.T, c.T @ d.T), xs)
        exact = a.astype(float) @ b.astype(float)
        bound = (k + 2) * np.finfo(dtype).eps * (abs(a).astype(float) @ abs(b).astype(float))
        for out in build(graph, 0)(*xs):
            assert np.all(abs(out - exact) <= bound)


def test_products_of_stacks(make):
    random = np.random.default_rng(8)
    a, b, v = random.random((3, 2, 4, 5)), random.random((2, 5, 6)), random.random(5)

    def f(a, b, v):
        return (
            a @ b, a @ b[:1], a @ v, v @ b, a[:, 0] @ b[0], np.swapaxes(b, 1, 2) @ a[0].mT,
            a[:, :, :, ::2] @ b[:, ::2], (a * 2) @ (b + 1), a.mT[:, 1] @ a[:, 0],
        )  # fmt: skip

    program, graph = make(f, a, b, v)
    agree(program, graph, a, b, v)


def test_results_are_fresh(make):
    x = np.arange(4.0)
    constant = np.arange(3.0)
    program, _ = make(lambda x: (x, x, x * 1, x[1:], constant, x.reshape(2, 2), 2.5), x)
    first, second = program(x), program(x)
    arrays = [o for o in (*first, *second) if isinstance(o, np.ndarray)] + [x, constant]
    for i, a in enumerate(arrays):
        assert a.flags.writeable
        assert not any(np.may_share_memory(a, b) for b in arrays[i + 1 :])
    assert first[-1] == 2.5


def test_empty_arrays(make):
    x = np.zeros((0, 3))
    agree(*make(lambda x: (x * 2, x.sum(axis=0), x.sum(), np.concatenate([x, x])), x), x)
    agree(*make(lambda x: (x[:0], x[:0].sum() + x.sum()), np.ones(3)), np.ones(3))


def test_no_results_and_no_arguments(make):
    program, graph = make(lambda: (1.5, np.ones(2)))
    agree(program, graph)
    program, _ = make(lambda x: (), np.ones(2))
    assert program(np.ones(2)) == ()


def test_large_arenas(make):
    """An arena that does not fit on the stack is taken from those that are free, and given back."""
    x = np.random.default_rng(6).random((200, 300))

    def f(x):
        y = np.sin(x) - x.mean()
        return ((y.T @ y).sum(axis=0) * np.exp(x[:, :1]) + y,)

    program, graph = make(f, x)
    for _ in range(3):
        agree(program, graph, x, rtol=1e-11)
    before = program(x)[0]
    results = []

    def work():
        results.append(program(x)[0])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for out in results:
        np.testing.assert_array_equal(out, before)


def test_programs_call_programs():
    """A call of NumPy may run another program, or the same one."""
    graph, _ = staged(lambda x: (np.sin(x) * 2,), (np.ones(300),))
    inner, outer = build(graph, 1), []

    def user(x):
        return outer.pop()(x)[0] if outer else inner(x)[0]

    primitive = pb.primitive(user)
    graph, _ = staged(lambda x: (primitive(np.cos(x)) + x,), (np.ones(300),))
    program = build(graph, 1)
    outer += [program, program]
    x = np.linspace(0, 1, 300)
    c = np.cos(x)
    expected = np.sin(np.cos(np.cos(c))) * 2 + np.cos(c) + c + x
    np.testing.assert_allclose(program(x)[0], expected, rtol=1e-14)


class Several(Primitive):
    """Two results, made in one of several ways."""

    n_out = 2

    def __init__(self, made):
        super().__init__("several")
        self.made, self.ours = made, True  # machine code calls it

    def value(self, x):
        return self.made(x)

    def spec(self, x):
        return tuple(map(spec_of, self.made(np.ones(x.shape))))


@pytest.mark.parametrize(
    "made",
    [
        lambda x: (x + 1, x * 2),
        lambda x: (x + 1, x.sum()),
        lambda x: (x.sum(), np.argmax(x)),
        lambda x: (x, x * 2),
        lambda x: (x[1:], x[:-1]),
        lambda x: ((x + 1)[::2], np.asfortranarray(np.outer(x, x))),
        lambda x: [x + 1, x * 2],
        lambda x: (x + 1, np.array(x.sum())),
        lambda x: ((x + 1)[()], x.reshape(3, 1)[()] * 2),
        lambda x: ((x + 1)[::-1], np.add(x, 1)[:2]),
    ],
)
def test_several_results_of_a_call(made):
    x = np.arange(3.0)
    graph, _ = staged(lambda x: Several(made)(np.sort(x)), (x,))
    program = build(graph, 0)
    assert program.run.performs
    before = [sys.getrefcount(kind) for kind in (tuple, np.ndarray)]
    for _ in range(50):
        out = program(x)
        for found, expected in zip(out, made(x), strict=True):
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)
            assert not np.may_share_memory(found, x)
    after = [sys.getrefcount(kind) for kind in (tuple, np.ndarray)]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True))


@pytest.mark.parametrize("made", [lambda x: (x + 1, x), lambda x: (x + 1,), lambda x: (1 * x,) * 3])
def test_other_results_than_recorded_raise(made):
    several = Several(lambda x: (x + 1, x[:2] * 2))
    graph, _ = staged(lambda x: several(np.sort(x)), (np.ones(3),))
    program = build(graph, 0)
    several.made = made
    with pytest.raises((SpecChangedError, ValueError)):
        program(np.ones(3))


def test_another_shape_than_recorded_raises():
    primitive = pb.primitive(lambda x: x[x > 0])
    x = np.array([1.0, -1.0, 2.0])
    graph, _ = staged(lambda x: (primitive(x) * 2,), (x,))
    program = build(graph, 0)
    np.testing.assert_array_equal(program(x)[0], [2, 4])
    with pytest.raises(
        SpecChangedError, match=r"gave float64\[3\] where float64\[2\] was recorded"
    ):
        program(np.ones(3))


class Odd:
    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


class Kin(np.ndarray):
    pass


STRANGE = [
    None, 3, 2.5, True, 1j, "x", b"x", [], [1.0, 2.0, 3.0], (1, 2, 3), {}, set(), object(), Odd(),
    Odd, np, len, ..., slice(3), range(3), np.float64, np.float64(1), np.float32(1), np.int64(3),
    np.array(None), np.array([None] * 3), np.ones(3, complex), np.ones(3, np.float16), np.ones(4),
    np.ones((3, 1)), np.ones((1, 3)), np.ones(3).astype(">f8"), np.ones(6)[::2], np.ones(3)[::-1],
    np.ones(3).view(Kin), np.ma.ones(3), np.zeros(3, "M8[s]"),
    np.frombuffer(b"0" * 25, np.uint8)[1:].view(np.float64), np.array(["a", "b", "c"]),
    memoryview(b"123"), sys, 10**400, float("nan"), np.zeros(3, [("a", float)]), np.bool_(True),
]  # fmt: skip


def test_any_object_at_the_entry():
    """What does not fit raises; what can be converted gives the right result. Nothing crashes."""
    x, s = np.ones(3), np.float64(2)
    graph, _ = staged(lambda x, s: (x * s, s + 1), (x, s))
    native, slow = Program(graph, 1), Program(graph, 1, native=False)
    assert native.native is object_layout.usable()
    mine = [odd for odd in STRANGE if isinstance(odd, (np.ndarray, Odd))]
    counts = [sys.getrefcount(odd) for odd in mine]
    outcomes = []
    for _ in range(3):
        for odd in STRANGE:
            for args in [(odd, s), (x, odd), (odd, odd), (odd,), (x, s, odd), ()]:
                pair = []
                for program in (native, slow):
                    try:
                        pair.append([np.asarray(z).tolist() for z in program(*args)])
                    except (TypeError, ValueError, OverflowError) as error:
                        pair.append(type(error))
                assert str(pair[0]) == str(pair[1])
                outcomes.append(pair)
    del args, odd, pair
    assert counts == [sys.getrefcount(odd) for odd in mine]
    with pytest.raises(TypeError, match=r"compiled for float64\[3\] as argument 0 was given"):
        native(np.ones(4), s)
    with pytest.raises(TypeError, match="compiled for 2 arguments was given 1"):
        native(x)
    with pytest.raises(TypeError):
        native(x, s=s)


def test_references_are_balanced(make):
    x = np.ones(300)
    program, _ = make(lambda x: (x * 2, x.sum(), x[0] > 0), x)
    dtype = np.dtype(np.float64)
    before = sys.getrefcount(x), sys.getrefcount(dtype)
    for _ in range(500):
        program(x)
    after = sys.getrefcount(x), sys.getrefcount(dtype)
    assert after[0] == before[0]
    assert abs(after[1] - before[1]) < 5


def test_the_entry_outlives_the_program():
    graph, _ = staged(lambda x: (x * 2,), (np.ones(3),))
    entry = build(graph, 0).entry
    gc.collect()
    np.testing.assert_array_equal(entry(np.ones(3))[0], [2, 2, 2])


def test_improving(make):
    """A program is compiled quickly first, and better later, even while it runs."""
    x = np.random.default_rng(9).random(50)
    program, graph = make(lambda x: (np.sin(x) * np.cumsum(x), x.sum()), x, level=0)
    for level in (1, 3, 2):
        agree(program, graph, x)
        program.improve(level)
    agree(program, graph, x)
    assert program.level == 3
    program, graph = make(lambda x: (np.sin(x) * 2, x.sum()), x, level=0)
    for level in (1, 3):
        agree(program, graph, x)
        program.improve(level)
        agree(program, graph, x)


ENDING = """
import time
import numpy as np
import pullback as pb
from pullback.compiler.program import build
from pullback.testing import staged

def f(x):
    y = x
    for i in range(40):
        y = np.sin(y) * 1.1 + x * np.exp(-y * y)
    return y.sum()

x = np.linspace(0, 1, 20)
graph, _ = staged(pb.grad(f), [x])
programs = [build(graph, 0) for _ in range(3)]
for level in (1, 2, 3):
    programs[0].improve_later(level)
time.sleep({seconds})
print(programs[0](x)[0][0])
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("seconds", [0, 0.02, 0.1])
def test_a_process_ends_while_it_compiles(seconds):
    """LLVM is not taken down while it works in the background."""
    script = ENDING.format(seconds=seconds)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_many_numbers():
    """Programs on numbers are cut into functions: all of 3,000 arguments reach their place."""

    def f(*xs):
        out = 0.0
        for i, x in enumerate(xs):
            out = out + x * (i % 7)
        return out

    xs = [np.float64(i) for i in range(3000)]
    graph, _ = staged(lambda *xs: pb.value_and_grad(lambda xs: f(*xs))(xs), xs)
    program = build(graph, 0)
    assert [float(z) for z in program(*xs)] == [float(z) for z in graph.evaluate(*xs)]


def test_listing_and_text():
    graph, _ = staged(lambda x: (np.sin(x) * 2,), (np.ones(3),))
    program = build(graph, 0)
    assert program.listing.splitlines() == [
        "(a: float64[3]) ->",
        "  loop over [3]:",
        "    b: float64[3] = sin a",
        "    c: float64[3] = multiply b 2    -> out 0",
        "  return c",
    ]
    assert "define void @segment0" in program.ir
    with pytest.raises(TypeError, match="Pickle what it was compiled from"):
        pickle.dumps(program)


def test_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    binding.binding.cache_clear()
    try:
        with pytest.raises(MissingExtraError, match=r"pip install llvmlite"):
            binding.binding()
    finally:
        monkeypatch.undo()
        binding.binding.cache_clear()


def test_old_extra():
    """An LLVM whose pointers have types can't read our text."""

    class Old:
        def parse_assembly(self, text):
            raise RuntimeError("LLVM IR parsing error")

    with pytest.raises(
        MissingExtraError, match=r"0\.45 or newer.*\n.*pip install --upgrade llvmlite"
    ):
        binding.refuse_old(Old())


def test_an_assignment_to_a_view_leaves_what_others_read():
    """A copy of a reshaped array is no copy of memory, and is not written to in its place."""

    def f(a):
        x = a * 2
        y = x.reshape(12).copy()
        z = x[::-1]
        y[2:] = z.reshape(12)[:10] * 3
        return y, z + 1, x.sum(axis=0)

    a = np.arange(12.0).reshape(2, 6)
    graph, _ = staged(f, (a,))
    for out, right in zip(Program(graph, 1)(a), f(a), strict=True):
        np.testing.assert_array_equal(out, right)

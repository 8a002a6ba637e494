"""Kernels: loops, vectors and reductions are NumPy's, at every width of a register."""

import warnings
from unittest.mock import patch

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.llvm.binding import assembly, bits
from pullback.compiler.lower import emit, extreme_places, loop_space, module
from pullback.compiler.lower.loop_kernel import LoopKernel
from pullback.compiler.pipeline import Lowered
from pullback.compiler.program import Program
from pullback.testing import staged
from tests.together import try_all


@pytest.fixture(params=["native", "128 bits", "no libmvec"])
def registers(request, monkeypatch):
    """Narrow vectors, and vectors whose functions are called number by number."""
    if request.param == "128 bits":
        monkeypatch.setattr(loop_space, "bits", lambda: 128)
        monkeypatch.setattr(extreme_places, "bits", lambda: 128)
    if request.param == "no libmvec":
        monkeypatch.setattr(emit, "prefixes", dict)
    return request.param


def compiled(f, *xs, level=1):
    graph, _ = staged(f, xs)
    return Program(graph, level)(*xs), graph.evaluate(*xs)


def same(outs, expected):
    for out, right in zip(outs, expected, strict=True):
        assert type(out) is type(right)
        assert (out.shape, out.dtype) == (right.shape, right.dtype)
        np.testing.assert_array_equal(out, right)
        if right.dtype.kind == "f":
            assert np.all((np.signbit(out) == np.signbit(right)) | np.isnan(right))


def tree(rows):
    """The documented order of a sum along the last axis of contiguous rows."""
    rows = np.asarray(rows)
    blocks = []
    for start in range(0, rows.shape[-1], 512):
        block = rows[..., start : start + 512]
        lanes = np.full((*rows.shape[:-1], 32), -0.0, rows.dtype)
        for i in range(0, block.shape[-1], 32):
            part = block[..., i : i + 32]
            lanes[..., : part.shape[-1]] += part
        while lanes.shape[-1] > 1:
            half = lanes.shape[-1] // 2
            lanes = lanes[..., :half] + lanes[..., half:]
        blocks.append(lanes[..., 0])
    return pairs(blocks)


def pairs(parts):
    while len(parts) > 1:
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [a + b for a, b in zip(parts[0::2], parts[1::2], strict=False)] + odd
    return parts[0]


def columns(x):
    """The documented order of a sum along the first axis."""
    parts = []
    for start in range(0, x.shape[0], 16):
        part = np.full(x.shape[1:], -0.0, x.dtype)
        for row in x[start : start + 16]:
            part = part + row
        parts.append(part)
    return pairs(parts)


SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 511, 512, 513, 519, 520, 521, 1000, 1024,
         1025, 1030, 1537, 4096, 5000]  # fmt: skip


@pytest.mark.share(8)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_are_done_in_the_documented_tree(registers, dtype):
    random = np.random.default_rng(0)
    for n in SIZES:
        x = random.standard_normal(n).astype(dtype)
        (out,), _ = compiled(lambda x: (np.sum(x * 3),), x)
        np.testing.assert_array_equal(out, tree(x * 3), err_msg=str(n))
        x = random.standard_normal((n, 5)).astype(dtype)
        (out, turned), _ = compiled(lambda x: (np.sum(x, axis=0), np.sum(x.T, axis=1)), x)
        np.testing.assert_array_equal(out, columns(x), err_msg=str(n))
        np.testing.assert_array_equal(turned, tree(x.T), err_msg=str(n))
        x = random.standard_normal((3, n)).astype(dtype)
        (out, mean), _ = compiled(lambda x: (np.sum(x, axis=1), np.mean(x, axis=-1)), x)
        np.testing.assert_array_equal(out, tree(x), err_msg=str(n))
        np.testing.assert_array_equal(mean, tree(x) / dtype(n), err_msg=str(n))


def test_sums_keep_their_bound():
    """A long sum of equal signs is as accurate as pairwise summation promises."""
    n = 1_000_003
    x = np.random.default_rng(1).uniform(0, 1, n).astype(np.float32)
    (out,), _ = compiled(lambda x: (np.sum(x),), x)
    exact = float(np.sum(x.astype(np.float64)))
    bound = (np.log2(n) + 12) * 2.0**-24
    assert abs(float(out) - exact) <= bound * exact


def test_reductions_over_any_axes(registers):
    random = np.random.default_rng(2)
    x = random.standard_normal((4, 1, 5, 3, 18))
    x[0, 0, 1, 2, 3] = np.nan
    integers = random.integers(-9, 9, x.shape)
    for axis in [(), (0,), (1,), (2,), (4,), (0, 2), (1, 3), (0, 4), (2, 3), (0, 1, 2, 3, 4)]:
        for keepdims in (False, True):

            def f(x, i, axis=axis, keepdims=keepdims):
                y = x * 2
                return (
                    np.max(y, axis=axis, keepdims=keepdims),
                    np.min(y, axis=axis, keepdims=keepdims),
                    np.sum(i + 1, axis=axis, keepdims=keepdims),
                    np.max(i, axis=axis, keepdims=keepdims),
                    np.any(y > 2, axis=axis, keepdims=keepdims),
                    np.all(y > -2, axis=axis, keepdims=keepdims),
                    np.count_nonzero(i, axis=axis, keepdims=keepdims),
                )

            graph, _ = staged(f, (x, integers))
            outs, expected = Program(graph, 0)(x, integers), graph.evaluate(x, integers)
            for out, right in zip(outs, expected, strict=True):
                assert out.dtype == right.dtype
                np.testing.assert_array_equal(out, right)
            (out,), (right,) = compiled(
                lambda x, a=axis, k=keepdims: (np.sum(x, axis=a, keepdims=k),), x, level=0
            )
            np.testing.assert_allclose(out, right, rtol=1e-14, atol=1e-13)


SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -2e-308, 1.7e308, -1.7e308, 0.5, 3.0,
     -2.5, 7.25, 1e-160, -1e200]
)  # fmt: skip

EXACT = [
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin,
    np.copysign, np.fmod, np.remainder, np.floor_divide, np.less, np.less_equal, np.greater,
    np.greater_equal, np.equal, np.not_equal, np.logical_and, np.logical_or, np.logical_xor,
]  # fmt: skip
EXACT_UNARY = [
    np.negative, np.positive, np.absolute, np.fabs, np.square, np.reciprocal, np.sqrt, np.sign,
    np.floor, np.ceil, np.trunc, np.rint, np.isnan, np.isinf, np.isfinite, np.signbit,
    np.logical_not, np.deg2rad, np.rad2deg,
]  # fmt: skip


@pytest.mark.share(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arithmetic_is_equal_on_special_numbers(registers, dtype):
    with np.errstate(all="ignore"):
        x = np.repeat(SPECIAL.astype(dtype), len(SPECIAL))
        y = np.tile(SPECIAL.astype(dtype), len(SPECIAL))
        for f in EXACT:
            same(*compiled(lambda x, y, f=f: (f(x, y),), x, y))
        for f in EXACT_UNARY:
            same(*compiled(lambda x, f=f: (f(x),), x))


def test_arithmetic_of_numbers_is_equal():
    """The same without vectors: equations of one element each."""
    with np.errstate(all="ignore"):
        pairs = [(np.float64(x), np.float64(y)) for x in SPECIAL for y in SPECIAL]
        program = staged(
            lambda x, y: [f(x, y) for f in EXACT] + [f(x) for f in EXACT_UNARY], pairs[0]
        )
        program = Program(program[0], 1), program[0]
        for pair in pairs:
            same(program[0](*pair), program[1].evaluate(*pair))


def test_functions_of_neural_networks(registers):
    x = np.concatenate([np.linspace(-40, 40, 101), SPECIAL])
    with np.errstate(all="ignore"):
        for f in (pb.nn.relu, pb.nn.sigmoid, pb.nn.softplus):
            (out, bar), (right, right_bar) = compiled(
                lambda x, f=f: (f(x), pb.vjp(f, x)[1](np.ones_like(x))[0]), x
            )
            np.testing.assert_array_max_ulp(out, right, 4)
            np.testing.assert_allclose(bar, right_bar, rtol=1e-14, atol=1e-300)


def test_a_primitive_of_ones_own():
    """`lower` may be a function that speaks to the facade."""
    softsign = pb.Elementwise(
        lambda x: x / (1 + abs(x)),
        lambda out, x: (1 - abs(out)) ** 2,
        reads="out",
        name="softsign",
        lower=lambda emit, x: emit.div(x, emit.add(emit.constant(1, x.dtype), emit.absolute(x))),
    )
    x = np.linspace(-3, 3, 37)
    graph, _ = staged(lambda x: (softsign(x), softsign(x[0])), (x,))
    program = Program(graph, 1)
    assert program.native or "by NumPy" not in program.listing
    same(program(x), graph.evaluate(x))


@pytest.mark.share(2)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.bool_])
def test_integers_and_truth_values_are_equal(registers, dtype):
    random = np.random.default_rng(3)
    x, y = [random.integers(0, 255, 45).astype(dtype) for _ in range(2)]
    calls = [np.maximum, np.minimum, np.less, np.equal, np.bitwise_and, np.bitwise_xor,
             np.logical_or, np.add, np.multiply, np.true_divide]  # fmt: skip
    if dtype is not np.bool_:
        calls += [np.subtract, np.left_shift, np.floor_divide, np.remainder]
    with np.errstate(all="ignore"):
        for f in calls:
            same(*compiled(lambda x, y, f=f: (f(x, y), f(x, 3) if dtype != np.bool_ else y), x, y))
        for f in [np.invert, np.absolute, np.logical_not, np.sqrt, np.isnan]:
            same(*compiled(lambda x, f=f: (f(x).astype(np.float32),), x.astype(dtype)))


FUNCTIONS = {
    np.sin: (-100, 100), np.cos: (-100, 100), np.tan: (-1.5, 1.5), np.arcsin: (-1, 1),
    np.arccos: (-1, 1), np.arctan: (-9, 9), np.sinh: (-9, 9), np.cosh: (-9, 9), np.tanh: (-9, 9),
    np.arcsinh: (-99, 99), np.arccosh: (1, 99), np.arctanh: (-1, 1), np.exp: (-80, 80),
    np.exp2: (-99, 99), np.expm1: (-9, 9), np.log: (0, 99), np.log2: (0, 99), np.log10: (0, 99),
    np.log1p: (-1, 99), np.cbrt: (-99, 99),
}  # fmt: skip
SPECIAL_FOR_FUNCTIONS = SPECIAL[np.abs(SPECIAL) != 1e-160]


@pytest.mark.share(2)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_are_within_4_ulp(registers, dtype):
    random = np.random.default_rng(4)
    with np.errstate(all="ignore"):
        for f, (low, high) in FUNCTIONS.items():
            x = random.uniform(low, high, 3001).astype(dtype)
            (out,), (right,) = compiled(lambda x, f=f: (f(x),), x)
            exact = f(x.astype(np.longdouble))
            ulp = np.spacing(np.abs(right))
            assert np.max(np.abs(out - exact) / ulp) <= 4, f.__name__
            x = np.concatenate([SPECIAL_FOR_FUNCTIONS.astype(dtype)] * 2)[: 2 * len(SPECIAL) - 3]
            (out,), (right,) = compiled(lambda x, f=f: (f(x),), x)
            close = np.isclose(out, right, rtol=1e-6, atol=1e-300, equal_nan=True)
            near_overflow = np.abs(x) > 1e200
            assert np.all(close | near_overflow), f"{f.__name__}: {x[~close]} {out[~close]}"


def magnitudes(random, low, high, n=3001):
    """Numbers of both signs whose logarithms are spread evenly."""
    return 2.0 ** random.uniform(low, high, n) * random.choice([-1.0, 1.0], n)


ANYWHERE = {
    np.sin: (-60, 30), np.cos: (-60, 30), np.tan: (-60, 30), np.arcsin: (-60, 0),
    np.arccos: (-60, 0), np.arctan: (-60, 99), np.sinh: (-60, 6), np.cosh: (-60, 6),
    np.tanh: (-60, 6), np.arcsinh: (-60, 99), np.arctanh: (-60, 0), np.exp: (-60, 6.4),
    np.exp2: (-60, 6.9), np.expm1: (-60, 6.4), np.cbrt: (-120, 120), np.log: (-126, 126),
    np.log2: (-126, 126), np.log10: (-126, 126), np.log1p: (-60, 126),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_any_magnitude_are_within_4_ulp(registers, dtype):
    random = np.random.default_rng(8)
    with np.errstate(all="ignore"):
        for f, (low, high) in ANYWHERE.items():
            x = magnitudes(random, low, high).astype(dtype)
            x = np.abs(x) if f in (np.log, np.log2, np.log10, np.log1p) else x
            (out,), (right,) = compiled(lambda x, f=f: (f(x),), x)
            exact = f(x.astype(np.longdouble))
            error = np.abs(out - exact) / np.spacing(np.abs(right))
            assert np.max(np.where(np.isfinite(right), error, 0)) <= 4, f.__name__
            np.testing.assert_array_equal(np.isfinite(out), np.isfinite(right), f.__name__)


def test_exponentials_and_logarithms_at_their_ends(registers):
    """Subnormal results and arguments, overflow, zeros, and both sides of each reduction."""
    steps = np.arange(-9, 10)
    x = np.concatenate(
        [at + steps * np.spacing(at) for at in (0.75, 1.0, 1.5, 3.0, 2.0**-1022, 709.782712893384)]
        + [
            np.log(2) * (np.arange(-1080, 1030) + 0.5),
            np.array([-745.1332191019411, -745.2, 709.79]),
        ]
    )
    with np.errstate(all="ignore"):
        for f in (np.exp, np.log):
            (out,), (right,) = compiled(lambda x, f=f: (f(x),), x)
            exact = f(x.astype(np.longdouble))
            sure = np.isfinite(right)
            error = np.abs(out - exact)[sure] / np.spacing(np.abs(right[sure]))
            assert np.max(error) <= 4, f.__name__
            np.testing.assert_array_equal(out[~sure], right[~sure])
        x = np.concatenate([SPECIAL, SPECIAL])
        for f in (np.exp, np.log):
            (out,), (right,) = compiled(lambda x, f=f: (f(x),), x)
            unsure = np.isfinite(right) & (right != 0)
            same([out[~unsure]], [right[~unsure]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_two_are_within_4_ulp(registers, dtype):
    random = np.random.default_rng(5)
    pairs = {
        np.power: [(random.uniform(0.1, 5, 1001), random.uniform(-5, 5, 1001)),
                   (np.abs(magnitudes(random, -9, 9)), random.uniform(-9, 9, 3001)),
                   (magnitudes(random, -3, 3), np.rint(random.uniform(-30, 30, 3001)))],
        np.hypot: [(magnitudes(random, -30, 30), magnitudes(random, -30, 30)),
                   (magnitudes(random, -2, 2), magnitudes(random, -2, 2))],
        np.arctan2: [(magnitudes(random, -30, 30), magnitudes(random, -30, 30)),
                     (random.uniform(-5, 5, 1001), random.uniform(-5, 5, 1001))],
        np.logaddexp: [(random.uniform(-5, 5, 1001), random.uniform(-5, 5, 1001)),
                       (magnitudes(random, -30, 9), magnitudes(random, -30, 9))],
    }  # fmt: skip
    pairs[np.logaddexp2] = pairs[np.logaddexp]
    for f, samples in pairs.items():
        for x, y in samples:
            x, y = x.astype(dtype), y.astype(dtype)
            (out,), (right,) = compiled(lambda x, y, f=f: (f(x, y),), x, y)
            exact = f(x.astype(np.longdouble), y.astype(np.longdouble))
            size = np.abs(right)
            if "logaddexp" in f.__name__:  # a sum, as NumPy does it, with its parts' errors
                size = np.maximum(size, np.maximum(np.abs(x), np.abs(y)))
            assert np.max(np.abs(out - exact) / np.spacing(size)) <= 4, f.__name__


def test_constant_powers():
    x = np.linspace(0.1, 3, 40)
    for n in (0, 1, 2, 0.5, -1):
        same(*compiled(lambda x, n=n: (x**n,), x))
    short = (3, 4, 5, 6, -2, -3, -4, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5)
    spread = 2.0 ** np.random.default_rng(7).uniform(-1074, 1023, 999)
    x = np.concatenate([x, spread, SPECIAL_FOR_FUNCTIONS, [-1.0, -1e300]])
    with np.errstate(all="ignore"):
        outs, rights = compiled(lambda x: tuple([x**n for n in short]), x)
    for out, right in zip(outs, rights, strict=True):
        np.testing.assert_array_max_ulp(out, right, 4)
        np.testing.assert_array_equal(np.signbit(out), np.signbit(right))


def test_layouts(registers):
    """Strides, negative strides, broadcasting and copies for reshapes."""
    random = np.random.default_rng(6)
    x, row, cube = random.random((13, 17)), random.random(17), random.random((3, 4, 5))

    def f(x, row, cube):
        return (
            x + row,
            x.T + row[:, None],
            (x[::-1, ::2] * row[::2])[1:],
            (x * 2).T.reshape(17 * 13)[3:] + 1,
            np.flip(cube, (0, 2)) - np.transpose(cube, (0, 1, 2)),
            np.transpose(cube, (2, 0, 1)) * 2 + cube[:, :1, 0].sum(),
            np.concatenate([x, x[:2] * row], axis=0),
            np.stack([row, row * 2, x[3]], axis=1),
            cube[1, 2, ::-1],
            np.broadcast_to(row, (2, 17)),
            x > 0.5,
            np.where(x > 0.5, x, row),
        )

    same(*compiled(f, x, row, cube))


def test_arguments_of_any_layout():
    x = np.arange(24.0).reshape(4, 6)
    graph, _ = staged(lambda x: (x * 2, x.sum()), (x,))
    program = Program(graph, 1)
    for y in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], x[::-1][::-1]):
        for out, right in zip(program(y), graph.evaluate(x), strict=True):
            np.testing.assert_array_equal(out, right)


def test_nothing_is_contracted():
    """a * b + c is rounded twice, as NumPy does: no fused instruction is made of it."""
    x = np.random.default_rng(7).standard_normal((3, 1000))
    graph, _ = staged(lambda x: (x[0] * x[1] + x[2],), (x,))
    program = Program(graph, 3)
    assert "vfmadd" not in assembly(program.ir, 3)
    same(program(x), graph.evaluate(x))
    scalars = [np.float64(z) for z in x[:, 0]]
    graph, _ = staged(lambda a, b, c: (a * b + c,), scalars)
    assert "fmadd" not in assembly(Program(graph, 3).ir, 3)


def test_equal_kernels_are_one():
    """The same expression over the same shape is compiled once."""

    def f(x):
        for _ in range(20):
            x = np.sin(x).sum() + x
        return (x,)

    graph, _ = staged(f, (np.ones(8),))
    assert Program(graph, 0).ir.count("define internal void @kernel") <= 3


def test_width_of_registers():
    assert bits() in (128, 256, 512)


def test_no_warnings_are_made():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph, _ = staged(lambda x: (np.log(x) / x,), (np.ones(3),))
        out = Program(graph, 1)(np.zeros(3))[0]
    np.testing.assert_array_equal(out, [-np.inf] * 3)


# What comes of zeros with a sign: NumPy begins sums with 0.0, so that none is -0.0.
OF_ZEROS = {
    "sum": lambda x, axis: np.sum(x, axis=axis),
    "sum of products": lambda x, axis: np.sum(x * 2.0, axis=axis),
    "sum that is used": lambda x, axis: x * np.sum(x, axis=axis, keepdims=True),
    "sum in another width": lambda x, axis: np.sum(x.astype("f4"), axis=axis),
    "mean": lambda x, axis: np.mean(x, axis=axis),
    "average": lambda x, axis: np.average(x, axis=axis),
    "nansum": lambda x, axis: np.nansum(x, axis=axis),
    "part of a sum": lambda x, axis: np.sum(x, axis=axis, where=x < 1),
    "running sum": lambda x, axis: np.cumsum(x, axis=axis),
    "running product": lambda x, axis: np.cumprod(x, axis=axis),
    "product": lambda x, axis: np.prod(x, axis=axis),
    "largest": lambda x, axis: np.max(x, axis=axis),
    "smallest": lambda x, axis: np.min(x, axis=axis),
    "einsum": lambda x, axis: np.einsum("...i->...", x),
    "outer": lambda x, axis: np.outer(x, np.ones(2)),
    "negative": lambda x, axis: -np.sum(-x, axis=axis),
    "sum of Python's": lambda x, axis: sum(x[i] for i in range(len(x))),
}
SHAPES = [(1,), (2,), (3,), (17,), (100,), (1, 1), (2, 3), (3, 1), (1, 3), (40, 3), (300, 20)]


@pytest.mark.share(2)
@pytest.mark.parametrize("name", OF_ZEROS)
def test_signs_of_zeros_are_those_of_numpy(name):
    cases = [(name, shape, axis) for shape in SHAPES for axis in (None, 0, -1)]
    try_all(check_signs_of_zeros, [(str(case), case) for case in cases])


def check_signs_of_zeros(name, shape, axis):
    f, zeros = OF_ZEROS[name], -np.zeros(shape)
    fast = pb.compile(lambda x: f(x, axis))
    expected = np.signbit(f(zeros, axis))
    for _ in range(2):
        np.testing.assert_array_equal(np.signbit(fast(zeros)), expected)
    traced = pb.jvp(lambda x: f(x, axis), (zeros,), (zeros,))[0]
    np.testing.assert_array_equal(np.signbit(traced), expected)


def rows_to_search(dtype, n):
    """Rows with the extremes at any place, several times, beside NaN and infinities, and alone."""
    random = np.random.default_rng(n)
    x = (random.standard_normal((12, n)) * 9).astype(dtype)
    for row, places in zip(x, random.integers(0, n, (12, 3)), strict=True):
        row[places] = 100 if places[0] % 2 or np.dtype(dtype).kind == "u" else -100
    x[8] = x[8, 0]
    if np.dtype(dtype).kind == "f":
        x[9, random.integers(0, n, 2)] = np.nan
        x[10] = -np.inf
        x[11] = np.nan
    return x


LAID = {
    "rows": lambda x: x,
    "columns": lambda x: x.reshape(x.shape[::-1]).T,
    "backwards": lambda x: x[:, ::-1],
    "flat": lambda x: x[:8].reshape(-1),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_places_of_extremes_in_long_rows_are_numpys(registers, dtype):
    def places(x):
        laid = [see(x) for see in LAID.values()]
        found = [f(y, axis=-1) for y in laid for f in (np.argmax, np.argmin)]
        return [*found, np.argmax(x, axis=-1, keepdims=True)]

    for n in (128, 301):
        same(*compiled(places, rows_to_search(dtype, n)))


def test_extremes_of_elements_that_take_part_are_done_without_numpy():
    x = rows_to_search(np.float64, 300)
    for f in (np.nanmax, np.nanmin):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rows of NaN
            same(*compiled(lambda x, f=f: f(x, axis=1), x))
    there = x > 0
    f = lambda x, there: np.max(x, axis=0, initial=-1.0, where=there)
    same(*compiled(f, x[:9], there[:9]))
    graph, _ = staged(f, (x[:9], there[:9]))
    assert not Program(graph, 1).run.calls


def test_rows_and_columns_go_by_tiles(registers):
    """Each element once, whatever the lengths: with divisors for tiles, and without."""

    def f(x, y, cube):
        return (
            x.T + y,
            np.where(y == x.T, x.T, y)[:, ::-1],
            x[::-1, ::-1].T * y,
            cube.transpose(2, 0, 1) + cube[0, 0, :, None, None],
            cube.transpose(2, 1, 0) * cube.transpose(1, 2, 0),
            np.concatenate([x.T, y]),
        )

    dtypes = [np.float64, np.float32, np.complex128, np.bool_]
    for dtype, (m, n) in zip(dtypes, ((64, 96), (130, 48), (67, 71), (80, 60)), strict=True):
        random = np.random.default_rng(m)
        x, y = [(random.standard_normal(s) * 9).astype(dtype) for s in ((m, n), (n, m))]
        same(*compiled(f, x, y, (random.standard_normal((22, 24, 24)) * 9).astype(dtype)))
    assert loop_space.tiled([64, 96], [[1, 64], [96, 1]]) == [(1, 48, 2), (0, 1, 64), (1, 1, 48)]


def alike_steps():
    """Steps that are nearly alike, by what differs, and the array that they are done on."""
    x, rows = np.linspace(0.1, 1.0, 11), np.linspace(0.1, 2.0, 49).reshape(7, 7)
    count, flags = np.arange(11), np.arange(11) % 2 == 0
    number = np.float64
    return {
        "strides": ([lambda a, k=k: a[k] * 2 for k in (0, 1, np.s_[:, 3], np.s_[::-1, 0])], rows),
        "shapes": ([lambda a, k=k: a[:k, 0] * 2 for k in (7, 6, 7, 1)], rows),
        "transposed": ([lambda a: a + a.T, lambda a: a.T + a, lambda a: a + a, np.transpose], rows),
        "signs of zero": ([lambda x, c=c: x + c for c in (0.0, -0.0, number(0), number(-0.0))], x),
        "numbers": ([lambda x, c=c: x * c for c in (1, True, 1.0, 2, 2.0, np.float32(2))], x),
        "of integers": ([lambda n, c=c: n + c for c in (2, np.int8(2), np.int64(2), 2.0)], count),
        "powers": ([lambda x, c=c: x**c for c in (2, 2.0, 3, 0.5, number(2))], x),
        "axes": ([lambda a, k=k: np.sum(a, axis=k) for k in (0, 1, (0, 1), 0)], rows),
        "kinds": ([np.max, np.min, np.sum, np.prod, np.max], x),
        "dtypes": ([lambda x, d=d: np.sin(x.astype(d)) for d in ("f4", "f8", "i4", "f4")], x),
        "results": ([lambda x, d=d: x.astype(d) for d in ("f4", "i4", "i8", "?")], x),
        "order": ([lambda x: x[1:] - x[:-1], lambda x: x[:-1] - x[1:], lambda x: x - x], x),
        "which": ([lambda a: a[0] * a[1] - a[0], lambda a: a[0] * a[1] - a[1]], rows),
        "memory": ([shifted, lambda x: x[:-1] * 2.0, shifted], x),
        "wiring": ([lambda x: x * 2 - x, lambda x: x - x * 2, lambda x: x * 2 - x * 2], x),
        "operations": ([np.exp, np.expm1, np.sin, np.exp], x),
        "places": ([lambda x, k=k: x[k] * 2 for k in ([0, 2, 4], [1, 1, 9], [-1, 0, 3])], x),
        "choices": ([lambda m, c=c: np.where(m, *c) for c in ((1, 2), (2, 1), (1.0, 2))], flags),
    }


def shifted(x):
    """One that reads the array that it writes to."""
    y = x.copy()
    y[1:] = y[:-1] * 2.0
    return y


def one_after_the_other(steps):
    """The results of steps each of which waits for the last, so that each is a kernel."""

    def run(x):
        outs, t = [], np.sum(x) * 0
        for step in (*steps, *steps):
            outs.append(step(np.where(t > 9, x[::-1], x)))
            t = np.sum(outs[-1]) * 0.5
        return outs

    return run


def test_kernels_that_are_known_are_not_written_again(monkeypatch):
    """What decides the text of a kernel tells all apart that differ in it: the text is the same."""
    made, init = [], LoopKernel.__init__
    monkeypatch.setattr(LoopKernel, "__init__", lambda *xs: [made.append(1), init(*xs)][1])

    def check(steps, x):
        graph, _ = staged(one_after_the_other(steps), [x])
        with patch.object(module.KernelOperands, "key", lambda operands: None):
            anew, n = Lowered(graph).module, len(made)
        kept = Lowered(graph).module
        assert (kept.text, kept.arena_size) == (anew.text, anew.arena_size)
        assert len(made) - n < n
        made.clear()

    try_all(check, list(alike_steps().items()))

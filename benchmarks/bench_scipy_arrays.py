"""Compiled gradients through SciPy's functions of arrays, next to jax and torch; a large system.

Each row is the gradient of a sum of squares, compiled: ours, `jax.jit` and torch where they have
the function, interleaved in one process on one thread, in float64. No call has the numbers of the
one before it. Times are of the processor. The bar is 1.0 of the faster.

    python benchmarks/bench_scipy_arrays.py             every row
    python benchmarks/bench_scipy_arrays.py cdist       rows whose names contain one of these
    python benchmarks/bench_scipy_arrays.py laplacian   a 2-D Laplacian of 1e6 unknowns: the time
                                                        of `spsolve` and of its gradient; 4 GB
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import interleaved, settled, table, turning
from scipy import fft, interpolate, ndimage, signal, sparse
from scipy.cluster import vq
from scipy.sparse.linalg import bicgstab, cg, gmres, spsolve
from scipy.spatial.distance import cdist, pdist
from scipy.spatial.transform import Rotation

import pullback as pb

rng = np.random.default_rng(0)
SIGNAL, KERNEL = rng.normal(size=4096), rng.normal(size=63)
PICTURE = ndimage.gaussian_filter(rng.normal(size=(64, 64)), 1.0)
PLACES = rng.uniform(2, 60, size=(2, 4096))
POINTS, OTHERS = rng.normal(size=(200, 3)), rng.normal(size=(300, 3))
KNOTS, HEIGHTS, AT = np.arange(64.0), rng.normal(size=64), rng.uniform(0, 63, 4096)
MATRIX = sparse.random_array((4000, 4000), density=2e-3, rng=rng).tocsr()
WEIGHTS, ROWS = np.linspace(0.5, 1.5, 4096), np.arange(64.0)
ANALYTIC = np.concatenate([[1.0], np.full(2047, 2.0), [1.0], np.zeros(2047)])
COLUMNS, PAIRS = rng.normal(size=(4000, 8)), np.triu_indices(200, 1)
SOBEL = np.outer([1.0, 2.0, 1.0], [1.0, 0.0, -1.0])
DIAGONAL = 3.0 + np.linspace(0, 1, 1000)
RING = (
    sparse.diags_array(DIAGONAL) - sparse.eye_array(1000, k=1) - sparse.eye_array(1000, k=-1)
    - sparse.eye_array(1000, k=999) - sparse.eye_array(1000, k=-999)
).tocsr()  # fmt: skip
SPLINE, AFFINE = (
    interpolate.CubicSpline(KNOTS, HEIGHTS),
    np.array([[0.7013, 0.0917], [0.1031, 0.6931]]),
)
LINE = interpolate.interp1d(KNOTS, HEIGHTS)
SURFACE = interpolate.RectBivariateSpline(np.arange(64.0), np.arange(64.0), PICTURE)
TABLE = interpolate.RegularGridInterpolator((ROWS, ROWS), PICTURE)
CURVE = interpolate.make_interp_spline(KNOTS, HEIGHTS)
FILTERED = np.pad(ndimage.spline_filter(PICTURE, output=np.float64, mode="mirror"), 1, "reflect")
FILTERED_KNOTS = np.arange(-3.0, 67.0)
GRID = np.mgrid[:64, :64].astype(float)
SOLID, CUBE = rng.normal(size=(64, 64)), rng.normal(size=(5, 5))


def by_jax() -> dict[str, Callable[..., Any]]:
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = one  # which is read when jax is imported
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import jax.scipy as jsp
    from jax.experimental.sparse import BCOO
    from jax.scipy.spatial.transform import Rotation

    coo = MATRIX.tocoo()
    indices = np.stack([coo.row, coo.col], axis=1)
    matrix = lambda data: BCOO((data, indices), shape=coo.shape, indices_sorted=True)
    constant = matrix(coo.data)
    square = lambda x: jnp.sum(jnp.abs(x) ** 2)
    programs = {
        "fft": lambda x: square(jnp.fft.fft(x)),
        "rfft": lambda x: square(jnp.fft.rfft(x)),
        "convolve": lambda x: square(jnp.convolve(x, KERNEL)),
        "fftconvolve": lambda x: square(jsp.signal.fftconvolve(x, SIGNAL)),
        "convolve2d": lambda x: square(jsp.signal.convolve2d(x, CUBE)),
        "map_coordinates, picture": lambda x: square(jsp.ndimage.map_coordinates(x, PLACES, 1)),
        "map_coordinates, places": lambda x: square(jsp.ndimage.map_coordinates(PICTURE, x, 1)),
        "interp, heights": lambda x: square(jnp.interp(AT, KNOTS, x)),
        "interp, places": lambda x: square(jnp.interp(x, KNOTS, HEIGHTS)),
        "cdist": lambda x: jnp.sum(jnp.sqrt(jnp.sum((x[:, None] - OTHERS) ** 2, axis=-1))),
        "sparse, vector": lambda x: square(constant @ x),
        "sparse, numbers": lambda x: square(matrix(x) @ SIGNAL[:4000]),
        "fft2": lambda x: square(jnp.fft.fft2(x)),
        "dct": lambda x: square(jsp.fft.dct(x) * WEIGHTS),
        "lfilter": lambda x: square(recursion(jax, jnp, x)),
        "gaussian blur": lambda x: square(blurred(jnp, x) - PICTURE),
        "correlate2d": lambda x: square(jsp.signal.correlate2d(x, CUBE, mode="same")),
        "welch": lambda x: square(jsp.signal.welch(x, nperseg=256)[1]),
        "stft": lambda x: square(jsp.signal.stft(x, nperseg=256)[2] * WEIGHTS[:129, None]),
        "detrend": lambda x: square(jsp.signal.detrend(x) ** 2),
        "kernel": lambda x: jnp.sum(jnp.exp(-jnp.sum((x[:, None] - OTHERS) ** 2, axis=-1))),
        "kmeans": lambda x: jnp.mean(jnp.min(jnp.sum((x - OTHERS[:, None]) ** 2, -1), 1)),
        "table": lambda x: square(
            jsp.interpolate.RegularGridInterpolator((ROWS, ROWS), x)(PLACES.T)
        ),
        "hilbert": lambda x: (
            square(jsp.signal.hilbert(x) ** 2)
            if hasattr(jsp.signal, "hilbert")
            else square(jnp.fft.ifft(jnp.fft.fft(x) * ANALYTIC) ** 2)
        ),
        "fftconvolve, image": lambda x: square(jsp.signal.fftconvolve(x, SOLID, mode="same")),
        "upfirdn": lambda x: square(resampled(jax, x)),
        "csr @ dense": lambda x: square(constant @ x),
        "sobel": lambda x: square(
            jsp.signal.convolve2d(jnp.pad(x, 1, mode="symmetric"), SOBEL, "valid")
        ),
        "laplace": lambda x: square(differences(jnp.pad(x, 1, mode="symmetric"))),
        "pdist": lambda x: jnp.sum(jnp.sqrt(jnp.sum((x[PAIRS[0]] - x[PAIRS[1]]) ** 2, axis=-1))),
        "rotated cloud": lambda x: square(Rotation.from_rotvec(x).apply(OTHERS) - OTHERS),
        "map_coordinates, cubic": lambda x: square(
            on_surface(jnp, FILTERED, FILTERED_KNOTS, x[0], x[1])
        ),
        "affine_transform": lambda x: square(
            jsp.ndimage.map_coordinates(PICTURE, jnp.tensordot(x, GRID, 1) + 5.003, 1)
        ),
        "shift": lambda x: square(
            jsp.ndimage.map_coordinates(PICTURE, GRID - x[:, None, None], 1, "nearest")
        ),
        "rotate": lambda x: square(
            jsp.ndimage.map_coordinates(PICTURE, turned(jnp, x), 1, "nearest")
        ),
        "zoom": lambda x: square(jsp.ndimage.map_coordinates(x, np.mgrid[:96, :96] * (63 / 95), 1)),
        "table, places": lambda x: square(
            jsp.interpolate.RegularGridInterpolator((ROWS, ROWS), PICTURE)(x)
        ),
        "interp1d, places": lambda x: square(jnp.interp(x, KNOTS, HEIGHTS)),
        "CubicSpline, places": lambda x: square(on_pieces(jnp, SPLINE.c, KNOTS, x)),
        "BSpline, places": lambda x: square(on_spline(jnp, CURVE.t, CURVE.c, x)),
        "RectBivariateSpline, places": lambda x: square(
            on_surface(jnp, SURFACE.tck[2].reshape(64, 64), SURFACE.tck[0], x[0], x[1])
        ),
        **{
            name: lambda x, name=name: square(
                getattr(jsp.sparse.linalg, name)(
                    lambda v: DIAGONAL * v - jnp.roll(v, 1) - jnp.roll(v, -1), x, tol=1e-10
                )[0]
            )
            for name in ("cg", "bicgstab", "gmres")
        },
    }
    return {name: jax.jit(jax.grad(f)) for name, f in programs.items()}


def resampled(jax: Any, x: Any) -> Any:
    """`upfirdn` as a convolution that leaves steps out on both sides."""
    out = jax.lax.conv_general_dilated(
        x[None, None], KERNEL[None, None, ::-1], (2,), [(62, 62)], lhs_dilation=(3,)
    )
    return out[0, 0]


def recursion(jax: Any, jnp: Any, x: Any) -> Any:
    """`lfilter` as jax has it: one sample after another."""

    def step(state: Any, sample: Any) -> Any:
        first, second, before = state
        out = sample + 0.4 * before + 0.5 * first - 0.2 * second
        return (out, first, sample), out

    return jax.lax.scan(step, (0.0, 0.0, 0.0), x)[1]


def blurred(jnp: Any, x: Any) -> Any:
    """`gaussian_filter` as two convolutions of a reflected picture."""
    width = np.exp(-0.5 * np.arange(-4, 5) ** 2)
    rows = jnp.asarray(width / width.sum())
    for _ in range(2):
        wide = jnp.pad(x, ((4, 4), (0, 0)), mode="symmetric")
        x = sum(rows[k] * wide[k : k + x.shape[0]] for k in range(9)).T
    return x


def turned(jnp: Any, angle: Any) -> Any:
    """The places that `rotate` reads without changing the shape."""
    c, s = jnp.cos(jnp.deg2rad(angle)), jnp.sin(jnp.deg2rad(angle))
    matrix, middle = jnp.stack([jnp.stack([c, s]), jnp.stack([-s, c])]), np.full(2, 31.5)
    return jnp.tensordot(matrix, GRID, 1) + (middle - matrix @ middle)[:, None, None]


def on_pieces(jnp: Any, c: Any, knots: Any, x: Any) -> Any:
    """A piecewise polynomial."""
    c, knots = jnp.asarray(c), jnp.asarray(knots)
    i = jnp.clip(jnp.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    t, out = x - knots[i], 0.0
    for k in range(len(c)):
        out = out * t + c[k, i]
    return out


def cubics(jnp: Any, t: Any, x: Any) -> tuple[Any, list[Any]]:
    """The first of the four cubic splines that reach to x, and their values there."""
    t = jnp.asarray(t)
    i = jnp.clip(jnp.searchsorted(t, x, side="right") - 1, 3, len(t) - 5)
    out = [jnp.ones_like(x)]
    for k in range(1, 4):
        new = [0.0] * (k + 1)
        for j in range(k):
            low, high = t[i - k + 1 + j], t[i + 1 + j]
            part = out[j] / (high - low)
            new[j] = new[j] + part * (high - x)
            new[j + 1] = new[j + 1] + part * (x - low)
        out = new
    return i - 3, out


def on_spline(jnp: Any, t: Any, c: Any, x: Any) -> Any:
    c = jnp.asarray(c)
    first, values = cubics(jnp, t, x)
    return sum(value * c[first + k] for k, value in enumerate(values))


def on_surface(jnp: Any, c: Any, t: Any, x: Any, y: Any) -> Any:
    c = jnp.asarray(c)
    (i, across), (j, along) = cubics(jnp, t, x), cubics(jnp, t, y)
    return sum(a * b * c[i + k, j + m] for k, a in enumerate(across) for m, b in enumerate(along))


def differences(x: Any) -> Any:
    """The second differences of a picture along both axes, without its edge."""
    inner = x[1:-1, 1:-1]
    return x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * inner


def by_torch() -> dict[str, Callable[..., Any]]:
    import torch

    torch.set_num_threads(1)
    tensor = torch.tensor
    kernel = tensor(KERNEL[::-1].copy())[None, None]
    cube = tensor(CUBE[::-1, ::-1].copy())[None, None]
    others = tensor(OTHERS)
    csr = torch.sparse_csr_tensor(
        tensor(MATRIX.indptr), tensor(MATRIX.indices), tensor(MATRIX.data), MATRIX.shape
    )
    sobel = tensor(SOBEL[::-1, ::-1].copy())[None, None]
    square = lambda x: torch.sum(torch.abs(x) ** 2)
    conv = torch.nn.functional.conv1d
    conv2 = torch.nn.functional.conv2d
    programs = {
        "fft": lambda x: square(torch.fft.fft(x)),
        "rfft": lambda x: square(torch.fft.rfft(x)),
        "convolve": lambda x: square(conv(x[None, None], kernel, padding=62)),
        "convolve2d": lambda x: square(conv2(x[None, None], cube, padding=4)),
        "cdist": lambda x: torch.sum(torch.cdist(x, others)),
        "sparse, vector": lambda x: square(csr @ x),
        "fft2": lambda x: square(torch.fft.fft2(x)),
        "correlate2d": lambda x: square(conv2(x[None, None], tensor(CUBE)[None, None], padding=2)),
        "kernel": lambda x: torch.sum(torch.exp(-torch.sum((x[:, None] - others) ** 2, dim=-1))),
        "csr @ dense": lambda x: square(csr @ x),
        "sobel": lambda x: square(
            conv2(torch.nn.functional.pad(x[None, None], (1, 1, 1, 1), mode="replicate"), sobel)
        ),
        "pdist": lambda x: torch.sum(torch.nn.functional.pdist(x)),
        "kmeans": lambda x: torch.mean(torch.min(torch.sum((x - others[:, None]) ** 2, -1), 1)[0]),
    }

    def gradient(f: Any) -> Any:
        def call(x: Any) -> Any:
            t = torch.tensor(x, requires_grad=True)
            f(t).backward()
            return t.grad

        return call

    return {name: gradient(f) for name, f in programs.items()}


def square(x: Any) -> Any:
    return np.sum(np.abs(x) ** 2)


def with_numbers(data: Any) -> Any:
    return sparse.csr_array((data, MATRIX.indices, MATRIX.indptr), shape=MATRIX.shape)


# fmt: off
OURS: dict[str, tuple[Callable[..., Any], Any]] = {
    "fft": (lambda x: square(fft.fft(x)), SIGNAL),
    "rfft": (lambda x: square(fft.rfft(x)), SIGNAL),
    "convolve": (lambda x: square(signal.convolve(x, KERNEL)), SIGNAL),
    "fftconvolve": (lambda x: square(signal.fftconvolve(x, SIGNAL)), SIGNAL),
    "convolve2d": (lambda x: square(signal.convolve2d(x, CUBE)), SOLID),
    "map_coordinates, picture":
        (lambda x: square(ndimage.map_coordinates(x, PLACES, order=1)), PICTURE),
    "map_coordinates, places":
        (lambda x: square(ndimage.map_coordinates(PICTURE, x, order=1)), PLACES),
    "interp, heights": (lambda x: square(np.interp(AT, KNOTS, x)), HEIGHTS),
    "interp, places": (lambda x: square(np.interp(x, KNOTS, HEIGHTS)), AT),
    "cdist": (lambda x: np.sum(cdist(x, OTHERS)), POINTS),
    "sparse, vector": (lambda x: square(MATRIX @ x), SIGNAL[:4000]),
    "sparse, numbers": (lambda x: square(with_numbers(x) @ SIGNAL[:4000]), 1.0 * MATRIX.data),
    "fft2": (lambda x: square(fft.fft2(x)), SOLID),
    "dct": (lambda x: square(fft.dct(x) * WEIGHTS), SIGNAL),
    "lfilter": (lambda x: square(signal.lfilter([1.0, 0.4], [1.0, -0.5, 0.2], x)), SIGNAL),
    "gaussian blur": (lambda x: square(ndimage.gaussian_filter(x, 1.0) - PICTURE), SOLID),
    "correlate2d": (lambda x: square(signal.correlate2d(x, CUBE, mode="same")), SOLID),
    "welch": (lambda x: square(signal.welch(x, nperseg=256)[1]), SIGNAL),
    "stft": (lambda x: square(signal.stft(x, nperseg=256)[2] * WEIGHTS[:129, None]), SIGNAL),
    "detrend": (lambda x: square(signal.detrend(x) ** 2), SIGNAL),
    "kernel": (lambda x: np.sum(np.exp(-cdist(x, OTHERS, "sqeuclidean"))), POINTS),
    "kmeans": (lambda x: np.mean(vq.vq(OTHERS, x)[1] ** 2), POINTS[:20]),
    "table": (
        lambda x: square(interpolate.RegularGridInterpolator((ROWS, ROWS), x)(PLACES.T)), PICTURE
    ),
    "hilbert": (lambda x: square(signal.hilbert(x) ** 2), SIGNAL),
    "fftconvolve, image": (lambda x: square(signal.fftconvolve(x, SOLID, mode="same")), SOLID),
    "upfirdn": (lambda x: square(signal.upfirdn(KERNEL, x, up=3, down=2)), SIGNAL),
    "csr @ dense": (lambda x: square(MATRIX @ x), COLUMNS),
    "sobel": (lambda x: square(ndimage.sobel(x)), SOLID),
    "laplace": (lambda x: square(ndimage.laplace(x)), SOLID),
    "pdist": (lambda x: np.sum(pdist(x)), POINTS),
    "rotated cloud": (
        lambda x: square(Rotation.from_rotvec(x).apply(OTHERS) - OTHERS),
        np.array([0.1, 0.2, 0.3]),
    ),
    "cg": (lambda x: square(cg(RING, x, rtol=1e-10)[0]), SIGNAL[:1000]),
    "bicgstab": (lambda x: square(bicgstab(RING, x, rtol=1e-10)[0]), SIGNAL[:1000]),
    "gmres": (lambda x: square(gmres(RING, x, rtol=1e-10)[0]), SIGNAL[:1000]),
    "map_coordinates, cubic": (lambda x: square(ndimage.map_coordinates(PICTURE, x)), PLACES),
    "affine_transform":
        (lambda x: square(ndimage.affine_transform(PICTURE, x, 5.003, order=1)), AFFINE),
    "shift": (
        lambda x: square(ndimage.shift(PICTURE, x, order=1, mode="nearest")), np.array([2.3, -1.6])
    ),
    "rotate": (
        lambda x: square(ndimage.rotate(PICTURE, x, reshape=False, order=1, mode="nearest")),
        np.float64(25.0),
    ),
    "zoom": (lambda x: square(ndimage.zoom(x, 1.5, order=1)), PICTURE),
    "table, places": (lambda x: square(TABLE(x)), PLACES.T.copy()),
    "interp1d, places": (lambda x: square(LINE(x)), 0.5 + 0.95 * AT),
    "CubicSpline, places": (lambda x: square(SPLINE(x)), AT),
    "BSpline, places": (lambda x: square(CURVE(x)), AT),
    "RectBivariateSpline, places": (lambda x: square(SURFACE.ev(x[0], x[1])), PLACES),
    # Neither of the others has these; the ratio is that to the value by SciPy.
    "sosfilt": (lambda x: square(signal.sosfilt(signal.butter(4, 0.2, output="sos"), x)), SIGNAL),
    "CubicSpline": (lambda x: square(interpolate.CubicSpline(KNOTS, x)(AT)), HEIGHTS),
}
# fmt: on


def rows(only: list[str]) -> list[list[str]]:
    """Times of one gradient in microseconds, and the ratio to the faster of the others."""
    jax, torch = by_jax(), by_torch()
    out = [["gradient", "value", "ours", "jax", "torch", "ratio"]]
    chosen = [name for name in OURS if not only or any(part in name for part in only)]
    # Recorded before jax runs: it waits for the end of each array that it reads, and a function
    # that reads such an array isn't recorded.
    recorded = {name: pb.compile(pb.grad(OURS[name][0])) for name in chosen}
    for name, fast in recorded.items():
        settled(fast, OURS[name][1])
    for name, fast in recorded.items():
        f, x = OURS[name]
        calls = {"value": turning(f, x), "ours": turning(fast, x)}
        for library, their in (("jax", jax), ("torch", torch)):
            if name in their:
                np.testing.assert_allclose(
                    np.asarray(their[name](x)), fast(x), rtol=1e-6, atol=1e-8
                )
                calls[library] = turning(lambda x, g=their[name]: np.asarray(g(x)), x)
        for _ in range(100):  # solvers inside become machine code after some calls, too
            calls["ours"]()
            time.sleep(0.01)
        found = interleaved(calls, 31, time.process_time)
        best = min([found[k] for k in ("jax", "torch") if k in found], default=None)
        cells = [f"{1e6 * found[k]:.0f}" if k in found else "" for k in out[0][1:5]]
        ratio = found["ours"] / (best or found["value"])
        out.append([name, *cells, f"{ratio:.2f}" if best else f"{ratio:.2f} of value"])
        print(out[-1], flush=True)
    return out


def laplacian(n: int = 1000) -> None:
    """The gradient of a solution by the numbers of the matrix and by the right-hand side."""
    line = sparse.diags_array(
        [-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]
    )
    one = sparse.eye_array(n)
    matrix = (sparse.kron(line, one) + sparse.kron(one, line)).tocsc()
    b = np.sin(np.arange(n * n))

    def energy(data: Any, b: Any) -> Any:
        made = sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
        return np.sum(spsolve(made, b) ** 2)

    begin = time.process_time()
    value = energy(matrix.data, b)
    solve = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    begin = time.process_time()
    gradients = pb.grad(energy, argnums=(0, 1))(matrix.data, b)
    gradient = time.process_time() - begin
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    t = 1e-6
    dot = np.cos(np.arange(n * n))
    change = (energy(matrix.data, b + t * dot) - energy(matrix.data, b - t * dot)) / (2 * t)
    print(f"{n * n} unknowns, value {value:.6g}: solve {solve:.1f} s, gradient {gradient:.1f} s,")
    print(f"ratio {gradient / solve:.2f}; peak {peak:.1f} GB for the solve, {more:.1f} GB after;")
    print(f"by b along a line {gradients[1] @ dot:.8g}, differences {change:.8g}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["laplacian"]:
        laplacian(*map(int, sys.argv[2:]))
    else:
        print(table(rows(sys.argv[1:])))

# ruff: noqa: E501  # one program a line
"""What other libraries have no rule for, or in one mode only: a gradient in both, and right."""

import numpy as np
import pytest

import pullback as pb
from pullback.testing import Sample, check_forward, check_reverse, check_second

random = np.random.default_rng(41)
X = random.permutation(12).reshape(3, 4) / 4 + random.uniform(0, 0.1, (3, 4)) - 1
V = X[0]
SQUARE = X[:, :3] + 2 * np.eye(3)
GRID = np.array([-1.0, 0.0, 1.0, 2.0])

PROGRAMS = {
    "flip": lambda x: np.flip(x, 1) * x,
    "take": lambda x: np.take(x, [2, 0, 2], axis=1),
    "cumprod": lambda x: np.cumprod(x, axis=0),
    "median": lambda x: np.median(x, axis=1),
    "quantile": lambda x: np.quantile(x, [0.2, 0.7], axis=0),
    "percentile": lambda x: np.percentile(x, 30, method="hazen"),
    "interp": lambda x: np.interp(x, GRID, [0.5, 2.0, -1.0, 0.0]),
    "interp values": lambda x: np.interp(0.3, GRID, x[0]),
    "convolve": lambda x: np.convolve(x[0], x[1], "same"),
    "correlate": lambda x: np.correlate(x[0], x[1, :2]),
    "meshgrid": lambda x: np.multiply(*np.meshgrid(x[0], x[1])),
    "average": lambda x: np.average(x, axis=0, weights=np.exp(x[:, 0])),
    "nansum": lambda x: np.nansum(np.where(x > 0, x**2, np.nan), axis=0),
    "nanmean": lambda x: np.nanmean(np.where(x > 0.5, np.nan, x**2)),
    "nanmedian": lambda x: np.nanmedian(np.where(x > 1.5, np.nan, x), axis=0),
    "ptp": lambda x: np.ptp(x, axis=1),
    "vdot": lambda x: np.vdot(x, np.sin(x)),
    "cov": lambda x: np.cov(x),
    "corrcoef": lambda x: np.corrcoef(x),
    "trapezoid": lambda x: np.trapezoid(x, np.cumsum(np.exp(x), axis=1)),
    "cbrt": lambda x: np.cbrt(x),
    "unwrap": lambda x: np.unwrap(4 * x) * x,
    "gradient": lambda x: np.gradient(x, 0.5, axis=1),
    "polyfit": lambda x: np.polyfit(x[0], x[1], 1),
    "polyval": lambda x: np.polyval(x[0], x[1]),
    "vander": lambda x: np.vander(x[0], 3),
    "histogram(weights)": lambda x: np.histogram(GRID, 2, weights=x[0])[0] * x[0, :2],
    "bincount(weights)": lambda x: np.bincount([0, 2, 0, 1], x[0] ** 2),
    "digitize": lambda x: np.digitize(x, GRID) * x,
    "searchsorted": lambda x: x * np.searchsorted(GRID, x),
    "insert": lambda x: np.insert(x, [1, 2], x[:, :2], axis=1),
    "delete": lambda x: np.delete(x**2, 1, axis=0),
    "append": lambda x: np.append(x, x[:1] ** 2, axis=0),
    "resize": lambda x: np.resize(x, (3, 5)) ** 2,
    "block": lambda x: np.block([[x, x**2], [x**3, 1 / (2 + x)]]),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row * row[0], 1, x),
    "apply_over_axes": lambda x: np.apply_over_axes(np.prod, x, [0, 1]),
    "piecewise": lambda x: np.piecewise(x, [x < 0], [np.exp, lambda x: x**3]),
    "choose": lambda x: np.choose([0, 2, 1, 0], x) ** 2,
    "compress": lambda x: np.compress([True, False, True], x, axis=0) ** 2,
    "extract": lambda x: np.extract(x > 0, x) ** 2,
    "lexsort": lambda x: x[0][np.lexsort((x[0], x[1]))] ** 2,
    "unique": lambda x: np.unique(x) ** 2,
    "einsum(repeated indices)": lambda x: np.einsum("ii,ij->j", x[:, :3], x[:, :3]),
    "qr": lambda x: np.linalg.qr(x.T),
    "qr complete": lambda x: np.linalg.qr(x[:, :3], mode="complete").R,
    "lstsq": lambda x: np.linalg.lstsq(x.T, np.sin(x[0]), rcond=None)[0],
    "matrix_power": lambda x: np.linalg.matrix_power(x[:, :3], 3),
    "pinv": lambda x: np.linalg.pinv(x),
    "svd": lambda x: np.linalg.svd(x, full_matrices=False).S,
    "svd(full_matrices)": lambda x: np.abs(np.linalg.svd(x, full_matrices=True).Vh[:3]),
    "eig": lambda x: np.abs(np.linalg.eig(SQUARE + 0.1 * x[:, :3]).eigenvectors),
    "eigvals": lambda x: np.linalg.eigvals(SQUARE + 0.1 * x[:, :3]),
    "eigvalsh": lambda x: np.linalg.eigvalsh(x @ x.T),
    "svdvals": lambda x: np.linalg.svdvals(x),
    "multi_dot": lambda x: np.linalg.multi_dot([x, x.T, x]),
    "tensorsolve": lambda x: np.linalg.tensorsolve(np.eye(4).reshape(2, 2, 4) + 0.1 * x[0], x[1].reshape(2, 2)),
    "tensorinv": lambda x: np.linalg.tensorinv(np.reshape(3 * np.eye(4) + x[0], (2, 2, 4))),
    "cond": lambda x: np.linalg.cond(x),
    "slogdet": lambda x: np.linalg.slogdet(x[:, :3]).logabsdet,
    "matrix_rank": lambda x: np.linalg.matrix_rank(x) * x,
}  # fmt: skip

MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"]  # fmt: skip
PROGRAMS |= {
    f"pad({mode})": lambda x, mode=mode: np.pad(x, ((1, 2), (2, 1)), mode) ** 2 for mode in MODES
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_modes_and_second_order(name):
    """By central differences, by each other, and at second order."""
    sample = Sample(PROGRAMS[name], X, name=name)
    check_forward(sample)
    check_reverse(sample)
    check_second(sample)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_is_not_zero(name):
    def total(x):
        out = PROGRAMS[name](x)
        parts = out if isinstance(out, (tuple, list)) else [out]
        return sum([np.sum(np.real(part) ** 2) for part in parts])

    gradient = pb.grad(total)(X)
    assert gradient.shape == X.shape
    assert np.any(gradient)

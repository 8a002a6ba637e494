"""Values under a derivative are NumPy's to the last bit, in every inexact dtype."""

import numpy as np
import pytest

import pullback as pb

FUNCTIONS = {
    "mean": np.mean,
    "mean of rows": lambda x: np.mean(x, axis=1),
    "method mean": lambda x: x.mean(axis=0, keepdims=True),
    "nanmean": lambda x: np.nanmean(x, axis=0),
    "average": lambda x: np.average(x, axis=0, weights=np.arange(1.0, len(x) + 1)),
    "var": lambda x: np.var(x, axis=0),
    "std": lambda x: np.std(x, ddof=1),
    "sum": lambda x: np.sum(x, axis=0),
    "prod": np.prod,
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "trapezoid": lambda x: np.trapezoid(x, dx=0.1),
    "gradient": lambda x: np.gradient(x, 0.1, axis=1),
    "power": lambda x: x**2.5,
    "divided": lambda x: x / 3,
    "cov": np.cov,
    "polyval": lambda x: np.polyval(x[0], x[1]),
    "einsum": lambda x: np.einsum("ij,ij->i", x, x),
    "linspace": lambda x: np.linspace(x[0], x[1], 4),
    "norm": np.linalg.norm,
    "norm of another layout": lambda x: np.linalg.norm(x.T),
    "norm along the only axis": lambda x: np.linalg.norm(x[0], axis=0),
    "norm of rows": lambda x: np.linalg.norm(x, axis=1, keepdims=True),
    "norm over two axes": lambda x: np.linalg.norm(x, axis=(0, 1)),
    "matrix_norm": np.linalg.matrix_norm,
    "vector_norm": np.linalg.vector_norm,
    "median": lambda x: np.median(x, axis=0),
    "quantile": lambda x: np.quantile(x, 0.3),
    "quantile of rows": lambda x: np.quantile(x, 0.3, axis=1),
    "quantiles": lambda x: np.quantile(x, [0.2, 0.7], axis=0),
    "quantile of a number in single precision": lambda x: np.quantile(x, np.float32(0.3)),
    "hazen": lambda x: np.quantile(x, 0.3, axis=0, method="hazen"),
    "percentile": lambda x: np.percentile(x, 33.3, axis=1),
    "nanquantile": lambda x: np.nanquantile(x, 0.7),
    "nanpercentile": lambda x: np.nanpercentile(x, 40, axis=1),
}
DTYPES = [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_are_numpys(dtype):
    rng, wrong, asked = np.random.default_rng(8), [], 0
    for _ in range(25):
        shape = rng.integers(2, 6), rng.integers(3, 8)
        x = rng.uniform(0.1, 0.9, shape)
        if np.dtype(dtype).kind == "c":
            x = x + 1j * rng.uniform(0.1, 0.9, shape)
        x = x.astype(dtype)
        for name, f in FUNCTIONS.items():
            try:
                expected = f(x)
            except TypeError:  # complex numbers have no order
                continue
            found, asked = pb.vjp(f, x)[0], asked + 1
            if found.dtype != expected.dtype or not np.array_equal(found, expected):
                wrong.append((name, shape))
    assert not wrong
    assert asked > 300

"""Filters of real arrays by complex transforms: which are done by real ones, with which values."""

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.graph.optimise import folded, functional
from pullback.compiler.graph.real_spectra import with_real_spectra
from pullback.testing import staged

F = np.fft
RANDOM = np.random.default_rng(5)


def both(f, *xs):
    """What a graph gives, what it gives after the pass, and the names of its operations then."""
    graph, _ = staged(f, xs)
    halved = with_real_spectra(folded(functional(graph)).pruned())
    names = [e.primitive.name for e in halved.equations]
    return graph.evaluate(*xs), halved.evaluate(*xs), names


def burgers(k):
    def run(u):
        for _ in range(2):
            u = u + 0.1 * (F.ifft(k * k * F.fft(u)).real - u * F.ifft(k * F.fft(u)).real)
        return np.sum(u**2)

    return run


def diffused(k):
    def run(u, _):
        f = F.fft(u)
        for _ in range(50):  # each is read twice
            f = f - 0.01 * (k * k * f)
        return F.ifft(f).real

    return run


def halved(n, k):
    """Programs of which each transform is halved."""
    one = {
        "product": lambda x, y: F.ifft(F.fft(x) * F.fft(y)).real,
        "mask": lambda x, y: F.ifft(F.fft(x) * (np.abs(k) < 0.2)).real,
        "derivative": lambda x, y: F.ifft(2j * np.pi * k * F.fft(x)).real,
        "second derivative": lambda x, y: F.ifft((1j * k) ** 2 * F.fft(x) - F.fft(y)).real,
        "quotient": lambda x, y: F.ifft(F.fft(x) / (F.fft(y) + 9.0)).real,
        "choice": lambda x, y: F.ifft(np.where(np.abs(k) < 0.2, F.fft(x), 0)).real,
        "correlation": lambda x, y: F.ifft(F.fft(x) * np.conj(F.fft(y))).real,
        "forward": lambda x, y: F.fft(-F.ifft(x) * np.abs(k)).real,
        "norms": lambda x, y: F.ifft(F.fft(x, norm="ortho"), norm="forward").real,
        "rows": lambda x, y: F.ifft(F.fft(np.outer(y, x)) * y[:, None]).real,
        "columns": lambda x, y: F.ifft(F.fft(np.outer(x, y), axis=0) * 2.0, axis=0).real,
        "two ends": lambda x, y: (
            F.ifft((f := F.fft(x)) * k * k).real + F.ifft(f / (1 + k * k)).real
        ),
        "one after the other": lambda x, y: F.fft(F.fft(F.fft(x)).real).real,
        "gradient": pb.grad(lambda x, y: np.sum(np.sin(F.ifft(F.fft(x) * F.fft(y)).real)), (0, 1)),
        "of unsigned integers": lambda x, y: (
            F.ifft(F.fft(x) * (np.abs(k) < 0.2).astype(np.uint8)).real
        ),
        "steps of the spectrum": diffused(k),
        "in steps": lambda x, y: burgers(1j * k)(x),
        "gradient of steps": lambda x, y: pb.grad(burgers(1j * k))(x),
    }
    bell = np.exp(-5 * (k[:, None] ** 2 + k**2))
    two = {
        "two axes": lambda a, b: F.ifft2(F.fft2(a) * bell).real,
        "in another order": lambda a, b: F.ifft2(F.fft2(a, axes=(1, 0)) * bell, axes=(1, 0)).real,
        "product of two axes": lambda a, b: F.fft2(F.ifft2(a) * F.fft2(b)).real,
        "gradient of two axes": pb.grad(lambda a, b: np.sum(F.ifft2(F.fft2(a) * bell).real ** 3)),
        "a stack": lambda a, b: F.ifft2(F.fft2(np.stack([a, b])) * bell).real,
    }
    x, y = RANDOM.standard_normal((2, n))
    a, b = RANDOM.standard_normal((2, n, n))
    yield from [(name, f, (x, y)) for name, f in one.items()]
    yield from [(name, f, (a, b)) for name, f in two.items()]
    narrow = x.astype(np.float32), y.astype(np.float32)
    yield "narrow", one["product"], narrow


@pytest.mark.parametrize("n", [9, 10, 16])
def test_real_parts_of_filtered_spectra_are_computed_from_halves(n):
    for name, f, xs in halved(n, F.fftfreq(n)):
        expected, outs, names = both(f, *xs)
        whole = "two axes" in name or name in ("in another order", "a stack", "one after the other")
        assert "irfft" in names, name
        assert ("fft" in names) == whole, name  # along the other axis
        for out, right in zip(outs, expected, strict=True):
            assert (out.dtype, out.shape) == (right.dtype, right.shape), name
            tolerance = 1e-4 if right.dtype == np.float32 else 1e-12
            scale = np.abs(right).max()
            np.testing.assert_allclose(
                out, right, rtol=tolerance, atol=tolerance * scale, err_msg=name
            )


def test_everything_else_stays():
    n = 16
    k, x = F.fftfreq(n), RANDOM.standard_normal(n)
    a, bell = np.outer(x, x), np.exp(-(F.fftfreq(n) ** 2))
    even = np.where(np.abs(k) > 0.2, 64, 0).astype(np.int8)  # 64 + 64 is more than an int8 holds
    cases = (
        (lambda x: F.ifft((k > 0) * F.fft(x)).real, x),  # one side
        (lambda x: F.ifft((1 + 1j) * F.fft(x)).real, x),
        (lambda x: F.ifft(F.fft(x) * even * 1j).real, x),
        (lambda x: F.ifft(F.fft(x) * x).real, x),
        (lambda x: F.ifft(F.fft(x) * np.abs(k)).imag, x),
        (lambda x: F.ifft(F.fft(x) * np.abs(k)), x),
        (lambda x: (F.ifft((f := F.fft(x)) * np.abs(k)).real, np.abs(f)), x),  # it is read whole
        (lambda x: F.ifft(F.fft(x + 1j) * np.abs(k)).real, x),
        (lambda a: F.ifft(F.fft2(a) * bell).real, a),  # other axes
        (lambda a: F.ifft2(F.fft2(a, axes=(1, 0)) * bell).real, a),
        (lambda a: F.ifft2(F.fft2(a) * (k[:, None] + k > 0)).real, a),
        (lambda x: F.ifft(F.fft(x) * k).real, x),
        (lambda x: F.ifft(F.fft(x) + 1j * F.fft(x)).real, x),
        (lambda x: F.ifft(np.where(k < 0.2, F.fft(x), 0)).real, x),
    )
    for f, y in cases:
        expected, outs, names = both(f, y)
        assert "rfft" not in names
        for out, right in zip(outs, expected, strict=True):
            np.testing.assert_array_equal(out, right)


def test_what_is_not_finite_stays_so():
    f = lambda x: F.ifft(F.fft(x) * np.abs(F.fftfreq(16))).real
    for bad in (np.nan, np.inf):
        x = RANDOM.standard_normal(16)
        x[3] = bad
        with np.errstate(all="ignore"):
            (expected,), (out,), _ = both(f, x)
        assert np.isnan(expected).all() == np.isnan(out).all()

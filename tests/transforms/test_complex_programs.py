"""Random programs of complex vectors, with real parts, conjugates and moduli among their steps.

Value, both modes, gradient of a real loss, batch and second order agree with the plain program, its
differences and each other; compiled programs give its values.
"""

import random
import warnings

import numpy as np
import pytest
from scipy import linalg, special

import pullback as pb
from tests.budgets import LONG

MATRIX = np.array([[1 + 1j, 0.2, 0], [0, 2, 0.3j], [0.1, 0, 1]])


def assigned(z):
    a = np.zeros(3, complex)
    a[0] = z[1]
    a.real[1] = z[0].imag
    a.imag[2] = z[2].real
    a[1:] += z[:2]
    return a


STEPS = {
    "exp": lambda z: np.exp(0.3 * z), "sin": np.sin, "sqrt": lambda z: np.sqrt(z + 3),
    "log": lambda z: np.log(z + 4), "conj": np.conj, "real": lambda z: np.real(z) + 0j,
    "imag": lambda z: np.imag(z) + 0j, "abs": lambda z: np.abs(z) + 0j,
    "square": lambda z: z * np.conj(z), "angle": lambda z: np.angle(z + 3) + 0j,
    "fft": np.fft.fft, "ifft": np.fft.ifft, "reversed": lambda z: z[::-1], "cumsum": np.cumsum,
    "cumprod": np.cumprod, "power": lambda z: (z + 3) ** 1.5,
    "complex power": lambda z: (z + 3) ** (0.3 + 0.2j), "matmul": lambda z: MATRIX @ z,
    "solve": lambda z: np.linalg.solve(np.diag(z + 4) + 0.3j * np.ones((3, 3)), z),
    "where": lambda z: np.where(z.real > 0, z * 2, np.conj(z)),
    "outer": lambda z: np.outer(z, np.conj(z)).sum(0), "vdot": lambda z: np.vdot(z, z * 1j + 1) * z,
    "tan": lambda z: np.tan(0.3 * z), "arctan": lambda z: np.arctan(0.3 * z),
    "parts": lambda z: np.array([z[0].real + 1j * z[1].imag, z[2] * z[0], z[1].conjugate()]),
    "view": lambda z: (np.ascontiguousarray(z).view(float) * 2).view(complex),
    "assigned": assigned,
    "norm": lambda z: np.linalg.norm(z) * z, "prod": lambda z: np.prod(z + 2) * z,
    "mean": lambda z: z - np.mean(z), "einsum": lambda z: np.einsum("i,j->i", z, np.conj(z)),
    "erf": lambda z: special.erf(0.2 * z), "gamma": lambda z: special.gamma(z * 0.1 + 2),
    "expm": lambda z: linalg.expm(np.diag(0.2 * z) + 0.1j) @ z,
    "polyval": lambda z: np.polyval([1j, 2, 0.5], z), "sign": lambda z: z / np.abs(z),
    "divide": lambda z: (z + 1j) / (np.conj(z) + 3),
    "convolve": lambda z: np.convolve(z, [1j, 0.5], "same"),
    "hypot": lambda z: np.hypot(z.real, z.imag + 1) + 1j * z.real,
}  # fmt: skip


def program(seed):
    """The names of its steps, the program, and a point, a direction and a weight."""
    names = random.Random(seed).choices(sorted(STEPS), k=1 + seed % 4)

    def f(z):
        for name in names:
            z = STEPS[name](z)
        return z

    rng = np.random.default_rng(seed)
    return names, f, *[rng.normal(size=3) + 1j * rng.normal(size=3) for _ in range(3)]


def slope(f, z, z_dot):
    """By central differences of two sizes, and how much these differ."""
    coarse, fine = [(f(z + h * z_dot) - f(z - h * z_dot)) / (2 * h) for h in (1e-4, 5e-5)]
    return (4 * fine - coarse) / 3, np.max(np.abs(fine - coarse))


def wrong(f, z, z_dot, weight):
    """What does not agree; None where differences say nothing."""
    out = f(z)
    out_dot, error = slope(f, z, z_dot)
    size = 1 + np.max(np.abs(out_dot))
    if not (np.isfinite(out).all() and np.max(np.abs(out)) < 1e6 and error < 1e-4 * size):
        return None
    loss = lambda z: np.sum(np.real(f(z)) * weight.real + np.imag(f(z)) * weight.imag)
    found, found_dot = pb.jvp(f, (z,), (z_dot,))
    (z_bar,) = pb.vjp(f, z)[1](weight)
    gradient, compiled = pb.grad(loss), pb.compile(f)
    along = np.sum(out_dot.real * weight.real + out_dot.imag * weight.imag)
    near = {"rtol": 1e-4, "atol": 1e-5 * size}
    second, curvature = pb.jvp(gradient, (z,), (z_dot,))[1], slope(gradient, z, z_dot)[0]
    pair = np.sum(weight * found_dot)
    agree = {
        "value": np.allclose(found, out, rtol=1e-13, atol=1e-14),
        "jvp": np.allclose(found_dot, out_dot, **near),
        "grad": np.isclose(np.sum(gradient(z) * z_dot).real, along, rtol=1e-4, atol=1e-4 * size),
        "vjp": np.isclose(np.sum(z_bar * z_dot).real, pair.real, rtol=1e-8, atol=1e-8 * size),
        "vmap": np.allclose(pb.vmap(f)(np.stack([z, 0.9 * z]))[0], out, rtol=1e-11, atol=1e-13),
        "compiled": all(np.allclose(compiled(z), out, rtol=1e-12, atol=1e-13) for _ in range(3)),
        "second order": np.allclose(
            second, curvature, rtol=1e-3, atol=1e-4 * (1 + np.max(np.abs(second)))
        ),
    }
    return [name for name, good in agree.items() if not good]


@pytest.mark.share(20)
@pytest.mark.parametrize("part", range(40))
def test_complex_programs(part):
    many = 200 if LONG else 15
    found, asked = [], 0
    for seed in range(part * many, (part + 1) * many):
        names, f, *at = program(seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # NumPy's, and those of kinks
            disagreeing = wrong(f, *at)
        asked += disagreeing is not None
        found += [(seed, names, disagreeing)] if disagreeing else []
    assert found == []
    assert asked > many // 2

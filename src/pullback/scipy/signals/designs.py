"""Designs that solve equations: equiripple filters, and gains that place poles.

remez         The weighted error has one more extremal point f_i than the filter has free
              coefficients. There A(f_i) + (-1)^i d / W(f_i) = D(f_i), a linear system for the
              filter and the ripple d. Points at edges move with the edges; at the others the error
              has slope zero, and one step of Newton's method follows them.
place_poles   With one input, K = [0 ... 0 1] C^-1 p(A), C the matrix of controllability and p the
              polynomial of the poles (Ackermann's formula). With as many inputs as states,
              B K = A - D, where D is the matrix of the poles.

Parks and McClellan, Chebyshev approximation for nonrecursive digital filters (1972).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal

from ...core.errors import MissingRuleError
from ...core.reach.session import call_outside
from ...primitives.arguments import as_array
from ...primitives.exact import exact
from ..solving.leaves import is_live
from ..solving.serving import serves, traced
from ..sparse_arrays.patterns import fixed

remez_of_scipy, poles_of_scipy = signal.remez, signal.place_poles
FINE = 64  # points on each band for each coefficient
KINDS = {"bandpass": 1, "differentiator": -1, "hilbert": -1}


class Ripple:
    """The response of a linear-phase filter in terms of its free coefficients."""

    def __init__(self, numtaps: int, kind: str) -> None:
        self.sign, self.kind, self.numtaps = KINDS[kind], kind, numtaps
        self.middle = self.sign > 0 and numtaps % 2 == 1
        self.free = numtaps // 2 + self.middle

    def basis(self, f: Any, nu: int = 0) -> Any:
        """The nu-th derivative of the responses to the free coefficients."""
        rate = 2 * np.pi * ((self.numtaps - 1) / 2 - np.arange(self.free))
        phase = f[:, None] * rate + (0 if self.sign > 0 else -np.pi / 2) + nu * np.pi / 2
        return np.cos(phase) * rate**nu * np.where(rate == 0, 1.0, 2.0)

    def taps(self, h: Any) -> Any:
        """All coefficients of the filter."""
        half = h[: self.numtaps // 2]
        middle = h[-1:] if self.middle else np.zeros(self.numtaps % 2)
        return np.concatenate([half, middle, self.sign * half[::-1]])

    def wanted(self, f: Any, desired: Any, weight: Any, band: Any) -> tuple[Any, Any]:
        """The desired response and its weight at points in bands."""
        d, w = desired[band], weight[band]
        if self.kind == "differentiator":
            return d * f, w / np.where(fixed(d) * fixed(f) < 1e-4, 1.0, f)
        return d, w


def extremal(ripple: Ripple, h: Any, edges: Any, desired: Any, weight: Any) -> Any:
    """Points of alternating extremal error: plain places, bands and edges (or -1)."""
    found: list[tuple[float, float, int, int]] = []
    for band in range(len(desired)):
        f = np.linspace(edges[2 * band], edges[2 * band + 1], FINE * ripple.numtaps)
        d, w = ripple.wanted(f, desired, weight, np.full(len(f), band))
        error = w * (d - ripple.basis(f) @ h)
        size = np.abs(error)
        around = np.concatenate([[-1.0], size, [-1.0]])
        for i in np.flatnonzero((size >= around[:-2]) & (size > around[2:])):
            edge = {0: 2 * band, len(f) - 1: 2 * band + 1}.get(int(i), -1)
            new = float(error[i]), float(f[i]), band, edge
            if found and found[-1][0] * new[0] > 0:  # the largest among neighbours of one sign
                found[-1] = max(found[-1], new, key=lambda x: abs(x[0]))
            else:
                found.append(new)
    while len(found) > ripple.free + 1:
        found.pop(0 if abs(found[0][0]) < abs(found[-1][0]) else -1)
    if len(found) <= ripple.free:
        raise MissingRuleError(
            "`remez` has no derivative where its error has fewer equal extrema than coefficients.\n"
            "  Ask for other bands, or use `scipy.signal.firls`."
        )
    places, bands, ends = list(zip(*found, strict=True))[1:]
    return np.array(places), np.array(bands), np.array(ends)


def solved(ripple: Ripple, f: Any, band: Any, desired: Any, weight: Any) -> Any:
    """The free coefficients with errors of equal size and alternating sign at these points."""
    d, w = ripple.wanted(f, desired, weight, band)
    column = ((-1.0) ** np.arange(len(band)) / w)[:, None]
    return np.linalg.solve(np.concatenate([ripple.basis(f), column], axis=1), d)[:-1]


def followed(ripple: Ripple, h: Any, f: Any, band: Any, desired: Any, weight: Any) -> Any:
    """One Newton step towards a zero of the error's slope."""
    slope, bend = [-ripple.basis(f, nu) @ h for nu in (1, 2)]
    if ripple.kind != "differentiator":
        return f - slope / bend
    d, w = desired[band], weight[band]
    small = fixed(d) * fixed(f) < 1e-4
    e, e1, e2 = d * f - ripple.basis(f) @ h, d + slope, bend
    first = np.where(small, e1, e1 / f - e / f**2) * w
    second = np.where(small, e2, e2 / f - 2 * e1 / f**2 + 2 * e / f**3) * w
    return f - first / second


def equiripple(ripple: Ripple, edges: Any, desired: Any, weight: Any, found: Any) -> Any:
    """The filter as a function of its traced parameters, near SciPy's plain solution."""
    plain = [fixed(x) for x in (edges, desired, weight)]
    h = found[: ripple.free]
    for _ in range(6):  # from SciPy's grid to the exact extrema
        places, band, edge = extremal(ripple, h, *plain)
        h = solved(ripple, places, band, *plain[1:])
        moved = followed(ripple, h, places, band, *plain[1:])
        places = np.where(edge >= 0, places, moved)
        h = solved(ripple, places, band, *plain[1:])
    f = np.where(edge >= 0, edges[np.maximum(edge, 0)], places)
    for _ in range(2):
        out = solved(ripple, f, band, desired, weight)
        f = np.where(edge >= 0, f, followed(ripple, out, f, band, desired, weight))
    return ripple.taps(solved(ripple, f, band, desired, weight))


@serves(signal.remez)
def remez(
    numtaps: Any, bands: Any, desired: Any, *, weight: Any = None, type: str = "bandpass",
    maxiter: int = 25, grid_density: int = 16, fs: Any = None,
) -> Any:  # fmt: skip
    bands, desired = as_array(bands), as_array(desired)
    weight = np.ones(len(desired)) if weight is None else as_array(weight)
    options = {"type": type, "maxiter": maxiter, "grid_density": grid_density}
    plain = {"weight": fixed(weight), "fs": None if fs is None else fixed(fs), **options}
    found = call_outside(remez_of_scipy, (fixed(numtaps), fixed(bands), fixed(desired)), plain)
    if not any(map(is_live, (bands, desired, weight, fs))):
        return found
    edges = np.reshape(bands, -1) / (1.0 if fs is None else fs)
    ripple = Ripple(int(fixed(numtaps)), type)
    return exact(found, equiripple(ripple, edges, desired * 1.0, weight * 1.0, found))


def diagonal(poles: Any) -> Any:
    """A matrix with these poles in SciPy's order; complex pairs form 2x2 blocks."""
    plain = np.asarray(fixed(poles)) + 0j
    order = np.lexsort((plain.imag, -np.abs(plain.imag), plain.real, plain.imag != 0))
    at = poles[order]
    turn = np.where(plain[order].imag < 0, np.imag(at), 0.0)[:-1]
    return np.diag(np.real(at)) - np.diag(turn, 1) + np.diag(turn, -1)


@serves(signal.place_poles)
def place_poles(
    A: Any, B: Any, poles: Any, method: str = "YT", rtol: float = 0.001, maxiter: int = 30
) -> Any:
    A, B, poles = as_array(A), as_array(B), as_array(poles)
    if not any(map(is_live, (A, B, poles))):
        return traced(poles_of_scipy)(A, B, poles, method, rtol, maxiter)
    rank = np.linalg.matrix_rank(fixed(B))
    if 1 < rank < A.shape[0]:
        raise MissingRuleError(
            "`place_poles` has a derivative with one input, or with as many as there are states;"
            " between, its gain is the one of many at which an iteration ended.\n"
            "  Use `scipy.linalg.solve_continuous_are` for a gain."
        )
    found = call_outside(
        poles_of_scipy, (fixed(A), fixed(B), fixed(poles), method, rtol, maxiter), {}
    )
    if rank == A.shape[0]:
        gain = np.linalg.lstsq(B, A - diagonal(poles), rcond=None)[0]
        if not np.allclose(fixed(gain), found.gain_matrix, rtol=1e-6, atol=1e-8):
            raise MissingRuleError(
                "`place_poles` has no derivative where complex poles are repeated.\n"
                "  Place poles that differ."
            )
        found.gain_matrix = exact(found.gain_matrix, gain)
        return found
    column = int(np.argmax(np.abs(fixed(B)).sum(axis=0)))
    n, b = A.shape[0], B[:, column]
    share = np.sum(B * b[:, None], axis=0) / np.sum(b * b)  # the inputs, of that one
    powers = [b]
    for _ in range(n - 1):
        powers.append(A @ powers[-1])
    whole = np.eye(n)
    for pole in range(n):
        whole = whole @ (A - poles[pole] * np.eye(n))
    gain = np.real(np.linalg.solve(np.stack(powers), np.eye(n)[-1]) @ whole)
    found.gain_matrix = exact(found.gain_matrix, share[:, None] * gain / np.sum(share**2))
    return found

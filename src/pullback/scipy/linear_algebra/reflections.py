"""Routines of LAPACK that store an orthogonal matrix as reflections, 1 - tau v v^H.

Here they're written with NumPy's functions, one column after another, as in LAPACK.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...primitives.elementwise import stopped
from ...primitives.spectra import adjoint, conj
from .lapack import as_letter
from .routines import routine
from .systems import solve_triangular, triangle


def reflected(a: Any) -> tuple[Any, Any]:
    """R and below it the vectors v, whose first entry is 1; and the numbers tau."""
    m, n = a.shape
    rows, columns, taus, rest = [], [], [], a
    for k in range(min(m, n)):
        v, tau = reflection(rest[:, 0])
        rest = rest - conj(tau) * v[:, None] * (conj(v) @ rest)
        rows.append(np.concatenate([np.zeros(k, a.dtype), rest[0]]))
        columns.append(np.concatenate([np.zeros(k + 1, a.dtype), v[1:]]))
        taus.append(tau)
        rest = rest[1:, 1:]
    upper = np.concatenate([np.stack(rows), np.zeros((max(m - n, 0), n), a.dtype)])
    beyond = np.zeros((m, max(n - m, 0)), a.dtype)
    lower = np.concatenate([np.stack(columns, axis=1), beyond], axis=1)
    return triangle(upper, False) + lower, np.stack(taus)


def reflection(x: Any) -> tuple[Any, Any]:
    """v and tau of the reflection that leaves only the first entry of x, and makes it real."""
    head, tail = x[0], x[1:]
    if not tail.shape[0] and x.dtype.kind != "c":
        return np.ones(1, x.dtype), 0 * head
    size = np.sqrt(np.real(head * conj(head)) + np.sum(np.real(tail * conj(tail))))
    beta = np.where(stopped(np.real(head)) < 0, size, -size)
    one = np.ones(1, x.dtype)
    return np.concatenate([one, tail / (head - beta)]), (beta - head) / beta


def applied(a: Any, tau: Any, c: Any, turned: bool) -> Any:
    """Q c, or Q^H c, for the product Q of the reflections."""
    n = tau.shape[0]
    for k in range(n) if turned else reversed(range(n)):
        v = np.concatenate([np.zeros(k, a.dtype), np.ones(1, a.dtype), a[k + 1 :, k]])
        factor = conj(tau[k]) if turned else tau[k]
        c = c - factor * v[:, None] * (conj(v) @ c)
    return c


@routine("geqrf", "a")
def geqrf(a: Any, **_: Any) -> Any:
    qr, tau = reflected(a)
    return {"qr": qr, "tau": tau}


@routine("geqp3", "a")
def geqp3(a: Any, found: Any, **_: Any) -> Any:
    """The order of the columns stays."""
    qr, tau = reflected(a[:, found["jpvt"] - 1])
    return {"qr": qr, "tau": tau}


@routine("sorgqr:s dorgqr:d cungqr:c zungqr:z", "a tau")
def orgqr(a: Any, tau: Any, **_: Any) -> Any:
    return {"q": applied(a, tau, np.eye(*a.shape, dtype=a.dtype), False)}


@routine("sormqr:s dormqr:d cunmqr:c zunmqr:z", "a tau c")
def ormqr(side: Any, trans: Any, a: Any, tau: Any, c: Any, lwork: Any, **_: Any) -> Any:
    """From the right, c Q is (Q^H c^H)^H."""
    turned = as_letter(trans) != "N"
    if as_letter(side) == "L":
        return {"cq": applied(a, tau, c, turned)}
    return {"cq": adjoint(applied(a, tau, adjoint(c), not turned))}


@routine("gels", "a b")
def gels(a: Any, b: Any, trans: Any = "N", **_: Any) -> Any:
    """More equations than unknowns; below the solution LAPACK leaves what is not explained."""
    n = a.shape[1]
    if as_letter(trans) != "N" or a.shape[0] < n:
        return {}
    qr, tau = reflected(a)
    right = applied(qr, tau, b if b.ndim > 1 else b[:, None], True)
    x = np.concatenate([solve_triangular(qr[:n], right[:n], 0, False, False), right[n:]])
    return {"lqr": qr, "x": x if b.ndim > 1 else x[:, 0]}


@routine("lange", "a")
def lange(norm: Any, a: Any) -> Any:
    letter = as_letter(norm).upper()
    if letter == "M":
        return {"n2": np.max(np.abs(a))}
    order: Any = {"1": 1, "O": 1, "I": np.inf, "F": "fro", "E": "fro"}[letter]
    return {"n2": np.linalg.norm(a, order)}

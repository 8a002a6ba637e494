"""GMRES with restarts, as loops that machine code takes.

SciPy's `gmres` has loops within loops whose lengths depend on how far the outer ones are, which no
recording shows. So its arithmetic is written here once more, with `while_loop`: modified
Gram-Schmidt, Givens rotations, the same tests. Indices are clipped to the lengths of their arrays,
which costs nothing and shows that no step can raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...primitives.assignment import setitem_p
from ...primitives.keys import INDEX
from ...transforms.loops.while_loop import while_loop

ZERO, RESTART, GROWTH = np.int64(0), 20, 1.5


def gmres(
    A: Any,
    b: Any,
    x0: Any,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    **_: Any,
) -> tuple[Any, Any]:
    """What `scipy.sparse.linalg.gmres` returns for real numbers, without a preconditioner."""
    n, dtype = b.shape[0], np.result_type(A.dtype, b.dtype)
    b, limit = b.astype(dtype), 10 * n if maxiter is None else maxiter
    x = np.zeros(n, dtype) if x0 is None else x0.astype(dtype)
    size = np.linalg.norm(b)
    near = np.maximum(atol, rtol * size)
    cycle = Cycle(A.matvec, b, min(RESTART if restart is None else restart, n), near, dtype)
    left = b - A.matvec(x)
    far, tol = np.linalg.norm(left), np.minimum(size, near)
    start = ZERO, x, left, far, tol, np.ones((), dtype)[()], ~(far < near) & (size > 0)
    found = while_loop(lambda s: s[-1] & (s[0] < limit), cycle, start)
    x, far = found[1], found[3]
    return np.where(size > 0, x, b), np.where((far <= near) | (size == 0), 0, limit)


class Cycle:
    """One restart: orthogonal columns until they solve the system, and then the solution.

    near: how far A x may be from b at the end
    """

    def __init__(self, matvec: Callable[[Any], Any], b: Any, m: int, near: Any, dtype: Any) -> None:
        self.matvec, self.b, self.m, self.near, self.dtype = matvec, b, m, near, dtype
        self.eps = np.finfo(dtype).eps

    def __call__(self, state: Any) -> Any:
        count, x, left, far, tol, factor, _ = state
        V, H, S, last, inner, broken = self.columns(left, far, tol)
        x = x + self.combined(V, self.triangular(H, S, last), last)
        left = self.b - self.matvec(x)
        far = np.linalg.norm(left)
        smaller, larger = np.maximum(self.eps, 0.25 * factor), np.minimum(1.0, GROWTH * factor)
        factor = np.where(inner <= tol, smaller, larger)
        some = np.where(far > 0, far, 1.0)  # where nothing is left, this is the last restart
        tol = inner * np.minimum(factor, self.near / some)
        return count + 1, x, left, far, tol, factor, ~(far <= self.near) & ~broken

    def columns(self, left: Any, far: Any, tol: Any) -> Any:
        """The orthogonal columns, the rotated Hessenberg matrix and right-hand side, and the last
        column; how far the solution will be, and whether it's exact."""
        m, dtype = self.m, self.dtype
        V = put(np.zeros((m + 1, left.shape[0]), dtype), ZERO, left * (1 / far))
        S = put(np.zeros(m + 1, dtype), ZERO, far)
        turns, H = np.zeros((m, 2), dtype), np.zeros((m, m + 1), dtype)

        def column(state: Any) -> Any:
            k, V, H, turns, S, *_ = state
            k, below = np.clip(k, 0, m - 1), np.clip(k + 1, 0, m)
            w = self.matvec(V[k])
            before = np.linalg.norm(w)
            w, h = self.orthogonal(w, V, k)
            after = np.linalg.norm(w)
            broken = after <= self.eps * before
            V = put(V, below, w * np.where(broken, 1.0, 1 / np.where(broken, 1.0, after)))
            h = self.turned(put(h, below, np.where(broken, 0.0, after)), turns, k)
            c, s, h_k = rotation(h[k], h[below])
            H = put(H, k, put(put(h, k, h_k), below, 0.0 * h_k))
            rest = -s * S[k]
            S = put(put(S, k, c * S[k]), below, rest)
            inner = np.abs(rest)
            more = ~(inner <= tol) & ~broken & (k + 1 < m)
            return k + 1, V, H, put(turns, k, np.stack([c, s])), S, inner, broken, more

        start = ZERO, V, H, turns, S, np.zeros((), dtype)[()], np.False_, np.True_
        k, V, H, _, S, inner, broken, _ = while_loop(lambda s: s[-1], column, start)
        return V, H, S, np.clip(k - 1, 0, m - 1), inner, broken

    def orthogonal(self, w: Any, V: Any, last: Any) -> Any:
        """w without its parts along the columns, and these parts."""

        def without(state: Any) -> Any:
            k, w, h = state
            k = np.clip(k, 0, self.m - 1)
            part = np.dot(V[k], w)
            return k + 1, w - part * V[k], put(h, k, part)

        start = ZERO, w, np.zeros(self.m + 1, self.dtype)
        return while_loop(lambda s: s[0] <= last, without, start)[1:]

    def turned(self, h: Any, turns: Any, last: Any) -> Any:
        """A column after the rotations of those before it."""

        def turn(state: Any) -> Any:
            k, h = state
            k, below = np.clip(k, 0, self.m - 1), np.clip(k + 1, 0, self.m)
            c, s, x, y = turns[k, 0], turns[k, 1], h[k], h[below]
            return k + 1, put(put(h, k, c * x + s * y), below, c * y - s * x)

        return while_loop(lambda s: s[0] < last, turn, (ZERO, h))[1]

    def triangular(self, H: Any, S: Any, last: Any) -> Any:
        """The weights of the columns; a last row of zeros has none."""
        m, places = self.m, np.arange(self.m)
        y = np.where((places == last) & (H[last, last] == 0), 0.0, S[:m])

        def backward(state: Any) -> Any:
            k, y = state
            k = np.clip(k, 0, m - 1)
            found = y[k] / np.where(y[k] == 0, 1.0, H[k, k])
            return k - 1, put(y - found * np.where(places < k, H[k, :m], 0.0), k, found)

        return while_loop(lambda s: s[0] >= 0, backward, (last, y))[1]

    def combined(self, V: Any, y: Any, last: Any) -> Any:
        def added(state: Any) -> Any:
            k, x = state
            k = np.clip(k, 0, self.m - 1)
            return k + 1, x + y[k] * V[k]

        start = ZERO, np.zeros(V.shape[1], self.dtype)
        return while_loop(lambda s: s[0] <= last, added, start)[1]


def put(x: Any, i: Any, v: Any) -> Any:
    """x with v at a place."""
    return setitem_p(x, v, i, path=(), key=(INDEX,), donate=False)


def rotation(f: Any, g: Any) -> Any:
    """The cosine and sine that turn (f, g) into (r, 0), and r, as LAPACK's `lartg`."""
    scale = np.maximum(np.abs(f), np.abs(g))
    scale = np.where(scale == 0, 1.0, scale)
    size = scale * np.sqrt((f / scale) ** 2 + (g / scale) ** 2)
    r = np.copysign(size, f)
    only = g == 0
    size, r = np.where(only, 1.0, size), np.where(only, 1.0, r)
    return np.where(only, 1.0, np.abs(f) / size), np.where(only, 0.0, g / r), np.where(only, f, r)

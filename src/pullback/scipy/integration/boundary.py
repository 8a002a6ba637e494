"""Boundary value problems: the collocation equations on SciPy's mesh define the solution.

    y_{i+1} - y_i = h/6 (f_i + 4 f_{i+1/2} + f_{i+1}),    bc(y_0, y_m, p) = 0

The mesh is fixed; the implicit function theorem gives the derivatives of y and p.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import integrate

from ...core.array import peel
from ...core.errors import MissingRuleError
from ...core.operands import as_array
from ...core.trace import is_live
from ...primitives.elementwise import stopped
from ...primitives.exact import constant, exact
from ...transforms.batch import vmap
from ...transforms.forward import jvp
from ..optimization.roots import reason, summary
from ..releases import SINCE_1_18
from ..solving.implicit import Equations, RecordedFunction, solution
from ..solving.plain import Examples, shallow, signature, solve
from ..solving.programs import ClosedProgram
from ..solving.serving import serves


class Collocation(Equations):
    """The collocation equations, each of which depends on the values at two neighbouring nodes.

    The Jacobian takes one direction for each component at every other node, instead of one for
    each unknown. The first node has its own directions, because the boundary conditions read it and
    the last one. So have the parameters, which all equations may read.
    """

    def __init__(self, name: str, residual: Any, shape: tuple[int, int]) -> None:
        super().__init__(name, residual)
        self.shape = shape

    def slope(self, z: Any, theta: Any, given: Any) -> Any:
        directions, of_unknown, mask = structure(*self.shape, z.shape[0])
        push = lambda dot: jvp(lambda z: self.residual(z, theta, given), (z,), (dot,))[1]
        columns = vmap(push)(directions)
        return np.where(mask, np.swapaxes(columns, 0, 1)[:, of_unknown], 0.0)

    def refined(self, z: Any, theta: Any, given: Any) -> tuple[Any, str | None]:
        """A point closer to the solution than z; or z, and why there is no derivative."""
        way = np.cos(np.arange(1.0, len(z) + 1))
        rate = jvp(lambda z: self.residual(z, theta, given), (z,), (way,))[1]
        _, slope = self.linearised(z, theta, given)
        if np.any(np.abs(slope @ way - rate) > 1e-9 * (1 + np.abs(slope).sum(axis=1))):
            return z, (
                "The result of `scipy.integrate.solve_bvp` has no derivative: `fun` reads the"
                " values at other nodes than its own, or `bc` more than it is given.\n"
                "  Write what `fun` shares between nodes as a further component or a parameter."
            )
        return super().refined(z, theta, given)


@cache
def structure(n: int, m: int, size: int) -> tuple[Any, Any, Any]:
    """Directions, the one that has each unknown, and where the Jacobian is not zero.

    n components at m nodes, and parameters up to this size
    """
    node = np.concatenate([np.tile(np.arange(m), n), np.full(size - n * m, -1)])
    component = np.concatenate([np.repeat(np.arange(n), m), np.arange(size - n * m)])
    kind = np.select([node < 0, node == 0], [3, 2], node % 2)
    kinds, of_unknown = np.unique(np.stack([kind, component]), axis=1, return_inverse=True)
    of_unknown = np.ravel(of_unknown)
    directions = (of_unknown == np.arange(kinds.shape[1])[:, None]).astype(float)
    row = np.concatenate([np.tile(np.arange(m - 1), n), np.full(size - n * (m - 1), -1)])[:, None]
    close = (node == row) | (node == row + 1)
    at_ends = (node == 0) | (node == m - 1)
    return directions, of_unknown, np.where(row < 0, at_ends, close) | (node < 0)


def spline(found: Examples, x: Any, y: Any, slopes: Any) -> Any:
    """`sol` of a boundary value problem: a cubic polynomial on each interval of the mesh."""
    from .. import interpolation  # noqa: F401  # its rules, which few programs with integrals need

    h = x[1:] - x[:-1]
    slope = (y[:, 1:] - y[:, :-1]) / h
    bend = (slopes[:, :-1] + slopes[:, 1:] - 2 * slope) / h
    rest = (slope - slopes[:, :-1]) / h - bend
    c = np.stack([bend / h, rest, slopes[:, :-1], y[:, :-1]])
    c = exact(found.stacked([result.sol.c for result in found.results]), np.moveaxis(c, 1, 2))
    out = shallow(found.first.sol)
    if SINCE_1_18:
        inner = out._delegate_to = shallow(out._delegate_to)
        inner.c, inner.x = c, x
    else:
        out._c, out._x = c, x
    return out


class ByColumns:
    """A recorded right-hand side, asked about as many nodes at once as a program of it is for.

    SciPy refines the mesh in each call as it needs; columns do not depend on each other.
    """

    def __init__(self, fun: ClosedProgram, n: int) -> None:
        self.fun, self.n = fun, n

    def __call__(self, x: Any, y: Any, *p: Any) -> Any:
        if x.size == self.n or not self.are_columns(x, y, *p):
            return self.fun(x, y, *p)
        parts = -(-x.size // self.n)
        rows = np.minimum(np.arange(parts * self.n), x.size - 1).reshape(parts, self.n)
        several = [self.fun(x[row], y[:, row], *p) for row in rows]
        if type(several[0]) is not tuple:
            return np.concatenate(several, axis=-1)[..., : x.size]
        pairs = zip(*several, strict=True)
        return tuple([np.concatenate(pair, axis=-1)[..., : x.size] for pair in pairs])

    def are_columns(self, x: Any, y: Any, *p: Any) -> bool:
        """Whether nodes have the same values in another order and beside others."""
        learner = self.fun.learner
        if learner.by_columns is None:
            known = np.minimum(np.arange(self.n), x.size - 1)
            few = x[known], y[:, known]
            order = self.n - 1 - np.arange(self.n) // 2
            with np.errstate(all="ignore"):
                whole, again = self.fun(*few, *p), self.fun(few[0][order], few[1][:, order], *p)
            pairs = zip(*[x if type(x) is tuple else (x,) for x in (whole, again)], strict=True)
            learner.by_columns = all(
                np.allclose(peel(a)[..., order], peel(b), rtol=1e-12, atol=0, equal_nan=True)
                for a, b in pairs
            )
        return bool(learner.by_columns)


def by_columns(given: dict[str, Any], n: int) -> dict[str, Any]:
    """The arguments of `solve_bvp`, whose recorded functions take meshes of any length."""
    of_nodes = {key: given[key] for key in ("fun", "fun_jac") if key in given}
    return given | {
        key: ByColumns(fun, n) for key, fun in of_nodes.items() if type(fun) is ClosedProgram
    }


def moving_mesh(found: Examples, given: Any) -> Any:
    """The nodes that SciPy has found, which move with those that it was given.

    It puts new ones between two, at fixed parts of the way.
    """
    x = found.item("x")
    if not is_live(given):
        return x
    given = as_array(given)
    at = stopped(given)
    k = np.sum(x[:, None] >= at[1:-1], axis=1)
    part = (x - at[k]) / (at[k + 1] - at[k])
    return exact(x, given[k] + part * (given[k + 1] - given[k]))


MESH = dict.fromkeys(("x", "y", "yp", "rms_residuals"), "mesh")


@serves(integrate.solve_bvp, varying=MESH)
def solve_bvp(*args: Any, **options: Any) -> Any:
    bound = signature(integrate.solve_bvp).bind(*args, **options)
    n_given = np.size(bound.arguments["x"])
    call = lambda values: integrate.solve_bvp(**by_columns(values.tree(bound.arguments), n_given))
    found = solve(call)
    if not found.live:
        return found.first
    bound.apply_defaults()
    first, given = found.first, by_columns(bound.arguments, n_given)
    if is_live(given["S"]):
        raise MissingRuleError(
            "`scipy.integrate.solve_bvp` has no derivative with respect to `S`.\n"
            "  Write the singular term into `fun`, or pass `pullback.stop_gradient(S)`."
        )
    fun, bc, x = given["fun"], given["bc"], moving_mesh(found, given["x"])
    singular = given["S"]
    y = found.item("y")
    n, m = first.y.shape
    p = None if given["p"] is None else found.item("p")
    start = 0.0 if singular is None else stopped(x[0])
    more = () if p is None else (p,)
    z = np.concatenate([np.ravel(y), *more])

    def equations(z: Any, x: Any) -> Any:
        y = np.reshape(z[: n * m], (n, m))
        p = () if given["p"] is None else (z[n * m :],)
        right = lambda x, y: slope(x, y, p)
        h = x[1:] - x[:-1]
        f = right(x, y)
        middle = (y[:, 1:] + y[:, :-1]) / 2 - h / 8 * (f[:, 1:] - f[:, :-1])
        f_middle = right(x[:-1] + h / 2, middle)
        gap = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * f_middle)
        return np.concatenate([np.ravel(gap), np.ravel(as_array(bc(y[:, 0], y[:, -1], *p)))])

    def slope(x: Any, y: Any, p: Any) -> Any:
        f = as_array(fun(x, y, *p))
        if singular is None:
            return f
        matrix = np.asarray(singular, float)
        at = np.where(x == start, 1.0, x - start)
        regular = f + matrix @ y / at
        # At the singular end the slope is that of a solution that stays finite.
        end = np.linalg.pinv(np.eye(n) - matrix) @ f
        return np.where(x == start, end, regular)

    program = RecordedFunction(lambda z: equations(z, x), z)
    if not program.theta:
        return summary("solve_bvp", found, lambda r: r, {"y": constant(y)})
    failure = reason(found, lambda r: r.success, lambda r: r.message)
    residual = lambda z, theta, given: program([z], theta)
    collocation = Collocation("solve_bvp", residual, (n, m))
    (z,) = solution(collocation, z, program.theta, failure=failure)
    y = np.reshape(z[: n * m], (n, m))
    known = {"x": x, "y": y}
    if p is not None:
        known["p"] = z[n * m :]
    slopes = slope(x, y, () if p is None else (known["p"],))
    known["yp"] = slopes
    known["sol"] = spline(found, x, y, slopes)
    return summary("solve_bvp", found, lambda r: r, known)

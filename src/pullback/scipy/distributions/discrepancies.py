"""How far points are from an even spread over a box: the discrepancies of `scipy.stats.qmc`.

A discrepancy is a sum over pairs of points of products over coordinates, which SciPy computes in
compiled code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import _qmc, _qmc_cy

from ...compiler.facts.judge import UNDRAWN
from ...core.operands import as_array
from ...primitives.exact import exact
from ..solving.leaves import in_order, leaf
from ..solving.plain import solve


def centered(x: Any, gap: Any, n: Any, d: int) -> Any:
    z = np.abs(x - 0.5)
    ones = np.sum(np.prod(1 + (z - z * z) / 2, axis=-1))
    pairs = np.sum(np.prod(1 + (z[:, None] + z - np.abs(gap)) / 2, axis=-1))
    return (13 / 12) ** d - 2 * ones / n + pairs / n**2


def wrapped_around(x: Any, gap: Any, n: Any, d: int) -> Any:
    far = np.abs(gap)
    return np.sum(np.prod(1.5 - far * (1 - far), axis=-1)) / n**2 - (4 / 3) ** d


def mixture(x: Any, gap: Any, n: Any, d: int) -> Any:
    z, far = np.abs(x - 0.5), np.abs(gap)
    ones = np.sum(np.prod(5 / 3 - (z + z * z) / 4, axis=-1))
    both = 15 / 8 - (z[:, None] + z + 3 * far) / 4 + gap * gap / 2
    return (19 / 12) ** d - 2 * ones / n + np.sum(np.prod(both, axis=-1)) / n**2


def from_corner(x: Any, gap: Any, n: Any, d: int) -> Any:
    ones = np.sum(np.prod(1 - x * x, axis=-1))
    pairs = np.sum(np.prod(1 - np.maximum(x[:, None], x), axis=-1))
    return np.sqrt(3.0**-d - 2.0 ** (1 - d) * ones / n + pairs / n**2)


def described(original: Any, formula: Callable[..., Any]) -> None:
    """Differentiate it by a formula; if `iterative`, as if there were one more point."""

    @leaf(original, solves=True)
    def discrepancy(sample: Any, iterative: bool, workers: int) -> Any:
        found = solve(lambda values: original(in_order(values.of(sample)), iterative, workers))
        x, (n, d) = as_array(sample), sample.shape
        return exact(found.of(np.float64), formula(x, x[:, None] - x, n + bool(iterative), d))


described(_qmc_cy._cy_wrapper_centered_discrepancy, centered)
described(_qmc_cy._cy_wrapper_wrap_around_discrepancy, wrapped_around)
described(_qmc_cy._cy_wrapper_mixture_discrepancy, mixture)
described(_qmc_cy._cy_wrapper_l2_star_discrepancy, from_corner)

updated_by_scipy = _qmc_cy._cy_wrapper_update_discrepancy


@leaf(updated_by_scipy, solves=True)
def updated(new: Any, sample: Any, initial: Any) -> Any:
    """The centered discrepancy with one point more, from that of one point less."""
    args = (new, sample, initial)
    found = solve(lambda values: updated_by_scipy(*[in_order(x) for x in values.tree(args)]))
    x, y, n = as_array(new), as_array(sample), sample.shape[0] + 1
    z, others = np.abs(x - 0.5), np.abs(y - 0.5)
    pairs = np.sum(np.prod(1 + (z + others - np.abs(x - y)) / 2, axis=-1))
    itself = np.prod(1 + z)
    change = (2 * pairs + itself) / n**2 - 2 * np.prod(1 + (z - z * z) / 2) / n
    return exact(found.of(np.float64), initial + change)


# Digits that are permuted as the sequence's object has it draw nothing.
UNDRAWN[inspect.unwrap(_qmc.van_der_corput).__code__] = lambda held: (
    held["permutations"] is not None or not held["scramble"]
)

"""`numpy.testing` for programs that are differentiated: assertions check the values.

An assertion that holds is a condition like any other, which a compiled program checks again. If it
fails, NumPy's own assertion raises, with NumPy's message.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array
from ..core.operands import as_array, leaves, peeled
from .wrapping import mirror, named_as

__all__ = list(np.testing.__all__)
__getattr__, __dir__ = mirror(globals(), np.testing, traced=True)


def asserting(original: Any, holds: Any) -> Any:
    """One of NumPy's assertions, given the condition that it checks on two arrays."""

    def call(x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        found = [leaf for leaf in leaves((x, y)) if type(leaf) is Array]
        if not found or not holds(as_array(x), as_array(y), *args, **kwargs):
            original(peeled(x), peeled(y), *args, **kwargs)

    return named_as(original, call)


def near(x: Any, y: Any, rtol: float = 1e-7, atol: float = 0, *_: Any, **__: Any) -> bool:
    return bool(np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True))


def to_places(x: Any, y: Any, decimal: int = 6, *_: Any, **__: Any) -> bool:
    return bool(np.all(np.abs(x - y) < 1.5 * 10.0**-decimal))


def to_seven(x: Any, y: Any, decimal: int = 7, *_: Any, **__: Any) -> bool:
    return to_places(x, y, decimal)


def equal(x: Any, y: Any, *_: Any, **__: Any) -> bool:
    return bool(np.array_equal(x, y))


def less(x: Any, y: Any, *_: Any, **__: Any) -> bool:
    return bool(np.all(x < y))


assert_allclose = asserting(np.testing.assert_allclose, near)
assert_almost_equal = asserting(np.testing.assert_almost_equal, to_seven)
assert_array_almost_equal = asserting(np.testing.assert_array_almost_equal, to_places)
assert_array_equal = asserting(np.testing.assert_array_equal, equal)
assert_array_less = asserting(np.testing.assert_array_less, less)
assert_equal = asserting(np.testing.assert_equal, equal)

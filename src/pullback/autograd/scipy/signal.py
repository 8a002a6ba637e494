"""autograd's `convolve`: a convolution over some axes, and a product over others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["convolve"]

MODES = ("full", "valid", "same")


def convolve(A: Any, B: Any, axes: Any = None, dot_axes: Any = ((), ()), mode: str = "full") -> Any:
    """Convolve A and B over pairs of axes, and sum over other pairs as `tensordot` does.

    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0]))
    array([1., 3., 5., 3.])

    Args:
        axes: (axes of A, axes of B) that are convolved; all of them by default.
        dot_axes: (axes of A, axes of B) that are multiplied and summed.
        mode: "full", "valid" (only complete overlap) or "same" (of A's length, centred).

    Returns:
        An array whose axes are the others of A, the others of B, then those that are convolved.
    """
    if mode not in MODES:
        raise ValueError(f"`convolve` takes one of the modes {MODES}, but got {mode!r}.")
    if axes is None:
        axes = range(np.ndim(A)), range(np.ndim(B))
    a, n_a = arranged(A, axes[0], dot_axes[0])
    b, n_b = arranged(B, axes[1], dot_axes[1])
    n, m = len(axes[0]), len(dot_axes[0])
    lengths = [(np.shape(a)[-n + i], np.shape(b)[-n + i]) for i in range(n)]
    swapped = mode == "valid" and any(k > size for size, k in lengths)
    if swapped and not all(k >= size for size, k in lengths):
        raise ValueError(
            'With mode="valid" one array is at least as long as the other along every axis that'
            f" is convolved, but the lengths are {lengths}."
        )
    if swapped:
        a, b, n_a, n_b = b, a, n_b, n_a
        lengths = [(k, size) for size, k in lengths]
    b = np.flip(b, axis=tuple(range(-n, 0))) if n else b
    for i, (size, k) in enumerate(lengths):
        a = windows(a, n_a + m + i, size, k, mode)
    # a: others, summed, positions, windows. b: others, summed, windows.
    letters = list(range(n_a + n_b + m + 2 * n))
    of_a, letters = letters[:n_a], letters[n_a:]
    of_b, letters = letters[:n_b], letters[n_b:]
    summed, letters = letters[:m], letters[m:]
    places, window = letters[:n], letters[n:]
    first, second = (of_b, of_a) if swapped else (of_a, of_b)
    return np.einsum(
        a, [*of_a, *summed, *places, *window], b, [*of_b, *summed, *window],
        [*first, *second, *places], optimize=True,
    )  # fmt: skip


def arranged(x: Any, axes: Sequence[int], dot_axes: Sequence[int]) -> tuple[Any, int]:
    """x with the axes that are summed and then those that are convolved last; how many others."""
    ndim = np.ndim(x)
    last = [axis % ndim for axis in (*dot_axes, *axes)]
    others = [axis for axis in range(ndim) if axis not in last]
    return np.transpose(x, (*others, *last)), len(others)


def windows(x: Any, axis: int, size: int, k: int, mode: str) -> Any:
    """The windows of length k along an axis, padded with zeros; their own axis comes last."""
    before = {"full": k - 1, "valid": 0, "same": (k - 1) - (k - 1) // 2}[mode]
    after = {"full": k - 1, "valid": 0, "same": (k - 1) // 2}[mode]
    if k > 1 and mode != "valid":
        widths = [(0, 0)] * np.ndim(x)
        widths[axis] = (before, after)
        x = np.pad(x, widths)
    n = size + before + after - k + 1
    index = np.arange(n)[:, None] + np.arange(k)[None, :]
    return np.moveaxis(np.take(x, index, axis=axis), axis + 1, -1)

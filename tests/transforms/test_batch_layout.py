"""Under `vmap` whether an operation gives a view or a copy is that of one example alone."""

import itertools

import numpy as np
import pytest

import pullback as pb

X = np.arange(12.0).reshape(3, 4)
ALL = slice(None)
BACK = slice(None, None, -1)
MADE = {  # of which NumPy leaves the elements of one example between those of others
    "rows": lambda x: x[[0, -1]],
    "rows by an array": lambda x: x[np.array([0, 2])],
    "columns": lambda x: x[:, [1, 0]],
    "elements": lambda x: x[[0, 1], [1, 1]],
    "a mask": lambda x: x[np.array([True, False, True])],
    "a product": lambda x: x @ np.ones((4, 2)),
    "transposed": lambda x: (x * 1.0).T,
    "concatenated": lambda x: np.concatenate([x, x], axis=1),
    "taken": lambda x: np.take(x, [2, 0], axis=0),
}
SEEN = [(BACK, BACK), (ALL, BACK), (BACK, ALL), (slice(None, None, 2), ALL), (ALL, slice(1, None))]
THEN = {
    "astype": lambda v: v.astype(v.dtype, order="C", copy=False),
    "ascontiguousarray": lambda v: np.ascontiguousarray(v),
    "asarray": lambda v: np.asarray(v, order="C"),
    "asfortranarray": lambda v: np.asfortranarray(v),
    "reshape": lambda v: v.reshape(-1),
    "ravel": lambda v: v.ravel(),
    "ravel in memory order": lambda v: v.ravel("K"),
    "reshape in Fortran order": lambda v: v.reshape(-1, order="F"),
}
RUNS = {
    "vmap": lambda f, x: pb.vmap(f)(x),
    "vmap of vjp": lambda f, x: pb.vmap(lambda x: pb.vjp(f, x)[0])(x),
    "vjp of vmap": lambda f, x: pb.vjp(pb.vmap(f), x)[0],
    "the other axis": lambda f, x: pb.vmap(f, in_axes=2)(np.moveaxis(x, 0, 2).copy()),
}


@pytest.mark.parametrize("made", MADE)
def test_views_and_copies(made):
    for key, then in itertools.product(SEEN, THEN):

        def f(x, key=key, then=then):
            a = MADE[made](x)
            b = THEN[then](a[key[: a.ndim]])
            a[...] = a * 2 + 100
            return b * 1.0

        for run in RUNS:
            found = RUNS[run](f, np.stack([X, X + 1, X + 2]))
            for row, x in zip(found, [X, X + 1, X + 2], strict=True):
                with pb.rebinding(False):
                    np.testing.assert_array_equal(row, f(x), f"{key}, {then}, {run}")

"""None, and other objects, beside Arrays: an array of objects, as NumPy makes it of numbers."""

import numpy as np
import pytest

import pullback as pb
from tests.agreement import has_slopes


def first(x):
    a = np.array([x, None])
    return a[0] * a[0]


def in_two_rows(x):
    a = np.array([[x, None], [None, 2 * x]])
    return a[0, 0] * a[1, 1]


def picked(x):
    a = np.array([x, 2 * x, None])
    there = np.array([v is not None for v in a])
    return np.sum(a[there].astype(float) ** 2)


def without_none(x):
    a = np.array([x, None, 2.0])
    return np.nansum(np.where(a == None, np.nan, a).astype(float) * 3)  # noqa: E711  # element by element


def filled(x):
    a = np.full(3, None)
    a[1] = x
    return a[1] ** 2


def beside_a_dict(x):
    a = np.asarray((x, None, {"a": x}))
    return a[0] * a[2]["a"]


def as_floats(x):
    return np.nansum(np.array([x, None, 2.0], dtype=float) ** 2)


def vectors(x):
    a = np.array([np.array([x, x * x]), None], dtype=object)
    return np.sum(a[0])


def converted(x):
    return np.nansum(np.array([x, None]).astype(float) ** 3)


def chosen_or_none(x):
    c = np.where(x is not None, x, None).astype(float)
    return c * c


def chosen_by_a_mask(x):
    a = np.where(np.array([True, False]), np.array([x, 2 * x]), None)
    return a[0] * a[0]


def none_or_chosen(x):
    a = np.where(np.array([True, False]), None, np.array([x, 2 * x]))
    return np.nansum(a.astype(np.float64) ** 2)


def chosen_by_a_comparison(x):
    return np.sum(np.where(x < 0, None, x).astype(float) ** 3)


PROGRAMS = [first, in_two_rows, picked, without_none, filled, beside_a_dict, as_floats, vectors,
            converted, chosen_or_none, chosen_by_a_mask, none_or_chosen,
            chosen_by_a_comparison]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_none_beside_arrays(f):
    has_slopes(f, 1.3)


def test_text_beside_arrays_is_refused():
    with pytest.raises(pb.ArgumentTypeError, match="Keep Arrays in a list"):
        pb.grad(lambda x: float(np.array([x, "a"])[0]))(1.0)

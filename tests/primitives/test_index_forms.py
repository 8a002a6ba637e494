"""Every form of an index, made of arrays that the function makes, wherever an index is taken."""

import numpy as np
import pytest

import pullback as pb

KEYS = """(i, j); [i, j]; (i,); i; [i]; (i, slice(None)); (slice(0, 2), j); (Ellipsis, j); (i, k)
(k, j); (i, None); (None, i); m; (m,); M; (M,); (m, k); (i, 1); (1, j); ([0, 1], j[:2]); (k, k); k
(i, [1, 0, 1, 1]); np.nonzero(M); np.ix_(i[:2], j[:2]); tuple(np.stack([i, j])); np.stack([i, j])
list(zip(i, j)); [k, 0]; (i[:, None], j); np.where(M); np.unravel_index(i, (3, 3)); [[k, 0], [k, k]]
np.tril_indices(3); (np.arange(3), slice(1, 3)); ([k, 0], [k, k]); slice(None); (); Ellipsis; [[]]
(slice(k, None), slice(None)); np.diag_indices_from(x); (m, slice(None)); ([k], m); []"""
KEYS = [key.strip() for key in KEYS.replace("\n", ";").split(";")]
USES = {
    "add.at": lambda x, key, v: np.add.at(x, key, v),
    "multiply.at": lambda x, key, v: np.multiply.at(x, key, 2.0),
    "negative.at": lambda x, key, v: np.negative.at(x, key),
    "read": lambda x, key, v: x[key],
    "write": lambda x, key, v: x.__setitem__(key, v),
    "put": lambda x, key, v: np.put(x, key, v),
    "take": lambda x, key, v: x.take(key, axis=0),
    "delete": lambda x, key, v: np.delete(x, key, axis=0),
    "insert": lambda x, key, v: np.insert(x, key, v, axis=0),
    "reduceat": lambda x, key, v: np.add.reduceat(x, key),
    "ravel_multi_index": lambda x, key, v: np.ravel_multi_index(key, (3, 3)) * v,
}


def program(use, key):
    def f(v):
        x = v * np.arange(9.0).reshape(3, 3)
        i, j, k = np.array([0, 2, 1, 0]), np.array([1, 1, 0, 1]), np.int64(1)
        m = np.array([True, False, True])
        names = {"np": np, "i": i, "j": j, "k": k, "m": m, "M": np.outer(m, m), "x": x}
        out = use(x, eval(key, names), v)
        return x if out is None else out

    return f


def answer(f, *args):
    """What f gives; None where it raises."""
    try:
        return f(*args)
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


@pytest.mark.filterwarnings("ignore:in the future insert will treat boolean:FutureWarning")
@pytest.mark.parametrize("name", USES)
def test_forms(name):
    """Values, and what is refused, are NumPy's."""
    for key in KEYS:
        f = program(USES[name], key)
        for run in (lambda v, f=f: pb.jvp(f, (v,), (1.0,))[0], lambda v, f=f: pb.vjp(f, v)[0]):
            expected, actual = answer(f, 1.25), answer(run, 1.25)
            assert (actual is None) == (expected is None), key
            if expected is not None:
                np.testing.assert_array_equal(actual, expected, strict=True, err_msg=key)

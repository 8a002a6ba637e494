"""Arrays that NumPy's functions make of plain ones can be assigned into, as those of `np.zeros`.

A comparison of Arrays is a plain array, and so is what is chosen by it.
"""

import numpy as np
import pytest

import pullback as pb

K = np.array([1.5, -2.0, 0.7])
X = np.array([0.3, 0.9, -0.4])
FORMS = [
    "np.where(m, 1.0, 0.0)", "np.where(m, 1, 0).astype(float)", "np.where(m, k, -k)",
    "np.select([m], [k], 0.0)", "np.choose(m.astype(int), [k, 2 * k])",
    "np.sort(k)", "np.cumsum(k)", "np.cumprod(k)", "np.diff(k, prepend=0)", "np.gradient(k)",
    "np.outer(k, k)[0]", "np.kron(k, k)",
    "np.nan_to_num(k)", "np.array(m, dtype=float)", "np.asarray(m, dtype=float)", "np.copy(k)",
    "np.zeros_like(k)", "np.full(3, 2.0)", "np.tile(k, 2)", "np.concatenate([k, k])",
    "np.fromiter(k, float)", "np.linspace(0, 1, 3)", "np.diag(np.eye(3)).copy()",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_is_assigned_into(form):
    scope = {"np": np, "k": K}
    lines = ["def f(x):", " m = x > 0", f" a = {form}", " a[0] = x[1]", " return np.sum(a) * 1.0"]
    exec(compile("\n".join(lines), __file__, "exec"), scope)
    f = scope["f"]
    for gradient in (pb.grad(f), pb.compile(pb.grad(f))):
        np.testing.assert_array_equal(gradient(X), [0, 1, 0])
    np.testing.assert_array_equal(K, [1.5, -2.0, 0.7])


def test_indices_stay_plain():
    def f(x):
        (found,) = np.where(x > 0)
        assert type(found) is np.ndarray
        return np.sum(x[found] ** 2)

    np.testing.assert_array_equal(pb.grad(f)(X), [0.6, 1.8, 0.0])


def test_arrays_from_an_iterator_of_arrays():
    """`np.fromiter` takes a dtype with a shape, and its items are arrays then."""

    def f(x):
        items = (x * k * np.eye(2) for k in range(4))
        stack = np.fromiter(items, np.dtype((float, (2, 2))), count=3)
        assert stack.shape == (3, 2, 2)
        return np.sum(stack**2)

    assert pb.grad(f)(2.0) == 40.0
    with pytest.raises(ValueError, match="shape"):
        pb.grad(lambda x: np.fromiter([x * np.ones(3)], np.dtype((float, 2))).sum())(2.0)

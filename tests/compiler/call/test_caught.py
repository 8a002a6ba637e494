"""Programs that catch an operation's error: each answer has a path, and none falls back."""

import re

import numpy as np
import pytest
from scipy import linalg

import pullback as pb

SLIGHT = 1e-8
MINOR = r"2-th leading minor|info = \[2\]"  # until SciPy 1.17, and from 1.18 on


def matrix(a):
    return np.array([[1.0, a], [a, 1.0]])


def jittered(a):
    """Jitter is added until the factor exists."""
    jitter = SLIGHT
    while True:
        try:
            L = np.linalg.cholesky(matrix(a) + jitter * np.eye(2))
            break
        except np.linalg.LinAlgError:
            jitter *= 10
    return np.log(np.diagonal(L)).sum()


def repaired(a):
    try:
        L = linalg.cholesky(matrix(a), lower=True)
    except linalg.LinAlgError:
        w, v = linalg.eigh(matrix(a))
        L = v * np.sqrt(np.clip(w, 0.1, None))
    return np.sum(L @ L.T @ np.array([1.0, 2.0]))


def told(a):
    """The message counts as well: it names the minor that is not positive definite."""
    try:
        return linalg.cholesky(np.diag([1.0, a, 2 - a]))[1, 1]
    except linalg.LinAlgError as error:
        return a * len(str(error)) + float(re.search(r"\d", str(error))[0])


def pseudo(a):
    try:
        return np.linalg.inv(matrix(a))[0, 1]
    except np.linalg.LinAlgError:
        return np.linalg.pinv(matrix(a))[0, 1]


def looked_up(a):
    table = np.array([1.0, 4.0, 9.0])
    try:
        return table[np.trunc([a]).astype(int)][0] * a
    except IndexError:
        return 16.0 * a


def nested(a):
    """Tried again within a handler, and the first error raised on."""
    try:
        return linalg.cholesky(matrix(a))[1, 1]
    except linalg.LinAlgError as first:
        try:
            return linalg.cholesky(matrix(a) + np.eye(2))[1, 1] * 2
        except linalg.LinAlgError:
            raise ValueError(a > 0) from first


PROGRAMS = [jittered, repaired, told, pseudo, looked_up, nested]
POINTS = (0.5, 1.2, 0.4, 1.7, 1.0, -0.3, 1.5, 0.6, -1.3, 1.1)


@pytest.mark.share(3)
@pytest.mark.parametrize("fun", PROGRAMS)
@pytest.mark.parametrize("transform", [lambda f: f, pb.grad, lambda f: pb.grad(pb.grad(f))])
def test_each_answer_has_its_path(fun, transform):
    f = transform(fun)
    fast = pb.compile(f, wait=True)
    for a in [*POINTS, *POINTS]:
        np.testing.assert_allclose(fast(a), f(a), rtol=1e-11, atol=1e-12)
    assert fast.refusal is None
    assert fast.cache_info().paths < len(POINTS)
    assert fast.cache_info().hits > len(POINTS)


@pytest.mark.share(3)
@pytest.mark.parametrize("fun", PROGRAMS)
def test_within_transformations(fun):
    fast = pb.compile(fun, wait=True)
    for a in POINTS:
        np.testing.assert_allclose(pb.grad(fast)(a), pb.grad(fun)(a), rtol=1e-11, atol=1e-12)
    many = np.array([0.2, 0.5])
    np.testing.assert_allclose(pb.vmap(fast)(many), pb.vmap(fun)(many), rtol=1e-12)


def test_what_is_not_caught_is_raised():
    fast = pb.compile(lambda a: linalg.cholesky(matrix(a))[1, 1], wait=True)
    assert fast(0.5) == linalg.cholesky(matrix(0.5))[1, 1]
    with pytest.raises(linalg.LinAlgError, match=MINOR):
        fast(1.5)
    assert fast(0.6) == linalg.cholesky(matrix(0.6))[1, 1]

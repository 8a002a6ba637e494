"""Minima that are one of a family, as of models with more parameters than they need.

What is the same along the family has its derivative; what tells one solution from another has none.
"""

import numpy as np
import pytest
from scipy import optimize, special

import pullback as pb
from tests.scipy.references import disagreement

X = np.array([[1, 0.2], [1, -0.5], [1, 1.1], [1, 0.3], [1, -1.2], [1, 0.8]])
Y = np.array([0, 1, 2, 1, 0, 2])
TARGET = np.outer([1.0, 2.0, 0.5], [0.7, -1.0]) + 0.1 * np.outer([1.0, -1.0, 2.0], [1.0, 0.5])


def shifted(w, s):
    """Logits of three classes, of which only differences count."""
    z = X @ w.reshape(2, 3) * s
    apart = w.reshape(2, 3) - w.reshape(2, 3).mean(axis=1, keepdims=True)
    nll = np.sum(special.logsumexp(z, axis=1) - z[np.arange(6), Y])
    return nll + 0.3 * np.sum(apart**2), special.softmax(z, axis=1)[0, 1]


def scaled(w, s):
    """A matrix of rank one as a product, in which a factor may move from one side to the other."""
    product = np.outer(w[:3], w[3:])
    return np.sum((product - s * TARGET) ** 2 * (1 + 0.3 * TARGET)), product[1, 0]


def turned(w, s):
    """Two points in a plane by their lengths and their distance: any turn is as good."""
    a, b = w[:2], w[2:4]
    loss = (a @ a - s) ** 2 + (b @ b - 2) ** 2 + (a @ b - 0.5 * s) ** 2 + 0.1 * a @ a
    return loss, a @ b


def one_too_many(w, s):
    """A sum of two amounts, of which one would do, beside a curve."""
    rate = w[0] + 2 * w[1]
    return (np.exp(-rate) - 0.3 * s) ** 2 + (rate * w[2] - 1) ** 2 + 0.1 * w[2] ** 2, rate * w[2]


PROBLEMS = {
    "shifted": (shifted, 0.1 * np.arange(6.0)),
    "scaled": (scaled, np.array([1.0, 1.5, 0.4, 0.8, -0.9])),
    "turned": (turned, np.array([0.9, 0.3, 1.0, 0.8])),
    "one too many": (one_too_many, np.array([0.3, 0.4, 0.9])),
}
S = 1.1


def minimum(name, which, **how):
    problem, start = PROBLEMS[name]

    def of(s):
        found = optimize.minimize(lambda w: problem(w, s)[0], start, **how)
        return found.fun if which == "value" else problem(found.x, s)[1]

    return of


TIGHT = {"method": "BFGS", "options": {"gtol": 1e-9}}


@pytest.mark.share(8)
@pytest.mark.parametrize("which", ["value", "the same for all"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_what_does_not_tell_has_its_derivatives(name, which):
    f = minimum(name, which, **TIGHT)
    first = pb.grad(f)
    why = disagreement(first(S), lambda t: f(S + t), lambda: first(S))
    assert why is None, why
    by = 1e-3
    expected = (first(S + by) - first(S - by)) / (2 * by)
    assert pb.grad(first)(S) == pytest.approx(expected, rel=1e-4, abs=1e-5)
    if which == "value":  # else forward mode does not know that it is the same
        assert pb.jvp(f, (S,), (1.0,))[1] == pytest.approx(first(S), rel=1e-9)
    both = [first(S), first(1.2)]
    np.testing.assert_allclose(pb.vmap(first)(np.array([S, 1.2])), both, rtol=1e-7)
    if which == "value":
        compiled = pb.compile(first)
        np.testing.assert_allclose([compiled(S), compiled(1.2)], both, rtol=1e-7)


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_tells_has_none(name):
    problem, start = PROBLEMS[name]
    first = lambda s: optimize.minimize(lambda w: problem(w, s)[0], start, **TIGHT).x[0]
    with pytest.raises(pb.SolverError, match="not unique"):
        pb.grad(first)(S)
    assert np.isnan(pb.jvp(first, (S,), (1.0,))[1])


@pytest.mark.parametrize(
    "loss",
    [
        lambda w, s: np.abs(w[0] - s) + 0.5 * (w[1] - s) ** 2,  # a kink
        lambda w, s: np.sum((w - s) ** 4),  # flat, and the solver stops aside
        lambda w, s: np.exp(-s * w[0]) + (w[1] - s) ** 2,  # its minimum is at infinity
        lambda w, s: 1e-11 * (w[0] - s) ** 2 + (w[1] - s) ** 2,  # merely ill-conditioned
    ],
)
def test_what_is_no_family_is_as_it_was(loss):
    """There is no derivative, or that of a minimum like any other."""
    x = lambda s: optimize.minimize(loss, [0.3, 0.2], args=(s,), method="Nelder-Mead").x[0]
    try:
        found = pb.grad(x)(S)
    except pb.SolverError:
        return
    assert found == pytest.approx(1.0)


def test_a_family_that_ends_as_the_parameter_moves_has_none():
    """All of the line is as good at s = 1.1 alone; elsewhere its middle or its ends are best."""
    loss = lambda w, s: (w[0] + w[1] - 1) ** 2 + (s - S) * (w[0] - w[1]) ** 2
    value = lambda s: optimize.minimize(loss, [0.3, 0.2], args=(s,), **TIGHT).fun
    with pytest.raises(pb.SolverError, match="not unique"):
        pb.grad(value)(S)
    with pytest.raises(pb.SolverError, match="not unique"):
        pb.jvp(value, (S,), (1.0,))


RESIDUALS = {
    "product": lambda z, a: z[0] * z[1] - a,
    "circle": lambda z, a: z @ z - a,
    "curve": lambda z, a: np.exp(z[0]) * z[1] ** 3 - a,
    "sum of curves": lambda z, a: np.sinh(z[0]) + z[1] ** 3 - a,
}


@pytest.mark.parametrize("how", ["BFGS", "L-BFGS-B", "CG", "Nelder-Mead"])
@pytest.mark.parametrize("name", RESIDUALS)
def test_a_family_is_known_however_far_from_it_the_solver_stops(name, how):
    """Beside a family the Jacobian is regular, and would give a number that depends on rounding."""
    residual = RESIDUALS[name]
    x = lambda a: optimize.minimize(lambda z: residual(z, a) ** 2, [1.0, 0.5], method=how).x[0]
    with pytest.raises(pb.SolverError):
        pb.grad(x)(2.0)
    try:
        found = pb.jvp(x, (2.0,), (1.0,))[1]
    except pb.SolverError:
        return
    assert np.isnan(found)

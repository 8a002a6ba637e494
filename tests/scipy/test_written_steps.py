"""Gradients of differential equations in compiled functions: steps are a loop of machine code."""

import numpy as np
import pytest
from scipy import integrate

import pullback as pb
from tests.budgets import LONG

TIMES = np.linspace(0.0, 1.0, 6)
START = np.array([1.0, 0.5])
odeint, solve_ivp = integrate.odeint, integrate.solve_ivp


def prey(t, y, a):
    return np.array([y[0] * (a - y[1]), y[1] * (y[0] - 0.5 * a)])


def swing(y, t, a):
    return [y[1], -a * np.sin(y[0]) - 0.1 * y[1] + 0.2 * np.cos(t)]


def drag(t, y, a):
    v = y[1]
    return np.array([v, -9.81 - a * v * v if v > 0 else -9.81 + a * v * v])


def warmed(y, t, a):
    return -a * y + (2.0 if t < 0.5 else 0.5 * a)


def solved(a, method="RK45", span=(0.0, 1.0), times=TIMES, **options):
    return solve_ivp(prey, span, START * a, method, times, args=(a,), **options).y


FLOWS = {
    "odeint": lambda a: odeint(swing, START, TIMES, args=(a,))[:, 0].sum(),
    "odeint, backwards": lambda a: odeint(swing, START * a, TIMES[::-1], (a,))[-1].sum(),
    "odeint, times that move": lambda a: odeint(swing, START, TIMES * a, (a,))[-1, 0],
    "odeint, t first": lambda a: odeint(prey, START, TIMES, (a,), tfirst=True, rtol=1e-9)[-1, 1],
    "odeint that chooses": lambda a: odeint(warmed, START, TIMES, (a,))[-1, 0],
    "RK45 that chooses": lambda a: solve_ivp(
        drag, (0, 1), np.array([0.0, 5.0]), t_eval=TIMES, args=(a,)
    ).y[0, -1],
    "BDF that chooses": lambda a: solve_ivp(
        drag, (0, 1), np.array([0.0, 5.0]), "BDF", TIMES, args=(a,)
    ).y.sum(),
    "odeint, one number": lambda a: odeint(lambda y, t: -a * y, 2.0, TIMES)[-1, 0],
    "RK45": lambda a: solved(a).sum(),
    "RK23": lambda a: solved(a, "RK23")[0, -1],
    "DOP853": lambda a: solved(a, "DOP853", rtol=1e-8)[0, -1],
    "BDF": lambda a: solved(a, "BDF")[0].sum(),
    "Radau": lambda a: solved(a, "Radau", atol=np.array([1e-6, 1e-8]))[1, -1],
    "LSODA": lambda a: solved(a, "LSODA")[0, -1],
    "an end that moves": lambda a: solved(a, span=(0.0, a), times=[a])[0, -1],
    "BDF, an end that moves": lambda a: solved(a, "BDF", span=(0.1 * a, a), times=[0.3, a])[0, -1],
    "times of the method": lambda a: solved(a, times=None, max_step=0.25)[0, -1],
    "a matrix": lambda a: solve_ivp(
        lambda t, y: np.array([[0.0, a], [-a, -0.1]]) @ y, (0.0, 2.0), START, t_eval=[2.0]
    ).y[0, -1],
    "vectorized": lambda a: solve_ivp(
        lambda t, y: -a * y, (0.0, 1.0), START, "BDF", TIMES, vectorized=True
    ).y.sum(),
}


OFTEN = "odeint, one number", "RK45 that chooses", "RK45", "BDF, an end that moves"


@pytest.mark.share(2)
@pytest.mark.parametrize("name", FLOWS if LONG else OFTEN)
def test_flows(name):
    plain = pb.value_and_grad(FLOWS[name])
    fast = pb.compile(plain, wait=True)
    for a in (1.0, 1.02, 0.97, 0.99):
        assert np.allclose(fast(np.float64(a)), plain(np.float64(a)), 1e-8, 1e-10)
    assert fast.why().startswith("Machine code")
    assert "backward" not in str(fast.graph(np.float64(1.0)))


@pytest.mark.share(2)
def test_more_steps_than_there_is_room_for():
    plain = pb.value_and_grad(FLOWS["odeint, one number"])
    fast = pb.compile(plain, wait=True)
    for a in (1.0, 1.1, 1.2, 60.0, 61.0, 62.0, 63.0, 1.3):
        assert np.allclose(fast(np.float64(a)), plain(np.float64(a)), 1e-7, 1e-9)
    assert fast.why().startswith("Machine code")


@pytest.mark.share(2)
def test_a_problem_that_becomes_stiff():
    """Implicit steps are taken in Python."""

    def f(a):
        rates = lambda t, y: np.array([-a * (y[0] - np.cos(t)), y[0] - y[1]])
        return solve_ivp(rates, (0.0, 1.0), START, "BDF", t_eval=[1.0]).y.sum()

    plain = pb.value_and_grad(f)
    fast = pb.compile(plain, wait=True)
    for a in (1.0, 1.1, 1.2, 1e6, 1.1e6, 1.3):
        assert np.allclose(fast(np.float64(a)), plain(np.float64(a)), 1e-6, 1e-9), a


TRANSFORMED = [
    lambda f: lambda a: pb.jvp(lambda a: f(a[1]) * a[0], (a,), (np.ones(3),))[1],
    lambda f: lambda a: pb.vmap(pb.grad(f))(a),
    lambda f: lambda a: pb.grad(lambda a: pb.grad(f)(a[0]))(a),
    lambda f: lambda a: pb.hessian(lambda a: f(a[0] * a[1]))(a),
]


@pytest.mark.parametrize("transformed", TRANSFORMED if LONG else TRANSFORMED[:1])
def test_transformed(transformed):
    plain = transformed(FLOWS["RK23"])
    fast = pb.compile(plain, wait=True)
    for a in (1.0, 1.1, 0.9):
        at = a * np.array([1.0, 1.2, 0.8])
        assert np.allclose(fast(at), plain(at), 1e-7)


@pytest.mark.share(2)
def test_ways_that_were_never_met():
    """A later number leads a right-hand side where it never was."""

    def f(a):
        rates = lambda t, y: np.array([a * y[0] if y[0] < 3.0 else 3.0 * a - y[0] + 3.0])
        return solve_ivp(rates, (0.0, 1.0), np.ones(1), "BDF", [0.5, 1.0]).y.sum()

    plain = pb.value_and_grad(f)
    fast = pb.compile(plain, wait=True)
    for a in (0.5, 0.55, 0.6, 1.5, 0.65, 1.6, 1.7, 1.8):
        assert np.allclose(fast(np.float64(a)), plain(np.float64(a)), 1e-7, 1e-9), a

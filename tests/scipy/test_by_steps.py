"""SciPy's solvers advanced by hand, and `ode` and `complex_ode`: derivatives, and no warnings."""

import math

import numpy as np
import pytest
from scipy import integrate

import pullback as pb
from pullback.core.errors import ConversionError
from pullback.core.trace import enclosing

SOLVERS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
TIGHT = {"rtol": 1e-7, "atol": 1e-9}


def exact(fun, y0, t0=0.0, t1=2.0):
    """The end of a solution."""
    how = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12, "max_step": 0.02}
    return integrate.solve_ivp(fun, (t0, t1), y0, **how).y[:, -1].sum()


def ended(kind, fun, y0, t0=0.0, t1=2.0, **how):
    solver = getattr(integrate, kind)(fun, t0, y0, t1, **TIGHT, **how)
    while solver.status == "running":
        solver.step()
    return np.sum(solver.y)


SIDES = {
    "parameter": (lambda p: lambda t, y: -p * y + np.sin(t), lambda p: [1.0]),
    "state": (lambda p: lambda t, y: np.stack([y[1], -p * y[0]]), lambda p: [1.0, p]),
    "kink": (lambda p: lambda t, y: np.abs(t - p) - y, lambda p: [0.5]),
    "jump": (lambda p: lambda t, y: np.where(t < p, 1.0, 0.0) - y, lambda p: [0.5]),
    "if": (lambda p: lambda t, y: y * 0 + 1.0 if t < p else 0.5 * y, lambda p: [0.5]),
}


def joined(y0):
    return np.stack([0.0 + x for x in y0])


def slope(f, p, by=1e-4):
    return (f(p - 2 * by) - 8 * f(p - by) + 8 * f(p + by) - f(p + 2 * by)) / (12 * by)


@pytest.mark.share(10)
@pytest.mark.parametrize("kind", SOLVERS)
@pytest.mark.parametrize("name", SIDES)
def test_solvers_by_hand(name, kind):
    side, y0 = SIDES[name]
    f = lambda p: ended(kind, side(p), joined(y0(p)))
    expected = pytest.approx(slope(lambda p: exact(side(p), y0(p)), 0.8037), rel=2e-5)
    assert pb.grad(f)(0.8037) == expected
    assert pb.jvp(f, (0.8037,), (1.0,))[1] == expected
    assert pb.value_and_grad(f)(0.8037)[0] == f(0.8037)


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", SOLVERS)
def test_limits_of_time(kind):
    """The last t is the one that was given, and the first as well."""
    fun = lambda t, y: -0.5 * y + np.cos(t)
    to = lambda p: ended(kind, fun, [1.0], 0.0, p)
    assert pb.grad(to)(1.3) == pytest.approx(
        slope(lambda p: exact(fun, [1.0], 0.0, p), 1.3), rel=1e-5
    )
    since = lambda p: ended(kind, fun, [1.0], p, 2.0)
    expected = slope(lambda p: exact(fun, [1.0], p, 2.0), 0.3)
    assert pb.grad(since)(0.3) == pytest.approx(expected, rel=1e-5)
    last = lambda p: getattr(integrate, kind)(fun, p, [1.0], 2 * p).t ** 2
    assert pb.grad(last)(0.5) == pytest.approx(1.0)


@pytest.mark.share(3)
@pytest.mark.parametrize("kind", SOLVERS)
def test_between_the_steps(kind):
    def at(p, t=0.7):
        solver = getattr(integrate, kind)(lambda t, y: -p * y, 0.0, [1.0], 2.0, **TIGHT)
        while solver.t < t:
            solver.step()
        between = solver.dense_output()
        return between(t)[0] + between(np.array([t, t]))[0, 1]

    assert pb.grad(at)(0.8) == pytest.approx(-1.4 * np.exp(-0.56), rel=1e-5)
    moving = pb.grad(lambda t: at(0.8, t))(0.7)
    assert moving == pytest.approx(-1.6 * np.exp(-0.56), rel=1e-4)


def test_second_derivatives():
    f = lambda p: ended("RK45", SIDES["kink"][0](p), [0.5])
    second = slope(lambda p: slope(lambda q: exact(SIDES["kink"][0](q), [0.5]), p, 1e-3), 0.8, 1e-2)
    assert pb.grad(pb.grad(f))(0.8) == pytest.approx(second, rel=1e-3)


def turning(kind, p):
    """A right-hand side that compares many times, and a result that the comparisons do not lead."""
    fun = lambda t, y: (1.0 if t < p else 0.5) + 0.0 * y
    if kind == "ode":
        solver = integrate.ode(fun).set_integrator("dopri5", max_step=0.05)
        return solver.set_initial_value([0.0], 0.0).integrate(2.0)[0]
    if kind == "complex_ode":
        solver = integrate.complex_ode(fun).set_integrator("dopri5", max_step=0.05)
        return np.real(solver.set_initial_value([0.0], 0.0).integrate(2.0)[0])
    return ended(kind, fun, [0.0], max_step=0.05)


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", ["ode", "complex_ode", *SOLVERS])
def test_comparisons_of_a_right_hand_side_are_no_search(kind):
    """Warnings are errors here."""
    for f in (lambda p: turning(kind, p), lambda p: p + turning(kind, p)):
        extra = f(1.0) - turning(kind, 1.0)
        assert pb.grad(f)(0.8) == pytest.approx(0.5 + extra, rel=1e-5)


@pytest.mark.share(2)
@pytest.mark.parametrize("kind", ["vode", "dopri5", "dop853", "lsoda"])
def test_complex_ode(kind):
    def end(p, how=kind):
        solver = integrate.complex_ode(lambda t, z: 1j * p * z - np.abs(t - p) * z)
        solver.set_integrator(how, rtol=1e-9, atol=1e-11, nsteps=5000)
        z = solver.set_initial_value(1 + 0.5j * p, 0.0).integrate(1.5)
        return np.real(z[0]) + np.abs(z[0])

    area = lambda p: (p**2 + (1.5 - p) ** 2) / 2
    known = lambda p: (1 + 0.5j * p) * np.exp(1.5j * p - area(p))
    expected = pytest.approx(slope(lambda p: known(p).real + abs(known(p)), 0.8), rel=1e-5)
    assert pb.grad(end)(0.8) == expected
    assert pb.jvp(end, (0.8,), (1.0,))[1] == expected


@pytest.mark.parametrize("kind", ["ode", "solve_ivp", *SOLVERS])
def test_what_solvers_call_is_no_search_wherever_they_call_it(kind):
    """Classes pass the same place as functions, from when they are made."""
    awaited = []

    def fun(t, y):
        awaited.extend([trace.awaited for trace in enclosing() if trace.verb == "grad"])
        return -y

    def end(p):
        if kind == "ode":
            solver = integrate.ode(lambda t, y: p * fun(t, y)).set_initial_value([1.0], 0.0)
            return solver.integrate(1.0)[0]
        if kind == "solve_ivp":
            return integrate.solve_ivp(lambda t, y: p * fun(t, y), (0, 1), [1.0]).y[0, -1]
        return ended(kind, lambda t, y: p * fun(t, y), [1.0], t1=1.0)

    pb.grad(end)(0.8)
    assert set(awaited) == {math.inf}


def advanced(y0, p, q, end, kind):
    """`ode` with parameters that are set before it begins and again on its way."""
    solver = integrate.ode(lambda t, y, a=1.0, b=1.0: [y[1], -a * y[0] - b * y[1]])
    solver.set_integrator(kind, rtol=1e-9, atol=1e-10).set_initial_value([y0, 0.5], 0.0)
    solver.set_f_params(p).integrate(0.5 * end)
    first = solver.y[0]
    return solver.set_f_params(p, q).integrate(end)[1] + first + solver.t


@pytest.mark.parametrize("kind", ["dopri5", "lsoda", "vode"])
@pytest.mark.parametrize("mapped", range(4))
def test_an_integrator_for_each_example(kind, mapped):
    """Whatever is mapped: initial values, parameters from the start, later ones, the end."""
    f = lambda x: advanced(*[x if i == mapped else 1.0 + 0.2 * i for i in range(4)], kind)
    xs = np.array([0.8, 1.7])
    for g in (f, pb.grad(f)):
        np.testing.assert_allclose(pb.vmap(g)(xs), [g(x) for x in xs], rtol=1e-12)


def of_steps(kind, read, k):
    """What a solver of held steps says; each is taken from attributes that the mapped k reaches."""
    start, end = np.stack([1.0 + 0 * k, 0.5 * k]), 0.9
    solver = getattr(integrate, kind)(
        lambda t, y: -k * y, 0.0, start, end, first_step=0.3, max_step=0.3, rtol=0.5, atol=0.5
    )
    times, pieces = [solver.t], []
    while solver.status == "running":
        solver.step()
        times.append(solver.t)
        pieces.append(solver.dense_output())
    within = integrate.OdeSolution(times, pieces) if read == "between" else None
    return solver.y[1] if within is None else within(0.4)[1] + within(np.array([0.2, 0.8])).sum()


@pytest.mark.parametrize("read", ["end", "between"])
@pytest.mark.parametrize("kind", ["RK45", "DOP853", "Radau"])
def test_a_solver_for_each_example(kind, read):
    f = lambda k: of_steps(kind, read, k)
    ks = np.array([0.8, 0.7])
    for g in (f, pb.grad(f)):
        np.testing.assert_allclose(pb.vmap(g)(ks), [g(k) for k in ks], rtol=1e-12)


def test_solvers_that_need_other_numbers_of_steps():
    f = lambda k: ended("RK45", lambda t, y: -k * y, [1.0])
    with pytest.raises(ConversionError, match="answer differently"):
        pb.vmap(f)(np.array([0.5, 40.0]))

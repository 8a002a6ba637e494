"""What solvers find, against closed forms; what they refuse; and where they are met."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.integrate import dblquad, nquad, quad, solve_ivp
from scipy.optimize import brentq

import pullback as pb
from pullback.core.registry import FUNCTIONS


def cube_root(a):
    return brentq(lambda x: x**3 - a, 0.0, 9.0)


class TestRoots:
    def test_closed_form(self):
        """Value, first, second and third derivative of a cube root."""
        assert cube_root(8.0) == optimize.brentq(lambda x: x**3 - 8.0, 0.0, 9.0)
        assert np.isclose(pb.grad(cube_root)(8.0), 1 / 12, rtol=1e-13)
        assert np.isclose(pb.grad(pb.grad(cube_root))(8.0), -2 / 9 * 8 ** (-5 / 3), rtol=1e-12)
        third = pb.grad(pb.grad(pb.grad(cube_root)))(8.0)
        assert np.isclose(third, 10 / 27 * 8 ** (-8 / 3), rtol=1e-11)

    def test_modes_agree(self):
        """Forward over reverse, and reverse over forward."""
        forward = lambda a: pb.jvp(cube_root, (a,), (1.0,))[1]
        assert np.isclose(pb.grad(forward)(8.0), pb.grad(pb.grad(cube_root))(8.0), rtol=1e-13)

    def test_start_has_no_derivative(self):
        """The root does not depend on where the search begins."""
        g = pb.grad(lambda x0: optimize.newton(lambda x: x**2 - 2.0, x0) + 0.0 * x0)(1.0)
        assert g == 0.0

    def test_plain_outside(self):
        """Without a transformation SciPy's results are returned as they are."""
        x, result = brentq(lambda x: x**3 - 8.0, 0.0, 9.0, full_output=True)
        assert type(x) is float
        assert type(result) is optimize.RootResults

    def test_result_object(self):
        """Inside, the root carries a derivative, and counts are plain."""

        def seen(a):
            _, result = brentq(lambda x: x**3 - a, 0.0, 9.0, full_output=True)
            assert type(result) is optimize.RootResults
            assert type(result.iterations) is int
            return result.root

        assert np.isclose(pb.grad(seen)(8.0), 1 / 12)

    def test_batch_of_closures(self):
        """Each example is solved by itself, whatever the order of the transformations."""
        a = np.array([1.0, 8.0, 27.0])
        expected = [pb.grad(cube_root)(x) for x in a]
        assert np.allclose(pb.vmap(cube_root)(a), np.cbrt(a), rtol=1e-12)
        assert np.allclose(pb.vmap(pb.grad(cube_root))(a), expected, rtol=1e-12)
        total = lambda a: pb.vmap(cube_root)(a).sum()
        assert np.allclose(pb.grad(total)(a), expected, rtol=1e-12)

    def test_nested_batches(self):
        """Two batches, of which the inner one is met first."""
        f = lambda a, b: brentq(lambda x: x**3 - b * a, 0.0, 99.0)
        both = pb.vmap(pb.vmap(f, in_axes=(None, 0)), in_axes=(0, None))
        a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
        assert np.allclose(both(a, b), np.cbrt(np.outer(a, b)), rtol=1e-11)

    def test_root_of_a_root(self):
        """A solver in the function of a solver."""
        inner = lambda a: brentq(lambda x: x**2 - a, 0.0, 9.0)
        outer = lambda b: brentq(lambda a: inner(a) + a - b, 0.1, 9.0)
        step = 1e-5
        slope = (outer(3.0 + step) - outer(3.0 - step)) / (2 * step)
        assert np.isclose(pb.grad(outer)(3.0), slope, rtol=1e-7)

    def test_in_a_checkpoint_and_compiled(self):
        """What records a function does the solver again, with equal results."""
        assert np.isclose(pb.grad(pb.checkpoint(cube_root))(8.0), 1 / 12)
        compiled = pb.compile(pb.grad(cube_root))
        for a in (8.0, 27.0, 1.0, 8.0):
            assert compiled(a) == pb.grad(cube_root)(a)

    def test_an_eager_leaf(self):
        """A leaf that requires a gradient, without a transformation, through `pullback.scipy`."""
        a = pb.array(8.0, requires_grad=True)
        pb.scipy.optimize.brentq(lambda x: x**3 - a, 0.0, 9.0).backward()
        assert np.isclose(a.grad, 1 / 12)

    def test_a_method(self):
        """`pullback.scipy.optimize` is the namespace for code that rebinding does not reach."""
        assert pb.scipy.optimize.OptimizeResult is optimize.OptimizeResult
        assert pb.scipy.optimize.brentq.__doc__ == optimize.brentq.__doc__


def stopped(a):
    return brentq(lambda x: x**3 - a, 0.0, 9.0, maxiter=3, disp=False)


def interrupted(a):
    return optimize.minimize(lambda x: (x[0] - a) ** 4, 3.0, options={"maxiter": 1}).x[0]


def rootless(a):
    return optimize.fsolve(lambda x: x**2 + a, 1.0)[0]


def anywhere(a):
    return optimize.root(lambda x: (x - a) ** 2 * 0.0, 1.0).x[0]


def on_an_edge(a):
    return optimize.linprog([-1.0, -1.0], [[1.0, 1.0]], np.stack([a])).x[0]


def exploding(a):
    return solve_ivp(lambda t, y: a * y**2, (0, 2), [1.0]).y[0, -1]


def divergent(a):
    return quad(lambda x: a / x, 0, 1)[0]


class TestNoDerivative:
    @pytest.mark.parametrize(
        ("find", "words"),
        [
            (stopped, "convergence"),
            (interrupted, "Maximum number"),
            (rootless, "good progress"),
            (anywhere, "singular"),
            (on_an_edge, "singular"),
            (exploding, "step size"),
            (divergent, "subdivisions"),
        ],
    )
    @pytest.mark.filterwarnings("ignore")  # SciPy's, of what fails
    def test_refused(self, find, words):
        """A solution that was not found, or is not unique, raises in both modes."""
        with pytest.raises(pb.SolverError, match=words):
            pb.grad(find)(1.0)
        with pytest.raises(pb.SolverError, match=words):
            pb.jvp(find, (1.0,), (1.0,))

    @pytest.mark.filterwarnings("ignore")  # SciPy's, of what fails
    def test_counts_are_plain(self):
        """What does not depend on the solution may be used when there is none."""
        f = lambda a: a * optimize.fsolve(lambda x: x**2 + a, 1.0, full_output=True)[2]
        assert pb.grad(f)(1.0) == 5.0

    def test_hess_inv(self):
        """What nobody has a derivative for is an error, and NaN in forward mode."""
        f = lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, 3.0).hess_inv[0, 0]
        with pytest.raises(pb.MissingRuleError, match="hess_inv"):
            pb.grad(f)(1.0)
        assert np.isnan(pb.jvp(f, (1.0,), (1.0,))[1])

    def test_a_kink(self):
        """The median of data is where the slope of the objective jumps."""
        f = lambda y: optimize.minimize_scalar(lambda x: np.sum(np.abs(x - y)) + 0.0 * x * x).x
        with pytest.raises(pb.SolverError):
            pb.grad(f)(np.array([1.0, 2.0, 5.0]))


class TestMinima:
    def test_projection_on_a_ball(self):
        """The nearest point of the unit ball to w has the Jacobian (I - n n') / |w|."""
        w = np.array([3.0, 4.0])
        ball = {"type": "ineq", "fun": lambda x: 1.0 - x @ x}

        def nearest(w):
            start = np.zeros(2)
            return optimize.minimize(
                lambda x: np.sum((x - w) ** 2), start, method="SLSQP", constraints=ball
            ).x

        n = w / 5.0
        expected = (np.eye(2) - np.outer(n, n)) / 5.0
        assert np.allclose(pb.jacobian(nearest)(w), expected, atol=1e-9)
        assert np.allclose(pb.jacobian(nearest, mode="reverse")(w), expected, atol=1e-9)
        inside = np.array([0.3, 0.1])
        assert np.allclose(pb.jacobian(nearest)(inside), np.eye(2), atol=1e-9)

    def test_regression(self):
        """Least squares by `minimize` is the pseudoinverse, and its curvature in A as well."""
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=(6, 3)), rng.normal(size=6)
        found = lambda b: optimize.minimize(lambda x: np.sum((a @ x - b) ** 2), np.zeros(3)).x
        assert np.allclose(pb.jacobian(found)(b), np.linalg.pinv(a), atol=1e-9)
        direct = lambda a: np.linalg.solve(a.T @ a, a.T @ b)
        by_scipy = lambda a: optimize.lsq_linear(a, b).x
        assert np.allclose(pb.jacobian(by_scipy)(a), pb.jacobian(direct)(a), atol=1e-10)

    def test_envelope(self):
        """The derivative of the least value is the partial derivative there."""
        f = lambda w: optimize.minimize(lambda x: np.sum(x**2 - w * x), np.zeros(2)).fun
        w = np.array([1.0, 3.0])
        assert np.allclose(pb.grad(f)(w), -w / 2, atol=1e-9)
        assert np.allclose(pb.hessian(f)(w), -np.eye(2) / 2, atol=1e-9)

    def test_shadow_prices(self):
        """The derivative of a linear program's value by its right-hand sides: its marginals."""
        c, a, b = [-1.0, -2.0], [[1.0, 1.0], [1.0, 3.0]], np.array([4.0, 6.0])
        marginals = optimize.linprog(c, a, b).ineqlin.marginals
        assert np.allclose(pb.grad(lambda b: optimize.linprog(c, a, b).fun)(b), marginals)


class TestIntegrals:
    def test_gamma(self):
        """All derivatives of the gamma function by its integral."""
        f = lambda s: quad(lambda x: x ** (s - 1) * np.exp(-x), 0, np.inf)[0]
        euler = 0.5772156649015329
        second = np.pi**2 / 6 + (1 - euler) ** 2 - 1
        assert np.isclose(pb.grad(f)(2.0), 1 - euler, rtol=1e-9)
        assert np.isclose(pb.grad(pb.grad(f))(2.0), second, rtol=1e-9)

    def test_limits(self):
        """The fundamental theorem, for both limits, in order and reversed."""
        f = lambda a, b: quad(np.cos, a, b)[0]
        assert np.allclose(pb.grad(f, (0, 1))(0.3, 1.1), (-np.cos(0.3), np.cos(1.1)))
        assert np.allclose(pb.grad(f, (0, 1))(1.1, 0.3), (-np.cos(1.1), np.cos(0.3)))
        hessian = pb.hessian(f, (0, 1))(0.3, 1.1)
        assert np.allclose(hessian, [[np.sin(0.3), 0.0], [0.0, -np.sin(1.1)]])

    def test_a_branch(self):
        """An integrand that asks for values: the price of an option."""
        f = lambda k: quad(lambda x: (x - k) * np.exp(-x) if x > k else 0.0 * x, 0, 40)[0]
        assert np.isclose(pb.grad(f)(1.0), -np.exp(-1.0), rtol=1e-7)

    @pytest.mark.parametrize("k", [1.0, 0.5, 13 / 7, np.nextafter(10.0, 0)])
    def test_kinks(self, k):
        """Wherever the branch lies among the points."""
        f = lambda k: quad(lambda x: (x - k) * np.exp(-x) if x > k else 0.0 * x, 0, 40)[0]
        assert np.isclose(pb.grad(f)(k), -np.exp(-k), rtol=1e-8)

    def test_slopes_that_are_singular_at_limits(self):
        """The moment of an ellipse, whose chords end with infinite slopes."""
        chord = lambda a, b, x: b * np.sqrt(1 - x**2 / a**2)
        f = lambda a, b: dblquad(
            lambda y, x: x**2 + y**2, -a, a, lambda x: -chord(a, b, x), lambda x: chord(a, b, x)
        )[0]
        expected = np.pi / 4 * np.array([3 * 1.3**2 * 0.7 + 0.7**3, 1.3**3 + 3 * 1.3 * 0.7**2])
        assert np.allclose(pb.grad(f, (0, 1))(1.3, 0.7), expected, rtol=1e-8)

    def test_numbers_of_python(self):
        """Limits and weights that are floats; points that move."""
        f = lambda a: nquad(lambda x, y: np.exp(-a * x * y), [(0, 1), (0, a)])[0] * np.ones(())
        pb.testing.check_grads(f, (0.9,))
        f = lambda tau: quad(lambda t: np.exp(-t / tau), 0, np.inf, weight="cos", wvar=2.0)[0]
        assert np.isclose(pb.jvp(f, (0.8,), (1.0,))[1], pb.grad(f)(0.8), rtol=1e-9)
        f = lambda a: quad(lambda x: np.exp(-((x - a) ** 2) / 2e-4), -1, 3, points=[a])[0]
        assert abs(pb.grad(f)(0.7)) < 1e-12

    def test_volume(self):
        """The volume of an ellipsoid's octant, by three integrals."""

        def f(w):
            a, b = w[0], w[1]
            return integrate.dblquad(lambda y, x: a * x * y + b, 0, a, 0, lambda x: b * x)[0]

        # a b^2 a^4 / 8 + b^2 a^2 / 2
        a, b = 1.3, 0.7
        expected = [5 * b**2 * a**4 / 8 + b**2 * a, b * a**5 / 4 + b * a**2]
        assert np.allclose(pb.grad(f)(np.array([a, b])), expected, rtol=1e-10)


class TestDifferentialEquations:
    @pytest.mark.parametrize("method", ["RK23", "RK45", "DOP853", "LSODA", "BDF", "Radau"])
    def test_decay(self, method):
        """y = y0 exp(-k t), by all methods, in k, y0 and the end of time."""
        how = {"method": method, "rtol": 1e-8, "atol": 1e-10}

        def f(k, y0, t):
            fun = lambda s, y: -k * y
            return solve_ivp(fun, (0.0, t), np.stack([y0]), **how).y[0, -1]

        k, y0, t = 0.8, 2.0, 1.5
        y = y0 * np.exp(-k * t)
        gradient = pb.grad(f, (0, 1, 2))(k, y0, t)
        assert np.allclose(gradient, (-t * y, y / y0, -k * y), rtol=1e-6)

    def test_stiff(self):
        """Steps that no explicit method takes: an implicit one solves for each."""
        fun = lambda t, y, a: -1e5 * (y - np.cos(a * t)) - a * np.sin(a * t)
        f = lambda a: solve_ivp(fun, (0, 1), [1.0], method="BDF", args=(a,), rtol=1e-5).y[0, -1]
        assert np.isclose(pb.grad(f)(2.0), -np.sin(2.0), rtol=1e-4)

    def test_event(self):
        """The time of flight, and where a throw lands, to second order."""
        down = lambda t, y: y[1]
        down.terminal, down.direction = True, -1
        fall = lambda t, y: np.stack([y[2], y[3], 0.0 * t, -9.81 + 0.0 * t])

        def f(v):
            start = np.stack([0.0, 1e-12, v[0], v[1]])
            found = solve_ivp(fall, (0, 9), start, events=down, rtol=1e-8)
            return np.stack([found.t_events[0][0], found.y_events[0][0, 0]])

        v = np.array([3.0, 4.0])
        expected = np.array([[0.0, 2 / 9.81], [8 / 9.81, 6 / 9.81]])
        assert np.allclose(pb.jacobian(f)(v), expected, atol=1e-6)
        second = pb.jacobian(pb.jacobian(f))(v)
        assert np.allclose(second[1], [[0, 2 / 9.81], [2 / 9.81, 0]], atol=1e-5)

    def test_dense_output(self):
        """`sol` at plain times and at times that move."""
        how = {"dense_output": True, "rtol": 1e-9, "atol": 1e-11}
        f = lambda k, t: solve_ivp(lambda s, y: -k * y, (0, 2), [1.0], **how).sol(t)[0]
        expected = (-1.2 * np.exp(-0.96), -0.8 * np.exp(-0.96))
        assert np.allclose(pb.grad(f, (0, 1))(0.8, 1.2), expected, rtol=1e-6)

    def test_ode(self):
        """The integrator with a state goes on with derivatives."""

        def f(k):
            r = integrate.ode(lambda t, y: -k * y).set_integrator("dopri5", rtol=1e-9)
            r.set_initial_value([1.0], 0.0)
            while r.t < 1.4:
                r.integrate(r.t + 0.5)
            return r.y[0]

        assert np.isclose(pb.grad(f)(0.8), -1.5 * np.exp(-1.2), rtol=1e-7)


@pytest.mark.parametrize("module", [optimize, integrate], ids=lambda module: module.__name__)
def test_the_table_has_every_rule(module):
    """The page *With SciPy* lists the functions that have a rule, and no others."""
    page = (Path(__file__).parents[2] / "docs" / "scipy.md").read_text("utf-8")
    table = page.split(f"| functions of `{module.__name__}` |")[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    mirror = getattr(pb.scipy, module.__name__.split(".")[1])
    served = {name for name in mirror.__all__ if FUNCTIONS.get(is_key(getattr(module, name)))}
    assert listed == served


def is_key(x):
    return x if callable(x) else None


def test_nothing_of_scipy_is_imported():
    """`import pullback` leaves SciPy alone; a transformation of a program without it does, too."""
    code = (
        "import sys, numpy as np, pullback as pb; pb.grad(np.sin)(1.0);"
        "assert not [name for name in sys.modules if name.startswith('scipy.optimize')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestObjectsOfBatches:
    def test_polynomial_of_a_boundary_problem(self):
        """`sol` is of each example its own."""
        rows = np.zeros((2, 9))

        def f(a, at=0.5):
            slope = lambda x, y: np.vstack((y[1], -a * np.exp(y[0])))
            ends = lambda a, b: np.array([a[0], b[0]])
            found = integrate.solve_bvp(slope, ends, np.linspace(0, 1, 9), rows, tol=1e-6)
            return found.sol(at)[0]

        values, slopes = pb.vmap(pb.value_and_grad(f))(np.array([1.2, 1.3]))
        for k, a in enumerate((1.2, 1.3)):
            value, slope = pb.value_and_grad(f)(a)
            assert np.isclose(values[k], value, rtol=1e-12)
            assert np.isclose(slopes[k], slope, rtol=1e-9)

    @pytest.mark.share(2)
    @pytest.mark.parametrize("method", ["RK45", "LSODA"])
    def test_single_steps_of_flows(self, method):
        """The examples take different numbers of steps; of each the last is read, or another."""
        rates = np.array([0.5, 3.0, 20.0])

        def flow(k):
            slope = lambda t, y: [-k * y[0], k * y[0] - y[1]]
            return integrate.solve_ivp(slope, (k / 9, 1 + k / 10), [1.0, k], method, None, True)

        def read(k):
            s = flow(k)
            first, second = s.y
            ends = s.y[:, -1], s.y.T[-1], s.t[-1] * s.t[0], s.y[0][-1], first[2], second[-2]
            return np.concatenate([np.ravel(x) for x in (*ends, s.y[..., 1], s.sol(1.1))])

        for f in (read, pb.jacobian(read), lambda k: pb.jvp(read, (k,), (1.0,))[1]):
            each = np.stack([f(k) for k in rates])
            np.testing.assert_allclose(pb.vmap(f)(rates), each, rtol=1e-10, atol=1e-13)

    @pytest.mark.parametrize(
        "read",
        [
            lambda s: np.sum(s.y),
            lambda s: s.y * 2,
            lambda s: len(s.t),
            lambda s: s.t.shape,
            lambda s: s.y[:, ::2],
            lambda s: np.trapezoid(s.y[0], s.t),
        ],
    )
    def test_steps_have_no_common_shape(self, read):
        flow = lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0, 1), [1.0])
        with pytest.raises(pb.ArgumentError, match=r"different numbers of steps.*\n.*t_eval"):
            pb.vmap(lambda k: read(flow(k)))(np.array([0.5, 20.0]))

    def test_it_is_a_polynomial_like_any_other(self):
        """Its derivative, at points that move, and its integral."""

        def f(a):
            slope = lambda x, y: np.vstack((y[1], -a * np.exp(y[0])))
            ends = lambda a, b: np.array([a[0], b[0]])
            rows = np.zeros((2, 5))
            sol = integrate.solve_bvp(slope, ends, np.linspace(0, 1, 5), rows, tol=1e-8).sol
            values = sol(a / 3, 1)[0], sol([0.2, a / 4], nu=2)[1], sol.derivative()(0.7)
            return np.concatenate([np.ravel(x) for x in (*values, sol.integrate(0.1, a / 2))])

        value, slope = pb.jvp(f, (1.2,), (1.0,))
        assert np.array_equal(value, f(1.2))
        steps = [(f(1.2 + h) - f(1.2 - h)) / (2 * h) for h in (1e-3, 5e-4)]
        np.testing.assert_allclose(slope, (4 * steps[1] - steps[0]) / 3, rtol=1e-6)
        np.testing.assert_allclose(pb.jacobian(f)(1.2), slope, rtol=1e-10)

    def test_other_objects_are_refused(self):
        """What an optimiser holds beside arrays is not that of the first example."""
        found = lambda a: optimize.minimize(lambda x: np.sum((x - a) ** 4 + x**2), np.ones(2),
                                            method="L-BFGS-B")  # fmt: skip
        with pytest.raises(pb.MissingRuleError, match="hess_inv"):
            pb.vmap(lambda a: found(a).hess_inv.todense())(np.array([1.0, 2.0]))

    def test_stepwise(self):
        def f(y):
            solver = integrate.ode(lambda t, y: -y).set_integrator("dopri5")
            return solver.set_initial_value(y, 0.0).integrate(1.0)

        starts = np.array([[1.0], [2.0]])
        assert np.array_equal(pb.vmap(f)(starts), [f(start) for start in starts])


class TestStepByStep:
    """`LSODA` in a loop of the user's own: each step moves with the function and the start."""

    @staticmethod
    def run(k, start, begin):
        solver = integrate.LSODA(
            fun=lambda t, y: [-k * y[0] + np.cos(t), y[0] * y[1]],
            t0=begin,
            y0=[start, 1.0],
            t_bound=1.5,
            jac=lambda t, y: np.array([[-k, 0], [y[1], y[0]]]),
            rtol=1e-10,
            atol=1e-12,
        )
        while solver.status == "running":
            solver.step()
        return solver

    def test_derivatives(self):
        f = lambda *xs: self.run(*xs).y
        at = (1.4, 0.5, 0.1)
        assert np.array_equal(pb.vjp(f, *at)[0], f(*at))
        _, slope = pb.jvp(f, at, (0.7, 0.3, -0.4))
        way = lambda h: f(1.4 + 0.7 * h, 0.5 + 0.3 * h, 0.1 - 0.4 * h)
        np.testing.assert_allclose(slope, (way(1e-4) - way(-1e-4)) / 2e-4, rtol=1e-7)
        first = pb.grad(lambda *xs: f(*xs)[1], (0, 1, 2))(*at)
        np.testing.assert_allclose(np.dot(first, (0.7, 0.3, -0.4)), slope[1], rtol=1e-9)

    @pytest.mark.share(2)
    def test_by_what_the_function_reads(self):
        """The start is plain: second derivatives as well."""
        f = pb.grad(lambda k: self.run(k, 0.5, 0.0).y[0])
        slope = (f(1.4001) - f(1.3999)) / 2e-4
        np.testing.assert_allclose(pb.grad(f)(1.4), slope, rtol=1e-6)

    def test_between_its_steps(self):
        """`dense_output` of the last step."""
        f = lambda k: self.run(k, 0.5, 0.0).dense_output()(1.49)[0]
        end = lambda k: integrate.solve_ivp(
            lambda t, y: -k * y + np.cos(t), (0, 1.49), [0.5], rtol=1e-12, atol=1e-13
        ).y[0, -1]
        assert pb.grad(f)(1.4) == pytest.approx((end(1.4001) - end(1.3999)) / 2e-4, rel=1e-6)


def test_programs_without_a_solution():
    """The result is SciPy's, with None for the point."""
    for solver in (optimize.linprog, optimize.milp):
        free = {"bounds": (-np.inf, np.inf)}
        status = lambda c, solver=solver, free=free: c[0] * solver(c, **free).status
        x = np.ones(2)
        assert np.array_equal(pb.grad(status)(x), [solver(x, **free).status, 0.0])


class TestStoppedByRounding:
    """A solver that was asked for more digits than there are has found its solution."""

    def test_at_the_root(self):
        """SciPy says that no further improvement is possible."""
        fun = lambda u, p: np.array([u[0] ** 3 + p * u[1] - 1.7, np.exp(u[1]) - u[0] * p])
        options = {"xtol": 0.0, "ftol": 0.0}
        ways = {
            "root": lambda p: optimize.root(fun, [0.5, 0.5], (p,), tol=0.0).x,
            "fsolve": lambda p: optimize.fsolve(fun, [0.5, 0.5], (p,), xtol=0.0),
            "lm": lambda p: optimize.root(fun, [0.5, 0.5], (p,), "lm", options=options).x,
            "leastsq": lambda p: optimize.leastsq(fun, [0.5, 0.5], (p,), **options)[0],
        }
        assert not optimize.root(fun, [0.5, 0.5], (1.3,), tol=0.0).success
        slopes = pb.jacobian(lambda p: optimize.root(fun, [0.5, 0.5], (p,)).x)(1.3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for solver in ways.values():
                np.testing.assert_allclose(pb.jacobian(solver)(1.3), slopes, rtol=1e-9)

    def test_where_there_is_no_root(self):
        """It may have stopped near a minimum of the residual."""
        for shift in (1e-7, 1e-3, 0.3):
            with pytest.raises(pb.SolverError):
                pb.jacobian(lambda p, e=shift: optimize.root(lambda u: u**2 + e * p, [0.9]).x)(1.0)

    def test_at_the_minimum(self):
        def found(c, method):
            """The slope that it is given differs from that of the function, by little."""
            fun = lambda x: np.sum((x - c) ** 2) + 0.2 * np.sum(x**4)
            slope = lambda x: 2 * (x - c) + 0.8 * x**3 + 1e-6
            options = {"gtol": 1e-9}
            return optimize.minimize(fun, [0.1, 0.1], jac=slope, method=method, options=options)

        c = np.array([0.6, 1.2])
        for method in ("BFGS", "CG"):
            assert "precision loss" in found(c, method).message
            slopes = np.diag(pb.jacobian(lambda c, m=method: found(c, m).x)(c))
            np.testing.assert_allclose(slopes, 2 / (2 + 2.4 * found(c, method).x ** 2), rtol=1e-5)

    def test_in_a_trust_region(self):
        """It says there that no step is predicted to lower the function."""

        def found(c):
            fun = lambda x: np.sum(np.exp(x + c) - c * x) + 1e6
            slope, hess = lambda x: np.exp(x + c) - c, lambda x: np.diag(np.exp(x + c))
            options = {"gtol": 1e-14}
            return optimize.minimize(
                fun, np.zeros(2), jac=slope, hess=hess, method="trust-exact", options=options
            )

        c = np.array([1.3, 2.1])
        assert "predict improvement" in found(c).message
        np.testing.assert_allclose(
            pb.jacobian(lambda c: found(c).x)(c), np.diag(1 / c - 1), rtol=1e-9, atol=1e-12
        )

    def test_elsewhere(self):
        """At a kink the equations of a minimum do not hold."""
        kinked = lambda c: optimize.minimize(lambda x: np.sum(np.abs(x - c)), [0.1, 0.1]).x.sum()
        with pytest.raises(pb.SolverError, match=r"singular|do not hold"):
            pb.grad(kinked)(np.array([0.6, 1.2]))

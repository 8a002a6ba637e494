"""Door 2: vectors, products with Jacobians, rules of one's own."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, lsqr

import pullback as pb
from examples.doors import vectors

A = np.random.default_rng(0).normal(size=(4, 4)) + 4 * np.eye(4)
B = np.array([1.0, -2.0, 0.5, 3.0])
NAMES = list(vectors.SOLVERS)


def central(f, x, h=1e-6):
    """The Jacobian of f by central differences, a column for each number of x."""
    x = np.asarray(x, float)
    columns = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)]
    return np.stack(columns, axis=-1)


class TestArrays:
    def test_broadcasting_sums_back(self):
        """Gradients have the shapes of weights and bias, and the values of central differences."""
        w_bar, bias_bar = vectors.layer()
        x = np.arange(12.0).reshape(4, 3) / 10

        def total(p):
            return np.sum(np.tanh(x @ p[:6].reshape(3, 2) + p[6:]))

        expected = central(total, [1.0, -1.0, 0.5, 0.0, -0.5, 2.0, 0.1, -0.2])
        np.testing.assert_allclose(np.append(w_bar, bias_bar), expected, atol=1e-9)
        assert (w_bar.shape, bias_bar.shape) == ((3, 2), (2,))

    def test_lists_of_traced_elements(self):
        z, x_bar, y_bar = vectors.packed()
        assert (z.tolist(), x_bar, y_bar) == ([2.0, 3.0, 10.0], 6.0, 2.0)

    def test_indices(self):
        assert vectors.indexed().tolist() == [20.0, 1.0, 11.0, 100.0]

    def test_slopes_of_functions(self):
        at = np.array([0.3, 0.6, 1.2])
        for name, slope in vectors.slopes(at).items():
            f = getattr(vectors, name, None) or getattr(np, name)
            np.testing.assert_allclose(slope, np.diag(central(f, at)), rtol=1e-7, err_msg=name)

    def test_dot(self):
        """The function, and the method beside it."""
        x_bar, y_bar = vectors.dotted()
        assert (x_bar.tolist(), y_bar.tolist()) == ([3.0, 5.0], [1.0, 2.0])
        x, y = vectors.vector(1.0, 2.0), vectors.vector(3.0, 5.0)
        x.dot(y).backward()
        assert (x.grad.tolist(), y.grad.tolist()) == ([3.0, 5.0], [1.0, 2.0])


class TestJacobian:
    X = np.array([0.5, 2.0])
    J = np.array([[1.0, 1.0], [2.0, 0.5], [np.cos(0.5), 0.0]])

    def test_vector_jacobian_product(self):
        v = np.array([1.0, 10.0, 100.0])
        np.testing.assert_allclose(vectors.product(v), v @ self.J, rtol=1e-14)
        _, pullback = pb.vjp(vectors.curve, self.X)
        np.testing.assert_array_equal(pullback(v)[0], vectors.product(v))

    def test_refused_without_a_gradient(self):
        with pytest.raises(pb.NonScalarOutputError, match=r"one real number.*float64"):
            vectors.product(None)

    def test_row_by_row(self):
        rows = vectors.rows(vectors.curve, self.X)
        np.testing.assert_allclose(rows, self.J, rtol=1e-14)
        for mode in ("forward", "reverse"):
            whole = pb.jacobian(vectors.curve, mode=mode)(self.X)
            np.testing.assert_allclose(rows, whole, rtol=1e-14)

    def test_operator_multiplies_both_ways(self):
        operator = vectors.Jacobian(vectors.curve, self.X)
        assert isinstance(operator, LinearOperator)
        np.testing.assert_allclose(operator @ np.eye(2), self.J, rtol=1e-14)
        np.testing.assert_allclose(operator.T @ np.eye(3), self.J.T, rtol=1e-14)

    def test_operator_of_a_matrix_valued_function(self):
        """SciPy sees vectors, the function its own shapes."""

        def f(x):
            return x @ x.T

        x = np.random.default_rng(1).normal(size=(2, 3))
        operator = vectors.Jacobian(f, x)
        expected = pb.jacobian(f)(x).reshape(4, 6)
        np.testing.assert_allclose(operator @ np.eye(6), expected, rtol=1e-14)
        np.testing.assert_allclose(operator.T @ np.eye(4), expected.T, rtol=1e-14)

    def test_least_squares_by_products_alone(self):
        operator, right = vectors.Jacobian(vectors.curve, self.X), np.array([1.0, 2.0, 3.0])
        found = lsqr(operator, right, atol=1e-14, btol=1e-14)[0]
        np.testing.assert_allclose(found, np.linalg.lstsq(self.J, right)[0], rtol=1e-10)


class TestBratu:
    def test_solution(self):
        """The closed form: -2 ln(cosh((x - 1/2) t / 2) / cosh(t / 4)), t = sqrt(2) cosh(t / 4)."""
        u, norms = vectors.solve_bratu(199)
        t = 1.5
        for _ in range(60):
            t = np.sqrt(2) * np.cosh(t / 4)
        x = np.linspace(0, 1, 201)[1:-1]
        exact = -2 * np.log(np.cosh((x - 0.5) * t / 2) / np.cosh(t / 4))
        np.testing.assert_allclose(u, exact, atol=1e-6)  # the second difference errs by h ** 2
        assert norms[-1] <= 1e-10 * norms[0]

    def test_convergence_is_quadratic(self):
        """The number of right digits doubles with each step."""
        _, norms = vectors.solve_bratu(49)
        assert len(norms) <= 5
        assert norms[2] < 1e-2 * norms[1] ** 2

    def test_a_solver_that_gives_up_is_heard(self, monkeypatch):
        monkeypatch.setattr(vectors, "gmres", lambda *args, **kwargs: (np.zeros(9), 100))
        with pytest.raises(ArithmeticError, match="GMRES did not converge: 100"):
            vectors.solve_bratu(9)


class TestRules:
    """Values by other means, and every rule by `check_grads`: both modes, both orders."""

    def test_inverse(self):
        np.testing.assert_allclose(vectors.inverse(A) @ A, np.eye(4), atol=1e-12)
        pb.testing.check_grads(vectors.inverse, (A,))

    @pytest.mark.parametrize("b", [B, np.stack([B, B**2], axis=1)], ids=["vector", "matrix"])
    def test_solve(self, b):
        np.testing.assert_allclose(A @ vectors.solve(A, b), b, rtol=1e-12)
        pb.testing.check_grads(vectors.solve, (A, b))

    def test_solve_agrees_with_numpy(self):
        """NumPy's own `solve`, whose rule is the library's, has the same gradients."""
        ours, theirs = [
            pb.grad(lambda a, b, f=f: np.sum(f(a, b) ** 3), argnums=(0, 1))(A, B)
            for f in (vectors.solve, np.linalg.solve)
        ]
        for x_bar, expected in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x_bar, expected, rtol=1e-10)

    def test_lyapunov(self):
        q = np.outer(B, B) - A
        x = vectors.lyapunov(A, q)
        np.testing.assert_allclose(A @ x + x @ A.T, q, atol=1e-10)
        pb.testing.check_grads(vectors.lyapunov, (A, q))

    def test_lyapunov_agrees_with_its_linear_system(self):
        """(1 x A + A x 1) vec X = vec q, differentiated through `numpy.linalg.solve`."""

        def dense(a, q):
            eye = np.eye(4)
            return np.linalg.solve(np.kron(eye, a) + np.kron(a, eye), q.T.ravel()).reshape(4, 4).T

        ours, theirs = [
            pb.grad(lambda a, q, f=f: np.sum(np.sin(f(a, q))), argnums=(0, 1))(A, A.T @ A)
            for f in (vectors.lyapunov, dense)
        ]
        for x_bar, expected in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x_bar, expected, rtol=1e-9, atol=1e-12)

    def test_quadratic_form(self):
        assert vectors.quadratic(B, A) == pytest.approx(B @ A @ B, rel=1e-12)
        pb.testing.check_grads(vectors.quadratic, (B, A))
        np.testing.assert_allclose(pb.hessian(vectors.quadratic)(B, A), A + A.T, rtol=1e-12)

    def test_rules_map_over_batches(self):
        """The solutions and gradients of three systems at once are those of a loop."""
        many = np.stack([A, A + 1, A.T])

        def total(a, b):
            return np.sum(vectors.solve(a, b) + vectors.inverse(a) @ b + vectors.lyapunov(a, a))

        batch = pb.vmap(pb.grad(total), in_axes=(0, None))(many, B)
        for a, a_bar in zip(many, batch, strict=True):
            np.testing.assert_allclose(a_bar, pb.grad(total)(a, B), rtol=1e-10)

    def test_rules_serve_the_eager_door(self):
        a, b = pb.array(A, requires_grad=True), pb.array(B, requires_grad=True)
        vectors.quadratic(vectors.solve(a, b), np.eye(4)).backward()
        x = np.linalg.solve(A, B)
        np.testing.assert_allclose(b.grad, 2 * np.linalg.solve(A.T, x), rtol=1e-10)
        np.testing.assert_allclose(a.grad, -np.outer(b.grad, x), rtol=1e-10)

    def test_best_damping(self):
        """The integral of the squared error has its minimum at damping 1, in closed form."""
        for damping in (0.4, 1.0, 2.5):
            expected = damping / 2 + 1 / (2 * damping)
            assert float(vectors.squared_error(damping)) == pytest.approx(expected, rel=1e-12)
            slope = pb.grad(vectors.squared_error)(damping)
            assert slope == pytest.approx(0.5 - 0.5 / damping**2, abs=1e-12)
        assert vectors.best_damping() == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("solver", NAMES)
class TestProgramme:
    def test_solution_meets_its_conditions(self, solver):
        p, q, a, b = vectors.problem()
        x, m = vectors.programme(p, q, a, b, solver=solver)
        np.testing.assert_allclose(a @ x, b, atol=1e-9)
        np.testing.assert_allclose(p @ x + q + a.T @ m, 0, atol=1e-9)

    @pytest.mark.parametrize(("n", "n_constraints"), [(6, 2), (3, 1), (4, 4)])
    def test_rule(self, solver, n, n_constraints):
        """All four arguments, both results, both modes, both orders."""
        args = vectors.problem(n, n_constraints, seed=n)
        pb.testing.check_grads(lambda *xs: vectors.programme(*xs, solver=solver), args)

    def test_agrees_with_its_linear_system(self, solver):
        """Differentiated through the optimality conditions, step by step."""
        args = vectors.problem()

        def explicit(p, q, a, b):
            symmetric = (p + p.T) / 2
            matrix = np.block([[symmetric, a.T], [a, np.zeros((2, 2))]])
            return np.linalg.solve(matrix, np.concatenate([-q, b]))

        def implicit(*xs):
            return np.concatenate(vectors.programme(*xs, solver=solver))

        ours, theirs = [
            pb.grad(lambda *xs, f=f: np.sum(np.sin(f(*xs))), argnums=(0, 1, 2, 3))(*args)
            for f in (implicit, explicit)
        ]
        for x_bar, expected in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(x_bar, expected, rtol=1e-7, atol=1e-9)


class TestDoor:
    def test_osqp_is_used_where_it_is_installed(self):
        pytest.importorskip("osqp", reason="osqp is not installed")
        assert NAMES == ["its optimality conditions", "OSQP"]

    def test_without_osqp_the_conditions_are_solved(self, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, "osqp", None)
        runpy.run_path(vectors.__file__, run_name="__main__")
        assert "A programme solved by its optimality conditions" in capsys.readouterr().out

    def test_sensitivities_are_what_theory_says(self):
        """The optimal value changes with q as x, and with b as minus the multipliers."""
        args = vectors.problem(8, 3, seed=2)
        x, m = vectors.programme(*args)
        q_bar, b_bar = vectors.sensitivity(*args)
        np.testing.assert_allclose(q_bar, x, atol=1e-8)
        np.testing.assert_allclose(b_bar, -m, atol=1e-8)

    def test_it_prints_its_numbers(self, capsys):
        options = np.get_printoptions()
        vectors.main()
        assert np.get_printoptions() == options
        text = capsys.readouterr().out
        assert "u(1/2) = 0.14054" in text
        assert "best damping   1.000000" in text
        assert text.count("agree") == 5

    def test_plain_file_runs(self, tmp_path):
        command = [sys.executable, "-W", "error", vectors.__file__]
        environment = {**os.environ, "PYTHONPATH": str(Path(pb.__file__).parents[1])}
        run = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
        )
        assert run.returncode == 0, run.stderr
        assert "row by row" in run.stdout

    def test_singular_matrices_are_refused(self):
        with pytest.raises(scipy.linalg.LinAlgError):
            vectors.solve(np.zeros((2, 2)), np.ones(2))

"""Door 2: vectors, for those who come from a small engine whose numbers are arrays.

`pb.array([1.0, 2.0], requires_grad=True)` holds an array, and NumPy does the rest: its functions,
its broadcasting, its indices.
What changes from scalars is that an output may be a vector.
Then there is no gradient, and `backward` asks which combination of the outputs is meant:
`y.backward(gradient=v)` computes v^T J, the vector-Jacobian product, without ever forming J.

Everything else follows from that product and its forward twin J v:
a Jacobian row by row, a Jacobian that SciPy's Krylov solvers multiply with and nobody has seen, and
rules of your own for functions that no array library differentiates.

Run it with `python -m examples.doors.vectors`.
The last part solves a quadratic programme with OSQP where it is installed (`pip install osqp`), and
with its linear system otherwise.
"""

import numpy as np
import scipy.linalg
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import LinearOperator, gmres, splu

import pullback as pb
from pullback.nn import relu

try:
    import osqp
except ImportError:  # the optimality conditions are then solved as they stand
    osqp = None


def vector(*xs):
    return pb.array(xs, requires_grad=True)


# Arrays that NumPy broadcasts, packs and indexes


def layer():
    """A bias of shape (2,) meets four rows.

    Broadcasting copies it, and the pullback of copying is summing: its gradient has its own shape
    again.
    """
    x = np.arange(12.0).reshape(4, 3) / 10
    w = pb.array([[1.0, -1.0], [0.5, 0.0], [-0.5, 2.0]], requires_grad=True)
    bias = vector(0.1, -0.2)
    np.tanh(x @ w + bias).sum().backward()
    return w.grad, bias.grad


def packed():
    """A list of numbers in flight becomes an array, and each keeps its derivative."""
    x, y = pb.array(2.0, requires_grad=True), pb.array(5.0, requires_grad=True)
    z = pb.array([x, 3.0, x * y])
    z.backward(gradient=np.ones(3))
    return z.data, x.grad, y.grad


def indexed():
    """What an index picks twice receives twice; what it does not pick has an exact zero."""
    x = vector(1.0, 2.0, 3.0, 4.0)
    (x[1:3].sum() + 10 * x[[0, 0, 2]].sum() + 100 * x[x > 3.5].sum()).backward()
    return x.grad


def dotted():
    """The gradient of a dot product by one vector is the other."""
    x, y = vector(1.0, 2.0), vector(3.0, 5.0)
    np.dot(x, y).backward()
    return x.grad, y.grad


# Products with the Jacobian


def curve(x):
    """Three numbers from two: the Jacobian is [[1, 1], [x1, x0], [cos x0, 0]]."""
    return pb.array([x[0] + x[1], x[0] * x[1], np.sin(x[0])])


def product(v):
    """v^T J of `curve`, eagerly. Without a gradient `backward` refuses: three numbers have none."""
    x = vector(0.5, 2.0)
    curve(x).backward(gradient=v)
    return x.grad


def rows(f, x):
    """The Jacobian row by row: a unit vector as cotangent picks one output.

    The graph is kept for the next row, and each pass adds to `.grad`, which is emptied in between.
    """
    x = pb.array(x, requires_grad=True)
    y, jacobian = f(x), []
    for row in np.eye(y.size):
        y.backward(gradient=row.reshape(y.shape), retain_graph=True)
        jacobian.append(x.grad)
        x.zero_grad()
    return np.array(jacobian)


def slopes(at=(0.3, 0.6, 1.2)):
    """The derivative of each elementwise function: v^T J with ones for v, since J is diagonal."""
    out = {}
    for function in (relu, np.tanh, np.sin, np.cos, np.tan, np.exp, np.log):
        x = vector(*at)
        y = function(x)
        y.backward(gradient=np.ones_like(at))
        out[function.__name__] = x.grad
    return out


# A Jacobian for a Krylov solver


class Jacobian(LinearOperator):
    """The Jacobian of f at x as SciPy's solvers want it: something to multiply with.

    J v is a pushforward and J^T v a pullback, exact, and each as cheap as f itself.
    """

    def __init__(self, f, x):
        self.x = x
        self.out, self.push = pb.linearize(f, x)
        _, self.pull = pb.vjp(f, x)
        super().__init__(x.dtype, (self.out.size, x.size))

    def _matvec(self, v):
        return self.push(v.reshape(self.x.shape)).ravel()

    def _rmatvec(self, v):
        return self.pull(v.reshape(self.out.shape))[0].ravel()


def bratu(u):
    """How far u is from solving u'' + exp(u) = 0 on (0, 1), with zeros at both ends."""
    h = 1 / (len(u) + 1)
    return np.diff(np.concatenate([[0.0], u, [0.0]]), 2) / h**2 + np.exp(u)


def newton_krylov(f, u, preconditioner, tolerance=1e-10, n_steps=20):
    """Solve f(u) = 0; return u and the norms of f.

    Each step asks GMRES for the solution of J du = -f(u), and GMRES asks for nothing but products.
    They are exact, so that Newton's method converges as its theory says.
    """
    norms = [np.linalg.norm(f(u))]
    while norms[-1] > tolerance * norms[0] and len(norms) <= n_steps:
        jacobian = Jacobian(f, u)
        step, failure = gmres(jacobian, -jacobian.out, rtol=1e-8, M=preconditioner)
        if failure:
            raise ArithmeticError(f"GMRES did not converge: {failure}")
        u = u + step
        norms.append(np.linalg.norm(f(u)))
    return u, norms


def solve_bratu(n=199):
    """The Bratu problem; the second difference alone is a good preconditioner, and it is sparse."""
    h = 1 / (n + 1)
    second = diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n), format="csc") / h**2
    preconditioner = LinearOperator((n, n), splu(csc_matrix(second)).solve, dtype=float)
    return newton_krylov(bratu, np.zeros(n), preconditioner)


# Rules of one's own
#
# `custom_jvp` and `custom_vjp` give a rule to a function that is NumPy all through; `primitive`
# makes one of a function that gets plain arrays and may call anything. One direction suffices: the
# other is its transpose. And a rule is a program of functions that have rules, itself included; so
# the second derivative is there as well.


@pb.custom_jvp
def inverse(a):
    """The inverse of a matrix."""
    return np.linalg.inv(a)


@inverse.defjvp
def push_inverse(primals, tangents):
    """A out = 1, so that A_dot out + A out_dot = 0."""
    (a,), (a_dot,) = primals, tangents
    out = inverse(a)
    return out, -out @ a_dot @ out


@pb.primitive
def solve(a, b):
    """The solution x of a x = b, by LAPACK; b is a vector or a matrix."""
    return scipy.linalg.solve(a, b)


@solve.defvjp
def pull_solve(out_bar, residual, wanted):
    """One solve with the transpose gives both cotangents."""
    a, b = residual.xs
    b_bar = solve(a.T, out_bar)
    x, x_bar = (residual.out, b_bar) if b.ndim == 2 else (residual.out[:, None], b_bar[:, None])
    return -x_bar @ x.T, b_bar


@pb.primitive
def lyapunov(a, q):
    """The solution X of a X + X a^T = q."""
    return scipy.linalg.solve_continuous_lyapunov(a, q)


@lyapunov.defvjp
def pull_lyapunov(out_bar, residual, wanted):
    """The adjoint of X -> a X + X a^T is S -> a^T S + S a, another Lyapunov equation."""
    a, _ = residual.xs
    s = lyapunov(a.T, out_bar)
    return -(s @ residual.out.T + s.T @ residual.out), s


@pb.custom_vjp
def quadratic(x, a):
    """The quadratic form x^T a x."""
    return x @ a @ x


def pull_quadratic(residual, out_bar):
    x, a = residual
    return out_bar * (a @ x + x @ a), out_bar * np.outer(x, x)


quadratic.defvjp(lambda x, a: (quadratic(x, a), (x, a)), pull_quadratic)


def solve_by_osqp(p, q, a, b):
    """The programme by operator splitting; its last step polishes the solution."""
    solver = osqp.OSQP()
    solver.setup(
        csc_matrix(np.triu(p)), q, csc_matrix(a), b, b,
        eps_abs=1e-10, eps_rel=1e-10, max_iter=100_000, polishing=True, verbose=False,
    )  # fmt: skip
    result = solver.solve(raise_error=True)
    return result.x, result.y


def solve_by_conditions(p, q, a, b):
    """The programme by its optimality conditions: p x + q + a^T m = 0 and a x = b."""
    matrix = np.block([[p, a.T], [a, np.zeros((len(b), len(b)))]])
    return tuple(np.split(np.linalg.solve(matrix, np.concatenate([-q, b])), [len(q)]))


SOLVERS = {"its optimality conditions": solve_by_conditions}
if osqp is not None:
    SOLVERS["OSQP"] = solve_by_osqp


@pb.primitive(n_out=2)
def programme(p, q, a, b, *, solver="OSQP" if osqp else "its optimality conditions"):
    """Minimise x^T p x / 2 + q^T x subject to a x = b; return x and the multipliers of a x = b.

    p counts by its symmetric part, which is positive definite.
    """
    return SOLVERS[solver]((p + p.T) / 2, q, a, b)


@programme.defvjp
def pull_programme(out_bar, residual, wanted):
    """The optimality conditions hold along every change of the data: differentiate them.

    How the solver came to its solution does not matter. The linear system that results is itself
    the condition of a programme, with x_bar for -q and m_bar for b, and the same solver solves it.
    """
    p, _, a, _ = residual.xs
    x, m = residual.out
    x_bar, m_bar = [  # None is zero
        np.zeros_like(out) if bar is None else bar
        for out, bar in zip(residual.out, out_bar, strict=True)
    ]
    u, w = programme(p, -x_bar, a, m_bar, **residual.static)
    p_bar = -(np.outer(u, x) + np.outer(x, u)) / 2
    return p_bar, -u, -(np.outer(m, u) + np.outer(w, x)), w


# What the rules are good for


def squared_error(damping):
    """The integral of x(t)^2 for an oscillator x'' + damping x' + x = 0 that starts at x = 1.

    It is z^T X z for the Lyapunov solution X; in closed form it is damping/2 + 1/(2 damping).
    """
    a = pb.array([[0.0, 1.0], [-1.0, -damping]])
    cost = np.array([[1.0, 0.0], [0.0, 0.0]])
    return quadratic(np.array([1.0, 0.0]), lyapunov(a.T, -cost))


def best_damping(damping=0.5, n_steps=8):
    """Newton's method on the derivative, which differentiates the Lyapunov equation twice."""
    slope = pb.grad(squared_error)
    for _ in range(n_steps):
        damping = damping - slope(damping) / pb.grad(slope)(damping)
    return damping


def problem(n=6, n_constraints=2, seed=0):
    """A random programme (p, q, a, b)."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n))
    a, b = rng.normal(size=(n_constraints, n)), rng.normal(size=n_constraints)
    return factor @ factor.T + np.eye(n), rng.normal(size=n), a, b


def sensitivity(p, q, a, b):
    """How the optimal value depends on q and on b.

    Theory knows the answer: the solution itself, and minus its multipliers.
    """

    def value(q, b):
        x, _ = programme(p, q, a, b)
        return quadratic(x, p) / 2 + q @ x

    return pb.grad(value, argnums=(0, 1))(q, b)


def main():
    """Print the numbers of this door."""
    with np.printoptions(precision=4, suppress=True):
        tell()


def tell():
    w_bar, bias_bar = layer()
    print(f"layer          gradients of shapes {w_bar.shape} and {bias_bar.shape}")
    z, x_bar, y_bar = packed()
    print(f"packed         {z}, gradients {x_bar} and {y_bar}")
    print(f"indexed        {indexed()}")
    print("dot           ", *dotted())
    print(f"v^T J          {product(np.array([1.0, 10.0, 100.0]))}")
    try:
        product(None)
    except pb.NonScalarOutputError as error:
        print("without v      ", str(error).splitlines()[0])
    jacobian = rows(curve, np.array([0.5, 2.0]))
    print("row by row     ", *jacobian)
    for name, slope in slopes().items():
        print(f"  {name:4s}         {slope}")

    u, norms = solve_bratu()
    print(f"\nu'' + exp(u)   {len(u)} unknowns, u(1/2) = {u[len(u) // 2]:.5f}")
    print("  residuals    ", *[f"{norm:.0e}" for norm in norms])

    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 4)) + 4 * np.eye(4), rng.normal(size=4)
    print("\nRules against central differences, both modes, first and second order:")
    for function, args in {
        inverse: (a,),
        solve: (a, b),
        lyapunov: (a, a + a.T),
        quadratic: (b, a),
        programme: problem(),
    }.items():
        pb.testing.check_grads(function, args)
        print(f"  {function.__name__:12s} agree")
    print(f"best damping   {best_damping():.6f}")
    p, q, a, b = problem()
    x, multipliers = programme(p, q, a, b)
    q_bar, b_bar = sensitivity(p, q, a, b)
    print(f"\nA programme solved by {'OSQP' if osqp else 'its optimality conditions'}:")
    print(f"  x            {x}\n  d value / dq {q_bar}")
    print(f"  -multipliers {-multipliers}\n  d value / db {b_bar}")


if __name__ == "__main__":
    main()

"""Workshops: beams, plants, controllers, robots, circuits, networks, and who plans them."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

from functools import partial

import numpy as np
import scipy.linalg as la
import scipy.optimize as opt
import scipy.sparse as sps
import scipy.sparse.linalg as spla
from scipy import interpolate, signal, special, stats
from scipy.integrate import Radau, nquad, quad, quad_vec, solve_bvp, solve_ivp, tanhsinh
from scipy.optimize import (
    BFGS,
    SR1,
    LinearConstraint,
    NonlinearConstraint,
    least_squares,
    linprog,
    minimize,
)
from scipy.spatial import distance
from scipy.spatial.transform import Rotation, Slerp

# Structures and machines.


def mounted_engine(stiffness, mass):
    """Modes of a mass on springs: a generalised eigenproblem, normalised by the masses."""
    K = np.diag(stiffness) - np.diag(stiffness[1:] * 0.4, 1) - np.diag(stiffness[1:] * 0.4, -1)
    M = np.diag(mass) + 0.05 * np.ones((3, 3))
    w2, phi = la.eigh(K, M, type=1, driver="gvd", check_finite=False)
    part = phi.T @ M @ np.ones(3)
    return np.sqrt(w2) / (2 * np.pi), part**2


def buckling_column(stiffness, spring):
    """Loads at which a column gives way, by banded storage and the lowest of its values."""
    n, h = 8, 1.0 / 9
    bands = np.zeros((3, n))
    bands[0] = 6.0 * stiffness / h**4 + spring
    bands[1, :-1] = -4.0 * stiffness / h**4
    bands[2, :-2] = stiffness / h**4
    w, v = la.eig_banded(bands, lower=True, select="i", select_range=(0, 2), max_ev=3)
    return w, np.abs(v[:, 0]) / np.max(np.abs(v[:, 0]))


def shaft(torque, fillet):
    """A stress at a notch with Neuber's rule, and the cycles that it stands, by ridder and secants."""
    K, n, E = 1200.0, 0.18, 2.0e5
    strain = lambda s: s / E + (s / K) ** (1 / n)
    kt = 1 + 0.6 * fillet**-0.4
    nominal = 16 * torque / (np.pi * 0.03**3) / 1e6
    s = opt.ridder(
        lambda s: s * strain(s) - (kt * nominal) ** 2 / E,
        1.0,
        3000.0,
        args=(),
        xtol=1e-11,
        rtol=1e-14,
    )
    coffin = lambda logn: 0.005 * np.exp(-0.09 * logn) + 0.6 * np.exp(-0.6 * logn) - strain(s)
    r = opt.root_scalar(coffin, x0=8.0, x1=9.0, method="secant", xtol=1e-13)
    return s, r.root


def hanging_cable(weight, tension):
    """A catenary with a load, as a boundary problem with both its Jacobians."""

    def fun(x, y):
        return np.vstack([y[1], weight / tension * np.sqrt(1 + y[1] ** 2)])

    def fun_jac(x, y):
        J = np.zeros((2, 2, x.size))
        J[0, 1] = 1.0
        J[1, 1] = weight / tension * y[1] / np.sqrt(1 + y[1] ** 2)
        return J

    bc = lambda ya, yb: np.array([ya[0], yb[0] - 1.0])
    bc_jac = lambda ya, yb: (np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]]))
    x = np.linspace(0, 10, 12)
    sol = solve_bvp(
        fun,
        bc,
        x,
        np.zeros((2, 12)),
        fun_jac=fun_jac,
        bc_jac=bc_jac,
        tol=1e-9,
        bc_tol=1e-10,
        max_nodes=4000,
    )
    return sol.sol(5.0), sol.y[1, 0]


def gear_contact(load, radius):
    """Hertz on an ellipse: its shape by elliptic integrals of Carlson's, the pressure over it."""
    ratio = radius[0] / radius[1]

    def shape(e2):
        k, e = special.elliprf(0.0, 1 - e2, 1.0), special.elliprg(0.0, 1 - e2, 1.0) * 2
        return (e / (1 - e2) - k) / (k - e) - ratio

    e2 = opt.brenth(shape, 1e-4, 0.999, xtol=1e-13, maxiter=200, full_output=True)[0]
    a = (3 * load / np.pi * special.elliprd(0.0, 1.0, 1 - e2)) ** (1 / 3)
    return a, a * np.sqrt(1 - e2), 1.5 * load / (np.pi * a**2 * np.sqrt(1 - e2))


def wing(chord, twist):
    """Prandtl's lifting line by sines, solved by least squares of the normal form; lift and drag."""
    n = 6
    theta = (np.arange(n) + 0.5) * np.pi / (2 * n)
    k = 2 * np.arange(n) + 1
    mu = chord * 2 * np.pi / (4 * 8.0)
    A = np.sin(np.outer(theta, k)) * (mu * k + np.sin(theta)[:, None])
    rhs = mu * np.sin(theta) * (0.08 + twist * np.cos(theta))
    coef = la.solve(A, rhs, overwrite_a=True, overwrite_b=True)
    CL = np.pi * 8.0 * coef[0]
    return CL, CL**2 / (np.pi * 8.0) * (1 + np.sum(k[1:] * (coef[1:] / coef[0]) ** 2))


# Control.


def elevator(mass, damping):
    """A quadratic regulator with cross weights by its equation of three more terms."""
    A = np.array([[0.0, 1.0], [0.0, -damping / mass]])
    B = np.array([[0.0], [1.0 / mass]])
    S = np.array([[0.1], [0.2]])
    P = la.solve_continuous_are(A, B, np.diag([4.0, 1.0]), np.eye(1), s=S)
    K = B.T @ P + S.T
    poles = la.eigvals(A - B @ K)
    return K, np.sort(poles.real), P


def sampled_servo(gain, period):
    """A servo held by three ways of sampling; the poles that each has, and a step's beginning."""
    A, B, C, D = (
        np.array([[0.0, 1.0], [-gain, -1.2]]),
        np.array([[0.0], [gain]]),
        np.array([[1.0, 0.0]]),
        np.array([[0.0]]),
    )
    out = []
    for method in ("bilinear", "foh", "impulse"):
        Ad, Bd, Cd, Dd, dt = signal.cont2discrete((A, B, C, D), period, method=method)
        out.append(np.sort(np.abs(la.eigvals(Ad)))[0])
        t, y = signal.dstep((Ad, Bd, Cd, Dd, dt), n=5)
        out.append(y[0][4, 0])
    return np.stack(out)


def balanced(poles, coupling):
    """Hankel's singular values by two Lyapunov equations and a factor that swaps its signs."""
    A = np.diag(-poles) + coupling * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    B, C = np.array([[1.0], [0.5], [-0.3]]), np.array([[0.7, 0.1, 1.0]])
    Wc = la.solve_continuous_lyapunov(A, -B @ B.T)
    Wo = la.solve_continuous_lyapunov(A.T, -C.T @ C)
    R = la.cholesky(Wc, lower=True, check_finite=False)
    return la.svdvals(la.sqrtm(Wo) @ R, overwrite_a=True), la.norm(Wc, 2)


def deadbeat(flow, leak):
    """A pencil's finite eigenvalues, ordered so that the stable ones come first."""
    A = np.array([[0.9, flow, 0.0], [0.0, 1.2, leak], [0.1, 0.0, 0.5]])
    B = np.array([[1.0, 0.0, 0.2], [0.0, 1.0, 0.0], [0.0, 0.3, 1.0]])
    AA, BB, alpha, beta, Q, Z = la.ordqz(A, B, sort="iuc", output="real")
    pairs = la.eigvals(A, B, homogeneous_eigvals=True)
    return np.mean(np.abs(alpha / beta)[:2]), np.sort(np.abs(pairs[0] / pairs[1]))[-1]


def gust_filter(bandwidth, damping):
    """A random gust through a wing's dynamics: variance by an integral of a complex response."""
    H = lambda w: 1.0 / (1 - w**2 + 2j * damping * w) / (1 + 1j * w / bandwidth)
    area = quad(lambda w: H(w) * np.exp(0.1j * w), 0, 40, complex_func=True, limit=200)[0]
    power = quad_vec(
        lambda w: np.array([abs(H(w)) ** 2, w**2 * abs(H(w)) ** 2]),
        0,
        40,
        epsrel=1e-9,
        quadrature="gk15",
    )[0]
    return area.real, area.imag, power


def phase_locked(gain, zero):
    """A loop's margins from its frequency response, by roots of what it says."""
    num, den = np.array([gain, gain * zero]), np.array([0.02, 1.0, 0.0, 0.0])
    mag = lambda lw: np.log(np.abs(signal.freqs(num, den, worN=[np.exp(lw)])[1][0]))
    lw = opt.bisect(mag, -3.0, 6.0, xtol=1e-12, maxiter=300)
    w, h = signal.freqs(num, den, worN=[np.exp(lw)])
    return np.exp(lw), np.pi + np.angle(h[0])


# Robots.


def wrist(angles, gains):
    """Attitudes between two views, their rates, and a mean of three that are weighted."""
    r = Rotation.from_euler("ZYX", angles.reshape(3, 3))
    mid = Slerp([0.0, 1.0, 2.5], r)(np.array([0.4, 1.9]))
    mean = r.mean(weights=gains)
    return mid.as_rotvec(), mean.as_matrix(), mean.magnitude()


def hand_eye(turn, offset):
    """A frame found from points seen from two places, with residues left by noise."""
    pts = np.array([[1.0, 0.2, 0.1], [0.0, 1.1, -0.3], [0.4, -0.2, 0.9], [-0.7, 0.3, 0.5]])
    R = Rotation.from_rotvec(turn)
    seen = R.apply(pts) + 0.01 * np.sin(offset * pts)
    found, rssd = Rotation.align_vectors(seen, pts, weights=[1.0, 2.0, 1.0, 0.5])
    return found.as_quat(canonical=True), rssd


def leg(reach, lengths):
    """Joint angles by inverse kinematics with limits, by a trust region with sparse Jacobians."""

    def miss(q, target, l):
        x = l[0] * np.cos(q[0]) + l[1] * np.cos(q[0] + q[1])
        y = l[0] * np.sin(q[0]) + l[1] * np.sin(q[0] + q[1])
        return np.array([x - target[0], y - target[1]])

    sol = least_squares(
        miss, [0.3, 0.8], bounds=([-1.5, 0.05], [1.5, 2.8]), kwargs={"target": reach, "l": lengths},
        jac_sparsity=np.ones((2, 2)), tr_solver="lsmr", xtol=1e-14, ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    return sol.x, np.sin(sol.x).sum()


def swing_up(torque, friction):
    """A pendulum's energy after three seconds, by Radau stepped and its dense output between."""
    f = lambda t, y: np.array(
        [y[1], -9.81 * np.sin(y[0]) - friction * y[1] + torque * np.cos(3 * t)]
    )
    solver = Radau(f, 0.0, np.array([0.1, 0.0]), 3.0, max_step=0.5, rtol=1e-8, atol=1e-9)
    middle = None
    while solver.status == "running":
        solver.step()
        if middle is None and solver.t > 1.5:
            middle = solver.dense_output()(1.5)
    return 0.5 * solver.y[1] ** 2 + 9.81 * (1 - np.cos(solver.y[0])), middle


# Heat, flow and circuits.


def fin(conductivity, film):
    """A fin's temperatures by tridiagonal factors, kept and used for two right-hand sides."""
    n, dx = 10, 0.01
    m = film * 4 / (conductivity * 0.004) * dx**2
    d, e = np.full(n, 2 + m), -np.ones(n - 1)
    ab = np.stack([np.concatenate([[0.0], e]), d])
    c = la.cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=False)
    rhs = np.zeros((n, 2))
    rhs[0, 0], rhs[:, 1] = 80.0, m
    return la.cho_solve_banded((c, False), rhs, check_finite=False)[::3]


def mixing_tee(flows, temps):
    """Streams that meet: a mass balance with bounds by lsq_linear, of a sparse array."""
    A = sps.csr_array(
        np.array([[1.0, 1.0, -1.0], [0.5, -1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    )
    b = np.array([flows[0], flows[1], temps, flows[0] * temps])
    r = opt.lsq_linear(
        A,
        b,
        bounds=(np.zeros(3), np.full(3, 1.2)),
        lsq_solver="lsmr",
        lsmr_tol="auto",
        tol=1e-13,
        max_iter=300,
    )
    return r.x, r.cost


def ladder(resistance, source):
    """A ladder of resistors, without and with a shunt, by iterative methods from a start."""
    n = 7
    A = sps.diags_array(
        [-np.ones(n - 1), 2.0 + resistance, -np.ones(n - 1)], offsets=[-1, 0, 1]
    ).tocsr()
    b = np.zeros(n)
    b[0] = source
    x0 = np.linspace(1, 0, n)
    M = spla.LinearOperator((n, n), matvec=lambda v: v / 2.5)
    v, info = spla.cg(A, b, x0=x0, M=M, rtol=1e-13)
    u, flag = spla.gmres(A, b[::-1], x0=x0, restart=7, rtol=1e-13)
    assert info == flag == 0
    return v, u[:2]


def diffuser(velocity, spread):
    """Where a plume is at its strongest: a principal value and an algebraic end in integrals."""
    pv = quad(lambda x: np.exp(-spread * x), 0.0, 2.0, weight="cauchy", wvar=velocity)[0]
    alg = quad(lambda x: np.cos(velocity * x), 0.0, 1.0, weight="alg", wvar=(-0.5, spread))[0]
    osc = quad(
        lambda x: np.exp(-spread * x) / (1 + x), 0.0, np.inf, weight="sin", wvar=velocity, limlst=60
    )[0]
    return pv, alg, osc


def radiator(temperature, emissivity):
    """View factors over two plates, by nquad with options of each axis."""

    def seen(y, x, gap):
        return gap**2 / (np.pi * (gap**2 + (x - y) ** 2) ** 2)

    total, err, info = nquad(
        seen,
        [lambda x, gap: (0.0, 1.0 + 0.1 * x), [0.0, 1.0]],
        args=(0.8,),
        opts={"epsabs": 1e-10},
        full_output=True,
    )
    leak = tanhsinh(
        lambda x, e: np.sqrt(x) * np.exp(-e * x),
        0.0,
        np.array([1.0, 2.0]),
        args=(emissivity,),
        maxlevel=8,
        atol=1e-13,
    ).integral
    return 5.67e-8 * emissivity * temperature**4 * total, leak


def reactor_start(heat, cooling):
    """A stiff reaction, by BDF with a Jacobian of its own and a matrix of what is not zero."""
    k = lambda T: 5.0 * np.exp(heat * (1 - 1 / T))

    def f(t, y):
        return np.array(
            [1 - y[0] - k(y[1]) * y[0], 1 - y[1] + 0.4 * k(y[1]) * y[0] - cooling * (y[1] - 0.9)]
        )

    sol = solve_ivp(
        f,
        (0, 4),
        [1.0, 1.0],
        method="BDF",
        t_eval=[1.0, 4.0],
        jac_sparsity=np.ones((2, 2)),
        first_step=1e-3,
        rtol=1e-8,
        atol=1e-10,
    )
    return sol.y


# Plans.


def blending(prices, octane):
    """The cheapest blend, by a linear program and what another litre of each is worth."""
    A = np.stack([np.stack([-91.0, -95.0, -octane]), np.array([0.0, 0.0, 1.0])])
    res = linprog(prices, A_ub=A, b_ub=[-94.0, 0.4], A_eq=[[1.0, 1.0, 1.0]], b_eq=[1.0], bounds=(0, None), method="highs-ds",
        options={"presolve": False},
    )  # fmt: skip
    return res.x, res.fun, res.eqlin.marginals


def crew(costs, demand):
    """Whole crews and a share of overtime: a mixed program."""
    cons = LinearConstraint(
        np.array([[8.0, 6.0, 1.0], [1.0, -2.0, 0.0]]),
        lb=np.stack([demand, -np.inf]),
        ub=[np.inf, 1.0],
    )
    r = opt.milp(
        costs,
        integrality=[1, 1, 0],
        bounds=opt.Bounds(0, [6, 6, 5]),
        constraints=cons,
        options={"mip_rel_gap": 0.0},
    )
    return r.x[2], r.fun


def antenna(spacing, weight):
    """A pattern of three masts by a trust region with a quasi-Newton Hessian of the constraint."""
    power = lambda p: np.sum(p**2) + weight * np.prod(p)
    gain = NonlinearConstraint(
        lambda p: p[0] * p[1] + spacing * p[2],
        1.0,
        np.inf,
        jac="2-point",
        hess=SR1(),
        keep_feasible=False,
    )
    r = minimize(
        power,
        [1.0, 1.0, 0.8],
        method="trust-constr",
        jac="3-point",
        hess=BFGS(),
        constraints=[gain],
        options={"xtol": 1e-10, "gtol": 1e-8, "maxiter": 900},
    )
    return r.fun, r.x[0] * r.x[1]


def tank_farm(volumes, steel):
    """Radii of tanks with the product of a Hessian and a vector given, by Newton and CG."""
    f = lambda r: np.sum(steel * r**2 + volumes / r)
    g = lambda r: 2 * steel * r - volumes / r**2
    hp = lambda r, p: (2 * steel + 2 * volumes / r**3) * p
    r = minimize(f, np.ones(3), jac=g, hessp=hp, method="Newton-CG", options={"xtol": 1e-12})
    t = minimize(f, np.ones(3), jac=g, hessp=hp, method="trust-krylov", tol=1e-11)
    return r.x, t.fun


def pump_speeds(head, flow):
    """Two pumps at the best speeds, found over a box with a constraint and then polished."""
    cost = lambda n: n[0] ** 3 + 1.3 * n[1] ** 3
    give = NonlinearConstraint(lambda n: flow[0] * n[0] + flow[1] * n[1] ** 2, head, np.inf)
    r = opt.differential_evolution(
        cost,
        [(0.1, 2.0), (0.1, 2.0)],
        constraints=(give,),
        strategy="best2bin",
        seed=3,
        tol=1e-8,
        popsize=10,
        maxiter=150,
    )
    s = opt.shgo(
        lambda n: cost(n) + 5 * (n[0] - n[1]) ** 2,
        [(0.1, 2.0), (0.1, 2.0)],
        constraints={"type": "ineq", "fun": lambda n: flow @ n - head},
        n=30,
        sampling_method="sobol",
    )
    return r.fun, s.x


def depots(customers, demand):
    """Where a depot lies, by Weiszfeld as a fixed point and by annealing that ends in a search."""

    def pull(p):
        w = demand / distance.cdist(p[None], customers)[0]
        return w @ customers / np.sum(w)

    p = opt.fixed_point(pull, np.array([0.4, 0.4]), method="del2", xtol=1e-13, maxiter=900)
    far = opt.dual_annealing(
        lambda q: np.sum(distance.cdist(q[None], customers, "minkowski", p=3.0) ** 2) + 0.1 * q @ q,
        [(0, 1), (0, 1)], maxiter=40, seed=1, minimizer_kwargs={"method": "L-BFGS-B"},
    )  # fmt: skip
    ranks = distance.cdist(customers, p[None], "seuclidean", V=np.array([0.5, 2.0]))
    return p, np.sum(demand * ranks[:, 0]), far.x


class Spindle:
    """Measured runout of a spindle, with methods that a shop would write."""

    def __init__(self, runout, speed):
        self.runout, self.speed = np.asarray(runout), speed

    @property
    def spectrum(self):
        return np.fft.rfft(self.runout * signal.windows.general_hamming(len(self.runout), 0.6))

    def imbalance(self):
        h = self.spectrum
        return 2 * np.abs(h[1]) / len(self.runout)

    def trend(self):
        return stats.siegelslopes(self.runout, method="separate").slope

    def roundness(self, k=2):
        smooth = signal.savgol_filter(self.runout, 7, 3, deriv=k, delta=1 / self.speed, mode="wrap")
        return np.ptp(smooth)


def spindle(runout, speed):
    s = Spindle(runout, speed)
    return s.imbalance(), s.trend(), s.roundness(1)


def cam(lift, dwell):
    """A cam's profile with clamped ends, its jerk, and where its speed is highest."""
    t = np.array([0.0, 0.3, 0.6, 1.0])
    prof = interpolate.make_interp_spline(
        t,
        lift * np.array([0.0, 0.3, 0.8, 1.0]) + dwell * t * (1 - t),
        k=5,
        bc_type=([(1, 0.0), (2, 0.0)], [(1, 0.0), (2, 0.0)]),
    )
    v = prof.derivative()
    best = opt.minimize_scalar(
        lambda u: -v(u), bounds=(0.1, 0.9), method="bounded", options={"xatol": 1e-10}
    )
    return best.fun, prof.derivative(3)(0.5), prof.antiderivative()(1.0)


def lens(curvatures, index):
    """Paraxial matrices in a row, their power, and the ray through the edge by Newton in steps."""
    R = lambda c, n1, n2: np.array([[1.0, 0.0], [-c * (n2 - n1), 1.0]])
    T = lambda d, n: np.array([[1.0, d / n], [0.0, 1.0]])
    system = np.linalg.multi_dot(
        [R(curvatures[1], index, 1.0), T(0.004, index), R(curvatures[0], 1.0, index)]
    )
    efl = -1 / system[1, 0]
    sag = lambda y, c: y**2 * c / (1 + np.sqrt(1 - (c * y) ** 2))
    hit = opt.newton(
        lambda y: sag(y, curvatures[0]) + y / 10 - 0.002,
        0.01,
        fprime=lambda y: curvatures[0] * y / np.sqrt(1 - (curvatures[0] * y) ** 2) + 0.1,
        tol=1e-14,
        full_output=True,
        disp=False,
    )
    return efl, hit[0], la.det(system, overwrite_a=False)


def conveyors(rates, buffers):
    """A line with a buffer: its steady state as a null space, and how soon it's there."""
    lam, mu = rates
    n = 5
    Q = np.diag(np.full(n - 1, lam), 1) + np.diag(np.full(n - 1, mu), -1)
    Q = Q - np.diag(Q.sum(1)) * (1 + 0 * buffers)
    pi = la.null_space(Q.T, lapack_driver="gesvd")[:, 0]
    pi = pi / pi.sum()
    gap = np.sort(la.eigvals(Q * buffers).real)[-2]
    return (
        pi,
        gap,
        spla.expm_multiply(sps.csr_array(Q.T), np.eye(n)[0], start=0.0, stop=1.0, num=3)[2],
    )


F3 = partial(np.array, dtype=float)
PROGRAMS = [
    (mounted_engine, (F3([9e4, 6e4, 3e4]), F3([12.0, 9.0, 4.0]))),
    (buckling_column, (1.3, 50.0)),
    (elevator, (1.4, 0.6)),
    (deadbeat, (0.35, 0.2)),
    (wrist, (F3([0.1, 0.4, -0.3, 0.9, -0.2, 0.5, 1.6, 0.3, 0.2]), F3([1.0, 2.0, 0.7]))),
    (ladder, (F3([0.4, 0.5, 0.3, 0.6, 0.7, 0.4, 0.8]), 2.0)),
    (diffuser, (0.8, 0.6)),
    (tank_farm, (F3([3.0, 5.0, 8.0]), F3([1.0, 1.2, 0.8]))),
    (cam, (8.0, 0.5)),
]  # fmt: skip
SELDOM = [
    (shaft, (900.0, 0.12)),
    (hanging_cable, (2.2, 9.0)),
    (gear_contact, (0.3, F3([1.4, 0.6]))),
    (wing, (F3([1.3, 1.2, 1.1, 0.9, 0.8, 0.7]), 0.02)),
    (sampled_servo, (2.2, 0.15)),
    (balanced, (F3([1.0, 2.2, 3.1]), 0.4)),
    (gust_filter, (3.0, 0.35)),
    (phase_locked, (40.0, 2.0)),
    (hand_eye, (F3([0.4, -0.3, 0.8]), 2.0)),
    (leg, (F3([0.9, 0.4]), F3([0.7, 0.6]))),
    (swing_up, (1.5, 0.3)),
    (fin, (180.0, 25.0)),
    (mixing_tee, (F3([1.1, 0.2]), 1.4)),
    (radiator, (420.0, 0.85)),
    (reactor_start, (8.0, 0.7)),
    (blending, (F3([1.4, 1.6, 2.2]), 101.0)),
    (crew, (F3([9.0, 7.5, 1.9]), 31.5)),
    (pump_speeds, (1.8, F3([1.0, 0.8]))),
    (depots, (F3([[0.1, 0.2], [0.8, 0.3], [0.5, 0.9], [0.2, 0.7]]), F3([1.0, 2.0, 1.5, 0.7]))),
    (spindle, (np.sin(2 * np.pi * np.arange(16) / 16) + 0.1 * np.sin(1.3 * np.arange(16.0) ** 2), 12.0)),
    (lens, (F3([12.0, -7.0]), 1.52)),
    (conveyors, (F3([0.8, 1.1]), 1.2)),
]  # fmt: skip
# Tightened, its solver stops at its limit of steps, and differences see where.
UNDIFFERENCED = [
    (antenna, (0.6, 0.3)),
]  # fmt: skip

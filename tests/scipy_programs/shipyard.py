"""A shipyard's numbers: hulls, cranes, welds, engines, waves, sonar, wiring, plans and trials at sea."""
# ruff: noqa: E501, RUF059  # names and lines as they are often written

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy import constants, fft, integrate, linalg, optimize, signal
from scipy.differentiate import jacobian
from scipy.integrate import RK45, OdeSolution, quad_vec, romb, solve_ivp
from scipy.linalg.blas import dgemm, dtrsm
from scipy.optimize import LinearConstraint, NonlinearConstraint, line_search, minimize, root
from scipy.sparse import linalg as sla
from scipy.sparse.csgraph import breadth_first_order, maximum_flow, yen

# Hulls and loads.


def offsets(widths, draught):
    """A hull's volume and centre of buoyancy by Romberg's rule over sections by a spline."""
    from scipy.interpolate import make_interp_spline

    x = np.linspace(0.0, 8.0, len(widths))
    section = make_interp_spline(x, widths, k=3, bc_type="clamped")
    fine = np.linspace(0.0, 8.0, 33)
    area = section(fine) * draught**1.5
    volume = romb(area, dx=0.25)
    return (
        volume,
        romb(area * fine, dx=0.25) / volume,
        section.integrate(1.0, 6.5),
        section.antiderivative()(3.0),
    )


@dataclass
class Frame:
    """A plane frame: stiffness by bars, solved by a banded factor that's kept."""

    young: float
    areas: np.ndarray
    factors: dict = field(default_factory=dict)

    def banded(self):
        k = self.young * self.areas
        ab = np.zeros((2, len(k) - 1))
        ab[1] = k[:-1] + k[1:]
        ab[0, 1:] = -k[1:-1]
        return ab

    def solve(self, load):
        if "cb" not in self.factors:
            self.factors["cb"] = linalg.cholesky_banded(self.banded(), overwrite_ab=True)
        return linalg.cho_solve_banded((self.factors["cb"], False), load)


def bulkhead(areas, load):
    """Deflections for two loads by one factor, and the lowest frequencies of the same matrix."""
    frame = Frame(210.0, areas)
    u = frame.solve(load) + 0.5 * frame.solve(load[::-1])
    ab = frame.banded()
    w = linalg.eigvalsh_tridiagonal(
        ab[1], ab[0, 1:], select="i", select_range=(0, 1), lapack_driver="stebz"
    )
    return u, np.sqrt(w)


def stiffened_plate(thickness, pressure):
    """A plate's bending by Pascal and convolution matrices, least squares by an old driver."""
    h = np.array([1.0, -2.0, 1.0]) * thickness**3
    A = linalg.convolution_matrix(h, 6, mode="same")
    P = linalg.pascal(6, kind="lower", exact=False) / 20.0
    x, res, rank, s = linalg.lstsq(A + P, pressure, lapack_driver="gelsy")
    return x, linalg.norm(A @ x - pressure, 1), linalg.invhilbert(3) @ x[:3]


def crane(lengths, weight):
    """Equilibrium of a crane's cable by Levenberg's method with a Jacobian of one's own."""
    a, b = lengths

    def f(t):
        return np.array(
            [a * np.cos(t[0]) + b * np.cos(t[1]) - 2.0, np.sin(t[0]) * a - weight * np.sin(t[1])]
        )

    def jac(t):
        return np.array(
            [[-a * np.sin(t[0]), -b * np.sin(t[1])], [a * np.cos(t[0]), -weight * np.cos(t[1])]]
        )

    sol = root(f, [0.8, 0.5], jac=jac, method="lm", options={"xtol": 1e-13})
    other = optimize.broyden2(f, sol.x + 0.01, f_tol=1e-12)
    return sol.x, other


def ballast(tanks, heel):
    """How to trim by linear equalities within bounds, by an interior method with a Hessian's update."""
    A = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, -1.0]])
    r = minimize(
        lambda x: np.sum((x - tanks) ** 4) + 0.1 * x @ x,
        np.ones(3),
        method="trust-constr",
        constraints=LinearConstraint(A, [2.4, heel], [2.4, heel]),
        hess=optimize.BFGS(),
        options={"gtol": 1e-10, "xtol": 1e-12},
    )
    return r.x, r.fun


def anchor_chain(mass, depth):
    """Where a chain lies: sequential quadratic programming by its old name with both kinds of constraints."""
    x, fx, its, mode, msg = optimize.fmin_slsqp(
        lambda z: mass * (z[0] ** 2 + np.cosh(z[1])) + 0.3 * z[0] * z[1],
        [1.0, 1.0],
        f_eqcons=lambda z: np.array([z[0] + z[1] ** 2 - depth]),
        f_ieqcons=lambda z: np.array([z[0] - 0.1]),
        acc=1e-14,
        iprint=0,
        full_output=True,
    )
    return x, fx


def propeller(pitch, slip):
    """A blade's efficiency: the same minimum by four old functions, and what they agree upon."""

    def loss(x):
        return (x[0] - pitch) ** 2 + slip * (x[1] - x[0] ** 2) ** 2 + 0.2 * np.cosh(x[1])

    def slope(x):
        return np.array(
            [
                2 * (x[0] - pitch) - 4 * slip * x[0] * (x[1] - x[0] ** 2),
                2 * slip * (x[1] - x[0] ** 2) + 0.2 * np.sinh(x[1]),
            ]
        )

    cg = optimize.fmin_cg(loss, [0.5, 0.5], fprime=slope, gtol=1e-10, disp=False)
    ncg = optimize.fmin_ncg(loss, [0.5, 0.5], fprime=slope, avextol=1e-12, disp=False)
    powell = optimize.fmin_powell(loss, [0.5, 0.5], xtol=1e-10, ftol=1e-14, disp=False)
    tnc, _, _ = optimize.fmin_tnc(
        loss, [0.5, 0.5], fprime=slope, bounds=[(-3, 3), (-3, 3)], ftol=1e-16, pgtol=1e-10, disp=0
    )
    return cg + ncg + powell + tnc


def welding_schedule(flow, distance):
    """Robots at stations: the cost of an assignment that a quadratic search has found."""
    F, D = flow + flow.T, distance + distance.T
    r = optimize.quadratic_assignment(
        F, D, method="2opt", options={"rng": np.random.default_rng(2)}
    )
    p = r.col_ind
    return r.fun, np.trace(F @ D[p][:, p].T), np.sum(F * D[p][:, p]) / np.linalg.norm(F)


# Engines.


def diesel(ratio, cutoff):
    """A cycle's work with an exponent that depends on temperature: a vector under the integral."""
    R = constants.R

    def heat(T):
        cv = 20.8 + 0.004 * (T - 300.0) + np.array([0.0, 0.5]) * np.tanh(T / 900.0)
        return np.array([cv[0], cv[1] / T])

    T2 = 300.0 * ratio**0.38
    q, err = quad_vec(heat, T2, T2 * cutoff, epsabs=1e-12, epsrel=1e-12, quadrature="gk15")
    return (
        q[0] / 1000.0,
        q[1],
        R * np.log(ratio) / 10.0,
        constants.convert_temperature(T2 / 10.0, "Kelvin", "Celsius"),
    )


def flywheel(inertia, load):
    """Speed of an engine step by step by a solver object, and a solution put together by hand."""

    def rhs(t, y):
        return np.array([(3.0 + np.sin(5 * t) - load * y[0]) / inertia, y[0]])

    solver = RK45(rhs, 0.0, np.array([1.0, 0.0]), 1.0, max_step=0.2, rtol=1e-9, atol=1e-10)
    ts, pieces = [solver.t], []
    while solver.status == "running":
        solver.step()
        ts.append(solver.t)
        pieces.append(solver.dense_output())
    sol = OdeSolution(ts, pieces)
    return sol(0.37), sol(np.array([0.5, 0.9]))[0], solver.y


def turbocharger(gain, lag):
    """Boost after a step by a stiff solver with a Jacobian given, and the time of three quarters."""
    A = np.array([[-1 / lag, 1 / lag], [-gain, -40.0]])

    def reached(t, y):
        return y[0] - 0.3

    reached.terminal = False
    sol = solve_ivp(
        lambda t, y: A @ y + np.array([0.0, 20.0]),
        (0, 2.0),
        [0.0, 0.1],
        method="Radau",
        jac=lambda t, y: A,
        events=[reached],
        rtol=1e-9,
        atol=1e-11,
        t_eval=[0.5, 1.0],
    )
    return sol.y, sol.t_events[0][0], sol.y_events[0][0, 1]


def bearing(load, gap):
    """Pressure in a film by a boundary problem with an unknown speed, a mesh and a tolerance."""
    x = np.linspace(0, 1, 7)

    def fun(x, y, p):
        h = 1 + gap * np.cos(np.pi * x)
        return np.vstack([y[1] / h**3, p[0] * gap * np.sin(np.pi * x) * np.pi])

    def bc(ya, yb, p):
        return np.array([ya[0], yb[0], ya[1] - load])

    sol = integrate.solve_bvp(fun, bc, x, np.ones((2, 7)), p=[1.0], tol=1e-8)
    return sol.p, sol.sol(0.4), sol.sol(0.4, nu=1)[0]


def shafting(stiffness, inertia):
    """Torsional modes by a block method for a few, with a preconditioner, and a power of the matrix."""
    n = 10
    A = (
        sp.diags_array(
            [-np.ones(n - 1), 2 + np.arange(1.0, n + 1) * 0.3, -np.ones(n - 1)], offsets=[-1, 0, 1]
        )
        * stiffness
    )
    B = sp.diags_array(inertia + 0.1 * np.arange(n))
    X = np.cos(np.outer(np.arange(n), np.arange(1.0, 3.0)))
    w, v = sla.lobpcg(A.tocsr(), X, B=B.tocsr(), largest=False, tol=1e-10, maxiter=200)
    return w, np.abs(v[0]), sla.norm(A.tocsc(), 1)


def condenser(flow, area):
    """A network of tubes by five old iterative solvers and what they agree upon."""
    n = 8
    A = sp.diags([-1.0 * flow, 3.0 + area, -0.7], [-1, 0, 1], shape=(n, n), format="csr")
    b = np.arange(1.0, n + 1)
    total = np.zeros(n)
    for solve in (sla.bicg, sla.bicgstab, sla.cgs, sla.tfqmr, sla.gcrotmk):
        x, info = solve(A, b, rtol=1e-12, atol=0.0)
        assert info == 0
        total = total + x
    return total, sla.onenormest(A) * 0.1


# Waves, sonar and wiring.


def sea_state(height, period):
    """A spectrum of waves folded through a response of the ship, in the complex plane."""
    w = np.linspace(0.2, 3.0, 113)
    wp = 2 * np.pi / period
    S = 5 / 16 * height**2 * wp**4 / w**5 * np.exp(-1.25 * (wp / w) ** 4)
    z, p, k = signal.besselap(3, norm="mag")
    b, a = signal.lp2bp(*signal.zpk2tf(z, p, k), wo=1.1, bw=0.8)
    _, H = signal.freqs(b, a, worN=w)
    m = [integrate.simpson(np.abs(H) ** 2 * S * w**j, x=w) for j in (0, 2)]
    return m, 4 * np.sqrt(m[0]), 2 * np.pi * np.sqrt(m[0] / m[1])


def hydrophone(tones, taper):
    """A design by equal ripples applied to a recording, its spectrum by a window of cosines."""
    h = signal.remez(15, [0.0, 0.1, 0.2, 0.5], [1.0, 0.0], weight=[1.0, 3.0])
    t = np.arange(48) / 8.0
    x = tones[0] * np.sin(2 * np.pi * 0.4 * t) + tones[1] * signal.sawtooth(
        2 * np.pi * 0.3 * t + 0.1, width=0.5
    )
    y = signal.lfilter(h, 1.0, x)
    w = signal.windows.general_cosine(48, [0.5, taper, 0.5 - taper], sym=False)
    S = np.abs(fft.rfft(y * w)) ** 2
    return S[:6], y[-1], signal.savgol_coeffs(7, 2, deriv=1, delta=0.125) @ x[-7:]


def gyro_stabiliser(k, q):
    """A loop's polynomials to states and back, in sections, and a step that is settled."""
    b, a = np.array([k, 2.0]), np.array([1.0, q, 2.5, 1.0])
    A, B, C, D = signal.tf2ss(b, a)
    num, den = signal.ss2tf(A, B, C, D)
    t, y = signal.step((A, B, C, D), T=np.linspace(0, 4, 30))
    z, p, gain = signal.tf2zpk(b, a)
    return num.ravel(), den, y[[5, 12, 29]], np.sort(p.real), gain


def noise_of_engine(f0, width):
    """A band for a hum designed by orders, its attenuation and beta, and filtered both ways."""
    N, Wn = signal.buttord([0.2, 0.3], [0.1, 0.45], 1.0, 20.0)
    sos = signal.butter(N, Wn, btype="band", output="sos")
    t = np.arange(60.0)
    x = np.sin(2 * np.pi * f0 * t) * np.exp(-((t - 30) ** 2) / width)
    y = signal.sosfiltfilt(sos, x, padtype="even", padlen=12)
    z = signal.detrend(x, bp=30)
    return y[20:26], z[[3, 40]], signal.windows.kaiser(9, signal.kaiser_beta(30 + width / 10)).sum()


def switchboard(conductances, volts):
    """Currents by nodes: products and triangular solves by BLAS, a Kronecker sum by its exponential."""
    G = (
        np.diag(conductances.sum() + conductances)
        - np.outer(conductances, conductances) / conductances.sum()
    )
    L = linalg.cholesky(G, lower=True)
    y = dtrsm(1.0, L, volts[:, None], lower=1)
    x = dgemm(0.5, L, y, trans_a=1)
    K = linalg.expm(-np.kron(G[:2, :2], np.eye(2)) * 0.1)
    return x.ravel(), np.trace(K), linalg.funm(G[:2, :2], np.cosh).sum()


def cables(lengths, repair):
    """Second and third best routes on a graph, how much passes, and the order of a visit."""
    g = np.zeros((5, 5))
    g[[0, 0, 1, 1, 2, 3, 2], [1, 2, 2, 3, 3, 4, 4]] = lengths
    d = yen(sp.csr_array(g), 0, 4, 3)
    order, before = breadth_first_order(sp.csr_array(g), 0, directed=True)
    flow = maximum_flow(sp.csr_matrix((g > 0).astype(np.int32) * 3), 0, 4).flow_value
    return d * repair, lengths[order] @ np.arange(5.0), flow * repair


# Plans and trials.


def tolerance_stack(nominal, slope):
    """Errors carried through a mechanism by SciPy's own Jacobian and a covariance."""

    def f(x):
        return np.array([x[0] * np.cos(x[1]) + slope * x[2], x[0] * np.sin(x[1]) - x[2] ** 2])

    J = jacobian(f, nominal, initial_step=0.1, order=8)
    C = J.df @ np.diag([0.1, 0.02, 0.05]) @ J.df.T
    return C, np.sqrt(np.diag(C))


def painting(temperature, humidity):
    """Drying by a rate with two peaks: a bracket and a minimum, elementwise over many."""

    def time(t, h):
        return 3 + (t - h) ** 2 / 8 + 0.3 * np.cos(t * 0.5)

    r = optimize.elementwise.find_minimum(
        time,
        (-3.0, 0.7, 9.0),
        args=(humidity,),
        tolerances={"xatol": 1e-12, "xrtol": 1e-12, "fatol": 0, "frtol": 0},
    )
    return r.f_x + temperature * r.x, r.x


def sea_trial(speeds, powers):
    """A power curve by a line search of one's own descent, three steps, and the quality of its fit."""
    x, y = np.log(speeds / 7.0), np.log(powers / 40.0)

    def loss(p):
        return np.sum((p[0] + p[1] * x - y) ** 2) + 0.01 * np.cosh(p[1])

    def slope(p):
        r = p[0] + p[1] * x - y
        return np.array([2 * r.sum(), 2 * r @ x + 0.01 * np.sinh(p[1])])

    p = np.array([0.1, 2.0])
    for _ in range(3):
        g = slope(p)
        alpha = line_search(loss, slope, p, -g, gfk=g, c2=0.4)[0]
        p = p - alpha * g
    fit, cov = optimize.curve_fit(
        lambda s, a, b: a * s**b,
        speeds,
        powers,
        p0=[0.5, 2.5],
        method="trf",
        loss="soft_l1",
        x_scale=[0.5, 2.0],
        ftol=1e-14,
        xtol=1e-14,
        gtol=1e-14,
    )
    return fit, np.sqrt(np.diag(cov)), loss(p)


def dock_levels(inflow, gate):
    """Two docks that fill each other: minutes by implicit steps, each a root by a Krylov method."""
    y = np.array([1.0, 0.2])
    for _ in range(3):
        old = y

        def residual(z, old=old):
            flow = gate * np.tanh(z[0] - z[1])
            return z - old - 0.2 * np.array([inflow - flow, flow - 0.3 * z[1]])

        y = root(residual, old, method="krylov", options={"fatol": 1e-12, "xatol": 1e-12}).x
    return y


def evacuation_boats(capacity, wait):
    """How many boats, a whole number, by linear programming in integers, and what waiting costs."""
    c = np.array([3.0, 5.0]) + wait
    r = optimize.milp(
        c,
        integrality=[1, 1],
        bounds=optimize.Bounds([0, 0], [9, 9]),
        constraints=LinearConstraint([[4.0, 7.0]], lb=[26.0], ub=[np.inf]),
    )
    relaxed = optimize.linprog(
        c, A_ub=[[-4.0, -7.0]], b_ub=[-capacity], bounds=[(0, 3), (0, None)], method="highs-ds"
    )
    return r.fun, relaxed.fun, relaxed.x, relaxed.ineqlin.marginals


def hull_form(target, fairness):
    """A fair curve within a nonlinear limit, by linear approximations and by a trust region."""

    def loss(x):
        return np.sum((x - target) ** 2) + fairness * np.sum(np.diff(x, 2) ** 2)

    area = NonlinearConstraint(lambda x: x @ x, -np.inf, 5.0)
    a = minimize(
        loss,
        np.full(4, 0.5),
        method="COBYQA",
        constraints=[area],
        options={"final_tr_radius": 1e-9},
    )
    b = minimize(
        loss,
        np.full(4, 0.5),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: 5.0 - x @ x},
        options={"ftol": 1e-15},
    )
    return a.x, b.fun


SELDOM = [
    (offsets, (np.array([0.2, 1.1, 1.8, 2.0, 1.9, 1.4, 0.6]), 1.3)),
    (bulkhead, (np.array([1.0, 1.3, 0.8, 1.1, 0.9]), np.array([2.0, -1.0, 0.5, 1.5]))),
    (stiffened_plate, (1.2, np.array([1.0, 0.4, -0.3, 0.8, 1.1, 0.2]))),
    (crane, (np.array([1.4, 1.2]), 1.7)),
    (ballast, (np.array([0.9, 0.3, 0.7]), 0.25)),
    (anchor_chain, (1.3, 2.0)),
    (propeller, (1.2, 0.7)),
    (welding_schedule, (np.sin(1.0 + np.arange(16.0).reshape(4, 4)) + 1.5, np.cos(0.3 + np.arange(16.0).reshape(4, 4) * 1.7) + 1.4)),
    (diesel, (16.0, 1.8)),
    (flywheel, (0.8, 1.1)),
    (turbocharger, (5.0, 0.6)),
    (bearing, (0.7, 0.4)),
    (shafting, (1.4, 1.0)),
    (condenser, (1.1, 0.6)),
    (sea_state, (2.5, 7.0)),
    (hydrophone, (np.array([1.0, 0.4]), 0.42)),
    (gyro_stabiliser, (1.6, 1.9)),
    (noise_of_engine, (0.23, 180.0)),
    (switchboard, (np.array([0.8, 1.2, 0.5]), np.array([1.0, 0.4, -0.6]))),
    (cables, (np.array([1.0, 2.5, 1.2, 4.1, 1.6, 1.3, 3.9]), 1.4)),
    (tolerance_stack, (np.array([1.4, 0.6, 0.3]), 0.5)),
    (painting, (0.4, np.array([1.1, 2.3]))),
    (sea_trial, (np.array([4.0, 6.0, 7.0, 9.0, 10.0]), np.array([9.8, 26.1, 39.5, 71.9, 96.4]))),
    (dock_levels, (0.7, 0.5)),
    (evacuation_boats, (26.0, 0.3)),
    (hull_form, (np.array([1.9, 1.2, 1.5, 0.7]), 0.4)),
]  # fmt: skip

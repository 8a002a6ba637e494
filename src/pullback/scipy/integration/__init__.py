"""scipy.integrate: derivatives of integrals and of solutions of differential equations.

quadrature           quad, quad_vec
nested               dblquad, tplquad, nquad
jumps                jumps of integrands that move, and what they add to derivatives
integrand            recorded integrands, which may have branches and jumps
edges                kinks where partials are unbounded, which no decision shows
surfaces             the operations of an integrand that jump, and where
level_changes        where in [0, 1] a level, which is constant between jumps, changes
subdivision          adaptive integrals of vectors over [0, 1], for derivatives of quadrature
sums                 integrands that ask for values, as sums over a fine subdivision
steps                one step of a method on Arrays, with a fixed step size
written_steps        the steps as a loop, in rules recorded for any values
sampled              tanhsinh, cubature, qmc_quad, which sum over points of their own
crossed_edges        edges that lie between these points
initial              solve_ivp, odeint
paths                which steps their solutions take, and the same steps on Arrays
switching            their solutions in pieces, where the right-hand side jumps or has kinks
pieces               these pieces on plain values, and the jumps between them
discontinuities      where along a solution the right-hand side jumps or has kinks
decisions            the decisions of a right-hand side at a point
recorded_right_side  a right-hand side that is recorded once instead of run each time
ragged               t and y of a batch whose examples took different numbers of steps
stepwise             ode, complex_ode
by_steps             RK45 and kin, advanced step by step
boundary             solve_bvp
"""

from importlib import import_module

from scipy import integrate

from ..solving.serving import by_values

FAMILIES = ("quadrature", "nested", "sampled", "initial", "boundary", "stepwise", "by_steps")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

by_values(integrate.nsum)

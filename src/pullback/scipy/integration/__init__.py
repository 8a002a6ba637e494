"""scipy.integrate: integrals under the integral sign, and solutions of differential equations.

quadrature      quad, quad_vec, dblquad, tplquad, nquad
steps           one step of a method on Arrays, with the step size held
initial         solve_ivp, odeint, ode
boundary        solve_bvp
"""

from importlib import import_module

FAMILIES = ("quadrature", "initial", "boundary", "stepwise")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

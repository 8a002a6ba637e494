"""scipy.optimize: solutions have the derivative of a root or of a stationary point.

calls           what a solver gave, and its arguments
roots           brentq, newton, fsolve, root, fixed_point and others
conditions      which constraints are active, and the equations of a constrained minimum
minima          minimize, minimize_scalar, fmin and others, global optimisers
elementwise     many equations or minima of one unknown each
fits            least_squares, leastsq, curve_fit, lsq_linear, nnls
programs        linprog; linear_sum_assignment; solvers that are refused
"""

from importlib import import_module

FAMILIES = ("elementwise", "roots", "minima", "fits", "programs")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

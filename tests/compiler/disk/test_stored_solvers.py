"""Solver calls on disk: a later process repeats them without the user's functions, and records no
more.
"""

import copyreg

import numpy as np
import pytest
from scipy import optimize, stats

import pullback as pb
from pullback.compiler.disk import closures, records
from pullback.compiler.disk.portable import Unportable
from pullback.compiler.facts.ambient import copiers
from pullback.core.array import Array
from pullback.scipy.solving.operation import among
from tests.compiler.disk.test_stored import END, Folder

pytestmark = pytest.mark.disk

HEAD = "from scipy import integrate, optimize, special, stats\n"
# Functions of x = [0.5, 1.5, 2.0], each as it is and as its gradient.
SOLVED = {
    "brentq": "lambda x: optimize.brentq(lambda z: z**3 + z - x[0], -3, 3)",
    "root": "lambda x: np.sum(optimize.root(lambda z: z**3 + x * z - 1, np.ones(3)).x)",
    "fsolve": "lambda x: optimize.fsolve(lambda z: z**3 + z - x[1], 1.0)[0]",
    "newton": "lambda x: optimize.newton(lambda z: z**3 + z - x[1], 1.0)",
    "fixed_point": "lambda x: optimize.fixed_point(lambda z: np.cos(x[0] * z), 0.7)",
    "minimize": (
        "lambda x: np.sum(optimize.minimize(lambda z: np.sum((z - x)**2 * (1 + z**2)),"
        " np.ones(3), method='BFGS').x)"
    ),
    "minimize with bounds": (
        "lambda x: optimize.minimize(lambda z: (z[0] - x[0])**2 + np.cosh(z[1] * x[1] - 1),"
        " [0.1, 0.1], bounds=optimize.Bounds([0, 0], [0.4, 2]), method='L-BFGS-B').fun"
    ),
    "minimize_scalar": "lambda x: optimize.minimize_scalar(lambda z: np.cosh(z - x[0]) + z).fun",
    "least_squares": "lambda x: optimize.least_squares(lambda z: z**3 + z - x, np.ones(3)).x[0]",
    "linprog": "lambda x: optimize.linprog(x, A_eq=[[1, 1, 1]], b_eq=[2.0]).fun",
    "quad": "lambda x: integrate.quad(lambda t: np.exp(-x[0] * t * t), 0, x[1])[0]",
    "dblquad": "lambda x: integrate.dblquad(lambda t, s: x[0] * t * s + x[1], 0, 1, 0, 1)[0]",
    "odeint": "lambda x: integrate.odeint(lambda y, t: -x[0] * y, x[1], [0.0, 1.0])[-1, 0]",
    "LSODA": (
        "lambda x: integrate.solve_ivp(lambda t, y: -x[0] * y, (0, 1), [x[1]], method='LSODA',"
        " t_eval=[0.5, 1.0]).y[0, -1]"
    ),
    "RK45": (
        "lambda x: integrate.solve_ivp(lambda t, y: -x[0] * y, (0, 1), [x[1]],"
        " t_eval=[0.5, 1.0]).y[0, -1]"
    ),
    "a law": "lambda x: stats.f.logcdf(x[0], 3.0, x[1]) + stats.norm.ppf(x[0] / 2)",
    "a frozen law": "lambda x: stats.gamma(x[0], scale=x[1]).logpdf(x[2])",
    "quantiles": "lambda x: stats.betaprime(x[1], x[2]).ppf(0.3)",
}
# A function of several lines: its parameters are the curve's.
CURVE = """
T = np.linspace(0, 2, 9)
def f(x):
    def curve(t, a, b=0.5):
        return a * np.exp(-b * t)
    popt, pcov = optimize.curve_fit(curve, T, x[0] * np.exp(-x[1] * T) + 0.01 * np.cos(9 * T))
    return popt[0] + popt[1]
"""


@pytest.mark.share(4)
@pytest.mark.parametrize("order", ["value", "gradient"])
def test_a_later_process_records_no_more(order, tmp_path):
    """Solver calls as they are and under `grad`, in two processes that share a folder."""
    texts = {name: f"f = {text}\n" for name, text in SOLVED.items()} | {"curve_fit": CURVE}
    of = {"value": "", "gradient": "f = pb.grad(f)\n"}[order]
    args = "args = (np.array([0.5, 1.5, 2.0]),)\n"
    end = END.replace("rtol=1e-13", "rtol=1e-9")
    programs = {name: HEAD + args + text + of + end for name, text in texts.items()}
    folder = Folder(tmp_path)
    folder.all(programs)
    later = folder.all(programs)
    assert {name: misses for name, (misses, _) in later.items() if misses} == {}


class TestWhatIsWritten:
    def test_closures_of_ours(self):
        """Their code is found by its place, and what their cells hold is written."""
        own = among(optimize.brentq, (0, 2))
        again = records.loaded(records.written(own))
        assert again is not own
        assert again.__code__ is own.__code__
        assert [cell.cell_contents for cell in again.__closure__] == [(0, 2), optimize.brentq]

    def test_functions_of_the_user_are_not(self):
        with pytest.raises(Unportable, match=r"the function `.*<lambda>` of tests"):
            records.written(lambda x: x)

    def test_methods_of_other_objects_are_not(self):
        with pytest.raises(Unportable, match="the method"):
            closures.bound(stats.norm, "cdf")
        with pytest.raises(Unportable, match="a function of os"):
            closures.made("os", "system", 0)

    @pytest.mark.parametrize("law", [stats.norm, stats.genextreme, stats.poisson])
    def test_laws(self, law):
        """One that SciPy has is itself, and a frozen one's is made again."""
        assert records.loaded(records.written(law)) is law
        own = law(0.4).dist
        again = records.loaded(records.written(own))
        assert type(again) is type(own)
        assert again is not own

    def test_the_users_laws_are_not(self):
        with pytest.raises(Unportable):
            records.written(stats.rv_histogram(([1, 2], [0.0, 1.0, 2.0])))

    def test_results_and_bounds(self):
        again = records.loaded(records.written(optimize.OptimizeResult))
        assert again is optimize.OptimizeResult
        bounds = records.loaded(records.written(optimize.Bounds([0.0], [1.0])))
        assert (bounds.lb, bounds.ub) == ([0.0], [1.0])

    def test_arrays_of_recordings_that_have_ended(self):
        """They refuse operations, as the one refused that was written."""
        again = records.loaded(records.written(closures.of_ended(3.0)))
        assert type(again) is Array
        with pytest.raises(pb.EscapedError, match="of an earlier process"):
            np.sin(again)


def test_copiers_of_libraries_are_not_compared():
    """A library registers its own on import, which another process may do at another time."""
    before = copiers()
    try:
        copyreg.pickle(Folder, lambda x: (Folder, (x.path,)))
        assert [x[0] for x in copiers() if x not in before] == [Folder]
    finally:
        del copyreg.dispatch_table[Folder]

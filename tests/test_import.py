"""What `import pullback` costs."""

import subprocess
import sys

import pytest


def modules_after(statement):
    """Return the names of the modules that a fresh interpreter holds after a statement."""
    script = f"import sys; {statement}; print(*sys.modules, sep='\\n')"
    return set(subprocess.check_output([sys.executable, "-c", script], text=True).split())


@pytest.fixture(scope="module")
def loaded():
    """Return the modules that `import pullback` brings beyond those of NumPy and optree."""
    return modules_after("import pullback") - modules_after("import numpy, optree")


@pytest.mark.parametrize(
    "heavy", ["scipy", "llvmlite", "matplotlib", "sklearn", "cupy", "dask", "torch"]
)
def test_heavy_packages_stay_out(loaded, heavy):
    """Extras are imported when they are used, not before."""
    assert heavy not in loaded


def test_only_the_standard_library_and_ourselves(loaded):
    """Nothing is imported at all beyond the standard library, NumPy and optree."""
    packages = {name.partition(".")[0] for name in loaded} - {"pullback"}
    packages -= {"numpy", "optree"}  # submodules of theirs that we use
    assert packages <= set(sys.stdlib_module_names)


def test_a_gradient_imports_what_it_needs():
    """Neither containers, nor random numbers, loops, statistics or arrays with masks."""
    numpys = modules_after("import numpy, numpy.fft, numpy.polynomial")
    gradient = "import numpy, pullback; pullback.grad(numpy.sin)(1.0)"
    more = modules_after(gradient) - numpys
    assert "pullback.primitives.sorting" in more
    others = {"optree", "statistics", "numpy.random", "numpy.ma", "pullback.numpy.random"}
    others |= {"difflib", "fractions", "decimal"}
    later = ("pullback.transforms.loops", "pullback.transforms.derived", "pullback.compiler")
    assert [name for name in more if name in others or name.startswith(later)] == []


IMPORTED_LATE = {
    "random": """
        rng = np.random.default_rng(0)
        return np.sum(x * rng.normal(size=3)) + rng.normal(x[0], 1.0)""",
    "an import of random": """
        from numpy.random import RandomState
        y = np.random.RandomState(1).permutation(x)
        RandomState(0).shuffle(y)
        return 2 * y[0]""",
    "statistics": """
        import statistics
        normal = statistics.NormalDist(x[0], 1.0)
        return statistics.stdev([x[0], 2.0, x[1]]) * statistics.mean(x) + normal.inv_cdf(0.3)""",
    "masks": """
        return np.sum(np.ma.masked_array(np.ones(3), [0, 1, 0]).filled(0.0) * x)""",
    "unique": """
        return np.sum(np.unique_values(x) ** 2) + np.sum(np.unique_counts(x).values)""",
    "trees": """
        inner = pb.grad(lambda d: np.sum(d["a"] * d["b"][0]) ** 2)
        return inner({"a": x, "b": (x,)})["a"].sum()""",
    "loops": """
        y, _ = pb.scan(lambda c, x: (c * x, x), x[0], x)
        z = pb.fori_loop(0, 3, lambda i, c: c * x[1], x[0])
        return y + z + pb.while_loop(lambda c: c < 10, lambda c: c * 2, x[0])""",
}
LATE = """
import numpy as np, pullback as pb
def f(x):{body}
x = np.array([0.5, 1.5, 0.7])
slope = pb.grad(f)(x)
again = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
np.testing.assert_allclose(slope, again, rtol=1e-6, atol=1e-8)
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("body", IMPORTED_LATE.values(), ids=IMPORTED_LATE)
def test_what_a_function_imports_first_takes_part(body):
    """What stands for functions of a module is there when the module is imported inside of f."""
    modules_after(f"exec({LATE.format(body=body)!r})")


def test_what_stands_for_scipys_linear_algebra_imports_no_more_of_scipy():
    """It is imported in the middle of a call, once machine code has imported SciPy's BLAS."""
    ours, theirs = map(modules_after, ("import pullback.scipy.linalg", "import scipy.linalg"))
    packages = [{x.split(".")[1] for x in found if "scipy." in x[:6]} for found in (ours, theirs)]
    assert packages[0] <= packages[1]


PRODUCT = """
import numpy, pullback
from pullback.compiler import first_call
first_call.FEW = first_call.ENOUGH = 0  # the first call is recorded
f = pullback.compile(lambda x: x @ x, wait=True)
assert f(numpy.ones(3)) == f(numpy.ones(3)) == 3
"""


def test_products_by_machine_code_import_no_linear_algebra_of_scipy():
    """They take its BLAS alone, and whoever imports the whole later finds all of it."""
    assert "scipy.linalg" not in modules_after(f"exec({PRODUCT!r})")
    later = "import scipy.linalg; scipy.linalg.cython_blas.__pyx_capi__; scipy.linalg.solve"
    assert "scipy.linalg.cython_blas" in modules_after(f"exec({PRODUCT + later!r})")

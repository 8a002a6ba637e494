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

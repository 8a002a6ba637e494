"""scipy.linalg: rules for its compiled functions.

    kinds           the kinds of SciPy's functions of matrices
    bands           banded matrices, stored by their diagonals
    systems         systems of equations, by matrices, bands and factors; equations for matrices
    factors         triangular and orthogonal factors
    shortcuts       what compiled programs compute in place of calls of SciPy, in NumPy
    by_routines     likewise by the routines of LAPACK that SciPy calls
    structures      likewise the solution of a system, by what a matrix is
    updates         QR of a matrix with a row more, a column less
    rotations       the plane rotations that update factors
    angles          the cosine-sine decomposition
    spectra         eigenvalues, singular values
    functions       functions of matrices
    unchecked       SciPy's functions of one matrix, without their checks in Python
    riccati         the equations of optimal control
    pencils         the Schur form of two matrices
    routines        how routines of BLAS and LAPACK are described
    strides         the parts of vectors that routines of BLAS take
    blas, lapack    the routines that have derivatives
    reflections     routines that store an orthogonal matrix as reflections
    interpolative   interpolative decompositions; estimates of norms; once SciPy's are imported
    special         matrices made of numbers; norms

Functions that SciPy writes in Python on top of these take part as the user's code does.
"""

from importlib import import_module

FAMILIES = (
    "systems",
    "factors",
    "shortcuts",
    "by_routines",
    "updates",
    "angles",
    "spectra",
    "functions",
    "riccati",
    "special",
    "pencils",
    "blas",
    "lapack",
    "reflections",
)

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

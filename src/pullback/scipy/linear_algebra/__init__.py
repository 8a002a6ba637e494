"""scipy.linalg: the functions that compiled code computes.

    kinds           what functions of SciPy on matrices have in common
    bands           matrices by their diagonals
    systems         systems of equations, by matrices, bands and factors; equations for matrices
    factors         triangular and orthogonal factors
    updates         QR of a matrix with a row more, a column less
    rotations       the plane rotations that update factors
    angles          the cosine-sine decomposition
    spectra         eigenvalues, singular values
    functions       functions of matrices
    riccati         the equations of optimal control
    pencils         the Schur form of two matrices
    routines        what routines of BLAS and LAPACK have in common
    blas, lapack    the routines that have derivatives
    reflections     those that keep an orthogonal matrix as reflections
    interpolative   a matrix by some of its columns; estimates of its norm
    special         matrices made of numbers; norms
    refused         what has no derivative here, and what to write

Functions that SciPy writes in Python over these take part as the user's code does.
"""

from importlib import import_module

FAMILIES = (
    "systems",
    "factors",
    "updates",
    "angles",
    "spectra",
    "functions",
    "riccati",
    "interpolative",
    "special",
    "pencils",
    "refused",
    "blas",
    "lapack",
    "reflections",
)

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

"""scipy.sparse: SciPy's own sparse arrays, with Arrays as their numbers.

A sparse array of SciPy keeps its numbers in `data` and their places in arrays of integers. Its
Python code takes part as the user's does; its compiled functions have rules here:

    patterns        the places of the numbers of a sparse array
    products        a sparse array times a dense one
    compiled_methods  iterative methods in machine code
    restarted       GMRES with restarts, as loops that machine code takes
    moves           functions that only rearrange numbers: conversions, slices, transposes
    sums            functions that add or combine numbers: sums, products of sparse arrays
    kept_zeros      zeros that SciPy drops, kept because they may have derivatives
    formats         lists of rows, dictionaries, blocks, diagonals
    matrices        dense matrices, the results of sums of sparse matrices
    factors         the factors that SuperLU returns
    systems         systems of equations, by SuperLU
    iterations      systems of equations, by iterative methods
    spectra         eigenvalues and singular values by ARPACK
    graphs          paths and trees along the edges that SciPy chose
    trees           sparse arrays as arguments and results

The pattern is constant: an entry that happens to be zero remains an entry and has its derivative,
even if SciPy has dropped it from the entries that a program sees.
"""

from importlib import import_module

FAMILIES = ("moves", "sums", "kept_zeros", "formats", "matrices")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

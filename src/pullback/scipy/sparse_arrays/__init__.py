"""scipy.sparse: SciPy's own arrays, whose numbers may be Arrays.

A sparse array of SciPy's keeps its numbers in `data` and their places in arrays of integers. Its
Python code takes part as the user's does; what is compiled has rules here:

    patterns        the places of the numbers of a sparse array
    products        a sparse array times a dense one
    compiled_methods  iterative methods in machine code
    moves           functions that only rearrange numbers: conversions, slices, transposes
    sums            functions that add or combine numbers: sums, products of sparse arrays
    kept_zeros      zeros that SciPy drops, and that are kept because they move
    formats         lists of rows, dictionaries, blocks, diagonals
    matrices        dense matrices, which sums of sparse matrices give
    factors         the factors of SuperLU themselves
    systems         systems of equations, by SuperLU
    iterations      the same, by methods that iterate
    spectra         eigenvalues and singular values by ARPACK
    graphs          paths and trees along the edges that SciPy chose
    trees           sparse arrays as arguments and results

The pattern is constant: an entry that happens to be zero stays an entry, and has its derivative,
also where a program sees SciPy's entries, which has dropped it.
"""

from importlib import import_module

FAMILIES = ("moves", "sums", "kept_zeros", "formats", "matrices")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

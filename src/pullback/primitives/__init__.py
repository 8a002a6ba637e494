"""The operations: one file per family, named as in NumPy; a folder per module of SciPy.

Families that every program uses are imported with the package. The others are imported when one of
their functions is first looked up, so that `import pullback` stays fast. Families for a module of
SciPy wait until the program has imported that module, and never import it themselves.

Element by element:

    elementwise          the ufuncs, one row each
    selecting            where, maximum, clip
    parts                real and imaginary parts, sign, angle
    special              round, modf, divmod, sinc, i0, nan_to_num
    scimath              numpy.emath
    predicates           isnan, isclose and other tests of values
    kinks                a warning for second derivatives at kinks
    ufuncmethods         reduce, accumulate, reduceat, outer
    rounding             the last bits of NumPy's own functions
    scipy_special        scipy.special

Joining, splitting and rearranging arrays:

    creation             zeros_like, linspace, diag
    items, objects       x.item(), x.tolist(); arrays of objects that hold Arrays
    shapes               reshape, transpose, broadcast, cast
    views                x.view(dtype)
    strided              diagonals, sliding windows, as_strided
    joining              concatenate, stack, tile
    splitting            split and similar functions
    padding              pad
    indexing, keys       x[key]; keys parsed into their entries
    selections           x[mask] under vmap
    positions            nonzero and similar functions
    reading              x[key] as a view
    assignment, latest   x[key] = v, in-place operators; which of several writes to a place stays
    overlapping          assignments of a part of an array to another that NumPy doesn't buffer
    assigned_attributes  x.flat, x.shape = ...
    writing              fill_diagonal, put_along_axis and similar functions
    sorting              sort, partition, unique
    sets                 intersect1d and similar functions

Along axes:

    reductions           sum, mean, prod, max, min, ptp
    nanfunctions         the same reductions, skipping NaN
    queries              all, any, argmax, argmin
    statistics           var, std, average, cov, corrcoef
    quantiles            median, quantile, percentile
    cumulative           cumsum, cumprod, diff, linear recurrences
    binning              interp, histograms, bincount
    callables            apply_along_axis, apply_over_axes

Linear algebra:

    matmul               the matrix product
    contractions         dot, tensordot and similar products
    einsum               einsum
    partly               sums of products where only part of the cotangent is present
    products             cross, convolve, correlate
    linalg               solve, inv, det, matrix_power
    lapack               LAPACK for one matrix, without NumPy's checks
    lapack_routines      routines of SciPy's LAPACK, as operations of compiled programs
    inner_loops          the ufunc loops beneath NumPy's functions, for compiled programs
    triangular           cholesky, qr
    decompositions       eigh, eig, svd
    moving_vectors       how eigenvectors and singular vectors move
    spectra              functions of eigenvalues or singular values alone
    leastsquares         pinv, lstsq
    norms                norm, cond, matrix_rank
    fft                  numpy.fft

Polynomials:

    poly1d               highest power first
    polynomial           numpy.polynomial.polynomial
    fits                 polyfit

Around the operations:

    arguments            NumPy's conventions for axes, shapes, dtypes and lists
    masked               attributes that numpy.ma expects of an array without a mask
    methods, infix       operators, methods and attributes of Array; fast paths for `x + y`
    operands             operands of types that NumPy doesn't know
    descriptions         dtype, memory and text of an array
    refused              functions without a derivative, and why
    exact                another library's value, with the derivative of the same result
    exact_sums           functions of lists that Python computes exactly
    exact_statistics     those of Python's `statistics`
"""

import pkgutil
import sys
from functools import cache
from importlib import import_module

from ..core.reach.namespaces import UNWATCHED
from ..core.shutdown import rest

# Families for a module of NumPy that is imported when it is asked for.
OF_MODULES = dict.fromkeys(("fits", "poly1d", "polynomial"), "numpy.polynomial")

# Families for a module of another package: there when the program has imported it.
OF_PACKAGES = {"scipy_special": "scipy.special", "exact_statistics": "statistics"}

LOADED: set[str] = set()  # families that have been imported


@cache
def families() -> tuple[str, ...]:
    """The files and folders of this folder, in alphabetical order."""
    return tuple([module.name for module in pkgutil.iter_modules(__path__)])


def load(everything: bool = True) -> None:
    """Import the families; those that have been imported cost next to nothing.

    everything: also those of modules of NumPy that nobody has imported so far.
    """
    for name in families():
        if name in LOADED:
            continue
        package = OF_PACKAGES.get(name)
        if package is not None:
            asked = package in sys.modules
        else:
            asked = everything or OF_MODULES.get(name, "numpy") in sys.modules
        if asked:
            rest()
            with UNWATCHED[-1]():  # a recording may stop at what it does not expect
                import_module(f"{__name__}.{name}")
            LOADED.add(name)

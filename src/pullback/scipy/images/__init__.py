"""scipy.ndimage: rules for the compiled functions inside it.

    edges           padding images at their boundaries
    stencils        weighted sums of the pixels near each pixel
    ranks           the smallest, largest or k-th pixel near each pixel; functions of the user's
    spectra         products with the Fourier transforms of filters
    splines         the coefficients of splines
    interpolation   splines at points that may depend on parameters
    labels          objects and distances, which are locally constant

The functions above them, such as `gaussian_filter` and `rotate`, are SciPy's own Python, which
takes part as the user's code does.
"""

from importlib import import_module

from scipy import ndimage

from ..solving.serving import by_values

FAMILIES = ("stencils", "ranks", "spectra", "splines", "interpolation", "labels")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

by_values(
    ndimage.gaussian_filter, ndimage.gaussian_filter1d, ndimage.gaussian_laplace,
    ndimage.gaussian_gradient_magnitude, ndimage.minimum, ndimage.maximum, ndimage.median,
    ndimage.extrema,
)  # fmt: skip

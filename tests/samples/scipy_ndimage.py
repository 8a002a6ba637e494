# fmt: off
"""scipy.ndimage: filters, morphology, interpolation, measurements."""

import numpy as np
from scipy import ndimage as nd

import pullback.scipy.ndimage  # noqa: F401  # enters the rules
from pullback.core.errors import ArgumentError
from pullback.testing import ErrorSample, Sample
from tests.samples import traced

random = np.random.default_rng(43)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (real(*shape) + 1j * real(*shape)).astype(dtype)


def apart(*shape):
    """Numbers of which no two are near each other."""
    size = np.prod(shape)
    return ((random.permutation(size) + 0.5) / size).reshape(shape)


def of(f, *xs, program=None, smooth=True, name="", **options):
    """A sample of a function with options, or of a program over it."""
    shown = ", ".join([name] if name else [f"{key}={x}" for key, x in options.items()])
    kinds = ", ".join(f"{np.asarray(x).dtype}{list(np.shape(x))}" for x in xs)
    run = program or (lambda g, *xs: g(*xs, **options))
    return Sample(traced(f, run), xs, smooth=smooth, name=f"{f.__name__}({shown})({kinds})")


FILTER_MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "wrap", "grid-wrap")
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
LABELS = np.array([[1, 1, 2, 0], [1, 2, 2, 3], [0, 3, 3, 3]])
OUTPUT = np.zeros(5)
BINARY = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 0]], bool)
SAMPLES = []

# Weighted sums.
for f in (nd.correlate1d, nd.convolve1d):
    SAMPLES += [
        *[of(f, real(5), real(3), mode=mode) for mode in FILTER_MODES],
        of(f, real(4, 3), real(2), axis=0, origin=-1), of(f, real(2, 5), real(4), origin=1), of(f, real(2), real(7)), of(f, real(5), real(3), cval=0.7, mode="constant"),
        of(f, cplx(5), real(3)), of(f, cplx(5), cplx(2)), of(f, real(5, dtype="f4"), real(3)), of(f, real(5), output=np.float32, weights=np.array([0.3, 0.5])),
    ]
for f in (nd.correlate, nd.convolve):
    SAMPLES += [
        *[of(f, real(4, 5), real(3, 2), mode=mode) for mode in FILTER_MODES[1:3]],
        of(f, real(4, 5), real(3, 3), origin=(1, -1)), of(f, real(2, 3, 4), real(2, 2, 3)), of(f, real(3, 4), real(2, 2), 0.6, program=lambda g, x, w, c: g(x, w, mode="constant", cval=c), name="cval"),
        of(f, cplx(3, 4), cplx(2, 2)), of(f, real(3, 4), real(3), axes=(1,)),
        # SciPy's sums are wrong where an image lies in memory as one number that is repeated.
        of(f, real(5), real(3), program=lambda g, x, w: g(1.0 * x, w)),
    ]
SAMPLES += [
    *[of(nd.gaussian_filter, real(5, 6), 0.8, mode=mode) for mode in FILTER_MODES[:2]], of(nd.gaussian_filter, real(5, 6), np.array([0.7, 1.2]), order=(1, 0)), of(nd.gaussian_filter, real(6, 5), 0.9, program=lambda g, x, s: g(x, s, radius=2), name="radius"), of(nd.gaussian_filter, cplx(6), sigma=0.8), of(nd.gaussian_filter, real(5, 6), sigma=(0.8, 1.1)), of(nd.gaussian_laplace, real(5, 6), sigma=0.9), of(nd.gaussian_gradient_magnitude, real(5, 6), sigma=0.9),
    *[of(nd.gaussian_filter1d, real(7), 0.8, order=order) for order in (0, 1, 2, 3)], of(nd.gaussian_filter1d, real(3, 6), sigma=1.1, axis=0),
    *[of(nd.uniform_filter1d, real(5), size=3, mode=mode) for mode in FILTER_MODES[:2]], of(nd.uniform_filter1d, real(4, 3), size=2, axis=0, origin=-1), of(nd.uniform_filter1d, cplx(5), size=3), of(nd.uniform_filter, real(4, 5), size=(2, 3)), of(nd.uniform_filter1d, real(5), 0.6, program=lambda g, x, c: g(x, 4, mode="constant", cval=c), name="cval"),
    of(nd.sobel, real(4, 5)), of(nd.sobel, real(4, 5), axis=0, mode="constant"), of(nd.prewitt, real(4, 5)), of(nd.laplace, real(4, 5)), of(nd.laplace, real(2, 3, 4), mode="wrap"), of(nd.gaussian_laplace, real(5, 6), 0.8), of(nd.gaussian_gradient_magnitude, real(5, 6), 0.8),
    of(nd.generic_laplace, real(4, 5), program=lambda g, x: g(x, lambda x, axis, out, mode, cval: nd.correlate1d(x, [1, -2, 1], axis, out, mode, cval)), name="function"), of(nd.generic_gradient_magnitude, real(4, 5), program=lambda g, x: g(x, nd.sobel), name="sobel"),
    of(nd.generic_filter, real(3, 4), program=lambda g, x: g(x, lambda near: np.sum(near**2) * near[0], size=3), name="function"), of(nd.generic_filter, real(3, 4), 0.7, program=lambda g, x, p: g(x, lambda near: np.sum(near * p), footprint=CROSS, mode="wrap"), name="parameter"),
    of(nd.generic_filter1d, real(3, 4), program=lambda g, x: g(x, smoothed, 3, extra_arguments=(2.0,)), name="function"),
    of(nd.vectorized_filter, real(4, 5), program=lambda g, x: g(x, np.mean, size=(2, 3)), name="mean"),
]


def smoothed(line, out, factor):
    out[...] = (line[:-2] + factor * line[1:-1] * line[2:]) / 3


# Chosen pixels.
for f in (nd.minimum_filter, nd.maximum_filter):
    SAMPLES += [*[of(f, apart(4, 5), size=3, mode=mode) for mode in FILTER_MODES[:2]], of(f, apart(4, 5), footprint=CROSS), of(f, apart(4, 5), size=(1, 4), origin=(0, 1)), of(f, apart(4, 5), 0.4, program=lambda g, x, c: g(x, footprint=CROSS, mode="constant", cval=c), name="cval")]
for f in (nd.minimum_filter1d, nd.maximum_filter1d):
    SAMPLES += [of(f, apart(6), size=3), of(f, apart(4, 3), size=2, axis=0, origin=-1)]
SAMPLES += [
    of(nd.median_filter, apart(4, 5), size=3), of(nd.median_filter, apart(9), size=3), of(nd.median_filter, apart(4, 5), footprint=CROSS, mode="mirror"), of(nd.rank_filter, apart(4, 5), rank=2, size=3), of(nd.rank_filter, apart(9), rank=-2, size=4, origin=1), of(nd.percentile_filter, apart(4, 5), percentile=30, size=3), of(nd.percentile_filter, apart(9), percentile=70, size=5, mode="constant"), of(nd.median_filter, apart(9).astype("f4"), size=3),
]
for f in (nd.grey_erosion, nd.grey_dilation, nd.grey_opening, nd.grey_closing, nd.white_tophat, nd.black_tophat, nd.morphological_gradient, nd.morphological_laplace):
    SAMPLES += [of(f, apart(4, 5), size=3), of(f, apart(4, 5), footprint=CROSS), of(f, apart(4, 5), real(2, 3), program=lambda g, x, s: g(x, structure=s), name="structure")]

# Spectra.
SAMPLES += [
    of(nd.fourier_gaussian, cplx(4, 5), np.array([0.7, 1.2])), of(nd.fourier_gaussian, cplx(4, 3), 0.7, n=4), of(nd.fourier_gaussian, real(4, 5), 0.8), of(nd.fourier_uniform, cplx(4, 5), np.array([1.7, 2.2])), of(nd.fourier_uniform, cplx(4, 3), 1.7, n=5, axis=1),
    of(nd.fourier_ellipsoid, cplx(4, 5), 2.5), of(nd.fourier_ellipsoid, cplx(5), 1.4), of(nd.fourier_ellipsoid, cplx(2, 3, 2), np.array([2.3, 1.1, 0.7])), of(nd.fourier_shift, cplx(4, 5), np.array([0.7, -1.2])), of(nd.fourier_shift, cplx(4, 3), 0.7, n=4), of(nd.fourier_shift, real(5), 0.4),
]

# Splines.
PLACES = np.array([[0.3, 1.7, 2.4, 3.8, -0.6], [1.2, 3.3, -0.4, 4.6, 2.1]])
SAMPLES += [
    *[of(nd.spline_filter1d, real(6), order=order, mode=mode) for order, mode in ((2, "mirror"), (3, "reflect"), (5, "reflect"), (4, "grid-wrap"), (3, "nearest"), (2, "constant"))], of(nd.spline_filter1d, real(4, 3), order=4, axis=0), of(nd.spline_filter1d, cplx(5), output=complex), of(nd.spline_filter1d, real(40), order=5, mode="reflect"), of(nd.spline_filter1d, real(40), order=5), of(nd.spline_filter1d, real(40, 2), axis=0, mode="grid-wrap"), of(nd.spline_filter, real(4, 5)), of(nd.spline_filter, real(4, 5), order=2, mode="reflect"), of(nd.spline_filter1d, real(1)), of(nd.spline_filter1d, real(2)),
    *[of(nd.correlate, real(5, 6), real(3, 3), mode=mode) for mode in ("grid-constant", "grid-wrap", "grid-mirror")],
    *[of(nd.map_coordinates, real(5, 6), PLACES, order=order, smooth=order > 2 or 1) for order in (1, 2, 3, 4, 5)],
    *[of(nd.map_coordinates, real(5, 6), PLACES, order=1, mode=mode, smooth=1) for mode in MODES],
    *[of(nd.map_coordinates, real(5, 6), PLACES * 3.0 + 0.01, order=3, mode=mode) for mode in MODES],
    of(nd.map_coordinates, real(5, 6), PLACES * 2.0 - 1.3, order=3, mode="nearest", prefilter=False),
    *[of(nd.map_coordinates, real(5, 6), program=lambda g, x, mode=mode: g(x, PLACES, order=0, mode=mode), name=f"order 0, {mode}") for mode in MODES[2:5]],
    of(nd.map_coordinates, real(5, 6), PLACES, 0.7, program=lambda g, x, at, c: g(x, at, mode="constant", cval=c), name="cval"), of(nd.map_coordinates, real(5, 6), PLACES, 0.7, program=lambda g, x, at, c: g(x, at, mode="grid-constant", cval=c), name="cval, grid"), of(nd.map_coordinates, real(5, 6), PLACES, prefilter=False), of(nd.map_coordinates, cplx(5, 6), PLACES), of(nd.map_coordinates, real(7), np.array([[0.3, 2.2, 5.1]])), of(nd.map_coordinates, real(3, 4, 5), 1.0 + real(3, 4)), of(nd.map_coordinates, real(5, 6, dtype="f4"), PLACES, order=1, smooth=1), of(nd.map_coordinates, real(5, 6), np.reshape(PLACES[:, :4], (2, 2, 2))),
]
MATRIX = np.array([[0.9, 0.2], [-0.3, 1.1]])
for mode in ("reflect", "grid-constant", "wrap"):
    SAMPLES += [of(nd.affine_transform, real(5, 6), MATRIX, np.array([0.37, -0.23]), mode=mode), of(nd.affine_transform, real(5, 6), np.array([0.83, 1.17]), np.array([0.37, -0.23]), mode=mode), of(nd.shift, real(5, 6), np.array([0.37, -1.23]), mode=mode), of(nd.zoom, real(4, 5), zoom=1.4, mode=mode)]
SAMPLES += [
    of(nd.affine_transform, real(5, 6), np.concatenate([MATRIX, [[0.31], [0.43]]], axis=1)), of(nd.affine_transform, real(5, 6), MATRIX, np.array([0.37, 0.43]), output_shape=(3, 4), order=1, smooth=1), of(nd.affine_transform, real(5, 6), MATRIX, 0.31, order=5), of(nd.shift, real(7), 0.4, order=1, smooth=1), of(nd.shift, real(7), 0.4, 0.3, program=lambda g, x, s, c: g(x, s, cval=c, order=2), name="cval", smooth=1), of(nd.shift, real(2, 3, 4), real(3)), of(nd.shift, cplx(5), 0.3),
    of(nd.zoom, real(5), zoom=0.6), of(nd.zoom, real(4, 4), zoom=(2, 0.5), grid_mode=True, mode="grid-constant"), of(nd.zoom, real(4, 5), zoom=1), of(nd.zoom, real(5), zoom=1.8, order=1),
    of(nd.rotate, real(5, 6), 13.0, program=lambda g, x, a: g(x, a, reshape=False), name="angle"), of(nd.rotate, real(5, 6), angle=30.0), of(nd.rotate, real(3, 4, 2), 13.0, program=lambda g, x, a: g(x, a, reshape=False, mode="nearest"), name="planes"),
    of(nd.geometric_transform, real(4, 5), 0.27, program=lambda g, x, s: g(x, lambda at: (at[0] * 0.9 + s, at[1] - s)), name="mapping"), of(nd.geometric_transform, real(5), 0.3, program=lambda g, x, s: g(x, lambda at, more: (at[0] - s * more,), output_shape=(3,), extra_arguments=(2.0,)), name="arguments"),
]

# Measurements.
SAMPLES += [
    *[of(f, real(3, 4), program=lambda g, x: g(x, LABELS, [1, 2, 3]), name="labels") for f in (nd.sum_labels, nd.sum, nd.mean, nd.variance, nd.standard_deviation, nd.minimum, nd.maximum, nd.median)],
    *[of(f, real(3, 4)) for f in (nd.sum_labels, nd.mean, nd.variance, nd.standard_deviation, nd.minimum, nd.maximum, nd.median)],
    of(nd.center_of_mass, 1.5 + real(3, 4)), of(nd.center_of_mass, 1.5 + real(3, 4), program=lambda g, x: g(x, LABELS, [1, 3]), name="labels"), of(nd.extrema, real(3, 4), program=lambda g, x: g(x, LABELS, [1, 3]), name="labels"),
    of(nd.labeled_comprehension, real(3, 4), program=lambda g, x: g(x, LABELS, [1, 2], lambda part: np.sum(part**2), float, 0.0), name="function"),
    of(nd.distance_transform_edt, np.array([0.7, 1.3]), program=lambda g, s: g(1 - np.eye(4), sampling=s), name="sampling"),
]

# Choices: as constants, beside what moves.
SAMPLES += [
    of(nd.label, real(3, 4), program=lambda g, x: x * g(BINARY)[0], name="constant"), of(nd.distance_transform_edt, real(3, 4), program=lambda g, x: x * g(BINARY), name="constant"),
    *[of(f, real(4, 5), program=lambda g, x: g(x > 0.1), name="threshold") for f in (nd.binary_erosion, nd.binary_dilation, nd.binary_opening, nd.binary_closing, nd.binary_fill_holes, nd.binary_hit_or_miss, nd.binary_propagation)], of(nd.label, real(4, 5), program=lambda g, x: g(x > 0.1)[0], name="threshold"),
    of(nd.distance_transform_bf, real(4, 5), program=lambda g, x: g(x > 0.1, "chessboard"), name="threshold"), of(nd.distance_transform_bf, real(4, 5), program=lambda g, x: g(x > 0.1, "taxicab", return_indices=True), name="threshold, places"), of(nd.distance_transform_bf, np.array([1.1, 0.8]), program=lambda g, s: g(BINARY, sampling=s), name="sampling"), of(nd.value_indices, real(3, 4), program=lambda g, x: [x[where] for where in g(LABELS).values()], name="constant"),
    of(nd.distance_transform_cdt, real(4, 5), program=lambda g, x: g(x > 0.1), name="threshold"), of(nd.watershed_ift, real(3, 4), program=lambda g, x: g(np.round(9 + 9 * x).astype(np.uint8), LABELS), name="markers"), of(nd.histogram, real(3, 4), program=lambda g, x: g(x, -1, 1, 4), name="bins"),
    of(nd.minimum_position, real(3, 4)), of(nd.maximum_position, real(3, 4)), of(nd.find_objects, real(3, 4), program=lambda g, x: [x[where] for where in g(LABELS)], name="constant"),
]

# SciPy's Python asks how wide a filter is, and which label is the last: examples may differ.
ASKING = (
    "gaussian_gradient_magnitude()", "gaussian_laplace()", "gaussian_filter(mode",
    "gaussian_filter(order", "gaussian_filter(radius", "gaussian_filter1d(order", "extrema",
    "minimum(labels)", "maximum(labels)", "median(labels)",
)


def asks(sample):
    return sample.name.startswith(ASKING)


BY_EXAMPLE = [sample for sample in SAMPLES if asks(sample)]
SAMPLES = [sample for sample in SAMPLES if not asks(sample)]

ERRORS = [
    ErrorSample(traced(nd.gaussian_filter, lambda g, s: g(np.arange(6), s)), (0.7,), raises=ArgumentError, match="image.astype"),
    ErrorSample(traced(nd.gaussian_filter, lambda g, x: g(x, 1.0, output=OUTPUT)), (real(5),), raises=ArgumentError, match="output="),
]

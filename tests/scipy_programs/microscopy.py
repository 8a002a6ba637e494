"""Pictures and volumes from a microscope: aligned, filtered, measured."""

from functools import cached_property, partial

import numpy as np
from scipy import ndimage as nd

y, x = np.mgrid[0:14, 0:12]
CELLS = (
    np.exp(-((y - 3.6) ** 2 + (x - 3.2) ** 2) / 5)
    + 0.8 * np.exp(-((y - 9.7) ** 2 + (x - 7.9) ** 2) / 7)
    + 0.01 * np.cos(7.0 * y + 3.0 * x**2)
)
VOLUME = np.cos(0.7 * np.arange(5.0))[:, None, None] * CELLS[None, :7, :6] + 0.1
OPTIONS = {"mode": ("reflect", "constant"), "cval": 0.2}


def blurred_by_axes(image, sigma):
    return (
        nd.gaussian_filter(image, sigma, order=(1, 0), truncate=3.0, **OPTIONS),
        nd.gaussian_filter(image, 1.2, axes=(1,), radius=2, mode="mirror"),
        nd.gaussian_filter1d(image, sigma[0], axis=0, order=3, mode="wrap"),
        nd.gaussian_laplace(image, sigma, mode="nearest"),
        nd.gaussian_gradient_magnitude(image + 0.3 * y, 1.1),
    )


class Sampler:
    """An image whose spline coefficients are made once."""

    def __init__(self, image, order, mode):
        self.image, self.order, self.mode = image, order, mode

    @cached_property
    def coefficients(self):
        return nd.spline_filter(self.image, self.order, mode=self.mode, output=np.float64)

    def __call__(self, at, **options):
        return nd.map_coordinates(
            self.coefficients, at, order=self.order, mode=self.mode, prefilter=False, **options
        )


PLACES = np.array([[1.3, 6.1, 12.7, -2.4], [2.2, 10.4, 0.1, 13.3]])


def by_sampler(image, at):
    quintic = Sampler(image, 5, "grid-wrap")
    quartic = Sampler(image, 4, "mirror")
    return quintic(at), quintic(at + 0.25), quartic(at), nd.spline_filter1d(image, 2, axis=0)


BORDER = 0.3


def homogeneous(image, p):
    c, s = np.cos(p[0]), np.sin(p[0])
    M = np.array([[c, -s, p[1]], [s, c, p[2]], [0.0, 0.0, 1.0]])
    return (
        nd.affine_transform(
            image, M, order=2, mode="grid-constant", cval=BORDER, output_shape=(9, 8)
        ),
        nd.affine_transform(image, p[1:] + 1.1, offset=(0.3, p[0]), order=3, mode="constant"),
        nd.affine_transform(image, np.array([[c, -s], [s, c]]), p[1:], order=1, mode="nearest"),
    )


def scaled(volume, angle):
    return (
        nd.zoom(volume, (1, 1.5, 0.6), order=3, mode="grid-mirror", grid_mode=True),
        nd.zoom(volume[0], 1.7, order=2, mode="nearest", prefilter=False),
        nd.rotate(volume, angle, axes=(2, 0), reshape=False, order=1, mode="constant", cval=1.0),
        nd.rotate(volume[0], angle, order=3, mode="reflect", reshape=True),
        nd.shift(volume, (0.3, -0.7, angle / 50), order=4, mode="grid-constant", cval=0.5),
    )


def barrel(at, centre, k=0.0):
    r2 = (at[0] - centre[0]) ** 2 + (at[1] - centre[1]) ** 2
    return tuple(c + (a - c) * (1 + k * r2) for a, c in zip(at, centre, strict=True))


def undistorted(image, centre, k):
    found = nd.geometric_transform(
        image, barrel, order=3, mode="mirror", extra_arguments=(centre,), extra_keywords={"k": k}
    )
    return found, np.sum(found * image)


CROSS = nd.generate_binary_structure(2, 2)
LEVEL = 0.25


def measured(image):
    """What is known of each cell."""
    labels, n = nd.label(image > LEVEL, structure=CROSS)
    index = np.arange(1, n + 1)
    low, high, _, at = nd.extrema(image, labels, index)
    boxes = [image[box].sum() for box in nd.find_objects(labels)]
    centres = nd.center_of_mass(image, labels, index)
    weighted = nd.labeled_comprehension(image, labels, index, lambda v: (v**2).sum(), float, 0.0)
    first = nd.value_indices(labels, ignore_value=0)[1]
    return (
        nd.sum_labels(image, labels, index),
        nd.mean(image, labels, index) * nd.variance(image, labels, index),
        nd.standard_deviation(image, labels, 2),
        nd.median(image, labels, index),
        low * high,
        np.array(boxes),
        np.array(centres),
        weighted,
        image[first] ** 2,
        image[nd.maximum_position(image, labels, 1)] * at[0][0],
    )


def to_the_nearest(image, spacing):
    """Distances in physical units, by the pixels that they lead to."""
    mask = image < 0.5
    near = nd.distance_transform_edt(mask, return_distances=False, return_indices=True)
    inside = nd.distance_transform_cdt(~mask, "chessboard")
    gaps = (near - np.indices(mask.shape)) * spacing[:, None, None]
    exact = nd.distance_transform_edt(mask, sampling=spacing)
    return np.sum(gaps**2, axis=0), exact, np.sum(image * inside)


def shaped(image):
    ball = np.array([[0.1, 0.2, 0.1], [0.2, 0.35, 0.2], [0.1, 0.2, 0.1]])
    return (
        nd.grey_closing(image, structure=ball),
        nd.grey_dilation(image, footprint=CROSS, structure=ball, mode="constant", cval=0.2),
        nd.morphological_laplace(image, size=(3, 3), mode="mirror"),
        nd.black_tophat(image, footprint=CROSS),
        nd.percentile_filter(image, 30, size=3, axes=(0,), mode="wrap"),
        nd.rank_filter(image, -2, footprint=CROSS, origin=(0, 1)),
        nd.minimum_filter(image, (3, 1), axes=(0, 1)),
        nd.maximum_filter1d(image, 4, axis=1, origin=-1),
    )


def spread(values, weights, power=2):
    return np.sum(weights * np.abs(values - np.sum(weights * values)) ** power)


def second(image, axis, output, mode, cval, step=1.0):
    return nd.correlate1d(image, [step, -2 * step, step], axis, output, mode, cval)


def slope(image, axis, output, mode, cval, step):
    return nd.correlate1d(image, [-step, 0.1, step], axis, output, mode, cval)


KERNEL = np.array([0.1, 0.2, 0.4, 0.2, 0.1])


def with_own_functions(image, step):
    return (
        nd.generic_filter(
            image, spread, size=(1, 5), extra_arguments=(KERNEL,), extra_keywords={"power": 2}
        ),
        nd.generic_laplace(image, second, mode="reflect", extra_keywords={"step": step}),
        nd.generic_gradient_magnitude(
            image + 0.2 * x[:6, :7], partial(slope, step=step), mode="wrap"
        ),
    )


def off_centre(image, kernel):
    return (
        nd.correlate(image, kernel, origin=(1, -1), mode="constant", cval=0.4),
        nd.convolve(image, kernel, mode="grid-wrap", origin=-1),
        nd.convolve1d(image, kernel[0], axis=0, origin=1, mode="grid-mirror"),
        nd.uniform_filter1d(image, 4, axis=1, origin=-1, mode="nearest"),
        nd.uniform_filter(image, (2, 3), mode=["wrap", "mirror"]),
        nd.prewitt(image, axis=0) * nd.sobel(image, axis=1, mode="wrap"),
    )


def in_frequencies(image, by):
    half = np.fft.rfft(image)
    moved = np.fft.irfft(nd.fourier_shift(half, (by, -0.4), n=12), 12)
    full = np.fft.fft2(image)
    return (
        moved,
        np.fft.ifft2(nd.fourier_ellipsoid(full, 2.3)).real,
        np.fft.ifft2(nd.fourier_uniform(full, (by + 2, 1.5))).real,
        np.fft.ifft2(nd.fourier_gaussian(full, by)).real,
    )


def particles(image, sigma):
    """Spots by a band of scales, and where they are below a pixel."""
    band = nd.gaussian_filter(image, sigma) - nd.gaussian_filter(image, 2 * sigma)
    spots = np.argwhere((band == nd.maximum_filter(band, 3)) & (band > 0.05))
    found = []
    for i, j in spots:
        patch = band[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
        found.append((*np.array(nd.center_of_mass(patch - patch.min())), i, j))
    return np.stack(found), np.array([band[i, j] for i, j in spots])


def of_fields(image, phase):
    """A complex wave: its phase turns from pixel to pixel."""
    wave = image * np.exp(1j * phase * x)
    moved = nd.shift(wave, (0.4, -1.2), order=3, mode="constant", cval=0.1 + 0.2j)
    return (
        np.abs(nd.gaussian_filter(wave, 1.0)) ** 2,
        moved.real,
        moved.imag,
        nd.convolve(wave, np.array([[1.0, 1j], [0.5, -1j]])).imag,
        nd.map_coordinates(wave, PLACES, order=1, mode="grid-wrap").real,
        nd.zoom(wave, 0.5, order=1).imag,
    )


def slices(volume):
    """Empty, single and short slices beside whole ones."""
    total = []
    for part in (volume[:, :, :1], volume[:1], volume[:, 2:3, :3], volume):
        total += [
            nd.gaussian_filter(part, 0.8),
            nd.uniform_filter1d(part, 3, axis=0),
            nd.zoom(part, 1, order=1),
            nd.laplace(part, axes=(0, 2)),
        ]
    assert nd.gaussian_filter(volume[:, :0], 1.0).size == 0
    return [np.sum(v**2) for v in total] + [nd.map_coordinates(volume, np.zeros((3, 0))).sum()]


PROGRAMS = []
SELDOM = [
    (blurred_by_axes, (CELLS, np.array([1.1, 0.9]))),
    (by_sampler, (CELLS, PLACES)),
    (homogeneous, (CELLS, np.array([0.2, 0.7, -0.6]))),
    (scaled, (VOLUME, 17.0)),
    (undistorted, (CELLS[:8, :7], np.array([3.4, 3.1]), 0.01)),
    (measured, (CELLS,)),
    (to_the_nearest, (CELLS, np.array([0.7, 1.3]))),
    (shaped, (CELLS,)),
    (with_own_functions, (CELLS[:6, :7], 0.8)),
    (off_centre, (CELLS, np.array([[0.1, 0.3, -0.2], [0.4, 1.0, 0.2], [0.0, 0.2, 0.1]]))),
    (in_frequencies, (CELLS, 0.7)),
    (particles, (CELLS, 1.1)),
    (of_fields, (CELLS, 0.3)),
    (slices, (VOLUME,)),
]

"""Images: registration, denoising, morphology, measurements of objects."""

import numpy as np
import scipy.ndimage as ndi
from scipy import fft, ndimage, optimize
from scipy.ndimage import gaussian_filter, map_coordinates

GRID = np.mgrid[0:12, 0:14].astype(float)
BLOB = np.exp(-((GRID[0] - 5.3) ** 2 + (GRID[1] - 6.1) ** 2) / 9.0)
PICTURE = BLOB + 0.2 * np.sin(0.9 * GRID[0]) * np.cos(0.7 * GRID[1])


def registration(shift):
    """How well a picture fits a shifted one."""
    moved = map_coordinates(PICTURE, GRID + shift[:, None, None], order=3, mode="reflect")
    wanted = ndimage.shift(PICTURE, (0.7, -0.4), mode="reflect")
    return np.mean((moved - wanted) ** 2)


def turned(angle):
    return np.sum(ndimage.rotate(PICTURE, angle, reshape=False, order=3)[3:9, 3:9] ** 2)


def warped(matrix, offset):
    out = ndi.affine_transform(PICTURE, matrix, offset, order=3, mode="nearest")
    return np.sum(out * BLOB)


def blurred(image, sigma):
    return np.sum((gaussian_filter(image, sigma) - BLOB) ** 2)


def total_variation(image, weight):
    """The energy of a picture without noise (Rudin, Osher and Fatemi), with a rounded corner."""
    dx, dy = np.diff(image, axis=0)[:, :-1], np.diff(image, axis=1)[:-1]
    rough = np.sum(np.sqrt(dx**2 + dy**2 + 1e-3))
    return 0.5 * np.sum((image - PICTURE) ** 2) + weight * rough


def restored(weight):
    """A picture that minimises an energy with curvature, as a function of its weight."""

    def gradient(flat):
        curved = ndimage.laplace(flat.reshape(4, 4), mode="mirror")
        return flat - PICTURE[:4, :4].ravel() + weight * ndimage.laplace(curved).ravel()

    return optimize.root(gradient, np.zeros(16)).x


def edges(image):
    gx, gy = ndimage.sobel(image, axis=0), ndimage.sobel(image, axis=1)
    return np.mean(np.hypot(gx, gy) + ndimage.gaussian_laplace(image, 1.0) ** 2)


def cleaned(image):
    opened = ndimage.grey_opening(image, size=(3, 3))
    return np.sum(ndimage.median_filter(opened, size=3) * BLOB)


def objects(image):
    """Areas are choices, the light in them is not."""
    labels, n = ndimage.label(PICTURE > 0.35)
    index = np.arange(1, n + 1)
    light = ndimage.sum_labels(image, labels, index)
    centres = ndimage.center_of_mass(image, labels, index)
    return np.sum(light**2), np.array(centres)


def far_from_the_edge(pixel):
    """The depth of an object whose pixels have a size."""
    return np.max(ndimage.distance_transform_edt(BLOB > 0.2, sampling=pixel))


def deblurred(image):
    """The misfit of a picture that was blurred in Fourier space."""
    seen = fft.irfft2(ndimage.fourier_gaussian(fft.rfft2(image), 1.2, n=14), s=(12, 14))
    return np.sum((seen - gaussian_filter(PICTURE, 1.2, mode="wrap")) ** 2)


def compressed_picture(image):
    c = fft.dctn(image, norm="ortho")
    mask = np.add.outer(np.arange(12), np.arange(14)) < 8
    return np.sum((fft.idctn(c * mask, norm="ortho") - image) ** 2)


def profile(ends):
    """The light along a line between two points."""
    t = np.linspace(0.0, 1.0, 9)
    at = ends[0][:, None] * (1 - t) + ends[1][:, None] * t
    return ndimage.map_coordinates(PICTURE, at, order=5, mode="nearest")


def stencil(weights):
    return np.sum(ndimage.convolve(PICTURE, weights, mode="wrap") ** 2)


PROGRAMS = [
    (registration, (np.array([0.31, -0.22]),)),
    (turned, (13.0,)),
    (warped, (np.array([[0.95, 0.1], [-0.08, 1.03]]), np.array([0.3, 0.2]))),
    (blurred, (PICTURE, 0.9)),
    (total_variation, (PICTURE * 0.9, 0.1)),
    (restored, (0.2,)),
    (edges, (PICTURE,)),
    (cleaned, (40.0 * PICTURE,)),
    (objects, (PICTURE + 1.0,)),
    (far_from_the_edge, (np.array([0.7, 1.1]),)),
    (deblurred, (PICTURE,)),
    (compressed_picture, (PICTURE,)),
    (profile, (np.array([[2.1, 3.2], [8.3, 10.4]]),)),
    (stencil, (np.array([[0.1, 0.2, 0.1], [0.3, -0.4, 0.2], [0.0, 0.1, 0.5]]),)),
]

"""Fields and images: motion, tomography, optics, waves, small networks."""

from functools import partial

import numpy as np
from scipy import ndimage as ndi
from scipy.fft import dst, fft, fft2, fftfreq, fftshift, fht, fhtoffset, idst, ifft, ifft2
from scipy.ndimage import (
    affine_transform,
    gaussian_filter,
    map_coordinates,
    rotate,
    sobel,
    zoom,
)
from scipy.signal import fftconvolve

Y, X = np.mgrid[0:14, 0:15].astype(float)
SCENE = (
    np.exp(-((Y - 6.2) ** 2 + (X - 5.1) ** 2) / 8)
    + 0.6 * np.exp(-((Y - 9) ** 2 + (X - 10.3) ** 2) / 5)
    + 0.02 * np.sin(X * Y * 0.3)
)
NEXT = ndi.shift(SCENE, (0.4, -0.3), mode="nearest")


def lucas_kanade(second, sigma):
    Iy, Ix = sobel(SCENE, 0) / 8, sobel(SCENE, 1) / 8
    It = second - SCENE
    smooth = partial(gaussian_filter, sigma=sigma, mode="nearest")
    A, B, C = smooth(Ix * Ix), smooth(Ix * Iy), smooth(Iy * Iy)
    bx, by = smooth(Ix * It), smooth(Iy * It)
    det = A * C - B * B + 1e-6
    u, v = -(C * bx - B * by) / det, -(A * by - B * bx) / det
    return u[5:8, 4:7].mean(), v[5:8, 4:7].mean()


def richardson_lucy(psf, iterations=4):
    psf = psf / psf.sum()
    observed = fftconvolve(SCENE + 0.1, psf, mode="same")
    estimate = np.full_like(SCENE, 0.5)
    mirror = psf[::-1, ::-1]
    for _ in range(iterations):
        ratio = observed / fftconvolve(estimate, psf, mode="same")
        estimate *= fftconvolve(ratio, mirror, mode="same")
    return np.mean((estimate - SCENE) ** 2)


def radon(image, angles):
    padded = np.pad(image, 3)
    return np.stack([rotate(padded, a, reshape=False, order=1).sum(axis=0) for a in angles])


def back_projection(image):
    angles = np.arange(0.0, 180.0, 45.0) + 7
    sinogram = radon(image, angles)
    ramp = np.abs(fftfreq(sinogram.shape[1]))
    filtered = np.real(ifft(fft(sinogram, axis=1) * ramp, axis=1))
    smear = [
        rotate(np.tile(row, (20, 1)), -a, reshape=False, order=1)[:, :20]
        for row, a in zip(filtered, angles, strict=False)
    ]
    return np.sum(np.mean(smear, axis=0) ** 2)


def log_polar(center):
    theta = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rho = np.geomspace(0.8, 5.5, 10)
    coords = np.array(
        [center[0] + np.outer(rho, np.sin(theta)), center[1] + np.outer(rho, np.cos(theta))]
    )
    polar = map_coordinates(SCENE, coords, order=3, mode="reflect")
    spectrum = np.abs(fft(polar, axis=1)) ** 2
    return spectrum[:, 1].sum() / spectrum[:, 0].sum()


def soft_histogram(a, b, bins=6, width=0.15):
    c = np.linspace(0, 1, bins)
    wa = np.exp(-(((a.ravel()[:, None] - c) / width) ** 2))
    wb = np.exp(-(((b.ravel()[:, None] - c) / width) ** 2))
    joint = wa.T @ wb
    return joint / joint.sum()


def mutual_information(theta):
    angle, scale, dy, dx = theta
    m = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    c = np.array([6.5, 7.0])
    moved = affine_transform(NEXT, m, c - m @ c + np.array([dy, dx]), order=3, mode="nearest")
    p = soft_histogram(SCENE, moved)
    outer = p.sum(1, keepdims=True) * p.sum(0, keepdims=True)
    return np.sum(p * np.log((p + 1e-12) / (outer + 1e-12)))


def elastic(coarse, strength):
    fine = np.stack([zoom(c, (14 / 4, 15 / 4), order=3, mode="nearest") for c in coarse])
    return np.sum(
        map_coordinates(SCENE, np.stack([Y, X]) + strength * fine, order=2, mode="wrap") * SCENE
    )


def level_set(phi):
    inside = phi < 0
    distance = ndi.distance_transform_edt(~inside) - ndi.distance_transform_edt(inside)
    H = 0.5 * (1 + 2 / np.pi * np.arctan(phi))
    c1, c2 = np.sum(SCENE * (1 - H)) / np.sum(1 - H), np.sum(SCENE * H) / np.sum(H)
    return np.mean((SCENE - c1) ** 2 * (1 - H) + (SCENE - c2) ** 2 * H) + 0.01 * np.mean(
        (phi - distance) ** 2
    )


def split_step(amplitude, width):
    x = np.linspace(-8, 8, 64, endpoint=False)
    k = 2 * np.pi * fftfreq(64, x[1] - x[0])
    psi = amplitude / np.cosh(x / width) + 0j
    half = np.exp(-0.25j * k**2 * 0.05)
    for _ in range(20):
        psi = ifft(half * fft(psi))
        psi = psi * np.exp(1j * np.abs(psi) ** 2 * 0.05)
        psi = ifft(half * fft(psi))
    return np.abs(psi[::8]) ** 2


def sine_poisson(f):
    n = f.shape[0]
    lam = 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1))
    hat = dst(dst(f, type=1, axis=0, norm="ortho"), type=1, axis=1, norm="ortho")
    u = idst(
        idst(hat / (lam[:, None] + lam), type=1, axis=0, norm="ortho"), type=1, axis=1, norm="ortho"
    )
    return u[1::3, 2::3]


def correlation_function(index, knee):
    r = np.logspace(-2, 2, 48)
    dln = np.log(r[1] / r[0])
    offset = fhtoffset(dln, mu=0.5)
    power = r**1.5 * (1 + (r / knee) ** 2) ** (-index)
    return fht(power, dln, mu=0.5, offset=offset)[::8]


def hologram(z, phase):
    """Propagation by the angular spectrum."""
    n, dx, wavelength = 16, 1.0, 0.6
    f = fftfreq(n, dx)
    kz = 2 * np.pi * np.sqrt(1 / wavelength**2 - f[:, None] ** 2 - f**2)
    field = np.zeros((n, n), complex)
    field[4:12, 4:12] = np.exp(1j * phase)
    out = ifft2(fft2(field) * np.exp(1j * kz * z))
    return np.abs(fftshift(out))[6:10, 7] ** 2


rng = np.random.default_rng(5)


PROGRAMS = [
    (lucas_kanade, (NEXT, 1.4)),
    (richardson_lucy, (np.array([[0.1, 0.5, 0.1], [0.4, 1.0, 0.3], [0.1, 0.3, 0.2]]),)),
    (back_projection, (SCENE,)),
    (log_polar, (np.array([6.3, 5.6]),)),
    (mutual_information, (np.array([0.05, 1.02, 0.2, -0.1]),)),
    (elastic, (rng.normal(size=(2, 4, 4)), 0.3)),
    (level_set, (np.hypot(Y - 6.1, X - 6.3) - 4.2,)),
    (split_step, (1.3, 1.1)),
    (sine_poisson, (SCENE[:9, :8][:8],)),
    (correlation_function, (1.6, 1.2)),
    (hologram, (7.3, 0.2 * rng.normal(size=(8, 8)))),
]

"""Signals: filters, spectra, wavelets."""

import numpy as np
from numpy.fft import irfft, rfft


def moving_average(x, taps):
    return np.convolve(x, taps / taps.sum(), mode="same")


def low_pass(x):
    spectrum = rfft(x)
    spectrum[3:] = 0
    return irfft(spectrum, n=len(x))


def recursive_filter(x, a, b):
    y = np.zeros(len(x))
    for n in range(len(x)):
        y[n] = b * x[n]
        if n >= 1:
            y[n] += a * y[n - 1]
        if n >= 2:
            y[n] -= 0.3 * a**2 * y[n - 2]
    return y


def spectral_centroid(x):
    power = np.abs(np.fft.rfft(x * np.hanning(len(x)))) ** 2
    frequencies = np.fft.rfftfreq(len(x), d=0.1)
    return np.average(frequencies, weights=power)


def autocorrelation(x):
    x = x - np.mean(x)
    full = np.correlate(x, x, mode="full")
    r = full[full.size // 2 :]
    return r / r[0]


def envelope(x):
    """The magnitude of the analytic signal."""
    n = len(x)
    h = np.zeros(n)
    h[0] = h[n // 2] = 1
    h[1 : n // 2] = 2
    analytic = np.fft.ifft(np.fft.fft(x) * h)
    return np.abs(analytic)


def haar(x):
    if len(x) == 1:
        return x
    low = (x[0::2] + x[1::2]) / np.sqrt(2)
    high = (x[0::2] - x[1::2]) / np.sqrt(2)
    return np.concatenate([haar(low), high])


def time_stretch(x, factor):
    old = np.arange(len(x))
    new = np.arange(0.25, len(x) - 1, 0.6)
    return np.interp(new * factor, old, x)


def goertzel(x, omega):
    """One bin of the spectrum with two numbers of state."""
    s1 = s2 = 0.0
    c = 2 * np.cos(omega)
    for sample in x:
        s1, s2 = sample + c * s1 - s2, s1
    return s1 * s1 + s2 * s2 - c * s1 * s2


def cosine_transform(x, gain):
    n = len(x)
    k = np.arange(n).reshape(-1, 1)
    basis = np.cos(np.pi / n * (np.arange(n) + 0.5) * k)
    out = basis.dot(x)
    out[0] *= np.sqrt(0.5)
    out[1:4] *= gain
    return out * np.sqrt(2 / n)


X = np.array([0.3, -1.2, 0.8, 1.9, -0.4, 0.15, 2.2, -0.7])

PROGRAMS = [
    (moving_average, (X, np.array([0.2, 0.5, 0.4]))),
    (low_pass, (X,)),
    (recursive_filter, (X, 0.6, 1.1)),
    (spectral_centroid, (X,)),
    (autocorrelation, (X,)),
    (envelope, (X,)),
    (haar, (X,)),
    (time_stretch, (X, 0.93)),
    (goertzel, (X, 0.9)),
    (cosine_transform, (X, 0.5)),
]

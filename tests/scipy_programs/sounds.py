"""Signals: equalisers, designs, spectra, systems, echoes, peaks."""

import numpy as np
import scipy.signal
import scipy.signal as sig
from scipy import fft, signal
from scipy.fft import dct, idct, irfft, next_fast_len, rfft
from scipy.signal import butter, fftconvolve, filtfilt, hilbert, lfilter, lsim, sosfilt, welch

T = np.arange(64) / 64.0
TONE = np.sin(2 * np.pi * 5 * T) + 0.4 * np.cos(2 * np.pi * 11 * T + 0.3) + 0.1 * T
ECHO = np.array([1.0, 0.0, 0.4, 0.0, -0.2])


def peaking(frequency, gain, q):
    """A section that raises or lowers a band (the formulas of R. Bristow-Johnson)."""
    a = 10 ** (gain / 40)
    w = 2 * np.pi * frequency
    alpha = np.sin(w) / (2 * q)
    b = np.array([1 + alpha * a, -2 * np.cos(w), 1 - alpha * a])
    den = np.array([1 + alpha / a, -2 * np.cos(w), 1 - alpha / a])
    return np.concatenate([b / den[0], den / den[0]])


def equaliser(gains):
    """How far an equalised sound is from a wanted one."""
    sos = np.array([peaking(f, g, 1.2) for f, g in zip((0.08, 0.17, 0.3), gains, strict=True)])
    wanted = np.roll(TONE, 1) * 0.8
    return np.mean((sosfilt(sos, TONE) - wanted) ** 2)


def fit_of_a_recursive_filter(b, a):
    """The error of a system identified by its output."""
    measured = signal.lfilter([0.5, 0.2], [1.0, -0.4, 0.1], TONE)
    out = lfilter(b, np.concatenate([np.ones(1), a]), TONE)
    return np.sum((out - measured) ** 2)


def response_of_a_design(edge):
    """The loss of a low-pass filter against a wanted response."""
    b, a = butter(3, edge)
    _, h = signal.freqz(b, a, worN=16)
    wanted = np.where(np.arange(16) < 5, 1.0, 0.0)
    return np.sum((np.abs(h) - wanted) ** 2)


class Crossover:
    """Two bands that are weighed and added."""

    def __init__(self, edge):
        self.low = sig.butter(2, edge, output="sos")
        self.high = sig.butter(2, edge, "highpass", output="sos")

    def __call__(self, x, w):
        return w[0] * sig.sosfilt(self.low, x) + w[1] * sig.sosfilt(self.high, x)


def crossover(edge, weights):
    return np.sum(Crossover(edge)(TONE, weights)[8:] ** 2)


def smoothing_without_delay(x):
    b, a = signal.butter(2, 0.3)
    y = filtfilt(b, a, x)
    return np.sum((x - y) ** 2) + 0.1 * np.sum(np.diff(y) ** 2)


def deconvolution(x, weight):
    """Tikhonov's problem: a signal that gives the observed echo."""
    observed = np.convolve(TONE, ECHO)
    return np.sum((fftconvolve(x, ECHO) - observed) ** 2) + weight * np.sum(np.diff(x) ** 2)


def wiener_deconvolution(noise):
    n = next_fast_len(len(TONE) + len(ECHO) - 1)
    h = rfft(ECHO, n)
    y = rfft(np.convolve(TONE, ECHO), n)
    x = irfft(np.conj(h) * y / (np.abs(h) ** 2 + noise), n)[: len(TONE)]
    return np.sum((x - TONE) ** 2)


def spectrogram_matching(x):
    """The distance between logarithms of short-time spectra."""
    _, _, Z = signal.stft(x, nperseg=16)
    _, _, W = signal.stft(TONE, nperseg=16)
    return np.mean((np.log1p(np.abs(Z) ** 2) - np.log1p(np.abs(W) ** 2)) ** 2)


def round_trip(x, threshold):
    """Spectral gating: small terms of the short-time spectrum are made smaller."""
    _, _, Z = sig.stft(x, nperseg=16)
    power = np.abs(Z) ** 2
    _, y = sig.istft(Z * power / (power + threshold**2), nperseg=16)
    return y[: len(x)]


def noise_floor(x):
    f, p = welch(x, fs=64.0, nperseg=16)
    return np.trapezoid(p, f), np.sum(f * p) / np.sum(p)


def coherence_loss(x):
    _, c = signal.coherence(x + 0.2 * np.cos(3.3 * np.arange(64)), TONE, nperseg=16)
    return np.mean(c)


def instantaneous_frequency(x):
    phase = np.unwrap(np.angle(hilbert(x)))
    return np.mean(np.diff(phase)[8:-8]) * 64 / (2 * np.pi)


def compressed(x, level):
    """A cosine transform with soft thresholds."""
    c = dct(x, norm="ortho")
    kept = c * c**2 / (c**2 + level**2)
    return np.sum((idct(kept, norm="ortho") - x) ** 2)


def phase_retrieval(x):
    """The error of magnitudes of a Fourier transform."""
    wanted = np.abs(fft.fft(np.concatenate([TONE[:16], np.zeros(16)])))
    have = np.abs(fft.fft(x, 32))
    return np.sum((have**2 - wanted**2) ** 2) / 1e3


def vibration(mass, damping, stiffness):
    """The displacement of an oscillator that is pushed."""
    A = np.array([[0.0, 1.0], [-stiffness / mass, -damping / mass]])
    B = np.array([[0.0], [1.0 / mass]])
    force = np.where(T < 0.3, 1.0, 0.0)
    _, y, _ = lsim((A, B, np.array([[1.0, 0.0]]), np.zeros((1, 1))), force, T)
    return y[::9]


def step_response(frequency, damping):
    system = signal.lti([frequency**2], [1.0, 2 * damping * frequency, frequency**2])
    _, y = scipy.signal.step(system, T=np.linspace(0, 2, 9))
    return y


def discretised(rate):
    A, B, C, *_ = signal.cont2discrete(
        (np.array([[-rate, 1.0], [0.0, -2.0]]), np.array([[0.0], [1.0]]), np.eye(2)[:1], 0.0), 0.1
    )
    x, total = np.zeros((2, 1)), 0.0
    for u in TONE[:10]:
        x = A @ x + B * u
        total = total + (C @ x)[0, 0] ** 2
    return total


def resampled(x):
    y = signal.resample_poly(x, 3, 2)
    return np.sum(y * np.cos(np.arange(len(y)))) + np.sum(signal.resample(x, 48) ** 3)


def smooth_slope(x):
    return np.max(signal.savgol_filter(x, 9, 3, deriv=1, delta=1 / 64.0))


def heights_of_peaks(x):
    peaks, _ = signal.find_peaks(x, height=0.2)
    prominence = signal.peak_prominences(x, peaks)[0]
    width = signal.peak_widths(x, peaks, rel_height=0.5)[0]
    return np.sum(x[peaks] ** 2), np.mean(prominence), np.mean(width)


def windowed(beta, x):
    w = signal.windows.kaiser(len(x), beta)
    p = np.abs(rfft(w * x)) ** 2
    return p[5] / np.sum(p)


def matched_chirp(f0, f1):
    sent = signal.chirp(T, 3.0, 1.0, 14.0)
    return np.max(signal.correlate(sent, signal.chirp(T, f0, 1.0, f1), mode="same"))


PROGRAMS = [
    (equaliser, (np.array([3.0, -2.0, 1.0]),)),
    (fit_of_a_recursive_filter, (np.array([0.4, 0.3]), np.array([-0.3, 0.2]))),
    (response_of_a_design, (0.37,)),
    (crossover, (0.3, np.array([1.1, 0.7]))),
    (smoothing_without_delay, (TONE,)),
    (deconvolution, (0.5 * TONE, 0.3)),
    (wiener_deconvolution, (0.05,)),
    (spectrogram_matching, (TONE + 0.2 * np.cos(9 * T),)),
    (round_trip, (TONE, 0.2)),
    (noise_floor, (TONE,)),
    (coherence_loss, (TONE,)),
    (instantaneous_frequency, (TONE,)),
    (compressed, (TONE, 0.3)),
    (phase_retrieval, (TONE[:16] + 0.1,)),
    (vibration, (1.2, 0.4, 30.0)),
    (step_response, (6.0, 0.3)),
    (discretised, (1.3,)),
    (resampled, (TONE,)),
    (smooth_slope, (TONE,)),
    (heights_of_peaks, (TONE,)),
    (windowed, (5.0, TONE)),
    (matched_chirp, (3.2, 13.0)),
]

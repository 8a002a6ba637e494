"""Audio: filters in chains, features, beams, loops of control."""

from dataclasses import dataclass, field

import numpy as np
import scipy.signal as ss
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import dct, rfft, rfftfreq
from scipy.linalg import solve_toeplitz
from scipy.signal import (
    TransferFunction,
    butter,
    csd,
    freqz,
    group_delay,
    lfilter,
    lfilter_zi,
    sosfilt,
    sosfilt_zi,
    upfirdn,
    zoom_fft,
)
from scipy.signal.windows import tukey

FS = 100.0
t = np.arange(160) / FS
CLIP = (
    np.sin(2 * np.pi * 7.3 * t) * np.exp(-t)
    + 0.3 * np.sin(2 * np.pi * 19.1 * t + 0.4)
    + 0.05 * np.cos(61 * t**2)
)


@dataclass
class Biquad:
    b: np.ndarray
    a: np.ndarray

    def __call__(self, x):
        return lfilter(self.b, self.a, x)

    @classmethod
    def low_shelf(cls, f0, gain_db, q, fs=FS):
        A = 10 ** (gain_db / 40)
        w0 = 2 * np.pi * f0 / fs
        alpha = np.sin(w0) / (2 * q)
        c = np.cos(w0)
        b = np.array(
            [
                A * ((A + 1) - (A - 1) * c + 2 * np.sqrt(A) * alpha),
                2 * A * ((A - 1) - (A + 1) * c),
                A * ((A + 1) - (A - 1) * c - 2 * np.sqrt(A) * alpha),
            ]
        )
        a = np.array(
            [
                (A + 1) + (A - 1) * c + 2 * np.sqrt(A) * alpha,
                -2 * ((A - 1) + (A + 1) * c),
                (A + 1) + (A - 1) * c - 2 * np.sqrt(A) * alpha,
            ]
        )
        return cls(b / a[0], a / a[0])

    def response(self, n=33):
        w, h = freqz(self.b, self.a, worN=n)
        return w, 20 * np.log10(np.maximum(np.abs(h), 1e-9))


@dataclass
class Chain:
    stages: list = field(default_factory=list)

    def add(self, stage):
        self.stages.append(stage)
        return self

    def __call__(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


def shelf_loss(params):
    f0, gain, q = params
    chain = Chain().add(Biquad.low_shelf(f0, gain, q)).add(Biquad.low_shelf(2 * f0, -gain / 2, q))
    return np.sqrt(np.mean(chain(CLIP) ** 2)), np.sum(chain.stages[0].response()[1] ** 2)


class EnvelopeFollower:
    """One-pole smoothing of the rectified signal, started at its steady state."""

    def __init__(self, cutoff, fs=FS):
        self.b, self.a = butter(1, cutoff, fs=fs)

    def follow(self, x):
        rectified = np.abs(x)
        zi = lfilter_zi(self.b, self.a)
        y, _ = lfilter(self.b, self.a, rectified, zi=zi * rectified[0])
        return y


def tremolo_depth(cutoff):
    env = EnvelopeFollower(cutoff).follow(CLIP)
    return (env.max() - env.min()) / (env.max() + env.min())


def mel(f):
    return 2595 * np.log10(1 + f / 700)


def filterbank(n_filters, n_fft, fs):
    points = np.linspace(mel(0), mel(fs / 2), n_filters + 2)
    hz = 700 * (10 ** (points / 2595) - 1)
    freqs = rfftfreq(n_fft, 1 / fs)
    bank = np.zeros((n_filters, len(freqs)))
    for i in range(n_filters):
        lo, mid, hi = hz[i : i + 3]
        bank[i] = np.clip(np.minimum((freqs - lo) / (mid - lo), (hi - freqs) / (hi - mid)), 0, None)
    return bank


def mfcc(x, n_coeff=5):
    frames = sliding_window_view(np.append(x[0], x[1:] - 0.97 * x[:-1]), 64)[::32]
    power = np.abs(rfft(frames * np.hamming(64), axis=-1)) ** 2 / 64
    energy = power @ filterbank(10, 64, FS).T
    return dct(np.log(energy + 1e-6), type=2, axis=-1, norm="ortho")[:, 1:n_coeff]


def pitch_zoom(x):
    spectrum = np.abs(zoom_fft(x * tukey(len(x), 0.3), [5, 10], m=40, fs=FS))
    k = np.argmax(spectrum)
    l, c, r = np.log(spectrum[k - 1 : k + 2])
    return 5 + (k + 0.5 * (l - r) / (l - 2 * c + r)) * 5 / 40


def schroeder(gains, x):
    out = np.zeros_like(x)
    for gain, delay in zip(gains[:3], (7, 11, 13), strict=False):
        a = np.zeros(delay + 1)
        a[0], a[-1] = 1, -gain
        out += lfilter([1.0], a, x) / 3
    for delay in (5, 3):
        b = np.zeros(delay + 1)
        b[0], b[-1] = -gains[3], 1
        out = lfilter(b, b[::-1], out)
    return np.mean(out[60:] ** 2)


def lpc(x, order=4):
    x = x * np.hanning(len(x))
    r = np.correlate(x, x, mode="full")[len(x) - 1 :][: order + 1]
    coefficients = solve_toeplitz(r[:-1], r[1:])
    error = lfilter(np.r_[1, -coefficients], 1.0, x)
    return coefficients, np.log(np.mean(error**2))


class KWeighting:
    STAGES = (("high", 2.0, 1), ("low", 30.0, 2))

    def __init__(self, fs):
        self.sections = np.vstack(
            [butter(n, f, kind, fs=fs, output="sos") for kind, f, n in self.STAGES]
        )

    def loudness(self, x, block=40, hop=10):
        zi = sosfilt_zi(self.sections)
        y, _ = sosfilt(self.sections, x, zi=zi * x[0])
        powers = np.mean(sliding_window_view(y, block)[::hop] ** 2, axis=1)
        gated = powers[powers > 0.1 * powers.mean()]
        return -0.691 + 10 * np.log10(np.mean(gated))


def loudness(x):
    return KWeighting(FS).loudness(x)


def two_band(h, x):
    """A quadrature mirror filter bank: analysis, a gain in the upper band, synthesis."""
    alternate = (-1.0) ** np.arange(len(h))
    low, high = upfirdn(h, x, down=2), upfirdn(h * alternate, x, down=2)
    y = upfirdn(2 * h, low, up=2) - 0.5 * upfirdn(2 * h * alternate, high, up=2)
    n = len(h) - 1
    return np.mean((y[n : n + 100] - x[:100]) ** 2)


def mvdr(steer):
    """Power of a beamformer whose weights come from cross spectra of three microphones."""
    mics = np.stack([np.roll(CLIP, k) + 0.1 * np.cos((3 + k) * t) for k in range(3)])
    _, R = csd(mics[:, None], mics[None], fs=FS, nperseg=32)
    R = R[:, :, 3] + 1e-4 * np.eye(3)
    d = np.exp(-1j * steer * np.arange(3))
    w = np.linalg.solve(R, d)
    return np.real(1 / (d.conj() @ w))


def flat_delay(coefficients):
    b = np.concatenate(([0.2], coefficients))
    _, gd = group_delay((b, [1.0, -0.3]), w=np.linspace(0.1, 2.5, 9))
    return np.var(gd)


class PID:
    def __init__(self, kp, ki, kd, tau=0.05):
        self.num = np.array([kp * tau + kd, kp + ki * tau, ki])
        self.den = np.array([tau, 1.0, 0.0])

    def close(self, plant):
        num = np.polymul(self.num, plant.num)
        den = np.polyadd(np.polymul(self.den, plant.den), num)
        return TransferFunction(num, den)


def tuned(gains):
    plant = TransferFunction([2.0], [1.0, 1.2, 2.0])
    time, y = PID(*gains).close(plant).step(T=np.linspace(0, 4, 41))
    return np.trapezoid((1 - y) ** 2, time) + 0.01 * np.sum(np.diff(y) ** 2)


def sampled_servo(k, dt):
    plant = ss.StateSpace([[0.0, 1.0], [0.0, -k]], [[0.0], [k]], [[1.0, 0.0]], [[0.0]])
    d = plant.to_discrete(dt)
    _, y, x = ss.dlsim(d, np.sin(np.arange(20) * 0.4))
    return y[-1, 0], np.sum(x**2)


PROGRAMS = [
    (shelf_loss, (np.array([12.0, 4.0, 0.8]),)),
    (tremolo_depth, (3.0,)),
    (mfcc, (CLIP,)),
    (pitch_zoom, (CLIP,)),
    (schroeder, (np.array([0.7, 0.6, 0.5, 0.45]), CLIP)),
    (lpc, (CLIP,)),
    (loudness, (CLIP,)),
    (two_band, (np.array([-0.05, 0.1, 0.45, 0.45, 0.1, -0.05]), CLIP)),
    (mvdr, (0.6,)),
    (flat_delay, (np.array([0.5, 0.1, -0.2]),)),
    (tuned, (np.array([1.5, 0.8, 0.4]),)),
    (sampled_servo, (2.0, 0.1)),
]

"""Signals as they arrive: in blocks, with gaps, short, of many channels."""

from dataclasses import dataclass, field

import numpy as np
import scipy.fft as sfft
import scipy.signal as sg
from scipy.signal import ShortTimeFFT, StateSpace, cont2discrete, dlti, lfilter, lfiltic, windows

t = np.arange(72) / 72
TONES = np.stack(
    [
        np.sin(2 * np.pi * 5 * t) + 0.2 * np.cos(41 * t**2),
        np.exp(-3 * t) * np.cos(2 * np.pi * 9 * t + 0.3) + 0.1 * t,
    ]
)
MASK = 1.0 / (1.0 + np.arange(33.0) / 6)
SETTINGS = {"order": 3, "gain": 1.5, "edges": [5, 6, 30]}


class Stream:
    """A filter that keeps its state from block to block."""

    def __init__(self, sos, channels):
        self.sos = sos
        self.zi = np.zeros((sos.shape[0], channels, 2))
        self.seen = 0

    def start_from(self, first):
        self.zi = sg.sosfilt_zi(self.sos)[:, None, :] * first[None, :, None]
        return self

    def push(self, block):
        out, self.zi = sg.sosfilt(self.sos, block, axis=-1, zi=self.zi)
        self.seen += block.shape[-1]
        return out


def streamed(x, cutoff):
    sos = sg.butter(SETTINGS["order"], cutoff, output="sos")
    stream = Stream(sos, len(x)).start_from(x[:, 0])
    blocks = [stream.push(block) for block in np.array_split(x, SETTINGS["edges"], axis=1)]
    return SETTINGS["gain"] * np.concatenate(blocks, axis=1) / stream.seen


def continued(a, past, x):
    """An autoregression that goes on from what was measured."""
    den = np.r_[1.0, a]
    zi = lfiltic([1.0, 0.3], den, past[::-1], x[:1])
    y, zf = lfilter([1.0, 0.3], den, x, zi=zi)
    return y, zf, lfilter([1.0], den, np.zeros((0, 3)), axis=0).sum()


PAD = {"padtype": "even", "padlen": 7}


def both_ways_padded(x, w):
    b, a = sg.cheby1(2, 0.7, w, "highpass")
    sos = sg.cheby2(3, 30, w, output="sos")
    return (
        sg.filtfilt(b, a, x.T, axis=0, **PAD),
        sg.filtfilt(b, a, x[:, ::2], padtype=None),
        sg.sosfiltfilt(sos, x, padtype="constant", padlen=4),
        sg.filtfilt(b, a, x[0], method="gust", irlen=20),
    )


def derivatives_at_the_edges(x):
    modes = [("nearest", 0.0), ("wrap", 0.0), ("constant", 0.5), ("mirror", 0.0), ("interp", 0.0)]
    return [
        sg.savgol_filter(x.T, 7, 3, deriv=d % 3, delta=0.1, axis=0, mode=mode, cval=cval)
        for d, (mode, cval) in enumerate(modes)
    ]


class Enhancer:
    """Gains on a time-frequency plane, from analysis to synthesis."""

    def __init__(self, width, hop, **options):
        self.plane = ShortTimeFFT(windows.hann(width, sym=False), hop, fs=72, **options)

    def clean(self, x, floor):
        S = self.plane.stft(x)
        power = np.abs(S) ** 2
        gain = power / (power + floor)
        return self.plane.istft(gain * S, k1=x.shape[-1])


def enhanced(x, floor):
    plane = Enhancer(16, 4, mfft=20, scale_to="magnitude", phase_shift=None)
    return plane.clean(x, floor)


WIDTH = 0.4


def cross_spectrogram(x, beta):
    window = windows.kaiser(18, beta)
    two = ShortTimeFFT(window, 6, fs=2.0, fft_mode="onesided2X", mfft=24, scale_to="psd")
    cross = two.spectrogram(x[0], x[1], detr="linear", padding="even")
    around = ShortTimeFFT.from_window(
        ("gaussian", 18 * WIDTH), 2.0, 18, 9, fft_mode="centered", symmetric_win=True
    )
    S = around.stft_detrend(x[0] + 1j * x[1], "constant", padding="odd")
    return cross.real, cross.imag, np.abs(S) ** 2


def two_inputs(p, force):
    """Two masses, pushed and started away from rest; held inputs."""
    k, c = p
    A = np.array([[0, 1, 0, 0], [-2 * k, -c, k, 0], [0, 0, 0, 1], [k, 0, -2 * k, -c]])
    B = np.array([[0, 0], [1, 0], [0, 0], [0, 1.0]])
    system = StateSpace(A, B, np.eye(4)[::2], np.zeros((2, 2)))
    time = np.linspace(0, 2, 15)
    _, y, states = sg.lsim(system, force, time, X0=[0.1, 0, -0.2, 0.3], interp=False)
    return y, states[-1]


METHODS = [("foh", None), ("gbt", 0.3), ("bilinear", None), ("impulse", None)]


def sampled(p, dt=0.25):
    out = []
    for method, alpha in METHODS:
        num, den, step = cont2discrete(([p[0], 1.0], [1.0, p[1], p[2]]), dt, method, alpha)
        plant = dlti(num.ravel(), den, dt=step)
        _, y = plant.output(np.cos(np.arange(9.0)), None)
        _w, h = plant.freqresp(np.linspace(0.1, 2.0, 4))
        out += [y.ravel(), np.abs(h), plant.step(n=6)[1][0].ravel()]
    turn = np.array([[0.0, 1.0], [-p[2], -p[1]]])
    A, B, C, D, _ = cont2discrete((turn, np.array([[0.0], [1.0]]), np.eye(2), np.zeros((2, 1))), dt)
    _, mag, phase = sg.dbode((A, B, C[:1], D[:1], dt), w=[0.3, 0.9])
    _, u = sg.dimpulse((A, B, C, D, dt), n=5)
    return [*out, mag, phase, u[0]]


def peaks_and_their_widths(x):
    at, found = sg.find_peaks(x, prominence=0.1, width=1, plateau_size=(None, 3), rel_height=0.6)
    prominence, left, right = sg.peak_prominences(x, at, wlen=21)
    width, height, lo, hi = sg.peak_widths(x, at, rel_height=0.3)
    low = sg.argrelextrema(x, np.less, order=2, mode="wrap")[0]
    return (
        found["prominences"],
        found["widths"] * found["width_heights"],
        prominence * x[left] - x[right],
        width * height,
        hi - lo,
        x[low],
    )


def spectra_of_many(x):
    z = (x[0] + 1j * x[1])[:, None] * np.array([1.0, 0.5])
    _, cross = sg.csd(
        z,
        z[::-1],
        fs=2.0,
        nperseg=24,
        nfft=32,
        detrend="linear",
        scaling="spectrum",
        axis=0,
        return_onesided=False,
    )
    _, middle = sg.welch(x, nperseg=18, average="median", window=("tukey", 0.3), noverlap=12)
    _, alike = sg.coherence(x[0], x[1], window="flattop", nperseg=24, detrend=False)
    _, _, magnitude = sg.spectrogram(x, nperseg=16, mode="magnitude", axis=-1)
    _, once = sg.periodogram(x.T, window="blackman", nfft=80, axis=0, scaling="spectrum")
    return np.abs(cross) ** 2, middle, alike, magnitude, once


def uneven(times, y, weights):
    freqs = np.linspace(0.5, 9.0, 7)
    power = sg.lombscargle(times, y, freqs, weights=weights, floating_mean=True, normalize=True)
    wave = sg.lombscargle(times, y, freqs, normalize="amplitude", precenter=False)
    strength, phase = sg.vectorstrength(times, [0.7, 0.3])
    return power, wave.real, wave.imag, strength, np.cos(phase)


def band_by_zeros(f):
    """Prototype, transformed, sampled, in sections, and looked at from all sides."""
    z, p, k = sg.ellip(3, f[2], 40, 1.0, analog=True, output="zpk")
    z, p, k = sg.lp2bp_zpk(z, p, k, wo=np.sqrt(f[0] * f[1]), bw=f[1] - f[0])
    z, p, k = sg.bilinear_zpk(z, p, k, 8.0)
    sos = sg.zpk2sos(z, p, k, pairing="nearest")
    w = np.linspace(0.2, 2.8, 9)
    _, h = sg.freqz_sos(sos, w)
    _, g = sg.freqz_zpk(z, p, k, w, fs=2 * np.pi)
    b, a = sg.zpk2tf(z, p, k)
    return np.abs(h), np.abs(g) ** 2, a, b, sg.sos2tf(sos)[1]


@dataclass
class Bank:
    centre: float
    q: float
    parts: list = field(default_factory=list)

    def __post_init__(self):
        self.parts = [
            sg.iirpeak(self.centre, self.q, fs=2.0),
            sg.iirnotch(self.centre * 1.3, self.q),
            sg.gammatone(self.centre, "iir", fs=2.0),
        ]

    def __iter__(self):
        return iter(self.parts)


def auditory(f, q, x):
    out = []
    for b, a in Bank(f, q):
        _, h = sg.freqz(b, a, worN=[0.3, 0.9, 1.7], include_nyquist=True)
        out += [sg.lfilter(b, a, x), np.abs(h), sg.group_delay((b, a), w=[0.4, 1.1])[1]]
    b, a = sg.iircomb(0.25, q, ftype="notch", fs=2.0, pass_zero=True)
    return [*out, b, a]


def analogue(w, rp):
    parts = []
    for options in (
        {"btype": "bandstop", "ftype": "cheby1", "rp": rp},
        {"btype": "bandpass", "ftype": "butter"},
    ):
        b, a = sg.iirfilter(2, w, analog=True, **options)
        parts.append(np.abs(sg.freqs(b, a, worN=[0.5, 1.1, 2.0])[1]))
    z, p, k = sg.bessel(4, w[0], "low", analog=True, output="zpk", norm="mag")
    parts.append(np.abs(sg.freqs_zpk(z, p, k, worN=[0.4, 1.0])[1]))
    parts.append(sg.normalize([rp, 1.0], [2.0, w[0], w[1]])[1])
    return parts


def taps(edge, weight, std):
    a = sg.firwin(15, [edge, 0.7], window=("gaussian", std), pass_zero=False, scale=False)
    b = sg.firwin2(16, [0, edge, edge + 0.2, 1], [1, 1, 0, 0], nfreqs=33, window=None)
    c = sg.firls(13, [0, edge, edge + 0.2, 1], [1, 1, 0, 0], weight=weight)
    return a, b, c, sg.minimum_phase(a + 0.3, method="homomorphic", n_fft=64, half=False)


def fractions_of_a_filter(b, a):
    r, p, k = sg.residuez(b, np.r_[1.0, a])
    back, _ = sg.invresz(r, p, k)
    quotient, rest = sg.deconvolve(np.convolve(b, b) + 0.1, np.r_[1.0, a])
    return np.abs(r) ** 2, back.real, quotient, rest, k.sum()


PROTOTYPE = dlti([0.2, 0.3, 0.2], [1.0, -0.4, 0.1], dt=1.0)


def rates(x, h):
    return (
        sg.resample_poly(x, 3, 4, axis=1, window=h, padtype="line"),
        sg.resample_poly(x[0], 2, 3, window=("kaiser", 4.0), padtype="maximum"),
        sg.decimate(x.T, 3, ftype=PROTOTYPE, axis=0, zero_phase=False),
        sg.resample(x[:, ::3], 17, axis=-1, window="hamming"),
        sg.upfirdn(h, x.T, up=2, down=3, axis=0, mode="antisymmetric"),
        sg.upfirdn(h, x[0, :9], 3, 1, mode="constant", cval=0.7),
    )


def delay_below_a_sample(x, shift):
    """By the peak of a correlation and the parabola above it."""
    f = sfft.rfftfreq(72)
    moved = sfft.irfft(sfft.rfft(x) * np.exp(-2j * np.pi * f * shift), 72)
    c = sg.correlate(moved, x, mode="same", method="direct")
    lags = sg.correlation_lags(72, 72, mode="same")
    i = int(np.argmax(c))
    y0, y1, y2 = c[i - 1 : i + 2]
    return lags[i] + 0.5 * (y0 - y2) / (y0 - 2 * y1 + y2), sg.oaconvolve(x, c[30:42], "valid")


def ranked_and_splined(x):
    image = np.outer(x[:9], x[9:18])
    return (
        sg.medfilt(x, 5),
        sg.medfilt2d(image, (3, 5)),
        sg.order_filter(image, np.ones((3, 3)), 2),
        sg.wiener(image, (3, 3), noise=0.05),
        sg.symiirorder1(x, 0.5, 0.3),
        sg.cspline1d_eval(sg.cspline1d(x, 0.2), np.array([0.3, 2.7, 70.1, -0.4]), dx=1.0, x0=0.0),
        sg.qspline1d_eval(sg.qspline1d(x), np.array([0.3, 5.2])),
        sg.gauss_spline(x[:4], 3),
    )


def tapered_spectrum(x, sll, nw):
    """Slepian tapers with their ratios as weights, beside other windows."""
    tapers, ratios = windows.dpss(72, nw, Kmax=4, return_ratios=True)
    power = np.abs(sfft.rfft(tapers * x, axis=-1)) ** 2
    return (
        ratios @ power / ratios.sum(),
        windows.taylor(12, nbar=3, sll=sll, norm=False),
        windows.chebwin(11, sll + 20),
        windows.kaiser_bessel_derived(12, nw),
        windows.general_gaussian(9, nw, 2.0),
        windows.exponential(9, 2.0, nw, False),
        sg.get_window(("general_hamming", 0.6), 8) * nw,
    )


def many_axes(x, y):
    a = sfft.fftn(x, s=(4, 5), axes=(0, 2), norm="ortho", workers=2)
    b = sfft.irfftn(a[..., :3], s=(5, 4), axes=(0, 2), norm="forward")
    c = sfft.dctn(y, type=1, axes=[0], norm="forward")
    d = sfft.dstn(y, type=3, s=(4, 6), norm="ortho", orthogonalize=False)
    e = sfft.hfft2(a[:, 0], norm="backward")
    f = sfft.idct(y, type=4, n=7, axis=0, norm="ortho", overwrite_x=True)
    g = sfft.ifftshift(sfft.fftshift(x, axes=1), axes=(0, 1))
    return np.abs(a), b, c, d, e, f, g, sfft.ihfft(y[0], n=5).imag


def envelopes(x):
    z = sg.hilbert(x.T, N=80, axis=0)
    upper, rest = sg.envelope(x[0], (2, 12), n_out=48, residual="all")
    squared, low = sg.envelope(x, (1, None), squared=True, residual="lowpass", axis=-1)
    plane = sg.hilbert2(np.outer(x[0, :8], x[1, :6]))
    bent = sg.detrend(x.T, axis=0, type="linear", bp=[20, 45])
    return np.abs(z), upper, rest, squared, low, np.abs(plane) ** 2, bent


def swept(p):
    time = np.linspace(-1, 1, 25)
    pulse, quad, env = sg.gausspulse(time, p[0], p[1], retquad=True, retenv=True)
    return (
        pulse * quad,
        env,
        sg.chirp(time + 1, p[0], 2.0, 2 * p[0], method="hyperbolic", phi=30),
        sg.chirp(time + 1, p[0], 2.0, 3.0, "quadratic", vertex_zero=False),
        sg.sweep_poly(time, np.poly1d([p[1], 0.2, p[0]]), phi=10),
    )


ZOOM = sg.ZoomFFT(72, [0.05, 0.2], m=11, fs=1.0, endpoint=True)
SPIRAL = sg.CZT(72, m=9, w=0.9995 * np.exp(-0.12j), a=1.01 * np.exp(0.3j))


def zoomed_by_objects(x, damping):
    z = sg.czt(x[0], m=6, w=damping * np.exp(-0.2j), a=np.exp(0.1j))
    return np.abs(ZOOM(x)) ** 2, SPIRAL(x, axis=-1).real, SPIRAL(x.T, axis=0).imag, np.abs(z)


class Loop:
    """State feedback with a gain that puts the poles where they are wanted."""

    def __init__(self, A, B):
        self.A, self.B = A, B

    def gain(self, poles):
        return sg.place_poles(self.A, self.B, poles).gain_matrix

    def settle(self, poles, start):
        closed = sg.lti(self.A - self.B @ self.gain(poles), self.B, np.eye(2), np.zeros((2, 1)))
        time = np.linspace(0, 3, 13)
        _, y, _ = closed.output(np.zeros(13), time, X0=start)
        return y


LOOP = Loop(np.array([[0.0, 1.0], [2.0, -0.4]]), np.array([[0.0], [1.0]]))


def placed(poles, start):
    system = sg.ZerosPolesGain([-3.0], poles, 2.0)
    _, step = system.impulse(T=np.linspace(0, 2, 7))
    _w, mag, phase = system.bode([0.3, 1.0, 4.0])
    return LOOP.settle(poles, start), step, mag, phase, system.to_ss().A


FORCE = np.cos(np.arange(30.0)).reshape(15, 2)
PROGRAMS = []
SELDOM = [
    (streamed, (TONES, 0.3)),
    (continued, (np.array([-0.5, 0.2]), np.array([0.3, -0.1]), TONES[0, :20])),
    (both_ways_padded, (TONES, 0.35)),
    (derivatives_at_the_edges, (TONES[:, :30],)),
    (enhanced, (TONES, 0.05)),
    (cross_spectrogram, (TONES, 4.0)),
    (two_inputs, (np.array([2.0, 0.3]), FORCE)),
    (sampled, (np.array([0.7, 0.9, 2.0]),)),
    (peaks_and_their_widths, (TONES[0] + 0.02 * np.cos(np.arange(72.0) ** 2),)),
    (spectra_of_many, (TONES,)),
    (
        uneven,
        (
            np.sort(t + 0.004 * np.cos(np.arange(72.0) ** 2))[::3],
            TONES[0, ::3],
            1 + 0.3 * np.cos(np.arange(24.0)),
        ),
    ),
    (band_by_zeros, (np.array([1.2, 2.5, 0.8]),)),
    (auditory, (0.3, 6.0, TONES[0, :30])),
    (analogue, (np.array([0.8, 1.6]), 0.7)),
    (taps, (0.35, np.array([1.0, 2.0]), 3.0)),
    (fractions_of_a_filter, (np.array([1.0, 0.4, -0.2]), np.array([-0.9, 0.18, 0.1]))),
    (rates, (TONES, np.array([0.1, 0.3, 0.5, 0.3, 0.1]))),
    (delay_below_a_sample, (TONES[1], 2.3)),
    (ranked_and_splined, (TONES[1] + 0.01 * np.cos(np.arange(72.0) ** 2),)),
    (tapered_spectrum, (TONES[0], 32.0, 2.5)),
    (many_axes, (TONES.ravel()[:60].reshape(3, 4, 5), TONES[1, :30].reshape(5, 6))),
    (envelopes, (TONES,)),
    (swept, (np.array([3.0, 0.6]),)),
    (zoomed_by_objects, (TONES, 0.999)),
    (placed, (np.array([-1.0, -2.5]), np.array([0.5, -0.2]))),
]

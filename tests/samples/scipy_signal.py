# fmt: off
"""scipy.signal: filters, convolutions, resampling, spectra, filter design, systems, windows."""

import numpy as np
from scipy import signal as ss

import pullback.scipy.signal  # noqa: F401  # enters the rules
from pullback.core.errors import MissingRuleError
from pullback.scipy.releases import SINCE_1_18
from pullback.testing import ErrorSample, Sample
from tests.samples import traced

random = np.random.default_rng(41)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape, dtype=complex):
    return (real(*shape) + 1j * real(*shape)).astype(dtype)


def of(f, *xs, program=None, smooth=True, name="", **options):
    """A sample of a function with options, or of a program over it."""
    shown = ", ".join([name] if name else [f"{key}={x}" for key, x in options.items()])
    kinds = ", ".join(f"{np.asarray(x).dtype}{list(np.shape(x))}" for x in xs)
    run = program or (lambda g, *xs: g(*xs, **options))
    return Sample(traced(f, run), xs, smooth=smooth, name=f"{f.__name__}({shown})({kinds})")


def with_ones(sections):
    """Sections of second order with the coefficient that is 1."""
    one = np.ones_like(sections[:, :1])
    return np.ascontiguousarray(np.concatenate([sections[:, :3], one, sections[:, 3:]], axis=1))


def wave(n, rate=0.7):
    """A signal without equal numbers."""
    t = np.arange(n)
    return np.sin(rate * t) + 0.3 * np.cos(2.1 * t + 0.4) + 0.01 * t


PEAKS = ss.find_peaks(wave(20))[0]
B, A = np.array([0.3, 0.2, -0.1]), np.array([1.2, -0.5, 0.2])
SOS = np.array([[0.4, 0.1, 0.2, 1.0, -0.4, 0.1], [0.9, -0.3, 0.1, 1.0, 0.2, -0.2]])
SAMPLES = []

# Filters with feedback.
for make in (real, cplx):
    SAMPLES += [
        of(ss.lfilter, B, A, make(7)),
        of(ss.lfilter, B[:1], A, make(2, 6)),
        of(ss.lfilter, B, A[:1], make(6)),
        of(ss.lfilter, B, A[:2], make(5, 2), axis=0),
        of(ss.lfilter, B, A, make(5), real(2), program=lambda g, b, a, x, zi: g(b, a, x, zi=zi), name="state"),
        of(ss.lfilter, B, A[:2], make(2, 5), real(1, 2), program=lambda g, b, a, x, zi: g(b, a, x, zi=zi), name="state of all"),
        of(ss.lfilter, B, A, make(1), real(2), program=lambda g, b, a, x, zi: g(b, a, x, zi=zi), name="longer state"),
        of(ss.sosfilt, SOS[:, [0, 1, 2, 4, 5]], make(6), program=lambda g, s, x: g(with_ones(s), x), name="coefficients"),
        of(ss.sosfilt, make(6), real(2, 2), program=lambda g, x, zi: g(SOS, x, zi=zi), name="state"),
        of(ss.sosfilt, make(6, 2), program=lambda g, x: g(SOS, x, axis=0), name="axis=0"),
    ]
SAMPLES += [
    of(ss.lfilter, B.astype("f4"), A.astype("f4"), real(6, dtype="f4")),
    of(ss.lfilter, cplx(3), A + 0.1j, real(6)),
    of(ss.lfiltic, B, A, real(2), real(2)),
    of(ss.lfilter_zi, B, A), of(ss.lfilter_zi, B, A / A[0]),
    of(ss.sosfilt_zi, SOS[:, [0, 1, 2, 4, 5]], program=lambda g, s: g(with_ones(s)), name="coefficients"),
    of(ss.filtfilt, B, A, wave(14)),
    of(ss.filtfilt, B, A, wave(14), program=lambda g, b, a, x: g(b, a, x, padtype="even", padlen=4), name="even"),
    of(ss.filtfilt, B, A, wave(14), program=lambda g, b, a, x: g(b, a, x, method="gust"), name="gust"),
    of(ss.sosfiltfilt, wave(18), program=lambda g, x: g(SOS, x), name="signal"),
    of(ss.deconvolve, real(7), np.array([1.0, 0.4, 0.2])),
    of(ss.decimate, wave(40), program=lambda g, x: g(x, 2), name="iir"),
    of(ss.decimate, wave(40), program=lambda g, x: g(x, 3, ftype="fir"), name="fir"),
    of(ss.decimate, wave(40), program=lambda g, x: g(x, 2, zero_phase=False), name="one way"),
    of(ss.symiirorder1, wave(12), program=lambda g, x: g(x, 0.4, 0.3, 1e-4), name="signal"),
    of(ss.symiirorder2, wave(24), program=lambda g, x: g(x, 0.4, 0.6, 1e-6), name="signal"),
    of(ss.symiirorder1, wave(24), np.array(0.7), np.array(0.3), program=lambda g, x, c, z: g(x, c, z, 1e-4), name="parameters"),
    of(ss.symiirorder2, wave(24), np.array(0.4), np.array(0.6), program=lambda g, x, r, w: g(x, r, w, 1e-6), name="parameters"),
    of(ss.cspline1d, real(6)), of(ss.qspline1d, real(6)), of(ss.cspline1d, real(8), lamb=1.5),
    of(ss.cspline2d, real(18, 17)), of(ss.qspline2d, real(18, 17)),
    of(ss.sepfir2d, real(5, 6), real(3), real(5)),
    of(ss.gauss_spline, np.array([0.3, 1.2]), n=3), of(ss.spline_filter, real(20, 19), lmbda=0.0),
    of(ss.cspline1d_eval, real(6), np.array([0.3, 2.7, 4.1, 6.2])), of(ss.qspline1d_eval, real(6), np.array([0.3, 2.7, 4.1, 6.2]), smooth=1),
]

# Convolutions.
for f in (ss.convolve, ss.correlate):
    SAMPLES += [
        *[of(f, make(5), make(3), mode=mode) for make in (real, cplx) for mode in ("full", "same", "valid")],
        *[of(f, real(4, 5), real(3, 2), mode=mode, method="direct") for mode in ("full", "same", "valid")], of(f, cplx(4, 5), cplx(3, 2), mode="same", method="direct"), of(f, cplx(4, 5), cplx(3, 2), mode="full", method="fft"),
        of(f, real(2, 3), real(3, 4), mode="full", method="direct"),
        of(f, real(2, 2), cplx(3, 3), mode="valid", method="direct"),
        of(f, real(2, 3, 4), real(2, 2, 2), mode="same"),
        of(f, real(3), real(5), mode="same"),
    ]
for f in (ss.fftconvolve, ss.oaconvolve):
    SAMPLES += [*[of(f, real(5), real(4), mode=mode) for mode in ("full", "same", "valid")], of(f, real(3, 9), real(1, 3), axes=1), of(f, cplx(6), real(3))]
for f in (ss.convolve2d, ss.correlate2d):
    SAMPLES += [of(f, make(4, 5), make(3, 2), mode=mode, boundary=boundary) for make, mode, boundary in ((real, "full", "fill"), (cplx, "same", "wrap"), (real, "same", "symm"), (real, "full", "wrap"), (real, "full", "symm"), (real, "valid", "fill"), (cplx, "same", "fill"))]
    SAMPLES += [of(f, real(3, 4), real(2, 3), 0.7, program=lambda g, x, y, fill: g(x, y, mode="same", fillvalue=fill), name="fill")]

# Rates, smoothing.
SAMPLES += [
    *[of(ss.upfirdn, real(4), real(6), up=up, down=down) for up, down in ((1, 1), (2, 1), (1, 3), (3, 2))],
    *[of(ss.upfirdn, real(4), real(5), up=2, down=3, mode=mode) for mode in ("wrap", "edge", "smooth", "symmetric", "reflect", "antisymmetric", "antireflect", "line")],
    of(ss.upfirdn, real(3), real(2, 5), up=2, mode="constant", cval=0.4), of(ss.upfirdn, cplx(3), real(5, 2), axis=0, down=2),
    of(ss.upfirdn, real(9), real(3), mode="symmetric"), of(ss.upfirdn, real(9), real(3), mode="antisymmetric"), of(ss.upfirdn, real(9), real(3), mode="antireflect"),
    of(ss.resample, real(8), num=5), of(ss.resample, cplx(5), num=8), of(ss.resample, real(3, 6), num=9, axis=1, window="hamming"), of(ss.resample, real(6), num=3),
    of(ss.resample_poly, real(8), up=3, down=2), *[of(ss.resample_poly, real(8), up=2, down=3, padtype=kind) for kind in ("line", "mean", "median", "maximum", "edge")],
    of(ss.savgol_filter, wave(12), window_length=5, polyorder=2), *[of(ss.savgol_filter, wave(12), window_length=5, polyorder=2, mode=mode) for mode in ("mirror", "nearest", "wrap", "constant")],
    *([of(ss.whittaker_henderson, wave(12), 2.0, np.linspace(1.0, 2.0, 12), program=lambda g, x, k, w: g(x, lamb=k, order=1, weights=w).x), of(ss.whittaker_henderson, wave(12), 2.0, program=lambda g, x, k: g(x, lamb=k).x, name="order 2")] if SINCE_1_18 else []),
    of(ss.savgol_filter, wave(12), 0.5, program=lambda g, x, h: g(x, 5, 3, deriv=1, delta=h), name="derivative"),
    of(ss.detrend, real(7)), of(ss.detrend, real(2, 8), type="constant"), of(ss.detrend, real(9), bp=[4]),
    of(ss.hilbert, real(6)), of(ss.hilbert, real(2, 5), N=8), of(ss.hilbert2, real(3, 4)), of(ss.envelope, wave(12), (1, 4)),
    of(ss.wiener, wave(12), mysize=3), of(ss.wiener, wave(12), mysize=3, noise=0.02),
    of(ss.medfilt, wave(11), kernel_size=3), of(ss.medfilt, real(4, 5), kernel_size=3), of(ss.medfilt2d, real(4, 5), kernel_size=[3, 5]),
    of(ss.order_filter, real(4, 5), program=lambda g, x: g(x, np.ones((3, 3)), 2), name="rank 2"),
    of(ss.vectorstrength, np.array([0.3, 1.4, 2.2, 3.9]), 1.1),
    of(ss.lombscargle, np.array([0.0, 0.7, 1.9, 3.1, 4.2]), wave(5), np.array([0.5, 1.3])),
    of(ss.savgol_coeffs, 0.7, program=lambda g, h: g(5, 2, deriv=1, delta=h), name="delta"),
]

# Spectra.
SPECTRA = {"nperseg": 8, "fs": 2.0}
SAMPLES += [
    *[of(ss.welch, wave(24), scaling=scaling, **SPECTRA) for scaling in ("density", "spectrum")],
    of(ss.welch, wave(24), average="median", detrend="linear", **SPECTRA), of(ss.welch, cplx(16), return_onesided=False, **SPECTRA),
    of(ss.csd, wave(24), wave(24, 1.1), **SPECTRA), of(ss.coherence, wave(24), wave(24, 1.1), **SPECTRA), of(ss.periodogram, wave(9)), of(ss.periodogram, wave(8), window="hann", scaling="spectrum"),
    *[of(ss.spectrogram, wave(24), mode=mode, **SPECTRA) for mode in ("psd", "complex")], of(ss.spectrogram, wave(24), mode="magnitude", **SPECTRA),
    of(ss.stft, wave(20), **SPECTRA), of(ss.stft, wave(20), boundary=None, padded=False, **SPECTRA), of(ss.istft, cplx(5, 6), **SPECTRA),
    of(ss.ShortTimeFFT, wave(20), np.hanning(8) + 0.1, program=lambda g, x, w: g(w * 1.0, 3, 1.0).stft(x), name="stft"),
    of(ss.ShortTimeFFT, wave(20), program=lambda g, x: g(np.hanning(8) + 0.1, 3, 1.0).spectrogram(x, detr="constant"), name="spectrogram"),
    of(ss.ShortTimeFFT, wave(20), program=lambda g, x: (lambda t: t.istft(t.stft(x) * 2.0, k1=20))(g(np.hanning(8) + 0.1, 3, 1.0)), name="istft"),
    of(ss.czt, real(5)), of(ss.czt, cplx(5), program=lambda g, x: g(x, 4, np.exp(-0.3j), 1.1), name="spiral"), of(ss.zoom_fft, real(6), program=lambda g, x: g(x, [0.2, 0.7], 4), name="band"),
]

# Responses of filters.
SAMPLES += [
    of(ss.freqz, B, A, worN=4), of(ss.freqz, B, A, np.array([0.3, 1.1]), program=lambda g, b, a, w: g(b, a, w)[1], name="frequencies"), of(ss.freqz, B, program=lambda g, b: g(b, worN=8)[1], name="fft"),
    of(ss.freqs, B, A, np.array([0.3, 1.1])), of(ss.freqz_zpk, cplx(2), 0.5 * cplx(2), 0.7, np.array([0.3, 1.1])), of(ss.freqs_zpk, cplx(2), cplx(2) - 2.0, 0.7, np.array([0.3, 1.1])),
    of(ss.freqz_sos, SOS[:, [0, 1, 2, 4, 5]], program=lambda g, s: g(with_ones(s), 4)[1], name="sections"), of(ss.group_delay, B, A, program=lambda g, b, a: g((b, a), 4)[1], name="filter"),
]

# Filter design, in its real parameters.
for f, more in ((ss.butter, ()), (ss.cheby1, (1.0,)), (ss.cheby2, (30.0,)), (ss.ellip, (1.0, 30.0)), (ss.bessel, ())):
    name = f.__name__
    SAMPLES += [
        of(f, 0.3, *more, program=lambda g, w, *more: g(3, *more, w), name="low"),
        of(f, np.array([0.2, 0.5]), program=lambda g, w, more=more: g(2, *more, w, "bandpass", output="sos"), name="bandpass, sos"),
        of(f, 2.3, program=lambda g, w, more=more: g(3, *more, w, "high", analog=True), name="high, analog"),
        of(f, np.array([0.2, 0.5]), program=lambda g, w, more=more: g(2, *more, w, "bandstop", output="zpk"), name="bandstop, zpk"),
    ]
SAMPLES += [
    of(ss.firwin, 0.3, program=lambda g, w: g(7, w), name="low"), of(ss.firwin, np.array([0.2, 0.6]), program=lambda g, w: g(7, w, pass_zero=False), name="band"), of(ss.firwin, 0.3, 6.0, program=lambda g, w, beta: g(7, w, window=("kaiser", beta)), name="kaiser"),
    of(ss.firwin2, np.array([1.0, 0.8, 0.1, 0.0]), program=lambda g, gain: g(9, [0.0, 0.3, 0.6, 1.0], gain), name="gain"), of(ss.firls, np.array([1.0, 0.9, 0.1, 0.05]), np.array([1.0, 2.0]), program=lambda g, d, w: g(7, [0.0, 0.3, 0.5, 1.0], d, weight=w), name="desired"),
    of(ss.firwin_2d, 0.3, program=lambda g, w: g((3, 5), ("hamming", "hamming"), fc=w), name="cutoff"),
    of(ss.bilinear, B, A, fs=2.0), of(ss.bilinear_zpk, cplx(1), cplx(2) - 2, 0.7, fs=2.0), of(ss.iirnotch, 0.3, 20.0), of(ss.iirpeak, 0.3, 20.0), of(ss.iircomb, 20.0, program=lambda g, q: g(0.25, q), name="Q"), of(ss.gammatone, 440.0, program=lambda g, w: g(w, "iir", fs=16000.0), name="iir"), of(ss.gammatone, 0.3, program=lambda g, w: g(w, "fir", numtaps=8), name="fir"),
    of(ss.lp2lp, B, A, 1.7), of(ss.lp2hp, B, A, 1.7), of(ss.lp2hp, B, A, 1.0), of(ss.lp2hp, B[:2], A, 1.0), of(ss.lp2hp, B, A[:2], np.array([1.0])), of(ss.lp2bp, B, A, 1.7, 0.4), of(ss.lp2bs, B, A, 1.7, 0.4),
    of(ss.lp2lp_zpk, cplx(1), cplx(2), 0.7, 1.7), of(ss.lp2hp_zpk, cplx(1), cplx(2), 0.7, 1.7), of(ss.lp2bp_zpk, cplx(1), cplx(2), 0.7, 1.7, 0.4), of(ss.lp2bs_zpk, cplx(1), cplx(2), 0.7, 1.7, 0.4),
    of(ss.tf2zpk, B, np.array([1.0, 0.3, -0.2])), of(ss.zpk2tf, real(2), real(3), 0.7), of(ss.tf2ss, B, A), of(ss.ss2tf, real(2, 2), real(2, 1), real(1, 2), real(1, 1)), of(ss.zpk2ss, real(1), real(2), 0.7), of(ss.ss2zpk, real(2, 2), real(2, 1), real(1, 2), real(1, 1)),
    of(ss.tf2sos, B, np.array([1.0, 0.3, -0.2])), of(ss.zpk2sos, np.array([0.3, -0.4]), np.array([0.5, 0.1]), 0.7), of(ss.sos2tf, SOS[:, [0, 1, 2, 4, 5]], program=lambda g, s: g(with_ones(s)), name="sections"), of(ss.sos2zpk, SOS[:, [0, 1, 2, 4, 5]], program=lambda g, s: g(with_ones(s)), name="sections"), of(ss.normalize, B, A),
    of(ss.residue, B, np.array([1.0, 3.0, 2.0, 0.0])), of(ss.residuez, B, np.array([1.0, 0.3, -0.2])), of(ss.invres, real(2), np.array([0.4, -0.5]), real(1)), of(ss.invresz, real(2), np.array([0.4, -0.5]), real(1)),
    of(ss.kaiser_beta, 35.0), of(ss.kaiser_atten, 0.2, program=lambda g, w: g(11, w), name="width"), of(ss.minimum_phase, np.array([0.1, 0.4]), program=lambda g, h: g(np.concatenate([h, [0.8], h[::-1]]), "homomorphic"), name="symmetric"), of(ss.buttap, 0.5, program=lambda g, x: x * np.real(g(3)[1]), name="poles"), of(ss.cheb1ap, 1.0, program=lambda g, rp: g(3, rp), name="ripple"), of(ss.cheb2ap, 30.0, program=lambda g, rs: g(3, rs), name="ripple"), of(ss.ellipap, 1.0, 30.0, program=lambda g, rp, rs: g(3, rp, rs)[:2], name="ripple"),
    of(ss.savgol_coeffs, 0.5, program=lambda g, h: g(5, 3, deriv=2, delta=h), name="second"),
]

# Systems.
SYSTEM = np.array([[-0.3, 0.4], [-0.6, -0.2]]), np.array([[0.2], [0.7]]), np.array([[1.0, 0.3]]), np.array([[0.1]])
TIMES = np.linspace(0, 3, 7)
SAMPLES += [
    of(ss.lsim, *SYSTEM, wave(7), program=lambda g, a, b, c, d, u: g((a, b, c, d), u, TIMES)[1:], name="system, input"), of(ss.lsim, *SYSTEM[:2], wave(7), real(2), program=lambda g, a, b, u, x0: g((a, b, *SYSTEM[2:]), u, TIMES, X0=x0, interp=False)[1], name="start"),
    of(ss.lsim, B, A, wave(7), program=lambda g, b, a, u: g((b, a), u, TIMES)[1], name="transfer function"),
    of(ss.step, *SYSTEM, program=lambda g, *s: g(s, T=TIMES)[1], name="system"), of(ss.impulse, *SYSTEM, program=lambda g, *s: g(s, T=TIMES)[1], name="system"), of(ss.step, B[1:], A, program=lambda g, b, a: g((b, a), T=TIMES)[1], name="transfer function"),
    *[of(ss.cont2discrete, *SYSTEM, 0.1, program=lambda g, a, b, c, d, dt, method=method: g((a, b, c, d * (method != "impulse")), dt, method)[:4], name=method) for method in ("zoh", "bilinear", "euler", "backward_diff", "foh", "impulse")],
    of(ss.cont2discrete, *SYSTEM, 0.4, program=lambda g, a, b, c, d, al: g((a, b, c, d), 0.1, "gbt", alpha=al)[:4], name="gbt"),
    of(ss.bode, B, A, program=lambda g, b, a: g((b, a), [0.3, 1.1])[1:], name="filter"), of(ss.freqresp, B, A, program=lambda g, b, a: g((b, a), [0.3, 1.1])[1], name="filter"), of(ss.dfreqresp, B, A, program=lambda g, b, a: g((b, a, 0.1), [0.3, 1.1])[1], name="filter"), of(ss.dbode, B, A, program=lambda g, b, a: g((b, a, 0.1), [0.3, 1.1])[1:], name="filter"),
    of(ss.dlsim, *SYSTEM, wave(7), program=lambda g, a, b, c, d, u: g((a, b, c, d, 0.5), u)[1:], name="system, input"), of(ss.dstep, *SYSTEM, program=lambda g, *s: g((*s, 0.5), n=4)[1], name="system"), of(ss.dimpulse, *SYSTEM, program=lambda g, *s: g((*s, 0.5), n=4)[1], name="system"),
    of(ss.lti, *SYSTEM, program=lambda g, *s: g(*s).output(wave(7), TIMES)[1], name="output"), of(ss.StateSpace, *SYSTEM, program=lambda g, *s: (g(*s) * g(*s)).A, name="series"), of(ss.TransferFunction, B, A, program=lambda g, b, a: g(b, a).step(T=TIMES)[1], name="step"), of(ss.ZerosPolesGain, real(1), real(2) - 2, 0.7, program=lambda g, *s: g(*s).impulse(T=TIMES)[1], name="impulse"), of(ss.dlti, B, A, program=lambda g, b, a: g(b, a, dt=0.1).output(wave(5), [0.0, 0.1, 0.2, 0.3, 0.4])[1], name="output"),
    of(ss.abcd_normalize, *SYSTEM, program=lambda g, *s: g(*s), name="matrices"),
]

SAMPLES += [
    of(ss.iirfilter, 0.3, program=lambda g, w: g(2, w, btype="low", ftype="butter"), name="low"), of(ss.iirdesign, 1.0, program=lambda g, s: g(0.2 * s, 0.4 * s, 1.0, 20.0), name="edges"), *[of(f, 1.0, program=lambda g, s: g(0.2 * s, 0.4 * s, 1.0, 20.0)[1], name="edges") for f in (ss.buttord, ss.cheb1ord, ss.cheb2ord, ss.ellipord)],
    of(ss.band_stop_obj, 0.2, program=lambda g, wp: g(wp, 0, np.array([0.2, 0.8]), np.array([0.35, 0.65]), 1.0, 20.0, "butter"), name="edge"), of(ss.czt_points, 1.1, program=lambda g, a: g(4, np.exp(-0.3j), a), name="a"), 
    of(ss.unique_roots, np.array([0.3, 0.30001, 1.2]), program=lambda g, p: g(p, rtype="avg")[0], name="mean"), of(ss.closest_STFT_dual_window, np.hanning(8) + 0.1, program=lambda g, w: g(w, 3)[0], name="window"), of(ss.sosfreqz, SOS[:, [0, 1, 2, 4, 5]], program=lambda g, s: g(with_ones(s), 4)[1], name="sections"), of(ss.kaiserord, 30.0, program=lambda g, ripple: g(ripple, 0.2)[1], name="ripple"), of(ss.check_NOLA, np.hanning(8) + 0.1, program=lambda g, w: g(w, 8, 3), name="window"), of(ss.findfreqs, B, A, program=lambda g, b, a: g(b, a, 4), name="range"),
]

# Windows and waveforms, in their parameters.
w = ss.windows
SAMPLES += [
    of(w.kaiser, 4.0, program=lambda g, b: g(7, b), name="beta"), of(w.gaussian, 1.7, program=lambda g, s: g(7, s), name="std"), of(w.general_gaussian, 1.3, 1.7, program=lambda g, p, s: g(7, p, s), name="power, sig"), of(w.tukey, 0.4, program=lambda g, a: g(9, a), name="alpha", smooth=1), of(w.general_hamming, 0.6, program=lambda g, a: g(7, a), name="alpha"), of(w.general_cosine, real(3), program=lambda g, a: g(7, a), name="weights"),
    of(w.exponential, 1.4, program=lambda g, t: g(7, tau=t), name="tau"), of(w.chebwin, 60.0, program=lambda g, at: g(8, at), name="attenuation"), of(w.chebwin, 60.0, program=lambda g, at: g(7, at), name="odd"), of(w.taylor, 35.0, program=lambda g, s: g(8, sll=s), name="sll"), of(w.kaiser_bessel_derived, 4.0, program=lambda g, b: g(8, b), name="beta"), of(w.dpss, 2.5, program=lambda g, nw: g(8, nw), name="NW"), of(ss.get_window, 4.0, program=lambda g, b: g(("kaiser", b), 8), name="kaiser"),
    *[of(ss.chirp, np.linspace(0.1, 1, 4), 1.2, 0.9, 3.1, program=lambda g, t, f0, t1, f1, method=method: g(t, f0, t1, f1, method), name=method) for method in ("linear", "quadratic", "logarithmic", "hyperbolic")],
    of(ss.chirp, np.linspace(0.1, 1, 4), 30.0, program=lambda g, t, phi: g(t, 1.0, 1.0, 2.0, phi=phi), name="phase"), of(ss.gausspulse, np.linspace(-0.1, 0.1, 4), 6.0, 0.4, program=lambda g, t, fc, bw: g(t, fc, bw, retquad=True, retenv=True), name="all"), of(ss.sawtooth, np.array([0.3, 2.0, 7.1]), 0.4), of(ss.square, np.array([0.3, 2.0, 7.1]), program=lambda g, t: t * g(t, 0.4), name="times"), of(ss.sweep_poly, np.linspace(0.1, 1, 4), real(3)),
]

# Peaks.
SAMPLES += [
    *[of(f, wave(20), program=lambda g, x: g(x)[0], name="places") for f in (ss.argrelmin, ss.argrelmax)], of(ss.argrelextrema, wave(20), program=lambda g, x: g(x, np.greater)[0], name="places"), of(ss.find_peaks_cwt, wave(20), program=lambda g, x: g(x, np.arange(1, 4)), name="places"),
    of(ss.peak_prominences, wave(20), program=lambda g, x: g(x, PEAKS)[0], name="prominences"), of(ss.peak_widths, wave(20), program=lambda g, x: g(x, PEAKS), name="widths"),
    of(ss.find_peaks, wave(20), program=lambda g, x: x[g(x)[0][:2]], name="heights") ,
]

# SciPy's Python asks about the numbers of these what differs between the examples of a batch.
ASKING = (
    "cspline1d_eval", "qspline1d_eval", "residue", "iirdesign", "cheb1ord", "cheb2ord", "ellipord",
    "closest_STFT_dual_window",
)


def asks(sample):
    return sample.name.startswith(ASKING)


BY_EXAMPLE = [sample for sample in SAMPLES if asks(sample)]
UNMAPPED = [sample for sample in SAMPLES if sample.name.startswith("unique_roots")]
SAMPLES = [sample for sample in SAMPLES if sample not in BY_EXAMPLE + UNMAPPED]

FOURTH = np.cos(np.arange(16.0)).reshape(4, 4)
# Which points are extremal depends on values; SciPy's grid of them gives differences no three digits.
BY_EXAMPLE += [
    of(ss.remez, np.array([1.0, 0.0]), program=lambda g, d: g(9, [0.0, 0.1, 0.2, 0.5], d), smooth=False, name="desired"),
    of(ss.savgol_coeffs, np.float64(1.3), program=lambda g, p: g(5, 2, pos=p), name="place"),
    of(ss.place_poles, SYSTEM[0], program=lambda g, a: g(a, np.eye(2)[:, 1:], [-1.0, -2.0]).gain_matrix, name="one input"),
    of(ss.place_poles, SYSTEM[0], np.array([[1.0, 0.2, 0.5], [-0.3, 1.1, 0.4]]), np.array([-2.0, -1.0]), program=lambda g, a, b, p: g(a, b, p).gain_matrix, name="as many inputs as states"),
    of(ss.place_poles, FOURTH, np.array([0.4, 1.5]), program=lambda g, a, p: g(a, np.eye(4) + 0.1, np.concatenate([[-0.5], -p[:1] + 1j * p[1:], -p[:1] - 1j * p[1:], [-3.0]])).gain_matrix, name="complex poles"),
]

ERRORS = [
    ErrorSample(traced(ss.place_poles, lambda g, a: g(a, np.eye(4)[:, 1:3] + 0.1, [-1.0, -2.0, -3.0, -4.0]).gain_matrix), (FOURTH,), raises=MissingRuleError, match="one input"),
]

"""scipy.signal: rules for the compiled functions inside it.

    correlation     sums of products along sliding windows; medians in them
    recursive       filters with feedback, and their initial states
    resampling      filters between sampling rates
    splines         coefficients and values of splines
    polynomials     fits, and which roots count as one
    shortcuts       numbers for which SciPy answers early
    peaks           positions, heights and widths of peaks
    waveforms       sawtooth, and other functions defined piece by piece
    designs         equiripple filters, and gains that place poles

Filter design, spectra, windows and systems are SciPy's own Python over these, over `scipy.fft` and
`scipy.linalg`, which takes part as the user's code does.
"""

from importlib import import_module

from scipy import signal

from ..solving import namespace as namespace
from ..solving.serving import by_values

FAMILIES = (
    "correlation", "recursive", "resampling", "splines", "polynomials", "shortcuts", "peaks",
    "waveforms", "designs",
)  # fmt: skip

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

by_values(
    signal.cspline1d_eval, signal.qspline1d_eval, signal.residue, signal.residuez,
    signal.unique_roots, signal.iirdesign, signal.buttord, signal.cheb1ord, signal.cheb2ord,
    signal.ellipord, signal.closest_STFT_dual_window, signal.group_delay, signal.savgol_coeffs,
    signal.windows.dpss, signal.dlsim, signal.dstep, signal.dimpulse,
)  # fmt: skip

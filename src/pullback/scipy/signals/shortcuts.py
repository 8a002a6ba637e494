"""Numbers for which SciPy answers early, with less than its formula: it has a derivative there.

    if a[0] != 1:
        zi /= a[0]      # left out where a[0] is 1, and with it the derivative

Where such a number carries a derivative, SciPy's code is asked so that it needn't answer early,
with the same bits. What it leaves out of an array because it's 0 is warned of.
"""

from __future__ import annotations

import numpy as np
from scipy import signal, special
from scipy.signal import _filter_design, _signaltools, _waveforms

from ...core.lost import warn_trimmed
from ...core.trace import is_differentiated
from ...primitives.arguments import as_array
from ..solving.leaves import for_all, is_live
from ..solving.serving import serves_method, traced

steady_state = traced(_signaltools.lfilter_zi)
state_before = traced(_signaltools.lfiltic)
to_high_pass = traced(_filter_design.lp2hp)
normalized = traced(_filter_design.normalize)
phase_of_chirp = traced(_waveforms._chirp_phase)
response = traced(signal.lsim)


def first_is_one(b, a):
    """Both divided by the first of a live a, except where that is 0."""
    a = np.atleast_1d(as_array(a))
    if not is_live(a):
        return b, a
    first = np.where(a[..., :1] == 0, 1.0, a[..., :1])
    return as_array(b) / first, a / first


@serves_method(_signaltools.lfilter_zi)
def lfilter_zi(b, a):
    a = np.atleast_1d(as_array(a))
    kept = a
    while is_live(a) and a.ndim == 1 and len(kept) > 1 and for_all(kept[0] == 0):
        kept = kept[1:]
    if len(kept) < len(a):
        steady_state(b, a)  # SciPy 1.18 and newer refuse it
        if is_differentiated(a):
            warn_trimmed("scipy.signal.lfilter_zi")
    return steady_state(*first_is_one(b, kept))


@serves_method(_signaltools.lfiltic)
def lfiltic(b, a, y, x=None):
    a = np.atleast_1d(as_array(a))
    if is_live(a) and for_all(a[..., :1] == 1):
        b, a = first_is_one(b, a)
    return state_before(b, a, y, x)


@serves_method(_filter_design.lp2hp)
def lp2hp(b, a, wo=1.0):
    """For a traced wo of 1, substitute 1/s for s, then multiply by powers of wo."""
    if not is_live(wo) or for_all(as_array(wo) != 1):
        return to_high_pass(b, a, wo)
    b, a = map(np.atleast_1d, to_high_pass(b, a))
    powers = np.ravel(wo)[0] ** np.arange(max(len(b), len(a)))
    return _filter_design.normalize(b * powers[-len(b) :], a * powers[-len(a) :])


@serves_method(_filter_design.normalize)
def normalize(b, a):
    num, den = normalized(b, a)
    for given, kept in ((b, num), (a, den)):
        for x in rows(given):
            trimmed = np.shape(kept)[-1] < np.shape(np.atleast_1d(x))[-1]
            if trimmed and is_live(x) and is_differentiated(x):
                warn_trimmed("scipy.signal.normalize")
    return num, den


def rows(x):
    """The polynomials of a list, which may differ in length, or an array of coefficients."""
    several = type(x) in (list, tuple) and any(map(np.ndim, x))
    return list(map(as_array, x)) if several else [as_array(x)]


@serves_method(_waveforms._chirp_phase)
def chirp_phase(t, f0, t1, f1, method="linear", vertex_zero=True):
    """Between equal frequencies, the limit of the logarithmic and hyperbolic phases."""
    at_rest = (is_live(f0) or is_live(f1)) and for_all(as_array(f0) == as_array(f1))
    kind = {"log": 1.0, "lo": 1.0, "logarithmic": 1.0, "hyp": -1.0, "hyperbolic": -1.0}.get(method)
    if kind is None or not at_rest or not for_all(as_array(f0) * as_array(f1) > 0):
        return phase_of_chirp(t, f0, t1, f1, method, vertex_zero)
    steady = 2 * np.pi * as_array(f0) * as_array(t)
    growth = f1 / f0
    if kind > 0:
        return steady * special.exprel(np.log(growth) * t / t1)
    bend = (1 / growth - 1) * t / t1  # log(1 + bend) / bend, of which this is the series
    return steady * (1 - bend / 2 + bend**2 / 3 - bend**3 / 4)


@serves_method(signal.lsim)
def lsim(system, U, T, X0=None, interp=True):
    """The response to an input of zeros, and how it begins to move with the input."""
    U = U if U is None else as_array(U)
    if not (is_live(U) and for_all(U == 0)):
        return response(system, U, T, X0, interp)
    times, *at_rest = response(system, None, T, X0, interp)
    moved = response(system, U + 1, T, None, interp)[1:]
    steady = response(system, np.ones(U.shape), T, None, interp)[1:]
    return times, *[x + (y - z) for x, y, z in zip(at_rest, moved, steady, strict=True)]

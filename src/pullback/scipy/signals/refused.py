"""What has no derivative here, and what to write instead."""

from __future__ import annotations

from scipy import signal

from ..solving.serving import refuses

__all__ = []

refuses(
    "chooses eigenvectors one after the other, from bases that are not unique",
    "Use `scipy.linalg.solve_continuous_are` for a gain, or Ackermann's formula for one input",
    signal.place_poles,
)
refuses(
    "finds a filter by exchanging extremal points in compiled code",
    "Use `scipy.signal.firls`, or `scipy.optimize.minimize` on the frequency response",
    signal.remez,
)

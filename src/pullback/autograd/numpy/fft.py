"""`numpy.fft` under autograd's name."""

from typing import Any

import numpy.fft as real
from numpy.fft import *


def __getattr__(name: str) -> Any:
    return getattr(real, name)

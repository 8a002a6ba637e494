"""`scipy.special` under autograd's name."""

from typing import Any

import scipy.special as real
from scipy.special import *


def __getattr__(name: str) -> Any:
    return getattr(real, name)

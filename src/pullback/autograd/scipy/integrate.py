"""`scipy.integrate` under autograd's name."""

from typing import Any

import scipy.integrate as real
from scipy.integrate import *


def __getattr__(name: str) -> Any:
    return getattr(real, name)

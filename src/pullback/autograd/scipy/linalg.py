"""`scipy.linalg` under autograd's name."""

from typing import Any

import scipy.linalg as real
from scipy.linalg import *


def __getattr__(name: str) -> Any:
    return getattr(real, name)

"""`numpy.linalg` under autograd's name."""

from typing import Any

import numpy.linalg as real
from numpy.linalg import *


def __getattr__(name: str) -> Any:
    return getattr(real, name)

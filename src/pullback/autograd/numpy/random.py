"""`numpy.random` under autograd's name."""

from typing import Any

import numpy.random as real
from numpy.random import *


def __getattr__(name: str) -> Any:
    return getattr(real, name)

"""`numpy.linalg` under autograd's name."""

from typing import Any

import numpy.linalg as real
from numpy.linalg import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return getattr(real, name)

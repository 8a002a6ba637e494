"""`scipy.special` under autograd's name."""

from typing import Any

import scipy.special as real
from scipy.special import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return getattr(real, name)

"""`scipy.stats` under autograd's name; each distribution may be imported as a module, as there."""

import sys
from typing import Any

import scipy.stats as real
from scipy.stats import *


def __getattr__(name: str) -> Any:
    return getattr(real, name)


for _name in real.__all__:
    _x = getattr(real, _name)
    if hasattr(_x, "rvs") and not isinstance(_x, type):  # `import autograd.scipy.stats.norm`
        sys.modules.setdefault(f"{__name__}.{_name}", _x)

"""Attributes that numpy.ma expects of an array without a mask, for code outside transformations.

`m - x` with a masked array m runs Python code of numpy.ma, which takes the data of both operands
and views the difference as a masked array. An Array has no mask, and neither has the result: it's
an Array, as long as nothing is masked. In a transformation the code of numpy.ma takes part itself,
and these attributes are absent.
"""

from __future__ import annotations

import numpy as np

from ..core.array import Array
from ..core.errors import ArgumentTypeError
from ..core.instances import INNER, KIND, NAMES, Instance, is_in_python
from ..core.operands import check_class
from ..core.reach.session import active
from ..core.tree import RESULTS


def without_mask(x, cls):
    """Whether a view of x as an array of a class is an Array again: as an ndarray, or unmasked."""
    return cls in (None, np.ndarray) or (
        cls is np.ma.MaskedArray and x.within.live and not active()
    )


def set_mask(self, mask):
    if mask is not np.ma.nomask and np.any(mask):
        check_class(np.ma.MaskedArray)


def hide_if_active(name):
    """Raise as for a missing attribute under a transformation, where numpy.ma takes part."""
    if active():
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")


Array._data = property(lambda self: hide_if_active("_data") or self)
Array._mask = property(lambda self: hide_if_active("_mask") or np.ma.nomask, set_mask)
Array._update_from = lambda self, other: None


def result_of(x):
    """The Array that stands for an object in a result, which has no mask."""
    mask = NAMES.__get__(x).get("_mask")
    if mask is not None and is_in_python(KIND.__get__(x)) and np.any(mask):
        raise ArgumentTypeError(
            "A transformed function returned a masked array with masked elements, and a result has"
            " no mask.\n  Return `m.filled(0.0)`, or the data and the mask: `m.data, m.mask`."
        )
    return INNER.__get__(x)


RESULTS[Instance] = result_of

"""The builtins that autograd replaces, since it wraps containers; pullback leaves them as they are.

`type` is the exception: of a value in flight it gives the class that NumPy would have there.
"""

import builtins
from typing import Any

__all__ = [
    "DictBox",
    "ListBox",
    "TupleBox",
    "dict",
    "isinstance",
    "list",
    "tuple",
    "type",
]

dict, isinstance, list, tuple = builtins.dict, builtins.isinstance, builtins.list, builtins.tuple
DictBox, ListBox, TupleBox = dict, list, tuple


def type(x: Any) -> Any:
    """The class of x, as `type(x)` is outside of a transformation."""
    return x.__class__

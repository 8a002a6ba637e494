"""Call compiled code of other packages, which takes no part.

Its arguments that are constants come as plain arrays, functions among them are reached, and what it
writes into a part of an array is written into the whole. Its errors name it.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

import numpy as np

from ..array import Array
from ..errors import ConversionError, PullbackError
from ..foreign import asked, refused
from ..instances import INNER, Instance, example
from ..storage import current
from .call_tables import CALLS
from .class_members import BORING
from .exchange import KNOWN
from .namespaces import STANDS
from .numba_functions import is_jitted
from .readers import READERS
from .session import active
from .threads import CALLABLE
from .walk import reach_instance


def standing(f: Any) -> Any:
    """`CALLS[f]` for one who keeps it: of a ufunc, the object with all that it has."""
    ours = STANDS.get(id(f))
    return CALLS[f] if ours is None or not active() else ours


def given_function(x: Any) -> Any:
    """An argument that may be called: a function is reached, or is ours."""
    if id(x) in READERS:
        return x  # a class, which may be wanted for other things
    return standing(x) if type(x) in CALLABLE or id(x) in KNOWN or is_jitted(x) else x


def given(x: Any) -> Any:
    """An argument of compiled code: a constant as the plain array that it is."""
    kind = type(x)
    if kind is Array:
        x = current(x)
        return x if x.within.live or type(x.payload) is Array else x.payload
    if kind is Instance:
        return x if INNER.__get__(x).within.live else example(x)
    if kind in CALLABLE:
        return standing(x)
    if kind not in BORING:
        reach_instance(x)
    return x


def is_view(x: Array) -> bool:
    """Whether x is a part of an array of constants, which compiled code may write into."""
    return x.storage is not None and x.storage.root is not None and not current(x).within.live


def writing_back(f: Any, views: list[Array], args: Any, kwargs: Any) -> Any:
    """Call compiled code; what it wrote into parts of arrays is written into the whole."""
    places = [current(x).payload for x in views]
    before = [np.array(place) for place in places]
    out = f(*args, **kwargs)
    for x, place, old in zip(views, places, before, strict=True):
        if type(place) is np.ndarray and place.tobytes() != old.tobytes():
            x[...] = np.array(place)
    return out


# SWIG tells of arguments of other types by NotImplementedError.
OF_ARGUMENTS = (
    TypeError, ValueError, SystemError, AttributeError, BufferError, NotImplementedError,
)  # fmt: skip


def foreign(f: Any) -> Any:
    """Compiled code of another package, called under a transformation."""

    def call_foreign(*args: Any, **kwargs: Any) -> Any:
        views = [x for x in args if type(x) is Array and is_view(x)]
        args = tuple([given(x) for x in args])
        kwargs = {name: given(x) for name, x in kwargs.items()}
        try:
            return writing_back(f, views, args, kwargs) if views else f(*args, **kwargs)
        except PullbackError as error:
            if type(error) is ConversionError:
                asked(f, error)
            raise
        except Exception as error:
            if isinstance(error, OF_ARGUMENTS) or type(error).__module__.startswith("numba."):
                refused(f, args, kwargs, error)
            raise

    return call_foreign


# The code of what calls it, between the user's code and the compiled one.
FOREIGN = next(x for x in foreign.__code__.co_consts if type(x) is CodeType)

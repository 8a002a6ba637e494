"""`np.nditer` over Arrays: NumPy's own iterator gives the indices, the Arrays the elements.

NumPy's iterator runs over stand-in arrays with the memory layout of the Arrays, so that the order,
the indices and the errors are NumPy's. At each step an operand yields its element as a view without
axes; writing into the view writes into the Array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.errors import UnsupportedKeywordError
from ..core.layout import layout
from ..core.operands import as_array, holds_arrays
from ..core.reach.namespaces import STANDS
from ..primitives.shapes import ghost
from .wrapping import OWN, StandIn, answers_for, seeking

# What decides in which memory the elements are, not which come when.
MEMORY = frozenset({"buffered", "growinner", "delay_bufalloc", "copy_if_overlap"})
# Attributes that say where the iterator is, how far it goes, and over what.
PLACES = frozenset({
    "finished", "has_delayed_bufalloc", "has_index", "index",
    "iterationneedsapi", "iterindex", "iternext", "iterrange", "itersize", "nop",
})  # fmt: skip
AXES = frozenset({"ndim", "shape"})  # of the walk: axes are joined where nobody asks for places
WRITING = frozenset({"readwrite", "writeonly"})


@answers_for(np.nditer)
class nditer(metaclass=StandIn):  # named as NumPy's, from which nothing derives
    __doc__ = np.nditer.__doc__
    real: Any = np.nditer
    __class__: Any = np.nditer

    def __new__(cls, op: Any, *args: Any, **kwargs: Any) -> Any:
        traced = type(op) is Array or holds_arrays(op)
        return super().__new__(cls) if traced else cls.real(op, *args, **kwargs)

    def __init__(
        self, op: Any, flags: Any = (), op_flags: Any = None, op_dtypes: Any = None,
        order: str = "K", casting: str = "safe", **others: Any,
    ) -> None:  # fmt: skip
        refuse(op_dtypes, {"external_loop": "external_loop" in flags, **others})
        given = [op] if type(op) is Array or not isinstance(op, (list, tuple)) else list(op)
        single = op_flags is None or all(isinstance(flag, str) for flag in op_flags)
        each = [list(op_flags or ["readonly"])] * len(given) if single else list(op_flags)
        arrays = [None if x is None else as_array(x) for x in given]
        shape = np.broadcast_shapes(*[x.shape for x in arrays if x is not None])
        dtypes = [x.dtype for x in arrays if x is not None]
        new = lambda: OWN[np.zeros](shape, np.result_type(*dtypes))
        self.operands = tuple([new() if x is None else x for x in arrays])
        self.writes = [
            x is None or not WRITING.isdisjoint(f) for x, f in zip(given, each, strict=True)
        ]
        self.asked, self.order, self.begun = frozenset(flags), order, False
        self.steps = self.walk(self.asked | {"multi_index"})

    def walk(self, flags: frozenset[str]) -> Any:
        """NumPy's iterator over places, as its flags have it."""
        return self.real(
            [placeless(x) for x in self.operands],
            flags=[*(flags - MEMORY)],
            op_flags=[["readonly"]] * len(self.operands),
            order=self.order,
        )

    @property
    def value(self) -> Any:
        """The elements at the place that was reached."""
        found = tuple([self[i] for i in range(len(self.operands))])
        return found[0] if len(found) == 1 else found

    def __getitem__(self, i: int) -> Any:
        x = self.operands[i]
        place = self.steps.multi_index[self.steps.ndim - x.ndim :]
        index = [0 if n == 1 else k for n, k in zip(x.shape, place, strict=True)]
        element = x[(*index, Ellipsis)]
        if not self.writes[i] and element is not x:
            if type(element) is Array and element.storage:
                element.storage.locked = None
            elif type(element) is np.ndarray:
                element.flags.writeable = False
        return element

    def __setitem__(self, i: int, value: Any) -> None:
        self[i][...] = value

    def __len__(self) -> int:
        return len(self.operands)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.begun:
            self.steps.iternext()
        self.begun = True
        if self.steps.finished:
            raise StopIteration
        return self.value

    @property
    def multi_index(self) -> tuple[int, ...]:
        self.check_places()
        return self.steps.multi_index

    @multi_index.setter
    def multi_index(self, place: tuple[int, ...]) -> None:
        self.check_places()
        self.steps.multi_index = place
        self.begun = False

    @property
    def has_multi_index(self) -> bool:
        return "multi_index" in self.asked

    def check_places(self) -> None:
        if "multi_index" not in self.asked:
            raise ValueError("Iterator is not tracking a multi-index")

    @property
    def dtypes(self) -> tuple[np.dtype, ...]:
        return tuple([x.dtype for x in self.operands])

    def reset(self) -> None:
        self.steps.reset()
        self.begun = False

    def close(self) -> None:
        self.steps.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name in PLACES:
            return getattr(self.steps, name)
        if name in AXES:
            return getattr(self.walk(self.asked), name)
        if hasattr(self.real, name):
            raise UnsupportedKeywordError(
                f"`{name}` of a `numpy.nditer` is not supported over Arrays: it would give plain"
                " memory, or another way to walk through it.\n"
                "  Make a new iterator, or write whole-array operations."
            )
        raise AttributeError(f"'numpy.nditer' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in PLACES:
            setattr(self.steps, name, value)
            self.begun = False
        else:
            object.__setattr__(self, name, value)


def placeless(x: Any) -> Any:
    """An array without values in the shape of x, whose axes lie in memory in the same order."""
    like = layout(x) if type(x) is Array else x
    return np.lib.stride_tricks.as_strided(ghost(like.shape, like.dtype), like.shape, like.strides)


def refuse(op_dtypes: Any, others: dict[str, Any]) -> None:
    """Raise for what would hand out several elements at once, or copies of another dtype."""
    others = {"op_dtypes": op_dtypes, **others}
    for name, value in others.items():
        if value is not None and value is not False:
            raise UnsupportedKeywordError(
                f"`numpy.nditer` was given `{name}` with an Array among its operands; an Array is"
                " iterated over element by element only.\n"
                "  Leave it out, or write whole-array operations on `np.broadcast_arrays(...)`."
            )


# NumPy hands this on to nobody.
STANDS[id(np.lib.stride_tricks.as_strided)] = seeking(np.lib.stride_tricks.as_strided)

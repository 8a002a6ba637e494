"""Small helpers with autograd's names."""

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core.array import Array, peel
from ..core.trace import CONSTANT

__all__ = ["func", "getval", "isbox", "subval", "subvals", "toposort"]


def isbox(x: Any) -> bool:
    """Whether x is a value in flight."""
    return type(x) is Array and x.within is not CONSTANT


def getval(x: Any) -> Any:
    """The plain value of x, without derivatives."""
    return peel(x) if type(x) is Array else x


def subvals(x: Iterable[Any], pairs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """x as a tuple in which item i is replaced by v, for each pair (i, v)."""
    items = list(x)
    for i, v in pairs:
        items[i] = v
    return tuple(items)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """x as a tuple in which item i is replaced by v."""
    return subvals(x, [(i, v)])


def func(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself; Python 2 needed more."""
    return f


def toposort(end_node: Any, parents: Any = operator.attrgetter("parents")) -> Iterator[Any]:
    """The nodes that lead to `end_node`, each before its parents."""
    uses: dict[Any, int] = {}
    stack = [end_node]
    while stack:
        node = stack.pop()
        uses[node] = uses.get(node, 0) + 1
        if uses[node] == 1:
            stack.extend(parents(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            uses[parent] -= 1
            if not uses[parent]:
                ready.append(parent)

"""vjp, jvp and vector spaces under autograd's names.

Arguments and results may be trees. Integers among them count as floats, as they do in autograd.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.array import Array
from ..core.lost import ZERO
from ..core.reach.calls import call_inside
from ..core.spec import is_inexact, spec_of
from ..core.tree import flatten, is_static, tree_map, unflatten
from ..transforms.forward import jvp
from ..transforms.reverse import vjp
from .boxes import SPACES, stands, vjp_of_object
from .extending import (
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive,
)
from .util import getval, isbox

__all__ = [
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "getval",
    "isbox",
    "make_jvp",
    "make_vjp",
    "primitive",
    "vspace",
]


def floating(tree: Any) -> Any:
    """The tree with floats for integers and truth values."""

    def convert(x: Any) -> Any:
        if isinstance(x, (bool, int)) and type(x) is not Array:
            return float(x)
        if hasattr(x, "dtype") and x.dtype.kind in "biu":
            return np.multiply(x, 1.0)
        return x

    return tree_map(convert, tree)


def make_vjp(fun: Callable[..., Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """The pullback of fun at x, a function from a cotangent to one like x; and fun(x)."""
    before = ZERO.get()
    try:
        ZERO.set("Output seems independent of input. ")  # autograd's words, by which one filters
        if type(x) in SPACES or stands(x):
            return vjp_of_object(answers(fun), x)
        out, pullback = vjp(answers(fun), floating(x))
    finally:
        ZERO.set(before)

    def back(g: Any) -> Any:
        return pullback(like(g, out))[0]

    return back, out


def make_jvp(fun: Callable[..., Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """The function from a tangent v to (fun(x), the derivative of fun along v)."""
    x = floating(x)
    return lambda v: jvp(answers(fun), (x,), (like(v, x),))


def answers(fun: Callable[..., Any]) -> Callable[..., Any]:
    """fun, of whose results truth values count as numbers: their derivative is zero."""

    def convert(x: Any) -> Any:
        kind = getattr(getattr(x, "dtype", None), "kind", "b" if isinstance(x, bool) else "")
        return np.multiply(x, 1.0) if kind == "b" else x

    return functools.wraps(fun)(lambda *args: tree_map(convert, call_inside(fun, args, {})))


def like(g: Any, out: Any) -> Any:
    """A cotangent or tangent in the dtypes of the tree that it belongs to."""
    parts, structure = flatten(g)
    targets = flatten(out)[0]
    if len(parts) != len(targets):
        return g
    fitted = [
        g if not hasattr(y, "dtype") or is_static(y) else cast(g, spec_of(y).dtype)
        for g, y in zip(parts, targets, strict=True)
    ]
    return unflatten(structure, fitted)


def cast(g: Any, dtype: Any) -> Any:
    if not hasattr(g, "dtype"):
        return dtype.type(g) if np.isscalar(g) and is_inexact(dtype) else g
    if g.dtype == dtype or (g.dtype.kind == "c" and dtype.kind != "c"):
        return g
    return g.astype(dtype) if is_inexact(dtype) else g


class VSpace:
    """The vectors like a value: arrays, numbers, and trees of them.

    >>> vspace({"w": np.zeros(2), "b": 1.0}).size
    3

    A subclass describes objects of the user's: it defines `zeros`, `_add`, `_scalar_mul` and
    `_inner_prod`, and is registered for their class.
    """

    @classmethod
    def register(cls, value_type: type, maker: Callable[[Any], Any] | None = None) -> None:
        """Let `vspace` give a space of this class for objects of `value_type`."""
        SPACES[value_type] = maker or cls

    def __init__(self, value: Any) -> None:
        leaves, self.structure = flatten(value)
        self.specs = [spec_of(np.asarray(x) if not hasattr(x, "dtype") else x) for x in leaves]
        self.numbers = [not isinstance(x, np.ndarray) for x in leaves]

    @property
    def shape(self) -> tuple[int, ...]:
        (spec,) = self.specs
        return spec.shape

    @property
    def dtype(self) -> np.dtype:
        (spec,) = self.specs
        return spec.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many real numbers describe a vector."""
        return sum([s.size * (2 if s.dtype.kind == "c" else 1) for s in self.specs])

    @property
    def iscomplex(self) -> bool:
        return any(s.dtype.kind == "c" for s in self.specs)

    def made(self, make: Callable[[Any], Any]) -> Any:
        parts = [
            np.asarray(make(spec), spec.dtype)[()] if number else np.asarray(make(spec), spec.dtype)
            for spec, number in zip(self.specs, self.numbers, strict=True)
        ]
        return unflatten(self.structure, parts)

    def zeros(self) -> Any:
        return self.made(lambda spec: np.zeros(spec.shape))

    def ones(self) -> Any:
        """The sum of the standard basis: 1 + 1j for complex numbers."""
        unit = {True: 1 + 1j, False: 1}
        return self.made(lambda spec: np.full(spec.shape, unit[spec.dtype.kind == "c"]))

    def randn(self) -> Any:
        """A random vector, from NumPy's global generator, as autograd has it."""

        def draw(spec: Any) -> Any:
            x = np.random.randn(*spec.shape)
            return x + 1j * np.random.randn(*spec.shape) if spec.dtype.kind == "c" else x

        return self.made(draw)

    def standard_basis(self, imaginary: bool = True) -> Iterator[Any]:
        for k, spec in enumerate(self.specs):
            for unit in (1.0, 1j) if spec.dtype.kind == "c" and imaginary else (1.0,):
                for index in np.ndindex(*spec.shape):
                    parts = [np.zeros(s.shape, s.dtype) for s in self.specs]
                    parts[k][index] = unit
                    shaped = [
                        p[()] if number else p
                        for p, number in zip(parts, self.numbers, strict=True)
                    ]
                    yield unflatten(self.structure, shaped)

    def zip_map(self, f: Callable[..., Any], *trees: Any) -> Any:
        leaves = [flatten(tree)[0] for tree in trees]
        return unflatten(self.structure, [f(*parts) for parts in zip(*leaves, strict=True)])

    def add(self, x: Any, y: Any) -> Any:
        return self._add(x, y)

    mut_add = add

    def scalar_mul(self, x: Any, a: Any) -> Any:
        return self._scalar_mul(x, a)

    def covector(self, x: Any) -> Any:
        return self._covector(x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        return self._inner_prod(x, y)

    # What subclasses define.

    def _add(self, x: Any, y: Any) -> Any:
        return self.zip_map(lambda a, b: a + b, x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return self.zip_map(lambda part: part * a, x)

    def _covector(self, x: Any) -> Any:
        return self.zip_map(np.conj, x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        pairs = zip(flatten(x)[0], flatten(y)[0], strict=True)
        return sum([np.real(np.sum(np.conj(a) * b)) for a, b in pairs])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VSpace):
            return NotImplemented
        if type(self) is not VSpace:
            return type(self) is type(other) and vars(self) == vars(other)
        mine = [(s.shape, s.dtype.kind == "c") for s in self.specs]
        return self.structure == other.structure and mine == [
            (s.shape, s.dtype.kind == "c") for s in other.specs
        ]

    __hash__: Any = None

    def __repr__(self) -> str:
        return f"VSpace({', '.join(map(str, self.specs))})"


def vspace(value: Any) -> Any:
    return SPACES.get(type(value), VSpace)(value)

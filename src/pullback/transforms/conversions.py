"""Find the line that converts another library's object to an array or a number, for messages.

Each line is tried first, on the argument or, if it has an axis, on an empty slice of it. So a
message never proposes a line that fails, and nothing large is read, copied or computed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..core.silence import without_warnings

# What to write, the attribute that a class needs for it, and what is done. The first that works
# is proposed: an attribute that its library provides for the purpose comes before what any object
# may have.
WAYS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("x.numpy(force=True)", "requires_grad", lambda x: x.numpy(force=True)),  # PyTorch
    ("x.get()", "__cuda_array_interface__", lambda x: x.get()),  # CuPy
    ("x.toarray()", "toarray", lambda x: x.toarray()),  # SciPy's sparse arrays and matrices
    ("x.todense()", "todense", lambda x: x.todense()),  # sparse
    ("x.magnitude", "magnitude", lambda x: x.magnitude),  # pint
    ("x.nominal_value", "nominal_value", lambda x: x.nominal_value),  # uncertainties
    ("x.coef", "coef", lambda x: x.coef),  # NumPy's polynomials
    ("x.to_numpy()", "to_numpy", lambda x: x.to_numpy()),
    ("x.to_numpy(float)", "to_numpy", lambda x: x.to_numpy(float)),  # pandas
    ("x.to_numpy().astype(float)", "to_numpy", lambda x: x.to_numpy().astype(float)),
    ("np.asarray(x)", "__array__", np.asarray),
    ("np.asarray(x)", "dtype", np.asarray),
    ("np.asarray(x, float)", "__array__", lambda x: np.asarray(x, float)),
    ("float(x)", "__float__", float),
    ("float(x)", "isdigit", float),  # text
    ("complex(x)", "__complex__", complex),
    ("np.asarray(x)", "__len__", np.asarray),
    ("np.asarray(x, float)", "__len__", lambda x: np.asarray(x, float)),
    ("np.array(sorted(x), float)", "isdisjoint", lambda x: np.array(sorted(x), float)),
    ("np.array(list(x), float)", "__len__", lambda x: np.array(list(x), float)),
)


def named(x: Any) -> str:
    """The class of x with its library: `a dask.Array`, `a decimal.Decimal`, `a range`."""
    library, name = library_of(x), type(x).__name__
    name = name if library in ("builtins", "__main__") else f"{library}.{name}"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def library_of(x: Any) -> str:
    name = type(x).__module__.partition(".")[0]
    return name if name.startswith("__") else name.lstrip("_")


def users_class(x: Any) -> bool:
    """Whether the class of x can be told as a tree: it is neither Python's nor NumPy's."""
    return library_of(x) not in (*sys.stdlib_module_names, "builtins", "numpy")


def way_to_array(x: Any) -> str | None:
    """What to write for x to have floating numbers; None if nothing is known to work."""
    if isinstance(x, Mapping):
        return "dict(x)"
    if type(x).__module__ == "types" and hasattr(x, "__dict__"):  # a SimpleNamespace
        return "vars(x)"
    if hasattr(x, "free_symbols") and x.free_symbols:  # SymPy's
        return "pullback.grad(sympy.lambdify(x, expression))(1.0)"
    part = empty_part(x)
    for text, attribute, convert in WAYS:
        if gives_floats(attribute, convert, part):
            return text
    if isinstance(x, Iterable) and not hasattr(x, "__len__"):  # which may be walked only once
        return "np.array(list(x), float)"
    return None


def way_to_numbers(x: np.ndarray) -> str | None:
    """What to write for an array that does not hold floating numbers."""
    if x.dtype.names:
        return "np.stack([x[name] for name in x.dtype.names], axis=-1)"
    if gives_floats("astype", lambda x: x.astype(float), x) or not x.size:
        return "x.astype(float)"
    way = way_to_array(x.flat[0])
    each = way and way.replace("(x", "(e").replace("x.", "e.", 1)
    return each and f"np.array([{each} for e in x.flat]).reshape(x.shape)"


def empty_part(x: Any) -> Any:
    """A slice of x without elements; x itself where it has no axis or cannot be sliced so."""
    try:
        part = x[:0] if len(x.shape) and not isinstance(x, np.ndarray) else x
    except Exception:  # whatever its library raises
        return x
    return part if type(part) is type(x) or type(part) is np.ndarray else x


def gives_floats(attribute: str, convert: Callable[[Any], Any], x: Any) -> bool:
    with without_warnings():  # those of its library
        try:
            getattr(x, attribute)
            out = convert(x)
        except Exception:  # whatever its library raises
            return False
    if isinstance(out, (float, complex)):
        return True
    return type(out) is np.ndarray and out.dtype.kind in "fc"

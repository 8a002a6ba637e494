"""numexpr's `evaluate` for programs that are differentiated: the text is computed by NumPy.

    numexpr.evaluate("exp(-a * x) + sum(y)")       # where x carries a derivative

The names in the text are those of the line that calls, as numexpr looks them up. Without a
derivative among them, numexpr itself is called.
"""

from __future__ import annotations

import ast
import sys
import threading
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from .core.array import Array
from .core.foreign import arrays_in
from .core.instances import Instance
from .core.operands import as_array
from .core.reach.twins import gives_array
from .core.storage import current

__all__ = ["evaluate", "re_evaluate"]


def along(reduce: Any) -> Any:
    return lambda x, axis=None: reduce(x, axis=axis)


FUNCTIONS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "where", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh",
        "tanh", "arcsinh", "arccosh", "arctanh", "log", "log10", "log1p", "log2", "exp", "expm1",
        "sqrt", "abs", "conj", "real", "imag", "fmod", "floor", "ceil", "trunc", "round", "rint",
        "sign", "hypot", "maximum", "minimum", "isnan", "isfinite", "isinf",
    )
}  # fmt: skip
FUNCTIONS |= {name: along(getattr(np, name)) for name in ("sum", "prod", "min", "max")}
FUNCTIONS |= {
    "complex": lambda x, y: x + 1j * y,
    "ones_like": np.ones_like,
    "div": np.floor_divide,
}
SCOPE: dict[str, Any] = {
    "__builtins__": {},
    "__name__": __name__,
    "double": np.float64,
    **FUNCTIONS,
}
ALLOWED = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Name, ast.Constant,
    ast.Attribute, ast.keyword, ast.operator, ast.unaryop, ast.cmpop, ast.Load,
)  # fmt: skip


class Doubled(ast.NodeTransformer):
    """Fractions in the text are double numbers, beside which float32 does not stay."""

    def visit_Constant(self, node: ast.Constant) -> Any:
        if type(node.value) is not float:
            return node
        return ast.Call(ast.Name("double", ast.Load()), [node], [])


@lru_cache(maxsize=512)
def read(text: str) -> tuple[tuple[str, ...], FunctionType] | None:
    """The names that a text is about, and a function of them; None if numexpr would refuse it."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return None
    nodes = list(ast.walk(tree))
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = [node for node in calls if isinstance(node, ast.Name) and node.id in FUNCTIONS]
    parts = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    known = all(isinstance(node, ALLOWED) for node in nodes) and parts <= {"real", "imag"}
    if not known or len(called) < len(calls):
        return None
    meant = {node.id for node in nodes if isinstance(node, ast.Name) and node not in called}
    names = sorted(meant)
    taken = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    body = ast.Expression(ast.Lambda(taken, Doubled().visit(tree).body))
    return tuple(names), eval(compile(ast.fix_missing_locations(body), "<numexpr>", "eval"), SCOPE)


@lru_cache(maxsize=512)
def code_of(names: tuple[str, ...]) -> Any:
    """The code of a function that reads names of its globals."""
    return compile(f"lambda: ({', '.join(names)},)", "<numexpr>", "eval").co_consts[0]


LAST = threading.local()  # the text that was evaluated last, and how: for `re_evaluate`


def evaluate(
    ex: str, local_dict: Any = None, global_dict: Any = None, out: Any = None, **options: Any
) -> Any:
    """`numexpr.evaluate`."""
    options.pop("_frame_depth", None)
    LAST.call = ex, None if type(out) is Array else out, options
    return evaluated(ex, sys._getframe(1), local_dict, global_dict, out, options)


def re_evaluate(local_dict: Any = None, global_dict: Any = None, _frame_depth: int = 2) -> Any:
    """`numexpr.re_evaluate`: the text that was evaluated last, with the values of now."""
    if not hasattr(LAST, "call"):
        raise RuntimeError("A previous evaluate() execution was not found.")
    ex, out, options = LAST.call
    return evaluated(ex, sys._getframe(1), local_dict, global_dict, out, options)


def evaluated(ex: str, frame: Any, local: Any, world: Any, out: Any, options: Any) -> Any:
    """What a text is, with the names of a frame."""
    known = read(ex)
    names, formula = ((), None) if known is None else known
    local = frame.f_locals if local is None else local
    world = frame.f_globals if world is None else world
    found = dict.fromkeys(names) | {name: local[name] for name in names if name in local}
    outer = tuple([name for name in names if name not in local and name in world])
    if outer:  # read by code that shows their names, which recordings watch
        found |= zip(outer, FunctionType(code_of(outer), world)(), strict=True)
    values = {name: operand_of(x) for name, x in found.items()}
    if (
        formula is None
        or any(x is None for x in values.values())
        or not arrays_in([*values.values(), out])
    ):
        values = {name: numbers(x) for name, x in {**world, **local, **values}.items()}
        return sys.modules["numexpr"].evaluate(ex, values, {}, out=numbers(out), **options)
    result = formula(*values.values())
    if out is None:
        return result
    out[...] = result
    return out


def operand_of(x: Any) -> Any:
    """An operand as numexpr takes it: an array, whatever its class."""
    if type(x) is Array:
        return x
    return as_array(x) if type(x) is Instance or gives_array(x) else x


def numbers(x: Any) -> Any:
    """An Array without a derivative as the array that it holds."""
    return current(x).payload if type(x) is Array else x

"""Operations and their rules in words: `sin(x)`, and `d sin(x) = cos(x) dx`.

The words of a rule are not written by hand. The rule itself is traced, with a symbol for each
operand, each tangent and the result, and its operations are written as an expression. So the text
shows what the engine computes, down to the case that it chose: x**2 has `(x + x) dx`.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..core.array import Array, peel
from ..core.graph import Graph, Variable
from ..core.primitive import Primitive
from ..core.spec import is_inexact, spec_of
from ..primitives.assignment import setitem_p
from ..primitives.einsum import einsum_p
from ..primitives.elementwise import (
    add,
    divide,
    equal,
    finite_p,
    floor_divide,
    greater,
    greater_equal,
    less,
    less_equal,
    multiply,
    negative,
    not_equal,
    off_pole,
    power,
    remainder,
    spared_p,
    steep_p,
    subtract,
)
from ..primitives.indexing import getitem_p
from ..primitives.matmul import matmul_p
from ..primitives.shapes import copy_p
from ..transforms.stage import capture

LONGEST = 140  # characters of a rule; a longer one is described
ATOM, POWER, SIGN, PRODUCT, SUM, COMPARISON, TANGENT = 9, 8, 7, 6, 5, 4, 10

Text = tuple[str, int]  # an expression, and how tightly it binds

# How operations are written between their operands, and how tightly they bind.
INFIX: dict[Any, Text] = {
    add: ("+", SUM), subtract: ("-", SUM), multiply: ("*", PRODUCT), divide: ("/", PRODUCT),
    floor_divide: ("//", PRODUCT), remainder: ("%", PRODUCT), matmul_p: ("@", PRODUCT),
    power: ("**", POWER), equal: ("==", COMPARISON), not_equal: ("!=", COMPARISON),
    less: ("<", COMPARISON), less_equal: ("<=", COMPARISON), greater: (">", COMPARISON),
    greater_equal: (">=", COMPARISON),
}  # fmt: skip
# Save for infinity.
UNCHANGED = {
    copy_p, finite_p.primitive, off_pole.primitive, spared_p.primitive, steep_p.primitive,
}  # fmt: skip


def call(primitive: Primitive, operands: list[Text], static: dict[str, Any]) -> Text:
    """An operation on operands, as one would write it."""
    texts = [text for text, _ in operands]
    if primitive in UNCHANGED:
        return operands[0]
    if primitive in INFIX:
        return infix(primitive, *operands)
    if primitive is negative:
        return f"-{bound(operands[0], SIGN)}", SIGN
    if primitive is einsum_p:
        labels = f"{','.join(static['ins'])}->{static['result']}"
        return f"einsum({', '.join([labels, *texts])})", ATOM
    if primitive is getitem_p and static["key"] == ():
        return operands[0]
    if primitive is getitem_p:
        return f"{bound(operands[0], ATOM)}[{key(static['key'], texts[1:])}]", ATOM
    if primitive is setitem_p:
        place = key(static["key"], texts[2:])
        path = "".join([f".{p.name}" for p, _ in static["path"]])
        return f"{bound(operands[0], ATOM)}{path}[{place}] = {texts[1]}", COMPARISON
    options = [f"{k}={literal(v)}" for k, v in static.items() if shown(k, v)]
    while len(texts) > 1 and texts[-1] == "True":  # nothing is masked
        texts.pop()
    return f"{primitive.name}({', '.join(texts + options)})", ATOM


def infix(primitive: Any, x: Text, y: Text) -> Text:
    symbol, level = INFIX[primitive]
    if primitive is multiply and TANGENT in (x[1], y[1]):  # cos(x) dx
        x, y = (y, x) if x[1] == TANGENT else (x, y)
        factor = bound(x, PRODUCT + 1)
        return (f"-{y[0]}", SIGN) if factor == "-1" else (f"{factor} {y[0]}", PRODUCT)
    right = level if primitive in (add, multiply) else level + 1  # a - (b - c)
    left = level + 1 if primitive is power else level
    sign, right_text = symbol, bound(y, right)
    if symbol == "+" and right_text.startswith("-"):
        sign, right_text = "-", right_text[1:]
    return f"{bound(x, left)} {sign} {right_text}", level


def bound(x: Text, level: int) -> str:
    """An operand, in parentheses if it binds less tightly than the surrounding expression."""
    return x[0] if x[1] >= level else f"({x[0]})"


def key(template: Any, arrays: list[str]) -> str:
    """The key of an index, with its arrays."""
    rest = iter(arrays)
    parts = template if type(template) is tuple else (template,)
    return ", ".join([entry(k, rest) for k in parts]) or "()"


def entry(k: Any, arrays: Any) -> str:
    if k is Ellipsis:
        return "..."
    if isinstance(k, slice):
        step = "" if k.step is None else f":{k.step}"
        return f"{'' if k.start is None else k.start}:{'' if k.stop is None else k.stop}{step}"
    return str(k) if k is None or isinstance(k, (int, np.integer)) else next(arrays, "...")


def shown(name: str, value: Any) -> bool:
    """Whether a static parameter is worth showing: defaults and internal ones aren't."""
    return value is not None and value is not False and name not in ("donate", "path", "singular")


def literal(x: Any) -> str:
    """A constant among the operands: a number as it is, an array by its shape."""
    x = peel(x.opened() if hasattr(x, "opened") else x)
    if isinstance(x, (bool, int, str, np.bool_, np.integer)):
        return str(x)
    if isinstance(x, (float, np.floating)):
        return f"{float(x):.6g}"
    if isinstance(x, (complex, np.complexfloating)):
        return f"({complex(x):.6g})"
    if isinstance(x, np.ndarray):
        if x.size <= 4 and x.ndim <= 1:
            return np.array2string(x, separator=", ", precision=4)
        return str(spec_of(x))
    if isinstance(x, (tuple, list)):
        inner = ", ".join(map(literal, x))
        return f"({inner}{',' if len(x) == 1 else ''})" if type(x) is tuple else f"[{inner}]"
    if isinstance(x, np.dtype):
        return x.name
    name = getattr(x, "name", None) or getattr(x, "__name__", None)
    return name if isinstance(name, str) else type(x).__name__


def rule(primitive: Primitive, operands: Any, out: Any, static: dict[str, Any]) -> str:
    """The derivative of an operation at these operands, in words.

    Operands are plain values; those that carry a derivative are Arrays. They are called x, y or
    x0, x1...
    """
    n = sum([type(x) is Array for x in operands])
    letters = iter(["x", "y"] if n <= 2 else [f"x{i}" for i in range(n)])
    names = [next(letters) if type(x) is Array else literal(x) for x in operands]
    texts = [(name, ATOM) for name in names]
    function = call(primitive, texts, static)
    if primitive.constant or primitive.inert:
        return f"{function[0]} has no derivative"
    shown_call = function[0] if function[0].endswith(")") else f"({function[0]})"
    try:
        text = staged(primitive, operands, out, static, names, function)
    except Exception:  # a rule may do what words have no way to say
        text = None
    if text is None or len(text) > LONGEST:
        return f"d {shown_call}: {describe(primitive)}"
    return f"d {shown_call} = {text}"


def staged(
    primitive: Primitive,
    operands: Any,
    out: Any,
    static: dict[str, Any],
    names: Any,
    function: Text,
) -> str | None:
    """The jvp rule as an expression in operands and tangents; None where there is none."""
    if primitive.jvp is None or primitive.n_out is not None:
        return None
    if primitive is copy_p:
        return "dx"
    floating = [type(x) is Array and is_inexact(x.dtype) for x in operands]
    values = [peel(x) for x in operands]
    out = peel(out)
    static = {k: v for k, v in static.items() if k != "donate"} | (
        {"donate": False} if "donate" in static else {}
    )

    def push(out: Any, xs: Any, dots: Any) -> Any:
        out_dot = primitive.push(out, xs, dots, static)
        return 0 if out_dot is None else out_dot

    def lift(enter: Any) -> Any:
        xs = [enter(x) if f else x for x, f in zip(values, floating, strict=True)]
        dots = [
            enter(np.ones_like(x)) if f else None for x, f in zip(values, floating, strict=True)
        ]
        return enter(out), xs, dots  # the order of the graph's inputs: xs, dots, out

    with np.errstate(all="ignore"):  # the forward pass has warned
        _, graph, captured, _ = capture(push, {}, "explain", lift)
    if captured:
        return None
    named = [name for name, f in zip(names, floating, strict=True) if f]
    symbols = [
        *[(name, ATOM) for name in named],
        *[(f"d{name}", TANGENT) for name in named],
        function,
    ]
    return expression(graph, dict(zip(graph.inputs, symbols, strict=True)))


def expression(graph: Graph, atoms: dict[Variable, Text]) -> str | None:
    texts: dict[Any, Text] = dict(atoms)

    def read(x: Any) -> Text:
        return texts[x] if isinstance(x, Variable) else (literal(x), ATOM)

    for equation in graph.equations:
        if len(equation.outputs) != 1:
            return None
        text = call(equation.primitive, [read(x) for x in equation.inputs], equation.static)
        if len(text[0]) > 4 * LONGEST:
            return None
        texts[equation.outputs[0]] = text
    return read(graph.outputs[0])[0]


def describe(primitive: Primitive) -> str:
    """The first sentence of what is written of a primitive, or where its rule is."""
    kind = type(primitive)
    if kind.__module__.startswith("pullback.core") or not kind.__doc__:
        return f"the rule of `{primitive.name}`"
    return inspect.cleandoc(kind.__doc__).split("\n\n")[0].replace("\n", " ")

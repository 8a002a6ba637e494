"""The C header of an exported function: its declaration, and comments for its callers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import name_of
from ..llvm.binding import binding
from ..path import told_line

if TYPE_CHECKING:
    from .export_c import Unit

C_TYPES: dict[np.dtype, str] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(bool): "uint8_t",
    **{np.dtype(f"i{n}"): f"int{8 * n}_t" for n in (1, 2, 4, 8)},
    **{np.dtype(f"u{n}"): f"uint{8 * n}_t" for n in (1, 2, 4, 8)},
}


def header(unit: Unit) -> str:
    """Return the text of the header."""
    capitals, (ins, outs) = unit.symbol.upper(), parameters(unit)
    given = [f"const {C_TYPES[spec.dtype]} *{name}" for name, _, spec in ins]
    given += [f"{C_TYPES[spec.dtype]} *{name}" for name, _, spec in outs]
    given.append("void *workspace")
    about = [*summary(unit), *workspace(unit, capitals), *returned(unit)]
    comment = "\n".join([f"   {line}".rstrip() for line in about]).replace("*/", "* /")
    arguments = ",\n    ".join(given)
    return f"""/*
{comment}
*/
#ifndef {capitals}_H
#define {capitals}_H

#include <stdint.h>

#define {capitals}_WORKSPACE {unit.workspace}

#ifdef __cplusplus
extern "C" {{
#endif

int {unit.symbol}(
    {arguments});

#ifdef __cplusplus
}}
#endif

#endif
"""


def parameters(unit: Unit) -> tuple[list[Any], list[Any]]:
    """Name, meaning and spec of each input and each output."""
    ins = [(f"in{i}", what, spec) for i, (what, spec) in enumerate(unit.inputs)]
    return ins, [(f"out{i}", out.what, out.spec) for i, out in enumerate(unit.outputs)]


def summary(unit: Unit) -> list[str]:
    """Describe the function: its platform, its inputs and outputs, and its fixed arguments."""
    symbol, (ins, outs) = unit.symbol, parameters(unit)
    about = [
        f"{symbol}: `{name_of(unit.fun)}`, exported by pullback.",
        "",
        f"Link {symbol}.o and the C library with its mathematical functions (-lm).",
        "It runs on this processor, and on every other that has the same instructions:",
        f"{binding().get_host_cpu_name()}.",
        "Calls share nothing: several threads may call it at once.",
        "",
        "Arrays are stored by rows (C order), without gaps. Outputs must not overlap with inputs,",
        "nor with each other.",
        "",
        *listed("Inputs:", ins),
        *listed("Outputs:", outs),
    ]
    if unit.fixed:
        about += ["Arguments that are not passed keep the values that they had in Python:"]
        about += [f"  {what} = {shortened(x)}" for what, x in unit.fixed]
    if unit.left_out:
        about += ["Results that are not numbers are left out:"]
        about += [f"  {what} = {shortened(x)}" for what, x in unit.left_out]
    return [*about, "Globals and other outside values keep the values they had at the export.", ""]


def workspace(unit: Unit, capitals: str) -> list[str]:
    if not unit.workspace:
        return ["workspace: none is needed; pass NULL.", ""]
    return [
        f"workspace: {capitals}_WORKSPACE bytes, aligned to 64 bytes, for this call alone;",
        "their contents do not matter.",
        "",
    ]


def returned(unit: Unit) -> list[str]:
    """What the function returns: which guard got another answer than the recording."""
    if not unit.guards:
        return ["Returns 0."]
    lines = [
        "Returns 0, or the number of the first question that Python asked and that now has another",
        "answer; the outputs are then meaningless:",
    ]
    for number, guard, _, _ in unit.guards:
        where = told_line(guard.line)
        lines.append(f"  {number}  {guard.asked} is {shortened(answer_of(guard))}{where}")
    return lines


def listed(title: str, rows: Sequence[tuple[str, str, Any]]) -> list[str]:
    return [title, *[f"  {name}  {what}: {spec}" for name, what, spec in rows], ""] if rows else []


def shortened(x: Any) -> str:
    text = " ".join(repr(x).split())
    return text if len(text) < 80 else text[:76] + "..."


def answer_of(guard: Any) -> Any:
    """The answer to a guard, to read."""
    answer = guard.answer
    if type(answer) is tuple and len(answer) == 3:
        shape, dtype, content = answer
        return np.frombuffer(content, dtype).reshape(shape).tolist()
    return answer

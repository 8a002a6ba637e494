"""Export: a compiled function as an object file and a C header, for programs without Python.

The recording for some arguments becomes one C function. It reads its inputs and writes its outputs
through pointers, holds its constants, and calls nothing but the C library.
"""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path as File
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, DtypeError, MissingRuleError, name_of
from ...core.graph import Equation, Variable
from ...core.lost import line_of_user
from ...core.spec import spec_of
from ...core.temporary import during
from ...core.tree import flatten, paths, unflatten
from ...transforms.record import record
from ..disk import records
from ..graph.optimise import opened
from ..llvm.binding import SCALAR, SEEN, exported, known
from ..llvm.pen import COPY, Pen
from ..lower import gemm
from ..lower.plan import Plan
from ..lower.role import spec_in
from ..path import Call, Path, answer_bytes, answering, share_memory, told_line
from ..pipeline import lowered_for_c
from .c_header import C_TYPES, header
from .choose_path import path_of
from .record_call import record_call

TRIES = 4  # recordings until there is one that stands for the call

STACK = 1 << 14  # bytes of a workspace that is not an argument
# fmt: off
KEYWORDS = frozenset([
    "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class",
    "compl", "const", "constexpr", "continue", "decltype", "default", "delete", "do", "double",
    "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "nullptr",
    "operator", "or", "private", "protected", "public", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void",
    "volatile", "while", "xor",
])
# fmt: on
# Macros of C's and POSIX's headers; those in capitals are known by that.
MACROS = re.compile(
    r"[A-Z0-9_]+|[A-Z]_\w+|(PRI|SCN)\w+|atomic_\w+|s[ai]_\w+|sigev_\w+|va_(arg|copy|end|start)|(be|le)\d+toh|hto[bl]e\d+"
    r"|alloca|assert|errno|linux|unix|i386|offsetof|setjmp|sigsetjmp|sigmask|std(in|out|err)"
    r"|and_eq|bitand|bitor|not_eq|or_eq|xor_eq|complex|imaginary|noreturn|thread_local"
    r"|(is|to)ascii_l|static_assert|kill_dependency|math_errhandling|signbit|fpclassify"
    r"|is(finite|inf|nan|normal|greater|greaterequal|less|lessequal|lessgreater|unordered)"
)


def export(
    fun: Any, name: str | os.PathLike[str], path: Path, call: Call, args: Any, kwargs: Any
) -> tuple[File, File]:
    """Write `name.o` and `name.h` for a path of a compiled function; see `Compiled.export`."""
    stem = File(name)
    symbol = stem.name
    check_name(symbol)
    if ".." in stem.parts:
        raise ArgumentError(
            f"`export` writes below a folder that is named, but `{stem}` leads out of it by `..`.\n"
            "  Write the folder itself: `pathlib.Path(folder).resolve() / name`."
        )
    with during(SCALAR, True):
        unit = Unit(fun, symbol, path, call, args, kwargs)
        content = exported(unit.text(), symbol, [gemm.text(dtype) for dtype in unit.products()])
    files = stem.with_name(f"{symbol}.o"), stem.with_name(f"{symbol}.h")
    files[0].write_bytes(content)
    files[1].write_text(header(unit), encoding="utf-8")
    return files


def check_name(symbol: str) -> None:
    why = None
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*(?<!_t)", symbol) or symbol in KEYWORDS:
        why = "is not a name for a function in C"
    elif MACROS.fullmatch(symbol):
        why = "is, or reads as, a macro of C"
    elif known(symbol):
        why = "is a function of the C library"
    if why is not None:
        raise ArgumentError(
            f"`export` names a C function and its files, but `{symbol}` {why}.\n"
            '  Write another, such as `f.export("my_gradient")`; a folder may stand before it.'
        )


class Output:
    """What a C function writes: a value that is computed, or a constant."""

    def __init__(self, what: str, value: Any) -> None:
        self.what = what
        self.constant = None if isinstance(value, Variable) else np.asarray(opened(value))
        self.spec = spec_of(self.constant) if self.constant is not None else value.spec


class Unit:
    """One C function: what its inputs, outputs and guards are, and its text."""

    def __init__(
        self, fun: Any, symbol: str, path: Path, call: Call, args: Any, kwargs: Any
    ) -> None:
        self.fun, self.symbol, self.path = fun, symbol, path
        recording = path.recording.full or path.recording
        self.module = lowered_for_c(answering(recording))
        self.plan = self.module.plan
        graph = self.plan.graph
        leaves = leaf_names(fun, args, kwargs)
        passed = [*call.inputs, *(call.floats if path.numbers is None else [])]
        self.inputs = [(leaves[i], x.spec) for i, x in zip(passed, graph.inputs, strict=True)]
        self.fixed = [
            (what, x)
            for i, (what, x) in enumerate(zip(leaves, call.leaves, strict=True))
            if i not in passed
        ]
        # Results in order; those that are constants are not among the graph's.
        computed = iter(self.plan.outputs)
        marks = unflatten(recording.structure, list(range(len(recording.outputs))))
        names = paths(marks, "out") if recording.structure is not None else ["out"]
        self.outputs, self.left_out = [], []
        for what, x in zip(names, recording.outputs, strict=True):
            value = next(computed) if isinstance(x, Variable) else x
            if not isinstance(value, Variable) and spec_of(opened(value)).dtype.kind not in "biufc":
                self.left_out.append((what, value))
            else:
                self.outputs.append(Output(what, value))
        for i in recording.written:
            self.outputs.append(
                Output(f"{leaves[passed[i]]}, as the call leaves it", next(computed))
            )
        # What a guard asks about lies in the workspace; one that is a constant has its answer.
        self.guards: list[tuple[int, Any, Variable, bytes]] = []
        for number, (guard, x) in enumerate(zip(path.guards, computed, strict=False), 1):
            if isinstance(x, Variable):
                self.guards.append((number, guard, x, answer_bytes(guard, x.spec)))
        for what, spec in [*self.inputs, *[(out.what, out.spec) for out in self.outputs]]:
            if spec.dtype not in C_TYPES:
                raise DtypeError(
                    f"`{name_of(fun)}` cannot be exported: `{what}` is {spec}, and C is given"
                    " real floating numbers, integers and truth values.\n"
                    "  Convert it to float64, or pass real and imaginary parts by themselves."
                )
        if not self.outputs:
            raise ArgumentError(
                f"`{name_of(fun)}` cannot be exported: it returns neither a number nor an array."
            )
        refuse_calls(self.plan, fun, args, kwargs)

    def products(self) -> list[np.dtype]:
        """The dtypes of which there are products of matrices."""
        return sorted(
            {
                item.equation.outputs[0].spec.dtype
                for piece in self.plan.pieces
                for item in piece.items
                if item.role == "matmul"
            },
            key=str,
        )

    # The text.

    def text(self) -> str:
        """The module: the program's own text, its constants, and the function for C."""
        parts = [self.module.text, "declare i32 @memcmp(ptr, ptr, i64)"]
        if COPY not in self.module.declared:
            parts.append(COPY)
        constants = []
        for i, x in enumerate(self.module.plan.constants):
            parts.append(data(f"constant{i}", x.tobytes()))
            constants.append(f"ptr @constant{i}")
        pointers = ", ".join([*constants, "ptr null"])
        parts.append(f"@constants = internal constant [{len(constants) + 1} x ptr] [{pointers}]")
        for i, out in enumerate(self.outputs):
            if out.constant is not None:
                parts.append(data(f"result{i}", out.constant.tobytes()))
        for number, _, _, answer in self.guards:
            parts.append(data(f"answer{number}", answer))
        return "\n".join([*parts, self.function(), ""])

    def function(self) -> str:
        """The function for C: it enters the pointers into the table, and runs the segments."""
        given = [f"ptr %in{i}" for i in range(len(self.inputs))]
        given += [f"ptr %out{i}" for i in range(len(self.outputs))]
        pen, n = Pen(), self.module.n_in + self.module.n_out + 1
        pen.add(f"%table = alloca [{n} x ptr], align 16")
        space = "%workspace"
        if not self.workspace:
            space = "%stack"
            pen.add(f"%stack = alloca [{max(self.size, 64)} x i8], align 64")
        places = [f"%in{i}" for i in range(len(self.inputs))]
        places += [f"%out{i}" for i, out in enumerate(self.outputs) if out.constant is None]
        self.answers(space, pen)
        for i, place in self.slots(places).items():
            slot = pen.line(f"getelementptr ptr, ptr %table, i64 {i}")
            pen.add(f"store ptr {place}, ptr {slot}")
        for segment in self.module.segments:
            pen.call(str(segment), [space, "%table", "@constants"])
        for i, out in enumerate(self.outputs):
            if out.constant is not None and out.spec.size:
                pen.copy(f"%out{i}", f"@result{i}", out.spec.size * out.spec.dtype.itemsize)
        for number, _, _, answer in self.guards:
            pointers = f"ptr %answer{number}, ptr @answer{number}, i64 {len(answer)}"
            same = pen.line(f"icmp eq i32 {pen.line(f'call i32 @memcmp({pointers})')}, 0")
            pen.branch(same, f"holds{number}", f"fails{number}")
            pen.label(f"fails{number}")
            pen.ret("i32", str(number))
            pen.label(f"holds{number}")
        pen.ret("i32", "0")
        head = f"define i32 @{SEEN}({', '.join([*given, 'ptr %workspace'])}) {{"
        return "\n".join([head, *pen.lines, "}"])

    def slots(self, places: list[str]) -> dict[int, str]:
        """Which pointer is where in the table of the program."""
        n_in = self.module.n_in
        found = dict(enumerate(places[:n_in]))
        rest = iter([*places[n_in:], *[f"%answer{number}" for number, *_ in self.guards]])
        for i, x in enumerate(self.plan.outputs):
            if isinstance(x, Variable):
                found[n_in + i] = next(rest)
        return found

    def answers(self, space: str, pen: Pen) -> None:
        """The places of what guards ask about, behind the arena."""
        at = self.module.arena_size
        for number, _, x, _ in self.guards:
            pen.add(f"%answer{number} = getelementptr i8, ptr {space}, i64 {at}")
            at += rounded(x.spec.size * x.spec.dtype.itemsize)

    @property
    def size(self) -> int:
        guards = [rounded(x.spec.size * x.spec.dtype.itemsize) for _, _, x, _ in self.guards]
        return self.module.arena_size + sum(guards)

    @property
    def workspace(self) -> int:
        """Bytes that the caller provides."""
        return 0 if self.size <= STACK else self.size


def rounded(n: int) -> int:
    return -(-max(n, 1) // 64) * 64


def data(name: str, content: bytes) -> str:
    """A constant of the module."""
    text = "".join([f"\\{byte:02X}" for byte in content])
    return f'@{name} = internal constant [{len(content)} x i8] c"{text}", align 64'


def leaf_names(fun: Any, args: Any, kwargs: Any) -> list[str]:
    """How to write each leaf of the arguments: `params["w"][0]`."""
    try:
        parameters = [*inspect.signature(fun).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    given = [p.name for p in parameters if p.kind in kinds]
    names = [given[i] if i < len(given) else f"args[{i}]" for i in range(len(args))]
    found = [name for x, whole in zip(args, names, strict=True) for name in paths(x, whole)]
    by_name = flatten({key: [key] * len(flatten(x)[0]) for key, x in kwargs.items()})[0]
    order = list(dict.fromkeys(by_name))
    return found + [name for key in order for name in paths(kwargs[key], key)]


def refuse_calls(plan: Plan, fun: Any, args: Any, kwargs: Any) -> None:
    """Raise if an operation is done by NumPy."""
    calls = [piece.items[0].equation for piece in plan.pieces if piece.role == "call"]
    if not calls:
        return
    lines = lines_of(fun, args, kwargs)
    told = dict.fromkeys([f"`{e.primitive.name}`{where(e, lines)}" for e in calls])
    raise MissingRuleError(
        f"`{name_of(fun)}` cannot be exported: NumPy does {', '.join(told)}.\n"
        "  An exported function has machine code for all that it does; compute this outside of it"
        " and pass the result."
    )


def where(e: Equation, lines: dict[Any, list[Any]]) -> str:
    """The lines where an operation on operands of these kinds was called."""
    return ",".join([told_line(line) for line in lines.get(signature(e), ())])


def signature(e: Any) -> Any:
    return e.primitive.name, tuple([spec_of_operand(x) for x in e.inputs])


def spec_of_operand(x: Any) -> Any:
    spec = spec_in(x) if isinstance(x, Variable) else spec_of(opened(getattr(x, "payload", x)))
    return spec.shape, spec.dtype


def lines_of(fun: Any, args: Any, kwargs: Any) -> dict[Any, list[Any]]:
    """Where the function calls what; it runs once more."""
    here = line_of_user()
    found: dict[Any, list[Any]] = {}
    try:
        entries = record(fun)(*args, **kwargs).entries
    except Exception:  # the lines are not known
        return {}
    for entry in entries:
        lines = found.setdefault(signature(entry), [])
        if entry.line != here and entry.line not in lines:
            lines.append(entry.line)
    return found


def exported_path(compiled: Any, args: Any, kwargs: Any) -> tuple[Path, Call]:
    """The path that stands for a call, recorded if there is none, and the call.

    Raises:
        ArgumentError: it cannot be recorded.
    """
    call = compiled.arrange(args, kwargs)
    if call is not None:
        records.drop(compiled, call)
    path = path_of(compiled, call)
    for _ in range(TRIES):
        if call is None or compiled.refusal is not None:
            break
        if path is None:
            compiled.decide(args, kwargs, at_once=True)
        elif path.numbers is not None and compiled.entries[call.key].floats:
            # With floats as inputs.
            record_call(compiled, compiled.entries[call.key], call, args, kwargs)
        else:
            break
        path = path_of(compiled, call)
    if path is None or call is None:
        why = compiled.why(*args, **kwargs)
        if call is not None and share_memory(call.arrays):
            why = "Some share memory: pass copies of them."
        raise ArgumentError(
            f"`{name_of(compiled.fun)}` cannot be exported for these arguments. {why}"
        )
    return path, call

"""What the instructions of a function say of it, the same in all versions of Python."""

import argparse
import decimal
import dis
import random
import time
import types
from pathlib import Path

import numpy as np

from pullback.compiler.facts.bytecode import COMPUTED_NAMES, SILENT, Code, instructions


class Base:
    rate = 1.0

    def force(self, x):
        return x


class Spring(Base):
    def force(self, x):
        return super().force(x) * super().rate


def called(x):
    y = np.sin(x) + np.linalg.norm(x) + np.sum(x, axis=0) + x.mean().item() + np.asarray([x])[0]
    return y + random.random() + time.perf_counter() + sum(x)


def read(x):
    chosen = (np.tan if x else np.tanh)(x), np.exp[0](x)
    return chosen, map(np.cos, x), [time.time, random.gauss()], x.shape, [y.real for y in x]


def asks(x):
    return getattr(x.y, "rate", 0), getattr(x, "rate", None), hasattr(x, "z"), "{:.3f}".format(x)


def computes(x):
    return getattr(x, x.name)


def computes_in_text(x):
    return "{0.rate}".format(x)


def computes_by_variable(x):
    return x.template.format(x)


def test_who_computes_names():
    assert COMPUTED_NAMES not in Code(asks.__code__).names
    for fun in (computes, computes_in_text, computes_by_variable):
        assert COMPUTED_NAMES in Code(fun.__code__).names


def test_what_is_called_is_not_handed_on():
    assert Code(called.__code__).handed <= {"np", "x", "linalg", "time", "random"}
    assert "linalg" in Code(called.__code__).tested
    found = Code(read.__code__).handed
    assert {"tan", "tanh", "exp", "cos", "time", "shape", "real"} <= found
    assert found.isdisjoint({"gauss", "map"})
    found = Code(Spring.force.__code__).handed
    assert "rate" in found
    assert "force" not in found


def codes(code):
    yield code
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield from codes(x)


# What is not read: where a jump leads, how a field is converted; and some that `dis` leaves open.
UNREAD = ("JUMP", "POP_JUMP", "FOR_ITER", "SEND", "FORMAT_", "CONVERT_", "MAKE_", "SET_FUNCTION",
          "CALL_INTRINSIC", "KW_NAMES", "RAISE")  # fmt: skip


def test_instructions_are_those_that_python_shows():
    for module in (argparse, decimal, types, dis):
        source = Path(module.__file__).read_text()
        for code in codes(compile(source, module.__file__, "exec")):
            shown = [x for x in dis.get_instructions(code) if x.opname not in SILENT]
            for ours, theirs in zip(instructions(code), shown, strict=True):
                assert ours.opname == theirs.opname
                if theirs.opname.startswith(UNREAD):
                    continue
                assert ours.arg == theirs.arg
                assert type(ours.argval) is type(theirs.argval)
                assert ours.argval == theirs.argval
                assert ours.positions == tuple(theirs.positions)
                if theirs.opname in ("COMPARE_OP", "BINARY_OP"):
                    assert ours.argrepr.strip("bol()") == theirs.argrepr.strip("bol()")

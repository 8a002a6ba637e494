"""Long text without branches is compiled without LLVM's passes, and computes the same."""

import ctypes

import numpy as np

from pullback.compiler.llvm import binding


def text(lines, branches):
    """A function that multiplies and adds numbers of an array so many times, in a loop or not."""
    loop = "  br label %loop\nloop:\n" if branches else ""
    end = "  br i1 false, label %loop, label %end\nend:\n" if branches else ""
    parts = ["define void @f(ptr %p) {\n", loop, "  %v0 = load double, ptr %p\n"]
    for i in range(lines):
        word = ("fmul", "fadd", "fsub")[i % 3]
        parts.append(f"  %v{i + 1} = {word} double %v{i}, {1.0 + (i % 7) / 64:e}\n")
    return "".join([*parts, f"  store double %v{lines}, ptr %p\n", end, "  ret void\n}\n"])


def result(code):
    x = np.array([0.7])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("f"))(x.ctypes.data)
    return x.tobytes()


def test_passes_are_left_out_where_text_is_long_and_does_not_branch(monkeypatch):
    found, optimise = [], binding.optimise
    monkeypatch.setattr(binding, "optimise", lambda *args: found.append(1) or optimise(*args))
    for lines, branches, passes in ((30, False, 1), (3000, False, 0), (3000, True, 1)):
        found.clear()
        whole = text(lines, branches)
        codes = [
            binding.MachineCode(whole, level, binding.object_file(whole, level))
            for level in (binding.BEST, 0)
        ]
        assert len(found) == passes
        assert result(codes[0]) == result(codes[1])

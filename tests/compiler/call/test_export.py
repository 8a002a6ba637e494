"""`f.export(name)`: C programs that are linked with what it writes compute what f does."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.export_c import check_name

CC = shutil.which(os.environ.get("CC", "cc"))
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")

HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib string tgmath threads time wchar wctype
""".split()
C_TYPES = {"float64": "double", "float32": "float", "bool": "uint8_t"}


def c_type(dtype):
    return C_TYPES.get(str(dtype), f"{dtype}_t")


MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"
{variables}
static char space[{capitals}_WORKSPACE + 64];
int main(void) {{
    void *workspace = space + (64 - (size_t)space % 64) % 64;
    if ({capitals}_WORKSPACE == 0) workspace = NULL;
    for (;;) {{
        {reads}
        int status = {name}({given}, workspace);
        fwrite(&status, sizeof status, 1, stdout);
        {writes}
        if (getchar() == EOF) return 0;
    }}
}}
"""


class Program:
    """A C program that calls an exported function with what it reads, and writes what it gives."""

    def __init__(self, folder, name, ins, outs):
        self.ins, self.outs = [[np.asarray(x) for x in xs] for xs in (ins, outs)]
        rows = [(f"i{k}", x) for k, x in enumerate(self.ins)]
        results = [(f"o{k}", x) for k, x in enumerate(self.outs)]
        transfer = "if ({0}({1}, sizeof {1}[0], {2}, {3}) != {2}) return 9;"
        text = MAIN.format(
            name=name,
            capitals=name.upper(),
            variables="\n".join(
                f"static {c_type(x.dtype)} {n}[{max(x.size, 1)}];" for n, x in rows + results
            ),
            reads="\n".join(transfer.format("fread", n, x.size, "stdin") for n, x in rows),
            writes="\n".join(transfer.format("fwrite", n, x.size, "stdout") for n, x in results),
            given=", ".join(n for n, _ in rows + results),
        )
        (folder / "main.c").write_text(text)
        self.path = folder / "program"
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-I", folder]
        command = [CC, *flags, folder / "main.c", folder / f"{name}.o", "-lm", "-o", self.path]
        subprocess.run(command, check=True)

    def __call__(self, *calls):
        """The status and the outputs of each call; without Python in its environment."""
        given = b"\n".join(
            b"".join(
                np.ascontiguousarray(x, like.dtype).tobytes()
                for x, like in zip(xs, self.ins, strict=True)
            )
            for xs in calls
        )
        done = subprocess.run([self.path], input=given, capture_output=True, check=True, env={})
        found, at = [], 0
        for _ in calls:
            status = int(np.frombuffer(done.stdout, np.int32, 1, at)[0])
            at, outs = at + 4, []
            for like in self.outs:
                outs.append(np.frombuffer(done.stdout, like.dtype, like.size, at))
                outs[-1] = outs[-1].reshape(like.shape)
                at += like.nbytes
            found.append((status, outs))
        assert at == len(done.stdout)
        return found


def leaves(x):
    if isinstance(x, (tuple, list)):
        return [leaf for part in x for leaf in leaves(part)]
    if isinstance(x, dict):
        return [leaf for key in sorted(x) for leaf in leaves(x[key])]
    return [np.asarray(x)]


def exported(folder, f, *calls, kept=lambda args: args, rtol=1e-13):
    """Export f for the first of some calls, and compare all of them."""
    name = "function"
    f.export(folder / name, *calls[0])
    right = [leaves(f(*args)) for args in calls]
    program = Program(folder, name, leaves(kept(calls[0])), right[0])
    for (status, outs), expected in zip(
        program(*[leaves(kept(args)) for args in calls]), right, strict=True
    ):
        assert status == 0
        for out, x in zip(outs, expected, strict=True):
            assert out.dtype == x.dtype
            np.testing.assert_allclose(out, x, rtol=rtol, atol=rtol, equal_nan=True)
    return folder / f"{name}.h"


@needs_cc
class TestPrograms:
    def test_numbers(self, tmp_path):
        """Python's floats are inputs, and its results are numbers."""
        f = pb.compile(pb.value_and_grad(lambda x, y: np.sin(x) * y + x**3 / y, argnums=(0, 1)))
        exported(tmp_path, f, (1.5, 2.0), (0.1, -3.0), (2.0, 1e100))

    def test_vectors(self, tmp_path, rng):
        """Elementwise work on vectors whose length no register divides."""
        f = pb.compile(lambda x, y: (np.exp(-x * x) * y, np.maximum(x, y)))
        x = rng.normal(size=(3, 37))
        calls = [(x, x[:1] * 2), (x * 0, x[:1]), (np.where(x > 0, np.nan, x), x[:1])]
        exported(tmp_path, f, *calls)

    @pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-12), (np.float32, 1e-4)])
    def test_gradient_of_a_network(self, tmp_path, rng, dtype, rtol):
        """Products of matrices and with vectors, sums along each axis, a tree of arguments."""

        def loss(params, x, y):
            for w, b in zip(params["w"], params["b"], strict=True):
                x = np.tanh(x @ w + b)
            r = x @ params["v"] - y
            return np.mean(r * r) + np.sum(params["v"] ** 2)

        def arguments():
            params = {
                "w": [rng.normal(size=(9, 33)), rng.normal(size=(33, 17)) / 5],
                "b": [rng.normal(size=33), rng.normal(size=17)],
                "v": rng.normal(size=17),
            }
            x, y = rng.normal(size=(20, 9)), rng.normal(size=20)
            cast = lambda x: [*map(cast, x)] if type(x) is list else x.astype(dtype)
            return {key: cast(x) for key, x in params.items()}, cast(x), cast(y)

        f = pb.compile(pb.value_and_grad(loss))
        exported(tmp_path, f, *[arguments() for _ in range(3)], rtol=rtol)

    def test_both_precisions(self, tmp_path, rng):
        """Products in float32 and in float64 in one function."""
        f = pb.compile(lambda x, y: (x @ x, y @ y))
        x = rng.normal(size=(19, 19))
        exported(tmp_path, f, (x, x.astype(np.float32)), rtol=1e-4)

    def test_stacked_products(self, tmp_path, rng):
        f = pb.compile(lambda x, y: (x @ y, np.swapaxes(y, -1, -2) @ np.swapaxes(x, -1, -2)))
        exported(tmp_path, f, (rng.normal(size=(5, 4, 3)), rng.normal(size=(5, 3, 2))))

    def test_integers_and_truth_values(self, tmp_path):
        f = pb.compile(lambda n, m, b: (n + m, n * 2, b & (n > 1), np.sum(m, axis=0)))
        n, m = np.arange(6, dtype=np.int64).reshape(2, 3), np.ones((2, 3), np.int32)
        b = np.array([[True, False, True]] * 2)
        exported(tmp_path, f, (n, m, b), (n - 3, m * -7, ~b))

    def test_constants(self, tmp_path):
        """Arrays that f reads are in the object file; so are results that depend on nothing."""
        table = np.linspace(0, 1, 50)
        f = pb.compile(lambda x: (x * table, table[:3] * 2, 4, np.float32(0.5)))
        path = exported(tmp_path, f, (np.ones(50),), (table,))
        assert "out3  out[3]: float32" in path.read_text()

    def test_what_comes_back_as_it_is(self, tmp_path):
        """Arguments, views of them, and the same result twice are written in full."""

        def f(x, unused):
            y = x * 2
            return x, x.T, y, y, {"row": x[1:], "flat": x.reshape(-1)}

        x = np.arange(6.0).reshape(2, 3)
        exported(tmp_path, pb.compile(f), (x, np.ones(2)), (-x, np.ones(2)))

    def test_without_arguments(self, tmp_path):
        exported(tmp_path, pb.compile(lambda: (np.ones(3), 2.0)), ())

    def test_strided_arguments(self, tmp_path):
        """The record is of a transposed array; C passes rows."""
        x = np.arange(12.0).reshape(3, 4)
        exported(tmp_path, pb.compile(lambda x: np.sum(x * 2, axis=0)), (x.T,), (-x.T,))

    def test_unrolled_loop(self, tmp_path):
        """A workspace is asked for where much is kept; each call may have another."""

        def f(x):
            out = x
            for _ in range(10):
                out = np.sin(out) * x + out[::-1]
            return np.sum(out @ out)

        g = pb.compile(pb.grad(f))
        x = np.linspace(0, 1, 60 * 60).reshape(60, 60)
        path = exported(tmp_path, g, (x,), (x[::-1] / 2,), rtol=1e-9)
        size = path.read_text().split("#define FUNCTION_WORKSPACE ")[1].split()[0]
        assert int(size) > 60 * 60 * 8

    def test_a_loop_of_python_is_a_loop_in_c(self, tmp_path):
        """The size of the code does not grow with the number of steps."""

        def f(x, rate):
            for _ in range(steps):
                x = np.tanh(x * rate) + 0.5 * np.sin(x) - x[::-1] * 0.1
            return np.sum(x**2)

        sizes = []
        for steps in (100, 400):
            folder = tmp_path / str(steps)
            folder.mkdir()
            g = pb.compile(pb.grad(f, (0, 1)))
            x = np.linspace(-1, 1, 7)
            exported(folder, g, (x, 0.9), (x**2, 0.3), rtol=1e-10)
            sizes.append((folder / "function.o").stat().st_size)
        assert sizes[1] < 1.2 * sizes[0]

    def test_loops(self, tmp_path, rng):
        """Rolled ones, and those whose number of steps depends on the arguments."""

        def f(a, xs):
            root = lambda a: pb.while_loop(
                lambda x: abs(x * x - a) > 1e-13 * a, lambda x: (x + a / x) / 2, a
            )
            return pb.scan(lambda c, x: (root(c + x), c * x), a, xs)[0]

        slope = pb.compile(pb.value_and_grad(f, (0, 1)))
        exported(tmp_path, slope, *[(np.array(10.0**k), rng.uniform(1, 2, 9)) for k in (0, -5, 5)])

    def test_systems_in_a_loop(self, tmp_path):
        """What a step cannot solve is NaN."""

        def f(a, x):
            for t in range(100):
                x = np.linalg.solve(a + t * np.eye(2), x) + 1.0
            return np.sum(x)

        g = pb.compile(pb.value_and_grad(f))
        good, bad = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[-7.0, 0.0], [0.0, 1.0]])
        exported(tmp_path, g, (good, np.ones(2)), (good.T, np.zeros(2)), rtol=1e-11)
        program = Program(tmp_path, "function", [good, np.ones(2)], [0.0, good])
        ((status, (out, _)),) = program([bad, np.ones(2)])
        assert status == 0
        assert np.isnan(out)

    def test_argument_assigned_to(self, tmp_path):
        """Inputs are only read: what f leaves in an argument is one more output."""

        def f(x):
            y = x * 2
            x[1:] = y[:-1]
            return y

        g = pb.compile(f)
        x = np.arange(4.0)
        g.export(tmp_path / "shift", x.copy())
        program = Program(tmp_path, "shift", [x], [x, x])
        for start in (x, x - 7):
            changed = start.copy()
            right = f(changed)
            ((status, (out, after)),) = program([start])
            assert status == 0
            np.testing.assert_array_equal(out, right)
            np.testing.assert_array_equal(after, changed)


@needs_cc
class TestGuards:
    def test_number_of_the_guard(self, tmp_path):
        """0, or the number of the first guard that got another answer."""

        def f(x, n):
            if x[0] > 0:
                x = x * 2
            for _ in range(int(np.sum(n))):
                x = np.sin(x)
            if np.all(x < 1):
                return x
            return -x

        g = pb.compile(f)
        x, n = np.array([1.0, 2.0]), np.array([1, 1])
        path, header = g.export(tmp_path / "branches", x, n)
        assert path == tmp_path / "branches.o"
        text = header.read_text()
        assert "1  bool(x) is True at test_export.py:" in text
        assert "2  int(x) is 2 at test_export.py:" in text
        program = Program(tmp_path, "branches", [x, n], [x])
        calls = [(x, n), (-x, n), (x, n + 1), (x * 3, n), (-x, n + 1), (x, n[::-1] * [2, 0])]
        found = program(*calls)
        assert [status for status, _ in found] == [0, 1, 2, 0, 1, 0]
        for (status, (out,)), args in zip(found, calls, strict=True):
            if status == 0:
                np.testing.assert_allclose(out, f(*args), rtol=1e-14)

    def test_elements_that_python_read(self, tmp_path):
        """An index array is a guard on all its elements."""
        f = pb.compile(lambda x, i: x[int(i[0]) : int(i[1])] * 2)
        x, i = np.arange(6.0), np.array([1, 4])
        f.export(tmp_path / "cut", x, i)
        program = Program(tmp_path, "cut", [x, i], [x[1:4]])
        (first, (out,)), (second, _), (third, _) = program((x, i), (x, [2, 4]), (x, [1, 5]))
        assert (first, second, third) == (0, 1, 2)
        np.testing.assert_array_equal(out, x[1:4] * 2)


class TestHeader:
    def test_it_says_what_is_where(self, tmp_path):
        def area(box, scale, unit="m", *, half=False):
            return {"area": box["w"] * box["h"] * scale, "unit": unit}

        f = pb.compile(area)
        box = {"w": np.ones(3), "h": np.ones((2, 3), np.float32)}
        _, header = f.export(tmp_path / "area", box, 2.5, half=True)
        text = header.read_text()
        assert "in0  box['h']: float32[2,3]" in text
        assert "in1  box['w']: float64[3]" in text
        assert "out0  out['area']: float64[2,3]" in text
        assert "out['unit'] = 'm'" in text
        assert "half = True" in text
        assert "#define AREA_WORKSPACE" in text

    def test_comments_are_not_left(self, tmp_path):
        """A string among the arguments does not end the comment."""
        f = pb.compile(lambda x, s: x * 2)
        _, header = f.export(tmp_path / "twice", np.ones(2), "*/ int x;")
        assert header.read_text().count("*/") == 1

    def test_nothing_of_this_process(self, tmp_path):
        """The same function gives the same files again; only its own name is seen outside."""
        f = lambda x: np.sum(np.tanh(x @ x))
        x = np.ones((4, 4))
        (tmp_path / "again").mkdir()
        one = pb.compile(pb.grad(f)).export(tmp_path / "same", x)
        two = pb.compile(pb.grad(f)).export(tmp_path / "again" / "same", x)
        assert [a.read_bytes() == b.read_bytes() for a, b in zip(one, two, strict=True)] == [
            True
        ] * 2
        nm = shutil.which("nm")
        if nm is not None:
            command = [nm, "--extern-only", "--defined-only", str(one[0])]
            names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert [line.split()[-1] for line in names.splitlines()] == ["same"]


class TestErrors:
    def test_calls_of_numpy(self, tmp_path):
        def volume(x):
            y = x @ x.T + np.eye(2)
            return np.log(np.linalg.eigvalsh(y)).sum()

        with pytest.raises(pb.MissingRuleError) as told:
            pb.compile(volume).export(tmp_path / "volume", np.ones((2, 3)))
        text = str(told.value)
        assert "`volume` cannot be exported: NumPy does `" in text
        assert "test_export.py:" in text
        assert "compute this outside" in text
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "name",
        [
            "sin", "for", "a-b", "2nd", "x.y", "größe", "int8_t", "EOF", "NULL", "I",
            "alloca", "errno", "assert", "stdin", "linux", "isnan", "atomic_load", "si_pid",
        ],
    )  # fmt: skip
    def test_names(self, tmp_path, name):
        f = pb.compile(lambda x: x * 2)
        with pytest.raises(pb.ArgumentError, match="export` names a C function"):
            f.export(tmp_path / name, np.ones(2))

    def test_names_of_the_text_itself(self, tmp_path):
        """What a module calls its own functions and constants takes no name from users."""
        fast = pb.compile(
            lambda x: np.cumsum(np.linalg.solve(np.eye(3) * 9 + x, x @ np.eye(3))) + np.arange(3.0)
        )
        for name in ("function0", "kernel0", "segment0", "constant0", "constants", "numbers1"):
            assert fast.export(tmp_path / name, np.ones(3))[0].exists()
        loop = pb.compile(lambda x: x @ np.eye(3))
        for name in ("function0", "gemm", "pack", "tile1", "segment0"):
            assert loop.export(tmp_path / name, np.ones((40, 3)))[0].exists()

    @needs_cc
    def test_no_macro_of_the_headers_is_a_name(self):
        headers = "\n".join([f"#include <{name}.h>" for name in HEADERS])
        command = [CC, "-dM", "-E", "-"]
        done = subprocess.run(command, input=headers, capture_output=True, text=True, check=True)
        macros = {re.split(r"[ (]", line)[1] for line in done.stdout.splitlines()}
        assert len(macros) > 500
        for name in sorted(name for name in macros if not name.startswith("_")):
            with pytest.raises(pb.ArgumentError):
                check_name(name)

    @pytest.mark.parametrize("name", ["../evil", "a/../../evil", ".."])
    def test_it_stays_below_the_folder(self, tmp_path, name):
        (tmp_path / "a").mkdir()
        with pytest.raises(pb.ArgumentError, match="export` "):
            pb.compile(lambda x: x * 2).export(f"{tmp_path}/a/{name}", np.ones(2))
        assert not list(tmp_path.glob("*.[oh]"))

    def test_what_runs_as_it_is(self, tmp_path):
        f = pb.compile(lambda x: x + np.random.normal())
        with (
            pytest.warns(RuntimeWarning, match="falls back to Python"),
            pytest.raises(pb.ArgumentError, match=r"cannot be exported.*It falls back to Python"),
        ):
            f.export(tmp_path / "noise", 1.0)

    def test_complex(self, tmp_path):
        f = pb.compile(lambda x: x * 1)
        with pytest.raises(pb.DtypeError, match=r"cannot be exported: `x` is complex128\[2\]"):
            f.export(tmp_path / "turn", np.ones(2, complex))

    def test_complex_constant(self, tmp_path):
        f = pb.compile(lambda x: (x, 1j))
        with pytest.raises(pb.DtypeError, match=r"cannot be exported: `out\[1\]` is complex128"):
            f.export(tmp_path / "turn", np.ones(2))

    def test_no_result(self, tmp_path):
        for value in (None, "text"):
            f = pb.compile(lambda x, value=value: value)
            with pytest.raises(pb.ArgumentError, match="returns neither a number nor an array"):
                f.export(tmp_path / "nothing", np.ones(2))

    def test_arguments_that_share_memory(self, tmp_path):
        f = pb.compile(lambda x, y: x * y if x is y else x)
        x = np.ones(2)
        with pytest.raises(pb.ArgumentError, match="Some share memory: pass copies"):
            f.export(tmp_path / "product", x, x)

    def test_folder_that_is_not_there(self, tmp_path):
        f = pb.compile(lambda x: x * 1)
        with pytest.raises(FileNotFoundError):
            f.export(tmp_path / "no" / "twice", np.ones(2))


def test_it_calls_once_where_there_is_no_record(tmp_path):
    def f(x):
        return x * 2

    g = pb.compile(f)
    g.export(tmp_path / "double_it", np.ones(2))
    assert g.cache_info().misses == 1
    g.export(Path(tmp_path, "double_again"), np.ones(2))
    assert g.cache_info().misses == 1

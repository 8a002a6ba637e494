"""NumPy's inner loops in machine code: its bits, errors and ways around what is not there."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import special as sp

import pullback as pb
import pullback.scipy.special  # enters the rules
from pullback.compiler.llvm import numpy_loops
from pullback.compiler.program import Program
from pullback.core.graph import Equation
from pullback.primitives.inner_loops import LOOPS
from pullback.testing import staged
from tests.budgets import LONG

RANDOM = np.random.default_rng(0)
SQUARE, TALL = RANDOM.normal(size=(4, 4)), RANDOM.normal(size=(5, 3))
STACK, WIDE = RANDOM.normal(size=(2, 3, 4, 4)), RANDOM.normal(size=(3, 5))
COMPLEX = SQUARE + 1j * SQUARE.T
LINE = np.round(RANDOM.normal(size=200), 1)  # with equal elements
POSITIVE = SQUARE @ SQUARE.T + np.eye(4)
L = np.linalg

# In NumPy 2.0 some have other names: they are called from Python.
named = pytest.mark.skipif(LOOPS["svd"].ufunc is None, reason="loops under other names")

# What is one call of a routine, or several without arithmetic between them: equal to the bit.
CALLS = {
    "eigh": (L.eigh, (SQUARE, STACK, COMPLEX, SQUARE.astype(np.float32), SQUARE.T)),
    "eigh of the upper": (lambda a: L.eigh(a, "U"), (SQUARE, COMPLEX)),
    "eigvalsh": (L.eigvalsh, (SQUARE, STACK)),
    "svd": (L.svd, (SQUARE, STACK, COMPLEX, SQUARE.astype(np.float32), STACK[:, ::-1, 1:])),
    "thin svd": (lambda a: L.svd(a, full_matrices=False), (TALL, WIDE)),
    "full svd": (L.svd, (TALL, WIDE)),
    "svdvals": (lambda a: L.svd(a, compute_uv=False), (TALL, STACK)),
    "qr": (L.qr, (SQUARE, TALL, WIDE, STACK, COMPLEX, TALL[::-1, ::2])),
    "complete qr": (lambda a: L.qr(a, "complete"), (TALL, WIDE)),
    "lstsq": (lambda a: L.lstsq(a, a[:, :2] * 2, rcond=None)[::3], (TALL, WIDE, COMPLEX)),
    "solve": (lambda a: L.solve(a, a[..., :1] * 2), (COMPLEX,)),
    "inv": (L.inv, (COMPLEX,)),
    "det": (L.det, (COMPLEX,)),
    "cholesky": (L.cholesky, (POSITIVE + 0j,)),
    "fft": (np.fft.fft, (LINE, COMPLEX, SQUARE.astype(np.float32))),
    "fft of columns": (lambda a: np.fft.fft(a, axis=0, norm="ortho"), (TALL, COMPLEX.T)),
    "ifftn": (lambda a: np.fft.ifftn(a, norm="forward"), (STACK, COMPLEX)),
    "rfft": (lambda a: np.fft.rfft(a, norm="ortho"), (LINE, WIDE, LINE[::-3])),
    "irfft": (lambda a: np.fft.irfft(np.fft.rfft(a), 7), (LINE, WIDE)),
    "sort": (np.sort, (LINE, SQUARE.T, LINE.astype(np.float32), (LINE * 10).astype(np.int32))),
    "sort of columns": (lambda a: np.sort(a, axis=0), (TALL, STACK, STACK[::-1, ..., ::2])),
    "argsort": (np.argsort, (LINE, SQUARE, (LINE * 10).astype(np.uint8))),
    "stable argsort": (lambda a: np.argsort(a, kind="stable", axis=0), (LINE, TALL)),
    "median": (lambda a: np.median(a), (LINE, LINE[1:])),
    "nextafter": (lambda a: np.nextafter(a, 2), (LINE, STACK[::-1], SQUARE.astype(np.float32))),
    "whole parts": (lambda a: (a * 1e3).astype(int), (LINE, SQUARE, LINE.astype(np.float32))),
    "whole parts of all kinds": (lambda a: (a.astype(np.int64), a.astype(np.int32)), (
        np.array([0.5, -0.5, 2.0**31 - 0.5, -(2.0**31) - 0.5, 2.0**31, 2.0**63, -(2.0**63), 1e300]),
        np.array([np.nan, np.inf, -np.inf, -0.0, 1e18, -1e18]).astype(np.float32),
    )),
    "rounding": (lambda a: (np.round(a), np.round(a, 2), np.round(a, -1)), (LINE * 7, STACK)),
    "largest with a bound": (lambda a: np.max(a, initial=0.1), (LINE, SQUARE)),
    "spacing": (np.spacing, (LINE, np.float64(0.3))),
    "both parts": (np.modf, (LINE * 7, STACK[::-1, ..., ::2], SQUARE.astype(np.float32))),
    "mantissa and exponent": (np.frexp, (LINE * 7, TALL.T, np.float64(0.3))),
    "two integrals": (sp.sici, (LINE, SQUARE.T, COMPLEX, np.float64(0.3))),
    "four functions": (sp.airy, (LINE, SQUARE.astype(np.float32), TALL[::-1, ::2])),
    "of numbers and rows": (lambda a: sp.ellipj(a, 0.3), (LINE, SQUARE)),
    "of rows and columns": (lambda a: sp.ellipj(a, np.minimum(abs(a[:, :1]), 1.0)), (SQUARE, TALL)),
}  # fmt: skip


def leaves(out):
    return list(out) if isinstance(out, tuple) else [out]


@np.errstate(invalid="ignore")
@named
def test_bits_and_no_calls():
    wrong = []
    for name, (f, xs) in CALLS.items():
        for k, x in enumerate(xs):
            graph, _ = staged(lambda x, f=f: tuple(leaves(f(x))), [x])
            for native in (True, False):
                program = Program(graph, 0, native)
                if any(isinstance(step, Equation) for step in program.run.segments):
                    wrong.append(f"{name} {k} calls NumPy from Python: {program.listing}")
                for _ in range(2):  # nothing that is given is changed
                    for out, right in zip(program(x), leaves(f(x)), strict=True):
                        same = out.dtype == right.dtype and out.shape == right.shape
                        if not same or out.tobytes() != np.asarray(right).tobytes():
                            wrong.append(f"{name} {k}: {out} for {right}")
    assert not wrong, "\n".join(wrong[:5])


@pytest.mark.parametrize("steps", [1, 500 if LONG else 100])
def test_errors_are_raised_in_every_call(steps):
    """Also out of loops, and where nobody reads what raises."""
    bad, far = np.full((3, 3), np.nan), np.eye(3) + 0.1 * SQUARE[:3, :3]
    refused = (
        L.eigvalsh,
        lambda a: L.svd(a)[1],
        lambda a: L.inv(a + 0j).real,
        lambda a: L.eigh(a)[1],
    )
    for f in refused:
        for used in (True, False):

            def g(a, f=f, used=used):
                total = np.sum(a)
                for _ in range(steps):
                    found = f(a)
                    total = np.sin(total) + (np.sum(found) if used else 0.0)
                return total

            fast = pb.compile(g, wait=True)
            for a in (far, far * 2, bad, 0 * far, far):
                try:
                    right = g(a)
                except L.LinAlgError:
                    with pytest.raises(L.LinAlgError):
                        fast(a)
                else:
                    np.testing.assert_allclose(fast(a), right, rtol=1e-12, equal_nan=True)


@pytest.mark.share(2)
def test_equal_values_are_done_in_general_position():
    """Gradients of what has equal eigenvalues or is singular go another way, and come out right."""
    wrong = []
    for name, f in {
        "trace of exp": lambda a: np.sum(np.exp(L.eigvalsh(a))),
        "norm": lambda a: np.sum(L.svd(a, compute_uv=False) ** 2),
        "det": L.det,
        "cubes": lambda a: np.sum(L.eigvalsh(a) ** 3),
    }.items():
        for d in (pb.grad, pb.hessian):
            plain, fast = d(f), pb.compile(d(f), wait=True)
            singular = np.diag([1.0, 1.0, 0.0])
            for a in (POSITIVE[:3, :3], np.eye(3), singular, POSITIVE[:3, :3] * 2):
                out, right = fast(a), plain(a)
                if not np.allclose(out, right, rtol=1e-8, atol=1e-8, equal_nan=True):
                    wrong.append(f"{d.__name__} of {name} at {a}: {out} for {right}")
    assert not wrong, "\n".join(wrong)


@named
def test_iterations_are_loops_of_machine_code():
    def spread(a):
        for _ in range(100):
            q, r = L.qr(a)
            a = r @ q
        return np.sum(np.diag(a) ** 2)

    for d in (lambda f: f, pb.grad):
        fast = pb.compile(d(spread), wait=True)
        for _ in range(2):
            np.testing.assert_allclose(fast(POSITIVE), d(spread)(POSITIVE), rtol=1e-9)
        (path,) = [path for entry in fast.entries.values() for path in entry.paths]
        assert path.program.simple


def test_recurrences_are_machine_code():
    """Those of the gradient of `cumprod`, along any axis and in both directions."""
    for axis in (0, 1, 2):
        f = pb.grad(lambda x, axis=axis: np.sum(np.cumprod(x, axis=axis) ** 2))
        for d in (f, pb.grad(lambda x, f=f: np.sum(f(x) ** 2))):
            fast = pb.compile(d, wait=True)
            x = STACK[:, :, ::2]
            for _ in range(2):
                np.testing.assert_allclose(fast(x), d(x), rtol=1e-10)
            (path,) = [path for entry in fast.entries.values() for path in entry.paths]
            assert path.program.simple


def test_parts_without_elements_are_left_out():
    """A determinant by minors, whose first and last columns have nothing before and behind them."""

    def minors(a):
        if len(a) == 1:
            return a[0, 0]
        rest = [np.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1) for j in range(len(a))]
        return sum((-1) ** j * a[0, j] * minors(x) for j, x in enumerate(rest))

    fast = pb.compile(pb.grad(minors), wait=True)
    for _ in range(2):
        np.testing.assert_allclose(fast(SQUARE), pb.grad(L.det)(SQUARE), rtol=1e-9)
    (path,) = [path for entry in fast.entries.values() for path in entry.paths]
    assert path.program.simple


def test_without_them_numpy_is_called(monkeypatch):
    graph, _ = staged(lambda x: np.sort(np.abs(np.fft.fft(x))), [LINE])
    monkeypatch.setattr(numpy_loops, "loop", lambda *of: None)
    monkeypatch.setattr(numpy_loops, "sorting", lambda *of: None)
    program = Program(graph, 0)
    assert not program.simple
    np.testing.assert_array_equal(program(LINE)[0], np.sort(np.abs(np.fft.fft(LINE))))


def test_a_ufunc_that_lies_otherwise_is_not_read():
    assert numpy_loops.agrees(np.add)
    assert not numpy_loops.agrees(type("Odd", (), {"nin": 7, "nout": 0, "nargs": 0})())


SCRIPT = """
import numpy as np, pullback as pb
a = np.array([[2.0, 1.0], [1.0, 3.0]])
def f(a):
    return np.linalg.eigh(a)[1] @ np.sort(a, axis=0)
f = pb.compile(f, wait=True)
for _ in range(3):
    out = f(a)
print(out.tobytes().hex())
"""


def test_later_processes_find_them(tmp_path):
    given = {**os.environ, "PULLBACK_CACHE": str(tmp_path)}
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env=given, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(3)
    }
    assert len(found) == 1

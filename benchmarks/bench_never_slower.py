"""Compiling never costs: compiled programs beside the programs themselves.

The 240 programs of `tests/programs`, calls of single NumPy functions, `array_programs`, which go up
to a million elements, `more_array_programs`, `further_array_programs` and `everyday_programs`: the
value compiled next to plain NumPy, and the gradient compiled next to the eager one. Steady state;
calls take turns; medians.
Listed are those above 1.05 of the program itself plus a microsecond, and those that run in Python.
Run with `python benchmarks/bench_never_slower.py [--all] [--busy] [words]` in the repository;
`--busy` counts seconds of the processor, in one thread: where other work takes the cores, threads
wait for each other.
"""

from __future__ import annotations

import copy
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from array_programs import PROGRAMS as ARRAY_PROGRAMS
from common import interleaved, settled, table
from everyday_programs import PROGRAMS as EVERYDAY_PROGRAMS
from further_array_programs import PROGRAMS as FURTHER_ARRAY_PROGRAMS
from more_array_programs import PROGRAMS as MORE_ARRAY_PROGRAMS

import pullback as pb

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.test_programs import PROGRAMS  # the repository is no package

CLOCK = [time.perf_counter]
BAR, SLACK = 1.05, 1e-6
WARM = 60  # calls in which machine code is tried
BATCH = 2e-4  # seconds that one turn takes at least
ROUNDS = 21

V, W = np.array([0.7, -0.4, 1.3]), np.array([0.2, 0.5, -0.9])
Z = V + 1j * W
A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
LONG = np.random.default_rng(0).standard_normal(100_000)
M5 = np.eye(5) * 3 + np.sin(np.arange(25.0)).reshape(5, 5)


def minors(a: Any) -> Any:
    """The determinant, by the first row."""
    if len(a) == 1:
        return a[0, 0]
    rest = [np.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1) for j in range(len(a))]
    return sum((-1) ** j * a[0, j] * minors(minor) for j, minor in enumerate(rest))


# Calls of single functions: the result as it is, and for gradients the sum of its absolute values.
SINGLE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "angle": (np.angle, (Z,)),
    "abs of complex": (np.abs, (Z,)),
    "complex arithmetic": (lambda z: z * z + 2j * z - z / (1 + z), (Z,)),
    "exp of complex": (lambda t: np.exp(1j * t), (V,)),
    "real and imag": (lambda z: z.real * z.imag, (Z,)),
    "conj and product": (lambda z: np.conj(z) @ z, (Z,)),
    "bincount": (lambda w: np.bincount(np.array([0, 2, 1]), weights=w), (V,)),
    "sort": (np.sort, (V,)),
    "argsort": (lambda x: x[np.argsort(x)], (V,)),
    "sort of 100,000": (np.sort, (LONG,)),
    "sort along rows": (lambda a: np.sort(a, axis=0), (A,)),
    "median": (np.median, (V,)),
    "quantile": (lambda x: np.quantile(x, 0.3), (V,)),
    "unique": (np.unique, (V,)),
    "searchsorted": (lambda x: np.searchsorted(np.array([0.0, 1.0]), x) * x, (V,)),
    "interp": (lambda x: np.interp(x, np.array([-1.0, 0.0, 2.0]), W), (V,)),
    "fft": (np.fft.fft, (V,)),
    "fft and back": (lambda x: np.fft.ifft(np.fft.fft(x)).real, (V,)),
    "rfft": (np.fft.rfft, (V,)),
    "irfft of rfft": (lambda x: np.fft.irfft(np.fft.rfft(x), 3), (V,)),
    "lstsq": (lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0], (A, V)),
    "eigh": (lambda a: np.linalg.eigh(a)[0], (A,)),
    "eigvalsh": (np.linalg.eigvalsh, (A,)),
    "svd": (lambda a: np.linalg.svd(a)[1], (A,)),
    "singular values": (lambda a: np.linalg.svd(a, compute_uv=False), (A,)),
    "qr": (lambda a: np.linalg.qr(a)[1], (A,)),
    "pinv": (np.linalg.pinv, (A,)),
    "inv": (np.linalg.inv, (A,)),
    "solve": (np.linalg.solve, (A, V)),
    "det": (np.linalg.det, (A,)),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], (A,)),
    "cholesky": (np.linalg.cholesky, (A,)),
    "cond": (np.linalg.cond, (A,)),
    "norm": (np.linalg.norm, (V,)),
    "matrix norm": (lambda a: np.linalg.norm(a, 2), (A,)),
    "det by minors, 4": (minors, (M5[:4, :4].copy(),)),
    "det by minors, 5": (minors, (M5,)),
    "columns joined": (lambda a: np.concatenate([a[:, :1], a[:, 2:]], axis=1), (A,)),
    "rows joined": (lambda a: np.concatenate([a[:1], a[2:]]), (A,)),
    "transpose": (lambda a: a.T + 0.0, (A,)),
    "reversed": (lambda x: x[::-1] * 1.0, (V,)),
    "element": (lambda x: x[1], (V,)),
    "argmax": (lambda x: x[np.argmax(x)], (V,)),
    "mask": (lambda x: x[x > 0], (V,)),
    "nonzero": (lambda x: x[np.nonzero(x > 0)], (V,)),
    "cumsum": (np.cumsum, (V,)),
    "cumprod": (np.cumprod, (V,)),
    "diff": (np.diff, (V,)),
    "convolve": (lambda x, y: np.convolve(x, y), (V, W)),
    "polyfit": (lambda x, y: np.polyfit(x, y, 1), (V, W)),
    "polyval": (lambda x: np.polyval(np.array([1.0, 2.0, 3.0]), x), (V,)),
    "roots": (lambda x: np.sort(np.abs(np.roots(x))), (V,)),
    "kron": (np.kron, (A, V)),
    "einsum": (lambda a, b: np.einsum("ij,j->i", a, b), (A, V)),
    "cross": (np.cross, (V, W)),
    "outer": (np.outer, (V, W)),
    "floor_divide": (lambda x, y: x // y + x % y, (V, W)),
    "ldexp": (lambda x: np.ldexp(x, 2), (V,)),
    "erf-like": (lambda x: np.i0(x) + np.sinc(x), (V,)),
    "var": (np.var, (V,)),
    "float32": (lambda x: np.sort(x * 2), (V.astype(np.float32),)),
    "integers": (lambda n: np.sort(n // 2 + n % 3), (np.array([5, 3, 8]),)),
}  # fmt: skip


@dataclass
class Row:
    """One program as it is, and compiled."""

    name: str
    plain: float
    compiled: float
    how: str  # "", or what happens instead of repetitions by machine code

    @property
    def slow(self) -> bool:
        return self.compiled > BAR * self.plain + SLACK


def cases(words: list[str]) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """The functions that are measured, by name, and their arguments."""
    given = {
        **PROGRAMS,
        **{f"numpy.{name}": case for name, case in SINGLE.items()},
        **{f"arrays.{name}": case for name, case in ARRAY_PROGRAMS.items()},
        **{f"more.{name}": case for name, case in MORE_ARRAY_PROGRAMS.items()},
        **{f"further.{name}": case for name, case in FURTHER_ARRAY_PROGRAMS.items()},
        **{f"everyday.{name}": case for name, case in EVERYDAY_PROGRAMS.items()},
    }
    for name, (fun, args) in given.items():
        if words and not any(word in name for word in words):
            continue
        args = copy.deepcopy(args)
        yield f"{name}, value", fun, args
        kinds = [np.asarray(x).dtype.kind for x in args]
        if all(kind in "fc" for kind in kinds):
            n = tuple(range(len(args)))
            total = lambda *args, fun=fun: np.sum(np.abs(fun(*args)))
            yield f"{name}, gradient", pb.grad(total, n), args


def repeated(call: Callable[..., Any], args: Any, n: int) -> Callable[[], object]:
    def run() -> None:
        for _ in range(n):
            call(*args)

    return run


def steady(fun: Callable[..., Any], args: Any) -> Any:
    """The function compiled, its best machine code made, and tried."""
    fast = pb.compile(fun)
    settled(fast, *args)
    for _ in range(WARM):
        fast(*args)
    return fast


def seconds(fun: Any, fast: Any, args: Any, rounds: int) -> tuple[float, float]:
    start = time.perf_counter()
    fun(*args)
    fast(*args)
    n = max(1, int(2 * BATCH / (time.perf_counter() - start)))
    calls = {"plain": repeated(fun, args, n), "compiled": repeated(fast, args, n)}
    times = interleaved(calls, rounds, CLOCK[0])
    return times["plain"] / n, times["compiled"] / n


def measured(name: str, fun: Callable[..., Any], args: Any) -> Row | None:
    """One row; None for what the function itself refuses. What seems slow is measured again."""
    try:
        fun(*args)
    except Exception:
        return None
    fast = steady(fun, args)
    slow = all(entry.slow for entry in fast.entries.values())
    how = "falls back" if fast.refusal is not None else "runs as it is" if slow else ""
    row = Row(name, *seconds(fun, fast, args, ROUNDS), how)
    if row.slow:
        row.plain, row.compiled = seconds(fun, fast, args, 4 * ROUNDS)
    return row


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def report(rows: list[Row], everything: bool) -> None:
    lines = [["", "plain, us", "compiled, us", "ratio", ""]]
    for row in sorted(rows, key=lambda row: -row.compiled / row.plain):
        if everything or row.slow or row.how:
            note = f"{row.how} {'slower' if row.slow else ''}".strip()
            times = [f"{1e6 * t:.2f}" for t in (row.plain, row.compiled)]
            lines.append([row.name, *times, f"{row.compiled / row.plain:.2f}", note])
    print(table(lines))
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(f"{kind_of(row)}, {row.name.rpartition(' ')[2]}", []).append(row)
    for title, group in groups.items():
        slow, back, plain = [
            sum(found)
            for found in zip(
                *[(r.slow, r.how == "falls back", r.how == "runs as it is") for r in group],
                strict=True,
            )
        ]
        ratio = mean([r.compiled / r.plain for r in group])
        print(
            f"{title}: {len(group)}, {slow} slower, {back} fall back, {plain} run as they are"
            f" since that is faster; geometric mean {ratio:.3f}"
        )


def kind_of(row: Row) -> str:
    kinds = {
        "numpy": "single functions",
        "arrays": "array programs",
        "more": "more array programs",
        "further": "further array programs",
        "everyday": "everyday programs",
    }
    return kinds.get(row.name.partition(".")[0], "programs")


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")  # some fall back to Python
    if "--busy" in arguments:  # before anything is compiled
        CLOCK[0], os.environ["PULLBACK_THREADS"] = time.process_time, "1"
    words = [word for word in arguments if not word.startswith("--")]
    rows = [row for case in cases(words) if (row := measured(*case)) is not None]
    report(rows, "--all" in arguments)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Compiled calls of SciPy's functions beside the calls themselves, on small arguments.

The rows are generated: each sample of `tests/samples` that concerns SciPy, or, unless `--every` is
given, the first two of each function. Compiled with `wait=True`, where nothing is tried by the
clock and so no call that seems slow is left to Python: what machine code itself costs. Calls take
turns; minima of the processor's time. Listed are those above 1.05 of the call itself plus a
microsecond, by function, and how a compiled program that may try does in each of them.

    python benchmarks/bench_scipy_never_slower.py                every function
    python benchmarks/bench_scipy_never_slower.py linalg sqrtm   rows with one of these words
    python benchmarks/bench_scipy_never_slower.py --all --every  all rows in the table
    python benchmarks/bench_scipy_never_slower.py --gradients    of gradients
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bench_never_slower import BAR, SLACK, mean, steady
from common import table

import pullback as pb

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.samples import collect, served  # the repository is no package

FAMILIES = {"integration", "optimization", "special_functions"}
OF_EACH = 2
BATCH, ROUNDS, LONGEST = 1e-4, 15, 0.05  # seconds of a turn, turns, seconds of what is left out


def programs(words: list[str], every: bool) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """Name, function and arguments of each row."""
    seen: Counter[str] = Counter()
    for family, sample in collect("SAMPLES"):
        if not (family.startswith("scipy") or family in FAMILIES):
            continue
        name = f"{family.removeprefix('scipy_')}: {sample}"[:80]
        function = f"{family}.{str(sample).partition('(')[0]}"
        seen[function] += 1
        if (seen[function] > OF_EACH and not every) or (
            words and not any(word in name for word in words)
        ):
            continue
        yield name, as_written(sample), sample.args


def as_written(sample: Any) -> Callable[..., Any]:
    """The call as a user writes it."""
    fun, kwargs = sample.fun, sample.kwargs
    if not isinstance(fun, served):
        return lambda *args: fun(*args, **kwargs)
    original, program = fun.serves, fun.program
    if program is None:
        return lambda *args: original(*args, **kwargs)
    return lambda *args: program(original, *args, **kwargs)


def least(calls: list[Callable[..., Any]], args: Any) -> list[float]:
    """Seconds of the processor that each takes, at the least."""
    start = time.process_time()
    for call in calls:
        call(*args)
    n = max(1, int(len(calls) * BATCH / max(1e-7, time.process_time() - start)))
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, found in zip(calls, times, strict=True):
            start = time.process_time()
            for _ in range(n):
                call(*args)
            found.append((time.process_time() - start) / n)
    return [min(found) for found in times]


def is_slow(plain: float, compiled: float) -> bool:
    return compiled > BAR * plain + SLACK


def measured(f: Callable[..., Any], args: Any) -> tuple[float, float, str] | None:
    """Seconds of the call and of the compiled one; None of what is refused, or takes long."""
    start = time.process_time()
    try:
        f(*args)
    except Exception:
        return None
    if time.process_time() - start > LONGEST:
        return None
    fast = pb.compile(f, wait=True)
    for _ in range(8):
        fast(*args)
    if fast.refusal is not None:
        how = "falls back"
    else:
        how = "as it is" if all(entry.slow for entry in fast.entries.values()) else ""
    plain, compiled = least([f, fast], args)
    if is_slow(plain, compiled):
        plain, compiled = least([f, fast], args)
    if is_slow(plain, compiled):
        tries = steady(f, args)
        before, after = least([f, tries], args)
        how += f" {after / before:.2f} if tried" + (" SLOW" if is_slow(before, after) else "")
    return plain, compiled, how


def gradient(f: Callable[..., Any], args: Any) -> Callable[..., Any] | None:
    """The gradient of the sum of all that f gives, where all arguments are floats."""
    if any(np.asarray(x).dtype.kind not in "fc" for x in args):
        return None

    def total(*args: Any) -> Any:
        out = f(*args)
        parts = out if isinstance(out, tuple | list) else [out]
        return sum([np.sum(np.abs(x)) for x in parts])

    return pb.grad(total, tuple(range(len(args))))


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")  # some fall back to Python, some numbers are odd
    np.seterr(all="ignore")
    os.environ["PULLBACK_THREADS"] = "1"
    words = [word for word in arguments if not word.startswith("--")]
    lines, ratios, slow, left = [["", "plain, us", "compiled, us", "ratio", ""]], [], 0, Counter()
    for name, f, args in programs(words, "--every" in arguments):
        if "--gradients" in arguments:
            f = gradient(f, args)
        try:
            found = None if f is None else measured(f, args)
        except Exception as error:
            left[f"{type(error).__name__}"] += 1
            print(name, type(error).__name__, str(error)[:200], flush=True)
            continue
        if found is None:
            left["refused or long"] += 1
            continue
        plain, compiled, how = found
        ratios.append(compiled / plain)
        slow += is_slow(plain, compiled)
        if is_slow(plain, compiled) or "--all" in arguments:
            lines.append(
                [name, f"{1e6 * plain:.1f}", f"{1e6 * compiled:.1f}", f"{ratios[-1]:.2f}", how]
            )
            print(lines[-1], flush=True)
    print(table([lines[0], *sorted(lines[1:], key=lambda line: -float(line[3]))]))
    print(f"{len(ratios)} rows, geometric mean {mean(ratios):.3f}, {slow} slow; left out {left}")


if __name__ == "__main__":
    main(sys.argv[1:])

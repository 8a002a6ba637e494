"""Write the table of `docs/clients.md`: gradients of public packages, and how fast they are.

Run by `make test-clients`, where the packages are installed. A gradient counts as compiled if a
steady call runs no Python function outside of pullback; for the others `why` says the reason.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import pullback as pb
from pullback.core.namespaces import apart
from tests.clients import (  # noqa: F401  # they add cases
    eighth_cases,
    eighth_more_cases,
    eleventh_cases,
    eleventh_more_cases,
    fifteenth_cases,
    fifteenth_more_cases,
    fifth_cases,
    fourteenth_cases,
    fourteenth_more_cases,
    fourth_cases,
    more_cases,
    ninth_cases,
    ninth_more_cases,
    seventeenth_cases,
    seventeenth_more_cases,
    seventh_cases,
    sixteenth_cases,
    sixth_cases,
    third_cases,
    thirteenth_cases,
    twelfth_cases,
)
from tests.clients.asked import Asked
from tests.clients.cases import CASES, REFUSED, WARNED

PAGE = Path(__file__).parent.parent / "docs" / "clients.md"
ROUNDS = 15
SETTLED = 1.0  # seconds of calls, and more until machine code and the choice of it are made
LONGEST = 60.0  # seconds, after which it is what it is


def frames_of(call: Any, x: Any) -> set[str]:
    """The Python functions of the program and of packages that a call runs."""
    seen: set[str] = set()
    here = sys._getframe().f_code

    def profile(frame: Any, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__"))
        ours = frame.f_code is here or module.startswith("namedtuple_")
        if event == "call" and not (ours or apart(frame.f_globals)):
            seen.add(f"{module}.{frame.f_code.co_qualname}")

    sys.setprofile(profile)
    try:
        call(x)
    finally:
        sys.setprofile(None)
    return seen


def seconds(calls: list[Any], x: Any) -> list[float]:
    """The best time of each call, measured in turn: other work on the machine only adds."""
    times: list[list[float]] = [[] for _ in calls]
    counts = []
    for call in calls:
        begin = time.perf_counter()
        call(x)
        counts.append(max(1, min(200, int(2e-3 / max(time.perf_counter() - begin, 1e-7)))))
    for _ in range(ROUNDS):
        for call, count, found in zip(calls, counts, times, strict=True):
            begin = time.perf_counter()
            for _ in range(count):
                call(x)
            found.append((time.perf_counter() - begin) / count)
    return [min(found) for found in times]


def is_settled(compiled: Any) -> bool:
    """Whether later calls go the way of this one: each path has been tried, or there is none."""
    paths = [path for entry in compiled.entries.values() for path in entry.paths]
    tried = [path.trial is not None and path.trial.is_over for path in paths]
    return compiled.refusal is not None or (bool(paths) and all(tried))


def row(case: Any) -> tuple[list[str], bool, str]:
    """Package, function and times; whether it is compiled, and why not."""
    package, fun, (x,) = case
    given = x if np.ndim(x) else float(x)
    fun(given)
    gradient = pb.grad(fun)
    compiled = pb.compile(gradient)
    begin, calls = time.perf_counter(), 0
    while calls < 12 or not is_settled(compiled) or time.perf_counter() - begin < SETTLED:
        compiled(given)
        calls += 1
        if time.perf_counter() - begin > LONGEST:
            break
    before = compiled.cache_info().hits
    outside = frames_of(compiled, given)
    repeated = compiled.cache_info().hits > before
    times = seconds([fun, gradient, compiled], given)
    reason = "" if repeated and not outside else compiled.why(given)
    shown = [f"{1e6 * t:.1f}" if t < 1e-4 else f"{1e6 * t:.0f}" for t in times]
    whole = repeated and not outside
    return [package, fun.__name__, *shown, "yes" if whole else ""], whole, str(reason)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument(
        "only", nargs="*", help="names of functions: the other rows stay as they are"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, count, slower = [], 0, []
    asked = Asked("rows")
    for case in CASES:
        name = case[1].__name__
        if name in REFUSED | WARNED or (options.only and name not in options.only):
            continue
        key = f"{case[0]}.{name}"
        if key not in asked:
            try:
                asked.note(key, row(case))
            except Exception as error:  # what fails is for the tests to say
                print(name, f"is left out: {type(error).__name__}: {error}", sep=" | ", flush=True)
                continue
        cells, compiled, reason = asked[key]
        rows.append(cells)
        count += compiled
        print(*cells, reason, sep=" | ", flush=True)
        if float(cells[4]) > 1.1 * float(cells[3]):
            slower.append(name)
    print(f"{count} of {len(rows)} compiled; slower than plain: {slower or 'none'}")
    if options.write:
        write(rows)


LISTS = {
    "third": [third_cases],
    "fourth, and pandas": [fourth_cases],
    "sixth": [sixth_cases],
    "seventh": [seventh_cases],
    "eighth": [eighth_cases, eighth_more_cases],
    "ninth": [ninth_cases, ninth_more_cases],
    "eleventh": [eleventh_cases, eleventh_more_cases],
}


def write(rows: list[list[str]]) -> None:
    """The page with these rows, those of other cases as it has them, and what they count up to."""
    text = PAGE.read_text("utf-8")
    head = re.search(r"\| package \| what .*\n\|---.*\n", text)
    assert head is not None
    table = text[head.end() : text.index("\n\n", head.end())]
    known = [line[2:-2].split(" | ") for line in table.split("\n")]
    found = {(cells[0], cells[1]): cells for cells in known}
    found |= {(cells[0], cells[1]): cells for cells in rows}
    right = [case for case in CASES if case[1].__name__ not in REFUSED | WARNED]
    keys = [(package, fun.__name__) for package, fun, _ in right]
    shown = [found[key] for key in keys if key in found]
    table = "\n".join([f"| {' | '.join(cells)} |" for cells in shown])
    text = text[: head.end()] + table + text[text.index("\n\n", head.end()) :]
    whole = {(cells[0], cells[1]) for cells in shown if cells[-1] == "yes"}
    for name, modules in LISTS.items():
        homes = {module.__name__ for module in modules}
        mine = [(p, fun.__name__) for p, fun, _ in right if fun.__module__ in homes]
        counts = f"{len(mine)} | {len(whole.intersection(mine))} |"
        text = re.sub(rf"(\| {name} \|(?:[^|]*\|){{4}}) .*", rf"\1 {counts}", text)
    sentence = f"Of {len(shown)} gradients {len(whole)} are compiled whole"
    PAGE.write_text(re.sub(r"Of \d+ gradients \d+ are compiled whole", sentence, text), "utf-8")


if __name__ == "__main__":
    main()

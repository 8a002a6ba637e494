"""Write the table of `docs/clients.md`: gradients of public packages, and how fast they are.

Run by `make test-clients`, where the packages are installed, from what its tests have noted; what
they have not been asked is asked now.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from tests.clients.answers import ask
from tests.clients.asked import Asked
from tests.clients.cases import CASES, REFUSED, WARNED
from tests.clients.lists import LISTS

PAGE = Path(__file__).parent.parent / "docs" / "clients.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument(
        "only", nargs="*", help="names of functions: the other rows stay as they are"
    )
    options = parser.parse_args()
    rows, count, slower = [], 0, []
    asked = Asked("cases")
    for package, fun, _ in CASES:
        name = fun.__name__
        if name in REFUSED | WARNED or (options.only and name not in options.only):
            continue
        key = f"{package}.{name}"
        if key not in asked:
            failure, row = ask(key)
            if failure:  # what fails is for the tests to say
                print(key, "is left out", failure.strip().splitlines()[-1], sep=" | ", flush=True)
                continue
            asked.note(key, row)
        cells, compiled, reason = asked[key]
        rows.append(cells)
        count += compiled
        print(*cells, reason, sep=" | ", flush=True)
        if float(cells[4]) > 1.1 * float(cells[3]):
            slower.append(name)
    print(f"{count} of {len(rows)} compiled; slower than plain: {slower or 'none'}")
    if options.write:
        write(rows)


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

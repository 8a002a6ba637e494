"""How much the tests ask: `make test-long` everything, `make test` a share of it, in turns.

Three things are asked in shares: the samples of a law (`in_turn`, through `for_all_samples`), the
cases of a test that is marked `share(n)`, of which an ordinary run asks one in n, and the cases
that one test goes through (`asked`).
Which share it is depends on a number, the turn, which the commit decides: the same commit always
asks the same, and later commits ask the rest. A run that fails names its turn, and
`PULLBACK_TURN=number` repeats it. Where tests are chosen by name (`-k`, `::`) all is asked.
"""

import os
import subprocess
import zlib
from collections import Counter
from pathlib import Path

LONG = os.environ.get("PULLBACK_LONG") == "1"


def turn_of_commit():
    """A number made from the hash of the commit; 0 where there is no repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return "0"
    return str(int(done.stdout[:8], 16)) if done.returncode == 0 else "0"


if "PULLBACK_TURN" not in os.environ:  # processes that the tests start inherit it
    os.environ["PULLBACK_TURN"] = turn_of_commit()
TURN = int(os.environ["PULLBACK_TURN"])


BY_NAME = [False]  # whether the tests of this run were chosen by name


def in_turn_of(number, shares):
    return LONG or BY_NAME[0] or (number + TURN) % shares == 0


def in_turn(case, shares):
    """Whether this run asks a case, which is asked in one turn of `shares`."""
    return in_turn_of(number_of(case), shares)


def asked(cases, shares):
    """The cases of a list or dict that this run asks, one in `shares`."""
    kept = [case for i, case in enumerate(cases) if in_turn_of(i, shares)]
    return {name: cases[name] for name in kept} if isinstance(cases, dict) else kept


def number_of(case):
    return zlib.crc32(str(case).encode())


def shared_out(items):
    """The items of pytest that this run asks, and those whose turn it isn't."""
    chosen, left, seen = [], [], Counter()
    for item in items:
        mark, test = item.get_closest_marker("share"), item.nodeid.partition("[")[0]
        seen[test] += 1
        whole = mark is None or in_turn_of(number_of(test) + seen[test], mark.args[0])
        (chosen if whole else left).append(item)
    return chosen, left

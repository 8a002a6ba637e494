"""How much the tests ask: `make test-long` everything, `make test` a share of it, in turns.

Three things are asked in shares: the samples of a law (`in_turn`, through `for_all_samples`), the
cases of a test that is marked `share(n)`, of which an ordinary run asks one in n, and the cases
that one test goes through (`asked`), at least one. A marked test of fewer than n cases, or without
any, is left out in some turns: of two cases with `share(6)` one is asked in one turn of three.
The share is drawn at random from a number, the turn, which the commit decides: the same commit
always asks the same, and later commits ask the rest. A run that fails names its turn, and
`PULLBACK_TURN=number` repeats it. Where tests are chosen by name (`-k`, `::`) all is asked.
"""

import os
import random
import subprocess
import zlib
from collections import defaultdict
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


def in_turn(case, shares):
    """Whether this run asks a case, which is asked in one turn of `shares`, drawn by its name."""
    drawn = zlib.crc32(f"{TURN} {case}".encode()) % shares
    return LONG or BY_NAME[0] or drawn == 0


def places_in_turn(n, shares, name="", least=0):
    """The numbers below n that this run asks: over the turns, one in `shares`."""
    if LONG or BY_NAME[0]:
        return range(n)
    drawn = random.Random(f"{TURN} {name}")
    count = max(least, int(n / shares + drawn.random()))
    return sorted(drawn.sample(range(n), count))


def asked(cases, shares, name=""):
    """The cases of a list or dict that this run asks, one in `shares`, drawn by a name."""
    names = list(cases)
    least = -(-len(names) // shares)
    names = [names[i] for i in places_in_turn(len(names), shares, name, least)]
    return {name: cases[name] for name in names} if isinstance(cases, dict) else names


def shared_out(items):
    """The items of pytest that this run asks, and those whose turn it isn't."""
    tests, left = defaultdict(list), set()
    for item in items:
        if mark := item.get_closest_marker("share"):
            tests[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    for (test, shares), cases in tests.items():
        left |= {*cases} - {cases[i] for i in places_in_turn(len(cases), shares, test)}
    return [x for x in items if x not in left], [x for x in items if x in left]

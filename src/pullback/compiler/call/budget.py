"""Budget: whether recording pays for one compiled function, over all its arguments.

A recording costs as much as hundreds of calls. It pays if it is replayed often enough: each replay
saves about what the function takes in Python. If nothing is replayed, the function falls back to
Python. Times are CPU seconds of the recording thread, so other threads and processes do not count.
With `wait=True` no clock is read: only the number of recordings in a row without a replay counts.
"""

from __future__ import annotations

from typing import Any

FEW = 64  # recordings that are made whatever they cost
VAIN = 96  # recordings in a row, none of which is replayed
SCATTERED = 192  # kinds of arguments in a row that are forgotten, while no other comes again
SECONDS = 1.0  # that recordings may cost beyond what replays save
# The same for recordings in a row none of which is replayed, from a few on: seconds, and multiples
# of the time that the function itself takes.
ROW, ROW_SECONDS, ROW_RATIO = 4, 2.0, 4.0


CLOCK = [True]  # whether the clock may decide anything; off where something else is tested


def is_timed(compiled: Any) -> bool:
    """Whether the clock may decide what a call does."""
    return not compiled.wait and CLOCK[0]


class Budget:
    """What recordings cost, and what the function itself took meanwhile."""

    def __init__(self, timed: bool = True) -> None:
        self.timed = timed  # whether the clock counts
        self.spent = self.plain = 0.0
        self.row_spent = self.row_plain = 0.0
        self.recordings = self.vain = self.hits = 0
        self.forgotten = 0

    def account(self, plain: float, spent: float) -> None:
        """Note a recording: the seconds that the function took, and those beyond that."""
        self.plain += plain
        self.spent += spent
        self.row_plain += plain
        self.row_spent += spent
        self.recordings += 1

    def more(self, spent: float) -> None:
        """Note that the last recording took so many seconds more."""
        self.spent += spent
        self.row_spent += spent

    def forget(self, worth: bool) -> None:
        """Note that a kind of arguments is forgotten; whether it or a later one may pay."""
        self.forgotten = 0 if worth else self.forgotten + 1

    def scattered(self) -> str | None:
        """Why nothing will be recorded: nearly every call is of a new kind; None while it may."""
        if self.forgotten <= SCATTERED:
            return None
        return f"{self.forgotten} kinds of arguments came, and none often enough to be recorded"

    def why(self, hits: int) -> str | None:
        """Why recordings do not pay, after so many replays; None while they may."""
        if hits > self.hits:
            self.vain, self.row_spent, self.row_plain = 0, 0.0, 0.0
        else:
            self.vain += 1
        self.hits = hits
        saved = hits * self.plain / self.recordings
        poor = self.timed and self.recordings > FEW and self.spent > SECONDS + saved
        if self.timed and self.vain > ROW:
            poor |= self.row_spent > ROW_SECONDS + ROW_RATIO * self.row_plain
        if not poor and self.vain <= VAIN:
            return None
        return (
            f"{self.recordings} recordings took {self.spent:.2g} s, and {hits} replays saved"
            f" {saved:.2g} s"
        )

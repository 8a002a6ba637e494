"""Checks of random programs, seed by seed."""

from collections import Counter

__all__ = ["check_seeds"]


def check_seeds(seeds, make, check, shrink):
    """Check the program of each seed; of one that fails, the smallest part that does is told.

    check(program, skips) notes in `skips` what it leaves out and why, which is to be a third of the
    programs at most for each reason.
    """

    def fails(program):
        try:
            check(program, Counter())
        except Exception:
            return True
        return False

    skips = Counter()
    for seed in seeds:
        program = make(seed)
        try:
            check(program, skips)
        except Exception as error:
            error.add_note(f"The smallest part that fails:\n\n{shrink(program, fails).text}")
            raise
    for reason, n in skips.items():
        assert n <= len(seeds) // 3, f"{n} of {len(seeds)} programs were not checked: {reason}"

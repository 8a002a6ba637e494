"""The arena: memory for what is computed on the way, planned before the program runs."""

from __future__ import annotations

__all__ = ["Arena"]


class Arena:
    """Places in one block of memory, given out and taken back in order of the plan."""

    def __init__(self) -> None:
        self.size = 0
        self.spare: dict[int, list[int]] = {}

    def rounded(self, n: int) -> int:
        """Numbers lie close together; arrays on lines of the cache, in few different sizes."""
        return 8 if n <= 8 else -(-n // 64) * 64

    def take(self, n: int) -> int:
        n = self.rounded(n)
        spare = self.spare.get(n)
        if spare:
            return spare.pop()
        if n >= 64:
            self.size = -(-self.size // 64) * 64
        self.size += n
        return self.size - n

    def free(self, offset: int, n: int) -> None:
        self.spare.setdefault(self.rounded(n), []).append(offset)

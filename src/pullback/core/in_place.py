"""Objects that stand for those of other libraries, and show the class of these."""

from __future__ import annotations

from typing import Any

SHOWN: set[type] = set()  # types of which `type(x)` and `isinstance` in traced code ask x.__class__


class InPlaceOf:
    """What stands for an object of another library's that holds what moves.

    kind: the class of that object
    """

    kind: Any

    def __init_subclass__(cls) -> None:
        SHOWN.add(cls)

    @property  # type: ignore[misc]  # for `isinstance`
    def __class__(self) -> Any:
        return self.kind

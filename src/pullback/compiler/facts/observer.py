"""Observe a call: it runs in Python, and only the code that runs is noted."""

from __future__ import annotations

from typing import Any

from ...core.reach.bytecode import original
from ...core.reach.namespaces import apart
from .call_monitor import Watch
from .classes import is_tuple
from .frames import collects


class Observer(Watch):
    """A context that only notes the code that runs."""

    records = False

    def __init__(self) -> None:
        super().__init__()
        self.met: dict[tuple[int, int], Any] = {}  # code and its globals, by the ids of both

    def seen(self, frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            self.begins(frame)

    def begins(self, frame: Any) -> None:
        if (id(frame.f_code), id(frame.f_globals)) in self.met:
            return
        code, scope = original(frame.f_code), frame.f_globals
        if not apart(scope) and not is_tuple(scope):
            if collects(frame) or self.imported(frame):
                return  # another time it may be called by other code
            self.codes[id(code), id(scope)] = code, scope
        self.met[id(frame.f_code), id(scope)] = frame.f_code, scope

    def calls(self, callee: Any, args: tuple[Any, ...], frame: Any) -> None:
        pass

    def forbid(self, why: str) -> None:
        pass

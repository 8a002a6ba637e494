"""What called the code that runs: questions to frames, each answered by the frames below it."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Container
from types import CodeType
from typing import Any

from ...core.mapped_text import showing
from ...core.reach.namespaces import package

# What Python runs for an `import` of what has not been imported yet.
IMPORTER: Any = importlib._bootstrap
IMPORT: CodeType = IMPORTER._find_and_load.__code__
# What asks the finders, also where nothing is imported (`importlib.util.find_spec`).
FINDING: CodeType = IMPORTER._find_spec.__code__
IMPORTING = frozenset({IMPORT, FINDING})  # beneath these, code of finders and of new modules runs


def runs_beneath(frame: Any, codes: Container[Any], end: Any = None) -> bool:
    """Whether a frame, or one that has called it up to `end`, runs one of these pieces of code."""
    while frame is not None and frame is not end:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


def collects(frame: Any) -> bool:
    """Whether a frame runs beneath one of `gc.callbacks`, which Python calls by itself."""
    codes = {getattr(call, "__code__", None) for call in gc.callbacks}
    codes |= {getattr(type(call).__call__, "__code__", None) for call in gc.callbacks}
    codes.discard(None)
    return bool(codes) and runs_beneath(frame, codes)


def importer(frame: Any) -> Any:
    """The frame whose code an import is in; Python's own importing code is above it."""
    while frame.f_globals is vars(IMPORTER) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def outside(frame: Any) -> Any:
    """The frame, or the next one below it that is not of this package."""
    while frame is not None and package(frame.f_globals) == "pullback":
        frame = frame.f_back
    return frame


def through_followed(frame: Any) -> Any:
    """What calls: of a function that is followed for its text, the code that called it."""
    return outside(frame) if frame is not None and frame.f_code is showing.__code__ else frame

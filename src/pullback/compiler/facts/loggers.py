"""Loggers that log nothing at a level: a call of theirs has no effect as long as that stays so."""

from __future__ import annotations

import logging
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from .answers import Again

if TYPE_CHECKING:
    from .call_monitor import Watch

LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING,
    "error": logging.ERROR, "exception": logging.ERROR, "critical": logging.CRITICAL,
}  # fmt: skip
LOGGERS = (logging.Logger, logging.RootLogger)
OF_ROOT = {vars(logging)[name].__code__ for name in LEVELS}


class Enabled(NamedTuple):
    """Returns whether a logger logs anything at a level."""

    logger: logging.Logger
    level: int

    def __call__(self) -> bool:
        return self.logger.isEnabledFor(self.level)


def is_root_silent(level: int) -> bool:
    """Whether `logging.info` and the like do nothing; without handlers, they would add one."""
    return bool(logging.root.handlers) and not logging.root.isEnabledFor(level)


def is_quiet(watch: Watch, frame: Any) -> bool:
    """Whether code of `logging` logs nothing; the watch notes what each replay asks again.

    Looking up an existing logger logs nothing either.
    """
    if frame.f_code is logging.getLogger.__code__:
        return is_found(watch, frame.f_locals.get("name"))
    question = silence_of(frame)
    if question is not None:
        watch.answers.add(question)
    return question is not None


def is_found(watch: Watch, name: Any) -> bool:
    """Whether there is a logger of this name, which the watch notes."""
    there = logging.root.manager.loggerDict.get(name) if type(name) is str else None
    logger = logging.root if name is None else there
    if not isinstance(logger, logging.Logger) or type(logger) not in LOGGERS:
        return False
    watch.loggers.append(logger)
    return True


def silence_of(frame: Any) -> Again | Enabled | None:
    """What has to answer as now for code of `logging` to log nothing; None if it logs, or may."""
    given, code = frame.f_locals, frame.f_code
    if code in OF_ROOT and is_root_silent(LEVELS[code.co_name]):
        return Again(is_root_silent, LEVELS[code.co_name])
    logger = given.get("self")
    if type(logger) not in LOGGERS:
        return None
    if code is logging.Logger.setLevel.__code__:
        level = given["level"]
        same = logging.getLevelNamesMapping().get(level, level) == logger.level
        return Again(attrgetter("level"), logger) if same else None
    asks = code is logging.Logger.isEnabledFor.__code__
    level = given.get("level") if asks else LEVELS.get(code.co_name)
    if type(level) is not int:
        return None
    enabled = Enabled(logger, level)
    return enabled if asks or not enabled() else None

"""tiny.py as it stands at the end of a chapter."""

from pathlib import Path
from types import ModuleType

TINY = Path(__file__).with_name("tiny.py")


def upto(chapter):
    """A module with the sections of tiny.py up to this chapter's, and nothing of later ones."""
    text = TINY.read_text(encoding="utf-8").partition(f"\n# {chapter + 1}. ")[0]
    module = ModuleType("tiny")
    exec(compile(text, str(TINY), "exec"), vars(module))
    return module

"""Changelog fragments follow the rule of their README."""

import re
from pathlib import Path

from tests.together import together

FRAGMENTS = sorted((Path(__file__).resolve().parent.parent / "changelog.d").glob("*.md"))
NAME = re.compile(r"\d+(-[a-z-]+)?\.(added|changed|fixed|removed|security)\.md|README\.md")


@together([(path,) for path in FRAGMENTS], names=[path.name for path in FRAGMENTS])
def test_the_name_of_a_fragment(path):
    """A number, a subject and a kind; the text is a sentence."""
    assert NAME.fullmatch(path.name)
    assert path.read_text("utf-8").strip().endswith((".", "`", ":", "`)."))

"""Changelog fragments follow the rule of their README."""

import re
from pathlib import Path

import pytest

FRAGMENTS = sorted((Path(__file__).resolve().parent.parent / "changelog.d").glob("*.md"))
NAME = re.compile(r"\d+(-[a-z-]+)?\.(added|changed|fixed|removed|security)\.md|README\.md")


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_the_name_of_a_fragment(path):
    """A number, a subject and a kind; the text is a sentence."""
    assert NAME.fullmatch(path.name)
    assert path.read_text("utf-8").strip().endswith((".", "`", ":", "`)."))

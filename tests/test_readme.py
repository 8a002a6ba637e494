"""The examples in README.md run and print what they say."""

import doctest
import re
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def test_readme():
    """The Python blocks, taken as one session, are a passing doctest."""
    blocks = re.findall(
        r"^```python\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, README.name, None, 0)
    results = doctest.DocTestRunner().run(session)
    assert results.attempted > 5
    assert results.failed == 0

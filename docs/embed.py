"""The page that an explanation saves, as a part of a page of this site."""

from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory


class Embedded:
    """Shown in a notebook as a frame with the saved page in it."""

    def __init__(self, explanation, height="42rem"):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            explanation.save(path)
            self.page = path.read_text(encoding="utf-8")
        self.title, self.height = explanation.title, height

    def _repr_html_(self):
        return (
            f'<iframe title="{escape(str(self.title))}" srcdoc="{escape(self.page)}"'
            f' style="width: 100%; height: {self.height}; border: 1px solid #8884"></iframe>'
        )

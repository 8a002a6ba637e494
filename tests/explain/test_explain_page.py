"""The page of `pullback.explain` is one text that asks for nothing and stays small.

What it does in a browser is tested in `test_explain_steps`.
"""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import pullback as pb
from pullback.explain.page import page

SVG = "http://www.w3.org/2000/svg"


def tape(x1, x2):
    """Two inputs, one of them used twice, and a step that has no derivative."""
    step = np.floor(x2)
    return np.sin(x1) * (x1 + x2) + 0.0 * step


def layers(w, x):
    """A small network: arrays, a shared node, a power."""
    hidden = np.tanh(x @ w["first"] + w["bias"])
    return np.mean((hidden @ w["second"] - hidden.sum()) ** 2)


def broken(x):
    """NaN from a negative number, infinity from zero, and a part that is lost."""
    with np.errstate(all="ignore"):
        logs = np.log(x)
        spread = np.abs(logs - 1.0)
        return (logs * x).sum() + np.sqrt(spread).size


def newton(a):
    """A loop of many equal turns."""
    x = a
    for _ in range(200):
        x = (x + a / x) / 2
    return x


def long(x):
    """Some two hundred nodes, all of them large and different."""
    for i in range(64):
        x = np.sin(x + 0.01 * i) * (1.0 + 0.001 * i)
    return (x * x).sum()


TWO = (np.pi / 3, 1.5)


def weights(rng):
    return {
        "first": rng.normal(size=(3, 4)),
        "bias": rng.normal(size=4),
        "second": rng.normal(size=(4, 2)),
    }


def embedded(text):
    """Return the data that stand in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found[1])


class Tags(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        self.elements.append((f"/{tag}", {}))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] in ("script", "style"):
            self.texts.append((self.elements[-1][0], data))


class TestText:
    """What holds for the text of the page, without a browser."""

    def test_one_file(self):
        """No address but the name of SVG, and no attribute that loads anything."""
        text = page(pb.explain(tape)(*TWO).data())
        assert set(re.findall(r"https?://[^\s\"'<>]*", text)) == {SVG}
        for tag, attributes in Tags(text).elements:
            loads = {attributes.get("src"), attributes.get("href")} - {None, "data:,", "#panel"}
            assert not loads, tag
        assert "@import" not in text
        assert "url(" not in text

    def test_policy(self):
        """The policy forbids everything but the script and the style that are there."""
        text = page(pb.explain(tape)(*TWO).data())
        tags = Tags(text)
        policy = next(a["content"] for _, a in tags.elements if "http-equiv" in a)
        assert policy.startswith("default-src 'none';")
        style, script = tags.texts[0][1], tags.texts[-1][1]
        for content in (style, script):
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy

    def test_bound(self):
        """Two hundred nodes with large arrays stay below a megabyte."""
        data = pb.explain(long)(np.linspace(-3, 3, 3600).reshape(60, 60)).data()
        assert len(data["nodes"]) >= 190
        assert len(page(data).encode()) < 1_000_000

    def test_bound_of_many_cotangents(self):
        """A fold that gives thousands of cotangents to one node keeps the first and the last."""

        def powers(x):
            out = x
            for _ in range(3000):
                out = np.sin(out) + x
            return out

        text = page(pb.explain(powers)(0.5).data())
        assert len(text.encode()) < 200_000
        gives = [give for step in embedded(text)["backward"] for give in step["gives"]]
        assert any(give.get("skipped", 0) > 2000 for give in gives)
        assert max(give["received"] for give in gives) == 3001

    def test_same_data_same_text(self):
        """The page is a function of the data."""
        one, two = (pb.explain(newton)(2.0).data() for _ in range(2))
        assert page(one) == page(two)

    def test_escaping(self):
        """No text from the program ends the script, opens a comment or is taken for a template."""
        hostile = "</script><script>alert(1)</script><!-- \u2028 {{data}} & \"'"
        data = pb.explain(tape)(*TWO).data() | {"title": hostile}
        data["nodes"][0] |= {"name": hostile, "formula": hostile, "rule": hostile}
        data["sources"][0]["lines"][0] = hostile
        text = page(data)
        scripts = [attributes for tag, attributes in Tags(text).elements if tag == "script"]
        assert len(scripts) == 2
        assert text.count("<!--") == 0
        assert "\u2028" not in re.search(r'id="data">(.*?)</script>', text, re.S)[1]
        found = embedded(text)
        assert found["title"] == found["nodes"][0]["name"] == hostile
        assert found["sources"][0]["lines"][0] == hostile

    def test_arrays_are_there_once(self):
        """What is handed on unchanged is in the page once, and what is small keeps its digits."""
        data = pb.explain(lambda x: (x + 1.0) + 2.0)(np.arange(3.0)).data()
        found = embedded(page(data))
        assert len(found["arrays"]) == 4  # three values, and one cotangent for all
        assert found["arrays"][found["nodes"][0]["value"]] == data["nodes"][0]["value"]

    def test_coarser_samples(self):
        """Where there are many arrays, a cell becomes a letter that stands for a colour."""
        data = pb.explain(long)(np.linspace(-3, 3, 3600).reshape(60, 60)).data()
        found = embedded(page(data))
        letters = found["levels"]
        array = found["arrays"][found["nodes"][0]["value"]]
        assert "cells" not in array
        assert array["rows"] * array["columns"] == len(array["levels"])
        shown = [(letters.index(x) / (len(letters) // 2) - 1) * 3 for x in array["levels"]]
        assert shown[0] == pytest.approx(-3, abs=0.1)
        assert np.all(np.diff(shown) >= 0)

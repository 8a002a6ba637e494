"""What a function that falls back is told to write instead."""

import binascii

import numpy as np
import pytest

import pullback as pb
from pullback.compiler.call.reasons import cure_of
from pullback.compiler.call.rehearsal import told_of
from pullback.compiler.facts import judge

X = np.array([0.5, 1.5])


def test_a_packages_compiled_function():
    """Of the standard library and NumPy we know what they do; of others the user does."""
    for why in ("it calls `cyf.total`", "it may call `pkg.part.total`"):
        name = why.split("`")[1]
        assert f"`pullback.primitive({name})`" in cure_of(why)
        assert f"`pullback.pure({name})`" in cure_of(why)
    for why in ("it calls `print`", "it calls `time.sleep`", "it calls `numpy.random.rand`"):
        assert "leave this out" in cure_of(why)


def test_a_clock_is_left_out():
    assert "leave this out" in cure_of("it returns what a clock says")
    assert "return numbers" in cure_of("it returns a generator")


def test_an_error_while_recording(monkeypatch):
    """Code that takes no Arrays, though declared pure: its message is shown, and the remedy."""
    monkeypatch.setattr(judge, "DECLARED", dict(judge.DECLARED))
    pb.pure(binascii.crc32)
    with pytest.warns(RuntimeWarning, match="was given an Array float64") as told:
        pb.compile(lambda x: binascii.crc32(x) + 1, wait=True)(X)
    assert "through `pullback.primitive(f)`" in str(told[0].message)


class SilentError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def test_an_error_without_text():
    assert told_of(SilentError()) == "SilentError"
    assert told_of(ValueError("one\ntwo")) == "ValueError (one)"

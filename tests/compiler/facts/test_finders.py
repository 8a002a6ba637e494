"""Finders of modules written in Python, as setuptools installs one, are no code of the user's."""

import sys
import types
from typing import ClassVar

import numpy as np

import pullback as pb
from pullback.compiler.call import rehearsal
from pullback.core.reach import namespaces


class Finder:
    """Asks by computed names, as the finder of setuptools does."""

    asked: ClassVar[list] = []

    def find_spec(self, fullname, path=None, target=None):
        name = "spec_for_{fullname}".format(**locals())
        self.asked.append(getattr(self, name, lambda: None)())


def test_a_finder_that_is_asked_while_a_call_is_recorded(monkeypatch):
    """Modules imported meanwhile have us look for namespaces of ours in the middle of a call."""
    name, recorded = "numpy.a_module_of_the_future", rehearsal.recorded

    def f(x):
        y = np.array(x * 1.0)
        np.add(y, 1.0, out=y)
        return y

    def begun(*args):
        namespaces.LOADED[0] = 0
        return recorded(*args)

    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setattr(rehearsal, "recorded", begun)
    Finder.asked.clear()
    try:
        np.testing.assert_array_equal(pb.compile(f)(np.ones(2)), [2.0, 2.0])
    finally:
        namespaces.SCANNED.pop(name, None)
    assert Finder.asked

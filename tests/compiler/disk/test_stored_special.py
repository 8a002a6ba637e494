"""SciPy functions on disk: a later process finds them by the ufuncs they stand for, or by name."""

import importlib

import numpy as np
import pytest
from scipy import linalg, special

import pullback as pb
import pullback.scipy.linalg
import pullback.scipy.special
from pullback.compiler.disk import portable, records
from pullback.core.primitive import Primitive
from pullback.core.reach import namespaces
from pullback.core.registry import FUNCTIONS, UFUNCS
from pullback.core.traits import Traits
from pullback.primitives import load
from pullback.primitives.indexing import getitem_p
from pullback.primitives.inner_loops import ASSUMING, LOOPS
from pullback.primitives.lapack_routines import ROUTINES
from tests.background import idle

pytestmark = pytest.mark.disk
PROGRAMS = {
    "by elements": lambda x: special.gammaln(x) + special.expit(x) * special.xlogy(x, 2.0),
    "gradient": pb.grad(lambda x: np.sum(special.ndtr(x) * special.jv(1.5, x))),
    "of three operands": pb.grad(lambda x: np.sum(special.betaincinv(x, 2.0, 0.4))),
    "a system": pb.grad(lambda x: np.sum(linalg.solve(np.eye(2) + np.outer(x, x), x))),
    "held by a dict": lambda x: linalg.norm(np.outer(x, x) + np.eye(2)),
    "held by an object": lambda x: linalg.eigvalsh(np.outer(x, x), subset_by_index=[0, 0]),
    "a factor": lambda x: linalg.cholesky(np.eye(2) + np.outer(x, x), lower=True),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_later_process_repeats_it(name, monkeypatch):
    f, x = PROGRAMS[name], np.array([0.4, 1.3])
    first = pb.compile(f)
    for _ in range(3):
        first(x)
    idle()
    assert first.cache_info().misses == 1
    monkeypatch.setattr(records, "WRITTEN", set())
    second = pb.compile(f)
    np.testing.assert_array_equal(second(x), first(x))
    assert second.cache_info().misses == 0


def test_every_primitive_is_found_again():
    """Those of ufuncs, whatever their form, and those that are made of LAPACK's routines."""
    load()
    known = [getattr(x, "primitive", x) for x in [*UFUNCS.values(), *FUNCTIONS.values()]]
    known += [*ROUTINES.values(), *ASSUMING.values(), *LOOPS.values()]
    known = [x for x in known if isinstance(x, (Primitive, Traits))]
    assert len(known) > 400
    for x in known:
        assert records.loaded(records.written(x)) is x


def test_functions_without_a_module_hinder_no_search(monkeypatch):
    """Compiled ones of SciPy 1.18 have none; ours keep such functions in tables."""

    def nameless():
        pass

    nameless.__module__ = None
    monkeypatch.setitem(namespaces.STANDS, id(nameless), nameless)
    monkeypatch.setattr(portable, "PLACES", {})
    monkeypatch.setattr(portable, "SEARCHED", [0])
    assert portable.thing_at(*portable.place_of(getitem_p)) is getitem_p


SUBPACKAGES = (
    "special stats stats.qmc linalg integrate optimize interpolate signal ndimage spatial"
    " spatial.distance sparse sparse.linalg sparse.csgraph fft cluster.vq cluster.hierarchy"
).split()


def test_what_a_module_of_scipy_holds_can_be_told_in_another_process():
    """Functions of every kind: of Python, of C, of Cython (csgraph), and of uarray (fft)."""
    reader, left, n = object.__new__(portable.Portable), [], 0
    vars(reader).update(held_by=lambda x: (), own=lambda x, whole: ())
    for name in SUBPACKAGES:
        for public, x in vars(importlib.import_module(f"scipy.{name}")).items():
            if callable(x) and not isinstance(x, type) and not public.startswith("_"):
                n += 1
                try:
                    reader.unchanged(x)
                except portable.Unportable:
                    left.append(f"{name}.{public}")
    assert n > 1000
    assert left == []

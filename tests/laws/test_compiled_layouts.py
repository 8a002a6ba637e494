"""Results of compiled functions lie in memory as those of the functions do."""

import copy
import warnings
import zlib

import numpy as np

import pullback as pb
from pullback.core.array import Array
from pullback.core.differences import close, precision
from pullback.core.tree import flatten, tree_map
from tests.budgets import LONG
from tests.laws.common import for_all_samples
from tests.layouts import lay, memory_of

LAYOUTS = ("C", "F", "rolled", "spread", "swapped")
# Results lie as compiled code of SciPy's leaves them.
WORKSPACES = "solve_circulant", "qr_multiply"
# SciPy takes an array with gaps for another, or refuses it; machine code is given one without.
WITHOUT_GAPS = "symiirorder1", "spsolve"


def outcomes(function, sample, layout):
    """The arrays among the results of a call; the class of what it raises."""
    args = tree_map(lambda x: lay(copy.deepcopy(x), layout), sample.args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # some fall back to Python
        try:
            results = flatten([function(*args, **sample.kwargs)])[0]
        except Exception as error:
            return type(error)
    results = [x.payload if type(x) is Array else x for x in results]  # of `pullback.numpy`
    return [x for x in results if type(x) is np.ndarray]


def check_compiled_layouts(sample, layouts):
    """In the same order of memory and of bytes, recorded, repeated, and in another layout."""
    name = str(sample)
    if name.startswith(WITHOUT_GAPS):
        layouts = [layout for layout in layouts if layout != "spread"]
    seen = (lambda x: x.dtype) if name.startswith(WORKSPACES) else memory_of
    expected = {layout: outcomes(sample.fun, sample, layout) for layout in layouts}
    fast = pb.compile(sample.fun)
    for layout in [*layouts] * 4:
        found = outcomes(fast, sample, layout)
        if isinstance(found, type) or isinstance(expected[layout], type):
            assert found is expected[layout]
            continue
        assert [*map(seen, found)] == [*map(seen, expected[layout])], layout
        for x, right in zip(found, expected[layout], strict=True):
            if right.dtype.kind in "fc":
                close(x, right, 500 * precision([right]), "compiled")


def check_some_layouts(sample):
    """In all layouts in the long tests, otherwise in two."""
    check_compiled_layouts(sample, LAYOUTS if LONG else LAYOUTS[:2])


# All samples in the long tests, otherwise some.
test_compiled_layouts = for_all_samples(
    check_some_layouts, functions=2, only=lambda s: LONG or zlib.crc32(str(s).encode()) % 8 == 0
)

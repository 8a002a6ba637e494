"""docs/coverage.md has every public name of NumPy, and is what the generator writes."""

import copy
import os
import re
import subprocess
import sys
import warnings
from unittest.mock import patch

import numpy as np
import pytest

import pullback as pb
from pullback.compiler import path
from tests.budgets import in_turn
from tools.coverage_table import MODULES, NAMED, TABLE, has_row, parse, public, table

TEXT = TABLE.read_text(encoding="utf-8")
TABLES = parse(TEXT)
NOT_ASKED = "whatever the table says"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_there(module):
    rows, kinds = TABLES[module.__name__]
    listed = {name for names in kinds.values() for name in names}
    for name, x in public(module).items():
        assert name in (rows if has_row(name, x) else listed), f"{module.__name__}.{name}"


def test_no_cell_is_empty_or_a_failure():
    for rows, _ in TABLES.values():
        for name, cells in rows.items():
            assert len(cells) == 6
            assert all(cells), f"`{name}` has an empty cell"
            assert "no" not in cells, f"`{name}` breaks a law, or no sample calls it"


def test_no_function_has_one_mode_without_the_other():
    for rows, _ in TABLES.values():
        for name, (_, forward, reverse, *_) in rows.items():
            assert forward == reverse, name


def compare():
    """Write the table anew, without trying the laws, and compare it with what is there."""
    with np.errstate(all="ignore"):
        new = table(TEXT, holds=lambda law, sample: "yes", repeated=repeated)
    old = TEXT
    if named_as(new) != named_as(old):
        new, old = without_names(new), without_names(old)
    cells = re.escape(new).replace(re.escape(NOT_ASKED), r"[^|\n]+")
    assert re.fullmatch(cells, old), "make coverage-table"


def named_as(text):
    """The version of SciPy by which arguments are named."""
    return re.search(rf"{NAMED}(.+)\.", text)[1]


def without_names(text):
    """The same where another version names arguments otherwise."""
    text = re.sub(f"{NAMED}.+", "", text)
    return re.sub(r"by `\w+`(, `\w+`)*", "by these", text)


def repeated(sample):
    """What compile makes of a sample, by whether machine code of the lowest level repeats it."""
    if not in_turn(sample, 4):
        return NOT_ASKED
    with patch.object(path, "BEST", 0), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fall back to Python
        fast = pb.compile(sample.fun, wait=True)
        for _ in range(4):
            fast(*copy.deepcopy(sample.args), **sample.kwargs)
            if fast.cache_info().hits:
                return "yes"
    return "as it is"


@pytest.mark.share(3)
def test_the_table_is_up_to_date():
    """After a change of functions or samples: `make coverage-table`, which a process does alone.

    That the laws hold of the samples is what `tests/laws` says, and isn't tried again; that the
    table says nothing else is tested above.
    """
    code = f"from {__name__} import compare; compare()"
    root = TABLE.parent.parent
    paths = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

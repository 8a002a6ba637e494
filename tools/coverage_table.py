"""Write docs/coverage.md: what pullback makes of every public name of NumPy and of parts of SciPy.

    python tools/coverage_table.py

A cell is what a law says of a sample that calls the function; see tests/samples. Names that the
installed NumPy does not have keep their rows, so that the table is that of all versions.
"""

from __future__ import annotations

import inspect
import sys
import types
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.cluster.hierarchy
import scipy.cluster.vq
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.signal.windows
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
import scipy.spatial
import scipy.spatial.distance
import scipy.special

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import pullback as pb
from pullback.core.array import Array
from pullback.core.operands import leaves
from pullback.core.registry import CREATION, FUNCTIONS, REFUSED, UFUNCS
from pullback.core.rules import ZERO
from pullback.core.spec import is_inexact
from pullback.primitives import load
from pullback.testing import (
    Problem,
    Sample,
    check_batch,
    check_compiled,
    check_forward,
    check_reverse,
    check_value,
)
from pullback.transforms.forward import jvp
from pullback.transforms.reverse import vjp
from tests.samples import WATCHING, collect
from tests.special_references import LOOSE, REAL, SEVERAL

load()  # what is refused is entered by a family that is imported when it is asked for

TABLE = ROOT / "docs" / "coverage.md"
MODULES = (
    np, np.linalg, np.fft, np.polynomial.polynomial, scipy.fft, scipy.linalg, scipy.ndimage,
    scipy.signal, scipy.signal.windows, scipy.special, scipy.interpolate, scipy.sparse,
    scipy.sparse.linalg, scipy.sparse.csgraph, scipy.spatial, scipy.spatial.distance,
    scipy.cluster.vq, scipy.cluster.hierarchy,
)  # fmt: skip
LISTED = "scipy.cluster", "scipy.spatial.distance"  # which hold what they import, too
COLUMNS = ("function", "value", "forward", "reverse", "batch", "compiled", "note")

INTRODUCTION = """\
# Coverage

What pullback makes of every public name of NumPy, and of `scipy.fft`, `linalg`, `ndimage`, `signal`, `special`, `interpolate`, `sparse`, `spatial` and `cluster`; written by `make coverage-table`.
Classes of SciPy's have a row where a sample makes one: what its objects give.
The cells say what the laws say of the samples in `tests/samples`.

- **yes**: right, by comparison with NumPy, with central differences, of the modes with each other, and of `vmap` with a loop.
- **constant**: the result carries no derivative (a position, a truth value, a count, a dtype, a text), or no array is taken.
- **refused**: an error that gives the reason, never a silent zero.

- **as it is**: right under `compile`, which runs the sample's function in Python each time and replays no recording of it.

Of a ufunc of SciPy the note says by which arguments it is differentiated, in SciPy's names of them; where another one is, an error names that argument.
First derivatives marked "1e-9" are compared with mpmath's at ordinary, extreme and degenerate arguments, and agree to that or to ten times the error of SciPy's own value there.
By an order, a shape or a number of degrees of freedom, for which there is no formula, the derivative is that of the function's Chebyshev interpolant along it; where that would not have three digits it is NaN.
"""  # noqa: E501  # a sentence on a line

# Functions of which nothing is asked: they take no array, or none that could carry a derivative.
PLAIN = {
    "it takes no array": """bartlett blackman broadcast_shapes diag_indices hamming hanning indices
        mask_indices normalize_axis_index tril_indices triu_indices ndindex dft hadamard helmert
        hilbert invhilbert invpascal pascal barthann blackmanharris bohman boxcar cosine flattop
        hann lanczos nuttall parzen triang next_fast_len prev_fast_len generate_binary_structure
        iterate_structure besselap check_COLA choose_conv_method correlation_lags max_len_seq
        unit_impulse eye eye_array identity rand random_array""",
    "it hands out functions of BLAS and LAPACK, which refuse Arrays": """find_best_blas_type
        get_blas_funcs get_lapack_funcs""",
    "it is about dtypes": """finfo iinfo isdtype issubdtype mintypecode promote_types typename""",
    "it asks what an array is": """is_isomorphic is_monotonic is_sptriangular is_valid_dm
        is_valid_im is_valid_linkage is_valid_y issparse isspmatrix isspmatrix_bsr isspmatrix_coo
        isspmatrix_csc isspmatrix_csr isspmatrix_dia isspmatrix_dok isspmatrix_lil num_obs_dm
        num_obs_linkage num_obs_y spbandwidth get_index_dtype safely_cast_index_arrays""",
    "it draws a picture": """convex_hull_plot_2d delaunay_plot_2d dendrogram set_link_color_palette
        voronoi_plot_2d""",
    "the text of an integer": "base_repr binary_repr",
    "a setting": """errstate get_printoptions getbufsize geterr geterrcall printoptions
        set_printoptions setbufsize seterr seterrcall get_workers set_workers register_backend
        set_backend set_global_backend skip_backend use_solver""",
    "a preconditioner needs no derivative; by its array it is refused": "spilu",
    "about the package itself": "get_include info show_config show_runtime test",
    "it reads a file, text or memory": """frombuffer fromfile fromregex fromstring genfromtxt load
        loadtxt load_npz save_npz""",
}
MATRICES = np.asmatrix, np.bmat, np.matrix
OTHERS = {
    "they make matrices, which take part under rebinding as objects of the user's classes do": (
        lambda name, x: any(x is y for y in MATRICES)
    ),
    "scalar types; under rebinding and in `pullback.numpy`, `float64(x)` converts an Array": (
        lambda name, x: isinstance(x, type) and issubclass(x, np.generic)
    ),
    "types; `isinstance` says of an Array what it says without pullback": (
        lambda name, x: isinstance(x, type) and not issubclass(x, Exception)
    ),
    "an exception": lambda name, x: isinstance(x, type),
    "indices, which may hold Arrays": lambda name, x: name in ("s_", "index_exp"),
    "constants": lambda name, x: True,
}
OBJECTS = ["c_", "mgrid", "ogrid", "r_"]
CLASSES = [
    "Polynomial",
    "broadcast",
    "ndenumerate",
    "nditer",
    "poly1d",
    "vectorize",
    "Akima1DInterpolator",
    "BPoly",
    "BSpline",
    "BarycentricInterpolator",
    "CloughTocher2DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "InterpolatedUnivariateSpline",
    "KroghInterpolator",
    "LSQUnivariateSpline",
    "LinearNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "Rbf",
    "RectBivariateSpline",
    "RegularGridInterpolator",
    "UnivariateSpline",
    "interp1d",
    "pchip",
    "bsr_matrix",
    "coo_matrix",
    "csc_matrix",
    "csr_array",
    "csr_matrix",
    "dia_matrix",
    "dok_matrix",
    "lil_matrix",
    "ConvexHull",
    "Delaunay",
    "HalfspaceIntersection",
    "KDTree",
    "Voronoi",
]


def public(module):
    """The public names of a module that are not modules, and what they stand for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated names
        names = module.__all__ if module.__name__.startswith(LISTED) else dir(module)
        pairs = [(name, getattr(module, name)) for name in names if name[0] != "_"]
    return {name: x for name, x in pairs if not isinstance(x, types.ModuleType)}


def has_row(name, x):
    """Whether a name has a row of its own; the others are listed by kind."""
    if isinstance(x, type):
        plain = any(name in names.split() for names in PLAIN.values())
        return name in CLASSES or plain or x in REFUSED
    return name in OBJECTS or (callable(x) and not any(x is y for y in MATRICES))


# Which functions the samples call.


@contextmanager
def watched(note):
    """Have `note(function, result)` called for what is dispatched, but not for what that calls."""
    load()
    deep = []

    def noting(function, implementation):
        @wraps(implementation)
        def call(*args, **kwargs):
            deep.append(function)
            try:
                out = implementation(*args, **kwargs)
            finally:
                deep.pop()
            if not deep:
                note(function, out)
            return out

        return call

    tables = [(table, dict(table)) for table in (FUNCTIONS, CREATION)]
    WATCHING.append(note)
    try:
        for table, entries in tables:
            for function, implementation in entries.items():
                if implementation is not None and not isinstance(implementation, type):
                    table[function] = noting(function, implementation)
        yield
    finally:
        WATCHING.remove(note)
        for table, entries in tables:
            table.update(entries)


def carries(out):
    """Whether a result can carry a derivative."""
    return any(type(x) is Array and is_inexact(x.dtype) for x in parts_of(out))


def parts_of(out):
    return list(leaves(list(out) if isinstance(out, (tuple, list)) else [out]))


@dataclass
class Call:
    """A call of a function by a sample."""

    sample: Sample
    out: Any  # the result, while it was differentiated
    direct: bool  # the sample is one of this function
    mapped: bool  # the sample may be mapped
    differentiable: bool

    def rank(self):
        """The most telling call comes first."""
        return (
            not self.differentiable,
            not self.direct,
            not self.mapped,
            self.sample.smooth is not True,
        )


def calls():
    """id of a function -> the calls of it that the samples make."""
    found: dict[int, list[Call]] = {}
    noted: dict[int, Any] = {}

    def note(function, out):
        if id(function) not in noted or carries(out):
            noted[id(function)] = out

    kinds = "SAMPLES", "BY_EXAMPLE", "UNMAPPED"
    pairs = [(sample, what != "UNMAPPED") for what in kinds for _, sample in collect(what)]
    with watched(note), np.errstate(all="ignore"), pb.rebinding(False):  # what is noted stays
        for sample, mapped in pairs:
            noted.clear()
            outs = results(sample)
            function = function_of(sample)
            if function is not sample.fun or id(function) not in noted:
                noted[id(function)] = outs
            for key, out in noted.items():
                # What assigns, or iterates, returns nothing that could be looked at.
                looked_at = outs if out is None or isinstance(out, Iterator) else out
                found.setdefault(key, []).append(
                    Call(sample, looked_at, key == id(function), mapped, carries(looked_at))
                )
    return found


def function_of(sample):
    """The function that a sample is of: its own, or one that it says to serve or to be about."""
    return getattr(sample.fun, "serves", getattr(sample.fun, "about", sample.fun))


def results(sample):
    """What the function of a sample returns while it is differentiated."""
    problem, outs = Problem(sample), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LostDerivativeWarning)  # nothing is returned
        vjp(lambda *xs: outs.extend(problem.results(*xs)) or 0.0, *problem.xs)
    return outs


# Rows.


def holds(law, sample):
    """The cell that a law gives for a sample."""
    try:
        with np.errstate(all="ignore"):
            law(sample)
    except Exception:
        return "no"
    return "yes"


def measured(x, found, holds, repeated):
    """What the laws say of a function, from the most telling call of it, and a note."""
    found = sorted(found, key=Call.rank)
    call, sample = found[0], found[0].sample
    batch = holds(check_batch, sample) if call.mapped else "refused"
    compiled = repeated(sample)
    if not call.differentiable:
        return (holds(check_value, sample), "constant", "constant", batch, compiled), said(call)
    laws = check_value, check_forward, check_reverse
    return (*[holds(law, sample) for law in laws], batch, compiled), remark(x, found)


def repeated(sample):
    """What compile makes of a sample."""
    try:
        with np.errstate(all="ignore"):
            return "yes" if check_compiled(sample) else "as it is"
    except Exception:
        return "no"


def said(call):
    """What a result is that carries no derivative."""
    what = "integers"
    for out in parts_of(call.out):
        if isinstance(out, (type, np.dtype)):
            what = "a dtype"
        elif isinstance(out, str):
            what = "a text"
        elif np.result_type(out).kind == "b":
            what = "truth values"
    return what if call.mapped else f"{what}; it depends on values, and `vmap` refuses"


NAMED = "Arguments of `scipy.special` are named as in SciPy "


def arguments_of(ufunc):
    """What SciPy calls the operands of a ufunc: by the list of parameters in its docstring."""
    _, _, text = inspect.cleandoc(ufunc.__doc__).partition("Parameters\n")
    names = [
        name.strip()
        for line in text.split("\n")
        if " : " in line and not line.startswith(" ")
        for name in line.split(" : ")[0].split(",")
    ]
    if len(names) >= ufunc.nin and "out" not in names[: ufunc.nin]:
        return names[: ufunc.nin]
    return [f"x{i + 1}" for i in range(ufunc.nin)]


def by_argument(ufunc):
    """By which arguments a ufunc of SciPy is differentiated, how, and how well."""
    partials = (UFUNCS[ufunc] or FUNCTIONS[ufunc]).partials
    pairs = list(zip(arguments_of(ufunc), partials, strict=True))
    kinds = {
        "by": [x for x, p in pairs if p is not ZERO and not hasattr(p, "refused")],
        "not by": [x for x, p in pairs if hasattr(p, "refused")],
    }
    parts = [f"{how} {', '.join(f'`{x}`' for x in names)}" for how, names in kinds.items() if names]
    if ufunc.__name__ in REAL or ufunc.__name__ in SEVERAL:
        parts.append("100 times 1e-9" if ufunc.__name__ in LOOSE else "1e-9")
    return "; ".join(parts)


def remark(x, found):
    if type(x) is np.ufunc and "scipy" in type(UFUNCS[x] or FUNCTIONS[x]).__module__:
        return by_argument(x)
    direct = [call for call in found if call.direct]
    if not any(call.mapped for call in found):
        return "its shape depends on values, and `vmap` refuses"
    if not all(call.mapped for call in direct):
        return "`vmap` refuses where the shapes of examples would differ"
    if isinstance(x, Hashable) and CREATION.get(x) is not None:
        return "with `like=`, by rebinding, or through `pullback.numpy`"
    if direct and all(hasattr(call.sample.fun, "serves") for call in direct):
        package = (getattr(x, "__module__", None) or "numpy").partition(".")[0]
        return f"by rebinding or through `pullback.{package}`: NumPy does not dispatch it"
    if direct and all(is_flat(call.sample) for call in direct[:5] if call.differentiable):
        return "its derivative is zero"
    return ""


def is_flat(sample):
    """Whether all tangents are exactly zero."""
    problem = Problem(sample)
    with np.errstate(all="ignore"):
        outs, dots = jvp(problem, problem.xs, [problem.like(x) for x in problem.xs])
    return bool(outs) and not any(np.any(dot) for dot in dots)


def is_refused(ufunc):
    """Whether a ufunc is refused by all its arguments."""
    partials = getattr(UFUNCS[ufunc] or FUNCTIONS[ufunc], "partials", ())
    return bool(partials) and all(hasattr(partial, "refused") for partial in partials)


def row(name, x, found, holds, repeated):
    if type(x) is np.ufunc and is_refused(x):
        return (
            "yes",
            "refused",
            "refused",
            "yes",
            "yes",
            "SciPy's values have too few right digits",
        )
    if id(x) in found:
        cells, note = measured(x, found[id(x)], holds, repeated)
        return (*cells, note or "-")
    why = REFUSED.get(x)
    if why is not None:
        return ("refused",) * 4 + ("as it is", f"it {why[0]}")
    for reason, names in PLAIN.items():
        if name in names.split():
            return ("yes", "constant", "constant", "constant", "constant", reason)
    return ("no",) * 5 + ("no sample calls it",)


def rows(module, samples, *laws):
    """name -> row, for the functions of a module."""
    functions = {name: x for name, x in public(module).items() if has_row(name, x)}
    return {name: row(name, x, samples, *laws) for name, x in functions.items()}


def kinds(module):
    """What else a module has: kind -> names."""
    found: dict[str, list] = {}
    for name, x in public(module).items():
        if not has_row(name, x):
            kind = next(kind for kind, test in OTHERS.items() if test(name, x))
            found.setdefault(kind, []).append(name)
    return found


VERSIONS = ("1.17", "1.18")  # of SciPy, whose names the table has


def parse(text):
    """module -> (rows, kinds), as the table has them."""
    tables: dict[str, tuple] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            tables[line[3:].strip("`")] = current = {}, {}
        elif line.startswith("| `"):
            name, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            current[0][name.strip("`")] = tuple(cells)
        elif line.startswith("- `"):
            names, _, kind = line[2:].partition(": ")
            current[1][kind] = [name.strip("`") for name in names.split(", ")]
    return tables


def table(old="", holds=holds, repeated=repeated):
    """The text of the table; rows of names that are not installed are taken from the old one."""
    samples, before, sections, cells = calls(), parse(old), [], []
    for module in MODULES:
        here, others = rows(module, samples, holds, repeated), kinds(module)
        there, other_kinds = before.get(module.__name__, ({}, {}))
        names = public(module)
        here |= {name: cells for name, cells in there.items() if name not in names}
        for kind, old_names in other_kinds.items():
            others.setdefault(kind, []).extend([n for n in old_names if n not in names])
        lines = ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * len(COLUMNS)]
        lines += [f"| `{name}` | {' | '.join(here[name])} |" for name in sorted(here)]
        if others:
            lines += ["", "Not functions:", ""]
            lines += [
                f"- {', '.join(f'`{name}`' for name in sorted(found))}: {kind}"
                for kind, found in others.items()
            ]
        cells += here.values()
        sections.append("\n".join([f"## `{module.__name__}`", "", *lines]))
    counts = [sum(cell[1] == what for cell in cells) for what in ("yes", "constant", "refused")]
    summary = "{} functions are differentiable, {} rightly constant, {} refused.".format(*counts)
    summary += f"\nThe rows of SciPy are those of versions {' and '.join(VERSIONS)}."
    summary += f"\n{NAMED}{'.'.join(scipy.__version__.split('.')[:2])}."
    return "\n\n".join([INTRODUCTION + "\n" + summary, *sections]) + "\n"


def main():
    old = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(table(old), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Results lie in memory as NumPy's do, and share it with arguments where NumPy's do."""

import copy
import warnings
import zlib

import numpy as np
import pytest

import pullback as pb
from pullback.core.array import Array
from pullback.core.differences import close, precision
from pullback.core.errors import MissingRuleError
from pullback.core.spec import is_inexact
from pullback.core.storage import root_of
from pullback.core.tree import flatten, unflatten
from pullback.testing import Problem, agree
from tests.budgets import LONG
from tests.laws.common import OTHERS, for_all_samples
from tests.layouts import LAYOUTS, lay, seen
from tests.samples import collect, plainly

EXAMPLES = 2
SINGULAR = "linalg", "optimization", "scipy_linalg"
# Their results lie as the workspaces of LAPACK, ARPACK and other compiled code do.
OF_SPARSE = "scipy_sparse", "scipy_listed"
WORKSPACES = "optimization", "scipy_linalg", "scipy_signal", "scipy_spatial", *OF_SPARSE


class Case:
    """A sample with its arrays laid out in one way."""

    def __init__(self, sample, layout, family=""):
        self.problem = problem = Problem(sample)
        self.sample, self.layout, self.family = sample, layout, family
        # At matrices of rank one, and where solutions are not unique, there is no derivative.
        self.singular = layout == "broadcast" and family in SINGULAR
        self.read_only = set()  # results of plain NumPy, by number
        self.xs = [lay(np.array(x)[()], layout) for x in problem.xs]

    def run(self, *xs):
        """What the function gives for these in place of its floating arguments."""
        problem = self.problem
        leaves = [
            lay(np.array(x), self.layout) if type(x) is np.ndarray else x for x in problem.leaves
        ]
        for i, x in zip(problem.positions, xs, strict=True):
            leaves[i] = x
        args = unflatten(problem.structure, leaves)
        return flatten(self.sample.fun(*args, **self.sample.kwargs))[0]

    def seen(self, x):
        """What is seen of a result.

        Of a copy of what is repeated, NumPy's functions put the repeated axis here or there.
        """
        loose = self.layout == "broadcast" or self.family in WORKSPACES
        return x.dtype if loose else seen(x)

    def written(self, *xs):
        """Its results and its arguments after assignments to both, in turns; what was refused."""
        outs = self.run(*xs)
        # What is repeated is read-only, and views of it are; ours is a copy.
        groups = ((outs, 0.5), ([] if self.layout == "broadcast" else xs, -0.75))
        refused = []
        for group, change in groups * 2:
            for i, x in enumerate(group):
                if not is_array(x) or x.dtype.kind not in "fc" or not x.size:
                    continue
                if self.layout == "broadcast" and i in self.read_only:
                    continue
                if not assigned(x, change):
                    refused.append(i)
        if self.layout == "broadcast":
            self.read_only.update(refused)
        outs = [x for x in outs if hasattr(x, "dtype") and is_inexact(x.dtype)]
        return outs, [*xs], refused


def is_array(x):
    return isinstance(x, np.ndarray)


def assigned(x, change):
    """Assign to all of x, and to its first element; False if NumPy refuses or warns."""
    try:
        x[...] = x * 0.5 + change
        x[(0,) * x.ndim] = change
    except (ValueError, DeprecationWarning):
        return False
    return True


def fresh(case):
    """The arguments on memory of their own, laid out alike."""
    return [lay(np.array(x), case.layout) if is_array(x) else x for x in case.xs]


def check_layouts(sample, layout, family=""):
    if family in OF_SPARSE and layout == "swapped":
        return  # SciPy has sparse arrays of another byte order in part
    case = Case(sample, layout, family)
    xs, refusal = fresh(case), None
    with plainly():
        try:
            outs = case.run(*xs)
        except Exception as error:
            refusal = type(error)
    if refusal is not None:  # the layout has changed the values
        # SciPy's compiled code takes no arrays that are read-only, strided, or of swapped bytes.
        own = layout != "C" and family in (*OF_SPARSE, "scipy_spatial")
        if not own and not sample.kwargs.get("overwrite_input"):
            with pytest.raises(refusal):
                pb.vjp(case.run, *fresh(case))
        return
    expected = [case.seen(x) if is_array(x) else None for x in outs]
    shared = [[is_array(x) and is_array(y) and np.shares_memory(x, y) for y in xs] for x in outs]
    for name, transform in transformations(case).items():
        found = transform(outs)
        assert [a for a, _ in found] == expected, f"{name}: memory order"
        assert [b for _, b in found] == shared, f"{name}: views"
    check_writes(case)


def described(case, outs, xs):
    """What is seen of traced results."""
    found = []
    for x in outs:
        if not is_array(x):
            found.append((None, [False] * len(xs)))
        else:
            mine = type(x) is Array and x.size
            shared = [bool(mine and is_array(y) and root_of(x) is root_of(y)) for y in xs]
            found.append((case.seen(x), shared))
    return found


def transformations(case):
    """What results look like inside each transformation."""
    problem = case.problem

    def inside(transform):
        def call(outs):
            found = []

            def f(*xs):
                found.extend(described(case, case.run(*xs), xs))
                return xs

            transform(f, fresh(case))
            return found

        return call

    def stacked(f, xs):
        stacks = [lay(np.stack([x] * EXAMPLES), case.layout, batch=1) for x in xs]
        pb.vmap(f)(*stacks)

    dots = [problem.like(x) for x in problem.xs]
    found = {"vjp": inside(lambda f, xs: pb.vjp(f, *xs))}
    if not case.singular:
        found["jvp"] = inside(lambda f, xs: pb.jvp(f, xs, dots))
    # Mapped, residuals of matrices without full rank are NaN, where SciPy leaves them out.
    left_out = case.singular and str(case.sample).startswith("lstsq")
    if case.xs and not left_out and str(case.sample) not in UNMAPPED | PATHS:
        found["vmap"] = inside(stacked)
    return found


def check_writes(case):
    """Values and derivatives after assignments to results and to arguments are NumPy's."""
    problem = case.problem
    if case.sample.kwargs.get("overwrite_input"):
        return  # which leaves in the argument what it likes
    xs = fresh(case)
    with plainly():
        outs, after, refused = case.written(*xs)
    expected = [np.array(x) for x in (*outs, *after)]
    if case.layout == "broadcast" and not all(np.all(np.isfinite(x)) for x in expected):
        return  # rows that are equal are at a pole of some functions
    again = []

    def f(*xs):
        outs, after, refused = case.written(*xs)
        again.append(refused)
        return (*outs, *after)

    results, pullback = pb.vjp(f, *fresh(case))
    tolerance = 500 * precision(problem.xs, results)
    for a, b in zip(results, expected, strict=True):
        close(a, b, tolerance, "values after assignments")
    if case.singular:
        return
    dots = [lay(problem.like(x), case.layout) for x in case.xs]
    results, out_dots = pb.jvp(f, fresh(case), dots)
    for a, b in zip(results, expected, strict=True):
        close(a, b, tolerance, "values after assignments, forward")
    assert case.layout == "broadcast" or again == [refused, refused], "what is read-only"
    bars = tuple([problem.like(out) for out in results])
    x_bars = pullback(bars)
    agree((bars, out_dots), (x_bars, dots), tolerance, "<vjp, x_dot> after assignments")


# Which NumPy's einsum gives without axes, an array or a number, hangs on the path that it takes.
PATHS = {str(s) for family, s in collect("SAMPLES") if family == "einsum" and "optimize" in str(s)}
UNMAPPED = {str(s) for what in ("UNMAPPED", "BY_EXAMPLE") for _, s in collect(what)}


def layouts_for(sample):
    """Fortran's order for each sample, and another one in turn; all of them in the long tests."""
    if str(sample).startswith("symiirorder1"):  # SciPy reads a signal as if it were contiguous
        return ["F"]
    if LONG:
        return LAYOUTS
    others = [name for name in LAYOUTS if name != "F"]
    return ["F", others[zlib.crc32(str(sample).encode()) % len(others)]]


def check_all_layouts(sample, family):
    """In layouts of the arguments, under each transformation, and after assignments."""
    for layout in layouts_for(sample):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's, of odd numbers
            warnings.filterwarnings("error", "Numpy has detected that you", DeprecationWarning)
            try:
                check_layouts(sample, layout, family)
            except MissingRuleError:
                if not (layout == "broadcast" and family in SINGULAR):
                    raise


test_layouts = for_all_samples(check_all_layouts, with_family=True, functions=4, shares=OTHERS)


# SciPy's own functions in which an array of two axes means something else, or lies as a buffer of
# compiled code does; loops of this package, whose results lie as their bodies' do.
ELSEWHERE = "optimization", "integration", "loops"
OWN_BUFFERS = {
    "like=x ",
    "legendre_p_all",
    "assoc_legendre_p_all",
    "sph_legendre_p_all",
    "sph_harm_y_all",
}


def widened(x):
    """Arrays of one axis as the rows of larger ones."""
    if is_array(x) and x.dtype.kind in "fc" and x.ndim == 1:
        return np.stack([x, x * 0.9 + 0.05, x * 1.1])
    return type(x)(map(widened, x)) if type(x) in (list, tuple) else x


def axes_in(x):
    """The most axes with more than one element that an array in x has."""
    if type(x) in (list, tuple):
        return max(map(axes_in, x), default=0)
    return sum([n > 1 for n in x.shape]) if is_array(x) else 0


def is_narrow(sample):
    some = LONG or zlib.crc32(str(sample).encode()) % 8 == 0
    own = str(sample).split("(")[0] in OWN_BUFFERS
    return some and not own and axes_in(sample.args) == 1


def check_wider(sample, family):
    """Samples of one axis have too few to say in which order a result lies: rows of them have."""
    if family.startswith("scipy") or family in ELSEWHERE:
        return
    wide = copy.copy(sample)
    wide.args = widened(sample.args)
    with plainly():
        try:
            wide.fun(*wide.args, **wide.kwargs)
        except Exception:
            return  # it takes one axis alone
    xs = fresh(case := Case(wide, "F", family))
    with plainly():
        outs = case.run(*xs)
    expected = [case.seen(x) if is_array(x) else None for x in outs]
    for name in ("vjp", "jvp"):
        transform = transformations(case).get(name)
        if transform is not None:
            assert [a for a, _ in transform(outs)] == expected, f"{name}: memory order"


test_wider = for_all_samples(check_wider, with_family=True, only=is_narrow)

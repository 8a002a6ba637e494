"""Under `vmap`, `float(x)`, `x.item()` and their kin give a number of Python's for each example.

Random expressions of such a number, of arrays and scalars of all precisions (those that
`tests/core/test_python_floats.py` makes): mapped, they have the values, the class and the dtype
that they have example by example, in all nestings; or they raise.
"""

import math
import operator
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.core.errors import PullbackError
from tests.budgets import LONG
from tests.core.test_python_floats import expression

CONVERSIONS = {
    "float": lambda x: float(x[1]), "item": lambda x: x[1].item(), "item(1)": lambda x: x.item(1),
    "tolist": lambda x: x.tolist()[1], "math.fabs": lambda x: math.fabs(x[1]),
    "math.sin": lambda x: math.sin(x[1]), "math.hypot": lambda x: math.hypot(x[0], x[1]),
    "round": lambda x: round(float(x[1]), 1), "to a whole": lambda x: round(float(x[1])),
    "math.floor": lambda x: math.floor(x[1]), "sum": lambda x: sum(x.tolist()),
    "complex": lambda x: complex(x[1], x[0]), "modf": lambda x: math.modf(x[1])[0],
    "frexp": lambda x: math.frexp(x[1])[1], "twice": lambda x: float(float(x[1]) * 2),
    "divmod": lambda x: divmod(float(x[1]), 0.7)[1], "compared": lambda x: float(x[1]) > 0.4,
}  # fmt: skip
ROWS = {
    np.float32: [[0.3, 0.25], [2.0, 1.5]], np.float64: [[0.3, -4.0], [2.0, 1e200]],
    np.float16: [[0.3, 0.25], [2.0, 1.5]], np.int8: [[1, 100], [3, 2]],
    np.int64: [[0, 1], [2, 2**40]],
}  # fmt: skip


def plain(f, rows):
    """Class, dtype and values of f, if the examples share them; the error of one; None: neither."""
    outs = []
    for row in rows:
        try:
            outs.append(f(row))
        except Exception as error:
            return type(error)
    kinds = {(type(out), np.asarray(out).dtype) for out in outs}
    return (*kinds.pop(), np.stack(outs)) if len(kinds) == 1 else None


def asked(f, found):
    """f, which notes the class of what it gives, and where it is a number gives an array."""

    def inside(x):
        out = f(x)
        found.append(type(out))
        return out

    return inside


def loud(call):
    try:
        return call()
    except (PullbackError, ArithmeticError, ValueError, TypeError, LookupError) as error:
        return error


def check(f, rows, mapped):
    """None if the mapped f is as it is example by example, or raises; else what differs."""
    wanted, found = plain(f, rows), []
    out = loud(lambda: mapped(asked(f, found), rows))
    if isinstance(out, Exception):
        return None
    if wanted is None or isinstance(wanted, type):
        return wanted, out
    kind, dtype, values = wanted
    if not np.isfinite(values).all() or not np.isfinite(out).all():
        return None  # BLAS leaves out what is multiplied by zero, infinities as well
    same = out.dtype == dtype and np.allclose(out, values, rtol=2e-3, equal_nan=True)
    return None if same and set(found) <= {kind} else (wanted, found, out)


def whole(name, dtype):
    """Whether a conversion gives an integer of Python's."""
    row = np.array(ROWS[dtype][0], dtype)
    return type(CONVERSIONS[name](row)) in (int, bool)


MODES = {
    "vmap": lambda f, rows: pb.vmap(f)(rows),
    "vmap of vmap": lambda f, rows: pb.vmap(pb.vmap(f))(rows[None])[0],
    "compiled": lambda f, rows: pb.compile(pb.vmap(f))(rows),
    "of a compiled": lambda f, rows: pb.vmap(pb.compile(f))(rows),
    "in jvp": lambda f, rows: pb.jvp(pb.vmap(f), (rows,), (np.ones_like(rows),))[0],
    "in vjp": lambda f, rows: pb.vjp(pb.vmap(f), rows)[0],
    "of jvp": lambda f, rows: pb.vmap(lambda x: pb.jvp(f, (x,), (x * 0 + 1,))[0])(rows),
    "of vjp": lambda f, rows: pb.vmap(lambda x: pb.vjp(f, x)[0])(rows),
}


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore")  # some fall back to Python
@pytest.mark.parametrize("mode", MODES)
def test_they_are_as_example_by_example(mode):
    wrong = {}
    seeds = range(20000 if LONG else 400)
    for seed in seeds[:: 10 if "compiled" in mode else 1]:
        steps, step = expression(seed)
        random = np.random.default_rng(seed)
        name = str(random.choice(list(CONVERSIONS)))
        dtype = list(ROWS)[random.integers(3 if "j" in mode else len(ROWS))]
        rows = np.array(ROWS[dtype], dtype)
        done = {step[0] for step in steps}
        if "item" in done or ("**" in done and whole(name, dtype)):
            continue  # Python's floats have none, and its integers any number of digits
        f = lambda x, step=step, name=name: step(CONVERSIONS[name](x))
        with np.errstate(all="ignore"):
            differs = check(f, rows, MODES[mode])
        if differs:
            wrong[seed] = (name, dtype.__name__, steps, *differs)
    assert not wrong, "\n".join(map(str, list(wrong.items())[:10]))


# (function of a number, values that are mapped, what the error says)
REFUSED = [
    (round, [1.0, 1e19], "some of these do not fit into 64 bits"),
    (lambda x: round(x) * round(x), [1.0, 3e9], "`multiply`.*the result may not fit into 64 bits"),
    (lambda x: 1 / float(x), [1.0, 0.0], "some examples Python would raise ZeroDivisionError"),
    (lambda x: float(x) ** 0.5, [1.0, -1.0], "Python would raise .*, or give a complex number"),
    (lambda x: round(x) + np.ones(2, np.int8), [1.0, 500.0], "int8, which cannot hold some"),
    (math.log, [1.0, -1.0], "`math.log` .* raises for some of the examples"),
]


def test_what_examples_do_not_share_is_said():
    for fun, values, text in REFUSED:
        with pytest.raises(pb.ConversionError, match=text):
            pb.vmap(lambda x, fun=fun: fun(x))(np.array(values))


# Python's operators of its integers and truth values, which NumPy's of arrays don't always match.
OF_INTEGERS = {
    "<<": lambda v: v << 9, ">>": lambda v: v >> 1, "&": lambda v: v & 6, "|": lambda v: v | 256,
    "^": lambda v: v ^ True, "~": lambda v: ~v, "**": lambda v: v**3, "//": lambda v: v // 2,
    "%": lambda v: v % 3, "divmod": lambda v: divmod(v, 3)[0], "-": lambda v: -v, "abs": abs,
    "3 -": lambda v: 3 - v, "1 <<": lambda v: 1 << v, "7 &": lambda v: 7 & v, "/": lambda v: v / 2,
    "100 //": lambda v: 100 // v, "2 **": lambda v: 2**v, "round": lambda v: round(v),
    "max": lambda v: max(v, 260), "sum": lambda v: sum([v, v]), "* True": lambda v: v * True,
    "lshift": lambda v: operator.lshift(v, 3), "twice": lambda v: (v << 3) << 2,
    "v << v": lambda v: v << v, "v & v": lambda v: v & v, "far": lambda v: v << 70,
    "back": lambda v: v << (v - 4), "large": lambda v: v**40, "- 10": lambda v: v - 10,
    "type": lambda v: 1 if type(v) is int else 2, "isinstance": lambda v: isinstance(v, int) * 1,
    "+ 300": lambda v: v + 300, "bit_length": lambda v: hasattr(v, "bit_length") * 1,
    "divmod True": lambda v: divmod(v, True)[0], "True divmod": lambda v: divmod(True, v - 1)[1],
    "True //": lambda v: True // (v - 3), "% True": lambda v: v % True,
}  # fmt: skip
GIVEN = {
    "item": lambda g: lambda x: np.array([g(x[i].item()) for i in range(2)]),
    "tolist": lambda g: lambda x: np.array([g(v) for v in x.tolist()]),
    "class": lambda g: (
        lambda x: np.array([type(g(v)) is t for v in x.tolist() for t in (int, bool)])
    ),
    "beside int8": lambda g: lambda x: g(x[1].item()) * np.int8(1),
    "vectorize": lambda g: lambda x: np.vectorize(g)(x),
    "frompyfunc": lambda g: lambda x: np.frompyfunc(g, 1, 1)(x).astype(float),
}


def of_call(f, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of overflows, and of code that stays in Python
        try:
            return f(*args)
        except Exception as error:
            return error


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "u8", "i8", "?"])
def test_integers_of_pythons_are_pythons(given, dtype):
    rows = np.array([[3, 100], [1, 7]]).astype(dtype)
    for name, g in OF_INTEGERS.items():
        f = GIVEN[given](g)
        each = [of_call(f, row) for row in rows]
        refused = [out for out in each if isinstance(out, Exception)]
        out = of_call(pb.vmap(f), rows)
        if not isinstance(out, Exception):
            assert not refused, (name, out)
            expected = np.stack(each)
            assert out.dtype == expected.dtype, name
            assert np.array_equal(out, expected), name

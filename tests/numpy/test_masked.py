"""Masked arrays take part: derivatives of what is not masked; numpy.ma is written in Python."""

import itertools
import operator

import numpy as np
import pytest

import pullback as pb
from tests.agreement import has_slopes
from tests.together import try_all

X = np.array([0.5, 1.5, 2.5, -1.0])
K = [0, 1, 0, 0]
D = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 0, 1, 0])


def masked_by(x):
    return np.ma.array(x, mask=K)


def written(m):
    m[0] = m[2] * 2
    return m


def masked_later(m):
    m[1] = np.ma.masked
    return m


def filled(m, x):
    m[:] = x
    m[2] = np.ma.masked
    return m


def in_place(m):
    m += 1
    m *= m
    return m


PROGRAMS = {
    "array sum": lambda x: masked_by(x).sum(),
    "mean": lambda x: masked_by(x).mean(),
    "masked_where": lambda x: np.ma.masked_where(x<0,x).sum(),
    "masked_greater": lambda x: np.ma.masked_greater(x,2.0).mean(),
    "masked_invalid": lambda x: np.ma.masked_invalid(x/np.array([1.,0.,1.,1.])).sum(),
    "mul const": lambda x: (D*x).sum(),
    "rmul": lambda x: (x*D).sum(),
    "ops": lambda x: ((masked_by(x)*2+1)/3-x).sum(),
    "pow": lambda x: (masked_by(x)**2).sum(),
    "log": lambda x: np.ma.log(x).sum(),
    "sqrt": lambda x: np.ma.sqrt(np.ma.array(x)).sum(),
    "np.log": lambda x: np.log(np.ma.masked_less_equal(x,0.)).sum(),
    "np.exp": lambda x: np.exp(masked_by(x)).sum(),
    "divide": lambda x: np.ma.divide(1.0,masked_by(x)).sum(),
    "filled": lambda x: masked_by(x).filled(0.0)@x,
    "compressed": lambda x: (masked_by(x).compressed()**2).sum(),
    "data": lambda x: masked_by(x).data@x,
    "mask used": lambda x: x[~masked_by(x).mask].sum(),
    "getmaskarray": lambda x: (x*~np.ma.getmaskarray(masked_by(x))).sum(),
    "std": lambda x: masked_by(x).std(),
    "var": lambda x: masked_by(x).var(ddof=1),
    "max": lambda x: masked_by(x).max(),
    "argmin": lambda x: x[masked_by(x).argmin()],
    "count": lambda x: masked_by(x).count()*x[0],
    "average": lambda x: np.ma.average(masked_by(x),weights=[1.,2.,3.,4.]),
    "dot": lambda x: np.ma.dot(masked_by(x),D),
    "np.sum": lambda x: np.sum(masked_by(x)),
    "np.mean axis": lambda x: np.mean(np.ma.array(np.outer(x,x),mask=np.outer(x,x)<0),axis=0).sum(),
    "where": lambda x: np.ma.where(x>0,masked_by(x),0.0).sum(),
    "set": lambda x: written(masked_by(x)).sum(),
    "set masked": lambda x: masked_later(np.ma.array(x)).sum(),
    "zeros": lambda x: filled(np.ma.zeros(4),x).sum(),
    "masked_array": lambda x: np.ma.masked_array(x,K).cumsum().sum(),
    "concatenate": lambda x: np.ma.concatenate([masked_by(x),x]).sum(),
    "stack": lambda x: np.ma.stack([masked_by(x),x]).sum(),
    "idx": lambda x: masked_by(x)[2]*masked_by(x)[0],
    "slice": lambda x: masked_by(x)[1:].sum(),
    "boolidx": lambda x: masked_by(x)[x>0].sum(),
    "reshape": lambda x: masked_by(x).reshape(2,2).T.sum(axis=0)[0],
    "anom": lambda x: (masked_by(x).anom()**2).sum(),
    "isMasked": lambda x: x[0]*np.ma.is_masked(masked_by(x)),
    "masked_equal": lambda x: np.ma.masked_equal(x,9.5).sum(),
    "fix_invalid": lambda x: np.ma.fix_invalid(x/np.array([1.,0.,1.,1.])).sum(),
    "abs": lambda x: abs(masked_by(x)).sum(),
    "neg": lambda x: (-masked_by(x)).sum(),
    "iadd": lambda x: in_place(np.ma.array(x*1.0,mask=K)).sum(),
    "cmp": lambda x: (masked_by(x)>0).sum()*x[0],
    "polyfit": lambda x: np.ma.polyfit(np.arange(4.),masked_by(x),1)[0],
    "clip": lambda x: np.ma.clip(masked_by(x),0,1).sum(),
    "diff": lambda x: np.ma.diff(masked_by(x)).sum(),
    "sort": lambda x: np.ma.sort(masked_by(x))[0],
    "outer": lambda x: np.ma.outer(masked_by(x),x).sum(),
    "prod": lambda x: masked_by(x).prod(),
    "nomask": lambda x: np.ma.array(x).sum()*np.ma.array(x).mean(),
    "a mask that stays": lambda x: masked_by(x)[0] * (masked_by(x).mask.sum() + x[1]),
    "np.multiply": lambda x: np.multiply(x, D).sum() + np.multiply(D, x)[0],
    "np.where": lambda x: np.where(np.ma.array([True, False, True, False], mask=K), x, 0.0).sum(),
    "np.stack": lambda x: np.stack([x, D]).sum(),
    "cov": lambda x: np.ma.cov(masked_by(x)).sum() + np.ma.corrcoef(masked_by(x), x**2)[0, 1],
    "cov of two": lambda x: np.ma.cov(masked_by(x), np.ma.array(x**2)).sum(),
    "ndmin": lambda x: (np.ma.array(masked_by(x), ndmin=3) * D).sum(axis=0)[0, 3],
    "minus": lambda x: (D - x).sum() + (x - D).sum(),
}  # fmt: skip


@pytest.mark.share(8)
@pytest.mark.filterwarnings("ignore:.*falls back:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_masked():
    try_all(has_slopes, [(name, (f, X)) for name, f in PROGRAMS.items()])


FORMS = {
    "of one": lambda f, m: f(m),
    "along an axis": lambda f, m: f(m, axis=0),
    "of a table": lambda f, m: f(m.reshape(2, 2)),
    "of several": lambda f, m: f([m, m]),
}


def numbers(out):
    """The numbers of a result, -7 where it is masked."""
    parts = out if isinstance(out, (tuple, list)) else [out]
    return [np.ma.filled(np.ma.asanyarray(x).astype(float), -7.0) for x in parts]


def disagreement(each):
    """How values or slopes of a program of masked arrays differ from NumPy's; None if refused."""
    step = 1e-6 * np.cos(X)
    total = lambda x: sum(np.sum(y) for y in each(x * 1.0))
    try:
        right = each(X * 1.0)
        found = pb.grad(lambda x: (x.sum(), each(x * 1.0)), has_aux=True)(X)[1]
        slope = np.sum(pb.grad(total)(X) * step)
        change = (total(X + step) - total(X - step)) / 2
        masked = [[(y == -7.0).tolist() for y in each(x)] for x in (X * 1.0, X + step, X - step)]
    except Exception:  # by NumPy, or refused
        return None
    if [x.shape for x in found] != [x.shape for x in right] or not all(
        np.allclose(a, b, equal_nan=True) for a, b in zip(found, right, strict=True)
    ):
        return found, right
    # NaN included, and what is masked beside X alone, such as a power of a negative number.
    jumps = not abs(change) <= 1e-3 or masked[1:] != masked[:1] * 2
    if not (jumps or np.isclose(slope, change, 1e-3, 1e-8, equal_nan=True)):
        return slope, change
    return ()


def disagreements(programs, enough):
    """Those of the programs, (name, numbers of an argument), of which enough must run."""
    answers = [(name, disagreement(each)) for name, each in programs]
    assert sum(answer is not None for _, answer in answers) > enough
    return [(name, answer) for name, answer in answers if answer]


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore")  # some fall back to Python
def test_functions_heed_the_mask_or_are_refused():
    """Every function of NumPy's that classes may answer, of what carries a derivative."""
    functions = [
        (name, getattr(module, name))
        for module in (np, np.linalg)
        for name in {*dir(module)} - {"empty_like"}
        if hasattr(getattr(module, name), "_implementation")
    ]
    assert not disagreements(
        [
            ((name, form), lambda x, f=f, call=call: numbers(call(f, masked_by(x))))
            for name, f in functions
            for form, call in FORMS.items()
        ],
        100,
    )


def other(x):
    return np.ma.array(1.3 * x + 2.0, mask=[0, 0, 1, 0])


def room(x):
    return np.ma.array(0.0 * x, mask=[0, 0, 0, 1])


def of_itself(f, *xs):
    return f(*xs, out=xs[0]), xs[0]


# A call of a ufunc, and what it leaves in what it is given to write into.
INTO = {
    "of one": lambda f, x: f(masked_by(x), out=room(x)),
    "of one, without a mask": lambda f, x: f(x, out=room(x)),
    "of one, by position": lambda f, x: f(masked_by(x), room(x)),
    "of one, into itself": lambda f, x: of_itself(f, masked_by(x)),
    "of two": lambda f, x: f(masked_by(x), other(x), out=room(x)),
    "beside an array": lambda f, x: f(x + 3.0, other(x), out=(room(x),)),
    "of two, into one": lambda f, x: of_itself(f, masked_by(x), other(x)),
    "of a number": lambda f, x: of_itself(f, masked_by(x), 1.7),
    "into an array": lambda f, x: f(masked_by(x), other(x), out=0.0 * x),
    "in part": lambda f, x: f(masked_by(x), x, where=X > 0.7, out=room(x)),
    "two results": lambda f, x: f(masked_by(x), out=(room(x), room(x))),
    "two results of two": lambda f, x: f(masked_by(x), other(x), out=(room(x), room(x))),
    "one of two results": lambda f, x: f(masked_by(x), out=(None, room(x))),
    "the first of two results": lambda f, x: f(masked_by(x), other(x), out=(0.0 * x, None)),
    "along": lambda f, x: f.accumulate(masked_by(x), out=room(x)),
}


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore")  # some fall back to Python
def test_ufuncs_that_write_into_masked_arrays():
    ufuncs = {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    assert not disagreements(
        [
            ((f.__name__, form), lambda x, f=f, call=call: numbers(call(f, x)))
            for f in ufuncs
            for form, call in INTO.items()
        ],
        300,
    )


BESIDE = {
    "numbers of an array": lambda f, x: f(masked_by(x), x + 1.5),
    "a masked array that is plain": lambda f, x: f(D.copy(), x + 1.5),
    "beside a list": lambda f, x: f(masked_by(x), [x[0], 1.0, 2.0, x[3]]),
}


@pytest.mark.filterwarnings("ignore")  # some fall back to Python
def test_functions_of_masked_arrays_beside_others():
    names = ["full_like", "roll", "real_if_close", "where", "interp", "append", "dot", "kron"]
    names += ["fmax", "hypot", "outer", "vdot", "inner", "cross", "tile", "convolve", "correlate"]
    functions = [(name, getattr(np, name)) for name in names]
    assert not disagreements(
        [
            ((name, form), lambda x, f=f, call=call: numbers(call(f, x)))
            for name, f in functions
            for form, call in BESIDE.items()
        ],
        10,
    )


OPERATORS = [getattr(operator, f"i{name}") for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "lshift",
)]  # fmt: skip
OPERANDS = {
    "an array": lambda x: x + 3.0,
    "a masked array": other,
    "a number": lambda x: 1.7,
    "a number of the array": lambda x: x[1] + 1.3,
    "what is masked": lambda x: np.ma.masked,
    "a plain masked array": lambda x: D + 1.0,
}


@pytest.mark.filterwarnings("ignore")  # some fall back to Python
def test_masked_arrays_that_are_changed_in_place():
    def changed(operate, x, operand):
        m = masked_by(x)
        out = operate(m, operand)
        return numbers([out, m])

    assert not disagreements(
        [
            ((f.__name__, name), lambda x, f=f, make=make: changed(f, x, make(x)))
            for f in OPERATORS
            for name, make in OPERANDS.items()
        ],
        20,
    )


def quantile_of(m, name, q, axis, method):
    return getattr(np, name)(m, np.divide(q, 100) if "quantile" in name else q, axis, method=method)


NAMES = [
    "sum", "mean", "std", "var", "max", "ptp", "sort", "argsort", "cumsum", "prod", "median",
    "nanmedian", "copy", "ravel", "transpose", "average", "nansum", "nanmax", "squeeze", "flip",
    "argmax", "any", "nonzero", "sqrt", "absolute", "isnan", "trace", "diagonal",
]  # fmt: skip
ALONE = {
    **{
        str(each): lambda m, each=each: quantile_of(m, *each)
        for each in itertools.product(
            ("percentile", "quantile", "nanpercentile", "nanquantile"),
            (25, [25, 75], [[10, 20], [30, 40]]),
            (0, 1, -1),
            ("linear", "nearest", "higher"),
        )
    },
    **{name: lambda m, name=name: getattr(np, name)(m) for name in NAMES},
    "take": lambda m: np.take(m, [0, 1], axis=1),
    "sort along": lambda m: np.sort(m, axis=0),
    "repeat": lambda m: np.repeat(m, 2, axis=0),
    "clip": lambda m: np.clip(m, 1.0, 4.0),
    "along": lambda m: np.apply_along_axis(np.sum, 0, m),
    "round": lambda m: np.round(m, 1),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # NumPy's, of odd numbers
@pytest.mark.parametrize("transform", [pb.grad, pb.vmap], ids=["grad", "vmap"])
def test_functions_of_plain_masked_arrays_alone_are_numpys(transform):
    m = np.ma.array([[1.0, 2, 3], [4, 5, 7], [0, 9, 2.0]], mask=[[0, 1, 0], [0, 0, 0], [1, 0, 0]])
    wrong = []
    for name, f in ALONE.items():
        found = []
        try:
            expected = f(m)
        except ValueError:
            continue  # NumPy's interpolation would write into `masked`

        def program(x, f=f, found=found):
            found.append(f(m))
            return x * 1.0

        transform(program)(np.ones(2) if transform is pb.vmap else 1.0)
        same = np.shape(found[0]) == np.shape(expected) and np.array_equal(
            np.ma.getmaskarray(found[0]), np.ma.getmaskarray(expected)
        )
        if not same or not np.ma.allclose(found[0], expected):
            wrong.append(name)
    assert not wrong


@pytest.mark.parametrize("transform", [pb.grad, pb.vmap], ids=["grad", "vmap"])
def test_what_calls_functions_refuses_what_is_masked(transform):
    m = np.ma.array([[1.0, 2, 3], [4, 5, 7]], mask=[[0, 1, 0], [0, 0, 0]])
    programs = [
        lambda x: np.apply_along_axis(lambda row: np.sum(row) * x, 0, m),
        lambda x: np.apply_over_axes(lambda a, axis: np.sum(a, axis) * x, m, [0]),
        lambda x: np.piecewise(m, [m > 3], [lambda v: v * x, lambda v: v]),
        lambda x: np.vectorize(lambda v: v * x)(m),
        lambda x: np.vectorize(lambda v, w: v * w)(m, x),
    ]
    for f in programs:
        with pytest.raises(pb.PullbackError, match=r"np\.where\(mask, x, 0\)"):
            transform(lambda x, f=f: np.sum(f(x)))(np.ones(2) if transform is pb.vmap else 1.0)


@pytest.mark.parametrize("masked", [lambda x: x > 2, lambda x: x > 9], ids=["some", "none"])
def test_a_masked_array_is_returned_only_where_nothing_is_masked(masked):
    """A result has no mask, so that what was masked would count."""
    x = np.array([1.0, 2.0, 3.0])
    f = lambda x: np.ma.masked_where(masked(x), x) * 2.0
    ways = [
        lambda: pb.jvp(f, (x,), (x,))[0],
        lambda: pb.vjp(f, x)[0],
        lambda: np.diag(pb.jacobian(f)(x)) * x,
        lambda: pb.value_and_grad(lambda x: (x.sum(), f(x)), has_aux=True)(x)[0][1],
        lambda: pb.jvp(pb.checkpoint(lambda x: {"m": f(x)}), (x,), (x,))[0]["m"],
        lambda: pb.compile(lambda x: pb.jvp(f, (x,), (x,))[0], wait=True)(x),
    ]
    for way in ways:
        if masked(x).any():
            with pytest.raises(pb.ArgumentTypeError, match="the data and the mask"):
                way()
        else:
            np.testing.assert_array_equal(way(), x * 2.0)


NUMBERS_FOR_MASKED = {
    "the constant": lambda x: np.ma.masked,
    "a mean": lambda x: np.ma.masked_greater(x, 0.6).mean(),
    "an item": lambda x: np.ma.masked_greater(x, 0.6)[0],
    "a plain item": lambda x: np.ma.array([1.0, 2.0], mask=[1, 0])[0],
}
PLACES = {"number": 0, "tuple": (0,), "slice": slice(0, 1), "dots": (0, ...), "list": [0]}


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NUMBERS_FOR_MASKED)
def test_masked_numbers_that_are_assigned(name, place):
    """NumPy writes NaN into one element, and what is beneath the mask into parts of an array."""

    def program(x):
        y = x * 1.0
        y[PLACES[place]] = NUMBERS_FOR_MASKED[name](x)
        return y

    x = np.array([0.9, 1.2, 0.7])
    np.testing.assert_array_equal(pb.vjp(program, x)[0], program(x))
    np.testing.assert_array_equal(pb.jvp(program, (x,), (x,))[0], program(x))


def test_a_masked_number_is_not_added_as_what_lies_beneath():
    """`y[0] += np.ma.masked` is NaN in NumPy; a number and the constant have no derivative here."""

    def program(x):
        y = x * 1.0
        y[0] += np.ma.masked
        return y

    with pytest.raises(pb.MissingRuleError, match="MaskedConstant"):
        pb.vjp(program, np.array([0.9, 1.2]))

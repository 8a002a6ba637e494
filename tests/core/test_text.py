"""A number that is read from text again is a constant, and the program is told so."""

import ast
import configparser
import csv
import decimal
import fractions
import functools
import io
import json
import re
import string
import warnings

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked


def into(stream, write):
    write(stream)
    return stream.getvalue()


# How text is made of a number, and how a number is read from text.
WRITERS = {
    "str": str,
    "a field": lambda x: f"{x}",
    "a field with digits": lambda x: f"{x:.17g}",
    "format": lambda x: format(x, ".12f"),
    "a method": lambda x: "{:.10e}".format(x),
    "format_map": lambda x: "{a:.6f}".format_map({"a": x}),
    "percent": lambda x: "%.12f" % x,
    "percent s": lambda x: "%s" % x,
    "percent of two": lambda x: ("%d %.6f" % (3, x)).split()[1],
    "of a float": lambda x: str(float(x)),
    "of a sum": lambda x: str(x + 0.0),
    "beside others": lambda x: f"step 3: {x:.15g} m".split()[2],
    "array2string": lambda x: np.array2string(np.stack([x, x]), precision=17)[1:-1].split()[0],
    "array_str": lambda x: np.array_str(np.stack([x, x]))[1:-1].split()[0],
    "array_repr": lambda x: np.array_repr(np.stack([x, x])).strip("ary([])").split(",")[0],
    "positional": np.format_float_positional,
    "scientific": np.format_float_scientific,
    "of a list": lambda x: " ".join(map(str, np.stack([x, x]).tolist())).split()[1],
    "hex": lambda x: str(float.fromhex(float(x).hex())),
    "a template": lambda x: string.Template("$a").substitute(a=x),
    "a formatter": lambda x: string.Formatter().format("{:.7f}", x),
    "print": lambda x: into(io.StringIO(), lambda s: print(x, file=s)).strip(),
    "csv": lambda x: into(io.StringIO(), lambda s: csv.writer(s).writerow([x, 1])).split(",")[0],
    "upper": lambda x: f"{x:.10e}".upper(),
    "another point": lambda x: f"{x:.4f}".replace(".", ",").replace(",", "."),
    "groups": lambda x: f"{1000 * x:,.3f}".replace(",", ""),
    "cut": lambda x: f"{x:.10f}"[:6],
    "rstrip": lambda x: f"{x:.3f}0000".rstrip("0"),
    "zfill": lambda x: f"{x:.3f}".zfill(12),
    "a sign": lambda x: "-" + f"{x:.4f}",
    "letters": lambda x: "".join(list(f"{x:.4f}")),
    "bytes": lambda x: f"{x:.4f}".encode().decode(),
    "a pattern": lambda x: re.search(r"[\d.]+", f"a={x:.4f};").group(),
    "str_": lambda x: str(np.str_(x)),
    "two parts": lambda x: str(int(x)) + "." + f"{x:.4f}".split(".")[1],
    "partition": lambda x: f"{x:.4f}={x}".partition("=")[0],
}


def of_config(text):
    parser = configparser.ConfigParser()
    parser.read_string(f"[s]\na = {text}")
    return parser.getfloat("s", "a")


def of_exec(text):
    scope = {}
    exec(f"a = {text}", scope)
    return scope["a"]


def given_to(write):
    out = np.zeros(1)
    write(out)
    return out[0]


class Number(float):
    pass


def without_zeros(text):
    """JSON has no zeros in front."""
    return re.sub(r"^(-?)0+(?=\d)", r"\1", text.strip())


READERS = {
    "float": float,
    "complex": lambda text: complex(text).real,
    "float64": np.float64,
    "float32": lambda text: float(np.float32(text)),
    "longdouble": lambda text: float(np.longdouble(text.strip())),
    "complex128": lambda text: np.complex128(text.strip()).real,
    "complex of two parts": lambda text: complex(f"{text.strip()}-1j").real,
    "complex128 of two parts": lambda text: np.complex128(f"{text.strip()}+1e2j").real,
    "float of bytes": lambda text: float(text.encode()),
    "float64 of bytes": lambda text: np.float64(text.encode()),
    "float.__new__": lambda text: float.__new__(float, text),
    "a class": Number,
    "map": lambda text: next(map(float, [text])),
    "partial": lambda text: functools.partial(float, text)(),
    "astype": lambda text: np.array([text]).astype(float)[0],
    "astype of bytes": lambda text: np.array([text.encode()]).astype("f8")[0],
    "astype of objects": lambda text: np.array([text], object).astype(dtype=float)[0],
    "array": lambda text: np.array([[text]], dtype=float)[0, 0],
    "array of an array": lambda text: np.array(np.array([text]), dtype=float)[0],
    "array of fields": lambda text: np.array([(text,)], dtype=[("a", "f8")])["a"][0],
    "asarray": lambda text: np.asarray(text.split(), "f8")[0],
    "asarray by name": lambda text: np.asarray(a=(text,), dtype=float)[0],
    "append": lambda text: np.append(np.array(["1"]), text).astype(float)[1],
    "char": lambda text: np.char.strip(np.array([text])).astype(float)[0],
    "copyto": lambda text: given_to(lambda a: np.copyto(a, np.array(text), casting="unsafe")),
    "x[0] = text": lambda text: given_to(lambda a: a.__setitem__(0, text)),
    "fromstring": lambda text: np.fromstring(text, sep=" ")[0],
    "fromiter": lambda text: np.fromiter([text], float)[0],
    "fromiter of a generator": lambda text: np.fromiter((t for t in [text]), dtype="f8")[0],
    "frompyfunc": lambda text: np.frompyfunc(float, 1, 1)([text])[0],
    "vectorize": lambda text: np.vectorize(float)([text])[0],
    "loadtxt": lambda text: float(np.loadtxt(io.StringIO(text))),
    "loadtxt of lines": lambda text: float(np.loadtxt(fname=[text])),
    "genfromtxt": lambda text: float(np.genfromtxt([text])),
    "genfromtxt of negatives": lambda text: np.genfromtxt(
        [f"-{text.strip()},-{text.strip()}"], delimiter=","
    )[0],
    "fromregex": lambda text: np.fromregex(io.StringIO(text), r"([\d.e+-]+)", [("a", "f8")])["a"][
        0
    ],
    "decimal": lambda text: float(decimal.Decimal(text)),
    "a decimal context": lambda text: float(decimal.getcontext().create_decimal(text.strip())),
    "fraction": lambda text: float(fractions.Fraction(text)),
    "json": lambda text: json.loads(without_zeros(text)),
    "json in a dict": lambda text: json.loads(f'{{"a": [1, {without_zeros(text)}]}}')["a"][1],
    "json of a file": lambda text: json.load(io.StringIO(without_zeros(text))),
    "a decoder": lambda text: json.JSONDecoder().decode(without_zeros(text)),
    "json of decimals": lambda text: float(
        json.loads(without_zeros(text), parse_float=decimal.Decimal)
    ),
    "literal": lambda text: ast.literal_eval(without_zeros(text)),
    "eval": lambda text: eval(without_zeros(text)),
    "eval of a difference": lambda text: eval(f"3-{without_zeros(text)}"),
    "eval of a product": lambda text: eval(f"2*-{without_zeros(text)}"),
    "exec": of_exec,
    "compile": lambda text: eval(compile(without_zeros(text), "", "eval")),
    "configparser": of_config,
}
X = np.float64(1.3717)
MODES = {
    "grad": pb.grad,
    "jvp": lambda f: lambda x: pb.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f: lambda x: pb.vjp(f, x)[1](1.0)[0],
    "compiled": lambda f: pb.compile(pb.grad(f)),
    "twice": lambda f: pb.grad(pb.grad(lambda x: x * f(x))),
}


def lost(f, x):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        f(x)
    return [w for w in met if issubclass(w.category, pb.LostDerivativeWarning)]


def wrong(writer, reader, derive):
    """Whether a number is read back, and nothing is said."""
    write, read = WRITERS[writer], READERS[reader]
    try:
        read(write(X))
    except ValueError:  # no number of Python's has zeros in front
        return False
    return not lost(derive(lambda x: x * 2 + read(write(x))), X)


@pytest.mark.share(6)
@pytest.mark.parametrize("reader", READERS)
def test_a_number_that_is_read_from_text_warns(reader):
    """Also beside others, which have a derivative, and whatever is made of the text before."""
    assert not [writer for writer in WRITERS if wrong(writer, reader, pb.grad)]


@pytest.mark.share(2)
@pytest.mark.parametrize("mode", MODES)
def test_so_it_does_in_each_mode(mode):
    derive = MODES[mode]
    assert not [each for each in asked(READERS, 6) if wrong("a field", each, derive)]
    assert not [each for each in asked(WRITERS, 6) if wrong(each, "json", derive)]


@pytest.mark.parametrize("reader", asked(READERS, 6))
def test_a_call_may_stand_in_the_call_that_reads(reader):
    """A call site asks what it calls before it makes the text."""
    read = READERS[reader]
    assert lost(pb.grad(lambda x: x * 2 + read(f" {x:.3f} ")), X)
    assert lost(pb.grad(lambda x: x * 2 + read(f"{x:12.3f}")), X)


@pytest.mark.filterwarnings("error::pullback.LostDerivativeWarning")
def test_other_numbers_that_are_read_do_not():
    def f(x):
        text = f"{x:.4f} and {x:.1f}"
        read = [*json.loads("[2.25, 1.36]"), float("1.36"), float(decimal.Decimal("13.717"))]
        return x * sum(read) * min(len(text), 1)

    for derive in (pb.grad, MODES["jvp"], MODES["vjp"]):
        np.testing.assert_allclose(derive(f)(X), 2.25 + 1.36 * 2 + 13.717)


@pytest.mark.parametrize("shown", [1, 10, 100])
@pytest.mark.parametrize("read", [2, 10, 500])
def test_numbers_that_agree_by_chance_do_not(shown, read):
    """Settings and tables beside what a program prints; of random ones a few have all digits."""
    random, told = np.random.default_rng(read + shown), []
    for digits in 1, 2, 3, 4, 5, 6:
        x, others = random.random(shown), random.random(read)
        settings = json.dumps([float(f"{v:.{digits}g}") for v in others])

        def f(x, settings=settings):
            print(x, file=io.StringIO())
            return np.sum(x) * json.loads(settings)[0]

        told += lost(pb.grad(f), x)
    assert len(told) <= 1


@pytest.mark.filterwarnings("error::pullback.LostDerivativeWarning")
def test_nor_do_round_numbers_among_others():
    settings = '{"rate": 0.5, "steps": 100, "weights": [2, 1.0, 0.5, 0]}'

    def f(x):
        print(f"loss {x[0]:.1f}, {x[1]:.2f}, {x.sum()}, {100.3 * x[2]}, {x - x}", x)
        table = np.loadtxt(["1 2 3", "0.5 5 6"])
        return np.sum(x * table) * json.loads(settings)["rate"] * np.genfromtxt(["2", "3"])[0]

    for derive in (pb.grad, lambda f: lambda x: pb.jvp(f, (x,), (x,))):
        derive(f)(np.array([0.5, 0.25, 1.0]))


@pytest.mark.parametrize(
    "read", [float, np.float64, lambda text: json.loads(f"[{text}, {text}]")[0]]
)
@pytest.mark.parametrize("x", [1.3717, 0.5, 4.0])
def test_one_reading_is_told_once(read, x):
    assert len(lost(pb.grad(lambda x: x * 2 + read(f"{x}")), x)) == 1


@pytest.mark.parametrize("text", ["1.234e400", "1.234e-400", "9" * 400, "1e" + "9" * 5000])
def test_other_numbers_of_any_size_are_read(text):
    assert pb.grad(lambda x: x * (float(text) > len(f"{x}")))(X) == (float(text) > 6)


def test_the_caller_of_what_reads_is_told_in_errors():
    with pytest.raises(pb.ConversionError, match=r"`json\.dumps` was given an Array"):
        pb.grad(lambda x: len(json.dumps([x])) * x)(X)


@pytest.mark.parametrize("scale", [-1.0, np.inf, np.nan])
def test_so_do_numbers_of_other_signs_and_none(scale):
    assert lost(pb.grad(lambda x: x * 2 + np.float64(f"{x * scale}")), X)
    assert lost(pb.grad(lambda x: x * 2 + np.complex128(f"{x * scale + 1j}").real), X)


@pytest.mark.filterwarnings("error::pullback.LostDerivativeWarning")
def test_digits_in_names_are_no_numbers():
    def f(x):
        text = f"{2 + 0 * x:.0f}"
        return x * eval("y2 + y2.real", {"y2": 1.0}) * len(text)

    assert pb.grad(f)(X) == 2.0


@pytest.mark.filterwarnings("error::pullback.LostDerivativeWarning")
def test_text_that_is_shown_does_not():
    def f(x):
        text = f"at {x:.3f}, {x!r}, {x}"
        return x * float("2.5") * min(len(text), 1)

    for derive in (pb.grad, MODES["jvp"], MODES["vjp"]):
        assert derive(f)(X) == 2.5
    assert pb.grad(lambda x: 0.0 * x + 1.0)(X) == 0.0
    read = float(f"{pb.grad(f)(X)}")  # no Array any more
    assert pb.grad(lambda x: x * float(str(read)))(X) == 2.5


@pytest.mark.filterwarnings("error::pullback.LostDerivativeWarning")
def test_what_is_linear_and_shown_has_a_second_derivative():
    def f(x):
        str(x), f"{x:.3f}", np.array_str(np.stack([x, x]))
        return 3 * x

    assert pb.grad(pb.grad(f))(X) == 0.0


def written(write):
    """A reader: the first element of an array after `write` has put the text into it."""

    def read(x, text):
        z = np.zeros(3) * x
        write(z, text)
        return z[0]

    return read


# Of an Array, which NumPy's text may be written into, and what is filled with a text.
INTO_ARRAYS = {
    "x[0]": written(lambda z, text: z.__setitem__(0, text)),
    "x[:]": written(lambda z, text: z.__setitem__(slice(None), text)),
    "x[:], a list": written(lambda z, text: z.__setitem__(slice(None), [text] * 3)),
    "x[:], an array": written(lambda z, text: z.__setitem__(slice(None), np.array([text] * 3))),
    "x[mask]": written(lambda z, text: z.__setitem__(np.array([True, False, True]), text)),
    "x[places]": written(lambda z, text: z.__setitem__([0, 1], text)),
    "x.flat": written(lambda z, text: z.flat.__setitem__(0, text)),
    "fill": written(lambda z, text: z.fill(text)),
    "put": written(lambda z, text: np.put(z, [0], text)),
    "copyto": written(lambda z, text: np.copyto(z, text, casting="unsafe")),
    "full": lambda x, text: np.full(3, text, dtype=float)[0],
    "full, a dtype by place": lambda x, text: np.full(3, text, float)[0],
    "full by name": lambda x, text: np.full(shape=3, fill_value=text, dtype=float)[0],
    "full like": lambda x, text: np.full(3, text, dtype=float, like=x)[0],
    "full_like": lambda x, text: np.full_like(np.ones(3) * x, text)[0],
    "full_like of a plain array": lambda x, text: np.full_like(np.ones(3), text)[0],
    "full_like by name": lambda x, text: np.full_like(x, fill_value=text, dtype=float),
    "array like": lambda x, text: np.array([text], dtype=float, like=x)[0],
}


@pytest.mark.parametrize("mode", ["grad", "jvp", "vjp"])
@pytest.mark.parametrize("name", INTO_ARRAYS)
def test_so_does_text_that_is_written_into_an_array(name, mode):
    read, derive = INTO_ARRAYS[name], MODES[mode]
    assert lost(derive(lambda x: x * 2 + read(x, f"{x:.3f}")), X)
    assert lost(derive(lambda x: x * 2 + read(x, f"-{x:.3f}")), X)
    assert not lost(derive(lambda x: x * read(x, "2.5") + 0 * len(f"{x:.3f}")), X)

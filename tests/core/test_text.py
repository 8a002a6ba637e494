"""A number that is read from text again is a constant, and the program is told so."""

import ast
import decimal
import io
import json
import warnings

import numpy as np
import pytest

import pullback as pb

# How text is made of a number, and how a number is read from text.
WRITERS = {
    "str": str,
    "a field": lambda x: f"{x}",
    "a field with digits": lambda x: f"{x:.17g}",
    "format": lambda x: format(x, ".12f"),
    "a method": lambda x: "{:.10e}".format(x),
    "percent": lambda x: "%.12f" % x,
    "of a float": lambda x: str(float(x)),
    "of a sum": lambda x: str(x + 0.0),
    "beside others": lambda x: f"step 3: {x:.15g} m".split()[2],
    "array2string": lambda x: np.array2string(np.stack([x, x]), precision=17)[1:-1].split()[0],
    "array_str": lambda x: np.array_str(np.stack([x, x]))[1:-1].split()[0],
    "positional": np.format_float_positional,
    "of a list": lambda x: " ".join(map(str, np.stack([x, x]).tolist())).split()[1],
    "hex": lambda x: str(float.fromhex(float(x).hex())),
}
# Of these the program, or Python, makes other text before it is read, which is not recognised; that
# a result was led to by text alone is still told, but not of a part of one.
CHANGED = {"percent", "array2string", "array_str", "hex"}
READERS = {
    "float": float,
    "complex": lambda text: complex(text).real,
    "float64": np.float64,
    "array": lambda text: np.array([text]).astype(float)[0],
    "fromstring": lambda text: np.fromstring(text, sep=" ")[0],
    "decimal": lambda text: float(decimal.Decimal(text)),
    "json": json.loads,
    "literal": ast.literal_eval,
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


def test_a_result_that_is_read_from_text_warns():
    silent = [
        (writer, reader, mode)
        for writer, write in WRITERS.items()
        for reader, read in READERS.items()
        for mode, derive in MODES.items()
        if mode != "twice" or (reader in ("float", "complex") and writer not in CHANGED)
        if not lost(derive(lambda x, write=write, read=read: read(write(x)) * 2.0), X)
    ]
    assert not silent


# Readers that know text by its numbers, wherever these stand in it.
OF_PARTS = {
    **{name: READERS[name] for name in ("float", "complex", "float64", "fromstring")},
    "float32": np.float32,
    "longdouble": lambda text: float(np.longdouble(text.strip())),
    "array of floats": lambda text: np.array([[text]], dtype=float)[0, 0],
    "asarray": lambda text: np.asarray(text.split(), "f8")[0],
    "loadtxt": lambda text: float(np.loadtxt(io.StringIO(text))),
    "loadtxt of lines": lambda text: float(np.loadtxt([text])),
    "genfromtxt": lambda text: float(np.genfromtxt([text])),
    "eval": lambda text: eval(text),
    "eval of a difference": lambda text: eval(f"3-{text.strip()}"),
    "eval of a product": lambda text: eval(f"2*-{text.strip()}"),
    "complex of two parts": lambda text: complex(f"{text.strip()}-1j").real,
    "complex128 of two parts": lambda text: np.complex128(f"{text.strip()}+1e2j").real,
    "bytes": lambda text: float(text.encode()),
    "float64 of bytes": lambda text: np.float64(text.encode()),
    "array of an array": lambda text: np.array(np.array([text]), dtype=float)[0],
    "asarray by name": lambda text: np.asarray(a=(text,), dtype=float)[0],
    "loadtxt by name": lambda text: float(np.loadtxt(fname=[text])),
    "genfromtxt of negatives": lambda text: np.genfromtxt(
        [f"-{text.strip()},-{text.strip()}"], delimiter=","
    )[0],
}


@pytest.mark.parametrize("reader", OF_PARTS)
def test_so_does_a_part_of_a_result(reader):
    read = OF_PARTS[reader]
    assert lost(pb.grad(lambda x: x * 2 + read(f" {x:.3f} ")), X)
    assert lost(pb.grad(lambda x: x * 2 + read(f"{x:12.3f}")), X)
    silent = [
        name
        for name, write in WRITERS.items()
        if name not in CHANGED and not lost(pb.grad(lambda x, w=write: x * 2 + read(w(x))), X)
    ]
    assert not silent


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

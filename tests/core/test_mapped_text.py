"""Text of a mapped Array shows all examples: it may be shown, and decides nothing for one."""

import ast
import asyncio
import collections
import contextlib
import csv
import dataclasses
import difflib
import fnmatch
import hashlib
import io
import json
import logging
import operator
import os
import pprint
import re
import reprlib
import shlex
import string
import textwrap
import types
import warnings

import numpy as np
import pytest

import pullback as pb

XS = np.array([0.5, -1.5, 2.0])
WRITERS = {
    "str": str,
    "repr": repr,
    "a field": lambda x: f"{x}",
    "a field with digits": lambda x: f"{x:.1f}",
    "a field of repr": lambda x: f"{x!r}",
    "format": lambda x: format(x, ".3f"),
    "a method": lambda x: str(x).strip().upper(),
    "a sum": lambda x: "x = " + str(x) + " m",
    "of a Python number": lambda x: str(x.item()),
    "array_str": lambda x: np.array_str(np.stack([x, x])),
    "array2string": lambda x: np.array2string(np.stack([x, x]), precision=2),
    "positional": np.format_float_positional,
    "hex": lambda x: float(x).hex(),
    "fields beside text": lambda x: f"x = {x:.1f} m",
    "percent": lambda x: "%s" % x,
    "percent of two": lambda x: "%r, %s" % (x, x),
    "two fields": lambda x: f"{x:.1f},{x:.2f}",
    "str.format": lambda x: "{:.1f}".format(x),
    "str.format with text": lambda x: "key {0:.1f} of {name}".format(x, name="x"),
    "join": lambda x: ",".join([str(x), str(x)]),
    "of a list": lambda x: str([x, 1.0]),
    "of a tuple": lambda x: repr((x,)),
    "of a dict": lambda x: format({"a": [x]}),
    "of lists, by map": lambda x: "".join(map(str, [[x], [x]])),
    "join of a generator": lambda x: "".join(f"{y}" for y in (x, x)),
}
ASKERS = {
    "==": lambda s: s == "0.5",
    "reflected ==": lambda s: operator.eq("0.5", s),
    "!=": lambda s: s != "0.5",
    "<": lambda s: s < "1",
    "in": lambda s: "-" in s,
    "in a list": lambda s: s in ["0.5", "1"],
    "len": len,
    "a letter": lambda s: s[0] == "-",
    "slice": lambda s: s[1:4] == "0.5",
    "iteration": lambda s: sum(c == "-" for c in s),
    "startswith": lambda s: s.startswith("-"),
    "find": lambda s: s.find("-"),
    "count": lambda s: s.count("-"),
    "split": lambda s: len(s.split(".")),
    "partition": lambda s: s.partition(".")[0] == "0",
    "isdigit": lambda s: s.isdigit(),
    "hash": hash,
    "key": lambda s: {s: 1.0}.get("0.5", 2.0),
    "lookup": lambda s: {"0.5": 1.0}.get(s, 2.0),
    "set": lambda s: len({s, "0.5"}),
    "float": float,
    "int": lambda s: int(s),
    "complex": lambda s: complex(s).real,
    "encode": lambda s: len(s.encode()),
    "max": lambda s: max(s, "1") == "1",
    "sorted": lambda s: sorted([s, "1"])[0] == "1",
    "of its text": lambda s: str(s) == "0.5",
    "of a part of other text": lambda s: s + "" == "0.5",
    "replace": lambda s: s.replace("-", "") == "0.5",
}  # fmt: skip


def through_stream(write, read=io.StringIO.getvalue):
    def text_of(x):
        stream = io.StringIO()
        write(x, stream)
        stream.seek(0)
        return read(stream)

    return text_of


def redirected(x, stream):
    with contextlib.redirect_stdout(stream):
        print(x)


@dataclasses.dataclass
class Record:
    value: object


class Shown:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "Shown(%s)" % (self.value,)

    def __str__(self):
        return f"value {self.value}"


Pair = collections.namedtuple("Pair", "left right")
PATTERN = re.compile("-")
# What C code puts together from the text of an Array, or of what holds one.
TEXTS_OF_OTHERS = {
    "np.str_": np.str_,
    "np.str_ of a list": lambda x: np.str_([x]),
    "a field of a list": lambda x: f"{[x]}",
    "a field of a dict": lambda x: f"{ {'a': x} }",
    "a field of repr of a tuple": lambda x: f"{(x,)!r}",
    "a field of str of a list": lambda x: f"{[x]!s:>30}",
    "a field in a sum": lambda x: "a" + f"{[x]}" + "b",
    "a field of a dataclass": lambda x: f"{Record(x)}",
    "a field of a list of objects": lambda x: f"{[Shown(x), Record(x)]}",
    "a field of an object": lambda x: f"{Shown(x)}",
    "a field of a named tuple": lambda x: f"{Pair(x, 1)}",
    "a field of a namespace": lambda x: f"{types.SimpleNamespace(a=x)}",
    "a field of a deque": lambda x: f"{collections.deque([x])}",
    "a field of values": lambda x: f"{ {1: x}.values() }",
    "a field of an exception": lambda x: f"{KeyError([x])}",
    "a method of a list": lambda x: [x].__repr__(),
    "a method of its class": lambda x: list.__str__([x]),
    "Template": lambda x: string.Template("v = $x").substitute(x=x),
    "safe Template": lambda x: string.Template("v = $x").safe_substitute({"x": [x]}),
    "Formatter": lambda x: string.Formatter().format("{:.1f}", x),
    "join of str": lambda x: str.join(",", [str(x)]),
    "a sum of str": lambda x: str.__add__("a", str(x)),
    "sub": lambda x: re.sub("a", str(x), "cac"),
    "sub by a function": lambda x: re.sub("a", lambda m: str(x), "cac"),
    "sub of a pattern": lambda x: PATTERN.sub("+", str(x)),
    "textwrap": lambda x: textwrap.fill(str(x), 70),
    "pprint": lambda x: pprint.pformat([x]),
    "reprlib": lambda x: reprlib.repr([x]),
    "json": lambda x: json.dumps({"a": f"{x}"}, indent=1),
    "json of others": lambda x: json.dumps([Shown(x)], default=str),
    "shlex": lambda x: shlex.quote(str(x)),
    "replaced in text": lambda x: "value V".replace("V", str(x)),
    "printed": through_stream(lambda x, stream: print(x, file=stream)),
    "printed elsewhere": through_stream(redirected),
    "written": through_stream(lambda x, stream: stream.write(str(x)), io.StringIO.read),
    "written lines": through_stream(
        lambda x, stream: stream.writelines(["a\n", str(x), "\n"]),
        lambda stream: stream.readlines()[1],
    ),
    "csv": through_stream(lambda x, stream: csv.writer(stream).writerow([x, 1])),
}
# What C code, or a library, reads of text.
ASKED_BY_OTHERS = {
    "search": lambda s: bool(re.search("-", s)),
    "search of a pattern": lambda s: bool(PATTERN.search(s)),
    "findall": lambda s: len(PATTERN.findall(s)),
    "fullmatch": lambda s: bool(re.fullmatch("x", s)),
    "split by a pattern": lambda s: len(re.split("-", s)),
    "in text": lambda s: s in "0.5 1.5",
    "find in text": lambda s: "0.5 1.5".find(s),
    "startswith": lambda s: "0.5".startswith(s),
    "count in text": lambda s: "0.5".count(s),
    "split of text": lambda s: len("0.5".split(s)),
    "partition of text": lambda s: bool("0.5 1".partition(s)[1]),
    "removeprefix": lambda s: "0.5".removeprefix(s) == "",
    "bytes": lambda s: len(bytes(s, "utf8")),
    "digest": lambda s: hashlib.md5(s.encode()).digest()[0],
    "literal": lambda s: np.size(ast.literal_eval(s)),
    "json": lambda s: np.size(json.loads(s)),
    "fnmatch": lambda s: fnmatch.fnmatch(s, "0*"),
    "difflib": lambda s: difflib.SequenceMatcher(None, s, "0.5").ratio(),
    "an attribute": lambda s: getattr(1.0, s, 2.0),
    "an array": lambda s: float(np.array(s) == np.array("0.5")),
    "an array of texts": lambda s: float(np.all(np.asarray([s]) == np.asarray(["0.5"]))),
    "a path": lambda s: os.path.exists(s),
    "wrapped": lambda s: len(textwrap.wrap(s)),
    "words": lambda s: len(shlex.split(s)),
    "a method of str": lambda s: str.__eq__(s, "0.5"),
    "the length of str": lambda s: str.__len__(s),
}
MODES = {
    "vmap": pb.vmap,
    "vmap of grad": lambda f: pb.vmap(pb.grad(f)),
    "grad of vmap": lambda f: pb.grad(lambda xs: np.sum(pb.vmap(f)(xs))),
    "twice": lambda f: lambda xs: pb.vmap(pb.vmap(f))(np.stack([xs, xs])),
    "compiled": lambda f: pb.compile(pb.vmap(f)),
    "jacobian": lambda f: pb.jacobian(lambda xs: pb.vmap(f)(xs)),
}


@pytest.mark.parametrize("mode", MODES)
def test_it_decides_nothing(mode):
    assert not silent_pairs(mode, WRITERS, ASKERS)


@pytest.mark.parametrize("mode", MODES)
def test_nor_does_text_that_others_make_or_read(mode):
    asked = {name: ASKERS[name] for name in ("==", "len", "key", "in", "float")}
    written = {name: WRITERS[name] for name in ("str", "a field with digits", "of a list")}
    assert not silent_pairs(mode, TEXTS_OF_OTHERS, asked)
    assert not silent_pairs(mode, written, ASKED_BY_OTHERS, (SyntaxError,))


def silent_pairs(mode, writers, askers, loud=()):
    silent = []
    for i, (writer, write) in enumerate(writers.items()):
        for k, (asker, ask) in enumerate(askers.items()):
            if mode == "compiled" and (i + k) % 5:
                continue  # each is recorded
            f = lambda x, ask=ask, write=write: x * (1.0 + ask(write(x)))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of text that cannot be followed
                    MODES[mode](f)(XS)
            except (pb.ConversionError, *loud):
                pass
            except Exception as error:
                silent.append((writer, asker, type(error).__name__, str(error)))
            else:
                silent.append((writer, asker))
    return silent


def test_text_that_compiled_code_takes_warns_with_its_line():
    for write in (lambda x: ascii([x]), lambda x: operator.mod("%s", [x])):
        with pytest.warns(pb.LostDerivativeWarning, match=r"test_mapped_text.py:\d+.*ascii|mod"):
            pb.vmap(lambda x, write=write: x * (1.0 + (write(x) == "0.5")))(XS)


def test_the_sentence():
    with pytest.raises(pb.ConversionError) as met:
        pb.vmap(lambda x: x if f"{x:.1f}" == "0.5" else -x)(XS)
    assert str(met.value) == (
        "`==` was asked of text that was made of an Array mapped by `vmap(<lambda>)`: it shows the"
        " values of all examples, which may answer differently.\n"
        "  Ask the Array itself, as in `np.where(np.round(x, 1) == 0.5, a, b)`, or map by a loop:"
        " `np.stack([f(x) for x in xs])`."
    )


def test_it_is_shown(capsys, caplog):
    kept, kept_short, stream = [], [], io.StringIO()

    def f(x):
        kept.append(str(x))
        print(x, f"{x:.1f}", f"x = {x}", str(x) + "!", [x], Record(x), Shown(x), f"{Shown(x)}")
        stream.write(f"{x}")
        pprint.pprint({"x": x}, width=10)
        kept_short.append(reprlib.repr([x]))
        asyncio.run(asyncio.sleep(0, x), debug=True)
        with caplog.at_level(logging.INFO):
            logging.getLogger("test").info("x = %s, %r", x, [Record(x)])
            logging.getLogger("test").info(f"{x:.1f}")
        if str(x):
            kept.append(f"{x:.2f}".rjust(30))
        assert isinstance(f"{x}", str)
        try:
            raise ValueError(f"bad {x:.1f}")
        except ValueError as error:
            kept.append(str(error))
        return x * 2.0

    np.testing.assert_array_equal(pb.vmap(f)(XS), 2 * XS)
    assert "[0.5, -1.5, 2.0]" in capsys.readouterr().out
    assert "-1.5" in stream.getvalue()
    assert "[0.5, -1.5, 2.0]" in caplog.text
    # The transformation has ended: it is text as any other.
    assert kept[0] == str(XS)
    assert kept[1].split() == ["[0.50,", "-1.50,", "2.00]"]
    assert "bad" in kept[2]
    assert len({*kept}) == 3


def test_of_what_is_not_mapped_it_answers():
    def f(x, n):
        return x * len(str(n)) if str(n) == "12" and f"{n}" in {"12": 1} else -x

    np.testing.assert_array_equal(pb.vmap(f, in_axes=(0, None))(XS, 12), 2 * XS)
    assert pb.grad(lambda x: x if f"{x:.1f}" == "0.5" else -x)(0.5) == 1.0

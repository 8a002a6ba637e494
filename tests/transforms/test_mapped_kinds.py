"""Texts, dates and other elements that are no numbers, mapped: a loop's results, or an error."""

import datetime

import numpy as np
import pytest

import pullback as pb
from tests.budgets import asked

DATES = np.array([["2020-01-01", "2021-01-01"], ["2020-03-01", "2020-01-01"]], "M8[D]")
MAPPED = {
    "texts": np.array([["a", "b"], ["c", "a"]]),
    "bytes": np.array([[b"a", b"b"], [b"c", b"a"]]),
    "a text each": np.array(["a", "b", "c"]),
    "texts of any length": np.array([["a", "b"], ["c", "a"]], np.dtypes.StringDType()),
    "dates": DATES,
    "a date each": DATES[0],
    "times": DATES - DATES[0, 0],
    "hours": DATES.astype("M8[h]"),
    "a time each": (DATES - DATES[0, 0])[1].astype("m8[s]"),
    "nanoseconds": (DATES - DATES[0, 0]).astype("m8[ns]"),
    "objects": np.array([[1.5, 2], [3, "a"]], object),
    "floats as objects": np.array([[1.5, 2.5], [3.0, 4.0]], object),
    "fields": np.zeros((2, 3), [("a", float)]),
    "numbers": np.array([[1.0, 2.0], [3.0, 1.5]]),
    "integers": np.array([[1, 2], [3, 1]]),
    "truth values": np.array([[True, False], [False, False]]),
}
DAY, LATER = np.datetime64("2020-01-01"), np.timedelta64(366, "D")
OTHERS = [
    "a", "", b"a", np.str_("a"), np.array("a"), np.array(["a", "b"]), np.array([b"a", b"b"]), DAY,
    LATER, DATES[0], DATES[0] - DAY, None, 1.0, 1, np.float64(1.5), True, Ellipsis, {"a": 1},
    DAY.item(), LATER.item(),
    datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
]  # fmt: skip
ASKED = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    ">=": lambda x, y: y >= x,
    "reflected ==": lambda x, y: y == x,
    "reflected !=": lambda x, y: y != x,
    "equal": np.equal,
    "where": lambda x, y: np.where(x == y, 1.0, 2.0),
    "select": lambda x, y: np.select([x == y], [1.0], 0.0),
    "one element": lambda x, y: np.bool_(x[0] == y),
    "two elements": lambda x, y: x[0] == x[1],
    "itself": lambda x, y: x == x,
    "a loop": lambda x, y: np.array([element == y for element in x]),
    "a list": lambda x, y: np.array([element == y for element in x.tolist()]),
    "in": lambda x, y: y in x,
    "isin": lambda x, y: np.isin(x, [y]),
    "count": lambda x, y: np.count_nonzero(x == y),
    "a branch": lambda x, y: 1.0 if np.any(x == y) else 2.0,
    "a class": lambda x, y: isinstance(x[0], float),
    "a field": lambda x, y: x["a"],
    "float": lambda x, y: float(x[0]),
    "int": lambda x, y: int(x[0]),
    "complex": lambda x, y: complex(x[0]),
    "text": lambda x, y: str(x[0]) == "a",
    "a sum": lambda x, y: x + y,
    "a product": lambda x, y: x * 2,
    "astype": lambda x, y: x.astype(float),
    "char": lambda x, y: np.char.startswith(x, "a"),
    "sort": lambda x, y: np.sort(x),
    "an item": lambda x, y: x[0].item() == y,
    "difference": lambda x, y: x - DAY,
}


def of_examples(f, xs):
    try:
        return np.array([f(x) for x in xs])
    except Exception as error:  # whatever NumPy or Python raises
        return type(error)


@pytest.mark.filterwarnings("ignore")  # those that a loop gives, too
@pytest.mark.parametrize("kind", MAPPED)
def test_elements_of_all_kinds_are_those_of_a_loop_or_refused(kind):
    xs, wrong = MAPPED[kind], []
    for name, ask in asked(ASKED, 2, kind).items():
        for i, y in enumerate(OTHERS):
            f = lambda x, ask=ask, y=y: ask(x, y)
            expected = of_examples(f, xs)
            try:
                out = pb.vmap(f)(xs)
            except Exception:  # it is heard
                continue
            if isinstance(expected, type) and name == "equal":
                continue  # which answers for a number and a text as `==` does
            if expected is AttributeError and name == "an item":
                continue  # elements of texts of any length are Python's, which have no item
            if isinstance(expected, type):
                wrong.append((name, i, expected.__name__, out))
            elif not np.array_equal(np.broadcast_to(out, expected.shape), expected):
                wrong.append((name, i, expected, out))
    assert wrong == []


@pytest.mark.parametrize("kind", ["a text each", "bytes"])
def test_a_text_equals_no_list(kind):
    """A text is Python's, an array of texts is compared with a list element by element."""
    xs = MAPPED[kind]
    for y in (["a", "b"], ("a",), [b"a", b"b"], []):
        for f in (lambda x, y=y: np.where(x == y, 1.0, 2.0), lambda x, y=y: float(x != y)):
            for x in (xs, xs[0]) if kind == "bytes" else (xs,):
                expected = of_examples(f, x)
                if isinstance(expected, type):
                    with pytest.raises(Exception):  # noqa: B017, PT011  # whatever NumPy raises
                        pb.vmap(f)(x)
                else:
                    np.testing.assert_array_equal(
                        np.broadcast_to(pb.vmap(f)(x), expected.shape), expected
                    )


def test_objects_are_refused_with_what_to_write():
    for xs, what in ((MAPPED["objects"], "objects"), (MAPPED["fields"], "fields")):
        with pytest.raises(pb.ArgumentTypeError, match=f"an array of {what} to map"):
            pb.vmap(lambda x: x)(xs)


def test_items_of_dates_are_refused_with_what_to_write():
    for kind, python in (("dates", "a date"), ("times", "a timedelta"), ("nanoseconds", "an int")):
        text = f"(?s)is {python} of Python's for each.*astype"
        with pytest.raises(pb.ConversionError, match=text):
            pb.vmap(lambda x: x[0].item() == 1)(MAPPED[kind])

"""What becomes of an Array that Python or NumPy wants as something else: the table, cell by cell.

Constants convert, wherever they are. What may carry a derivative never detaches by itself.
The programs here meet NumPy and `math` themselves: rebinding is off.
"""

import array
import cmath
import ctypes
import fractions
import logging
import math
import operator

import numpy as np
import pytest

import pullback as pb
from tests.contexts import (
    NUMBER,
    SINGLE,
    VECTOR,
    everywhere,
    exact_type,
    for_constants,
    for_live,
    for_single,
    for_unmapped,
    under_grad,
    under_vmap,
)


@pytest.fixture(autouse=True)
def numpy_itself():
    with pb.rebinding(False):
        yield


CONVERSIONS = {  # of a number
    "numpy.asarray": np.asarray,
    "numpy.array": np.array,
    "numpy.float64": np.float64,
    "list to array": lambda x: np.array([x, 1.0])[0],
    "float": float,
    "complex": complex,
    "math.sin": lambda x: math.sin(x) / math.sin(3.0) * 3.0,
    "math.hypot": lambda x: math.hypot(x, 0.0),
    "cmath.sqrt": lambda x: (cmath.sqrt(x) ** 2).real,
    "math.floor": math.floor,
    "array.array": lambda x: array.array("d", [x])[0],
    "ctypes": lambda x: ctypes.c_double(x).value,
}


class TestToPlain:
    """`np.asarray(x)`, `float(x)`, `math.sin(x)`, passing x to C code."""

    @for_constants
    @pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=list(CONVERSIONS))
    def test_constants_convert(self, convert, within):
        done = []

        def body(x):
            assert exact_type(x) is pb.Array
            out = convert(x)
            assert exact_type(out) is not pb.Array
            np.testing.assert_allclose(out, 3.0)
            done.append(1)

        within(body, NUMBER)
        assert done

    @for_live
    @pytest.mark.parametrize("name", [name for name in CONVERSIONS if name != "ctypes"])
    def test_live_ones_raise(self, name, within):
        done = []

        def body(x):
            with pytest.raises(pb.ConversionError, match="the result would have lost"):
                CONVERSIONS[name](x)
            done.append(1)

        within(body, NUMBER)
        assert done

    @for_live
    def test_c_code_that_has_an_error_of_its_own(self, within):
        """ctypes says TypeError; what counts is that no number comes out."""

        def body(x):
            with pytest.raises((TypeError, pb.ConversionError)):
                ctypes.c_double(x)

        within(body, NUMBER)

    @for_constants
    def test_an_array_is_a_fresh_copy(self, within):
        def body(x):
            first, second = np.asarray(x), np.asarray(x)
            assert type(first) is np.ndarray
            np.testing.assert_array_equal(first, VECTOR)
            first[0] = 7.0
            assert second[0] == 3.0
            assert x.tolist() == [3.0, 1.0, 2.0]
            assert np.asarray(x, dtype=np.float32).dtype == np.float32
            assert np.asarray(x, dtype=complex).dtype == complex

        within(body, VECTOR)

    @for_live
    @pytest.mark.parametrize(
        "convert",
        [
            np.asarray,
            np.array,
            np.ascontiguousarray,
            lambda x: np.asarray(x, dtype=np.float32),
            lambda x: list(map(float, x)),
            lambda x: np.array([x, x]),
            lambda x: x.tobytes(),
            lambda x: np.frombuffer(x),
            lambda x: memoryview(x),
            lambda x: bytes(x),
            lambda x: array.array("d", x),
        ],
    )
    def test_a_live_vector_raises(self, convert, within):
        def body(x):
            with pytest.raises((pb.ConversionError, pb.MissingRuleError, TypeError, BufferError)):
                convert(x)

        within(body, VECTOR)

    @for_live
    def test_storing_into_a_plain_array_raises(self, within):
        """`plain[i] = x`: ours, or for a 0-d x NumPy's ValueError with ours as its cause."""

        def body(x):
            plain = np.zeros(3)
            with pytest.raises((pb.ConversionError, ValueError)) as caught:
                plain[0] = x
            chain = [caught.value, caught.value.__cause__, caught.value.__context__]
            assert any(isinstance(error, pb.ConversionError) for error in chain)
            with pytest.raises(pb.ConversionError):
                plain[:] = x * np.ones(3)
            np.testing.assert_array_equal(plain, np.zeros(3))

        within(body, NUMBER)

    @for_constants
    def test_a_constant_is_stored(self, within):
        def body(x):
            plain = np.zeros(3)
            plain[0] = x
            plain[1:] = x
            np.testing.assert_array_equal(plain, [3.0, 3.0, 3.0])

        within(body, NUMBER)

    @for_live
    def test_no_plain_array_is_written_into(self, within):
        """`plain += x` and `out=plain` are one call for NumPy; both are refused with advice."""

        def body(x):
            plain = np.zeros(3)
            with pytest.raises(pb.ArgumentError, match=r"a = a \+ x"):
                plain += x
            with pytest.raises(pb.ArgumentError, match="out=a"):
                np.add(plain, x, out=plain)
            np.testing.assert_array_equal(plain, np.zeros(3))

        within(body, NUMBER)

    @for_live
    @pytest.mark.parametrize(
        "out", [[np.zeros(3)], [0.0], 1.5, "text", {}, object()], ids=lambda x: type(x).__name__
    )
    def test_only_arrays_are_written_into(self, within, out):
        """What is no array raises TypeError, as NumPy does."""

        def body(x):
            for call in (np.add, np.multiply.outer):
                with pytest.raises(TypeError, match=r"must be an array|must be of ArrayType"):
                    call(x, x, out=out)
            with pytest.raises(TypeError, match=r"must be an array|must be of ArrayType"):
                np.add.reduce(np.stack([x, x]), out=out)

        within(body, NUMBER)

    @everywhere
    @pytest.mark.parametrize("name", ["ctypes", "__array_interface__", "__array_struct__"])
    def test_raw_memory_is_not_shown(self, name, within):
        """AttributeError, also for `hasattr` and `getattr` with a default."""

        def body(x):
            assert not hasattr(x, name)
            with pytest.raises(AttributeError):
                getattr(x, name)

        within(body, VECTOR)

    @everywhere
    def test_there_is_no_buffer(self, within):
        def body(x):
            with pytest.raises(TypeError):
                memoryview(x)

        within(body, VECTOR)

    @for_unmapped
    def test_the_message_says_what_to_write(self, within):
        def body(x):
            with pytest.raises(pb.ConversionError) as caught:
                float(x)
            text = str(caught.value)
            assert text.startswith("`float(x)` was asked of an Array float64 of `")
            for advice in ("x.numpy()", "pullback.stop_gradient(x)"):
                assert advice in text
            assert "Write `np.sin(x)` for `math.sin(x)`, `np.stack([x, y])` for storing" in text
            assert "and `x` itself for `float(x)`." in text
            assert "to assign `x` into one, write `np.array(a)`" in text
            with pytest.raises(pb.ConversionError) as caught:
                x.__array__()
            assert "Write `np.stack([x, y])` for `np.array([x, y])`" in str(caught.value)

        within(body, NUMBER)


class TestNumbers:
    """What a NumPy scalar has of Python's numbers."""

    @for_single
    def test_is_integer(self, within):
        def body(x):
            assert x.is_integer()
            assert not (x / 2).is_integer()
            assert not hasattr(np.stack([x, x]), "is_integer")

        within(body, NUMBER)

    @for_constants
    def test_ratio_of_a_constant(self, within):
        def body(x):
            assert x.as_integer_ratio() == (3, 1)

        within(body, NUMBER)

    def test_as_text(self):
        """Also where a call of C writes the text, and asks for a float."""
        message = logging.LogRecord("", 0, "", 0, "loss %.2f", (), None)

        def f(x):
            text = "%5.2f" % x
            text %= ()
            message.args = (x,)
            parts = [text, message.getMessage(), "%d:%e" % (x, x), x.hex(), f"{x:.1f}"]
            assert parts == [" 3.00", "loss 3.00", "3:3.000000e+00", "0x1.8000000000000p+1", "3.0"]
            return x * x

        assert pb.grad(f)(NUMBER) == pb.jvp(f, (NUMBER,), (1.0,))[1] == 6.0
        assert pb.grad(f)(np.float64(3.0)) == 6.0
        with pytest.raises(pb.ConversionError, match="mapped by `vmap"):
            pb.vmap(lambda x: len("%f" % x))(np.ones(2))

    def test_a_fraction_says_what_to_write(self):
        with pytest.raises(pb.ConversionError, match=r"Write `x` itself for `Fraction\(x\)`"):
            pb.grad(lambda x: x * fractions.Fraction(x))(NUMBER)


class TestDetachingByName:
    """`x.numpy()`, `x.detach()`, `pb.stop_gradient(x)` always work."""

    @for_single
    def test_of_a_number(self, within):
        def body(x):
            assert type(x.numpy()) is np.ndarray
            assert x.numpy() == 3.0
            assert float(x.detach()) == 3.0
            assert float(pb.stop_gradient(x)) == 3.0

        within(body, NUMBER)

    @for_single
    def test_of_a_vector(self, within):
        def body(x):
            plain = x.numpy()
            np.testing.assert_array_equal(plain, VECTOR)
            plain[0] = 7.0
            detached = x.detach()
            assert exact_type(detached) is pb.Array
            np.testing.assert_array_equal(np.asarray(detached), VECTOR)

        within(body, VECTOR)

    def test_under_vmap(self):
        """numpy shows all examples; detached values stay mapped."""

        def body(x):
            np.testing.assert_array_equal(x.numpy(), [3.0, 4.0])
            for detached in (x.detach(), pb.stop_gradient(x)):
                assert detached.shape == ()
                with pytest.raises(pb.ConversionError):
                    float(detached)
            texts.append(f"{x:.1f}")

        texts = []
        under_vmap(body, NUMBER)
        assert texts == ["[3.0, 4.0]"]

    def test_stop_gradient_takes_trees(self):
        f = lambda x: sum(pb.stop_gradient({"a": x, "b": [x, 2.0]})["b"]) * x
        assert pb.grad(f)(3.0) == 5.0
        assert pb.stop_gradient(["s", None, 2.0]) == ["s", None, 2.0]


class TestPythonNumbers:
    """`x.item()` and `x.tolist()` keep the traces of transformations; others give plain numbers."""

    @for_single
    def test_of_the_eager_trace_and_of_constants(self, within):
        def body(x):
            if exact_type(x.item()) is not pb.Array:
                assert type(x.item()) is float
                assert (x.item(), x.tolist()) == (3.0, 3.0)
            else:
                assert x.item().within is x.tolist().within is x.within
                assert x.item().shape == ()
                assert x.item().numpy() == 3.0

        within(body, NUMBER)

    def test_which_are_plain(self):
        kinds = {}
        for name, within in {**SINGLE, "vmap": under_vmap}.items():
            within(lambda x, name=name: kinds.update({name: type(x.item())}), NUMBER)
        transformations = {"grad", "value_and_grad", "vjp", "jvp", "linearize", "nested", "vmap"}
        assert kinds == {name: pb.Array if name in transformations else float for name in kinds}

    @pytest.mark.parametrize(
        ("args", "expected"),
        [((0,), 0.0), ((5,), 5.0), ((-1,), 5.0), ((1, 2), 5.0), (((1, -2),), 4.0)],
    )
    def test_which_element(self, args, expected):
        table = np.arange(6.0).reshape(2, 3)
        assert table.item(*args) == expected
        slope = pb.grad(lambda x: x.item(*args) ** 2)(table)
        right = np.where(table == expected, 2 * expected, 0.0)
        np.testing.assert_array_equal(slope, right)

    @pytest.mark.parametrize("args", [(), (6,), (0, 3), (0, 0, 0), ("a",), (0.5,)])
    def test_what_numpy_refuses(self, args):
        table = np.arange(6.0).reshape(2, 3)
        with pytest.raises(Exception) as right:  # noqa: PT011  # whichever it is
            table.item(*args)
        with pytest.raises(right.type):
            pb.grad(lambda x: x.item(*args))(table)

    def test_an_eager_array_inside_of_a_transformation(self):
        """The eager trace is taken off, the other stays."""

        def f(z):
            x = pb.array(2.0, requires_grad=True) * z
            out = x.item()
            assert exact_type(out) is pb.Array
            return out * z

        assert pb.grad(f)(3.0) == 12.0

    def test_nested_lists(self):
        table = np.arange(6.0).reshape(2, 3)
        slope = pb.grad(lambda x: sum(map(sum, x.tolist())) ** 2)(table)
        np.testing.assert_array_equal(slope, np.full((2, 3), 30.0))
        mapped = pb.vmap(lambda x: sum(map(sum, x.tolist())))(np.stack([table, 2 * table]))
        np.testing.assert_array_equal(mapped, [15.0, 30.0])


class TestLocallyConstant:
    """Comparisons, `round`, `//`, an index into an Array."""

    @everywhere
    def test_they_work(self, within):
        def body(x):
            for compare in (
                operator.lt,
                operator.le,
                operator.gt,
                operator.ge,
                operator.eq,
                operator.ne,
            ):
                assert compare(x, 1.5).shape == (3,)
                assert compare(1.5, x).shape == (3,)
                assert compare(x, x).shape == (3,)
                assert compare(VECTOR, x).dtype == bool
            assert round(x, 1).shape == (3,)
            assert (x // 2.0).shape == (3,)
            assert (7.0 // x).shape == (3,)
            assert x[np.argsort(x)].shape == (3,)
            assert x[np.argmax(x)].shape == ()

        within(body, VECTOR)

    @for_unmapped
    def test_values(self, within):
        def body(x):
            np.testing.assert_array_equal((x > 1.5), [True, False, True])
            np.testing.assert_array_equal(round(x * 1.26).numpy(), [4.0, 1.0, 3.0])
            np.testing.assert_array_equal((x // 2.0).numpy(), [1.0, 0.0, 1.0])
            np.testing.assert_array_equal(x[x > 1.5].numpy(), [3.0, 2.0])
            np.testing.assert_array_equal(x[np.argsort(x)].numpy(), [1.0, 2.0, 3.0])
            assert 3.0 in x
            assert 5.0 not in x

        within(body, VECTOR)

    def test_a_rounded_number_is_an_integer(self):
        """As NumPy's scalars: it counts and indexes."""
        assert pb.grad(lambda x: [1.0, 2.0, 3.0][round(x)] * x)(1.7) == 3.0
        assert pb.grad(lambda x: x * len(range(round(x))))(3.2) == 3.0
        out = pb.vmap(round)(np.array([0.7, -2.2]))
        np.testing.assert_array_equal(out, [1, -2])
        assert out.dtype == int

    def test_they_have_derivative_zero(self):
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(x // 2.0))(VECTOR), np.zeros(3))
        assert pb.grad(lambda x: round(x) * x)(2.7) == 3.0
        assert pb.jvp(lambda x: x // 2.0, (3.0,), (1.0,)) == (1.0, 0.0)

    def test_they_are_mapped_under_vmap(self):
        np.testing.assert_array_equal(
            pb.vmap(lambda x: x > 3.5)(np.array([3.0, 4.0])), [False, True]
        )
        picked = pb.vmap(lambda x: VECTOR_ARRAY[np.argmax(x)])(np.eye(3)[::-1])
        np.testing.assert_array_equal(picked, VECTOR[::-1])
        np.testing.assert_array_equal(pb.vmap(lambda x: x[np.argmin(x)])(np.eye(3)), np.zeros(3))

    def test_equality_with_something_else(self):
        """As NumPy has it."""

        def body(x):
            assert not np.any(x == None)  # noqa: E711  # the subject
            assert np.all(x != None)  # noqa: E711  # the subject
            assert not np.any(x == "word")

        under_grad(body, VECTOR)


VECTOR_ARRAY = pb.array(VECTOR)


class TestAnswers:
    """`bool(x)`, `int(x)`, `plain[x]`: on values; refused for a mapped value."""

    @for_single
    def test_of_values(self, within):
        def body(x):
            assert bool(x) is True
            assert not bool(x - 3.0)
            assert int(x) == 3
            assert type(int(x)) is int
            assert (1 if x > 2 else 0) == 1
            assert [1 for _ in range(int(x))] == [1, 1, 1]
            assert np.arange(10)[int(x)] == 3
            assert np.arange(10)[np.argmax(np.stack([x - 5.0, x]))] == 1
            assert max(x, 2.0) is x
            assert (x and 5) == 5

        within(body, NUMBER)

    @for_single
    def test_a_float_is_no_index(self, within):
        """As in NumPy: TypeError or IndexError, or ours."""

        def body(x):
            with pytest.raises((TypeError, IndexError, pb.ConversionError)):
                np.arange(10)[x]
            with pytest.raises((TypeError, IndexError, pb.ConversionError)):
                [1, 2, 3, 4][x]

        within(body, NUMBER)

    def test_integer_constants_are_indices(self):
        n = pb.array(2)
        assert np.arange(5)[n] == 2
        assert [1, 2, 3][n] == 3
        assert list(range(n)) == [0, 1]
        np.testing.assert_array_equal(np.arange(5)[pb.array([1, 3])], [1, 3])
        np.testing.assert_array_equal(np.arange(2)[pb.array([True, False])], [0])

    @for_single
    def test_several_values_have_no_single_answer(self, within):
        """NumPy's own errors."""

        def body(x):
            with pytest.raises(ValueError, match="ambiguous"):
                bool(x)
            with pytest.raises(ValueError, match="ambiguous"):
                bool(x > 1.0)
            with pytest.raises(TypeError):
                int(x)

        within(body, VECTOR)

    @pytest.mark.parametrize(
        "ask",
        [
            bool,
            int,
            lambda x: bool(x > 3.0),
            lambda x: 1 if x > 3.0 else 2,
            lambda x: x and 1,
            lambda x: not x,
            lambda x: max(x, 3.5),
            lambda x: np.arange(9)[x.astype(int)],
            lambda x: [1, 2, 3, 4][x.astype(int)],
            lambda x: range(x.astype(int)),
            lambda x: 3.0 in x * np.ones(2),
        ],
    )
    def test_refused_for_a_mapped_value(self, ask):
        def body(x):
            with pytest.raises(pb.ConversionError):
                ask(x)

        under_vmap(body, NUMBER)
        # Deeper as well: an Array of grad whose value is mapped.
        pb.vmap(pb.grad(lambda x: body(x) or x))(np.array([3.0, 4.0]))

    def test_an_integer_index_of_a_plain_array_by_a_mapped_value_names_the_remedy(self):
        with pytest.raises(
            pb.ConversionError, match=r"mapped by.*holds 2 values.*\n.*pullback\.array\(a\)\[x\]"
        ):
            pb.vmap(lambda i: np.arange(9)[i])(np.array([1, 2]))
        out = pb.vmap(lambda i: pb.array(np.arange(9))[i])(np.array([1, 2]))
        np.testing.assert_array_equal(out, [1, 2])


def test_compiled_code_comes_to_an_end():
    """C that asks a number for a method, and the result again, finds what NumPy's number gives."""
    for name in dir(np.float64):
        ask = operator.methodcaller(name)
        try:
            plain = ask(np.float64(1.5))
        except Exception:
            continue
        if hasattr(plain, name):
            continue

        def asked(x, ask=ask, name=name):
            with pytest.raises((AttributeError, TypeError, pb.PullbackError)):
                ask(ask(x))
            return x * x

        assert pb.grad(asked)(np.float64(1.5)) == 3.0, name

"""Names are for people: what an operation is called decides nothing when it is compiled.

That renaming ours changes nothing is part of the laws of compiled samples: while these compile,
names can't be compared (`tests.laws.common.unreadable_names`).
"""

import numpy as np
import pytest

import pullback as pb
from pullback.core.primitive import Primitive
from pullback.primitives import load
from tests.laws.common import named_operations, unreadable_names

load()
NAMES = sorted({p.name for p in named_operations()} | {"scan", "while", "while_pull", "trips"})


def one(x):
    return 3 * x + 1


def two(x, y):
    return 3 * x + y + 1


class Doubled(pb.Linear):
    """2 * x, under any name."""

    def value(self, x):
        return 2 * x

    def spec(self, x):
        return x

    def transpose(self, i, xs, out_bar):
        return 2 * out_bar


def shifted(x):
    return 3 * x + 1


@pytest.fixture
def lookalikes(request):
    """Operations of a user's that bear a name of ours."""
    name = request.param
    made = [
        pb.Elementwise(one, lambda out, x: 3.0, name=name),
        pb.Elementwise(two, lambda out, x, y: 3.0, lambda out, x, y: 1.0, name=name),
        Doubled(name),
    ]
    function = pb.primitive(shifted)
    function.name = name
    function.defvjp(lambda out_bar, residual, wanted: (3 * out_bar,), reads="")
    yield [*made, function]
    for primitive in made:
        Primitive.everything.remove(primitive)


def programs(unary, binary, doubled, function):
    """Each one in every place in which a rewriting rule may take it for another."""

    def values(x, n):
        y = binary(unary(x), 1.0) + binary(x, 0.0) + binary(1.0, x) + binary(-0.0, unary(unary(x)))
        y = y + binary(x, x) + function(function(x)) + doubled(doubled(x)) + function(unary(x))
        return y, unary(n), binary(n, 1.0), binary(1.0, n), doubled(x)[::-1], unary(n) < 4.5

    def gradient(x, n):
        return pb.grad(lambda x: sum([np.sum(part) for part in values(x, n)[:5]]))(x)

    def filled(x, n):
        out = np.zeros_like(x)
        for i in range(3):
            out[i] = unary(doubled(x)[i]) + binary(x[i], n)
        return out, binary(out, 1)[1], doubled(out)

    return values, gradient, filled


@pytest.mark.share(8)
@pytest.mark.parametrize("lookalikes", NAMES, indirect=True)
def test_an_operation_that_bears_a_name_of_ours_is_compiled_as_itself(lookalikes):
    x = np.array([1.0, -2.0, 4.0])
    for function in programs(*lookalikes):
        expected, fast = function(x, 1.5), pb.compile(function)
        for _ in range(3):
            found = fast(x, 1.5)
            found, right = (z if type(z) is tuple else (z,) for z in (found, expected))
            for a, b in zip(found, right, strict=True):
                assert type(a) is type(b)
                np.testing.assert_array_equal(a, b)
        assert fast.cache_info().hits


def test_names_that_cannot_be_read_raise_where_they_are_compared():
    """The instrument of the law: comparing or hashing a name fails, showing it does not."""
    with unreadable_names():
        name = pb.core.primitive.Primitive.everything[0].name
        for ask in (lambda: name == "add", lambda: name in {"add"}, lambda: name in ("add",)):
            with pytest.raises(AssertionError, match="decided by a name"):
                ask()
        assert f"`{name}`"

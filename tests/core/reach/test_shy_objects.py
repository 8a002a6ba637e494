"""Objects that hear of every attribute that they are asked for: nobody but the program asks.

A package may forward whatever it is asked, or end in a recursion where it isn't ready yet.
"""

import functools

import pytest

import pullback as pb


class Shy:
    """Notes the names that it is asked for."""

    def __init__(self, scale, asked):
        super().__setattr__("scale", scale)
        super().__setattr__("asked", asked)

    def __getattribute__(self, name):
        asked = super().__getattribute__("asked")  # not there yet, if it is asked too early
        asked.append(name)
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)

    def __call__(self, x):
        return x * self.scale

    def __len__(self):
        return 2

    def __iter__(self):
        return iter([self.scale, 2.0])

    def __getitem__(self, k):
        return self.scale + k

    def __contains__(self, x):
        return x is self

    def __bool__(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __mul__(self, x):
        return self.scale * x

    def __float__(self):
        return 2.0

    def __eq__(self, other):
        return other is self

    def __hash__(self):
        return 1

    def times(self, x):
        return self.scale * x


def held(shy, x):
    holder = type("Holder", (), {})()
    holder.inner = shy
    holder.x = x
    return holder.inner.times(holder.x)


def with_block(shy, x):
    with shy as same:
        return same.scale * x


def noted(shy, x):
    shy.scale = x
    return shy.scale**2


def inherited(shy, x):
    object.__setattr__(shy, "scale", 3 * x)
    return object.__getattribute__(shy, "scale")


ROUTES = {
    "attribute": lambda shy, x: shy.scale * x,
    "method": lambda shy, x: shy.times(x),
    "bound": lambda shy, x: next(f(x) for f in (shy.times,)),
    "call": lambda shy, x: shy(x),
    "mapped": lambda shy, x: sum(map(shy, [x, x])),
    "length": lambda shy, x: len(shy) * x,
    "loop": lambda shy, x: sum(k * x for k in shy),
    "item": lambda shy, x: shy[1] * x,
    "within": lambda shy, x: x * (shy in [shy]) + x * (3.0 in shy),
    "truth": lambda shy, x: x if shy else 2 * x,
    "product": lambda shy, x: shy * x,
    "number": lambda shy, x: float(shy) * x,
    "equal": lambda shy, x: x * (shy == shy) + x * (shy != 1.0),
    "key": lambda shy, x: {shy: x}[shy],
    "value": lambda shy, x: {"a": shy}["a"].scale * x,
    "copied": lambda shy, x: {"a": shy, "b": x}["b"] + next(iter((shy,))).scale * x,
    "listed": lambda shy, x: [shy, x][1] * shy.scale,
    "appended": lambda shy, x: (out := [], out.append(shy), out.append(x))[0][1],
    "partial": lambda shy, x: functools.partial(lambda s, y: s.scale * y, shy)(x),
    "kind": lambda shy, x: x * isinstance(shy, Shy) + x * (type(shy) is Shy),
    "attr": lambda shy, x: getattr(shy, "scale") * x + x * hasattr(shy, "scale"),  # noqa: B009  # the builtin is asked
    "vars": lambda shy, x: object.__getattribute__(shy, "scale") * x,
    "sorted": lambda shy, x: sorted([x, 2 * x], key=lambda y: y * shy.scale)[0],
    "made": lambda shy, x: Shy(x, shy.asked).scale ** 2,
    "held": held,
    "with": with_block,
    "noted": noted,
    "inherited": inherited,
}


def asked_by(route, way):
    asked = []
    shy = Shy(2.0, asked)
    value = way(lambda x: ROUTES[route](shy, x))(1.5)
    return value, [name for name in asked if name != "__dict__"]


@pytest.mark.parametrize("route", ROUTES)
def test_only_the_program_asks(route):
    value, plain = asked_by(route, lambda f: f)
    found, asked = asked_by(route, pb.value_and_grad)
    assert found[0] == value
    assert asked == plain

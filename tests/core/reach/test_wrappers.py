"""Functions in proxies of compiled code, and classes without a plain function, take part."""

import functools

import numpy as np
import pytest

from tests.agreement import has_slopes


class Proxy:
    """As wrapt's: what it calls is found by C, and not by a method of Python."""

    __slots__ = ("__wrapped__",)
    __call__ = property(lambda self: self.__wrapped__)

    def __init__(self, wrapped):
        self.__wrapped__ = wrapped


@Proxy
def squares(x):
    return np.array([x, float(x) * x]).sum()


class Lazy:
    @functools.cached_property
    def total(self):
        return np.array([self.x, self.x**2]).sum()


class Given:
    total = property(lambda self: np.array([self.x, self.x**2]).sum())


class Static:
    @staticmethod
    def total(x):
        return np.array([x, x**2]).sum()


class Method:
    def total(self, x):
        return np.array([x, x**2]).sum()

    proxy = Proxy(total)


def of_lazy(x):
    lazy = Lazy()
    lazy.x = x
    return lazy.total


def of_given(x):
    given = Given()
    given.x = x
    return given.total


PROGRAMS = {
    "proxy": lambda x: squares(x),
    "partial": lambda x: functools.partial(squares, x)(),
    "proxy of a method": lambda x: Proxy(Method().total)(x),
    "proxy in a class": lambda x: Method.proxy(None, x),
    "cached property": of_lazy,
    "property": of_given,
    "static": lambda x: Static().total(x),
}


def check(f):
    has_slopes(f, 1.3)
    assert type(f(1.3)) in (float, np.float64)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name])


def test_wrapt():
    wrapt = pytest.importorskip("wrapt")

    @wrapt.decorator
    def doubled(wrapped, instance, args, kwargs):
        return np.array([2.0, wrapped(*args, **kwargs)]).prod()

    @doubled
    def f(x):
        return np.array([x, x**2]).sum()

    class Model:
        @doubled
        def method(self, x):
            return np.array([x, x**2]).sum()

        @doubled
        @classmethod
        def of_class(cls, x):
            return np.array([x, x**2]).sum()

    check(f)
    check(lambda x: Model().method(x) + Model.of_class(x))
    check(lambda x: wrapt.ObjectProxy(Model()).method(x))
    check(lambda x: wrapt.CallableObjectProxy(f)(x))

"""Classes that derive from ndarray and keep their attributes in a way of their own."""

import numpy as np

from tests.agreement import has_slopes
from tests.together import try_all


class State(np.ndarray):
    """Attributes in a dictionary, which only objects that were made by the class have."""

    def __new__(cls, x, form="plain"):
        self = np.ndarray.__new__(cls, (2,), buffer=np.array([*x]), dtype=float)
        object.__setattr__(self, "_data", {"form": form})
        return self

    def __array_finalize__(self, obj):
        if obj is not None:
            object.__setattr__(self, "_data", obj._data.copy())

    def __getattr__(self, name):
        if name == "radius":
            return np.sqrt(self[0] ** 2 + self[1] ** 2)
        if name in self._data:
            return self._data[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if name == "form":
            self.base.setfield(np.asarray(self) * (2.0 if value == "double" else 1.0), dtype=float)
        self._data[name] = value

    def turned(self):
        return State([self[1], -self[0]], self.form)


class Locked(np.ndarray):
    """`super().__setattr__` and `__delattr__`."""

    def __new__(cls, x):
        self = np.asarray(x).view(cls)
        self.unit = 2.0
        return self

    def __array_finalize__(self, obj):
        if obj is not None:
            super().__setattr__("scale", getattr(obj, "scale", 3.0))

    def __setattr__(self, name, value):
        super().__setattr__(name, value)

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def scaled(self):
        return self * self.scale * self.unit if hasattr(self, "unit") else self * self.scale


def doubled(x):
    state = State([x, x * x])
    state.form = "double"
    return state


def without_unit(x):
    locked = Locked(np.array([x, 1.0]))
    del locked.unit
    return locked


KEPT = []
PROGRAMS = {
    "read": lambda x: State([x, 2.0]).radius,
    "written": lambda x: doubled(x)[1] + (doubled(x).form == "double"),
    "in a method": lambda x: State([x, 2.0], "other").turned()[1] * 2.0,
    "an own attribute": lambda x: setattr_of(State([x, 1.0]), x).mass,
    "copied": lambda x: (doubled(x) * 2.0).sum(),
    "kept": lambda x: KEPT.append(doubled(x)) or KEPT[-1][0],
    "super": lambda x: Locked(np.array([x, 1.0])).scaled().sum(),
    "deleted": lambda x: without_unit(x).scaled()[0],
    "a field": lambda x: field_of(np.array([x, 1.0])),
}


def setattr_of(state, x):
    state.mass = x * 3.0
    return state


def field_of(a):
    a.setfield(a[0] * 2.0, float)
    return a.getfield(float)[1]


def test_attributes():
    try_all(has_slopes, [(name, (f, 1.7, 0)) for name, f in PROGRAMS.items()])
    assert all(type(state) is State for state in KEPT)

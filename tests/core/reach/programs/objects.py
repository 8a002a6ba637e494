"""Classes with methods, and a module whose functions share a global with them."""

import math

import numpy as np


class Base:
    factor = 2.0

    def __init__(self, power):
        self.power = power

    def features(self, x):
        return np.array([x[0], x[1] ** self.power])

    @property
    def wave(self):
        return math.sin(self.power)


class Model(Base):
    def features(self, x, *, shift=0.0):
        return super().features(x) + np.full(2, shift)

    @staticmethod
    def norm(x):
        return math.hypot(x[0], x[1])

    @classmethod
    def scaled(cls, x):
        return np.array([x[0], 0.0]) * cls.factor

    def __matmul__(self, x):
        return np.array([x[0], x[1]])


def uses(x):
    model = Model(2.0)
    assert isinstance(model, Base)
    return model.features(x, shift=1.0) * Model.norm(x) + Model.scaled(x) + (model @ x)


def simple(x):
    return np.sum(Model(2.0).power * x)

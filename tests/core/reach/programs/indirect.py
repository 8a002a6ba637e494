"""A module where a method calls a function that stores a global, which another function reads."""

import numpy as np

level = 1.0


def raise_level():
    global level
    level = level + 1.0


class Thermostat:
    def step(self, x):
        raise_level()
        return x * level


def regulated(x):
    return np.sum(Thermostat().step(x) * level)

"""A module where methods of a class store a global that functions read."""

import numpy as np

level = 1.0


class Thermostat:
    def step(self, x):
        global level
        level = level + 1.0
        return x * level


def regulated(x):
    y = Thermostat().step(x)
    return np.sum(y * level)


def created(x):
    return np.sum(np.array([x[0], x[1]]) * level)

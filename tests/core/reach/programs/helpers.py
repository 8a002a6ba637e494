"""A module that another one calls by attribute."""

import math

import numpy as np

scale = 2.0
calls = 0


def pair(a, b):
    global calls
    calls += 1
    return np.array([a, b]) * scale


def wave(t):
    return pair(math.sin(t), 1.0)[0]

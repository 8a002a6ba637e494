"""Ordinary programs over SciPy, which know nothing of pullback.

A module has `PROGRAMS`, pairs of a function and arguments, all of which are floating and are
differentiated. `MORE` are pairs that are compiled in long runs alone, and `SELDOM` pairs that are
asked there alone, since they take long. `UNDIFFERENCED` are pairs whose differences say nothing,
each for a reason: their value and the modes are asked. `REFUSED` are pairs without a derivative.
"""

"""Python's operators, by the names of their methods, and the ufuncs that implement them."""

import operator

import numpy as np

INFIX = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
# What Python asks of the other operand: `a < b` is `b > a`.
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
PREFIX = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}
OPERATIONS = {
    ufunc: getattr(operator, f"__{name}__") for name, ufunc in (INFIX | COMPARISONS).items()
}

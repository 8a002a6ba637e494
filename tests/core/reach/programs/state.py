"""A module whose functions store globals."""

import numpy as np

calls = 0
last = None
table = None
numeric = None
registry = []
temporary = 1


def counts(x):
    global calls
    calls += 1
    inner(x)
    return np.array([x[0], calls * x[1]])


def inner(x):
    global calls
    calls += 10


def fails(x):
    global calls, last
    calls += 1
    last = "failed"
    raise ValueError("as it should")


def creates(x):
    global table, last
    if table is None:
        table = np.linspace(0.0, 1.0, 3)
    last = double
    return table * x


def double(x):
    return np.array([x[0], x[1]]) * 2.0


def late_import(x):
    global numeric
    if numeric is None:
        import numpy as numeric
    return numeric.array([x[0], x[1]])


def defines(x):
    global made

    def made(t):
        return np.array([t, calls])

    return made(x[0])


def deletes(x):
    global temporary
    del temporary
    return x


def dynamic(x):
    globals()["dynamic_value"] = 5.0
    exec("exec_value = np.zeros(2)", globals())
    return x * globals()["dynamic_value"]


def remembers(x):
    registry.append("called")
    remembers.calls = getattr(remembers, "calls", 0) + 1
    return np.array([x[0], remembers.calls])


kept = []
level = 1.0


def leveled(x):
    return np.array([x[0], x[1]]) * level


def escapes(x):
    kept.append(leveled)
    kept.append(lambda t: leveled(t))
    return np.sum(leveled(x))

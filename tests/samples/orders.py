"""Orders of memory: what makes a copy or a view of an array in one of them."""

import numpy as np

from pullback.testing import Sample
from tests.samples import served, since

random = np.random.default_rng(53)


def real(*shape, dtype=float):
    return random.uniform(0.5, 1.5, shape).astype(dtype)


def calls(function, *choices):
    """A sample for each choice of keywords."""

    def program(function, x, **keywords):
        return function(x, **keywords)

    program.__name__ = function.__name__
    return [
        Sample(
            served(function, program),
            (real(*shape),),
            keywords,
            name=name(function, keywords, shape),
        )
        for keywords in choices
        for shape in ((2, 3), (3,), (2, 3, 2))
    ]


def name(function, keywords, shape):
    given = ", ".join([f"{key}={value!r}" for key, value in keywords.items()])
    return f"{function.__name__}(float64{[*shape]}, {given})"


def methods(method, *choices):
    """A sample for each choice of arguments of a method, and of one on a part of an array."""
    return [
        Sample(
            lambda x, part=part, args=args, keywords=keywords: getattr(x[part], method)(
                *args, **keywords
            ),
            (real(2, 4),),
            name=f"x{which}.{method}({args}, {keywords})",
        )
        for args, keywords in choices
        for which, part in (
            ("", ...),
            ("[:, ::2]", (slice(None), slice(None, None, 2))),
            (".T", (None, 0)),
        )
    ]


def keywords(key, *values, **more):
    return [{key: value, **more} for value in values]


ORDERS = ("C", "F", "A", "K")
CONVERTERS = (np.array, np.asarray, np.asanyarray)

SAMPLES = [
    *calls(np.ascontiguousarray, {}),
    *calls(np.asfortranarray, {}, {"dtype": "f4"}),
    *calls(np.require, *keywords("requirements", None, "C", "F", ["W", "C"], "A")),
    *[
        sample
        for function in CONVERTERS
        for sample in calls(
            function,
            *keywords("order", *ORDERS),
            *keywords("order", *ORDERS, copy=True),
            *keywords("order", *ORDERS, copy=None),
            *keywords("order", *ORDERS, dtype="f4"),
            *keywords("order", *ORDERS, dtype=">f8"),
        )
    ],
    *calls(np.array, {"ndmin": 3, "order": "F"}, {"ndmin": 3, "copy": None}),
    *methods(
        "astype",
        *[
            ((dtype,), {"order": order, "copy": copy})
            for dtype in (float, "f4", ">f8")
            for order in ORDERS
            for copy in (True, False)
        ],
    ),
    *methods("copy", *[((), {"order": order}) for order in ORDERS], ((), {})),
    *methods("__copy__", ((), {})),
    *methods("__deepcopy__", (({},), {})),
    *methods("flatten", *[((order,), {}) for order in ORDERS]),
    *methods("ravel", *[((order,), {}) for order in ORDERS]),
    *methods("reshape", *[((-1,), {"order": order}) for order in "CFA"]),
    *methods("reshape", *[((2, -1), {"order": order}) for order in "CFA"]),
    *since(
        "2.1.0", *methods("reshape", *[((-1,), {"order": order, "copy": True}) for order in "CFA"])
    ),
    *[
        Sample(
            lambda x, function=function, order=order: (function(x, order=order), x * 2),
            (real(*shape),),
            name=f"{function.__name__}(float64{[*shape]}, order={order!r})",
        )
        for function in (np.zeros_like, np.ones_like, np.copy)
        for order in ORDERS
        for shape in ((2, 3), (2, 3, 2))
    ],
    *[
        Sample(
            lambda x, y, f=f, order=order, key=key: f([x, x.T][key == "F"], y, order).ravel("K"),
            (real(3, 3), real(3, 3)),
            name=f"{name}, order={order!r}, of {key}",
        )
        for name, f in {
            "add": lambda x, y, order: np.add(x, 2.0, order=order),
            "multiply": lambda x, y, order: np.multiply(x, y, order=order),
            "modf": lambda x, y, order: np.modf(x, order=order)[0],
            "matmul": lambda x, y, order: np.matmul(x, y, order=order),
            "outer": lambda x, y, order: np.multiply.outer(x, y[0], order=order),
            "einsum": lambda x, y, order: np.einsum("ij,jk", x, y, order=order),
        }.items()
        for order in ORDERS
        for key in "CF"
    ],
    *[
        Sample(
            lambda x, order=order: np.full_like(x, x[0, 0], order=order),
            (real(2, 3),),
            name=f"full_like, order={order!r}",
        )
        for order in ORDERS
    ],
    *[
        Sample(
            lambda x, order=order: np.full_like(x, x[0, 0], order=order, shape=(2, 2)),
            (real(2, 3),),
            name=f"full_like with a shape, order={order!r}",
        )
        for order in ORDERS
    ],
    *[
        Sample(served(function, program), real(2, 4), name=f"{function.__name__}, {label}")
        for function in (np.asfortranarray, np.ascontiguousarray, np.require)
        for label, program in {
            "ravel": lambda f, x: f(x * 1.0).ravel(),
            "reshape": lambda f, x: f(x.T * 1.0).reshape(-1),
            "take": lambda f, x: np.take(f(x * 1.0), [1, 0], axis=1).ravel(),
            "part": lambda f, x: f(x * 1.0)[:, 1:].reshape(-1, order="F"),
            "flip": lambda f, x: np.flip(f(x * 1.0)).ravel("K"),
        }.items()
    ],
    *[
        Sample(
            served(
                np.require,
                lambda require, x, part=part: (a := x * 1.0, require(a[part], None, ["O"])),
            ),
            real(2, 4),
            name=f"require an owner, {label}",
        )
        for label, part in {"of all": ..., "of a part": (slice(None), slice(None, None, 2))}.items()
    ],
]

"""Mistakes of newcomers: results called with too little, axes and rules that don't fit, data that
are no array. The table is as in `test_mistakes`.
"""

import numpy as np
import pytest

from tests.core.test_first_day import FORWARD, OWN, RULE, X
from tests.core.test_mistakes import Mistake, check

MISTAKES = {
    # How results are called and read.
    "a pullback of nothing": Mistake(
        "out, pull = pb.vjp(square, X)\nout, = pull()",
        "pullback(np.ones_like(out))",
        "out, pull = pb.vjp(square, X)\nout, = pull()",
        "out, pullback = pb.vjp(square, X)\nout, = pullback(np.ones_like(out))",
    ),
    "a cotangent for each output": Mistake(
        "v, w = 1.0, np.zeros(3)\n"
        "out, pullback = pb.vjp(lambda x: (f(x), square(x)), X)\nout, = pullback(v, w)",
        "pullback((v, w))",
        "pullback(v, w)",
        "pullback((v, w))",
    ),
    "a column as cotangent": Mistake(
        "v = np.ones((3, 1))\nout, = pb.vjp(square, X)[1](v)",
        "np.reshape(v, (3,))",
        "[1](v)",
        "[1](np.reshape(v, (3,)))",
    ),
    "a cotangent of another length": Mistake(
        "out, = pb.vjp(square, X)[1](np.ones(4))",
        "np.ones((3,))",
        "np.ones(4)",
        "np.ones((3,))",
    ),
    "an array as the gradient of a number": Mistake(
        "x = pb.array(X, requires_grad=True)\nf(x).backward(np.ones(3))\nout = x.grad",
        "1.0",
        "np.ones(3)",
        "1.0",
    ),
    "one direction for two arguments": Mistake(
        "x, y = X, X\nout = pb.hvp(lambda x, y: f(x) + f(y), (0, 1))(x, y, np.ones(3))[0]",
        "(np.ones_like(x), np.ones_like(y))",
        "np.ones(3)",
        "(np.ones_like(x), np.ones_like(y))",
        2 * np.ones(3),
    ),
    "a pushforward of nothing": Mistake(
        "v = np.ones(3)\npushforward = pb.linearize(f, X)[1]\nout = pushforward()",
        "pushforward(v)",
        "pushforward()",
        "pushforward(v)",
        9.0,
    ),
    # What is given as a function, and what it returns.
    "a coroutine function": Mistake(
        "import asyncio\n\nasync def g(x):\n    return f(x)\n\nout = pb.grad(g)(X)",
        "grad(lambda x: asyncio.run(g(x)))",
        "grad(g)",
        "grad(lambda x: asyncio.run(g(x)))",
    ),
    "a generator function": Mistake(
        "def g(x):\n    for e in x:\n        yield e * e\n\nout = pb.grad(g)(X)",
        "grad(lambda x: sum(g(x)))",
        "grad(g)",
        "grad(lambda x: sum(g(x)))",
    ),
    "a generator as output": Mistake(
        "def g(x):\n    values = (e * e for e in x)\n    return values\n\nout = pb.grad(g)(X)",
        "return sum(values)",
        "return values",
        "return sum(values)",
    ),
    "a map as output": Mistake(
        "def g(x):\n    values = map(square, x)\n    return values\n\nout = pb.grad(g)(X)",
        "sum(values)",
        "return values",
        "return sum(values)",
    ),
    "a method that is not called": Mistake(
        "out = pb.grad(lambda x: square(x).sum)(X)", ".sum()", ".sum)", ".sum())"
    ),
    "a function that is not called": Mistake(
        "out = pb.grad(lambda x: f)(X)", "f(x)", "x: f)", "x: f(x))"
    ),
    "a step of scan without rows": Mistake(
        "out = pb.scan(lambda carry: (carry + 1, None), 0.0, X)[0]",
        "lambda carry, x:",
        "lambda carry:",
        "lambda carry, x:",
        3.0,
    ),
    "a body without the counter": Mistake(
        "out = pb.fori_loop(0, 3, lambda carry: 2 * carry, 1.0)",
        "lambda i, carry:",
        "lambda carry:",
        "lambda i, carry:",
        8.0,
    ),
    "a length that is no integer": Mistake(
        "length = 3.0\nout = pb.scan(lambda c, x: (c + 1, None), 0.0, length=length)[0]",
        "int(length)",
        "length=length",
        "length=int(length)",
        3.0,
    ),
    "grad as a decorator of a method": Mistake(
        "class M:\n    @pb.grad\n    def loss(self, x):\n        return f(x)\n\n"
        "model, x = M(), X\nout = model.loss(x)",
        "pullback.grad(model.loss)(x)",
        "    @pb.grad\n    def loss(self, x):\n        return f(x)\n\n"
        "model, x = M(), X\nout = model.loss(x)",
        "    def loss(self, x):\n        return f(x)\n\n"
        "model, x = M(), X\nout = pullback.grad(model.loss)(x)",
    ),
    # Axes of vmap.
    "an axis for what has fewer": Mistake(
        "out = pb.vmap(lambda x, y: f(x) * y, in_axes=1)(np.ones((3, 2)), np.float64(2.0))",
        "in_axes=(1, None)",
        "in_axes=1",
        "in_axes=(1, None)",
        np.array([6.0, 6.0]),
    ),
    "an axis too many": Mistake(
        "out = pb.vmap(f, in_axes=2)(np.ones((3, 2)))",
        "in_axes=1",
        "in_axes=2",
        "in_axes=1",
        np.array([3.0, 3.0]),
    ),
    "axes for more arguments": Mistake(
        "out = pb.vmap(f, in_axes=(0, 0))(np.ones((3, 2)))",
        "in_axes=(0,)",
        "in_axes=(0, 0)",
        "in_axes=(0,)",
        np.array([2.0, 2.0, 2.0]),
    ),
    "an axis by its name": Mistake(
        "out = pb.vmap(f, in_axes='rows')(np.ones((3, 2)))",
        "in_axes=0",
        "in_axes='rows'",
        "in_axes=0",
        np.array([2.0, 2.0, 2.0]),
    ),
    "a key without an axis": Mistake(
        "d = {'a': X, 'b': 2.0}\nout = pb.vmap(lambda d: d['a'] * d['b'], in_axes=({'a': 0},))(d)",
        "{'a': 0, 'b': None}",
        "{'a': 0}",
        "{'a': 0, 'b': None}",
        2 * X,
    ),
    "axes for one output": Mistake(
        "out = pb.vmap(f, out_axes=(0, 1))(np.ones((3, 2)))",
        "out_axes=0",
        "out_axes=(0, 1)",
        "out_axes=0",
        np.array([2.0, 2.0, 2.0]),
    ),
    # Options and data.
    "a static argument by its name as number": Mistake(
        "out = pb.compile(lambda x, n: f(x) * n, static_argnums='n')(X, 2)",
        "static_argnames='n'",
        "static_argnums='n'",
        "static_argnames='n'",
        17.5,
    ),
    "a static argument by its number as name": Mistake(
        "out = pb.compile(lambda x, n: f(x) * n, static_argnames=1)(X, 2)",
        "static_argnums=1",
        "static_argnames=1",
        "static_argnums=1",
        17.5,
    ),
    "numbers without a list": Mistake(
        "x, y = 1.0, 2.0\nout = pb.array(x, y).numpy()",
        "array([x, y])",
        "array(x, y)",
        "array([x, y])",
        np.array([1.0, 2.0]),
    ),
    "rows of different lengths": Mistake(
        "from pullback import array\n\nrows = [[1.0], [1.0, 2.0]]\nout = array(rows)",
        "[array(row) for row in rows]",
        "array(rows)",
        "[array(row) for row in rows][0].numpy()",
        np.array([1.0]),
    ),
    "a dict of numbers": Mistake(
        "from pullback import array\n\nd = {'a': 1.0}\nout = array(d)",
        "{name: array(x) for name, x in d.items()}",
        "array(d)",
        "float({name: array(x) for name, x in d.items()}['a'])",
        1.0,
    ),
    "the result of a product in a plain array": Mistake(
        "def g(x):\n    y, a = x, PLAIN\n    np.multiply(x, y, out=a)\n    return a.sum()\n\n"
        "out = pb.grad(g)(X)",
        "a = np.multiply(x, y)",
        "np.multiply(x, y, out=a)",
        "a = np.multiply(x, y)",
    ),
    "a product in place": Mistake(
        "def g(x):\n    a = X\n    a *= x\n    return 2 * a.sum()\n\nout = pb.grad(g)(X)",
        "a = a * x",
        "a *= x",
        "a = a * x",
        2 * X,
    ),
    # Rules with other parameters.
    "a rule of a primitive without wanted": Mistake(
        OWN + "rule = lambda out_bar, residual: (2 * out_bar * residual.xs[0],)\n"
        "g.defvjp(rule)\nout = pb.grad(g)(X)",
        "lambda out_bar, residual, wanted:",
        "lambda out_bar, residual:",
        "lambda out_bar, residual, wanted:",
    ),
    "reads by a name": Mistake(
        OWN + "rule = lambda out_bar, residual, wanted: (2 * out_bar * residual.xs[0],)\n"
        "g.defvjp(rule, reads='x')\nout = pb.grad(g)(X)",
        'reads="x0 out"',
        "reads='x'",
        'reads="x0 out"',
    ),
    "a backward rule without a residual": Mistake(
        RULE + "g.defvjp(lambda x: (f(x), x), lambda out_bar: (2 * out_bar * X,))\n"
        "out = pb.grad(g)(X)",
        "lambda residual, out_bar:",
        "lambda out_bar:",
        "lambda residual, out_bar:",
    ),
    "a jvp rule of one argument": Mistake(
        FORWARD + "g.defjvp(lambda tangents: (f(X), 2 * np.sum(X * tangents[0])))\n"
        "out = pb.grad(g)(X)",
        "lambda primals, tangents:",
        "lambda tangents:",
        "lambda primals, tangents:",
    ),
    "the gradient of a gradient": Mistake(
        "out = pb.grad(pb.grad(f))(X)",
        "hessian(f)",
        "grad(pb.grad(f))",
        "hessian(f)",
        2 * np.eye(3),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_suggestion_works(name):
    check(name, MISTAKES[name])

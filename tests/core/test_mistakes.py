"""Mistakes that newcomers make: each message is ours and true, and its suggestion, pasted, works.

A mistake is a program, the suggestion that its message makes, and the part of the program in whose
place it is pasted; the rest of the line is the programmer's. What comes out then is compared with
what was meant.
"""

import linecache
import re
from typing import NamedTuple

import numpy as np
import pytest

import pullback as pb

SETUP = """
import array, ctypes, datetime, decimal, fractions, io, json, marshal, math, pickle, struct
from multiprocessing import get_context
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import numpy as np
import pullback as pb

X = np.array([0.5, 1.5, 2.5])
PLAIN = np.zeros(3)
SQUARES = np.array([1.0, 3.0, 5.0])


def f(x):
    return np.sum(x * x)


def square(x):
    return x * x


class Model:
    def __init__(self):
        self.a = np.zeros(3)
"""
SQUARES = np.array([1.0, 3.0, 5.0])  # the gradient of f at X


class Mistake(NamedTuple):
    """A program, and in it `wrong`, in whose place `right` makes it give `expected`."""

    program: str
    suggestion: str  # stands in the message, and in `right`
    wrong: str
    right: str
    expected: object = SQUARES


MISTAKES = {
    # How a transformation is called.
    "the result instead of the function": Mistake(
        "x = X\nout = pb.grad(f(x))", "grad(f)(x)", "grad(f(x))", "grad(f)(x)"
    ),
    "the same of compile": Mistake(
        "x = X\nout = pb.compile(f(x))", "compile(f)(x)", "compile(f(x))", "compile(f)(x)", 8.75
    ),
    "the argument as argnums": Mistake(
        "x = X\nout = pb.grad(f, x)", "grad(f)(x)", "grad(f, x)", "grad(f)(x)"
    ),
    "no output": Mistake(
        "def g(x):\n    value = np.sum(x * x)\n\nout = pb.grad(g)(X)",
        "return value", "(x * x)\n\n", "(x * x)\n    return value\n\n",
    ),
    "many outputs": Mistake(
        "out = pb.grad(square)(X)", "grad(lambda x: square(x).sum())", "grad(square)",
        "grad(lambda x: square(x).sum())",
    ),
    "many outputs, all of which are meant": Mistake(
        "out = pb.grad(square)(X)", "jacobian(square)", "grad(square)", "jacobian(square)",
        np.diag(SQUARES),
    ),
    "an output beside others": Mistake(
        "def g(x):\n    return f(x), x\n\nout = pb.grad(g)(X)", "has_aux=True", "(g)(X)",
        "(g, has_aux=True)(X)[0]",
    ),
    "has_aux without a pair": Mistake(
        "def g(x):\n    output, aux = f(x), x\n    return output\n\n"
        "out = pb.grad(g, has_aux=True)(X)[0]",
        "return output, aux", "return output\n", "return output, aux\n",
    ),
    "a list of one output": Mistake(
        "def g(x):\n    return [f(x)]\n\nout = pb.grad(g)(X)", "jacobian(g)", "grad(g)(X)",
        "jacobian(g)(X)[0]",
    ),
    "an argument by keyword": Mistake("x = X\nout = pb.grad(f)(x=x)", "grad(f)(x)", "grad(f)(x=x)",
                                      "grad(f)(x)"),
    "argnums beyond the last": Mistake(
        "out = pb.grad(f, argnums=1)(X)", "argnums=0", "argnums=1", "argnums=0"
    ),
    "argnums twice": Mistake(
        "out = pb.grad(f, argnums=(0, 0))(X)[0]", "argnums=(0,)", "argnums=(0, 0)", "argnums=(0,)"
    ),
    "text as the argument": Mistake(
        "def g(name, x):\n    return f(x)\n\nout = pb.grad(g, argnums=0)('a', X)", "argnums=1",
        "argnums=0", "argnums=1",
    ),
    "arguments of jvp without tuples": Mistake(
        "x, x_dot = X, np.ones(3)\nout = pb.jvp(f, x, x_dot)[1]", "jvp(f, (x,), (x_dot,))",
        "jvp(f, x, x_dot)", "jvp(f, (x,), (x_dot,))", 9.0,
    ),
    "arguments of check_grads without a tuple": Mistake(
        "x = X\nout = pb.testing.check_grads(f, x)", "check_grads(f, (x,))", "check_grads(f, x)",
        "check_grads(f, (x,))", None,
    ),
    "hvp without a direction": Mistake(
        "x, v = X, np.ones(3)\nout = pb.hvp(f)(x)", "hvp(f)(x, v)", "hvp(f)(x)", "hvp(f)(x, v)",
        2 * np.ones(3),
    ),
    "a tangent of another shape": Mistake(
        "x, v = X, np.ones(1)\nout = pb.jvp(f, (x,), (v,))[1]", "np.broadcast_to(v, (3,))",
        "(v,)", "(np.broadcast_to(v, (3,)),)", 9.0,
    ),
    "an elementwise gradient of what is not": Mistake(
        "out = pb.elementwise_grad(f)(X)", "jacobian", "elementwise_grad", "jacobian"
    ),
    "a Jacobian of what stores": Mistake(
        "calls = []\n\ndef g(x):\n    calls.append(x)\n    return f(x) * len(calls)\n\n"
        "out = pb.jacobian(g)(X)",
        "mode='reverse'", "(g)", "(g, mode='reverse')",
    ),
    # What is differentiated.
    "integers": Mistake("x = np.arange(3)\nout = pb.grad(f)(x)", "x.astype(float)", "(f)(x)",
                        "(f)(x.astype(float))", np.array([0.0, 2.0, 4.0])),
    "an int in a tree": Mistake(
        "def g(p):\n    return f(p['w']) * p['n']\n\nn = 3\n"
        "out = pb.grad(g)({'w': X, 'n': n})['w']",
        "float(n)", "'n': n", "'n': float(n)", 3 * SQUARES,
    ),
    "truth values": Mistake("x = X > 1\nout = pb.grad(f)(x)", "x.astype(float)", "(f)(x)",
                            "(f)(x.astype(float))", np.array([0.0, 2.0, 2.0])),
    "a matrix": Mistake("x = np.matrix(X)\nout = pb.grad(f)(x)[0]", "np.asarray(x)", "(f)(x)",
                        "(f)(np.asarray(x))"),
    "a masked array": Mistake(
        "mask = [True, True, True]\nx = X\n"
        "out = pb.grad(lambda x: f(x))(np.ma.masked_array(x, np.logical_not(mask)))",
        "np.where(mask, x, 0)", "f(x))(np.ma.masked_array(x, np.logical_not(mask)))",
        "f(np.where(mask, x, 0)))(x)",
    ),
    "a Series of integers": Mistake(
        "import pandas\n\nx = pandas.Series([1, 2])\nout = pb.grad(f)(x)", "x.astype(float)",
        "(f)(x)", "(f)(x.astype(float))", np.array([2.0, 4.0]),
    ),
    "a Jacobian of a Series": Mistake(
        "import pandas\n\nx = pandas.Series(X)\nout = pb.jacobian(lambda x: x * x)(x)",
        "x.to_numpy()", ")(x)", ")(x.to_numpy())", np.diag(SQUARES),
    ),
    "the edges of bins": Mistake(
        "import pandas\n\ndef g(x):\n    bins = pandas.cut(x, 2)\n    return f(x)\n\n"
        "out = pb.grad(g)(X)",
        "labels=False", "(x, 2)", "(x, 2, labels=False)",
    ),
    "a complex output": Mistake(
        "def g(x):\n    return f(x) * (1 + 1j)\n\nout = pb.grad(g)(X)", ".real",
        "f(x) * (1 + 1j)", "(f(x) * (1 + 1j)).real",
    ),
    "holomorphic of a real function": Mistake(
        "out = pb.jacobian(f, holomorphic=True)(X)", "holomorphic", ", holomorphic=True", ""
    ),
    "a complex output, all of which is meant": Mistake(
        "def g(x):\n    return np.exp(1j * x)\n\nout = pb.grad(g)(0.0)", "jacobian", "grad",
        "jacobian", 1j,
    ),
    "no output of a Jacobian": Mistake(
        "def g(x):\n    value = x * x\n\nout = pb.jacobian(g)(X)", "return value", "x * x\n",
        "x * x\n    return value\n", np.diag(SQUARES),
    ),
    "an object as output": Mistake(
        "class Square:\n    def __init__(self, x):\n        self.value = x * x\n\n"
        "out = pb.jvp(Square, (X,), (np.ones(3),))[1].value",
        "pullback.register_tree", "\n\nout",
        "\n\npullback.register_tree(Square, lambda s: ((s.value,), None),"
        " lambda _, xs: Square(xs[0] ** 0.5))\nout",
    ),
    "a tangent of what has none": Mistake(
        "x = True\nout = pb.jvp(lambda x: 3 * x, (x,), (1.0,))[1]", "float(x)", "(x,)",
        "(float(x),)", 3.0,
    ),
    "compile above staticmethod": Mistake(
        "class A:\n    @pb.compile\n    @staticmethod\n    def m(x):\n        return 2 * x\n\n"
        "out = A().m(1.5)",
        "@pullback.compile", "    @pb.compile\n    @staticmethod",
        "    @staticmethod\n    @pullback.compile", 3.0,
    ),
    "compile above property": Mistake(
        "class A:\n    @pb.compile\n    @property\n    def m(self):\n        return 2.0\n\n"
        "out = A().m",
        "@pullback.compile", "    @pb.compile\n    @property",
        "    @property\n    @pullback.compile", 2.0,
    ),
    "a static argument that is not there": Mistake(
        "out = pb.compile(lambda x, n: x * n, static_argnames='m')(1.5, n=2)", "'n'", "'m'", "'n'",
        3.0,
    ),
    # Plain arrays.
    "into a plain array": Mistake(
        "def g(x):\n    a = PLAIN\n    a[0] = f(x)\n    return a.sum()\n\nout = pb.grad(g)(X)",
        "a = np.array(a)", "    a[0]", "    a = np.array(a)\n    a[0]",
    ),
    "into a plain array by flat": Mistake(
        "def g(x):\n    a = PLAIN\n    a.flat[0] = f(x)\n    return a.sum()\n\nout = pb.grad(g)(X)",
        "a = np.array(a)", "    a.flat", "    a = np.array(a)\n    a.flat",
    ),
    "into a plain array by its method": Mistake(
        "def g(x):\n    a = PLAIN\n    a.__setitem__(0, f(x))\n    return a.sum()\n\n"
        "out = pb.grad(g)(X)",
        "np.array(a)", "    a.__set", "    a = np.array(a)\n    a.__set",
    ),
    "a mask without elements of a plain array": Mistake(
        "mask = pb.array(np.zeros((2, 0), bool))\nx = np.zeros((2, 0))\n"
        "out = x[mask]",
        "x[mask.numpy()]", "x[mask]", "x[mask.numpy()]", [],
    ),
    "numbers into a plain array": Mistake(
        "def g(x):\n    a = PLAIN\n    a[:] = [x[0] ** 2, x[1] ** 2, x[2] ** 2]\n"
        "    return a.sum()\n\nout = pb.grad(g)(X)",
        "np.zeros(3)", "a = PLAIN", "a = np.zeros(3)",
    ),
    "into a plain array of an object": Mistake(
        "def step(self, x):\n    self.a = PLAIN\n    self.a[0] = f(x)\n    return self.a.sum()\n\n"
        "Model.step = step\nout = pb.grad(Model().step)(X)",
        "self.a = np.array(self.a)", "    self.a[0]",
        "    self.a = np.array(self.a)\n    self.a[0]",
    ),
    "plain += x": Mistake(
        "def g(x):\n    a = PLAIN\n    a += x * x\n    return a.sum()\n\nout = pb.grad(g)(X)",
        "a = a + x", "a += x * x", "a = a + x * x",
    ),
    "out=plain": Mistake(
        "def g(x):\n    a = PLAIN\n    np.multiply(x, x, out=a)\n    return a.sum()\n\n"
        "out = pb.grad(g)(X)",
        "np.array(a)", "a = PLAIN", "a = PLAIN\n    a = np.array(a)",
    ),
    "into a field of a structured array": Mistake(
        "def g(x):\n    table = np.zeros(3, [('pos', float)])\n    pos = table['pos']\n"
        "    pos[0] = f(x)\n    return pos.sum()\n\nout = pb.grad(g)(X)",
        "pos = np.zeros(3)", "pos = table['pos']", "pos = np.zeros(3)",
    ),
    # Numbers for other code.
    "json": Mistake(
        "def g(x):\n    text = json.dumps({'x': x})\n    return f(x)\n\nout = pb.grad(g)(X)",
        "x.numpy().tolist()", "'x': x", "'x': x.numpy().tolist()",
    ),
    "text that is evaluated": Mistake(
        "def g(x):\n    return eval(f'2 * {[x]}[0]')\n\nout = pb.grad(g)(1.5)",
        "eval('2 * x', {'x': x})", "eval(f'2 * {[x]}[0]')", "eval('2 * x', {'x': x})", 2.0,
    ),
    "json of a number": Mistake(
        "def g(x):\n    text = json.dumps({'x': x})\n    return x * x\n\nout = pb.grad(g)(1.5)",
        "x.numpy().tolist()", "'x': x", "'x': x.numpy().tolist()", 3.0,
    ),
    "Decimal": Mistake(
        "def g(x):\n    text = str(decimal.Decimal(x))\n    return x * x\n\nout = pb.grad(g)(1.5)",
        "x.numpy().tolist()", "Decimal(x)", "Decimal(x.numpy().tolist())", 3.0,
    ),
    "timedelta": Mistake(
        "def g(x):\n    end = datetime.timedelta(seconds=x)\n    return x * x\n\n"
        "out = pb.grad(g)(1.5)",
        "x.numpy().tolist()", "seconds=x", "seconds=x.numpy().tolist()", 3.0,
    ),
    "struct": Mistake(
        "def g(x):\n    data = struct.pack('d', x)\n    return x * x\n\nout = pb.grad(g)(1.5)",
        "x.numpy().tolist()", "'d', x", "'d', x.numpy().tolist()", 3.0,
    ),
    "marshal": Mistake(
        "def g(x):\n    data = marshal.dumps([x])\n    return x * x\n\nout = pb.grad(g)(1.5)",
        "x.numpy().tolist()", "[x]", "[x.numpy().tolist()]", 3.0,
    ),
    "an array of the module array": Mistake(
        "def g(x):\n    data = array.array('d', [x])\n    return x * x\n\nout = pb.grad(g)(1.5)",
        "x.numpy()", "[x]", "[x.numpy()]", 3.0,
    ),
    "ctypes": Mistake(
        "def g(x):\n    data = ctypes.c_double(x)\n    return x * x\n\nout = pb.grad(g)(1.5)",
        "x.numpy()", "ctypes.c_double(x)", "ctypes.c_double(x.numpy())", 3.0,
    ),
    "memoryview": Mistake(
        "def g(x):\n    data = memoryview(x)\n    return f(x)\n\nout = pb.grad(g)(X)", "x.numpy()",
        "view(x)", "view(x.numpy())",
    ),
    "tobytes": Mistake(
        "def g(x):\n    data = x.tobytes()\n    return f(x)\n\nout = pb.grad(g)(X)", "x.numpy()",
        "x.tobytes", "x.numpy().tobytes",
    ),
    "np.save": Mistake(
        "def g(x):\n    np.save(io.BytesIO(), x)\n    return f(x)\n\nout = pb.grad(g)(X)",
        "x.numpy()", ", x)", ", x.numpy())",
    ),
    "pickle": Mistake(
        "def g(x):\n    data = pickle.dumps(x)\n    return f(x)\n\nout = pb.grad(g)(X)",
        "x.numpy()", "dumps(x)", "dumps(x.numpy())",
    ),
    "a pool of processes": Mistake(
        "def g(x):\n    with ProcessPoolExecutor() as pool:\n"
        "        return sum(pool.map(np.square, [x[0], x[1], x[2]]))\n\nout = pb.grad(g)(X)",
        "ThreadPoolExecutor()", "ProcessPoolExecutor()", "ThreadPoolExecutor()",
    ),
    "an older pool of processes": Mistake(
        "def g(x):\n    with get_context('fork').Pool(1) as pool:\n"
        "        return sum(pool.map(np.square, [x[0], x[1], x[2]]))\n\nout = pb.grad(g)(X)",
        "ThreadPoolExecutor()", "get_context('fork').Pool(1)", "ThreadPoolExecutor()",
    ),
    "Fraction": Mistake(
        "def g(x):\n    return float(fractions.Fraction(x)) * x\n\nout = pb.grad(g)(1.5)", "x",
        "float(fractions.Fraction(x))", "x", 3.0,
    ),
    "an array of text": Mistake(
        "def g(x):\n    names = np.array(['a', x[0]], dtype='U3')\n    return f(x)\n\n"
        "out = pb.grad(g)(X)",
        "x.numpy()", "x[0]]", "x.numpy()[0]]",
    ),
    "random numbers with parameters": Mistake(
        "def g(x):\n    rng = np.random.default_rng(0)\n"
        "    return x * np.sum(rng.poisson(x, 3) >= 0)\n\nout = pb.grad(g)(2.0)",
        "x.numpy()", "rng.poisson(x, 3)", "rng.poisson(x.numpy(), 3)", 3.0,
    ),
    "compiled code": Mistake(
        "import zlib\n\ndef g(x):\n    zlib.crc32(x)\n    return f(x)\n\nout = pb.grad(g)(X)",
        "x.numpy()", "crc32(x)", "crc32(x.numpy())",
    ),
    "SciPy's compiled code": Mistake(
        "from scipy import spatial\n\ndef g(x):\n"
        "    spatial.tsearch(spatial.Delaunay(np.eye(3)[:, :2]), x[None, :2])\n"
        "    return f(x)\n\nout = pb.grad(g)(X)",
        "pullback.stop_gradient(x)", ", x[N", ", pullback.stop_gradient(x)[N",
    ),
    # Eager.
    "backward of many numbers": Mistake(
        "w = pb.array(X, requires_grad=True)\nx = w * w\nx.backward()\nout = w.grad",
        "x.sum().backward()", "x.backward()", "x.sum().backward()",
    ),
    "backward twice": Mistake(
        "w = pb.array(X, requires_grad=True)\ny = f(w)\ny.backward()\ny.backward()\nout = w.grad",
        ".backward(retain_graph=True)", "y.backward()\ny",
        "y.backward(retain_graph=True)\ny", 2 * SQUARES,
    ),
    "backward without requires_grad": Mistake(
        "w = pb.array(X)\nf(w).backward()\nout = w.grad", "requires_grad=True", "array(X)",
        "array(X, requires_grad=True)",
    ),
    "assignment into a leaf": Mistake(
        "w = pb.array(X, requires_grad=True)\nw[0] = 1.0\nf(w).backward()\nout = w.grad",
        "with pullback.no_grad():", "w[0] = 1.0", "with pullback.no_grad():\n    w[0] = 1.0",
        np.array([2.0, 3.0, 5.0]),
    ),
    "a leaf of integers": Mistake(
        "w = pb.array([1, 2], requires_grad=True)\nf(w).backward()\nout = w.grad", "dtype=float",
        "requires_grad", "dtype=float, requires_grad", np.array([2.0, 4.0]),
    ),
    # Batches, loops, rules.
    "if under vmap": Mistake(
        "def g(x):\n    condition, a, b = x > 1, x, -x\n    return a if condition else b\n\n"
        "out = pb.vmap(g)(X)",
        "np.where(condition, a, b)", "a if condition else b", "np.where(condition, a, b)",
        np.array([-0.5, 1.5, 2.5]),
    ),
    "while under vmap": Mistake(
        "go_on, step = lambda x: x < 2, lambda x: x * 2\n\n"
        "def g(x):\n    while go_on(x):\n        x = step(x)\n    return x\n\n"
        "out = pb.vmap(g)(X)",
        "pullback.while_loop(go_on, step, x)", "    while go_on(x):\n        x = step(x)\n",
        "    x = pullback.while_loop(go_on, step, x)\n", np.array([2.0, 3.0, 2.5]),
    ),
    "and under vmap": Mistake(
        "out = pb.vmap(lambda x: np.where((x > 1) and (x < 2), x, 0))(X)", "&", "and", "&",
        np.array([0.0, 1.5, 0.0]),
    ),
    "an index of a list under vmap": Mistake(
        "a = [1.0, 3.0, 5.0]\nout = pb.vmap(lambda x: a[x])(np.arange(3))",
        "np.take(a, x, axis=0)", "a[x]", "np.take(a, x, axis=0)",
    ),
    "int under vmap": Mistake("out = pb.vmap(lambda x: int(x))(SQUARES)", "np.trunc(x)", "int(x)",
                              "np.trunc(x)"),
    "a shape under vmap": Mistake(
        "out = pb.vmap(lambda n, x: np.zeros(n) + x, in_axes=(0, 0))(3, X)[1]", "in_axes=(None, 0)",
        "in_axes=(0, 0)", "in_axes=(None, 0)", np.full(3, 1.5),
    ),
    "a list of numbers under vmap": Mistake(
        "x = [1.0, 3.0, 5.0]\nout = pb.vmap(lambda x: x + 0)(x)", "np.array(x)", "(x)",
        "(np.array(x))",
    ),
    "a number under vmap": Mistake(
        "out = pb.vmap(lambda x, y: x * y, in_axes=0)(X, 2.0)", "in_axes=(0, None)", "in_axes=0",
        "in_axes=(0, None)", np.array([1.0, 3.0, 5.0]),
    ),
    "a carry that changes": Mistake(
        "def body(carry, x):\n    return carry + np.array([x, 1.0]), None\n\n"
        "out = pb.scan(body, 0.0, X)[0]",
        "np.zeros((2,))", "0.0, X", "np.zeros((2,)), X", np.array([4.5, 3.0]),
    ),
    "a primitive without a rule": Mistake(
        "@pb.primitive\ndef double(x):\n    return 2 * x\n\nout = pb.grad(double)(1.5)",
        "double.defjvp", "\n\nout", "\n\ndouble.defjvp(lambda out, xs, x_dots: 2 * x_dots[0])\nout",
        2.0,
    ),
    # Names of other libraries.
    "JAX's at": Mistake(
        "def g(x):\n    x = x.at[0].set(2.0)\n    return f(x)\n\nout = pb.grad(g)(X)",
        "x = x.copy()", "x = x.at[0].set(2.0)", "x = x.copy()\n    x[0] = 2.0",
        np.array([0.0, 3.0, 5.0]),
    ),
    "PyTorch's exp": Mistake("out = pb.grad(lambda x: x.exp())(0.0)", "np.exp(x)", "x.exp()",
                             "np.exp(x)", 1.0),
    "micrograd's relu": Mistake("out = pb.grad(lambda x: x.relu())(2.0)", "np.maximum(x, 0)",
                                "x.relu()", "np.maximum(x, 0)", 1.0),
    "PyTorch's pow": Mistake("n = 2\nout = pb.grad(lambda x: x.pow(n).sum())(X)", "x ** n",
                             "x.pow(n)", "(x ** n)"),
    "PyTorch's unsqueeze": Mistake(
        "axis = 0\nout = pb.grad(lambda x: f(x.unsqueeze(axis)))(X)", "np.expand_dims(x, axis)",
        "x.unsqueeze(axis)", "np.expand_dims(x, axis)",
    ),
    "PyTorch's cpu": Mistake("out = pb.grad(lambda x: f(x.cpu()))(X)", "x", "x.cpu()", "x"),
    "PyTorch's norm": Mistake("out = pb.grad(lambda x: x.norm() ** 2)(X)", "np.linalg.norm(x)",
                              "x.norm()", "np.linalg.norm(x)"),
    "PyTorch's clamp": Mistake(
        "low, high = 0, 9\nout = pb.grad(lambda x: f(x.clamp(low, high)))(X)",
        "np.clip(x, low, high)", "x.clamp(low, high)", "np.clip(x, low, high)",
    ),
    "PyTorch's dot product": Mistake(
        "y = np.ones(3)\nout = pb.grad(lambda x: x.mv(y))(X)", "x @ y", "x.mv(y)", "x @ y",
        np.ones(3),
    ),
    "a mask of PyTorch's": Mistake(
        "mask, value = [False, True, True], 0.0\n"
        "out = pb.grad(lambda x: f(x.masked_fill(mask, value)))(X)",
        "np.where(mask, value, x)", "x.masked_fill(mask, value)", "np.where(mask, value, x)",
        np.array([1.0, 0.0, 0.0]),
    ),
    "in place as in PyTorch": Mistake(
        "y = 1.0\n\ndef g(x):\n    x = x.copy()\n    x.add_(y)\n    return f(x)\n\n"
        "out = pb.grad(g)(X)",
        "x += y", "x.add_(y)", "x += y", 2 + np.array([1.0, 3.0, 5.0]),
    ),
    "JAX's tracer": Mistake(  # autograd's `x._value` is there once its interface is imported
        "def g(x):\n    print(x.primal, end='')\n    return f(x)\n\nout = pb.grad(g)(X)",
        "x.numpy()", "x.primal", "x.numpy()[:0]",
    ),
    "JAX's jit": Mistake("out = pb.jit(pb.grad(f))(X)", "pullback.compile(f)", "pb.jit(pb.grad(f))",
                         "(lambda f: pullback.compile(f))(pb.grad(f))"),
    "PyTorch's tensor": Mistake(
        "x = pb.tensor(X)\nf(x).backward()\nout = x.grad",
        "pullback.array(x, requires_grad=True)", "pb.tensor(X)",
        "(lambda x: pullback.array(x, requires_grad=True))(X)",
    ),
    "micrograd's Value": Mistake(
        "x = pb.Value(1.5)\n(x * x).backward()\nout = x.grad",
        "pullback.array(x, requires_grad=True)", "pb.Value(1.5)",
        "(lambda x: pullback.array(x, requires_grad=True))(1.5)", 3.0,
    ),
    "JAX's jacfwd": Mistake(
        "out = pb.jacfwd(f)(X)", "pullback.jacobian(f, mode='forward')", "pb.jacfwd(f)",
        "pullback.jacobian(f, mode='forward')",
    ),
    "JAX's random": Mistake(
        "x = pb.random.PRNGKey(0)\nout = pb.grad(f)(X)", "rng = np.random.default_rng(0)",
        "x = pb.random.PRNGKey(0)", "rng = np.random.default_rng(0)",
    ),
    "a name that is nearly right": Mistake("out = pb.gradd(f)(X)", "pullback.grad", "pb.gradd",
                                           "pullback.grad"),
    "vjp without arguments": Mistake(
        "x = X\nout, pullback_ = pb.vjp(f)(x)\nout = pullback_(1.0)[0]", "vjp(f, x)", "vjp(f)(x)",
        "vjp(f, x)",
    ),
    "a plot": Mistake(
        "import matplotlib\n\nmatplotlib.use('agg')\nfrom matplotlib.figure import Figure\n\n"
        "def g(x):\n    Figure().subplots().plot(x)\n    return f(x)\n\nout = pb.grad(g)(X)",
        "x.numpy()", "plot(x)", "plot(x.numpy())",
    ),
    "a Series of a leaf": Mistake(
        "import pandas\n\ndef g(x):\n    return (pandas.Series(x) ** 2).sum()\n\n"
        "x = pb.array(X, requires_grad=True)\ng(x).backward()\nout = x.grad",
        "pullback.grad", "g(x).backward()\nout = x.grad", "out = pullback.grad(g)(X)",
    ),
}  # fmt: skip


def run(name, text):
    """What a program gives; its lines are known, as those of a file are."""
    file = f"<mistake {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"__name__": "mistake", "pullback": pb}
    exec(compile(text, file, "exec"), scope)
    return scope["out"]


def test_there_are_many():
    assert len(MISTAKES) >= 40


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("name", MISTAKES)
def test_the_suggestion_works(name):
    check(name, MISTAKES[name])


def check(name, mistake):
    """The program raises an error of ours with the suggestion, which works when it is pasted."""
    program, suggestion, wrong, right, expected = mistake
    assert program.count(wrong) == 1
    if "pandas" in program:
        pytest.importorskip("pandas")
    with pytest.raises(pb.PullbackError) as caught:
        run(name, f"{SETUP}\n{program}\n")
    quoted = re.findall(r"`([^`]*)`", str(caught.value).split("\n", 1)[-1])
    assert any(suggestion in each for each in quoted), caught.value
    assert suggestion in right or right == ""
    out = run(name, f"{SETUP}\n{program.replace(wrong, right)}\n")
    if expected is not None:
        np.testing.assert_allclose(out, expected, rtol=1e-12)

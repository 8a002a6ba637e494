"""Mistakes of a first day: transformations called as another library calls them, rules that return
too little, contexts that were not called. The table is as in `test_mistakes`.
"""

import numpy as np
import pytest

from tests.core.test_mistakes import Mistake, check

RULE = "@pb.custom_vjp\ndef g(x):\n    return f(x)\n\n"
FORWARD = "@pb.custom_jvp\ndef g(x):\n    return f(x)\n\n"
OWN = "@pb.primitive\ndef g(x):\n    return np.sum(x * x)\n\n"
JVP = "@g.defjvp\ndef rule(primals, tangents):\n    (x,), (x_dot,) = primals, tangents\n    out = f(x)\n    out_dot = 2 * np.sum(x * x_dot)\n"
ONE = np.ones(3)
X = np.array([0.5, 1.5, 2.5])
MISTAKES = {
    # Keywords and names of others.
    "autograd's argnum": Mistake(
        "out = pb.grad(f, argnum=0)(X)", "argnums=0", "argnum=0", "argnums=0"
    ),
    "PyTorch's in_dims": Mistake(
        "out = pb.vmap(f, in_dims=0)(np.eye(3))", "in_axes=0", "in_dims=0", "in_axes=0", ONE
    ),
    "PyTorch's dim": Mistake(
        "out = pb.grad(lambda x: (x * x).sum(dim=0))(X)", "axis=0", "dim=0", "axis=0"
    ),
    "PyTorch's keepdim": Mistake(
        "out = pb.jacobian(lambda x: (x * x).sum(axis=0, keepdim=True))(X)[0]",
        "keepdims=True",
        "keepdim=True",
        "keepdims=True",
    ),
    "PyTorch's create_graph": Mistake(
        "out = pb.grad(lambda x: pb.grad(f, create_graph=True)(x).sum())(X)",
        "pullback.grad(pullback.grad(f))",
        ", create_graph=True",
        "",
        2 * ONE,
    ),
    "has_aux of a Jacobian": Mistake(
        "x = X\nout = pb.jacobian(f, has_aux=True)(x)", "f(x)", ", has_aux=True", ""
    ),
    "a slip in a keyword": Mistake(
        "out = pb.grad(f, has_auxx=False)(X)", "has_aux=False", "has_auxx=False", "has_aux=False"
    ),
    "requires_grads": Mistake(
        "w = pb.array(X, requires_grads=True)\nf(w).backward()\nout = w.grad",
        "requires_grad=True",
        "requires_grads=True",
        "requires_grad=True",
    ),
    "backward with retain": Mistake(
        "w = pb.array(X, requires_grad=True)\nf(w).backward(retain=True)\nout = w.grad",
        "retain_graph=True",
        "retain=True",
        "retain_graph=True",
    ),
    "an import of JAX's": Mistake(
        "from pullback import jit\nout = jit(pb.grad(f))(X)",
        "pullback.compile(f)",
        "from pullback import jit\n",
        "jit = lambda f: pullback.compile(f)\n",
    ),
    "an import of NumPy's": Mistake(
        "from pullback import exp\nout = pb.grad(lambda x: exp(x).sum())(0 * X)",
        "np.exp",
        "from pullback import exp\n",
        "exp = np.exp\n",
        ONE,
    ),
    "NumPy's function of ours": Mistake(
        "out = pb.grad(lambda x: pb.exp(x).sum())(0 * X)", "np.exp", "pb.exp", "np.exp", ONE
    ),
    "TensorFlow's reduce_sum": Mistake(
        "out = pb.grad(lambda x: pb.reduce_sum(x))(X)",
        "np.sum(x)",
        "pb.reduce_sum(x)",
        "np.sum(x)",
        ONE,
    ),
    "autograd's make_hvp": Mistake(
        "x, v = X, np.ones(3)\nout = pb.make_hvp(f)(x)(v)",
        "pullback.hvp(f)(x, v)",
        "pb.make_hvp(f)(x)(v)",
        "pullback.hvp(f)(x, v)",
        2 * ONE,
    ),
    "JAX's mode": Mistake(
        "out = pb.jacobian(f, mode='fwd')(X)", "mode='forward'", "mode='fwd'", "mode='forward'"
    ),
    "reverse by its short name": Mistake(
        "out = pb.jacobian(f, mode='rev')(X)", "mode='reverse'", "mode='rev'", "mode='reverse'"
    ),
    "PyTorch's view": Mistake(
        "out = pb.grad(lambda x: f(x.view(3, 1)))(X)",
        "x.reshape(3, 1)",
        "x.view(3, 1)",
        "x.reshape(3, 1)",
    ),
    "PyTorch's view with -1": Mistake(
        "out = pb.grad(lambda x: f(x.view(-1)))(X)", "x.reshape(-1)", "x.view(-1)", "x.reshape(-1)"
    ),
    "PyTorch's clone": Mistake(
        "out = pb.grad(lambda x: f(x.clone()))(X)", "x.copy()", "x.clone()", "x.copy()"
    ),
    "an Array by its class": Mistake(
        "x = X\nout = f(pb.Array(x))", "pullback.array(x)", "pb.Array(x)", "pullback.array(x)", 8.75
    ),
    "PyTorch's unbiased": Mistake(
        "out = pb.grad(lambda x: x.std(unbiased=True))(X)",
        "ddof=1",
        "unbiased=True",
        "ddof=1",
        np.array([-0.5, 0.0, 0.5]),
    ),
    # How a transformation is called.
    "None as the argument": Mistake(
        "def g(state, x):\n    return f(x)\n\nout = pb.grad(g)(None, X)",
        "argnums=1",
        "grad(g)",
        "grad(g, argnums=1)",
    ),
    "linearize as a decorator": Mistake(
        "x = X\nout = pb.linearize(f)(x)[1](np.ones(3))",
        "linearize(f, x)",
        "linearize(f)(x)",
        "linearize(f, x)",
        9.0,
    ),
    "jvp of a result": Mistake(
        "x, x_dot = X, np.ones(3)\nout = pb.jvp(f(x), (x,), (x_dot,))[1]",
        "jvp(f, (x,), (x_dot,))",
        "jvp(f(x), (x,), (x_dot,))",
        "jvp(f, (x,), (x_dot,))",
        9.0,
    ),
    "vjp of a result": Mistake(
        "x = X\nout = pb.vjp(f(x), x)[1](1.0)[0]", "vjp(f, x)", "vjp(f(x), x)", "vjp(f, x)"
    ),
    "a cotangent in a tuple": Mistake(
        "v = (1.0,)\nout = pb.vjp(f, X)[1](v)[0]", "v[0]", "(v)", "(v[0])"
    ),
    "init before the function of scan": Mistake(
        "init, xs = 0.0, X\n\ndef step(total, x):\n    return total + x, None\n\nf = step\nout = pb.scan(init, f, xs)[0]",
        "scan(f, init, xs)",
        "scan(init, f, xs)",
        "scan(f, init, xs)",
        4.5,
    ),
    "init before the body of fori_loop": Mistake(
        "lower, upper, init = 0, 3, 1.0\n\ndef body(i, x):\n    return 2 * x\n\nout = pb.fori_loop(lower, upper, init, body)",
        "fori_loop(lower, upper, body, init)",
        "fori_loop(lower, upper, init, body)",
        "fori_loop(lower, upper, body, init)",
        8.0,
    ),
    "init before the functions of while_loop": Mistake(
        "init = 1.0\ncond, body = lambda x: x < 5, lambda x: 2 * x\nout = pb.while_loop(init, cond, body)",
        "while_loop(cond, body, init)",
        "while_loop(init, cond, body)",
        "while_loop(cond, body, init)",
        8.0,
    ),
    "a step of scan with one result": Mistake(
        "def step(carry, x):\n    carry = carry + x\n    return carry\n\nout = pb.scan(step, 0.0, X)[0]",
        "carry, None",
        "return carry",
        "return carry, None",
        4.5,
    ),
    "scan without rows": Mistake(
        "n = 3\nout = pb.scan(lambda c, _: (c + 1.0, c), 0.0)[0]",
        "length=n",
        ", 0.0)[0]",
        ", 0.0, length=n)[0]",
        3.0,
    ),
    "an axis of the output that is not there": Mistake(
        "out = pb.vmap(lambda x: 2 * x, out_axes=3)(X)",
        "out_axes=0",
        "out_axes=3",
        "out_axes=0",
        2 * np.array([0.5, 1.5, 2.5]),
    ),
    "an explanation of no call": Mistake(
        "x = X\nout = pb.explain(f).nodes[0].cotangent",
        "explain(f)(x).nodes",
        "explain(f).nodes",
        "explain(f)(x).nodes",
    ),
    "an argument where explain takes argnums": Mistake(
        "x = X\nout = pb.explain(f, x).nodes[0].cotangent",
        "explain(f)(x)",
        "explain(f, x)",
        "explain(f)(x)",
    ),
    "no_grad without a call": Mistake(
        "with pb.no_grad:\n    out = f(X)",
        "with pullback.no_grad():",
        "with pb.no_grad:",
        "with pullback.no_grad():",
        8.75,
    ),
    "debug_nans without a call": Mistake(
        "with pb.debug_nans:\n    out = pb.grad(f)(X)",
        "with pullback.debug_nans():",
        "with pb.debug_nans:",
        "with pullback.debug_nans():",
    ),
    "rebinding without a call": Mistake(
        "with pb.rebinding:\n    out = pb.grad(f)(X)",
        "with pullback.rebinding(False):",
        "with pb.rebinding:",
        "with pullback.rebinding(False):",
    ),
    "modes by their short names": Mistake(
        "out = pb.testing.check_grads(f, (X,), modes=['rev'])",
        "modes=('forward', 'reverse')",
        "modes=['rev']",
        "modes=('forward', 'reverse')",
        None,
    ),
    "the third order": Mistake(
        "out = pb.testing.check_grads(f, (X,), order=3)", "order=2", "order=3", "order=2", None
    ),
    # Rules of one's own.
    "a rule without a residual": Mistake(
        RULE
        + "def forward(x):\n    out, residual = f(x), x\n    return out\n\ng.defvjp(forward, lambda x, out_bar: (2 * x * out_bar,))\nout = pb.grad(g)(X)",
        "return out, residual",
        "return out\n",
        "return out, residual\n",
    ),
    "a rule with too many cotangents": Mistake(
        RULE
        + "def backward(x, out_bar):\n    x0_bar = 2 * x * out_bar\n    return x0_bar, None\n\ng.defvjp(lambda x: (f(x), x), backward)\nout = pb.grad(g)(X)",
        "return (x0_bar,)",
        "return x0_bar, None",
        "return (x0_bar,)",
    ),
    "a rule that gives its tangent alone": Mistake(
        FORWARD + JVP + "    return out_dot\n\nout = pb.grad(g)(X)",
        "return out, out_dot",
        "return out_dot",
        "return out, out_dot",
    ),
    "a rule of a primitive without a tuple": Mistake(
        OWN
        + "@g.defvjp\ndef rule(out_bar, residual, wanted):\n    x_bar = 2 * out_bar * residual.xs[0]\n    return x_bar\n\nout = pb.grad(g)(X)",
        "return (x_bar,)",
        "return x_bar",
        "return (x_bar,)",
    ),
    "no rule yet": Mistake(
        RULE
        + "forward = lambda x: (f(x), x)\nbackward = lambda x, out_bar: (2 * x * out_bar,)\n\nout = pb.grad(g)(X)",
        "g.defvjp(forward, backward)",
        "\n\nout",
        "\ng.defvjp(forward, backward)\nout",
    ),
    "an instance for register_tree": Mistake(
        "flatten, unflatten = lambda m: ((m.a,), None), lambda aux, xs: Model()\nout = int(pb.register_tree(Model(), flatten, unflatten) is Model)",
        "pullback.register_tree(Model, flatten, unflatten)",
        "pb.register_tree(Model(), flatten, unflatten)",
        "pullback.register_tree(Model, flatten, unflatten)",
        1,
    ),
    "a name for replaces": Mistake(
        "out = int(callable(pb.replaces('sinc')))",
        "@pullback.replaces(np.sin)",
        "pb.replaces('sinc')",
        "pullback.replaces(np.sin)",
        1,
    )._replace(suggestion="pullback.replaces(np.sin)"),
    "text for relu": Mistake(
        "x = np.array(['1.0', '-1.0'])\nout = pb.nn.relu(x)",
        "x.astype(float)",
        "relu(x)",
        "relu(x.astype(float))",
        np.array([1.0, 0.0]),
    ),
    "classes as floats": Mistake(
        "labels = np.array([0.0, 1.0])\nout = pb.nn.softmax_cross_entropy(np.zeros((2, 2)), labels)",
        "labels.astype(int)",
        ", labels)",
        ", labels.astype(int))",
        np.log([2.0, 2.0]),
    ),
    # Asked of the names of layers.
    **{
        f"{name} of layers": Mistake(
            f"import scipy.special\nx, labels, logits = X, 1, X\nout = np.sum(pb.nn.{name}({call}))",
            line,
            f"pb.nn.{name}({call})",
            line,
            expected,
        )
        for name, call, line, expected in (
            ("softmax", "x", "np.exp(pullback.nn.log_softmax(x))", 1.0),
            ("logsumexp", "x", "scipy.special.logsumexp(x)", np.log(np.exp(X).sum())),
            ("swish", "x", "x * pullback.nn.sigmoid(x)", np.sum(X / (1 + np.exp(-X)))),
            ("leaky_relu", "x", "np.where(x > 0, x, 0.01 * x)", 4.5),
            ("hardtanh", "x", "np.clip(x, -1, 1)", 2.5),
            (
                "cross_entropy",
                "logits, labels",
                "pullback.nn.softmax_cross_entropy(logits, labels)",
                np.log(np.exp(X).sum()) - 1.5,
            ),
        )
    },
    # argnums and other settings.
    "wrt by a name": Mistake("out = pb.grad(f, wrt='x')(X)", "argnums=0", "wrt='x'", "argnums=0"),
    "argnums by a name": Mistake(
        "out = pb.grad(f, argnums='x')(X)",
        "grad(f, argnums=0)",
        "grad(f, argnums='x')",
        "grad(f, argnums=0)",
    ),
    "argnums as a float": Mistake(
        "out = pb.grad(f, argnums=0.0)(X)",
        "grad(f, argnums=0)",
        "grad(f, argnums=0.0)",
        "grad(f, argnums=0)",
    ),
    "argnums of None": Mistake(
        "out = pb.grad(f, argnums=None)(X)",
        "grad(f, argnums=0)",
        "grad(f, argnums=None)",
        "grad(f, argnums=0)",
    ),
    "a mode by its position": Mistake(
        "out = pb.jacobian(f, 'forward')(X)",
        "jacobian(f, mode='forward')",
        "jacobian(f, 'forward')",
        "jacobian(f, mode='forward')",
    ),
    "a list of integers": Mistake(
        "x = [1, 2, 3]\nout = pb.grad(lambda x: np.sum(np.asarray(x) ** 2))(x)",
        "np.asarray(x, float)",
        ")(x)",
        ")(np.asarray(x, float))",
        np.array([2.0, 4.0, 6.0]),
    ),
    "a function of NumPy's with many outputs": Mistake(
        "out = pb.grad(np.sin)(X)",
        "grad(lambda x: np.sin(x).sum())",
        "grad(np.sin)",
        "grad(lambda x: np.sin(x).sum())",
        np.cos(X),
    ),
    "a number that goes on": Mistake(
        "out = pb.while_loop(lambda x: x, lambda x: x - 1, 3.0)", "x > 0", "x: x,", "x: x > 0,", 0.0
    ),
    "no function for primitive": Mistake(
        "out = pb.grad(lambda x: np.sum(x * x) + 0 * pb.primitive(f(x)).size)(X)",
        "primitive(f)",
        "pb.primitive(f(x)).size",
        "len([pb.primitive(f)])",
    ),
    "a tree by its attributes": Mistake(
        "Model.__init__ = lambda self, a=X, b=1.0: vars(self).update(a=a, b=b)\n"
        "pb.register_tree(Model, ('a', 'b'), Model)\nout = pb.grad(lambda m: f(m.a))(Model()).a",
        "pullback.register_tree(Model, lambda x: ((x.a, x.b), None), lambda aux, xs: Model(*xs))",
        "pb.register_tree(Model, ('a', 'b'), Model)",
        "pullback.register_tree(Model, lambda x: ((x.a, x.b), None), lambda aux, xs: Model(*xs))",
    ),
    "order 0": Mistake(
        "out = pb.testing.check_grads(f, (X,), order=0)", "order=1", "order=0", "order=1", None
    ),
    "jac": Mistake(
        "x = X\nout = pb.jac(f)(x)",
        "pullback.jacobian(f)(x)",
        "pb.jac(f)(x)",
        "pullback.jacobian(f)(x)",
    ),
    "a decision in vmap": Mistake(
        "def g(x):\n    if x > 1:\n        return x\n    return -x\n\nout = pb.vmap(g)(X)",
        "np.where(condition, a, b)",
        "if x > 1:\n        return x\n    return -x",
        "condition, a, b = x > 1, x, -x\n    return np.where(condition, a, b)",
        np.array([-0.5, 1.5, 2.5]),
    ),
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
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_suggestion_works(name):
    check(name, MISTAKES[name])

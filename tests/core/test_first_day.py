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
pytestmark = pytest.mark.usefixtures("no_primitives_left")
X = np.array([0.5, 1.5, 2.5])
MISTAKES = {
    # Arguments that belong into a call of their own, and rules of another declaration.
    "grad with JAX's positions and the argument": Mistake(
        "x = X\nout = pb.grad(f, (0,), x)", "grad(f)(x)", "grad(f, (0,), x)", "grad(f)(x)"
    ),
    "compile with the argument": Mistake(
        "x = X\nout = pb.compile(f, x)", "compile(f)(x)", "compile(f, x)", "compile(f)(x)", 8.75
    ),
    "hvp with argument and direction": Mistake(
        "x, v = X, np.ones(3)\nout = pb.hvp(f, x, v)",
        "hvp(f)(x, v)",
        "hvp(f, x, v)",
        "hvp(f)(x, v)",
        2 * ONE,
    ),
    "vmap with the batch": Mistake(
        "xs = np.eye(3)\nout = pb.vmap(f, xs)", "vmap(f)(xs)", "vmap(f, xs)", "vmap(f)(xs)", ONE
    ),
    "checkpoint with the argument": Mistake(
        "x = X\nout = pb.checkpoint(f, x)",
        "checkpoint(f)(x)",
        "checkpoint(f, x)",
        "checkpoint(f)(x)",
        8.75,
    ),
    "while_loop without init": Mistake(
        "cond, body, init = lambda x: x < 3.0, lambda x: x + 1.0, 0.5\nout = pb.while_loop(cond, body)",
        "while_loop(cond, body, init)",
        "while_loop(cond, body)",
        "while_loop(cond, body, init)",
        3.5,
    ),
    "check_grads without arguments": Mistake(
        "x = X\nout = pb.testing.check_grads(f)",
        "check_grads(f, (x,))",
        "check_grads(f)",
        "check_grads(f, (x,))",
        None,
    ),
    "JAX's debug_nans": Mistake(
        "pb.debug_nans(True)\nout = pb.grad(f)(X)",
        "with pullback.debug_nans():",
        "pb.debug_nans(True)\nout",
        "with pullback.debug_nans():\n    out",
    ),
    "an Array that requires a gradient": Mistake(
        "x = X\nw = pb.Array(x, requires_grad=True)\nf(w).backward()\nout = w.grad",
        "pullback.array(x, requires_grad=True)",
        "pb.Array(x, requires_grad=True)",
        "pullback.array(x, requires_grad=True)",
    ),
    "a reverse rule of custom_jvp": Mistake(
        "@pb.custom_jvp\ndef g(x):\n    return f(x)\n\n"
        "def forward(x):\n    return f(x), x\n\n"
        "def backward(x, out_bar):\n    return (2 * x * out_bar,)\n\n"
        "g.defvjp(forward, backward)\nout = pb.grad(g)(X)",
        "pullback.custom_vjp",
        "pb.custom_jvp",
        "pullback.custom_vjp",
    ),
    "one rule for defvjp": Mistake(
        RULE + "def forward(x):\n    return f(x), x\n\n"
        "def backward(x, out_bar):\n    return (2 * x * out_bar,)\n\n"
        "g.defvjp(backward)\nout = pb.grad(g)(X)",
        "g.defvjp(forward, backward)",
        "g.defvjp(backward)",
        "g.defvjp(forward, backward)",
    ),
    "a derivative as a partial": Mistake(
        "g = pb.Elementwise(np.exp, np.exp)\nout = pb.grad(lambda x: g(x).sum())(0 * X)",
        "lambda out, x0: np.exp(x0)",
        "np.exp, np.exp",
        "np.exp, lambda out, x0: np.exp(x0), reads='xs'",
        ONE,
    ),
    "a partial that reads what is not kept": Mistake(
        "g = pb.Elementwise(lambda x: x * x, lambda out, x: 2 * x)\nout = pb.grad(lambda x: g(x).sum())(X)",
        "reads='x0'",
        "2 * x)\n",
        "2 * x, reads='x0')\n",
    ),
    "reads by the names of parameters": Mistake(
        "g = pb.Elementwise(lambda x: x * x, lambda out, x: 2 * x, reads='x')\nout = pb.grad(lambda x: g(x).sum())(X)",
        "reads='x0'",
        "reads='x'",
        "reads='x0'",
    ),
    "a linear map without a class": Mistake(
        "mine = pb.Linear(lambda x: 2 * x)\nout = f(X)",
        "class Mine(pullback.Linear):",
        "mine = pb.Linear(lambda x: 2 * x)\n",
        "class Mine(pullback.Linear):\n    def value(self, x):\n        return 2 * x\n\n",
        8.75,
    ),
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
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_suggestion_works(name):
    check(name, MISTAKES[name])

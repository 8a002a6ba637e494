"""Names that an Array or pullback does not have: what those who know them elsewhere write here.

People come from PyTorch, JAX, autograd and micrograd, and write `x.exp()`, `x.at[0].set(1)` or
`pullback.jit(f)`. The error says what stands for that. It is an AttributeError, so that `hasattr`
and `getattr(x, name, default)` answer as ever.
"""

from __future__ import annotations

import difflib
from typing import Any, NoReturn

import numpy as np

from .array import Array
from .errors import UnknownNameError

PLAIN = "`x.numpy()` is the plain value, and `x` itself computes where it is"
RIGHT = "leave it out: `x` is an array in memory, of its own dtype"
LEAF = "make a leaf, `x = pullback.array(x, requires_grad=True)`"
ATTRIBUTES = {
    "at": "assign into a copy, `x = x.copy()` and then `x[i] = value`; the derivative follows",
    "requires_grad_": LEAF, "grad_fn": "look at the record, `pullback.explain(f)(x)`",
    "is_leaf": "ask `x.requires_grad`", "_value": PLAIN, "primal": PLAIN, "tangent": PLAIN,
    "asnumpy": "`x.numpy()`", "cpu": RIGHT, "cuda": RIGHT, "to": RIGHT, "contiguous": RIGHT,
    "block_until_ready": RIGHT, "device_buffer": RIGHT,
    "float": "`x.astype(float)`", "double": "`x.astype(float)`", "long": "`x.astype(int)`",
    "int": "`x.astype(int)`", "half": "`x.astype(np.float16)`",
    "unsqueeze": "`np.expand_dims(x, axis)`", "permute": "`np.transpose(x, axes)`", "t": "`x.T`",
    "numel": "`x.size`", "dim": "`x.ndim`", "expand": "`np.broadcast_to(x, shape)`",
    "repeat_interleave": "`np.repeat(x, n)`", "clamp": "`np.clip(x, low, high)`",
    "masked_fill": "`np.where(mask, value, x)`", "gather": "`np.take_along_axis(x, index, axis)`",
    "index_select": "`np.take(x, index, axis)`", "topk": "`np.sort(x)[-k:]`",
    "sub": "`x - y`", "mul": "`x * y`", "div": "`x / y`", "pow": "`x ** n`", "neg": "`-x`",
    "mm": "`x @ y`", "bmm": "`x @ y`", "mv": "`x @ y`", "rsqrt": "`1 / np.sqrt(x)`",
    "norm": "`np.linalg.norm(x)`", "inverse": "`np.linalg.inv(x)`",
    "logdet": "`np.linalg.slogdet(x)[1]`", "relu": "`np.maximum(x, 0)`",
    "sigmoid": "`1 / (1 + np.exp(-x))`", "softmax": "`scipy.special.softmax(x, axis)`",
    "log_softmax": "`scipy.special.log_softmax(x, axis)`",
    "logsumexp": "`scipy.special.logsumexp(x, axis)`", "erf": "`scipy.special.erf(x)`",
    "lgamma": "`scipy.special.gammaln(x)`", "iloc": "`x[i]`", "loc": "`x[i]`", "values": "`x`",
    "to_numpy": "`x.numpy()` for the plain value", "append": "`np.append(x, value)`",
    "apply": "`f(x)`, with NumPy's functions in f", "zero_": "`x[...] = 0`",
    "fill_": "`x[...] = value`", "copy_": "`x[...] = y`", "add_": "`x += y`", "sub_": "`x -= y`",
    "mul_": "`x *= y`", "div_": "`x /= y`",
    "ctypes": "give the function that calls C a rule with `pullback.primitive`, or C the plain"
    " value, `x.numpy().ctypes`",
}  # fmt: skip
COMPILED = "`pullback.compile(f)`"
OWN = "`import numpy as np`: NumPy itself is differentiated"
RANDOM = "`rng = np.random.default_rng(0)`"
PYTHON = "`if`, `for` and `while`, which are differentiated as they are"
NAMES = {
    "jit": COMPILED, "njit": COMPILED, "pjit": COMPILED, "function": COMPILED,
    "tensor": "`pullback.array(x, requires_grad=True)`",
    "Tensor": "`pullback.array(x, requires_grad=True)`",
    "Variable": "`pullback.array(x, requires_grad=True)`",
    "Value": "`pullback.array(x, requires_grad=True)`",
    "Parameter": "`pullback.array(x, requires_grad=True)`",
    "from_numpy": "`pullback.array(x)`", "np": OWN, "jnp": OWN, "random": RANDOM,
    "manual_seed": RANDOM, "PRNGKey": RANDOM, "device_put": "`x` itself",
    "device_get": "`x.numpy()`", "jacfwd": "`pullback.jacobian(f, mode='forward')`",
    "jacrev": "`pullback.jacobian(f, mode='reverse')`", "pmap": "`pullback.vmap(f)`",
    "make_jaxpr": "`pullback.explain(f)(x)`", "lax": PYTHON, "cond": PYTHON, "switch": PYTHON,
    "gradient": "`pullback.grad(f)(x)`", "derivative": "`pullback.grad(f)(x)`",
    "value_and_gradient": "`pullback.value_and_grad(f)(x)`",
    "GradientTape": "`pullback.grad(f)(x)`", "backward": "`y.backward()`",
    "detach": "`pullback.stop_gradient(x)`", "remat": "`pullback.checkpoint(f)`",
    "custom_gradient": "`pullback.custom_vjp`", "Function": "`pullback.custom_vjp`",
    "make_vjp": "`pullback.vjp(f, x)`", "make_jvp": "`pullback.jvp(f, (x,), (x_dot,))`",
    "enable_grad": "leave it out: derivatives are on unless `pullback.no_grad()` is in force",
    "set_grad_enabled": "`with pullback.no_grad():` where no derivative is wanted",
    "inference_mode": "`with pullback.no_grad():`", "check_grads": "`pullback.testing.check_grads`",
    "config": "leave it out: arrays are float64, as NumPy's are",
    "optimize": "`scipy.optimize`", "optim": "`scipy.optimize.minimize(f, x, jac=pb.grad(f))`",
    "linalg": "`np.linalg`", "fft": "`np.fft`", "special": "`scipy.special`",
}  # fmt: skip


def in_numpy(name: str) -> str | None:
    """A function of NumPy's by the name of a method."""
    for home, found in (("np", vars(np).get(name)), ("np.linalg", vars(np.linalg).get(name))):
        if callable(found) and not isinstance(found, type):
            return f"`{home}.{name}(x)`"
    return None


def advice(instead: str) -> str:
    """The sentence that says what to write, given code in backticks or words."""
    return f"{'Write' if instead.startswith('`') else 'Instead,'} {instead}."


class OtherName:
    """A name that an Array does not have: `x.name` raises. Asking for others costs nothing more."""

    __slots__ = ("instead", "name")

    def __init__(self, name: str, instead: str) -> None:
        self.name, self.instead = name, instead

    def __get__(self, x: Any, owner: Any = None) -> NoReturn:
        if x is None:
            raise AttributeError(self.name)
        memory = hasattr(np.ndarray, self.name)
        known = "does not show its memory" if memory else "has the attributes of NumPy's arrays"
        error = UnknownNameError(
            f"`x.{self.name}` was asked of an Array, which {known}.\n  {advice(self.instead)}"
        )
        error.name, error.obj = self.name, x
        raise error


def names_of_arrays(self: Array) -> list[str]:
    """`dir(x)`, without the names that it does not have."""
    return [name for name in object.__dir__(self) if name not in OTHERS]


def enter_names() -> None:
    """Give Array the names of the table, and of NumPy's functions, that it does not have."""
    names = {*vars(np), *vars(np.linalg)} - {*dir(np.ndarray)}
    for name in {*ATTRIBUTES, *names} - {*dir(Array)}:
        instead = ATTRIBUTES.get(name) or in_numpy(name)
        if instead is not None and (name in ATTRIBUTES or not name.startswith("_")):
            OTHERS.add(name)
            setattr(Array, name, OtherName(name, instead))
    Array.__dir__ = names_of_arrays  # type: ignore[method-assign, assignment]  # of `object`, whose signature it has


OTHERS: set[str] = set()


def refuse_name(name: str, known: Any) -> NoReturn:
    """Raise for `pullback.name`."""
    instead = NAMES.get(name)
    if instead is None and not name.startswith("_"):
        close = difflib.get_close_matches(name, known, 1)
        instead = f"`pullback.{close[0]}`" if close else in_numpy(name)
    if instead is None:
        raise AttributeError(f"module 'pullback' has no attribute '{name}'")
    raise UnknownNameError(
        f"`pullback.{name}` was asked for, and pullback has no such name.\n  {advice(instead)}"
    )

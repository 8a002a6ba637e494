"""autograd's operators on functions, with its signatures and results."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.array import raw
from ..core.reach.calls import call_inside
from ..transforms.call import checkpoint
from .core import make_jvp as make_jvp_of_one
from .core import make_vjp as make_vjp_of_one
from .core import vspace
from .wrap_util import unary_to_nary

__all__ = [
    "checkpoint",
    "deriv",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacobian",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]

make_vjp = unary_to_nary(make_vjp_of_one)
make_vjp.__name__ = "make_vjp"
make_jvp = unary_to_nary(make_jvp_of_one)
make_jvp.__name__ = "make_jvp"


def check_scalar(out: Any, verb: str) -> None:
    """Raise unless out is one real number, with or without axes of length one."""
    numeric = isinstance(out, (int, float, complex, np.ndarray, np.generic))
    if not numeric or np.size(out) != 1 or np.iscomplexobj(raw(out)):
        got = f"shape {np.shape(out)}" if numeric else f"a {out.__class__.__name__}"
        raise TypeError(
            f"{verb} only applies to real scalar-output functions, and this one returned {got}."
            " Try jacobian, elementwise_grad or holomorphic_grad."
        )


@unary_to_nary
def grad(fun: Callable[..., Any], x: Any) -> Any:
    """The gradient of `fun` by positional argument `argnum`, of the argument's type.

    The output is one real number; axes of length one are allowed.
    """
    back, out = make_vjp_of_one(fun, x)
    check_scalar(out, "Grad")
    return back(vspace(out).ones())


@unary_to_nary
def value_and_grad(fun: Callable[..., Any], x: Any) -> Any:
    """(fun(x), its gradient); suits scipy.optimize with `jac=True`."""
    back, out = make_vjp_of_one(fun, x)
    check_scalar(out, "value_and_grad")
    return out, back(vspace(out).ones())


@unary_to_nary
def grad_and_aux(fun: Callable[..., Any], x: Any) -> Any:
    """The gradient of the first of two outputs, and the second as it is."""
    back, (out, aux) = make_vjp_of_one(lambda x: tuple(call_inside(fun, (x,), {})), x)
    return back((vspace(out).ones(), vspace(aux).zeros())), aux


@unary_to_nary
def elementwise_grad(fun: Callable[..., Any], x: Any) -> Any:
    """The sum of each column of the Jacobian: its diagonal where fun works element by element."""
    back, out = make_vjp_of_one(fun, x)
    if vspace(out).iscomplex:
        raise TypeError("elementwise_grad only applies to real-output functions.")
    return back(vspace(out).ones())


@unary_to_nary
def deriv(fun: Callable[..., Any], x: Any) -> Any:
    """The derivative along the vector of ones, in forward mode."""
    return make_jvp_of_one(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Callable[..., Any], x: Any) -> Any:
    """The Jacobian of shape out.shape + x.shape."""
    back, out = make_vjp_of_one(fun, x)
    space = vspace(out)
    rows = [back(unit) for unit in space.standard_basis(imaginary=False)]
    shape = space.shape + vspace(x).shape
    return np.reshape(np.stack(rows), shape) if rows else np.zeros(shape)


@unary_to_nary
def hessian(fun: Callable[..., Any], x: Any) -> Any:
    """The Hessian, exactly."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def holomorphic_grad(fun: Callable[..., Any], x: Any) -> Any:
    """The complex derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=2)
    return grad(lambda x: np.real(call_inside(fun, (x,), {})))(x)


def grad_named(fun: Callable[..., Any], argname: str) -> Any:
    """The gradient with respect to the argument of this name."""
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


@unary_to_nary
def make_hvp(fun: Callable[..., Any], x: Any) -> Any:
    """(v -> Hessian times v, the gradient): the forward pass is done once."""
    return make_vjp_of_one(grad(fun), x)


def hessian_tensor_product(fun: Callable[..., Any], argnum: Any = 0) -> Callable[..., Any]:
    """(*args, tensor, **kwargs) -> the Hessian times the tensor."""
    gradient = grad(fun, argnum)

    def along(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return np.tensordot(gradient(*rest, **kwargs), tensor, np.ndim(tensor))

    return grad(along, argnum)


def tensor_jacobian_product(fun: Callable[..., Any], argnum: Any = 0) -> Callable[..., Any]:
    """(*args, tensor, **kwargs) -> the tensor times the Jacobian."""

    def weighted(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return np.tensordot(tensor, call_inside(fun, rest, kwargs), axes=np.ndim(tensor))

    return jacobian(weighted, argnum)


hessian_vector_product = hessian_tensor_product
vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Callable[..., Any], x: Any) -> Any:
    """v -> the derivative along v, as the transpose of the pullback."""
    back, out = make_vjp_of_one(fun, x)
    return make_vjp_of_one(back, vspace(out).zeros())[0]


def half_square(x: Any) -> Any:
    return 0.5 * np.sum(x**2, axis=-1)


def make_ggnvp(fun: Callable[..., Any], g: Any = half_square, f_argnum: Any = 0) -> Any:
    """(*args) -> (v -> the generalised Gauss-Newton matrix of g(fun) times v)."""

    @unary_to_nary
    def product(fun: Callable[..., Any], x: Any) -> Any:
        push, (back, out) = make_jvp_of_one(fun, x), make_vjp_of_one(fun, x)
        curvature = make_vjp_of_one(grad(g), out)[0]
        return lambda v: back(curvature(push(v)[1]))

    return product(fun, f_argnum)


def multigrad_dict(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients with respect to all arguments at once, as a dict by their names."""
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_dict(arguments: dict[str, Any]) -> Any:
            call = inspect.BoundArguments(signature, dict(arguments))
            return call_inside(fun, call.args, call.kwargs)

        given = grad(of_dict)(dict(bound.arguments))
        return {name: given[name] for name in bound.arguments}

    return gradients

"""autograd's interface, for programs that were written for it.

    import pullback.autograd as autograd
    import pullback.autograd.numpy as np

The functions have autograd's signatures and results; pullback computes the derivatives. The
namespaces `numpy` and `scipy` hold NumPy's and SciPy's own functions. For packages that import
`autograd` by that name, `pullback.autograd.install()` makes this package answer to it.

>>> grad(lambda x: x**3)(2.0)
np.float64(12.0)
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from ..core.other_names import refuse_name as _refuse_name
from .builtins import dict, isinstance, list, tuple, type
from .differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from .installing import install
from .tracer import primitive

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "install",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]

_SUBMODULES = ("extend", "misc", "numpy", "scipy", "test_util")


def __getattr__(name: str) -> _Any:
    """Submodules are imported when they are first used."""
    if name in _SUBMODULES:
        return _import_module(f"{__name__}.{name}")
    _refuse_name(name, [*__all__, *_SUBMODULES], __name__)

"""pullback: derivatives of the NumPy program you already have.

>>> import numpy as np
>>> import pullback as pb
>>> pb.grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, 1.0]))
array([0.        , 0.90929743])
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .core.array import Array as Array
from .core.errors import ArgumentError as ArgumentError
from .core.errors import ArgumentTypeError as ArgumentTypeError
from .core.errors import ConversionError as ConversionError
from .core.errors import DtypeError as DtypeError
from .core.errors import EscapedError as EscapedError
from .core.errors import LostDerivativeWarning as LostDerivativeWarning
from .core.errors import MissingExtraError as MissingExtraError
from .core.errors import MissingRuleError as MissingRuleError
from .core.errors import NanError as NanError
from .core.errors import NonScalarOutputError as NonScalarOutputError
from .core.errors import PullbackError as PullbackError
from .core.errors import ShapeError as ShapeError
from .core.errors import SolverError as SolverError
from .core.errors import UnknownImportError as UnknownImportError
from .core.errors import UnknownNameError as UnknownNameError
from .core.errors import UnsupportedKeywordError as UnsupportedKeywordError
from .core.kinds import Elementwise as Elementwise
from .core.kinds import Linear as Linear
from .core.kinds import Multilinear as Multilinear
from .core.other_names import enter_names as _enter_names
from .core.other_names import refuse_name as _refuse_name
from .core.primitive import Primitive as Primitive
from .core.reach.instrument import instrument as instrument
from .core.reach.instrument import rebinding as rebinding
from .core.reach.instrument import uninstrument as uninstrument
from .core.registry import replaces as replaces
from .core.spec import Spec as Spec
from .core.tree import register_tree as register_tree
from .primitives import methods as _methods  # noqa: F401  # puts NumPy's methods on Array
from .transforms.eager import array as array
from .transforms.eager import no_grad as no_grad
from .transforms.reverse import grad as grad
from .transforms.reverse import value_and_grad as value_and_grad
from .transforms.reverse import vjp as vjp

if _TYPE_CHECKING:  # imported when they are first used
    from .compiler.call.compiled import compile as compile
    from .compiler.facts.judge import pure as pure
    from .transforms.batch import vmap as vmap
    from .transforms.call import checkpoint as checkpoint
    from .transforms.call import stop_gradient as stop_gradient
    from .transforms.custom import custom_jvp as custom_jvp
    from .transforms.custom import custom_vjp as custom_vjp
    from .transforms.derived import elementwise_grad as elementwise_grad
    from .transforms.derived import hessian as hessian
    from .transforms.derived import hvp as hvp
    from .transforms.derived import jacobian as jacobian
    from .transforms.extend import primitive as primitive
    from .transforms.forward import jvp as jvp
    from .transforms.linearize import linearize as linearize
    from .transforms.loops.scan import fori_loop as fori_loop
    from .transforms.loops.scan import scan as scan
    from .transforms.loops.while_loop import while_loop as while_loop
    from .transforms.nans import debug_nans as debug_nans

__version__ = "0.1.0.dev0"
# Names that are imported when they are first used, and their modules.
_LATER = {
    "compile": "compiler.call.compiled",
    "pure": "compiler.facts.judge",
    "vmap": "transforms.batch",
    "checkpoint": "transforms.call",
    "stop_gradient": "transforms.call",
    "jvp": "transforms.forward",
    "custom_jvp": "transforms.custom",
    "custom_vjp": "transforms.custom",
    "elementwise_grad": "transforms.derived",
    "hessian": "transforms.derived",
    "hvp": "transforms.derived",
    "jacobian": "transforms.derived",
    "primitive": "transforms.extend",
    "linearize": "transforms.linearize",
    "fori_loop": "transforms.loops.scan",
    "scan": "transforms.loops.scan",
    "while_loop": "transforms.loops.while_loop",
    "debug_nans": "transforms.nans",
}
__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "Array",
    "ConversionError",
    "DtypeError",
    "Elementwise",
    "EscapedError",
    "Linear",
    "LostDerivativeWarning",
    "MissingExtraError",
    "MissingRuleError",
    "Multilinear",
    "NanError",
    "NonScalarOutputError",
    "Primitive",
    "PullbackError",
    "ShapeError",
    "SolverError",
    "Spec",
    "UnknownImportError",
    "UnknownNameError",
    "UnsupportedKeywordError",
    "array",
    "checkpoint",
    "compile",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "elementwise_grad",
    "explain",
    "fori_loop",
    "grad",
    "hessian",
    "hvp",
    "instrument",
    "jacobian",
    "jvp",
    "linearize",
    "nn",
    "no_grad",
    "numpy",
    "primitive",
    "pure",
    "rebinding",
    "register_tree",
    "replaces",
    "scan",
    "scipy",
    "stop_gradient",
    "testing",
    "uninstrument",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]


_enter_names()  # Array has all that it will have


def __dir__() -> list[str]:
    """What is offered to users, whether it has been imported yet or not."""
    return [*__all__, "autograd", *(name for name in globals() if name.startswith("__"))]


def __getattr__(name: str) -> _Any:
    """What is not needed for a gradient is imported when it is first used."""
    if name in _LATER:
        found = getattr(_importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
        globals()[name] = found
        return found
    if name in ("autograd", "explain", "nn", "numpy", "scipy", "testing"):
        return _importlib.import_module(f"{__name__}.{name}")
    _refuse_name(name, __all__)

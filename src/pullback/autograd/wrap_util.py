"""From an operator on functions of one argument to one with `argnum`, as autograd has them."""

from collections.abc import Callable
from typing import Any

from ..core.reach.calls import call_inside
from ..transforms.transformation import check_function
from .util import subvals

__all__ = ["get_doc", "get_name", "unary_to_nary", "wrap_nary_f", "wraps"]


def get_name(fun: Any) -> str:
    return getattr(fun, "__name__", "[unknown name]")


def get_doc(fun: Any) -> str:
    return getattr(fun, "__doc__", None) or ""


def wraps(
    fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any
) -> Callable[[Any], Any]:
    """Give a function the name and the docstring that the formats make of those of `fun`."""

    def decorate(f: Any) -> Any:
        f.__name__ = namestr.format(fun=get_name(fun), **kwargs)
        f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        return f

    return decorate


def wrap_nary_f(fun: Any, op: Any, argnum: Any) -> Callable[[Any], Any]:
    return wraps(
        fun,
        "{op}_of_{fun}_wrt_argnum_{argnum}",
        "{op} of `{fun}` by positional argument {argnum}; takes the arguments of `{fun}`.",
        op=get_name(op),
        argnum=argnum,
    )


def unary_to_nary(unary_operator: Callable[..., Any]) -> Callable[..., Any]:
    """Make `operator(fun, argnum=0)(*args, **kwargs)` of `operator(fun, x)`.

    With a tuple or list for argnum, x is the tuple of those arguments.
    """

    def nary_operator(fun: Any, argnum: Any = 0, *more: Any, **options: Any) -> Any:
        check_function(fun, get_name(unary_operator))
        if not isinstance(argnum, (int, tuple, list)) or isinstance(argnum, bool):
            raise TypeError(f"argnum is an int, or a tuple or list of ints, but got {argnum!r}.")

        def nary_f(*args: Any, **kwargs: Any) -> Any:
            def unary_f(x: Any) -> Any:
                chosen = [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x, strict=True)
                return call_inside(fun, subvals(args, chosen), kwargs)

            wraps(fun)(unary_f)
            x = args[argnum] if isinstance(argnum, int) else tuple([args[i] for i in argnum])
            return unary_operator(unary_f, x, *more, **options)

        return wrap_nary_f(fun, unary_operator, argnum)(nary_f)

    return wraps(unary_operator)(nary_operator)

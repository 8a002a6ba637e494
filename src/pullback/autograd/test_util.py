"""Checks of derivatives under autograd's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from .core import make_jvp, make_vjp, vspace
from .wrap_util import get_name, unary_to_nary

__all__ = [
    "check_equivalent",
    "check_grads",
    "check_jvp",
    "check_vjp",
    "combo_check",
    "make_numerical_jvp",
    "scalar_close",
]

EPS = TOL = RTOL = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Callable[..., Any], x: Any) -> Callable[[Any], Any]:
    """v -> the central difference of f at x along v."""
    xs, ys = vspace(x), vspace(f(x))

    def push(v: Any) -> Any:
        above = f(xs.add(x, xs.scalar_mul(v, EPS / 2)))
        below = f(xs.add(x, xs.scalar_mul(v, -EPS / 2)))
        return ys.scalar_mul(ys.add(above, ys.scalar_mul(below, -1.0)), 1.0 / EPS)

    return push


def check_vjp(f: Callable[..., Any], x: Any) -> None:
    back, y = make_vjp(f, x)
    push = make_numerical_jvp(f, x)
    xs, ys = vspace(x), vspace(y)
    x_dot, y_bar = xs.randn(), ys.randn()
    x_bar = xs.covector(back(ys.covector(y_bar)))
    assert vspace(x_bar) == xs, f"the vjp of {get_name(f)} gives {vspace(x_bar)} for {xs}"
    exact, numeric = xs.inner_prod(x_dot, x_bar), ys.inner_prod(y_bar, push(x_dot))
    assert scalar_close(numeric, exact), (
        f"Derivative (VJP) check of {get_name(f)} failed at {x}: the rule gives {exact},"
        f" a difference {numeric}"
    )


def check_jvp(f: Callable[..., Any], x: Any) -> None:
    x_dot = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(x_dot)[1], make_numerical_jvp(f, x)(x_dot))


def check_equivalent(x: Any, y: Any) -> None:
    xs, ys = vspace(x), vspace(y)
    assert xs == ys, f"{xs} is not {ys}"
    v = xs.randn()
    assert scalar_close(xs.inner_prod(x, v), xs.inner_prod(y, v)), f"{x} is not {y}"


@unary_to_nary
def check_grads(
    f: Callable[..., Any], x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2
) -> None:
    """Compare derivatives up to `order` with differences, in both modes."""
    if not set(modes) <= {"fwd", "rev"}:
        raise ValueError(f'modes are "fwd" and "rev", but got {modes}.')
    if "fwd" in modes:
        check_jvp(f, x)
        if order > 1:
            push = lambda x, v: make_jvp(f, x)(v)[1]
            push.__name__ = f"jvp_{get_name(f)}"
            check_grads(push, (0, 1), modes, order=order - 1)(x, vspace(x).randn())
    if "rev" in modes:
        check_vjp(f, x)
        if order > 1:
            pull = lambda x, v: make_vjp(f, x)[0](v)
            pull.__name__ = f"vjp_{get_name(f)}"
            check_grads(pull, (0, 1), modes, order=order - 1)(x, vspace(f(x)).randn())


def combo_check(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., None]:
    """Check all combinations of the arguments that are given as lists."""

    def check(*lists: Any, **named: Any) -> None:
        for values in product(*lists):
            for options in product(*named.values()):
                settings = dict(zip(named, options, strict=True))
                check_grads(fun, *args, **kwargs)(*values, **settings)

    return check

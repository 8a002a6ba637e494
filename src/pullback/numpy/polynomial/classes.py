"""`numpy.polynomial.Polynomial` with Arrays as coefficients or arguments."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.operands import as_array
from ...primitives import fits, polynomial
from ...primitives.arguments import agreed
from ..wrapping import StandIn, answers_for

__all__ = ["Polynomial"]


class PolynomialType(StandIn, ABCMeta):
    """The type of a class of polynomials that stands for NumPy's, an abstract base class."""

    def __subclasscheck__(cls, other: Any) -> bool:
        # Asked of the other class: NumPy's would ask its subclasses, which are this one.
        return (cls.real if cls.stands() else cls) in other.__mro__

    def __instancecheck__(cls, x: Any) -> bool:
        return issubclass(type(x), cls)


@answers_for(np.polynomial.Polynomial)
class Polynomial(np.polynomial.Polynomial, metaclass=PolynomialType):
    __doc__ = np.polynomial.Polynomial.__doc__
    real = np.polynomial.Polynomial
    coef: Any

    def __init__(self, coef: Any, domain: Any = None, window: Any = None, symbol: str = "x"):
        super().__init__([1.0], symbol=symbol)
        self.coef = vector(coef)
        for name, given in (("domain", domain), ("window", window)):
            if given is not None:
                ends = vector(given)
                if len(ends) != 2:
                    raise ValueError(f"{name.capitalize()} has wrong number of elements.")
                setattr(self, name, ends)

    def like(self, coef: Any) -> Any:
        return type(self)(coef, self.domain, self.window, self.symbol)

    def coefficients(self, other: Any) -> Any:
        """Those of the other operand, which may be a number, or coefficients themselves."""
        if not isinstance(other, np.polynomial.Polynomial):
            return other
        for name in ("domain", "window", "symbol"):
            if not np.all(np.equal(getattr(self, name), getattr(other, name))):
                raise TypeError(f"{name.capitalize()}s differ")
        return other.coef

    def __call__(self, arg: Any) -> Any:
        return polynomial.polyval(moved(arg, self.domain, self.window), self.coef)

    def __add__(self, other: Any) -> Any:
        return self.like(polynomial.polyadd(self.coef, self.coefficients(other)))

    def __radd__(self, other: Any) -> Any:
        return self.like(polynomial.polyadd(self.coefficients(other), self.coef))

    def __sub__(self, other: Any) -> Any:
        return self.like(polynomial.polysub(self.coef, self.coefficients(other)))

    def __rsub__(self, other: Any) -> Any:
        return self.like(polynomial.polysub(self.coefficients(other), self.coef))

    def __mul__(self, other: Any) -> Any:
        return self.like(polynomial.polymul(self.coef, self.coefficients(other)))

    def __rmul__(self, other: Any) -> Any:
        return self.like(polynomial.polymul(self.coefficients(other), self.coef))

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Array and not other.ndim:
            return self // other
        return super().__truediv__(other)

    def __divmod__(self, other: Any) -> Any:
        parts = polynomial.polydiv(self.coef, self.coefficients(other))
        return tuple([self.like(part) for part in parts])

    def __rdivmod__(self, other: Any) -> Any:
        return tuple(
            [self.like(part) for part in polynomial.polydiv(self.coefficients(other), self.coef)]
        )

    def __pow__(self, other: Any) -> Any:
        return self.like(polynomial.polypow(self.coef, other, maxpower=self.maxpower))

    def trim(self, tol: Any = 0) -> Any:
        return self.like(polynomial.polytrim(self.coef, tol))

    def integ(self, m: Any = 1, k: Any = [], lbnd: Any = None) -> Any:  # noqa: B006  # as NumPy has it
        off, scl = self.mapparms()
        lbnd = 0 if lbnd is None else off + scl * lbnd
        return self.like(polynomial.polyint(self.coef, m, k, lbnd, 1 / scl))

    def deriv(self, m: Any = 1) -> Any:
        return self.like(polynomial.polyder(self.coef, m, self.mapparms()[1]))

    def roots(self) -> Any:
        return moved(polynomial.polyroots(self.coef), self.window, self.domain)

    @classmethod
    def fit(
        cls,
        x: Any,
        y: Any,
        deg: Any,
        domain: Any = None,
        rcond: Any = None,
        full: bool = False,
        w: Any = None,
        window: Any = None,
        symbol: str = "x",
    ) -> Any:
        domain, window = cls.ends(domain, window, x)
        if agreed(domain[0] == domain[1], "numpy.polynomial.Polynomial.fit"):
            domain = domain + np.array([-1, 1])
        out = fits.polyfit_rising(moved(x, domain, window), y, deg, rcond, full, w)
        made = cls(out[0] if full else out, domain, window, symbol)
        return (made, out[1]) if full else made

    @classmethod
    def fromroots(
        cls,
        roots: Any,
        domain: Any = [],  # noqa: B006  # as NumPy has it
        window: Any = None,
        symbol: str = "x",
    ) -> Any:
        domain, window = cls.ends(domain, window, roots)
        coef = polynomial.polyfromroots(moved(vector(roots), domain, window))
        _, scl = np.polynomial.polyutils.mapparms(domain, window)
        return cls(coef / scl ** len(roots), domain, window, symbol)

    @classmethod
    def ends(cls, domain: Any, window: Any, x: Any) -> Any:
        """The domain, by default where x lies, and the window."""
        if domain is None:
            x = vector(x)
            domain = np.stack([np.min(np.real(x)), np.max(np.real(x))])
            if x.dtype.kind == "c":
                domain = domain + 1j * np.stack([np.min(np.imag(x)), np.max(np.imag(x))])
        elif isinstance(domain, list) and not domain:
            domain = cls.domain
        return as_array(domain), cls.window if window is None else as_array(window)


def vector(x: Any) -> Any:
    return np.copy(polynomial.series(x, trim=False)[0])


def moved(x: Any, old: Any, new: Any) -> Any:
    """x by the linear map that takes one interval to another."""
    off, scl = np.polynomial.polyutils.mapparms(old, new)
    return off + scl * (as_array(x) if isinstance(x, (list, tuple)) else x)

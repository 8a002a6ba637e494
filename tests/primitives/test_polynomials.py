"""Roots where NumPy cuts zeros off, multiple roots, and the class `Polynomial`."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial
from numpy.polynomial.polynomial import polyroots, polyval

import pullback as pb
from pullback.testing import check_grads

KINDS = [Polynomial, Chebyshev, Legendre, Laguerre, Hermite, HermiteE]
C = np.array([0.7, -1.2, 1.9])  # what is exactly zero would be cut off
POINTS = np.array([0.0, 1.0, 2.0, 4.0])

# Name -> (from a class of polynomials to a function, where it is differentiated).
OPERATIONS = {
    "at a number": (lambda P: lambda x: P([1.0, 2.0, 3.0])(x), 0.5),
    "at an array": (lambda P: lambda x: P([1.0, 2.0, 3.0])(x), np.array([0.5, 0.2])),
    "by coefficients": (lambda P: lambda c: P(c)(0.3), C),
    "sum": (lambda P: lambda c: (P([1.0, 2.0]) + P(c) + 1.5)(0.3), C),
    "difference": (lambda P: lambda c: (P([1.0, 2.0]) - (1.5 - P(c)))(0.3), C),
    "product": (lambda P: lambda c: (P(c) * P(c) * 2.0)(0.3), C),
    "quotient": (lambda P: lambda c: (P(c) // P([1.0, 2.0]))(0.3), C),
    "remainder": (lambda P: lambda c: (P(c) % P([1.0, 2.0]))(0.3), C),
    "power": (lambda P: lambda c: (P(c) ** 2)(0.3), C),
    "scaled": (lambda P: lambda x: (x * P([1.0, 2.0]))(0.3), 1.5),
    "derivative": (lambda P: lambda c: P(c).deriv()(0.3), C),
    "integral": (lambda P: lambda c: P(c).integ()(0.3), C),
    "fit": (lambda P: lambda y: P.fit(POINTS, y, 2)(0.7), np.array([1.0, 0.0, 2.0, 3.5])),
    "roots": (lambda P: lambda c: np.sum(P(c).roots().real), np.array([1.0, -4.0, 1.5])),
    "another class": (lambda P: lambda c: P(c).convert(kind=Polynomial)(0.3), C),
}


class TestRoots:
    def test_a_root_at_zero_moves(self):
        """NumPy writes it down as it is; by p(r) = 0 it moves with the last coefficient."""
        jacobian = pb.jacobian(np.roots)(np.array([1.0, -3.0, 0.0]))
        np.testing.assert_allclose(jacobian, [[-3, -1, -1 / 3], [0, 0, 1 / 3]], atol=1e-12)

    def test_a_multiple_root_is_loud(self):
        """Its derivative is infinite: a pole, and no number that looks right."""
        gradient = pb.grad(lambda c: np.sum(np.real(np.roots(c)) ** 2))(np.array([1.0, 0.0, 0.0]))
        assert not np.all(np.isfinite(gradient))

    def test_symmetric_functions_of_the_roots(self):
        """Sum and product are coefficients."""
        c = np.array([2.0, 1.0, -3.0, 0.5])
        total = pb.grad(lambda c: np.real(np.sum(np.roots(c))))(c)
        np.testing.assert_allclose(total, [0.25, -0.5, 0, 0], atol=1e-12)

    def test_imported_by_name(self):
        f = lambda c: np.sum(polyval(polyroots(c), [1.0, 2.0]))
        np.testing.assert_allclose(pb.grad(f)(np.array([-1.0, 1.0])), [-2, -2])


class TestPolynomial:
    def test_it_is_numpys(self):
        def f(c):
            p = Polynomial(c)
            assert isinstance(p, Polynomial)
            assert isinstance(p, np.polynomial.Polynomial)
            assert not isinstance(c, Polynomial)
            assert p.degree() == 2
            return p(2.0)

        np.testing.assert_array_equal(pb.grad(f)(np.ones(3)), [1, 2, 4])
        assert type(Polynomial([1.0])(2.0)) is np.float64

    @pytest.mark.parametrize(
        ("other", "word"),
        [
            (lambda: Polynomial([1.0], domain=[0, 1]), "Domains"),
            (lambda: Polynomial([1.0], window=[0, 1]), "Windows"),
            (lambda: Polynomial([1.0], symbol="t"), "Symbols"),
        ],
    )
    def test_others_are_refused_as_by_numpy(self, other, word):
        with pytest.raises(TypeError, match=f"{word} differ"):
            pb.grad(lambda c: (Polynomial(c) + other())(2.0))(np.ones(2))

    def test_a_domain_has_two_ends(self):
        with pytest.raises(ValueError, match="Domain has wrong number"):
            pb.grad(lambda c: Polynomial(c, domain=[1, 2, 3])(2.0))(np.ones(2))

    def test_one_from_outside(self):
        """NumPy's own methods take part."""
        p = Polynomial([1.0, 2.0])
        assert pb.grad(lambda x: p(x))(2.0) == 2.0
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(p(x)))(np.ones(2)), [2.0, 2.0])
        with pb.rebinding(False), pytest.raises(pb.ConversionError, match="by `numpy"):
            pb.grad(lambda x: np.sum(p(x)))(np.ones(2))

    @pytest.mark.share(2)
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("name", OPERATIONS)
    def test_every_class(self, kind, name):
        """By their coefficients and by what they are given, of objects made inside and outside."""
        operation, x = OPERATIONS[name]
        check_grads(operation(kind), (x,))

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("name", OPERATIONS)
    def test_every_class_maps(self, kind, name):
        """Where the examples agree which coefficients at the end are zero, as they do mostly."""
        operation, x = OPERATIONS[name]
        f, xs = operation(kind), np.stack([x, x * 1.1, x * 0.8])
        np.testing.assert_allclose(pb.vmap(f)(xs), np.stack([f(x) for x in xs]), atol=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    def test_examples_of_different_degree_are_refused(self, kind):
        with pytest.raises((pb.ConversionError, TypeError)):
            pb.vmap(lambda c: (kind(c) + kind(c))(0.3))(np.array([[1.0, 2.0], [1.0, 0.0]]))

    def test_a_fit_is_differentiated(self):
        x, y = np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.0, 0.0, 2.0, 3.0])
        slope = pb.grad(lambda y: Polynomial.fit(x, y, 1).deriv()(0.0))(y)
        away = x - x.mean()
        np.testing.assert_allclose(slope, away / np.sum(away**2), atol=1e-12)

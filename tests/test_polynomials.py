"""Roots where NumPy cuts zeros off, multiple roots, and the class `Polynomial`."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.polynomial.polynomial import polyroots, polyval

import pullback as pb


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
        """An object of NumPy's own class computes with numbers, and converts arrays."""
        p = Polynomial([1.0, 2.0])
        if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # before, it converted them as well
            assert pb.grad(lambda x: p(x))(2.0) == 2.0
        with pytest.raises(pb.ConversionError, match="by `numpy"):
            pb.grad(lambda x: np.sum(p(x)))(np.ones(2))

    def test_a_fit_is_differentiated(self):
        x, y = np.array([0.0, 1.0, 2.0, 4.0]), np.array([1.0, 0.0, 2.0, 3.0])
        slope = pb.grad(lambda y: Polynomial.fit(x, y, 1).deriv()(0.0))(y)
        away = x - x.mean()
        np.testing.assert_allclose(slope, away / np.sum(away**2), atol=1e-12)

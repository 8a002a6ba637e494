"""Door 4: derivatives of derivatives."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from examples.doors import higher_order as door

X = np.array([0.3, -1.4, 2.7])


class TestSeries:
    """The Taylor series of sin, summed by a loop."""

    @pytest.mark.parametrize("sine", [door.sine, door.sine_to_precision])
    @pytest.mark.parametrize("x", [1.2, -0.4, 2.0])
    def test_derivatives(self, sine, x):
        """The loop's derivatives are cos, -sin and -cos."""
        first = pb.grad(sine)
        second = pb.grad(first)
        third = pb.grad(second)
        np.testing.assert_allclose(
            [sine(x), first(x), second(x), third(x)],
            [np.sin(x), np.cos(x), -np.sin(x), -np.cos(x)],
            atol=1e-13,
        )

    def test_forward_mode(self):
        """Python's control flow is the same for a tangent."""
        _, dot = pb.jvp(door.sine_to_precision, (1.2,), (1.0,))
        np.testing.assert_allclose(dot, np.cos(1.2), atol=1e-14)

    def test_the_loop_asks_for_the_value(self):
        """A larger x needs more terms; at 0 the loop does not run at all."""
        n = [len(pb.explain(door.sine_to_precision)(x).nodes) for x in (0.0, 0.1, 3.0)]
        assert n[0] < n[1] < n[2]
        assert pb.grad(door.sine_to_precision)(0.0) == 1.0


class TestTanh:
    """tanh out of exponentials, and six derivatives."""

    def test_derivatives_at_zero(self):
        """Its Taylor coefficients: x - x^3/3 + 2 x^5/15."""
        at_zero = [f(np.zeros(1))[0] for f in door.derivatives(door.tanh, 6)]
        np.testing.assert_allclose(at_zero, [0, 1, 0, -2, 0, 16, 0], atol=1e-12)

    def test_against_the_polynomials_in_tanh(self):
        """Each derivative of tanh is a polynomial p in t = tanh, and the next is p' (1 - t^2)."""
        p, x = np.polynomial.Polynomial([0, 1]), np.linspace(-3, 3, 25)
        for f in door.derivatives(door.tanh, 6):
            np.testing.assert_allclose(f(x), p(np.tanh(x)), rtol=1e-11, atol=1e-11)
            p = p.deriv() * np.polynomial.Polynomial([1, 0, -1])

    def test_picture(self, tmp_path):
        """The picture is a file with seven curves."""
        pytest.importorskip("matplotlib")
        path = tmp_path / "out" / "tanh.svg"
        door.plot(path)
        svg = path.read_text(encoding="utf-8")
        assert svg.count('<g id="line2d_') > 7


class TestSurvey:
    """f(x1, x2) = ln x1 + x1 x2 - sin x2."""

    def test_value_and_gradient(self):
        """11.652 and (5.5, 1.7163) at (2, 5)."""
        value, gradient = pb.value_and_grad(door.f, argnums=(0, 1))(2.0, 5.0)
        assert f"{value:.3f}" == "11.652"
        assert gradient[0] == 5.5
        assert f"{gradient[1]:.4f}" == "1.7163"

    def test_forward(self):
        """Forward mode gives the same two."""
        dots = [pb.jvp(door.f, (2.0, 5.0), d)[1] for d in ((1.0, 0.0), (0.0, 1.0))]
        np.testing.assert_allclose(dots, [5.5, 2 - np.cos(5)])


def test_levels():
    """Two derivatives of which one stands in the other are kept apart."""
    assert pb.grad(door.nested)(2.0) == 1.0
    assert pb.jvp(door.nested, (2.0,), (1.0,)) == (2.0, 1.0)
    forward = lambda x: x * pb.jvp(lambda y: x + y, (1.0,), (1.0,))[1]
    assert pb.grad(forward)(2.0) == 1.0


class TestPrimitive:
    """A primitive of one's own, with one rule."""

    def test_rule_in_all_modes(self):
        """The rule in three lines gives both modes and both orders."""
        pb.testing.check_grads(door.logsumexp, (X,))
        plain = lambda x: np.log(np.sum(np.exp(x)))
        np.testing.assert_allclose(pb.hessian(door.logsumexp)(X), pb.hessian(plain)(X), atol=1e-12)

    def test_large(self):
        """It does not overflow, and neither does its rule."""
        gradient = pb.grad(door.logsumexp)(X + 1000)
        np.testing.assert_allclose(gradient, np.exp(X) / np.sum(np.exp(X)), rtol=1e-12)


class TestRun:
    """The file as a program."""

    def test_prints_the_numbers(self, tmp_path, capsys):
        """As a module with a place for the picture."""
        pytest.importorskip("matplotlib")
        path = tmp_path / "tanh.png"
        assert door.main(["--out", str(path)]) == 0
        out = capsys.readouterr().out
        assert path.read_bytes().startswith(b"\x89PNG")
        assert "value     11.652" in out
        assert "gradient  (5.5, 1.7163)" in out
        assert "  5    16.000000" in out

    def test_as_a_plain_file_without_matplotlib(self, tmp_path, capsys, monkeypatch):
        """The numbers are printed, and the missing extra is named."""
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
        monkeypatch.setattr(sys, "argv", ["door", "--out", str(tmp_path / "tanh.png")])
        with pytest.raises(SystemExit) as exit_:
            runpy.run_path(str(Path(door.__file__)), run_name="__main__")
        assert exit_.value.code == 0
        out = capsys.readouterr().out
        assert "11.652" in out
        assert "pip install 'pullback[plot]'" in out
        assert not (tmp_path / "tanh.png").exists()

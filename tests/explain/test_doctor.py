"""doctor: a wrong rule is found, and so are kinks, jumps and NaN."""

import numpy as np
import pytest

import pullback as pb
from pullback.explain.doctor import doctor

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
X = np.array([0.3, 1.2, 2.0])


@pb.primitive
def doubled(x):
    return np.sin(x) * 2


doubled.defvjp(
    lambda out_bar, residual, wanted: (out_bar * np.cos(residual.xs[0]),), reads="x0"
)  # which forgets the 2


def smooth(x):
    return np.sum(np.tanh(x) * x**2) + np.linalg.det(np.outer(x, x) + np.eye(3))


class TestHealthy:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
    def test_smooth_functions(self, dtype):
        f = smooth if dtype is not np.complex128 else lambda z: np.sum(np.abs(z * z) ** 2)
        found = doctor(f)(X.astype(dtype))
        assert found.ok
        assert found.lines[0].startswith("The gradient agrees with differences")
        assert len(found.lines) == 1

    def test_trees_and_keywords(self):
        found = doctor(lambda p, n=1: np.sum(p["w"] ** n) * p["b"])({"w": X, "b": 2.0}, n=3)
        assert found.ok
        assert str(found).startswith("doctor(<lambda>)\n  The gradient agrees")

    def test_constant_functions(self):
        found = doctor(lambda x: 3.0)(1.0)
        assert found.ok
        assert "does not depend" in found.lines[0]


class TestSick:
    def test_a_wrong_rule(self):
        """It is named, and not what comes after it."""
        found = doctor(lambda x: np.sum(np.exp(doubled(np.tanh(x))) * x))(X)
        assert not found.ok
        assert found.lines[0].startswith("The gradient disagrees with differences")
        assert len(found.lines) == 2
        assert found.lines[1].startswith("#2 = doubled(#1) (test_doctor.py:")
        assert found.lines[1].endswith("its rule disagrees with differences of its value.")

    def test_nan(self):
        found = doctor(lambda x: np.sum(np.sqrt(x * 0)))(X)
        assert not found.ok
        assert any(line.startswith("#1 = x * 0") for line in found.lines)

    def test_a_nan_that_is_masked(self):
        """It is named, and nothing is wrong."""
        found = doctor(lambda x: np.sum(np.where(x > 0.5, np.log(x - 0.5), 0.0)))(X)
        assert found.ok
        assert "first NaN of the forward pass" in found.lines[-1]


class TestKinks:
    def test_kinks_and_jumps(self):
        found = doctor(lambda x: np.sum(np.abs(x) + np.maximum(x, 0.5) + np.floor(x)))(
            np.array([0.0, 0.5, 1.7])
        )
        assert found.ok
        assert found.lines[0].startswith("At a kink or jump differences do not tell")
        told = {line.partition(" = ")[2].partition("(")[0]: line for line in found.lines[1:]}
        assert told["absolute"].endswith("at a kink: its slopes from the two sides differ.")
        assert told["maximum"].endswith("at a kink: its slopes from the two sides differ.")
        assert told["floor"].endswith("at a jump: its value changes at once.")

    def test_many(self):
        def f(x):
            for _ in range(20):
                x = np.abs(x)
            return x

        found = doctor(f)(0.0)
        assert found.lines[-1] == "15 more operations are at kinks or jumps."

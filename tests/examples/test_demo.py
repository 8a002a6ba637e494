"""Short runs of each part of the demo."""

import ast
import inspect
import re

import numpy as np
import pytest

from examples.demo import __main__ as demo
from examples.demo import charts, check, logistic, models, train


@pytest.fixture(scope="module")
def digits():
    """Return the bundled digits."""
    return train.load()


def test_models_are_plain_numpy():
    """The differentiated programs import NumPy and nothing else."""
    tree = ast.parse(inspect.getsource(models))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["import numpy as np"]


class TestClassifier:
    """Training on the digits."""

    def test_learns(self, digits):
        """Four epochs of a small network read nine digits of ten."""
        run = train.train(digits, n_hidden=64, n_epochs=4, quiet=True)
        assert run.losses[-1] < run.losses[0] / 2
        assert run.accuracies[-1] > 0.9
        assert run.n_steps == 4 * (len(digits.y) // 64)

    def test_no_training_image_is_held_out(self, digits):
        """The two parts are disjoint, but for images that the data itself holds twice."""
        assert len(digits.y) + len(digits.y_held_out) == 1797
        trained_on = {image.tobytes() for image in digits.x}
        assert not any(image.tobytes() in trained_on for image in digits.x_held_out)

    def test_shift_moves_by_one_pixel_at_most(self):
        """A single bright pixel stays within one row and one column."""
        image = np.zeros((200, 8, 8))
        image[:, 3, 4] = 1
        shifted = train.shift(image.reshape(200, 64), np.random.default_rng(0))
        _, rows, columns = np.nonzero(shifted.reshape(200, 8, 8))
        assert set(rows) == {2, 3, 4}
        assert set(columns) == {3, 4, 5}


class TestLogisticRegression:
    """Fits by SciPy."""

    def test_exact_derivatives_pay(self):
        """Newton's method gets to a smaller gradient in fewer iterations than BFGS."""
        data = logistic.load()
        newton, bfgs, differences = logistic.fit_all(*data[:2])
        assert newton.gradient_norms[-1] < min(bfgs.gradient_norms[-1], 1e-6)
        assert len(newton.gradient_norms) < len(bfgs.gradient_norms)
        assert bfgs.n_values < differences.n_values
        np.testing.assert_allclose(newton.w, differences.w, atol=1e-5)
        assert logistic.accuracy(newton.w, *data[2:]) > 0.94


def test_gradient_check(digits):
    """Finite differences agree with each entry of the gradient."""
    result = check.check(digits.x[:8], digits.y[:8], n_hidden=4)
    assert result.n_params == 64 * 4 + 4 + 4 * 10 + 10
    assert result.worst < 1e-7
    assert np.min(result.errors) < 1e-7


class TestReport:
    """The page."""

    def test_whole_demo(self, tmp_path, capsys):
        """A run with too few epochs writes the page, names the bar that it missed, and fails."""
        path = tmp_path / "out" / "report.html"
        assert demo.main(["--epochs", "1", "--quiet", "--out", str(path)]) == 1
        assert "below 97 %" in capsys.readouterr().err
        page = path.read_text(encoding="utf-8")
        assert "def classifier_loss(params, x, y" in page
        assert page.count("<svg") == page.count("</svg>") == 4
        assert not re.findall(r"\$\w+", page)
        assert not re.findall(r"""(?:src|href)=["'](?!data:|#)|url\((?!#)|@import|<script""", page)

    def test_charts_follow_the_page(self):
        """No colour is fixed, so that light and dark both work."""
        lines = {"a": ([1, 2], [1, 10]), "b": ([1, 2], [2, 3])}
        svg = charts.chart("T", lines, "x", "y", log="y", mark=("bar", 5))
        assert set(re.findall(r"(?:stroke|fill): ([^;\"]+)", svg)) <= {
            *charts.VARIABLES.values(),
            "none",
        }

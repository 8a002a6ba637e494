"""pullback.nn: right at kinks and extremes, without a warning, in all modes and orders.

The laws run on tests/samples/nn.py; here are the values and the promises of the docstrings.
"""

import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import pullback as pb
from pullback import nn

# Where a formula as it stands in a book overflows, or cancels.
FAR = np.array([-np.inf, -1e308, -800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0, 1e308, np.inf])
ELEMENTWISE = [nn.relu, nn.sigmoid, nn.softplus]
SCORES = np.array([[2.0, -1.0, 0.5], [800.0, -800.0, 799.0], [0.0, 0.0, 0.0]])
LABELS = np.array([0, 1, 2])


def mean_loss(logits, labels):
    return np.mean(nn.softmax_cross_entropy(logits, labels))


def one_hot(labels, n=3):
    return np.eye(n)[labels]


def test_lazy():
    """`import pullback` leaves it out, `pb.nn` brings it."""
    script = (
        "import sys, pullback as pb; assert 'pullback.nn' not in sys.modules;"
        "assert 'nn' in pb.__all__; print(pb.nn.relu(-1.0))"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "0.0\n"


class TestElementwise:
    """relu, sigmoid and softplus."""

    def test_values_far_out(self):
        """Nothing overflows on the way."""
        special = pytest.importorskip("scipy.special")
        np.testing.assert_array_equal(nn.relu(FAR), np.maximum(FAR, 0))
        np.testing.assert_allclose(nn.sigmoid(FAR), special.expit(FAR), rtol=1e-15)
        np.testing.assert_allclose(nn.softplus(FAR), np.logaddexp(FAR, 0), rtol=1e-15)

    def test_derivatives_far_out(self):
        """They are right to the last digits where sigmoid rounds to 1, and finite everywhere."""
        special = pytest.importorskip("scipy.special")
        slope = special.expit(FAR) * special.expit(-FAR)
        for f, expected in (
            (nn.relu, FAR > 0),
            (nn.softplus, special.expit(FAR)),
            (nn.sigmoid, slope),
            (pb.elementwise_grad(nn.softplus), slope),
        ):
            np.testing.assert_allclose(pb.elementwise_grad(f)(FAR), expected, rtol=1e-14)
            _, dots = pb.jvp(f, (FAR,), (np.ones_like(FAR),))
            np.testing.assert_allclose(dots, expected, rtol=1e-14)

    @pytest.mark.parametrize("f", ELEMENTWISE)
    def test_higher_derivatives_are_finite(self, f):
        """Up to the fourth, at any size of x; those of `relu` warn, since 0 is among them."""
        has_kink = f is nn.relu
        for order in range(1, 5):
            f = pb.elementwise_grad(f)
            bent = (
                pytest.warns(pb.LostDerivativeWarning) if order > 1 and has_kink else nullcontext()
            )
            with bent:
                assert np.all(np.isfinite(f(FAR)))

    def test_third_derivative_of_softplus(self):
        """It is s (1 - s) (1 - 2 s) of s = sigmoid(x), at 0 as elsewhere."""
        x = np.array([-2.0, 0.0, 0.7])
        s = nn.sigmoid(x)
        third = pb.elementwise_grad(pb.elementwise_grad(pb.elementwise_grad(nn.softplus)))
        np.testing.assert_allclose(third(x), s * (1 - s) * (1 - 2 * s), rtol=1e-13, atol=1e-16)

    def test_relu_at_its_kink(self):
        """The derivative at 0 is 0 in both modes; that of `np.maximum` is shared."""
        assert pb.grad(nn.relu)(0.0) == 0.0
        assert pb.jvp(nn.relu, (0.0,), (1.0,))[1] == 0.0
        assert pb.grad(lambda x: np.maximum(x, 0))(0.0) == 0.5

    def test_relu_drops_what_it_set_to_zero(self):
        """As with `where`: whatever comes back to it, infinite slopes and NaN included."""
        x = np.array([-1.0, 4.0])
        np.testing.assert_array_equal(pb.grad(lambda x: np.sum(np.sqrt(nn.relu(x))))(x), [0, 0.25])
        (x_bar,) = pb.vjp(nn.relu, x)[1](np.array([np.nan, 3.0]))
        np.testing.assert_array_equal(x_bar, [0.0, 3.0])

    @pytest.mark.parametrize("f", ELEMENTWISE)
    def test_nan_stays(self, f):
        """NaN is neither hidden nor warned of."""
        assert np.isnan(f(np.nan))
        assert np.isnan(f(np.array([np.nan, 1.0], np.float32))[0])

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
    @pytest.mark.parametrize("f", [*ELEMENTWISE, nn.log_softmax])
    def test_dtype(self, f, dtype):
        """A result and its gradient have the argument's dtype."""
        x = np.array([-3.0, 0.0, 2.0], dtype)
        assert f(x).dtype == dtype
        assert pb.grad(lambda x: np.sum(f(x)))(x).dtype == dtype

    @pytest.mark.parametrize("f", ELEMENTWISE)
    def test_what_goes_in(self, f):
        """Numbers, lists, integers; what comes out is NumPy's."""
        assert type(f(0.5)) is np.float64
        assert type(f(np.float32(0.5))) is np.float32
        assert type(f([0.5, 1.0])) is np.ndarray
        assert f(np.array([1, 2])).dtype == np.float64
        assert f(True) == f(1.0)
        assert f(np.array([1, -2], np.int8)).dtype == np.float64
        assert f(pb.array([1.0, 2.0])).shape == (2,)

    @pytest.mark.parametrize("x", [1j, np.array(["a"]), np.array([None])])
    def test_what_does_not(self, x):
        """Only real numbers."""
        with pytest.raises(pb.DtypeError, match="`sigmoid` is a function of real numbers, but got"):
            nn.sigmoid(x)

    def test_masked_arrays(self):
        """A mask is not dropped in silence, neither of scores nor of labels."""
        for f, x in (
            (nn.relu, SCORES),
            (nn.log_softmax, SCORES),
            (lambda labels: nn.softmax_cross_entropy(SCORES, labels), LABELS),
        ):
            with pytest.raises(pb.ArgumentTypeError, match="met a MaskedArray"):
                f(np.ma.array(x))

    @pytest.mark.parametrize("f", ELEMENTWISE)
    def test_eager(self, f):
        """`.backward()` goes through them, twice."""
        x = pb.array([0.5, -1.5], requires_grad=True)
        f(x).sum().backward(create_graph=True)
        first, x.grad = x.grad, None
        expected = pb.elementwise_grad(f)
        np.testing.assert_array_equal(first.numpy(), expected(x.data))
        (first * x).sum().backward()
        again = pb.grad(lambda x: np.sum(expected(x) * x))(x.data)
        np.testing.assert_allclose(x.grad, again, rtol=1e-14)


class TestLogSoftmax:
    """Logarithms of probabilities."""

    @pytest.mark.parametrize("axis", [0, 1, -1, -2, (0, 1), None])
    def test_axes(self, axis):
        """Probabilities sum to one along the axes; scipy has the same."""
        special = pytest.importorskip("scipy.special")
        out = nn.log_softmax(SCORES, axis=axis)
        np.testing.assert_allclose(np.sum(np.exp(out), axis=axis), 1.0)
        np.testing.assert_allclose(out, special.log_softmax(SCORES, axis=axis))

    def test_differences_beyond_all_numbers(self):
        """1e308 - (-1e308) is infinite, and its exponential zero."""
        x = np.array([1e308, -1e308])
        np.testing.assert_array_equal(nn.log_softmax(x), [0.0, -np.inf])
        jacobian = pb.jacobian(nn.log_softmax)(x)
        np.testing.assert_array_equal(jacobian, [[0, 0], [-1, 1]])

    def test_an_excluded_class(self):
        """A score of -inf takes nothing from the others, and gets nothing from them."""
        x = np.array([0.3, -np.inf, 1.0])
        few = x[[0, 2]]
        np.testing.assert_allclose(nn.log_softmax(x)[[0, 2]], nn.log_softmax(few))
        f = lambda x: np.sum(np.exp(nn.log_softmax(x)) * np.array([1.0, 5.0, 2.0]))
        g = lambda x: np.sum(np.exp(nn.log_softmax(x)) * np.array([1.0, 2.0]))
        np.testing.assert_allclose(pb.grad(f)(x), np.insert(pb.grad(g)(few), 1, 0))
        hessian = pb.hessian(f)(x)
        np.testing.assert_allclose(hessian[np.ix_([0, 2], [0, 2])], pb.hessian(g)(few), atol=1e-16)
        assert not np.any(hessian[1])
        assert not np.any(hessian[:, 1])

    def test_does_not_depend_on_a_shift(self):
        """Its derivative along (1, 1, 1) is zero."""
        _, dot = pb.jvp(nn.log_softmax, (SCORES,), (np.ones_like(SCORES),))
        np.testing.assert_allclose(dot, 0.0, atol=1e-15)

    def test_one_operation(self):
        """One node, which keeps its result and nothing else."""
        seen = pb.explain(nn.log_softmax)(SCORES)
        assert [node.name for node in seen.nodes] == ["x", "log_softmax"]


class TestCrossEntropy:
    """softmax_cross_entropy."""

    def test_definition(self):
        """One loss for each example; labels in three forms."""
        expected = -nn.log_softmax(SCORES)[np.arange(3), LABELS]
        for labels in (LABELS, LABELS.tolist(), one_hot(LABELS), np.eye(3, dtype=bool)[LABELS]):
            np.testing.assert_array_equal(nn.softmax_cross_entropy(SCORES, labels), expected)
        losses = nn.softmax_cross_entropy(SCORES.T, LABELS, axis=0)
        np.testing.assert_array_equal(losses, expected)
        losses = nn.softmax_cross_entropy(SCORES.T, one_hot(LABELS).T, axis=0)
        np.testing.assert_array_equal(losses, expected)

    def test_one_example(self):
        """Scores of one example and a number give a number."""
        loss = nn.softmax_cross_entropy(SCORES[0], 2)
        assert type(loss) is np.float64
        assert loss == -nn.log_softmax(SCORES[0])[2]

    def test_gradient(self):
        """softmax - one_hot, exactly so where the scores are far apart."""
        gradient = pb.grad(mean_loss)(SCORES, LABELS)
        expected = (np.exp(nn.log_softmax(SCORES)) - one_hot(LABELS)) / 3
        np.testing.assert_allclose(gradient, expected, atol=1e-16)
        certain = np.array([[800.0, -800.0], [-800.0, 800.0]])
        np.testing.assert_array_equal(
            pb.grad(mean_loss)(certain, np.array([1, 1])), [[0.5, -0.5], [0, 0]]
        )

    def test_hessian(self):
        """diag(p) - p p^T, for one example."""
        p = np.exp(nn.log_softmax(SCORES[0]))
        for labels in (1, one_hot(1)):
            hessian = pb.hessian(nn.softmax_cross_entropy)(SCORES[0], labels)
            np.testing.assert_allclose(hessian, np.diag(p) - np.outer(p, p), atol=1e-15)

    def test_gradient_by_the_labels(self):
        """Probabilities may be differentiated too: -log_softmax, where they are zero as well."""
        gradient = pb.grad(nn.softmax_cross_entropy, argnums=1)(SCORES[0], one_hot(1))
        np.testing.assert_array_equal(gradient, -nn.log_softmax(SCORES[0]))

    @pytest.mark.parametrize("labels", [1, np.array([0.0, 1.0, 0.0])])
    def test_excluded_classes(self, labels):
        """With probability 0 in both, a class counts for nothing."""
        x = np.array([-np.inf, 2.0, 1.0])
        value, gradient = pb.value_and_grad(nn.softmax_cross_entropy)(x, labels)
        few = pb.value_and_grad(nn.softmax_cross_entropy)(x[1:], 0)
        np.testing.assert_allclose(value, few[0])
        np.testing.assert_allclose(gradient, [0, *few[1]], atol=1e-16)

    def test_an_excluded_class_that_is_the_answer(self):
        """The loss is infinite, and its gradient is finite."""
        x = np.array([-np.inf, 2.0])
        for labels in (0, np.array([1.0, 0.0])):
            assert nn.softmax_cross_entropy(x, labels) == np.inf
            gradient = pb.grad(nn.softmax_cross_entropy)(x, labels)
            np.testing.assert_array_equal(gradient, [-1.0, 1.0])

    def test_vmap(self):
        """Over scores, over labels, over both."""
        expected = nn.softmax_cross_entropy(SCORES, LABELS)
        batched = pb.vmap(nn.softmax_cross_entropy)(SCORES, LABELS)
        np.testing.assert_allclose(batched, expected)
        batched = pb.vmap(nn.softmax_cross_entropy, in_axes=(None, 0))(SCORES[0], LABELS)
        np.testing.assert_allclose(batched, -nn.log_softmax(SCORES[0]))
        each = pb.vmap(pb.grad(nn.softmax_cross_entropy))(SCORES, LABELS)
        np.testing.assert_allclose(each, 3 * pb.grad(mean_loss)(SCORES, LABELS), atol=1e-16)
        with pytest.raises(pb.ArgumentError, match="got labels from 0 to 3 for 3 classes"):
            pb.vmap(nn.softmax_cross_entropy)(SCORES, np.array([0, 3, 1]))

    def test_float32(self):
        """It stays, with labels that are integers in any form, or float32."""
        x = SCORES.astype(np.float32)
        for labels in (LABELS, np.eye(3, dtype=int)[LABELS], one_hot(LABELS).astype(np.float32)):
            assert nn.softmax_cross_entropy(x, labels).dtype == np.float32
            value, gradient = pb.value_and_grad(mean_loss)(x, labels)
            assert value.dtype == gradient.dtype == np.float32

    def test_labels_that_change_later(self):
        """The backward pass uses those of the forward pass."""
        labels = LABELS.copy()
        _, pullback = pb.vjp(lambda x: nn.softmax_cross_entropy(x, labels), SCORES)
        before = pullback(np.ones(3))[0]
        labels[:] = 0
        np.testing.assert_array_equal(pullback(np.ones(3))[0], before)

    def test_messages(self):
        """What is wrong, and what to write."""
        cases = [
            (
                LABELS - 1,
                pb.ArgumentError,
                "labels from -1 to 1 for 3 classes.\n  Labels are 0 to 2",
            ),
            (LABELS + 1, pb.ArgumentError, "labels from 1 to 3 for 3 classes"),
            (LABELS[:2], pb.ShapeError, r"logits float64\[3,3\] and labels int64\[2\].\n  Give "),
            (
                LABELS[:, None],
                pb.ShapeError,
                r"integers of shape \(3,\), or probabilities of shape",
            ),
            (LABELS * 1.0, pb.DtypeError, r"are integers: write `labels.astype\(int\)`"),
            (LABELS > 1, pb.DtypeError, r"labels bool\[3\]"),
            (one_hot(LABELS) * 1j, pb.DtypeError, "real numbers"),
        ]
        for labels, error, words in cases:
            with pytest.raises(error, match=words):
                nn.softmax_cross_entropy(SCORES, labels)
        with pytest.raises(np.exceptions.AxisError):
            nn.softmax_cross_entropy(SCORES, LABELS, axis=2)

    def test_a_small_classifier_learns(self, rng):
        """Everything together: a hidden layer, a mean loss, and gradient descent."""
        x = rng.normal(size=(60, 2))
        y = (x[:, 0] * x[:, 1] > 0).astype(int)  # not to be separated by a line
        params = [rng.normal(size=(2, 16)), np.zeros(16), rng.normal(size=(16, 2)) / 4]

        def scores(params):
            w, b, v = params
            return nn.relu(x @ w + b) @ v

        gradient = pb.grad(lambda params: mean_loss(scores(params), y))
        for _ in range(300):
            params = [p - 0.5 * g for p, g in zip(params, gradient(params), strict=True)]
        assert np.mean(np.argmax(scores(params), axis=1) == y) > 0.95

"""scipy.fft, scipy.signal and scipy.ndimage: values to the last bit, and the Python above rules."""

from itertools import product

import numpy as np
import pytest
from scipy import fft, ndimage, signal

import pullback as pb
from pullback.scipy.images import interpolation
from pullback.scipy.signals import designs
from pullback.testing import Problem
from tests.samples import plainly
from tests.samples.scipy_fft import SAMPLES as TRANSFORMS
from tests.samples.scipy_ndimage import SAMPLES as IMAGES
from tests.samples.scipy_signal import SAMPLES as SIGNALS

SAMPLES = [*TRANSFORMS, *SIGNALS, *IMAGES]
# SciPy computes it with Python's numbers, of which powers round otherwise than NumPy's.
ROUNDED = {"gammatone(iir)(float64[])"}
X = np.sin(np.arange(12.0)) + 0.1 * np.arange(12.0)


@pytest.mark.share(3)
def test_values_are_those_of_scipy_to_the_last_bit():
    differing = set()
    for sample in SAMPLES:
        problem = Problem(sample)
        with np.errstate(all="ignore"):
            found, _ = pb.vjp(problem, *problem.xs)
            with plainly():
                plain = problem(*problem.xs)
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, plain, strict=True)):
            differing.add(str(sample))
    assert differing <= ROUNDED


def test_an_init_takes_part_where_new_makes_an_object_of_a_derived_class():
    """`scipy.signal.lti` makes a `TransferFunctionContinuous`."""

    def gain(b):
        return np.real(signal.lti([b], [1.0, b]).freqresp([0.0])[1][0])

    np.testing.assert_allclose(pb.grad(gain)(2.0), 0.0, atol=1e-12)
    assert pb.grad(lambda b: signal.lti([b], [1.0, 1.0]).num[0])(2.0) == 1.0


def test_an_array_made_inside_is_written_into():
    def blurred(x):
        out = np.zeros(12)
        ndimage.gaussian_filter(x, 1.0, output=out)
        return np.sum(out * X)

    expected = ndimage.gaussian_filter(X, 1.0)
    np.testing.assert_allclose(pb.grad(blurred)(X), expected, rtol=1e-12)


def test_a_plain_image_of_integers_stays_one():
    """Within a differentiated function, what carries no derivative is SciPy's own."""

    def f(x):
        image = np.arange(12).reshape(3, 4)
        moved = ndimage.geometric_transform(image, lambda at: (at[0], at[1] + 0.5), order=1)
        near = ndimage.generic_filter(image, np.max, size=2)
        return x * np.sum(moved + near)

    image = np.arange(12).reshape(3, 4)
    moved = ndimage.geometric_transform(image, lambda at: (at[0], at[1] + 0.5), order=1)
    assert pb.grad(f)(1.0) == np.sum(moved + ndimage.generic_filter(image, np.max, size=2))


def test_overwriting_is_a_permission():
    """The array that a transform may overwrite keeps its numbers where it is differentiated."""

    def f(x):
        y = x * 1.0
        return np.sum(np.abs(fft.fft(y, overwrite_x=True)) ** 2) + 0.0 * np.sum(y)

    np.testing.assert_allclose(pb.grad(f)(X), 2 * 12 * X, atol=1e-12)


def test_signals_in_a_batch_go_through_one_call():
    """A batch of signals is filtered along the next axis, and not one by one."""
    rows = np.stack([X, X[::-1], X**2])
    b, a = signal.butter(2, 0.3)
    sos = signal.butter(2, 0.3, output="sos")
    for f in (
        lambda x: signal.lfilter(b, a, x),
        lambda x: signal.sosfilt(sos, x),
        lambda x: ndimage.gaussian_filter(x, 1.0),
        lambda x: signal.resample_poly(x, 2, 3),
    ):
        np.testing.assert_allclose(pb.vmap(f)(rows), np.stack([f(x) for x in rows]), rtol=1e-13)


def test_groups_of_roots_are_asked_of_each_example():
    with pytest.raises(pb.ConversionError, match="differ in shape"):
        pb.vmap(lambda p: signal.unique_roots(p)[0])(np.array([[1.0, 2.0], [1.0, 1.0]]))


def test_a_locked_array_keeps_its_derivative():
    def f(x):
        y = x * 2.0
        y.setflags(write=False)
        return np.sum(y)

    np.testing.assert_array_equal(pb.grad(f)(X), np.full(12, 2.0))
    with pytest.raises(pb.MissingRuleError, match="takes `write` alone"):
        pb.grad(lambda x: [x.setflags(align=True), np.sum(x)][1])(X)


def test_equiripple_filters_move_with_bands_desired_response_and_weights():
    """Against differences of the filter whose ripples are exactly equal, where SciPy has a grid."""
    bands, desired, weight = (
        np.array([0.0, 0.1, 0.2, 0.5]),
        np.array([1.0, 0.1]),
        np.array([1, 3.0]),
    )
    inner, h = np.array([0.0, 1.0, 0.5, 0.0]), 1e-4
    for numtaps, kind in ((15, "bandpass"), (16, "bandpass"), (15, "hilbert")):
        ripple = designs.Ripple(numtaps, kind)
        bands = bands if kind == "bandpass" else np.array([0.05, 0.2, 0.3, 0.45])
        found = signal.remez(numtaps, bands, desired, weight=weight, type=kind)
        given = bands, desired, weight
        for i, direction in enumerate((inner, np.array([0.3, 1.0]), np.array([1.0, -0.4]))):
            near = [
                designs.equiripple(
                    ripple,
                    *[x + t * direction if k == i else x for k, x in enumerate(given)],
                    found,
                )
                for t in (-2 * h, -h, h, 2 * h)
            ]
            expected = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h)

            def filtered(x, i=i, numtaps=numtaps, kind=kind, given=given):
                b, d, w = [x if k == i else y for k, y in enumerate(given)]
                return signal.remez(numtaps, b, d, weight=w, type=kind)

            value, actual = pb.jvp(filtered, (given[i],), (direction,))
            np.testing.assert_array_equal(value, found)
            np.testing.assert_allclose(actual, expected, atol=1e-7, err_msg=f"{kind} {i}")


def test_programs_of_splined_images_are_what_scipy_computes():
    """At places inside and far outside, in all modes and orders, with and without a margin."""
    random, wrong = np.random.default_rng(0), []
    for shape in ((1,), (2,), (7,), (3, 4)):
        for mode, order, npad in product(range(7), range(6), (0, 12)):
            image = np.pad(random.normal(size=shape), npad, mode="edge")
            out = tuple([2 * n + 3 for n in shape])
            static = {"order": order, "mode": mode, "npad": npad, "shape": out, "dtype": float}
            far = random.uniform(-3, 3, len(shape))
            zoom = random.uniform(0.4, 1.7, len(shape))
            matrix = np.diag(zoom) + 0.1 * random.normal(size=(len(shape),) * 2)
            for rule, xs, more in (
                (interpolation.zoom_p, (zoom, far), {"grid": False}),
                (interpolation.zoom_p, (zoom, far), {"grid": True}),
                (interpolation.affine_p, (matrix, far), {}),
            ):
                with np.errstate(all="ignore"):
                    program = rule.program(image, *xs, 0.3, **static, **more)
                if not np.allclose(rule.found(image, *xs, 0.3, **static, **more), program):
                    wrong.append((rule, shape, mode, order, npad))
    assert wrong == []


def test_ranks_within_more_than_there_is():
    """SciPy extends a short line otherwise than its mode says: that is refused, not guessed."""
    x, wrong, refused = np.random.default_rng(3).normal(size=5), [], set()
    for mode, size in product(("reflect", "mirror", "wrap", "nearest", "constant"), range(3, 26)):
        f = lambda x, mode=mode, size=size: ndimage.median_filter(x, size, mode=mode)
        try:
            actual = pb.jacobian(f)(x)
        except pb.MissingRuleError:
            refused.add((mode, size))
            continue
        expected = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
        if not np.allclose(actual, np.stack(expected, axis=1), atol=1e-6):
            wrong.append((mode, size))
    assert wrong == []
    assert {mode for mode, _ in refused} == {"reflect", "mirror", "wrap"}
    assert min(size for _, size in refused) == 2 * x.size


@pytest.mark.parametrize("f", [fft.fht, fft.ifht])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hankel_transforms_keep_their_precision_without_a_bias(f, dtype):
    x = X[:6].astype(dtype)
    found = pb.vjp(lambda bias: f(x, 0.3, 0.5, 0.1, bias), 0.0)[0]
    plain = f(x, 0.3, 0.5, 0.1, 0.0)
    assert found.dtype == plain.dtype
    np.testing.assert_array_equal(found, plain)


def refuses_leading_zeros():
    try:
        signal.lfilter_zi([1.0, 0.4], [0.0, 1.0, 0.3])
    except ValueError:
        return True
    return False


def test_leading_zeros_are_left_out_before_the_first_coefficient_counts():
    f = lambda x: signal.lfilter_zi([1.0, 0.4], [0.0, x, 0.3])
    if refuses_leading_zeros():  # SciPy 1.18 and newer
        with pytest.raises(ValueError, match="must be non-zero"):
            pb.jvp(f, (1.0,), (1.0,))
        return
    with pytest.warns(pb.LostDerivativeWarning, match="lfilter_zi"):
        found = pb.jvp(f, (1.0,), (1.0,))[1]
    np.testing.assert_allclose(found, (f(1.0 + 1e-6) - f(1.0 - 1e-6)) / 2e-6, rtol=1e-8)

"""Functions that call the user's, or are written in Python, keep NumPy's narrow dtypes."""

import numpy as np
import pytest

import pullback as pb

FORMS = {
    "vectorize": lambda x: np.vectorize(lambda t: t * t)(x),
    "vectorize of two": lambda x: np.vectorize(lambda t, u: t * u)(x, x[:1]),
    "vectorize and a number": lambda x: np.vectorize(lambda t, u: t * u)(x, 2),
    "vectorize to several": lambda x: np.vectorize(lambda t: (t * 2, t.conjugate()))(x)[1],
    "vectorize by cache": lambda x: np.vectorize(lambda t: t * 2, cache=True)(x),
    "vectorize to floats": lambda x: np.vectorize(lambda t: abs(t) * 1.5)(x),
    "vectorize of none": lambda x: np.vectorize(lambda t: t * 2, otypes=[x.dtype])(x[:0]),
    "vectorize of arrays": lambda x: np.vectorize(np.sum, signature="(n)->()")(x),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda t: t * 2, 0, x),
    "piecewise": lambda x: np.piecewise(x, [x.real > 1], [lambda t: t * 2, 0]),
    "select": lambda x: np.select([x.real > 1], [x * 2], 0),
    "where": lambda x: np.where(x.real > 1, x, 1.0),
    "setdiff1d": lambda x: np.setdiff1d(x, x[:1]),
    "union1d": lambda x: np.union1d(x, x[:1]),
    "a list": lambda x: np.array([x[0], x[1]]),
    "numbers": lambda x: np.array(x.tolist()),
    "fromiter": lambda x: np.fromiter(iter(x), x.dtype),
    "full": lambda x: np.full(2, x[0]),
    "linspace": lambda x: np.linspace(x[0], x[1], 3),
    "r_": lambda x: np.r_[x[0], 1],
    "mgrid": lambda x: np.mgrid[x.real[0] : x.real[1] : 0.25],
    "mgrid of points": lambda x: np.mgrid[x.real[0] : x.real[1] : 3j],
    "mgrid of one point": lambda x: np.mgrid[x.real[0] : x.real[1] : 1j],
    "mgrid of two": lambda x: np.mgrid[x.real[0] : x.real[1] : 0.25, 0:2:3j],
    "ogrid": lambda x: np.ogrid[0 : x.real[1] : 3j, 0:2][0],
    "polyval": lambda x: np.polyval(x, 2),
    "average": lambda x: np.average(x, weights=[1, 2, 3]),
}
MODES = {
    "forward": lambda f, x: pb.jvp(f, (x,), (x,))[0],
    "reverse": lambda f, x: pb.vjp(f, x)[0],
    "mapped": lambda f, x: pb.vmap(f)(np.stack([x, x]))[1],
    "compiled": lambda f, x: [fast := pb.compile(f, wait=True), fast(x), fast(x)][2],
}


def test_narrow_numbers():
    wrong = []
    for name, f in FORMS.items():
        for dtype in "efdFD":
            x = np.array([1.0, 3.0, 0.5], dtype)
            expected = f(x)
            for mode, run in MODES.items():
                if mode == "compiled" and dtype != "f":
                    continue  # of which it sees the values themselves
                try:
                    found = run(f, x)
                except pb.PullbackError:
                    assert mode == "mapped"  # a shape that depends on values
                    continue
                same = found.dtype == expected.dtype and found.shape == expected.shape
                if not (same and np.allclose(found, expected, rtol=1e-3)):
                    wrong.append((name, dtype, mode, found, expected))
    assert not wrong


@pytest.mark.parametrize("transform", [pb.vmap, pb.vjp], ids=["vmap", "vjp"])
def test_vectorize_makes_no_real_numbers_of_complex_ones(transform):
    """NumPy calls `float` of each result, and that raises."""
    f = lambda x: np.vectorize(lambda t: t * 2j, otypes=[float])(x)
    for way in (f, lambda x: transform(f, x) if transform is pb.vjp else transform(f)(x[None])):
        with pytest.raises(TypeError, match="complex"):
            way(np.ones(2))

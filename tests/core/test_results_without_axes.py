"""A result without axes is a number or an array as NumPy's is: `isinstance` tells them apart."""

import numpy as np
import pytest

import pullback as pb

X = np.array([1.0, 2.0])
# fmt: off
OF_A_NUMBER = {
    "real_if_close": np.real_if_close, "asanyarray": np.asanyarray, "nan_to_num": np.nan_to_num,
    "squeeze": np.squeeze, "where": lambda v: np.where(v > 0, v, v), "angle": np.angle,
    "select": lambda v: np.select([v > 0], [v]), "clip": lambda v: np.clip(v, 0, 1),
    "reshape": lambda v: np.reshape(v, ()), "copy": np.copy, "full": lambda v: np.full((), v),
    "i0": np.i0, "sinc": np.sinc, "interp": lambda v: np.interp(v, [0, 1], [1, 2]), "fix": np.fix,
    "einsum": lambda v: np.einsum("->", v), "dot": lambda v: np.dot(v, v), "real": np.real,
    "vdot": lambda v: np.vdot(v, v), "inner": lambda v: np.inner(v, v), "conj": np.conj,
    "matmul": lambda v: np.matmul([v], [v]), "tensordot": lambda v: np.tensordot(v, v, 0),
    "kron": lambda v: np.kron(v, v), "trace": lambda v: np.trace(np.array([[v]])),
    "transpose": np.transpose, "polyval": lambda v: np.polyval([1, 2], v), "max": np.max,
    "piecewise": lambda v: np.piecewise(v, [v > 0], [lambda t: t, 0]), "require": np.require,
    "round": lambda v: np.round(v, 1), "take": lambda v: np.take(np.array([v]), 0),
    "choose": lambda v: np.choose(0, [v]), "norm": lambda v: np.linalg.norm(np.array([v])),
    "det": lambda v: np.linalg.det(np.array([[v]])), "median": lambda v: np.median([v]),
    "quantile": lambda v: np.quantile([v, v], 0.5), "average": lambda v: np.average([v, v]),
    "cov": lambda v: np.cov([v, 1.0]), "trapezoid": lambda v: np.trapezoid([v, v]),
    "ldexp": lambda v: np.ldexp(v, 2), "frexp": lambda v: np.frexp(v)[0], "nanmax": np.nanmax,
    "modf": lambda v: np.modf(v)[1], "vectorize": lambda v: np.vectorize(lambda t: t * 2)(v),
    "heaviside": lambda v: np.heaviside(v, 1.0), "digitize": lambda v: np.digitize(v, [0, 1.0]),
    "spacing": np.spacing, "nextafter": lambda v: np.nextafter(v, 2), "std": lambda v: np.std([v]),
    "prod": lambda v: np.prod([v]), "ptp": lambda v: np.ptp([v, 1]), "asarray": np.asarray,
}
# fmt: on
MODES = {
    "grad": lambda f: pb.value_and_grad(f)(X)[0],
    "jvp": lambda f: pb.jvp(f, (X,), (X,))[0],
    "vmap": lambda f: pb.vmap(f)(np.stack([X, X]))[0],
}


@pytest.mark.parametrize("name", OF_A_NUMBER)
def test_they_have_numpys_class(name):
    def f(x):
        out = OF_A_NUMBER[name](x[0])
        questions = isinstance(out, np.ndarray), isinstance(out, float), type(out) is np.float64
        return np.sum(x) * sum(answer * 2**k for k, answer in enumerate(questions))

    assert {mode: ask(f) for mode, ask in MODES.items()} == dict.fromkeys(MODES, f(X))

"""Samples of `pullback.nn`, where it is smooth, at kinks and far out."""

import numpy as np

from pullback import nn
from pullback.core.errors import ArgumentError, DtypeError, ShapeError
from pullback.testing import ErrorSample, Sample

X = np.array([[0.3, -1.4, 2.7], [1.13, 0.21, -0.62]])
F32 = X.astype(np.float32)
FAR = np.array([-800.0, -40.0, 0.0, 40.0, 800.0])
ENDS = np.array([-np.inf, -1e308, 1e308, np.inf, np.nan])
CLASSES = np.array([2, 0])
P = np.array([[0.2, 0.5, 0.3], [0.1, 0.0, 0.9]])
SCORES = np.array([[800.0, -800.0, 799.0], [-1e308, 0.5, 1e308]])
EXCLUDED = np.array([[0.3, -np.inf, 1.0], [-np.inf, 2.0, -np.inf]])
WIDE = np.arange(24.0).reshape(2, 3, 4) % 5 / 2
cross_entropy = nn.softmax_cross_entropy


SAMPLES = []
for fun in (nn.relu, nn.sigmoid, nn.softplus):
    name = fun.__name__
    SAMPLES += [
        Sample(fun, (X,)),
        Sample(fun, (np.float64(-0.7),)),
        Sample(fun, (1.3,)),
        Sample(fun, (F32.T[::-1],), name=f"{name} float32, strided"),
        Sample(fun, (np.zeros((0, 3)),)),
        Sample(fun, (np.array(0.4),), name=f"{name} 0-d"),
        Sample(fun, (FAR,), smooth=fun is not nn.relu, name=f"{name} far out"),
        Sample(fun, (FAR.astype(np.float32),), smooth=False, name=f"{name} far out, float32"),
        Sample(fun, (ENDS,), smooth=False, name=f"{name} at the ends"),
        Sample(lambda x, f=fun: f(x * x - 1) * x, (X,), name=f"{name} inside"),
        Sample(lambda x, f=fun: f([x[0], 2.0, 3]), (X[0],), name=f"{name} of a list"),
        Sample(lambda x, f=fun: f(np.rint(x).astype(int)) * x, (X,), name=f"{name} of integers"),
    ]
SAMPLES += [
    Sample(nn.log_softmax, (X,)),
    Sample(nn.log_softmax, (X,), {"axis": 0}),
    Sample(nn.log_softmax, (X,), {"axis": None}),
    Sample(nn.log_softmax, (WIDE,), {"axis": (0, -1)}),
    Sample(nn.log_softmax, (F32[0],)),
    Sample(nn.log_softmax, (np.zeros((3, 0)),)),
    Sample(nn.log_softmax, (np.zeros((0, 3)),)),
    Sample(nn.log_softmax, (SCORES,), smooth=False, name="log_softmax far out"),
    Sample(nn.log_softmax, (EXCLUDED,), smooth=False, name="log_softmax with -inf"),
    Sample(nn.log_softmax, (np.full(2, -np.inf),), smooth=False, name="log_softmax of -inf"),
    Sample(lambda x: np.exp(nn.log_softmax(x)) * x, (X,), name="softmax"),
]

SAMPLES += [
    Sample(cross_entropy, (X, CLASSES)),
    Sample(cross_entropy, (X, np.array([1, 0, 1])), {"axis": 0}),
    Sample(cross_entropy, (X[0], 1)),
    Sample(cross_entropy, (F32, CLASSES.astype(np.uint8))),
    Sample(cross_entropy, (WIDE, np.array([[0, 1, 2, 2], [1, 0, 0, 2]])), {"axis": 1}),
    Sample(cross_entropy, (np.zeros((0, 3)), np.zeros(0, int))),
    Sample(cross_entropy, (X, P), name="softmax_cross_entropy with probabilities"),
    Sample(cross_entropy, (F32, P.astype(np.float32)), name="probabilities, float32"),
    Sample(cross_entropy, (X, P), {"axis": 0}),
    Sample(cross_entropy, (F32, np.eye(3, dtype=int)[CLASSES]), name="integer one-hot rows"),
    Sample(cross_entropy, (X, np.eye(3, dtype=bool)[CLASSES]), name="boolean one-hot rows"),
    Sample(cross_entropy, (SCORES, CLASSES), smooth=False, name="cross-entropy far out"),
    Sample(
        lambda x: cross_entropy(x, np.array([0, 1])), (EXCLUDED,), smooth=False, name="excluded"
    ),
    Sample(
        cross_entropy,
        (EXCLUDED, np.array([[0.4, 0.0, 0.6], [0.0, 1.0, 0.0]])),
        smooth=False,
        name="excluded, with probabilities",
    ),
    Sample(
        lambda x, y: cross_entropy(x, np.exp(nn.log_softmax(y))), (X, X[::-1]), name="distilled"
    ),
]

ERRORS = [
    ErrorSample(nn.relu, (X + 1j,), raises=DtypeError, match="`relu` is a function of real"),
    ErrorSample(nn.log_softmax, (X,), {"axis": 2}, np.exceptions.AxisError, "axis 2"),
    ErrorSample(nn.log_softmax, (0.5,), {}, np.exceptions.AxisError, "axis -1"),
    ErrorSample(cross_entropy, (X, np.array([1, 3])), {}, ArgumentError, "1 to 3 for 3 classes"),
    ErrorSample(cross_entropy, (X, np.array([-1, 2])), {}, ArgumentError, "Labels are 0 to 2"),
    ErrorSample(cross_entropy, (X, CLASSES + 0.0), {}, DtypeError, r"labels.astype\(int\)"),
    ErrorSample(cross_entropy, (X, CLASSES[:1]), {}, ShapeError, r"\(2,\), or .* \(2, 3\)"),
    ErrorSample(cross_entropy, (X, P + 1j), {}, DtypeError, "real numbers"),
]  # fmt: skip

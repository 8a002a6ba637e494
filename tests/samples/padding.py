"""np.pad in every mode."""

import numpy as np

from pullback.testing import ErrorSample, Sample

random = np.random.default_rng(13)


def real(*shape, dtype=float):
    return random.uniform(-1, 1, shape).astype(dtype)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


def apart(*shape):
    """Numbers with gaps between them, so that small steps do not change their order."""
    n = int(np.prod(shape))
    return ((random.permutation(n) + random.uniform(-0.2, 0.2, n)) / 4).reshape(shape)


def padded_by(values):
    """A function of x that pads with numbers computed from x."""
    return lambda x: np.pad(x, 2, constant_values=values(x))


def ramp_to(values):
    return lambda x: np.pad(x, 3, mode="linear_ramp", end_values=values(x))


WIDTHS = ((1, 2), (3, 0))


def framed(row, width, axis, options):
    """A mode of np.pad: a multiple of what stands in the middle, by the axis."""
    start, stop = width[0], len(row) - width[1]
    row[:start] = options.get("scale", 1.0) * row[start]
    row[stop:] = row[stop - 1] ** 2 + axis


SAMPLES = [
    Sample(np.pad, (real(3), (1, 2), framed)),
    Sample(np.pad, (real(2, 2), 1, framed), {"scale": 2.0}),
    Sample(np.pad, (real(3), 2)),
    Sample(np.pad, (real(2, 3), WIDTHS)),
    Sample(np.pad, (real(2, 3, dtype="f4"), (1, 2))),
    Sample(np.pad, (real(2, 3), [[1], [2]])),
    Sample(np.pad, (real(3), 0)),
    Sample(np.pad, (real(0, 2), 1)),
    Sample(np.pad, (2.0, 1)),
    Sample(np.pad, (cplx(2), 1), {"constant_values": 1j}),
    Sample(np.pad, (real(2, 2), 1), {"constant_values": ((1, 2), (3, 4))}),
    Sample(padded_by(lambda x: x[0]), real(2), name="pad with a number"),
    Sample(padded_by(lambda x: x[0].astype(float)), real(2, dtype="f4"), name="pad with a double"),
    Sample(padded_by(lambda x: (x[0, 0], 2.5)), real(2, 2), name="pad with two numbers"),
    Sample(
        padded_by(lambda x: [[x[0, 0], 2], [x[1, 0], x[0, 0]]]), real(2, 1), name="pad with four"
    ),
    Sample(padded_by(lambda x: np.sin(x)), real(2, 2), name="pad with an array"),
    Sample(np.pad, (real(2, 3), WIDTHS, "edge")),
    *[
        Sample(np.pad, (real(n, 2), ((width, width + 1), (0, 1)), mode), {"reflect_type": kind})
        for mode in ("reflect", "symmetric")
        for kind in ("even", "odd")
        for n, width in ((3, 1), (3, 7), (1, 2))
    ],
    Sample(np.pad, (real(4), (2, 3), "reflect")),
    Sample(np.pad, (real(4, dtype="f4"), (2, 3), "symmetric"), {"reflect_type": "odd"}),
    Sample(np.pad, (real(3), (2, 7), "wrap")),
    Sample(np.pad, (real(2, 3), WIDTHS, "wrap")),
    Sample(lambda x: np.pad(x, (1, 2), "empty")[1:-2], real(3), name="pad empty"),
    Sample(np.pad, (real(2, 3), WIDTHS, "linear_ramp")),
    Sample(np.pad, (real(3), (2, 3), "linear_ramp"), {"end_values": (5, -4)}),
    Sample(np.pad, (real(3, dtype="f4"), (2, 0), "linear_ramp")),
    Sample(np.pad, (cplx(2), 2, "linear_ramp"), {"end_values": 1j}),
    Sample(ramp_to(lambda x: x[0] ** 2), real(2), name="ramp to a number"),
    Sample(ramp_to(lambda x: [x[0, 1], 2.5]), real(2, 2), name="ramp to two numbers"),
    *[
        Sample(np.pad, (apart(3, 4), WIDTHS, mode), {"stat_length": length})
        for mode in ("maximum", "minimum", "mean", "median")
        for length in (None, 2, ((1, 2), (3, 9)))
    ],
    Sample(np.pad, (real(4, dtype="f4"), 1, "mean")),
]

ERRORS = [
    ErrorSample(np.pad, (real(3), -1), raises=ValueError, match="negative"),
    ErrorSample(lambda x: np.pad(x, 1.5), (real(3),), raises=TypeError, match="integral"),
    ErrorSample(np.pad, (real(3), 1, "edges"), raises=ValueError, match="not supported"),
    ErrorSample(np.pad, (real(3), 1, "edge"), {"end_values": 1}, ValueError, "unsupported keyword"),
    ErrorSample(np.pad, (real(0), 1, "edge"), raises=ValueError, match="can't extend empty"),
    ErrorSample(
        np.pad, (real(3), 1, "maximum"), {"stat_length": 0}, ValueError, "stat_length of 0"
    ),
]

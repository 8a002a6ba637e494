"""scipy.fft and scipy.fftpack: transforms of every family, length, norm and type."""

import numpy as np
from scipy import fft as sf
from scipy import fftpack

import pullback.scipy.fft  # noqa: F401  # enters the rules
from pullback.testing import ErrorSample, Sample
from tests.samples import traced

from .contractions import cplx, real


def of(f, *xs, program=None, name="", **options):
    """A sample of a function with options, or of a program over it."""
    shown = ", ".join([name] if name else [f"{key}={x}" for key, x in options.items()])
    kinds = ", ".join(f"{np.asarray(x).dtype}{list(np.shape(x))}" for x in xs)
    run = program or (lambda g, *xs: g(*xs, **options))
    return Sample(traced(f, run), xs, name=f"{f.__name__}({shown})({kinds})")


NORMS = ("backward", "ortho", "forward")
SAMPLES = []

# Complex and real transforms along one axis.
for f, make in (
    (sf.fft, cplx),
    (sf.fft, real),
    (sf.ifft, cplx),
    (sf.rfft, real),
    (sf.ihfft, real),
    (sf.irfft, cplx),
    (sf.hfft, cplx),
    (sf.irfft, real),
):
    SAMPLES += [
        of(f, make(5)),
        *[of(f, make(5), n=n) for n in (4, 8)],
        *[of(f, make(n), norm=norm) for n, norm in zip((4, 5, 4), NORMS, strict=True)],
        of(f, make(3, 2, 4), axis=1),
        of(f, make(4, 2), axis=0, n=5, norm="ortho", workers=2),
    ]
SAMPLES += [
    of(sf.fft, cplx(4), program=lambda g, x: g(x * 1.0, overwrite_x=True), name="overwrite_x"),
    of(sf.fft, cplx(4, dtype="c8")),
    of(sf.fft, real(4, dtype="f4")),
    of(sf.rfft, real(5, dtype="f4"), norm="ortho"),
    of(sf.irfft, cplx(3, dtype="c8")),
]

# Along several.
for f, make in (
    (sf.fft2, real),
    (sf.ifft2, cplx),
    (sf.rfft2, real),
    (sf.irfft2, cplx),
    (sf.hfft2, cplx),
    (sf.ihfft2, real),
    (sf.fftn, cplx),
    (sf.ifftn, cplx),
    (sf.rfftn, real),
    (sf.irfftn, cplx),
    (sf.hfftn, cplx),
    (sf.ihfftn, real),
):
    SAMPLES += [
        of(f, make(3, 4)),
        of(f, make(2, 3, 2), axes=(2, 0), norm="ortho"),
        of(f, make(3, 3), s=(2, 5), norm="forward"),
    ]

# Cosine and sine transforms.
for f in (sf.dct, sf.idct, sf.dst, sf.idst):
    SAMPLES += [
        *[of(f, real(n), type=kind) for kind, n in ((1, 4), (1, 5), (2, 5), (3, 5), (4, 4))],
        *[of(f, real(4), type=kind, norm="ortho") for kind in (1, 3)],
        of(f, real(4), type=3, norm="forward"),
        of(f, real(5), orthogonalize=True),
        of(f, real(4), norm="ortho", orthogonalize=False),
        of(f, real(3, 4), axis=0, n=5),
        of(f, cplx(4), type=3),
        of(f, real(4), program=lambda g, x: g(x * 1.0, overwrite_x=True), name="overwrite_x"),
        of(f, real(4, dtype="f4")),
    ]
for f in (sf.dctn, sf.idctn, sf.dstn, sf.idstn):
    SAMPLES += [
        *[of(f, real(3, 4), type=kind) for kind in (1, 2)],
        of(f, real(3, 4), axes=(1,), s=(5,), norm="ortho"),
        of(f, cplx(2, 3), type=1),
    ]

# Real transforms in FFTPACK's layout, and what weighs their terms.
for f in (fftpack.rfft, fftpack.irfft):
    SAMPLES += [
        *[of(f, real(n)) for n in (1, 2, 5, 6)],
        *[of(f, real(2, 5), axis=0, n=n) for n in (1, 4)],
        of(f, real(5), program=lambda g, x: g(x * 1.0, overwrite_x=True), name="overwrite_x"),
        of(f, real(4, dtype="f4")),
    ]
FILTERS = (
    (fftpack.diff, ()), (fftpack.diff, (2, 3.0)), (fftpack.diff, (-1,)), (fftpack.hilbert, ()),
    (fftpack.ihilbert, ()), (fftpack.tilbert, (0.7,)), (fftpack.itilbert, (0.7, 2.0)),
    (fftpack.cs_diff, (0.3, 0.8)), (fftpack.sc_diff, (0.3, 0.8)), (fftpack.ss_diff, (0.3, 0.8)),
    (fftpack.cc_diff, (0.3, 0.8)), (fftpack.shift, (0.3,)),
)  # fmt: skip
for f, options in FILTERS:
    SAMPLES += [
        of(f, x, program=lambda g, x, options=options: g(x, *options), name=f"{options}")
        for x in (real(1), real(5), real(6), cplx(4))
    ]

# Hankel transforms, in the numbers and in what describes the grid.
SAMPLES += [
    of(sf.fht, real(8), program=lambda g, a: g(a, 0.3, 0.5, offset=0.1), name="numbers"),
    of(sf.fht, real(7), program=lambda g, a: g(a, 0.3, 0.5, bias=0.2), name="bias"),
    of(sf.ifht, real(8), program=lambda g, a: g(a, 0.3, 1.5, bias=-0.1), name="back"),
    of(sf.fhtoffset, 0.31, 1.5, 0.1, 0.2, program=lambda g, *xs: g(*xs), name="grid"),
]

SAMPLES += [
    of(sf.fht, real(8), 0.3, 0.5, 0.1, 0.2, program=lambda g, *xs: g(*xs), name="grid"),
    of(sf.ifht, real(7), 0.3, 0.5, 0.1, 0.2, program=lambda g, *xs: g(*xs), name="grid"),
]

# Places, lengths and frequencies.
SAMPLES += [
    of(sf.fftshift, real(3, 4), axes=1),
    of(sf.ifftshift, cplx(5)),
    of(sf.fftfreq, 0.5, program=lambda g, d: g(5, d), name="spacing"),
    of(sf.rfftfreq, 0.5, program=lambda g, d: g(4, d), name="spacing"),
    of(sf.fft, real(5), program=lambda g, x: g(x, sf.next_fast_len(7)), name="next_fast_len"),
]

ERRORS = [
    ErrorSample(
        traced(sf.fft, lambda g, x: g(x, n=0)), (real(3),), raises=ValueError, match="points"
    ),
    ErrorSample(
        traced(sf.rfft, lambda g, x: g(x)), (cplx(3),), raises=TypeError, match="real sequence"
    ),
    ErrorSample(
        traced(sf.fft, lambda g, x: g(x, norm="unitary")),
        (real(3),),
        raises=ValueError,
        match="norm",
    ),
]

"""einsum, in all forms of its subscripts."""

import numpy as np

from pullback.core.errors import ArgumentError, ShapeError, UnsupportedKeywordError
from pullback.testing import ErrorSample, Sample

from .contractions import SHIFTED, cplx, real


def einsum(subscripts, *operands, **kwargs):
    name = (
        f"einsum({subscripts!r}, {', '.join([str(np.shape(x)) for x in operands])}{kwargs or ''})"
    )
    return Sample(lambda *xs: np.einsum(subscripts, *xs, **kwargs), operands, name=name)


def lists(*operands):
    """A sample of the form with sublists of integers."""
    xs = tuple(operands[: len(operands) // 2 * 2 : 2])

    def fun(*xs):
        rest = [x for pair in zip(xs, operands[1::2], strict=True) for x in pair]
        return np.einsum(*rest, *operands[len(rest) :])

    return Sample(fun, xs, name=f"einsum of {operands[1::2]} -> {operands[len(xs) * 2 :]}")


SAMPLES = [
    einsum("ij->ji", real(2, 3)),
    einsum("ij", real(2, 3)),
    einsum("ji", real(2, 3)),
    einsum("ij->i", real(2, 3)),
    einsum("ij->", real(2, 3)),
    einsum("i->", real(0)),
    einsum("->", 0.5),
    einsum("ii", real(3, 3)),
    einsum("ii->i", real(3, 3)),
    einsum("iij->ji", real(2, 2, 3)),
    einsum("iji->j", real(2, 3, 2)),
    einsum("iii->i", real(2, 2, 2)),
    einsum("iijj->ij", real(2, 2, 3, 3)),
    einsum("ii,ij->j", real(2, 2), real(2, 3)),
    einsum("iij,jk->k", cplx(2, 2, 3), real(3, 2)),
    einsum("i,i", real(3), real(3)),
    einsum("i,j->ij", real(3), real(2)),
    einsum("ij,jk", real(2, 3), real(3, 2)),
    einsum("ij,jk->ki", real(2, 3), real(3, 2)),
    einsum("ij,kl->", real(2, 3), real(2, 2)),
    einsum("ij,kj->i", real(2, 3), real(2, 3)),
    einsum("ij,ij->ij", real(1, 3), real(2, 1)),
    einsum("ij,ij->", real(1, 3), real(2, 3)),
    einsum("ij,j->i", real(2, 3), real(1)),
    einsum("ii,i->i", real(1, 1), real(3)),
    einsum("ij,jk->ik", real(2, 0), real(0, 3)),
    einsum("...ij,...jk->...ik", real(4, 2, 3), real(3, 2)),
    einsum("...ij,...jk", real(2, 1, 2, 3), real(4, 3, 2)),
    einsum("i...,...j->...ij", real(2, 3), real(2, 3, 2)),
    einsum("i...->...", real(3, 2, 2)),
    einsum("...ii->...", real(2, 3, 3)),
    einsum("...i->i...", real(2, 3)),
    einsum("..., ...", real(2, 1), real(3)),
    einsum(",i->i", 0.5, real(3)),
    einsum("ij,jk,kl->il", real(2, 3), real(3, 2), real(2, 2)),
    einsum("ij,jk,kl->il", real(2, 3), real(3, 2), real(2, 2), optimize=True),
    einsum("ij,jk,ki", real(2, 3), real(3, 2), real(2, 2), optimize="optimal"),
    einsum("ij,jk,k", real(2, 3), real(3, 2), real(2), optimize=["einsum_path", (1, 2), (0, 1)]),
    einsum("ij,jk->ik", real(2, 3), real(3, 2), optimize="greedy"),
    einsum("a,ab,abc,abc->c", real(2), real(2, 3), real(2, 3, 2), real(2, 1, 1), optimize=True),
    einsum("ij,jk->ik", cplx(2, 3), cplx(3, 2)),
    einsum("ij,jk->ik", real(2, 3), cplx(3, 2)),
    einsum("ij,jk->ik", real(2, 3, dtype="f4"), real(3, 2, dtype="f4")),
    einsum("ij,j->i", real(2, 3, dtype="f2"), real(3, dtype="f2")),
    einsum("ij,j->i", real(2, 3, dtype="f4"), real(3)),
    einsum("ij,j->i", real(2, 3, dtype="f4"), real(3, dtype="f4"), dtype=float, casting="safe"),
    einsum("ij,j->i", real(2, 3), np.arange(3)),
    einsum("ij,ij->i", SHIFTED, SHIFTED[::-1]),
    einsum("ij->ij", real(2, 2), order="F"),
    lists(real(2, 3), [0, 1], real(3, 2), [1, 2]),
    lists(real(2, 3), [0, 1], real(3, 2), [1, 2], [2, 0]),
    lists(real(2, 3), [Ellipsis, 30], real(3), [30], [Ellipsis]),
    lists(real(3, 3), (7, 7)),
    Sample(lambda x: np.einsum("i,i->i", x, [1.0, 2.0]), real(2), name="einsum with a list"),
]

ERRORS = [
    ErrorSample(
        lambda x: np.einsum("ij->i", x, optimize=["x"]),
        (real(2, 3),),
        raises=TypeError,
        match="path",
    ),
    ErrorSample(
        lambda x: np.einsum("ij,j", x), (real(2, 3),), raises=ArgumentError, match="2 operands"
    ),
    ErrorSample(lambda x: np.einsum("i", x), (real(2, 3),), raises=ShapeError, match="2 axes"),
    ErrorSample(
        lambda x: np.einsum("i...->i", x), (real(2, 3),), raises=ArgumentError, match="ellipsis"
    ),
    ErrorSample(lambda x: np.einsum("i->j", x), (real(2),), raises=ValueError, match="output"),
    ErrorSample(
        lambda x: np.einsum("i->i", x, out=np.zeros(2)),
        (real(2),),
        raises=UnsupportedKeywordError,
        match="out=",
    ),
]

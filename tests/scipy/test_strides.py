"""Offsets, steps and counts of the vectors of BLAS, and vectors that share memory."""

import numpy as np
import pytest
from scipy.linalg import blas

import pullback as pb
from pullback.core.errors import ArgumentError

X, Y = np.sin(np.arange(1.0, 14.0)), np.cos(np.arange(1.0, 14.0) ** 2)
A = np.sin(np.arange(6.0)).reshape(2, 3)
S = np.cos(np.arange(9.0)).reshape(3, 3) + 3.0 * np.eye(3)
PARTS = [
    {"n": 3, "offx": 2, "incx": 2, "offy": 1, "incy": 3},
    {"n": 3, "offx": 1, "incx": -2, "offy": 5},
    {"n": 4, "incx": -1, "incy": -2},
    {"offx": 3, "incx": 4, "incy": 2},
    {"offx": 1, "incx": 5, "offy": 2, "incy": 4},
]
PARAMS = np.array(
    [[-2.0, 0, 0, 0, 0], [-1, 0.7, 0.2, 0.4, 1.1], [0, 0, 0.3, 0.6, 0], [1, 0.5, 0, 0, 0.8]]
)
ROUTINES = {
    "axpy": lambda r, x, y, t, k: r(x, y, a=t, **k),
    "swap": lambda r, x, y, t, k: r(x, t * y, **k),
    "copy": lambda r, x, y, t, k: r(x, y, **k),
    "scal": lambda r, x, y, t, k: r(t, x, **k),
    "rot": lambda r, x, y, t, k: r(x, y, t, 0.3 * t, **k),
    **{
        f"rotm {flag[0]:.0f}": lambda r, x, y, t, k, flag=flag: r(x, y, flag * (1 + 0 * t), **k)
        for flag in PARAMS
    },
    "dot": lambda r, x, y, t, k: r(x, y, **k),
    "nrm2": lambda r, x, y, t, k: r(x, **k),
    "asum": lambda r, x, y, t, k: r(x, **k),
    "syr": lambda r, x, y, t, k: r(t, x, **k),
    "syr2": lambda r, x, y, t, k: r(t, x, y, **k),
    "ger": lambda r, x, y, t, k: r(t, x, y, **k),
    "gemv": lambda r, x, y, t, k: r(t, A, x, beta=0.4, y=y, **k),
    "gemv transposed": lambda r, x, y, t, k: r(t, A, x, trans=1, **k),
    "symv": lambda r, x, y, t, k: r(t, S, x, **k),
    "trmv": lambda r, x, y, t, k: r(t * S, x, **k),
    "trsv": lambda r, x, y, t, k: r(t * S, x, **k),
}  # fmt: skip


def calls():
    """Each routine with the parts that it takes; SciPy refuses some steps."""
    for name, program in ROUTINES.items():
        routine = getattr(blas, "d" + name.split()[0])
        for part in PARTS:
            known = routine.__doc__.splitlines()[0].replace("[", ",").replace("]", ",").split(",")
            part = {key: n for key, n in part.items() if key in known}
            f = lambda x, y, t, part=part, program=program, routine=routine: program(
                routine, x * t, y * t, t, part
            )
            try:
                f(X, Y, 1.2)
                if name in ("scal", "asum") and part.get("incx", 1) < 0:
                    with pytest.raises(ArgumentError, match="as its BLAS pleases"):
                        pb.grad(lambda x, f=f: total(f(x, Y, 1.2)))(X)
                    continue
            except Exception as error:
                if "incx" not in str(error) and "incy" not in str(error):
                    raise
                continue
            yield name, part, f


def total(out):
    if type(out) is tuple:
        return sum(total(part) * (1 + i) for i, part in enumerate(out))
    return np.sum(np.cos(np.arange(np.size(out))).reshape(np.shape(out)) * out)


def test_parts_of_vectors():
    """The value is SciPy's bit for bit; both modes agree with differences."""
    faults, count = [], 0
    for name, part, f in calls():
        count += 1
        g = lambda t, f=f: total(f(X * t, Y, t))
        expected = (8 * (g(1.21) - g(1.19)) - g(1.22) + g(1.18)) / 0.12
        value, slope = pb.jvp(g, (1.2,), (1.0,))
        back = pb.grad(g)(1.2)
        mapped = pb.vmap(g)(np.array([1.2, 1.3]))
        if (
            value != g(1.2)
            or not np.allclose([slope, back], expected, rtol=1e-6, atol=1e-9)
            or not np.allclose(mapped, [g(1.2), g(1.3)])
        ):
            faults.append((name, part, value - g(1.2), slope, back, expected, mapped))
    assert not faults, faults
    assert count > 60, count


def rotated(m, c, s):
    """As SciPy's own random correlation matrices: two rows, then two columns, of one memory."""
    m = m.ravel()
    blas.drot(m, m, c, -s, n=3, offx=3, offy=6, overwrite_x=True, overwrite_y=True)
    blas.drot(m, m, c, -s, n=3, offx=1, incx=3, offy=2, incy=3, overwrite_x=True, overwrite_y=True)
    return m.reshape(3, 3)


def test_both_vectors_in_one_memory():
    f = lambda t: total(rotated(S * t, np.cos(t), np.sin(t)))
    value, slope = pb.jvp(f, (0.6,), (1.0,))
    assert value == f(0.6)
    turn = lambda t: np.array([[1, 0, 0], [0, np.cos(t), -np.sin(t)], [0, np.sin(t), np.cos(t)]])
    expected = pb.grad(lambda t: total(turn(t) @ (S * t) @ turn(t).T))(0.6)
    np.testing.assert_allclose([slope, pb.grad(f)(0.6)], [expected, expected], rtol=1e-12)


def test_a_vector_is_added_to_itself():
    def f(x):
        y = x * 2
        blas.daxpy(y, y, a=3.0)
        return np.sum(y * x)

    np.testing.assert_allclose(pb.grad(f)(X), 16 * X)


def shifted(x):
    y = x * 2
    blas.daxpy(y, y, n=3, offy=1)
    return y[3]


def views(x):
    y = x * 2
    blas.daxpy(y[:-1], y[1:])
    return y[3]


def exchanged(x):
    y = x * 2
    blas.dswap(y, y, n=3, offy=2)
    return y[3]


def by_itself(x):
    y = x * 2
    blas.dgemv(1.0, y[:9].reshape(3, 3).T, x[:3], beta=1.0, y=y[:3], overwrite_y=True)
    return y[1]


@pytest.mark.parametrize("f", [shifted, views, exchanged, by_itself])
def test_numbers_that_a_routine_overwrites_before_it_reads_them(f):
    """BLAS's result depends there on the order in which its loops run."""
    with pytest.raises(ArgumentError, match="shares memory"):
        pb.grad(f)(X)

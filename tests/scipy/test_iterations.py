"""Methods that iterate for A x = b, with each kind of array, operator and preconditioner."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg as ssl

import pullback as pb

K = np.linspace(0.1, 0.9, 8)
B = np.sin(np.arange(8.0) + 1)
DOT = np.cos(np.arange(8.0))
NAMES = [
    "bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr",
]  # fmt: skip


def array(k):
    bands = [-0.9 * np.ones(7), 2.2 + k, -0.9 * np.ones(7)]
    return sparse.diags_array(bands, offsets=[-1, 0, 1], format="csr")


def factors(k):
    lu = ssl.splu(array(k).tocsc())
    return ssl.LinearOperator((8, 8), lu.solve, lambda x: lu.solve(x, "T"))


def dropped(k):
    return ssl.LinearOperator(
        (8, 8),
        lambda x: ssl.spilu(array(k).tocsc()).solve(x),
        lambda x: ssl.spilu(array(k).tocsc()).solve(x, "T"),
    )


def jacobi(k):
    return ssl.LinearOperator((8, 8), lambda x: x / (2.2 + k), lambda x: x / (2.2 + k))


ARRAYS = {
    "array": array,
    "operator": lambda k: ssl.LinearOperator(
        (8, 8), lambda x: array(k) @ x, lambda x: array(k).T @ x
    ),
}
PRECONDITIONERS = {
    "none": lambda k: None,
    "array": lambda k: sparse.diags_array(1 / (2.2 + k)),
    "operator": jacobi,
    "factors": factors,
    "dropped": dropped,
    "fixed": lambda k: jacobi(np.zeros(8)),
}


def cases():
    """Each method with each array and each preconditioner."""
    for name in NAMES:
        for of, A in ARRAYS.items():
            for by, M in PRECONDITIONERS.items():
                if (name, by) == ("qmr", "array") or (name == "tfqmr" and by != "none"):
                    continue  # SciPy takes no array there, and returns what is no solution

                def solved(k, name=name, A=A, M=M):
                    options = {} if name == "gcrotmk" else {"x0": 0.1 * k}
                    for key in ("M1", "M2") if name == "qmr" else ("M",):
                        options[key] = M(k)
                    x, info = getattr(ssl, name)(A(k), B, rtol=1e-12, **options)
                    return (x * np.arange(8.0)).sum() + info

                yield f"{name}, {of}, {by}", solved


@pytest.mark.share(2)
def test_gradients():
    wrong = []
    for name, solved in cases():
        value, gradient = pb.value_and_grad(solved)(K)
        change = (solved(K + 1e-4 * DOT) - solved(K - 1e-4 * DOT)) / 2e-4
        if abs(value - solved(K)) > 1e-13 or abs(gradient @ DOT - change) > 1e-6 * abs(change):
            wrong.append(f"{name}: {gradient @ DOT}, not {change}")
    assert not wrong


@pytest.mark.share(4)
@pytest.mark.parametrize(("name", "of"), [("gmres", "array"), ("cg", "operator")])
def test_transformed(name, of):
    """Tangents, second derivatives, compiled, and mapped over right-hand sides."""

    def solved(k, b=B):
        x, _ = getattr(ssl, name)(ARRAYS[of](k), b * k[0], rtol=1e-12, M=jacobi(0 * K))
        return x @ np.arange(8.0)

    gradient = pb.grad(solved)
    np.testing.assert_allclose(pb.jvp(solved, (K,), (DOT,))[1], gradient(K) @ DOT, 1e-10)
    change = (gradient(K + 1e-4 * DOT) - gradient(K - 1e-4 * DOT)) / 2e-4
    np.testing.assert_allclose(pb.hvp(solved)(K, DOT), change, 1e-6)
    compiled = pb.compile(gradient, wait=True)
    for i in range(4):
        k = K + 0.01 * i
        np.testing.assert_allclose(compiled(k), gradient(k), 1e-10)
    rows = pb.vmap(gradient, (None, 0))(K, np.stack([B, B**2]))
    np.testing.assert_allclose(rows[1], gradient(K, B**2), 1e-10)


def test_what_is_no_solution():
    """SciPy's `tfqmr` with a preconditioner reports success, far from the solution."""
    solved = lambda k: ssl.tfqmr(array(k), B, M=jacobi(K))[0].sum()
    with pytest.raises(pb.SolverError, match="`tfqmr` returned what is no solution"):
        pb.grad(solved)(K)


def test_shift():
    """`minres` solves (A - shift) x = b, which moves with the shift."""
    for A in (array, ARRAYS["operator"]):
        solved = lambda k, s, A=A: ssl.minres(A(k), B, shift=s, rtol=1e-12)[0] @ np.arange(8.0)
        by_k, by_shift = pb.grad(solved, (0, 1))(K, 0.3)
        change = (solved(K, 0.3 + 1e-4) - solved(K, 0.3 - 1e-4)) / 2e-4
        np.testing.assert_allclose(by_shift, change, 1e-6)
        change = (solved(K + 1e-4 * DOT, 0.3) - solved(K - 1e-4 * DOT, 0.3)) / 2e-4
        np.testing.assert_allclose(by_k @ DOT, change, 1e-6)


def test_callback():
    seen = []
    pb.grad(lambda k: ssl.cg(array(k), B, callback=lambda x: seen.append(x.sum()))[0].sum())(K)
    plain = []
    ssl.cg(array(K), B, callback=lambda x: plain.append(x.sum()))
    np.testing.assert_allclose(seen, plain, 1e-13)

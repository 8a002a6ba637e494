"""Functions of many kinds, as one process does them and as the next one does.

python -m tests.stored_process first results     writes what they gave
python -m tests.stored_process later results     compares: threads, forks, derivatives as well
"""

import copy
import os
import pickle
import sys
import threading
import warnings

import numpy as np

import pullback as pb
from pullback.compiler.call import budget
from pullback.compiler.disk import records
from pullback.core.tree import flatten
from tests.stored_programs import marks

W = np.arange(4096.0).reshape(64, 64) / 4096
K = np.arange(5.0)[::-1]
T = np.arange(12.0).reshape(3, 4).T
X = np.array([0.5, 1.5, 2.0])
LARGE = np.linspace(0, 1, 300_000)


def threads(x):
    return np.sum(np.exp(x) * np.sin(x)), np.cumsum(np.sqrt(x))[-1]


def products(x):
    return W @ (x[:64, None] * W) @ W.T, np.vstack([W] * 4) @ np.hstack([W * x[0]] * 4)


def by_numpy(x):
    return np.fft.fft(x).real, np.sort(x)[::-1], np.argsort(x), np.linalg.eigvalsh(np.outer(x, x))


def systems(x):
    a = np.eye(3) + np.outer(x, x)
    return np.linalg.solve(a, x), np.linalg.inv(a), np.linalg.det(a)


def convolution(x):
    return np.convolve(x, K), np.searchsorted(np.arange(4.0), x), np.interp(x, K[::-1], K)


def constants(x):
    return x[0] * T, K[:3] * x, T[::2, 1:] + x[0], np.broadcast_to(x[0], (2, 2)) + 1


def repeated(x):
    return pb.while_loop(lambda c: np.sum(c) < 100, lambda c: 2 * c + 1, x)


def scanned(x):
    return pb.scan(lambda c, r: ((c[0] * 0.5 + r, c[1] + 1), c[0] * c[1]), (x[0], 0), x)


def integers(x):
    return x // 2, x % 3, x << 1, x > 1, x.sum(), ~x, x.astype("f4"), x.astype(bool)


def narrow(x):
    return np.sin(x) * 2, x.sum(), x.mean(), x @ x


def complex_numbers(x):
    return np.exp(1j * x), x * x.conj(), np.abs(x)


def masks(x):
    return ~x, x.sum(), x.any(), np.where(x, 1.0, 2.0)


def tree(d, s=2):
    return {"a": d["a"] * s, "b": [d["b"] * 1.5, (None, "t", 3)]}


def numbers(x, y):
    return x * y + 1.0, float(np.sin(x))


def written(x):
    x[0] = x[1] * 2
    return x.sum()


def new(x):
    return np.zeros(3), np.arange(4), np.float32(3), 1.5, np.array(2.0) * x[0], x[:0] * 2


def asked(x):
    return x[: int(x[2])] * 2 if x[0] > 0 and x.sum() > 1 else -x


def loop(x):
    y = np.zeros(64)
    y[0] = x[0]
    for i in range(1, 64):
        y[i] = np.sin(y[i - 1]) + 0.1 * x[1]
    return y


def loss(x):
    return np.sum(np.tanh(W[:3, :3] @ x) ** 2) + np.linalg.norm(x)


MOVING = [threads, products, systems, convolution, constants, scanned, loop, loss]
FUNCTIONS = {
    **{f.__name__: (f, X) for f in [by_numpy, repeated, written, new, asked, *MOVING]},
    "threads": (threads, LARGE),
    "products": (products, LARGE[:100]),
    "integers": (integers, np.array([1, 5, 7])),
    "narrow": (narrow, X.astype("f4")),
    "complex": (complex_numbers, X + 1j),
    "masks": (masks, X > 1),
    "tree": (tree, {"a": X, "b": 2.5}),
    "numbers": (numbers, 0.5, 2.0),
    "gradient": (pb.value_and_grad(loss), X),
    "hessian": (pb.hessian(loss), X),
    "batch": (pb.vmap(pb.grad(loss)), np.stack([X, 2 * X])),
}  # fmt: skip
TRANSFORMS = (
    pb.grad,
    pb.hessian,
    lambda f: lambda x: pb.jvp(f, (x,), (np.ones_like(x),)),
    lambda f: lambda x: pb.vmap(pb.grad(f))(np.stack([x, x * 1.01])),
)


def copied(args):
    return copy.deepcopy(args)


def seen(out):
    """All that can be seen of a result."""
    leaves = [x if type(x) is str else np.asarray(x) for x in flatten(out)[0]]
    bits = [x if type(x) is str else (x.dtype.str, x.shape, x.tobytes()) for x in leaves]
    alone = [type(x) is str or x.flags.writeable for x in leaves]
    return str(flatten(out)[1]), [type(x).__name__ for x in flatten(out)[0]], bits, alone


def total(f):
    return lambda x: sum([np.sum(y) for y in flatten(f(x))[0] if y.dtype.kind == "f"])


def look(name, f, args, fast, right):
    """What else a function can be asked for that was found on disk."""
    assert "return" in fast.graph(*copied(args)), name
    assert type(fast.ir(*copied(args))) is str, name
    assert fast.why(*copied(args)) == "Machine code would replay it.", name
    found = []

    def work():
        found.extend([seen(fast(*copied(args))) for _ in range(5)])

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [right] * 15, name
    if hasattr(os, "fork"):
        pid = os.fork()
        if pid == 0:
            try:
                same = [seen(g(*copied(args))) == right for g in (fast, pb.compile(f))]
                os._exit(0 if all(same) else 1)
            finally:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0, name
    if f in MOVING:
        for transform in TRANSFORMS if f in (loss, scanned) else TRANSFORMS[:1]:
            expected = flatten(transform(total(f))(*args))[0]
            for _ in range(2):
                got = flatten(transform(total(fast))(*args))[0]
                for a, b in zip(got, expected, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11, err_msg=name)
    fast.cache_clear()
    assert [seen(fast(*copied(args))) for _ in range(2)] == [right] * 2, name


def main(which, path):
    budget.CLOCK[0] = False
    results = {}
    for name, (f, *args) in FUNCTIONS.items():
        fast = pb.compile(f)
        results[name] = [seen(fast(*copied(args))) for _ in range(4)]
        paths = [path for entry in fast.entries.values() for path in entry.paths]
        assert all(path.stored for path in paths), name
        assert len(marks(fast)) == len(paths), name
        if which != "first":
            assert fast.cache_info()[1] == 0, name
            assert all(isinstance(path.recording, records.StoredRecording) for path in paths), name
            assert f is not loss or fast.replay[1]  # by machine code alone
        if which == "looked":
            look(name, f, args, fast, results[name][-1])
    if which == "first":
        with open(path, "wb") as file:
            pickle.dump(results, file)
        return
    with open(path, "rb") as file:
        before = pickle.load(file)
    for name, outs in results.items():
        assert outs == [before[name][-1]] * 4, name


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # some fall back to Python
    main(*sys.argv[1:])
    print("done")

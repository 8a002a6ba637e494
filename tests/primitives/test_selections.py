"""`x[mask]` under vmap: what each example selects is its own, as a loop has it."""

import warnings

import numpy as np
import pytest

import pullback as pb

RNG = np.random.default_rng(0)


def into(x, mask, value):
    y = x * 1.0
    y[mask] = value
    return y


def scaled(x, mask):
    y = x * 1.0
    y[mask] *= 3.0
    y[mask] -= np.exp(y[mask]) / 10
    return y


def swapped(x, mask):
    y, kept = x * 1.0, x[mask]
    kept += 1.0
    y[mask] = kept**2
    y[~mask] = x[~mask] / 2
    return y


def placing(x, mask):
    y = x * 1.0
    np.place(y, mask, x.ravel()[:3] * 2)
    return y


def flatly(x, mask):
    y = x * 1.0
    y.flat[mask.ravel()] = x.ravel()[:2] * 2
    return y


def put_masked(x, mask):
    y = x * 1.0
    np.putmask(y, mask, x.ravel()[:3])
    return y


def centered(x, mask):
    s = x[mask]
    return np.sum((s - s.mean()) ** 2) / np.maximum(s.size, 1)


def both(x, mask):
    a, b = x[mask], np.sin(x)[mask]
    b = np.inner(np.dot(2.0, b), 0.5)
    return np.stack([a @ b, np.dot(b, a), np.vdot(a, b), np.inner(a, a), np.linalg.norm(a - b)])


def chosen(x, mask):
    s = x[mask]
    return np.where(s > 0, s, -2 * s).sum() + np.clip(s, -0.5, 0.5).sum() + np.isclose(s, 0).sum()


def parts(x, mask):
    whole, rest = divmod(x[mask], 0.7)
    return whole.sum() + rest.sum() + np.add.reduce(np.modf(x[mask])[0])


REDUCTIONS = [np.sum, np.prod, np.nansum, np.all, np.any, np.count_nonzero]
NOT_EMPTY = [np.mean, np.std, np.var, np.max, np.min, np.amax, np.nanmean]

ANY = {
    **{f.__name__: lambda x, mask, f=f: f(x[mask]) * 1.0 for f in REDUCTIONS},
    "elementwise": lambda x, mask: np.sum(np.sqrt(1 + np.abs(x[mask])) - 1 / (3 + x[mask] ** 2)),
    "assigned number": lambda x, mask: into(x, mask, 7.0),
    "assigned selection": lambda x, mask: into(x, mask, np.tanh(x[mask]) * x[0].sum()),
    "in place": scaled,
    "swapped": swapped,
    "size": lambda x, mask: x[mask].size * x.sum(),
    "astype": lambda x, mask: x[mask].astype(np.float32).astype(float).sum(),
    "place": placing,
    "flat": flatly,
    "putmask": put_masked,
    "compress": lambda x, mask: np.compress(mask.ravel(), x).size * 1.0 + x.sum(),
    "where": chosen,
    "parts": parts,
}  # fmt: skip
FILLED = {
    **{f.__name__: lambda x, mask, f=f: f(x[mask]) for f in NOT_EMPTY},
    "centered": centered,
    "methods": lambda x, mask: x[mask].max() + x[mask].min() * x[mask].std(ddof=0),
}
VECTORS = {
    "both": both,
    "extract": lambda x, mask: np.extract(mask, x).sum() * 2,
    "flatnonzero": lambda x, mask: np.flatnonzero(mask).sum() + np.sum(x),
    "unique": lambda x, mask: np.unique(np.round(x)).sum() + np.sum(x),
    "reduce": lambda x, mask: np.maximum.reduce(x[mask], initial=-9.0) + np.add.reduce(x[mask]),
}
ROWS = {
    "rows": lambda x, mask: x[mask[:, 0]].sum(axis=0),
    "rows of rows": lambda x, mask: (x[mask[:, 0]] * x[0]).sum(axis=1).sum(),
    "rows assigned": lambda x, mask: into(x, mask[:, 0], x[1] * 2),
    "rows moved": lambda x, mask: into(x, mask[:, 0], x[mask[:, 0]] ** 2 + x[0]),
    "mean of rows": lambda x, mask: x[mask[:, 0]].sum(axis=(0, 1)),
}


def examples(shape, kind):
    """A batch of examples and masks that select equally many elements, some or none."""
    x = RNG.normal(size=(4, *shape))
    mask = np.zeros(x.shape, bool)
    counts = {"equal": [2, 2, 2, 2], "some": [1, 3, 2, 4], "none": [2, 0, 3, 0]}[kind]
    for row, n in zip(mask.reshape(4, -1), counts, strict=True):
        row[RNG.permutation(row.size)[:n]] = True
    return x, mask


CASES = [
    (name, f, shape, kind)
    for programs, shapes, kinds in [
        (ANY, [(6,), (3, 4)], ["equal", "some", "none"]),
        (FILLED, [(6,), (3, 4)], ["equal", "some"]),
        (VECTORS, [(6,)], ["equal", "some", "none"]),
        (ROWS, [(3, 4)], ["equal", "some", "none"]),
    ]
    for name, f in programs.items()
    for shape in shapes
    for kind in kinds
]


@pytest.mark.parametrize(
    ("f", "shape", "kind"), [c[1:] for c in CASES], ids=[f"{c[0]}-{c[2]}-{c[3]}" for c in CASES]
)
@pytest.mark.share(3)
class TestALoop:
    """vmap agrees with a loop over the examples."""

    def compare(self, transformed, shape, kind):
        x, mask = examples(shape, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            expected = [transformed(*pair) for pair in zip(x, mask, strict=True)]
            out = pb.vmap(transformed)(x, mask)
            np.testing.assert_allclose(out, np.stack(expected), rtol=1e-12, atol=1e-12)
            nested = pb.vmap(pb.vmap(transformed))(x[:, None], mask[:, None])
            np.testing.assert_allclose(nested[:, 0], np.stack(expected), rtol=1e-12, atol=1e-12)
            pairs = np.stack([x, x]), np.stack([mask, mask])
            inner = pb.vmap(lambda *rows: pb.vmap(transformed)(*rows))(*pairs)
            np.testing.assert_allclose(inner[1], np.stack(expected), rtol=1e-12, atol=1e-12)

    def test_values(self, f, shape, kind):
        self.compare(f, shape, kind)

    def test_reverse(self, f, shape, kind):
        self.compare(pb.grad(lambda x, mask: np.sum(f(x, mask) ** 2)), shape, kind)

    def test_forward(self, f, shape, kind):
        jvp = lambda x, mask: pb.jvp(lambda x: f(x, mask), (x,), (np.cos(x),))[1]
        self.compare(jvp, shape, kind)

    def test_grad_of_vmap(self, f, shape, kind):
        x, mask = examples(shape, kind)
        loss = lambda x: np.sum(pb.vmap(f)(x, mask) ** 2)
        alone = [
            pb.grad(lambda x, m=m: np.sum(f(x, m) ** 2))(row)
            for row, m in zip(x, mask, strict=True)
        ]
        np.testing.assert_allclose(pb.grad(loss)(x), alone, rtol=1e-12, atol=1e-12)

    @pytest.mark.share(6)
    def test_compiled(self, f, shape, kind):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for g in (f, pb.grad(lambda x, mask: np.sum(f(x, mask) ** 2))):
                compiled = pb.compile(pb.vmap(g))
                for _ in range(3):
                    x, mask = examples(shape, kind)
                    expected = pb.vmap(g)(x, mask)
                    for _ in range(2):
                        np.testing.assert_allclose(compiled(x, mask), expected, rtol=1e-12)


SHAPELESS = {
    "sort": lambda x, mask: np.sort(x[mask]),
    "an index": lambda x, mask: x[mask][0],
    "len": lambda x, mask: len(x[mask]),
    "bool": lambda x, mask: x if x[mask] else -x,
    "iteration": lambda x, mask: sum(x[mask]),
    "x.shape": lambda x, mask: np.sum(x) * x[mask].shape[0],
    "another mask": lambda x, mask: np.sum(x[mask] * x[~mask]),
    "assignment": lambda x, mask: into(x, ~mask, x[mask]),
    "numpy.asarray": lambda x, mask: np.asarray(x[mask]),
    "the same axis": lambda x, mask: np.sum(x[mask] * np.arange(2.0)),
    "different shapes": lambda x, mask: into(x, mask, x[:2]),
    "returned": lambda x, mask: x[mask],
    "numpy.cumsum": lambda x, mask: np.cumsum(x[mask]),
    "dot with a number": lambda x, mask: np.dot(0.5, x[mask]),
    "inner with a number": lambda x, mask: np.inner(x[mask], 2.0),
    "numpy.concatenate": lambda x, mask: np.concatenate([x[mask], x]),
    "another array": lambda x, mask: x[mask] @ x,
    "numpy.multiply": lambda x, mask: np.multiply.outer(x[mask], x),
    "same along": lambda x, mask: np.multiply(x[mask], [1.0, 2.0], where=mask),
}


@pytest.mark.parametrize("name", SHAPELESS)
def test_what_needs_a_shape_is_refused(name):
    x, mask = examples((6,), "some")
    with pytest.raises(pb.ConversionError, match=r"different (numbers of elements|shapes)"):
        pb.vmap(SHAPELESS[name])(x, mask)


def test_an_empty_example_has_no_maximum():
    x, mask = examples((6,), "none")
    with pytest.raises(ValueError, match="zero-size array"):
        pb.vmap(lambda x, mask: x[mask].max())(x, mask)


def test_values_outside_of_the_selection_are_not_computed_with():
    """No warning, and no NaN in a derivative."""
    x = np.array([[1.0, -1.0, 4.0], [-1.0, -2.0, 0.0], [9.0, 4.0, 1.0]])
    out = pb.vmap(pb.grad(lambda x: np.sqrt(x[x > 0]).sum()))(x)
    np.testing.assert_allclose(out, np.where(x > 0, 0.5 / np.sqrt(np.where(x > 0, x, 1.0)), 0.0))

"""What is written into the array that it is a part of is what NumPy writes, or is loud.

Most of NumPy's ways to write put a source aside that overlaps its target; some read elements that
they have already overwritten.
"""

import numpy as np
import pytest

import pullback as pb

X = np.array([0.31, -0.72, 1.13, 0.44, -0.25, 0.86, 0.52, -1.07, 0.68, 0.19, -0.4, 0.92])
DOT = np.sin(np.arange(12.0))

# Ways to write s into t, a part of a row or a matrix, and the masks that they use.
MASK = "(np.arange(t.size).reshape(t.shape) % 3 > 0)"
WAYS = [
    "t[:] = s", "t[...] = s", "t[::-1] = s", "t[1:] = s", "t[:, 0] = s", "t[0] = s", "t[-1] = s[0]",
    "t[[1, 0]] = s", "t[[0, 0, 1]] = s", "t[:, [1, 0]] = s", "t[[0, 1], [1, 0]] = s",
    "t[np.arange(len(t))] = s", f"t[{MASK}] = s", f"t[({MASK},)] = s", f"t[{MASK}.tolist()] = s",
    "t[t > 0] = s", "t[t > 0] += s", "t[t[..., 0] > 0] = s", "t[np.ones(t.shape, bool)] = s",
    "t[[1, 0]] += s", "t[1:] += s", "t += s", "t *= s", "t.flat = s", "t.flat[1:3] = s",
    "t.flat[[2, 0, 1]] = s", f"t.flat[{MASK}.ravel()] = s", "t.real = s", "t.put([0, 1, 2], s)",
    "np.put(t, [3, 1, 0, 2], s)", f"np.place(t, {MASK}, s)", "np.place(t, t < 0.3, s)",
    f"np.putmask(t, {MASK}, s)", "np.copyto(t, s)", f"np.copyto(t, s, where={MASK})",
    "np.put_along_axis(t, np.array([1, 2, 0]), s, None)", "np.add.at(t, [0, 1, 1], s)",
    "np.multiply.at(t, [1, 0], s)", "np.fill_diagonal(t, s)", "np.fill_diagonal(t, s, wrap=True)",
    "np.add(s, 1.0, out=t)", "np.multiply(s, t, out=t)", f"np.sin(s, out=t, where={MASK})",
    "np.cumsum(s, axis=0, out=t)", "np.add.accumulate(s, axis=-1, out=t)", 
    "np.clip(t, s, 1, out=t)",
    "np.take(s, [1, 0, 1], axis=0, out=t[:3], mode='clip')", "np.matmul(s, t, out=t)",
    "np.concatenate([s[1:], s[:1]], out=t)", "np.concatenate([t[1:], s[:1]], 0, t)",
    "np.stack([s[1], s[0], s[1]], out=t[:3])", "np.einsum('ij->ji', s, out=t)",
    "np.einsum('i->i', s, out=t)", "np.sum(s, axis=0, out=t[0])", 
    "np.add.reduceat(s, [0, 1], 0, out=t)",
    "for k, row in enumerate(s): t[k] = row", "for k, row in enumerate(s): t[0] += row",
]  # fmt: skip
ARRAYS = {  # (of x, its parts, and parts of it that overlap these)
    "row": (
        "x[:6] * 1.0",
        ["a", "a[::-1]", "a[1:]", "a[::2]"],
        ["a", "a[::-1]", "a[1:2]", "a[:3]", "a[1:]", "a[::-2]", "a[3:]", "a[:4]", "a[:2][::-1]"],
    ),
    "matrix": (
        "(x * 1.0).reshape(3, 4)",
        ["a", "a.T", "a[:, 1:]", "a[:2, :2]"],
        [
            *["a", "a.T", "a[1]", "a[:, 0]", "a[::-1]", "a[:, ::-1]", "a[1:]", "a.reshape(4, 3).T"],
            *["a.ravel()[::-1]", "a[:2, :2].T", "a[1, :2]", "a.diagonal()"],
            "np.broadcast_to(a[1], (3, 4))",
        ],
    ),
}


def program(array, target, source, way):
    code = f"def f(x):\n    a = {array}\n    t, s = {target}, {source}\n    {way}\n    return a\n"
    names = {"np": np}
    exec(code, names)
    return names["f"]


def programs(way):
    """Programs that write s, and whether NumPy gives what it would give for a copy of s."""
    for array, targets, sources in ARRAYS.values():
        for target in targets:
            for source in sources:
                f = program(array, target, source, way)
                try:
                    expected = f(X)
                    copied = program(array, target, f"({source}).copy()", way)(X)
                except (IndexError, TypeError, ValueError):
                    continue
                yield f"{source} into {target}", f, np.allclose(expected, copied, atol=1e-12)


@pytest.mark.share(4)
@pytest.mark.parametrize("way", WAYS)
def test_what_overlaps_is_written_as_numpy_does_or_loud(way):
    h, tried = 1e-6, 0
    for name, f, buffered in programs(way):
        slope = (f(X + h * DOT) - f(X - h * DOT)) / (2 * h)
        tried += 1
        try:
            out, out_dot = pb.jvp(f, (X,), (DOT,))
        except pb.ArgumentError as error:
            if buffered or "already overwritten" not in str(error):
                raise AssertionError(name) from error
            continue
        except pb.ShapeError:  # an `out` that is larger than the result
            continue
        np.testing.assert_allclose(out, f(X), atol=1e-12, err_msg=name)
        np.testing.assert_allclose(out_dot, slope, atol=1e-6, err_msg=name)
        value, pullback = pb.vjp(f, X)
        np.testing.assert_allclose(value, out, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(pullback(slope)[0] @ DOT, np.sum(slope**2), atol=1e-6)
    assert tried


@pytest.mark.filterwarnings("ignore:.*falls back to Python")
@pytest.mark.parametrize("way", [f"t[{MASK}] = s", "t[t > 0] = s", "t.flat = s", "t[::2] = s[:3]"])
def test_compiled_functions_give_what_numpy_gives(way):
    f = program("x[:6] * 1.0", "a", "a[:4]" if "[:" not in way else "a", way)
    compiled = pb.compile(f, wait=True)
    for x in (X, X, -X, X[::-1]):
        try:
            expected = f(x)
        except ValueError:
            continue
        np.testing.assert_array_equal(compiled(x), expected)


def test_a_mask_that_is_mapped_is_loud():
    def f(x):
        a = x * 1.0
        a[a > 0] = a[:3]
        return a

    with pytest.raises(pb.ArgumentError, match=r"Write `x\[mask\] = v\.copy\(\)`"):
        pb.vmap(f)(np.array([[1.0, -1.0, 2.0, 3.0]] * 2))


def test_an_index_that_is_overwritten_is_loud():
    def f(x):
        i = np.array([2, 0, 1, 3])
        i.flat[i] = np.array([3, 1, 0, 2])
        return x[i]

    with pytest.raises(pb.ArgumentError, match="already overwritten"):
        pb.jvp(f, (X,), (X,))

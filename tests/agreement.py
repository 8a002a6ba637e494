"""Whether a function has the derivatives of another one, or those that differences show."""

import numpy as np

import pullback as pb


def agree(f, g, *args, order=2):
    """f has the derivatives of g, in every mode and order and under vmap."""
    n = tuple(range(len(args)))
    assert_trees(f(*args), g(*args))
    total = lambda h: lambda *xs: sum(np.sum(np.cos(x)) for x in leaves(h(*xs)))
    dots = tuple(np.cos(1.0 + np.asarray(x)) for x in args)
    assert_trees(pb.grad(total(f), n)(*args), pb.grad(total(g), n)(*args))
    assert_trees(pb.jvp(f, args, dots), pb.jvp(g, args, dots))
    assert_trees(pb.linearize(f, *args)[1](*dots), pb.linearize(g, *args)[1](*dots))
    stacks = [np.stack([x, x + 0.1, x - 0.2]) for x in args]
    assert_trees(pb.vmap(f)(*stacks), pb.vmap(g)(*stacks))
    assert_trees(pb.vmap(pb.grad(total(f), n))(*stacks), pb.vmap(pb.grad(total(g), n))(*stacks))
    summed = lambda h: lambda *xs: np.sum(pb.vmap(total(h))(*xs))
    assert_trees(pb.grad(summed(f), n)(*stacks), pb.grad(summed(g), n)(*stacks))
    tangents = tuple(np.cos(x) for x in stacks)
    assert_trees(pb.jvp(pb.vmap(f), stacks, tangents), pb.jvp(pb.vmap(g), stacks, tangents))
    if order > 1:
        assert_trees(pb.hessian(total(f), n)(*args), pb.hessian(total(g), n)(*args))
        twice = lambda h: pb.grad(
            lambda *xs: sum(np.sum(np.sin(x)) for x in pb.grad(total(h), n)(*xs)), n
        )
        assert_trees(twice(f)(*args), twice(g)(*args))
        push = lambda h: pb.grad(lambda *xs: total(lambda *ys: pb.jvp(h, ys, dots)[1])(*xs), n)
        assert_trees(push(f)(*args), push(g)(*args))
        assert_trees(
            pb.vmap(pb.hessian(total(f), n))(*stacks), pb.vmap(pb.hessian(total(g), n))(*stacks)
        )


def leaves(tree):
    if isinstance(tree, dict):
        return [x for key in sorted(tree) for x in leaves(tree[key])]
    return [x for part in tree for x in leaves(part)] if isinstance(tree, (tuple, list)) else [tree]


def assert_trees(actual, expected):
    assert len(leaves(actual)) == len(leaves(expected))
    for a, b in zip(leaves(actual), leaves(expected), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def has_slopes(f, x, compiled=3):
    """f has its own value at a number or a vector x, and the derivatives that differences show.

    Forward, in reverse, and in so many calls of its compiled gradient, of which the first record.
    """
    units = list(np.eye(len(x))) if np.ndim(x) else [1.0]
    slopes = [(float(f(x + 1e-6 * d)) - float(f(x - 1e-6 * d))) / 2e-6 for d in units]
    value, gradient = pb.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    fast = pb.compile(pb.grad(f))
    results = {
        "in reverse": gradient,
        "again": pb.grad(f)(x),
        "forward": [pb.jvp(f, (x,), (d,))[1] for d in units],
        **{f"compiled, call {i}": fast(x) for i in range(compiled)},
    }
    for how, result in results.items():
        np.testing.assert_allclose(
            np.ravel(result), slopes, rtol=1e-6, atol=1e-8, err_msg=f"the derivative {how}"
        )

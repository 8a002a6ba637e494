"""Arrays that are lent: what is computed of them is written down by the trace that borrows them."""

import numpy as np

import pullback as pb
from pullback.scipy.solving.branches import AskingThere, written
from pullback.scipy.solving.programs import key_of
from pullback.scipy.solving.questions import answers_of
from pullback.testing import Problem, close, precision
from pullback.transforms.loops.body import Unstaged
from tests.laws.common import for_all_samples

LENDERS = {
    "reverse": lambda f, xs: pb.vjp(f, *xs),
    "forward": lambda f, xs: pb.jvp(f, xs, [np.ones_like(x) for x in xs]),
    "mapped": lambda f, xs: pb.vmap(f)(*[np.stack([x, x]) for x in xs]),
    "mapped within reverse": lambda f, xs: pb.vjp(
        lambda *xs: pb.vmap(f)(*[np.stack([x, x]) for x in xs]), *xs
    ),
}


def law(sample):
    """A function of Arrays that are lent is one of operands: nothing of it is a constant."""
    problem = Problem(sample)
    for lender, transform in LENDERS.items():
        # Of a batch of arrays without axes, each is a number.
        plain = [x[()] for x in problem.xs] if "mapped" in lender else problem.xs
        graphs = []

        def lend(*xs, graphs=graphs, plain=plain):
            traces, x = [], xs[0]
            while type(x) is pb.Array:
                traces.append(x.within)
                x = x.payload
            values = dict(zip(map(key_of, xs), plain, strict=True))
            asking = AskingThere(lambda one: problem(*xs), {}, values, traces)
            out = xs[0] * 1.0
            graphs.append((*written(asking, [np.float64(1.0)])[1:], asking.asked, [*values]))
            return out

        try:
            transform(lend, problem.xs)
        except Unstaged:  # it asks for values, which no program can be written for
            continue
        graph, captured, asked, keys = graphs[0]
        found = [key_of(x) for x in captured]
        assert set(found) <= set(keys), f"{lender}: computed of what is lent, and not written down"
        nearby = [np.copy(x, order="K") for x in plain]
        for x in nearby:
            x += (problem.like(x) * precision([x]) ** 0.4).astype(x.dtype)
        nearby = [
            x if isinstance(y, np.ndarray) else x[()] for x, y in zip(nearby, plain, strict=True)
        ]
        for xs in (plain, nearby):
            at = [xs[keys.index(key)] for key in found]
            outs = graph.evaluate(np.float64(1.0), *at)
            if answers_of(outs[len(outs) - len(asked) :]) != answers_of([x.payload for x in asked]):
                continue
            expected = problem(*xs)
            for out, right in zip(outs, expected, strict=False):
                close(out, right, precision([right]) ** 0.6, lender)


test_lent = for_all_samples(law, functions=12, shares=12)

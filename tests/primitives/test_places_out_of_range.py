"""What is written before NumPy meets a place that is out of range, and the error that it raises."""

from functools import partial

import numpy as np
import pytest

import pullback as pb

PLACES = [
    [0, 9], [9, 0], [0, -9, 1], [[0, 1], [7, 2]], 9, [0, 1, 2], [-1, 5, 6], [-7, 0], [],
    np.array([1, 6]), ([1, 6],), [5, 5, 9, 1],
]  # fmt: skip


def put(mode, places, x, v):
    np.put(x, places, v, mode=mode)


def put_method(places, x, v):
    x.put(places, v)


def flat(places, x, v):
    x.flat[places] = v


def flat_of_one(places, x, v):
    x.flat[places] = v[0]


def fancy(places, x, v):
    x[places] = v[0]


def along_axis(places, x, v):
    np.put_along_axis(x, np.ravel(places), v[0], None)


def added(places, x, v):
    np.add.at(x, places, v[0])


WRITERS = [
    *[partial(put, mode) for mode in ("raise", "wrap", "clip")],
    put_method, flat, flat_of_one, fancy, along_axis, added,
]  # fmt: skip
FUNCTIONS = [partial(writer, places) for writer in WRITERS for places in PLACES]
MASKS = [[1, 0, 1], np.array([0, 1, 1, 0, 1, 0]), np.array([[0, 1, 1], [0, 1, 0]]), True]
FUNCTIONS += [
    lambda x, v, f=f, mask=mask: f(x, np.asarray(mask), v)
    for f in (np.putmask, np.place)
    for mask in MASKS
]
FUNCTIONS += [lambda x, v: np.copyto(x, v[:2]), lambda x, v: np.copyto(x, v, where=[[1], [0]])]


def written(f, x, v):
    """What x holds after f has written to it, and which error f raised: linear in x and v."""
    x, first, error = x * 1.0, x.ravel()[:1], 0.0
    try:
        f(x, v)
    except TypeError:
        error = 1.0
    except ValueError:
        error = 2.0
    except IndexError:
        error = 3.0
    return np.append(x, error * first)


def compiled(f, x, v):
    call = pb.compile(lambda x, v: pb.vjp(f, x, v)[0])
    call(x, v)
    return call(x, v)


MODES = {
    "vjp": lambda f, x, v: pb.vjp(f, x, v)[0],
    "jvp": lambda f, x, v: pb.jvp(f, (x, v), (x, v))[0],
    "tangent": lambda f, x, v: pb.jvp(f, (x, v), (x, v))[1],  # what is written is linear
    "vmap": lambda f, x, v: pb.vmap(f)(np.stack([x, x]), np.stack([v, v]))[1],
    "compiled": compiled,
}
V = np.array([10.0, 20.0, 30.0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_what_comes_before_is_written_as_numpy_does(shape, mode):
    x, differing = np.arange(1.0, 7.0).reshape(shape), []
    for f in FUNCTIONS:
        expected, found = written(f, x, V), MODES[mode](partial(written, f), x, V)
        if not np.array_equal(expected, found):
            differing.append((f, expected, found))
    assert not differing

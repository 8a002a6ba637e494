"""Plain arrays that nobody else can see take what is traced; all others refuse it."""

import collections
import functools
import gc
import sys
import warnings
import weakref

import numpy as np
import pytest

import pullback as pb

START = np.array([1.0, 2.0, 3.0])
MATRIX = np.arange(9.0).reshape(3, 3) + 0.5
SHARED = START * 2


class Holder:
    def __init__(self, **names):
        self.__dict__.update(names)

    def scale(self, by):
        self.state *= by


def halves():
    return START * 0.5


# Each makes arrays in ways that are not asked about, and assigns into them.


def item(x):
    a = START * 0.5
    a[0] = x
    return np.sum(a * a)


def operator_in_place(x):
    a = START - 1
    a += x
    a -= 3 * x
    a *= x
    a /= 2 + x
    a **= 2
    return np.sum(a * a)


def product_in_place(x):
    a = MATRIX.copy()
    a @= np.eye(3) * x
    return np.sum(a * a)


def rows_and_columns(x):
    a = MATRIX.astype(float)
    a[1] += x
    a[:, 2] *= x
    a[0:2, 1] = [x, 2 * x]
    a[a > 3] *= x
    a[[0, 2]] -= x
    return np.sum(a**2)


def slices(x):
    a = START.copy()
    a[1:] = x * START[1:]
    a[:1] += x
    return np.sum(a**3)


def in_a_function(x):
    a = halves()

    def fill(b, y):
        b[1] = y

    fill(a, x**2)
    return np.sum(a * a)


def two_names(x):
    a = b = START * 3
    a[0] = x
    return np.sum(b * b)


def of_an_object(x):
    holder = Holder(state=START * 2)
    holder.state[1] = x
    holder.scale(x)
    return np.sum(holder.state**2)


def of_a_list(x):
    states = [START * 2, START * 3]
    states[1][0] = x
    states[0] -= x
    return np.sum(states[0] ** 2) + np.sum(states[1] ** 2)


def of_a_dict(x):
    states = {"a": START + 1, "deep": [{"b": START + 2}]}
    states["a"][0] = x
    states["a"] /= x
    states["deep"][0]["b"][2] = x
    return np.sum(states["a"] ** 2) + np.sum(states["deep"][0]["b"] * x)


def in_a_closure(x):
    a = START * 2

    def inner(y):
        return y * a[0]

    a[0] = x
    return inner(x)


def reshaped(x):
    a = (START * 2).reshape(3, 1)
    a[0] = x
    a[1:2] += x
    return np.sum(a**2)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        a = START * k
        a[k] = x
        total = total + np.sum(a**2)
    return total


def in_a_comprehension(x):
    def filled(k):
        a = START * k
        a[k] += x
        return a

    return np.sum(np.stack([filled(k) for k in range(3)]) ** 2)


def read_before(x):
    a = START * 2
    b = np.sum(a * x)
    a[0] = x
    return b + np.sum(a * x)


def beside_exec(x):
    exec("k = 2.0")
    a = START * 2
    a[0] = x
    return np.sum(a) * (eval("k") if sys.version_info < (3, 13) else 2.0)


class Rows:
    """Gives views of its array as items, and takes what is stored in one way or another."""

    def __init__(self, data):
        self.data, self.kept = data, {}

    def __getitem__(self, key):
        return self.data[key]


class Writes(Rows):
    def __setitem__(self, key, value):
        self.data[key] = value


class Copies(Writes):
    def __getitem__(self, key):
        return self.data[key].copy()


def items_that_are_copies(x):
    rows = Copies(START * 2)
    rows[1:] += x
    return np.sum(rows.data**2)


PRIVATE = [
    item, operator_in_place, product_in_place, rows_and_columns, slices, in_a_function, two_names,
    of_an_object, of_a_list, of_a_dict, in_a_closure, reshaped, in_a_loop, in_a_comprehension,
    read_before, beside_exec, items_that_are_copies,
]  # fmt: skip


@pytest.mark.parametrize("f", PRIVATE, ids=lambda f: f.__name__)
def test_private_arrays_are_assigned_into(f):
    x, h = 1.3, 1e-5
    wanted = (f(x + h) - f(x - h)) / (2 * h)
    curvature = (f(x + h) - 2 * f(x) + f(x - h)) / h**2
    np.testing.assert_allclose(pb.grad(f)(x), wanted, rtol=1e-7)
    np.testing.assert_allclose(pb.jvp(f, (x,), (1.0,))[1], wanted, rtol=1e-7)
    np.testing.assert_allclose(pb.grad(pb.grad(f))(x), curvature, rtol=1e-3, atol=1e-3)
    xs = np.array([x, 0.7])
    np.testing.assert_allclose(pb.vmap(f)(xs), [f(x) for x in xs])
    compiled = pb.compile(pb.value_and_grad(f))
    for x in (1.3, 1.3, 0.7):
        with warnings.catch_warnings():
            if f is in_a_function:  # a call that is recorded may hold its arguments
                warnings.simplefilter("ignore", RuntimeWarning)
            value, gradient = compiled(x)
        np.testing.assert_allclose(value, f(x))
        np.testing.assert_allclose(gradient, (f(x + h) - f(x - h)) / (2 * h), rtol=1e-7)
    assert type(f(x)) is np.float64


# Each has an array that something else can see.


def a_global(x):
    SHARED[0] = x
    return np.sum(SHARED)


def a_global_by_a_name(x):
    a = SHARED
    a += x
    return np.sum(a)


def a_default(x, a=START * 2):
    a += x
    return np.sum(a)


def a_view(x):
    a = START * 2
    b = a[:2]
    a[0] = x
    return np.sum(b) + np.sum(a)


def of_a_view(x):
    a = START * 2
    b = a[:2]
    b[0] = x
    return np.sum(a)


def a_row(x):
    a = MATRIX * 2
    for row in a:
        row += x
    return np.sum(a)


def in_a_tuple(x):
    both = START * 2, x
    both[0][1] = x
    return np.sum(both[0])


def in_a_deque(x):
    queue = collections.deque([START * 2])
    queue[0][0] = x
    return np.sum(queue[0])


def weakly(x):
    a = START * 2
    seen = weakref.ref(a)
    a[0] = x
    return np.sum(seen())


def weakly_behind(x):
    whole = START * 2
    seen, a = weakref.ref(whole), whole.reshape(-1, 1)
    del whole
    a[0] = x
    return np.sum(a if seen() is None else seen())


def in_memory(x):
    a = START * 2
    memory = memoryview(a)
    a[0] = x
    return sum(memory)


def in_an_iterator(x):
    a = START * 2
    flat = a.flat
    a[0] = x
    return sum(flat)


def in_a_generator(x):
    a = START * 2

    def numbers(b):
        yield
        yield np.sum(b)

    later = numbers(a)
    next(later)
    a[0] = x
    return next(later)


def read_only(x):
    a = START * 2
    a.setflags(write=False)
    a[0] = x
    return np.sum(a)


def in_a_deque_and_locals(x):
    a = START * 2
    queue, scope = collections.deque([a]), locals()
    a[0] = x
    return np.sum(queue[0]) + len(scope)


def in_a_tuple_beside_locals_in_a_list(x):
    a = START * 2
    both, scopes = (a,), [sys._getframe().f_locals]
    a += x
    return np.sum(both[0]) + len(scopes)


class Stack(list):
    pass


def in_a_derived_list(x):
    a = MATRIX[MATRIX > 2]
    stack = Stack([a])
    a *= x
    return np.sum(stack[0])


class Ignores(Rows):
    def __setitem__(self, key, value):
        pass  # `+=` has written it


class Keeps(Rows):
    def __setitem__(self, key, value):
        self.kept["last"] = value


def items_that_are_views(x):
    rows = Ignores(START * 2)
    rows[1:] += x
    return np.sum(rows.data**2)


def items_that_are_views_of_a_local(x):
    a = START * 2
    rows = Ignores(a)
    rows[1:] *= x
    return np.sum(a**2)


def items_that_are_kept_elsewhere(x):
    rows = Keeps(START * 2)
    rows[:2] -= x
    return np.sum(rows.data**2)


def items_of_masked_arrays(x):
    a = np.ma.masked_array(START * 2)
    a[1:] *= x
    return a.sum()


OTHERS = [
    a_global, a_global_by_a_name, a_default, a_view, of_a_view, a_row, in_a_tuple, in_a_deque,
    weakly, weakly_behind, in_memory, in_an_iterator, in_a_generator, read_only,
    in_a_derived_list, in_a_deque_and_locals, in_a_tuple_beside_locals_in_a_list,
    items_that_are_views, items_that_are_views_of_a_local, items_that_are_kept_elsewhere,
    items_of_masked_arrays,
]  # fmt: skip


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_others_refuse_what_is_traced(f):
    kept = SHARED.copy()
    with pytest.raises((pb.PullbackError, ValueError)):
        pb.grad(f)(1.3)
    np.testing.assert_array_equal(SHARED, kept)


class Table(dict):
    pass


@pytest.mark.parametrize(
    "keep",
    [
        lambda a: collections.OrderedDict(k=a)["k"],
        lambda a: collections.defaultdict(list, k=a)["k"],
        lambda a: Table(k=a)["k"],
        lambda a: functools.partial(np.sum, a).args[0],
        lambda a: functools.partial(np.sum, axis=None, out=a).keywords["out"],
    ],
)
def test_containers_keep_the_arrays_that_they_are_given(keep):
    def f(x):
        a = np.zeros(3)
        b = keep(a)
        a[0] = x
        return np.sum(b) * 2

    assert pb.grad(f)(1.3) == 2.0


def test_who_reads_variables_meanwhile_changes_nothing():
    def watch(frame, event, arg):
        len(frame.f_locals)  # before Python 3.13 a copy, which holds them as well
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        for f in OTHERS:
            with pytest.raises((pb.PullbackError, ValueError)):
                pb.grad(f)(1.3)
        assert sys.gettrace() is watch
    finally:
        sys.settrace(before)


def test_what_is_written_to_locals_stays():
    def f(x):
        a, k = START * 2, 1.0
        scope = locals()
        scope["k"] = 7.0  # which reading the variables anew would undo, where they are copied
        a[0] = x
        return np.sum(a) + scope["k"] + k

    try:
        assert pb.jvp(f, (1.3,), (1.0,))[0] == f(1.3)
    except pb.ConversionError:
        assert sys.version_info < (3, 13)


def test_arrays_of_callers_stay_theirs():
    mine = START * 2

    def into_argument(x, a):
        a += x
        return np.sum(a)

    def into_closure(x):
        mine[0] = x
        return np.sum(mine)

    for call in (lambda: pb.grad(into_argument)(1.3, mine), lambda: pb.grad(into_closure)(1.3)):
        with pytest.raises(pb.PullbackError):
            call()
    assert type(mine) is np.ndarray
    np.testing.assert_array_equal(mine, START * 2)


class Counter:
    """Keeps an array of its own from call to call."""

    def __init__(self):
        self.state = START * 2

    def step(self, x):
        self.state[0] = self.state[0] * 0.5 + x
        self.state *= x
        return np.sum(self.state**2)


@pytest.mark.parametrize("transform", [lambda f: pb.value_and_grad(f), pb.compile])
def test_what_an_object_keeps_is_plain_again_afterwards(transform):
    traced, plain = Counter(), Counter()
    call = transform(traced.step)
    for x in (1.3, 0.7, 1.1, 0.9):
        out = call(x)
        value = out[0] if isinstance(out, tuple) else out
        np.testing.assert_allclose(value, plain.step(x))
        assert type(traced.state) is np.ndarray
        np.testing.assert_allclose(traced.state, plain.state)
    np.testing.assert_allclose(traced.step(2.0), plain.step(2.0))


def test_nothing_is_kept_alive():
    alive = []

    def f(x):
        a = START * 2
        a[0] = x
        alive.append(weakref.ref(a))
        return np.sum(a)

    pb.grad(f)(1.3)
    gc.collect()
    assert alive[0]() is None

"""Rebinding: programs that know nothing of pullback, and what it leaves as it was.

The programs are in `tests/core/reach/programs`.
"""

import builtins
import gc
import importlib
import inspect
import math
import operator
import pickle
import subprocess
import sys
import threading
import traceback
import types
import warnings
import weakref

import numpy as np
import pytest

import pullback as pb
from pullback.core.reach import bytecode, call_tables, exchange, namespaces
from pullback.core.tree import flatten
from pullback.transforms.record import record
from tests.core.reach.programs import decorated, entangled, helpers, indirect, objects, plain, state

X = np.array([0.7, 0.4, -0.3])
PROGRAMS = [*plain.PROGRAMS, *decorated.PROGRAMS]


def total(program):
    return lambda x: np.sum(program(x))


def derivative(f, x, v, h=1e-6):
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


def snapshot(module):
    return {name: x for name, x in vars(module).items() if not name.startswith("__")}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
class TestPrograms:
    """As they stand, in every mode."""

    def test_value_and_derivatives(self, program):
        v = np.array([0.3, -0.8, 0.5])
        value, gradient = pb.value_and_grad(total(program))(X)
        np.testing.assert_allclose(value, np.sum(program(X)), rtol=1e-14)
        expected = derivative(total(program), X, v)
        np.testing.assert_allclose(gradient @ v, expected, rtol=1e-7, atol=1e-7)
        out, out_dot = pb.jvp(program, (X,), (v,))
        np.testing.assert_allclose(out, program(X), rtol=1e-14)
        size = np.abs(gradient) @ np.abs(v)  # of what is added up, and may cancel
        np.testing.assert_allclose(np.sum(out_dot), gradient @ v, rtol=1e-12, atol=1e-15 * size)
        _, pushforward = pb.linearize(program, X)
        np.testing.assert_allclose(pushforward(v), out_dot, rtol=1e-12)
        _, pullback = pb.vjp(pb.checkpoint(program), X)
        np.testing.assert_allclose(pullback(np.ones_like(out))[0], gradient, rtol=1e-12)

    def test_second_order(self, program):
        v = np.array([0.3, -0.8, 0.5])
        gradient = pb.grad(total(program))
        expected = derivative(gradient, X, v)
        actual = pb.hvp(total(program))(X, v)
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(pb.hessian(total(program))(X) @ v, actual, rtol=1e-9, atol=1e-12)

    def test_batch(self, program):
        if program.__name__ in ("by_element", "vectorized", "integers"):
            pytest.skip("it asks for the truth or the integer part of a value")
        xs = np.stack([X, X + 0.05])
        np.testing.assert_allclose(
            pb.vmap(program)(xs), np.stack([program(x) for x in xs]), rtol=1e-13
        )

    def test_without_rebinding_it_raises_or_is_right(self, program):
        try:
            with pb.rebinding(False):
                gradient = pb.grad(total(program))(X)
        except (pb.PullbackError, ValueError, TypeError):
            return
        np.testing.assert_allclose(gradient, pb.grad(total(program))(X), rtol=1e-12)


class TestNothingElseNotices:
    """NumPy, the modules, their functions and closures are as they were."""

    def test_modules(self):
        modules = [decorated, helpers, plain, np, math, np.linalg]
        decorated.count = helpers.calls = 0
        before = [snapshot(module) for module in modules]
        for program in PROGRAMS:
            pb.grad(total(program))(X)
        decorated.count = helpers.calls = 0
        for module, old in zip(modules, before, strict=True):
            now = snapshot(module)
            assert now.keys() - {"fft", "ma"} == old.keys() - {"fft", "ma"}
            for name, x in old.items():
                assert now[name] is x or isinstance(x, int), name
        assert builtins.__import__("numpy") is np

    def test_functions_and_cells(self):
        functions = [decorated.smooth, decorated.rotated, plain.defaults]
        parts = ("__globals__", "__closure__", "__defaults__", "__kwdefaults__", "__code__")
        before = [
            [getattr(f, part) for part in parts] + [c.cell_contents for c in f.__closure__ or ()]
            for f in functions
        ]
        for program in PROGRAMS:
            pb.grad(total(program))(X)
        for f, old in zip(functions, before, strict=True):
            now = [getattr(f, part) for part in parts]
            now += [c.cell_contents for c in f.__closure__ or ()]
            assert all(a is b for a, b in zip(now, old, strict=True))

    def test_the_caches_of_lru_cache_get_no_arrays(self):
        decorated.nodes.cache_clear()
        pb.grad(total(decorated.caches))(X)
        assert type(decorated.nodes(3)) is np.ndarray
        decorated.fibonacci.cache_clear()

    def test_recursion_through_a_cache_is_linear(self):
        """Of numbers, the results are kept for good, as without a transformation."""
        decorated.fibonacci.cache_clear()
        decorated.count = 0
        pb.grad(total(decorated.caches))(X)
        assert decorated.count == 26
        pb.grad(total(decorated.caches))(X)
        assert decorated.count == 26

    def test_a_cache_keeps_nothing_of_a_trace(self):
        weight = [None]

        @functools_cache
        def scaled(n):
            return weight[0] * n

        def f(x):
            weight[0] = x * 1.0
            inner = pb.grad(lambda y: (weight.__setitem__(0, y), scaled(3))[1])(2.0)
            weight[0] = x
            return scaled(3) + inner

        assert pb.grad(f)(1.0) == 3.0
        assert scaled.cache_info().currsize == 0

    def test_threads_that_run_the_same_function_plainly(self):
        """They compute with NumPy, see one `np`, and find plain arrays."""
        stop, wrong = threading.Event(), []
        expected = plain.filled(X)

        def watch():
            while not stop.is_set():
                out = plain.filled(X)
                if type(out) is not np.ndarray or not np.array_equal(out, expected):
                    wrong.append(out)
                if type(decorated.smooth(X)) is not np.ndarray or plain.np is not np:
                    wrong.append("smooth")

        def differentiate():
            for _ in range(100):
                gradient = pb.grad(total(plain.filled))(X)
                if not np.allclose(gradient, 2 * X):
                    wrong.append(gradient)
                pb.grad(total(decorated.closures))(X)

        threads = [threading.Thread(target=watch)]
        threads += [threading.Thread(target=differentiate) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads[1:]:
            thread.join()
        stop.set()
        threads[0].join()
        assert not wrong

    def test_a_thread_begun_inside_runs_plainly(self):
        seen = []

        def f(x):
            thread = threading.Thread(target=lambda: seen.append(plain.filled(X)))
            thread.start()
            thread.join()
            return np.sum(x)

        pb.grad(f)(X)
        np.testing.assert_array_equal(np.asarray(seen[0]), plain.filled(X))

    def test_no_cycles_and_nothing_held(self):
        """What a session made is freed without the garbage collector."""

        class Data:
            pass

        gc.collect()
        gc.disable()
        try:
            program = types.ModuleType("program")
            exec("import numpy as np\ndef helper(x): return np.array([x, 1.0])", vars(program))
            exec("def f(x): return np.sum(helper(x)) if data else again(x)", vars(program))
            exec("def again(x): return f(x)", vars(program))
            program.data = data = Data()
            assert pb.grad(program.f)(2.0) == 1.0
            assert not exchange.OPEN
            assert not exchange.SWITCHED
            assert not exchange.MADE
            assert not exchange.REACHED
            gone = weakref.ref(data)
            del data, program.data
            assert gone() is None
        finally:
            gc.enable()

    def test_inner_transformations_leave_nothing_behind(self):
        """A loop of them inside a long one holds what the last one made."""

        class Data:
            pass

        alive = weakref.WeakSet()

        def solve(residual, t):
            return pb.jacobian(residual)(t) + pb.grad(residual)(t)

        def f(x):
            total = 0.0
            for k in range(50):
                data = Data()
                alive.add(data)

                def residual(t, data=data, k=k):
                    return np.array([t, k if data else t])[0] * x

                table = [residual, decorated.pair]
                total = total + solve(lambda t, table=table: table[0](t), 2.0)
                del residual, table
            assert len(alive) <= 2
            return total

        gc.disable()
        try:
            assert pb.grad(f)(1.0) == 100.0
        finally:
            gc.enable()

    def test_lines_names_and_signatures(self):
        """Tracebacks and `record` show the user's lines, the transformation its function."""
        with pytest.raises(ValueError, match="as it should") as caught:
            pb.grad(state.fails)(X)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (last.name, last.line) == ("fails", 'raise ValueError("as it should")')
        assert last.filename == state.__file__

        entries = record(plain.matrix)(X).entries
        assert {entry.line[0] for entry in entries} == {plain.__file__}
        gradient = pb.grad(decorated.rotated)
        assert gradient.fun is decorated.rotated
        assert gradient.__wrapped__ is decorated.rotated
        assert gradient.__doc__ == decorated.rotated.__doc__

        def inside(x):
            assert plain.helper.__name__ == "helper"
            assert list(inspect.signature(plain.helper).parameters) == ["t", "power"]
            assert plain.helper.__module__ == plain.__name__
            assert plain.__name__.endswith("plain")
            assert isinstance(plain, types.ModuleType)
            assert "helper" in dir(plain)
            assert decorated.rotated.__wrapped__ is not None
            return np.sum(x)

        pb.grad(inside)(X)

    def test_pickling_of_functions_that_were_differentiated(self):
        pb.grad(total(plain.calls_helper))(X)
        assert pickle.loads(pickle.dumps(plain.helper)) is plain.helper


class TestIdentity:
    """Inside, a function is one object, by whatever way it is reached."""

    def test_by_name_argument_closure_and_table(self):
        def f(x, given, *, named):
            assert given is decorated.pair is helpers.pair is named
            return np.sum(given(x[0], x[1]))

        assert pb.grad(f)(X, decorated.pair, named=helpers.pair)[0] == helpers.scale

    def test_functions_among_the_arguments(self):
        f = lambda x, outer, inner: np.sum(plain.takes_functions(x, outer, inner=inner))
        np.testing.assert_allclose(
            pb.grad(f)(X, np.array, math.sin), [np.cos(X[0]), 1.0, 0.0], rtol=1e-14
        )
        np.testing.assert_allclose(
            pb.jacobian(f)(X, np.array, math.sin), [np.cos(X[0]), 1.0, 0.0], rtol=1e-14
        )

    def test_what_is_not_concerned_is_itself(self):
        """Whatever is called is called itself, save what NumPy and `math` do not hand on."""
        things = (plain.unconcerned, np.float32, objects.Model, len, operator.neg, pb.grad, set)

        def f(x):
            for thing in things:
                assert call_tables.CALLS[thing] is thing or thing is np.float32
            assert np.array is numpy_array
            assert math.sin is sine
            assert np is numpy_itself
            return np.sum(np.array([x[0], math.sin(x[1])]))

        numpy_itself, numpy_array, sine = np, np.array, math.sin
        np.testing.assert_allclose(pb.grad(f)(X), [1.0, math.cos(X[1]), 0.0])

    def test_type_and_float_are_python_s(self):
        def f(x):
            assert float is float
            assert type(x) is float  # as it was given
            assert type(np.sin(x)) is np.float64
            assert isinstance(float(x), float)
            return float(x) ** 2 + abs(complex(x, 1.0)) ** 2

        assert pb.grad(f)(3.0) == pytest.approx(12.0)


class TestKindsOfFunctions:
    def test_generators(self):
        def numbers(x):
            yield np.array([x, x])

        code = numbers.__code__
        assert inspect.isgeneratorfunction(numbers)
        assert pb.grad(lambda x: sum(np.sum(y) for y in numbers(x)))(3.0) == 2.0
        assert numbers.__code__ is code
        assert [y.tolist() for y in numbers(1.0)] == [[1.0, 1.0]]

    def test_random_numbers_after_a_recording(self):
        """Whatever was first to look at the modules that are there."""
        code = """
import numpy as np, pullback as pb
pb.compile(lambda x: np.sin(x), wait=True)(1.0)
rng = np.random.default_rng(3)
def f(x):
    noise = rng.normal(size=3)
    noise[0] = x[0]
    return np.sum(noise * x)
print(pb.grad(f)(np.ones(3))[0])
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.split() == ["2.0"], done.stderr

    def test_callable_objects_and_bound_methods(self):
        model = decorated.Model(2.0)
        np.testing.assert_allclose(pb.grad(model.loss)(X), 4 * X * [1, 0, 1])
        np.testing.assert_allclose(
            pb.jacobian(model)(X), [[2.0, 0.0, 0.0], [0.0, 2 * np.cos(X[1]), 0.0]], rtol=1e-14
        )
        np.testing.assert_allclose(pb.jacobian(model.of_class)(X), np.eye(2, 3))

    def test_partials_of_the_program(self):
        import functools

        f = functools.partial(plain.helper, power=3.0)
        np.testing.assert_allclose(pb.jacobian(f)(2.0), [12.0, 4.0 / 5.0], rtol=1e-14)

    def test_numpy_functions_themselves(self):
        assert pb.grad(math.sin)(0.0) == pb.jacobian(math.sin)(0.0) == 1.0
        np.testing.assert_array_equal(pb.jacobian(np.array)([1.0, 2.0])[0], [1.0, 0.0])

    def test_nested_transformations(self):
        def f(x):
            def g(y):
                return np.sum(np.array([y * x[0], math.sin(y)]))

            rows = pb.vmap(lambda t: np.array([t, x[1]]))(np.ones(2) * x[2])
            return pb.grad(g)(x[1]) + pb.jvp(g, (x[0],), (x[2],))[1] + np.sum(rows)

        expected = derivative(f, X, np.array([1.0, 0.0, 0.0]))
        np.testing.assert_allclose(pb.grad(f)(X)[0], expected, rtol=1e-7)

    def test_rules(self):
        """At second order rules compute with Arrays, and are rebound as the function is."""

        @pb.custom_vjp
        def swapped(x):
            return np.array([x[1], x[0]])

        swapped.defvjp(
            lambda x: (np.array([x[1], x[0]]), np.zeros(3)),
            lambda kept, bar: (np.array([bar[1], bar[0], 0.0]) + kept,),
        )

        @pb.custom_jvp
        def doubled(x):
            return np.array([x[0], x[0]])

        @doubled.defjvp
        def rule(primals, tangents):
            (x,), (x_dot,) = primals, tangents
            return np.array([x[0], x[0]]), np.array([x_dot[0], x_dot[0]])

        @pb.primitive
        def first(x):
            return np.array([x[0], 0.0])

        first.defvjp(lambda bar, residual, wanted: (np.array([bar[0], 0.0, 0.0]),), reads="")
        plainly = {
            swapped: lambda x: np.stack([x[1], x[0]]),
            doubled: lambda x: np.stack([x[0], x[0]]),
            first: lambda x: np.stack([x[0], 0.0 * x[0]]),
        }
        for f, g in plainly.items():
            np.testing.assert_array_equal(f(X), g(X))
            for order in (lambda h: pb.hessian(h)(X), lambda h: pb.grad(h)(X)):
                actual = order(lambda x, f=f: np.sum(f(x) ** 2))
                np.testing.assert_array_equal(actual, order(lambda x, g=g: np.sum(g(x) ** 2)))

    def test_results_are_plain(self):
        """Also those that the function makes of nothing but constants."""

        def f(x):
            return {"a": np.zeros(2), "b": 2 * x, "c": [np.arange(2), 1, "name"]}

        twice = np.stack([X, X])
        results = [
            pb.vjp(f, X)[0],
            pb.jvp(f, (X,), (X,)),
            pb.linearize(f, X)[0],
            pb.checkpoint(f)(X),
            pb.grad(lambda x: (np.sum(x), f(x)), has_aux=True)(X),
            pb.vmap(lambda x: [f(x)["a"], f(x)["b"]])(twice),
            pb.jacobian(lambda x: [f(x)["a"], f(x)["b"]])(X),
        ]
        kinds = {type(x) for x in flatten(results)[0]}
        assert kinds <= {np.ndarray, int, str, np.int64, np.float64}
        assert type(pb.checkpoint(f)(pb.array(X))["b"]) is pb.Array

    def test_a_local_function_that_is_rebound_between_two_calls(self):
        """The cell of a running frame is looked at each time."""

        def f(x):
            act = decorated.OPERATIONS["sin"]
            g = pb.grad(lambda t: act(t))
            first = g(x)
            act = decorated.model.__class__(2.0).loss
            second = pb.grad(lambda t: act(np.array([t, t, t])))(x)
            act = math.cos
            return first + 10 * g(x) + 100 * second

        x = 0.3
        assert pb.value_and_grad(f)(x)[0] == pytest.approx(
            math.cos(x) - 10 * math.sin(x) + 100 * 8 * x
        )

    def test_closures_that_share_a_cell(self):
        def f(x):
            first = decorated.use(x)
            decorated.flip()
            return first * decorated.use(x)

        before = decorated.use(0.3)
        assert before == math.sin(0.3)
        try:
            value = pb.value_and_grad(f)(0.3)[0]
        except pb.ConversionError:
            pass
        else:
            assert value == pytest.approx(math.sin(0.3) * math.cos(0.3))
        if decorated.use(0.3) != before:
            decorated.flip()

    def test_nonlocal_counters_are_shared(self):
        before = decorated.counts()
        pb.grad(total(decorated.counting))(X)
        assert decorated.counts() == before + 1
        calls = decorated.rotated.calls
        pb.grad(total(decorated.rotated))(X)
        assert decorated.rotated.calls > calls

    def test_math_on_mapped_values(self):
        """One answer for all of them, or none."""

        def f(x):
            try:
                return math.log(x)
            except ValueError:
                return x**3

        x = np.array([1.0, 2.0])
        np.testing.assert_array_equal(pb.vmap(pb.grad(f))(x), 1 / x)
        with pytest.raises(pb.ConversionError, match=r"`math.log` was asked of mapped values"):
            pb.vmap(f)(-x)

    def test_random_numbers(self):
        rng = np.random.default_rng(3)
        expected = np.random.default_rng(3).normal(size=3)

        def f(x):
            noise = rng.normal(size=3)
            noise[0] = x[0]
            return np.sum(noise * x)

        np.testing.assert_allclose(pb.grad(f)(X), [2 * X[0], *expected[1:]])

    def test_a_function_of_the_standard_library(self):
        """Its own globals stay; what its closure holds is rebound."""
        np.testing.assert_allclose(pb.grad(total(decorated.managed))(X), 8 * X * [1, 1, 0])


class TestState:
    """What rebound code stores is written back, exceptions included."""

    def setup_method(self):
        importlib.reload(state)

    def test_a_counter(self):
        gradient = pb.grad(total(state.counts))(X)
        assert state.calls == 11
        np.testing.assert_array_equal(gradient, [1.0, 11.0, 0.0])
        pb.hessian(total(state.counts))(X)
        assert state.calls == 22

    def test_after_an_exception(self):
        with pytest.raises(ValueError, match="as it should"):
            pb.grad(state.fails)(X)
        assert (state.calls, state.last) == (1, "failed")

    def test_what_is_created_is_plain_and_what_is_a_twin_is_the_function(self):
        pb.grad(total(state.creates))(X)
        assert type(state.table) is np.ndarray
        assert state.last is state.double
        assert state.double.__globals__ is vars(state)

    def test_a_module_that_is_imported_late(self):
        np.testing.assert_array_equal(pb.grad(total(state.late_import))(X), [1.0, 1.0, 0.0])
        assert state.numeric is np

    def test_a_function_that_is_defined_globally(self):
        pb.grad(total(state.defines))(X)
        assert state.made.__globals__ is vars(state)
        state.calls = 7
        np.testing.assert_array_equal(state.made(1.0), [1.0, 7.0])

    def test_del(self):
        pb.grad(total(state.deletes))(X)
        assert not hasattr(state, "temporary")

    def test_globals_and_exec(self):
        np.testing.assert_array_equal(pb.grad(total(state.dynamic))(X), [5.0, 5.0, 5.0])
        assert state.dynamic_value == 5.0
        assert type(state.exec_value) is np.ndarray
        assert vars(state)["__builtins__"]["__import__"] is builtins.__import__

    def test_containers_and_attributes_are_the_same_objects(self):
        pb.grad(total(state.remembers))(X)
        assert state.registry == ["called"]
        assert state.remembers.calls == 1

    def test_nested_transformations_see_one_copy(self):
        def f(x):
            pb.grad(total(state.counts))(x)
            state.calls += 100
            pb.grad(total(state.counts))(x)
            return np.sum(x) * state.calls

        np.testing.assert_array_equal(pb.grad(f)(X), [122.0] * 3)
        assert state.calls == 122

    def test_attributes_of_modules(self):
        def f(x):
            helpers.scale = np.full(2, 3.0)
            helpers.scale[1] = x[0]
            helpers.extra = helpers.pair
            return np.sum(helpers.pair(x[0], x[1]))

        try:
            np.testing.assert_allclose(pb.grad(f)(X), [3.0 + X[1], X[0], 0.0])
            assert helpers.extra is helpers.pair
        finally:
            helpers.scale = 2.0
            del helpers.extra

    def test_stores_into_tables(self):
        def f(x):
            decorated.OPERATIONS["new"] = decorated.pair
            decorated.PIPELINE.append(math.cos)
            return np.sum(decorated.OPERATIONS["new"](x[0], x[1]))

        operations, pipeline = dict(decorated.OPERATIONS), list(decorated.PIPELINE)
        try:
            assert pb.grad(f)(X)[0] == 2.0
            assert {**operations, "new": helpers.pair} == decorated.OPERATIONS
            assert [*pipeline, math.cos] == decorated.PIPELINE
        finally:
            del decorated.OPERATIONS["new"], decorated.PIPELINE[-1]

    def test_a_module_where_methods_and_functions_share_a_global(self):
        entangled.level = 1.0
        np.testing.assert_array_equal(pb.grad(entangled.regulated)(X), [4.0, 4.0, 4.0])
        assert entangled.level == 2.0
        assert pb.grad(entangled.created)(X)[0] == 2.0
        entangled.level = 1.0

    def test_a_method_that_calls_a_function_that_stores_a_global(self):
        indirect.level = 1.0
        np.testing.assert_array_equal(pb.grad(indirect.regulated)(X), [4.0, 4.0, 4.0])
        assert indirect.level == 2.0

    def test_functions_that_outlive_the_transformation_are_plain(self):
        pb.grad(state.escapes)(X)
        state.level = 5.0
        for kept in state.kept[-2:]:
            assert bytecode.original(kept.__code__) is kept.__code__
            np.testing.assert_array_equal(kept(X), 5.0 * X[:2])
            assert type(kept(X)) is np.ndarray
        np.testing.assert_array_equal(pb.grad(total(state.kept[0]))(X), [5.0, 5.0, 0.0])

    def test_warnings_are_shown_once(self):
        def f(x):
            warnings.warn("once", stacklevel=1)
            return np.sum(x)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for _ in range(3):
                pb.grad(f)(X)
        assert len(caught) == 1


class TestClasses:
    """Methods take part as functions do; classes stay as they are."""

    def test_methods_properties_and_operators(self):
        before = dict(vars(objects.Model)), dict(vars(objects.Base))
        codes = objects.Model.features.__code__, objects.Base.wave.fget.__code__
        v = np.array([0.2, 0.5, -1.0])
        value, gradient = pb.value_and_grad(total(objects.uses))(X)
        np.testing.assert_allclose(value, objects.uses(X).sum())
        np.testing.assert_allclose(gradient @ v, derivative(total(objects.uses), X, v), rtol=1e-7)
        assert pb.grad(lambda p: objects.Base(p).wave)(2.0) == pytest.approx(math.cos(2.0))
        assert (dict(vars(objects.Model)), dict(vars(objects.Base))) == before
        assert (objects.Model.features.__code__, objects.Base.wave.fget.__code__) == codes
        assert type(objects.Model(2.0).features(X)) is np.ndarray

    def test_a_plain_array_that_is_written_into(self):
        """One that others can see is refused; what the function made itself takes the Array."""

        def written(x, data):
            data[0] = x
            return data.sum()

        with pytest.raises(pb.ConversionError, match="into a plain array") as caught:
            pb.grad(written)(1.0, X.copy())
        text = str(caught.value)
        assert "write `a = np.array(a)`" in text
        assert "instrument" not in text
        assert pb.grad(lambda x, data: written(x, data * 1.0))(1.0, X) == 1.0

    def test_instrument_is_not_needed(self):
        assert pb.instrument(objects) is objects
        assert pb.uninstrument(objects.Model) is objects.Model

    def test_with_another_thread_it_is_plain(self):
        def pair(x):
            return np.array([x, 1.0])

        kinds = []

        def f(x):
            thread = threading.Thread(target=lambda: kinds.append(type(pair(2.0))))
            thread.start()
            thread.join()
            return np.sum(pair(x))

        assert pb.grad(f)(3.0) == 1.0
        assert kinds == [np.ndarray]

    def test_a_class_that_is_refused(self):
        with pytest.raises(pb.ArgumentTypeError, match="by themselves"):
            pb.instrument(objects.Model(1.0))


class TestSwitch:
    def test_as_a_context(self):
        with pb.rebinding(False):
            with pytest.raises((pb.ConversionError, ValueError)):
                pb.grad(total(plain.filled))(X)
            with pb.rebinding(True):
                assert pb.grad(total(plain.filled))(X)[0] == 2 * X[0]
            with pytest.raises(pb.ConversionError):
                pb.grad(total(plain.scalars))(X)
        assert pb.grad(total(plain.filled))(X)[0] == 2 * X[0]

    def test_as_a_decorator(self):
        @pb.rebinding(False)
        def kept(x):
            return np.array([x, 1.0])

        assert kept.__name__ == "kept"
        for f in (kept, lambda x: np.sum(kept(x))):
            with pytest.raises(pb.ConversionError):
                pb.grad(f)(1.0)
        np.testing.assert_array_equal(kept(1.0), [1.0, 1.0])

    def test_of_a_method(self):
        class Model:
            @pb.rebinding(False)
            def loss(self, x):
                return np.sum(x), type(self)

        assert Model().loss(X)[1] is Model

    def test_for_the_process(self):
        script = (
            "import math, pullback as pb\n"
            "try: print(pb.grad(lambda x: math.sin(x))(0.0))\n"
            "except pb.ConversionError: print('off')"
        )
        for value, expected in (("0", "off"), ("1", "1.0")):
            out = subprocess.check_output(
                [sys.executable, "-c", script],
                text=True,
                env={"PYTHONPATH": ":".join(sys.path), "PULLBACK_REBINDING": value},
            )
            assert out.strip() == expected

    def test_inside_a_transformation(self):
        def f(x):
            with pb.rebinding(False), pytest.raises(pb.ConversionError):
                pb.grad(decorated.Model(1.0).loss)(x)
            return np.sum(np.array([x[0], x[1]]))

        np.testing.assert_array_equal(pb.grad(f)(X), [1.0, 1.0, 0.0])


class TestLibraries:
    """Installed packages take part as the user's modules do."""

    def package(self, tmp_path, monkeypatch):
        folder = tmp_path / "site-packages" / "installed_programs"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "inner.py").write_text("import math\ndef wave(x):\n    return math.sin(x)\n")
        (folder / "outer.py").write_text(
            "import math\nfrom .inner import wave\n\n"
            "def twice(x):\n    return wave(x) * math.exp(x)\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
        return importlib.import_module("installed_programs.outer")

    def test_the_package_of_the_function(self, tmp_path, monkeypatch):
        outer = self.package(tmp_path, monkeypatch)
        assert pb.grad(outer.twice)(0.0) == 1.0
        assert pb.jacobian(outer.twice)(0.0) == 1.0
        assert pb.grad(lambda x: outer.twice(x))(0.0) == 1.0
        assert pb.grad(lambda x: twice(x), argnums=0)(0.0) == 1.0

    def test_callbacks_of_libraries(self):
        """What calls back a function of the program calls its twin."""
        optimize = pytest.importorskip("scipy.optimize")

        def f(x):
            root = optimize.brentq(lambda t: float(np.array([t, 1.0])[0]) - 0.5, 0.0, 1.0)
            return np.sum(x) * root

        np.testing.assert_allclose(pb.grad(f)(X), [0.5] * 3)


def twice(x):
    return sys.modules["installed_programs.outer"].twice(x)


def functools_cache(f):
    import functools

    return functools.lru_cache(f)


def test_another_thread_imports_while_modules_are_looked_at(monkeypatch):
    """Its module is there in the middle of the loop over `sys.modules`."""

    class Name(str):
        __slots__ = ()

        def partition(self, separator):
            monkeypatch.setitem(sys.modules, "imported_meanwhile", types.ModuleType("x"))
            return str.partition(self, separator)

    monkeypatch.setitem(sys.modules, Name("seen_first"), types.ModuleType("y"))
    namespaces.scan()
    assert "imported_meanwhile" in sys.modules

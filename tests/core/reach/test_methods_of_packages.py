"""The same programs with every function a method of a class, in an installed package.

`moved` writes a package into a folder `site-packages`: of each module of `tests/programs` and
`tests/core/reach/programs` one of which all functions are methods. Nothing is declared to pullback.
"""

import ast
import functools
import importlib
import inspect
import itertools
import math
import sys
import types

import numpy as np
import pytest

import pullback as pb
from tests.core.reach.programs import decorated, plain
from tests.test_programs import MODULES, PROGRAMS, difference, direction, paired

X = np.array([0.7, 0.4, -0.3])
FIRST = {f"{m.__name__}.{f.__name__}": (f, (X,)) for m in (plain, decorated) for f in m.PROGRAMS}
NAMES = {**{name: PROGRAMS[name] for name in PROGRAMS}, **FIRST}


class Methods(ast.NodeTransformer):
    """Functions at the top of a module as methods of one class, and what names them likewise."""

    def __init__(self, names):
        self.names, self.hidden = names, []

    def visit_Name(self, node):
        if node.id not in self.names or any(node.id in names for names in self.hidden):
            return node
        home = ast.Name("PROGRAM", ast.Load())
        return ast.copy_location(ast.Attribute(home, node.id, node.ctx), node)

    def inner(self, node):
        arguments = [
            *node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs,
            *filter(None, (node.args.vararg, node.args.kwarg)),
        ]  # fmt: skip
        self.hidden.append({a.arg for a in arguments} | assigned(node))
        self.generic_visit(node)
        self.hidden.pop()
        return node

    visit_FunctionDef = visit_Lambda = inner


def assigned(node):
    """The local names of a function."""
    body = node.body if isinstance(node.body, list) else [node.body]
    work, out = list(body), set()
    while work:
        x = work.pop()
        if isinstance(x, (ast.FunctionDef, ast.ClassDef)):
            out.add(x.name)
            continue
        if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store):
            out.add(x.id)
        work += ast.iter_child_nodes(x)
    declared = [y for x in ast.walk(node) if isinstance(x, ast.Global) for y in x.names]
    return out - set(declared)


def in_a_class(source):
    """The source of a module with its functions as methods; those that are used above stay."""
    tree = ast.parse(source)
    plain_kinds = (ast.FunctionDef,)
    used = set()
    for x in tree.body:  # what runs while the module is imported calls functions
        if not isinstance(x, plain_kinds):
            used |= {y.id for y in ast.walk(x) if isinstance(y, ast.Name)}
        else:
            used |= {y.id for d in x.decorator_list for y in ast.walk(d) if isinstance(y, ast.Name)}
    listed = next((x for x in tree.body if is_list(x)), None)
    if listed is not None:
        others = [x for x in tree.body if x is not listed and not isinstance(x, plain_kinds)]
        others += [d for x in tree.body if isinstance(x, plain_kinds) for d in x.decorator_list]
        used = {y.id for x in others for y in ast.walk(x) if isinstance(y, ast.Name)}
    functions = [x for x in tree.body if isinstance(x, plain_kinds) and x.name not in used]
    names = {x.name for x in functions if not x.decorator_list}
    functions = [x for x in functions if x.name in names]
    change = Methods(names)
    body, methods = [], []
    for x in tree.body:
        if x in functions:
            change.inner(x)
            x.args.args.insert(0, ast.arg("self")) if not x.args.posonlyargs else (
                x.args.posonlyargs.insert(0, ast.arg("self"))
            )
            methods.append(x)
        elif x is not listed:
            body.append(change.visit(x))
    cls = ast.ClassDef("Program", [], [], methods or [ast.Pass()], [], type_params=[])
    made = ast.parse("PROGRAM = Program()").body
    at = max(
        [i + 1 for i, x in enumerate(body) if isinstance(x, (ast.Import, ast.ImportFrom))] or [0]
    )
    body[at:at] = [cls, *made]
    tree.body = body
    return ast.unparse(ast.fix_missing_locations(tree)), names


def is_list(x):
    return isinstance(x, ast.Assign) and getattr(x.targets[0], "id", None) == "PROGRAMS"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Module -> the moved module, and the names that are methods there."""
    home = tmp_path_factory.mktemp("installed") / "site-packages" / "moved_programs"
    home.mkdir(parents=True)
    (home / "__init__.py").write_text("")
    (home / "helpers.py").write_text(inspect.getsource(decorated.helpers))
    moved = {}
    for module in (*MODULES, plain, decorated):
        name = module.__name__.rpartition(".")[2]
        source, methods = in_a_class(inspect.getsource(module))
        (home / f"{name}.py").write_text(source)
        moved[module.__name__] = name, methods
    sys.path.insert(0, str(home.parent))
    try:
        yield {
            name: (importlib.import_module(f"moved_programs.{file}"), methods)
            for name, (file, methods) in moved.items()
        }
    finally:
        sys.path.remove(str(home.parent))
        for name in [name for name in sys.modules if name.startswith("moved_programs")]:
            del sys.modules[name]


def test_nearly_all_are_methods(package):
    """Those that are called while their module is imported stay functions, and the decorated."""
    methods = sum(len(methods) for _, methods in package.values())
    assert methods >= 200
    for module, _ in package.values():
        assert "site-packages" in module.__file__
        assert pb.core.reach.namespaces.library(vars(module)) == 1


def found(module, methods, name, args):
    """A function, or what a factory makes of one for arrays (`root_1d` of `root`)."""
    if name in methods:
        return getattr(module.PROGRAM, name)
    if hasattr(module, name):
        return getattr(module, name)
    inner = found(module, methods, name.rpartition("_")[0], args)
    return found(module, methods, "of_an_array", args)(inner, args[0].ndim)


@pytest.mark.share(2)
@pytest.mark.filterwarnings("ignore:.* into text:pullback.LostDerivativeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_derivatives(name, package):
    """A method of an object of an installed package, differentiated in each mode."""
    fun, args = NAMES[name]
    module, methods = package[fun.__module__]
    moved = found(module, methods, fun.__name__, args)
    shape = np.shape(fun(*args))
    bar = np.cos(1.0 + np.arange(math.prod(shape))).reshape(shape)[()]
    dots = tuple(direction(x, 0.4 + i) for i, x in enumerate(args))
    total = lambda *args: np.sum(bar * moved(*args))
    bars = pb.grad(total, tuple(range(len(args))))(*args)
    moved_by = lambda t: total(*[x + t * dot for x, dot in zip(args, dots, strict=True)])
    expected = difference(moved_by, 1e-3)
    value = paired(bars, dots)
    np.testing.assert_allclose(value, expected, rtol=2e-7, atol=1e-7)
    _, out_dot = pb.jvp(moved, args, dots)
    np.testing.assert_allclose(np.sum(bar * out_dot), value, rtol=1e-9, atol=1e-9)
    x_bars = pb.vjp(moved, *args)[1](bar)
    for one, other in itertools.zip_longest(x_bars, bars):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
    plainly = moved(*args)
    assert type(plainly) is type(fun(*args))
    np.testing.assert_allclose(plainly, fun(*args), rtol=1e-12)


def test_code_that_asks_can_be_hashed():
    """Debuggers and tools of coverage keep code in sets and dicts."""
    seen = []

    def f(x):
        seen.append({sys._getframe().f_code: "mine"})
        return np.sin(x) * float(x)

    pb.grad(f)(1.0)
    assert [list(found.values()) for found in seen] == [["mine"]]


class After(type):
    """A metaclass that says what a call of its classes does."""

    def __call__(cls, *args):
        made = super().__call__(*args)
        made.finish()
        return made


class Once(type):
    """One that makes a single object in each transformation."""

    def __call__(cls, made, *args):
        if cls not in made:
            made[cls] = super().__call__(*args)
        return made[cls]


class Finished(metaclass=After):
    def __init__(self, x):
        self.begun = np.sin(x)

    def finish(self):
        self.value = math.exp(self.begun)


class Single(metaclass=Once):
    def __init__(self, x):
        self.value = math.cos(x)


class Twice(functools.partial):
    def __call__(self, *args):
        return super().__call__(*args) * 2.0


def single(x):
    made = {}
    return Single(made, x).value * Single(made, 0.0).value


CALLS_OF_BASES = {
    "a metaclass": lambda x: Finished(x).value,
    "a metaclass, by name": lambda x: After.__call__(Finished, x).value,
    "type, by name": lambda x: type.__call__(Finished, x).begun,
    "the class's own way, by name": lambda x: Finished.__call__(x).value,
    "one object": single,
    "a partial": lambda x: Twice(math.sin)(x),
    "a partial of Python code": lambda x: Twice(lambda y, z: math.atan2(y, z), 0.4)(x),
    "a function": lambda x: math.sin.__call__(x) + single.__call__(x),
}


def test_a_call_that_a_base_does():
    """`super().__call__` is the base's, not once more the way of the class that asks for it."""
    for name, f in CALLS_OF_BASES.items():
        for x in (0.3, 1.1):
            value, slope = pb.value_and_grad(f)(x)
            assert value == f(x), name
            expected = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
            assert abs(slope - expected) < 1e-8, name
            compiled = pb.compile(pb.grad(f))
            assert [compiled(x) for _ in range(3)] == pytest.approx([slope] * 3, rel=1e-12), name


def test_what_a_module_does_for_missing_names():
    """Python calls `__getattr__` of a module, for names it has not and as it imports from it."""
    text = (
        "import warnings\nimport numpy as np\n\nrate = [2.0]\n\ndef scaled(x):\n"
        "    return 3.0 * x\n\ndef __getattr__(name):\n    if name == 'old':\n"
        "        warnings.warn('moved', stacklevel=2)\n    if name == 'shifts':\n"
        "        return np.array([rate[0], rate[0] ** 2])\n    raise AttributeError(name)\n"
    )
    module = types.ModuleType("package_of_names")
    exec(compile(text, "package_of_names.py", "exec"), vars(module))
    sys.modules["package_of_names"] = module
    try:

        def f(x):
            from package_of_names import scaled

            module.rate[0] = x
            return scaled(x) + np.sum(module.shifts)

        assert pb.grad(f)(1.5) == pytest.approx(3.0 + 1.0 + 3.0)

        def g(x):
            from package_of_names import scaled

            return scaled(x) ** 2

        compiled = pb.compile(pb.grad(g), wait=True)
        assert [compiled(1.5) for _ in range(4)] == pytest.approx([27.0] * 4)
        assert compiled.cache_info().hits
    finally:
        del sys.modules["package_of_names"]


def test_spectra_of_a_package_that_shows_numbers():
    mlab = pytest.importorskip("matplotlib.mlab")

    def f(x):
        power = mlab.psd(x, NFFT=16, Fs=2.0)[0]
        return np.sum(power**2) + np.sum(np.abs(mlab.csd(x, x[::-1] ** 2, NFFT=16)[0]))

    x, dot = np.cos(0.9 * np.arange(64.0)), 1e-6 * np.cos(np.arange(64.0))
    assert pb.grad(f)(x) @ dot == pytest.approx((f(x + dot) - f(x - dot)) / 2, rel=1e-7)

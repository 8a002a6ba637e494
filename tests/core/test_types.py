"""What type checkers are told of Arrays and of compiled functions, which they can't see."""

import ast
import inspect
import operator

import pullback as pb
from pullback.compiler.call import compiled
from pullback.core import array


def defined(body):
    """The functions of a body, and the names that are given to some."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            yield from ((ast.unparse(target), node) for target in node.targets)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from defined(node.body)


def test_operators_of_arrays():
    """All that are added to the class elsewhere are declared in it; `x += y` follows from `+`."""
    classes = [
        node for node in ast.parse(inspect.getsource(array)).body if isinstance(node, ast.ClassDef)
    ]
    (body,) = [node.body for node in classes if node.name == "Array"]
    of_array = {
        name for name in vars(pb.Array) if name[:2] == "__" and callable(vars(operator).get(name))
    }
    in_place = {name for name in of_array if f"__{name[3:]}" in of_array and name[2] == "i"}
    plain = of_array - in_place - {"__contains__", "__call__", "__delitem__"}
    assert len(plain) > 20
    assert plain - {name for name, _ in defined(body)} == set()


def test_declared_forms_of_compile():
    """Both, of a function and of a decorator with options, take what `compile` itself takes."""
    body = ast.parse(inspect.getsource(compiled)).body
    forms = [node.args for name, node in defined(body) if name == "compile"]
    assert len(forms) == 3
    keywords = {ast.unparse(ast.arguments([], [], None, *parts(args))) for args in forms}
    assert len(keywords) == 1


def parts(args):
    return args.kwonlyargs, args.kw_defaults, None, []

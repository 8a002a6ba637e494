"""The command line: `pullback explain` and `pullback doctor`, on a function of a file.

pullback explain model.py:loss --at x=1.5 y=[1,2,3]
pullback doctor model.py:loss --at x=1.5 y=[1,2,3] --static steps=10
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import __version__
from .core.errors import PullbackError
from .explain import Explanation, explain
from .explain.doctor import doctor

__all__ = ["main"]

TARGET = "FILE.py:function"


class Unusable(Exception):
    """What the command line asks for is not there, or makes no sense."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status: 0, 1 if something is wrong, 2 for a wrong command."""
    options = parser().parse_args(argv)
    try:
        function = load(options.function)
        at, static = arguments(options.at, True), arguments(options.static, False)
        for name in at.keys() & static.keys():
            raise Unusable(f"`{name}` was given twice, with --at and with --static; leave one out.")
        kwargs = at | static
        args = bound(function, options.function, kwargs)
        return int(options.run(function, args, options))
    except Unusable as error:
        print(f"pullback {options.command}: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="pullback", description="Watch and check the derivatives of a NumPy function."
    )
    top.add_argument("--version", action="version", version=f"pullback {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    for name, run, text in (
        ("explain", run_explain, "show a call and its derivatives, operation by operation"),
        ("doctor", run_doctor, "check a gradient against finite differences, and find the culprit"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        command.add_argument("function", metavar=TARGET)
        command.add_argument(
            "--at", nargs="+", default=[], metavar="NAME=VALUE",
            help="arguments that are differentiated: numbers and lists, which become float64",
        )  # fmt: skip
        command.add_argument(
            "--static", nargs="+", default=[], metavar="NAME=VALUE",
            help="arguments that are passed as they are: integers, strings, True",
        )  # fmt: skip
        if name == "explain":
            command.add_argument(
                "--out", metavar="PAGE.html",
                help="where the page goes; by default beside the file",
            )  # fmt: skip
    return top


def load(target: str) -> Callable[..., Any]:
    """The function that FILE.py:function names."""
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise Unusable(f"`{target}` does not name a function; write {TARGET}.")
    path = Path(file)
    if not path.is_file():
        raise Unusable(f"can't find the file `{file}`; write its path, `folder/{TARGET}`.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Unusable(f"`{file}` is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Unusable(f"`{file}` could not be run: {told(error)}") from error
    function: Any = module
    for part in name.split("."):
        if not hasattr(function, part):
            mine = [
                key
                for key, x in vars(module).items()
                if inspect.isfunction(x) and x.__module__ == module.__name__
            ]
            known = f"; it has {', '.join([f'`{key}`' for key in mine])}" if mine else ""
            raise Unusable(f"`{file}` has no function `{name}`{known}.")
        function = getattr(function, part)
    if not callable(function):
        raise Unusable(f"`{name}` in `{file}` is not a function, but {type(function).__name__}.")
    return function


def arguments(texts: list[str], floating: bool) -> dict[str, Any]:
    """`x=1.5 y=[1,2,3]` as a dict."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise Unusable(
                f"`{text}` is not of the form NAME=VALUE; write `x=1.5`, without spaces around `=`."
            )
        if name in found:
            raise Unusable(f"`{name}` was given twice; leave one out.")
        found[name] = parsed(name, value, floating)
    return found


def parsed(name: str, value: str, floating: bool) -> Any:
    try:
        x = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        if not floating:
            return value  # a string
        try:
            return np.float64(value)  # inf, nan
        except ValueError:
            raise Unusable(not_numbers(name, value, "a number or a list")) from None
    if not floating:
        return x
    try:
        array = np.array(x, dtype=complex if has_complex(x) else float)
    except (ValueError, TypeError):
        wanted = "a number or a list of numbers of one shape"
        raise Unusable(not_numbers(name, value, wanted)) from None
    return array[()]


def not_numbers(name: str, value: str, wanted: str) -> str:
    cure = f"other things are passed with `--static {name}={value}`"
    return f"`{value}`, given for `{name}`, is not {wanted}; {cure}."


def has_complex(x: Any) -> bool:
    return any(map(has_complex, x)) if isinstance(x, (list, tuple)) else isinstance(x, complex)


def bound(
    function: Callable[..., Any], target: str, kwargs: dict[str, Any]
) -> inspect.BoundArguments:
    """The arguments in the places of the function's parameters."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise Unusable(
            f"the parameters of `{target}` can't be found: it has no signature."
        ) from None
    kinds = {p.kind for p in signature.parameters.values()}
    unknown = [name for name in kwargs if name not in signature.parameters]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise Unusable(f"`{target}` takes {signature}, and has no argument `{unknown[0]}`.")
    positional = [
        name
        for name, p in signature.parameters.items()
        if p.kind is p.POSITIONAL_ONLY and name in kwargs
    ]
    rest = {name: x for name, x in kwargs.items() if name not in positional}
    try:
        return signature.bind(*[kwargs[name] for name in positional], **rest)
    except TypeError as error:
        raise Unusable(
            f"`{target}` takes {signature}: {error}; give each a value, as in `--at x=1.5 y=[1,2]`."
        ) from None


def run_explain(function: Any, args: inspect.BoundArguments, options: Any) -> int:
    file, _, name = options.function.rpartition(":")
    path = Path(options.out or Path(file).with_name(f"{Path(file).stem}.{name}.html"))
    if not path.parent.is_dir():
        raise Unusable(f"can't find the folder `{path.parent}` to write the page into.")
    seen: Explanation | None = attempt(
        options, lambda: explain(function)(*args.args, **args.kwargs)
    )
    if seen is None:
        return 1
    print(seen.text())
    try:
        seen.save(path)
    except OSError as error:
        raise Unusable(f"the page could not be written: {error.strerror} (`{path}`).") from error
    print(f"\nTo step through it, open {path}")
    return 0


def run_doctor(function: Any, args: inspect.BoundArguments, options: Any) -> int:
    found = attempt(options, lambda: doctor(function)(*args.args, **args.kwargs))
    if found is None:
        return 1
    print(found)
    return 0 if found.ok else 1


def attempt(options: Any, call: Callable[[], Any]) -> Any:
    """Call; a function that raises is told in a sentence."""
    try:
        return call()
    except Exception as error:
        where = "" if isinstance(error, PullbackError) else place(error)
        message = f"`{options.function}` raised {told(error)}{where}"
        if "integer" in str(error) and options.at:
            message += "; integers are passed with --static"
        print(f"pullback {options.command}: {message}", file=sys.stderr)
        return None


def told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def place(error: BaseException) -> str:
    """Where an exception came from."""
    home = str(Path(__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(home)]
    return f" ({Path(theirs[-1].filename).name}:{theirs[-1].lineno})" if theirs else ""

"""What every operation of the sample database costs, forward and backward, beside its peers.

The rows are generated: each sample of `tests/samples` that concerns NumPy, one row for each of its
floating arguments, where the derivative is not zero. A row's program adds up the results of some
calls; its gradient runs interleaved with autograd's and PyTorch's wherever these have the function,
take the same arguments, and give the same gradient. Reported are geometric means, how many rows are
above 1.0, and the worst ones.

    python benchmarks/bench_generated.py                   every row
    python benchmarks/bench_generated.py pad "sort("       rows whose names contain one of these
    python benchmarks/bench_generated.py --all --json FILE every row in the table, and the medians
    python benchmarks/bench_generated.py --rounds 31       more turns (11)
"""

from __future__ import annotations

import json
import math
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
from common import interleaved, table

import pullback as pb

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.samples import collect, served  # the repository is no package

try:
    import torch
except ImportError:  # its column stays empty
    torch = None
else:
    torch.set_num_threads(1)

TIMES = 30  # how often a program calls its function: entering a gradient is not what is asked
LARGEST = 500  # elements of an argument
WORST = 30
# Families that concern other packages, or in which a call is no single operation.
OTHERS = {
    "callables", "draws", "integration", "loops", "math", "nn", "optimization", "orders",
    "questions", "special_functions", "undispatched",
}  # fmt: skip
# NumPy's functions that PyTorch calls otherwise.
TORCH_NAMES: dict[str, Callable[..., Any]] = {}
if torch:
    TORCH_NAMES = {
        "max": lambda x, axis=None, keepdims=False: x.amax(() if axis is None else axis, keepdims),
        "min": lambda x, axis=None, keepdims=False: x.amin(() if axis is None else axis, keepdims),
        "var": lambda x, axis=None, ddof=0: torch.var(x, axis, correction=ddof),
        "std": lambda x, axis=None, ddof=0: torch.std(x, axis, correction=ddof),
        "sort": lambda x, axis=-1: torch.sort(x, axis)[0],
        "power": torch.pow,
        "transpose": lambda x, axes=None: x.T if axes is None else x.permute(axes),
        "expand_dims": torch.unsqueeze,
        "repeat": torch.repeat_interleave,
        "flip": lambda x, axis=None: torch.flip(
            x, tuple(range(x.ndim)) if axis is None else axis if type(axis) is tuple else (axis,)
        ),
        "take": lambda x, i, axis=None: torch.take(x, i) if axis is None else x[i],
        "take_along_axis": lambda x, i, axis: torch.take_along_dim(x, i, axis),
        "stack": lambda xs, axis=0: torch.stack(tuple(xs), axis),
        "cumsum": lambda x, axis=None: torch.cumsum(
            x if axis is not None else x.ravel(), axis or 0
        ),
        "cumprod": lambda x, axis=None: torch.cumprod(
            x if axis is not None else x.ravel(), axis or 0
        ),
        "tensordot": lambda x, y, axes=2: torch.tensordot(x, y, axes),
    }  # fmt: skip


def counterpart(
    x: Any, namespace: Any, convert: Callable[[Any], Any], within: tuple[Any, ...] = ()
) -> Any:
    """x with NumPy's functions and NumPy itself replaced by those of another library."""
    if x is np:
        return namespace
    if isinstance(x, served):
        return counterpart(x.serves, namespace, convert)
    if isinstance(x, types.FunctionType) and x.__module__.startswith("tests."):
        if x in within:
            raise AttributeError("calls itself")
        counter = lambda y: counterpart(y, namespace, convert, (*within, x))
        named = {name: counter(x.__globals__[name])
                 for name in x.__code__.co_names if name in x.__globals__}  # fmt: skip
        cells = [types.CellType(counter(c.cell_contents))
                 for c in x.__closure__ or ()]  # fmt: skip
        found = types.FunctionType(
            x.__code__, {**x.__globals__, **named}, x.__name__, x.__defaults__, tuple(cells)
        )
        found.__kwdefaults__ = x.__kwdefaults__
        return found
    if callable(x) and not isinstance(x, type):
        name = x.__name__
        for part in ("linalg", "fft"):
            if getattr(getattr(np, part), name, None) is x:
                return getattr(getattr(namespace, part), name)
        if getattr(np, name, None) is x:
            if namespace is torch and name in TORCH_NAMES:
                return TORCH_NAMES[name]
            return getattr(namespace, name)
        raise AttributeError(name)
    return convert(x)


def total(np: Any, out: Any) -> Any:
    """The sum of all parts of a result; of the real part, where one is complex."""
    return sum([np.sum(np.real(part) if is_complex(part) else part) for part in parts(out)])


def parts(out: Any) -> list[Any]:
    """The arrays of a result."""
    if isinstance(out, tuple | list):
        return [part for member in out for part in parts(member)]
    return [out]


def added(first: Any, second: Any) -> Any:
    if isinstance(first, tuple | list):
        return [added(x, y) for x, y in zip(first, second, strict=True)]
    return first + second


def is_complex(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return bool(getattr(dtype, "is_complex", False) or getattr(dtype, "kind", "") == "c")


def program(np: Any, fun: Any, args: Any, kwargs: Any, place: Any) -> Callable[[Any], Any]:
    """x -> the sum of some calls of `fun` at x, which stands in `args` at a place."""
    first, *rest = place

    def run(x: Any) -> Any:
        put = [*args]
        put[first] = x
        if rest:  # a member of a list of arrays
            put[first] = type(args[first])(
                [*args[first][: rest[0]], x, *args[first][rest[0] + 1 :]]
            )
        value = fun(*put, **kwargs)
        for _ in range(TIMES - 1):
            value = added(value, fun(*put, **kwargs))
        return total(np, value)

    return run


def places(args: Any) -> Iterator[tuple[int, ...]]:
    """Where floating numbers or arrays stand."""
    for i, x in enumerate(args):
        if floats(x):
            yield (i,)
        elif isinstance(x, list | tuple) and x and floats(x[0]):
            yield (i, 0)


def floats(x: Any) -> bool:
    if type(x) is np.ndarray:
        return x.dtype.kind == "f" and 0 < x.size <= LARGEST
    return type(x) in (float, np.float64)


def tensors(x: Any) -> Any:
    """Arrays as tensors, in lists and tuples as well."""
    if isinstance(x, np.ndarray):
        return torch.tensor(np.ascontiguousarray(x))
    if type(x) in (list, tuple):
        return type(x)([tensors(y) for y in x])
    return x


def runs(sample: Any, place: Any) -> dict[str, Callable[[], Any]]:
    """The gradient of a row's program by each library that has the function."""
    fun, args, kwargs = sample.fun, sample.args, sample.kwargs
    start = args[place[0]] if len(place) == 1 else args[place[0]][place[1]]
    ours = pb.grad(program(np, fun, args, kwargs, place))
    calls = {"ours": lambda: ours(start)}
    try:
        same = counterpart(fun, anp, lambda x: x)
        theirs = autograd.grad(program(anp, same, args, kwargs, place))
        calls["autograd"] = lambda: theirs(start)
    except AttributeError:
        pass
    if torch:
        try:
            tensor_args = tuple(map(tensors, args))
            settings = {key: tensors(x) for key, x in kwargs.items()}
            of_torch = program(
                torch, counterpart(fun, torch, tensors), tensor_args, settings, place
            )
        except (AttributeError, TypeError, RuntimeError):
            return calls
        dtype = getattr(torch, np.asarray(start).dtype.name)

        def with_torch() -> Any:
            x = torch.tensor(start, dtype=dtype, requires_grad=True)
            of_torch(x).backward()
            return x.grad.numpy()

        calls["torch"] = with_torch
    return calls


def agreeing(calls: dict[str, Callable[[], Any]]) -> dict[str, Callable[[], Any]]:
    """Our gradient and those that agree with it; none where ours cannot be taken."""
    kept = {}
    expected = None
    for peer, call in calls.items():
        try:
            found = np.asarray(call())
            if expected is None:
                expected = found
            same = found.shape == expected.shape and np.allclose(
                found, expected, 1e-4, 1e-6, equal_nan=True
            )
        except Exception:  # it has no rule, or does not take these arguments
            same = False
        if peer == "ours" and not (same and np.any(found)):
            return {}  # of a derivative of zero, only what is said about it would be timed
        if same:
            kept[peer] = call
    return kept


def rows(words: list[str]) -> Iterator[tuple[str, dict[str, Callable[[], Any]]]]:
    """Name and gradients of each row."""
    seen: dict[str, int] = {}
    for family, sample in collect("SAMPLES"):
        if family in OTHERS or family.startswith("scipy"):
            continue
        for place in places(sample.args):
            name = f"{family}: {sample}"[:90] + (f" by {place}" if place != (0,) else "")
            seen[name] = seen.get(name, 0) + 1
            name += f" #{seen[name]}" if seen[name] > 1 else ""
            if words and not any(word in name for word in words):
                continue
            calls = agreeing(runs(sample, place))
            if len(calls) > 1:
                yield name, calls


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def report(medians: dict[str, dict[str, float]], every: bool) -> None:
    for peer, called in (("autograd", "autograd"), ("torch", "PyTorch")):
        ratios = {name: t["ours"] / t[peer] for name, t in medians.items() if peer in t}
        if not ratios:
            continue
        worst = sorted(ratios, key=lambda name: -ratios[name])
        cells = [["us a call", "ours", called, "ratio"]]
        for name in worst if every else worst[:WORST]:
            times = medians[name]
            cells.append([name, f"{times['ours'] * 1e6:.1f}", f"{times[peer] * 1e6:.1f}",
                          f"{ratios[name]:.2f}"])  # fmt: skip
        print(table(cells))
        above = sum([ratio > 1 for ratio in ratios.values()])
        print(
            f"{len(ratios)} rows beside {called}: geometric mean"
            f" {geometric_mean([*ratios.values()]):.3f}, {above} above 1.0\n"
        )


def main(arguments: list[str]) -> None:
    every = "--all" in arguments
    arguments = [word for word in arguments if word != "--all"]
    options = {}
    for option in ("--json", "--rounds"):
        if option in arguments:
            i = arguments.index(option)
            options[option] = arguments[i + 1]
            del arguments[i : i + 2]
    warnings.simplefilter("ignore")  # NumPy's, of odd numbers
    np.seterr(all="ignore")
    medians = {}
    for name, calls in rows(arguments):
        times = interleaved(calls, int(options.get("--rounds", 11)), time.thread_time)
        medians[name] = {peer: seconds / TIMES for peer, seconds in times.items()}
    report(medians, every)
    if "--json" in options:
        Path(options["--json"]).write_text(json.dumps(medians, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])

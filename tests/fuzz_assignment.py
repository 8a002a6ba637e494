"""Random programs that assign, as text: views, in-place operators, aliases, functions that mutate.

They know nothing of pullback, and a seed makes the same again. A program grows step by step: a step
is made to fit the arrays that there are, run with plain NumPy, and kept if it neither warns nor
leaves a moderate range. What NumPy refuses is kept now and then, as a step that must be refused.
"""

from __future__ import annotations

import random
import re
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["HELPERS", "Program", "make", "shrink"]

HELPERS = """
def halve(a):
    a *= 0.5
    return a


def clear(a, i):
    a[i] = 0


def shift(a):
    a[1:] = a[:-1]


def turn(a):
    a[0], a[-1] = a[-1], a[0]


def center(a):
    for row in a:
        row -= np.mean(row)


def recur(a, b):
    for i in range(1, len(a)):
        a[i] = np.sin(a[i - 1]) + 0.5 * b


def smooth(a):
    for _ in range(2):
        a[1:-1] = 0.5 * a[1:-1] + 0.25 * (a[:-2] + a[2:])


def rows(a):
    for i in range(len(a)):
        row = a[i]
        row += np.cos(row) * 0.3
        row[...] *= 0.9


def both(a, b):
    c = a
    c += 0.1
    b[...] = np.tanh(a.sum()) + b * 0.5


def outer(a, f):
    view = a[::-1]
    f(view)
    return view


def tame(a):
    np.tanh(a, out=a)


def eliminate(a):
    for i in range(len(a) - 1):
        a[i + 1 :] -= 0.1 * a[i + 1 :] * a[i]


def cumulate(a):
    for i in range(1, len(a)):
        a[i] += 0.5 * a[i - 1]
"""
ONE_ARGUMENT = ("shift", "turn", "smooth", "rows", "tame", "eliminate", "cumulate", "halve")
CAUGHT = "(IndexError, TypeError, ValueError)"


@dataclass(frozen=True)
class Program:
    """Steps on inputs. What it computes are all its arrays, by name."""

    seed: int
    inputs: dict[str, np.ndarray]
    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        """The program as a function, with the helpers that it calls."""
        body = "\n".join(self.steps)
        used = [
            h
            for h in HELPERS.strip().split("\n\n\n")
            if re.search(rf"\b{h[4:].split('(')[0]}\b", body)
        ]
        arrays = [
            f"{k} = np.array({v.tolist()!r}, np.{v.dtype.name})" for k, v in self.inputs.items()
        ]
        head = "def program(" + ", ".join(self.inputs) + "):"
        function = "\n".join([head, textwrap.indent(body or "pass", "    "), "    return locals()"])
        return "\n\n\n".join(
            [
                f"# seed {self.seed}\nimport numpy as np\narray = np.array",
                *used,
                function,
                "\n".join(arrays),
            ]
        )

    def codes(self) -> list[Any]:
        return [compile(step, f"<step {i}>", "exec") for i, step in enumerate(self.steps)]

    def run(
        self,
        xs: Any,
        array: Any = np.array,
        codes: Any = None,
        watch: Callable[[int, dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """Run it on other inputs; `watch` sees the names after each step."""
        names = dict(GLOBALS, array=array)
        names.update(zip(self.inputs, xs, strict=True))
        for i, code in enumerate(self.codes() if codes is None else codes):
            exec(code, names)
            if watch is not None:
                watch(i, results(names))
        return results(names)


GLOBALS: dict[str, Any] = {"np": np, "__builtins__": __builtins__}
exec(HELPERS, GLOBALS)
HELPER_NAMES = frozenset(GLOBALS)


def results(names: dict[str, Any]) -> dict[str, Any]:
    """The arrays and numbers of a program, by name."""
    return {
        k: v
        for k, v in names.items()
        if k not in HELPER_NAMES and k != "array" and hasattr(v, "dtype")
    }


class Unfit(Exception):
    """There is nothing that this step could be made of."""


class Maker:
    """Makes one program."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        rng = np.random.default_rng(seed)
        draw = self.random.random()
        dtype = "float32" if draw < 0.05 else "complex128" if draw < 0.2 else "float64"
        shape = self.random.choice([(4,), (5,), (2, 3), (3, 3), (3, 2), (2, 3, 2), (6,)])
        other = self.random.choice([(), shape, shape[-1:], (3,), (1, *shape[-1:])])
        self.inputs = {}
        for name, s in (("x", shape), ("y", other)):
            v = rng.uniform(-1, 1, s)
            if dtype == "complex128" and (name == "x" or self.random.random() < 0.5):
                v = v + 1j * rng.uniform(-1, 1, s)
            kind = dtype if np.iscomplexobj(v) or dtype == "float32" else "float64"
            self.inputs[name] = np.asarray(v).astype(kind)[()]  # a scalar has no aliases
        self.steps: list[str] = []
        self.count = 0
        self.restart()

    def restart(self) -> None:
        self.names = dict(GLOBALS, array=np.array)
        self.names.update({k: v.copy() for k, v in self.inputs.items()})
        for step in self.steps:
            exec(step, self.names)

    # What there is.

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        return {k: v for k, v in results(self.names).items() if isinstance(v, np.ndarray)}

    def pick(self, *tests: Callable[[np.ndarray], bool], own: bool = True) -> str:
        """A name of an array; one that is not an input is one to be written into."""
        fitting = [
            k
            for k, v in self.arrays.items()
            if k[0] not in "wi"
            and not (own and k in self.inputs)
            and all(test(v) for test in tests)
        ]
        if not fitting:
            raise Unfit
        return self.random.choice(fitting[-5:] if self.random.random() < 0.5 else fitting)

    def new(self) -> str:
        self.count += 1
        return f"a{self.count}"

    def eval(self, text: str) -> Any:
        return eval(text, self.names)

    def number(self) -> str:
        return repr(round(self.random.uniform(-1.5, 1.5), 2))

    # Expressions.

    def view(self, name: str) -> str:
        """A view of an array, as NumPy has it, or a view of a view."""
        r, a = self.random, self.names[name]
        options = [
            f"{name}[...]",
            f"{name}[:]",
            f"{name}.view()",
            f"{name}.reshape(-1)",
            f"{name}.T",
        ]
        options += [
            f"np.ravel({name})",
            f"{name}.ravel()",
            f"np.atleast_2d({name})",
            f"np.squeeze({name})",
        ]
        options += [f"{name}[None]", f"np.expand_dims({name}, -1)", f"np.reshape({name}, (-1, 1))"]
        options += [f"{name}[{self.key(a, advanced=False)}]"] * 6
        if a.ndim:
            options += [
                f"{name}[::-1]",
                f"np.flip({name})",
                f"{name}[1:]",
                f"{name}[:-1]",
                f"{name}[::2]",
            ]
            options += [f"{name}[0, ...]", f"np.flip({name}, -1)", f"{name}[..., -1]"]
            options += [f"np.split({name}, [1])[1]", f"np.array_split({name}, 2)[0]"]
            options += [f"np.broadcast_to({name}, (2, *{a.shape}))", f"np.trim_zeros({name})"] * (
                a.ndim == 1
            )
        if a.ndim > 1:
            options += [
                f"{name}.swapaxes(0, 1)",
                f"np.moveaxis({name}, 0, -1)",
                f"np.rollaxis({name}, 1)",
            ]
            options += [
                f"{name}.transpose()",
                f"np.rot90({name})",
                f"np.fliplr({name})",
                f"{name}.mT",
            ]
            options += [
                f"np.diagonal({name})",
                f"{name}.diagonal()",
                f"np.transpose({name}, (1, 0))",
            ]
            options += [
                f"{name}.ravel(order='F')",
                f"{name}.reshape(-1, order='F')",
                f"{name}.ravel('K')",
            ]
            options += [
                f"{name}.{method}"
                for method in (
                    f"astype({name}.dtype, order='F', copy=False)",
                    f"astype({name}.dtype, order='C', copy=False)",
                    "copy(order='F')",
                    "copy(order='K').ravel()",
                    "reshape(-1, order='A')",
                    "ravel('A')",
                    "flatten('K')",
                )
            ]
            options += [
                f"np.copy({name}, order='F').T.reshape(-1)",
                f"np.take({name}, [0], axis=1).ravel()",
                f"np.diagonal({name}).reshape(-1)",
                f"np.einsum('ii...->i...', {name}[:2, :2])",
            ]
        if a.dtype.kind == "c":
            options += [f"{name}.real", f"{name}.imag", f"np.real({name})", f"np.imag({name})"] * 2
        else:
            options += [f"np.real({name})", f"{name}.astype({name}.dtype, copy=False)"]
        return r.choice(options)

    def place(self) -> str:
        """Something that can be written into: an array, or a view that has no name."""
        name = self.pick(lambda v: v.flags.writeable)
        if self.random.random() < 0.25:
            text = self.view(name)
            if self.eval(text).flags.writeable:
                return text
        return name

    def key(self, a: np.ndarray, advanced: bool = True) -> str:
        r = self.random
        if a.ndim == 0:
            return r.choice(["...", "()"])
        if advanced and r.random() < 0.15:
            return self.mask(a)
        entries = []
        rest = False  # whether an ellipsis has been
        for n in a.shape[: r.choice([1, a.ndim, a.ndim])]:
            if r.random() < 0.08 and not rest:
                entries.append("...")
                rest = True
            if r.random() < 0.06:
                entries.append(r.choice(["None", "np.newaxis"]))
            kinds = ["int", "int", "slice", "slice", "all", "step"] + ["list"] * 2 * advanced
            kind = r.choice(kinds)
            if kind == "int":
                entries.append(str(r.randrange(-n, n)))
            elif kind == "slice":
                low, high = sorted(r.choices(range(-n, n + 2), k=2))
                entries.append(
                    r.choice([f"{low}:", f":{high}", f"{low}:{high}", f"{r.randrange(n)}:"])
                )
            elif kind == "step":
                entries.append(r.choice(["::2", "1::2", "::-1", "::-2", f"{n}:0:-1"]))
            elif kind == "list":
                index = [r.randrange(-n, n) for _ in range(r.choice([1, 2, 2, 3]))]
                if r.random() < 0.2:
                    index = [index, index[::-1]]
                entries.append(r.choice([f"{index}", f"np.array({index})"]))
            else:
                entries.append(":")
        if rest and len(entries) > a.ndim and r.random() < 0.5:
            entries.pop()
        return ", ".join(entries) + ("," if len(entries) == 1 and r.random() < 0.1 else "")

    def mask(self, a: np.ndarray) -> str:
        r = self.random
        same = [k for k, v in self.arrays.items() if v.shape == a.shape and v.dtype.kind == "f"]
        if same and r.random() < 0.5:
            return f"{r.choice(same)} > {self.number()}"
        shape = a.shape[: r.choice([1, a.ndim])]
        mask = np.array([r.random() < 0.5 for _ in range(int(np.prod(shape)))]).reshape(shape)
        return f"np.array({mask.tolist()})"

    def value(self, shape: tuple[int, ...], kind: str, alone: bool = False) -> str:
        """What can be assigned to an array of this shape and kind; lists, where it stands alone."""
        r = self.random
        if kind in "iu":
            return str(r.randrange(4))
        if kind == "b":
            return r.choice(["True", "False"])
        options = [self.number(), f"np.float64({self.number()})", "0", "1.0"]
        if kind == "c":
            options += [f"{self.number()} + 1j", "1j", "(0.3 - 0.4j)"]
        for name, v in self.arrays.items():
            if v.dtype.kind not in ("fc" if kind == "c" else "f") or not v.size:
                continue
            if fits(v.shape, shape):
                options += [name, f"np.sin({name})", f"{name} * 0.5", f"0.3 - {name}", f"{name}"]
            if v.ndim:
                options.append(f"{name}[{', '.join(str(r.randrange(n)) for n in v.shape)}]")
                if fits(v.shape[1:], shape):
                    options += [f"np.sum({name}, axis=0) * 0.3", f"{name}[{r.randrange(len(v))}]"]
                if fits(v.shape[::-1], shape):
                    options.append(f"np.tanh({name}.T)")
                if v.shape and fits(v.shape, shape):
                    options += [f"{name}[::-1]", f"np.flip({name}) + {self.number()}"]
                n = int(np.prod(shape))
                if shape and 0 < n <= v.size:
                    options.append(f"np.cos({name}.ravel()[:{n}].reshape({shape}))")
            options.append(f"np.mean({name})" if kind == "c" or v.dtype.kind != "c" else "0.5")
        if alone and len(shape) == 1 and 0 < shape[0] < 5:
            items = [r.choice([self.number(), self.scalar(kind)]) for _ in range(shape[0])]
            options += [f"[{', '.join(items)}]"] * 2
        if shape and np.prod(shape) < 7:
            constant = [round(r.uniform(-1, 1), 2) for _ in range(int(np.prod(shape)))]
            options.append(f"np.array({np.reshape(constant, shape).tolist()})")
        return r.choice(options)

    def scalar(self, kind: str = "f") -> str:
        """A number that comes from the inputs."""
        name = self.pick(lambda v: v.dtype.kind == "f" and v.size > 0, own=False)
        v = self.names[name]
        index = ", ".join(str(self.random.randrange(n)) for n in v.shape)
        return f"{name}[{index or '...'}]"

    # Steps.

    def create(self) -> str:
        r = self.random
        x = self.pick(lambda v: v.dtype.kind in "fc" and v.ndim > 0, own=False)
        v = self.names[x]
        shape = r.choice([(3,), (4,), (2, 3), (3, 3), (2, 2, 2), (), (v.size,), v.shape[::-1]])
        options = [f"np.zeros_like({x})", f"np.ones_like({x})", f"np.copy({x})", f"{x}.copy()"] * 2
        options += [
            f"{x} * 1.0",
            f"np.sin({x})",
            f"np.full_like({x}, 0.5)",
            f"-{x}",
            f"np.array_split({x}.copy().ravel(), 2)[0]",
        ]
        options += [f"np.zeros_like({x}, shape={shape})"] * 3 + [
            f"np.stack([{x}, {x}])",
            f"np.zeros_like({x}.T)",
        ]
        options += [
            f"np.concatenate([{x}.ravel(), {x}.ravel()[:2]])",
            f"array({np.atleast_1d(v).tolist()!r})",
        ]
        options += [
            f"np.outer({x}, {x})[:3, :3]",
            f"np.where({x} == 0, 1.0, {x})[None]",
            f"{x}.T.copy()",
            f"np.copy({x}.T)",
        ]
        options += [
            f"{x}.flatten()",
            f"np.sort({x}.ravel().real)",
            f"np.full_like({x}, {x}.ravel()[0])",
        ]
        options += [
            f"np.zeros_like({x}, dtype=int)",
            f"{x}.real > {self.number()}",
            f"np.zeros_like({x}.real)",
            f"{x}[[0, -1]]",
        ]
        return f"{self.new()} = {r.choice(options)}"

    def take_view(self) -> str:
        return f"{self.new()} = {self.view(self.pick())}"

    def alias(self) -> str:
        return f"{self.new()} = {self.pick()}"

    def read(self) -> str:
        name = self.pick(lambda v: v.dtype.kind in "fc" and v.size > 0)
        r = self.random
        f = r.choice(
            [
                "np.sin({})",
                "np.exp({} * 0.3)",
                "{} * {}",
                "np.sum({})",
                "np.cos({}).sum()",
                "{}.mean(axis=0)",
                "{} ** 2",
            ]
        )
        f = r.choice(
            [
                f,
                f,
                "np.sum(np.square({}))",
                "np.cumsum({})",
                "np.sum({} * np.sin({}))",
                "{} + {}",
                "np.tanh({})",
            ]
        )
        return f"{self.new()} = " + f.format(name, name)

    def item(self) -> str:
        """An element by itself: a number, which no assignment changes any more."""
        name = self.pick(lambda v: v.ndim > 0 and v.size > 0)
        index = ", ".join(str(self.random.randrange(n)) for n in self.names[name].shape)
        new = self.new()
        return f"{new} = {name}[{index}]" + self.random.choice(
            ["", f"\n{new} += 0.5", f"\n{new} *= 2.0"]
        )

    def assign(self) -> str:
        place = self.place()
        a = self.eval(place)
        if not isinstance(a, np.ndarray):
            raise Unfit
        key = self.key(a)
        part = self.eval(f"{place}[{key}]")
        value = self.value(np.shape(part), a.dtype.kind, alone=True)
        if self.random.random() < 0.1 and a.dtype.kind in "fc":
            value = f"{place}[{key}] * 0.5 + {self.value(np.shape(part), a.dtype.kind)}"
        k = self.eval(key) if ":" not in key else None
        if getattr(k, "dtype", np.dtype(int)).kind == "b" and np.may_share_memory(
            a, self.eval(value)
        ):
            raise Unfit  # NumPy reads what it has written
        return f"{place}[{key}] = {value}"

    def shift_within(self) -> str:
        """An assignment from the array to itself, where the two overlap."""
        name = self.pick(lambda v: v.ndim > 0 and len(v) > 1)
        return self.random.choice(
            [
                f"{name}[1:] = {name}[:-1]",
                f"{name}[:-1] = {name}[1:]",
                f"{name}[...] = {name}[::-1]",
                f"{name}[1:] += {name}[:-1]",
                f"{name}[::-1] -= 0.5 * {name}",
                f"{name}[:1] = {name}[-1:]",
                f"{name}[0], {name}[1] = {name}[1], {name}[0]",
                f"{name} += {name}",
                f"{name} *= {name}",
                f"{name} -= {name}[::-1]",
                f"{name} -= {name}[0]",
                f"{name}[...] = {name}.T" if self.names[name].ndim > 1 else f"{name}[:] = {name}",
                f"{name} += 0.5 * {name}.T",
            ]
        )

    def in_place(self) -> str:
        name = self.pick()
        a = self.names[name]
        if a.dtype.kind == "b":
            operator, value = map(self.random.choice, (["&=", "|=", "^="], ["True", f"~{name}"]))
            return f"{name} {operator} {value}"
        op = self.random.choice(["+=", "-=", "*=", "+=", "-=", "*=", "/=", "**="])
        value = self.value(a.shape, a.dtype.kind)
        if op == "/=":
            value = self.random.choice(["2.0", f"(2.0 + np.sin({value}) ** 2)"])
        if op == "**=":
            value = self.random.choice(["2", "3"] if a.dtype.kind in "iu" else ["2", "2.0", "3"])
        return f"{name} {op} {value}"

    def in_place_part(self) -> str:
        place = self.place()
        a = self.eval(place)
        if not isinstance(a, np.ndarray) or a.dtype.kind == "b":
            raise Unfit
        key = self.key(a)
        part = self.eval(f"{place}[{key}]")
        op = self.random.choice(["+=", "-=", "*="])
        return f"{place}[{key}] {op} {self.value(np.shape(part), a.dtype.kind)}"

    def function(self) -> str:
        r = self.random
        place = self.place()
        a = self.eval(place)
        if not isinstance(a, np.ndarray) or a.dtype.kind not in "fc" or not a.size:
            raise Unfit
        kind = a.dtype.kind
        n = a.size
        index = [r.randrange(-n, n) for _ in range(r.choice([1, 2, 3]))]
        along = r.randrange(a.ndim) if a.ndim else 0
        mask = self.mask(a) if a.ndim else True
        if np.shape(self.eval(str(mask))) not in ((), a.shape, a.shape[-1:]):
            raise Unfit  # NumPy takes any mask where an array is copied to itself
        beyond, mode = [i + 1 for i in index], r.choice(["wrap", "clip"])
        options = [
            f"np.copyto({place}, {self.value(a.shape, kind, True)})",
            f"np.copyto({place}, {self.value(a.shape, kind)}, where={mask})",
            f"np.put({place}, {index}, {self.value((len(index),), kind, True)})",
            f"{place}.put({index}, {self.value((), kind)})",
            f"np.put({place}, {beyond}, {self.value((2,), kind)}, mode={mode!r})",
            f"{place}.fill({self.value((), kind)})",
        ]
        if a.ndim:
            flat = tuple([1 if i == along else m for i, m in enumerate(a.shape)])
            zero, value = f"np.zeros({flat}, int)", self.value((), kind)
            whole = f"np.array({[[r.random() < 0.5] for _ in range(n)]}).reshape({a.shape})"
            options += [
                f"np.place({place}, {whole}, {self.value((3,), kind, True)})",
                f"np.putmask({place}, {whole}, {self.value(r.choice([a.shape, (2,)]), kind)})",
                f"np.put_along_axis({place}, {zero}, {value}, {along})",
            ]
            if kind == "f":
                options += [
                    f"{place}.sort()",
                    f"{place}.sort(axis={along})",
                    f"{place}.partition(0)",
                ]
            first = [r.randrange(len(a)) for _ in range(3)]
            b = self.value((3, *a.shape[1:]), kind)
            options += [
                f"np.add.at({place}, {first}, {b})",
                f"np.subtract.at({place}, {first}, {b})",
                f"np.multiply.at({place}, {first}, {self.value((), kind)})",
                f"np.add.at({place}, {self.key(a)}, {self.value((), kind)})",
                f"np.negative.at({place}, {first})",
                f"{place}.flat[{r.randrange(n)}] = {self.value((), kind)}",
                f"{place}.flat = {self.value((), kind)}",
            ]
        if a.ndim > 1:
            options += [f"np.fill_diagonal({place}, {self.value((), kind)})"] * 2
            options += [
                f"np.fill_diagonal({place}, {self.value((2,), kind)}, wrap={r.random() < 0.5})"
            ]
        if kind == "c":
            options += [f"{place}.{r.choice(['real', 'imag'])} = {self.value(a.shape, 'f')}"] * 5
            options += [f"{place}.{r.choice(['real', 'imag'])} += {self.value(a.shape, 'f')}"] * 5
        return r.choice(options)

    def out(self) -> str:
        r = self.random
        place = self.place()
        a = self.eval(place)
        if not isinstance(a, np.ndarray) or a.dtype.kind not in "fc":
            raise Unfit
        v, w = self.value(a.shape, a.dtype.kind), self.value(a.shape, a.dtype.kind)
        options = [
            f"np.add({v}, {w}, out={place})",
            f"np.multiply({place}, {w}, out={place})",
            f"np.subtract({v}, {place}, {place})",
            f"np.sin({v}, out={place})",
            f"np.negative({place}, out={place})",
            f"np.square({place}, out={place})",
            f"np.cumsum({place}, axis=0, out={place})",
            f"np.exp({place} * 0.2, {place})",
            f"{self.new()} = np.cos({v}, out={place})",
            f"np.add({place}, {w}, out={place}, where={self.mask(a) if a.ndim else True})",
        ]
        if a.dtype.kind == "f":
            options += [
                f"np.maximum({place}, {w}, out={place})",
                f"np.clip({place}, -0.5, {w}, out={place})",
                f"{place}.clip(-0.4, 0.6, out={place})",
                f"np.nan_to_num({place}, copy=False)",
            ]
        name = (
            self.pick(
                lambda v: v.shape[1:] == a.shape and v.dtype == a.dtype and v.ndim > 0, own=False
            )
            if r.random() < 0.4
            else None
        )
        if name is not None:
            options += [
                f"np.sum({name}, axis=0, out={place})",
                f"{name}.mean(axis=0, out={place})",
                f"np.add.reduce({name}, out={place})",
            ] * 3
        return r.choice(options)

    def helper(self) -> str:
        name = self.pick(lambda v: v.dtype.kind in "fc" and v.ndim > 0)
        place = self.view(name) if self.random.random() < 0.3 else name
        v = self.value((), "f")
        f = self.random.choice(ONE_ARGUMENT)
        if f == "rows" and self.eval(place).ndim < 2:
            raise Unfit
        return self.random.choice(
            [
                f"{f}({place})",
                f"{f}({place})",
                f"clear({place}, {self.random.choice(['0', '-1', 'slice(1, None)', '...'])})",
                f"recur({place}, {v})",
                f"both({place}, {self.pick(lambda v: v.dtype == self.names[name].dtype)})",
                f"{self.new()} = outer({name}, {f})",
                f"{self.new()} = halve({place})",
                f"center({name})",
            ]
        )

    def loop(self) -> str:
        r = self.random
        name = self.pick(lambda v: v.dtype.kind in "fc" and v.ndim > 0)
        v = self.value((), self.names[name].dtype.kind)
        return r.choice(
            [
                f"for i in range(len({name})):\n    {name}[i] = np.sin({name}[i - 1]) + {v}",
                f"for i in range(len({name})):\n    {name}[i] *= {v}",
                f"for i, row in enumerate({name}):\n    {name}[i] = row * 0.5 + {name}[0]",
                f"for row in {name}:\n    row += {v}",
                f"for i in range(1, len({name})):\n    {name}[i:] += 0.3 * {name}[i - 1]",
                f"for k in range(3):\n    {name} += {v}\n    {name} *= 0.5",
                f"for i in range(len({name})):\n    part = {name}[i:]\n    part *= 0.9",
            ]
        )

    def constant(self) -> str:
        """A plain array, changed after it has been used."""
        name = self.pick(lambda v: v.dtype.kind in "fc" and v.ndim == 1 and v.size > 1)
        n = self.names[name].size
        w = self.new().replace("a", "w")
        numbers = [round(self.random.uniform(-1, 1), 2) for _ in range(n)]
        first = self.random.choice(
            [
                f"{name} *= {w}",
                f"{name}[:] = {w}",
                f"{name}[1:] -= {w}[1:]",
                f"{self.new()} = {name} * {w}",
            ]
        )
        return f"{w} = np.array({numbers})\n{first}\n{w} *= 0.0"

    def indexed(self) -> str:
        """An array of indices, changed after it has been used."""
        name = self.pick(lambda v: v.ndim > 0)
        a, r = self.names[name], self.random
        w = self.new().replace("a", "i")
        index = [r.randrange(len(a)) for _ in range(2)]
        value = self.value((2, *a.shape[1:]), a.dtype.kind)
        operator = r.choice(["=", "="] if a.dtype.kind == "b" else ["=", "+="])
        return f"{w} = np.array({index})\n{name}[{w}] {operator} {value}\n{w}[:] = 0"

    def rebind(self) -> str:
        name = self.pick(lambda v: v.dtype.kind in "fc")
        return self.random.choice(
            [
                f"{name} = {name} * 0.5",
                f"{name} = {name}.copy()",
                f"{name} = {self.view(name)}",
                f"del {name}",
            ]
        )

    def write_input(self) -> str:
        """Into an argument, of which the caller has given a copy."""
        return self.random.choice(
            [
                f"x[...] = {self.value(self.inputs['x'].shape, 'f')}",
                "x *= 0.5",
                "y += 0.1",
                "x += 1.0",
            ]
        )

    def wrong(self) -> str:
        """What NumPy refuses."""
        name = self.pick(lambda v: v.ndim > 0)
        a = self.names[name]
        return self.random.choice(
            [
                f"{name}[{len(a)}] = 1.0",
                f"{name}[...] = np.ones({(*a.shape[:-1], a.shape[-1] + 1)})",
                f"{name}[[0, {len(a) + 2}]] = 0.0",
                f"{name} += np.ones({(2, *a.shape)})",
                f"np.broadcast_to({name}, (2, *{a.shape}))[0] = 1.0",
                f"{name}[{', '.join(['0'] * (a.ndim + 1))}] = 2.0",
                f"np.copyto({name}, np.ones({(*a.shape, a.shape[-1] + 1)}))",
                f"np.add({name}, np.ones({(2, *a.shape)}), out={name})",
                f"np.diagonal({name})[0] = 1.0" if a.ndim > 1 else f"{name}['a'] = 1.0",
                f"{name}[{tuple([0] * a.ndim)}] = np.ones({a.shape}) * np.ones((2, 1))",
                f"np.put({name}, [{a.size}], 1.0)",
            ]
        )

    def accept(self, step: str) -> bool:
        """Keep a step if NumPy takes it, quietly and within a moderate range."""
        if len(self.steps) > 40:
            return False
        try:
            exec(step, self.names)
        except Exception as error:
            if (
                isinstance(error, (IndexError, TypeError, ValueError))
                and self.random.random() < 0.15
            ):
                body = textwrap.indent(step, "    ")
                accepted = "    raise AssertionError('NumPy refuses this')"
                self.steps.append(f"try:\n{body}\n{accepted}\nexcept {CAUGHT}:\n    pass")
                self.restart()
                if moderate(self.names):
                    return True
                self.steps.pop()
            self.restart()
            return False
        if not moderate(self.names):
            self.restart()
            return False
        self.steps.append(step)
        return True

    def make(self, n: int) -> Program:
        makers = [
            (self.create, 3), (self.take_view, 6), (self.alias, 1), (self.read, 4), (self.item, 1),
            (self.assign, 8), (self.shift_within, 2), (self.in_place, 4), (self.in_place_part, 4),
            (self.function, 4), (self.out, 2), (self.helper, 2), (self.loop, 2), (self.constant, 1),
            (self.indexed, 1), (self.rebind, 1), (self.write_input, 0.2), (self.wrong, 0.5),
        ]  # fmt: skip
        functions, weights = zip(*makers, strict=True)
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error")
            while not self.accept(self.create()):
                pass
            for _ in range(20 * n):
                if len(self.steps) >= n:
                    break
                try:
                    step = self.random.choices(functions, weights)[0]()
                except Exception:  # it did not fit
                    self.restart()
                    continue
                self.accept(step)
        return Program(self.seed, self.inputs, tuple(self.steps))


def fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def moderate(names: dict[str, Any]) -> bool:
    for v in results(names).values():
        if v.dtype.kind not in "biufc":
            return False
        if v.size > 60 or (v.size and not np.max(np.abs(v)) < 30):  # NaN included
            return False
    return True


def make(seed: int) -> Program:
    maker = Maker(seed)
    return maker.make(maker.random.choice([3, 5, 7, 9, 12]))


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest part of a program, by leaving out steps, that still fails."""

    def still(smaller: Program) -> bool:
        try:
            with np.errstate(all="raise"), warnings.catch_warnings():
                warnings.simplefilter("error")
                smaller.run([v.copy() for v in smaller.inputs.values()])
        except Exception:
            return False
        return fails(smaller)

    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(program.steps))):
            smaller = replace(program, steps=program.steps[:i] + program.steps[i + 1 :])
            if still(smaller):
                program, changed = smaller, True
    return program

"""Random NumPy programs as text. They know nothing of pullback, and a seed makes the same again.

A program grows statement by statement: a template is filled with names and constants that fit, run
with plain NumPy, and kept if it neither warns nor leaves a moderate range.
"""

from __future__ import annotations

import random
import re
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.fuzz_holes import Holes, Unfit, literal
from tests.fuzz_table import BLOCKS, HELPERS, TEMPLATES, WEIGHTS

__all__ = ["Program", "leaves", "make", "shrink"]


def listed() -> dict[str, list[str]]:
    table = {name: [t.strip() for t in text.split(";")] for name, text in TEMPLATES.items()}
    blocks = {name: [t.strip("\n") for t in text.split("----\n")] for name, text in BLOCKS.items()}
    return table | blocks


TABLE = listed()
NAME = re.compile(r"\b[xy]\d+\b")


class Maker:
    """A program that grows: the statements so far, and the values of their variables."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.values: dict[str, Any] = {}
        self.inputs: dict[str, str] = {}
        self.blocks: dict[str, str] = {}
        self.unused: list[str] = []
        self.families: set[str] = set()
        self.scope: dict[str, Any] = {"np": np}
        exec("\n\n".join(HELPERS.values()), self.scope)

    def draws(self, shape: Any) -> Any:
        return self.numbers.uniform(-1.5, 1.5, shape)

    def variable(self, fits: Any) -> str:
        names = [name for name, value in self.values.items() if fits(value)]
        if not names:
            raise Unfit
        return self.random.choice(names[-4:] if self.random.random() < 0.6 else names)

    def partner(self, first: Any, fits: Any) -> str | None:
        """A variable that broadcasts with another, or None."""
        for _ in range(3):
            name = self.variable(fits)
            if self.values[name] is not first and broadcasts(self.values[name], first):
                return name
        return None

    def take_input(self) -> None:
        """One more input, of a random shape, dtype and layout."""
        choice, name = self.random.choice, f"x{len(self.inputs)}"
        lengths = [0, 1, 2, 2, 2, 3, 3, 4]
        shape = tuple([choice(lengths) for _ in range(choice([0, 1, 1, 2, 2, 2, 3]))])
        if len(shape) >= 2 and self.random.random() < 0.5:
            shape = (*shape[:-1], shape[-2])
        dtype = choice([*["float64"] * 12, "float32", "complex128", "complex128", "complex64"])
        array = self.draws(shape)
        if dtype.startswith("complex"):
            array = array + 1j * self.draws(shape)
        array = np.round(array, 3).astype(dtype)
        if not shape:
            text = f"np.{dtype}({array.item()})" if choice([0, 1]) else literal(array)
        else:
            layouts = ["{}"] * 6 + [
                "{}.T",
                "{}[::-1]",
                "np.asfortranarray({})",
                "np.repeat({}, 2, 0)[::2]",
            ]
            if len(shape) > 1:
                layouts += ["{}[:, ::-1]", "np.swapaxes({}, 0, 1)"]
            if dtype == "float64":
                layouts.append("np.broadcast_to({}, (2,) + " + f"{shape})")
            text = choice(layouts).format(literal(array))
        self.inputs[name] = text
        self.values[name] = eval(text, self.scope)
        self.unused.append(name)

    def grow(self) -> bool:
        """Try one more statement; say whether it was kept."""
        family = self.random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        template, out = self.random.choice(TABLE[family]), f"y{len(self.blocks)}"
        try:
            text = template.format_map(Holes(self, template, out))
        except (Unfit, ValueError, IndexError):  # no variable, or an axis of nothing to choose from
            return False
        text = text if "{out}" in template else f"{out} = {text}"
        try:
            value = self.run(text, out)
            if not kept(value):
                return False
            if value.size and float(np.max(np.abs(value))) > 4:
                squash = self.random.choice(
                    SQUASH["real" if value.dtype.kind == "f" else "complex"]
                )
                text = f"{text}\n{out} = {squash.format(out)}"
                value = self.run(text, out)
        except Exception:  # what plain NumPy does not take, or warns of
            return False
        names = set(NAME.findall(text))
        self.unused = [name for name in self.unused if name not in names] + [out]
        self.values[out] = value
        self.blocks[out] = text
        self.families.add(family)
        return True

    def run(self, text: str, out: str) -> Any:
        scope = self.scope | self.values
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            exec(text, scope)
        return scope[out]

    def result(self) -> str:
        """What the program returns: what nobody used so far, as a tree or as one number."""
        names = self.unused[-4:] or list(self.values)[-1:]
        if self.random.random() < 0.1:
            names.append(self.random.choice(list(self.values)))
        draw = self.random.random()
        if draw < 0.35:
            terms = [
                f"np.sum(np.{'abs' if self.values[name].dtype.kind == 'c' else 'sin'}({name}))"
                for name in names
            ]
            return " + ".join(terms)
        if draw < 0.5:
            return names[-1]
        if draw < 0.7:
            return f"({', '.join(names)},)"
        if draw < 0.85:
            return f"[{names[0]}, ({', '.join(names[1:])},)]" if names[1:] else f"[{names[0]}]"
        items = ", ".join([f"'{key}': {name}" for key, name in zip("dabce", names, strict=False)])
        return "{" + items + "}"


SQUASH = {
    "real": ["np.tanh({0})", "{0} / (1 + np.abs({0}))", "np.arctan({0})", "np.sin({0})"],
    "complex": ["{0} / (1 + {0}.real ** 2 + {0}.imag ** 2)", "{0} / (1.0 + np.abs({0}))"],
}


def broadcasts(x: Any, y: Any) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(x.shape[::-1], y.shape[::-1], strict=False))


def kept(value: Any) -> bool:
    """Whether a value may go on: a small array of floats, neither huge nor infinite."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.char not in "fdFD":
        return False
    if value.ndim > 4 or value.size > 64:
        return False
    return not value.size or bool(np.max(np.abs(value)) < 1e4)


@dataclass(frozen=True)
class Program:
    """A function of NumPy as text, and its inputs as text.

    asks: it asks for truth values, which `vmap` refuses. exact: it computes in double precision, if
    its inputs are.
    """

    seed: int
    inputs: dict[str, str]
    blocks: dict[str, str]
    result: str
    asks: bool
    exact: bool

    @property
    def text(self) -> str:
        body = "\n".join([*self.blocks.values(), f"return {self.result}"])
        helpers = [
            code for name, code in HELPERS.items() if re.search(rf"(?<![.\w]){name}\(", body)
        ]
        inputs = "\n".join([f"{name} = {text}" for name, text in self.inputs.items()])
        head = f"def program({', '.join(self.inputs)}):"
        lines = "\n".join([f"    {line}" for line in body.split("\n")])
        return "\n\n".join(["import numpy as np", *helpers, inputs, f"{head}\n{lines}\n"])

    def load(self) -> tuple[Any, list[Any]]:
        """The function and its inputs."""
        scope: dict[str, Any] = {}
        exec(compile(self.text, f"<program {self.seed}>", "exec"), scope)
        return scope["program"], [scope[name] for name in self.inputs]


def make(seed: int) -> Program:
    """The program of a seed."""
    maker = Maker(seed)
    for _ in range(maker.random.choice([1, 1, 2, 2, 3])):
        maker.take_input()
    wanted = maker.random.randint(5, 25)
    for _ in range(5 * wanted):
        if len(maker.blocks) >= wanted:
            break
        maker.grow()
    return Program(
        seed,
        maker.inputs,
        maker.blocks,
        maker.result(),
        asks="asking" in maker.families,
        exact="narrow" not in maker.families,
    )


def leaves(tree: Any) -> list[Any]:
    """The leaves of lists, tuples and dicts, keys in order."""
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in leaves(item)]
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    return [tree]


def shrink(program: Program, fails: Any) -> Program:
    """The smallest part of a program, by leaving out statements and results, that still fails."""

    def still(smaller: Program) -> bool:
        try:
            f, xs = smaller.load()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                out = leaves(f(*xs))
        except Exception:
            return False
        return all(kept(x) for x in out) and fails(smaller)

    results = [*NAME.findall(program.result), *program.result.split(" + ")]
    smaller = [replace(program, result=result) for result in results]
    program = next((p for p in smaller if still(p)), program)
    for _ in range(2):  # what is left out may let what is used before it be left out
        for out in reversed(program.blocks):
            program = next((p for p in without(program, out) if still(p)), program)
    used = set(NAME.findall("\n".join([*program.blocks.values(), program.result])))
    inputs = {name: text for name, text in program.inputs.items() if name in used}
    fewer = replace(program, inputs=inputs)
    return fewer if still(fewer) else program


def without(program: Program, out: str) -> list[Program]:
    """A program with one statement less: left out, or another variable in place of its result."""
    programs, names = [], dict.fromkeys(NAME.findall(program.blocks[out]))
    for name in (out, *[name for name in names if name != out]):
        word = rf"\b{out}\b"
        blocks = {
            key: re.sub(word, name, text) for key, text in program.blocks.items() if key != out
        }
        result = re.sub(word, name, program.result)
        programs.append(replace(program, blocks=blocks, result=result))
    return programs

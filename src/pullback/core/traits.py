"""Traits: properties of an operation besides its rules, used by passes and the compiler.

Each trait is declared with its operation; the default claims nothing. Passes ask for traits or
compare operations as objects. A `name` is only for people to read and decides nothing, because a
user's operation may have any name.
"""

from __future__ import annotations

from typing import Any, Self


class Traits:
    """What may be asked of an operation. A subclass that computes something else sets its own."""

    # What a result without axes is: "scalar" or "array", "operand" if it is what the first
    # operand is; None: known only when it is computed.
    without_axes: str | None = None
    # For each operand the number with which the operation gives back the other one, bit for bit.
    neutral: tuple[float | None, ...] = ()
    gives_back: bool = False  # its operand, as it is
    involution: bool = False  # applied twice it gives back its operand
    moves: bool = False  # the same elements in other places, without a copy where NumPy can
    # Of Python's numbers:
    arithmetic: bool = False  # it gives one of them again
    comparison: bool = False  # it gives True or False, neither of NumPy's
    keeps_truth: bool = False  # of True and False it gives one of these, not an integer
    divides: bool = False  # it raises where the second is zero
    python_differs: bool = False  # it gives something else than for NumPy's numbers
    by_number: bool = False  # its value or its rules go by which number it is
    takes_python: bool = False  # those that move come as they are, or as NumPy's
    # Whether values decide if it raises: of these kinds of dtype, or not at all if it is `total`.
    raises_for: str = ""
    total: bool = False
    # What it is called where its operand is asked for 0, a kink or a jump that no rule asks about.
    bent_at_zero: str | None = None
    mixes: bool = False  # its rules take a real operand beside a complex one, each as it is
    # Of two operands: (the cotangent of the first, out, x, y) -> that of the second.
    from_first: Any = None
    # Where it jumps: `surface(*xs, **static)`, of the shape of the result, is 0 there, and on one
    # side at least it is not. None: it does not jump, or nothing is known of where.
    surface: Any = None
    steps: bool = False  # its result is constant between jumps, also where it is floating
    # `level(*xs, **static)`: what changes at jumps alone, where the result changes elsewhere too.
    level: Any = None
    cut: Any = None  # surface and level of complex operands, where a branch cut is crossed
    # `edge(*xs, **static)` is 0 where the value is continuous and a partial jumps or is unbounded,
    # as that of a root at 0; None for operands that have no such place. A kink is where it is
    # crossed, or touched: `sqrt(x**2)`. `pole`: likewise where the value is unbounded.
    edge: Any = None
    pole: Any = None
    # `composed(*xs, **static)` computes the value by operations that have machine code, in the
    # dialect of rules; NotImplemented where it does not. Compiled programs do that instead.
    composed: Any = None
    # The ufunc that computes all of several results, element by element.
    by_loop: Any = None

    def declare(self, **traits: Any) -> Self:
        """Set traits of one operation."""
        for trait, value in traits.items():
            assert hasattr(Traits, trait), trait
            setattr(self, trait, value)
        return self

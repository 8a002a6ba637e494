"""Door 3: the tape, for those who come from nodes in an array with indices for pointers.

A tape is a list. Whoever runs a program writes down each operation as it happens: which one it
was, the places in the list of what went in, and the number that came out. Inputs stand at the top.
An operation can only use what is there already, so its inputs stand above it: the list is in an
order in which each value is known when it is needed, and backwards in one in which each cotangent
is complete when it is needed.

The engine keeps the same list, as nodes that hold their parents, and `pb.explain` shows it. Nothing
here differentiates: this file only prints what the engine did.

Run it with `python -m examples.doors.tape`; with `--page FILE` it also writes a page in which one
steps through the tape.
"""

import argparse
from pathlib import Path

import numpy as np

import pullback as pb


def y(x1, x2):
    """The function on the tape. x1 is used twice, and so receives two cotangents."""
    return np.sin(x1) * (x1 + x2)


AT = (np.pi / 2, 1.0)


def tape(f, *args):
    """Run f forwards and back, and forwards again with a tangent for each argument.

    Forward mode asks how everything changes when one input does: it needs a run for each input.
    Reverse mode asks how one output changes when anything does: one run answers for all inputs.
    Returns one `Explanation` for each argument; they differ in their tangents alone.
    """
    directions = np.eye(len(args))
    return [pb.explain(f, tangents=tuple(direction))(*args) for direction in directions]


def table(explanations):
    """The tape as text: what was computed, and to either side of it what the two modes add.

    Read the tangents downwards: each is made of those of the operation's inputs. Read the
    cotangents upwards: each is the sum of what the operations sent that use the value. The last
    row of the one and the first rows of the other hold the same numbers, the gradient.
    """
    inputs = [explanations[0].nodes[i].name for i in explanations[0].inputs]
    head = ["index", "operation", "inputs", "value", *(f"d/d{name}" for name in inputs)]
    rows = [[*head, "cotangent", "received"]]
    for nodes in zip(*[e.nodes for e in explanations], strict=True):
        node = nodes[0]
        rows.append(
            [
                f"{node.index}",
                node.name,
                " ".join(map(str, node.operands)),
                number(node.value),
                *[number(n.tangent) for n in nodes],
                number(node.cotangent),
                received(node, explanations[0]),
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i in (1, 2) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(lines)


def number(x):
    return "0" if x is None else f"{float(x):.4f}"  # None: nothing arrived


def received(node, explanation):
    """How many of the cotangents that it is owed have arrived: all of them, at the end."""
    if node.index in explanation.outputs:
        return "seed"
    return f"{len(node.received)} of {node.uses}"


def backward_steps(explanation):
    """The backward pass, a line for each operation: what it had, and what it sent to whom.

    An operation is applied once it has received as many cotangents as it has uses, and not before:
    so each is applied once, however many paths lead through it.
    """
    lines = []
    for index in explanation.backward:
        node = explanation.nodes[index]
        sent = [
            f"{number(arrival.value)} to {to} ({arrival.count} of {explanation.nodes[to].uses})"
            for to in dict.fromkeys(node.parents)
            for arrival in explanation.nodes[to].received
            if arrival.source == index
        ]
        had = f"{index} {node.name}, with {number(node.cotangent)}"
        lines.append(f"{had:<22} sends {', '.join(sent)}")
    return lines


def main(argv=None):
    parser = argparse.ArgumentParser(description="The tape of y(x1, x2) = sin(x1) (x1 + x2).")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a page to step through")
    options = parser.parse_args(argv)
    explanations = tape(y, *AT)
    print("y(x1, x2) = sin(x1) (x1 + x2) at (pi/2, 1)\n")
    print(table(explanations))
    print("\nthe backward pass, from the last operation to the first")
    for line in backward_steps(explanations[0]):
        print(f"  {line}")

    # Without a window, as a program would ask: the pullback maps one cotangent to all inputs, the
    # pushforward one tangent of each input to the output.
    value, pullback = pb.vjp(y, *AT)
    print("\nthe same without the tape")
    print(f"  value          {value:.4f}")
    print("  vjp            " + "  ".join(f"{x:.4f}" for x in pullback(1.0)))
    tangents = [pb.jvp(y, AT, direction)[1] for direction in ((1.0, 0.0), (0.0, 1.0))]
    print("  jvp, twice     " + "  ".join(f"{x:.4f}" for x in tangents))
    if options.page:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        explanations[0].save(options.page)
        print(f"\nthe page is {options.page}")


if __name__ == "__main__":
    main()

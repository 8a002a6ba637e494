"""Door 3: the numbers of the tape."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from examples.doors import tape

DOOR = Path(tape.__file__)


@pytest.fixture(scope="module")
def explanations():
    """The tape at (pi/2, 1), with the tangents of each argument."""
    return tape.tape(tape.y, *tape.AT)


class TestTape:
    """y = sin(x1) (x1 + x2) at (pi/2, 1)."""

    def test_nodes(self, explanations):
        """Indices stand for pointers, and point upwards."""
        nodes = explanations[0].nodes
        assert [(node.name, node.operands) for node in nodes] == [
            ("x1", []),
            ("x2", []),
            ("sin", [0]),
            ("add", [0, 1]),
            ("multiply", [2, 3]),
        ]
        assert explanations[0].inputs == [0, 1]
        assert explanations[0].outputs == [4]

    def test_values_and_cotangents(self, explanations):
        """The value is 1 + pi/2, and both derivatives are 1."""
        end = 1 + np.pi / 2
        nodes = explanations[0].nodes
        np.testing.assert_allclose([n.value for n in nodes], [np.pi / 2, 1, 1, end, end])
        np.testing.assert_allclose([n.cotangent for n in nodes], [1, 1, end, 1, 1])

    def test_tangents(self, explanations):
        """Forward mode has the same two derivatives in its last row."""
        columns = [[node.tangent for node in e.nodes] for e in explanations]
        np.testing.assert_allclose(columns[0], [1, 0, 0, 1, 1], atol=1e-15)
        np.testing.assert_allclose(columns[1], [0, 1, 0, 1, 1], atol=1e-15)

    def test_the_modes_agree_with_the_transformations(self, explanations):
        """What the tape shows is what `grad` and `jvp` compute."""
        at = (0.7, -1.3)
        forward = tape.tape(tape.y, *at)
        gradient = pb.grad(tape.y, argnums=(0, 1))(*at)
        assert tuple(node.cotangent for node in forward[0].nodes[:2]) == gradient
        for e, tangents in zip(forward, ((1.0, 0.0), (0.0, 1.0)), strict=True):
            assert e.nodes[-1].tangent == pb.jvp(tape.y, at, tangents)[1]

    def test_received(self, explanations):
        """x1 is used twice, and has received 2 of 2."""
        received = [tape.received(node, explanations[0]) for node in explanations[0].nodes]
        assert received == ["2 of 2", "1 of 1", "1 of 1", "1 of 1", "seed"]

    def test_a_value_that_nothing_reaches(self):
        """No cotangent arrives at what the result does not depend on."""
        text = tape.table(tape.tape(lambda x, z: x * 2.0, 3.0, 4.0))
        row = text.splitlines()[2].split()
        assert row == ["1", "z", "4.0000", "0.0000", "1.0000", "0", "0", "of", "0"]


def test_table(explanations):
    """The columns that the door promises, and the row of x1."""
    head, *rows = tape.table(explanations).splitlines()
    assert head.split() == [
        *["index", "operation", "inputs", "value"],
        *["d/dx1", "d/dx2", "cotangent", "received"],
    ]
    assert rows[0].split() == ["0", "x1", "1.5708", "1.0000", "0.0000", "1.0000", "2", "of", "2"]
    assert rows[4].split()[:5] == ["4", "multiply", "2", "3", "2.5708"]
    assert len({len(line) for line in (head, *rows)}) == 1


def test_backward_steps(explanations):
    """From the last operation to the first; x1 is complete only after the second arrival."""
    steps = tape.backward_steps(explanations[0])
    assert [step.split()[0] for step in steps] == ["4", "3", "2"]
    assert steps[0].endswith("sends 2.5708 to 2 (1 of 1), 1.0000 to 3 (1 of 1)")
    assert "to 0 (1 of 2)" in steps[1]
    assert steps[2].endswith("to 0 (2 of 2)")


def test_an_operand_used_twice_by_one_operation():
    """x * x sends two cotangents to x."""
    (step,) = tape.backward_steps(tape.tape(lambda x: x * x, 3.0)[0])
    assert step.endswith("sends 3.0000 to 0 (1 of 2), 3.0000 to 0 (2 of 2)")


def test_page(tmp_path, capsys):
    """`--page` writes a page to step through."""
    path = tmp_path / "out" / "tape.html"
    tape.main(["--page", str(path)])
    assert f"the page is {path}" in capsys.readouterr().out
    assert "</html>" in path.read_text(encoding="utf-8")


def test_runs_as_a_plain_file(capsys, monkeypatch):
    """`python examples/doors/tape.py` prints the numbers of the door."""
    monkeypatch.setattr(sys, "argv", ["tape.py"])
    runpy.run_path(str(DOOR), run_name="__main__")
    out = capsys.readouterr().out
    assert "value          2.5708" in out
    assert "vjp            1.0000  1.0000" in out
    assert "jvp, twice     1.0000  1.0000" in out

"""explain: what is shown is what the engine did."""

import json
import re

import numpy as np
import pytest

import pullback as pb
from pullback.explain import fold as folding
from pullback.explain.fold import Fold, fold
from pullback.explain.layout import layout
from pullback.explain.reading import Sampled

X = np.array([0.5, 1.0, 2.0])


def tape(x1, x2):
    first = np.sin(x1)
    second = x1 + x2
    return first * second


def network(weights, x):
    for w in weights:
        x = np.tanh(x @ w)
    return np.sum(x**2)


def loop(x, n):
    for _ in range(n):
        x = np.sin(x) * 1.01
    return x


PROGRAMS = {
    "tape": (tape, (np.pi / 2, 1.0)),
    "network": (network, ([np.eye(3) * 0.5, np.full((3, 3), 0.1)], np.ones((2, 3)))),
    "tree": (lambda p: np.sum(p["b"] * p["a"][0] ** 2), ({"a": [X], "b": 2.0},)),
    "norm": (np.linalg.norm, (X,)),
    "eigh": (lambda a: np.sum(np.linalg.eigh(a @ a.T)[0] ** 2), (np.outer(X, X) + np.eye(3),)),
    "assignment": (lambda x: assigned(x), (X,)),
    "where": (lambda x: np.sum(np.where(x > 0.7, np.log(x), x)), (X,)),
    "complex": (lambda z: np.sum(np.abs(z) ** 2), (X + 1j,)),
    "float32": (lambda x: np.sum(x * x), (X.astype(np.float32),)),
}


def assigned(x):
    z = np.zeros(3)
    for i in range(3):
        z[i] = x[i] ** 2
    z[1:] *= 2.0
    return np.sum(z)


def floating(tree):
    return pb.core.tree.flatten(tree)[0]


class TestNodes:
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_gradients_are_the_engine_s(self, name):
        f, args = PROGRAMS[name]
        seen = pb.explain(f)(*args)
        value, gradients = pb.value_and_grad(f, tuple(range(len(args))))(*args)
        np.testing.assert_array_equal(seen.value, value)
        for ours, theirs in zip(seen.gradient, floating(gradients), strict=True):
            np.testing.assert_array_equal(ours, theirs)

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_counts(self, name):
        """What a node received adds up to its cotangent, from nodes that were pulled before."""
        f, args = PROGRAMS[name]
        seen = pb.explain(f)(*args)
        turn = {index: i for i, index in enumerate(seen.backward)}
        for node in seen.nodes:
            assert node.uses == len(node.received)
            if node.received and node.index not in seen.outputs:
                last = node.received[-1].total
                parts = sum([r.value for r in node.received if not isinstance(r.value, dict)])
                np.testing.assert_allclose(last, parts, rtol=1e-6)
                assert all(node.index in seen.nodes[r.source].parents for r in node.received)
            if node.index in turn:
                assert all(turn[r.source] < turn[node.index] for r in node.received)

    def test_the_tape(self):
        seen = pb.explain(tape)(np.pi / 2, 1.0)
        assert [node.formula for node in seen.nodes] == [
            "x1",
            "x2",
            "sin(x1)",
            "x1 + x2",
            "first * second",
        ]
        assert seen.backward == [4, 3, 2]
        assert [node.uses for node in seen.nodes] == [2, 1, 1, 1, 0]
        np.testing.assert_allclose([n.cotangent for n in seen.nodes[:2]], [1.0, 1.0])
        first = tape.__code__.co_firstlineno
        assert [n.line for n in seen.nodes[2:]] == [(__file__, first + k) for k in (1, 2, 3)]
        assert seen.nodes[3].source == "second = x1 + x2"

    def test_names_in_formulas(self):
        """Operands are called as in the program; a second node of a name has its number."""

        def f(x):
            y = x * 2.0
            y = y + np.sin(y * x)
            return (lambda v: v * y)(y)

        nodes = pb.explain(f)(1.5).nodes
        assert [node.formula for node in nodes] == [
            "x", "x * 2", "y * x", "sin(#2)", "y + #3", "y#4 * y#4"
        ]  # fmt: skip
        assert [node.label for node in nodes] == ["x", "y", "#2", "#3", "y#4", "#5"]

    def test_names_of_inputs(self):
        seen = pb.explain(lambda p, *rest, k=1: np.sum(p["w"][1]) * rest[0])({"w": [X, X]}, 2.0)
        assert [seen.nodes[i].name for i in seen.inputs] == ["p['w'][0]", "p['w'][1]", "rest[0]"]

    def test_tangents(self):
        """On request the forward mode, beside the other."""
        seen = pb.explain(tape, tangents=(1.0, 0.0))(np.pi / 2, 1.0)
        _, out_dot = pb.jvp(tape, (np.pi / 2, 1.0), (1.0, 0.0))
        np.testing.assert_allclose(seen.nodes[4].tangent, out_dot)
        assert seen.nodes[1].tangent == 0.0
        assert pb.explain(tape)(np.pi / 2, 1.0).nodes[4].tangent is None
        with pytest.raises(
            TypeError, match="a tangent for each differentiated argument, 2 of them"
        ):
            pb.explain(tape, tangents=(1.0,))(np.pi / 2, 1.0)

    def test_arrays_and_cotangents(self):
        seen = pb.explain(np.sin)(X)
        assert seen.notes == [
            "The output is float64[3]; the backward pass starts from a cotangent of ones."
        ]
        seen = pb.explain(np.sin, out_bar=[1.0, 0.0, 2.0])(X)
        np.testing.assert_allclose(seen.gradient[0], np.cos(X) * [1, 0, 2])
        with pytest.raises(pb.ShapeError, match=r"a cotangent of shape \(2,\) for an output of"):
            pb.explain(np.sin, out_bar=[1.0, 0.0])(X)

    def test_argnums(self):
        seen = pb.explain(lambda x, y: x * y, argnums=1)(2.0, 3.0)
        assert [n.name for n in seen.nodes] == ["y", "multiply"]
        assert seen.nodes[1].formula == "2 * y"

    def test_the_module_is_the_function(self):
        assert pb.explain is __import__("pullback.explain", fromlist=["explain"])
        assert pb.explain.explain(np.sin)(1.0).value == np.sin(1.0)

    def test_other_functions_are_refused(self):
        with pytest.raises(TypeError, match="`explain` takes a function, but got a float"):
            pb.explain(2.0)

    def test_results_of_several_shapes(self):
        """What arrived for one result of an operation is not added to what did for another."""

        def f(a):
            values, vectors = np.linalg.eigh(a + a.T)
            rows = np.concatenate([vectors, vectors[:1]])
            last, all_of_them = pb.scan(lambda c, x: (c * 0.5 + x, c[0]), values, rows)
            return np.sum(last) + np.sum(np.sin(all_of_them)) + np.sum(values[:2])

        a = np.arange(9.0).reshape(3, 3)
        seen = pb.explain(f)(a)
        np.testing.assert_allclose(seen.gradient[0], pb.grad(f)(a), rtol=1e-12, atol=1e-14)
        (eigh,) = [node for node in seen.nodes if node.name == "eigh"]
        for shape in ((3,), (3, 3)):
            mine = [r for r in eigh.received if np.shape(r.value) == shape]
            np.testing.assert_allclose(mine[-1].total, sum([r.value for r in mine]), rtol=1e-12)


class TestWhatIsMissed:
    def test_no_cotangent(self):
        def f(x):
            unused = np.exp(x)
            assert unused is not None
            return np.floor(x) + x * 2

        seen = pb.explain(f)(1.5)
        assert [n.formula for n in seen.missed] == ["exp(x)"]
        assert "1 node is not reached by the backward pass: #1." in seen.text()

    def test_nan_and_infinity(self):
        def f(x):
            with np.errstate(all="ignore"):
                return np.sum(np.where(x > 0, np.sqrt(x), 0.0) * np.exp(1000 * x))

        seen = pb.explain(f)(np.array([-1.0, 2.0]))
        marks = {n.name: n.marks for n in seen.nodes if n.marks}
        assert marks["sqrt"] == ["nan", "first nan"]
        assert "first inf" in marks["exp"]

    def test_nan_in_the_backward_pass(self):
        seen = pb.explain(lambda x: np.sqrt(x) * x)(0.0)
        marks = {n.name: n.marks for n in seen.nodes if n.marks}
        assert marks == {"sqrt": ["first nan cotangent"], "x": ["nan cotangent"]}
        assert "in the rule of #1 = sqrt(x)" in seen.text()
        assert [n.rule for n in seen.nodes][1] == "d sqrt(x) = dx / (sqrt(x) + sqrt(x))"


@pb.primitive
def opaque(x):
    return x * 3.0


opaque.defvjp(lambda out_bar, residual, wanted: (out_bar * 3.0,), reads="")


class TestRules:
    """The words of a rule are read off the rule."""

    @pytest.mark.parametrize(
        ("f", "words"),
        [
            (np.sin, "d sin(x) = cos(x) dx"),
            (np.tanh, "d tanh(x) = (1 - tanh(x) * tanh(x)) dx"),
            (np.log, "d log(x) = dx / x"),
            (np.exp, "d exp(x) = exp(x) dx"),
            (lambda x: -x, "d (-x) = -dx"),
            (lambda x: x**2, "d (x ** 2) = (x + x) dx"),
            (lambda x: x - 2 * x, "d (x - y) = dx - dy"),
            (lambda x: x * np.cos(x), "d (x * y) = y dx + x dy"),
            (lambda x: x / np.cos(x), "d (x / y) = dx / y - (dy / y * x / y)"),
            (lambda x: x[1:], "d (x[1:]) = dx[1:]"),
            (lambda x: np.outer(x, x) @ x, "d (x @ y) = dx @ y + x @ dy"),
            (np.sum, "d sum(x, axis=(0,)) = sum(dx, axis=(0,))"),
            (np.floor, "d floor(x) = 0"),
            (lambda x: x > 1, "x > 1 has no derivative"),
        ],
    )
    def test_words(self, f, words):
        assert words in [node.rule for node in pb.explain(f)(X).nodes]

    def test_what_has_no_short_words(self):
        """It is described."""
        rules = [node.rule for node in pb.explain(np.max)(X).nodes]
        assert "Ties share the derivative." in rules[-1]
        assert pb.explain(opaque)(X).nodes[1].rule.startswith("d opaque(x)")

    def test_each_primitive_has_words(self):
        """Whatever NumPy function is called, its rule is told without an error."""
        for f, args in PROGRAMS.values():
            for node in pb.explain(f)(*args).nodes[len(args) :]:
                assert node.kind == "input" or node.rule
                assert node.formula


class TestText:
    def test_table(self):
        lines = str(pb.explain(tape)(np.pi / 2, 1.0)).splitlines()
        assert lines[0] == "explain(tape)"
        assert re.split(r"\s{2,}", lines[2]) == [
            *("#", "operation", "value", "cotangent", "received", "line", "program")
        ]
        row = re.split(r"\s{2,}", lines[6])
        assert row[:5] == ["2", "first = sin(x1)", "1", "2.5708", "1 of 1"]
        assert row[6] == "first = np.sin(x1)"

    def test_tangents(self):
        lines = pb.explain(tape, tangents=(1.0, 0.0))(np.pi / 2, 1.0).text().splitlines()
        assert re.split(r"\s{2,}", lines[2])[3] == "tangent"
        assert re.split(r"\s{2,}", lines[7])[3] == "1"

    def test_a_long_program_is_folded(self):
        text = pb.explain(loop)(0.5, 1000).text(limit=20)
        assert "998 times 2 operations: sin, multiply" in text
        assert len(text.splitlines()) < 20


class TestDrawings:
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_they_are_drawn(self, name):
        """In each language, the same each time."""
        f, args = PROGRAMS[name]
        for way in ("svg", "mermaid", "dot", "text"):
            once, again = [getattr(pb.explain(f)(*args), way)() for _ in range(2)]
            assert once == again

    def test_svg(self):
        import xml.etree.ElementTree as ET

        root = ET.fromstring(pb.explain(network)(*PROGRAMS["network"][1]).svg())
        space = "{http://www.w3.org/2000/svg}"
        boxes = [g for g in root.iter(f"{space}g") if "pb-box" in g.get("class")]
        assert len(boxes) == 9
        rectangles = []
        for g in boxes:
            r = g.find(f"{space}rect")
            rectangles.append([float(r.get(k)) for k in ("x", "y", "width", "height")])
        apart(rectangles)

    def test_names_are_escaped(self):
        seen = pb.explain(lambda p: p['<b>"'] * 2.0)({'<b>"': 1.0})
        assert "<b>" not in seen.svg()
        assert '\\"' in seen.dot()
        assert "<b>" not in seen.mermaid().replace("<br/>", "")

    def test_notebooks(self):
        assert "<svg" in pb.explain(tape)(1.0, 2.0)._repr_html_()

    @pytest.mark.share(2)
    def test_ten_thousand_nodes(self):
        """Any program gives a picture of the size that was asked for."""
        rng = np.random.default_rng(0)

        def wild(x):
            xs = [x]
            for k in rng.integers(0, 5, 3000):
                y = xs[-1 - k % len(xs)]
                xs.append([np.sin, np.cos, np.tanh, np.exp, np.abs][k](y) * 0.5)
            return sum(xs)

        for seen in (pb.explain(wild)(0.3), pb.explain(loop)(0.5, 5000)):
            assert len(seen.nodes) > 9000
            assert seen.svg().count('class="pb-box') <= 60
            assert len(seen.data(200)["nodes"]) <= 200


def apart(rectangles):
    for i, (x, y, w, h) in enumerate(rectangles):
        for a, b, c, d in rectangles[:i]:
            assert x + w <= a + 0.2 or a + c <= x + 0.2 or y + h <= b or b + d <= y


class TestFold:
    def test_loops(self):
        items = fold("abcabcabcabcabcx", 8)
        assert [i if type(i) is int else (i.times, i.indices()) for i in items] == [
            *(0, 1, 2, (3, list(range(3, 12))), 12, 13, 14, 15)
        ]

    def test_loops_of_loops(self):
        items = fold(("ab" * 10 + "c") * 50, 20)
        assert len(items) <= 20
        assert max([i.times for i in items if type(i) is Fold]) == 48

    def test_what_does_not_repeat(self):
        items = fold(range(1000), 10)
        assert len(items) == 10
        assert items[0] == 0
        assert items[-1] == 999

    @pytest.mark.parametrize("limit", [5, 20, 100])
    def test_nothing_is_lost(self, limit):
        rng = np.random.default_rng(1)
        keys = [int(k) for part in range(20) for k in np.tile(rng.integers(0, 9, 4), part)]
        found = []
        for item in fold(keys, limit):
            found += item.indices() if type(item) is Fold else [item]
        assert found == list(range(len(keys)))

    def test_repetitions(self):
        codes = np.array([9, 1, 2, 1, 2, 1, 2, 8, 3, 3, 3, 3])
        assert folding.repetitions(codes, 2) == [(1, 3)]
        assert folding.repetitions(codes, 1) == [(8, 4)]


class TestLayout:
    @pytest.mark.parametrize("seed", range(20))
    def test_boxes_are_apart_and_edges_go_down(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        sizes = [(float(w), 30.0) for w in rng.uniform(20, 200, n)]
        edges = sorted({(int(rng.integers(0, b)), b) for b in range(1, n) for _ in range(2)})
        at = layout(sizes, edges)
        apart([(x, y, *size) for (x, y), size in zip(at.corners, sizes, strict=True)])
        for points in at.points:
            ys = [y for _, y in points]
            assert ys == sorted(ys)
        for (x, y), (w, h) in zip(at.corners, sizes, strict=True):
            assert x >= 0
            assert y >= 0
            assert x + w <= at.width
            assert y + h <= at.height

    def test_nothing(self):
        assert layout([], []).corners == []


class TestData:
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_it_is_json(self, name):
        f, args = PROGRAMS[name]
        data = pb.explain(f)(*args).data()
        json.dumps(data, allow_nan=False)
        for step in data["backward"]:
            for part in step["gives"]:
                assert part["received"] <= part["of"]
                assert part["of"] == data["nodes"][part["to"]]["uses"]
        for a, b in [(e["from"], e["to"]) for e in data["edges"]]:
            assert a < b

    def test_folds_receive_from_outside(self):
        data = pb.explain(loop)(0.5, 1000).data(20)
        (fold_node,) = [n for n in data["nodes"] if n["kind"] == "fold"]
        assert fold_node["fold"]["times"] == 998
        assert fold_node["uses"] == 1
        assert [s["node"] for s in data["backward"]] == sorted(
            [s["node"] for s in data["backward"]], reverse=True
        )

    def test_large_arrays_are_sampled(self):
        data = pb.explain(np.sin)(np.linspace(0, 1, 10_000).reshape(100, 100)).data()
        value = data["nodes"][1]["value"]
        assert value["sampled"]
        assert len(value["cells"]) == value["rows"] * value["columns"] <= 256
        assert value["high"] == pytest.approx(np.sin(1.0), rel=1e-5)

    def test_too_many_cotangents(self, monkeypatch):
        """Beyond a budget samples are kept; counts and ranges stay right."""
        monkeypatch.setattr("pullback.explain.explanation.ENOUGH", 0)
        seen = pb.explain(lambda x: np.sum(np.sin(x) * x))(np.linspace(0, 1, 5000))
        assert isinstance(seen.gradient[0], Sampled)
        full = pb.grad(lambda x: np.sum(np.sin(x) * x))(np.linspace(0, 1, 5000))
        np.testing.assert_allclose(seen.gradient[0].cells, full[:: -(-5000 // 256)])
        json.dumps(seen.data())

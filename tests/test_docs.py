"""The pages of the site run, and the small engine of *How it works* agrees with the real one."""

import ast
import html
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pullback as pb

DOCS = Path(__file__).resolve().parent.parent / "docs"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.relative_to(DOCS).parts)
EXECUTED = [page for page in PAGES if CELL.search(page.read_text("utf-8"))]


def name_of(page):
    return page.relative_to(DOCS).as_posix()


class Raising(ast.NodeTransformer):
    """Each `try` of a page shows an error: it fails where nothing is raised."""

    def visit_Try(self, node):
        if node.handlers and not node.orelse:
            node.orelse = ast.parse("raise AssertionError('nothing was raised')").body
        return self.generic_visit(node)


class TestPages:
    @pytest.mark.usefixtures("no_primitives_left")
    @pytest.mark.parametrize("page", EXECUTED, ids=name_of)
    def test_every_cell_runs(self, page, monkeypatch):
        """The cells of a page run in order, in one namespace and in the page's folder."""
        pytest.importorskip("matplotlib").use("agg")
        monkeypatch.chdir(page.parent)
        for folder in (DOCS, page.parent):
            monkeypatch.syspath_prepend(str(folder))
        namespace = ModuleType("page")
        monkeypatch.setitem(sys.modules, "page", namespace)
        for number, cell in enumerate(CELL.findall(page.read_text("utf-8")), 1):
            lines = [line for line in cell.splitlines() if not line.startswith(":tags:")]
            tree = ast.fix_missing_locations(Raising().visit(ast.parse("\n".join(lines))))
            exec(compile(tree, f"{name_of(page)}, cell {number}", "exec"), vars(namespace))

    @pytest.mark.parametrize("page", EXECUTED, ids=name_of)
    def test_a_page_with_cells_is_a_notebook(self, page):
        """Without the header Sphinx would show the cells and not run them."""
        assert page.read_text("utf-8").startswith("---\nfile_format: mystnb\n")

    def test_every_error_has_its_anchor(self):
        """The page of errors has a section for each class."""
        text = (DOCS / "errors.md").read_text("utf-8")
        classes = [x for x in vars(pb).values() if isinstance(x, type) and issubclass(x, Exception)]
        assert len(classes) > 10
        for error in classes:
            assert f"({error.__name__})=\n" in text

    def test_the_reference_is_complete(self):
        """Every public name stands on the page of reference."""
        text = (DOCS / "reference.md").read_text("utf-8")
        names = set(re.findall(r"^\.\. auto\w+:: pullback\.(\w+)$", text, re.MULTILINE))
        modules = {name for name in pb.__all__ if isinstance(getattr(pb, name), ModuleType)}
        errors = {name for name in pb.__all__ if name.endswith("Error")}
        assert set(pb.__all__) - modules - errors <= names
        assert names <= set(pb.__all__)

    def test_every_page_is_linked(self):
        """Each page is in a table of contents."""
        listed = {DOCS / "index.md"}
        for page in PAGES:
            for block in re.findall(
                r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL
            ):
                entries = [line for line in block.split() if not line.startswith(":")]
                listed.update((page.parent / entry).with_suffix(".md") for entry in entries)
        assert set(PAGES) <= listed

    def test_an_embedded_page_is_the_saved_one(self, tmp_path, monkeypatch):
        """The frame holds the whole page, and names what it shows."""
        monkeypatch.syspath_prepend(str(DOCS))
        from embed import Embedded

        seen = pb.explain(np.sin)(2.0)
        seen.save(tmp_path / "page.html")
        frame = Embedded(seen)._repr_html_()
        assert frame.startswith('<iframe title="explain(sin)"')
        page = re.search(r'srcdoc="([^"]*)"', frame).group(1)
        assert html.unescape(page) == (tmp_path / "page.html").read_text("utf-8")


@pytest.fixture(scope="module")
def tiny():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "how_it_works"))
        import tiny

        return tiny


X = np.array([0.3, 1.2, 0.5])
WEIGHTS = np.array([[0.2, -0.4, 0.1], [0.5, 0.3, -0.2]])


def waves(x):
    return np.sum(np.sin(x) ** 2 * np.exp(-x) / (1 + x * x))


def network(w, x):
    return np.sum(np.tanh(np.sum(w * x, axis=1) + 0.1) ** 2)


def pairs(x):
    return np.sum(np.tanh(np.reshape(x, (-1, 1)) - x) * x[0]) - x[1] ** x[2]


def choice(x):
    return np.sum(np.log(x) if x[0] < x[1] else x)


SCALAR = [waves, pairs, choice, lambda x: network(WEIGHTS, x), lambda x: np.sum(np.cos(x[1:]))]


class TestTiny:
    def test_it_has_300_lines(self):
        text = (DOCS / "how_it_works" / "tiny.py").read_text("utf-8")
        assert len(text.splitlines()) <= 300

    def test_every_chapter_shows_its_section(self):
        """What tiny.py defines is shown, a whole section or one object at a time."""
        text = (DOCS / "how_it_works" / "tiny.py").read_text("utf-8")
        pages = "".join(page.read_text("utf-8") for page in DOCS.glob("how_it_works/*.md"))
        for name in re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE):
            by_name = f":pyobject: {name}\n" in pages
            assert by_name or name in (
                "run",
                "vjp",
                "grad",
                "jvp",
                "Forward",
                "scatter",
                "sum_along",
            )

    @pytest.mark.parametrize("f", SCALAR)
    def test_gradients(self, tiny, f):
        np.testing.assert_allclose(tiny.grad(f)(X), pb.grad(f)(X))

    @pytest.mark.parametrize("f", SCALAR)
    def test_second_order(self, tiny, f):
        """Forward through reverse, and reverse through reverse, are products with the Hessian."""
        v = np.array([1.0, -0.5, 2.0])
        expected = pb.hvp(f)(X, v)
        np.testing.assert_allclose(tiny.jvp(tiny.grad(f), [X], [v])[1], expected, atol=1e-14)
        twice = tiny.grad(lambda x: np.sum(tiny.grad(f)(x) * v))(X)
        np.testing.assert_allclose(twice, expected, atol=1e-14)

    @pytest.mark.parametrize("f", SCALAR)
    def test_tangents(self, tiny, f):
        for actual, expected in zip(tiny.jvp(f, [X], [X]), pb.jvp(f, (X,), (X,)), strict=True):
            np.testing.assert_allclose(actual, expected)

    def test_third_order(self, tiny):
        def third(grad):
            return grad(grad(grad(lambda x: np.tanh(x) / x)))(0.7)

        np.testing.assert_allclose(third(tiny.grad), third(pb.grad))

    @pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1), (2, 3), (1, 1, 3)])
    def test_broadcasting(self, tiny, shape):
        """Each operand gets a cotangent of its own shape."""
        x, y = np.full(shape, 0.7), WEIGHTS

        def f(x, y):
            return np.sin(x * y) / (x - 2.0) + x

        out, pullback = tiny.vjp(f, x, y)
        expected_out, expected_pullback = pb.vjp(f, x, y)
        np.testing.assert_allclose(out, expected_out)
        for bar, expected in zip(pullback(out), expected_pullback(out), strict=True):
            assert np.shape(bar) == np.shape(expected)
            np.testing.assert_allclose(bar, expected)

    def test_batches(self, tiny):
        """vmap of grad, grad of vmap, and vmap of vmap."""
        batch = np.stack([X, 2 * X, X + 1])
        for f in (waves, lambda x: network(WEIGHTS, x)):
            gradient = tiny.vmap(tiny.grad(f))(batch)
            np.testing.assert_allclose(gradient, pb.vmap(pb.grad(f))(batch))
            whole = tiny.grad(lambda b, f=f: np.sum(tiny.vmap(f)(b)))(batch)
            np.testing.assert_allclose(whole, gradient)
        table = tiny.vmap(lambda a: tiny.vmap(lambda b: np.sin(a) * b[0])(batch))(X)
        np.testing.assert_allclose(table, np.sin(X)[:, None] * batch[:, 0])

    def test_no_perturbation_confusion(self, tiny):
        """An inner derivative takes the variable of an outer one for a constant."""
        assert tiny.grad(lambda x: x * tiny.grad(lambda y: x + y)(2.0))(1.0) == 1.0
        inner = lambda x: tiny.jvp(lambda y: x * y, [2.0], [1.0])[1]
        assert tiny.jvp(lambda x: x * inner(x), [3.0], [1.0])[1] == 6.0

    def test_shared_nodes_take_linear_time(self, tiny):
        """A diamond of depth 60 has 2**60 paths; the rule runs once for each node."""
        calls = 0

        def rule(out_bar, residual, wanted):
            nonlocal calls
            calls += 1
            return [out_bar, out_bar]

        leaf = node = tiny.Node()
        for _ in range(60):
            node = tiny.Node([node, node], rule)
        assert tiny.backward(node, 1.0)[leaf] == 2.0**60
        assert calls == 60

    def test_refusals(self, tiny):
        """What would lose a derivative, or has no rule, raises."""
        for f in (np.arcsin, np.median, np.asarray, float, lambda x: np.sin(x, where=True)):
            with pytest.raises(TypeError):
                tiny.grad(f)(0.5)
        with pytest.raises(TypeError, match="of one number"):
            tiny.grad(np.sin)(X)
        kept = []
        tiny.grad(lambda x: kept.append(x) or x * x)(2.0)
        with pytest.raises(RuntimeError, match="has ended"):
            np.sin(kept[0])
        with pytest.raises(RuntimeError, match="has ended"):
            tiny.grad(lambda x: kept[0])(2.0)

    def test_an_unused_argument_has_a_gradient_of_zeros(self, tiny):
        np.testing.assert_array_equal(tiny.grad(lambda x: 3.0)(X), np.zeros(3))
        np.testing.assert_array_equal(tiny.jvp(lambda x: X, [X], [X])[1], np.zeros(3))

    def test_its_own_checks(self, tiny):
        """check passes a right rule and catches a wrong one."""
        tiny.check(np.tanh, X, X, X)
        wrong = tiny.Elementwise(np.tanh, lambda out, x: 1 - out)
        try:
            with pytest.raises(AssertionError):
                tiny.check(wrong, X, X, X)
        finally:
            tiny.REGISTRY[np.tanh] = tiny.tanh

"""Where values leave: generated programs lose them in each way, and each line is found.

A program is a chain of operations, one line that takes a value out of the Arrays, and a chain that
goes on from there, alone or beside a way that keeps the derivative. It is a file, since lines are
what is asked for: of the user's, or of an installed package.
"""

import importlib
import itertools
import sys
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback.explain.doctor import doctor

BEFORE = ["v = x * 1.5 + 0.25", "v = np.sin(x) + 2.0", "v = np.sum(np.array([x, x * x]))"]
# What takes a value out, as one line that gives `plain`; what explain calls it.
TEXT = {
    "f-string": ("plain = float(f'{v:.6f}')", "format(v)"),
    "f-string, whole": ("plain = float(f'{v}')", "format(v)"),
    "format": ("plain = float(format(v, '.6e'))", "format(v)"),
    "str.format": ("plain = float('{:.6f}'.format(v))", "format(v)"),
    "str": ("plain = float(str(v))", "str(v)"),
    "percent": ("plain = float('%s' % v)", "str(v)"),
    "join": ("plain = float(''.join([str(v)]))", "str(v)"),
    "repr": ("plain = len(repr(v)) * 0.5", "repr(v)"),
    "r of an f-string": ("plain = len(f'{v!r}') * 0.5", "repr(v)"),
    "a list as text": ("plain = len(str([v])) * 0.5", "repr(v)"),
}
DETACHED = {
    "numpy": ("plain = v.numpy()", "v.numpy()"),
    "detach": ("plain = v.detach()", "stop_gradient(v)"),
    "stop_gradient": ("plain = pb.stop_gradient(v)", "stop_gradient(v)"),
    "a plain copy": ("plain = float(np.array(v.numpy()))", "v.numpy()"),
}
COMPARED = {  # or made integers
    "int": ("plain = int(v) * 0.5", "int(v)"),
    "an index": ("plain = [3.0, 4.0, 5.0, 6.0, 7.0][np.floor(v).astype(int)]", "v > 0"),
    "astype": ("plain = v.astype(int) * 0.5", None),
    "bytes": ("plain = np.clip(v * 25.5, 0, 255).astype(np.uint8) / 255", None),
    "dtype=int": ("plain = np.array([v, v], dtype=np.int32).sum() / 3", None),
    "a truth value as a number": ("plain = v.astype(bool) * 3.0", None),
    "a branch": ("plain = 1.0 if v > 0.5 else 2.0", None),
    "a while": ("plain = search(lambda m: m * m < v)", None),
    "equality": ("plain = 3.0 if v == 0.5 else 2.0", None),
    "a mask": ("plain = np.sum(np.where(v > np.array([0.5, 9.0]), 1.0, 2.0))", None),
    "truth": ("plain = 3.0 if v else 2.0", None),
}
AFTER = {"alone": "return plain * 2.0", "beside": "return plain * 2.0 + np.cos(x)"}
SEARCH = """
def search(less):
    lo, hi = 0.0, 10.0
    while hi - lo > 1e-6:
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if less(mid) else (lo, mid)
    return lo
"""
COUNT = itertools.count()


def program(folder, before, leak, after):
    """The function of a new module, and the number of the line that leaks."""
    name = f"leaking_{next(COUNT)}"
    lines = ["import numpy as np", "import pullback as pb", SEARCH, "def f(x):"]
    lines += [f"    {line}" for line in (before, leak, after)]
    text = "\n".join(lines) + "\n"
    (folder / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module(name).f, text.split("\n").index(f"    {leak}") + 1


@pytest.fixture(params=["mine", "site-packages"])
def folder(request, tmp_path, monkeypatch):
    home = tmp_path / request.param
    home.mkdir()
    monkeypatch.syspath_prepend(str(home))
    yield home
    for name in [name for name in sys.modules if name.startswith("leaking_")]:
        del sys.modules[name]


def warned(fun, *args, times=1):
    """What a call gives, and the lines that warnings of lost derivatives name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        outs = [fun(*args) for _ in range(times)]
    assert {each.category for each in caught} <= {pb.LostDerivativeWarning}
    return outs[0], [(str(each.message), each.lineno) for each in caught]


def seen_at(lost, number):
    return [each for each in lost if each.line is not None and each.line[1] == number]


@pytest.mark.share(2)
@pytest.mark.parametrize("way", AFTER)
@pytest.mark.parametrize("leak", TEXT)
def test_text(folder, leak, way):
    """It is listed, with its line; it warns, once, in a package, and where a number is read."""
    for before in BEFORE:
        f, number = program(folder, before, TEXT[leak][0], AFTER[way])
        gradient, messages = warned(pb.grad(f), 0.8, times=3)
        assert gradient == pytest.approx(0.0 if way == "alone" else -np.sin(0.8))
        if folder.name == "site-packages":
            assert [line for _, line in messages] == [number]
            assert "into text" in messages[0][0]
            assert TEXT[leak][0] in messages[0][0]
        elif "float(" in TEXT[leak][0] or way == "alone":
            assert [line for _, line in messages] == [number]
            assert TEXT[leak][0] in messages[0][0]
        else:
            assert not messages
        seen, _ = warned(pb.explain(f), 0.8)
        assert [each.formula for each in seen_at(seen.missed, number)] == [TEXT[leak][1]]
        assert f"A value left: `{TEXT[leak][1]}`" in seen.text()
        found, _ = warned(doctor(f), 0.8)
        assert any("A value left" in line and TEXT[leak][0] in line for line in found.lines)


@pytest.mark.parametrize("way", AFTER)
@pytest.mark.parametrize("leak", DETACHED)
def test_detaching_names(folder, leak, way):
    """They are listed, and do not warn."""
    line, formula = DETACHED[leak]
    for before in BEFORE:
        f, number = program(folder, before, line, AFTER[way])
        gradient, messages = warned(pb.grad(f), 0.8)
        assert gradient == pytest.approx(0.0 if way == "alone" else -np.sin(0.8))
        assert not messages
        seen = pb.explain(f)(0.8)
        assert [each.formula for each in seen_at(seen.missed, number)] == [formula]


@pytest.mark.parametrize("leak", COMPARED)
def test_comparisons(folder, leak):
    """A result that only comparisons or integers led to warns, once, with the first line."""
    for before in BEFORE:
        f, number = program(folder, before, COMPARED[leak][0], AFTER["alone"])
        for derivative in (
            lambda f: pb.grad(f)(0.8),
            lambda f: pb.jvp(f, (0.8,), (1.0,))[1],
            lambda f: pb.vjp(f, 0.8)[1](1.0)[0],
            lambda f: pb.linearize(f, 0.8)[1](1.0),
        ):
            gradient, messages = warned(derivative, f, times=2)
            assert gradient == 0.0
            assert [line for _, line in messages] == [number]
            assert "was compared, or made an integer, first in" in messages[0][0]
        seen = pb.explain(f)(0.8)
        if leak != "truth":
            assert seen_at(seen.missed, number)
            lines = doctor(f)(0.8).lines
            assert any("alone" in each or "A value left" in each for each in lines)
        f, number = program(folder, before, COMPARED[leak][0], AFTER["beside"])
        gradient, messages = warned(pb.grad(f), 0.8)
        assert gradient == pytest.approx(-np.sin(0.8))
        assert len(messages) == (leak == "a while")  # of a search: its part is missing


def test_what_is_no_loss_is_quiet():
    """Counts, second derivatives of what has kinks, and an argument that nobody looked at."""
    relu = lambda x: x if x > 0 else 0.0 * x
    for call in (
        lambda: pb.grad(lambda x: np.sum(x > 0))(np.ones(3)),
        lambda: pb.grad(pb.grad(relu))(2.0),
        lambda: pb.hessian(lambda x: np.sum(np.where(x > 0, x, 0.0)))(np.ones(2)),
        lambda: pb.grad(lambda x: 3.0)(1.0),
        lambda: pb.vmap(pb.grad(lambda x: np.where(x > 0, x, 0.0 * x)))(np.ones(2)),
    ):
        assert not warned(call)[1]


AUX = {  # what a function returns of (x, x squared), and whether its pair is the wrong way round
    "right": (lambda x, y: (y, x), False),
    "reversed": (lambda x, y: (3.0, y), True),
    "reversed, a tree": (lambda x, y: (1.0, {"loss": y, "step": 3}), True),
    "a constant and counts": (lambda x, y: (1.0, [3, "done", None]), False),
    "no derivative meant": (lambda x, y: (1.0, pb.stop_gradient(y)), False),
}


@pytest.mark.parametrize("kind", AUX)
def test_an_output_and_aux_the_other_way_round(kind):
    """The derivative would be that of a constant: zero, in silence."""
    of, is_reversed = AUX[kind]
    f = lambda x: of(x, x * x)
    for call in (
        lambda: pb.grad(f, has_aux=True)(2.0),
        lambda: pb.value_and_grad(f, has_aux=True)(2.0),
        lambda: pb.vjp(f, 2.0, has_aux=True)[1](1.0),
        lambda: pb.vmap(pb.grad(f, has_aux=True))(np.ones(2))[0],
        lambda: pb.compile(pb.grad(f, has_aux=True))(2.0),
    ):
        messages = warned(call)[1]
        assert len(messages) == is_reversed
        assert all("write `return output, aux`" in text.lower() for text, _ in messages)


class TestCheckGrads:
    def test_nothing_to_differentiate(self, folder):
        f, number = program(folder, BEFORE[0], COMPARED["int"][0], "return plain")
        with pytest.raises(pb.ArgumentError, match=rf"A value left: `int\(v\)` in .*:{number}: "):
            pb.testing.check_grads(f, (0.8,))

    @pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
    def test_a_wrong_gradient(self, folder):
        f, number = program(folder, BEFORE[0], TEXT["f-string, whole"][0], AFTER["beside"])
        with pytest.raises(AssertionError) as caught:
            pb.testing.check_grads(f, (0.8,))
        notes = caught.value.__notes__
        assert any(f"`format(v)` in {f.__module__}.py:{number}: " in note for note in notes)

    @pytest.mark.filterwarnings("ignore::pullback.LostDerivativeWarning")
    def test_a_search(self, folder):
        f, number = program(folder, BEFORE[0], COMPARED["a while"][0], AFTER["alone"])
        with pytest.raises(pb.ArgumentError, match=rf"Compared: `greater` in .*:{number}: "):
            pb.testing.check_grads(f, (0.8,))

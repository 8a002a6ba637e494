"""Door 1: scalars, and a GPT on lists of them."""

import math
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from examples.doors import gpt, scalars

DOORS = Path(scalars.__file__).parent


def slope(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


class TestFirstOrder:
    def test_neuron(self):
        """The numbers that every lecture on this neuron shows."""
        out, leaves = scalars.neuron()
        assert out.data == pytest.approx(math.sqrt(0.5), abs=1e-12)
        gradients = {name: x.grad for name, x in leaves.items()}
        expected = {"x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0, "bias": 0.5}
        assert gradients == pytest.approx(expected, abs=1e-12)

    def test_tangle(self):
        """Shared nodes, all operators: the known value and gradients, and central differences."""
        a, b = scalars.scalar(-4.0), scalars.scalar(2.0)
        out = scalars.tangle(a, b)
        out.backward()
        assert [out.data, a.grad, b.grad] == pytest.approx([24.7041, 138.8338, 645.5773], abs=5e-5)
        numbers = [slope(lambda a: scalars.tangle(a, 2.0), -4.0)]
        numbers.append(slope(lambda b: scalars.tangle(-4.0, b), 2.0))
        assert [a.grad, b.grad] == pytest.approx(numbers, rel=1e-7)

    def test_power(self):
        """x ** y has a derivative in x and one in y."""
        assert scalars.power() == pytest.approx((12.0, 8 * math.log(2)), abs=1e-12)

    def test_functions(self):
        for name, value in scalars.functions(0.7).items():
            f = getattr(scalars, name, None) or getattr(np, name)
            assert value == pytest.approx(slope(f, 0.7), rel=1e-8), name


class TestSharedNodes:
    def test_value_and_slope_of_diamonds_are_exact(self):
        x = scalars.scalar(0.3)
        y = scalars.halves(x, 60)
        y.backward()
        assert (y.data, x.grad) == (0.3, 1.0)

    def test_each_edge_is_crossed_once(self):
        """2 ** 500 paths, and 500 calls of the rule of the shared node."""
        assert scalars.pulls(500) == (500, 1.0)

    def test_deep_chains_neither_recurse_nor_grow(self):
        x = scalars.scalar(1.0)
        scalars.halves(x, 30_000).backward()
        assert x.grad == 1.0
        assert scalars.seconds_per_operation(10) > 0


class TestHigherOrders:
    def test_polynomial(self):
        """The fourth derivative of x ** 3 does not depend on x any more, and is zero."""
        values = scalars.derivatives(lambda x: x**3, 2.0, 4)
        assert values == pytest.approx([8.0, 12.0, 12.0, 6.0, 0.0], abs=1e-12)

    def test_sine(self):
        expected = [math.sin(1.0), math.cos(1.0), -math.sin(1.0), -math.cos(1.0)] * 2
        assert scalars.derivatives(np.sin, 1.0, 7) == pytest.approx(expected, abs=1e-12)

    def test_tanh(self):
        t = math.tanh(0.5)
        slope = 1 - t * t
        expected = [t, slope, -2 * t * slope, slope * (6 * t * t - 2)]
        assert scalars.derivatives(np.tanh, 0.5, 3) == pytest.approx(expected, abs=1e-12)


NAMES = ["anna", "ada", "nadia", "dana"]
CHARACTERS = [gpt.END, *sorted(set("".join(NAMES)))]


class TestGPT:
    def test_every_weight_is_a_scalar(self):
        model = gpt.GPT(CHARACTERS)
        assert {p.shape for p in model.parameters()} == {()}
        assert all(p.requires_grad for p in model.parameters())

    def test_gradient_agrees_with_central_differences(self):
        model = gpt.GPT(CHARACTERS, n_embedding=4, seed=3)
        model.loss("anna").backward()
        for p in random.Random(0).sample(model.parameters(), 25):
            x, h, losses = float(p.data), 1e-5, []
            for moved in (x + h, x - h):
                p.data = moved
                losses.append(model.loss("anna").item())
            p.data = x
            given = 0.0 if p.grad is None else p.grad
            assert given == pytest.approx((losses[0] - losses[1]) / (2 * h), abs=1e-8)

    def test_a_token_sees_nothing_of_what_follows(self):
        """The scores at a position are those of the text up to it, whatever comes after."""
        model = gpt.GPT(CHARACTERS, n_embedding=4)

        def scores(tokens):
            keys, values = [], []
            return [
                [score.item() for score in model.scores(token, i, keys, values)]
                for i, token in enumerate(tokens)
            ]

        assert scores([0, 1, 2, 3])[:3] == scores([0, 1, 2, 1])[:3]
        assert scores([0, 1, 2])[2] != scores([0, 3, 2])[2]

    def test_without_knowledge_it_guesses(self):
        """With zeros for scores, each of n characters costs ln n."""
        model = gpt.GPT(CHARACTERS)
        for row in model.weights["scores"]:
            for p in row:
                p.data = 0.0
        assert model.loss("nadia").item() == pytest.approx(math.log(len(CHARACTERS)), abs=1e-12)

    def test_adam_steps_as_the_paper_says(self):
        """The first step is the rate, against the sign of the gradient."""
        p, q = scalars.scalar(1.0), scalars.scalar(2.0)
        (3 * p).backward()
        adam = gpt.Adam([p, q])
        adam.step(0.1)
        assert [p.data, q.data] == pytest.approx([0.9, 2.0], abs=1e-8)
        assert p.grad is None

    def test_the_loss_falls(self):
        model = gpt.GPT(CHARACTERS, n_embedding=4)
        losses = gpt.train(model, NAMES, 80, quiet=True)
        assert gpt.mean(losses[-8:]) < 0.6 * gpt.mean(losses[:8])
        name = model.sample(random.Random(0))
        assert set(name) <= set(CHARACTERS)
        assert all(p.grad is None for p in model.parameters())

    def test_a_longer_name_is_cut(self):
        model = gpt.GPT(CHARACTERS, n_embedding=4, n_context=3)
        assert model.loss("nadia").item() == model.loss("nada").item()


class TestCommandLine:
    @pytest.mark.share(2)
    def test_scalars_print_their_numbers(self, capsys):
        scalars.main()
        text = capsys.readouterr().out
        for number in ("0.7071", "24.7041, gradients 138.8338 and 645.5773", "5.5452"):
            assert number in text
        assert "2 ** 1000 paths, 1000 pulls" in text

    @pytest.mark.share(2)
    @pytest.mark.parametrize("arguments", [["scalars.py"], ["gpt.py", "--steps", "2", "--quiet"]])
    def test_plain_files_run(self, arguments, tmp_path):
        """From any folder, since each is a file of its own."""
        name, *options = arguments
        command = [sys.executable, "-W", "error", str(DOORS / name), *options]
        environment = {**os.environ, "PYTHONPATH": str(Path(pb.__file__).parents[1])}
        run = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
        )
        assert run.returncode == 0, run.stderr
        assert run.stderr == ""
        assert run.stdout

    def test_a_file_of_names(self, tmp_path, capsys):
        path = tmp_path / "names.txt"
        path.write_text("Bo\nOb\n", encoding="utf-8")
        losses = gpt.main(["--names", str(path), "--steps", "2", "--quiet", "--samples", "1"])
        assert len(losses) == 2
        assert "2 names, 3 characters" in capsys.readouterr().out

    def test_without_tqdm_the_steps_are_told(self, monkeypatch, capsys):
        monkeypatch.setattr(gpt, "tqdm", None)
        gpt.train(gpt.GPT(CHARACTERS, n_embedding=2), NAMES, 50)
        assert "step 50 of 50: loss " in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--names", "no/such/file"], "cannot read --names"),
            (["--names", "EMPTY"], "holds no names"),
            (["--steps", "0"], "--steps is to be at least 1"),
            (["--embedding", "5"], "--embedding is to be a multiple of --heads"),
        ],
    )
    def test_what_cannot_be_done_is_said(self, arguments, message, tmp_path, capsys):
        empty = tmp_path / "empty.txt"
        empty.write_text("\n", encoding="utf-8")
        with pytest.raises(SystemExit) as stopped:
            gpt.main([str(empty) if a == "EMPTY" else a for a in arguments])
        assert stopped.value.code == 2
        assert message in capsys.readouterr().err

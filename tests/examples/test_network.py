"""Door 5: a network from scratch, and the files that it reads."""

import gzip
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback as pb
from examples.doors import mnist, network

MNIST = Path(__file__).resolve().parents[3] / "shared" / "data" / "mnist"


def idx(array):
    """The content of an IDX file."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_part(folder, part, n, rng, n_labels=None, size=4):
    """Write small files in MNIST's format."""
    images = rng.integers(256, size=(n, size, size), dtype=np.uint8)
    labels = rng.integers(10, size=n if n_labels is None else n_labels, dtype=np.uint8)
    for name, array in (("images-idx3", images), ("labels-idx1", labels)):
        (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(idx(array)))
    return images, labels


class TestOperation:
    """`affine`, an operation made by a decorator."""

    def test_its_rule(self, rng):
        """It passes the laws, in all modes and two orders."""
        args = rng.normal(size=(5, 3)), rng.normal(size=(3, 2)), rng.normal(size=2)
        pb.testing.check_grads(network.affine, args)

    def test_only_what_is_wanted_is_pulled(self):
        """The images of the first layer never get a cotangent; of frozen layers nothing does."""
        assert network.counted_pulls() == ["xwb", "xwb", "wb"]
        assert network.counted_pulls(frozen=[0]) == ["xwb", "wb"]
        assert network.counted_pulls(frozen=[0, 1]) == ["wb"]
        assert network.counted_pulls(frozen=[2]) == ["x", "xwb", "wb"]

    def test_gradient_of_the_loss(self, rng):
        """The network's gradient is that of the same program in plain NumPy."""
        net = network.Network([4, 3, 2], rng)
        x, y = rng.normal(size=(5, 4)), np.array([0, 1, 1, 0, 1])
        net.loss(x, y).backward()

        def plain(parameters):
            w1, b1, w2, b2 = parameters
            z = np.maximum(x @ w1 + b1, 0) @ w2 + b2
            log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
            return -np.mean(log_p[np.arange(5), y])

        expected = pb.grad(plain)([p.data.astype(float) for p in net.parameters])
        for p, g in zip(net.parameters, expected, strict=True):
            assert p.grad.dtype == np.float32
            np.testing.assert_allclose(p.grad, g, rtol=1e-4, atol=1e-6)


class TestWindow:
    """The same program as a function of its parameters, explained."""

    def test_cotangents(self):
        """Those of the parameters are the gradient; the operations have their names."""
        seen = network.window()
        names = [node.name for node in seen.nodes if node.kind == "operation"]
        assert names[:4] == ["affine", "relu", "affine", "log_softmax"]
        assert [node.name for node in seen.missed] == []
        assert seen.nodes[4].parents == [0, 1]  # not the images: they want no cotangent
        w1, b1, w2, b2 = [seen.nodes[i].value for i in seen.inputs]
        rng = np.random.default_rng(0)  # as `window` draws them
        for w in (w1, w2):
            np.testing.assert_array_equal(w, rng.normal(size=w.shape))
        x, y = rng.normal(size=(6, 4)), rng.integers(3, size=6)
        (g1, h1), (g2, h2) = pb.grad(network.loss)([(w1, b1), (w2, b2)], x, y)
        for bar, expected in zip(seen.gradient, (g1, h1, g2, h2), strict=True):
            np.testing.assert_allclose(bar, expected, atol=1e-15)

    def test_page(self, tmp_path, capsys):
        """`--page` writes a page to step through."""
        pytest.importorskip("sklearn")
        path = tmp_path / "network.html"
        assert network.main(["--epochs", "1", "--quiet", "--page", str(path)]) == 0
        assert f"is {path}\n" in capsys.readouterr().out
        assert "</html>" in path.read_text(encoding="utf-8")


class TestPains:
    """What one's own engine lacks is here."""

    def test_operators(self):
        """The expression is right in both modes."""
        pb.testing.check_grads(network.operators, (np.array([[1.5, 2.2], [3.3, 4.4]]),))

    def test_broadcasting(self):
        """Gradients have the shapes of what was broadcast."""
        column, row, number = network.broadcasting()
        np.testing.assert_array_equal(column, np.full((3, 1), 8.0))
        np.testing.assert_array_equal(row, np.full(4, 6.0))
        assert number == 12.0

    def test_memory(self):
        """What a step held is free after it: thirty steps hold less than one activation more."""
        first, last = network.memory(n_steps=30)
        activation = 500 * 100 * 4
        assert last - first < activation


class TestTraining:
    """Training reads digits."""

    def test_small_digits(self):
        """Nine of ten after a few epochs on the digits that come with scikit-learn."""
        pytest.importorskip("sklearn")
        images = mnist.load_digits(np.random.default_rng(0))
        assert images.x.shape == (1438, 64)
        assert images.x_held_out.shape == (359, 64)
        _, accuracies = network.train(images, np.random.default_rng(0), n_epochs=5, quiet=True)
        assert accuracies[-1] > 0.9

    @pytest.mark.skipif(not MNIST.is_dir(), reason="needs MNIST's test files in ../shared/data")
    def test_mnist(self):
        """At least 93 % of 2,000 images, after learning from the other 8,000."""
        images = mnist.load_mnist(MNIST, np.random.default_rng(0))
        assert images.x.shape == (8000, 784)
        assert images.x_held_out.shape == (2000, 784)
        assert images.x.dtype == np.float32
        assert (images.x.min(), images.x.max()) == (0, 1)
        _, accuracies = network.train(images, np.random.default_rng(0), quiet=True)
        assert accuracies[-1] >= 0.93

    def test_same_seed_same_network(self):
        """Two runs agree to the last bit."""
        pytest.importorskip("sklearn")
        images = mnist.load_digits(np.random.default_rng(0))
        runs = [
            network.train(images, np.random.default_rng(1), n_epochs=1, quiet=True)[0]
            for _ in range(2)
        ]
        for p, q in zip(runs[0].parameters, runs[1].parameters, strict=True):
            np.testing.assert_array_equal(p.data, q.data)


class TestFiles:
    """IDX files."""

    def test_round_trip(self, tmp_path, rng):
        """Compressed or not, a file gives its array."""
        array = rng.integers(256, size=(3, 4, 5), dtype=np.uint8)
        path = tmp_path / "images"
        for content in (idx(array), gzip.compress(idx(array))):
            path.write_bytes(content)
            np.testing.assert_array_equal(mnist.read_idx(path, 3), array)

    def test_a_fifth_of_the_test_files_is_held_out(self, tmp_path, rng):
        """Each image is on one side, with its label."""
        pixels, labels = write_part(tmp_path, "t10k", 20, rng)
        images = mnist.load_mnist(tmp_path, rng)
        assert len(images.y) == 16
        assert len(images.y_held_out) == 4
        rows = np.concatenate([images.x, images.x_held_out])
        known = {row.tobytes(): label for row, label in zip(pixels, labels, strict=True)}
        found = np.round(rows * 255).astype(np.uint8)
        assert {row.tobytes() for row in found} == set(known)
        assert [known[row.tobytes()] for row in found] == [*images.y, *images.y_held_out]

    def test_training_files_are_used(self, tmp_path, rng):
        """With them, all of the test files are held out."""
        pixels, labels = write_part(tmp_path, "train", 20, rng)
        write_part(tmp_path, "t10k", 6, rng)
        images = mnist.load_mnist(tmp_path, rng)
        assert (len(images.y), len(images.y_held_out)) == (20, 6)
        np.testing.assert_array_equal(np.round(images.x * 255), pixels.reshape(20, 16))
        np.testing.assert_array_equal(images.y, labels)

    def damaged(self, kind, whole):
        """A file that something is wrong with, and what the sentence about it says."""
        packed = gzip.compress(whole)
        return {
            "compressed data cut": (
                packed[: len(packed) // 2],
                "is truncated: its compressed data",
            ),
            "compressed header cut": (packed[:5], "is truncated: its compressed data"),
            "damaged inside": (packed[:10] + b"\xff" * 40, "is damaged: "),
            "wrong checksum": (packed[:-8] + bytes(8), "is damaged: CRC check failed"),
            "data cut": (whole[:-10], r"announces 96 bytes of data, and 86 follow"),
            "data too long": (whole + b"xyz", "is longer than it should be: .* and 99 follow"),
            "header cut": (whole[:9], "is truncated: it ends within its header"),
            "two bytes": (whole[:2], "is truncated: it ends within its header"),
            "empty": (b"", "is truncated: it ends within its header"),
            "foreign": (b"\x89PNG\r\n\x1a\n" + bytes(40), "is not an IDX file.* 89 50 4e 47"),
            "floats": (whole[:2] + b"\x0d" + whole[3:], "is not an IDX file.* 00 00 0d 03"),
            "labels for images": (idx(np.zeros(6, np.uint8)), "3-dimensional bytes.* 00 00 08 01"),
        }[kind]

    @pytest.mark.parametrize(
        "kind",
        [
            *["compressed data cut", "compressed header cut", "damaged inside", "wrong checksum"],
            *["data cut", "data too long", "header cut", "two bytes", "empty", "foreign"],
            *["floats", "labels for images"],
        ],
    )
    def test_damaged(self, tmp_path, rng, kind):
        """One sentence, which begins with the name of the file."""
        pixels, _ = write_part(tmp_path, "t10k", 6, rng)
        path = tmp_path / "t10k-images-idx3-ubyte.gz"
        content, words = self.damaged(kind, idx(pixels))
        path.write_bytes(content)
        with pytest.raises(mnist.DataError, match=words) as info:
            mnist.load_mnist(tmp_path, rng)
        message = str(info.value)
        assert message.startswith(f"{path} is ")
        assert message.endswith(".")
        assert "\n" not in message

    def test_missing(self, tmp_path, rng):
        """What is not there is named."""
        with pytest.raises(mnist.DataError, match=r"nowhere is not a folder"):
            mnist.load_mnist(tmp_path / "nowhere", rng)
        with pytest.raises(mnist.DataError, match=r"t10k-images-idx3-ubyte.gz is missing"):
            mnist.load_mnist(tmp_path, rng)
        write_part(tmp_path, "t10k", 6, rng)
        (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
        with pytest.raises(mnist.DataError, match=r"t10k-labels-idx1-ubyte.gz is missing"):
            mnist.load_mnist(tmp_path, rng)
        with pytest.raises(mnist.DataError, match=r"nothing cannot be read: No such file"):
            mnist.read_idx(tmp_path / "nothing", 1)

    def test_parts_that_do_not_fit(self, tmp_path, rng):
        """Counts, labels and sizes are compared."""
        write_part(tmp_path, "t10k", 6, rng, n_labels=5)
        with pytest.raises(mnist.DataError, match=r"5 labels for the 6 images of t10k-images"):
            mnist.load_mnist(tmp_path, rng)
        path = tmp_path / "t10k-labels-idx1-ubyte.gz"
        path.write_bytes(idx(np.full(6, 12, np.uint8)))
        with pytest.raises(mnist.DataError, match=r"has a label 12, and digits are 0 to 9"):
            mnist.load_mnist(tmp_path, rng)
        write_part(tmp_path, "t10k", 6, rng)
        write_part(tmp_path, "train", 6, rng, size=5)
        with pytest.raises(mnist.DataError, match=r"images of two sizes"):
            mnist.load_mnist(tmp_path, rng)
        write_part(tmp_path, "t10k", 0, rng)
        with pytest.raises(mnist.DataError, match=r"holds no images"):
            mnist.load_mnist(tmp_path, rng)


class TestRun:
    """The file as a program."""

    def test_as_a_module(self, capsys):
        """The counts, the pains and the accuracy are printed."""
        pytest.importorskip("sklearn")
        assert network.main(["--epochs", "1", "--quiet"]) == 0
        out = capsys.readouterr().out
        assert "  all learn    xwb xwb wb\n" in out
        assert "  1 frozen     xwb wb\n" in out
        assert "(3, 1) [8. 8. 8.]  (4,) [6. 6. 6. 6.]  () 12.0" in out
        assert "1,438 images learned" in out

    def test_progress(self, capsys, monkeypatch):
        """A bar counts the epochs, or a line for each where there is no tqdm."""
        pytest.importorskip("sklearn")
        pytest.importorskip("tqdm")
        assert network.main(["--epochs", "2"]) == 0
        assert "2/2" in capsys.readouterr().err
        monkeypatch.setattr(network, "tqdm", None)
        assert network.main(["--epochs", "2"]) == 0
        assert "epoch 2 of 2: held out " in capsys.readouterr().err
        assert network.main(["--epochs", "2", "--quiet"]) == 0
        assert capsys.readouterr().err == ""

    def test_as_a_plain_file(self, tmp_path, rng):
        """`python examples/doors/network.py` finds its neighbour, and data that are elsewhere."""
        write_part(tmp_path, "t10k", 20, rng)
        command = [sys.executable, network.__file__, "--data", str(tmp_path), "--epochs", "1"]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "16 images learned" in result.stdout

    def test_bad_data(self, tmp_path, capsys):
        """One sentence and a failure."""
        assert network.main(["--data", str(tmp_path / "nowhere")]) == 1
        captured = capsys.readouterr()
        assert captured.err == f"{tmp_path / 'nowhere'} is not a folder with MNIST's files.\n"
        assert captured.out == ""

    @pytest.mark.parametrize("epochs", ["0", "-3", "many"])
    def test_bad_epochs(self, epochs, capsys):
        """A number of epochs is at least one."""
        with pytest.raises(SystemExit):
            network.main(["--epochs", epochs])
        assert "--epochs" in capsys.readouterr().err

    def test_without_scikit_learn(self, capsys, monkeypatch):
        """The extra is named, and so is the other way."""
        monkeypatch.setitem(sys.modules, "sklearn", None)
        assert network.main([]) == 1
        err = capsys.readouterr().err
        assert "pip install 'pullback[learn]'" in err
        assert "--data" in err

"""Images of handwritten digits: MNIST's original files, or those that come with scikit-learn.

The original files are in the IDX format, compressed with gzip. It begins with two zero bytes, a
code for the type of the numbers (8 for unsigned bytes) and how many axes there are; then comes the
length of each axis in four bytes, the most significant first; the rest is the numbers, in C order.
"""

import gzip
import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

UNSIGNED_BYTE = 8
GZIP = b"\x1f\x8b"


class DataError(Exception):
    """Data that cannot be read; the message is one sentence that names the file."""


@dataclass
class Images:
    """Images as rows of pixels between 0 and 1, with labels, to learn from and to be judged by."""

    x: np.ndarray
    y: np.ndarray
    x_held_out: np.ndarray
    y_held_out: np.ndarray
    name: str


def read_idx(path, ndim):
    """Read an array of unsigned bytes with `ndim` axes from an IDX file, compressed or not."""
    try:
        content = Path(path).read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
    except EOFError:
        raise DataError(f"{path} is truncated: its compressed data end too early.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged: {error}.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    head = bytes((0, 0, UNSIGNED_BYTE, ndim))
    n_head = 4 + 4 * ndim
    if content[:4] != head[: len(content)]:
        raise DataError(
            f"{path} is not an IDX file of {ndim}-dimensional bytes: it begins with"
            f" {content[:4].hex(' ')} instead of {head.hex(' ')}."
        )
    if len(content) < n_head:
        raise DataError(f"{path} is truncated: it ends within its header.")
    shape = struct.unpack(f">{ndim}I", content[4:n_head])
    n_announced, n_there = math.prod(shape), len(content) - n_head
    if n_there != n_announced:
        what = "truncated" if n_there < n_announced else "longer than it should be"
        raise DataError(
            f"{path} is {what}: its header announces {n_announced:,} bytes of data, and"
            f" {n_there:,} follow."
        )
    return np.frombuffer(content, np.uint8, offset=n_head).reshape(shape)


def part_of(folder, part):
    """Return the images and labels of one part, "train" or "t10k"; None if it is not there."""
    files = [find(folder, f"{part}-{what}-ubyte") for what in ("images-idx3", "labels-idx1")]
    if files == [None, None]:
        return None
    for file, what in zip(files, ("images-idx3", "labels-idx1"), strict=True):
        if file is None:
            raise DataError(
                f"{folder / part}-{what}-ubyte.gz is missing: only its partner is there."
            )
    images, labels = read_idx(files[0], 3), read_idx(files[1], 1)
    if len(images) != len(labels):
        raise DataError(
            f"{files[1]} has {len(labels):,} labels for the {len(images):,} images of"
            f" {files[0].name}."
        )
    if not len(images):
        raise DataError(f"{files[0]} holds no images.")
    if labels.max() > 9:
        raise DataError(f"{files[1]} has a label {labels.max()}, and digits are 0 to 9.")
    return images.reshape(len(images), -1).astype(np.float32) / 255, labels.astype(int)


def find(folder, name):
    for path in (folder / f"{name}.gz", folder / name):
        if path.exists():
            return path
    return None


def load_mnist(folder, rng):
    """Load MNIST from a folder.

    With the training files, all of the test files are held out. Where only the test files are, a
    fifth of them is.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder with MNIST's files.")
    train, test = part_of(folder, "train"), part_of(folder, "t10k")
    if test is None:
        raise DataError(f"{folder / 't10k-images-idx3-ubyte.gz'} is missing.")
    if train is not None:
        if train[0].shape[1] != test[0].shape[1]:
            raise DataError(f"{folder} holds images of two sizes.")
        return Images(*train, *test, name="MNIST")
    return split(*test, "MNIST's test images", rng)


def load_digits(rng):
    """Load the 1,797 digits of 8 by 8 pixels that come with scikit-learn."""
    try:
        from sklearn import datasets
    except ModuleNotFoundError:
        raise DataError(
            "The small digits come with scikit-learn: `pip install 'pullback[learn]'`, or give a"
            " folder of MNIST's files with `--data`."
        ) from None
    images, labels = datasets.load_digits(return_X_y=True)
    return split(images.astype(np.float32) / 16, labels, "scikit-learn's digits", rng)


def split(x, y, name, rng):
    """Hold out a fifth, drawn at random."""
    order = rng.permutation(len(y))
    n = len(y) - len(y) // 5
    return Images(x[order[:n]], y[order[:n]], x[order[n:]], y[order[n:]], name)

"""Run one of autograd's examples, shortened, and print what it computes: text and plotted data.

    python tools/autograd_example.py FOLDER NAME

FOLDER holds the examples of the unpacked sdist. Optimizers stop after a few iterations, nothing
waits for a window, MNIST's images are random numbers, and unseeded generators get a seed.
"""

from __future__ import annotations

import functools
import os
import re
import runpy
import sys
import tempfile
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ITERATIONS = 3
SHORTER = [
    (r"\bnum_iters\s*=\s*\d+", f"num_iters={ITERATIONS}"),
    (r"\bnum_epochs\s*=\s*\d+", "num_epochs=1"),
    (r"\bmax_lines=60", "max_lines=12"),
    (r"\bsimulation_timesteps\s*=\s*\d+", "simulation_timesteps=5"),
    (r"\bRandomState\(\)", "RandomState(0)"),
]
DRAWN = ["plot", "fill", "imshow", "contour", "hist", "bar", "scatter"]


def mnist() -> tuple[np.ndarray, ...]:
    """Images and labels as of MNIST, at random."""
    rng = np.random.default_rng(0)
    sizes = (600, 100)
    parts = [(rng.integers(0, 256, (n, 28, 28)), rng.integers(0, 10, n)) for n in sizes]
    return tuple([part.astype(np.uint8) for pair in parts for part in pair])


def fewer(minimize: Any) -> Any:
    """scipy.optimize.minimize, stopped after a few iterations."""

    @functools.wraps(minimize)
    def wrapper(*args: Any, options: Any = None, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is stopped early
            return minimize(*args, options={**(options or {}), "maxiter": ITERATIONS}, **kwargs)

    return wrapper


def telling(draw: Any) -> Any:
    """A method of Axes that prints what it is given."""

    @functools.wraps(draw)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        for x in args:
            if not isinstance(x, (str, dict)) and np.size(x):
                x = np.asarray(x, dtype=float).ravel()
                print(f"\n{draw.__name__} {x.size} {x.sum():.12g} {np.abs(x).sum():.12g}")
        return draw(self, *args, **kwargs)

    return wrapper


def main() -> None:
    there, name = Path(sys.argv[1]), sys.argv[2]
    import matplotlib.axes
    import matplotlib.pyplot
    import scipy.optimize

    for method in DRAWN:
        setattr(matplotlib.axes.Axes, method, telling(getattr(matplotlib.axes.Axes, method)))
    matplotlib.pyplot.pause = matplotlib.pyplot.show = lambda *_, **__: None
    scipy.optimize.minimize = fewer(scipy.optimize.minimize)
    module: Any = types.ModuleType("data_mnist")
    module.mnist = mnist
    sys.modules["data_mnist"] = module
    np.random.seed(0)
    np.set_printoptions(precision=10)
    with tempfile.TemporaryDirectory() as folder:
        for path in there.rglob("*"):
            to = Path(folder) / path.name
            if path.suffix == ".py":
                text = path.read_text()
                for pattern, shorter in SHORTER:
                    text = re.sub(pattern, shorter, text)
                to.write_text(text)
            elif path.suffix == ".png":
                to.write_bytes(path.read_bytes())
        os.chdir(folder)
        sys.path.insert(0, folder)
        sys.argv = [name]
        runpy.run_path(name, run_name="__main__")
        os.chdir("/")


if __name__ == "__main__":
    main()

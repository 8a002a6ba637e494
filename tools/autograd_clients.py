"""Run autograd's examples and tests, and packages that need autograd, by autograd and by pullback.

    python tools/autograd_clients.py FOLDER [NAME ...]

Sources come from the registry (sdists) and are unpacked in FOLDER, beside two environments: in
`real` autograd is autograd, in `ours` it is `pullback.autograd`. Nothing in the sources is changed,
but the examples stop after a few iterations and get random numbers for MNIST's images.
NAME: examples, autograd, pymanopt, surpyval, lifelines; all of them by default.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDS = ["numpy", "scipy", "matplotlib", "pytest", "pytest-timeout", "autograd-gamma", "pandas",
         "formulaic", "optree", "numba", "future", "pytest-cov"]  # fmt: skip
# What to run in each unpacked source: a folder, and arguments of pytest.
SUITES = {
    "autograd": ("tests", ["."]),
    "pymanopt": (".", ["tests", "-k", "autograd or not (pytorch or tensorflow or jax)"]),
    "surpyval": (".", ["surpyval/tests", "--pyargs"]),
    "lifelines": (
        ".",
        ["lifelines/tests/test_estimation.py", "-k",
         "Weibull or LogNormal or LogLogistic or Exponential"],
    ),
}  # fmt: skip
MNIST = """
import numpy as np
def mnist():
    rng = np.random.default_rng(0)
    draw = lambda n: (rng.integers(0, 256, (n, 28, 28)).astype(np.uint8), rng.integers(0, 10, n))
    return (*draw(600), *draw(100))
"""
SHORTER = [
    (r"\bnum_iters\s*=\s*\d+", "num_iters=2"),
    (r"\bnum_epochs\s*=\s*\d+", "num_epochs=1"),
    (r"\bn_epochs\s*=\s*\d+", "n_epochs=1"),
    (r"\brange\(\d{3,}\)", "range(3)"),
]


def run(*command: object, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more
    )


def prepare(folder: Path) -> dict[str, dict[str, str]]:
    """Environments and sources; the variables of the environment for each."""
    variables = {}
    for name in ("real", "ours"):
        place = folder / name
        if not (place / "bin").exists():
            run(sys.executable, "-m", "venv", place, check=True)
            run(place / "bin/pip", "install", "--quiet", *NEEDS, check=True)
            run(place / "bin/pip", "install", "--quiet", "--no-deps", "autograd", check=True)
            if name == "ours":
                run(place / "bin/pip", "install", "--quiet", f"{ROOT}[compile,scipy]", check=True)
        # Ours comes first on the path; autograd stays installed for those who ask for its version.
        path = f"{ROOT / 'tools/as_autograd'}{os.pathsep}{ROOT / 'src'}" if name == "ours" else ""
        variables[name] = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"}
    for package in SUITES:
        if not list(folder.glob(f"{package}-*/")):
            pip = folder / "real/bin/pip"
            run(pip, "download", "--quiet", "--no-deps", "--no-binary", ":all:", package,
                "--dest", folder, check=True)  # fmt: skip
            with tarfile.open(next(folder.glob(f"{package}-*.tar.gz"))) as archive:
                archive.extractall(folder, filter="data")
    return variables


def source(folder: Path, package: str) -> Path:
    return next(path for path in folder.glob(f"{package}-*") if path.is_dir())


def examples(folder: Path, environments: dict[str, dict[str, str]]) -> None:
    """Each example as a script."""
    there = source(folder, "autograd") / "examples"
    for name, env in environments.items():
        here = folder / f"examples-{name}"
        here.mkdir(exist_ok=True)
        right, wrong = 0, []
        for path in sorted(there.rglob("*.py")):
            text = path.read_text()
            for pattern, shorter in SHORTER:
                text = re.sub(pattern, shorter, text)
            (here / path.name).write_text(MNIST if path.name == "data_mnist.py" else text)
        for path in sorted(here.glob("*.py")):
            if path.name in ("__init__.py", "data.py", "data_mnist.py"):
                continue
            try:
                python = folder / name / "bin/python"
                done = run(python, path.name, cwd=here, env=env, timeout=300)
            except subprocess.TimeoutExpired:
                wrong.append((path.name, "longer than 300 s"))
                continue
            last = done.stdout.strip().splitlines()[-1:] or [""]
            if done.returncode:
                wrong.append((path.name, last[0][:150]))
            right += not done.returncode
        print(f"examples   {name}: {right} run, {len(wrong)} do not", flush=True)
        for example, why in wrong:
            print(f"    {example}: {why}")


def suite(folder: Path, package: str, environments: dict[str, dict[str, str]]) -> None:
    inside, arguments = SUITES[package]
    for name, env in environments.items():
        log = folder / f"{package}-{name}.log"
        done = run(
            folder / name / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
            "--timeout", "300", "-o", "addopts=", "-o", "required_plugins=",
            "--continue-on-collection-errors", *arguments,
            cwd=source(folder, package) / inside, env=env,
        )  # fmt: skip
        log.write_text(done.stdout)
        last = done.stdout.strip().splitlines()[-1:] or ["nothing"]
        print(f"{package:10} {name}: {last[0].strip('= ')}", flush=True)


def main() -> None:
    folder, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or ["examples", *SUITES]
    folder.mkdir(parents=True, exist_ok=True)
    environments = prepare(folder)
    for name in names:
        if name == "examples":
            examples(folder, environments)
        else:
            suite(folder, name, environments)


if __name__ == "__main__":
    main()

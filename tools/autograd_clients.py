"""Run autograd's examples and tests, and packages that need autograd, by autograd and by pullback.

    PYTHONPATH=. python tools/autograd_clients.py FOLDER [NAME ...]

Sources come from the registry (sdists) and are unpacked in FOLDER, beside two environments: in
`real` autograd is autograd, in `ours` it is `pullback.autograd`. Nothing in the sources is changed,
but the examples run by `tools/autograd_example.py`, which shortens them; what they print and plot
is compared.
NAME: examples, autograd, pymanopt, surpyval, lifelines; all of them by default.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.clients.asked import Asked

ROOT = Path(__file__).resolve().parent.parent
NEEDS = ["numpy", "scipy", "matplotlib", "pytest", "pytest-timeout", "autograd-gamma",
         "pandas>=2.2,<3", "formulaic", "optree", "numba", "future", "flaky", "hypothesis",
         "joblib", "dill", "numdifftools", "pint"]  # fmt: skip
PACKAGES = {"autograd": "1.9.1", "pymanopt": "2.2.1", "surpyval": "0.25", "lifelines": "0.30.3"}
# What to run in each unpacked source: a folder, and arguments of pytest.
SUITES = {
    "autograd": ("tests", ["."]),
    "pymanopt": (
        ".",
        ["tests", "-p", "absent_backends", "-k", "not (pytorch or tensorflow or jax)",
         "--ignore=tests/test_problem.py",
         *[f"--ignore=tests/backends/test_{x}.py" for x in ("jax", "pytorch", "tensorflow")]],
    ),
    "surpyval": (
        ".",
        [f"surpyval/tests/{name}.py" for name in (
            "conformance/test_derivatives", "test_autograd_gamma_compat_shapes",
            "utils/test_autograd_where", "utils/test_incomplete_beta",
        )],
    ),
    "lifelines": (
        ".",
        ["lifelines/tests/test_estimation.py", "-k",
         "Weibull or LogNormal or LogLogistic or Exponential"],
    ),
}  # fmt: skip
# Their plots are of what rounding decides: samples of a normal distribution with a nearly singular
# covariance; what Adam makes of gradients that are zero but for the solver's tolerance. What they
# print is compared.
UNSTEADY = {"deep_gaussian_process.py", "gaussian_process.py", "ode_net.py"}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)\b")
AGREE = 1e-4  # a solver's tolerance is amplified by the optimizer that follows it


def run(*command: object, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
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
            autograd = f"autograd=={PACKAGES['autograd']}"
            run(place / "bin/pip", "install", "--quiet", "--no-deps", autograd, check=True)
            if name == "ours":
                run(place / "bin/pip", "install", "--quiet", f"{ROOT}[compile,scipy]", check=True)
        # Ours comes first on the path; autograd stays installed for those who ask for its version.
        path = [ROOT / "tools/stand_ins", folder / f"pymanopt-{PACKAGES['pymanopt']}/src"]
        path = [ROOT / "tools/as_autograd", ROOT / "src", *path] if name == "ours" else path
        there = os.pathsep.join(map(str, path))
        variables[name] = {**os.environ, "PYTHONPATH": there, "MPLBACKEND": "agg"}
    for package, version in PACKAGES.items():
        if not (folder / f"{package}-{version}").exists():
            run(folder / "real/bin/pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                f"{package}=={version}", "--dest", folder, check=True)  # fmt: skip
            with tarfile.open(folder / f"{package}-{version}.tar.gz") as archive:
                archive.extractall(folder, filter="data")
    return variables


def source(folder: Path, package: str) -> Path:
    return folder / f"{package}-{PACKAGES[package]}"


def examples(folder: Path, environments: dict[str, dict[str, str]]) -> list[str]:
    """Each example as a script, by both; their outputs are kept in FOLDER/out."""
    there = source(folder, "autograd") / "examples"
    helpers = {"__init__.py", "data.py", "data_mnist.py"}
    names = sorted([path.name for path in there.rglob("*.py") if path.name not in helpers])
    (folder / "out").mkdir(exist_ok=True)
    failed: dict[str, list[str]] = {name: [] for name in environments}
    differ = []
    for example in names:
        outs = {}
        for name, env in environments.items():
            script = ROOT / "tools/autograd_example.py"
            try:
                done = run(
                    folder / name / "bin/python", script, there, example, env=env, timeout=600
                )
            except subprocess.TimeoutExpired:
                failed[name].append(f"{example}: longer than 600 s")
                continue
            (folder / "out" / f"{example}.{name}").write_text(done.stdout)
            if done.returncode:
                failed[name].append(f"{example}: {done.stdout.strip().splitlines()[-1][:150]}")
            else:
                outs[name] = done.stdout
        if len(outs) == 2 and (why := difference(example, *outs.values())):
            differ.append(f"{example}: {why}")
    lines = []
    for name, which in failed.items():
        lines += [f"examples   {name}: {len(names) - len(which)} of {len(names)} run", *which]
    both = len(names) - len(set(map(first_word, failed["real"] + failed["ours"])))
    return [*lines, f"examples   {both - len(differ)} of {both} agree", *differ]


def first_word(line: str) -> str:
    return line.partition(":")[0]


def difference(example: str, real: str, ours: str) -> str:
    """In what two outputs differ; empty if they agree."""
    texts = [canonical(text, plots=example not in UNSTEADY) for text in (real, ours)]
    words = [[part.split() for part in NUMBER.split(text)] for text in texts]
    if words[0] != words[1]:
        return "other words"
    numbers = [list(map(float, NUMBER.findall(text))) for text in texts]
    if len(numbers[0]) != len(numbers[1]):
        return f"{len(numbers[0])} and {len(numbers[1])} numbers"
    pairs = zip(*numbers, strict=True)
    apart = [abs(x - y) / max(abs(x), abs(y), 1e-6) for x, y in pairs if x == x or y == y]
    return f"numbers by {max(apart):.1g}" if apart and not max(apart) <= AGREE else ""


def canonical(text: str, plots: bool) -> str:
    """An output without addresses, numbers without their class, calls without their arguments.

    A trace that prints calls shows functions of autograd's own in a derivative.
    """
    known: dict[str, str] = {}
    text = re.sub(r"node_\d+", lambda m: known.setdefault(m[0], f"node{len(known)}"), text)
    text = re.sub(r"(?:np\.float64|array)\(([^()]*)\)", r"\1", text)
    text = re.sub(r"(?m)^(\w) = \w+\(.*\) = ", r"\1 = ", text)
    lines = [line for line in text.splitlines() if plots or not line.startswith("plot ")]
    return "\n".join(lines)


def suite(folder: Path, package: str, environments: dict[str, dict[str, str]]) -> list[str]:
    lines = []
    inside, arguments = SUITES[package]
    for name, env in environments.items():
        log = folder / f"{package}-{name}.log"
        done = run(
            folder / name / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
            "--timeout", "600", "-o", "addopts=", "-o", "required_plugins=",
            "--continue-on-collection-errors", *arguments,
            cwd=source(folder, package) / inside, env=env,
        )  # fmt: skip
        log.write_text(done.stdout)
        last = done.stdout.strip().splitlines()[-1:] or ["nothing"]
        lines.append(f"{package:10} {name}: {last[0].strip('= ')}")
    return lines


def main() -> None:
    folder, names = Path(sys.argv[1]).resolve(), sys.argv[2:] or ["examples", *SUITES]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytest.ini").touch()  # where settings are looked for, the search ends
    asked = Asked("autograd")
    if any(name not in asked for name in names):
        environments = prepare(folder)
    for name in names:
        if name not in asked:
            done = (
                examples(folder, environments)
                if name == "examples"
                else suite(folder, name, environments)
            )
            asked.note(name, done)
        print(*asked[name], sep="\n    ", flush=True)


if __name__ == "__main__":
    main()

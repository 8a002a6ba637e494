"""Install what the tests of public packages need: `python tools/install_clients.py ENVIRONMENT`.

All requirements are resolved together, with what pullback needs: alone, older NumPys are tried
first. Those that cannot be installed, such as old ones whose build fails with today's setuptools,
are left out and named; their tests are skipped. Nothing is done where it has been done.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTS = ROOT / "tests" / "clients" / "requirements.txt"
ALONE = ROOT / "tests" / "clients" / "requirements_alone.txt"
OURS = ["--editable", f"{ROOT}[scipy,compile]", "pytest", "pytest-xdist"]
# Old packages are built by setuptools that still has `pkg_resources`.
LIMITS = "setuptools<81\n"
# Tools of documentation that a package demands, and none runs, in a release of today whatever it
# demands: scikit-image imports numpydoc where it is installed, which does not import an old Sphinx
# beside the other packages' docutils.
TOOLS = "sphinx>=7\n"
FAILED = re.compile(
    r"(?:Failed to (?:build|download and build|fetch)|was included because)[^`]*`([^`]+)`"
)


def requirements(path: Path) -> list[str]:
    lines = [line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if line]


class Environment:
    """A virtual environment, with the installer in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        if not self.python.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        if not (folder / "bin" / "uv").exists():
            command = [self.python, "-m", "pip", "install", "--quiet", "uv"]
            subprocess.run(command, check=True)
        self.limits = folder / "limits.txt"
        self.limits.write_text(LIMITS)
        self.tools = folder / "tools.txt"
        self.tools.write_text(TOOLS)

    def installs(self, *what: str) -> bool:
        """Install, and say whether it could be done; or say whether it could, by `--dry-run`."""
        return not self.failure(*what)

    def failure(self, *what: str) -> str:
        """What the installer says if it fails."""
        command = [self.folder / "bin" / "uv", "pip", "install", "--quiet", "--python",
                   self.python, "--build-constraints", self.limits, "--overrides", self.tools,
                   *what]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        return (done.stderr or "no reason") if done.returncode else ""


def name(requirement: str) -> str:
    """The name of a package in the form in which two that are the same are equal."""
    return re.sub("[-_.]+", "-", re.split("[^A-Za-z0-9._-]", requirement)[0]).lower()


def alone(environment: Environment, asked: list[str]) -> list[str]:
    """Those that cannot even be installed beside ours alone, such as for an older NumPy."""
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda one: environment.installs("--dry-run", *OURS, one), asked)
        return [one for one, good in zip(asked, found, strict=True) if not good]


def apart(environment: Environment, asked: list[str]) -> list[str]:
    """Those of packages that exclude each other which come after what they exclude."""
    if environment.installs(*OURS, *asked):
        return []
    half = len(asked) // 2
    if not half:
        return asked
    return apart(environment, asked[:half]) + apart(environment, asked[half:])


def install(environment: Environment) -> list[str]:
    """Install all that can be; what cannot."""
    asked = requirements(LISTS)
    environment.installs(*OURS, LIMITS.strip(), "wheel")
    able, left = asked, list[str]()
    while failure := environment.failure(*OURS, *able):
        named = {name(found) for found in FAILED.findall(failure)}
        fails = [one for one in able if name(one) in named] or alone(environment, able)
        able, left = [one for one in able if one not in fails], left + fails
        print(f"fails: {', '.join(fails)}", flush=True)
        if not fails:  # they exclude each other: the first ones stay
            left += apart(environment, able)
            break
    # An old build may ask for what is installed by now, such as NumPy, without saying so.
    building = [*OURS, "--no-build-isolation"]
    left = [one for one in left if not environment.installs(*building, one)]
    return left + [one for one in requirements(ALONE) if not environment.installs("--no-deps", one)]


def main() -> None:
    environment = Environment(Path(sys.argv[1]).resolve())
    texts = [path.read_bytes() for path in (LISTS, ALONE, ROOT / "pyproject.toml")]
    state = hashlib.sha256(b"".join(texts)).hexdigest()
    done = environment.folder / "installed.txt"
    if done.exists() and done.read_text("utf-8").split("\n")[0] == state:
        return
    left = install(environment)
    done.write_text("\n".join([state, *left]), "utf-8")
    print(f"left out: {', '.join(left) or 'none'}")


if __name__ == "__main__":
    main()

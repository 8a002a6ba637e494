"""Count the calls of SciPy in the sources of packages.

    pip download --no-deps -d wheels statsmodels lifelines ...
    python tools/scipy_calls.py wheels/*                 calls by function
    python tools/scipy_calls.py --modules wheels/*       calls by module

Names are resolved through the imports of each file, so `st.norm.logpdf(x)` counts as
`scipy.stats.norm.logpdf`, and `norm(0, 1).logpdf(x)` as `scipy.stats.norm` and
`scipy.stats.norm.logpdf`. Tests of the packages, and SciPy itself, are left out.
"""

import ast
import sys
import tarfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path


def sources(path: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of each Python file of a wheel, an archive or a folder that is no test."""
    if path.is_dir():
        texts = ((str(p), p.read_bytes()) for p in path.rglob("*.py"))
    elif zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        texts = ((name, archive.read(name)) for name in archive.namelist())
    else:
        packed = tarfile.open(path)  # noqa: SIM115  # read until the end
        texts = ((m.name, packed.extractfile(m).read()) for m in packed if m.isfile())
    for name, text in texts:
        parts = Path(name).parts
        if name.endswith(".py") and not any("test" in part for part in parts):
            yield name, text.decode(errors="replace")


class Calls(ast.NodeVisitor):
    """The full names of what a file calls of SciPy's."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.found: list[str] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] == "scipy":
                self.names[alias.asname or "scipy"] = alias.name if alias.asname else "scipy"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module and node.module.split(".")[0] == "scipy":
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def name_of(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.name_of(node.value)
            return owner and f"{owner}.{node.attr}"
        if isinstance(node, ast.Call):  # a frozen distribution
            owner = self.name_of(node.func)
            return owner if owner and owner.startswith("scipy.stats.") else None
        return None

    def visit_Call(self, node: ast.Call) -> None:
        name = self.name_of(node.func)
        if name:
            self.found.append(name)
        self.generic_visit(node)


def calls_of(path: Path) -> Iterator[str]:
    for _, text in sources(path):
        if "scipy" not in text:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's escapes
            try:
                tree = ast.parse(text)
            except SyntaxError:
                continue
        calls = Calls()
        for kind in (ast.Import, ast.ImportFrom):
            for node in ast.walk(tree):
                if isinstance(node, kind):
                    calls.visit(node)
        calls.visit(tree)
        yield from calls.found


def main(words: list[str]) -> None:
    by_module = "--modules" in words
    paths = [Path(word) for word in words if not word.startswith("--")]
    counts = Counter(name for path in paths for name in calls_of(path))
    if by_module:
        modules = Counter[str]()
        for name, n in counts.items():
            modules[".".join(name.split(".")[:2])] += n
        counts = modules
    for name, n in counts.most_common():
        print(f"{n:6d} {name}")


if __name__ == "__main__":
    main(sys.argv[1:])

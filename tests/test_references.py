"""What pages, docstrings and comments name in backticks exists: files, identifiers, links."""

import builtins
import importlib
import keyword
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("benchmarks", "docs", "examples", "src", "tests", "tools")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in p.parts),
]
# In a file of Python: what is prose, and names. Names in other strings count as names.
TOKENS = re.compile(r'"""(?P<text>.*?)"""|#(?P<comment>[^\n]*)|(?P<name>[A-Za-z_]\w*)', re.DOTALL)
CELLS = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FILE = re.compile(r"[\w./*-]+\.(?:py|md|json|txt|toml|svg|png)|[\w.-]+/[\w./-]*")
WORD = re.compile(r"(?<![\w'\"])[A-Za-z_]\w+(?!['\"\w])", re.ASCII)
DOTTED = re.compile(r"(?<![\w./-])(?:pb|pullback)((?:\.[A-Za-z_]\w*)+)(?!\w*\.py\b)")
LINK = re.compile(r"\[[^\]`]*\]\(([^)\s]+)\)")

# Names of other projects, and words that are no names.
ELSEWHERE = {
    "Optional": "typing",
    "_make_tuple_bunch": "SciPy",
    "_milp": "SciPy",
    "guvectorize": "numba",
    "iy": "x + iy",
    "lartg": "LAPACK",
    "lowest_optimization_result": "SciPy",
    "primitive_vjps": "autograd",
    "quick_grad_check": "autograd",
    "the_name": "of the reader's function",
    "use_tracing": "CPython",
    "v3": "LLVM",
    "xbar": "Python's statistics",
    "_dot": "an ending",
}
# Examples of names that pullback does not have.
NO_NAMES = {"pullback.jit", "pullback.name", "pullback.autograd.x"}
# Files that are made, and files of other projects.
MADE = {"out/report.html", "docs/_build/html", "pullback/code", "test_logic.py"}


@cache
def sources():
    """The paths of all files and folders and their ends, and the names that code uses."""
    paths, names, prose = set(), {*dir(builtins), *keyword.kwlist}, {}
    found = [*ROOT.glob("*"), *(p for folder in FOLDERS for p in (ROOT / folder).rglob("*"))]
    for path in found:
        parts = path.relative_to(ROOT).parts
        if "__pycache__" in parts or "_build" in parts:
            continue
        paths.update("/".join(parts[i:]) for i in range(len(parts)))
        names.add(path.stem)
        if path.suffix == ".py" and path != Path(__file__).resolve():
            texts = []
            for match in TOKENS.finditer(path.read_text("utf-8")):
                if match["name"]:
                    names.add(match["name"])
                else:
                    texts.append(match["text"] or match["comment"] or "")
            if parts[0] == "src":
                prose["/".join(parts)] = "\n".join(texts)
    for page in PAGES:
        text = page.read_text("utf-8")
        for cell in CELLS.findall(text):
            names.update(re.findall(r"[A-Za-z_]\w*", cell))
        if page.name != "coverage.md":  # made from the samples
            prose[page.relative_to(ROOT).as_posix()] = CELLS.sub("", text)
    return paths, names, prose


def exists(path, paths):
    """Whether a path, or the end of one, is in the repository; `compiler/call` names a folder."""
    path = path.rstrip("/")
    if "*" in path:
        return any(Path(p).match(path) for p in paths)
    return bool({path, f"{path}.py"} & paths)


def missing():
    paths, names, prose = sources()
    for where, text in prose.items():
        for quoted in QUOTED.findall(text):
            if FILE.fullmatch(quoted):
                if not exists(quoted, paths):
                    yield where, quoted.rstrip("/")
            else:
                yield from ((where, word) for word in WORD.findall(quoted) if word not in names)


def test_files_and_names_in_backticks_exist():
    """A file that was moved and a function that was renamed are renamed in the text as well."""
    found = set(missing())
    assert {(where, name) for where, name in found if name not in {*ELSEWHERE, *MADE}} == set()
    assert {*ELSEWHERE, *MADE} <= {name for _, name in found}, "these are no exceptions any more"


def resolves(dotted):
    """Whether `pullback.a.b` is an object, or a module that can be imported."""
    owner = importlib.import_module("pullback")
    for name in dotted.split(".")[1:]:
        try:
            owner = getattr(owner, name)
        except AttributeError:
            try:
                owner = importlib.import_module(f"{owner.__name__}.{name}")
            except (AttributeError, ImportError):
                return False
    return True


def test_names_of_the_package_resolve():
    """What is written `pb.grad` or `pullback.testing.staged` is there."""
    quoted = {q for text in sources()[2].values() for q in QUOTED.findall(text)}
    found = {f"pullback{names}" for q in quoted for names in DOTTED.findall(q)}
    assert len(found) > 40
    assert {name for name in found if not resolves(name)} == NO_NAMES


def heading(text):
    """The anchor that GitHub and Sphinx give a heading."""
    return re.sub(r"[^\w -]", "", text.replace("`", "").strip().lower()).replace(" ", "-")


def test_links_lead_somewhere():
    """Links between pages name files, headings and anchors that there are."""
    broken = set()
    for page in PAGES:
        for target in LINK.findall(CELLS.sub("", page.read_text("utf-8"))):
            name, _, anchor = target.partition("#")
            other = page.parent / name if name else page
            if "://" in target or f"({target})=" in (ROOT / "docs/errors.md").read_text("utf-8"):
                continue
            if not other.exists():
                broken.add((page.name, target))
            elif anchor:
                text = CELLS.sub("", other.read_text("utf-8"))
                anchors = {heading(line) for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
                if anchor not in anchors | set(re.findall(r"^\((.*)\)=$", text, re.MULTILINE)):
                    broken.add((page.name, target))
    assert broken == set()

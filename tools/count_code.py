"""Print the lines of code of each part, without blank lines, comments and docstrings."""

import ast
import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def main():
    """Count the files of each folder in src/pullback, and those beside it."""
    counts = {}
    for path in sorted(ROOT.glob("src/pullback/**/*.py")):
        part = path.relative_to(ROOT / "src").parent.as_posix()
        counts.setdefault(part, []).append(code_lines(path.read_text(encoding="utf-8")))
    for folder in ("tests", "benchmarks", "examples", "tools"):
        paths = sorted(ROOT.glob(f"{folder}/**/*.py"))
        counts[folder] = [code_lines(path.read_text(encoding="utf-8")) for path in paths]
    print("lines of code          files   lines   longest")
    for part, lines in counts.items():
        print(f"{part:<22} {len(lines):5d} {sum(lines):7,d} {max(lines, default=0):9,d}")


def code_lines(text):
    """Count the lines that hold a token which is neither layout, comment nor docstring."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT and token.string:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(text)))


def docstring_lines(tree):
    """Return the numbers of the lines that docstrings take."""
    lines = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Module(body=[ast.Expr(value=ast.Constant(value=str())) as doc, *_])
                | ast.ClassDef(body=[ast.Expr(value=ast.Constant(value=str())) as doc, *_])
                | ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())) as doc, *_])
            ):
                lines.update(range(doc.lineno, doc.end_lineno + 1))
    return lines


if __name__ == "__main__":
    main()

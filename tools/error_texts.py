"""Every error text in the code, as docs/troubleshooting.md must list it: `…` stands for what varies.

python tools/error_texts.py          # texts that the page lacks, and texts of the page that the code no longer has
python tools/error_texts.py --list   # every text, by where it is raised
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "troubleshooting.md"
GAP = "…"
# C++ functions through which a text becomes an exception, beside `throw`.
_CPP_RAISE = re.compile(r"\b(?:throw\s+[\w:]+|raise|fail|bad|error_at|reject)\s*[({]")
_CPP_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def python_texts(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each exception class of errors.py that is called with a message."""
    classes = _error_classes()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _called(node) in classes and node.args:
            text = _rendered(node.args[0])
            if text.strip(GAP + " "):
                yield node.lineno, _tidy(text)


def cpp_texts(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each throw, raise() or fail() with string literals."""
    source = path.read_text(encoding="utf-8")
    for found in _CPP_RAISE.finditer(source):
        call = source[found.end() - 1 : _closing(source, found.end() - 1)]
        text = _cpp_rendered(call)
        if text.strip(GAP + " "):
            yield source.count("\n", 0, found.start()) + 1, _tidy(text)


def all_texts() -> dict[str, str]:
    """text → where it is raised first."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "agentenv_fast").rglob("*.py")):
        for line, text in python_texts(path):
            found.setdefault(text, f"{path.relative_to(ROOT)}:{line}")
    for folder in ("csrc", "bindings"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in (".cpp", ".h", ".cu"):
                for line, text in cpp_texts(path):
                    found.setdefault(text, f"{path.relative_to(ROOT)}:{line}")
    return found


def page_texts() -> list[str]:
    """The texts of the page: the first cell of each table row, in backticks."""
    rows = re.findall(r"^\| `` ?(.+?) ?`` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [row.replace("\\|", "|") for row in rows]


def _error_classes() -> set[str]:
    tree = ast.parse((ROOT / "agentenv_fast" / "errors.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _rendered(node: ast.expr) -> str:
    """A message expression with `…` for everything that is not literal."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_rendered(part) if isinstance(part, ast.Constant) else GAP for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _rendered(node.left) + _rendered(node.right)
    return GAP


def _cpp_rendered(call: str) -> str:
    """The literals of a C++ call joined by `…`; the class name of raise("Class", ...) is left out."""
    call = re.sub(r'^\(\s*"\w+Error",', "(", call)
    parts, end = [], 1
    for literal in _CPP_STRING.finditer(call):
        between = call[end : literal.start()].strip()
        if between.strip("+ \n"):
            parts.append(GAP)
        parts.append(literal.group(1).replace('\\"', '"'))
        end = literal.end()
    if call[end:-1].strip("+ \n)"):
        parts.append(GAP)
    return "".join(parts)


def _closing(source: str, start: int) -> int:
    """The position after the bracket that closes the one at `start`; brackets in strings do not count."""
    depth, position = 0, start
    while position < len(source):
        literal = _CPP_STRING.match(source, position)
        if literal:
            position = literal.end()
            continue
        depth += (source[position] in "({[") - (source[position] in ")}]")
        position += 1
        if depth == 0:
            break
    return position


def _tidy(text: str) -> str:
    return re.sub(f"{GAP}+", GAP, " ".join(text.split()))


def main() -> int:
    if "--list" in sys.argv:
        for text, where in all_texts().items():
            print(f"{where}\t{text}")
        return 0
    code, page = all_texts(), page_texts()
    missing = {text: where for text, where in code.items() if text not in page}
    stale = [text for text in page if text not in code]
    for text, where in missing.items():
        print(f"missing in {PAGE.name}: {text}   ({where})")
    for text in stale:
        print(f"stale in {PAGE.name}: {text}")
    return 1 if missing or stale else 0


if __name__ == "__main__":
    sys.exit(main())

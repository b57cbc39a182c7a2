"""A lint of our own: one statement a line. `python -m tests.style.packed [--fix] [FOLDER ...]`.

Refused are assignments of three or more values written out (``a, b, c = x, y, z``; results of one
call may be unpacked), and several calls on a line as a tuple (``put(...), put(...)``)."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

FOLDERS = ("spatialops", "contact", "collision", "models", "examples", "tests")
MOST = 2  # values of one assignment


def main(arguments: list[str]) -> int:
    """Check, or rewrite, all Python files of the folders; how many places are left."""
    fix = "--fix" in arguments
    folders = [item for item in arguments if not item.startswith("-")] or list(FOLDERS)
    left = 0
    for path in sources(folders):
        text = path.read_text()
        if fix:
            text = fixed(text)
            path.write_text(text)
        for node in packed(ast.parse(text)):
            print(f"{path}:{node.lineno}: {describe(node)}")
            left += 1
    return left


def sources(folders: list[str]) -> list[Path]:
    """Python files of the folders; those behind symbolic links are met where they are."""
    found: list[Path] = []
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                found.append(path)
    return found


def packed(tree: ast.AST) -> list[ast.stmt]:
    """Statements that hold several."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and parts(node)]


def parts(node: ast.stmt) -> list[tuple[ast.expr | None, ast.expr]]:
    """(target, value) of what a packed statement holds; nothing where it is not packed."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Tuple):
        return [(None, value) for value in node.value.elts]
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return []
    target, values = node.targets[0], node.value.elts
    if not isinstance(target, ast.Tuple) or len(target.elts) != len(values) or len(values) <= MOST:
        return []
    if any(isinstance(item, ast.Starred) for item in (*target.elts, *values)):
        return []
    return list(zip(target.elts, values, strict=True))


def describe(node: ast.stmt) -> str:
    """What is wrong with a statement."""
    if isinstance(node, ast.Expr):
        return "several calls in one statement"
    return f"an assignment of {len(parts(node))} values"


def fixed(text: str) -> str:
    """The text with packed statements written one a line, where their order does not matter."""
    lines = text.split("\n")
    nodes = sorted(packed(ast.parse(text)), key=lambda node: -node.lineno)
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) > 1:
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before = lines[first][: node.col_offset]
        if before.strip() or entangled(parts(node)):
            continue
        rest = lines[last].encode()[node.end_col_offset or 0 :].decode().strip()
        if rest and not rest.startswith("#"):
            continue
        lines[first : last + 1] = rewritten(text, node, before, rest)
    return "\n".join(lines)


def rewritten(text: str, node: ast.stmt, indent: str, comment: str) -> list[str]:
    """The lines of a packed statement, one for each of its parts."""
    made = [f"{indent}{comment}"] if comment else []
    for target, value in parts(node):
        source = ast.get_source_segment(text, value) or ""
        if "\n" in source:
            source = f"({source})"
        head = f"{ast.get_source_segment(text, target)} = " if target is not None else ""
        made += f"{indent}{head}{source}".split("\n")
    return made


def entangled(pairs: list[tuple[ast.expr | None, ast.expr]]) -> bool:
    """Whether a part reads what an earlier one has just written."""
    written: set[str] = set()
    for target, value in pairs:
        places = names(target) if isinstance(target, ast.Subscript | ast.Attribute) else set()
        if written & (names(value) | places):
            return True
        written |= {written_name(target)} if target is not None else set()
    return False


def written_name(target: ast.expr) -> str:
    """What an assignment changes: a name, an attribute, or all of an array."""
    return ast.unparse(target.value if isinstance(target, ast.Subscript) else target)


def names(node: ast.expr) -> set[str]:
    """Names and attributes that an expression is made of."""
    return {
        ast.unparse(item) for item in ast.walk(node) if isinstance(item, ast.Name | ast.Attribute)
    }


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))

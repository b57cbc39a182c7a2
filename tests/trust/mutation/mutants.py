"""Small faults put into a source on purpose, and the tests that are the nearest to it.

Arithmetic, comparisons, signs and limits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
# Tests that guard a file besides those of its own name.
_ALSO = {
    "spatialops/simulation/stepping/step_check.py": ["tests/simulation/test_alarms.py"],
    "spatialops/simulation/stepping/impact_stage.py": ["tests/simulation/test_alarms.py"],
    "spatialops/tree/state.py": ["tests/simulation/test_alarms.py"],
    "contact/lcp/infeasibility.py": ["tests/simulation/test_alarms.py"],
}
_COMPARED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
_COMPUTED = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
_JOINED = {ast.And: ("and", "or"), ast.Or: ("or", "and")}
_FACTOR = "1e3"  # what a limit is weakened or sharpened by


class Mutant(NamedTuple):
    """One fault: what stands between two offsets of the source is replaced.

    Attributes
    ----------
    line : int
        From 1.
    """

    line: int
    start: int
    end: int
    old: str
    new: str

    def source(self, whole: str) -> str:
        """The source with the fault."""
        return whole[: self.start] + self.new + whole[self.end :]

    def changed_line(self, whole: str) -> str:
        """The line with the fault, without what it is indented by and what is said of it."""
        return self.source(whole).splitlines()[self.line - 1].partition("  #")[0].strip()


class Fault(NamedTuple):
    """A mutant of a file."""

    path: str
    mutant: Mutant

    def __str__(self) -> str:
        own = self.mutant
        return f"{self.path}:{own.line}: {own.old} -> {own.new}"


class Verdict(NamedTuple):
    """Whether a fault is noticed, and by which test."""

    noticed: bool
    test: str


def mutants(source: str) -> list[Mutant]:
    """All faults that are made in a source, in its order; annotations and texts are left alone."""
    lines = source.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))

    def place(line: int, column: int) -> int:
        return offsets[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found = []
    for node in _nodes(ast.parse(source)):
        for first, second, text in _swaps(node):
            start = place(first.end_lineno, first.end_col_offset)
            end = place(second.lineno, second.col_offset)
            at = source[start:end].find(text[0])
            if at >= 0 and "#" not in source[start : start + at]:
                begin = start + at
                found.append(Mutant(first.end_lineno, begin, begin + len(text[0]), *text))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            begin = place(node.lineno, node.col_offset)
            found.append(Mutant(node.lineno, begin, begin + 1, "-", "+"))
        if isinstance(node, ast.Constant) and type(node.value) is float and node.value:
            begin, end = (
                place(node.lineno, node.col_offset),
                place(node.end_lineno, node.end_col_offset),
            )
            text = source[begin:end]
            found.append(Mutant(node.lineno, begin, end, text, f"({_FACTOR} * {text})"))
            found.append(Mutant(node.lineno, begin, end, text, f"({text} / {_FACTOR})"))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.new))


def _swaps(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, tuple[str, str]]]:
    """Pairs of neighbours in an expression, and what is swapped between them."""
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for i, operator in enumerate(node.ops):
            if type(operator) in _COMPARED:
                yield operands[i], operands[i + 1], _COMPARED[type(operator)]
    elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        yield node.left, node.right, _COMPUTED[type(node.op)]
    elif isinstance(node, ast.BoolOp):
        for first, second in zip(node.values, node.values[1:]):
            yield first, second, _JOINED[type(node.op)]


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of annotations, formatted texts and `raise`."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.JoinedStr, ast.Raise)):
                yield child
                yield from _nodes(child)


def lots_of(path: str) -> list[list[str]]:
    """Lots of tests of a file, the nearest first: of its name, its folder, its room.

    No test is in two of them; within one those come first that name most of what the file defines.
    """
    words = _words(path)
    room = Path(path.removeprefix("spatialops/"))
    named = [str(Path("tests", room.parent, f"test_{room.name}")), *_ALSO.get(path, [])]
    folders = [str(Path("tests", folder)) for folder in room.parents][:-1]
    lots: list[list[str]] = []
    seen: set[str] = set()
    for names in (named, *([folder] for folder in folders)):
        lot = [file for name in names if (ROOT / name).exists() for file in _files(name)]
        lot = [file for file in dict.fromkeys(lot) if file not in seen]
        lots.append(sorted(lot, key=lambda file: -_named(file, words)))
        seen.update(lot)
    return [lot for lot in lots if lot]


def _words(path: str) -> set[str]:
    """A module's name and those of what it defines."""
    tree = ast.parse((ROOT / path).read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {Path(path).stem, *(node.name for node in tree.body if isinstance(node, kinds))}


def _named(file: str, words: set[str]) -> int:
    """How many of the words a file has."""
    text = (ROOT / file).read_text()
    return sum(word in text for word in words)


def _files(name: str) -> list[str]:
    """A file of tests, or all in a folder."""
    path = ROOT / name
    found = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [str(file.relative_to(ROOT)) for file in found]

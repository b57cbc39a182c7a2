"""Small faults put into a source on purpose: arithmetic, comparisons, signs, limits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

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

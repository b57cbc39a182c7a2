"""Faults put into what is loaded: functions get the code of the changed source.

What stands outside of functions (limits of a module, defaults) was computed when the module was
loaded, and handed on from there: such a fault is none of these.
"""

from __future__ import annotations

import ast
import functools
import gc
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

from tests.trust.mutation.mutants import ROOT, Fault, Mutant


class Place(NamedTuple):
    """Where a function of a file begins, as its code says it.

    Attributes
    ----------
    name : str
        Qualified.
    line : int
        The first one, of its decorators if it has any.
    """

    name: str
    line: int


def place_of(path: str, mutant: Mutant) -> Place | None:
    """The outermost function in which a fault lies; None where it is in no function's body."""
    tree = ast.parse((ROOT / path).read_text())
    for place, node in _functions(tree.body, ""):
        if node.body[0].lineno <= mutant.line <= (node.end_lineno or 0):
            return place
    return None


def _codes_of(path: str, whole: str) -> dict[Place, CodeType]:
    """Code of all functions of a source, compiled as that file."""
    module = compile(whole, path, "exec", dont_inherit=True)
    return {Place(code.co_qualname, code.co_firstlineno): code for code in _codes_within(module)}


def loaded_functions() -> dict[tuple[Path, Place], list[FunctionType]]:
    """All functions that are loaded, by their files."""
    found: dict[tuple[Path, Place], list[FunctionType]] = {}
    for item in gc.get_objects():
        if type(item) is FunctionType:
            code = item.__code__
            place = Place(code.co_qualname, code.co_firstlineno)
            found.setdefault((_file(code.co_filename), place), []).append(item)
    return found


def put_in(fault: Fault, place: Place, functions: list[FunctionType]) -> None:
    """Give a fault to all copies of its function, here and now."""
    whole = fault.mutant.source((ROOT / fault.path).read_text())
    code = _codes_of(functions[0].__code__.co_filename, whole)[place]
    for function in functions:
        function.__code__ = code


def _codes_within(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of what is defined in it."""
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _codes_within(item)


@functools.cache
def _file(name: str) -> Path:
    return Path(name).resolve()


def _functions(body: list[ast.stmt], within: str) -> Iterator[tuple[Place, ast.FunctionDef]]:
    """The outermost functions, and methods."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            yield Place(within + node.name, first), node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{within}{node.name}.")

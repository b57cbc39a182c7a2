"""What a kernel's machine code is made of, as one number: when it differs, the kernel is compiled.

Numba freezes into a kernel the instructions of its function, the constants they name, and the
kernels they call, whose code it copies. Stages stay outside: their callers know a symbol. Comments,
other functions of the same files and everything else may change without a kernel being compiled
again; a changed constant or helper far away may not, and is seen.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TypeAlias

import numpy as np
from numba.core import types

from spatialops._compile.compiler_object import CompilerObject

Part: TypeAlias = CompilerObject  # whatever a kernel may name

_PACKAGE = __name__.partition(".")[0]


def digest(function: FunctionType) -> str:
    """Hash of a function, and of all that is copied into its machine code."""
    seen = {function}
    todo = [function]
    parts = hashlib.sha256()
    while todo:
        own, copied = _own(todo.pop())
        parts.update(own)
        fresh = [callee for callee in copied if callee not in seen]
        todo += fresh
        seen.update(fresh)
    return parts.hexdigest()


@functools.cache
def file_digest(file: str) -> bytes:
    """Hash of a file's text."""
    return hashlib.sha256(Path(file).read_bytes()).digest()


def described_type(kind: Part) -> str:
    """A type in full: the text of a table's type leaves out the names of its fields.

    Code for types of ours is also made of the files that say how they are used, `sources`.
    """
    table = getattr(kind, "table", kind)
    if not isinstance(table, types.BaseTuple):  # type: ignore[attr-defined]
        sources = getattr(kind, "sources", None)
        return f"{kind} {sources}" if sources else str(kind)
    return f"{kind} {getattr(table, 'fields', ())} {[described_type(part) for part in table]}"


def sources_digest(package: Path) -> str:
    """Hash of all Python files of a package, by name and text."""
    parts = hashlib.sha256()
    for root, folders, files in os.walk(package, followlinks=True):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                parts.update(name.encode() + b"\0" + Path(root, name).read_bytes())
    return parts.hexdigest()


@functools.cache
def _own(function: FunctionType) -> tuple[bytes, tuple[FunctionType, ...]]:
    """Hash of what is a function's own, and the functions whose code is copied into it."""
    parts = hashlib.sha256(f"{function.__module__}.{function.__qualname__}".encode())
    copied: list[FunctionType] = []
    for part in _parts(function):
        inner = getattr(part, "py_func", None)
        if inner is None:
            parts.update(_described(part).encode() + b"\0")
        elif inner not in copied:
            parts.update(str(sorted(part.targetoptions.items(), key=str)).encode())
            copied.append(inner)
    return parts.digest(), tuple(copied)


def _parts(function: FunctionType) -> Iterator[Part]:
    """Instructions, constants and defaults of a function, and what its names stand for."""
    yield function.__defaults__
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    for code in _codes(function.__code__):
        yield code.co_code
        yield code.co_varnames
        yield from (constant for constant in code.co_consts if not isinstance(constant, CodeType))
        for name in code.co_names:
            yield name
            if name in function.__globals__:
                yield from _named(function.__globals__[name], code.co_names)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _named(value: Part, names: tuple[str, ...]) -> Iterator[Part]:
    """A value; of a module of ours, what is taken from it."""
    if not isinstance(value, ModuleType):
        yield value
    elif _is_ours(value.__name__):
        yield from (getattr(value, name) for name in names if hasattr(value, name))


def _described(part: Part) -> str:
    """A text that differs where the part does, in every process the same."""
    if part is None or isinstance(part, (bool, int, float, complex, str, bytes, np.generic)):
        return f"{type(part).__name__} {part!r}"
    if isinstance(part, np.ndarray):
        return f"{part.dtype} {part.shape} {hashlib.sha256(part.tobytes()).hexdigest()}"
    if isinstance(part, type) and hasattr(part, "_fields"):
        return f"{part.__module__}.{part.__qualname__} {part._fields}"
    if isinstance(part, (tuple, frozenset)):
        each = [_described(item) for item in part]
        return f"{type(part).__name__} {each if isinstance(part, tuple) else sorted(each)}"
    if made := getattr(part, "stage", None):  # what callers know of a kernel apart
        return f"{made.name} {inspect.signature(made.py_func)}"
    return _described_by_file(part)


def _described_by_file(part: Part) -> str:
    """Its name, and the whole file that makes it if that is ours: types, intrinsics, overloads."""
    kind = type(part)
    module = getattr(part, "__module__", None) or kind.__module__
    name = getattr(part, "__qualname__", None) or f"{kind.__qualname__} {part!r}"
    if not _is_ours(module):
        return f"{module}.{name}"
    return f"{module}.{getattr(part, '__qualname__', kind.__qualname__)} {_file_of(module)}"


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE


def _file_of(module: str) -> str:
    file = sys.modules[module].__file__
    return "" if file is None else file_digest(file).hex()

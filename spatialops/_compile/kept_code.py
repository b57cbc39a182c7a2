"""Machine code on disk: one file an entry, checked before it runs, of no worth if lost.

Numba's own cache knows a kernel by the file it stands in: it goes stale, silently, when a callee in
another file changes, it believes whatever bytes it finds, and every clone has its own. Here an
entry is named by the hash of all that the code is made of, so any clone of the same sources finds
it, and its first bytes are the hash of the rest: what is cut short or changed is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import time
from pathlib import Path
from types import FunctionType

import numba
from llvmlite import binding
from numba.core import compiler, serialize, types
from numba.core.caching import _Cache

from spatialops._compile import digest
from spatialops._compile.compiler_object import CompilerObject
from spatialops._files import save_bytes
from spatialops.errors import AssetError

SUFFIX = ".code"
_CHECK = hashlib.sha256().digest_size
_KEPT_FOR = 60 * 24 * 3600.0  # s without use

# Files that decide how kernels are compiled.
_COMPILER = ("jit.py", "stage.py", "fast_call.py", "held.py")


class KeptCode(_Cache):  # type: ignore[misc]
    """Where the compiled versions of one function are kept, as Numba's dispatcher asks for it."""

    def __init__(self, function: FunctionType, folder: Path, options: dict[str, object]) -> None:
        self._function = function
        self._folder = folder
        self._options = options

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: CompilerObject, target_context: CompilerObject) -> CompilerObject:
        """The code for a signature; None where there is none, or none that can be trusted."""
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        content = _checked(path)
        if content is None:
            return None
        with contextlib.suppress(OSError):  # it may be read-only
            os.utime(path)
        return compiler.CompileResult._rebuild(target_context, *pickle.loads(content))

    def save_overload(self, sig: CompilerObject, data: CompilerObject) -> None:
        """Keep the code for a signature; a disk that takes no more only costs time later."""
        if data.library.has_dynamic_globals or any(not part.can_cache for part in data.lifted):
            return
        content = serialize.dumps(data._reduce())
        with contextlib.suppress(AssetError):
            save_bytes(self._path(sig, data.codegen), hashlib.sha256(content).digest() + content)

    def enable(self) -> None:
        """Nothing: there is no way to switch it off."""

    def disable(self) -> None:
        """Nothing either."""

    def flush(self) -> None:
        """Nothing: what is out of date is never found."""

    def _path(self, sig: CompilerObject, codegen: CompilerObject) -> Path:
        arguments: CompilerObject = getattr(sig, "args", sig)
        kinds = [_layout(kind) for kind in arguments]
        options = sorted(self._options.items(), key=str)
        parts = (digest.digest(self._function), kinds, codegen.magic_tuple(), options, _versions())
        name = hashlib.sha256(str(parts).encode()).hexdigest()
        return self._folder / f"{self._function.__name__}-{name[:32]}{SUFFIX}"


def forget_unused(folder: Path) -> None:
    """Remove what has not been used for long."""
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _KEPT_FOR:
                path.unlink()


def _layout(kind: CompilerObject) -> str:
    """A type in full: the text of a table's type leaves out the names of its fields."""
    table = getattr(kind, "table", kind)
    if not isinstance(table, types.BaseTuple):  # type: ignore[attr-defined]
        return str(kind)
    return f"{kind} {getattr(table, 'fields', ())} {[_layout(part) for part in table]}"


def _versions() -> tuple[object, ...]:
    """What compiles, besides what is compiled."""
    here = Path(__file__).parent
    ours = [digest.file_digest(str(here / name)).hex() for name in _COMPILER]
    settings = numba.config.BOUNDSCHECK, numba.config.OPT
    tools = numba.__version__, binding.llvm_version_info, sys.implementation.cache_tag
    return (*ours, *settings, *tools)


def _checked(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    rest = content[_CHECK:]
    return rest if hashlib.sha256(rest).digest() == content[:_CHECK] else None

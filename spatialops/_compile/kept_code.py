"""Machine code on disk: one file an entry, checked before it runs, of no worth if lost.

Numba's own cache knows a kernel by the file it stands in: it goes stale, silently, when a callee in
another file changes, it believes whatever bytes it finds, and every clone has its own. Here an
entry is named by the hash of all that the code is made of, so any clone of the same sources finds
it, and its first bytes are the hash of the rest: what is cut short or changed is compiled again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import numba
from llvmlite import binding
from numba.core import compiler, serialize
from numba.core.caching import _Cache
from numba.core.runtime import _nrt_python

from spatialops._compile import digest, shipped_code
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.sealed import seal, unsealed
from spatialops._compile.turns import turns_in
from spatialops._files import save_bytes
from spatialops.errors import AssetError

SUFFIX = ".code"
_KEPT_FOR = 60 * 24 * 3600.0  # s without use
_WRITTEN_IN = 3600.0  # s; what is unfinished for longer was left by a process that was killed

# Files that decide how kernels are compiled.
_COMPILER = ("jit.py", "dispatchers.py", "references.py", "apart.py", "stage.py", "held.py")


class KeptCode(_Cache):  # type: ignore[misc]
    """Where the compiled versions of one function are found, as Numba's dispatcher asks for them.

    First among those that a wheel has brought (`shipped`), then in a folder, which may be None.
    Where one is missing, `missing` is called. What another process is compiling is waited for.
    """

    def __init__(
        self,
        function: FunctionType,
        folder: Path | None,
        options: dict[str, object],
        *,
        shipped: bool = False,
        missing: Callable[[], None] | None = None,
    ) -> None:
        self._shipped = shipped
        self._missing = missing
        self._turn: Path | None = None
        self._function = function
        self._folder = folder
        self._options = options

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def _library(self, arguments: tuple[CompilerObject, ...]) -> shipped_code.Library | None:
        """The wheel's, where it has the code for arguments of these types."""
        library = shipped_code.library() if self._shipped else None
        if library is None or not library.has(shipped_code.name(self._function, arguments)):
            return None
        return library

    def load_overload(self, sig: CompilerObject, target_context: CompilerObject) -> CompilerObject:
        """The code for a signature; None where there is none, or none that can be trusted."""
        arguments: CompilerObject = getattr(sig, "args", sig)
        if (library := self._library(arguments)) is not None:
            return library.compiled(self._function, arguments, target_context)
        if self._folder is None:
            return None
        _name_runtime()
        path = self.path(sig, target_context.codegen())
        parts = _read(path) or self._of_others(path)
        if parts is None:
            return None
        with contextlib.suppress(OSError):  # it may be read-only
            os.utime(path)
        return compiler.CompileResult._rebuild(target_context, *parts)

    def _of_others(self, path: Path) -> CompilerObject:
        """What another process makes of a kernel that is missing; None where this one has to."""
        _NOTICE.count()
        if self._missing is not None:
            self._missing()
        self._turn = path
        turns_in(path.parent).wait_for(path.name)
        return _read(path)

    def is_free(self, sig: CompilerObject, target_context: CompilerObject) -> bool:
        """Whether the code is to be made and nobody is at it: not whether it can be trusted."""
        if self._folder is None:
            return True
        path = self.path(sig, target_context.codegen())
        turns = turns_in(path.parent)
        free = not path.exists() and turns.take(path.name)
        if free:
            turns.give_back(path.name)
        return free

    def end_turn(self) -> None:
        """Nobody need wait any longer: the code is there, or there will be none."""
        if self._turn is not None:
            turns_in(self._turn.parent).give_back(self._turn.name)
            self._turn = None

    def save_overload(self, sig: CompilerObject, data: CompilerObject) -> None:
        """Keep the code for a signature; a disk that takes no more only costs time later."""
        if (
            self._folder is None
            or data.library.has_dynamic_globals
            or any(not part.can_cache for part in data.lifted)
        ):
            return
        content = serialize.dumps(data._reduce())
        with contextlib.suppress(AssetError):
            save_bytes(self.path(sig, data.codegen), seal(content))

    def enable(self) -> None:
        """Nothing: there is no way to switch it off."""

    def disable(self) -> None:
        """Nothing either."""

    def flush(self) -> None:
        """Nothing: what is out of date is never found."""

    def path(self, sig: CompilerObject, codegen: CompilerObject) -> Path:
        """The file of the code for a signature, whether it is there or not."""
        assert self._folder is not None
        arguments: CompilerObject = getattr(sig, "args", sig)
        kinds = [digest.described_type(kind) for kind in arguments]
        options = sorted(self._options.items(), key=str)
        parts = (digest.digest(self._function), kinds, codegen.magic_tuple(), options, _versions())
        name = hashlib.sha256(str(parts).encode()).hexdigest()
        return self._folder / f"{self._function.__name__}-{name[:32]}{SUFFIX}"


def _read(path: Path) -> CompilerObject:
    """What a file holds; None where there is none, or none that can be trusted or understood."""
    content = unsealed(path)
    if content is None:
        return None
    try:
        return pickle.loads(content)
    except (ImportError, AttributeError):  # a class of tables has another name, or place, since
        return None


class Notice:
    """Tells who waits at a terminal or a notebook that compiling takes minutes: once, or never."""

    def __init__(self, after: int) -> None:
        self._left = after

    def count(self) -> None:
        """A kernel has to be compiled. A few take seconds, which need no word."""
        self._left -= 1
        if self._left or sys.stderr is None:
            return
        if sys.stderr.isatty() or "ipykernel" in sys.modules:
            print(_TAKES_MINUTES, file=sys.stderr, flush=True)

    def never(self) -> None:
        """Say nothing: something else shows how far it is."""
        self._left = 0


_NOTICE = Notice(after=4)
_TAKES_MINUTES = (
    "spatialops compiles its kernels, once for this version: a few minutes. "
    "`spatialops precompile` does it beforehand, with a bar."
)


@functools.cache
def _name_runtime() -> None:
    """Tell LLVM where functions of Numba's run-time are, which code from disk may call.

    Numba's own cache refreshes its contexts here, which imports and wakes all that compiling
    takes: 50 MB, and half of a first step. Where something is compiled, Numba does so itself.
    """
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def say_nothing() -> None:
    """Let kernels be compiled without a word in this process."""
    _NOTICE.never()


def forget_unused(folder: Path) -> None:
    """Remove what has not been used for long, and what was never finished."""
    for pattern, seconds in ((f"*{SUFFIX}", _KEPT_FOR), (".*.part", _WRITTEN_IN)):
        for path in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > seconds:
                    path.unlink()


def _versions() -> tuple[object, ...]:
    """What compiles, besides what is compiled."""
    here = Path(__file__).parent
    ours = [digest.file_digest(str(here / name)).hex() for name in _COMPILER]
    settings = numba.config.BOUNDSCHECK, numba.config.OPT
    tools = numba.__version__, binding.llvm_version_info, sys.implementation.cache_tag
    return (*ours, *settings, *tools)

"""Marks in the folder of kernels that say that everything is compiled, or what most steps need."""

from __future__ import annotations

import contextlib
import hashlib
import platform
from pathlib import Path

import numba

from spatialops._compile import cache, shipped_code
from spatialops._compile.digest import sources_digest
from spatialops._files import save_bytes
from spatialops.errors import AssetError


def is_warm(*, loop_only: bool = False) -> bool:
    """Whether `precompile` has nothing to do."""
    if numba.config.DISABLE_JIT or shipped_code.library() is not None:
        return True
    folder = cache.cache_directory()
    if folder is None:
        return False
    made_of = _made_of()
    kinds = (False, True) if loop_only else (False,)
    return any((folder / _name(made_of, kind)).exists() for kind in kinds)


def leave_mark(loop_only: bool) -> None:
    """Put the mark in place in one step; a place that cannot be written only costs time later."""
    folder = cache.cache_directory()
    if folder is None:
        return
    with contextlib.suppress(AssetError):
        save_bytes(folder / _name(_made_of(), loop_only), b"all kernels compiled\n")


def _made_of() -> str:
    """What these sources are compiled by and for, and all of their text, which is read for it."""
    tools = f"{platform.python_version()} {numba.__version__} {_processor()}"
    return f"{tools} {sources_digest(Path(__file__).parent)}"


def _name(made_of: str, loop_only: bool) -> str:
    """The file that says that it is compiled."""
    kind = "loop" if loop_only else "complete"
    return f"{kind}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"


def _processor() -> str:
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"

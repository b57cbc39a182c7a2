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
    marks = [_mark(), _mark(True)] if loop_only else [_mark()]
    return any(mark is not None and mark.exists() for mark in marks)


def leave_mark(loop_only: bool) -> None:
    """Put the mark in place in one step; a place that cannot be written only costs time later."""
    mark = _mark(loop_only)
    if mark is None:
        return
    with contextlib.suppress(AssetError):
        save_bytes(mark, b"all kernels compiled\n")


def _mark(loop_only: bool = False) -> Path | None:
    """File that says that these sources are compiled for this interpreter and processor."""
    tools = f"{platform.python_version()} {numba.__version__} {_processor()}"
    made_of = f"{tools} {sources_digest(Path(__file__).parent)}"
    folder = cache.cache_directory()
    name = (
        f"{'loop' if loop_only else 'complete'}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"
    )
    return None if folder is None else folder / name


def _processor() -> str:
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"

"""The decorators of compiled code, and the place where it is cached.

Numba's own cache goes stale, silently, when a callee in another file changes. The cache folder is
therefore keyed by a hash of all sources that take part in compiled code: any edit opens a fresh
folder, and an old one is never read again.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])

# What Numba and LLVM hand over while they compile: they have no types that mypy could read.
CompilerObject: TypeAlias = Any

_MARKS = (b"_compile", b"_layout")  # where kernels or the constants in them are defined


def _sources_digest() -> str:
    """Hash of every source file that compiled code is made of."""
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parents[1]
    for root, folders, files in os.walk(package, followlinks=True):
        folders.sort()
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            text = Path(root, name).read_bytes()
            if name == "_layout.py" or any(mark in text for mark in _MARKS):
                digest.update(name.encode() + b"\0" + text)
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Folder of this version's compiled kernels.

    Set ``SPATIALOPS_CACHE_DIR`` to move it; by default it lies in the user's cache folder
    (``XDG_CACHE_HOME``), or in the system's temporary folder where that cannot be written.
    """
    override = os.environ.get("SPATIALOPS_CACHE_DIR")
    base = (
        Path(override)
        if override
        else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    )
    folder = base / "spatialops" / _sources_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        folder = (
            Path(tempfile.gettempdir())
            / f"spatialops-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
        )
        folder.mkdir(parents=True, exist_ok=True)
    return folder


COMPILED = not numba.config.DISABLE_JIT
_CACHE = str(cache_directory()) if COMPILED else None


# NaN stays NaN. Without the run-time that counts references a kernel cannot allocate, by
# construction, and saves up to half its time: Numba counts every array argument of every helper
# that branches.
_OPTIONS: dict[str, object] = {
    "error_model": "numpy",
    "nogil": True,
    "fastmath": {"contract"},
    "_nrt": False,
}


def kernel(function: Function) -> Function:
    """Compile a kernel: lazily, cached on disk, GIL released.

    Only fused multiply-add may change its arithmetic.
    """
    return _cached(function, **_OPTIONS)


def entry_point(function: Function) -> Function:
    """Compile the way into a kernel from Python, as a `FastCall` takes it.

    It gives up the GIL itself, where that is worth it.
    """
    return _cached(function, **{**_OPTIONS, "nogil": False})


def _cached(function: Function, **options: object) -> Function:
    if _CACHE is None:
        return function
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = (
        _CACHE  # read by Numba while it decorates; the user's own setting is put back
    )
    try:
        compiled: Function = numba.njit(cache=True, **options)(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = before


def inlined(function: Function) -> Function:
    """Compile a helper into every kernel that calls it.

    Measured: a per-link helper that is called instead costs 20-40 ns a link, most of it for
    counting references to its array arguments.
    """
    if _CACHE is None:
        return function
    compiled: Function = numba.njit(forceinline=True, **_OPTIONS)(function)
    return compiled


def merged(function: Function) -> Function:
    """Copy a function's source into the kernels that call it, before they are compiled.

    For functions of the stepping loop's big tuple of arrays: compiled on their own, each takes 2 to
    5 s for handing over that tuple alone.
    """
    if _CACHE is None:
        return function
    compiled: Function = numba.njit(inline="always", **_OPTIONS)(function)
    return compiled

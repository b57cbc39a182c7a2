"""Where compiled kernels are kept: a folder of this version's sources that only its owner writes.

Numba's own cache goes stale, silently, when a callee in another file changes. The folder is
therefore keyed by a hash of all sources that take part in compiled code: any edit opens a fresh
folder, and an old one is never read again. What lies in it is code that will run: a folder that
somebody else owns, or may write to, is never used.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

import numba

_MARKS = (b"_compile", b"_layout")  # where kernels or the constants in them are defined
_OTHERS_WRITE = stat.S_IWOTH
_OTHERS_ENTER = stat.S_IRWXG | stat.S_IRWXO


def cache_directory() -> Path | None:
    """Folder of this version's compiled kernels; None where there is no safe place for them.

    Set ``SPATIALOPS_CACHE_DIR`` to move it; by default it lies in the user's cache folder
    (``XDG_CACHE_HOME``), or in a private one in the system's temporary folder where that cannot be
    written. Without any, kernels are compiled anew in every process.
    """
    digest = _sources_digest()
    for base, private in ((_users_folder(), False), (_temporary_folder(), True)):
        folder = None if base is None else _made(base, digest, private)
        if folder is not None:
            return folder
    return None


def _users_folder() -> Path | None:
    """`spatialops` in the folder that the user names, or that caches are kept in."""
    named = os.environ.get("SPATIALOPS_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named) / "spatialops"
    try:
        return Path.home() / ".cache" / "spatialops"
    except RuntimeError:  # no HOME, and nobody in the table of users
        return None


def _temporary_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"spatialops-{user}"


def _made(base: Path, digest: str, private: bool) -> Path | None:
    """The folder of a digest in `base`, made if need be; None where it is not ours alone."""
    folder = base / digest
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        base.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        safe = _is_ours(base, private) and _is_ours(folder, private)
    except OSError:
        return None
    return folder if safe and os.access(folder, os.W_OK | os.X_OK) else None


def _is_ours(folder: Path, private: bool) -> bool:
    """Whether a folder is no link, is this user's, and others cannot write (enter, if private)."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not hasattr(os, "getuid"):
        return True
    refused = _OTHERS_ENTER if private else _OTHERS_WRITE
    return found.st_uid == os.getuid() and not found.st_mode & refused


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

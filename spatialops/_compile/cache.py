"""Where compiled kernels are kept: a folder that only its owner writes.

What lies in it is code that will run: a folder that somebody else owns, or may write to, is never
used.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

_OTHERS_WRITE = stat.S_IWOTH
_OTHERS_ENTER = stat.S_IRWXG | stat.S_IRWXO


def cache_directory(name: str = "kernels") -> Path | None:
    """Folder of compiled kernels, or of something else; None where there is no safe place for it.

    Set ``SPATIALOPS_CACHE_DIR`` to move it; by default it lies in the user's cache folder
    (``XDG_CACHE_HOME``), or in a private one in the system's temporary folder where that cannot be
    written. Without any, kernels are compiled (and whatever it is made) anew in every process.
    """
    for base, private in ((_users_folder(), False), (_temporary_folder(), True)):
        folder = None if base is None else _made(base / name, private)
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


def _made(folder: Path, private: bool) -> Path | None:
    """The folder, made if need be with the one that it lies in; None where it is not ours alone."""
    base = folder.parent
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

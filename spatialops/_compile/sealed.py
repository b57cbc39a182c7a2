"""Files that say whether they are whole: a digest, and then what it is of."""

from __future__ import annotations

import hashlib
from pathlib import Path

_LENGTH = hashlib.sha256().digest_size


def digest_of(path: Path) -> bytes:
    """Digest of a file that keeps none itself."""
    return hashlib.sha256(path.read_bytes()).digest()


def seal(content: bytes) -> bytes:
    """The content behind its digest."""
    return hashlib.sha256(content).digest() + content


def unsealed(path: Path) -> bytes | None:
    """The content of a sealed file; None where it is not whole, or not there."""
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    content = whole[_LENGTH:]
    return content if seal(content) == whole else None

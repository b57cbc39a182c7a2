"""How many processors there are to work on."""

from __future__ import annotations

import os


def processors() -> int:
    """Those that this process may use; where nobody says so, those that there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

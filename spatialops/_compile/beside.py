"""A second process that compiles what the first one will need later.

Both keep what they compile in the same folder and take turns at each kernel. The other one goes
through the parts of a step from the end. It ends with the first one, however that ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

from spatialops._compile.cache import cache_directory
from spatialops._compile.turns import turns_in
from spatialops._processors import processors

SWITCH = "SPATIALOPS_COMPILE_BESIDE"
"""Environment variable: with 0 there is no second process."""

LOOP = "loop_alone"
"""What most steps are made of, in `spatialops.precompile`."""

LOOP_AND_PICTURES = "loop_and_pictures"
"""And what is drawn of them."""

_HELPER = "helper"  # of which processes that share a folder have one
_TOLD = "import sys; sys.path[:] = {path}; from spatialops._compile.beside import serve; serve()"
_DOES = "from spatialops.precompile import compile_beside; compile_beside({tasks!r})"
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows would show one


class Beside:
    """The second process of this one: none before something is missing, and one at most."""

    def __init__(self) -> None:
        self._tried = False
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, tasks: str = LOOP) -> None:
        """Have it compile what a list of `spatialops.precompile` has, from the end.

        Without a second processor, or a folder to leave code in, there is none.
        """
        if self._tried:
            return
        self._tried = True
        if not _wanted():
            return
        code = f"{_TOLD.format(path=sys.path)}; {_DOES.format(tasks=tasks)}"
        quiet = subprocess.DEVNULL
        with contextlib.suppress(OSError):  # no process more: one takes longer
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,  # closed with this process, which the other one waits for
                stdout=quiet,
                stderr=quiet,
                env={**os.environ, SWITCH: "0"},
                creationflags=_NO_WINDOW,
            )
            atexit.register(self._end, os.getpid())

    def _end(self, owner: int) -> None:
        """Stop it, unless this is a copy of the process that began it."""
        if self._process is not None and os.getpid() == owner:
            self._process.kill()
            self._process.communicate()


BESIDE = Beside()


def _wanted() -> bool:
    """Whether a second process may begin, and would be of use."""
    folder = cache_directory()
    if folder is None or processors() < 2 or os.environ.get(SWITCH) == "0" or not _is_python():
        return False
    turns = turns_in(folder)
    free = turns.take(_HELPER)
    if free:
        turns.give_back(_HELPER)
    return free


def _is_python() -> bool:
    """Whether what runs this would run other code: a program that Python is part of would not."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


def serve() -> None:
    """Be the second process: the only one, for as long as there is a first."""
    folder = cache_directory()
    if folder is None or not turns_in(folder).take(_HELPER):
        raise SystemExit
    threading.Thread(target=_end_with_the_first, daemon=True).start()


def _end_with_the_first() -> None:
    sys.stdin.buffer.read()
    os._exit(0)

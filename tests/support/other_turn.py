"""A process that has a turn, and ends when the test likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_OTHER = """
import sys
from pathlib import Path
from spatialops._compile.turns import Turns
print(Turns(Path(sys.argv[1])).take(sys.argv[2]), flush=True)
sys.stdin.read()
"""


class OtherTurn:
    """Another process that takes a turn and keeps it until it is killed; a context."""

    def __init__(self, folder: Path, what: str) -> None:
        command = [sys.executable, "-c", _OTHER, str(folder), what]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.has_it = self.process.stdout.readline() == "True\n"

    def __enter__(self) -> OtherTurn:
        return self

    def __exit__(self, *details: object) -> None:
        self.process.kill()
        self.process.communicate()

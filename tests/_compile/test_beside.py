"""The second process: when it begins, when not, and that it ends with the first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spatialops._compile import beside
from spatialops._compile.beside import SWITCH, Beside
from spatialops._compile.turns import Turns

# In place of tasks: where it is, what is switched off in it; then it waits to be ended.
_TASKS = (
    "import os, time; from pathlib import Path; "
    "said = '%s %s' % (os.getpid(), os.environ['SPATIALOPS_COMPILE_BESIDE']); "
    "Path({place!r}).write_text(said); "
    "time.sleep(60)"
)
_WAITS = 20.0  # s

_FIRST = """
import sys, time
from pathlib import Path
from spatialops._compile import beside
beside._DOES = sys.argv[1]
beside.processors = lambda: 2
beside.BESIDE.begin()
place = Path(sys.argv[2])
while not (place.exists() and place.read_text()):
    time.sleep(0.01)
exec(sys.argv[3])
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the second process says that it is there; two processors, and an empty folder."""
    found = tmp_path / "there"
    monkeypatch.setenv("SPATIALOPS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(beside, "_DOES", _TASKS.format(place=str(found)))
    monkeypatch.setattr(beside, "processors", lambda: 2)
    return found


def begun() -> Beside:
    """One that has been told to begin, and told again."""
    made = Beside()
    made.begin()
    process = made._process
    made.begin()
    assert made._process is process
    return made


def waited_for(place: Path) -> list[str]:
    """What the second process has written."""
    until = time.monotonic() + _WAITS
    while not (place.exists() and place.read_text()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return place.read_text().split()


def ended(pid: int) -> bool:
    """Whether a process is gone, soon."""
    until = time.monotonic() + _WAITS
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":  # nobody is there to ask how it ended
            return True
        time.sleep(0.01)
    return False


def test_it_begins_once_and_begins_none_itself(place: Path) -> None:
    made = begun()
    assert made._process is not None
    pid, switched = waited_for(place)
    assert int(pid) == made._process.pid
    assert switched == "0"
    made._end(os.getpid() + 1)  # as a copy of this process would
    assert made._process.poll() is None
    made._end(os.getpid())
    assert made._process.poll() == -signal.SIGKILL


def test_processes_that_share_a_folder_have_one(place: Path) -> None:
    made = begun()
    waited_for(place)
    assert begun()._process is None
    made._end(os.getpid())
    another = begun()
    assert another._process is not None
    another._end(os.getpid())


def test_of_two_that_begin_at_once_one_goes_on(place: Path) -> None:
    folder = beside.cache_directory()
    assert folder is not None
    made = begun()
    waited_for(place)
    code = f"{beside._TOLD.format(path=sys.path)}; print('went on')"
    late = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (late.returncode, late.stdout) == (0, "")
    made._end(os.getpid())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("processors", lambda: 1),
        ("cache_directory", lambda: None),
        ("_is_python", lambda: False),
    ],
)
def test_there_is_none_where_it_would_be_of_no_use(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(beside, name, value)
    assert begun()._process is None


def test_it_is_switched_off(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    assert begun()._process is None


@pytest.mark.parametrize(
    ("program", "frozen", "is_python"),
    [
        ("/usr/bin/python3.11", False, True),
        ("python.exe", False, True),
        ("/opt/maya/bin/maya.bin", False, False),
        ("", False, False),
        ("/opt/app/python-tool", True, False),
    ],
)
def test_a_program_with_python_in_it_is_not_begun_anew(
    monkeypatch: pytest.MonkeyPatch, program: str, frozen: bool, is_python: bool
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    assert beside._is_python() == is_python


def test_a_system_that_has_no_process_more_costs_only_time(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert begun()._process is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    "ends", ["pass", "import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)"]
)
def test_it_ends_with_the_first_and_nothing_is_printed(place: Path, ends: str) -> None:
    command = [sys.executable, "-c", _FIRST, beside._DOES, str(place), ends]
    first = subprocess.run(command, capture_output=True, text=True, timeout=_WAITS)
    assert first.stdout + first.stderr == ""
    assert ended(int(waited_for(place)[0]))
    assert Turns(Path(os.environ["SPATIALOPS_CACHE_DIR"]) / "spatialops" / "kernels").take("helper")

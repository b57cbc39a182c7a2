"""Whether the tests that docs/papers.md names run the code that it names beside them.

    python -m tests.paper_calls

Every test of a row runs while the interpreter says which functions are entered, in a process
without compiled code, where kernels can be seen. Tests that need compiled code run in a second one:
of them only functions of Python are seen. A row is at fault if a function that it names is entered
by none of its tests. Ten minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.test_papers import NAMED, ROOT, ROWS, Row

Calls = dict[str, list[list[str]]]  # of every test: files and qualified names
RUNS = {"1": "not slow and not compiled", "0": "slow or compiled"}  # NUMBA_DISABLE_JIT, and marks


class Watch:
    """Notes what is entered while a test runs."""

    def __init__(self) -> None:
        self.calls: Calls = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test, its fixtures included."""
        entered: set[tuple[str, str]] = set()

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                entered.add((frame.f_code.co_filename, frame.f_code.co_qualname))

        sys.setprofile(note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            found = self.calls.setdefault(item.nodeid.split("[")[0], [])
            found += [[str(Path(file).resolve()), name] for file, name in entered]


def named_tests(row: Row) -> list[str]:
    """The tests that a row names, in whatever column."""
    named = NAMED.findall(f"{row.test} {row.reached}")
    return [f"{path}::{name}" for path, name in named if name.startswith("test_")]


def missed(row: Row, calls: Calls) -> list[str]:
    """What a row names in `where` that none of its tests enters."""
    entered = [call for test in named_tests(row) for call in calls.get(test, [])]
    wrong = []
    for path, name in NAMED.findall(row.where):
        file = str((ROOT / path).resolve())
        inside = {called for at, called in entered if at == file}
        if not any(
            not name or called == name or called.startswith(f"{name}.") for called in inside
        ):
            wrong.append(f"{path}::{name}" if name else path)
    return wrong


def watch(marks: str, tests: list[str], file: Path) -> int:
    """Run tests with these marks; what they enter is written to a file."""
    watching = Watch()
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-m", marks]
    code = pytest.main([*options, *tests], plugins=[watching])
    file.write_text(json.dumps(watching.calls))
    return int(code)


def main() -> int:
    """Print rows at fault; their number, and that of runs that failed."""
    calls: Calls = {}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for without, marks in RUNS.items():
            file = Path(folder) / f"{without}.json"
            again = [sys.executable, "-m", "tests.paper_calls", marks, str(file)]
            setting = {"NUMBA_DISABLE_JIT": without, "OPENBLAS_NUM_THREADS": "1"}
            failed += subprocess.run(again, env=os.environ | setting, check=False).returncode != 0
            calls |= json.loads(file.read_text())
    named = {test for row in ROWS for test in named_tests(row)}
    faults = [(row, name) for row in ROWS if named_tests(row) for name in missed(row, calls)]
    for row, name in faults:
        print(f"{row.paper} {row.what}: {name} is entered by none of its tests")
    print(f"{len(calls)} of {len(named)} tests watched, {len(faults)} faults, {failed} runs failed")
    return len(faults) + failed + len(named - calls.keys())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        own = sorted({test for row in ROWS for test in named_tests(row)})
        sys.exit(watch(sys.argv[1], own, Path(sys.argv[2])))
    sys.exit(min(main(), 1))

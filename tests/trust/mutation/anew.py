"""Faults outside of functions, which a module hands on when it is loaded: tests load all anew."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.trust.mutation.mutants import ROOT, Fault, Verdict, lots_of

_HANGS = 60.0  # s of a processor that no quick test takes; with a fault that is a failure
_PASSED = (0, 5)  # exit codes of pytest: all passed, or nothing to run


class Copy:
    """A copy of the tree to put faults into; a context.

    Parameters
    ----------
    lots : int
        Of `lots_of`, which are run.
    """

    def __init__(self, lots: int) -> None:
        self._lots = lots
        self._sound: set[str] = set()  # tests that pass without a fault

    def __enter__(self) -> Copy:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self.root = Path(self._folder.name).resolve()
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for name in listed.splitlines():
            if (ROOT / name).is_symlink() or (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name, follow_symlinks=False)
        return self

    def __exit__(self, *details: object) -> None:
        self._folder.cleanup()

    def verdict(self, fault: Fault) -> Verdict:
        """The test that fails, or hangs, with the fault in place."""
        path = self.root / fault.path
        whole = path.read_text()
        path.write_text(fault.mutant.source(whole))
        try:
            ended = self._first_failure(lots_of(fault.path)[: self._lots])
        finally:
            path.write_text(whole)
        if ended is None:
            return Verdict(False, "")
        test = _failed(ended)
        if test and test not in self._sound:
            if self._run([test])[0] not in _PASSED:
                raise RuntimeError(f"{test} fails without a fault")
            self._sound.add(test)
        return Verdict(True, test or "hangs, or cannot be imported")

    def _first_failure(self, lots: list[list[str]]) -> str | None:
        """What pytest says of the first lot that fails."""
        for lot in lots:
            code, said = self._run(lot)
            if code not in _PASSED:
                return said
        return None

    def _run(self, tests: list[str]) -> tuple[int, str]:
        """Exit code and output of the quick ones of some tests, in a copy of this process."""
        output = self.root / "output.txt"
        pid = os.fork()
        if pid == 0:
            code = 1
            with contextlib.suppress(BaseException):
                code = _tested(self.root, tests, output)
            os._exit(code)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), output.read_text()


def _tested(root: Path, tests: list[str], output: Path) -> int:
    """Run tests of a copy here, once."""
    import pytest

    handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.chdir(root)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "spatialops")]:
        del sys.modules[name]
    sys.path[:] = [str(root), *(path for path in sys.path if path not in ("", str(ROOT)))]
    sys.dont_write_bytecode = True
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not compiled", *tests]
    return int(pytest.main(arguments, plugins=[_Clock()]))


class _Clock:
    """Ends the process where one test takes too much of a processor."""

    def __init__(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, _HANGS)

    def pytest_runtest_logstart(self) -> None:
        """Begin anew."""
        signal.setitimer(signal.ITIMER_VIRTUAL, _HANGS)


def _failed(output: str) -> str:
    """The test that pytest says has failed; empty where it says nothing."""
    for line in output.splitlines():
        what, _, rest = line.partition(" ")
        if what in ("FAILED", "ERROR"):
            return rest.partition(" - ")[0]
    return ""

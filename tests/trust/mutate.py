"""Mutation: faults put into the sources one at a time; what no test notices survives.

    python -m tests.trust.mutate --seconds 600 --seed 0 spatialops/tree/state.py

Without files it draws from dynamics, contact, collision and simulation. A copy of the tree is
worked on, in pure Python (nothing is compiled again for a fault), with the quick tests: those of
the mirrored file first, then those of its folder and of its room, those files first that name what
is mutated, until one fails. That one has to pass without the fault. Libraries are loaded once:
tests run in copies of this process. What survives may still be noticed elsewhere, or by compiled
tests: the share of what is noticed is a lower bound. What is known to change nothing
(`harmless.py`) is not tried.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.trust.harmless import HARMLESS
from tests.trust.mutants import ROOT, Mutant, lots_of, mutants

_ROOMS = ("spatialops/dynamics", "contact", "collision", "spatialops/simulation")
_HANGS = 60.0  # s of a processor that no quick test takes; with a fault that is a failure
_LIBRARIES = ("numba", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial")
_PASSED = (0, 5)  # exit codes of pytest: all passed, or nothing to run


class Fault(NamedTuple):
    """A mutant of a file."""

    path: str
    mutant: Mutant

    def __str__(self) -> str:
        own = self.mutant
        return f"{self.path}:{own.line}: {own.old} -> {own.new}"


def faults_of(paths: list[str], seed: int) -> list[Fault]:
    """All faults of the files that change something, in a random order."""
    found = [Fault(path, item) for path in paths for item in mutants((ROOT / path).read_text())]
    random.Random(seed).shuffle(found)
    return [fault for fault in found if not is_harmless(fault)]


def is_harmless(fault: Fault) -> bool:
    """Whether there is a reason why no test notices it."""
    whole = (ROOT / fault.path).read_text()
    return fault.mutant.changed_line(whole) in dict(HARMLESS.get(fault.path, []))


def sources() -> list[str]:
    """Files of the rooms that are drawn from."""
    found = []
    for room in _ROOMS:
        found += [str(path.relative_to(ROOT)) for path in sorted((ROOT / room).rglob("*.py"))]
    return [path for path in found if not path.endswith("__init__.py")]


class Verdict(NamedTuple):
    """Whether a fault is noticed, and by which test."""

    noticed: bool
    test: str


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
        self.root = Path(self._folder.name)
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


def main() -> int:
    """The command; its status is 1 where a fault survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="faults of an earlier run")
    parser.add_argument("--lots", type=int, default=9, help="of tests: 2 are of file and folder")
    parser.add_argument("files", nargs="*", help="paths from the root of the tree")
    own = parser.parse_args()
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    for library in _LIBRARIES:
        importlib.import_module(library)
    faults = faults_of(own.files or sources(), own.seed)
    print(f"{len(faults)} faults, in the order of seed {own.seed}, for {own.seconds:g} s")
    until = time.monotonic() + own.seconds
    tried = noticed = 0
    with Copy(own.lots) as copy:
        for fault in faults[own.skip :]:
            if time.monotonic() >= until:
                break
            begin = time.monotonic()
            verdict = copy.verdict(fault)
            tried += 1
            noticed += verdict.noticed
            said = f"noticed by {verdict.test}" if verdict.noticed else "survived"
            print(f"{fault}: {said} ({time.monotonic() - begin:.0f} s)", flush=True)
    low, high = interval(noticed, tried)
    print(
        f"{noticed} of {tried} noticed: {100.0 * noticed / max(tried, 1):.1f} %, "
        f"of all {100.0 * low:.1f} to {100.0 * high:.1f} % (95 % confidence)"
    )
    return int(noticed < tried)


def interval(noticed: int, tried: int) -> tuple[float, float]:
    """Wilson's interval of the share of all faults, from a sample; 95 % confidence.

    References
    ----------
    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927.
    """
    if tried == 0:
        return 0.0, 1.0
    z = 1.96
    share = noticed / tried
    middle = share + z**2 / (2.0 * tried)
    half = z * math.sqrt(share * (1.0 - share) / tried + (z / (2.0 * tried)) ** 2)
    whole = 1.0 + z**2 / tried
    return (middle - half) / whole, (middle + half) / whole


if __name__ == "__main__":
    sys.exit(main())

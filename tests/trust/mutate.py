"""Mutation: faults put into the sources one at a time; what no test notices survives.

    python -m tests.trust.mutate --seconds 600 --seed 0 spatialops/tree/state.py

Without files it draws from dynamics, contact, collision and simulation. A copy of the tree is
worked on, in pure Python (nothing is compiled again for a fault), with the quick tests: those of
the mirrored file first, then those of its folder and of its room, until one fails. That one has to
pass without the fault. What survives may still be noticed elsewhere, or by compiled tests: the
share of what is noticed is a lower bound. What is known to change nothing (`harmless.py`) is not
tried.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.trust.harmless import HARMLESS
from tests.trust.mutants import Mutant, mutants

_HERE = Path(__file__).parents[2]
_ROOMS = ("spatialops/dynamics", "contact", "collision", "spatialops/simulation")
_HANGS = 60  # s that no quick test takes; with a fault that is as good as a failure
# Tests that guard a file besides those of its own name.
_ALSO = {
    "spatialops/simulation/stepping/step_check.py": ["tests/simulation/test_alarms.py"],
    "spatialops/simulation/stepping/impact_stage.py": ["tests/simulation/test_alarms.py"],
    "spatialops/tree/state.py": ["tests/simulation/test_alarms.py"],
    "contact/lcp/infeasibility.py": ["tests/simulation/test_alarms.py"],
}


class Fault(NamedTuple):
    """A mutant of a file."""

    path: str
    mutant: Mutant

    def __str__(self) -> str:
        own = self.mutant
        return f"{self.path}:{own.line}: {own.old} -> {own.new}"


def faults_of(paths: list[str], seed: int) -> list[Fault]:
    """All faults of the files that change something, in a random order."""
    found = [Fault(path, item) for path in paths for item in mutants((_HERE / path).read_text())]
    random.Random(seed).shuffle(found)
    return [fault for fault in found if not is_harmless(fault)]


def is_harmless(fault: Fault) -> bool:
    """Whether there is a reason why no test notices it."""
    whole = (_HERE / fault.path).read_text()
    return fault.mutant.changed_line(whole) in dict(HARMLESS.get(fault.path, []))


def sources() -> list[str]:
    """Files of the rooms that are drawn from."""
    found = []
    for room in _ROOMS:
        found += [str(path.relative_to(_HERE)) for path in sorted((_HERE / room).rglob("*.py"))]
    return [path for path in found if not path.endswith("__init__.py")]


def lots_of(path: str) -> list[list[str]]:
    """Lots of tests of a file, the nearest first: of its name, its folder, its room.

    No test is in two of them.
    """
    room = Path(path.removeprefix("spatialops/"))
    named = [str(Path("tests", room.parent, f"test_{room.name}")), *_ALSO.get(path, [])]
    folders = [str(Path("tests", folder)) for folder in room.parents][:-1]
    lots: list[list[str]] = []
    seen: set[str] = set()
    for names in (named, *([folder] for folder in folders)):
        lot = [file for name in names if (_HERE / name).exists() for file in _files(name)]
        lots.append([file for file in dict.fromkeys(lot) if file not in seen])
        seen.update(lot)
    return [lot for lot in lots if lot]


def _files(name: str) -> list[str]:
    """A file of tests, or all in a folder."""
    path = _HERE / name
    found = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [str(file.relative_to(_HERE)) for file in found]


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

    def __enter__(self) -> Copy:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self.root = Path(self._folder.name)
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"],
            cwd=_HERE,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for name in listed.splitlines():
            if (_HERE / name).is_symlink() or (_HERE / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(_HERE / name, self.root / name, follow_symlinks=False)
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
        if test and self._run([test]).returncode != 0:
            raise RuntimeError(f"{test} fails without a fault")
        return Verdict(True, test or "hangs, or cannot be imported")

    def _first_failure(self, lots: list[list[str]]) -> str | None:
        """What pytest says of the first lot that fails."""
        for lot in lots:
            ended = self._run(lot)
            if ended.returncode not in (0, 5):  # passed, or nothing to run
                return ended.stdout
        return None

    def _run(self, tests: list[str]) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["-o", f"faulthandler_timeout={_HANGS}"]
        command += ["-o", "faulthandler_exit_on_timeout=true"]
        return subprocess.run(
            [*command, "-m", "not slow and not compiled", *tests],
            cwd=self.root,
            env=environment,
            capture_output=True,
            text=True,
        )


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

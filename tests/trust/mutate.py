"""Mutation: faults put into the sources one at a time; what no test notices survives.

    python -m tests.trust.mutate --seconds 600 --seed 0 spatialops/tree/state.py

Without files it draws from dynamics, contact, collision and simulation. A copy of the tree is
worked on, in pure Python (nothing is compiled again for a fault), with the quick tests of the
mirrored file, or of its folder where there is none: tests elsewhere may notice what survives, but
then nobody would look for them there. Survivors are printed as they are found.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.trust.mutants import Mutant, mutants

_HERE = Path(__file__).parents[2]
_ROOMS = ("spatialops/dynamics", "contact", "collision", "spatialops/simulation")
_SLOWER = 4.0  # than without a fault: then it hangs, which is noticed
_LEAST = 30.0  # s
_MOST = 240.0  # s that the tests of a folder may take
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
    """All faults of the files, in a random order."""
    found = [Fault(path, item) for path in paths for item in mutants((_HERE / path).read_text())]
    random.Random(seed).shuffle(found)
    return found


def sources() -> list[str]:
    """Files of the rooms that are drawn from."""
    found = []
    for room in _ROOMS:
        found += [str(path.relative_to(_HERE)) for path in sorted((_HERE / room).rglob("*.py"))]
    return [path for path in found if not path.endswith("__init__.py")]


def tests_of(path: str) -> tuple[str, ...]:
    """The tests of a file: those of its name, or of its folder."""
    room = Path(path.removeprefix("spatialops/"))
    named = Path("tests", room.parent, f"test_{room.name}")
    near = [str(named)] if (_HERE / named).exists() else []
    near += [extra for extra in _ALSO.get(path, []) if (_HERE / extra).exists()]
    if near:
        return tuple(near)
    folder = named.parent
    while not (_HERE / folder).is_dir():
        folder = folder.parent
    return tuple(
        str(item.relative_to(_HERE)) for item in sorted((_HERE / folder).glob("test_*.py"))
    )


class Copy:
    """A copy of the tree to put faults into; a context."""

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
        self._times: dict[tuple[str, ...], float | None] = {}
        return self

    def __exit__(self, *details: object) -> None:
        self._folder.cleanup()

    def is_noticed(self, fault: Fault) -> bool | None:
        """Whether a test fails, or hangs, with the fault in place; None where there is no test."""
        lot = tests_of(fault.path)
        usual = self._time_of(lot)
        if usual is None:
            return None
        path = self.root / fault.path
        whole = path.read_text()
        path.write_text(fault.mutant.source(whole))
        try:
            return not self._passes(lot, max(_LEAST, _SLOWER * usual))
        finally:
            path.write_text(whole)

    def _time_of(self, lot: tuple[str, ...]) -> float | None:
        """How long a lot takes without faults, s; None for one that is of no use."""
        if lot not in self._times:
            begin = time.monotonic()
            passes = self._passes(lot, _MOST)
            self._times[lot] = time.monotonic() - begin if passes else None
            if not passes:
                print(f"left out, failing or slow by themselves: {' '.join(lot)[:120]}", flush=True)
        return self._times[lot]

    def _passes(self, lot: tuple[str, ...], seconds: float) -> bool:
        environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        try:
            ended = subprocess.run(
                [*command, "-m", "not slow and not compiled", *lot],
                cwd=self.root,
                env=environment,
                timeout=seconds,
                capture_output=True,
            )
        except subprocess.TimeoutExpired:
            return False
        return ended.returncode in (0, 5)  # passed, or nothing to run


def main() -> int:
    """The command; its status is 1 where a fault survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("files", nargs="*", help="paths from the root of the tree")
    own = parser.parse_args()
    faults = faults_of(own.files or sources(), own.seed)
    print(f"{len(faults)} faults, in the order of seed {own.seed}, for {own.seconds:g} s")
    until = time.monotonic() + own.seconds
    noticed = tried = 0
    with Copy() as copy:
        for fault in faults:
            if time.monotonic() >= until:
                break
            found = copy.is_noticed(fault)
            tried += found is not None
            noticed += found is True
            if found is False:
                print(f"survived: {fault}", flush=True)
    print(f"{noticed} of {tried} noticed: {100.0 * noticed / max(tried, 1):.0f} %")
    return int(noticed < tried)


if __name__ == "__main__":
    sys.exit(main())

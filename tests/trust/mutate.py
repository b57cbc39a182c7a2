"""Mutation: faults put into the sources one at a time; what no test notices survives.

    python -m tests.trust.mutate --n 100 --seconds 600 --seed 0 spatialops/tree/state.py

Without files it draws from dynamics, contact, collision and simulation. Tests are the quick ones in
pure Python (nothing is compiled again for a fault): those of the mirrored file first, then those of
its folder and of its room. All is loaded once; tests run in copies of that process, which have the
fault in the code of its function, until one fails. That one has to pass without the fault. What
takes more than 2 s of a processor is not asked, and no lot of tests longer than 8 s. Faults
outside of functions are put into a copy of the tree instead, which is loaded anew for each.

What survives may still be noticed elsewhere, or by compiled tests: the share of what is noticed is
a lower bound. What is known to change nothing (`harmless.py`) is not tried.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.trust.mutation.anew import Copy
from tests.trust.mutation.asked import QUICK, SLOW, Asked, ask, fastest_first, in_a_copy
from tests.trust.mutation.harmless import HARMLESS
from tests.trust.mutation.loaded import Place, loaded_functions, place_of, put_in
from tests.trust.mutation.mutants import ROOT, Fault, Verdict, lots_of, mutants

_ROOMS = ("spatialops/dynamics", "contact", "collision", "spatialops/simulation")
_MOST = 8.0  # s of a processor for the tests of a lot
_LIBRARIES = ("numba", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial")


def faults_of(paths: list[str], seed: int) -> list[Fault]:
    """All faults of the files that change something, in a random order."""
    found = [Fault(path, item) for path in paths for item in mutants((ROOT / path).read_text())]
    random.Random(seed).shuffle(found)
    return [fault for fault in found if not is_harmless(fault)]


def is_harmless(fault: Fault) -> bool:
    """Whether there is a reason why no test notices it."""
    whole = (ROOT / fault.path).read_text()
    return fault.mutant.changed_line(whole) in dict(HARMLESS.get(fault.path, []))


def module_of(path: str) -> str:
    """The module that a file is, whose path is from the root of the tree."""
    whole = path if path.startswith("spatialops/") else f"spatialops/{path}"
    return whole.removesuffix(".py").replace("/", ".")


def sources() -> list[str]:
    """Files of the rooms that are drawn from."""
    found = []
    for room in _ROOMS:
        found += [str(path.relative_to(ROOT)) for path in sorted((ROOT / room).rglob("*.py"))]
    return [path for path in found if not path.endswith("__init__.py")]


class Tally:
    """Counts of faults, each printed as it is judged; `until` is when to stop."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.tried = self.noticed = 0
        self._begin = time.process_time()

    @property
    def is_over(self) -> bool:
        """Whether there is no time for another one."""
        return time.monotonic() >= self.until

    def add(self, fault: Fault, verdict: Verdict) -> None:
        """Count and print one."""
        self.tried += 1
        self.noticed += verdict.noticed
        said = f"noticed by {verdict.test}" if verdict.noticed else "survived"
        print(f"{fault}: {said} ({_spent() - self._begin:.1f} s)", flush=True)
        self._begin = _spent()


class Judge:
    """A plugin of pytest that runs no tests but those that faults call for.

    Parameters
    ----------
    faults : list of (Fault, Place)
    tally : Tally
    lots : int
        Of `lots_of`, which are asked.
    """

    def __init__(self, faults: list[tuple[Fault, Place]], tally: Tally, lots: int) -> None:
        self._faults = faults
        self._tally = tally
        self._lots = lots
        self._usual: dict[str, float] = {}  # s, of tests that pass without a fault
        self._slow: set[str] = set()  # tests that are not asked

    def files(self) -> list[str]:
        """All files of tests that may be asked."""
        lots = [lots_of(fault.path)[: self._lots] for fault, _ in self._faults]
        return list(dict.fromkeys(file for found in lots for lot in found for file in lot))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all faults in place of running the tests."""
        self._items = {item.nodeid: item for item in session.items}
        self._functions = loaded_functions()
        gc.freeze()
        with tempfile.TemporaryDirectory() as folder:
            self._folder = Path(folder)
            for fault, place in self._faults:
                if self._tally.is_over:
                    break
                self._tally.add(fault, self._verdict(fault, place))
        return True

    def _verdict(self, fault: Fault, place: Place) -> Verdict:
        functions = self._functions.get(((ROOT / fault.path).resolve(), place))
        if functions is None:
            return Verdict(False, "")  # nothing that was collected has loaded it
        for lot in lots_of(fault.path)[: self._lots]:
            names = [
                name
                for file in lot
                for name in self._items
                if name.partition("::")[0] == file and name not in self._slow
            ]
            names = fastest_first(names, self._usual)
            test = self._failing(names, lambda: put_in(fault, place, functions))
            if test:
                return Verdict(True, test)
        return Verdict(False, "")

    def _failing(self, names: list[str], prepare: Callable[[], None]) -> str:
        """The first test that fails, hangs or ends its process only with a fault in place."""
        for each in (QUICK, SLOW):
            if not names:
                return ""
            found = self._ask(names, prepare, each)
            if found is None:
                return self._sound((self._folder / "progress").read_text())
            self._usual = found.passed | self._usual
            if found.failed:
                return self._sound(found.failed)
            names = found.slow
        return next(filter(self._sound, names), "")

    def _sound(self, name: str) -> str:
        """A test that passes without a fault, and soon; none else: it is not asked any more."""
        if name not in self._usual and name not in self._slow:
            found = self._ask([name], lambda: None, SLOW)
            if found is None or found.failed:
                print(f"{name} fails without a fault, and is not asked any more")
                self._slow.add(name)
                return ""
            self._usual |= found.passed
            self._slow |= {*found.slow, *(k for k, s in found.passed.items() if s > SLOW / 3.0)}
        return "" if name in self._slow else name

    def _ask(self, names: list[str], prepare: Callable[[], None], each: float) -> Asked | None:
        progress = self._folder / "progress"
        progress.unlink(missing_ok=True)  # so that a failure to prepare is no verdict

        def prepared() -> Asked:
            prepare()
            return ask([self._items[name] for name in names], each, _MOST, progress)

        return in_a_copy(prepared, self._folder / "answer")


def main() -> int:
    """The command; its status is 1 where a fault survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=100, help="faults, at most")
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
    faults = faults[own.skip : own.skip + own.n]
    for fault in faults:  # not all are loaded with the package
        importlib.import_module(module_of(fault.path))
    places = [(fault, place_of(fault.path, fault.mutant)) for fault in faults]
    tally = Tally(time.monotonic() + own.seconds)
    judge = Judge([(fault, place) for fault, place in places if place], tally, own.lots)
    arguments = ["-q", "-s", "-p", "no:cacheprovider", "-m", "not slow and not compiled"]
    pytest.main([*arguments, *judge.files()], plugins=[judge])
    with Copy(own.lots) as copy:
        for fault, place in places:
            if place is None and not tally.is_over:
                tally.add(fault, copy.verdict(fault))
    if tally.tried < len(faults):
        print(
            f"{len(faults) - tally.tried} of the sample are not judged, {own.seconds:g} s are over"
        )
    low, high = interval(tally.noticed, tally.tried)
    print(
        f"{tally.noticed} of {tally.tried} noticed: "
        f"{100.0 * tally.noticed / max(tally.tried, 1):.1f} %, "
        f"of all {100.0 * low:.1f} to {100.0 * high:.1f} % (95 % confidence)"
    )
    return int(tally.noticed < tally.tried)


def _spent() -> float:
    """What this process and its copies have used of a processor, s."""
    return sum(os.times()[:4])


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

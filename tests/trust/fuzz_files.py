"""Damaged files: each is refused in words, or is taken and can be used.

    python -m tests.trust.fuzz_files --seconds 300 --seed 0 --out out/fuzz
    python -m tests.trust.fuzz_files --n 1_000_000 --damage bytes --kinds record.npz problem.npz

Aimed damage changes numbers that kernels follow, shapes, types and texts of .npz files with their
checksums right, and words, numbers and elements of robots; the rest changes bytes. Reading may
cost a second of a processor and 200 MB (SECURITY.md); it may not end in a signal, or in an error
that is not of this package. Files that show otherwise are kept. A child process makes and reads
files by the lot; a lot with a failure is gone through once more, file by file. What is read equal
to the bit as before is not used once more.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import pickle
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spatialops._files import load_arrays
from spatialops.errors import SpatialOpsError
from tests.trust.damage import AIMED, bytewise
from tests.trust.stored_things import MAKERS, READERS
from tests.trust.watched import FAILURES, Outcome, Peak, Watched

READ = 1.0  # s that reading may take
MEMORY = 200.0  # MB
_HANG = 60.0  # s for reading and using a lot
_LOT = 100  # files
_SHARES = {"aimed": 1.0, "bytes": 0.0, "both": 0.7}


class Task(NamedTuple):
    """A file to read: what it is, and where."""

    kind: str
    path: str


_used: set[bytes] = set()  # what this process has used already


def judge(task: Task) -> str:
    """Whether a file is refused in words, or taken and used."""
    with Peak() as peak:
        found, taken = _read(task)
    if taken > READ or peak.megabytes > MEMORY:
        return f"wrong: reading took {taken:.2f} s and {peak.megabytes:.0f} MB"
    return _outcome(task, found)


def _read(task: Task) -> tuple[object, float]:
    """What is read, None where that is refused, and the time of a processor, s."""
    read, _ = READERS[task.kind]
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = read(Path(task.path))
    except SpatialOpsError:
        found = None
    return found, time.process_time() - begin


def _outcome(task: Task, found: object) -> str:
    """Use what has been read, unless it has been used already."""
    if found is None:
        return "refused"
    mark = _mark(task, found)
    if mark in _used:
        return "taken as before"
    outcome = "taken"
    _, use = READERS[task.kind]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            use(found, Path(task.path))
    except SpatialOpsError as error:
        outcome = f"taken, use refused: {error}"
    _used.add(mark)
    return outcome


def _mark(task: Task, found: object) -> bytes:
    """What tells what has been read from all else: all arrays, the problem, or all bytes."""
    mark = hashlib.sha256(task.kind.encode())
    if task.kind.endswith(".npz"):
        for name, values in sorted(load_arrays(task.path, "file").items()):
            mark.update(f"{name} {values.dtype} {values.shape}".encode() + values.tobytes())
    elif task.kind.endswith(".hdf5"):
        mark.update(pickle.dumps(found))
    else:
        mark.update(Path(task.path).read_bytes())
    return mark.digest()


class Damages(NamedTuple):
    """What is damaged, and how.

    Attributes
    ----------
    first : int
        Seed of the first file.
    kinds : sequence of str
        Of `MAKERS`, in turn.
    aimed : float
        Share of damage that is aimed, where there is one for the kind.
    """

    first: int = 0
    kinds: Sequence[str] = tuple(MAKERS)
    aimed: float = 0.7


def wholes(folder: Path, kinds: Sequence[str]) -> list[Task]:
    """A file of every kind, whole."""
    for kind in kinds:
        MAKERS[kind](folder / kind)
    return [Task(kind, str(folder / kind)) for kind in kinds]


class Lot(NamedTuple):
    """Damaged files of seeds in a row, made from the `wholes` of a folder.

    Attributes
    ----------
    folder : str
    damages : Damages
        Of which `first` is the first seed.
    count : int
    """

    folder: str
    damages: Damages
    count: int

    def singles(self) -> Iterator[Lot]:
        """Its files, each a lot of its own."""
        for seed in range(self.damages.first, self.damages.first + self.count):
            yield self._replace(damages=self.damages._replace(first=seed), count=1)


@functools.cache
def _whole(folder: str, kind: str) -> bytes:
    return Path(folder, kind).read_bytes()


def damaged(lot: Lot) -> Task:
    """The first file of a lot; it is there until the next one is made."""
    kinds = lot.damages.kinds
    rng = np.random.default_rng(lot.damages.first)
    kind = kinds[lot.damages.first % len(kinds)]
    aim = AIMED.get(Path(kind).suffix)
    change = aim if aim is not None and rng.random() < lot.damages.aimed else bytewise
    path = Path(lot.folder, f"damaged-{kind}")
    path.write_bytes(change(_whole(lot.folder, kind), rng))
    return Task(kind, str(path))


def judge_lot(lot: Lot) -> str:
    """The outcomes of its files, one a line.

    If reading and using all of them takes little memory, reading one does; else each is measured.
    """
    outcomes = []
    with Peak() as peak:
        for one in lot.singles():
            task = damaged(one)
            found, taken = _read(task)
            wrong = f"wrong: reading took {taken:.2f} s" if taken > READ else ""
            outcomes.append(wrong or _outcome(task, found))
    if peak.megabytes > MEMORY:
        outcomes = [judge(damaged(one)) for one in lot.singles()]
    return "\n".join(" ".join(text.splitlines()) for text in outcomes)


def judge_whole(case: Task | Lot) -> str:
    """The outcome of a whole file, or of a lot of damaged ones."""
    return judge(case) if isinstance(case, Task) else judge_lot(case)


def fuzz(seconds: float, out: Path, damages: Damages, most: int | None = None) -> Counter[str]:
    """Files for a while; how many there were of each outcome."""
    out.mkdir(parents=True, exist_ok=True)
    found: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        first = wholes(Path(folder), damages.kinds)
        with Watched(judge_whole, _HANG, first) as watched:
            while time.monotonic() < until and (most is None or sum(found.values()) < most):
                done = sum(found.values())
                number = _LOT if most is None else min(_LOT, most - done)
                lot = Lot(folder, damages._replace(first=damages.first + done), number)
                found.update(outcomes(lot, watched, out))
    return found


def outcomes(lot: Lot, watched: Callable[[Lot], Outcome], out: Path) -> list[str]:
    """The outcomes of a lot in a word each; files with a failure are kept."""
    whole = watched(lot).text
    texts = whole.splitlines()
    if any(text.startswith(FAILURES) for text in texts):
        texts = []
        for one in lot.singles():
            text = watched(one).text
            texts.append(text)
            if text.startswith(FAILURES):
                task = damaged(one)
                kept = out / f"{one.damages.first}-{task.kind}"
                kept.write_bytes(Path(task.path).read_bytes())
                print(f"{kept}: {text[:300]}", flush=True)
        if not any(text.startswith(FAILURES) for text in texts):
            print(f"{lot}, but none of its files alone: {whole[:300]}", flush=True)
            texts[-1] = "wrong"
    return [text.partition(":")[0] for text in texts]


def main() -> int:
    """The command; its status is 1 where something happened that may not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, help="default 60, or as many as files take")
    parser.add_argument("--n", type=int, help="files, at most")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--kinds", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument("--damage", choices=_SHARES, default="both")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    own = parser.parse_args()
    seconds = own.seconds or (60.0 if own.n is None else np.inf)
    damages = Damages(own.seed, own.kinds, _SHARES[own.damage])
    print(f"files from seed {own.seed} for {seconds:g} s")
    found = fuzz(seconds, own.out, damages, own.n)
    print(f"{sum(found.values())} files: " + ", ".join(f"{n} {k}" for k, n in found.most_common()))
    return int(any(kind in found for kind in FAILURES))


if __name__ == "__main__":
    sys.exit(main())

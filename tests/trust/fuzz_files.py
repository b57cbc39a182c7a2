"""Damaged files: each is refused in words, or is taken and can be used.

    python -m tests.trust.fuzz_files --seconds 300 --seed 0 --out out/fuzz
    python -m tests.trust.fuzz_files --n 1_000_000 --damage bytes --kinds record.npz problem.npz

Aimed damage changes numbers that kernels follow, shapes, types and texts of .npz files with their
checksums right, and words, numbers and elements of robots; the rest changes bytes. Reading may
cost a second and 200 MB (SECURITY.md); it may not end in a signal, or in an error that is not of
this package. Files that show otherwise are kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spatialops.errors import SpatialOpsError
from tests.trust.damage import AIMED, bytewise
from tests.trust.stored_things import MAKERS, READERS
from tests.trust.watched import Peak, Watched

READ = 1.0  # s that reading may take
MEMORY = 200.0  # MB
_HANG = 30.0  # s for reading and using
_SHARES = {"aimed": 1.0, "bytes": 0.0, "both": 0.7}


class Task(NamedTuple):
    """A file to read: what it is, and where."""

    kind: str
    path: str


def judge(task: Task) -> str:
    """Whether a file is refused in words, or taken and used."""
    read, use = READERS[task.kind]
    path = Path(task.path)
    begin = time.process_time()
    with Peak() as peak:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = read(path)
        except SpatialOpsError:
            found = None
    taken = time.process_time() - begin
    if taken > READ or peak.megabytes > MEMORY:
        return f"wrong: reading took {taken:.2f} s and {peak.megabytes:.0f} MB"
    if found is None:
        return "refused"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            use(found, path)
    except SpatialOpsError as error:
        return f"taken, use refused: {error}"
    return "taken"


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


def tasks(folder: Path, damages: Damages) -> Iterator[Task]:
    """Damaged ones of the `wholes`, without end; each is there until the next one is asked for."""
    kinds = damages.kinds
    contents = {kind: (folder / kind).read_bytes() for kind in kinds}
    for seed in count(damages.first):
        rng = np.random.default_rng(seed)
        kind = kinds[seed % len(kinds)]
        aim = AIMED.get(Path(kind).suffix)
        change = aim if aim is not None and rng.random() < damages.aimed else bytewise
        path = folder / f"damaged-{kind}"
        path.write_bytes(change(contents[kind], rng))
        yield Task(kind, str(path))


def fuzz(seconds: float, out: Path, damages: Damages, most: int | None = None) -> Counter[str]:
    """Files for a while; how many there were of each outcome."""
    out.mkdir(parents=True, exist_ok=True)
    found: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with (
        tempfile.TemporaryDirectory() as folder,
        Watched(judge, _HANG, wholes(Path(folder), damages.kinds)) as watched,
    ):
        for number, task in enumerate(tasks(Path(folder), damages)):
            if time.monotonic() >= until or number == most:
                break
            outcome = watched(task)
            found[outcome.text.partition(":")[0]] += 1
            if outcome.failed:
                kept = out / f"{damages.first + number}-{task.kind}"
                kept.write_bytes(Path(task.path).read_bytes())
                print(f"{kept}: {outcome.text[:300]}", flush=True)
    return found


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
    return int(any(kind in found for kind in ("crash", "hang", "foreign", "wrong")))


if __name__ == "__main__":
    sys.exit(main())

"""Damaged files: each is refused in words, or is taken and can be used.

    python -m tests.trust.fuzz_files --seconds 300 --seed 0 --out out/fuzz

Aimed damage changes numbers that kernels follow, shapes, types and texts of .npz files with their
checksums right; the rest changes bytes. Reading may cost a second and 200 MB (SECURITY.md); it may
not end in a signal, or in an error that is not of this package. Files that show otherwise are kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spatialops.errors import SpatialOpsError
from tests.trust.damage import aimed, bytewise
from tests.trust.stored_things import MAKERS, READERS
from tests.trust.watched import Peak, Watched

READ = 1.0  # s that reading may take
MEMORY = 200.0  # MB
_HANG = 30.0  # s for reading and using


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


def wholes(folder: Path) -> list[Task]:
    """A file of every kind, whole."""
    for kind, make in MAKERS.items():
        make(folder / kind)
    return [Task(kind, str(folder / kind)) for kind in MAKERS]


def tasks(folder: Path, first: int) -> Iterator[Task]:
    """Damaged ones of the `wholes`, without end; each is there until the next one is asked for."""
    kinds = list(MAKERS)
    contents = {kind: (folder / kind).read_bytes() for kind in kinds}
    for seed in count(first):
        rng = np.random.default_rng(seed)
        kind = kinds[seed % len(kinds)]
        change = aimed if kind.endswith(".npz") and rng.random() < 0.7 else bytewise
        path = folder / f"damaged-{kind}"
        path.write_bytes(change(contents[kind], rng))
        yield Task(kind, str(path))


def fuzz(seconds: float, first: int, out: Path, most: int | None = None) -> Counter[str]:
    """Files from a seed on, for a while; how many there were of each outcome."""
    out.mkdir(parents=True, exist_ok=True)
    found: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with (
        tempfile.TemporaryDirectory() as folder,
        Watched(judge, _HANG, wholes(Path(folder))) as watched,
    ):
        for number, task in enumerate(tasks(Path(folder), first)):
            if time.monotonic() >= until or number == most:
                break
            outcome = watched(task)
            found[outcome.text.partition(":")[0]] += 1
            if outcome.failed:
                kept = out / f"{first + number}-{task.kind}"
                kept.write_bytes(Path(task.path).read_bytes())
                print(f"{kept}: {outcome.text[:300]}", flush=True)
    return found


def main() -> int:
    """The command; its status is 1 where something happened that may not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    own = parser.parse_args()
    print(f"files from seed {own.seed} for {own.seconds:g} s")
    found = fuzz(own.seconds, own.seed, own.out)
    print(f"{sum(found.values())} files: " + ", ".join(f"{n} {k}" for k, n in found.most_common()))
    return int(any(kind in found for kind in ("crash", "hang", "foreign", "wrong")))


if __name__ == "__main__":
    sys.exit(main())

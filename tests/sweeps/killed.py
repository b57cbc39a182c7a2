"""A sweep of pendulums that is killed again and again: every result once, those of one process.

python -m tests.sweeps.killed --tasks 10000 --kills 20
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import spatialops as so
from spatialops.sweeps.store import read_rows
from tests.sweeps import functions

_LONGEST = 600.0  # s that the last sweep, which nobody kills, may take


class Found(NamedTuple):
    masters: int  # killed
    workers: int
    results: int  # at the end
    written: int  # rows in all files: those that were under way at a kill may be there twice
    lost: int  # that were there before a kill and not behind it
    failed: int
    differing: int  # from what this process computes


def killed(folder: Path, tasks: int, kills: int, seed: int = 3) -> Found:
    """Kill masters and workers of a sweep at random moments; then let it end."""
    chance = random.Random(seed)
    program = [sys.executable, "-m", "tests.sweeps.killed", "--sweep", str(folder)]
    program += ["--tasks", str(tasks)]
    masters = 0
    lost = 0
    for k in range(kills):
        before = set(read_rows(folder))
        master = subprocess.Popen(program)
        workers = _begun(master, folder, len(before))
        time.sleep(chance.uniform(0.0, 1.5))
        if k % 2 == 0 or not workers:
            masters += 1
        else:
            os.kill(chance.choice(workers), signal.SIGKILL)
            time.sleep(chance.uniform(0.0, 1.0))
        master.kill()
        master.wait()
        lost += len(before - set(read_rows(folder)))
        time.sleep(0.3)  # workers see that their master is gone
    subprocess.run(program, check=True, timeout=_LONGEST)
    written = [row for path in folder.glob("*.json") for row in json.loads(path.read_text())]
    angles = functions.angles(tasks)
    results = so.sweep(functions.swing, angles, folder=folder)
    values = np.array([one.value for one in results if one.error is None])
    alone = np.array([functions.end_of_swing(angle) for angle in angles["angle"]])
    return Found(
        masters,
        kills - masters,
        len({row["key"] for row in written}),
        len(written),
        lost,
        len(results) - len(values),
        int((values != alone).any(axis=1).sum()) if len(values) == len(alone) else len(alone),
    )


def _begun(master: subprocess.Popen[bytes], folder: Path, count: int) -> list[int]:
    """Its workers, once one has written something, or it has ended."""
    while master.poll() is None:
        if len(read_rows(folder)) > count:
            children = Path(f"/proc/{master.pid}/task/{master.pid}/children").read_text().split()
            return [int(child) for child in children if _is_worker(child)]
        time.sleep(0.05)
    return []


def _is_worker(pid: str) -> bool:
    """Not the process in which `multiprocessing` keeps track of resources."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--sweep", type=Path, help=argparse.SUPPRESS)  # be the one that is killed
    given = parser.parse_args()
    if given.sweep is not None:
        so.sweep(functions.swing, functions.angles(given.tasks), folder=given.sweep)
        return 0
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = killed(Path(folder), given.tasks, given.kills)
    print(found, f"{time.perf_counter() - begin:.0f} s")
    return int(found.results != given.tasks or bool(found.lost + found.failed + found.differing))


if __name__ == "__main__":
    sys.exit(main())

"""Random states and demands: every controller answers each with a finite command and a status.

    python -m tests.trust.fuzz_commands --n 100000 --seed 0

Seeds count up from the first, each a course of 20 commands of every controller; a run goes on from
the seed after its last. `--explain 20` explains one command of twenty, which costs more than many a
command. A course that fails is printed; `--one cone --seed N` runs a single one again.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
import warnings
from collections import Counter
from typing import NamedTuple

from tests.trust.wild_commands import COMMANDS, EVERY, course

_REPORTED = 100  # seeds


class Found(NamedTuple):
    """Statuses of all commands by controller, courses that failed, and the seed that is next."""

    statuses: dict[str, Counter[str]]
    failures: list[str]
    following: int


def judged(name: str, seed: int, explained: int) -> tuple[list[str], list[str]]:
    """A course; an exception or a warning inside the loop is a fault as any other."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return course(name, seed, explained=explained)
        except Exception:
            return [], [traceback.format_exc(limit=-4)]


def fuzz(
    n: int,
    first: int,
    names: tuple[str, ...] = EVERY,
    *,
    seconds: float = math.inf,
    explained: int = 1,
) -> Found:
    """At least `n` commands in all, the same number of each controller; fewer where time is up."""
    statuses = {name: Counter[str]() for name in names}
    failures = list[str]()
    seed = first
    last = first - (-n // (COMMANDS * len(names)))
    begun = time.monotonic()
    while seed < last and time.monotonic() - begun <= seconds:
        for name in names:
            told, wrong = judged(name, seed, explained)
            statuses[name].update(told)
            if wrong:
                failures.append(f"{name}, seed {seed}: {'; '.join(wrong)}")
                print(failures[-1], flush=True)
        seed += 1
        if seed % _REPORTED == 0:
            total = sum(counts.total() for counts in statuses.values())
            print(f"{total} commands, next seed {seed}, {len(failures)} failed", flush=True)
    return Found(statuses, failures, seed)


def main() -> int:
    """The command; its status is 1 where a course failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=2000, help="commands")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--one", choices=EVERY, help="only a course of this controller")
    parser.add_argument("--seconds", type=float, default=math.inf, help="at most")
    parser.add_argument("--explain", type=int, default=1, help="one command of so many")
    parser.add_argument("--only", choices=EVERY, nargs="+", default=EVERY, help="controllers")
    own = parser.parse_args()
    if own.one is not None:
        print(*judged(own.one, own.seed, 1), sep="\n")
        return 0
    begun = time.monotonic()
    found = fuzz(own.n, own.seed, tuple(own.only), seconds=own.seconds, explained=own.explain)
    for name, counts in found.statuses.items():
        print(f"{name:<18}", ", ".join(f"{k} {status}" for status, k in counts.most_common()))
    total = sum(counts.total() for counts in found.statuses.values())
    spent = time.monotonic() - begun
    print(
        f"{total} commands in {spent:.0f} s ({time.process_time():.0f} of the processor), seeds "
        f"{own.seed} to {found.following - 1}, one of {own.explain} explained: "
        f"{len(found.failures)} courses failed"
    )
    return int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main())

"""Random scenes: each ends in a certificate or a clear error, never in NaN, a crash or a hang.

    python -m tests.trust.fuzz_scenes --seconds 300 --seed 0 --out out/fuzz

Seeds count up from the first. One that fails is printed and kept: `seed-N.json` says what happened;
problems that no solver solved are kept as files beside it, for
`spatialops solve FILE`. `--one N` runs a single seed in this process.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from dataclasses import fields
from itertools import count
from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.errors import SolverFailed, SpatialOpsError
from spatialops.simulation.runs.runner import Controller
from tests.trust.random_scene import Case, random_case
from tests.trust.watched import Watched

_SECONDS = 60.0  # after which a case hangs; the slowest law takes some ten


def judge(task: tuple[int, str]) -> str:
    """The outcome of a seed; what no solver solved is written to the folder."""
    seed, folder = task
    try:
        case = random_case(seed)
    except SpatialOpsError as error:
        return f"refused: {type(error).__name__}: {error}"
    simulator = case.simulator
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", (UserWarning, RuntimeWarning))
            record = simulator.run(case.state, case.duration, controller=_controller(case))
    except SolverFailed as error:
        if hasattr(error.problem, "save"):
            error.problem.save(Path(folder) / f"seed-{seed}.npz")
        return f"unsolved: {error}"
    except SpatialOpsError as error:
        return f"told: {type(error).__name__}: {error}"
    return _judge_record(record)


def _controller(case: Case) -> Controller | None:
    """Constant forces; none where they are zero, so that the loop runs by itself."""
    return (lambda t, state, contacts: case.tau) if case.tau.any() else None


def _judge_record(record: so.Record) -> str:
    for item in fields(record):
        values = getattr(record, item.name)
        may_be_nan = item.name == "certificates"  # where none was asked for
        if isinstance(values, np.ndarray) and not may_be_nan and not np.isfinite(values).all():
            return f"wrong: {item.name} holds NaN or infinity"
    met = [
        name
        for name, counts in (("contacts", record.contact_counts), ("impacts", record.impact_counts))
        if counts.any()
    ]
    return " ".join(["certified", *(["with", " and ".join(met)] if met else [])])


def fuzz(seconds: float, first: int, out: Path) -> Counter[str]:
    """Cases from a seed on, for a while; how many there were of each outcome."""
    out.mkdir(parents=True, exist_ok=True)
    found: Counter[str] = Counter()
    until = time.monotonic() + seconds
    slowest = (0.0, first)
    with Watched(judge, _SECONDS) as watched, (out / "outcomes.txt").open("a") as log:
        for seed in count(first):
            if time.monotonic() >= until:
                break
            outcome = watched((seed, str(out)))
            kind = outcome.text.partition(":")[0]
            found[kind] += 1
            slowest = max(slowest, (outcome.seconds, seed))
            print(f"{seed} {outcome.seconds:.1f} s {outcome.text[:300]}", file=log, flush=True)
            if outcome.failed or kind == "unsolved":
                _keep(out, seed, outcome.text)
    print(f"slowest: seed {slowest[1]}, {slowest[0]:.1f} s")
    return found


def _keep(out: Path, seed: int, text: str) -> None:
    print(f"seed {seed}: {text[:300]}", flush=True)
    what = {"seed": seed, "outcome": text, "again": f"python -m {__spec__.name} --one {seed}"}
    (out / f"seed-{seed}.json").write_text(json.dumps(what, indent=2))


def main() -> int:
    """The command; its status is 1 where something happened that may not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--one", type=int, help="only this seed, in this process")
    own = parser.parse_args()
    if own.one is not None:
        own.out.mkdir(parents=True, exist_ok=True)
        print(random_case(own.one).simulator)
        print(judge((own.one, str(own.out))))
        return 0
    print(f"seeds from {own.seed} for {own.seconds:g} s")
    found = fuzz(own.seconds, own.seed, own.out)
    print(", ".join(f"{number} {kind}" for kind, number in found.most_common()))
    return int(any(kind in found for kind in ("crash", "hang", "foreign", "wrong")))


if __name__ == "__main__":
    sys.exit(main())

"""One simulator that many threads step at once: each is refused, or gets the right state.

python -m tests.trust.hammer --n 1_000_000 --threads 8
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from typing import NamedTuple

import numpy as np

import spatialops as so
from spatialops.errors import ArgumentError

_STATES = 64  # that are stepped from, by turns
_SWITCH = 1e-5  # s, after which another thread has its turn


class Hammered(NamedTuple):
    """How many steps were asked for, refused in words, and wrong."""

    asked: int
    refused: int
    wrong: int


def hammer(n: int, threads: int) -> Hammered:
    """Steps of one simulator by many threads, compared with those of another that is alone."""
    scene = so.models.pendulum(4).scene()
    shared, alone = (so.Simulator(scene, dt=1e-3) for _ in range(2))
    rng = np.random.default_rng(21)
    q, v = scene.state.q, scene.state.v
    changes = 0.02 * rng.normal(size=(_STATES, 2, scene.model.nv))
    starts = [so.State(q + dq, v + dv) for dq, dv in changes]
    ends = [alone.step(start)[0] for start in starts]
    refused, wrong = np.zeros((2, threads), dtype=int)
    barrier = threading.Barrier(threads)

    def work(k: int) -> None:
        barrier.wait()
        for i in range(k, n, threads):
            try:
                found, _ = shared.step(starts[i % _STATES])
            except ArgumentError:
                refused[k] += 1
                time.sleep(0.0)  # the one at work goes on
                continue
            end = ends[i % _STATES]
            wrong[k] += not ((found.q == end.q).all() and (found.v == end.v).all())

    crowd = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return Hammered(n, int(refused.sum()), int(wrong.sum()))


def main() -> int:
    """The command; its status is 1 where a state was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=8)
    own = parser.parse_args()
    found = hammer(own.n, own.threads)
    print(f"{found.asked} steps asked for: {found.refused} refused, {found.wrong} wrong")
    return int(found.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

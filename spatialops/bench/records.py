"""What recording costs: time and memory of a box at rest, by what is kept of it.

`python -m spatialops.bench.records` measures every way in a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import spatialops as so
from spatialops.collision.shapes import Box, HalfSpace
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator

WAYS = ("record=False", "record_every=100", "record_every=1", "to disk, record_every=1")
_STEPS = 1_000_000
_WARM = 4000  # steps that fill tables and load code before memory is looked at
_DT = 1e-3
_UNIT = 1024.0 if sys.platform != "darwin" else 1.0  # bytes of `ru_maxrss`


def box_at_rest() -> Scene:
    """A box on a floor: four contacts in every step."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    builder.add_body("box", joint=so.Joint("free"), inertia=inertia)
    model = builder.build()
    geoms = [
        so.Geom("floor", "world", HalfSpace(), friction=0.5),
        so.Geom("box", "box", Box((0.2, 0.2, 0.2)), friction=0.5),
    ]
    q = model.neutral()
    q[2] = 0.1
    return Scene(model, geoms, state=so.State(q, np.zeros(6)))


def measure(way: str, steps: int = _STEPS) -> dict[str, float]:
    """Seconds, growth of the largest memory of this process (MB), and MB on disk, of one way."""
    simulator = Simulator(box_at_rest(), dt=_DT)
    with tempfile.TemporaryDirectory() as folder:
        _run(simulator, way, min(_WARM, steps), Path(folder) / "warm")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        _run(simulator, way, steps, Path(folder) / "run")
        seconds = time.perf_counter() - begin
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        files = (Path(folder) / "run").glob("*")
        return {
            "seconds": seconds,
            "memory": 1e-6 * _UNIT * grown,
            "disk": 1e-6 * sum(file.stat().st_size for file in files),
        }


def _run(simulator: Simulator, way: str, steps: int, folder: Path) -> object:
    duration = steps * simulator.dt
    if way == WAYS[0]:
        return simulator.run(duration=duration, record=False)
    if way == WAYS[3]:
        return simulator.run_to_disk(folder, duration=duration)
    return simulator.run(duration=duration, record_every=100 if way == WAYS[1] else 1)


def main() -> None:
    """Print a row for every way."""
    print(f"{'':<25}{'s':>8}{'MB of memory':>14}{'MB on disk':>12}   for {_STEPS:,} steps")
    for way in WAYS:
        command = [sys.executable, "-m", "spatialops.bench.records", way]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        print(f"{way:<25}{found['seconds']:>8.1f}{found['memory']:>14.0f}{found['disk']:>12.0f}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()

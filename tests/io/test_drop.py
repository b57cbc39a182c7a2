"""Robots dropped on a floor without torques: every solve succeeds, nothing sinks in."""

from __future__ import annotations

import pytest

import spatialops as so
from spatialops.errors import ContactError
from spatialops.io import read
from spatialops.simulation.drop import raised
from spatialops.simulation.load import scene_of
from tests.support.files import MALFORMED, example_robots, files_of

ENOUGH = 60  # of 68; limp limbs without damping or limits may whirl until dt = 1 ms is too long for them


def drop(path):
    """Summary of one second; raises where a solve or a certificate fails."""
    scene = scene_of(read(path), floating_base=True, floor=True, self_collision=False, strict=False)
    scene.state = raised(scene, 0.02)
    return so.Simulator(scene, dt=1e-3).run(duration=1.0).summary()


@pytest.mark.slow
@pytest.mark.compiled
def test_robots_are_dropped_for_a_second():
    files = files_of(example_robots(), "urdf")
    if not files:
        pytest.skip("example-robot-data is not installed")
    good, failed = 0, {}
    for name, path in files:
        if name in MALFORMED:
            continue
        try:
            summary = drop(path)
        except ContactError as error:
            failed[name] = str(error)
            continue
        assert summary["steps"] == 1000
        assert summary["residual_max"] <= 1e-9, name
        assert summary["penetration_max"] <= 1e-3, name
        good += 1
    print(*failed.items(), sep="\n")  # `pytest -rP` shows it
    assert good >= ENOUGH, failed

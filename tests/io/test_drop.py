"""Robots dropped on a floor without torques: every solve succeeds, nothing sinks in."""

from __future__ import annotations

import pytest

import spatialops as so
from spatialops.errors import ContactError
from spatialops.io import read
from spatialops.simulation.scene.loader import scene_of
from spatialops.simulation.scene.placement import raised
from tests.support.files import MALFORMED, example_robots, files_of

ENOUGH = 60  # of the 64 whose file has shapes that collide; the other four fall for ever


def drop(path):
    """Geoms of the robot, and the summary of one second; a solve or certificate may raise."""
    scene = scene_of(read(path), floating_base=True, floor=True, self_collision=False, strict=False)
    scene.state = raised(scene, 0.02)
    return len(scene.geoms) - 1, so.Simulator(scene, dt=1e-3).run(duration=1.0).summary()


@pytest.mark.slow
@pytest.mark.compiled
def test_robots_are_dropped_for_a_second():
    """Without torques or self-collision no solve fails, and no point is deeper than 1 mm."""
    files = files_of(example_robots(), "urdf")
    if not files:
        pytest.skip("example-robot-data is not installed")
    pytest.importorskip("collada")
    good, failed = 0, {}
    for name, path in files:
        if name in MALFORMED:
            continue
        try:
            geoms, summary = drop(path)
        except ContactError as error:
            failed[name] = str(error)
            continue
        if not geoms:
            continue
        assert summary["steps"] == 1000
        assert summary["contacts_max"] > 0, name
        assert summary["residual_max"] <= 1e-9, name
        assert summary["penetration_max"] <= 1e-3, name  # the certificate's bound
        good += 1
    print(*failed.items(), sep="\n")  # `pytest -rP` shows it
    assert good >= ENOUGH, failed

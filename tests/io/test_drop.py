"""Robots dropped on a floor without torques: every solve succeeds, nothing sinks in."""

from __future__ import annotations

import pytest

import spatialops as so
from spatialops.errors import AssetError
from spatialops.io import read
from spatialops.simulation.drop import raised
from spatialops.simulation.load import scene_of
from tests.support.files import example_robots, files_of

FILES = files_of(example_robots(), "urdf")


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("path", [pytest.param(path, id=name) for name, path in FILES])
def test_dropped(path):
    try:
        description = read(path)
    except AssetError as error:
        pytest.skip(str(error))
    scene = scene_of(description, floating_base=True, floor=True, self_collision=False, strict=False)
    scene.state = raised(scene, 0.02)
    simulator = so.Simulator(scene, dt=1e-3)  # raises where a certificate fails
    record = simulator.run(duration=1.0)
    summary = record.summary()
    assert summary["steps"] == 1000
    assert summary["residual_max"] <= 1e-9
    assert summary["penetration_max"] <= 1e-3

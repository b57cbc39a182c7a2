"""Robots whose files let parts overlap for good: they drop, and every problem is solved."""

import warnings

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.bench.peers import installed_file
from spatialops.errors import AssetWarning
from spatialops.simulation.scene.placement import raised

STEPS = 200
FILES = {
    "romeo": "romeo_description/urdf/romeo.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
}
LARGE = ("talos", "tiago")


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in FILES],
)
def test_it_drops_onto_the_floor_without_a_failed_solve(name):
    path = installed_file(FILES[name])
    if path is None:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssetWarning)
        scene = so.load_scene(
            path, floating_base=True, floor=0.5, self_collision=True, strict=False
        )
    scene.state = raised(scene, 0.02)
    ours = Ours(scene, 1e-3)
    height = scene.state.q[2]
    for _ in range(STEPS // 10):
        ours.run(10)
        assert np.abs(ours.state.v[3:6]).max() < 2.0  # of the base: dropped from 2 cm
    assert ours.residual <= 1e-9
    assert ours.counts["pivoted"] == ours.counts["fallbacks"] == 0
    assert height - 0.5 < ours.state.q[2] < height

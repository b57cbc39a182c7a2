"""Tasks made ready, and how they vary."""

from types import SimpleNamespace

import numpy as np
import pytest

import spatialops as so
from spatialops.control.manipulation.dual_arm.driver_handoff import driver_handoff
from spatialops.control.manipulation.dual_arm.task import Variation
from spatialops.control.manipulation.dual_arm.variations import task_module
from spatialops.errors import ArgumentError


def test_variations_are_within_their_ranges():
    varied = [Variation.random(seed) for seed in range(200)]
    assert all(abs(one.mass - 1.0) <= 0.15 and abs(one.friction - 1.0) <= 0.2 for one in varied)
    assert all(max(map(abs, one.shift)) <= 5e-3 for one in varied)
    turns = np.degrees([np.linalg.norm(one.turn) for one in varied])
    assert 1.9 < turns.max() <= 2.0
    assert np.ptp([one.mass for one in varied]) > 0.28
    assert varied[3] == Variation.random(3)
    with pytest.raises(ArgumentError, match="task"):
        task_module("juggling")


def test_poses_of_the_object_and_of_palms_are_those_of_the_rows():
    task = driver_handoff()
    q, v = task.scene.state.q, task.scene.state.v
    moved = q.copy()
    moved[task.scene.model.q_slice("driver")][:3] += (0.0, 0.0, 0.1)
    record = SimpleNamespace(q=np.array([q, moved]), v=np.array([v, v]))
    first, second = task.object_poses(record)
    assert second.position - first.position == pytest.approx([0.0, 0.0, 0.1])
    palms = task.palm_poses(record, "left", np.array([0, 1]))
    model = task.robot.model
    expected = so.node_positions(model, q[: model.nq], [so.Node("left_palm")])[0]
    assert palms[0].position == pytest.approx(expected)
    assert np.array_equal(palms[0].rotation, palms[1].rotation)


def test_each_controller_begins_anew():
    task = driver_handoff()
    one, other = task.controller(), task.controller()
    assert one.script is not other.script
    assert one.script.phases == other.script.phases

"""A wheel is taken off, or it is said why not."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.control import Pose
from spatialops.control.manipulation.dual_arm import wheel_removal
from spatialops.control.manipulation.dual_arm.run import run_task
from spatialops.control.manipulation.dual_arm.task import Variation
from spatialops.errors import SpatialOpsError


@pytest.mark.slow
@pytest.mark.compiled
def test_slippery_fingers_are_reported():
    """With a seventh of the friction the wheel cannot be carried; the report says when and why."""
    try:
        run = run_task(wheel_removal.wheel_removal(Variation(friction=0.12)))
    except SpatialOpsError as error:  # pragma: no cover
        pytest.fail(str(error))
    verdict = wheel_removal.judge(run)
    assert not verdict["succeeded"]
    assert "phase '" in verdict["faults"][0]


def test_the_wheel_hangs_on_its_hub_and_hands_wait_beside_it():
    task = wheel_removal.wheel_removal()
    wheel = task.scene.state.q[task.scene.model.q_slice("wheel")]
    assert wheel[:3] == pytest.approx(wheel_removal.HUB, abs=2e-3)
    model = task.robot.model
    q = task.scene.state.q[: model.nq]
    palms = so.node_positions(model, q, [so.Node(f"{side}_palm") for side in ("left", "right")])
    assert palms[0] * [1.0, -1.0, 1.0] == pytest.approx(palms[1], abs=1e-6)  # mirrored
    assert (palms[:, 0] < wheel_removal.HUB[0]).all()  # before the wheel
    assert (model.lower <= q).all()
    assert (q <= model.upper).all()


def test_the_lean_of_an_axle():
    for angle in (0.0, 0.2, -0.3):
        pose = Pose(np.zeros(3), Rotation.from_euler("y", angle).as_matrix())
        assert wheel_removal.lean(pose) == pytest.approx(abs(angle))


def test_the_phases_carry_the_weight_between_both_hands():
    found = wheel_removal.phases()
    loads = [phase.loads(None) for phase in found if phase.loads]
    assert sum(loads[0].values()) == pytest.approx(9.81 * wheel_removal.MASS)
    assert not any(loads[1].values())
    during = {phase.name: len(phase.during) for phase in found}
    assert during["carry"] == during["pull"] + 1  # the wheel must be free as well

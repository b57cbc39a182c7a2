"""Trees that float: momentum to rounding, whatever their joints do."""

import numpy as np
import pytest

import spatialops as so
from spatialops.experiments.accuracy.spinning import floating_quadruped, momenta


@pytest.mark.compiled
def test_momentum_is_kept_where_joints_move_and_forces_act_between_links():
    scene = floating_quadruped()
    tau = np.zeros(scene.model.nv)
    tau[6:] = np.random.default_rng(1).normal(size=scene.model.nv - 6)
    simulator = so.Simulator(scene, dt=2e-3, certify="off", joint_limits=False)
    record = simulator.run(duration=0.4, controller=lambda time, state, contacts: tau)
    found = momenta(record)
    assert np.abs(found - found[0]).max() < 1e-11 * np.abs(found[0]).max()


@pytest.mark.compiled
def test_gravity_and_forces_on_the_root_are_what_changes_it():
    robot = so.models.quadruped()
    v = np.random.default_rng(7).normal(size=robot.model.nv)
    scene = so.Scene(robot.model, state=so.State(robot.state.q, v))
    record = so.Simulator(scene, dt=1e-3, certify="off", joint_limits=False).run(duration=0.1)
    found = momenta(record)
    weight = robot.model.mass * robot.model.gravity
    expected = found[0, 3:] + np.outer(record.times, weight)
    assert np.abs(found[:, 3:] - expected).max() < 1e-11 * np.abs(expected).max()

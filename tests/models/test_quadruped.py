"""The quadruped: [Z]'s sizes and weight, mirrored legs, and that it stands on its feet."""

import numpy as np
import pytest

import spatialops as so


def test_sizes_and_weight():
    robot = so.models.quadruped()
    model, q = robot.model, robot.state.q
    assert model.nv == 18
    assert model.mass * 9.81 == pytest.approx(47.0882, rel=1e-12)
    feet = so.body_poses(model, q)
    places = np.array([feet.positions[model.body_index(name)] for name in model.body_names])
    assert places[0] == pytest.approx((0.0, 0.0, 0.15))
    at = so.node_positions(model, q, [so.Node(foot) for foot in robot.feet])
    assert at == pytest.approx(
        np.array([[a * 0.12, b * 0.10, 0.01] for a in (1, -1) for b in (1, -1)]), abs=1e-12
    )
    centre = so.center_of_mass(model, q)
    assert centre[:2] == pytest.approx((0.0, 0.0), abs=1e-12), "mirrored legs"


def test_weight_at_rest_is_on_the_ground():
    robot = so.models.quadruped()
    scene = robot.scene()
    problem = so.Simulator(scene).problem(robot.state)
    assert problem.n_contacts == 4
    assert np.allclose(problem.frames[:, 0], (0.0, 0.0, 1.0))
    # Locked joints: the ground's forces carry the weight.
    hold = -so.bias(robot.model, robot.state.q, robot.state.v)
    assert hold[5] == pytest.approx(-47.0882)


def test_scene_takes_other_ground():
    robot = so.models.quadruped()
    table = so.Geom(
        "table", "world", so.collision.Box((1.0, 1.0, 0.1)), (0.0, 0.0, -0.05), friction=0.3
    )
    scene = robot.scene(friction=1.2, ground=[table])
    problem = so.Simulator(scene).problem(robot.state)
    assert problem.n_contacts == 4
    assert np.allclose(problem.friction, 0.6)

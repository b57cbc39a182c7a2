"""Poses, Jacobians and their drift, against finite differences and against one another."""

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import central_difference, random_nodes, random_tree, relative_error


def test_linear_rows_are_derivatives_of_positions(model, state, rng):
    q, nodes = state[0], random_nodes(rng, model, 4, world=True)
    J = so.jacobian(model, q, nodes).reshape(4, 6, model.nv)
    columns = [
        central_difference(lambda x: so.node_positions(model, x, nodes), model, q, e)
        for e in np.eye(model.nv)
    ]
    assert relative_error(J[:, 3:], np.stack(columns, axis=-1)) < 1e-9


def test_angular_rows_are_derivatives_of_rotations(model, state):
    q, v, _ = state
    nodes = [so.Node(b) for b in range(model.n_bodies)]
    spin = (so.jacobian(model, q, nodes) @ v).reshape(-1, 6)[:, :3]
    rate = central_difference(lambda x: so.body_poses(model, x).rotations, model, q, v)
    skew = rate @ so.body_poses(model, q).rotations.transpose(0, 2, 1)
    axial = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    assert relative_error(axial, spin) < 1e-9
    assert relative_error(skew, -skew.transpose(0, 2, 1)) < 1e-9


def test_velocities_are_jacobian_times_rates(model, state, rng):
    q, v, _ = state
    nodes = random_nodes(rng, model, 5, world=True)
    velocities = so.node_velocities(model, q, v, nodes)
    assert velocities.shape == (5, 6)
    assert relative_error(velocities.ravel(), so.jacobian(model, q, nodes) @ v) < 1e-13


def test_drift_is_the_derivative_of_the_jacobian(model, state, rng):
    q, v, _ = state
    nodes = random_nodes(rng, model, 4, world=True)
    expected = central_difference(lambda x: so.jacobian(model, x, nodes), model, q, v) @ v
    assert relative_error(so.jacobian_drift(model, q, v, nodes), expected) < 1e-8


def test_accelerations(model, state, rng):
    q, v, a = state
    nodes = random_nodes(rng, model, 4, world=True)
    expected = so.jacobian(model, q, nodes) @ a + so.jacobian_drift(model, q, v, nodes)
    assert relative_error(so.node_accelerations(model, q, v, a, nodes).ravel(), expected) < 1e-12


def test_no_nodes(model, state):
    q, v, a = state
    assert so.jacobian(model, q, []).shape == (0, model.nv)
    assert so.node_positions(model, q, []).shape == (0, 3)
    assert so.node_velocities(model, q, v, []).shape == (0, 6)
    assert so.node_accelerations(model, q, v, a, []).shape == (0, 6)
    assert so.jacobian_drift(model, q, v, []).shape == (0,)


def test_poses_are_rotations(model, state):
    rotations = so.body_poses(model, state[0]).rotations
    assert np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)).max() < 1e-13
    assert np.allclose(np.linalg.det(rotations), 1.0)


@pytest.mark.parametrize("branching", [0.0, 0.5])
def test_poses_of_bodies_are_where_points_of_them_are(rng, branching):
    model = random_tree(rng, 24, branching=branching)
    q = model.random(rng)
    poses = so.body_poses(model, q)
    for j, offset in enumerate(np.eye(3)):
        nodes = [so.Node(b, offset) for b in range(model.n_bodies)]
        expected = poses.positions + poses.rotations[:, :, j]
        assert np.abs(so.node_positions(model, q, nodes) - expected).max() < 1e-12


def test_neutral_coordinates_put_bodies_where_their_joints_are():
    builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    kinds = ("revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "ball")
    for kind in kinds:
        builder.add_body(
            kind,
            joint=so.Joint(kind, axis=(1, 2, 2)),
            inertia=ball,
            position=(1, 2, 3),
            rotation=(0, 0, 0.6, 0.8),
        )
    model = builder.build()
    poses = so.body_poses(model, model.neutral())
    turn = [[0.28, -0.96, 0.0], [0.96, 0.28, 0.0], [0.0, 0.0, 1.0]]
    assert np.allclose(poses.positions, (1.0, 2.0, 3.0))
    assert np.allclose(poses.rotations, turn)


def test_output_may_be_given(model, state, rng):
    nodes = random_nodes(rng, model, 2)
    out = np.full((12, model.nv), np.nan)
    assert so.jacobian(model, state[0], nodes, out=out) is out
    assert np.array_equal(out, so.jacobian(model, state[0], nodes))

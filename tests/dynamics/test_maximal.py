"""Maximal coordinates: exact both ways, and the hinges' twists against Jacobians."""

import numpy as np
import pytest

import spatialops as so
from spatialops.dynamics.joint_split import joint_splits
from spatialops.dynamics.maximal import from_maximal, placed, to_maximal
from spatialops.errors import ArgumentError
from tests.support.trees import KINDS, random_tree


def test_there_and_back(model, state):
    q, v, _ = state
    maximal = to_maximal(model, q, v)
    q_back, v_back = from_maximal(model, maximal)
    again = to_maximal(model, q_back, v_back)
    for one, other in zip(maximal, again):
        assert np.allclose(one, other, rtol=0.0, atol=1e-12 * max(1.0, np.abs(one).max()))
    assert np.allclose(v_back, v, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("fixed", "ball", "free")])
def test_coordinates_come_back_as_they_were(kind, rng):
    model = random_tree(rng, 4, kinds=(kind,), armature=False)
    q = rng.uniform(-3.0, 3.0, model.nq)
    q_back, _ = from_maximal(model, to_maximal(model, q, np.zeros(model.nv)))
    assert np.allclose(q_back, q, rtol=0.0, atol=1e-11)


def test_poses_and_velocities_are_those_of_the_bodies(model, state):
    q, v, _ = state
    maximal, poses = to_maximal(model, q, v), so.body_poses(model, q)
    assert np.array_equal(maximal.positions, poses.positions)
    assert np.array_equal(maximal.rotations, poses.rotations)
    nodes = [so.Node(name) for name in model.body_names]
    assert np.allclose(
        maximal.velocities, so.node_velocities(model, q, v, nodes), rtol=0.0, atol=1e-12
    )


def test_joints_split_relative_motion(model, state):
    """T is the inverse of [S, C]; on a motion of the tree it has the rates, and hinges hold."""
    q, v, _ = state
    velocities = to_maximal(model, q, v).velocities
    splits = joint_splits(model, placed(model, q))
    largest = max(1.0, np.abs(velocities).max())
    for b, (first, d, parent) in enumerate(splits.joints):
        T, S = splits.split[6 * b : 6 * b + 6], splits.motion[first : first + d].T
        assert np.abs(T[:d] @ S - np.eye(d)).max(initial=0.0) < 1e-12
        assert np.abs(T[d:] @ S).max(initial=0.0) < 1e-12
        assert np.abs(T[d:] @ T[d:].T - np.eye(6 - d)).max(initial=0.0) < 1e-14
        relative = velocities[b].copy()
        if parent >= 0:
            relative -= velocities[parent]
            relative[3:] -= np.cross(velocities[parent, :3], splits.levers[b])
        expected = np.concatenate([v[first : first + d], np.zeros(6 - d)])
        assert np.abs(T @ relative - expected).max() < 1e-11 * largest


def test_bad_input_is_refused(model, state):
    q, v, _ = state
    with pytest.raises(ArgumentError, match="q: "):
        to_maximal(model, q[:-1], v)
    with pytest.raises(ArgumentError, match="v: "):
        to_maximal(model, q, np.full(model.nv, np.nan))
    maximal = to_maximal(model, q, v)
    with pytest.raises(ArgumentError, match="rotations: "):
        from_maximal(model, maximal._replace(rotations=np.zeros((1, 2, 3))))
    with pytest.raises(ArgumentError, match="positions: "):
        from_maximal(model, maximal._replace(positions=maximal.positions * np.nan))

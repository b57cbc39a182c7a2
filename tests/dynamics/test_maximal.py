"""Maximal coordinates: exact both ways, and the hinges' twists against Jacobians."""

import numpy as np
import pytest

import spatialops as so
from spatialops.dynamics.maximal import from_maximal, joint_groups, placed, to_maximal
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


def test_hinges_hold_what_joints_do_not_move(model, state):
    q, v, _ = state
    velocities = to_maximal(model, q, v).velocities
    for joints in joint_groups(model, placed(model, q)):
        d = joints.motion.shape[2]
        assert joints.hinges.shape[1] == 6 - d
        assert np.abs(joints.hinges @ joints.motion).max(initial=0.0) < 1e-12
        for hinges, parent_rows, body, parent in zip(
            joints.hinges, joints.on_parent(joints.hinges), joints.bodies, joints.parents
        ):
            held = hinges @ velocities[body]
            if parent >= 0:
                held = held + parent_rows @ velocities[parent]
            assert np.abs(held).max(initial=0.0) < 1e-11 * max(1.0, np.abs(velocities).max())


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

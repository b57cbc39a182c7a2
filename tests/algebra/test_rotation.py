"""Rotations for people, against SciPy's."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatialops.algebra.rotation import (
    from_quaternion,
    from_rotation_vector,
    rotation_matrix,
    to_quaternion,
)
from spatialops.errors import ModelError
from tests.support.trees import random_rotation


def test_quaternions_are_those_of_scipy(rng):
    q = rng.normal(size=(5, 4))
    expected = Rotation.from_quat(q).as_matrix()
    assert np.allclose(from_quaternion(q), expected)
    assert np.allclose(rotation_matrix(q[0]), expected[0])


def test_round_trip(rng):
    turns = np.array([random_rotation(rng) for _ in range(6)]).reshape(2, 3, 3, 3)
    quaternions = to_quaternion(turns)
    assert quaternions.shape == (2, 3, 4)
    assert (quaternions[..., 3] >= 0.0).all()
    assert np.allclose(from_quaternion(quaternions), turns)


def test_rounded_matrices_become_exact(rng):
    turn = random_rotation(rng)
    result = rotation_matrix(np.round(turn, 7))
    assert np.abs(result @ result.T - np.eye(3)).max() < 1e-14
    assert np.abs(result - turn).max() < 1e-6


def test_none_is_the_identity():
    assert np.array_equal(rotation_matrix(None), np.eye(3))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x", "expected"),
        (np.eye(2), "expected shape"),
        (np.zeros(4), "must not be zero"),
        (np.full((3, 3), np.nan), "finite"),
        (2.0 * np.eye(3), "is not a rotation"),
        (-np.eye(3), "is not a rotation"),
        ([0, 0, 0, np.inf], "finite"),
    ],
)
def test_refused(value, message):
    with pytest.raises(ModelError, match=f"tilt: .*{message}"):
        rotation_matrix(value, "tilt")


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-4, 1.0, np.pi, 5.0])
def test_from_rotation_vector(angle, rng):
    axis = rng.normal(size=3)
    vector = angle * axis / np.linalg.norm(axis)
    expected = Rotation.from_rotvec(vector).as_matrix()
    assert np.allclose(from_rotation_vector(vector), expected, atol=1e-15)

"""Rotation vectors and their rates."""

import numpy as np
import pytest

from spatialops.algebra.rotation import from_rotation_vector
from spatialops.control.task_space.rotation_coordinates import (
    nearest_turn,
    rotation_vector,
    vector_rates,
)


def test_rotation_vectors_near_zero_and_half_a_turn():
    rng = np.random.default_rng(7)
    for angle in (0.0, 1e-12, 1e-5, 0.3, 2.0, 3.0, 3.1415):
        axis = rng.normal(size=3)
        x = angle * axis / np.linalg.norm(axis)
        assert np.allclose(rotation_vector(from_rotation_vector(x)), x, atol=1e-9)
    x = np.array([0.4, -0.9, 0.5])
    omega = np.array([0.3, 0.8, -1.0])
    h = 1e-6
    inverse, rate = vector_rates(x, omega)
    R = from_rotation_vector(x)
    ends = [rotation_vector(from_rotation_vector(s * h * omega) @ R) for s in (1.0, -1.0)]
    assert np.allclose((ends[0] - ends[1]) / (2 * h), inverse @ omega, atol=1e-8)
    difference = vector_rates(ends[0], omega)[0] - vector_rates(ends[1], omega)[0]
    assert np.allclose(difference / (2 * h), rate, atol=1e-8)


def test_other_turns_of_a_path_have_the_derivatives_of_that_path():
    a, b = np.array([2.0, 1.5, 2.5]), np.array([0.3, -0.8, 0.4])
    c = np.array([-0.5, 0.2, 0.9])

    def turned(t):
        x, rate = a + t * b + 0.5 * t * t * c, b + t * c
        return nearest_turn(x, rate, c, -0.8 * a)

    h = 1e-4
    before, now, after = (turned(t) for t in (-h, 0.0, h))
    assert np.linalg.norm(now[0]) == pytest.approx(2.0 * np.pi - np.linalg.norm(a))
    assert now[1] == pytest.approx((after[0] - before[0]) / (2.0 * h), abs=1e-6)
    assert now[2] == pytest.approx((after[1] - before[1]) / (2.0 * h), abs=1e-6)

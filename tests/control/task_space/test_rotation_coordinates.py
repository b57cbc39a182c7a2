"""Rotation vectors and their rates."""

import numpy as np


def test_rotation_vectors_near_zero_and_half_a_turn():
    from spatialops.algebra.rotation import from_rotation_vector
    from spatialops.control.task_space.rotation_coordinates import rotation_vector, vector_rates

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

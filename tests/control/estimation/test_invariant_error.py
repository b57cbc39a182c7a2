"""The group of base and feet."""

import numpy as np
import pytest
from scipy.linalg import expm

from spatialops.control.estimation.invariant_error import exponential, moved, skew


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, 3.0])
def test_it_is_the_matrix_exponential(angle):
    rng = np.random.default_rng(1)
    phi = rng.normal(size=3)
    phi *= angle / np.linalg.norm(phi)
    parts = rng.normal(size=(4, 3))
    vectors = rng.normal(size=(4, 3))
    generator = np.zeros((7, 7))
    generator[:3, :3] = skew(phi)
    generator[:3, 3:] = parts.T
    whole = expm(generator)
    turn, _ = exponential(phi)
    assert turn == pytest.approx(whole[:3, :3], abs=1e-14)
    expected = (whole[:3, :3] @ vectors.T + whole[:3, 3:]).T
    found = moved(vectors, np.concatenate([phi, parts.ravel()]))
    assert found == pytest.approx(expected, abs=1e-13)

"""The centroidal momentum matrix against momentum about the centre of mass."""

import numpy as np
import pytest

import spatialops as so
from tests.support.trees import relative_error


def test_it_gives_the_momentum_about_the_centre_of_mass(model, state):
    q, v, _ = state
    found = so.centroidal_momentum_matrix(model, q) @ v
    total = so.momentum(model, q, v)
    about_center = total[:3] - np.cross(so.center_of_mass(model, q), total[3:])
    assert relative_error(found, np.concatenate([about_center, total[3:]])) < 1e-12


def test_bad_coordinates_are_refused(model):
    with pytest.raises(so.errors.ArgumentError, match="q"):
        so.centroidal_momentum_matrix(model, np.full(model.nq, np.nan))

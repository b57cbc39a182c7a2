"""The centre of mass against its derivatives, on trees of every joint."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.kinematics.center_motion import center_of_mass_motion
from tests.support.trees import central_difference, random_tree, relative_error


@pytest.mark.parametrize("seed", range(5))
def test_center_of_mass_moves_as_it_is_said(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9, each=True)
    q, v = model.random(rng), rng.normal(size=model.nv)
    found = center_of_mass_motion(model, q, v)
    assert relative_error(found.x[None], so.center_of_mass(model, q)[None]) < 1e-14
    assert relative_error(found.J, so.center_of_mass_derivative(model, q)) < 1e-13
    assert np.abs(found.J @ v * model.mass - so.momentum(model, q, v)[3:]).max() < 1e-12

    def rate(x):
        return center_of_mass_motion(model, x, v).J @ v

    drift = central_difference(rate, model, q, v, 1e-3)
    assert relative_error(found.drift[None], drift[None]) < 1e-9


def test_bad_states_are_refused():
    model = so.models.pendulum(2).model
    with pytest.raises(ArgumentError, match="q: holds NaN"):
        center_of_mass_motion(model, [np.nan, 0.0], [0.0, 0.0])
    with pytest.raises(ArgumentError, match="v: holds NaN"):
        center_of_mass_motion(model, [0.0, 0.0], [0.0, np.inf])

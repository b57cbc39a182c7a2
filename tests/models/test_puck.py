"""A puck on a floor and on a slope: where it stops, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so

GRAVITY = 9.81


@pytest.mark.parametrize("heading", [0.0, 0.4])
def test_it_stops_where_friction_stops_it(heading):
    mu, speed = 0.3, 1.0
    along = np.array([np.cos(heading), np.sin(heading)])
    scene = so.models.puck(velocity=speed * along).scene(friction=mu)
    record = so.Simulator(scene, law="cone").run(duration=0.5)
    np.testing.assert_allclose(
        record.q[-1, :2], speed**2 / (2.0 * mu * GRAVITY) * along, atol=mu * GRAVITY * 1e-6
    )


@pytest.mark.parametrize(("mu", "slides"), [(0.35, True), (0.37, False)])
def test_it_slides_beyond_the_angle_of_friction(mu, slides):
    scene = so.models.puck(np.radians(20.0)).scene(friction=mu)  # tan 20 degrees = 0.364
    record = so.Simulator(scene).run(duration=0.1)
    assert (record.v[-1, 3] > 1e-6) == slides


def test_its_state_is_what_was_asked_for():
    puck = so.models.puck(0.1, (1.0, -2.0), spin=3.0)
    np.testing.assert_array_equal(puck.state.v, [0.0, 0.0, 3.0, 1.0, -2.0, 0.0])
    np.testing.assert_allclose(np.linalg.norm(puck.model.gravity), GRAVITY)


def test_what_is_no_number_is_refused():
    with pytest.raises(so.errors.ArgumentError, match="slope"):
        so.models.puck(np.nan)
    with pytest.raises(so.errors.ArgumentError, match="velocity"):
        so.models.puck(velocity=(1.0, 2.0, 3.0))

"""The default integrator's steps of lone bodies by where their geoms sit, against differences."""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.linearization.test_free_bodies import (
    PUSH,
    box_on_floor,
    on_a_corner,
    rotation,
)
from tests.simulation.linearization.test_geom_poses import check_pose
from tests.simulation.linearization.test_linearize import EXACT
from tests.simulation.linearization.test_lone_parameters import (
    ball_and_box,
    ball_on_box,
    finger_and_box,
)

pytestmark = pytest.mark.compiled  # many steps, of code that others run uncompiled


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_a_box_on_its_corner(law, friction):
    options = {"dt": 1e-3, "law": law, "time": EXACT}
    scene = box_on_floor(friction)
    found = check_pose(scene, "box", on_a_corner(), PUSH, 1e-7, range(6), **options)
    assert np.abs(found).max() > 0.1


@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("friction", [0.1, 2.0])
@pytest.mark.parametrize("height", [-1e-6, 2e-3])
def test_a_box_that_strikes_with_its_corner(law, friction, height):
    """Through an impact, whose time changes."""
    state = on_a_corner(-height)
    state.v[3:] += rotation(state.q[3:]).T @ np.array([0.2, 0.0, -0.6])
    state.v[:3] *= 10.0
    options = {"dt": 5e-3, "law": law, "time": EXACT}
    h = 3e-8 if height < 0.0 else 1e-5
    found = check_pose(box_on_floor(friction, 0.6), "box", state, PUSH, h, range(6), **options)
    assert np.abs(found).max() > 1.0


@pytest.mark.parametrize("geom", ["box", "ball"])
@pytest.mark.parametrize("speed", [1e-3, 0.5])
def test_a_ball_on_a_box_that_floats(geom, speed):
    """Either of two lone bodies."""
    state, tau = ball_on_box(speed)
    check_pose(ball_and_box(0.3, 0.6), geom, state, tau, 1e-7, range(6), dt=1e-3, time=EXACT)


@pytest.mark.parametrize("geom", ["box", "tip"])
@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_a_finger_that_pushes_a_box(geom, damping):
    scene, state = finger_and_box(damping, 1e-3)
    tau = np.concatenate([[0.5, 5.0], PUSH])
    statuses = so.Simulator(scene, dt=1e-3, time=EXACT).linearize(state, tau).statuses
    assert statuses == ("sliding", "sliding", "sticking", "open")
    check_pose(scene, geom, state, tau, 1e-7, range(6), dt=1e-3, time=EXACT)

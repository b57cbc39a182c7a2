"""Smooth parts of environments that are pushed: found side by side, to the same bits."""

import numpy as np
import pytest

import spatialops as so
from spatialops.models.quadruped import quadruped
from tests.simulation.batch.eights.test_eights import (
    SIZE,
    alone,
    assert_same,
    branched,
    together,
)

STEPS = 30


def driven(scene, *, torque, kick, holds=1):
    """Torques about none, held over so many steps, and kicks, different in each environment."""
    rng = np.random.default_rng(3)
    nv = scene.model.nv
    taus = torque * rng.normal(size=(SIZE, STEPS // holds, nv)).repeat(holds, axis=1)
    if scene.model.nv > scene.model.n_bodies:
        taus[..., :6] = 0.0  # nothing drives a free root
    return taus, np.tile(scene.state.q, (SIZE, 1)), kick * rng.normal(size=(SIZE, nv))


@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
@pytest.mark.compiled
@pytest.mark.parametrize(("torque", "holds"), [(0.0, 1), (0.5, 1), (0.5, 10)])
def test_robots_on_their_feet_end_with_the_same_bits(torque, holds):
    """Some stand, some slip, some leave the floor: held torques are settled less sharply."""
    scene = quadruped().scene()
    simulator = so.Simulator(scene, dt=2e-3)
    taus, q, v = driven(scene, torque=torque, kick=0.3, holds=holds)
    v[0] = 0.0
    assert_same(together(simulator, taus, q, v), alone(simulator, taus, q, v))


@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_joints_at_their_stops_end_with_the_same_bits(damping):
    scene = branched(damping, limits=(-0.02, 0.02))
    simulator = so.Simulator(scene, dt=2e-3)
    taus, q, v = driven(scene, torque=0.5, kick=0.1)
    assert_same(together(simulator, taus, 0.0 * q, v), alone(simulator, taus, 0.0 * q, v))


@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
@pytest.mark.compiled
def test_what_turns_too_fast_for_a_step_is_left_to_the_loop():
    """Its piece is halved there; those beside it do not hear of it."""
    scene = quadruped().scene()
    simulator = so.Simulator(scene, dt=2e-3)
    taus, q, v = driven(scene, torque=0.2, kick=0.1)
    v[3, 6:] *= 4000.0
    assert_same(together(simulator, taus, q, v), alone(simulator, taus, q, v))

"""What a step knows of the one before: forces of the same contacts, and nothing of other states."""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.stepping.test_grips import grip, least


def squeezed(scene, force=10.0):
    tau = np.zeros(scene.model.nv)
    tau[0] = 4 * 0.2 * 9.81
    tau[1], tau[2] = force * least(0.3), -force * least(0.3)
    return tau


def followed(simulator, state, tau, steps):
    """States and normal impulses of so many steps."""
    found = []
    for _ in range(steps):
        state, info = simulator.step(state, tau)
        found.append(np.concatenate([state.q, state.v, info.contacts.impulses.ravel()]))
    return state, found


@pytest.mark.compiled
def test_steps_are_those_of_a_run_to_the_bit():
    scene = grip("box", 0.3)
    tau = squeezed(scene)
    state, _ = followed(so.Simulator(scene, dt=1e-3), scene.state, tau, 20)
    record = so.Simulator(scene, dt=1e-3).run(duration=0.02, controller=lambda *_: tau)
    assert np.array_equal(record.q[-1], state.q)
    assert np.array_equal(record.v[-1], state.v)


@pytest.mark.compiled
def test_a_step_from_another_state_remembers_nothing():
    scene = grip("box", 0.3)
    used = so.Simulator(scene, dt=1e-3)
    followed(used, scene.state, squeezed(scene, 40.0), 5)
    tau = squeezed(scene)
    again = followed(used, scene.state, tau, 3)[1]
    fresh = followed(so.Simulator(scene, dt=1e-3), scene.state, tau, 3)[1]
    assert all(np.array_equal(a, b) for a, b in zip(again, fresh, strict=True))


@pytest.mark.compiled
def test_forces_follow_the_load_and_not_the_past_where_they_are_determined():
    """Twice the squeeze, one step later: the normal impulses of each jaw sum up to it."""
    scene = grip("box", 0.3)
    simulator = so.Simulator(scene, dt=1e-3)
    state, _ = followed(simulator, scene.state, squeezed(scene, 10.0), 5)
    _, info = simulator.step(state, squeezed(scene, 20.0))
    total = info.contacts.impulses[:, 0].sum()
    assert total == pytest.approx(2.0 * 20.0 * least(0.3) * 1e-3, rel=1e-9)

"""Smooth motion to high order: closed forms, energy, and what is refused."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError


def test_a_small_pendulum_swings_as_a_cosine():
    model = so.models.pendulum(1).model
    angle = 1e-6
    motion = so.smooth_motion(model, so.State(np.array([angle]), np.zeros(1), 2.0), 1.0)
    a = so.forward_dynamics(model, [angle], [0.0], [0.0])[0]
    rate = np.sqrt(-a / angle)
    for time in (2.0, 2.3, 3.0):
        assert motion(time).q[0] == pytest.approx(angle * np.cos(rate * (time - 2.0)), abs=1e-11)
        assert motion(time).time == time


def test_energy_and_unit_quaternions_are_kept_in_flight():
    inertia = so.Inertia.box((0.3, 0.2, 0.1), mass=1.0)
    model = so.TreeBuilder().add_body("box", joint=so.Joint("free"), inertia=inertia).build()
    state = so.State(model.neutral(), np.array([3.0, 20.0, -5.0, 1.0, 2.0, 3.0]))
    motion = so.smooth_motion(model, state, 1.0)
    before = so.energy(model, state.q, state.v).total
    for time in np.linspace(0.0, 1.0, 7):
        now = motion(time)
        assert so.energy(model, now.q, now.v).total == pytest.approx(before, rel=1e-9)
        assert np.linalg.norm(now.q[3:]) == pytest.approx(1.0, abs=1e-12)


def test_forces_are_those_of_the_time_and_state():
    model = so.models.pendulum(1).model
    inertia = so.mass_matrix(model, [0.0])[0, 0]

    def forces(time, state):
        return so.inverse_dynamics(model, state.q, state.v, [0.0]) + inertia * np.cos(time)

    motion = so.smooth_motion(model, so.State(np.zeros(1), np.zeros(1)), 2.0, forces=forces)
    assert motion(2.0).q[0] == pytest.approx(1.0 - np.cos(2.0), abs=1e-10)
    assert motion.evaluations > 10


def test_what_cannot_be_is_refused():
    model = so.models.pendulum(1).model
    state = so.State(np.zeros(1), np.zeros(1))
    with pytest.raises(ArgumentError, match="duration"):
        so.smooth_motion(model, state, 0.0)
    with pytest.raises(ArgumentError, match="goes from 0 to 1"):
        so.smooth_motion(model, state, 1.0)(1.5)
    with pytest.raises(ArgumentError, match="forces"):
        so.smooth_motion(model, state, 1.0, forces=lambda time, state: np.zeros(3))

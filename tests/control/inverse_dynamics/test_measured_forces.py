"""Forces measured some steps ago: what they are, and the lag that they cause."""

import numpy as np
import pytest

import spatialops as so
from spatialops.collision.shapes import HalfSpace, Sphere
from spatialops.control import (
    Actuation,
    MeasuredForcesController,
)
from tests.control.cases import quadruped_simulator


@pytest.mark.compiled
@pytest.mark.parametrize("delay", [1, 2])
def test_measured_forces_are_those_of_earlier_steps(delay):
    robot, sim = quadruped_simulator("cone")
    q0 = robot.state.q[7:].copy()
    control = MeasuredForcesController(
        sim, lambda time, state: 400.0 * (q0 - state.q[7:]) - 40.0 * state.v[6:], delay=delay
    )
    state = robot.state
    contacts = None
    measured = [0.0]
    for _ in range(20):
        tau = control(state.time, state, contacts)
        assert control.explain().forces[0, 0] == pytest.approx(
            measured[max(len(measured) - delay, 0)], rel=1e-12
        )
        state, info = sim.step(state, tau)
        contacts = info.contacts
        measured.append(contacts.impulses[:, 0].sum() / sim.dt)
    assert state.q[2] == pytest.approx(0.15, abs=2e-3)


@pytest.mark.parametrize("delay", [1, 2])
def test_forces_measured_late_delay_demands_by_the_ratio_of_masses(delay):
    builder = so.TreeBuilder()
    rail = so.Joint("prismatic", axis=(0.0, 0.0, 1.0))
    builder.add_body("trunk", joint=rail, inertia=so.Inertia.sphere(0.1, mass=9.0))
    builder.add_body("leg", parent="trunk", joint=rail, inertia=so.Inertia.sphere(0.1, mass=1.0))
    model = builder.build()
    geoms = [
        so.Geom("foot", "leg", Sphere(0.1)),
        so.Geom("floor", "world", HalfSpace((0.0, 0.0, 1.0))),
    ]
    sim = so.Simulator(so.Scene(model, geoms), law="cone", impact_threshold=100.0)
    motors = Actuation(model, [model.joint_names[1]])
    control = MeasuredForcesController(
        sim, lambda time, state: [-2.0], delay=delay, actuation=motors
    )
    state = so.State(np.array([0.6, -0.5]), np.zeros(2))
    contacts = None
    errors = []
    for _ in range(20):
        before, tau = state.v[1], control(state.time, state, contacts)
        state, info = sim.step(state, tau)
        contacts = info.contacts
        errors.append((state.v[1] - before) / sim.dt + 2.0)
    found = np.array(errors)
    assert found[0] > 0.5
    assert found[delay:] == pytest.approx(0.9 * found[:-delay], rel=1e-6)  # 9 kg of 10
    assert state.v[0] == pytest.approx(-state.v[1], abs=1e-12)  # the foot stands

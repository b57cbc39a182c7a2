"""Trees that float: momentum to rounding, whatever their joints do."""

import numpy as np
import pytest

import spatialops as so
from spatialops.experiments.accuracy.spinning import floating_quadruped, momenta
from spatialops.simulation import _layout as at


@pytest.mark.compiled
def test_momentum_is_kept_where_joints_move_and_forces_act_between_links():
    scene = floating_quadruped()
    tau = np.zeros(scene.model.nv)
    tau[6:] = np.random.default_rng(1).normal(size=scene.model.nv - 6)
    simulator = so.Simulator(scene, dt=2e-3, certify="off", joint_limits=False)
    record = simulator.run(duration=0.4, controller=lambda time, state, contacts: tau)
    found = momenta(record)
    assert np.abs(found - found[0]).max() < 1e-11 * np.abs(found[0]).max()


@pytest.mark.compiled
def test_gravity_and_forces_on_the_root_are_what_changes_it():
    robot = so.models.quadruped()
    v = np.random.default_rng(7).normal(size=robot.model.nv)
    scene = so.Scene(robot.model, state=so.State(robot.state.q, v))
    record = so.Simulator(scene, dt=1e-3, certify="off", joint_limits=False).run(duration=0.1)
    found = momenta(record)
    weight = robot.model.mass * robot.model.gravity
    expected = found[0, 3:] + np.outer(record.times, weight)
    assert np.abs(found[:, 3:] - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.compiled
def test_what_an_impact_gives_stays():
    builder = so.TreeBuilder()
    builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=1.0))
    tail = so.Inertia.sphere(0.05, mass=0.3).shifted((0.2, 0.0, 0.0))
    builder.add_body("tail", parent="ball", joint=so.Joint("revolute", axis="y"), inertia=tail)
    elastic = {"friction": 0.0, "restitution": 1.0}
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), **elastic),
        so.Geom("ball", "ball", so.Sphere(0.1), **elastic),
    ]
    model = builder.build()
    q = model.neutral()
    q[2] = 0.2
    record = so.Simulator(so.Scene(model, geoms, state=so.State(q, np.zeros(7))), dt=1e-3).run(
        duration=0.25
    )
    assert len(record.events) == 1
    flying = record.times > record.events[0, at.EVENT_TIME] + 1e-3
    weight = model.mass * model.gravity
    found = momenta(record)[flying, 3:] - np.outer(record.times[flying], weight)
    assert np.abs(found - found[0]).max() < 1e-11 * np.abs(found[0]).max()
    assert momenta(record)[flying, 5][0] > 0.0
    assert np.abs(record.energy - record.energy[0]).max() < 1e-4 * record.energy[0]


@pytest.mark.compiled
def test_a_state_put_in_by_hand_has_its_own_momentum():
    scene = floating_quadruped()
    simulator = so.Simulator(scene, dt=1e-3, certify="off", joint_limits=False)
    simulator.step(scene.state)
    faster = so.State(scene.state.q, 2.0 * scene.state.v)
    used, _ = simulator.step(faster)
    fresh, _ = so.Simulator(scene, dt=1e-3, certify="off", joint_limits=False).step(faster)
    assert np.array_equal(used.v, fresh.v)


@pytest.mark.compiled
def test_what_is_let_go_has_its_momentum_from_the_first_step_on():
    """A box with a swinging tail stands on the floor until it is lifted."""
    builder = so.TreeBuilder()
    builder.add_body("box", joint="free", inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=1.0))
    tail = so.Inertia.sphere(0.05, mass=0.3).shifted((0.2, 0.0, 0.0))
    builder.add_body("tail", parent="box", joint=so.Joint("revolute", axis="y"), inertia=tail)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace()),
        so.Geom("box", "box", so.Box((0.2, 0.2, 0.2))),
    ]
    model = builder.build()
    q = model.neutral()
    q[2] = 0.1
    steps, dt = 60, 1e-3
    external = np.zeros((1, steps, model.n_bodies, 6))
    external[0, 30:, 0, 5] = 20.0
    simulator = so.Simulator(so.Scene(model, geoms, state=so.State(q, np.zeros(7))), dt=dt)
    with so.Batch(simulator, 1, forces=True, threads=1) as batch:
        rollout = batch.rollout(np.zeros((1, steps, 7)), external=external)
    free = ~rollout.forces[0].any(axis=(1, 2))
    assert not free[:30].any()
    assert free[35:].all()
    found = np.array([so.momentum(model, q, v)[5] for q, v in zip(rollout.q[0], rollout.v[0])])
    gained = np.diff(found)[free[1:]][4:]  # contacts take part, without forces, up to the margin
    assert len(gained) > 20
    assert gained == pytest.approx(dt * (20.0 - 9.81 * model.mass), rel=1e-10)

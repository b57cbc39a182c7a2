"""Closed loops among what controllers hold."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Actuation,
    FrictionConeController,
    HeldContacts,
    JointTask,
    Motors,
    Tracking,
    WholeBodyController,
)
from spatialops.control.projected.held_closures import HeldClosures
from spatialops.forces.passive import passive_forces
from tests.support.files import example_robots


def moving_four_bar():
    bar = so.models.four_bar()
    G = so.loop_jacobian(bar.model, bar.loops, bar.state.q)
    _, values, right = np.linalg.svd(G)
    rank = int((values > 1e-9).sum())
    v = 3.0 * right[rank:].sum(axis=0)
    return bar, so.State(bar.state.q, v)


def test_rows_are_those_of_constrained_dynamics():
    bar, state = moving_four_bar()
    G, drift = HeldClosures(bar.model, bar.loops).rows(state)
    assert so.loop_jacobian(bar.model, bar.loops, state.q) == pytest.approx(G, abs=1e-14)
    a = so.constrained_dynamics(bar.model, bar.loops, state.q, state.v, np.zeros(3)).accelerations
    assert np.abs(drift).max() > 0.1
    assert np.abs(G @ a + drift).max() < 1e-9


def test_drift_is_the_derivative_of_rows():
    bar, state = moving_four_bar()
    h = 1e-6
    ahead = so.integrate(bar.model, state.q, h * state.v)
    back = so.integrate(bar.model, state.q, -h * state.v)
    slope = [so.loop_velocities(bar.model, bar.loops, q, state.v) for q in (ahead, back)]
    _, drift = HeldClosures(bar.model, bar.loops).rows(state)
    # a row of a closure that is open by the curvature differs by second order
    assert (slope[0] - slope[1]) / (2.0 * h) == pytest.approx(drift, abs=1e-5)


@pytest.mark.parametrize("kind", [WholeBodyController, FrictionConeController])
def test_one_motor_moves_a_four_bar_as_asked(kind):
    bar, state = moving_four_bar()
    model = bar.model
    crank = JointTask(model.joint_names[:1])
    x = crank.motion(model, state).x
    task = Tracking(crank, lambda time: (x, state.v[:1], [2.0]), stiffness=0.0, damping=0.0)
    motors = Motors(Actuation(model, model.joint_names[:1]))
    control = kind(model, [task], motors, contacts=HeldContacts(model, []), loops=bar.loops)
    tau = control(0.0, state)
    told = control.explain()
    assert told.status == "solved"
    assert tau[1:].tolist() == [0.0, 0.0]
    a = so.constrained_dynamics(model, bar.loops, state.q, state.v, tau).accelerations
    assert a[0] == pytest.approx(2.0, abs=1e-8)
    assert told.predicted == pytest.approx(a, abs=1e-8)
    without = kind(model, [task], motors, contacts=HeldContacts(model, []))
    assert np.abs(without(0.0, state) - tau).max() > 0.01


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [WholeBodyController, FrictionConeController])
@pytest.mark.skipif(example_robots() is None, reason="example-robot-data is not installed")
def test_motors_of_cassie_do_what_is_asked_through_its_rods_and_springs(kind):
    path = example_robots() / "cassie_description/robots/cassie_wo_gearbox_spring.sdf"
    scene = so.load_scene(path, strict=False, self_collision=False)
    model = scene.model
    q = scene.state.q
    names = [name for name in model.joint_names if name.endswith("-op")]
    assert (len(names), scene.loops.n_rows) == (10, 16)
    joints = JointTask(names)
    motors = Motors(Actuation(model, names))
    rows = motors.actuation.rows
    rng = np.random.default_rng(1)
    _, values, right = np.linalg.svd(so.loop_jacobian(model, scene.loops, q))
    closed = right[int((values > 1e-8 * values[0]).sum()) :]
    for _ in range(5):
        wanted = 10.0 * rng.normal(size=10)
        v = closed.T @ rng.normal(size=len(closed))
        x = joints.motion(model, scene.state).x
        asked = Tracking(joints, lambda _, v=v, x=x, a=wanted: (x, v[rows], a))
        more = {"bounds": None} if kind is WholeBodyController else {}
        control = kind(
            model, [asked], motors, contacts=HeldContacts(model, []), loops=scene.loops, **more
        )
        tau = control(0.0, so.State(q, v))
        told = control.explain()
        assert told.status == "solved"
        assert not np.delete(tau, rows).any()
        pushed = tau + passive_forces(model, q, v)
        found = so.constrained_dynamics(model, scene.loops, q, v, pushed).accelerations
        assert found[rows] == pytest.approx(wanted, abs=1e-6)
        assert told.predicted == pytest.approx(found, rel=1e-8, abs=1e-5)

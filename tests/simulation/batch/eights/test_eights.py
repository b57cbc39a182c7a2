"""Environments that step side by side end with the bits of those that step alone."""

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.inertia import Inertia
from spatialops.errors import StepSizeWarning
from spatialops.simulation.scene.placement import raised
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint

STEPS = 12
SIZE = 11  # one register that is full and one that is not


def branched(damping=0.0, limits=(-np.inf, np.inf)):
    """A tree with a branch, of all joints that have lanes."""
    body = Inertia.box((0.1, 0.2, 0.3), mass=0.7).shifted((0.1, 0.05, -0.2))
    builder = TreeBuilder()
    turn = {"damping": damping, "lower": limits[0], "upper": limits[1]}
    builder.add_body("arm", joint=Joint("revolute", axis="y", **turn), inertia=body)
    slide = Joint("prismatic", axis=(1.0, 2.0, 2.0), armature=0.3)
    builder.add_body("rod", parent="arm", joint=slide, inertia=body, position=(0.0, 0.1, -0.4))
    screw = Joint("screw", axis="z", pitch=0.05, damping=0.2 * damping)
    builder.add_body("nut", parent="rod", joint=screw, inertia=body)
    other = Joint("revolute", axis=(0.0, 1.0, 1.0), damping=50.0 * damping)
    builder.add_body("side", parent="arm", joint=other, inertia=body, position=(0.1, 0.0, -0.3))
    return so.Scene(builder.build())


def excited(scene, *, torque, speed=1.0, size=SIZE, steps=STEPS):
    rng = np.random.default_rng(7)
    nv = scene.model.nv
    q = rng.uniform(-0.4, 0.4, size=(size, nv))
    return torque * rng.normal(size=(size, steps, nv)), q, speed * rng.normal(size=(size, nv))


def alone(simulator, taus, q, v):
    """Rollouts of batches of one, which has nobody beside it; q and v of all steps, failures."""
    rollouts = []
    for e in range(len(taus)):
        with so.Batch(simulator, 1, threads=1) as batch:
            assert not batch._stock.in_lanes
            rollouts.append(batch.rollout(taus[e : e + 1], q[e], v[e]))
    failures = {e: one.failures[0] for e, one in enumerate(rollouts) if one.failures}
    return (
        np.stack([one.q[0] for one in rollouts]),
        np.stack([one.v[0] for one in rollouts]),
        failures,
    )


def together(simulator, taus, q, v, threads=1):
    with so.Batch(simulator, len(taus), threads=threads) as batch:
        assert batch._stock.in_lanes
        return batch.rollout(taus, q, v)


def assert_same(rollout, expected):
    np.testing.assert_array_equal(rollout.q, expected[0])
    np.testing.assert_array_equal(rollout.v, expected[1])
    mine = {e: (one.step, str(one.error)) for e, one in rollout.failures.items()}
    assert mine == {e: (one.step, str(one.error)) for e, one in expected[2].items()}


@pytest.mark.parametrize("torque", [0.0, 0.5])
@pytest.mark.parametrize("damping", [0.0, 0.1])
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_bits_are_those_of_steps_alone(integrator, damping, torque):
    scene = branched(damping)
    simulator = so.Simulator(scene, dt=2e-3, integrator=integrator)
    taus, q, v = excited(scene, torque=torque)
    assert_same(together(simulator, taus, q, v), alone(simulator, taus, q, v))


@pytest.mark.compiled
def test_bits_are_those_of_a_run():
    scene = branched(0.1)
    simulator = so.Simulator(scene, dt=2e-3)
    taus, q, v = excited(scene, torque=0.5)
    rollout = together(simulator, taus, q, v)
    for e in range(SIZE):
        left = iter(taus[e])
        record = simulator.run(
            so.State(q[e], v[e]), STEPS * 2e-3, controller=lambda t, s, c, left=left: next(left)
        )
        np.testing.assert_array_equal(rollout.q[e], record.q[1:])
        np.testing.assert_array_equal(rollout.v[e], record.v[1:])


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 3])
def test_it_does_not_matter_who_is_beside(threads):
    scene = branched()
    simulator = so.Simulator(scene, dt=5e-3)
    taus, q, v = excited(scene, torque=0.5, size=40)
    expected = together(simulator, taus, q, v)
    order = np.random.default_rng(1).permutation(40)
    rollout = together(simulator, taus[order], q[order], v[order], threads)
    np.testing.assert_array_equal(rollout.q, expected.q[order])
    np.testing.assert_array_equal(rollout.v, expected.v[order])


@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_stops_take_an_environment_out_and_let_it_in_again(integrator):
    scene = branched(limits=(-0.42, 0.42))
    simulator = so.Simulator(scene, dt=0.01, integrator=integrator)
    taus, q, v = excited(scene, torque=2.0, speed=6.0, steps=40)
    expected = alone(simulator, taus, q, v)
    angles = np.abs(expected[0][..., 0])
    stopped = (angles > 0.419).any(axis=1)
    assert 2 < stopped.sum() < SIZE
    assert (angles[stopped, -1] < 0.41).any()  # and comes off
    assert_same(together(simulator, taus, q, v), expected)


@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
@pytest.mark.compiled
def test_what_turns_far_or_too_fast_for_a_whole_step_is_left_to_the_loop():
    scene = branched()
    simulator = so.Simulator(scene, dt=5e-3)
    taus, q, v = excited(scene, torque=0.5)
    q[2, 0] = 1e5 - 0.05
    v[2] = 0.0
    v[2, 0] = 2.0
    v[9, 0] = 150.0  # 0.75 rad a step: its Coriolis forces do not settle in a whole one
    expected = alone(simulator, taus, q, v)
    assert expected[0][2, 0, 0] < 1e5 < expected[0][2, -1, 0]
    assert_same(together(simulator, taus, q, v), expected)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
def test_failures_are_those_of_environments_alone():
    scene = branched()
    simulator = so.Simulator(scene, dt=5e-3)
    taus, q, v = excited(scene, torque=0.5)
    taus[3, 4, 0] = taus[8, 7, 2] = 1e300
    expected = alone(simulator, taus, q, v)
    assert sorted(expected[2]) == [3, 8]
    assert_same(together(simulator, taus, q, v), expected)
    with so.Batch(simulator, SIZE, threads=1, on_failure="reset") as batch:
        rollout = batch.rollout(taus, q, v)
        fresh = np.zeros_like(taus)
        left = STEPS - 1 - rollout.failures[3].step
        fresh[3, :left] = taus[3, STEPS - left :]
        anew = batch.rollout(fresh, q, v)
    assert 4 < left < STEPS - 4
    np.testing.assert_array_equal(rollout.q[3, STEPS - left :], anew.q[3, :left])
    np.testing.assert_array_equal(rollout.q[4], expected[0][4])


@pytest.mark.compiled
def test_bodies_that_turn_too_fast_are_warned_of():
    scene = branched()
    simulator = so.Simulator(scene, dt=0.02)
    taus, q, v = excited(scene, torque=0.0)
    v[5, 0] = 80.0
    with pytest.warns(StepSizeWarning, match="'arm'|'rod'|'nut'|'side'"):
        together(simulator, taus, q, v)


@pytest.mark.compiled
def test_steps_are_a_rollout_and_wrenches_may_come_between():
    scene = branched(0.1)
    simulator = so.Simulator(scene, dt=2e-3)
    taus, q, v = excited(scene, torque=0.5)
    wrenches = np.zeros((SIZE, scene.model.n_bodies, 6))
    wrenches[4, 2, 3:] = 1.0, 2.0, 3.0
    with so.Batch(simulator, SIZE, threads=2) as batch:
        rollout = batch.rollout(taus, q, v)
        batch.reset(q, v)
        for k in range(STEPS):
            batch.step(taus[:, k])
            np.testing.assert_array_equal(batch.q, rollout.q[:, k])
            np.testing.assert_array_equal(batch.v, rollout.v[:, k])
        batch.reset(q, v)
        for k in range(STEPS):
            batch.step(taus[:, k], external=wrenches if k == 5 else None)
        ends = batch.q.copy()
    for e in range(SIZE):
        with so.Batch(simulator, 1, threads=1) as one:
            one.reset(q[e], v[e])
            for k in range(STEPS):
                one.step(taus[e : e + 1, k], external=wrenches[e : e + 1] if k == 5 else None)
            np.testing.assert_array_equal(one.q[0], ends[e])


def floating():
    """Two trees that float, one with a ball joint and a joint with a stop; and an arm."""
    body = Inertia.box((0.1, 0.2, 0.3), mass=0.7).shifted((0.1, 0.05, -0.2))
    builder = TreeBuilder()
    builder.add_body("trunk", joint="free", inertia=body)
    builder.add_body("leg", parent="trunk", joint=Joint("ball"), inertia=body)
    knee = Joint("revolute", axis="y", damping=0.1, lower=-2.0, upper=2.0)
    builder.add_body("foot", parent="leg", joint=knee, inertia=body, position=(0.0, 0.1, -0.4))
    builder.add_body("other", joint="free", inertia=body, position=(2.0, 0.0, 0.0))
    builder.add_body("tail", parent="other", joint=Joint("prismatic", axis="x"), inertia=body)
    builder.add_body("arm", joint=Joint("revolute", axis="x"), inertia=body)
    return so.Scene(builder.build())


def thrown(scene, *, torque, spread, size=SIZE, steps=STEPS):
    """Torques, and states about the scene's that are moved by so much, on the manifold."""
    rng = np.random.default_rng(11)
    model, at = scene.model, scene.state
    q = [so.integrate(model, at.q, spread * rng.normal(size=model.nv)) for _ in range(size)]
    taus = torque * rng.normal(size=(size, steps, model.nv))
    return taus, np.array(q), at.v + rng.normal(size=(size, model.nv))


@pytest.mark.compiled
@pytest.mark.parametrize("torque", [0.0, 0.5])
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_trees_that_float_end_with_the_same_bits(integrator, torque):
    scene = floating()
    simulator = so.Simulator(scene, dt=2e-3, integrator=integrator)
    taus, q, v = thrown(scene, torque=torque, spread=0.3)
    assert_same(together(simulator, taus, q, v), alone(simulator, taus, q, v))


@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_those_that_meet_something_leave_and_come_back(integrator):
    scene = so.models.quadruped().scene()
    scene.state = raised(scene, 5e-3)
    simulator = so.Simulator(scene, dt=2e-3, integrator=integrator)
    taus, q, v = thrown(scene, torque=0.0, spread=0.0, steps=60)
    v *= 0.1
    v[:, 5] = np.linspace(-0.6, 0.6, SIZE)
    with so.Batch(simulator, SIZE, threads=1, forces=True) as batch:
        seen = batch.rollout(taus, q, v)
    touches = np.abs(seen.forces).max(axis=(2, 3)) > 0.0
    assert touches[0].any()
    assert not touches[-1].any()
    rollout = together(simulator, taus, q, v)
    assert_same(rollout, alone(simulator, taus, q, v))
    np.testing.assert_array_equal(rollout.q, seen.q)


def test_what_is_alone_or_read_steps_alone():
    model = branched().model
    simulator = so.Simulator(branched(), dt=2e-3)
    assert not so.Batch(simulator, 3, threads=1, forces=True)._stock.in_lanes
    ball = TreeBuilder().add_body("ball", joint="free", inertia=Inertia.sphere(0.1, mass=1.0))
    lone = so.Simulator(so.Scene(ball.build()), dt=2e-3)
    assert not so.Batch(lone, 3, threads=1)._stock.in_lanes
    runge_kutta = so.Simulator(so.Scene(model), dt=2e-3, integrator="rk4")
    assert not so.Batch(runge_kutta, 3, threads=1)._stock.in_lanes

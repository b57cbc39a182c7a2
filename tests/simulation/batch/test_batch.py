"""Batches do what single runs do, to the bit, on any number of threads; failures stay apart."""

import copy
import pickle

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from tests.support.runs import boxes, driven_crank

STEPS = 40


def pendulum():
    return so.models.pendulum(3).scene()


def driven_by(taus):
    left = iter(taus)
    return lambda time, state, contacts: next(left)


def excited(scene, size, seed=3):
    rng = np.random.default_rng(seed)
    nv = scene.model.nv
    v = scene.state.v + 0.3 * rng.normal(size=(size, nv))
    return 0.5 * rng.normal(size=(size, STEPS, nv)), v


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "scene",
    [pendulum, pytest.param(lambda: boxes(2), marks=pytest.mark.compiled)],
    ids=["pendulum", "boxes"],
)
def test_a_rollout_is_single_runs(scene, threads):
    scene = scene()
    simulator = so.Simulator(scene, dt=2e-3)
    taus, v = excited(scene, 4)
    with so.Batch(simulator, 4, threads=threads) as batch:
        rollout = batch.rollout(taus, v=v)
    assert rollout.failures == {}
    for e in range(4):
        begin = so.State(scene.state.q, v[e])
        record = simulator.run(begin, STEPS * 2e-3, controller=driven_by(taus[e]))
        np.testing.assert_array_equal(rollout.q[e], record.q[1:])
        np.testing.assert_array_equal(rollout.v[e], record.v[1:])


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 2])
def test_steps_are_a_rollout_with_its_forces(threads):
    scene = boxes(2)
    taus, v = excited(scene, 3)
    with so.Batch(so.Simulator(scene, dt=2e-3), 3, threads=threads, forces=True) as batch:
        rollout = batch.rollout(taus, v=v)
        batch.reset(v=v)
        for k in range(STEPS):
            batch.step(taus[:, k])
            np.testing.assert_array_equal(batch.q, rollout.q[:, k])
            np.testing.assert_array_equal(batch.v, rollout.v[:, k])
            np.testing.assert_array_equal(batch.forces, rollout.forces[:, k])
    assert np.abs(rollout.forces).max() > 1.0


def test_forces_at_rest_bear_the_weight():
    builder = so.TreeBuilder()
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=2.0))
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("ball", "ball", so.Sphere(0.1))]
    model = builder.build()
    q = model.neutral()
    q[2] = 0.1
    scene = so.Scene(model, geoms, state=so.State(q, np.zeros(6)))
    with so.Batch(so.Simulator(scene), 1, forces=True) as batch:
        forces = batch.rollout(np.zeros((1, 20, 6))).forces
    weight = 2.0 * 9.81
    np.testing.assert_allclose(forces[0, -1], [[0, 0, -weight], [0, 0, weight]], atol=1e-6)


@pytest.mark.compiled
def test_closures_begin_closed():
    scene = so.models.four_bar().scene()
    simulator = so.Simulator(scene)
    taus, _ = excited(scene, 2)
    with so.Batch(simulator, 2, threads=2) as batch:
        rollout = batch.rollout(taus)
        batch.step(taus[:, 0])
        np.testing.assert_array_equal(batch.q, rollout.q[:, 0])
    for e in range(2):
        record = simulator.run(duration=STEPS * 1e-3, controller=driven_by(taus[e]))
        np.testing.assert_array_equal(rollout.q[e], record.q[1:])


def heavier(factor, gravity=-9.81):
    builder = so.TreeBuilder(gravity=(0.0, 0.0, gravity))
    inertia = so.Inertia.sphere(0.1, mass=factor)
    builder.add_body("ball", joint=so.Joint("free"), inertia=inertia)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.2 * factor),
        so.Geom("ball", "ball", so.Sphere(0.1), friction=0.2 * factor),
    ]
    model = builder.build()
    q = model.neutral()
    q[2] = 0.1
    return so.Simulator(so.Scene(model, geoms, state=so.State(q, np.array([0, 0, 0, 1.0, 0, 0]))))


@pytest.mark.compiled
def test_environments_may_differ_in_mass_friction_and_gravity():
    simulators = [heavier(1.0), heavier(3.0), heavier(1.0, gravity=-1.6), heavier(1.0)]
    taus = np.zeros((4, STEPS, 6))
    taus[:, :, 3] = 0.5
    with so.Batch(simulators, threads=2) as batch:
        rollout = batch.rollout(taus)
        for k in range(STEPS):
            batch.step(taus[:, k])
    np.testing.assert_array_equal(batch.v, rollout.v[:, -1])
    for e, simulator in enumerate(simulators):
        record = simulator.run(duration=STEPS * 1e-3, controller=lambda t, s, c: taus[0, 0])
        np.testing.assert_array_equal(rollout.v[e], record.v[1:])
    assert len(np.unique(rollout.v[:3, -1, 3])) == 3


@pytest.fixture(scope="module")
def hasty():
    """Boxes that are kicked, with long steps, two of them beyond all numbers."""
    scene = boxes(2)
    taus, v = excited(scene, 6)
    for e, step in ((1, 11), (4, 7)):
        taus[e] = v[e] = 0.0
        taus[e, step, 0] = 1e300
    return so.Simulator(scene, dt=0.01), taus, v


@pytest.mark.compiled
def test_failed_environments_stay_and_the_others_go_on(hasty):
    simulator, taus, v = hasty
    with so.Batch(simulator, 6, threads=2) as batch:
        rollout = batch.rollout(taus, v=v)
        batch.reset(v=v)
        for k in range(STEPS):
            batch.step(taus[:, k])
            np.testing.assert_array_equal(batch.q, rollout.q[:, k])
        failed = sorted(rollout.failures)
        assert failed == sorted(batch.failures)
        assert {1, 4} <= set(failed)
        assert len(failed) < 6
        for e in range(6):
            begin = so.State(simulator.scene.state.q, v[e])
            alone = alone_until_it_fails(simulator, begin, taus[e])
            if e not in failed:
                np.testing.assert_array_equal(rollout.q[e], alone.record.q[1:])
                continue
            step, error = rollout.failures[e]
            assert str(error) == str(alone)
            assert batch.failures[e].step == step
            np.testing.assert_array_equal(
                rollout.q[e, step:], alone.record.q[[-1] * (STEPS - step)]
            )
        batch.reset(where=failed)
        assert batch.failures == {}
        np.testing.assert_array_equal(batch.q[failed[0]], simulator.scene.state.q)


def alone_until_it_fails(simulator, begin, taus):
    """What carries the record of a single run: its error, or a stand-in for none."""
    try:
        record = simulator.run(begin, len(taus) * simulator.dt, controller=driven_by(taus))
    except so.SpatialOpsError as error:
        return error
    fine = so.SpatialOpsError()
    fine.record = record
    return fine


@pytest.mark.compiled
def test_failed_environments_begin_anew_where_that_is_asked(hasty):
    simulator, taus, v = hasty
    with so.Batch(simulator, 6, threads=2, on_failure="reset") as batch:
        rollout = batch.rollout(taus, v=v)
        batch.reset(v=v)
        for k in range(STEPS):
            batch.step(taus[:, k])
            np.testing.assert_array_equal(batch.q, rollout.q[:, k])
        first = rollout.failures[4].step
        assert first == 7
        later = np.zeros((6, STEPS, 12))
        later[4, : STEPS - first - 1] = taus[4, first + 1 :]
        fresh = batch.rollout(later, v=v)
    np.testing.assert_array_equal(rollout.q[4, first + 1 :], fresh.q[4, : STEPS - first - 1])


@pytest.mark.compiled
def test_many_contacts_take_larger_tables_and_the_same_bits():
    scene = boxes(20, speed=0.0)
    simulator = so.Simulator(scene, dt=2e-3)
    q = scene.state.q.copy()
    q[2::7] = 0.1 + 0.2 * np.arange(20)
    q[0::7] = 0.0
    taus = np.zeros((2, STEPS, scene.model.nv))
    v = np.zeros(scene.model.nv)
    with so.Batch(simulator, 2, threads=1) as batch:
        rollout = batch.rollout(taus, q, v)
        assert rollout.failures == {}
        batch.reset(q, v)
        for k in range(STEPS):
            batch.step()
            np.testing.assert_array_equal(batch.q, rollout.q[:, k])
    record = simulator.run(so.State(q, v), STEPS * 2e-3, controller=lambda t, s, c: 0.0 * s.v)
    assert record.contact_counts.max() > simulator.stepping.capacity
    for e in range(2):
        np.testing.assert_array_equal(rollout.q[e], record.q[1:])


@pytest.mark.compiled
def test_laws_outside_of_the_loop_give_the_same_bits():
    scene = boxes(1)
    simulator = so.Simulator(scene, dt=2e-3, law="cone")
    taus, v = excited(scene, 2)
    with so.Batch(simulator, 2, threads=2) as batch:
        rollout = batch.rollout(taus, v=v)
    for e in range(2):
        begin = so.State(scene.state.q, v[e])
        record = simulator.run(begin, STEPS * 2e-3, controller=driven_by(taus[e]))
        np.testing.assert_array_equal(rollout.q[e], record.q[1:])


def test_wrong_arguments_are_named():
    simulator = so.Simulator(pendulum())
    with pytest.raises(ArgumentError, match="size"):
        so.Batch(simulator, 0)
    with pytest.raises(ArgumentError, match="simulators"):
        so.Batch([])
    with pytest.raises(ArgumentError, match="environment 1 is not like"):
        so.Batch([simulator, so.Simulator(pendulum(), dt=0.1)])
    with pytest.raises(ArgumentError, match="on_failure"):
        so.Batch(simulator, 2, on_failure="hope")
    with pytest.raises(ArgumentError, match="function of time"):
        so.Batch(so.Simulator(driven_crank()), 2)
    with pytest.raises(ArgumentError, match="EventDriven"):
        so.Batch(so.Simulator(pendulum(), time=so.EventDriven()), 2)
    with pytest.raises(ArgumentError, match="full"):
        so.Batch(so.Simulator(pendulum(), certify="full"), 2)
    batch = so.Batch(simulator, 2, threads=1)
    with pytest.raises(ArgumentError, match="taus"):
        batch.step(np.zeros((3, 3)))
    with pytest.raises(ArgumentError, match="NaN"):
        batch.rollout(np.full((2, 4, 3), np.nan))
    with pytest.raises(ArgumentError, match="q: expected shape"):
        batch.reset(q=np.zeros((2, 4)))
    with pytest.raises(ArgumentError, match="where"):
        batch.reset(where=[5])
    with pytest.raises(ArgumentError, match="time: expected shape"):
        batch.reset(time=[0.0, 1.0, 2.0])
    with pytest.raises(ArgumentError, match="activation: expected shape"):
        batch.reset(activation=[1.0])
    with pytest.raises(ArgumentError, match="external: expected numbers of shape"):
        batch.step(external={"ball": np.zeros(6)})
    with pytest.raises(ArgumentError, match="ctrls: expected shape"):
        batch.step(ctrls=1.0)


def test_rows_are_those_of_the_environments_named_in_any_order():
    with so.Batch(so.Simulator(so.models.pendulum(2).scene(), dt=0.01), 4, threads=1) as batch:
        batch.step()
        batch.reset(q=[[0.3, 0.0], [0.1, 0.0]], time=[3.0, 1.0], where=[3, 1])
        assert batch.q[[1, 3], 0].tolist() == [0.1, 0.3]
        batch.reset(q=[[0.2, 0.0]], where=[-2])
        assert batch.q[2, 0] == 0.2
        with pytest.raises(ArgumentError, match="where: names an environment twice"):
            batch.reset(where=[1, 1])
        with pytest.raises(ArgumentError, match="where: expected numbers"):
            batch.reset(where=[[1, 2], [3]])


@pytest.mark.parametrize("nowhere", [[], [False, False]])
def test_none_may_begin_anew(nowhere):
    batch = so.Batch(so.Simulator(pendulum()), 2, threads=1)
    batch.step(np.ones((2, 3)))
    before = batch.q.copy()
    batch.reset(np.zeros((0, 3)), where=nowhere)
    assert np.array_equal(batch.q, before)


def filtered(activation=()):
    """A motor behind a filter, on a pendulum that begins with what it had been told."""
    lag = so.Actuator(name="lag", joints="pin1", gain=(3, 0, 0), dynamics="filter", time_constant=1)
    start = so.State(np.array([0.1, 0.2]), np.zeros(2), 0.0, np.array(activation))
    return so.Simulator(
        so.Scene(so.models.pendulum(2).model, actuators=[lag], ctrl=[0.5], state=start)
    )


def test_activations_begin_as_the_scenes_states_or_those_given():
    given = [[0.7], [-0.4]]
    alone = [filtered(own).run(duration=0.005).q[1:] for own in given]
    with so.Batch([filtered(own) for own in given], threads=1) as batch:
        rollout = batch.rollout(np.zeros((2, 5, 2)))
        for _ in range(5):
            batch.step()
    with so.Batch(filtered(), 2, threads=1) as other:
        told = other.rollout(np.zeros((2, 5, 2)), activation=given)
        other.reset(activation=[-0.4], where=[1])
        for _ in range(5):
            other.step()
    np.testing.assert_array_equal(rollout.q, alone)
    np.testing.assert_array_equal(told.q, alone)
    reached = [filtered(own).run(duration=0.005).final.activation for own in given]
    np.testing.assert_array_equal(batch.activation, reached)
    np.testing.assert_array_equal(other.activation[1], reached[1])
    other.reset(activation=[0.2], where=[0])
    np.testing.assert_array_equal(other.activation, [[0.2], reached[1]])
    np.testing.assert_array_equal(batch.q, rollout.q[:, -1])
    np.testing.assert_array_equal(other.q[1], rollout.q[1, -1])
    motor = so.Actuator.motor("motor", "pin1")
    with pytest.raises(ArgumentError, match="environment 1 is not like"):
        so.Batch([filtered(), so.Simulator(so.Scene(filtered().scene.model, actuators=[motor]))])


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_copy_goes_on_by_itself(size, copied):
    simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
    batch, alone, other = (so.Batch(simulator, size, threads=1) for _ in range(3))
    pull = np.full((size, 2), 0.1)
    for one in (batch, alone, other):
        one.step(pull)
    duplicate = copied(batch)
    for taus in (pull, 2.0 * pull, pull):
        duplicate.step(taus)
        other.step(taus)
    batch.step(-pull)
    alone.step(-pull)
    assert np.array_equal(batch.q, alone.q)
    assert np.array_equal(duplicate.q, other.q)
    assert np.array_equal(duplicate.v, other.v)


@pytest.mark.parametrize("simulators", [None, 3, "x", [], [1]])
def test_what_is_no_simulator_is_refused(simulators):
    with pytest.raises(ArgumentError, match="simulators: expected a Simulator, or several"):
        so.Batch(simulators, 2)

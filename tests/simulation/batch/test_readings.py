"""What the sensors of a batch read: single runs' readings to the bit, noise apart, failures NaN."""

import dataclasses

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.sensors import (
    IMU,
    CenterOfMass,
    ContactForce,
    ForceTorque,
    JointPositions,
    JointTorques,
    JointVelocities,
    Noise,
    Rangefinder,
    Touch,
)
from tests.support.runs import boxes

DT = 2e-3
STEPS = 30
NOISE = Noise(std=0.1, bias=0.3, seed=4)


def box_sensors(noise=NOISE):
    down = [[0.0, 0.0, -1.0], [0.3, 0.0, -1.0]]
    return [
        IMU("imu", "box0", noise=noise),
        ContactForce("push", "box0", by="floor", noise=noise),
        Touch("touch", "box1"),
        Rangefinder("height", "box1", directions=down),
    ]


def pendulum_sensors(noise=NOISE):
    return [
        JointPositions("q", noise=noise),
        JointVelocities("v"),
        JointTorques("tau", noise=noise),
        ForceTorque("pin", "link2", noise=noise),
        CenterOfMass("com"),
    ]


def reseeded(sensors, e):
    """The same whose noise is that of environment e."""
    return [
        sensor
        if sensor.noise is None
        else dataclasses.replace(
            sensor, noise=dataclasses.replace(sensor.noise, seed=sensor.noise.seed + e)
        )
        for sensor in sensors
    ]


def driven_by(taus):
    left = iter(taus)
    return lambda time, state, contacts: next(left)


SCENES = {
    "pendulum": (lambda: so.models.pendulum(2).scene(), pendulum_sensors),
    "boxes": (lambda: boxes(2), box_sensors),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["pendulum", pytest.param("boxes", marks=pytest.mark.compiled)])
def test_readings_are_those_of_single_runs(name, threads):
    make, sensors = SCENES[name]
    scene = make()
    rng = np.random.default_rng(2)
    nv = scene.model.nv
    v = scene.state.v + 0.3 * rng.normal(size=(4, nv))
    taus = 0.5 * rng.normal(size=(4, STEPS, nv))
    with so.Batch(so.Simulator(scene, dt=DT, sensors=sensors()), 4, threads=threads) as batch:
        rollout = batch.rollout(taus, v=v)
        batch.reset(v=v)
        first = {key: values.copy() for key, values in batch.sensors.items()}
        for k in range(STEPS):
            batch.step(taus[:, k])
            for key, values in batch.sensors.items():
                np.testing.assert_array_equal(values, rollout.sensors[key][:, k])
    for e in range(4):
        alone = so.Simulator(scene, dt=DT, sensors=reseeded(sensors(), e))
        begin = so.State(scene.state.q, v[e])
        record = alone.run(begin, STEPS * DT, controller=driven_by(taus[e]))
        assert set(record.sensors) == set(rollout.sensors)
        for key, values in record.sensors.items():
            np.testing.assert_array_equal(first[key][e], values[0])
            np.testing.assert_array_equal(rollout.sensors[key][e], values[1:])
    assert np.isfinite(np.concatenate([*rollout.sensors.values()], axis=2)).all()


def test_wrenches_and_closures_are_read_too():
    """Of a loop that is pushed: the wrench through its pin has both in it."""
    scene = so.models.four_bar().scene()
    pin = ForceTorque("pin", scene.model.body_names[0])
    simulator = so.Simulator(scene, dt=DT, sensors=[pin])
    wrench = np.zeros((scene.model.n_bodies, 6))
    wrench[0, 3:] = 1.0, 0.0, 2.0
    nv = scene.model.nv
    with so.Batch(simulator, 2, threads=1) as batch:
        external = np.broadcast_to(wrench, (2, 5, *wrench.shape))
        rollout = batch.rollout(np.zeros((2, 5, nv)), external=external)
    record = simulator.run(duration=5 * DT, external=wrench, controller=lambda t, s, c: 0.0 * s.v)
    for e in range(2):
        np.testing.assert_array_equal(rollout.sensors["pin"][e], record.sensors["pin"][1:])
    free = simulator.run(duration=5 * DT)
    assert np.abs(free.sensors["pin"] - record.sensors["pin"])[1:].max() > 0.1
    with so.Batch(simulator, 1) as batch:
        batch.rollout(np.zeros((1, 5, nv)), external=external[:1])
        after = batch.rollout(np.zeros((1, 5, nv))).sensors["pin"][0]
    np.testing.assert_array_equal(after, free.sensors["pin"][1:])


def test_seeds_may_be_given():
    scene = so.models.pendulum(2).scene()
    simulator = so.Simulator(scene, dt=DT, sensors=[JointPositions("q", noise=NOISE)])
    with so.Batch(simulator, 3, threads=1) as batch:
        taus = np.zeros((3, 4, 2))
        usual = batch.rollout(taus).sensors["q"]
        turned = batch.rollout(taus, seeds=[2, 0, 1]).sensors["q"]
        np.testing.assert_array_equal(turned, usual[[2, 0, 1]])
        assert len(np.unique(usual[:, 0, 0])) == 3
        batch.reset(where=[1], seeds=[0])
        np.testing.assert_array_equal(batch.sensors["q"][1], batch.sensors["q"][0])
        batch.step(taus[:, 0])
        np.testing.assert_array_equal(batch.sensors["q"][1], usual[0, 0])
        for seeds in ([1, 2], [-1, 0, 0], [0.5, 0, 0], "abc"):
            with pytest.raises(ArgumentError, match="seeds"):
                batch.rollout(taus, seeds=seeds)


@pytest.mark.compiled
@pytest.mark.parametrize("on_failure", ["freeze", "reset"])
def test_readings_end_where_an_environment_fails(on_failure):
    scene = boxes(2)
    taus = np.zeros((3, STEPS, 12))
    taus[1, 11, 0] = 1e300
    simulator = so.Simulator(scene, dt=DT, sensors=box_sensors())
    with so.Batch(simulator, 3, threads=2, on_failure=on_failure) as batch:
        rollout = batch.rollout(taus)
        for k in range(STEPS):
            batch.step(taus[:, k])
            for key, values in batch.sensors.items():
                np.testing.assert_array_equal(values, rollout.sensors[key][:, k])
    assert sorted(rollout.failures) == [1]
    for values in rollout.sensors.values():
        assert np.isfinite(values[[0, 2]]).all()
        assert np.isfinite(values[1, :11]).all()
        assert np.isnan(values[1, 11]).all()
        after = values[1, 12:]
        if on_failure == "freeze":
            assert np.isnan(after).all()
        else:  # it begins anew, with the same noise
            np.testing.assert_array_equal(after[:11], values[1, :11])


@pytest.mark.compiled
def test_a_step_that_is_warned_of_is_read():
    """Beyond a limit that is only warned of, the batch goes on, and so do its readings."""
    scene = boxes(1)
    q = scene.state.q.copy()
    q[2] -= 0.01  # into the floor
    simulator = so.Simulator(scene, dt=DT, sensors=[JointVelocities("v")], certify="warn")
    with so.Batch(simulator, 1) as batch, pytest.warns(UserWarning, match="penetration"):
        rollout = batch.rollout(np.zeros((1, STEPS, 6)), q)
    np.testing.assert_array_equal(rollout.sensors["v"], rollout.v)


@pytest.mark.compiled
def test_forces_are_on_the_geoms_that_are_named():
    scene = boxes(2)
    names = [geom.name for geom in scene.geoms]
    asked = [names[2], names[0]]
    simulator = so.Simulator(scene, dt=DT)
    taus = np.zeros((2, STEPS, 12))
    with so.Batch(simulator, 2, forces=True) as every, so.Batch(simulator, 2, forces=asked) as some:
        rollouts = [batch.rollout(taus) for batch in (every, some)]
        every.step(taus[:, 0])
        some.step(taus[:, 0])
        np.testing.assert_array_equal(some.forces, every.forces[:, [2, 0]])
    np.testing.assert_array_equal(rollouts[1].forces, rollouts[0].forces[:, :, [2, 0]])
    assert np.abs(rollouts[1].forces).max() > 1.0


def test_what_does_not_fit_is_named():
    scene = so.models.pendulum(2).scene()
    positions = [JointPositions("q")]
    simulators = [so.Simulator(scene, sensors=sensors) for sensors in (positions, [])]
    with pytest.raises(ArgumentError, match=r"environment 1 .* sensors"):
        so.Batch(simulators)
    with pytest.raises(ArgumentError, match="no geom 'foot'"):
        so.Batch(simulators[0], 2, forces=["foot"])
    with pytest.raises(ArgumentError, match="a sequence of names"):
        so.Batch(simulators[0], 2, forces="foot")

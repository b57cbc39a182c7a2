"""What a robot in MuJoCo feels."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from spatialops.bench.walkers import walker
from spatialops.experiments.plants.mujoco_plant import MujocoPlant, Suffering

pytestmark = pytest.mark.compiled


def test_a_robot_that_stands_feels_its_weight_with_all_feet():
    own = walker("zapolsky")
    plant = MujocoPlant(own.scene(0.8), 1e-3)
    joints = own.state.q[7:]
    for _ in range(1000):
        state = plant.state
        plant.step(np.concatenate([np.zeros(6), 50.0 * (joints - state.q[7:]) - state.v[6:]]))
    told = plant.sensed(own.feet)
    assert told.touching.all()
    assert told.imu[:3] == pytest.approx([0.0, 0.0, 9.81], abs=0.05)
    assert np.abs(told.imu[3:]).max() < 1e-3
    assert told.q.tolist() == plant.state.q[7:].tolist()


def test_a_robot_in_the_air_feels_nothing():
    own = walker("zapolsky")
    plant = MujocoPlant(own.scene(0.8), 1e-3)
    up = own.state.q.copy()
    up[2] += 1.0
    plant._twin.put_state(plant._data, type(own.state)(up, own.state.v))
    for _ in range(20):
        plant.step(np.zeros(18))
    told = plant.sensed(own.feet)
    assert not told.touching.any()
    assert np.abs(told.imu[:3]).max() < 0.05


def test_noise_is_of_its_sizes():
    own = walker("zapolsky")
    plant = MujocoPlant(own.scene(0.8), 1e-3, Suffering(noise=1.0), seed=1)
    readings = np.array([plant.sensed(own.feet).imu for _ in range(400)])
    assert readings.std(axis=0) == pytest.approx([0.1] * 3 + [0.01] * 3, rel=0.2)

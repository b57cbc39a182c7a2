"""MuJoCo as the plant of a controller: soft contacts, another mass and friction, latency, noise."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.algebra.rotation import from_rotation_vector, rotation_matrix
from spatialops.bench.contacts.twin import Twin
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State, integrate

# Standard deviations of a state that is estimated, at noise 1: joints by encoders, the base by
# inertial sensors and legs.
_ANGLE, _RATE = 1e-3, 0.05  # rad and rad/s of joints
_TILT, _PLACE = 2e-3, 1e-3  # rad, and m of height, of the base
_DRIFT = 0.02  # m/s or rad/s of the base
_IMU = (0.1, 0.01)  # m/s^2 and rad/s of a reading
_PRESSES = 1.0  # N of a foot that touches
_BASE = 6  # velocities of the free base, which come first


@dataclass(frozen=True, kw_only=True)
class Suffering:
    """In what a plant is not its controller's model.

    Parameters
    ----------
    mass : float, default 1
        Masses and inertias, relative to the model's.
    friction : float, default 0
        Added to the model's coefficient.
    latency : float, default 0
        s from a state to the command for it.
    noise : float, default 0
        Of the state that the controller sees, relative to that of an estimator: 1 mrad and 0.05
        rad/s of joints; of the base 2 mrad of tilt, 1 mm of height, 0.02 m/s and rad/s.
    softness : float, default 0.02
        Time constant of MuJoCo's contacts, s.
    """

    mass: float = 1.0
    friction: float = 0.0
    latency: float = 0.0
    noise: float = 0.0
    softness: float = 0.02


class Sensed(NamedTuple):
    """What a robot's own sensors tell, as `ContactAidedFilter` takes it.

    Attributes
    ----------
    imu : (6,) array
        Mean proper acceleration over the last step, m/s^2, and angular velocity, rad/s, axes of the
        base.
    q, v : arrays
        Of the joints, rad and rad/s.
    touching : (k,) bool array
        Feet that press with a newton or more.
    """

    imu: Array
    q: Array
    v: Array
    touching: BoolArray


class MujocoPlant:
    """A scene that MuJoCo moves, between states and joint forces of ours.

    Parameters
    ----------
    scene : Scene
        The controller's model of it.
    dt : float
        Step of MuJoCo, s.
    suffering : Suffering, optional
        In what it is another.
    seed : int, default 0
        Of the noise.
    """

    def __init__(
        self, scene: Scene, dt: float, suffering: Suffering | None = None, *, seed: int = 0
    ) -> None:
        own = Suffering() if suffering is None else suffering
        self._twin = Twin(scene, dt)
        self._lib = self._twin.lib
        model = self._twin.model
        model.body_mass *= own.mass
        model.body_inertia *= own.mass
        model.geom_friction[:, 0] += own.friction
        model.geom_solref[:, 0] = own.softness
        self._data = self._lib.MjData(model)
        self._twin.put_state(self._data, scene.state)
        self._noise = own.noise
        self._before = self.state
        self._rng = np.random.default_rng(seed)
        self._scene = scene
        late = [np.zeros(scene.model.nv)] * round(own.latency / dt)
        self._commands: deque[Array] = deque(late)

    @property
    def state(self) -> State:
        """The true state."""
        return self._twin.state(self._data)

    def seen(self) -> State:
        """The state as an estimator would tell it."""
        true = self.state
        if self._noise == 0.0:
            return true
        model = self._scene.model
        scale = np.full(model.nv, _ANGLE)
        scale[:_BASE] = (_TILT, _TILT, _TILT, 0.0, 0.0, _PLACE)
        q = integrate(model, true.q, self._noise * scale * self._rng.standard_normal(model.nv))
        rates = np.full(model.nv, _RATE)
        rates[:_BASE] = _DRIFT
        v = true.v + self._noise * rates * self._rng.standard_normal(model.nv)
        return State(q, v, true.time)

    def step(self, tau: Array) -> Array:
        """One step; returns the joint forces (nv,) that act, which may be late."""
        self._commands.append(tau)
        acts = self._commands.popleft()
        self._before = self.state
        self._twin.put_forces(self._data, acts)
        self._lib.mj_step(self._twin.model, self._data)
        return acts

    def sensed(self, feet: Sequence[str]) -> Sensed:
        """Readings of the last step: IMU at the base's origin, encoders, contacts of geoms `feet`.

        At noise 1 the gyroscope has 0.01 rad/s, the accelerometer 0.1 m/s^2, biases not counted.
        """
        before, after = self._before, self.state
        dt = float(self._twin.model.opt.timestep)
        R = rotation_matrix(before.q[3:7])
        ahead = rotation_matrix(after.q[3:7])
        proper = (ahead @ after.v[3:6] - R @ before.v[3:6]) / dt - self._scene.model.gravity
        half = R @ from_rotation_vector(0.25 * dt * (before.v[:3] + after.v[:3]))
        own = np.concatenate([half.T @ proper, after.v[:3]])
        own += self._noise * np.repeat(_IMU, 3) * self._rng.standard_normal(6)
        seen = self.seen()
        return Sensed(own, seen.q[7:], seen.v[_BASE:], self._pressing(feet))

    def _pressing(self, feet: Sequence[str]) -> BoolArray:
        model = self._twin.model
        data = self._data
        loads = dict.fromkeys(feet, 0.0)
        force = np.zeros(6)
        for k in range(data.ncon):
            self._lib.mj_contactForce(model, data, k, force)
            for geom in data.contact[k].geom:
                name = model.geom(geom).name
                if name in loads:
                    loads[name] += force[0]
        return np.array([loads[name] > _PRESSES for name in feet])

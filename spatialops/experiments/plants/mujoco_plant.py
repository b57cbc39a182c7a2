"""MuJoCo as the plant of a controller: soft contacts, another mass and friction, latency, noise."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.contacts.twin import Twin
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.state import State, integrate

# Standard deviations of a state that is estimated, at noise 1: joints by encoders, the base by
# inertial sensors and legs.
_ANGLE, _RATE = 1e-3, 0.05  # rad and rad/s of joints
_TILT, _PLACE = 2e-3, 1e-3  # rad, and m of height, of the base
_DRIFT = 0.02  # m/s or rad/s of the base
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
        self._twin.put_forces(self._data, acts)
        self._lib.mj_step(self._twin.model, self._data)
        return acts

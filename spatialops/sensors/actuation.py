"""Actuators and tendons: what they pull with, how long they are, and how fast that changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spatialops._arrays import Array
from spatialops.forces.actuators import Actuator
from spatialops.forces.tendons import Tendon, arms_of, length_of
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class ActuatorForces(NamedSensor):
    """Forces of actuators along their lengths in the step, N or N m, after their ranges.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    actuators : sequence of str, optional
        Default: all.
    noise : Noise, optional
        Default: none.

    Examples
    --------
    >>> import spatialops as so
    >>> scene = so.models.pendulum(2).scene()
    >>> scene.add_actuators([so.Actuator.motor("motor", "pin1", gear=5.0)], [2.0])
    >>> force = so.sensors.ActuatorForces("force")
    >>> so.Simulator(scene, sensors=[force]).run(duration=0.002).sensors["force"][-1]
    array([2.])
    """

    needs_step: ClassVar[bool] = True
    actuators: Sequence[str] | None = None
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """A column an actuator."""
        names = tuple(scene.actuators[i].name for i in self._places(scene))
        return Channels(names, tuple(_unit(scene, scene.actuators[i]) for i in self._places(scene)))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        places = self._places(scene)
        return lambda step: step.actuator_forces[places]

    def _places(self, scene: Scene) -> list[int]:
        known = [one.name for one in scene.actuators]
        if isinstance(self.actuators, str):
            raise self.fault("actuators: expected a list of names, got a text")
        wanted = known if self.actuators is None else list(self.actuators)
        for name in wanted:
            if name not in known:
                raise self.fault(f"there is no actuator {name!r}; there are {known[:8]}")
        return [known.index(name) for name in wanted]


@dataclass(frozen=True, eq=False)
class Length(NamedSensor):
    """Length of an actuator or a tendon at the end of the step, and its rate.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    of : str
        Name of the actuator, or of the tendon.
    noise : Noise, optional
        Default: none.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(1, angle=0.5).model
    >>> string = so.Tendon(name="string", joints={"pin1": 0.1}, stiffness=1.0)
    >>> scene = so.Scene(model, tendons=[string], state=so.State([0.5], [0.0]))
    >>> length = so.sensors.Length("length", "string")
    >>> so.Simulator(scene, sensors=[length]).run(duration=0.001).sensors["length"][0]
    array([0.05, 0.  ])
    """

    of: str
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Length and rate."""
        unit = "rad" if _unit(scene, self._found(scene)) == "N m" else "m"
        return Channels(("length", "rate"), (unit, f"{unit}/s"))

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        one, model = self._found(scene), scene.model

        def read(step: ObservedStep) -> Array:
            end = step.end
            return np.array([length_of(model, one, end.q), arms_of(model, one, end.q) @ end.v])

        return read

    def _found(self, scene: Scene) -> Actuator | Tendon:
        every: list[Actuator | Tendon] = [*scene.actuators, *scene.tendons]
        for one in every:
            if one.name == self.of:
                return one
        known = [one.name for one in every]
        raise self.fault(f"there is no actuator or tendon {self.of!r}; there are {known[:8]}")


def _unit(scene: Scene, one: Actuator | Tendon) -> str:
    """Of its force: that of a moment where one joint that turns is all that it has."""
    kinds = dict(zip(scene.model.joint_names, scene.model.joint_kinds, strict=True))
    turns = len(one.joints) == 1 and kinds[next(iter(one.joints))] != "prismatic"
    return "N m" if turns else "N"

"""What the experiments with the quadruped measure as they run, and the paths that they follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.collision.contact_set import ContactSet
from spatialops.control.friction_cone.controller import FrictionConeController
from spatialops.control.task_space.tasks import PoseTask
from spatialops.experiments.aghili.states import grips
from spatialops.models.quadruped import Quadruped
from spatialops.simulation.plain_data import PlainData
from spatialops.tree.node import Node
from spatialops.tree.state import State

Path = Callable[[float], tuple[Array, Array, Array]]

CAUTION = 0.9  # of the friction that there is, a controller counts on this share
LEAST = 0.5  # N, what a foot that stands is pressed with: without load it slides at a touch
_STILL = 0.1  # m/s, a foot that has come down is stood on once it is slower than this
_MOVES = 1e-3  # m/s: a contact that is not held
LOADED = 1e-9  # N s of a normal impulse, or N, that is not rounding


class Gait(Protocol):
    """Decides which feet are to stand; it feels which of them touch the ground."""

    def feel(self, time: float, steady: BoolArray) -> None:
        """Take notice of the feet (4,) that touch the ground and rest there."""


class Watch:
    """Runs a controller in a simulation, and keeps what it said and what the feet's contacts did.

    Shares of cones and motions count at feet that the controller holds: there nothing may slip. Not
    so in the step in which a foot comes to hold: it brings its own speed along.
    """

    def __init__(
        self,
        controller: FrictionConeController,
        robot: Quadruped,
        path: Path,
        friction: float,
        gait: Gait | None = None,
    ) -> None:
        self.controller = controller
        self.friction = friction
        self.gait = gait
        self.path = path
        self.statuses: Counter[str] = Counter()
        self.failed = 0
        self._task, self._model = PoseTask(Node("base")), robot.model
        self._foot_of = {
            int(link): i
            for i, link in enumerate(robot.model.resolve([Node(f) for f in robot.feet]).links)
        }
        self._feet = {name: i for i, name in enumerate(robot.feet)}
        self._soles = grips(robot, range(4), friction)
        # Held by the last command; by that before it, too.
        self._stood = self._firm = np.ones(4, dtype=bool)
        self.samples: list[tuple[float, ...]] = []

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The controller's command."""
        forces, speeds = self._loads(contacts), self._speeds(state)
        if self.gait is not None:
            self.gait.feel(time, (forces[:, 0] > 0.0) & (speeds < _STILL))
        loaded = self._firm & (forces[:, 0] > LOADED)
        used = (
            np.hypot(forces[:, 1], forces[:, 2])[loaded] / (self.friction * forces[loaded, 0])
        ).max(initial=0.0)
        tau = self.controller(time, state, contacts)
        at, (program, x) = self.controller.at, self.controller.answer
        self.statuses[self.controller.status] += 1
        self.failed += "failed" in self.controller.attempts
        margin = np.inf
        if len(program.mu) and self.controller.status != "held":
            margin = float(program.margins(x)[-len(program.mu) :].min())
        stood = np.zeros(4, dtype=bool)
        stood[[self._feet[contact.name] for contact in at.held.contacts]] = True
        slip = float(speeds[stood & self._firm].max(initial=0.0))
        self._stood, self._firm = stood, stood & self._stood
        error = float(np.abs(self._task.motion(self._model, state).x - self.path(time)[0]).max())
        power = self.controller.motors.power(tau[self.controller.motors.actuation.rows])
        self.samples.append((time, power, margin, used, error, slip, *self._stood, *state.q[:3]))
        return tau

    def _speeds(self, state: State) -> Array:
        """Of the feet's points of contact (4,), m/s."""
        result: Array = np.linalg.norm(
            (self._soles.jacobian(state.q) @ state.v).reshape(4, 3), axis=1
        )
        return result

    def _loads(self, contacts: ContactSet) -> Array:
        """Impulses (4, 3) of the last step on the feet, N s: normal, tangent, tangent."""
        loads = np.zeros((4, 3))
        for (a, b), impulse in zip(contacts.links.tolist(), contacts.impulses, strict=True):
            foot = self._foot_of.get(a, self._foot_of.get(b))
            if foot is not None:
                loads[foot] += impulse
        return loads

    def found(self) -> PlainData:
        """Figures that every experiment reports, and the course of the run ("series")."""
        table = np.array(self.samples)
        return {
            "commands": dict(self.statuses),
            "solves that failed": self.failed,
            "least margin of commanded forces to a cone, N": float(table[:, 2].min()),
            "fastest motion at a held contact, m/s": float(table[:, 5].max()),
            "time with one faster than 1 mm/s, s": float(
                (table[:, 5] > _MOVES).mean() * (table[-1, 0] - table[0, 0])
            ),
            "largest share of the cone used in the simulation": float(table[:, 3].max()),
            "largest error of the base, m or rad": float(table[:, 4].max()),
            "mean power, W": float(table[:, 1].mean()),
            "series": {
                "time": table[:, 0],
                "power": table[:, 1],
                "margin": table[:, 2],
                "used": table[:, 3],
                "error": table[:, 4],
                "slip": table[:, 5],
                "stands": table[:, 6:10],
                "base": table[:, 10:13],
            },
        }


def shift(start: Array, swing: Array, rate: float) -> Path:
    """Start + swing (1 - cos(rate t)) / 2: from rest to rest."""
    zero = np.zeros_like(start)

    def path(time: float) -> tuple[Array, Array, Array]:
        angle = rate * max(time, 0.0)
        wave = (
            0.5 * (1.0 - np.cos(angle)),
            0.5 * rate * np.sin(angle),
            0.5 * rate * rate * np.cos(angle),
        )
        return start + swing * wave[0], zero + swing * wave[1], zero + swing * wave[2]

    return path


def ease(start: Array, end: Array, time: float, duration: float) -> tuple[Array, Array, Array]:
    """From rest to rest by a polynomial of degree 5."""
    s = float(np.clip(time / duration, 0.0, 1.0))
    way = end - start
    shape = (
        s**3 * (10.0 - 15.0 * s + 6.0 * s * s),
        30.0 * s * s * (1.0 - s) ** 2,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )
    return start + way * shape[0], way * shape[1] / duration, way * shape[2] / duration**2


def hop(height: float, time: float, duration: float, speed: float) -> tuple[float, float, float]:
    """Height of a foot that lifts off, comes down at `speed` (m/s), and goes on to find ground."""
    if time >= duration:
        return -speed * (time - duration), -speed, 0.0
    s, T = time / duration, duration
    z = 16.0 * height * s * s * (1.0 - s) ** 2 - speed * T * s * s * (s - 1.0)
    rate = 32.0 * height * s * (1.0 - s) * (1.0 - 2.0 * s) / T - speed * s * (3.0 * s - 2.0)
    return (
        z,
        rate,
        32.0 * height * (1.0 - 6.0 * s + 6.0 * s * s) / T**2 - speed * (6.0 * s - 2.0) / T,
    )

"""What a manipulating robot is allowed to know: its joints, the object's pose, contact forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from spatialops._arrays import Array, scalar
from spatialops.collision.contact_set import ContactSet
from spatialops.control.trajectory import Pose, turn_between
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.free_frames import FreeFrame


def _nowhere() -> Pose:
    return Pose(np.zeros(3), np.eye(3))


@dataclass(eq=False)
class Observation:
    """What is observed at one moment.

    Parameters
    ----------
    time : float
        s.
    hands, references : dict of str to Pose
        Where palms are, and where they are meant to be now.
    lag : float
        Largest distance between hands and where their motions end, m.
    moving : bool
        Whether a motion is still going on.
    object : Pose
        Where the object is.
    object_velocity : (6,) array
        [angular; linear] in body axes, rad/s and m/s.
    touch : dict of str to float
        Force (N) that each fingertip presses the object with, smoothed.
    support : float
        Force (N) between the object and the world, smoothed.
    begin : Pose
        The object as the task began.
    marks : dict of str to Pose
        How the object lay in each hand when `motions.remember` asked.
    """

    time: float = 0.0
    hands: dict[str, Pose] = field(default_factory=dict)
    references: dict[str, Pose] = field(default_factory=dict)
    lag: float = 0.0
    moving: bool = False
    object: Pose = field(default_factory=_nowhere)
    object_velocity: Array = field(default_factory=lambda: np.zeros(6))
    touch: dict[str, float] = field(default_factory=dict)
    support: float = 0.0
    begin: Pose = field(default_factory=_nowhere)
    marks: dict[str, Pose] = field(default_factory=dict)

    def pressing(self, side: str) -> float:
        """Force of the fingertip of a hand that presses least.

        Parameters
        ----------
        side : str
            Name of the hand.

        Returns
        -------
        float
            N.
        """
        return min(force for name, force in self.touch.items() if name.startswith(side))

    def touching(self, side: str) -> float:
        """Force of all fingertips of a hand.

        Parameters
        ----------
        side : str
            Name of the hand.

        Returns
        -------
        float
            N.
        """
        return sum(force for name, force in self.touch.items() if name.startswith(side))

    def in_hand(self, side: str) -> Pose:
        """The object in the frame of a hand.

        Parameters
        ----------
        side : str
            Name of the hand.

        Returns
        -------
        Pose
            Of the object.
        """
        return self.hands[side].inverse() @ self.object

    def slip(self, side: str) -> float:
        """How far the object has moved in a hand since `marks[side]` was set.

        Parameters
        ----------
        side : str
            Name of the hand.

        Returns
        -------
        float
            m.
        """
        return float(np.linalg.norm(self.in_hand(side).position - self.marks[side].position))

    def turned(self) -> float:
        """How far the object has turned since the task began.

        Returns
        -------
        float
            rad.
        """
        return float(np.linalg.norm(turn_between(self.begin.rotation, self.object.rotation)))


class ContactForceSensor:
    """Forces of fingertips and of the world on an object, from the contacts of the step before.

    Parameters
    ----------
    scene : Scene
        Robot and object.
    body : str
        The object.
    tips : mapping of str to sequence of str
        Geoms that count for each name.
    dt : float
        Step, s.
    smoothing : float, default 0.01
        Time constant of the smoothing, s.
    """

    def __init__(
        self,
        scene: Scene,
        body: str,
        tips: Mapping[str, Sequence[str]],
        *,
        dt: float,
        smoothing: float = 0.01,
    ) -> None:
        self.names = tuple(tips)
        self._body, self._tips = body, tips
        self._dt = scalar(dt, "dt", low=0.0, strict=True)
        self._share = min(1.0, dt / smoothing)
        self._forces = np.zeros(len(self.names) + 2)
        self.go_on_in(scene)

    def go_on_in(self, scene: Scene) -> None:
        """Feel on in another scene with the same robot and object.

        Parameters
        ----------
        scene : Scene
            Its pairs may have other numbers.
        """
        body = self._body
        bodies = [geom.body for geom in scene.geoms]
        owner = {geom: i for i, name in enumerate(self.names) for geom in self._tips[name]}
        kinds = []
        for a, b in scene.pairs:
            other = {bodies[a]: int(b), bodies[b]: int(a)}.get(body)
            if other is None:
                kinds.append(len(self.names) + 1)
            elif bodies[other] == "world":
                kinds.append(len(self.names))
            else:
                kinds.append(owner.get(scene.geoms[other].name, len(self.names) + 1))
        self._kinds = np.array(kinds, dtype=np.int64)

    def update(self, contacts: ContactSet, observation: Observation) -> None:
        """Put the smoothed forces into `observation`."""
        now: Array = np.zeros(len(self._forces))
        if len(contacts):
            sizes = np.sqrt((contacts.impulses**2).sum(axis=1)) / self._dt
            now = np.bincount(
                self._kinds[contacts.pairs], weights=sizes, minlength=len(now)
            ).astype(np.float64)
        self._forces += self._share * (now - self._forces)
        observation.touch = dict(zip(self.names, self._forces[:-2].tolist(), strict=True))
        observation.support = float(self._forces[-2])


def object_pose(coordinates: Array, home: FreeFrame) -> Pose:
    """Pose in the world of a free body, from its coordinates (7,) and its joint's frame."""
    x, y, z, i, j, k, w = home.in_world(coordinates).tolist()
    rotation = np.array(
        [
            [1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j - k * w), 2.0 * (i * k + j * w)],
            [2.0 * (i * j + k * w), 1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k - i * w)],
            [2.0 * (i * k - j * w), 2.0 * (j * k + i * w), 1.0 - 2.0 * (i * i + j * j)],
        ]
    )
    return Pose(np.array([x, y, z]), rotation)

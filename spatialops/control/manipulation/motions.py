"""Motions of hands about an object, and guards, for task scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from spatialops._arrays import ArrayLike
from spatialops.control.manipulation.observation import Observation
from spatialops.control.manipulation.task_script import Guard
from spatialops.control.trajectory import Pose

Move = Callable[[Observation], Mapping[str, Pose]]

# Forces, N, that are noise of the sensors: of a fingertip that does not touch, and of the world.
_TOUCHES = 0.1
_RESTS = 0.05


def palm_pose(holds: ArrayLike, points: ArrayLike, squeezes: ArrayLike, reach: float) -> Pose:
    """Pose of a palm that holds at a point.

    Parameters
    ----------
    holds : (3,) array_like
        Where its fingertips meet, m.
    points : (3,) array_like
        The way it points, its z axis; of unit length.
    squeezes : (3,) array_like
        The side of its fingers, its x axis; of unit length.
    reach : float
        From the palm to where its fingertips meet, m.

    Returns
    -------
    Pose
        In the frame in which the vectors are given.
    """
    z, x = np.asarray(points, dtype=np.float64), np.asarray(squeezes, dtype=np.float64)
    return Pose(np.asarray(holds) - reach * z, np.stack([x, np.cross(z, x), z], axis=1))


def to_object(grasps: Mapping[str, Pose], back: float = 0.0) -> Move:
    """Hands to where they grasp (poses in the object's frame), or `back` (m) before that."""
    behind = Pose(np.array([0.0, 0.0, -back]), np.eye(3))
    return lambda observation: {
        side: observation.object @ grasp @ behind for side, grasp in grasps.items()
    }


def back_off(sides: tuple[str, ...], distance: float) -> Move:
    """Hands back along the way they point, m."""
    behind = Pose(np.array([0.0, 0.0, -distance]), np.eye(3))
    return lambda observation: {side: observation.hands[side] @ behind for side in sides}


def object_to(sides: tuple[str, ...], goal: Callable[[Observation], Pose]) -> Move:
    """Hands carry the object to a pose, holding it as they do now."""

    def move(observation: Observation) -> dict[str, Pose]:
        change = goal(observation) @ observation.object.inverse()
        return {side: change @ observation.references[side] for side in sides}

    return move


def remember(sides: tuple[str, ...]) -> Move:
    """Nothing moves; how the object lies in hands is remembered, so that slip can be told."""

    def move(observation: Observation) -> dict[str, Pose]:
        observation.marks |= {side: observation.in_hand(side) for side in sides}
        return {}

    return move


def arrived(tolerance: float = 0.01) -> Guard[Observation]:
    """Motions are over and the hands are where they end."""
    return Guard(
        f"hands within {1e3 * tolerance:g} mm of where they go",
        lambda s: float("inf") if s.moving else s.lag,
        lambda x: x <= tolerance,
        "m",
    )


def presses(side: str, force: float) -> Guard[Observation]:
    """Every fingertip of a hand presses the object with so much, N."""
    return Guard(
        f"each {side} fingertip presses with {force:g} N",
        lambda s: s.pressing(side),
        lambda x: x >= force,
        "N",
    )


def lets_go(side: str) -> Guard[Observation]:
    """No fingertip of a hand touches the object."""
    return Guard(
        f"the {side} hand does not touch the object",
        lambda s: s.touching(side),
        lambda x: x < _TOUCHES,
        "N",
    )


def rests(force: float) -> Guard[Observation]:
    """The world pushes the object with so much, N."""
    return Guard(
        f"the object rests with {force:g} N", lambda s: s.support, lambda x: x >= force, "N"
    )


def is_free() -> Guard[Observation]:
    """The world does not touch the object."""
    return Guard(
        "nothing but hands touches the object", lambda s: s.support, lambda x: x < _RESTS, "N"
    )


def slips_less(side: str, distance: float) -> Guard[Observation]:
    """The object has moved in a hand, since it was remembered, by less than so much, m."""
    return Guard(
        f"slip in the {side} hand below {1e3 * distance:g} mm",
        lambda s: s.slip(side),
        lambda x: x < distance,
        "m",
    )


def turned_less(angle: float) -> Guard[Observation]:
    """The object has turned since the task began by less than so much, rad."""
    return Guard(
        f"the object turned by less than {angle:g} rad",
        lambda s: s.turned(),
        lambda x: x < angle,
        "rad",
    )

"""Poses of an SDF model, each given against a frame of its choice, in the model's frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.rotation import from_quaternion
from spatialops.io.description import check_length
from spatialops.io.safe_xml import Element
from spatialops.io.urdf_shapes import roll_pitch_yaw

MODEL = "__model__"


class Pose(NamedTuple):
    """Position (3,), m, and rotation (3, 3)."""

    position: Array
    rotation: Array

    def then(self, other: Pose) -> Pose:
        """A pose that is given in this frame."""
        place = self.position + self.rotation @ other.position
        return Pose(place, self.rotation @ other.rotation)

    def seen_from(self, frame: Pose) -> Pose:
        """The same in another frame, both given in a third."""
        back = frame.rotation.T
        return Pose(back @ (self.position - frame.position), back @ self.rotation)


ORIGIN = Pose(np.zeros(3), np.eye(3))


def own_pose(owner: Element) -> Pose:
    """What <pose> of an element says, against whatever frame."""
    element = owner.first("pose")
    if element is None or not element.text.strip():
        return ORIGIN
    if element.get("rotation_format") == "quat_xyzw":
        values = np.array(element.text_numbers(7))
        if not np.linalg.norm(values[3:]) > 0.0:
            raise element.error("<pose>: the quaternion is zero")
        pose = Pose(values[:3], from_quaternion(values[3:] / np.linalg.norm(values[3:])))
    else:
        values = np.array(element.text_numbers(6))
        angles = np.radians(values[3:]) if element.get("degrees") == "true" else values[3:]
        pose = Pose(values[:3], roll_pitch_yaw(angles))
    check_length(pose.position, f"{element.path}:{element.line}: <pose>")
    return pose


class Frames:
    """The frames of a model by name: links, joints and <frame>s."""

    def __init__(self, model: Element) -> None:
        self._owners = {
            element.need("name"): element
            for tag in ("link", "joint", "frame")
            for element in model.all(tag)
        }
        self._known: dict[str, Pose] = {MODEL: ORIGIN, "": ORIGIN}

    def of(self, name: str, asked: Element) -> Pose:
        """A frame in the model's."""
        chain: list[str] = []
        while name not in self._known:
            if name not in self._owners:
                raise asked.error(f"there is no frame {name!r}")
            if name in chain:
                raise asked.error(f"frame {name!r} is given against itself")
            chain.append(name)
            name = _against(self._owners[name])
        pose = self._known[name]
        for link in reversed(chain):
            pose = self._known[link] = pose.then(own_pose(self._owners[link]))
        return pose


def _against(owner: Element) -> str:
    """The frame that an element's pose is given against."""
    pose = owner.first("pose")
    if pose is not None and pose.get("relative_to"):
        return pose.get("relative_to")
    if owner.tag == "joint":
        child = owner.first("child")
        return "" if child is None else child.text.strip()
    return owner.get("attached_to") if owner.tag == "frame" else ""

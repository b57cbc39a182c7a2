"""A model as the elements of a URDF."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.errors import ModelError
from spatialops.io.description import Notes
from spatialops.tree.builder import WORLD
from spatialops.tree.described import Described, described
from spatialops.tree.model import Model

_KINDS = {"revolute": "revolute", "prismatic": "prismatic", "ball": "spherical"}
_GRAVITY = (0.0, 0.0, -9.81)  # what those who read the file take


def urdf_tree(model: Model, name: str, notes: Notes) -> Element:
    """<robot> of a model; `notes` tells what a URDF cannot say."""
    bodies = described(model)
    roots = [body for body in bodies if body.parent < 0]
    free = [body for body in bodies if body.kind == "free"]
    if free and (len(free) > 1 or len(roots) > 1 or free[0].parent >= 0):
        raise ModelError(f"joint {free[0].joint!r}: a URDF has one root, which alone may be free")
    robot = Element("robot", name=name)
    if not free:
        SubElement(robot, "link", name=WORLD)
    for body in bodies:
        link = SubElement(robot, "link", name=body.name)
        if body.inertia is not None:
            _inertial(link, body.inertia)
    for body in bodies:
        if body.kind != "free":
            _joint(robot, model, body, WORLD if body.parent < 0 else bodies[body.parent].name)
            if np.ptp(model.damping[model.v_slice(body.joint)]) > 0.0:
                notes.add("a URDF has one damping for all axes of a joint", body.joint)
    _frames(robot, model, bool(free), notes)
    for what, values in (
        ("armature", [x for body in bodies for x in body.armature]),
        ("springs", model.stiffness),
        ("compensation of gravity", model.compensation[:, 0]),
        ("gravity", np.subtract(model.gravity, _GRAVITY)),
    ):
        if np.asarray(values).any():
            notes.add(f"a URDF has no {what}")
    return robot


def words(values: Array) -> str:
    """Numbers that read back as they are."""
    return " ".join(repr(float(x)) for x in values)


def _inertial(link: Element, inertia: Inertia) -> None:
    element = SubElement(link, "inertial")
    SubElement(element, "origin", xyz=words(inertia.center), rpy="0 0 0")
    SubElement(element, "mass", value=repr(float(inertia.mass)))
    moments = {
        f"i{'xyz'[i]}{'xyz'[j]}": repr(float(inertia.tensor[i, j]))
        for i in range(3)
        for j in range(i, 3)
    }
    SubElement(element, "inertia", moments)


def _joint(robot: Element, model: Model, body: Described, above: str) -> None:
    if body.kind not in _KINDS:
        raise ModelError(f"joint {body.joint!r}: a {body.kind} joint has no counterpart in URDF")
    at = model.v_slice(body.joint).start
    limited = bool(np.isfinite([model.lower[at], model.upper[at]]).any())
    kind = "continuous" if body.kind == "revolute" and not limited else _KINDS[body.kind]
    joint = _placed(robot, body.joint, kind, above, body.name, body.position, body.rotation)
    given = {"damping": model.damping[at], "friction": model.dry_friction[at]}
    SubElement(joint, "dynamics", {key: repr(float(value)) for key, value in given.items()})
    if body.kind == "ball":
        return
    SubElement(joint, "axis", xyz=words(body.axis))
    limits = {"effort": model.effort_limit[at], "velocity": model.velocity_limit[at]}
    if kind != "continuous":
        limits |= {"lower": model.lower[at], "upper": model.upper[at]}
    SubElement(joint, "limit", {key: repr(float(value)) for key, value in limits.items()})


def _frames(robot: Element, model: Model, free: bool, notes: Notes) -> None:
    """Bodies that were merged, as links without mass."""
    kept = {WORLD, *model.body_names}
    for name, frame in model.frames.items():
        if name in kept:
            continue
        if frame.body < 0 and free:
            notes.add("a URDF with a free base has nothing on the world", name)
            continue
        above = WORLD if frame.body < 0 else model.body_names[frame.body]
        SubElement(robot, "link", name=name)
        joint = f"{name}_fixed"
        _placed(robot, joint, "fixed", above, name, frame.position, frame.rotation)


def _placed(
    robot: Element,
    name: str,
    kind: str,
    parent: str,
    child: str,
    position: Array,
    rotation: Array,
) -> Element:
    joint = SubElement(robot, "joint", name=name, type=kind)
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    origin(joint, position, rotation)
    return joint


def origin(element: Element, position: Array, rotation: Array) -> None:
    """Where a thing stands."""
    SubElement(element, "origin", xyz=words(position), rpy=words(_roll_pitch_yaw(rotation)))


def _roll_pitch_yaw(rotation: Array) -> Array:
    """Angles of R = Rz Ry Rx, each found where those before it are undone: exact at any pitch."""
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    cosine, sine = np.cos(yaw), np.sin(yaw)
    back = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]]) @ rotation
    pitch = np.arctan2(-back[2, 0], back[0, 0])
    return np.array([np.arctan2(-back[1, 2], back[1, 1]), pitch, yaw])

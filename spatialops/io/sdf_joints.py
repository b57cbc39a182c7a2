"""Joints of SDF, those that close loops, and mimic joints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from spatialops._arrays import Array
from spatialops.io.description import Notes
from spatialops.io.safe_xml import Element
from spatialops.io.sdf_poses import ORIGIN, Frames, Pose
from spatialops.io.sdf_shapes import needed, number
from spatialops.io.urdf import located
from spatialops.tree.builder import WORLD
from spatialops.tree.joint import Joint, JointKind, z_to
from spatialops.tree.loop import Loop, LoopKind

JOINT_KINDS: dict[str, JointKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "ball",
    "universal": "universal",
    "fixed": "fixed",
}
# Joints that close a loop, as closures.
_CLOSING: dict[str, LoopKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "ball",
    "fixed": "weld",
}
_UNLIMITED = 1e15  # limits beyond mean that there are none: the format's default is 1e16
_OLD_AXES = 1.5  # before this version axes were given in the model's frame


@dataclass
class Reader:
    """What is found on the way through one model."""

    model: Element
    version: float
    frames: Frames
    pose: Pose
    warnings: Notes = field(default_factory=Notes)
    left_out: Notes = field(default_factory=Notes)
    links: dict[str, Element] = field(default_factory=dict)
    carriers: dict[str, Element] = field(default_factory=dict)  # joint by the link that it carries
    closing: list[Element] = field(default_factory=list)  # joints that close loops
    start: dict[str, Array] = field(default_factory=dict)


def end_of(reader: Reader, joint: Element, end: str) -> str:
    """The link at one end of a joint, or the world."""
    element = joint.first(end)
    name = "" if element is None else element.text.strip()
    if name != WORLD and name not in reader.links:
        raise joint.error(f"joint {joint.get('name')!r}: <{end}> names no link: {name!r}")
    return name


def joint_of(reader: Reader, element: Element, link: Pose) -> Joint:
    """The joint that carries a link, its axes in the link's frame."""
    name, given = element.need("name"), element.get("type")
    if given not in JOINT_KINDS:
        known = ", ".join(JOINT_KINDS)
        raise element.error(f"joint {name!r}: type {given[:60]!r} is not read; {known} are")
    kind = JOINT_KINDS[given]
    axis = element.first("axis")
    with located(element, f"joint {name!r}"):
        if kind in ("fixed", "ball"):
            return Joint(kind, name=name)
        first = _axis(reader, element, axis, link)
        if kind == "universal":
            second = _axis(reader, element, element.first("axis2"), link)
            return Joint(kind, name=name, axis=first, second_axis=second)
        data = {} if axis is None else _dynamics(axis)
        if axis is not None and given != "continuous":
            data |= _limits(axis)
        return Joint(kind, name=name, axis=first, **data)


def _axis(reader: Reader, joint: Element, axis: Element | None, link: Pose) -> tuple[float, ...]:
    """The axis in the frame of the child link."""
    xyz = None if axis is None else axis.first("xyz")
    values = np.array((0.0, 0.0, 1.0) if xyz is None else xyz.text_numbers(3))
    if not np.linalg.norm(values) > 0.0:
        raise joint.error(f"joint {joint.get('name')!r}: the axis has no direction")
    flag = None if axis is None else axis.first("use_parent_model_frame")
    of_model = reader.version < _OLD_AXES or (
        flag is not None and flag.text.strip() in ("1", "true")
    )
    named = joint.need("name") if xyz is None else xyz.get("expressed_in") or joint.need("name")
    frame = ORIGIN if of_model else reader.frames.of(named, joint)
    return tuple((link.rotation.T @ frame.rotation @ values).tolist())


def _dynamics(axis: Element) -> dict[str, float]:
    data = {}
    for tag, key in (("damping", "damping"), ("friction", "dry_friction")):
        data[key] = max(number(axis, "dynamics", tag) or 0.0, 0.0)
    stiffness = number(axis, "dynamics", "spring_stiffness") or 0.0
    if stiffness > 0.0:
        data["stiffness"] = stiffness
        data["reference"] = number(axis, "dynamics", "spring_reference") or 0.0
    return data


def _limits(axis: Element) -> dict[str, float]:
    data = {}
    for tag in ("lower", "upper"):
        value = number(axis, "limit", tag)
        if value is not None and abs(value) < _UNLIMITED:
            data[tag] = value
    for tag in ("effort", "velocity"):
        value = number(axis, "limit", tag)
        data[f"{tag}_limit"] = math.inf if value is None or value < 0.0 else value
    if data.get("lower", -math.inf) > data.get("upper", math.inf):
        return {key: value for key, value in data.items() if key not in ("lower", "upper")}
    return data


def closures(reader: Reader) -> Iterator[Loop]:
    """A closure for every joint whose child hangs on something else."""
    for element in reader.closing:
        name, kind = element.need("name"), _CLOSING.get(element.get("type"))
        parent, child = end_of(reader, element, "parent"), end_of(reader, element, "child")
        if kind is None:
            reader.warnings.add(
                f"a {element.get('type')[:60]} joint that closes a loop is left out", name
            )
            continue
        ends = [
            ORIGIN if end == WORLD else reader.frames.of(end, element) for end in (parent, child)
        ]
        place = reader.frames.of(name, element)
        axis = np.array(_axis(reader, element, element.first("axis"), ORIGIN))
        frame = Pose(place.position, z_to(axis / np.linalg.norm(axis)))
        first, second = (frame.seen_from(end) for end in ends)
        with located(element, f"joint {name!r}"):
            yield Loop(
                kind=kind,
                name=name,
                a=parent,
                b=child,
                position_a=first.position,
                position_b=second.position,
                rotation_a=first.rotation,
                rotation_b=second.rotation,
            )


def mimics(reader: Reader) -> Iterator[Loop]:
    """A coupler for every mimic joint: q = multiplier (q(of) - reference) + offset."""
    for joint in reader.carriers.values():
        axis = joint.first("axis")
        mimic = None if axis is None else axis.first("mimic")
        if mimic is None:
            continue
        name, of = joint.need("name"), mimic.need("joint")
        factor = needed(mimic, "multiplier")
        offset = (number(mimic, "offset") or 0.0) - factor * (number(mimic, "reference") or 0.0)
        joints = {name: 1.0, of: -factor} if factor else {name: 1.0}
        with located(mimic, f"joint {name!r}"):
            yield Loop(kind="coupler", joints=joints, offset=offset, name=f"mimic {name}")

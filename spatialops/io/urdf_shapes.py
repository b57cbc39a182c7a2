"""Shapes of URDF's links, and their friction where the file tells it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from spatialops._arrays import Array
from spatialops.errors import AssetError
from spatialops.io.description import Color, MeshFile, Notes, ShapeSpec, check_length
from spatialops.io.safe_xml import Element
from spatialops.tree.joint import z_to

Friction = tuple[float, float, float]


class Findings(Protocol):
    """What is found on the way through a file, and the names of bodies by link."""

    warnings: Notes
    left_out: Notes
    names: dict[str, str]


# What PyBullet's <contact> says beside friction and restitution.
# Of directions and scales; what lies beyond is a mistake.
SHORTEST = 1e-9
LONGEST = 1e9


def surfaces(root: Element) -> dict[str, Friction]:
    """Friction of links that <gazebo reference="link"> gives: mu1, else mu2.

    Both stand as text, which is the format's, or as an attribute `value`.
    """
    result = {}
    for element in root.all("gazebo"):
        for tag in ("mu1", "mu2"):
            mu = element.first(tag)
            value = None if mu is None else mu.value()
            if value is not None:
                result[element.get("reference")] = (max(value, 0.0), 0.0, 0.0)
                break
    return result


class Looks(NamedTuple):
    """What a whole file says of surfaces: friction by link, colours by name of material."""

    friction: dict[str, Friction]
    colors: dict[str, Color]


def colors(root: Element, left_out: Notes) -> dict[str, Color]:
    """Colours of materials by name; those of visuals count for the whole file, too."""
    visuals = (visual for link in root.all("link") for visual in link.all("visual"))
    found: dict[str, Color] = {}
    for owner in (root, *visuals):
        for material in owner.all("material"):
            color = _color(material, left_out)
            if color is not None and material.get("name"):
                found.setdefault(material.get("name"), color)
    return found


def _color(material: Element | None, left_out: Notes) -> Color | None:
    """The colour that a <material> itself says."""
    element = None if material is None else material.first("color")
    if element is None:
        return None
    try:
        red, green, blue, _ = (min(max(x, 0.0), 1.0) for x in element.numbers("rgba", 4))
    except AssetError as error:
        left_out.add(f"a damaged <color>: {error}")
        return None
    return red, green, blue


def link_shapes(reader: Findings, link: Element, looks: Looks) -> Iterator[ShapeSpec]:
    """Collision shapes of a link, then what is drawn of it."""
    name = link.get("name")
    surface, restitution = _contact(reader, link)
    surface = looks.friction.get(name) if surface is None else surface
    for tag in ("collision", "visual"):
        elements = list(link.all(tag))
        for i, element in enumerate(elements):
            geometry = element.first("geometry")
            if geometry is None or not geometry.children:
                reader.warnings.add(
                    f"a <{tag}> without geometry is left out", f"line {element.line}"
                )
                continue
            label = (
                name
                + ("" if tag == "collision" else "/visual")
                + (f"/{i}" if len(elements) > 1 else "")
            )
            try:
                position, rotation = pose(element)
                shape = _shape(geometry)
            except AssetError as error:
                if tag == "collision":
                    raise
                reader.left_out.add(f"a damaged <visual>: {error}")
                continue
            if shape is None:
                reader.left_out.add(
                    f"<{tag}> of kind <{geometry.children[0].tag[:60]}>", f"line {geometry.line}"
                )
                continue
            kind, sizes, mesh, turn = shape
            material = element.first("material")
            if 0.0 in sizes:
                reader.warnings.add(f"a {kind} of size zero is left out", f"line {geometry.line}")
                continue
            yield ShapeSpec(
                name=label,
                body=reader.names[name],
                kind=kind,
                sizes=sizes,
                mesh=mesh,
                position=position,
                rotation=rotation @ turn,
                friction=surface,
                restitution=restitution,
                collides=tag == "collision",
                visible=tag == "visual",
                color=_color(material, reader.left_out)
                or looks.colors.get("" if material is None else material.get("name")),
            )


def pose(element: Element) -> tuple[Array, Array]:
    """Position and rotation of an <origin>: rpy turns about the fixed x, then y, then z."""
    origin = element.first("origin")
    if origin is None:
        return np.zeros(3), np.eye(3)
    position = np.array(origin.numbers("xyz", 3, (0.0, 0.0, 0.0)))
    check_length(position, f"{origin.path}:{origin.line}: <origin>")
    return position, roll_pitch_yaw(np.array(origin.numbers("rpy", 3, (0.0, 0.0, 0.0))))


def roll_pitch_yaw(angles: Array) -> Array:
    """Turns about the fixed x, then y, then z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _shape(geometry: Element) -> tuple[str, tuple[float, ...], MeshFile | None, Array] | None:
    """Kind, sizes, mesh and a turn of the shape in its own frame; None for unknown kinds."""
    element, turn = geometry.children[0], np.eye(3)
    if element.tag == "box":
        return "box", _sizes(element, element.numbers("size", 3)), None, turn
    if element.tag == "sphere":
        return "sphere", _sizes(element, (element.number("radius"),)), None, turn
    if element.tag in ("cylinder", "capsule"):
        sizes = element.number("radius"), element.number("length")
        return element.tag, _sizes(element, sizes), None, turn
    if element.tag == "plane":
        normal = np.array(element.numbers("normal", 3, (0.0, 0.0, 1.0)))
        if not SHORTEST < np.linalg.norm(normal) < LONGEST:
            raise element.error("<plane>: the normal has no direction")
        return "half_space", (), None, z_to(normal / np.linalg.norm(normal))
    if element.tag == "mesh":
        words = element.get("scale").split()
        if len(words) == 4 and words[3] == words[0]:  # a habit from homogeneous coordinates
            element.attributes["scale"] = " ".join(words[:3])
        scale = element.numbers("scale", 3, (1.0, 1.0, 1.0))
        if not all(SHORTEST < abs(s) < LONGEST for s in scale):
            raise element.error(f"<mesh>: scale {scale} is zero or beyond all measure")
        mesh = MeshFile(
            uri=element.need("filename"), scale=(scale[0], scale[1], scale[2]), line=element.line
        )
        return "mesh", (), mesh, turn
    return None


def _sizes(element: Element, sizes: tuple[float, ...]) -> tuple[float, ...]:
    if not all(size >= 0.0 for size in sizes):
        raise element.error(
            f"<{element.tag}>: sizes must not be negative, got "
            f"{', '.join(f'{s:g}' for s in sizes)} m"
        )
    check_length(sizes, f"{element.path}:{element.line}: <{element.tag}>")
    return sizes


def _contact(reader: Findings, link: Element) -> tuple[Friction | None, float]:
    """Friction and restitution that PyBullet's <contact> gives."""
    element = link.first("contact")
    if element is None:
        return None, 0.0
    values = {
        child.tag: child.number("value")
        for child in element.children
        if "value" in child.attributes
    }
    restitution = min(max(values.get("restitution", 0.0), 0.0), 1.0)
    if "lateral_friction" not in values:
        return None, restitution
    triple = (values[key] if values.get(key, 0.0) > 0.0 else 0.0 for key in _TRIPLE)
    mu, spin, roll = triple
    return (mu, spin, roll), restitution


_TRIPLE = ("lateral_friction", "spinning_friction", "rolling_friction")

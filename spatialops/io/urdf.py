"""URDF: links and joints of a tree, as `Description`.

Read: links with inertia and collision shapes, all kinds of joints, limits, damping, friction, mimic
joints, and the friction of `<gazebo>` and of PyBullet's `<contact>`. Everything else is counted in
`left_out`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spatialops.algebra.inertia import Inertia
from spatialops.errors import ModelError
from spatialops.io.description import MAX_MASS, BodySpec, Description, Notes, check_length
from spatialops.io.link_order import parents_first
from spatialops.io.safe_xml import Element, parse, read_bytes
from spatialops.io.unread import URDF, list_unread
from spatialops.io.urdf_shapes import LONGEST, SHORTEST, Looks, colors, link_shapes, pose, surfaces
from spatialops.tree.builder import WORLD
from spatialops.tree.joint import Joint, JointKind
from spatialops.tree.loop import Loop

JOINT_KINDS: dict[str, JointKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "planar": "planar",
    "floating": "free",
    "spherical": "ball",  # not of the format, but PyBullet's
}
_OF_XACRO = ("arg", "include", "macro", "property")  # what its templates begin with
_UNIT = 1e-3  # error of an axis that is taken for rounding
_RADIANS = 1e3  # limits beyond mean that there are none
_DEGREES = 4.0 * math.pi  # limits beyond two turns are more likely degrees
_NO_MASS = 1e-18  # kg, where a file gives moments without mass: kernels divide by it


@dataclass
class _Reader:
    """What is found on the way through one file."""

    warnings: Notes = field(default_factory=Notes)
    left_out: Notes = field(default_factory=Notes)
    links: dict[str, Element] = field(default_factory=dict)
    joints: dict[str, Element] = field(default_factory=dict)
    carriers: dict[str, Element] = field(default_factory=dict)  # joint by the link that it carries
    kinds: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # of bodies, by link


def read_urdf(path: Path) -> Description:
    """Read one file.

    Raises
    ------
    AssetError
        If it is not a URDF, or says what cannot be; with the line.
    """
    return parse_urdf(read_bytes(path), path)


def parse_urdf(content: bytes, path: Path) -> Description:
    """The same for what has been read; `path` says where files that it names are looked for."""
    root = parse(content, path)
    if root.tag != "robot":
        raise root.error(f"expected <robot>, got <{root.tag[:60]}>")
    reader = _Reader()
    _collect(reader, root)
    list_unread(root, URDF, reader.left_out, reader.warnings)
    order = _tree_order(reader, root)
    bodies = [body for name in order for body in _bodies(reader, name)]
    looks = Looks(surfaces(root), colors(root, reader.left_out))
    shapes = [shape for name in order for shape in link_shapes(reader, reader.links[name], looks)]
    return Description(
        name=root.get("name") or path.stem,
        path=path,
        bodies=tuple(bodies),
        shapes=tuple(shapes),
        loops=tuple(_mimics(reader)),
        warnings=reader.warnings.texts(),
        left_out=reader.left_out.texts(),
    )


# ----------------------------------------------------------------------------------------- topology
def _collect(reader: _Reader, root: Element) -> None:
    """Links and joints by name; everything else is counted."""
    for element in root.children:
        if element.tag == "link":
            _put(reader.links, element)
        elif element.tag == "joint" and element.children:
            _put(reader.joints, element)
    if not reader.links:
        template = any(element.tag in _OF_XACRO for element in root.children)
        hint = "; of a template of xacro load what `xacro FILE > robot.urdf` makes" * template
        raise root.error(f"<robot> has no link: nothing rigid is described{hint}")
    for name in reader.links:
        reader.names[name] = _body_name(name, reader.links)


def _put(table: dict[str, Element], element: Element) -> None:
    name = element.need("name")
    if name in table:
        raise element.error(
            f"{element.tag} {name!r}: the name is already taken in line {table[name].line}"
        )
    table[name] = element


def _body_name(link: str, taken: dict[str, Element]) -> str:
    """The link's name, but for a link "world", whose name the world itself has here."""
    if link != WORLD:
        return link
    name = "world_link"
    while name in taken:
        name += "_"
    return name


def _tree_order(reader: _Reader, root: Element) -> list[str]:
    """Links with parents first, children in the order of the file."""
    children: dict[str, list[str]] = {name: [] for name in reader.links}
    for name, joint in reader.joints.items():
        parent, child = (_end(reader, joint, end) for end in ("parent", "child"))
        if child in reader.carriers:
            raise joint.error(
                f"joint {name!r}: link {child!r} has a parent already (joint "
                f"{reader.carriers[child].get('name')!r}, "
                f"line {reader.carriers[child].line}); a URDF is a tree"
            )
        reader.carriers[child] = joint
        children[parent].append(child)
    roots = [name for name in reader.links if name not in reader.carriers]
    if len(roots) > 1:
        names = ", ".join(f"{name!r} (line {reader.links[name].line})" for name in roots[:5])
        raise root.error(f"{len(roots)} links have no parent: {names}; a URDF has one root")
    return parents_first(reader.links, children, roots)


def _end(reader: _Reader, joint: Element, end: str) -> str:
    element = joint.first(end)
    if element is None:
        raise joint.error(f"joint {joint.get('name')!r} has no <{end}>")
    link = element.need("link")
    if link not in reader.links:
        raise element.error(f"joint {joint.get('name')!r}: there is no link {link!r}")
    return link


# ------------------------------------------------------------------------------------------- bodies
def _bodies(reader: _Reader, link: str) -> Iterator[BodySpec]:
    """The body of a link; a free joint below a moving body becomes three slides and a ball."""
    element, name = reader.links[link], reader.names[link]
    inertia = _inertia(reader, element)
    carrier = reader.carriers.get(link)
    if carrier is None:
        yield BodySpec(name=name, parent=WORLD, joint=Joint("fixed"), inertia=inertia)
        return
    joint, (position, rotation) = _joint(reader, carrier), pose(carrier)
    above = reader.names[_end(reader, carrier, "parent")]
    if joint.kind == "free":
        reader.warnings.add(
            "a floating joint between links becomes three slides and a ball", f"line {carrier.line}"
        )
        for axis in "xyz":
            slide = Joint("prismatic", axis=axis, name=f"{joint.name}/{axis}")
            yield BodySpec(
                name=f"{name}/{axis}",
                parent=above,
                joint=slide,
                position=position,
                rotation=rotation,
            )
            above = f"{name}/{axis}"
            position = np.zeros(3)
            rotation = np.eye(3)
        joint = Joint("ball", name=joint.name)
    yield BodySpec(
        name=name, parent=above, joint=joint, inertia=inertia, position=position, rotation=rotation
    )


def _inertia(reader: _Reader, link: Element) -> Inertia | None:
    element = link.first("inertial")
    if element is None:
        return None
    name, mass_element = link.get("name"), element.first("mass")
    if mass_element is None:
        raise element.error(f"link {name!r}: <inertial> has no <mass>")
    mass = mass_element.number("value")
    if not 0.0 <= mass <= MAX_MASS:
        raise mass_element.error(
            f"link {name!r}: a mass of {mass:g} kg is outside [0, {MAX_MASS:g}] kg"
        )
    tensor, (center, turn) = np.zeros((3, 3)), pose(element)
    moments = element.first("inertia")
    if moments is None:
        reader.warnings.add(
            "<inertial> without <inertia>: moments are taken as zero", f"line {element.line}"
        )
    else:
        for entry, i, j in (
            ("ixx", 0, 0),
            ("ixy", 0, 1),
            ("ixz", 0, 2),
            ("iyy", 1, 1),
            ("iyz", 1, 2),
            ("izz", 2, 2),
        ):
            tensor[i, j] = tensor[j, i] = moments.number(entry, 0.0 if i != j else None)
        check_length(
            np.sqrt(np.abs(tensor) / MAX_MASS),
            f"{link.path}:{moments.line}: moments of link {name!r}",
        )
    if mass == 0.0 and not tensor.any():
        return None
    tensor = turn @ tensor @ turn.T
    try:
        return Inertia(mass, center, tensor)
    except ModelError as error:
        reason = str(error).removeprefix("inertia: ")
        reader.warnings.add(
            "an inertia that no body can have is kept as it is",
            f"link {name!r}, line {element.line}: {reason}",
        )
        return Inertia(mass or _NO_MASS, center, tensor, checked=False)


# ------------------------------------------------------------------------------------------- joints
def _joint(reader: _Reader, element: Element) -> Joint:
    name, given = element.get("name"), element.get("type")
    if given not in JOINT_KINDS:
        raise element.error(
            f"joint {name!r}: type {given[:60]!r} is unknown; choose one of "
            f"{', '.join(JOINT_KINDS)}"
        )
    if given == "spherical":
        reader.warnings.add(
            "joint type 'spherical' is not of the format; it becomes a ball", f"line {element.line}"
        )
    kind = reader.kinds[name] = JOINT_KINDS[given]
    if kind == "fixed":
        return Joint("fixed", name=name)
    dynamics = element.first("dynamics")
    data: dict[str, Any] = {}
    if dynamics is not None and kind != "free":
        data = {
            "damping": dynamics.number("damping", 0.0),
            "dry_friction": dynamics.number("friction", 0.0),
        }
        for key in ("spring_stiffness", "spring_reference"):
            if dynamics.number(key, 0.0) != 0.0:
                reader.warnings.add(f"<dynamics {key}> is not simulated", f"line {dynamics.line}")
    if kind in ("revolute", "prismatic", "planar"):
        data["axis"] = _axis(reader, element)
    if kind == "planar" and data["axis"] == (0.0, 0.0, 1.0):
        data["second_axis"] = "x"
    if kind in ("revolute", "prismatic"):
        data |= _limits(reader, element, given)
    with located(element, f"joint {name!r}"):
        return Joint(kind, name=name, **data)


def _axis(reader: _Reader, joint: Element) -> tuple[float, ...]:
    element = joint.first("axis")
    axis = (1.0, 0.0, 0.0) if element is None else element.numbers("xyz", 3, (1.0, 0.0, 0.0))
    length = math.sqrt(sum(x * x for x in axis))
    if not SHORTEST < length < LONGEST:
        raise (element or joint).error(f"joint {joint.get('name')!r}: the axis has no direction")
    if abs(length - 1.0) > _UNIT:
        reader.warnings.add(
            "an axis is not of unit length; its direction is taken",
            f"line {(element or joint).line}",
        )
    return axis


def _limits(reader: _Reader, joint: Element, given: str) -> dict[str, float]:
    element, where = joint.first("limit"), f"line {joint.line}"
    if element is None:
        if given != "continuous":
            reader.warnings.add(
                f"a {given} joint without <limit> is taken as without limits", where
            )
        return {}
    data: dict[str, float] = {}
    for key, name in (("velocity_limit", "velocity"), ("effort_limit", "effort")):
        value = element.number(name, math.inf, infinite=True)
        if value < 0.0:
            reader.warnings.add(f"a negative {name} limit is taken as none", where)
        else:
            data[key] = value
    lower, upper = (element.number(name, 0.0, infinite=True) for name in ("lower", "upper"))
    if given == "continuous" or not ({"lower", "upper"} & set(element.attributes)):
        if given != "continuous":
            reader.warnings.add(
                f"a {given} joint without a range is taken as without limits", where
            )
        return data
    if lower > upper:
        reader.warnings.add("a lower limit above the upper one is taken as no limits", where)
        return data
    if given == "revolute" and _DEGREES < max(abs(lower), abs(upper)) < _RADIANS:
        reader.warnings.add(
            "limits of more than two turns: are they in degrees? Radians are expected", where
        )
    return data | {"lower": lower, "upper": upper}


def _mimics(reader: _Reader) -> Iterator[Loop]:
    """A coupler for every mimic joint: q = multiplier q(of) + offset."""
    leaders: dict[str, str] = {}
    for name, joint in reader.joints.items():
        element = joint.first("mimic")
        if element is None:
            continue
        of = element.need("joint")
        kinds = {end: reader.kinds.get(end, "missing") for end in (name, of)}
        if wrong := [end for end in kinds if kinds[end] not in ("revolute", "prismatic")]:
            text = (
                f"<mimic> of a joint without one axis is left out: {wrong[0]!r} is "
                f"{kinds[wrong[0]]}"
            )
            reader.warnings.add(text, f"line {element.line}")
            continue
        leaders[name] = of
        _refuse_circle(leaders, name, element)
        factor, offset = element.number("multiplier", 1.0), element.number("offset", 0.0)
        joints = {name: 1.0} | ({of: -factor} if factor != 0.0 else {})
        with located(element, f"joint {name!r}"):
            yield Loop(kind="coupler", joints=joints, offset=offset, name=f"mimic {name}")


def _refuse_circle(leaders: dict[str, str], name: str, element: Element) -> None:
    at = leaders[name]
    while at in leaders and at != name:
        at = leaders[at]
    if at == name:
        raise element.error(f"joint {name!r}: mimics itself, directly or by way of others")


@contextmanager
def located(element: Element, what: str) -> Iterator[None]:
    """Errors of what is made inside name the file and line."""
    try:
        yield
    except ModelError as error:
        raise element.error(f"{what}: {error}") from error

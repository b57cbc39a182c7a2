"""SDF (sdformat.org): one model of links and joints, as `Description`.

Read: poses against any frame, inertias, joints of one axis, ball and universal joints, limits,
damping, friction, springs, mimic joints, joints that close loops, shapes with friction and
restitution. What stands on nothing is free, unless the model is static. Everything else is counted
in `left_out`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import to_quaternion
from spatialops.errors import ModelError
from spatialops.io.description import MAX_MASS, BodySpec, Description
from spatialops.io.link_order import parents_first
from spatialops.io.safe_xml import Element, parse, read_bytes
from spatialops.io.sdf_joints import Reader, closures, end_of, joint_of, mimics
from spatialops.io.sdf_poses import ORIGIN, Frames, Pose, own_pose
from spatialops.io.sdf_shapes import link_shapes, number
from spatialops.io.unread import SDF, list_unread
from spatialops.tree.builder import WORLD
from spatialops.tree.joint import Joint


def read_sdf(path: Path) -> Description:
    """Read one file.

    Raises
    ------
    AssetError
        If it is not an SDF file of one model, or says what cannot be; with the line.
    """
    return parse_sdf(read_bytes(path), path)


def parse_sdf(content: bytes, path: Path) -> Description:
    """The same for what has been read; `path` says where files that it names are looked for."""
    root = parse(content, path)
    if root.tag != "sdf":
        raise root.error(f"expected <sdf>, got <{root.tag[:60]}>")
    world = root.first("world")
    models = [*root.all("model"), *(() if world is None else world.all("model"))]
    if len(models) != 1:
        raise root.error(f"expected one <model>, got {len(models)}; compose scenes of several")
    model = models[0]
    _rename_world(model)
    frames = Frames(model)
    reader = Reader(model, _version(root), frames, _pose_of(model, frames))
    list_unread(root, SDF, reader.left_out, reader.warnings)
    order = _tree_order(reader)
    bodies = [body for name in order for body in _bodies(reader, name)]
    return Description(
        name=model.get("name") or path.stem,
        path=path,
        bodies=tuple(bodies),
        shapes=tuple(
            shape
            for name in order
            for shape in link_shapes(reader.links[name], name, reader.left_out)
        ),
        loops=(*mimics(reader), *closures(reader)),
        start=reader.start,
        gravity=_gravity(world),
        warnings=reader.warnings.texts(),
        left_out=reader.left_out.texts(),
    )


def _version(root: Element) -> float:
    major, _, minor = root.get("version", "1.7").partition(".")
    return float(f"{major}.{minor}") if major.isdigit() and minor.isdigit() else 1.7


def _pose_of(model: Element, frames: Frames) -> Pose:
    """Where a model's frame stands: its pose is that of its placement frame, where it names one."""
    placed = model.get("placement_frame")
    own = own_pose(model)
    return own.then(ORIGIN.seen_from(frames.of(placed, model))) if placed else own


def _gravity(world: Element | None) -> tuple[float, float, float]:
    given = None if world is None else world.first("gravity")
    x, y, z = (0.0, 0.0, -9.81) if given is None else given.text_numbers(3)
    return x, y, z


# ----------------------------------------------------------------------------------------- topology
def _tree_order(reader: Reader) -> list[str]:
    """Links with parents first."""
    model = reader.model
    for link in model.all("link"):
        name = link.need("name")
        if name in reader.links:
            raise link.error(f"link {name!r}: the name is already taken")
        reader.links[name] = link
    if not reader.links:
        raise model.error("<model> has no link: nothing rigid is described")
    children: dict[str, list[str]] = {name: [] for name in (WORLD, *reader.links)}
    for joint in model.all("joint"):
        parent, child = end_of(reader, joint, "parent"), end_of(reader, joint, "child")
        if child in reader.carriers or child == WORLD:  # it closes a loop of the mechanism
            reader.closing.append(joint)
            continue
        reader.carriers[child] = joint
        children[parent].append(child)
    roots = [name for name in reader.links if name not in reader.carriers]
    return parents_first(reader.links, children, [*children[WORLD], *roots])


def _rename_world(model: Element) -> None:
    """A link "world", whose name the world itself has here, is "world_link"."""
    for link in model.all("link"):
        if link.get("name") != WORLD:
            continue
        link.attributes["name"] = f"{WORLD}_link"
        for end in (end for joint in model.all("joint") for end in joint.children):
            if end.tag in ("parent", "child") and end.text.strip() == WORLD:
                end.text = f"{WORLD}_link"


# ------------------------------------------------------------------------------------------- bodies
def _bodies(reader: Reader, name: str) -> Iterator[BodySpec]:
    """The body of a link, and one without mass where its joint is not at its origin."""
    link = reader.links[name]
    inertia, own = _inertia(reader, link), reader.frames.of(name, link)
    carrier = reader.carriers.get(name)
    if carrier is None:
        yield _root(reader, name, inertia, reader.pose.then(own))
        return
    parent = end_of(reader, carrier, "parent")
    above = ORIGIN if parent == WORLD else reader.frames.of(parent, carrier)
    place = (reader.pose.then(own) if parent == WORLD else own).seen_from(above)
    joint = joint_of(reader, carrier, own)
    anchor = reader.frames.of(carrier.need("name"), carrier).seen_from(own).position
    if joint.kind != "fixed" and anchor.any():
        yield BodySpec(
            name=f"{name}@{joint.name}",
            parent=parent,
            joint=joint,
            position=place.position + place.rotation @ anchor,
            rotation=place.rotation,
        )
        fixed = Joint("fixed")
        yield BodySpec(
            name=name, parent=f"{name}@{joint.name}", joint=fixed, inertia=inertia, position=-anchor
        )
        return
    yield BodySpec(
        name=name,
        parent=parent,
        joint=joint,
        inertia=inertia,
        position=place.position,
        rotation=place.rotation,
    )


def _root(reader: Reader, name: str, inertia: Inertia | None, place: Pose) -> BodySpec:
    """A link that hangs on nothing: free, or fixed in a static model."""
    static = reader.model.first("static")
    if static is not None and static.text.strip() in ("true", "1"):
        return BodySpec(
            name=name,
            parent=WORLD,
            joint=Joint("fixed"),
            inertia=inertia,
            position=place.position,
            rotation=place.rotation,
        )
    joint = f"{name}_free"
    reader.start[joint] = np.concatenate([place.position, to_quaternion(place.rotation)])
    return BodySpec(name=name, parent=WORLD, joint=Joint("free", name=joint), inertia=inertia)


def _inertia(reader: Reader, link: Element) -> Inertia | None:
    element = link.first("inertial")
    if element is None:
        reader.warnings.add(
            "a link without <inertial> has 1 kg and 1 kg m^2, as the format says",
            f"line {link.line}",
        )
        return Inertia(1.0, np.zeros(3), np.eye(3))
    if element.get("auto") in ("true", "1"):
        reader.warnings.add(
            "an inertia that shapes and densities should give is taken as it stands, 1 kg and "
            "1 kg m^2 where nothing does",
            f"line {element.line}",
        )
    given = number(element, "mass")
    mass = 1.0 if given is None else given
    if not 0.0 <= mass <= MAX_MASS:
        raise element.error(f"a mass of {mass:g} kg is outside [0, {MAX_MASS:g}] kg")
    if mass == 0.0:
        return None
    moments, pose = element.first("inertia"), own_pose(element)
    tensor = np.eye(3)
    if moments is not None:
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            entry = number(moments, f"i{'xyz'[i]}{'xyz'[j]}")
            tensor[i, j] = tensor[j, i] = float(i == j) if entry is None else entry
    tensor = pose.rotation @ tensor @ pose.rotation.T
    try:
        return Inertia(mass, pose.position, tensor)
    except ModelError as error:
        reason = str(error).removeprefix("inertia: ")
        reader.warnings.add(
            "an inertia that no body can have is kept as it is", f"line {element.line}: {reason}"
        )
        return Inertia(mass, pose.position, tensor, checked=False)

"""What a scene has beside its model, as elements of a URDF."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._files import save_bytes
from spatialops.collision.shapes import Box, Capsule, ConvexHull, Cylinder, Geom, Mesh, Sphere
from spatialops.io.description import Notes
from spatialops.io.writing.urdf_tree import origin, words
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.loop import Loop


def add_scene(robot: Element, scene: Scene, path: Path, notes: Notes) -> None:
    """Add collision shapes and mimic joints to <robot> of the model.

    Meshes are written beside the file, as PATH_NAME.obj.
    """
    links = {str(link.get("name")): link for link in robot.iter("link")}
    for geom in scene.geoms:
        if geom.body not in links:
            notes.add("a URDF with a free base has nothing on the world", geom.name)
        else:
            _geom(links[geom.body], geom, path, notes)
    joints = {str(joint.get("name")): joint for joint in robot.iter("joint")}
    for loop in scene.loops.items:
        _loop(joints, loop, notes)
    for what, count in (("actuators", len(scene.actuators)), ("tendons", len(scene.tendons))):
        if count:
            notes.add(f"a URDF has no {what}")


def _geom(link: Element, geom: Geom, path: Path, notes: Notes) -> None:
    shape = geom.shape
    if isinstance(shape, Sphere):
        tag, given = "sphere", {"radius": repr(float(shape.radius))}
    elif isinstance(shape, (Capsule, Cylinder)):
        tag = "capsule" if isinstance(shape, Capsule) else "cylinder"
        given = {"radius": repr(float(shape.radius)), "length": repr(float(shape.length))}
    elif isinstance(shape, Box):
        tag, given = "box", {"size": words(np.array(shape.size))}
    elif isinstance(shape, ConvexHull):
        tag = "mesh"
        given = {"filename": _saved(path, geom.name, shape.vertices, shape.solid.triangles())}
    elif isinstance(shape, Mesh):
        tag, given = "mesh", {"filename": _saved(path, geom.name, shape.vertices, shape.faces)}
    else:
        notes.add(f"a {type(shape).__name__} has no counterpart in URDF", geom.name)
        return
    collision = SubElement(link, "collision", name=geom.name)
    origin(collision, np.asarray(geom.position), geom.turn)
    SubElement(SubElement(collision, "geometry"), tag, given)
    contact = {"lateral_friction": geom.friction, "restitution": geom.restitution}
    own = link.find("contact")
    told = {} if own is None else {part.tag: part.get("value") for part in own}
    if own is None:
        own = SubElement(link, "contact")
        for key, value in contact.items():
            SubElement(own, key, value=repr(float(value)))
    elif told != {key: repr(float(value)) for key, value in contact.items()}:
        notes.add("a URDF has one friction and restitution for all shapes of a link", geom.name)


def _saved(path: Path, name: str, vertices: Array, faces: IntArray) -> str:
    """A mesh in a file of its own; the file's name."""
    lines = [f"v {words(row)}" for row in np.asarray(vertices, dtype=np.float64)]
    lines += ["f " + " ".join(str(int(i) + 1) for i in row) for row in np.asarray(faces)]
    safe = "".join(letter if letter.isalnum() else "_" for letter in name)
    file = path.with_name(f"{path.stem}_{safe}.obj")
    save_bytes(file, ("\n".join(lines) + "\n").encode())
    return file.name


def _loop(joints: dict[str, Element], loop: Loop, notes: Notes) -> None:
    """A coupler of two joints as a mimic; others are told."""
    if loop.kind != "coupler" or len(loop.factors) != 2 or loop.rate is not None:
        notes.add("a URDF has no closures but between two joints", loop.name)
        return
    (first, own), (second, other) = loop.factors.items()
    given = {"multiplier": repr(-other / own), "offset": repr(loop.offset / own)}
    SubElement(joints[first], "mimic", {"joint": second, **given})

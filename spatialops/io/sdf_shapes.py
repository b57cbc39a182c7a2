"""Shapes of SDF's links."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spatialops._arrays import Array
from spatialops.io.description import Color, MeshFile, Notes, ShapeSpec, check_length
from spatialops.io.safe_xml import Element
from spatialops.io.sdf_poses import own_pose
from spatialops.tree.joint import z_to

# Sizes of a kind, as elements of one number each, or of three.
_SIZES = {"sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
_TRIPLES = {"box": "size", "ellipsoid": "radii"}


def link_shapes(link: Element, body: str, left_out: Notes) -> Iterator[ShapeSpec]:
    """Collision shapes of a link, then what is drawn of it."""
    for tag in ("collision", "visual"):
        for i, element in enumerate(link.all(tag)):
            geometry = element.first("geometry")
            if geometry is None or not geometry.children:
                left_out.add(f"a <{tag}> without geometry", f"line {element.line}")
                continue
            made = _shape(geometry.children[0])
            if made is None:
                kind = geometry.children[0].tag[:60]
                left_out.add(f"<{tag}> of kind <{kind}>", f"line {geometry.line}")
                continue
            kind, sizes, mesh, turn = made
            pose = own_pose(element)
            mu, restitution = _surface(element)
            yield ShapeSpec(
                name=f"{body}/{element.get('name') or f'{tag}{i}'}",
                body=body,
                kind=kind,
                sizes=sizes,
                mesh=mesh,
                position=pose.position,
                rotation=pose.rotation @ turn,
                friction=None if mu is None else (mu, 0.0, 0.0),
                restitution=restitution,
                collides=tag == "collision",
                visible=tag == "visual",
                color=_color(element),
            )


def number(owner: Element, *path: str) -> float | None:
    """The number at the end of a path of elements; None where there is none."""
    found: Element | None = owner
    for tag in path:
        found = None if found is None else found.first(tag)
    return None if found is None or not found.text.strip() else found.text_numbers(1)[0]


def needed(owner: Element, tag: str) -> float:
    """A number that must be there."""
    value = number(owner, tag)
    if value is None:
        raise owner.error(f"<{owner.tag}> has no <{tag}>")
    return value


def _shape(element: Element) -> tuple[str, tuple[float, ...], MeshFile | None, Array] | None:
    """Kind, sizes, mesh and a turn of the shape in its own frame; None for unknown kinds."""
    tag = element.tag
    if tag in _SIZES:
        return (
            tag,
            _checked(element, tuple(needed(element, name) for name in _SIZES[tag])),
            None,
            np.eye(3),
        )
    if tag in _TRIPLES:
        given = _child(element, _TRIPLES[tag])
        return tag, _checked(element, given.text_numbers(3)), None, np.eye(3)
    if tag == "plane":
        stated = element.first("normal")
        normal = np.array(np.eye(3)[2] if stated is None else stated.text_numbers(3))
        length = float(np.linalg.norm(normal))
        if not length > 0.0:
            raise element.error("<plane>: the normal has no direction")
        return "half_space", (), None, z_to(normal / length)
    if tag != "mesh":
        return None
    scale = element.first("scale")
    factors = (1.0, 1.0, 1.0) if scale is None else scale.text_numbers(3)
    if 0.0 in factors:
        raise element.error("<mesh>: the scale is zero")
    uri = _child(element, "uri").text.strip()
    mesh = MeshFile(uri=uri, scale=(factors[0], factors[1], factors[2]), line=element.line)
    return "mesh", (), mesh, np.eye(3)


def _child(element: Element, tag: str) -> Element:
    found = element.first(tag)
    if found is None:
        raise element.error(f"<{element.tag}> has no <{tag}>")
    return found


def _checked(element: Element, sizes: tuple[float, ...]) -> tuple[float, ...]:
    if not all(size > 0.0 for size in sizes):
        raise element.error(f"<{element.tag}>: sizes must be positive, got {sizes} m")
    check_length(sizes, f"{element.path}:{element.line}: <{element.tag}>")
    return sizes


def _surface(element: Element) -> tuple[float | None, float]:
    """Friction and restitution."""
    mu = number(element, "surface", "friction", "ode", "mu")
    bounce = number(element, "surface", "bounce", "restitution_coefficient") or 0.0
    return None if mu is None else max(mu, 0.0), min(max(bounce, 0.0), 1.0)


def _color(element: Element) -> Color | None:
    material = element.first("material")
    diffuse = None if material is None else material.first("diffuse")
    if diffuse is None:
        return None
    words = diffuse.text_numbers(len(diffuse.text.split()))
    red, green, blue = (min(max(x, 0.0), 1.0) for x in (*words, 0.0, 0.0, 0.0)[:3])
    return red, green, blue

"""A model as the elements of a MJCF file."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.rotation import to_quaternion
from spatialops.errors import ModelError
from spatialops.io.description import Notes
from spatialops.io.writing.principal_moments import principal_moments
from spatialops.io.writing.urdf_tree import words
from spatialops.tree.builder import WORLD
from spatialops.tree.described import Described, described
from spatialops.tree.model import Model

_KINDS = {"revolute": "hinge", "prismatic": "slide", "ball": "ball", "free": "free"}
_WXYZ = [3, 0, 1, 2]
_THIN = 1e-9  # rad, m, N m or N: MuJoCo takes a range of no width for none
_BEYOND = 1e30  # a limit that is none, where only the other is
_SAME = 1e-12  # of centres of mass
_COMPILER = {
    "angle": "radian",
    "autolimits": "true",
    "inertiafromgeom": "false",
    "boundmass": "0",
    "boundinertia": "0",
}


def mjcf_tree(model: Model, name: str, notes: Notes) -> Element:
    """<mujoco> of a model; `notes` tells what it cannot say."""
    root = Element("mujoco", model=name)
    SubElement(root, "compiler", _COMPILER)
    SubElement(root, "option", gravity=words(np.asarray(model.gravity)))
    world = SubElement(root, "worldbody")
    made: list[Element] = []
    for i, body in enumerate(described(model)):
        above = world if body.parent < 0 else made[body.parent]
        made.append(_body(above, model, body, _share(model, i, body, notes)))
    kept = {WORLD, *model.body_names}
    for frame_name, frame in model.frames.items():
        if frame_name in kept:
            continue
        above = world if frame.body < 0 else made[frame.body]
        SubElement(above, "body", _pose(frame_name, frame.position, frame.rotation))
    if np.isfinite(model.velocity_limit).any():
        notes.add("a MJCF file has no limits of velocity")
    return root


def _body(above: Element, model: Model, body: Described, compensation: float) -> Element:
    given = _pose(body.name, body.position, body.rotation)
    if compensation:
        given["gravcomp"] = repr(compensation)
    element = SubElement(above, "body", given)
    if body.inertia is not None:
        _inertial(element, body)
    _joint(element, model, body)
    return element


def _share(model: Model, i: int, body: Described, notes: Notes) -> float:
    """The part of a body's weight that is borne."""
    mass = float(model.compensation[i, 0])
    if not mass or body.inertia is None:
        return 0.0
    borne = model.turns[model.body_links[i]] @ model.compensation[i, 1:]
    if not np.allclose(borne, body.inertia.center, rtol=_SAME, atol=_SAME):
        notes.add("gravity of parts of a body is compensated as if of all of it", body.name)
    return mass / body.inertia.mass


def _pose(name: str, position: Array, rotation: Array) -> dict[str, str]:
    return {"name": name, "pos": words(position), "quat": words(to_quaternion(rotation)[_WXYZ])}


def _inertial(element: Element, body: Described) -> None:
    found = principal_moments(body)
    place = {"pos": words(found.center), "quat": words(found.axes)}
    weight = {"mass": repr(found.mass), "diaginertia": words(found.moments)}
    SubElement(element, "inertial", {**place, **weight})


def _joint(element: Element, model: Model, body: Described) -> None:
    if body.kind not in _KINDS:
        raise ModelError(f"joint {body.joint!r}: a {body.kind} joint has no counterpart in MJCF")
    where = model.v_slice(body.joint)
    given = {"name": body.joint, "type": _KINDS[body.kind]}
    for key, values in (
        ("armature", body.armature),
        ("damping", model.damping[where]),
        ("frictionloss", model.dry_friction[where]),
    ):
        if np.ptp(values) > 0.0:
            raise ModelError(f"joint {body.joint!r}: MJCF has one {key} for all its axes")
        if values[0]:
            given[key] = repr(float(values[0]))
    if body.kind in ("revolute", "prismatic"):
        given |= _of_one_axis(model, body, where.start)
    SubElement(element, "joint", given)


def _of_one_axis(model: Model, body: Described, at: int) -> dict[str, str]:
    """Axis, range, spring and effort of a hinge or slide."""
    given = {"axis": words(body.axis)}
    stop = np.array([model.lower[at], model.upper[at]])
    if stop[0] == stop[1]:
        stop += [-_THIN, _THIN]
    if np.isfinite(stop).any():
        given["range"] = words(np.clip(stop, -_BEYOND, _BEYOND))
    if model.stiffness[at]:
        given["stiffness"] = repr(float(model.stiffness[at]))
        given["springref"] = repr(float(model.reference[at]))
    if np.isfinite(model.effort_limit[at]):
        effort = max(float(model.effort_limit[at]), _THIN)
        given["actuatorfrcrange"] = words(np.array([-effort, effort]))
    return given

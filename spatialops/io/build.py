"""From a description to a model, in which everything has something to move."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array, Vec3
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.errors import ArgumentError, AssetWarning, ModelError
from spatialops.io.description import BodySpec, Description
from spatialops.io.file_errors import naming_file
from spatialops.io.read import read
from spatialops.tree.builder import WORLD, TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model

# What a joint gets that carries no inertia, so that its motion is determined: kg m^2 or kg.
MASSLESS_ARMATURE = 1e-6

_CHECKED_DOFS = 300  # the test of the assembled mechanism is cubic
# Pivots of the mass matrix that are rounding: parts of the largest diagonal, and of their own.
_NOTHING = 1e-14
_LOST = 1e-13


def load_model(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Model:
    """Read a robot from a URDF (.urdf), SDF (.sdf) or MJCF (.xml, .mjcf) file.

    Parameters
    ----------
    path : path-like
        The file; what it is, its suffix says.
    floating_base : bool
        Give the root link of a URDF a free joint to the world, named "root_joint"; default: False.
        Others say themselves what is free.
    packages : mapping of str to path, optional
        Folders of the packages that `package://` names; see docs/import.md for where else they are
        looked for.

    Returns
    -------
    Model
        Links that are fixed to others are merged; their names stay in `model.frames`.
        `model.warnings` lists what was repaired or could not be taken over. Closures (mimic joints,
        equality constraints) come with `load_scene` or `build(read(path))`.

    Raises
    ------
    AssetError
        For a file that is missing, damaged, or says what cannot be; with its line.
    ModelError
        For a file in which nothing moves.

    Warns
    -----
    AssetWarning
        With everything that `model.warnings` lists.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spatialops as so
    >>> text = '''
    ... <robot name="arm">
    ...   <link name="base"/>
    ...   <link name="rod">
    ...     <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    ...   </link>
    ...   <joint name="hinge" type="continuous">
    ...     <parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    ...   </joint>
    ... </robot>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "arm.urdf")
    ...     _ = path.write_text(text)
    ...     model = so.load_model(path)
    >>> model.joint_names, model.mass
    (('hinge',), 2.0)
    """
    description = read(path, packages=packages)
    return tell(build(description, floating_base=floating_base), description)


def tell(model: Model, description: Description) -> Model:
    """Issue a Python warning of what `model.warnings` lists."""
    if model.warnings:
        warnings.warn(
            AssetWarning(f"{description.path}: " + "; ".join(model.warnings)), stacklevel=3
        )
    return model


@naming_file
def build(description: Description, *, floating_base: bool = False) -> Model:
    """The model of a description.

    Parameters
    ----------
    description : Description
        What `read` returned.
    floating_base : bool
        Give the root link of a URDF a free joint to the world; default: False.

    Returns
    -------
    Model
        With `warnings` of what was repaired.

    Raises
    ------
    ModelError
        If nothing moves, or the bodies do not fit together.
    """
    bodies, notes = list(description.bodies), list(description.warnings)
    if floating_base:
        bodies = _freed(description)
    _refuse_still(description, bodies)
    bodies = _movable(bodies, notes)
    model = _assembled(bodies, description.gravity)
    if model.nv <= _CHECKED_DOFS and (idle := _idle_joints(model)):
        notes.append(_armature_note(idle))
        bodies = [
            _with_armature(body) if (body.joint.name or body.name) in idle else body
            for body in bodies
        ]
        model = _assembled(bodies, description.gravity)
    object.__setattr__(model, "warnings", tuple(notes))
    return model


def _refuse_still(description: Description, bodies: list[BodySpec]) -> None:
    if any(body.joint.kind != "fixed" for body in bodies):
        return
    free = "; floating_base=True lets it move freely" if len(_roots(description)) == 1 else ""
    raise ModelError(f"no moving body: all are fixed to the world{free}")


def _roots(description: Description) -> list[BodySpec]:
    return [body for body in description.bodies if body.parent == WORLD]


def _assembled(bodies: list[BodySpec], gravity: Vec3) -> Model:
    builder = TreeBuilder(gravity)
    for body in bodies:
        builder.add_body(
            body.name,
            parent=body.parent,
            joint=body.joint,
            inertia=body.inertia,
            position=body.position,
            rotation=body.rotation,
            gravity_compensation=body.gravity_compensation,
        )
    return builder.build()


def _freed(description: Description) -> list[BodySpec]:
    roots = _roots(description)
    if len(roots) != 1 or roots[0].joint.kind != "fixed":
        raise ArgumentError(
            f"floating_base: {description.path} has {len(roots)} bodies on the world or says "
            "itself how they move; "
            "only the one fixed root of a URDF can be set free"
        )
    taken = {body.joint.name for body in description.bodies}
    name = "root_joint"
    while name in taken:
        name += "_"
    root = replace(
        roots[0], joint=Joint("free", name=name), position=(0.0, 0.0, 0.0), rotation=np.eye(3)
    )
    return [root if body is roots[0] else body for body in description.bodies]


def _movable(bodies: list[BodySpec], notes: list[str]) -> list[BodySpec]:
    """Give joints that carry no mass a little armature: nothing moves them, or feels them."""
    heavy: set[str] = set()
    for body in reversed(bodies):
        if body.inertia is not None:
            heavy.add(body.name)
        if body.name in heavy and body.joint.kind != "free":
            heavy.add(body.parent)
    idle = [body for body in bodies if body.joint.kind != "fixed" and body.name not in heavy]
    if not idle:
        return bodies
    notes.append(_armature_note([body.joint.name or body.name for body in idle]))
    names = {body.name for body in idle}
    return [_with_armature(body) if body.name in names else body for body in bodies]


def _with_armature(body: BodySpec) -> BodySpec:
    armature = np.maximum(body.joint.values("armature"), MASSLESS_ARMATURE)
    return replace(body, joint=replace(body.joint, armature=armature))


def _armature_note(joints: list[str]) -> str:
    named = ", ".join(map(repr, joints[:4])) + (
        f" and {len(joints) - 4} more" if len(joints) > 4 else ""
    )
    armature = f"{MASSLESS_ARMATURE:g} kg m^2 (kg)"
    return f"joints without inertia to move get an armature of {armature}: {named}"


def _idle_joints(model: Model) -> list[str]:
    """Joints whose articulated inertia is nothing beside the rest, by M = L^T D L."""
    mass: Array = mass_matrix(model, model.neutral())
    size, idle = np.diag(mass).copy(), []
    largest = float(size.max())
    for k in range(model.nv - 1, -1, -1):
        pivot = mass[k, k]
        if not pivot > _NOTHING * largest + _LOST * size[k]:
            idle.append(model.joint_of_link(k))
            mass[k, k] = pivot = MASSLESS_ARMATURE
        mass[:k, :k] -= np.outer(mass[:k, k], mass[k, :k]) / pivot
    return sorted(set(idle), key=model.joint_names.index)

"""Models, states and forces of Pinocchio, both ways: `pip install spatialops[bench]` brings it.

Pinocchio's spatial vectors are [linear; angular], its free joints' coordinates ours; planar joints
and unbounded revolutes keep a cosine and a sine where we have an angle.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array, ArrayLike, array
from spatialops.algebra.inertia import Inertia
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import MissingLibraryError, ModelError
from spatialops.interop.conversion import Conversion, JointMap, width
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint, JointKind
from spatialops.tree.model import Model

try:
    import pinocchio as pin
except ImportError as error:
    raise MissingLibraryError(
        "spatialops.interop.pinocchio: pinocchio is not installed: pip install spatialops[bench]"
    ) from error

Theirs: TypeAlias = Any  # Pinocchio has no types of its own.

__all__ = ["from_pinocchio", "to_pinocchio", "wrenches_from_pinocchio", "wrenches_to_pinocchio"]

_SWAP = np.roll(np.eye(6), 3, axis=0)  # [linear; angular] <-> [angular; linear]
_SWAPPED = [3, 4, 5, 0, 1, 2]
_UNLIKE = ("Mimic", "Composite", "SphericalZYX", "Translation", "Universal", "Ellipsoid")


def from_pinocchio(theirs: pin.Model) -> Conversion:
    """Our model of a `pinocchio.Model`, and the maps between their numbers.

    Parameters
    ----------
    theirs : pinocchio.Model
        Of revolute, prismatic, helical, spherical, planar and free joints.

    Returns
    -------
    Conversion
        Bodies and joints have the names of their joints.

    Raises
    ------
    ModelError
        For a joint that has no counterpart here.

    Examples
    --------
    >>> import pinocchio, numpy as np, spatialops as so
    >>> theirs = pinocchio.buildSampleModelManipulator()
    >>> ours = so.interop.pinocchio.from_pinocchio(theirs)
    >>> q = pinocchio.randomConfiguration(theirs)
    >>> M = pinocchio.crba(theirs, theirs.createData(), q)
    >>> bool(np.allclose(so.mass_matrix(ours.model, ours.q_from(q)), M))
    True
    """
    builder = TreeBuilder(gravity=theirs.gravity.linear)
    maps: list[JointMap] = []
    at_q = at_v = 0
    names = ["world", *list(theirs.names)[1:]]
    for i in range(1, theirs.njoints):
        joint = theirs.joints[i]
        inertia = theirs.inertias[i]
        place = theirs.jointPlacements[i]
        own, more = _joint(joint, names[i], theirs)
        if inertia.mass == 0.0 and inertia.inertia.any():
            raise ModelError(f"body {names[i]!r}: moments without mass")
        builder.add_body(
            names[i],
            parent=names[theirs.parents[i]],
            joint=own,
            inertia=Inertia(inertia.mass, inertia.lever, inertia.inertia, checked=False)
            if inertia.mass > 0.0
            else None,
            position=place.translation,
            rotation=place.rotation,
        )
        where = (width(at_q, own.nq), width(at_v, own.nv))
        there = (width(joint.idx_q, joint.nq), width(joint.idx_v, joint.nv))
        maps.append(JointMap(*where, *there, **more))
        at_q += own.nq
        at_v += own.nv
    bodies = {name: i for i, name in enumerate(names) if i}
    return Conversion(builder.build(), tuple(maps), bodies)


def to_pinocchio(model: Model) -> tuple[pin.Model, Conversion]:
    """A `pinocchio.Model` of ours, and the maps between their numbers.

    Parameters
    ----------
    model : Model
        Of revolute, prismatic, ball and free joints, and screws.

    Returns
    -------
    theirs : pinocchio.Model
        Joints in our order, with our names.
    conversion : Conversion
        Of `model`.

    Raises
    ------
    ModelError
        For a cylindrical, universal or planar joint.
    """
    from spatialops.tree.described import described

    theirs = pin.Model()
    theirs.gravity = pin.Motion(model.gravity, np.zeros(3))
    indices = [0]
    maps: list[JointMap] = []
    for body in described(model):
        joint = _their_joint(body.kind, body.axis, body.pitch, body.joint)
        place = pin.SE3(body.rotation, body.position)
        index = theirs.addJoint(indices[body.parent + 1], joint, place, body.joint)
        if body.inertia is not None:
            theirs.appendBodyToJoint(index, _their_inertia(body.inertia), pin.SE3.Identity())
        indices.append(index)
        made = theirs.joints[index]
        own_q, own_v = model.q_slice(body.joint), model.v_slice(body.joint)
        free = body.kind == "free"
        armature = body.armature[_SWAPPED] if free else body.armature
        there = width(made.idx_v, made.nv)
        theirs.armature[there] = armature
        maps.append(
            JointMap(
                own_q,
                own_v,
                width(made.idx_q, made.nq),
                there,
                rates=_swap if free else None,
            )
        )
    bodies = {name: indices[i + 1] for i, name in enumerate(model.body_names)}
    return theirs, Conversion(model, tuple(maps), bodies)


def wrenches_to_pinocchio(
    conversion: Conversion, q: ArrayLike, external: ArrayLike
) -> list[Theirs]:
    """Wrenches on bodies as Pinocchio takes them: `pinocchio.Force` of every joint, local frames.

    Parameters
    ----------
    conversion : Conversion
        Of the mechanism.
    q : (nq,) array_like
        Our coordinates.
    external : (n_bodies, 6) array_like
        [moment (N m); force (N)] on each body at its origin, in world axes.

    Returns
    -------
    list of pinocchio.Force
        One a joint, the first (the universe's) zero.
    """
    model = conversion.model
    given = array(external, (model.n_bodies, 6), "external")
    found = [pin.Force.Zero() for _ in range(len(conversion.bodies) + 1)]
    for name, turn, wrench in zip(model.body_names, body_poses(model, q).rotations, given):
        found[conversion.bodies[name]] = pin.Force(turn.T @ wrench[3:], turn.T @ wrench[:3])
    return found


def wrenches_from_pinocchio(conversion: Conversion, q: ArrayLike, forces: Theirs) -> Array:
    """Inverse of `wrenches_to_pinocchio`: (n_bodies, 6)."""
    model = conversion.model
    poses = body_poses(model, q)
    found = np.zeros((model.n_bodies, 6))
    for wrench, turn, name in zip(found, poses.rotations, model.body_names):
        force = forces[conversion.bodies[name]]
        wrench[:3] = turn @ force.angular
        wrench[3:] = turn @ force.linear
    return found


def _their_inertia(own: Inertia) -> Theirs:
    """By its ten parameters: Pinocchio takes those that no body can have, as files have them."""
    m, c = own.mass, own.center
    about = own.tensor + m * (c @ c * np.eye(3) - np.outer(c, c))
    xx, xy, xz, yy, yz, zz = about[np.triu_indices(3)]
    return pin.Inertia.FromDynamicParameters(np.array([m, *(m * c), xx, xy, yy, xz, yz, zz]))


def _swap(q: Array) -> Array:
    return _SWAP


def _their_joint(kind: str, axis: Array, pitch: float, name: str) -> Theirs:
    if kind == "revolute":
        return pin.JointModelRevoluteUnaligned(axis)
    if kind == "prismatic":
        return pin.JointModelPrismaticUnaligned(axis)
    if kind == "screw":
        return pin.JointModelHelicalUnaligned(axis, pitch)
    if kind == "ball":
        return pin.JointModelSpherical()
    if kind == "free":
        return pin.JointModelFreeFlyer()
    raise ModelError(f"joint {name!r}: a {kind} joint has no counterpart in Pinocchio")


def _joint(joint: Theirs, name: str, theirs: Theirs) -> tuple[Joint, dict[str, Theirs]]:
    """Our joint, and the maps of its numbers where they are not the identity."""
    kind, own = joint.shortname().removeprefix("JointModel"), joint.extract()
    armature = np.array(theirs.armature[joint.idx_v : joint.idx_v + joint.nv])
    if kind == "FreeFlyer":
        return Joint("free", name=name, armature=armature[_SWAPPED]), {"rates": _swap}
    if kind == "Spherical":
        return Joint("ball", name=name, armature=armature), {}
    if kind == "Planar":
        if armature.any():
            raise ModelError(f"joint {name!r}: a planar joint with armature along moving axes")
        return Joint("planar", axis="z", second_axis="x", name=name), {
            "coordinates": lambda q: np.array([q[0], q[1], np.arctan2(q[3], q[2])]),
            "their_coordinates": lambda q: np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])]),
            "rates": _planar_rates,
            "drift": _planar_drift,
        }
    if kind.startswith(_UNLIKE) or kind[0] not in "RPH":
        raise ModelError(f"joint {name!r}: Pinocchio's {kind} has no counterpart here")
    axis = _axis(joint, theirs)
    if kind.startswith(("RUB", "RevoluteUnbounded")):
        return Joint("revolute", axis=axis, name=name, armature=armature), {
            "coordinates": lambda q: np.arctan2(q[1:], q[:1]),
            "their_coordinates": lambda q: np.concatenate([np.cos(q), np.sin(q)]),
        }
    if kind[0] == "H":
        pitch = float(own.pitch)
        return Joint("screw", axis=axis, pitch=pitch, name=name, armature=armature), {}
    ours: JointKind = "revolute" if kind[0] == "R" else "prismatic"
    return Joint(ours, axis=axis, name=name, armature=armature), {}


def _axis(joint: Theirs, theirs: Theirs) -> Array:
    """The axis of a joint of one dof, of its motion: not all kinds of theirs tell it themselves."""
    data = joint.createData()
    joint.calc(data, pin.neutral(theirs))
    linear, angular = np.reshape(data.S, (2, 3))
    return np.asarray(angular if angular.any() else linear)


def _planar_rates(q: Array) -> Array:
    c, s = q[2], q[3]
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _planar_drift(q: Array, v: Array) -> Array:
    x, y, w = v
    c, s = q[2], q[3]
    return w * np.array([-s * x - c * y, c * x - s * y, 0.0])

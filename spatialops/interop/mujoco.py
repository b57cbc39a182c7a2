"""Models, states and forces of MuJoCo, both ways: `pip install spatialops[mjcf]` brings it.

MuJoCo's quaternions are (w, x, y, z); velocities of its free joints are [linear in world axes;
angular in body axes]. Only mechanics go over: bodies, joints, armature and gravity.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, instance
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import from_quaternion, to_quaternion
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import MissingLibraryError, ModelError
from spatialops.interop.conversion import Conversion, JointMap, width
from spatialops.io.writing.principal_moments import principal_moments
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.described import Described, described
from spatialops.tree.free_frames import FreeFrame
from spatialops.tree.joint import KINDS, Joint, JointKind
from spatialops.tree.model import Model

try:
    import mujoco
except ImportError as error:
    raise MissingLibraryError(
        "spatialops.interop.mujoco: mujoco is not installed: pip install spatialops[mjcf]"
    ) from error

Theirs: TypeAlias = Any  # MuJoCo has few types of its own.

__all__ = ["from_mujoco", "to_mujoco", "wrenches_from_mujoco", "wrenches_to_mujoco"]

_XYZW = [1, 2, 3, 0]  # where x, y, z, w stand in (w, x, y, z)
_WXYZ = [3, 0, 1, 2]
_POSE_XYZW = [0, 1, 2, 4, 5, 6, 3]  # of a position and a quaternion
_POSE_WXYZ = [0, 1, 2, 6, 3, 4, 5]
_SWAPPED = [3, 4, 5, 0, 1, 2]
_HOME = FreeFrame(np.zeros(3), np.eye(3))


def from_mujoco(theirs: mujoco.MjModel) -> Conversion:
    """Our model of a `mujoco.MjModel`, and the maps between their numbers.

    Each joint carries a body of its own, without mass, at the joint's anchor; MuJoCo's body is
    fixed to the last.

    Parameters
    ----------
    theirs : mujoco.MjModel
        Its geoms, constraints, actuators, damping and springs do not go over.

    Returns
    -------
    Conversion
        Bodies are named as there, "body3" where they have no name.

    Raises
    ------
    ModelError
        For a free joint whose armature differs along the world's axes.

    Examples
    --------
    >>> import mujoco, numpy as np, spatialops as so
    >>> rod = '<body><joint axis="0 1 0"/><geom type="capsule" size="0.1 1"/></body>'
    >>> theirs = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{rod}</worldbody></mujoco>")
    >>> ours = so.interop.mujoco.from_mujoco(theirs)
    >>> data = mujoco.MjData(theirs)
    >>> data.qpos[:] = 0.3
    >>> mujoco.mj_forward(theirs, data)
    >>> q, v = ours.q_from(data.qpos), ours.v_from(data.qpos, data.qvel)
    >>> bool(np.allclose(so.bias(ours.model, q, v), data.qfrc_bias))
    True
    """
    instance(theirs, mujoco.MjModel, "model")
    still = theirs.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    builder = TreeBuilder(gravity=np.zeros(3) if still else theirs.opt.gravity)
    names = [_name_of(theirs, i) for i in range(theirs.nbody)]
    maps: list[JointMap] = []
    at_q = at_v = 0
    for i in range(1, theirs.nbody):
        parent, position = names[theirs.body_parentid[i]], theirs.body_pos[i]
        rotation: Array | None = _turn(theirs.body_quat[i])
        first = theirs.body_jntadr[i]
        for j in range(first, first + theirs.body_jntnum[i]):
            joint, more = _joint(theirs, j)
            anchor = theirs.jnt_pos[j]
            if joint.kind == "free":  # its coordinates are the body's pose in the world
                parent = "world"
                position = np.zeros(3)
                rotation = None
                anchor = np.zeros(3)
            turn = np.eye(3) if rotation is None else rotation
            carrier = f"{names[i]} on joint {j}"
            builder.add_body(
                carrier,
                parent=parent,
                joint=joint,
                position=position + turn @ anchor,
                rotation=rotation,
            )
            parent = carrier
            position = -anchor
            rotation = None
            there = {"free": 7, "ball": 4}.get(joint.kind, 1)
            where = (width(at_q, joint.nq), width(at_v, joint.nv))
            their = (width(theirs.jnt_qposadr[j], there), width(theirs.jnt_dofadr[j], joint.nv))
            maps.append(JointMap(*where, *their, **more))
            at_q += joint.nq
            at_v += joint.nv
        builder.add_body(
            names[i],
            parent=parent,
            inertia=_inertia(theirs, i),
            position=position,
            rotation=rotation,
        )
    bodies = {name: i for i, name in enumerate(names) if i}
    return Conversion(builder.build(), tuple(maps), bodies)


def to_mujoco(model: Model) -> tuple[mujoco.MjModel, Conversion]:
    """A `mujoco.MjModel` of ours, and the maps between their numbers.

    Parameters
    ----------
    model : Model
        Of revolute, prismatic, ball and free joints. Bodies without mass get 1e-15 kg and
        1e-15 kg m^2, the least that MuJoCo takes.

    Returns
    -------
    theirs : mujoco.MjModel
        Without geoms, damping and limits.
    conversion : Conversion
        Of `model`.

    Raises
    ------
    ModelError
        For other joints, and for bodies that MuJoCo's compiler does not take.
    """
    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity
    made: list[Theirs] = []
    for body in described(model):
        above = spec.worldbody if body.parent < 0 else made[body.parent]
        made.append(_add_body(above, body))
    try:
        theirs = spec.compile()
    except ValueError as error:
        raise ModelError(f"MuJoCo does not take this model: {error}") from None
    maps = []
    for name, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        j = mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_JOINT, name)
        own_q, own_v = model.q_slice(name), model.v_slice(name)
        nq, nv = KINDS[kind]
        there = (width(theirs.jnt_qposadr[j], nq), width(theirs.jnt_dofadr[j], nv))
        frame = FreeFrame.of(model, name) if kind == "free" else _HOME
        maps.append(JointMap(own_q, own_v, *there, **_maps(kind, 0.0, frame)))
    bodies = {
        name: mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_BODY, name) for name in model.body_names
    }
    return theirs, Conversion(model, tuple(maps), bodies)


def wrenches_to_mujoco(conversion: Conversion, q: ArrayLike, external: ArrayLike) -> Array:
    """Wrenches on bodies as `mujoco.MjData.xfrc_applied` has them, of models by `to_mujoco`.

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
    (nbody, 6) array
        [force; torque] at the bodies' centres of mass, in world axes.
    """
    model = conversion.model
    given = array(external, (model.n_bodies, 6), "external")
    found = np.zeros((max(conversion.bodies.values()) + 1, 6))
    for name, lever, wrench in zip(model.body_names, _centers(model, q), given):
        row = found[conversion.bodies[name]]
        row[:3] = wrench[3:]
        row[3:] = wrench[:3] - np.cross(lever, wrench[3:])
    return found


def wrenches_from_mujoco(conversion: Conversion, q: ArrayLike, applied: ArrayLike) -> Array:
    """Inverse of `wrenches_to_mujoco`: (n_bodies, 6)."""
    model = conversion.model
    given = array(applied, (None, 6), "applied")
    found = np.zeros((model.n_bodies, 6))
    for name, lever, wrench in zip(model.body_names, _centers(model, q), found):
        row = given[conversion.bodies[name]]
        wrench[3:] = row[:3]
        wrench[:3] = row[3:] + np.cross(lever, row[:3])
    return found


def _centers(model: Model, q: ArrayLike) -> list[Array]:
    """From every body's origin to its centre of mass, world axes, m."""
    turns = body_poses(model, q).rotations
    centers = [
        np.zeros(3) if one.inertia is None else one.inertia.center for one in described(model)
    ]
    return [turn @ center for turn, center in zip(turns, centers, strict=True)]


def _add_body(above: Theirs, body: Described) -> Theirs:
    made = above.add_body(
        name=body.name, pos=body.position, quat=to_quaternion(body.rotation)[_WXYZ]
    )
    made.explicitinertial = True
    made.mass, made.ipos, made.inertia, made.iquat = principal_moments(body)
    kinds = mujoco.mjtJoint
    there = {
        "revolute": kinds.mjJNT_HINGE,
        "prismatic": kinds.mjJNT_SLIDE,
        "ball": kinds.mjJNT_BALL,
        "free": kinds.mjJNT_FREE,
    }
    if body.kind not in there:
        raise ModelError(f"joint {body.joint!r}: a {body.kind} joint has no counterpart in MuJoCo")
    if np.ptp(body.armature) > 0.0:
        raise ModelError(f"joint {body.joint!r}: MuJoCo has one armature for all its axes")
    made.add_joint(
        name=body.joint, type=there[body.kind], axis=body.axis, armature=body.armature[0]
    )
    return made


def _name_of(theirs: Theirs, i: int) -> str:
    if i == 0:
        return "world"
    return mujoco.mj_id2name(theirs, mujoco.mjtObj.mjOBJ_BODY, i) or f"body{i}"


def _inertia(theirs: Theirs, i: int) -> Inertia | None:
    if theirs.body_mass[i] <= 0.0:
        return None
    own = Inertia(theirs.body_mass[i], tensor=np.diag(theirs.body_inertia[i]))
    return own.rotated(_turn(theirs.body_iquat[i])).shifted(theirs.body_ipos[i])


def _joint(theirs: Theirs, j: int) -> tuple[Joint, dict[str, Theirs]]:
    """Our joint, and the maps of its numbers where they are not the identity."""
    kind, dof = theirs.jnt_type[j], theirs.dof_armature[theirs.jnt_dofadr[j] :]
    zero = float(theirs.qpos0[theirs.jnt_qposadr[j]])
    if kind == mujoco.mjtJoint.mjJNT_FREE:
        if np.ptp(dof[:3]) > 0.0:
            raise ModelError("a free joint with different armature along the world's axes")
        return Joint("free", armature=dof[:6][_SWAPPED]), _maps("free", zero)
    if kind == mujoco.mjtJoint.mjJNT_BALL:
        return Joint("ball", armature=dof[:3]), _maps("ball", zero)
    ours: JointKind = "revolute" if kind == mujoco.mjtJoint.mjJNT_HINGE else "prismatic"
    return Joint(ours, axis=theirs.jnt_axis[j], armature=dof[0]), _maps(ours, zero)


def _maps(kind: str, zero: float, frame: FreeFrame = _HOME) -> dict[str, Theirs]:
    """Maps of a kind of joint whose coordinate there is `zero` where ours is 0.

    Coordinates of a free joint there are the body's pose in the world; ours are in its `frame`.
    """
    if kind == "free":
        return {
            "coordinates": lambda q: frame.coordinates(q[_POSE_XYZW]),
            "their_coordinates": lambda q: frame.in_world(q)[_POSE_WXYZ],
            "rates": _free_rates,
            "drift": _free_drift,
        }
    if kind == "ball":
        return {"coordinates": lambda q: q[_XYZW], "their_coordinates": lambda q: q[_WXYZ]}
    if zero == 0.0:
        return {}
    return {"coordinates": lambda q: q - zero, "their_coordinates": lambda q: q + zero}


def _turn(quaternion: Array) -> Array:
    return from_quaternion(np.asarray(quaternion)[_XYZW])


def _free_rates(q: Array) -> Array:
    """From [linear in world axes; angular in body axes] to [angular; linear], both in body axes."""
    return np.block([[np.zeros((3, 3)), np.eye(3)], [_turn(q[3:]).T, np.zeros((3, 3))]])


def _free_drift(q: Array, v: Array) -> Array:
    return np.concatenate([np.zeros(3), -np.cross(v[3:], _turn(q[3:]).T @ v[:3])])

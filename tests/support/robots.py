"""Mechanisms of Pinocchio and MuJoCo for `TreeBuilder`, with maps between conventions.

A `Twin` is our model of one of theirs. Coordinates go over by `coordinates(q)`; velocities by `v =
rates(q) @ theirs`, so that forces go back by the transpose, and accelerations by `a = rates(q) @
theirs + drift(q, theirs)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import spatialops as so
from spatialops.algebra.rotation import from_quaternion


class Unsupported(Exception):
    """A mechanism with something that has no counterpart here."""


@dataclass
class Part:
    """How one joint's numbers go over: where they lie on both sides, and three maps."""

    q: slice
    v: slice
    their_q: slice
    their_v: slice
    coordinates: Callable[[Any], Any] = lambda q: q
    rates: Callable[[Any], Any] | None = None
    drift: Callable[[Any, Any], Any] | None = None


@dataclass
class Twin:
    """Our model of a mechanism of another library."""

    model: so.Model
    parts: list[Part] = field(default_factory=list)

    def coordinates(self, q):
        """Our coordinates of theirs."""
        result = np.empty(self.model.nq)
        for part in self.parts:
            result[part.q] = part.coordinates(q[part.their_q])
        return result

    def rates(self, q):
        """The matrix from their velocities to ours."""
        result = np.zeros((self.model.nv, self.model.nv))
        for part in self.parts:
            width = part.v.stop - part.v.start
            result[part.v, part.their_v] = (
                np.eye(width) if part.rates is None else part.rates(q[part.their_q])
            )
        return result

    def drift(self, q, v):
        """What is left of our accelerations where theirs are zero: the rate of `rates`, times v."""
        result = np.zeros(self.model.nv)
        for part in self.parts:
            if part.drift is not None:
                result[part.v] = part.drift(q[part.their_q], v[part.their_v])
        return result


def _width(start, n):
    return slice(int(start), int(start) + n)


# ---------------------------------------------------------------------------------------- Pinocchio
_SWAP = np.block(
    [[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]]
)  # [linear; angular] <-> ours


def _planar_rates(q):
    c, s = q[2], q[3]
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _planar_drift(q, v):
    (x, y, w) = v
    c = q[2]
    s = q[3]
    return w * np.array([-s * x - c * y, c * x - s * y, 0.0])


def _pinocchio_axis(joint, theirs):
    """Where the joint moves along or about: its unit velocity, [linear; angular]."""
    import pinocchio

    data = joint.createData()
    joint.calc(data, pinocchio.neutral(theirs))
    unit = np.reshape(data.S, 6)
    return unit[3:] if unit[3:].any() else unit[:3]


def _pinocchio_joint(joint, name, armature, theirs):
    """Our joint, and the maps of its `Part` where they are not the identity."""
    kind, own = joint.shortname().removeprefix("JointModel"), joint.extract()
    axis = _pinocchio_axis(joint, theirs) if joint.nv == 1 else None
    if kind == "FreeFlyer":
        return so.Joint("free", name=name, armature=armature[[3, 4, 5, 0, 1, 2]]), {
            "rates": lambda q: _SWAP
        }
    if kind == "Spherical":
        return so.Joint("ball", name=name, armature=armature), {}
    if kind == "Planar":
        if armature.any():
            raise Unsupported("a planar joint with armature along moving axes")
        maps: dict[str, Any] = {
            "coordinates": lambda q: np.array([q[0], q[1], np.arctan2(q[3], q[2])]),
            "rates": _planar_rates,
            "drift": _planar_drift,
        }
        return so.Joint("planar", axis="z", second_axis="x", name=name), maps
    if kind.startswith(("RUB", "RevoluteUnbounded")):
        unbounded = {"coordinates": lambda q: np.arctan2(q[1], q[0])}
        return so.Joint("revolute", axis=axis, name=name, armature=armature), unbounded
    if kind.startswith(
        ("Mimic", "Composite", "SphericalZYX", "Translation", "Universal", "Ellipsoid")
    ):
        raise Unsupported(f"joint {name!r} of kind {kind}")
    if kind[0] in "RP":
        return so.Joint(
            "revolute" if kind[0] == "R" else "prismatic", axis=axis, name=name, armature=armature
        ), {}
    if kind[0] == "H":
        return so.Joint(
            "screw", axis=axis, pitch=float(own.pitch), name=name, armature=armature
        ), {}
    raise Unsupported(f"joint {name!r} of kind {kind}")


def from_pinocchio(theirs):
    """Twin of a `pinocchio.Model`; bodies have the names of the joints that carry them."""
    builder = so.TreeBuilder(gravity=theirs.gravity.linear)
    parts = []
    at_q = 0
    at_v = 0
    names = ["world", *list(theirs.names)[1:]]
    for i in range(1, theirs.njoints):
        joint = theirs.joints[i]
        inertia = theirs.inertias[i]
        place = theirs.jointPlacements[i]
        own, maps = _pinocchio_joint(
            joint,
            names[i],
            np.array(theirs.armature[joint.idx_v : joint.idx_v + joint.nv]),
            theirs,
        )
        if inertia.mass == 0.0 and inertia.inertia.any():
            raise Unsupported(f"body {names[i]!r}: moments without mass")
        builder.add_body(
            names[i],
            parent=names[theirs.parents[i]],
            joint=own,
            inertia=so.Inertia(inertia.mass, inertia.lever, inertia.inertia)
            if inertia.mass > 0.0
            else None,
            position=place.translation,
            rotation=place.rotation,
        )
        where = (
            _width(at_q, own.nq),
            _width(at_v, own.nv),
            _width(joint.idx_q, joint.nq),
            _width(joint.idx_v, joint.nv),
        )
        parts.append(Part(*where, **maps))
        at_q, at_v = at_q + own.nq, at_v + own.nv
    return Twin(builder.build(), parts)


# ------------------------------------------------------------------------------------------- MuJoCo
_WXYZ = [1, 2, 3, 0]  # where x, y, z, w stand in MuJoCo's quaternions


def _turn(quaternion):
    return from_quaternion(np.asarray(quaternion)[_WXYZ])


def _free_coordinates(q):
    return np.concatenate([q[:3], q[3:][_WXYZ]])


def _free_rates(q):
    """From [linear in world axes; angular in body axes] to [angular; linear], both in body axes."""
    return np.block([[np.zeros((3, 3)), np.eye(3)], [_turn(q[3:]).T, np.zeros((3, 3))]])


def _free_drift(q, v):
    return np.concatenate([np.zeros(3), -np.cross(v[3:], _turn(q[3:]).T @ v[:3])])


def _mujoco_joint(m, j):
    import mujoco

    kind = m.jnt_type[j]
    dof = m.jnt_dofadr[j]
    zero = m.qpos0[m.jnt_qposadr[j]]
    if kind == mujoco.mjtJoint.mjJNT_FREE:
        armature = m.dof_armature[dof : dof + 6][[3, 4, 5, 0, 1, 2]]
        maps = {"coordinates": _free_coordinates, "rates": _free_rates, "drift": _free_drift}
        if np.ptp(armature[3:]) > 0.0:
            raise Unsupported("a free joint with different armature along the world's axes")
        return so.Joint("free", armature=armature), maps
    if kind == mujoco.mjtJoint.mjJNT_BALL:
        return so.Joint("ball", armature=m.dof_armature[dof : dof + 3]), {
            "coordinates": lambda q: q[_WXYZ]
        }
    name = "revolute" if kind == mujoco.mjtJoint.mjJNT_HINGE else "prismatic"
    joint = so.Joint(name, axis=m.jnt_axis[j], armature=m.dof_armature[dof])
    return joint, {"coordinates": lambda q: q - zero}


def mujoco_body(i):
    """Name that body `i` of MuJoCo has in its twin."""
    return "world" if i == 0 else f"body{i}"


def from_mujoco(m):
    """Twin of a `mujoco.MjModel`.

    Each joint carries a body of its own, without mass, at the joint's anchor; MuJoCo's body is
    fixed to the last."""
    import mujoco

    weightless = m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    builder = so.TreeBuilder(gravity=np.zeros(3) if weightless else m.opt.gravity)
    parts = []
    at_q = 0
    at_v = 0
    for i in range(1, m.nbody):
        parent = mujoco_body(m.body_parentid[i])
        position = m.body_pos[i]
        rotation = _turn(m.body_quat[i])
        for j in range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i]):
            joint, maps = _mujoco_joint(m, j)
            anchor = m.jnt_pos[j]
            if joint.kind == "free":  # its coordinates are the body's pose in the world
                parent = "world"
                position = np.zeros(3)
                rotation = None
                anchor = np.zeros(3)
            turn = np.eye(3) if rotation is None else rotation
            builder.add_body(
                f"joint{j}",
                parent=parent,
                joint=joint,
                position=position + turn @ anchor,
                rotation=rotation,
            )
            parent = f"joint{j}"
            position = -anchor
            rotation = None
            q, v = m.jnt_qposadr[j], m.jnt_dofadr[j]
            theirs_nq = {"free": 7, "ball": 4}.get(joint.kind, 1)
            where = (
                _width(at_q, joint.nq),
                _width(at_v, joint.nv),
                _width(q, theirs_nq),
                _width(v, joint.nv),
            )
            parts.append(Part(*where, **maps))
            at_q, at_v = at_q + joint.nq, at_v + joint.nv
        inertia = None
        if m.body_mass[i] > 0.0:
            tensor = np.diag(m.body_inertia[i])
            inertia = (
                so.Inertia(m.body_mass[i], tensor=tensor)
                .rotated(_turn(m.body_iquat[i]))
                .shifted(m.body_ipos[i])
            )
        builder.add_body(
            mujoco_body(i), parent=parent, inertia=inertia, position=position, rotation=rotation
        )
    return Twin(builder.build(), parts)


def bare(m):
    """Leave a `mujoco.MjModel` only rigid bodies, joints, armature and gravity."""
    import mujoco

    for flag in ("CONSTRAINT", "SPRING", "DAMPER", "ACTUATION"):
        m.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}")
    m.opt.density = m.opt.viscosity = 0.0
    for name in ("body_gravcomp", "tendon_armature", "dof_frictionloss"):
        if hasattr(m, name):
            getattr(m, name)[:] = 0.0
    return m
